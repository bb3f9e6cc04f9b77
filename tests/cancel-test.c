/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLCancel: it ends the call it is meant for, waits for nothing but that it is
 * sent, so that one which came too late does not reach the session's next
 * statement; and never reaches the next user of the link, even if the session is gone before the
 * cancel has arrived (rules §4.6, §5.4); nor if it is the manager's pooling
 * that hands the session on.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define POOL "DSN=orders;Instances=n1;PoolMax=1;ManagerPooling=allow"

enum { ROUNDS = 40 };

struct run {
    SQLHSTMT stmt;
    SQLRETURN rc;
    char record[700];
};

static void *sleep_long(void *arg)
{
    struct run *run = arg;

    run->rc = SQLExecDirect(run->stmt, (SQLCHAR *)"SELECT pg_sleep(60)",
                            SQL_NTS);
    snprintf(run->record, sizeof run->record, "%s",
             odbc_record(SQL_HANDLE_STMT, run->stmt, 1));
    return NULL;
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Until that backend runs pg_sleep: asked of the instance itself. */
static void await_sleep(SQLHDBC watch, const char *pid)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND "
             "wait_event = 'PgSleep'", pid);
    while (strcmp(odbc_value(watch, sql), "1") != 0) {
    }
}

/* One statement cancelled; returns how long the cancel call took. */
static double cancel_once(SQLHENV env, SQLHDBC watch, struct run *run,
                          char pid[40])
{
    SQLHDBC dbc = odbc_open(env, POOL, false);
    pthread_t thread;
    double start;

    snprintf(pid, 40, "%s", odbc_value(dbc, "SELECT pg_backend_pid()"));
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &run->stmt);
    pthread_create(&thread, NULL, sleep_long, run);
    await_sleep(watch, pid);
    start = now();
    SQLCancel(run->stmt);
    start = now() - start;
    pthread_join(thread, NULL);
    SQLFreeHandle(SQL_HANDLE_STMT, run->stmt);
    odbc_close(dbc); /* at once, whatever is still under way */
    return start;
}

static void try_cancel(void)
{
    SQLHENV env = odbc_env(SQL_OV_ODBC3);
    SQLHDBC watch = odbc_open(env, "DSN=n1;UID=postgres", false);
    unsigned ended = 0, clean = 0, same = 0;
    char last[40] = "";
    double slowest = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct run run = { .rc = SQL_SUCCESS };
        char pid[40];
        double took = cancel_once(env, watch, &run, pid);
        SQLHDBC next = odbc_open(env, POOL, false);

        slowest = took > slowest ? took : slowest;
        ended += run.rc == SQL_ERROR && strncmp(run.record, "57014", 5) == 0;
        same += !*last || strcmp(last, pid) == 0;
        snprintf(last, sizeof last, "%s", pid);
        clean += next && odbc_run(next, "SELECT pg_sleep(0.003)");
        if (!next) {
            printf("# %s\n", odbc_error());
        }
        odbc_close(next);
    }
    tap_ok(ended == ROUNDS, "every cancelled statement ends with 57014",
           "%u of %d", ended, ROUNDS);
    tap_ok(clean == ROUNDS, "no cancel reaches the next session",
           "%u of %d", clean, ROUNDS);
    tap_ok(same == ROUNDS, "a cancelled link is reset and reused",
           "%u of %d", same, ROUNDS);
    printf("# the slowest SQLCancel took %.3f ms\n", slowest * 1000);
    odbc_close(watch);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
}

static void *sleep_briefly(void *arg)
{
    SQLExecDirect(arg, (SQLCHAR *)"SELECT pg_sleep(0.002)", SQL_NTS);
    return NULL;
}

/* Cancelled at about the time when it ends by itself. */
static void try_late(void)
{
    enum { LATE_ROUNDS = 150 };
    SQLHENV env = odbc_env(SQL_OV_ODBC3);
    SQLHDBC dbc = odbc_open(env, POOL, false);
    unsigned clean = 0;

    for (unsigned i = 0; i < LATE_ROUNDS; i++) {
        struct timespec pause = { .tv_nsec = (long)(i % 50) * 100000 };
        pthread_t thread;
        SQLHSTMT stmt;

        SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
        pthread_create(&thread, NULL, sleep_briefly, stmt);
        nanosleep(&pause, NULL);
        SQLCancel(stmt);
        pthread_join(thread, NULL);
        SQLFreeHandle(SQL_HANDLE_STMT, stmt);
        clean += odbc_run(dbc, "SELECT pg_sleep(0.003)");
    }
    tap_ok(clean == LATE_ROUNDS, "no cancel reaches the next statement",
           "%u of %d: %s", clean, LATE_ROUNDS, odbc_error());
    odbc_close(dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
}

static void try_pooled(void)
{
    if (!try_ini_make("", "CPTimeout = 600\n",
                      "\n[ODBC]\nPooling = Yes\n")) {
        tap_ok(false, "ini files of its own", "%s", "none");
        return;
    }
    try_cancel();
    try_ini_drop();
}

int main(void)
{
    tap_apart("without the manager's pooling", try_cancel);
    tap_apart("with it", try_pooled);
    tap_apart("too late", try_late);
    return tap_end();
}
