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

#include "route_bound.h"
#include "route_pghash.h"

#define NONE ROUTE_REF_NONE

struct find {
    const struct route_map *map;
    const struct route_key *key;
    struct route_found *found;
    struct why *why;
    struct route_claims claims;
    /* column names that have their sub-key: the first bound ones */
    const char *column[ROUTE_KEY_PARTS];
    uint32_t bound;
    uint8_t states; /* ROUTE_SET_* */
    bool leaf;      /* claims holds something */
    bool sets;      /* found->groups and states hold something */
    bool ask, bad;
};

static const struct route_view *view_at(const struct route_map *map, size_t i)
{
    return &ROUTE_VEC(struct route_view, map->views)[i];
}

static const struct route_inner *inner_at(const struct route_map *map,
                                          uint32_t ref)
{
    return &ROUTE_VEC(struct route_inner, map->inners)[ref & ~ROUTE_REF_INNER];
}

static const struct route_claims *claims_at(const struct route_map *map,
                                            uint32_t ref)
{
    return &ROUTE_VEC(struct route_claims, map->claims)[ref];
}

static uint32_t ref_at(const struct route_map *map,
                       const struct route_view *view, size_t i)
{
    return ROUTE_VEC(uint32_t, map->refs)[view->refs + i];
}

/* ---- collecting ---- */

static void begin_sets(struct find *f)
{
    if (!f->sets) {
        memset(&f->found->groups, 0, sizeof(f->found->groups));
        f->sets = true;
    }
}

/* The leaf of a prefix key: it counts for itself. */
static void add_judged(struct find *f, const struct route_claims *claims)
{
    struct route_found one;

    begin_sets(f);
    route_claims_judge(claims, &one);
    if (one.result == ROUTE_MAP_OWNER) {
        route_groups_add(&f->found->groups, one.group);
    } else {
        f->states |= one.result == ROUTE_MAP_MOVING ? ROUTE_SET_MOVING
                                                    : ROUTE_SET_UNRESOLVED;
    }
}

/* All leaves below an inner node. */
static void add_all(struct find *f, uint32_t ref)
{
    size_t words = f->map->words, i = ref & ~ROUTE_REF_INNER;

    begin_sets(f);
    f->states |= ROUTE_VEC(uint8_t, f->map->states)[i];
    for (size_t w = 0; w < words; w++) {
        f->found->groups.bits[w] |=
            ROUTE_VEC(uint64_t, f->map->sets)[i * words + w];
    }
}

static void refuse_count(struct find *f)
{
    uint32_t width = f->map->width;

    f->bad = true;
    why_set(f->why, WHY_KEY, "AffinityKey has %u sub-keys, but %u key column%s",
            f->key->count, width, width == 1 ? " decides" : "s decide");
}

static void add_leaf(struct find *f, uint32_t ref, bool prefix)
{
    const struct route_claims *claims = claims_at(f->map, ref);

    if (f->key->count > f->map->width && claims->local[0] != ROUTE_NO_GROUP) {
        refuse_count(f);
        return;
    }
    if (prefix) {
        add_judged(f, claims);
        return;
    }
    if (f->leaf) {
        route_claims_unite(&f->claims, claims);
    } else {
        f->claims = *claims;
        f->leaf = true;
    }
}

/* What answers said for which this inner node is a leaf. */
static void add_above(struct find *f, const struct route_inner *inner)
{
    const struct route_claims *claims = claims_at(f->map, inner->claims);

    if (claims->local[0] != ROUTE_NO_GROUP ||
        claims->pointer[0] != ROUTE_NO_GROUP || claims->unresolved) {
        if (!f->leaf) {
            f->claims = *claims;
            f->leaf = true;
        } else {
            route_claims_unite(&f->claims, claims);
        }
    }
}

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

static void refuse(struct find *f, const struct route_part *part,
                   const struct route_column *column)
{
    char text[48];

    f->bad = true;
    why_set(f->why, WHY_KEY,
            "AffinityKey: sub-key %u, %s, is no %s, which is the type of key "
            "column %s", (unsigned)(part - f->key->part) + 1,
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

    switch (route_type_parse(&column->typing, part->text, part->length,
                             scratch, datum)) {
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

/* How many of sorted[0..count) are <= value; without a branch that could be
   predicted wrongly. */
static size_t count_below(const int64_t *sorted, size_t count, int64_t value)
{
    const int64_t *base = sorted;

    while (count > 1) {
        size_t half = count / 2;
        __builtin_prefetch(&base[half / 2]);
        __builtin_prefetch(&base[half + half / 2]);
        base += base[half - 1] <= value ? half : 0;
        count -= half;
    }
    return (size_t)(base - sorted) + (count == 1 && *base <= value);
}

/* What a level may write while it reads the sub-keys. */
struct values {
    struct route_datum datum[ROUTE_KEY_PARTS];
    unsigned char scratch[ROUTE_KEY_BYTES + 16 * ROUTE_KEY_PARTS];
};

/* The boundary cell[0..columns) against the key; behind the given columns the
   key stands below (high false) or above all values. */
static int compare_boundary(const struct find *f, const struct route_view *view,
                            const struct route_cell *cell,
                            const struct values *values, uint32_t given,
                            bool high)
{
    const struct route_column *column =
        ROUTE_VEC(struct route_column, f->map->columns) + view->column;

    for (uint32_t i = 0; i < view->columns; i++) {
        if (cell[i].edge != 0) {
            return cell[i].edge;
        }
        if (i >= given) {
            return high ? -1 : 1;
        }
        struct route_datum datum = {
            .bytes = ROUTE_VEC(unsigned char, f->map->bytes), .length = 0};
        if (route_type_is_fixed(column[i].typing.type)) {
            datum.fixed = cell[i].fixed;
        } else if (cell[i].length > 0) {
            datum.bytes += cell[i].at;
            datum.length = cell[i].length;
        }
        int order = route_type_compare(column[i].typing.type, &datum,
                                       &values->datum[i]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

/* How many boundaries are <= the key. */
static size_t count_cells(const struct find *f, const struct route_view *view,
                          const struct values *values, uint32_t given,
                          bool high)
{
    const struct route_cell *cells =
        ROUTE_VEC(struct route_cell, f->map->cells) + view->at;
    size_t low = 0, left = view->count;

    while (left > 0) {
        size_t half = left / 2;
        if (compare_boundary(f, view, &cells[(low + half) * view->columns],
                             values, given, high) <= 0) {
            low += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return low;
}

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
    size_t i = count_below(sorted, view->count, datum.fixed);
    uint32_t ref = NONE;
    if (view->strategy == 'r') {
        ref = ref_at(f->map, view, i);
    } else if (i > 0 && sorted[i - 1] == datum.fixed) {
        ref = ref_at(f->map, view, i - 1);
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
    size_t low = count_cells(f, view, values, row->given, false);

    if (row->given == view->columns) {
        descend_or_default(f, view, ref_at(f->map, view, low), prefix);
        return;
    }
    size_t high = count_cells(f, view, values, row->given, true);
    for (size_t i = low; i <= high; i++) {
        descend(f, ref_at(f->map, view, i), true);
    }
    /* a NULL in a column that is not given goes there */
    descend(f, view->default_ref, true);
}

static void search_list(struct find *f, const struct route_view *view,
                        struct values *values, bool prefix)
{
    const struct route_cell *cells =
        ROUTE_VEC(struct route_cell, f->map->cells) + view->at;
    size_t i = count_cells(f, view, values, 1, false);
    uint32_t ref = NONE;

    if (i > 0 &&
        compare_boundary(f, view, &cells[i - 1], values, 1, false) == 0) {
        ref = ref_at(f->map, view, i - 1);
    }
    descend_or_default(f, view, ref, prefix);
}

/* First pair from i on that is not below (modulus, remainder). */
static size_t find_pair(const struct route_pair *pair, size_t from,
                        size_t count, uint32_t modulus, uint32_t remainder)
{
    while (from < count) {
        size_t half = from + (count - from) / 2;
        if (pair[half].modulus < modulus ||
            (pair[half].modulus == modulus &&
             pair[half].remainder < remainder)) {
            from = half + 1;
        } else {
            count = half;
        }
    }
    return from;
}

static void search_hash(struct find *f, const struct route_view *view,
                        uint64_t hash, bool prefix)
{
    const struct route_pair *pair =
        ROUTE_VEC(struct route_pair, f->map->pairs) + view->at;

    if (view->modulus > 0) {
        descend(f, ref_at(f->map, view, view->count + hash % view->modulus),
                prefix);
        return;
    }
    for (size_t i = 0; i < view->count;) {
        uint32_t modulus = pair[i].modulus;
        uint32_t remainder = (uint32_t)(hash % modulus);
        i = find_pair(pair, i, view->count, modulus, remainder);
        if (i < view->count && pair[i].modulus == modulus &&
            pair[i].remainder == remainder) {
            descend(f, ref_at(f->map, view, i), prefix);
        }
        i = find_pair(pair, i, view->count, modulus + 1, 0);
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
                                         &values->datum[i],
                                         ROUTE_PGHASH_SEED));
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
        add_all(f, inner);
        return;
    }
    begin_sets(f);
    if (view->kids > 0) {
        const struct route_kid *kid =
            ROUTE_VEC(struct route_kid, f->map->kids) + view->kid;
        for (uint32_t i = 0; i < view->kids; i++) {
            descend(f, kid[i].ref, true);
        }
    } else {
        size_t count = view->count + (view->strategy == 'r');
        for (size_t i = 0; view->index != ROUTE_INDEX_NONE && i < count; i++) {
            descend(f, ref_at(f->map, view, i), true);
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
    } else if (row.null && view->strategy != 'h') {
        descend_or_default(f, view,
                           view->strategy == 'l' ? view->null_ref : NONE,
                           prefix || !whole);
    } else if (view->index == ROUTE_INDEX_FIXED) {
        search_fixed(f, view, row.part[0], prefix);
    } else {
        search_values(f, view, &row, prefix);
    }
}

static void descend(struct find *f, uint32_t ref, bool prefix)
{
    if (ref == NONE || f->bad) {
        return;
    }
    if (!(ref & ROUTE_REF_INNER)) {
        add_leaf(f, ref, prefix);
        return;
    }
    const struct route_inner *inner = inner_at(f->map, ref);
    uint32_t bound = f->bound;
    if (!prefix) {
        add_above(f, inner);
    }
    for (uint32_t i = 0; i < inner->views; i++) {
        search_view(f, view_at(f->map, inner->view + i), ref, prefix);
        f->bound = bound;
    }
}

/* ---- the answer ---- */

static void judge_sets(struct find *f)
{
    struct route_found *found = f->found;
    unsigned count = 0;

    for (unsigned w = 0; w < f->map->words; w++) {
        uint64_t bits = found->groups.bits[w];
        if (bits) {
            count += (unsigned)__builtin_popcountll(bits);
            found->group = (uint16_t)(w * 64 + (unsigned)__builtin_ctzll(bits));
        }
    }
    if (f->states & ROUTE_SET_MOVING) {
        found->result = ROUTE_MAP_MOVING;
    } else if (f->states & ROUTE_SET_UNRESOLVED) {
        found->result = ROUTE_MAP_UNRESOLVED;
    } else {
        found->result = count == 0   ? ROUTE_MAP_NONE
                        : count == 1 ? ROUTE_MAP_OWNER
                                     : ROUTE_MAP_SEVERAL;
    }
}

static void judge(struct find *f)
{
    /* a key that leads nowhere may have too many sub-keys all the same */
    if (f->key && f->key->count > f->map->width && !f->leaf && !f->sets &&
        !f->ask && !f->map->deeper && f->map->counts.leaves > 0) {
        refuse_count(f);
    }
    if (f->bad) {
        f->found->result = ROUTE_MAP_BAD_KEY;
    } else if (f->ask) {
        f->found->result = ROUTE_MAP_ASK_SERVER;
    } else if (f->sets) {
        if (f->leaf) { /* of an answer that reaches less far down */
            add_judged(f, &f->claims);
        }
        judge_sets(f);
    } else if (f->leaf) {
        route_claims_judge(&f->claims, f->found);
    } else {
        f->found->result = ROUTE_MAP_NONE;
    }
}

void route_map_find(const struct route_map *map, const struct route_key *key,
                    struct route_found *found, struct why *why)
{
    struct find f;

    if (map->root == NONE) {
        found->result = ROUTE_MAP_EMPTY;
        return;
    }
    f.map = map;
    f.key = key;
    f.found = found;
    f.why = why;
    f.bound = 0;
    f.states = 0;
    f.leaf = f.sets = f.ask = f.bad = false;
    descend(&f, map->root, false);
    judge(&f);
}

/* ---- by path ---- */

static void step_down(struct find *f, uint32_t ref,
                      const struct route_step *step, size_t count);

static void step_kids(struct find *f, const struct route_view *view,
                      const struct route_step *step, size_t count)
{
    const struct route_kid *kid =
        ROUTE_VEC(struct route_kid, f->map->kids) + view->kid;

    for (uint32_t i = 0; i < view->kids; i++) {
        if (kid[i].length == step->length &&
            memcmp(ROUTE_VEC(char, f->map->names) + kid[i].text, step->bound,
                   step->length) == 0) {
            step_down(f, kid[i].ref, step + 1, count - 1);
        }
    }
}

/* RANGE over one integer, whose bounds are not kept as texts. */
static void step_range(struct find *f, const struct route_view *view,
                       struct route_bound *bound,
                       const struct route_step *step, size_t count)
{
    const int64_t *sorted = ROUTE_VEC(int64_t, f->map->fixed) + view->at;
    const struct route_typing *typing =
        &ROUTE_VEC(struct route_column, f->map->columns)[view->column].typing;
    unsigned char scratch[64];
    char buffer[64];
    struct route_bound_value value;
    struct route_datum datum;
    size_t i = 0;

    if (step->length > sizeof(buffer) - 1) {
        return; /* no two integers are that long */
    }
    switch (route_bound_next(bound, buffer, &value)) {
    case ROUTE_BOUND_MINVALUE:
        break;
    case ROUTE_BOUND_VALUE:
        if (value.length > 24 ||
            route_type_parse(typing, value.text, value.length, scratch,
                             &datum) != ROUTE_PARSE_OK) {
            return;
        }
        i = count_below(sorted, view->count, datum.fixed);
        if (i == 0 || sorted[i - 1] != datum.fixed) {
            return;
        }
        break;
    default:
        return;
    }
    step_down(f, ref_at(f->map, view, i), step + 1, count - 1);
}

static void step_view(struct find *f, const struct route_view *view,
                      const struct route_step *step, size_t count)
{
    struct route_bound bound = route_bound_start(step->bound, step->length);

    if (bound.kind == ROUTE_BOUND_DEFAULT) {
        step_down(f, view->default_ref, step + 1, count - 1);
    } else if (view->kids > 0) {
        step_kids(f, view, step, count);
    } else if (bound.kind == ROUTE_BOUND_HASH &&
               view->index == ROUTE_INDEX_HASH) {
        const struct route_pair *pair =
            ROUTE_VEC(struct route_pair, f->map->pairs) + view->at;
        size_t i = find_pair(pair, 0, view->count, bound.modulus,
                             bound.remainder);
        if (i < view->count && pair[i].modulus == bound.modulus &&
            pair[i].remainder == bound.remainder) {
            step_down(f, ref_at(f->map, view, i), step + 1, count - 1);
        }
    } else if (bound.kind == ROUTE_BOUND_RANGE &&
               view->index == ROUTE_INDEX_FIXED && view->strategy == 'r') {
        step_range(f, view, &bound, step, count);
    }
}

static void step_down(struct find *f, uint32_t ref,
                      const struct route_step *step, size_t count)
{
    if (ref == NONE) {
        return;
    }
    if (!(ref & ROUTE_REF_INNER)) {
        if (!f->leaf) {
            f->claims = *claims_at(f->map, ref);
            f->leaf = true;
        } else {
            route_claims_unite(&f->claims, claims_at(f->map, ref));
        }
        return;
    }
    if (count == 0) {
        add_all(f, ref); /* a leaf there, but partitioned elsewhere */
        return;
    }
    const struct route_inner *inner = inner_at(f->map, ref);
    add_above(f, inner);
    for (uint32_t i = 0; i < inner->views; i++) {
        step_view(f, view_at(f->map, inner->view + i), step, count);
    }
}

void route_map_find_path(const struct route_map *map,
                         const struct route_step *step, size_t count,
                         struct route_found *found)
{
    struct find f = {.map = map, .found = found};

    if (map->root == NONE) {
        found->result = ROUTE_MAP_EMPTY;
        return;
    }
    step_down(&f, map->root, step, count);
    judge(&f);
}
