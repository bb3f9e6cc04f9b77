/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A fleet's log is written by a helper thread: a disk may take its time, and
 * stderr may be a pipe that nobody reads.  Neither keeps the rounds of the
 * keeper's clock from probing, nor the process from its end.
 */
#ifndef FLEET_LOG_H
#define FLEET_LOG_H

#include <stdint.h>

struct fleet;

/* Has a helper write what is still to be written, unless one is at it: then,
   and where none can be had, it is done with the next round.  No lock may be
   held. */
void fleet_log(struct fleet *fleet);

/* Tells of one who takes too long; as fleet_disk_look(). */
uint64_t fleet_log_look(struct fleet *fleet, uint64_t now);

#endif
