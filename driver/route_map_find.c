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

/* ---- where a row leads in one view ---- */

/* What a level may write while it reads the sub-keys: left behind before the
   next level is entered, so that depth costs no stack. */
struct values {
    struct route_datum datum[ROUTE_KEY_PARTS];
    unsigned char scratch[ROUTE_KEY_BYTES + 16 * ROUTE_KEY_PARTS];
};

struct spot {
    size_t low, high; /* RANGE, LIST: refs of the view; low > high is none */
    uint64_t hash;    /* HASH */
};

static void set_list(struct spot *spot, size_t below, bool equal)
{
    spot->low = equal ? below - 1 : 1;
    spot->high = equal ? below - 1 : 0;
}

/* One column of fixed width: the quick way. */
static bool __attribute__((noinline))
locate_fixed(struct find *f, const struct route_view *view,
             const struct route_part *part, struct spot *spot)
{
    const int64_t *sorted = ROUTE_VEC(int64_t, f->map->fixed) + view->at;
    unsigned char scratch[ROUTE_TYPE_SCRATCH(ROUTE_KEY_BYTES)];
    struct route_datum datum;

    if (!read_part(f, view, 0, part, scratch, &datum)) {
        return false;
    }
    size_t i = route_search_fixed(sorted, view->count, datum.fixed,
                                  route_refs_of(f->map, view));
    if (view->strategy == 'r') {
        spot->low = spot->high = i;
    } else {
        set_list(spot, i, i > 0 && sorted[i - 1] == datum.fixed);
    }
    return true;
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

static void locate_range(const struct find *f, const struct route_view *view,
                         const struct row *row, const struct values *values,
                         struct spot *spot)
{
    spot->low =
        route_search_cells(f->map, view, values->datum, row->given, false);
    spot->high =
        row->given == view->columns
            ? spot->low
            : route_search_cells(f->map, view, values->datum, row->given, true);
}

static void locate_list(const struct find *f, const struct route_view *view,
                        const struct values *values, struct spot *spot)
{
    const struct route_cell *cells =
        ROUTE_VEC(struct route_cell, f->map->cells) + view->at;
    size_t i = route_search_cells(f->map, view, values->datum, 1, false);

    set_list(spot, i,
             i > 0 && route_search_compare(f->map, view, &cells[i - 1],
                                           values->datum, 1, false) == 0);
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

static bool __attribute__((noinline))
locate(struct find *f, const struct route_view *view, const struct row *row,
       struct spot *spot)
{
    struct values values;

    if (!read_row(f, view, row, &values)) {
        return false;
    }
    if (view->strategy == 'h') {
        spot->hash = hash_row(f, view, row, &values);
    } else if (row->null) {
        set_list(spot, 0, false);
    } else if (view->strategy == 'r') {
        locate_range(f, view, row, &values, spot);
    } else {
        locate_list(f, view, &values, spot);
    }
    return true;
}

/* ---- going there ---- */

static void descend(struct find *f, uint32_t ref, bool prefix);

static void follow_hash(struct find *f, const struct route_view *view,
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

/* One partition, or DEFAULT where there is none; NULL has a place of its own
   in a LIST. */
static void follow_one(struct find *f, const struct route_view *view,
                       const struct row *row, const struct spot *spot,
                       bool prefix)
{
    uint32_t ref = NONE;

    if (row->null) {
        ref = view->null_ref;
    } else if (spot->low <= spot->high) {
        ref = route_ref_at(f->map, view, spot->low);
    }
    descend(f, ref != NONE ? ref : view->default_ref, prefix);
}

static void follow_prefix(struct find *f, const struct route_view *view,
                          const struct spot *spot)
{
    for (size_t i = spot->low; i <= spot->high; i++) {
        descend(f, route_ref_at(f->map, view, i), true);
    }
    /* a NULL in a column that is not given goes there */
    descend(f, view->default_ref, true);
}

/* Every partition that a view has; below them a column that has its sub-key
   may decide again. */
static void follow_all(struct find *f, const struct route_view *view,
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

static void search_view(struct find *f, const struct route_view *view,
                        uint32_t inner, bool prefix)
{
    struct row row;
    struct spot spot;

    bind_row(f, view, &row);
    bool whole = row.given == view->columns;
    if (row.given == 0 || (!whole && (view->strategy == 'h' || view->ask))) {
        follow_all(f, view, inner);
        return;
    }
    if (view->ask) {
        f->ask = true;
        return;
    }
    if (view->index == ROUTE_INDEX_FIXED && !row.null
            ? !locate_fixed(f, view, row.part[0], &spot)
            : !locate(f, view, &row, &spot)) {
        return;
    }
    if (view->strategy == 'h') {
        follow_hash(f, view, spot.hash, prefix);
    } else if (whole || row.null) {
        follow_one(f, view, &row, &spot, prefix || !whole);
    } else {
        follow_prefix(f, view, &spot);
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
