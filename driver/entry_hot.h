/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The bodies of the rows whose route is HOT: what is called once a statement
 * and is more than forwarding.  Inline, so that the exported function, narrow
 * or wide, has nothing to hand over or to decide; whatever is rare is a call,
 * mostly the last one, of entry_exec.c.
 */
#ifndef ENTRY_HOT_H
#define ENTRY_HOT_H

#include "surface.h"

#include "command_likely.h"

#define ENTRY_INLINE static inline __attribute__((always_inline))

enum entry_way { WAY_DIRECT, WAY_PREPARE, WAY_EXECUTE };

/* SQLExecDirect or SQLPrepare (way) where something is out of the ordinary:
   the handle, records to clear, what was prepared before, a text that could
   hold a command of ours.  The arguments stand where the exported function has
   them already.  Locks: none may be held. */
SQLRETURN entry_run_text(SQLHSTMT handle, void *text, SQLINTEGER length,
                         enum text_width width, enum entry_way way);

/* SQLExecute in such a case.  Locks: none may be held. */
SQLRETURN entry_run_prepared(SQLHSTMT handle);

/* SQLFreeStmt, but for SQL_DROP, in such a case (entry_handle.c).  Locks: none
   may be held. */
SQLRETURN entry_close(SQLHSTMT handle, SQLUSMALLINT option);

/* ---- running a text -------------------------------------------------- */

/* What is sent is running, and may begin a unit. */
ENTRY_INLINE void entry_begin_unit(struct stmt *stmt)
{
    atomic_store_explicit(&stmt->running, true, memory_order_relaxed);
    atomic_store_explicit(&stmt->dbc->unit, true, memory_order_relaxed);
    atomic_store_explicit(&stmt->executed, true, memory_order_relaxed);
}

/* SQLExecDirect or SQLPrepare of a text that is no command.  Asked for its
   columns, a prepared statement begins a unit, too (rules §9.0). */
ENTRY_INLINE SQLRETURN entry_forward_text(struct stmt *stmt,
                                          enum text_width width,
                                          enum entry_way way, void *text,
                                          SQLINTEGER length)
{
    const struct inner_calls *call = stmt->call;
    bool direct = way == WAY_DIRECT;
    __typeof__(SQLExecDirect) *narrow =
        direct ? call->SQLExecDirect : call->SQLPrepare;
    __typeof__(SQLExecDirectW) *wide =
        direct ? call->SQLExecDirectW : call->SQLPrepareW;

    entry_begin_unit(stmt);
    if (SURFACE_UNLIKELY(width == TEXT_WIDE ? !wide : !narrow)) {
        return entry_missing(&stmt->head,
                             direct ? "SQLExecDirect" : "SQLPrepare", width);
    }
    return surface_leave_STMT(&stmt->head,
                              width == TEXT_WIDE
                                  ? wide(stmt->inner, text, length)
                                  : narrow(stmt->inner, text, length));
}

/* Most texts go through at once. */
ENTRY_INLINE SQLRETURN entry_take_text(enum text_width width, SQLHSTMT handle,
                                       enum entry_way way, void *text,
                                       SQLINTEGER length)
{
    struct stmt *stmt = handle;

    if (SURFACE_UNLIKELY(!surface_is_plain_STMT(handle) || stmt->prepared ||
                         command_possible(text, length, width))) {
        return entry_run_text(handle, text, length, width, way);
    }
    return entry_forward_text(stmt, width, way, text, length);
}

ENTRY_INLINE SQLRETURN entry_SQLExecDirect(enum text_width width,
                                           SQLHSTMT handle, void *text,
                                           SQLINTEGER length)
{
    return entry_take_text(width, handle, WAY_DIRECT, text, length);
}

ENTRY_INLINE SQLRETURN entry_SQLPrepare(enum text_width width, SQLHSTMT handle,
                                        void *text, SQLINTEGER length)
{
    return entry_take_text(width, handle, WAY_PREPARE, text, length);
}

ENTRY_INLINE SQLRETURN entry_forward_execute(struct stmt *stmt)
{
    const struct inner_calls *call = stmt->call;

    entry_begin_unit(stmt);
    if (SURFACE_UNLIKELY(!call->SQLExecute)) {
        return entry_missing(&stmt->head, "SQLExecute", TEXT_NARROW);
    }
    return surface_leave_STMT(&stmt->head, call->SQLExecute(stmt->inner));
}

ENTRY_INLINE SQLRETURN entry_SQLExecute(SQLHSTMT handle)
{
    struct stmt *stmt = handle;

    if (SURFACE_UNLIKELY(!surface_is_plain_STMT(handle) || stmt->prepared)) {
        return entry_run_prepared(handle);
    }
    return entry_forward_execute(stmt);
}

/* ---- closing a cursor ------------------------------------------------ */

ENTRY_INLINE SQLRETURN entry_forward_close(struct stmt *stmt,
                                           SQLUSMALLINT option)
{
    const struct inner_calls *call = stmt->call;

    atomic_store_explicit(&stmt->running, true, memory_order_relaxed);
    if (SURFACE_UNLIKELY(!call->SQLFreeStmt)) {
        return entry_missing(&stmt->head, "SQLFreeStmt", TEXT_NARROW);
    }
    return surface_leave_STMT(&stmt->head,
                              call->SQLFreeStmt(stmt->inner, option));
}

/* The manager turns SQL_DROP into SQLFreeHandle; without it the inner
   statement must not be dropped behind our back. */
ENTRY_INLINE SQLRETURN entry_SQLFreeStmt(SQLHSTMT handle, SQLUSMALLINT option)
{
    if (SURFACE_UNLIKELY(option == SQL_DROP)) {
        return entry_SQLFreeHandle(SQL_HANDLE_STMT, handle);
    }
    if (SURFACE_UNLIKELY(!surface_is_plain_STMT(handle))) {
        return entry_close(handle, option);
    }
    return entry_forward_close(handle, option);
}

#endif
