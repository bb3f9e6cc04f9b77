/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * For tests that use the built driver and the fake inner driver: ini files of
 * their own, and both libraries loaded as the manager and the wrapper load
 * them.
 *
 *   odbcinst.ini   [Affinity], [Affinity ANSI], [Fake], [Fake narrow],
 *                  [Fake psqlODBC]
 *   odbc.ini       [f1], [f2] of Fake, [n1] of Fake narrow, [p1] of Fake
 *                  psqlODBC, which is taken for that driver,
 *                  [wrapped] of Affinity over f1, [wrapped2] over f1 and f2,
 *                  [narrow] of Affinity over n1, [ansi] of Affinity ANSI
 */
#ifndef FAKE_USE_H
#define FAKE_USE_H

#include "fake.h"
#include "inner.h"

#include <stdint.h>

/* Makes the ini files and points the process at them; to be called before
   anything of ODBC is.  Ends the program if it cannot. */
void use_ini_files(void);

/* Removes them. */
void use_no_ini_files(void);

/* The path of a library of the build: "driver/.libs/libodbcaffinity.so".
   Valid until the next call. */
const char *use_path(const char *library);

/* dlopen()s a driver and looks up every name of surface.def; those it lacks
   are NULL.  Returns the library. */
void *use_driver(const char *library, struct inner_calls *call);

/* An environment of that ODBC version (SQL_OV_…); ends the program if there is
   none.  For SQLFreeHandle(). */
SQLHENV use_environment(const struct inner_calls *call, uintptr_t version);

/* Makes `lines` the whole of the file that FakeControl names. */
void use_control(const char *path, const char *lines);

/* The fake's own interface; the narrow build is another library. */
const struct fake_api *use_fake(const char *library);

/* As the manager asks before it hands a connection on: SQL_CD_TRUE (dead),
   SQL_CD_FALSE, or 7 if there was no answer. */
SQLULEN use_probe(const struct inner_calls *call, SQLHDBC dbc);

#define USE_WIDE "driver/.libs/libodbcaffinity.so"
#define USE_ANSI "driver/.libs/libodbcaffinitya.so"
#define USE_FAKE "tests/.libs/libfake.so"
#define USE_FAKE_NARROW "tests/.libs/libfakenarrow.so"
#define USE_FAKE_PSQLODBC "tests/.libs/libpsqlodbcfake.so"

/* ThreadSanitizer ends a child of several threads that starts another. */
#if defined(__SANITIZE_THREAD__)
#define USE_NO_FORKS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define USE_NO_FORKS 1
#endif
#endif
#ifndef USE_NO_FORKS
#define USE_NO_FORKS 0
#endif

#endif
