/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: single scenes share the fleet, the sessions and the clock.
 *
 * Probing, from the keeper's round to the link (watch_probe.c, fleet_probe.c,
 * pool_probe.c): on threads that take turns (sim.h), a clock that the test
 * sets, and a pretend inner driver (pretend.h).
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pretend.h"
#include "rounds.h"
#include "sim.h"
#include "text.h"

static uint64_t probes(uint32_t i)
{
    return pretend_at[i].probed;
}

static enum route_health health(uint32_t i)
{
    return atomic_load(&fleet->members[i].health);
}

/* ---- when ------------------------------------------------------------------ */

/* With ±20 % jitter, 20 intervals hold 16 to 25 probes. */
static void each_is_probed_once_an_interval(void **state)
{
    (void)state;
    begin_fleet(3, "CheckInterval=1000;");
    place(&sessions[0], 1, "k0", 3000);
    pass(400);
    assert_int_equal(probes(0) + probes(1) + probes(2), 0);
    pass(20000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_in_range(probes(i), 16, 25);
        assert_true(fleet->instances[i].facts.at > 0);
    }
    /* over links of the keeper's own, which have joined the pool */
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(pretend_at[i].opened, i ? 1 : 2);
        assert_int_equal(pool_of(1, i)->count[LINK_IDLE], 1);
    }
    visit(1, "k1");
    assert_int_equal(pretend_at[1].opened, 1);
    end_fleet();
}

/* Nobody is asked twice at a time; and then again at once. */
static void what_answers_slowly_is_asked_again_in_time(void **state)
{
    (void)state;
    begin_fleet(1, "CheckInterval=1000;CheckTimeout=60000;");
    visit(1, "k0");
    pretend_set(0, PRETEND_HANGS);
    for (int n = 0; n < 300; n++) { /* rounds for other reasons */
        next_round = sim_now();
        pass(10);
    }
    assert_int_equal(pool_of(1, 0)->count[LINK_PROBING], 1);
    pretend_set(0, PRETEND_SERVES);
    settle();
    assert_int_equal(probes(0), 1);
    pass(1000);
    assert_in_range(probes(0), 2, 3);
    end_fleet();
}

static void instances_are_not_probed_all_at_once(void **state)
{
    uint64_t first = UINT64_MAX, last = 0;
    (void)state;

    begin_fleet(8, "CheckInterval=1000;");
    place(&sessions[0], 1, NULL, 3000);
    pass(1001);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t at = fleet->instances[i].facts.at;
        assert_true(at > 0);
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    assert_true(last - first > 100 * NS_PER_MS);
    end_fleet();
}

static void an_unused_fleet_is_not_probed(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;");
    visit(1, "k0");
    pass(1000);
    assert_true(probes(0) > 5);
    used = false;
    pass(200);
    pretend_at[0].probed = pretend_at[1].probed = 0;
    fleet_want_probe(fleet, 0);
    pass(60000);
    assert_int_equal(probes(0) + probes(1), 0);
    used = true; /* what was wanted still is; the rest comes in its time */
    next_round = sim_now();
    pass(1);
    assert_int_equal(probes(0), 1);
    assert_int_equal(probes(1), 0);
    pass(150);
    assert_true(probes(1) > 0);
    end_fleet();
}

static void many_instances_are_probed_less_often(void **state)
{
    struct fleet many = { .count = 1000 };
    (void)state;

    many.config.check_interval = 1000;
    assert_int_equal(fleet_probe_interval(&many), 10000);
    many.count = 100;
    assert_int_equal(fleet_probe_interval(&many), 1000);
    many.config.check_interval = 0;
    assert_int_equal(fleet_probe_interval(&many), 0);
}

/* Rules §1.4: at most one per instance and a quarter of an interval. */
static void cause_brings_a_probe_about_at_once(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=10000;");
    visit(1, "k0");
    visit(1, "k1");
    pass(1);
    for (int n = 0; n < 50; n++) {
        fleet_want_probe(fleet, 0);
        pass(100);
    }
    assert_in_range(probes(0), 2, 4); /* at 0, 2500 and 5000 ms, and its own */
    assert_true(probes(1) <= 1);
    end_fleet();
}

static void without_an_interval_only_cause_does(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=0;");
    visit(1, "k0");
    pass(60000);
    assert_int_equal(probes(0) + probes(1), 0);
    for (int n = 0; n < 100; n++) {
        fleet_want_probe(fleet, 0);
        pass(10);
    }
    assert_in_range(probes(0), 4, 5);
    assert_int_equal(probes(1), 0);
    end_fleet();
}

/* The link that somebody opens there just then says no more than who it is. */
static void what_cannot_be_probed_at_once_is_probed_soon(void **state)
{
    (void)state;
    begin_fleet(1, "CheckInterval=20000;");
    place(&sessions[0], 1, "k0", 3000);
    pretend_set(0, PRETEND_HANGS);
    place(&sessions[1], 1, "k0", 3000); /* opens one */
    fleet_want_probe(fleet, 0);
    pass(1);
    pretend_set(0, PRETEND_SERVES);
    settle();
    assert_true(sessions[1].placed);
    assert_int_equal(probes(0), 0);
    pass(5001);
    assert_int_equal(probes(0), 1);
    end_fleet();
}

static void a_dead_link_is_cause(void **state)
{
    (void)state;
    begin_fleet(1, "CheckInterval=60000;");
    place(&sessions[0], 1, "k0", 3000);
    visit(1, "k0");
    pass(1);
    fleet_suspect(fleet, 0);
    pass(1);
    assert_int_equal(probes(0), 1);
    end_fleet();
}

/* ---- over which link ------------------------------------------------------- */

static void the_link_that_rests_longest_is_probed(void **state)
{
    struct link *old, *young;
    uint64_t since;
    (void)state;

    begin_fleet(1, "CheckInterval=1000;PoolIdleTimeout=9000;");
    place(&sessions[0], 1, "k0", 3000);
    place(&sessions[1], 1, "k0", 3000);
    old = sessions[0].order.link;
    young = sessions[1].order.link;
    give(&sessions[0]);
    sim_set_now(sim_now() + 50 * NS_PER_MS);
    since = old->since;
    give(&sessions[1]);
    pass(5000);
    assert_true(probes(0) >= 4);
    assert_true(old->answered > young->answered);
    /* to be idle is to be idle, probed or not */
    assert_true(old->since == since);
    assert_ptr_equal(pool_of(1, 0)->links[LINK_IDLE], young);
    assert_ptr_equal(young->next, old);
    pass(4000);
    visit(1, "k0"); /* who takes one closes what is past its time */
    assert_int_equal(pretend_at[0].open, 1);
    end_fleet();
}

/* The probe hangs half-way, a session comes, the probe goes on. */
static void a_link_that_is_probed_can_be_taken(void **state)
{
    static const uint32_t waits[] = { 3000, 0 };
    (void)state;

    for (size_t n = 0; n < 2; n++) {
        begin_fleet(2, "CheckInterval=1000;PoolMax=1;");
        visit(1, "k1");
        pretend_set(1, PRETEND_HANGS);
        fleet_want_probe(fleet, 1);
        pass(1);
        assert_int_equal(pool_of(1, 1)->count[LINK_PROBING], 1);
        assert_int_equal(logins[0]->stock[1].idle, 1);
        place(&sessions[0], 1, "k1", waits[n]);
        assert_false(sessions[0].over);
        pretend_set(1, PRETEND_SERVES);
        settle();
        assert_true(sessions[0].placed);
        assert_int_equal(sessions[0].order.verdict.reason, ROUTE_OWNER_IDLE);
        assert_int_equal(pretend_at[1].opened, 1);
        assert_int_equal(pretend_at[1].validated, 1); /* by opening it */
        assert_int_equal(pretend_at[1].probed, 1);
        end_fleet();
    }
}

/* … and it finds the link dead. */
static void who_took_a_link_that_died_gets_another(void **state)
{
    struct link *dead;
    (void)state;

    begin_fleet(1, "CheckInterval=1000;");
    visit(1, "k0");
    dead = pool_of(1, 0)->links[LINK_IDLE];
    pretend_set(0, PRETEND_HANGS);
    fleet_want_probe(fleet, 0);
    pass(1);
    place(&sessions[0], 1, "k0", 3000);
    pretend_set(0, PRETEND_SERVES);
    pretend_kill(pretend_of(dead));
    settle();
    assert_true(sessions[0].placed);
    assert_int_equal(pretend_at[0].opened, 2);
    assert_int_equal(pretend_at[0].open, 1);
    end_fleet();
}

static void a_link_that_is_probed_can_be_asked(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=1000;");
    visit(1, "k1");
    pretend_set(1, PRETEND_HANGS);
    fleet_want_probe(fleet, 1);
    pass(1);
    pretend_keys[3] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 1, true, false };
    place(&sessions[0], 1, "k3", 3000);
    assert_int_equal(pool_of(1, 1)->count[LINK_LEARNING], 1);
    pretend_set(1, PRETEND_SERVES);
    settle();
    assert_true(sessions[0].placed);
    assert_int_equal(sessions[0].order.link->pool->instance, 1);
    assert_int_equal(pretend_at[1].opened, 1);
    end_fleet();
}

static void a_retired_login_keeps_no_link_that_is_probed(void **state)
{
    (void)state;
    begin_fleet(1, "CheckInterval=1000;");
    visit(1, "k0");
    pretend_set(0, PRETEND_HANGS);
    fleet_want_probe(fleet, 0);
    pass(1);
    login_retire(logins[0]);
    pretend_set(0, PRETEND_SERVES);
    settle();
    assert_int_equal(pretend_at[0].open, 0);
    end_fleet();
}

/* PoolMax is the instance's connections that this process may have. */
static void a_probe_keeps_within_the_limits(void **state)
{
    (void)state;
    begin_fleet(3, "CheckInterval=100;PoolMax=1;PoolMaxTotal=2;");
    place(&sessions[0], 1, "k0", 3000);
    pass(1000);
    assert_int_equal(pretend_at[0].opened, 1); /* held: not probed */
    assert_int_equal(probes(0), 0);
    /* one more is allowed; no link is closed for the third instance's */
    assert_int_equal(pretend_at[1].opened + pretend_at[2].opened, 1);
    give(&sessions[0]);
    pass(1000);
    assert_true(probes(0) > 5);
    end_fleet();
}

/* ---- under which login ------------------------------------------------------ */

static void a_refused_login_is_tried_once_and_the_next_one_serves(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;");
    snprintf(pretend_at[1].unwelcome, sizeof pretend_at[1].unwelcome, "u1");
    visit(1, "k0");
    pass(3000);
    assert_int_equal(pretend_at[1].turned_away, 1);
    assert_int_equal(probes(1), 0);
    assert_int_not_equal(health(1), ROUTE_DOWN);
    assert_true(was_said(1, "refuses to be probed by a session's login: "
                         "[28P01]"));
    visit(2, "k0");
    pass(3000);
    assert_int_equal(pretend_at[1].turned_away, 1);
    assert_true(probes(1) > 20);
    assert_int_equal(pool_of(2, 1)->count[LINK_IDLE], 1);
    end_fleet();
}

/* A login of which nothing is known may be a wrong one. */
static void an_unproved_login_is_not_tried(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;");
    snprintf(pretend_at[0].unwelcome, sizeof pretend_at[0].unwelcome, "u1");
    place(&sessions[0], 1, "k0", 3000);
    assert_false(sessions[0].placed);
    pass(3000);
    assert_int_equal(pretend_at[0].turned_away, 1);
    assert_int_equal(pretend_at[1].opened, 0);
    end_fleet();
}

static void a_login_that_is_told_all_is_preferred(void **state)
{
    (void)state;
    begin_fleet(1, "CheckInterval=100;");
    snprintf(pretend_at[0].mistrusts, sizeof pretend_at[0].mistrusts, "u1");
    visit(1, "k0");
    pass(1000);
    assert_true(probes(0) > 5);
    assert_true(was_said(0, "does not tell all that it is asked for: [42501]"));
    assert_int_equal(fleet->instances[0].facts.backends_max, 0);
    place(&sessions[0], 2, "k0", 3000); /* has no idle link */
    pass(1000);
    assert_int_equal(pool_of(2, 0)->count[LINK_IDLE], 1);
    assert_int_equal(fleet->instances[0].facts.backends_max, 100);
    end_fleet();
}

static void the_keepers_own_login_has_links_of_its_own(void **state)
{
    (void)state;
    begin_fleet(3, "CheckInterval=100;MonitorUID=m;MonitorPWD=p;"
                "PoolMaxTotal=1;");
    pass(1000); /* nobody has shown yet what a login looks like */
    assert_int_equal(pretend_at[1].opened, 0);
    visit(1, "k0");
    pass(2000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(probes(i) > 10);
        assert_int_equal(pretend_at[i].open, i ? 1 : 2);
        assert_int_equal(pool_of(1, i)->count[LINK_IDLE], !i);
    }
    used = false;
    next_round = sim_now();
    pass(1000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(pretend_at[i].open, !i);
    }
    end_fleet();
}

static void a_refused_monitor_is_tried_once_and_a_session_s_login_serves(
    void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;MonitorUID=m;MonitorPWD=p;");
    snprintf(pretend_at[1].unwelcome, sizeof pretend_at[1].unwelcome, "m");
    visit(1, "k0");
    pass(3000);
    assert_int_equal(pretend_at[1].turned_away, 1);
    assert_true(probes(1) > 20);
    assert_true(was_said(1, "refuses to be probed by MonitorUID: [28P01]"));
    pretend_at[1].unwelcome[0] = '\0';
    pass(1000);
    assert_int_equal(pretend_at[1].open, 1);
    fleet_probe_forgive(fleet); /* REFRESH AFFINITY */
    pass(1000);
    assert_int_equal(pretend_at[1].open, 2);
    end_fleet();
}

/* ---- an instance that does not answer --------------------------------------- */

static void a_hanging_instance_delays_no_other(void **state)
{
    (void)state;
    begin_fleet(3, "CheckInterval=100;CheckTimeout=2000;ConnectTimeout=2000;");
    for (int k = 0; k < 3; k++) {
        char key[] = { 'k', (char)('0' + k), '\0' };
        visit(1, key);
    }
    pass(1000);
    pretend_set(1, PRETEND_HANGS);
    pretend_at[0].probed = pretend_at[2].probed = 0;
    pass(400);
    assert_false(atomic_load(&fleet->members[1].slow));
    pass(300); /* more than half a second after the latest probe began */
    assert_true(atomic_load(&fleet->members[1].slow));
    assert_int_equal(health(1), ROUTE_UP);
    assert_int_equal(sim_threads(), 1);
    pass(1500);
    assert_int_equal(health(1), ROUTE_DOWN);
    assert_true(was_said(1, "did not answer a probe within 2000 ms"));
    assert_int_equal(pool_of(1, 1)->count[LINK_CLOSING], 1);
    assert_true(probes(0) > 18 && probes(2) > 18);

    /* never more than one thread per way, however long it lasts */
    pass(120000);
    assert_int_equal(sim_threads(), 2);
    pretend_set(1, PRETEND_SERVES);
    settle(); /* both come back, and one brings a link */
    assert_int_equal(health(1), ROUTE_UP);
    assert_int_equal(pretend_at[1].open, 1);
    assert_int_equal(pool_of(1, 1)->count[LINK_IDLE], 1);
    pretend_at[1].probed = 0;
    pass(1000);
    assert_true(probes(1) > 5);
    assert_false(atomic_load(&fleet->members[1].slow));
    end_fleet();
}

/* Rules §4.2: the round that ends what hangs comes in time, though nobody is
   probed at intervals. */
static void what_hangs_is_looked_at_when_its_time_is_over(void **state)
{
    (void)state;
    begin_fleet(1, "CheckInterval=0;CheckTimeout=5000;ConnectTimeout=2000;");
    pretend_set(0, PRETEND_HANGS);
    sim_wake();
    place(&sessions[0], 1, "k0", 3000);
    assert_true(sim_wake() <= sim_now() + 2000 * NS_PER_MS);
    end_fleet();
}

/* A connection that went into a black hole; the instance serves others. */
static void a_lost_link_keeps_nobody_from_asking_again(void **state)
{
    struct pretend_instance *at = &pretend_at[0];
    (void)state;

    begin_fleet(1, "CheckInterval=100;CheckTimeout=1000;ConnectTimeout=1000;");
    visit(1, "k0");
    pretend_set(0, PRETEND_HANGS);
    pass(1200);
    assert_int_equal(health(0), ROUTE_DOWN);
    assert_int_equal(sim_threads(), 1);
    at->manner = PRETEND_SERVES; /* and nobody who hangs is told */
    pass(3000);
    assert_int_equal(health(0), ROUTE_UP);
    assert_int_equal(sim_threads(), 1);
    at->probed = 0;
    pass(1000);
    assert_true(probes(0) > 5);
    assert_int_equal(at->opened, 2);
    end_fleet();
}

static void a_link_that_opens_late_joins_the_pool(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;ConnectTimeout=1000;");
    visit(1, "k0");
    pretend_set(1, PRETEND_HANGS);
    pass(1500);
    assert_int_equal(health(1), ROUTE_DOWN);
    pretend_set(1, PRETEND_SERVES);
    settle();
    assert_int_equal(health(1), ROUTE_UP);
    assert_int_equal(pool_of(1, 1)->count[LINK_IDLE], 1);
    end_fleet();
}

/* Who waits for threads has not been asked, so it is not late. */
static void a_probe_that_waits_for_a_thread_says_nothing(void **state)
{
    (void)state;
    begin_fleet(1, "CheckInterval=100;CheckTimeout=1000;");
    visit(1, "k0");
    for (int n = 0; n < 50; n++) {
        sim_set_now(sim_now() + 100 * NS_PER_MS);
        watch_probe(fleet, sim_now()); /* no job begins */
    }
    assert_int_equal(sim_jobs(), 1);
    assert_int_equal(health(0), ROUTE_UP);
    settle();
    assert_int_equal(probes(0), 1);
    end_fleet();
}

/* 1, 2, 4, 8, 16 s, and so on up to 30. */
static void one_that_is_down_is_tried_by_its_back_off(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;");
    visit(1, "k0");
    pretend_set(1, PRETEND_REFUSES);
    pass(40000);
    assert_int_equal(health(1), ROUTE_DOWN);
    assert_in_range(pool_of(1, 1)->stats.of[POOL_STAT_FAILED], 4, 7);
    pretend_set(1, PRETEND_SERVES);
    pass(31000);
    assert_int_equal(health(1), ROUTE_UP);
    end_fleet();
}

/* Nor is any instance that is not known to be up: neither logins nor probes
   come beside one another. */
static void one_at_a_time_whoever_opens(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;ConnectTimeout=60000;");
    visit(2, "k0"); /* a login to probe with */
    place(&sessions[0], 1, "k0", 3000);
    pretend_set(1, PRETEND_HANGS);
    place(&sessions[1], 1, "k1", 30000);
    assert_int_equal(pretend_at[1].connecting, 1);
    pass(4000); /* KEEPER_OVERDUE_MS later one more may begin */
    assert_int_equal(health(1), ROUTE_UNTRIED);
    assert_int_equal(pretend_at[1].connecting, 1);
    place(&sessions[2], 2, "k1", 30000);
    assert_int_equal(pretend_at[1].connecting, 1);
    pretend_set(1, PRETEND_REFUSES);
    pass(2000);
    assert_int_equal(health(1), ROUTE_DOWN);
    pretend_set(1, PRETEND_HANGS);
    for (int n = 0; n < 40; n++) {
        pass(100);
        assert_true(pretend_at[1].connecting <= 1);
    }
    assert_int_equal(pretend_at[1].connecting, 1);
    pretend_set(1, PRETEND_SERVES);
    pass(100);
    assert_int_equal(health(1), ROUTE_UP);
    end_fleet();
}

/* As it is when a server that is gone is started, and gives up. */
static void who_starts_is_down_by_what_it_says_of_that(void **state)
{
    static const struct {
        enum pretend_manner manner;
        const char *cause;
    } turns[] = {
        { PRETEND_REFUSES, "08001" },
        { PRETEND_STARTS, "57P03" },
        { PRETEND_REFUSES, "08001" },
    };
    struct fleet_instance_view view;
    (void)state;

    begin_fleet(2, "CheckInterval=500;");
    visit(1, "k0");
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        pretend_set(1, turns[k].manner);
        pass(40000); /* it is asked again by then */
        fleet_view(fleet, 1, &view);
        assert_int_equal(view.health, ROUTE_DOWN);
        assert_string_equal(view.cause.state, turns[k].cause);
    }
    end_fleet();
}

/* It has been down twice within a minute, so one answer does not do. */
static void who_answers_again_is_suspect_by_what_it_was_down_by(void **state)
{
    static const struct link_error other = { .state = "28P01",
                                             .text = "not that login" };
    struct place_order order = { .write = true };
    struct fleet_instance_view view;
    struct text text;
    (void)state;

    begin_fleet(2, "CheckInterval=500;");
    visit(1, "k0");
    pretend_set(1, PRETEND_REFUSES);
    pass(3000);
    pretend_set(1, PRETEND_SERVES);
    pass(3000);
    assert_int_equal(health(1), ROUTE_UP);
    pretend_set(1, PRETEND_REFUSES);
    pretend_kill(pretend_of(pool_of(1, 1)->links[LINK_IDLE]));
    pass(3000);
    assert_int_equal(health(1), ROUTE_DOWN);
    pretend_set(1, PRETEND_SERVES);
    for (int n = 0; n < 1000 && health(1) == ROUTE_DOWN; n++) {
        pass(10);
    }
    assert_int_equal(health(1), ROUTE_SUSPECT);
    fleet_view(fleet, 1, &view);
    assert_string_equal(view.cause.state, "08001");

    /* and so it is told, whatever has failed there since */
    fleet_failed(fleet, 1, 0, &other);
    order.login = logins[0];
    text_init(&text);
    place_say_refusal(&order, 1, &text);
    assert_non_null(strstr(text_string(&text), "suspect for"));
    assert_non_null(strstr(text_string(&text), "[08001]"));
    assert_null(strstr(text_string(&text), "28P01"));
    text_free(&text);
    end_fleet();
}

static void at_exit_nothing_begins(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=100;");
    visit(1, "k0");
    sim_accept(false);
    pass(2000);
    assert_int_equal(probes(0) + probes(1), 0);
    assert_int_equal(pool_of(1, 0)->count[LINK_IDLE], 1);
    assert_int_equal(pool_of(1, 1)->count[LINK_OPENING], 0);
    sim_accept(true);
    pass(2000);
    assert_true(probes(0) > 10 && probes(1) > 10);
    end_fleet();
}

/* ---- many at once ------------------------------------------------------------ */

enum { CROWD = 100, LONG_MS = 1000000 };

/* A link to each of so many, and none is in use. */
static void visit_each(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        pretend_keys[0].owner = i;
        visit(1, "k0");
    }
}

/* So many probes begin, of instances first, first + 1, …; the first for which
   there is no place is returned. */
static uint32_t begin_probes(uint64_t numbers[CROWD], uint32_t first)
{
    uint32_t i = first;

    while (i < CROWD && (numbers[i] = fleet_probe_begin(
                             fleet, i, FLEET_PROBE_ASKS)) != 0) {
        i++;
    }
    return i;
}

static void threads_are_left_to_others(void **state)
{
    uint64_t numbers[CROWD];
    uint32_t known, all;
    (void)state;

    begin_fleet(CROWD, "CheckInterval=100;PoolIdleTimeout=0;");
    visit_each(60);
    known = begin_probes(numbers, 0);
    assert_in_range(known, 1, 59); /* and others have places still */
    all = begin_probes(numbers, 60);
    assert_true(all > 60);
    assert_true(known + all - 60 < KEEPER_THREADS_MAX);
    sim_wake();
    assert_true(fleet_probe_ended(fleet, 0, numbers[0], FLEET_PROBE_ASKS));
    assert_true(sim_wake() <= sim_now()); /* who found none looks again */
    for (uint32_t i = 1; i < all; i++) {
        if (i < known || i >= 60) {
            fleet_probe_ended(fleet, i, numbers[i], FLEET_PROBE_ASKS);
        }
    }
    end_fleet();
}

/* On sockets that nobody can prove ours, and for ever. */
static void those_that_hang_leave_places_to_others(void **state)
{
    enum { HANGING = 40, COUNT = 60 };
    (void)state;

    begin_fleet(COUNT, "CheckInterval=1000;CheckTimeout=1000;"
                "ConnectTimeout=1000;PoolIdleTimeout=0;");
    visit_each(COUNT);
    for (uint32_t i = 0; i < HANGING; i++) {
        pretend_set(i, PRETEND_HANGS);
    }
    pass(LONG_MS);
    assert_true(sim_threads() < KEEPER_THREADS_MAX);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(health(i), i < HANGING ? ROUTE_DOWN : ROUTE_UP);
        pretend_at[i].probed = 0;
    }
    pass(20000);
    for (uint32_t i = HANGING; i < COUNT; i++) {
        assert_in_range(probes(i), 10, 25);
    }

    /* another one is found out, and so is one that refuses and comes back */
    pretend_set(HANGING, PRETEND_HANGS);
    pretend_set(HANGING + 1, PRETEND_REFUSES);
    for (struct link *link = pool_of(1, HANGING + 1)->links[LINK_IDLE]; link;
         link = link->next) {
        pretend_kill(pretend_of(link));
    }
    pass(10000);
    assert_int_equal(health(HANGING), ROUTE_DOWN);
    assert_int_equal(health(HANGING + 1), ROUTE_DOWN);
    pretend_set(HANGING + 1, PRETEND_SERVES);
    pass(40000);
    assert_int_equal(health(HANGING + 1), ROUTE_UP);

    /* those that answer at last are back */
    for (uint32_t i = 0; i < HANGING / 2; i++) {
        pretend_set(i, PRETEND_SERVES);
    }
    pass(40000);
    for (uint32_t i = 0; i < HANGING / 2; i++) {
        assert_int_equal(health(i), ROUTE_UP);
    }
    end_fleet();
}

/* More than there are places for refuse, each after a while. */
static void all_have_their_turn(void **state)
{
    enum { AWAY = 290, COUNT = 300 };
    (void)state;

    begin_fleet(COUNT, "CheckInterval=1000;ConnectTimeout=10000;"
                "PoolIdleTimeout=0;");
    for (uint32_t i = 0; i < AWAY; i++) {
        pretend_set(i, PRETEND_IS_AWAY);
    }
    pretend_keys[0].owner = COUNT - 1;
    visit(1, "k0");
    pass(120000);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(health(i), i < AWAY ? ROUTE_DOWN : ROUTE_UP);
        pretend_at[i].probed = pretend_at[i].turned_away = 0;
    }
    pass(300000);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(i < AWAY ? pretend_at[i].turned_away > 1
                             : probes(i) > 50);
    }
    end_fleet();
}

/* ---- what is heard ----------------------------------------------------------- */

static void a_promotion_is_noticed_without_traffic(void **state)
{
    (void)state;
    begin_fleet(2, "CheckInterval=1000;");
    pretend_at[1].standby = true;
    visit(1, "k0");
    pass(2000);
    assert_int_equal(atomic_load(&fleet->members[1].role), ROUTE_STANDBY);
    pretend_at[1].standby = false;
    pass(1200);
    assert_int_equal(atomic_load(&fleet->members[1].role), ROUTE_PRIMARY);
    assert_true(was_said(1, "is now primary"));
    end_fleet();
}

/* Who may read nothing tells nothing of it: neither another system nor a role
   that is not known any more. */
static void who_says_nothing_of_itself_is_what_it_was(void **state)
{
    const struct link_who nothing = { .backend = 1 };
    struct link_who all = { .role = LINK_ROLE_PRIMARY, .identity = "4711" };
    (void)state;

    begin_fleet(1, "CheckInterval=60000;");
    visit(1, "k0");
    assert_int_equal(fleet->instances[0].who.role, LINK_ROLE_PRIMARY);
    assert_false(fleet_heard(fleet, 0, &nothing));
    assert_int_equal(fleet->instances[0].who.role, LINK_ROLE_PRIMARY);
    fleet->instances[0].who.identity[0] = '\0';
    assert_true(fleet_heard(fleet, 0, &all)); /* who may read it all */
    assert_true(fleet_keeps(fleet, 0,
                            pool_of(1, 0)->links[LINK_IDLE]->opened));
    all.identity[0] = '\0';
    all.role = LINK_ROLE_STANDBY;
    assert_true(fleet_heard(fleet, 0, &all)); /* and who only sees the role */
    assert_true(was_said(0, "is now standby"));
    assert_false(was_said(0, "another system"));
    end_fleet();
}

/* A promotion that is seen by a login that may not read who it is. */
static void whoever_is_promoted_is_of_its_group_still(void **state)
{
    const struct link_who standby = { .role = LINK_ROLE_STANDBY,
                                      .identity = "4711", .timeline = 3 };
    const struct link_who nameless = { .role = LINK_ROLE_PRIMARY };
    const struct link_who *who;
    (void)state;

    begin_fleet(2, "CheckInterval=60000;");
    who = &fleet->instances[1].who;
    visit(1, "k0");
    fleet_heard(fleet, 1, &standby);
    assert_true(fleet_heard(fleet, 1, &nameless));
    assert_int_equal(who->role, LINK_ROLE_PRIMARY);
    assert_string_equal(who->identity, "4711");
    assert_int_equal(who->timeline, 4); /* or later */
    assert_false(fleet_heard(fleet, 1, &nameless));
    assert_int_equal(who->timeline, 4);

    /* it takes no write from one that is up */
    fleet_heard(fleet, 1, &standby);
    atomic_store(&fleet->members[0].group, 1);
    assert_true(fleet_heard(fleet, 1, &nameless));
    assert_string_equal(who->identity, "4711");
    assert_int_equal(who->timeline, 3);
    atomic_store(&fleet->members[0].group, 0);
    end_fleet();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_probed_once_an_interval),
        cmocka_unit_test(what_answers_slowly_is_asked_again_in_time),
        cmocka_unit_test(instances_are_not_probed_all_at_once),
        cmocka_unit_test(an_unused_fleet_is_not_probed),
        cmocka_unit_test(many_instances_are_probed_less_often),
        cmocka_unit_test(cause_brings_a_probe_about_at_once),
        cmocka_unit_test(without_an_interval_only_cause_does),
        cmocka_unit_test(what_cannot_be_probed_at_once_is_probed_soon),
        cmocka_unit_test(a_dead_link_is_cause),
        cmocka_unit_test(the_link_that_rests_longest_is_probed),
        cmocka_unit_test(a_link_that_is_probed_can_be_taken),
        cmocka_unit_test(who_took_a_link_that_died_gets_another),
        cmocka_unit_test(a_link_that_is_probed_can_be_asked),
        cmocka_unit_test(a_retired_login_keeps_no_link_that_is_probed),
        cmocka_unit_test(a_probe_keeps_within_the_limits),
        cmocka_unit_test(a_refused_login_is_tried_once_and_the_next_one_serves),
        cmocka_unit_test(an_unproved_login_is_not_tried),
        cmocka_unit_test(a_login_that_is_told_all_is_preferred),
        cmocka_unit_test(the_keepers_own_login_has_links_of_its_own),
        cmocka_unit_test(
            a_refused_monitor_is_tried_once_and_a_session_s_login_serves),
        cmocka_unit_test(a_hanging_instance_delays_no_other),
        cmocka_unit_test(what_hangs_is_looked_at_when_its_time_is_over),
        cmocka_unit_test(a_lost_link_keeps_nobody_from_asking_again),
        cmocka_unit_test(a_link_that_opens_late_joins_the_pool),
        cmocka_unit_test(a_probe_that_waits_for_a_thread_says_nothing),
        cmocka_unit_test(one_that_is_down_is_tried_by_its_back_off),
        cmocka_unit_test(one_at_a_time_whoever_opens),
        cmocka_unit_test(who_starts_is_down_by_what_it_says_of_that),
        cmocka_unit_test(
            who_answers_again_is_suspect_by_what_it_was_down_by),
        cmocka_unit_test(at_exit_nothing_begins),
        cmocka_unit_test(threads_are_left_to_others),
        cmocka_unit_test(those_that_hang_leave_places_to_others),
        cmocka_unit_test(all_have_their_turn),
        cmocka_unit_test(a_promotion_is_noticed_without_traffic),
        cmocka_unit_test(who_says_nothing_of_itself_is_what_it_was),
        cmocka_unit_test(whoever_is_promoted_is_of_its_group_still),
    };

    round_duty = watch_probe;
    return cmocka_run_group_tests_name("watch_probe", tests, pretend_begin,
                                       pretend_end);
}
