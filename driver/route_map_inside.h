/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the files route_map_*.c share and nobody else sees: the finished map,
 * and the tables that exist while it is built.
 *
 * The finished map is a handful of arrays.  A *ref* is what an interval, a
 * list value or a remainder leads to: a leaf's claims (an index into claims[];
 * equal claims are stored once) or, with the highest bit, an inner node.  So a
 * partition of a RANGE on one bigint, or of a LIST with one value each, costs 8
 * bytes of boundary and 4 of ref, one of a HASH 8 of modulus and remainder and
 * twice 4 of ref.
 *
 * An inner node has one *view* for each way in which answers partition it;
 * one, if they agree.  Views of one strategy whose partitions do not
 * contradict each other (a range that only one answer has) become one view.
 */
#ifndef ROUTE_MAP_INSIDE_H
#define ROUTE_MAP_INSIDE_H

#include "route_map.h"

#define ROUTE_REF_NONE  UINT32_MAX
#define ROUTE_REF_INNER UINT32_C(0x80000000)

enum { ROUTE_NO_GROUP = UINT16_MAX };

/* The two smallest groups of each kind; more than two change nothing. */
struct route_claims {
    uint16_t local[2];
    uint16_t pointer[2]; /* at groups that have not answered */
    uint16_t unresolved; /* 0 or 1 */
};

#define ROUTE_CLAIMS_EMPTY                                                     \
    {                                                                          \
        {ROUTE_NO_GROUP, ROUTE_NO_GROUP}, {ROUTE_NO_GROUP, ROUTE_NO_GROUP}, 0  \
    }

/* A boundary or list value that is not one int64 by itself. */
struct route_cell {
    union {
        int64_t fixed;
        uint64_t at; /* in bytes[] */
    };
    uint32_t length;
    int8_t edge; /* -1 MINVALUE, 0 a value, 1 MAXVALUE */
};

enum route_index {
    ROUTE_INDEX_NONE,  /* ask: no index, only kids */
    ROUTE_INDEX_FIXED, /* one column, at -> fixed[] */
    ROUTE_INDEX_CELLS, /* at -> cells[], columns of them each */
    ROUTE_INDEX_HASH   /* at -> pairs[] */
};

struct route_pair {
    uint32_t modulus, remainder;
};

/* A partition whose bound text cannot be made from the index. */
struct route_kid {
    uint64_t text; /* in names[] */
    uint32_t length;
    uint32_t ref;
};

struct route_view {
    char strategy;
    bool ask;
    uint8_t index; /* enum route_index */
    uint8_t columns;
    uint32_t column;  /* first in columns[] */
    uint32_t modulus; /* HASH: size of the table behind the refs of the
                         pairs; 0 = no table, look among the pairs */
    uint32_t count;   /* boundaries, values or pairs */
    uint32_t kids;
    size_t at;
    size_t refs; /* RANGE: count + 1, [0] is below the first boundary */
    size_t kid;
    uint32_t null_ref, default_ref;
};

struct route_inner {
    uint32_t view, views;
    uint32_t claims; /* of answers for which it is a leaf, or below one */
};

/* Owners and states of all leaves of a node: one of these and words uint64_t
   of groups for each inner node. */
enum { ROUTE_SET_MOVING = 1, ROUTE_SET_UNRESOLVED = 2 };

/* An array that grows.  Elements are of one size, which each call names. */
struct route_vec {
    void *data;
    size_t count, room;
};

/* Room for more elements of size bytes at the end, zeroed; NULL: no memory,
   nothing changed. */
void *route_vec_add(struct route_vec *vec, size_t size, size_t more);

struct route_map {
    uint32_t root;  /* a ref; NONE = no answer */
    uint32_t width; /* the most key columns on a way down */
    bool repeats;   /* a column decides twice on some way down */
    bool deeper;    /* a leaf that no group stores, as far as known: there may
                       be more key columns below it */
    uint16_t words;
    struct route_vec fixed;   /* int64_t */
    struct route_vec cells;   /* struct route_cell */
    struct route_vec pairs;   /* struct route_pair */
    struct route_vec refs;    /* uint32_t */
    struct route_vec bytes;   /* of cells */
    struct route_vec views;   /* struct route_view */
    struct route_vec inners;  /* struct route_inner */
    struct route_vec claims;  /* struct route_claims */
    struct route_vec sets;    /* uint64_t, words for each inner */
    struct route_vec states;  /* uint8_t, ROUTE_SET_* for each inner */
    struct route_vec columns; /* struct route_column */
    struct route_vec kids;    /* struct route_kid */
    struct route_vec names;   /* char: column names and kids' bounds */
    struct route_vec order;   /* uint32_t: columns[] for messages */
    struct route_counts counts;
    uint32_t *memo; /* while building: where claims were stored, by hash */
};

enum { ROUTE_CLAIMS_MEMO = 4096 };

#define ROUTE_VEC(type, vec) ((type *)(vec).data)

static inline const struct route_view *
route_view_at(const struct route_map *map, size_t i)
{
    return &ROUTE_VEC(struct route_view, map->views)[i];
}

static inline const struct route_inner *
route_inner_at(const struct route_map *map, uint32_t ref)
{
    return &ROUTE_VEC(struct route_inner, map->inners)[ref & ~ROUTE_REF_INNER];
}

static inline const struct route_claims *
route_claims_at(const struct route_map *map, uint32_t ref)
{
    return &ROUTE_VEC(struct route_claims, map->claims)[ref];
}

static inline const uint32_t *route_refs_of(const struct route_map *map,
                                            const struct route_view *view)
{
    return ROUTE_VEC(uint32_t, map->refs) + view->refs;
}

static inline uint32_t route_ref_at(const struct route_map *map,
                                    const struct route_view *view, size_t i)
{
    return route_refs_of(map, view)[i];
}

/* Unites from into to. */
void route_claims_unite(struct route_claims *to,
                        const struct route_claims *from);
/* What they come to (OWNER, MOVING, UNRESOLVED), with group and groups. */
void route_claims_judge(const struct route_claims *claims,
                        struct route_found *found);

/* The order of two cells of one type; bytes are those their at counts in. */
int route_cell_compare(bool fixed, const struct route_cell *a,
                       const unsigned char *a_bytes, const struct route_cell *b,
                       const unsigned char *b_bytes);

/* ---- searching (route_map_search.c) ---- */

/* How many of sorted[0..count) are <= value.  refs, count of them at least,
   are where the caller will look next. */
size_t route_search_fixed(const int64_t *sorted, size_t count, int64_t value,
                          const uint32_t *refs);

/* The boundary cell[0..view->columns) against the key datums[0..given); behind
   the given columns the key stands below (high false) or above all values. */
int route_search_compare(const struct route_map *map,
                         const struct route_view *view,
                         const struct route_cell *cell,
                         const struct route_datum *datums, uint32_t given,
                         bool high);

/* How many boundaries of the view are <= that key. */
size_t route_search_cells(const struct route_map *map,
                          const struct route_view *view,
                          const struct route_datum *datums, uint32_t given,
                          bool high);

/* The first of pair[from..count), sorted, that is not below the other two. */
size_t route_search_pairs(const struct route_pair *pair, size_t from,
                          size_t count, uint32_t modulus, uint32_t remainder);

/* ---- summing up (route_map_sum.c) ---- */

struct route_sum {
    const struct route_map *map;
    struct route_found *found;
    struct route_claims claims; /* if leaf */
    uint8_t states;             /* ROUTE_SET_*, if sets */
    bool leaf, sets;
};

void route_sum_start(struct route_sum *sum, const struct route_map *map,
                     struct route_found *found);
/* A leaf of the key, or one of those of a prefix. */
void route_sum_leaf(struct route_sum *sum, const struct route_claims *claims,
                    bool prefix);
/* What answers said for which this inner node is a leaf. */
void route_sum_above(struct route_sum *sum, const struct route_inner *inner);
/* All leaves below an inner node. */
void route_sum_all(struct route_sum *sum, uint32_t ref);
/* Fills *found. */
void route_sum_judge(struct route_sum *sum);

/* ---- while building ---- */

/* One node of one answer. */
struct route_given {
    uint64_t hash; /* of the bound text */
    uint64_t text;
    uint32_t length;
    uint32_t parent; /* NONE for the root */
    uint32_t column; /* inner: first of columns in the answer's columns */
    uint16_t group;  /* leaf, POINTER */
    uint8_t columns;
    uint8_t depth;
    bool inner;
    uint8_t claim; /* leaf: enum route_claim */
    char strategy;
    bool ask;
};

struct route_given_column {
    uint32_t name; /* index into the builder's names */
    struct route_typing typing;
};

struct route_answer {
    uint16_t group;
    struct route_vec given;   /* struct route_given */
    struct route_vec text;    /* char */
    struct route_vec columns; /* struct route_given_column */
};

struct route_builder {
    bool memory; /* ran out of it */
    bool wrong;  /* was given what cannot be */
    bool distrust_range, distrust_list, distrust_hash;
    struct route_groups answered;
    unsigned top;             /* greatest group seen */
    struct route_vec answers; /* struct route_answer */
    struct route_vec names;   /* char *: distinct column names; [0] is "" */
};

/* One node of all answers, merged.  Parents have smaller numbers. */
struct route_merged {
    const char *text;
    uint64_t hash;
    uint64_t scope; /* which siblings its text is unique among */
    uint32_t length;
    uint32_t parent;
    uint32_t shape; /* first of its shapes; NONE = a leaf in every answer */
    uint32_t ref;
    struct route_claims claims;
    uint8_t depth;
};

/* A strategy and key columns that answers gave one inner node. */
struct route_shape {
    uint32_t node, next;
    uint32_t view; /* first of its ways, NONE-ended list */
    uint32_t ways;
    uint32_t column; /* in the map's columns */
    uint32_t child;  /* first in the table of children */
    uint32_t children;
    uint64_t mask; /* its columns, by place in map->order */
    uint8_t columns;
    char strategy;
    bool ask;
};

/* Partitions of an inner node in one answer, whatever their order. */
struct route_set {
    uint64_t sum, mixed;
    uint32_t count;
};

struct route_way {
    struct route_set set;
    uint32_t shape, next;
    uint32_t answer, given; /* the first answer that has it, and where */
    uint32_t default_node;
};

struct route_merging {
    const struct route_builder *builder;
    struct route_map *map;
    struct route_vec merged; /* struct route_merged */
    struct route_vec shapes; /* struct route_shape */
    struct route_vec ways;   /* struct route_way */
    uint32_t *table;         /* of merged nodes by scope and text */
    size_t mask;
    uint32_t **to;    /* answer -> its nodes -> merged nodes */
    uint32_t *way_of; /* the present answer's inner nodes -> ways */
    uint32_t *child;  /* merged nodes by shape */
    uint64_t *names;  /* column names: where in map->names */
};

static inline const struct route_answer *
route_answer_at(const struct route_merging *m, size_t i)
{
    return &ROUTE_VEC(struct route_answer, m->builder->answers)[i];
}

static inline const struct route_given *
route_given_at(const struct route_answer *answer, size_t i)
{
    return &ROUTE_VEC(struct route_given, answer->given)[i];
}

static inline struct route_merged *
route_merged_at(const struct route_merging *m, size_t i)
{
    return &ROUTE_VEC(struct route_merged, m->merged)[i];
}

static inline struct route_shape *route_shape_at(const struct route_merging *m,
                                                 size_t i)
{
    return &ROUTE_VEC(struct route_shape, m->shapes)[i];
}

static inline struct route_way *route_way_at(const struct route_merging *m,
                                             size_t i)
{
    return &ROUTE_VEC(struct route_way, m->ways)[i];
}

/* Mixes hashes that are to be added up or cut short. */
static inline uint64_t route_spread(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    return x ^ x >> 29;
}

/* What the indexer is given to make one view of. */
struct route_indexing {
    struct route_map *map;
    const struct route_merged *merged;
    const struct route_shape *shape;
    const uint32_t *child; /* numbers of merged nodes, without DEFAULT */
    uint32_t count;
    uint32_t default_node; /* NONE */
    bool alone;            /* one way by itself: a clash makes it ask */
};

enum route_indexed {
    ROUTE_INDEXED_OK,
    ROUTE_INDEXED_CLASH, /* partitions overlap that cannot be united */
    ROUTE_INDEXED_MEMORY
};

/* Makes *view, with its index, or with ask if its bounds cannot be read. */
enum route_indexed route_index_make(const struct route_indexing *from,
                                    struct route_view *view);

/* The number of these claims in map->claims; NONE: no memory. */
uint32_t route_claims_store(struct route_map *map,
                            const struct route_claims *claims);

/* Makes the map of what was merged; false: no memory. */
bool route_settle(struct route_merging *m);

/* Gives back what memory is not needed.  Nothing can be added afterwards. */
void route_settle_memory(struct route_map *map);

/* Merges the builder's answers into map, which is all zeros. */
bool route_merge(const struct route_builder *builder, struct route_map *map,
                 struct why *why);

#endif
