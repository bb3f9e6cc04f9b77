/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * THE ONE DOOR: every unit gets its link here, and only here route_choose()
 * is asked (design §4).  A unit is decided under its login's lock, so that
 * what the verdict saw is what is taken; it waits, if it must, in the login's
 * queue, and is decided again after every event (rules §3.1) in the order of
 * arrival.  Who orders, validates or learns waits like everybody else: the
 * inner calls are made by helper threads (rules §4).
 *
 * While nobody waits, most units would be given an idle link whatever else is
 * idle (choose_plainly()).  Such a one takes it from the shelf without that
 * lock, or from the pool's list without gathering the shelves (pool_shelf.h).
 *
 * Until when it waits is in place_time.c, whom it asks in place_ask.c, what
 * helpers report in place_report.c, what is said of it in place_say.c.
 */
#include "autoconf.h"

#include "place.h"
#include "place_unit.h"
#include "pool_shelf.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

_Static_assert((int)ROUTE_RANDOM == (int)CONFIG_RANDOM &&
                   (int)ROUTE_FAILOVER == (int)CONFIG_FAILOVER,
               "route.h's methods are config.def's, in their order");

/* ---- what a unit has tried ------------------------------------------- */

static bool remember(struct unit *unit)
{
    uint32_t count = unit->order->login->fleet->count;

    if (!unit->tried) {
        unit->tried = calloc(count, sizeof *unit->tried);
        unit->order->refusals = calloc(count, sizeof *unit->order->refusals);
    }
    return unit->tried && unit->order->refusals;
}

void place_note_tried(struct unit *unit, uint32_t i, enum inner_fault fault,
                       const struct link_error *error)
{
    if (!remember(unit)) {
        unit->broke = true;
        return;
    }
    unit->tried[i] = !inner_passes(fault);
    unit->order->refusals[i].fault = fault;
    unit->order->refusals[i].error = *error;
}

void place_leave_order(struct unit *unit)
{
    if (unit->ordered >= 0) {
        pool_abandon_locked(place_pool(unit, unit->ordered), unit);
        unit->ordered = -1;
        unit->validating = false;
    }
}

struct route_request place_request(const struct unit *unit, uint64_t now)
{
    const struct place_order *order = unit->order;

    return (struct route_request){
        .mode = order->mode,
        .balance = (enum route_balance)order->login->fleet->config.balance,
        .key = order->owner.state,
        .write = order->write,
        .learning = unit->learning,
        .background = place_is_background(order->login),
        .owners = order->owner.owners,
        .owner_count = order->owner.count,
        .tried = unit->tried,
        .queueing = unit->wait_until > now,
        .fresh = unit->fresh,
        .ordered = unit->ordered,
        .begin = unit->begin,
        .now = now,
        .seed = unit->begin ^ (uint64_t)(uintptr_t)unit,
        .what = order->key ? order->key->text : order->login->user,
        .what_length = order->key ? order->key->length
                                  : strlen(order->login->user),
    };
}

/* Who owns its key is known, or it has none; and its placing would not have
   others asked. */
static bool know_owner(struct unit *unit, uint64_t now)
{
    struct place_order *order = unit->order;
    struct fleet *fleet = order->login->fleet;

    if (!order->key) {
        order->owner.state = ROUTE_IS_UNKEYED;
        return true;
    }
    if (!topology_is_quiet(fleet, now)) {
        return false;
    }
    topology_find(fleet, order->key, &order->owner);
    return order->owner.state == ROUTE_IS_OWNED;
}

/* What would be decided if every instance had an idle link?  If there is one on
   the instance that is chosen then, it is the decision: a balanced choice goes
   by the members, not by the stock, and no step before it asks for anything but
   idle links.  False: not so plain. */
static bool choose_plainly(struct unit *unit, uint64_t now, struct verdict *v)
{
    const struct login *login = unit->order->login;
    struct route_fleet fleet = login_route_plenty(login);
    struct route_request request;

    if (shelf_is_due(login, now) || !know_owner(unit, now)) {
        return false;
    }
    request = place_request(unit, now);
    *v = route_choose(&request, &fleet);
    return v->action == ROUTE_TAKE && (v->reason == ROUTE_OWNER_IDLE ||
                                       v->reason == ROUTE_BALANCED_IDLE);
}

/* A sleeping unit that must be looked at earlier than it thought when it fell
   asleep, since somebody else has decided it anew, is woken to see that. */
static void mind_the_time(struct unit *unit, uint64_t now)
{
    if (!unit->done && place_next_look(unit, now) < unit->sleeps_until) {
        cond_signal(&unit->wake);
    }
}

/* ---- doing what the verdict says ------------------------------------- */

void place_finish(struct unit *unit, struct link *link)
{
    place_hand_out(unit->order, link, clock_ns());
    unit->done = true;
    cond_signal(&unit->wake);
}

void place_fail(struct unit *unit)
{
    unit->done = true;
    cond_signal(&unit->wake);
}

/* False: there was nothing left to take; decide again. */
static bool do_take(struct unit *unit, const struct verdict *v, uint64_t now)
{
    bool validate;
    struct link *link = pool_take_locked(place_pool(unit, v->instance),
                                         &validate);

    if (!link) {
        return false;
    }
    place_leave_order(unit);
    if (v->also >= 0) {
        pool_order_behind_locked(place_pool(unit, v->also));
    }
    if (!validate) {
        place_finish(unit, link);
    } else if (pool_validate_locked(link, unit)) {
        place_helped(unit, v->instance, now, true);
    } else {
        return false;
    }
    return true;
}

static void do_open(struct unit *unit, const struct verdict *v, uint64_t now)
{
    place_leave_order(unit);
    if (pool_order_locked(place_pool(unit, v->instance), unit)) {
        place_helped(unit, v->instance, now, false);
    } else {
        unit->broke = true;
        place_fail(unit);
    }
}

void place_decide(struct unit *unit, bool impatient)
{
    struct login *login = unit->order->login;
    uint64_t now = clock_ns();
    bool again = !unit->done && !unit->asking &&
                 (!unit->validating || impatient);

    if (unit->asking) {
        cond_signal(&unit->wake);
    }
    while (again) {
        struct route_request request;
        struct route_fleet fleet;
        struct verdict v;

        place_look_up_owner(unit, now);
        request = place_request(unit, now);
        fleet = login_route_locked(login);
        v = route_choose(&request, &fleet);
        again = false;
        unit->ask_again = v.until ? v.until : UINT64_MAX;
        switch (v.action) {
        case ROUTE_TAKE:
            unit->order->verdict = v;
            again = !do_take(unit, &v, now);
            if (again) {
                shelf_shut_locked(login);
            }
            break;
        case ROUTE_OPEN:
            unit->order->verdict = v;
            do_open(unit, &v, now);
            break;
        case ROUTE_WAIT:
            if (unit->ordered < 0) {
                unit->order->verdict = v;
            }
            break;
        case ROUTE_FAIL:
            unit->order->verdict = v;
            place_fail(unit);
            break;
        }
    }
    mind_the_time(unit, now);
}

void place_serve_locked(struct login *login)
{
    struct unit *unit, *next;
    uint64_t closed;

    mutex_assert_held(&login->lock);
    do { /* again for those before it, if one has made room */
        closed = login->closed;
        DL_FOREACH_SAFE(login->units, unit, next) {
            place_decide(unit, false);
        }
        pool_tidy_locked(login);
    } while (login->closed > closed);
}

/* One unit, out of turn.  If it makes room, what comes free is for whoever came
   first. */
static void decide_alone(struct unit *unit, bool impatient)
{
    struct login *login = unit->order->login;
    uint64_t closed = login->closed;

    place_decide(unit, impatient);
    pool_tidy_locked(login);
    if (login->closed > closed) {
        place_serve_locked(login);
    }
}

__attribute__((constructor)) static void set_pool_events(void)
{
    pool_set_events(&place_events);
}

/* ---- waiting --------------------------------------------------------- */

/* What a helper did for the unit took too long.  That is the instance's fault
   if the helper was at it all the time, and we look in time; but not if its
   turn did not come. */
static void blame(struct unit *unit, uint64_t began, uint64_t now,
                  const struct link_error *error)
{
    enum { LATE_MS = 250 };
    struct fleet *fleet = unit->order->login->fleet;
    uint64_t limit = place_order_limit(unit);
    uint64_t late = LATE_MS * NS_PER_MS;

    if (began && began <= unit->ordered_at + late && now <= limit + late) {
        fleet_silent(fleet, (uint32_t)unit->ordered, began, error);
    } else if (began || unit->validating) {
        fleet_suspect(fleet, (uint32_t)unit->ordered);
    }
}

/* What a helper does for the unit may take too long.  True: look for
   something else, if there is anything. */
static bool look_at_order(struct unit *unit, uint64_t now)
{
    struct fleet *fleet = unit->order->login->fleet;
    uint32_t i = (uint32_t)unit->ordered;
    uint64_t began = pool_began_locked(place_pool(unit, unit->ordered), unit);

    if (now >= place_order_limit(unit)) {
        struct link_error error;
        place_late_error(unit, began != 0, &error);
        blame(unit, began, now, &error);
        place_leave_order(unit);
        place_note_tried(unit, i, INNER_FAULT_INSTANCE, &error);
        unit->late_at = (int)i;
        return true;
    }
    if (now < unit->patient_until) {
        return false;
    }
    if (!began && !unit->validating) { /* those before it may hang there */
        began = lane_busy_since(fleet->instances[i].opening);
    }
    if (!place_is_overdue(unit, began, now)) {
        return false;
    }
    if (!atomic_load(&fleet->members[i].slow)) {
        fleet_set_slow(fleet, i, true);
        fleet_tell(fleet, i);
    }
    return !route_is_bound(unit->order->mode, unit->order->owner.state);
}

static void wait_for_event(struct unit *unit)
{
    struct login *login = unit->order->login;
    uint64_t now = clock_ns();
    bool timely, impatient;

    unit->sleeps_until = place_next_look(unit, now);
    timely = cond_wait(&unit->wake, &login->lock, unit->sleeps_until);
    unit->sleeps_until = 0;
    now = clock_ns();
    if (unit->done || timely) {
        decide_alone(unit, false);
        return;
    }
    impatient = unit->ordered >= 0 && look_at_order(unit, now);
    decide_alone(unit, impatient);
    if (impatient) {
        place_serve_locked(login); /* who wait there for their turn */
    }
    if (!unit->done && place_is_over(unit, now)) {
        place_leave_order(unit);
        unit->expired = true;
        place_fail(unit);
    }
}

bool place_at_once(struct place_order *order, struct shelf *shelf)
{
    struct unit unit = { .order = order, .ordered = -1 };
    struct fleet *fleet = order->login->fleet;
    struct link *link = NULL;
    struct verdict v;

    place_begin(&unit, clock_ns());
    if (fleet_is_current(fleet) && choose_plainly(&unit, unit.begin, &v)) {
        link = shelf_take_locked(shelf, place_pool(&unit, v.instance));
    }
    if (link) {
        order->verdict = v;
        order->waited = 0;
        place_hand_out(order, link, unit.begin);
    }
    return link != NULL;
}

/* Is something on the shelves, but the unit would be given a link that is idle
   under the lock, whatever that is? */
static bool is_plain_locked(struct unit *unit)
{
    const struct login *login = unit->order->login;
    struct verdict v;

    mutex_assert_held(&login->lock);
    return atomic_load(&login->shelved) && !login->units &&
           choose_plainly(unit, unit->begin, &v) &&
           login->stock[v.instance].idle > 0;
}

/* Its first decision; what it may wait for is in sight then. */
static void join_locked(struct unit *unit)
{
    struct login *login = unit->order->login;
    bool plain = is_plain_locked(unit);

    mutex_assert_held(&login->lock);
    if (!plain) {
        shelf_shut_locked(login);
    }
    unit->fresh = login->total_idle == 0;
    DL_APPEND(login->units, unit);
    place_serve_locked(login);
    if (plain && !unit->done) {
        shelf_shut_locked(login);
        place_serve_locked(login);
    }
}

void place_leave_locked(struct unit *unit)
{
    struct login *login = unit->order->login;

    mutex_assert_held(&login->lock);
    DL_DELETE(login->units, unit);
    if (!login->units) {
        shelf_open_locked(login);
    }
}

bool place_unit(struct place_order *order)
{
    struct login *login = order->login;
    bool waited;
    struct unit unit = {
        .order = order, .ordered = -1, .late_at = -1, .refused_at = -1,
    };

    cond_init(&unit.wake);
    place_begin(&unit, clock_ns());
    mutex_lock(&login->lock);
    join_locked(&unit);
    if (!unit.done && order->pool_wait_ms == 0 && unit.ordered < 0) {
        unit.expired = true;
        unit.done = true;
    }
    waited = !unit.done;
    if (waited) {
        place_have_sought(&unit);
    }
    while (!unit.done) {
        wait_for_event(&unit);
    }
    place_leave_order(&unit);
    place_count_wait(&unit, waited);
    place_leave_locked(&unit);
    if (order->key && order->link) {
        place_ask_rest(login, clock_ns());
    }
    place_look_for_primary(order);
    place_serve_locked(login);
    mutex_unlock(&login->lock);
    order->waited = clock_ns() - unit.begin;
    if (!order->link) {
        fleet_count_refused(login->fleet);
        place_explain_failure(&unit);
    }
    cond_destroy(&unit.wake);
    free(unit.tried);
    return order->link != NULL;
}

void place_done(struct place_order *order)
{
    free(order->refusals);
    order->refusals = NULL;
}

struct verdict place_explain(struct place_order *order,
                             enum route_refusal *refusals)
{
    struct login *login = order->login;
    struct unit unit = { .order = order, .ordered = -1,
                         .begin = clock_ns() };
    struct route_request request;
    struct route_fleet fleet;
    uint64_t now;

    mutex_lock(&login->lock);
    place_await_owner(&unit);
    shelf_gather_locked(login);
    now = clock_ns();
    unit.wait_until = now + 1; /* as if it would wait for a link */
    unit.fresh = login->total_idle == 0;
    request = place_request(&unit, now);
    fleet = login_route_locked(login);
    order->verdict = route_choose(&request, &fleet);
    for (uint32_t i = 0; i < fleet.count; i++) {
        refusals[i] = route_refuse(&request, &fleet, i);
    }
    mutex_unlock(&login->lock);
    return order->verdict;
}
