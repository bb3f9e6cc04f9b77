/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * EXPLAIN AFFINITY KEY: whose a key is, who would serve it now, and why not
 * the others, as place.c would decide it for this session.  The columns are
 * described in command_show.c.
 */
#include "autoconf.h"

#include "command_facts.h"
#include "command_show.h"

#include <stdlib.h>
#include <string.h>

#include "balance_fact.h"
#include "config.h"
#include "fleet_key.h"
#include "place.h"

const char *const command_explain_columns[] = {
    "instance", "group", "owner", "verdict", "role", "state", "idle", "held",
    "opening", "room", "balance", "learning", NULL
};

static const char *owner_word(const struct topology_answer *owner,
                              uint32_t group)
{
    switch (owner->state) {
    case ROUTE_IS_UNKEYED:
        return NULL;
    case ROUTE_IS_UNOWNED:
        return "no";
    case ROUTE_IS_OWNED:
        return topology_names(owner, group) ? "yes" : "no";
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
        command_facts_error(&instance->error, text);
    }
}

/* "good, weight 1, 312 us, 2 in flight" */
static void say_balance(const struct route_member *m, struct text *text)
{
    uint64_t now = clock_ns();
    uint64_t latency = balance_known_latency(m, now);
    uint32_t ramp = balance_ramp(m, now);

    text_appendf(text, "%s, weight %u", balance_flag_word(balance_flag(m, now)),
                 atomic_load(&m->weight));
    if (ramp < BALANCE_RAMP) {
        text_appendf(text, " of which %u %% yet", ramp * 100 / BALANCE_RAMP);
    }
    if (latency) {
        text_appendf(text, ", %llu us", (unsigned long long)latency / 1000);
    }
    text_appendf(text, ", %u in flight", atomic_load(&m->in_flight));
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
    command_answer_add(answer, command_facts_name(fleet, view.group));
    command_answer_add(answer, owner_word(&order->owner, view.group));
    text_init(&text);
    say_verdict(order, i, refusal, &view, &text);
    command_facts_add(answer, &text);
    command_answer_add(answer, command_facts_role(view.role));
    command_answer_add(answer, command_facts_state(fleet, i, view.health));
    command_answer_number(answer, stock->idle);
    command_answer_number(answer, stock->held);
    command_answer_number(answer, stock->opening);
    command_answer_number(answer, stock->room);
    text_init(&text);
    say_balance(&fleet->members[i], &text);
    command_facts_add(answer, &text);
    command_answer_number(answer, stock->learning);
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
        stock = command_facts_stock(view->login);
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

bool command_explain(const struct command *command,
                     const struct command_view *view,
                     struct command_answer *answer, struct why *why)
{
    bool wide = view->login->wide || command->width == TEXT_WIDE;
    struct route_key *key = NULL;
    bool ok = fleet_read_key(view->fleet, command->argument, wide, &key, why) &&
              explain(view, key, answer, why);

    route_key_free(key);
    return ok;
}
