/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * metrics: the text, letter by letter, and what happens to the file.
 */
#include "autoconf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "metrics.h"
#include "text.h"
#include "unit_folder.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void families_and_samples(void **state)
{
    static const struct metrics_label labels[] = {
        { "dsn", "orders" }, { "instance", NULL }, { "user", "app" },
    };
    struct text out = { 0 };

    (void)state;
    metrics_family(&out, "links", METRICS_GAUGE, "Connections");
    metrics_sample(&out, "links", METRICS_GAUGE, labels, COUNT(labels), 7, 0);
    metrics_sample(&out, "links", METRICS_GAUGE, labels + 1, 1, 0, 0);
    metrics_family(&out, "used_seconds", METRICS_COUNTER, "Time");
    metrics_sample(&out, "used_seconds", METRICS_COUNTER, NULL, 0,
                   UINT64_C(12000000345), 9);
    metrics_end(&out);
    assert_string_equal(text_string(&out),
                        "# TYPE odbc_affinity_links gauge\n"
                        "# HELP odbc_affinity_links Connections.\n"
                        "odbc_affinity_links{dsn=\"orders\",user=\"app\"} 7\n"
                        "odbc_affinity_links 0\n"
                        "# TYPE odbc_affinity_used_seconds counter\n"
                        "# HELP odbc_affinity_used_seconds Time.\n"
                        "odbc_affinity_used_seconds_total 12.000000345\n"
                        "# EOF\n");
    text_free(&out);
}

static void a_label_may_hold_anything(void **state)
{
    static const struct {
        const char *value, *written;
    } rows[] = {
        { "", "" },
        { "a\"b\\c\nd", "a\\\"b\\\\c\\nd" },
        { "{x=\"1\"} 5 # EOF", "{x=\\\"1\\\"} 5 # EOF" },
        { "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac" },
        { "caf\xe9", "caf\xef\xbf\xbd" }, /* no UTF-8 */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct metrics_label label = { "user", rows[i].value };
        struct text out = { 0 };
        char wanted[200];

        metrics_sample(&out, "x", METRICS_GAUGE, &label, 1, 1, 0);
        snprintf(wanted, sizeof wanted, "odbc_affinity_x{user=\"%s\"} 1\n",
                 rows[i].written);
        assert_string_equal(text_string(&out), wanted);
        text_free(&out);
    }
}

static bool write_words(const char *where, const char *words,
                        struct metrics_mark *mark)
{
    struct text text = { 0 };
    bool ok;

    text_append(&text, words);
    ok = metrics_write(where, &text, mark);
    text_free(&text);
    return ok;
}

static void assert_content(const char *name, const char *wanted)
{
    char *got = unit_folder_read(name);

    assert_string_equal(got, wanted);
    free(got);
}

static bool exists(const char *name)
{
    struct stat what;

    return lstat(unit_folder_path(name), &what) == 0;
}

static void the_file_is_replaced_as_a_whole(void **state)
{
    struct metrics_mark mark = { 0 };
    struct stat before, after;
    char where[200], fresh[200];
    FILE *reader;
    mode_t mask;

    (void)state;
    snprintf(where, sizeof where, "%s", unit_folder_path("m.prom"));
    snprintf(fresh, sizeof fresh, "m.prom.%ld.tmp", (long)getpid());
    assert_true(write_words(where, "one\n", &mark));
    assert_content("m.prom", "one\n");
    stat(where, &before);
    mask = umask(0);
    umask(mask);
    assert_int_equal(before.st_mode & 0777, 0644 & ~mask);
    reader = fopen(where, "re");
    assert_true(write_words(where, "two\n", &mark));
    assert_content("m.prom", "two\n");
    stat(where, &after);
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(fgetc(reader), 'o'); /* who reads it has the old one */
    fclose(reader);
    assert_false(exists(fresh));

    /* what another process of this id has left, even as a trap */
    symlink("/tmp/nowhere", unit_folder_path(fresh));
    assert_true(write_words(where, "three\n", &mark));
    assert_content("m.prom", "three\n");
    assert_false(exists(fresh));
    metrics_remove(where, &mark);
    assert_false(exists("m.prom"));
}

static void who_has_not_written_it_does_not_remove_it(void **state)
{
    struct metrics_mark mine = { 0 }, others = { 0 }, none = { 0 };
    char where[200];

    (void)state;
    snprintf(where, sizeof where, "%s", unit_folder_path("m.prom"));
    assert_true(write_words(where, "mine\n", &mine));
    metrics_remove(where, &none);
    assert_true(exists("m.prom"));
    assert_true(write_words(where, "another's\n", &others));
    metrics_remove(where, &mine);
    assert_content("m.prom", "another's\n");
    metrics_remove(where, &others);
    assert_false(exists("m.prom"));
    metrics_remove(where, &others); /* once is enough */
}

static void each_process_has_its_own(void **state)
{
    struct metrics_mark mark = { 0 };
    char where[200], parent[50], child[50];
    int status;
    pid_t pid;

    (void)state;
    snprintf(where, sizeof where, "%s", unit_folder_path("m-%p.prom"));
    snprintf(parent, sizeof parent, "m-%ld.prom", (long)getpid());
    assert_true(write_words(where, "parent\n", &mark));
    pid = fork();
    if (pid == 0) {
        bool ok = write_words(where, "child\n", &mark);

        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    snprintf(child, sizeof child, "m-%ld.prom", (long)pid);
    assert_content(parent, "parent\n");
    assert_content(child, "child\n");
    metrics_remove(where, &mark);
    assert_false(exists(parent));
    assert_true(exists(child));
    unlink(unit_folder_path(child));
}

static void what_cannot_be_written_is_told(void **state)
{
    static const struct {
        const char *name, *says;
    } rows[] = {
        { "no/m.prom", "No such file or directory" },
        { "folder", "Is a directory" },
    };
    struct metrics_mark mark = { 0 };
    struct why why = { 0 };
    char where[200];

    (void)state;
    assert_true(metrics_check("", &why));
    assert_false(metrics_check("m.prom", &why));
    assert_int_equal(why.code, WHY_VALUE);
    assert_non_null(strstr(why.text, "Metrics=m.prom"));
    assert_non_null(strstr(why.text, "absolute path"));
    mkdir(unit_folder_path("folder"), 0700);
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(where, sizeof where, "%s", unit_folder_path(rows[i].name));
        assert_false(metrics_check(where, &why));
        assert_non_null(strstr(why.text, rows[i].says));
        assert_non_null(strstr(why.text, where));
        assert_false(write_words(where, "x\n", &mark));
        assert_int_not_equal(errno, 0);
        assert_false(mark.is);
    }
    rmdir(unit_folder_path("folder"));
    snprintf(where, sizeof where, "%s", unit_folder_path("fifo"));
    assert_int_equal(mkfifo(where, 0600), 0); /* as /dev/null might be */
    assert_false(metrics_check(where, &why));
    assert_non_null(strstr(why.text, "fifo: it is no regular file"));
    unlink(where);
    snprintf(where, sizeof where, "%s", unit_folder_path("m.prom"));
    assert_true(metrics_check(where, &why));
    assert_false(exists("m.prom")); /* looking makes none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_and_samples),
        cmocka_unit_test(a_label_may_hold_anything),
        cmocka_unit_test(the_file_is_replaced_as_a_whole),
        cmocka_unit_test(who_has_not_written_it_does_not_remove_it),
        cmocka_unit_test(each_process_has_its_own),
        cmocka_unit_test(what_cannot_be_written_is_told),
    };

    unit_folder_make();
    return cmocka_run_group_tests_name("metrics", tests, NULL,
                                       unit_folder_remove);
}
