/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "odbc_tap.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned results, failures;
static char last_error[700];

void tap_ok(bool good, const char *name, const char *format, ...)
{
    va_list arguments;

    printf("%sok %u - %s\n", good ? "" : "not ", ++results, name);
    if (!good) {
        failures++;
        va_start(arguments, format);
        printf("# ");
        vprintf(format, arguments);
        printf("\n");
        va_end(arguments);
    }
    fflush(stdout);
}

void tap_is(const char *name, const char *got, const char *wanted)
{
    tap_ok(strcmp(got, wanted) == 0, name, "got '%s', wanted '%s'", got,
           wanted);
}

void tap_skip(const char *name, const char *why)
{
    printf("ok %u - %s # SKIP %s\n", ++results, name, why);
}

/* The child's: tells the parent how far it has counted, and ends as programs
   do, with all that is done at exit. */
static void run_apart(void (*part)(void), int to)
{
    unsigned counts[2];

    part();
    counts[0] = results;
    counts[1] = failures;
    exit(write(to, counts, sizeof counts) != (ssize_t)sizeof counts);
}

void tap_apart(const char *name, void (*part)(void))
{
    unsigned counts[2] = {results, failures};
    int ends[2], status = -1;
    bool counted = false;
    pid_t pid = -1;

    if (pipe(ends) == 0) {
        pid = fork();
        if (pid == 0) {
            close(ends[0]);
            run_apart(part, ends[1]);
        }
        close(ends[1]);
        counted = read(ends[0], counts, sizeof counts) ==
                  (ssize_t)sizeof counts;
        close(ends[0]);
    }
    if (pid > 0) {
        waitpid(pid, &status, 0);
    }
    results = counts[0];
    failures = counts[1];
    tap_ok(counted && status == 0, name, "status %x", (unsigned)status);
}

int tap_end(void)
{
    printf("1..%u\n", results);
    return failures != 0;
}

const char *odbc_record(SQLSMALLINT type, SQLHANDLE handle, SQLSMALLINT number)
{
    static char out[8][700];
    static unsigned turn;
    char *record = out[turn++ % 8];
    SQLCHAR state[6], text[600];
    SQLINTEGER native = 0;
    SQLSMALLINT length;

    record[0] = '\0';
    if (SQL_SUCCEEDED(SQLGetDiagRec(type, handle, number, state, &native, text,
                                    sizeof text, &length))) {
        snprintf(record, sizeof out[0], "%s %d %s", (char *)state,
                 (int)native, (char *)text);
    }
    return record;
}

static void keep_error(SQLSMALLINT type, SQLHANDLE handle)
{
    snprintf(last_error, sizeof last_error, "%s",
             odbc_record(type, handle, 1));
}

const char *odbc_error(void)
{
    return last_error;
}

SQLHENV odbc_env(SQLINTEGER version)
{
    SQLHENV env = SQL_NULL_HENV;

    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
    SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)(intptr_t)version, 0);
    return env;
}

SQLHDBC odbc_open(SQLHENV env, const char *string, bool wide)
{
    SQLHDBC dbc = SQL_NULL_HDBC;
    SQLWCHAR units[4096];
    SQLSMALLINT length;
    SQLRETURN rc;
    size_t i;

    SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    for (i = 0; string[i] && i < 4095; i++) {
        units[i] = (unsigned char)string[i];
    }
    units[i] = 0;
    rc = wide ? SQLDriverConnectW(dbc, NULL, units, SQL_NTS, NULL, 0, &length,
                                  SQL_DRIVER_NOPROMPT)
              : SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS, NULL,
                                 0, &length, SQL_DRIVER_NOPROMPT);
    if (!SQL_SUCCEEDED(rc)) {
        keep_error(SQL_HANDLE_DBC, dbc);
        SQLFreeHandle(SQL_HANDLE_DBC, dbc);
        return SQL_NULL_HDBC;
    }
    return dbc;
}

void odbc_close(SQLHDBC dbc)
{
    if (dbc) {
        SQLDisconnect(dbc);
        SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    }
}

const char *odbc_value(SQLHDBC dbc, const char *sql)
{
    static char out[8][512];
    static unsigned turn;
    char *value = out[turn++ % 8];
    SQLHSTMT stmt;
    SQLLEN length = 0;
    SQLRETURN rc;

    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt))) {
        keep_error(SQL_HANDLE_DBC, dbc);
        snprintf(value, sizeof out[0], "error %.5s", last_error);
        return value;
    }
    rc = SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS);
    if (SQL_SUCCEEDED(rc)) {
        rc = SQLFetch(stmt);
    }
    if (SQL_SUCCEEDED(rc)) {
        rc = SQLGetData(stmt, 1, SQL_C_CHAR, value, sizeof out[0], &length);
    }
    if (rc == SQL_NO_DATA) {
        snprintf(value, sizeof out[0], "(no row)");
    } else if (!SQL_SUCCEEDED(rc)) {
        keep_error(SQL_HANDLE_STMT, stmt);
        snprintf(value, sizeof out[0], "error %.5s", last_error);
    } else if (length == SQL_NULL_DATA) {
        snprintf(value, sizeof out[0], "NULL");
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return value;
}

bool odbc_run(SQLHDBC dbc, const char *sql)
{
    SQLHSTMT stmt;
    SQLRETURN rc;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    rc = SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS);
    if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA) {
        keep_error(SQL_HANDLE_STMT, stmt);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return SQL_SUCCEEDED(rc) || rc == SQL_NO_DATA;
}
