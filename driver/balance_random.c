/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * random: each instance with a chance in proportion to its weight, from the
 * request's seed.  One pass (weighted reservoir): the i-th candidate replaces
 * the choice so far with probability weight / sum of weights so far.
 */
#include "autoconf.h"

#include "route.h"

/* One step of splitmix64: a well-mixed number from a counter. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

int balance_random(const struct route_request *request,
                   const struct route_fleet *fleet, route_may *may)
{
    uint64_t sum = 0;
    int best = -1;
    bool last_resort = true;

    for (uint32_t i = 0; i < fleet->count; i++) {
        uint32_t weight = fleet->members[i].weight;
        if (!may(request, fleet, i) || (!weight && !last_resort)) {
            continue;
        }
        if (weight && last_resort) {
            last_resort = false; /* those of weight 0 do not count any more */
            sum = 0;
        }
        sum += weight ? weight : 1;
        if (mix(request->seed + i) % sum < (weight ? weight : 1)) {
            best = (int)i;
        }
    }
    return best;
}
