/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the other fleet*.c files tell balancing.  What calls and probes tell it
 * is in fleet.h, the rules are balance_fact.h's.
 */
#ifndef FLEET_BALANCE_H
#define FLEET_BALANCE_H

#include "fleet.h"

/* i refused, or did not answer in time: either counts as ConnectTimeout.
   Locks: holds fleet->lock. */
void fleet_balance_failed_locked(struct fleet *fleet, uint32_t i);

/* i takes units again from now (ns) on, after it was down or drained: it does
   not make up for what it missed, and comes back by and by.
   Locks: holds fleet->lock. */
void fleet_balance_returned_locked(struct fleet *fleet, uint32_t i,
                                   uint64_t now);

/* The instances' weights have been set, or have changed.
   Locks: holds fleet->lock. */
void fleet_balance_weighed_locked(struct fleet *fleet);

#endif
