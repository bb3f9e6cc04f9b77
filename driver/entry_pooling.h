/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the manager's own pooling does to a session: the question it asks of
 * one that it is about to hand to the next user, and the reset that it asks
 * for when a user leaves.
 */
#ifndef ENTRY_POOLING_H
#define ENTRY_POOLING_H

#include "handle.h"
#include "text.h"

/* Is this call of SQLGetConnectAttr the manager's question?  Nobody else is
   expected to ask with just these arguments. */
bool entry_is_probe(enum text_width width, SQLINTEGER attribute,
                    SQLPOINTER value, SQLINTEGER size,
                    const SQLINTEGER *length);

/* Answers it.  With ManagerPooling=refuse: dead, so that the manager connects
   afresh.  With allow the session is the next user's from now on: reset, let
   go of its link, and alive.  Never waits, calls no network. */
SQLRETURN entry_answer_probe(struct dbc *dbc, SQLPOINTER value);

/* SQL_ATTR_RESET_CONNECTION: resets a connected session as the hand-over does,
   with either ManagerPooling.  Never waits, calls no network. */
SQLRETURN entry_reset(struct dbc *dbc, SQLPOINTER value);

/* Writes an answer to SQL_ATTR_CONNECTION_DEAD. */
SQLRETURN entry_say_dead(bool dead, SQLPOINTER value, SQLINTEGER *length);

#endif
