/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * psqlODBC's pqopt: a libpq conninfo string ("name=value name='quoted'"),
 * into which our start-up values are merged (rules §5.7).
 */
#ifndef INNER_PQOPT_H
#define INNER_PQOPT_H

#include <stdbool.h>

#include "text.h"
#include "why.h"

/* Appends to out the user's conninfo with one options='…' that holds
   environment (PGOPTIONS, NULL = none), then the user's own, then ours
   (DateStyle ISO, extra_float_digits 2): psqlODBC sets those after connecting,
   so that they win there, too, and a reset must find them again.  The wide
   driver's client_encoding is UTF8; connect_timeout is left out, since
   ConnectTimeout rules.  False: user is no conninfo string (why tells where,
   not what: it may hold a password). */
bool pqopt_merge(const char *user, const char *environment, bool wide,
                 struct text *out, struct why *why);

#endif
