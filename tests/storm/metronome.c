/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "metronome.h"

#include "../trouble.h"
#include "storm.h"

#include <pthread.h>
#include <stdatomic.h>

enum { TICK_MS = 2, BEATS = 1 << 15, CHAIN = 4 };

/* Beats that were late, in a ring. */
static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    atomic_bool over;
    struct {
        double due, came;
    } beats[BEATS];
    unsigned long count;
    double due; /* the next one */
    double worst;
} metronome = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note(double due, double came)
{
    double late = came - due;

    pthread_mutex_lock(&metronome.lock);
    if (late > 1) {
        metronome.beats[metronome.count % BEATS].due = due;
        metronome.beats[metronome.count++ % BEATS].came = came;
    }
    metronome.worst = late > metronome.worst ? late : metronome.worst;
    metronome.due = trouble_now() + TICK_MS;
    pthread_mutex_unlock(&metronome.lock);
}

static void *beat(void *unused)
{
    (void)unused;
    while (!atomic_load(&metronome.over)) {
        double due = trouble_now() + TICK_MS;

        storm_rest(TICK_MS);
        note(due, trouble_now());
    }
    return NULL;
}

void metronome_begin(void)
{
    atomic_store(&metronome.over, false);
    metronome.due = trouble_now() + TICK_MS;
    pthread_create(&metronome.thread, NULL, beat, NULL);
}

void metronome_end(void)
{
    atomic_store(&metronome.over, true);
    pthread_join(metronome.thread, NULL);
}

double metronome_grants(double from, double to)
{
    unsigned long n;
    double late;

    pthread_mutex_lock(&metronome.lock);
    late = to - metronome.due; /* it may be sleeping too long just now */
    for (n = metronome.count; n > 0 && metronome.count - n < BEATS; n--) {
        double due = metronome.beats[(n - 1) % BEATS].due;
        double came = metronome.beats[(n - 1) % BEATS].came;

        if (came < from) {
            break;
        }
        if (due < to && came - due > late) {
            late = came - due;
        }
    }
    pthread_mutex_unlock(&metronome.lock);
    return late > 0 ? CHAIN * late : 0;
}

double metronome_worst(void)
{
    return metronome.worst;
}
