/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The wrapper's SQL commands by the book: run directly or prepared, they are
 * statements like any other, and their answers result sets like any other.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdio.h>
#include <string.h>

/* Every command that works in this version, with its columns. */
struct command {
    const char *sql;
    SQLSMALLINT columns;
    bool rows; /* has at least one */
};

static const struct command commands[] = {
    { "SHOW AFFINITY", 0, true },
    { "SHOW AFFINITY INSTANCES", 0, true },
    { "SHOW AFFINITY POOLS", 0, true },
    { "SHOW AFFINITY STATS", 0, true },
    { "SHOW AFFINITY TOPOLOGY", 0, false },
    { "SHOW AFFINITY CONFIG", 0, true },
    { "EXPLAIN AFFINITY KEY '1500'", 0, true },
    { "REFRESH AFFINITY", 0, false },
    { "REFRESH AFFINITY LINKS", 0, true },
    { "REFRESH AFFINITY CONFIG", 0, true },
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static SQLRETURN prepare(const struct book_on *on, const char *sql)
{
    return TEXT_CALL(on, SQLPrepare)(on->stmt, in(on, sql), SQL_NTS);
}

static SQLSMALLINT count_columns(const struct book_on *on)
{
    SQLSMALLINT count = -1;

    want_rc("SQLNumResultCols", on->odbc->SQLNumResultCols(on->stmt, &count),
            SQL_SUCCESS);
    return count;
}

/* Rows left until SQL_NO_DATA. */
static int count_rows(const struct book_on *on)
{
    SQLRETURN rc;
    int count = 0;

    while ((rc = on->odbc->SQLFetch(on->stmt)) == SQL_SUCCESS) {
        count++;
    }
    want_rc("SQLFetch, at the end", rc, SQL_NO_DATA);
    return count;
}

/* ---- executing --------------------------------------------------------- */

static void direct(const struct book_on *on, const void *row)
{
    const struct command *c = row;
    SQLSMALLINT columns;
    SQLLEN rows = -77;
    int count;

    want_rc("SQLExecDirect", book_exec(on, on->stmt, c->sql), SQL_SUCCESS);
    columns = count_columns(on);
    want("it has columns", columns > 0);
    want_rc("SQLRowCount", on->odbc->SQLRowCount(on->stmt, &rows),
            SQL_SUCCESS);
    count = count_rows(on);
    want("it has rows", count > 0 || !c->rows);
    want("SQLRowCount is rows or not known", rows == count || rows == -1);
    want_rc("SQLMoreResults", on->odbc->SQLMoreResults(on->stmt),
            SQL_NO_DATA);
    want_rc("again", book_exec(on, on->stmt, c->sql), SQL_SUCCESS);
    want_rc("SQLCloseCursor", on->odbc->SQLCloseCursor(on->stmt),
            SQL_SUCCESS);
}

static void prepared(const struct book_on *on, const void *row)
{
    const struct command *c = row;
    SQLSMALLINT columns, parameters = -1;

    want_rc("SQLPrepare", prepare(on, c->sql), SQL_SUCCESS);
    columns = count_columns(on);
    want("it has columns", columns > 0);
    want_rc("SQLNumParams", on->odbc->SQLNumParams(on->stmt, &parameters),
            SQL_SUCCESS);
    want_number("parameters", parameters, 0);
    for (int i = 0; i < 3; i++) {
        want_rc("SQLExecute", on->odbc->SQLExecute(on->stmt), SQL_SUCCESS);
        want_number("the same columns", count_columns(on), columns);
        want("it has rows", count_rows(on) > 0 || !c->rows);
        want_rc("SQLCloseCursor", on->odbc->SQLCloseCursor(on->stmt),
                SQL_SUCCESS);
    }
}

/* ---- describing -------------------------------------------------------- */

static void described(const struct book_on *on, const void *row)
{
    const struct command *c = row;
    SQLSMALLINT columns;

    book_exec(on, on->stmt, c->sql);
    columns = count_columns(on);
    for (SQLSMALLINT i = 1; i <= columns; i++) {
        SQLSMALLINT length = -1, type = 0, digits = -1, nullable = -1;
        SQLWCHAR name[100] = { 0 }, label[100] = { 0 };
        SQLULEN size = 0;
        SQLLEN number = -1;

        want_rc("SQLDescribeCol",
                TEXT_CALL(on, SQLDescribeCol)(on->stmt, (SQLUSMALLINT)i,
                                              (void *)name, 100, &length,
                                              &type, &size, &digits,
                                              &nullable),
                SQL_SUCCESS);
        want("it has a name", length > 0);
        want_number("its length", length, (long long)strlen(out(on, name)));
        want("it is text", type == SQL_VARCHAR || type == SQL_WVARCHAR);
        want("it has a size", size > 0);
        want_rc("SQL_DESC_LABEL",
                TEXT_CALL(on, SQLColAttribute)(on->stmt, (SQLUSMALLINT)i,
                                               SQL_DESC_LABEL, label,
                                               sizeof label, NULL, NULL),
                SQL_SUCCESS);
        want_text("SQL_DESC_LABEL", out(on, label), out(on, name));
        want_rc("SQL_DESC_TYPE",
                TEXT_CALL(on, SQLColAttribute)(on->stmt, (SQLUSMALLINT)i,
                                               SQL_DESC_CONCISE_TYPE, NULL, 0,
                                               NULL, &number),
                SQL_SUCCESS);
        want_number("SQL_DESC_TYPE", number, type);
    }
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* A value is never longer than its column's size says. */
static void fits(const struct book_on *on, const void *row)
{
    const struct command *c = row;
    SQLSMALLINT columns;

    book_exec(on, on->stmt, c->sql);
    columns = count_columns(on);
    while (on->odbc->SQLFetch(on->stmt) == SQL_SUCCESS) {
        for (SQLUSMALLINT i = 1; i <= columns; i++) {
            char value[4000];
            SQLWCHAR name[100];
            SQLLEN length = 0;
            SQLULEN size = 0;

            TEXT_CALL(on, SQLDescribeCol)(on->stmt, i, (void *)name, 100, NULL,
                                          NULL, &size, NULL, NULL);
            want_rc("SQLGetData",
                    on->odbc->SQLGetData(on->stmt, i, SQL_C_CHAR, value,
                                         sizeof value, &length),
                    SQL_SUCCESS);
            want("a value of its size",
                 length == SQL_NULL_DATA || (SQLULEN)length <= size);
        }
    }
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* ---- fetching ---------------------------------------------------------- */

static void bound_in_rowsets(const struct book_on *on, const void *row)
{
    SQLUSMALLINT status[4];
    SQLLEN length[4] = { 0 };
    SQLULEN fetched = 0;
    char name[4][100];

    (void)row;
    TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_ROW_ARRAY_SIZE,
                                  (SQLPOINTER)4, 0);
    TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_ROWS_FETCHED_PTR,
                                  &fetched, 0);
    TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_ROW_STATUS_PTR, status,
                                  0);
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_CHAR, name, 100, length);
    want_rc("SQLExecDirect",
            book_exec(on, on->stmt, "SHOW AFFINITY CONFIG"), SQL_SUCCESS);
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    want_number("SQL_ATTR_ROWS_FETCHED_PTR", (long long)fetched, 4);
    for (int i = 0; i < 4; i++) {
        want_number("SQL_ATTR_ROW_STATUS_PTR", status[i], SQL_ROW_SUCCESS);
        want_number("its length", length[i], (long long)strlen(name[i]));
    }
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
}

static void scrolled(const struct book_on *on, const void *row)
{
    char first[100] = "", again[100] = "";
    SQLLEN length;

    (void)row;
    TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_CURSOR_TYPE,
                                  (SQLPOINTER)SQL_CURSOR_STATIC, 0);
    book_exec(on, on->stmt, "SHOW AFFINITY CONFIG");
    want_rc("SQL_FETCH_FIRST",
            on->odbc->SQLFetchScroll(on->stmt, SQL_FETCH_FIRST, 0),
            SQL_SUCCESS);
    on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, first, 100, &length);
    want_rc("SQL_FETCH_LAST",
            on->odbc->SQLFetchScroll(on->stmt, SQL_FETCH_LAST, 0),
            SQL_SUCCESS);
    want_rc("SQL_FETCH_ABSOLUTE 1",
            on->odbc->SQLFetchScroll(on->stmt, SQL_FETCH_ABSOLUTE, 1),
            SQL_SUCCESS);
    on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, again, 100, &length);
    want_text("the first row again", again, first);
    want_rc("SQL_FETCH_PRIOR",
            on->odbc->SQLFetchScroll(on->stmt, SQL_FETCH_PRIOR, 0),
            SQL_NO_DATA);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void in_parts(const struct book_on *on, const void *row)
{
    SQLLEN whole = -1, left = -1;
    char text[4] = "";

    (void)row;
    book_exec(on, on->stmt, "SHOW AFFINITY CONFIG");
    on->odbc->SQLFetch(on->stmt);
    want_info(on, "SQLGetData",
              on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 4, &whole),
              SQL_HANDLE_STMT, on->stmt, "01004");
    on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 4, &left);
    want_number("what is left", left, whole - 3);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* ---- whatever the statement or the connection is set to ---------------- */

/* A warning that says that the cursor is another is as good (01S02). */
static bool worked(const struct book_on *on, const char *what, SQLRETURN rc)
{
    return rc == SQL_SUCCESS_WITH_INFO
               ? want_state(on, what, SQL_HANDLE_STMT, on->stmt, "01S02")
               : want_rc(what, rc, SQL_SUCCESS);
}

static int count_directly(const struct book_on *on, const char *sql)
{
    int count;

    worked(on, "SQLExecDirect", book_exec(on, on->stmt, sql));
    count = count_rows(on);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    return count;
}

static const struct setting {
    const char *name;
    SQLINTEGER attribute[2];
    SQLULEN value[2];
} settings[] = {
    { "a static cursor", { SQL_ATTR_CURSOR_TYPE }, { SQL_CURSOR_STATIC } },
    { "a keyset to update",
      { SQL_ATTR_CURSOR_TYPE, SQL_ATTR_CONCURRENCY },
      { SQL_CURSOR_KEYSET_DRIVEN, SQL_CONCUR_ROWVER } },
    { "a static cursor to update",
      { SQL_ATTR_CURSOR_TYPE, SQL_ATTR_CONCURRENCY },
      { SQL_CURSOR_STATIC, SQL_CONCUR_ROWVER } },
    { "bookmarks",
      { SQL_ATTR_CURSOR_TYPE, SQL_ATTR_USE_BOOKMARKS },
      { SQL_CURSOR_STATIC, SQL_UB_VARIABLE } },
    { "no scanning for escapes", { SQL_ATTR_NOSCAN }, { SQL_NOSCAN_ON } },
    { "identifiers as arguments", { SQL_ATTR_METADATA_ID }, { SQL_TRUE } },
    { "a time-out", { SQL_ATTR_QUERY_TIMEOUT }, { 60 } },
};

static void under_setting(const struct book_on *on, const void *row)
{
    const struct setting *s = row;

    for (size_t i = 0; i < COMMANDS; i++) {
        struct book_on fresh = *on;
        int plain = count_directly(on, commands[i].sql);

        fresh.stmt = book_stmt(on, on->dbc);
        for (int k = 0; k < 2 && s->value[k]; k++) {
            TEXT_CALL(on, SQLSetStmtAttr)(fresh.stmt, s->attribute[k],
                                          (SQLPOINTER)s->value[k], 0);
        }
        if (strncmp(commands[i].sql, "REFRESH", 7) != 0 &&
            !strstr(commands[i].sql, "TOPOLOGY")) {
            want_number(commands[i].sql,
                        count_directly(&fresh, commands[i].sql), plain);
        }
        want_rc("SQLPrepare", prepare(&fresh, commands[i].sql), SQL_SUCCESS);
        worked(&fresh, "SQLExecute", on->odbc->SQLExecute(fresh.stmt));
        on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, fresh.stmt);
    }
}

static void with_parameters(const struct book_on *on, const void *row)
{
    SQLINTEGER values[3] = { 1, 2, 3 };

    (void)row;
    on->odbc->SQLBindParameter(on->stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG,
                               SQL_INTEGER, 0, 0, values, 0, NULL);
    want_number("one that it does not have",
                count_directly(on, "SHOW AFFINITY"), 1);
    on->odbc->SQLFreeStmt(on->stmt, SQL_RESET_PARAMS);
    want_number("none", count_directly(on, "SHOW AFFINITY"), 1);
}

/* Of psqlODBC, with what makes it run a SELECT in another way. */
static const char *const ways[] = {
    ";UseDeclareFetch=1",          ";UseServerSidePrepare=0",
    ";Protocol=7.4-0",             ";Protocol=7.4-1",
    ";UseDeclareFetch=1;Fetch=3",  ";UpdatableCursors=1;UseDeclareFetch=1",
    ";Parse=1",                    ";UnknownSizes=2",
    ";DisallowPremature=1",
};

static void in_way(const struct book_on *on, const void *row)
{
    struct book_on own = *on;

    own.dbc = book_open(on, row);
    if (!own.dbc) {
        return;
    }
    own.stmt = book_stmt(&own, own.dbc);
    for (int manual = 0; manual < 2; manual++) {
        for (size_t i = 0; i < COMMANDS; i++) {
            SQLSMALLINT columns;

            want("rows", count_directly(&own, commands[i].sql) > 0 ||
                             !commands[i].rows);
            want_rc("SQLPrepare", prepare(&own, commands[i].sql), SQL_SUCCESS);
            columns = count_columns(&own);
            want_rc("SQLExecute", own.odbc->SQLExecute(own.stmt), SQL_SUCCESS);
            want_number("columns", count_columns(&own), columns);
            want("rows, prepared", count_rows(&own) > 0 || !commands[i].rows);
            own.odbc->SQLFreeStmt(own.stmt, SQL_CLOSE);
        }
        TEXT_CALL(&own, SQLSetConnectAttr)(own.dbc, SQL_ATTR_AUTOCOMMIT,
                                           (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
    }
    own.odbc->SQLEndTran(SQL_HANDLE_DBC, own.dbc, SQL_ROLLBACK);
    book_own_end(&own);
}

/* ---- text -------------------------------------------------------------- */

static void text_lengths(const struct book_on *on, const void *row)
{
    (void)row;
    want_rc("an explicit length",
            TEXT_CALL(on, SQLExecDirect)(
                on->stmt, in(on, "SHOW AFFINITYXX"), 13),
            SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_rc("blanks, comments and a semicolon",
            book_exec(on, on->stmt, " -- one\n show /* two */ Affinity ; "),
            SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_rc("prepared, with an explicit length",
            TEXT_CALL(on, SQLPrepare)(on->stmt, in(on, "SHOW AFFINITYXX"),
                                      13),
            SQL_SUCCESS);
    want_rc("SQLExecute", on->odbc->SQLExecute(on->stmt), SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* ---- what follows on a statement --------------------------------------- */

static const char *execute_value(const struct book_on *on)
{
    static char value[200];
    SQLLEN length;

    value[0] = '\0';
    want_rc("SQLExecute", on->odbc->SQLExecute(on->stmt), SQL_SUCCESS);
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, value, sizeof value,
                         &length);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    return value;
}

static void prepared_anew(const struct book_on *on, const void *row)
{
    (void)row;
    want_rc("a command", prepare(on, "SHOW AFFINITY"), SQL_SUCCESS);
    want_rc("then a SELECT", prepare(on, "SELECT 7"), SQL_SUCCESS);
    want_text("is the SELECT", execute_value(on), "7");
    want_rc("then a command", prepare(on, "EXPLAIN AFFINITY KEY '1500'"),
            SQL_SUCCESS);
    want("is the command", strcmp(execute_value(on), "7") != 0);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
    on->odbc->SQLFreeStmt(on->stmt, SQL_RESET_PARAMS);
    want("still", strcmp(execute_value(on), "7") != 0);
}

/* A SQLPrepare that fails leaves nothing that SQLExecute could execute. */
static void prepared_wrong(const struct book_on *on, const void *row)
{
    (void)row;
    want_rc("a SELECT", prepare(on, "SELECT 7"), SQL_SUCCESS);
    want_error(on, "then a command that is none",
               prepare(on, "SHOW AFFINITY NONSENSE"), SQL_HANDLE_STMT,
               on->stmt, "42000");
    want_error(on, "SQLExecute", on->odbc->SQLExecute(on->stmt),
               SQL_HANDLE_STMT, on->stmt, "HY010");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_rc("of use", book_exec(on, on->stmt, "SELECT 8"), SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* So does one that is not possible yet. */
static void prepared_later(const struct book_on *on, const void *row)
{
    (void)row;
    want_rc("a command", prepare(on, "SHOW AFFINITY"), SQL_SUCCESS);
    want_error(on, "then one that comes later",
               prepare(on, "SHOW AFFINITY TOKEN"), SQL_HANDLE_STMT, on->stmt,
               "HYC00");
    want_error(on, "SQLExecute", on->odbc->SQLExecute(on->stmt),
               SQL_HANDLE_STMT, on->stmt, "HY010");
}

/* psqlODBC's SELECT stands beside a command. */
static const char *query(const struct book_on *on)
{
    return on->ours ? "SHOW AFFINITY" : "SELECT 1";
}

/* A catalog function ends what was prepared (Appendix B: S3 to S5, and from
   there to S1). */
static void prepared_then_catalog(const struct book_on *on, const void *row)
{
    SQLRETURN rc;

    (void)row;
    want_rc("a query", prepare(on, query(on)), SQL_SUCCESS);
    want_rc("SQLTables",
            TEXT_CALL(on, SQLTables)(on->stmt, NULL, 0, NULL, 0,
                                     in(on, "nowhere"), SQL_NTS, NULL, 0),
            SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    rc = on->odbc->SQLExecute(on->stmt);
    want_error(on, "SQLExecute", rc, SQL_HANDLE_STMT, on->stmt, "HY010");
    if (SQL_SUCCEEDED(rc)) {
        want_number("rows", count_rows(on), 0);
        on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    }
}

static void executed_then_prepared_runs(const struct book_on *on,
                                        const void *row)
{
    (void)row;
    want_rc("a query", prepare(on, query(on)), SQL_SUCCESS);
    want_rc("SQLExecDirect of another", book_exec(on, on->stmt, "SELECT 7"),
            SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_error(on, "SQLExecute", on->odbc->SQLExecute(on->stmt),
               SQL_HANDLE_STMT, on->stmt, "HY010");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void beside_a_cursor(const struct book_on *on, const void *row)
{
    SQLHSTMT other = book_stmt(on, on->dbc);

    (void)row;
    book_exec(on, other, "SELECT generate_series(1, 10)");
    want_rc("another statement's cursor", on->odbc->SQLFetch(other),
            SQL_SUCCESS);
    want_rc("a command", book_exec(on, on->stmt, "SHOW AFFINITY"),
            SQL_SUCCESS);
    want_rc("leaves it open", on->odbc->SQLFetch(other), SQL_SUCCESS);
    want_number("one row", count_rows(on), 1);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other);
}

/* ---- the rules --------------------------------------------------------- */

static const struct {
    const char *name;
    book_rule *rule;
} of_each[] = {
    { "SQLExecDirect, SQLFetch, SQLMoreResults", direct },
    { "SQLPrepare, SQLExecute, Comments: as often as wanted", prepared },
    { "SQLDescribeCol, SQLColAttribute: each column", described },
    { "Column Size: no value is longer", fits },
};

static const struct {
    const char *name;
    book_rule *rule;
} rules[] = {
    { "SQLFetch, Comments: a command's rows in rowsets", bound_in_rowsets },
    { "SQLFetchScroll, Comments: a command's rows backwards", scrolled },
    { "SQLGetData, Comments: a command's value in parts", in_parts },
    { "SQLExecDirect, TextLength: commands", text_lengths },
    { "SQLPrepare, Comments: what is prepared last counts", prepared_anew },
    { "SQLPrepare, Comments: a command beside another cursor",
      beside_a_cursor },
    { "Appendix B, Statement Transitions: S3, a wrong command is prepared",
      prepared_wrong },
    { "Appendix B, Statement Transitions: S3, a later command is prepared",
      prepared_later },
};

/* What the inner driver makes of a statement that was prepared counts. */
static const struct {
    const char *name;
    book_rule *rule;
} as_inner[] = {
    { "Appendix B, Statement Transitions: S3, a catalog function ends it",
      prepared_then_catalog },
    { "Appendix B, Statement Transitions: S3, SQLExecDirect ends it",
      executed_then_prepared_runs },
};

int main(void)
{
    char name[160];

    for (size_t i = 0; i < sizeof of_each / sizeof of_each[0]; i++) {
        for (size_t k = 0; k < COMMANDS; k++) {
            snprintf(name, sizeof name, "%s (%s)", of_each[i].name,
                     commands[k].sql);
            book_try(BOOK_OURS, BOOK_ALL, name, of_each[i].rule,
                     &commands[k]);
        }
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        book_try(BOOK_OURS, BOOK_ALL, rules[i].name, rules[i].rule, NULL);
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        snprintf(name, sizeof name,
                 "SQLSetStmtAttr, Statement Attributes: commands with %s",
                 settings[i].name);
        book_try(BOOK_OURS, BOOK_ALL, name, under_setting, &settings[i]);
    }
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLBindParameter, Comments: a command has no parameters",
             with_parameters, NULL);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        snprintf(name, sizeof name, "SQLExecDirect, SQLPrepare: commands%s",
                 ways[i]);
        book_try(BOOK_OURS, BOOK_MANAGED, name, in_way, ways[i]);
    }
    for (size_t i = 0; i < sizeof as_inner / sizeof as_inner[0]; i++) {
        book_try(BOOK_INNER, BOOK_ALL, as_inner[i].name, as_inner[i].rule,
                 NULL);
    }
    return book_end();
}
