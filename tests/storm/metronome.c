/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "metronome.h"

#include "../trouble.h"
#include "storm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { TICK_MS = 2, WORK_MS = 6, WORK_TICKS = 50, BEATS = 1 << 15, CHAIN = 4 };

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

/* That this thread has had. */
static double processor_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

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

/* Longer than a thread that was asleep is let run at once. */
static void work(void)
{
    double due = trouble_now() + WORK_MS, end = processor_ms() + WORK_MS;

    pthread_mutex_lock(&metronome.lock);
    metronome.due = due;
    pthread_mutex_unlock(&metronome.lock);
    while (processor_ms() < end) {
    }
    note(due, trouble_now());
}

static void *beat(void *unused)
{
    (void)unused;
    for (unsigned n = 0; !atomic_load(&metronome.over); n++) {
        double due = trouble_now() + TICK_MS;

        storm_rest(TICK_MS);
        note(due, trouble_now());
        if (n % WORK_TICKS == 0) {
            work();
        }
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
