/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What becomes of connections while the manager's own pooling keeps them, with
 * both values of ManagerPooling: their links, their backends, forks, threads,
 * CPTimeout, the end of the environment and of the process.
 */
#include "autoconf.h"

#include "manager.h"
#include "odbc_tap.h"
#include "trouble.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONE "DSN=orders;Instances=n1;PoolMax=1;PoolWait=30000;"
#define OTHER ";AffinityKey=5;PoolWait=100" /* another string to the manager */

/* With a string of its own: a connection that the manager keeps for another
   string holds its link, of which nobody tells the driver. */
static void one_link(const char *mode)
{
    char pids[3][24], string[160], name[100];

    snprintf(string, sizeof string, ONE "ManagerPooling=%s", mode);
    for (int i = 0; i < 3; i++) {
        SQLHDBC dbc = odbc_open(try_env, string, false);
        snprintf(pids[i], sizeof pids[i], "%s",
                 dbc ? odbc_value(dbc, "SELECT pg_backend_pid()")
                     : odbc_error());
        odbc_close(dbc);
    }
    snprintf(name, sizeof name, "%s: our own pool has the link, and gives it "
             "again", mode);
    tap_ok(!strcmp(pids[0], pids[1]) && !strcmp(pids[1], pids[2]) &&
               strtol(pids[0], NULL, 10) > 0,
           name, "%s, %s, %s", pids[0], pids[1], pids[2]);
    strcat(string, OTHER);
    snprintf(name, sizeof name, "%s: what the manager keeps holds its link",
             mode);
    try_says(name, odbc_open(try_env, string, false) ? "a link" : odbc_error(),
             "HYT00 29", "every link is in use");
}

/* Of an ODBC 3.80 application's the manager says so. */
static void told(const char *mode)
{
    char string[160], name[100];

    snprintf(string, sizeof string, ONE "PoolIdleTimeout=60000;"
             "ManagerPooling=%s", mode);
    for (int i = 0; i < 3; i++) {
        strcat(string, i ? ";AffinityKey=5" : "");
        SQLHDBC dbc = odbc_open(try_env, string, i == 1);
        snprintf(name, sizeof name, "%s, ODBC 3.80: a link for string %d",
                 mode, i + 1);
        tap_ok(dbc && odbc_run(dbc, "SET work_mem = '77MB'"), name, "%s",
               odbc_error());
        odbc_close(dbc);
    }
}

/* The backend is ended while the manager keeps the connection. */
static void killed(const char *mode)
{
    char string[160], sql[80], name[100];
    SQLHDBC direct = odbc_open(try_env, "DSN=n1;UID=postgres", false);
    SQLHDBC dbc;

    snprintf(string, sizeof string, ONE "PoolTrust=0;ManagerPooling=%s", mode);
    dbc = odbc_open(try_env, string, false);
    snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%s, 10000)",
             odbc_value(dbc, "SELECT pg_backend_pid()"));
    odbc_run(dbc, "SET work_mem = '77MB'");
    odbc_close(dbc);
    snprintf(name, sizeof name, "%s: a backend is ended in the pool", mode);
    tap_is(name, odbc_value(direct, sql), "1");
    dbc = odbc_open(try_env, string, false);
    snprintf(name, sizeof name, "%s: the next user does not notice", mode);
    tap_is(name, dbc ? odbc_value(dbc, "SHOW work_mem") : odbc_error(), "4MB");
    odbc_close(dbc);
    odbc_close(direct);
}

/* The manager of this version asks no more whose environment it was. */
static void env_freed(void)
{
    static const char string[] = ONE "ManagerPooling=allow;PoolTrust=5000";
    bool kept = false;
    SQLHDBC dbc = odbc_open(try_env, string, false);
    char found[80] = "";

    manager_mess(dbc);
    odbc_close(dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    try_env = odbc_env(SQL_OV_ODBC3);
    dbc = manager_open(string, false, &kept);
    manager_look(dbc, found);
    tap_is("a connection outlives its environment, clean", found, manager_clean);
    odbc_close(dbc);
}

/* A child has its parent's pool, and leaves it alone. */
static void forked(const char *mode)
{
    char string[160], name[100], found[80] = "", pid[24];
    SQLHDBC dbc;
    int status = -1;
    pid_t child;

    snprintf(string, sizeof string, ONE "PoolTrust=7000;ManagerPooling=%s",
             mode);
    dbc = odbc_open(try_env, string, false);
    snprintf(pid, sizeof pid, "%s",
             odbc_value(dbc, "SELECT pg_backend_pid()"));
    manager_mess(dbc);
    odbc_close(dbc);
    child = fork();
    if (child == 0) {
        alarm(60);
        dbc = odbc_open(try_env, string, false);
        manager_look(dbc, found);
        _exit(strcmp(found, manager_clean) != 0 ||
              !strcmp(pid, odbc_value(dbc, "SELECT pg_backend_pid()")));
    }
    waitpid(child, &status, 0);
    snprintf(name, sizeof name, "%s: a forked child connects by itself", mode);
    tap_ok(status == 0, name, "status %x", (unsigned)status);
    dbc = odbc_open(try_env, string, false);
    manager_look(dbc, found);
    snprintf(name, sizeof name, "%s: and its parent goes on", mode);
    tap_ok(!strcmp(found, manager_clean) &&
               !strcmp(pid, odbc_value(dbc, "SELECT pg_backend_pid()")),
           name, "%s", found);
    odbc_close(dbc);
}

/* ---- several threads ------------------------------------------------------------------ */

enum { THREADS = 2, ROUNDS = 100 };

static void *use_again_and_again(void *arg)
{
    const char *string = arg;
    char found[80];
    bool ok = true;

    for (int i = 0; i < ROUNDS && ok; i++) {
        SQLHDBC dbc = odbc_open(try_env, string, i % 3 == 0);
        if (dbc) {
            manager_look(dbc, found);
            manager_mess(dbc);
        }
        ok = dbc && !strcmp(found, manager_clean);
        odbc_close(dbc);
    }
    return ok ? NULL : arg;
}

static void threads(const char *mode)
{
    pthread_t thread[THREADS];
    char string[160], name[100];
    unsigned wrong = 0;

    snprintf(string, sizeof string, "DSN=orders;Instances=n1;PoolMax=4;"
             "ManagerPooling=%s", mode);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, use_again_and_again, string);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        wrong += failed != NULL;
    }
    snprintf(name, sizeof name, "%s: threads leave nothing to one another",
             mode);
    tap_ok(wrong == 0, name, "%u of %d threads found something", wrong,
           THREADS);
}

static void try_kept(void)
{
    if (!manager_begin("", "CPTimeout = 600\n", MANAGER_POOLING,
                       SQL_OV_ODBC3)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        one_link(manager_modes[i]);
        killed(manager_modes[i]);
        forked(manager_modes[i]);
        threads(manager_modes[i]);
    }
    env_freed();
    manager_end();
}

static void try_told(void)
{
    if (!manager_begin("", "CPTimeout = 600\n", MANAGER_POOLING,
                       SQL_OV_ODBC3_80)) {
        return;
    }
    told("refuse");
    told("allow");
    manager_end();
}

/* ---- CPTimeout ---------------------------------------------------------------------- */

static bool gets_the_link(void *string)
{
    SQLHDBC dbc = odbc_open(try_env, string, false);

    odbc_close(dbc);
    return dbc != SQL_NULL_HDBC;
}

/* Connections that are too old are closed when somebody connects. */
static void try_expiry(void)
{
    if (!manager_begin("", "CPTimeout = 1\n", MANAGER_POOLING,
                       SQL_OV_ODBC3)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        char string[160], name[100];
        SQLHDBC dbc;

        snprintf(string, sizeof string, ONE "ManagerPooling=%s", manager_modes[i]);
        dbc = odbc_open(try_env, string, false);
        odbc_run(dbc, "BEGIN; CREATE TABLE never_there (i int)");
        odbc_close(dbc);
        strcat(string, OTHER);
        snprintf(name, sizeof name, "%s: after CPTimeout the link is free",
                 manager_modes[i]);
        tap_ok(trouble_await(gets_the_link, string, 30000), name, "%s",
               odbc_error());
        dbc = odbc_open(try_env, string, false);
        snprintf(name, sizeof name, "%s: and clean", manager_modes[i]);
        tap_is(name,
               odbc_value(dbc, "SELECT coalesce(to_regclass('never_there')::"
                               "text, pg_current_xact_id_if_assigned()::text,"
                               " 'nothing')"),
               "nothing");
        odbc_close(dbc);
    }
    manager_end();
}

/* ---- afterwards ------------------------------------------------------------------------ */

static bool is_alone(void *direct)
{
    return !strcmp(odbc_value(direct,
                              "SELECT count(*) FROM pg_stat_activity WHERE "
                              "usename = 'app'"), "0");
}

int main(void)
{
    SQLHDBC direct;

    tap_apart("connections that are kept", try_kept);
    tap_apart("connections of ODBC 3.80", try_told);
    tap_apart("connections that are too old", try_expiry);
    try_env = odbc_env(SQL_OV_ODBC3);
    direct = odbc_open(try_env, "DSN=n1;UID=postgres", false);
    tap_ok(trouble_await(is_alone, direct, 30000),
           "the processes are gone, and so is what their managers kept", "%s",
           odbc_value(direct, "SELECT string_agg(query, ';') FROM "
                              "pg_stat_activity WHERE usename = 'app'"));
    odbc_close(direct);
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    return tap_end();
}
