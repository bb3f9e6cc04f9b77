/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Seeking, from the keeper's round to the link (watch_seek.c), beside probing:
 * on threads that take turns (sim.h), a clock that the test sets, and a pretend
 * inner driver (pretend.h).
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "pretend.h"
#include "rounds.h"
#include "sim.h"

enum { MANY = 300 };

/* Three that serve, wherever one begins to look. */
static const uint32_t served_by[] = { 99, 199, 299 };

static uint64_t seek_and_probe(struct fleet *of, uint64_t now)
{
    return clock_earlier(watch_probe(of, now), watch_seek(of, now));
}

static void begin_many(const char *keywords, enum pretend_manner others)
{
    begin_fleet(MANY, keywords);
    for (uint32_t i = 0; i < MANY; i++) {
        pretend_set(i, others);
    }
    for (size_t k = 0; k < 3; k++) {
        pretend_set(served_by[k], PRETEND_SERVES);
    }
}

/* Who waits still gives up. */
static void end_many(void)
{
    used = false;
    for (uint32_t i = 0; i < MANY; i++) {
        pretend_set(i, PRETEND_SERVES);
    }
    pass(300000);
    end_fleet();
}

/* A session that waits, and asks nobody itself: nobody can tell the owner of
   its key. */
static void wait_for_owner(uint32_t wait_ms)
{
    pretend_keys[7] = (struct pretend_key){ .state = ROUTE_IS_UNKNOWN };
    place(&sessions[0], 1, "k7", wait_ms);
}

static unsigned count_up(void)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        count += atomic_load(&fleet->members[i].health) == ROUTE_UP;
    }
    return count;
}

static unsigned count_connecting(void)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        count += pretend_at[i].connecting;
    }
    return count;
}

static uint64_t count_turned_away(void)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        count += pretend_at[i].turned_away;
    }
    return count;
}

static void among_many_that_refuse_a_few_are_found_at_once(void **state)
{
    (void)state;
    begin_many("CheckInterval=60000;", PRETEND_REFUSES);
    wait_for_owner(3000);
    assert_int_equal(count_connecting(), 0);
    pass(POOL_SEEK_MS + 1);
    assert_true(count_up() > 0); /* a login that serves: probes do the rest */
    pass(2000);
    assert_false(sessions[0].over);
    end_many();
}

/* 40 places, 9 s each: 68 s, and what it takes until so many are tried. */
static void among_many_that_do_not_answer_they_are_found_in_time(void **state)
{
    (void)state;
    begin_many("CheckInterval=1000;ConnectTimeout=10000;", PRETEND_IS_AWAY);
    wait_for_owner(200000);
    for (int s = 0; s < 80; s++) {
        pass(1000);
        assert_true(count_connecting() <= 40);
        assert_true(sim_threads() <= KEEPER_DOUBTFUL_MAX + 1);
    }
    assert_true(count_up() > 0);
    pass(60000);
    assert_int_equal(count_up(), 3);
    end_many();
}

static void a_session_takes_what_was_found(void **state)
{
    (void)state;
    begin_many("CheckInterval=1000;ConnectTimeout=10000;", PRETEND_IS_AWAY);
    place(&sessions[0], 1, NULL, 200000);
    pass(80000);
    assert_true(sessions[0].placed);
    end_many();
}

static void more_are_tried_the_longer_it_takes(void **state)
{
    static const unsigned many[] = { 0, 1, 2, 4, 8, 16, 32, 40, 40 };
    (void)state;

    begin_fleet(MANY, "CheckInterval=1000;");
    for (uint32_t i = 0; i < MANY; i++) {
        pretend_set(i, PRETEND_HANGS);
    }
    wait_for_owner(20000);
    pass(1);
    for (size_t n = 0; n < sizeof many / sizeof *many; n++) {
        assert_int_equal(count_connecting(), many[n]);
        pass(POOL_SEEK_MS);
    }
    end_many();
}

/* What the unit itself tries counts, and what answers in time is enough. */
static void nobody_is_sought_where_the_first_one_answers(void **state)
{
    (void)state;
    begin_many("CheckInterval=60000;", PRETEND_HANGS);
    pretend_keys[0].owner = served_by[0];
    place(&sessions[0], 1, "k0", 3000);
    assert_true(sessions[0].placed);
    pass(5000);
    assert_int_equal(count_connecting(), 0);
    end_many();
}

static void one_refusal_of_the_login_is_enough(void **state)
{
    (void)state;
    begin_many("CheckInterval=1000;", PRETEND_REFUSES);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(pretend_at[i].unwelcome, sizeof pretend_at[i].unwelcome,
                 "u1");
    }
    wait_for_owner(60000);
    pass(50000);
    assert_int_equal(count_turned_away(), 1);
    end_many();
}

static void nothing_is_sought_for_nobody(void **state)
{
    (void)state;
    begin_many("CheckInterval=1000;", PRETEND_IS_AWAY);
    pass(20000);
    assert_int_equal(count_connecting(), 0);
    wait_for_owner(1000);
    pass(5000);
    assert_true(sessions[0].over);
    used = false; /* as watch.c says some time after it has gone */
    pass(30000);
    assert_int_equal(count_connecting(), 0);

    used = true; /* and who comes then begins with one again */
    place(&sessions[1], 1, "k7", 1000);
    pass(POOL_SEEK_MS / 2);
    assert_int_equal(count_connecting(), 0);
    pass(POOL_SEEK_MS);
    assert_int_equal(count_connecting(), 1);
    end_many();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(among_many_that_refuse_a_few_are_found_at_once),
        cmocka_unit_test(
            among_many_that_do_not_answer_they_are_found_in_time),
        cmocka_unit_test(a_session_takes_what_was_found),
        cmocka_unit_test(more_are_tried_the_longer_it_takes),
        cmocka_unit_test(nobody_is_sought_where_the_first_one_answers),
        cmocka_unit_test(one_refusal_of_the_login_is_enough),
        cmocka_unit_test(nothing_is_sought_for_nobody),
    };

    round_duty = seek_and_probe;
    return cmocka_run_group_tests_name("watch_seek", tests, pretend_begin,
                                       pretend_end);
}
