/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SQLHENV try_env;

SQLHDBC try_dbc(void)
{
    SQLHDBC dbc = SQL_NULL_HDBC;

    SQLAllocHandle(SQL_HANDLE_DBC, try_env, &dbc);
    return dbc;
}

SQLWCHAR *try_utf16(const char *text)
{
    static SQLWCHAR out[4][8192];
    static unsigned turn;
    SQLWCHAR *units = out[turn++ % 4];
    size_t i = 0;

    for (; text[i] && i < 8191; i++) {
        units[i] = (unsigned char)text[i];
    }
    units[i] = 0;
    return units;
}

SQLRETURN try_connect(SQLHDBC dbc, const char *string, bool wide)
{
    SQLSMALLINT length;

    return wide ? SQLDriverConnectW(dbc, NULL, try_utf16(string), SQL_NTS, NULL,
                                    0, &length, SQL_DRIVER_NOPROMPT)
                : SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS, NULL,
                                   0, &length, SQL_DRIVER_NOPROMPT);
}

const char *try_landed(SQLHDBC dbc, SQLRETURN rc)
{
    static char out[700];

    if (SQL_SUCCEEDED(rc)) {
        snprintf(out, sizeof out, "%s", odbc_value(dbc, "SHOW cluster_name"));
        SQLDisconnect(dbc);
    } else {
        snprintf(out, sizeof out, "%s", odbc_record(SQL_HANDLE_DBC, dbc, 1));
    }
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    return out;
}

const char *try_place(const char *string)
{
    SQLHDBC dbc = try_dbc();
    return try_landed(dbc, try_connect(dbc, string, false));
}

const char *try_column(SQLHDBC dbc, const char *sql, SQLUSMALLINT number)
{
    static char out[400];
    SQLHSTMT stmt;
    SQLLEN length = 0;

    snprintf(out, sizeof out, "(none)");
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    if (SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS)) &&
        SQL_SUCCEEDED(SQLFetch(stmt))) {
        SQLGetData(stmt, number, SQL_C_CHAR, out, sizeof out, &length);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return length == SQL_NULL_DATA ? "NULL" : out;
}

void try_says(const char *name, const char *got, const char *state,
              const char *words)
{
    tap_ok(strncmp(got, state, strlen(state)) == 0 && strstr(got, words), name,
           "got '%s', wanted %s with '%s'", got, state, words);
}

const char *try_port(int instance)
{
    char name[40];
    const char *value;

    snprintf(name, sizeof name, "AFFINITY_SANDBOX_PORT_n%d", instance);
    value = getenv(name);
    return value ? value : "?";
}

/* ---- ini files of a test's own ------------------------------------------- */

static char folder[] = "/tmp/affinity-ini.XXXXXX";
static char odbc[64], odbcinst[64];

static bool make(const char *path, const char *from, const char *lines,
                 const char *behind)
{
    FILE *out = fopen(path, "w"), *in = from ? fopen(from, "r") : NULL;
    char line[2048];
    bool ok = out && in;

    while (ok && fgets(line, sizeof line, in)) {
        fputs(line, out);
        if (line[0] == '[') {
            fputs(lines, out);
        }
    }
    if (ok) {
        fputs(behind, out);
    }
    return (!out || fclose(out) == 0) && (!in || fclose(in) == 0) && ok;
}

bool try_ini_make(const char *dsns, const char *lines, const char *drivers)
{
    const char *from = getenv("ODBCSYSINI");
    char system[1024];

    if (!from || !mkdtemp(folder)) {
        return false;
    }
    snprintf(odbc, sizeof odbc, "%s/odbc.ini", folder);
    snprintf(odbcinst, sizeof odbcinst, "%s/odbcinst.ini", folder);
    snprintf(system, sizeof system, "%s/odbcinst.ini", from);
    return make(odbc, getenv("ODBCINI"), "", dsns) &&
           make(odbcinst, system, lines, drivers) &&
           setenv("ODBCINI", odbc, 1) == 0 &&
           setenv("ODBCSYSINI", folder, 1) == 0;
}

void try_ini_drop(void)
{
    unlink(odbc);
    unlink(odbcinst);
    rmdir(folder);
}
