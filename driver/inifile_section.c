/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sections in memory, and the copies of them that each processor has for
 * itself, so that threads that connect at once need neither inifile.c's mutex
 * nor write the same counts of references.
 */
#include "autoconf.h"

#include "inifile_inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"
#include "text.h"

bool inifile_add_entry(struct section *section, struct inifile_entry *entries,
                      const char *keyword, const char *value)
{
    char *k = strdup(keyword), *v = strdup(value);

    if (!k || !v) {
        free(k);
        free(v);
        return false;
    }
    entries[section->shown.count++] = (struct inifile_entry){ k, v };
    return true;
}

/* A DSN's password is one of its values. */
static void wipe(struct section *section)
{
    for (size_t i = 0; i < section->shown.count; i++) {
        char *value = (char *)(uintptr_t)section->shown.entries[i].value;

        explicit_bzero(value, strlen(value));
    }
}

void inifile_free(struct section *section)
{
    wipe(section);
    for (size_t i = 0; i < section->shown.count; i++) {
        free((char *)(uintptr_t)section->shown.entries[i].value);
        free((char *)(uintptr_t)section->shown.entries[i].keyword);
    }
    free((struct inifile_entry *)(uintptr_t)section->shown.entries);
    free((char *)(uintptr_t)section->shown.name);
    free(section);
}

void inifile_release(const struct inifile_section *shown)
{
    struct section *section = (struct section *)(uintptr_t)shown;

    if (section && atomic_fetch_sub(&section->references, 1) == 1) {
        inifile_free(section);
    }
}

void inifile_release_all(struct section *section)
{
    while (section) {
        struct section *next = section->next;

        inifile_release(&section->shown);
        section = next;
    }
}

const char *inifile_value(const struct inifile_section *section,
                          const char *keyword)
{
    for (size_t i = 0; i < section->count; i++) {
        if (text_same(section->entries[i].keyword, keyword)) {
            return section->entries[i].value;
        }
    }
    return NULL;
}

struct section *inifile_find(struct section *list, const char *name,
                             enum inifile_kind kind)
{
    for (struct section *s = list; s; s = s->next) {
        if (s->kind == kind && text_same(s->shown.name, name)) {
            return s;
        }
    }
    return NULL;
}

/* ---- copies ----------------------------------------------------------- */

static struct stripe {
    struct mutex mutex; /* LOCK_DIAG: a leaf; guards the list */
    struct section *sections; /* each holds one reference */
} __attribute__((aligned(LOCK_APART))) stripes[LOCK_STRIPES];

void inifile_leave_all(struct section *list)
{
    static struct section *inherited;
    struct section *next;

    for (struct section *s = list; s; s = next) {
        next = s->next;
        wipe(s);
        s->next = inherited;
        inherited = s;
    }
}

/* The lists are whole, since who changes one holds inifile.c's mutex, which is
   kept over forks. */
static void clear_copies(void)
{
    for (int i = 0; i < LOCK_STRIPES; i++) {
        inifile_leave_all(stripes[i].sections);
        mutex_init(&stripes[i].mutex, LOCK_DIAG);
        stripes[i].sections = NULL;
    }
}

__attribute__((constructor)) static void set_up(void)
{
    clear_copies();
    pthread_atfork(NULL, NULL, clear_copies);
}

/* NULL: no memory. */
static struct section *copy_of(const struct section *from)
{
    struct section *copy = calloc(1, sizeof *copy);
    struct inifile_entry *entries =
        calloc(from->shown.count + 1, sizeof *entries);
    bool ok = copy && entries;

    if (!ok) {
        free(copy);
        free(entries);
        return NULL;
    }
    copy->kind = from->kind;
    copy->shown.entries = entries;
    copy->shown.name = strdup(from->shown.name);
    atomic_init(&copy->references, 1);
    ok = copy->shown.name != NULL;
    for (size_t i = 0; ok && i < from->shown.count; i++) {
        ok = inifile_add_entry(copy, entries, from->shown.entries[i].keyword,
                               from->shown.entries[i].value);
    }
    if (!ok) {
        inifile_free(copy);
    }
    return ok ? copy : NULL;
}

/* Behind those that are there: what each connection asks for comes first. */
void inifile_add_copy(const struct section *section)
{
    struct stripe *stripe = &stripes[lock_stripe()];
    struct section *copy = copy_of(section);
    struct section **end = &stripe->sections;

    if (!copy) {
        return; /* it goes without */
    }
    mutex_lock(&stripe->mutex);
    if (inifile_find(stripe->sections, section->shown.name, section->kind)) {
        inifile_release(&copy->shown);
    } else {
        while (*end) {
            end = &(*end)->next;
        }
        *end = copy;
    }
    mutex_unlock(&stripe->mutex);
}

struct section *inifile_find_copy(const char *name, enum inifile_kind kind)
{
    struct stripe *stripe = &stripes[lock_stripe()];
    struct section *section;

    mutex_lock(&stripe->mutex);
    section = inifile_find(stripe->sections, name, kind);
    if (section) {
        atomic_fetch_add(&section->references, 1);
    }
    mutex_unlock(&stripe->mutex);
    return section;
}

void inifile_forget_copies(void)
{
    for (int i = 0; i < LOCK_STRIPES; i++) {
        mutex_lock(&stripes[i].mutex);
        inifile_release_all(stripes[i].sections);
        stripes[i].sections = NULL;
        mutex_unlock(&stripes[i].mutex);
    }
}
