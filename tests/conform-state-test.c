/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Appendix B, Statement Transitions: every function of a statement in every
 * state that a synchronous driver has, through the manager.  The open cursor
 * of S5 and S6 and the prepared statement of S3 are a SELECT's and an SQL
 * command's of ours, which must make no difference.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdio.h>
#include <string.h>

/* ---- the functions ----------------------------------------------------- */

static SQLLEN length;
static SQLULEN size;
static SQLSMALLINT small[4];
static SQLINTEGER number;
static SQLPOINTER pointer;
static SQLUSMALLINT status[4];
static char room[100];
static SQLWCHAR text[100];

#define CALL(name, ...) \
    static SQLRETURN call_##name(const struct book_on *on) \
    { \
        return on->odbc->name(on->stmt __VA_ARGS__); \
    }
#define CALL_TEXT(name, ...) \
    static SQLRETURN call_##name(const struct book_on *on) \
    { \
        return TEXT_CALL(on, name)(on->stmt, __VA_ARGS__); \
    }

CALL(SQLBindCol, , 1, SQL_C_CHAR, room, sizeof room, &length)
CALL(SQLBindParameter, , 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 10, 0,
     room, 0, &length)
CALL(SQLCancel)
CALL(SQLCloseCursor)
CALL_TEXT(SQLColAttribute, 1, SQL_DESC_NAME, text, sizeof text, small, &length)
CALL_TEXT(SQLDescribeCol, 1, (void *)text, 100, small, small + 1, &size,
          small + 2, small + 3)
CALL_TEXT(SQLExecDirect, in(on, "SELECT 2"), SQL_NTS)
CALL(SQLExecute)
CALL(SQLFetch)
CALL(SQLFetchScroll, , SQL_FETCH_NEXT, 0)
CALL(SQLExtendedFetch, , SQL_FETCH_NEXT, 0, &size, status)
CALL(SQLGetData, , 1, SQL_C_CHAR, room, sizeof room, &length)
CALL_TEXT(SQLGetStmtAttr, SQL_ATTR_MAX_ROWS, &size, 0, &number)
CALL(SQLGetTypeInfo, , SQL_ALL_TYPES)
CALL(SQLMoreResults)
CALL(SQLNumParams, , small)
CALL(SQLNumResultCols, , small)
CALL(SQLParamData, , &pointer)
CALL_TEXT(SQLPrepare, in(on, "SELECT 2"), SQL_NTS)
CALL(SQLPutData, , room, 1)
CALL(SQLRowCount, , &length)
CALL_TEXT(SQLSetCursorName, in(on, "somecursor"), SQL_NTS)
CALL(SQLSetPos, , 1, SQL_POSITION, SQL_LOCK_NO_CHANGE)
CALL_TEXT(SQLSetStmtAttr, SQL_ATTR_MAX_ROWS, (SQLPOINTER)7, 0)
CALL_TEXT(SQLTables, NULL, 0, NULL, 0, in(on, "nowhere"), SQL_NTS, NULL, 0)
CALL_TEXT(SQLColumns, NULL, 0, NULL, 0, in(on, "nowhere"), SQL_NTS, NULL, 0)
CALL_TEXT(SQLPrimaryKeys, NULL, 0, NULL, 0, in(on, "nowhere"), SQL_NTS)
CALL_TEXT(SQLStatistics, NULL, 0, NULL, 0, in(on, "nowhere"), SQL_NTS,
          SQL_INDEX_ALL, SQL_QUICK)
CALL_TEXT(SQLProcedures, NULL, 0, NULL, 0, in(on, "nowhere"), SQL_NTS)

static SQLRETURN call_close(const struct book_on *on)
{
    return on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static SQLRETURN call_unbind(const struct book_on *on)
{
    return on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
}

/* ---- the table --------------------------------------------------------- */

/* What the call is to say in S1, S2, S3, S4, S5, S6, S8, S9, S10; "" = no
   error.  Where the reference leaves a choice, both. */
enum { STATES = 9 };

static const int states[STATES] = { 1, 2, 3, 4, 5, 6, 8, 9, 10 };

#define SEQ    "HY010"
#define CUR    "24000"
#define ASKED  SEQ, SEQ, SEQ /* S8 to S10 */
#define ANY(x) x, x, x, x, x, x

static const struct function {
    const char *name;
    SQLRETURN (*call)(const struct book_on *on);
    const char *says[STATES];
} functions[] = {
    { "SQLBindCol", call_SQLBindCol, { ANY(""), ASKED } },
    { "SQLBindParameter", call_SQLBindParameter, { ANY(""), ASKED } },
    { "SQLCancel", call_SQLCancel, { ANY(""), "", "", "" } },
    { "SQLCloseCursor", call_SQLCloseCursor,
      { CUR, CUR, CUR, CUR, "", "", ASKED } },
    { "SQLColAttribute", call_SQLColAttribute,
      { SEQ, "07005", "", "07005 24000", "", "", ASKED } },
    { "SQLDescribeCol", call_SQLDescribeCol,
      { SEQ, "07005", "", "07005 24000", "", "", ASKED } },
    { "SQLExecDirect", call_SQLExecDirect, { "", "", "", "", CUR, CUR, ASKED } },
    { "SQLExecute", call_SQLExecute,
      { SEQ, "", "", SEQ, "HY010 24000", "HY010 24000", ASKED } },
    { "SQLFetch", call_SQLFetch, { SEQ, SEQ, SEQ, CUR, "", "", ASKED } },
    { "SQLFetchScroll", call_SQLFetchScroll,
      { SEQ, SEQ, SEQ, CUR, "", "", ASKED } },
    { "SQLExtendedFetch", call_SQLExtendedFetch,
      { SEQ, SEQ, SEQ, CUR, "", SEQ, ASKED } },
    { "SQLFreeStmt, SQL_CLOSE", call_close, { ANY(""), ASKED } },
    { "SQLFreeStmt, SQL_UNBIND", call_unbind, { ANY(""), ASKED } },
    { "SQLGetData", call_SQLGetData, { SEQ, SEQ, SEQ, CUR, CUR, "", ASKED } },
    { "SQLGetStmtAttr", call_SQLGetStmtAttr, { ANY(""), ASKED } },
    { "SQLGetTypeInfo", call_SQLGetTypeInfo,
      { "", "", "", "", CUR, CUR, ASKED } },
    { "SQLMoreResults", call_SQLMoreResults, { ANY(""), ASKED } },
    { "SQLNumParams", call_SQLNumParams,
      { SEQ, "", "", "", "", "", ASKED } },
    { "SQLNumResultCols", call_SQLNumResultCols,
      { SEQ, "", "", "", "", "", ASKED } },
    { "SQLParamData", call_SQLParamData, { ANY(SEQ), "", SEQ, "" } },
    { "SQLPrepare", call_SQLPrepare, { "", "", "", "", CUR, CUR, ASKED } },
    { "SQLPutData", call_SQLPutData, { ANY(SEQ), SEQ, "", "" } },
    { "SQLRowCount", call_SQLRowCount, { SEQ, SEQ, SEQ, "", "", "", ASKED } },
    { "SQLSetCursorName", call_SQLSetCursorName,
      { "", "", "", CUR, CUR, CUR, ASKED } },
    { "SQLSetPos", call_SQLSetPos, { SEQ, SEQ, SEQ, CUR, CUR, "", ASKED } },
    { "SQLSetStmtAttr", call_SQLSetStmtAttr, { ANY(""), ASKED } },
    { "SQLTables", call_SQLTables, { "", "", "", "", CUR, CUR, ASKED } },
    { "SQLColumns", call_SQLColumns, { "", "", "", "", CUR, CUR, ASKED } },
    { "SQLPrimaryKeys", call_SQLPrimaryKeys,
      { "", "", "", "", CUR, CUR, ASKED } },
    { "SQLStatistics", call_SQLStatistics, { "", "", "", "", CUR, CUR, ASKED } },
    { "SQLProcedures", call_SQLProcedures, { "", "", "", "", CUR, CUR, ASKED } },
};

/* ---- trying ------------------------------------------------------------ */

static void put_to_rest(const struct book_on *on)
{
    on->odbc->SQLCancel(on->stmt);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
    on->odbc->SQLFreeStmt(on->stmt, SQL_RESET_PARAMS);
}

static void in_every_state(const struct book_on *on, const struct function *f,
                           const char *query)
{
    for (int i = 0; i < STATES; i++) {
        struct book_on fresh = *on;
        char what[20];
        SQLRETURN rc;

        fresh.stmt = book_stmt(on, on->dbc);
        snprintf(what, sizeof what, "S%d", states[i]);
        want(what, book_bring(&fresh, states[i], query));
        rc = f->call(&fresh);
        if (*f->says[i]) {
            want_error(&fresh, what, rc, SQL_HANDLE_STMT, fresh.stmt,
                       f->says[i]);
        } else if (rc == SQL_ERROR || rc == SQL_INVALID_HANDLE) {
            book_miss("%s: %s", what,
                      book_state(&fresh, SQL_HANDLE_STMT, fresh.stmt, 1));
        }
        put_to_rest(&fresh);
        want_rc("afterwards", book_exec(&fresh, fresh.stmt, "SELECT 1"),
                SQL_SUCCESS);
        on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, fresh.stmt);
    }
}

static void of_a_select(const struct book_on *on, const void *row)
{
    in_every_state(on, row, "SELECT 1");
}

/* psqlODBC has no commands of ours, so its SELECT stands beside them. */
static void of_a_command(const struct book_on *on, const void *row)
{
    in_every_state(on, row, on->ours ? "SHOW AFFINITY" : "SELECT 1");
}

/* SQLFreeHandle, SQLEndTran and SQLDisconnect while data is asked for. */
static void while_asked(const struct book_on *on, const void *row)
{
    (void)row;
    for (int state = 8; state <= 10; state++) {
        struct book_on own;
        SQLRETURN rc;

        if (!book_own(on, &own)) {
            return;
        }
        want("the state", book_bring(&own, state, "SELECT 1"));
        want_error(&own, "SQLFreeHandle",
                   own.odbc->SQLFreeHandle(SQL_HANDLE_STMT, own.stmt),
                   SQL_HANDLE_STMT, own.stmt, "HY010");
        want_error(&own, "SQLEndTran",
                   own.odbc->SQLEndTran(SQL_HANDLE_DBC, own.dbc, SQL_COMMIT),
                   SQL_HANDLE_DBC, own.dbc, "HY010");
        rc = own.odbc->SQLDisconnect(own.dbc);
        if (want_error(&own, "SQLDisconnect", rc, SQL_HANDLE_DBC, own.dbc,
                       "HY010")) {
            put_to_rest(&own);
            own.odbc->SQLDisconnect(own.dbc);
        }
        want_rc("the end", own.odbc->SQLFreeHandle(SQL_HANDLE_DBC, own.dbc),
                SQL_SUCCESS);
    }
}

/* ---- statements again and again ---------------------------------------- */

static const char *const failing[] = {
    "SELEC 1",           "SELECT 1/0",           "SELECT * FROM nowhere",
    "SELECT 'x'::int",   "INSERT INTO nowhere VALUES (1)",
    "SELECT nothing(1)",
};

static void reused(const struct book_on *on, const void *row)
{
    const char *const *commands = on->ours ? (const char *const[]) {
        "SHOW AFFINITY NONSENSE", "EXPLAIN AFFINITY KEY", "SHOW AFFINITY TOKEN"
    } : failing;

    (void)row;
    for (size_t i = 0; i < 3 * sizeof failing / sizeof failing[0]; i++) {
        SQLLEN got = -1;
        char value[20] = "";

        want_rc("a failure",
                book_exec(on, on->stmt,
                          i % 3 ? failing[i / 3] : commands[i / 3 % 3]),
                SQL_ERROR);
        want_rc("then prepared",
                TEXT_CALL(on, SQLPrepare)(on->stmt, in(on, "SELECT 7"),
                                          SQL_NTS),
                SQL_SUCCESS);
        want_rc("and executed", on->odbc->SQLExecute(on->stmt), SQL_SUCCESS);
        want_rc("a row", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
        on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, value, sizeof value,
                             &got);
        want_text("its value", value, "7");
        want_rc("closed", on->odbc->SQLCloseCursor(on->stmt), SQL_SUCCESS);
    }
}

int main(void)
{
    char name[160];

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        snprintf(name, sizeof name, "Appendix B, Statement Transitions: %s",
                 functions[i].name);
        book_try(BOOK_INNER, BOOK_MANAGED, name, of_a_select, &functions[i]);
        snprintf(name, sizeof name,
                 "Appendix B, Statement Transitions: %s, a command of ours",
                 functions[i].name);
        book_try(BOOK_INNER, BOOK_MANAGED, name, of_a_command, &functions[i]);
    }
    book_try(BOOK_INNER, BOOK_MANAGED,
             "Appendix B, Statement Transitions: S8 to S10 hold the connection",
             while_asked, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "Appendix B, Statement Transitions: of use after each failure",
             reused, NULL);
    return book_end();
}
