/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shelves: where a disconnecting session leaves a link that it never used, for
 * the next session that connects on the same processor, so that neither takes
 * a lock or writes a count that other processors write as well.
 *
 * A link on a shelf still counts as HELD: by the shelf, with the reference to
 * the login that the session had.  Whoever takes it from there has both.  So
 * under a login's lock, which a shelf does not ask for, idle links may be
 * missing from the pools' lists, and two rules make up for that:
 *
 *   - Who looks at idle links there gathers first: shelf_gather_locked() turns
 *     those of the login that are on shelves into IDLE ones.  (Not who takes
 *     one that is IDLE and would be the choice whatever the others have.)
 *   - While a unit waits in the login, and once that is retired, its shelves
 *     are shut: all its links go back through the login's lock.
 *
 * A waiting unit misses no link: it shuts, then looks at all shelves, each
 * under that shelf's lock; a session that gives one back looks under the same
 * lock whether they are shut.  (A login of which no link was put on any shelf
 * need not look: shut and shelved are written and read in one order by all.)
 * A pool that has more links than it may is crowded in the same manner.
 *
 * Once in a while (shelves_until) a session is sent the other way, so that idle
 * links do not escape PoolIdleTimeout.
 *
 * A forked child forgets what is on its parent's shelves.
 */
#ifndef POOL_SHELF_H
#define POOL_SHELF_H

#include <stdbool.h>
#include <stdint.h>

#include "pool.h"

struct shelf;

/* Puts a HELD link on this processor's shelf, if it is as good as new, there is
   room, the login's shelves are not shut and its pool is not crowded.  True:
   link and login are not the caller's any more.  False: nothing was done;
   pool_give().  Locks: takes the shelf's, of which no thread waits for long. */
bool shelf_give(struct link *link);

/* Locks this processor's shelf, for a look at it. */
struct shelf *shelf_enter(void);
void shelf_leave(struct shelf *shelf);

/* The login of such a session, of which there is a link on the shelf; NULL:
   none, or its shelves are to be gathered.  Lives as long as the shelf is
   locked.  Locks: holds the shelf's. */
struct login *shelf_login_locked(struct shelf *shelf,
                                 const struct config *config,
                                 SQLINTEGER odbc_version, bool wide);

/* Takes a link of that pool that needs no validation off the shelf; it is the
   caller's, with a reference to its login.  NULL: there is none.
   Locks: holds the shelf's. */
struct link *shelf_take_locked(struct shelf *shelf, const struct pool *pool);

/* Is it time to gather the shelves of this login?  No locks. */
bool shelf_is_due(const struct login *login, uint64_t now);

/* Makes the login's links on all shelves IDLE.
   Locks: holds login->lock, takes each shelf's, then fleet->lock. */
void shelf_gather_locked(struct login *login);

/* Shuts the login's shelves and gathers what is on them, or opens them, unless
   it is retired.  Locks: as above. */
void shelf_shut_locked(struct login *login);
void shelf_open_locked(struct login *login);

#endif
