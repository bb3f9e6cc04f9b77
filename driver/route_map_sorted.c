/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The index of a RANGE or LIST view: reading the bounds of its partitions,
 * sorting them, and writing what a look-up needs.
 *
 * RANGE is a sweep over all edges in order, which keeps the partitions that
 * are open at each point.  One is what it should be; several (of different
 * answers, or of a map file) are united if all of them are leaves.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* qsort_r */
#endif
#include "autoconf.h"

#include "route_map_index.h"

#include <stdlib.h>
#include <string.h>

#include "route_bound.h"

#define NONE ROUTE_REF_NONE

struct entry {     /* an edge of a RANGE, or a value of a LIST */
    uint32_t cell; /* first in work.cells */
    uint32_t ref;
    bool closes; /* the upper edge */
};

/* ---- reading ---- */

/* Appends a cell with the value of a literal. */
static bool read_value(struct route_work *w, uint32_t column,
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

static bool add_entry(struct route_work *w, uint32_t ref, bool closes)
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
static bool read_edge(struct route_work *w, struct route_bound *bound,
                      uint32_t ref, bool closes)
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

static bool expect(struct route_work *w, struct route_bound *bound,
                   enum route_bound_item item)
{
    struct route_bound_value value;

    w->unreadable |= route_bound_next(bound, w->buffer, &value) != item;
    return !w->unreadable;
}

static bool read_range(struct route_work *w, struct route_bound *bound,
                       uint32_t ref)
{
    return read_edge(w, bound, ref, false) &&
           expect(w, bound, ROUTE_BOUND_TO) && read_edge(w, bound, ref, true) &&
           expect(w, bound, ROUTE_BOUND_END);
}

static bool read_list(struct route_work *w, struct route_bound *bound,
                      uint32_t ref)
{
    for (unsigned values = 1;; values++) {
        struct route_bound_value value;
        struct route_cell *cell;
        switch (route_bound_next(bound, w->buffer, &value)) {
        case ROUTE_BOUND_VALUE:
            cell = route_vec_add(&w->cells, sizeof(*cell), 1);
            if (!cell) {
                w->memory = true;
                return false;
            }
            if (!read_value(w, 0, &value, cell) || !add_entry(w, ref, false)) {
                return false;
            }
            w->several |= values > 1;
            break;
        case ROUTE_BOUND_NULL:
            w->several = true;
            w->view->null_ref = route_work_unite(w, w->view->null_ref, ref);
            break;
        case ROUTE_BOUND_END:
            return true;
        default:
            w->unreadable = true;
            return false;
        }
    }
}

static bool read_bound(struct route_work *w, const struct route_merged *node)
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

static int compare_entries(const struct route_work *w, const struct entry *a,
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

static bool put_fixed(struct route_work *w, int64_t fixed)
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

static bool put_cells(struct route_work *w, const struct route_cell *cell)
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

static bool put_boundary(struct route_work *w, const struct entry *entry)
{
    const struct route_cell *cell =
        &ROUTE_VEC(struct route_cell, w->cells)[entry->cell];

    return w->view->index == ROUTE_INDEX_FIXED ? put_fixed(w, cell->fixed)
                                               : put_cells(w, cell);
}

/* ---- RANGE ---- */

static bool open_or_close(struct route_work *w, const struct entry *entry)
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

static uint32_t open_ref(struct route_work *w)
{
    uint32_t ref = NONE;

    for (size_t i = 0; i < w->open.count; i++) {
        ref = route_work_unite(w, ref, ROUTE_VEC(uint32_t, w->open)[i]);
    }
    w->overlap |= w->open.count > 1;
    return ref;
}

/* All edges at one point, from entry i on; returns how many. */
static size_t step(struct route_work *w, size_t i)
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

static bool write_range(struct route_work *w)
{
    const struct entry *entry = ROUTE_VEC(struct entry, w->entries);
    bool fixed = w->view->index == ROUTE_INDEX_FIXED;
    size_t n;

    if (!route_work_ref(w, NONE)) {
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
                   (!put_boundary(w, &entry[i]) || !route_work_ref(w, ref))) {
            return false;
        }
    }
    return true;
}

/* ---- LIST ---- */

static bool write_list(struct route_work *w)
{
    const struct entry *entry = ROUTE_VEC(struct entry, w->entries);

    for (size_t i = 0; i < w->entries.count;) {
        uint32_t ref = NONE;
        size_t n = 0;
        for (; i + n < w->entries.count &&
               compare_entries(w, &entry[i], &entry[i + n]) == 0;
             n++) {
            ref = route_work_unite(w, ref, entry[i + n].ref);
        }
        if (w->memory || w->clash || !put_boundary(w, &entry[i]) ||
            !route_work_ref(w, ref)) {
            return false;
        }
        i += n;
    }
    return true;
}

bool route_index_sorted(struct route_work *w)
{
    w->view->index =
        w->columns == 1 && w->fixed[0] ? ROUTE_INDEX_FIXED : ROUTE_INDEX_CELLS;
    w->view->at = w->view->index == ROUTE_INDEX_FIXED
                      ? w->from->map->fixed.count
                      : w->from->map->cells.count;
    if (w->view->strategy == 'l' && w->columns != 1) {
        w->unreadable = true;
        return false;
    }
    for (uint32_t i = 0; i < w->from->count; i++) {
        if (!read_bound(w, route_work_node(w, w->from->child[i]))) {
            return false;
        }
    }
    if (w->entries.count > 0) {
        qsort_r(w->entries.data, w->entries.count, sizeof(struct entry),
                by_cell, w);
    }
    return w->view->strategy == 'r' ? write_range(w) : write_list(w);
}
