/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "weather.h"

#include "../trouble.h"
#include "chronicle.h"
#include "storm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct {
    pthread_t striking, meddling;
    unsigned seed;
    atomic_bool over;
    _Atomic int phase;
    atomic_bool meddles;
    struct weather_sums sums; /* each field one hand's, but for failed */
    _Atomic unsigned failed;

    /* Two groups in trouble and the third's primary closed would leave nobody
       who can serve: held by whoever does the one or the other. */
    pthread_mutex_t last;
} weather = { .phase = WEATHER_CHANGES, .last = PTHREAD_MUTEX_INITIALIZER };

static void keep_last(bool really)
{
    if (really) {
        pthread_mutex_lock(&weather.last);
    }
}

static void release_last(bool really)
{
    if (really) {
        pthread_mutex_unlock(&weather.last);
    }
}

int weather_now(void)
{
    return atomic_load(&weather.meddles) ? WEATHER_CHANGES
                                         : atomic_load(&weather.phase);
}

void weather_phase(int phase)
{
    atomic_store(&weather.phase, phase);
}

void weather_rest(unsigned ms)
{
    double end = trouble_now() + ms;

    while (!atomic_load(&weather.over) && trouble_now() < end) {
        storm_rest(20);
    }
}

/* ---- the hand that strikes ---------------------------------------------- */

static void shuffle(enum blow *deck, unsigned count, unsigned *state)
{
    for (unsigned n = count; n > 1; n--) {
        unsigned other = storm_draw(state, n);
        enum blow blow = deck[n - 1];

        deck[n - 1] = deck[other];
        deck[other] = blow;
    }
}

static void *strike(void *unused)
{
    enum { CALM_BEGIN = 3000, CALM_LEAST = 300, CALM_MORE = 1200 };
    static const char *const names[BLOWS] = {
        "crash",   "failover", "pause", "supersede", "hand over",
        "standby", "group",    "flap",  "two",       "move",
    };
    unsigned state = weather.seed;
    enum blow deck[BLOWS];

    (void)unused;
    for (unsigned n = 0; n < BLOWS; n++) {
        deck[n] = (enum blow)n;
    }
    weather_phase(WEATHER_CALM);
    weather_rest(CALM_BEGIN);
    for (unsigned turn = 0; !atomic_load(&weather.over); turn++) {
        unsigned group = storm_draw(&state, STORM_GROUPS);
        enum blow blow;
        double begin;

        if (turn % BLOWS == 0) {
            shuffle(deck, BLOWS, &state);
        }
        blow = deck[turn % BLOWS];
        keep_last(blow == BLOW_TWO);
        begin = trouble_now();
        weather_phase(WEATHER_CHANGES);
        if (!blow_strike(blow, group, &state)) {
            weather.failed++;
        }
        release_last(blow == BLOW_TWO);
        weather.sums.blows[blow]++;
        printf("# %6.0f ms: %s, group of n%u: %.0f ms\n", begin, names[blow],
               group + 1, trouble_now() - begin);
        weather_phase(WEATHER_CALM);
        weather_rest(CALM_LEAST + storm_draw(&state, CALM_MORE));
    }
    return NULL;
}

/* ---- the hand that meddles ----------------------------------------------- */

static void *meddle(void *unused)
{
    enum { MEDDLED_MS = 500 }; /* until its effects are over */
    unsigned state = weather.seed ^ 0x5bd1e995u;

    (void)unused;
    while (!atomic_load(&weather.over)) {
        unsigned instance = storm_draw(&state, STORM_INSTANCES);
        enum meddle what = (enum meddle)storm_draw(&state, MEDDLES);

        weather_rest(300 + storm_draw(&state, 4000));
        keep_last(meddle_closes(what));
        atomic_store(&weather.meddles, true);
        weather.failed += !meddle_with(what, instance, &state);
        weather.sums.meddles[what]++;
        storm_rest(MEDDLED_MS);
        atomic_store(&weather.meddles, false);
        release_last(meddle_closes(what));
    }
    return NULL;
}

/* ---- both ---------------------------------------------------------------- */

bool weather_clear(const char *fleet, const char *map)
{
    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        chronicle_crown(REIGN_PRIMARY, g, 2 * g);
    }
    for (unsigned l = 0; l < STORM_LEAVES; l++) {
        chronicle_crown(REIGN_LEAF, l, l);
    }
    return meddle_begin(fleet, map);
}

void weather_begin(unsigned seed)
{
    weather.seed = seed;
    pthread_create(&weather.striking, NULL, strike, NULL);
    pthread_create(&weather.meddling, NULL, meddle, NULL);
}

void weather_end(struct weather_sums *sums)
{
    atomic_store(&weather.over, true);
    pthread_join(weather.striking, NULL);
    pthread_join(weather.meddling, NULL);
    weather_phase(WEATHER_CHANGES);
    *sums = weather.sums;
    sums->failed = weather.failed;
}
