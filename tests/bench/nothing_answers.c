/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The few functions of the driver that does nothing whose answer somebody
 * looks at.  The manager asks each new connection for its version and for what
 * it supports; that is all it is told.
 */
#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* One handle of each type for everybody: nothing is kept in it. */
static char handles[SQL_HANDLE_DESC + 1];

EXPORT SQLRETURN SQLAllocHandle(SQLSMALLINT type, SQLHANDLE input,
                                SQLHANDLE *output)
{
    (void)input;
    *output = &handles[type];
    return SQL_SUCCESS;
}

/* The number of each function, as surface.def has it. */
static const SQLUSMALLINT functions[] = {
#define PLAIN(name, number, kind, route, params, args) number,
#define TEXT(name, number, kind, route, params, args) number,
#include "surface.def"
};

EXPORT SQLRETURN SQLGetFunctions(SQLHDBC handle, SQLUSMALLINT function,
                                 SQLUSMALLINT *supported)
{
    (void)handle;
    if (function != SQL_API_ODBC3_ALL_FUNCTIONS) {
        *supported = SQL_TRUE;
        return SQL_SUCCESS;
    }
    memset(supported, 0, SQL_API_ODBC3_ALL_FUNCTIONS_SIZE * sizeof *supported);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        supported[functions[i] >> 4] |=
            (SQLUSMALLINT)(1u << (functions[i] & 15));
    }
    return SQL_SUCCESS;
}

static SQLRETURN say_version(SQLUSMALLINT info, SQLPOINTER value,
                             SQLSMALLINT size, size_t unit,
                             SQLSMALLINT *length)
{
    static const char version[] = "03.51";
    size_t room = size > 0 ? (size_t)size / unit : 0;

    if (info != SQL_DRIVER_ODBC_VER) {
        if (value && size >= 2) {
            memset(value, 0, 2);
        }
        if (length) {
            *length = 0;
        }
        return SQL_SUCCESS;
    }
    if (value && room >= sizeof version) {
        memset(value, 0, sizeof version * unit);
        for (size_t i = 0; i < sizeof version; i++) {
            ((char *)value)[i * unit] = version[i];
        }
    }
    if (length) {
        *length = (SQLSMALLINT)((sizeof version - 1) * unit);
    }
    return SQL_SUCCESS;
}

EXPORT SQLRETURN SQLGetInfo(SQLHDBC handle, SQLUSMALLINT info,
                            SQLPOINTER value, SQLSMALLINT size,
                            SQLSMALLINT *length)
{
    (void)handle;
    return say_version(info, value, size, 1, length);
}

EXPORT SQLRETURN SQLGetInfoW(SQLHDBC handle, SQLUSMALLINT info,
                             SQLPOINTER value, SQLSMALLINT size,
                             SQLSMALLINT *length)
{
    (void)handle;
    return say_version(info, value, size, sizeof(SQLWCHAR), length);
}

EXPORT SQLRETURN SQLGetDiagRec(SQLSMALLINT type, SQLHANDLE handle,
                               SQLSMALLINT number, SQLCHAR *state,
                               SQLINTEGER *native, SQLCHAR *text,
                               SQLSMALLINT size, SQLSMALLINT *length)
{
    (void)type, (void)handle, (void)number, (void)state, (void)native;
    (void)text, (void)size, (void)length;
    return SQL_NO_DATA;
}

EXPORT SQLRETURN SQLGetDiagRecW(SQLSMALLINT type, SQLHANDLE handle,
                                SQLSMALLINT number, SQLWCHAR *state,
                                SQLINTEGER *native, SQLWCHAR *text,
                                SQLSMALLINT size, SQLSMALLINT *length)
{
    (void)type, (void)handle, (void)number, (void)state, (void)native;
    (void)text, (void)size, (void)length;
    return SQL_NO_DATA;
}

EXPORT SQLRETURN SQLNumResultCols(SQLHSTMT handle, SQLSMALLINT *count)
{
    (void)handle;
    *count = 1;
    return SQL_SUCCESS;
}
