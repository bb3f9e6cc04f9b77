/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Diagnostics by the book: how long records live, whose they are, and what the
 * header tells of a statement's latest call.
 */
#include "autoconf.h"

#include "conform.h"

static void fail(const struct book_on *on)
{
    want_rc("SQLExecDirect", book_exec(on, on->stmt, "SELECT 1/0"), SQL_ERROR);
}

/* ---- life of records --------------------------------------------------- */

static void cleared_by_next(const struct book_on *on, const void *row)
{
    (void)row;
    fail(on);
    want_rc("the same statement again", book_exec(on, on->stmt, "SELECT 1"),
            SQL_SUCCESS);
    want_state(on, "after it", SQL_HANDLE_STMT, on->stmt, "");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void of_its_handle(const struct book_on *on, const void *row)
{
    SQLHSTMT other = book_stmt(on, on->dbc);

    (void)row;
    fail(on);
    want_state(on, "the connection's", SQL_HANDLE_DBC, on->dbc, "");
    want_state(on, "another statement's", SQL_HANDLE_STMT, other, "");
    want_rc("a call on the other", book_exec(on, other, "SELECT 1"),
            SQL_SUCCESS);
    want_state(on, "leaves it alone", SQL_HANDLE_STMT, on->stmt, "22012");
    on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other);
}

static void dbc_cleared(const struct book_on *on, const void *row)
{
    SQLHSTMT other;

    (void)row;
    want_rc("SQLSetConnectAttr",
            TEXT_CALL(on, SQLSetConnectAttr)(on->dbc, 29999, (SQLPOINTER)1,
                                             SQL_IS_INTEGER),
            SQL_ERROR);
    other = book_stmt(on, on->dbc);
    want_state(on, "after SQLAllocHandle", SQL_HANDLE_DBC, on->dbc, "");
    on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other);
}

static SQLRETURN header_rc(const struct book_on *on, SQLHSTMT stmt)
{
    SQLRETURN code = 77;

    want_rc("SQL_DIAG_RETURNCODE",
            TEXT_CALL(on, SQLGetDiagField)(SQL_HANDLE_STMT, stmt, 0,
                                           SQL_DIAG_RETURNCODE, &code, 0,
                                           NULL),
            SQL_SUCCESS);
    return code;
}

static void returncodes(const struct book_on *on, const void *row)
{
    const struct inner_calls *odbc = on->odbc;
    SQLLEN at_execution = SQL_DATA_AT_EXEC;
    SQLPOINTER token;

    (void)row;
    book_exec(on, on->stmt, "SELECT 1 WHERE false");
    want_number("success", header_rc(on, on->stmt), SQL_SUCCESS);
    want_rc("SQLFetch", odbc->SQLFetch(on->stmt), SQL_NO_DATA);
    want_number("no data", header_rc(on, on->stmt), SQL_NO_DATA);
    odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    odbc->SQLBindParameter(on->stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
                           SQL_VARCHAR, 10, 0, (SQLPOINTER)1, 0,
                           &at_execution);
    want_rc("SQLExecDirect", book_exec(on, on->stmt, "SELECT ?::text"),
            SQL_NEED_DATA);
    want_number("need data", header_rc(on, on->stmt), SQL_NEED_DATA);
    want_rc("SQLParamData", odbc->SQLParamData(on->stmt, &token),
            SQL_NEED_DATA);
    want_number("need data, again", header_rc(on, on->stmt), SQL_NEED_DATA);
    odbc->SQLPutData(on->stmt, (SQLPOINTER)(char[]){ "x" }, 1);
    want_rc("SQLParamData", odbc->SQLParamData(on->stmt, &token), SQL_SUCCESS);
    want_number("success, at last", header_rc(on, on->stmt), SQL_SUCCESS);
    odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    odbc->SQLFreeStmt(on->stmt, SQL_RESET_PARAMS);
}

static void row_count(const struct book_on *on, const void *row)
{
    SQLLEN count[2] = { -77, 0x23232323 }, wanted = -78;

    (void)row;
    want_rc("a table",
            book_exec(on, on->stmt,
                      "CREATE TEMP TABLE counted AS SELECT * FROM "
                      "generate_series(1, 7) AS n"),
            SQL_SUCCESS);
    want_rc("DELETE",
            book_exec(on, on->stmt, "DELETE FROM counted WHERE n < 4"),
            SQL_SUCCESS);
    on->odbc->SQLRowCount(on->stmt, &wanted);
    want_number("SQLRowCount", wanted, 3);
    want_rc("SQL_DIAG_ROW_COUNT",
            TEXT_CALL(on, SQLGetDiagField)(SQL_HANDLE_STMT, on->stmt, 0,
                                           SQL_DIAG_ROW_COUNT, count, 0, NULL),
            SQL_SUCCESS);
    want_number("SQL_DIAG_ROW_COUNT", count[0], 3);
    want("an SQLLEN is written", count[1] == 0x23232323);
    book_exec(on, on->stmt, "DROP TABLE counted");
}

static void dynamic_function(const struct book_on *on, const void *row)
{
    SQLINTEGER code = -77;
    SQLWCHAR text[100] = { 0 };

    (void)row;
    book_exec(on, on->stmt, "DELETE FROM orders WHERE false");
    want_rc("SQL_DIAG_DYNAMIC_FUNCTION",
            TEXT_CALL(on, SQLGetDiagField)(SQL_HANDLE_STMT, on->stmt, 0,
                                           SQL_DIAG_DYNAMIC_FUNCTION, text,
                                           sizeof text, NULL),
            SQL_SUCCESS);
    want_text("SQL_DIAG_DYNAMIC_FUNCTION", out(on, text), "DELETE WHERE");
    want_rc("SQL_DIAG_DYNAMIC_FUNCTION_CODE",
            TEXT_CALL(on, SQLGetDiagField)(SQL_HANDLE_STMT, on->stmt, 0,
                                           SQL_DIAG_DYNAMIC_FUNCTION_CODE,
                                           &code, 0, NULL),
            SQL_SUCCESS);
    want_number("SQL_DIAG_DYNAMIC_FUNCTION_CODE", code,
                SQL_DIAG_DELETE_WHERE);
}

int main(void)
{
    book_try(BOOK_OURS, BOOK_ALL,
             "Diagnostics, Using SQLGetDiagRec: the next call clears records",
             cleared_by_next, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "Diagnostics, Using SQLGetDiagRec: records belong to one handle",
             of_its_handle, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "Diagnostics: SQLAllocHandle clears those of the connection",
             dbc_cleared, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLGetDiagField, SQL_DIAG_RETURNCODE: of each return code",
             returncodes, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLGetDiagField, SQL_DIAG_ROW_COUNT: as SQLRowCount", row_count,
             NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLGetDiagField, SQL_DIAG_DYNAMIC_FUNCTION: of a DELETE",
             dynamic_function, NULL);
    return book_end();
}
