/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "ask.h"

#include "../trouble.h"
#include "storm.h"

#include <pthread.h>
#include <stdio.h>

void ask_record(SQLSMALLINT type, SQLHANDLE handle, char out[ASK_MAX])
{
    SQLCHAR state[6], text[ASK_MAX - 30];
    SQLINTEGER native = 0;
    SQLSMALLINT length;

    snprintf(out, ASK_MAX, "(no record)");
    if (SQL_SUCCEEDED(SQLGetDiagRec(type, handle, 1, state, &native, text,
                                    sizeof text, &length))) {
        snprintf(out, ASK_MAX, "%s %d %s", (char *)state, (int)native,
                 (char *)text);
    }
}

SQLHDBC ask_open(const char *string, struct answer *answer)
{
    SQLHDBC dbc = SQL_NULL_HDBC;
    SQLSMALLINT length;

    answer->text[0] = '\0';
    SQLAllocHandle(SQL_HANDLE_DBC, trouble_env, &dbc);
    answer->good =
        SQL_SUCCEEDED(SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS,
                                       NULL, 0, &length, SQL_DRIVER_NOPROMPT));
    if (!answer->good) {
        ask_record(SQL_HANDLE_DBC, dbc, answer->text);
        SQLFreeHandle(SQL_HANDLE_DBC, dbc);
        dbc = SQL_NULL_HDBC;
    }
    return dbc;
}

/* False: the connection has none; its record is the answer. */
static bool open_stmt(SQLHDBC dbc, SQLHSTMT *stmt, struct answer *answer)
{
    *stmt = SQL_NULL_HSTMT;
    answer->text[0] = '\0';
    answer->good = SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, dbc, stmt));
    if (!answer->good) {
        ask_record(SQL_HANDLE_DBC, dbc, answer->text);
    }
    return answer->good;
}

static void close_stmt(SQLHSTMT stmt, SQLRETURN rc, struct answer *answer)
{
    answer->good = SQL_SUCCEEDED(rc) || rc == SQL_NO_DATA;
    if (!answer->good) {
        ask_record(SQL_HANDLE_STMT, stmt, answer->text);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

/* The first column of the first row. */
static SQLRETURN run(SQLHSTMT stmt, const char *sql, struct answer *answer)
{
    SQLRETURN rc = SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS);
    SQLLEN got;

    if (SQL_SUCCEEDED(rc)) {
        rc = SQLFetch(stmt);
    }
    if (SQL_SUCCEEDED(rc)) {
        rc = SQLGetData(stmt, 1, SQL_C_CHAR, answer->text, sizeof answer->text,
                        &got);
    }
    return rc;
}

struct answer ask(SQLHDBC dbc, const char *sql)
{
    struct answer answer;
    SQLHSTMT stmt;

    if (open_stmt(dbc, &stmt, &answer)) {
        close_stmt(stmt, run(stmt, sql, &answer), &answer);
    }
    return answer;
}

struct canceller {
    pthread_t thread;
    SQLHSTMT stmt;
    unsigned ms;
};

static void *cancel(void *arg)
{
    struct canceller *canceller = arg;

    storm_rest(canceller->ms);
    SQLCancel(canceller->stmt);
    return NULL;
}

struct answer ask_and_cancel(SQLHDBC dbc, const char *sql, unsigned ms)
{
    struct canceller canceller = { .ms = ms };
    struct answer answer;
    SQLRETURN rc;

    if (open_stmt(dbc, &canceller.stmt, &answer)) {
        pthread_create(&canceller.thread, NULL, cancel, &canceller);
        rc = run(canceller.stmt, sql, &answer);
        pthread_join(canceller.thread, NULL);
        close_stmt(canceller.stmt, rc, &answer);
    }
    return answer;
}

struct answer ask_to(SQLHDBC dbc, const char *sql, bool prepared,
                     long long first, long long second)
{
    SQLBIGINT parameters[2] = { first, second };
    struct answer answer;
    SQLHSTMT stmt;
    SQLRETURN rc;

    if (open_stmt(dbc, &stmt, &answer)) {
        rc = prepared ? SQLPrepare(stmt, (SQLCHAR *)sql, SQL_NTS) : SQL_SUCCESS;
        for (SQLUSMALLINT p = 1; prepared && p <= 2; p++) {
            SQLBindParameter(stmt, p, SQL_PARAM_INPUT, SQL_C_SBIGINT,
                             SQL_BIGINT, 0, 0, &parameters[p - 1], 0, NULL);
        }
        if (SQL_SUCCEEDED(rc)) {
            rc = prepared ? SQLExecute(stmt)
                          : SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS);
        }
        close_stmt(stmt, rc, &answer);
    }
    return answer;
}
