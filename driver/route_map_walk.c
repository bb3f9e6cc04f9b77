/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Looking at the whole map: counts, key columns, and the walk over all nodes.
 * Bound texts that were not kept are made from the index again, in the very
 * spelling that PostgreSQL prints.
 */
#include "autoconf.h"

#include "route_map_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONE ROUTE_REF_NONE

enum { PATH_ROOM = 1024 };

struct walk {
    const struct route_map *map;
    bool (*visit)(const struct route_visit *visit, void *to);
    void *to;
    char path[PATH_ROOM];
    size_t length;
    unsigned depth;
    bool stopped;
};

void route_map_count(const struct route_map *map, struct route_counts *counts)
{
    *counts = map->counts;
}

bool route_map_column(const struct route_map *map, size_t index,
                      struct route_column *column)
{
    if (index >= map->order.count) {
        return false;
    }
    *column = ROUTE_VEC(struct route_column,
                        map->columns)[ROUTE_VEC(uint32_t, map->order)[index]];
    return true;
}

/* ---- the path ---- */

/* Appends text; what does not fit ends in "..." (never inside a UTF-8
   character), and nothing is appended to that. */
static void put_path(struct walk *w, const char *text, size_t length)
{
    size_t room = PATH_ROOM - 4 - w->length;

    if (w->length >= PATH_ROOM - 4) {
        return;
    }
    if (length > room) {
        length = room;
        while (length > 0 && (text[length] & 0xc0) == 0x80) {
            length--;
        }
        memcpy(w->path + w->length, text, length);
        memcpy(w->path + w->length + length, "...", 4);
        w->length = PATH_ROOM - 4; /* full */
        return;
    }
    memcpy(w->path + w->length, text, length);
    w->length += length;
    w->path[w->length] = '\0';
}

static void visit_node(struct walk *w, uint32_t ref);

static void visit_child(struct walk *w, uint32_t ref, const char *bound,
                        size_t length)
{
    size_t before = w->length;
    char kept[4];

    memcpy(kept, w->path + before, sizeof(kept));
    if (w->depth > 0) {
        put_path(w, " / ", 3);
    }
    put_path(w, bound, length);
    w->depth++;
    visit_node(w, ref);
    w->depth--;
    w->length = before;
    memcpy(w->path + before, kept, sizeof(kept));
}

/* ---- children ---- */

static void visit_kids(struct walk *w, const struct route_view *view)
{
    const struct route_kid *kid =
        ROUTE_VEC(struct route_kid, w->map->kids) + view->kid;

    for (uint32_t i = 0; i < view->kids && !w->stopped; i++) {
        visit_child(w, kid[i].ref, ROUTE_VEC(char, w->map->names) + kid[i].text,
                    kid[i].length);
    }
}

static void visit_pairs(struct walk *w, const struct route_view *view)
{
    const struct route_pair *pair =
        ROUTE_VEC(struct route_pair, w->map->pairs) + view->at;
    const uint32_t *ref = ROUTE_VEC(uint32_t, w->map->refs) + view->refs;

    for (uint32_t i = 0; i < view->count && !w->stopped; i++) {
        char text[80];
        int length = snprintf(text, sizeof(text),
                              "FOR VALUES WITH (modulus %" PRIu32
                              ", remainder %" PRIu32 ")",
                              pair[i].modulus, pair[i].remainder);
        visit_child(w, ref[i], text, (size_t)length);
    }
}

/* PostgreSQL quotes everything but an int4 that is not negative. */
static void print_edge(char *text, size_t room, const struct route_view *view,
                       const struct route_map *map, int64_t value)
{
    bool bare =
        value >= 0 && ROUTE_VEC(struct route_column, map->columns)[view->column]
                              .typing.type == ROUTE_TYPE_INT4;

    snprintf(text, room, bare ? "%" PRId64 : "'%" PRId64 "'", value);
}

static void visit_intervals(struct walk *w, const struct route_view *view)
{
    const int64_t *sorted = ROUTE_VEC(int64_t, w->map->fixed) + view->at;
    const uint32_t *ref = ROUTE_VEC(uint32_t, w->map->refs) + view->refs;

    for (uint32_t i = 0; i <= view->count && !w->stopped; i++) {
        char low[32] = "MINVALUE", high[32] = "MAXVALUE", text[96];
        if (ref[i] == NONE) {
            continue;
        }
        if (i > 0) {
            print_edge(low, sizeof(low), view, w->map, sorted[i - 1]);
        }
        if (i < view->count) {
            print_edge(high, sizeof(high), view, w->map, sorted[i]);
        }
        int length = snprintf(text, sizeof(text),
                              "FOR VALUES FROM (%s) TO (%s)", low, high);
        visit_child(w, ref[i], text, (size_t)length);
    }
}

/* Partitions that take one value each. */
static void visit_values(struct walk *w, const struct route_view *view)
{
    const int64_t *sorted = ROUTE_VEC(int64_t, w->map->fixed) + view->at;
    const uint32_t *ref = ROUTE_VEC(uint32_t, w->map->refs) + view->refs;

    for (uint32_t i = 0; i < view->count && !w->stopped; i++) {
        char value[32], text[64];
        print_edge(value, sizeof(value), view, w->map, sorted[i]);
        int length =
            snprintf(text, sizeof(text), "FOR VALUES IN (%s)", value);
        visit_child(w, ref[i], text, (size_t)length);
    }
}

static void visit_view(struct walk *w, const struct route_view *view)
{
    struct route_visit visit = {
        .path = w->path,
        .depth = w->depth,
        .strategy = view->strategy,
        .ask = view->ask,
        .column =
            ROUTE_VEC(struct route_column, w->map->columns) + view->column,
        .columns = view->columns};

    if (view->index == ROUTE_INDEX_HASH && view->count > 0) {
        visit.modulus = ROUTE_VEC(struct route_pair,
                                  w->map->pairs)[view->at + view->count - 1]
                            .modulus;
    }
    if (!w->visit(&visit, w->to)) {
        w->stopped = true;
        return;
    }
    if (view->kids > 0) {
        visit_kids(w, view);
    } else if (view->index == ROUTE_INDEX_HASH) {
        visit_pairs(w, view);
    } else if (view->index == ROUTE_INDEX_FIXED) {
        if (view->strategy == 'r') {
            visit_intervals(w, view);
        } else {
            visit_values(w, view);
        }
    }
    if (view->default_ref != NONE && !w->stopped) {
        visit_child(w, view->default_ref, "DEFAULT", 7);
    }
}

static void visit_node(struct walk *w, uint32_t ref)
{
    if (ref & ROUTE_REF_INNER) {
        const struct route_inner *inner = &ROUTE_VEC(
            struct route_inner, w->map->inners)[ref & ~ROUTE_REF_INNER];
        for (uint32_t i = 0; i < inner->views && !w->stopped; i++) {
            visit_view(w, &ROUTE_VEC(struct route_view,
                                     w->map->views)[inner->view + i]);
        }
        return;
    }
    struct route_visit visit = {
        .path = w->path, .depth = w->depth, .leaf = true};
    route_claims_judge(&ROUTE_VEC(struct route_claims, w->map->claims)[ref],
                       &visit.found);
    w->stopped = !w->visit(&visit, w->to);
}

void route_map_walk(const struct route_map *map,
                    bool (*visit)(const struct route_visit *visit, void *to),
                    void *to)
{
    struct walk w = {.map = map, .visit = visit, .to = to};

    if (map->root != NONE) {
        visit_node(&w, map->root);
    }
}
