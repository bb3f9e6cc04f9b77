/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_map_merge: answers that agree, that disagree, and that reach down to
   different depths. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit-route_map.h"

#define LOW  "FOR VALUES FROM (MINVALUE) TO ('10')"
#define MID  "FOR VALUES FROM ('10') TO ('20')"
#define HIGH "FOR VALUES FROM ('20') TO (MAXVALUE)"

static struct route_builder *begin(void)
{
    struct route_builder *b = route_builder_new();

    assert_non_null(b);
    return b;
}

static void answer(struct route_builder *b, unsigned group)
{
    route_builder_answer(b, group);
    inner(b, -1, "", 'r', "id bigint");
}

static void order_is_nothing(void **state)
{
    struct route_builder *b = begin();
    struct route_counts counts;

    (void)state;
    answer(b, 0);
    leaf(b, 0, LOW, "L");
    leaf(b, 0, MID, "P1");
    leaf(b, 0, HIGH, "P1");
    answer(b, 1);
    leaf(b, 0, HIGH, "L");
    leaf(b, 0, LOW, "P0");
    leaf(b, 0, MID, "L");
    struct route_map *map = finish(b);
    expect_found(map, "-5", "0");
    expect_found(map, "9", "0");
    expect_found(map, "10", "1");
    expect_found(map, "20", "1");
    expect_found(map, "9223372036854775807", "1");
    expect_found(map, "-9223372036854775808", "0");
    expect_found(map, "NULL", "none");
    route_map_count(map, &counts);
    assert_int_equal(counts.leaves, 3);
    assert_int_equal(counts.inner, 1);
    assert_int_equal(counts.owned, 3);
    assert_int_equal(counts.ask, 0);
    route_map_free(map);
}

/* A new partition that only its owner has yet. */
static void one_more_partition(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 0);
    leaf(b, 0, LOW, "L");
    leaf(b, 0, MID, "P1");
    answer(b, 1);
    leaf(b, 0, LOW, "P0");
    leaf(b, 0, MID, "L");
    leaf(b, 0, HIGH, "L");
    struct route_map *map = finish(b);
    expect_found(map, "5", "0");
    expect_found(map, "15", "1");
    expect_found(map, "25", "1");
    route_map_free(map);
}

/* The same, where the others' DEFAULT takes its keys meanwhile. */
static void default_is_what_is_left(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 0);
    leaf(b, 0, LOW, "L");
    leaf(b, 0, "DEFAULT", "L");
    answer(b, 1);
    leaf(b, 0, LOW, "P0");
    leaf(b, 0, MID, "L");
    leaf(b, 0, "DEFAULT", "P0");
    struct route_map *map = finish(b);
    expect_found(map, "5", "0");
    expect_found(map, "15", "moving 0+1"); /* both take it */
    expect_found(map, "25", "0");
    expect_found(map, "NULL", "0");
    route_map_free(map);
}

/* Boundaries that were moved on one side. */
static void other_bounds(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 0);
    leaf(b, 0, "FOR VALUES FROM ('0') TO ('20')", "L");
    leaf(b, 0, "FOR VALUES FROM ('20') TO ('40')", "P1");
    answer(b, 1);
    leaf(b, 0, "FOR VALUES FROM ('0') TO ('10')", "P0");
    leaf(b, 0, "FOR VALUES FROM ('10') TO ('40')", "L");
    struct route_map *map = finish(b);
    expect_found(map, "5", "0");
    expect_found(map, "15", "moving 0+1");
    expect_found(map, "30", "1");
    expect_found(map, "40", "none");
    route_map_free(map);
}

static void other_strategy(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 0);
    leaf(b, 0, LOW, "L");
    leaf(b, 0, HIGH, "P1");
    route_builder_answer(b, 1);
    inner(b, -1, "", 'l', "id bigint");
    leaf(b, 0, "FOR VALUES IN ('5', '25')", "L");
    struct route_map *map = finish(b);
    expect_found(map, "5", "moving 0+1");
    expect_found(map, "6", "0");
    expect_found(map, "25", "1");
    expect_found(map, "26", "moving"); /* 0 points at 1, which has it not */
    expect_found(map, "15", "none");
    route_map_free(map);
}

/* The owner has sub-partitions, the other one foreign table for all of it. */
static void other_depth(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 0);
    int low = inner(b, 0, LOW, 'h', "k bigint");
    leaf(b, low, "FOR VALUES WITH (modulus 3, remainder 0)", "L");
    leaf(b, low, "FOR VALUES WITH (modulus 3, remainder 2)", "P2");
    leaf(b, 0, HIGH, "P1");
    answer(b, 1);
    leaf(b, 0, LOW, "P0");
    low = inner(b, 0, HIGH, 'h', "k bigint");
    leaf(b, low, "FOR VALUES WITH (modulus 2, remainder 0)", "L");
    leaf(b, low, "FOR VALUES WITH (modulus 2, remainder 1)", "L");
    struct route_map *map = finish(b);
    expect_found(map, "1,2", "0");            /* int8 2: remainder 0 of 3 */
    expect_found(map, "1,1", "2");            /* remainder 2 of 3 */
    expect_found(map, "1,123456789", "none"); /* remainder 1: not there */
    expect_found(map, "1", "0+2");
    expect_found(map, "30,1", "1");
    expect_found(map, "30", "1");
    route_map_free(map);
}

/* Before the owner has answered, more sub-keys than the foreign table shows
   columns are no error; a local leaf knows better. */
static void surplus_sub_keys(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 1);
    leaf(b, 0, LOW, "P0");
    leaf(b, 0, HIGH, "L");
    struct route_map *map = finish(b);
    expect_found(map, "1,77", "0");
    expect_found(map, "30,77", "bad");
    expect_found(map, "15,77", "none");
    route_map_free(map);
    b = begin();
    answer(b, 0);
    leaf(b, 0, LOW, "L");
    map = finish(b);
    expect_found(map, "15,77", "bad"); /* no partition, and too many */
    expect_found(map, "15", "none");
    route_map_free(map);
}

static void a_leaf_here_a_subtree_there(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 0);
    leaf(b, 0, LOW, "L"); /* both say it is theirs */
    answer(b, 1);
    int low = inner(b, 0, LOW, 'l', "t text");
    leaf(b, low, "FOR VALUES IN ('a')", "L");
    leaf(b, low, "FOR VALUES IN ('b')", "P0");
    struct route_map *map = finish(b);
    expect_found(map, "1,a", "moving 0+1");
    expect_found(map, "1,b", "0");
    expect_found(map, "1,c", "0"); /* 0 takes it, whatever 1 has */
    expect_found(map, "1", "moving 0");
    route_map_free(map);
}

/* What one answer knows below its own DEFAULT is not the other's. */
static void subtrees_of_default(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        answer(b, i);
        if (i == 1) {
            leaf(b, 0, MID, "L");
        }
        int rest = inner(b, 0, "DEFAULT", 'l', "t text");
        leaf(b, rest, "FOR VALUES IN ('a')", i == 0 ? "L" : "P0");
        leaf(b, rest, "FOR VALUES IN ('b')", i == 0 ? "P1" : "L");
    }
    struct route_map *map = finish(b);
    expect_found(map, "5,a", "0");
    expect_found(map, "5,b", "1");
    expect_found(map, "15,a", "moving 0+1");
    expect_found(map, "15,b", "1"); /* 0 says b of its DEFAULT is 1's */
    route_map_free(map);
}

static void a_column_of_another_collation(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    route_builder_answer(b, 0);
    inner(b, -1, "", 'r', "t text");
    leaf(b, 0, "FOR VALUES FROM ('a') TO ('m')", "L");
    route_builder_answer(b, 1);
    inner(b, -1, "", 'r', "t !text");
    leaf(b, 0, "FOR VALUES FROM ('a') TO ('m')", "P0");
    struct route_map *map = finish(b);
    expect_found(map, "b", "ask");
    route_map_free(map);
}

static void distrust(void **state)
{
    struct route_builder *b = begin();

    (void)state;
    answer(b, 0);
    int low = inner(b, 0, LOW, 'h', "k bigint");
    leaf(b, low, "FOR VALUES WITH (modulus 1, remainder 0)", "L");
    leaf(b, 0, HIGH, "L");
    route_builder_distrust(b, 'h');
    struct route_map *map = finish(b);
    expect_found(map, "30", "0");
    expect_found(map, "5,1", "ask");
    expect_found(map, "5", "0"); /* all of it: no need to ask */
    route_map_free(map);
}

static void key_columns(void **state)
{
    static const char *const want[] = {"ts", "id", "t", "k"};
    struct route_builder *b = begin();
    struct route_column column = {.name = NULL};

    (void)state;
    route_builder_answer(b, 0);
    inner(b, -1, "", 'r', "ts date, id bigint");
    int one = inner(b, 0, "DEFAULT", 'r', "ts date, t text");
    leaf(b, one, "DEFAULT", "L");
    inner(b, one,
          "FOR VALUES FROM (MINVALUE, MINVALUE) TO (MAXVALUE, MAXVALUE)", 'h',
          "k bigint");
    struct route_map *map = finish(b);
    for (size_t i = 0; i < 4; i++) {
        assert_true(route_map_column(map, i, &column));
        assert_string_equal(column.name, want[i]);
    }
    assert_false(route_map_column(map, 4, &column));
    route_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_nothing),
        cmocka_unit_test(one_more_partition),
        cmocka_unit_test(default_is_what_is_left),
        cmocka_unit_test(other_bounds),
        cmocka_unit_test(other_strategy),
        cmocka_unit_test(other_depth),
        cmocka_unit_test(surplus_sub_keys),
        cmocka_unit_test(a_leaf_here_a_subtree_there),
        cmocka_unit_test(subtrees_of_default),
        cmocka_unit_test(a_column_of_another_collation),
        cmocka_unit_test(distrust),
        cmocka_unit_test(key_columns),
    };

    return cmocka_run_group_tests_name("route_map_merge", tests, NULL, NULL);
}
