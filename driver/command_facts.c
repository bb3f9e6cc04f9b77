/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is said of instances in the answers of several commands.
 */
#include "autoconf.h"

#include "command_facts.h"

#include <stdlib.h>
#include <string.h>

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

void command_facts_error(const struct link_error *error, struct text *text)
{
    enum { MOST = 250 };

    link_say_error(error, text);
    if (text->length > MOST) {
        text->length = text_cut(text->data, MOST - 3);
        text->data[text->length] = '\0';
        text_append(text, "...");
    }
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
