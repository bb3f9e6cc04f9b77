/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The keeper's clock: one thread that makes a round when it is time to, and
 * knows nothing of what a round is (watch.c).  A round never calls the inner
 * driver and never waits for anybody: what takes time it gives to the helper
 * threads (keeper.h).
 *
 * The thread starts when somebody wants a round and ends when nobody has
 * wanted one for KEEPER_IDLE_MS: a process that uses no fleet has none.
 */
#ifndef KEEPER_CLOCK_H
#define KEEPER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Returns when the next one is due, ns; UINT64_MAX: nothing is to be done
   until somebody wakes it.  Called with no lock held. */
typedef uint64_t keeper_round(uint64_t now);

/* What is done at each; once, from a constructor. */
void keeper_clock_set(keeper_round *round);

/* Have a round made at `at` (ns; 0 = now) or earlier.  Without a thread (none
   can be had, or the process is at exit) nothing happens.
   Locks: takes LOCK_CLOCK; locks of lower rank may be held. */
void keeper_clock_wake(uint64_t at);

/* For exit: waits for the round under way, if there is one, until clock_ns()
   >= until; there are no more afterwards.  True: none is under way. */
bool keeper_clock_stop(uint64_t until);

#endif
