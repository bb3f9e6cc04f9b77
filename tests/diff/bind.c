/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Columns bound, one by one and as rows, at an offset, and unbound again. */
#include "diff.h"

void subject_bind(void);

static void fetch_all(SQLHSTMT stmt)
{
    while (SQL_SUCCEEDED(CALL(SQLFetch, stmt))) {
    }
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static const SQLSMALLINT c_types[] = {
    SQL_C_CHAR, SQL_C_WCHAR, SQL_C_BINARY, SQL_C_BIT, SQL_C_STINYINT,
    SQL_C_SSHORT, SQL_C_SLONG, SQL_C_UBIGINT, SQL_C_DOUBLE, SQL_C_NUMERIC,
    SQL_C_TYPE_TIMESTAMP, SQL_C_TYPE_DATE, SQL_C_DEFAULT
};

/* The same column of numbers, text or nothing, as each C type. */
static void every_type(SQLHSTMT stmt, const char *text)
{
    for (size_t i = 0; i < sizeof c_types / sizeof c_types[0]; i++) {
        say("as %d", c_types[i]);
        CALL(SQLBindCol, stmt, 1, c_types[i], DATA(0), 30, &out.len[0]);
        sql(stmt, text);
        fetch_all(stmt);
    }
    CALL(SQLFreeStmt, stmt, SQL_UNBIND);
}

static void by_column(SQLHSTMT stmt)
{
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_ARRAY_SIZE, (void *)4, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_STATUS_PTR, out.status, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROWS_FETCHED_PTR, &out.ulen[0], 0);
    CALL(SQLBindCol, stmt, 1, SQL_C_SLONG, DATA(0), 0, out.lens[0]);
    CALL(SQLBindCol, stmt, 2, C_TEXT, DATA(1), 10, out.lens[1]);
    sql(stmt, "SELECT id, name, note FROM parent ORDER BY id");
    CALL(SQLFetch, stmt);
    CALL(SQLFetch, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    sql(stmt, "SELECT parent, number, weight FROM child ORDER BY 1, 2");
    CALL(SQLBindCol, stmt, 3, SQL_C_DOUBLE, DATA(2), 0, &out.lens[0][4]);
    CALL(SQLFetch, stmt);
    CALL(SQLBindCol, stmt, 3, SQL_C_DOUBLE, NULL, 0, NULL);
    CALL(SQLFetch, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

/* A row is 64 bytes: a number, its length, a text, its length. */
static void by_row(SQLHSTMT stmt)
{
    static SQLULEN offset = 640;
    unsigned char *row = DATA(3);

    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_BIND_TYPE, (void *)64, 0);
    CALL(SQLBindCol, stmt, 1, SQL_C_SBIGINT, row, 0, (SQLLEN *)(row + 8));
    CALL(SQLBindCol, stmt, 2, C_TEXT, row + 16, 40, (SQLLEN *)(row + 56));
    sql(stmt, "SELECT id, name FROM parent ORDER BY id DESC");
    CALL(SQLFetch, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_BIND_OFFSET_PTR, &offset, 0);
    sql(stmt, "SELECT id, note FROM parent ORDER BY id DESC");
    CALL(SQLFetch, stmt);
    offset = 1280;
    CALL(SQLFetch, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_BIND_OFFSET_PTR, NULL, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_BIND_TYPE, SQL_BIND_BY_COLUMN, 0);
    CALL(SQLFreeStmt, stmt, SQL_UNBIND);
    offset = 640;
}

static void wrongly(SQLHSTMT stmt)
{
    CALL(SQLBindCol, stmt, 1, 4711, DATA(0), 20, NULL);
    CALL(SQLBindCol, stmt, 1, SQL_C_CHAR, DATA(0), -1, NULL);
    CALL(SQLBindCol, stmt, 0, SQL_C_SLONG, DATA(0), 20, NULL);
    CALL(SQLBindCol, stmt, 9, SQL_C_SLONG, DATA(0), 20, &out.len[0]);
    CALL(SQLBindCol, stmt, 1, SQL_C_SLONG, DATA(1), 20, NULL);
    sql(stmt, "SELECT NULL, 1");
    CALL(SQLFetch, stmt); /* NULL without an indicator */
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    sql(stmt, "SELECT 'not a number', 1");
    CALL(SQLFetch, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_ARRAY_SIZE, (void *)0, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_ARRAY_SIZE, (void *)3, 0);
}

void subject_bind(void)
{
    SQLHSTMT stmt = stmt_new();

    every_type(stmt, "SELECT id FROM parent ORDER BY id");
    every_type(stmt, "SELECT name FROM parent ORDER BY id");
    every_type(stmt, "SELECT note FROM parent ORDER BY id");
    every_type(stmt, "SELECT born FROM child ORDER BY parent, number");
    every_type(stmt, "SELECT weight FROM child ORDER BY parent, number");
    by_column(stmt);
    by_row(stmt);
    wrongly(stmt);
    sql(stmt, run.dialect->series); /* bound, and left open */
    CALL(SQLFetch, stmt);
}
