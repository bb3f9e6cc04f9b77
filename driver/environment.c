/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "environment.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct environment {
    size_t count;
    struct variable {
        const char *name;
        char *value; /* NULL: not set */
    } variables[];
};

static _Thread_local bool denied;

void environment_deny(void)
{
    denied = true;
}

bool environment_is_allowed(void)
{
    return !denied;
}

static const char *current(const char *name)
{
    assert(environment_is_allowed());
    return getenv(name);
}

struct environment *environment_read(const char *const *names)
{
    struct environment *copy;
    size_t count = 0;

    while (names && names[count]) {
        count++;
    }
    copy = calloc(1, sizeof *copy + count * sizeof *copy->variables);
    for (; copy && copy->count < count; copy->count++) {
        struct variable *variable = &copy->variables[copy->count];
        const char *value = current(names[copy->count]);

        variable->name = names[copy->count];
        variable->value = value ? strdup(value) : NULL;
        if (value && !variable->value) {
            environment_free(copy);
            return NULL;
        }
    }
    return copy;
}

void environment_free(struct environment *environment)
{
    for (size_t i = 0; environment && i < environment->count; i++) {
        free(environment->variables[i].value);
    }
    free(environment);
}

const char *environment_value(const struct environment *environment,
                              const char *name)
{
    if (!environment) {
        return current(name);
    }
    for (size_t i = 0; i < environment->count; i++) {
        if (strcmp(environment->variables[i].name, name) == 0) {
            return environment->variables[i].value;
        }
    }
    assert(!"a variable that its kind does not list");
    return NULL;
}
