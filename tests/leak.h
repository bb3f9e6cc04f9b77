/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Promise 3 (leak-test, manager-leak-test): one session leaves everything behind that PostgreSQL and ODBC let
 * it, and the next one, on the same backend, finds nothing.
 *
 * Each case connects, looks (the probe), makes its mess, sees that the probe
 * shows it, and leaves without tidying up; the next session must be on the
 * same backend and see what the first look saw.  The pool holds one link, so
 * that a link that was closed instead of cleaned fails the test, too.
 *
 * Underneath lie a LATIN1 database with a German DateStyle, since there a
 * reset that forgets what psqlODBC relies on corrupts data silently
 * (facts: DISCARD ALL on a psqlODBC connection).
 */
#ifndef LEAK_H
#define LEAK_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>

/* Makes the database "leak" on n1, and drops it.  All that follows connects in
   that environment.  False: odbc_error() says why. */
bool leak_begin(SQLHENV env);
void leak_end(void);

/* The whole list over one connection string, which must lead to n1, database
   leak, as postgres, with PoolMax=1; narrow, then wide.  plain: statements are
   not prepared by the server, and their rows not limited. */
void leak_try(const char *what, const char *string, bool plain);

/* A narrow link's encoding comes from the locale, through psqlODBC: the next
   user of it reads the same bytes as its first. */
void leak_try_letter(const char *string);

#endif
