/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading a handle's list of diagnostic records: SQLGetDiagRec and
 * SQLGetDiagField, narrow and wide, by their pages in the ODBC reference.
 * Nothing is consumed, because the manager reads a record several times and
 * in both widths (facts §8).  These functions post no records themselves, so
 * a wrong argument is a bare SQL_ERROR.
 */
#include "autoconf.h"

#include "diag.h"

#include <string.h>

static struct diag_record *find_locked(struct diags *diags,
                                       SQLSMALLINT number)
{
    struct diag_record *record = diags->first;

    mutex_assert_held(&diags->lock);
    while (record && --number > 0) {
        record = record->next;
    }
    return record;
}

static const char *message(const struct diag_record *record,
                           enum text_width width)
{
    return width == TEXT_WIDE && record->utf8 ? record->utf8 : record->narrow;
}

/* Writes a text of the list; SQL_SUCCESS_WITH_INFO if it was cut. */
static SQLRETURN write_text(const char *value, void *buffer, SQLSMALLINT size,
                            SQLSMALLINT *length, enum text_width width,
                            enum text_unit unit)
{
    struct text_written written;

    if (size < 0) {
        return SQL_ERROR;
    }
    if (!value) {
        value = "";
    }
    written = text_write(value, strlen(value), buffer, size, width, unit);
    if (length) {
        *length = (SQLSMALLINT)(written.needed > 32767 ? 32767 :
                                written.needed);
    }
    return written.truncated ? SQL_SUCCESS_WITH_INFO : SQL_SUCCESS;
}

SQLRETURN diag_record(struct diags *diags, SQLSMALLINT number, void *state,
                      SQLINTEGER *native, void *text, SQLSMALLINT size,
                      SQLSMALLINT *length, enum text_width width)
{
    const struct diag_record *record;
    SQLRETURN rc = SQL_NO_DATA;

    if (number <= 0 || size < 0) {
        return SQL_ERROR;
    }
    mutex_lock(&diags->lock);
    record = find_locked(diags, number);
    if (record) {
        /* "HY000" and its terminator, in any width. */
        text_write(record->state, 5, state, 6, width, TEXT_CHARACTERS);
        if (native) {
            *native = record->native;
        }
        rc = write_text(message(record, width), text, size, length, width,
                        TEXT_CHARACTERS);
    }
    mutex_unlock(&diags->lock);
    return rc;
}

/* The states whose subclass ODBC defined, by the reference of SQLGetDiagField
   (SQL_DIAG_SUBCLASS_ORIGIN); all other classes and subclasses are ISO's. */
static bool subclass_is_odbc(const char *state)
{
    static const char *const listed[] = {
        "HY095", "HY097", "HY098", "HY099", "HY100", "HY101", "HY105",
        "HY107", "HY109", "HY110", "HY111", "HYT00", "HYT01"
    };

    if (strncmp(state, "IM", 2) == 0 || state[2] == 'S') {
        return true;
    }
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) {
        if (strcmp(state, listed[i]) == 0) {
            return true;
        }
    }
    return false;
}

static const char *origin(bool odbc)
{
    return odbc ? "ODBC 3.0" : "ISO 9075";
}

static SQLINTEGER count_locked(const struct diags *diags)
{
    SQLINTEGER count = 0;

    mutex_assert_held(&diags->lock);
    for (const struct diag_record *record = diags->first; record;
         record = record->next) {
        count++;
    }
    return count;
}

/* Does the handle not have this field?  Dynamic functions and counts exist for
   statements alone, and of those only what the inner driver knows. */
static bool lacks(const struct diag_header *header, bool statement,
                  SQLSMALLINT field)
{
    switch (field) {
    case SQL_DIAG_NUMBER:
    case SQL_DIAG_RETURNCODE:
        return false;
    case SQL_DIAG_ROW_COUNT:
        return !statement || header->no_row_count;
    case SQL_DIAG_CURSOR_ROW_COUNT:
        return !statement || header->no_cursor_row_count;
    case SQL_DIAG_DYNAMIC_FUNCTION:
        return !statement || header->dynamic_function_result == SQL_ERROR;
    default:
        return !statement || header->no_dynamic_function_code;
    }
}

static SQLRETURN header_field_locked(struct diags *diags, bool statement,
                                     SQLSMALLINT field, SQLPOINTER value,
                                     SQLSMALLINT size, SQLSMALLINT *length,
                                     enum text_width width)
{
    const struct diag_header *header = &diags->header;

    mutex_assert_held(&diags->lock);
    if (lacks(header, statement, field)) {
        return SQL_ERROR;
    }
    if (field == SQL_DIAG_DYNAMIC_FUNCTION &&
        header->dynamic_function_result == SQL_NO_DATA) {
        if (length) {
            *length = 0;
        }
        return SQL_NO_DATA;
    }
    if (field == SQL_DIAG_DYNAMIC_FUNCTION) {
        return write_text(header->dynamic_function, value, size, length, width,
                          TEXT_BYTES);
    }
    if (!value) {
        return SQL_SUCCESS;
    }
    switch (field) {
    case SQL_DIAG_NUMBER:
        *(SQLINTEGER *)value = count_locked(diags);
        break;
    case SQL_DIAG_RETURNCODE:
        *(SQLRETURN *)value = diags->result;
        break;
    case SQL_DIAG_ROW_COUNT:
        *(SQLLEN *)value = header->row_count;
        break;
    case SQL_DIAG_CURSOR_ROW_COUNT:
        *(SQLLEN *)value = header->cursor_row_count;
        break;
    default:
        *(SQLINTEGER *)value = header->dynamic_function_code;
        break;
    }
    return SQL_SUCCESS;
}

static SQLRETURN number_field(const struct diag_record *record,
                              SQLSMALLINT field, SQLPOINTER value)
{
    if (!value) {
        return SQL_SUCCESS;
    }
    switch (field) {
    case SQL_DIAG_NATIVE:
        *(SQLINTEGER *)value = record->native;
        break;
    case SQL_DIAG_ROW_NUMBER:
        *(SQLLEN *)value = record->row;
        break;
    default:
        *(SQLINTEGER *)value = record->column;
        break;
    }
    return SQL_SUCCESS;
}

/* The text of a record's field; false: not a text. */
static bool text_field(const struct diags *diags,
                       const struct diag_record *record, SQLSMALLINT field,
                       enum text_width width, const char **value)
{
    switch (field) {
    case SQL_DIAG_SQLSTATE:
        *value = record->state;
        return true;
    case SQL_DIAG_MESSAGE_TEXT:
        *value = message(record, width);
        return true;
    case SQL_DIAG_CLASS_ORIGIN:
        *value = record->class_origin ? record->class_origin :
            origin(strncmp(record->state, "IM", 2) == 0);
        return true;
    case SQL_DIAG_SUBCLASS_ORIGIN:
        *value = record->subclass_origin ? record->subclass_origin :
            origin(subclass_is_odbc(record->state));
        return true;
    case SQL_DIAG_CONNECTION_NAME:
        *value = record->connection;
        return true;
    case SQL_DIAG_SERVER_NAME:
        *value = record->server ? record->server : diags->dsn;
        return true;
    default:
        return false;
    }
}

static SQLRETURN record_field_locked(struct diags *diags, SQLSMALLINT number,
                                     SQLSMALLINT field, SQLPOINTER value,
                                     SQLSMALLINT size, SQLSMALLINT *length,
                                     enum text_width width)
{
    const struct diag_record *record;
    const char *text;

    mutex_assert_held(&diags->lock);
    if (number <= 0) {
        return SQL_ERROR;
    }
    record = find_locked(diags, number);
    if (!record) {
        return SQL_NO_DATA;
    }
    if (text_field(diags, record, field, width, &text)) {
        return write_text(text, value, size, length, width, TEXT_BYTES);
    }
    return number_field(record, field, value);
}

SQLRETURN diag_field(struct diags *diags, SQLSMALLINT type,
                     SQLSMALLINT number, SQLSMALLINT field, SQLPOINTER value,
                     SQLSMALLINT size, SQLSMALLINT *length,
                     enum text_width width)
{
    SQLRETURN rc;

    mutex_lock(&diags->lock);
    switch (field) {
    case SQL_DIAG_NUMBER:
    case SQL_DIAG_RETURNCODE:
    case SQL_DIAG_ROW_COUNT:
    case SQL_DIAG_CURSOR_ROW_COUNT:
    case SQL_DIAG_DYNAMIC_FUNCTION:
    case SQL_DIAG_DYNAMIC_FUNCTION_CODE:
        rc = header_field_locked(diags, type == SQL_HANDLE_STMT, field, value,
                                 size, length, width);
        break;
    case SQL_DIAG_SQLSTATE:
    case SQL_DIAG_NATIVE:
    case SQL_DIAG_MESSAGE_TEXT:
    case SQL_DIAG_CLASS_ORIGIN:
    case SQL_DIAG_SUBCLASS_ORIGIN:
    case SQL_DIAG_CONNECTION_NAME:
    case SQL_DIAG_SERVER_NAME:
    case SQL_DIAG_ROW_NUMBER:
    case SQL_DIAG_COLUMN_NUMBER:
        rc = record_field_locked(diags, number, field, value, size, length,
                                 width);
        break;
    default:
        rc = SQL_ERROR;
        break;
    }
    mutex_unlock(&diags->lock);
    return rc;
}
