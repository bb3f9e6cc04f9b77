/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "conform.h"

static SQLLEN at_execution = SQL_DATA_AT_EXEC;

static bool is_asked(const struct book_on *on)
{
    on->odbc->SQLBindParameter(on->stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
                               SQL_VARCHAR, 10, 0, (SQLPOINTER)1, 0,
                               &at_execution);
    return book_exec(on, on->stmt, "SELECT ?::text") == SQL_NEED_DATA;
}

static bool is_prepared(const struct book_on *on, const char *sql)
{
    return TEXT_CALL(on, SQLPrepare)(on->stmt, in(on, sql), SQL_NTS) ==
           SQL_SUCCESS;
}

bool book_bring(const struct book_on *on, int state, const char *query)
{
    SQLPOINTER token;

    switch (state) {
    case 1:
        return true;
    case 2:
        return is_prepared(on, "SET work_mem = '1MB'");
    case 3:
        return is_prepared(on, query);
    case 4:
        return book_exec(on, on->stmt, "SET work_mem = '1MB'") == SQL_SUCCESS;
    case 5:
        return book_exec(on, on->stmt, query) == SQL_SUCCESS;
    case 6:
        return book_bring(on, 5, query) &&
               on->odbc->SQLFetch(on->stmt) == SQL_SUCCESS;
    case 8:
        return is_asked(on);
    case 9:
        return book_bring(on, 8, query) &&
               on->odbc->SQLParamData(on->stmt, &token) == SQL_NEED_DATA;
    case 10:
        return book_bring(on, 9, query) &&
               on->odbc->SQLPutData(on->stmt, (SQLPOINTER)"x", 1) ==
                   SQL_SUCCESS;
    default:
        return false;
    }
}
