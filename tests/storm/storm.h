/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What all of the great storm knows: the sandbox that it is about, the
 * keywords of the fleet, and random numbers that a seed repeats.
 *
 * Three groups of a primary and a standby: instances n1, n1s1, n2, n2s1, n3,
 * n3s1, numbered 0 to 5; groups 0 to 2; leaves orders_n1, orders_n2, orders_n3
 * of 1,000 keys each, numbered 0 to 2, which are their groups' at first.
 */
#ifndef STORM_H
#define STORM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    STORM_GROUPS = 3,
    STORM_INSTANCES = 2 * STORM_GROUPS,
    STORM_LEAVES = 3,
    STORM_LEAF_KEYS = 1000,
    STORM_RIDERS = 16,
    STORM_NOBODY = 99 /* no instance, group or leaf */
};

/* Times in ms; how much longer all is if a sanitizer makes us slow. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STORM_SLOW = 5 };
#else
enum { STORM_SLOW = 1 };
#endif

enum {
    STORM_INTERVAL = 500,              /* CheckInterval */
    STORM_CHECK = 1000 * STORM_SLOW,   /* CheckTimeout */
    STORM_CONNECT = 2000 * STORM_SLOW, /* ConnectTimeout */
    STORM_WAIT = 1000 * STORM_SLOW,    /* PoolWait */
    STORM_TRUST = 500,                 /* PoolTrust */
    STORM_SLACK = 250 * STORM_SLOW     /* what is ours may be so much later */
};

/* Until the fleet has heard of what has happened: two intervals with their
   jitter, and what a probe takes. */
enum { STORM_NOTICE = 2 * STORM_INTERVAL * 12 / 10 + STORM_SLACK };

/* A call that hangs inside the inner driver has ended by then: the fleet has
   asked, and given up asking.  Where no link is idle a probe opens one, and has
   ConnectTimeout for it. */
enum { STORM_HUNG = STORM_INTERVAL * 12 / 10 + STORM_CONNECT + STORM_SLACK };

static inline unsigned storm_group(unsigned instance)
{
    return instance / 2;
}

/* "n1"; "n1-tcp", which the fleet calls it, is the same to storm_instance(). */
const char *storm_name(unsigned instance);
unsigned storm_instance(const char *name); /* or STORM_NOBODY */

/* A number below `below`, of this sequence. */
static inline unsigned storm_draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (unsigned)((uint64_t)(*state >> 8) * below >> 24);
}

void storm_rest(unsigned ms);

#endif
