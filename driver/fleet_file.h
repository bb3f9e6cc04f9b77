/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The map file (AffinityMap), read again while its fleet is in use: weights,
 * limits, groups, who is enabled and who owns what are in force at once, for
 * sessions that are there as for those to come.  A file that cannot be read as
 * it stands changes nothing; why is an event.
 */
#ifndef FLEET_FILE_H
#define FLEET_FILE_H

#include <stdbool.h>

#include "why.h"

struct fleet;

/* Remembers what the file is like (before it is read the first time).
   Locks: takes LOCK_FILE. */
void fleet_file_note(struct fleet *fleet);

/* Has it changed since it was last read, and not since the last look, so that
   nobody is writing it?  One stat(2).  False without an AffinityMap.
   Locks: as above. */
bool fleet_file_changed(struct fleet *fleet);

/* Reads it.  False: why names file, section and key, and all is as before.
   Locks: takes LOCK_FILE for as long as reading lasts, and LOCK_FLEET; none may
   be held.  May wait for a disk. */
bool fleet_file_read(struct fleet *fleet, struct why *why);

#endif
