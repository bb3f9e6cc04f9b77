/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Making the index of one view: reading the bounds of its partitions, sorting
 * them, and writing what a look-up needs.
 *
 * RANGE is a sweep over all edges in order, which keeps the partitions that
 * are open at each point.  One is what it should be; several (of different
 * answers, or of a map file) are united if all of them are leaves.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* qsort_r */
#endif
#include "autoconf.h"

#include "route_map_inside.h"

#include <stdlib.h>
#include <string.h>

#include "route_bound.h"

#define NONE ROUTE_REF_NONE

struct entry { /* an edge of a RANGE, or a value of a LIST */
    uint32_t cell; /* first in work.cells */
    uint32_t ref;
    bool closes; /* the upper edge */
};

struct work {
    const struct route_indexing *from;
    const struct route_typing *typing[ROUTE_KEY_PARTS];
    bool fixed[ROUTE_KEY_PARTS];
    uint32_t columns;
    struct route_view *view;
    struct route_vec cells;   /* struct route_cell */
    struct route_vec entries; /* struct entry */
    struct route_vec bytes;
    struct route_vec open; /* uint32_t: refs open in the sweep */
    char *buffer;          /* for literals */
    unsigned char *scratch;
    bool memory, unreadable, clash, overlap;
};

static const struct route_merged *node_at(const struct work *w, uint32_t i)
{
    return &w->from->merged[i];
}

/* ---- reading ---- */

/* Appends a cell with the value of a literal. */
static bool read_value(struct work *w, uint32_t column,
                       const struct route_bound_value *value,
                       struct route_cell *cell)
{
    struct route_datum datum;

    if (route_type_parse(w->typing[column], value->text, value->length,
                         w->scratch, &datum) != ROUTE_PARSE_OK) {
        w->unreadable = true;
        return false;
    }
    if (w->fixed[column]) {
        cell->fixed = datum.fixed;
        return true;
    }
    cell->at = w->bytes.count;
    cell->length = datum.length;
    if (datum.length == 0) {
        return true;
    }
    unsigned char *to = route_vec_add(&w->bytes, 1, datum.length);
    if (!to) {
        w->memory = true;
        return false;
    }
    memcpy(to, datum.bytes, datum.length);
    return true;
}

static bool add_entry(struct work *w, uint32_t ref, bool closes)
{
    struct entry *entry = route_vec_add(&w->entries, sizeof(*entry), 1);

    if (!entry) {
        w->memory = true;
        return false;
    }
    entry->cell = (uint32_t)(w->cells.count - w->columns);
    entry->ref = ref;
    entry->closes = closes;
    return true;
}

/* One edge of a RANGE: as many items as there are columns. */
static bool read_edge(struct work *w, struct route_bound *bound, uint32_t ref,
                      bool closes)
{
    struct route_cell *cell =
        route_vec_add(&w->cells, sizeof(*cell), w->columns);

    if (!cell) {
        w->memory = true;
        return false;
    }
    for (uint32_t i = 0; i < w->columns; i++) {
        struct route_bound_value value;
        switch (route_bound_next(bound, w->buffer, &value)) {
        case ROUTE_BOUND_VALUE:
            if (!read_value(w, i, &value, &cell[i])) {
                return false;
            }
            break;
        case ROUTE_BOUND_MINVALUE:
            cell[i].edge = -1;
            break;
        case ROUTE_BOUND_MAXVALUE:
            cell[i].edge = 1;
            break;
        default:
            w->unreadable = true;
            return false;
        }
    }
    return add_entry(w, ref, closes);
}

static bool expect(struct work *w, struct route_bound *bound,
                   enum route_bound_item item)
{
    struct route_bound_value value;

    w->unreadable |= route_bound_next(bound, w->buffer, &value) != item;
    return !w->unreadable;
}

static bool read_range(struct work *w, struct route_bound *bound, uint32_t ref)
{
    return read_edge(w, bound, ref, false) &&
           expect(w, bound, ROUTE_BOUND_TO) &&
           read_edge(w, bound, ref, true) && expect(w, bound, ROUTE_BOUND_END);
}

/* What two refs come to that take the same keys; NONE after a clash. */
static uint32_t unite(struct work *w, uint32_t a, uint32_t b)
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

static bool read_list(struct work *w, struct route_bound *bound, uint32_t ref)
{
    for (;;) {
        struct route_bound_value value;
        struct route_cell *cell;
        switch (route_bound_next(bound, w->buffer, &value)) {
        case ROUTE_BOUND_VALUE:
            cell = route_vec_add(&w->cells, sizeof(*cell), 1);
            if (!cell) {
                w->memory = true;
                return false;
            }
            if (!read_value(w, 0, &value, cell) ||
                !add_entry(w, ref, false)) {
                return false;
            }
            break;
        case ROUTE_BOUND_NULL:
            w->view->null_ref = unite(w, w->view->null_ref, ref);
            break;
        case ROUTE_BOUND_END:
            return true;
        default:
            w->unreadable = true;
            return false;
        }
    }
}

static bool read_bound(struct work *w, const struct route_merged *node)
{
    struct route_bound bound = route_bound_start(node->text, node->length);

    if (bound.kind == ROUTE_BOUND_RANGE && w->view->strategy == 'r') {
        return read_range(w, &bound, node->ref);
    }
    if (bound.kind == ROUTE_BOUND_LIST && w->view->strategy == 'l') {
        return read_list(w, &bound, node->ref);
    }
    w->unreadable = true;
    return false;
}

/* ---- sorting ---- */

static int compare_entries(const struct work *w, const struct entry *a,
                           const struct entry *b)
{
    const struct route_cell *cells = ROUTE_VEC(struct route_cell, w->cells);
    int order = 0;

    for (uint32_t i = 0; i < w->columns && order == 0; i++) {
        const struct route_cell *left = &cells[a->cell + i];
        order = route_cell_compare(w->fixed[i], left, w->bytes.data,
                                   &cells[b->cell + i], w->bytes.data);
        if (order == 0 && left->edge != 0) {
            break; /* MINVALUE and MAXVALUE end the comparison */
        }
    }
    return order;
}

static int by_cell(const void *a, const void *b, void *work)
{
    return compare_entries(work, a, b);
}

/* ---- writing ---- */

static bool put_ref(struct work *w, uint32_t ref)
{
    uint32_t *to = route_vec_add(&w->from->map->refs, sizeof(*to), 1);

    if (!to) {
        w->memory = true;
        return false;
    }
    *to = ref;
    return true;
}

static bool put_fixed(struct work *w, int64_t fixed)
{
    int64_t *to = route_vec_add(&w->from->map->fixed, sizeof(*to), 1);

    if (!to) {
        w->memory = true;
        return false;
    }
    *to = fixed;
    w->view->count++;
    return true;
}

static bool put_cells(struct work *w, const struct route_cell *cell)
{
    struct route_map *map = w->from->map;
    struct route_cell *to = route_vec_add(&map->cells, sizeof(*to), w->columns);

    if (!to) {
        w->memory = true;
        return false;
    }
    for (uint32_t i = 0; i < w->columns; i++) {
        to[i] = cell[i];
        if (w->fixed[i] || cell[i].edge != 0 || cell[i].length == 0) {
            continue;
        }
        to[i].at = map->bytes.count;
        unsigned char *bytes = route_vec_add(&map->bytes, 1, cell[i].length);
        if (!bytes) {
            w->memory = true;
            return false;
        }
        memcpy(bytes, ROUTE_VEC(unsigned char, w->bytes) + cell[i].at,
               cell[i].length);
    }
    w->view->count++;
    return true;
}

static bool put_boundary(struct work *w, const struct entry *entry)
{
    const struct route_cell *cell =
        &ROUTE_VEC(struct route_cell, w->cells)[entry->cell];

    return w->view->index == ROUTE_INDEX_FIXED ? put_fixed(w, cell->fixed)
                                               : put_cells(w, cell);
}

/* ---- RANGE ---- */

static bool open_or_close(struct work *w, const struct entry *entry)
{
    if (!entry->closes) {
        uint32_t *to = route_vec_add(&w->open, sizeof(*to), 1);
        if (!to) {
            w->memory = true;
            return false;
        }
        *to = entry->ref;
        return true;
    }
    uint32_t *open = w->open.data;
    for (size_t i = 0; i < w->open.count; i++) {
        if (open[i] == entry->ref) {
            open[i] = open[--w->open.count];
            return true;
        }
    }
    w->unreadable = true; /* a range that ends before it begins */
    return false;
}

static uint32_t open_ref(struct work *w)
{
    uint32_t ref = NONE;

    for (size_t i = 0; i < w->open.count; i++) {
        ref = unite(w, ref, ROUTE_VEC(uint32_t, w->open)[i]);
    }
    w->overlap |= w->open.count > 1;
    return ref;
}

/* All edges at one point, from entry i on; returns how many. */
static size_t step(struct work *w, size_t i)
{
    const struct entry *entry = ROUTE_VEC(struct entry, w->entries);
    size_t n = 0;

    /* what ends here goes first, or an empty range would look open */
    for (int closes = 1; closes >= 0; closes--) {
        for (n = 0; i + n < w->entries.count &&
                    compare_entries(w, &entry[i], &entry[i + n]) == 0;
             n++) {
            if (entry[i + n].closes == (closes == 1) &&
                !open_or_close(w, &entry[i + n])) {
                return 0;
            }
        }
    }
    return n;
}

static bool write_range(struct work *w)
{
    const struct entry *entry = ROUTE_VEC(struct entry, w->entries);
    bool fixed = w->view->index == ROUTE_INDEX_FIXED;
    size_t n;

    if (!put_ref(w, NONE)) {
        return false;
    }
    for (size_t i = 0; i < w->entries.count; i += n) {
        n = step(w, i);
        uint32_t ref = n > 0 ? open_ref(w) : NONE;
        if (n == 0 || w->memory || w->clash) {
            return false;
        }
        int8_t edge =
            ROUTE_VEC(struct route_cell, w->cells)[entry[i].cell].edge;
        if (fixed && edge < 0) { /* from below the first boundary */
            ROUTE_VEC(uint32_t, w->from->map->refs)[w->view->refs] = ref;
        } else if (!(fixed && edge > 0) &&
                   (!put_boundary(w, &entry[i]) || !put_ref(w, ref))) {
            return false;
        }
    }
    return true;
}

/* ---- LIST ---- */

static bool write_list(struct work *w)
{
    const struct entry *entry = ROUTE_VEC(struct entry, w->entries);

    for (size_t i = 0; i < w->entries.count;) {
        uint32_t ref = NONE;
        size_t n = 0;
        for (; i + n < w->entries.count &&
               compare_entries(w, &entry[i], &entry[i + n]) == 0;
             n++) {
            ref = unite(w, ref, entry[i + n].ref);
        }
        if (w->memory || w->clash || !put_boundary(w, &entry[i]) ||
            !put_ref(w, ref)) {
            return false;
        }
        i += n;
    }
    return true;
}

static bool index_sorted(struct work *w)
{
    w->view->index = w->columns == 1 && w->fixed[0] ? ROUTE_INDEX_FIXED
                                                    : ROUTE_INDEX_CELLS;
    w->view->at = w->view->index == ROUTE_INDEX_FIXED
                      ? w->from->map->fixed.count
                      : w->from->map->cells.count;
    if (w->view->strategy == 'l' && w->columns != 1) {
        w->unreadable = true;
        return false;
    }
    for (uint32_t i = 0; i < w->from->count; i++) {
        if (!read_bound(w, node_at(w, w->from->child[i]))) {
            return false;
        }
    }
    if (w->entries.count > 0) {
        qsort_r(w->entries.data, w->entries.count, sizeof(struct entry),
                by_cell, w);
    }
    return w->view->strategy == 'r' ? write_range(w) : write_list(w);
}

/* ---- HASH ---- */

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

static bool read_remainders(struct work *w, struct remainder *to)
{
    for (uint32_t i = 0; i < w->from->count; i++) {
        const struct route_merged *node = node_at(w, w->from->child[i]);
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
static bool write_table(struct work *w, const struct remainder *pair,
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
            *ref = unite(w, *ref, pair[i].ref);
        }
    }
    w->view->modulus = greatest;
    return !w->memory && !w->clash;
}

static bool write_remainders(struct work *w, struct remainder *pair)
{
    struct route_map *map = w->from->map;
    uint32_t count = w->from->count, kept = 0;

    qsort(pair, count, sizeof(*pair), by_pair);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && by_pair(&pair[kept - 1], &pair[i]) == 0) {
            pair[kept - 1].ref = unite(w, pair[kept - 1].ref, pair[i].ref);
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
        if (!put_ref(w, pair[i].ref)) {
            return false;
        }
    }
    return write_table(w, pair, pair[kept - 1].pair.modulus);
}

static bool index_hash(struct work *w)
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

/* ---- kids ---- */

/* Can the walk make the bound texts from the index? */
static bool is_derivable(const struct work *w)
{
    uint8_t type = w->typing[0]->type;

    return w->view->index == ROUTE_INDEX_HASH ||
           (w->view->strategy == 'r' && w->view->index == ROUTE_INDEX_FIXED &&
            !w->overlap &&
            (type == ROUTE_TYPE_INT2 || type == ROUTE_TYPE_INT4 ||
             type == ROUTE_TYPE_INT8));
}

static bool keep_kids(struct work *w)
{
    struct route_map *map = w->from->map;

    w->view->kid = map->kids.count;
    for (uint32_t i = 0; i < w->from->count; i++) {
        const struct route_merged *node = node_at(w, w->from->child[i]);
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

static bool is_asked(const struct work *w)
{
    bool ask = w->from->shape->ask;

    for (uint32_t i = 0; i < w->columns; i++) {
        ask |= !w->typing[i]->safe;
    }
    return ask;
}

static bool make_buffers(struct work *w)
{
    uint32_t longest = 0;

    for (uint32_t i = 0; i < w->from->count; i++) {
        uint32_t length = node_at(w, w->from->child[i])->length;
        longest = length > longest ? length : longest;
    }
    w->buffer = malloc(longest + 1);
    w->scratch = malloc(ROUTE_TYPE_SCRATCH(longest));
    return w->buffer && w->scratch;
}

static void start(struct work *w)
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
                           : node_at(w, w->from->default_node)->ref};
}

/* What was written for a view that is not to be stays behind in the arrays,
   where nothing refers to it: clashes and unreadable bounds are rare. */
static enum route_indexed make(struct work *w)
{
    bool asked = is_asked(w);

    if (!asked) {
        bool ok = w->view->strategy == 'h' ? index_hash(w) : index_sorted(w);
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
    struct work w = {.from = from, .view = view};
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
