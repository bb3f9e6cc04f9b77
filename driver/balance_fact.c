/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Latency, load, flags and ramp of an instance; see balance_fact.h.
 */
#include "autoconf.h"

#include "balance_fact.h"

#include "lock.h" /* NS_PER_MS */

enum {
    CALM_HALF_MS = 600000,
    SLOW_OVER = 8, SLOW_LEAST_MS = 20,
    LOAD_OVER = 900, LOAD_UNDER = 800 /* permille */
};

static uint64_t load64(const _Atomic uint64_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

static void store64(_Atomic uint64_t *field, uint64_t value)
{
    atomic_store_explicit(field, value, memory_order_relaxed);
}

/* What is left of a distance after that time: half of it after each `half`,
   and on a straight line in between. */
static uint64_t halved(uint64_t distance, uint64_t time, uint64_t half)
{
    uint64_t halves = time / half;

    if (halves >= 64) {
        return 0;
    }
    distance >>= halves;
    return distance -
           (uint64_t)((double)distance / 2 * (double)(time % half) /
                      (double)half);
}

/* ---- the flag -------------------------------------------------------- */

static bool is_slow(const struct route_member *m, bool before, uint64_t now)
{
    uint64_t limit = load64(&m->calm_ns) * SLOW_OVER +
                     SLOW_LEAST_MS * NS_PER_MS;

    return balance_latency(m, ROUTE_CALL_ASK, now) >
           (before ? limit / 2 : limit);
}

static bool is_loaded(const struct route_member *m, bool before, uint64_t now)
{
    return load64(&m->load_until) > now &&
           atomic_load_explicit(&m->load_permille, memory_order_relaxed) >
               (before ? LOAD_UNDER : LOAD_OVER);
}

/* Something was heard that tells something until then. */
static void judge(struct route_member *m, uint64_t now, uint64_t until)
{
    bool before = balance_violates(m, now);

    store64(&m->violating_until,
            is_slow(m, before, now) || is_loaded(m, before, now) ? until : 0);
}

uint64_t balance_known_latency(const struct route_member *m, uint64_t now)
{
    uint64_t latency = 0;

    for (int call = 0; !latency && call < ROUTE_CALLS; call++) {
        latency = balance_latency(m, (enum route_call)call, now);
    }
    return latency;
}

static bool is_known(const struct route_member *m, uint64_t now)
{
    return balance_known_latency(m, now) || load64(&m->load_until) > now;
}

enum balance_flag balance_flag(const struct route_member *m, uint64_t now)
{
    enum route_health health = (enum route_health)atomic_load_explicit(
        &m->health, memory_order_relaxed);

    if (m->disabled || m->drained || health == ROUTE_DOWN) {
        return BALANCE_BLOCKED;
    }
    if (!is_known(m, now)) {
        return BALANCE_NO_DATA;
    }
    return balance_violates(m, now) ? BALANCE_VIOLATING : BALANCE_GOOD;
}

const char *balance_flag_word(enum balance_flag flag)
{
    static const char *const words[] = {
        [BALANCE_GOOD] = "good",
        [BALANCE_VIOLATING] = "violating",
        [BALANCE_NO_DATA] = "no data",
        [BALANCE_BLOCKED] = "blocked",
    };

    return words[flag];
}

/* ---- what is heard --------------------------------------------------- */

static void follow_calm(struct route_member *m, uint64_t took, uint64_t time)
{
    uint64_t calm = load64(&m->calm_ns);

    if (!calm || took <= calm) {
        calm = took;
    } else {
        calm = took - halved(took - calm, time, CALM_HALF_MS * NS_PER_MS);
    }
    store64(&m->calm_ns, calm);
}

/* Returns how long ago the one before was. */
static uint64_t note(struct route_member *m, enum route_call call,
                     uint64_t took, uint64_t now, uint64_t until)
{
    struct route_pace *pace = &m->pace[call];
    uint64_t known = load64(&pace->ns);
    uint64_t time = m->timed_at[call] && now > m->timed_at[call]
                        ? now - m->timed_at[call]
                        : 0;

    if (took < known) {
        took += halved(known - took, time, BALANCE_HALF_MS * NS_PER_MS);
    }
    store64(&pace->ns, took ? took : 1);
    store64(&pace->until, until);
    m->timed_at[call] = now;
    return time;
}

void balance_timed(struct route_member *m, enum route_call call,
                   uint64_t took, uint64_t now, uint64_t until)
{
    uint64_t time = note(m, call, took, now, until);

    if (call == ROUTE_CALL_ASK) {
        follow_calm(m, took, time);
    }
    judge(m, now, until);
}

void balance_failed(struct route_member *m, uint64_t deadline, uint64_t now,
                    uint64_t until)
{
    for (int call = 0; call < ROUTE_CALLS; call++) {
        note(m, (enum route_call)call, deadline, now, until);
    }
    judge(m, now, until);
}

void balance_loaded(struct route_member *m, uint32_t permille, uint64_t now,
                    uint64_t until)
{
    atomic_store_explicit(&m->load_permille, permille, memory_order_relaxed);
    store64(&m->load_until, until);
    judge(m, now, until);
}

void balance_returned(struct route_member *m, uint64_t now)
{
    for (int call = 0; call < ROUTE_CALLS; call++) {
        store64(&m->pace[call].ns, 0);
        store64(&m->pace[call].until, 0);
    }
    store64(&m->load_until, 0);
    store64(&m->violating_until, 0);
    store64(&m->back_at, now);
}

/* ---- what is read ---------------------------------------------------- */

uint32_t balance_ramp(const struct route_member *m, uint64_t now)
{
    uint64_t back = load64(&m->back_at);
    uint64_t time = now > back ? now - back : 0;

    if (!back || time >= BALANCE_RAMP_MS * NS_PER_MS) {
        return BALANCE_RAMP;
    }
    return 1 + (uint32_t)(time * (BALANCE_RAMP - 1) /
                          (BALANCE_RAMP_MS * NS_PER_MS));
}

uint64_t balance_cost(const struct route_member *m, uint64_t now)
{
    uint32_t weight = atomic_load_explicit(&m->weight, memory_order_relaxed);
    uint32_t units = atomic_load_explicit(&m->in_flight, memory_order_relaxed);

    return (uint64_t)((double)balance_known_latency(m, now) * (units + 1.0) *
                      BALANCE_RAMP / balance_ramp(m, now) /
                      (weight ? weight : 1));
}

struct balance_latencies balance_compare(const struct route_member *a,
                                         const struct route_member *b,
                                         uint64_t now)
{
    for (int call = 0; call < ROUTE_CALLS; call++) {
        struct balance_latencies both = {
            balance_latency(a, (enum route_call)call, now),
            balance_latency(b, (enum route_call)call, now),
        };
        if (both.a && both.b) {
            return both;
        }
    }
    return (struct balance_latencies){ 0, 0 };
}
