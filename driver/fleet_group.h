/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which instances replicate one another (rules §1.6, §1.7).
 */
#ifndef FLEET_GROUP_H
#define FLEET_GROUP_H

#include <stdbool.h>

struct fleet;

/* Recomputes each member's group, the index of the group's first-listed
   member, and what a split does to roles: a primary that must not write is
   made a standby in members[].role, while who.role stays what it said, and if
   that is certain its sessions lose their links.  Tells the topology.  True:
   something changed; call topology_regroup() when no lock is held.  Out of
   memory changes nothing.
   Locks: holds fleet->lock. */
bool fleet_regroup_locked(struct fleet *fleet);

/* Behind each topology_ask(): what an instance owns may part it from others of
   its system identifier.  True: owners or roles have changed (the topology
   knows already); tell those who wait.  Locks: takes fleet->lock; none may be
   held. */
bool fleet_learnt(struct fleet *fleet);

#endif
