/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Data at execution: asked for, put in pieces, given up. */
#include "diff.h"

#include <string.h>

void subject_atexec(void);

static SQLLEN at_exec, sized;

static void bind(SQLHSTMT stmt, SQLUSMALLINT number, SQLSMALLINT c_type,
                 SQLSMALLINT sql_type, SQLLEN *length)
{
    CALL(SQLBindParameter, stmt, number, SQL_PARAM_INPUT, c_type, sql_type,
         1000, 0, (void *)(size_t)(number + 100), 0, length);
}

static void bind_all(SQLHSTMT stmt)
{
    static SQLINTEGER id = 31;

    at_exec = SQL_DATA_AT_EXEC;
    sized = SQL_LEN_DATA_AT_EXEC(12);
    CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, &id, 0, NULL);
    bind(stmt, 2, SQL_C_CHAR, SQL_LONGVARCHAR, &at_exec);
    bind(stmt, 3, SQL_C_BINARY, SQL_LONGVARBINARY, &sized);
    bind(stmt, 4, SQL_C_WCHAR, SQL_WLONGVARCHAR, &at_exec);
}

static void put_all(SQLHSTMT stmt)
{
    SQLWCHAR *euro = WIDE("€ \U0001f600");

    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLPutData, stmt, (void *)"in ", 3);
    CALL(SQLPutData, stmt, (void *)"pieces", SQL_NTS);
    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLPutData, stmt, (void *)"\0\xff\\'", 4);
    CALL(SQLPutData, stmt, (void *)"and more", 8);
    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLPutData, stmt, euro, 8);
    CALL(SQLPutData, stmt, euro, SQL_NTS);
    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLRowCount, stmt, &out.len[0]);
}

static void given_up(SQLHSTMT stmt)
{
    CALL(SQLExecute, stmt);
    CALL(SQLExecute, stmt);
    CALL(SQLPutData, stmt, (void *)"too early", SQL_NTS);
    CALL(SQLNumParams, stmt, &out.small[0]);
    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLFetch, stmt);
    CALL(SQLPutData, stmt, (void *)"x", -7);
    CALL(SQLPutData, stmt, NULL, 5);
    CALL(SQLCancel, stmt);
    CALL(SQLPutData, stmt, (void *)"too late", SQL_NTS);
    CALL(SQLParamData, stmt, &out.pointer[0]);
}

static void nothing(SQLHSTMT stmt)
{
    CALL(SQLExecute, stmt);
    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLPutData, stmt, NULL, SQL_NULL_DATA);
    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLPutData, stmt, (void *)"", 0);
    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLParamData, stmt, &out.pointer[0]);
}

void subject_atexec(void)
{
    SQLHSTMT stmt = stmt_new();
    SQLHSTMT other = stmt_new();

    CALL(SQLParamData, stmt, &out.pointer[0]);
    CALL(SQLPutData, stmt, (void *)"x", 1);
    sql(other, "DELETE FROM work");
    bind_all(stmt);
    sql(stmt, "INSERT INTO work (id, t, b, l) VALUES (?, ?, ?, ?)");
    put_all(stmt);
    prepare(stmt, "UPDATE work SET n = ?, t = ?, b = ?, l = ?");
    CALL(SQLExecute, stmt);
    put_all(stmt);
    show(other, "SELECT id, t, n, b, l FROM work");
    given_up(stmt);
    nothing(stmt);
    show(other, "SELECT id, t, n, b, l FROM work");
    sql(other, "DELETE FROM work");
}
