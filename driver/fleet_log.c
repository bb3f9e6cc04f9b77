/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_log.h"

#include <stdlib.h>

#include "event.h"
#include "fleet.h"

struct writing {
    struct job job; /* first */
    struct fleet *fleet;
};

static void run_write(struct job *job)
{
    struct writing *writing = (struct writing *)job;

    events_write_claimed(writing->fleet->events);
    fleet_release(writing->fleet);
    free(writing);
}

void fleet_log(struct fleet *fleet)
{
    struct writing *writing;

    if (!events_claim(fleet->events)) {
        return;
    }
    writing = calloc(1, sizeof *writing);
    if (writing) {
        writing->job.run = run_write;
        writing->fleet = fleet_retain(fleet);
        if (keeper_submit(fleet->reading, &writing->job)) {
            return;
        }
        fleet_release(fleet);
        free(writing);
    }
    events_leave(fleet->events);
}
