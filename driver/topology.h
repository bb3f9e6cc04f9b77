/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which group owns which keys, as learnt from the instances, the map file or
 * the hash (design §6.3, rules §1): what has been asked of whom, the map made
 * from the answers, and keys that only the server can resolve.
 *
 * Little is asked: without a key nothing; for the first key one instance, its
 * pointer followed, others only if that does not decide it; then the rest.
 * topology_next() says whom to ask, place.c has a helper do it, and
 * topology_ask() runs there.
 *
 * Locks: LOCK_TOPOLOGY inside, of higher rank than a login's and a fleet's;
 * never held over an inner call.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "route.h"
#include "route_key.h"
#include "text.h"
#include "why.h"

struct fleet;
struct link;
struct link_error;
struct topology;

enum { TOPOLOGY_OWNERS_MAX = 64 };

struct topology_answer {
    enum route_ownership state;
    uint32_t owners[TOPOLOGY_OWNERS_MAX]; /* groups */
    uint32_t count;
    bool pending;   /* UNKNOWN: somebody is being asked, or can be */
    struct why why; /* state BAD key: WHY_KEY, else what is known, for errors */
    bool bad_key;   /* the key does not fit (22018); state is UNOWNED */
};

/* The topology of a fleet that is being made: reads the map file, checks
   AffinityTable's and AffinityQuery's form, asks nobody.  NULL: why. */
struct topology *topology_new(struct fleet *fleet, struct why *why);
void topology_free(struct topology *topology);

/* Who owns this key, by what is known now.  No I/O.
   Locks: takes LOCK_TOPOLOGY; LOCK_LOGIN may be held. */
void topology_find(struct fleet *fleet, const struct route_key *key,
                   struct topology_answer *answer);

/* The instance to ask now so that this key (NULL: every key) gets known, and
   marks it as being asked: the caller orders pool_learn_locked() there, and
   answers topology_asked(false) if that was not possible.  -1: nobody (all
   is known, or enough are being asked, or the rest is down).
   For a key: one at a time, a second if the first has not answered within
   TOPOLOGY_HEDGE_MS.  `now` in ns.  Locks: as above. */
enum { TOPOLOGY_HEDGE_MS = 300 };
int topology_next(struct fleet *fleet, const struct route_key *key,
                  uint64_t now);

/* When topology_next() should be asked again though nothing has happened: ns,
   UINT64_MAX = never. */
uint64_t topology_wake(struct fleet *fleet, uint64_t now);

/* Asks instance i over this link, and takes its answer into the map; resolves
   the keys that wait for a server to do so.  On a helper thread, no lock held.
   False: error; the instance counts as not answering until it is up again. */
bool topology_ask(struct fleet *fleet, uint32_t i, struct link *link,
                  struct link_error *error);

/* The asking of i has ended without topology_ask() (not opened, not ordered). */
void topology_asked(struct fleet *fleet, uint32_t i, bool answered);

/* Groups, roles or identities have changed: make the map anew from the
   answers that stand.  No lock may be held. */
void topology_regroup(struct fleet *fleet);

/* Forgets all answers (REFRESH AFFINITY): a new generation; what is still
   being asked for the old one is not mixed in. */
void topology_forget(struct fleet *fleet);

/* Complete: every group has answered, or all its members are down
   (rules §1.2). */
bool topology_complete(struct fleet *fleet);

/* What source: "table public.orders", "map file …", "query", "hash". */
void topology_source(struct fleet *fleet, struct text *out);

/* The weight, readonly, enabled, poolmax and group of instance i by the map
   file; the defaults (1, false, true, 0 = PoolMax, "") without one. */
struct topology_limits {
    uint32_t weight;
    bool read_only, disabled;
    uint32_t pool_max;
    const char *group;
};
struct topology_limits topology_limits(const struct topology *topology,
                                       uint32_t i);

/* One row per leaf, range, value or target, for SHOW AFFINITY TOPOLOGY: path,
   bound, owner group (-1 = unknown), state in words.  row() is called with no
   lock held. */
typedef bool topology_row(void *arg, const char *path, const char *bound,
                          int group, const char *state);
void topology_show(struct fleet *fleet, topology_row *row, void *arg);

#endif
