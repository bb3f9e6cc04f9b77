/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_literal: which texts are values, which are not, and which are left to
   the server. */
#include "autoconf.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit-route_parse.h"

static void integers(void **state)
{
    static const struct case_of int8s[] = {
        {"0", OK, 0},
        {"-0", OK, 0},
        {"+5", OK, 5},
        {" 42 ", OK, 42},
        {"\t7\n", OK, 7},
        {"007", OK, 7},
        {"9223372036854775807", OK, INT64_MAX},
        {"-9223372036854775808", OK, INT64_MIN},
        {"9223372036854775808", BAD, 0},
        {"-9223372036854775809", BAD, 0},
        {"18446744073709551616", BAD, 0},
        {"99999999999999999999999", BAD, 0},
        {"", BAD, 0},
        {" ", BAD, 0},
        {"-", BAD, 0},
        {"abc", BAD, 0},
        {"1.0", BAD, 0},
        {"1e3", UNSURE, 0},
        {"1 2", BAD, 0},
        {"--1", BAD, 0},
        {"+-1", BAD, 0},
        {"0x1F", UNSURE, 0},
        {"1_000", UNSURE, 0},
        {"0b1", UNSURE, 0},
        {"1z", BAD, 0},
        {NULL, 0, 0}};
    static const struct case_of int4s[] = {{"2147483647", OK, INT32_MAX},
                                           {"-2147483648", OK, INT32_MIN},
                                           {"2147483648", BAD, 0},
                                           {"-2147483649", BAD, 0},
                                           {NULL, 0, 0}};
    static const struct case_of int2s[] = {{"32767", OK, 32767},
                                           {"-32768", OK, -32768},
                                           {"32768", BAD, 0},
                                           {"-32769", BAD, 0},
                                           {NULL, 0, 0}};
    static const struct case_of oids[] = {{"0", OK, 0},
                                          {"4294967295", OK, 4294967295},
                                          {"4294967296", UNSURE, 0},
                                          {"-1", UNSURE, 0},
                                          {NULL, 0, 0}};

    (void)state;
    expect(route_type_plain(ROUTE_TYPE_INT8), int8s);
    expect(route_type_plain(ROUTE_TYPE_INT4), int4s);
    expect(route_type_plain(ROUTE_TYPE_INT2), int2s);
    expect(route_type_plain(ROUTE_TYPE_OID), oids);
}

static void truth(void **state)
{
    static const struct case_of cases[] = {
        {"t", OK, 1},   {"TRUE", OK, 1},   {"tru", OK, 1}, {"y", OK, 1},
        {"Yes", OK, 1}, {"on", OK, 1},     {"1", OK, 1},   {" true ", OK, 1},
        {"f", OK, 0},   {"false", OK, 0},  {"n", OK, 0},   {"no", OK, 0},
        {"of", OK, 0},  {"off", OK, 0},    {"0", OK, 0},   {"o", BAD, 0},
        {"", BAD, 0},   {"trues", BAD, 0}, {"2", BAD, 0},  {"10", BAD, 0},
        {NULL, 0, 0}};

    (void)state;
    expect(route_type_plain(ROUTE_TYPE_BOOL), cases);
}

static double as_double(enum route_type type, const char *text)
{
    struct route_typing typing = route_type_plain(type);
    struct route_datum datum;
    unsigned char *scratch;

    assert_int_equal(parse(&typing, text, &datum, &scratch), OK);
    free(scratch);
    return route_type_to_double(datum.fixed);
}

static void floats(void **state)
{
    static const char *const no[] = {"1e400", "-1e400", "1e-400", "",     " ",
                                     "abc",   ".",      "1e",     "1.2.3"};
    static const char *const perhaps[] = {"0x1p3", "nan(1)", "-nan", "1_0"};
    struct route_typing typing = route_type_plain(ROUTE_TYPE_FLOAT8);
    struct route_datum datum;
    unsigned char *scratch;

    (void)state;
    assert_true(as_double(ROUTE_TYPE_FLOAT8, "0.1") == 0.1);
    assert_true(as_double(ROUTE_TYPE_FLOAT8, " -1.5e3 ") == -1500);
    assert_true(as_double(ROUTE_TYPE_FLOAT8, ".5") == 0.5);
    assert_true(as_double(ROUTE_TYPE_FLOAT8, "5.") == 5);
    assert_true(as_double(ROUTE_TYPE_FLOAT8, "5e-324") > 0);
    assert_true(as_double(ROUTE_TYPE_FLOAT8, "1.7976931348623157e308") <
                as_double(ROUTE_TYPE_FLOAT8, "infinity"));
    assert_true(as_double(ROUTE_TYPE_FLOAT8, "-INF") < -1e308);
    assert_true(as_double(ROUTE_TYPE_FLOAT4, "0.1") == (double)0.1f);
    /* rounded once: by way of a double it would be 1.00000018 */
    assert_true(as_double(ROUTE_TYPE_FLOAT4, "1.00000017881393432617187499") ==
                (double)1.00000011920928955078125f);
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        assert_int_equal(parse(&typing, no[i], &datum, &scratch), BAD);
        free(scratch);
    }
    for (size_t i = 0; i < sizeof(perhaps) / sizeof(perhaps[0]); i++) {
        assert_int_equal(parse(&typing, perhaps[i], &datum, &scratch), UNSURE);
        free(scratch);
    }
    typing.type = ROUTE_TYPE_FLOAT4;
    assert_int_equal(parse(&typing, "1e39", &datum, &scratch), BAD);
    free(scratch);
}

/* Nothing of the application is touched or minded. */
static void good_guest(void **state)
{
    (void)state;
    errno = 4711;
    struct route_typing typing = route_type_plain(ROUTE_TYPE_FLOAT8);
    struct route_datum datum;
    unsigned char *scratch;
    assert_int_equal(parse(&typing, "1e400", &datum, &scratch), BAD);
    free(scratch);
    assert_int_equal(errno, 4711);
    /* cmocka's skip() is no TAP skip; without such a locale this says less */
    if (!setlocale(LC_ALL, "de_DE.UTF-8") &&
        !setlocale(LC_ALL, "cs_CZ.UTF-8")) {
        print_message("# no locale with a decimal comma here\n");
    }
    assert_true(as_double(ROUTE_TYPE_FLOAT8, "1.5") == 1.5);
    setlocale(LC_ALL, "C");
}

static void uuids(void **state)
{
    static const char *const yes[] = {
        "123e4567-e89b-12d3-a456-426614174000",
        "123E4567-E89B-12D3-A456-426614174000",
        "{123e4567-e89b-12d3-a456-426614174000}",
        "123e4567e89b12d3a456426614174000",
        "123e-4567-e89b-12d3-a456-4266-1417-4000"};
    static const char *const no[] = {"",
                                     "123e4567",
                                     "123e4567-e89b-12d3-a456-42661417400",
                                     "123e4567-e89b-12d3-a456-4266141740000",
                                     "{123e4567-e89b-12d3-a456-426614174000",
                                     "123e4567-e89b-12d3-a456-426614174000}",
                                     " 123e4567-e89b-12d3-a456-426614174000",
                                     "12-3e4567e89b12d3a456426614174000",
                                     "123e4567e89b12d3a456426614174000-",
                                     "g23e4567e89b12d3a456426614174000"};
    struct route_typing typing = route_type_plain(ROUTE_TYPE_UUID);
    struct route_datum datum;
    unsigned char *scratch;

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        assert_int_equal(parse(&typing, yes[i], &datum, &scratch), OK);
        assert_int_equal(datum.length, 16);
        assert_memory_equal(datum.bytes,
                            "\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66"
                            "\x14\x17\x40\x00",
                            16);
        free(scratch);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (parse(&typing, no[i], &datum, &scratch) != BAD) {
            fail_msg("uuid '%s' is taken", no[i]);
        }
        free(scratch);
    }
}

static void byteas(void **state)
{
    static const struct {
        const char *text, *bytes;
        uint32_t length;
    } yes[] = {{"\\x", "", 0},
               {"\\x00ff", "\0\xff", 2},
               {"\\xAB cd", "\xab\xcd", 2},
               {"abc", "abc", 3},
               {"a\\\\b", "a\\b", 3},
               {"\\000\\377", "\0\xff", 2},
               {"", "", 0}};
    static const char *const no[] = {"\\x0",  "\\x0g", "\\",  "\\a",
                                     "\\400", "\\18",  "a\\1"};
    struct route_typing typing = route_type_plain(ROUTE_TYPE_BYTEA);
    struct route_datum datum;
    unsigned char *scratch;

    (void)state;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        assert_int_equal(parse(&typing, yes[i].text, &datum, &scratch), OK);
        assert_int_equal(datum.length, yes[i].length);
        assert_memory_equal(datum.bytes, yes[i].bytes, datum.length);
        free(scratch);
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        assert_int_equal(parse(&typing, no[i], &datum, &scratch), BAD);
        free(scratch);
    }
    assert_int_equal(parse(&typing, "ž", &datum, &scratch), UNSURE);
    free(scratch);
}

static void expect_text(struct route_typing typing, const char *text,
                        int result, uint32_t length)
{
    struct route_datum datum = {.length = length};
    unsigned char *scratch;

    if (parse(&typing, text, &datum, &scratch) != result ||
        datum.length != length) {
        fail_msg("'%s': not %d with %u bytes", text, result, length);
    }
    free(scratch);
}

static void characters(void **state)
{
    struct route_typing text = route_type_plain(ROUTE_TYPE_TEXT);
    struct route_typing bpchar = route_type_plain(ROUTE_TYPE_BPCHAR);
    struct route_typing name = route_type_plain(ROUTE_TYPE_NAME);
    char longest[65];

    (void)state;
    expect_text(text, "", OK, 0);
    expect_text(text, "a  ", OK, 3);
    expect_text(text, "žluť", OK, 6);
    expect_text(text, "\xff", UNSURE, 1);
    expect_text(text, "\xc5", UNSURE, 1);
    expect_text(text, "\xc0\x80", UNSURE, 2);
    expect_text(text, "\xed\xa0\x80", UNSURE, 3);
    expect_text(text, "\xf0\x9f\x98\x80", OK, 4);
    expect_text(text, "\xf4\x90\x80\x80", UNSURE, 4);
    expect_text(bpchar, "a  ", OK, 1);
    expect_text(bpchar, "   ", OK, 0);
    text.limit = bpchar.limit = 4;
    expect_text(text, "žluť", OK, 6);
    expect_text(text, "abcde", UNSURE, 5);
    expect_text(bpchar, "abcd      ", OK, 4);
    text.limit = -1;
    text.ascii_only = true;
    expect_text(text, "abcde", OK, 5);
    expect_text(text, "ž", UNSURE, 2);
    memset(longest, 'x', 64);
    longest[64] = '\0';
    expect_text(name, longest, UNSURE, 64);
    expect_text(name, longest + 1, OK, 63);
}

/* Whatever the text, it is read within its bounds, and written within the
   room that was asked for. */
static void rubbish(void **state)
{
    static const char letters[] =
        "0123456789--::..  +eEnaifxT\\'bcBCZz_\xc5\xbe";

    (void)state;
    srand(9);
    for (int i = 0; i < 300000; i++) {
        struct route_typing typing =
            route_type_plain((enum route_type)(rand() % ROUTE_TYPES));
        size_t length = (size_t)rand() % (i % 100 == 0 ? 300 : 24);
        char text[300];
        struct route_datum datum;
        unsigned char *scratch;
        for (size_t j = 0; j < length; j++) {
            text[j] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        }
        text[length] = '\0';
        typing.limit = rand() % 8 - 1;
        parse(&typing, text, &datum, &scratch);
        free(scratch);
    }
}

static void others_are_the_servers(void **state)
{
    struct route_typing typing = route_type_plain(ROUTE_TYPE_OTHER);
    struct route_datum datum;
    unsigned char *scratch;

    (void)state;
    assert_int_equal(parse(&typing, "1", &datum, &scratch), UNSURE);
    free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(truth),
        cmocka_unit_test(floats),
        cmocka_unit_test(good_guest),
        cmocka_unit_test(uuids),
        cmocka_unit_test(byteas),
        cmocka_unit_test(rubbish),
        cmocka_unit_test(characters),
        cmocka_unit_test(others_are_the_servers),
    };

    return cmocka_run_group_tests_name("route_literal", tests, NULL, NULL);
}
