/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Ownership that comes from AffinityMap or AffinityQuery instead of a
 * partition tree: ranges, list values and hash remainders per group, over one
 * column.  They go through the same builder, as answers that hold nothing but
 * what their group owns; so two groups that claim one key make it MOVING, and
 * a key that nobody claims has no owner.
 */
#ifndef ROUTE_SOURCE_H
#define ROUTE_SOURCE_H

#include "route_map.h"

/* Begins an answer of group with one strategy (r, l, h) over keys of one
   column, called name in messages.  A group with ranges and lists has two.
   type: int8 and text in byte order are what map files have
   (route_type_plain()). */
void route_source_begin(struct route_builder *builder, unsigned group,
                        char strategy, const char *name,
                        struct route_typing typing);

/* What the group owns, after route_source_begin() with typing and strategy r,
   l or h.  Texts as in a key, without its quotes; NULL as low or high is an
   open end, as value the NULL sub-key.  False: *why (WHY_VALUE or memory) says
   what is wrong; nothing was added. */
bool route_source_range(struct route_builder *builder,
                        struct route_typing typing, const char *low,
                        const char *high, struct why *why);
bool route_source_value(struct route_builder *builder,
                        struct route_typing typing, const char *value,
                        struct why *why);
bool route_source_hash(struct route_builder *builder, uint64_t modulus,
                       uint64_t remainder, struct why *why);

#endif
