/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * proportional: the instance that has served fewest units per weight since
 * the start (Directory Proxy's rule, facts B5), the heavier of equals, then
 * the first listed.  The counters start at a random phase, so that processes
 * that know nothing of each other do not all begin at the same instance, and
 * fleet_balance.c raises one that comes back, so that it is not flooded (rules
 * §10).
 */
#include "autoconf.h"

#include "balance.h"

/* Has a served less per weight than b?  Weights are below 2^32 and counters
   far below 2^96, so that the products fit. */
static bool lighter(const struct route_member *a, const struct route_member *b)
{
    uint32_t weight_a = balance_weight(a), weight_b = balance_weight(b);
    unsigned __int128 left = atomic_load_explicit(&a->served,
                                                  memory_order_relaxed);
    unsigned __int128 right = atomic_load_explicit(&b->served,
                                                   memory_order_relaxed);

    left *= weight_b ? weight_b : 1;
    right *= weight_a ? weight_a : 1;
    return left != right ? left < right : weight_a > weight_b;
}

int balance_proportional(const struct balance_among *among)
{
    const struct route_member *members = among->fleet->members;
    int best = -1;

    for (uint32_t i = 0; i < among->fleet->count; i++) {
        bool last = balance_weight(&members[i]) == 0;
        bool best_last = best >= 0 && balance_weight(&members[best]) == 0;

        if ((best < 0 || last < best_last ||
             (last == best_last && lighter(&members[i], &members[best]))) &&
            balance_may(among, i)) {
            best = (int)i;
        }
    }
    return best;
}
