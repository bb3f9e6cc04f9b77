/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pool, with the real keeper and many threads at once, above the pretend
 * inner driver, which aborts when a lock of ours is held over a call or when
 * two threads meet in one connection.  Meant for ThreadSanitizer; what must
 * hold at each step is shown by unit-place, one turn at a time.
 *
 * LONG: everything goes over the same many threads, trouble and end.
 */
#include "autoconf.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <utlist.h>

#include "config.h"
#include "keeper.h"
#include "place.h"
#include "pool_shelf.h"
#include "pretend.h"
#include "watch.h"

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

static bool no_secrets; /* there is no memory for any */

const char *__real_secret_dup(const char *text, size_t length);
const char *__wrap_secret_dup(const char *text, size_t length);
const char *__wrap_secret_dup(const char *text, size_t length)
{
    return no_secrets ? NULL : __real_secret_dup(text, length);
}

static void without_memory_for_its_secrets_there_is_no_fleet(void **state)
{
    struct config *config = pretend_config(2, "", "u1");
    struct why why = { .code = WHY_NONE };
    (void)state;

    no_secrets = true;
    assert_null(fleet_get(config, &why));
    no_secrets = false;
    assert_int_equal(why.code, WHY_MEMORY);
    config_free(config);
    free(config);
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

/* Rules §10: what proportional counts begins at a random phase, of less than
   one unit, so that new processes do not all begin at the same instance.  By
   chance all of them do once in 2^63 times. */
static void not_all_fleets_begin_at_the_same_instance(void **state)
{
    enum { MADE = 64 };
    unsigned first = 0;
    (void)state;

    for (int n = 0; n < MADE; n++) {
        struct taken taken = take_as("", "u", 3, false);
        uint64_t a = atomic_load(&taken.fleet->members[0].served);
        uint64_t b = atomic_load(&taken.fleet->members[1].served);

        assert_true(a < ROUTE_SERVED_UNIT && b < ROUTE_SERVED_UNIT);
        first += a < b;
        let_go(taken); /* the next is made anew, at another time */
    }
    assert_in_range(first, 1, MADE - 1);
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

    if (atomic_exchange(&conn->held, true)) {
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
    atomic_store(&conn->held, false);
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

/* Stands in for watch.c. */
bool watch_is_used(const struct fleet *fleet, uint64_t now)
{
    (void)fleet;
    (void)now;
    return !over;
}

/* Probes over any pool, some of whose links die just then; one at a time per
   instance, as the keeper does. */
static void probe(uint64_t *drawn)
{
    uint32_t i = (uint32_t)draw(drawn, INSTANCES);
    struct login *login = taken[draw(drawn, COUNT(taken))].login;
    struct pool *pool = &login->pools[i];
    bool new = draw(drawn, 20) == 0, awaited;

    mutex_lock(&login->lock);
    mutex_lock(&login->fleet->lock);
    awaited = login->fleet->instances[i].probe.awaited;
    mutex_unlock(&login->fleet->lock);
    if (!awaited && pool_probe_locked(pool, new) > POOL_PROBE_REFUSED) {
        if (pool->links[LINK_IDLE] && draw(drawn, 8) == 0) {
            pretend_kill(pretend_of(pool->links[LINK_IDLE]->prev));
        }
        pool_probe_begin_locked(pool, new);
    } else if (draw(drawn, 50) == 0) {
        pool_probe_leave_locked(pool);
    }
    mutex_unlock(&login->lock);
}

/* And the keeper's rounds in between. */
static void *watch(void *unused)
{
    uint64_t drawn = 7;

    (void)unused;
    while (!over) {
        probe(&drawn);
        if (draw(&drawn, 50) == 0) {
            watch_probe(taken[0].fleet, clock_ns());
        }
        usleep(20);
    }
    return NULL;
}

/* Then none is open: whoever frees one that is ends the test. */
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
            "ConnectTimeout=2000;CheckInterval=1;", uids[k]);
        taken[k].fleet = fleet_get(config, NULL);
        taken[k].login = login_get(taken[k].fleet, config, 3, false);
        config_free(config);
        free(config);
    }
}

static void nothing_breaks_and_nothing_is_left(void **state)
{
    pthread_t threads[THREADS], troubled, looking, watching;
    uint64_t probed = 0;
    (void)state;

    own_keys();
    take_both();
    pthread_create(&troubled, NULL, trouble, NULL);
    pthread_create(&looking, NULL, look, NULL);
    pthread_create(&watching, NULL, watch, NULL);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    over = true;
    pthread_join(troubled, NULL);
    pthread_join(looking, NULL);
    pthread_join(watching, NULL);
    mutex_lock(&pretend_lock);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        probed += pretend_at[i].probed;
    }
    mutex_unlock(&pretend_lock);
    print_message("# %u served, %u refused, %llu probes\n", served, refused,
                  (unsigned long long)probed);
    assert_true(probed > 0);
    assert_int_equal(served + refused, THREADS * 400);
    assert_true(served > THREADS * 100);
    for (size_t k = 0; k < COUNT(taken); k++) {
        assert_null(taken[k].login->units);
        login_retire(taken[k].login);
        let_go(taken[k]);
    }
    await_no_connections();
}

/* ---- shelves -------------------------------------------------------------------- */

static atomic_uint left, at_once;

/* As a session connects and disconnects. */
static void come_and_go(const struct config *config, uint64_t *drawn)
{
    struct place_order order = {
        .mode = ROUTE_HINT, .write = true, .deadline = UINT64_MAX,
        .pool_wait_ms = draw(drawn, 4) ? 20000 : (uint32_t)draw(drawn, 3),
    };
    bool placed = pretend_at_once(&order, config);

    at_once += placed;
    if (!placed) {
        struct fleet *fleet = fleet_get(config, NULL);
        order.login = login_get(fleet, config, 3, false);
        fleet_release(fleet);
        placed = place_unit(&order);
    }
    place_done(&order);
    if (!placed) {
        atomic_fetch_add(&refused, 1);
        login_release(order.login);
        return;
    }
    use(order.link, drawn);
    atomic_fetch_add(&served, 1);
    if (!link_dead(order.link) && shelf_give(order.link)) {
        atomic_fetch_add(&left, 1);
    } else {
        pool_give(order.link, link_dead(order.link));
        login_release(order.login);
    }
}

static struct config *shelf_configs[2];

static void *come_and_go_often(void *arg)
{
    uint64_t drawn = (uintptr_t)arg;

    for (int i = 0; i < 3000; i++) {
        come_and_go(shelf_configs[draw(&drawn, 2)], &drawn);
    }
    return NULL;
}

/* No link is on a shelf while a unit waits.  shelved is set so that all shelves
   are looked at, whatever the login knows. */
static void look_at_shelves(struct login *login, bool retire)
{
    mutex_lock(&login->lock);
    if (login->units) {
        uint32_t idle = login->total_idle;
        login->shelved = true;
        shelf_gather_locked(login);
        if (login->total_idle != idle) {
            fprintf(stderr, "it waits, and a link is on a shelf\n");
            abort();
        }
    }
    mutex_unlock(&login->lock);
    if (retire) {
        login_retire(login);
    }
}

/* Retired now and then, as when an ini file changes. */
static void *look_at_all_shelves(void *unused)
{
    uint64_t drawn = 7;

    (void)unused;
    while (!over) {
        uint32_t fleets, count;
        struct fleet **all = fleet_all(&fleets);
        for (uint32_t i = 0; i < fleets; i++) {
            struct login **logins = login_all(all[i], &count);
            for (uint32_t k = 0; k < count; k++) {
                look_at_shelves(logins[k], draw(&drawn, 200) == 0);
                login_release(logins[k]);
            }
            free(logins);
            fleet_release(all[i]);
        }
        free(all);
        usleep(50);
    }
    return NULL;
}

static void nothing_gets_lost_on_shelves(void **state)
{
    pthread_t threads[THREADS], looking;
    struct fleet **all;
    uint32_t count;
    (void)state;

    over = false;
    served = refused = 0;
    shelf_configs[0] = pretend_config(2, "PoolMax=1;PoolTrust=20;", "u1");
    shelf_configs[1] = pretend_config(2, "PoolMax=1;PoolTrust=20;", "u2");
    pthread_create(&looking, NULL, look_at_all_shelves, NULL);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, come_and_go_often, (void *)(i + 1));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    over = true;
    pthread_join(looking, NULL);
    print_message("# %u served, %u of them at once, %u refused, %u left\n",
                  served, at_once, refused, left);
    assert_int_equal(served + refused, THREADS * 3000);
    assert_true(at_once > 0);
    all = fleet_all(&count);
    for (uint32_t i = 0; i < count; i++) {
        login_retire_all(all[i]);
        fleet_release(all[i]);
    }
    free(all);
    await_no_connections();
    for (int k = 0; k < 2; k++) {
        config_free(shelf_configs[k]);
        free(shelf_configs[k]);
    }
}

/* No call is under way on a link that lies there, when its instance is lost. */
static void what_lies_on_a_shelf_is_not_left_hanging(void **state)
{
    struct taken alone = take_as("PoolTrust=60000;", "u", 3, false);
    struct place_order order = { .login = alone.login, .pool_wait_ms = 10000,
                                 .deadline = UINT64_MAX };
    const struct link_error error = { .text = "silence" };
    struct pool *pool;
    (void)state;

    assert_true(place_unit(&order));
    place_done(&order);
    pool = order.link->pool;
    login_retain(alone.login);
    assert_true(shelf_give(order.link));
    fleet_silent(alone.fleet, pool->instance, clock_ns(), &error);
    assert_true(fleet_has_lost(alone.fleet, pool->instance,
                               order.link->opened));
    login_end_hung(alone.login, clock_ns());
    mutex_lock(&alone.login->lock);
    assert_int_equal(pool->left, 0);
    assert_int_equal(pool->count[LINK_IDLE], 1);
    mutex_unlock(&alone.login->lock);
    login_retire(alone.login);
    let_go(alone);
    await_no_connections();
}

/* Nothing runs next on such a link, and the cancel may hang with its
   instance. */
static void whoever_lost_a_link_waits_for_no_cancel(void **state)
{
    struct taken alone = take_as("CheckTimeout=60000;", "u", 3, false);
    struct place_order order = { .login = alone.login, .pool_wait_ms = 10000,
                                 .deadline = UINT64_MAX };
    const struct link_error error = { .text = "silence" };
    uint64_t begin;
    (void)state;

    assert_true(place_unit(&order));
    place_done(&order);
    fleet_silent(alone.fleet, order.link->pool->instance, clock_ns(), &error);
    order.link->cancels = 1;
    begin = clock_ns();
    pool_await_cancels(order.link);
    assert_true(clock_ns() < begin + 30000 * NS_PER_MS);
    order.link->cancels = 0;
    pool_give(order.link, true);
    login_retire(alone.login);
    let_go(alone);
    await_no_connections();
}

static struct login *cut_login;

/* login_hung.c finds the call that is under way overdue. */
static void cut(void)
{
    struct login *login = cut_login;
    uint64_t began = 0;

    cut_login = NULL;
    if (!login) {
        return;
    }
    mutex_lock(&login->lock);
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        const struct link *link = login->pools[i].links[LINK_RESET];

        began = link ? atomic_load(&link->began) : began;
    }
    mutex_unlock(&login->lock);
    login_end_hung(login, began + login->fleet->config.check_timeout *
                                      NS_PER_MS);
}

/* A call that answers in the very moment when it is given up has left a link
   whose socket is shut. */
static void what_was_cut_while_it_answered_is_not_handed_on(void **state)
{
    struct taken alone = take_as("PoolTrust=60000;", "u", 3, false);
    struct place_order order = { .login = alone.login, .pool_wait_ms = 10000,
                                 .deadline = UINT64_MAX };
    int ends[2];
    (void)state;

    assert_true(place_unit(&order));
    place_done(&order);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    order.link->socket = ends[0] + 1;
    order.link->touched = true;
    cut_login = alone.login;
    pretend_pause = cut;
    pool_give(order.link, false); /* to be reset, which is cut */
    await_no_connections();
    pretend_pause = NULL;
    assert_null(cut_login);
    close(ends[1]);
    login_retire(alone.login);
    let_go(alone);
}

/* ---- fork ------------------------------------------------------------------------- */

static uint32_t opened_so_far(void)
{
    uint32_t opened = 0;

    mutex_lock(&pretend_lock);
    for (int i = 0; i < INSTANCES; i++) {
        opened += (uint32_t)pretend_at[i].opened;
    }
    mutex_unlock(&pretend_lock);
    return opened;
}

/* Neither the parent's pool nor what is on its shelves is the child's: it opens
   a link of its own. */
static int in_child(const struct config *config, uint32_t opened)
{
    struct place_order order = { .pool_wait_ms = 10000,
                                 .deadline = UINT64_MAX };
    uint32_t count;

    free(fleet_all(&count));
    if (count) {
        return 1;
    }
    if (pretend_at_once(&order, config)) {
        return 2;
    }
    order.login = login_get(fleet_get(config, NULL), config, 3, false);
    if (!place_unit(&order)) {
        return 3;
    }
    if (opened_so_far() != opened + 1) {
        return 4;
    }
    return shelf_give(order.link) ? 0 : 5;
}

/* Which shelf one looks at is then always the same. */
static void stay_on_one_processor(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static void a_child_begins_with_no_fleet(void **state)
{
    struct config *config = pretend_config(1, "PoolTrust=60000;", "u");
    struct place_order order = { .pool_wait_ms = 10000,
                                 .deadline = UINT64_MAX };
    struct fleet *fleet = fleet_get(config, NULL);
    int status;
    pid_t child;
    (void)state;

    stay_on_one_processor(); /* it is the last test */
    order.login = login_get(fleet, config, 3, false);
    assert_true(place_unit(&order));
    assert_true(shelf_give(order.link));
    assert_true(pretend_at_once(&order, config));
    assert_true(shelf_give(order.link));
    child = fork();
    if (child == 0) {
        _exit(in_child(config, opened_so_far()));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    login_retire_all(fleet); /* as if nothing was */
    await_no_connections();
    fleet_release(fleet);
    config_free(config);
    free(config);
}

static int end_tests(void **state)
{
    uint32_t count;
    bool finished;

    pretend_end(state);
    /* helpers have let go of all they held, and nobody has a reference */
    finished = keeper_finish(clock_ns() + 60000 * NS_PER_MS);
    free(fleet_all(&count));
    return finished && count == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_are_shared_by_who_agrees_in_all),
        cmocka_unit_test(without_memory_for_its_secrets_there_is_no_fleet),
        cmocka_unit_test(what_is_handed_down_keeps_its_origin),
        cmocka_unit_test(not_all_fleets_begin_at_the_same_instance),
        cmocka_unit_test(a_fleet_goes_with_its_last_user),
        cmocka_unit_test(nothing_breaks_and_nothing_is_left),
        cmocka_unit_test(nothing_gets_lost_on_shelves),
        cmocka_unit_test(what_lies_on_a_shelf_is_not_left_hanging),
        cmocka_unit_test(whoever_lost_a_link_waits_for_no_cancel),
        cmocka_unit_test(what_was_cut_while_it_answered_is_not_handed_on),
        cmocka_unit_test(a_child_begins_with_no_fleet),
    };

    pretend_minds_threads = true;
    return cmocka_run_group_tests_name("pool", tests, pretend_begin, end_tests);
}
