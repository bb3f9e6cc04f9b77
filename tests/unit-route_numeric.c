/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_numeric: reading, rounding left alone, and order against integers. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route_numeric.h"

static struct route_typing numeric(int32_t scale)
{
    struct route_typing typing = route_type_plain(ROUTE_TYPE_NUMERIC);

    typing.limit = scale;
    return typing;
}

static void expect(int32_t scale, const char *text, enum route_parse want)
{
    struct route_typing typing = numeric(scale);
    size_t length = strlen(text);
    unsigned char *scratch = malloc(ROUTE_TYPE_SCRATCH(length));
    struct route_datum datum;

    assert_non_null(scratch);
    if (route_type_parse(&typing, text, (uint32_t)length, scratch, &datum) !=
        want) {
        fail_msg("'%s' (scale %d)", text, scale);
    }
    if (want == ROUTE_PARSE_OK) {
        assert_true(datum.length <= ROUTE_TYPE_SCRATCH(length));
    }
    free(scratch);
}

static void reads(void **state)
{
    static const char *const yes[] = {
        "0",        "1",    "-1",        "+1",          ".5",    "5.",
        "1e5",      "1E+5", "1e-5",      " 1 ",         "NaN",   "nan",
        "Infinity", "-inf", "+Infinity", "000123.4500", "1e6999"};
    static const char *const no[] = {"",    " ",    ".",     "-",       "e5",
                                     "1e",  "1e+",  "1.2.3", "abc",     "1 2",
                                     "--1", "-nan", "1,5",   "infinit", "1x"};
    static const char *const perhaps[] = {"1e7001", "1e99999999999", "0x1F",
                                          "1_000", "0b11"};

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        expect(-1, yes[i], ROUTE_PARSE_OK);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        expect(-1, no[i], ROUTE_PARSE_BAD);
    }
    for (size_t i = 0; i < sizeof(perhaps) / sizeof(perhaps[0]); i++) {
        expect(-1, perhaps[i], ROUTE_PARSE_UNSURE);
    }
}

static void leaves_rounding_to_the_server(void **state)
{
    (void)state;
    expect(2, "1.25", ROUTE_PARSE_OK);
    expect(2, "1.2500", ROUTE_PARSE_OK);
    expect(2, "1.255", ROUTE_PARSE_UNSURE);
    expect(2, "125e-2", ROUTE_PARSE_OK);
    expect(2, "1255e-3", ROUTE_PARSE_UNSURE);
    expect(0, "100", ROUTE_PARSE_OK);
    expect(0, "0.5", ROUTE_PARSE_UNSURE);
    expect(0, "0.0", ROUTE_PARSE_OK);
}

static int64_t randomly(int64_t limit)
{
    int64_t value = (int64_t)rand() << 31 ^ rand();

    return value % limit * (rand() % 2 ? 1 : -1);
}

/* value / 10^scale, written in a random one of the ways to write it. */
static void spell(int64_t value, int scale, char *text, size_t room)
{
    int64_t power = 1;

    for (int i = 0; i < scale; i++) {
        power *= 10;
    }
    if (rand() % 3 == 0) {
        snprintf(text, room, "%lld%se-%d", (long long)value,
                 rand() % 2 ? ".0" : "", scale);
        return;
    }
    long long whole = llabs((long long)value) / power;
    long long part = llabs((long long)value) % power;
    snprintf(text, room, "%s%s%lld.%0*lld%s", value < 0 ? "-" : "",
             rand() % 2 ? "0" : "", whole, scale + (scale == 0), part,
             rand() % 2 ? "000" : "");
}

/* The order of decimals is that of the integers they are made from. */
static void order(void **state)
{
    struct route_typing typing = numeric(-1);

    (void)state;
    srand(4);
    for (int i = 0; i < 200000; i++) {
        char text[2][64];
        unsigned char scratch[2][128];
        struct route_datum datum[2];
        int64_t limit = 1, value[2];
        int scale = rand() % 10;
        for (int digits = rand() % 15; digits >= 0; digits--) {
            limit *= 10;
        }
        for (int j = 0; j < 2; j++) {
            value[j] = j == 1 && rand() % 4 == 0 ? value[0] + rand() % 3 - 1
                                                 : randomly(limit);
            spell(value[j], scale, text[j], sizeof(text[j]));
            assert_int_equal(route_type_parse(&typing, text[j],
                                              (uint32_t)strlen(text[j]),
                                              scratch[j], &datum[j]),
                             ROUTE_PARSE_OK);
        }
        int got = route_type_compare(ROUTE_TYPE_NUMERIC, &datum[0], &datum[1]);
        int want = (value[0] > value[1]) - (value[0] < value[1]);
        if ((got > 0) - (got < 0) != want) {
            fail_msg("'%s' against '%s': %d", text[0], text[1], got);
        }
    }
}

static void digits(void **state)
{
    struct route_typing typing = numeric(-1);
    unsigned char scratch[64];
    struct route_datum datum;

    (void)state;
    for (int sign = 0; sign < 2; sign++) {
        const char *text = sign ? "-12345678.9012" : "12345678.9012";
        assert_int_equal(route_type_parse(&typing, text, (uint32_t)strlen(text),
                                          scratch, &datum),
                         ROUTE_PARSE_OK);
        assert_int_equal(route_numeric_weight(&datum), 1);
        assert_int_equal(route_numeric_digits(&datum), 3);
        assert_int_equal(route_numeric_digit(&datum, 0), 1234);
        assert_int_equal(route_numeric_digit(&datum, 1), 5678);
        assert_int_equal(route_numeric_digit(&datum, 2), 9012);
    }
    assert_int_equal(route_type_parse(&typing, "1e-5", 4, scratch, &datum),
                     ROUTE_PARSE_OK);
    assert_int_equal(route_numeric_weight(&datum), -2);
    assert_int_equal(route_numeric_digit(&datum, 0), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(leaves_rounding_to_the_server),
        cmocka_unit_test(order),
        cmocka_unit_test(digits),
    };

    return cmocka_run_group_tests_name("route_numeric", tests, NULL, NULL);
}
