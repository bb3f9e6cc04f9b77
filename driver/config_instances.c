/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The list in Instances: names of DSNs, or with InnerDriver
 * [name@]host[:port], IPv6 addresses in [] (rules §11.2).
 */
#include "autoconf.h"

#include "config_rows.h"

#include <stdlib.h>
#include <string.h>

enum { PORT_MAX = 65535 };

void config_free_instances(struct config_fleet *fleet)
{
    for (size_t i = 0; i < fleet->list_count; i++) {
        free(fleet->list[i].name);
        free(fleet->list[i].host);
    }
    free(fleet->list);
    fleet->list = NULL;
    fleet->list_count = 0;
}

static bool refuse(struct why *why, const char *entry, size_t length,
                   const char *reason)
{
    why_set(why, WHY_VALUE, "Instances: entry \"%.*s\": %s",
            (int)(length > 80 ? 80 : length), entry, reason);
    return false;
}

/* Where the host of address[0..length) ends; *host moves behind a '['.  NULL:
   why. */
static const char *end_of_host(const char **host, size_t length,
                               struct why *why)
{
    const char *start = *host, *end = start + length, *colon;

    if (*start == '[') {
        const char *close = memchr(start, ']', length);

        if (!close || (close + 1 < end && close[1] != ':')) {
            refuse(why, start, length, "[ needs a ] before the port");
            return NULL;
        }
        *host = start + 1;
        return close;
    }
    colon = memchr(start, ':', length);
    if (colon && memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
        refuse(why, start, length, "an IPv6 address stands in []");
        return NULL;
    }
    return colon ? colon : end;
}

/* Fills host and port of an entry "[name@]host[:port]". */
static bool parse_address(struct config_instance *instance, const char *entry,
                          size_t length, struct why *why)
{
    const char *end = entry + length;
    const char *at = memchr(entry, '@', length);
    const char *host = at ? at + 1 : entry, *stop;

    if (at == entry || host == end) {
        return refuse(why, entry, length,
                      "with InnerDriver it is [name@]host[:port]");
    }
    stop = end_of_host(&host, (size_t)(end - host), why);
    if (!stop) {
        return false;
    }
    if (stop == host) {
        return refuse(why, entry, length, "the host is missing");
    }
    instance->host = strndup(host, (size_t)(stop - host));
    instance->name = at ? strndup(entry, (size_t)(at - entry))
                        : strndup(entry, length);
    stop += stop < end && *stop == ']';
    if (stop < end && (!text_number(stop + 1, (size_t)(end - stop - 1),
                                    PORT_MAX, &instance->port) ||
                       instance->port == 0)) {
        return refuse(why, entry, length, "the port is a number from 1 to "
                      "65535");
    }
    if (!instance->host || !instance->name) {
        why_memory(why);
        return false;
    }
    return true;
}

static bool parse_dsn(struct config_instance *instance, const char *entry,
                      size_t length, const char *own, struct why *why)
{
    if (text_same_bytes(entry, length, own)) {
        return refuse(why, entry, length, "that is this DSN itself; name DSNs "
                      "of the inner driver");
    }
    instance->name = strndup(entry, length);
    if (!instance->name) {
        why_memory(why);
        return false;
    }
    return true;
}

/* Adds one entry; list has room for it. */
static bool add_entry(struct config_fleet *fleet, const char *entry,
                      size_t length, const char *own, struct why *why)
{
    struct config_instance *instance = &fleet->list[fleet->list_count++];

    if (length == 0) {
        return refuse(why, fleet->instances, strlen(fleet->instances),
                      "an entry is empty");
    }
    if (*fleet->inner_driver
        ? !parse_address(instance, entry, length, why)
        : !parse_dsn(instance, entry, length, own, why)) {
        return false;
    }
    for (size_t i = 0; i + 1 < fleet->list_count; i++) {
        if (text_same(fleet->list[i].name, instance->name)) {
            return refuse(why, entry, length, "it is named twice");
        }
    }
    return true;
}

bool config_parse_instances(struct config_fleet *fleet, const char *own,
                            struct why *why)
{
    const char *at = fleet->instances;
    size_t most = 1;

    config_free_instances(fleet);
    if (!*at) {
        why_set(why, WHY_VALUE, "Instances is missing: allowed is a list of "
                "DSNs of the inner driver, or, with InnerDriver, of "
                "host[:port]");
        return false;
    }
    for (const char *p = at; *p; p++) {
        most += *p == ',';
    }
    fleet->list = calloc(most, sizeof *fleet->list);
    if (!fleet->list) {
        why_memory(why);
        return false;
    }
    for (;;) {
        const char *entry = at;
        size_t span = strcspn(at, ",");
        size_t length = text_trim(&entry, span);

        if (!add_entry(fleet, entry, length, own, why)) {
            config_free_instances(fleet);
            return false;
        }
        if (!at[span]) {
            return true;
        }
        at += span + 1;
    }
}
