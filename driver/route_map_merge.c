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

/* Partitions of an inner node in one answer, whatever their order. */
struct set {
    uint64_t sum, mixed;
    uint32_t count;
};

struct way {
    struct set set;
    uint32_t shape, next;
    uint32_t answer, given; /* the first answer that has it, and where */
    uint32_t default_node;
};

struct merge {
    const struct route_builder *builder;
    struct route_map *map;
    struct route_vec merged; /* struct route_merged */
    struct route_vec shapes; /* struct route_shape */
    struct route_vec ways;   /* struct way */
    uint32_t *table;         /* of merged nodes by scope and text */
    size_t mask;
    uint32_t **to;     /* answer -> its nodes -> merged nodes */
    uint32_t *way_of;  /* the present answer's inner nodes -> ways */
    uint32_t *child;   /* merged nodes by shape */
    uint64_t *names;   /* column names: where in map->names */
};

static const struct route_answer *answer_at(const struct merge *m, size_t i)
{
    return &ROUTE_VEC(struct route_answer, m->builder->answers)[i];
}

static const struct route_given *given_at(const struct route_answer *answer,
                                          size_t i)
{
    return &ROUTE_VEC(struct route_given, answer->given)[i];
}

static struct route_merged *merged_at(const struct merge *m, size_t i)
{
    return &ROUTE_VEC(struct route_merged, m->merged)[i];
}

static struct route_shape *shape_at(const struct merge *m, size_t i)
{
    return &ROUTE_VEC(struct route_shape, m->shapes)[i];
}

static struct way *way_at(const struct merge *m, size_t i)
{
    return &ROUTE_VEC(struct way, m->ways)[i];
}

/* ---- merged nodes ---- */

static uint64_t spread(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    return x ^ x >> 29;
}

/* The merged node of this scope and text, made if there is none; NONE: no
   memory. */
static uint32_t find_or_make(struct merge *m, uint64_t scope, uint32_t parent,
                             const struct route_answer *answer,
                             const struct route_given *given)
{
    const char *text = ROUTE_VEC(char, answer->text) + given->text;
    size_t slot = spread(given->hash ^ spread(scope + 1)) & m->mask;

    for (; m->table[slot] != NONE; slot = (slot + 1) & m->mask) {
        const struct route_merged *node = merged_at(m, m->table[slot]);
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

static bool same_columns(const struct merge *m, const struct route_shape *shape,
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

static uint32_t make_shape(struct merge *m, uint32_t node,
                           const struct route_answer *answer,
                           const struct route_given *given)
{
    const struct route_given_column *got =
        ROUTE_VEC(struct route_given_column, answer->columns) + given->column;
    uint32_t first = (uint32_t)m->map->columns.count;
    struct route_column *column = route_vec_add(
        &m->map->columns, sizeof(*column), given->columns);
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
                                  .next = merged_at(m, node)->shape,
                                  .view = NONE,
                                  .column = first,
                                  .columns = given->columns,
                                  .strategy = given->strategy};
    merged_at(m, node)->shape = (uint32_t)(m->shapes.count - 1);
    return merged_at(m, node)->shape;
}

static bool is_distrusted(const struct route_builder *b, char strategy)
{
    return (strategy == 'r' && b->distrust_range) ||
           (strategy == 'l' && b->distrust_list) ||
           (strategy == 'h' && b->distrust_hash);
}

static uint32_t shape_for(struct merge *m, uint32_t node,
                          const struct route_answer *answer,
                          const struct route_given *given)
{
    uint32_t i = merged_at(m, node)->shape;

    while (i != NONE && !(shape_at(m, i)->strategy == given->strategy &&
                          same_columns(m, shape_at(m, i), answer, given))) {
        i = shape_at(m, i)->next;
    }
    if (i == NONE) {
        i = make_shape(m, node, answer, given);
    }
    if (i != NONE) {
        shape_at(m, i)->ask |=
            given->ask || is_distrusted(m->builder, given->strategy);
    }
    return i;
}

static bool same_set(const struct set *a, const struct set *b)
{
    return a->sum == b->sum && a->mixed == b->mixed && a->count == b->count;
}

static uint32_t way_for(struct merge *m, uint32_t shape, const struct set *set,
                        uint32_t answer, uint32_t given)
{
    uint32_t i = shape_at(m, shape)->view;

    while (i != NONE && !same_set(&way_at(m, i)->set, set)) {
        i = way_at(m, i)->next;
    }
    if (i != NONE) {
        return i;
    }
    struct way *way = route_vec_add(&m->ways, sizeof(*way), 1);
    if (!way) {
        return NONE;
    }
    *way = (struct way){.set = *set,
                        .shape = shape,
                        .next = shape_at(m, shape)->view,
                        .answer = answer,
                        .given = given,
                        .default_node = NONE};
    shape_at(m, shape)->view = (uint32_t)(m->ways.count - 1);
    shape_at(m, shape)->ways++;
    return shape_at(m, shape)->view;
}

/* ---- one answer ---- */

static struct set *sets_of(const struct route_answer *answer)
{
    struct set *sets = calloc(answer->given.count, sizeof(*sets));

    for (size_t i = 1; sets && i < answer->given.count; i++) {
        const struct route_given *given = given_at(answer, i);
        struct set *set = &sets[given->parent];
        set->sum += given->hash;
        set->mixed += spread(given->hash) * (given->hash | 1);
        set->count++;
    }
    return sets;
}

static void claim(const struct merge *m, struct route_merged *node,
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
static uint32_t place(struct merge *m, size_t a, size_t i)
{
    const struct route_answer *answer = answer_at(m, a);
    const struct route_given *given = given_at(answer, i);

    if (given->parent == NONE) {
        return find_or_make(m, UINT64_MAX, NONE, answer, given);
    }
    uint32_t way = m->way_of[given->parent];
    uint32_t parent = m->to[a][given->parent];
    if (!is_default(answer, given)) {
        return find_or_make(m, way_at(m, way)->shape, parent, answer, given);
    }
    uint32_t node =
        find_or_make(m, UINT64_C(1) << 32 | way, parent, answer, given);
    way_at(m, way)->default_node = node;
    return node;
}

static bool merge_nodes(struct merge *m, size_t a, const struct set *sets)
{
    const struct route_answer *answer = answer_at(m, a);

    for (size_t i = 0; i < answer->given.count; i++) {
        const struct route_given *given = given_at(answer, i);
        uint32_t node = place(m, a, i);
        if (node == NONE) {
            return false;
        }
        m->to[a][i] = node;
        if (!given->inner) {
            claim(m, merged_at(m, node), answer, given);
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

static bool merge_answer(struct merge *m, size_t a)
{
    size_t count = answer_at(m, a)->given.count;

    if (count == 0) {
        return true;
    }
    struct set *sets = sets_of(answer_at(m, a));
    m->way_of = malloc(count * sizeof(uint32_t));
    m->to[a] = malloc(count * sizeof(uint32_t));
    bool ok = sets && m->way_of && m->to[a] && merge_nodes(m, a, sets);
    free(sets);
    free(m->way_of);
    m->way_of = NULL;
    return ok;
}

/* ---- the tables of the map ---- */

uint32_t route_claims_store(struct route_map *map,
                            const struct route_claims *claims)
{
    const struct route_claims *have = map->claims.data;
    uint64_t hash = spread((uint64_t)claims->local[0] << 32 ^
                           (uint64_t)claims->local[1] << 16 ^
                           claims->pointer[0]);
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

/* Copies the column names behind each other; until the end the offset stands
   in route_column.name, since the array still moves. */
static bool number_names(struct merge *m)
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

/* Hands claims down, and gives each merged node its ref. */
static bool give_refs(struct merge *m)
{
    for (size_t i = 0; i < m->merged.count; i++) {
        struct route_merged *node = merged_at(m, i);
        if (node->parent != NONE) {
            route_claims_unite(&node->claims,
                               &merged_at(m, node->parent)->claims);
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
    m->map->root = m->merged.count > 0 ? merged_at(m, 0)->ref : NONE;
    return true;
}

/* Children without DEFAULT, by shape. */
static bool sort_children(struct merge *m)
{
    uint32_t next = 0;

    m->child = malloc((m->merged.count + 1) * sizeof(*m->child));
    if (!m->child) {
        return false;
    }
    for (size_t i = 1; i < m->merged.count; i++) {
        if (merged_at(m, i)->scope <= UINT32_MAX) {
            shape_at(m, merged_at(m, i)->scope)->children++;
        }
    }
    for (size_t i = 0; i < m->shapes.count; i++) {
        shape_at(m, i)->child = next;
        next += shape_at(m, i)->children;
        shape_at(m, i)->children = 0;
    }
    for (size_t i = 1; i < m->merged.count; i++) {
        if (merged_at(m, i)->scope <= UINT32_MAX) {
            struct route_shape *shape = shape_at(m, merged_at(m, i)->scope);
            m->child[shape->child + shape->children++] = (uint32_t)i;
        }
    }
    return true;
}

/* ---- views ---- */

/* One view of everything that a shape has, if its ways may be united. */
static enum route_indexed view_of_shape(struct merge *m,
                                        const struct route_shape *shape,
                                        struct route_view *view)
{
    uint32_t default_node = NONE;

    for (uint32_t w = shape->view; w != NONE; w = way_at(m, w)->next) {
        if (way_at(m, w)->default_node != NONE) {
            if (shape->ways > 1) {
                return ROUTE_INDEXED_CLASH;
            }
            default_node = way_at(m, w)->default_node;
        }
    }
    struct route_indexing from = {m->map,
                                  merged_at(m, 0),
                                  shape,
                                  m->child + shape->child,
                                  shape->children,
                                  default_node,
                                  false};
    return route_index_make(&from, view);
}

/* The partitions that one way has, from the answer that brought it. */
static enum route_indexed view_of_way(struct merge *m, const struct way *way,
                                      struct route_view *view)
{
    const struct route_answer *answer = answer_at(m, way->answer);
    uint32_t count = 0;
    uint32_t *child = malloc((way->set.count + 1) * sizeof(*child));

    if (!child) {
        return ROUTE_INDEXED_MEMORY;
    }
    for (size_t i = way->given + 1; count < way->set.count; i++) {
        const struct route_given *given = given_at(answer, i);
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
    struct route_indexing from = {m->map, merged_at(m, 0),
                                  shape_at(m, way->shape), child, kept,
                                  way->default_node, true};
    enum route_indexed result = route_index_make(&from, view);
    free(child);
    return result;
}

static bool keep_view(struct merge *m, struct route_inner *inner,
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

static bool make_views(struct merge *m, const struct route_merged *node)
{
    struct route_inner *inner = &ROUTE_VEC(
        struct route_inner, m->map->inners)[node->ref & ~ROUTE_REF_INNER];

    inner->view = (uint32_t)m->map->views.count;
    for (uint32_t s = node->shape; s != NONE; s = shape_at(m, s)->next) {
        const struct route_shape *shape = shape_at(m, s);
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
             w = way_at(m, w)->next) {
            result = view_of_way(m, way_at(m, w), &view);
            if (result == ROUTE_INDEXED_MEMORY ||
                !keep_view(m, inner, &view)) {
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
static bool summarise(struct merge *m)
{
    struct route_map *map = m->map;
    size_t inners = map->inners.count + 1, words = map->words;
    uint64_t *sets = route_vec_add(&map->sets, sizeof(*sets), inners * words);
    uint8_t *states = route_vec_add(&map->states, 1, inners);

    if (!sets || !states) {
        return false;
    }
    for (size_t i = m->merged.count; i-- > 0;) {
        const struct route_merged *node = merged_at(m, i);
        size_t above = node->parent == NONE
                           ? 0
                           : merged_at(m, node->parent)->ref & ~ROUTE_REF_INNER;
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
static uint32_t rank_of(struct merge *m, uint32_t column)
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
static bool order_columns(struct merge *m)
{
    for (unsigned depth = 0; depth <= ROUTE_MAP_DEPTH; depth++) {
        for (size_t s = 0; s < m->shapes.count; s++) {
            struct route_shape *shape = shape_at(m, s);
            if (merged_at(m, shape->node)->depth != depth) {
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
static void measure_width(struct merge *m)
{
    uint32_t width = 0;

    for (size_t s = 0; s < m->shapes.count; s++) {
        uint64_t mask = shape_at(m, s)->mask;
        const struct route_merged *node = merged_at(m, shape_at(m, s)->node);
        while (node->parent != NONE) {
            uint32_t above = node->scope <= UINT32_MAX
                                 ? (uint32_t)node->scope
                                 : way_at(m, (uint32_t)node->scope)->shape;
            m->map->repeats |= (mask & shape_at(m, above)->mask) != 0;
            mask |= shape_at(m, above)->mask;
            node = merged_at(m, node->parent);
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

/* Names have stopped moving: offsets become pointers. */
static void settle_names(struct route_map *map)
{
    struct route_column *column = ROUTE_VEC(struct route_column, map->columns);

    for (size_t i = 0; i < map->columns.count; i++) {
        column[i].name =
            ROUTE_VEC(char, map->names) + (uintptr_t)column[i].name;
    }
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

/* ---- all of it ---- */

static bool prepare(struct merge *m)
{
    size_t nodes = 0, size = 64;

    for (size_t i = 0; i < m->builder->answers.count; i++) {
        nodes += answer_at(m, i)->given.count;
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

static bool merge_all(struct merge *m)
{
    for (size_t i = 0; i < m->builder->answers.count; i++) {
        if (!merge_answer(m, i)) {
            return false;
        }
    }
    if (!give_refs(m) || !sort_children(m)) {
        return false;
    }
    for (size_t i = 0; i < m->merged.count; i++) {
        if (merged_at(m, i)->shape != NONE &&
            !make_views(m, merged_at(m, i))) {
            return false;
        }
    }
    if (!summarise(m) || !order_columns(m)) {
        return false;
    }
    measure_width(m);
    return true;
}

bool route_merge(const struct route_builder *builder, struct route_map *map,
                 struct why *why)
{
    struct merge m = {.builder = builder, .map = map};
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
    trim_all(map);
    settle_names(map);
    return true;
}
