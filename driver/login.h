/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Logins: what sessions with the same credentials share of a fleet.  A login
 * has one pool (pool.h) for each instance, the limits that hold for all of
 * them, and the units that wait for their links (place.h).  It is part of a
 * pool's identity (promise 3): all that is handed down, the ODBC version, and
 * narrow or wide.
 *
 * Locks: login->lock (LOCK_LOGIN) guards everything here and in its pools that
 * is not marked otherwise, and is never held while the inner driver is called
 * (promise 8).
 */
#ifndef LOGIN_H
#define LOGIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "fleet.h"
#include "lock.h"
#include "pool_stat.h"
#include "route.h"
#include "text.h"

struct pool;
struct unit;

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
    uint64_t lent, used_at; /* login_life.c's: ns; sessions until then */
    struct unit *units;     /* waiting, first come first (place.c) */
    uint64_t waited_at;     /* ns: a unit began to wait for the first link of
                               all; 0 = none did */
    uint32_t seek_next;     /* watch_seek.c's: where it goes on */
    _Atomic bool retired;   /* out of date: keep no link, no new session;
                               set with lock held, read by login_get() */
    /* pool_shelf.c's; written with lock held, but for shelved = true */
    _Atomic bool shut;      /* nothing may be put on a shelf */
    _Atomic bool shelved;   /* something may be on one */
    _Atomic uint64_t shelves_until; /* ns: to be gathered then */

    uint32_t refs;          /* guarded by fleet->lock */
    struct login *prev, *next;
};

/* ---- which login (login.c) ----------------------------------------------- */

/* The login of this session, made at first use; the caller gets a reference.
   NULL: out of memory.  Locks: takes fleet->lock. */
struct login *login_get(struct fleet *fleet, const struct config *config,
                        SQLINTEGER odbc_version, bool wide);
struct login *login_retain(struct login *login);
void login_release(struct login *login); /* no lock may be held */

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

/* The keywords handed down, as config_read_*() found them, into *passed,
   which the caller frees (it wipes).  False: out of memory.  No locks. */
bool login_passed(const struct login *login, struct connstr *passed);

/* ---- all of a fleet (login.c) -------------------------------------------- */

/* Every login of the fleet retained, in an array the caller frees after
   login_release() of each; NULL with *count 0: out of memory.
   Locks: takes fleet->lock. */
struct login **login_all(struct fleet *fleet, uint32_t *count);

/* Links of all logins of the fleet, in any state but CLOSING.
   Locks: takes fleet->lock, then each login's. */
uint32_t login_all_links(struct fleet *fleet);

/* ---- what the decision sees of it (login.c) ------------------------------ */

/* What the decision sees of this login.  Locks: holds login->lock. */
struct route_fleet login_route_locked(const struct login *login);

/* The same if every instance had an idle link and no limit.  No locks. */
struct route_fleet login_route_plenty(const struct login *login);

/* ---- its links over time ------------------------------------------------- */

/* Does a session hold a link of this login, or wait for one?
   Locks: holds login->lock, takes the shelves'. */
bool login_is_used_locked(struct login *login);

/* Closes idle links that are worn, and while the fleet is used and this login
   is, or was less than POOL_USED_MS ago, opens what is missing to PoolMin and
   PoolInitial (login_life.c).  Returns when to look
   again: ns, UINT64_MAX = when somebody opens a link.
   Locks: takes login->lock. */
enum { POOL_USED_MS = 30000 };
uint64_t login_tend(struct login *login, bool used, uint64_t now);

/* The process is quiet (watch.h): closes idle links that have a
   PoolIdleTimeout.  Returns when to look again: ns, while a helper is at one;
   UINT64_MAX = when somebody opens a link.  Locks: takes login->lock. */
uint64_t login_rest(struct login *login, uint64_t now);

/* Tells of each session once that holds a link for longer than SessionLimit
   (login_limit.c).  Returns when to look again: ns, UINT64_MAX = when somebody
   opens a link.  Locks: takes login->lock. */
uint64_t login_tell_overlong(struct login *login, uint64_t now);

/* Ends the calls of helpers that are overdue, and those on links that their
   sessions have lost (login_hung.c).  Returns when it is to be said again: ns,
   UINT64_MAX = when something happens.  Locks: takes login->lock. */
uint64_t login_end_hung(struct login *login, uint64_t now);

/* Closes what is idle and from now on every link that comes back.
   Locks: takes login->lock. */
void login_retire(struct login *login);

/* The same of every login of the fleet.  Locks: takes fleet->lock, then each
   login's. */
void login_retire_all(struct fleet *fleet);

#endif
