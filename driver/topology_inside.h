/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the files topology_*.c share and nobody else sees: the state of a
 * fleet's topology, and what each source has to do for it.
 */
#ifndef TOPOLOGY_INSIDE_H
#define TOPOLOGY_INSIDE_H

#include "fleet.h"
#include "lock.h"
#include "route_map.h"
#include "balance_rendezvous.h"
#include "topology.h"
#include "topology_file.h"
#include "topology_reply.h"

enum topology_kind {
    TOPOLOGY_TABLE, /* AffinityTable */
    TOPOLOGY_QUERY, /* AffinityQuery */
    TOPOLOGY_MAP,   /* AffinityMap says who owns what */
    TOPOLOGY_HASH   /* nobody does */
};

enum topology_asked_state {
    TOPOLOGY_UNASKED,
    TOPOLOGY_ANSWERED,
    TOPOLOGY_FAILED
};

/* One instance; guarded by the topology's lock. */
struct topology_instance {
    enum topology_asked_state state;
    struct topology_reply *reply; /* of this generation, or NULL */
    struct topology_reply *claim; /* the latest ever: what it was seen to own */
    bool again;          /* ask it although it has answered */
    uint32_t asking;     /* helpers on their way */
    uint64_t asked_at;   /* ns: the latest of them left */
    uint64_t heard_at;   /* ns: its answer */
    uint64_t retry_at;   /* ns: not asked before */
    uint32_t backoff_ms;
    uint64_t check_at;   /* ns: ask then whether its answer still holds */
    struct link_error error; /* FAILED: state "" = it was not opened */
    uint32_t group;      /* as fleet_group.c last said */
    uint8_t role;        /* enum route_role, likewise */
    bool led;            /* of the group of this name: one of it may write, or
                            has not said that it may not */
    bool doubted;        /* the group of this name owns other keys than it said,
                            and the map has not got which: nor do pointers at
                            it tell */
    bool resaid;         /* but one of it has said so: in the next map */
    bool known;          /* it has said who it is: */
    struct link_who said;

    /* guarded by the fleet's lock: the highest timeline it was ever seen on */
    char identity[24];
    uint32_t timeline;
};

/* The answers of one moment merged; immutable, shared by reference. */
struct topology_map {
    _Atomic uint32_t refs;
    struct route_map *map;
    struct route_map *texts;  /* rows of kind h: for keys that are no number */
    uint32_t *instance;       /* of each group in map: any member of it */
    uint32_t groups;
    int32_t otherwise;        /* rows: the group that owns the rest; -1 none,
                                 -2 several */
    char kind;                /* rows: r, l, h; a table: 0 */
    uint64_t generation;
    uint64_t digest;          /* of the one view that all share; 0 = none */
    const struct topology_tree *tree; /* likewise; only to be compared */
};

struct topology_index; /* topology_server.c */
struct topology_resolver; /* topology_resolve.c */

struct topology {
    struct fleet *fleet;         /* not retained: it owns us */
    /* MAP and HASH may become each other when the map file is read again;
       written under both locks, as file */
    _Atomic(enum topology_kind) kind;
    struct topology_file *file;  /* NULL: no AffinityMap; read under either */
    /* fixed, as what follows */
    struct topology_index *index;
    uint64_t seed;               /* where to begin asking */

    /* ns: topology_next(NULL) has nothing to say before; read without lock */
    _Atomic uint64_t quiet_until;

    struct mutex lock; /* LOCK_TOPOLOGY; guards what follows */
    struct topology_instance *at;
    uint8_t *mark;               /* scratch, one for each group */
    uint32_t strangers;          /* instances that have not said who they are */
    uint64_t generation, grouping; /* counts: of answers, of groups */
    struct topology_map *map;    /* NULL: nothing is known */
    bool building, stale;        /* a map is being made; it must be made anew */
    struct why trouble;          /* the latest map could not be made */
    struct balance_target *targets; /* hash: one for each instance */
    struct topology_resolver *resolver;
};

/* ---- topology_server.c: foreign servers to instances (rules §1.3) ------ */

/* Reads names and DSNs of the fleet's instances.  NULL: out of memory. */
struct topology_index *topology_index_new(const struct fleet *fleet);
void topology_index_free(struct topology_index *index);

/* The instance that this server is, or -1. */
int32_t topology_index_find(const struct topology_index *index,
                            const struct topology_server *server);

/* ---- topology_map.c: the answers merged -------------------------------- */

struct topology_map *topology_map_retain(struct topology_map *map);
void topology_map_release(struct topology_map *map); /* NULL is fine */

/* Makes the map anew from the answers that stand if it is stale, unless
   somebody does so already, who will then do it again.  Locks: takes and
   leaves the topology's lock; nothing is computed under it. */
void topology_map_make(struct topology *topology);

/* The same for who has just taken in an answer: no moment lies between in which
   everybody has answered, and the map does not say so yet.
   Locks: holds the topology's, and lets it go meanwhile. */
void topology_map_make_locked(struct topology *topology);

/* Whom the map gives this key to; groups are those of the moment. */
void topology_map_find(const struct topology *topology,
                       const struct topology_map *map,
                       const struct route_key *key,
                       struct topology_answer *answer,
                       enum route_map_result *result);

/* What a result of the map comes to; owners filled. */
void topology_map_judge(const struct topology *topology,
                        const struct topology_map *map,
                        const struct route_found *found,
                        struct topology_answer *answer);

/* ---- topology_hash.c --------------------------------------------------- */

/* Makes the targets anew.  Locks: holds the topology's. */
void topology_hash_target_locked(struct topology *topology);
void topology_hash_find_locked(struct topology *topology,
                               const struct route_key *key,
                               struct topology_answer *answer);
/* Do all targets stand (rules §1.6)? */
bool topology_hash_ready_locked(const struct topology *topology);

/* ---- the sources ------------------------------------------------------- */

/* Each asks one instance over a link, on a helper thread, no lock held.
   NULL: error.  The link is clean afterwards, or marked spoilt, or dead. */
struct topology_reply *topology_partitions_ask(const struct topology *topology,
                                               uint32_t i, struct link *link,
                                               struct link_error *error);
struct topology_reply *topology_query_ask(const struct topology *topology,
                                          uint32_t i, struct link *link,
                                          struct link_error *error);

/* What the inner kind puts around questions of ours (inner_sql.h); rolled back
   whatever happens.  False: error.  end() with ok false keeps the error that
   stands. */
bool topology_begin(struct link *link, struct link_error *error);
bool topology_end(struct link *link, bool ok, struct link_error *error);

/* Appends an expression for the oid of AffinityTable's table, NULL if there is
   none.  Needs no privilege, under any search_path. */
void topology_append_table(struct text *sql, const char *table);

/* Appends bytes in hex, for convert_from(decode('…', 'hex'), 'UTF8'). */
void topology_append_hex(struct text *sql, const char *bytes, size_t length);

/* Reads a value that an inner_sql's ask() or INNER_PG_PLAIN() has given: 'a'
   and itself, or 'x' and its UTF-8 in hex.  NULL for NULL, else in *to, which
   is emptied before. */
const char *topology_read_plain(const char *value, struct text *to);

/* Puts what was being done in front of an error, whose state and number stay;
   of its text the first line counts (psqlODBC adds where it happened). */
void topology_name_error(struct link_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- topology_resolve.c: keys that only a server can judge ------------- */

/* lock: the topology's, which outlives it.  NULL: out of memory. */
struct topology_resolver *topology_resolver_new(struct mutex *lock);
void topology_resolver_free(struct topology_resolver *resolver);

/* Forgets what servers have said.  Locks: holds the topology's. */
void topology_resolver_clear_locked(struct topology_resolver *resolver);

/* What a server has said of this key.  False: nothing yet; answer->pending
   says whether somebody is asking.  Locks: holds the topology's. */
bool topology_resolver_find_locked(struct topology *topology,
                                   const struct route_key *key, uint64_t now,
                                   struct topology_answer *answer);

/* Has this key resolved by the next instance that is asked.  False: not now
   (it has just failed, out of memory, or longer than ROUTE_KEY_BYTES). */
bool topology_resolver_want_locked(struct topology *topology,
                                   const struct route_key *key, uint64_t now);

/* Do keys wait, or wait again at *when? */
bool topology_resolver_waits_locked(const struct topology *topology,
                                    uint64_t *when);

/* Resolves what waits.  On a helper thread, no lock held.  False: error. */
bool topology_resolver_run(struct topology *topology, uint32_t i,
                           struct link *link, struct link_error *error);

/* ---- topology_say.c: in words ------------------------------------------ */

/* Why a key is not known, or owned by nobody.  Locks: holds the topology's. */
void topology_say_unknown_locked(struct topology *topology, struct why *why);
void topology_say_unowned_locked(struct topology *topology, struct why *why);

/* ---- topology_change.c ------------------------------------------------- */

/* What the members of this group have said is out of date: they are to be
   asked anew.  topology_map_make() is to follow, without the lock.
   Locks: holds the topology's. */
void topology_unlearn_group_locked(struct topology *topology, uint32_t group);

/* ---- topology_fingerprint.c -------------------------------------------- */

/* Appends an expression that changes its value when what the instance says of
   AffinityTable would: 32 digits, NULL = no such table. */
void topology_append_fingerprint(struct text *sql, const char *table);

/* Instance i has just answered, which took `cost` ns. */
void topology_checked_locked(struct topology *topology, uint32_t i,
                             uint64_t now, uint64_t cost);

/* Is it time to ask an instance again that has answered? */
bool topology_recheck_locked(const struct topology *topology, uint32_t i,
                             uint64_t now);

/* ---- topology.c: completeness ------------------------------------------ */

/* Every group has answered or is out of reach (rules §1.2). */
bool topology_complete_locked(struct topology *topology);

/* Marks for each group, in topology->mark, whether any of it has answered,
   whether its primary has, whether any of it is alive. */
enum { TOPOLOGY_MARK_ANY = 1, TOPOLOGY_MARK_PRIMARY = 2,
       TOPOLOGY_MARK_ALIVE = 4 };
void topology_mark_locked(struct topology *topology);

/* ---- topology_find.c --------------------------------------------------- */

/* topology_find().  True: a server has to judge the key, and has not done so.
   Locks: holds the topology's. */
bool topology_find_locked(struct topology *topology,
                          const struct route_key *key, uint64_t now,
                          struct topology_answer *answer);

/* ---- topology_next.c --------------------------------------------------- */

/* May instance i be asked now?  Not: disabled, down, or just failed. */
bool topology_askable_locked(const struct topology *topology, uint32_t i,
                             uint64_t now);

/* Has i something to say that is not known yet?  marks are up to date. */
bool topology_wanted_locked(const struct topology *topology, uint32_t i);

#endif
