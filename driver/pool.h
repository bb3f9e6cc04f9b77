/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pools: the links of one login to one instance, and the login that binds the
 * pools of a fleet together: its credentials, its limits, and the units that
 * wait (place.h).  A login is part of a pool's identity (promise 3): all that
 * is handed down, the ODBC version, and narrow or wide.
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
 * Locks: login->lock (LOCK_LOGIN) guards everything here that is not marked
 * otherwise, and is never held while the inner driver is called (promise 8).
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "fleet.h"
#include "link.h"
#include "lock.h"
#include "pool_stat.h"
#include "route.h"

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
    uint32_t least; /* kept however long they are idle (pool_life.c) */
    struct pool_fill {
        bool begun;       /* PoolInitial's are there */
        uint64_t failed;  /* openings until the latest look */
        uint32_t wait_ms; /* because of them */
        uint64_t until;   /* ns: nothing is opened before */
    } fill; /* pool_life.c's */
    uint64_t full_until;  /* as in struct route_stock */
    uint32_t full_ms;     /* so long it was left alone the last time */
    _Atomic bool crowded; /* more than it may have, as the limit was lowered;
                             written with lock held, read by pool_shelf.c */
    bool refused; /* a link was, with a fault of the login or the pool: none is
                     opened unasked until somebody opens one */
    bool poor;    /* the latest probe was not told all (link_probe.h) */
};

struct login {
    struct fleet *fleet;    /* retained */
    SQLINTEGER odbc_version;
    bool wide;
    bool monitor;           /* the keeper's own (MonitorUID); fixed */
    const char *key;        /* secret: identity; fixed */
    const char *passed;     /* secret: the keywords handed down; fixed */
    const char *user;       /* UID among them, "" if it is not; fixed */

    struct mutex lock;
    struct cond cancelled;  /* the last cancel on a link has ended */
    struct pool *pools;     /* one per instance */
    struct route_stock *stock;
    struct route_stock *plenty; /* an idle link everywhere; fixed */
    uint32_t total;         /* links in any state but CLOSING */
    uint32_t total_idle;    /* IDLE and PROBING */
    uint64_t closed;        /* how often room was made: a link was closed, an
                               order taken back */
    uint32_t orphans;       /* links that are OPENING so */
    struct pool_stats stats; /* of units that no instance served */
    _Atomic bool proved;    /* a link was opened under it */
    uint64_t lent, used_at; /* pool_life.c's: ns; sessions until then */
    struct unit *units;     /* waiting, first come first (place.c) */
    _Atomic bool retired;   /* out of date: keep no link, no new session;
                               set with lock held, read by login_get() */
    /* pool_shelf.c's; written with lock held, but for shelved = true */
    _Atomic bool shut;      /* nothing may be put on a shelf */
    _Atomic bool shelved;   /* something may be on one */
    _Atomic uint64_t shelves_until; /* ns: to be gathered then */

    uint32_t refs;          /* guarded by fleet->lock */
    struct login *prev, *next;
};

/* The login of this session, made at first use; the caller gets a reference.
   NULL: out of memory.  Locks: takes fleet->lock. */
struct login *login_get(struct fleet *fleet, const struct config *config,
                        SQLINTEGER odbc_version, bool wide);
struct login *login_retain(struct login *login);
void login_release(struct login *login); /* no lock may be held */

/* The keywords handed down, as config_read_*() found them, into *passed,
   which the caller frees (it wipes).  False: out of memory.  No locks. */
bool login_passed(const struct login *login, struct connstr *passed);

/* Closes the idle links that fleet_keeps() no longer, and those beyond what
   the instance may have; takes note of a changed pool_max; then lets units go
   on.  Locks: takes login->lock. */
void login_gather(struct login *login, uint32_t instance);

/* Ends the calls of helpers that are overdue, and those on links that their
   sessions have lost (pool_hung.c).  Returns when it is to be said again: ns,
   UINT64_MAX = when something happens.  Locks: takes login->lock. */
uint64_t login_end_hung(struct login *login, uint64_t now);

/* Closes idle links that are worn, and while the fleet is used and this login
   is, or was less than POOL_USED_MS ago, opens what is missing to PoolMin and
   PoolInitial (pool_life.c).  Returns when to look
   again: ns, UINT64_MAX = when somebody opens a link.
   Locks: takes login->lock. */
enum { POOL_USED_MS = 30000 };
uint64_t login_tend(struct login *login, bool used, uint64_t now);

/* Tells of each session once that holds a link for longer than SessionLimit
   (pool_limit.c).  Returns when to look again: ns, UINT64_MAX = when somebody
   opens a link.  Locks: takes login->lock. */
uint64_t login_tell_overlong(struct login *login, uint64_t now);

/* Closes what is idle and from now on every link that comes back.
   Locks: takes login->lock. */
void login_retire(struct login *login);

/* The same of every login of the fleet.  Locks: takes fleet->lock, then each
   login's. */
void login_retire_all(struct fleet *fleet);

/* Every login of the fleet retained, in an array the caller frees after
   login_release() of each; NULL with *count 0: none, or out of memory.
   Locks: takes fleet->lock. */
struct login **login_all(struct fleet *fleet, uint32_t *count);

/* Links of all logins of the fleet, in any state but CLOSING.
   Locks: takes fleet->lock, then each login's. */
uint32_t fleet_links(struct fleet *fleet);

/* Is it the login of such a session?  key as login_key() appends it to a text
   that wipes.  No locks; somebody keeps the login. */
bool login_fits(const struct login *login, const struct config *config,
                const char *key);
void login_key(const struct config *config, SQLINTEGER odbc_version, bool wide,
               struct text *key);

/* The keeper's own login, of MonitorUID and MonitorPWD, made at first use: what
   it hands down else is what the sessions' logins do.  The caller gets a
   reference.  NULL: there is no MonitorUID, or no login yet that has opened a
   link, or out of memory.  Locks: takes fleet->lock. */
struct login *login_monitor(struct fleet *fleet);

/* Does a session hold a link of this login, or wait for one?
   Locks: holds login->lock, takes the shelves'. */
bool login_is_used_locked(struct login *login);

/* What the decision sees of this login.  Locks: holds login->lock. */
struct route_fleet login_route_locked(const struct login *login);

/* The same if every instance had an idle link and no limit.  No locks. */
struct route_fleet login_route_plenty(const struct login *login);

/* Takes an idle link of that pool for a unit: the most recently used that is
   not worn (those are closed), one that is being probed only if there is no
   other; it is HELD then.  NULL: there was none left.  *validate: it must be
   validated before use.  Locks: holds login->lock. */
struct link *pool_take_locked(struct pool *pool, bool *validate);

/* Orders a new link, for `unit` or (NULL) for whoever comes; the order of a
   unit that waits no more is taken over, and for a unit that for whoever comes.
   At PoolMaxTotal the least recently used idle link of another instance is
   closed for it (rules §3.2).  How many are opened at once,
   fleet_opens_at_once() says; the others wait for their turn.  False: no room,
   no memory, or no helper thread can be had.
   What becomes of it: see struct pool_events.  Locks: holds login->lock. */
bool pool_order_locked(struct pool *pool, struct unit *unit);

/* Orders one for whoever comes, unless one is on its way.
   Locks: holds login->lock. */
void pool_order_behind_locked(struct pool *pool);

/* Takes back the orders of units that wait no more, where no helper has begun.
   Locks: holds login->lock, and the caller has a reference to the login. */
void pool_tidy_locked(struct login *login);

/* Has a helper validate a HELD link for `unit`; one that is being probed is
   validated by that.  False: no helper thread can
   be had; the link is being closed.  Locks: holds login->lock. */
bool pool_validate_locked(struct link *link, struct unit *unit);

/* Takes an idle link, or orders a new one, and has a helper ask its instance
   for what the fleet's topology needs: ends in topology_ask() or
   topology_not_asked().  False: not possible now, nobody was told.
   Locks: holds login->lock. */
bool pool_learn_locked(struct pool *pool);

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

/* For pool_cancel.c.  Locks: holds login->lock. */
void pool_cancel_ended_locked(struct link *link);

/* An inner handle is to be freed: true = a cancel is under way on the link, or
   it is lost and freeing might hang, so it has been put by for the reset or the
   closing; false = the caller frees it.
   Locks: takes login->lock if there is one. */
bool pool_keep_child(struct link *link, SQLSMALLINT type, SQLHANDLE inner);

/* Has an idle link closed by a helper, for that reason (POOL_STAT_CLOSED_…).
   Without one (at exit) it stays as it is.  Locks: holds login->lock. */
void pool_close_locked(struct link *link, enum pool_stat why);

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

/* ---- among the pool*.c files --------------------------------------------- */

/* struct pool_events' serve.  Locks: holds login->lock. */
void pool_serve_locked(struct login *login);

/* Links in any state but CLOSING. */
uint32_t pool_links(const struct pool *pool);

/* May one more be opened there, without another one being closed for it?
   Locks: holds login->lock. */
bool pool_has_room_locked(const struct pool *pool);

/* The only writer of a link's state; unlinks, sets, links, counts.
   Locks: holds login->lock. */
void pool_set_state_locked(struct link *link, enum link_state state);

/* It is CLOSING, or will be, for that reason; the caller, a helper, closes it
   himself.  Locks: holds login->lock. */
void pool_set_closing_locked(struct link *link, enum pool_stat why);

/* Why it is to be closed (POOL_STAT_CLOSED_…): past its lifetime, its number of
   sessions, idle for too long, or not to be kept whatever it is like;
   POOL_STATS: it may stay.
   Locks: holds login->lock, or the link is the caller's. */
enum pool_stat pool_worn_by(const struct link *link, uint64_t now);

static inline bool pool_is_worn(const struct link *link, uint64_t now)
{
    return pool_worn_by(link, now) != POOL_STATS;
}

/* Must it be validated before use, since it has not answered for PoolTrust or
   its instance is suspect?  Locks: as above. */
bool pool_is_stale(const struct link *link, uint64_t now);

/* A link that was free since then, on a shelf or while it was probed, is IDLE,
   and stands among the others by that time.  Locks: holds login->lock. */
void pool_set_idle_since_locked(struct link *link, uint64_t since);

/* What helpers do to links; pool_job.c. */
enum pool_job {
    POOL_OPEN, POOL_OPEN_AND_LEARN, POOL_OPEN_AND_PROBE, POOL_LEARN, POOL_PROBE,
    POOL_VALIDATE, POOL_RESET, POOL_CLOSE
};

/* Has a helper run this job on a new link of the pool, for `unit` or (NULL) for
   whoever comes; probe: the probe's number, or 0.  Closes no other link and
   looks at no limit.  False: no memory, or no helper thread can be had.
   Locks: holds login->lock. */
bool pool_open_locked(struct pool *pool, struct unit *unit, enum pool_job job,
                      uint64_t probe);

/* A link that is in no list yet, with a reference to the login; whoever takes
   it out for good releases that.  NULL: out of memory.  Takes the fleet's
   lock. */
struct link *pool_new_link(struct pool *pool);

/* The instance takes no more links of this login (53300), which is left alone
   for a while, twice as long each time; or it may again, since one is open or
   closed.  Locks: holds login->lock. */
void pool_crowded_locked(struct pool *pool, bool crowded);

/* Takes a link out of its pool for good; the caller frees it, and releases
   the login without the lock.  Locks: holds login->lock. */
void pool_drop_locked(struct link *link);
void pool_free_link(struct link *link);

/* Has a helper run this job on the link.  False: none can be had.
   Locks: holds login->lock. */
bool pool_submit_locked(struct link *link, enum pool_job job);

#endif
