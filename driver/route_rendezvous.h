/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Weighted rendezvous hashing (highest random weight): keys to targets without
 * a table.  Every process that knows the same names and weights sends a key to
 * the same target, in whatever order it lists them; when a target leaves, only
 * its own keys move, and when one joins, keys move only to it; of many keys a
 * target gets its share of the weights.
 */
#ifndef ROUTE_RENDEZVOUS_H
#define ROUTE_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct route_target {
    uint64_t seed;   /* route_target_seed() of its name */
    uint32_t weight; /* 0 = only when no other can be had */
    bool excluded;   /* disabled for this operation, or not able to serve */
};

/* What makes a target's hash its own: its name, and nothing else.  For hash
   ownership the name of a group is that of its first-listed member (rules
   §1.6), so that promotion moves no key. */
uint64_t route_target_seed(const char *name, size_t length);

/* The index of the target for this key (route_key.text), -1 if all are
   excluded.  Allocates nothing. */
int route_rendezvous_choose(const void *key, size_t length,
                            const struct route_target *target, size_t count);

#endif
