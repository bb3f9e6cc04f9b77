/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each target draws u in (0, 1) from a hash of key and name, and the greatest
 * -weight / ln(u) wins, which is the smallest cost -ln(u) / weight: costs are
 * exponential variables with the weights as rates, and the first of several
 * such comes from each with a probability in proportion to its rate.
 *
 * The key is digested once, so that a long one costs no more per target.  The
 * logarithm is made here: libm would be one more object for every connect to
 * search (design §9), and its last digit differs between versions, while all
 * processes should agree.
 */
#include "autoconf.h"

#include "balance_rendezvous.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t balance_target_seed(const char *name, size_t length)
{
    return XXH3_64bits(name, length);
}

/* 2 artanh(z) = ln((1 + z) / (1 - z)) for |z| <= 0.172: the series to z^21
   leaves less than 2^-52 of it. */
static double double_artanh(double z)
{
    double square = z * z, sum = 0;

    for (int i = 21; i >= 1; i -= 2) {
        sum = sum * square + 1.0 / i;
    }
    return 2 * z * sum;
}

/* -ln((hash + 1/2) / 2^64).  Near 1, where winners are, the distance to 1 is
   taken, which is exact. */
static double minus_log(uint64_t hash)
{
    static const double ln2 = 0.69314718055994530942;

    if (hash >= UINT64_C(0xB504F333F9DE6485)) { /* above 1/sqrt(2) */
        double distance = ((double)~hash + 0.5) * 0x1p-64;
        return double_artanh(distance / (2 - distance));
    }
    int shift = hash > 0 ? __builtin_clzll(hash) : 63;
    double mantissa = ((double)(hash << shift) + 0.5) * 0x1p-64;
    if (hash == 0) {
        mantissa = 0.5;
        shift = 64;
    }
    /* mantissa in [0.5, 1); keep |z| small on both sides of 1/sqrt(2) */
    if (mantissa < 0.70710678118654752440) {
        mantissa *= 2;
        shift++;
    }
    return shift * ln2 - double_artanh((mantissa - 1) / (mantissa + 1));
}

struct balance_digest balance_digest(const void *key, size_t length)
{
    XXH128_canonical_t canonical; /* the same bytes on every machine */
    struct balance_digest digest;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits(key, length));
    memcpy(digest.bytes, &canonical, sizeof digest.bytes);
    return digest;
}

struct balance_lot balance_lot(const struct balance_digest *digest,
                               uint64_t seed, uint32_t weight)
{
    struct balance_lot lot = {.seed = seed, .weight = weight};

    lot.hash = XXH3_64bits_withSeed(digest->bytes, sizeof(digest->bytes),
                                     seed);
    lot.cost = minus_log(lot.hash) / (weight > 0 ? weight : 1);
    return lot;
}

/* Equal costs are a matter of rounding; what decides then must not depend on
   the order of the list. */
bool balance_lot_is_better(const struct balance_lot *a,
                           const struct balance_lot *b)
{
    if ((a->weight > 0) != (b->weight > 0)) {
        return a->weight > 0;
    }
    if (a->cost < b->cost || a->cost > b->cost) {
        return a->cost < b->cost;
    }
    return a->hash != b->hash ? a->hash > b->hash : a->seed > b->seed;
}

int balance_rendezvous_choose(const void *key, size_t length,
                              const struct balance_target *target,
                              size_t count)
{
    struct balance_digest digest = balance_digest(key, length);
    struct balance_lot best = {0, 0, 0, 0};
    int chosen = -1;

    for (size_t i = 0; i < count; i++) {
        struct balance_lot lot;

        if (target[i].excluded) {
            continue;
        }
        lot = balance_lot(&digest, target[i].seed, target[i].weight);
        if (chosen < 0 || balance_lot_is_better(&lot, &best)) {
            best = lot;
            chosen = (int)i;
        }
    }
    return chosen;
}
