/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the C programs that test through the manager share: connecting, asking
 * for one value, the first diagnostic record, and TAP.
 */
#ifndef ODBC_TAP_H
#define ODBC_TAP_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>

/* ---- TAP ------------------------------------------------------------------ */

/* One result; when it is wrong, the printf text says what was seen. */
void tap_ok(bool good, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tap_is(const char *name, const char *got, const char *wanted);
void tap_skip(const char *name, const char *why);
/* Runs a part of the test in a process of its own, whose results count here,
   and one more: that it ended as it should.  Before the first call of ODBC. */
void tap_apart(const char *name, void (*part)(void));
/* Prints the plan; what main() returns. */
int tap_end(void);

/* ---- ODBC ------------------------------------------------------------------ */

/* An environment of that ODBC version (2, 3 or 380). */
SQLHENV odbc_env(SQLINTEGER version);

/* A new connection by a connection string, narrow or wide; SQL_NULL_HDBC:
   odbc_error() says why. */
SQLHDBC odbc_open(SQLHENV env, const char *string, bool wide);
void odbc_close(SQLHDBC dbc); /* disconnects and frees */

/* The first column of the first row as text, in a static buffer that lasts for
   eight calls; "NULL", "(no row)", or "error SQLSTATE". */
const char *odbc_value(SQLHDBC dbc, const char *sql);

/* Runs a statement; true on success (or no data). */
bool odbc_run(SQLHDBC dbc, const char *sql);

/* "SQLSTATE native text" of record `number`, in a static buffer; "" = none. */
const char *odbc_record(SQLSMALLINT type, SQLHANDLE handle,
                        SQLSMALLINT number);

/* The same of the first record of the latest failure of these functions. */
const char *odbc_error(void);

#endif
