/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is counted of units: where they have gone, how long they waited, who
 * waits now.
 */
#include "autoconf.h"

#include "link_note.h"
#include "place_unit.h"

#include <utlist.h>

void place_hand_out(struct place_order *order, struct link *link,
                    uint64_t now)
{
    struct fleet *fleet = order->login->fleet;
    uint32_t i = link->pool->instance;
    enum pool_lent how = POOL_LENT;

    if (order->owner.state == ROUTE_IS_OWNED) {
        uint32_t group = atomic_load(&fleet->members[i].group);

        how = topology_names(&order->owner, group) ? POOL_LENT_OWNER
                                                   : POOL_LENT_OTHER;
    }
    order->link = link;
    if (link->note) {
        link_note_begin(link->note, order->key ? order->key->text : NULL);
    }
    pool_lend(link, how, now);
    fleet_unit_begins(fleet, i);
}

void place_count_wait(const struct unit *unit, bool waited)
{
    const struct place_order *order = unit->order;
    struct pool_stats *stats = order->link ? &order->link->pool->stats
                                           : &order->login->stats;
    uint64_t ns = clock_ns() - unit->begin;

    if (order->link && waited) {
        pool_stat_count(stats, POOL_STAT_WAITS);
        pool_stat_add(stats, POOL_STAT_WAIT, ns);
        pool_stat_raise_locked(order->login, stats, POOL_STAT_LONGEST, ns);
    } else if (!order->link && unit->expired) {
        pool_stat_count(stats, POOL_STAT_TIMED_OUT);
        pool_stat_add(stats, POOL_STAT_TIME_OUT, ns);
        pool_stat_raise_locked(order->login, stats, POOL_STAT_LONGEST, ns);
    } else if (!order->link) {
        pool_stat_count(stats, POOL_STAT_REFUSED);
    }
}

bool place_waits_for(const struct unit *unit, uint32_t i)
{
    const struct verdict *v = &unit->order->verdict;

    return unit->ordered == (int)i ||
           (unit->ordered < 0 && v->action == ROUTE_WAIT &&
            v->instance == (int)i);
}

uint32_t place_waiting(struct login *login)
{
    const struct unit *unit;
    uint32_t count;

    mutex_lock(&login->lock);
    DL_COUNT(login->units, unit, count);
    mutex_unlock(&login->lock);
    return count;
}

uint32_t place_waiting_for(struct login *login, uint32_t i)
{
    const struct unit *unit;
    uint32_t count = 0;

    mutex_lock(&login->lock);
    DL_FOREACH(login->units, unit) {
        count += !unit->done && !unit->asking && place_waits_for(unit, i);
    }
    mutex_unlock(&login->lock);
    return count;
}
