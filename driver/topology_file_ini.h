/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The map file as iniparser reads it. */
#ifndef TOPOLOGY_FILE_INI_H
#define TOPOLOGY_FILE_INI_H

#include "why.h"

struct topology_ini;

/* Reads the file at `path`, which is called `name`.  NULL: why.
   Locks: takes iniparser's, of rank LOCK_INI. */
struct topology_ini *topology_ini_load(const char *path, const char *name,
                                       struct why *why);

/* The value of "section:key", both in lower case, or NULL; lives as long as
   ini. */
const char *topology_ini_value(const struct topology_ini *ini,
                               const char *name);

void topology_ini_free(struct topology_ini *ini); /* NULL is fine */

#endif
