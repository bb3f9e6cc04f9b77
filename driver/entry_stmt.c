/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Statement attributes and SQLCopyDesc: wherever a descriptor handle passes,
 * ours becomes the inner driver's and back.  Everything else is forwarded.
 */
#include "autoconf.h"

#include "surface.h"

static bool is_descriptor(SQLINTEGER attribute)
{
    return attribute >= SQL_ATTR_APP_ROW_DESC &&
           attribute <= SQL_ATTR_IMP_PARAM_DESC;
}

/* ---- getting --------------------------------------------------------- */

/* The manager asks for all four right after a statement is made and keeps
   them for its life (facts §9), so these cost no inner call. */
static SQLRETURN get_desc(struct stmt *stmt, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER *length)
{
    if (!diag_empty(&stmt->head.diags)) {
        diag_clear(&stmt->head.diags);
        diag_set_aside(&stmt->head.diags, true); /* the twin keeps them */
    }
    if (value) {
        *(SQLHDESC *)value = handle_current_desc(
            stmt, (enum desc_role)(attribute - SQL_ATTR_APP_ROW_DESC));
    }
    if (length) {
        *length = (SQLINTEGER)sizeof(SQLHDESC);
    }
    return SQL_SUCCESS;
}

SQLRETURN entry_SQLGetStmtAttr(enum text_width width, SQLHSTMT handle,
                               SQLINTEGER attribute, SQLPOINTER value,
                               SQLINTEGER size, SQLINTEGER *length)
{
    struct head *head = handle;
    const struct inner_calls *call;
    __typeof__(SQLGetStmtAttr) *get;
    SQLRETURN rc;

    if (is_descriptor(attribute) && handle_is(head, HANDLE_STMT) &&
        !handle_inherited(head)) { /* no inner call, even if it is lost */
        return get_desc(handle, attribute, value, length);
    }
    rc = surface_enter_STMT(&handle, &call);
    if (rc != SQL_SUCCESS) {
        return rc;
    }
    get = SURFACE_IN(width, call, SQLGetStmtAttr);
    if (!get) {
        return entry_missing(head, "SQLGetStmtAttr", width);
    }
    return surface_leave_STMT(head,
                              get(handle, attribute, value, size, length));
}

/* ---- setting --------------------------------------------------------- */

/* Which descriptor `value` means for this role of stmt: its own implicit one
   (as SQL_NULL_HDESC does), or an explicit one of the same session.  False: it
   may not be set, the reason is in the records. */
static bool choose_desc(struct stmt *stmt, enum desc_role role,
                        SQLPOINTER value, struct desc **desc)
{
    struct diags *diags = &stmt->head.diags;

    *desc = value ? value : (void *)&stmt->implicit[role];
    if (role == DESC_IRD || role == DESC_IPD) {
        diag_add(diags, WHY_DESCRIPTOR,
                 "an implementation descriptor cannot be replaced");
    } else if (!handle_is(*desc, HANDLE_DESC) || (*desc)->dbc != stmt->dbc) {
        diag_add(diags, WHY_VALUE,
                 "the descriptor is none of this connection");
    } else if ((*desc)->stmt && *desc != &stmt->implicit[role]) {
        diag_add(diags, WHY_DESCRIPTOR,
                 "the descriptor belongs to a statement");
    } else {
        return true;
    }
    return false;
}

static SQLRETURN set_desc(struct stmt *stmt, SQLINTEGER attribute,
                          SQLPOINTER value)
{
    enum desc_role role =
        (enum desc_role)(attribute - SQL_ATTR_APP_ROW_DESC);
    SQLRETURN rc;
    struct desc *desc;

    diag_clear(&stmt->head.diags);
    if (!choose_desc(stmt, role, value, &desc)) {
        return SQL_ERROR;
    }
    if (!stmt->call->SQLSetStmtAttr) {
        return entry_missing(&stmt->head, "SQLSetStmtAttr", TEXT_NARROW);
    }
    /* Once another is set, the inner statement no longer tells its own. */
    if (!handle_inner_desc(&stmt->implicit[role])) {
        diag_move(&stmt->head.diags, &stmt->implicit[role].head.diags);
        return SQL_ERROR;
    }
    lock_assert_none();
    rc = stmt->call->SQLSetStmtAttr(stmt->inner, attribute,
                                    desc->stmt ? SQL_NULL_HDESC : desc->inner,
                                    SQL_IS_POINTER);
    if (SQL_SUCCEEDED(rc)) {
        handle_set_desc(stmt, role, desc);
    }
    return rc == SQL_SUCCESS ? rc : entry_leave(&stmt->head, rc);
}

SQLRETURN entry_SQLSetStmtAttr(enum text_width width, SQLHSTMT handle,
                               SQLINTEGER attribute, SQLPOINTER value,
                               SQLINTEGER length)
{
    struct head *head = handle;
    const struct inner_calls *call;
    __typeof__(SQLSetStmtAttr) *set;
    SQLRETURN rc;

    if (is_descriptor(attribute) && handle_is(head, HANDLE_STMT)) {
        rc = handle_is_stale(head) ? entry_look(head) : SQL_SUCCESS;
        return rc == SQL_SUCCESS ? set_desc(handle, attribute, value) : rc;
    }
    rc = surface_enter_STMT(&handle, &call);
    if (rc != SQL_SUCCESS) {
        return rc;
    }
    set = SURFACE_IN(width, call, SQLSetStmtAttr);
    if (!set) {
        return entry_missing(head, "SQLSetStmtAttr", width);
    }
    return surface_leave_STMT(head, set(handle, attribute, value, length));
}

/* ---- copying --------------------------------------------------------- */

/* What is wrong is said by the target's records (SQLCopyDesc's page). */
SQLRETURN entry_SQLCopyDesc(SQLHDESC handle, SQLHDESC target)
{
    struct head *head = target;
    const struct inner_calls *from, *to;
    SQLRETURN rc = surface_enter_DESC(&target, &to);

    if (rc != SQL_SUCCESS) {
        return rc;
    }
    rc = surface_enter_DESC(&handle, &from);
    if (rc != SQL_SUCCESS) {
        return rc;
    }
    if (from != to) {
        return diag_add(&head->diags, WHY_UNAVAILABLE,
                        "descriptors of two inner drivers cannot be copied");
    }
    if (!to->SQLCopyDesc) {
        return entry_missing(head, "SQLCopyDesc", TEXT_NARROW);
    }
    return surface_leave_DESC(head, to->SQLCopyDesc(handle, target));
}
