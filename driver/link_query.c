/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Statements of our own over a link.  They run without a time-out of the
 * inner driver, because psqlODBC turns one into SET statement_timeout and
 * remembers it for the next user (rules §4.5); their time is bounded by
 * whoever waits.
 */
#include "autoconf.h"

#include "link_call.h"
#include "lock.h"
#include "text.h"

#include <stdlib.h>

enum { COLUMNS_MAX = 32 };

/* Reads one column whole; *null tells SQL NULL from "". */
static SQLRETURN read_value(const struct link *link, SQLHSTMT stmt,
                            unsigned column, struct text *value, bool *null)
{
    char piece[1024];
    SQLLEN length;
    SQLRETURN rc;

    text_clear(value);
    *null = false;
    do {
        rc = link->inner->call.SQLGetData(stmt, (SQLUSMALLINT)column,
                                          SQL_C_CHAR, piece, sizeof piece,
                                          &length);
        if (!SQL_SUCCEEDED(rc)) {
            break;
        }
        if (length == SQL_NULL_DATA) {
            *null = true;
            return SQL_SUCCESS;
        }
        text_append(value, piece);
    } while (rc == SQL_SUCCESS_WITH_INFO);
    return rc == SQL_NO_DATA ? SQL_SUCCESS : rc;
}

static SQLRETURN read_row(const struct link *link, SQLHSTMT stmt,
                          unsigned count, struct text *texts,
                          const char **values, bool *lost)
{
    for (unsigned i = 0; i < count; i++) {
        bool null;
        SQLRETURN rc = read_value(link, stmt, i + 1, &texts[i], &null);
        if (!SQL_SUCCEEDED(rc)) {
            return rc;
        }
        if (texts[i].failed) {
            *lost = true;
            return SQL_ERROR;
        }
        values[i] = null ? NULL : text_string(&texts[i]);
    }
    return SQL_SUCCESS;
}

/* *lost: there was no memory for a value. */
static SQLRETURN read_rows(const struct link *link, SQLHSTMT stmt,
                           link_row *row, void *arg, bool *lost)
{
    struct text texts[COLUMNS_MAX] = { { 0 } };
    const char *values[COLUMNS_MAX];
    SQLSMALLINT count = 0;
    SQLRETURN rc;
    bool more = true;

    rc = link->inner->call.SQLNumResultCols(stmt, &count);
    if (count > COLUMNS_MAX) {
        count = COLUMNS_MAX;
    }
    while (more && count > 0 && SQL_SUCCEEDED(rc)) {
        rc = link->inner->call.SQLFetch(stmt);
        if (SQL_SUCCEEDED(rc)) {
            rc = read_row(link, stmt, (unsigned)count, texts, values, lost);
        }
        if (SQL_SUCCEEDED(rc)) {
            more = row(arg, (unsigned)count, values);
        }
    }
    for (int i = 0; i < count; i++) {
        text_free(&texts[i]);
    }
    return rc == SQL_NO_DATA ? SQL_SUCCESS : rc;
}

bool link_query(struct link *link, const char *sql, link_row *row, void *arg,
                struct link_error *error)
{
    const struct inner_calls *call = &link->inner->call;
    SQLHSTMT stmt = SQL_NULL_HSTMT;
    bool lost = false;
    SQLRETURN rc;

    lock_assert_none();
    rc = call->SQLAllocHandle(SQL_HANDLE_STMT, link->hdbc, &stmt);
    if (!SQL_SUCCEEDED(rc)) {
        link_take_error(link, SQL_HANDLE_DBC, link->hdbc, error);
        return false;
    }
    call->SQLSetStmtAttr(stmt, SQL_ATTR_QUERY_TIMEOUT, 0, 0);
    call->SQLSetStmtAttr(stmt, SQL_ATTR_MAX_ROWS, 0, 0);
    rc = call->SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS);
    if (SQL_SUCCEEDED(rc) && row) {
        rc = read_rows(link, stmt, row, arg, &lost);
    }
    if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA) {
        link_take_error(link, SQL_HANDLE_STMT, stmt, error);
        if (lost) {
            link_set_error(error, "HY000", "out of memory");
        }
        call->SQLFreeHandle(SQL_HANDLE_STMT, stmt);
        return false;
    }
    call->SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return true;
}

bool link_execute(struct link *link, const char *sql,
                  struct link_error *error)
{
    return link_query(link, sql, NULL, NULL, error);
}
