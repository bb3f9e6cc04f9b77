/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_bound: the texts of pg_get_expr(relpartbound). */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route_bound.h"

/* Items in short: values in <>, N, -, +, "to", "end", "wrong". */
static void items(const char *text, char *out, size_t room)
{
    struct route_bound bound = route_bound_start(text, strlen(text));
    char *buffer = malloc(strlen(text) + 1);
    size_t at = 0;

    assert_non_null(buffer);
    out[0] = '\0';
    for (int i = 0; i < 100; i++) {
        struct route_bound_value value;
        static const char *const words[] = {"wrong", NULL, "N",  "-",
                                            "+",     "to", "end"};
        enum route_bound_item item = route_bound_next(&bound, buffer, &value);
        if (item == ROUTE_BOUND_VALUE) {
            at += (size_t)snprintf(out + at, room - at, "<%.*s>",
                                   (int)value.length, value.text);
        } else {
            at += (size_t)snprintf(out + at, room - at, "%s", words[item]);
        }
        if (item == ROUTE_BOUND_WRONG || item == ROUTE_BOUND_END) {
            assert_int_equal(route_bound_next(&bound, buffer, &value), item);
            break;
        }
    }
    free(buffer);
}

static void expect_items(const char *text, enum route_bound_kind kind,
                         const char *want)
{
    char got[256];

    assert_int_equal(route_bound_start(text, strlen(text)).kind, kind);
    items(text, got, sizeof(got));
    assert_string_equal(got, want);
}

static void lists(void **state)
{
    const enum route_bound_kind k = ROUTE_BOUND_LIST;

    (void)state;
    expect_items("FOR VALUES IN ('eu', 'it''s')", k, "<eu><it's>end");
    expect_items("FOR VALUES IN ('us', NULL)", k, "<us>Nend");
    expect_items("FOR VALUES IN (true)", k, "<true>end");
    expect_items("FOR VALUES IN (1, '-5')", k, "<1><-5>end");
    expect_items("FOR VALUES IN ('')", k, "<>end");
    expect_items("FOR VALUES IN ('''')", k, "<'>end");
    expect_items("FOR VALUES IN ('''a''b''')", k, "<'a'b'>end");
    expect_items("FOR VALUES IN ('a), (b', '\\')", k, "<a), (b><\\>end");
    expect_items("FOR VALUES IN ('NULL', 'DEFAULT')", k, "<NULL><DEFAULT>end");
}

static void ranges(void **state)
{
    const enum route_bound_kind k = ROUTE_BOUND_RANGE;

    (void)state;
    expect_items("FOR VALUES FROM (MINVALUE) TO ('1000')", k, "-to<1000>end");
    expect_items("FOR VALUES FROM (10, 'm') TO (20, MAXVALUE)", k,
                 "<10><m>to<20>+end");
    expect_items("FOR VALUES FROM (20, MAXVALUE) TO (MAXVALUE, MAXVALUE)", k,
                 "<20>+to++end");
    expect_items("FOR VALUES FROM ('2024-01-01 00:00:00+00') TO ('infinity')",
                 k, "<2024-01-01 00:00:00+00>to<infinity>end");
    expect_items("FOR VALUES FROM ('MINVALUE') TO ('\\x80ff')", k,
                 "<MINVALUE>to<\\x80ff>end");
}

static void hashes(void **state)
{
    const char *text = "FOR VALUES WITH (modulus 8, remainder 7)";
    struct route_bound bound = route_bound_start(text, strlen(text));

    (void)state;
    assert_int_equal(bound.kind, ROUTE_BOUND_HASH);
    assert_int_equal(bound.modulus, 8);
    assert_int_equal(bound.remainder, 7);
    expect_items(text, ROUTE_BOUND_HASH, "end");
    expect_items("DEFAULT", ROUTE_BOUND_DEFAULT, "end");
    text = "FOR VALUES WITH (modulus 2147483647, remainder 2147483646)";
    bound = route_bound_start(text, strlen(text));
    assert_int_equal(bound.modulus, INT32_MAX);
}

static void wrong_heads(void **state)
{
    static const char *const texts[] = {
        "",
        "DEFAULTS",
        "FOR VALUES",
        "FOR VALUES IN 1",
        "VALUES IN (1)",
        "FOR VALUES WITH (modulus 0, remainder 0)",
        "FOR VALUES WITH (modulus 4, remainder 4)",
        "FOR VALUES WITH (modulus 4, remainder -1)",
        "FOR VALUES WITH (modulus 4, remainder 1) x",
        "FOR VALUES WITH (modulus 2147483648, remainder 1)",
        "FOR VALUES WITH (modulus 99999999999999999999, remainder 1)",
        "for values in (1)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (route_bound_start(texts[i], strlen(texts[i])).kind !=
            ROUTE_BOUND_BAD) {
            fail_msg("<%s> is taken", texts[i]);
        }
    }
}

static void wrong_lists(void **state)
{
    static const char *const texts[] = {
        "FOR VALUES IN (",
        "FOR VALUES IN ('a'",
        "FOR VALUES IN ('a",
        "FOR VALUES IN ('a',)",
        "FOR VALUES IN (a)",
        "FOR VALUES IN ()",
        "FOR VALUES IN ('a' 'b')",
        "FOR VALUES IN (1) x",
        "FOR VALUES IN (MINVALUE)",
        "FOR VALUES FROM (1)",
        "FOR VALUES FROM (1) TO",
        "FOR VALUES FROM (1) TO (2",
        "FOR VALUES FROM (1) UP (2)",
        "FOR VALUES FROM (NULL) TO (2)",
        "FOR VALUES FROM (1) TO (2) TO (3)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char got[256];
        items(texts[i], got, sizeof(got));
        if (!strstr(got, "wrong")) {
            fail_msg("<%s> is taken as %s", texts[i], got);
        }
    }
}

/* Rubbish ends, and is not read beyond. */
static void rubbish(void **state)
{
    static const char letters[] = "FOR VALUES IN('),\\1MAXTDEFAULTmodulus";

    (void)state;
    srand(2);
    for (int i = 0; i < 50000; i++) {
        size_t length = (size_t)rand() % 40, at = 0;
        char got[512], *text;
        static const char *const heads[] = {"", "FOR VALUES IN (",
                                            "FOR VALUES FROM ("};
        const char *head = heads[rand() % 3];
        text = malloc(strlen(head) + length + 1);
        assert_non_null(text);
        memcpy(text, head, strlen(head));
        for (at = strlen(head); length > 0; length--) {
            text[at++] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        }
        text[at] = '\0';
        items(text, got, sizeof(got));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),       cmocka_unit_test(ranges),
        cmocka_unit_test(hashes),      cmocka_unit_test(wrong_heads),
        cmocka_unit_test(wrong_lists), cmocka_unit_test(rubbish),
    };

    return cmocka_run_group_tests_name("route_bound", tests, NULL, NULL);
}
