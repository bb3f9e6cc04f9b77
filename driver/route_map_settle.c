/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From the merged tree to the finished map: refs, views with their indexes,
 * the owners below each inner node, key columns, and no byte more memory than
 * needed.
 */
#include "autoconf.h"

#include "route_map_inside.h"

#include <stdlib.h>
#include <string.h>

#define NONE ROUTE_REF_NONE

/* ---- refs ---- */

uint32_t route_claims_store(struct route_map *map,
                            const struct route_claims *claims)
{
    const struct route_claims *have = map->claims.data;
    uint64_t hash =
        route_spread((uint64_t)claims->local[0] << 32 ^
                     (uint64_t)claims->local[1] << 16 ^ claims->pointer[0]);
    uint32_t *memo = &map->memo[hash % ROUTE_CLAIMS_MEMO];
    size_t i = *memo;

    if (i < map->claims.count &&
        memcmp(&have[i], claims, sizeof(*claims)) == 0) {
        return *memo;
    }
    /* distinct claims are few: groups, and pairs of them where one moves */
    for (i = 0; i < map->claims.count; i++) {
        if (memcmp(&have[i], claims, sizeof(*claims)) == 0) {
            return *memo = (uint32_t)i;
        }
    }
    struct route_claims *to = route_vec_add(&map->claims, sizeof(*to), 1);
    if (!to) {
        return NONE;
    }
    *to = *claims;
    return *memo = (uint32_t)i;
}

/* Hands claims down, and gives each merged node its ref. */
static bool give_refs(struct route_merging *m)
{
    for (size_t i = 0; i < m->merged.count; i++) {
        struct route_merged *node = route_merged_at(m, i);
        if (node->parent != NONE) {
            route_claims_unite(&node->claims,
                               &route_merged_at(m, node->parent)->claims);
        }
        node->ref = route_claims_store(m->map, &node->claims);
        if (node->ref == NONE) {
            return false;
        }
        if (node->shape == NONE) {
            continue;
        }
        struct route_inner *inner =
            route_vec_add(&m->map->inners, sizeof(*inner), 1);
        if (!inner) {
            return false;
        }
        inner->claims = node->ref;
        node->ref = ROUTE_REF_INNER | (uint32_t)(m->map->inners.count - 1);
    }
    m->map->root = m->merged.count > 0 ? route_merged_at(m, 0)->ref : NONE;
    return true;
}

/* Children without DEFAULT, by shape. */
static bool sort_children(struct route_merging *m)
{
    uint32_t next = 0;

    m->child = malloc((m->merged.count + 1) * sizeof(*m->child));
    if (!m->child) {
        return false;
    }
    for (size_t i = 1; i < m->merged.count; i++) {
        if (route_merged_at(m, i)->scope <= UINT32_MAX) {
            route_shape_at(m, route_merged_at(m, i)->scope)->children++;
        }
    }
    for (size_t i = 0; i < m->shapes.count; i++) {
        route_shape_at(m, i)->child = next;
        next += route_shape_at(m, i)->children;
        route_shape_at(m, i)->children = 0;
    }
    for (size_t i = 1; i < m->merged.count; i++) {
        if (route_merged_at(m, i)->scope <= UINT32_MAX) {
            struct route_shape *shape =
                route_shape_at(m, route_merged_at(m, i)->scope);
            m->child[shape->child + shape->children++] = (uint32_t)i;
        }
    }
    return true;
}

/* ---- views ---- */

/* One view of everything that a shape has, if its ways may be united. */
static enum route_indexed view_of_shape(struct route_merging *m,
                                        const struct route_shape *shape,
                                        struct route_view *view)
{
    uint32_t default_node = NONE;

    for (uint32_t w = shape->view; w != NONE; w = route_way_at(m, w)->next) {
        if (route_way_at(m, w)->default_node != NONE) {
            if (shape->ways > 1) {
                return ROUTE_INDEXED_CLASH;
            }
            default_node = route_way_at(m, w)->default_node;
        }
    }
    struct route_indexing from = {
        m->map,          route_merged_at(m, 0), shape, m->child + shape->child,
        shape->children, default_node,          false};
    return route_index_make(&from, view);
}

/* The partitions that one way has, from the answer that brought it. */
static enum route_indexed view_of_way(struct route_merging *m,
                                      const struct route_way *way,
                                      struct route_view *view)
{
    const struct route_answer *answer = route_answer_at(m, way->answer);
    uint32_t count = 0;
    uint32_t *child = malloc((way->set.count + 1) * sizeof(*child));

    if (!child) {
        return ROUTE_INDEXED_MEMORY;
    }
    for (size_t i = way->given + 1; count < way->set.count; i++) {
        const struct route_given *given = route_given_at(answer, i);
        if (given->parent == way->given) {
            child[count++] = m->to[way->answer][i];
        }
    }
    /* leave DEFAULT out, and what an answer has twice */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (child[i] != way->default_node) {
            child[kept++] = child[i];
        }
    }
    struct route_indexing from = {m->map,
                                  route_merged_at(m, 0),
                                  route_shape_at(m, way->shape),
                                  child,
                                  kept,
                                  way->default_node,
                                  true};
    enum route_indexed result = route_index_make(&from, view);
    free(child);
    return result;
}

static bool keep_view(struct route_merging *m, struct route_inner *inner,
                      const struct route_view *view)
{
    struct route_view *to = route_vec_add(&m->map->views, sizeof(*to), 1);

    if (!to) {
        return false;
    }
    *to = *view;
    inner->views++;
    m->map->counts.ask += view->ask;
    return true;
}

static bool make_views(struct route_merging *m, const struct route_merged *node)
{
    struct route_inner *inner = &ROUTE_VEC(
        struct route_inner, m->map->inners)[node->ref & ~ROUTE_REF_INNER];

    inner->view = (uint32_t)m->map->views.count;
    for (uint32_t s = node->shape; s != NONE; s = route_shape_at(m, s)->next) {
        const struct route_shape *shape = route_shape_at(m, s);
        struct route_view view;
        enum route_indexed result = view_of_shape(m, shape, &view);
        if (result == ROUTE_INDEXED_OK) {
            if (!keep_view(m, inner, &view)) {
                return false;
            }
            continue;
        }
        for (uint32_t w = shape->view;
             w != NONE && result != ROUTE_INDEXED_MEMORY;
             w = route_way_at(m, w)->next) {
            result = view_of_way(m, route_way_at(m, w), &view);
            if (result == ROUTE_INDEXED_MEMORY || !keep_view(m, inner, &view)) {
                return false;
            }
        }
        if (result == ROUTE_INDEXED_MEMORY) {
            return false;
        }
    }
    return true;
}

/* ---- summaries ---- */

static void count_leaf(struct route_counts *counts,
                       const struct route_found *found)
{
    counts->leaves++;
    counts->owned += found->result == ROUTE_MAP_OWNER;
    counts->moving += found->result == ROUTE_MAP_MOVING;
    counts->unresolved += found->result == ROUTE_MAP_UNRESOLVED;
}

/* The owners below each inner node, from the leaves upwards. */
static bool summarise(struct route_merging *m)
{
    struct route_map *map = m->map;
    size_t inners = map->inners.count + 1, words = map->words;
    uint64_t *sets = route_vec_add(&map->sets, sizeof(*sets), inners * words);
    uint8_t *states = route_vec_add(&map->states, 1, inners);

    if (!sets || !states) {
        return false;
    }
    for (size_t i = m->merged.count; i-- > 0;) {
        const struct route_merged *node = route_merged_at(m, i);
        size_t above =
            node->parent == NONE
                ? 0
                : route_merged_at(m, node->parent)->ref & ~ROUTE_REF_INNER;
        if (node->shape != NONE) {
            size_t own = node->ref & ~ROUTE_REF_INNER;
            map->counts.inner++;
            if (node->parent == NONE) {
                continue;
            }
            states[above] |= states[own];
            for (size_t w = 0; w < words; w++) {
                sets[above * words + w] |= sets[own * words + w];
            }
            continue;
        }
        struct route_found found;
        route_claims_judge(&node->claims, &found);
        map->deeper |= node->claims.local[0] == ROUTE_NO_GROUP;
        count_leaf(&map->counts, &found);
        if (node->parent == NONE) {
            continue;
        }
        if (found.result == ROUTE_MAP_OWNER) {
            sets[above * words + found.group / 64] |= UINT64_C(1)
                                                      << found.group % 64;
        } else {
            states[above] |= found.result == ROUTE_MAP_MOVING
                                 ? ROUTE_SET_MOVING
                                 : ROUTE_SET_UNRESOLVED;
        }
    }
    return true;
}

/* The place of a column among the distinct ones, made if it has none.  Names
   are offsets still, and one name has one offset; each expression (offset 0)
   is a column of its own. */
static uint32_t rank_of(struct route_merging *m, uint32_t column)
{
    struct route_column *columns =
        ROUTE_VEC(struct route_column, m->map->columns);
    uint32_t *order = m->map->order.data;

    for (size_t i = 0; columns[column].name && i < m->map->order.count; i++) {
        if (columns[order[i]].name == columns[column].name) {
            return (uint32_t)i;
        }
    }
    order = route_vec_add(&m->map->order, sizeof(*order), 1);
    if (!order) {
        return NONE;
    }
    *order = column;
    return (uint32_t)(m->map->order.count - 1);
}

/* Distinct columns, level by level, in the order they were given; for each
   shape, which of them (of the first 64) it has. */
static bool order_columns(struct route_merging *m)
{
    for (unsigned depth = 0; depth <= ROUTE_MAP_DEPTH; depth++) {
        for (size_t s = 0; s < m->shapes.count; s++) {
            struct route_shape *shape = route_shape_at(m, s);
            if (route_merged_at(m, shape->node)->depth != depth) {
                continue;
            }
            for (uint32_t i = 0; i < shape->columns; i++) {
                uint32_t rank = rank_of(m, shape->column + i);
                if (rank == NONE) {
                    return false;
                }
                shape->mask |= rank < 64 ? UINT64_C(1) << rank : 0;
            }
        }
    }
    return true;
}

/* The most columns on any way from the root downwards. */
static void measure_width(struct route_merging *m)
{
    uint32_t width = 0;

    for (size_t s = 0; s < m->shapes.count; s++) {
        uint64_t mask = route_shape_at(m, s)->mask;
        const struct route_merged *node =
            route_merged_at(m, route_shape_at(m, s)->node);
        while (node->parent != NONE) {
            uint32_t above =
                node->scope <= UINT32_MAX
                    ? (uint32_t)node->scope
                    : route_way_at(m, (uint32_t)node->scope)->shape;
            m->map->repeats |= (mask & route_shape_at(m, above)->mask) != 0;
            mask |= route_shape_at(m, above)->mask;
            node = route_merged_at(m, node->parent);
        }
        uint32_t columns = (uint32_t)__builtin_popcountll(mask);
        width = columns > width ? columns : width;
    }
    if (m->map->order.count > 64) { /* more than a mask can tell */
        width = (uint32_t)m->map->order.count;
        m->map->repeats = true;
    }
    m->map->width = width;
}

static size_t trim(struct route_vec *vec, size_t size)
{
    void *data = vec->count > 0 ? realloc(vec->data, vec->count * size) : NULL;

    if (data) {
        vec->data = data;
        vec->room = vec->count;
    }
    return vec->room * size;
}

static void trim_all(struct route_map *map)
{
    map->counts.bytes =
        sizeof(*map) + trim(&map->fixed, sizeof(int64_t)) +
        trim(&map->cells, sizeof(struct route_cell)) +
        trim(&map->pairs, sizeof(struct route_pair)) +
        trim(&map->refs, sizeof(uint32_t)) + trim(&map->bytes, 1) +
        trim(&map->views, sizeof(struct route_view)) +
        trim(&map->inners, sizeof(struct route_inner)) +
        trim(&map->claims, sizeof(struct route_claims)) +
        trim(&map->sets, sizeof(uint64_t)) + trim(&map->states, 1) +
        trim(&map->columns, sizeof(struct route_column)) +
        trim(&map->kids, sizeof(struct route_kid)) + trim(&map->names, 1) +
        trim(&map->order, sizeof(uint32_t));
}

/* Names have stopped moving: offsets become pointers. */
static void settle_names(struct route_map *map)
{
    struct route_column *column = ROUTE_VEC(struct route_column, map->columns);

    for (size_t i = 0; i < map->columns.count; i++) {
        column[i].name =
            ROUTE_VEC(char, map->names) + (uintptr_t)column[i].name;
    }
}

bool route_settle(struct route_merging *m)
{
    if (!give_refs(m) || !sort_children(m)) {
        return false;
    }
    for (size_t i = 0; i < m->merged.count; i++) {
        if (route_merged_at(m, i)->shape != NONE &&
            !make_views(m, route_merged_at(m, i))) {
            return false;
        }
    }
    if (!summarise(m) || !order_columns(m)) {
        return false;
    }
    measure_width(m);
    return true;
}

void route_settle_memory(struct route_map *map)
{
    trim_all(map);
    settle_names(map);
}
