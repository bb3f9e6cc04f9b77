/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Making one view: its index (route_map_sorted.c, route_map_hashed.c), or the
 * mark that the server is to judge, and the bound texts that no index can
 * give back.
 */
#include "autoconf.h"

#include "route_map_index.h"

#include <stdlib.h>
#include <string.h>

#define NONE ROUTE_REF_NONE

/* ---- what sorted and hashed views share ---- */

uint32_t route_work_unite(struct route_work *w, uint32_t a, uint32_t b)
{
    if (a == b || b == NONE) {
        return a;
    }
    if (a == NONE) {
        return b;
    }
    w->overlap = true;
    if ((a | b) & ROUTE_REF_INNER) {
        w->clash = true;
        return NONE;
    }
    struct route_claims *claims =
        ROUTE_VEC(struct route_claims, w->from->map->claims);
    struct route_claims both = claims[a];
    route_claims_unite(&both, &claims[b]);
    uint32_t ref = route_claims_store(w->from->map, &both);
    w->memory |= ref == NONE;
    return ref;
}

bool route_work_ref(struct route_work *w, uint32_t ref)
{
    uint32_t *to = route_vec_add(&w->from->map->refs, sizeof(*to), 1);

    if (!to) {
        w->memory = true;
        return false;
    }
    *to = ref;
    return true;
}

/* ---- kids ---- */

/* Can the walk make the bound texts from the index? */
static bool is_derivable(const struct route_work *w)
{
    uint8_t type = w->typing[0]->type;

    return w->view->index == ROUTE_INDEX_HASH ||
           (w->view->index == ROUTE_INDEX_FIXED && !w->overlap &&
            !w->several &&
            (type == ROUTE_TYPE_INT2 || type == ROUTE_TYPE_INT4 ||
             type == ROUTE_TYPE_INT8));
}

static bool keep_kids(struct route_work *w)
{
    struct route_map *map = w->from->map;

    w->view->kid = map->kids.count;
    for (uint32_t i = 0; i < w->from->count; i++) {
        const struct route_merged *node = route_work_node(w, w->from->child[i]);
        struct route_kid *kid = route_vec_add(&map->kids, sizeof(*kid), 1);
        char *text =
            kid ? route_vec_add(&map->names, 1, node->length + 1) : NULL;
        if (!text) {
            w->memory = true;
            return false;
        }
        memcpy(text, node->text, node->length);
        kid->text = (uint64_t)(text - ROUTE_VEC(char, map->names));
        kid->length = node->length;
        kid->ref = node->ref;
        w->view->kids++;
    }
    return true;
}

/* ---- all of it ---- */

static bool is_asked(const struct route_work *w)
{
    bool ask = w->from->shape->ask;

    for (uint32_t i = 0; i < w->columns; i++) {
        ask |= !w->typing[i]->safe;
    }
    return ask;
}

static bool make_buffers(struct route_work *w)
{
    uint32_t longest = 0;

    for (uint32_t i = 0; i < w->from->count; i++) {
        uint32_t length = route_work_node(w, w->from->child[i])->length;
        longest = length > longest ? length : longest;
    }
    w->buffer = malloc(longest + 1);
    w->scratch = malloc(ROUTE_TYPE_SCRATCH(longest));
    return w->buffer && w->scratch;
}

static void start(struct route_work *w)
{
    const struct route_shape *shape = w->from->shape;
    const struct route_map *map = w->from->map;

    w->columns = shape->columns;
    for (uint32_t i = 0; i < w->columns; i++) {
        w->typing[i] =
            &ROUTE_VEC(struct route_column, map->columns)[shape->column + i]
                 .typing;
        w->fixed[i] = route_type_is_fixed(w->typing[i]->type);
    }
    *w->view = (struct route_view){
        .strategy = shape->strategy,
        .columns = shape->columns,
        .column = shape->column,
        .refs = map->refs.count,
        .null_ref = NONE,
        .default_ref = w->from->default_node == NONE
                           ? NONE
                           : route_work_node(w, w->from->default_node)->ref};
}

/* What was written for a view that is not to be stays behind in the arrays,
   where nothing refers to it: clashes and unreadable bounds are rare. */
static enum route_indexed make(struct route_work *w)
{
    bool asked = is_asked(w);

    if (!asked) {
        bool ok = w->view->strategy == 'h' ? route_index_hash(w)
                                           : route_index_sorted(w);
        if (w->memory) {
            return ROUTE_INDEXED_MEMORY;
        }
        if (w->clash && !w->from->alone) {
            return ROUTE_INDEXED_CLASH;
        }
        asked = !ok || w->clash;
    }
    if (asked) {
        w->view->ask = true;
        w->view->index = ROUTE_INDEX_NONE;
        w->view->count = 0;
    }
    if (!is_derivable(w) && !keep_kids(w)) {
        return ROUTE_INDEXED_MEMORY;
    }
    return ROUTE_INDEXED_OK;
}

enum route_indexed route_index_make(const struct route_indexing *from,
                                    struct route_view *view)
{
    struct route_work w = {.from = from, .view = view};
    enum route_indexed result = ROUTE_INDEXED_MEMORY;

    start(&w);
    if (make_buffers(&w)) {
        result = make(&w);
    }
    free(w.cells.data);
    free(w.entries.data);
    free(w.bytes.data);
    free(w.open.data);
    free(w.buffer);
    free(w.scratch);
    return result;
}
