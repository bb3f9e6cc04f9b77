/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * saturation: the one with the most left to give: (limit - in use) × weight
 * (facts B5), where the limit is what PoolMax or the map file's poolmax lets it
 * have, and in use are the units of this process that are there.  So the
 * heaviest has all of them until as little is left of it as of the next, and
 * then they share.  Of equals one is drawn, lest all processes begin at the
 * same one.
 */
#include "autoconf.h"

#include "balance.h"
#include "balance_fact.h"

static uint64_t left(const struct route_member *m, uint64_t now)
{
    uint32_t used = atomic_load_explicit(&m->in_flight, memory_order_relaxed);
    uint32_t most = atomic_load_explicit(&m->pool_max, memory_order_relaxed);

    return used < most ? (most - used) * balance_share(m, now) : 0;
}

int balance_saturation(const struct balance_among *among)
{
    const struct route_member *members = among->fleet->members;
    uint64_t now = among->request->now, most;
    int best = balance_draw(among, 0);
    enum balance_rank rank;

    if (best < 0) {
        return -1;
    }
    rank = balance_rank(&members[best], now);
    most = left(&members[best], now);
    for (uint32_t i = 0; i < among->fleet->count; i++) {
        uint64_t it = left(&members[i], now);

        if (balance_rank(&members[i], now) == rank && it > most &&
            balance_may(among, i)) {
            best = (int)i;
            most = it;
        }
    }
    return best;
}
