/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions of the connection's in the width that it was not connected with.
 * psqlODBC connected narrow takes its application for a wide one from then on,
 * so the link does not go to the next session.
 */
#include "diff.h"

#include <string.h>

void subject_crossed(void);

static SQLCHAR *narrow(const char *text)
{
    static SQLCHAR copy[400];

    strncpy((char *)copy, text, sizeof copy - 1);
    return copy;
}

void subject_crossed(void)
{
    SQLHSTMT stmt = stmt_new();

    show(stmt, "SELECT name FROM parent ORDER BY id");
    CALL(SQLNativeSqlW, run.dbc, WIDE("SELECT {d '2024-02-29'}, 'ä\U0001f600'"),
         SQL_NTS, TEXT(0), 60, &out.integer[0]);
    CALL(SQLNativeSql, run.dbc, narrow("SELECT {d '2024-02-29'}, 'ä'"),
         SQL_NTS, (SQLCHAR *)out.text[0], 60, &out.integer[0]);
    CALL(SQLGetInfoW, run.dbc, SQL_DBMS_NAME, TEXT(0), 60, &out.small[0]);
    CALL(SQLGetInfo, run.dbc, SQL_DBMS_NAME, TEXT(0), 60, &out.small[0]);
    CALL(SQLGetInfoW, run.dbc, SQL_DBMS_NAME, TEXT(0), 7, &out.small[0]);
    CALL(SQLGetConnectAttrW, run.dbc, SQL_ATTR_CURRENT_CATALOG, TEXT(0), 60,
         &out.integer[0]);
    CALL(SQLGetConnectAttr, run.dbc, SQL_ATTR_CURRENT_CATALOG, TEXT(0), 60,
         &out.integer[0]);
    CALL(SQLGetConnectAttrW, run.dbc, SQL_ATTR_CURRENT_CATALOG, TEXT(0), 5,
         &out.integer[0]);
    CALL(SQLSetConnectAttrW, run.dbc, SQL_ATTR_MAX_ROWS, (void *)0, 0);
    CALL(SQLSetConnectAttr, run.dbc, SQL_ATTR_MAX_ROWS, (void *)0, 0);
    show(stmt, "SELECT name FROM parent ORDER BY id");
}
