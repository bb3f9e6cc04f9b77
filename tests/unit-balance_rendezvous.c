/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * balance_rendezvous: shares, minimal movement, and that nothing but names and
 * weights matters.
 *
 * The hash is fixed, so these tests give the same result at every run: they
 * cannot fail by chance.  The bounds are such that an ideal hash would break
 * them with the stated probability.
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

#include "balance_rendezvous.h"

enum { KEYS = 100000 };

static void make(struct balance_target *target, size_t count,
                 const uint32_t *weight)
{
    for (size_t i = 0; i < count; i++) {
        char name[32];
        int length = snprintf(name, sizeof(name), "instance-%zu", i);
        target[i] = (struct balance_target){
            .seed = balance_target_seed(name, (size_t)length),
            .weight = weight ? weight[i] : 1};
    }
}

static int choose(int key, const struct balance_target *target, size_t count)
{
    char text[32];
    int length = snprintf(text, sizeof(text), "%d", key);

    return balance_rendezvous_choose(text, (size_t)length, target, count);
}

/* Each share within 5 standard deviations of its binomial: an ideal hash
   breaks one such bound with 6e-7. */
static void expect_shares(const struct balance_target *target, size_t count)
{
    int got[64] = {0};
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += target[i].excluded ? 0 : target[i].weight;
    }
    for (int key = 0; key < KEYS; key++) {
        got[choose(key, target, count)]++;
    }
    for (size_t i = 0; i < count; i++) {
        double share = target[i].excluded ? 0 : target[i].weight / sum;
        double wide = 5 * sqrt(KEYS * share * (1 - share));
        if (fabs(got[i] - KEYS * share) > wide) {
            fail_msg("target %zu has %d of %d keys, its share is %.4f", i,
                     got[i], KEYS, share);
        }
    }
}

static void shares_alike(void **state)
{
    struct balance_target target[64];

    (void)state;
    for (size_t count = 1; count <= 64; count *= 2) {
        make(target, count, NULL);
        expect_shares(target, count);
    }
}

static void shares_by_weight(void **state)
{
    static const uint32_t weights[][4] = {
        {1, 2, 3, 4}, {1, 100, 1, 1}, {0, 1, 0, 2}, {1000000, 2000000, 1, 5}};
    struct balance_target target[4];

    (void)state;
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
        make(target, 4, weights[i]);
        expect_shares(target, 4);
    }
}

static void only_its_own_keys_move(void **state)
{
    static const uint32_t weight[] = {1, 2, 3, 1, 5};
    struct balance_target all[5], fewer[5];

    (void)state;
    make(all, 5, weight);
    for (size_t gone = 0; gone < 5; gone++) {
        int moved = 0;
        memcpy(fewer, all, sizeof(all));
        fewer[gone].excluded = true;
        for (int key = 0; key < KEYS / 5; key++) {
            int before = choose(key, all, 5), after = choose(key, fewer, 5);
            assert_true(after != (int)gone);
            assert_true(before == (int)gone || before == after);
            moved += before != after;
        }
        assert_true(moved > 0);
    }
}

static void more_weight_only_attracts(void **state)
{
    struct balance_target before[4], after[4];

    (void)state;
    make(before, 4, NULL);
    make(after, 4, NULL);
    after[2].weight = 3;
    for (int key = 0; key < KEYS / 5; key++) {
        int old = choose(key, before, 4), now = choose(key, after, 4);
        assert_true(old == now || now == 2);
    }
}

static void order_is_nothing(void **state)
{
    struct balance_target target[8], turned[8];

    (void)state;
    make(target, 8, NULL);
    for (size_t i = 0; i < 8; i++) {
        target[i].weight = (uint32_t)i;
        turned[7 - i] = target[i];
        turned[7 - i].weight = (uint32_t)i;
    }
    for (int key = 0; key < KEYS / 5; key++) {
        assert_int_equal(choose(key, target, 8), 7 - choose(key, turned, 8));
    }
}

static void weight_0_is_the_last_resort(void **state)
{
    static const uint32_t weight[] = {0, 1, 0};
    struct balance_target target[3];
    int got[3] = {0};

    (void)state;
    make(target, 3, weight);
    for (int key = 0; key < 1000; key++) {
        assert_int_equal(choose(key, target, 3), 1);
    }
    target[1].excluded = true;
    for (int key = 0; key < 1000; key++) {
        got[choose(key, target, 3)]++;
    }
    /* 500 each; 400 is 6 standard deviations away */
    assert_true(got[0] > 400 && got[2] > 400 && got[1] == 0);
    target[0].excluded = target[2].excluded = true;
    assert_int_equal(choose(1, target, 3), -1);
    assert_int_equal(choose(1, NULL, 0), -1);
}

/* What a released version chose must stay chosen: written down, not computed.
   A key that moves would be a key whose data is somewhere else. */
static void never_changes(void **state)
{
    struct balance_target target[3];
    static const uint32_t weight[] = {1, 2, 1};
    char got[33] = "";

    (void)state;
    make(target, 3, weight);
    for (int key = 0; key < 32; key++) {
        got[key] = (char)('0' + choose(key, target, 3));
    }
    assert_string_equal(got, "11201111100110222112011021122111");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_alike),
        cmocka_unit_test(shares_by_weight),
        cmocka_unit_test(only_its_own_keys_move),
        cmocka_unit_test(more_weight_only_attracts),
        cmocka_unit_test(order_is_nothing),
        cmocka_unit_test(weight_0_is_the_last_resort),
        cmocka_unit_test(never_changes),
    };

    return cmocka_run_group_tests_name("balance_rendezvous", tests, NULL, NULL);
}
