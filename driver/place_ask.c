/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who owns a unit's key, and who leads a group: what is not known is asked for
 * over links of the unit's login, by helpers; here it is ordered and awaited.
 */
#include "autoconf.h"

#include "keeper_clock.h"
#include "place_unit.h"
#include "pool_shelf.h"

#include <utlist.h>

/* That there is no room for a link to an instance is nothing against it: it is
   asked as soon as there is, when its turn comes.  Nor is it that this login is
   refused there: another one's sessions may ask it. */
static bool may_ask(const struct login *login, uint32_t i)
{
    return pool_may_learn_locked(&login->pools[i], false);
}

static bool may_ask_unasked(const struct login *login, uint32_t i)
{
    return pool_may_learn_locked(&login->pools[i], true);
}

static uint32_t ask(struct login *login, const struct route_key *key,
                    uint64_t now, bool unasked)
{
    struct fleet *fleet = login->fleet;
    uint32_t asked = 0;

    if (!key && topology_is_quiet(fleet, now)) {
        return 0;
    }
    shelf_gather_locked(login); /* may_ask() cannot */
    for (uint32_t n = 0; n < fleet->count; n++) {
        int i = topology_next(fleet, key, unasked ? may_ask_unasked : may_ask,
                              login, now);
        if (i < 0) {
            break;
        }
        if (pool_learn_locked(&login->pools[i], unasked)) {
            asked++;
        } else {
            topology_not_asked(fleet, (uint32_t)i, true);
        }
    }
    return asked;
}

uint32_t place_ask(struct login *login, const struct route_key *key,
                   uint64_t now)
{
    return ask(login, key, now, false);
}

void place_ask_rest(struct login *login, uint64_t now)
{
    ask(login, NULL, now, true);
}

/* May an answer still come in time?  Who can go elsewhere does not wait for one
   who hangs. */
static bool worth_waiting(const struct place_order *order)
{
    const struct topology_answer *owner = &order->owner;

    return owner->state == ROUTE_IS_UNKNOWN &&
           (order->mode == ROUTE_STRICT ? owner->pending : owner->soon);
}

void place_look_up_owner(struct unit *unit, uint64_t now)
{
    struct place_order *order = unit->order;
    struct topology_answer *owner = &order->owner;

    unit->learning = false;
    if (!order->key) {
        owner->state = ROUTE_IS_UNKEYED;
        return;
    }
    topology_find(order->login->fleet, order->key, owner);
    if (now >= unit->wait_until) {
        return;
    }
    if (owner->state == ROUTE_IS_MOVING) {
        place_ask(order->login, order->key, now); /* is it over? */
    } else if (owner->state == ROUTE_IS_UNKNOWN && owner->pending) {
        place_ask(order->login, order->key, now);
        topology_find(order->login->fleet, order->key, owner);
        unit->learning = worth_waiting(order);
    }
}

void place_await_owner(struct unit *unit)
{
    struct login *login = unit->order->login;

    cond_init(&unit->wake);
    unit->asking = true;
    unit->ask_again = UINT64_MAX;
    unit->hard = unit->wait_until =
        unit->begin + unit->order->pool_wait_ms * NS_PER_MS;
    DL_APPEND(login->units, unit);
    place_look_up_owner(unit, unit->begin);
    while (unit->learning) {
        cond_wait(&unit->wake, &login->lock, place_next_look(unit, clock_ns()));
        place_look_up_owner(unit, clock_ns());
    }
    place_leave_locked(unit);
    cond_destroy(&unit->wake);
}

uint32_t place_learn(struct login *login, uint32_t wait_ms)
{
    struct place_order order = { .login = login };
    struct unit unit = { .order = &order, .ordered = -1, .asking = true };
    uint64_t now = clock_ns(), until = now + wait_ms * NS_PER_MS;
    uint32_t asked = 0;

    cond_init(&unit.wake);
    mutex_lock(&login->lock);
    DL_APPEND(login->units, &unit);
    asked += place_ask(login, NULL, now);
    while (now < until && !topology_complete(login->fleet)) {
        cond_wait(&unit.wake, &login->lock,
                  clock_earlier(until, topology_wake(login->fleet, now)));
        now = clock_ns();
        /* those that were being asked already may have answered too early */
        asked += place_ask(login, NULL, now);
    }
    place_leave_locked(&unit);
    mutex_unlock(&login->lock);
    cond_destroy(&unit.wake);
    return asked;
}

void place_have_sought(const struct unit *unit)
{
    struct login *login = unit->order->login;

    mutex_assert_held(&login->lock);
    if (!login->proved) {
        login->waited_at = login->waited_at ? login->waited_at : unit->begin;
        keeper_clock_wake(unit->begin + POOL_SEEK_MS * NS_PER_MS);
    }
}

/* Does the unit's key, if it leads anywhere, lead to instance i? */
static bool leads_to(const struct place_order *order, uint32_t i)
{
    uint32_t group = atomic_load(&order->login->fleet->members[i].group);

    return order->owner.state != ROUTE_IS_OWNED ||
           topology_names(&order->owner, group);
}

void place_look_for_primary(const struct place_order *order)
{
    struct fleet *fleet = order->login->fleet;
    uint64_t now = clock_ns();
    bool due;

    if (order->link && leads_to(order, order->link->pool->instance)) {
        return;
    }
    due = fleet_look_due(fleet, now);
    for (uint32_t i = 0; due && i < fleet->count; i++) {
        if (leads_to(order, i) && fleet_may_lead(fleet, i, now)) {
            fleet_want_probe(fleet, i);
        }
    }
}
