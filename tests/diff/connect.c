/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Connecting and ending, as far as a subject can: on further handles. */
#include "diff.h"

#include <stdio.h>
#include <string.h>

void subject_connect(void);

/* What stands before the first ';' of DSN=NAME;…, without DSN=. */
static const char *dsn(void)
{
    static char name[100];
    const char *from = strstr(run.string, "DSN=");

    snprintf(name, sizeof name, "%.*s",
             from ? (int)strcspn(from + 4, ";") : 0, from ? from + 4 : "");
    return name;
}

static void not_connected(SQLHDBC dbc)
{
    CALL(SQLDisconnect, dbc);
    CALL(SQLAllocHandle, SQL_HANDLE_STMT, dbc, &out.pointer[0]);
    CALL(SQLEndTran, SQL_HANDLE_DBC, dbc, SQL_COMMIT);
    CALL_TEXT(SQLGetInfo, dbc, SQL_DBMS_NAME, TEXT(0), 40, &out.small[0]);
    CALL_TEXT(SQLNativeSql, dbc, IN("SELECT 1"), SQL_NTS, TEXT(0), 40, NULL);
    CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT, &out.integer[0],
              SQL_IS_UINTEGER, NULL);
    CALL_TEXT(SQLSetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT,
              (void *)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER);
    CALL_TEXT(SQLSetConnectAttr, dbc, SQL_ATTR_TXN_ISOLATION,
              (void *)SQL_TXN_SERIALIZABLE, SQL_IS_UINTEGER);
    CALL_TEXT(SQLSetConnectAttr, dbc, SQL_ATTR_LOGIN_TIMEOUT, (void *)30,
              SQL_IS_UINTEGER);
    CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT, &out.integer[0],
              SQL_IS_UINTEGER, NULL);
    CALL(SQLGetFunctions, dbc, SQL_API_SQLFETCH, &out.function);
    CALL_TEXT(SQLBrowseConnect, dbc, IN("DSN=no such data source"), SQL_NTS,
              TEXT(0), 100, &out.small[0]);
    CALL_TEXT(SQLConnect, dbc, IN("no such data source"), SQL_NTS, NULL, 0,
              NULL, 0);
    CALL_TEXT(SQLDriverConnect, dbc, NULL, IN("DSN=no such data source"),
              SQL_NTS, TEXT(0), 100, &out.small[0], SQL_DRIVER_NOPROMPT);
    CALL_TEXT(SQLDriverConnect, dbc, NULL, IN("DSN=x"), SQL_NTS, NULL, 0, NULL,
              77);
}

/* The completed string has more keywords of ours, so it is not shown. */
static void connected(SQLHDBC dbc)
{
    char string[1000];
    SQLHSTMT stmt;

    snprintf(string, sizeof string, "%s%s%s", run.string, run.options,
             run.dialect->other_login);
    CALL_TEXT(SQLDriverConnect, dbc, NULL, IN(string), SQL_NTS, NULL, 0, NULL,
              SQL_DRIVER_NOPROMPT);
    CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT, &out.integer[0],
              SQL_IS_UINTEGER, NULL);
    CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_TXN_ISOLATION, &out.integer[0],
              SQL_IS_UINTEGER, NULL);
    CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_LOGIN_TIMEOUT, &out.integer[0],
              SQL_IS_UINTEGER, NULL);
    CALL_TEXT(SQLDriverConnect, dbc, NULL, IN(string), SQL_NTS, NULL, 0, NULL,
              SQL_DRIVER_NOPROMPT);
    CALL_TEXT(SQLConnect, dbc, IN(dsn()), SQL_NTS, NULL, 0, NULL, 0);
    stmt = handle_new(SQL_HANDLE_STMT, dbc);
    sql(stmt, run.dialect->series);
    CALL(SQLFetch, stmt);
    disconnect(dbc); /* with a statement, in a transaction */
    CALL(SQLEndTran, SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    CALL(SQLDisconnect, dbc);
}

/* Twice: the second session may have the link of the first. */
static void warned(SQLHDBC dbc)
{
    char string[1000];

    snprintf(string, sizeof string, "%s%s%s", run.string, run.options,
             run.dialect->warns ? run.dialect->warns : "");
    for (int i = 0; run.dialect->warns && i < 2; i++) {
        CALL_TEXT(SQLDriverConnect, dbc, NULL, IN(string), SQL_NTS, NULL, 0,
                  NULL, SQL_DRIVER_NOPROMPT);
        CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT,
                  &out.integer[0], SQL_IS_UINTEGER, NULL);
        if (i) {
            show(handle_new(SQL_HANDLE_STMT, dbc), "SELECT 1");
        }
        disconnect(dbc);
    }
}

static void by_name(SQLHDBC dbc)
{
    CALL_TEXT(SQLConnect, dbc, IN(dsn()), SQL_NTS, IN(run.dialect->user),
              run.dialect->user ? SQL_NTS : 0, NULL, 0);
    CALL_TEXT(SQLGetInfo, dbc, SQL_DBMS_NAME, TEXT(0), BYTES(40),
              &out.small[0]);
    CALL(SQLDisconnect, dbc);
}

void subject_connect(void)
{
    SQLHDBC dbc = handle_new(SQL_HANDLE_DBC, run.env);

    handle_know(SQL_HANDLE_ENV, run.env);
    not_connected(dbc);
    connected(dbc);
    warned(dbc);
    by_name(dbc);
    handle_free(SQL_HANDLE_DBC, dbc);
}
