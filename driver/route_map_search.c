/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Searching the sorted arrays of one view: integers, cells, pairs of modulus
 * and remainder.
 */
#include "autoconf.h"

#include "route_map_inside.h"

enum { FEW = 32, NEAR = 4 };

/* Without a branch that could be predicted wrongly. */
static size_t search_binary(const int64_t *sorted, size_t count, int64_t value)
{
    const int64_t *base = sorted;

    while (count > 1) {
        size_t half = count / 2;
        base += base[half - 1] <= value ? half : 0;
        count -= half;
    }
    return (size_t)(base - sorted) + (count == 1 && *base <= value);
}

/* Where value would be if the boundaries were evenly spread, as numbers and
   times mostly are. */
static size_t guess(const int64_t *sorted, size_t count, int64_t value)
{
    double all = (double)((uint64_t)sorted[count - 1] - (uint64_t)sorted[0]);
    double part = (double)((uint64_t)value - (uint64_t)sorted[0]);

    return (size_t)(part / all * (double)(count - 1));
}

/* A million boundaries are far from the processor: a good guess costs one
   visit, where halving costs a dozen.  After a bad one, halve what is left. */
size_t route_search_fixed(const int64_t *sorted, size_t count, int64_t value,
                          const uint32_t *refs)
{
    if (count <= FEW) {
        return search_binary(sorted, count, value);
    }
    if (value < sorted[0]) {
        return 0;
    }
    if (value >= sorted[count - 1]) {
        return count;
    }
    size_t at = guess(sorted, count, value);
    at = at < count - 1 ? at : count - 1;
    __builtin_prefetch(&sorted[at]);
    __builtin_prefetch(&refs[at]);
    size_t low = at > NEAR ? at - NEAR : 0;
    size_t high = count - at > NEAR ? at + NEAR : count;
    if (sorted[low] > value) {
        high = low;
        low = 0;
    } else if (high < count && sorted[high] <= value) {
        low = high;
        high = count;
    }
    return low + search_binary(sorted + low, high - low, value);
}

int route_search_compare(const struct route_map *map,
                         const struct route_view *view,
                         const struct route_cell *cell,
                         const struct route_datum *datums, uint32_t given,
                         bool high)
{
    const struct route_column *column =
        ROUTE_VEC(struct route_column, map->columns) + view->column;

    for (uint32_t i = 0; i < view->columns; i++) {
        if (cell[i].edge != 0) {
            return cell[i].edge;
        }
        if (i >= given) {
            return high ? -1 : 1;
        }
        struct route_datum datum = {
            .bytes = ROUTE_VEC(unsigned char, map->bytes), .length = 0};
        if (route_type_is_fixed(column[i].typing.type)) {
            datum.fixed = cell[i].fixed;
        } else if (cell[i].length > 0) {
            datum.bytes += cell[i].at;
            datum.length = cell[i].length;
        }
        int order =
            route_type_compare(column[i].typing.type, &datum, &datums[i]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

size_t route_search_cells(const struct route_map *map,
                          const struct route_view *view,
                          const struct route_datum *datums, uint32_t given,
                          bool high)
{
    const struct route_cell *cells =
        ROUTE_VEC(struct route_cell, map->cells) + view->at;
    size_t low = 0, left = view->count;

    while (left > 0) {
        size_t half = left / 2;
        if (route_search_compare(map, view,
                                 &cells[(low + half) * view->columns], datums,
                                 given, high) <= 0) {
            low += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return low;
}

size_t route_search_pairs(const struct route_pair *pair, size_t from,
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
