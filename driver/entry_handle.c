/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLAllocHandle, SQLFreeHandle and what entry_hot.h leaves of SQLFreeStmt.
 * Environments and sessions cost no inner call; statements and explicit
 * descriptors are made on the session's link together with their inner twins.
 *
 * A freed inner handle counts as gone whatever the inner driver said: some
 * say SQL_ERROR on a broken link after having freed it (facts §9).
 */
#include "autoconf.h"

#include "entry_hot.h"

#include "session.h"

static SQLRETURN alloc_env(SQLHANDLE *output)
{
    *output = handle_new_env();
    return *output ? SQL_SUCCESS : SQL_ERROR;
}

static SQLRETURN alloc_dbc(SQLHANDLE input, SQLHANDLE *output)
{
    struct env *env = entry_env(input);

    if (!env) {
        return SQL_INVALID_HANDLE;
    }
    if (!env->odbc_version) {
        return diag_add(&env->head.diags, WHY_SEQUENCE,
                        "SQL_ATTR_ODBC_VERSION must be set first");
    }
    *output = handle_new_dbc(env);
    return *output ? SQL_SUCCESS :
        diag_add(&env->head.diags, WHY_MEMORY, "%s", "");
}

/* The inner handle for a new statement or descriptor of a connected session;
   anything but success is in dbc's records. */
static SQLRETURN alloc_inner(struct dbc *dbc, SQLSMALLINT type,
                             const struct inner_calls **call,
                             SQLHANDLE *inner)
{
    SQLHDBC hdbc;
    SQLRETURN rc;

    rc = entry_inner(dbc, &hdbc, call);
    if (rc != SQL_SUCCESS) {
        return rc;
    }
    session_touch(dbc->session);
    lock_assert_none();
    rc = (*call)->SQLAllocHandle(type, hdbc, inner);
    return rc == SQL_SUCCESS ? rc : entry_leave(&dbc->head, rc);
}

static SQLRETURN alloc_child(SQLSMALLINT type, SQLHANDLE input,
                             SQLHANDLE *output)
{
    struct dbc *dbc = entry_dbc(input);
    const struct inner_calls *call;
    SQLHANDLE inner = SQL_NULL_HANDLE;
    SQLRETURN rc;

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    rc = alloc_inner(dbc, type, &call, &inner);
    if (!SQL_SUCCEEDED(rc)) {
        return rc;
    }
    *output = type == SQL_HANDLE_STMT ?
        (SQLHANDLE)handle_new_stmt(dbc, call, inner) :
        (SQLHANDLE)handle_new_desc(dbc, call, inner);
    if (!*output) {
        call->SQLFreeHandle(type, inner);
        return diag_add(&dbc->head.diags, WHY_MEMORY, "%s", "");
    }
    return rc;
}

SQLRETURN entry_SQLAllocHandle(SQLSMALLINT type, SQLHANDLE input,
                               SQLHANDLE *output)
{
    struct head *parent =
        handle_find(type == SQL_HANDLE_DBC ? SQL_HANDLE_ENV : SQL_HANDLE_DBC,
                    input);

    if (parent) {
        handle_claim(parent);
        diag_clear(&parent->diags);
    }
    if (!output) {
        return parent ? diag_add(&parent->diags, WHY_POINTER, "%s", "") :
            SQL_ERROR;
    }
    *output = SQL_NULL_HANDLE;
    switch (type) {
    case SQL_HANDLE_ENV:
        return alloc_env(output);
    case SQL_HANDLE_DBC:
        return alloc_dbc(input, output);
    case SQL_HANDLE_STMT:
    case SQL_HANDLE_DESC:
        return alloc_child(type, input, output);
    default:
        return parent ? diag_add(&parent->diags, WHY_ATTRIBUTE,
                                 "there is no handle type %d", (int)type) :
            SQL_INVALID_HANDLE;
    }
}

static SQLRETURN free_env(struct env *env)
{
    diag_clear(&env->head.diags);
    if (env->dbcs) {
        return diag_add(&env->head.diags, WHY_SEQUENCE,
                        "the environment still has connection handles");
    }
    handle_free_env(env);
    return SQL_SUCCESS;
}

/* While SQLBrowseConnect waits for more there is nothing to disconnect. */
static SQLRETURN free_dbc(struct dbc *dbc)
{
    diag_clear(&dbc->head.diags);
    if (dbc->connected) {
        return diag_add(&dbc->head.diags, WHY_SEQUENCE,
                        "the handle is still connected");
    }
    handle_free_dbc(dbc);
    return SQL_SUCCESS;
}

static void free_inner(struct dbc *dbc, const struct inner_calls *call,
                       SQLSMALLINT type, SQLHANDLE inner)
{
    if (session_keep_child(dbc->session, type, inner)) {
        return;
    }
    lock_assert_none();
    if (call->SQLFreeHandle(type, inner) == SQL_ERROR) {
        session_ask_dead(dbc->session);
    }
}

static SQLRETURN free_stmt(struct stmt *stmt)
{
    struct dbc *dbc = stmt->dbc;
    const struct inner_calls *call = stmt->call;
    SQLHSTMT inner = stmt->inner;
    bool inherited = handle_inherited(&stmt->head);

    handle_free_stmt(stmt);
    if (!inherited) {
        free_inner(dbc, call, SQL_HANDLE_STMT, inner);
    }
    return SQL_SUCCESS;
}

/* The statements that use it have their own again (SQLFreeHandle, Freeing a
   Descriptor Handle).  psqlODBC would go on to use what is freed. */
static void take_from_statements(struct desc *desc, bool inherited)
{
    enum desc_role role;
    struct stmt *stmt;

    while (handle_unset_desc(desc, &stmt, &role)) {
        if (!inherited && stmt->call->SQLSetStmtAttr &&
            !session_is_lost(desc->dbc->session)) {
            lock_assert_none();
            stmt->call->SQLSetStmtAttr(stmt->inner,
                                       SQL_ATTR_APP_ROW_DESC + (int)role,
                                       SQL_NULL_HDESC, SQL_IS_POINTER);
        }
    }
}

static SQLRETURN free_desc(struct desc *desc)
{
    struct dbc *dbc = desc->dbc;
    const struct inner_calls *call = desc->call;
    SQLHDESC inner = desc->inner;
    bool inherited = handle_inherited(&desc->head);

    diag_clear(&desc->head.diags);
    if (desc->stmt) {
        return diag_add(&desc->head.diags, WHY_DESCRIPTOR,
                        "a statement's own descriptor cannot be freed");
    }
    take_from_statements(desc, inherited);
    handle_free_desc(desc);
    if (!inherited) {
        free_inner(dbc, call, SQL_HANDLE_DESC, inner);
    }
    return SQL_SUCCESS;
}

SQLRETURN entry_SQLFreeHandle(SQLSMALLINT type, SQLHANDLE handle)
{
    struct head *head = handle_find(type, handle);

    if (!head) {
        return SQL_INVALID_HANDLE;
    }
    handle_claim(head);
    switch (type) {
    case SQL_HANDLE_ENV:
        return free_env((struct env *)head);
    case SQL_HANDLE_DBC:
        return free_dbc((struct dbc *)head);
    case SQL_HANDLE_STMT:
        return free_stmt((struct stmt *)head);
    default:
        return free_desc((struct desc *)head);
    }
}

SQLRETURN entry_close(SQLHSTMT handle, SQLUSMALLINT option)
{
    struct stmt *stmt = handle;
    const struct inner_calls *call;
    SQLRETURN rc;

    if (handle_is(stmt, HANDLE_STMT) && !handle_inherited(&stmt->head) &&
        session_is_lost(stmt->dbc->session)) {
        diag_clear(&stmt->head.diags);
        return SQL_SUCCESS; /* what it would let go of is gone with the link */
    }
    rc = surface_enter_STMT(&handle, &call);
    return rc == SQL_SUCCESS ? entry_forward_close(stmt, option) : rc;
}
