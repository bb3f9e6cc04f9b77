/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All fleets of the process: making one from a configuration, finding it
 * again, letting go of it.
 *
 * The list is behind LOCK_FLEETS.  A fleet is made without that lock, because
 * loading an inner driver runs foreign code; if two sessions make the same one
 * at once, the second is thrown away.
 *
 * A forked child forgets the list (its fleets' threads, links and locks are
 * the parent's) and starts afresh.
 */
#include "autoconf.h"

#include "balance_rendezvous.h"
#include "environment.h"
#include "event.h"
#include "fleet.h"
#include "fleet_balance.h"
#include "fleet_drain.h"
#include "fleet_file.h"
#include "fleet_group.h"
#include "inifile.h"
#include "login.h"
#include "secret.h"
#include "text.h"
#include "topology.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

static struct {
    struct mutex lock;
    struct fleet *list;
} fleets = { .lock = MUTEX_INITIALIZER(LOCK_FLEETS) };

static void forget_in_child(void)
{
    fleets.list = NULL;
}

__attribute__((constructor)) static void set_up(void)
{
    lock_keep_over_fork(&fleets.lock, LOCK_FLEETS);
    pthread_atfork(NULL, NULL, forget_in_child);
}

/* What the DSNs of all instances say, as one text to compare. */
static bool read_sections(const struct config_fleet *config,
                          struct text *sections, struct why *why)
{
    for (size_t i = 0; i < config->list_count; i++) {
        const struct inifile_section *section;
        if (config->list[i].host) {
            continue;
        }
        section = inifile_section(config->list[i].name, INIFILE_DSN, why);
        if (!section) {
            return false;
        }
        text_appendf(sections, "[%s]\n", config->list[i].name);
        for (size_t k = 0; k < section->count; k++) {
            text_appendf(sections, "%s=%s\n", section->entries[k].keyword,
                         section->entries[k].value);
        }
        inifile_release(section);
    }
    if (sections->failed) {
        why_memory(why);
    }
    return !sections->failed;
}

/* Keeps that, for outdated(). */
static bool keep_sections(struct fleet *fleet, struct why *why)
{
    struct text sections;
    bool ok;

    text_init_wiped(&sections);
    ok = read_sections(&fleet->config, &sections, why);
    if (ok) {
        fleet->sections = secret_dup(text_string(&sections), sections.length);
        ok = fleet->sections != NULL;
        if (!ok) {
            why_memory(why);
        }
    }
    text_free(&sections);
    return ok;
}

static bool load_driver(struct instance *instance, const char *driver,
                        struct why *why)
{
    struct why cause = { 0 };

    instance->inner = inner_load(driver, &cause);
    if (!instance->inner) {
        why_set(why, cause.code, "instance %s: %s", instance->name,
                cause.text);
        return false;
    }
    instance->environment =
        environment_read(instance->inner->kind->environment);
    if (!instance->environment) {
        why_memory(why);
    }
    return instance->environment != NULL;
}

static bool set_up_instance(struct fleet *fleet, uint32_t i, struct why *why)
{
    struct instance *instance = &fleet->instances[i];
    const struct config_instance *entry = &fleet->config.list[i];
    const char *driver;

    instance->name = entry->name;
    instance->opening = lane_new();
    instance->cancelling = lane_new();
    instance->caring = lane_new();
    instance->probing = lane_new();
    if (!instance->opening || !instance->cancelling || !instance->caring ||
        !instance->probing) {
        why_memory(why);
        return false;
    }
    if (entry->host) {
        instance->host = entry->host;
        instance->driver = fleet->config.inner_driver;
        if (entry->port) {
            snprintf(instance->port, sizeof instance->port, "%u",
                     entry->port);
        }
        return load_driver(instance, instance->driver, why);
    }
    instance->dsn = entry->name;
    instance->section = inifile_section(entry->name, INIFILE_DSN, why);
    if (!instance->section) {
        return false;
    }
    driver = inifile_value(instance->section, "Driver");
    if (!driver) {
        why_set(why, WHY_DSN, "instance %s: its DSN has no Driver",
                entry->name);
    }
    return driver && load_driver(instance, driver, why);
}

static void set_up_member(struct fleet *fleet, uint32_t i, uint64_t phase)
{
    struct topology_limits limits = topology_limits(fleet->topology, i);
    struct route_member *m = &fleet->members[i];

    fleet_set_lanes(fleet, i);
    m->seed = balance_target_seed(fleet->instances[i].name,
                                  strlen(fleet->instances[i].name));
    m->weight = limits.weight;
    m->read_only = limits.read_only;
    m->disabled = limits.disabled;
    atomic_init(&m->group, i);
    /* a phase of less than one unit per weight (rules §10) */
    atomic_init(&m->served, phase * (m->weight ? m->weight : 1) %
                                ((uint64_t)ROUTE_SERVED_UNIT *
                                 (m->weight ? m->weight : 1)));
    m->pool_max = limits.pool_max ? limits.pool_max : fleet->config.pool_max;
}

static void free_fleet(struct fleet *fleet)
{
    topology_free(fleet->topology);
    events_free(fleet->events);
    for (uint32_t i = 0; fleet->instances && i < fleet->count; i++) {
        lane_close(fleet->instances[i].opening);
        lane_close(fleet->instances[i].cancelling);
        lane_close(fleet->instances[i].caring);
        lane_close(fleet->instances[i].probing);
        environment_free(fleet->instances[i].environment);
        inifile_release(fleet->instances[i].section);
    }
    config_free_fleet(&fleet->config);
    free(fleet->dsn);
    secret_free(fleet->sections);
    fleet_disk_end(&fleet->file.disk);
    fleet_disk_end(&fleet->logging);
    fleet_disk_end(&fleet->metrics.disk);
    cond_destroy(&fleet->file.told);
    mutex_destroy(&fleet->file.lock);
    mutex_destroy(&fleet->lock);
    free(fleet->instances);
    free(fleet->members);
    free(fleet);
}

static struct fleet *make_fleet(const struct config *config, struct why *why)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    uint64_t seed = clock_ns();
    bool ok;

    if (!fleet) {
        why_memory(why);
        return NULL;
    }
    mutex_init(&fleet->lock, LOCK_FLEET);
    mutex_init(&fleet->file.lock, LOCK_FILE);
    cond_init(&fleet->file.told);
    fleet->refs = 1;
    fleet->files = inifile_fingerprint();
    ok = config_copy_fleet(&fleet->config, &config->fleet);
    fleet->dsn = strdup(config->dsn);
    fleet->count = ok ? (uint32_t)fleet->config.list_count : 0;
    fleet->instances = calloc(fleet->count + 1, sizeof *fleet->instances);
    fleet->members = calloc(fleet->count + 1, sizeof *fleet->members);
    fleet->events = events_new(ok ? fleet->config.log : "",
                               (enum log_level)fleet->config.level);
    ok = fleet_disk_init(&fleet->file.disk, "the map file") &&
         fleet_disk_init(&fleet->logging, "the log") &&
         fleet_disk_init(&fleet->metrics.disk, "the metrics file") && ok;
    if (!ok || !fleet->dsn || !fleet->instances || !fleet->members ||
        !fleet->events) {
        why_memory(why);
        ok = false;
    }
    ok = ok && log_check(fleet->config.log, why) &&
         metrics_check(fleet->config.metrics, why);
    ok = ok && keep_sections(fleet, why);
    for (uint32_t i = 0; ok && i < fleet->count; i++) {
        ok = set_up_instance(fleet, i, why);
    }
    if (ok) {
        fleet_file_note(fleet);
        fleet->topology = topology_new(fleet, why);
        ok = fleet->topology != NULL;
    }
    if (!ok) {
        free_fleet(fleet);
        return NULL;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        set_up_member(fleet, i, seed * (i + 1) / 1000);
    }
    mutex_lock(&fleet->lock);
    fleet_balance_weighed_locked(fleet);
    fleet_regroup_locked(fleet);
    mutex_unlock(&fleet->lock);
    return fleet;
}

bool fleet_is_current(const struct fleet *fleet)
{
    return atomic_load(&fleet->files) == inifile_fingerprint();
}

/* Has what the instances' DSNs say changed since the fleet was made? */
static bool outdated(struct fleet *fleet)
{
    uint64_t files = inifile_fingerprint();
    struct text sections;
    bool changed;

    if (fleet->files == files) {
        return false;
    }
    text_init_wiped(&sections);
    changed = !read_sections(&fleet->config, &sections, NULL) ||
              strcmp(text_string(&sections), fleet->sections) != 0;
    text_free(&sections);
    if (!changed) {
        fleet->files = files;
    }
    return changed;
}

static struct fleet *find_locked(const struct config *config)
{
    struct fleet *fleet;

    mutex_assert_held(&fleets.lock);
    DL_FOREACH(fleets.list, fleet) {
        if (config_same_fleet(&fleet->config, &config->fleet)) {
            fleet->refs++;
            return fleet;
        }
    }
    return NULL;
}

static void unlist_locked(struct fleet *fleet)
{
    mutex_assert_held(&fleets.lock);
    if (fleet->listed) {
        DL_DELETE(fleets.list, fleet);
        fleet->listed = false;
    }
}

/* Its sessions go on; its idle links are closed, and it goes with the last
   link that comes back. */
static void retire(struct fleet *fleet)
{
    mutex_lock(&fleets.lock);
    unlist_locked(fleet);
    mutex_unlock(&fleets.lock);
    login_retire_all(fleet);
}

/* The least that no other has: whatever is told of a data source is told under
   the same number, whenever its fleet was made. */
static uint32_t free_number_locked(void)
{
    struct fleet *fleet = fleets.list;
    uint32_t number = 1;

    mutex_assert_held(&fleets.lock);
    while (fleet) {
        if (fleet->number == number) {
            number++;
            fleet = fleets.list;
        } else {
            fleet = fleet->next;
        }
    }
    return number;
}

static struct fleet *find_or_make(const struct config *config,
                                  struct why *why)
{
    struct fleet *fleet, *made;

    mutex_lock(&fleets.lock);
    fleet = find_locked(config);
    mutex_unlock(&fleets.lock);
    if (fleet && outdated(fleet)) {
        retire(fleet);
        fleet_release(fleet);
        fleet = NULL;
    }
    if (fleet) {
        return fleet;
    }
    made = make_fleet(config, why);
    if (!made) {
        return NULL;
    }
    mutex_lock(&fleets.lock);
    fleet = find_locked(config);
    if (!fleet) {
        made->number = free_number_locked();
        DL_APPEND(fleets.list, made);
        made->listed = true;
    }
    mutex_unlock(&fleets.lock);
    if (fleet) {
        free_fleet(made);
        return fleet;
    }
    fleet_drain_new(made);
    return made;
}

/* What says where an instance is, in our own string, would make all of them
   the same one.  config.c knows the words of all drivers, the kinds those of
   theirs. */
static bool places_are_free(const struct fleet *fleet,
                            const struct config *config, struct why *why)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct inner_kind *kind = fleet->instances[i].inner->kind;

        for (const char *const *place = kind->places; place && *place;
             place++) {
            const struct connstr_item *item =
                connstr_find(&config->passed, *place);

            if (item) {
                config_refuse_place(config, item, why);
                return false;
            }
        }
    }
    return true;
}

struct fleet *fleet_get(const struct config *config, struct why *why)
{
    struct fleet *fleet = find_or_make(config, why);

    if (fleet && !places_are_free(fleet, config, why)) {
        fleet_release(fleet);
        return NULL;
    }
    return fleet;
}

struct fleet *fleet_retain(struct fleet *fleet)
{
    mutex_lock(&fleets.lock);
    fleet->refs++;
    mutex_unlock(&fleets.lock);
    return fleet;
}

/* ---- its end ------------------------------------------------------------- */

/* Nobody writes either file but, perhaps, a helper that hangs in it. */
static void end_files(struct fleet *fleet, void *unused)
{
    (void)unused;
    events_write(fleet->events);
    if (!fleet_disk_is_busy(&fleet->metrics.disk)) {
        metrics_remove(fleet->config.metrics, &fleet->metrics.mark);
    }
}

void fleet_end_files(struct fleet *fleet)
{
    if (!fleet_disk_begin(fleet, &fleet->logging, end_files, NULL) &&
        !fleet_disk_is_busy(&fleet->logging)) {
        end_files(fleet, NULL);
    }
}

static void run_end(struct job *job)
{
    struct fleet *fleet =
        (struct fleet *)((char *)job - offsetof(struct fleet, ending));

    end_files(fleet, NULL);
    free_fleet(fleet);
}

/* Whoever lets go of it last, the keeper's clock perhaps, waits for no disk. */
static void end(struct fleet *fleet)
{
    bool files = *fleet->config.log || fleet->metrics.mark.is;

    fleet->ending.run = run_end;
    if (!files || !keeper_submit(fleet->logging.lane, &fleet->ending)) {
        run_end(&fleet->ending);
    }
}

void fleet_release(struct fleet *fleet)
{
    bool last;

    mutex_lock(&fleets.lock);
    last = --fleet->refs == 0;
    if (last) {
        unlist_locked(fleet);
    }
    mutex_unlock(&fleets.lock);
    if (last) {
        end(fleet);
    }
}

struct fleet **fleet_all(uint32_t *count)
{
    struct fleet *fleet, **all;
    uint32_t n = 0;

    mutex_lock(&fleets.lock);
    DL_FOREACH(fleets.list, fleet) {
        n++;
    }
    all = calloc(n + 1, sizeof *all);
    *count = 0;
    if (all) {
        DL_FOREACH(fleets.list, fleet) {
            fleet->refs++;
            all[(*count)++] = fleet;
        }
    }
    mutex_unlock(&fleets.lock);
    return all;
}
