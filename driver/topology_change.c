/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What makes answers out of date (rules §1.1, §1.4): another role, identity or
 * group, a changed fingerprint (topology_fingerprint.c), REFRESH AFFINITY.  It
 * clears what the group claims and nothing else; what points at it stands.
 */
#include "autoconf.h"

#include "topology_inside.h"

#include <stdio.h>
#include <string.h>

/* One that is somebody else now, or has another role, has not answered yet,
   and nor has its group (rules §1.1, §1.4).  What points at it stands. */
static bool changed_locked(struct topology *topology, uint32_t i)
{
    struct topology_instance *at = &topology->at[i];
    const struct instance *instance = &topology->fleet->instances[i];
    bool another = *at->said.identity && *instance->who.identity &&
                   strcmp(at->said.identity, instance->who.identity) != 0;
    bool changed = another || (at->known && instance->who_at &&
                               at->said.role != instance->who.role);

    mutex_assert_held(&topology->lock);
    if (another && topology->kind <= TOPOLOGY_QUERY) {
        topology_reply_release(at->claim); /* it was the other's */
        at->claim = NULL;
    }
    at->known = instance->who_at != 0;
    at->said = instance->who;
    return changed && topology->kind <= TOPOLOGY_QUERY;
}

static void unlearn_locked(struct topology *topology, uint32_t i)
{
    struct topology_instance *at = &topology->at[i];

    mutex_assert_held(&topology->lock);
    topology_reply_release(at->reply); /* at->claim keeps its memory */
    at->reply = NULL;
    at->state = TOPOLOGY_UNASKED;
    at->again = false;
    at->retry_at = 0;
    at->backoff_ms = 0;
}

/* What each member of a marked group has said is out of date (rules §1.1):
   nothing else is. */
static void unlearn_marked_locked(struct topology *topology)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        if (topology->mark[topology->at[i].group]) {
            unlearn_locked(topology, i);
            topology->stale = true;
        }
    }
    atomic_store(&topology->quiet_until, 0);
}

void topology_take_groups_locked(struct fleet *fleet)
{
    struct topology *topology = fleet->topology;
    bool any = false;

    mutex_assert_held(&fleet->lock);
    mutex_lock(&topology->lock);
    memset(topology->mark, 0, fleet->count);
    topology->strangers = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        topology->at[i].led = false;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct topology_instance *at = &topology->at[i];
        uint32_t group = atomic_load(&fleet->members[i].group);
        uint8_t role = atomic_load(&fleet->members[i].role);
        topology->grouping += at->group != group;
        topology->stale |=
            at->group != group || (at->reply && at->role != role);
        at->group = group;
        at->role = role;
        topology->at[at->group].led |= at->role != ROUTE_STANDBY;
        topology->strangers += fleet->instances[i].who_at == 0;
        if (changed_locked(topology, i)) {
            topology->mark[at->group] = any = true;
        }
    }
    if (any) {
        unlearn_marked_locked(topology);
    }
    if (topology->kind == TOPOLOGY_HASH) {
        topology_hash_target_locked(topology);
    }
    atomic_store(&topology->quiet_until, 0);
    mutex_unlock(&topology->lock);
    if (topology->kind == TOPOLOGY_MAP) {
        topology_map_make(topology); /* a file's rows are few */
    }
}

void topology_unlearn_group_locked(struct topology *topology, uint32_t group)
{
    mutex_assert_held(&topology->lock);
    memset(topology->mark, 0, topology->fleet->count);
    topology->mark[group] = true;
    unlearn_marked_locked(topology);
    topology->at[group].doubted = true;
    topology->at[group].resaid = false;
}

void topology_regroup(struct fleet *fleet)
{
    topology_map_make(fleet->topology);
}

void topology_forget(struct fleet *fleet)
{
    struct topology *topology = fleet->topology;
    uint32_t count = fleet->count;

    if (topology->kind > TOPOLOGY_QUERY) {
        return;
    }
    mutex_lock(&topology->lock);
    topology->generation++;
    topology->stale = true;
    for (uint32_t i = 0; i < count; i++) {
        unlearn_locked(topology, i);
    }
    topology_resolver_clear_locked(topology->resolver);
    atomic_store(&topology->quiet_until, 0);
    mutex_unlock(&topology->lock);
    topology_map_make(topology);
}

void topology_kin_locked(struct fleet *fleet, const uint32_t *instance,
                         uint32_t count, uint8_t *kin)
{
    struct topology *topology = fleet->topology;

    mutex_assert_held(&fleet->lock);
    mutex_lock(&topology->lock);
    for (uint32_t a = 0; a < count; a++) {
        const struct topology_instance *x = &topology->at[instance[a]];
        for (uint32_t b = 0; b < count; b++) {
            const struct topology_instance *y = &topology->at[instance[b]];
            kin[a * count + b] =
                topology->kind > TOPOLOGY_QUERY && (!x->claim || !y->claim)
                    ? TOPOLOGY_KIN_SAME
                : !x->claim || !y->claim ? TOPOLOGY_KIN_UNKNOWN
                : a != b && topology_reply_apart(x->claim, y->claim)
                    ? TOPOLOGY_KIN_APART
                    : TOPOLOGY_KIN_SAME;
        }
    }
    mutex_unlock(&topology->lock);
}

uint32_t topology_timeline_locked(struct fleet *fleet, uint32_t i,
                                  const char *identity, uint32_t timeline)
{
    struct topology_instance *at = &fleet->topology->at[i];

    mutex_assert_held(&fleet->lock);
    if (strcmp(at->identity, identity) != 0) {
        snprintf(at->identity, sizeof at->identity, "%s", identity);
        at->timeline = 0;
    }
    if (timeline > at->timeline) {
        at->timeline = timeline;
    }
    return at->timeline;
}
