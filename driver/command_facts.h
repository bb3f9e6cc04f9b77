/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How the commands word an instance's facts.
 */
#ifndef COMMAND_FACTS_H
#define COMMAND_FACTS_H

#include "command.h"
#include "pool.h"

const char *command_facts_role(enum route_role role);

/* untried, up, slow, suspect, down; draining, and whether it is down too. */
const char *command_facts_state(const struct fleet *fleet, uint32_t i,
                                enum route_health health);

/* Appends why it is not simply up, good and the primary that it says it is, or
   nothing: in one line of 250 characters. */
void command_facts_why(const struct fleet *fleet, uint32_t i,
                       const struct fleet_instance_view *view,
                       struct text *text);

/* complete or incomplete. */
const char *command_facts_topology(struct fleet *fleet);

/* Adds where ownership is learnt. */
void command_facts_source(struct command_answer *answer, struct fleet *fleet);

/* The name of instance i; NULL for an index that is none. */
const char *command_facts_name(const struct fleet *fleet, int64_t i);

/* NULL for "", which is how an answer tells what is missing. */
const char *command_facts_or_null(const char *value);

/* Adds the text as a value and frees it. */
void command_facts_add(struct command_answer *answer, struct text *text);

/* Appends an error in one line of 250 characters, nothing if there is none:
   longer values are long objects to ODBC, and Perl's DBI reads no more than
   80 characters of one unasked. */
void command_facts_error(const struct link_error *error, struct text *text);

/* A consistent copy of what the login has, an entry per instance, which the
   caller frees; NULL: out of memory.  Locks: takes login->lock. */
struct route_stock *command_facts_stock(struct login *login);

#endif
