/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What calls to an instance, and its probe, tell balancing: balance_fact.h has
 * the rules, here they get their time, their lock, and a word to whoever reads
 * events.
 */
#include "autoconf.h"

#include "balance_fact.h"
#include "event.h"
#include "fleet.h"
#include "fleet_balance.h"

/* What was heard tells something for three intervals of probing, and for that
   long where nobody probes. */
enum { TELLING_MS = 10000 };

static uint64_t tells_until(const struct fleet *fleet, uint64_t now)
{
    uint64_t ms = UINT64_C(3) * fleet_probe_interval(fleet);

    return now + (ms > TELLING_MS ? ms : TELLING_MS) * NS_PER_MS;
}

static void say_change(const struct fleet *fleet, uint32_t i, bool before,
                       uint64_t now)
{
    const struct route_member *m = &fleet->members[i];
    const char *name = fleet->instances[i].name;

    if (balance_violates(m, now) && !before) {
        event_say(fleet->events, LOG_IS_WARNING, name,
                  "is over its limits and gets sessions only when no other "
                  "can: latency %llu us, %llu when all is well; load %u "
                  "permille",
                  (unsigned long long)m->pace[ROUTE_CALL_ASK].ns / 1000,
                  (unsigned long long)m->calm_ns / 1000, m->load_permille);
    } else if (before && !balance_violates(m, now)) {
        event_say(fleet->events, LOG_IS_INFO, name,
                  "is within its limits again");
    }
}

void fleet_timed(struct fleet *fleet, uint32_t i, enum route_call call,
                 uint64_t took)
{
    struct route_member *m = &fleet->members[i];
    uint64_t now = clock_ns();
    bool before;

    mutex_lock(&fleet->lock);
    before = balance_violates(m, now);
    balance_timed(m, call, took, now, tells_until(fleet, now));
    say_change(fleet, i, before, now);
    mutex_unlock(&fleet->lock);
}

void fleet_balance_failed_locked(struct fleet *fleet, uint32_t i)
{
    uint64_t now = clock_ns();

    mutex_assert_held(&fleet->lock);
    balance_failed(&fleet->members[i],
                   fleet->config.connect_timeout * NS_PER_MS, now,
                   tells_until(fleet, now));
}

/* Raises its counter to the lightest of those that are up, lest it be flooded
   (rules §10). */
static void catch_up_locked(struct fleet *fleet, uint32_t i)
{
    struct route_member *back = &fleet->members[i];
    uint32_t own = atomic_load(&back->weight);
    double least = -1, weight = own ? own : 1;

    mutex_assert_held(&fleet->lock);
    for (uint32_t k = 0; k < fleet->count; k++) {
        struct route_member *m = &fleet->members[k];
        uint32_t its = atomic_load(&m->weight);
        if (k != i && atomic_load(&m->health) == ROUTE_UP && its) {
            double share = (double)atomic_load(&m->served) / its;
            least = least < 0 || share < least ? share : least;
        }
    }
    if (least >= 0 && (double)atomic_load(&back->served) < least * weight) {
        atomic_store(&back->served, (uint64_t)(least * weight));
    }
}

void fleet_balance_returned_locked(struct fleet *fleet, uint32_t i,
                                   uint64_t now)
{
    mutex_assert_held(&fleet->lock);
    catch_up_locked(fleet, i);
    balance_returned(&fleet->members[i], now);
}

void fleet_loaded(struct fleet *fleet, uint32_t i, uint32_t permille)
{
    struct route_member *m = &fleet->members[i];
    uint64_t now = clock_ns();
    bool before;

    mutex_lock(&fleet->lock);
    before = balance_violates(m, now);
    balance_loaded(m, permille, now, tells_until(fleet, now));
    say_change(fleet, i, before, now);
    mutex_unlock(&fleet->lock);
}

void fleet_balance_weighed_locked(struct fleet *fleet)
{
    uint32_t most = 0;

    mutex_assert_held(&fleet->lock);
    for (uint32_t i = 0; i < fleet->count; i++) {
        uint32_t weight = fleet->members[i].weight;
        most = weight > most ? weight : most;
    }
    atomic_store(&fleet->heaviest, most);
}

void fleet_unit_begins(struct fleet *fleet, uint32_t i)
{
    struct route_member *m = &fleet->members[i];
    uint32_t most, now;

    atomic_fetch_add_explicit(&m->served, ROUTE_SERVED_UNIT,
                              memory_order_relaxed);
    now = 1 + atomic_fetch_add_explicit(&m->in_flight, 1,
                                        memory_order_relaxed);
    most = atomic_load_explicit(&m->most_in_flight, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak_explicit(
                             &m->most_in_flight, &most, now,
                             memory_order_relaxed, memory_order_relaxed)) {
    }
}

void fleet_unit_ends(struct fleet *fleet, uint32_t i)
{
    atomic_fetch_sub_explicit(&fleet->members[i].in_flight, 1,
                              memory_order_relaxed);
}
