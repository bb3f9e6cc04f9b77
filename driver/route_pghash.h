/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The hash of PostgreSQL's HASH partitioning, computed here (facts §D2).
 *
 * It is what little-endian instances compute; PostgreSQL does not promise it
 * for ever, so whoever learns a topology compares a few keys with
 * satisfies_hash_partition() first.
 */
#ifndef ROUTE_PGHASH_H
#define ROUTE_PGHASH_H

#include <stddef.h>
#include <stdint.h>

#include "route_key.h"
#include "route_type.h"

#define ROUTE_PGHASH_SEED UINT64_C(0x7A5B22367996DCFD)

/* hash_bytes_extended() and hash_bytes_uint32_extended() */
uint64_t route_pghash_bytes(const void *bytes, size_t length, uint64_t seed);
uint64_t route_pghash_word(uint32_t word, uint64_t seed);

/* Support function 2 of the type's default hash operator class.  type is not
   OTHER. */
uint64_t route_pghash_datum(enum route_type type,
                            const struct route_datum *datum, uint64_t seed);

/* hash_combine64() for the next key column; the row starts with 0, and a
   column that is NULL is left out. */
uint64_t route_pghash_combine(uint64_t row, uint64_t column);

/* The whole row: the sub-keys of key as values of typing[0..key->count).  The
   partition is *row % modulus.  Not OK: *wrong is the sub-key that is BAD or
   UNSURE. */
enum route_parse route_pghash_row(const struct route_typing *typing,
                                  const struct route_key *key, uint64_t *row,
                                  uint32_t *wrong);

#endif
