/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Until when a unit waits, and for what (rules §3.3): PoolWait for busy links
 * and owners, ConnectTimeout or CheckTimeout for what a helper does, its
 * order's deadline for the whole.
 */
#include "autoconf.h"

#include "place_unit.h"

uint64_t place_order_limit(const struct unit *unit)
{
    const struct config_fleet *config = &unit->order->login->fleet->config;
    uint32_t ms = unit->validating ? config->check_timeout
                                   : config->connect_timeout;

    return unit->ordered_at + ms * NS_PER_MS;
}

uint64_t place_next_look(const struct unit *unit, uint64_t now)
{
    uint64_t until = place_earlier(unit->hard, unit->ask_again);

    if (unit->ordered >= 0) {
        until = place_earlier(until, unit->patient_until);
        until = place_earlier(until, place_order_limit(unit));
    } else {
        until = place_earlier(until, unit->wait_until);
    }
    if (unit->learning || unit->order->owner.state == ROUTE_IS_MOVING) {
        until = place_earlier(until,
                              topology_wake(unit->order->login->fleet, now));
    }
    return until;
}
