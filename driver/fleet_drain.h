/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Planned outages (rules §10): what an operator has drained gets no new unit in
 * this process, whatever fleet lists it and whatever login asks, until it is
 * resumed; fleets made meanwhile know of it.  Idle links are closed, held ones
 * when they come back (watch_links.c).  Load returns gradually
 * (balance_ramp()).
 *
 * The same instance is one of the same DSN, or of the same host and port.
 */
#ifndef FLEET_DRAIN_H
#define FLEET_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct fleet;

/* Drains (true) or resumes it.  False: out of memory, nothing was done.
   Locks: takes LOCK_FLEETS, then LOCK_DRAINS with each fleet's; none may be
   held. */
bool fleet_drain(struct fleet *fleet, uint32_t i, bool drained);

/* Has a fleet that was just listed take over what is drained.  Locks: as
   above. */
void fleet_drain_new(struct fleet *fleet);

#endif
