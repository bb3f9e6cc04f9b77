/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_disk.h"

#include <stdlib.h>

#include "event.h"
#include "fleet.h"
#include "keeper.h"
#include "keeper_clock.h"

enum { LATE_MS = KEEPER_OVERDUE_MS };

struct task {
    struct job job; /* first */
    struct fleet *fleet;
    struct fleet_disk *disk;
    void (*run)(struct fleet *fleet, void *arg);
    void *arg;
};

bool fleet_disk_init(struct fleet_disk *disk, const char *what)
{
    disk->what = what;
    disk->lane = lane_new();
    if (disk->lane) {
        lane_give_way(disk->lane);
    }
    return disk->lane != NULL;
}

void fleet_disk_end(struct fleet_disk *disk)
{
    lane_close(disk->lane);
}

static void run_task(struct job *job)
{
    struct task *task = (struct task *)job;
    struct fleet *fleet = task->fleet;

    task->run(fleet, task->arg);
    atomic_store(&task->disk->since, 0);
    keeper_clock_wake(0); /* something more may have come meanwhile */
    free(task);
    fleet_release(fleet);
}

bool fleet_disk_begin(struct fleet *fleet, struct fleet_disk *disk,
                      void (*run)(struct fleet *fleet, void *arg), void *arg)
{
    uint64_t none = 0;
    struct task *task;

    if (!atomic_compare_exchange_strong(&disk->since, &none, clock_ns())) {
        return false;
    }
    task = calloc(1, sizeof *task);
    if (task) {
        *task = (struct task){ .fleet = fleet_retain(fleet), .disk = disk,
                               .run = run, .arg = arg };
        task->job.run = run_task;
        if (keeper_submit(disk->lane, &task->job)) {
            return true;
        }
        fleet_release(fleet);
        free(task);
    }
    atomic_store(&disk->since, 0);
    return false;
}

bool fleet_disk_is_busy(const struct fleet_disk *disk)
{
    return atomic_load(&disk->since) != 0;
}

uint64_t fleet_disk_look(struct fleet *fleet, struct fleet_disk *disk,
                         const char *where, uint64_t now)
{
    uint64_t since = atomic_load(&disk->since);

    if (!since || since == disk->told) {
        return UINT64_MAX;
    }
    if (now < since + LATE_MS * NS_PER_MS) {
        return since + LATE_MS * NS_PER_MS;
    }
    disk->told = since;
    event_say(fleet->events, LOG_IS_ERROR, NULL,
              "%s has not answered for %d s, nobody waits for it: %s",
              disk->what, LATE_MS / 1000, where);
    return UINT64_MAX;
}
