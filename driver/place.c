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
 * Until when it waits is in place_time.c, whom it asks in place_ask.c, what is
 * said of it in place_say.c.
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

static struct pool *pool_at(const struct unit *unit, int i)
{
    return &unit->order->login->pools[i];
}

/* ---- what a unit has tried ------------------------------------------- */

static bool remember(struct unit *unit)
{
    uint32_t count = unit->order->login->fleet->count;

    if (!unit->tried) {
        unit->tried = calloc(count, 1);
        unit->order->refusals = calloc(count, sizeof *unit->order->refusals);
    }
    return unit->tried && unit->order->refusals;
}

static void note_tried(struct unit *unit, uint32_t i, enum inner_fault fault,
                       const struct link_error *error)
{
    if (!remember(unit)) {
        unit->broke = true;
        return;
    }
    unit->tried[i] = inner_is_full(fault) ? ROUTE_TRIED_FULL
                                          : ROUTE_TRIED_FAILED;
    unit->order->refusals[i].fault = fault;
    unit->order->refusals[i].error = *error;
}

/* The unit waits no more for what a helper does for it. */
static void leave_order(struct unit *unit)
{
    if (unit->ordered >= 0) {
        pool_abandon_locked(pool_at(unit, unit->ordered), unit);
        unit->ordered = -1;
        unit->validating = false;
    }
}

static struct route_request request_of(const struct unit *unit, uint64_t now)
{
    const struct place_order *order = unit->order;

    return (struct route_request){
        .mode = order->mode,
        .balance = (enum route_balance)order->login->fleet->config.balance,
        .key = order->owner.state,
        .write = order->write,
        .learning = unit->learning,
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
    request = request_of(unit, now);
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

static void finish(struct unit *unit, struct link *link)
{
    place_hand_out(unit->order, link, clock_ns());
    unit->done = true;
    cond_signal(&unit->wake);
}

static void fail(struct unit *unit)
{
    unit->done = true;
    cond_signal(&unit->wake);
}

/* False: there was nothing left to take; decide again. */
static bool do_take(struct unit *unit, const struct verdict *v, uint64_t now)
{
    struct login *login = unit->order->login;
    bool validate;
    struct link *link = pool_take_locked(pool_at(unit, v->instance),
                                         &validate);

    if (!link) {
        return false;
    }
    leave_order(unit);
    if (v->also >= 0 && login->stock[v->also].opening == 0) {
        pool_order_locked(pool_at(unit, v->also), NULL);
    }
    if (!validate) {
        finish(unit, link);
    } else if (pool_validate_locked(link, unit)) {
        place_helped(unit, v->instance, now, true);
    } else {
        return false;
    }
    return true;
}

static void do_open(struct unit *unit, const struct verdict *v, uint64_t now)
{
    leave_order(unit);
    if (pool_order_locked(pool_at(unit, v->instance), unit)) {
        place_helped(unit, v->instance, now, false);
    } else {
        unit->broke = true;
        fail(unit);
    }
}

/* Decides one unit and does what the verdict says.  A unit that has what it
   wants, or for which a helper validates a link, is left alone, unless
   `impatient`: that took too long. */
static void decide(struct unit *unit, bool impatient)
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
        request = request_of(unit, now);
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
            fail(unit);
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
    do { /* again for those before it, if one has had idle links closed */
        closed = login->closed;
        DL_FOREACH_SAFE(login->units, unit, next) {
            decide(unit, false);
        }
    } while (login->closed > closed);
}

/* One unit, out of turn.  If it has idle links closed, as worn or for want of
   room, what comes free is for whoever came first. */
static void decide_alone(struct unit *unit, bool impatient)
{
    struct login *login = unit->order->login;
    uint64_t closed = login->closed;

    decide(unit, impatient);
    if (login->closed > closed) {
        place_serve_locked(login);
    }
}

/* ---- what helpers report --------------------------------------------- */

/* Would the decision, as things stand now, still allow this instance? */
static bool acceptable(struct unit *unit, uint32_t i)
{
    struct route_fleet fleet = login_route_locked(unit->order->login);
    struct route_request request;

    place_look_up_owner(unit, clock_ns());
    request = request_of(unit, clock_ns());
    switch (route_refuse(&request, &fleet, i)) {
    case ROUTE_REFUSED_NONE:
    case ROUTE_REFUSED_FULL: /* a link that is ready refutes these */
    case ROUTE_REFUSED_DOWN:
    case ROUTE_REFUSED_SUSPECT:
    case ROUTE_REFUSED_SLOW:
        return true;
    default:
        return false;
    }
}

static bool unit_ready(struct unit *unit, struct link *link)
{
    unit->ordered = -1;
    unit->validating = false;
    if (unit->done || !acceptable(unit, link->pool->instance)) {
        return false;
    }
    if (unit->order->owner.state == ROUTE_IS_OWNED &&
        unit->order->verdict.reason == ROUTE_UNLEARNT) {
        unit->order->verdict.reason = ROUTE_OWNER_OPEN; /* learnt meanwhile */
    }
    if (link->state != LINK_HELD) {
        pool_set_state_locked(link, LINK_HELD);
    }
    finish(unit, link);
    return true;
}

/* A login or database that is refused is refused to all who wait there with
   it (rules §3.3) and, if `learners`, to all who wait for their key's owner;
   nobody tries elsewhere, for accounts get locked that way. */
static void refuse_all(struct login *login, uint32_t i, enum inner_fault fault,
                       const struct link_error *error, bool learners)
{
    struct unit *unit;

    DL_FOREACH(login->units, unit) {
        if (!unit->done && !unit->asking &&
            (place_waits_for(unit, i) || (learners && unit->learning))) {
            note_tried(unit, i, fault, error);
            unit->refused_at = (int)i;
            fail(unit);
        }
    }
}

static void login_refused(struct login *login, uint32_t i,
                          enum inner_fault fault,
                          const struct link_error *error)
{
    refuse_all(login, i, fault, error, true);
}

static void unit_failed(struct unit *unit, uint32_t i, enum inner_fault fault,
                        const struct link_error *error)
{
    struct login *login = unit->order->login;
    bool validating = unit->validating;

    unit->validating = false;
    if (inner_refuses(fault)) {
        unit->ordered = (int)i;
        refuse_all(login, i, fault, error, false);
    } else if (fault != INNER_FAULT_LINK || !validating) {
        /* an old link that is dead says nothing of a new one, but one that
           could not be opened is not tried again and again */
        note_tried(unit, i, fault, error);
    }
    unit->ordered = -1;
    cond_signal(&unit->wake);
}

__attribute__((constructor)) static void set_pool_events(void)
{
    static const struct pool_events events = {
        .serve = place_serve_locked,
        .ready = unit_ready,
        .failed = unit_failed,
        .refused = login_refused,
    };
    pool_set_events(&events);
}

/* ---- waiting --------------------------------------------------------- */

/* What a helper did for the unit took too long.  That is the instance's fault
   if the helper was at it all the time, and we look in time. */
static void blame(struct unit *unit, uint64_t began, uint64_t now,
                  const struct link_error *error)
{
    enum { LATE_MS = 250 };
    struct fleet *fleet = unit->order->login->fleet;
    uint64_t limit = place_order_limit(unit);
    uint64_t late = LATE_MS * NS_PER_MS;

    if (began && began <= unit->ordered_at + late && now <= limit + late) {
        fleet_silent(fleet, (uint32_t)unit->ordered, began, error);
    } else {
        fleet_suspect(fleet, (uint32_t)unit->ordered);
    }
}

/* What a helper does for the unit may take too long.  True: look for
   something else, if there is anything. */
static bool look_at_order(struct unit *unit, uint64_t now)
{
    struct fleet *fleet = unit->order->login->fleet;
    uint32_t i = (uint32_t)unit->ordered;

    if (now >= place_order_limit(unit)) {
        struct link_error error;
        place_late_error(unit, &error);
        blame(unit, pool_began_locked(pool_at(unit, unit->ordered), unit),
              now, &error);
        leave_order(unit);
        note_tried(unit, i, INNER_FAULT_INSTANCE, &error);
        unit->late_at = (int)i;
        return true;
    }
    if (now < unit->patient_until) {
        return false;
    }
    fleet_set_slow(fleet, i, true);
    unit->patient_until = UINT64_MAX;
    return unit->order->mode != ROUTE_STRICT;
}

static void wait_for_event(struct unit *unit)
{
    struct login *login = unit->order->login;
    uint64_t now = clock_ns();
    bool timely;

    unit->sleeps_until = place_next_look(unit, now);
    timely = cond_wait(&unit->wake, &login->lock, unit->sleeps_until);
    unit->sleeps_until = 0;
    now = clock_ns();
    if (unit->done || timely) {
        decide_alone(unit, false);
        return;
    }
    decide_alone(unit, unit->ordered >= 0 && look_at_order(unit, now));
    if (!unit->done && place_is_over(unit, now)) {
        leave_order(unit);
        unit->expired = true;
        fail(unit);
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
        link = shelf_take_locked(shelf, pool_at(&unit, v.instance));
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
    while (!unit.done) {
        wait_for_event(&unit);
    }
    leave_order(&unit);
    place_count_wait(&unit, waited);
    place_leave_locked(&unit);
    if (order->key && order->link) {
        place_ask(login, NULL, clock_ns());
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
    request = request_of(&unit, now);
    fleet = login_route_locked(login);
    order->verdict = route_choose(&request, &fleet);
    for (uint32_t i = 0; i < fleet.count; i++) {
        refusals[i] = route_refuse(&request, &fleet, i);
    }
    mutex_unlock(&login->lock);
    return order->verdict;
}
