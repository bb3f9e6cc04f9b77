/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The health of a fleet's instances, as their links tell it: what an opened,
 * refused, dead or late link says.  Making and finding fleets is in
 * fleet_list.c, groups are in fleet_group.c.
 *
 * An instance that refuses or does not answer is passed over for 1 s, then
 * twice as long each time up to 30 s, until a link to it opens again.
 */
#include "autoconf.h"

#include "event.h"
#include "fleet.h"
#include "fleet_group.h"
#include "text.h"

#include <string.h>

enum { LOOK_MS = 250 };

static void set_health_locked(struct fleet *fleet, uint32_t i,
                              enum route_health health)
{
    struct route_member *m = &fleet->members[i];

    mutex_assert_held(&fleet->lock);
    if (atomic_load_explicit(&m->health, memory_order_relaxed) != health) {
        fleet->instances[i].since = clock_ns();
        atomic_store_explicit(&m->health, (uint8_t)health,
                              memory_order_relaxed);
    }
}

/* One that comes back has served less than the others: raise its counter to
   the lightest of those that are up, lest it be flooded (rules §10). */
static void catch_up_locked(struct fleet *fleet, uint32_t i)
{
    struct route_member *back = &fleet->members[i];
    double least = -1, weight = back->weight ? back->weight : 1;

    for (uint32_t k = 0; k < fleet->count; k++) {
        struct route_member *m = &fleet->members[k];
        if (k != i && atomic_load(&m->health) == ROUTE_UP && m->weight) {
            double share = (double)atomic_load(&m->served) / m->weight;
            least = least < 0 || share < least ? share : least;
        }
    }
    if (least >= 0 && (double)atomic_load(&back->served) < least * weight) {
        atomic_store(&back->served, (uint64_t)(least * weight));
    }
}

static const char *role_word(enum link_role role)
{
    return role == LINK_ROLE_PRIMARY   ? "primary"
           : role == LINK_ROLE_STANDBY ? "standby"
                                       : "of a role it does not say";
}

/* The instance has said who it is, other than before. */
static void say_who(const struct fleet *fleet, uint32_t i,
                    const struct link_who *who)
{
    const struct instance *instance = &fleet->instances[i];
    bool other = instance->who_at &&
                 strcmp(instance->who.identity, who->identity) != 0;
    bool moved = instance->who_at && instance->who.role != who->role;

    event_say(fleet->events, other || moved ? LOG_IS_WARNING : LOG_IS_INFO,
              instance->name, "is %s%s, timeline %u of %s%s",
              moved ? "now " : "", role_word(who->role), who->timeline,
              *who->identity ? who->identity : "an unknown system",
              other ? ": another system than before" : "");
}

static void say_down(const struct fleet *fleet, uint32_t i,
                     const struct link_error *error)
{
    struct text text;

    text_init(&text);
    link_say_error(error, &text);
    event_say(fleet->events, LOG_IS_ERROR, fleet->instances[i].name,
              "is down: %s", text_string(&text));
    text_free(&text);
}

bool fleet_heard(struct fleet *fleet, uint32_t i, const struct link_who *who)
{
    struct instance *instance = &fleet->instances[i];
    struct route_member *m = &fleet->members[i];
    bool changed;

    mutex_lock(&fleet->lock);
    if (atomic_load(&m->health) == ROUTE_DOWN) {
        catch_up_locked(fleet, i);
        event_say(fleet->events, LOG_IS_WARNING, instance->name,
                  "is up again after %llu ms",
                  (unsigned long long)((clock_ns() - instance->since) /
                                       NS_PER_MS));
    }
    if (atomic_load(&m->health) != ROUTE_DRAINING) {
        set_health_locked(fleet, i, ROUTE_UP);
    }
    instance->backoff_ms = 0;
    changed = !instance->who_at || instance->who.role != who->role ||
              instance->who.timeline != who->timeline ||
              strcmp(instance->who.identity, who->identity) != 0;
    if (changed) {
        say_who(fleet, i, who);
    }
    instance->who = *who;
    instance->who_at = clock_ns();
    if (changed) {
        atomic_store(&m->role, (uint8_t)who->role);
        fleet_regroup_locked(fleet);
    }
    mutex_unlock(&fleet->lock);
    return changed;
}

enum inner_fault fleet_failed(struct fleet *fleet, uint32_t i,
                              const struct link_error *error, bool late)
{
    struct instance *instance = &fleet->instances[i];
    struct route_member *m = &fleet->members[i];
    enum inner_fault fault =
        late ? INNER_FAULT_INSTANCE
             : instance->inner->kind->fault(error->state, error->native,
                                            error->text);

    mutex_lock(&fleet->lock);
    instance->error = *error;
    if (fault == INNER_FAULT_INSTANCE || fault == INNER_FAULT_STARTING) {
        uint32_t ms = clock_backoff_ms(
            fault == INNER_FAULT_STARTING ? 0 : instance->backoff_ms);
        instance->backoff_ms = ms;
        atomic_store(&m->retry_at, clock_ns() + ms * NS_PER_MS);
        atomic_store(&instance->suspect_at, clock_ns());
        if (atomic_load(&m->health) != ROUTE_DOWN) {
            say_down(fleet, i, error);
        }
        if (atomic_load(&m->health) != ROUTE_DRAINING) {
            set_health_locked(fleet, i, ROUTE_DOWN);
        }
    }
    mutex_unlock(&fleet->lock);
    return fault;
}

void fleet_suspect(struct fleet *fleet, uint32_t i)
{
    atomic_store(&fleet->instances[i].suspect_at, clock_ns());
}

void fleet_set_slow(struct fleet *fleet, uint32_t i, bool slow)
{
    atomic_store_explicit(&fleet->members[i].slow, slow,
                          memory_order_relaxed);
}

bool fleet_may_lead(const struct fleet *fleet, uint32_t i, uint64_t now)
{
    const struct route_member *m = &fleet->members[i];
    uint32_t group = atomic_load(&m->group);

    if (atomic_load(&m->role) != ROUTE_STANDBY ||
        (atomic_load(&m->health) == ROUTE_DOWN &&
         atomic_load(&m->retry_at) > now)) {
        return false;
    }
    for (uint32_t k = 0; k < fleet->count; k++) {
        m = &fleet->members[k];
        if (atomic_load(&m->group) == group &&
            atomic_load(&m->role) == ROUTE_PRIMARY &&
            atomic_load(&m->health) != ROUTE_DOWN) {
            return false;
        }
    }
    return true;
}

bool fleet_look_due(struct fleet *fleet, uint64_t now)
{
    uint64_t last = atomic_load(&fleet->looked_at);

    return last + LOOK_MS * NS_PER_MS <= now &&
           atomic_compare_exchange_strong(&fleet->looked_at, &last, now);
}

void fleet_count_served(struct fleet *fleet, uint32_t i)
{
    atomic_fetch_add_explicit(&fleet->members[i].served, ROUTE_SERVED_UNIT,
                              memory_order_relaxed);
}

void fleet_view(struct fleet *fleet, uint32_t i,
                struct fleet_instance_view *view)
{
    const struct instance *instance = &fleet->instances[i];
    struct route_member *m = &fleet->members[i];

    mutex_lock(&fleet->lock);
    *view = (struct fleet_instance_view){
        .name = instance->name,
        .health = atomic_load(&m->health),
        .role = atomic_load(&m->role),
        .group = atomic_load(&m->group),
        .since = instance->since,
        .retry_at = atomic_load(&m->retry_at),
        .who = instance->who,
        .error = instance->error,
    };
    mutex_unlock(&fleet->lock);
}

struct inner_target fleet_target(const struct fleet *fleet, uint32_t i,
                                 const struct connstr *passed)
{
    const struct instance *instance = &fleet->instances[i];

    return (struct inner_target){
        .dsn = instance->dsn,
        .driver = instance->driver,
        .host = instance->host,
        .port = instance->port[0] ? instance->port : NULL,
        .passed = passed,
    };
}
