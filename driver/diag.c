/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Filling and emptying a handle's list of diagnostic records: our own, and
 * copies of the inner driver's.  How a list is read is diag_field.c's.
 *
 * A list that cannot grow for want of memory loses a record, never the result
 * of the call: SQL_ERROR without a record is what ODBC itself knows for that.
 */
#include "autoconf.h"

#include "diag.h"

#include <stdarg.h>
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

static const struct {
    char state[6];
    SQLINTEGER native;
    const char *text;
} codes[] = {
#define DIAG(code, state, native, text) { state, native, text },
#include "diag.def"
};

const char *why_state(enum why_code code)
{
    return codes[code].state;
}

SQLINTEGER why_native(enum why_code code)
{
    return codes[code].native;
}

void diag_init(struct diags *diags, const char *dsn)
{
    memset(diags, 0, sizeof *diags);
    mutex_init(&diags->lock, LOCK_DIAG);
    diags->dsn = dsn;
}

void diag_name(struct diags *diags, const char *dsn)
{
    mutex_lock(&diags->lock);
    diags->dsn = dsn;
    mutex_unlock(&diags->lock);
}

static void free_record(struct diag_record *record)
{
    free(record->narrow);
    free(record->utf8);
    free(record->class_origin);
    free(record->subclass_origin);
    free(record->connection);
    free(record->server);
    free(record);
}

static void free_records(struct diag_record *record)
{
    while (record) {
        struct diag_record *next = record->next;

        free_record(record);
        record = next;
    }
}

void diag_wipe(struct diags *diags)
{
    struct diag_record *old;

    mutex_lock(&diags->lock);
    old = diags->first;
    diags->first = NULL;
    diags->result = SQL_SUCCESS;
    diags->header = (struct diag_header){ 0 };
    atomic_store_explicit(&diags->aside, false, memory_order_relaxed);
    atomic_store_explicit(&diags->dirty, false, memory_order_relaxed);
    mutex_unlock(&diags->lock);
    free_records(old);
}

void diag_set_aside(struct diags *diags, bool aside)
{
    atomic_store_explicit(&diags->aside, aside, memory_order_relaxed);
    if (aside) {
        atomic_store_explicit(&diags->dirty, true, memory_order_relaxed);
    }
}

void diag_free(struct diags *diags)
{
    free_records(diags->first);
    diags->first = NULL;
    mutex_destroy(&diags->lock);
}

static SQLRETURN note_result_locked(struct diags *diags, SQLRETURN result)
{
    mutex_assert_held(&diags->lock);
    diags->result = result;
    if (result != SQL_SUCCESS) {
        atomic_store_explicit(&diags->dirty, true, memory_order_relaxed);
    }
    return result;
}

SQLRETURN diag_result(struct diags *diags, SQLRETURN result)
{
    mutex_lock(&diags->lock);
    note_result_locked(diags, result);
    mutex_unlock(&diags->lock);
    return result;
}

/* ---- records of ours ------------------------------------------------- */

/* Where a new record of ours goes: behind ours, before the inner driver's. */
static struct diag_record **end_of_ours_locked(struct diags *diags)
{
    struct diag_record **place = &diags->first;

    mutex_assert_held(&diags->lock);
    while (*place && (*place)->ours) {
        place = &(*place)->next;
    }
    return place;
}

static struct diag_record *make_ours(enum why_code code, const char *dsn,
                                     const char *sentence)
{
    struct diag_record *record = calloc(1, sizeof *record);
    struct text text;

    text_init(&text);
    text_append(&text, "[odbc-affinity]");
    if (dsn && *dsn) {
        text_appendf(&text, "[%s]", dsn);
    }
    text_appendf(&text, " %s", *sentence ? sentence : codes[code].text);
    if (record) {
        record->ours = true;
        memcpy(record->state, codes[code].state, sizeof record->state);
        record->native = codes[code].native;
        record->row = SQL_NO_ROW_NUMBER;
        record->column = SQL_NO_COLUMN_NUMBER;
        record->narrow = text_take(&text);
    }
    text_free(&text);
    return record;
}

SQLRETURN diag_why(struct diags *diags, const struct why *why)
{
    struct diag_record *record = NULL;
    struct diag_record **place;
    SQLRETURN result = SQL_ERROR;

    if (why->code == WHY_NONE) {
        return SQL_SUCCESS;
    }
    if (strncmp(codes[why->code].state, "01", 2) == 0) {
        result = SQL_SUCCESS_WITH_INFO;
    }
    mutex_lock(&diags->lock);
    place = end_of_ours_locked(diags);
    if (why->code != WHY_INNER || !*place) {
        record = make_ours(why->code, diags->dsn, why->text);
    }
    if (record) {
        record->next = *place;
        *place = record;
    }
    note_result_locked(diags, result);
    mutex_unlock(&diags->lock);
    return result;
}

SQLRETURN diag_add(struct diags *diags, enum why_code code,
                   const char *format, ...)
{
    struct why why;
    va_list arguments;

    va_start(arguments, format);
    why_vset(&why, code, format, arguments);
    va_end(arguments);
    return diag_why(diags, &why);
}

/* ---- the inner driver's ---------------------------------------------- */

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

static SQLRETURN read_wide(const struct source *from, SQLSMALLINT number,
                           struct diag_record *record)
{
    SQLWCHAR state[6] = { 0 };
    SQLSMALLINT length = 0;
    struct text text;
    SQLRETURN rc;

    from->message->wide[0] = 0;
    from->message->wide[MESSAGE_ROOM - 1] = 0;
    rc = from->call->SQLGetDiagRecW(from->type, from->handle, number, state,
                                    &record->native, from->message->wide,
                                    MESSAGE_ROOM, &length);
    if (!SQL_SUCCEEDED(rc)) {
        return rc;
    }
    for (size_t i = 0; i < 5; i++) {
        record->state[i] = state[i] < 128 ? (char)state[i] : '?';
    }
    text_init(&text);
    text_append_utf16(&text, from->message->wide,
                      wide_length(from->message->wide, MESSAGE_ROOM - 1));
    record->utf8 = strdup(text_string(&text));
    text_free(&text);
    return rc;
}

static SQLRETURN read_narrow(const struct source *from, SQLSMALLINT number,
                             struct diag_record *record)
{
    SQLCHAR state[6] = { 0 };
    SQLSMALLINT length = 0;
    SQLRETURN rc;

    from->message->narrow[0] = 0;
    from->message->narrow[MESSAGE_ROOM - 1] = 0;
    rc = from->call->SQLGetDiagRec(from->type, from->handle, number, state,
                                   &record->native, from->message->narrow,
                                   MESSAGE_ROOM, &length);
    if (!SQL_SUCCEEDED(rc)) {
        return rc;
    }
    memcpy(record->state, state, 5);
    record->narrow = strdup((const char *)from->message->narrow);
    return rc;
}

/* The next record, which is gone from the driver then. */
static SQLRETURN take_by_error(const struct source *from,
                               struct diag_record *record)
{
    bool stmt = from->type == SQL_HANDLE_STMT;
    SQLCHAR state[6] = { 0 };
    SQLSMALLINT length = 0;
    SQLRETURN rc;

    from->message->narrow[0] = 0;
    from->message->narrow[MESSAGE_ROOM - 1] = 0;
    rc = from->call->SQLError(SQL_NULL_HENV,
                              stmt ? SQL_NULL_HDBC : from->handle,
                              stmt ? from->handle : SQL_NULL_HSTMT, state,
                              &record->native, from->message->narrow,
                              MESSAGE_ROOM - 1, &length);
    if (SQL_SUCCEEDED(rc)) {
        memcpy(record->state, state, 5);
        record->narrow = strdup((const char *)from->message->narrow);
    }
    return rc;
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
    SQLRETURN rc = SQL_NO_DATA;

    if (!record) {
        return NULL;
    }
    if (from->call->SQLError) {
        take_by_error(from, record);
    } else if (from->call->SQLGetDiagRecW) {
        rc = read_wide(from, number, record);
    }
    if (!from->call->SQLError && from->call->SQLGetDiagRec &&
        (!from->call->SQLGetDiagRecW || SQL_SUCCEEDED(rc))) {
        rc = read_narrow(from, number, record);
    }
    if (!record->narrow) {
        record->narrow = record->utf8;
        record->utf8 = NULL;
    }
    if (!record->narrow) {
        free_record(record);
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

static void append_locked(struct diags *diags, struct diag_record *records)
{
    struct diag_record **end = &diags->first;

    mutex_assert_held(&diags->lock);
    while (*end) {
        end = &(*end)->next;
    }
    *end = records;
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
    mutex_lock(&diags->lock);
    append_locked(diags, records);
    diags->header = header;
    note_result_locked(diags, result);
    mutex_unlock(&diags->lock);
    return result;
}

static char *copy_text(const char *text, bool *ok)
{
    char *copy = text ? strdup(text) : NULL;

    *ok &= !text || copy;
    return copy;
}

static struct diag_record *copy_record(const struct diag_record *record)
{
    struct diag_record *copy = malloc(sizeof *copy);
    bool ok = true;

    if (!copy) {
        return NULL;
    }
    *copy = *record;
    copy->next = NULL;
    copy->narrow = copy_text(record->narrow, &ok);
    copy->utf8 = copy_text(record->utf8, &ok);
    copy->class_origin = copy_text(record->class_origin, &ok);
    copy->subclass_origin = copy_text(record->subclass_origin, &ok);
    copy->connection = copy_text(record->connection, &ok);
    copy->server = copy_text(record->server, &ok);
    if (!ok) {
        free_record(copy);
        copy = NULL;
    }
    return copy;
}

SQLRETURN diag_repeat(struct diags *to, const struct diags *from)
{
    struct diag_record *first = NULL, **end = &first;

    for (const struct diag_record *record = from->first; record;
         record = record->next) {
        *end = copy_record(record);
        end = *end ? &(*end)->next : end;
    }
    mutex_lock(&to->lock);
    append_locked(to, first);
    note_result_locked(to, from->result);
    mutex_unlock(&to->lock);
    return from->result;
}

void diag_move(struct diags *to, struct diags *from)
{
    struct diag_record *records;
    SQLRETURN result;

    mutex_lock(&from->lock);
    records = from->first;
    result = from->result;
    from->first = NULL;
    mutex_unlock(&from->lock);
    mutex_lock(&to->lock);
    append_locked(to, records);
    note_result_locked(to, result);
    mutex_unlock(&to->lock);
    diag_wipe(from);
}
