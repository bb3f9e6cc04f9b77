/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_log.h"

#include "event.h"
#include "fleet.h"

static void run_write(struct fleet *fleet, void *unused)
{
    (void)unused;
    events_write_claimed(fleet->events);
}

/* Who has written all may not be back yet when there is something more. */
uint64_t fleet_log(struct fleet *fleet, uint64_t now)
{
    enum { AGAIN_MS = 20 };

    if (!events_claim(fleet->events) ||
        fleet_disk_begin(fleet, &fleet->logging, run_write, NULL)) {
        return UINT64_MAX;
    }
    events_leave(fleet->events);
    return now + AGAIN_MS * NS_PER_MS;
}

uint64_t fleet_log_look(struct fleet *fleet, uint64_t now)
{
    return fleet_disk_look(fleet, &fleet->logging, fleet->config.log, now);
}
