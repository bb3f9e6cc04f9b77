/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What follows for links and waiting units, in every login, where an instance
 * has changed its state, its owner's mind or its limits (fleet.h): idle links
 * that are not kept any longer are closed, and units are decided anew.  And
 * what hangs there is ended (login_hung.c).
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

uint64_t watch_links(struct fleet *fleet, uint64_t now)
{
    uint32_t count;
    struct login **logins = login_all(fleet, &count);
    uint64_t next = UINT64_MAX; /* whoever sets `changed` wakes the clock */

    if (!logins) {
        return now + WATCH_AGAIN_MS * NS_PER_MS;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (has_changed(fleet, i)) {
            for (uint32_t k = 0; k < count; k++) {
                pool_trim(&logins[k]->pools[i]);
            }
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        next = clock_earlier(next, login_end_hung(logins[k], now));
        login_release(logins[k]);
    }
    free(logins);
    return next;
}
