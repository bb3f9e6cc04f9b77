/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the tests of connecting share: attempts to connect, where they led, and
 * ODBC files of a test's own.
 */
#ifndef ODBC_TRY_H
#define ODBC_TRY_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>

extern SQLHENV try_env; /* of all that follows; main() makes it */

SQLHDBC try_dbc(void); /* a new handle, not connected */

/* UTF-16 of an ASCII text, terminated, in one of four static buffers. */
SQLWCHAR *try_utf16(const char *text);

SQLRETURN try_connect(SQLHDBC dbc, const char *string, bool wide);

/* The name of the instance that such a connect led to, or its first record;
   disconnects and frees dbc.  Static. */
const char *try_landed(SQLHDBC dbc, SQLRETURN rc);
const char *try_place(const char *string);

/* Column `number` of the first row, "NULL", "(none)"; static. */
const char *try_column(SQLHDBC dbc, const char *sql, SQLUSMALLINT number);

/* One result: the text begins with `state` and has `words` in it. */
void try_says(const char *name, const char *got, const char *state,
              const char *words);

/* The TCP port of instance n1, n2, … of the sandbox. */
const char *try_port(int instance);

/* ---- ODBC files: before the first ODBC call of the process, since their
   paths are read once -------------------------------------------------- */

/* A folder with the sandbox's odbc.ini followed by `dsns`, and its
   odbcinst.ini with `lines` in each section, followed by `drivers`; both set
   as ODBCINI and ODBCSYSINI. */
bool try_ini_make(const char *dsns, const char *lines, const char *drivers);
void try_ini_drop(void); /* removes them */

#endif
