/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The state of a fleet's topology: who was asked, answered or failed, and of
 * which generation that is.  What makes it out of date is in topology_change.c,
 * who owns a key in topology_find.c, whom to ask next in topology_next.c,
 * merging in topology_map.c; what an instance is asked depends on the source:
 *
 *   TABLE   topology_partitions.c    its part of a partitioned table
 *   QUERY   topology_query.c         the rows of the user's query
 *   MAP     topology_file.c          nothing; it stands in the file
 *   HASH    topology_hash.c          who it is, which its link has said
 */
#include "autoconf.h"

#include "event.h"
#include "topology_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

/* ---- making ------------------------------------------------------------ */

static bool is_ascii(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text >= 0x80) {
            return false;
        }
    }
    return true;
}

/* table or schema.table, as SQL writes names: an instance that is asked for
   anything else fails each time, and its answer never comes. */
static bool is_table_name(const char *p)
{
    unsigned parts = 0;

    do {
        const char *begin = p += strspn(p, " ");
        if (*p == '"') {
            for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
                p += *p == '"';
            }
            if (*p++ != '"') {
                return false;
            }
        } else {
            p += strcspn(p, " .\"");
        }
        if (p == begin) {
            return false;
        }
        p += strspn(p, " ");
        parts++;
    } while (*p++ == '.');
    return !p[-1] && parts <= 2;
}

static bool check_config(const struct config_fleet *config, struct why *why)
{
    if (*config->table && !is_table_name(config->table)) {
        why_set(why, WHY_VALUE, "AffinityTable=%s: not the name of a table; "
                "allowed: schema.table or table, in \"quotes\" where SQL needs "
                "them", config->table);
        return false;
    }
    if (!is_ascii(config->query)) {
        why_set(why, WHY_VALUE, "AffinityQuery must be plain ASCII; write "
                "other characters by their codes, as U&'\\xxxx', chr(n) or "
                "X'hex'");
        return false;
    }
    return true;
}

/* Partitions are read from PostgreSQL's catalogs. */
static bool check_table(const struct fleet *fleet, struct why *why)
{
    for (uint32_t i = 0; *fleet->config.table && i < fleet->count; i++) {
        const struct instance *instance = &fleet->instances[i];
        const struct inner_kind *kind = instance->inner->kind;

        if (!kind->partitions) {
            why_set(why, WHY_UNAVAILABLE, "AffinityTable=%s: it works with "
                    "psqlODBC, whose server knows who holds which partition; "
                    "instance %s has %s: use AffinityMap or AffinityQuery",
                    fleet->config.table, instance->name, kind->name);
            return false;
        }
    }
    return true;
}

static enum topology_kind kind_of(const struct topology *topology)
{
    const struct config_fleet *config = &topology->fleet->config;

    return *config->table                            ? TOPOLOGY_TABLE
           : *config->query                          ? TOPOLOGY_QUERY
           : topology->file && topology->file->owns ? TOPOLOGY_MAP
                                                     : TOPOLOGY_HASH;
}

/* What the map file says that instance i owns. */
static void take_rows(struct topology *topology, uint32_t i)
{
    struct topology_instance *at = &topology->at[i];
    struct topology_reply *reply = topology->file->sections[i].reply;

    topology_reply_release(at->reply);
    topology_reply_release(at->claim);
    at->reply = reply ? topology_reply_retain(reply) : NULL;
    at->claim = reply ? topology_reply_retain(reply) : NULL;
}

static bool set_up_instances(struct topology *topology)
{
    const struct fleet *fleet = topology->fleet;

    topology->at = calloc(fleet->count + 1, sizeof *topology->at);
    topology->mark = calloc(fleet->count + 1, 1);
    topology->targets = calloc(fleet->count + 1, sizeof *topology->targets);
    topology->resolver = topology_resolver_new(&topology->lock);
    if (!topology->at || !topology->mark || !topology->targets ||
        !topology->resolver) {
        return false;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        const char *name = fleet->instances[i].name;
        topology->at[i].group = i;
        topology->targets[i].seed = balance_target_seed(name, strlen(name));
        topology->targets[i].weight = topology_limits(topology, i).weight;
        if (topology->file) {
            take_rows(topology, i);
        }
    }
    return true;
}

struct topology_file *topology_read_file(const struct fleet *fleet,
                                         struct why *why)
{
    const struct config_fleet *config = &fleet->config;
    const char *owned = *config->table   ? "AffinityTable"
                        : *config->query ? "AffinityQuery"
                                         : "";

    return topology_file_read(config->map, fleet, owned, why);
}

void topology_free_file(struct topology_file *file)
{
    topology_file_free(file);
}

struct topology_file *topology_change_file_locked(struct fleet *fleet,
                                                  struct topology_file *file)
{
    struct topology *topology = fleet->topology;
    struct topology_file *old = topology->file;

    mutex_assert_held(&fleet->lock);
    mutex_lock(&topology->lock);
    topology->file = file;
    topology->kind = kind_of(topology);
    for (uint32_t i = 0; i < fleet->count; i++) {
        topology->targets[i].weight = topology_limits(topology, i).weight;
        if (topology->kind > TOPOLOGY_QUERY) {
            take_rows(topology, i);
        }
    }
    topology->stale = true;
    atomic_store(&topology->quiet_until, 0);
    mutex_unlock(&topology->lock);
    return old;
}

struct topology *topology_new(struct fleet *fleet, struct why *why)
{
    const struct config_fleet *config = &fleet->config;
    struct topology *topology;

    if (!check_config(config, why) || !check_table(fleet, why)) {
        return NULL;
    }
    topology = calloc(1, sizeof *topology);
    if (!topology) {
        why_memory(why);
        return NULL;
    }
    mutex_init(&topology->lock, LOCK_TOPOLOGY);
    topology->fleet = fleet;
    /* not all processes begin with the same instance */
    topology->seed = clock_ns() / 1000 ^ (uint64_t)getpid() * 2654435761u;
    if (*config->map) {
        topology->file = topology_read_file(fleet, why);
        if (!topology->file) {
            topology_free(topology);
            return NULL;
        }
    }
    topology->kind = kind_of(topology);
    topology->stale = topology->kind == TOPOLOGY_MAP;
    topology->grouping = 1;
    if (topology->kind == TOPOLOGY_TABLE) {
        topology->index = topology_index_new(fleet);
    }
    if ((topology->kind == TOPOLOGY_TABLE && !topology->index) ||
        !set_up_instances(topology)) {
        why_memory(why);
        topology_free(topology);
        return NULL;
    }
    return topology;
}

void topology_free(struct topology *topology)
{
    if (!topology) {
        return;
    }
    for (uint32_t i = 0; topology->at && i < topology->fleet->count; i++) {
        topology_reply_release(topology->at[i].reply);
        topology_reply_release(topology->at[i].claim);
    }
    topology_resolver_free(topology->resolver);
    topology_map_release(topology->map);
    topology_index_free(topology->index);
    topology_file_free(topology->file);
    mutex_destroy(&topology->lock);
    free(topology->at);
    free(topology->mark);
    free(topology->targets);
    free(topology);
}

struct topology_limits topology_limits(const struct topology *topology,
                                       uint32_t i)
{
    const struct topology_section *section =
        topology->file ? &topology->file->sections[i] : NULL;

    if (!section) {
        return (struct topology_limits){ .weight = 1, .group = "" };
    }
    return (struct topology_limits){
        .weight = section->weight,
        .read_only = section->read_only,
        .disabled = section->disabled || section->never,
        .pool_max = section->pool_max,
        .group = section->group,
    };
}

/* ---- completeness ------------------------------------------------------ */

void topology_mark_locked(struct topology *topology)
{
    uint32_t count = topology->fleet->count;

    mutex_assert_held(&topology->lock);
    memset(topology->mark, 0, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct topology_instance *at = &topology->at[i];
        struct route_member *m = &topology->fleet->members[i];
        uint8_t *mark = &topology->mark[at->group];

        if (at->state == TOPOLOGY_ANSWERED) {
            *mark |= TOPOLOGY_MARK_ANY;
            *mark |= at->role == ROUTE_PRIMARY ? TOPOLOGY_MARK_PRIMARY : 0;
        }
        if (!m->disabled && atomic_load_explicit(&m->health,
                                memory_order_relaxed) != ROUTE_DOWN) {
            *mark |= TOPOLOGY_MARK_ALIVE;
        }
    }
}

bool topology_complete_locked(struct topology *topology)
{
    uint32_t count = topology->fleet->count;

    mutex_assert_held(&topology->lock);
    switch (atomic_load(&topology->kind)) {
    case TOPOLOGY_MAP:
        return true;
    case TOPOLOGY_HASH:
        return topology_hash_ready_locked(topology);
    default:
        break;
    }
    topology_mark_locked(topology);
    for (uint32_t g = 0; g < count; g++) {
        if (topology->mark[g] == TOPOLOGY_MARK_ALIVE) {
            return false; /* alive, and nobody of it has answered */
        }
    }
    /* what the answers say must have reached the map */
    return !topology->building;
}

bool topology_complete(struct fleet *fleet)
{
    struct topology *topology = fleet->topology;
    bool complete;

    mutex_lock(&topology->lock);
    complete = topology_complete_locked(topology);
    mutex_unlock(&topology->lock);
    return complete;
}

bool topology_begun(struct fleet *fleet)
{
    struct topology *topology = fleet->topology;
    bool begun = false;

    mutex_lock(&topology->lock);
    for (uint32_t i = 0; i < fleet->count && !begun; i++) {
        const struct topology_instance *at = &topology->at[i];

        begun = at->asking > 0 || at->state != TOPOLOGY_UNASKED || at->claim;
    }
    mutex_unlock(&topology->lock);
    return begun;
}

/* ---- asking ------------------------------------------------------------ */

/* It failed: not again before a while. */
static void back_off_locked(struct topology *topology, uint32_t i)
{
    struct topology_instance *at = &topology->at[i];

    mutex_assert_held(&topology->lock);
    at->state = TOPOLOGY_FAILED;
    at->backoff_ms = clock_backoff_ms(at->backoff_ms);
    at->retry_at = clock_ns() + at->backoff_ms * NS_PER_MS;
}

static void came_back_locked(struct topology *topology, uint32_t i)
{
    struct topology_instance *at = &topology->at[i];

    mutex_assert_held(&topology->lock);
    at->asking -= at->asking > 0;
    atomic_store(&topology->quiet_until, 0);
}

void topology_not_asked(struct fleet *fleet, uint32_t i, bool back_off)
{
    struct topology *topology = fleet->topology;
    struct topology_instance *at = &topology->at[i];

    mutex_lock(&topology->lock);
    came_back_locked(topology, i);
    if (back_off && !at->asking && at->state != TOPOLOGY_ANSWERED) {
        memset(&at->error, 0, sizeof at->error);
        back_off_locked(topology, i);
    }
    mutex_unlock(&topology->lock);
}

/* All instances that use one query must speak of the same sort of ownership;
   the first that answered sets it. */
static bool fits_locked(const struct topology *topology, uint32_t i,
                        const struct topology_reply *reply,
                        struct link_error *error)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t k = 0; reply->kind && k < topology->fleet->count; k++) {
        const struct topology_reply *other = topology->at[k].reply;
        if (k != i && other && other->kind && other->kind != reply->kind) {
            link_set_error(error, "HY000",
                           "AffinityQuery says one sort of ownership on %s, "
                           "and another on %s",
                           topology->fleet->instances[i].name,
                           topology->fleet->instances[k].name);
            return false;
        }
    }
    return true;
}

/* Equal trees are kept once. */
static void share_locked(const struct topology *topology, uint32_t i,
                         struct topology_reply *reply)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t k = 0; k < topology->fleet->count; k++) {
        const struct topology_reply *other = topology->at[k].claim;
        if (k != i && other && topology_reply_share(reply, other)) {
            return; /* one try in vain is cheap: the counts differ */
        }
    }
}

/* Takes an answer; the reply is the topology's afterwards.  Returns what is to
   be released without the lock. */
static void store_locked(struct topology *topology, uint32_t i,
                         struct topology_reply *reply,
                         struct topology_reply *old[2])
{
    struct topology_instance *at = &topology->at[i];

    mutex_assert_held(&topology->lock);
    old[0] = at->reply;
    old[1] = reply ? at->claim : NULL;
    at->reply = reply;
    if (reply) {
        share_locked(topology, i, reply);
        at->claim = topology_reply_retain(reply);
        topology->at[at->group].resaid = true;
    }
    at->state = TOPOLOGY_ANSWERED;
    at->heard_at = clock_ns();
    at->again = false;
    at->backoff_ms = 0;
    at->retry_at = 0;
    memset(&at->error, 0, sizeof at->error);
}

/* For those who look at the events: once until it changes. */
static void say_failed_locked(const struct topology *topology, uint32_t i,
                              const struct link_error *error)
{
    const struct fleet *fleet = topology->fleet;
    struct text text = { 0 };

    mutex_assert_held(&topology->lock);
    if (strcmp(topology->at[i].error.text, error->text) != 0) {
        link_say_error(error, &text);
        event_say(fleet->events, LOG_IS_WARNING, fleet->instances[i].name,
                  "does not say what it owns: %s", text_string(&text));
        text_free(&text);
    }
}

/* In hint nothing else tells of a mistyped table: sessions are served. */
static void say_answered(const struct topology *topology, uint32_t i,
                         const struct topology_reply *reply)
{
    const struct fleet *fleet = topology->fleet;

    event_say(fleet->events, reply->note ? LOG_IS_WARNING : LOG_IS_INFO,
              fleet->instances[i].name,
              "has said what it owns: %u partitions, ranges or values%s%s",
              reply->local_count, reply->note ? "; " : "",
              reply->note ? reply->note : "");
}

/* Is there anything that this instance can still tell? */
static bool worth_asking_locked(struct topology *topology, uint32_t i)
{
    const struct topology_instance *at = &topology->at[i];

    mutex_assert_held(&topology->lock);
    topology_mark_locked(topology);
    return at->again || topology_wanted_locked(topology, i);
}

static struct topology_reply *ask_source(const struct topology *topology,
                                         uint32_t i, struct link *link,
                                         struct link_error *error)
{
    return topology->kind == TOPOLOGY_TABLE
               ? topology_partitions_ask(topology, i, link, error)
               : topology_query_ask(topology, i, link, error);
}

/* Asks the instance what it owns, and takes the answer unless it belongs to a
   generation that is over. */
static bool learn(struct topology *topology, uint32_t i, struct link *link,
                  uint64_t generation, struct link_error *error)
{
    uint64_t begin = clock_ns(), now;
    struct topology_reply *reply = ask_source(topology, i, link, error);
    struct topology_reply *old[2] = { NULL };
    bool ok = reply != NULL, current;

    now = clock_ns();
    mutex_lock(&topology->lock);
    current = generation == topology->generation;
    if (ok && current) {
        ok = fits_locked(topology, i, reply, error);
    }
    if (ok && current) {
        if (!topology_reply_same(reply, topology->at[i].reply)) {
            topology->stale = true;
            say_answered(topology, i, reply);
        }
        store_locked(topology, i, reply, old);
        topology_checked_locked(topology, i, now, now - begin);
        reply = NULL;
        topology_map_make_locked(topology);
    } else if (!ok && current) {
        say_failed_locked(topology, i, error);
        topology->at[i].error = *error;
        back_off_locked(topology, i);
    }
    mutex_unlock(&topology->lock);
    topology_reply_release(reply);
    topology_reply_release(old[0]);
    topology_reply_release(old[1]);
    return ok;
}

bool topology_ask(struct fleet *fleet, uint32_t i, struct link *link,
                  struct link_error *error)
{
    struct topology *topology = fleet->topology;
    struct topology_reply *old[2] = { NULL };
    bool asks = topology->kind <= TOPOLOGY_QUERY, worth, ok = true;
    uint64_t generation;

    mutex_lock(&topology->lock);
    generation = topology->generation;
    worth = asks && worth_asking_locked(topology, i);
    if (!worth && !topology->at[i].reply) {
        store_locked(topology, i, NULL, old);
    }
    mutex_unlock(&topology->lock);
    if (worth) {
        ok = learn(topology, i, link, generation, error);
    }
    if (ok && topology->kind == TOPOLOGY_TABLE) {
        ok = topology_resolver_run(topology, i, link, error);
    }
    mutex_lock(&topology->lock);
    came_back_locked(topology, i);
    mutex_unlock(&topology->lock);
    return ok;
}
