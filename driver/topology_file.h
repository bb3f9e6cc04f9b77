/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The map file (AffinityMap): weights and limits of instances, and who owns
 * what where neither AffinityTable nor AffinityQuery says so (rules §1.8).
 * Its syntax is documented in setup/affinity.map.sample.
 */
#ifndef TOPOLOGY_FILE_H
#define TOPOLOGY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "why.h"

struct fleet;
struct topology_reply;

/* One section: one instance. */
struct topology_section {
    uint32_t weight;          /* of sessions */
    bool disabled, never; /* enabled = no; weight = disabled */
    bool read_only;
    uint32_t pool_max;        /* 0: PoolMax */
    char *group;              /* "" = by system identifier */
    struct topology_reply *reply; /* what it owns; NULL: nothing is said */
};

struct topology_file {
    struct topology_section *sections; /* one for each instance of the fleet */
    uint32_t count;
    bool owns; /* ownership stands in it */
};

/* Reads and checks it; the instances' names are fleet->instances[].name.
   `owned` in words names what else says who owns what (AffinityTable, …), ""
   if nothing does.  NULL: why names file, section and key (WHY_INI), or
   WHY_MEMORY.  Locks: takes and leaves a mutex of rank LOCK_INI. */
struct topology_file *topology_file_read(const char *path,
                                         const struct fleet *fleet,
                                         const char *owned, struct why *why);

/* NULL is fine. */
void topology_file_free(struct topology_file *file);

#endif
