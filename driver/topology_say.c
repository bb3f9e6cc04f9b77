/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The topology in words: why a key is not known, for errors, and all of it,
 * for SHOW AFFINITY TOPOLOGY.
 */
#include "autoconf.h"

#include "topology_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reasons ----------------------------------------------------------- */

static bool is_down(const struct topology *topology, uint32_t i)
{
    return atomic_load_explicit(&topology->fleet->members[i].health,
                                memory_order_relaxed) == ROUTE_DOWN;
}

/* What is to be said of an instance that has not answered. */
static void append_state_locked(const struct topology *topology, uint32_t i,
                                struct text *out)
{
    const struct topology_instance *at = &topology->at[i];

    mutex_assert_held(&topology->lock);
    if (topology->fleet->members[i].disabled) {
        text_append(out, "disabled by the map file");
    } else if (at->asking > 0) {
        text_append(out, "being asked");
    } else if (is_down(topology, i)) {
        text_append(out, "down");
    } else if (at->state == TOPOLOGY_FAILED && at->error.state[0]) {
        link_say_error(&at->error, out);
    } else if (at->state == TOPOLOGY_FAILED) {
        text_append(out, "could not be asked");
    } else {
        text_append(out, "not asked yet");
    }
}

/* Sentences are cut anyway; do not make what nobody will see. */
static bool enough(const struct text *out)
{
    return out->length > WHY_TEXT;
}

void topology_say_unknown_locked(struct topology *topology, struct why *why)
{
    struct text out = { 0 };

    mutex_assert_held(&topology->lock);
    if (topology->trouble.code != WHY_NONE) {
        *why = topology->trouble;
        return;
    }
    topology_mark_locked(topology);
    for (uint32_t i = 0; i < topology->fleet->count && !enough(&out); i++) {
        if (topology_wanted_locked(topology, i) &&
            (topology->kind == TOPOLOGY_HASH ||
             !(topology->mark[topology->at[i].group] &
               TOPOLOGY_MARK_ANY))) {
            text_appendf(&out, "%s%s ", out.length ? "; " : "",
                         topology->fleet->instances[i].name);
            append_state_locked(topology, i, &out);
        }
    }
    why_set(why, WHY_GENERAL, "the owner is not known yet%s%s",
            out.length ? ": " : "", text_string(&out));
    text_free(&out);
}

static void append_source(const struct topology *topology, struct text *out)
{
    const struct config_fleet *config = &topology->fleet->config;

    switch (atomic_load(&topology->kind)) {
    case TOPOLOGY_TABLE:
        text_appendf(out, "table %s", config->table);
        break;
    case TOPOLOGY_QUERY:
        text_append(out, "query");
        break;
    case TOPOLOGY_MAP:
        text_appendf(out, "map file %s", config->map);
        break;
    case TOPOLOGY_HASH:
        text_append(out, "hash");
        break;
    }
}

void topology_say_unowned_locked(struct topology *topology, struct why *why)
{
    struct text out = { 0 }, notes = { 0 };

    mutex_assert_held(&topology->lock);
    append_source(topology, &out);
    for (uint32_t i = 0; i < topology->fleet->count && !enough(&notes); i++) {
        const struct topology_reply *reply = topology->at[i].reply;
        if (reply && reply->note && !reply->tree->count) {
            text_appendf(&notes, "%s%s", notes.length ? "; " : ": ",
                         reply->note);
        }
    }
    why_set(why, WHY_NO_OWNER, "nobody owns it by %s%s", text_string(&out),
            text_string(&notes));
    text_free(&out);
    text_free(&notes);
}

void topology_source(struct fleet *fleet, struct text *out)
{
    append_source(fleet->topology, out);
}

/* ---- all of it --------------------------------------------------------- */

struct showing {
    struct topology *topology;
    const struct topology_map *map;
    topology_row *row;
    void *arg;
    bool stopped;
};

static bool show(struct showing *s, const char *path, const char *bound,
                 int group, const char *state)
{
    s->stopped = s->stopped || !s->row(s->arg, path, bound, group, state);
    return !s->stopped;
}

/* The bounds above, and its own: at the last " / " outside quotes. */
static const char *own_bound(char *path)
{
    bool quoted = false;
    char *last = NULL;

    for (char *p = path; *p; p++) {
        quoted ^= *p == '\'';
        if (!quoted && strncmp(p, " / ", 3) == 0) {
            last = p;
        }
    }
    if (!last) {
        return NULL;
    }
    *last = '\0';
    return last + 3;
}

/* "moving: n1, n2" */
static void append_claimants(const struct showing *s,
                             const struct topology_answer *answer,
                             struct text *state)
{
    for (uint32_t i = 0; i < answer->count; i++) {
        text_appendf(state, "%s %s", i ? "," : ":",
                     s->topology->fleet->instances[answer->owners[i]].name);
    }
}

static bool show_leaf(const struct route_visit *visit, void *to)
{
    struct showing *s = to;
    struct topology_answer answer;
    struct text source = { 0 }, state = { 0 };
    char path[1200];
    const char *bound;
    int group = -1;

    if (!visit->leaf) {
        return true;
    }
    topology_map_judge(s->topology, s->map, &visit->found, &answer);
    if (answer.state == ROUTE_IS_OWNED && answer.count) {
        group = (int)answer.owners[0];
        text_append(&state, "owned");
    } else if (answer.state == ROUTE_IS_MOVING) {
        text_append(&state, "moving");
        append_claimants(s, &answer, &state);
    } else {
        text_append(&state, "unresolved");
    }
    append_source(s->topology, &source);
    snprintf(path, sizeof path, "%s", visit->path);
    bound = own_bound(path);
    show(s, bound ? path : text_string(&source), bound ? bound : path, group,
         text_string(&state));
    text_free(&source);
    text_free(&state);
    return !s->stopped;
}

static void show_otherwise(struct showing *s)
{
    struct route_found found = { .result = ROUTE_MAP_OWNER };
    struct topology_answer answer;
    struct text source = { 0 };

    if (s->map->otherwise == -1) {
        return;
    }
    append_source(s->topology, &source);
    if (s->map->otherwise < 0) {
        show(s, text_string(&source), "default", -1, "moving");
    } else {
        found.group = (uint16_t)s->map->otherwise;
        topology_map_judge(s->topology, s->map, &found, &answer);
        show(s, text_string(&source), "default", (int)answer.owners[0],
             "owned");
    }
    text_free(&source);
}

static void show_targets(struct showing *s)
{
    struct topology *topology = s->topology;

    for (uint32_t i = 0; i < topology->fleet->count && !s->stopped; i++) {
        struct balance_target target;
        bool first, ready;
        char weight[32];
        mutex_lock(&topology->lock);
        target = topology->targets[i];
        first = topology->at[i].group == i;
        ready = topology_hash_ready_locked(topology);
        mutex_unlock(&topology->lock);
        snprintf(weight, sizeof weight, "weight %u", target.weight);
        if (first) {
            show(s, "hash", weight, (int)i,
                 target.excluded ? "disabled"
                 : ready         ? "target"
                                 : "waits until every instance has said who "
                                   "it is");
        }
    }
}

/* Those who have not answered, or had something to add. */
static void show_instances(struct showing *s)
{
    struct topology *topology = s->topology;

    for (uint32_t i = 0; i < topology->fleet->count && !s->stopped; i++) {
        const struct topology_reply *reply;
        struct text state = { 0 };
        int group;
        mutex_lock(&topology->lock);
        topology_mark_locked(topology);
        reply = topology->at[i].reply;
        group = (int)topology->at[i].group;
        if (reply && reply->note) {
            text_append(&state, reply->note);
        } else if (topology_wanted_locked(topology, i)) {
            append_state_locked(topology, i, &state);
        }
        mutex_unlock(&topology->lock);
        if (state.length) {
            show(s, topology->fleet->instances[i].name, "", group,
                 text_string(&state));
        }
        text_free(&state);
    }
}

void topology_show(struct fleet *fleet, topology_row *row, void *arg)
{
    struct topology *topology = fleet->topology;
    struct topology_map *map = NULL;
    struct showing s = { .topology = topology, .row = row, .arg = arg };

    mutex_lock(&topology->lock);
    if (topology->map) {
        map = topology_map_retain(topology->map);
    }
    mutex_unlock(&topology->lock);
    s.map = map;
    if (topology->kind == TOPOLOGY_HASH) {
        show_targets(&s);
    } else if (map) {
        route_map_walk(map->map, show_leaf, &s);
        if (!s.stopped) {
            show_otherwise(&s);
        }
    }
    show_instances(&s);
    topology_map_release(map);
}
