/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The commands themselves, for command.c: the columns of each, which end with
 * NULL, and the function that adds its rows.  What they mean stands at the
 * head of command_show.c, of STATS in its own file, which EXPLAIN has as well.
 */
#ifndef COMMAND_SHOW_H
#define COMMAND_SHOW_H

#include "command.h"

extern const char *const command_show_columns[];
void command_show(const struct command_view *view,
                  struct command_answer *answer);

extern const char *const command_show_instances_columns[];
void command_show_instances(const struct command_view *view,
                            struct command_answer *answer);

extern const char *const command_show_pools_columns[];
void command_show_pools(const struct command_view *view,
                        struct command_answer *answer);

extern const char *const command_show_topology_columns[];
void command_show_topology(const struct command_view *view,
                           struct command_answer *answer);

extern const char *const command_show_config_columns[];
void command_show_config(const struct command_view *view,
                         struct command_answer *answer);

extern const char *const command_show_stats_columns[];
void command_show_stats(const struct command_view *view,
                        struct command_answer *answer);

extern const char *const command_show_events_columns[];
void command_show_events(const struct command_view *view,
                         struct command_answer *answer);

/* False: why. */
extern const char *const command_explain_columns[];
bool command_explain(const struct command *command,
                     const struct command_view *view,
                     struct command_answer *answer, struct why *why);

/* ---- command_change.c: what changes something ---------------------------- */

extern const char *const command_refresh_columns[];
void command_refresh(const struct command_view *view,
                     struct command_answer *answer);

extern const char *const command_refresh_links_columns[];
void command_refresh_links(const struct command_view *view,
                           struct command_answer *answer);

/* False: why. */
extern const char *const command_refresh_config_columns[];
bool command_refresh_config(const struct command_view *view,
                            struct command_answer *answer, struct why *why);

/* DRAIN or RESUME.  False: why. */
extern const char *const command_drain_columns[];
bool command_drain(const struct command *command,
                   const struct command_view *view,
                   struct command_answer *answer, struct why *why);

#endif
