/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one instance said about ownership: a tree of partitions and, for each
 * leaf, whether the instance stores it, or whom it points at.  Immutable once
 * settled, and shared by reference.
 *
 * All instances of a fleet usually give the same tree, so trees are shared: a
 * reply is brought into an order that does not depend on the instance
 * (topology_reply_settle()), and then an equal tree of an earlier reply takes
 * the place of its own.  What is left is four bytes a leaf.
 *
 * Knows no fleet and takes no lock.
 */
#ifndef TOPOLOGY_REPLY_H
#define TOPOLOGY_REPLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route_map.h"
#include "text.h"
#include "why.h"

enum {
    TOPOLOGY_LEAF = -1,    /* a shape: none */
    TOPOLOGY_NO_CLAIM = 0, /* an inner node */
    TOPOLOGY_LOCAL = 1,    /* stored here */
    TOPOLOGY_POINTER = 2   /* + number of the foreign server */
};

/* Strategy and key columns of one or more inner nodes. */
struct topology_shape {
    uint32_t column; /* the first in the tree's columns */
    uint16_t columns;
    char strategy;   /* r, l, h */
    bool ask;        /* unfit for the client, whatever its types say */
};

struct topology_column {
    uint32_t name; /* in the tree's text; an empty one is an expression */
    struct route_typing typing;
};

struct topology_node {
    uint32_t parent; /* UINT32_MAX: the root */
    int32_t shape;   /* TOPOLOGY_LEAF or an index */
    uint32_t text, length; /* its bound, in the tree's text */
};

struct topology_tree {
    _Atomic uint32_t refs;
    struct topology_node *nodes;
    uint32_t count, room;
    struct topology_shape *shapes;
    uint32_t shape_count, shape_room;
    struct topology_column *columns;
    uint32_t column_count, column_room;
    struct text text;
};

/* Where foreign partitions are said to be. */
struct topology_server {
    char *name, *host, *port, *database; /* "" = not said */
    int32_t instance; /* -1: none of ours */
};

struct topology_reply {
    _Atomic uint32_t refs;
    struct topology_tree *tree; /* no nodes: it has no partitions */
    uint32_t *claims;           /* one for each node */
    uint32_t claim_room;
    struct topology_server *servers;
    uint32_t server_count;
    uint64_t *local; /* what stands for the leaves stored here, sorted */
    uint32_t local_count;
    bool distrust;   /* the client's hash is not the instance's */
    bool otherwise;  /* owns what no other instance claims */
    bool numbers;    /* rows: every value is a whole number */
    char kind;       /* rows: r, l, h; a table: 0 */
    bool failed;     /* out of memory while it was made */
    char fingerprint[33]; /* of the table when it was read; "" = none */
    char *note;      /* a sentence about what is missing, or NULL */

    /* topology_map.c's, while it makes a map: what stands for the owner of
       every leaf, by the grouping of that number */
    uint64_t digest, grouping;
};

/* An empty one with one reference; NULL: out of memory. */
struct topology_reply *topology_reply_new(void);
struct topology_reply *topology_reply_retain(struct topology_reply *reply);
void topology_reply_release(struct topology_reply *reply); /* NULL is fine */

/* Adds strategy and columns; equal ones next to each other are one.  Returns
   their number; -1: out of memory (reply->failed). */
int32_t topology_reply_shape(struct topology_reply *reply, char strategy,
                             bool ask, const struct route_column *columns,
                             size_t count);

/* Adds a node behind its parent (-1 = the root), and returns its number; -1:
   out of memory, or more than 2^32 bytes of bounds (reply->failed). */
int32_t topology_reply_add(struct topology_reply *reply, int32_t parent,
                           const char *bound, size_t length, int32_t shape,
                           uint32_t claim);

/* Keeps a sentence (the first one stays). */
void topology_reply_note(struct topology_reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Orders the nodes, and notes what is local.  No node may be added after
   that.  False: out of memory, now or before. */
bool topology_reply_settle(struct topology_reply *reply);

/* Has `reply` use the tree of `other` if they are equal; true if so. */
bool topology_reply_share(struct topology_reply *reply,
                          const struct topology_reply *other);

/* Do they say the same?  Shares the tree, as above. */
bool topology_reply_same(struct topology_reply *reply,
                         const struct topology_reply *other);

/* Does each of the two store a leaf that the other does not (rules §1.7)? */
bool topology_reply_apart(const struct topology_reply *a,
                          const struct topology_reply *b);

/* Gives the builder this reply as an answer of `group`.  owner[s] is the group
   that server s is at, or -1; typing NULL: as the reply has it.  Failures
   stick to the builder. */
void topology_reply_feed(const struct topology_reply *reply,
                         struct route_builder *builder, unsigned group,
                         const int32_t *owner,
                         const struct route_typing *typing);

#endif
