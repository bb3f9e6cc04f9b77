/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Handles by the book, below the manager, as another manager or a program that
 * loads the driver itself would meet them: every exported function with a
 * handle that is none, stale or of another kind, and in each state of the
 * transition tables, where the manager would have refused most.  Nothing may
 * crash, and the handle must be of use afterwards.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- every exported function ------------------------------------------- */

/* As many words as the longest of them has arguments. */
typedef SQLRETURN any_function(void *, intptr_t, intptr_t, intptr_t, intptr_t,
                               intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                               intptr_t, intptr_t, intptr_t);

enum kind { ENV, DBC, STMT, DESC, ANY };

static const struct row {
    const char *name;
    enum kind kind;
    bool text;
    size_t narrow, wide; /* where they stand in struct inner_calls */
} rows[] = {
#define PLAIN(name, number, kind, ...) \
    { #name, kind, false, offsetof(struct inner_calls, name), \
      offsetof(struct inner_calls, name) },
#define TEXT(name, number, kind, ...) \
    { #name, kind, true, offsetof(struct inner_calls, name), \
      offsetof(struct inner_calls, name##W) },
#include "surface.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static any_function *function(const struct book_on *on, const struct row *row)
{
    any_function *f;

    memcpy(&f, (const char *)on->odbc + (on->wide ? row->wide : row->narrow),
           sizeof f);
    return f;
}

/* The call with zeros for all but the handle, and the handle's type before it
   where that is how the function is told. */
static SQLRETURN call(const struct book_on *on, const struct row *row,
                      SQLSMALLINT type, SQLHANDLE handle)
{
    any_function *f = function(on, row);

    return row->kind == ANY
               ? f((void *)(intptr_t)type, (intptr_t)handle, 0, 0, 0, 0, 0, 0,
                   0, 0, 0, 0, 0)
               : f(handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* ---- handles that are none --------------------------------------------- */

static void not_of_kind(const struct book_on *on, const struct row *row,
                        const char *what, enum kind kind, SQLHANDLE handle)
{
    char text[80];

    if (kind == row->kind) {
        return;
    }
    snprintf(text, sizeof text, "%s", what);
    want_rc(text, call(on, row, 0, handle), SQL_INVALID_HANDLE);
}

static SQLHANDLE stale(const struct book_on *on, SQLSMALLINT type,
                       SQLHANDLE parent)
{
    SQLHANDLE handle = SQL_NULL_HANDLE;

    want_rc("SQLAllocHandle", on->odbc->SQLAllocHandle(type, parent, &handle),
            SQL_SUCCESS);
    want_rc("SQLFreeHandle", on->odbc->SQLFreeHandle(type, handle),
            SQL_SUCCESS);
    return handle;
}

static void wrong_handles(const struct book_on *on, const void *argument)
{
    const struct row *row = argument;
    SQLHDESC ard = SQL_NULL_HDESC, desc = SQL_NULL_HDESC;

    on->odbc->SQLGetStmtAttr(on->stmt, SQL_ATTR_APP_ROW_DESC, &ard, 0, NULL);
    on->odbc->SQLAllocHandle(SQL_HANDLE_DESC, on->dbc, &desc);
    not_of_kind(on, row, "NULL", ANY, SQL_NULL_HANDLE);
    not_of_kind(on, row, "an environment", ENV, on->env);
    not_of_kind(on, row, "a connection", DBC, on->dbc);
    not_of_kind(on, row, "a statement", STMT, on->stmt);
    not_of_kind(on, row, "an implicit descriptor", DESC, ard);
    not_of_kind(on, row, "an explicit descriptor", DESC, desc);
    not_of_kind(on, row, "a freed environment", ANY,
                stale(on, SQL_HANDLE_ENV, SQL_NULL_HANDLE));
    not_of_kind(on, row, "a freed connection", ANY,
                stale(on, SQL_HANDLE_DBC, on->env));
    not_of_kind(on, row, "a freed statement", ANY,
                stale(on, SQL_HANDLE_STMT, on->dbc));
    not_of_kind(on, row, "a freed descriptor", ANY,
                stale(on, SQL_HANDLE_DESC, on->dbc));
    on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, desc);
}

static const SQLSMALLINT types[] = { 0, SQL_HANDLE_ENV, SQL_HANDLE_DBC,
                                     SQL_HANDLE_STMT, SQL_HANDLE_DESC,
                                     5, -1, 32767 };

/* Functions that are told the type: each type with a handle of another one.
   SQLAllocHandle's is the type of the new one, and tried below. */
static void wrong_types(const struct book_on *on, const void *argument)
{
    const struct row *row = argument;
    SQLHANDLE handles[] = { SQL_NULL_HANDLE, on->env, on->dbc, on->stmt };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (size_t k = 0; k < 4; k++) {
            char what[60];

            if (types[i] == (SQLSMALLINT)k && k > 0) {
                continue;
            }
            snprintf(what, sizeof what, "type %d, handle of type %zu",
                     types[i], k);
            want_rc(what, call(on, row, types[i], handles[k]),
                    SQL_INVALID_HANDLE);
        }
    }
}

static void wrong_parents(const struct book_on *on, const void *row)
{
    static const struct {
        SQLSMALLINT type, parent;
    } wrong[] = {
        { SQL_HANDLE_DBC, 0 },  { SQL_HANDLE_DBC, 2 },  { SQL_HANDLE_DBC, 3 },
        { SQL_HANDLE_STMT, 0 }, { SQL_HANDLE_STMT, 1 }, { SQL_HANDLE_STMT, 3 },
        { SQL_HANDLE_DESC, 0 }, { SQL_HANDLE_DESC, 1 }, { SQL_HANDLE_DESC, 3 },
    };
    SQLHANDLE handles[] = { SQL_NULL_HANDLE, on->env, on->dbc, on->stmt };

    (void)row;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        SQLHANDLE made = on->env;
        char what[60];

        snprintf(what, sizeof what, "type %d under one of type %d",
                 wrong[i].type, wrong[i].parent);
        want_rc(what,
                on->odbc->SQLAllocHandle(wrong[i].type,
                                         handles[wrong[i].parent], &made),
                SQL_INVALID_HANDLE);
        want("the output is SQL_NULL_HANDLE", made == SQL_NULL_HANDLE);
    }
}

/* ---- sequences that the manager would stop ----------------------------- */

static void children_before_version(const struct book_on *on, const void *row)
{
    SQLHENV env = SQL_NULL_HENV;
    SQLHDBC dbc = on->dbc;

    (void)row;
    want_rc("an environment",
            on->odbc->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env),
            SQL_SUCCESS);
    want_error(on, "a connection",
               on->odbc->SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc),
               SQL_HANDLE_ENV, env, "HY010");
    want("the output is SQL_NULL_HANDLE", dbc == SQL_NULL_HDBC);
    want_rc("its end", on->odbc->SQLFreeHandle(SQL_HANDLE_ENV, env),
            SQL_SUCCESS);
}

static void freeing_parents(const struct book_on *on, const void *row)
{
    const struct inner_calls *odbc = on->odbc;
    SQLHDESC ard = SQL_NULL_HDESC;
    SQLHDBC dbc = book_dbc(on);

    (void)row;
    odbc->SQLGetStmtAttr(on->stmt, SQL_ATTR_APP_ROW_DESC, &ard, 0, NULL);
    want_error(on, "an environment with connections",
               odbc->SQLFreeHandle(SQL_HANDLE_ENV, on->env), SQL_HANDLE_ENV,
               on->env, "HY010");
    want_error(on, "a connection that is open",
               odbc->SQLFreeHandle(SQL_HANDLE_DBC, on->dbc), SQL_HANDLE_DBC,
               on->dbc, "HY010");
    want_error(on, "a statement's own descriptor",
               odbc->SQLFreeHandle(SQL_HANDLE_DESC, ard), SQL_HANDLE_DESC, ard,
               "HY017");
    want_rc("one that is not open",
            odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    want_rc("and all is as before", book_exec(on, on->stmt, "SELECT 1"),
            SQL_SUCCESS);
    odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* Statements and descriptors end with the connection (SQLDisconnect,
   Comments). */
static void ended_by_disconnect(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_open(on, "");
    SQLHSTMT stmt[3];
    SQLHDESC desc = SQL_NULL_HDESC, ard = SQL_NULL_HDESC;

    (void)row;
    for (int i = 0; i < 3; i++) {
        stmt[i] = book_stmt(on, dbc);
    }
    on->odbc->SQLAllocHandle(SQL_HANDLE_DESC, dbc, &desc);
    on->odbc->SQLGetStmtAttr(stmt[1], SQL_ATTR_APP_ROW_DESC, &ard, 0, NULL);
    book_exec(on, stmt[2], "SELECT 1");
    want_rc("SQLDisconnect", on->odbc->SQLDisconnect(dbc), SQL_SUCCESS);
    for (int i = 0; i < 3; i++) {
        want_rc("a statement", on->odbc->SQLFetch(stmt[i]),
                SQL_INVALID_HANDLE);
    }
    want_rc("an explicit descriptor",
            on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, desc),
            SQL_INVALID_HANDLE);
    want_rc("an implicit descriptor",
            TEXT_CALL(on, SQLSetDescField)(ard, 0, SQL_DESC_COUNT, 0, 0),
            SQL_INVALID_HANDLE);
    want_rc("SQLFreeHandle", on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc),
            SQL_SUCCESS);
}

/* Appendix B, Connection Transitions: functions in C2 (allocated). */
static void unconnected(const struct book_on *on, const void *argument)
{
    const struct row *row = argument;
    SQLHDBC dbc = book_dbc(on);
    SQLRETURN rc = call(on, row, SQL_HANDLE_DBC, dbc);

    want("an answer by the book", rc == SQL_SUCCESS || rc == SQL_ERROR);
    if (rc == SQL_ERROR) {
        want("with a record",
             *book_state(on, SQL_HANDLE_DBC, dbc, 1) != '\0');
    }
    want_rc("it is still of use",
            on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
}

/* ---- states of a statement --------------------------------------------- */

static const int states[] = { 1, 2, 3, 4, 5, 6, 8, 9, 10 };

/* What the functions of a statement are given, behind the handle: arguments
   that the manager would let pass, since psqlODBC reads what pointers must
   point at. */
static char name_x[4] = "x"; /* so is its wide form */
static char room[4096];

#define X    (intptr_t)name_x, SQL_NTS
#define ROOM (intptr_t)room

static const struct {
    const char *name;
    intptr_t arguments[12];
} given[] = {
    { "SQLPrepare", { X } },
    { "SQLExecDirect", { X } },
    { "SQLExecute", { 0 } },
    { "SQLParamData", { ROOM } },
    { "SQLPutData", { X } },
    { "SQLBulkOperations", { SQL_ADD } },
    { "SQLSetPos", { 1, SQL_POSITION, SQL_LOCK_NO_CHANGE } },
    { "SQLCancel", { 0 } },
    { "SQLBindParam", { 1, SQL_C_CHAR, SQL_VARCHAR, 10, 0, ROOM, ROOM } },
    { "SQLBindParameter",
      { 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 10, 0, ROOM, 10, ROOM } },
    { "SQLDescribeParam", { 1, ROOM, ROOM, ROOM, ROOM } },
    { "SQLNumParams", { ROOM } },
    { "SQLFetch", { 0 } },
    { "SQLFetchScroll", { SQL_FETCH_NEXT, 0 } },
    { "SQLExtendedFetch", { SQL_FETCH_NEXT, 0, ROOM, ROOM } },
    { "SQLGetData", { 1, SQL_C_CHAR, ROOM, 100, ROOM } },
    { "SQLBindCol", { 1, SQL_C_CHAR, ROOM, 100, ROOM } },
    { "SQLMoreResults", { 0 } },
    { "SQLRowCount", { ROOM } },
    { "SQLNumResultCols", { ROOM } },
    { "SQLDescribeCol", { 1, ROOM, 100, ROOM, ROOM, ROOM, ROOM, ROOM } },
    { "SQLColAttribute", { 1, SQL_DESC_NAME, ROOM, 100, ROOM, ROOM } },
    { "SQLCloseCursor", { 0 } },
    { "SQLFreeStmt", { SQL_CLOSE } },
    { "SQLGetCursorName", { ROOM, 100, ROOM } },
    { "SQLSetCursorName", { X } },
    { "SQLSetStmtAttr", { SQL_ATTR_MAX_ROWS, 7, 0 } },
    { "SQLGetStmtAttr", { SQL_ATTR_MAX_ROWS, ROOM, 8, ROOM } },
    { "SQLTables", { X, X, X, X } },
    { "SQLColumns", { X, X, X, X } },
    { "SQLTablePrivileges", { X, X, X } },
    { "SQLColumnPrivileges", { X, X, X, X } },
    { "SQLPrimaryKeys", { X, X, X } },
    { "SQLForeignKeys", { X, X, X, X, X, X } },
    { "SQLSpecialColumns",
      { SQL_BEST_ROWID, X, X, X, SQL_SCOPE_SESSION, SQL_NULLABLE } },
    { "SQLStatistics", { X, X, X, SQL_INDEX_ALL, SQL_QUICK } },
    { "SQLProcedures", { X, X, X } },
    { "SQLProcedureColumns", { X, X, X, X } },
    { "SQLGetTypeInfo", { SQL_ALL_TYPES } },
};

static SQLRETURN call_given(const struct book_on *on, const struct row *row)
{
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        const intptr_t *a = given[i].arguments;

        if (strcmp(given[i].name, row->name) == 0) {
            return function(on, row)(on->stmt, a[0], a[1], a[2], a[3], a[4],
                                     a[5], a[6], a[7], a[8], a[9], a[10],
                                     a[11]);
        }
    }
    book_miss("%s is not listed in given[]", row->name);
    return SQL_ERROR;
}

static void in_states(const struct book_on *on, const void *argument)
{
    const struct row *row = argument;

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        struct book_on in = *on;
        char what[40];
        SQLRETURN rc;

        in.stmt = book_stmt(on, on->dbc);
        snprintf(what, sizeof what, "S%d", states[i]);
        want(what, book_bring(&in, states[i], "SELECT 1"));
        rc = call_given(&in, row);
        if (rc == SQL_INVALID_HANDLE) {
            book_miss("S%d: SQL_INVALID_HANDLE", states[i]);
        }
        on->odbc->SQLCancel(in.stmt);
        on->odbc->SQLFreeStmt(in.stmt, SQL_CLOSE);
        on->odbc->SQLFreeStmt(in.stmt, SQL_UNBIND);
        on->odbc->SQLFreeStmt(in.stmt, SQL_RESET_PARAMS);
        want_rc(what, book_exec(&in, in.stmt, "SELECT 1"), SQL_SUCCESS);
        on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, in.stmt);
    }
}

/* ---- the rules --------------------------------------------------------- */

static void try_rows(void)
{
    char name[160];

    for (const struct row *row = rows; row < rows + ROWS; row++) {
        unsigned ways = row->text ? BOOK_BELOW : BOOK_LOW;
        bool allocates = strcmp(row->name, "SQLAllocHandle") == 0;

        snprintf(name, sizeof name,
                 "%s, Returns: SQL_INVALID_HANDLE for what is no such handle",
                 row->name);
        if (!allocates) {
            book_try(BOOK_OURS, ways, name,
                     row->kind == ANY ? wrong_types : wrong_handles, row);
        }
        if (row->kind == DBC) {
            snprintf(name, sizeof name,
                     "Appendix B, Connection Transitions: %s in C2, all zeros",
                     row->name);
            book_try(BOOK_OURS, ways, name, unconnected, row);
        }
        if (row->kind == STMT) {
            snprintf(name, sizeof name,
                     "Appendix B, Statement Transitions: %s in all states",
                     row->name);
            book_try(BOOK_OURS, ways, name, in_states, row);
        }
    }
}

int main(void)
{
    try_rows();
    book_try(BOOK_OURS, BOOK_BELOW,
             "SQLAllocHandle, Returns: SQL_INVALID_HANDLE for a wrong parent",
             wrong_parents, NULL);
    book_try(BOOK_OURS, BOOK_BELOW,
             "Appendix B, Environment Transitions: SQLAllocHandle in E1, "
             "version not set",
             children_before_version, NULL);
    book_try(BOOK_OURS, BOOK_BELOW,
             "SQLFreeHandle, Diagnostics: HY010, HY017", freeing_parents, NULL);
    book_try(BOOK_OURS, BOOK_BELOW,
             "SQLDisconnect, Comments: statements and descriptors end",
             ended_by_disconnect, NULL);
    return book_end();
}
