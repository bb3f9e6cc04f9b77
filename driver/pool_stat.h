/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is counted of pools (pool_stat.def), for SHOW AFFINITY STATS and the
 * metrics file.
 *
 * A session that takes a link from a shelf writes nothing that another
 * processor writes as well, so what is counted of sessions is counted on the
 * link, which only they have; the pool adds up its links when it is asked, and
 * keeps what those had that are gone.
 */
#ifndef POOL_STAT_H
#define POOL_STAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "link.h"

struct login;
struct pool;

enum pool_stat {
#define POOL_STAT(name, of, kind, column, family, reason, help) \
    POOL_STAT_##name,
#include "pool_stat.def"
    POOL_STATS
};

enum pool_stat_kind {
    POOL_KIND_COUNT, POOL_KIND_TIME, POOL_KIND_LONGEST, POOL_KIND_MOST
};

enum pool_stat_of { POOL_OF_POOL = 1, POOL_OF_LOGIN = 2, POOL_OF_BOTH = 3 };

struct pool_stat_row {
    enum pool_stat_of of;
    enum pool_stat_kind kind;
    const char *column, *family, *reason, *help;
};
extern const struct pool_stat_row pool_stat_rows[POOL_STATS];

/* Of one pool, or of a login where no instance is concerned; any thread may
   add to it. */
struct pool_stats {
    _Atomic uint64_t of[POOL_STATS];
};

void pool_stat_add(struct pool_stats *stats, enum pool_stat stat, uint64_t by);

static inline void pool_stat_count(struct pool_stats *stats,
                                   enum pool_stat stat)
{
    pool_stat_add(stats, stat, 1);
}

/* Raises LONGEST or MOST, of this login or one of its pools.
   Locks: holds the login's. */
void pool_stat_raise_locked(const struct login *login,
                            struct pool_stats *stats, enum pool_stat stat,
                            uint64_t to);

/* A session gets the link now (ns), or gives it back.  No locks: it is the
   caller's. */
enum pool_lent {
    POOL_LENT,        /* it has no key, or nobody knows whose that is */
    POOL_LENT_OWNER, POOL_LENT_OTHER
};
void pool_lend(struct link *link, enum pool_lent how, uint64_t now);
void pool_take_back(struct link *link, uint64_t now);

/* Adds to *lent how often sessions have got a link of that pool.  True: one has
   one now.  Locks: holds the login's. */
bool pool_lent_locked(const struct pool *pool, uint64_t *lent);

/* The link goes: its pool keeps what it has counted.
   Locks: holds the login's. */
void pool_stat_keep_locked(struct link *link);

/* A consistent copy of what a login's pools are like, which the caller frees;
   NULL: out of memory.  Locks: takes the login's and the shelves'. */
struct pool_view {
    uint32_t count[LINK_STATES];
    uint32_t room, left;
    uint64_t stats[POOL_STATS];
};
struct login_view {
    uint64_t stats[POOL_STATS]; /* of no instance */
    struct pool_view pools[];   /* per instance */
};
struct login_view *login_view(struct login *login);

/* Adds one row of figures to another, as a sum or the longest. */
void pool_stat_sum(uint64_t *sum, const uint64_t *stats);

#endif
