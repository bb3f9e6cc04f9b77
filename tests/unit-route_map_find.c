/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_map_find and route_map_path: each kind of partitioning, by hand. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit-route_map.h"

static struct route_builder *table(char strategy, const char *columns)
{
    struct route_builder *b = route_builder_new();

    assert_non_null(b);
    route_builder_answer(b, 0);
    inner(b, -1, "", strategy, columns);
    return b;
}

/* bound, claim, bound, claim, ..., NULL */
static struct route_map *partitions(struct route_builder *b, ...)
{
    va_list list;
    const char *bound;

    va_start(list, b);
    while ((bound = va_arg(list, const char *)) != NULL) {
        leaf(b, 0, bound, va_arg(list, const char *));
    }
    va_end(list);
    return finish(b);
}

static void range_of_two(void **state)
{
    struct route_map *map = partitions(
        table('r', "a integer, b text"),
        "FOR VALUES FROM (MINVALUE, MINVALUE) TO (10, 'm')", "P1",
        "FOR VALUES FROM (10, 'm') TO (20, MAXVALUE)", "P2",
        "FOR VALUES FROM (20, MAXVALUE) TO (30, MINVALUE)", "P3",
        "FOR VALUES FROM (40, 'a') TO (MAXVALUE, MAXVALUE)", "P4", NULL);

    (void)state;
    expect_found(map, "-3,zzz", "1");
    expect_found(map, "10,lzz", "1");
    expect_found(map, "10,m", "2");
    expect_found(map, "20,zzz", "2");
    expect_found(map, "21,\"\"", "3");
    expect_found(map, "29,zzz", "3");
    expect_found(map, "30,\"\"", "none");
    expect_found(map, "40,\"\"", "none");
    expect_found(map, "40,a", "4");
    expect_found(map, "99,x", "4");
    expect_found(map, "10,NULL", "none");
    expect_found(map, "NULL,x", "none");
    expect_found(map, "x,NULL", "bad"); /* read, though NULL decides */
    expect_found(map, "10", "1+2");     /* a prefix */
    expect_found(map, "20", "2");
    expect_found(map, "25", "3");
    expect_found(map, "30", "none");
    expect_found(map, "40", "4");
    expect_found(map, "x,y", "bad");
    expect_found(map, "1,2,3", "1"); /* nobody stores it: perhaps it has */
    route_map_free(map);
    map = partitions(table('r', "a integer, b text"),
                     "FOR VALUES FROM (10, 'm') TO (20, MAXVALUE)", "P2",
                     "DEFAULT", "P5", NULL);
    expect_found(map, "10,NULL", "5");
    expect_found(map, "10,a", "5");
    expect_found(map, "15", "2+5"); /* (15, NULL) is in DEFAULT */
    expect_found(map, "5", "5");
    expect_found(map, "NULL", "5");
    route_map_free(map);
}

/* Many boundaries, spread evenly and not: where a guess is good and where it
   is as wrong as can be. */
static void many_ranges(void **state)
{
    (void)state;
    for (int spread = 0; spread < 4; spread++) {
        enum { COUNT = 500 };
        struct route_builder *b = table('r', "id bigint");
        int64_t edge[COUNT + 1];
        char text[128], claim[8], want[8];
        srand(8);
        edge[0] = spread == 3 ? INT64_MIN : -1000;
        for (int i = 1; i <= COUNT; i++) {
            edge[i] = edge[i - 1] + (spread == 0   ? 10
                                     : spread == 1 ? 1 + rand() % 100
                                     : i < COUNT   ? 2
                                                   : INT64_C(1) << 61);
        }
        if (spread == 3) {
            edge[COUNT] = INT64_MAX;
        }
        for (int i = 0; i < COUNT; i++) {
            snprintf(text, sizeof(text), "FOR VALUES FROM ('%lld') TO ('%lld')",
                     (long long)edge[i], (long long)edge[i + 1]);
            snprintf(claim, sizeof(claim), "P%d", i % 100 + 1);
            leaf(b, 0, text, claim);
        }
        struct route_map *map = finish(b);
        for (int i = 0; i < COUNT; i++) {
            snprintf(want, sizeof(want), "%d", i % 100 + 1);
            snprintf(text, sizeof(text), "%lld", (long long)edge[i]);
            expect_found(map, text, want);
            snprintf(text, sizeof(text), "%lld", (long long)edge[i + 1] - 1);
            expect_found(map, text, want);
        }
        snprintf(text, sizeof(text), "%lld", (long long)edge[COUNT]);
        expect_found(map, text, "none");
        expect_found(map, "-9223372036854775808", spread == 3 ? "1" : "none");
        route_map_free(map);
    }
}

static void list_of_text(void **state)
{
    struct route_map *map = partitions(
        table('l', "c text"), "FOR VALUES IN ('eu', 'it''s')", "P1",
        "FOR VALUES IN ('us', NULL)", "P2", "FOR VALUES IN ('')", "P3", NULL);

    (void)state;
    expect_found(map, "eu", "1");
    expect_found(map, "it's", "1");
    expect_found(map, "us", "2");
    expect_found(map, "NULL", "2");
    expect_found(map, "\"\"", "3");
    expect_found(map, "\"NULL\"", "none");
    expect_found(map, "EU", "none");
    route_map_free(map);
    map = partitions(table('l', "c text"), "FOR VALUES IN ('a')", "P1",
                     "DEFAULT", "P2", NULL);
    expect_found(map, "NULL", "2");
    expect_found(map, "b", "2");
    route_map_free(map);
}

static void list_of_others(void **state)
{
    struct route_map *map =
        partitions(table('l', "n numeric"), "FOR VALUES IN ('1.50', '-2')",
                   "P1", "FOR VALUES IN ('NaN')", "P2", NULL);

    (void)state;
    expect_found(map, "1.5", "1");
    expect_found(map, "150e-2", "1");
    expect_found(map, "nan", "2");
    expect_found(map, "2", "none");
    expect_found(map, "two", "bad");
    route_map_free(map);
    map = partitions(table('l', "c character"), "FOR VALUES IN ('a   ')", "P1",
                     NULL);
    expect_found(map, "a", "1");
    expect_found(map, "\"a \"", "1");
    route_map_free(map);
    map = partitions(table('l', "f boolean"), "FOR VALUES IN (true)", "P1",
                     "FOR VALUES IN (false)", "P2", NULL);
    expect_found(map, "yes", "1");
    expect_found(map, "0", "2");
    route_map_free(map);
}

static void hash_with_mixed_moduli(void **state)
{
    struct route_map *map =
        partitions(table('h', "a bigint, b text"),
                   "FOR VALUES WITH (modulus 4, remainder 0)", "P1",
                   "FOR VALUES WITH (modulus 8, remainder 1)", "P2",
                   "FOR VALUES WITH (modulus 8, remainder 2)", "P3",
                   "FOR VALUES WITH (modulus 4, remainder 3)", "P4", NULL);

    (void)state;
    expect_found(map, "42,x", "2");    /* mod 8 = 1 (facts D2) */
    expect_found(map, "42,NULL", "3"); /* 2 */
    expect_found(map, "NULL,x", "4");  /* 7 */
    expect_found(map, "NULL,NULL", "1");
    expect_found(map, "42", "1+2+3+4");
    route_map_free(map);
}

/* A modulus that is too large for a table, and one that does not divide. */
static void hash_without_a_table(void **state)
{
    struct route_map *map =
        partitions(table('h', "a bigint"),
                   "FOR VALUES WITH (modulus 2147483647, remainder 1)", "P1",
                   "FOR VALUES WITH (modulus 4, remainder 2)", "P2",
                   "FOR VALUES WITH (modulus 3, remainder 2)", "P2",
                   "FOR VALUES WITH (modulus 4, remainder 1)", "P3", NULL);

    (void)state;
    expect_found(map, "42", "2");          /* mod 4 = 2 */
    expect_found(map, "1", "2");           /* mod 3 = 2 */
    expect_found(map, "123456789", "3");   /* mod 3 = 1, mod 4 = 1 */
    expect_found(map, "-1", "moving 2+3"); /* mod 3 = 2, mod 4 = 1 */
    route_map_free(map);
}

static void a_column_twice(void **state)
{
    struct route_builder *b = table('r', "ts date");
    int year = inner(b, 0, "FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
                     'r', "ts date, id bigint");

    (void)state;
    leaf(b, year,
         "FOR VALUES FROM ('2024-01-01', MINVALUE) TO "
         "('2024-07-01', '100')",
         "P1");
    leaf(b, year,
         "FOR VALUES FROM ('2024-07-01', '100') TO "
         "(MAXVALUE, MAXVALUE)",
         "P2");
    leaf(b, 0, "DEFAULT", "P3");
    struct route_map *map = finish(b);
    expect_found(map, "2024-03-01", "1");
    expect_found(map, "2024-07-01", "1+2");
    expect_found(map, "2024-07-01,99", "1");
    expect_found(map, "2024-07-01,100", "2");
    expect_found(map, "2024-08-01", "2");
    expect_found(map, "2025-01-01", "3");
    expect_found(map, "2025-01-01,5", "3");
    expect_found(map, "1 Jan 2024,5", "ask");
    expect_found(map, "2024-02-30,5", "bad");
    route_map_free(map);
}

/* Sub-trees with columns of their own: the second sub-key is what decides
   there. */
static void other_columns_below(void **state)
{
    struct route_builder *b = table('l', "region text");
    int eu = inner(b, 0, "FOR VALUES IN ('eu')", 'l', "country text");
    int us = inner(b, 0, "FOR VALUES IN ('us')", 'r', "zip integer");

    (void)state;
    leaf(b, eu, "FOR VALUES IN ('cz')", "L");
    leaf(b, us, "FOR VALUES FROM (0) TO (50000)", "P1");
    leaf(b, us, "FOR VALUES FROM (50000) TO (MAXVALUE)", "L");
    leaf(b, 0, "FOR VALUES IN ('aq')", "L");
    struct route_map *map = finish(b);
    expect_found(map, "eu,cz", "0");
    expect_found(map, "us,12345", "1");
    expect_found(map, "us", "0+1");
    expect_found(map, "us,cz", "bad");
    expect_found(map, "aq", "0");
    expect_found(map, "aq,7", "0"); /* others have a second column */
    expect_found(map, "aq,7,8", "bad");
    route_map_free(map);
}

static void left_to_the_server(void **state)
{
    struct route_map *map = partitions(
        table('r', "t !text"), "FOR VALUES FROM ('a') TO ('m')", "P1", NULL);

    (void)state;
    expect_found(map, "b", "ask");
    route_map_free(map);
    map = partitions(table('l', "- text"), "FOR VALUES IN ('a')", "P1", NULL);
    expect_found(map, "a", "ask");
    route_map_free(map);
    /* a bound that is not read: the whole level */
    map = partitions(table('r', "d date"),
                     "FOR VALUES FROM ('01.01.2024') TO ('2025-01-01')", "P1",
                     NULL);
    expect_found(map, "2024-05-05", "ask");
    route_map_free(map);
    map = partitions(table('r', "d integer"), "FOR VALUES IN (1)", "P1", NULL);
    expect_found(map, "1", "ask");
    route_map_free(map);
    struct route_builder *b = table('r', "a bigint");
    int one = inner(b, 0, "FOR VALUES FROM ('1') TO ('9')", 'r', "t !text");
    leaf(b, one, "FOR VALUES FROM ('a') TO ('m')", "P1");
    leaf(b, one, "FOR VALUES FROM ('m') TO ('z')", "P1");
    map = finish(b);
    expect_found(map, "5,b", "ask");
    expect_found(map, "5", "1"); /* whatever the server would say */
    expect_found(map, "9,b", "none");
    route_map_free(map);
}

static void reasons(void **state)
{
    struct route_map *map = partitions(
        table('r', "id bigint"), "FOR VALUES FROM ('1') TO ('9')", "L", NULL);
    struct route_key *key;
    struct route_found found;
    struct why why;

    (void)state;
    assert_int_equal(route_key_parse("abc", 3, &key, NULL), ROUTE_KEY_OK);
    route_map_find(map, key, &found, &why);
    assert_int_equal(found.result, ROUTE_MAP_BAD_KEY);
    assert_string_equal(why.text, "AffinityKey: sub-key 1, abc, is no bigint, "
                                  "which is the type of key column id");
    route_map_find(map, key, &found, NULL);
    route_key_free(key);
    assert_int_equal(route_key_parse("1,2", 3, &key, NULL), ROUTE_KEY_OK);
    route_map_find(map, key, &found, &why);
    assert_int_equal(found.result, ROUTE_MAP_BAD_KEY);
    assert_string_equal(why.text,
                        "AffinityKey has 2 sub-keys, but 1 key column decides");
    route_key_free(key);
    route_map_free(map);
}

static void expect_path(const struct route_map *map, const char *want, ...)
{
    struct route_step step[4];
    struct route_found found;
    size_t count = 0;
    va_list list;
    char got[64];

    va_start(list, want);
    while ((step[count].bound = va_arg(list, const char *)) != NULL) {
        step[count].length = strlen(step[count].bound);
        count++;
    }
    va_end(list);
    route_map_find_path(map, step, count, &found);
    print_found(&found, got, sizeof(got));
    assert_string_equal(got, want);
}

static void by_path(void **state)
{
    struct route_builder *b = table('r', "t !text");
    const char *a = "FOR VALUES FROM ('a') TO ('m')";
    const char *m = "FOR VALUES FROM ('m') TO ('z')";
    const char *h0 = "FOR VALUES WITH (modulus 2, remainder 0)";
    const char *h1 = "FOR VALUES WITH (modulus 2, remainder 1)";
    const char *low = "FOR VALUES FROM (MINVALUE) TO ('5')";
    const char *high = "FOR VALUES FROM ('5') TO (MAXVALUE)";
    int one = inner(b, 0, a, 'h', "k bigint");
    int two = inner(b, 0, m, 'r', "k bigint");

    (void)state;
    leaf(b, one, h0, "L");
    leaf(b, one, h1, "P3");
    leaf(b, two, low, "P4");
    leaf(b, two, high, "L");
    leaf(b, 0, "DEFAULT", "P1");
    struct route_map *map = finish(b);
    expect_path(map, "0", a, h0, NULL);
    expect_path(map, "3", a, h1, NULL);
    expect_path(map, "4", m, low, NULL);
    expect_path(map, "0", m, high, NULL);
    expect_path(map, "1", "DEFAULT", NULL);
    expect_path(map, "0+3", a, NULL);
    expect_path(map, "none", "FOR VALUES FROM ('b') TO ('c')", NULL);
    expect_path(map, "none", a, "FOR VALUES WITH (modulus 2, remainder 5)",
                NULL);
    expect_path(map, "none", m, "FOR VALUES FROM ('6') TO ('7')", NULL);
    route_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_of_two),
        cmocka_unit_test(many_ranges),
        cmocka_unit_test(list_of_text),
        cmocka_unit_test(list_of_others),
        cmocka_unit_test(hash_with_mixed_moduli),
        cmocka_unit_test(hash_without_a_table),
        cmocka_unit_test(a_column_twice),
        cmocka_unit_test(other_columns_below),
        cmocka_unit_test(left_to_the_server),
        cmocka_unit_test(reasons),
        cmocka_unit_test(by_path),
    };

    return cmocka_run_group_tests_name("route_map_find", tests, NULL, NULL);
}
