/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Looking a key up.  One walk from the root downwards; where an inner node has
 * several views, each of them is walked, and what they reach is united.
 *
 * A full key ends in leaves, whose claims are united; a prefix key ends in
 * sets: the owners of everything it may mean.
 */
#include "autoconf.h"

#include "route_map_inside.h"

#include <string.h>

#include "route_pghash.h"

#define NONE ROUTE_REF_NONE

struct find {
    struct route_sum sum;
    const struct route_map *map;
    const struct route_key *key;
    struct why *why;
    /* column names that have their sub-key: the first bound ones */
    const char *column[ROUTE_KEY_PARTS];
    uint32_t bound;
    bool ask, bad;
};

/* ---- from sub-keys to values ---- */

/* The sub-key that belongs to a column on this way; NULL: the key is a prefix
   that ends before it. */
static const struct route_part *bind(struct find *f, const char *name)
{
    for (uint32_t i = 0; *name && i < f->bound; i++) {
        if (f->column[i] == name || strcmp(f->column[i], name) == 0) {
            return &f->key->part[i];
        }
    }
    if (f->bound == f->key->count) {
        return NULL;
    }
    f->column[f->bound] = name;
    return &f->key->part[f->bound++];
}

struct row {
    const struct route_part *part[ROUTE_KEY_PARTS];
    uint32_t given; /* leading columns that have a sub-key */
    bool null;      /* one of them is NULL */
};

static void bind_row(struct find *f, const struct route_view *view,
                     struct row *row)
{
    const struct route_column *column =
        ROUTE_VEC(struct route_column, f->map->columns) + view->column;

    row->null = false;
    for (row->given = 0; row->given < view->columns; row->given++) {
        const struct route_part *part = bind(f, column[row->given].name);
        if (!part) {
            return;
        }
        row->part[row->given] = part;
        row->null |= part->is_null;
    }
}

static void refuse_count(struct find *f)
{
    uint32_t width = f->map->width;

    f->bad = true;
    why_set(f->why, WHY_KEY, "AffinityKey has %u sub-keys, but %u key column%s",
            f->key->count, width, width == 1 ? " decides" : "s decide");
}

static void refuse(struct find *f, const struct route_part *part,
                   const struct route_column *column)
{
    char text[48];

    f->bad = true;
    why_set(f->why, WHY_KEY,
            "AffinityKey: sub-key %u, %s, is no %s, which is the type of key "
            "column %s",
            (unsigned)(part - f->key->part) + 1,
            route_key_print_part(part, text, sizeof(text)),
            route_type_name(column->typing.type), column->name);
}

/* Reads one sub-key that is not NULL; false: f knows why not. */
static bool read_part(struct find *f, const struct route_view *view,
                      uint32_t index, const struct route_part *part,
                      unsigned char *scratch, struct route_datum *datum)
{
    const struct route_column *column =
        ROUTE_VEC(struct route_column, f->map->columns) + view->column + index;

    switch (route_type_parse(&column->typing, part->text, part->length, scratch,
                             datum)) {
    case ROUTE_PARSE_OK:
        return true;
    case ROUTE_PARSE_UNSURE:
        f->ask = true;
        return false;
    case ROUTE_PARSE_BAD:
        break;
    }
    refuse(f, part, column);
    return false;
}

/* ---- searching one view ---- */

/* What a level may write while it reads the sub-keys. */
struct values {
    struct route_datum datum[ROUTE_KEY_PARTS];
    unsigned char scratch[ROUTE_KEY_BYTES + 16 * ROUTE_KEY_PARTS];
};

static void descend(struct find *f, uint32_t ref, bool prefix);

/* A part of the key space without a partition of its own. */
static void descend_or_default(struct find *f, const struct route_view *view,
                               uint32_t ref, bool prefix)
{
    descend(f, ref != NONE ? ref : view->default_ref, prefix);
}

/* Single fixed-width columns: the quick way. */
static void search_fixed(struct find *f, const struct route_view *view,
                         const struct route_part *part, bool prefix)
{
    const int64_t *sorted = ROUTE_VEC(int64_t, f->map->fixed) + view->at;
    unsigned char scratch[ROUTE_TYPE_SCRATCH(ROUTE_KEY_BYTES)];
    struct route_datum datum;

    if (!read_part(f, view, 0, part, scratch, &datum)) {
        return;
    }
    size_t i = route_search_fixed(sorted, view->count, datum.fixed,
                                  route_refs_of(f->map, view));
    uint32_t ref = NONE;
    if (view->strategy == 'r') {
        ref = route_ref_at(f->map, view, i);
    } else if (i > 0 && sorted[i - 1] == datum.fixed) {
        ref = route_ref_at(f->map, view, i - 1);
    }
    descend_or_default(f, view, ref, prefix);
}

static bool read_row(struct find *f, const struct route_view *view,
                     const struct row *row, struct values *values)
{
    unsigned char *scratch = values->scratch;

    for (uint32_t i = 0; i < row->given; i++) {
        if (row->part[i]->is_null) {
            continue;
        }
        if (!read_part(f, view, i, row->part[i], scratch, &values->datum[i])) {
            return false;
        }
        scratch += ROUTE_TYPE_SCRATCH(row->part[i]->length);
    }
    return true;
}

static void search_range(struct find *f, const struct route_view *view,
                         const struct row *row, struct values *values,
                         bool prefix)
{
    size_t low =
        route_search_cells(f->map, view, values->datum, row->given, false);

    if (row->given == view->columns) {
        descend_or_default(f, view, route_ref_at(f->map, view, low), prefix);
        return;
    }
    size_t high =
        route_search_cells(f->map, view, values->datum, row->given, true);
    for (size_t i = low; i <= high; i++) {
        descend(f, route_ref_at(f->map, view, i), true);
    }
    /* a NULL in a column that is not given goes there */
    descend(f, view->default_ref, true);
}

static void search_list(struct find *f, const struct route_view *view,
                        struct values *values, bool prefix)
{
    const struct route_cell *cells =
        ROUTE_VEC(struct route_cell, f->map->cells) + view->at;
    size_t i = route_search_cells(f->map, view, values->datum, 1, false);
    uint32_t ref = NONE;

    if (i > 0 && route_search_compare(f->map, view, &cells[i - 1],
                                      values->datum, 1, false) == 0) {
        ref = route_ref_at(f->map, view, i - 1);
    }
    descend_or_default(f, view, ref, prefix);
}

static void search_hash(struct find *f, const struct route_view *view,
                        uint64_t hash, bool prefix)
{
    const struct route_pair *pair =
        ROUTE_VEC(struct route_pair, f->map->pairs) + view->at;

    if (view->modulus > 0) {
        descend(f,
                route_ref_at(f->map, view, view->count + hash % view->modulus),
                prefix);
        return;
    }
    for (size_t i = 0; i < view->count;) {
        uint32_t modulus = pair[i].modulus;
        uint32_t remainder = (uint32_t)(hash % modulus);
        i = route_search_pairs(pair, i, view->count, modulus, remainder);
        if (i < view->count && pair[i].modulus == modulus &&
            pair[i].remainder == remainder) {
            descend(f, route_ref_at(f->map, view, i), prefix);
        }
        i = route_search_pairs(pair, i, view->count, modulus + 1, 0);
    }
}

static uint64_t hash_row(const struct find *f, const struct route_view *view,
                         const struct row *row, const struct values *values)
{
    const struct route_column *column =
        ROUTE_VEC(struct route_column, f->map->columns) + view->column;
    uint64_t hash = 0;

    for (uint32_t i = 0; i < row->given; i++) {
        if (!row->part[i]->is_null) {
            hash = route_pghash_combine(
                hash, route_pghash_datum(column[i].typing.type,
                                         &values->datum[i], ROUTE_PGHASH_SEED));
        }
    }
    return hash;
}

/* Every partition that a view has; below them a column that has its sub-key
   may decide again. */
static void search_all(struct find *f, const struct route_view *view,
                       uint32_t inner)
{
    if (!f->map->repeats) {
        route_sum_all(&f->sum, inner);
        return;
    }
    if (view->kids > 0) {
        const struct route_kid *kid =
            ROUTE_VEC(struct route_kid, f->map->kids) + view->kid;
        for (uint32_t i = 0; i < view->kids; i++) {
            descend(f, kid[i].ref, true);
        }
    } else {
        size_t count = view->count + (view->strategy == 'r');
        for (size_t i = 0; view->index != ROUTE_INDEX_NONE && i < count; i++) {
            descend(f, route_ref_at(f->map, view, i), true);
        }
    }
    descend(f, view->default_ref, true);
}

/* Apart from search_view(), so that the quick way does not pay for its
   stack. */
static void __attribute__((noinline))
search_values(struct find *f, const struct route_view *view,
              const struct row *row, bool prefix)
{
    struct values values;

    if (!read_row(f, view, row, &values)) {
        return;
    }
    if (view->strategy == 'h') {
        search_hash(f, view, hash_row(f, view, row, &values), prefix);
    } else if (row->null) {
        descend_or_default(f, view,
                           view->strategy == 'l' ? view->null_ref : NONE,
                           prefix || row->given < view->columns);
    } else if (view->strategy == 'r') {
        search_range(f, view, row, &values, prefix);
    } else {
        search_list(f, view, &values, prefix);
    }
}

static void search_view(struct find *f, const struct route_view *view,
                        uint32_t inner, bool prefix)
{
    struct row row;

    bind_row(f, view, &row);
    bool whole = row.given == view->columns;
    if (row.given == 0 || (!whole && (view->strategy == 'h' || view->ask))) {
        search_all(f, view, inner);
    } else if (view->ask) {
        f->ask = true;
    } else if (view->index == ROUTE_INDEX_FIXED && !row.null) {
        search_fixed(f, view, row.part[0], prefix);
    } else {
        search_values(f, view, &row, prefix);
    }
}

static void reach_leaf(struct find *f, uint32_t ref, bool prefix)
{
    const struct route_claims *claims = route_claims_at(f->map, ref);

    if (f->key->count > f->map->width && claims->local[0] != ROUTE_NO_GROUP) {
        refuse_count(f);
        return;
    }
    route_sum_leaf(&f->sum, claims, prefix);
}

static void descend(struct find *f, uint32_t ref, bool prefix)
{
    if (ref == NONE || f->bad) {
        return;
    }
    if (!(ref & ROUTE_REF_INNER)) {
        reach_leaf(f, ref, prefix);
        return;
    }
    const struct route_inner *inner = route_inner_at(f->map, ref);
    uint32_t bound = f->bound;
    if (!prefix) {
        route_sum_above(&f->sum, inner);
    }
    for (uint32_t i = 0; i < inner->views; i++) {
        search_view(f, route_view_at(f->map, inner->view + i), ref, prefix);
        f->bound = bound;
    }
}

/* A key that leads nowhere may have too many sub-keys all the same. */
static bool is_too_long(const struct find *f)
{
    return f->key->count > f->map->width && !f->sum.leaf && !f->sum.sets &&
           !f->ask && !f->map->deeper && f->map->counts.leaves > 0;
}

void route_map_find(const struct route_map *map, const struct route_key *key,
                    struct route_found *found, struct why *why)
{
    struct find f; /* most of it is not looked at: not zeroed */

    if (map->root == NONE) {
        found->result = ROUTE_MAP_EMPTY;
        return;
    }
    route_sum_start(&f.sum, map, found);
    f.map = map;
    f.key = key;
    f.why = why;
    f.bound = 0;
    f.ask = f.bad = false;
    descend(&f, map->root, false);
    if (is_too_long(&f)) {
        refuse_count(&f);
    }
    if (f.bad) {
        found->result = ROUTE_MAP_BAD_KEY;
    } else if (f.ask) {
        found->result = ROUTE_MAP_ASK_SERVER;
    } else {
        route_sum_judge(&f.sum);
    }
}
