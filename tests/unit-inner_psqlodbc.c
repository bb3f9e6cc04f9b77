/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What we know of psqlODBC: connection strings by origin of their values (as
 * psqlODBC 13.02 was seen to read them), and what refusals mean.
 */
#include "autoconf.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "connstr.h"
#include "environment.h"
#include "inifile.h"
#include "inner_kind.h"
#include "unit_folder.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* The instance's DSN n1 with these lines in it. */
static void put_dsn(const char *lines)
{
    struct text ini;

    text_init(&ini);
    text_appendf(&ini, "[n1]\nDriver=PG\nServername=h1\n%s\n", lines);
    unit_folder_put("odbc.ini", text_string(&ini));
    unit_folder_put("odbcinst.ini", "[PG]\nDriver=psqlodbcw.so\n"
        "pqopt=application_name=driver\nConnSettings=set driver to 1\n");
    text_free(&ini);
    inifile_forget();
}

struct row {
    const char *what;
    const char *ini;    /* lines of the instance's DSN */
    const char *string; /* what the application's string hands down */
    const char *wide;   /* what psqlodbcw gets, without pqopt … */
    const char *pqopt;  /* … the pqopt before our options, or NULL = none … */
    const char *settings; /* … and ConnSettings before ours, likewise */
};

#define OPTIONS "options='-c DateStyle=ISO -c extra_float_digits=2'"
#define ENCODING "set client_encoding to 'UTF8'"

static void append_expected(struct text *out, const struct row *row, bool wide)
{
    text_append(out, row->wide);
    text_appendf(out, "pqopt={%s%s" OPTIONS "};", row->pqopt ? row->pqopt : "",
                 wide ? "client_encoding='UTF8' " : "");
    if (wide) {
        text_appendf(out, "ConnSettings={%s%s" ENCODING "};",
                     row->settings ? row->settings : "",
                     row->settings ? ";" : "");
    } else if (row->settings) {
        text_appendf(out, "ConnSettings={%s};", row->settings);
    }
}

static void check_row(const struct row *row, const struct connstr *passed,
                      bool wide)
{
    struct inner_target target = { .dsn = "n1", .passed = passed };
    struct why why = { .code = WHY_NONE };
    struct text got, expected;

    text_init(&got);
    text_init(&expected);
    if (!inner_psqlodbc.compose(&target, wide, &got, &why)) {
        fail_msg("%s: %s", row->what, why.text);
    }
    append_expected(&expected, row, wide);
    if (strcmp(text_string(&got), text_string(&expected)) != 0) {
        fail_msg("%s:\n  got      %s\n  expected %s", row->what,
                 text_string(&got), text_string(&expected));
    }
    /* ConnSettings come again after each reset, without our encoding. */
    text_clear(&got);
    assert_true(inner_psqlodbc.settings(&target, &got, &why));
    assert_string_equal(text_string(&got), row->settings ? row->settings : "");
    text_free(&got);
    text_free(&expected);
}

static void values_keep_their_meaning_whatever_their_origin(void **state)
{
    static const struct row rows[] = {
        { "nothing", "", "", "DSN=n1;", NULL, NULL },
        { "a password unbraced is decoded", "", "UID=u;PWD=a%2520b%2Bc+d",
          "DSN=n1;UID=u;PWD={a%20b+c d};", NULL, NULL },
        { "braced it is literal", "", "PWD={a%20b+c;d}}e}",
          "DSN=n1;PWD={a%20b+c;d}}e};", NULL, NULL },
        { "by any of its names", "", "Password=%7D%7d%;",
          "DSN=n1;Password={}}}}%};", NULL, NULL },
        { "half an escape is none", "", "PWD=%4%zz%",
          "DSN=n1;PWD={%4%zz%};", NULL, NULL },
        { "other keywords are handed down as they are", "",
          "Database=a%20b+c;BoolsAsChar=0;UID=x y",
          "DSN=n1;Database=a%20b+c;BoolsAsChar=0;UID=x y;", NULL, NULL },
        { "braced only where they must be", "", "Database={a;b}}c};UID={d}",
          "DSN=n1;Database={a;b}}c};UID=d;", NULL, NULL },
        { "pqopt unbraced is decoded", "", "pqopt=application_name='a%20b+c'",
          "DSN=n1;", "application_name='a b c' ", NULL },
        { "braced it is literal", "", "pqopt={application_name='a%20b+c'}",
          "DSN=n1;", "application_name='a%20b+c' ", NULL },
        { "in the instance's DSN it is literal too",
          "pqopt=application_name='a%20b+c'", "",
          "DSN=n1;", "application_name='a%20b+c' ", NULL },
        { "the string wins over the DSN", "pqopt=application_name=ini",
          "PQOPT=application_name=str", "DSN=n1;", "application_name='str' ",
          NULL },
        { "a brace in pqopt is written twice", "",
          "pqopt={application_name=a}}b}", "DSN=n1;",
          "application_name='a}}b' ", NULL },
        { "by its short name too", "", "D5=application_name=a%20",
          "DSN=n1;", "application_name='a' ", NULL },
        { "ConnSettings unbraced are decoded", "",
          "ConnSettings=set geqo to 'a%20+b'", "DSN=n1;", NULL,
          "set geqo to 'a  b'" },
        { "braced they are literal", "",
          "ConnSettings={set geqo to 'a%20+b';set a=1}", "DSN=n1;", NULL,
          "set geqo to 'a%20+b';set a=1" },
        { "by their short name too", "", "A6=set geqo=off",
          "DSN=n1;", NULL, "set geqo=off" },
        { "in an ini file they are SQL if blanks stand in two places",
          "ConnSettings=set geqo to 'a%20b+c'", "", "DSN=n1;", NULL,
          "set geqo to 'a%20b+c'" },
        { "else they are encoded", "ConnSettings=set+geqo+to+'a%20b'", "",
          "DSN=n1;", NULL, "set geqo to 'a b'" },
        { "one place is not two", "ConnSettings=set   geqo='a%20b'", "",
          "DSN=n1;", NULL, "set   geqo='a b'" },
        { "the string's win", "ConnSettings=set a=1",
          "ConnSettings=set b=1", "DSN=n1;", NULL, "set b=1" },
    };
    (void)state;

    unsetenv("PGOPTIONS");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct connstr passed;
        connstr_init(&passed);
        put_dsn(rows[i].ini);
        assert_true(connstr_parse(&passed, rows[i].string,
                                  strlen(rows[i].string)));
        check_row(&rows[i], &passed, true);
        check_row(&rows[i], &passed, false);
        connstr_free(&passed);
    }
}

/* What stands in our own DSN means what it would in the instance's, and
   arguments of SQLConnect are literal. */
static void ini_values_and_arguments_too(void **state)
{
    static const struct row row = {
        "origins", "", "", "DSN=n1;UID=a%20b;PWD={p%20+};",
        "application_name='x%20' ", "set a = '%20'"
    };
    static const struct row decoded = {
        "origins", "", "", "DSN=n1;PWD={p  };", NULL, "set a=' '"
    };
    struct connstr passed;
    (void)state;

    put_dsn("");
    connstr_init(&passed);
    assert_true(connstr_set(&passed, "UID", "a%20b", CONNSTR_ARGUMENT));
    assert_true(connstr_set(&passed, "PWD", "p%20+", CONNSTR_ARGUMENT));
    assert_true(connstr_set(&passed, "pqopt", "application_name='x%20'",
                            CONNSTR_INI));
    assert_true(connstr_set(&passed, "ConnSettings", "set a = '%20'",
                            CONNSTR_INI));
    check_row(&row, &passed, true);
    connstr_free(&passed);
    assert_true(connstr_set(&passed, "PWD", "p%20+", CONNSTR_INI));
    assert_true(connstr_set(&passed, "ConnSettings", "set+a='%20'",
                            CONNSTR_INI));
    check_row(&decoded, &passed, false);
    connstr_free(&passed);
}

static void compose_to(struct text *out, const struct inner_target *target,
                       bool wide)
{
    struct why why = { .code = WHY_NONE };

    text_clear(out);
    if (!inner_psqlodbc.compose(target, wide, out, &why)) {
        fail_msg("%s", why.text);
    }
}

static void pgoptions_stand_before_the_users_and_ours(void **state)
{
    struct connstr passed;
    struct inner_target target = { .dsn = "n1", .passed = &passed };
    struct text out;
    (void)state;

    put_dsn("pqopt=options='-c geqo=on'");
    connstr_init(&passed);
    text_init(&out);
    setenv("PGOPTIONS", "-c geqo=off -c search_path='a'", 1);
    compose_to(&out, &target, false);
    assert_string_equal(text_string(&out), "DSN=n1;pqopt={options='-c geqo=off -c "
                        "search_path=\\'a\\' -c geqo=on -c DateStyle=ISO "
                        "-c extra_float_digits=2'};");
    unsetenv("PGOPTIONS");
    text_free(&out);
}

/* glibc's, counted. */
static unsigned locales_made;

locale_t newlocale(int mask, const char *name, locale_t base)
{
    __typeof__(newlocale) *real;

    *(void **)(void *)&real = dlsym(RTLD_NEXT, "newlocale");
    locales_made++;
    return real(mask, name, base);
}

/* Each is made under a lock that no child of fork may need. */
static void the_locale_is_tried_once(void **state)
{
    struct connstr passed;
    struct inner_target target = { .dsn = "n1", .passed = &passed };
    struct text out;

    (void)state;
    connstr_init(&passed);
    text_init(&out);
    put_dsn("");
    for (int i = 0; i < 6; i++) {
        setenv("LC_ALL", i < 3 ? "C.UTF-8" : "nn_NO.UTF-8", 1);
        locales_made = 0;
        compose_to(&out, &target, false);
        assert_int_equal(locales_made, i % 3 == 0);
    }
    setenv("LC_ALL", "C", 1);
    text_free(&out);
}

/* What psqlODBC would ask setlocale() for. */
static void a_narrow_link_has_the_encoding_of_the_locale(void **state)
{
    static const struct {
        const char *locale, *environment, *ini, *settings;
    } rows[] = {
        { "C", NULL, "", "" },
        { "nn_NO.UTF-8", NULL, "", "" }, /* not installed */
        { "C.UTF-8", NULL, "",
          "ConnSettings={set client_encoding to 'UTF8'};" },
        { "C.utf8", NULL, "ConnSettings=set a to 1",
          "ConnSettings={set a to 1;set client_encoding to 'UTF8'};" },
        { "C.UTF-8", "LATIN1", "", "" },
        { "C.UTF-8", NULL, "ConnSettings=set client_encoding to latin9",
          "ConnSettings={set client_encoding to latin9};" },
    };
    struct connstr passed;
    struct inner_target target = { .dsn = "n1", .passed = &passed };
    struct text out, wanted;
    (void)state;

    connstr_init(&passed);
    text_init(&out);
    text_init(&wanted);
    for (size_t i = 0; i < COUNT(rows); i++) {
        put_dsn(rows[i].ini);
        setenv("LC_ALL", rows[i].locale, 1);
        if (rows[i].environment) {
            setenv("PGCLIENTENCODING", rows[i].environment, 1);
        }
        compose_to(&out, &target, false);
        text_clear(&wanted);
        text_appendf(&wanted, "DSN=n1;pqopt={" OPTIONS "};%s",
                     rows[i].settings);
        assert_string_equal(text_string(&out), text_string(&wanted));
        unsetenv("PGCLIENTENCODING");
    }
    setenv("LC_ALL", "C", 1);
    text_free(&out);
    text_free(&wanted);
}

static struct text composed;

static void *compose_denied(void *target)
{
    environment_deny();
    compose_to(&composed, target, false);
    assert_true(inner_psqlodbc.settings(target, &composed, NULL));
    return NULL;
}

/* Rules §15: threads of ours read no ini file and no environment.  They go by
   what was there when the fleet was made; one who read would abort. */
static void threads_of_ours_read_nothing(void **state)
{
    struct connstr passed;
    struct inner_target target = { .dsn = "n1", .passed = &passed };
    struct environment *copy;
    pthread_t thread;
    (void)state;

    connstr_init(&passed);
    put_dsn("ConnSettings=set a to 1");
    setenv("LC_ALL", "C.utf8", 1);
    setenv("PGOPTIONS", "-c geqo=off", 1);
    setenv("PGDATESTYLE", "German", 1);
    target.section = inifile_section("n1", INIFILE_DSN, NULL);
    target.environment = copy = environment_read(inner_psqlodbc.environment);
    put_dsn("ConnSettings=set a to 2"); /* and then everything changes */
    setenv("LC_ALL", "C", 1);
    setenv("PGOPTIONS", "-c geqo=on", 1);
    unsetenv("PGDATESTYLE");
    setenv("PGCLIENTENCODING", "LATIN1", 1);
    assert_int_equal(pthread_create(&thread, NULL, compose_denied, &target), 0);
    pthread_join(thread, NULL);
    assert_string_equal(
        text_string(&composed), "DSN=n1;pqopt={options='-c geqo=off -c DateStyle=ISO "
        "-c extra_float_digits=2'};ConnSettings={set a to 1;set "
        "client_encoding to 'UTF8'};SET DateStyle = 'ISO';set a to 1");
    text_free(&composed);
    unsetenv("PGOPTIONS");
    unsetenv("PGCLIENTENCODING");
    environment_free(copy);
    inifile_release(target.section);
    connstr_free(&passed);
}

static void an_instance_without_a_dsn_is_host_and_port(void **state)
{
    struct connstr passed;
    struct inner_target target = {
        .driver = "PG", .host = "::1", .port = "6543", .passed = &passed,
    };
    struct text out;
    (void)state;

    put_dsn("pqopt=application_name=ini");
    connstr_init(&passed);
    assert_true(connstr_parse(&passed, "Database=d", 10));
    text_init(&out);
    compose_to(&out, &target, false);
    assert_string_equal(text_string(&out), "Servername=::1;Port=6543;"
                        "Database=d;pqopt={" OPTIONS "};");
    target.port = NULL;
    target.host = "h";
    compose_to(&out, &target, false);
    assert_string_equal(text_string(&out), "Servername=h;Port=5432;"
                        "Database=d;pqopt={" OPTIONS "};");
    connstr_free(&passed);
    text_free(&out);
}

static void what_cannot_be_composed_says_why(void **state)
{
    struct connstr passed;
    struct inner_target target = { .dsn = "n1", .passed = &passed };
    struct why why = { .code = WHY_NONE };
    struct text out;
    (void)state;

    put_dsn("");
    connstr_init(&passed);
    text_init(&out);
    assert_true(connstr_set(&passed, "pqopt", "password=secret x",
                            CONNSTR_BRACED));
    assert_false(inner_psqlodbc.compose(&target, true, &out, &why));
    assert_int_equal(why.code, WHY_VALUE);
    assert_null(strstr(why.text, "secret"));
    connstr_free(&passed);
    text_clear(&out);
    target.dsn = "gone";
    assert_false(inner_psqlodbc.compose(&target, true, &out, &why));
    assert_int_equal(why.code, WHY_DSN);
    text_free(&out);
}

/* ---- what refusals mean ----------------------------------------------------- */

struct saying {
    const char *state, *text;
    enum inner_fault fault;
};

/* psqlODBC 13.02 gives 08001 or 08S01 with the server's words when a
   connection cannot be opened, whatever the server's SQLSTATE. */
static void words_count_where_the_state_is_lost(void **state)
{
    static const struct saying rows[] = {
        { "08001", "FATAL:  password authentication failed for user \"u\"",
          INNER_FAULT_LOGIN },
        { "08001", "FATAL:  Peer authentication failed for user \"u\"",
          INNER_FAULT_LOGIN },
        { "08001", "FATAL:  LDAP authentication failed for user \"u\"",
          INNER_FAULT_LOGIN },
        { "08001", "FATAL:  no pg_hba.conf entry for host \"h\", user \"u\"",
          INNER_FAULT_LOGIN },
        { "08001", "FATAL:  pg_hba.conf rejects connection for host \"h\"",
          INNER_FAULT_LOGIN },
        { "08001", "fe_sendauth: no password supplied", INNER_FAULT_LOGIN },
        { "08001", "FATAL:  role \"u\" does not exist", INNER_FAULT_LOGIN },
        { "08001", "FATAL:  role \"u\" is not permitted to log in",
          INNER_FAULT_LOGIN },
        { "08001", "FATAL:  permission denied for database \"d\"",
          INNER_FAULT_LOGIN },
        { "08001", "FATAL:  database \"d\" does not exist",
          INNER_FAULT_POOL },
        { "08001", "FATAL:  database \"d\" is not currently accepting "
          "connections", INNER_FAULT_POOL },
        { "08001", "FATAL:  sorry, too many clients already",
          INNER_FAULT_FULL },
        { "08001", "FATAL:  remaining connection slots are reserved for "
          "non-replication superuser connections", INNER_FAULT_FULL },
        { "08001", "FATAL:  too many connections for role \"u\"",
          INNER_FAULT_CROWDED },
        { "08001", "FATAL:  too many connections for database \"d\"",
          INNER_FAULT_CROWDED },
        { "53300", "FATAL:  too many connections for role \"u\"",
          INNER_FAULT_CROWDED },
        { "53300", "FATAL:  sorry, too many clients already",
          INNER_FAULT_FULL },
        { "08001", "FATAL:  the database system is starting up",
          INNER_FAULT_STARTING },
        { "08001", "FATAL:  the database system is shutting down",
          INNER_FAULT_STARTING },
        { "08001", "FATAL:  the database system is in recovery mode",
          INNER_FAULT_STARTING },
        { "08001", "FATAL:  the database system is not yet accepting "
          "connections", INNER_FAULT_STARTING },
        { "08S01", "FATAL:  terminating connection due to administrator "
          "command", INNER_FAULT_LINK },
        { "08S01", "FATAL:  terminating connection due to idle-session "
          "timeout", INNER_FAULT_LINK },
        { "08S01", "FATAL:  terminating connection due to "
          "idle-in-transaction timeout", INNER_FAULT_LINK },
        { "08S01", "WARNING:  terminating connection because of crash of "
          "another server process", INNER_FAULT_INSTANCE },
        { "08001", "connection to server at \"h\", port 5432 failed: "
          "Connection refused", INNER_FAULT_INSTANCE },
        { "08001", "could not translate host name \"h\"",
          INNER_FAULT_INSTANCE },
        { "08S01", "server closed the connection unexpectedly",
          INNER_FAULT_INSTANCE },
        { "HYT01", "timeout expired", INNER_FAULT_INSTANCE },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (inner_psqlodbc.fault(rows[i].state, 1, rows[i].text) !=
            rows[i].fault) {
            fail_msg("%s %s: %d instead of %d", rows[i].state, rows[i].text,
                     inner_psqlodbc.fault(rows[i].state, 1, rows[i].text),
                     rows[i].fault);
        }
    }
}

/* Rules §5.2, row by row; messages in another language leave only these. */
static void states_count_where_they_are_given(void **state)
{
    static const struct saying rows[] = {
        { "28000", "", INNER_FAULT_LOGIN },
        { "28P01", "", INNER_FAULT_LOGIN },
        { "42501", "", INNER_FAULT_LOGIN },
        { "3D000", "", INNER_FAULT_POOL },
        { "57P04", "", INNER_FAULT_POOL },
        { "53300", "", INNER_FAULT_FULL },
        { "57P03", "", INNER_FAULT_STARTING },
        { "57P01", "", INNER_FAULT_LINK },
        { "57P05", "", INNER_FAULT_LINK },
        { "25P03", "", INNER_FAULT_LINK },
        { "57P02", "", INNER_FAULT_INSTANCE },
        { "08006", "", INNER_FAULT_INSTANCE },
        { "57014", "", INNER_FAULT_NONE },
        { "40001", "", INNER_FAULT_NONE },
        { "40P01", "", INNER_FAULT_NONE },
        { "53100", "", INNER_FAULT_NONE },
        { "53200", "", INNER_FAULT_NONE },
        { "58030", "", INNER_FAULT_NONE },
        { "XX000", "", INNER_FAULT_NONE },
        { "25006", "", INNER_FAULT_NONE },
        { "HY000", "", INNER_FAULT_NONE },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (inner_psqlodbc.fault(rows[i].state, 1, rows[i].text) !=
            rows[i].fault) {
            fail_msg("%s", rows[i].state);
        }
    }
}

static void a_failed_reset_may_be_tried_again(void **state)
{
    struct text sql;
    (void)state;

    assert_string_equal(inner_psqlodbc.reset_again("57014"), "");
    assert_string_equal(inner_psqlodbc.reset_again("25P02"), "ROLLBACK");
    assert_string_equal(inner_psqlodbc.reset_again("25001"), "ROLLBACK");
    assert_null(inner_psqlodbc.reset_again("42501"));
    assert_null(inner_psqlodbc.reset_again("08S01"));
    text_init(&sql);
    inner_psqlodbc.set_encoding("LATIN1", &sql);
    assert_string_equal(text_string(&sql), "SET client_encoding TO 'LATIN1'");
    text_free(&sql);
}

static void statement_defaults_are_known(void **state)
{
    SQLULEN value = 99;
    (void)state;

    assert_true(inner_psqlodbc.attr_default(SQL_ATTR_MAX_ROWS, &value));
    assert_int_equal(value, 0);
    assert_true(inner_psqlodbc.attr_default(SQL_ROWSET_SIZE, &value));
    assert_int_equal(value, 1);
    assert_false(inner_psqlodbc.attr_default(SQL_ATTR_AUTOCOMMIT, &value));
}

/* PGCLIENTENCODING is PostgreSQL's name, however it is punctuated; without it,
   what the locale is called counts, if there is such a locale. */
static void narrow_texts_are_in_an_encoding(void **state)
{
    static const struct {
        const char *client, *locale, *encoding;
    } rows[] = {
        { "LATIN1", "C", "ISO-8859-1" },
        { "latin-9", "C", "ISO-8859-15" },
        { "ISO_8859-5", "C", "ISO-8859-5" },
        { "WIN1252", "C.UTF-8", "CP1252" },
        { "UTF8", "C", NULL },
        { "SQL_ASCII", "C", NULL },
        { "LATIN", "C", NULL },
        { "LATIN11", "C", NULL },
        { "", "C", NULL },
        { NULL, "C", NULL },
        { NULL, "C.UTF-8", NULL },
        { NULL, "no_SUCH.ISO-8859-1", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *encoding;

        setenv("LC_ALL", rows[i].locale, 1);
        if (rows[i].client) {
            setenv("PGCLIENTENCODING", rows[i].client, 1);
        } else {
            unsetenv("PGCLIENTENCODING");
        }
        encoding = inner_psqlodbc.narrow_encoding();
        if (!encoding != !rows[i].encoding ||
            (encoding && strcmp(encoding, rows[i].encoding) != 0)) {
            fail_msg("row %zu: %s", i, encoding ? encoding : "NULL");
        }
    }
    unsetenv("LC_ALL");
    unsetenv("PGCLIENTENCODING");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_their_meaning_whatever_their_origin),
        cmocka_unit_test(ini_values_and_arguments_too),
        cmocka_unit_test(pgoptions_stand_before_the_users_and_ours),
        cmocka_unit_test(a_narrow_link_has_the_encoding_of_the_locale),
        cmocka_unit_test(threads_of_ours_read_nothing),
        cmocka_unit_test(the_locale_is_tried_once),
        cmocka_unit_test(an_instance_without_a_dsn_is_host_and_port),
        cmocka_unit_test(what_cannot_be_composed_says_why),
        cmocka_unit_test(words_count_where_the_state_is_lost),
        cmocka_unit_test(states_count_where_they_are_given),
        cmocka_unit_test(a_failed_reset_may_be_tried_again),
        cmocka_unit_test(statement_defaults_are_known),
        cmocka_unit_test(narrow_texts_are_in_an_encoding),
    };

    unit_folder_make();
    setenv("LC_ALL", "C", 1);
    unsetenv("PGCLIENTENCODING");
    return cmocka_run_group_tests_name("inner_psqlodbc", tests, NULL,
                                       unit_folder_remove);
}
