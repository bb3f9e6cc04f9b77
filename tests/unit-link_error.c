/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* How an error of a link is made and said. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link.h"
#include "text.h"

static void is_said(const char *words, const char *line)
{
    struct link_error error;
    struct text out;

    text_init(&out);
    link_set_error(&error, "42P01", "%s", words);
    link_say_error(&error, &out);
    assert_string_equal(text_string(&out), line);
    text_free(&out);
}

static void an_error_is_said_in_one_line(void **state)
{
    (void)state;
    is_said("no such table", "[42P01] no such table");
    is_said("", "[42P01] ");
    is_said("could not connect\n\tIs it running?\n",
            "[42P01] could not connect;  Is it running?");
    is_said("ERROR\r\nLINE 1\r\n", "[42P01] ERROR; LINE 1");
    is_said("ERROR\n\nLINE 1\n\n", "[42P01] ERROR; LINE 1");
}

static void no_error_says_nothing(void **state)
{
    struct link_error error = { .text = "left over" };
    struct text out;

    (void)state;
    text_init(&out);
    text_append(&out, "n1: ");
    link_say_error(&error, &out);
    assert_string_equal(text_string(&out), "n1: ");
    text_free(&out);
}

static void a_sentence_of_ours_is_cut_to_its_room(void **state)
{
    struct link_error error;
    char words[sizeof error.text + 100];

    (void)state;
    memset(&error, 'x', sizeof error);
    memset(words, 'w', sizeof words);
    words[sizeof words - 1] = '\0';
    link_set_error(&error, "HYT01", "%s", words);
    assert_string_equal(error.state, "HYT01");
    assert_int_equal(error.native, 0);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_said_in_one_line),
        cmocka_unit_test(no_error_says_nothing),
        cmocka_unit_test(a_sentence_of_ours_is_cut_to_its_room),
    };

    return cmocka_run_group_tests_name("link_error", tests, NULL, NULL);
}
