/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The environment of the process, which the application may change at any time,
 * and which getenv() reads without a lock.  So no thread of ours reads it, nor
 * ini files, which are found by it (rules §15): what links need of it is copied
 * on a thread of the application's.  The only caller of getenv().
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>

struct environment;

/* A copy of these variables, as they are now; names: fixed, NULL at its end.
   NULL: out of memory.  Freed by environment_free(); NULL is fine there.
   Only on threads of the application's. */
struct environment *environment_read(const char *const *names);
void environment_free(struct environment *environment);

/* The value in that copy, as long as it lives; in the process's environment
   (NULL), as getenv(), and only on threads of the application's.  NULL: it is
   not set. */
const char *environment_value(const struct environment *environment,
                              const char *name);

/* This thread is one of ours, for good. */
void environment_deny(void);

/* It is none: for assertions where only such may read. */
bool environment_is_allowed(void);

#endif
