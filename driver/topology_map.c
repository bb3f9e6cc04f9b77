/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The answers merged: one of each group (its primary's before a standby's,
 * rules §1.2) goes into one route_map, which is made without a lock from
 * answers that are retained, and put into force at once.
 *
 * Usually all instances tell the same story, each from its point of view.  If
 * all chosen answers have one tree and agree about the owner of every leaf,
 * one of them is the map, and a further one that agrees leaves the map as it
 * is: learning a thousand instances does not merge a thousand times.
 *
 * The groups inside a map have numbers of their own.  Each stands for a member
 * instance, whose group is looked up when the map is asked, so that a group
 * that gets another first-listed member makes no answer wrong.
 */
#include "autoconf.h"

#include "topology_inside.h"

#include <stdlib.h>
#include <string.h>

struct topology_map *topology_map_retain(struct topology_map *map)
{
    atomic_fetch_add(&map->refs, 1);
    return map;
}

void topology_map_release(struct topology_map *map)
{
    if (map && atomic_fetch_sub(&map->refs, 1) == 1) {
        route_map_free(map->map);
        route_map_free(map->texts);
        free(map->instance);
        free(map);
    }
}

/* ---- what is merged ---------------------------------------------------- */

/* A consistent copy of what counts. */
struct snapshot {
    uint32_t count;      /* instances */
    uint32_t *group;     /* of each instance */
    struct topology_reply **replies; /* of each; NULL: not merged */
    bool rows;
    uint64_t generation, grouping;
    uint64_t digest; /* all agree; 0 = they do not */
    const struct topology_tree *tree;
};

static void drop_snapshot(struct snapshot *s)
{
    for (uint32_t i = 0; s->replies && i < s->count; i++) {
        topology_reply_release(s->replies[i]);
    }
    free(s->replies);
    free(s->group);
}

/* Does a's answer count more than b's, of the same group? */
static bool beats(const struct topology_instance *a,
                  const struct topology_instance *b)
{
    return (a->role == ROUTE_PRIMARY) > (b->role == ROUTE_PRIMARY);
}

/* The map file's rows all count; of answers one for each group does. */
static void choose_locked(const struct topology *topology, struct snapshot *s,
                          int64_t *best)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct topology_instance *at = &topology->at[i];
        int64_t *one = &best[at->group];
        if (at->reply && topology->kind == TOPOLOGY_MAP) {
            s->replies[i] = topology_reply_retain(at->reply);
        } else if (at->reply &&
                   (*one < 0 || beats(at, &topology->at[*one]))) {
            *one = i;
        }
    }
    for (uint32_t g = 0; g < s->count; g++) {
        if (best[g] >= 0) {
            s->replies[best[g]] =
                topology_reply_retain(topology->at[best[g]].reply);
        }
    }
}

static bool take_snapshot_locked(const struct topology *topology,
                                 struct snapshot *s)
{
    uint32_t count = topology->fleet->count;
    int64_t *best = malloc((count + 1) * sizeof *best);

    mutex_assert_held(&topology->lock);
    *s = (struct snapshot){
        .count = count,
        .group = malloc((count + 1) * sizeof *s->group),
        .replies = calloc(count + 1, sizeof *s->replies),
        .rows = topology->kind != TOPOLOGY_TABLE,
        .generation = topology->generation,
        .grouping = topology->grouping,
    };
    if (!best || !s->group || !s->replies) {
        free(best);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->group[i] = topology->at[i].group;
        best[i] = -1;
    }
    choose_locked(topology, s, best);
    free(best);
    return true;
}

/* ---- agreeing ------------------------------------------------------------ */

static uint64_t mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return digest ^ digest >> 29;
}

/* What instance i says about the owner of every leaf, as one number that is
   never 0. */
static uint64_t digest_of(const struct snapshot *s, uint32_t i)
{
    struct topology_reply *reply = s->replies[i];
    uint64_t digest = reply->distrust;

    if (reply->digest && reply->grouping == s->grouping) {
        return reply->digest;
    }
    for (uint32_t n = 0; n < reply->tree->count; n++) {
        uint32_t claim = reply->claims[n];
        int64_t instance =
            claim == TOPOLOGY_NO_CLAIM ? -2
            : claim == TOPOLOGY_LOCAL
                ? (int64_t)i
                : reply->servers[claim - TOPOLOGY_POINTER].instance;
        digest = mix(digest, instance < 0 ? UINT64_MAX + (uint64_t)instance
                                          : s->group[instance]);
    }
    reply->digest = digest ? digest : 1;
    reply->grouping = s->grouping;
    return reply->digest;
}

/* Has everybody answered at whom instance i points? */
static bool is_settled(const struct snapshot *s, uint32_t i)
{
    const struct topology_reply *reply = s->replies[i];
    uint8_t *answered = calloc(s->count, 1);
    bool settled = answered != NULL;

    for (uint32_t k = 0; answered && k < s->count; k++) {
        if (s->replies[k]) {
            answered[s->group[k]] = 1;
        }
    }
    for (uint32_t n = 0; settled && n < reply->tree->count; n++) {
        uint32_t claim = reply->claims[n];
        if (claim != TOPOLOGY_NO_CLAIM && claim != TOPOLOGY_LOCAL) {
            int64_t instance =
                reply->servers[claim - TOPOLOGY_POINTER].instance;
            settled = instance >= 0 && answered[s->group[instance]];
        }
    }
    free(answered);
    return settled;
}

/* If all agree, only the first is left to be merged: what points at the others
   stands, and nobody contradicts it.  But once all of them have answered the
   map is made of all, since it tells what is stored from what is only pointed
   at (and might be partitioned further). */
static void find_agreement(struct snapshot *s)
{
    int64_t first = -1;
    bool settled;

    for (uint32_t i = 0; i < s->count && !s->rows; i++) {
        const struct topology_reply *reply = s->replies[i];
        if (!reply) {
            continue;
        }
        if (first < 0) {
            first = i;
            s->digest = digest_of(s, i);
            s->tree = reply->tree;
        } else if (reply->tree != s->tree || digest_of(s, i) != s->digest) {
            s->digest = 0;
            return;
        }
    }
    settled = first >= 0 && is_settled(s, (uint32_t)first);
    if (settled) {
        s->digest = mix(s->digest, 1) | 1;
    }
    for (uint32_t i = 0; first >= 0 && i < s->count && !settled; i++) {
        if (i != first) {
            topology_reply_release(s->replies[i]);
            s->replies[i] = NULL;
        }
    }
}

/* ---- merging ----------------------------------------------------------- */

struct merging {
    const struct snapshot *s;
    struct topology_map *map;
    int32_t *number; /* of each group in the map; -1 none yet */
    int32_t *owner;  /* scratch: of a reply's servers */
    uint32_t owner_room;
    bool numbers;    /* rows: keys are whole numbers */
    struct why *why;
};

/* The number of an instance's group in the map; -1: none are left. */
static int32_t number_of(struct merging *m, uint32_t instance)
{
    uint32_t group = m->s->group[instance];

    if (m->number[group] < 0 && m->map->groups < ROUTE_MAP_GROUPS) {
        m->number[group] = (int32_t)m->map->groups;
        m->map->instance[m->map->groups++] = instance;
    }
    return m->number[group];
}

static bool too_many(struct merging *m)
{
    why_set(m->why, WHY_GENERAL, "more than %d groups own keys",
            ROUTE_MAP_GROUPS);
    return false;
}

static bool find_owners(struct merging *m, const struct topology_reply *reply)
{
    if (reply->server_count > m->owner_room) {
        void *more = reallocarray(m->owner, reply->server_count,
                                  sizeof *m->owner);
        if (!more) {
            why_memory(m->why);
            return false;
        }
        m->owner = more;
        m->owner_room = reply->server_count;
    }
    for (uint32_t k = 0; k < reply->server_count; k++) {
        int32_t instance = reply->servers[k].instance;
        m->owner[k] = instance < 0 ? -1 : number_of(m, (uint32_t)instance);
    }
    return true;
}

static void note_otherwise(struct topology_map *map, int32_t group)
{
    map->otherwise = map->otherwise == -1 || map->otherwise == group ? group
                                                                     : -2;
}

/* Gives one builder all answers. */
static bool feed(struct merging *m, struct route_builder *builder,
                 const struct route_typing *typing)
{
    for (uint32_t i = 0; i < m->s->count; i++) {
        const struct topology_reply *reply = m->s->replies[i];
        int32_t group;
        if (!reply) {
            continue;
        }
        group = number_of(m, i);
        if (group < 0) {
            return too_many(m);
        }
        if (!find_owners(m, reply)) {
            return false;
        }
        topology_reply_feed(reply, builder, (unsigned)group, m->owner, typing);
        if (reply->otherwise) {
            note_otherwise(m->map, group);
        }
    }
    return true;
}

static struct route_map *build(struct merging *m,
                               const struct route_typing *typing)
{
    struct route_builder *builder = route_builder_new();
    struct route_map *map = NULL;

    if (!builder) {
        why_memory(m->why);
    } else if (feed(m, builder, typing)) {
        map = route_builder_finish(builder, m->why);
    }
    route_builder_free(builder);
    return map;
}

static bool build_rows(struct merging *m)
{
    struct route_typing number = route_type_plain(ROUTE_TYPE_INT8);
    struct route_typing text = route_type_plain(ROUTE_TYPE_TEXT);
    struct topology_map *map = m->map;

    m->numbers = true;
    for (uint32_t i = 0; i < m->s->count; i++) {
        const struct topology_reply *reply = m->s->replies[i];
        if (reply && reply->kind) {
            map->kind = reply->kind;
            m->numbers &= reply->numbers;
        }
    }
    map->map = build(m, m->numbers ? &number : &text);
    if (map->map && map->kind == 'h') {
        map->texts = build(m, &text);
        return map->texts != NULL;
    }
    return map->map != NULL;
}

static struct topology_map *merge(const struct snapshot *s, struct why *why)
{
    struct topology_map *map = calloc(1, sizeof *map);
    struct merging m = { .s = s, .map = map, .why = why };
    bool ok;

    m.number = malloc((s->count + 1) * sizeof *m.number);
    if (map) {
        atomic_init(&map->refs, 1);
        map->otherwise = -1;
        map->generation = s->generation;
        map->digest = s->digest;
        map->tree = s->tree;
        map->instance = malloc((s->count + 1) * sizeof *map->instance);
    }
    ok = map && m.number && map->instance;
    if (!ok) {
        why_memory(why);
    }
    for (uint32_t i = 0; ok && i < s->count; i++) {
        m.number[i] = -1;
    }
    if (ok && s->rows) {
        ok = build_rows(&m);
    } else if (ok) {
        map->map = build(&m, NULL);
        ok = map->map != NULL;
    }
    free(m.number);
    free(m.owner);
    if (!ok) {
        topology_map_release(map);
        return NULL;
    }
    return map;
}

/* ---- putting it into force --------------------------------------------- */

/* Returns what is to be released without the lock. */
static struct topology_map *install_locked(struct topology *topology,
                                           struct topology_map *map,
                                           const struct why *why)
{
    struct topology_map *old = map;

    mutex_assert_held(&topology->lock);
    if (!map) {
        topology->trouble = *why;
    } else if (map->generation == topology->generation) {
        old = topology->map;
        topology->map = map;
        topology->trouble.code = WHY_NONE;
    }
    atomic_store(&topology->quiet_until, 0);
    return old;
}

/* Does the map that is in force say all that the snapshot does? */
static bool says_it_all(const struct topology_map *map,
                        const struct snapshot *s)
{
    return map && s->digest && map->digest == s->digest &&
           map->tree == s->tree && map->generation == s->generation;
}

/* Without the lock; `now` is the map in force, retained, or NULL. */
static struct topology_map *make(struct snapshot *s, bool taken,
                                 struct topology_map *now, struct why *why)
{
    struct topology_map *map = NULL;

    if (!taken) {
        why_memory(why);
    } else {
        find_agreement(s);
        map = says_it_all(now, s) ? topology_map_retain(now) : merge(s, why);
    }
    topology_map_release(now);
    drop_snapshot(s);
    return map;
}

/* What was doubted and has been said anew stands in the map now. */
static void end_doubts_locked(struct topology *topology)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t g = 0; g < topology->fleet->count; g++) {
        struct topology_instance *at = &topology->at[g];

        at->doubted = at->doubted && !at->resaid;
        at->resaid = false;
    }
}

void topology_map_make_locked(struct topology *topology)
{
    mutex_assert_held(&topology->lock);
    if (topology->building || topology->kind == TOPOLOGY_HASH) {
        return;
    }
    topology->building = true;
    while (topology->stale) {
        struct topology_map *map, *now = topology->map;
        struct snapshot s;
        struct why why = { 0 };
        bool taken = take_snapshot_locked(topology, &s);

        if (now) {
            topology_map_retain(now);
        }
        topology->stale = false;
        mutex_unlock(&topology->lock);
        map = make(&s, taken, now, &why);
        mutex_lock(&topology->lock);
        map = install_locked(topology, map, &why);
        mutex_unlock(&topology->lock);
        topology_map_release(map);
        mutex_lock(&topology->lock);
    }
    end_doubts_locked(topology);
    topology->building = false;
}

void topology_map_make(struct topology *topology)
{
    mutex_lock(&topology->lock);
    topology_map_make_locked(topology);
    mutex_unlock(&topology->lock);
}

/* ---- asking it --------------------------------------------------------- */

/* The group of the moment of a group in the map. */
static uint32_t group_now(const struct topology *topology,
                          const struct topology_map *map, uint32_t number)
{
    return atomic_load_explicit(
        &topology->fleet->members[map->instance[number]].group,
        memory_order_relaxed);
}

static void add_owner(struct topology_answer *answer, uint32_t group)
{
    if (answer->count < TOPOLOGY_OWNERS_MAX &&
        !topology_names(answer, group)) {
        answer->owners[answer->count++] = group;
    }
}

static void add_owners(const struct topology *topology,
                       const struct topology_map *map,
                       const struct route_groups *groups,
                       struct topology_answer *answer)
{
    for (uint32_t n = 0; n < map->groups; n++) {
        if (route_groups_has(groups, n)) {
            add_owner(answer, group_now(topology, map, n));
        }
    }
}

void topology_map_judge(const struct topology *topology,
                        const struct topology_map *map,
                        const struct route_found *found,
                        struct topology_answer *answer)
{
    answer->count = 0;
    switch (found->result) {
    case ROUTE_MAP_OWNER:
        add_owner(answer, group_now(topology, map, found->group));
        answer->state = ROUTE_IS_OWNED;
        break;
    case ROUTE_MAP_SEVERAL:
        add_owners(topology, map, &found->groups, answer);
        answer->state = ROUTE_IS_OWNED;
        break;
    case ROUTE_MAP_MOVING:
        add_owners(topology, map, &found->groups, answer);
        answer->state = ROUTE_IS_MOVING;
        break;
    case ROUTE_MAP_UNRESOLVED:
        answer->state = ROUTE_IS_UNRESOLVED;
        break;
    case ROUTE_MAP_BAD_KEY:
        answer->state = ROUTE_IS_UNOWNED;
        answer->bad_key = true;
        break;
    case ROUTE_MAP_NONE:
    case ROUTE_MAP_EMPTY:
    case ROUTE_MAP_ASK_SERVER:
        answer->state = ROUTE_IS_UNKNOWN;
        break;
    }
}

static bool is_number(const struct route_part *part)
{
    struct route_typing typing = route_type_plain(ROUTE_TYPE_INT8);
    unsigned char scratch[ROUTE_TYPE_SCRATCH(32)];
    struct route_datum datum;

    return !part->is_null && part->length <= 32 &&
           route_type_parse(&typing, part->text, part->length, scratch,
                            &datum) == ROUTE_PARSE_OK;
}

/* What no row claims is the one's who says "default". */
static void find_otherwise(const struct topology_map *map,
                           struct route_found *found)
{
    if (map->otherwise >= 0) {
        found->result = ROUTE_MAP_OWNER;
        found->group = (uint16_t)map->otherwise;
    } else if (map->otherwise == -2) {
        found->result = ROUTE_MAP_MOVING;
        memset(&found->groups, 0, sizeof found->groups);
    }
}

void topology_map_find(const struct topology *topology,
                       const struct topology_map *map,
                       const struct route_key *key,
                       struct topology_answer *answer,
                       enum route_map_result *result)
{
    const struct route_map *ask =
        map->texts && !is_number(&key->part[0]) ? map->texts : map->map;
    struct route_found found;
    struct topology_answer rest;

    route_map_find(ask, key, &found, &answer->why);
    *result = found.result;
    topology_map_judge(topology, map, &found, answer);
    if (answer->state == ROUTE_IS_UNKNOWN && map->otherwise != -1) {
        find_otherwise(map, &found);
        topology_map_judge(topology, map, &found, &rest);
        answer->count = rest.count;
        memcpy(answer->owners, rest.owners, rest.count * sizeof *rest.owners);
        *result = ROUTE_MAP_NONE; /* as long as somebody may claim it */
    }
}
