/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Connection attributes that were set before there was a link: kept, and
 * replayed on the one that comes (route LATE).
 */
#ifndef SESSION_ATTR_H
#define SESSION_ATTR_H

#include <stdbool.h>
#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

#include "text.h"
#include "why.h"

struct config;
struct link;

struct session_attr {
    SQLINTEGER attribute;
    SQLINTEGER length; /* as it came */
    SQLPOINTER value;  /* a number or somebody else's pointer, if !bytes */
    char *bytes;       /* our copy, terminated for both widths; or NULL */
    struct session_attr *prev, *next;
};

/* Is it one of affinity_odbc.h? */
bool session_attr_is_ours(SQLINTEGER attribute);

bool session_attr_has_ours(const struct session_attr *list);

/* Keeps one, in place of an earlier one of the same number.  How much of it
   is copied, and how, follows facts §5.1; text that came wide is kept as
   UTF-8.  False: out of memory. */
bool session_attr_keep(struct session_attr **list, SQLINTEGER attribute,
                       SQLPOINTER value, SQLINTEGER length,
                       enum text_width width);

void session_attr_free(struct session_attr **list);

struct session_attr *session_attr_find(struct session_attr *list,
                                       SQLINTEGER attribute);

/* How many bytes the value of a number has, and what it is until it is set;
   false: a connection must tell what it is. */
bool session_attr_default(SQLINTEGER attribute, SQLULEN *value, size_t *bytes);

/* Our own attributes (design §5.2) into the configuration, where they win
   over keywords.  False: why names what is wrong. */
bool session_attr_configure(const struct session_attr *list,
                            struct config *config, struct why *why);

/* The others onto the link.  What the inner driver thinks of them stays
   silent, as under the manager (rules §11.8). */
void session_attr_replay(const struct session_attr *list, struct link *link);

#endif
