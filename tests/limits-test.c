/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The limits of pools as sessions meet them: PoolMax, PoolMaxTotal, PoolWait
 * and who is served next, how few links are enough, PoolMaxReuse, PoolMaxLifetime, PoolIdleTimeout,
 * PoolTrust, and that logins have pools of their own.  Most fleets here have
 * one instance and room for one link, so that the next session either gets
 * the same backend or a reason why not.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ONE "DSN=orders;Instances=n1;AffinityTable=;PoolMax=1"

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void rest_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static SQLHDBC session(const char *string)
{
    SQLHDBC dbc = odbc_open(try_env, string, false);

    if (!dbc) {
        tap_ok(false, string, "no session: %s", odbc_error());
    }
    return dbc;
}

static int pid_of(SQLHDBC dbc)
{
    return dbc ? (int)strtol(odbc_value(dbc, "SELECT pg_backend_pid()"), NULL,
                             10)
               : -1;
}

/* The backend of a session that connects, asks for it, and goes. */
static int visit(const char *string)
{
    SQLHDBC dbc = session(string);
    int pid = pid_of(dbc);

    odbc_close(dbc);
    return pid;
}

/* ---- SHOW AFFINITY POOLS ----------------------------------------------- */

struct figures {
    int idle, held, reset, opening, waiting, opened;
};

/* The sums over all logins and instances of the fleet but, unless `mine`,
   those of the session that asks. */
static struct figures figures(SQLHDBC dbc, bool mine)
{
    struct figures f = {0};
    char owner[8];
    SQLINTEGER idle, held, learning, opening, reset, opened, waiting;
    SQLHSTMT stmt;
    SQLLEN length;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"SHOW AFFINITY POOLS", SQL_NTS);
    SQLBindCol(stmt, 4, SQL_C_CHAR, owner, sizeof owner, &length);
    SQLBindCol(stmt, 5, SQL_C_SLONG, &idle, 0, &length);
    SQLBindCol(stmt, 6, SQL_C_SLONG, &held, 0, &length);
    SQLBindCol(stmt, 7, SQL_C_SLONG, &learning, 0, &length);
    SQLBindCol(stmt, 8, SQL_C_SLONG, &opening, 0, &length);
    SQLBindCol(stmt, 9, SQL_C_SLONG, &reset, 0, &length);
    SQLBindCol(stmt, 12, SQL_C_SLONG, &opened, 0, &length);
    SQLBindCol(stmt, 15, SQL_C_SLONG, &waiting, 0, &length);
    for (;;) {
        idle = held = learning = opening = reset = opened = waiting = 0;
        if (!SQL_SUCCEEDED(SQLFetch(stmt))) {
            break;
        }
        if (mine || strcmp(owner, "yes") != 0) {
            f.idle += idle;
            f.held += held;
            f.reset += reset;
            f.opening += opening + learning;
            f.opened += opened;
            f.waiting += waiting;
        }
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return f;
}

/* Waits until so many units wait in the login of this session. */
static bool await_waiting(SQLHDBC dbc, int count)
{
    double end = seconds() + 60;

    while (figures(dbc, true).waiting != count) {
        if (seconds() > end) {
            return false;
        }
        rest_ms(1);
    }
    return true;
}

/* Waits until no helper works for the logins of the fleet. */
static bool await_rest(SQLHDBC dbc, bool mine)
{
    double end = seconds() + 60;
    struct figures f = figures(dbc, mine);

    while (f.reset || f.opening) {
        if (seconds() > end) {
            return false;
        }
        rest_ms(1);
        f = figures(dbc, mine);
    }
    return true;
}

/* ---- PoolMax, PoolWait ------------------------------------------------- */

static void full(void)
{
    SQLHDBC holder = session(ONE), other;
    double begin, took;

    try_says("PoolMax=1, PoolWait=0: the second session is refused",
             try_place(ONE ";PoolWait=0"), "HYT00 29 ", "PoolWait");
    begin = seconds();
    try_says("PoolWait=400: after waiting", try_place(ONE ";PoolWait=400"),
             "HYT00 29 ", "waited ");
    took = seconds() - begin;
    tap_ok(took >= 0.4 && took < 30, "PoolWait=400: for that long", "%.3f s",
           took);

    other = try_dbc();
    SQLSetConnectAttr(other, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)1, 0);
    begin = seconds();
    try_says(
        "SQL_ATTR_LOGIN_TIMEOUT bounds a long PoolWait",
        try_landed(other, try_connect(other, ONE ";PoolWait=90000", false)),
        "HYT0", "");
    took = seconds() - begin;
    tap_ok(took >= 0.9 && took < 60, "SQL_ATTR_LOGIN_TIMEOUT: for that long",
           "%.3f s", took);
    odbc_close(holder);
    tap_is("when the link is back there is one again", try_place(ONE), "n1");
}

/* A session that leaves so much behind that its reset takes some time. */
static int visit_untidily(const char *string)
{
    SQLHDBC dbc = session(string);
    int pid = pid_of(dbc);

    odbc_run(dbc, "DO $$ BEGIN FOR i IN 1..40 LOOP EXECUTE "
                  "'CREATE TEMP TABLE t' || i || ' (a int)'; END LOOP; END $$");
    odbc_close(dbc);
    return pid;
}

/* Sessions that use their link, one right after the other, without a key: the
   next comes while the link is in reset, and waits for it.  On a machine where
   a reset takes longer than it waits, another is opened; then once more. */
static void in_turn(void)
{
    enum { SESSIONS = 5, TRIES = 20 };
    int first = 0, again = 0;

    for (int try = 0; try < TRIES && again < SESSIONS; try++) {
        char string[120];

        snprintf(string, sizeof string, "DSN=orders;Instances=n1;"
                 "AffinityTable=;CheckInterval=0;PoolIdleTimeout=%d",
                 500000 + try); /* a pool that is empty */
        first = visit_untidily(string);
        for (again = 1; again < SESSIONS && visit_untidily(string) == first;
             again++) {
        }
    }
    tap_ok(first > 0 && again == SESSIONS,
           "sessions one after the other have one link",
           "another after %d sessions", again);
}

/* ---- first come, first served ------------------------------------------ */

enum { QUEUE = 6 };

static struct {
    pthread_mutex_t lock;
    char order[QUEUE + 1];
    int count;
} served = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct waiter {
    pthread_t thread;
    char name;
    const char *string;
    bool got;
};

static void *wait_in_line(void *argument)
{
    struct waiter *waiter = argument;
    SQLHDBC dbc = try_dbc();

    waiter->got = SQL_SUCCEEDED(try_connect(dbc, waiter->string, false));
    if (waiter->got) {
        /* The only link is ours: nobody is served until it is back. */
        pthread_mutex_lock(&served.lock);
        served.order[served.count++] = waiter->name;
        pthread_mutex_unlock(&served.lock);
        SQLDisconnect(dbc);
    }
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    return NULL;
}

/* Queues up behind a holder, one after the other; `gives_up` does not wait for
   long.  The order in which they are served, or why not. */
static const char *queue(int gives_up)
{
    static struct waiter line[QUEUE];
    SQLHDBC holder = session(ONE);
    bool queued = holder != SQL_NULL_HDBC;

    memset(served.order, 0, sizeof served.order);
    served.count = 0;
    for (int i = 0; i < QUEUE; i++) {
        line[i].name = (char)('a' + i);
        line[i].string =
            i == gives_up ? ONE ";PoolWait=1500" : ONE ";PoolWait=90000";
        pthread_create(&line[i].thread, NULL, wait_in_line, &line[i]);
        queued = queued && await_waiting(holder, i + 1);
    }
    if (gives_up >= 0) {
        pthread_join(line[gives_up].thread, NULL);
        queued = queued && !line[gives_up].got;
    }
    odbc_close(holder);
    for (int i = 0; i < QUEUE; i++) {
        if (i != gives_up) {
            pthread_join(line[i].thread, NULL);
        }
    }
    return queued ? served.order : "(they did not queue up)";
}

static void first_come(void)
{
    tap_is("who waits is served in the order of arrival", queue(-1), "abcdef");
    tap_is("one that gives up leaves the others' order", queue(2), "abdef");
}

/* ---- PoolMaxTotal ------------------------------------------------------ */

#define TWO "DSN=orders-strict;PoolMaxTotal=2;PoolWait=30000;AffinityKey="

static void total(void)
{
    SQLHDBC a = session(TWO "5"), b = session(TWO "1500");
    struct figures f = figures(b, true);

    tap_ok(f.idle + f.held + f.reset + f.opening <= 2,
           "PoolMaxTotal=2: there are two links",
           "%d idle, %d held, %d reset, %d opening", f.idle, f.held, f.reset,
           f.opening);
    try_says("PoolMaxTotal=2: both in use, a third is refused",
             try_place("DSN=orders-strict;PoolMaxTotal=2;PoolWait=0;"
                       "AffinityKey=2500"),
             "HYT00 29 ", "key 2500");
    odbc_close(a);
    a = session(TWO "2500");
    tap_is("PoolMaxTotal=2: an idle one elsewhere is closed for it",
           odbc_value(a, "SHOW cluster_name"), "n3");
    await_rest(a, true);
    f = figures(a, true);
    tap_ok(f.idle + f.held + f.reset + f.opening == 2,
           "PoolMaxTotal=2: there are two links still",
           "%d idle, %d held, %d reset, %d opening", f.idle, f.held, f.reset,
           f.opening);
    odbc_close(b);
    odbc_close(a);
    for (int i = 0; i < 12; i++) {
        static const char *const strings[] = {TWO "5", TWO "1500", TWO "2500"};
        static const char *const names[] = {"n1", "n2", "n3"};
        const char *got = try_place(strings[i % 3]);
        if (strcmp(got, names[i % 3]) != 0 || i == 11) {
            tap_is("PoolMaxTotal=2: three instances in turn", got,
                   names[i % 3]);
            break;
        }
    }
}

/* ---- how long links live ----------------------------------------------- */

static void reuse(void)
{
    int pid[6];

    for (int i = 0; i < 6; i++) {
        pid[i] = visit(ONE ";PoolMaxReuse=3");
    }
    tap_ok(pid[0] > 0 && pid[0] == pid[1] && pid[1] == pid[2] &&
               pid[2] != pid[3] && pid[3] == pid[4] && pid[4] == pid[5],
           "PoolMaxReuse=3: three sessions have one link", "%d %d %d %d %d %d",
           pid[0], pid[1], pid[2], pid[3], pid[4], pid[5]);
    for (int i = 0; i < 6; i++) {
        pid[i] = visit(ONE ";PoolMaxReuse=0");
    }
    tap_ok(pid[0] > 0 && pid[0] == pid[5], "PoolMaxReuse=0: no cap", "%d %d",
           pid[0], pid[5]);
}

static void lifetime(void)
{
    SQLHDBC dbc = session(ONE ";PoolMaxLifetime=20");
    int a = pid_of(dbc), b;

    rest_ms(40); /* the time itself is what is waited for */
    odbc_close(dbc);
    b = visit(ONE ";PoolMaxLifetime=20");

    tap_ok(a > 0 && b > 0 && a != b,
           "PoolMaxLifetime: a link past it is closed when it comes back",
           "%d %d", a, b);
    a = visit(ONE ";PoolMaxLifetime=0");
    b = visit(ONE ";PoolMaxLifetime=0");
    tap_ok(a > 0 && a == b, "PoolMaxLifetime=0: never", "%d %d", a, b);
}

/* Somebody else's session sees when the link is idle. */
static void idle_time(void)
{
    SQLHDBC watcher = session(ONE ";PoolIdleTimeout=20;UID=postgres");
    int a = visit(ONE ";PoolIdleTimeout=20"), b;

    await_rest(watcher, false);
    rest_ms(40); /* the time itself is what is waited for */
    b = visit(ONE ";PoolIdleTimeout=20");
    tap_ok(a > 0 && b > 0 && a != b,
           "PoolIdleTimeout: a link idle for longer is not handed out", "%d %d",
           a, b);
    odbc_close(watcher);
    watcher = session(ONE ";PoolIdleTimeout=0;UID=postgres");
    a = visit(ONE ";PoolIdleTimeout=0");
    await_rest(watcher, false);
    rest_ms(40);
    b = visit(ONE ";PoolIdleTimeout=0");
    tap_ok(a > 0 && a == b, "PoolIdleTimeout=0: never", "%d %d", a, b);
    odbc_close(watcher);
}

/* A backend that is gone by the time its link is wanted. */
static void trust(void)
{
    SQLHDBC direct = session("DSN=n1;UID=postgres");
    SQLHDBC watcher = session(ONE ";PoolTrust=0;UID=postgres");
    int a = visit(ONE ";PoolTrust=0"), b;
    char sql[80];

    await_rest(watcher, false);
    snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%d, 30000)::int", a);
    tap_is("a backend is ended", odbc_value(direct, sql), "1");
    b = visit(ONE ";PoolTrust=0");
    tap_ok(b > 0 && a != b, "PoolTrust=0: its link is not handed out", "%d %d",
           a, b);
    odbc_close(watcher);
    odbc_close(direct);
}

/* ---- whose links ------------------------------------------------------- */

static void logins(void)
{
    SQLHDBC a = session(ONE), b = session(ONE ";UID=postgres;PoolWait=0"),
            c = session(ONE ";BoolsAsChar=0;PoolWait=0");

    tap_ok(a && b && c, "each login has a PoolMax of its own", "%s",
           odbc_error());
    tap_is("the one's user", odbc_value(a, "SELECT user"), "app");
    tap_is("the other's user", odbc_value(b, "SELECT user"), "postgres");
    odbc_close(a);
    odbc_close(b);
    odbc_close(c);
    int first = visit(ONE), second = visit(ONE ";UID=postgres"),
        third = visit(ONE ";BoolsAsChar=0"), again = visit(ONE);
    tap_ok(first == again && first != second && first != third &&
               second != third,
           "no link changes its login, nor what is passed down", "%d %d %d %d",
           first, second, third, again);
    tap_ok(again == visit(ONE ";AffinityMode=strict;Access=read-only;"
                              "PoolWait=100000"),
           "what belongs to the session keeps its pool", "%d", again);
}

int main(void)
{
    try_env = odbc_env(SQL_OV_ODBC3);
    full();
    in_turn();
    first_come();
    total();
    reuse();
    lifetime();
    idle_time();
    trust();
    logins();
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    return tap_end();
}
