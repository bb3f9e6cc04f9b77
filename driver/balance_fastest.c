/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * fastest: the one that has answered fastest of late (the latency of
 * balance_fact.h), the first listed of equals; weights do not count, but 0 as
 * ever.  One unit in EXPLORE, by its seed, is given to one drawn by weight
 * instead, so that one of which nothing is known, or nothing good, has its
 * chance to show what it can; one is drawn as well if nothing is known of
 * anybody.  One that has come back has only a part of the units that would be
 * its own, more and more (balance_ramp()).
 *
 * Latencies of different calls are not compared (enum route_call): what tells
 * most and is known of somebody is looked at, of everybody.
 */
#include "autoconf.h"

#include "balance.h"
#include "balance_fact.h"

enum { EXPLORE = 16 };

static bool is_back(const struct route_request *request,
                    const struct route_member *m)
{
    return balance_number(request, 1) % BALANCE_RAMP <
           balance_ramp(m, request->now);
}

static int quickest(const struct balance_among *among, enum route_call call)
{
    uint64_t now = among->request->now, least = 0;
    enum balance_rank first = BALANCE_RANKS;
    int best = -1;

    for (uint32_t i = 0; i < among->fleet->count; i++) {
        const struct route_member *m = &among->fleet->members[i];
        uint64_t latency = balance_latency(m, call, now);
        enum balance_rank rank = balance_rank(m, now);

        if (latency && (rank < first || (rank == first && latency < least)) &&
            is_back(among->request, m) && balance_may(among, i)) {
            best = (int)i;
            first = rank;
            least = latency;
        }
    }
    return best;
}

int balance_fastest(const struct balance_among *among)
{
    const struct route_member *members = among->fleet->members;
    uint64_t now = among->request->now;
    int drawn = balance_draw(among, 2);
    int best = -1;

    if (drawn < 0 || balance_number(among->request, 0) % EXPLORE == 0) {
        return drawn;
    }
    for (int call = 0; best < 0 && call < ROUTE_CALLS; call++) {
        best = quickest(among, (enum route_call)call);
    }
    if (best < 0 || balance_rank(&members[drawn], now) <
                        balance_rank(&members[best], now)) {
        return drawn; /* it ranks before all that are known */
    }
    return best;
}
