/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a fleet has to do with files (the map file, the log, the metrics file),
 * each a task that a helper thread does: a disk may take its time, and one that
 * is gone behind a network may take for ever.  Nobody waits for it but that
 * helper.
 *
 * Of each task one is under way at most.  One that has taken too long is told
 * of once, left to itself, and done again when it has come back.
 */
#ifndef FLEET_DISK_H
#define FLEET_DISK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fleet;
struct lane;

struct fleet_disk {
    struct lane *lane;
    const char *what; /* for the event: "the map file" */
    _Atomic uint64_t since; /* ns: one is under way; 0 = none is */
    uint64_t told;          /* the clock's thread's: of the one since then */
};

/* False: out of memory. */
bool fleet_disk_init(struct fleet_disk *disk, const char *what);

/* All that was begun has ended, or holds the fleet. */
void fleet_disk_end(struct fleet_disk *disk);

/* Has a helper call run(fleet, arg), unless one is under way.  The fleet is
   retained meanwhile, and the clock makes a round when it is over.  False:
   nothing is run, arg is the caller's yet.  No lock may be held. */
bool fleet_disk_begin(struct fleet *fleet, struct fleet_disk *disk,
                      void (*run)(struct fleet *fleet, void *arg), void *arg);

/* Is one under way? */
bool fleet_disk_is_busy(const struct fleet_disk *disk);

/* Tells of one that takes too long; where says which file.  Returns when to ask
   again: ns, UINT64_MAX = when one has been begun.  On the clock's thread. */
uint64_t fleet_disk_look(struct fleet *fleet, struct fleet_disk *disk,
                         const char *where, uint64_t now);

#endif
