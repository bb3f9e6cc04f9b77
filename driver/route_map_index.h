/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the makers of an index share: route_map_index.c, which begins and ends
 * one, route_map_sorted.c and route_map_hashed.c.
 */
#ifndef ROUTE_MAP_INDEX_H
#define ROUTE_MAP_INDEX_H

#include "route_map_inside.h"

struct route_work {
    const struct route_indexing *from;
    const struct route_typing *typing[ROUTE_KEY_PARTS];
    bool fixed[ROUTE_KEY_PARTS];
    uint32_t columns;
    struct route_view *view;
    struct route_vec cells;   /* struct route_cell */
    struct route_vec entries; /* struct entry, route_map_sorted.c */
    struct route_vec bytes;
    struct route_vec open; /* uint32_t: refs open in the sweep */
    char *buffer;          /* for literals */
    unsigned char *scratch;
    bool memory, unreadable, clash, overlap;
    bool several; /* a LIST partition takes more than one value, or NULL */
};

static inline const struct route_merged *
route_work_node(const struct route_work *w, uint32_t i)
{
    return &w->from->merged[i];
}

/* What two refs come to that take the same keys; NONE after a clash or without
   memory. */
uint32_t route_work_unite(struct route_work *w, uint32_t a, uint32_t b);

/* Appends to the map's refs. */
bool route_work_ref(struct route_work *w, uint32_t ref);

/* Fill w->view's index.  False: w says whether it was memory, a clash, or a
   bound that cannot be read. */
bool route_index_sorted(struct route_work *w);
bool route_index_hash(struct route_work *w);

#endif
