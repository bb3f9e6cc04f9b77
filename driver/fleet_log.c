/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_log.h"

#include "event.h"
#include "fleet.h"

static void run_write(struct fleet *fleet, void *unused)
{
    (void)unused;
    events_write(fleet->events);
}

void fleet_log(struct fleet *fleet)
{
    if (events_are_waiting(fleet->events)) {
        fleet_disk_begin(fleet, &fleet->logging, run_write, NULL);
    }
}

uint64_t fleet_log_look(struct fleet *fleet, uint64_t now)
{
    return fleet_disk_look(fleet, &fleet->logging, fleet->config.log, now);
}
