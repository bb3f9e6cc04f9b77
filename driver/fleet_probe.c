/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_probe.h"

#include <pthread.h>
#include <string.h>

#include "fleet.h"
#include "keeper.h"
#include "keeper_clock.h"

enum {
    PER_INSTANCE_MS = 10,  /* a fleet of many is probed at most so often */
    CAUSE_MS = 250,        /* between probes with cause and no interval */
    SLOW_MS = 500,         /* like a unit's patience (place_time.c) */
    LATE_MS = 250,         /* a round may be */

    /* at once in this process: those that are awaited; with those that were
       given up and are under way still */
    MOST = KEEPER_THREADS_MAX * 3 / 4,
    MOST_THREADS = KEEPER_DOUBTFUL_MAX
};

/* Of all fleets.  They begin on the clock's thread only. */
static struct {
    _Atomic uint32_t awaited[2]; /* by enum fleet_probe_sort */
    _Atomic uint32_t left;
    _Atomic bool crowded; /* one was due, and there was no place for it */
} under_way;

static void forget_in_child(void)
{
    memset(&under_way, 0, sizeof under_way);
}

__attribute__((constructor)) static void set_up(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
}

uint32_t fleet_probe_interval(const struct fleet *fleet)
{
    uint32_t interval = fleet->config.check_interval;
    uint32_t least = fleet->count * PER_INSTANCE_MS;

    return interval == 0 ? 0 : interval < least ? least : interval;
}

/* ns: how long after one the next may follow, with cause. */
static uint64_t least_gap(const struct fleet *fleet)
{
    uint32_t interval = fleet_probe_interval(fleet);

    return (interval ? interval * NS_PER_MS / 4 : CAUSE_MS * NS_PER_MS);
}

/* Between low and high thousandths of the interval from now, at random; never
   without an interval. */
static uint64_t in_a_while(const struct fleet *fleet, uint32_t i, uint64_t now,
                           uint32_t low, uint32_t high)
{
    uint64_t interval = fleet_probe_interval(fleet) * NS_PER_MS;
    uint64_t random = (now + i) * UINT64_C(0x9e3779b97f4a7c15);

    random = (random ^ random >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return interval
               ? now + interval * (low + (random >> 32) % (high - low + 1)) /
                           1000
               : UINT64_MAX;
}

void fleet_want_probe(struct fleet *fleet, uint32_t i)
{
    if (!atomic_exchange(&fleet->instances[i].wanted, true)) {
        keeper_clock_wake(0);
    }
}

/* ---- places -------------------------------------------------------------- */

/* For how many that are awaited. */
static uint32_t places(void)
{
    uint32_t left = atomic_load(&under_way.left);
    uint32_t threads = left < MOST_THREADS ? MOST_THREADS - left : 0;

    return threads < MOST ? threads : MOST;
}

/* Is one free for this sort?  Some are left to the other one: those who answer
   come and go, but who hangs stays. */
static bool is_free(enum fleet_probe_sort sort)
{
    uint32_t most = places();
    uint32_t other = atomic_load(&under_way.awaited[!sort]);
    uint32_t taken = atomic_load(&under_way.awaited[sort]);

    return taken < most - most / 6 && taken + other < most;
}

static enum fleet_probe_sort sort_of(const struct fleet *fleet, uint32_t i)
{
    return fleet_doubts(fleet, i) ? FLEET_PROBE_DOUBTFUL : FLEET_PROBE_KNOWN;
}

/* Nobody waits for it any more. */
static void leave_place(struct fleet_probe *p)
{
    p->awaited = false;
    atomic_fetch_sub(&under_way.awaited[p->sort], 1);
}

/* Whoever found no place looks again. */
static void tell_crowd(void)
{
    if (atomic_exchange(&under_way.crowded, false)) {
        keeper_clock_wake(0);
    }
}

/* ---- the one that is awaited --------------------------------------------- */

static enum fleet_probe_step step_awaited(const struct fleet *fleet,
                                          struct fleet_probe *p, uint64_t now,
                                          uint64_t *next)
{
    uint32_t ms = p->way == FLEET_PROBE_ASKS ? fleet->config.check_timeout
                                             : fleet->config.connect_timeout;
    uint64_t slow = p->running + SLOW_MS * NS_PER_MS;
    uint64_t late = p->running + ms * NS_PER_MS;

    if (!p->running) { /* the threads have much to do: that says nothing */
        *next = now + SLOW_MS * NS_PER_MS;
        return FLEET_PROBE_WAIT;
    }
    if (now >= late + LATE_MS * NS_PER_MS) {
        p->running = now; /* who comes late blames nobody */
        *next = now + SLOW_MS * NS_PER_MS;
        return FLEET_PROBE_WAIT;
    }
    if (now >= late) {
        leave_place(p);
        atomic_fetch_add(&under_way.left, 1);
        p->left[p->way]++;
        p->left_at = now;
        tell_crowd();
        *next = now;
        return FLEET_PROBE_LATE;
    }
    *next = p->slow ? late : clock_earlier(slow, late);
    if (!p->slow && now >= slow) {
        p->slow = true;
        *next = late;
        return FLEET_PROBE_SLOW;
    }
    return FLEET_PROBE_WAIT;
}

/* ---- the next one -------------------------------------------------------- */

/* When: UINT64_MAX = not before something happens. */
static uint64_t due(const struct fleet *fleet, uint32_t i, uint64_t now)
{
    const struct route_member *m = &fleet->members[i];
    struct instance *instance = &fleet->instances[i];
    struct fleet_probe *p = &instance->probe;
    bool wanted = atomic_load(&instance->wanted);
    uint8_t health = atomic_load(&m->health);
    uint64_t soonest = p->last ? p->last + least_gap(fleet) : now;

    if (atomic_load(&m->disabled) || atomic_load(&m->drained) ||
        (!wanted && !fleet_probe_interval(fleet))) {
        return UINT64_MAX;
    }
    if (health == ROUTE_DOWN) {
        uint64_t retry = atomic_load(&m->retry_at);
        return retry > soonest ? retry : soonest;
    }
    if (!p->due) {
        p->due = in_a_while(fleet, i, now, 500, 1000);
    }
    return wanted ? clock_earlier(p->due, soonest) : p->due;
}

/* In which way: WAIT = in none, until one that was given up ends.  So it is
   while so many were given up that places are fewer: an instance that has one
   thread of ours takes no second one from the others. */
static enum fleet_probe_step way_now(const struct fleet *fleet, uint32_t i)
{
    const struct instance *instance = &fleet->instances[i];
    const struct fleet_probe *p = &instance->probe;
    bool asks_hangs = p->left[FLEET_PROBE_ASKS] > 0;
    bool opens_hangs = p->left[FLEET_PROBE_OPENS] > 0;

    if (atomic_load(&instance->answered_at) > p->left_at) {
        asks_hangs = opens_hangs = false;
    }
    if (atomic_load(&fleet->members[i].health) != ROUTE_DOWN && !asks_hangs) {
        return FLEET_PROBE_DUE;
    }
    return opens_hangs || (asks_hangs && places() < MOST) ? FLEET_PROBE_WAIT
                                                          : FLEET_PROBE_DUE_NEW;
}

static enum fleet_probe_step step_next(struct fleet *fleet, uint32_t i,
                                       uint64_t now, uint64_t *next)
{
    struct instance *instance = &fleet->instances[i];
    uint64_t when = due(fleet, i, now);
    enum fleet_probe_step step = FLEET_PROBE_WAIT;

    if (when <= now && (step = way_now(fleet, i)) != FLEET_PROBE_WAIT) {
        instance->probe.last = now;
        instance->probe.due = in_a_while(fleet, i, now, 800, 1200);
        atomic_store(&instance->wanted, false);
        when = clock_earlier(due(fleet, i, now), now + SLOW_MS * NS_PER_MS);
    }
    *next = when > now ? when : UINT64_MAX;
    return step;
}

enum fleet_probe_step fleet_probe_step(struct fleet *fleet, uint32_t i,
                                       bool used, uint64_t now,
                                       uint64_t *next)
{
    struct fleet_probe *p = &fleet->instances[i].probe;
    enum fleet_probe_step step = FLEET_PROBE_WAIT;

    mutex_lock(&fleet->lock);
    if (p->awaited) {
        step = step_awaited(fleet, p, now, next);
    } else if (used) {
        step = step_next(fleet, i, now, next);
    } else {
        p->due = 0;
        *next = UINT64_MAX;
    }
    mutex_unlock(&fleet->lock);
    return step;
}

uint64_t fleet_probe_seek_at(struct fleet *fleet, uint32_t i)
{
    const struct route_member *m = &fleet->members[i];
    const struct fleet_probe *p = &fleet->instances[i].probe;
    uint64_t at = UINT64_MAX;

    mutex_lock(&fleet->lock);
    if (!p->awaited && !p->left[FLEET_PROBE_OPENS] &&
        !atomic_load(&m->disabled) && !atomic_load(&m->drained)) {
        at = atomic_load(&m->retry_at);
    }
    mutex_unlock(&fleet->lock);
    return at;
}

uint64_t fleet_probe_put_off(struct fleet *fleet, uint32_t i, uint64_t now)
{
    atomic_store(&fleet->instances[i].wanted, true);
    return now + least_gap(fleet);
}

/* ---- its life ------------------------------------------------------------ */

uint64_t fleet_probe_begin(struct fleet *fleet, uint32_t i,
                           enum fleet_probe_way way)
{
    struct fleet_probe *p = &fleet->instances[i].probe;
    enum fleet_probe_sort sort = sort_of(fleet, i);
    uint64_t number = 0;

    mutex_lock(&fleet->lock);
    if (!is_free(sort)) {
        p->due = clock_ns();
        atomic_store(&under_way.crowded, true); /* before the last look */
    }
    if (is_free(sort)) {
        number = ++p->number;
        p->awaited = true;
        p->slow = false;
        p->way = way;
        p->sort = sort;
        p->running = 0;
        atomic_fetch_add(&under_way.awaited[sort], 1);
    }
    mutex_unlock(&fleet->lock);
    return number;
}

void fleet_probe_runs(struct fleet *fleet, uint32_t i, uint64_t number)
{
    struct fleet_probe *p = &fleet->instances[i].probe;

    mutex_lock(&fleet->lock);
    if (p->awaited && p->number == number) {
        p->running = clock_ns();
    }
    mutex_unlock(&fleet->lock);
}

bool fleet_probe_ended(struct fleet *fleet, uint32_t i, uint64_t number,
                       enum fleet_probe_way way)
{
    struct instance *instance = &fleet->instances[i];
    struct fleet_probe *p = &instance->probe;
    uint64_t due_at;
    bool awaited;

    mutex_lock(&fleet->lock);
    due_at = p->due;
    awaited = p->awaited && p->number == number;
    if (awaited) {
        leave_place(p);
    } else {
        p->left[way]--;
        atomic_fetch_sub(&under_way.left, 1);
    }
    tell_crowd();
    mutex_unlock(&fleet->lock);
    /* while it was awaited, rounds did not look at when the next is due */
    keeper_clock_wake(!awaited || atomic_load(&instance->wanted) ? 0 : due_at);
    return awaited;
}

/* ---- MonitorUID ---------------------------------------------------------- */

void fleet_probe_unwelcome(struct fleet *fleet, uint32_t i)
{
    mutex_lock(&fleet->lock);
    fleet->instances[i].probe.unwelcome = true;
    mutex_unlock(&fleet->lock);
}

bool fleet_probe_is_unwelcome(struct fleet *fleet, uint32_t i)
{
    bool unwelcome;

    mutex_lock(&fleet->lock);
    unwelcome = fleet->instances[i].probe.unwelcome;
    mutex_unlock(&fleet->lock);
    return unwelcome;
}

void fleet_probe_forgive(struct fleet *fleet)
{
    mutex_lock(&fleet->lock);
    for (uint32_t i = 0; i < fleet->count; i++) {
        fleet->instances[i].probe.unwelcome = false;
    }
    mutex_unlock(&fleet->lock);
}
