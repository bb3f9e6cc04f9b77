/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * link_note: what is kept of what a session does, and what is not.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "link_note.h"
#include "text.h"

static void assert_said(struct link_note *note, const char *wanted)
{
    struct text out = { 0 };

    link_note_say(note, &out);
    assert_string_equal(text_string(&out), wanted);
    text_free(&out);
}

static void run(struct link_note *note, const char *text)
{
    char shown[LINK_NOTE_ROOM];

    link_note_shown(text, shown);
    link_note_ran(note, shown);
}

static void the_latest_is_told(void **state)
{
    struct link_note *note = link_note_new();

    (void)state;
    link_note_begin(note, NULL);
    assert_said(note, "and has run nothing");
    link_note_begin(note, "1500");
    assert_said(note, "key 1500, and has run nothing");
    run(note, "SELECT 1");
    run(note, "SELECT 2");
    assert_said(note, "key 1500, last ran: SELECT 2");
    link_note_begin(note, NULL); /* the next session has run nothing */
    assert_said(note, "and has run nothing");
    link_note_free(note);
    link_note_free(NULL);
}

static void secrets_are_not_kept(void **state)
{
    static const char *const texts[] = {
        "ALTER ROLE app PASSWORD 'geheim'",
        "alter role app password 'geheim'",
        "CREATE USER MAPPING FOR app SERVER n2 OPTIONS (password 'geheim')",
        "CREATE USER app IDENTIFIED BY 'geheim'",
        "SELECT 'geheim' /* Passwd */",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char shown[LINK_NOTE_ROOM];

        link_note_shown(texts[i], shown);
        assert_null(strstr(shown, "geheim"));
        assert_non_null(strstr(shown, "not shown"));
    }
}

static void long_texts_are_cut_between_characters(void **state)
{
    enum { LONG = 1000 };
    char text[LONG * 2 + 20], shown[LINK_NOTE_ROOM];
    struct link_note *note = link_note_new();
    struct text out = { 0 };

    (void)state;
    for (int i = 0; i < LONG; i++) {
        memcpy(text + i * 2, "\xc3\xa9", 3);
    }
    link_note_shown(text, shown);
    assert_in_range(strlen(shown), LINK_NOTE_ROOM - 4, LINK_NOTE_ROOM - 1);
    assert_int_equal(strlen(shown) % 2, 0);
    strcat(text, " PASSWORD 'x'"); /* all of it is looked at */
    link_note_shown(text, shown);
    assert_non_null(strstr(shown, "not shown"));
    text[LONG * 2] = '\0';
    link_note_begin(note, text);
    link_note_say(note, &out);
    assert_in_range(out.length, 60, 100);
    text_free(&out);
    link_note_free(note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_is_told),
        cmocka_unit_test(secrets_are_not_kept),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };

    return cmocka_run_group_tests_name("link_note", tests, NULL, NULL);
}
