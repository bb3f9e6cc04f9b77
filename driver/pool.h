/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pools: the links of one login (login.h) to one instance.
 *
 *            order                 opened for a unit
 *   (none) ────────→ OPENING ───────────────────────→ HELD ──┐ give
 *                     │   │ nobody waits any more            ↓
 *      opened to learn│   └────→ IDLE ←──────────────────── RESET
 *                     │   take ↑│  ↑ learnt                  │ not clean,
 *                     └────────│┴→ LEARNING                  ↓ dead, old
 *                            (HELD)             any ──────→ CLOSING → (gone)
 *
 * (An idle link that is being probed is PROBING, which is as good as IDLE.)
 * Which state leads where is in link_state.def.  A state is a list, a count
 * the length of a list, and pool_set_state_locked() the only writer.
 *
 *            give, unused: HELD ───→ on a shelf ───→ HELD: at once
 *                                        └─────────→ IDLE: gathered
 *
 * On a shelf (pool_shelf.h) a link goes from session to session without the
 * login's lock; it is HELD all the while.  Who looks for idle ones gathers.
 *
 * Locks: the login's guards everything here that is not marked otherwise, and
 * is never held while the inner driver is called (promise 8).
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "link.h"
#include "login.h"
#include "pool_stat.h"

struct unit;

struct pool {
    struct login *login;
    uint32_t instance;
    struct link *links[LINK_STATES]; /* IDLE: the most recently used first */
    uint32_t count[LINK_STATES];     /* their lengths */
    const char *settings; /* secret: SQL that ends a reset; set by the first
                             open, fixed afterwards; NULL = not known yet */
    struct pool_stats stats; /* since the start, for SHOW AFFINITY */
    uint32_t left; /* links on which nothing ends what hangs */
    uint32_t least; /* kept however long they are idle (login_life.c) */
    struct pool_fill {
        bool begun;       /* PoolInitial's are there */
        uint64_t failed;  /* openings until the latest look */
        uint32_t wait_ms; /* because of them */
        uint64_t until;   /* ns: nothing is opened before */
    } fill; /* login_life.c's */
    uint64_t full_until;  /* as in struct route_stock */
    uint32_t full_ms;     /* so long it was left alone the last time */
    _Atomic bool crowded; /* more than it may have, as the limit was lowered;
                             written with lock held, read by pool_shelf.c */
    bool refused; /* a link was, with a fault of the login or the pool: none is
                     opened unasked until somebody opens one */
    bool poor;    /* the latest probe was not told all (link_probe.h) */
};

/* The only writer of a link's state; unlinks, sets, links, counts.
   Locks: holds login->lock. */
void pool_set_state_locked(struct link *link, enum link_state state);

/* Closes its idle links that fleet_keeps() no longer, and those beyond what the
   instance may have; takes note of a changed pool_max; then lets units go on.
   Locks: takes login->lock. */
void pool_trim(struct pool *pool);

/* Takes an idle link of that pool for a unit: the most recently used that is
   not worn (those are closed), one that is being probed only if there is no
   other; it is HELD then.  NULL: there was none left.  *validate: it must be
   validated before use.  Locks: holds login->lock. */
struct link *pool_take_locked(struct pool *pool, bool *validate);

/* Orders a new link, for `unit` or (NULL) for whoever comes; the order of a
   unit that waits no more is taken over, and for a unit that for whoever comes.
   At PoolMaxTotal the least recently used idle link of another instance is
   closed for it (rules §3.2).  How many are opened at once,
   fleet_set_lanes() says; the others wait for their turn.  False: no room,
   no memory, or no helper thread can be had.
   What becomes of it: see struct pool_events.  Locks: holds login->lock. */
bool pool_order_locked(struct pool *pool, struct unit *unit);

/* Orders one for whoever comes, unless one is on its way, or the login was
   refused there: it is not retried unasked (rules §3.3).
   Locks: holds login->lock. */
void pool_order_behind_locked(struct pool *pool);

/* Takes back the orders of units that wait no more, where no helper has begun.
   Locks: holds login->lock, and the caller has a reference to the login. */
void pool_tidy_locked(struct login *login);

/* Has a helper validate a HELD link for `unit`; one that is being probed is
   validated by that.  False: no helper thread can
   be had; the link is being closed.  Locks: holds login->lock. */
bool pool_validate_locked(struct link *link, struct unit *unit);

/* Would pool_learn_locked() have a link to ask over, or might it order one?
   What is on shelves counts for nothing.  Locks: holds login->lock. */
bool pool_may_learn_locked(const struct pool *pool, bool unasked);

/* Takes an idle link, or orders a new one, and has a helper ask its instance
   for what the fleet's topology needs: ends in topology_ask() or
   topology_not_asked().  unasked: no unit waits for that, so none is ordered
   where the login was refused.  False: not possible now, nobody was told.
   Locks: holds login->lock. */
bool pool_learn_locked(struct pool *pool, bool unasked);

/* How good is this pool for a probe?  REFUSED: its login was refused there, or
   is not known to be good.  Locks: holds login->lock. */
enum pool_probe {
    POOL_PROBE_NOT,     /* no room, or a link is being opened anyway */
    POOL_PROBE_REFUSED,
    POOL_PROBE_OPENS_POOR, POOL_PROBE_ASKS_POOR, /* and is not told all */
    POOL_PROBE_OPENS,   /* takes a new link, which joins the pool */
    POOL_PROBE_ASKS     /* has an idle link */
};
enum pool_probe pool_probe_locked(const struct pool *pool, bool new);

/* Has a helper probe the pool's instance: over the idle link that was used
   longest ago, else (or if `new`) over one that is opened for it.  Ends in
   fleet_probed(), or fleet_failed() or fleet_suspect(), and in
   fleet_probe_ended().  False: not now, nobody was told.
   Locks: holds login->lock. */
bool pool_probe_begin_locked(struct pool *pool, bool new);

/* A login that has never had a link waits for POOL_SEEK_MS for what its units
   try, before others are tried beside (watch_seek.c): has one opened there, and
   probed, which joins the pool.  False: not now, nobody was told.
   Locks: holds login->lock. */
enum { POOL_SEEK_MS = 300 };
bool pool_seek_locked(struct pool *pool);

/* Probes over idle links have taken too long: those links are closed when their
   helpers come back.  Locks: holds login->lock. */
void pool_probe_leave_locked(struct pool *pool);

/* A session gives its link back: reset by a helper, or idle at once if it was
   never used, or closed.  dead: the inner driver says so.  (For one that was
   never used, and whose session goes as well, there is shelf_give().)
   Locks: takes login->lock; never waits. */
void pool_give(struct link *link, bool dead);

/* Has a helper tell the inner driver to cancel what runs on `stmt`, an inner
   statement of a held link, and waits until that is sent, at most 0.5 s:
   PQcancel can hang (rules §4.6).  The link is neither reset nor closed before
   the cancel has ended, and what is freed meanwhile is kept until then
   (pool_keep_child()).  False: no helper thread or no memory.
   Locks: takes login->lock. */
bool pool_cancel(struct link *link, SQLHSTMT stmt);

/* Waits until none is under way on a held link, at most CheckTimeout; not on
   one that is lost, where nothing runs next and PQcancel may hang.
   Locks: takes login->lock. */
void pool_await_cancels(struct link *link);

/* An inner handle is to be freed: true = a cancel is under way on the link, or
   it is lost and freeing might hang, so it has been put by for the reset or the
   closing; false = the caller frees it.
   Locks: takes login->lock if there is one. */
bool pool_keep_child(struct link *link, SQLSMALLINT type, SQLHANDLE inner);

/* ---- what becomes of orders and validations ------------------------------

   Set by place.c; called with login->lock held, serve on any thread, the
   others on a helper's.  ready and failed are for the unit given with the
   order, unless it has been taken off since (pool_abandon_locked()). */
struct pool_events {
    /* Something has happened that may let a waiting unit go on (rules §3.1). */
    void (*serve)(struct login *login);
    /* The link is open or validated: true = it was given away, to the unit (it
       is HELD then) or to another. */
    bool (*ready)(struct unit *unit, struct link *link);
    /* It could not be had; fault and error say why. */
    void (*failed)(struct unit *unit, uint32_t instance,
                   enum inner_fault fault, const struct link_error *error);
    /* A link that was ordered for whoever comes was refused, with a fault of
       the login or of the pool, and the login has no open link anywhere. */
    void (*refused)(struct login *login, uint32_t instance,
                    enum inner_fault fault, const struct link_error *error);
};
void pool_set_events(const struct pool_events *events);

/* ns: when the helper began with what was ordered or is being validated for
   this unit; 0 = it has not, it is queued.  Locks: holds login->lock. */
uint64_t pool_began_locked(const struct pool *pool, const struct unit *unit);

/* The unit waits no more for what was ordered or is being validated for it: the
   link becomes idle when it is ready; but see pool_tidy_locked().
   Locks: holds login->lock. */
void pool_abandon_locked(struct pool *pool, const struct unit *unit);

#endif
