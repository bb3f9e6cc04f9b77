/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The small things that building, finding and walking share, and the builder's
 * front: it only takes down what it is given; route_map_merge.c does the work.
 */
#include "autoconf.h"

#include "route_map_inside.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void *route_vec_add(struct route_vec *vec, size_t size, size_t more)
{
    if (more > vec->room - vec->count) {
        size_t room = vec->room + vec->room / 2;
        if (room < vec->count + more) {
            room = vec->count + more;
        }
        if (room < 16) {
            room = 16;
        }
        void *data = reallocarray(vec->data, room, size);
        if (!data) {
            return NULL;
        }
        vec->data = data;
        vec->room = room;
    }
    char *from = (char *)vec->data + vec->count * size;
    memset(from, 0, more * size);
    vec->count += more;
    return from;
}

/* ---- claims ---- */

static void add_group(uint16_t group[2], uint16_t add)
{
    if (add == group[0] || add == group[1]) {
        return;
    }
    if (add < group[0]) {
        group[1] = group[0];
        group[0] = add;
    } else if (add < group[1]) {
        group[1] = add;
    }
}

void route_claims_unite(struct route_claims *to,
                        const struct route_claims *from)
{
    for (int i = 0; i < 2; i++) {
        add_group(to->local, from->local[i]);
        add_group(to->pointer, from->pointer[i]);
    }
    to->unresolved |= from->unresolved;
}

void route_claims_judge(const struct route_claims *claims,
                        struct route_found *found)
{
    bool local = claims->local[0] != ROUTE_NO_GROUP;
    const uint16_t *group = local ? claims->local : claims->pointer;

    if (group[0] == ROUTE_NO_GROUP) {
        found->result =
            claims->unresolved ? ROUTE_MAP_UNRESOLVED : ROUTE_MAP_MOVING;
    } else if (group[1] == ROUTE_NO_GROUP) {
        found->result = ROUTE_MAP_OWNER;
        found->group = group[0];
        return;
    } else {
        found->result = ROUTE_MAP_MOVING;
    }
    memset(&found->groups, 0, sizeof(found->groups));
    for (int i = 0; i < 2 && group[i] != ROUTE_NO_GROUP; i++) {
        route_groups_add(&found->groups, group[i]);
    }
}

int route_cell_compare(bool fixed, const struct route_cell *a,
                       const unsigned char *a_bytes, const struct route_cell *b,
                       const unsigned char *b_bytes)
{
    if (a->edge != 0 || b->edge != 0) {
        return a->edge - b->edge;
    }
    if (fixed) {
        return (a->fixed > b->fixed) - (a->fixed < b->fixed);
    }
    uint32_t common = a->length < b->length ? a->length : b->length;
    int order =
        common > 0 ? memcmp(a_bytes + a->at, b_bytes + b->at, common) : 0;
    return order != 0 ? order
                      : (a->length > b->length) - (a->length < b->length);
}

/* ---- taking down ---- */

struct route_builder *route_builder_new(void)
{
    struct route_builder *builder = calloc(1, sizeof(*builder));
    char **none =
        builder ? route_vec_add(&builder->names, sizeof(char *), 1) : NULL;

    if (none) {
        *none = strdup("");
    }
    if (!none || !*none) {
        route_builder_free(builder);
        return NULL;
    }
    return builder;
}

void route_builder_free(struct route_builder *builder)
{
    if (!builder) {
        return;
    }
    for (size_t i = 0; i < builder->answers.count; i++) {
        struct route_answer *answer =
            &ROUTE_VEC(struct route_answer, builder->answers)[i];
        free(answer->given.data);
        free(answer->text.data);
        free(answer->columns.data);
    }
    for (size_t i = 0; i < builder->names.count; i++) {
        free(ROUTE_VEC(char *, builder->names)[i]);
    }
    free(builder->answers.data);
    free(builder->names.data);
    free(builder);
}

void route_builder_distrust(struct route_builder *builder, char strategy)
{
    builder->distrust_range |= strategy == 'r';
    builder->distrust_list |= strategy == 'l';
    builder->distrust_hash |= strategy == 'h';
}

static bool know_group(struct route_builder *builder, unsigned group)
{
    if (group >= ROUTE_MAP_GROUPS) {
        builder->wrong = true;
        return false;
    }
    if (group > builder->top) {
        builder->top = group;
    }
    return true;
}

void route_builder_answer(struct route_builder *builder, unsigned group)
{
    if (!know_group(builder, group)) {
        return;
    }
    struct route_answer *answer =
        route_vec_add(&builder->answers, sizeof(*answer), 1);
    if (!answer) {
        builder->memory = true;
        return;
    }
    answer->group = (uint16_t)group;
    route_groups_add(&builder->answered, group);
}

static struct route_answer *latest(struct route_builder *builder)
{
    if (builder->answers.count == 0) {
        return NULL;
    }
    return &ROUTE_VEC(struct route_answer,
                      builder->answers)[builder->answers.count - 1];
}

/* Checks the place in the tree, and takes down what inner nodes and leaves
   have in common. */
static struct route_given *take_down(struct route_builder *builder,
                                     int32_t parent, const char *bound,
                                     size_t length)
{
    struct route_answer *answer = latest(builder);
    unsigned depth = 0;

    if (builder->wrong || builder->memory) {
        return NULL;
    }
    builder->wrong = !answer || (parent < 0) != (answer->given.count == 0) ||
                     parent >= (int64_t)answer->given.count ||
                     answer->given.count >= INT32_MAX || length > INT32_MAX;
    if (!builder->wrong && parent >= 0) {
        const struct route_given *above =
            &ROUTE_VEC(struct route_given, answer->given)[parent];
        depth = above->depth + 1u;
        builder->wrong = !above->inner || depth > ROUTE_MAP_DEPTH;
    }
    if (builder->wrong) {
        return NULL;
    }
    length = parent < 0 ? 0 : length;
    size_t at = answer->text.count;
    char *text = length > 0 ? route_vec_add(&answer->text, 1, length) : NULL;
    struct route_given *given =
        text || length == 0 ? route_vec_add(&answer->given, sizeof(*given), 1)
                            : NULL;
    if (!given) {
        builder->memory = true;
        return NULL;
    }
    if (length > 0) {
        memcpy(text, bound, length);
    }
    given->hash = XXH3_64bits(length > 0 ? bound : "", length);
    given->text = at;
    given->length = (uint32_t)length;
    given->parent = parent < 0 ? ROUTE_REF_NONE : (uint32_t)parent;
    given->depth = (uint8_t)depth;
    return given;
}

/* The number of a column name; 0 is every expression. */
static bool name_number(struct route_builder *builder, const char *name,
                        uint32_t *number)
{
    char **names = ROUTE_VEC(char *, builder->names);

    if (!name || !*name) {
        *number = 0;
        return true;
    }
    for (size_t i = 1; i < builder->names.count; i++) {
        if (strcmp(names[i], name) == 0) {
            *number = (uint32_t)i;
            return true;
        }
    }
    char *copy = strdup(name);
    char **to = copy ? route_vec_add(&builder->names, sizeof(char *), 1) : NULL;
    if (!to) {
        free(copy);
        builder->memory = true;
        return false;
    }
    *to = copy;
    *number = (uint32_t)(builder->names.count - 1);
    return true;
}

static bool take_columns(struct route_builder *builder,
                         const struct route_column *column, size_t count)
{
    struct route_answer *answer = latest(builder);

    for (size_t i = 0; i < count; i++) {
        uint32_t name;
        if (!name_number(builder, column[i].name, &name)) {
            return false;
        }
        struct route_given_column *to =
            route_vec_add(&answer->columns, sizeof(*to), 1);
        if (!to) {
            builder->memory = true;
            return false;
        }
        to->name = name;
        to->typing = column[i].typing;
        to->typing.safe = to->typing.safe && name != 0;
    }
    return true;
}

int32_t route_builder_inner(struct route_builder *builder, int32_t parent,
                            const char *bound, size_t length, char strategy,
                            bool ask, const struct route_column *column,
                            size_t count)
{
    if (count == 0 || count > ROUTE_KEY_PARTS) {
        builder->wrong = true;
    }
    struct route_given *given = take_down(builder, parent, bound, length);
    if (!given) {
        return -1;
    }
    given->inner = true;
    given->strategy = strategy;
    given->ask = ask || (strategy != 'r' && strategy != 'l' && strategy != 'h');
    given->columns = (uint8_t)count;
    given->column = (uint32_t)latest(builder)->columns.count;
    if (!take_columns(builder, column, count)) {
        return -1;
    }
    return (int32_t)latest(builder)->given.count - 1;
}

int32_t route_builder_leaf(struct route_builder *builder, int32_t parent,
                           const char *bound, size_t length,
                           enum route_claim claim, unsigned group)
{
    if (claim == ROUTE_CLAIM_POINTER && !know_group(builder, group)) {
        return -1;
    }
    struct route_given *given = take_down(builder, parent, bound, length);
    if (!given) {
        return -1;
    }
    given->claim = (uint8_t)claim;
    given->group = (uint16_t)(claim == ROUTE_CLAIM_POINTER ? group : 0);
    return (int32_t)latest(builder)->given.count - 1;
}

struct route_map *route_builder_finish(struct route_builder *builder,
                                       struct why *why)
{
    if (builder->wrong) {
        why_set(why, WHY_GENERAL,
                "ownership was described in a way that "
                "makes no tree of partitions");
        return NULL;
    }
    struct route_map *map = builder->memory ? NULL : calloc(1, sizeof(*map));
    if (!map) {
        why_memory(why);
        return NULL;
    }
    if (!route_merge(builder, map, why)) {
        route_map_free(map);
        return NULL;
    }
    return map;
}

void route_map_free(struct route_map *map)
{
    if (!map) {
        return;
    }
    free(map->fixed.data);
    free(map->cells.data);
    free(map->pairs.data);
    free(map->refs.data);
    free(map->bytes.data);
    free(map->views.data);
    free(map->inners.data);
    free(map->claims.data);
    free(map->sets.data);
    free(map->states.data);
    free(map->columns.data);
    free(map->kids.data);
    free(map->names.data);
    free(map->order.data);
    free(map);
}
