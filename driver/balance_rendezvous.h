/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Weighted rendezvous hashing (highest random weight): keys to targets without
 * a table.  Every process that knows the same names and weights sends a key to
 * the same target, in whatever order it lists them; when a target leaves, only
 * its own keys move, and when one joins, keys move only to it; of many keys a
 * target gets its share of the weights.
 */
#ifndef BALANCE_RENDEZVOUS_H
#define BALANCE_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct balance_target {
    uint64_t seed;   /* balance_target_seed() of its name */
    uint32_t weight; /* 0 = only when no other can be had */
    bool excluded;   /* disabled for this operation, or not able to serve */
};

/* What makes a target's hash its own: its name, and nothing else.  For hash
   ownership the name of a group is that of its first-listed member (rules
   §1.6), so that promotion moves no key. */
uint64_t balance_target_seed(const char *name, size_t length);

/* The index of the target for this key (route_key.text), -1 if all are
   excluded.  Allocates nothing. */
int balance_rendezvous_choose(const void *key, size_t length,
                            const struct balance_target *target, size_t count);

/* The same, one target at a time: the lot that each draws for this key, and
   whether one is better than another. */
struct balance_digest {
    unsigned char bytes[16];
};
struct balance_digest balance_digest(const void *key, size_t length);

struct balance_lot {
    double cost;
    uint64_t hash, seed;
    uint32_t weight;
};
struct balance_lot balance_lot(const struct balance_digest *digest,
                               uint64_t seed, uint32_t weight);
bool balance_lot_is_better(const struct balance_lot *a,
                           const struct balance_lot *b);

#endif
