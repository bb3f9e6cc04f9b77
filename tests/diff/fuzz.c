/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random calls in random order.  DIFF_SEEDS=FIRST-LAST says with which seeds
 * (1-4); a seed and a dialect's options make the same calls for ever, as long
 * as nobody adds one here.  All of them are calls that a program may make: what
 * differs is looked into by running its seed alone.
 */
#include "diff.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void subject_fuzz(void);

enum { STMTS = 3, CALLS = 60 };

static SQLHSTMT stmts[STMTS];
static uint64_t state;

static unsigned draw(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 20) % below);
}

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define ONE_OF(list) ((list)[draw(COUNT(list))])

static SQLHSTMT any(void)
{
    SQLHSTMT *stmt = &ONE_OF(stmts);

    if (!*stmt) {
        *stmt = stmt_new();
    }
    say("%s", handle_name(*stmt));
    return *stmt;
}

/* ---- texts --------------------------------------------------------------- */

static const char *const texts[] = {
    "SELECT id, name, note FROM parent ORDER BY id",
    "SELECT number, born, weight FROM child ORDER BY parent, number",
    "SELECT id, t, n, b, l FROM work ORDER BY id",
    "SELECT count(*) FROM work",
    "SELECT 1 AS one, 'two' AS two, NULL AS three",
    "SELECT id FROM parent WHERE id < 0",
    "SELECT name FROM parent WHERE id = 4",
    "SELECT nothing FROM nowhere",
    "SELEC 1",
    "INSERT INTO work (id, t, n) VALUES (1, 'first', 1.5)",
    "INSERT INTO work (id, t, l) VALUES (2, 'zwölf €', 'a long one')",
    "UPDATE work SET n = n + 1 WHERE id < 3",
    "UPDATE work SET t = NULL",
    "DELETE FROM work WHERE id = 2",
    "DELETE FROM work",
    "",
    "-- nothing",
};

static const char *const asking[] = {
    "INSERT INTO work (id, t) VALUES (?, ?)",
    "SELECT id, t FROM work WHERE id >= ? AND t <> ? ORDER BY id",
    "SELECT name, note FROM parent WHERE id = ? OR name = ?",
    "UPDATE work SET n = ? WHERE t = ?",
    "DELETE FROM work WHERE id = ? AND t = ?",
    "SELECT ?, ?",
};

static void run_text(void)
{
    SQLHSTMT stmt = any();

    sql(stmt, ONE_OF(texts));
}

static void prepare_text(void)
{
    SQLHSTMT stmt = any();

    if (draw(3)) {
        prepare(stmt, ONE_OF(asking));
    } else {
        prepare(stmt, ONE_OF(texts));
    }
}

static void execute(void)
{
    CALL(SQLExecute, any());
}

/* ---- parameters ---------------------------------------------------------- */

static void bind_number(SQLHSTMT stmt)
{
    static SQLINTEGER numbers[] = { 0, 1, 2, 3, -1, 2147483647 };
    static SQLLEN length, null = SQL_NULL_DATA;

    CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, &ONE_OF(numbers), 0, draw(5) ? &length : &null);
}

static void bind_text(SQLHSTMT stmt)
{
    static const char *const values[] = { "first", "", "zwölf €", "it's",
                                          "three" };
    static union {
        SQLCHAR narrow[40];
        SQLWCHAR wide[40];
    } value;
    static SQLLEN length;
    const char *text = ONE_OF(values);

    length = draw(5) ? SQL_NTS : SQL_NULL_DATA;
    if (run.wide) {
        const SQLWCHAR *wide = WIDE(text);

        for (size_t i = 0; i == 0 || wide[i - 1]; i++) {
            value.wide[i] = wide[i];
        }
    } else {
        snprintf((char *)value.narrow, sizeof value.narrow, "%s", text);
    }
    CALL(SQLBindParameter, stmt, 2, SQL_PARAM_INPUT, C_TEXT,
         draw(2) ? SQL_VARCHAR : SQL_LONGVARCHAR, 40, 0, &value, sizeof value,
         &length);
}

static void bind_parameters(void)
{
    SQLHSTMT stmt = any();

    bind_number(stmt);
    bind_text(stmt);
}

static void ask_parameters(void)
{
    SQLHSTMT stmt = any();

    CALL(SQLNumParams, stmt, &out.small[0]);
    CALL(SQLDescribeParam, stmt, 1, &out.small[1], &out.ulen[0], &out.small[2],
         &out.small[3]);
}

/* ---- rows ---------------------------------------------------------------- */

static void fetch(void)
{
    CALL(SQLFetch, any());
}

static void scroll(void)
{
    static const SQLSMALLINT moves[] = {
        SQL_FETCH_NEXT, SQL_FETCH_PRIOR, SQL_FETCH_FIRST, SQL_FETCH_LAST,
        SQL_FETCH_ABSOLUTE, SQL_FETCH_RELATIVE
    };

    CALL(SQLFetchScroll, any(), ONE_OF(moves), (SQLLEN)draw(7) - 3);
}

static void get_data(void)
{
    static const SQLSMALLINT types[] = {
        SQL_C_CHAR, SQL_C_WCHAR, SQL_C_SLONG, SQL_C_DOUBLE, SQL_C_BINARY,
        SQL_C_DEFAULT, SQL_C_SBIGINT, SQL_C_TYPE_DATE
    };
    SQLHSTMT stmt = any();

    if (SQL_SUCCEEDED(CALL(SQLNumResultCols, stmt, &out.small[0])) &&
        out.small[0] > 0) {
        SQLUSMALLINT column =
            (SQLUSMALLINT)(1 + draw((unsigned)out.small[0]));

        CALL(SQLGetData, stmt, column, ONE_OF(types), DATA(0),
             draw(2) ? 100 : 4, &out.len[0]);
    }
}

static void bind_column(void)
{
    SQLHSTMT stmt = any();

    if (draw(3) == 0) {
        CALL(SQLFreeStmt, stmt, SQL_UNBIND);
    } else if (draw(2)) {
        CALL(SQLBindCol, stmt, 1, SQL_C_SLONG, DATA(1), 0, out.lens[0]);
    } else {
        CALL(SQLBindCol, stmt, (SQLUSMALLINT)(1 + draw(3)), C_TEXT, DATA(2),
             draw(2) ? 60 : 6, out.lens[1]);
    }
}

static void ask_result(void)
{
    SQLHSTMT stmt = any();

    CALL(SQLRowCount, stmt, &out.len[0]);
    show_columns(stmt);
}

static void ask_column(void)
{
    static const SQLUSMALLINT fields[] = {
        SQL_DESC_NAME, SQL_DESC_TYPE_NAME, SQL_DESC_TABLE_NAME,
        SQL_DESC_LABEL
    };
    SQLHSTMT stmt = any();

    if (SQL_SUCCEEDED(CALL(SQLNumResultCols, stmt, &out.small[0])) &&
        out.small[0] > 0) {
        CALL_TEXT(SQLColAttribute, stmt, 1, ONE_OF(fields), TEXT(0),
                  draw(2) ? 100 : 4, &out.small[1], NULL);
        CALL_TEXT(SQLColAttribute, stmt, 1,
                  draw(2) ? SQL_DESC_CONCISE_TYPE : SQL_DESC_NULLABLE, NULL, 0,
                  NULL, &out.len[0]);
    }
}

static void more_results(void)
{
    CALL(SQLMoreResults, any());
}

static void set_position(void)
{
    CALL(SQLSetPos, any(), (SQLSETPOSIROW)draw(3), SQL_POSITION,
         SQL_LOCK_NO_CHANGE);
}

/* ---- statements ---------------------------------------------------------- */

static void end_statement(void)
{
    static const SQLUSMALLINT options[] = { SQL_CLOSE, SQL_CLOSE, SQL_UNBIND,
                                            SQL_RESET_PARAMS };
    SQLHSTMT *stmt = &ONE_OF(stmts);

    if (!*stmt) {
        return;
    }
    say("%s", handle_name(*stmt));
    switch (draw(4)) {
    case 0:
        CALL(SQLCloseCursor, *stmt);
        break;
    case 1:
        handle_free(SQL_HANDLE_STMT, *stmt);
        *stmt = NULL;
        break;
    case 2:
        CALL(SQLCancel, *stmt);
        break;
    default:
        CALL(SQLFreeStmt, *stmt, ONE_OF(options));
    }
}

static void statement_attribute(void)
{
    static const struct {
        SQLINTEGER attribute;
        size_t value;
    } rows[] = {
        { SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC },
        { SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_FORWARD_ONLY },
        { SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_KEYSET_DRIVEN },
        { SQL_ATTR_CURSOR_SCROLLABLE, SQL_SCROLLABLE },
        { SQL_ATTR_CONCURRENCY, SQL_CONCUR_READ_ONLY },
        { SQL_ATTR_MAX_ROWS, 0 },        { SQL_ATTR_MAX_ROWS, 2 },
        { SQL_ATTR_MAX_LENGTH, 0 },      { SQL_ATTR_QUERY_TIMEOUT, 5 },
        { SQL_ATTR_NOSCAN, SQL_NOSCAN_ON }, { SQL_ATTR_USE_BOOKMARKS, 0 },
        { SQL_ATTR_RETRIEVE_DATA, SQL_RD_ON },
        { SQL_ATTR_RETRIEVE_DATA, SQL_RD_OFF },
        { SQL_ATTR_ROW_ARRAY_SIZE, 1 },  { SQL_ATTR_ROW_ARRAY_SIZE, 3 },
    };
    size_t i = draw(COUNT(rows));
    SQLHSTMT stmt = any();

    say("%d = %zu", (int)rows[i].attribute, rows[i].value);
    CALL(SQLSetStmtAttr, stmt, rows[i].attribute, (void *)rows[i].value, 0);
    CALL(SQLGetStmtAttr, stmt, rows[i].attribute, &out.ulen[0], 0, NULL);
}

static void cursor_name(void)
{
    SQLHSTMT stmt = any();

    if (draw(2)) {
        CALL_TEXT(SQLSetCursorName, stmt, IN(draw(2) ? "mine" : "yours"),
                  SQL_NTS);
    }
    CALL_TEXT(SQLGetCursorName, stmt, TEXT(0), 100, &out.small[0]);
}

static void catalog(void)
{
    SQLHSTMT stmt = any();
    const char *table = draw(2) ? "parent" : "work";

    switch (draw(5)) {
    case 0:
        CALL_TEXT(SQLTables, stmt, NULL, 0, NULL, 0, IN(table), SQL_NTS, NULL,
                  0);
        break;
    case 1:
        CALL_TEXT(SQLColumns, stmt, NULL, 0, NULL, 0, IN(table), SQL_NTS, NULL,
                  0);
        break;
    case 2:
        CALL_TEXT(SQLPrimaryKeys, stmt, NULL, 0, NULL, 0, IN(table), SQL_NTS);
        break;
    case 3:
        CALL_TEXT(SQLStatistics, stmt, NULL, 0, NULL, 0, IN(table), SQL_NTS,
                  SQL_INDEX_ALL, SQL_QUICK);
        break;
    default:
        CALL_TEXT(SQLGetTypeInfo, stmt, SQL_ALL_TYPES);
    }
}

/* ---- the session --------------------------------------------------------- */

static void session_attribute(void)
{
    static const SQLINTEGER attributes[] = {
        SQL_ATTR_AUTOCOMMIT, SQL_ATTR_TXN_ISOLATION, SQL_ATTR_ACCESS_MODE,
        SQL_ATTR_CONNECTION_DEAD, SQL_ATTR_LOGIN_TIMEOUT
    };

    if (draw(2)) {
        CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_AUTOCOMMIT,
                  (void *)(size_t)(draw(2) ? SQL_AUTOCOMMIT_OFF
                                           : SQL_AUTOCOMMIT_ON), 0);
    }
    CALL_TEXT(SQLGetConnectAttr, run.dbc, ONE_OF(attributes), &out.integer[0],
              0, NULL);
}

static void end_transaction(void)
{
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc,
         draw(2) ? SQL_COMMIT : SQL_ROLLBACK);
}

static void ask_session(void)
{
    static const SQLUSMALLINT infos[] = {
        SQL_DBMS_NAME, SQL_DBMS_VER, SQL_IDENTIFIER_QUOTE_CHAR,
        SQL_SEARCH_PATTERN_ESCAPE
    };

    CALL_TEXT(SQLGetInfo, run.dbc, ONE_OF(infos), TEXT(0), draw(2) ? 100 : 4,
              &out.small[0]);
    CALL_TEXT(SQLNativeSql, run.dbc, IN(ONE_OF(texts)), SQL_NTS, TEXT(1),
              draw(2) ? 100 : 4, &out.integer[0]);
}

/* ---- together ------------------------------------------------------------ */

static const struct {
    void (*call)(void);
    unsigned weight;
} calls[] = {
    { run_text, 8 },            { prepare_text, 6 },   { execute, 6 },
    { bind_parameters, 5 },     { ask_parameters, 1 }, { fetch, 10 },
    { scroll, 3 },              { get_data, 10 },      { bind_column, 4 },
    { ask_result, 3 },          { ask_column, 2 },     { more_results, 2 },
    { set_position, 1 },        { end_statement, 7 },  { cursor_name, 1 },
    { statement_attribute, 3 }, { catalog, 2 },        { session_attribute, 2 },
    { end_transaction, 3 },     { ask_session, 1 },
};

static void call_one(void)
{
    unsigned sum = 0, drawn;

    for (size_t i = 0; i < COUNT(calls); i++) {
        sum += calls[i].weight;
    }
    drawn = draw(sum);
    for (size_t i = 0; i < COUNT(calls); i++) {
        if (drawn < calls[i].weight) {
            calls[i].call();
            return;
        }
        drawn -= calls[i].weight;
    }
}

static void run_seed(unsigned seed)
{
    state = seed * 0x9e3779b97f4a7c15u;
    say("---- seed %u", seed);
    for (int i = 0; i < CALLS; i++) {
        call_one();
    }
    for (size_t i = 0; i < STMTS; i++) {
        if (stmts[i]) {
            handle_free(SQL_HANDLE_STMT, stmts[i]);
            stmts[i] = NULL;
        }
    }
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_ROLLBACK);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_AUTOCOMMIT,
              (void *)SQL_AUTOCOMMIT_ON, 0);
}

/* Nothing is said of what others have left there, or we leave. */
static void empty_work(void)
{
    SQLHSTMT stmt;

    SQLAllocHandle(SQL_HANDLE_STMT, run.dbc, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"DELETE FROM work", SQL_NTS);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
}

void subject_fuzz(void)
{
    const char *seeds = getenv("DIFF_SEEDS");
    unsigned first = 1, last = 4;

    if (seeds) {
        char *rest;

        first = last = (unsigned)strtoul(seeds, &rest, 10);
        if (*rest == '-') {
            last = (unsigned)strtoul(rest + 1, NULL, 10);
        }
    }
    empty_work();
    for (unsigned seed = first; seed <= last; seed++) {
        run_seed(seed);
    }
    empty_work();
}
