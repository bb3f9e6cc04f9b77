/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What balancing goes by: how quick an instance answers, whether it is in
 * order, how far it has come back.  The rules are here, and pure: time is an
 * argument.  Who writes holds the fleet's lock (fleet_timed() and the like);
 * who reads holds none.
 *
 * Latency is a peak EWMA: a call that took longer than what is known replaces
 * it at once, one that took less pulls it down by halves, one every
 * BALANCE_HALF_MS.  A failure counts as its deadline, because refusing quickly
 * must not look fast (rules §10).  Calls of different sorts are not compared
 * with each other: enum route_call.
 *
 * Flags, UCP's words (facts A3):
 *
 *   blocked    down, drained, or disabled by the map file
 *   no data    nothing was heard of it lately: neither a call nor its load
 *   violating  over its limits: a load above LOAD_OVER of what it can bear,
 *              or a question that takes SLOW_OVER times what it takes when all
 *              is well, and SLOW_LEAST_MS more.  It is good again below
 *              LOAD_UNDER, or at half of that latency, so that it does not go
 *              to and fro.  Gets units when there is no other.
 *   good       else
 *
 * What a question takes when all is well (calm) is the least that it took, and
 * follows what it takes now by halves, one every CALM_HALF_MS: an instance that
 * is slower for good is no longer in violation, but still the dearer one.  Lag
 * is no matter here: how much of it is too much, each session says for itself.
 *
 * An instance that has come back ramps up for BALANCE_RAMP_MS: its weight grows
 * from nearly nothing to what it was.
 */
#ifndef BALANCE_FACT_H
#define BALANCE_FACT_H

#include "route.h"

enum { BALANCE_HALF_MS = 1000, BALANCE_RAMP_MS = 10000, BALANCE_RAMP = 64 };

enum balance_flag {
    BALANCE_GOOD, BALANCE_VIOLATING, BALANCE_NO_DATA, BALANCE_BLOCKED
};

/* A call of that sort took so long, and tells something until then (all ns). */
void balance_timed(struct route_member *m, enum route_call call,
                   uint64_t took, uint64_t now, uint64_t until);

/* Calls to it have failed: they count as if they had taken their deadline. */
void balance_failed(struct route_member *m, uint64_t deadline, uint64_t now,
                    uint64_t until);

/* How much of what it can bear it has to bear, as it says itself. */
void balance_loaded(struct route_member *m, uint32_t permille, uint64_t now,
                    uint64_t until);

/* Is it in violation of its limits? */
static inline bool balance_violates(const struct route_member *m, uint64_t now)
{
    return atomic_load_explicit(&m->violating_until, memory_order_relaxed) >
           now;
}

/* It is back, after it was down or drained: what was known is out of date. */
void balance_returned(struct route_member *m, uint64_t now);

enum balance_flag balance_flag(const struct route_member *m, uint64_t now);
const char *balance_flag_word(enum balance_flag flag);

/* How far it is back: 1 to BALANCE_RAMP, which is all the way. */
uint32_t balance_ramp(const struct route_member *m, uint64_t now);

/* ns, 0 = not known: what calls of that sort take. */
static inline uint64_t balance_latency(const struct route_member *m,
                                       enum route_call call, uint64_t now)
{
    const struct route_pace *pace = &m->pace[call];

    return atomic_load_explicit(&pace->until, memory_order_relaxed) > now
               ? atomic_load_explicit(&pace->ns, memory_order_relaxed)
               : 0;
}

/* Of the most telling sort that is known, for whoever looks at one alone; and
   with that rules §10's cost, latency × (in flight + 1) / weight. */
uint64_t balance_known_latency(const struct route_member *m, uint64_t now);
uint64_t balance_cost(const struct route_member *m, uint64_t now);

/* Of the first sort that both have been timed for; 0, 0: there is none. */
struct balance_latencies {
    uint64_t a, b;
};
struct balance_latencies balance_compare(const struct route_member *a,
                                         const struct route_member *b,
                                         uint64_t now);

#endif
