/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the tests of the manager's own pooling share: switching it on, a mess
 * that a user may leave, what the next one finds, and whose connection that
 * one got.
 */
#ifndef MANAGER_H
#define MANAGER_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>

#include "odbc_try.h"

extern const char *const manager_widths[]; /* "narrow", "wide" */
extern const char *const manager_modes[];  /* "refuse", "allow" */

#define MANAGER_POOLING "\n[ODBC]\nPooling = Yes\n"

/* Ini files of the process's own, with `dsns` behind the sandbox's, the line
   `timeout` in each driver's section, and `odbc` behind them; then try_env, of
   that version.  False: not possible, which is a result.  The end frees all. */
bool manager_begin(const char *dsns, const char *timeout, const char *odbc,
                   SQLINTEGER version);
void manager_end(void);

/* Leaves much behind; what is there then, on any thread; and what that is for
   somebody to whom nothing was left. */
void manager_mess(SQLHDBC dbc);
void manager_look(SQLHDBC dbc, char found[80]);
extern const char manager_clean[];

/* Connects, with a key by attribute.  *kept: the manager handed on a
   connection that it had kept, since then it does not pass that on.
   SQL_NULL_HDBC: it failed, and has said why. */
SQLHDBC manager_open(const char *string, bool wide, bool *kept);

#endif
