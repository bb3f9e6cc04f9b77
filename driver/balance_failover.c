/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * failover: the heaviest, the first listed of equals, and no other for as long
 * as it can serve; at once again when it is back.  Neither latency nor limits
 * move a unit away from it.
 */
#include "autoconf.h"

#include "balance.h"

int balance_failover(const struct balance_among *among)
{
    uint32_t most = 0;
    int best = -1;

    for (uint32_t i = 0; i < among->fleet->count; i++) {
        uint32_t weight = balance_weight(&among->fleet->members[i]);

        if ((best < 0 || weight > most) && balance_may(among, i)) {
            best = (int)i;
            most = weight;
        }
    }
    return best;
}
