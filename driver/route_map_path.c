/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Looking a leaf up by its bounds, for keys that the server has judged.
 */
#include "autoconf.h"

#include "route_map_inside.h"

#include <string.h>

#include "route_bound.h"

#define NONE ROUTE_REF_NONE

enum { INTEGERS_ROOM = 64 }; /* no bound of integers is longer */

static void step_down(struct route_sum *sum, uint32_t ref,
                      const struct route_step *step, size_t count);

static void step_kids(struct route_sum *sum, const struct route_view *view,
                      const struct route_step *step, size_t count)
{
    const struct route_kid *kid =
        ROUTE_VEC(struct route_kid, sum->map->kids) + view->kid;

    for (uint32_t i = 0; i < view->kids; i++) {
        if (kid[i].length == step->length &&
            memcmp(ROUTE_VEC(char, sum->map->names) + kid[i].text, step->bound,
                   step->length) == 0) {
            step_down(sum, kid[i].ref, step + 1, count - 1);
        }
    }
}

/* The place behind this value among a view's integers, 0: it is none of
   them. */
static size_t behind_integer(const struct route_sum *sum,
                             const struct route_view *view,
                             const struct route_bound_value *value)
{
    const int64_t *sorted = ROUTE_VEC(int64_t, sum->map->fixed) + view->at;
    const struct route_typing *typing =
        &ROUTE_VEC(struct route_column, sum->map->columns)[view->column].typing;
    unsigned char scratch[64];
    struct route_datum datum;
    size_t i;

    if (value->length > 24 ||
        route_type_parse(typing, value->text, value->length, scratch,
                         &datum) != ROUTE_PARSE_OK) {
        return 0;
    }
    i = route_search_fixed(sorted, view->count, datum.fixed,
                           route_refs_of(sum->map, view));
    return i > 0 && sorted[i - 1] == datum.fixed ? i : 0;
}

/* RANGE over one integer, whose bounds are not kept as texts. */
static void step_range(struct route_sum *sum, const struct route_view *view,
                       struct route_bound *bound, const struct route_step *step,
                       size_t count)
{
    char buffer[INTEGERS_ROOM];
    struct route_bound_value value;
    size_t i = 0;

    if (step->length >= sizeof(buffer)) {
        return;
    }
    switch (route_bound_next(bound, buffer, &value)) {
    case ROUTE_BOUND_MINVALUE:
        break;
    case ROUTE_BOUND_VALUE:
        i = behind_integer(sum, view, &value);
        if (i == 0) {
            return;
        }
        break;
    default:
        return;
    }
    step_down(sum, route_ref_at(sum->map, view, i), step + 1, count - 1);
}

/* LIST of integers, one in each partition. */
static void step_list(struct route_sum *sum, const struct route_view *view,
                      struct route_bound *bound, const struct route_step *step,
                      size_t count)
{
    char buffer[INTEGERS_ROOM];
    struct route_bound_value value;
    size_t i;

    if (step->length >= sizeof(buffer) ||
        route_bound_next(bound, buffer, &value) != ROUTE_BOUND_VALUE) {
        return;
    }
    i = behind_integer(sum, view, &value);
    if (i > 0 && route_bound_next(bound, buffer, &value) == ROUTE_BOUND_END) {
        step_down(sum, route_ref_at(sum->map, view, i - 1), step + 1,
                  count - 1);
    }
}

static void step_view(struct route_sum *sum, const struct route_view *view,
                      const struct route_step *step, size_t count)
{
    struct route_bound bound = route_bound_start(step->bound, step->length);

    if (bound.kind == ROUTE_BOUND_DEFAULT) {
        step_down(sum, view->default_ref, step + 1, count - 1);
    } else if (view->kids > 0) {
        step_kids(sum, view, step, count);
    } else if (bound.kind == ROUTE_BOUND_HASH &&
               view->index == ROUTE_INDEX_HASH) {
        const struct route_pair *pair =
            ROUTE_VEC(struct route_pair, sum->map->pairs) + view->at;
        size_t i = route_search_pairs(pair, 0, view->count, bound.modulus,
                                      bound.remainder);
        if (i < view->count && pair[i].modulus == bound.modulus &&
            pair[i].remainder == bound.remainder) {
            step_down(sum, route_ref_at(sum->map, view, i), step + 1,
                      count - 1);
        }
    } else if (bound.kind == ROUTE_BOUND_RANGE &&
               view->index == ROUTE_INDEX_FIXED && view->strategy == 'r') {
        step_range(sum, view, &bound, step, count);
    } else if (bound.kind == ROUTE_BOUND_LIST &&
               view->index == ROUTE_INDEX_FIXED && view->strategy == 'l') {
        step_list(sum, view, &bound, step, count);
    }
}

static void step_down(struct route_sum *sum, uint32_t ref,
                      const struct route_step *step, size_t count)
{
    if (ref == NONE) {
        return;
    }
    if (!(ref & ROUTE_REF_INNER)) {
        route_sum_leaf(sum, route_claims_at(sum->map, ref), false);
        return;
    }
    if (count == 0) {
        route_sum_all(sum, ref); /* a leaf there, but partitioned elsewhere */
        return;
    }
    const struct route_inner *inner = route_inner_at(sum->map, ref);
    route_sum_above(sum, inner);
    for (uint32_t i = 0; i < inner->views; i++) {
        step_view(sum, route_view_at(sum->map, inner->view + i), step, count);
    }
}

void route_map_find_path(const struct route_map *map,
                         const struct route_step *step, size_t count,
                         struct route_found *found)
{
    struct route_sum sum;

    if (map->root == NONE) {
        found->result = ROUTE_MAP_EMPTY;
        return;
    }
    route_sum_start(&sum, map, found);
    step_down(&sum, map->root, step, count);
    route_sum_judge(&sum);
}
