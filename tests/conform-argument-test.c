/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Arguments that the reference does not allow, one result a call: each must be
 * the SQLSTATE that the function's page lists (Diagnostics), whoever finds it.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static SQLWCHAR text[100];
static char room[100];
static SQLLEN length;
static SQLULEN size;
static SQLSMALLINT small[4];
static SQLUSMALLINT status[4];

/* ---- the calls --------------------------------------------------------- */

#define CALL(label, name, ...) \
    static SQLRETURN label(const struct book_on *on) \
    { \
        return on->odbc->name(__VA_ARGS__); \
    }
#define CALL_TEXT(label, name, ...) \
    static SQLRETURN label(const struct book_on *on) \
    { \
        return TEXT_CALL(on, name)(__VA_ARGS__); \
    }
#define NONE NULL, 0

CALL(bind_col_type, SQLBindCol, on->stmt, 1, 4711, room, 10, &length)
CALL(bind_col_room, SQLBindCol, on->stmt, 1, SQL_C_CHAR, room, -7, &length)
CALL(bind_col_zero, SQLBindCol, on->stmt, 0, SQL_C_CHAR, room, 10, &length)
CALL(bind_number, SQLBindParameter, on->stmt, 0, SQL_PARAM_INPUT, SQL_C_CHAR,
     SQL_CHAR, 10, 0, room, 10, &length)
CALL(bind_c_type, SQLBindParameter, on->stmt, 1, SQL_PARAM_INPUT, 4711,
     SQL_CHAR, 10, 0, room, 10, &length)
CALL(bind_direction, SQLBindParameter, on->stmt, 1, 77, SQL_C_CHAR, SQL_CHAR,
     10, 0, room, 10, &length)
CALL(bind_room, SQLBindParameter, on->stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
     SQL_CHAR, 10, 0, room, -7, &length)
CALL_TEXT(describe_far, SQLDescribeCol, on->stmt, 99, (void *)text, 100, small,
          small + 1, &size, small + 2, small + 3)
CALL_TEXT(describe_zero, SQLDescribeCol, on->stmt, 0, (void *)text, 100, small,
          small + 1, &size, small + 2, small + 3)
CALL_TEXT(describe_room, SQLDescribeCol, on->stmt, 1, (void *)text, -1, small,
          small + 1, &size, small + 2, small + 3)
CALL_TEXT(attribute_field, SQLColAttribute, on->stmt, 1, 4711, text, 100,
          small, &length)
CALL_TEXT(attribute_far, SQLColAttribute, on->stmt, 99, SQL_DESC_NAME, text,
          100, small, &length)
CALL(fetch_orientation, SQLFetchScroll, on->stmt, 99, 0)
CALL(extended_orientation, SQLExtendedFetch, on->stmt, 99, 0, &size, status)
CALL(set_pos_operation, SQLSetPos, on->stmt, 1, 99, SQL_LOCK_NO_CHANGE)
CALL(set_pos_lock, SQLSetPos, on->stmt, 1, SQL_POSITION, 99)
CALL(set_pos_row, SQLSetPos, on->stmt, 99, SQL_POSITION, SQL_LOCK_NO_CHANGE)
CALL(bulk_operation, SQLBulkOperations, on->stmt, 99)
CALL(free_option, SQLFreeStmt, on->stmt, 99)
CALL(type_info, SQLGetTypeInfo, on->stmt, 4711)
CALL_TEXT(special_kind, SQLSpecialColumns, on->stmt, 99, NONE, NONE,
          in(on, "t"), SQL_NTS, SQL_SCOPE_SESSION, SQL_NULLABLE)
CALL_TEXT(special_scope, SQLSpecialColumns, on->stmt, SQL_BEST_ROWID, NONE,
          NONE, in(on, "t"), SQL_NTS, 99, SQL_NULLABLE)
CALL_TEXT(special_nullable, SQLSpecialColumns, on->stmt, SQL_BEST_ROWID, NONE,
          NONE, in(on, "t"), SQL_NTS, SQL_SCOPE_SESSION, 99)
CALL_TEXT(statistics_unique, SQLStatistics, on->stmt, NONE, NONE, in(on, "t"),
          SQL_NTS, 99, SQL_QUICK)
CALL_TEXT(statistics_accuracy, SQLStatistics, on->stmt, NONE, NONE,
          in(on, "t"), SQL_NTS, SQL_INDEX_ALL, 99)
CALL_TEXT(cursor_room, SQLGetCursorName, on->stmt, (void *)text, -1, small)
CALL_TEXT(cursor_empty, SQLSetCursorName, on->stmt, in(on, ""), SQL_NTS)
CALL_TEXT(cursor_reserved, SQLSetCursorName, on->stmt, in(on, "SQL_CURx"),
          SQL_NTS)
CALL_TEXT(cursor_length, SQLSetCursorName, on->stmt, in(on, "x"), -7)
CALL_TEXT(native_null, SQLNativeSql, on->dbc, NULL, SQL_NTS, (void *)text, 100,
          NULL)
CALL_TEXT(native_length, SQLNativeSql, on->dbc, in(on, "x"), -7, (void *)text,
          100, NULL)
CALL_TEXT(info_room, SQLGetInfo, on->dbc, SQL_DBMS_NAME, text, -1, small)
CALL(end_completion, SQLEndTran, SQL_HANDLE_DBC, on->dbc, 7)
CALL(end_type, SQLEndTran, SQL_HANDLE_STMT, on->stmt, SQL_COMMIT)
CALL(functions_number, SQLGetFunctions, on->dbc, 4321, status)
CALL_TEXT(tables_lengths, SQLTables, on->stmt, NONE, NONE, in(on, "t"), -7,
          NONE)
CALL_TEXT(columns_lengths, SQLColumns, on->stmt, NONE, NONE, in(on, "t"), -7,
          NONE)
CALL_TEXT(keys_lengths, SQLPrimaryKeys, on->stmt, NONE, NONE, in(on, "t"), -7)
CALL_TEXT(foreign_nothing, SQLForeignKeys, on->stmt, NONE, NONE, NONE, NONE,
          NONE, NONE)
CALL_TEXT(set_size, SQLSetStmtAttr, on->stmt, SQL_ATTR_ROW_ARRAY_SIZE,
          (SQLPOINTER)0, 0)
CALL_TEXT(set_concurrency, SQLSetStmtAttr, on->stmt, SQL_ATTR_CONCURRENCY,
          (SQLPOINTER)99, 0)
CALL_TEXT(set_nodesc, SQLSetStmtAttr, on->stmt, SQL_ATTR_APP_ROW_DESC,
          on->dbc, 0)
CALL_TEXT(isolation, SQLSetConnectAttr, on->dbc, SQL_ATTR_TXN_ISOLATION,
          (SQLPOINTER)99, 0)
CALL_TEXT(access, SQLSetConnectAttr, on->dbc, SQL_ATTR_ACCESS_MODE,
          (SQLPOINTER)99, 0)

/* ---- the table --------------------------------------------------------- */

/* Before the call there is nothing, or a SELECT's cursor on its row. */
enum before { NEW, ON_ROW };

static const struct wrong {
    const char *name;
    enum before before;
    SQLRETURN (*call)(const struct book_on *on);
    SQLSMALLINT type; /* of the handle that has the records */
    const char *states;
} wrongs[] = {
#define ROW(what, before, call, type, states) \
    { what, before, call, SQL_HANDLE_##type, states },
    ROW("SQLBindCol, TargetType", NEW, bind_col_type, STMT, "HY003")
    ROW("SQLBindCol, BufferLength", NEW, bind_col_room, STMT, "HY090")
    ROW("SQLBindCol, column 0", NEW, bind_col_zero, STMT, "07009")
    ROW("SQLBindParameter, ParameterNumber", NEW, bind_number, STMT, "07009")
    ROW("SQLBindParameter, ValueType", NEW, bind_c_type, STMT, "HY003")
    ROW("SQLBindParameter, InputOutputType", NEW, bind_direction, STMT,
        "HY105")
    ROW("SQLBindParameter, BufferLength", NEW, bind_room, STMT, "HY090")
    ROW("SQLDescribeCol, column 99", ON_ROW, describe_far, STMT, "07009")
    ROW("SQLDescribeCol, column 0", ON_ROW, describe_zero, STMT, "07009")
    ROW("SQLDescribeCol, BufferLength", ON_ROW, describe_room, STMT, "HY090")
    ROW("SQLColAttribute, FieldIdentifier", ON_ROW, attribute_field, STMT,
        "HY091")
    ROW("SQLColAttribute, column 99", ON_ROW, attribute_far, STMT, "07009")
    ROW("SQLFetchScroll, FetchOrientation", ON_ROW, fetch_orientation, STMT,
        "HY106")
    ROW("SQLExtendedFetch, FetchOrientation", NEW, extended_orientation, STMT,
        "HY106 HY010")
    ROW("SQLSetPos, Operation", ON_ROW, set_pos_operation, STMT, "HY092")
    ROW("SQLSetPos, LockType", ON_ROW, set_pos_lock, STMT, "HY092")
    ROW("SQLSetPos, RowNumber", ON_ROW, set_pos_row, STMT, "HY107 HY109")
    ROW("SQLBulkOperations, Operation", ON_ROW, bulk_operation, STMT, "HY092")
    ROW("SQLFreeStmt, Option", NEW, free_option, STMT, "HY092")
    ROW("SQLGetTypeInfo, DataType", NEW, type_info, STMT, "HY004")
    ROW("SQLSpecialColumns, IdentifierType", NEW, special_kind, STMT, "HY097")
    ROW("SQLSpecialColumns, Scope", NEW, special_scope, STMT, "HY098")
    ROW("SQLSpecialColumns, Nullable", NEW, special_nullable, STMT, "HY099")
    ROW("SQLStatistics, Unique", NEW, statistics_unique, STMT, "HY100")
    ROW("SQLStatistics, Reserved", NEW, statistics_accuracy, STMT, "HY101")
    ROW("SQLGetCursorName, BufferLength", NEW, cursor_room, STMT, "HY090")
    ROW("SQLSetCursorName, an empty name", NEW, cursor_empty, STMT, "34000")
    ROW("SQLSetCursorName, a reserved name", NEW, cursor_reserved, STMT,
        "34000")
    ROW("SQLSetCursorName, NameLength", NEW, cursor_length, STMT, "HY090")
    ROW("SQLNativeSql, a null pointer", NEW, native_null, DBC, "HY009")
    ROW("SQLNativeSql, TextLength1", NEW, native_length, DBC, "HY090")
    ROW("SQLGetInfo, BufferLength", NEW, info_room, DBC, "HY090")
    ROW("SQLEndTran, CompletionType", NEW, end_completion, DBC, "HY012")
    ROW("SQLEndTran, HandleType", NEW, end_type, STMT, "HY092")
    ROW("SQLGetFunctions, FunctionId", NEW, functions_number, DBC, "HY095")
    ROW("SQLTables, NameLength3", NEW, tables_lengths, STMT, "HY090")
    ROW("SQLColumns, NameLength3", NEW, columns_lengths, STMT, "HY090")
    ROW("SQLPrimaryKeys, NameLength3", NEW, keys_lengths, STMT, "HY090")
    ROW("SQLForeignKeys, no table", NEW, foreign_nothing, STMT, "HY009")
    ROW("SQLSetStmtAttr, SQL_ATTR_ROW_ARRAY_SIZE 0", NEW, set_size, STMT,
        "HY024")
    ROW("SQLSetStmtAttr, SQL_ATTR_CONCURRENCY", NEW, set_concurrency, STMT,
        "HY024")
    ROW("SQLSetStmtAttr, a descriptor that is none", NEW, set_nodesc, STMT,
        "HY024")
    ROW("SQLSetConnectAttr, SQL_ATTR_TXN_ISOLATION", NEW, isolation, DBC,
        "HY024")
    ROW("SQLSetConnectAttr, SQL_ATTR_ACCESS_MODE", NEW, access, DBC, "HY024")
#undef ROW
};

/* ---- trying ------------------------------------------------------------ */

static void refused(const struct book_on *on, const void *row)
{
    const struct wrong *w = row;
    SQLHANDLE handle = w->type == SQL_HANDLE_DBC ? on->dbc : on->stmt;

    if (w->before == ON_ROW) {
        want_rc("SQLExecDirect", book_exec(on, on->stmt, "SELECT 1"),
                SQL_SUCCESS);
        want_rc("SQLFetchScroll",
                on->odbc->SQLFetchScroll(on->stmt, SQL_FETCH_NEXT, 0),
                SQL_SUCCESS);
    }
    want_error(on, "the call", w->call(on), w->type, handle, w->states);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
    on->odbc->SQLFreeStmt(on->stmt, SQL_RESET_PARAMS);
    TEXT_CALL(on, SQLSetConnectAttr)(on->dbc, SQL_ATTR_ACCESS_MODE,
                                     (SQLPOINTER)SQL_MODE_READ_WRITE, 0);
    want_rc("the statement afterwards", book_exec(on, on->stmt, "SELECT 1"),
            SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

int main(void)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        char name[160];

        snprintf(name, sizeof name, "Diagnostics of %s", wrongs[i].name);
        book_try(BOOK_INNER, BOOK_MANAGED, name, refused, &wrongs[i]);
    }
    return book_end();
}
