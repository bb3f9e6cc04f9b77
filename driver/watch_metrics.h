/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the metrics file holds: for watch_metrics.c and the tests.
 */
#ifndef WATCH_METRICS_H
#define WATCH_METRICS_H

#include <stdint.h>

#include "fleet.h"
#include "text.h"

/* Appends all that is told of these fleets, as a whole file.  Of secrets there
   are none: a login is a number, and its user's name.
   Locks: takes those of fleets, logins and topologies; none may be held. */
void watch_metrics_text(struct fleet *const *fleets, uint32_t count,
                        uint64_t now, struct text *out);

#endif
