/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLGetDiagRec and SQLGetDiagField: answered from the handle's own list, so
 * that they work when the link is gone.  They clear nothing and add nothing.
 */
#include "autoconf.h"

#include "surface.h"

SQLRETURN entry_SQLGetDiagRec(enum text_width width, SQLSMALLINT type,
                              SQLHANDLE handle, SQLSMALLINT number,
                              void *state, SQLINTEGER *native, void *text,
                              SQLSMALLINT size, SQLSMALLINT *length)
{
    struct head *head = handle_find(type, handle);

    if (!head) {
        return SQL_INVALID_HANDLE;
    }
    handle_claim(head);
    return diag_record(&head->diags, number, state, native, text, size,
                       length, width);
}

/* The counts and names that a statement's latest call left in the inner
   driver.  They are copied with the records; a call that left none has not
   been asked for them, so the inner driver is asked now. */
static bool is_header_of_inner(const struct head *head, SQLSMALLINT field)
{
    switch (field) {
    case SQL_DIAG_ROW_COUNT:
    case SQL_DIAG_CURSOR_ROW_COUNT:
    case SQL_DIAG_DYNAMIC_FUNCTION:
    case SQL_DIAG_DYNAMIC_FUNCTION_CODE:
        return handle_is(head, HANDLE_STMT) && !handle_inherited(head);
    default:
        return false;
    }
}

static SQLRETURN ask_inner(struct stmt *stmt, SQLSMALLINT field,
                           SQLPOINTER value, SQLSMALLINT size,
                           SQLSMALLINT *length, enum text_width width)
{
    __typeof__(SQLGetDiagField) *get = width == TEXT_WIDE ?
        stmt->call->SQLGetDiagFieldW : stmt->call->SQLGetDiagField;

    lock_assert_none();
    return get ? get(SQL_HANDLE_STMT, stmt->inner, 0, field, value, size,
                     length) : SQL_ERROR;
}

SQLRETURN entry_SQLGetDiagField(enum text_width width, SQLSMALLINT type,
                                SQLHANDLE handle, SQLSMALLINT number,
                                SQLSMALLINT field, SQLPOINTER value,
                                SQLSMALLINT size, SQLSMALLINT *length)
{
    struct head *head = handle_find(type, handle);

    if (!head) {
        return SQL_INVALID_HANDLE;
    }
    handle_claim(head);
    if (is_header_of_inner(head, field) && diag_empty(&head->diags)) {
        return ask_inner(handle, field, value, size, length, width);
    }
    return diag_field(&head->diags, type, number, field, value, size, length,
                      width);
}
