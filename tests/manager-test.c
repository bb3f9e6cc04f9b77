/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The manager's own pooling above us, which hands a connection to the next
 * user without a word to the driver: we refuse it (design §5.5), so that with
 * CPTimeout set nothing leaks and each session is placed by its own key.
 * psqlODBC under the same manager shows that the pooling is at work here.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity_odbc.h"

static char first_pid[24];

/* One user sets something, the next looks: what it finds. */
static const char *next_finds(const char *string, bool wide)
{
    static char found[80];
    SQLHDBC dbc = odbc_open(try_env, string, wide);

    if (!dbc) {
        return odbc_error();
    }
    snprintf(first_pid, sizeof first_pid, "%s",
             odbc_value(dbc, "SELECT pg_backend_pid()"));
    odbc_run(dbc, "SET work_mem = '77MB'");
    odbc_run(dbc, "CREATE TEMP TABLE kept_by_the_manager (i int)");
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                      0);
    odbc_run(dbc, "SELECT pg_advisory_lock(pg_backend_pid())");
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    odbc_close(dbc);
    dbc = odbc_open(try_env, string, wide);
    if (!dbc) {
        return odbc_error();
    }
    SQLUINTEGER autocommit = 7;
    SQLGetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, &autocommit, 0, NULL);
    snprintf(found, sizeof found, "%s, %s tables, %s locks, autocommit %u",
             odbc_value(dbc, "SHOW work_mem"),
             odbc_value(dbc, "SELECT count(*) FROM pg_class WHERE "
                             "relname = 'kept_by_the_manager' AND "
                             "pg_table_is_visible(oid)"),
             odbc_value(dbc, "SELECT count(*) FROM pg_locks WHERE "
                             "locktype = 'advisory' AND "
                             "pid = pg_backend_pid()"),
             (unsigned)autocommit);
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    odbc_close(dbc);
    return found;
}

/* The key is an attribute, so that the manager takes both for the same. */
static const char *place_by_attribute(const char *key, bool wide)
{
    SQLHDBC dbc = try_dbc();

    SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_KEY, (SQLPOINTER)key, SQL_NTS);
    return try_landed(dbc, try_connect(dbc, "DSN=orders-strict", wide));
}

static void nothing_leaks(bool wide)
{
    static const char clean[] = "4MB, 0 tables, 0 locks, autocommit 1";
    const char *width = wide ? "wide" : "narrow";
    char name[100];

    snprintf(name, sizeof name, "%s: the next user finds nothing", width);
    tap_is(name, next_finds("DSN=orders;Instances=n1;PoolMax=1", wide), clean);
    snprintf(name, sizeof name, "%s: nor with a key", width);
    tap_is(name, next_finds("DSN=orders-strict;AffinityKey=1500", wide), clean);
    for (int i = 0; i < 4; i++) {
        static const char *const keys[] = {"5", "1500", "2500", "1500"};
        static const char *const names[] = {"n1", "n2", "n3", "n2"};
        snprintf(name, sizeof name, "%s: key %s by attribute, same string",
                 width, keys[i]);
        tap_is(name, place_by_attribute(keys[i], wide), names[i]);
    }
}

/* With a string of its own: a connection that the manager keeps for another
   string holds its link, of which nobody tells the driver. */
static void one_link(void)
{
    char pids[3][24];

    for (int i = 0; i < 3; i++) {
        SQLHDBC dbc = odbc_open(
            try_env, "DSN=orders;Instances=n1;PoolMax=1;PoolTrust=60000",
            false);
        snprintf(pids[i], sizeof pids[i], "%s",
                 dbc ? odbc_value(dbc, "SELECT pg_backend_pid()")
                     : odbc_error());
        odbc_close(dbc);
    }
    tap_ok(!strcmp(pids[0], pids[1]) && !strcmp(pids[1], pids[2]) &&
               strtol(pids[0], NULL, 10) > 0,
           "our own pool has the link, and gives it again", "%s, %s, %s",
           pids[0], pids[1], pids[2]);
}

int main(void)
{
    if (!try_ini_make("", "CPTimeout = 600\n", "\n[ODBC]\nPooling = Yes\n")) {
        tap_ok(false, "ini files of its own", "%s", "none");
        return tap_end();
    }
    try_env = odbc_env(SQL_OV_ODBC3);
    tap_ok(strncmp(next_finds("DSN=n1", false), "77MB, 1 tables, 1 locks",
                   23) == 0,
           "psqlODBC alone, pooled by the manager, leaks", "%s",
           next_finds("DSN=n1", false));
    nothing_leaks(false);
    nothing_leaks(true);
    one_link();
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    try_ini_drop();
    return tap_end();
}
