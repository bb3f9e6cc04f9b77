/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_key: cutting keys, refusing bad ones, and the canonical spelling. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route_key.h"

static struct route_key *parse(const char *text)
{
    struct route_key *key;
    struct why why;

    if (route_key_parse(text, strlen(text), &key, &why) != ROUTE_KEY_OK) {
        fail_msg("<%s>: %s", text, why.text);
    }
    return key;
}

/* parts: "|" between them, "~" is the NULL sub-key. */
static void expect_parts(const char *text, const char *parts)
{
    struct route_key *key = parse(text);
    char got[512] = "";

    for (uint32_t i = 0; i < key->count; i++) {
        size_t at = strlen(got);
        assert_int_equal(strlen(key->part[i].text), key->part[i].length);
        snprintf(got + at, sizeof(got) - at, "%s%s", i ? "|" : "",
                 key->part[i].is_null ? "~" : key->part[i].text);
    }
    assert_string_equal(got, parts);
    route_key_free(key);
}

static void cuts(void **state)
{
    (void)state;
    expect_parts("42", "42");
    expect_parts("  42  ", "42");
    expect_parts("42,abc", "42|abc");
    expect_parts(" 42 , a b ", "42|a b");
    expect_parts("\"42\"", "42");
    expect_parts("\"a,b\",c", "a,b|c");
    expect_parts("\"a\"\"b\"", "a\"b");
    expect_parts("\"\"", "");
    expect_parts("\"\",\"\"", "|");
    expect_parts(" \" a \" , b", " a |b");
    expect_parts("\"\"\"\"", "\"");
    expect_parts("it's", "it's");
    expect_parts("ž,ů", "ž|ů");
}

static void knows_null(void **state)
{
    (void)state;
    expect_parts("NULL", "~");
    expect_parts("null", "~");
    expect_parts("Null , 1", "~|1");
    expect_parts("\"NULL\"", "NULL");
    expect_parts("NULLS", "NULLS");
    expect_parts("1,NULL", "1|~");
}

static void empty_is_no_key(void **state)
{
    struct route_key *key = (struct route_key *)&state;

    (void)state;
    assert_int_equal(route_key_parse("", 0, &key, NULL), ROUTE_KEY_NONE);
    assert_null(key);
    assert_int_equal(route_key_parse("   ", 3, &key, NULL), ROUTE_KEY_NONE);
    assert_int_equal(route_key_make(NULL, 0, &key, NULL), ROUTE_KEY_NONE);
}

static void expect_refused(const char *text, size_t length, const char *word)
{
    struct route_key *key;
    struct why why;

    assert_int_equal(route_key_parse(text, length, &key, &why), ROUTE_KEY_BAD);
    assert_null(key);
    assert_int_equal(why.code, WHY_VALUE);
    if (!strstr(why.text, word)) {
        fail_msg("<%s>: <%s> does not say <%s>", text, why.text, word);
    }
}

static void refuses(void **state)
{
    char many[128] = "", *lengthy = malloc(ROUTE_KEY_BYTES + 1);

    (void)state;
    expect_refused("\"a", 2, "not closed");
    expect_refused("\"a\"\"", 4, "not closed");
    expect_refused("\"a\"b", 4, "after a closing quote");
    expect_refused("a\"b", 3, "inside an unquoted");
    expect_refused("a,,b", 4, "sub-key 2");
    expect_refused("a,", 2, "empty sub-key");
    expect_refused(",", 1, "empty sub-key");
    expect_refused("a\nb", 3, "control character");
    expect_refused("\"a\tb\"", 5, "control character");
    expect_refused("a\0b", 3, "control character");
    expect_refused("a\x7f", 2, "control character, at character 2");
    for (int i = 0; i < 33; i++) {
        strncat(many, i ? ",1" : "1", sizeof(many) - strlen(many) - 1);
    }
    expect_refused(many, strlen(many), "32");
    many[63] = '\0'; /* 32 sub-keys */
    route_key_free(parse(many));
    assert_non_null(lengthy);
    memset(lengthy, 'x', ROUTE_KEY_BYTES + 1);
    expect_refused(lengthy, ROUTE_KEY_BYTES + 1, "8192");
    struct route_key *key;
    assert_int_equal(route_key_parse(lengthy, ROUTE_KEY_BYTES, &key, NULL),
                     ROUTE_KEY_OK);
    route_key_free(key);
    free(lengthy);
}

static void one_spelling(void **state)
{
    static const char *const same[][2] = {
        {"42", " \"42\" "}, {"a , b", "\"a\",b"},          {"null", "NULL"},
        {"\"a b\"", "a b"}, {"\"x\"\"y\"", "\"x\"\"y\" "},
    };
    static const char *const other[][2] = {
        {"NULL", "\"NULL\""},
        {"a,b", "\"a,b\""},
        {"\" a\"", "a"},
        {"\"\"", "NULL"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        struct route_key *a = parse(same[i][0]), *b = parse(same[i][1]);
        assert_true(route_key_same(a, b));
        route_key_free(a);
        route_key_free(b);
    }
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        struct route_key *a = parse(other[i][0]), *b = parse(other[i][1]);
        assert_false(route_key_same(a, b));
        route_key_free(a);
        route_key_free(b);
    }
}

/* Whatever the parts are, their spelling reads as the same parts. */
static void spelling_reads_back(void **state)
{
    static const char letters[] = "aN\",  uLl1\xc5\xbe'";

    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        struct route_part part[5];
        char text[5][8];
        size_t count = 1 + (size_t)rand() % 5;
        for (size_t i = 0; i < count; i++) {
            size_t length = (size_t)rand() % 8;
            for (size_t j = 0; j < length; j++) {
                text[i][j] = letters[(size_t)rand() % (sizeof(letters) - 1)];
            }
            part[i] =
                (struct route_part){text[i], (uint32_t)length, rand() % 6 == 0};
        }
        struct route_key *made, *read;
        assert_int_equal(route_key_make(part, count, &made, NULL),
                         ROUTE_KEY_OK);
        assert_int_equal(route_key_parse(made->text, made->length, &read, NULL),
                         ROUTE_KEY_OK);
        assert_int_equal(read->count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(read->part[i].is_null, part[i].is_null);
            if (!part[i].is_null) {
                assert_int_equal(read->part[i].length, part[i].length);
                assert_memory_equal(read->part[i].text, part[i].text,
                                    part[i].length);
            }
        }
        assert_true(route_key_same(made, read));
        route_key_free(made);
        route_key_free(read);
    }
}

static void prints(void **state)
{
    struct route_key *key = parse("\"a,b\",NULL,žluť");
    struct route_part odd = {"a\x01\"\n", 4, false};
    char text[64];

    (void)state;
    assert_string_equal(route_key_print(key, text, sizeof(text)),
                        "\"a,b\",NULL,žluť");
    assert_string_equal(route_key_print(key, text, 8), "\"a,b...");
    /* never half of a character: ž and ů are two bytes */
    assert_string_equal(route_key_print_part(&key->part[2], text, 8), "žlu...");
    assert_string_equal(route_key_print_part(&key->part[1], text, 8), "NULL");
    assert_string_equal(route_key_print_part(&odd, text, sizeof(text)),
                        "\"a\\x01\"\"\\x0a\"");
    route_key_free(key);
}

static void takes_known_parts(void **state)
{
    struct route_part part[33] = {{"a\tb", 3, false}, {"ignored", 7, true}};
    struct route_key *key;
    struct why why;

    (void)state;
    assert_int_equal(route_key_make(part, 2, &key, &why), ROUTE_KEY_OK);
    assert_string_equal(key->text, "a\tb,NULL");
    assert_int_equal(key->part[1].length, 0);
    route_key_free(key);
    part[1] = (struct route_part){"a\0b", 3, false};
    assert_int_equal(route_key_make(part, 2, &key, &why), ROUTE_KEY_BAD);
    assert_non_null(strstr(why.text, "sub-key 2"));
    for (int i = 0; i < 33; i++) {
        part[i] = (struct route_part){"x", 1, false};
    }
    assert_int_equal(route_key_make(part, 33, &key, &why), ROUTE_KEY_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts),
        cmocka_unit_test(knows_null),
        cmocka_unit_test(empty_is_no_key),
        cmocka_unit_test(refuses),
        cmocka_unit_test(one_spelling),
        cmocka_unit_test(spelling_reads_back),
        cmocka_unit_test(prints),
        cmocka_unit_test(takes_known_parts),
    };

    return cmocka_run_group_tests_name("route_key", tests, NULL, NULL);
}
