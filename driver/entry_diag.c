/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLGetDiagRec and SQLGetDiagField.  What the inner driver has to say of the
 * latest call, the application hears from itself: psqlODBC divides a message
 * into as many records as the buffer of the first needs, tells of a statement's
 * failure on the connection as well, and knows some fields and not others.
 * The handle's own list answers where the call did not reach the inner handle,
 * where a record of ours stands first, and when the inner handle is gone.
 */
#include "autoconf.h"

#include "surface.h"

#include <string.h>

#include "session.h"

/* The twin that tells, or one without a handle. */
static struct twin teller(struct head *head)
{
    struct twin twin = { 0 };

    if (!handle_inherited(head) && !diag_is_here(&head->diags)) {
        twin = entry_twin(head);
    }
    if (twin.inner && twin.call->SQLError) {
        twin.inner = NULL; /* copying has taken what that tells */
    }
    return twin;
}

/* What a statement counts, it tells as long as nothing stands here. */
static bool is_count(struct head *head, SQLSMALLINT field)
{
    switch (field) {
    case SQL_DIAG_ROW_COUNT:
    case SQL_DIAG_CURSOR_ROW_COUNT:
    case SQL_DIAG_DYNAMIC_FUNCTION:
    case SQL_DIAG_DYNAMIC_FUNCTION_CODE:
        return handle_is(head, HANDLE_STMT) && !handle_inherited(head) &&
               diag_empty(&head->diags);
    default:
        return false;
    }
}

SQLRETURN entry_SQLGetDiagRec(enum text_width width, SQLSMALLINT type,
                              SQLHANDLE handle, SQLSMALLINT number,
                              void *state, SQLINTEGER *native, void *text,
                              SQLSMALLINT size, SQLSMALLINT *length)
{
    struct head *head = handle_find(type, handle);
    struct twin twin;

    if (!head) {
        return SQL_INVALID_HANDLE;
    }
    handle_claim(head);
    twin = teller(head);
    if (twin.inner) {
        lock_assert_none();
        if (width == TEXT_WIDE && twin.call->SQLGetDiagRecW) {
            return twin.call->SQLGetDiagRecW(type, twin.inner, number, state,
                                             native, text, size, length);
        }
        if (width == TEXT_NARROW && twin.call->SQLGetDiagRec) {
            return twin.call->SQLGetDiagRec(type, twin.inner, number, state,
                                            native, text, size, length);
        }
    }
    return diag_record(&head->diags, number, state, native, text, size,
                       length, width);
}

/* The data source of a record is the application's where the inner driver
   names the instance's (diag_copy()). */
static bool is_instance(const struct twin *twin, const void *value,
                        enum text_width width)
{
    const char *instance = session_instance(twin->dbc->session);
    struct text name;
    bool is;

    text_init(&name);
    text_append_argument(&name, value, SQL_NTS, width, TEXT_CHARACTERS);
    is = !name.failed && strcmp(text_string(&name), instance) == 0;
    text_free(&name);
    return is;
}

static SQLRETURN tell_server(const struct twin *twin,
                             __typeof__(SQLGetDiagField) *get,
                             SQLSMALLINT number, SQLPOINTER value,
                             SQLSMALLINT size, SQLSMALLINT *length,
                             enum text_width width)
{
    enum { ROOM = 128 }; /* more than a DSN's name may have */
    SQLWCHAR server[ROOM] = { 0 };
    struct text_written written;
    SQLSMALLINT told = 0;
    SQLRETURN rc = get(twin->type, twin->inner, number, SQL_DIAG_SERVER_NAME,
                       server, sizeof server - sizeof *server, &told);

    if (!SQL_SUCCEEDED(rc) || size < 0 || !is_instance(twin, server, width)) {
        return get(twin->type, twin->inner, number, SQL_DIAG_SERVER_NAME,
                   value, size, length);
    }
    written = text_write(twin->dbc->dsn, strlen(twin->dbc->dsn), value, size,
                         width, TEXT_BYTES);
    if (length) {
        *length = (SQLSMALLINT)written.needed;
    }
    return written.truncated ? SQL_SUCCESS_WITH_INFO : SQL_SUCCESS;
}

SQLRETURN entry_SQLGetDiagField(enum text_width width, SQLSMALLINT type,
                                SQLHANDLE handle, SQLSMALLINT number,
                                SQLSMALLINT field, SQLPOINTER value,
                                SQLSMALLINT size, SQLSMALLINT *length)
{
    struct head *head = handle_find(type, handle);
    __typeof__(SQLGetDiagField) *get = NULL;
    struct twin twin;

    if (!head) {
        return SQL_INVALID_HANDLE;
    }
    handle_claim(head);
    twin = teller(head);
    if (!twin.inner && is_count(head, field)) {
        twin = entry_twin(head);
    }
    if (twin.inner) {
        get = SURFACE_IN(width, twin.call, SQLGetDiagField);
    }
    if (!get) {
        return diag_field(&head->diags, type, number, field, value, size,
                          length, width);
    }
    lock_assert_none();
    if (field == SQL_DIAG_SERVER_NAME) {
        return tell_server(&twin, get, number, value, size, length, width);
    }
    return get(type, twin.inner, number, field, value, size, length);
}
