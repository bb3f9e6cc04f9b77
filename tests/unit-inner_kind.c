/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The kinds of inner drivers: which one a name stands for, and what each makes
 * of a target, an error and a text.  psqlODBC's strings and faults have their
 * own test, unit-inner_psqlodbc.c.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "connstr.h"
#include "inner_kind.h"
#include "inner_sql.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

static void a_name_tells_the_kind(void **state)
{
    static const struct {
        const char *name;
        const struct inner_kind *kind;
    } rows[] = {
        { "/usr/lib/odbc/psqlodbcw.so", &inner_psqlodbc },
        { "psqlodbca.so", &inner_psqlodbc },
        { "PSQLODBC35W.DLL", &inner_psqlodbc },
        { "/usr/lib/odbc/libsqlite3odbc-0.9998.so", &inner_sqlite },
        { "sqlite3odbc.so", &inner_sqlite }, /* SQL_DRIVER_NAME */
        { "/usr/lib/odbc/libmaodbc.so", &inner_mariadb },
        { "/opt/psqlodbc/libfake.so", &inner_unknown },
        { "libsqliteodbc.so", &inner_unknown }, /* of SQLite 2 */
        { "psqlodb", &inner_unknown },
        { "lib", &inner_unknown },
        { "", &inner_unknown },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (inner_kind_of(rows[i].name) != rows[i].kind) {
            fail_msg("\"%s\" is taken for %s", rows[i].name,
                     inner_kind_of(rows[i].name)->name);
        }
    }
}

/* ---- connection strings */

static void check_string(const struct inner_kind *kind,
                         const struct inner_target *target,
                         const char *wanted)
{
    struct why why = { 0 };
    struct text out;

    text_init_wiped(&out);
    assert_true(kind->compose(target, false, &out, &why));
    assert_string_equal(text_string(&out), wanted);
    text_free(&out);
}

static void sqlite_is_told_its_file(void **state)
{
    struct connstr passed;
    struct inner_target dsn = { .dsn = "n1", .passed = &passed };
    struct inner_target file = { .driver = "SQLite3", .host = "/d/n1.db",
                                 .passed = &passed };
    struct why why = { 0 };
    struct text out;

    (void)state;
    connstr_init(&passed);
    check_string(&inner_sqlite, &dsn, "DSN=n1;");
    check_string(&inner_sqlite, &file, "Database=/d/n1.db;");
    /* the driver would take braces for a part of the value */
    assert_true(connstr_set(&passed, "PWD", " a{b", CONNSTR_PLAIN));
    check_string(&inner_sqlite, &dsn, "DSN=n1;PWD= a{b;");
    assert_true(connstr_set(&passed, "LoadExt", "a;b", CONNSTR_PLAIN));
    text_init_wiped(&out);
    assert_false(inner_sqlite.compose(&dsn, false, &out, &why));
    assert_int_equal(why.code, WHY_VALUE);
    assert_non_null(strstr(why.text, "LoadExt"));
    text_free(&out);
    connstr_free(&passed);
}

static void mariadb_is_told_its_host_or_socket(void **state)
{
    struct connstr passed;
    struct inner_target dsn = { .dsn = "m1", .passed = &passed };
    struct inner_target host = { .driver = "MariaDB Unicode", .host = "h",
                                 .port = "3307", .passed = &passed };
    struct inner_target path = { .driver = "MariaDB Unicode",
                                 .host = "/run/m.sock", .passed = &passed };

    (void)state;
    connstr_init(&passed);
    assert_true(connstr_set(&passed, "PWD", "a;b}c", CONNSTR_BRACED));
    check_string(&inner_mariadb, &dsn, "DSN=m1;PWD={a;b}}c};");
    check_string(&inner_mariadb, &host, "DRIVER={MariaDB Unicode};Server={h};"
                 "Port={3307};PWD={a;b}}c};");
    check_string(&inner_mariadb, &path, "DRIVER={MariaDB Unicode};"
                 "Socket={/run/m.sock};PWD={a;b}}c};");
    connstr_free(&passed);
}

/* ---- errors */

static void faults_are_known(void **state)
{
    static const struct {
        const struct inner_kind *kind;
        const char *state;
        SQLINTEGER native;
        enum inner_fault fault;
    } rows[] = {
        { &inner_sqlite, "HY000", 14, INNER_FAULT_INSTANCE }, /* no file */
        { &inner_sqlite, "HY000", 0, INNER_FAULT_POOL }, /* ours */
        { &inner_mariadb, "HY000", 2002, INNER_FAULT_INSTANCE },
        { &inner_mariadb, "08S01", 2013, INNER_FAULT_INSTANCE },
        { &inner_mariadb, "HY000", 2014, INNER_FAULT_NONE }, /* out of sync */
        { &inner_mariadb, "HY000", 2031, INNER_FAULT_NONE }, /* not bound */
        { &inner_mariadb, "28000", 1045, INNER_FAULT_LOGIN },
        { &inner_mariadb, "42000", 1044, INNER_FAULT_LOGIN },
        { &inner_mariadb, "42000", 1049, INNER_FAULT_POOL },
        { &inner_mariadb, "08004", 1040, INNER_FAULT_FULL },
        { &inner_mariadb, "42000", 1226, INNER_FAULT_CROWDED },
        { &inner_mariadb, "HY018", 1927, INNER_FAULT_LINK },
        { &inner_mariadb, "HY000", 0, INNER_FAULT_POOL }, /* its string */
        { &inner_mariadb, "42S02", 1146, INNER_FAULT_NONE },
        { &inner_unknown, "28000", 1, INNER_FAULT_LOGIN },
        { &inner_unknown, "08001", 1, INNER_FAULT_INSTANCE },
        { &inner_unknown, "HYT00", 1, INNER_FAULT_INSTANCE },
        { &inner_unknown, "42000", 1, INNER_FAULT_POOL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(rows[i].kind->fault(rows[i].state, rows[i].native,
                                             ""),
                         rows[i].fault);
    }
}

/* psqlODBC clears records when it is asked, MariaDB's driver pings. */
static void what_may_be_a_death_is_known(void **state)
{
    static const struct {
        const struct inner_kind *kind;
        const char *sqlstate;
        SQLINTEGER native;
        const char *text;
        bool may;
    } rows[] = {
        { &inner_psqlodbc, "57P01", 35, "FATAL: terminating", true },
        { &inner_psqlodbc, "08S01", 35, "connection lost", true },
        { &inner_psqlodbc, "57P04", 1, "FATAL: the database is gone", true },
        { &inner_psqlodbc, "25P03", 1, "idle in transaction", true },
        { &inner_psqlodbc, "HY000", 1,
          "server closed the connection unexpectedly\n", true },
        { &inner_psqlodbc, "HY000", 1, "can't copy to IRD", false },
        { &inner_psqlodbc, "HY000", 8, "internal SAVEPOINT failed", true },
        { &inner_psqlodbc, "42601", 1, "ERROR: near \n", false },
        { &inner_mariadb, "HY000", 5014, "Broken pipe", true },
        { &inner_mariadb, "HY000", 2013, "Lost connection", true },
        { &inner_mariadb, "HY000", 2014, "Commands out of sync", false },
        { &inner_mariadb, "08S01", 1156, "packets out of order", true },
        { &inner_mariadb, "HY000", 1364, "no default value", false },
        { &inner_mariadb, "HYC00", 0, "not implemented", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(rows[i].kind->may_be_dead(rows[i].sqlstate,
                                                   rows[i].native,
                                                   rows[i].text),
                         rows[i].may);
    }
}

static void wrong_questions_are_known(void **state)
{
    static const struct {
        const struct inner_kind *kind;
        const char *state;
        SQLINTEGER native;
        bool wrong;
    } rows[] = {
        { &inner_psqlodbc, "42P01", 1, true },
        { &inner_psqlodbc, "22P02", 1, true },
        { &inner_psqlodbc, "0A000", 1, true },
        { &inner_psqlodbc, "42501", 1, false },
        { &inner_psqlodbc, "57014", 1, false },
        { &inner_mariadb, "42S02", 1146, true },
        { &inner_mariadb, "42000", 1064, true },
        { &inner_mariadb, "42000", 1142, false }, /* another login may */
        { &inner_mariadb, "HY000", 1205, false },
        { &inner_unknown, "42S02", 0, true },
        { &inner_unknown, "HY000", 0, false },
        { &inner_sqlite, "HY000", 1, true },   /* no such table */
        { &inner_sqlite, "HY000", -1, true },  /* the driver's own */
        { &inner_sqlite, "HY000", 5, false },  /* locked */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(rows[i].kind->sql->says_wrong(rows[i].state,
                                                       rows[i].native),
                         rows[i].wrong);
    }
}

/* ---- SQL */

static void texts_become_literals(void **state)
{
    static const struct {
        const struct inner_kind *kind;
        const char *value, *sql;
    } rows[] = {
        { &inner_sqlite, "it's", "'it''s'" },
        { &inner_sqlite, "", "''" },
        { &inner_sqlite, "a\\b\tc", "'a\\b c'" },
        { &inner_sqlite, "\xC3\xA9'\n", "CAST(X'c3a92720' AS TEXT)" },
        { &inner_sqlite, "\xE9", "CAST(X'efbfbd' AS TEXT)" },
        { &inner_mariadb, "it's\n", "'it''s '" },
        { &inner_mariadb, "a\\'", "CONVERT(X'615c27' USING utf8mb4)" },
        { &inner_mariadb, "\xC3\xA9", "CONVERT(X'c3a9' USING utf8mb4)" },
        { &inner_unknown, "it's\x01\\", "'it''s /'" },
        { &inner_unknown, "a\xC3\xA9\xE2\x82\xACz", "'a??z'" },
        { &inner_unknown, "\x7f", "' '" },
        { &inner_unknown, "a\x80", "'a?'" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text sql;

        text_init(&sql);
        rows[i].kind->sql->literal(rows[i].value, &sql);
        assert_string_equal(text_string(&sql), rows[i].sql);
        text_free(&sql);
    }
}

/* Whoever has no reset is closed after use; a kind that has one must say what
   it puts around a question, since the link goes on to a session. */
static void every_kind_is_whole(void **state)
{
    static const struct inner_kind *const kinds[] = {
        &inner_psqlodbc, &inner_mariadb, &inner_sqlite, &inner_unknown,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const struct inner_kind *kind = kinds[i];

        assert_non_null(kind->name);
        assert_non_null(kind->compose);
        assert_non_null(kind->who);
        assert_non_null(kind->fault);
        assert_non_null(kind->sql->literal);
        assert_non_null(kind->sql->says_wrong);
        assert_int_equal(!kind->sql->begin, !kind->sql->end);
        assert_true(!kind->reset || kind->sql->begin);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_tells_the_kind),
        cmocka_unit_test(sqlite_is_told_its_file),
        cmocka_unit_test(mariadb_is_told_its_host_or_socket),
        cmocka_unit_test(faults_are_known),
        cmocka_unit_test(what_may_be_a_death_is_known),
        cmocka_unit_test(wrong_questions_are_known),
        cmocka_unit_test(texts_become_literals),
        cmocka_unit_test(every_kind_is_whole),
    };

    return cmocka_run_group_tests_name("inner_kind", tests, NULL, NULL);
}
