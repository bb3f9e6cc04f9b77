/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The map file, looked at as often as instances are probed, as long as the
 * fleet has links; read again by a helper's thread, since a disk may take its
 * time.
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include "fleet_file.h"
#include "login.h"

struct reading {
    struct job job; /* first */
    struct fleet *fleet;
};

static void run_read(struct job *job)
{
    struct reading *reading = (struct reading *)job;
    struct why why = { 0 };

    fleet_file_read(reading->fleet, &why); /* an event tells how it went */
    fleet_release(reading->fleet);
    free(reading);
}

static void order(struct fleet *fleet)
{
    struct reading *reading = calloc(1, sizeof *reading);

    if (!reading) {
        return; /* at the next look */
    }
    reading->job.run = run_read;
    reading->fleet = fleet_retain(fleet);
    if (!keeper_submit(fleet->reading, &reading->job)) {
        fleet_release(fleet);
        free(reading);
    }
}

uint64_t watch_file(struct fleet *fleet, uint64_t now)
{
    enum { LOOK_MS = 1000 };
    uint32_t interval = fleet->config.check_interval;

    if (!*fleet->config.map) {
        return UINT64_MAX;
    }
    interval = interval ? interval : LOOK_MS;
    if (now >= fleet->file_look_at) {
        fleet->file_look_at = now + interval * NS_PER_MS;
        if (fleet_file_changed(fleet)) {
            order(fleet);
        }
    }
    return login_all_links(fleet) ? fleet->file_look_at : UINT64_MAX;
}
