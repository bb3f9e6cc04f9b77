/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * event and log: what is kept, what is written where, and what becomes of a
 * log that cannot be written.
 */
#include "autoconf.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "event.h"
#include "text.h"
#include "unit_folder.h"

static unsigned lines(const char *text)
{
    unsigned n = 0;

    for (; *text; text++) {
        n += *text == '\n';
    }
    return n;
}

static void the_latest_are_kept_in_order(void **state)
{
    struct events *events = events_new("", LOG_IS_ERROR);
    struct event *list;
    size_t count;

    (void)state;
    assert_null(events_copy(events, &count));
    assert_int_equal(count, 0);
    for (int i = 1; i <= EVENTS_KEPT + 10; i++) {
        event_say(events, LOG_IS_INFO, i % 2 ? "n1" : NULL, "number %d", i);
    }
    list = events_copy(events, &count);
    assert_int_equal(count, EVENTS_KEPT);
    assert_int_equal(list[0].number, 11);
    assert_string_equal(list[0].text, "number 11");
    assert_string_equal(list[0].who, "n1");
    assert_string_equal(list[1].who, "");
    assert_int_equal(list[count - 1].number, EVENTS_KEPT + 10);
    free(list);
    events_free(events);
}

static void debug_is_kept_only_where_it_is_logged(void **state)
{
    struct events *quiet = events_new(unit_folder_path("log"), LOG_IS_INFO);
    struct events *chatty = events_new(unit_folder_path("log"), LOG_IS_DEBUG);
    struct events *none = events_new("", LOG_IS_DEBUG);
    size_t count;

    (void)state;
    event_say(quiet, LOG_IS_DEBUG, NULL, "x");
    event_say(chatty, LOG_IS_DEBUG, NULL, "x");
    event_say(none, LOG_IS_DEBUG, NULL, "x");
    free(events_copy(quiet, &count));
    assert_int_equal(count, 0);
    free(events_copy(chatty, &count));
    assert_int_equal(count, 1);
    free(events_copy(none, &count));
    assert_int_equal(count, 0);
    events_free(quiet);
    events_free(chatty);
    events_free(none);
    unlink(unit_folder_path("log"));
    event_say(NULL, LOG_IS_ERROR, NULL, "nobody listens");
}

static void an_event_is_one_line_of_whole_characters(void **state)
{
    struct events *events = events_new("", LOG_IS_ERROR);
    struct event *list;
    char text[600] = "";
    size_t count;

    (void)state;
    event_say(events, LOG_IS_ERROR, "n1", "one\ntwo\r\tthree\x7f\n");
    for (int i = 0; i < 200; i++) {
        strcat(text, "\xc3\xa4"); /* odd and even, one of them is cut */
    }
    event_say(events, LOG_IS_ERROR, NULL, "%s", text);
    event_say(events, LOG_IS_ERROR, NULL, "a%s", text);
    list = events_copy(events, &count);
    assert_int_equal(count, 3);
    assert_string_equal(list[0].text, "one two  three");
    assert_int_equal(strlen(list[1].text), EVENT_TEXT - 2);
    assert_int_equal(strlen(list[2].text), EVENT_TEXT - 1);
    assert_memory_equal(list[1].text, text, EVENT_TEXT - 2);
    free(list);
    events_free(events);
}

static void the_log_has_what_loglevel_says_once(void **state)
{
    struct events *events = events_new(unit_folder_path("log"), LOG_IS_WARNING);
    char *text;

    (void)state;
    event_say(events, LOG_IS_ERROR, "n1", "is down");
    event_say(events, LOG_IS_INFO, "n1", "is up");
    event_say(events, LOG_IS_WARNING, NULL, "the map has changed");
    events_write(events);
    events_write(events);
    text = unit_folder_read("log");
    assert_int_equal(lines(text), 2);
    assert_non_null(strstr(text, " error n1: is down\n"));
    assert_non_null(strstr(text, " warning the map has changed\n"));
    assert_int_equal(text[4], '-');
    assert_int_equal(text[23], 'Z');
    free(text);

    unlink(unit_folder_path("log")); /* logrotate has moved it away */
    event_say(events, LOG_IS_ERROR, "n2", "is down");
    events_free(events); /* writes what is still to be written */
    text = unit_folder_read("log");
    assert_int_equal(lines(text), 1);
    assert_non_null(strstr(text, "n2: is down"));
    free(text);
    unlink(unit_folder_path("log"));
}

static void what_waits_is_known(void **state)
{
    struct events *events = events_new(unit_folder_path("log"), LOG_IS_INFO);
    struct events *unlogged = events_new("", LOG_IS_INFO);
    char *text;

    (void)state;
    assert_false(events_are_waiting(events));
    event_say(events, LOG_IS_INFO, NULL, "first");
    event_say(events, LOG_IS_INFO, NULL, "second");
    assert_true(events_are_waiting(events));
    events_write(events);
    assert_false(events_are_waiting(events));
    text = unit_folder_read("log");
    assert_int_equal(lines(text), 2);
    free(text);
    event_say(unlogged, LOG_IS_INFO, NULL, "first");
    assert_false(events_are_waiting(unlogged));
    events_write(unlogged);
    events_free(unlogged);
    events_free(events);
    unlink(unit_folder_path("log"));
}

static atomic_bool all_written;

static void *ask_what_waits(void *events)
{
    while (!atomic_load(&all_written)) {
        events_are_waiting(events);
    }
    return NULL;
}

/* The keeper's clock asks while a helper writes; for ThreadSanitizer. */
static void who_asks_may_meet_who_writes(void **state)
{
    struct events *events = events_new(unit_folder_path("log"), LOG_IS_INFO);
    pthread_t clock;

    (void)state;
    assert_int_equal(pthread_create(&clock, NULL, ask_what_waits, events), 0);
    for (int i = 0; i < 200; i++) {
        event_say(events, LOG_IS_INFO, NULL, "number %d", i);
        events_write(events);
    }
    atomic_store(&all_written, true);
    pthread_join(clock, NULL);
    assert_false(events_are_waiting(events));
    events_free(events);
    unlink(unit_folder_path("log"));
}

static void what_was_lost_is_said(void **state)
{
    struct events *events = events_new(unit_folder_path("log"), LOG_IS_INFO);
    char *text;

    (void)state;
    for (int i = 0; i < EVENTS_KEPT + 5; i++) {
        event_say(events, LOG_IS_INFO, NULL, "number %d", i);
    }
    events_write(events);
    text = unit_folder_read("log");
    assert_int_equal(lines(text), EVENTS_KEPT + 1);
    assert_ptr_equal(strstr(text, "5 events were too many to be logged\n"),
                     text);
    assert_non_null(strstr(text, " number 5\n"));
    assert_null(strstr(text, " number 4\n"));
    free(text);
    events_free(events);
    unlink(unit_folder_path("log"));
}

static void a_log_that_cannot_be_written_is_told_once(void **state)
{
    struct events *events;
    struct event *list;
    size_t count;

    (void)state;
    mkdir(unit_folder_path("gone"), 0700);
    events = events_new(unit_folder_path("gone/log"), LOG_IS_INFO);
    rmdir(unit_folder_path("gone"));
    for (int i = 0; i < 3; i++) {
        event_say(events, LOG_IS_INFO, NULL, "x");
        events_write(events);
    }
    list = events_copy(events, &count);
    assert_int_equal(count, 4);
    assert_non_null(strstr(list[1].text, "the log cannot be written"));
    assert_non_null(strstr(list[1].text, "No such file or directory"));
    free(list);

    mkdir(unit_folder_path("gone"), 0700);
    event_say(events, LOG_IS_INFO, NULL, "back");
    events_write(events);
    unlink(unit_folder_path("gone/log"));
    rmdir(unit_folder_path("gone"));
    event_say(events, LOG_IS_INFO, NULL, "x");
    events_write(events); /* it worked meanwhile: told again */
    list = events_copy(events, &count);
    assert_int_equal(count, 7);
    assert_non_null(strstr(list[6].text, "the log cannot be written"));
    free(list);
    events_free(events);
}

static void logs_value_is_checked(void **state)
{
    struct why why = { 0 };

    (void)state;
    assert_true(log_check("", &why));
    assert_true(log_check("stderr", &why));
    assert_true(log_check("Syslog", &why));
    assert_true(log_check(unit_folder_path("checked"), &why));
    assert_int_equal(unlink(unit_folder_path("checked")), 0);
    assert_int_equal(why.code, WHY_NONE);
    assert_false(log_check("affinity.log", &why));
    assert_int_equal(why.code, WHY_VALUE);
    assert_non_null(strstr(why.text, "Log=affinity.log"));
    assert_non_null(strstr(why.text, "absolute path"));
    assert_false(log_check(unit_folder_path("no/such"), &why));
    assert_non_null(strstr(why.text, "No such file or directory"));
    assert_false(log_check(unit_folder_path("."), &why));
    assert_non_null(strstr(why.text, "directory"));
}

/* Each word goes to the place it names; stdout and stderr are somebody
   else's. */
static void stderr_is_written_to(void **state)
{
    int kept = dup(STDERR_FILENO);
    struct events *events = events_new("stderr", LOG_IS_INFO);
    char *text;

    (void)state;
    fflush(stderr);
    assert_non_null(freopen(unit_folder_path("stderr"), "w", stderr));
    event_say(events, LOG_IS_INFO, "n1", "is up");
    events_free(events);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    text = unit_folder_read("stderr");
    assert_int_equal(lines(text), 1);
    assert_non_null(strstr(text, " info n1: is up\n"));
    free(text);
    unlink(unit_folder_path("stderr"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_are_kept_in_order),
        cmocka_unit_test(debug_is_kept_only_where_it_is_logged),
        cmocka_unit_test(an_event_is_one_line_of_whole_characters),
        cmocka_unit_test(the_log_has_what_loglevel_says_once),
        cmocka_unit_test(what_waits_is_known),
        cmocka_unit_test(who_asks_may_meet_who_writes),
        cmocka_unit_test(what_was_lost_is_said),
        cmocka_unit_test(a_log_that_cannot_be_written_is_told_once),
        cmocka_unit_test(logs_value_is_checked),
        cmocka_unit_test(stderr_is_written_to),
    };

    unit_folder_make();
    return cmocka_run_group_tests(tests, NULL, unit_folder_remove);
}
