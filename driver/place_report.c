/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What helper threads report, and what follows for those who wait: a link is
 * there, or could not be had, or the login is refused.
 */
#include "autoconf.h"

#include "place_unit.h"

#include <utlist.h>

/* Would the decision, as things stand now, still allow this instance? */
static bool acceptable(struct unit *unit, uint32_t i)
{
    struct route_fleet fleet = login_route_locked(unit->order->login);
    struct route_request request;

    place_look_up_owner(unit, clock_ns());
    request = place_request(unit, clock_ns());
    switch (route_refuse(&request, &fleet, i)) {
    case ROUTE_REFUSED_NONE:
    case ROUTE_REFUSED_FULL: /* a link that is ready refutes these */
    case ROUTE_REFUSED_CROWDED:
    case ROUTE_REFUSED_STARTING:
    case ROUTE_REFUSED_DOWN:
    case ROUTE_REFUSED_SUSPECT:
    case ROUTE_REFUSED_SLOW:
        return true;
    default:
        return false;
    }
}

/* PoolCreate=background: a link that was opened is nobody's, so those who came
   before the unit are asked first.  True: it is theirs, or gone. */
static bool others_take(const struct unit *unit, struct link *link)
{
    struct login *login = unit->order->login;
    struct unit *before, *next;

    if (!place_is_background(login) || link->state != LINK_OPENING ||
        login->retired ||
        !fleet_keeps(login->fleet, link->pool->instance, link->opened)) {
        return false;
    }
    pool_set_state_locked(link, LINK_IDLE);
    DL_FOREACH_SAFE(login->units, before, next) {
        if (before == unit || link->state != LINK_IDLE) {
            break;
        }
        place_decide(before, false);
    }
    return link->state != LINK_IDLE;
}

static bool unit_ready(struct unit *unit, struct link *link)
{
    bool ok;

    unit->ordered = -1;
    unit->validating = false;
    if (unit->done) {
        return false;
    }
    /* first: it may have owners asked, over any link that is idle, or closed to
       make room */
    ok = acceptable(unit, link->pool->instance);
    if (others_take(unit, link)) {
        return true; /* who serves then orders another for the unit */
    }
    if (!ok) {
        return false;
    }
    if (unit->order->owner.state == ROUTE_IS_OWNED &&
        unit->order->verdict.reason == ROUTE_UNLEARNT) {
        unit->order->verdict.reason = ROUTE_OWNER_OPEN; /* learnt meanwhile */
    }
    if (link->state != LINK_HELD) {
        pool_set_state_locked(link, LINK_HELD);
    }
    place_finish(unit, link);
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
            place_note_tried(unit, i, fault, error);
            unit->refused_at = (int)i;
            place_fail(unit);
        }
    }
}

/* What was found down, not ready, or to take no more links, is so for all who
   wait for their turn there: else each would try, one after the other. */
static void tell_waiting(struct unit *but, uint32_t i, enum inner_fault fault,
                         const struct link_error *error)
{
    struct login *login = but->order->login;
    struct unit *unit;

    DL_FOREACH(login->units, unit) {
        if (unit != but && !unit->done && !unit->asking &&
            !unit->validating && place_waits_for(unit, i) &&
            pool_began_locked(place_pool(unit, (int)i), unit) == 0) {
            place_note_tried(unit, i, fault, error);
            place_leave_order(unit);
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
        place_note_tried(unit, i, fault, error);
    }
    unit->ordered = -1;
    if (!validating &&
        (inner_passes(fault) ||
         atomic_load(&login->fleet->members[i].health) == ROUTE_DOWN)) {
        tell_waiting(unit, i, fault, error);
    }
    cond_signal(&unit->wake);
}

const struct pool_events place_events = {
    .serve = place_serve_locked,
    .ready = unit_ready,
    .failed = unit_failed,
    .refused = login_refused,
};
