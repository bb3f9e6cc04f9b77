/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The manager's own pooling above us, which hands a connection to the next
 * user without a word to the driver (design §5.5), in each way of switching it
 * on and with both values of ManagerPooling; psqlODBC under the same manager
 * shows whether it is at work.  What one user can leave to the next is
 * manager-leak-test's subject, what becomes of connections while the manager
 * keeps them manager-kept-test's; here: who gets whose connection.
 *
 * The manager reads its switches once a process, so each part is one.
 */
#include "autoconf.h"

#include "manager.h"
#include "odbc_tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity_odbc.h"

/* One user leaves a mess, the next looks: what it finds. */
static const char *next_finds(const char *string, bool wide)
{
    static char found[80];
    SQLHDBC dbc = odbc_open(try_env, string, wide);

    if (!dbc) {
        return odbc_error();
    }
    manager_mess(dbc);
    odbc_close(dbc);
    dbc = odbc_open(try_env, string, wide);
    if (!dbc) {
        return odbc_error();
    }
    manager_look(dbc, found);
    odbc_close(dbc);
    return found;
}

/* ---- the ways of switching it on ---------------------------------------------- */

enum { TRIES = 20 }; /* without CPTimeout a connection is kept for a second */

static bool psqlodbc_leaks(void)
{
    bool leaks = false;

    for (int i = 0; i < TRIES && !leaks; i++) {
        leaks = strncmp(next_finds("DSN=n1", false), "77MB, 1 tables, 1 locks",
                        23) == 0;
    }
    return leaks;
}

static void nothing_leaks(void)
{
    static const char *const fleets[] = {"DSN=orders;Instances=n1",
                                         "DSN=orders-strict;AffinityKey=1500",
                                         "DSN=orders-ansi;Instances=n1-ansi"};
    char name[200], string[120];

    for (int i = 0; i < 12; i++) {
        bool wide = i % 2;
        snprintf(string, sizeof string, "%s;PoolMax=2;ManagerPooling=%s",
                 fleets[i / 4], manager_modes[i / 2 % 2]);
        snprintf(name, sizeof name, "%s: the next user of %s finds nothing",
                 manager_widths[wide], string);
        tap_is(name, next_finds(string, wide), manager_clean);
    }
}

static void try_way(const char *timeout, const char *odbc, int leaks)
{
    if (!manager_begin("", timeout, odbc, SQL_OV_ODBC3)) {
        return;
    }
    if (leaks >= 0) {
        tap_ok(psqlodbc_leaks() == leaks,
               leaks ? "psqlODBC alone, pooled by the manager, leaks"
                     : "psqlODBC alone does not: nothing is pooled",
               "%s", next_finds("DSN=n1", false));
    }
    nothing_leaks();
    manager_end();
}

static void both_ini(void)
{
    try_way("CPTimeout = 600\n", MANAGER_POOLING, 1);
}

static void pooling_alone(void)
{
    try_way("", MANAGER_POOLING, 1);
}

static void timeout_alone(void)
{
    try_way("CPTimeout = 600\n", "", 0);
}

/* What comes of it depends on the manager: 2.3.11 ignores it, 2.3.12 does not
   (facts §7). */
static void by_attribute(void)
{
    tap_ok(SQLSetEnvAttr(SQL_NULL_HENV, SQL_ATTR_CONNECTION_POOLING,
                         (SQLPOINTER)SQL_CP_ONE_PER_HENV, 0) == SQL_SUCCESS,
           "SQL_ATTR_CONNECTION_POOLING can be set", "%s", "it cannot");
    try_way("CPTimeout = 600\n", "", -1);
}

/* ---- keys ---------------------------------------------------------------------- */

static const char *const keys[] = {"5", "1500", "2500"};
static const char *const owners[] = {"n1", "n2", "n3"};

/* Keys by string: other strings, so other connections; each time that the
   manager hands one on it serves its own key. */
static void keys_by_string(const char *mode, bool wide)
{
    unsigned kept = 0, right = 0;
    bool again = false, allow = !strcmp(mode, "allow");
    char name[100];

    for (int i = 0; i < 9; i++) {
        char string[120];
        snprintf(string, sizeof string,
                 "DSN=orders-strict;ManagerPooling=%s;AffinityKey=%s%s", mode,
                 keys[i % 3], wide ? ";" : "");
        SQLHDBC dbc = odbc_open(try_env, string, wide);
        right += dbc && !strcmp(odbc_value(dbc, "SHOW cluster_name"),
                                owners[i % 3]);
        odbc_close(dbc);
        dbc = manager_open(string, wide, &again);
        kept += dbc && again;
        odbc_close(dbc);
    }
    snprintf(name, sizeof name, "%s, %s: keys by string", manager_widths[wide], mode);
    tap_ok(right == 9 && kept == (allow ? 9 : 0), name,
           "%u of 9 on the owner, %u connections handed on", right, kept);
}

/* The key is an attribute, so that the manager takes all for the same. */
static void keys_by_attribute(bool wide)
{
    char name[100];

    for (int i = 0; i < 4; i++) {
        SQLHDBC dbc = try_dbc();
        SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_KEY, (SQLPOINTER)keys[i % 3],
                          SQL_NTS);
        snprintf(name, sizeof name, "%s, refuse: key %s by attribute",
                 manager_widths[wide], keys[i % 3]);
        tap_is(name, try_landed(dbc, try_connect(dbc, "DSN=orders-strict",
                                                 wide)), owners[i % 3]);
    }
}

/* A key by attribute is its user's alone. */
static void attribute_is_forgotten(bool wide)
{
    static const char string[] = "DSN=orders;ManagerPooling=allow";
    SQLCHAR verdict[300] = "";
    bool kept = true;
    char name[100];
    SQLHDBC dbc = try_dbc();

    SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_KEY, (SQLPOINTER)"1500", SQL_NTS);
    SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_MODE, (SQLPOINTER)"strict",
                      SQL_NTS);
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                      SQL_IS_UINTEGER);
    snprintf(name, sizeof name, "%s, allow: what the first set before connect",
             manager_widths[wide]);
    tap_is(name, try_landed(dbc, try_connect(dbc, string, wide)), "n2");
    dbc = manager_open(string, wide, &kept);
    SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_VERDICT, verdict, sizeof verdict,
                      NULL);
    snprintf(name, sizeof name, "%s, allow: is not the second's",
             manager_widths[wide]);
    tap_ok(kept && strstr((char *)verdict, "no key"), name, "kept %d, '%s'",
           kept, (char *)verdict);
    odbc_close(dbc);
}

static void try_keys(void)
{
    if (!manager_begin("", "CPTimeout = 600\n", MANAGER_POOLING,
                       SQL_OV_ODBC3)) {
        return;
    }
    for (int wide = 0; wide <= 1; wide++) {
        keys_by_string("refuse", wide);
        keys_by_string("allow", wide);
        keys_by_attribute(wide);
        if (!wide) { /* the same string: the same connections */
            attribute_is_forgotten(wide);
        }
    }
    manager_end();
}

/* ---- logins --------------------------------------------------------------------- */

static SQLRETURN log_in(SQLHDBC dbc, const char *password, bool wide)
{
    return wide ? SQLConnectW(dbc, try_utf16("pooled"), SQL_NTS,
                              try_utf16("app"), SQL_NTS, try_utf16(password),
                              SQL_NTS)
                : SQLConnect(dbc, (SQLCHAR *)"pooled", SQL_NTS,
                             (SQLCHAR *)"app", SQL_NTS, (SQLCHAR *)password,
                             SQL_NTS);
}

static void logins(bool wide)
{
    const char *password = getenv("AFFINITY_SANDBOX_PASSWORD");
    char name[100], found[80] = "", pids[2][24] = {"", ""};

    for (int i = 0; i < 2; i++) {
        SQLHDBC dbc = try_dbc();
        SQLRETURN rc = log_in(dbc, password, wide);
        snprintf(name, sizeof name, "%s: user %d with the right password",
                 manager_widths[wide], i + 1);
        tap_ok(rc == SQL_SUCCESS, name, "%s",
               odbc_record(SQL_HANDLE_DBC, dbc, 1));
        manager_look(dbc, found);
        snprintf(pids[i], sizeof pids[i], "%s",
                 odbc_value(dbc, "SELECT pg_backend_pid()"));
        manager_mess(dbc);
        odbc_close(dbc);
        dbc = try_dbc();
        rc = log_in(dbc, "wrong", wide);
        snprintf(name, sizeof name, "%s: a wrong one in between",
                 manager_widths[wide]);
        try_says(name, odbc_record(SQL_HANDLE_DBC, dbc, 1), "28000",
                 "refused");
        SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    }
    snprintf(name, sizeof name, "%s: one backend, and it is clean",
             manager_widths[wide]);
    tap_ok(!strcmp(found, manager_clean) && !strcmp(pids[0], pids[1]), name,
           "'%s', backends %s and %s", found, pids[0], pids[1]);
}

static void try_logins_in(bool wide)
{
    if (!manager_begin("\n[pooled]\nDriver = Affinity\nInstances = n1-tcp\n"
                       "PoolMax = 1\nManagerPooling = allow\n",
                       "CPTimeout = 600\n", MANAGER_POOLING, SQL_OV_ODBC3)) {
        return;
    }
    logins(wide);
    manager_end();
}

/* In processes of their own: the manager takes them for the same. */
static void try_logins(void)
{
    try_logins_in(false);
}

static void try_logins_wide(void)
{
    try_logins_in(true);
}

int main(void)
{
    tap_apart("[ODBC] Pooling and CPTimeout", both_ini);
    tap_apart("[ODBC] Pooling", pooling_alone);
    tap_apart("CPTimeout", timeout_alone);
    tap_apart("SQL_ATTR_CONNECTION_POOLING", by_attribute);
    tap_apart("keys", try_keys);
    tap_apart("logins", try_logins);
    tap_apart("logins, wide", try_logins_wide);
    return tap_end();
}
