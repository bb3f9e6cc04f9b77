/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_source: ranges, lists and remainders of map files and queries. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "route_source.h"
#include "unit-route_map.h"

static struct route_typing int8, text;
static struct route_builder *b;
static struct why why;

static int setup(void **state)
{
    (void)state;
    int8 = route_type_plain(ROUTE_TYPE_INT8);
    text = route_type_plain(ROUTE_TYPE_TEXT);
    b = route_builder_new();
    return b ? 0 : -1;
}

static void begin(unsigned group, char strategy)
{
    route_source_begin(b, group, strategy, "key", int8);
}

static void range(const char *low, const char *high)
{
    if (!route_source_range(b, int8, low, high, &why)) {
        fail_msg("%s", why.text);
    }
}

static void ranges(void **state)
{
    (void)state;
    begin(0, 'r');
    range(NULL, "0");
    range("100", "200");
    begin(1, 'r');
    range("0", "100");
    range("150", "160"); /* 0 claims it as well */
    range("500", NULL);
    struct route_map *map = finish(b);
    expect_found(map, "-1", "0");
    expect_found(map, "0", "1");
    expect_found(map, "99", "1");
    expect_found(map, "149", "0");
    expect_found(map, "150", "moving 0+1");
    expect_found(map, "160", "0");
    expect_found(map, "200", "none");
    expect_found(map, "9223372036854775807", "1");
    expect_found(map, "1,2", "bad");
    route_map_free(map);
}

static void one_groups_own_overlap_is_harmless(void **state)
{
    (void)state;
    begin(0, 'r');
    range("0", "100");
    range("50", "150");
    range("50", "150");
    begin(0, 'l');
    assert_true(route_source_value(b, int8, "75", &why));
    assert_true(route_source_value(b, int8, "1000", &why));
    begin(1, 'l');
    assert_true(route_source_value(b, int8, "2000", &why));
    assert_true(route_source_value(b, int8, NULL, &why));
    assert_true(route_source_value(b, int8, "80", &why));
    struct route_map *map = finish(b);
    expect_found(map, "40", "0");
    expect_found(map, "75", "0");
    expect_found(map, "149", "0");
    expect_found(map, "1000", "0");
    expect_found(map, "2000", "1");
    expect_found(map, "80", "moving 0+1");
    expect_found(map, "NULL", "1");
    expect_found(map, "3000", "none");
    route_map_free(map);
}

static void texts(void **state)
{
    (void)state;
    route_source_begin(b, 0, 'r', "key", text);
    assert_true(route_source_range(b, text, NULL, "it's", &why));
    route_source_begin(b, 1, 'r', "key", text);
    assert_true(route_source_range(b, text, "it's", NULL, &why));
    struct route_map *map = finish(b);
    expect_found(map, "it", "0");
    expect_found(map, "it's", "1");
    expect_found(map, "\"\"", "0");
    expect_found(map, "ž", "1");
    route_map_free(map);
}

static void remainders(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        begin(i, 'h');
        assert_true(route_source_hash(b, 4, i, &why));
    }
    struct route_map *map = finish(b);
    expect_found(map, "0", "0"); /* facts D2: mod 4 */
    expect_found(map, "42", "2");
    expect_found(map, "-1", "1");
    route_map_free(map);
}

static void refused(bool taken, const char *word)
{
    assert_false(taken);
    assert_int_equal(why.code, WHY_VALUE);
    if (!strstr(why.text, word)) {
        fail_msg("<%s> does not say <%s>", why.text, word);
    }
}

static void refuses(void **state)
{
    struct route_typing date = route_type_plain(ROUTE_TYPE_DATE);

    (void)state;
    begin(0, 'r');
    refused(route_source_range(b, int8, "x", "5", &why), "x is no bigint");
    refused(route_source_range(b, int8, "5", "1y", &why), "1y is no bigint");
    refused(route_source_range(b, int8, "5", "5", &why), "empty");
    refused(route_source_range(b, int8, "6", "5", &why), "from 6 to 5");
    refused(route_source_value(b, int8, "", &why), "no bigint");
    refused(route_source_value(b, date, "1 May 2024", &why), "ISO 8601");
    refused(route_source_hash(b, 0, 0, &why), "modulus");
    refused(route_source_hash(b, 4, 4, &why), "remainder 4");
    refused(route_source_hash(b, UINT64_C(1) << 40, 4, &why), "2147483647");
    range("1", "2");
    struct route_map *map = finish(b); /* nothing wrong is left behind */
    expect_found(map, "1", "0");
    expect_found(map, "2", "none");
    route_map_free(map);
}

/* Every key of many random ranges of many groups, by trying all of them. */
static void random_ranges(void **state)
{
    (void)state;
    srand(7);
    route_builder_free(b);
    for (int round = 0; round < 300; round++) {
        int low[40], high[40], group[40], count = rand() % 40;
        assert_int_equal(setup(NULL), 0);
        for (int g = 0; g < 5; g++) {
            begin((unsigned)g, 'r');
            for (int i = g; i < count; i += 5) {
                char from[16], to[16];
                low[i] = rand() % 200;
                high[i] = low[i] + 1 + rand() % (round % 40 + 1);
                group[i] = g;
                snprintf(from, sizeof(from), "%d", low[i]);
                snprintf(to, sizeof(to), "%d", high[i]);
                range(from, to);
            }
        }
        struct route_map *map = finish(b);
        for (int key = -1; key < 245; key++) {
            bool has[5] = {false};
            int claims = 0, owner = 0;
            struct route_found found;
            struct route_key *parsed;
            char spelt[16];
            for (int i = 0; i < count; i++) {
                has[group[i]] |= low[i] <= key && key < high[i];
            }
            for (int g = 0; g < 5; g++) {
                claims += has[g];
                owner = has[g] ? g : owner;
            }
            snprintf(spelt, sizeof(spelt), "%d", key);
            assert_int_equal(
                route_key_parse(spelt, strlen(spelt), &parsed, NULL),
                ROUTE_KEY_OK);
            route_map_find(map, parsed, &found, NULL);
            route_key_free(parsed);
            assert_int_equal(found.result, claims == 0   ? ROUTE_MAP_NONE
                                           : claims == 1 ? ROUTE_MAP_OWNER
                                                         : ROUTE_MAP_MOVING);
            if (claims == 1) {
                assert_int_equal(found.group, owner);
            }
        }
        route_map_free(map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ranges, setup),
        cmocka_unit_test_setup(one_groups_own_overlap_is_harmless, setup),
        cmocka_unit_test_setup(texts, setup),
        cmocka_unit_test_setup(remainders, setup),
        cmocka_unit_test_setup(refuses, setup),
        cmocka_unit_test_setup(random_ranges, setup),
    };

    return cmocka_run_group_tests_name("route_source", tests, NULL, NULL);
}
