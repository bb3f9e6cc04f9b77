/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Connection and statement attributes: read, set, read again, wrong.  What is
 * set on the connection is a default for statements that come; none of it may
 * be there for the next session.
 */
#include "diff.h"

void subject_attrs(void);

static const SQLINTEGER numbers[] = {
    SQL_ATTR_ACCESS_MODE, SQL_ATTR_ASYNC_ENABLE, SQL_ATTR_AUTO_IPD,
    SQL_ATTR_AUTOCOMMIT, SQL_ATTR_CONNECTION_DEAD, SQL_ATTR_CONNECTION_TIMEOUT,
    SQL_ATTR_LOGIN_TIMEOUT, SQL_ATTR_METADATA_ID, SQL_ATTR_ODBC_CURSORS,
    SQL_ATTR_PACKET_SIZE, SQL_ATTR_TXN_ISOLATION, SQL_ATTR_ENLIST_IN_DTC,
    SQL_ATTR_DISCONNECT_BEHAVIOR, SQL_ATTR_TRANSLATE_OPTION, 65536, 4711
};

static const SQLINTEGER statement_numbers[] = {
    SQL_ATTR_ASYNC_ENABLE, SQL_ATTR_CONCURRENCY, SQL_ATTR_CURSOR_SCROLLABLE,
    SQL_ATTR_CURSOR_SENSITIVITY, SQL_ATTR_CURSOR_TYPE,
    SQL_ATTR_ENABLE_AUTO_IPD, SQL_ATTR_FETCH_BOOKMARK_PTR,
    SQL_ATTR_KEYSET_SIZE, SQL_ATTR_MAX_LENGTH, SQL_ATTR_MAX_ROWS,
    SQL_ATTR_METADATA_ID, SQL_ATTR_NOSCAN, SQL_ATTR_PARAM_BIND_OFFSET_PTR,
    SQL_ATTR_PARAM_BIND_TYPE, SQL_ATTR_PARAM_OPERATION_PTR,
    SQL_ATTR_PARAM_STATUS_PTR, SQL_ATTR_PARAMS_PROCESSED_PTR,
    SQL_ATTR_PARAMSET_SIZE, SQL_ATTR_QUERY_TIMEOUT, SQL_ATTR_RETRIEVE_DATA,
    SQL_ATTR_ROW_ARRAY_SIZE, SQL_ATTR_ROW_BIND_OFFSET_PTR,
    SQL_ATTR_ROW_BIND_TYPE, SQL_ATTR_ROW_NUMBER, SQL_ATTR_ROW_OPERATION_PTR,
    SQL_ATTR_ROW_STATUS_PTR, SQL_ATTR_ROWS_FETCHED_PTR,
    SQL_ATTR_SIMULATE_CURSOR, SQL_ATTR_USE_BOOKMARKS, SQL_ROWSET_SIZE,
    4711
};

/* Statement attributes that psqlODBC takes on a connection as well, and values
   that are not the defaults. */
static const struct {
    SQLINTEGER attribute;
    size_t value;
} defaults[] = {
    { SQL_ATTR_MAX_ROWS, 3 },
    { SQL_ATTR_QUERY_TIMEOUT, 55 },
    { SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC },
    { SQL_ATTR_CONCURRENCY, SQL_CONCUR_ROWVER },
    { SQL_ATTR_MAX_LENGTH, 4 },
    { SQL_ATTR_NOSCAN, SQL_NOSCAN_ON },
    { SQL_ATTR_USE_BOOKMARKS, SQL_UB_VARIABLE },
    { SQL_ATTR_RETRIEVE_DATA, SQL_RD_OFF },
    { SQL_ATTR_KEYSET_SIZE, 9 },
    { SQL_ATTR_ROW_BIND_TYPE, 64 },
    { SQL_ROWSET_SIZE, 2 },
    { SQL_ATTR_METADATA_ID, SQL_TRUE },
    { SQL_ATTR_ACCESS_MODE, SQL_MODE_READ_ONLY },
    { SQL_ATTR_TXN_ISOLATION, SQL_TXN_SERIALIZABLE },
    { SQL_ATTR_AUTOCOMMIT, SQL_AUTOCOMMIT_OFF },
    { SQL_ATTR_LOGIN_TIMEOUT, 44 },
};

static void read_all(void)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        say("attribute %d", (int)numbers[i]);
        CALL_TEXT(SQLGetConnectAttr, run.dbc, numbers[i], &out.len[0],
                  SQL_IS_UINTEGER, &out.integer[0]);
    }
    CALL_TEXT(SQLGetConnectAttr, run.dbc, SQL_ATTR_CURRENT_CATALOG, TEXT(0),
              BYTES(60), &out.integer[0]);
    CALL_TEXT(SQLGetConnectAttr, run.dbc, SQL_ATTR_CURRENT_CATALOG, TEXT(0),
              BYTES(3), &out.integer[0]);
    CALL_TEXT(SQLGetConnectAttr, run.dbc, SQL_ATTR_CURRENT_CATALOG, NULL, 0,
              &out.integer[0]);
    CALL_TEXT(SQLGetConnectAttr, run.dbc, SQL_ATTR_TRANSLATE_LIB, TEXT(0),
              BYTES(60), &out.integer[0]);
}

static void read_statement(SQLHSTMT stmt)
{
    for (size_t i = 0; i < sizeof statement_numbers / 4; i++) {
        say("attribute %d", (int)statement_numbers[i]);
        CALL_TEXT(SQLGetStmtAttr, stmt, statement_numbers[i], &out.ulen[0], 0,
                  &out.integer[0]);
    }
}

static void set_statement(SQLHSTMT stmt)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        say("attribute %d", (int)defaults[i].attribute);
        CALL_TEXT(SQLSetStmtAttr, stmt, defaults[i].attribute,
                  (void *)defaults[i].value, SQL_IS_UINTEGER);
    }
}

static void set_connection(void)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        say("attribute %d", (int)defaults[i].attribute);
        CALL_TEXT(SQLSetConnectAttr, run.dbc, defaults[i].attribute,
                  (void *)defaults[i].value, SQL_IS_UINTEGER);
    }
}

void subject_attrs(void)
{
    SQLHSTMT before = stmt_new(), after;

    read_all();
    read_statement(before);
    show(before, run.dialect->series); /* the next session's are all there */
    set_statement(before);
    read_statement(before);
    set_connection();
    read_all();
    after = stmt_new();
    read_statement(after);
    show(after, run.dialect->series);
    show(after, "SELECT name FROM parent ORDER BY id");
}
