/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The pools of all logins: what is worn is closed, what is missing is opened
 * (login_life.c), and who holds a link too long is told of (login_limit.c).
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include "login.h"

/* Is it time, or is there something new? */
static bool is_due(struct fleet *fleet, bool used, bool quiet, uint64_t now)
{
    bool due = atomic_exchange(&fleet->tend, false) ||
               used != fleet->tended_used || quiet != fleet->tended_quiet ||
               now >= fleet->tend_at;

    fleet->tended_used = used;
    fleet->tended_quiet = quiet;
    return due;
}

static uint64_t tend(struct login *login, bool used, bool quiet, uint64_t now)
{
    uint64_t next;

    if (quiet) {
        return login_rest(login, now); /* no session, so none is overlong */
    }
    next = clock_earlier(login_tend(login, used, now),
                         login_tell_overlong(login, now));
    /* what is due later than that is not waited for */
    return next == UINT64_MAX ? next : clock_earlier(next, watch_quiet_at());
}

uint64_t watch_pool(struct fleet *fleet, uint64_t now)
{
    bool used = watch_is_used(fleet, now);
    bool quiet = watch_is_quiet(fleet, now);
    uint64_t next = UINT64_MAX;
    struct login **logins;
    uint32_t count;

    if (!is_due(fleet, used, quiet, now)) {
        return fleet->tend_at;
    }
    logins = login_all(fleet, &count);
    if (!logins) {
        atomic_store(&fleet->tend, true);
        next = now + WATCH_AGAIN_MS * NS_PER_MS;
    }
    for (uint32_t k = 0; k < count; k++) {
        next = clock_earlier(next, tend(logins[k], used, quiet, now));
        login_release(logins[k]);
    }
    free(logins);
    fleet->tend_at = next;
    return next;
}
