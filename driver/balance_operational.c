/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * operational: the same sort of request always goes to the same instance, for
 * its caches' sake, or to have one place where something is counted: weighted
 * rendezvous of the unit's key, or of the user where there is none.  All
 * processes choose alike, whatever the order in their lists; when an instance
 * fails, only what was its own goes elsewhere, and comes back with it.
 */
#include "autoconf.h"

#include "balance.h"
#include "balance_rendezvous.h"

int balance_operational(const struct balance_among *among)
{
    const struct route_request *request = among->request;
    struct balance_digest digest = balance_digest(request->what,
                                                  request->what_length);
    struct balance_lot best = { 0 };
    int chosen = -1;

    for (uint32_t i = 0; i < among->fleet->count; i++) {
        const struct route_member *m = &among->fleet->members[i];
        struct balance_lot lot = balance_lot(&digest, m->seed,
                                             balance_weight(m));

        if ((chosen < 0 || balance_lot_is_better(&lot, &best)) &&
            balance_may(among, i)) {
            best = lot;
            chosen = (int)i;
        }
    }
    return chosen;
}
