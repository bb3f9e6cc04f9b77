/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The policy of design §6.2 with rules §2, as one column of steps per mode.
 *
 *   hint    idle on the owner → (its link in reset, for 0.1 s) → idle on a
 *           balanced choice among the others → any idle → open on the owner →
 *           (down or full) on a balanced choice: its link in reset, for 0.1 s →
 *           open there → wait for any
 *   prefer  idle on the owner → open on the owner → then as hint
 *   strict  idle on the owner → open on the owner → wait for the owner
 *   no key, or its owner unknown: as hint without an owner; strict with an
 *           owner not learnt waits (background), or opens a new link anywhere
 *           (borrower); one that moves or is not resolved waits, and one that
 *           cannot be learnt is refused
 *
 * An instance that is down is passed over until its time to retry, unless
 * nobody else is left: then it is tried again, one attempt at a time.  One that
 * is suspect, or does not answer (slow), is passed over by whoever can go
 * elsewhere.
 *
 * Deliberately missing: client affinity, reading from standbys (later), and
 * anything that would need to know what happens after the verdict.
 */
#include "autoconf.h"

#include "route.h"

#include "balance.h"
#include "lock.h" /* NS_PER_MS, clock_earlier() */
#include "route_able.h"

#include <stddef.h>

/* Where a unit goes that has no idle link on its balanced choice: a method that
   spreads takes any idle link, and has one opened behind it; one that gathers
   (sticks) opens there, and goes elsewhere only if it cannot. */
static const struct {
    balance_method *choose;
    bool sticks;
} methods[] = {
    [ROUTE_ADAPTIVE] = { balance_adaptive, false },
    [ROUTE_PROPORTIONAL] = { balance_proportional, false },
    [ROUTE_SATURATION] = { balance_saturation, false },
    [ROUTE_OPERATIONAL] = { balance_operational, true },
    [ROUTE_FAILOVER] = { balance_failover, true },
    [ROUTE_ADAPTIVE_FAILOVER] = { balance_adaptive_failover, true },
    [ROUTE_FASTEST] = { balance_fastest, false },
    [ROUTE_RANDOM] = { balance_random, false },
};

static int balance(const struct route_request *request,
                   const struct route_fleet *fleet, route_may *may)
{
    struct balance_among all = balance_all(request, fleet, may,
                                           route_is_able);

    return methods[request->balance].choose(&all);
}

/* A group's first-listed member is its name, so the look begins there: for
   most fleets it is the primary, and no other is touched. */
static int first_owner(const struct route_request *request,
                       const struct route_fleet *fleet, route_may *may)
{
    if (request->key != ROUTE_IS_OWNED) {
        return -1;
    }
    if (request->owner_count == 1 && request->owners[0] < fleet->count &&
        may(request, fleet, request->owners[0])) {
        return (int)request->owners[0];
    }
    return balance(request, fleet, may);
}

static struct verdict verdict_of(enum route_action action, int instance,
                                 enum route_reason reason)
{
    return (struct verdict){
        .action = action,
        .reason = reason,
        .instance = instance,
        .also = -1,
    };
}

static struct verdict soon_verdict(const struct route_request *request,
                                   const struct route_fleet *fleet, int i,
                                   enum route_reason reason)
{
    struct verdict v = verdict_of(ROUTE_WAIT, i, reason);

    v.until = clock_earlier(fleet->stock[i].reset_since, request->begin) +
              ROUTE_SOON_MS * NS_PER_MS;
    return v;
}

/* ---- the steps: true = *v is the verdict -------------------------------- */

static bool step_owner_idle(const struct route_request *request,
                            const struct route_fleet *fleet, struct verdict *v)
{
    int i = first_owner(request, fleet, route_is_own_idle);

    if (i >= 0) {
        *v = verdict_of(ROUTE_TAKE, i, ROUTE_OWNER_IDLE);
        return true;
    }
    i = first_owner(request, fleet, route_is_own_soon);
    if (i >= 0) {
        *v = soon_verdict(request, fleet, i, ROUTE_OWNER_SOON);
        return true;
    }
    return false;
}

/* A link ordered for this unit is on its way, and its instance has not fallen
   out of favour meanwhile. */
static bool step_ordered(const struct route_request *request,
                         const struct route_fleet *fleet, struct verdict *v)
{
    if (request->ordered >= 0 &&
        route_is_able(request, fleet, (uint32_t)request->ordered)) {
        *v = verdict_of(ROUTE_WAIT, request->ordered, ROUTE_ORDERED);
        return true;
    }
    return false;
}

static bool step_owner_open(const struct route_request *request,
                            const struct route_fleet *fleet, struct verdict *v)
{
    int i = first_owner(request, fleet, route_is_own_openable);

    if (i >= 0) {
        *v = verdict_of(ROUTE_OPEN, i, ROUTE_OWNER_OPEN);
    }
    return i >= 0;
}

/* Is there a link to come on the balanced choice, for a method that sticks? */
static bool sticks_to(const struct route_request *request,
                      const struct route_fleet *fleet, int choice)
{
    return methods[request->balance].sticks && choice >= 0 &&
           (request->ordered == choice ||
            route_is_soon(request, fleet, (uint32_t)choice) ||
            route_is_openable(request, fleet, (uint32_t)choice));
}

/* What is to be opened behind a unit that is served off its owner, or without
   a key off the balanced choice, so that a sequential program does not stay
   elsewhere for ever (rules §2.1).  Off the choice nothing is opened while a
   link is about to be free there, but for what the unit itself has ordered: the
   choice moves from unit to unit, and who comes between two of them would be
   given link after link. */
static int behind(const struct route_request *request,
                  const struct route_fleet *fleet, int choice)
{
    const struct route_stock *s = &fleet->stock[choice < 0 ? 0 : choice];

    if (request->key == ROUTE_IS_OWNED) {
        return first_owner(request, fleet, route_is_own_openable);
    }
    return choice >= 0 && s->reset == 0 &&
                   s->opening <= (request->ordered == choice) &&
                   route_is_openable(request, fleet, (uint32_t)choice)
               ? choice
               : -1;
}

static bool step_others_idle(const struct route_request *request,
                             const struct route_fleet *fleet, struct verdict *v)
{
    bool owned = request->key == ROUTE_IS_OWNED;
    bool keyed = request->key != ROUTE_IS_UNKEYED;
    int choice, i;

    if (fleet->total_idle == 0) {
        return false;
    }
    choice = i = balance(request, fleet, route_is_other_able);
    if (i >= 0 && fleet->stock[i].idle > 0) {
        *v = verdict_of(ROUTE_TAKE, i, owned   ? ROUTE_OTHER_BALANCED
                                       : keyed ? ROUTE_UNKNOWN_IDLE
                                               : ROUTE_BALANCED_IDLE);
        v->also = behind(request, fleet, -1);
        return true;
    }
    i = sticks_to(request, fleet, choice)
            ? -1
            : balance(request, fleet, route_is_other_idle);
    if (i >= 0) {
        *v = verdict_of(ROUTE_TAKE, i, owned   ? ROUTE_OTHER_IDLE
                                       : keyed ? ROUTE_UNKNOWN_ANY
                                               : ROUTE_BALANCED_ANY);
        v->also = behind(request, fleet, choice);
    }
    return i >= 0;
}

/* Why a link is opened that is not known to be on the owner. */
static enum route_reason open_reason(const struct route_request *request)
{
    switch (request->key) {
    case ROUTE_IS_OWNED:
        return ROUTE_OTHER_OPEN;
    case ROUTE_IS_UNKEYED:
        return ROUTE_BALANCED_OPEN;
    default:
        return request->mode == ROUTE_STRICT ? ROUTE_UNLEARNT
                                             : ROUTE_UNKNOWN_OPEN;
    }
}

/* A link of the balanced choice that is in reset is nearly idle as well: who
   uses link after link, one at a time, needs no second one. */
static bool step_others_soon(const struct route_request *request,
                             const struct route_fleet *fleet, struct verdict *v)
{
    int i = balance(request, fleet, route_is_other_able);

    if (i < 0 || !route_is_soon(request, fleet, (uint32_t)i)) {
        return false;
    }
    *v = soon_verdict(request, fleet, i, ROUTE_BALANCED_SOON);
    return true;
}

static bool step_others_open(const struct route_request *request,
                             const struct route_fleet *fleet, struct verdict *v)
{
    int i = balance(request, fleet, route_is_other_openable);

    if (i >= 0) {
        *v = verdict_of(ROUTE_OPEN, i, open_reason(request));
    }
    return i >= 0;
}

/* Among the instances that may serve at all: the owner's in strict. */
static int among(const struct route_request *request,
                 const struct route_fleet *fleet, route_may *may)
{
    int best = -1;

    if (!route_is_bound(request->mode, request->key)) {
        return balance(request, fleet, may);
    }
    for (uint32_t i = 0; i < fleet->count && best < 0; i++) {
        if (route_owns(request, fleet, i) && may(request, fleet, i)) {
            best = (int)i;
        }
    }
    return best;
}

static bool step_swap(const struct route_request *request,
                      const struct route_fleet *fleet, struct verdict *v)
{
    int i = first_owner(request, fleet, route_is_own_swappable);

    if (i >= 0) {
        *v = verdict_of(ROUTE_OPEN, i, ROUTE_OWNER_OPEN);
        return true;
    }
    i = among(request, fleet, route_is_swappable);
    if (i >= 0) {
        *v = verdict_of(ROUTE_OPEN, i, open_reason(request));
    }
    return i >= 0;
}

/* When may instance i be opened again, which is passed over or takes no more?
   UINT64_MAX: neither. */
static uint64_t retry_of(const struct route_request *request,
                         const struct route_fleet *fleet, uint32_t i)
{
    const struct route_member *m = &fleet->members[i];
    uint64_t full_until = fleet->stock[i].full_until;
    uint64_t at = route_is_passed(request, m) || route_is_unready(request, m)
                      ? atomic_load_explicit(&m->retry_at,
                                             memory_order_relaxed)
                      : 0;

    if (at > request->now && (route_is_left_idle(request, fleet, i) ||
                              route_is_left_busy(request, fleet, i))) {
        return at;
    }
    at = full_until > at ? full_until : at;
    return at > request->now && route_is_hopeful(request, fleet, i)
               ? at
               : UINT64_MAX;
}

/* The earliest, which is no event that would wake a waiting unit; 0: none. */
static uint64_t next_retry(const struct route_request *request,
                           const struct route_fleet *fleet)
{
    bool owner = route_is_bound(request->mode, request->key);
    uint64_t next = UINT64_MAX;

    for (uint32_t i = 0; i < fleet->count; i++) {
        if (!owner || route_owns(request, fleet, i)) {
            next = clock_earlier(next, retry_of(request, fleet, i));
        }
    }
    return next == UINT64_MAX ? 0 : next;
}

/* Why nobody can serve it: is it only that they are drained? */
static enum route_reason nobody_reason(const struct route_request *request,
                                       const struct route_fleet *fleet,
                                       bool owner)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        if ((!owner || route_owns(request, fleet, i)) &&
            route_incapable(&fleet->members[i], request->write) ==
                ROUTE_REFUSED_DRAINING) {
            return owner ? ROUTE_OWNER_DRAINING : ROUTE_ALL_DRAINING;
        }
    }
    return owner ? ROUTE_OWNER_DOWN : ROUTE_NOTHING;
}

/* Nothing is idle and nothing may be opened just so: wait for what is in use,
   else try what was given up, else there is nothing.  An idle link of an
   instance that was given up is nothing for a strict unit whose owner is not
   learnt: it takes none (rules §2.2a). */
static struct verdict last_steps(const struct route_request *request,
                                 const struct route_fleet *fleet)
{
    bool owner = route_is_bound(request->mode, request->key);
    bool takes =
        request->mode != ROUTE_STRICT || request->key != ROUTE_IS_UNKNOWN;
    struct verdict v;
    int i;

    if (step_swap(request, fleet, &v)) {
        return v;
    }
    i = among(request, fleet, route_is_busy);
    if (i >= 0) {
        v = verdict_of(ROUTE_WAIT, owner ? i : -1,
                       owner ? ROUTE_OWNER_FULL : ROUTE_ALL_BUSY);
        v.until = next_retry(request, fleet);
        return v;
    }
    if (request->ordered >= 0) {
        return verdict_of(ROUTE_WAIT, request->ordered, ROUTE_ORDERED);
    }
    if (among(request, fleet, route_is_capped) >= 0) {
        v = verdict_of(ROUTE_WAIT, -1, ROUTE_ALL_BUSY);
        v.until = next_retry(request, fleet);
        return v;
    }
    i = takes ? among(request, fleet, route_is_left_idle) : -1;
    if (i >= 0) {
        return verdict_of(ROUTE_TAKE, i,
                          owner ? ROUTE_OWNER_TRIAL : ROUTE_TRIAL);
    }
    i = among(request, fleet, route_is_triable);
    if (i >= 0) {
        return verdict_of(ROUTE_OPEN, i,
                          owner ? ROUTE_OWNER_TRIAL : ROUTE_TRIAL);
    }
    i = among(request, fleet, route_is_attempted);
    if (i >= 0) {
        return verdict_of(ROUTE_WAIT, i, ROUTE_ORDERED);
    }
    if (among(request, fleet, route_is_left_busy) >= 0) {
        v = verdict_of(ROUTE_WAIT, -1, ROUTE_ALL_BUSY);
        v.until = next_retry(request, fleet);
        return v;
    }
    i = among(request, fleet, route_is_starting);
    if (i >= 0) {
        v = verdict_of(ROUTE_WAIT, owner ? i : -1, ROUTE_STARTING);
        v.until = next_retry(request, fleet);
        return v;
    }
    if (owner && route_is_leaderless(request, fleet)) {
        return verdict_of(ROUTE_WAIT, -1, ROUTE_OWNER_LEADERLESS);
    }
    return verdict_of(ROUTE_FAIL, -1, nobody_reason(request, fleet, owner));
}

/* ---- the modes ----------------------------------------------------------- */

static struct verdict choose_strict(const struct route_request *request,
                                    const struct route_fleet *fleet)
{
    struct verdict v;

    if (step_owner_idle(request, fleet, &v) ||
        step_ordered(request, fleet, &v) ||
        step_owner_open(request, fleet, &v)) {
        return v;
    }
    return last_steps(request, fleet);
}

/* In hint, too, who came to an empty pool gets the first link opened on the
   owner, whatever links learning has left idle elsewhere meanwhile: or a
   program of one session per process would never see its owner. */
static bool prefers_owner(const struct route_request *request)
{
    return request->mode == ROUTE_PREFER || request->fresh;
}

static struct verdict choose_prefer(const struct route_request *request,
                                    const struct route_fleet *fleet)
{
    struct verdict v;

    if (step_owner_idle(request, fleet, &v) ||
        step_ordered(request, fleet, &v) ||
        step_owner_open(request, fleet, &v) ||
        step_others_idle(request, fleet, &v) ||
        step_others_soon(request, fleet, &v) ||
        step_others_open(request, fleet, &v)) {
        return v;
    }
    return last_steps(request, fleet);
}

static struct verdict choose_hint(const struct route_request *request,
                                  const struct route_fleet *fleet)
{
    struct verdict v;

    if (step_owner_idle(request, fleet, &v) ||
        step_others_idle(request, fleet, &v) ||
        step_ordered(request, fleet, &v) ||
        step_owner_open(request, fleet, &v) ||
        step_others_soon(request, fleet, &v) ||
        step_others_open(request, fleet, &v)) {
        return v;
    }
    return last_steps(request, fleet);
}

/* Strict, owner not learnt: it waits; or, with PoolCreate=borrower, a new link
   anywhere, never an idle one (rules §2.2a). */
static struct verdict choose_unlearnt(const struct route_request *request,
                                      const struct route_fleet *fleet)
{
    struct verdict v;
    int i;

    if (request->background) {
        return verdict_of(ROUTE_WAIT, -1, ROUTE_NOT_LEARNT);
    }
    if (step_ordered(request, fleet, &v)) {
        return v;
    }
    i = balance(request, fleet, route_is_openable);
    if (i >= 0) {
        return verdict_of(ROUTE_OPEN, i, open_reason(request));
    }
    return last_steps(request, fleet);
}

struct verdict route_choose(const struct route_request *request,
                            const struct route_fleet *fleet)
{
    bool strict = request->mode == ROUTE_STRICT;

    switch (request->key) {
    case ROUTE_IS_OWNED:
        return strict                   ? choose_strict(request, fleet)
               : prefers_owner(request) ? choose_prefer(request, fleet)
                                        : choose_hint(request, fleet);
    case ROUTE_IS_UNKNOWN:
        if (request->learning) {
            return verdict_of(ROUTE_WAIT, -1, ROUTE_LEARNING);
        }
        return strict ? choose_unlearnt(request, fleet)
                      : choose_hint(request, fleet);
    case ROUTE_IS_UNLEARNABLE:
        return strict ? verdict_of(ROUTE_FAIL, -1, ROUTE_UNLEARNABLE)
                      : choose_hint(request, fleet);
    case ROUTE_IS_MOVING:
        return strict ? verdict_of(ROUTE_WAIT, -1, ROUTE_MOVING)
                      : choose_hint(request, fleet);
    case ROUTE_IS_UNRESOLVED:
        return strict ? verdict_of(ROUTE_WAIT, -1, ROUTE_UNRESOLVED)
                      : choose_hint(request, fleet);
    case ROUTE_IS_UNOWNED:
        return strict ? verdict_of(ROUTE_FAIL, -1, ROUTE_NO_OWNER)
                      : choose_hint(request, fleet);
    case ROUTE_IS_UNKEYED:
        break;
    }
    return choose_hint(request, fleet);
}

const char *route_reason_text(enum route_reason reason)
{
    static const char *const texts[] = {
#define ROUTE_REASON(name, text) text,
#include "route_reason.def"
    };
    return (unsigned)reason < ROUTE_REASONS ? texts[reason] : "unknown";
}
