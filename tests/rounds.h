/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A fleet with two logins and some sessions, and the rounds of the keeper's
 * clock, of which one duty is made: what tests of the duties share.  On threads
 * that take turns (sim.h), a clock that the test sets, and a pretend inner
 * driver (pretend.h).
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "pretend.h"
#include "watch.h"

enum { LOGINS = 2, SESSIONS = 6 };

struct session {
    struct place_order order;
    struct route_key *key;
    bool placed, over;
};

extern struct fleet *fleet;
extern struct login *logins[LOGINS];
extern struct session sessions[SESSIONS];
extern watch_duty *round_duty; /* set by main() */
extern bool used;              /* what watch_is_used() says */
extern uint64_t quiet_at;      /* likewise; not before it is set */
extern uint64_t next_round;
extern bool no_logins;         /* there is no memory for a list of them */

void begin_fleet(uint32_t instances, const char *keywords);
void end_fleet(void);

/* Everybody goes on until nobody can without time passing. */
void settle(void);

/* Time passes, moment by moment, and the keeper makes its rounds. */
void pass(unsigned ms);

/* A session of login 1 or 2, strict on key "k0" …, NULL: anywhere. */
void place(struct session *s, int login, const char *key, uint32_t wait_ms);
/* The same, until then at most (ns). */
void place_until(struct session *s, int login, const char *key,
                 uint32_t wait_ms, uint64_t deadline);
void give(struct session *s);

/* A session comes and goes: its link stays idle. */
void visit(int login, const char *key);

struct pool *pool_of(int login, uint32_t i);

/* Has this been said of the instance? */
bool was_said(uint32_t i, const char *words);

#endif
