/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Gets a link for a unit: gathers the facts, asks route_choose() (nobody else
 * does), takes or orders what the verdict says, waits, gives up.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "link.h"
#include "pool.h"
#include "pool_shelf.h"
#include "route.h"
#include "route_key.h"
#include "topology.h"
#include "why.h"

/* Why one instance did not serve: for error records. */
struct place_refusal {
    enum inner_fault fault;
    struct link_error error; /* state "": it was not asked */
};

/* What place_unit() is to do, and how it went. */
struct place_order {
    /* in */
    struct login *login;
    const struct route_key *key; /* NULL = none */
    enum route_mode mode;
    bool write;
    uint32_t pool_wait_ms;
    uint64_t deadline; /* ns: of the whole; UINT64_MAX = by the keywords */

    /* out */
    struct link *link; /* HELD; NULL: why says it */
    struct verdict verdict;
    struct topology_answer owner; /* as known at the verdict */
    struct why why;               /* first record; code NONE: a link */
    uint64_t waited;              /* ns */
    struct place_refusal *refusals; /* per instance, or NULL; freed by
                                       place_done() */
};

/* Places a unit whose login was found on this shelf, if a link that suits it
   is there as well: as place_unit() would have, without waiting for anybody.
   True: order->link is the caller's, and so is order->login, which is retained.
   False: nothing was done.  Locks: holds the shelf's. */
bool place_at_once(struct place_order *order, struct shelf *shelf);

/* Places one unit.  True: order->link is the caller's until pool_give().
   Waits no longer than the deadlines of rules §3.  Locks: none may be held. */
bool place_unit(struct place_order *order);
void place_done(struct place_order *order);

/* What would be decided for this order now, without taking or ordering a
   link: for EXPLAIN AFFINITY KEY.  An owner that is not known is asked for as
   it is for a unit, and waited for until pool_wait_ms are over.
   refusals[0..fleet->count) is filled.  Locks: takes login->lock. */
struct verdict place_explain(struct place_order *order,
                             enum route_refusal *refusals);

/* Has helpers ask for what this key (NULL: the rest of the topology) needs,
   over links of this login.  Returns how many instances that is.
   Locks: holds login->lock. */
uint32_t place_ask(struct login *login, const struct route_key *key,
                   uint64_t now);

/* The rest, behind the units' backs: opens no link where the login was refused,
   since nobody asked for that (rules §3.3).  Locks: holds login->lock. */
void place_ask_rest(struct login *login, uint64_t now);

/* Has helpers ask every instance whose answer the topology lacks, over links of
   this login, and waits until it is complete, or for wait_ms: for REFRESH
   AFFINITY.  Returns how many were asked.  Locks: takes login->lock. */
uint32_t place_learn(struct login *login, uint32_t wait_ms);

/* How many units wait in this login, and for instance i and nothing else.
   Locks: take login->lock. */
uint32_t place_waiting(struct login *login);
uint32_t place_waiting_for(struct login *login, uint32_t i);

/* struct pool_events' serve: lets waiting units go on, first come first, each
   of which something suits (rules §3.1).  Locks: holds login->lock. */
void place_serve_locked(struct login *login);

/* Appends one line: instance, what was done, why. */
void place_say(const struct place_order *order, struct text *out);

/* Appends why instance i did not serve, for its error record. */
void place_say_refusal(const struct place_order *order, uint32_t i,
                       struct text *out);

#endif
