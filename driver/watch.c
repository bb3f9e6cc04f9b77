/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The keeper's round: through all fleets, and for each through its duties.
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include "event.h"
#include "keeper_clock.h"

/* Goes through what is due for one fleet. */
static uint64_t watch_fleet(struct fleet *fleet, uint64_t now)
{
    static watch_duty *const duties[] = { watch_links, watch_file };
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
        next = clock_earlier(next, duties[i](fleet, now));
    }
    events_write(fleet->events);
    return next;
}

static uint64_t make_round(uint64_t now)
{
    uint32_t count;
    struct fleet **fleets = fleet_all(&count);
    uint64_t next = UINT64_MAX;

    for (uint32_t i = 0; i < count; i++) {
        next = clock_earlier(next, watch_fleet(fleets[i], now));
        fleet_release(fleets[i]);
    }
    free(fleets);
    return next;
}

void watch_begin(struct fleet *fleet)
{
    atomic_store(&fleet->watched, true);
    keeper_clock_wake(0);
}

__attribute__((constructor)) static void set_up(void)
{
    keeper_clock_set(make_round);
}
