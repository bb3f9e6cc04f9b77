/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The balancing methods (design §6.4), a file balance_<name>.c each.  route.c
 * asks one when its policy wants a balanced choice, and nobody else does.
 *
 * Each chooses among the instances for which may() holds.  Those of weight 0
 * are chosen only if there is no other; of the rest, adaptive and those that
 * rest on it, fastest and saturation choose one in violation of its limits
 * (balance_fact.h) only if there is no other.  -1: nobody may.
 */
#ifndef BALANCE_H
#define BALANCE_H

#include "route.h"

static inline uint32_t balance_weight(const struct route_member *m)
{
    return atomic_load_explicit(&m->weight, memory_order_relaxed);
}

typedef bool route_may(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i);

/* Among whom. */
struct balance_among {
    const struct route_request *request;
    const struct route_fleet *fleet;
    route_may *may;
    route_may *able; /* could serve, whatever may() asks for besides */

    /* what a method adds; balance_all() has none of it */
    int but;         /* not this one; -1 = no matter */
    uint32_t lightest, last; /* none lighter, and of these none listed after */
};

typedef int balance_method(const struct balance_among *among);

static inline struct balance_among
balance_all(const struct route_request *request,
            const struct route_fleet *fleet, route_may *may, route_may *able)
{
    return (struct balance_among){
        .request = request, .fleet = fleet, .may = may, .able = able,
        .but = -1, .last = UINT32_MAX,
    };
}

balance_method balance_adaptive;
balance_method balance_proportional;
balance_method balance_saturation;
balance_method balance_operational;
balance_method balance_failover;
balance_method balance_adaptive_failover;
balance_method balance_fastest;
balance_method balance_random;

/* ---- what they share ----------------------------------------------------- */

/* Who comes first, whatever else speaks for him: 0 is first. */
enum balance_rank {
    BALANCE_FIRST, BALANCE_OVER_LIMITS, BALANCE_LAST, BALANCE_RANKS
};
enum balance_rank balance_rank(const struct route_member *m, uint64_t now);

/* Its weight, 1 for 0, by how far it has come back (balance_ramp()): in
   BALANCE_RAMPths. */
uint64_t balance_share(const struct route_member *m, uint64_t now);

/* The nth number that the request's seed gives: well mixed. */
uint64_t balance_number(const struct route_request *request, uint32_t n);

/* May it be instance i? */
static inline bool balance_may(const struct balance_among *among, uint32_t i)
{
    uint32_t weight = balance_weight(&among->fleet->members[i]);

    return (int)i != among->but && weight >= among->lightest &&
           (weight > among->lightest || i <= among->last) &&
           among->may(among->request, among->fleet, i);
}

/* Draws one of the best rank, each with a chance in proportion to his share,
   from the request's nth number on.  -1: there is none. */
int balance_draw(const struct balance_among *among, uint32_t n);

#endif
