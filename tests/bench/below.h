/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A driver below the manager: loaded by its path, its exported functions
 * called directly.
 */
#ifndef BELOW_H
#define BELOW_H

#include <stddef.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

struct below {
    __typeof__(SQLAllocHandle) *SQLAllocHandle;
    __typeof__(SQLFreeHandle) *SQLFreeHandle;
    __typeof__(SQLSetEnvAttr) *SQLSetEnvAttr;
    __typeof__(SQLDriverConnectW) *SQLDriverConnectW;
    __typeof__(SQLDisconnect) *SQLDisconnect;
    __typeof__(SQLGetDiagRec) *SQLGetDiagRec;
};

/* Ends the program if the library or one of its functions is missing. */
void below_load(const char *path, struct below *call);

SQLHENV below_env(const struct below *call);
SQLHDBC below_dbc(const struct below *call, SQLHENV env);

/* string: in UTF-16, ended by 0.  Ends the program on an error. */
void below_connect(const struct below *call, SQLHDBC dbc, SQLWCHAR *string);

/* ASCII in UTF-16. */
void below_wide(const char *from, SQLWCHAR *to, size_t room);

#endif
