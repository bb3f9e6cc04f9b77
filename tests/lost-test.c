/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sessions that hold a link on an instance that is found down: each call of
 * theirs says 08S01 and why, and none waits; what is inside the inner driver is
 * ended where the socket is proved (TCP), and left and counted where it is not
 * (a Unix socket).  Sessions elsewhere notice nothing (rules §4.2, §4.3).
 */
#include "autoconf.h"

#include "expect.h"
#include "odbc_tap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* of TIMES; of CheckInterval with its jitter */
enum { CONNECT_MS = 2000, INTERVAL_MS = 1200, SOON_MS = 100 };

static SQLHSTMT new_stmt(SQLHDBC dbc)
{
    SQLHSTMT stmt = SQL_NULL_HSTMT;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    return stmt;
}

/* ---- a call that is inside ----------------------------------------------- */

static struct inside {
    pthread_t thread;
    SQLHSTMT stmt;
    atomic_bool over;
    SQLRETURN rc;
    double ended;
} inside;

static void *execute(void *unused)
{
    (void)unused;
    inside.rc = SQLExecDirect(inside.stmt,
                              (SQLCHAR *)"SELECT pg_sleep(3)", SQL_NTS);
    inside.ended = trouble_now();
    atomic_store(&inside.over, true);
    return NULL;
}

static bool sleeps(void *looker)
{
    return strcmp(odbc_value(looker,
                             "SELECT count(*) FROM pg_stat_activity WHERE "
                             "query = 'SELECT pg_sleep(3)'"), "1") == 0;
}

static bool is_over(void *unused)
{
    (void)unused;
    return atomic_load(&inside.over);
}

/* ---- what a lost session's calls say ------------------------------------- */

static double began;
static double late; /* the machine's, at most, so far */

static void start(void)
{
    trouble_watch_begin();
    began = trouble_now();
}

/* True: it came at once. */
static bool at_once(void)
{
    double ms = trouble_now() - began;

    late = trouble_watch_end();
    return ms <= SOON_MS + late;
}

static void expect_lost(const char *name, SQLRETURN rc, SQLSMALLINT type,
                        SQLHANDLE handle, const char *words)
{
    bool soon = at_once();
    const char *record = odbc_record(type, handle, 1);

    tap_ok(rc == SQL_ERROR && strncmp(record, "08S01 0 ", 8) == 0 && soon &&
               strstr(record, words),
           name, "%d after %.0f ms (the machine %.0f late): %s", rc,
           trouble_now() - began, late, record);
}

static void expect_success(const char *name, SQLRETURN rc)
{
    bool soon = at_once();

    tap_ok(rc == SQL_SUCCESS && soon, name, "%d after %.0f ms", rc,
           trouble_now() - began);
}

struct held {
    SQLHDBC quiet, within;
    SQLHSTMT fetching, prepared, bound;
    SQLHDESC explicit;
};

static bool hold(struct held *held, const char *string)
{
    struct trouble_try t = { 0 };

    trouble_try(&t, string);
    held->quiet = t.dbc;
    trouble_try(&t, string);
    held->within = t.dbc;
    if (!held->quiet || !held->within) {
        return false;
    }
    held->fetching = new_stmt(held->quiet);
    held->prepared = new_stmt(held->quiet);
    SQLExecDirect(held->fetching,
                  (SQLCHAR *)"SELECT generate_series(1, 10)", SQL_NTS);
    SQLPrepare(held->prepared, (SQLCHAR *)"SELECT 1", SQL_NTS);
    SQLAllocHandle(SQL_HANDLE_DESC, held->quiet, &held->explicit);
    SQLSetConnectAttr(held->within, SQL_ATTR_AUTOCOMMIT,
                      (SQLPOINTER)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER);
    return SQL_SUCCEEDED(SQLFetch(held->fetching)) &&
           odbc_run(held->within, "INSERT INTO orders_n2 VALUES (1599, 599)");
}

/* The manager asks while it connects, when the instance may be found down
   already; if it is told nothing it jumps to NULL.  Afterwards it answers
   programs by itself, so the driver is asked directly. */
static void try_functions(SQLHDBC dbc)
{
    __typeof__(SQLGetFunctions) *ask;
    SQLUSMALLINT has[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE] = { 0 };
    SQLUSMALLINT one = 0;
    SQLHDBC theirs = SQL_NULL_HDBC;
    char path[700];
    void *so;

    snprintf(path, sizeof path, "%s/libodbcaffinity.so",
             getenv("AFFINITY_LIBDIR"));
    so = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    ask = so ? (__typeof__(ask))dlsym(so, "SQLGetFunctions") : NULL;
    SQLGetInfo(dbc, SQL_DRIVER_HDBC, &theirs, sizeof theirs, NULL);
    tap_ok(ask && theirs &&
               ask(theirs, SQL_API_ODBC3_ALL_FUNCTIONS, has) == SQL_SUCCESS &&
               SQL_FUNC_EXISTS(has, SQL_API_SQLGETFUNCTIONS) &&
               SQL_FUNC_EXISTS(has, SQL_API_SQLEXECDIRECT) &&
               ask(theirs, SQL_API_SQLGETFUNCTIONS, &one) == SQL_SUCCESS && one,
           "lost: SQLGetFunctions answers as ever", "%s: %p %p",
           odbc_record(SQL_HANDLE_DBC, dbc, 1), so, theirs);
    if (so) {
        dlclose(so);
    }
}

static void try_quiet(struct held *held)
{
    /* because of CheckTimeout, or of ConnectTimeout, by our clock or by libpq's,
       if a link was being opened for the probe, since none was idle */
    const char *why = "was found unusable";
    SQLUINTEGER dead = 77;
    SQLHSTMT more;
    SQLRETURN rc;

    start();
    rc = SQLFetch(held->fetching);
    expect_lost("lost: SQLFetch", rc, SQL_HANDLE_STMT, held->fetching, why);
    start();
    rc = SQLCloseCursor(held->fetching);
    expect_lost("lost: and again, at each call", rc, SQL_HANDLE_STMT,
                held->fetching, "this call did nothing");
    start();
    rc = SQLExecute(held->prepared);
    expect_lost("lost: SQLExecute", rc, SQL_HANDLE_STMT, held->prepared, why);
    start();
    rc = SQLSetDescField(held->explicit, 1, SQL_DESC_TYPE,
                         (SQLPOINTER)SQL_C_LONG, 0);
    expect_lost("lost: a descriptor", rc, SQL_HANDLE_DESC, held->explicit,
                why);
    start();
    more = SQL_NULL_HSTMT;
    rc = SQLAllocHandle(SQL_HANDLE_STMT, held->quiet, &more);
    expect_lost("lost: SQLAllocHandle", rc, SQL_HANDLE_DBC, held->quiet, why);
    start();
    rc = SQLExecDirect(held->prepared, (SQLCHAR *)"SHOW AFFINITY", SQL_NTS);
    tap_ok(at_once() && rc == SQL_ERROR &&
               strncmp(odbc_record(SQL_HANDLE_STMT, held->prepared, 1),
                       "08001 28 ", 9) == 0,
           "lost: SHOW AFFINITY says its rows as records", "%s",
           odbc_record(SQL_HANDLE_STMT, held->prepared, 1));
    start();
    expect_success("lost: SQL_ATTR_CONNECTION_DEAD can be read",
                   SQLGetConnectAttr(held->quiet, SQL_ATTR_CONNECTION_DEAD,
                                     &dead, SQL_IS_UINTEGER, NULL));
    tap_ok(dead == SQL_CD_TRUE, "lost: and is true", "%u", (unsigned)dead);
    try_functions(held->quiet);
    start();
    expect_success("lost: SQLFreeStmt",
                   SQLFreeStmt(held->fetching, SQL_UNBIND));
    start();
    expect_success("lost: SQLFreeHandle",
                   SQLFreeHandle(SQL_HANDLE_STMT, held->fetching));
    start();
    expect_success("lost: SQLDisconnect", SQLDisconnect(held->quiet));
    SQLFreeHandle(SQL_HANDLE_DBC, held->quiet);
}

static void try_within(struct held *held)
{
    SQLRETURN rc;

    start();
    rc = SQLEndTran(SQL_HANDLE_DBC, held->within, SQL_COMMIT);
    expect_lost("lost: SQLEndTran, nothing was committed", rc, SQL_HANDLE_DBC,
                held->within, "rolled back");
    start();
    rc = SQLEndTran(SQL_HANDLE_DBC, held->within, SQL_ROLLBACK);
    expect_lost("lost: SQLEndTran, to roll back", rc, SQL_HANDLE_DBC,
                held->within, "rolled back");
    start();
    expect_success("lost: SQLDisconnect in a transaction",
                   SQLDisconnect(held->within));
    SQLFreeHandle(SQL_HANDLE_DBC, held->within);
}

/* ---- an instance that hangs ---------------------------------------------- */

static bool is_drained(void *instance)
{
    struct trouble_pools p;

    return trouble_pools(trouble_anchor, instance, false, &p) && p.idle == 0;
}

static bool nothing_left(void *instance)
{
    struct trouble_pools p;

    return trouble_pools(trouble_anchor, instance, false, &p) &&
           p.left == 0 && p.held == 0;
}

/* How long it took from when the instance was found down, as the record says;
   a large number: it does not say. */
static double since_found(const char *record)
{
    const char *found = strstr(record, "was found unusable ");
    double ms = 1e9;

    if (found) {
        sscanf(found, "was found unusable %lf ms", &ms);
    }
    return ms;
}

/* A probe may have begun an interval later, and with no link idle it opens
   one; once the instance is found down, the call is ended without delay. */
static void expect_ended(const char *instance, double paused, bool proved)
{
    struct trouble_pools p = { 0 };
    double most = CONNECT_MS + INTERVAL_MS + EXPECT_SLACK + late;

    if (proved && trouble_await(is_over, NULL, 10000)) {
        const char *record = odbc_record(SQL_HANDLE_STMT, inside.stmt, 1);

        tap_ok(inside.rc == SQL_ERROR && strncmp(record, "08S01 0 ", 8) == 0 &&
                   strstr(record, "not known") &&
                   since_found(record) <= 1000 && inside.ended - paused <= most,
               "lost: the call that was inside is ended",
               "%d after %.0f of %.0f ms: %s", inside.rc,
               inside.ended - paused, most, record);
    } else if (proved) {
        tap_ok(false, "lost: the call that was inside is ended", "it is not");
    } else {
        trouble_pools(trouble_anchor, instance, true, &p);
        tap_ok(!is_over(NULL) && p.left > 0,
               "lost: the call that was inside is left and counted",
               "over: %d, left: %u", is_over(NULL), p.left);
    }
}

static void try_hang(const char *dsn, char *instance, bool proved)
{
    struct trouble_try t = { 0 };
    struct held held = { 0 };
    char fleet[200], strict[300];
    SQLHDBC looker = odbc_open(trouble_env, "DSN=n2", false);
    SQLHDBC busy;
    double paused;

    printf("# an instance that hangs, %s\n", dsn);
    snprintf(fleet, sizeof fleet, "DSN=%s" TIMES, dsn);
    snprintf(strict, sizeof strict, "%s" STRICT OWNED_BY_N2, fleet);
    tap_ok(trouble_warm(fleet), "lost: the fleet is known", "%s", odbc_error());
    trouble_try(&t, strict);
    busy = t.dbc;
    tap_ok(busy && hold(&held, strict), "lost: sessions on n2", "%s%s",
           t.records, odbc_error());
    expect_lands("lost: and an idle link", strict, "n2");
    memset(&inside, 0, sizeof inside);
    inside.stmt = new_stmt(busy);
    pthread_create(&inside.thread, NULL, execute, NULL);
    tap_ok(trouble_await(sleeps, looker, 10000), "lost: one is inside",
           "%s", odbc_error());
    odbc_close(looker);
    tap_ok(trouble_make("pause", "n2"), "lost: n2 hangs", "see above");
    paused = trouble_now();
    expect_fails("lost: somebody finds out", &t, strict, "HYT01 |08001 28 ",
                 "n2", 3000 + EXPECT_SLACK);
    tap_ok(trouble_await(is_drained, instance, 2000),
           "lost: its idle links are closed", "%s", odbc_error());
    try_quiet(&held);
    try_within(&held);
    expect_ended(instance, paused, proved);
    tap_is("lost: a session elsewhere notices nothing",
           odbc_value(trouble_anchor, "SELECT 77"), "77");
    tap_ok(trouble_make("resume", "n2"), "lost: n2 goes on", "see above");
    pthread_join(inside.thread, NULL);
    start();
    expect_lost("lost: the session that was inside has lost its link",
                SQLExecDirect(inside.stmt, (SQLCHAR *)"SELECT 1", SQL_NTS),
                SQL_HANDLE_STMT, inside.stmt, "this call did nothing");
    odbc_close(busy);
    expect_lands("lost: new sessions are served", strict, "n2");
    tap_ok(trouble_await(trouble_quiet, trouble_anchor, 10000) &&
               trouble_await(nothing_left, instance, 10000),
           "lost: nothing is left over", "%s", odbc_error());
    tap_is("lost: what was not committed is not there",
           odbc_value(trouble_anchor,
                      "SELECT count(*) FROM orders "
                      "WHERE customer_id = 1599"), "0");
    trouble_cool();
}

/* ---- it was ourselves ---------------------------------------------------- */

/* By its state, and why says so as well. */
static bool is_slow(void *looker)
{
    SQLHSTMT stmt = new_stmt(looker);
    SQLCHAR name[64], state[64], why[64] = "";
    SQLLEN length;
    bool slow = false;

    SQLExecDirect(stmt, (SQLCHAR *)"SHOW AFFINITY INSTANCES", SQL_NTS);
    while (SQL_SUCCEEDED(SQLFetch(stmt))) {
        SQLGetData(stmt, 1, SQL_C_CHAR, name, sizeof name, &length);
        SQLGetData(stmt, 4, SQL_C_CHAR, state, sizeof state, &length);
        SQLGetData(stmt, 28, SQL_C_CHAR, why, sizeof why, &length);
        slow |= strcmp((char *)name, "n2-tcp") == 0 &&
                strcmp((char *)state, "slow") == 0 &&
                strcmp((char *)why, "does not answer") == 0;
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return slow;
}

static bool is_not_slow(void *looker)
{
    return !is_slow(looker);
}

/* Who looks from a session there gets the rows as records, and does not hang
   with it. */
static void expect_told(SQLHDBC dbc)
{
    SQLHSTMT stmt = new_stmt(dbc);
    SQLRETURN rc = SQLExecDirect(stmt, (SQLCHAR *)"SHOW AFFINITY INSTANCES",
                                 SQL_NTS);
    const char *record = odbc_record(SQL_HANDLE_STMT, stmt, 2);

    tap_ok(rc == SQL_ERROR && strstr(record, "08001 ") &&
               strstr(record, "this session does not answer; instance=n2-tcp"),
           "stopped: a session there is told the rows as records", "%d: %s",
           rc, record);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

/* The process is stopped while a question is on its way, for longer than an
   answer may take; when it goes on the answer is not there yet, and comes a
   moment later. */
static void try_stopped(void)
{
    const char *fleet = "DSN=orders-tcp;CheckTimeout=4000;PoolTrust=0";
    struct trouble_try t = { 0 };
    char strict[300], command[700];

    printf("# a process that is stopped\n");
    snprintf(strict, sizeof strict, "%s" STRICT OWNED_BY_N2, fleet);
    tap_ok(trouble_warm(fleet) && trouble_try(&t, strict),
           "stopped: a session on n2", "%s%s", t.records, odbc_error());
    expect_lands("stopped: and an idle link, to ask over", strict, "n2");
    trouble_make("pause", "n2");
    tap_ok(trouble_await(is_slow, trouble_anchor, 3900),
           "stopped: n2 has been asked", "%s", odbc_error());
    expect_told(t.dbc);
    snprintf(command, sizeof command,
             "(sleep 6; kill -CONT %d; sleep 1; "
             "'%s/setup/sandbox' resume '%s' n2) >/dev/null 2>&1 &",
             (int)getpid(), getenv("AFF_SRCDIR"), trouble_folder());
    tap_ok(system(command) == 0 && kill(getpid(), SIGSTOP) == 0,
           "stopped: and going on", "%s", command);
    tap_ok(trouble_await(is_not_slow, trouble_anchor, 10000),
           "stopped: n2 has answered", "%s", odbc_error());
    tap_is("stopped: the session is what it was",
           odbc_value(t.dbc, "SELECT 77"), "77");
    odbc_close(t.dbc);
    trouble_cool();
}

int main(void)
{
    char n2_tcp[] = "n2-tcp", n2[] = "n2";

    trouble_env = odbc_env(SQL_OV_ODBC3);
    try_hang("orders-tcp", n2_tcp, true);
    try_hang("orders", n2, false);
    try_stopped();
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return tap_end();
}
