/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * adaptive-failover: the heaviest instances that are able, as many as it takes
 * for the sum of their weights to reach Capacity (0: all), and adaptive among
 * them.  When one fails, the next heavier comes in; of equal weights the first
 * listed.  If none of them may serve this unit, all others are asked.
 */
#include "autoconf.h"

#include "balance.h"

/* Of the able ones that are lighter than `than`: the heaviest weight, and the
   sum of those who have it.  False: there are none. */
static bool next_lighter(const struct balance_among *among, uint64_t than,
                         uint32_t *weight, uint64_t *sum)
{
    const struct route_member *members = among->fleet->members;

    *weight = 0;
    *sum = 0;
    for (uint32_t i = 0; i < among->fleet->count; i++) {
        uint32_t it = balance_weight(&members[i]);
        if (it && it < than && it >= *weight &&
            among->able(among->request, among->fleet, i)) {
            *sum = it > *weight ? it : *sum + it;
            *weight = it;
        }
    }
    return *weight > 0;
}

/* Who of those of this weight comes last into the sum of `missing`. */
static uint32_t last_in(const struct balance_among *among, uint32_t weight,
                        uint64_t missing)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < among->fleet->count && sum < missing; i++) {
        if (balance_weight(&among->fleet->members[i]) == weight &&
            among->able(among->request, among->fleet, i)) {
            sum += weight;
        }
    }
    return i - 1;
}

int balance_adaptive_failover(const struct balance_among *among)
{
    struct balance_among active = *among;
    uint64_t capacity = among->fleet->capacity;
    uint64_t sum, than = UINT64_MAX;
    uint32_t weight;
    int chosen;

    while (capacity && next_lighter(among, than, &weight, &sum)) {
        if (sum >= capacity) {
            active.lightest = weight;
            active.last = last_in(among, weight, capacity);
            break;
        }
        capacity -= sum;
        than = weight;
    }
    chosen = balance_adaptive(&active);
    return chosen >= 0 ? chosen : balance_adaptive(among);
}
