/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Fork: whatever a child does with the handles it inherited, its parent's
 * sessions and idle links stay as they were and nothing is sent on their
 * sockets; the child connects afresh, over links of its own (design §8).
 *
 * That nothing was sent is what the instance says: the backend's last query
 * and its times are the same, and its transaction is still open.
 *
 * The manager has locks of its own that no fork handler frees in the child,
 * so a program may fork only while none of its threads is inside the manager;
 * our helper threads may be anywhere.
 *
 * LONG: what children do, and what is looked at, is the same throughout.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "trouble.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRICT "DSN=orders;AffinityMode=strict;PoolWait=20000"
#define ON_N2 STRICT ";AffinityKey=1500"
#define MARK "SELECT count(*) FROM plain WHERE id = -79"

enum { CHILD_SECONDS = 30, FORKS = 50, THREADS = 4 };

/* What a child has to say goes here, since stdout is the parent's. */
static char *said;

/* The parent's session with all that hangs on it. */
static struct {
    SQLHDBC dbc;
    SQLHSTMT prepared, cursor;
    char pid[40];
    char idle[200]; /* the backends of its idle links, with commas */
} parent;

/* ---- children ------------------------------------------------------------ */

static int complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
static int complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(said, 1000, format, arguments);
    va_end(arguments);
    return 1;
}

static pid_t start_child(int (*act)(void), bool politely)
{
    pid_t pid;

    said[0] = '\0';
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        int status;

        alarm(CHILD_SECONDS); /* a child that hangs is killed */
        status = act();
        if (politely) {
            exit(status);
        }
        _exit(status);
    }
    return pid;
}

/* True: it ended by itself with status 0; else `said` says why. */
static bool end_child(pid_t pid)
{
    int status = -1;

    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) {
        complain(WTERMSIG(status) == SIGALRM ? "it hung"
                                             : "it died by signal %d",
                 WTERMSIG(status));
    }
    return status == 0;
}

static bool run_child(int (*act)(void), bool politely)
{
    return end_child(start_child(act, politely));
}

/* Is it among these, which stand with commas? */
static bool has(const char *pids, const char *wanted)
{
    char copy[200], *rest = copy, *pid;

    snprintf(copy, sizeof copy, "%s", pids);
    while ((pid = strtok_r(rest, ",", &rest))) {
        if (strcmp(pid, wanted) == 0) {
            return true;
        }
    }
    return false;
}

/* Sessions, a statement each, over links that are not the parent's. */
static int connect_afresh(void)
{
    for (int i = 0; i < 3; i++) {
        struct trouble_try t = { 0 };
        const char *pid;

        if (!trouble_try(&t, ON_N2)) {
            return complain("no session: %s", t.records);
        }
        pid = odbc_value(t.dbc, "SELECT pg_backend_pid()");
        if (atoi(pid) <= 0 || strcmp(pid, parent.pid) == 0 ||
            has(parent.idle, pid)) {
            return complain("backend '%s' is no fresh one (%s, %s): %s", pid,
                            parent.pid, parent.idle, odbc_error());
        }
        odbc_close(t.dbc);
    }
    return 0;
}

/* ---- what children do with the parent's handles -------------------------- */

static int nothing(void)
{
    return 0;
}

static int disconnect(void)
{
    SQLRETURN rc = SQLDisconnect(parent.dbc);

    return rc == SQL_SUCCESS ? 0 : complain(
        "rc %d, %s", rc, odbc_record(SQL_HANDLE_DBC, parent.dbc, 1));
}

static int free_everything(void)
{
    SQLRETURN rc = SQLFreeHandle(SQL_HANDLE_STMT, parent.cursor);

    if (rc == SQL_SUCCESS) {
        rc = SQLFreeHandle(SQL_HANDLE_STMT, parent.prepared);
    }
    if (rc == SQL_SUCCESS) {
        rc = SQLDisconnect(parent.dbc);
    }
    if (rc == SQL_SUCCESS) {
        rc = SQLFreeHandle(SQL_HANDLE_DBC, parent.dbc);
    }
    if (rc == SQL_SUCCESS) {
        rc = SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    }
    return rc == SQL_SUCCESS ? 0 : complain("rc %d", rc);
}

static int use_statements(void)
{
    SQLHSTMT stmt;
    SQLRETURN rc = SQLExecute(parent.prepared);

    if (rc != SQL_ERROR ||
        strncmp(odbc_record(SQL_HANDLE_STMT, parent.prepared, 1), "08S01",
                5) != 0) {
        return complain("SQLExecute: %d, %s", rc,
                        odbc_record(SQL_HANDLE_STMT, parent.prepared, 1));
    }
    rc = SQLFetch(parent.cursor);
    if (rc != SQL_ERROR) {
        return complain("SQLFetch: %d", rc);
    }
    SQLCloseCursor(parent.cursor);
    SQLMoreResults(parent.cursor);
    SQLCancel(parent.cursor);
    SQLFreeStmt(parent.cursor, SQL_CLOSE);
    SQLFreeStmt(parent.prepared, SQL_RESET_PARAMS);
    rc = SQLAllocHandle(SQL_HANDLE_STMT, parent.dbc, &stmt);
    return rc == SQL_ERROR ? 0 : complain("SQLAllocHandle: %d", rc);
}

static int end_transaction(void)
{
    SQLCHAR text[100];
    SQLSMALLINT length;
    SQLRETURN rc = SQLEndTran(SQL_HANDLE_DBC, parent.dbc, SQL_ROLLBACK);

    if (rc != SQL_ERROR) {
        return complain("SQLEndTran of the session: %d", rc);
    }
    SQLEndTran(SQL_HANDLE_ENV, trouble_env, SQL_COMMIT);
    SQLSetConnectAttr(parent.dbc, SQL_ATTR_AUTOCOMMIT,
                      (SQLPOINTER)SQL_AUTOCOMMIT_ON, SQL_IS_UINTEGER);
    SQLGetInfo(parent.dbc, SQL_DBMS_VER, text, sizeof text, &length);
    SQLNativeSql(parent.dbc, (SQLCHAR *)"SELECT 1", SQL_NTS, text,
                 sizeof text, NULL);
    return 0;
}

static int connect_again_on_the_same_handle(void)
{
    SQLSMALLINT length;
    SQLRETURN rc;
    int status = disconnect();

    if (status != 0) {
        return status;
    }
    rc = SQLDriverConnect(parent.dbc, NULL, (SQLCHAR *)ON_N2, SQL_NTS, NULL, 0,
                          &length, SQL_DRIVER_NOPROMPT);
    if (!SQL_SUCCEEDED(rc)) {
        return complain("rc %d, %s", rc,
                        odbc_record(SQL_HANDLE_DBC, parent.dbc, 1));
    }
    if (strcmp(odbc_value(parent.dbc, MARK), "0") != 0) {
        return complain("it sees the parent's transaction");
    }
    odbc_close(parent.dbc);
    return 0;
}

static int fork_again(void)
{
    int status = connect_afresh();
    pid_t pid;

    if (status != 0) {
        return status;
    }
    pid = fork();
    if (pid == 0) {
        alarm(CHILD_SECONDS);
        _exit(connect_afresh());
    }
    return end_child(pid) ? connect_afresh() : 1;
}

static const struct {
    const char *name;
    int (*act)(void);
} acts[] = {
    { "does nothing", nothing },
    { "disconnects", disconnect },
    { "frees all it inherited", free_everything },
    { "uses statements it inherited", use_statements },
    { "ends transactions", end_transaction },
    { "connects afresh", connect_afresh },
    { "disconnects and connects on the same handle",
      connect_again_on_the_same_handle },
    { "connects, and forks a child that does", fork_again },
};

/* ---- before and after the parent's first session ------------------------- */

/* No handle of ours exists yet, or only an environment. */
static void try_before(void)
{
    struct trouble_try t = { 0 };
    pid_t early;
    bool ok;

    ok = run_child(connect_afresh, true);
    tap_ok(ok, "before the first session: a child connects", "%s", said);
    early = start_child(connect_afresh, true);
    ok = trouble_try(&t, ON_N2);
    tap_ok(ok, "and the parent meanwhile", "%s", t.records);
    odbc_close(t.dbc);
    ok = end_child(early);
    tap_ok(ok, "and the child", "%s", said);
}

/* Backends of n2 that are idle and run no transaction of ours. */
static void note_idle(void)
{
    SQLHDBC watch = odbc_open(trouble_env, "DSN=n2;UID=postgres", false);
    char sql[300];

    snprintf(sql, sizeof sql,
             "SELECT coalesce(string_agg(pid::text, ',' ORDER BY pid), '') "
             "FROM pg_stat_activity WHERE usename = 'app' AND "
             "application_name NOT LIKE '%%fdw%%' AND pid <> '0%s'",
             parent.pid);
    snprintf(parent.idle, sizeof parent.idle, "%s", odbc_value(watch, sql));
    odbc_close(watch);
}

/* Are those there yet that were before?  A probe that waits long, or that finds
   no link idle, opens another one beside them at any time. */
static bool has_all(const char *now, const char *before)
{
    char copy[200], *rest = copy, *pid;
    bool all = true;

    snprintf(copy, sizeof copy, "%s", before);
    while ((pid = strtok_r(rest, ",", &rest))) {
        all = all && has(now, pid);
    }
    return all;
}

static bool settled(void *unused)
{
    struct trouble_pools p;
    SQLHDBC dbc = odbc_open(trouble_env, STRICT ";AffinityKey=500", false);
    bool ok = dbc && trouble_complete(dbc) && trouble_quiet(dbc) &&
              trouble_pools(dbc, NULL, false, &p) && p.idle > 0;

    (void)unused;
    odbc_close(dbc);
    return ok;
}

/* All sessions are closed, links are idle. */
static void try_after(void)
{
    struct trouble_try t = { 0 };
    char before[200];
    bool ok;

    trouble_try(&t, ON_N2);
    odbc_close(t.dbc);
    trouble_await(settled, NULL, 10000);
    note_idle();
    snprintf(before, sizeof before, "%s", parent.idle);
    ok = run_child(connect_afresh, true);
    tap_ok(ok, "after the last session: a child connects, and exits", "%s",
           said);
    ok = run_child(nothing, true);
    tap_ok(ok, "another one only exits", "%s", said);
    note_idle();
    tap_ok(*before && has_all(parent.idle, before),
           "the parent's idle links are there yet", "%s of %s", parent.idle,
           before);
    ok = trouble_try(&t, ON_N2);
    tap_is("and can be used", ok ? odbc_value(t.dbc, "SELECT 7") : t.records,
           "7");
    odbc_close(t.dbc);
    trouble_await(settled, NULL, 10000);
}

/* ---- while the parent holds a session ------------------------------------ */

static bool set_up_parent(void)
{
    SQLHSTMT stmt;

    parent.dbc = odbc_open(trouble_env, ON_N2, false);
    if (!parent.dbc) {
        return false;
    }
    snprintf(parent.pid, sizeof parent.pid, "%s",
             odbc_value(parent.dbc, "SELECT pg_backend_pid()"));
    SQLSetConnectAttr(parent.dbc, SQL_ATTR_AUTOCOMMIT,
                      (SQLPOINTER)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER);
    SQLAllocHandle(SQL_HANDLE_STMT, parent.dbc, &stmt);
    parent.prepared = stmt;
    SQLAllocHandle(SQL_HANDLE_STMT, parent.dbc, &stmt);
    parent.cursor = stmt;
    return odbc_run(parent.dbc,
                    "INSERT INTO plain VALUES (-79, 'not committed')") &&
           SQL_SUCCEEDED(SQLPrepare(parent.prepared, (SQLCHAR *)MARK,
                                    SQL_NTS)) &&
           SQL_SUCCEEDED(SQLExecute(parent.prepared)) &&
           SQL_SUCCEEDED(SQLFetch(parent.prepared)) &&
           SQL_SUCCEEDED(SQLCloseCursor(parent.prepared)) &&
           SQL_SUCCEEDED(SQLExecDirect(
               parent.cursor, (SQLCHAR *)"SELECT generate_series(1, 100)",
               SQL_NTS)) &&
           SQL_SUCCEEDED(SQLFetch(parent.cursor));
}

/* What the instance says of the parent's backend. */
static void look(char *out, size_t size)
{
    SQLHDBC watch = odbc_open(trouble_env, "DSN=n2;UID=postgres", false);
    char sql[300];

    snprintf(sql, sizeof sql,
             "SELECT concat_ws(' ', state, xact_start, query_start, "
             "state_change, query) FROM pg_stat_activity WHERE pid = '0%s'",
             parent.pid);
    snprintf(out, size, "%s", watch ? odbc_value(watch, sql) : odbc_error());
    odbc_close(watch);
}

static bool parent_goes_on(void)
{
    SQLRETURN rc = SQLFetch(parent.cursor);

    if (!SQL_SUCCEEDED(rc)) {
        complain("its cursor: rc %d", rc);
        return false;
    }
    if (!SQL_SUCCEEDED(SQLExecute(parent.prepared)) ||
        !SQL_SUCCEEDED(SQLFetch(parent.prepared)) ||
        !SQL_SUCCEEDED(SQLCloseCursor(parent.prepared))) {
        complain("its prepared statement: %s",
                 odbc_record(SQL_HANDLE_STMT, parent.prepared, 1));
        return false;
    }
    if (strcmp(odbc_value(parent.dbc, MARK), "1") != 0) {
        complain("its transaction: %s", odbc_error());
        return false;
    }
    return true;
}

static void try_during(void)
{
    tap_ok(set_up_parent(), "the parent has a transaction and a cursor open",
           "%s", odbc_error());
    note_idle();
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        for (int politely = 0; politely <= 1; politely++) {
            char before[512], after[512], name[200];
            bool ok;

            look(before, sizeof before);
            ok = run_child(acts[i].act, politely);
            snprintf(name, sizeof name, "a child %s and %s: it can",
                     acts[i].name, politely ? "exits" : "is gone");
            tap_ok(ok, name, "%s", said);
            look(after, sizeof after);
            snprintf(name, sizeof name, "a child %s and %s: nothing was sent",
                     acts[i].name, politely ? "exits" : "is gone");
            tap_is(name, after, before);
            ok = parent_goes_on();
            snprintf(name, sizeof name, "a child %s and %s: the parent goes on",
                     acts[i].name, politely ? "exits" : "is gone");
            tap_ok(ok, name, "%s", said);
        }
    }
    SQLEndTran(SQL_HANDLE_DBC, parent.dbc, SQL_ROLLBACK);
    odbc_close(parent.dbc);
    parent.pid[0] = parent.idle[0] = '\0';
}

/* ---- while a helper is inside the inner driver --------------------------- */

/* A probe of n2 hangs for as long as it is paused. */
#define PATIENT "DSN=orders;CheckTimeout=60000;AffinityMode=strict;AffinityKey="

static SQLHDBC anchor;

static bool n2_is(void *wanted)
{
    char state[40];

    return strcmp(trouble_instance(anchor, "n2", "state", state,
                                   sizeof state), wanted) == 0;
}

/* In a fleet of the child's, where nothing hangs. */
static int connect_elsewhere(void)
{
    static const char *const strings[] = { PATIENT "500", PATIENT "2500" };

    for (int i = 0; i < 4; i++) {
        struct trouble_try t = { 0 };
        if (!trouble_try(&t, strings[i % 2]) ||
            strcmp(odbc_value(t.dbc, "SHOW cluster_name"),
                   i % 2 ? "n3" : "n1") != 0) {
            return complain("no session: %s", t.records);
        }
        odbc_close(t.dbc);
    }
    return 0;
}

static void try_inside(void)
{
    static const char *const names[] = {
        "a helper inside: a child is gone", "a helper inside: a child exits",
        "a helper inside: a child connects", "and another one that exits",
    };
    char before[200];
    bool ok;

    anchor = odbc_open(trouble_env, PATIENT "500", false);
    odbc_close(odbc_open(trouble_env, PATIENT "1500", false));
    trouble_await(trouble_quiet, anchor, 10000);
    note_idle();
    snprintf(before, sizeof before, "%s", parent.idle);
    ok = trouble_make("pause", "n2") &&
         trouble_await(n2_is, (void *)"slow", 20000);
    tap_ok(ok, "a helper is inside the inner driver, on n2", "%s",
           odbc_error());
    for (int i = 0; i < 4; i++) {
        ok = run_child(i / 2 ? connect_elsewhere : nothing, i % 2);
        tap_ok(ok, names[i], "%s", said);
    }
    ok = trouble_make("resume", "n2") &&
         trouble_await(n2_is, (void *)"up", 20000);
    tap_ok(ok, "a helper inside: it goes on when the instance does", "%s",
           odbc_error());
    trouble_await(trouble_quiet, anchor, 10000);
    note_idle();
    tap_ok(*before && has_all(parent.idle, before),
           "a helper inside: its links are there yet", "%s of %s",
           parent.idle, before);
    odbc_close(anchor);
}

/* ---- while helper threads are busy --------------------------------------- */

/* AddressSanitizer does not keep the locks of its malloc() over fork: one child
   in a hundred finds one of them taken, for ever. */
#ifdef __SANITIZE_ADDRESS__
enum { MALLOC_FORKS = 0 };
#else
enum { MALLOC_FORKS = 1 };
#endif

/* Links are reset after each session and replaced after every second one, so
   that there always is work for helpers. */
#define BUSY STRICT ";PoolMaxReuse=2;AffinityKey="

static struct {
    pthread_rwlock_t gate; /* read: inside the manager */
    atomic_bool over;
    atomic_uint served, failed;
    char error[1000]; /* the first one's; guarded by gate, written once */
} busy = { .gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP };

static void *be_busy(void *arg)
{
    static const char *const keys[] = { BUSY "500", BUSY "1500", BUSY "2500" };

    for (unsigned i = (unsigned)(uintptr_t)arg; !atomic_load(&busy.over);
         i++) {
        struct trouble_try t = { 0 };
        bool ok;

        pthread_rwlock_rdlock(&busy.gate);
        ok = trouble_try(&t, keys[i % 3]) && odbc_run(t.dbc, "SELECT 1");
        odbc_close(t.dbc);
        pthread_rwlock_unlock(&busy.gate);
        if (!ok && atomic_fetch_add(&busy.failed, 1) == 0) {
            snprintf(busy.error, sizeof busy.error, "%.900s", t.records);
        }
        atomic_fetch_add(&busy.served, ok);
    }
    return NULL;
}

static int connect_busily(void)
{
    struct trouble_try t = { 0 };

    for (int i = 0; i < 3; i++) {
        if (!trouble_try(&t, BUSY "1500") ||
            strcmp(odbc_value(t.dbc, "SHOW cluster_name"), "n2") != 0) {
            return complain("no session: %s", t.records);
        }
        odbc_close(t.dbc);
    }
    return 0;
}

static void try_busy(void)
{
    pthread_t threads[THREADS];
    unsigned fine = 0, gone = 0, served;

    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, be_busy, (void *)i);
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t pid;
        bool connects = i % 2 == 0;

        if (connects) {
            pthread_rwlock_wrlock(&busy.gate);
        }
        pid = start_child(connects ? connect_busily : nothing, i % 4 < 2);
        if (connects) {
            pthread_rwlock_unlock(&busy.gate);
        }
        if (!end_child(pid)) {
            printf("# fork %d, %s: %s\n", i,
                   connects ? "connecting" : "doing nothing", said);
        } else if (connects) {
            fine++;
        } else {
            gone++;
        }
    }
    served = atomic_load(&busy.served);
    atomic_store(&busy.over, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    tap_ok(fine == FORKS / 2, "busy helpers: children connect afresh",
           "%u of %d", fine, FORKS / 2);
    tap_ok(gone == FORKS / 2, "busy helpers: children end", "%u of %d", gone,
           FORKS / 2);
    tap_ok(served > 0 && atomic_load(&busy.failed) == 0,
           "busy helpers: no session of the parent fails",
           "%u served, %u failed: %s", served, atomic_load(&busy.failed),
           busy.error);
    printf("# %u sessions served meanwhile\n", served);
}

int main(void)
{
    said = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    trouble_env = odbc_env(SQL_OV_ODBC3);
    try_before();
    try_after();
    try_during();
    try_inside();
    if (MALLOC_FORKS) {
        try_busy();
    } else {
        tap_skip("busy helpers", "AddressSanitizer's malloc() hangs in a child");
    }
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return tap_end();
}
