/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * proportional: the instance that has served fewest units per weight since
 * the start (Directory Proxy's rule, facts B5), the heavier of equals, then
 * the first listed.  The counters start at a random phase, so that processes
 * that know nothing of each other do not all begin at the same instance, and
 * fleet.c raises one that comes back, so that it is not flooded (rules §10).
 */
#include "autoconf.h"

#include "route.h"

/* Has a served less per weight than b?  Weights are below 2^32 and counters
   far below 2^96, so that the products fit. */
static bool lighter(const struct route_member *a, const struct route_member *b)
{
    unsigned __int128 left = atomic_load_explicit(&a->served,
                                                  memory_order_relaxed);
    unsigned __int128 right = atomic_load_explicit(&b->served,
                                                   memory_order_relaxed);

    left *= b->weight ? b->weight : 1;
    right *= a->weight ? a->weight : 1;
    return left != right ? left < right : a->weight > b->weight;
}

int balance_proportional(const struct route_request *request,
                         const struct route_fleet *fleet, route_may *may)
{
    int best = -1;

    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct route_member *m = &fleet->members[i];
        if (!may(request, fleet, i)) {
            continue;
        }
        if (best < 0 || (m->weight && !fleet->members[best].weight)) {
            best = (int)i;
        } else if (!m->weight == !fleet->members[best].weight &&
                   lighter(m, &fleet->members[best])) {
            best = (int)i;
        }
    }
    return best;
}
