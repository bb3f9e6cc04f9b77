/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Orders: links that are yet to be opened, for a unit, for whoever comes, or to
 * ask their instance something; the room that is made for them, and whom they
 * belong to until they are there.
 *
 * No more are ordered than units want: a unit that has got another link leaves
 * its order to the next one that wants a link of that pool, and one that nobody
 * takes over is taken back (pool_tidy_locked()), or if a helper is at it, the
 * link is idle when it is there.  A helper begins with so many at once as
 * fleet_set_lanes() allows (the lane sees to that), in the order in which
 * they were given, of whatever login.
 */
#include "autoconf.h"

#include "pool_inside.h"
#include "pool_shelf.h"

#include <stdlib.h>

#include <utlist.h>

/* The one that was used longest ago. */
static struct link *last_idle(const struct pool *pool)
{
    struct link *idle = pool->links[LINK_IDLE];
    struct link *probing = pool->links[LINK_PROBING];

    return idle ? idle->prev : probing ? probing->prev : NULL;
}

/* At PoolMaxTotal: makes room by closing the idle link that was used longest
   ago, of another instance (rules §3.2). */
static bool make_room_locked(struct pool *pool)
{
    struct login *login = pool->login;
    uint32_t most = login->fleet->config.pool_max_total;
    struct link *oldest = NULL;

    mutex_assert_held(&login->lock);
    if (!most || login->total < most) {
        return true;
    }
    shelf_gather_locked(login);
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        struct link *last = i == pool->instance ? NULL
                                                : last_idle(&login->pools[i]);
        if (last && (!oldest || last->since < oldest->since)) {
            oldest = last;
        }
    }
    if (oldest) {
        pool_close_locked(oldest, POOL_STAT_CLOSED_ROOM);
    }
    return oldest != NULL;
}

/* It never was open, and no helper has it.  The caller holds a reference to the
   login, so that this one is never the last. */
static void forget(struct link *link)
{
    struct login *login = link->pool->login;

    pool_drop_locked(link);
    login_release(login);
    pool_free_link(link);
}

bool pool_open_locked(struct pool *pool, struct unit *unit, enum pool_job job,
                      uint64_t probe)
{
    struct link *link = pool_new_link(pool);

    mutex_assert_held(&pool->login->lock);
    if (!link) {
        return false;
    }
    link->unit = unit;
    link->probe = probe;
    link->ordered = job == POOL_OPEN;
    pool_set_state_locked(link, LINK_OPENING);
    if (!pool_submit_locked(link, job)) {
        forget(link);
        return false;
    }
    return true;
}

bool pool_has_room_locked(const struct pool *pool)
{
    const struct login *login = pool->login;
    uint32_t most = login->fleet->config.pool_max_total;

    mutex_assert_held(&login->lock);
    return login->stock[pool->instance].room > 0 &&
           (!most || login->total < most);
}

static bool order_locked(struct pool *pool, struct unit *unit,
                         enum pool_job job)
{
    mutex_assert_held(&pool->login->lock);
    return pool->login->stock[pool->instance].room > 0 &&
           make_room_locked(pool) && pool_open_locked(pool, unit, job, 0);
}

/* What is being opened there for sessions, and nobody waits for: for a unit
   any, but none that has hung for too long; for whoever comes what a unit has
   left. */
static struct link *find_unclaimed(const struct pool *pool,
                                   const struct unit *unit)
{
    struct link *link;

    DL_FOREACH(pool->links[LINK_OPENING], link) {
        if (link->ordered && !link->unit && !link->ended &&
            (unit || link->orphan)) {
            return link;
        }
    }
    return NULL;
}

/* Somebody wants it again. */
static void claim(struct link *link, struct unit *unit)
{
    link->pool->login->orphans -= link->orphan;
    link->orphan = false;
    link->unit = unit;
}

bool pool_order_locked(struct pool *pool, struct unit *unit)
{
    struct link *link = find_unclaimed(pool, unit);

    mutex_assert_held(&pool->login->lock);
    if (link) {
        claim(link, unit);
        return true;
    }
    return order_locked(pool, unit, POOL_OPEN);
}

void pool_order_behind_locked(struct pool *pool)
{
    mutex_assert_held(&pool->login->lock);
    if (pool->refused) {
        return;
    }
    if (pool->login->stock[pool->instance].opening == 0 ||
        find_unclaimed(pool, NULL)) {
        pool_order_locked(pool, NULL);
    }
}

/* One attempt at a time where it is down: others may try now. */
static void tell_others(struct fleet *fleet, uint32_t i)
{
    if (atomic_load(&fleet->members[i].health) == ROUTE_DOWN) {
        fleet_tell(fleet, i);
    }
}

void pool_tidy_locked(struct login *login)
{
    mutex_assert_held(&login->lock);
    for (uint32_t i = 0; login->orphans && i < login->fleet->count; i++) {
        struct link *link, *next;

        DL_FOREACH_SAFE(login->pools[i].links[LINK_OPENING], link, next) {
            if (link->orphan && keeper_withdraw(&link->job)) {
                forget(link);
                login->closed++;
                tell_others(login->fleet, i);
            } else {
                claim(link, link->unit); /* it goes on, for whoever comes */
            }
        }
    }
}

bool pool_may_learn_locked(const struct pool *pool, bool unasked)
{
    const struct login *login = pool->login;

    mutex_assert_held(&login->lock);
    return pool->links[LINK_IDLE] || pool->links[LINK_PROBING] ||
           (!(unasked && pool->refused) &&
            (pool_has_room_locked(pool) ||
             (login->stock[pool->instance].room > 0 &&
              login->total_idle > 0)));
}

bool pool_learn_locked(struct pool *pool, bool unasked)
{
    struct link *link;

    mutex_assert_held(&pool->login->lock);
    shelf_gather_locked(pool->login);
    link = pool->links[LINK_IDLE];
    if (!link && (link = pool->links[LINK_PROBING])) {
        pool_set_state_locked(link, LINK_LEARNING); /* its helper goes on */
        return true;
    }
    if (!link) {
        return !(unasked && pool->refused) &&
               order_locked(pool, NULL, POOL_OPEN_AND_LEARN);
    }
    pool_set_state_locked(link, LINK_LEARNING);
    if (!pool_submit_locked(link, POOL_LEARN)) {
        pool_close_locked(link, POOL_STAT_CLOSED_ROOM);
        return false;
    }
    return true;
}

static struct link *find_order(const struct pool *pool,
                               enum link_state state, const struct unit *unit)
{
    struct link *link;

    DL_FOREACH(pool->links[state], link) {
        if (link->unit == unit) {
            return link;
        }
    }
    return NULL;
}

uint64_t pool_began_locked(const struct pool *pool, const struct unit *unit)
{
    const struct link *link = find_order(pool, LINK_OPENING, unit);

    mutex_assert_held(&pool->login->lock);
    if (!link) {
        link = find_order(pool, LINK_HELD, unit);
    }
    return link ? atomic_load(&link->began) : 0;
}

void pool_abandon_locked(struct pool *pool, const struct unit *unit)
{
    struct link *link;

    mutex_assert_held(&pool->login->lock);
    DL_FOREACH(pool->links[LINK_OPENING], link) {
        if (link->unit == unit) {
            link->unit = NULL;
            link->orphan = true;
            pool->login->orphans++;
        }
    }
    DL_FOREACH(pool->links[LINK_HELD], link) {
        if (link->unit == unit) {
            link->unit = NULL;
        }
    }
}
