/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * balance_fact: what is made of what is heard of an instance.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "balance_fact.h"
#include "lock.h"

#define MS NS_PER_MS
#define COUNT(array) (sizeof (array) / sizeof *(array))

static struct route_member member;
static uint64_t now;

static void begin(void)
{
    memset(&member, 0, sizeof member);
    member.weight = 1;
    atomic_store(&member.health, ROUTE_UP);
    now = 1000000 * MS;
}

/* A question that took so many µs, after so many ms. */
static void ask(uint64_t after, uint64_t took)
{
    now += after * MS;
    balance_timed(&member, ROUTE_CALL_ASK, took * 1000, now, now + 10000 * MS);
}

static uint64_t latency(void)
{
    return balance_latency(&member, ROUTE_CALL_ASK, now) / 1000;
}

static void expect(enum balance_flag flag)
{
    assert_string_equal(balance_flag_word(balance_flag(&member, now)),
                        balance_flag_word(flag));
}

static void latency_jumps_up_and_comes_down_by_halves(void **state)
{
    (void)state;
    begin();
    assert_int_equal(latency(), 0);
    ask(0, 1000);
    assert_int_equal(latency(), 1000);
    ask(1000, 9000);
    assert_int_equal(latency(), 9000); /* at once */
    ask(BALANCE_HALF_MS, 1000);
    assert_int_equal(latency(), 5000); /* half of the way */
    ask(BALANCE_HALF_MS, 1000);
    assert_int_equal(latency(), 3000);
    ask(BALANCE_HALF_MS / 2, 1000);
    assert_int_equal(latency(), 2500); /* a straight line in between */
    ask(0, 1000);
    assert_int_equal(latency(), 2500); /* a second one at once says nothing */
    ask(UINT64_C(200) * BALANCE_HALF_MS, 800);
    assert_int_equal(latency(), 800); /* for ever ago */
}

/* However often it is asked, what was known is forgotten at much the same pace:
   the line between two halvings is a chord, less steep at its beginning than
   the curve, so that in small steps e^(-1/2) = 0.61 is left instead of 0.5. */
static void its_pace_is_that_of_the_clock(void **state)
{
    static const unsigned steps[] = { 1, 2, 4, 10, 100, 1000 };
    (void)state;

    for (size_t i = 0; i < COUNT(steps); i++) {
        begin();
        ask(0, 100000);
        for (unsigned n = 0; n < steps[i]; n++) {
            ask(BALANCE_HALF_MS / steps[i], 0);
        }
        assert_in_range(latency(), 50000, 62000);
    }
}

static void what_is_old_says_nothing(void **state)
{
    (void)state;
    begin();
    expect(BALANCE_NO_DATA);
    ask(0, 1000);
    expect(BALANCE_GOOD);
    now += 9999 * MS;
    expect(BALANCE_GOOD);
    now += 1 * MS;
    expect(BALANCE_NO_DATA);
    assert_int_equal(latency(), 0);
    balance_loaded(&member, 100, now, now + 1000 * MS);
    expect(BALANCE_GOOD); /* its load is something */
    now += 1000 * MS;
    expect(BALANCE_NO_DATA);
    balance_timed(&member, ROUTE_CALL_RESET, 5, now, now + 1);
    expect(BALANCE_GOOD); /* and so is any call */
}

static void what_is_down_or_leaves_is_blocked(void **state)
{
    (void)state;
    begin();
    ask(0, 1000);
    atomic_store(&member.health, ROUTE_DOWN);
    expect(BALANCE_BLOCKED);
    atomic_store(&member.health, ROUTE_UNTRIED);
    expect(BALANCE_GOOD);
    atomic_store(&member.drained, true);
    expect(BALANCE_BLOCKED);
    atomic_store(&member.drained, false);
    expect(BALANCE_GOOD);
    member.disabled = true;
    expect(BALANCE_BLOCKED);
}

/* 8 times as long as when all is well, and 20 ms more; half of that again. */
static void far_slower_than_it_was_is_violating(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 30; i++) {
        ask(1000, 1000);
    }
    ask(1000, 27900);
    expect(BALANCE_GOOD);
    ask(1000, 28100 + 400); /* calm has followed a little */
    expect(BALANCE_VIOLATING);
    ask(1000, 16000); /* 22 ms on average: in between it stays so */
    expect(BALANCE_VIOLATING);
    for (int i = 0; i < 3; i++) {
        ask(1000, 9000);
    }
    expect(BALANCE_GOOD); /* 11 ms */
    ask(1000, 20000);
    expect(BALANCE_GOOD); /* and in between this stays so */
}

static void a_fast_one_may_be_a_few_ms_slower(void **state)
{
    (void)state;
    begin();
    ask(0, 50);
    ask(1000, 15000); /* 300 times as long is nothing that matters */
    expect(BALANCE_GOOD);
}

/* Slower for good is no violation for ever, but not for ten minutes. */
static void calm_follows_slowly(void **state)
{
    unsigned minutes = 0;
    (void)state;

    begin();
    for (int i = 0; i < 30; i++) {
        ask(1000, 1000);
    }
    do {
        for (int i = 0; i < 60; i++) {
            ask(1000, 60000);
        }
        minutes++;
    } while (balance_flag(&member, now) == BALANCE_VIOLATING);
    assert_in_range(minutes, 3, 10);
    assert_int_equal(latency(), 60000); /* the dearer one it remains */
}

static void too_much_load_is_violating(void **state)
{
    static const struct {
        uint32_t load;
        enum balance_flag flag;
    } rows[] = {
        { 900, BALANCE_GOOD }, { 901, BALANCE_VIOLATING },
        { 801, BALANCE_VIOLATING }, { 800, BALANCE_GOOD },
        { 899, BALANCE_GOOD }, { 1000, BALANCE_VIOLATING },
        { 0, BALANCE_GOOD },
    };
    (void)state;

    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        balance_loaded(&member, rows[i].load, now, now + 10000 * MS);
        expect(rows[i].flag);
    }
    balance_loaded(&member, 1000, now, now + 10000 * MS);
    now += 10000 * MS;
    ask(0, 1000);
    expect(BALANCE_GOOD); /* that load was long ago */
}

static void refusing_quickly_does_not_look_fast(void **state)
{
    (void)state;
    begin();
    ask(0, 1000);
    balance_failed(&member, 10000 * MS, now, now + 10000 * MS);
    expect(BALANCE_VIOLATING);
    assert_int_equal(latency(), 10000000);
    for (int i = 0; i < 5; i++) {
        ask(1000, 1000);
        assert_in_range(member.calm_ns, 1000000, 1000001); /* it was well */
    }
    expect(BALANCE_VIOLATING); /* 0.3 s yet */
    for (int i = 0; i < 5; i++) {
        ask(1000, 1000);
    }
    expect(BALANCE_GOOD); /* forgiven after ten seconds */
}

static void one_that_is_back_begins_anew_and_ramps_up(void **state)
{
    uint32_t ramp = 0;
    (void)state;

    begin();
    ask(0, 1000);
    assert_int_equal(balance_ramp(&member, now), BALANCE_RAMP);
    balance_failed(&member, 10000 * MS, now, now + 10000 * MS);
    balance_returned(&member, now);
    expect(BALANCE_NO_DATA);
    ask(0, 2000);
    assert_int_equal(latency(), 2000);
    expect(BALANCE_GOOD);
    assert_int_equal(balance_ramp(&member, now), 1);
    for (int i = 0; i < 100; i++) {
        assert_true(balance_ramp(&member, now) >= ramp);
        ramp = balance_ramp(&member, now);
        assert_true(ramp <= (uint32_t)(1 + i * BALANCE_RAMP / 100));
        now += BALANCE_RAMP_MS / 100 * MS;
    }
    assert_int_equal(balance_ramp(&member, now), BALANCE_RAMP);
}

static void what_is_shown_is_the_rules_cost(void **state)
{
    (void)state;
    begin();
    balance_timed(&member, ROUTE_CALL_OPEN, 9000, now, now + 2);
    assert_int_equal(balance_known_latency(&member, now), 9000);
    balance_timed(&member, ROUTE_CALL_ASK, 600, now, now + 2);
    assert_int_equal(balance_known_latency(&member, now), 600);
    assert_int_equal(balance_cost(&member, now), 600);
    member.in_flight = 4;
    member.weight = 3;
    assert_int_equal(balance_cost(&member, now), 1000);
    member.back_at = now;
    assert_int_equal(balance_cost(&member, now), 1000 * BALANCE_RAMP);
    assert_int_equal(balance_known_latency(&member, now + 2), 0);
}

static void like_is_compared_with_like(void **state)
{
    static struct route_member a, b;
    struct balance_latencies l;
    (void)state;

    begin();
    balance_timed(&a, ROUTE_CALL_OPEN, 9000, now, now + 2);
    balance_timed(&b, ROUTE_CALL_OPEN, 8000, now, now + 2);
    balance_timed(&b, ROUTE_CALL_ASK, 100, now, now + 2);
    l = balance_compare(&a, &b, now);
    assert_true(l.a == 9000 && l.b == 8000); /* not 9000 with 100 */
    balance_timed(&a, ROUTE_CALL_RESET, 300, now, now + 2);
    balance_timed(&b, ROUTE_CALL_RESET, 200, now, now + 2);
    l = balance_compare(&a, &b, now);
    assert_true(l.a == 300 && l.b == 200);
    balance_timed(&a, ROUTE_CALL_ASK, 150, now, now + 1);
    l = balance_compare(&a, &b, now);
    assert_true(l.a == 150 && l.b == 100);
    l = balance_compare(&a, &b, now + 1);
    assert_true(l.a == 300 && l.b == 200); /* the question is out of date */
    l = balance_compare(&a, &b, now + 2);
    assert_true(l.a == 0 && l.b == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_jumps_up_and_comes_down_by_halves),
        cmocka_unit_test(its_pace_is_that_of_the_clock),
        cmocka_unit_test(what_is_old_says_nothing),
        cmocka_unit_test(what_is_down_or_leaves_is_blocked),
        cmocka_unit_test(far_slower_than_it_was_is_violating),
        cmocka_unit_test(a_fast_one_may_be_a_few_ms_slower),
        cmocka_unit_test(calm_follows_slowly),
        cmocka_unit_test(too_much_load_is_violating),
        cmocka_unit_test(refusing_quickly_does_not_look_fast),
        cmocka_unit_test(one_that_is_back_begins_anew_and_ramps_up),
        cmocka_unit_test(what_is_shown_is_the_rules_cost),
        cmocka_unit_test(like_is_compared_with_like),
    };

    return cmocka_run_group_tests_name("balance_fact", tests, NULL, NULL);
}
