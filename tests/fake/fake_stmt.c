/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The fake driver's statements: what fake.h says of their texts.
 */
#include "autoconf.h"

#include "fake_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- executing -------------------------------------------------------------- */

static void answer_rows(struct fake *stmt, unsigned rows, unsigned columns)
{
    stmt->open = true;
    stmt->rows = rows;
    stmt->row = 0;
    stmt->columns = columns;
}

static SQLRETURN answer_name(struct fake *stmt)
{
    struct fake *dbc = stmt->parent;

    answer_rows(stmt, 1, 1);
    if (!fake_keyword(dbc, "FakeName", stmt->values[0], 64) &&
        !fake_keyword(dbc, "DSN", stmt->values[0], 64)) {
        snprintf(stmt->values[0], 64, "fake");
    }
    return SQL_SUCCESS;
}

static SQLRETURN answer_who(struct fake *stmt)
{
    struct fake *dbc = stmt->parent;
    char role[16] = "primary";

    answer_rows(stmt, 1, 6);
    fake_keyword(dbc, "FakeRole", role, sizeof role);
    snprintf(stmt->values[0], 64, "%d", strcmp(role, "standby") == 0);
    if (!fake_keyword(dbc, "FakeIdentity", stmt->values[1], 64)) {
        stmt->values[1][0] = '\0';
    }
    snprintf(stmt->values[2], 64, "1");
    snprintf(stmt->values[3], 64, "UTF8");
    snprintf(stmt->values[4], 64, "0");
    snprintf(stmt->values[5], 64, "%u", dbc->serial);
    return SQL_SUCCESS;
}

static SQLRETURN fail_as_told(struct fake *stmt, const char *state)
{
    fake_fail(stmt, state, "the statement was told to fail");
    stmt->records[1] = stmt->records[0];
    stmt->records[1].native = 43;
    snprintf(stmt->records[1].text, sizeof stmt->records[1].text,
             "second record");
    stmt->record_count = 2;
    return SQL_ERROR;
}

static SQLRETURN die(struct fake *stmt)
{
    stmt->parent->dead = true;
    return fake_fail(stmt, "08S01", "the fake died");
}

static SQLRETURN hang(struct fake *stmt)
{
    stmt->cancelled = false;
    stmt->executing = true;
    fake_hang(NULL, &stmt->cancelled);
    stmt->executing = false;
    return stmt->cancelled ? fake_fail(stmt, "HY008", "cancelled") :
        SQL_SUCCESS;
}

static bool dies_now(struct fake *dbc)
{
    unsigned runs = ++dbc->runs;
    char value[16];

    return fake_keyword(dbc, "FakeDie", value, sizeof value) &&
           runs == strtoul(value, NULL, 10);
}

static SQLRETURN run(struct fake *stmt)
{
    const char *text = stmt->text, *found;
    char value[16];

    stmt->record_count = 0;
    stmt->open = stmt->wants_data = false;
    if (stmt->parent->dead || dies_now(stmt->parent)) {
        return die(stmt);
    }
    if (fake_keyword(stmt->parent, "FakeSlow", value, sizeof value)) {
        fake_sleep((unsigned)strtoul(value, NULL, 10));
    }
    if (strstr(text, "fake_name")) {
        return answer_name(stmt);
    } else if (strstr(text, "pg_is_in_recovery")) {
        return answer_who(stmt);
    } else if ((found = strstr(text, "FAIL "))) {
        return fail_as_told(stmt, found + 5);
    } else if (strstr(text, "INFO")) {
        fake_fail(stmt, "01000", "just to say");
        return SQL_SUCCESS_WITH_INFO;
    } else if (strstr(text, "EMPTY")) {
        return SQL_NO_DATA;
    } else if (strstr(text, "MUTE")) {
        stmt->parent->dead = strstr(text, "DIE") != NULL;
        return SQL_ERROR;
    } else if (strstr(text, "DIE")) {
        return die(stmt);
    } else if (strstr(text, "HANG")) {
        return hang(stmt);
    } else if ((found = strstr(text, "ROWS "))) {
        answer_rows(stmt, (unsigned)strtoul(found + 5, NULL, 10), 1);
    } else if (strchr(text, '?')) {
        stmt->wants_data = true;
        stmt->asked = false;
        return SQL_NEED_DATA;
    }
    return SQL_SUCCESS;
}

static struct fake *take_text(SQLHSTMT handle, void *text, SQLINTEGER length,
                              enum text_width width)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);
    struct text utf8;

    if (stmt) {
        text_init(&utf8);
        text_append_argument(&utf8, text, length, width, TEXT_CHARACTERS);
        free(stmt->text);
        stmt->text = strdup(text_string(&utf8));
        text_free(&utf8);
    }
    return stmt;
}

/* A test that walks the table gives texts that are no pointers. */
static bool is_text(const void *text)
{
    return (uintptr_t)text >= 65536;
}

SQLRETURN do_SQLExecDirect(enum text_width width, SQLHSTMT handle, void *text,
                           SQLINTEGER length)
{
    struct fake *stmt;

    if (!is_text(text)) {
        return SQL_SUCCESS;
    }
    stmt = take_text(handle, text, length, width);
    return stmt ? run(stmt) : SQL_INVALID_HANDLE;
}

SQLRETURN do_SQLPrepare(enum text_width width, SQLHSTMT handle, void *text,
                        SQLINTEGER length)
{
    struct fake *stmt;

    if (!is_text(text)) {
        return SQL_SUCCESS;
    }
    stmt = take_text(handle, text, length, width);
    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    stmt->prepared = true;
    return SQL_SUCCESS;
}

SQLRETURN do_SQLExecute(SQLHSTMT handle)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    return stmt->prepared ? run(stmt) : SQL_SUCCESS;
}

SQLRETURN do_SQLParamData(SQLHSTMT handle, SQLPOINTER *value)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    if (stmt->wants_data && !stmt->asked) {
        stmt->asked = true;
        *value = stmt;
        return SQL_NEED_DATA;
    }
    stmt->wants_data = false;
    return SQL_SUCCESS;
}

SQLRETURN do_SQLCancel(SQLHSTMT handle)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    stmt->wants_data = false;
    stmt->cancelled = true;
    fake_wake();
    return SQL_SUCCESS;
}

/* ---- results ----------------------------------------------------------------- */

SQLRETURN do_SQLFetch(SQLHSTMT handle)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    stmt->record_count = 0;
    if (!stmt->open) {
        return SQL_SUCCESS; /* a walk of the table */
    }
    memset(stmt->read, 0, sizeof stmt->read);
    if (stmt->row == stmt->rows) {
        return SQL_NO_DATA;
    }
    stmt->row++;
    if (strstr(stmt->text, "ROWS ")) {
        snprintf(stmt->values[0], 64, "%u", stmt->row);
    }
    return SQL_SUCCESS;
}

static SQLRETURN write_value(struct fake *stmt, unsigned column,
                             SQLPOINTER value, SQLLEN room, SQLLEN *length,
                             enum text_width width)
{
    const char *text = stmt->values[column] + stmt->read[column];
    struct text_written written =
        text_write(text, strlen(text), value, room, width, TEXT_BYTES);

    if (*text == '\0' && stmt->read[column]) {
        return SQL_NO_DATA;
    }
    if (length) {
        *length = written.needed;
    }
    if (written.truncated) {
        stmt->read[column] += (size_t)(room > 0 ? room - 1 : 0);
        fake_fail(stmt, "01004", "cut");
        return SQL_SUCCESS_WITH_INFO;
    }
    stmt->read[column] += strlen(text);
    return SQL_SUCCESS;
}

SQLRETURN do_SQLGetData(SQLHSTMT handle, SQLUSMALLINT column,
                        SQLSMALLINT c_type, SQLPOINTER value, SQLLEN room,
                        SQLLEN *length)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    if (!stmt->open || column < 1 || column > stmt->columns) {
        return SQL_SUCCESS; /* a walk of the table */
    }
    return write_value(stmt, column - 1u, value, room, length,
                       c_type == SQL_C_WCHAR ? TEXT_WIDE : TEXT_NARROW);
}

SQLRETURN do_SQLNumResultCols(SQLHSTMT handle, SQLSMALLINT *count)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    if (is_text(count)) {
        *count = stmt->open ? (SQLSMALLINT)stmt->columns : 0;
    }
    return SQL_SUCCESS;
}

SQLRETURN do_SQLRowCount(SQLHSTMT handle, SQLLEN *count)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    if (is_text(count)) {
        *count = stmt->open ? (SQLLEN)stmt->rows : 0;
    }
    return SQL_SUCCESS;
}

SQLRETURN do_SQLDescribeCol(enum text_width width, SQLHSTMT handle,
                            SQLUSMALLINT column, void *name, SQLSMALLINT room,
                            SQLSMALLINT *length, SQLSMALLINT *type,
                            SQLULEN *size, SQLSMALLINT *scale,
                            SQLSMALLINT *nullable)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);
    struct text_written written;
    char text[16];

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    if (!stmt->open || column < 1 || column > stmt->columns) {
        return SQL_SUCCESS; /* a walk of the table */
    }
    snprintf(text, sizeof text, "c%u", column);
    written = text_write(text, strlen(text), name, room, width,
                         TEXT_CHARACTERS);
    if (length) {
        *length = (SQLSMALLINT)written.needed;
    }
    if (type) {
        *type = SQL_VARCHAR;
    }
    if (size) {
        *size = 63;
    }
    if (scale) {
        *scale = 0;
    }
    if (nullable) {
        *nullable = SQL_NULLABLE;
    }
    return SQL_SUCCESS;
}

static SQLRETURN close_cursor(SQLHSTMT handle)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    stmt->open = false;
    return SQL_SUCCESS;
}

SQLRETURN do_SQLCloseCursor(SQLHSTMT handle)
{
    return close_cursor(handle);
}

SQLRETURN do_SQLFreeStmt(SQLHSTMT handle, SQLUSMALLINT option)
{
    return option == SQL_CLOSE ? close_cursor(handle) : SQL_SUCCESS;
}

SQLRETURN do_SQLMoreResults(SQLHSTMT handle)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    stmt->open = false;
    return SQL_NO_DATA;
}
