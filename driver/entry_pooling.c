/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * unixODBC can pool connections above us (design §5.5).  Of its disconnecting
 * it tells an ODBC 3.80 application's driver by SQL_ATTR_RESET_CONNECTION and
 * nobody else's; then, before it gives the connection to the next who connects
 * with the same string, it asks whether it is dead, and nothing more (facts
 * §7).  That question is the hand-over: what one user has left is gone when it
 * is answered.
 *
 * Both calls come under the manager's one lock for all pools, so nothing here
 * waits: the link goes to a helper thread to be reset, as at a disconnect, and
 * the session takes another when it needs one (session_need_link()).
 */
#include "autoconf.h"

#include "entry_pooling.h"

#include "config.h"
#include "session.h"
#include "surface.h"

SQLRETURN entry_say_dead(bool dead, SQLPOINTER value, SQLINTEGER *length)
{
    if (value) {
        *(SQLUINTEGER *)value = dead ? SQL_CD_TRUE : SQL_CD_FALSE;
    }
    if (length) {
        *length = (SQLINTEGER)sizeof(SQLUINTEGER);
    }
    return SQL_SUCCESS;
}

/* The manager asks by the narrow function wherever there is one. */
bool entry_is_probe(enum text_width width, SQLINTEGER attribute,
                    SQLPOINTER value, SQLINTEGER size,
                    const SQLINTEGER *length)
{
    return attribute == SQL_ATTR_CONNECTION_DEAD && width == TEXT_NARROW &&
           size == SQL_IS_INTEGER && value && !length;
}

/* Whoever has a call inside the inner driver has not been disconnected, or
   should not have been; either way the link cannot go to others now. */
static bool is_running(struct dbc *dbc)
{
    bool running = false;
    struct stmt *stmt;

    mutex_lock(&dbc->lock);
    DL_FOREACH(dbc->stmts, stmt) {
        running |= atomic_load(&stmt->running);
    }
    mutex_unlock(&dbc->lock);
    return running;
}

/* Makes the session what its connection string says, with nothing of its
   user's.  False: it cannot go on, its login is out of date. */
static bool hand_over(struct dbc *dbc)
{
    struct link_child *children = handle_detach(dbc);

    atomic_store(&dbc->unit, false);
    return session_hand_over(dbc->session, children);
}

SQLRETURN entry_answer_probe(struct dbc *dbc, SQLPOINTER value)
{
    bool allowed = session_config(dbc->session)->fleet.manager ==
                   CONFIG_MANAGER_ALLOW;

    return entry_say_dead(!allowed || is_running(dbc) || !hand_over(dbc),
                          value, NULL);
}

SQLRETURN entry_reset(struct dbc *dbc, SQLPOINTER value)
{
    if ((SQLULEN)(uintptr_t)value != SQL_RESET_CONNECTION_YES) {
        return diag_add(&dbc->head.diags, WHY_VALUE,
                        "SQL_ATTR_RESET_CONNECTION is "
                        "SQL_RESET_CONNECTION_YES or nothing");
    }
    if (is_running(dbc)) {
        return diag_add(&dbc->head.diags, WHY_SEQUENCE,
                        "a statement of this connection is executing");
    }
    hand_over(dbc); /* out of date or not, it has let go of everything */
    return SQL_SUCCESS;
}
