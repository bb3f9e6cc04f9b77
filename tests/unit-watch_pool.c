/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The life of pools without traffic (watch_pool.c, login_life.c): what is opened
 * and closed, when, and when not.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pretend.h"
#include "rounds.h"
#include "sim.h"

static uint64_t counted(uint32_t i, enum pool_stat stat)
{
    return atomic_load(&pool_of(1, i)->stats.of[stat]);
}

static uint32_t idle(uint32_t i)
{
    return pool_of(1, i)->count[LINK_IDLE];
}

/* ---- closing --------------------------------------------------------------- */

static void idle_links_are_closed_in_time(void **state)
{
    (void)state;
    begin_fleet(2, "PoolIdleTimeout=5000;");
    for (int i = 0; i < 3; i++) {
        place(&sessions[i], 1, "k1", 3000);
    }
    give(&sessions[0]);
    pass(2000);
    give(&sessions[1]);
    pass(2990);
    assert_int_equal(idle(1), 2);
    pass(20);
    assert_int_equal(idle(1), 1);
    pass(2000);
    assert_int_equal(idle(1), 0);
    assert_int_equal(pretend_at[1].open, 1); /* it is held */
    assert_int_equal(counted(1, POOL_STAT_CLOSED_IDLE), 2);
    give(&sessions[2]);
    used = false; /* which changes nothing */
    pass(5010);
    assert_int_equal(pretend_at[1].open, 0);
    pass(20000);
    assert_int_equal(next_round, UINT64_MAX); /* there is nothing to do */
    end_fleet();
}

static void without_memory_it_is_done_later(void **state)
{
    (void)state;
    begin_fleet(2, "PoolIdleTimeout=5000;");
    visit(1, "k1");
    pass(1000);
    no_logins = true;
    pass(5000);
    assert_int_equal(idle(1), 1);
    no_logins = false;
    pass(WATCH_AGAIN_MS);
    assert_int_equal(idle(1), 0);
    end_fleet();
}

/* Less up to 2.5 %, lest all end at once. */
static void old_links_are_closed_in_time(void **state)
{
    (void)state;
    begin_fleet(1, "PoolMaxLifetime=10000;PoolIdleTimeout=0;");
    place(&sessions[0], 1, "k0", 3000);
    place(&sessions[1], 1, "k0", 3000);
    pass(3000);
    give(&sessions[0]);
    pass(6700);
    assert_int_equal(idle(0), 1);
    pass(350);
    assert_int_equal(idle(0), 0);
    assert_int_equal(counted(0, POOL_STAT_CLOSED_WORN), 1);
    give(&sessions[1]); /* at its return */
    assert_int_equal(pretend_at[0].open, 0);
    end_fleet();
}

static void without_limits_nobody_looks(void **state)
{
    (void)state;
    begin_fleet(1, "PoolMaxLifetime=0;PoolIdleTimeout=0;");
    visit(1, "k0");
    pass(1);
    assert_int_equal(next_round, UINT64_MAX);
    end_fleet();
}

static void become_quiet(void)
{
    used = false;
    quiet_at = sim_now() + WATCH_QUIET_MS * NS_PER_MS;
    next_round = sim_now();
    pass(WATCH_QUIET_MS - 1000);
    assert_int_equal(pretend_at[0].open, 1);
    pass(1010);
}

static void in_a_quiet_process_none_waits_for_its_limit(void **state)
{
    (void)state;
    begin_fleet(1, "PoolMin=1;");
    visit(1, "k0");
    become_quiet();
    assert_int_equal(pretend_at[0].open, 0);
    pass(6000); /* in which its closing might have hung */
    assert_int_equal(next_round, UINT64_MAX);
    end_fleet();
}

static void nor_is_one_without_limit_watched(void **state)
{
    (void)state;
    /* PoolMaxLifetime is half an hour */
    begin_fleet(1, "PoolIdleTimeout=0;SessionLimit=2000;");
    visit(1, "k0");
    become_quiet();
    assert_int_equal(pretend_at[0].open, 1);
    assert_int_equal(next_round, UINT64_MAX);
    used = true; /* who comes in time finds it */
    quiet_at = UINT64_MAX;
    next_round = sim_now();
    visit(1, "k0");
    assert_int_equal(pretend_at[0].opened, 1);
    become_quiet();
    pass(1900000); /* who does not gets no old one */
    assert_int_equal(pretend_at[0].opened, 1);
    used = true;
    quiet_at = UINT64_MAX;
    visit(1, "k0");
    assert_int_equal(pretend_at[0].opened, 2);
    end_fleet();
}

static void what_was_left_on_a_shelf_is_closed_as_well(void **state)
{
    (void)state;
    begin_fleet(1, "PoolIdleTimeout=5000;");
    place(&sessions[0], 1, "k0", 3000);
    login_retain(logins[0]);
    assert_true(shelf_give(sessions[0].order.link));
    sessions[0].placed = false;
    pass(5010);
    assert_int_equal(pretend_at[0].open, 0);
    end_fleet();
}

/* ---- opening --------------------------------------------------------------- */

static void so_many_are_kept(void **state)
{
    (void)state;
    begin_fleet(3, "PoolMin=2;PoolIdleTimeout=5000;");
    pass(3000);
    assert_int_equal(pretend_at[0].opened, 0); /* nobody has come yet */
    visit(1, "k1");
    pass(1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(idle(i), 2);
        assert_int_equal(pool_of(2, i)->count[LINK_IDLE], 0);
    }
    for (int i = 0; i < 4; i++) {
        place(&sessions[i], 1, "k1", 3000);
    }
    for (int i = 0; i < 4; i++) {
        give(&sessions[i]);
    }
    assert_int_equal(idle(1), 4);
    pass(5100);
    assert_int_equal(idle(1), 2); /* however long they are idle */
    place(&sessions[0], 1, "k1", 3000);
    pass(60000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(idle(i), i == 1 ? 1 : 2);
        assert_int_equal(pretend_at[i].opened, i == 1 ? 4 : 2);
    }
    give(&sessions[0]);
    used = false;
    pass(5100);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(pretend_at[i].open, 0);
    }
    pass(30000);
    assert_int_equal(next_round, UINT64_MAX);
    used = true; /* and once more */
    next_round = sim_now();
    visit(1, "k1");
    pass(1);
    assert_int_equal(idle(2), 2);
    end_fleet();
}

static void not_for_a_login_that_nobody_uses(void **state)
{
    (void)state;
    begin_fleet(2, "PoolMin=2;PoolIdleTimeout=5000;");
    place(&sessions[0], 2, "k1", 3000);
    visit(1, "k0");
    pass(29000);
    assert_int_equal(idle(0), 2);
    assert_int_equal(idle(1), 2);
    pass(8000);
    assert_int_equal(idle(0), 0);
    assert_int_equal(idle(1), 0);
    assert_int_equal(pool_of(2, 0)->count[LINK_IDLE], 2);
    visit(1, "k0"); /* it is used again */
    pass(1100);
    assert_int_equal(idle(0), 2);
    assert_int_equal(idle(1), 2);
    end_fleet();
}

static void what_is_worn_is_replaced(void **state)
{
    (void)state;
    begin_fleet(1, "PoolMin=1;PoolMaxLifetime=10000;");
    visit(1, "k0");
    pass(10000);
    assert_int_equal(counted(0, POOL_STAT_CLOSED_WORN), 1);
    pass(1100);
    assert_int_equal(idle(0), 1);
    assert_int_equal(pretend_at[0].opened, 2);
    end_fleet();
}

static void the_first_session_has_others_opened_once(void **state)
{
    (void)state;
    begin_fleet(2, "PoolInitial=3;PoolIdleTimeout=5000;");
    visit(1, "k0");
    pass(2000);
    assert_int_equal(idle(0), 3);
    assert_int_equal(idle(1), 3);
    pass(20000);
    assert_int_equal(pretend_at[0].open, 0);
    assert_int_equal(pretend_at[0].opened, 3); /* not again */
    visit(2, "k1");
    pass(2000);
    assert_int_equal(pool_of(2, 0)->count[LINK_IDLE], 3);
    end_fleet();
}

static void limits_hold(void **state)
{
    (void)state;
    begin_fleet(3, "PoolMin=3;PoolMax=3;PoolMaxTotal=5;");
    place(&sessions[0], 1, "k2", 3000);
    pass(5000);
    assert_int_equal(logins[0]->total, 5);
    assert_int_equal(counted(0, POOL_STAT_CLOSED_ROOM) +
                         counted(1, POOL_STAT_CLOSED_ROOM) +
                         counted(2, POOL_STAT_CLOSED_ROOM), 0);
    end_fleet();
}

/* ---- when not -------------------------------------------------------------- */

static void nothing_is_opened_where_it_is_drained_or_down(void **state)
{
    (void)state;
    begin_fleet(3, "PoolMin=2;");
    fleet_set_drained(fleet, 1, true);
    fleet->members[2].health = ROUTE_DOWN;
    fleet->members[2].retry_at = UINT64_MAX;
    visit(1, "k0");
    pass(5000);
    assert_int_equal(idle(0), 2);
    assert_int_equal(pretend_at[1].opened + pretend_at[2].opened, 0);
    fleet_set_drained(fleet, 1, false);
    fleet->members[2].health = ROUTE_UP;
    pass(2000);
    assert_int_equal(idle(1), 2);
    assert_int_equal(idle(2), 2);
    end_fleet();
}

/* An account is locked after so many wrong passwords. */
static void a_refused_login_is_not_tried_again(void **state)
{
    (void)state;
    begin_fleet(2, "PoolMin=2;");
    strcpy(pretend_at[1].unwelcome, "u1");
    visit(1, "k0");
    pass(60000);
    assert_int_equal(idle(0), 2);
    assert_in_range(pretend_at[1].turned_away, 1, 2); /* both at once */
    pretend_at[1].unwelcome[0] = '\0';
    pass(10000);
    assert_int_equal(pretend_at[1].opened, 0);
    visit(1, "k1"); /* somebody's login is good there */
    pass(2000);
    assert_int_equal(idle(1), 2);
    end_fleet();
}

static void what_fails_is_tried_later_and_later(void **state)
{
    (void)state;
    begin_fleet(2, "PoolMin=1;");
    pretend_set(1, PRETEND_IS_FULL);
    place(&sessions[0], 1, "k0", 3000);
    pass(60000);
    assert_in_range(counted(1, POOL_STAT_FAILED), 5, 8);
    pretend_set(1, PRETEND_SERVES);
    pass(31000);
    assert_int_equal(idle(1), 1);
    end_fleet();
}

/* ---- who holds a link too long ----------------------------------------------- */

static void who_holds_a_link_too_long_is_told_of_once(void **state)
{
    (void)state;
    begin_fleet(2, "SessionLimit=2000;PoolIdleTimeout=0;PoolMaxLifetime=0;");
    place(&sessions[0], 1, "k1", 3000);
    pass(1000);
    place(&sessions[1], 1, NULL, 3000);
    pass(990);
    assert_int_equal(counted(1, POOL_STAT_ABANDONED), 0);
    pass(20);
    assert_int_equal(counted(1, POOL_STAT_ABANDONED), 1);
    assert_true(was_said(1, "a session has held a link for 2000 ms: "
                            "user u1, key k1, and has run nothing"));
    pass(20000);
    assert_int_equal(counted(0, POOL_STAT_ABANDONED) +
                         counted(1, POOL_STAT_ABANDONED), 2);
    give(&sessions[0]);
    place(&sessions[0], 1, "k1", 3000); /* another, of the same link */
    pass(1990);
    give(&sessions[0]);
    pass(20000); /* what is idle is nobody's */
    assert_int_equal(counted(0, POOL_STAT_ABANDONED) +
                         counted(1, POOL_STAT_ABANDONED), 2);
    end_fleet();
}

static void what_lies_on_a_shelf_is_nobodys(void **state)
{
    (void)state;
    begin_fleet(1, "SessionLimit=2000;PoolTrust=100000;");
    place(&sessions[0], 1, "k0", 3000);
    pass(1900);
    login_retain(logins[0]);
    assert_true(shelf_give(sessions[0].order.link));
    sessions[0].placed = false;
    pass(10000);
    assert_int_equal(counted(0, POOL_STAT_ABANDONED), 0);
    end_fleet();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_links_are_closed_in_time),
        cmocka_unit_test(without_memory_it_is_done_later),
        cmocka_unit_test(old_links_are_closed_in_time),
        cmocka_unit_test(without_limits_nobody_looks),
        cmocka_unit_test(in_a_quiet_process_none_waits_for_its_limit),
        cmocka_unit_test(nor_is_one_without_limit_watched),
        cmocka_unit_test(what_was_left_on_a_shelf_is_closed_as_well),
        cmocka_unit_test(so_many_are_kept),
        cmocka_unit_test(not_for_a_login_that_nobody_uses),
        cmocka_unit_test(what_is_worn_is_replaced),
        cmocka_unit_test(the_first_session_has_others_opened_once),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(nothing_is_opened_where_it_is_drained_or_down),
        cmocka_unit_test(a_refused_login_is_not_tried_again),
        cmocka_unit_test(what_fails_is_tried_later_and_later),
        cmocka_unit_test(who_holds_a_link_too_long_is_told_of_once),
        cmocka_unit_test(what_lies_on_a_shelf_is_nobodys),
    };

    round_duty = watch_pool;
    return cmocka_run_group_tests_name("watch_pool", tests, pretend_begin,
                                       pretend_end);
}
