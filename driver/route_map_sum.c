/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a look-up has reached so far, and what it comes to in the end.
 *
 * The leaves of a full key are one place of which different answers speak:
 * their claims are united, then judged.  The leaves of a prefix key are
 * different places: each is judged, then the owners are collected.
 */
#include "autoconf.h"

#include "route_map_inside.h"

#include <string.h>

void route_sum_start(struct route_sum *sum, const struct route_map *map,
                     struct route_found *found)
{
    sum->map = map;
    sum->found = found;
    sum->states = 0;
    sum->leaf = sum->sets = false;
}

static void begin_sets(struct route_sum *sum)
{
    if (!sum->sets) {
        memset(&sum->found->groups, 0, sizeof(sum->found->groups));
        sum->sets = true;
    }
}

static void add_judged(struct route_sum *sum, const struct route_claims *claims)
{
    struct route_found one;

    begin_sets(sum);
    route_claims_judge(claims, &one);
    if (one.result == ROUTE_MAP_OWNER) {
        route_groups_add(&sum->found->groups, one.group);
    } else {
        sum->states |= one.result == ROUTE_MAP_MOVING ? ROUTE_SET_MOVING
                                                      : ROUTE_SET_UNRESOLVED;
    }
}

static void add_claims(struct route_sum *sum, const struct route_claims *claims)
{
    if (sum->leaf) {
        route_claims_unite(&sum->claims, claims);
    } else {
        sum->claims = *claims;
        sum->leaf = true;
    }
}

void route_sum_leaf(struct route_sum *sum, const struct route_claims *claims,
                    bool prefix)
{
    if (prefix) {
        add_judged(sum, claims);
    } else {
        add_claims(sum, claims);
    }
}

void route_sum_above(struct route_sum *sum, const struct route_inner *inner)
{
    const struct route_claims *claims =
        route_claims_at(sum->map, inner->claims);

    /* where all pointers were at groups that have answered, it is for their
       own partitions to say who takes the key, or that none does */
    if (claims->local[0] != ROUTE_NO_GROUP ||
        claims->pointer[0] != ROUTE_NO_GROUP || claims->unresolved) {
        add_claims(sum, claims);
    }
}

void route_sum_all(struct route_sum *sum, uint32_t ref)
{
    size_t words = sum->map->words, i = ref & ~ROUTE_REF_INNER;

    begin_sets(sum);
    sum->states |= ROUTE_VEC(uint8_t, sum->map->states)[i];
    for (size_t w = 0; w < words; w++) {
        sum->found->groups.bits[w] |=
            ROUTE_VEC(uint64_t, sum->map->sets)[i * words + w];
    }
}

static void judge_sets(struct route_sum *sum)
{
    struct route_found *found = sum->found;
    unsigned count = 0;

    for (unsigned w = 0; w < sum->map->words; w++) {
        uint64_t bits = found->groups.bits[w];
        if (bits) {
            count += (unsigned)__builtin_popcountll(bits);
            found->group = (uint16_t)(w * 64 + (unsigned)__builtin_ctzll(bits));
        }
    }
    if (sum->states & ROUTE_SET_MOVING) {
        found->result = ROUTE_MAP_MOVING;
    } else if (sum->states & ROUTE_SET_UNRESOLVED) {
        found->result = ROUTE_MAP_UNRESOLVED;
    } else {
        found->result = count == 0   ? ROUTE_MAP_NONE
                        : count == 1 ? ROUTE_MAP_OWNER
                                     : ROUTE_MAP_SEVERAL;
    }
}

void route_sum_judge(struct route_sum *sum)
{
    if (sum->sets) {
        if (sum->leaf) { /* of an answer that reaches less far down */
            add_judged(sum, &sum->claims);
        }
        judge_sets(sum);
    } else if (sum->leaf) {
        route_claims_judge(&sum->claims, sum->found);
    } else {
        sum->found->result = ROUTE_MAP_NONE;
    }
}
