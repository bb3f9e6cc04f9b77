/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The life of a login's pools, whether anybody connects or not: links that are
 * worn are closed, and as long as the login is used each pool is filled up to
 * PoolMin, at first to PoolInitial as well.
 *
 * Nobody waits for such a link, so none is opened where that may do harm: no
 * login is tried that has not proved good, or that was refused there (account
 * lock-out), no instance that is not known to be well, and no other link is
 * closed to make room.
 *
 * A login that is out of date closes what it has and keeps nothing that comes
 * back.
 */
#include "autoconf.h"

#include <stdlib.h>

#include <utlist.h>

#include "pool_inside.h"
#include "pool_shelf.h"

enum {
    FILL_MS = 1000,   /* a pool that lacks links is looked at so often */
    FILL_AT_ONCE = 4, /* links that are being opened */
    LOOK_MS = 20      /* and no more often than this */
};

static uint32_t at_most(const struct pool *pool, uint32_t wanted)
{
    uint32_t max =
        pool->login->fleet->members[pool->instance].pool_max;

    return wanted < max ? wanted : max;
}

/* ---- closing ------------------------------------------------------------- */

/* The one that was used longest ago first. */
static void close_worn_locked(struct pool *pool, uint64_t now)
{
    struct link *head = pool->links[LINK_IDLE];
    struct link *link = head ? head->prev : NULL;

    mutex_assert_held(&pool->login->lock);
    while (link) {
        struct link *before = link == head ? NULL : link->prev;
        enum pool_stat why = pool_worn_by(link, now);

        if (why != POOL_STATS) {
            pool_close_locked(link, why);
        }
        link = before;
    }
}

/* ns: when this link will be worn, or, if it is and nobody can close it just
   now, when to look again; UINT64_MAX: it will not be before it is idle. */
static uint64_t worn_at(const struct link *link, bool spare, uint64_t now)
{
    uint32_t idle_ms = link->pool->login->fleet->config.pool_idle;
    uint64_t at = link->retires ? link->retires : UINT64_MAX;

    if (link->state != LINK_IDLE && link->state != LINK_PROBING) {
        return at > now ? at : UINT64_MAX;
    }
    if (spare && idle_ms) {
        at = clock_earlier(at, link->since + idle_ms * NS_PER_MS);
    }
    return at > now ? at : now + LOOK_MS * NS_PER_MS;
}

static uint64_t next_worn(const struct pool *pool, uint64_t now)
{
    bool spare = pool_links(pool) > pool->least;
    uint64_t next = UINT64_MAX;

    for (int state = 0; state < LINK_STATES; state++) {
        const struct link *link;

        DL_FOREACH(pool->links[state], link) {
            next = clock_earlier(next, worn_at(link, spare, now));
        }
    }
    return next;
}

/* ---- filling ------------------------------------------------------------- */

static bool is_well(const struct pool *pool)
{
    const struct route_member *m =
        &pool->login->fleet->members[pool->instance];

    return atomic_load(&m->health) <= ROUTE_UP && !atomic_load(&m->slow) &&
           !atomic_load(&m->drained) && !atomic_load(&m->disabled);
}

/* Openings have failed since the last look: longer and longer not again. */
static bool is_put_off_locked(struct pool *pool, uint64_t now)
{
    uint64_t failed = atomic_load(&pool->stats.of[POOL_STAT_FAILED]);

    mutex_assert_held(&pool->login->lock);
    if (failed != pool->fill.failed) {
        pool->fill.failed = failed;
        pool->fill.wait_ms = clock_backoff_ms(pool->fill.wait_ms);
        pool->fill.until = now + pool->fill.wait_ms * NS_PER_MS;
    }
    return now < pool->fill.until;
}

/* False: it lacks links yet. */
static bool fill_locked(struct pool *pool, uint64_t now)
{
    const struct config_fleet *config = &pool->login->fleet->config;
    uint32_t wanted = pool->least;

    mutex_assert_held(&pool->login->lock);
    if (!pool->fill.begun && config->pool_initial > wanted) {
        wanted = at_most(pool, config->pool_initial);
    }
    if (pool_links(pool) >= wanted && pool->count[LINK_OPENING] == 0) {
        pool->fill.begun = true;
        pool->fill.wait_ms = 0;
        return true;
    }
    if (!pool->login->proved || pool->refused || !is_well(pool) ||
        is_put_off_locked(pool, now)) {
        return false;
    }
    while (pool_links(pool) < wanted && pool_has_room_locked(pool) &&
           pool->count[LINK_OPENING] < FILL_AT_ONCE &&
           pool_order_locked(pool, NULL)) {
    }
    return false;
}

/* ---- a look -------------------------------------------------------------- */

/* Has it a session, or had it one lately?  What one login does not use any more
   is not kept open because others use the fleet: there may be a login for each
   user of a program. */
static bool was_used_lately_locked(struct login *login, uint64_t now)
{
    uint64_t lent = 0;
    bool held = login->units != NULL;

    mutex_assert_held(&login->lock);
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        held = held || pool_lent_locked(&login->pools[i], &lent);
    }
    if (held || lent != login->lent) {
        login->lent = lent;
        login->used_at = now;
    }
    return now < login->used_at + POOL_USED_MS * NS_PER_MS;
}

static uint64_t tend_pool_locked(struct pool *pool, bool used, uint64_t now)
{
    const struct config_fleet *config = &pool->login->fleet->config;
    uint64_t next = UINT64_MAX;

    mutex_assert_held(&pool->login->lock);
    pool->least = used ? at_most(pool, config->pool_min) : 0;
    close_worn_locked(pool, now);
    if (used && (config->pool_min || !pool->fill.begun) &&
        (!fill_locked(pool, now) || config->pool_min)) {
        next = now + FILL_MS * NS_PER_MS;
    }
    return clock_earlier(next, next_worn(pool, now));
}

/* What may become worn that is not idle yet, or not open, does so no earlier
   than this. */
static uint64_t next_unseen(const struct login *login, uint64_t now)
{
    const struct config_fleet *config = &login->fleet->config;
    uint64_t idle = config->pool_idle, life = config->pool_lifetime / 2;
    uint64_t ms = idle && (!life || idle < life) ? idle : life;

    if (login->total == 0 || ms == 0) {
        return UINT64_MAX;
    }
    return now + (ms > LOOK_MS ? ms : LOOK_MS) * NS_PER_MS;
}

uint64_t login_tend(struct login *login, bool used, uint64_t now)
{
    uint64_t next, closed;

    mutex_lock(&login->lock);
    closed = login->closed;
    shelf_gather_locked(login);
    next = next_unseen(login, now);
    if (used && login->fleet->config.pool_min) { /* it may be used again */
        next = clock_earlier(next, now + FILL_MS * NS_PER_MS);
    }
    used = used && !login->monitor && !login->retired &&
           was_used_lately_locked(login, now);
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        next = clock_earlier(next,
                             tend_pool_locked(&login->pools[i], used, now));
    }
    if (login->closed > closed) {
        pool_serve_locked(login);
    }
    mutex_unlock(&login->lock);
    return next;
}

/* Returns how many links are left that are not idle. */
static uint32_t rest_pool_locked(struct pool *pool)
{
    mutex_assert_held(&pool->login->lock);
    pool->least = 0;
    while (pool->login->fleet->config.pool_idle && pool->links[LINK_IDLE]) {
        pool_close_locked(pool->links[LINK_IDLE], POOL_STAT_CLOSED_IDLE);
    }
    return pool_links(pool) - pool->count[LINK_IDLE];
}

uint64_t login_rest(struct login *login, uint64_t now)
{
    enum { REST_MS = 1000 };
    uint32_t busy = 0;

    mutex_lock(&login->lock);
    shelf_gather_locked(login);
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        busy += rest_pool_locked(&login->pools[i]);
    }
    pool_serve_locked(login); /* a unit that has just come has room now */
    mutex_unlock(&login->lock);
    return busy ? now + REST_MS * NS_PER_MS : UINT64_MAX;
}

bool login_is_used_locked(struct login *login)
{
    bool used = login->units != NULL;

    mutex_assert_held(&login->lock);
    shelf_gather_locked(login); /* what is on them is held by nobody */
    for (uint32_t i = 0; !used && i < login->fleet->count; i++) {
        used = login->pools[i].count[LINK_HELD] > 0;
    }
    return used;
}

/* ---- the end of it ------------------------------------------------------- */

void login_retire(struct login *login)
{
    mutex_lock(&login->lock);
    login->retired = true;
    shelf_shut_locked(login);
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        while (login->pools[i].links[LINK_IDLE]) {
            pool_close_locked(login->pools[i].links[LINK_IDLE],
                              POOL_STAT_CLOSED_RETIRED);
        }
    }
    pool_serve_locked(login);
    mutex_unlock(&login->lock);
}

void login_retire_all(struct fleet *fleet)
{
    uint32_t count;
    struct login **logins = login_all(fleet, &count);

    for (uint32_t i = 0; i < count; i++) {
        login_retire(logins[i]);
        login_release(logins[i]);
    }
    free(logins);
}
