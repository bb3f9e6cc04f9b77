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
    struct weather_sums sums; /* each field one hand's, but for failed */
    _Atomic unsigned failed;

    /* Two groups in trouble and the third's primary closed would leave nobody
       who can serve: held by whoever does the one or the other. */
    pthread_mutex_t last;

    /* Behind `last`: held while connects are compared, and while anything is
       meddled with, which some of them would notice. */
    pthread_mutex_t quiet;
} weather = {
    .phase = WEATHER_CHANGES,
    .last = PTHREAD_MUTEX_INITIALIZER,
    .quiet = PTHREAD_MUTEX_INITIALIZER,
};

static void lock_if(bool really, pthread_mutex_t *mutex)
{
    if (really) {
        pthread_mutex_lock(mutex);
    }
}

static void unlock_if(bool really, pthread_mutex_t *mutex)
{
    if (really) {
        pthread_mutex_unlock(mutex);
    }
}

int weather_now(void)
{
    return atomic_load(&weather.phase);
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

/* ---- decks ------------------------------------------------------------- */

/* A number of cards that are dealt in random order, and then anew. */
struct deck {
    unsigned cards[BLOWS], count, dealt;
};

static void shuffle(struct deck *deck, unsigned *state)
{
    for (unsigned n = deck->count; n > 1; n--) {
        unsigned other = storm_draw(state, n);
        unsigned card = deck->cards[n - 1];

        deck->cards[n - 1] = deck->cards[other];
        deck->cards[other] = card;
    }
    deck->dealt = 0;
}

static struct deck new_deck(unsigned count, unsigned *state)
{
    struct deck deck = { .count = count };

    for (unsigned n = 0; n < count; n++) {
        deck.cards[n] = n;
    }
    shuffle(&deck, state);
    return deck;
}

static unsigned deal(struct deck *deck, unsigned *state)
{
    if (deck->dealt == deck->count) {
        shuffle(deck, state);
    }
    return deck->cards[deck->dealt++];
}

/* ---- the hand that strikes ---------------------------------------------- */

/* Without them a call that is not ended, and a superseded primary that gets
   writes, would go unnoticed. */
static bool is_needed(unsigned blow)
{
    return blow == BLOW_HANG || blow == BLOW_SUPERSEDE;
}

/* Those first, while each group still has its leaf. */
static unsigned put_first(struct deck *deck)
{
    unsigned first = 0;

    for (unsigned n = 0; n < deck->count; n++) {
        unsigned card = deck->cards[n];

        if (is_needed(card)) {
            deck->cards[n] = deck->cards[first];
            deck->cards[first++] = card;
        }
    }
    return first;
}

static void strike_once(enum blow blow, bool alone, unsigned *state)
{
    static const char *const names[BLOWS] = {
        "crash",   "failover", "pause", "hang", "supersede", "hand over",
        "standby", "group",    "flap",  "two",  "move",
    };
    unsigned group = storm_draw(state, STORM_GROUPS);
    bool compares = blow == BLOW_PAUSE || blow == BLOW_HANG;
    double begin;

    lock_if(alone, &weather.last);
    lock_if(compares, &weather.quiet);
    begin = trouble_now();
    weather_phase(WEATHER_CHANGES);
    if (!blow_strike(blow, group, state)) {
        weather.failed++;
    }
    unlock_if(compares, &weather.quiet);
    unlock_if(alone, &weather.last);
    weather.sums.blows[blow]++;
    printf("# %6.0f ms: %s, group of n%u: %.0f ms\n", begin, names[blow],
           group + 1, trouble_now() - begin);
}

/* What is compared with: for a while nothing happens, and nobody has anything
   left to get over, as a back-off. */
static void breathe(void)
{
    enum { OVER_MS = 4000, CALM_MS = 5000 };

    pthread_mutex_lock(&weather.quiet);
    weather_rest(OVER_MS);
    weather_phase(WEATHER_CALM);
    weather_rest(CALM_MS);
    weather_phase(WEATHER_CHANGES);
    pthread_mutex_unlock(&weather.quiet);
}

/* Nobody is kept away from an instance by the other hand when there must be
   somebody inside. */
static void *strike(void *unused)
{
    enum { REST_LEAST = 300, REST_MORE = 1200 };
    unsigned state = weather.seed;
    struct deck deck = new_deck(BLOWS, &state);
    unsigned needed = put_first(&deck);

    (void)unused;
    for (unsigned turn = 0; turn < needed || !atomic_load(&weather.over);
         turn++) {
        enum blow blow = (enum blow)deal(&deck, &state);

        if (turn % BLOWS == 0) {
            breathe();
        }
        strike_once(blow, blow == BLOW_TWO || turn < needed, &state);
        weather_rest(REST_LEAST + storm_draw(&state, REST_MORE));
    }
    return NULL;
}

/* ---- the hand that meddles ----------------------------------------------- */

/* Anybody, or somebody whom strict sessions are after. */
static unsigned choose_instance(bool anybody, unsigned *state)
{
    unsigned leaf = storm_draw(state, STORM_LEAVES);

    return anybody ? storm_draw(state, STORM_INSTANCES)
                   : chronicle_ruler(REIGN_PRIMARY,
                                     chronicle_ruler(REIGN_LEAF, leaf));
}

static void *meddle(void *unused)
{
    enum { MEDDLED_MS = 500 }; /* until its effects are over */
    unsigned state = weather.seed ^ 0x5bd1e995u;
    struct deck deck = new_deck(MEDDLES, &state);

    (void)unused;
    for (unsigned turn = 0; !atomic_load(&weather.over); turn++) {
        bool anybody = turn >= MEDDLES && storm_draw(&state, 3) == 0;
        enum meddle what = (enum meddle)deal(&deck, &state);

        weather_rest(300 + storm_draw(&state, 4000));
        lock_if(meddle_closes(what), &weather.last);
        pthread_mutex_lock(&weather.quiet);
        weather.failed +=
            !meddle_with(what, choose_instance(anybody, &state), &state);
        weather.sums.meddles[what]++;
        storm_rest(MEDDLED_MS);
        pthread_mutex_unlock(&weather.quiet);
        unlock_if(meddle_closes(what), &weather.last);
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
    blow_begin(fleet);
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
