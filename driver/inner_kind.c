/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which sort an inner driver is.  Its library's name is a first guess, because
 * a connection string must be written before anybody can be asked; over the
 * first connection the driver itself must say the same (inner_confirm()).
 * Whoever does not is treated with all caution: inner_unknown.c.
 */
#include "autoconf.h"

#include "connstr.h"
#include "inner_kind.h"

#include <string.h>

static const struct inner_kind *const kinds[] = {
    &inner_psqlodbc,
    &inner_mariadb,
    &inner_sqlite,
};

const struct inner_kind *inner_kind_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    name = slash ? slash + 1 : name;
    if (strncmp(name, "lib", 3) == 0) {
        name += 3;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *driver = kinds[i]->driver;

        if (text_same_bytes(name, strnlen(name, strlen(driver)), driver)) {
            return kinds[i];
        }
    }
    return &inner_unknown;
}

bool inner_compose(const struct inner_target *target, bool wide,
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
