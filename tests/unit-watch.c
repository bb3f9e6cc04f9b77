/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * When a fleet is used (watch.c), and that the keeper's clock sleeps when none
 * is: on a clock that the test sets (sim.h), over a pretend inner driver
 * (pretend.h); the duties are the test's.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config.h"
#include "event.h"
#include "fleet_disk.h"
#include "place.h"
#include "pretend.h"
#include "sim.h"
#include "watch.h"

static struct fleet *fleet;
static struct login *login;
static bool used; /* at the latest round */
static uint64_t next_round;

/* Stand in for watch_*.c. */
uint64_t watch_probe(struct fleet *of, uint64_t now)
{
    used = watch_is_used(of, now);
    return UINT64_MAX;
}

uint64_t watch_links(struct fleet *of, uint64_t now)
{
    (void)of;
    (void)now;
    return UINT64_MAX;
}

uint64_t watch_file(struct fleet *of, uint64_t now)
{
    return watch_links(of, now);
}

uint64_t watch_pool(struct fleet *of, uint64_t now)
{
    return watch_links(of, now);
}

static int begin(void **state)
{
    struct config *config =
        pretend_config(1, "PoolMax=1;Log=/dev/null;", "u1");

    (void)state;
    fleet = fleet_get(config, NULL);
    login = login_get(fleet, config, SQL_OV_ODBC3, false);
    config_free(config);
    free(config);
    used = false;
    next_round = UINT64_MAX;
    sim_wake();
    return fleet && login ? 0 : -1;
}

static void settle(void)
{
    while (sim_runnables() || sim_jobs()) {
        while (sim_runnables()) {
            sim_run(0);
        }
        if (sim_jobs()) {
            sim_run_job(0);
        }
    }
}

static int end(void **state)
{
    (void)state;
    login_retire(login);
    login_release(login);
    fleet_release(fleet);
    settle();
    return 0;
}

static void run_placing(void *order)
{
    place_unit(order);
}

static void place(struct place_order *order)
{
    *order = (struct place_order){
        .login = login, .write = true, .pool_wait_ms = 3000,
        .deadline = UINT64_MAX,
    };
    sim_start(run_placing, order);
    settle();
    watch_use(fleet);
}

/* Rounds as the clock makes them, for so long. */
static void pass(unsigned ms)
{
    uint64_t until = sim_now() + ms * NS_PER_MS;

    while ((next_round = clock_earlier(next_round, sim_wake())) <= until) {
        if (next_round > sim_now()) {
            sim_set_now(next_round);
        }
        next_round = sim_round(sim_now());
        settle();
    }
    sim_set_now(until);
}

static void who_holds_a_link_uses_the_fleet(void **state)
{
    struct place_order order;
    (void)state;

    assert_false(atomic_load(&fleet->watched));
    place(&order);
    assert_non_null(order.link);
    pass(1000);
    assert_true(used);
    pass(300000); /* and goes on to */
    assert_true(used);
    assert_true(watch_quiet_at() > sim_now());
    assert_true(atomic_load(&fleet->watched));
    pool_give(order.link, false);
    pass(2 * WATCH_USED_MS + 1000);
    assert_false(used);
    assert_false(atomic_load(&fleet->watched));
    assert_true(next_round == UINT64_MAX); /* nobody makes rounds any more */
    assert_true(watch_quiet_at() > sim_now());
    pass(WATCH_QUIET_MS);
    assert_true(watch_quiet_at() <= sim_now());
}

static void a_moment_of_use_lasts(void **state)
{
    struct place_order order;
    (void)state;

    place(&order);
    pool_give(order.link, false);
    pass(WATCH_USED_MS - 1000);
    assert_true(used);
    pass(2000);
    assert_false(used);
    assert_false(atomic_load(&fleet->watched));
    place(&order); /* and begins again */
    pool_give(order.link, false);
    pass(1);
    assert_true(used);
    assert_true(atomic_load(&fleet->watched));
}

static void who_waits_or_was_refused_uses_it_too(void **state)
{
    struct place_order first, second;
    (void)state;

    pretend_set(0, PRETEND_REFUSES);
    place(&first);
    assert_null(first.link);
    place_done(&first);
    pass(1);
    assert_true(used);
    pretend_set(0, PRETEND_SERVES);
    pass(2 * WATCH_USED_MS);
    assert_false(used);
    place(&first);
    assert_non_null(first.link);
    place(&second); /* waits: there is but one link */
    assert_null(second.link);
    pass(1);
    assert_true(used);
    pool_give(first.link, false);
    settle();
    assert_non_null(second.link);
    pool_give(second.link, false);
    place_done(&second);
}

static bool no_memory, no_logins; /* for the list of fleets, of logins */

struct fleet **__real_fleet_all(uint32_t *count);
struct fleet **__wrap_fleet_all(uint32_t *count);
struct fleet **__wrap_fleet_all(uint32_t *count)
{
    *count = 0;
    return no_memory ? NULL : __real_fleet_all(count);
}

struct login **__real_login_all(struct fleet *of, uint32_t *count);
struct login **__wrap_login_all(struct fleet *of, uint32_t *count);
struct login **__wrap_login_all(struct fleet *of, uint32_t *count)
{
    *count = 0;
    return no_logins ? NULL : __real_login_all(of, count);
}

static void who_cannot_be_seen_is_not_left(void **state)
{
    struct place_order order;
    (void)state;

    place(&order);
    no_logins = true;
    pass(2 * WATCH_USED_MS + 1000);
    no_logins = false;
    pass(1000);
    assert_true(used);
    assert_true(atomic_load(&fleet->watched));
    pool_give(order.link, false);
}

static void a_round_without_memory_is_made_again(void **state)
{
    struct place_order order;
    (void)state;

    place(&order);
    no_memory = true;
    pass(3000);
    no_memory = false;
    assert_false(used);
    pass(3000);
    assert_true(used);
    pool_give(order.link, false);
}

static void finish(struct fleet *of, void *unused)
{
    (void)of;
    (void)unused;
}

/* An event comes when the helper has written the last one, and is not back. */
static void what_comes_as_the_log_is_left_is_written(void **state)
{
    (void)state;
    watch_use(fleet);
    pass(2 * WATCH_USED_MS);
    assert_true(next_round == UINT64_MAX);
    assert_true(fleet_disk_begin(fleet, &fleet->logging, finish, NULL));
    event_say(fleet->events, LOG_IS_ERROR, NULL, "one more");
    next_round = sim_round(sim_now());
    (void)sim_wake(); /* which that was */
    assert_true(events_are_waiting(fleet->events));
    settle(); /* he is back */
    pass(1);
    assert_false(events_are_waiting(fleet->events));
    pass(2 * KEEPER_OVERDUE_MS);
    assert_true(next_round == UINT64_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(who_holds_a_link_uses_the_fleet),
        TEST(a_moment_of_use_lasts),
        TEST(who_waits_or_was_refused_uses_it_too),
        TEST(a_round_without_memory_is_made_again),
        TEST(who_cannot_be_seen_is_not_left),
        TEST(what_comes_as_the_log_is_left_is_written),
    };

    return cmocka_run_group_tests_name("watch", tests, pretend_begin,
                                       pretend_end);
}
