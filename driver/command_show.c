/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What each command answers.  All columns are texts; what is missing or not
 * known is NULL.
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
 *                            down, draining
 *   since_ms                 in this state; retry_ms: when down, passed over
 *                            for so long yet
 *   idle, held, opening, reset, room   links of this session's login, and how
 *                            many more it may open
 *   served                   sessions placed there, all logins, as balancing
 *                            counts them
 *   identity, timeline       of its data, as it last said
 *   last_error               the latest failure to reach it, cut to 250
 *
 * SHOW AFFINITY POOLS      one row per login and instance
 *   instance, login, user    logins are numbered; user: its UID
 *   mine                     yes: this session's login
 *   idle, held, learning, opening, reset, closing, room
 *   opened, failed, resets   since the start
 *   waiting                  units that wait in this login, for any instance
 *
 * SHOW AFFINITY TOPOLOGY   one row per leaf, range, value or target
 *   path, bound, owner, state
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
 *
 * REFRESH AFFINITY         one row
 *   source     what is learnt anew
 *   asked      how many instances are being asked at this moment
 *   topology   complete or incomplete, as in SHOW AFFINITY
 */
#include "autoconf.h"

#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "place.h"

static const char *const show_columns[] = {
    "key", "instance", "verdict", "mode", "access", "owner", "source",
    "topology", NULL
};

static const char *const instances_columns[] = {
    "instance", "group", "role", "state", "since_ms", "retry_ms", "idle",
    "held", "opening", "reset", "room", "served", "identity", "timeline",
    "last_error", NULL
};

static const char *const pools_columns[] = {
    "instance", "login", "user", "mine", "idle", "held", "learning",
    "opening", "reset", "closing", "room", "opened", "failed", "resets",
    "waiting", NULL
};

static const char *const topology_columns[] = {
    "path", "bound", "owner", "state", NULL
};

static const char *const config_columns[] = { "keyword", "value", NULL };

static const char *const explain_columns[] = {
    "instance", "group", "owner", "verdict", "role", "state", "idle", "held",
    "opening", "room", NULL
};

static const char *const refresh_columns[] = {
    "source", "asked", "topology", NULL
};

/* ---- words ----------------------------------------------------------- */

static const char *role_word(enum route_role role)
{
    switch (role) {
    case ROUTE_PRIMARY:
        return "primary";
    case ROUTE_STANDBY:
        return "standby";
    default:
        return "unknown";
    }
}

static const char *state_word(const struct fleet *fleet, uint32_t i,
                              enum route_health health)
{
    switch (health) {
    case ROUTE_UP:
        return atomic_load(&fleet->members[i].slow) ? "slow" : "up";
    case ROUTE_DOWN:
        return "down";
    case ROUTE_DRAINING:
        return "draining";
    default:
        return "untried";
    }
}

static const char *name_of(const struct fleet *fleet, int64_t i)
{
    return i >= 0 && i < fleet->count ? fleet->instances[i].name : NULL;
}

static const char *or_null(const char *value)
{
    return *value ? value : NULL;
}

static const char *topology_word(struct fleet *fleet)
{
    return topology_complete(fleet) ? "complete" : "incomplete";
}

static void add_text(struct command_answer *answer, struct text *text)
{
    answer->failed |= text->failed;
    command_answer_add(answer, or_null(text_string(text)));
    text_free(text);
}

static void add_source(struct command_answer *answer, struct fleet *fleet)
{
    struct text text;

    text_init(&text);
    topology_source(fleet, &text);
    add_text(answer, &text);
}

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

/* An error in one line of 250 characters: longer values are long objects to
   ODBC, and Perl's DBI reads no more than 80 characters of one unasked. */
static void say_error(const struct link_error *error, struct text *text)
{
    enum { MOST = 250 };

    if (error->state[0]) {
        text_appendf(text, "[%s] %s", error->state, error->text);
    }
    if (text->length > MOST) {
        size_t end = MOST - 3;

        while (end > 0 && ((unsigned char)text->data[end] & 0xC0) == 0x80) {
            end--;
        }
        text->data[end] = '\0';
        text->length = end;
        text_append(text, "...");
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
                     name_of(fleet, owner.owners[i]));
    }
    add_text(answer, &text);
}

static void show(const struct command_view *view,
                 struct command_answer *answer)
{
    const struct config_session *config = &view->config->session;

    command_answer_add(answer, view->key ? view->key->text : NULL);
    command_answer_add(answer, or_null(view->instance));
    command_answer_add(answer, or_null(view->verdict));
    command_answer_add(answer, config_word_mode(config->mode));
    command_answer_add(answer, config_word_access(view->write
                                                      ? CONFIG_READ_WRITE
                                                      : CONFIG_READ_ONLY));
    add_owner(answer, view->fleet, view->key);
    add_source(answer, view->fleet);
    command_answer_add(answer, topology_word(view->fleet));
}

/* ---- SHOW AFFINITY INSTANCES ----------------------------------------- */

/* A consistent copy; NULL: out of memory. */
static struct route_stock *copy_stock(struct login *login)
{
    size_t count = login->fleet->count;
    struct route_stock *copy = calloc(count, sizeof *copy);

    if (copy) {
        mutex_lock(&login->lock);
        memcpy(copy, login->stock, count * sizeof *copy);
        mutex_unlock(&login->lock);
    }
    return copy;
}

static void add_instance(struct command_answer *answer, struct fleet *fleet,
                         uint32_t i, const struct route_stock *stock)
{
    struct fleet_instance_view view;
    uint64_t now = clock_ns();
    struct text error;

    fleet_view(fleet, i, &view);
    command_answer_add(answer, view.name);
    command_answer_add(answer, name_of(fleet, view.group));
    command_answer_add(answer, role_word(view.role));
    command_answer_add(answer, state_word(fleet, i, view.health));
    add_span(answer, view.since, now);
    add_span(answer, view.health == ROUTE_DOWN ? now : 0, view.retry_at);
    command_answer_number(answer, stock->idle);
    command_answer_number(answer, stock->held);
    command_answer_number(answer, stock->opening);
    command_answer_number(answer, stock->reset);
    command_answer_number(answer, stock->room);
    command_answer_number(answer, atomic_load(&fleet->members[i].served) /
                                      ROUTE_SERVED_UNIT);
    command_answer_add(answer, or_null(view.who.identity));
    if (view.who.timeline) {
        command_answer_number(answer, view.who.timeline);
    } else {
        command_answer_add(answer, NULL);
    }
    text_init(&error);
    say_error(&view.error, &error);
    add_text(answer, &error);
}

static void show_instances(const struct command_view *view,
                           struct command_answer *answer)
{
    struct route_stock *stock = copy_stock(view->login);

    answer->failed |= !stock;
    for (uint32_t i = 0; stock && i < view->fleet->count; i++) {
        add_instance(answer, view->fleet, i, &stock[i]);
    }
    free(stock);
}

/* ---- SHOW AFFINITY POOLS --------------------------------------------- */

struct pool_figures {
    uint32_t count[LINK_STATES];
    uint32_t room;
    uint64_t opened, failed, reset;
};

static struct pool_figures *copy_pools(struct login *login, uint32_t *waiting)
{
    size_t count = login->fleet->count;
    struct pool_figures *copy = calloc(count, sizeof *copy);

    if (!copy) {
        return NULL;
    }
    mutex_lock(&login->lock);
    *waiting = place_waiting_locked(login);
    for (size_t i = 0; i < count; i++) {
        const struct pool *pool = &login->pools[i];

        memcpy(copy[i].count, pool->count, sizeof pool->count);
        copy[i].room = login->stock[i].room;
        copy[i].opened = pool->opened;
        copy[i].failed = pool->failed;
        copy[i].reset = pool->reset;
    }
    mutex_unlock(&login->lock);
    return copy;
}

/* A user's name is no secret, and tells logins apart for whoever looks. */
static void login_user(const struct login *login, struct text *user)
{
    struct connstr passed;

    if (!login_passed(login, &passed)) {
        user->failed = true;
        return;
    }
    text_append(user, connstr_value(&passed, "UID"));
    connstr_free(&passed);
}

static void add_pool(struct command_answer *answer,
                     const struct pool_figures *pool)
{
    command_answer_number(answer, pool->count[LINK_IDLE]);
    command_answer_number(answer, pool->count[LINK_HELD]);
    command_answer_number(answer, pool->count[LINK_LEARNING]);
    command_answer_number(answer, pool->count[LINK_OPENING]);
    command_answer_number(answer, pool->count[LINK_RESET]);
    command_answer_number(answer, pool->count[LINK_CLOSING]);
    command_answer_number(answer, pool->room);
    command_answer_number(answer, pool->opened);
    command_answer_number(answer, pool->failed);
    command_answer_number(answer, pool->reset);
}

static void add_login(struct command_answer *answer, struct login *login,
                      uint32_t number, bool mine)
{
    uint32_t waiting = 0;
    struct pool_figures *pools = copy_pools(login, &waiting);
    struct text user;

    text_init(&user);
    login_user(login, &user);
    answer->failed |= !pools || user.failed;
    for (uint32_t i = 0; pools && i < login->fleet->count; i++) {
        command_answer_add(answer, name_of(login->fleet, i));
        command_answer_number(answer, number);
        command_answer_add(answer, or_null(text_string(&user)));
        command_answer_yes(answer, mine);
        add_pool(answer, &pools[i]);
        command_answer_number(answer, waiting);
    }
    text_free(&user);
    free(pools);
}

static void show_pools(const struct command_view *view,
                       struct command_answer *answer)
{
    uint32_t count;
    struct login **logins = fleet_logins(view->fleet, &count);

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
    command_answer_add(rows->answer, name_of(rows->fleet, group));
    command_answer_add(rows->answer, state);
    return !rows->answer->failed;
}

static void show_topology(const struct command_view *view,
                          struct command_answer *answer)
{
    struct topology_rows rows = { answer, view->fleet };

    topology_show(view->fleet, add_leaf, &rows);
}

/* config_show() gives lines "keyword=value"; a value of several lines goes on
   where no keyword of ours begins. */
static void show_config(const struct command_view *view,
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
            command_answer_add(answer, or_null(equals + 1));
        }
    }
    text_free(&text);
}

/* ---- EXPLAIN AFFINITY KEY -------------------------------------------- */

static const char *owner_word(const struct topology_answer *owner,
                              uint32_t group)
{
    switch (owner->state) {
    case ROUTE_IS_UNKEYED:
        return NULL;
    case ROUTE_IS_UNOWNED:
        return "no";
    case ROUTE_IS_OWNED:
        for (uint32_t i = 0; i < owner->count; i++) {
            if (owner->owners[i] == group) {
                return "yes";
            }
        }
        return "no";
    default:
        return "unknown";
    }
}

static void say_verdict(const struct place_order *order, uint32_t i,
                        enum route_refusal refusal,
                        const struct fleet_instance_view *instance,
                        struct text *text)
{
    const struct verdict *v = &order->verdict;

    if (v->instance == (int)i && v->action != ROUTE_FAIL) {
        text_appendf(text, "%s: %s", v->action == ROUTE_WAIT
                                         ? "would serve it in time"
                                         : "would serve it",
                     route_reason_text(v->reason));
        return;
    }
    text_append(text, route_refusal_text(refusal));
    if (refusal == ROUTE_REFUSED_DOWN && instance->error.state[0]) {
        text_append(text, ": ");
        say_error(&instance->error, text);
    }
}

static void explain_instance(const struct place_order *order, uint32_t i,
                             enum route_refusal refusal,
                             const struct route_stock *stock,
                             struct command_answer *answer)
{
    struct fleet *fleet = order->login->fleet;
    struct fleet_instance_view view;
    struct text text;

    fleet_view(fleet, i, &view);
    command_answer_add(answer, view.name);
    command_answer_add(answer, name_of(fleet, view.group));
    command_answer_add(answer, owner_word(&order->owner, view.group));
    text_init(&text);
    say_verdict(order, i, refusal, &view, &text);
    add_text(answer, &text);
    command_answer_add(answer, role_word(view.role));
    command_answer_add(answer, state_word(fleet, i, view.health));
    command_answer_number(answer, stock->idle);
    command_answer_number(answer, stock->held);
    command_answer_number(answer, stock->opening);
    command_answer_number(answer, stock->room);
}

static void explain_nobody(const struct place_order *order,
                           struct command_answer *answer)
{
    struct text text;

    text_init(&text);
    text_appendf(&text, "nobody would serve it now: %s",
                 route_reason_text(order->verdict.reason));
    for (size_t i = 0; i < answer->columns; i++) {
        command_answer_add(answer, i == 3 ? text_string(&text) : NULL);
    }
    text_free(&text);
}

static bool explain(const struct command_view *view,
                    const struct route_key *key,
                    struct command_answer *answer, struct why *why)
{
    uint32_t count = view->fleet->count;
    enum route_refusal *refusals = calloc(count, sizeof *refusals);
    struct route_stock *stock = NULL;
    struct place_order order = {
        .login = view->login,
        .key = key,
        .mode = view->mode,
        .write = view->write,
        .pool_wait_ms = view->config->session.pool_wait,
        .deadline = UINT64_MAX,
    };
    bool ok = true;

    if (refusals) {
        place_explain(&order, refusals);
        ok = !order.owner.bad_key;
        stock = copy_stock(view->login);
    }
    answer->failed |= !stock;
    if (!ok) {
        *why = order.owner.why;
        why->code = WHY_KEY;
    }
    for (uint32_t i = 0; ok && !answer->failed && i < count; i++) {
        explain_instance(&order, i, refusals[i], &stock[i], answer);
    }
    if (ok && !answer->failed &&
        (order.verdict.instance < 0 || order.verdict.action == ROUTE_FAIL)) {
        explain_nobody(&order, answer);
    }
    free(refusals);
    free(stock);
    return ok;
}

static bool explain_key(const struct command *command,
                        const struct command_view *view,
                        struct command_answer *answer, struct why *why)
{
    struct route_key *key = NULL;
    bool ok;

    switch (route_key_parse(command->argument, strlen(command->argument),
                            &key, why)) {
    case ROUTE_KEY_OK:
    case ROUTE_KEY_NONE:
        break;
    default:
        return false;
    }
    ok = explain(view, key, answer, why);
    route_key_free(key);
    return ok;
}

/* ---- REFRESH AFFINITY ------------------------------------------------ */

static void refresh(const struct command_view *view,
                    struct command_answer *answer)
{
    topology_forget(view->fleet);
    add_source(answer, view->fleet);
    command_answer_number(answer, place_learn(view->login));
    command_answer_add(answer, topology_word(view->fleet));
}

/* ---- all of them ----------------------------------------------------- */

void command_describe(const struct command *command,
                      struct command_answer *answer)
{
    static const char *const *const columns[COMMAND_KINDS] = {
        [COMMAND_SHOW] = show_columns,
        [COMMAND_SHOW_INSTANCES] = instances_columns,
        [COMMAND_SHOW_POOLS] = pools_columns,
        [COMMAND_SHOW_TOPOLOGY] = topology_columns,
        [COMMAND_SHOW_CONFIG] = config_columns,
        [COMMAND_EXPLAIN_KEY] = explain_columns,
        [COMMAND_REFRESH] = refresh_columns,
    };

    command_answer_begin(answer, columns[command->kind]);
}

bool command_run(const struct command *command,
                 const struct command_view *view,
                 struct command_answer *answer, struct why *why)
{
    bool ok = true;

    command_describe(command, answer);
    switch (command->kind) {
    case COMMAND_SHOW:
        show(view, answer);
        break;
    case COMMAND_SHOW_INSTANCES:
        show_instances(view, answer);
        break;
    case COMMAND_SHOW_POOLS:
        show_pools(view, answer);
        break;
    case COMMAND_SHOW_TOPOLOGY:
        show_topology(view, answer);
        break;
    case COMMAND_SHOW_CONFIG:
        show_config(view, answer);
        break;
    case COMMAND_EXPLAIN_KEY:
        ok = explain_key(command, view, answer, why);
        break;
    default:
        refresh(view, answer);
        break;
    }
    return ok;
}
