/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* SQLGetData: every C type of every type, in pieces, cut, and wrongly used. */
#include "diff.h"

void subject_getdata(void);

static const SQLSMALLINT c_types[] = {
    SQL_C_CHAR, SQL_C_WCHAR, SQL_C_DEFAULT, SQL_C_BINARY, SQL_C_BIT,
    SQL_C_STINYINT, SQL_C_UTINYINT, SQL_C_SSHORT, SQL_C_USHORT, SQL_C_SLONG,
    SQL_C_ULONG, SQL_C_SBIGINT, SQL_C_UBIGINT, SQL_C_FLOAT, SQL_C_DOUBLE,
    SQL_C_NUMERIC, SQL_C_TYPE_DATE, SQL_C_TYPE_TIME, SQL_C_TYPE_TIMESTAMP,
    SQL_C_GUID, SQL_C_INTERVAL_DAY_TO_MINUTE, SQL_C_INTERVAL_YEAR, 4711
};

static void every_type(SQLHSTMT stmt)
{
    SQLUSMALLINT columns;

    sql(stmt, run.dialect->types);
    show_columns(stmt);
    CALL(SQLNumResultCols, stmt, &out.small[0]);
    columns = (SQLUSMALLINT)out.small[0];
    CALL(SQLFetch, stmt);
    for (SQLUSMALLINT column = 1; column <= columns; column++) {
        for (size_t i = 0; i < sizeof c_types / sizeof c_types[0]; i++) {
            say("column %d as %d", column, c_types[i]);
            CALL(SQLGetData, stmt, column, c_types[i], DATA(0), 200,
                 &out.len[0]);
        }
    }
    CALL(SQLCloseCursor, stmt);
}

static void in_pieces(SQLHSTMT stmt, const char *text, SQLSMALLINT c_type,
                      SQLLEN room)
{
    SQLRETURN rc = SQL_SUCCESS;

    if (!SQL_SUCCEEDED(sql(stmt, text))) {
        return;
    }
    CALL(SQLFetch, stmt);
    for (int i = 0; i < 12 && SQL_SUCCEEDED(rc); i++) {
        rc = CALL(SQLGetData, stmt, 1, c_type, DATA(0), room, &out.len[0]);
    }
    CALL(SQLGetData, stmt, 2, c_type, DATA(0), 20, &out.len[0]);
    CALL(SQLGetData, stmt, 1, c_type, DATA(0), room, &out.len[0]);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void wrongly(SQLHSTMT stmt)
{
    CALL(SQLGetData, stmt, 1, C_TEXT, DATA(0), 20, &out.len[0]);
    sql(stmt, "SELECT 'text', NULL, 7");
    CALL(SQLGetData, stmt, 1, C_TEXT, DATA(0), 20, &out.len[0]);
    CALL(SQLFetch, stmt);
    CALL(SQLGetData, stmt, 0, C_TEXT, DATA(0), 20, &out.len[0]);
    CALL(SQLGetData, stmt, 4, C_TEXT, DATA(0), 20, &out.len[0]);
    CALL(SQLGetData, stmt, 1, C_TEXT, DATA(0), -1, &out.len[0]);
    CALL(SQLGetData, stmt, 1, C_TEXT, NULL, 20, &out.len[0]);
    CALL(SQLGetData, stmt, 1, C_TEXT, DATA(0), 0, &out.len[0]);
    CALL(SQLGetData, stmt, 1, C_TEXT, DATA(0), 1, &out.len[0]);
    CALL(SQLGetData, stmt, 2, C_TEXT, DATA(0), 20, NULL);
    CALL(SQLGetData, stmt, 2, C_TEXT, DATA(0), 20, &out.len[0]);
    CALL(SQLGetData, stmt, 3, SQL_C_SLONG, DATA(0), 0, NULL);
    CALL(SQLGetData, stmt, 3, SQL_ARD_TYPE, DATA(0), 20, &out.len[0]);
    CALL(SQLFetch, stmt);
    CALL(SQLGetData, stmt, 1, C_TEXT, DATA(0), 20, &out.len[0]);
    CALL(SQLCloseCursor, stmt);
    CALL(SQLCloseCursor, stmt);
    CALL(SQLGetData, stmt, 1, C_TEXT, DATA(0), 20, &out.len[0]);
}

void subject_getdata(void)
{
    SQLHSTMT stmt = stmt_new();

    every_type(stmt);
    in_pieces(stmt, "SELECT 'abcdefghijklmnopqrstuvwxyz', 7", SQL_C_CHAR, 7);
    in_pieces(stmt, "SELECT 'abcdefghijklmnopqrstuvwxyz', 7", SQL_C_WCHAR, 14);
    in_pieces(stmt, "SELECT 'abcdefghijklmnopqrstuvwxyz', 7", SQL_C_WCHAR, 15);
    in_pieces(stmt, "SELECT 'abcdefghijklmnopqrstuvwxyz', 7", SQL_C_BINARY, 6);
    in_pieces(stmt, "SELECT '€uro ünd \U0001f600 ä', 7", SQL_C_CHAR, 4);
    in_pieces(stmt, "SELECT '€uro ünd \U0001f600 ä', 7", SQL_C_WCHAR, 4);
    in_pieces(stmt, "SELECT '', 7", SQL_C_CHAR, 4);
    in_pieces(stmt, "SELECT NULL, 7", SQL_C_CHAR, 4);
    in_pieces(stmt, "SELECT 123456789, 7", SQL_C_CHAR, 4);
    in_pieces(stmt, "SELECT 123.456, 7", SQL_C_CHAR, 4);
    wrongly(stmt);
    sql(stmt, run.dialect->series); /* left open */
    show_rows(stmt, 2);
}
