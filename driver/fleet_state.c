/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * THE TABLE: state × fact → state.
 *
 * One failure of an instance that was up makes it suspect, a second one down,
 * unless a good answer stood between: a queue of connections that is full for
 * a moment, or one link that somebody has ended, is no outage.  Only silence
 * for the whole of its time is enough by itself.
 *
 * Going down closes what is idle.  Who holds a link there loses it only where
 * it is sure that nothing would come of it: the instance is silent, or has
 * refused for FLEET_SURE_MS; while it starts or stops it may well serve those
 * whom it has.
 *
 * An instance that keeps going down needs more good answers in a row before it
 * is up again: one, and one for each time that it went down within
 * FLEET_STEADY_MS of having come back.  Until then it is suspect: whoever has
 * to can use it.
 */
#include "autoconf.h"

#include "fleet_state.h"
#include "lock.h"

enum loss { KEEPS, LOSES, LOSES_LATER /* after FLEET_SURE_MS in this state */ };

struct cell {
    enum route_health to;
    enum loss sessions;
};

#define UNTRIED { ROUTE_UNTRIED, KEEPS }
#define UP      { ROUTE_UP, KEEPS } /* suspect, while more are needed */
#define SUSPECT { ROUTE_SUSPECT, KEEPS }
#define DOWN    { ROUTE_DOWN, KEEPS }
#define SURE    { ROUTE_DOWN, LOSES }
#define REFUSES { ROUTE_DOWN, LOSES_LATER }

static const struct cell table[ROUTE_HEALTHS][FLEET_FACTS] = {
    /*                  ANSWERED DOUBTED  REFUSED  STARTING SILENT */
    [ROUTE_UNTRIED] = { UP,      UNTRIED, DOWN,    DOWN,    SURE },
    [ROUTE_UP]      = { UP,      SUSPECT, SUSPECT, SUSPECT, SURE },
    [ROUTE_SUSPECT] = { UP,      SUSPECT, DOWN,    DOWN,    SURE },
    [ROUTE_DOWN]    = { UP,      DOWN,    REFUSES, DOWN,    SURE },
};

uint32_t fleet_state_needs(const struct fleet_state *state)
{
    return 1 + state->relapses;
}

/* Answers that came at the same time say no more than one. */
static void count_good(struct fleet_state *state, uint64_t now)
{
    if (state->good == 0 ||
        now >= state->good_at + FLEET_SPACE_MS * NS_PER_MS) {
        state->good++;
        state->good_at = now;
    }
}

/* Down: twice as long as the last time; once for all who have failed there
   while it was being left alone.  Who starts is asked again soon, however long
   it had refused before. */
static void leave_alone(struct fleet_state *state, enum fleet_fact fact,
                        bool enters, uint64_t now, uint64_t seed)
{
    if (state->health == ROUTE_SUSPECT) {
        state->retry_at = now + clock_jitter_ns(clock_backoff_ms(0), seed);
    } else if (enters || now >= state->retry_at ||
               (fact == FLEET_STARTING &&
                state->retry_at > now + clock_backoff_ms(0) * NS_PER_MS)) {
        state->backoff_ms = clock_backoff_ms(
            fact == FLEET_STARTING ? 0 : state->backoff_ms);
        state->retry_at = now + clock_jitter_ns(state->backoff_ms, seed);
    }
}

static void go_down(struct fleet_state *state, uint64_t now)
{
    if (state->fallen) {
        return; /* it has never been up since */
    }
    state->fallen = true;
    if (!state->up_at || now >= state->up_at + FLEET_STEADY_MS * NS_PER_MS) {
        state->relapses = 0;
    } else if (state->relapses < FLEET_RELAPSES_MAX) {
        state->relapses++;
    }
}

static void go_up(struct fleet_state *state, uint64_t now)
{
    if (state->fallen) {
        state->fallen = false;
        state->up_at = now;
    }
    state->backoff_ms = 0;
    state->retry_at = 0;
}

static enum route_health next_of(const struct fleet_state *state,
                                 enum route_health to)
{
    bool returns = to == ROUTE_UP && state->health != ROUTE_UNTRIED &&
                   state->health != ROUTE_UP;

    return returns && state->good < fleet_state_needs(state) ? ROUTE_SUSPECT
                                                             : to;
}

static void enter(struct fleet_state *state, enum route_health to,
                  uint64_t now)
{
    if (to == ROUTE_DOWN) {
        go_down(state, now);
    } else if (to == ROUTE_UP) {
        go_up(state, now);
    }
    state->health = to;
    state->since = now;
}

bool fleet_state_take(struct fleet_state *state, enum fleet_fact fact,
                      uint64_t now, uint64_t seed)
{
    struct cell cell = table[state->health][fact];
    uint64_t since = state->since;
    enum route_health to;
    bool enters;

    if (fact == FLEET_ANSWERED) {
        count_good(state, now);
    } else {
        state->good = 0;
    }
    to = next_of(state, cell.to);
    enters = to != state->health;
    if (enters) {
        enter(state, to, now);
    }
    if ((to == ROUTE_SUSPECT && enters) ||
        (to == ROUTE_DOWN && fact != FLEET_DOUBTED)) {
        leave_alone(state, fact, enters, now, seed);
    }
    return cell.sessions == LOSES ||
           (cell.sessions == LOSES_LATER &&
            now >= since + FLEET_SURE_MS * NS_PER_MS);
}
