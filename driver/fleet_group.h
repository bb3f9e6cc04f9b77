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
   member, and what a split does to roles.  True: something changed.
   Locks: holds fleet->lock. */
bool fleet_regroup_locked(struct fleet *fleet);

#endif
