/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who makes the storm: a hand that strikes (blow.c: one group at a time is
 * crashed, paused, promoted, or a leaf moved) and one that shuts
 * (weather.c: an instance is drained by command or disabled by the map file).
 * Both go through a deck of what they can, shuffled by the seed, write into the
 * chronicle what they do, and leave everything whole.  So at any time a
 * primary of some group is able to serve.
 */
#ifndef STORM_WEATHER_H
#define STORM_WEATHER_H

#include <stdbool.h>

enum blow {
    BLOW_CRASH,     /* a primary is killed and comes back */
    BLOW_FAILOVER,  /* killed, its standby promoted, it joins that */
    BLOW_PAUSE,     /* it hangs and goes on */
    BLOW_SUPERSEDE, /* it hangs, its standby is promoted, it goes on and
                       believes to be the primary still */
    BLOW_HANDOVER,  /* a promotion as planned */
    BLOW_STANDBY,   /* a standby is killed or hangs */
    BLOW_MOVE,      /* a leaf goes to another group */
    BLOWS
};

struct weather_sums {
    unsigned blows[BLOWS];
    unsigned drains, shuts;
    unsigned failed; /* what a hand wanted to do and could not */
};

/* fleet: the beginning of connection strings; map: the fleet's map file, which
   is written here for the first time by weather_clear(). */
bool weather_clear(const char *fleet, const char *map);
void weather_begin(unsigned seed);
/* Lets both hands finish what they are at. */
void weather_end(struct weather_sums *sums);

/* What it is like just now, for who compares. */
enum {
    WEATHER_CHANGES = -2,
    WEATHER_CALM = -1 /* from 0 on: that group's
primary hangs, and nobody else has any trouble */
};
int weather_now(void);

/* ---- blow.c -------------------------------------------------------------- */

/* Strikes a group, and returns when all is whole again.  False: a verb of
   setup/sandbox failed. */
bool blow_strike(enum blow blow, unsigned group, unsigned *state);
void blow_phase(int phase);

#endif
