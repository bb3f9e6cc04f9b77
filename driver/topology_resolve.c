/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Keys that only a server can judge: a collation that is not the bytes', a
 * type or an expression that we do not know, a hash that differs from ours.
 * Such a key waits here until an instance is asked, which walks down its own
 * partition tree with the values and says, bound by bound, where they end
 * (topology_resolve_sql.c).  That path is kept for the generation, and looked
 * up in the map each time, since who owns the leaf may become known later.
 *
 * Bounded: keys by ROUTE_KEY_BYTES, what is asked at once by RESOLVE_AT_ONCE,
 * what is kept by RESOLVE_KEPT; the oldest goes first.
 */
#include "autoconf.h"

#include "topology_inside.h"
#include "topology_resolve.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->lost = true)
#include <uthash.h>

enum { RESOLVE_KEPT = 10000, RESOLVE_ROUNDS = 16, RESOLVE_RETRY_MS = 1000 };

enum resolved_state {
    RESOLVED_WAITS,
    RESOLVED_ASKED, /* a helper is at it */
    RESOLVED_PATH,
    RESOLVED_NONE,  /* no partition takes it, there */
    RESOLVED_BAD,   /* no value of the key's type */
    RESOLVED_FAILED /* not answered; waits again at retry_at */
};

struct resolved {
    UT_hash_handle hh;
    struct route_key *key; /* hashed by its canonical text */
    enum resolved_state state;
    bool lost;
    uint64_t retry_at;
    char *text; /* PATH: bounds, each ended by NUL; BAD, FAILED: a sentence */
    uint32_t steps;
};

struct topology_resolver {
    struct mutex *lock;       /* the topology's; guards all of this */
    struct resolved *table;   /* oldest first */
    uint32_t waiting, failed;
    uint64_t retry_at; /* ns: of the one that failed last; by then all may be
                          asked again */
};

struct topology_resolver *topology_resolver_new(struct mutex *lock)
{
    struct topology_resolver *resolver = calloc(1, sizeof *resolver);

    if (resolver) {
        resolver->lock = lock;
    }
    return resolver;
}

static void drop_locked(struct topology_resolver *resolver,
                        struct resolved *entry)
{
    mutex_assert_held(resolver->lock);
    resolver->waiting -= entry->state == RESOLVED_WAITS;
    resolver->failed -= entry->state == RESOLVED_FAILED;
    HASH_DEL(resolver->table, entry);
    route_key_free(entry->key);
    free(entry->text);
    free(entry);
}

void topology_resolver_clear_locked(struct topology_resolver *resolver)
{
    mutex_assert_held(resolver->lock);
    while (resolver->table) {
        drop_locked(resolver, resolver->table);
    }
}

void topology_resolver_free(struct topology_resolver *resolver)
{
    if (resolver) {
        mutex_lock(resolver->lock);
        topology_resolver_clear_locked(resolver);
        mutex_unlock(resolver->lock);
        free(resolver);
    }
}

static struct resolved *look_up_locked(struct topology_resolver *resolver,
                                       const struct route_key *key)
{
    struct resolved *entry;

    mutex_assert_held(resolver->lock);
    HASH_FIND(hh, resolver->table, key->text, key->length, entry);
    return entry;
}

static void set_state_locked(struct topology_resolver *resolver,
                             struct resolved *entry, enum resolved_state state)
{
    mutex_assert_held(resolver->lock);
    resolver->waiting -= entry->state == RESOLVED_WAITS;
    resolver->failed -= entry->state == RESOLVED_FAILED;
    entry->state = state;
    resolver->waiting += state == RESOLVED_WAITS;
    resolver->failed += state == RESOLVED_FAILED;
}

/* ---- what is known ----------------------------------------------------- */

enum { STEPS_MAX = ROUTE_MAP_DEPTH };

static void follow(const struct topology *topology,
                   const struct resolved *entry,
                   struct topology_answer *answer)
{
    struct route_step steps[STEPS_MAX];
    struct route_found found;
    const char *at = entry->text;

    for (uint32_t i = 0; i < entry->steps; i++) {
        steps[i] = (struct route_step){ .bound = at, .length = strlen(at) };
        at += steps[i].length + 1;
    }
    route_map_find_path(topology->map->map, steps, entry->steps, &found);
    topology_map_judge(topology, topology->map, &found, answer);
}

/* Can somebody be asked now? */
static bool possible_locked(const struct topology *topology, uint64_t now)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        const struct topology_instance *at = &topology->at[i];
        if (at->reply && at->reply->tree->count &&
            (at->asking > 0 || topology_askable_locked(topology, i, now))) {
            return true;
        }
    }
    return false;
}

bool topology_resolver_find_locked(struct topology *topology,
                                   const struct route_key *key, uint64_t now,
                                   struct topology_answer *answer)
{
    const struct resolved *entry =
        look_up_locked(topology->resolver, key);

    mutex_assert_held(&topology->lock);
    answer->state = ROUTE_IS_UNKNOWN;
    answer->count = 0;
    switch (entry ? entry->state : RESOLVED_WAITS) {
    case RESOLVED_PATH:
        follow(topology, entry, answer);
        return true;
    case RESOLVED_NONE:
        return true; /* unowned, unless others have yet to answer */
    case RESOLVED_BAD:
        answer->state = ROUTE_IS_UNOWNED;
        answer->bad_key = true;
        why_set(&answer->why, WHY_KEY, "AffinityKey: %s", entry->text);
        return true;
    case RESOLVED_FAILED:
        why_set(&answer->why, WHY_GENERAL, "a server has to judge this key, "
                "and did not: %s", entry->text);
        answer->pending =
            entry->retry_at <= now && possible_locked(topology, now);
        answer->soon = answer->pending;
        return false;
    default:
        why_set(&answer->why, WHY_GENERAL,
                "a server has to judge this key, and has not yet");
        answer->pending = answer->soon = possible_locked(topology, now);
        return false;
    }
}

/* ---- what is wanted ---------------------------------------------------- */

static void make_room_locked(struct topology_resolver *resolver)
{
    struct resolved *entry, *next;
    unsigned looked = 0;

    mutex_assert_held(resolver->lock);
    if (HASH_COUNT(resolver->table) < RESOLVE_KEPT) {
        return;
    }
    HASH_ITER(hh, resolver->table, entry, next) {
        if (entry->state != RESOLVED_ASKED && entry->state != RESOLVED_WAITS) {
            drop_locked(resolver, entry);
            return;
        }
        if (++looked > 2 * RESOLVE_AT_ONCE) {
            return;
        }
    }
}

static struct resolved *add_locked(struct topology_resolver *resolver,
                                   const struct route_key *key)
{
    struct resolved *entry;

    mutex_assert_held(resolver->lock);
    make_room_locked(resolver);
    if (HASH_COUNT(resolver->table) >= RESOLVE_KEPT ||
        !(entry = calloc(1, sizeof *entry))) {
        return NULL;
    }
    if (route_key_make(key->part, key->count, &entry->key, NULL) !=
        ROUTE_KEY_OK) {
        free(entry);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, resolver->table, entry->key->text, entry->key->length,
                    entry);
    if (entry->lost) {
        route_key_free(entry->key);
        free(entry);
        return NULL;
    }
    resolver->waiting++; /* state is WAITS */
    return entry;
}

bool topology_resolver_want_locked(struct topology *topology,
                                   const struct route_key *key, uint64_t now)
{
    struct topology_resolver *resolver = topology->resolver;
    struct resolved *entry = look_up_locked(resolver, key);

    mutex_assert_held(&topology->lock);
    if (!entry) {
        entry = add_locked(resolver, key);
        return entry != NULL;
    }
    if (entry->state == RESOLVED_FAILED && entry->retry_at <= now) {
        set_state_locked(resolver, entry, RESOLVED_WAITS);
    }
    return entry->state == RESOLVED_WAITS;
}

bool topology_resolver_waits_locked(const struct topology *topology,
                                    uint64_t *when)
{
    const struct topology_resolver *resolver = topology->resolver;

    mutex_assert_held(&topology->lock);
    *when = resolver->waiting ? 0 : resolver->retry_at;
    return resolver->waiting || resolver->failed;
}

/* ---- asking ------------------------------------------------------------ */

/* What waits, as copies: entries may go while the server is asked. */
static uint32_t take_batch_locked(struct topology_resolver *resolver,
                                  struct route_key **keys)
{
    struct resolved *entry, *next;
    uint32_t count = 0;

    mutex_assert_held(resolver->lock);
    HASH_ITER(hh, resolver->table, entry, next) {
        if (!resolver->waiting || count == RESOLVE_AT_ONCE) {
            break;
        }
        if (entry->state == RESOLVED_WAITS &&
            route_key_make(entry->key->part, entry->key->count, &keys[count],
                           NULL) == ROUTE_KEY_OK) {
            set_state_locked(resolver, entry, RESOLVED_ASKED);
            count++;
        }
    }
    return count;
}

/* Takes what the server said of one key; the text is the entry's then. */
static void take_result_locked(struct topology_resolver *resolver,
                               const struct route_key *key,
                               struct topology_resolution *resolution)
{
    struct resolved *entry = look_up_locked(resolver, key);
    static const enum resolved_state states[] = {
        [TOPOLOGY_RESOLVED_PATH] = RESOLVED_PATH,
        [TOPOLOGY_RESOLVED_NONE] = RESOLVED_NONE,
        [TOPOLOGY_RESOLVED_BAD] = RESOLVED_BAD,
        [TOPOLOGY_RESOLVED_FAILED] = RESOLVED_FAILED,
    };

    mutex_assert_held(resolver->lock);
    if (!entry || entry->state != RESOLVED_ASKED) {
        return; /* forgotten meanwhile */
    }
    free(entry->text);
    entry->text = resolution->text;
    entry->steps = resolution->steps;
    resolution->text = NULL;
    set_state_locked(resolver, entry, states[resolution->outcome]);
    if (!entry->text || (entry->state == RESOLVED_PATH &&
                         entry->steps > STEPS_MAX)) {
        /* out of memory, say: not now */
        set_state_locked(resolver, entry, RESOLVED_FAILED);
        free(entry->text);
        entry->text = strdup("");
    }
    if (entry->state == RESOLVED_FAILED) {
        entry->retry_at = clock_ns() + RESOLVE_RETRY_MS * NS_PER_MS;
        resolver->retry_at = entry->retry_at;
    }
    if (!entry->text) {
        drop_locked(resolver, entry);
    }
}

static bool run_batch(struct topology *topology, uint32_t i, struct link *link,
                      struct route_key **keys, uint32_t count,
                      uint64_t generation, struct link_error *error)
{
    struct topology_resolution results[RESOLVE_AT_ONCE];
    bool ok;

    memset(results, 0, sizeof results);
    ok = topology_resolve_ask(topology->fleet->config.table,
                              topology->fleet->instances[i].name, link, keys,
                              count, results, error);
    mutex_lock(&topology->lock);
    for (uint32_t k = 0; k < count; k++) {
        if (generation == topology->generation) {
            take_result_locked(topology->resolver, keys[k], &results[k]);
        }
    }
    mutex_unlock(&topology->lock);
    for (uint32_t k = 0; k < count; k++) {
        free(results[k].text);
    }
    return ok;
}

bool topology_resolver_run(struct topology *topology, uint32_t i,
                           struct link *link, struct link_error *error)
{
    struct route_key *keys[RESOLVE_AT_ONCE];
    bool ok = true;
    uint32_t count = 1;

    for (int round = 0; ok && count && round < RESOLVE_ROUNDS; round++) {
        const struct topology_instance *at = &topology->at[i];
        uint64_t generation;
        mutex_lock(&topology->lock);
        generation = topology->generation;
        count = at->reply && at->reply->tree->count
                    ? take_batch_locked(topology->resolver, keys) : 0;
        mutex_unlock(&topology->lock);
        if (count) {
            ok = run_batch(topology, i, link, keys, count, generation, error);
        }
        for (uint32_t k = 0; k < count; k++) {
            route_key_free(keys[k]);
        }
    }
    return ok;
}
