/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SHOW AFFINITY EVENTS: what has happened to the fleet, the latest first, as
 * its log would have it.  The columns are described in command_show.c.
 */
#include "autoconf.h"

#include "command_facts.h"
#include "command_show.h"

#include <stdlib.h>

#include "event.h"

const char *const command_show_events_columns[] = {
    "at", "level", "instance", "event", NULL
};

void command_show_events(const struct command_view *view,
                         struct command_answer *answer)
{
    size_t count;
    struct event *list = events_copy(view->fleet->events, &count);

    while (count-- > 0) {
        struct text at;

        text_init(&at);
        event_time(&list[count], &at);
        command_facts_add(answer, &at);
        command_answer_add(answer, log_level_word(list[count].level));
        command_answer_add(answer, command_facts_or_null(list[count].who));
        command_answer_add(answer, list[count].text);
    }
    free(list);
}
