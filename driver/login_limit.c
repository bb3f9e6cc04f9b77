/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sessions that hold a link for longer than SessionLimit: each is told of once,
 * and counted.  Nothing is taken away from them.
 */
#include "autoconf.h"

#include <utlist.h>

#include "event.h"
#include "link_note.h"
#include "pool.h"
#include "text.h"

static void tell(const struct link *link, uint64_t ms)
{
    const struct login *login = link->pool->login;
    const struct fleet *fleet = login->fleet;
    struct text what;

    text_init(&what);
    if (*login->user) {
        text_appendf(&what, "user %s, ", login->user);
    }
    if (link->note) {
        link_note_say(link->note, &what);
    }
    event_say(fleet->events, LOG_IS_WARNING,
              fleet->instances[link->pool->instance].name,
              "a session has held a link for %llu ms: %s",
              (unsigned long long)ms, text_string(&what));
    text_free(&what);
}

/* ns: when this link is to be looked at again. */
static uint64_t look(struct link *link, uint64_t limit, uint64_t now)
{
    uint64_t taken = atomic_load_explicit(&link->use.taken,
                                          memory_order_relaxed);

    if (!taken || link->told == taken) {
        return UINT64_MAX;
    }
    if (now < taken + limit) {
        return taken + limit;
    }
    link->told = taken;
    pool_stat_count(&link->pool->stats, POOL_STAT_ABANDONED);
    tell(link, (now - taken) / NS_PER_MS);
    return UINT64_MAX;
}

uint64_t login_tell_overlong(struct login *login, uint64_t now)
{
    uint64_t limit = login->fleet->config.session_limit * NS_PER_MS;
    uint64_t next = UINT64_MAX;

    if (!limit) {
        return next;
    }
    mutex_lock(&login->lock);
    if (login->total > 0) {
        next = now + limit; /* for those that are not held yet */
    }
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        struct link *link;

        DL_FOREACH(login->pools[i].links[LINK_HELD], link) {
            next = clock_earlier(next, look(link, limit, now));
        }
    }
    mutex_unlock(&login->lock);
    return next;
}
