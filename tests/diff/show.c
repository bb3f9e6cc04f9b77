/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* What many subjects do: run a text, look at what came. */
#include "diff.h"

SQLRETURN sql(SQLHSTMT stmt, const char *text)
{
    say("> %s", text ? text : "(this database has none)");
    return text ? CALL_TEXT(SQLExecDirect, stmt, IN(text), SQL_NTS)
                : SQL_ERROR;
}

SQLRETURN prepare(SQLHSTMT stmt, const char *text)
{
    say("> %s", text ? text : "(this database has none)");
    return text ? CALL_TEXT(SQLPrepare, stmt, IN(text), SQL_NTS) : SQL_ERROR;
}

static SQLSMALLINT columns_of(SQLHSTMT stmt)
{
    return SQL_SUCCEEDED(CALL(SQLNumResultCols, stmt, &out.small[0])) ?
        out.small[0] : 0;
}

void show_columns(SQLHSTMT stmt)
{
    SQLUSMALLINT columns = (SQLUSMALLINT)columns_of(stmt);

    for (SQLUSMALLINT i = 1; i <= columns; i++) {
        CALL_TEXT(SQLDescribeCol, stmt, i, TEXT(0), 100, &out.small[0],
                  &out.small[1], &out.ulen[0], &out.small[2], &out.small[3]);
    }
}

void show_rows(SQLHSTMT stmt, int most)
{
    SQLUSMALLINT columns = (SQLUSMALLINT)columns_of(stmt);

    while (columns > 0 && most-- > 0 &&
           SQL_SUCCEEDED(CALL(SQLFetch, stmt))) {
        for (SQLUSMALLINT i = 1; i <= columns; i++) {
            CALL(SQLGetData, stmt, i, C_TEXT, TEXT(0), SLOT_TEXT,
                 &out.len[0]);
        }
    }
}

void show(SQLHSTMT stmt, const char *text)
{
    if (SQL_SUCCEEDED(sql(stmt, text))) {
        show_columns(stmt);
        show_rows(stmt, 1000);
    }
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}
