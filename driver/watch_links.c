/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What follows for links and waiting units, in every login, where an instance
 * has changed its state, its owner's mind or its limits (fleet.h): idle links
 * that are not kept any longer are closed, and units are decided anew.
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include "pool.h"

/* Does instance i want to be gone through?  Says yes once. */
static bool has_changed(struct fleet *fleet, uint32_t i)
{
    _Atomic bool *changed = &fleet->instances[i].changed;

    return atomic_load_explicit(changed, memory_order_relaxed) &&
           atomic_exchange(changed, false);
}

static void go_through(struct fleet *fleet, uint32_t i)
{
    uint32_t count;
    struct login **logins = login_all(fleet, &count);

    for (uint32_t k = 0; k < count; k++) {
        login_gather(logins[k], i);
        login_release(logins[k]);
    }
    free(logins);
}

uint64_t watch_links(struct fleet *fleet, uint64_t now)
{
    (void)now;
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (has_changed(fleet, i)) {
            go_through(fleet, i);
        }
    }
    return UINT64_MAX; /* whoever sets `changed` wakes the clock */
}
