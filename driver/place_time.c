/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Until when a unit waits, and for what (rules §3.3): PoolWait for busy links
 * and owners, ConnectTimeout or CheckTimeout for what a helper does, its
 * order's deadline for the whole.  A unit that can go elsewhere does so when
 * the helper has been at it for PATIENCE_MS, and leaves it to itself (promise
 * 4).
 */
#include "autoconf.h"

#include "place_unit.h"

enum { PATIENCE_MS = 500 };

void place_begin(struct unit *unit, uint64_t now)
{
    const struct place_order *order = unit->order;
    uint32_t connect = order->login->fleet->config.connect_timeout;

    unit->begin = now;
    unit->wait_until = now + order->pool_wait_ms * NS_PER_MS;
    unit->hard = order->deadline != UINT64_MAX
                     ? order->deadline
                     : unit->wait_until + connect * NS_PER_MS;
    unit->wait_until = clock_earlier(unit->wait_until, unit->hard);
}

void place_helped(struct unit *unit, int i, uint64_t now, bool validating)
{
    unit->ordered = i;
    unit->ordered_at = now;
    unit->patient_until = now + PATIENCE_MS * NS_PER_MS;
    unit->validating = validating;
}

bool place_is_overdue(struct unit *unit, uint64_t began, uint64_t now)
{
    uint64_t patience = PATIENCE_MS * NS_PER_MS;

    if (began + patience <= now && (began || unit->validating)) {
        unit->patient_until = UINT64_MAX;
        return true;
    }
    unit->patient_until = (began ? began : now) + patience;
    return false;
}

bool place_is_over(const struct unit *unit, uint64_t now)
{
    return now >= unit->hard ||
           (unit->ordered < 0 && now >= unit->wait_until);
}

uint64_t place_order_limit(const struct unit *unit)
{
    const struct config_fleet *config = &unit->order->login->fleet->config;
    uint32_t ms = unit->validating ? config->check_timeout
                                   : config->connect_timeout;

    return unit->ordered_at + ms * NS_PER_MS;
}

uint64_t place_next_look(const struct unit *unit, uint64_t now)
{
    uint64_t until = clock_earlier(unit->hard, unit->ask_again);

    if (unit->ordered >= 0) {
        until = clock_earlier(until, unit->patient_until);
        until = clock_earlier(until, place_order_limit(unit));
    } else {
        until = clock_earlier(until, unit->wait_until);
    }
    if (unit->learning || unit->order->owner.state == ROUTE_IS_MOVING ||
        unit->order->verdict.reason == ROUTE_NOT_LEARNT) {
        until = clock_earlier(until,
                              topology_wake(unit->order->login->fleet, now));
    }
    return until;
}
