/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_map_walk: every node is visited, with the bound PostgreSQL prints. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit-route_map.h"

struct lines {
    char text[4000];
    size_t length;
    int left; /* stop after so many visits */
    size_t longest;
};

static bool note(const struct route_visit *visit, void *to)
{
    struct lines *lines = to;
    char found[64] = "";

    if (visit->leaf) {
        print_found(&visit->found, found, sizeof(found));
    } else {
        snprintf(found, sizeof(found), "%c%s %zu:%s/%u", visit->strategy,
                 visit->ask ? " ask" : "", visit->columns,
                 visit->column[0].name, visit->modulus);
    }
    lines->length += (size_t)snprintf(
        lines->text + lines->length, sizeof(lines->text) - lines->length,
        "%u %s => %s\n", visit->depth, visit->path, found);
    if (strlen(visit->path) > lines->longest) {
        lines->longest = strlen(visit->path);
    }
    return --lines->left != 0;
}

static void expect_walk(const struct route_map *map, const char *want)
{
    struct lines lines = {.left = -1};

    route_map_walk(map, note, &lines);
    assert_string_equal(lines.text, want);
}

static void integers(void **state)
{
    static const char *const types[] = {"a bigint", "a integer"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct route_builder *b = route_builder_new();
        assert_non_null(b);
        route_builder_answer(b, 2);
        inner(b, -1, "", 'r', types[i]);
        leaf(b, 0, "DEFAULT", "?");
        leaf(b, 0, "FOR VALUES FROM ('20') TO (MAXVALUE)", "P2");
        leaf(b, 0, "FOR VALUES FROM ('-10') TO ('0')", "P1");
        leaf(b, 0, "FOR VALUES FROM (MINVALUE) TO ('-10')", "L");
        struct route_map *map = finish(b);
        expect_walk(
            map, i == 1 ? "0  => r 1:a/0\n"
                          "1 FOR VALUES FROM (MINVALUE) TO ('-10') => 2\n"
                          "1 FOR VALUES FROM ('-10') TO (0) => 1\n"
                          "1 FOR VALUES FROM (20) TO (MAXVALUE) => moving\n"
                          "1 DEFAULT => unresolved\n"
                        : "0  => r 1:a/0\n"
                          "1 FOR VALUES FROM (MINVALUE) TO ('-10') => 2\n"
                          "1 FOR VALUES FROM ('-10') TO ('0') => 1\n"
                          "1 FOR VALUES FROM ('20') TO (MAXVALUE) => moving\n"
                          "1 DEFAULT => unresolved\n");
        route_map_free(map);
    }
}

/* Those of a LIST of integers, too, if each takes one. */
static void integers_one_by_one(void **state)
{
    static const char *const types[] = {"a bigint", "a integer"};
    (void)state;

    for (int i = 0; i < 2; i++) {
        struct route_builder *b = route_builder_new();
        struct route_counts counts;
        assert_non_null(b);
        route_builder_answer(b, 2);
        inner(b, -1, "", 'l', types[i]);
        leaf(b, 0, "DEFAULT", "?");
        leaf(b, 0, "FOR VALUES IN ('20')", "P2");
        leaf(b, 0, "FOR VALUES IN ('-10')", "L");
        leaf(b, 0, "FOR VALUES IN ('7')", "P1");
        struct route_map *map = finish(b);
        expect_walk(map, i == 1 ? "0  => l 1:a/0\n"
                                  "1 FOR VALUES IN ('-10') => 2\n"
                                  "1 FOR VALUES IN (7) => 1\n"
                                  "1 FOR VALUES IN (20) => moving\n"
                                  "1 DEFAULT => unresolved\n"
                                : "0  => l 1:a/0\n"
                                  "1 FOR VALUES IN ('-10') => 2\n"
                                  "1 FOR VALUES IN ('7') => 1\n"
                                  "1 FOR VALUES IN ('20') => moving\n"
                                  "1 DEFAULT => unresolved\n");
        route_map_count(map, &counts);
        assert_int_equal(counts.leaves, 4);
        route_map_free(map);
    }
}

/* One that takes several, or NULL, keeps the texts of all as they are. */
static void integers_together(void **state)
{
    static const char *const last[] = {"FOR VALUES IN ('9', '4')",
                                       "FOR VALUES IN ('4', NULL)",
                                       "FOR VALUES IN (NULL)"};
    (void)state;

    for (int i = 0; i < 3; i++) {
        struct route_builder *b = route_builder_new();
        char want[200];
        assert_non_null(b);
        route_builder_answer(b, 0);
        inner(b, -1, "", 'l', "a bigint");
        leaf(b, 0, "FOR VALUES IN ('7')", "L");
        leaf(b, 0, last[i], "L");
        struct route_map *map = finish(b);
        snprintf(want, sizeof(want),
                 "0  => l 1:a/0\n1 FOR VALUES IN ('7') => 0\n1 %s => 0\n",
                 last[i]);
        expect_walk(map, want);
        route_map_free(map);
    }
}

static void levels(void **state)
{
    struct route_builder *b = route_builder_new();
    (void)state;

    assert_non_null(b);
    route_builder_answer(b, 0);
    inner(b, -1, "", 'l', "region text");
    int eu = inner(b, 0, "FOR VALUES IN ('eu', 'it''s', NULL)", 'h',
                   "id bigint, t text");
    leaf(b, eu, "FOR VALUES WITH (modulus 4, remainder 3)", "L");
    leaf(b, eu, "FOR VALUES WITH (modulus 2, remainder 0)", "P1");
    leaf(b, eu, "FOR VALUES WITH (modulus 4, remainder 1)", "P1");
    int us = inner(b, 0, "FOR VALUES IN ('us')", 'r', "d !date");
    leaf(b, us, "FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')", "L");
    leaf(b, us, "DEFAULT", "P3");
    struct route_map *map = finish(b);
    expect_walk(map, "0  => l 1:region/0\n"
                     "1 FOR VALUES IN ('eu', 'it''s', NULL) => h 2:id/4\n"
                     "2 FOR VALUES IN ('eu', 'it''s', NULL) / "
                     "FOR VALUES WITH (modulus 2, remainder 0) => 1\n"
                     "2 FOR VALUES IN ('eu', 'it''s', NULL) / "
                     "FOR VALUES WITH (modulus 4, remainder 1) => 1\n"
                     "2 FOR VALUES IN ('eu', 'it''s', NULL) / "
                     "FOR VALUES WITH (modulus 4, remainder 3) => 0\n"
                     "1 FOR VALUES IN ('us') => r ask 1:d/0\n"
                     "2 FOR VALUES IN ('us') / "
                     "FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') => 0\n"
                     "2 FOR VALUES IN ('us') / DEFAULT => 3\n");
    struct route_counts counts;
    route_map_count(map, &counts);
    assert_int_equal(counts.inner, 3);
    assert_int_equal(counts.leaves, 5);
    assert_int_equal(counts.owned, 5);
    assert_int_equal(counts.ask, 1);
    route_map_free(map);
}

static void disagreement(void **state)
{
    struct route_builder *b = route_builder_new();
    (void)state;

    assert_non_null(b);
    for (unsigned i = 0; i < 2; i++) {
        route_builder_answer(b, i);
        inner(b, -1, "", i == 0 ? 'r' : 'h', "id bigint");
        leaf(b, 0,
             i == 0 ? "FOR VALUES FROM ('1') TO ('2')"
                    : "FOR VALUES WITH (modulus 1, remainder 0)",
             "L");
    }
    struct route_map *map = finish(b);
    expect_walk(map, "0  => h 1:id/1\n"
                     "1 FOR VALUES WITH (modulus 1, remainder 0) => 1\n"
                     "0  => r 1:id/0\n"
                     "1 FOR VALUES FROM ('1') TO ('2') => 0\n");
    route_map_free(map);
}

static void stops(void **state)
{
    struct route_builder *b = route_builder_new();
    (void)state;

    assert_non_null(b);
    route_builder_answer(b, 0);
    inner(b, -1, "", 'h', "id bigint");
    leaf(b, 0, "FOR VALUES WITH (modulus 2, remainder 0)", "L");
    leaf(b, 0, "FOR VALUES WITH (modulus 2, remainder 1)", "L");
    struct route_map *map = finish(b);
    for (int visits = 1; visits <= 3; visits++) {
        struct lines lines = {.left = visits};
        route_map_walk(map, note, &lines);
        int got = 0;
        for (size_t i = 0; i < lines.length; i++) {
            got += lines.text[i] == '\n';
        }
        assert_int_equal(got, visits);
    }
    route_map_free(map);
}

/* A list longer than the path has room for, and levels below it. */
static void long_paths(void **state)
{
    struct route_builder *b = route_builder_new();
    char bound[3000] = "FOR VALUES IN (";
    (void)state;

    assert_non_null(b);
    for (int i = 0; i < 300; i++) {
        size_t at = strlen(bound);
        snprintf(bound + at, sizeof(bound) - at, "%s'ž%d'", i ? ", " : "", i);
    }
    strcat(bound, ")");
    route_builder_answer(b, 0);
    inner(b, -1, "", 'l', "t text");
    leaf(b, inner(b, 0, bound, 'l', "u text"), bound, "L");
    leaf(b, 0, "FOR VALUES IN ('short')", "P1");
    struct route_map *map = finish(b);
    struct lines lines = {.left = -1};
    route_map_walk(map, note, &lines);
    assert_true(lines.longest > 1000 && lines.longest < 1024);
    assert_non_null(strstr(lines.text, "... => 0\n"));
    assert_non_null(strstr(lines.text, "1 FOR VALUES IN ('short') => 1\n"));
    assert_null(strstr(lines.text, "... /"));
    route_map_free(map);
}

/* What the walk prints leads back to the same leaf. */
static bool follow(const struct route_visit *visit, void *to)
{
    struct route_step step[4];
    struct route_found found;
    size_t count = 0;
    const char *at = visit->path;

    while (visit->leaf && at) {
        const char *next = strstr(at, " / ");
        step[count].bound = at;
        step[count++].length = next ? (size_t)(next - at) : strlen(at);
        at = next ? next + 3 : NULL;
    }
    if (visit->leaf) {
        route_map_find_path(to, step, count, &found);
        assert_int_equal(found.result, visit->found.result);
        if (found.result == ROUTE_MAP_OWNER) {
            assert_int_equal(found.group, visit->found.group);
        }
    }
    return true;
}

static void paths_lead_back(void **state)
{
    struct route_builder *b = route_builder_new();
    (void)state;

    assert_non_null(b);
    route_builder_answer(b, 0);
    inner(b, -1, "", 'r', "id bigint");
    for (int i = 0; i < 50; i++) {
        char bound[100], claim[16];
        snprintf(bound, sizeof(bound), "FOR VALUES FROM ('%d') TO ('%d')",
                 i * 10 - 100, i * 10 - 90);
        int at = inner(b, 0, bound, 'h', "k bigint");
        for (int j = 0; j < 3; j++) {
            snprintf(bound, sizeof(bound),
                     "FOR VALUES WITH (modulus 3, remainder %d)", j);
            snprintf(claim, sizeof(claim), "P%d", i * 3 + j);
            leaf(b, at, bound, claim);
        }
    }
    struct route_map *map = finish(b);
    route_map_walk(map, follow, map);
    route_map_free(map);
}

static void values_lead_back(void **state)
{
    static const char *const strangers[] = {
        "FOR VALUES IN ('31')", "FOR VALUES IN ('30', '40')",
        "FOR VALUES IN (NULL)", "FOR VALUES FROM ('30') TO ('40')",
        "FOR VALUES IN ('999999999999999999999999999999999999999999999999999')"};
    struct route_builder *b = route_builder_new();
    (void)state;

    assert_non_null(b);
    route_builder_answer(b, 0);
    inner(b, -1, "", 'l', "id bigint");
    for (int i = 0; i < 50; i++) {
        char bound[100], claim[16];
        snprintf(bound, sizeof(bound), "FOR VALUES IN ('%d')", i * 10 - 100);
        snprintf(claim, sizeof(claim), "P%d", i);
        leaf(b, 0, bound, claim);
    }
    struct route_map *map = finish(b);
    route_map_walk(map, follow, map);
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        struct route_step step = {strangers[i], strlen(strangers[i])};
        struct route_found found;
        route_map_find_path(map, &step, 1, &found);
        assert_int_equal(found.result, ROUTE_MAP_NONE);
    }
    route_map_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),     cmocka_unit_test(levels),
        cmocka_unit_test(disagreement), cmocka_unit_test(stops),
        cmocka_unit_test(long_paths),   cmocka_unit_test(paths_lead_back),
        cmocka_unit_test(integers_one_by_one),
        cmocka_unit_test(integers_together),
        cmocka_unit_test(values_lead_back),
    };

    return cmocka_run_group_tests_name("route_map_walk", tests, NULL, NULL);
}
