/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Seeking: while a login has never had a link, and units wait for its first,
 * instances are tried beside those that the units try one after the other; or
 * among hundreds that refuse or do not answer they would not come to the few
 * that serve.
 *
 * Those that nobody has tried come first, then those that are down and have
 * been left alone for long enough.  First one is tried, then one more in place
 * of each that has failed; and each POOL_SEEK_MS without a link twice as many
 * at once, up to the number of places for probes (fleet_probe.h).  So where the
 * first one answers soon, nothing is done here; and a login that may be a wrong
 * one meets few instances that could refuse it: as soon as one does, no other
 * is tried (rules §3.3).
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include <utlist.h>

#include "login.h"
#include "pool.h"

enum { DOUBLINGS = 6 };

/* How often has it been doubled?  -1: the units' own attempts do. */
static int doublings(const struct login *login, uint64_t now)
{
    uint64_t steps = now > login->waited_at
                         ? (now - login->waited_at) / (POOL_SEEK_MS * NS_PER_MS)
                         : 0;

    return steps > DOUBLINGS ? DOUBLINGS : (int)steps - 1;
}

/* Instances at which a link is being opened and has not hung for too long. */
static uint32_t count_tried(const struct login *login)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < login->fleet->count; i++) {
        const struct link *link;
        bool tried = false;

        DL_FOREACH(login->pools[i].links[LINK_OPENING], link) {
            tried = tried || !link->ended;
        }
        count += tried;
    }
    return count;
}

static bool was_refused(const struct login *login)
{
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        if (login->pools[i].refused) {
            return true;
        }
    }
    return false;
}

/* Tries so many of those that may be tried at `latest` or earlier; *next
   becomes the earliest moment when another may.  Returns how many. */
static uint32_t try_some(struct login *login, uint32_t most, uint64_t latest,
                         uint64_t *next)
{
    struct fleet *fleet = login->fleet;
    uint32_t first = login->seek_next, tried = 0;

    for (uint32_t n = 0; n < fleet->count && tried < most; n++) {
        uint32_t i = (first + n) % fleet->count;
        uint64_t at = fleet_probe_seek_at(fleet, i);

        if (at > latest) {
            *next = clock_earlier(*next, at);
        } else if (pool_seek_locked(&login->pools[i])) {
            login->seek_next = i + 1;
            tried++;
        }
    }
    return tried;
}

static uint64_t seek_locked(struct login *login, uint64_t now)
{
    int doubled = doublings(login, now);
    uint64_t next = UINT64_MAX, step = POOL_SEEK_MS * NS_PER_MS;
    uint32_t most, tried = count_tried(login);

    mutex_assert_held(&login->lock);
    if (doubled >= 0) {
        most = UINT32_C(1) << doubled;
        most -= tried < most ? tried : most;
        most -= try_some(login, most, 0, &next);
        next = UINT64_MAX;
        try_some(login, most, now, &next);
    }
    if (doubled < DOUBLINGS) {
        next = clock_earlier(next, login->waited_at +
                                       (uint64_t)(doubled + 2) * step);
    }
    return next > now ? next : now + step;
}

/* Does nobody know a login that has had a link?  Else probes do all this. */
static bool is_new(struct login *const *logins, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        if (logins[k]->proved) {
            return false;
        }
    }
    return true;
}

/* In a fleet that is not used nobody waits, and who comes later begins with one
   instance again. */
uint64_t watch_seek(struct fleet *fleet, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    uint32_t count;
    struct login **logins = login_all(fleet, &count);
    bool used = watch_is_used(fleet, now), new = is_new(logins, count);

    for (uint32_t k = 0; k < count; k++) {
        struct login *login = logins[k];

        mutex_lock(&login->lock);
        login->waited_at = used ? login->waited_at : 0;
        if (new && login->waited_at && !login->retired &&
            !was_refused(login)) {
            next = clock_earlier(next, seek_locked(login, now));
        }
        mutex_unlock(&login->lock);
        login_release(login);
    }
    free(logins);
    return next;
}
