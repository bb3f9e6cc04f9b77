/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The keeper's round: through all fleets, and for each through its duties.
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include "fleet_log.h"
#include "keeper_clock.h"
#include "lock.h"
#include "login.h"

enum { LOOK_MS = 1000 };

/* ---- used? --------------------------------------------------------------- */

/* Yes, if there is no memory to see. */
static bool logins_are_used(struct fleet *fleet)
{
    uint32_t count;
    struct login **logins = login_all(fleet, &count);
    bool used = !logins;

    for (uint32_t k = 0; k < count; k++) {
        mutex_lock(&logins[k]->lock);
        used = used || login_is_used_locked(logins[k]);
        mutex_unlock(&logins[k]->lock);
        login_release(logins[k]);
    }
    free(logins);
    return used;
}

static uint64_t units_of(const struct fleet *fleet)
{
    uint64_t sum = atomic_load(&fleet->refused);

    for (uint32_t i = 0; i < fleet->count; i++) {
        sum += atomic_load(&fleet->members[i].served);
    }
    return sum;
}

static uint64_t used_until; /* ns: of all fleets; the clock's thread's */

static void see_use(struct fleet *fleet, uint64_t now)
{
    struct fleet_use *use = &fleet->use;
    uint64_t units = units_of(fleet);

    if (units != use->units || logins_are_used(fleet)) {
        use->until = now + WATCH_USED_MS * NS_PER_MS;
        used_until = use->until; /* the latest, since time goes on */
    }
    use->units = units;
    use->looked = now;
}

bool watch_is_used(const struct fleet *fleet, uint64_t now)
{
    return now < fleet->use.until;
}

uint64_t watch_quiet_at(void)
{
    return used_until + (WATCH_QUIET_MS - WATCH_USED_MS) * NS_PER_MS;
}

/* ---- the round ----------------------------------------------------------- */

/* Is it used?  Whoever uses it while nobody watches says so, so the word that
   it is watched is taken back before the last look, not behind it. */
static void look_for_use(struct fleet *fleet, uint64_t now)
{
    if (now >= fleet->use.looked + LOOK_MS * NS_PER_MS ||
        !watch_is_used(fleet, now)) {
        see_use(fleet, now);
    }
    if (!watch_is_used(fleet, now)) {
        atomic_store(&fleet->watched, false);
        see_use(fleet, now);
        if (watch_is_used(fleet, now)) {
            atomic_store(&fleet->watched, true);
        }
    }
}

/* Goes through what is due for one fleet. */
static uint64_t watch_fleet(struct fleet *fleet, uint64_t now)
{
    static watch_duty *const duties[] = {
        watch_probe, watch_seek, watch_learn,   watch_links,
        watch_pool,  watch_file, watch_metrics,
    };
    uint64_t next = watch_is_used(fleet, now) ? fleet->use.until : UINT64_MAX;

    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
        next = clock_earlier(next, duties[i](fleet, now));
    }
    fleet_log(fleet);
    return clock_earlier(next, fleet_log_look(fleet, now));
}

/* Without memory there is no round now; but fleets that are said to be watched
   go on to be. */
static uint64_t make_round(uint64_t now)
{
    uint32_t count;
    struct fleet **fleets = fleet_all(&count);
    uint64_t next = fleets ? UINT64_MAX : now + WATCH_AGAIN_MS * NS_PER_MS;

    for (uint32_t i = 0; i < count; i++) {
        look_for_use(fleets[i], now);
    }
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
