/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_drain.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "event.h"
#include "fleet.h"
#include "text.h"

/* One that is drained, in all fleets. */
struct drained {
    struct drained *prev, *next;
    char place[];
};

static struct {
    struct mutex lock;
    struct drained *list;
} drains = { .lock = MUTEX_INITIALIZER(LOCK_DRAINS) };

__attribute__((constructor)) static void set_up(void)
{
    lock_keep_over_fork(&drains.lock, LOCK_DRAINS);
}

/* What tells an instance from others. */
static void say_place(const struct instance *instance, struct text *place)
{
    if (instance->dsn) {
        text_appendf(place, "DSN %s", instance->dsn);
    } else {
        text_appendf(place, "host %s port %s", instance->host,
                     instance->port);
    }
}

static struct drained *find_locked(const char *place)
{
    struct drained *one;

    mutex_assert_held(&drains.lock);
    DL_FOREACH(drains.list, one) {
        if (text_same(one->place, place)) {
            return one;
        }
    }
    return NULL;
}

/* False: out of memory. */
static bool note(const char *place, bool drained)
{
    struct drained *one;
    bool ok = true;

    mutex_lock(&drains.lock);
    one = find_locked(place);
    if (drained && !one) {
        one = malloc(sizeof *one + strlen(place) + 1);
        ok = one != NULL;
        if (ok) {
            memcpy(one->place, place, strlen(place) + 1);
            DL_APPEND(drains.list, one);
        }
    } else if (!drained && one) {
        DL_DELETE(drains.list, one);
        free(one);
    }
    mutex_unlock(&drains.lock);
    return ok;
}

/* What the list says of it, in this fleet.  Under the list's lock, or who had
   looked before another's word would put its own over it. */
static void follow(struct fleet *fleet, uint32_t i)
{
    const struct instance *instance = &fleet->instances[i];
    struct text place;
    bool drained;

    text_init(&place);
    say_place(instance, &place);
    mutex_lock(&drains.lock);
    drained = find_locked(text_string(&place)) != NULL;
    if (!place.failed && fleet_set_drained(fleet, i, drained)) {
        event_say(fleet->events, LOG_IS_WARNING, instance->name,
                  drained ? "is drained: no new unit in this process"
                          : "is resumed");
    }
    mutex_unlock(&drains.lock);
    text_free(&place);
}

void fleet_drain_new(struct fleet *fleet)
{
    bool any;

    mutex_lock(&drains.lock);
    any = drains.list != NULL;
    mutex_unlock(&drains.lock);
    for (uint32_t i = 0; any && i < fleet->count; i++) {
        follow(fleet, i);
    }
}

bool fleet_drain(struct fleet *fleet, uint32_t i, bool drained)
{
    struct fleet **fleets;
    uint32_t count;
    struct text place;
    bool ok;

    text_init(&place);
    say_place(&fleet->instances[i], &place);
    ok = !place.failed && note(text_string(&place), drained);
    text_free(&place);
    if (!ok) {
        return false;
    }
    follow(fleet, i); /* it may be out of date, and not listed any more */
    fleets = fleet_all(&count);
    for (uint32_t f = 0; f < count; f++) {
        for (uint32_t k = 0; k < fleets[f]->count; k++) {
            follow(fleets[f], k);
        }
        fleet_release(fleets[f]);
    }
    free(fleets);
    return true;
}
