/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_map: what the builder refuses, and what claims come to (rules §1). */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit-route_map.h"

#define FIRST  "FOR VALUES FROM ('0') TO ('10')"
#define SECOND "FOR VALUES FROM ('10') TO ('20')"

static struct route_builder *begin(unsigned group)
{
    struct route_builder *b = route_builder_new();

    assert_non_null(b);
    route_builder_answer(b, group);
    return b;
}

/* One leaf, about which each of up to three groups says something; "" is a
   group that has answered and does not have it, NULL one that has not. */
static void expect_claims(const char *zero, const char *one, const char *two,
                          const char *want)
{
    const char *claim[] = {zero, one, two};
    struct route_builder *b = route_builder_new();

    assert_non_null(b);
    for (unsigned i = 0; i < 3; i++) {
        if (!claim[i]) {
            continue;
        }
        route_builder_answer(b, i);
        inner(b, -1, "", 'r', "id bigint");
        if (*claim[i]) {
            leaf(b, 0, FIRST, claim[i]);
        }
        leaf(b, 0, SECOND, "L");
    }
    struct route_map *map = finish(b);
    expect_found(map, "5", want);
    route_map_free(map);
}

static void claims(void **state)
{
    (void)state;
    expect_claims("L", NULL, NULL, "0");
    expect_claims("L", "P0", "P0", "0");
    expect_claims("P1", "L", "P1", "1");
    expect_claims("L", "L", "P1", "moving 0+1");
    expect_claims("L", "P2", "P2", "0");  /* the owner's word is the last */
    expect_claims("P1", NULL, NULL, "1"); /* pointed at, never answered */
    expect_claims("P2", "P2", NULL, "2");
    expect_claims("P1", NULL, "P1", "1");
    expect_claims("P7", "P8", NULL, "moving 7+8");
    expect_claims("P1", "P7", NULL, "7"); /* 1 has answered: not its own */
    expect_claims("P1", "P0", NULL, "moving");
    expect_claims("P1", "", NULL, "moving");
    expect_claims("?", NULL, NULL, "unresolved");
    expect_claims("?", "P2", NULL, "2");
    expect_claims("?", "L", NULL, "1");
    expect_claims("?", "P0", NULL, "unresolved");
    expect_claims("", NULL, NULL, "none");
    expect_claims("L", "", "", "0");
    expect_claims("L", "L", "L", "moving 0+1");
}

static void nothing_known(void **state)
{
    struct route_builder *b = route_builder_new();
    struct route_map *map;

    (void)state;
    assert_non_null(b);
    map = finish(b);
    expect_found(map, "1", "empty");
    route_map_free(map);
    map = finish(begin(3)); /* answered: it has no such table */
    expect_found(map, "1", "empty");
    route_map_free(map);
    route_map_free(NULL);
    route_builder_free(NULL);
}

/* What has answered and knows nothing is no pointer's target any more. */
static void an_empty_answer_counts(void **state)
{
    struct route_builder *b = begin(0);

    (void)state;
    inner(b, -1, "", 'r', "id bigint");
    leaf(b, 0, FIRST, "P1");
    route_builder_answer(b, 1);
    struct route_map *map = finish(b);
    expect_found(map, "5", "moving");
    route_map_free(map);
}

static void a_table_without_partitions(void **state)
{
    struct route_builder *b = begin(0);

    (void)state;
    leaf(b, -1, "", "P4");
    route_builder_answer(b, 1);
    leaf(b, -1, "", "P4");
    struct route_map *map = finish(b);
    expect_found(map, "5", "4");
    route_map_free(map);
}

static void expect_refused(struct route_builder *b)
{
    struct why why;

    assert_null(route_builder_finish(b, &why));
    assert_int_equal(why.code, WHY_GENERAL);
    route_builder_free(b);
}

static void refuses_what_is_no_tree(void **state)
{
    struct route_column column = {"a", route_type_plain(ROUTE_TYPE_INT8)};
    struct route_builder *b = route_builder_new();
    (void)state;

    assert_non_null(b); /* no answer begun */
    assert_int_equal(leaf(b, -1, "", "L"), -1);
    expect_refused(b);
    b = begin(0); /* no root */
    assert_int_equal(leaf(b, 0, FIRST, "L"), -1);
    expect_refused(b);
    b = begin(0); /* two roots */
    inner(b, -1, "", 'r', "a bigint");
    assert_int_equal(inner(b, -1, "", 'r', "a bigint"), -1);
    expect_refused(b);
    b = begin(0); /* below a leaf */
    inner(b, -1, "", 'r', "a bigint");
    assert_int_equal(leaf(b, leaf(b, 0, FIRST, "L"), FIRST, "L"), -1);
    expect_refused(b);
    b = begin(0); /* a parent to come */
    inner(b, -1, "", 'r', "a bigint");
    assert_int_equal(leaf(b, 2, FIRST, "L"), -1);
    expect_refused(b);
    b = begin(0); /* no column */
    assert_int_equal(route_builder_inner(b, -1, "", 0, 'r', false, &column, 0),
                     -1);
    expect_refused(b);
    b = begin(0); /* no such group */
    leaf(b, -1, "", "P1024");
    expect_refused(b);
    expect_refused(begin(1024));
    b = begin(0); /* too deep */
    int at = inner(b, -1, "", 'r', "a bigint");
    for (int i = 0; i < ROUTE_MAP_DEPTH; i++) {
        at = inner(b, at, FIRST, 'r', "a bigint");
        assert_true(at >= 0);
    }
    assert_int_equal(inner(b, at, FIRST, 'r', "a bigint"), -1);
    expect_refused(b);
}

static void many_groups(void **state)
{
    struct route_builder *b = begin(1023);
    char claim[8];

    (void)state;
    inner(b, -1, "", 'l', "a bigint, b bigint");
    expect_refused(b = (inner(b, -1, "", 'l', "a bigint"), b));
    b = begin(1023);
    inner(b, -1, "", 'r', "a bigint, b bigint");
    for (unsigned i = 0; i < 1024; i++) {
        char bound[80];
        snprintf(bound, sizeof(bound),
                 "FOR VALUES FROM ('1', '%u') TO ('1', '%u')", i, i + 1);
        snprintf(claim, sizeof(claim), i == 1023 ? "L" : "P%u", i);
        leaf(b, 0, bound, claim);
    }
    struct route_map *map = finish(b);
    struct route_key *key;
    struct route_found found;
    assert_int_equal(route_key_parse("1", 1, &key, NULL), ROUTE_KEY_OK);
    route_map_find(map, key, &found, NULL);
    assert_int_equal(found.result, ROUTE_MAP_SEVERAL);
    for (unsigned i = 0; i < 1024; i++) {
        assert_true(route_groups_has(&found.groups, i));
        char text[32], want[32];
        snprintf(text, sizeof(text), "1,%u", i);
        snprintf(want, sizeof(want), "%u", i);
        expect_found(map, text, want);
    }
    route_key_free(key);
    expect_found(map, "2", "none");
    route_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims),
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(an_empty_answer_counts),
        cmocka_unit_test(a_table_without_partitions),
        cmocka_unit_test(refuses_what_is_no_tree),
        cmocka_unit_test(many_groups),
    };

    return cmocka_run_group_tests_name("route_map", tests, NULL, NULL);
}
