/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is said of instances in the answers of several commands.
 */
#include "autoconf.h"

#include "command_facts.h"

#include <stdlib.h>
#include <string.h>

#include "balance_fact.h"
#include "pool_shelf.h"
#include "topology.h"

const char *command_facts_role(enum route_role role)
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

const char *command_facts_state(const struct fleet *fleet, uint32_t i,
                                enum route_health health)
{
    static const char *const words[ROUTE_HEALTHS] = {
        "untried", "up", "suspect", "down"
    };
    const struct route_member *m = &fleet->members[i];

    if (atomic_load(&m->drained)) {
        return health == ROUTE_DOWN ? "draining, down" : "draining";
    }
    return health == ROUTE_UP && atomic_load(&m->slow) ? "slow"
                                                       : words[health];
}

const char *command_facts_name(const struct fleet *fleet, int64_t i)
{
    return i >= 0 && i < fleet->count ? fleet->instances[i].name : NULL;
}

const char *command_facts_or_null(const char *value)
{
    return *value ? value : NULL;
}

void command_facts_add(struct command_answer *answer, struct text *text)
{
    answer->failed |= text->failed;
    command_answer_add(answer, command_facts_or_null(text_string(text)));
    text_free(text);
}

static void cut(struct text *text)
{
    enum { MOST = 250 };

    if (text->length > MOST) {
        text->length = text_cut(text->data, MOST - 3);
        text->data[text->length] = '\0';
        text_append(text, "...");
    }
}

void command_facts_error(const struct link_error *error, struct text *text)
{
    link_say_error(error, text);
    cut(text);
}

static void also(struct text *text, const char *why)
{
    text_appendf(text, "%s%s", text->length ? "; " : "", why);
}

void command_facts_why(const struct fleet *fleet, uint32_t i,
                       const struct fleet_instance_view *view,
                       struct text *text)
{
    const struct route_member *m = &fleet->members[i];

    if (atomic_load(&m->drained)) {
        also(text, "drained by DRAIN AFFINITY INSTANCE");
    }
    if (atomic_load(&m->disabled)) {
        also(text, "disabled in the map file");
    }
    if (view->rival >= 0) {
        also(text, command_facts_name(fleet, view->rival));
        text_append(text, " is primary in its place");
    }
    if (view->health >= ROUTE_SUSPECT) {
        also(text, "");
        link_say_error(&view->cause, text);
    } else if (atomic_load(&m->slow)) {
        also(text, route_refusal_text(ROUTE_REFUSED_SLOW));
    } else if (balance_violates(m, clock_ns())) {
        also(text, "over its limits");
    }
    cut(text);
}

struct route_stock *command_facts_stock(struct login *login)
{
    size_t count = login->fleet->count;
    struct route_stock *copy = calloc(count, sizeof *copy);

    if (copy) {
        mutex_lock(&login->lock);
        shelf_gather_locked(login);
        memcpy(copy, login->stock, count * sizeof *copy);
        mutex_unlock(&login->lock);
    }
    return copy;
}

const char *command_facts_topology(struct fleet *fleet)
{
    return topology_complete(fleet) ? "complete" : "incomplete";
}

void command_facts_source(struct command_answer *answer, struct fleet *fleet)
{
    struct text text;

    text_init(&text);
    topology_source(fleet, &text);
    command_facts_add(answer, &text);
}
