/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "weather.h"

#include "../odbc_tap.h"
#include "../trouble.h"
#include "ask.h"
#include "chronicle.h"
#include "storm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct {
    const char *fleet, *map;
    bool shut[STORM_INSTANCES]; /* as the map file says */
    pthread_t striking, shutting;
    unsigned seed;
    atomic_bool over;
    _Atomic int phase;
    struct weather_sums sums; /* each field one hand's, but for failed */
    _Atomic unsigned failed;
} weather = { .phase = WEATHER_CHANGES };

int weather_now(void)
{
    return atomic_load(&weather.phase);
}

void blow_phase(int phase)
{
    atomic_store(&weather.phase, phase);
}

/* So long, or until it is over. */
static void rest(unsigned ms)
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
    static const char *const names[BLOWS] = { "crash",     "failover",
                                              "pause",     "supersede",
                                              "hand over", "standby",
                                              "move" };
    unsigned state = weather.seed;
    enum blow deck[BLOWS];

    (void)unused;
    for (unsigned n = 0; n < BLOWS; n++) {
        deck[n] = (enum blow)n;
    }
    blow_phase(WEATHER_CALM);
    rest(CALM_BEGIN);
    for (unsigned turn = 0; !atomic_load(&weather.over); turn++) {
        unsigned group = storm_draw(&state, STORM_GROUPS);
        enum blow blow;
        double begin = trouble_now();

        if (turn % BLOWS == 0) {
            shuffle(deck, BLOWS, &state);
        }
        blow = deck[turn % BLOWS];
        blow_phase(WEATHER_CHANGES);
        if (!blow_strike(blow, group, &state)) {
            weather.failed++;
        }
        weather.sums.blows[blow]++;
        printf("# %6.0f ms: %s, group of n%u: %.0f ms\n", begin, names[blow],
               group + 1, trouble_now() - begin);
        blow_phase(WEATHER_CALM);
        rest(CALM_LEAST + storm_draw(&state, CALM_MORE));
    }
    return NULL;
}

/* ---- the hand that shuts ------------------------------------------------- */

/* A new file in the place of the old one. */
static bool write_map(void)
{
    char fresh[700];
    FILE *out;
    bool ok;

    snprintf(fresh, sizeof fresh, "%s.new", weather.map);
    out = fopen(fresh, "we");
    for (unsigned i = 0; out && i < STORM_INSTANCES; i++) {
        fprintf(out, "[%s-tcp]\nenabled = %s\n", storm_name(i),
                weather.shut[i] ? "no" : "yes");
    }
    ok = out && fclose(out) == 0 && rename(fresh, weather.map) == 0;
    weather.failed += !ok;
    return ok;
}

/* Some session says so; its own link may be one that dies just then. */
static bool say(const char *command, unsigned instance)
{
    struct answer answer = { .good = false };
    char sql[100];

    snprintf(sql, sizeof sql, "%s AFFINITY INSTANCE '%s-tcp'", command,
             storm_name(instance));
    for (int i = 0; i < 20 && !answer.good; i++) {
        SQLHDBC dbc = ask_open(weather.fleet, &answer);

        if (dbc) {
            answer = ask(dbc, sql);
            odbc_close(dbc);
        }
    }
    if (!answer.good) {
        weather.failed++;
        printf("# %s failed: %s\n", sql, answer.text);
    }
    return answer.good;
}

/* For a while; in force from the command's end on. */
static void drain(unsigned instance, unsigned ms)
{
    unsigned spell;

    if (say("DRAIN", instance)) {
        spell = chronicle_begin(SPELL_DRAINED, instance);
        rest(ms);
        chronicle_end(spell);
        weather.sums.drains++;
    }
    say("RESUME", instance);
}

static void shut(unsigned instance, unsigned ms)
{
    unsigned spell;

    weather.shut[instance] = true;
    write_map();
    spell = chronicle_begin(SPELL_SHUT, instance);
    rest(STORM_NOTICE + ms);
    chronicle_end(spell);
    weather.shut[instance] = false;
    write_map();
    weather.sums.shuts++;
}

/* Until the fleet has seen that it is over, sessions may be refused; that is
   another spell. */
static void *close_and_open(void *unused)
{
    unsigned state = weather.seed ^ 0x5bd1e995u;

    (void)unused;
    while (!atomic_load(&weather.over)) {
        unsigned instance = storm_draw(&state, STORM_INSTANCES);
        unsigned ms = 300 + storm_draw(&state, 2500), spell;
        bool drains = storm_draw(&state, 2) == 0;

        rest(500 + storm_draw(&state, 3000));
        spell = chronicle_begin(SPELL_CLOSED, instance);
        if (drains) {
            drain(instance, ms);
        } else {
            shut(instance, ms);
        }
        storm_rest(STORM_NOTICE);
        chronicle_end(spell);
    }
    return NULL;
}

/* ---- both ---------------------------------------------------------------- */

bool weather_clear(const char *fleet, const char *map)
{
    weather.fleet = fleet;
    weather.map = map;
    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        chronicle_crown(REIGN_PRIMARY, g, 2 * g);
    }
    for (unsigned l = 0; l < STORM_LEAVES; l++) {
        chronicle_crown(REIGN_LEAF, l, l);
    }
    return write_map();
}

void weather_begin(unsigned seed)
{
    weather.seed = seed;
    pthread_create(&weather.striking, NULL, strike, NULL);
    pthread_create(&weather.shutting, NULL, close_and_open, NULL);
}

void weather_end(struct weather_sums *sums)
{
    atomic_store(&weather.over, true);
    pthread_join(weather.striking, NULL);
    pthread_join(weather.shutting, NULL);
    blow_phase(WEATHER_CHANGES);
    *sums = weather.sums;
    sums->failed = weather.failed;
}
