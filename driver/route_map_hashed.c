/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The index of a HASH view: its pairs of modulus and remainder, sorted, and a
 * table of all remainders of the greatest modulus where that is possible.
 */
#include "autoconf.h"

#include "route_map_index.h"

#include <stdlib.h>
#include <string.h>

#include "route_bound.h"

#define NONE ROUTE_REF_NONE

struct remainder {
    struct route_pair pair;
    uint32_t ref;
};

static int by_pair(const void *left, const void *right)
{
    const struct route_pair *a = &((const struct remainder *)left)->pair;
    const struct route_pair *b = &((const struct remainder *)right)->pair;

    if (a->modulus != b->modulus) {
        return a->modulus < b->modulus ? -1 : 1;
    }
    return (a->remainder > b->remainder) - (a->remainder < b->remainder);
}

static bool read_remainders(struct route_work *w, struct remainder *to)
{
    for (uint32_t i = 0; i < w->from->count; i++) {
        const struct route_merged *node = route_work_node(w, w->from->child[i]);
        struct route_bound bound = route_bound_start(node->text, node->length);
        if (bound.kind != ROUTE_BOUND_HASH) {
            w->unreadable = true;
            return false;
        }
        to[i] = (struct remainder){{bound.modulus, bound.remainder}, node->ref};
    }
    return true;
}

/* A table of all remainders of the greatest modulus, if the others divide it
   and it is not absurdly larger than the number of partitions. */
static bool write_table(struct route_work *w, const struct remainder *pair,
                        uint32_t greatest)
{
    struct route_vec *refs = &w->from->map->refs;

    if (greatest > (uint64_t)w->view->count * 4 + 1024) {
        return true;
    }
    for (uint32_t i = 0; i < w->view->count; i++) {
        if (greatest % pair[i].pair.modulus != 0) {
            return true;
        }
    }
    size_t at = refs->count;
    if (!route_vec_add(refs, sizeof(uint32_t), greatest)) {
        w->memory = true;
        return false;
    }
    memset(ROUTE_VEC(uint32_t, *refs) + at, 0xff, sizeof(uint32_t) * greatest);
    for (uint32_t i = 0; i < w->view->count; i++) {
        for (uint32_t r = pair[i].pair.remainder; r < greatest;
             r += pair[i].pair.modulus) {
            uint32_t *ref = &ROUTE_VEC(uint32_t, *refs)[at + r];
            *ref = route_work_unite(w, *ref, pair[i].ref);
        }
    }
    w->view->modulus = greatest;
    return !w->memory && !w->clash;
}

static bool write_remainders(struct route_work *w, struct remainder *pair)
{
    struct route_map *map = w->from->map;
    uint32_t count = w->from->count, kept = 0;

    qsort(pair, count, sizeof(*pair), by_pair);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && by_pair(&pair[kept - 1], &pair[i]) == 0) {
            pair[kept - 1].ref =
                route_work_unite(w, pair[kept - 1].ref, pair[i].ref);
        } else {
            pair[kept++] = pair[i];
        }
    }
    struct route_pair *to = route_vec_add(&map->pairs, sizeof(*to), kept);
    if (!to) {
        w->memory = true;
        return false;
    }
    w->view->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        to[i] = pair[i].pair;
        if (!route_work_ref(w, pair[i].ref)) {
            return false;
        }
    }
    return write_table(w, pair, pair[kept - 1].pair.modulus);
}

bool route_index_hash(struct route_work *w)
{
    w->view->index = ROUTE_INDEX_HASH;
    w->view->at = w->from->map->pairs.count;
    if (w->from->count == 0) {
        return true;
    }
    struct remainder *pair = calloc(w->from->count, sizeof(*pair));
    if (!pair) {
        w->memory = true;
        return false;
    }
    bool ok = read_remainders(w, pair) && write_remainders(w, pair);
    free(pair);
    return ok;
}
