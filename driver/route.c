/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The policy of design §6.2 with rules §2, as one column of steps per mode.
 *
 *   hint    idle on the owner → (its link in reset, for 0.1 s) → idle on a
 *           balanced choice among the others → any idle → open on the owner →
 *           (down or full) open on a balanced choice → wait for any
 *   prefer  idle on the owner → open on the owner → then as hint
 *   strict  idle on the owner → open on the owner → wait for the owner
 *   no key, or its owner unknown: as hint without an owner; strict with an
 *           owner not learnt opens a new link anywhere, and one that moves or
 *           is not resolved waits
 *
 * An instance that was down is passed over until its time to retry, unless
 * nobody else is left: then it is tried again, one attempt at a time.  An
 * instance that does not answer (slow) is passed over by whoever can go
 * elsewhere.
 *
 * Deliberately missing: client affinity, reading from standbys (later), and
 * anything that would need to know what happens after the verdict.
 */
#include "autoconf.h"

#include "route.h"

#include <stddef.h>

#define NS_PER_MS UINT64_C(1000000)

static bool load_flag(const _Atomic bool *flag)
{
    return atomic_load_explicit(flag, memory_order_relaxed);
}

static uint8_t load8(const _Atomic uint8_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

static bool owns(const struct route_request *request,
                 const struct route_fleet *fleet, uint32_t i)
{
    uint32_t group = atomic_load_explicit(&fleet->members[i].group,
                                          memory_order_relaxed);

    if (request->key == ROUTE_IS_OWNED) {
        for (uint32_t k = 0; k < request->owner_count; k++) {
            if (request->owners[k] == group) {
                return true;
            }
        }
    }
    return false;
}

/* What no waiting changes: role, map file, draining. */
static enum route_refusal incapable(const struct route_request *request,
                                    const struct route_fleet *fleet,
                                    uint32_t i)
{
    const struct route_member *m = &fleet->members[i];

    if (m->disabled) {
        return ROUTE_REFUSED_DISABLED;
    }
    if (load8(&m->health) == ROUTE_DRAINING) {
        return ROUTE_REFUSED_DRAINING;
    }
    if (load8(&m->role) == ROUTE_STANDBY) {
        return request->write ? ROUTE_REFUSED_STANDBY : ROUTE_REFUSED_NO_READS;
    }
    if (m->read_only && request->write) {
        return ROUTE_REFUSED_READ_ONLY;
    }
    return ROUTE_REFUSED_NONE;
}

static bool down(const struct route_request *request,
                 const struct route_member *m)
{
    return load8(&m->health) == ROUTE_DOWN &&
           atomic_load_explicit(&m->retry_at, memory_order_relaxed) >
               request->now;
}

static bool tried(const struct route_request *request, uint32_t i)
{
    return request->tried && request->tried[i] == ROUTE_TRIED_FAILED;
}

static bool tried_full(const struct route_request *request, uint32_t i)
{
    return request->tried && request->tried[i] == ROUTE_TRIED_FULL;
}

/* Can serve it and is not known to be out of order. */
static bool able(const struct route_request *request,
                 const struct route_fleet *fleet, uint32_t i)
{
    const struct route_member *m = &fleet->members[i];

    if (incapable(request, fleet, i) || tried(request, i) ||
        down(request, m)) {
        return false;
    }
    return !load_flag(&m->slow) || request->mode == ROUTE_STRICT;
}

static bool idle(const struct route_request *request,
                 const struct route_fleet *fleet, uint32_t i)
{
    return fleet->stock[i].idle > 0 && able(request, fleet, i);
}

static bool soon(const struct route_request *request,
                 const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return request->queueing && s->reset > 0 &&
           request->now - s->reset_since < ROUTE_SOON_MS * NS_PER_MS &&
           request->now - request->begin < ROUTE_SOON_MS * NS_PER_MS &&
           able(request, fleet, i);
}

/* May a link be opened there?  One attempt at a time where it was down. */
static bool openable(const struct route_request *request,
                     const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    if (load8(&fleet->members[i].health) == ROUTE_DOWN && s->opening > 0) {
        return false;
    }
    return s->room > 0 && !fleet->total_full && !tried_full(request, i) &&
           able(request, fleet, i);
}

/* At PoolMaxTotal: an idle link elsewhere, which this unit may not use or it
   would have it by now, is closed for one here (rules §3.2). */
static bool swappable(const struct route_request *request,
                      const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return fleet->total_full && s->room > 0 && s->opening == 0 &&
           fleet->total_idle > s->idle && !tried_full(request, i) &&
           able(request, fleet, i);
}

/* Will a link come free there, if one waits? */
static bool busy(const struct route_request *request,
                 const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return s->held + s->reset + s->idle + s->opening > 0 &&
           able(request, fleet, i);
}

/* Could a link be opened there as soon as any link of the fleet is idle? */
static bool capped(const struct route_request *request,
                   const struct route_fleet *fleet, uint32_t i)
{
    return fleet->total_full && fleet->stock[i].room > 0 &&
           !tried_full(request, i) && able(request, fleet, i);
}

static bool untried(const struct route_request *request,
                    const struct route_fleet *fleet, uint32_t i)
{
    return !incapable(request, fleet, i) && !tried(request, i);
}

/* The last resorts: down, or slow, and not tried for this unit yet. */
static bool triable(const struct route_request *request,
                    const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return s->room > 0 && s->opening == 0 &&
           (!fleet->total_full || fleet->total_idle > s->idle) &&
           !tried_full(request, i) && untried(request, fleet, i);
}

static bool left_idle(const struct route_request *request,
                      const struct route_fleet *fleet, uint32_t i)
{
    return fleet->stock[i].idle > 0 && untried(request, fleet, i);
}

static bool attempted(const struct route_request *request,
                      const struct route_fleet *fleet, uint32_t i)
{
    return fleet->stock[i].opening > 0 && untried(request, fleet, i);
}

static bool other_able(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i)
{
    return !owns(request, fleet, i) && able(request, fleet, i);
}

static bool other_idle(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i)
{
    return !owns(request, fleet, i) && idle(request, fleet, i);
}

static bool other_openable(const struct route_request *request,
                           const struct route_fleet *fleet, uint32_t i)
{
    return !owns(request, fleet, i) && openable(request, fleet, i);
}

static bool own_idle(const struct route_request *request,
                     const struct route_fleet *fleet, uint32_t i)
{
    return owns(request, fleet, i) && idle(request, fleet, i);
}

static bool own_soon(const struct route_request *request,
                     const struct route_fleet *fleet, uint32_t i)
{
    return owns(request, fleet, i) && soon(request, fleet, i);
}

static bool own_openable(const struct route_request *request,
                         const struct route_fleet *fleet, uint32_t i)
{
    return owns(request, fleet, i) && openable(request, fleet, i);
}

static bool own_swappable(const struct route_request *request,
                          const struct route_fleet *fleet, uint32_t i)
{
    return owns(request, fleet, i) && swappable(request, fleet, i);
}

static int balance(const struct route_request *request,
                   const struct route_fleet *fleet, route_may *may)
{
    return request->balance == ROUTE_RANDOM
               ? balance_random(request, fleet, may)
               : balance_proportional(request, fleet, may);
}

/* A group's first-listed member is its name, so the look begins there: for
   most fleets it is the primary, and no other is touched. */
static int first_owner(const struct route_request *request,
                       const struct route_fleet *fleet, route_may *may)
{
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
        .action = action, .reason = reason, .instance = instance, .also = -1,
    };
}

static struct verdict soon_verdict(const struct route_request *request,
                                   const struct route_fleet *fleet, int i)
{
    struct verdict v = verdict_of(ROUTE_WAIT, i, ROUTE_OWNER_SOON);

    v.until = fleet->stock[i].reset_since < request->begin
                  ? fleet->stock[i].reset_since
                  : request->begin;
    v.until += ROUTE_SOON_MS * NS_PER_MS;
    return v;
}

/* ---- the steps: true = *v is the verdict -------------------------------- */

static bool step_owner_idle(const struct route_request *request,
                            const struct route_fleet *fleet,
                            struct verdict *v)
{
    int i = first_owner(request, fleet, own_idle);

    if (i >= 0) {
        *v = verdict_of(ROUTE_TAKE, i, ROUTE_OWNER_IDLE);
        return true;
    }
    i = first_owner(request, fleet, own_soon);
    if (i >= 0) {
        *v = soon_verdict(request, fleet, i);
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
        able(request, fleet, (uint32_t)request->ordered)) {
        *v = verdict_of(ROUTE_WAIT, request->ordered, ROUTE_ORDERED);
        return true;
    }
    return false;
}

static bool step_owner_open(const struct route_request *request,
                            const struct route_fleet *fleet,
                            struct verdict *v)
{
    int i = first_owner(request, fleet, own_openable);

    if (i >= 0) {
        *v = verdict_of(ROUTE_OPEN, i, ROUTE_OWNER_OPEN);
    }
    return i >= 0;
}

/* Idle links off the owner; the owner gets one link opened behind it, so that
   a sequential program does not stay elsewhere for ever (rules §2.1). */
static bool step_others_idle(const struct route_request *request,
                             const struct route_fleet *fleet,
                             struct verdict *v)
{
    bool owned = request->key == ROUTE_IS_OWNED;
    bool keyed = request->key != ROUTE_IS_UNKEYED;
    int choice = balance(request, fleet, other_able);
    int i = choice;
    enum route_reason reason = owned   ? ROUTE_OTHER_BALANCED
                               : keyed ? ROUTE_UNKNOWN_IDLE
                                       : ROUTE_BALANCED_IDLE;

    if (i < 0 || fleet->stock[i].idle == 0) {
        i = balance(request, fleet, other_idle);
        reason = owned   ? ROUTE_OTHER_IDLE
                 : keyed ? ROUTE_UNKNOWN_ANY
                         : ROUTE_BALANCED_ANY;
    }
    if (i < 0) {
        return false;
    }
    *v = verdict_of(ROUTE_TAKE, i, reason);
    v->also = owned ? first_owner(request, fleet, own_openable)
                    : (i != choice && openable(request, fleet,
                                               (uint32_t)choice)
                           ? choice
                           : -1);
    return true;
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

static bool step_others_open(const struct route_request *request,
                             const struct route_fleet *fleet,
                             struct verdict *v)
{
    int i = balance(request, fleet, other_openable);

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

    if (request->mode != ROUTE_STRICT || request->key != ROUTE_IS_OWNED) {
        return balance(request, fleet, may);
    }
    for (uint32_t i = 0; i < fleet->count && best < 0; i++) {
        if (owns(request, fleet, i) && may(request, fleet, i)) {
            best = (int)i;
        }
    }
    return best;
}

static bool step_swap(const struct route_request *request,
                      const struct route_fleet *fleet, struct verdict *v)
{
    int i = first_owner(request, fleet, own_swappable);

    if (i >= 0) {
        *v = verdict_of(ROUTE_OPEN, i, ROUTE_OWNER_OPEN);
        return true;
    }
    i = among(request, fleet, swappable);
    if (i >= 0) {
        *v = verdict_of(ROUTE_OPEN, i, open_reason(request));
    }
    return i >= 0;
}

/* When an instance that is passed over may be opened again, which is no event
   that would wake a waiting unit; 0: none. */
static uint64_t next_retry(const struct route_request *request,
                           const struct route_fleet *fleet)
{
    bool owner = request->mode == ROUTE_STRICT &&
                 request->key == ROUTE_IS_OWNED;
    uint64_t next = 0;

    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct route_member *m = &fleet->members[i];
        uint64_t at = atomic_load_explicit(&m->retry_at,
                                           memory_order_relaxed);
        if (down(request, m) &&
            (triable(request, fleet, i) || left_idle(request, fleet, i)) &&
            (!owner || owns(request, fleet, i)) && (!next || at < next)) {
            next = at;
        }
    }
    return next;
}

/* Nothing is idle and nothing may be opened just so: wait for what is in use,
   else try what was given up, else there is nothing.  An idle link of an
   instance that was given up is nothing for a strict unit whose owner is not
   learnt: it takes none (rules §2.2a). */
static struct verdict last_steps(const struct route_request *request,
                                 const struct route_fleet *fleet)
{
    bool owner = request->mode == ROUTE_STRICT &&
                 request->key == ROUTE_IS_OWNED;
    bool takes = request->mode != ROUTE_STRICT ||
                 request->key != ROUTE_IS_UNKNOWN;
    struct verdict v;
    int i;

    if (step_swap(request, fleet, &v)) {
        return v;
    }
    i = among(request, fleet, busy);
    if (i >= 0) {
        v = verdict_of(ROUTE_WAIT, owner ? i : -1,
                       owner ? ROUTE_OWNER_FULL : ROUTE_ALL_BUSY);
        v.until = next_retry(request, fleet);
        return v;
    }
    if (request->ordered >= 0) {
        return verdict_of(ROUTE_WAIT, request->ordered, ROUTE_ORDERED);
    }
    if (among(request, fleet, capped) >= 0) {
        return verdict_of(ROUTE_WAIT, -1, ROUTE_ALL_BUSY);
    }
    i = takes ? among(request, fleet, left_idle) : -1;
    if (i >= 0) {
        return verdict_of(ROUTE_TAKE, i,
                          owner ? ROUTE_OWNER_TRIAL : ROUTE_TRIAL);
    }
    i = among(request, fleet, triable);
    if (i >= 0) {
        return verdict_of(ROUTE_OPEN, i,
                          owner ? ROUTE_OWNER_TRIAL : ROUTE_TRIAL);
    }
    i = among(request, fleet, attempted);
    if (i >= 0) {
        return verdict_of(ROUTE_WAIT, i, ROUTE_ORDERED);
    }
    return verdict_of(ROUTE_FAIL, -1,
                      owner ? ROUTE_OWNER_DOWN : ROUTE_NOTHING);
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
        step_others_open(request, fleet, &v)) {
        return v;
    }
    return last_steps(request, fleet);
}

/* Strict, owner not learnt: a new link anywhere, never an idle one
   (rules §2.2a). */
static struct verdict choose_unlearnt(const struct route_request *request,
                                      const struct route_fleet *fleet)
{
    struct verdict v;
    int i;

    if (step_ordered(request, fleet, &v)) {
        return v;
    }
    i = balance(request, fleet, openable);
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
        return strict                            ? choose_strict(request, fleet)
               : prefers_owner(request)        ? choose_prefer(request, fleet)
                                                 : choose_hint(request, fleet);
    case ROUTE_IS_UNKNOWN:
        if (request->learning) {
            return verdict_of(ROUTE_WAIT, -1, ROUTE_LEARNING);
        }
        return strict ? choose_unlearnt(request, fleet)
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

enum route_refusal route_refuse(const struct route_request *request,
                                const struct route_fleet *fleet, uint32_t i)
{
    const struct route_member *m = &fleet->members[i];
    const struct route_stock *s = &fleet->stock[i];
    enum route_refusal refusal = incapable(request, fleet, i);

    if (refusal) {
        return refusal;
    }
    if (request->mode == ROUTE_STRICT &&
        request->key != ROUTE_IS_UNKEYED &&
        request->key != ROUTE_IS_UNKNOWN && !owns(request, fleet, i)) {
        return ROUTE_REFUSED_NOT_OWNER;
    }
    if (tried(request, i)) {
        return ROUTE_REFUSED_TRIED;
    }
    if (load8(&m->health) == ROUTE_DOWN) {
        return ROUTE_REFUSED_DOWN;
    }
    if (load_flag(&m->slow)) {
        return ROUTE_REFUSED_SLOW;
    }
    return s->idle == 0 && s->room == 0 ? ROUTE_REFUSED_FULL
                                        : ROUTE_REFUSED_NONE;
}

const char *route_reason_text(enum route_reason reason)
{
    static const char *const texts[] = {
#define ROUTE_REASON(name, text) text,
#include "route_reason.def"
    };
    return (unsigned)reason < ROUTE_REASONS ? texts[reason] : "unknown";
}

const char *route_refusal_text(enum route_refusal refusal)
{
    static const char *const texts[] = {
#define ROUTE_REFUSAL(name, text) text,
#include "route_refusal.def"
    };
    return (unsigned)refusal < ROUTE_REFUSALS ? texts[refusal] : "unknown";
}
