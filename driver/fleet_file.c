/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_file.h"

#include <string.h>

#include <sys/stat.h>

#include "event.h"
#include "fleet.h"
#include "fleet_balance.h"
#include "fleet_group.h"
#include "topology.h"

static struct fleet_file_look look_at(const struct fleet *fleet)
{
    struct fleet_file_look look = { 0 };
    struct stat about;

    if (stat(fleet->config.map, &about) == 0) {
        look = (struct fleet_file_look){
            .seconds = about.st_mtim.tv_sec,
            .nanoseconds = about.st_mtim.tv_nsec,
            .size = about.st_size,
            .inode = about.st_ino,
        };
    }
    return look;
}

static bool same_look(const struct fleet_file_look *a,
                      const struct fleet_file_look *b)
{
    return a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
           a->size == b->size && a->inode == b->inode;
}

void fleet_file_note(struct fleet *fleet)
{
    mutex_lock(&fleet->file_lock);
    fleet->file_read = fleet->file_seen = look_at(fleet);
    mutex_unlock(&fleet->file_lock);
}

bool fleet_file_changed(struct fleet *fleet)
{
    struct fleet_file_look look;
    bool changed;

    if (!*fleet->config.map) {
        return false;
    }
    look = look_at(fleet);
    mutex_lock(&fleet->file_lock);
    changed = !same_look(&look, &fleet->file_read) &&
              same_look(&look, &fleet->file_seen);
    fleet->file_seen = look;
    mutex_unlock(&fleet->file_lock);
    return changed;
}

/* What the new file says of one instance. */
static void take_limits_locked(struct fleet *fleet, uint32_t i)
{
    struct topology_limits limits = topology_limits(fleet->topology, i);
    struct route_member *m = &fleet->members[i];

    mutex_assert_held(&fleet->lock);
    atomic_store(&m->weight, limits.weight);
    atomic_store(&m->read_only, limits.read_only);
    atomic_store(&m->pool_max, limits.pool_max ? limits.pool_max
                                               : fleet->config.pool_max);
    if (fleet_set_disabled_locked(fleet, i, limits.disabled)) {
        event_say(fleet->events, LOG_IS_WARNING, fleet->instances[i].name,
                  limits.disabled ? "is disabled by the map file"
                                  : "is enabled by the map file");
    }
    fleet_tell(fleet, i);
}

static void put_in_force(struct fleet *fleet, struct topology_file *file)
{
    mutex_lock(&fleet->lock);
    file = topology_change_file_locked(fleet, file);
    for (uint32_t i = 0; i < fleet->count; i++) {
        take_limits_locked(fleet, i);
    }
    fleet_balance_weighed_locked(fleet);
    fleet_regroup_locked(fleet);
    mutex_unlock(&fleet->lock);
    topology_regroup(fleet);
    topology_free_file(file);
}

static bool read_locked(struct fleet *fleet, struct why *why)
{
    struct topology_file *file;

    mutex_assert_held(&fleet->file_lock);
    fleet->file_read = fleet->file_seen = look_at(fleet);
    file = topology_read_file(fleet, why);
    if (file) {
        put_in_force(fleet, file);
    }
    return file != NULL;
}

bool fleet_file_read(struct fleet *fleet, struct why *why)
{
    bool ok = true;

    if (*fleet->config.map) {
        mutex_lock(&fleet->file_lock);
        ok = read_locked(fleet, why);
        mutex_unlock(&fleet->file_lock);
        if (ok) {
            event_say(fleet->events, LOG_IS_INFO, NULL,
                      "AffinityMap %s has been read again",
                      fleet->config.map);
        } else {
            event_say(fleet->events, LOG_IS_ERROR, NULL,
                      "the map file has changed and cannot be used, what it "
                      "said before stays in force: %s", why->text);
        }
    }
    return ok;
}
