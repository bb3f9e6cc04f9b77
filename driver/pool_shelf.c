/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The shelves: one per stripe, for the links of all logins.  What they are for
 * and why nothing gets lost on them stands in pool_shelf.h.
 */
#include "autoconf.h"

#include "pool_shelf.h"

#include <pthread.h>

#include "pool_inside.h"

enum { ROOM = 16, GATHER_MS = 1000 };

static struct shelf {
    struct mutex lock; /* LOCK_SHELF */
    uint32_t count;
    struct link *links[ROOM]; /* the latest last */
} __attribute__((aligned(LOCK_APART))) shelves[LOCK_STRIPES];

static void clear_all(void)
{
    for (int i = 0; i < LOCK_STRIPES; i++) {
        mutex_init(&shelves[i].lock, LOCK_SHELF);
        shelves[i].count = 0;
    }
}

__attribute__((constructor)) static void set_up(void)
{
    clear_all();
    pthread_atfork(NULL, NULL, clear_all);
}

static struct link *remove_locked(struct shelf *shelf, uint32_t k)
{
    struct link *link = shelf->links[k];

    mutex_assert_held(&shelf->lock);
    shelf->count--;
    for (; k < shelf->count; k++) {
        shelf->links[k] = shelf->links[k + 1];
    }
    return link;
}

/* Nothing was done with it, it is not dead, and may serve again. */
static bool as_good_as_new(const struct link *link, uint64_t now)
{
    return !link->touched && !link->children && !link->spoilt &&
           !link->cancels && !pool_is_worn(link, now);
}

bool shelf_give(struct link *link)
{
    struct login *login = link->pool->login;
    uint64_t now = clock_ns();
    struct shelf *shelf;
    bool given;

    if (!as_good_as_new(link, now)) {
        return false;
    }
    shelf = shelf_enter();
    given = shelf->count < ROOM;
    if (given && !atomic_load(&login->shelved)) {
        atomic_store(&login->shelved, true);
    }
    given = given && !atomic_load(&login->shut) &&
            !atomic_load(&link->pool->crowded);
    if (given) {
        link->shelved = now;
        pool_take_back(link, now);
        shelf->links[shelf->count++] = link;
        fleet_unit_ends(login->fleet, link->pool->instance);
    }
    shelf_leave(shelf);
    return given;
}

struct shelf *shelf_enter(void)
{
    struct shelf *shelf = &shelves[lock_stripe()];

    mutex_lock(&shelf->lock);
    return shelf;
}

void shelf_leave(struct shelf *shelf)
{
    mutex_unlock(&shelf->lock);
}

struct login *shelf_login_locked(struct shelf *shelf,
                                 const struct config *config,
                                 SQLINTEGER odbc_version, bool wide)
{
    struct login *login = NULL, *seen = NULL;
    struct text key;

    mutex_assert_held(&shelf->lock);
    if (shelf->count == 0) {
        return NULL;
    }
    text_init_wiped(&key);
    login_key(config, odbc_version, wide, &key);
    for (uint32_t k = shelf->count; k-- > 0 && !login && !key.failed;) {
        struct login *other = shelf->links[k]->pool->login;
        if (other != seen && login_fits(other, config, text_string(&key))) {
            login = other;
        }
        seen = other;
    }
    text_free(&key);
    return login;
}

struct link *shelf_take_locked(struct shelf *shelf, const struct pool *pool)
{
    uint64_t now = clock_ns();

    mutex_assert_held(&shelf->lock);
    for (uint32_t k = shelf->count; k-- > 0;) {
        struct link *link = shelf->links[k];
        if (link->pool == pool && !pool_is_worn(link, now) &&
            !pool_is_stale(link, now)) {
            return remove_locked(shelf, k);
        }
    }
    return NULL;
}

bool shelf_is_due(const struct login *login, uint64_t now)
{
    return now >= atomic_load_explicit(&login->shelves_until,
                                       memory_order_relaxed);
}

/* One shelf's links of the login, into an array of ROOM. */
static uint32_t clear(struct shelf *shelf, const struct login *login,
                      struct link **links)
{
    uint32_t count = 0;

    mutex_lock(&shelf->lock);
    for (uint32_t k = 0; k < shelf->count;) {
        if (shelf->links[k]->pool->login == login) {
            links[count++] = remove_locked(shelf, k);
        } else {
            k++;
        }
    }
    mutex_unlock(&shelf->lock);
    return count;
}

void shelf_gather_locked(struct login *login)
{
    uint32_t idle = login->fleet->config.pool_idle;
    uint64_t ms = idle && idle < GATHER_MS ? idle : GATHER_MS;
    struct link *links[ROOM];

    mutex_assert_held(&login->lock);
    atomic_store_explicit(&login->shelves_until, clock_ns() + ms * NS_PER_MS,
                          memory_order_relaxed);
    if (!atomic_load(&login->shelved)) {
        return;
    }
    atomic_store(&login->shelved, false);
    for (int i = 0; i < LOCK_STRIPES; i++) {
        uint32_t count = clear(&shelves[i], login, links);
        for (uint32_t k = 0; k < count; k++) {
            pool_set_idle_since_locked(links[k], links[k]->shelved);
            login_release(login); /* not the last: the link has one */
        }
    }
}

void shelf_shut_locked(struct login *login)
{
    mutex_assert_held(&login->lock);
    if (!atomic_load(&login->shut)) {
        atomic_store(&login->shut, true);
        shelf_gather_locked(login);
    }
}

void shelf_open_locked(struct login *login)
{
    mutex_assert_held(&login->lock);
    if (!login->retired) {
        atomic_store(&login->shut, false);
    }
}
