/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Asking one instance where keys belong (topology_resolve_sql.c), for the
 * cache of such answers (topology_resolve.c).
 */
#ifndef TOPOLOGY_RESOLVE_H
#define TOPOLOGY_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "route_key.h"

struct link;
struct link_error;

enum { RESOLVE_AT_ONCE = 64 };

enum topology_outcome {
    TOPOLOGY_RESOLVED_FAILED,
    TOPOLOGY_RESOLVED_PATH,
    TOPOLOGY_RESOLVED_NONE,
    TOPOLOGY_RESOLVED_BAD
};

struct topology_resolution {
    enum topology_outcome outcome;
    char *text;     /* malloc'ed.  PATH: the bounds from the root's partition
                       downwards, each ended by NUL (none: a prefix key that
                       ends at the root); else a sentence.  NULL: no memory */
    uint32_t steps; /* PATH: bounds */
};

/* Asks for keys[0..count), count <= RESOLVE_AT_ONCE; results are all zeros.
   On a helper thread, no lock held.  False: error, and each result that was
   not reached is FAILED.  The link is clean afterwards, or spoilt, or dead. */
bool topology_resolve_ask(const char *table, const char *instance,
                          struct link *link, struct route_key *const *keys,
                          uint32_t count, struct topology_resolution *results,
                          struct link_error *error);

#endif
