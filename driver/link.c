/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A link's life as inner calls: open, who, validate, close.  The reset stands
 * in link_reset.c, queries in link_query.c, errors in link_error.c.
 */
#include "autoconf.h"

#include "link.h"
#include "diag.h"
#include "link_call.h"
#include "link_socket.h"
#include "lock.h"
#include "secret.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole seconds, at least 2: psqlODBC takes 2.0 s for 1 [V], and without a
   limit it hangs. */
static SQLULEN login_seconds(unsigned ms)
{
    SQLULEN seconds = (ms + 999) / 1000;
    return seconds < 2 ? 2 : seconds;
}

/* The completed string is not asked for: psqlODBC puts the password in, and
   where it had no room a warning would be ours and nobody else's. */
static SQLRETURN connect_narrow(const struct link *link, const char *string)
{
    SQLSMALLINT length;

    return link->inner->call.SQLDriverConnect(
        link->hdbc, NULL, (SQLCHAR *)string, SQL_NTS, NULL, 0, &length,
        SQL_DRIVER_NOPROMPT);
}

/* For secret_free(); NULL: out of memory. */
static SQLWCHAR *secret_wide(const char *string)
{
    size_t bytes = strlen(string);
    size_t units = text_utf16_length(string, bytes) + 1;
    SQLWCHAR *wide = malloc(units * sizeof *wide);
    const char *secret = NULL;

    if (wide) {
        text_write(string, bytes, wide, (SQLLEN)units, TEXT_WIDE,
                   TEXT_CHARACTERS);
        secret = secret_dup((const char *)wide, units * sizeof *wide);
        explicit_bzero(wide, units * sizeof *wide);
        free(wide);
    }
    return (SQLWCHAR *)(uintptr_t)secret;
}

static SQLRETURN connect_wide(const struct link *link, const char *string)
{
    const struct inner_calls *call = &link->inner->call;
    SQLWCHAR *wide = secret_wide(string);
    SQLSMALLINT length;
    SQLRETURN rc = SQL_ERROR;

    if (wide) {
        /* what the manager tells a driver before a wide connect (facts §3) */
        call->SQLSetConnectAttr(link->hdbc, SQL_ATTR_ANSI_APP,
                                (SQLPOINTER)SQL_AA_FALSE, 0);
        rc = call->SQLDriverConnectW(link->hdbc, NULL, wide, SQL_NTS, NULL, 0,
                                     &length, SQL_DRIVER_NOPROMPT);
        secret_free((const char *)wide);
    }
    return rc;
}

bool link_take_who(struct link *link, unsigned count, const char *const *values)
{
    struct link_who *who = &link->who;

    if (count < 6 || !values[0]) {
        return false;
    }
    *who = (struct link_who){
        .role = values[0][0] == '1' ? LINK_ROLE_STANDBY : LINK_ROLE_PRIMARY,
        .timeline =
            values[2] ? (uint32_t)strtoul(values[2], NULL, 10) : 0,
        .backend = values[5] ? (int)strtol(values[5], NULL, 10) : 0,
    };
    snprintf(who->identity, sizeof who->identity, "%s",
             values[1] ? values[1] : "");
    snprintf(who->encoding, sizeof who->encoding, "%s",
             values[3] ? values[3] : "");
    snprintf(who->ends, sizeof who->ends, "%s", values[4] ? values[4] : "");
    return true;
}

void link_forget_who(struct link *link)
{
    link->who.role = LINK_ROLE_UNKNOWN;
    link->who.identity[0] = '\0';
    link->who.timeline = 0;
}

static bool take_row(void *arg, unsigned count, const char *const *values)
{
    link_take_who(arg, count, values);
    return false;
}

bool link_freshen(struct link *link, struct link_error *error)
{
    const char *fresh = link->inner->kind->fresh;

    /* An instance that will not do it is as good. */
    return !fresh || link_execute(link, fresh, error) || !link_dead(link);
}

bool link_is_alive(const struct link *link, struct link_error *error)
{
    if (link_dead(link)) {
        link_set_error(error, "HY000",
                       "the inner driver says the link is dead");
        return false;
    }
    return true;
}

static bool ask_who(struct link *link, struct link_error *error)
{
    const struct inner_kind *kind = link->inner->kind;
    const char *const *query = &kind->who[link->who_form];

    link_forget_who(link);
    if (!*query) {
        return link_is_alive(link, error);
    }
    for (; *query; query++) {
        if (link_query(link, *query, take_row, link, error)) {
            return link_freshen(link, error);
        }
        if (link_dead(link)) {
            return false;
        }
        if (link_is_refusal(error)) {
            link->who_form = (uint8_t)(query - kind->who + 1);
        }
    }
    /* It says nothing of itself: no reason to refuse it. */
    return link_is_alive(link, error);
}

static void free_handles(struct link *link)
{
    const struct inner_calls *call = &link->inner->call;

    if (link->hdbc) {
        call->SQLFreeHandle(SQL_HANDLE_DBC, link->hdbc);
        link->hdbc = SQL_NULL_HDBC;
    }
    if (link->env) {
        call->SQLFreeHandle(SQL_HANDLE_ENV, link->env);
        link->env = SQL_NULL_HENV;
    }
}

static bool allocate(struct link *link, const struct link_order *order,
                     struct link_error *error)
{
    const struct inner *inner = order->inner;
    struct why why = { 0 };
    SQLHENV env;

    link->inner = inner;
    link->hdbc = SQL_NULL_HDBC;
    link->env = SQL_NULL_HENV;
    if (inner->kind->env_shared) {
        env = inner_env(inner, order->odbc_version, &why);
    } else {
        env = link->env = inner_env_new(inner, order->odbc_version, &why);
    }
    if (!env) {
        link_set_error(error, "HY000", "%s", why.text);
        return false;
    }
    if (!SQL_SUCCEEDED(inner->call.SQLAllocHandle(SQL_HANDLE_DBC, env,
                                                  &link->hdbc))) {
        link_take_error(link, SQL_HANDLE_ENV, env, error);
        link->hdbc = SQL_NULL_HDBC;
        free_handles(link);
        return false;
    }
    return true;
}

void link_forget_warnings(struct link *link)
{
    if (link->warned) {
        diag_free(link->warned);
        free(link->warned);
        link->warned = NULL;
    }
}

/* Without memory they are lost; the link is as good without.  Without a record
   there is nothing to tell: psqlODBC's ReadOnly=1 refuses the encoding that we
   set (inner_psqlodbc.c), and says no more. */
static void keep_warnings(struct link *link, const char *instance)
{
    link->warned = malloc(sizeof *link->warned);
    if (link->warned) {
        diag_init(link->warned, NULL);
        diag_copy(link->warned, &link->inner->call, SQL_HANDLE_DBC,
                  link->hdbc, instance, SQL_SUCCESS_WITH_INFO);
        if (!link->warned->first) {
            link_forget_warnings(link);
        }
    }
}

/* A driver that tells its records by SQLError keeps them until they are asked
   for: those of our own calls are nobody's. */
static void drop_records(const struct link *link, const char *instance)
{
    struct diags none;

    if (link->inner->call.SQLError) {
        diag_init(&none, NULL);
        diag_copy(&none, &link->inner->call, SQL_HANDLE_DBC, link->hdbc,
                  instance, SQL_SUCCESS);
        diag_free(&none);
    }
}

static bool open_link(struct link *link, const struct link_order *order,
                      struct link_error *error)
{
    const struct inner_calls *call = &order->inner->call;
    SQLRETURN rc;

    lock_assert_none();
    if (!allocate(link, order, error)) {
        return false;
    }
    call->SQLSetConnectAttr(
        link->hdbc, SQL_ATTR_LOGIN_TIMEOUT,
        (SQLPOINTER)(uintptr_t)login_seconds(order->timeout_ms), 0);
    lock_fork_waits();
    rc = order->wide ? connect_wide(link, order->string)
                     : connect_narrow(link, order->string);
    lock_fork_goes_on();
    if (!SQL_SUCCEEDED(rc)) {
        link_take_error(link, SQL_HANDLE_DBC, link->hdbc, error);
        link_note_scarcity(error);
        free_handles(link);
        return false;
    }
    if (rc == SQL_SUCCESS_WITH_INFO) {
        keep_warnings(link, order->instance);
    }
    inner_confirm(link->inner, link->hdbc, order->wide);
    /* what the application reads must be its own */
    call->SQLSetConnectAttr(link->hdbc, SQL_ATTR_LOGIN_TIMEOUT, NULL, 0);
    if (!ask_who(link, error)) {
        link_close(link);
        return false;
    }
    drop_records(link, order->instance);
    return true;
}

bool link_open(struct link *link, const struct link_order *order,
               struct link_error *error)
{
    struct link_sockets before;
    bool ok;

    link_sockets_take(&before);
    ok = open_link(link, order, error);
    if (ok) {
        link_socket_prove(link, &before);
    }
    link_sockets_free(&before);
    return ok;
}

bool link_validate(struct link *link, struct link_error *error)
{
    lock_assert_none();
    return link_is_alive(link, error) &&
           (!*link->inner->kind->who || ask_who(link, error));
}

void link_free_children(struct link *link, bool inner)
{
    struct link_child *child;

    while ((child = link->children)) {
        link->children = child->next;
        if (inner && child->inner) {
            link->inner->call.SQLFreeHandle(child->type, child->inner);
        }
        child->done(child);
    }
}

/* A driver that counts transactions by itself goes wrong when the application
   ends one by SQL text, refuses to disconnect, and would keep its socket or
   file open for good.  An empty transaction brings the two together again. */
static void disconnect(struct link *link)
{
    const struct inner_calls *call = &link->inner->call;
    const char *begin = link->inner->kind->unstick;
    struct link_error ignored;

    if (!SQL_SUCCEEDED(call->SQLDisconnect(link->hdbc)) && begin &&
        link_execute(link, begin, &ignored)) {
        call->SQLSetConnectAttr(link->hdbc, SQL_ATTR_AUTOCOMMIT,
                                (SQLPOINTER)SQL_AUTOCOMMIT_ON,
                                SQL_IS_UINTEGER);
        call->SQLDisconnect(link->hdbc);
    }
}

void link_close(struct link *link)
{
    lock_assert_none();
    link_forget_warnings(link);
    link_free_children(link, link->hdbc != SQL_NULL_HDBC);
    if (link->hdbc) {
        if (link->touched && !link_dead(link)) {
            link->inner->call.SQLEndTran(SQL_HANDLE_DBC, link->hdbc,
                                         SQL_ROLLBACK);
        }
        disconnect(link);
        link_socket_forget(link);
        free_handles(link);
    }
}

bool link_dead(const struct link *link)
{
    SQLUINTEGER dead = SQL_CD_FALSE;
    SQLRETURN rc = link->inner->call.SQLGetConnectAttr(
        link->hdbc, SQL_ATTR_CONNECTION_DEAD, &dead, SQL_IS_UINTEGER, NULL);

    return SQL_SUCCEEDED(rc) && dead == SQL_CD_TRUE;
}
