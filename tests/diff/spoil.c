/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Attributes that no one can put back, so that the session's link is closed
 * instead of reused: the next one must see nothing of them all the more.
 */
#include "diff.h"

void subject_spoil(void);

void subject_spoil(void)
{
    SQLHSTMT stmt = stmt_new();

    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_CURRENT_CATALOG,
              IN("another"), SQL_NTS);
    CALL_TEXT(SQLGetConnectAttr, run.dbc, SQL_ATTR_CURRENT_CATALOG, TEXT(0),
              BYTES(60), &out.integer[0]);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_TRANSLATE_LIB, IN("a.so"),
              SQL_NTS);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_PACKET_SIZE, (void *)4096,
              SQL_IS_UINTEGER);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, 65536 + 7, (void *)1,
              SQL_IS_UINTEGER);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_QUIET_MODE, NULL,
              SQL_IS_POINTER);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_ASYNC_ENABLE,
              (void *)SQL_ASYNC_ENABLE_ON, SQL_IS_UINTEGER);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_CONNECTION_TIMEOUT,
              (void *)44, SQL_IS_UINTEGER);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, 4711, (void *)1, SQL_IS_UINTEGER);
    show(stmt, "SELECT 1");
}
