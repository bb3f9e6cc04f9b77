/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What each command answers.  All columns are texts; what is missing or not
 * known is NULL.  Those that change something: command_change.c.
 *
 * SHOW AFFINITY            one row: this session
 *   key        its AffinityKey
 *   instance   whose link it holds
 *   verdict    why it is there
 *   mode       AffinityMode
 *   access     read-write or read-only, by Access or SQL_ATTR_ACCESS_MODE
 *   owner      whose the key is as far as is known now: the first instance
 *              of the group, several with commas for a prefix key; or
 *              unknown, moving, unresolved, none
 *   source     where ownership is learnt
 *   topology   complete, or incomplete while somebody is still to be asked
 *
 * SHOW AFFINITY INSTANCES  one row per instance, in the order of Instances
 *   instance, group          group: its first-listed member
 *   role                     primary, standby, unknown
 *   state                    untried, up, slow (a call of ours is overdue),
 *                            suspect, down, draining, or "draining, down"
 *   since_ms                 up, suspect or down; retry_ms: when suspect or
 *                            down, passed over for so long yet
 *   idle, held, opening, reset, room   links of this session's login, and how
 *                            many more it may open
 *   served                   sessions placed there, all logins, as balancing
 *                            counts them
 *   identity, timeline       of its data, as it last said
 *   last_error               the latest failure to reach it, cut to 250
 *   weight                   by the map file, 1 without one
 *   flag                     good, violating, no data or blocked: what
 *                            balancing thinks of it (balance_fact.h)
 *   latency_us               of probes, else of resets, else of openings
 *   in_flight                sessions of this process that hold a link there
 *   cost                     latency × (in_flight + 1) / weight, more while it
 *                            comes back: of two the less is the better one
 *   position                 bytes of log: a primary's written, a standby's
 *                            replayed
 *   lag_ms                   a standby: since when it may lack something
 *   backends, backends_max   connections it has, of all its users, and how many
 *                            it takes
 *   active                   sessions that were at work at once, on average
 *                            between the latest two probes
 *   commits_per_s            likewise
 *   probed_ms                so long ago it answered a probe
 *   why                      what keeps it from being simply up
 *   error_ms                 so long ago was last_error
 *   waiting                  sessions of this session's login that wait for a
 *                            link to it and nothing else
 *   learning, closing        links of this session's login, as idle
 *   peak_in_use              sessions of this process that held a link there
 *                            at once, at most
 *
 * SHOW AFFINITY POOLS      one row per login and instance
 *   instance, login, user    logins are numbered; user: its UID
 *   mine                     yes: this session's login
 *   idle, held, learning, opening, reset, closing, room
 *   opened, failed, resets   since the start
 *   waiting                  units that wait in this login, for any instance
 *   left                     links on which a call hangs that nothing can end:
 *                            they and their threads are left to each other
 *   probing                  of the idle ones, those over which the instance is
 *                            being probed
 *
 * SHOW AFFINITY TOPOLOGY   one row per leaf, range, value or target
 *   path, bound, owner, state
 *
 * SHOW AFFINITY EVENTS     one row per event that is kept, the latest first
 *   at                       UTC; level: error, warning, info or debug
 *   instance, event          instance: NULL if it concerns the whole fleet
 *
 * SHOW AFFINITY CONFIG     one row per keyword: keyword, value
 *
 * EXPLAIN AFFINITY KEY 'k' one row per instance, for this session's mode and
 *                          access; if nobody would serve the key now, a last
 *                          row without an instance says why
 *   instance, group
 *   owner      yes, no, unknown; NULL: no key
 *   verdict    "would serve it: " and how, or why not
 *   role, state, idle, held, opening, room
 *   balance    what balancing thinks of it, in words
 *   learning
 */
#include "autoconf.h"

#include "command_facts.h"
#include "command_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance_fact.h"
#include "config.h"
#include "fleet_key.h"
#include "place.h"
#include "pool_stat.h"

const char *const command_show_columns[] = {
    "key", "instance", "verdict", "mode", "access", "owner", "source",
    "topology", NULL
};

const char *const command_show_instances_columns[] = {
    "instance", "group", "role", "state", "since_ms", "retry_ms", "idle",
    "held", "opening", "reset", "room", "served", "identity", "timeline",
    "last_error", "weight", "flag", "latency_us", "in_flight", "cost",
    "position", "lag_ms", "backends", "backends_max", "active",
    "commits_per_s", "probed_ms", "why", "error_ms", "waiting", "learning",
    "closing", "peak_in_use", NULL
};

const char *const command_show_pools_columns[] = {
    "instance", "login", "user", "mine", "idle", "held", "learning",
    "opening", "reset", "closing", "room", "opened", "failed", "resets",
    "waiting", "left", "probing", NULL
};

const char *const command_show_topology_columns[] = {
    "path", "bound", "owner", "state", NULL
};

const char *const command_show_config_columns[] = { "keyword", "value", NULL };

/* Whole milliseconds from a to b, NULL when there is no such time. */
static void add_span(struct command_answer *answer, uint64_t from,
                     uint64_t to)
{
    if (from && from < to) {
        command_answer_number(answer, (to - from) / NS_PER_MS);
    } else {
        command_answer_add(answer, NULL);
    }
}

/* ---- SHOW AFFINITY --------------------------------------------------- */

static const char *ownership_word(enum route_ownership state)
{
    switch (state) {
    case ROUTE_IS_UNKEYED:
        return NULL;
    case ROUTE_IS_MOVING:
        return "moving";
    case ROUTE_IS_UNRESOLVED:
        return "unresolved";
    case ROUTE_IS_UNOWNED:
        return "none";
    default:
        return "unknown";
    }
}

static void add_owner(struct command_answer *answer, struct fleet *fleet,
                      const struct route_key *key)
{
    struct topology_answer owner = { .state = ROUTE_IS_UNKEYED };
    struct text text;

    if (key) {
        topology_find(fleet, key, &owner);
    }
    if (owner.state != ROUTE_IS_OWNED) {
        command_answer_add(answer, ownership_word(owner.state));
        return;
    }
    text_init(&text);
    for (uint32_t i = 0; i < owner.count; i++) {
        text_appendf(&text, "%s%s", i ? ", " : "",
                     command_facts_name(fleet, owner.owners[i]));
    }
    command_facts_add(answer, &text);
}

void command_show(const struct command_view *view,
                  struct command_answer *answer)
{
    const struct config_session *config = &view->config->session;

    command_answer_add(answer, view->key ? view->key->text : NULL);
    command_answer_add(answer, command_facts_or_null(view->instance));
    command_answer_add(answer, command_facts_or_null(view->verdict));
    command_answer_add(answer, config_word_mode(config->mode));
    command_answer_add(answer, config_word_access(view->write
                                                      ? CONFIG_READ_WRITE
                                                      : CONFIG_READ_ONLY));
    add_owner(answer, view->fleet, view->key);
    command_facts_source(answer, view->fleet);
    command_answer_add(answer, command_facts_topology(view->fleet));
}

/* ---- SHOW AFFINITY INSTANCES ----------------------------------------- */

/* 0 is not known. */
static void add_known(struct command_answer *answer, uint64_t value)
{
    if (value) {
        command_answer_number(answer, value);
    } else {
        command_answer_add(answer, NULL);
    }
}

static void add_balance(struct command_answer *answer,
                        const struct route_member *m, uint64_t now)
{
    uint64_t latency = balance_known_latency(m, now);

    command_answer_number(answer, atomic_load(&m->weight));
    command_answer_add(answer, balance_flag_word(balance_flag(m, now)));
    add_known(answer, latency / 1000);
    command_answer_number(answer, atomic_load(&m->in_flight));
    if (latency) {
        command_answer_number(answer, balance_cost(m, now) / 1000);
    } else {
        command_answer_add(answer, NULL);
    }
}

static void add_probed(struct command_answer *answer,
                       const struct fleet_instance_view *view, uint64_t now)
{
    bool standby = view->who.role == LINK_ROLE_STANDBY;
    char active[24];

    add_known(answer, view->position);
    add_span(answer, standby ? view->fresh_at : 0, now);
    add_known(answer, view->backends);
    add_known(answer, view->backends_max);
    if (view->backends) {
        snprintf(active, sizeof active, "%u.%03u", view->active / 1000,
                 view->active % 1000);
        command_answer_add(answer, active);
        command_answer_number(answer, view->commits_per_s);
    } else {
        command_answer_add(answer, NULL);
        command_answer_add(answer, NULL);
    }
    add_span(answer, view->probed_at, now);
}

/* What was not shown at first stands last, since some read by number. */
static void add_more(struct command_answer *answer, struct login *login,
                     uint32_t i, const struct fleet_instance_view *view,
                     const struct pool_view *pool)
{
    struct text why;

    text_init(&why);
    command_facts_why(login->fleet, i, view, &why);
    command_facts_add(answer, &why);
    add_span(answer, view->error_at, clock_ns());
    command_answer_number(answer, place_waiting_for(login, i));
    command_answer_number(answer, pool->count[LINK_LEARNING]);
    command_answer_number(answer, pool->count[LINK_CLOSING]);
    command_answer_number(answer, pool->stats[POOL_STAT_PEAK_IN_USE]);
}

static void add_instance(struct command_answer *answer, struct login *login,
                         uint32_t i, const struct pool_view *pool)
{
    struct fleet *fleet = login->fleet;
    struct fleet_instance_view view;
    uint64_t now = clock_ns();
    struct text error;

    fleet_view(fleet, i, &view);
    command_answer_add(answer, view.name);
    command_answer_add(answer, command_facts_name(fleet, view.group));
    command_answer_add(answer, command_facts_role(view.role));
    command_answer_add(answer, command_facts_state(fleet, i, view.health));
    add_span(answer, view.since, now);
    add_span(answer, view.health >= ROUTE_SUSPECT ? now : 0, view.retry_at);
    command_answer_number(answer, pool->count[LINK_IDLE] +
                                      pool->count[LINK_PROBING]);
    command_answer_number(answer, pool->count[LINK_HELD]);
    command_answer_number(answer, pool->count[LINK_OPENING]);
    command_answer_number(answer, pool->count[LINK_RESET]);
    command_answer_number(answer, pool->room);
    command_answer_number(answer, atomic_load(&fleet->members[i].served) /
                                      ROUTE_SERVED_UNIT);
    command_answer_add(answer, command_facts_or_null(view.who.identity));
    add_known(answer, view.who.timeline);
    text_init(&error);
    command_facts_error(&view.error, &error);
    command_facts_add(answer, &error);
    add_balance(answer, &fleet->members[i], now);
    add_probed(answer, &view, now);
    add_more(answer, login, i, &view, pool);
}

void command_show_instances(const struct command_view *view,
                            struct command_answer *answer)
{
    struct login_view *own = login_view(view->login);

    answer->failed |= !own;
    for (uint32_t i = 0; own && i < view->fleet->count; i++) {
        add_instance(answer, view->login, i, &own->pools[i]);
    }
    free(own);
}

/* ---- SHOW AFFINITY POOLS --------------------------------------------- */

static void add_pool(struct command_answer *answer,
                     const struct pool_view *pool)
{
    command_answer_number(answer, pool->count[LINK_IDLE] +
                                      pool->count[LINK_PROBING]);
    command_answer_number(answer, pool->count[LINK_HELD]);
    command_answer_number(answer, pool->count[LINK_LEARNING]);
    command_answer_number(answer, pool->count[LINK_OPENING]);
    command_answer_number(answer, pool->count[LINK_RESET]);
    command_answer_number(answer, pool->count[LINK_CLOSING]);
    command_answer_number(answer, pool->room);
    command_answer_number(answer, pool->stats[POOL_STAT_OPENED]);
    command_answer_number(answer, pool->stats[POOL_STAT_FAILED]);
    command_answer_number(answer, pool->stats[POOL_STAT_RESETS]);
}

static void add_login(struct command_answer *answer, struct login *login,
                      uint32_t number, bool mine)
{
    struct login_view *view = login_view(login);
    uint32_t waiting = place_waiting(login);

    answer->failed |= !view;
    for (uint32_t i = 0; view && i < login->fleet->count; i++) {
        command_answer_add(answer, command_facts_name(login->fleet, i));
        command_answer_number(answer, number);
        command_answer_add(answer, command_facts_or_null(login->user));
        command_answer_yes(answer, mine);
        add_pool(answer, &view->pools[i]);
        command_answer_number(answer, waiting);
        command_answer_number(answer, view->pools[i].left);
        command_answer_number(answer, view->pools[i].count[LINK_PROBING]);
    }
    free(view);
}

void command_show_pools(const struct command_view *view,
                        struct command_answer *answer)
{
    uint32_t count;
    struct login **logins = login_all(view->fleet, &count);

    answer->failed |= !logins;
    for (uint32_t i = 0; i < count; i++) {
        add_login(answer, logins[i], i + 1, logins[i] == view->login);
        login_release(logins[i]);
    }
    free(logins);
}

/* ---- SHOW AFFINITY TOPOLOGY, CONFIG ---------------------------------- */

struct topology_rows {
    struct command_answer *answer;
    const struct fleet *fleet;
};

static bool add_leaf(void *arg, const char *path, const char *bound,
                     int group, const char *state)
{
    struct topology_rows *rows = arg;

    command_answer_add(rows->answer, path);
    command_answer_add(rows->answer, bound);
    command_answer_add(rows->answer, command_facts_name(rows->fleet, group));
    command_answer_add(rows->answer, state);
    return !rows->answer->failed;
}

void command_show_topology(const struct command_view *view,
                           struct command_answer *answer)
{
    struct topology_rows rows = { answer, view->fleet };

    topology_show(view->fleet, add_leaf, &rows);
}

/* A value as its session means it, or, if it is no text, as it is. */
static void add_value(const struct command_view *view, const char *value,
                      struct command_answer *answer)
{
    struct text text;

    text_init_wiped(&text);
    if (fleet_read_text(view->fleet, value, view->login->wide, &text, NULL)) {
        answer->failed |= text.failed;
        value = text_string(&text);
    }
    command_answer_add(answer, command_facts_or_null(value));
    text_free(&text);
}

/* config_show() gives lines "keyword=value"; of a value of several lines the
   first is shown. */
void command_show_config(const struct command_view *view,
                         struct command_answer *answer)
{
    struct text text;
    char *line, *next;

    text_init_wiped(&text);
    config_show(view->config, &text);
    answer->failed |= text.failed;
    for (line = text.data; line && *line; line = next) {
        char *equals = strchr(line, '=');

        next = line + strcspn(line, "\n");
        if (*next) {
            *next++ = '\0';
        }
        if (equals && equals < next) {
            *equals = '\0';
            command_answer_add(answer, line);
            add_value(view, equals + 1, answer);
        }
    }
    text_free(&text);
}
