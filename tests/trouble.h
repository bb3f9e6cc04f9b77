/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the tests share that break instances on purpose: making the trouble
 * with setup/sandbox, timed attempts to connect, what the pools hold, a fleet
 * that knows all it can before the trouble begins, and a watch that tells the
 * machine's own slowness from ours.
 */
#ifndef TROUBLE_H
#define TROUBLE_H

#include <stdbool.h>
#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

extern SQLHENV trouble_env; /* of all that follows; main() makes it */

/* ---- the sandbox --------------------------------------------------------- */

/* Runs `setup/sandbox verb FOLDER words` (parted by blanks; NULL = none) on
   AFF_SANDBOX, or on the folder chosen last; waits for its end.  False: it
   failed; what it said is printed as comments.  Any thread. */
bool trouble_make(const char *verb, const char *words);

/* How often the logs of n1, n2 and n3 have these words. */
unsigned trouble_logged(const char *words);

/* From now on this folder's sandbox, running or to be started. */
void trouble_choose(const char *folder);

/* Has this process use its DSNs, if no ODBC call was made yet.  False: it does
   not say where they are. */
bool trouble_use_dsns(void);

/* The folder in use. */
const char *trouble_folder(void);

/* ---- time ---------------------------------------------------------------- */

double trouble_now(void); /* ms, monotonic */

/* Polls until is(arg) holds; false: not within `ms`. */
bool trouble_await(bool (*is)(void *arg), void *arg, double ms);

/* Between the two, a thread sleeps a little again and again; the end returns
   by how many ms at most it woke too late: what the machine owes us. */
void trouble_watch_begin(void);
double trouble_watch_end(void);

/* ---- sessions ------------------------------------------------------------ */

struct trouble_try {
    const char *string; /* in; the rest is out */
    SQLINTEGER login_timeout; /* in: SQL_ATTR_LOGIN_TIMEOUT; 0 = none */
    SQLHDBC dbc;        /* connected; SQL_NULL_HDBC: it failed */
    double ms;          /* that it took */
    char instance[64], verdict[300];
    char records[4000]; /* of a failure: "SQLSTATE native text\n" each */
};

/* One attempt to connect.  The caller closes dbc (odbc_close()). */
bool trouble_try(struct trouble_try *t, const char *string);

/* The same on a thread of its own; the end waits for it. */
void trouble_try_begin(struct trouble_try *t, const char *string);
bool trouble_try_end(struct trouble_try *t);

/* ---- pools --------------------------------------------------------------- */

struct trouble_pools {
    unsigned idle, held, learning, opening, reset, closing; /* links */
    unsigned opened, failed; /* since the start */
    unsigned left;           /* links with a call that nothing can end */
    unsigned waiting;        /* units */
};

/* The sums of SHOW AFFINITY POOLS as this session sees it, of one instance or
   (NULL) of all; only of its own login if `mine`.  False: it failed. */
bool trouble_pools(SQLHDBC on, const char *instance, bool mine,
                   struct trouble_pools *sum);

/* What SHOW AFFINITY INSTANCES says of an instance in that column; "" if it
   failed.  Returns out. */
const char *trouble_instance(SQLHDBC on, const char *instance,
                             const char *title, char *out, size_t size);

/* Does SHOW AFFINITY say that the topology is complete?  For
   trouble_await(); arg is an SQLHDBC. */
bool trouble_complete(void *dbc);

/* Is nothing under way in any pool: nothing opening, learning, in reset,
   closing or waiting?  For trouble_await(); arg is an SQLHDBC. */
bool trouble_quiet(void *dbc);

/* ---- a fleet ------------------------------------------------------------- */

/* Learns everything, leaves an idle link on each instance and keeps the fleet
   by a session on n1, trouble_anchor.  False: it failed.  Wants a sandbox of
   three instances, to whom the keys 500, 1500 and 2500 belong: n1, n2 and
   n3. */
bool trouble_warm(const char *fleet);

/* Lets the fleet go. */
void trouble_cool(void);

extern SQLHDBC trouble_anchor; /* keeps the fleet under test, and looks at it */

#endif
