/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The kind's probe, run and read.
 */
#include "autoconf.h"

#include "link_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link_call.h"
#include "lock.h"
#include "text.h"

enum { WHO = 6, COLUMNS = WHO + 6 };

struct reading {
    struct link *link;
    struct link_probe *probe;
    bool extra; /* the last column is */
};

static uint64_t number(const char *value)
{
    return value ? strtoull(value, NULL, 10) : 0;
}

static bool take_row(void *arg, unsigned count, const char *const *values)
{
    const struct reading *reading = arg;
    struct link_probe *probe = reading->probe;
    const char *facts[COLUMNS] = { NULL };

    if (reading->extra && count > 0 && values[--count]) {
        snprintf(probe->extra, sizeof probe->extra, "%s", values[count]);
    }
    for (unsigned i = 0; i < count && i < COLUMNS; i++) {
        facts[i] = values[i];
    }
    link_take_who(reading->link, count, facts);
    probe->position = number(facts[WHO]);
    probe->backends = (uint32_t)number(facts[WHO + 1]);
    probe->backends_max = (uint32_t)number(facts[WHO + 2]);
    probe->active_ms = number(facts[WHO + 3]);
    probe->commits = number(facts[WHO + 4]);
    probe->started = number(facts[WHO + 5]);
    return false;
}

static bool ask(struct link *link, const struct inner_probe *form,
                const char *extra, struct link_probe *probe,
                struct link_error *error)
{
    struct reading reading = { link, probe, extra != NULL };
    struct text sql = { 0 };
    uint64_t begin;
    bool ok;

    text_appendf(&sql, "SELECT %s%s%s%s", form->columns, extra ? ", " : "",
                 extra ? extra : "", form->from);
    if (sql.failed) {
        link_set_error(error, "HY000", "out of memory");
        text_free(&sql);
        return false;
    }
    begin = clock_ns();
    ok = link_query(link, text_string(&sql), take_row, &reading, error);
    probe->latency = clock_ns() - begin;
    text_free(&sql);
    return ok;
}

bool link_probe(struct link *link, const char *extra, struct link_probe *probe,
                struct link_error *error)
{
    const struct inner_probe *forms = link->inner->kind->probe;
    uint8_t form = link->probe_form;
    bool plain = link->probe_plain;

    memset(probe, 0, sizeof *probe);
    while (forms[form].columns) {
        const char *more = plain ? NULL : extra;

        if (ask(link, &forms[form], more, probe, error)) {
            probe->poor = form > 0;
            probe->extra_told = more != NULL;
            return link_freshen(link, error);
        }
        if (link_dead(link)) {
            return false;
        }
        probe->why_poor = *error;
        if (more) {
            plain = true;
        } else {
            form++;
        }
        if (link_is_refusal(error)) {
            link->probe_plain = plain;
            link->probe_form = form;
        }
    }
    /* It says nothing of itself, but it answers. */
    link_forget_who(link);
    probe->poor = true;
    return link_is_alive(link, error);
}
