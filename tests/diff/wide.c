/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Texts: narrow and wide functions on one connection, whichever it was made
 * by, surrogates and halves of them, NUL, empty ones, odd lengths.
 */
#include "diff.h"

#include <string.h>

void subject_wide(void);

static SQLCHAR *narrow(const char *text)
{
    static SQLCHAR copy[400];

    strncpy((char *)copy, text, sizeof copy - 1);
    return copy;
}

static void get_both(SQLHSTMT stmt)
{
    CALL(SQLFetch, stmt);
    for (SQLLEN room = 0; room < 10; room++) {
        CALL(SQLGetData, stmt, 1, SQL_C_WCHAR, DATA(0), room, &out.len[0]);
        CALL(SQLGetData, stmt, 2, SQL_C_CHAR, DATA(0), room, &out.len[0]);
    }
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void mixed(SQLHSTMT stmt)
{
    static const char text[] = "SELECT 'ä€\U0001f600' AS \"ö\U0001f600\", "
                               "'ä€\U0001f600' AS n";

    CALL(SQLExecDirectW, stmt, WIDE(text), SQL_NTS);
    CALL(SQLDescribeCol, stmt, 1, (SQLCHAR *)out.text[0], 40, &out.small[0],
         NULL, NULL, NULL, NULL);
    CALL(SQLDescribeColW, stmt, 1, TEXT(1), 40, &out.small[0], NULL, NULL,
         NULL, NULL);
    CALL(SQLDescribeColW, stmt, 1, TEXT(1), 3, &out.small[0], NULL, NULL, NULL,
         NULL);
    get_both(stmt);
    CALL(SQLExecDirect, stmt, narrow(text), SQL_NTS);
    CALL(SQLColAttributeW, stmt, 1, SQL_DESC_NAME, TEXT(0), 40, &out.small[0],
         NULL);
    CALL(SQLColAttribute, stmt, 1, SQL_DESC_NAME, TEXT(0), 40, &out.small[0],
         NULL);
    CALL(SQLColAttributeW, stmt, 1, SQL_DESC_NAME, TEXT(0), 5, &out.small[0],
         NULL);
    get_both(stmt);
    CALL(SQLPrepareW, stmt, WIDE("SELECT 'ß'"), SQL_NTS);
    CALL(SQLExecute, stmt);
    show_rows(stmt, 1);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLPrepare, stmt, narrow("SELECT 'ß'"), SQL_NTS);
    CALL(SQLExecute, stmt);
    show_rows(stmt, 1);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLTablesW, stmt, NULL, 0, NULL, 0, WIDE("Wörter%"), SQL_NTS, NULL,
         0);
    show_rows(stmt, 2);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLTables, stmt, NULL, 0, NULL, 0, narrow("Wörter%"), SQL_NTS, NULL,
         0);
    show_rows(stmt, 2);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

/* Halves of surrogates, units counted, a NUL within. */
static void units(SQLHSTMT stmt)
{
    static SQLWCHAR half[] = { 'S', 'E', 'L', 'E', 'C', 'T', ' ', '\'', 0xd83d,
                               '\'', 0 };
    static SQLWCHAR other[] = { 'S', 'E', 'L', 'E', 'C', 'T', ' ', '\'',
                                0xde00, '\'', 0 };
    static SQLWCHAR nul[] = { 'S', 'E', 'L', 'E', 'C', 'T', ' ', '1', 0, '2',
                              0 };
    static SQLCHAR bytes[] = "SELECT '\xff\xc3'";

    CALL(SQLExecDirectW, stmt, half, SQL_NTS);
    show_rows(stmt, 1);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLExecDirectW, stmt, other, SQL_NTS);
    show_rows(stmt, 1);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLExecDirectW, stmt, nul, 10);
    show_rows(stmt, 1);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLExecDirectW, stmt, nul, 7);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLExecDirect, stmt, bytes, SQL_NTS);
    show_rows(stmt, 1);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLExecDirectW, stmt, WIDE(""), SQL_NTS);
    CALL(SQLExecDirectW, stmt, WIDE("x"), 0);
}

static void errors(SQLHSTMT stmt)
{
    CALL(SQLExecDirectW, stmt, WIDE("SELECT * FROM \"wörd \U0001f600\""),
         SQL_NTS);
    CALL(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1, (SQLCHAR *)out.text[0],
         &out.integer[0], (SQLCHAR *)out.text[1], 200, &out.small[0]);
    CALL(SQLGetDiagRecW, SQL_HANDLE_STMT, stmt, 1, TEXT(0), &out.integer[0],
         TEXT(1), 200, &out.small[0]);
    CALL(SQLGetDiagFieldW, SQL_HANDLE_STMT, stmt, 1, SQL_DIAG_MESSAGE_TEXT,
         TEXT(1), 31, &out.small[0]);
    CALL(SQLExecDirect, stmt, narrow("SELECT * FROM \"wörd \U0001f600\""),
         SQL_NTS);
    CALL(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1, (SQLCHAR *)out.text[0],
         &out.integer[0], (SQLCHAR *)out.text[1], 200, &out.small[0]);
    CALL(SQLGetDiagRecW, SQL_HANDLE_STMT, stmt, 1, TEXT(0), &out.integer[0],
         TEXT(1), 200, &out.small[0]);
}

static void others(SQLHSTMT stmt)
{
    CALL(SQLSetCursorNameW, stmt, WIDE("zeiger_ä"), SQL_NTS);
    CALL(SQLGetCursorName, stmt, (SQLCHAR *)out.text[0], 40, &out.small[0]);
    CALL(SQLGetCursorNameW, stmt, TEXT(0), 40, &out.small[0]);
    CALL(SQLSetCursorName, stmt, narrow("zeiger_ö"), SQL_NTS);
    CALL(SQLGetCursorNameW, stmt, TEXT(0), 40, &out.small[0]);
}

void subject_wide(void)
{
    SQLHSTMT stmt = stmt_new();

    mixed(stmt);
    units(stmt);
    errors(stmt);
    others(stmt);
}
