/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is made of the answers to probes: lag without any server's clock (rules
 * §7.6), and rates.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "balance_fact.h"
#include "event.h"
#include "fleet.h"
#include "fleet_balance.h"
#include "inner.h"
#include "link_probe.h"
#include "sim.h"

enum { PRIMARY, STANDBY, OTHER, COUNT };

static void pass(unsigned ms)
{
    sim_set_now(sim_now() + ms * NS_PER_MS);
}

static struct instance instances[COUNT];
static struct route_member members[COUNT];
static struct fleet fleet = { .count = COUNT, .instances = instances,
                              .members = members };
static char names[COUNT][3] = { "n1", "n2", "n3" };

static void is(uint32_t i, enum link_role role, const char *identity,
               uint32_t timeline)
{
    struct link_who *who = &instances[i].who;

    who->role = role;
    who->timeline = timeline;
    strncpy(who->identity, identity, sizeof who->identity - 1);
}

static int begin(void **state)
{
    (void)state;
    memset(instances, 0, sizeof instances);
    memset(members, 0, sizeof members);
    mutex_init(&fleet.lock, LOCK_FLEET);
    fleet.events = events_new("", LOG_IS_ERROR);
    for (int i = 0; i < COUNT; i++) {
        instances[i].name = names[i];
    }
    is(PRIMARY, LINK_ROLE_PRIMARY, "A", 1);
    is(STANDBY, LINK_ROLE_STANDBY, "A", 1);
    is(OTHER, LINK_ROLE_PRIMARY, "B", 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    events_free(fleet.events);
    mutex_destroy(&fleet.lock);
    return 0;
}

/* Instance i says that its log is there, 5 ms after it was asked. */
static void answers(uint32_t i, uint64_t position)
{
    struct link_probe probe = { .position = position };
    uint64_t asked = clock_ns();

    pass(5);
    fleet_probed(&fleet, i, &probe, asked);
}

static uint64_t lag_ms(void)
{
    uint64_t fresh = instances[STANDBY].facts.fresh_at;

    return fresh ? (clock_ns() - fresh) / NS_PER_MS : UINT64_MAX;
}

static void a_standby_s_lag_is_since_the_primary_was_where_it_is(void **state)
{
    (void)state;
    answers(STANDBY, 100);
    assert_true(lag_ms() == UINT64_MAX); /* nobody knows */
    answers(PRIMARY, 100);
    pass(1000);
    answers(PRIMARY, 200);
    pass(1000);
    answers(PRIMARY, 300);
    pass(100);
    answers(STANDBY, 250);
    assert_int_equal(lag_ms(), 1115); /* it may lack what came after 200 */
    answers(STANDBY, 300);
    assert_int_equal(lag_ms(), 115);
    pass(1000);
    assert_int_equal(lag_ms(), 1115); /* and grows until it is asked */
}

/* A probe that was given up is answered behind a later one. */
static void what_comes_late_says_nothing_new(void **state)
{
    struct link_probe probe = { .position = 100 };
    uint64_t asked;

    (void)state;
    asked = clock_ns();
    pass(1000);
    answers(PRIMARY, 200);
    pass(1000);
    fleet_probed(&fleet, PRIMARY, &probe, asked);
    answers(STANDBY, 200);
    assert_int_equal(lag_ms(), 1010);
}

static void another_system_or_timeline_says_nothing(void **state)
{
    (void)state;
    answers(OTHER, 100);
    is(PRIMARY, LINK_ROLE_PRIMARY, "A", 2);
    answers(PRIMARY, 100);
    answers(STANDBY, 500);
    assert_true(lag_ms() == UINT64_MAX);
    is(STANDBY, LINK_ROLE_STANDBY, "A", 2); /* it follows */
    answers(STANDBY, 500);
    assert_int_equal(lag_ms(), 15);
    is(STANDBY, LINK_ROLE_STANDBY, "A", 3);
    answers(STANDBY, 600);
    assert_true(lag_ms() == UINT64_MAX);
    is(STANDBY, LINK_ROLE_STANDBY, "", 2); /* nobody may say whose it is */
    is(PRIMARY, LINK_ROLE_PRIMARY, "", 2);
    answers(STANDBY, 600);
    assert_true(lag_ms() == UINT64_MAX);
}

/* A standby may be behind for hours: what is told is never less, and at most a
   third more. */
static void a_long_lag_is_told_as_well(void **state)
{
    static const unsigned lags[] = { 1, 2, 5, 20, 100, 1000, 3600 };

    (void)state;
    for (unsigned second = 1; second <= 7200; second++) {
        answers(PRIMARY, 1000 + second);
        pass(995);
    }
    for (int k = (int)(sizeof lags / sizeof *lags) - 1; k >= 0; k--) {
        /* it has what was there so many seconds ago */
        answers(STANDBY, 1000 + 7201 - lags[k]);
        assert_true(lag_ms() >= lags[k] * 1000);
        assert_true(lag_ms() <= lags[k] * 1350 + 100);
    }
}

static void what_it_once_held_it_holds(void **state)
{
    uint64_t before, now = 0;

    (void)state;
    answers(PRIMARY, 1001);
    pass(995);
    answers(PRIMARY, 1002);
    answers(STANDBY, 1002);
    before = instances[STANDBY].facts.fresh_at;
    for (unsigned second = 3; second <= 500; second++) {
        answers(PRIMARY, 1000 + second);
        answers(STANDBY, 1002);
        now = instances[STANDBY].facts.fresh_at;
        assert_true(now == before);
        pass(990);
    }
}

static void rates_are_between_two_answers(void **state)
{
    struct link_probe probe = {
        .active_ms = 10000, .commits = 500, .started = 1, .backends = 30,
        .backends_max = 100,
    };
    struct fleet_facts *facts = &instances[PRIMARY].facts;

    (void)state;
    fleet_probed(&fleet, PRIMARY, &probe, clock_ns());
    assert_int_equal(facts->active, 0); /* one says nothing */
    pass(2000);
    probe.active_ms += 3000;
    probe.commits += 200;
    fleet_probed(&fleet, PRIMARY, &probe, clock_ns());
    assert_int_equal(facts->active, 1500);
    assert_int_equal(facts->commits_per_s, 100);

    /* a login that may not read it comes in between */
    pass(1000);
    probe.active_ms = probe.commits = probe.started = 0;
    fleet_probed(&fleet, PRIMARY, &probe, clock_ns());
    pass(1000);
    probe.active_ms = 13000;
    probe.commits = 700;
    probe.started = 1;
    fleet_probed(&fleet, PRIMARY, &probe, clock_ns());
    assert_int_equal(facts->active, 0);
    assert_int_equal(facts->commits_per_s, 0);
}

/* A fingerprint that takes long comes rarely: it says nothing of how quick the
   instance is.  One that comes with each probe does no harm. */
static void what_takes_long_and_is_rare_is_no_latency(void **state)
{
    struct link_probe quick = { .latency = 1000000 };
    struct link_probe slow = { .latency = 40000000, .extra_told = true };
    const struct route_member *m = &members[PRIMARY];

    (void)state;
    fleet_probed(&fleet, PRIMARY, &quick, clock_ns());
    pass(1000);
    fleet_probed(&fleet, PRIMARY, &slow, clock_ns());
    assert_true(balance_latency(m, ROUTE_CALL_ASK, clock_ns()) == 1000000);
    pass(1000);
    fleet_probed(&fleet, PRIMARY, &slow, clock_ns());
    assert_true(balance_latency(m, ROUTE_CALL_ASK, clock_ns()) == 40000000);
}

static void a_server_started_anew_is_said_and_its_links_are_suspect(
    void **state)
{
    struct link_probe probe = { .active_ms = 10000, .started = 1 };
    struct event *events;
    size_t count;

    (void)state;
    fleet_probed(&fleet, PRIMARY, &probe, clock_ns());
    pass(1000);
    fleet_probed(&fleet, PRIMARY, &probe, clock_ns());
    assert_true(atomic_load(&instances[PRIMARY].suspect_at) == 0);
    probe = (struct link_probe){ .active_ms = 20000, .started = 2 };
    pass(1000);
    fleet_probed(&fleet, PRIMARY, &probe, clock_ns());
    assert_true(atomic_load(&instances[PRIMARY].suspect_at) > 0);
    assert_int_equal(instances[PRIMARY].facts.active, 0);
    events = events_copy(fleet.events, &count);
    assert_int_equal(count, 1);
    assert_string_equal(events[0].text, "was started anew");
    free(events);
}

/* psqlODBC's kind reads the words, since it is not given the SQLSTATE. */
static void refused(uint32_t i, const char *words)
{
    struct link_error error = { .state = "08001" };

    strncpy(error.text, words, sizeof error.text - 1);
    fleet_failed(&fleet, i, clock_ns(), &error);
}

/* What one login may have is no sign of how the instance is. */
static void a_login_s_own_limit_concerns_nobody_else(void **state)
{
    static const struct inner psqlodbc = { .kind = &inner_psqlodbc };

    (void)state;
    fleet.config.connect_timeout = 10000;
    for (uint32_t i = 0; i < COUNT; i++) {
        instances[i].inner = &psqlodbc;
        fleet_timed(&fleet, i, ROUTE_CALL_ASK, 2 * NS_PER_MS);
    }
    refused(PRIMARY, "FATAL:  too many connections for role \"few\"");
    refused(STANDBY, "FATAL:  too many connections for database \"d\"");
    refused(OTHER, "FATAL:  sorry, too many clients already");
    assert_false(balance_violates(&members[PRIMARY], clock_ns()));
    assert_false(balance_violates(&members[STANDBY], clock_ns()));
    assert_true(balance_violates(&members[OTHER], clock_ns()));
    assert_int_equal(instances[OTHER].state.health, ROUTE_UNTRIED);
}

/* An opening at OTHER takes so long and fails, and another one is through after
   so long (0: none is). */
static void time_out(unsigned ms, unsigned other)
{
    struct link_error error = { .state = "08001", .text = "timeout expired" };
    uint64_t began = clock_ns();

    if (other) {
        pass(other);
        fleet_answered(&fleet, OTHER);
    }
    pass(ms - other);
    fleet_failed(&fleet, OTHER, began, &error);
}

/* Too many links that are opened at once keep each other waiting. */
static void a_crowd_is_no_outage(void **state)
{
    static const struct inner psqlodbc = { .kind = &inner_psqlodbc };

    (void)state;
    fleet.config.connect_timeout = 2000;
    instances[OTHER].inner = &psqlodbc;
    instances[OTHER].opening = lane_new();
    instances[OTHER].probing = lane_new();
    fleet_answered(&fleet, OTHER);
    for (int n = 0; n < 5; n++) {
        time_out(2000, 1);
        assert_int_equal(instances[OTHER].state.health, ROUTE_SUSPECT);
    }
    time_out(100, 0); /* that is no silence but an answer */
    assert_int_equal(instances[OTHER].state.health, ROUTE_DOWN);
    pass(1000);
    fleet_answered(&fleet, OTHER);
    time_out(2000, 0);
    time_out(2000, 0);
    assert_int_equal(instances[OTHER].state.health, ROUTE_DOWN);
    lane_close(instances[OTHER].opening);
    lane_close(instances[OTHER].probing);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_standby_s_lag_is_since_the_primary_was_where_it_is),
        TEST(what_comes_late_says_nothing_new),
        TEST(another_system_or_timeline_says_nothing),
        TEST(a_long_lag_is_told_as_well),
        TEST(what_it_once_held_it_holds),
        TEST(rates_are_between_two_answers),
        TEST(what_takes_long_and_is_rare_is_no_latency),
        TEST(a_server_started_anew_is_said_and_its_links_are_suspect),
        TEST(a_login_s_own_limit_concerns_nobody_else),
        TEST(a_crowd_is_no_outage),
    };

    return cmocka_run_group_tests_name("fleet_facts", tests, NULL, NULL);
}
