/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What stands between an exported function and what it does: the prototypes
 * of the bodies written by hand (entry_*.c), made from surface.def, and the
 * way in and out of a call that is forwarded.
 *
 * A forwarded call enters (is it a live handle of ours? drop old records; find
 * the inner twin), calls, and leaves (SQL_SUCCESS at once; anything else by
 * way of entry_leave(), which copies the inner driver's records).  Entering
 * and leaving are inline, because they are all that a forwarded call may cost
 * (design, promise 9).
 */
#ifndef SURFACE_H
#define SURFACE_H

#include "handle.h"
#include "text.h"

#define SURFACE_SPLICE(...) __VA_ARGS__

/* SURFACE_HAND_<route>(x) is x for rows whose body is written by hand,
   SURFACE_MADE_<route>(x) for those whose body is generated. */
#define SURFACE_HAND_STAY(x)
#define SURFACE_HAND_FRESH(x)
#define SURFACE_HAND_PLACE(x) x
#define SURFACE_HAND_EACH(x) x
#define SURFACE_HAND_SELF(x) x
#define SURFACE_HAND_LATE(x) x
#define SURFACE_HAND_HAND(x) x
#define SURFACE_HAND_HOT(x) x
#define SURFACE_MADE_STAY(x) x
#define SURFACE_MADE_FRESH(x) x
#define SURFACE_MADE_PLACE(x)
#define SURFACE_MADE_EACH(x)
#define SURFACE_MADE_SELF(x)
#define SURFACE_MADE_LATE(x)
#define SURFACE_MADE_HAND(x)
#define SURFACE_MADE_HOT(x)

/* SURFACE_FAR_<route>(x) is x for rows whose body is a function of an
   entry_*.c: all that are written by hand but those of entry_hot.h. */
#define SURFACE_FAR_STAY(x)
#define SURFACE_FAR_FRESH(x)
#define SURFACE_FAR_PLACE(x) x
#define SURFACE_FAR_EACH(x) x
#define SURFACE_FAR_SELF(x) x
#define SURFACE_FAR_LATE(x) x
#define SURFACE_FAR_HAND(x) x
#define SURFACE_FAR_HOT(x)

/* What a generated body does besides forwarding. */
#define SURFACE_FIRST_STAY(head)
#define SURFACE_FIRST_FRESH(head) surface_forget_prepared(head);

/* entry_<name>, one for both widths: text is void * and its width comes
   first. */
#define CHARS void
#define PLAIN(name, number, kind, route, params, args) \
    SURFACE_FAR_##route(SQLRETURN entry_##name params;)
#define TEXT(name, number, kind, route, params, args) \
    SURFACE_FAR_##route(SQLRETURN entry_##name(enum text_width width, \
                                               SURFACE_SPLICE params);)
#include "surface.def"

/* One of the inner driver's functions in the width of a call, where the two
   have one type. */
#define SURFACE_IN(width, call, name) \
    ((width) == TEXT_WIDE ? (call)->name##W : (call)->name)

/* ---- the cold half, in entry_forward.c but for what says otherwise ---- */

/* The end of a call that returned anything but SQL_SUCCESS: copies the inner
   driver's records to the handle and, after SQL_ERROR, looks whether the link
   died (rules §5.1), which puts a record of ours in front.  Returns rc.
   Locks: none may be held; calls the inner driver. */
SQLRETURN entry_leave(struct head *head, SQLRETURN rc);

/* The inner twin of one of our handles; inner NULL: it has none now. */
struct twin {
    const struct inner_calls *call;
    SQLHANDLE inner;
    SQLSMALLINT type;
    struct dbc *dbc;
};
struct twin entry_twin(struct head *head);

/* The inner driver lacks this function: IM001.  Wide: that of its name with a
   W. */
SQLRETURN entry_missing(struct head *head, const char *name,
                        enum text_width width);

/* Forgets the command of ours that was prepared on a statement
   (entry_exec.c). */
void entry_forget_command(struct stmt *stmt);

/* The handle's connection belongs to the parent process: 08S01. */
SQLRETURN entry_inherited(struct head *head);

/* Its session has lost its link (session_is_lost()): 08S01, with why, as all
   that is left of the records. */
SQLRETURN entry_lost(struct head *head);

/* Adds that record.  what follows of it: " and this call did nothing". */
SQLRETURN entry_say_lost(struct diags *diags, const struct session *session,
                         const char *what);

/* May a statement or descriptor, of which something new may have to be said,
   still be used?  Anything but SQL_SUCCESS is what the call returns. */
SQLRETURN entry_look(struct head *head);

/* The session is not connected: 08003. */
SQLRETURN entry_unconnected(struct head *head);

/* The inner connection of a session and the inner driver's functions; places
   the session if it has no link (session_need_link()).  Anything but
   SQL_SUCCESS is what the call returns.  Locks: none may be held. */
SQLRETURN entry_inner(struct dbc *dbc, SQLHDBC *inner,
                      const struct inner_calls **call);

/* Writes a text of ours as the value of an attribute or the like, where sizes
   count bytes in both widths: into value[0..size), and the length of the whole
   into *needed (NULL: nowhere).  HY090 if size is negative, and nothing
   written; 01004 if the value was cut (entry_attr.c). */
SQLRETURN entry_write_attr(struct head *head, const char *text, size_t length,
                           SQLPOINTER value, SQLINTEGER size,
                           SQLINTEGER *needed, enum text_width width);

/* For the bodies written by hand: the live handle with its locks claimed and
   its records cleared, or NULL (SQL_INVALID_HANDLE). */
struct env *entry_env(SQLHANDLE handle);
struct dbc *entry_dbc(SQLHANDLE handle);

/* ---- the hot half ---------------------------------------------------- */

#define SURFACE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A live handle that may be used and is without records, so that entering is
   no more than saying that a call runs. */
static inline bool surface_is_plain_STMT(SQLHANDLE handle)
{
    const struct stmt *stmt = handle;

    return handle_is(stmt, HANDLE_STMT) && !handle_is_stale(&stmt->head) &&
           !atomic_load_explicit(&stmt->head.diags.dirty,
                                 memory_order_relaxed);
}

/* Puts the inner handle into *handle and the inner driver's functions into
   *call.  Anything but SQL_SUCCESS is what the call returns. */
static inline SQLRETURN surface_enter_STMT(SQLHANDLE *handle,
                                           const struct inner_calls **call)
{
    struct stmt *stmt = *handle;

    if (SURFACE_UNLIKELY(!handle_is(stmt, HANDLE_STMT))) {
        return SQL_INVALID_HANDLE;
    }
    if (SURFACE_UNLIKELY(handle_is_stale(&stmt->head))) {
        SQLRETURN rc = entry_look(&stmt->head);

        if (rc != SQL_SUCCESS) {
            *call = NULL;
            return rc;
        }
    }
    diag_clear(&stmt->head.diags);
    atomic_store_explicit(&stmt->running, true, memory_order_relaxed);
    *call = stmt->call;
    *handle = stmt->inner;
    return SQL_SUCCESS;
}

static inline void surface_forget_prepared(struct head *head)
{
    struct stmt *stmt = (struct stmt *)head;

    if (SURFACE_UNLIKELY(stmt->command)) {
        entry_forget_command(stmt);
    }
}

static inline SQLRETURN surface_leave_STMT(struct head *head, SQLRETURN rc)
{
    struct stmt *stmt = (struct stmt *)head;

    atomic_store_explicit(&stmt->running, false, memory_order_relaxed);
    return rc == SQL_SUCCESS ? rc : entry_leave(head, rc);
}

static inline SQLRETURN surface_enter_DESC(SQLHANDLE *handle,
                                           const struct inner_calls **call)
{
    struct desc *desc = *handle;

    if (SURFACE_UNLIKELY(!handle_is(desc, HANDLE_DESC))) {
        return SQL_INVALID_HANDLE;
    }
    if (SURFACE_UNLIKELY(handle_is_stale(&desc->head))) {
        SQLRETURN rc = entry_look(&desc->head);

        if (rc != SQL_SUCCESS) {
            *call = NULL;
            return rc;
        }
    }
    diag_clear(&desc->head.diags);
    *call = desc->call;
    *handle = handle_inner_desc(desc);
    return *handle ? SQL_SUCCESS : SQL_ERROR;
}

static inline SQLRETURN surface_leave_DESC(struct head *head, SQLRETURN rc)
{
    return rc == SQL_SUCCESS ? rc : entry_leave(head, rc);
}

/* Not inline: no function of a session is called row by row. */
SQLRETURN surface_enter_DBC(SQLHANDLE *handle,
                            const struct inner_calls **call);

static inline SQLRETURN surface_leave_DBC(struct head *head, SQLRETURN rc)
{
    return rc == SQL_SUCCESS ? rc : entry_leave(head, rc);
}

#endif
