/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writing maps and keys down shortly, for the tests of route_map_*.c.
 * To be included behind cmocka.h.
 */
#ifndef UNIT_ROUTE_MAP_H
#define UNIT_ROUTE_MAP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route_map.h"

static inline struct route_typing typing_of(const char *name)
{
    static const enum route_type types[] = {
        ROUTE_TYPE_INT4,    ROUTE_TYPE_INT8,      ROUTE_TYPE_TEXT,
        ROUTE_TYPE_NUMERIC, ROUTE_TYPE_DATE,      ROUTE_TYPE_BPCHAR,
        ROUTE_TYPE_UUID,    ROUTE_TYPE_TIMESTAMP, ROUTE_TYPE_BOOL};
    struct route_typing typing = route_type_plain(ROUTE_TYPE_TEXT);
    bool unsafe = *name == '!'; /* not for the client to judge */

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(route_type_name(types[i]), name + unsafe) == 0) {
            typing.type = (uint8_t)types[i];
            typing.safe = !unsafe;
            return typing;
        }
    }
    fail_msg("no type %s", name);
    return typing;
}

/* columns: "a bigint, b text"; ! before a type makes it unsafe; the name - is
   an expression. */
static inline int inner(struct route_builder *builder, int parent,
                        const char *bound, char strategy, const char *columns)
{
    struct route_column column[8];
    char text[200], *rest = text, *one;
    size_t count = 0;

    snprintf(text, sizeof(text), "%s", columns);
    while ((one = strsep(&rest, ",")) != NULL) {
        one += strspn(one, " ");
        char *type = strchr(one, ' ');
        assert_non_null(type);
        *type++ = '\0';
        column[count].name = strcmp(one, "-") == 0 ? NULL : one;
        column[count++].typing = typing_of(type);
    }
    return route_builder_inner(builder, parent, bound, strlen(bound), strategy,
                               false, column, count);
}

/* claim: "L" its own, "P3" a pointer at group 3, "?" an unresolved one. */
static inline int leaf(struct route_builder *builder, int parent,
                       const char *bound, const char *claim)
{
    enum route_claim what = *claim == 'L'   ? ROUTE_CLAIM_LOCAL
                            : *claim == 'P' ? ROUTE_CLAIM_POINTER
                                            : ROUTE_CLAIM_UNRESOLVED;

    return route_builder_leaf(builder, parent, bound, strlen(bound), what,
                              (unsigned)strtoul(claim + 1, NULL, 10));
}

static inline struct route_map *finish(struct route_builder *builder)
{
    struct why why = {.text = ""};
    struct route_map *map = route_builder_finish(builder, &why);

    if (!map) {
        fail_msg("no map: %s", why.text);
    }
    route_builder_free(builder);
    return map;
}

/* A result in short: "2" its owner, "0+2" several, "none", "moving",
   "moving 0+2" if it is known between whom, ... */
static inline void print_found(const struct route_found *found, char *text,
                               size_t room)
{
    static const char *const words[] = {"",           "",    "none", "moving",
                                        "unresolved", "ask", "bad",  "empty"};
    size_t at = (size_t)snprintf(text, room, "%s", words[found->result]);

    if (found->result == ROUTE_MAP_OWNER) {
        snprintf(text, room, "%u", found->group);
    }
    if (found->result != ROUTE_MAP_SEVERAL &&
        found->result != ROUTE_MAP_MOVING) {
        return;
    }
    for (unsigned i = 0, n = 0; i < ROUTE_MAP_GROUPS; i++) {
        if (route_groups_has(&found->groups, i)) {
            const char *before = n++ > 0 ? "+" : at > 0 ? " " : "";
            at += (size_t)snprintf(text + at, room - at, "%s%u", before, i);
        }
    }
}

static inline void expect_found(const struct route_map *map, const char *text,
                                const char *want)
{
    struct route_key *key;
    struct route_found found;
    struct why why = {.text = ""};
    char got[256];

    assert_int_equal(route_key_parse(text, strlen(text), &key, &why),
                     ROUTE_KEY_OK);
    route_map_find(map, key, &found, &why);
    print_found(&found, got, sizeof(got));
    route_key_free(key);
    if (strcmp(got, want) != 0) {
        fail_msg("key %s: %s, not %s (%s)", text, got, want, why.text);
    }
    assert_true((found.result == ROUTE_MAP_BAD_KEY) == (why.code == WHY_KEY));
}

#endif
