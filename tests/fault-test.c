/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Instances that crash, kick their sessions out or refuse them, one thing at
 * a time: what strict, hint and prefer do then, how soon, what the error says,
 * and that all is well afterwards (promises 2, 4 and 6).
 */
#include "autoconf.h"

#include "expect.h"
#include "odbc_tap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLEET      "DSN=orders" TIMES
#define CROWDED    FLEET ";PoolMax=6"
#define COLD       ";PoolMax=7"
#define ODD        FLEET ";PoolMax=9;UID=odd" /* a fleet of its own */
#define FULL       "DSN=orders;ConnectTimeout=2000;PoolWait=1500"
#define FULL_FLEET FULL ";UID=few"

static bool has(const char *text, const char *words)
{
    return strstr(text, words) != NULL;
}

/* ---- an owner that crashed ----------------------------------------------- */

static void try_crash(void)
{
    struct trouble_try t = { 0 };

    printf("# a crashed owner\n");
    tap_ok(trouble_warm(FLEET), "crash: the fleet is known", "%s",
           odbc_error());
    tap_ok(trouble_make("crash", "n2"), "crash: n2 crashes", "see above");
    expect_fails("crash: strict fails quickly, with 08001 native 28", &t,
                 FLEET STRICT OWNED_BY_N2, "08001 28 ", "", 500);
    tap_ok(has(t.records, "key 1500 (owner n2)"),
           "crash: the error says the key and its owner", "%s", t.records);
    tap_ok(has(t.records, " n2: ") && has(t.records, "n1: not the owner") &&
               has(t.records, "n3: not the owner") &&
               (has(t.records, "onnection refused") ||
                has(t.records, "No such file")),
           "crash: and of each instance, why not", "%s", t.records);
    expect_fails("crash: strict fails as quickly the next time", &t,
                 FLEET STRICT OWNED_BY_N2, "08001 28 ", "n2: ", 500);
    expect_elsewhere("crash: hint is served elsewhere at once",
                     FLEET HINT OWNED_BY_N2, "n2", 500);
    expect_elsewhere("crash: prefer is served elsewhere at once",
                     FLEET PREFER OWNED_BY_N2, "n2", 500);
    expect_lands("crash: other keys have their owner, n1",
                 FLEET STRICT ";AffinityKey=500", "n1");
    expect_lands("crash: other keys have their owner, n3",
                 FLEET STRICT ";AffinityKey=2500", "n3");
    tap_ok(trouble_make("revive", "n2"), "crash: n2 is revived", "see above");
    expect_lands("crash: strict works again at once", FLEET STRICT OWNED_BY_N2,
                 "n2");
    trouble_cool();
}

/* ---- links that are dead without anybody knowing ------------------------- */

/* Ends these backends of n2 and waits until they are gone. */
static bool terminate(const char *pids)
{
    SQLHDBC dbc = odbc_open(trouble_env, "DSN=n2;UID=postgres", false);
    char sql[300];
    bool ok;

    snprintf(sql, sizeof sql,
             "SELECT bool_and(pg_terminate_backend(pid, 5000)) "
             "FROM unnest('{%s}'::int[]) pid",
             pids);
    ok = dbc && strcmp(odbc_value(dbc, sql), "1") == 0;
    odbc_close(dbc);
    return ok;
}

static void try_dead_links(void)
{
    enum { LINKS = 4 };
    struct trouble_try t[LINKS] = { 0 };
    char pids[200] = "";
    unsigned served = 0, fresh = 0;

    printf("# idle links whose backends are gone\n");
    tap_ok(trouble_warm(CROWDED), "dead links: the fleet is known", "%s",
           odbc_error());
    for (int i = 0; i < LINKS; i++) {
        trouble_try(&t[i], CROWDED STRICT OWNED_BY_N2);
        snprintf(pids + strlen(pids), sizeof pids - strlen(pids), "%s%s",
                 i ? "," : "",
                 t[i].dbc ? odbc_value(t[i].dbc, "SELECT pg_backend_pid()")
                          : "0");
    }
    for (int i = 0; i < LINKS; i++) {
        odbc_close(t[i].dbc);
    }
    trouble_await(trouble_quiet, trouble_anchor, 10000);
    tap_ok(terminate(pids), "dead links: all backends are terminated", "%s",
           odbc_error());
    for (int i = 0; i < LINKS; i++) {
        const char *pid;

        served += trouble_try(&t[i], CROWDED STRICT OWNED_BY_N2);
        pid = t[i].dbc ? odbc_value(t[i].dbc, "SELECT pg_backend_pid()")
                       : t[i].records;
        fresh += atoi(pid) > 0 && !has(pids, pid);
        if (!atoi(pid)) {
            printf("# %s\n", pid);
        }
    }
    tap_ok(served == LINKS && fresh == LINKS,
           "dead links: the next sessions see nothing of it",
           "%u of %d served, %u on new backends", served, LINKS, fresh);
    for (int i = 0; i < LINKS; i++) {
        odbc_close(t[i].dbc);
    }
    trouble_cool();
}

/* ---- a session whose link dies ------------------------------------------- */

static bool is_dead(SQLHDBC dbc)
{
    SQLUINTEGER dead = SQL_CD_FALSE;
    SQLINTEGER length;

    SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, &length);
    return dead == SQL_CD_TRUE;
}

static bool record_names(SQLHSTMT stmt, const char *state, const char *words)
{
    for (SQLSMALLINT i = 1; *odbc_record(SQL_HANDLE_STMT, stmt, i); i++) {
        const char *record = odbc_record(SQL_HANDLE_STMT, stmt, i);

        if (strncmp(record, state, strlen(state)) == 0 && has(record, words)) {
            return true;
        }
    }
    return false;
}

static void try_death(void)
{
    struct trouble_try t = { 0 };
    char pid[40], next[sizeof t.records];
    SQLHSTMT stmt;
    SQLRETURN rc;
    double begin;

    printf("# a link that dies in mid session\n");
    tap_ok(trouble_warm(FLEET), "death: the fleet is known", "%s",
           odbc_error());
    trouble_try(&t, FLEET STRICT OWNED_BY_N2);
    snprintf(pid, sizeof pid, "%s",
             odbc_value(t.dbc, "SELECT pg_backend_pid()"));
    SQLSetConnectAttr(t.dbc, SQL_ATTR_AUTOCOMMIT,
                      (SQLPOINTER)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER);
    odbc_run(t.dbc, "INSERT INTO plain VALUES (-78, 'never committed')");
    tap_ok(!is_dead(t.dbc), "death: the session lives", "it is dead");
    tap_ok(terminate(pid), "death: its backend is terminated", "%s",
           odbc_error());
    SQLAllocHandle(SQL_HANDLE_STMT, t.dbc, &stmt);
    begin = trouble_now();
    rc = SQLExecDirect(stmt, (SQLCHAR *)"SELECT 1", SQL_NTS);
    tap_ok(rc == SQL_ERROR && record_names(stmt, "08S01", "instance n2"),
           "death: the statement fails with 08S01 naming the instance",
           "rc %d, '%s'", rc, odbc_record(SQL_HANDLE_STMT, stmt, 1));
    tap_ok(is_dead(t.dbc), "death: SQL_ATTR_CONNECTION_DEAD is true",
           "it is not");
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    SQLEndTran(SQL_HANDLE_DBC, t.dbc, SQL_ROLLBACK);
    rc = SQLDisconnect(t.dbc);
    tap_ok(rc == SQL_SUCCESS && trouble_now() - begin < 2000,
           "death: it can be disconnected", "rc %d, '%s'", rc,
           odbc_record(SQL_HANDLE_DBC, t.dbc, 1));
    SQLFreeHandle(SQL_HANDLE_DBC, t.dbc);
    trouble_try(&t, FLEET STRICT OWNED_BY_N2);
    snprintf(next, sizeof next, "%s",
             t.dbc ? odbc_value(t.dbc, "SELECT pg_backend_pid()") : t.records);
    tap_ok(t.dbc && atoi(next) > 0 && strcmp(pid, next) != 0,
           "death: the next session has another backend", "%s, then %s", pid,
           next);
    if (t.dbc) {
        tap_is("death: and nothing of the dead one's transaction",
               odbc_value(t.dbc, "SELECT count(*) FROM plain WHERE id = -78"),
               "0");
    }
    odbc_close(t.dbc);
    trouble_cool();
}

static SQLRETURN run_executed(SQLHSTMT stmt)
{
    return SQLExecDirect(stmt, (SQLCHAR *)"SELECT 1", SQL_NTS);
}

static SQLRETURN run_prepared(SQLHSTMT stmt)
{
    return SQLExecute(stmt);
}

static SQLRETURN run_described(SQLHSTMT stmt)
{
    SQLSMALLINT columns;

    return SQLNumResultCols(stmt, &columns);
}

static SQLRETURN run_tables(SQLHSTMT stmt)
{
    return SQLTables(stmt, NULL, 0, NULL, 0, (SQLCHAR *)"plain", SQL_NTS, NULL,
                     0);
}

/* Whatever call finds the link gone, and in whatever way psqlODBC prepares and
   fetches, the first record says so. */
static void try_death_by_call(void)
{
    static const struct {
        const char *name;
        bool prepared;
        SQLRETURN (*run)(SQLHSTMT stmt);
    } calls[] = {
        { "executed directly", false, run_executed },
        { "executed as prepared", true, run_prepared },
        { "asked for its columns", true, run_described },
        { "asked for tables", false, run_tables },
    };
    static const char *const options[] = { "", ";UseServerSidePrepare=0",
                                           ";UseDeclareFetch=1",
                                           ";Protocol=7.4-0" };

    printf("# a dead link, found by this call and that\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            struct trouble_try t = { 0 };
            char string[300], name[200];
            SQLHSTMT stmt;
            SQLRETURN rc;

            snprintf(string, sizeof string, "%s", FLEET STRICT OWNED_BY_N2);
            snprintf(string + strlen(string), sizeof string - strlen(string),
                     "%s", options[i]);
            snprintf(name, sizeof name, "dead, %s%s: 08S01 comes first",
                     calls[k].name, options[i]);
            if (!trouble_try(&t, string)) {
                tap_ok(false, name, "%s", t.records);
                continue;
            }
            SQLAllocHandle(SQL_HANDLE_STMT, t.dbc, &stmt);
            if (calls[k].prepared) {
                SQLPrepare(stmt, (SQLCHAR *)"SELECT 1", SQL_NTS);
            }
            terminate(odbc_value(t.dbc, "SELECT pg_backend_pid()"));
            rc = calls[k].run(stmt);
            tap_ok(rc == SQL_ERROR && is_dead(t.dbc) &&
                       strncmp(odbc_record(SQL_HANDLE_STMT, stmt, 1), "08S01",
                               5) == 0 &&
                       record_names(stmt, "08S01", "instance n2"),
                   name, "rc %d, '%s'", rc,
                   odbc_record(SQL_HANDLE_STMT, stmt, 1));
            SQLFreeHandle(SQL_HANDLE_STMT, stmt);
            odbc_close(t.dbc);
        }
    }
}

/* A sequence does not go back with its transaction, so it counts how often the
   statement that killed its link was sent (promise 5). */
static void try_replay(void)
{
    SQLHDBC count = odbc_open(trouble_env, "DSN=n2;UID=postgres", false);
    struct trouble_try t = { 0 };
    bool failed;

    printf("# a statement that dies under way\n");
    tap_ok(count && odbc_run(count, "CREATE SEQUENCE sent") &&
               odbc_run(count, "GRANT USAGE ON SEQUENCE sent TO app"),
           "replay: a sequence that counts", "%s", odbc_error());
    tap_ok(trouble_warm(FLEET) && trouble_try(&t, FLEET STRICT OWNED_BY_N2),
           "replay: a session on n2", "%s", t.records);
    failed = !odbc_run(t.dbc, "SELECT nextval('sent'), "
                              "pg_terminate_backend(pg_backend_pid())");
    tap_ok(failed && is_dead(t.dbc), "replay: the statement kills its link",
           "%s", odbc_error());
    odbc_close(t.dbc);
    tap_ok(trouble_try(&t, FLEET STRICT OWNED_BY_N2), "replay: another session",
           "%s", t.records);
    tap_is("replay: it was sent once",
           odbc_value(count, "SELECT last_value FROM sent"), "1");
    odbc_close(t.dbc);
    odbc_run(count, "DROP SEQUENCE sent");
    odbc_close(count);
    trouble_cool();
}

struct statement {
    SQLHSTMT stmt;
    SQLRETURN rc;
};

static void *sleep_long(void *arg)
{
    struct statement *s = arg;

    s->rc = SQLExecDirect(s->stmt, (SQLCHAR *)"SELECT pg_sleep(60)", SQL_NTS);
    return NULL;
}

static bool sleeps(void *watch)
{
    return strcmp(odbc_value(watch, "SELECT count(*) FROM pg_stat_activity "
                                    "WHERE wait_event = 'PgSleep'"),
                  "1") == 0;
}

/* The same in the middle of a statement, by a crash. */
static void try_death_inside(void)
{
    SQLHDBC watch = odbc_open(trouble_env, "DSN=n2;UID=postgres", false);
    struct trouble_try t = { 0 };
    struct statement s;
    pthread_t thread;
    double begin, took, late;

    printf("# an instance that crashes under a statement\n");
    tap_ok(trouble_warm(FLEET) && trouble_try(&t, FLEET STRICT OWNED_BY_N2),
           "crash inside: a session on n2", "%s", t.records);
    SQLAllocHandle(SQL_HANDLE_STMT, t.dbc, &s.stmt);
    pthread_create(&thread, NULL, sleep_long, &s);
    tap_ok(trouble_await(sleeps, watch, 10000), "crash inside: it is asleep",
           "%s", odbc_error());
    odbc_close(watch);
    trouble_make("crash", "n2");
    trouble_watch_begin();
    begin = trouble_now();
    pthread_join(thread, NULL);
    took = trouble_now() - begin;
    late = trouble_watch_end();
    tap_ok(s.rc == SQL_ERROR && took < 500 + late &&
               record_names(s.stmt, "08S01", "instance n2"),
           "crash inside: the statement ends at once with 08S01",
           "rc %d after %.0f ms, '%s'", s.rc, took,
           odbc_record(SQL_HANDLE_STMT, s.stmt, 1));
    tap_ok(is_dead(t.dbc), "crash inside: the session knows that it is dead",
           "it does not");
    odbc_close(t.dbc); /* with the statement still there */
    trouble_make("revive", "n2");
    expect_lands("crash inside: the next session is served",
                 FLEET STRICT OWNED_BY_N2, "n2");
    tap_ok(trouble_await(trouble_quiet, trouble_anchor, 5000),
           "crash inside: no link is left behind", "%s", odbc_error());
    trouble_cool();
}

/* ---- instances that refuse ----------------------------------------------- */

/* How often it is refused if it is tried once.  Where the answer is late,
   others may be asked beside (POOL_SEEK_MS, pool.h), so that does not count. */
enum { SOON_MS = 250 };

static unsigned asked(const char *string, const char *words)
{
    enum { TRIES = 20 };
    struct trouble_try t = { .ms = SOON_MS };
    unsigned times = 0;

    for (int i = 0; i < TRIES && times != 1 && t.ms >= SOON_MS; i++) {
        unsigned before = trouble_logged(words);

        trouble_try(&t, string);
        odbc_close(t.dbc);
        times = trouble_logged(words) - before;
    }
    return times;
}

static void refused_once(const char *name, const char *string,
                         const char *state, const char *words)
{
    static const char *const modes[] = { STRICT, HINT, PREFER };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct trouble_try t = { 0 };
        char full[400], title[200];
        unsigned times;

        snprintf(full, sizeof full, "%s%s", string, modes[i]);
        snprintf(title, sizeof title, "%s in %s: refused at once", name,
                 strchr(modes[i], '=') + 1);
        times = trouble_logged(words);
        expect_fails(title, &t, full, state, words, 1000);
        times = trouble_logged(words) - times;
        times = times == 1 || t.ms < SOON_MS ? times : asked(full, words);
        snprintf(title, sizeof title, "%s in %s: asked once, nowhere else",
                 name, strchr(modes[i], '=') + 1);
        tap_ok(times == 1, title, "%u times", times);
    }
}

/* On a fleet of which nothing is known yet (PoolMax makes it another), and on
   one that is known. */
static void try_refusals(void)
{
    printf("# logins and databases that are refused\n");
    refused_once("wrong password, cold",
                 "DSN=orders-tcp" TIMES COLD OWNED_BY_N2 ";PWD=wrong", "28000 ",
                 "password authentication failed for user \"app\"");
    refused_once("no such database, cold",
                 FLEET COLD OWNED_BY_N2 ";Database=nowhere", "08001 28 ",
                 "database \"nowhere\" does not exist");
    tap_ok(trouble_warm("DSN=orders-tcp" TIMES), "refusals: the fleet is known",
           "%s", odbc_error());
    refused_once("wrong password",
                 "DSN=orders-tcp" TIMES OWNED_BY_N2 ";PWD=wrong", "28000 ",
                 "password authentication failed for user \"app\"");
    trouble_cool();
    tap_ok(trouble_warm(FLEET), "refusals: the other is known", "%s",
           odbc_error());
    refused_once("no such role", FLEET OWNED_BY_N2 ";UID=nobody1", "28000 ",
                 "role \"nobody1\" does not exist");
    refused_once("no such database", FLEET OWNED_BY_N2 ";Database=nowhere",
                 "08001 28 ", "database \"nowhere\" does not exist");
    trouble_cool();
}

static bool on_each_instance(const char *sql)
{
    bool ok = true;

    for (int i = 1; i <= 3; i++) {
        char string[60];
        SQLHDBC dbc;

        snprintf(string, sizeof string, "DSN=n%d;UID=postgres", i);
        dbc = odbc_open(trouble_env, string, false);
        ok = dbc && odbc_run(dbc, sql) && ok;
        odbc_close(dbc);
    }
    return ok;
}

static bool n2_has_refused(void *dbc)
{
    struct trouble_pools pools = { 0 };

    return trouble_pools(dbc, "n2", true, &pools) && pools.failed > 0;
}

static void expect_refused_there(const char *name, const char *mode)
{
    struct trouble_try t = { 0 };
    char string[300];

    snprintf(string, sizeof string, ODD OWNED_BY_N2 "%s", mode);
    expect_fails(name, &t, string, "28000 ", "is not permitted to log in",
                 1000);
}

/* Whom a login asks first that has no link yet is drawn (rules §1.5).  Where
   it is n2 the session is told so and nobody is asked in its stead (§3.3), and
   the fleet goes with it: the next draws again. */
static SQLHDBC open_where_admitted(const char *string)
{
    enum { DRAWS = 100 };
    SQLHDBC dbc = odbc_open(trouble_env, string, false);

    for (int i = 1;
         i < DRAWS && !dbc && has(odbc_error(), "not permitted to log in");
         i++) {
        dbc = odbc_open(trouble_env, string, false);
    }
    return dbc;
}

/* The others would take it: whoever has to have a link there hears of it all
   the same, and nobody tries without being asked (rules §3.3). */
static void try_refused_by_one(void)
{
    SQLHDBC n2 = odbc_open(trouble_env, "DSN=n2;UID=postgres", false);
    unsigned before, after;

    printf("# a login that one instance alone refuses\n");
    tap_ok(on_each_instance("CREATE ROLE odd LOGIN") && n2 &&
               odbc_run(n2, "ALTER ROLE odd NOLOGIN"),
           "refused by one: a role for n1 and n3", "%s", odbc_error());
    expect_refused_there("refused by one: strict is told", STRICT);
    trouble_anchor = open_where_admitted(ODD ";AffinityKey=500" STRICT);
    expect_lands("refused by one: its other keys are served",
                 ODD ";AffinityKey=2500" STRICT, "n3");
    tap_ok(trouble_anchor &&
               trouble_await(n2_has_refused, trouble_anchor, 10000) &&
               trouble_await(trouble_quiet, trouble_anchor, 10000),
           "refused by one: n2 refuses to say who owns what", "%s",
           odbc_error());
    before = trouble_logged("not permitted to log in");
    for (int i = 0; i < 4; i++) {
        expect_elsewhere("refused by one: hint has what is idle elsewhere",
                         ODD OWNED_BY_N2 HINT, "n2", 500);
    }
    trouble_await(trouble_quiet, trouble_anchor, 10000);
    after = trouble_logged("not permitted to log in");
    tap_ok(after == before, "refused by one: and it is not tried behind them",
           "%u times", after - before);
    expect_refused_there("refused by one: prefer is told", PREFER);
    tap_ok(n2 && odbc_run(n2, "ALTER ROLE odd LOGIN"),
           "refused by one: it may again", "%s", odbc_error());
    expect_lands("refused by one: and is served there",
                 ODD OWNED_BY_N2 STRICT, "n2");
    trouble_cool();
    odbc_close(n2);
    on_each_instance("SELECT pg_terminate_backend(pid, 5000) "
                     "FROM pg_stat_activity WHERE usename = 'odd'");
    tap_ok(on_each_instance("DROP ROLE odd"), "refused by one: the role is gone",
           "%s", odbc_error());
}

/* It is the role that has no more, as another login in the same fleet sees. */
static void expect_nobody_else_minds(void)
{
    struct trouble_try t = { 0 };
    char flag[40];

    expect_lands("full: but not for another login", FULL STRICT OWNED_BY_N2,
                 "n2");
    trouble_try(&t, FULL STRICT ";AffinityKey=500");
    trouble_instance(t.dbc, "n2", "flag", flag, sizeof flag);
    tap_ok(*flag && strcmp(flag, "violating") != 0,
           "full: nor does the instance count as over its limits", "%s", flag);
    odbc_close(t.dbc);
}

static void try_full(void)
{
    struct trouble_try first = { 0 }, t = { 0 };

    printf("# an instance that takes no more connections\n");
    tap_ok(on_each_instance("CREATE ROLE few LOGIN CONNECTION LIMIT 1"),
           "full: a role with one connection", "%s", odbc_error());
    tap_ok(trouble_try(&first, FULL_FLEET STRICT OWNED_BY_N2),
           "full: the first session", "%s", first.records);
    trouble_anchor = first.dbc;
    trouble_await(trouble_complete, trouble_anchor, 5000);
    expect_elsewhere("full: hint goes elsewhere", FULL_FLEET HINT OWNED_BY_N2,
                     "n2", 1000);
    expect_fails("full: strict waits for PoolWait, then says why", &t,
                 FULL_FLEET STRICT OWNED_BY_N2, "HYT00 29 ",
                 "too many connections", 1500 + EXPECT_SLACK);
    tap_ok(t.ms >= 1490, "full: it did wait", "%.0f ms", t.ms);
    expect_nobody_else_minds();
    trouble_try_begin(&t, FULL_FLEET STRICT OWNED_BY_N2);
    odbc_run(trouble_anchor, "SELECT pg_sleep(0.2)");
    odbc_close(trouble_anchor);
    trouble_anchor = SQL_NULL_HDBC;
    trouble_try_end(&t);
    tap_ok(t.dbc && t.ms < 1500,
           "full: who waits gets the link that is given back",
           "after %.0f ms: %s", t.ms, t.records);
    odbc_close(t.dbc);
    expect_lands("full: the instance does not count as down",
                 FULL_FLEET STRICT OWNED_BY_N2, "n2");
    /* its idle links go with the role's sessions */
    on_each_instance("SELECT pg_terminate_backend(pid, 5000) "
                     "FROM pg_stat_activity WHERE usename = 'few'");
    tap_ok(on_each_instance("DROP ROLE few"), "full: the role is gone", "%s",
           odbc_error());
}

int main(void)
{
    trouble_env = odbc_env(SQL_OV_ODBC3);
    try_crash();
    try_dead_links();
    try_death();
    try_death_by_call();
    try_replay();
    try_death_inside();
    try_refusals();
    try_refused_by_one();
    try_full();
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return tap_end();
}
