/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What pool*.c and login*.c use of one another, and nobody else.
 */
#ifndef POOL_INSIDE_H
#define POOL_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

/* struct pool_events' serve.  Locks: holds login->lock. */
void pool_serve_locked(struct login *login);

/* Links in any state but CLOSING.  Locks: holds login->lock. */
uint32_t pool_links(const struct pool *pool);

/* May one more be opened there, without another one being closed for it?
   Locks: holds login->lock. */
bool pool_has_room_locked(const struct pool *pool);

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

/* Has an idle link closed by a helper, for that reason (POOL_STAT_CLOSED_…).
   Without one (at exit) it stays as it is.  Locks: holds login->lock. */
void pool_close_locked(struct link *link, enum pool_stat why);

/* For pool_cancel.c.  Locks: holds login->lock. */
void pool_cancel_ended_locked(struct link *link);

#endif
