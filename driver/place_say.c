/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is said of a placement: the verdict in one line, and the sentences of
 * an error (promise 6): which key, whose it is, what was tried, how long.
 * Record 1 fits the 512 characters of unixODBC 2.3.11 (rules §11.7), so the
 * instances' own reasons go into records of their own.
 */
#include "autoconf.h"

#include "place_unit.h"
#include "pool_shelf.h"

static const char *instance_name(const struct place_order *order, int i)
{
    const struct fleet *fleet = order->login->fleet;

    return i >= 0 && (uint32_t)i < fleet->count
               ? fleet->instances[i].name
               : "none";
}

/* "key 1500 (owner n2)", "no key".  It is part of every verdict, which is made
   for each session: no formats. */
static void say_key(const struct place_order *order, struct text *out)
{
    const struct topology_answer *owner = &order->owner;
    char key[ROUTE_KEY_PRINT];

    if (!order->key) {
        text_append(out, "no key");
        return;
    }
    text_append(out, "key ");
    text_append(out, route_key_print(order->key, key, sizeof key));
    text_append(out, " (owner ");
    if (owner->state != ROUTE_IS_OWNED || owner->count == 0) {
        text_append(out, "unknown)");
        return;
    }
    for (uint32_t i = 0; i < owner->count && i < 3; i++) {
        text_append(out, i ? ", " : "");
        text_append(out, instance_name(order, (int)owner->owners[i]));
    }
    text_append(out, owner->count > 3 ? ", ...)" : ")");
}

void place_say(const struct place_order *order, struct text *out)
{
    static const char *const actions[] = {
        [ROUTE_TAKE] = "taken",
        [ROUTE_OPEN] = "opened",
        [ROUTE_WAIT] = "waiting",
        [ROUTE_FAIL] = "failed",
    };
    const struct verdict *v = &order->verdict;

    text_append(out, instance_name(order, v->instance));
    text_append(out, ": ");
    say_key(order, out);
    text_append(out, ", ");
    text_append(out, actions[v->action]);
    text_append(out, ": ");
    text_append(out, route_reason_text(v->reason));
}

void place_late_error(const struct unit *unit, bool begun,
                      struct link_error *error)
{
    const struct config_fleet *config = &unit->order->login->fleet->config;

    if (unit->validating) {
        link_set_error(error, "HYT01",
                       "did not answer within CheckTimeout=%u ms",
                       config->check_timeout);
    } else if (!begun) {
        link_set_error(error, "HYT01",
                       "others were being opened for ConnectTimeout=%u ms",
                       config->connect_timeout);
    } else {
        link_set_error(error, "HYT01",
                       "did not answer within ConnectTimeout=%u ms",
                       config->connect_timeout);
    }
}

/* What waiting does not change. */
static void say_incapable(const struct place_order *order, uint32_t i,
                          struct text *out)
{
    enum route_refusal refusal =
        route_incapable(&order->login->fleet->members[i], order->write);

    if (refusal) {
        text_appendf(out, "; %s", route_refusal_text(refusal));
    }
}

/* The latest failure there may be another login's, for another reason. */
static void say_if_full(const struct inner *inner,
                        const struct link_error *error, struct text *out)
{
    if (inner_is_full(link_fault(inner->kind, error))) {
        text_append(out, ": ");
        link_say_error(error, out);
    }
}

static void say_state(const struct place_order *order, uint32_t i,
                      const struct fleet_instance_view *view,
                      struct text *out)
{
    struct login *login = order->login;
    struct route_stock stock;

    mutex_lock(&login->lock);
    shelf_gather_locked(login);
    stock = login->stock[i];
    mutex_unlock(&login->lock);
    text_appendf(out, "links %u idle, %u held, %u learning, %u opening, "
                 "room for %u",
                 stock.idle, stock.held, stock.learning, stock.opening,
                 stock.room);
    if (stock.full_until) {
        text_append(out, "; takes no more connections");
        say_if_full(order->login->fleet->instances[i].inner, &view->error,
                    out);
    }
    say_incapable(order, i, out);
    if (view->health >= ROUTE_SUSPECT) {
        uint64_t now = clock_ns();
        text_appendf(out, "; %s for %u ms",
                     view->health == ROUTE_DOWN ? "down" : "suspect",
                     (unsigned)((now - view->since) / NS_PER_MS));
        if (view->retry_at > now) {
            text_appendf(out, ", tried again in %u ms",
                         (unsigned)((view->retry_at - now) / NS_PER_MS));
        }
        text_append(out, ": ");
        link_say_error(&view->cause, out);
    }
}

/* Strict knows the owner, and this group is not it. */
static bool is_ruled_out(const struct place_order *order, uint32_t group)
{
    return order->owner.state == ROUTE_IS_OWNED &&
           order->mode == ROUTE_STRICT &&
           !topology_names(&order->owner, group);
}

void place_say_refusal(const struct place_order *order, uint32_t i,
                       struct text *out)
{
    struct fleet *fleet = order->login->fleet;
    struct fleet_instance_view view;

    fleet_view(fleet, i, &view);
    text_appendf(out, "%s: ", view.name);
    if (is_ruled_out(order, view.group)) {
        text_append(out, route_refusal_text(ROUTE_REFUSED_NOT_OWNER));
    } else if (order->refusals && order->refusals[i].error.state[0]) {
        link_say_error(&order->refusals[i].error, out);
    } else {
        say_state(order, i, &view, out);
    }
}

/* Which of the sentences of design §5.4 it is. */
static enum why_code failure_code(const struct unit *unit)
{
    const struct place_order *order = unit->order;

    if (unit->broke) {
        return WHY_MEMORY;
    }
    if (unit->refused_at >= 0) {
        return order->refusals &&
                       order->refusals[unit->refused_at].fault ==
                           INNER_FAULT_LOGIN
                   ? WHY_LOGIN
                   : WHY_REFUSED;
    }
    if (order->owner.bad_key) {
        return WHY_KEY;
    }
    if (order->verdict.reason == ROUTE_NO_OWNER ||
        order->verdict.reason == ROUTE_UNLEARNABLE) {
        return WHY_NO_OWNER;
    }
    if (unit->expired && unit->late_at < 0) {
        return order->verdict.action == ROUTE_OPEN ? WHY_OPEN_LATE
                                                   : WHY_WAIT_LATE;
    }
    return unit->late_at >= 0 ? WHY_OPEN_LATE : WHY_REFUSED;
}

/* It did not ask an instance that had told somebody else that it is not ready
   yet. */
static void say_unready(const struct place_order *order, struct text *out)
{
    const struct verdict *v = &order->verdict;
    struct fleet_instance_view view;

    if (v->reason == ROUTE_STARTING && v->instance >= 0) {
        fleet_view(order->login->fleet, (uint32_t)v->instance, &view);
        text_appendf(out, "; %s: ", view.name);
        link_say_error(&view.cause, out);
    }
}

/* Nobody was asked, since those that it would be cannot: drained, disabled,
   standbys.  The first ones only, as there is little room. */
static void say_unable(const struct place_order *order, struct text *out)
{
    struct fleet *fleet = order->login->fleet;
    struct fleet_instance_view view;

    for (uint32_t i = 0, said = 0; i < fleet->count && said < 3; i++) {
        enum route_refusal refusal =
            route_incapable(&fleet->members[i], order->write);

        fleet_view(fleet, i, &view);
        if (refusal && !is_ruled_out(order, view.group)) {
            text_appendf(out, "; %s: %s", view.name,
                         route_refusal_text(refusal));
            said++;
        }
    }
}

/* Many programs show the first record only, so it holds the cause: what the
   instance said that refused the login, or did not answer, or failed last; if
   none was asked, why not. */
static void say_cause(const struct unit *unit, struct text *out)
{
    const struct place_order *order = unit->order;
    int at = unit->refused_at >= 0 ? unit->refused_at : unit->late_at;

    for (uint32_t i = 0;
         order->refusals && at < 0 && i < order->login->fleet->count; i++) {
        at = order->refusals[i].error.state[0] ? (int)i : -1;
    }
    if (order->refusals && at >= 0 && order->refusals[at].error.state[0]) {
        text_appendf(out, "; %s: ", instance_name(order, at));
        link_say_error(&order->refusals[at].error, out);
    } else if (failure_code(unit) == WHY_REFUSED) {
        say_unable(order, out);
    }
    if (!order->refusals) {
        say_unready(order, out);
    }
}

void place_explain_failure(struct unit *unit)
{
    static const char *const modes[] = {
        [ROUTE_HINT] = "hint",
        [ROUTE_PREFER] = "prefer",
        [ROUTE_STRICT] = "strict",
    };
    struct place_order *order = unit->order;
    enum why_code code = failure_code(unit);
    bool refused = unit->refused_at >= 0;
    struct text text;

    text_init(&text);
    if (code == WHY_MEMORY) {
        why_set(&order->why, code,
                "no memory or no helper thread to open a link");
    } else if (code == WHY_KEY) {
        order->why = order->owner.why;
        order->why.code = code;
    } else {
        say_key(order, &text);
        text_append(&text, code == WHY_WAIT_LATE
                               ? ": no link became free within PoolWait"
                           : code == WHY_OPEN_LATE
                               ? ": no link was open in time"
                           : code == WHY_NO_OWNER ? ": no link"
                           : code == WHY_LOGIN    ? ": the login is refused"
                                                  : ": no link can be had");
        if (!refused) { /* or it would be said to wait, or to open */
            text_appendf(&text, "; %s",
                         route_reason_text(order->verdict.reason));
        }
        text_appendf(&text, " (AffinityMode=%s, %s unit, waited %u ms)",
                     modes[order->mode], order->write ? "write" : "read",
                     (unsigned)(order->waited / NS_PER_MS));
        say_cause(unit, &text);
        if (!refused && order->key && order->owner.why.text[0]) {
            text_appendf(&text, "; %s", order->owner.why.text);
        }
        why_set(&order->why, code, "%s", text_string(&text));
    }
    text_free(&text);
}
