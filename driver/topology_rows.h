/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Ownership said in rows, as AffinityMap and AffinityQuery do: ranges, list
 * values, hash remainders, and "everything else".
 *
 *   r  low <= key < high; a missing one is open
 *   l  one value, or NULL
 *   h  the key's hash, divided by modulus, leaves remainder; the hash is
 *      PostgreSQL's for HASH partitions: of bigint for a key that is a whole
 *      number, of text for any other
 *   d  what nobody else claims
 *
 * One instance uses one of r, l and h.  If all values are whole numbers
 * (bigint), keys are compared as numbers, else as bytes of UTF-8.
 */
#ifndef TOPOLOGY_ROWS_H
#define TOPOLOGY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topology_reply.h"

struct topology_row_in {
    char kind; /* r, l, h, d */
    const char *low, *high; /* r: NULL or "" = open; l: low, NULL = NULL */
    uint32_t modulus, remainder;
};

/* Adds a row to a reply that is being made.  False: why (WHY_VALUE: a sentence
   without instance or file in front; WHY_MEMORY). */
bool topology_rows_add(struct topology_reply *reply,
                       const struct topology_row_in *row, struct why *why);

/* A problem among the rows of instances: a range that is empty, two rows that
   claim the same, kinds that differ; whole (all instances are here): a
   remainder that nobody claims.  replies[i] may be NULL; same(arg, a, b) says
   whether two instances may make the same claim.  False: *a and *b are the
   two (or equal), why is the sentence (WHY_VALUE, WHY_MEMORY). */
struct topology_rows_checked {
    struct topology_reply *const *replies;
    uint32_t count;
    bool whole;
    bool (*same)(const void *arg, uint32_t a, uint32_t b);
    const void *arg;
};
bool topology_rows_check(const struct topology_rows_checked *rows,
                         uint32_t *a, uint32_t *b, struct why *why);

#endif
