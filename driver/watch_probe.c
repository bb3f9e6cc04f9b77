/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Probing: whose link an instance is probed over, and what is said of one that
 * does not answer.  When it is time is in fleet_probe.c, what becomes of the
 * link in pool_probe.c.
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include "pool.h"

/* The fleet's logins, fetched when they are first needed. */
struct logins {
    bool fetched;
    struct login *monitor;
    struct login **all;
    uint32_t count;
};

static void fetch(struct logins *logins, struct fleet *fleet)
{
    if (!logins->fetched) {
        logins->fetched = true;
        logins->monitor = login_monitor(fleet);
        logins->all = login_all(fleet, &logins->count);
    }
}

static void let_go(struct logins *logins)
{
    for (uint32_t k = 0; k < logins->count; k++) {
        login_release(logins->all[k]);
    }
    free(logins->all);
    if (logins->monitor) {
        login_release(logins->monitor);
    }
}

/* ---- begin --------------------------------------------------------------- */

/* Probes over this login if it is as good as `least`; *best is raised to what
   it is.  True: done. */
static bool try_login(struct login *login, uint32_t i, bool new,
                      enum pool_probe least, enum pool_probe *best)
{
    enum pool_probe good;
    bool begun = false;

    mutex_lock(&login->lock);
    good = pool_probe_locked(&login->pools[i], new);
    if (good >= least) {
        begun = pool_probe_begin_locked(&login->pools[i], new);
    } else if (good > *best) {
        *best = good;
    }
    mutex_unlock(&login->lock);
    return begun;
}

static bool by_monitor(struct fleet *fleet, const struct logins *logins,
                       uint32_t i, bool new)
{
    enum pool_probe best = POOL_PROBE_NOT;

    return logins->monitor && !fleet_probe_is_unwelcome(fleet, i) &&
           try_login(logins->monitor, i, new, POOL_PROBE_OPENS_POOR, &best);
}

/* The first login with an idle link that is told all, else the best. */
static bool by_any(const struct logins *logins, uint32_t i, bool new)
{
    enum pool_probe best = POOL_PROBE_REFUSED;
    enum pool_probe least = new ? POOL_PROBE_OPENS : POOL_PROBE_ASKS;

    for (int pass = 0; pass < 2 && least > POOL_PROBE_REFUSED; pass++) {
        for (uint32_t k = 0; k < logins->count; k++) {
            if (!logins->all[k]->monitor &&
                try_login(logins->all[k], i, new, least, &best)) {
                return true;
            }
        }
        least = best;
    }
    return false;
}

/* Returns when to look again: `next`, or earlier if it could not be begun. */
static uint64_t begin(struct fleet *fleet, struct logins *logins, uint32_t i,
                      bool new, uint64_t now, uint64_t next)
{
    fetch(logins, fleet);
    if (by_monitor(fleet, logins, i, new) || by_any(logins, i, new)) {
        return next;
    }
    return clock_earlier(next, fleet_probe_put_off(fleet, i, now));
}

/* ---- give up ------------------------------------------------------------- */

static void give_up(struct fleet *fleet, struct logins *logins, uint32_t i)
{
    const struct fleet_probe *probe = &fleet->instances[i].probe;
    bool opens = probe->way == FLEET_PROBE_OPENS;
    const struct config_fleet *config = &fleet->config;
    struct link_error error;

    link_set_error(&error, opens ? "HYT01" : "HYT00",
                   "it did not answer a probe within %u ms",
                   opens ? config->connect_timeout : config->check_timeout);
    fleet_silent(fleet, i, probe->running, &error);
    fetch(logins, fleet);
    for (uint32_t k = 0; k < logins->count; k++) {
        mutex_lock(&logins->all[k]->lock);
        pool_probe_leave_locked(&logins->all[k]->pools[i]);
        mutex_unlock(&logins->all[k]->lock);
    }
}

/* ---- unused -------------------------------------------------------------- */

/* The keeper's own links serve nobody else. */
static void retire_monitor(struct fleet *fleet)
{
    uint32_t count;
    struct login **all = login_all(fleet, &count);

    for (uint32_t k = 0; k < count; k++) {
        if (all[k]->monitor) {
            login_retire(all[k]);
        }
        login_release(all[k]);
    }
    free(all);
}

/* ---- the duty ------------------------------------------------------------ */

uint64_t watch_probe(struct fleet *fleet, uint64_t now)
{
    bool used = watch_is_used(fleet, now);
    struct logins logins = { 0 };
    uint64_t next = UINT64_MAX;

    for (uint32_t i = 0; i < fleet->count; i++) {
        uint64_t at;

        switch (fleet_probe_step(fleet, i, used, now, &at)) {
        case FLEET_PROBE_WAIT:
            break;
        case FLEET_PROBE_DUE:
            at = begin(fleet, &logins, i, false, now, at);
            break;
        case FLEET_PROBE_DUE_NEW:
            at = begin(fleet, &logins, i, true, now, at);
            break;
        case FLEET_PROBE_SLOW:
            fleet_set_slow(fleet, i, true);
            break;
        case FLEET_PROBE_LATE:
            give_up(fleet, &logins, i);
            break;
        }
        next = clock_earlier(next, at);
    }
    let_go(&logins);
    if (!used) {
        retire_monitor(fleet);
    }
    return next;
}
