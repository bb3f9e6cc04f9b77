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

#include "route_rendezvous.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t route_target_seed(const char *name, size_t length)
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

struct draw {
    double cost;
    uint64_t hash, seed;
    uint32_t weight;
};

/* Is a the better one?  Equal costs are a matter of rounding; what decides
   then must not depend on the order of the list. */
static bool is_better(const struct draw *a, const struct draw *b)
{
    if ((a->weight > 0) != (b->weight > 0)) {
        return a->weight > 0;
    }
    if (a->cost < b->cost || a->cost > b->cost) {
        return a->cost < b->cost;
    }
    return a->hash != b->hash ? a->hash > b->hash : a->seed > b->seed;
}

int route_rendezvous_choose(const void *key, size_t length,
                            const struct route_target *target, size_t count)
{
    XXH128_canonical_t digest; /* the same bytes on every machine */
    struct draw best = {0, 0, 0, 0};
    int chosen = -1;

    XXH128_canonicalFromHash(&digest, XXH3_128bits(key, length));
    for (size_t i = 0; i < count; i++) {
        if (target[i].excluded) {
            continue;
        }
        struct draw draw = {.seed = target[i].seed, .weight = target[i].weight};
        draw.hash = XXH3_64bits_withSeed(&digest, sizeof(digest), draw.seed);
        draw.cost = minus_log(draw.hash) / (draw.weight > 0 ? draw.weight : 1);
        if (chosen < 0 || is_better(&draw, &best)) {
            best = draw;
            chosen = (int)i;
        }
    }
    return chosen;
}
