/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Is the client's hash the instance's?  Tried at each load of a table with
 * HASH partitions (facts §D2), because PostgreSQL promises no hash for ever.
 */
#ifndef TOPOLOGY_TRIAL_H
#define TOPOLOGY_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

struct link;
struct topology_reply;

struct topology_trial {
    struct link *link; /* in a transaction of ours */
    struct topology_reply *reply;
    const char *table, *instance; /* for its note */
    bool utf8; /* the instance's encoding */
};

/* Compares a few keys for one parent of that shape, if it is a hash that the
   client would judge.  What differs, or cannot be tried, makes the reply one
   whose hash is not to be trusted, with a note that says why; the topology
   itself counts all the same. */
void topology_trial_hash(const struct topology_trial *trial, uint32_t parent,
                         uint32_t shape);

#endif
