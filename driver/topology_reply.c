/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Making, ordering, sharing and handing on replies.
 *
 * The order: by depth, then by a hash of the bounds from the root downwards.
 * It is the same on every instance, whatever object numbers or leaf names it
 * uses, since a leaf is known by its path of bounds alone (facts §D1).
 */
#include "autoconf.h"

#include "topology_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NO_PARENT UINT32_MAX

struct topology_reply *topology_reply_new(void)
{
    struct topology_reply *reply = calloc(1, sizeof *reply);
    struct topology_tree *tree = calloc(1, sizeof *tree);

    if (!reply || !tree) {
        free(reply);
        free(tree);
        return NULL;
    }
    atomic_init(&reply->refs, 1);
    atomic_init(&tree->refs, 1);
    reply->tree = tree;
    return reply;
}

struct topology_reply *topology_reply_retain(struct topology_reply *reply)
{
    atomic_fetch_add(&reply->refs, 1);
    return reply;
}

static void release_tree(struct topology_tree *tree)
{
    if (atomic_fetch_sub(&tree->refs, 1) == 1) {
        free(tree->nodes);
        free(tree->shapes);
        free(tree->columns);
        text_free(&tree->text);
        free(tree);
    }
}

void topology_reply_release(struct topology_reply *reply)
{
    if (!reply || atomic_fetch_sub(&reply->refs, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; i < reply->server_count; i++) {
        free(reply->servers[i].name);
        free(reply->servers[i].host);
        free(reply->servers[i].port);
        free(reply->servers[i].database);
    }
    release_tree(reply->tree);
    free(reply->servers);
    free(reply->claims);
    free(reply->local);
    free(reply->note);
    free(reply);
}

/* ---- making ------------------------------------------------------------ */

/* Room for one more of `size` bytes. */
static bool grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    uint32_t want = *room < 8 ? 8 : *room + *room / 2;
    void *at;

    if (count < *room) {
        return true;
    }
    memcpy(&at, array, sizeof at); /* whatever it points at */
    at = want > *room ? reallocarray(at, want, size) : NULL;
    if (!at) {
        return false;
    }
    memcpy(array, &at, sizeof at);
    *room = want;
    return true;
}

static bool add_text(struct topology_tree *tree, const char *bytes,
                     size_t length, uint32_t *at)
{
    if (tree->text.length + length >= UINT32_MAX) {
        return false;
    }
    *at = (uint32_t)tree->text.length;
    text_append_bytes(&tree->text, bytes, length);
    return !tree->text.failed;
}

static const char *column_name(const struct topology_tree *tree, uint32_t i)
{
    return text_string(&tree->text) + tree->columns[i].name;
}

static bool same_shape(const struct topology_tree *tree,
                       const struct topology_shape *shape, char strategy,
                       bool ask, const struct route_column *columns,
                       size_t count)
{
    if (shape->strategy != strategy || shape->ask != ask ||
        shape->columns != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t k = shape->column + (uint32_t)i;
        const char *name = columns[i].name ? columns[i].name : "";
        if (strcmp(column_name(tree, k), name) != 0 ||
            !route_type_same(&tree->columns[k].typing, &columns[i].typing)) {
            return false;
        }
    }
    return true;
}

static bool add_column(struct topology_tree *tree,
                       const struct route_column *column)
{
    const char *name = column->name ? column->name : "";
    struct topology_column *to;

    if (!grow(&tree->columns, tree->column_count, &tree->column_room,
              sizeof *tree->columns)) {
        return false;
    }
    to = &tree->columns[tree->column_count++];
    to->typing = column->typing;
    return add_text(tree, name, strlen(name) + 1, &to->name);
}

int32_t topology_reply_shape(struct topology_reply *reply, char strategy,
                             bool ask, const struct route_column *columns,
                             size_t count)
{
    struct topology_tree *tree = reply->tree;
    struct topology_shape *shape;

    /* sub-partitions of one parent follow each other and are alike: a look at
       the latest few is enough */
    for (uint32_t n = 1; n <= 8 && n <= tree->shape_count; n++) {
        if (same_shape(tree, &tree->shapes[tree->shape_count - n], strategy,
                       ask, columns, count)) {
            return (int32_t)(tree->shape_count - n);
        }
    }
    if (!grow(&tree->shapes, tree->shape_count, &tree->shape_room,
              sizeof *tree->shapes)) {
        reply->failed = true;
        return -1;
    }
    shape = &tree->shapes[tree->shape_count];
    *shape = (struct topology_shape){ .column = tree->column_count,
                                      .columns = (uint16_t)count,
                                      .strategy = strategy, .ask = ask };
    for (size_t i = 0; i < count; i++) {
        if (!add_column(tree, &columns[i])) {
            reply->failed = true;
            return -1;
        }
    }
    return (int32_t)tree->shape_count++;
}

int32_t topology_reply_add(struct topology_reply *reply, int32_t parent,
                           const char *bound, size_t length, int32_t shape,
                           uint32_t claim)
{
    struct topology_tree *tree = reply->tree;
    struct topology_node *node;

    if (reply->failed || tree->count >= INT32_MAX ||
        !grow(&tree->nodes, tree->count, &tree->room, sizeof *tree->nodes) ||
        !grow(&reply->claims, tree->count, &reply->claim_room,
              sizeof *reply->claims)) {
        reply->failed = true;
        return -1;
    }
    node = &tree->nodes[tree->count];
    *node = (struct topology_node){
        .parent = parent < 0 ? NO_PARENT : (uint32_t)parent, .shape = shape,
        .length = (uint32_t)length,
    };
    if (!add_text(tree, bound, length, &node->text)) {
        reply->failed = true;
        return -1;
    }
    reply->claims[tree->count] = claim;
    return (int32_t)tree->count++;
}

void topology_reply_note(struct topology_reply *reply, const char *format, ...)
{
    va_list arguments;

    if (reply->note) {
        return;
    }
    va_start(arguments, format);
    if (vasprintf(&reply->note, format, arguments) < 0) {
        reply->note = NULL;
        reply->failed = true;
    }
    va_end(arguments);
}

/* ---- ordering ---------------------------------------------------------- */

struct place {
    uint32_t depth;
    uint32_t was;
    uint64_t hash; /* of the bounds from the root downwards */
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->depth != y->depth) {
        return x->depth < y->depth ? -1 : 1;
    }
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void find_places(const struct topology_tree *tree, struct place *places)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct topology_node *node = &tree->nodes[i];
        const struct place *above =
            node->parent == NO_PARENT ? NULL : &places[node->parent];
        places[i] = (struct place){
            .depth = above ? above->depth + 1 : 0, .was = i,
            .hash = XXH3_64bits_withSeed(
                text_string(&tree->text) + node->text, node->length,
                above ? above->hash : 0),
        };
    }
}

/* The columns of a shape, copied behind those of `to`. */
static bool copy_shape(struct topology_tree *to,
                       const struct topology_tree *from, uint32_t shape)
{
    const struct topology_shape *old = &from->shapes[shape];
    struct topology_shape *made;

    if (!grow(&to->shapes, to->shape_count, &to->shape_room,
              sizeof *to->shapes)) {
        return false;
    }
    made = &to->shapes[to->shape_count++];
    *made = *old;
    made->column = to->column_count;
    for (uint32_t i = 0; i < old->columns; i++) {
        struct route_column column = {
            .name = column_name(from, old->column + i),
            .typing = from->columns[old->column + i].typing,
        };
        if (!add_column(to, &column)) {
            return false;
        }
    }
    return true;
}

/* Rewrites tree and claims in the order of places; moved[] and shape_of[] are
   scratch for where nodes and shapes have gone. */
static bool rewrite(struct topology_reply *reply, struct topology_tree *to,
                    const struct place *places, uint32_t *claims,
                    uint32_t *moved, int32_t *shape_of)
{
    const struct topology_tree *from = reply->tree;

    for (uint32_t i = 0; i < from->count; i++) {
        moved[places[i].was] = i;
    }
    for (uint32_t i = 0; i < from->count; i++) {
        const struct topology_node *old = &from->nodes[places[i].was];
        struct topology_node *node = &to->nodes[i];
        *node = *old;
        if (old->parent != NO_PARENT) {
            node->parent = moved[old->parent];
        }
        if (old->shape >= 0 && shape_of[old->shape] < 0) {
            shape_of[old->shape] = (int32_t)to->shape_count;
            if (!copy_shape(to, from, (uint32_t)old->shape)) {
                return false;
            }
        }
        node->shape = old->shape < 0 ? old->shape : shape_of[old->shape];
        if (!add_text(to, text_string(&from->text) + old->text, old->length,
                      &node->text)) {
            return false;
        }
        claims[i] = reply->claims[places[i].was];
    }
    return true;
}

static bool note_local(struct topology_reply *reply,
                       const struct place *places)
{
    uint32_t count = reply->tree->count;

    reply->local = malloc((count + 1) * sizeof *reply->local);
    for (uint32_t i = 0; reply->local && i < count; i++) {
        if (reply->claims[i] == TOPOLOGY_LOCAL) {
            reply->local[reply->local_count++] = places[i].hash;
        }
    }
    if (reply->local && reply->local_count < count) {
        void *less = realloc(reply->local, (reply->local_count + 1) *
                                               sizeof *reply->local);
        reply->local = less ? less : reply->local;
    }
    if (reply->local) {
        qsort(reply->local, reply->local_count, sizeof *reply->local,
              compare_words);
    }
    return reply->local != NULL;
}

bool topology_reply_settle(struct topology_reply *reply)
{
    struct topology_tree *from = reply->tree, *to;
    size_t count = from->count, shapes = from->shape_count;
    struct place *places = malloc((count + 1) * sizeof *places);
    uint32_t *claims = malloc((count + 1) * sizeof *claims);
    uint32_t *moved = malloc((count + 1) * sizeof *moved);
    int32_t *shape_of = malloc((shapes + 1) * sizeof *shape_of);
    bool ok = !reply->failed && places && claims && moved && shape_of;

    to = calloc(1, sizeof *to);
    if (to) {
        atomic_init(&to->refs, 1);
        to->nodes = malloc((count + 1) * sizeof *to->nodes);
        to->count = to->room = from->count;
    }
    ok = ok && to && to->nodes;
    if (ok) {
        memset(shape_of, 0xff, (shapes + 1) * sizeof *shape_of);
        find_places(from, places);
        qsort(places, count, sizeof *places, compare_places);
        ok = rewrite(reply, to, places, claims, moved, shape_of);
    }
    if (ok) {
        release_tree(from);
        free(reply->claims);
        reply->tree = to;
        reply->claims = claims;
        reply->claim_room = (uint32_t)count + 1;
        ok = note_local(reply, places);
    } else {
        free(claims);
        if (to) {
            release_tree(to);
        }
    }
    free(places);
    free(moved);
    free(shape_of);
    reply->failed = !ok;
    return ok;
}

/* ---- comparing --------------------------------------------------------- */

static bool same_shapes(const struct topology_tree *a,
                        const struct topology_tree *b)
{
    if (a->shape_count != b->shape_count ||
        a->column_count != b->column_count) {
        return false;
    }
    for (uint32_t i = 0; i < a->shape_count; i++) {
        const struct topology_shape *x = &a->shapes[i], *y = &b->shapes[i];
        if (x->column != y->column || x->columns != y->columns ||
            x->strategy != y->strategy || x->ask != y->ask) {
            return false;
        }
    }
    for (uint32_t i = 0; i < a->column_count; i++) {
        if (a->columns[i].name != b->columns[i].name ||
            !route_type_same(&a->columns[i].typing, &b->columns[i].typing)) {
            return false;
        }
    }
    return true;
}

bool topology_reply_share(struct topology_reply *reply,
                          const struct topology_reply *other)
{
    struct topology_tree *a = reply->tree, *b = other->tree;

    if (a == b) {
        return true;
    }
    if (a->count != b->count || a->text.length != b->text.length ||
        !same_shapes(a, b) || a->count == 0 ||
        memcmp(a->nodes, b->nodes, a->count * sizeof *a->nodes) != 0 ||
        memcmp(a->text.data, b->text.data, a->text.length) != 0) {
        return false;
    }
    atomic_fetch_add(&b->refs, 1);
    release_tree(a);
    reply->tree = b;
    return true;
}

bool topology_reply_same(struct topology_reply *reply,
                         const struct topology_reply *other)
{
    return other && reply->kind == other->kind &&
           reply->numbers == other->numbers &&
           reply->otherwise == other->otherwise &&
           reply->distrust == other->distrust && !reply->server_count &&
           !other->server_count && topology_reply_share(reply, other) &&
           (reply->tree->count == 0 ||
            memcmp(reply->claims, other->claims,
                   reply->tree->count * sizeof *reply->claims) == 0);
}

bool topology_reply_apart(const struct topology_reply *a,
                          const struct topology_reply *b)
{
    bool only_a = false, only_b = false;
    uint32_t i = 0, k = 0;

    while (!(only_a && only_b) &&
           (i < a->local_count || k < b->local_count)) {
        if (k >= b->local_count ||
            (i < a->local_count && a->local[i] < b->local[k])) {
            only_a = true;
            i++;
        } else if (i >= a->local_count || a->local[i] > b->local[k]) {
            only_b = true;
            k++;
        } else {
            i++;
            k++;
        }
    }
    return only_a && only_b;
}

/* ---- handing on -------------------------------------------------------- */

static int32_t feed_inner(const struct topology_tree *tree,
                          struct route_builder *builder, int32_t parent,
                          const struct topology_node *node,
                          const struct route_typing *typing)
{
    const struct topology_shape *shape = &tree->shapes[node->shape];
    struct route_column columns[ROUTE_KEY_PARTS];

    for (uint32_t i = 0; i < shape->columns && i < ROUTE_KEY_PARTS; i++) {
        const char *name = column_name(tree, shape->column + i);
        columns[i].name = *name ? name : NULL;
        columns[i].typing =
            typing ? *typing : tree->columns[shape->column + i].typing;
    }
    return route_builder_inner(builder, parent,
                               text_string(&tree->text) + node->text,
                               node->length, shape->strategy, shape->ask,
                               columns, shape->columns);
}

void topology_reply_feed(const struct topology_reply *reply,
                         struct route_builder *builder, unsigned group,
                         const int32_t *owner,
                         const struct route_typing *typing)
{
    const struct topology_tree *tree = reply->tree;

    route_builder_answer(builder, group);
    if (reply->distrust) {
        route_builder_distrust(builder, 'h');
    }
    /* the builder numbers in the order of adding, as the tree does */
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct topology_node *node = &tree->nodes[i];
        int32_t parent =
            node->parent == NO_PARENT ? -1 : (int32_t)node->parent;
        uint32_t claim = reply->claims[i];
        enum route_claim said = ROUTE_CLAIM_LOCAL;
        int32_t at = 0;

        if (node->shape >= 0) {
            feed_inner(tree, builder, parent, node, typing);
            continue;
        }
        if (claim >= TOPOLOGY_POINTER) {
            at = owner[claim - TOPOLOGY_POINTER];
            said = at < 0 ? ROUTE_CLAIM_UNRESOLVED : ROUTE_CLAIM_POINTER;
        }
        route_builder_leaf(builder, parent,
                           text_string(&tree->text) + node->text,
                           node->length, said, at < 0 ? 0 : (unsigned)at);
    }
}
