/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which of our instances a foreign server is (rules §1.3): the one of its
 * name, case aside, else the one whose DSN has one of its hosts, the port that
 * belongs to it, and its database.  Addresses are compared as they are
 * written; nothing is resolved.
 *
 * The index is made once, since each answer may name as many servers as the
 * fleet has instances.
 */
#include "autoconf.h"

#include "inifile.h"
#include "topology_inside.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->lost = true)
#include <uthash.h>

static const char default_port[] = "5432";

struct entry {
    UT_hash_handle hh;
    int32_t instance; /* -1: several */
    bool lost;
    char key[];
};

struct topology_index {
    struct entry *names;  /* by name, lower case */
    struct entry *places; /* by host, port and database */
};

static void append_lower(struct text *to, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        text_append_char(to, (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
    }
}

/* Blanks cannot be told from the text, so they part it. */
static void make_place(struct text *key, const char *host, size_t host_length,
                       const char *port, size_t port_length,
                       const char *database)
{
    text_clear(key);
    append_lower(key, host, host_length);
    text_append_char(key, '\n');
    text_append_bytes(key, port, port_length);
    text_append_char(key, '\n');
    text_append(key, database);
}

/* The first instance of a name counts; of a place, none if there are more. */
static bool add(struct entry **table, const struct text *key,
                uint32_t instance, bool unique)
{
    struct entry *entry = NULL;

    if (key->failed) {
        return false;
    }
    HASH_FIND(hh, *table, text_string(key), key->length, entry);
    if (entry) {
        entry->instance = unique ? -1 : entry->instance;
        return true;
    }
    entry = calloc(1, sizeof *entry + key->length + 1);
    if (!entry) {
        return false;
    }
    memcpy(entry->key, text_string(key), key->length);
    entry->instance = (int32_t)instance;
    HASH_ADD_KEYPTR(hh, *table, entry->key, key->length, entry);
    if (entry->lost) {
        free(entry);
        return false;
    }
    return true;
}

/* What stands for the database of a DSN that names none. */
static const char any_database[] = "\n";

/* Under its database, for servers that name it, and under none, for those that
   do not. */
static bool add_places(struct topology_index *index, uint32_t i,
                       const char *host, const char *port,
                       const char *database, struct text *key)
{
    const char *names[] = { *database ? database : any_database, "" };
    bool ok = true;

    for (int k = 0; ok && k < 2; k++) {
        make_place(key, host, strlen(host), port, strlen(port), names[k]);
        ok = add(&index->places, key, i, true);
    }
    return ok;
}

static const char *value_of(const struct inifile_section *section,
                            const char *keyword, const char *otherwise)
{
    const char *value = inifile_value(section, keyword);

    return value && *value ? value : otherwise;
}

static bool add_instance(struct topology_index *index,
                         const struct instance *instance, uint32_t i,
                         struct text *key)
{
    const struct inifile_section *section;
    bool ok;

    text_clear(key);
    append_lower(key, instance->name, strlen(instance->name));
    if (!add(&index->names, key, i, false)) {
        return false;
    }
    if (instance->host) {
        return add_places(index, i, instance->host,
                          *instance->port ? instance->port : default_port, "",
                          key);
    }
    section = inifile_section(instance->dsn, INIFILE_DSN, NULL);
    if (!section) {
        return true; /* fleet_get() has said what is wrong with it */
    }
    ok = add_places(index, i,
                    value_of(section, "Servername",
                             value_of(section, "Server", "localhost")),
                    value_of(section, "Port", default_port),
                    value_of(section, "Database", ""), key);
    inifile_release(section);
    return ok;
}

struct topology_index *topology_index_new(const struct fleet *fleet)
{
    struct topology_index *index = calloc(1, sizeof *index);
    struct text key = { 0 };
    bool ok = index != NULL;

    for (uint32_t i = 0; ok && i < fleet->count; i++) {
        ok = add_instance(index, &fleet->instances[i], i, &key);
    }
    text_free(&key);
    if (!ok) {
        topology_index_free(index);
        return NULL;
    }
    return index;
}

static void free_table(struct entry *table)
{
    struct entry *entry, *next;

    HASH_ITER(hh, table, entry, next) {
        HASH_DEL(table, entry);
        free(entry);
    }
}

void topology_index_free(struct topology_index *index)
{
    if (index) {
        free_table(index->names);
        free_table(index->places);
        free(index);
    }
}

static int32_t find_place(const struct topology_index *index,
                          struct text *key, const char *host,
                          size_t host_length, const char *port,
                          size_t port_length, const char *database)
{
    const char *names[] = { database, any_database };
    struct entry *entry = NULL;

    for (int i = 0; i < (*database ? 2 : 1) && !entry; i++) {
        make_place(key, host, host_length, port, port_length, names[i]);
        if (key->failed) {
            return -1;
        }
        HASH_FIND(hh, index->places, text_string(key), key->length, entry);
    }
    return entry ? entry->instance : -1;
}

int32_t topology_index_find(const struct topology_index *index,
                            const struct topology_server *server)
{
    struct text key = { 0 };
    struct entry *entry = NULL;
    const char *host = server->host, *port = server->port;
    int32_t found = -1;

    append_lower(&key, server->name, strlen(server->name));
    if (!key.failed) {
        HASH_FIND(hh, index->names, text_string(&key), key.length, entry);
    }
    if (entry) {
        found = entry->instance;
    }
    /* host=a,b port=1,2 belong together; one port is for all hosts */
    while (found < 0 && *host) {
        size_t host_length = strcspn(host, ",");
        size_t port_length = strcspn(port, ",");
        found = port_length
                    ? find_place(index, &key, host, host_length, port,
                                 port_length, server->database)
                    : find_place(index, &key, host, host_length, default_port,
                                 strlen(default_port), server->database);
        host += host_length + (host[host_length] == ',');
        port += port[port_length] == ',' ? port_length + 1 : 0;
    }
    text_free(&key);
    return found;
}
