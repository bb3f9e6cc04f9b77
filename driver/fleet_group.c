/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Groups (rules §1.6, §1.7): instances with the same `group` in the map file,
 * else with the same system identifier, else each by itself.
 *
 * Several primaries under one identifier are one of two things.  If each owns
 * leaves that the other does not, they are clones that live their own lives:
 * two groups, and their standbys go with the one whose leaves they have.
 * Otherwise it is a split, and one of them at most may write: the one on the
 * highest timeline ever seen in the group, even if that is out of reach; of
 * equal ones the one that was primary before.  As long as nobody has said what
 * they own, they are two groups, so that a key never goes to the wrong clone,
 * and rivals, so that a superseded primary never gets a write.
 */
#include "autoconf.h"

#include "event.h"
#include "fleet.h"
#include "fleet_group.h"
#include "text.h"
#include "topology.h"

#include <stdlib.h>
#include <string.h>

/* One instance while groups are made. */
struct candidate {
    uint32_t i;
    const char *name;     /* what members of one group share */
    bool named;           /* by the map file */
    bool primary;         /* it says so */
    uint32_t timeline;    /* it was last seen on */
    uint32_t highest;     /* ever */
    uint32_t group;
    enum route_role role; /* as it comes out */

    /* a primary that must not write: because of this one, which may be itself;
       for certain, or as long as nobody knows better; or of each other */
    const struct candidate *rival;
    bool certain, split;
};

static int compare_names(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* By name; those without one last; else as listed. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = (x->name == NULL) - (y->name == NULL);

    if (!order) {
        order = y->named - x->named;
    }
    if (!order) {
        order = compare_names(x->name, y->name);
    }
    return order ? order : (x->i > y->i) - (x->i < y->i);
}

static bool same_name(const struct candidate *a, const struct candidate *b)
{
    return a->name && b->name && a->named == b->named &&
           strcmp(a->name, b->name) == 0;
}

static void take_candidate(struct fleet *fleet, uint32_t i,
                           struct candidate *c)
{
    const struct instance *instance = &fleet->instances[i];
    const char *group = topology_limits(fleet->topology, i).group;
    const char *identity = instance->who_at ? instance->who.identity : "";

    *c = (struct candidate){
        .i = i, .group = i,
        .name = *group ? group : *identity ? identity : NULL,
        .named = *group != '\0',
        .primary = instance->who_at && instance->who.role == LINK_ROLE_PRIMARY,
        .role = instance->who_at ? (enum route_role)instance->who.role
                                 : ROUTE_ROLE_UNKNOWN,
        .timeline = instance->who_at ? instance->who.timeline : 0,
    };
    c->highest = topology_timeline_locked(fleet, i, identity, c->timeline);
}

/* ---- members of one name ----------------------------------------------- */

struct run {
    struct fleet *fleet;
    struct candidate *c;
    uint32_t count;
    uint8_t *kin; /* enum topology_kin, count * count; NULL: one primary at
                     most, all belong together */
};

/* Those that were of one group stay so until they are seen to differ: a
   promoted standby has not been asked yet. */
static enum topology_kin kin_of(const struct run *run, uint32_t a, uint32_t b)
{
    const struct route_member *m = run->fleet->members;
    enum topology_kin kin = TOPOLOGY_KIN_SAME;

    if (run->kin) {
        kin = (enum topology_kin)run->kin[a * run->count + b];
    }
    return kin == TOPOLOGY_KIN_UNKNOWN &&
                   atomic_load(&m[run->c[a].i].group) ==
                       atomic_load(&m[run->c[b].i].group)
               ? TOPOLOGY_KIN_SAME
               : kin;
}

static bool same_identity(const struct run *run, uint32_t a, uint32_t b)
{
    const struct instance *at = run->fleet->instances;

    return strcmp(at[run->c[a].i].who.identity,
                  at[run->c[b].i].who.identity) == 0;
}

/* Each joins the first before it that owns the same: primaries among
   themselves, then the others with a primary. */
static void part(struct run *run)
{
    for (uint32_t a = 0; a < run->count; a++) {
        for (uint32_t b = 0; b < a && run->c[a].primary; b++) {
            if (run->c[b].primary && kin_of(run, a, b) == TOPOLOGY_KIN_SAME) {
                run->c[a].group = run->c[b].group;
                break;
            }
        }
    }
    for (uint32_t a = 0; a < run->count; a++) {
        for (uint32_t b = 0; b < run->count && !run->c[a].primary; b++) {
            if (run->c[b].primary && kin_of(run, a, b) == TOPOLOGY_KIN_SAME) {
                run->c[a].group = run->c[b].group;
                break;
            }
        }
    }
}

/* A group is called after its first-listed member, which may be a standby. */
static void rename_groups(struct run *run)
{
    for (uint32_t a = 0; a < run->count; a++) {
        uint32_t was = run->c[a].group;
        if (was <= run->c[a].i) {
            continue; /* it, or one before it, is the first already */
        }
        for (uint32_t b = a; b < run->count; b++) {
            if (run->c[b].group == was) {
                run->c[b].group = run->c[a].i;
            }
        }
    }
}

/* Has a, a primary, to reckon with b's timeline? */
static bool rivals(const struct run *run, uint32_t a, uint32_t b)
{
    if (a == b) {
        return true;
    }
    if (!same_identity(run, a, b)) {
        return false; /* one `group` of different systems */
    }
    return run->c[b].primary ? kin_of(run, a, b) != TOPOLOGY_KIN_APART
                             : run->c[a].group == run->c[b].group;
}

/* Does b come before a, on the same timeline?  Who has written so far goes on
   doing so; the one that was heard of just now did not. */
static bool yields(const struct run *run, uint32_t a, uint32_t b)
{
    const struct fleet *fleet = run->fleet;
    uint32_t x = run->c[a].i, y = run->c[b].i;
    bool x_wrote = atomic_load(&fleet->members[x].role) == ROUTE_PRIMARY;
    bool y_wrote = atomic_load(&fleet->members[y].role) == ROUTE_PRIMARY;

    if (x_wrote != y_wrote) {
        return y_wrote;
    }
    return !x_wrote ||
           fleet->instances[x].who_at >= fleet->instances[y].who_at;
}

/* Has a, a primary, to leave writing to b? */
static bool is_beaten(const struct run *run, uint32_t a, uint32_t b)
{
    return rivals(run, a, b) &&
           (run->c[b].highest > run->c[a].timeline ||
            (a != b && run->c[b].primary &&
             run->c[b].timeline == run->c[a].timeline && yields(run, a, b)));
}

/* Is it known that they are rivals, and not only feared? */
static bool is_certain(const struct run *run, uint32_t a, uint32_t b)
{
    return a == b || !run->c[b].primary ||
           kin_of(run, a, b) == TOPOLOGY_KIN_SAME;
}

/* May a, a primary, write?  If not, a's rival is one that is certain, if there
   is one. */
static bool writes(struct run *run, uint32_t a)
{
    struct candidate *c = &run->c[a];

    for (uint32_t b = 0; b < run->count && !c->certain; b++) {
        if (is_beaten(run, a, b)) {
            c->rival = &run->c[b];
            c->certain = is_certain(run, a, b);
            c->split = a != b && run->c[b].primary && is_beaten(run, b, a);
        }
    }
    return c->rival == NULL;
}

/* False: out of memory. */
static bool compare(struct run *run)
{
    uint32_t *instance = malloc(run->count * sizeof *instance);

    run->kin = malloc((size_t)run->count * run->count);
    for (uint32_t a = 0; instance && a < run->count; a++) {
        instance[a] = run->c[a].i;
    }
    if (instance && run->kin) {
        topology_kin_locked(run->fleet, instance, run->count, run->kin);
    }
    free(instance);
    return instance && run->kin;
}

static bool settle_run(struct fleet *fleet, struct candidate *c,
                       uint32_t count)
{
    struct run run = { .fleet = fleet, .c = c, .count = count };
    uint32_t primaries = 0;

    for (uint32_t a = 0; a < count; a++) {
        primaries += c[a].primary;
        c[a].group = c[0].i;
    }
    if (primaries > 1 && !c[0].named) {
        if (!compare(&run)) {
            free(run.kin);
            return false;
        }
        for (uint32_t a = 0; a < count; a++) {
            c[a].group = c[a].i;
        }
        part(&run);
        rename_groups(&run);
    }
    for (uint32_t a = 0; a < count; a++) {
        if (c[a].primary && !writes(&run, a)) {
            c[a].role = ROUTE_STANDBY;
        }
    }
    free(run.kin);
    return true;
}

/* ---- all --------------------------------------------------------------- */

static bool put_facts(struct route_member *m, const struct candidate *c)
{
    bool changed = atomic_load(&m->group) != c->group ||
                   atomic_load(&m->role) != (uint8_t)c->role;

    atomic_store(&m->group, c->group);
    atomic_store(&m->role, (uint8_t)c->role);
    return changed;
}

/* Said once, and where it is the rival that writes, the sessions that it still
   has lose their links: they must not go on there. */
static void supersede(struct fleet *fleet, const struct candidate *c)
{
    const char *name = fleet->instances[c->rival->i].name;

    if (c->split) {
        event_say(fleet->events, LOG_IS_ERROR, fleet->instances[c->i].name,
                  "and %s both say that they are the primary on timeline %u, "
                  "and neither was before: neither gets a write", name,
                  c->timeline);
        return;
    }
    event_say(fleet->events, LOG_IS_ERROR, fleet->instances[c->i].name,
              "was the primary on timeline %u, and is superseded: %s %s "
              "timeline %u; it gets no write", c->timeline, name,
              c->rival->i == c->i ? "was on" : "is on", c->rival->highest);
    fleet_superseded_locked(fleet, c->i,
                            "it is no longer the primary of its group: %s is "
                            "on timeline %u, it on %u", name,
                            c->rival->highest, c->timeline);
}

static bool put(struct fleet *fleet, const struct candidate *c)
{
    struct instance *instance = &fleet->instances[c->i];
    uint32_t by = c->rival && c->certain ? c->rival->i + 1 : 0;

    if (by && (by != instance->rival || c->split != instance->split)) {
        supersede(fleet, c);
    }
    instance->rival = by;
    instance->split = c->split;
    return put_facts(&fleet->members[c->i], c);
}

bool fleet_regroup_locked(struct fleet *fleet)
{
    struct candidate *c = malloc((fleet->count + 1) * sizeof *c);
    bool ok = c != NULL, changed = false;
    uint32_t next;

    mutex_assert_held(&fleet->lock);
    for (uint32_t i = 0; ok && i < fleet->count; i++) {
        take_candidate(fleet, i, &c[i]);
    }
    if (ok) {
        qsort(c, fleet->count, sizeof *c, compare_candidates);
    }
    for (uint32_t a = 0; ok && a < fleet->count; a = next) {
        for (next = a + 1; next < fleet->count && same_name(&c[a], &c[next]);
             next++) {
        }
        ok = settle_run(fleet, &c[a], next - a);
    }
    for (uint32_t a = 0; ok && a < fleet->count; a++) {
        changed |= put(fleet, &c[a]);
    }
    free(c);
    if (ok) {
        topology_take_groups_locked(fleet);
    }
    return changed;
}

bool fleet_learnt(struct fleet *fleet)
{
    bool changed;

    mutex_lock(&fleet->lock);
    changed = fleet_regroup_locked(fleet);
    mutex_unlock(&fleet->lock);
    if (changed) {
        topology_regroup(fleet);
    }
    return changed;
}
