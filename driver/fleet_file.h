/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The map file (AffinityMap), read again while its fleet is in use: weights,
 * limits, groups, who is enabled and who owns what are in force at once, for
 * sessions that are there as for those to come.  A file that cannot be read as
 * it stands changes nothing; why is an event.  Helper threads do all that
 * touches it, one at a time (fleet_disk.h).
 */
#ifndef FLEET_FILE_H
#define FLEET_FILE_H

#include <stdbool.h>

#include "why.h"

struct fleet;

/* Remembers what the file is like (before it is read the first time, and by
   nobody but who makes the fleet).  May wait for a disk. */
void fleet_file_note(struct fleet *fleet);

/* Has a helper look whether it has changed since it was last read, and not
   since the last look, so that nobody is writing it; then the helper reads
   it, and an event tells how that went.  Nothing happens while one is at it.
   No lock may be held. */
void fleet_file_look(struct fleet *fleet);

/* Has a helper read it, and waits for that, KEEPER_OVERDUE_MS at most.  False:
   why names file, section and key, or says that the disk does not answer, and
   all is as before.  True without an AffinityMap.
   Locks: takes LOCK_FILE; none may be held. */
bool fleet_file_refresh(struct fleet *fleet, struct why *why);

#endif
