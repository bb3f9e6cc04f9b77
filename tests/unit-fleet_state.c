/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * fleet_state: every cell of the table, written down once more from the rules;
 * how long an instance is left alone, and what it takes to be up again.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fleet_state.h"
#include "lock.h"

static struct fleet_state state;
static uint64_t now;

static const char *const words[] = { "untried", "up", "suspect", "down" };
static const char *const facts[] = { "answered", "doubted", "refused",
                                     "starting", "silent" };

static void pass(uint64_t ms)
{
    now += ms * NS_PER_MS;
}

static bool take(enum fleet_fact fact)
{
    return fleet_state_take(&state, fact, now, 20); /* no jitter */
}

static void begin(void)
{
    state = (struct fleet_state){ 0 };
    now = 1000 * NS_PER_MS;
}

/* Brings a new instance into this state, so that no fact is a moment old. */
static void be(enum route_health health)
{
    begin();
    if (health == ROUTE_UP || health == ROUTE_SUSPECT) {
        take(FLEET_ANSWERED);
    }
    if (health == ROUTE_SUSPECT) {
        take(FLEET_DOUBTED);
    } else if (health == ROUTE_DOWN) {
        take(FLEET_REFUSED);
    }
    assert_string_equal(words[state.health], words[health]);
    pass(999);
}

/* A row per state, a column per fact; * = sessions lose their links. */
static void every_cell(void **unused)
{
    static const char *const cells[ROUTE_HEALTHS][FLEET_FACTS] = {
        { "up", "untried", "down",    "down",    "down*" }, /* untried */
        { "up", "suspect", "suspect", "suspect", "down*" }, /* up */
        { "up", "suspect", "down",    "down",    "down*" }, /* suspect */
        { "up", "down",    "down",    "down",    "down*" }, /* down */
    };
    (void)unused;

    for (int from = 0; from < ROUTE_HEALTHS; from++) {
        for (int fact = 0; fact < FLEET_FACTS; fact++) {
            char got[100], want[100];
            bool loses;

            be((enum route_health)from);
            loses = take((enum fleet_fact)fact);
            snprintf(got, sizeof got, "%s, %s: %s%s", words[from],
                     facts[fact], words[state.health], loses ? "*" : "");
            snprintf(want, sizeof want, "%s, %s: %s", words[from],
                     facts[fact], cells[from][fact]);
            assert_string_equal(got, want);
        }
    }
}

static void refusing_for_a_second_loses_sessions(void **unused)
{
    (void)unused;
    be(ROUTE_DOWN); /* for 999 ms */
    assert_false(take(FLEET_REFUSED));
    pass(1);
    assert_false(take(FLEET_STARTING)); /* it may serve those it has */
    assert_false(take(FLEET_DOUBTED));
    assert_true(take(FLEET_REFUSED));
    pass(5000);
    assert_true(take(FLEET_REFUSED)); /* those that came meanwhile */
}

static void since_is_when_the_state_began(void **unused)
{
    uint64_t down;
    (void)unused;

    be(ROUTE_UP);
    take(FLEET_SILENT);
    down = now;
    pass(100);
    take(FLEET_REFUSED);
    assert_int_equal(state.since, down);
    take(FLEET_ANSWERED);
    assert_int_equal(state.since, now);
}

/* 1 s, then twice as long each time that it is tried, up to 30 s. */
static void the_time_to_retry_grows(void **unused)
{
    static const uint64_t ms[] = { 1000, 2000, 4000, 8000, 16000, 30000,
                                   30000 };
    (void)unused;

    begin();
    for (size_t i = 0; i < sizeof ms / sizeof *ms; i++) {
        take(FLEET_REFUSED);
        assert_int_equal(state.retry_at, now + ms[i] * NS_PER_MS);
        now = state.retry_at;
    }
    take(FLEET_ANSWERED);
    assert_int_equal(state.retry_at, 0);
    take(FLEET_SILENT);
    assert_int_equal(state.retry_at, now + 1000 * NS_PER_MS);
}

static void all_who_fail_at_once_count_as_one(void **unused)
{
    uint64_t retry;
    (void)unused;

    begin();
    take(FLEET_REFUSED);
    retry = state.retry_at;
    for (int i = 0; i < 16; i++) {
        pass(1);
        take(i % 2 ? FLEET_REFUSED : FLEET_SILENT);
        assert_int_equal(state.retry_at, retry);
    }
}

static void one_that_starts_is_asked_again_soon(void **unused)
{
    (void)unused;
    begin();
    for (int i = 0; i < 5; i++) {
        take(FLEET_STARTING);
        assert_int_equal(state.retry_at, now + 1000 * NS_PER_MS);
        now = state.retry_at;
    }
    for (int i = 0; i < 4; i++) { /* it refuses for long, and then starts */
        take(FLEET_REFUSED);
        now = i < 3 ? state.retry_at : now;
    }
    assert_int_equal(state.retry_at, now + 16000 * NS_PER_MS);
    pass(1);
    take(FLEET_STARTING);
    assert_int_equal(state.retry_at, now + 1000 * NS_PER_MS);
}

static void not_all_come_back_at_once(void **unused)
{
    uint64_t least = UINT64_MAX, most = 0;
    (void)unused;

    for (uint64_t seed = 0; seed < 1000; seed++) {
        begin();
        fleet_state_take(&state, FLEET_REFUSED, now, seed);
        least = state.retry_at < least ? state.retry_at : least;
        most = state.retry_at > most ? state.retry_at : most;
    }
    assert_int_equal(least, now + 800 * NS_PER_MS);
    assert_int_equal(most, now + 1200 * NS_PER_MS);
}

static void doubt_leaves_it_alone_for_a_second(void **unused)
{
    (void)unused;
    be(ROUTE_UP);
    take(FLEET_DOUBTED);
    assert_int_equal(state.retry_at, now + 1000 * NS_PER_MS);
    pass(500);
    take(FLEET_DOUBTED); /* and no longer for each further link */
    assert_int_equal(state.retry_at, now + 500 * NS_PER_MS);
    take(FLEET_ANSWERED);
    assert_string_equal(words[state.health], "up");
    assert_int_equal(state.retry_at, 0);
}

/* Down and up again; returns how many good answers it took. */
static unsigned outage(void)
{
    unsigned good = 0;

    take(FLEET_SILENT);
    pass(1000);
    do {
        take(FLEET_ANSWERED);
        good++;
        assert_true(state.health == ROUTE_UP ||
                    state.health == ROUTE_SUSPECT);
        pass(FLEET_SPACE_MS);
    } while (state.health != ROUTE_UP && good < 100);
    return good;
}

static void one_that_flaps_needs_more_good_answers(void **unused)
{
    (void)unused;
    be(ROUTE_UP);
    for (unsigned want = 1; want <= FLEET_RELAPSES_MAX + 1u; want++) {
        assert_int_equal(outage(), want);
    }
    assert_int_equal(outage(), FLEET_RELAPSES_MAX + 1);
    pass(FLEET_STEADY_MS);
    assert_int_equal(outage(), 1);
}

static void answers_at_once_count_as_one(void **unused)
{
    (void)unused;
    be(ROUTE_UP);
    outage();
    take(FLEET_SILENT);
    for (int i = 0; i < 10; i++) {
        take(FLEET_ANSWERED);
        pass(1);
        assert_string_equal(words[state.health], "suspect");
    }
    pass(FLEET_SPACE_MS);
    take(FLEET_ANSWERED);
    assert_string_equal(words[state.health], "up");
}

static void a_failure_between_begins_the_row_anew(void **unused)
{
    (void)unused;
    be(ROUTE_UP);
    outage();
    take(FLEET_SILENT);
    for (int i = 0; i < 10; i++) {
        take(FLEET_ANSWERED);
        pass(FLEET_SPACE_MS);
        take(FLEET_DOUBTED);
        assert_string_equal(words[state.health], "suspect");
        pass(FLEET_SPACE_MS);
    }
}

/* It has never been up in between, so it is no relapse of its own. */
static void falling_back_while_it_returns_is_one_outage(void **unused)
{
    (void)unused;
    be(ROUTE_UP);
    outage();
    for (int i = 0; i < 3; i++) {
        take(FLEET_SILENT);
        pass(FLEET_SPACE_MS);
        take(FLEET_ANSWERED);
        assert_string_equal(words[state.health], "suspect");
        assert_int_equal(fleet_state_needs(&state), 2);
        pass(FLEET_SPACE_MS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell),
        cmocka_unit_test(refusing_for_a_second_loses_sessions),
        cmocka_unit_test(since_is_when_the_state_began),
        cmocka_unit_test(the_time_to_retry_grows),
        cmocka_unit_test(all_who_fail_at_once_count_as_one),
        cmocka_unit_test(one_that_starts_is_asked_again_soon),
        cmocka_unit_test(not_all_come_back_at_once),
        cmocka_unit_test(doubt_leaves_it_alone_for_a_second),
        cmocka_unit_test(one_that_flaps_needs_more_good_answers),
        cmocka_unit_test(answers_at_once_count_as_one),
        cmocka_unit_test(a_failure_between_begins_the_row_anew),
        cmocka_unit_test(falling_back_while_it_returns_is_one_outage),
    };

    return cmocka_run_group_tests_name("fleet_state", tests, NULL, NULL);
}
