/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "expect.h"

#include <string.h>

#include "odbc_tap.h"

#define WHERE "SELECT current_setting('cluster_name')"

void expect_lands(const char *name, const char *string, const char *instance)
{
    struct trouble_try t = { 0 };
    bool ok = trouble_try(&t, string);
    const char *where = ok ? odbc_value(t.dbc, WHERE) : "";

    tap_ok(ok && strcmp(where, instance) == 0, name,
           "on '%s', not on '%s', after %.0f ms: %s%s", where, instance, t.ms,
           t.verdict, t.records);
    odbc_close(t.dbc);
}

/* What opening a link to a healthy instance takes at present, in ms. */
static double opening_takes(void)
{
    struct trouble_try t = { 0 };

    trouble_try(&t, "DSN=n3-tcp");
    odbc_close(t.dbc);
    return t.ms;
}

void expect_elsewhere(const char *name, const char *string,
                      const char *instance, double ms)
{
    struct trouble_try t = { 0 };
    const char *where;
    double late;
    bool ok;

    ms += 2 * opening_takes();
    trouble_watch_begin();
    ok = trouble_try(&t, string);
    late = trouble_watch_end();
    where = ok ? odbc_value(t.dbc, WHERE) : "";
    tap_ok(ok && where[0] == 'n' && strcmp(where, instance) != 0 &&
               t.ms <= ms + late,
           name,
           "on '%s' after %.0f ms (%.0f allowed, the machine was %.0f "
           "late): %s%s",
           where, t.ms, ms, late, t.verdict, t.records);
    odbc_close(t.dbc);
}

static bool begins(const char *records, const char *beginnings)
{
    while (*beginnings) {
        size_t length = strcspn(beginnings, "|");

        if (strncmp(records, beginnings, length) == 0) {
            return true;
        }
        beginnings += length + (beginnings[length] == '|');
    }
    return false;
}

void expect_fails(const char *name, struct trouble_try *t, const char *string,
                  const char *beginnings, const char *words, double ms)
{
    double late;
    bool ok;

    trouble_watch_begin();
    ok = trouble_try(t, string);
    late = trouble_watch_end();
    tap_ok(!ok && begins(t->records, beginnings) && strstr(t->records, words) &&
               t->ms <= ms + late,
           name,
           "%s after %.0f ms (%.0f allowed, the machine was %.0f late), "
           "wanted '%s…%s': %s%s",
           ok ? t->instance : "failed", t->ms, ms, late, beginnings, words,
           t->records, t->verdict);
    odbc_close(t->dbc);
}
