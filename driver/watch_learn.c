/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Learning: what the topology lacks, or doubts, is asked for behind the
 * sessions' backs.  Whom to ask is in topology_next.c, and whether an answer
 * still holds in topology_fingerprint.c; here it is over whose link.
 *
 * Little is asked (rules §1.5): nothing before somebody has given a key.
 */
#include "autoconf.h"

#include "watch.h"

#include <stdlib.h>

#include "place.h"
#include "login.h"
#include "topology.h"

static void ask_over(struct login *login, uint64_t now)
{
    mutex_lock(&login->lock);
    if (!login->retired) {
        place_ask_rest(login, now);
    }
    mutex_unlock(&login->lock);
}

/* MonitorUID's, if there is one, and for what is left those of sessions:
   another one first each time, since one of them may not be allowed what
   another is. */
static void ask(struct fleet *fleet, uint64_t now)
{
    struct login *monitor = login_monitor(fleet);
    uint32_t count = 0, turn;
    struct login **all = login_all(fleet, &count);

    turn = fleet->learn_turn++;
    if (monitor) {
        ask_over(monitor, now);
        login_release(monitor);
    }
    for (uint32_t k = 0; k < count; k++) {
        struct login *login = all[(turn + k) % count];

        if (login->proved && !login->monitor) {
            ask_over(login, now);
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        login_release(all[k]);
    }
    free(all);
}

uint64_t watch_learn(struct fleet *fleet, uint64_t now)
{
    if (!watch_is_used(fleet, now) || !fleet->config.check_interval ||
        !topology_begun(fleet)) {
        return UINT64_MAX;
    }
    if (topology_wake(fleet, now) <= now + TOPOLOGY_HEDGE_MS * NS_PER_MS) {
        ask(fleet, now);
    }
    return topology_wake(fleet, now);
}
