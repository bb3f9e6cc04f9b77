/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Diagnostic records: one re-readable list per handle, ours first, then the
 * inner driver's, copied at once on each result other than SQL_SUCCESS.  The
 * application is told what the inner handle itself says as long as that is all
 * there is to say (entry_diag.c), since drivers differ in how they divide
 * messages, what they count and which fields they know; the copies are for
 * when it cannot be asked any more, or a record of ours stands before.
 *
 * What each of our errors is called stands in diag.def (code, SQLSTATE,
 * native number, text); nothing else in the code names an SQLSTATE of ours.
 * Our records start "[odbc-affinity][DSN]" (design §5.4).
 *
 * A list may be read and written by several threads (SQLCancel and SQLGetDiag*
 * come while another thread executes); each function takes the list's own
 * mutex, LOCK_DIAG, and never calls the inner driver with it.
 */
#ifndef DIAG_H
#define DIAG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

#include "lock.h"
#include "text.h"
#include "why.h"

struct inner_calls;

struct diag_record {
    struct diag_record *next;
    bool ours;
    char state[6];
    SQLINTEGER native;
    SQLLEN row;
    SQLINTEGER column;
    char *narrow; /* as the inner driver's narrow function gave it, or ours */
    char *utf8;   /* as its wide function gave it; NULL: as narrow */
    char *class_origin, *subclass_origin, *connection, *server; /* NULL: ours */
};

/* What a statement's header says besides the number of records and the result
   of the latest call. */
struct diag_header {
    SQLLEN row_count, cursor_row_count;
    SQLINTEGER dynamic_function_code;
    char dynamic_function[64];
    /* The inner driver said SQL_ERROR when asked for them. */
    bool no_row_count, no_cursor_row_count, no_dynamic_function_code;
    SQLRETURN dynamic_function_result; /* what it said for that name */
};

struct diags {
    /* The inner handle does not tell what the latest call left: that call did
       not reach it, or another of ours has come after. */
    atomic_bool aside;
    /* Is there anything that the next call has to clear?  The only thing the
       fast path looks at (relaxed load);
       not first, lest the list's address be computed for it. */
    atomic_bool dirty;
    struct mutex lock; /* guards what follows */
    struct diag_record *first;
    SQLRETURN result; /* SQL_DIAG_RETURNCODE */
    struct diag_header header;
    const char *dsn; /* shown in our records; NULL or "": none is known yet */
};

/* An empty list.  dsn is kept, not copied; NULL: none is known. */
void diag_init(struct diags *diags, const char *dsn);

/* Frees the records and the mutex. */
void diag_free(struct diags *diags);

/* Empties the list; what diag_clear() below does when there is something. */
void diag_wipe(struct diags *diags);

/* At the start of each call but SQLGetDiag* and SQLCancel. */
static inline void diag_clear(struct diags *diags)
{
    if (__builtin_expect(atomic_load_explicit(&diags->dirty,
                                              memory_order_relaxed), 0)) {
        diag_wipe(diags);
    }
}

/* Adds a record of ours behind those of ours and before the inner driver's.
   An empty text takes diag.def's.  Returns what the call is to return, and
   notes it as SQL_DIAG_RETURNCODE: SQL_SUCCESS_WITH_INFO for a warning (class
   01), else SQL_ERROR.  WHY_NONE adds nothing and returns SQL_SUCCESS; so
   does WHY_INNER while the list holds records of the inner driver, but it
   returns SQL_ERROR.  Out of memory loses the record, not the result. */
SQLRETURN diag_why(struct diags *diags, const struct why *why);
SQLRETURN diag_add(struct diags *diags, enum why_code code,
                   const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies the records of an inner handle behind those already here, with the
   header fields if it is a statement, and notes result.  Records are read
   narrow and wide by the inner driver's own functions, so that each reader
   finds what the inner driver would have told it.  But where it names its data
   source, which is `instance`, as the one that the record is of
   (SQL_DIAG_SERVER_NAME), that becomes the application's.  Does not return
   anything but `result`, so that it can stand in a return statement.
   Locks: none may be held; calls the inner driver on the calling thread. */
SQLRETURN diag_copy(struct diags *diags, const struct inner_calls *call,
                    SQLSMALLINT type, SQLHANDLE inner, const char *instance,
                    SQLRETURN result);

/* Moves all records of `from` behind those of `to` (a helper thread's list to
   the handle that waited); `from` is empty afterwards. */
void diag_move(struct diags *to, struct diags *from);

/* Adds copies of all records of `from`, to which nobody adds meanwhile, behind
   those of `to`, and notes and returns its result. */
SQLRETURN diag_repeat(struct diags *to, const struct diags *from);

/* Does any record of the inner driver's answer is() with true?  is() looks at
   its arguments only. */
bool diag_any(struct diags *diags,
              bool (*is)(const char *sqlstate, SQLINTEGER native,
                         const char *text));

/* Says that the inner handle does not tell what the latest call left (true),
   until the next call clears the list, or that it does again. */
void diag_set_aside(struct diags *diags, bool aside);

/* Is what the latest call left to be read here and not from the inner handle:
   set aside, or with a record of ours? */
bool diag_is_here(struct diags *diags);

/* Is there no record? */
bool diag_empty(struct diags *diags);

/* Notes what the call returns (SQL_DIAG_RETURNCODE) and returns it. */
SQLRETURN diag_result(struct diags *diags, SQLRETURN result);

/* SQLGetDiagRec and SQLGetDiagField over the list; arguments as there (text
   is SQLCHAR or SQLWCHAR by `width`; of SQLGetDiagField lengths are bytes).
   They leave the list as it is. */
SQLRETURN diag_record(struct diags *diags, SQLSMALLINT number, void *state,
                      SQLINTEGER *native, void *text, SQLSMALLINT size,
                      SQLSMALLINT *length, enum text_width width);
SQLRETURN diag_field(struct diags *diags, SQLSMALLINT type,
                     SQLSMALLINT number, SQLSMALLINT field, SQLPOINTER value,
                     SQLSMALLINT size, SQLSMALLINT *length,
                     enum text_width width);

#endif
