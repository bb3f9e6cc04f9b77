/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* What a statement tells of its results: several, none, counts, columns. */
#include "diff.h"

void subject_results(void);

static const SQLUSMALLINT text_fields[] = {
    SQL_DESC_BASE_COLUMN_NAME, SQL_DESC_BASE_TABLE_NAME, SQL_DESC_CATALOG_NAME,
    SQL_DESC_LABEL, SQL_DESC_LITERAL_PREFIX, SQL_DESC_LITERAL_SUFFIX,
    SQL_DESC_LOCAL_TYPE_NAME, SQL_DESC_NAME, SQL_DESC_SCHEMA_NAME,
    SQL_DESC_TABLE_NAME, SQL_DESC_TYPE_NAME, SQL_COLUMN_NAME
};

static const SQLUSMALLINT number_fields[] = {
    SQL_DESC_AUTO_UNIQUE_VALUE, SQL_DESC_CASE_SENSITIVE, SQL_DESC_CONCISE_TYPE,
    SQL_DESC_COUNT, SQL_DESC_DISPLAY_SIZE, SQL_DESC_FIXED_PREC_SCALE,
    SQL_DESC_LENGTH, SQL_DESC_NULLABLE, SQL_DESC_NUM_PREC_RADIX,
    SQL_DESC_OCTET_LENGTH, SQL_DESC_PRECISION, SQL_DESC_SCALE,
    SQL_DESC_SEARCHABLE, SQL_DESC_TYPE, SQL_DESC_UNNAMED, SQL_DESC_UNSIGNED,
    SQL_DESC_UPDATABLE, SQL_COLUMN_LENGTH, SQL_COLUMN_PRECISION,
    SQL_COLUMN_SCALE, SQL_COLUMN_COUNT, 4711
};

static void attributes(SQLHSTMT stmt, SQLUSMALLINT columns)
{
    for (SQLUSMALLINT column = 0; column <= columns; column++) {
        for (size_t i = 0; i < sizeof text_fields / 2; i++) {
            say("column %d, field %d", column, text_fields[i]);
            CALL_TEXT(SQLColAttribute, stmt, column, text_fields[i], TEXT(0),
                      BYTES(100), &out.small[0], NULL);
        }
        for (size_t i = 0; i < sizeof number_fields / 2; i++) {
            say("column %d, field %d", column, number_fields[i]);
            CALL_TEXT(SQLColAttribute, stmt, column, number_fields[i], NULL, 0,
                      NULL, &out.len[0]);
        }
    }
}

static void cut(SQLHSTMT stmt)
{
    for (SQLSMALLINT room = 0; room < 8; room++) {
        CALL_TEXT(SQLColAttribute, stmt, 2, SQL_DESC_NAME, TEXT(0), room,
                  &out.small[0], NULL);
        CALL_TEXT(SQLDescribeCol, stmt, 2, TEXT(0), room, &out.small[0],
                  &out.small[1], &out.ulen[0], &out.small[2], &out.small[3]);
    }
    CALL_TEXT(SQLDescribeCol, stmt, 2, NULL, 0, NULL, NULL, NULL, NULL, NULL);
    CALL_TEXT(SQLDescribeCol, stmt, 2, TEXT(0), -1, NULL, NULL, NULL, NULL,
              NULL);
    CALL_TEXT(SQLDescribeCol, stmt, 0, TEXT(0), 20, &out.small[0],
              &out.small[1], NULL, NULL, NULL);
    CALL_TEXT(SQLDescribeCol, stmt, 99, TEXT(0), 20, &out.small[0],
              &out.small[1], NULL, NULL, NULL);
}

static void all_results(SQLHSTMT stmt, const char *text)
{
    SQLRETURN rc = sql(stmt, text);

    for (int i = 0; i < 9 && (SQL_SUCCEEDED(rc) || rc == SQL_ERROR); i++) {
        CALL(SQLRowCount, stmt, &out.len[0]);
        show_columns(stmt);
        show_rows(stmt, 3);
        rc = CALL(SQLMoreResults, stmt);
    }
    CALL(SQLMoreResults, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void none(SQLHSTMT stmt)
{
    CALL(SQLRowCount, stmt, &out.len[0]);
    CALL(SQLNumResultCols, stmt, &out.small[0]);
    CALL(SQLMoreResults, stmt);
    CALL(SQLFetch, stmt);
    CALL(SQLExecute, stmt);
    sql(stmt, "DELETE FROM work WHERE id = 4711");
    CALL(SQLRowCount, stmt, &out.len[0]);
    CALL(SQLNumResultCols, stmt, &out.small[0]);
    CALL(SQLFetch, stmt);
    CALL(SQLCloseCursor, stmt);
    sql(stmt, "UPDATE parent SET name = name");
    CALL(SQLRowCount, stmt, &out.len[0]);
    sql(stmt, "SELECT 1 WHERE 1 = 2");
    CALL(SQLRowCount, stmt, &out.len[0]);
    CALL(SQLFetch, stmt);
    sql(stmt, "SELECT 2"); /* its cursor is still open */
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    sql(stmt, "");
    sql(stmt, " ");
    sql(stmt, ";");
    sql(stmt, "-- nothing");
}

static void limits(SQLHSTMT stmt)
{
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_MAX_ROWS, (void *)2, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_MAX_LENGTH, (void *)3, 0);
    show(stmt, run.dialect->series);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_MAX_ROWS, (void *)0, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_RETRIEVE_DATA, (void *)SQL_RD_OFF, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_NOSCAN, (void *)SQL_NOSCAN_ON, 0);
    show(stmt, "SELECT {d '2024-02-29'}");
    show(stmt, "SELECT 'abcdefg'");
}

void subject_results(void)
{
    SQLHSTMT stmt = stmt_new(), other = stmt_new();

    none(stmt);
    sql(stmt, "SELECT id, name AS \"ein nämé\", note, id + 1, '' FROM parent");
    attributes(stmt, 6);
    cut(stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    prepare(stmt, "SELECT * FROM child");
    attributes(stmt, 4);
    all_results(stmt, run.dialect->two_results);
    all_results(stmt, "SELECT 1; SELECT * FROM nowhere; SELECT 2");
    all_results(stmt, run.dialect->error_row);
    all_results(stmt, run.dialect->notice);
    limits(other);
    sql(stmt, run.dialect->two_results); /* left before the second */
}
