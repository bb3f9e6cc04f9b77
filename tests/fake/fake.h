/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A pretend inner driver: one library, loaded by the real loader, that says
 * who it is, notes every call, and misbehaves when asked to.
 *
 * Connections differ by their connection string.  Keywords of the fake (they
 * are handed down like any other that the wrapper does not know):
 *
 *   FakeName=n         what "SELECT fake_name" answers (default: the DSN)
 *   FakeFail=28P01     connecting fails with that SQLSTATE
 *   FakeWarn=01S02     connecting succeeds with that SQLSTATE
 *   FakeHang=1         connecting hangs until fake_release()
 *   FakeSlow=ms        connecting and executing take that long
 *   FakeDie=n          the n-th SQLExecDirect or SQLExecute finds it dead
 *   FakeRole=standby   what it says of itself (default: primary)
 *   FakeIdentity=id    its group
 *   FakeControl=file   further keywords, one keyword=value a line, read at
 *                      each connect and execution and winning over the string;
 *                      FakeHang ends when the file no longer says it
 *
 * Statements: a text that has
 *
 *   fake_name            answers one row with the name
 *   pg_is_in_recovery    answers who it is: six columns (driver/inner_kind.h)
 *   FAIL xxxxx           SQL_ERROR with that SQLSTATE and two records
 *   INFO                 SQL_SUCCESS_WITH_INFO
 *   EMPTY                SQL_NO_DATA
 *   MUTE                 SQL_ERROR without a record; DIE in it: and dead
 *   DIE                  the connection is dead: 08S01
 *   HANG                 waits for SQLCancel (HY008) or fake_release()
 *   ROWS n               n rows of one column, 1 to n
 *   ?                    asks for data at execution: SQL_NEED_DATA
 *
 * anywhere in it, the first of these in this order; all others succeed without
 * a result.  Every handle that comes in must be a live one of its own: one
 * that is not is counted in fake_mistakes().
 *
 * Tests in the same process find the functions below by dlsym(); FAKE_LOG in
 * the environment names a file to which each call's name is appended.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdint.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

enum { FAKE_ARGS_MAX = 14, FAKE_CALLS_MAX = 4096 };

struct fake_call {
    const char *name; /* "SQLFetch", "SQLTablesW" */
    unsigned count;
    intptr_t args[FAKE_ARGS_MAX]; /* numbers sign- or zero-extended */
};

struct fake_api {
    /* Forgets the calls noted so far. */
    void (*forget)(void);
    /* How many calls have been noted, and the i-th (of the latest
       FAKE_CALLS_MAX); copies it and returns 1, or 0 if there is none. */
    unsigned (*calls)(void);
    int (*call)(unsigned i, struct fake_call *out);
    /* What the next call without a behaviour of its own returns, once. */
    void (*answer)(SQLRETURN rc);
    /* Lets all that hang go on. */
    void (*release)(void);
    /* Waits until n calls hang; 0: not within 10 s. */
    int (*await_hanging)(unsigned n);
    /* How many connects were under way at once, at most, up to now; counts anew
       from here if `anew`. */
    unsigned (*most_connecting)(int anew);
    /* Live handles of a SQL_HANDLE_ type, calls with handles that were none,
       and the latest handle that was allocated. */
    unsigned (*live)(SQLSMALLINT type);
    unsigned (*mistakes)(void);
    SQLHANDLE (*latest)(SQLSMALLINT type);
};

/* The one symbol beside the driver's own: "fake_api". */
extern const struct fake_api fake_api;

#endif
