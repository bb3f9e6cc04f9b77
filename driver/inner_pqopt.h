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

/* Appends to out the user's conninfo with one options='…' that holds ours
   (DateStyle ISO, extra_float_digits 2), then environment (PGOPTIONS, NULL =
   none), then the user's own, so that the user's wins; and client_encoding
   UTF8 for the wide driver unless the user gave one.  False: user is no
   conninfo string (why tells where, not what: it may hold a password). */
bool pqopt_merge(const char *user, const char *environment, bool wide,
                 struct text *out, struct why *why);

#endif
