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
    fleet->file.read = fleet->file.seen = look_at(fleet);
}

/* Has it changed since it was last read, and not since the last look, so that
   nobody is writing it? */
static bool has_changed(struct fleet *fleet)
{
    struct fleet_file *file = &fleet->file;
    struct fleet_file_look look = look_at(fleet);
    bool changed = !same_look(&look, &file->read) &&
                   same_look(&look, &file->seen);

    file->seen = look;
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

static void read_it(struct fleet *fleet, struct why *why)
{
    struct topology_file *file;

    fleet->file.read = fleet->file.seen = look_at(fleet);
    file = topology_read_file(fleet, why);
    if (file) {
        put_in_force(fleet, file);
        event_say(fleet->events, LOG_IS_INFO, NULL,
                  "AffinityMap %s has been read again", fleet->config.map);
    } else {
        event_say(fleet->events, LOG_IS_ERROR, NULL,
                  "the map file has changed and cannot be used, what it "
                  "said before stays in force: %s", why->text);
    }
}

/* ---- on a helper's thread ------------------------------------------------ */

static uint32_t asked_up_to(struct fleet *fleet, bool *open)
{
    struct fleet_file *file = &fleet->file;
    uint32_t asked;

    mutex_lock(&file->lock);
    asked = file->asked;
    *open = asked != file->done;
    mutex_unlock(&file->lock);
    return asked;
}

static void answer(struct fleet *fleet, uint32_t asked, const struct why *why)
{
    struct fleet_file *file = &fleet->file;

    mutex_lock(&file->lock);
    file->done = asked;
    file->why = *why;
    cond_broadcast(&file->told);
    mutex_unlock(&file->lock);
}

static void run_look(struct fleet *fleet, void *unused)
{
    bool open;
    uint32_t asked = asked_up_to(fleet, &open);

    (void)unused;
    if (open || has_changed(fleet)) {
        struct why why = { 0 };

        read_it(fleet, &why);
        answer(fleet, asked, &why);
    }
}

void fleet_file_look(struct fleet *fleet)
{
    fleet_disk_begin(fleet, &fleet->file.disk, run_look, NULL);
}

/* ---- REFRESH AFFINITY CONFIG --------------------------------------------- */

/* Was the file read for him who asked as the number `asked`? */
static bool is_done_locked(const struct fleet_file *file, uint32_t asked)
{
    mutex_assert_held(&file->lock);
    return (int32_t)(file->done - asked) >= 0;
}

/* Who was at it when it was asked for may just be coming back, having looked
   too early: so it is begun again, every so often.  (The round that follows his
   end would do, but a fleet that is out of date has none.) */
static bool await(struct fleet *fleet, uint32_t asked, struct why *why)
{
    enum { AGAIN_MS = 20 };
    struct fleet_file *file = &fleet->file;
    uint64_t until = clock_ns() + KEEPER_OVERDUE_MS * NS_PER_MS;
    bool done = false;

    while (!done && clock_ns() < until) {
        uint64_t again = clock_ns() + AGAIN_MS * NS_PER_MS;

        fleet_file_look(fleet);
        mutex_lock(&file->lock);
        while (!is_done_locked(file, asked) &&
               cond_wait(&file->told, &file->lock,
                         clock_earlier(again, until))) {
        }
        done = is_done_locked(file, asked);
        if (done) {
            *why = file->why;
        }
        mutex_unlock(&file->lock);
    }
    return done;
}

bool fleet_file_refresh(struct fleet *fleet, struct why *why)
{
    struct fleet_file *file = &fleet->file;
    struct why how = { 0 };
    uint32_t asked;

    if (!*fleet->config.map) {
        return true;
    }
    mutex_lock(&file->lock);
    asked = ++file->asked;
    mutex_unlock(&file->lock);
    if (!await(fleet, asked, &how)) {
        why_set(why, WHY_INI, "AffinityMap %s: it has not answered for %d s, "
                "what it said before stays in force", fleet->config.map,
                KEEPER_OVERDUE_MS / 1000);
        return false;
    }
    if (how.code != WHY_NONE) {
        *why = how;
    }
    return how.code == WHY_NONE;
}
