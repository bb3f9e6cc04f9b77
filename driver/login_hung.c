/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Links on which a call hangs in the inner driver: a helper's that is overdue,
 * or an application's whose instance was found down.  The call is ended where
 * the link's socket is proved (link_socket.h); where not, link and thread are
 * left to each other, and counted for as long as that lasts (rules §4.2).
 */
#include "autoconf.h"

#include <utlist.h>

#include "link_socket.h"
#include "pool.h"
#include "pool_shelf.h"

enum { LATE_MS = 250 /* a round may be */ };

/* How long a helper may be at this; 0 = as long as it takes. */
static uint64_t limit_of(const struct link *link)
{
    const struct config_fleet *config = &link->pool->login->fleet->config;

    switch (link->state) {
    case LINK_OPENING:
        return config->connect_timeout * NS_PER_MS;
    case LINK_LEARNING: /* what a user's query takes nobody knows */
        return 0;
    default:
        return config->check_timeout * NS_PER_MS;
    }
}

/* ns: when what a helper does on it is overdue; UINT64_MAX = never. */
static uint64_t due_at(const struct link *link)
{
    uint64_t began = atomic_load(&link->began), limit = limit_of(link);

    return began && limit ? began + limit : UINT64_MAX;
}

static bool is_lost(const struct link *link)
{
    return link->state != LINK_OPENING &&
           fleet_has_lost(link->pool->login->fleet, link->pool->instance,
                          link->opened);
}

static void end_call(struct link *link)
{
    if (link->ended) {
        return;
    }
    link->ended = true;
    link->left = !link_socket_end(link);
    link->pool->left += link->left;
}

/* Its instance has let ConnectTimeout pass without a word, and somebody has to
   say so: whoever ordered the link may have left long ago, no probe opens
   another beside it, and when the inner driver itself gives up it only looks
   like a refusal. */
static void blame(const struct link *link)
{
    struct fleet *fleet = link->pool->login->fleet;
    struct link_error error;

    link_set_error(&error, "HYT01",
                   "did not answer within ConnectTimeout=%u ms",
                   fleet->config.connect_timeout);
    fleet_silent(fleet, link->pool->instance, atomic_load(&link->began),
                 &error);
}

static uint64_t look_at_links(struct pool *pool, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    for (int state = 0; state < LINK_STATES; state++) {
        struct link *link;

        DL_FOREACH(pool->links[state], link) {
            uint64_t due = due_at(link);

            if (due != UINT64_MAX && now >= due + LATE_MS * NS_PER_MS) {
                /* we were stopped, or the machine is too busy: who comes late
                   blames nobody */
                atomic_store(&link->began, now);
                due = due_at(link);
            }
            if (now >= due && state == LINK_OPENING && !link->ended) {
                blame(link);
            }
            if (now >= due || (state != LINK_IDLE && is_lost(link))) {
                end_call(link);
            } else {
                next = clock_earlier(next, due);
            }
        }
    }
    return next;
}

/* Has a pool lost a link on which nothing was ended yet, and which counts as
   held? */
static bool has_newly_lost(const struct login *login)
{
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        const struct link *link;

        DL_FOREACH(login->pools[i].links[LINK_HELD], link) {
            if (!link->ended && is_lost(link)) {
                return true;
            }
        }
    }
    return false;
}

uint64_t login_end_hung(struct login *login, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    mutex_lock(&login->lock);
    if (has_newly_lost(login)) { /* perhaps by a shelf, where nothing hangs */
        shelf_gather_locked(login);
    }
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        next = clock_earlier(next, look_at_links(&login->pools[i], now));
    }
    mutex_unlock(&login->lock);
    return next;
}
