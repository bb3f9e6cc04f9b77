/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The states of links, and what moves a link from one to another on an
 * application's or waiting unit's behalf.  Those that are yet to be opened are
 * in pool_order.c, what helper threads do to a link is in pool_job.c.
 */
#include "autoconf.h"

#include "link_note.h"
#include "pool_inside.h"
#include "pool_shelf.h"

#include <stdlib.h>

#include <utlist.h>

static void count_stock(struct pool *pool)
{
    struct login *login = pool->login;
    struct route_stock *s = &login->stock[pool->instance];
    uint32_t max = login->fleet->members[pool->instance].pool_max;
    uint32_t used;

    s->idle = pool->count[LINK_IDLE] + pool->count[LINK_PROBING];
    s->held = pool->count[LINK_HELD];
    s->learning = pool->count[LINK_LEARNING];
    s->opening = pool->count[LINK_OPENING];
    s->reset = pool->count[LINK_RESET];
    s->full_until = pool->full_until;
    s->reset_since = s->reset ? pool->links[LINK_RESET]->prev->since : 0;
    used = route_stock_links(s);
    s->room = used < max ? max - used : 0;
    pool_stat_raise_locked(login, &pool->stats, POOL_STAT_PEAK, used);
    if (atomic_load(&pool->crowded) != (used > max)) {
        atomic_store(&pool->crowded, used > max);
    }
}

static bool has_too_many(const struct pool *pool)
{
    const struct route_stock *s = &pool->login->stock[pool->instance];

    return route_stock_links(s) >
           pool->login->fleet->members[pool->instance].pool_max;
}

/* Is a link of this state one of login->total? */
static bool counts(enum link_state state)
{
    return state != LINK_CLOSING && state != LINK_UNLISTED;
}

uint32_t pool_links(const struct pool *pool)
{
    uint32_t sum = 0;

    for (int state = 0; state < LINK_STATES; state++) {
        sum += state == LINK_CLOSING ? 0 : pool->count[state];
    }
    return sum;
}

static bool is_idle(enum link_state state)
{
    return state == LINK_IDLE || state == LINK_PROBING;
}

/* For the decisions of other logins. */
static void count_opening(const struct pool *pool, int more)
{
    struct route_member *m = &pool->login->fleet->members[pool->instance];

    if (more) {
        atomic_fetch_add(&m->opening, (uint32_t)more);
    }
}

void pool_set_state_locked(struct link *link, enum link_state state)
{
    struct pool *pool = link->pool;
    struct login *login = pool->login;

    mutex_assert_held(&login->lock);
    if (link->state != LINK_UNLISTED) {
        DL_DELETE(pool->links[link->state], link);
        pool->count[link->state]--;
    }
    count_opening(pool, (state == LINK_OPENING) -
                            (link->state == LINK_OPENING));
    login->orphans -= link->orphan;
    pool->left -= link->left;
    link->orphan = link->ended = link->left = false;
    login->total -= counts(link->state);
    login->total_idle -= is_idle(link->state);
    link->state = state;
    link->since = clock_ns();
    login->total += counts(state);
    login->total_idle += is_idle(state);
    if (state != LINK_UNLISTED) {
        DL_PREPEND(pool->links[state], link);
        pool->count[state]++;
    }
    count_stock(pool);
}

struct link *pool_new_link(struct pool *pool)
{
    struct link *link = calloc(1, sizeof *link);

    if (link) {
        link->pool = pool;
        link->state = LINK_UNLISTED;
        link->inner = pool->login->fleet->instances[pool->instance].inner;
        link->wide = pool->login->wide;
        link->hdbc = SQL_NULL_HDBC;
        if (pool->login->fleet->config.session_limit) {
            link->note = link_note_new(); /* else nothing is noted */
        }
        login_retain(pool->login);
    }
    return link;
}

void pool_crowded_locked(struct pool *pool, bool crowded)
{
    uint64_t now = clock_ns();

    mutex_assert_held(&pool->login->lock);
    pool->full_ms = crowded ? clock_backoff_ms(pool->full_ms) : 0;
    pool->full_until =
        crowded ? now + clock_jitter_ns(pool->full_ms, now / 1000) : 0;
    count_stock(pool);
}

void pool_free_link(struct link *link)
{
    link_note_free(link->note);
    free(link);
}

void pool_drop_locked(struct link *link)
{
    mutex_assert_held(&link->pool->login->lock);
    pool_stat_keep_locked(link);
    pool_set_state_locked(link, LINK_UNLISTED);
}

void pool_set_closing_locked(struct link *link, enum pool_stat why)
{
    mutex_assert_held(&link->pool->login->lock);
    if (link->state != LINK_CLOSING) {
        pool_stat_count(&link->pool->stats, why);
    }
    pool_set_state_locked(link, LINK_CLOSING);
}

void pool_close_locked(struct link *link, enum pool_stat why)
{
    mutex_assert_held(&link->pool->login->lock);
    pool_set_closing_locked(link, why);
    link->pool->login->closed++;
    /* Without a helper (the process is at exit) the link stays as it is: the
       instance learns of it when the process ends. */
    if (!link->probe) {
        pool_submit_locked(link, POOL_CLOSE);
    }
}

enum pool_stat pool_worn_by(const struct link *link, uint64_t now)
{
    const struct login *login = link->pool->login;
    const struct config_fleet *config = &login->fleet->config;

    if (login->retired ||
        !fleet_keeps(login->fleet, link->pool->instance, link->opened)) {
        return POOL_STAT_CLOSED_RETIRED;
    }
    if ((link->retires && now >= link->retires) ||
        (config->pool_max_reuse &&
         link->use.borrowed >= config->pool_max_reuse)) {
        return POOL_STAT_CLOSED_WORN;
    }
    if (is_idle(link->state) && config->pool_idle &&
        now >= link->since + config->pool_idle * NS_PER_MS &&
        pool_links(link->pool) > link->pool->least) {
        return POOL_STAT_CLOSED_IDLE;
    }
    return POOL_STATS;
}

bool pool_is_stale(const struct link *link, uint64_t now)
{
    const struct pool *pool = link->pool;
    const struct fleet *fleet = pool->login->fleet;

    return now >= link->answered + fleet->config.pool_trust * NS_PER_MS ||
           link->answered <=
               atomic_load(&fleet->instances[pool->instance].suspect_at);
}

static int by_use(const struct link *a, const struct link *b)
{
    return a->since > b->since ? -1 : 1;
}

void pool_set_idle_since_locked(struct link *link, uint64_t since)
{
    struct link **idle = &link->pool->links[LINK_IDLE];

    mutex_assert_held(&link->pool->login->lock);
    pool_set_state_locked(link, LINK_IDLE);
    link->since = since;
    DL_DELETE(*idle, link);
    DL_INSERT_INORDER(*idle, link, by_use);
}

/* The least recently used idle links stand last: close those that are worn,
   a few at a time, so that no hand-out pays for many. */
static void close_worn(struct pool *pool, uint64_t now)
{
    for (int i = 0; i < 2 && pool->links[LINK_IDLE]; i++) {
        struct link *last = pool->links[LINK_IDLE]->prev;
        enum pool_stat why = pool_worn_by(last, now);

        if (why == POOL_STATS) {
            return;
        }
        pool_close_locked(last, why);
    }
}

/* The one to hand out next, which is worn no more than it may be; one that is
   being probed only if there is no other. */
static struct link *next_idle(struct pool *pool, uint64_t now)
{
    static const enum link_state states[] = { LINK_IDLE, LINK_PROBING };

    for (int k = 0; k < 2; k++) {
        struct link *link;

        while ((link = pool->links[states[k]])) {
            enum pool_stat why = pool_worn_by(link, now);

            if (why == POOL_STATS) {
                return link;
            }
            pool_close_locked(link, why);
        }
    }
    return NULL;
}

struct link *pool_take_locked(struct pool *pool, bool *validate)
{
    uint64_t now = clock_ns();
    struct link *link;

    mutex_assert_held(&pool->login->lock);
    link = next_idle(pool, now);
    if (!link) {
        return NULL;
    }
    pool_set_state_locked(link, LINK_HELD);
    close_worn(pool, now);
    *validate = link->probe || pool_is_stale(link, now);
    return link;
}

bool pool_validate_locked(struct link *link, struct unit *unit)
{
    mutex_assert_held(&link->pool->login->lock);
    link->unit = unit;
    if (!link->probe && !pool_submit_locked(link, POOL_VALIDATE)) {
        link->unit = NULL;
        pool_close_locked(link, POOL_STAT_CLOSED_ROOM);
        return false;
    }
    return true;
}

/* Why a link that came back is to be closed; POOL_STATS: it may stay. */
static enum pool_stat spent_by(const struct link *link, bool used)
{
    if (link->died) {
        return POOL_STAT_CLOSED_DEAD;
    }
    if (link->spoilt || (used && !link->inner->kind->reset)) {
        return POOL_STAT_CLOSED_UNCLEAN;
    }
    return has_too_many(link->pool) ? POOL_STAT_CLOSED_ROOM
                                    : pool_worn_by(link, clock_ns());
}

/* What becomes of a link that came back; nothing is under way on it. */
static void give_locked(struct link *link)
{
    bool used = link->touched || link->children;
    enum pool_stat why = spent_by(link, used);

    mutex_assert_held(&link->pool->login->lock);
    if (why != POOL_STATS) {
        pool_close_locked(link, why);
    } else if (!used) {
        pool_set_state_locked(link, LINK_IDLE);
        close_worn(link->pool, clock_ns());
    } else {
        pool_set_state_locked(link, LINK_RESET);
        if (!pool_submit_locked(link, POOL_RESET)) {
            pool_close_locked(link, POOL_STAT_CLOSED_UNCLEAN);
        }
    }
}

void pool_give(struct link *link, bool dead)
{
    struct login *login = link->pool->login;

    fleet_unit_ends(login->fleet, link->pool->instance);
    mutex_lock(&login->lock);
    link->unit = NULL;
    link->spoilt |= dead;
    link->died = dead;
    pool_take_back(link, clock_ns());
    if (link->cancels) {
        link->waits = true; /* pool_cancel_ended_locked() goes on */
        pool_set_state_locked(link, LINK_RESET);
    } else {
        give_locked(link);
    }
    pool_serve_locked(login);
    mutex_unlock(&login->lock);
}

void pool_trim(struct pool *pool)
{
    struct login *login = pool->login;
    uint64_t now = clock_ns();
    struct link *link, *next;

    mutex_lock(&login->lock);
    count_stock(pool);
    shelf_gather_locked(login);
    DL_FOREACH_SAFE(pool->links[LINK_IDLE], link, next) {
        enum pool_stat why = pool_worn_by(link, now);

        if (why != POOL_STATS) {
            pool_close_locked(link, why);
        } else if (has_too_many(pool)) {
            pool_close_locked(link, POOL_STAT_CLOSED_ROOM);
        }
    }
    pool_serve_locked(login);
    mutex_unlock(&login->lock);
}

void pool_cancel_ended_locked(struct link *link)
{
    mutex_assert_held(&link->pool->login->lock);
    if (--link->cancels == 0) {
        cond_broadcast(&link->pool->login->cancelled);
    }
    if (link->cancels == 0 && link->waits) {
        link->waits = false;
        give_locked(link);
        pool_serve_locked(link->pool->login);
    }
}
