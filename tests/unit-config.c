/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Keywords: layers, checks, what goes down, and the texts made of them.
 * LONG: config*.c are reached only through config_read_*() over ini files, so
 * that their tests share one set of those.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config.h"
#include "inifile.h"
#include "unit_folder.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* The files of each test; the DSN orders needs no more than this. */
static void put_files(const char *orders, const char *affinity)
{
    struct text dsn, driver;

    text_init(&dsn);
    text_init(&driver);
    text_appendf(&dsn, "[orders]\nDriver=Affinity\nDescription=x\n%s", orders);
    text_appendf(&driver, "[Affinity]\nDriver=libodbcaffinity.so\nUsageCount=1"
                 "\nThreading=0\nDontDLClose=1\n%s\n[Affinity ANSI]\nDriver="
                 "libodbcaffinitya.so\nPoolMax=7\n", affinity);
    unit_folder_put("odbc.ini", text_string(&dsn));
    unit_folder_put("odbcinst.ini", text_string(&driver));
    unit_folder_put("user.ini", "[DEFAULT]\nDriver=/opt/libodbcaffinity.so\nInstances=d1\n"
        "[ansi]\nDriver=/opt/libodbcaffinitya.so\nInstances=a1\n");
    inifile_forget();
    text_free(&dsn);
    text_free(&driver);
}

static int plain_files(void **state)
{
    (void)state;
    put_files("Instances=n1,n2\n", "");
    return 0;
}

static bool read_string(struct config *config, const char *string,
                        struct why *why)
{
    return config_read_string(config, string, strlen(string), why);
}

static void must_read(struct config *config, const char *string)
{
    struct why why = { .code = WHY_NONE };

    if (!read_string(config, string, &why)) {
        print_message("# %s: %s\n", string, why.text);
        fail();
    }
}

/* The reading fails with that code, and its sentence says each of the parts
   that | divides. */
static void must_fail(const char *string, enum why_code code,
                      const char *parts)
{
    struct config config;
    struct why why = { .code = WHY_NONE };
    char copy[256], *save = NULL;

    snprintf(copy, sizeof copy, "%s", parts);
    assert_false(read_string(&config, string, &why));
    if (why.code != code) {
        print_message("# %s: %s\n", string, why.text);
    }
    assert_int_equal(why.code, code);
    for (char *part = strtok_r(copy, "|", &save); part;
         part = strtok_r(NULL, "|", &save)) {
        if (!strstr(why.text, part)) {
            print_message("# %s: no \"%s\" in: %s\n", string, part, why.text);
            fail();
        }
    }
    config_free(&config);
}

static void passed_is(const struct config *config, const char *expected)
{
    struct text text;

    text_init(&text);
    for (size_t i = 0; i < config->passed.count; i++) {
        const struct connstr_item *item = &config->passed.items[i];

        text_appendf(&text, "%s%c%s|", item->keyword, "=:#!"[item->origin],
                     item->value);
    }
    assert_string_equal(text_string(&text), expected);
    text_free(&text);
}

/* ---- values ---- */

static void defaults_are_this_versions(void **state)
{
    struct config c;

    (void)state;
    must_read(&c, "DSN=orders");
    assert_string_equal(c.dsn, "orders");
    assert_string_equal(c.driver, "Affinity");
    assert_int_equal(c.fleet.list_count, 2);
    assert_string_equal(c.fleet.list[0].name, "n1");
    assert_string_equal(c.fleet.list[1].name, "n2");
    assert_null(c.fleet.list[1].host);
    assert_int_equal(c.session.mode, CONFIG_HINT);
    assert_int_equal(c.session.access, CONFIG_READ_WRITE);
    assert_int_equal(c.session.scope, CONFIG_SCOPE_CONNECTION);
    assert_int_equal(c.session.pool_wait, 3000);
    assert_string_equal(c.session.key, "");
    assert_int_equal(c.fleet.balance, CONFIG_ADAPTIVE);
    assert_int_equal(c.fleet.create, CONFIG_BACKGROUND);
    assert_int_equal(c.fleet.move, CONFIG_MOVE_NONE);
    assert_int_equal(c.fleet.pool_max, 20);
    assert_int_equal(c.fleet.pool_max_total, 0);
    assert_int_equal(c.fleet.pool_idle, 600000);
    assert_int_equal(c.fleet.pool_lifetime, 1800000);
    assert_int_equal(c.fleet.pool_max_reuse, 0);
    assert_int_equal(c.fleet.pool_trust, 500);
    assert_int_equal(c.fleet.check_timeout, 5000);
    assert_int_equal(c.fleet.connect_timeout, 10000);
    assert_int_equal(c.passed.count, 0);
    assert_int_equal(c.warning_count, 0);
    config_free(&c);
}

static void values_are_typed(void **state)
{
    struct config c;

    (void)state;
    must_read(&c, "dsn=orders;AFFINITYMODE= Strict ;affinitykey={a;b};"
              "PoolWait=0;PoolMax= 3 ;LoadBalance=RANDOM;Access=read-only;"
              "AffinityTable=public.orders;PoolIdleTimeout=2147483647");
    assert_int_equal(c.session.mode, CONFIG_STRICT);
    assert_string_equal(c.session.key, "a;b");
    assert_int_equal(c.session.pool_wait, 0);
    assert_int_equal(c.fleet.pool_max, 3);
    assert_int_equal(c.fleet.balance, CONFIG_RANDOM);
    assert_int_equal(c.session.access, CONFIG_READ_ONLY);
    assert_string_equal(c.fleet.table, "public.orders");
    assert_int_equal(c.fleet.pool_idle, 2147483647);
    assert_string_equal(config_word_mode(c.session.mode), "strict");
    assert_string_equal(config_word_mode((enum config_mode)99), "?");
    config_free(&c);
}

static void an_empty_value_is_the_default(void **state)
{
    struct config c;

    (void)state;
    put_files("Instances=n1\nPoolMax=5\nAffinityMode=strict\n", "");
    must_read(&c, "DSN=orders;PoolMax=;AffinityMode= ;AffinityKey=");
    assert_int_equal(c.fleet.pool_max, 20);
    assert_int_equal(c.session.mode, CONFIG_HINT);
    assert_string_equal(c.session.key, "");
    config_free(&c);
}

static void impossible_values_are_refused_by_name(void **state)
{
    static const struct {
        const char *what, *parts;
    } rows[] = {
        { "PoolWait=5s", "PoolWait=5s|milliseconds|0 to 2147483647" },
        { "PoolWait=-1", "PoolWait=-1|0 to" },
        { "PoolWait=+1", "PoolWait=+1" },
        { "PoolWait=1.5", "PoolWait=1.5" },
        { "PoolWait=1 000", "PoolWait=1 000" },
        { "PoolWait=0x10", "PoolWait=0x10" },
        { "PoolWait=2147483648", "PoolWait=2147483648" },
        { "PoolWait=4294967297", "PoolWait=4294967297" },
        { "PoolWait=99999999999999999999999", "PoolWait=9999" },
        { "PoolMax=0", "PoolMax=0|1 to 100000" },
        { "PoolMax=ten", "PoolMax=ten|a whole number from" },
        { "ConnectTimeout=0", "ConnectTimeout=0|1 to" },
        { "AffinityMode=stric", "AffinityMode=stric|hint, prefer, strict" },
        { "affinitymode=strict,hint", "AffinityMode=strict,hint" },
        { "Access=read", "Access=read|read-write, read-only" },
        { "PoolMin=x", "PoolMin=x" },
        { "PoolMin=8;PoolMax=7", "PoolMin=8 is more than PoolMax=7" },
        { "PoolMin=21", "PoolMin=21 is more than PoolMax=20" },
        { "PoolInitial=30", "PoolInitial=30 is more than PoolMax=20" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char string[128];

        snprintf(string, sizeof string, "DSN=orders;%s", rows[i].what);
        must_fail(string, WHY_VALUE, rows[i].parts);
    }
}

static void what_does_not_work_yet_is_refused(void **state)
{
    static const char *const rows[] = {
        "AffinityScope=transaction", "ClientAffinity=all-after-any",
        "ClientAffinityTimeout=1000", "ClientAffinityBy=user",
        "ReadYourWrites=session", "ReadYourWritesWait=1", "ReadFrom=any",
        "MaxLag=10", "AffinityColumn=customer_id", "ReadFunctions=f",
        "CleanFunctions=f", "PoolReset=auto",
        "PoolReset=none", "Failover=session",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char string[128], parts[128];

        snprintf(string, sizeof string, "DSN=orders;%s", rows[i]);
        snprintf(parts, sizeof parts, "%s|not available in this version",
                 rows[i]);
        must_fail(string, WHY_UNAVAILABLE, parts);
    }
    must_fail("DSN=orders;MaxLag=any", WHY_VALUE, "MaxLag=any|allowed: 0");
    must_fail("DSN=orders;ClientAffinityTimeout=1s", WHY_VALUE,
              "ClientAffinityTimeout=1s|allowed: 20000");
}

static void what_happens_anyway_may_be_asked_for(void **state)
{
    struct config c;

    (void)state;
    must_read(&c, "DSN=orders;AffinityScope=connection;ClientAffinity=none;"
              "ClientAffinityTimeout=20000;ClientAffinityBy=session;"
              "ReadYourWrites=none;ReadYourWritesWait=0;ReadFrom=primary;"
              "MaxLag=0;AffinityColumn=;ReadFunctions=;CleanFunctions=;"
              "Capacity=0;PoolCreate=background;PoolInitial=0;PoolMin=0;"
              "SessionLimit=0;PoolReset=full;ManagerPooling=refuse;Failover=none;Log=;"
              "LogLevel=error;Metrics=");
    assert_int_equal(c.warning_count, 0);
    assert_int_equal(c.passed.count, 0);
    config_free(&c);
}

static void secrets_are_in_no_message(void **state)
{
    struct config config;
    struct text text = { 0 };
    struct why why;

    (void)state;
    assert_false(read_string(&config, "DSN=orders;MonitorPWD=geheim;PoolMax=x",
                             &why));
    assert_null(strstr(why.text, "geheim"));
    must_read(&config, "DSN=orders;MonitorPWD=geheim");
    config_show(&config, &text);
    assert_non_null(strstr(text_string(&text), "MonitorPWD=***\n"));
    assert_null(strstr(text_string(&text), "geheim"));
    text_free(&text);
    config_free(&config);
}

/* ---- layers ---- */

static void the_later_layer_wins(void **state)
{
    struct config c;

    (void)state;
    put_files("Instances=n1\nPoolMax=5\nUsername=dsn\nPassword=a%20b\n"
              "BoolsAsChar=0\nAffinityMode=prefer\n",
              "PoolMax=3\nPoolWait=1\nPoolTrust=9\nBoolsAsChar=1\n"
              "UseServerSidePrepare=1\n");
    must_read(&c, "DSN=orders;PoolWait=2;PWD={c%20d};X=1");
    assert_int_equal(c.fleet.pool_trust, 9); /* odbcinst.ini */
    assert_int_equal(c.fleet.pool_max, 5);   /* odbc.ini */
    assert_int_equal(c.session.mode, CONFIG_PREFER);
    assert_int_equal(c.session.pool_wait, 2); /* string */
    passed_is(&c, "BoolsAsChar#0|UseServerSidePrepare#1|Username#dsn|"
              "PWD:c%20d|X=1|");
    config_free(&c);
}

static void a_lower_layers_bad_value_may_be_overridden(void **state)
{
    struct config c;

    (void)state;
    put_files("Instances=n1\nAffinityMode=bogus\n", "");
    must_read(&c, "DSN=orders;AffinityMode=strict");
    config_free(&c);
    must_fail("DSN=orders", WHY_VALUE, "AffinityMode=bogus");
}

static void sqlconnects_arguments_are_literal(void **state)
{
    struct config c;
    struct why why;

    (void)state;
    put_files("Instances=n1\nUID=dsn\nPWD=old\n", "");
    assert_true(config_read_connect(&c, "orders", "bob", "p%20;}w", &why));
    passed_is(&c, "UID!bob|PWD!p%20;}w|");
    config_forget_login(&c);
    passed_is(&c, "");
    assert_int_equal(c.input.count, 0);
    config_free(&c);
    assert_true(config_read_connect(&c, "orders", "", NULL, &why));
    passed_is(&c, "UID#dsn|PWD#old|");
    config_free(&c);
    assert_true(config_read_connect(&c, NULL, NULL, NULL, &why));
    assert_string_equal(c.dsn, "DEFAULT");
    assert_string_equal(c.driver, "Affinity");
    config_free(&c);
    assert_false(config_read_connect(&c, "nine", NULL, NULL, &why));
    assert_int_equal(why.code, WHY_DSN);
    config_free(&c);
}

static void the_first_of_dsn_and_driver_counts(void **state)
{
    struct config c;

    (void)state;
    put_files("Instances=n1\n", "PoolMax=3\n");
    must_read(&c, "DRIVER={Affinity};DSN=orders;Instances=x1");
    assert_string_equal(c.dsn, "");
    assert_string_equal(c.fleet.list[0].name, "x1");
    assert_int_equal(c.fleet.pool_max, 3);
    config_free(&c);
    must_read(&c, "DSN=orders;DRIVER={Other}");
    assert_string_equal(c.dsn, "orders");
    assert_string_equal(c.driver, "Affinity");
    config_free(&c);
    must_read(&c, "DRIVER=/usr/lib/libodbcaffinity.so;Instances=x1");
    assert_string_equal(c.driver, "Affinity");
    assert_int_equal(c.fleet.pool_max, 3);
    config_free(&c);
    must_read(&c, "DSN=ansi");
    assert_string_equal(c.driver, "Affinity ANSI");
    assert_int_equal(c.fleet.pool_max, 7);
    config_free(&c);
    must_read(&c, "DRIVER={Unknown};Instances=x1");
    assert_string_equal(c.driver, "");
    config_free(&c);
    must_read(&c, "UID=u");
    assert_string_equal(c.dsn, "DEFAULT");
    config_free(&c);
    must_fail("DSN=nine", WHY_DSN, "[nine]");
    must_fail("DRIVER={Affinity}", WHY_VALUE, "Instances is missing");
}

static void the_managers_words_stay_here(void **state)
{
    struct config c;

    (void)state;
    put_files("Instances=n1\nSetup=s\nTrace=yes\nTraceFile=t\nCPTimeout=5\n"
              "DMEnvAttr=a\nPooling=1\nFileUsage=1\nDatabase=shop\n",
              "CPProbe=x\nPoolMaxSize=2\nPoolWaitTimeout=3\nSetup64=s\n");
    must_read(&c, "DSN=orders;FILEDSN=f;SAVEFILE=g;DMConnAttr={[1]=2};"
              "DMStmtAttr=x;Description=d;DMAttr=goes;Port_=1");
    passed_is(&c, "Database#shop|DMAttr=goes|Port_=1|");
    assert_int_equal(c.warning_count, 0);
    config_free(&c);
}

static void slips_of_the_pen_are_warned_of(void **state)
{
    static const struct {
        const char *word, *sentence; /* NULL: none */
    } rows[] = {
        { "AffinityMod", "unknown keyword AffinityMod: did you mean "
                         "AffinityMode?" },
        { "poolmx", "unknown keyword poolmx: did you mean PoolMax?" },
        { "MonitorUser", "unknown keyword MonitorUser: did you mean "
                         "MonitorUID?" },
        /* near to what does nothing yet */
        { "ClientAffinityBye", "unknown keyword ClientAffinityBye" },
        { "AffinityColumns", "unknown keyword AffinityColumns" },
        { "PoolSomethingElse", "unknown keyword PoolSomethingElse" },
        { "Instances.x", NULL },
        { "BoolsAsChr", NULL },
        { "PoolMaxSize", NULL },
        { "PoolWaitTimeout", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct config c;
        char string[128];

        snprintf(string, sizeof string, "DSN=orders;%s=1", rows[i].word);
        must_read(&c, string);
        assert_int_equal(c.warning_count, rows[i].sentence ? 1 : 0);
        if (rows[i].sentence) {
            assert_string_equal(c.warnings[0], rows[i].sentence);
            assert_non_null(connstr_find(&c.passed, rows[i].word));
        }
        config_free(&c);
    }
}

static void long_values_continue(void **state)
{
    struct config c;

    (void)state;
    put_files("Instances=n1,n2,\nInstances.1= n3 , n4\nInstances.2=,n5\n"
              "AffinityQuery=SELECT kind, low\nAffinityQuery.1=FROM t\n", "");
    must_read(&c, "DSN=orders");
    assert_int_equal(c.fleet.list_count, 5);
    assert_string_equal(c.fleet.list[3].name, "n4");
    assert_string_equal(c.fleet.list[4].name, "n5");
    assert_string_equal(c.fleet.query, "SELECT kind, low FROM t");
    assert_int_equal(c.passed.count, 0);
    config_free(&c);
    /* the string's value replaces all of the DSN's */
    must_read(&c, "DSN=orders;Instances=n9");
    assert_int_equal(c.fleet.list_count, 1);
    config_free(&c);
    put_files("Instances.1=n1\nInstances.2=n2\n", "");
    must_read(&c, "DSN=orders");
    assert_int_equal(c.fleet.list_count, 2);
    config_free(&c);
    must_fail("DSN=orders;Instances=a;Instances.99999999=b", WHY_VALUE,
              "Instances.99999999");
    put_files("Instances=n1\nInstances.1=n2\nInstances.3=n3\n", "");
    must_fail("DSN=orders", WHY_VALUE, "Instances.3|without a gap");
}

/* ---- instances ---- */

static void lists_of_dsns(void **state)
{
    (void)state;
    must_fail("DSN=orders;Instances=", WHY_VALUE, "Instances is missing");
    must_fail("DSN=orders;Instances=n1,,n2", WHY_VALUE, "an entry is empty");
    must_fail("DSN=orders;Instances=n1,", WHY_VALUE, "an entry is empty");
    must_fail("DSN=orders;Instances= , ", WHY_VALUE, "an entry is empty");
    must_fail("DSN=orders;Instances=n1, N1", WHY_VALUE, "\"N1\"|twice");
    must_fail("DSN=orders;Instances=n1,Orders", WHY_VALUE,
              "\"Orders\"|this DSN itself");
    must_fail("DSN=orders;Port=5433", WHY_VALUE, "Port=5433|own DSN");
    must_fail("DSN=orders;Server=h", WHY_VALUE, "Server=h");
    must_fail("DSN=orders;Servername=h", WHY_VALUE, "Servername=h");
    put_files("Instances=n1\n", "Port=1\n");
    must_fail("DSN=orders", WHY_VALUE, "Port=1");
}

static void lists_of_hosts(void **state)
{
    static const char start[] = "DSN=orders;InnerDriver=psqlodbcw.so;";
    static const struct {
        const char *list, *name, *host;
        unsigned port;
    } rows[] = {
        { "db1", "db1", "db1", 0 },
        { "db1:5433", "db1:5433", "db1", 5433 },
        { "n1@db1", "n1", "db1", 0 },
        { " n1@db1:1 ", "n1", "db1", 1 },
        { "[::1]", "[::1]", "::1", 0 },
        { "[fe80::1]:65535", "[fe80::1]:65535", "fe80::1", 65535 },
        { "n1@[::1]:5432", "n1", "::1", 5432 },
        { "n1@/var/run/postgresql:5433", "n1", "/var/run/postgresql", 5433 },
        { "orders", "orders", "orders", 0 },
    };
    static const struct {
        const char *list, *parts;
    } bad[] = {
        { "db1:0", "db1:0|1 to 65535" },      { "db1:65536", "65535" },
        { "db1:x", "65535" },                 { "db1:", "65535" },
        { "db1:123456", "65535" },            { "::1", "stands in []" },
        { "fe80::1:5432", "stands in []" },   { "[::1", "needs a ]" },
        { "[::1]5432", "needs a ]" },         { "[]:5432", "host is missing" },
        { ":5432", "host is missing" },       { "n1@", "[name@]host" },
        { "@db1", "[name@]host" },            { "n1@db1,n1@db2", "twice" },
        { "db1:5432,DB1:5432", "twice" },     { "db1:1,,db2", "is empty" },
        { "n1@:5432", "host is missing" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct config c;
        char string[256];

        snprintf(string, sizeof string, "%sInstances=x,%s", start,
                 rows[i].list);
        must_read(&c, string);
        assert_int_equal(c.fleet.list_count, 2);
        assert_string_equal(c.fleet.list[1].name, rows[i].name);
        assert_string_equal(c.fleet.list[1].host, rows[i].host);
        assert_int_equal(c.fleet.list[1].port, rows[i].port);
        config_free(&c);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        char string[256];

        snprintf(string, sizeof string, "%sInstances=%s", start, bad[i].list);
        must_fail(string, WHY_VALUE, bad[i].parts);
    }
    must_fail("DSN=orders;InnerDriver=x;Instances=a;Server=b", WHY_VALUE,
              "Server=b|host:port in Instances");
}

/* ---- together ---- */

static void sources_exclude_each_other(void **state)
{
    struct config c;

    (void)state;
    must_fail("DSN=orders;AffinityTable=a.b;AffinityQuery=SELECT 1",
              WHY_VALUE, "AffinityTable|AffinityQuery");
    must_read(&c, "DSN=orders;AffinityTable=a.b;AffinityMap=/m");
    config_free(&c);
    must_read(&c, "DSN=orders;AffinityQuery={SELECT ';'};AffinityMap=/m");
    assert_string_equal(c.fleet.query, "SELECT ';'");
    config_free(&c);
}

static void the_inner_drivers_read_only_is_ours(void **state)
{
    static const struct {
        const char *word;
        enum config_access access;
    } rows[] = {
        { "ReadOnly=1", CONFIG_READ_ONLY }, { "a0=1", CONFIG_READ_ONLY },
        { "READONLY=yes", CONFIG_READ_ONLY },
        { "ReadOnly=1;Access=read-write", CONFIG_READ_ONLY },
        { "ReadOnly=0", CONFIG_READ_WRITE }, { "ReadOnly=", CONFIG_READ_WRITE },
        { "ReadOnly=0;Access=read-only", CONFIG_READ_ONLY },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct config c;
        char string[128];

        snprintf(string, sizeof string, "DSN=orders;%s", rows[i].word);
        must_read(&c, string);
        assert_int_equal(c.session.access, rows[i].access);
        assert_non_null(connstr_find(&c.passed, "ReadOnly"));
        config_free(&c);
    }
}

static void a_session_may_change_its_own_rows(void **state)
{
    struct config c;
    struct why why;

    (void)state;
    must_read(&c, "DSN=orders;AffinityKey=1");
    assert_true(config_set(&c, "affinitykey", " 2", &why));
    assert_string_equal(c.session.key, " 2");
    assert_true(config_set(&c, "AffinityKey", "", &why));
    assert_string_equal(c.session.key, "");
    assert_true(config_set(&c, "AffinityMode", "STRICT", &why));
    assert_int_equal(c.session.mode, CONFIG_STRICT);
    assert_false(config_set(&c, "AffinityMode", "bogus", &why));
    assert_int_equal(why.code, WHY_VALUE);
    assert_false(config_set(&c, "AffinityScope", "transaction", &why));
    assert_int_equal(why.code, WHY_UNAVAILABLE);
    assert_int_equal(c.session.mode, CONFIG_STRICT);
    assert_false(config_set(&c, "PoolMax", "3", &why));
    assert_int_equal(why.code, WHY_VALUE);
    assert_false(config_set(&c, "Nothing", "3", &why));
    config_free(&c);
    config_free(&c);
}

/* ---- texts ---- */

enum { LOGIN_KEY, OUT_STRING, SHOWN };

static char *made_of(const char *string, int which)
{
    struct config c;
    struct text text;

    must_read(&c, string);
    text_init_wiped(&text);
    if (which == LOGIN_KEY) {
        config_login_key(&c, &text);
    } else if (which == SHOWN) {
        config_show(&c, &text);
    } else {
        config_out_string(&c, &text);
    }
    config_free(&c);
    return text_take(&text);
}

static bool same(const char *a, const char *b, int which)
{
    char *x = made_of(a, which), *y = made_of(b, which);
    bool equal = strcmp(x, y) == 0;

    free(x);
    free(y);
    return equal;
}

static bool same_fleet(const char *a, const char *b)
{
    struct config x, y;
    bool equal;

    must_read(&x, a);
    must_read(&y, b);
    equal = config_same_fleet(&x.fleet, &y.fleet);
    assert_int_equal(equal, config_same_fleet(&y.fleet, &x.fleet));
    config_free(&x);
    config_free(&y);
    return equal;
}

static void fleets_are_shared_by_their_own_rows_alone(void **state)
{
    (void)state;
#define SHARED(rest) same_fleet("DSN=orders", "DSN=orders;" rest)
    assert_true(SHARED("AffinityKey=1;AffinityMode=strict;PoolWait=5"));
    assert_true(SHARED("UID=u;PWD=p;Access=read-only;X=1"));
    assert_true(SHARED("Instances= n1 , n2 ;PoolMax=20"));
    assert_false(SHARED("Instances=n2,n1"));
    assert_false(SHARED("PoolMax=21"));
    assert_false(SHARED("LoadBalance=random"));
    assert_false(SHARED("AffinityTable=a.b"));
    assert_false(SHARED("AffinityMap=/m"));
    assert_false(SHARED("ConnectTimeout=1"));
    assert_false(SHARED("InnerDriver=d"));
#undef SHARED
    assert_true(same_fleet("DSN=orders;InnerDriver=d;Instances=a:1,b",
                           "DSN=orders;InnerDriver=d;Instances= a:1 ,b"));
    assert_false(same_fleet("DSN=orders;InnerDriver=d;Instances=x@a:1",
                            "DSN=orders;InnerDriver=d;Instances=x@a:2"));
    assert_false(same_fleet("DSN=orders;InnerDriver=d;Instances=x@a,b",
                            "DSN=orders;InnerDriver=d;Instances=x@b,b"));
    assert_false(same_fleet("DSN=orders;InnerDriver=d;Instances=a,b",
                            "DSN=orders;InnerDriver=d;Instances=a,b,c"));
}

static void logins_are_all_that_goes_down(void **state)
{
    (void)state;
#define SAME(a, b) same("DSN=orders;" a, "DSN=orders;" b, LOGIN_KEY)
    assert_true(SAME("UID=u;PWD=p", "pwd=p;uid=u"));
    assert_true(SAME("UID=u;PWD=p", "Username=u;Password=p"));
    assert_true(SAME("UID=u;AffinityKey=1", "UID=u;AffinityKey=2"));
    assert_true(SAME("", "PoolWait=1"));
    assert_false(SAME("UID=u", "UID=U"));
    assert_false(SAME("UID=u;PWD=p", "UID=u;PWD=q"));
    assert_false(SAME("UID=u", "UID=u;PWD="));
    assert_false(SAME("UID=u", "UID=u;BoolsAsChar=0"));
    assert_false(SAME("PWD=a%20b", "PWD={a%20b}"));
    assert_false(SAME("UID={a};PWD={b}", "UID={a=};PWD={b}"));
    assert_false(SAME("A={x};B={y}", "A={x};!b={y}"));
#undef SAME
}

static void out_is(const char *in, const char *expected)
{
    char *out = made_of(in, OUT_STRING);

    assert_string_equal(out, expected);
    free(out);
}

static void completed_strings_say_what_the_input_said(void **state)
{
    (void)state;
    put_files("Instances=n1\nUID=dsnuser\nPWD=dsnsecret\n", "PoolMax=3\n");
    out_is("DSN=orders", "DSN=orders;");
    out_is("dsn=orders;AffinityKey=42;affinitymode=strict",
           "dsn=orders;AffinityKey=42;affinitymode=strict;");
    out_is("DSN=orders;UID=u;PWD={a}}b;c};X=1",
           "DSN=orders;UID=u;PWD={a}}b;c};X=1;");
    out_is("DSN=orders;PWD=a%20b", "DSN=orders;PWD=a%20b;");
    out_is("UID=u", "DSN=DEFAULT;UID=u;");
    out_is("DRIVER={Affinity};DSN=orders;Instances={x1,x2}",
           "DRIVER={Affinity};Instances={x1,x2};");
    out_is("DSN=orders;DRIVER=x;FILEDSN=f;SAVEFILE=g", "DSN=orders;");
}

static void a_fleet_can_be_copied(void **state)
{
    struct config c;
    struct config_fleet copy;

    (void)state;
    must_read(&c, "DSN=orders;InnerDriver=d;Instances=n1@h:5,h2;PoolMax=9;"
              "AffinityMap=/m");
    assert_true(config_copy_fleet(&copy, &c.fleet));
    config_free(&c);
    assert_int_equal(copy.pool_max, 9);
    assert_string_equal(copy.map, "/m");
    assert_int_equal(copy.list_count, 2);
    assert_string_equal(copy.list[0].host, "h");
    assert_int_equal(copy.list[0].port, 5);
    config_free_fleet(&copy);
}

/* odbc.ini.sample with every ; in front of a keyword taken away. */
static void the_sample_says_what_is_the_default(void **state)
{
    const char *tree = getenv("AFF_SRCDIR");
    char path[512], line[1024], *plain, *sample;
    struct text file;
    FILE *in;

    (void)state;
    if (!tree) {
        print_message("# AFF_SRCDIR, the source tree, is not set\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/odbc.ini.sample", tree);
    in = fopen(path, "re");
    assert_non_null(in);
    text_init(&file);
    while (fgets(line, sizeof line, in)) {
        if (strcmp(line, "[orders]\n") == 0) {
            text_clear(&file); /* put_files() writes the head */
        } else {
            text_append(&file, line[0] == ';' ? line + 1 : line);
        }
    }
    fclose(in);
    put_files("Instances=n1,n2,n3\n", "");
    plain = made_of("DSN=orders", SHOWN);
    put_files(text_string(&file), "");
    sample = made_of("DSN=orders", SHOWN);
    assert_non_null(strstr(sample, "Metrics="));
    /* blanks in the list are kept as written */
    assert_string_equal(strchr(sample, '\n'), strchr(plain, '\n'));
    assert_true(same_fleet("DSN=orders", "DSN=orders;Instances=n1,n2,n3"));
    free(plain);
    free(sample);
    text_free(&file);
}

static void shown_values_are_words(void **state)
{
    struct config c;
    struct text text;

    (void)state;
    must_read(&c, "DSN=orders;AffinityMode=Strict;PoolMax=9;AffinityKey=k");
    text_init(&text);
    config_show(&c, &text);
    assert_non_null(strstr(text_string(&text), "AffinityMode=strict\n"));
    assert_non_null(strstr(text_string(&text), "\nPoolMax=9\n"));
    assert_non_null(strstr(text_string(&text), "\nAffinityKey=k\n"));
    assert_non_null(strstr(text_string(&text), "Instances=n1,n2\n"));
    assert_non_null(strstr(text_string(&text), "MonitorPWD=\n"));
    text_free(&text);
    config_free(&c);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, plain_files)
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_this_versions),
        TEST(values_are_typed),
        TEST(an_empty_value_is_the_default),
        TEST(impossible_values_are_refused_by_name),
        TEST(what_does_not_work_yet_is_refused),
        TEST(what_happens_anyway_may_be_asked_for),
        TEST(secrets_are_in_no_message),
        TEST(the_later_layer_wins),
        TEST(a_lower_layers_bad_value_may_be_overridden),
        TEST(sqlconnects_arguments_are_literal),
        TEST(the_first_of_dsn_and_driver_counts),
        TEST(the_managers_words_stay_here),
        TEST(slips_of_the_pen_are_warned_of),
        TEST(long_values_continue),
        TEST(lists_of_dsns),
        TEST(lists_of_hosts),
        TEST(sources_exclude_each_other),
        TEST(the_inner_drivers_read_only_is_ours),
        TEST(a_session_may_change_its_own_rows),
        TEST(fleets_are_shared_by_their_own_rows_alone),
        TEST(logins_are_all_that_goes_down),
        TEST(completed_strings_say_what_the_input_said),
        TEST(a_fleet_can_be_copied),
        TEST(the_sample_says_what_is_the_default),
        TEST(shown_values_are_words),
    };

    unit_folder_make();
    return cmocka_run_group_tests_name("config", tests, NULL,
                                       unit_folder_remove);
}
