/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Environment attributes, which are kept and cost no inner call, and the end
 * of transactions.
 */
#include "autoconf.h"

#include "surface.h"

#include <stdint.h>
#include <stdlib.h>

#include "session.h"

/* ---- attributes ------------------------------------------------------ */

static SQLRETURN set_odbc_version(struct env *env, SQLINTEGER value)
{
    if (value != SQL_OV_ODBC2 && value != SQL_OV_ODBC3 &&
        value != SQL_OV_ODBC3_80) {
        return diag_add(&env->head.diags, WHY_VALUE,
                        "SQL_ATTR_ODBC_VERSION is 2, 3 or 380, not %d",
                        (int)value);
    }
    env->odbc_version = value;
    return SQL_SUCCESS;
}

/* One of the values 0..last. */
static SQLRETURN set_choice(struct env *env, SQLINTEGER *field,
                            SQLINTEGER value, SQLINTEGER last,
                            const char *name)
{
    if (value < 0 || value > last) {
        return diag_add(&env->head.diags, WHY_VALUE,
                        "%s is at most %d, not %d", name, (int)last,
                        (int)value);
    }
    *field = value;
    return SQL_SUCCESS;
}

SQLRETURN entry_SQLSetEnvAttr(SQLHENV handle, SQLINTEGER attribute,
                              SQLPOINTER value, SQLINTEGER length)
{
    struct env *env = entry_env(handle);
    SQLINTEGER number = (SQLINTEGER)(intptr_t)value;

    (void)length; /* all of them are integers */
    if (!env) {
        return SQL_INVALID_HANDLE;
    }
    switch (attribute) {
    case SQL_ATTR_ODBC_VERSION:
        return set_odbc_version(env, number);
    case SQL_ATTR_CONNECTION_POOLING:
        return set_choice(env, &env->pooling, number,
                          (SQLINTEGER)SQL_CP_ONE_PER_HENV,
                          "SQL_ATTR_CONNECTION_POOLING");
    case SQL_ATTR_CP_MATCH:
        return set_choice(env, &env->cp_match, number,
                          (SQLINTEGER)SQL_CP_RELAXED_MATCH,
                          "SQL_ATTR_CP_MATCH");
    case SQL_ATTR_OUTPUT_NTS:
        if (number == SQL_FALSE) {
            return diag_add(&env->head.diags, WHY_UNAVAILABLE,
                            "text is always returned with its terminator");
        }
        return number == SQL_TRUE ? SQL_SUCCESS :
            diag_add(&env->head.diags, WHY_VALUE,
                     "SQL_ATTR_OUTPUT_NTS is SQL_TRUE, not %d", (int)number);
    default:
        return diag_add(&env->head.diags, WHY_ATTRIBUTE,
                        "there is no environment attribute %d",
                        (int)attribute);
    }
}

SQLRETURN entry_SQLGetEnvAttr(SQLHENV handle, SQLINTEGER attribute,
                              SQLPOINTER value, SQLINTEGER size,
                              SQLINTEGER *length)
{
    struct env *env = entry_env(handle);
    SQLINTEGER number;

    (void)size; /* all of them are integers */
    if (!env) {
        return SQL_INVALID_HANDLE;
    }
    switch (attribute) {
    case SQL_ATTR_ODBC_VERSION:
        number = env->odbc_version;
        break;
    case SQL_ATTR_CONNECTION_POOLING:
        number = env->pooling;
        break;
    case SQL_ATTR_CP_MATCH:
        number = env->cp_match;
        break;
    case SQL_ATTR_OUTPUT_NTS:
        number = env->output_nts;
        break;
    default:
        return diag_add(&env->head.diags, WHY_ATTRIBUTE,
                        "there is no environment attribute %d",
                        (int)attribute);
    }
    if (value) {
        *(SQLINTEGER *)value = number;
    }
    if (length) {
        *length = (SQLINTEGER)sizeof number;
    }
    return SQL_SUCCESS;
}

/* ---- transactions ---------------------------------------------------- */

/* What became of a transaction whose end the link did not survive. */
static void say_dead(struct dbc *dbc, struct diags *diags,
                     SQLSMALLINT completion)
{
    const char *instance = session_instance(dbc->session);

    if (completion == SQL_COMMIT) {
        diag_add(diags, WHY_COMMITTING,
                 "the link to instance %s died while committing; whether the "
                 "transaction was committed is not known", instance);
    } else {
        diag_add(diags, WHY_DEAD,
                 "the link to instance %s died; the transaction is rolled "
                 "back with it", instance);
    }
}

/* Ends the transaction of one session; records go to `diags`, which are those
   of the handle that the application named. */
static SQLRETURN end_session(struct dbc *dbc, struct diags *diags,
                             SQLSMALLINT completion)
{
    const struct inner_calls *call;
    SQLHDBC inner = session_inner(dbc->session, &call);
    SQLRETURN rc;

    if (!inner) { /* handed over, and nothing begun since */
        return SQL_SUCCESS;
    }
    if (session_is_lost(dbc->session)) { /* so its end is not asked for */
        return entry_say_lost(diags, dbc->session,
                              ", and a transaction is rolled back with it");
    }
    if (!call->SQLEndTran) {
        return diag_add(diags, WHY_FUNCTION,
                        "the inner driver has no function SQLEndTran");
    }
    session_touch(dbc->session);
    lock_assert_none();
    rc = call->SQLEndTran(SQL_HANDLE_DBC, inner, completion);
    if (SQL_SUCCEEDED(rc)) {
        atomic_store(&dbc->unit, false);
    }
    if (rc != SQL_SUCCESS) {
        diag_copy(diags, call, SQL_HANDLE_DBC, inner,
                  session_instance(dbc->session), rc);
    }
    if (rc == SQL_ERROR && session_died_of(dbc->session, diags)) {
        say_dead(dbc, diags, completion);
    }
    return rc;
}

static bool allowed(struct diags *diags, SQLSMALLINT completion)
{
    if (completion == SQL_COMMIT || completion == SQL_ROLLBACK) {
        return true;
    }
    diag_add(diags, WHY_END, "there is no CompletionType %d", (int)completion);
    return false;
}

static SQLRETURN end_dbc(struct dbc *dbc, SQLSMALLINT completion)
{
    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    if (!allowed(&dbc->head.diags, completion)) {
        return SQL_ERROR;
    }
    if (handle_inherited(&dbc->head)) {
        return entry_inherited(&dbc->head);
    }
    if (!dbc->connected) {
        return entry_unconnected(&dbc->head);
    }
    diag_set_aside(&dbc->head.diags, false);
    return end_session(dbc, &dbc->head.diags, completion);
}

/* The sessions of an environment; the inner driver is not called under its
   lock.  NULL with *count 0: there are none. */
static struct dbc **list_dbcs(struct env *env, size_t *count)
{
    struct dbc **list, *dbc;
    size_t room = 0, n = 0;

    mutex_lock(&env->lock);
    DL_FOREACH(env->dbcs, dbc) {
        room++;
    }
    list = room ? malloc(room * sizeof *list) : NULL;
    if (list) {
        DL_FOREACH(env->dbcs, dbc) {
            list[n++] = dbc;
        }
    }
    mutex_unlock(&env->lock);
    *count = room;
    return list;
}

/* Every session is asked even if one fails; then the whole has failed. */
static SQLRETURN end_env(struct env *env, SQLSMALLINT completion)
{
    SQLRETURN result = SQL_SUCCESS;
    struct dbc **list;
    size_t count;

    if (!env) {
        return SQL_INVALID_HANDLE;
    }
    if (!allowed(&env->head.diags, completion)) {
        return SQL_ERROR;
    }
    list = list_dbcs(env, &count);
    if (!list && count) {
        return diag_add(&env->head.diags, WHY_MEMORY, "%s", "");
    }
    for (size_t i = 0; i < count; i++) {
        if (handle_is(list[i], HANDLE_DBC) && list[i]->connected &&
            !handle_inherited(&list[i]->head) &&
            !SQL_SUCCEEDED(end_session(list[i], &env->head.diags,
                                       completion))) {
            result = SQL_ERROR;
        }
    }
    free(list);
    return diag_result(&env->head.diags, result);
}

SQLRETURN entry_SQLEndTran(SQLSMALLINT type, SQLHANDLE handle,
                           SQLSMALLINT completion)
{
    switch (type) {
    case SQL_HANDLE_DBC:
        return end_dbc(entry_dbc(handle), completion);
    case SQL_HANDLE_ENV:
        return end_env(entry_env(handle), completion);
    default:
        return SQL_INVALID_HANDLE;
    }
}
