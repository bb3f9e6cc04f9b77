/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the keeper does of its own accord, while a fleet is used and for as
 * long as it has links: a list of duties, each in a file watch_<duty>.c, gone
 * through at every round of the keeper's clock (keeper_clock.h).
 *
 * A duty never calls the inner driver and never waits: it has helper threads
 * do what takes time, and hears of the result at a later round.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fleet.h"
#include "pool.h"

/* The fleet is watched from now on, if it was not.  Said after a unit has
   been placed in it, or was not: one load where it is watched already.  No lock
   may be held. */
void watch_begin(struct fleet *fleet);

static inline void watch_use(struct fleet *fleet)
{
    if (!atomic_load(&fleet->watched)) {
        watch_begin(fleet);
    }
}

/* Does what is due for this fleet, and returns when more will be: ns,
   UINT64_MAX = nothing before something happens.  On the clock's thread, no
   lock held; the fleet is retained meanwhile. */
typedef uint64_t watch_duty(struct fleet *fleet, uint64_t now);

/* Is the fleet used: does a session hold a link, does a unit wait, or has one
   been placed or refused, and for WATCH_USED_MS afterwards?  For duties. */
enum { WATCH_USED_MS = POOL_USED_MS };
bool watch_is_used(const struct fleet *fleet, uint64_t now);

/* ns: when the process becomes quiet, if nothing more happens: no fleet of it
   has been used for so long that it is to have no thread of ours.  Idle links
   that have a PoolIdleTimeout are closed then, since nobody would close them
   in time; others stay, and no thread for their sake. */
enum { WATCH_QUIET_MS = 90000 /* whoever comes each minute finds his links */ };
uint64_t watch_quiet_at(void);

/* A duty for which there is no memory now is tried again after so long. */
enum { WATCH_AGAIN_MS = 1000 };

/* Is it quiet?  Not while this fleet is used. */
static inline bool watch_is_quiet(const struct fleet *fleet, uint64_t now)
{
    return !watch_is_used(fleet, now) && now >= watch_quiet_at();
}

/* Probes each instance when it is due (fleet_probe.h): over an idle link, else
   over one of the keeper's own, of MonitorUID, or of any login that has proved
   good; and gives up what takes too long. */
watch_duty watch_probe;

/* Tries instances for a login that has never had a link (watch_seek.c). */
watch_duty watch_seek;

/* Asks for what the topology lacks or doubts (watch_learn.c). */
watch_duty watch_learn;

/* Closes links and wakes units where an instance has changed
   (watch_links.c). */
watch_duty watch_links;

/* Reads the map file again when it changes (watch_file.c). */
watch_duty watch_file;

/* Closes and opens links by their age and number (watch_pool.c). */
watch_duty watch_pool;

/* Writes the metrics file (watch_metrics.c). */
watch_duty watch_metrics;

#endif
