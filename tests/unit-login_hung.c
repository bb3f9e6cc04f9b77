/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is concluded from an opening that hangs (login_hung.c), where nobody
 * probes.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pretend.h"
#include "rounds.h"
#include "sim.h"

static enum route_health health(uint32_t i)
{
    return atomic_load(&fleet->members[i].health);
}

static bool holder_has_lost(void)
{
    return fleet_has_lost(fleet, 1, sessions[0].order.link->opened);
}

/* One session holds a link there, and another one waited for a second link, a
   second long. */
static void begin(void)
{
    begin_fleet(2, "CheckInterval=0;CheckTimeout=1000;ConnectTimeout=2000;");
    place(&sessions[0], 1, "k1", 3000);
    assert_true(sessions[0].placed);
    pretend_set(1, PRETEND_HANGS);
    place_until(&sessions[1], 1, "k1", 3000, sim_now() + 1000 * NS_PER_MS);
    pass(1100);
    assert_true(sessions[1].over);
    assert_false(sessions[1].placed);
    assert_int_equal(pool_of(1, 1)->count[LINK_OPENING], 1);
    assert_int_equal(health(1), ROUTE_UP);
}

/* Promise 4: who holds a link there is told, though whoever wanted another has
   left before ConnectTimeout was over. */
static void it_counts_whoever_waits(void **state)
{
    (void)state;
    begin();
    pass(850);
    assert_int_equal(health(1), ROUTE_UP);
    assert_false(holder_has_lost());
    pass(100);
    assert_int_equal(health(1), ROUTE_DOWN);
    assert_true(was_said(1, "did not answer within ConnectTimeout=2000 ms"));
    assert_true(holder_has_lost());
    end_fleet();
}

static void who_comes_late_blames_nobody(void **state)
{
    (void)state;
    begin();
    sim_set_now(sim_now() + 1500 * NS_PER_MS);
    pass(1900);
    assert_int_equal(health(1), ROUTE_UP);
    assert_false(holder_has_lost());
    pass(200);
    assert_int_equal(health(1), ROUTE_DOWN);
    end_fleet();
}

/* Two openings fail after a time that the rounds have lost count of, while the
   instance has answered somebody else: too many at once are no outage. */
static void late_rounds_make_no_refusal_of_a_crowd(void **state)
{
    uint64_t begin;

    (void)state;
    begin_fleet(2, "CheckInterval=0;CheckTimeout=1000;ConnectTimeout=2000;");
    place(&sessions[0], 1, "k1", 3000);
    pretend_set(1, PRETEND_IS_AWAY);
    begin = sim_now();
    for (int i = 1; i <= 2; i++) {
        place_until(&sessions[i], 1, "k1", 3000, begin + 1000 * NS_PER_MS);
    }
    pass(1100);
    assert_int_equal(pool_of(1, 1)->count[LINK_OPENING], 2);
    fleet_answered(fleet, 1);
    assert_true(atomic_load(&fleet->instances[1].answered_at) > begin);
    sim_set_now(begin + (PRETEND_AWAY_MS - 1000) * NS_PER_MS);
    pass(1100);
    assert_int_equal(pretend_at[1].turned_away, 2);
    assert_int_equal(pool_of(1, 1)->count[LINK_OPENING], 0);
    assert_int_equal(health(1), ROUTE_SUSPECT);
    end_fleet();
}

/* The same duty closes what is idle where an instance has changed. */
static void without_memory_a_change_is_seen_later(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=0;");
    visit(1, "k1");
    no_logins = true;
    fleet_set_drained(fleet, 1, true);
    pass(100);
    assert_int_equal(pool_of(1, 1)->count[LINK_IDLE], 1);
    no_logins = false;
    pass(WATCH_AGAIN_MS);
    assert_int_equal(pool_of(1, 1)->count[LINK_IDLE], 0);
    end_fleet();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_counts_whoever_waits),
        cmocka_unit_test(who_comes_late_blames_nobody),
        cmocka_unit_test(late_rounds_make_no_refusal_of_a_crowd),
        cmocka_unit_test(without_memory_a_change_is_seen_later),
    };

    round_duty = watch_links;
    return cmocka_run_group_tests_name("login_hung", tests, pretend_begin,
                                       pretend_end);
}
