/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLGetFunctions, which is ours to answer, and SQLGetInfo, of which only the
 * name of the data source is (design §5.6): programs that know the inner
 * driver by SQL_DRIVER_NAME keep recognising it.
 */
#include "autoconf.h"

#include "surface.h"

#include <string.h>

#include "config.h"
#include "session.h"

/* ---- SQLGetFunctions ------------------------------------------------- */

/* Is it answered here, whatever the inner driver has? */
static bool is_answered_here(SQLUSMALLINT function)
{
#define ANSWERED_SELF(number) case number:
#define ANSWERED_PLACE(number) case number:
#define ANSWERED_STAY(number)
#define ANSWERED_FRESH(number)
#define ANSWERED_EACH(number)
#define ANSWERED_LATE(number)
#define ANSWERED_HAND(number)
#define ANSWERED_HOT(number)
#define PLAIN(name, number, kind, route, params, args) ANSWERED_##route(number)
#define TEXT(name, number, kind, route, params, args) ANSWERED_##route(number)
    switch (function) {
#include "surface.def"
        return true;
    default:
        return false;
    }
}

/* theirs NULL, before connecting: whatever is exported. */
static bool is_supported(const struct inner_functions *theirs,
                         SQLUSMALLINT function)
{
    return !theirs || is_answered_here(function) ||
           inner_has(theirs, function);
}

/* The manager asks once per connect, so this walks the rows and not all the
   numbers that there might be. */
static const SQLUSMALLINT numbers[] = {
#define PLAIN(name, number, ...) number,
#define TEXT(name, number, ...) number,
#include "surface.def"
};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

enum { ODBC2_FUNCTIONS = 100 }; /* what SQL_API_ALL_FUNCTIONS fills */

static SQLRETURN tell_functions(struct dbc *dbc, SQLUSMALLINT function,
                                SQLUSMALLINT *supported)
{
    struct inner_functions inner;
    const struct inner_functions *theirs = NULL;
    const struct inner_calls *call;
    SQLHDBC hdbc = SQL_NULL_HDBC;
    SQLRETURN rc = SQL_SUCCESS;

    if (dbc->connected) {
        rc = entry_inner(dbc, &hdbc, &call);
        if (rc != SQL_SUCCESS) {
            if (!session_is_lost(dbc->session)) {
                return rc;
            }
            /* The manager asks while it connects, and jumps to NULL if this
               function itself is denied; the next call says 08S01. */
            diag_clear(&dbc->head.diags);
        }
        inner_functions(session_driver(dbc->session), hdbc, &inner);
        theirs = &inner;
    }
    if (function == SQL_API_ODBC3_ALL_FUNCTIONS) {
        memset(supported, 0,
               SQL_API_ODBC3_ALL_FUNCTIONS_SIZE * sizeof *supported);
    } else if (function == SQL_API_ALL_FUNCTIONS) {
        memset(supported, 0, ODBC2_FUNCTIONS * sizeof *supported);
    } else {
        *supported = SQL_FALSE;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        SQLUSMALLINT n = numbers[i];

        if (!is_supported(theirs, n)) {
            continue;
        }
        if (function == SQL_API_ODBC3_ALL_FUNCTIONS) {
            supported[n >> 4] |= (SQLUSMALLINT)(1u << (n & 15));
        } else if (function == SQL_API_ALL_FUNCTIONS && n < ODBC2_FUNCTIONS) {
            supported[n] = SQL_TRUE;
        } else if (function == n) {
            *supported = SQL_TRUE;
        }
    }
    return SQL_SUCCESS;
}

SQLRETURN entry_SQLGetFunctions(SQLHDBC handle, SQLUSMALLINT function,
                                SQLUSMALLINT *supported)
{
    struct dbc *dbc = entry_dbc(handle);

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    if (handle_inherited(&dbc->head)) {
        return entry_inherited(&dbc->head);
    }
    if (!supported) {
        return diag_add(&dbc->head.diags, WHY_POINTER, "%s", "");
    }
    if (function >= SQL_API_ODBC3_ALL_FUNCTIONS_SIZE * 16) {
        return diag_add(&dbc->head.diags, WHY_FUNCTION_ID,
                        "there is no function number %u", (unsigned)function);
    }
    return tell_functions(dbc, function, supported);
}

/* ---- SQLGetInfo ------------------------------------------------------ */

static SQLRETURN get_dsn(struct dbc *dbc, SQLPOINTER value, SQLSMALLINT size,
                         SQLSMALLINT *length, enum text_width width)
{
    const char *dsn = session_config(dbc->session)->dsn;
    SQLINTEGER needed;
    SQLRETURN rc = entry_write_attr(&dbc->head, dsn, strlen(dsn), value, size,
                                    &needed, width);

    if (length && SQL_SUCCEEDED(rc)) {
        *length = (SQLSMALLINT)needed;
    }
    return rc;
}

/* The manager answers these itself; without it the inner driver's handles
   would leak to where ours are expected. */
static SQLRETURN get_handle(struct dbc *dbc, SQLUSMALLINT info,
                            SQLPOINTER value, SQLSMALLINT *length)
{
    if (info == SQL_DRIVER_HLIB) {
        return diag_add(&dbc->head.diags, WHY_INFO,
                        "SQL_DRIVER_HLIB is the manager's to answer");
    }
    if (value && info == SQL_DRIVER_HENV) {
        *(SQLHENV *)value = dbc->env;
    } else if (value && info == SQL_DRIVER_HDBC) {
        *(SQLHDBC *)value = dbc;
    } /* a statement or descriptor that comes in is ours already */
    if (length) {
        *length = (SQLSMALLINT)sizeof(SQLHANDLE);
    }
    return SQL_SUCCESS;
}

static SQLRETURN get_inner(struct head *head, SQLHDBC handle,
                           SQLUSMALLINT info, SQLPOINTER value,
                           SQLSMALLINT size, SQLSMALLINT *length,
                           enum text_width width)
{
    const struct inner_calls *call;
    __typeof__(SQLGetInfo) *get;
    SQLRETURN rc = surface_enter_DBC(&handle, &call);

    if (rc != SQL_SUCCESS) {
        return rc;
    }
    get = SURFACE_IN(width, call, SQLGetInfo);
    if (!get) {
        return entry_missing(head, "SQLGetInfo", width);
    }
    session_note_width(((struct dbc *)head)->session, width);
    return surface_leave_DBC(head, get(handle, info, value, size, length));
}

SQLRETURN entry_SQLGetInfo(enum text_width width, SQLHDBC handle,
                           SQLUSMALLINT info, SQLPOINTER value,
                           SQLSMALLINT size, SQLSMALLINT *length)
{
    struct dbc *dbc = entry_dbc(handle);

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    if (dbc->connected && !handle_inherited(&dbc->head)) {
        switch (info) {
        case SQL_DATA_SOURCE_NAME:
            return get_dsn(dbc, value, size, length, width);
        case SQL_DRIVER_HENV:
        case SQL_DRIVER_HDBC:
        case SQL_DRIVER_HSTMT:
        case SQL_DRIVER_HDESC:
        case SQL_DRIVER_HLIB:
            return get_handle(dbc, info, value, length);
        default:
            break;
        }
    }
    return get_inner(&dbc->head, handle, info, value, size, length, width);
}
