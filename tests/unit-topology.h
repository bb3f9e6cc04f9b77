/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A fleet for the tests of topology_*.c and fleet_group.c: instances by name,
 * nothing opened, and links that answer with rows from a table here, because
 * link_query() is defined by the test program.  A link is told from another by
 * its number, which is its instance's.
 */
#ifndef UNIT_TOPOLOGY_H
#define UNIT_TOPOLOGY_H

#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "event.h"
#include "fleet.h"
#include "fleet_group.h"
#include "topology.h"
#include "topology_inside.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* each test program uses some of these */
#pragma GCC diagnostic ignored "-Wunused-function"

enum { INSTANCES_MAX = 8 };

static struct fleet fleet;
static struct link links[INSTANCES_MAX];
static struct inner inner; /* of the links */
static char map_path[64];

/* names: "n1 n2 n1s1".  Each is reached at host h<name>, port 1. */
static void make_fleet(const char *names, const char *table, const char *query,
                       const char *map)
{
    static char text[256];
    char *name;
    struct why why = { 0 };

    memset(&fleet, 0, sizeof fleet);
    memset(links, 0, sizeof links);
    mutex_init(&fleet.lock, LOCK_FLEET);
    fleet.config.table = strdup(table);
    fleet.config.query = strdup(query);
    fleet.config.map = strdup(map);
    fleet.instances = calloc(INSTANCES_MAX, sizeof *fleet.instances);
    fleet.members = calloc(INSTANCES_MAX, sizeof *fleet.members);
    snprintf(text, sizeof text, "%s", names);
    name = text;
    while (*name) {
        struct instance *instance = &fleet.instances[fleet.count];
        char *end = name + strcspn(name, " ");
        char host[300];
        bool last = !*end;
        *end = '\0';
        instance->name = strdup(name);
        snprintf(host, sizeof host, "h%s", name);
        instance->host = strdup(host);
        memcpy(instance->port, "1", 2);
        atomic_init(&fleet.members[fleet.count].group, fleet.count);
        fleet.members[fleet.count].weight = 1;
        instance->inner = links[fleet.count].inner = &inner;
        inner.kind = &inner_psqlodbc;
        fleet.count++;
        name = last ? end : end + 1;
    }
    fleet.topology = topology_new(&fleet, &why);
    if (!fleet.topology) {
        fail_msg("%s", why.text);
    }
    fleet.topology->seed = 0; /* the first listed is asked first */
    mutex_lock(&fleet.lock);
    fleet_regroup_locked(&fleet);
    mutex_unlock(&fleet.lock);
}

static void free_fleet(void)
{
    topology_free(fleet.topology);
    for (uint32_t i = 0; i < fleet.count; i++) {
        free((char *)fleet.instances[i].name);
        free((char *)fleet.instances[i].host);
    }
    free(fleet.instances);
    free(fleet.members);
    free(fleet.config.table);
    free(fleet.config.query);
    free(fleet.config.map);
    mutex_destroy(&fleet.lock);
}

static uint32_t at(const char *name)
{
    for (uint32_t i = 0; i < fleet.count; i++) {
        if (strcmp(fleet.instances[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no instance %s", name);
    return 0;
}

/* What fleet_heard() does, without health. */
static void hear(const char *name, enum link_role role, const char *identity,
                 uint32_t timeline)
{
    struct instance *instance = &fleet.instances[at(name)];
    bool changed = !instance->who_at || instance->who.role != role ||
                   instance->who.timeline != timeline ||
                   strcmp(instance->who.identity, identity) != 0;

    mutex_lock(&fleet.lock);
    instance->who = (struct link_who){ .role = role, .timeline = timeline };
    snprintf(instance->who.identity, sizeof instance->who.identity, "%s",
             identity);
    instance->who_at = clock_ns();
    atomic_store(&fleet.members[at(name)].health, (uint8_t)ROUTE_UP);
    if (changed) {
        fleet_regroup_locked(&fleet);
    }
    mutex_unlock(&fleet.lock);
    if (changed) {
        topology_regroup(&fleet);
    }
}

static void hear_primary(const char *name)
{
    hear(name, LINK_ROLE_PRIMARY, name, 1);
}

static void put_down(const char *name)
{
    atomic_store(&fleet.members[at(name)].health, (uint8_t)ROUTE_DOWN);
    atomic_store(&fleet.members[at(name)].retry_at,
                 clock_ns() + 60000 * NS_PER_MS);
}

/* Who owns it, in words: "n2", "n1+n3", "unknown", "unknown, pending",
   "unlearnable", "moving n1+n2", "unresolved", "unowned", "bad". */
static const char *owner_of(const char *text)
{
    static char words[200];
    static const char *const states[] = {
        [ROUTE_IS_UNKEYED] = "unkeyed",       [ROUTE_IS_OWNED] = "",
        [ROUTE_IS_UNKNOWN] = "unknown",       [ROUTE_IS_MOVING] = "moving ",
        [ROUTE_IS_UNRESOLVED] = "unresolved", [ROUTE_IS_UNOWNED] = "unowned",
        [ROUTE_IS_UNLEARNABLE] = "unlearnable",
    };
    struct topology_answer answer;
    struct route_key *key;
    size_t length;

    assert_int_equal(route_key_parse(text, strlen(text), &key, NULL),
                     ROUTE_KEY_OK);
    topology_find(&fleet, key, &answer);
    route_key_free(key);
    snprintf(words, sizeof words, "%s%s",
             answer.bad_key ? "bad" : states[answer.state],
             answer.pending ? ", pending" : "");
    for (uint32_t i = 0; i < answer.count; i++) {
        length = strlen(words);
        snprintf(words + length, sizeof words - length, "%s%s", i ? "+" : "",
                 fleet.instances[answer.owners[i]].name);
    }
    return words;
}

static const char *why_of(const char *text)
{
    static struct topology_answer answer;
    struct route_key *key;

    assert_int_equal(route_key_parse(text, strlen(text), &key, NULL),
                     ROUTE_KEY_OK);
    topology_find(&fleet, key, &answer);
    route_key_free(key);
    return answer.why.text;
}

static const char *no_room; /* for a link to this instance; NULL = for all */

static bool may_ask(const struct login *login, uint32_t i)
{
    (void)login;
    return !no_room || strcmp(fleet.instances[i].name, no_room) != 0;
}

/* Whom topology_next() names for this key (NULL: all); "" = nobody. */
static const char *next_at(const char *text, uint64_t now)
{
    struct route_key *key = NULL;
    int i;

    if (text) {
        assert_int_equal(route_key_parse(text, strlen(text), &key, NULL),
                         ROUTE_KEY_OK);
    }
    i = topology_next(&fleet, key, may_ask, NULL, now);
    route_key_free(key);
    return i < 0 ? "" : fleet.instances[i].name;
}

static const char *next_for(const char *text)
{
    return next_at(text, clock_ns());
}

/* Asks over its link, as a helper does. */
static bool ask(const char *name, struct link_error *error)
{
    struct link_error own;
    bool ok = topology_ask(&fleet, at(name), &links[at(name)],
                           error ? error : &own);

    fleet_learnt(&fleet);
    return ok;
}

/* A map file of these lines. */
static const char *write_map(const char *text)
{
    FILE *file;

    snprintf(map_path, sizeof map_path, "/tmp/unit-topology-%d.map",
             (int)getpid());
    file = fopen(map_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return map_path;
}

/* Has an event of `name` said so?  The test has given the fleet its events. */
static bool told(const char *name, const char *words)
{
    size_t count;
    struct event *list = events_copy(fleet.events, &count);
    bool is = false;

    for (size_t i = 0; i < count; i++) {
        is |= strcmp(list[i].who, name) == 0 && strstr(list[i].text, words);
    }
    free(list);
    return is;
}

#endif
