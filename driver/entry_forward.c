/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The cold half of a forwarded call: refusing it before, and what is left to
 * do after it when it returned anything but SQL_SUCCESS.
 */
#include "autoconf.h"

#include "surface.h"

#include "session.h"

struct twin entry_twin(struct head *head)
{
    struct twin twin = { 0 };

    if (handle_is(head, HANDLE_STMT)) {
        struct stmt *stmt = (struct stmt *)head;

        twin = (struct twin){ stmt->call, stmt->inner, SQL_HANDLE_STMT,
                              stmt->dbc };
    } else if (handle_is(head, HANDLE_DESC)) {
        struct desc *desc = (struct desc *)head;

        twin = (struct twin){ desc->call, desc->inner, SQL_HANDLE_DESC,
                              desc->dbc };
    } else if (handle_is(head, HANDLE_DBC)) {
        struct dbc *dbc = (struct dbc *)head;

        twin.inner = session_inner(dbc->session, &twin.call);
        twin.type = SQL_HANDLE_DBC;
        twin.dbc = dbc;
    }
    return twin;
}

/* A call that was inside the inner driver has failed with its link. */
static void say_death(struct head *head, struct session *session)
{
    struct text why;

    text_init(&why);
    session_say_lost(session, &why);
    diag_add(&head->diags, WHY_DEAD,
             "the link to instance %s died; whether what was asked for was "
             "done is not known%s%s",
             session_instance(session), why.length ? "; " : "",
             text_string(&why));
    text_free(&why);
}

SQLRETURN entry_leave(struct head *head, SQLRETURN rc)
{
    struct twin twin;

    if (rc == SQL_SUCCESS) {
        return rc;
    }
    if (rc == SQL_STILL_EXECUTING || rc == SQL_NEED_DATA) {
        return diag_result(&head->diags, rc); /* no records come with these */
    }
    twin = entry_twin(head);
    if (!twin.inner) {
        return diag_result(&head->diags, rc);
    }
    diag_copy(&head->diags, twin.call, twin.type, twin.inner,
              session_instance(twin.dbc->session), rc);
    if (rc == SQL_ERROR) {
        session_await_cancels(twin.dbc->session);
        session_give_cause(twin.dbc->session, &head->diags);
    }
    if (rc == SQL_ERROR && session_died_of(twin.dbc->session, &head->diags)) {
        say_death(head, twin.dbc->session);
    }
    return rc;
}

SQLRETURN entry_missing(struct head *head, const char *name,
                        enum text_width width)
{
    if (handle_is(head, HANDLE_STMT)) {
        atomic_store_explicit(&((struct stmt *)head)->running, false,
                              memory_order_relaxed);
    }
    return diag_add(&head->diags, WHY_FUNCTION,
                    "the inner driver has no function %s%s", name,
                    width == TEXT_WIDE ? "W" : "");
}

SQLRETURN entry_inherited(struct head *head)
{
    handle_claim(head);
    diag_clear(&head->diags);
    return diag_add(&head->diags, WHY_DEAD,
                    "the connection belongs to the parent process; nothing "
                    "was done");
}

SQLRETURN entry_say_lost(struct diags *diags, const struct session *session,
                         const char *what)
{
    struct text why;
    SQLRETURN rc;

    text_init(&why);
    session_say_lost(session, &why);
    rc = diag_add(diags, WHY_DEAD, "the link is lost%s: %s", what,
                  text_string(&why));
    text_free(&why);
    return rc;
}

SQLRETURN entry_lost(struct head *head)
{
    diag_clear(&head->diags);
    return entry_say_lost(&head->diags, entry_twin(head).dbc->session,
                          " and this call did nothing");
}

SQLRETURN entry_look(struct head *head)
{
    uint32_t news = atomic_load(&lock_news);

    if (handle_inherited(head)) {
        return entry_inherited(head);
    }
    if (session_is_lost(entry_twin(head).dbc->session)) {
        return entry_lost(head);
    }
    atomic_store_explicit(&head->news, news, memory_order_relaxed);
    return SQL_SUCCESS;
}

SQLRETURN entry_unconnected(struct head *head)
{
    return diag_add(&head->diags, WHY_UNCONNECTED, "%s", "");
}

SQLRETURN entry_inner(struct dbc *dbc, SQLHDBC *inner,
                      const struct inner_calls **call)
{
    SQLRETURN rc;

    if (handle_inherited(&dbc->head)) {
        return entry_inherited(&dbc->head);
    }
    if (session_is_lost(dbc->session)) {
        return entry_lost(&dbc->head);
    }
    rc = session_need_link(dbc->session, &dbc->head.diags);
    if (rc == SQL_SUCCESS) {
        *inner = session_inner(dbc->session, call);
        diag_set_aside(&dbc->head.diags, false);
    }
    return rc;
}

SQLRETURN surface_enter_DBC(SQLHANDLE *handle, const struct inner_calls **call)
{
    struct dbc *dbc = entry_dbc(*handle);

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    return entry_inner(dbc, handle, call);
}

struct env *entry_env(SQLHANDLE handle)
{
    if (!handle_is(handle, HANDLE_ENV)) {
        return NULL;
    }
    handle_claim(handle);
    diag_clear(&((struct env *)handle)->head.diags);
    return handle;
}

struct dbc *entry_dbc(SQLHANDLE handle)
{
    if (!handle_is(handle, HANDLE_DBC)) {
        return NULL;
    }
    handle_claim(handle);
    diag_clear(&((struct dbc *)handle)->head.diags);
    /* until entry_inner() says otherwise */
    diag_set_aside(&((struct dbc *)handle)->head.diags, true);
    return handle;
}
