/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Connection strings: facts §6, and random ones. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "connstr.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

static void parse(struct connstr *list, const char *string)
{
    connstr_init(list);
    assert_true(connstr_parse(list, string, strlen(string)));
}

/* The list as keyword<origin>value|, for comparing with one string. */
static void show(const struct connstr *list, char *out, size_t room)
{
    static const char origins[] = "=:#!"; /* plain braced ini argument */
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        n += (size_t)snprintf(out + n, room - n, "%s%c%s|",
                              list->items[i].keyword,
                              origins[list->items[i].origin],
                              list->items[i].value);
        assert_true(n < room);
    }
}

static void grammar(void **state)
{
    static const struct {
        const char *string, *expected;
    } rows[] = {
        { "", "" },
        { "DSN=orders", "DSN=orders|" },
        { "DSN=orders;", "DSN=orders|" },
        { ";; DSN = orders ;", "DSN= orders |" },
        { "dsn=a;UID=u;PWD=p", "dsn=a|UID=u|PWD=p|" },
        { "DSN=a;dsn=b", "dsn=b|" },
        { "A=1;B=2;a=3", "a=3|B=2|" },
        { "PWD={a;b=c}", "PWD:a;b=c|" },
        { "PWD={a}}b}", "PWD:a}b|" },
        { "PWD={}}}}}", "PWD:}}|" },
        { "PWD={};UID=u", "PWD:|UID=u|" },
        { "PWD={{x}", "PWD:{x|" },
        { "PWD={a}rubbish;UID=u", "PWD:a|UID=u|" },
        { "PWD={never closed;UID=u", "PWD:never closed;UID=u|" },
        { "PWD={ends in two }}", "PWD:ends in two }|" },
        { "PWD={", "PWD:|" },
        { "PWD=a{b}c;UID=u", "PWD=a{b}c|UID=u|" },
        { "PWD=a}b", "PWD=a}b|" },
        { "A=b=c", "A=b=c|" },
        { "A=", "A=|" },
        { "A=;B=1", "A=|B=1|" },
        { "rubbish", "" },
        { "DSN=a;rubbish", "DSN=a|" },
        { "rubbish;DSN=a", "DSN=a|" },
        { "=value;DSN=a", "DSN=a|" },
        { "={v;};DSN=a", "DSN=a|" },
        { " = ;DSN=a", "DSN=a|" },
        { "DSN", "" },
        { "A b=c", "A b=c|" },
        { "UID=u;Username=v", "Username=v|" },
        { "Password=a;PWD={b}", "PWD:b|" },
        { "ReadOnly=0;A0=1", "A0=1|" },
        { "Instances=n1,n2;Instances.1=n3", "Instances=n1,n2|Instances.1=n3|" },
        { "K=\xC3\xA9\xE9\x01;L=\t", "K=\xC3\xA9\xE9\x01|L=\t|" },
        { "PWD=a%20b+c", "PWD=a%20b+c|" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct connstr list;
        char out[256];

        parse(&list, rows[i].string);
        show(&list, out, sizeof out);
        if (strcmp(out, rows[i].expected) != 0) {
            print_message("# %s\n", rows[i].string);
        }
        assert_string_equal(out, rows[i].expected);
        connstr_free(&list);
    }
}

static void the_length_and_a_nul_end_it(void **state)
{
    struct connstr list;
    char out[64];

    (void)state;
    connstr_init(&list);
    assert_true(connstr_parse(&list, "A=12;B=34", 7));
    show(&list, out, sizeof out);
    assert_string_equal(out, "A=12|B=|");
    connstr_free(&list);
    assert_true(connstr_parse(&list, "A=1\0;B=2", 8));
    show(&list, out, sizeof out);
    assert_string_equal(out, "A=1|");
    connstr_free(&list);
}

static void values_may_be_long_and_of_any_characters(void **state)
{
    enum { LONG = 4096 };
    struct text text;
    struct connstr list;
    char value[LONG + 1];

    (void)state;
    for (int i = 0; i < LONG; i++) {
        value[i] = (char)(1 + i % 255);
    }
    value[LONG] = '\0';
    text_init_wiped(&text);
    connstr_append(&text, "DSN", "orders");
    connstr_append(&text, "PWD", value);
    parse(&list, text_string(&text));
    assert_string_equal(connstr_value(&list, "password"), value);
    assert_int_equal(connstr_find(&list, "PWD")->origin, CONNSTR_BRACED);
    connstr_free(&list);
    text_free(&text);
}

static void set_and_remove(void **state)
{
    struct connstr list;
    char out[128];

    (void)state;
    parse(&list, "A=1;UID=u;B=2");
    assert_true(connstr_set(&list, "username", "w", CONNSTR_ARGUMENT));
    assert_true(connstr_set(&list, "b", "3", CONNSTR_BRACED));
    assert_true(connstr_set(&list, "C", "4", CONNSTR_PLAIN));
    show(&list, out, sizeof out);
    assert_string_equal(out, "A=1|username!w|b:3|C=4|");
    assert_true(connstr_remove(&list, "a"));
    assert_false(connstr_remove(&list, "a"));
    assert_true(connstr_remove(&list, "C"));
    show(&list, out, sizeof out);
    assert_string_equal(out, "username!w|b:3|");
    assert_null(connstr_find(&list, "A"));
    assert_null(connstr_value(&list, "nothing"));
    connstr_free(&list);
    connstr_free(&list);
}

static void set_may_be_given_its_own_value(void **state)
{
    struct connstr list;

    (void)state;
    parse(&list, "A=1");
    assert_true(connstr_set(&list, list.items[0].keyword,
                            list.items[0].value, CONNSTR_INI));
    assert_string_equal(connstr_value(&list, "A"), "1");
    connstr_free(&list);
}

static void what_is_shown_holds_no_secret(void **state)
{
    static const struct {
        const char *keyword, *value, *shown;
    } rows[] = {
        { "UID", "bob", "bob" },
        { "PWD", "ge;heim", "***" },
        { "password", "geheim", "***" },
        { "MonitorPWD", "geheim", "***" },
        { "pqopt", "password=geheim", "***" },
        { "A6", "set x to 'PASSWORD geheim'", "***" },
        { "E", "x;y", "x;y" },
        { "E", "a=b;pwd=c", "***" },
    };
    char long_value[100], space[64];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(
            connstr_shown(rows[i].keyword, rows[i].value, space),
            rows[i].shown);
    }
    memset(long_value, 'x', sizeof long_value);
    long_value[99] = '\0';
    assert_int_equal(strlen(connstr_shown("K", long_value, space)), 63);
    /* a character is never split */
    memcpy(long_value + 59, "\xc3\xa4", 2);
    assert_int_equal(strlen(connstr_shown("K", long_value, space)), 62);
}

/* ---- random strings ---- */

static uint64_t random_state = 0x0DBCAFF1;

static unsigned random_below(unsigned limit)
{
    random_state ^= random_state << 13; /* xorshift64 */
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % limit;
}

/* Mostly the characters that mean something. */
static size_t random_bytes(char *into, size_t most)
{
    static const char mean[] = "{{}}}};;==  ABCabc\t%+'\"";
    size_t length = random_below((unsigned)most);

    for (size_t i = 0; i < length; i++) {
        into[i] = random_below(8) ? mean[random_below(sizeof mean - 1)]
                                  : (char)random_below(256);
    }
    into[length] = '\0';
    return length;
}

/* Whatever is parsed, writing it and parsing that gives the same list. */
static void random_strings_parse_to_what_they_write(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        char string[80], first[512], second[512];
        size_t length = random_bytes(string, sizeof string);
        struct connstr list, again;
        struct text text;
        /* on the heap, so that a sanitizer sees a step too far */
        char *exact = malloc(length ? length : 1);

        memcpy(exact, string, length);
        connstr_init(&list);
        connstr_init(&again);
        text_init(&text);
        assert_true(connstr_parse(&list, exact, length));
        free(exact);
        connstr_append_all(&text, &list);
        assert_true(connstr_parse(&again, text_string(&text), text.length));
        for (size_t k = 0; k < list.count; k++) {
            list.items[k].origin = CONNSTR_BRACED;
            for (size_t j = 0; j < k; j++) {
                assert_false(text_same(list.items[j].keyword,
                                       list.items[k].keyword));
            }
        }
        show(&list, first, sizeof first);
        show(&again, second, sizeof second);
        assert_string_equal(first, second);
        text_free(&text);
        connstr_free(&list);
        connstr_free(&again);
    }
}

/* Random values come back whole, whatever stands beside them. */
static void random_values_survive(void **state)
{
    (void)state;
    for (int i = 0; i < 50000; i++) {
        char value[3][60];
        struct connstr list;
        struct text text;

        text_init(&text);
        for (int k = 0; k < 3; k++) {
            char keyword[2] = { (char)('X' + k), '\0' };

            random_bytes(value[k], sizeof value[k]);
            connstr_append(&text, keyword, value[k]);
        }
        parse(&list, text_string(&text));
        assert_int_equal(list.count, 3);
        assert_string_equal(connstr_value(&list, "x"), value[0]);
        assert_string_equal(connstr_value(&list, "Y"), value[1]);
        assert_string_equal(connstr_value(&list, "z"), value[2]);
        connstr_free(&list);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grammar),
        cmocka_unit_test(the_length_and_a_nul_end_it),
        cmocka_unit_test(values_may_be_long_and_of_any_characters),
        cmocka_unit_test(set_and_remove),
        cmocka_unit_test(set_may_be_given_its_own_value),
        cmocka_unit_test(what_is_shown_holds_no_secret),
        cmocka_unit_test(random_strings_parse_to_what_they_write),
        cmocka_unit_test(random_values_survive),
    };

    return cmocka_run_group_tests_name("connstr", tests, NULL, NULL);
}
