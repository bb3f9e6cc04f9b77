/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Copying an inner handle's diagnostic records into a list of ours, by
 * whichever of its functions the inner driver has.
 */
#include "autoconf.h"

#include "diag.h"
#include "diag_inside.h"

#include <stdlib.h>
#include <string.h>

#include "inner.h"

enum {
    /* Characters asked of the inner driver at once: psqlODBC splits what is
       longer into further records, sloppy drivers count the bytes of this in
       16 bits. */
    MESSAGE_ROOM = 16000,
    FIELD_ROOM = 512,
    /* A driver that never says SQL_NO_DATA must not hang us (facts §4). */
    RECORDS_MAX = 1000
};

union message {
    SQLCHAR narrow[MESSAGE_ROOM];
    SQLWCHAR wide[MESSAGE_ROOM];
};

/* An inner handle whose records are read. */
struct source {
    const struct inner_calls *call;
    SQLSMALLINT type;
    SQLHANDLE handle;
    const char *instance;
    union message *message;
};

/* Drivers differ in what they count in TextLength, so the terminator decides
   as far as it goes. */
static size_t wide_length(const SQLWCHAR *units, size_t room)
{
    size_t length = 0;

    while (length < room && units[length]) {
        length++;
    }
    return length;
}

/* False: there is no such record. */
static bool read_wide(const struct source *from, SQLSMALLINT number,
                      struct diag_record *record)
{
    SQLWCHAR state[6] = { 0 };
    SQLSMALLINT length = 0;
    struct text text;

    from->message->wide[0] = 0;
    from->message->wide[MESSAGE_ROOM - 1] = 0;
    if (!SQL_SUCCEEDED(from->call->SQLGetDiagRecW(
            from->type, from->handle, number, state, &record->native,
            from->message->wide, MESSAGE_ROOM, &length))) {
        return false;
    }
    for (size_t i = 0; i < 5; i++) {
        record->state[i] = state[i] < 128 ? (char)state[i] : '?';
    }
    text_init(&text);
    text_append_utf16(&text, from->message->wide,
                      wide_length(from->message->wide, MESSAGE_ROOM - 1));
    record->utf8 = strdup(text_string(&text));
    text_free(&text);
    return true;
}

static void read_narrow(const struct source *from, SQLSMALLINT number,
                        struct diag_record *record)
{
    SQLCHAR state[6] = { 0 };
    SQLSMALLINT length = 0;

    from->message->narrow[0] = 0;
    from->message->narrow[MESSAGE_ROOM - 1] = 0;
    if (SQL_SUCCEEDED(from->call->SQLGetDiagRec(
            from->type, from->handle, number, state, &record->native,
            from->message->narrow, MESSAGE_ROOM, &length))) {
        memcpy(record->state, state, 5);
        record->narrow = strdup((const char *)from->message->narrow);
    }
}

/* The next record, which is gone from the driver then. */
static void take_by_error(const struct source *from,
                          struct diag_record *record)
{
    bool stmt = from->type == SQL_HANDLE_STMT;
    SQLCHAR state[6] = { 0 };
    SQLSMALLINT length = 0;

    from->message->narrow[0] = 0;
    from->message->narrow[MESSAGE_ROOM - 1] = 0;
    if (SQL_SUCCEEDED(from->call->SQLError(
            SQL_NULL_HENV, stmt ? SQL_NULL_HDBC : from->handle,
            stmt ? from->handle : SQL_NULL_HSTMT, state, &record->native,
            from->message->narrow, MESSAGE_ROOM - 1, &length))) {
        memcpy(record->state, state, 5);
        record->narrow = strdup((const char *)from->message->narrow);
    }
}

/* State, number and message, in each width that the driver has. */
static void read_message(const struct source *from, SQLSMALLINT number,
                         struct diag_record *record)
{
    bool there = true;

    if (from->call->SQLError) {
        take_by_error(from, record);
        return;
    }
    if (from->call->SQLGetDiagRecW) {
        there = read_wide(from, number, record);
    }
    if (there && from->call->SQLGetDiagRec) {
        read_narrow(from, number, record);
    }
}

/* A diagnostic field of the inner handle, in whichever width it has. */
static SQLRETURN ask_field(const struct source *from, SQLSMALLINT number,
                           SQLSMALLINT field, void *value, SQLSMALLINT size)
{
    __typeof__(SQLGetDiagField) *get = from->call->SQLGetDiagField ?
        from->call->SQLGetDiagField : from->call->SQLGetDiagFieldW;
    SQLSMALLINT length = 0;

    return get ? get(from->type, from->handle, number, field, value, size,
                     &length)
               : SQL_ERROR;
}

static bool read_field(const struct source *from, SQLSMALLINT number,
                       SQLSMALLINT field, void *value, SQLSMALLINT size)
{
    return SQL_SUCCEEDED(ask_field(from, number, field, value, size));
}

static char *read_text_field(const struct source *from, SQLSMALLINT number,
                             SQLSMALLINT field)
{
    SQLWCHAR buffer[FIELD_ROOM] = { 0 };
    struct text text;

    if (!read_field(from, number, field, buffer,
                    (SQLSMALLINT)(sizeof buffer - sizeof buffer[0]))) {
        return NULL;
    }
    if (from->call->SQLGetDiagField) {
        return strdup((const char *)buffer);
    }
    text_init(&text);
    text_append_utf16(&text, buffer, wide_length(buffer, FIELD_ROOM - 1));
    text_append(&text, "");
    return text_take(&text);
}

static void read_fields(const struct source *from, SQLSMALLINT number,
                        struct diag_record *record)
{
    record->row = SQL_ROW_NUMBER_UNKNOWN;
    record->column = SQL_COLUMN_NUMBER_UNKNOWN;
    read_field(from, number, SQL_DIAG_ROW_NUMBER, &record->row,
               SQL_IS_INTEGER);
    read_field(from, number, SQL_DIAG_COLUMN_NUMBER, &record->column,
               SQL_IS_INTEGER);
    record->class_origin =
        read_text_field(from, number, SQL_DIAG_CLASS_ORIGIN);
    record->subclass_origin =
        read_text_field(from, number, SQL_DIAG_SUBCLASS_ORIGIN);
    record->connection =
        read_text_field(from, number, SQL_DIAG_CONNECTION_NAME);
    record->server = read_text_field(from, number, SQL_DIAG_SERVER_NAME);
    if (record->server && strcmp(record->server, from->instance) == 0) {
        free(record->server);
        record->server = NULL;
    }
}

/* Record `number`, or NULL if there is none (or no memory for it). */
static struct diag_record *read_record(const struct source *from,
                                       SQLSMALLINT number)
{
    struct diag_record *record = calloc(1, sizeof *record);

    if (!record) {
        return NULL;
    }
    read_message(from, number, record);
    if (!record->narrow) {
        record->narrow = record->utf8;
        record->utf8 = NULL;
    }
    if (!record->narrow) {
        diag_free_record(record);
        return NULL;
    }
    if (record->utf8 && strcmp(record->utf8, record->narrow) == 0) {
        free(record->utf8);
        record->utf8 = NULL;
    }
    read_fields(from, number, record);
    return record;
}

/* Is there a record at all?  Asked before anything is allocated, as most of
   the SQL_NO_DATA results have none. */
static bool has_record(const struct source *from)
{
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;

    if (from->call->SQLGetDiagRecW) {
        SQLWCHAR state[6] = { 0 };

        return SQL_SUCCEEDED(from->call->SQLGetDiagRecW(
            from->type, from->handle, 1, state, &native, NULL, 0, &length));
    }
    if (from->call->SQLGetDiagRec) {
        SQLCHAR state[6] = { 0 };

        return SQL_SUCCEEDED(from->call->SQLGetDiagRec(
            from->type, from->handle, 1, state, &native, NULL, 0, &length));
    }
    return false;
}

static struct diag_record *read_records(const struct source *from)
{
    struct diag_record *first = NULL, **end = &first;

    for (SQLSMALLINT number = 1; number <= RECORDS_MAX; number++) {
        *end = read_record(from, number);
        if (!*end) {
            break;
        }
        end = &(*end)->next;
    }
    return first;
}

static void read_header(const struct source *from, struct diag_header *header)
{
    char *function = read_text_field(from, 0, SQL_DIAG_DYNAMIC_FUNCTION);

    header->no_row_count = !read_field(from, 0, SQL_DIAG_ROW_COUNT,
                                       &header->row_count, SQL_IS_INTEGER);
    header->no_cursor_row_count =
        !read_field(from, 0, SQL_DIAG_CURSOR_ROW_COUNT,
                    &header->cursor_row_count, SQL_IS_INTEGER);
    header->no_dynamic_function_code =
        !read_field(from, 0, SQL_DIAG_DYNAMIC_FUNCTION_CODE,
                    &header->dynamic_function_code, SQL_IS_INTEGER);
    header->dynamic_function_result = SQL_SUCCESS;
    if (!function) {
        SQLWCHAR none[2] = { 0 };

        header->dynamic_function_result = ask_field(
            from, 0, SQL_DIAG_DYNAMIC_FUNCTION, none, sizeof none[0]);
    } else {
        strncpy(header->dynamic_function, function,
                sizeof header->dynamic_function - 1);
        free(function);
    }
}

SQLRETURN diag_copy(struct diags *diags, const struct inner_calls *call,
                    SQLSMALLINT type, SQLHANDLE inner, const char *instance,
                    SQLRETURN result)
{
    struct source from = {
        .call = call, .type = type, .handle = inner, .instance = instance
    };
    struct diag_record *records = NULL;
    struct diag_header header = { 0 };

    lock_assert_none();
    if (result != SQL_INVALID_HANDLE && has_record(&from)) {
        from.message = malloc(sizeof *from.message);
    }
    if (from.message) {
        records = read_records(&from);
        if (type == SQL_HANDLE_STMT) {
            read_header(&from, &header);
        }
    }
    free(from.message);
    diag_append(diags, records, &header, result);
    return result;
}
