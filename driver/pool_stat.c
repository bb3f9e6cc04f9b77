/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "pool_stat.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "pool.h"
#include "pool_shelf.h"

const struct pool_stat_row pool_stat_rows[POOL_STATS] = {
#define POOL_STAT(name, of, kind, column, family, reason, help) \
    [POOL_STAT_##name] = { POOL_OF_##of, POOL_KIND_##kind, column, family, \
                           reason, help },
#include "pool_stat.def"
};

/* ---- counting ------------------------------------------------------------ */

void pool_stat_add(struct pool_stats *stats, enum pool_stat stat, uint64_t by)
{
    atomic_fetch_add_explicit(&stats->of[stat], by, memory_order_relaxed);
}

void pool_stat_raise_locked(const struct login *login,
                            struct pool_stats *stats, enum pool_stat stat,
                            uint64_t to)
{
    _Atomic uint64_t *of = &stats->of[stat];

    mutex_assert_held(&login->lock);
    if (to > atomic_load_explicit(of, memory_order_relaxed)) {
        atomic_store_explicit(of, to, memory_order_relaxed);
    }
}

/* Nobody else adds to it. */
static void add_own(_Atomic uint64_t *own, uint64_t by)
{
    atomic_store_explicit(
        own, atomic_load_explicit(own, memory_order_relaxed) + by,
        memory_order_relaxed);
}

void pool_lend(struct link *link, enum pool_lent how, uint64_t now)
{
    add_own(&link->use.borrowed, 1);
    if (how == POOL_LENT_OWNER) {
        add_own(&link->use.hits, 1);
    } else if (how == POOL_LENT_OTHER) {
        add_own(&link->use.misses, 1);
    }
    atomic_store_explicit(&link->use.taken, now, memory_order_relaxed);
}

void pool_take_back(struct link *link, uint64_t now)
{
    uint64_t taken = atomic_load_explicit(&link->use.taken,
                                          memory_order_relaxed);

    add_own(&link->use.returned, 1);
    add_own(&link->use.ns, now > taken ? now - taken : 0);
    atomic_store_explicit(&link->use.taken, 0, memory_order_relaxed);
}

/* ---- adding up ----------------------------------------------------------- */

static uint64_t read_own(const _Atomic uint64_t *own)
{
    return atomic_load_explicit(own, memory_order_relaxed);
}

/* What was returned is read first, so that no more ever is than was
   borrowed. */
static void add_use(uint64_t *stats, const struct link_use *use)
{
    stats[POOL_STAT_RETURNED] += read_own(&use->returned);
    stats[POOL_STAT_BORROWED] += read_own(&use->borrowed);
    stats[POOL_STAT_USED] += read_own(&use->ns);
    stats[POOL_STAT_HITS] += read_own(&use->hits);
    stats[POOL_STAT_MISSES] += read_own(&use->misses);
}

void pool_stat_keep_locked(struct link *link)
{
    uint64_t stats[POOL_STATS] = { 0 };

    mutex_assert_held(&link->pool->login->lock);
    add_use(stats, &link->use);
    for (int k = 0; k < POOL_STATS; k++) {
        if (stats[k]) {
            pool_stat_add(&link->pool->stats, (enum pool_stat)k, stats[k]);
        }
    }
}

static void copy_stats(const struct pool_stats *stats, uint64_t *copy)
{
    for (int k = 0; k < POOL_STATS; k++) {
        copy[k] = read_own(&stats->of[k]);
    }
}

bool pool_lent_locked(const struct pool *pool, uint64_t *lent)
{
    bool held = false;

    mutex_assert_held(&pool->login->lock);
    *lent += read_own(&pool->stats.of[POOL_STAT_BORROWED]);
    for (int state = 0; state < LINK_STATES; state++) {
        const struct link *link;

        DL_FOREACH(pool->links[state], link) {
            *lent += read_own(&link->use.borrowed);
            held = held || read_own(&link->use.taken);
        }
    }
    return held;
}

static void view_pool_locked(const struct pool *pool, struct pool_view *view)
{
    const struct login *login = pool->login;
    const struct route_member *m = &login->fleet->members[pool->instance];

    mutex_assert_held(&login->lock);
    memcpy(view->count, pool->count, sizeof view->count);
    view->room = login->stock[pool->instance].room;
    view->left = pool->left;
    copy_stats(&pool->stats, view->stats);
    for (int state = 0; state < LINK_STATES; state++) {
        const struct link *link;

        DL_FOREACH(pool->links[state], link) {
            add_use(view->stats, &link->use);
        }
    }
    view->stats[POOL_STAT_PEAK_IN_USE] = atomic_load(&m->most_in_flight);
}

struct login_view *login_view(struct login *login)
{
    uint32_t count = login->fleet->count;
    struct login_view *view =
        calloc(1, sizeof *view + count * sizeof view->pools[0]);

    if (!view) {
        return NULL;
    }
    mutex_lock(&login->lock);
    shelf_gather_locked(login);
    copy_stats(&login->stats, view->stats);
    for (uint32_t i = 0; i < count; i++) {
        view_pool_locked(&login->pools[i], &view->pools[i]);
    }
    mutex_unlock(&login->lock);
    return view;
}

void pool_stat_sum(uint64_t *sum, const uint64_t *stats)
{
    for (int k = 0; k < POOL_STATS; k++) {
        if (pool_stat_rows[k].kind == POOL_KIND_LONGEST) {
            sum[k] = stats[k] > sum[k] ? stats[k] : sum[k];
        } else {
            sum[k] += stats[k];
        }
    }
}
