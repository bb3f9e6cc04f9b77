/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: one fleet, one clock and one way of counting for all methods, whose
 * promises are the same few.
 *
 * The balancing methods: whom they choose, how often, and what of that changes
 * when an instance becomes slow, violates its limits, goes and comes back.  By
 * simulation: units come at random times and stay for a while.  The seeds are
 * fixed, so that a test either always fails or never; the bounds are such that
 * numbers drawn anew would break them once in a million times or less.
 */
#include "autoconf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "balance.h"
#include "balance_fact.h"
#include "balance_rendezvous.h"
#include "lock.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

enum { MOST = 1000, LONG_MS = 3600000 };

static struct {
    struct route_member members[MOST];
    struct route_fleet fleet;
    struct route_request request;
    bool may[MOST];
    unsigned looks; /* how often may() was asked */
    unsigned got[MOST];
} scene;

static uint64_t drawn;

static uint64_t draw(void)
{
    uint64_t x = (drawn += UINT64_C(0x9e3779b97f4a7c15));

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* In (0, 1). */
static double chance(void)
{
    return ((double)(draw() >> 12) + 0.5) * 0x1p-52;
}

/* weights NULL: 1 each. */
static void begin(uint32_t count, const uint32_t *weights)
{
    memset(&scene, 0, sizeof scene);
    drawn = 1;
    scene.fleet.count = count;
    scene.fleet.members = scene.members;
    scene.request.now = 1000000 * NS_PER_MS;
    scene.request.what = "";
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "n%u", i);
        struct route_member *m = &scene.members[i];

        m->weight = weights ? weights[i] : 1;
        m->health = ROUTE_UP;
        m->pool_max = 20;
        m->seed = balance_target_seed(name, (size_t)length);
        scene.may[i] = true;
        if (m->weight > scene.fleet.heaviest) {
            scene.fleet.heaviest = m->weight;
        }
    }
}

static bool may(const struct route_request *request,
                const struct route_fleet *fleet, uint32_t i)
{
    (void)request;
    assert_true(i < fleet->count);
    scene.looks++;
    return scene.may[i];
}

static bool is_up(const struct route_request *request,
                  const struct route_fleet *fleet, uint32_t i)
{
    (void)request;
    return fleet->members[i].health == ROUTE_UP;
}

static int choose_by(balance_method *method, uint64_t seed)
{
    struct balance_among among = balance_all(&scene.request, &scene.fleet, may,
                                             is_up);

    scene.request.seed = seed;
    return method(&among);
}

static void choose_many(balance_method *method, unsigned times)
{
    memset(scene.got, 0, sizeof scene.got);
    for (unsigned n = 0; n < times; n++) {
        int i = choose_by(method, draw());
        assert_in_range(i, 0, scene.fleet.count - 1);
        assert_true(scene.may[i]);
        scene.got[i]++;
    }
}

/* of what choose_many() or live() has counted */
static double share(uint32_t i)
{
    unsigned sum = 0;

    for (uint32_t k = 0; k < scene.fleet.count; k++) {
        sum += scene.got[k];
    }
    return (double)scene.got[i] / sum;
}

/* Is each share what the numbers say, within five standard deviations of its
   binomial (6e-7)? */
static void expect_shares(const double *parts)
{
    double sum = 0, times = 0;

    for (uint32_t i = 0; i < scene.fleet.count; i++) {
        sum += parts[i];
        times += scene.got[i];
    }
    for (uint32_t i = 0; i < scene.fleet.count; i++) {
        double p = parts[i] / sum;
        if (fabs(scene.got[i] - p * times) >
            5 * sqrt(times * p * (1 - p)) + 1e-9) {
            fail_msg("%u has %g instead of %g", i, scene.got[i] / times, p);
        }
    }
}

static void time_all(uint32_t i, double ms)
{
    balance_timed(&scene.members[i], ROUTE_CALL_ASK,
                  (uint64_t)(ms * (double)NS_PER_MS), scene.request.now,
                  scene.request.now + LONG_MS * NS_PER_MS);
}

/* ---- a life: units come, stay and go ----------------------------------- */

static struct {
    double ends[512];
    int at[512];
    unsigned count;
} units;

static double ms_now(void)
{
    return (double)scene.request.now / (double)NS_PER_MS;
}

static void end_units(void)
{
    for (unsigned k = 0; k < units.count;) {
        if (units.ends[k] <= ms_now()) {
            scene.members[units.at[k]].in_flight--;
            units.count--;
            units.ends[k] = units.ends[units.count];
            units.at[k] = units.at[units.count];
        } else {
            k++;
        }
    }
}

/* For so many ms, a unit comes every 1 / rate ms on average, and stays for
   stay[i] ms on average.  Each instance is probed once a second. */
static void live(balance_method *method, double ms, double rate,
                 const double *stay)
{
    double end = ms_now() + ms, probe = ms_now();

    memset(scene.got, 0, sizeof scene.got);
    while (ms_now() < end) {
        int i;

        scene.request.now +=
            (uint64_t)(-log(chance()) / rate * (double)NS_PER_MS);
        for (; probe < ms_now(); probe += 1000) {
            for (uint32_t k = 0; k < scene.fleet.count; k++) {
                time_all(k, stay[k]);
            }
        }
        end_units();
        i = choose_by(method, draw());
        assert_true(i >= 0 && units.count < COUNT(units.at));
        scene.got[i]++;
        scene.members[i].in_flight++;
        units.at[units.count] = i;
        units.ends[units.count++] = ms_now() - log(chance()) * stay[i];
    }
}

static void end_life(void)
{
    scene.request.now += LONG_MS * NS_PER_MS;
    end_units();
    assert_int_equal(units.count, 0);
}

/* ---- drawing ----------------------------------------------------------- */

static void shares_are_those_of_the_weights(void **state)
{
    static const uint32_t weights[] = { 5, 0, 3, 1, 0, 1 };
    static const double parts[] = { 5, 0, 3, 1, 0, 1 };
    static balance_method *const methods[] = {
        balance_random, balance_adaptive, balance_adaptive_failover,
        balance_fastest, /* as long as nothing is known */
    };
    (void)state;

    for (size_t k = 0; k < COUNT(methods); k++) {
        begin(COUNT(weights), weights);
        choose_many(methods[k], 200000);
        expect_shares(parts);
    }
    /* and with latencies that are alike */
    begin(COUNT(weights), weights);
    for (uint32_t i = 0; i < COUNT(weights); i++) {
        time_all(i, 2.0 + 0.15 * i);
    }
    choose_many(balance_adaptive, 200000);
    expect_shares(parts);
}

/* The few tries and the look at all draw alike, together and alone. */
static void both_ways_of_drawing_draw_alike(void **state)
{
    uint32_t weights[40];
    double parts[40] = { 0 };
    (void)state;

    for (int known = 0; known < 2; known++) {
        for (uint32_t i = 0; i < 40; i++) {
            weights[i] = 1 + i % 7 * 3;
            parts[i] = i % 9 == 4 ? weights[i] : 0;
        }
        begin(40, weights);
        scene.fleet.heaviest *= (uint32_t)known;
        for (uint32_t i = 0; i < 40; i++) {
            scene.may[i] = parts[i] > 0;
        }
        choose_many(balance_random, 200000);
        expect_shares(parts);
    }
}

/* place.c's seeds are nearly the same number again and again. */
static void near_seeds_draw_alike(void **state)
{
    static const uint64_t steps[] = { 1, 8, 64, 1000003 };
    static const double parts[] = { 1, 1, 1 };
    (void)state;

    for (size_t k = 0; k < COUNT(steps); k++) {
        begin(3, NULL);
        for (unsigned n = 0; n < 100000; n++) {
            scene.got[choose_by(balance_adaptive, 77 + n * steps[k])]++;
        }
        expect_shares(parts);
    }
}

static void last_resorts_come_last(void **state)
{
    static const uint32_t weights[] = { 0, 3, 0 };
    static const double last[] = { 1, 0, 1 };
    static balance_method *const methods[] = {
        balance_adaptive, balance_proportional, balance_saturation,
        balance_operational, balance_failover, balance_adaptive_failover,
        balance_fastest, balance_random
    };
    (void)state;

    for (size_t k = 0; k < COUNT(methods); k++) {
        begin(3, weights);
        time_all(0, 1);
        time_all(1, 100);
        scene.members[1].violating_until = UINT64_MAX;
        choose_many(methods[k], 200);
        assert_int_equal(scene.got[1], 200); /* slow, and over its limits */
        scene.may[1] = false;
        choose_many(methods[k], 200);
        assert_int_equal(scene.got[1], 0);
        scene.may[0] = scene.may[2] = false;
        assert_int_equal(choose_by(methods[k], 1), -1);
    }
    begin(3, weights);
    scene.may[1] = false;
    choose_many(balance_adaptive, 10000);
    expect_shares(last);
}

static void one_over_its_limits_only_if_there_is_no_other(void **state)
{
    static balance_method *const methods[] = {
        balance_adaptive, balance_adaptive_failover, balance_fastest,
        balance_random, balance_saturation
    };
    static const double all[] = { 1, 1, 1 };
    (void)state;

    for (size_t k = 0; k < COUNT(methods); k++) {
        begin(3, NULL);
        for (uint32_t i = 0; i < 3; i++) {
            time_all(i, 1 + 10 * i);
        }
        scene.members[0].violating_until = UINT64_MAX; /* the fastest */
        choose_many(methods[k], 1000);
        assert_int_equal(scene.got[0], 0);
        scene.members[1].violating_until = UINT64_MAX;
        scene.members[2].violating_until = UINT64_MAX;
        choose_many(methods[k], 1000);
        assert_true(scene.got[0] > 0);
    }
    begin(3, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        scene.members[i].violating_until = UINT64_MAX;
    }
    choose_many(balance_adaptive, 10000);
    expect_shares(all);
}

/* ---- adaptive ------------------------------------------------------------ */

static void two_looks_are_enough_among_a_thousand(void **state)
{
    (void)state;
    begin(1000, NULL);
    for (uint32_t i = 0; i < 1000; i++) {
        time_all(i, 1 + i % 5);
    }
    choose_many(balance_adaptive, 1000);
    assert_in_range(scene.looks, 2000, 2100);
}

/* With many in flight, too, shares are those of the weights; and they are held
   at each moment, not only in the end. */
static void what_is_in_flight_follows_the_weights(void **state)
{
    static const uint32_t weights[] = { 2, 1, 1 };
    static const double stay[] = { 40, 40, 40 };
    double in_flight[3] = { 0 }, worst = 0;
    (void)state;

    begin(3, weights);
    live(balance_adaptive, 500, 0.4, stay);
    for (int n = 0; n < 2000; n++) {
        double sum = 0;
        live(balance_adaptive, 10, 0.4, stay);
        for (uint32_t i = 0; i < 3; i++) {
            in_flight[i] += scene.members[i].in_flight;
            sum += scene.members[i].in_flight;
        }
        worst += fabs(scene.members[0].in_flight - sum / 2);
    }
    assert_true(fabs(in_flight[0] / (in_flight[1] + in_flight[2]) - 1) < 0.05);
    assert_true(fabs(in_flight[1] / in_flight[2] - 1) < 0.05);
    /* 16 of them on average: drawn without looking, it would be 1.6 off */
    assert_true(worst / 2000 < 1.1);
    end_life();
}

/* What is slower gets less, in proportion, and is not starved. */
static void shares_follow_what_latency_says(void **state)
{
    (void)state;
    begin(3, NULL);
    time_all(0, 2);
    time_all(1, 4);
    time_all(2, 20);
    choose_many(balance_adaptive, 100000);
    assert_true(share(0) > 0.55 && share(0) < 0.7);
    assert_true(share(1) > 0.25 && share(1) < 0.4);
    assert_true(share(2) > 0.02 && share(2) < 0.06);
}

/* Many processes, each of which makes its first choice: they see the same, and
   know nothing of each other. */
static void processes_do_not_all_choose_the_same(void **state)
{
    static const double alike[] = { 1, 1, 1, 1 };
    static const double ms[][4] = {
        { 1, 1.1, 1.2, 1.4 }, { 0.1, 0.2, 0.4, 0.5 }, { 5, 6, 6, 7 },
    };
    (void)state;

    for (size_t k = 0; k < COUNT(ms); k++) {
        begin(4, NULL);
        for (uint32_t i = 0; i < 4; i++) {
            time_all(i, ms[k][i]);
        }
        choose_many(balance_adaptive, 10000);
        expect_shares(alike);
    }
    begin(4, NULL); /* and where one is clearly the best */
    for (uint32_t i = 0; i < 4; i++) {
        time_all(i, i == 2 ? 1 : 3);
    }
    choose_many(balance_adaptive, 10000);
    assert_true(share(2) < 0.55);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(share(i) > 0.1);
    }
}

/* Each process sees what it did itself, and what all of them do to an
   instance: the more units on it, the slower it answers.  If all went where it
   was fastest a moment ago, they would go to and fro. */
static void independent_processes_keep_an_even_load(void **state)
{
    enum { PROCESSES = 200, ROUNDS = 300 };
    static unsigned last[3];
    double load[3] = { 0 }, off = 0;
    (void)state;

    begin(3, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned now[3] = { 0 };
        scene.request.now += 1000 * NS_PER_MS;
        for (uint32_t i = 0; i < 3; i++) {
            time_all(i, 1 + last[i] / 10.0);
        }
        for (int p = 0; p < PROCESSES; p++) {
            now[choose_by(balance_adaptive, draw())]++;
        }
        for (uint32_t i = 0; i < 3; i++) {
            load[i] += now[i];
            off += fabs(now[i] - PROCESSES / 3.0) / 3;
            last[i] = now[i];
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(fabs(load[i] / ROUNDS - PROCESSES / 3.0) < 4);
    }
    /* 5.3 would be chance alone */
    assert_true(off / ROUNDS < 9);
}

static void one_slow_instance_loses_its_load_and_gets_it_back(void **state)
{
    static const double well[] = { 2, 2, 2 }, slow[] = { 2, 9, 2 },
                        ill[] = { 2, 300, 2 };
    (void)state;

    begin(3, NULL);
    live(balance_adaptive, 60000, 0.5, well);
    assert_true(fabs(share(1) - 1.0 / 3) < 0.02);
    live(balance_adaptive, 5000, 0.5, slow);
    live(balance_adaptive, 60000, 0.5, slow);
    assert_true(share(1) > 0.04 && share(1) < 0.15);
    live(balance_adaptive, 30000, 0.5, well);
    live(balance_adaptive, 60000, 0.5, well);
    assert_true(fabs(share(1) - 1.0 / 3) < 0.02);
    live(balance_adaptive, 5000, 0.5, ill);
    assert_true(balance_violates(&scene.members[1],
                                 scene.request.now));
    live(balance_adaptive, 60000, 0.5, ill);
    assert_int_equal(scene.got[1], 0); /* over its limits */
    live(balance_adaptive, 30000, 0.5, well);
    assert_false(balance_violates(&scene.members[1],
                                 scene.request.now));
    live(balance_adaptive, 60000, 0.5, well);
    assert_true(fabs(share(1) - 1.0 / 3) < 0.02);
    end_life();
}

/* Alone with one other as well, where it is the second candidate each time. */
static void one_that_is_back_gets_its_share_by_and_by(void **state)
{
    static const double stay[] = { 30, 30, 30 };
    (void)state;

    for (uint32_t count = 2; count <= 3; count++) {
        double before = 0;
        begin(count, NULL);
        scene.may[0] = false;
        live(balance_adaptive, 2000, 0.5, stay);
        scene.may[0] = true;
        balance_returned(&scene.members[0], scene.request.now);
        for (int second = 0; second < 10; second++) {
            live(balance_adaptive, 1000, 0.5, stay);
            assert_true(share(0) < (second + 2) / 10.0 / count + 0.05);
            assert_true(share(0) > before - 0.1);
            before = share(0);
        }
        live(balance_adaptive, 10000, 0.5, stay);
        assert_true(fabs(share(0) - 1.0 / count) < 0.02);
        end_life();
    }
}

static void one_that_refuses_quickly_gets_nothing(void **state)
{
    (void)state;
    begin(3, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        time_all(i, 2);
    }
    balance_failed(&scene.members[1], 10000 * NS_PER_MS, scene.request.now,
                   scene.request.now + 10000 * NS_PER_MS);
    choose_many(balance_adaptive, 1000);
    assert_int_equal(scene.got[1], 0);
}

/* ---- the others -------------------------------------------------------- */

static void fastest_explores_one_in_sixteen(void **state)
{
    static const double parts[] = { 1, 1, 46 }; /* 15 of 16, and a third */
    (void)state;

    begin(3, NULL);
    time_all(0, 3);
    time_all(1, 2);
    time_all(2, 1);
    choose_many(balance_fastest, 200000);
    expect_shares(parts);
    scene.may[2] = false;
    choose_many(balance_fastest, 1000);
    assert_true(scene.got[1] > 900);
    /* what is known of some only is no more than that */
    begin(3, NULL);
    time_all(1, 500);
    choose_many(balance_fastest, 10000);
    assert_true(share(1) > 0.9 && share(0) > 0.01);
}

static void fastest_passes_over_what_is_not_all_back(void **state)
{
    (void)state;
    begin(2, NULL);
    balance_returned(&scene.members[0], scene.request.now);
    time_all(0, 1);
    time_all(1, 2);
    choose_many(balance_fastest, 10000);
    assert_true(share(0) < 0.06);
    scene.request.now += BALANCE_RAMP_MS / 2 * NS_PER_MS;
    choose_many(balance_fastest, 10000);
    assert_true(fabs(share(0) - 0.5) < 0.06);
    scene.request.now += BALANCE_RAMP_MS / 2 * NS_PER_MS;
    choose_many(balance_fastest, 10000);
    assert_true(share(0) > 0.9);
}

static void failover_is_for_the_heaviest_alone(void **state)
{
    static const uint32_t weights[] = { 1, 3, 2, 3 };
    (void)state;

    begin(4, weights);
    time_all(1, 50);
    scene.members[1].violating_until = UINT64_MAX;
    scene.members[1].in_flight = 100;
    balance_returned(&scene.members[1], scene.request.now);
    assert_int_equal(choose_by(balance_failover, 1), 1);
    scene.may[1] = false;
    assert_int_equal(choose_by(balance_failover, 1), 3);
    scene.may[3] = false;
    assert_int_equal(choose_by(balance_failover, 1), 2);
    scene.may[1] = true;
    assert_int_equal(choose_by(balance_failover, 1), 1); /* at once */
}

/* 20 links each, weights 3 and 1: the first has 13 and a third alone. */
static void saturation_shares_when_the_heaviest_is_full_enough(void **state)
{
    static const uint32_t weights[] = { 3, 1, 1 };
    (void)state;

    begin(3, weights);
    for (unsigned n = 0; n < 13; n++) {
        int i = choose_by(balance_saturation, n);
        assert_int_equal(i, 0);
        scene.members[i].in_flight++;
    }
    for (unsigned n = 0; n < 47; n++) {
        int i = choose_by(balance_saturation, n);
        scene.members[i].in_flight++;
        for (int k = 1; k < 3; k++) { /* as much is left of all, by weight */
            int heavy = 3 * (20 - (int)scene.members[0].in_flight);
            int light = 20 - (int)scene.members[k].in_flight;
            assert_true(abs(heavy - light) <= 3);
        }
    }
    for (int k = 0; k < 3; k++) {
        assert_int_equal(scene.members[k].in_flight, 20);
    }
    scene.members[1].in_flight = 30; /* of several logins together */
    assert_true(choose_by(balance_saturation, 5) >= 0);
}

static void saturation_draws_among_equals(void **state)
{
    static const double parts[] = { 1, 1, 1 };
    (void)state;

    begin(3, NULL);
    choose_many(balance_saturation, 30000);
    expect_shares(parts);
}

static void capacity_keeps_the_heaviest_active(void **state)
{
    static const uint32_t weights[] = { 1, 4, 2, 2, 0, 1 };
    static const struct {
        uint32_t capacity;
        double parts[6];
    } rows[] = {
        { 0, { 1, 4, 2, 2, 0, 1 } }, { 1, { 0, 1, 0, 0, 0, 0 } },
        { 4, { 0, 1, 0, 0, 0, 0 } }, { 5, { 0, 4, 2, 0, 0, 0 } },
        { 6, { 0, 4, 2, 0, 0, 0 } }, { 7, { 0, 4, 2, 2, 0, 0 } },
        { 9, { 1, 4, 2, 2, 0, 0 } }, { 10, { 1, 4, 2, 2, 0, 1 } },
        { 99, { 1, 4, 2, 2, 0, 1 } },
    };
    static const double without_heaviest[] = { 1, 0, 2, 2, 0, 0 };
    (void)state;

    for (size_t k = 0; k < COUNT(rows); k++) {
        begin(6, weights);
        scene.fleet.capacity = rows[k].capacity;
        choose_many(balance_adaptive_failover, 50000);
        expect_shares(rows[k].parts);
    }
    begin(6, weights); /* a failure pulls in the next */
    scene.fleet.capacity = 5;
    scene.members[1].health = ROUTE_DOWN;
    scene.may[1] = false;
    choose_many(balance_adaptive_failover, 50000);
    expect_shares(without_heaviest);
    /* none of the active ones may, though they are well: all others */
    scene.may[0] = scene.may[2] = scene.may[3] = false;
    assert_int_equal(choose_by(balance_adaptive_failover, 1), 5);
}

static void operational_stays_with_its_user(void **state)
{
    static const uint32_t weights[] = { 1, 2, 1, 0 };
    static const double parts[] = { 1, 2, 1, 0 };
    static int at[4000];
    char user[32];
    (void)state;

    begin(4, weights);
    for (int n = 0; n < 4000; n++) {
        scene.request.what_length =
            (size_t)snprintf(user, sizeof user, "user-%d", n);
        scene.request.what = user;
        at[n] = choose_by(balance_operational, draw());
        assert_int_equal(choose_by(balance_operational, draw()), at[n]);
        scene.got[at[n]]++;
        scene.may[2] = false; /* only who was there goes elsewhere */
        assert_true((choose_by(balance_operational, draw()) != at[n]) ==
                    (at[n] == 2));
        scene.may[2] = true;
    }
    expect_shares(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_weights),
        cmocka_unit_test(both_ways_of_drawing_draw_alike),
        cmocka_unit_test(near_seeds_draw_alike),
        cmocka_unit_test(last_resorts_come_last),
        cmocka_unit_test(one_over_its_limits_only_if_there_is_no_other),
        cmocka_unit_test(two_looks_are_enough_among_a_thousand),
        cmocka_unit_test(what_is_in_flight_follows_the_weights),
        cmocka_unit_test(shares_follow_what_latency_says),
        cmocka_unit_test(processes_do_not_all_choose_the_same),
        cmocka_unit_test(independent_processes_keep_an_even_load),
        cmocka_unit_test(one_slow_instance_loses_its_load_and_gets_it_back),
        cmocka_unit_test(one_that_is_back_gets_its_share_by_and_by),
        cmocka_unit_test(one_that_refuses_quickly_gets_nothing),
        cmocka_unit_test(fastest_explores_one_in_sixteen),
        cmocka_unit_test(fastest_passes_over_what_is_not_all_back),
        cmocka_unit_test(failover_is_for_the_heaviest_alone),
        cmocka_unit_test(saturation_shares_when_the_heaviest_is_full_enough),
        cmocka_unit_test(saturation_draws_among_equals),
        cmocka_unit_test(capacity_keeps_the_heaviest_active),
        cmocka_unit_test(operational_stays_with_its_user),
    };

    return cmocka_run_group_tests_name("balance", tests, NULL, NULL);
}
