/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The inner driver of which we know nothing: roll back, attributes back, and
 * close a used link instead of handing it on, because nobody can say what
 * else it carries (promise 3).  Also the choice between the sorts.
 */
#include "autoconf.h"

#include "connstr.h"
#include "inner.h"
#include "inner_kind.h"

#include <string.h>

static bool compose(const struct inner_target *target, bool wide,
                    struct text *out, struct why *why)
{
    (void)wide;
    if (target->dsn) {
        text_appendf(out, "DSN=%s;", target->dsn);
    } else {
        text_appendf(out, "DRIVER={%s};", target->driver);
        connstr_append(out, "Server", target->host);
        if (target->port) {
            connstr_append(out, "Port", target->port);
        }
    }
    connstr_append_all(out, target->passed);
    if (out->failed) {
        why_memory(why);
    }
    return !out->failed;
}

static bool settings(const struct inner_target *target, struct text *out,
                     struct why *why)
{
    (void)target;
    (void)out;
    (void)why;
    return true;
}

static bool attr_default(SQLINTEGER attribute, SQLULEN *value)
{
    (void)attribute;
    (void)value;
    return false;
}

/* By the classes of the SQL standard and of ODBC alone. */
static enum inner_fault fault(const char *sqlstate, const char *text)
{
    (void)text;
    if (strncmp(sqlstate, "28", 2) == 0) {
        return INNER_FAULT_LOGIN;
    }
    return strncmp(sqlstate, "08", 2) == 0 || strncmp(sqlstate, "HYT", 3) == 0
               ? INNER_FAULT_INSTANCE
               : INNER_FAULT_POOL;
}

static const char *const no_queries[] = { NULL };

const struct inner_kind inner_unknown = {
    .name = "unknown",
    .compose = compose,
    .reset = NULL,
    .settings = settings,
    .who = no_queries,
    .encoding_lost = false,
    .attr_default = attr_default,
    .fault = fault,
};

const struct inner_kind *inner_kind_of(const struct inner *inner)
{
    const char *slash = strrchr(inner->path, '/');
    const char *file = slash ? slash + 1 : inner->path;

    return strncmp(file, "psqlodbc", 8) == 0 ? &inner_psqlodbc
                                             : &inner_unknown;
}
