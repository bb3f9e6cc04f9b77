/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pool, with the real keeper and many threads at once, above the pretend
 * inner driver, which aborts when a lock of ours is held over a call or when
 * two threads meet in one connection.  Meant for ThreadSanitizer; what must
 * hold at each step is shown by unit-place, one turn at a time.
 */
#include "autoconf.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <utlist.h>

#include "config.h"
#include "keeper.h"
#include "place.h"
#include "pretend.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* ---- logins ------------------------------------------------------------------ */

struct taken {
    struct fleet *fleet;
    struct login *login;
};

static struct taken take_as(const char *keywords, const char *uid,
                            SQLINTEGER odbc, bool wide)
{
    struct config *config = pretend_config(2, keywords, uid);
    struct why why = { .code = WHY_NONE };
    struct taken taken = { .fleet = fleet_get(config, &why) };

    assert_non_null(taken.fleet);
    taken.login = login_get(taken.fleet, config, odbc, wide);
    assert_non_null(taken.login);
    config_free(config);
    free(config);
    return taken;
}

static void let_go(struct taken taken)
{
    login_release(taken.login);
    fleet_release(taken.fleet);
}

static bool share(const char *keywords, const char *uid, SQLINTEGER odbc,
                  bool wide)
{
    struct taken first = take_as("PoolMax=2;PWD=a;", "u", 3, false);
    struct taken second = take_as(keywords, uid, odbc, wide);
    bool same = first.login == second.login;

    let_go(first);
    let_go(second);
    return same;
}

/* Promise 3: a login is part of the pool's identity. */
static void pools_are_shared_by_who_agrees_in_all(void **state)
{
    (void)state;
    assert_true(share("PoolMax=2;PWD=a;", "u", 3, false));
    assert_true(share("PoolMax=2;pwd=a;AffinityKey=7;", "u", 3, false));
    assert_false(share("PoolMax=2;PWD=b;", "u", 3, false));
    assert_false(share("PoolMax=2;", "u", 3, false));
    assert_false(share("PoolMax=2;PWD=a;", "v", 3, false));
    assert_false(share("PoolMax=2;PWD=a;", "u", 2, false));
    assert_false(share("PoolMax=2;PWD=a;", "u", 3, true));
    assert_false(share("PoolMax=3;PWD=a;", "u", 3, false)); /* the fleet */
    assert_false(share("PoolMax=2;PWD=a;Database=d;", "u", 3, false));
}

static void what_is_handed_down_keeps_its_origin(void **state)
{
    struct taken taken = take_as("PWD={a;b};Database=d%20;", "u", 3, false);
    struct connstr passed;
    (void)state;

    assert_true(login_passed(taken.login, &passed));
    assert_string_equal(connstr_value(&passed, "PWD"), "a;b");
    assert_int_equal(connstr_find(&passed, "PWD")->origin, CONNSTR_BRACED);
    assert_string_equal(connstr_value(&passed, "Database"), "d%20");
    assert_int_equal(connstr_find(&passed, "Database")->origin,
                     CONNSTR_PLAIN);
    connstr_free(&passed);
    let_go(taken);
}

static void a_fleet_goes_with_its_last_user(void **state)
{
    struct taken taken = take_as("", "u", 3, false);
    struct fleet **all;
    uint32_t count;
    (void)state;

    all = fleet_all(&count);
    assert_int_equal(count, 1);
    assert_ptr_equal(all[0], taken.fleet);
    fleet_release(all[0]);
    free(all);
    let_go(taken);
    free(fleet_all(&count));
    assert_int_equal(count, 0);
}

/* ---- many at once --------------------------------------------------------------- */

enum { THREADS = 6, INSTANCES = 3 };

static struct taken taken[2];
static atomic_uint served, refused;
static atomic_bool over;

static uint64_t draw(uint64_t *drawn, uint32_t below)
{
    *drawn = *drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*drawn >> 33) % below;
}

static void use(struct link *link, uint64_t *drawn)
{
    struct pretend_conn *conn = pretend_of(link);
    struct link_error error;

    if (atomic_exchange(&conn->user, true)) {
        fprintf(stderr, "two sessions hold one link\n");
        abort();
    }
    if (conn->dirty) {
        fprintf(stderr, "a link is handed on that is not clean\n");
        abort();
    }
    if (draw(drawn, 3)) {
        conn->dirty = true;
        link->touched = true;
        link_query(link, "WHO", NULL, NULL, &error);
    }
    if (draw(drawn, 50) == 0) {
        pretend_kill(conn);
    }
    atomic_store(&conn->user, false);
}

static void *work(void *arg)
{
    static const enum route_mode modes[] = { ROUTE_HINT, ROUTE_PREFER,
                                             ROUTE_STRICT };
    uint64_t drawn = (uintptr_t)arg;

    for (int i = 0; i < 400; i++) {
        char text[] = { 'k', (char)('0' + draw(&drawn, PRETEND_KEYS)) };
        struct route_key *key = NULL;
        struct place_order order = {
            .login = taken[draw(&drawn, 2)].login,
            .mode = modes[draw(&drawn, 3)],
            .write = draw(&drawn, 2),
            .pool_wait_ms = draw(&drawn, 4) ? 200 : 0,
            .deadline = UINT64_MAX,
        };
        if (draw(&drawn, 4)) {
            route_key_parse(text, sizeof text, &key, NULL);
            order.key = key;
        }
        if (place_unit(&order)) {
            use(order.link, &drawn);
            pool_give(order.link, link_dead(order.link));
            atomic_fetch_add(&served, 1);
        } else {
            atomic_fetch_add(&refused, 1);
        }
        place_done(&order);
        route_key_free(key);
    }
    return NULL;
}

/* Instances that hang are let go of at once, so that nothing takes long. */
static void *trouble(void *unused)
{
    uint64_t drawn = 99;

    (void)unused;
    while (!over) {
        uint32_t i = (uint32_t)draw(&drawn, INSTANCES);
        enum pretend_manner manner =
            (enum pretend_manner)draw(&drawn, PRETEND_HANGS + 1);
        pretend_set(i, manner == PRETEND_NO_LOGIN ? PRETEND_SERVES : manner);
        usleep(300); /* trouble lasts a while; nothing is awaited here */
        pretend_set(i, PRETEND_SERVES);
        usleep(2000);
    }
    return NULL;
}

static void *look(void *unused)
{
    (void)unused;
    while (!over) {
        for (size_t k = 0; k < COUNT(taken); k++) {
            struct login *login = taken[k].login;
            mutex_lock(&login->lock);
            for (uint32_t i = 0; i < INSTANCES; i++) {
                const struct route_stock *s = &login->stock[i];
                if (s->idle + s->held + s->opening + s->reset > 3 ||
                    login->total > 7) {
                    fprintf(stderr, "a limit does not hold\n");
                    abort();
                }
            }
            mutex_unlock(&login->lock);
        }
        usleep(100);
    }
    return NULL;
}

static void await_no_connections(void)
{
    uint64_t until = clock_ns() + 60000 * NS_PER_MS;
    uint32_t left;

    mutex_lock(&pretend_lock);
    while (pretend_connections > 0 &&
           cond_wait(&pretend_changed, &pretend_lock, until)) {
    }
    left = pretend_connections;
    mutex_unlock(&pretend_lock);
    assert_int_equal(left, 0);
}

static void own_keys(void)
{
    for (uint32_t k = 0; k < PRETEND_KEYS; k++) {
        pretend_keys[k].state = k < 6 ? ROUTE_IS_OWNED : ROUTE_IS_UNKNOWN;
        pretend_keys[k].owner = k % INSTANCES;
        pretend_keys[k].pending = k == 7;
    }
}

static void take_both(void)
{
    static const char *const uids[] = { "u1", "u2" };

    for (size_t k = 0; k < COUNT(taken); k++) {
        struct config *config = pretend_config(
            INSTANCES, "PoolMax=3;PoolMaxTotal=7;PoolTrust=1;PoolMaxReuse=9;"
            "ConnectTimeout=2000;", uids[k]);
        taken[k].fleet = fleet_get(config, NULL);
        taken[k].login = login_get(taken[k].fleet, config, 3, false);
        config_free(config);
        free(config);
    }
}

static void nothing_breaks_and_nothing_is_left(void **state)
{
    pthread_t threads[THREADS], troubled, looking;
    (void)state;

    own_keys();
    take_both();
    pthread_create(&troubled, NULL, trouble, NULL);
    pthread_create(&looking, NULL, look, NULL);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    over = true;
    pthread_join(troubled, NULL);
    pthread_join(looking, NULL);
    print_message("# %u served, %u refused\n", served, refused);
    assert_int_equal(served + refused, THREADS * 400);
    assert_true(served > THREADS * 100);
    for (size_t k = 0; k < COUNT(taken); k++) {
        assert_null(taken[k].login->units);
        login_retire(taken[k].login);
        let_go(taken[k]);
    }
    await_no_connections();
    for (uint32_t i = 0; i < INSTANCES; i++) {
        assert_int_equal(pretend_at[i].open, 0);
    }
}

/* ---- fork ------------------------------------------------------------------------- */

/* The parent's pool is none of the child's: it opens a link of its own. */
static int in_child(uint32_t opened)
{
    struct place_order order = { .pool_wait_ms = 10000,
                                 .deadline = UINT64_MAX };
    uint32_t count;

    free(fleet_all(&count));
    if (count) {
        return 1;
    }
    take_both();
    order.login = taken[0].login;
    if (!place_unit(&order)) {
        return 2;
    }
    if (pretend_at[0].opened + pretend_at[1].opened +
            pretend_at[2].opened != opened + 1) {
        return 3;
    }
    pool_give(order.link, false);
    return 0;
}

static void a_child_begins_with_no_fleet(void **state)
{
    struct place_order order = { .pool_wait_ms = 10000,
                                 .deadline = UINT64_MAX };
    uint32_t opened = 0;
    int status;
    pid_t child;
    (void)state;

    take_both();
    order.login = taken[0].login;
    assert_true(place_unit(&order));
    pool_give(order.link, false);
    for (int i = 0; i < INSTANCES; i++) {
        opened += (uint32_t)pretend_at[i].opened;
    }
    child = fork();
    if (child == 0) {
        _exit(in_child(opened));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(taken[0].login->total_idle, 1); /* as if nothing was */
    for (size_t k = 0; k < COUNT(taken); k++) {
        login_retire(taken[k].login);
        let_go(taken[k]);
    }
    await_no_connections();
}

static int begin_tests(void **state)
{
    (void)state;
    return pretend_begin() ? 0 : -1;
}

static int end_tests(void **state)
{
    (void)state;
    pretend_end();
    /* helpers have let go of all they held */
    return keeper_finish(clock_ns() + 60000 * NS_PER_MS) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_are_shared_by_who_agrees_in_all),
        cmocka_unit_test(what_is_handed_down_keeps_its_origin),
        cmocka_unit_test(a_fleet_goes_with_its_last_user),
        cmocka_unit_test(nothing_breaks_and_nothing_is_left),
        cmocka_unit_test(a_child_begins_with_no_fleet),
    };

    return cmocka_run_group_tests_name("pool", tests, begin_tests, end_tests);
}
