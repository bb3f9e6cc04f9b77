/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * May this instance serve, now or later, and why not?  By role and map file,
 * by health, by what the unit has tried, by the links that are there.  The
 * refusals that users read come from the same questions (route_refuse()).
 *
 * An instance that is down is passed over until its time to retry; one that is
 * suspect, until then, or does not answer (slow) by whoever can go elsewhere.
 */
#include "autoconf.h"

#include "lock.h" /* NS_PER_MS */
#include "route_able.h"

static bool load_flag(const _Atomic bool *flag)
{
    return atomic_load_explicit(flag, memory_order_relaxed);
}

static uint8_t load8(const _Atomic uint8_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

bool route_owns(const struct route_request *request,
                const struct route_fleet *fleet, uint32_t i)
{
    uint32_t group =
        atomic_load_explicit(&fleet->members[i].group, memory_order_relaxed);

    if (request->key == ROUTE_IS_OWNED) {
        for (uint32_t k = 0; k < request->owner_count; k++) {
            if (request->owners[k] == group) {
                return true;
            }
        }
    }
    return false;
}

enum route_refusal route_incapable(const struct route_member *m, bool write)
{
    if (load_flag(&m->disabled)) {
        return ROUTE_REFUSED_DISABLED;
    }
    if (load8(&m->role) == ROUTE_STANDBY) {
        return write ? ROUTE_REFUSED_STANDBY : ROUTE_REFUSED_NO_READS;
    }
    if (load_flag(&m->read_only) && write) {
        return ROUTE_REFUSED_READ_ONLY;
    }
    return load_flag(&m->drained) ? ROUTE_REFUSED_DRAINING
                                  : ROUTE_REFUSED_NONE;
}

bool route_is_passed(const struct route_request *request,
                     const struct route_member *m)
{
    uint8_t health = load8(&m->health);

    return (health == ROUTE_DOWN ||
            (health == ROUTE_SUSPECT &&
             !route_is_bound(request->mode, request->key))) &&
           atomic_load_explicit(&m->retry_at, memory_order_relaxed) >
               request->now;
}

bool route_is_unready(const struct route_request *request,
                      const struct route_member *m)
{
    return load_flag(&m->starting) &&
           atomic_load_explicit(&m->retry_at, memory_order_relaxed) >
               request->now;
}

static bool tried(const struct route_request *request, uint32_t i)
{
    return request->tried && request->tried[i];
}

/* Not down, but takes no further link; asked again in time, by one. */
static bool takes_no_more(const struct route_request *request,
                          const struct route_stock *s)
{
    return s->full_until && (s->full_until > request->now || s->opening > 0);
}

bool route_is_able(const struct route_request *request,
                   const struct route_fleet *fleet, uint32_t i)
{
    const struct route_member *m = &fleet->members[i];

    if (route_incapable(m, request->write) || tried(request, i) ||
        route_is_passed(request, m)) {
        return false;
    }
    return !load_flag(&m->slow) ||
           route_is_bound(request->mode, request->key);
}

static bool idle(const struct route_request *request,
                 const struct route_fleet *fleet, uint32_t i)
{
    return fleet->stock[i].idle > 0 && route_is_able(request, fleet, i);
}

bool route_is_soon(const struct route_request *request,
                   const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return request->queueing && s->reset > 0 &&
           request->now - s->reset_since < ROUTE_SOON_MS * NS_PER_MS &&
           request->now - request->begin < ROUTE_SOON_MS * NS_PER_MS &&
           route_is_able(request, fleet, i);
}

/* Links that are being opened there: where it is down, by whatever login, since
   it is tried by one at a time. */
static uint32_t attempts(const struct route_fleet *fleet, uint32_t i)
{
    const struct route_member *m = &fleet->members[i];

    return load8(&m->health) == ROUTE_DOWN
               ? atomic_load_explicit(&m->opening, memory_order_relaxed)
               : fleet->stock[i].opening;
}

bool route_is_openable(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];
    const struct route_member *m = &fleet->members[i];

    if (route_is_unready(request, m) ||
        (load8(&m->health) == ROUTE_DOWN && attempts(fleet, i) > 0)) {
        return false;
    }
    return s->room > 0 && !fleet->total_full && !takes_no_more(request, s) &&
           route_is_able(request, fleet, i);
}

bool route_is_swappable(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return fleet->total_full && s->room > 0 && s->opening == 0 &&
           attempts(fleet, i) == 0 &&
           !route_is_unready(request, &fleet->members[i]) &&
           fleet->total_idle > s->idle && !takes_no_more(request, s) &&
           route_is_able(request, fleet, i);
}

bool route_is_busy(const struct route_request *request,
                   const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return (route_stock_links(s) > 0 || s->full_until) &&
           route_is_able(request, fleet, i);
}

bool route_is_capped(const struct route_request *request,
                     const struct route_fleet *fleet, uint32_t i)
{
    return fleet->total_full && fleet->stock[i].room > 0 &&
           route_is_able(request, fleet, i);
}

static bool untried(const struct route_request *request,
                    const struct route_fleet *fleet, uint32_t i)
{
    return !route_incapable(&fleet->members[i], request->write) &&
           !tried(request, i);
}

bool route_is_hopeful(const struct route_request *request,
                      const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return s->room > 0 && attempts(fleet, i) == 0 &&
           (!fleet->total_full || fleet->total_idle > s->idle) &&
           untried(request, fleet, i);
}

bool route_is_triable(const struct route_request *request,
                      const struct route_fleet *fleet, uint32_t i)
{
    return route_is_hopeful(request, fleet, i) &&
           !route_is_unready(request, &fleet->members[i]) &&
           !takes_no_more(request, &fleet->stock[i]);
}

bool route_is_starting(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i)
{
    return route_is_unready(request, &fleet->members[i]) &&
           untried(request, fleet, i);
}

bool route_is_left_idle(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i)
{
    return fleet->stock[i].idle > 0 && untried(request, fleet, i);
}

bool route_is_left_busy(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i)
{
    const struct route_stock *s = &fleet->stock[i];

    return load8(&fleet->members[i].health) != ROUTE_DOWN &&
           s->held + s->learning + s->reset > 0 && untried(request, fleet, i);
}

bool route_is_attempted(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i)
{
    return attempts(fleet, i) > 0 && untried(request, fleet, i);
}

bool route_is_other_able(const struct route_request *request,
                         const struct route_fleet *fleet, uint32_t i)
{
    return !route_owns(request, fleet, i) && route_is_able(request, fleet, i);
}

bool route_is_other_idle(const struct route_request *request,
                         const struct route_fleet *fleet, uint32_t i)
{
    return !route_owns(request, fleet, i) && idle(request, fleet, i);
}

bool route_is_other_openable(const struct route_request *request,
                             const struct route_fleet *fleet, uint32_t i)
{
    return !route_owns(request, fleet, i) &&
           route_is_openable(request, fleet, i);
}

bool route_is_own_idle(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i)
{
    return route_owns(request, fleet, i) && idle(request, fleet, i);
}

bool route_is_own_soon(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i)
{
    return route_owns(request, fleet, i) && route_is_soon(request, fleet, i);
}

bool route_is_own_openable(const struct route_request *request,
                           const struct route_fleet *fleet, uint32_t i)
{
    return route_owns(request, fleet, i) &&
           route_is_openable(request, fleet, i);
}

bool route_is_own_swappable(const struct route_request *request,
                            const struct route_fleet *fleet, uint32_t i)
{
    return route_owns(request, fleet, i) &&
           route_is_swappable(request, fleet, i);
}

bool route_is_leaderless(const struct route_request *request,
                         const struct route_fleet *fleet)
{
    bool hope = false;

    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct route_member *m = &fleet->members[i];
        uint8_t health = load8(&m->health);

        if (route_owns(request, fleet, i)) {
            if (route_incapable(m, request->write) != ROUTE_REFUSED_STANDBY) {
                return false;
            }
        } else if (load8(&m->role) == ROUTE_ROLE_UNKNOWN &&
                   !load_flag(&m->disabled)) {
            hope = hope || health == ROUTE_UNTRIED || health == ROUTE_SUSPECT;
        }
    }
    return hope;
}

/* Might strict use it, by who owns the key? */
static bool strict_allows(const struct route_request *request,
                          const struct route_fleet *fleet, uint32_t i)
{
    return request->key == ROUTE_IS_UNKEYED ||
           (request->key == ROUTE_IS_UNKNOWN && !request->background) ||
           route_owns(request, fleet, i);
}

enum route_refusal route_refuse(const struct route_request *request,
                                const struct route_fleet *fleet, uint32_t i)
{
    const struct route_member *m = &fleet->members[i];
    const struct route_stock *s = &fleet->stock[i];
    enum route_refusal refusal = route_incapable(m, request->write);

    if (refusal) {
        return refusal;
    }
    if (request->mode == ROUTE_STRICT && !strict_allows(request, fleet, i)) {
        return request->key == ROUTE_IS_UNLEARNABLE ? ROUTE_REFUSED_UNLEARNABLE
               : request->key == ROUTE_IS_UNKNOWN   ? ROUTE_REFUSED_NOT_LEARNT
                                                    : ROUTE_REFUSED_NOT_OWNER;
    }
    if (tried(request, i)) {
        return ROUTE_REFUSED_TRIED;
    }
    if (route_is_unready(request, m)) {
        return ROUTE_REFUSED_STARTING;
    }
    if (load8(&m->health) == ROUTE_DOWN) {
        return ROUTE_REFUSED_DOWN;
    }
    if (route_is_passed(request, m)) {
        return ROUTE_REFUSED_SUSPECT;
    }
    if (load_flag(&m->slow)) {
        return ROUTE_REFUSED_SLOW;
    }
    if (s->idle > 0) {
        return ROUTE_REFUSED_NONE;
    }
    return takes_no_more(request, s) ? ROUTE_REFUSED_CROWDED
           : s->room == 0            ? ROUTE_REFUSED_FULL
                                     : ROUTE_REFUSED_NONE;
}

const char *route_refusal_text(enum route_refusal refusal)
{
    static const char *const texts[] = {
#define ROUTE_REFUSAL(name, text) text,
#include "route_refusal.def"
    };
    return (unsigned)refusal < ROUTE_REFUSALS ? texts[refusal] : "unknown";
}
