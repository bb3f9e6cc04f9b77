/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Conformance by the book: rules of the ODBC reference, tried through the
 * manager and below it, narrow and wide.  A rule is a function that calls ODBC
 * through `on` and tells with want_*() each thing that it misses.
 *
 *   BOOK_OURS   what the wrapper answers itself: it must miss nothing
 *   BOOK_INNER  what it hands down: the rule is tried on psqlODBC itself, too,
 *               and the wrapper must miss nothing but what psqlODBC misses,
 *               and that in the same words
 *
 * What is missed nevertheless stands in conform_deviations.c with its reason,
 * so that none goes unseen.
 *
 * A rule's name cites the reference: the function's page and its part, or the
 * appendix and its table.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

#include "inner.h"

/* The ways in which a rule can be tried. */
enum book_way {
    BOOK_NARROW = 1, /* through the manager, connected by SQLDriverConnect */
    BOOK_WIDE = 2,   /* … by SQLDriverConnectW */
    BOOK_LOW = 4,    /* the library's own exports, narrow */
    BOOK_LOW_WIDE = 8,
    BOOK_ANSI = 16, /* through the manager, the ANSI drivers */
    BOOK_MANAGED = BOOK_NARROW | BOOK_WIDE | BOOK_ANSI,
    BOOK_BELOW = BOOK_LOW | BOOK_LOW_WIDE,
    BOOK_ALL = BOOK_MANAGED | BOOK_BELOW
};

enum book_whose { BOOK_OURS, BOOK_INNER };

/* A driver as reached in one way.  env and dbc last as long as the program;
   stmt is new for each rule.  A rule leaves dbc as it found it. */
struct book_on {
    const struct inner_calls *odbc;
    bool wide;
    bool ours;
    bool below;
    const char *string; /* connection string; more keywords may be appended */
    SQLHENV env;
    SQLHDBC dbc;
    SQLHSTMT stmt;
};

typedef void book_rule(const struct book_on *on, const void *row);

/* Tries a rule in each of `ways` and prints its result. */
void book_try(enum book_whose whose, unsigned ways, const char *name,
              book_rule *rule, const void *row);

/* Whose doing it is that a rule is broken. */
enum book_by {
    BOOK_BY_PSQLODBC = 1,
    BOOK_BY_MANAGER = 2,
    BOOK_BY_US = 4 /* decided so */
};

/* The reason why `miss` is told by the rule of that name, among those of
   `by`; NULL: none is known. */
const char *book_deviation(const char *rule, const char *miss, unsigned by);

/* Prints the plan; what main() returns. */
int book_end(void);

/* ---- inside a rule ---------------------------------------------------- */

/* Something the rule demands was not so; the same words in each run (no
   addresses). */
void book_miss(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool want_rc(const char *what, SQLRETURN got, SQLRETURN wanted);
bool want_number(const char *what, long long got, long long wanted);
bool want_text(const char *what, const char *got, const char *wanted);
bool want(const char *what, bool so);

/* The first record of a handle has one of these SQLSTATEs ("HY009 HY090");
   "" = there is no record. */
bool want_state(const struct book_on *on, const char *what, SQLSMALLINT type,
                SQLHANDLE handle, const char *states);

/* The call failed (SQL_ERROR) with one of these. */
bool want_error(const struct book_on *on, const char *what, SQLRETURN rc,
                SQLSMALLINT type, SQLHANDLE handle, const char *states);

/* … succeeded with a warning (SQL_SUCCESS_WITH_INFO). */
bool want_info(const struct book_on *on, const char *what, SQLRETURN rc,
               SQLSMALLINT type, SQLHANDLE handle, const char *states);

/* The SQLSTATE of record `number`, "" = none; static. */
const char *book_state(const struct book_on *on, SQLSMALLINT type,
                       SQLHANDLE handle, SQLSMALLINT number);

/* Text in the width of `on`, and back, of a terminated text; each in one of
   sixteen static buffers. */
void *in(const struct book_on *on, const char *text);
const char *out(const struct book_on *on, const void *text);

/* Makes a buffer all '#', but for a terminator in its last two bytes: a text
   that is never written must have an end too. */
void blot(void *buffer, size_t size);

/* Bytes of a character: 1 or 2. */
size_t unit(const struct book_on *on);

/* A function with text, in the width of `on`:
       TEXT_CALL(on, SQLPrepare)(on->stmt, in(on, "…"), SQL_NTS) */
#define TEXT_CALL(on, name) \
    ((on)->wide ? (__typeof__(name##W) *)(on)->odbc->name##W \
                : (__typeof__(name##W) *)(void *)(on)->odbc->name)

SQLRETURN book_exec(const struct book_on *on, SQLHSTMT stmt, const char *sql);

/* The first column of the first row of on->stmt, which is closed then; in a
   static buffer. */
const char *book_value(const struct book_on *on);

/* A new statement, and a new connection by on->string and `more` (";…" or ""):
   SQL_NULL_HDBC: a miss says why. */
SQLHSTMT book_stmt(const struct book_on *on, SQLHDBC dbc);
SQLHDBC book_dbc(const struct book_on *on);
SQLHDBC book_open(const struct book_on *on, const char *more);
void book_close(const struct book_on *on, SQLHDBC dbc);

/* A copy of `on` with a connection and a statement of its own, for rules that
   change what cannot be put back; false: a miss says why. */
bool book_own(const struct book_on *on, struct book_on *own);
void book_own_end(struct book_on *own);

/* Brings a new statement into state S<state> of Appendix B (1-6, 8-10);
   `query` has a result set and is what is prepared in S3 and open in S5 and
   S6.  False: it could not. */
bool book_bring(const struct book_on *on, int state, const char *query);

#endif
