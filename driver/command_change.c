/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The commands that change something, and what they answer.
 *
 * REFRESH AFFINITY         one row
 *   source     what is learnt anew
 *   asked      how many instances were asked
 *   topology   complete, or incomplete if PoolWait was not enough; SHOW
 *              AFFINITY and SHOW AFFINITY TOPOLOGY tell how it goes on
 *
 * REFRESH AFFINITY LINKS   one row: of all logins
 *   closed     links that were idle, and are being closed
 *   held       links that will be closed when they come back
 *
 * REFRESH AFFINITY CONFIG  one row
 *   map        the map file, NULL if there is none; one that cannot be used is
 *              an error, and changes nothing
 *   read       yes; no: there is none
 *
 * DRAIN AFFINITY INSTANCE name, RESUME AFFINITY INSTANCE name    one row
 *   instance, state          as SHOW AFFINITY INSTANCES has them
 *   held                     links that sessions still hold there, all logins
 */
#include "autoconf.h"

#include "command_facts.h"
#include "command_show.h"

#include <stdlib.h>

#include "config.h"
#include "fleet_drain.h"
#include "fleet_file.h"
#include "place.h"

const char *const command_refresh_columns[] = {
    "source", "asked", "topology", NULL
};

const char *const command_refresh_links_columns[] = {
    "closed", "held", NULL
};

const char *const command_refresh_config_columns[] = {
    "map", "read", NULL
};

const char *const command_drain_columns[] = {
    "instance", "state", "held", NULL
};

void command_refresh(const struct command_view *view,
                     struct command_answer *answer)
{
    fleet_probe_forgive(view->fleet);
    topology_forget(view->fleet);
    command_facts_source(answer, view->fleet);
    command_answer_number(answer, place_learn(view->login,
                                              view->config->session.pool_wait));
    command_answer_add(answer, command_facts_topology(view->fleet));
}

/* ---- links --------------------------------------------------------------- */

/* Links of one instance in all logins, or (-1) of all. */
struct sum {
    uint32_t idle, held;
};

static struct sum sum_links(struct fleet *fleet, int instance)
{
    uint32_t count;
    struct login **logins = login_all(fleet, &count);
    struct sum sum = { 0 };

    for (uint32_t k = 0; k < count; k++) {
        mutex_lock(&logins[k]->lock);
        for (uint32_t i = 0; i < fleet->count; i++) {
            if (instance < 0 || i == (uint32_t)instance) {
                sum.idle += logins[k]->stock[i].idle;
                sum.held += logins[k]->stock[i].held;
            }
        }
        mutex_unlock(&logins[k]->lock);
        login_release(logins[k]);
    }
    free(logins);
    return sum;
}

/* At once, and not at the keeper's next round. */
static void gather(struct fleet *fleet, uint32_t i)
{
    uint32_t count;
    struct login **logins = login_all(fleet, &count);

    for (uint32_t k = 0; k < count; k++) {
        pool_trim(&logins[k]->pools[i]);
        login_release(logins[k]);
    }
    free(logins);
}

void command_refresh_links(const struct command_view *view,
                           struct command_answer *answer)
{
    struct sum sum = sum_links(view->fleet, -1);

    for (uint32_t i = 0; i < view->fleet->count; i++) {
        fleet_renew_links(view->fleet, i);
        gather(view->fleet, i);
    }
    command_answer_number(answer, sum.idle);
    command_answer_number(answer, sum.held);
}

bool command_refresh_config(const struct command_view *view,
                            struct command_answer *answer, struct why *why)
{
    command_answer_add(answer, command_facts_or_null(view->fleet->config.map));
    command_answer_yes(answer, *view->fleet->config.map != '\0');
    return fleet_file_refresh(view->fleet, why);
}

/* ---- draining ------------------------------------------------------------ */

/* Its index; -1: why says which there are. */
static int find_instance(const struct fleet *fleet, const char *name,
                         struct why *why)
{
    struct text names;

    text_init(&names);
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (text_same(fleet->instances[i].name, name)) {
            text_free(&names);
            return (int)i;
        }
        text_appendf(&names, "%s%s", i ? ", " : "", fleet->instances[i].name);
    }
    why_set(why, WHY_VALUE, "there is no instance %.60s; Instances is %s",
            name, text_string(&names));
    text_free(&names);
    return -1;
}

bool command_drain(const struct command *command,
                   const struct command_view *view,
                   struct command_answer *answer, struct why *why)
{
    struct fleet *fleet = view->fleet;
    int i = find_instance(fleet, command->argument, why);
    struct fleet_instance_view is;

    if (i < 0) {
        return false;
    }
    if (!fleet_drain(fleet, (uint32_t)i, command->kind == COMMAND_DRAIN)) {
        why_memory(why);
        return false;
    }
    gather(fleet, (uint32_t)i);
    fleet_view(fleet, (uint32_t)i, &is);
    command_answer_add(answer, is.name);
    command_answer_add(answer,
                       command_facts_state(fleet, (uint32_t)i, is.health));
    command_answer_number(answer, sum_links(fleet, i).held);
    return true;
}
