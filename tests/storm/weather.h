/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who makes the storm: a hand that strikes (blow.c: groups are crashed, paused,
 * promoted, or a leaf moved), and one that meddles (meddle.c: an instance is
 * drained by command or disabled by the map file, a few backends are ended, all
 * is to be learnt or opened anew).  Both go through a deck of what they can,
 * shuffled by the seed, write into the chronicle what they do, and leave
 * everything whole.  At any time a primary of some group is able to serve.
 * Every storm begins with the blows that some rules cannot be judged without,
 * however short it is.
 */
#ifndef STORM_WEATHER_H
#define STORM_WEATHER_H

#include <stdbool.h>

enum blow {
    BLOW_CRASH,     /* a primary is killed and comes back */
    BLOW_FAILOVER,  /* killed, its standby promoted, it joins that */
    BLOW_PAUSE,     /* it hangs and goes on */
    BLOW_HANG,      /* it hangs until every call inside must have been ended */
    BLOW_SUPERSEDE, /* it hangs, its standby is promoted, it goes on and
                       believes to be the primary still */
    BLOW_HANDOVER,  /* a promotion as planned */
    BLOW_STANDBY,   /* a standby is killed or hangs */
    BLOW_GROUP,     /* a primary and its standby are killed and come back */
    BLOW_FLAP,      /* it hangs for moments, again and again */
    BLOW_TWO,       /* it is killed while another group's primary hangs */
    BLOW_MOVE,      /* a leaf goes to another group */
    BLOWS
};

enum meddle {
    MEDDLE_DRAIN,   /* DRAIN AFFINITY INSTANCE, RESUME */
    MEDDLE_SHUT,    /* enabled = no in the map file */
    MEDDLE_CULL,    /* some of an instance's backends are ended */
    MEDDLE_REFRESH, /* REFRESH AFFINITY, REFRESH AFFINITY LINKS */
    MEDDLES
};

struct weather_sums {
    unsigned blows[BLOWS], meddles[MEDDLES];
    unsigned failed; /* what a hand wanted to do and could not */
};

/* fleet: the beginning of connection strings, which lasts; map: the fleet's map
   file, which is written here for the first time by weather_clear(). */
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

/* For both hands. */
void weather_phase(int phase);
void weather_rest(unsigned ms); /* so long, or until it is over */

/* Strikes a group, and returns when all is whole again.  False: a verb of
   setup/sandbox failed. */
bool blow_strike(enum blow blow, unsigned group, unsigned *state);

/* The beginning of connection strings. */
void blow_begin(const char *fleet);

/* Writes the map file, in which nothing is disabled. */
bool meddle_begin(const char *fleet, const char *map);
/* Does it to an instance, and returns when the fleet has seen that it is over.
   False: it could not be done. */
bool meddle_with(enum meddle meddle, unsigned instance, unsigned *state);

/* Does it keep sessions away from an instance? */
bool meddle_closes(enum meddle meddle);

#endif
