/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Merging the answers into one tree.
 *
 * Answers are taken one by one, their nodes from the root downwards.  For each
 * inner node of an answer it is known beforehand which *set* of partitions it
 * has (a sum of hashes: the order does not matter).  Answers that give a
 * merged node the same strategy and columns share a *shape*, those that also
 * give it the same set of partitions share a *way*.
 *
 * Two partitions with one bound text below one shape are the same part of the
 * key space, whatever their siblings are, so they are one merged node; except
 * DEFAULT, which is what its siblings leave over: one merged node per way.
 * Then every answer that has a merged node resolves a key of that node to it,
 * and the claims of the nodes that a key reaches (one per way, at most) can
 * simply be united.
 *
 * An answer for which a node is a leaf (a foreign table) says the same about
 * everything below it: its claims are handed down.
 */
#include "autoconf.h"

#include "route_map_inside.h"

#include <stdlib.h>
#include <string.h>

#define NONE ROUTE_REF_NONE

/* ---- merged nodes ---- */

/* The merged node of this scope and text, made if there is none; NONE: no
   memory. */
static uint32_t find_or_make(struct route_merging *m, uint64_t scope,
                             uint32_t parent, const struct route_answer *answer,
                             const struct route_given *given)
{
    const char *text = ROUTE_VEC(char, answer->text) + given->text;
    size_t slot = route_spread(given->hash ^ route_spread(scope + 1)) & m->mask;

    for (; m->table[slot] != NONE; slot = (slot + 1) & m->mask) {
        const struct route_merged *node = route_merged_at(m, m->table[slot]);
        if (node->hash == given->hash && node->scope == scope &&
            node->length == given->length &&
            (given->length == 0 ||
             memcmp(node->text, text, given->length) == 0)) {
            return m->table[slot];
        }
    }
    struct route_merged *node = route_vec_add(&m->merged, sizeof(*node), 1);
    if (!node) {
        return NONE;
    }
    *node = (struct route_merged){.text = text,
                                  .hash = given->hash,
                                  .scope = scope,
                                  .length = given->length,
                                  .parent = parent,
                                  .shape = NONE,
                                  .claims = ROUTE_CLAIMS_EMPTY,
                                  .depth = given->depth};
    m->table[slot] = (uint32_t)(m->merged.count - 1);
    return m->table[slot];
}

static bool is_default(const struct route_answer *answer,
                       const struct route_given *given)
{
    return given->length == 7 &&
           memcmp(ROUTE_VEC(char, answer->text) + given->text, "DEFAULT", 7) ==
               0;
}

/* ---- shapes and ways ---- */

static bool same_columns(const struct route_merging *m,
                         const struct route_shape *shape,
                         const struct route_answer *answer,
                         const struct route_given *given)
{
    const struct route_column *have =
        ROUTE_VEC(struct route_column, m->map->columns) + shape->column;
    const struct route_given_column *got =
        ROUTE_VEC(struct route_given_column, answer->columns) + given->column;

    if (shape->columns != given->columns) {
        return false;
    }
    for (uint32_t i = 0; i < shape->columns; i++) {
        /* for the time of merging, names are offsets (see number_names) */
        if ((uintptr_t)have[i].name != m->names[got[i].name] ||
            !route_type_same(&have[i].typing, &got[i].typing)) {
            return false;
        }
    }
    return true;
}

static uint32_t make_shape(struct route_merging *m, uint32_t node,
                           const struct route_answer *answer,
                           const struct route_given *given)
{
    const struct route_given_column *got =
        ROUTE_VEC(struct route_given_column, answer->columns) + given->column;
    uint32_t first = (uint32_t)m->map->columns.count;
    struct route_column *column =
        route_vec_add(&m->map->columns, sizeof(*column), given->columns);
    struct route_shape *shape =
        column ? route_vec_add(&m->shapes, sizeof(*shape), 1) : NULL;

    if (!shape) {
        return NONE;
    }
    for (uint32_t i = 0; i < given->columns; i++) {
        column[i].name = (const char *)(uintptr_t)m->names[got[i].name];
        column[i].typing = got[i].typing;
    }
    *shape = (struct route_shape){.node = node,
                                  .next = route_merged_at(m, node)->shape,
                                  .view = NONE,
                                  .column = first,
                                  .columns = given->columns,
                                  .strategy = given->strategy};
    route_merged_at(m, node)->shape = (uint32_t)(m->shapes.count - 1);
    return route_merged_at(m, node)->shape;
}

static bool is_distrusted(const struct route_builder *b, char strategy)
{
    return (strategy == 'r' && b->distrust_range) ||
           (strategy == 'l' && b->distrust_list) ||
           (strategy == 'h' && b->distrust_hash);
}

static uint32_t shape_for(struct route_merging *m, uint32_t node,
                          const struct route_answer *answer,
                          const struct route_given *given)
{
    uint32_t i = route_merged_at(m, node)->shape;

    while (i != NONE &&
           !(route_shape_at(m, i)->strategy == given->strategy &&
             same_columns(m, route_shape_at(m, i), answer, given))) {
        i = route_shape_at(m, i)->next;
    }
    if (i == NONE) {
        i = make_shape(m, node, answer, given);
    }
    if (i != NONE) {
        route_shape_at(m, i)->ask |=
            given->ask || is_distrusted(m->builder, given->strategy);
    }
    return i;
}

static bool same_set(const struct route_set *a, const struct route_set *b)
{
    return a->sum == b->sum && a->mixed == b->mixed && a->count == b->count;
}

static uint32_t way_for(struct route_merging *m, uint32_t shape,
                        const struct route_set *set, uint32_t answer,
                        uint32_t given)
{
    uint32_t i = route_shape_at(m, shape)->view;

    while (i != NONE && !same_set(&route_way_at(m, i)->set, set)) {
        i = route_way_at(m, i)->next;
    }
    if (i != NONE) {
        return i;
    }
    struct route_way *way = route_vec_add(&m->ways, sizeof(*way), 1);
    if (!way) {
        return NONE;
    }
    *way = (struct route_way){.set = *set,
                              .shape = shape,
                              .next = route_shape_at(m, shape)->view,
                              .answer = answer,
                              .given = given,
                              .default_node = NONE};
    route_shape_at(m, shape)->view = (uint32_t)(m->ways.count - 1);
    route_shape_at(m, shape)->ways++;
    return route_shape_at(m, shape)->view;
}

/* ---- one answer ---- */

static struct route_set *sets_of(const struct route_answer *answer)
{
    struct route_set *sets = calloc(answer->given.count, sizeof(*sets));

    for (size_t i = 1; sets && i < answer->given.count; i++) {
        const struct route_given *given = route_given_at(answer, i);
        struct route_set *set = &sets[given->parent];
        set->sum += given->hash;
        set->mixed += route_spread(given->hash) * (given->hash | 1);
        set->count++;
    }
    return sets;
}

static void claim(const struct route_merging *m, struct route_merged *node,
                  const struct route_answer *answer,
                  const struct route_given *given)
{
    struct route_claims claims = ROUTE_CLAIMS_EMPTY;

    if (given->claim == ROUTE_CLAIM_LOCAL) {
        claims.local[0] = answer->group;
    } else if (given->claim == ROUTE_CLAIM_UNRESOLVED) {
        claims.unresolved = 1;
    } else if (!route_groups_has(&m->builder->answered, given->group)) {
        claims.pointer[0] = given->group;
    } /* else that group speaks for itself */
    route_claims_unite(&node->claims, &claims);
}

/* The merged node of node i of answer a. */
static uint32_t place(struct route_merging *m, size_t a, size_t i)
{
    const struct route_answer *answer = route_answer_at(m, a);
    const struct route_given *given = route_given_at(answer, i);

    if (given->parent == NONE) {
        return find_or_make(m, UINT64_MAX, NONE, answer, given);
    }
    uint32_t way = m->way_of[given->parent];
    uint32_t parent = m->to[a][given->parent];
    if (!is_default(answer, given)) {
        return find_or_make(m, route_way_at(m, way)->shape, parent, answer,
                            given);
    }
    uint32_t node =
        find_or_make(m, UINT64_C(1) << 32 | way, parent, answer, given);
    route_way_at(m, way)->default_node = node;
    return node;
}

static bool merge_nodes(struct route_merging *m, size_t a,
                        const struct route_set *sets)
{
    const struct route_answer *answer = route_answer_at(m, a);

    for (size_t i = 0; i < answer->given.count; i++) {
        const struct route_given *given = route_given_at(answer, i);
        uint32_t node = place(m, a, i);
        if (node == NONE) {
            return false;
        }
        m->to[a][i] = node;
        if (!given->inner) {
            claim(m, route_merged_at(m, node), answer, given);
            continue;
        }
        uint32_t shape = shape_for(m, node, answer, given);
        m->way_of[i] = shape == NONE ? NONE
                                     : way_for(m, shape, &sets[i], (uint32_t)a,
                                               (uint32_t)i);
        if (m->way_of[i] == NONE) {
            return false;
        }
    }
    return true;
}

static bool merge_answer(struct route_merging *m, size_t a)
{
    size_t count = route_answer_at(m, a)->given.count;

    if (count == 0) {
        return true;
    }
    struct route_set *sets = sets_of(route_answer_at(m, a));
    m->way_of = malloc(count * sizeof(uint32_t));
    m->to[a] = malloc(count * sizeof(uint32_t));
    bool ok = sets && m->way_of && m->to[a] && merge_nodes(m, a, sets);
    free(sets);
    free(m->way_of);
    m->way_of = NULL;
    return ok;
}

/* ---- all of it ---- */

/* Copies the column names behind each other; until the end the offset stands
   in route_column.name, since the array still moves. */
static bool number_names(struct route_merging *m)
{
    size_t count = m->builder->names.count;

    m->names = malloc(count * sizeof(*m->names));
    if (!m->names) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = ROUTE_VEC(char *, m->builder->names)[i];
        size_t size = strlen(name) + 1;
        m->names[i] = m->map->names.count;
        char *to = route_vec_add(&m->map->names, 1, size);
        if (!to) {
            return false;
        }
        memcpy(to, name, size);
    }
    return true;
}

static bool prepare(struct route_merging *m)
{
    size_t nodes = 0, size = 64;

    for (size_t i = 0; i < m->builder->answers.count; i++) {
        nodes += route_answer_at(m, i)->given.count;
    }
    while (size < nodes * 2) {
        size *= 2;
    }
    m->mask = size - 1;
    m->table = malloc(size * sizeof(*m->table));
    m->to = calloc(m->builder->answers.count + 1, sizeof(*m->to));
    m->map->memo = calloc(ROUTE_CLAIMS_MEMO, sizeof(*m->map->memo));
    if (!m->table || !m->to || !m->map->memo || nodes >= ROUTE_REF_INNER) {
        return false;
    }
    memset(m->table, 0xff, size * sizeof(*m->table));
    m->map->words = (uint16_t)(m->builder->top / 64 + 1);
    return number_names(m);
}

static bool merge_all(struct route_merging *m)
{
    for (size_t i = 0; i < m->builder->answers.count; i++) {
        if (!merge_answer(m, i)) {
            return false;
        }
    }
    return route_settle(m);
}

bool route_merge(const struct route_builder *builder, struct route_map *map,
                 struct why *why)
{
    struct route_merging m = {.builder = builder, .map = map};
    bool ok;

    map->root = NONE;
    ok = prepare(&m) && merge_all(&m);
    for (size_t i = 0; m.to && i < builder->answers.count; i++) {
        free(m.to[i]);
    }
    free(m.merged.data);
    free(m.shapes.data);
    free(m.ways.data);
    free(m.table);
    free(m.to);
    free(m.child);
    free(m.names);
    free(map->memo);
    map->memo = NULL;
    if (!ok) {
        why_memory(why);
        return false;
    }
    route_settle_memory(map);
    return true;
}
