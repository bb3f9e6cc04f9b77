/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * random: each instance with a chance in proportion to its weight, from the
 * request's seed.
 */
#include "autoconf.h"

#include "balance.h"

int balance_random(const struct balance_among *among)
{
    return balance_draw(among, 0);
}
