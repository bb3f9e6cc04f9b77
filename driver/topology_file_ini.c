/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * iniparser, which reads the map file: loaded with us and not linked, and kept
 * silent.  struct topology_ini is its dictionary.
 */
#include "autoconf.h"

#include "topology_file_ini.h"

#include <iniparser/iniparser.h>
#include <pthread.h>

#include "library.h"
#include "lock.h"

/* iniparser's error callback is one for the process. */
static struct mutex parsing = MUTEX_INITIALIZER(LOCK_INI);

static struct {
    bool there;
    __typeof__(iniparser_set_error_callback) *iniparser_set_error_callback;
    __typeof__(iniparser_load) *iniparser_load;
    __typeof__(iniparser_getstring) *iniparser_getstring;
    __typeof__(iniparser_freedict) *iniparser_freedict;
} iniparser;

/* The parent's parsing is none of the child's. */
static void free_in_child(void)
{
    mutex_init(&parsing, LOCK_INI);
    if (iniparser.there) {
        iniparser.iniparser_set_error_callback(NULL);
    }
}

__attribute__((constructor)) static void set_up(void)
{
    static const struct library_function functions[] = {
        LIBRARY_FUNCTION(iniparser, iniparser_set_error_callback),
        LIBRARY_FUNCTION(iniparser, iniparser_load),
        LIBRARY_FUNCTION(iniparser, iniparser_getstring),
        LIBRARY_FUNCTION(iniparser, iniparser_freedict),
    };

    iniparser.there = library_load(AFF_INIPARSER_SONAME, functions,
                                   sizeof functions / sizeof *functions);
    pthread_atfork(NULL, NULL, free_in_child);
}

static int stay_silent(const char *format, ...)
{
    (void)format;
    return 0;
}

/* Nobody but us must be printing. */
static dictionary *load(const char *path)
{
    dictionary *dictionary;

    mutex_lock(&parsing);
    iniparser.iniparser_set_error_callback(stay_silent);
    dictionary = iniparser.iniparser_load(path);
    iniparser.iniparser_set_error_callback(NULL);
    mutex_unlock(&parsing);
    return dictionary;
}

struct topology_ini *topology_ini_load(const char *path, const char *name,
                                       struct why *why)
{
    dictionary *dictionary = iniparser.there ? load(path) : NULL;

    if (!dictionary) {
        why_set(why, WHY_INI, "AffinityMap %s: %s", name,
                iniparser.there
                    ? "iniparser does not read it"
                    : "iniparser, " AFF_INIPARSER_SONAME ", cannot be loaded");
    }
    return (struct topology_ini *)dictionary;
}

const char *topology_ini_value(const struct topology_ini *ini,
                               const char *name)
{
    return iniparser.iniparser_getstring((const dictionary *)ini, name, NULL);
}

void topology_ini_free(struct topology_ini *ini)
{
    if (ini) {
        iniparser.iniparser_freedict((dictionary *)ini);
    }
}
