/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ini sections as unixODBC reads them, without its cache's delay.  The files
 * are in a folder of this test; libodbcinst keeps the first ODBCSYSINI it
 * sees, so it is set before anything else.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "inifile.h"
#include "lock.h"
#include "text.h"
#include "unit_folder.h"

static void put_all(const char *user, const char *system, const char *drivers)
{
    unit_folder_put("user.ini", user);
    unit_folder_put("odbc.ini", system);
    unit_folder_put("odbcinst.ini", drivers);
    inifile_forget();
}

/* The section as keyword=value|…, or the code and text of what is wrong. */
static const char *read_as(const char *name, enum inifile_kind kind)
{
    static char shown[8192];
    struct why why = { .code = WHY_NONE };
    const struct inifile_section *section = inifile_section(name, kind, &why);
    size_t n = 0;

    shown[0] = '\0';
    if (!section) {
        snprintf(shown, sizeof shown, "%d: %s", (int)why.code, why.text);
        return shown;
    }
    for (size_t i = 0; i < section->count; i++) {
        n += (size_t)snprintf(shown + n, sizeof shown - n, "%s=%s|",
                              section->entries[i].keyword,
                              section->entries[i].value);
        assert_true(n < sizeof shown);
    }
    inifile_release(section);
    return shown;
}

static void sections_are_read_as_unixodbc_does(void **state)
{
    (void)state;
    put_all("[one]\nDriver = Affinity\nInstances=n1, n2 \n; comment\n"
            "#comment\nPWD=a;b#c%20=d\nEmpty=\n\n[two]\r\nA=1\r\n", "", "");
    assert_string_equal(read_as("one", INIFILE_DSN), "Driver=Affinity|"
                        "Instances=n1, n2|PWD=a;b#c%20=d|Empty=|");
    assert_string_equal(read_as("ONE", INIFILE_DSN),
                        read_as("one", INIFILE_DSN));
    assert_string_equal(read_as("two", INIFILE_DSN), "A=1|");
}

static void the_first_of_duplicates_counts(void **state)
{
    (void)state;
    put_all("[one]\nA=1\na=2\nB=3\n[One]\nC=4\n", "", "");
    assert_string_equal(read_as("one", INIFILE_DSN), "A=1|B=3|");
}

static void the_users_section_hides_the_systems(void **state)
{
    (void)state;
    put_all("[one]\nA=user\n", "[ONE]\nA=system\nS=1\n[three]\nT=1\n",
            "[drv]\nDriver=x.so\n[one]\nD=1\n");
    assert_string_equal(read_as("one", INIFILE_DSN), "A=user|");
    assert_string_equal(read_as("three", INIFILE_DSN), "T=1|");
    assert_string_equal(read_as("Drv", INIFILE_DRIVER), "Driver=x.so|");
    assert_string_equal(read_as("one", INIFILE_DRIVER), "D=1|");
}

static void a_missing_section_is_told_from_the_rest(void **state)
{
    struct why why;
    char longer[2000];

    (void)state;
    put_all("[one]\nA=1\n", "", "");
    assert_null(inifile_section("nine", INIFILE_DSN, &why));
    assert_int_equal(why.code, WHY_DSN);
    assert_non_null(strstr(why.text, "[nine]"));
    assert_non_null(strstr(why.text, "user.ini"));
    assert_non_null(strstr(why.text, "/odbc.ini"));
    assert_null(inifile_section("one", INIFILE_DRIVER, &why));
    assert_int_equal(why.code, WHY_DSN);
    assert_non_null(strstr(why.text, "/odbcinst.ini"));
    assert_null(inifile_section("", INIFILE_DSN, &why));
    assert_int_equal(why.code, WHY_DSN);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_null(inifile_section(longer, INIFILE_DSN, &why));
    assert_int_equal(why.code, WHY_DSN);
    assert_null(inifile_section("nine", INIFILE_DSN, NULL));
}

/* A section [one] with a line of so many bytes, blanks counted. */
static void put_line(size_t length)
{
    char file[4096] = "[one]\nA=1\nLong = ";
    size_t head = strlen("Long = "), start = strlen(file) - head;

    memset(file + start + head, 'v', length - head);
    strcpy(file + start + length, "\nB=2\n");
    put_all(file, "", "");
}

static void a_line_that_unixodbc_cuts_is_an_error(void **state)
{
    struct why why;
    const struct inifile_section *section;

    (void)state;
    for (size_t length = 990; length <= INIFILE_LINE_MAX; length++) {
        put_line(length);
        section = inifile_section("one", INIFILE_DSN, NULL);
        assert_non_null(section);
        assert_int_equal(section->count, 3);
        assert_int_equal(strlen(inifile_value(section, "long")), length - 7);
        inifile_release(section);
    }
    for (size_t length = INIFILE_LINE_MAX + 1; length < 1030; length++) {
        put_line(length);
        assert_null(inifile_section("one", INIFILE_DSN, &why));
        assert_int_equal(why.code, WHY_INI);
        assert_non_null(strstr(why.text, "user.ini"));
        assert_non_null(strstr(why.text, "[one]"));
        assert_non_null(strstr(why.text, "Long"));
        assert_null(strstr(why.text, "vvv"));
    }
    put_line(3500);
    assert_null(inifile_section("one", INIFILE_DSN, &why));
    assert_int_equal(why.code, WHY_INI);
}

static void a_long_line_elsewhere_does_no_harm(void **state)
{
    char file[4096] = "[other]\nL=";
    size_t start = strlen(file);

    (void)state;
    memset(file + start, 'v', 2000);
    strcpy(file + start + 2000, "\n[one]\nA=1\n");
    put_all(file, "", "");
    assert_string_equal(read_as("one", INIFILE_DSN), "A=1|");
}

/* Few but long ones, more than the first list has room for: libodbcinst reads
   the file again for each. */
static void more_keywords_than_expected_are_all_there(void **state)
{
    enum { KEYWORDS = 60, LENGTH = 700 };
    struct text file;
    const struct inifile_section *section;
    char keyword[LENGTH + 1];

    (void)state;
    memset(keyword, 'k', LENGTH);
    keyword[LENGTH] = '\0';
    text_init(&file);
    text_append(&file, "[one]\n");
    for (int i = 0; i < KEYWORDS; i++) {
        keyword[LENGTH - 2] = (char)('0' + i / 10);
        keyword[LENGTH - 1] = (char)('0' + i % 10);
        text_appendf(&file, "%s=%d\n", keyword, i);
    }
    put_all(text_string(&file), "", "");
    text_free(&file);
    section = inifile_section("one", INIFILE_DSN, NULL);
    assert_non_null(section);
    assert_int_equal(section->count, KEYWORDS);
    assert_string_equal(inifile_value(section, keyword), "59");
    assert_null(inifile_value(section, "k0000"));
    inifile_release(section);
}

_Static_assert(INIFILE_STAT_MS < 1000, "a change is seen within a second");

/* Asks until the answer is that.  False after 10 s, which is long for a busy
   machine and half of what libodbcinst's own cache lasts. */
static bool comes_soon(const char *wanted)
{
    uint64_t until = clock_ns() + 10000 * NS_PER_MS;

    while (strcmp(read_as("one", INIFILE_DSN), wanted) != 0) {
        const struct timespec pause = { 0, 5000000 };

        if (clock_ns() > until) {
            return false;
        }
        nanosleep(&pause, NULL);
    }
    return true;
}

static void a_changed_file_is_seen_soon(void **state)
{
    uint64_t fingerprint;

    (void)state;
    put_all("[one]\nA=1\n", "", "[drv]\nD=1\n");
    assert_string_equal(read_as("one", INIFILE_DSN), "A=1|");
    fingerprint = inifile_fingerprint();
    assert_int_not_equal(fingerprint, 0);
    unit_folder_put("user.ini", "[one]\nA=2\n");
    assert_true(comes_soon("A=2|"));
    assert_int_not_equal(inifile_fingerprint(), fingerprint);
    unit_folder_put("user.ini", "[two]\nA=3\n");
    unit_folder_put("odbc.ini", "[one]\nA=4\nB=5\n");
    assert_true(comes_soon("A=4|B=5|"));
    unit_folder_put("odbc.ini", "");
    inifile_forget();
    assert_null(inifile_section("one", INIFILE_DSN, NULL));
    unit_folder_put("user.ini", "[one]\nA=6\n");
    assert_true(comes_soon("A=6|"));
}

static void the_fingerprint_stands_still_otherwise(void **state)
{
    uint64_t fingerprint;

    (void)state;
    put_all("[one]\nA=1\n", "", "");
    fingerprint = inifile_fingerprint();
    for (int i = 0; i < 10; i++) {
        inifile_forget();
        read_as("one", INIFILE_DSN);
        assert_int_equal(inifile_fingerprint(), fingerprint);
    }
    unit_folder_put("odbcinst.ini", "[drv]\nD=2\n");
    inifile_forget();
    assert_int_not_equal(inifile_fingerprint(), fingerprint);
}

static void a_section_held_outlives_the_file(void **state)
{
    const struct inifile_section *held, *again;

    (void)state;
    put_all("[one]\nA=1\n", "", "");
    held = inifile_section("one", INIFILE_DSN, NULL);
    again = inifile_section("ONE", INIFILE_DSN, NULL); /* a copy */
    put_all("[one]\nA=2\n", "", "");
    assert_string_equal(read_as("one", INIFILE_DSN), "A=2|");
    assert_string_equal(read_as("one", INIFILE_DSN), "A=2|");
    assert_string_equal(inifile_value(held, "A"), "1");
    assert_string_equal(inifile_value(again, "A"), "1");
    inifile_release(held);
    inifile_release(again);
    inifile_release(NULL);
}

/* Where the value of A in section [one] is: as the first thread that asked was
   given it, and in what this processor has for itself. */
static void find_places(const char *places[2])
{
    do { /* until nothing comes between: another processor, a look at files */
        inifile_forget();
        for (int i = 0; i < 2; i++) {
            const struct inifile_section *section =
                inifile_section("one", INIFILE_DSN, NULL);

            places[i] = inifile_value(section, "A");
            inifile_release(section);
        }
    } while (places[0] == places[1]);
}

static void a_child_wipes_what_its_parent_read_and_reads_again(void **state)
{
    static const char none[4];
    const char *places[2];
    int status = -1;
    pid_t child;

    (void)state;
    put_all("[one]\nA=pass\n", "", "");
    find_places(places);
    child = fork();
    if (child == 0) {
        int left = memcmp(places[0], none, sizeof none) != 0 ||
                   memcmp(places[1], none, sizeof none) != 0;

        _exit(left || strcmp(read_as("one", INIFILE_DSN), "A=pass|") != 0);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_string_equal(places[0], "pass");
    assert_string_equal(places[1], "pass");
}

static void *read_often(void *failed)
{
    for (int i = 0; i < 300; i++) {
        const struct inifile_section *section =
            inifile_section("one", INIFILE_DSN, NULL);

        if (!section || strcmp(inifile_value(section, "A"), "1") != 0) {
            *(bool *)failed = true;
        }
        inifile_release(section);
        if (i % 10 == 0) {
            inifile_forget();
        }
    }
    return NULL;
}

static void threads_may_read_at_once(void **state)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    bool failed[THREADS] = { false };

    (void)state;
    put_all("[one]\nA=1\nB=2\n", "", "");
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_often,
                                        &failed[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(failed[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_read_as_unixodbc_does),
        cmocka_unit_test(the_first_of_duplicates_counts),
        cmocka_unit_test(the_users_section_hides_the_systems),
        cmocka_unit_test(a_missing_section_is_told_from_the_rest),
        cmocka_unit_test(a_line_that_unixodbc_cuts_is_an_error),
        cmocka_unit_test(a_long_line_elsewhere_does_no_harm),
        cmocka_unit_test(more_keywords_than_expected_are_all_there),
        cmocka_unit_test(a_changed_file_is_seen_soon),
        cmocka_unit_test(the_fingerprint_stands_still_otherwise),
        cmocka_unit_test(a_section_held_outlives_the_file),
        cmocka_unit_test(a_child_wipes_what_its_parent_read_and_reads_again),
        cmocka_unit_test(threads_may_read_at_once),
    };

    unit_folder_make();
    return cmocka_run_group_tests_name("inifile", tests, NULL,
                                       unit_folder_remove);
}
