/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A unit while it is being placed: on the stack of place_unit(), in the queue
 * of its login.  What the place*.c files share, and nobody else needs.  Locks:
 * all of it holds login->lock, but for what is said.
 */
#ifndef PLACE_UNIT_H
#define PLACE_UNIT_H

#include "place.h"

/* Guarded by the login's lock. */
struct unit {
    struct place_order *order;
    struct cond wake;
    bool done;      /* it has its link, or has failed */
    bool expired;   /* failed for want of time */
    bool broke;     /* failed for want of memory or helper threads */
    bool learning;  /* its owner is being asked for */
    bool asking;    /* EXPLAIN, REFRESH: waits for that and is not placed */
    bool fresh;     /* no link was idle when it came */

    int ordered;    /* a helper opens or validates a link for it here */
    bool validating;
    uint64_t ordered_at;
    uint64_t patient_until; /* then it looks for something else */

    bool *tried;    /* per instance: it failed for this unit; NULL = none */
    int late_at;    /* the latest instance that did not answer in time */
    int refused_at; /* the instance that refused the login */

    uint64_t begin, wait_until, hard; /* ns; PoolWait's and the whole's end */
    uint64_t ask_again;    /* the verdict's wish; UINT64_MAX = none */
    uint64_t sleeps_until; /* 0 = it is awake */
    struct unit *prev, *next;
};

static inline struct pool *place_pool(const struct unit *unit, int i)
{
    return &unit->order->login->pools[i];
}

static inline bool place_is_background(const struct login *login)
{
    return login->fleet->config.create == CONFIG_BACKGROUND;
}

/* ---- place.c ------------------------------------------------------------- */

/* Takes it off the queue.  Locks: holds login->lock. */
void place_leave_locked(struct unit *unit);

/* What the decision is asked. */
struct route_request place_request(const struct unit *unit, uint64_t now);

/* Decides one unit and does what the verdict says.  A unit that has what it
   wants, or for which a helper validates a link, is left alone, unless
   `impatient`: that took too long. */
void place_decide(struct unit *unit, bool impatient);

/* Instance i has failed it, and is not tried again, unless that passes
   (inner_passes()). */
void place_note_tried(struct unit *unit, uint32_t i, enum inner_fault fault,
                      const struct link_error *error);

/* The unit waits no more for what a helper does for it. */
void place_leave_order(struct unit *unit);

/* It has this link, HELD; or it has failed.  Wakes it. */
void place_finish(struct unit *unit, struct link *link);
void place_fail(struct unit *unit);

/* ---- place_report.c ------------------------------------------------------ */

/* What place.c has pool_set_events() given. */
extern const struct pool_events place_events;

/* ---- place_count.c ------------------------------------------------------- */

/* The order has its link, and whose its key is has been looked up.  No
   locks. */
void place_hand_out(struct place_order *order, struct link *link, uint64_t now);

/* What has become of a unit that had to wait, or was not served. */
void place_count_wait(const struct unit *unit, bool waited);

/* Does the unit wait for instance i and nothing else? */
bool place_waits_for(const struct unit *unit, uint32_t i);

/* ---- place_time.c -------------------------------------------------------- */

/* It begins to wait now: sets begin, wait_until and hard. */
void place_begin(struct unit *unit, uint64_t now);

/* A helper has begun to open or validate a link for it on instance i. */
void place_helped(struct unit *unit, int i, uint64_t now, bool validating);

/* The unit's patience is at an end: has the helper been at it, since `began`
   (0: it has not), for so long that the instance is to blame?  Else it is
   patient a little longer. */
bool place_is_overdue(struct unit *unit, uint64_t began, uint64_t now);

/* Has it waited long enough?  What a helper does for it has a limit of its
   own. */
bool place_is_over(const struct unit *unit, uint64_t now);

/* ns: when what a helper does for the unit has taken too long. */
uint64_t place_order_limit(const struct unit *unit);

/* ns: when the unit must be looked at again at the latest. */
uint64_t place_next_look(const struct unit *unit, uint64_t now);

/* ---- place_ask.c --------------------------------------------------------- */

/* Fills order->owner with what is known of the key, and has asked what is not;
   sets learning. */
void place_look_up_owner(struct unit *unit, uint64_t now);

/* For EXPLAIN: waits until the owner is known or nobody can tell any more, for
   PoolWait.  The unit is in no queue. */
void place_await_owner(struct unit *unit);

/* The unit waits: if its login has never had a link, the keeper seeks one that
   serves (watch_seek.c). */
void place_have_sought(const struct unit *unit);

/* If the unit has not found its owner's primary: there may be another by now,
   but standbys are passed over, so those are probed, for units to come. */
void place_look_for_primary(const struct place_order *order);

/* ---- place_say.c --------------------------------------------------------- */

/* What is said of an order that did not end in time; or has not begun. */
void place_late_error(const struct unit *unit, bool begun,
                      struct link_error *error);

/* Fills order->why: which key, which owner, what was tried, how long. */
void place_explain_failure(struct unit *unit);

#endif
