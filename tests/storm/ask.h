/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A statement and what came of it, on any thread (odbc_tap.h keeps its answers
 * in static memory).
 */
#ifndef STORM_ASK_H
#define STORM_ASK_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>

enum { ASK_MAX = 600 };

/* What a statement answered: the first column of its first row; or its first
   record, "SQLSTATE native text". */
struct answer {
    bool good;
    char text[ASK_MAX];
};

void ask_record(SQLSMALLINT type, SQLHANDLE handle, char out[ASK_MAX]);

/* A connection of trouble_env's; SQL_NULL_HDBC: `answer` says why not. */
SQLHDBC ask_open(const char *string, struct answer *answer);

/* Runs a text that has rows; one without a row answers "". */
struct answer ask(SQLHDBC dbc, const char *sql);

/* Runs a text that has none; prepared, with these two numbers as its
   parameters, if `prepared`. */
struct answer ask_to(SQLHDBC dbc, const char *sql, bool prepared,
                     long long first, long long second);

/* As ask(), but another thread cancels it after so many ms. */
struct answer ask_and_cancel(SQLHDBC dbc, const char *sql, unsigned ms);

#endif
