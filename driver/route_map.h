/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The map from keys to groups: what all instances answered about one
 * partitioned table, merged into one immutable tree that is asked without
 * lock or allocation.
 *
 * It is built from answers.  An answer is one group's view of the partition
 * tree (whoever learns picks one member per group, rules §1.2): inner nodes
 * with their strategy and key columns, and leaves with what the group says
 * about them: its own (local storage), or a pointer to another group (foreign
 * partition).  Answers are merged by the path of bound texts.  Where they
 * disagree about the partitions of one node, the key is looked up in each
 * answer's own partitions of that node, and what those leaves claim is united.
 *
 * What a key's claims come to (rules §1.3): one local claim is the owner, two
 * are MOVING.  Without one the pointers count, but not those at a group that
 * has answered and does not claim the leaf; one group pointed at is the owner
 * even if it never answered, two are MOVING; none but unresolved ones is
 * UNRESOLVED; none at all is MOVING.
 *
 * How sub-keys meet key columns: walking down from the root, every key column
 * that was not met before takes the next sub-key; a column that decides again
 * further down (RANGE(ts) below RANGE(ts)) is given the same sub-key.  A key
 * with fewer sub-keys than the way has columns is a prefix key and may have
 * several owners.  Sub-trees may differ in their columns.
 */
#ifndef ROUTE_MAP_H
#define ROUTE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route_key.h"
#include "route_type.h"
#include "why.h"

enum {
    ROUTE_MAP_GROUPS = 1024, /* groups are 0 .. 1023 */
    ROUTE_MAP_DEPTH = 32     /* levels of sub-partitioning */
};

struct route_groups {
    uint64_t bits[ROUTE_MAP_GROUPS / 64];
};

static inline bool route_groups_has(const struct route_groups *groups,
                                    unsigned group)
{
    return groups->bits[group / 64] >> group % 64 & 1;
}

static inline void route_groups_add(struct route_groups *groups,
                                    unsigned group)
{
    groups->bits[group / 64] |= UINT64_C(1) << group % 64;
}

/* ---- building ---- */

struct route_column {
    const char *name; /* NULL: an expression, which only the server knows */
    struct route_typing typing;
};

enum route_claim {
    ROUTE_CLAIM_LOCAL,     /* the answering group stores it */
    ROUTE_CLAIM_POINTER,   /* it says that another group does */
    ROUTE_CLAIM_UNRESOLVED /* a pointer at we know not whom */
};

struct route_builder;
struct route_map;

/* NULL: out of memory. */
struct route_builder *route_builder_new(void);

/* NULL is allowed. */
void route_builder_free(struct route_builder *builder);

/* The server is to judge every level of this strategy (r, l, h): the self-test
   of the hash failed, say.  For all answers, earlier and later ones. */
void route_builder_distrust(struct route_builder *builder, char strategy);

/* Begins an answer of group; what is added from here on belongs to it.  A
   group whose answer is empty has answered, and claims nothing.  A group may
   bring several answers (map files that give it ranges and lists).
   Failures of this and the next two (no memory; a group, parent or number of
   columns that cannot be) stick: route_builder_finish() reports them. */
void route_builder_answer(struct route_builder *builder, unsigned group);

/* Adds a partitioned table, or a leaf, and returns its number in this answer,
   -1 after a failure.  The root comes first, with parent -1 (its bound is not
   looked at); everything else names a parent that was added before.  bound is
   pg_get_expr(relpartbound, 0), copied.  ask: the server is to judge this
   level.  group is only looked at with ROUTE_CLAIM_POINTER. */
int32_t route_builder_inner(struct route_builder *builder, int32_t parent,
                            const char *bound, size_t length, char strategy,
                            bool ask, const struct route_column *column,
                            size_t count);
int32_t route_builder_leaf(struct route_builder *builder, int32_t parent,
                           const char *bound, size_t length,
                           enum route_claim claim, unsigned group);

/* Makes the map of all answers; the builder can only be freed afterwards.
   NULL: *why says what failed. */
struct route_map *route_builder_finish(struct route_builder *builder,
                                       struct why *why);

/* NULL is allowed. */
void route_map_free(struct route_map *map);

/* ---- asking ---- */

enum route_map_result {
    ROUTE_MAP_OWNER,      /* one group */
    ROUTE_MAP_SEVERAL,    /* a prefix key; its leaves have several owners */
    ROUTE_MAP_NONE,       /* no partition takes the key */
    ROUTE_MAP_MOVING,     /* claims that contradict each other */
    ROUTE_MAP_UNRESOLVED, /* only pointers at we know not whom */
    ROUTE_MAP_ASK_SERVER, /* not for the client to judge */
    ROUTE_MAP_BAD_KEY,    /* does not fit the key columns (22018) */
    ROUTE_MAP_EMPTY       /* nothing is known yet */
};

struct route_found {
    enum route_map_result result;
    uint16_t group; /* OWNER */
    /* SEVERAL: the owners.  MOVING: groups that claim it, as far as known (two
       at most for one leaf).  Else not filled. */
    struct route_groups groups;
};

/* Who owns key?  A prefix key of which one leaf is MOVING or UNRESOLVED is so
   itself.  A prefix that ends on a level which the server is to judge counts
   all its partitions.  BAD_KEY: *why (may be NULL) names the sub-key, its
   column and type, or how many sub-keys are too many (WHY_KEY).  Sub-keys
   beyond the columns that lead to a leaf are ignored, since parts of a tree
   may be partitioned less far; more than any leaf has are BAD_KEY, unless no
   group stores that leaf itself: it may be partitioned further over there.
   Allocates nothing, takes no lock, reads no clock; any number of threads. */
void route_map_find(const struct route_map *map, const struct route_key *key,
                    struct route_found *found, struct why *why);

/* The same for a leaf that the server named (ASK_SERVER): its bounds from the
   partition of the root downwards, as texts of the same form as were given to
   the builder.  NONE: there is no such leaf here. */
struct route_step {
    const char *bound;
    size_t length;
};
void route_map_find_path(const struct route_map *map,
                         const struct route_step *step, size_t count,
                         struct route_found *found);

/* ---- looking around ---- */

struct route_counts {
    size_t inner, leaves; /* merged over the answers; the root is inner */
    size_t owned, moving, unresolved; /* of the leaves */
    size_t ask;                       /* levels for the server to judge */
    size_t bytes; /* memory that the map takes, for the budget */
};
void route_map_count(const struct route_map *map, struct route_counts *counts);

/* The distinct key columns in the order in which they are first met from the
   root downwards, level by level; for messages.  False: no such column. */
bool route_map_column(const struct route_map *map, size_t index,
                      struct route_column *column);

struct route_visit {
    const char *path; /* bounds, joined by " / "; "" for the root.  Cut with
                         "..." at some 1,000 bytes; valid during the call */
    unsigned depth;   /* 0 = root */
    bool leaf;
    /* a leaf's owner: OWNER, MOVING, UNRESOLVED as by route_map_find() */
    struct route_found found;
    /* an inner node, once for each way in which the answers partition it */
    char strategy;
    bool ask;
    const struct route_column *column;
    size_t columns;
    uint32_t modulus; /* strategy h: the greatest */
};

/* Calls visit for every inner node and leaf, parents first, until it returns
   false.  Uses the stack only. */
void route_map_walk(const struct route_map *map,
                    bool (*visit)(const struct route_visit *visit, void *to),
                    void *to);

#endif
