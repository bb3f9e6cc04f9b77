/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* SQLGetInfo, all numbers; SQLGetFunctions; the environment's attributes. */
#include "diff.h"

#include <string.h>

void subject_info(void);

static void data_source(void)
{
    SQLCHAR name[100] = "";
    SQLSMALLINT length = -7;
    SQLRETURN rc = SQLGetInfo(run.dbc, SQL_DATA_SOURCE_NAME, name,
                              sizeof name, &length);

    say("%d, %s", rc,
        length == (int)strlen((char *)name) &&
                strncmp(run.string + 4, (char *)name, (size_t)length) == 0
            ? "the data source" : (char *)name);
}

static void info(SQLUSMALLINT number)
{
    switch (number) {
    case SQL_DRIVER_HDBC: /* addresses; the manager's own answers */
    case SQL_DRIVER_HENV:
    case SQL_DRIVER_HSTMT:
    case SQL_DRIVER_HLIB:
    case SQL_DRIVER_HDESC:
        return;
    default:
        break;
    }
    say("info %d", number);
    if (number == SQL_DATA_SOURCE_NAME) {
        data_source(); /* it is how the two are told apart */
        return;
    }
    CALL_TEXT(SQLGetInfo, run.dbc, number, TEXT(0), BYTES(200), &out.small[0]);
}

static void cut(void)
{
    for (SQLSMALLINT room = 0; room < 6; room++) {
        CALL_TEXT(SQLGetInfo, run.dbc, SQL_DRIVER_NAME, TEXT(0), room,
                  &out.small[0]);
    }
    CALL_TEXT(SQLGetInfo, run.dbc, SQL_DRIVER_NAME, NULL, 0, &out.small[0]);
    CALL_TEXT(SQLGetInfo, run.dbc, SQL_DRIVER_NAME, NULL, 0, NULL);
    CALL_TEXT(SQLGetInfo, run.dbc, SQL_DRIVER_NAME, TEXT(0), -1,
              &out.small[0]);
    CALL_TEXT(SQLGetInfo, run.dbc, SQL_TXN_CAPABLE, NULL, 0, &out.small[0]);
    CALL_TEXT(SQLGetInfo, run.dbc, SQL_TXN_CAPABLE, TEXT(0), 0, NULL);
}

static void environment(void)
{
    static const SQLINTEGER attributes[] = {
        SQL_ATTR_ODBC_VERSION, SQL_ATTR_OUTPUT_NTS, SQL_ATTR_CONNECTION_POOLING,
        SQL_ATTR_CP_MATCH, 4711
    };

    handle_know(SQL_HANDLE_ENV, run.env);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        CALL(SQLGetEnvAttr, run.env, attributes[i], &out.integer[0], 0,
             &out.integer[1]);
    }
    CALL(SQLSetEnvAttr, run.env, SQL_ATTR_OUTPUT_NTS, (void *)SQL_TRUE, 0);
    CALL(SQLSetEnvAttr, run.env, SQL_ATTR_OUTPUT_NTS, (void *)SQL_FALSE, 0);
    CALL(SQLSetEnvAttr, run.env, 4711, (void *)1, 0);
    CALL(SQLSetEnvAttr, run.env, SQL_ATTR_ODBC_VERSION, (void *)SQL_OV_ODBC2,
         0);
}

/* SQLBrowseConnect is left out: it is ours, whatever the inner driver has.
   What the manager leaves behind the functions that there are was on its
   stack. */
static void functions(void)
{
    static const SQLUSMALLINT one_by_one[] = {
        SQL_API_SQLFETCH, SQL_API_SQLCANCELHANDLE, SQL_API_SQLBINDPARAM,
        SQL_API_SQLALLOCSTMT, SQL_API_SQLERROR, SQL_API_SQLCOPYDESC, 4711
    };
    SQLUSMALLINT all[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE], two[100];

    say("%d", SQLGetFunctions(run.dbc, SQL_API_ODBC3_ALL_FUNCTIONS, all));
    for (int i = 1; i < 1100; i++) {
        if (SQL_FUNC_EXISTS(all, i) && i != SQL_API_SQLBROWSECONNECT) {
            say("has %d", i);
        }
    }
    say("%d", SQLGetFunctions(run.dbc, SQL_API_ALL_FUNCTIONS, two));
    for (int i = 1; i < 100; i++) {
        if (two[i] && i != SQL_API_SQLBROWSECONNECT) {
            say("has %d", i);
        }
    }
    for (size_t i = 0; i < sizeof one_by_one / sizeof one_by_one[0]; i++) {
        say("function %d", one_by_one[i]);
        CALL(SQLGetFunctions, run.dbc, one_by_one[i], &out.function);
    }
}

void subject_info(void)
{
    for (SQLUSMALLINT i = 0; i < 175; i++) {
        info(i);
    }
    for (SQLUSMALLINT i = 10000; i < 10025; i++) {
        info(i);
    }
    cut();
    functions();
    environment();
}
