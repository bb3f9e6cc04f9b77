/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * For the inner drivers inside unit tests: functions that do nothing, and say
 * that all is well.
 */
#ifndef UNIT_YES_H
#define UNIT_YES_H

#include <sql.h>
#include <sqlext.h>

static inline SQLRETURN yes_alloc_handle(SQLSMALLINT type, SQLHANDLE parent,
                                         SQLHANDLE *handle)
{
    static char one;

    (void)type;
    (void)parent;
    *handle = &one;
    return SQL_SUCCESS;
}

static inline SQLRETURN yes_free_handle(SQLSMALLINT type, SQLHANDLE handle)
{
    (void)type;
    (void)handle;
    return SQL_SUCCESS;
}

/* Of connections and statements. */
static inline SQLRETURN yes_set_attr(SQLHANDLE handle, SQLINTEGER attribute,
                                     SQLPOINTER value, SQLINTEGER length)
{
    (void)handle;
    (void)attribute;
    (void)value;
    (void)length;
    return SQL_SUCCESS;
}

/* SQLGetConnectAttr, which is asked for SQL_ATTR_CONNECTION_DEAD. */
static inline SQLRETURN yes_it_lives(SQLHDBC dbc, SQLINTEGER attribute,
                                     SQLPOINTER value, SQLINTEGER size,
                                     SQLINTEGER *length)
{
    (void)dbc;
    (void)attribute;
    (void)size;
    (void)length;
    *(SQLUINTEGER *)value = SQL_CD_FALSE;
    return SQL_SUCCESS;
}

static inline SQLRETURN yes_end_tran(SQLSMALLINT type, SQLHANDLE handle,
                                     SQLSMALLINT completion)
{
    (void)type;
    (void)handle;
    (void)completion;
    return SQL_SUCCESS;
}

#endif
