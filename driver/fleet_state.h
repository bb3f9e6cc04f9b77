/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one hears of an instance, and the state that follows: the table stands
 * in fleet_state.c.  Pure: the time and a random number come in.
 *
 *   untried   nobody has heard of it
 *   up        it answers
 *   suspect   something there has failed, or it is just back and has failed
 *             too often lately: usable, its links are validated before use,
 *             and whoever can go elsewhere does until retry_at
 *   down      it cannot be used: passed over until retry_at, then tried by one
 *             at a time
 *
 * Draining is no state of these: an instance that is not to be used goes on to
 * be up or down (fleet_drain.h).
 */
#ifndef FLEET_STATE_H
#define FLEET_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "route.h"

enum fleet_fact {
    FLEET_ANSWERED, /* a link there is open, or has answered */
    FLEET_DOUBTED,  /* a link there died */
    FLEET_REFUSED,  /* a link could not be opened, by the instance's fault */
    FLEET_STARTING, /* it says itself that it is not ready */
    FLEET_SILENT,   /* it has let the time for an answer pass */
    FLEET_FACTS
};

/* One instance's; all times in ns. */
struct fleet_state {
    enum route_health health;
    uint64_t since;      /* in that health; 0 = from the start */
    uint64_t retry_at;   /* suspect, down: as above */
    uint32_t backoff_ms; /* while down; 0 = none since it was up */
    uint32_t good;       /* answers in a row, those at once counted as one */
    uint32_t relapses;   /* times it went down soon after it was up again */
    uint64_t good_at;    /* the latest of them that counted */
    bool fallen;         /* it was down and has not been up since */
    uint64_t up_at;      /* when it was, the last time; 0 = never */
};

enum {
    FLEET_STEADY_MS = 60000, /* up for so long, it is forgiven */
    FLEET_RELAPSES_MAX = 4,
    FLEET_SPACE_MS = 200, /* between two answers that count as two */
    FLEET_SURE_MS = 1000  /* refusing for so long, it has lost its sessions */
};

/* How many good answers in a row bring it up again. */
uint32_t fleet_state_needs(const struct fleet_state *state);

/* Takes a fact in.  True: the sessions that hold a link there have lost it.
   now: ns; seed: any number, for the jitter of retry_at. */
bool fleet_state_take(struct fleet_state *state, enum fleet_fact fact,
                      uint64_t now, uint64_t seed);

#endif
