/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What narrow texts mean: the same as where the inner driver is given them in
 * a statement, so that a key finds the rows that it finds there.
 */
#ifndef FLEET_KEY_H
#define FLEET_KEY_H

#include <stdbool.h>

struct fleet;
struct route_key;
struct text;
struct why;

/* Appends a text as UTF-8.  wide: it came by a wide function, or its session
   did, and is UTF-8 already.  Where the inner driver does not say what narrow
   texts are, or that they are UTF-8, bytes stay as they are.  False: why says
   in which encoding it is no text; nothing is appended.  Any thread; looks at
   the environment. */
bool fleet_read_text(const struct fleet *fleet, const char *bytes, bool wide,
                     struct text *out, struct why *why);

/* Makes a key of a text; *key is NULL if it says none.  False: why. */
bool fleet_read_key(const struct fleet *fleet, const char *bytes, bool wide,
                    struct route_key **key, struct why *why);

#endif
