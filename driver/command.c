/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which function answers which command, and the end of a struct command.
 */
#include "autoconf.h"

#include "command.h"
#include "command_show.h"

#include <assert.h>
#include <stdlib.h>

void command_describe(const struct command *command,
                      struct command_answer *answer)
{
    static const char *const *const columns[COMMAND_KINDS] = {
        [COMMAND_SHOW] = command_show_columns,
        [COMMAND_SHOW_INSTANCES] = command_show_instances_columns,
        [COMMAND_SHOW_POOLS] = command_show_pools_columns,
        [COMMAND_SHOW_TOPOLOGY] = command_show_topology_columns,
        [COMMAND_SHOW_CONFIG] = command_show_config_columns,
        [COMMAND_SHOW_STATS] = command_show_stats_columns,
        [COMMAND_SHOW_EVENTS] = command_show_events_columns,
        [COMMAND_EXPLAIN_KEY] = command_explain_columns,
        [COMMAND_REFRESH] = command_refresh_columns,
        [COMMAND_REFRESH_LINKS] = command_refresh_links_columns,
        [COMMAND_REFRESH_CONFIG] = command_refresh_config_columns,
        [COMMAND_DRAIN] = command_drain_columns,
        [COMMAND_RESUME] = command_drain_columns,
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
        command_show(view, answer);
        break;
    case COMMAND_SHOW_INSTANCES:
        command_show_instances(view, answer);
        break;
    case COMMAND_SHOW_POOLS:
        command_show_pools(view, answer);
        break;
    case COMMAND_SHOW_TOPOLOGY:
        command_show_topology(view, answer);
        break;
    case COMMAND_SHOW_CONFIG:
        command_show_config(view, answer);
        break;
    case COMMAND_SHOW_STATS:
        command_show_stats(view, answer);
        break;
    case COMMAND_SHOW_EVENTS:
        command_show_events(view, answer);
        break;
    case COMMAND_EXPLAIN_KEY:
        ok = command_explain(command, view, answer, why);
        break;
    case COMMAND_REFRESH:
        command_refresh(view, answer);
        break;
    case COMMAND_REFRESH_LINKS:
        command_refresh_links(view, answer);
        break;
    case COMMAND_REFRESH_CONFIG:
        ok = command_refresh_config(view, answer, why);
        break;
    case COMMAND_DRAIN:
    case COMMAND_RESUME:
        ok = command_drain(command, view, answer, why);
        break;
    default: /* LATER: command_parse() has refused it */
        assert(false);
    }
    return ok;
}

void command_clear(struct command *command)
{
    free(command->argument);
    command->argument = NULL;
}

void command_free(struct command *command)
{
    if (command) {
        command_clear(command);
        free(command);
    }
}
