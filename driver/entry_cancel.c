/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLCancel and SQLCancelHandle.  They come from another thread while the
 * call to be cancelled is inside the inner driver; they wait for nothing that
 * it holds and leave its records alone (facts §2).  Since PQcancel can hang, a
 * helper thread makes the inner call (rules §4.6), and is waited for a little:
 * whoever has cancelled may run the next statement at once.
 *
 * On a statement that is not executing, SQLCancel ends what SQLParamData is
 * asking for, which the application relies on when it returns, so then the
 * inner driver is called at once.
 */
#include "autoconf.h"

#include "session.h"
#include "surface.h"

/* For a statement at rest it is a call like any other; the records of an
   executing call are its own. */
static SQLRETURN cancel(struct stmt *stmt)
{
    bool running =
        atomic_load_explicit(&stmt->running, memory_order_relaxed);
    SQLRETURN rc;

    if (!running) {
        diag_clear(&stmt->head.diags);
    }
    if (!stmt->call->SQLCancel) {
        return running ? SQL_ERROR
                       : entry_missing(&stmt->head, "SQLCancel", TEXT_NARROW);
    }
    if (running && session_cancel(stmt->dbc->session, stmt->inner)) {
        return SQL_SUCCESS;
    }
    lock_assert_none();
    rc = stmt->call->SQLCancel(stmt->inner);
    return rc == SQL_SUCCESS || running ? rc : entry_leave(&stmt->head, rc);
}

/* A call that is still inside the inner driver is ended already, where that is
   possible at all (link_socket.h). */
static SQLRETURN cancel_lost(struct stmt *stmt)
{
    return atomic_load_explicit(&stmt->running, memory_order_relaxed)
               ? SQL_SUCCESS
               : entry_lost(&stmt->head);
}

SQLRETURN entry_SQLCancel(SQLHSTMT handle)
{
    struct stmt *stmt = handle;

    if (!handle_is(stmt, HANDLE_STMT)) {
        return SQL_INVALID_HANDLE;
    }
    if (handle_inherited(&stmt->head)) {
        return entry_inherited(&stmt->head);
    }
    if (session_is_lost(stmt->dbc->session)) {
        return cancel_lost(stmt);
    }
    return cancel(stmt);
}

/* What a session runs by itself only asynchronous calls leave running, and
   which those are the inner driver knows.  Without a link there are none; and
   whoever is just connecting or placing the session is left alone: unixODBC
   lets this call through meanwhile. */
static SQLRETURN cancel_session(SQLHDBC handle)
{
    struct dbc *dbc = handle;
    struct head *head = handle;
    const struct inner_calls *call;
    SQLRETURN rc;

    if (!handle_is(dbc, HANDLE_DBC)) {
        return SQL_INVALID_HANDLE;
    }
    if (!dbc->connected || !session_inner(dbc->session, &call)) {
        return SQL_SUCCESS;
    }
    rc = surface_enter_DBC(&handle, &call);
    if (rc != SQL_SUCCESS) {
        return rc;
    }
    if (!call->SQLCancelHandle) {
        return entry_missing(head, "SQLCancelHandle", TEXT_NARROW);
    }
    return surface_leave_DBC(head,
                             call->SQLCancelHandle(SQL_HANDLE_DBC, handle));
}

SQLRETURN entry_SQLCancelHandle(SQLSMALLINT type, SQLHANDLE handle)
{
    switch (type) {
    case SQL_HANDLE_STMT:
        return entry_SQLCancel(handle);
    case SQL_HANDLE_DBC:
        return cancel_session(handle);
    default:
        return SQL_INVALID_HANDLE;
    }
}
