/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "keeper_clock.h"

#include <pthread.h>

#include "environment.h"
#include "keeper.h"
#include "keeper_thread.h"
#include "lock.h"

static struct {
    struct mutex lock;
    struct cond moved; /* next has been moved, or the end has come */
    struct cond ended; /* a round has */
    keeper_round *round;
    uint64_t next;    /* ns; UINT64_MAX = none is wanted */
    bool running;     /* there is a thread */
    bool rounding;    /* it makes a round */
    bool stopped;
} ticker = { .lock = MUTEX_INITIALIZER(LOCK_CLOCK), .next = UINT64_MAX };

/* The child has no thread; who uses a fleet there wakes a new one. */
static void forget_in_child(void)
{
    ticker.next = UINT64_MAX;
    ticker.running = ticker.rounding = ticker.stopped = false;
    cond_init(&ticker.moved);
    cond_init(&ticker.ended);
}

__attribute__((constructor)) static void set_up(void)
{
    cond_init(&ticker.moved);
    cond_init(&ticker.ended);
    lock_keep_over_fork(&ticker.lock, LOCK_CLOCK);
    pthread_atfork(NULL, NULL, forget_in_child);
}

void keeper_clock_set(keeper_round *round)
{
    ticker.round = round;
}

/* Locks: LOCK_CLOCK is held, and released during the round. */
static void make_round_locked(uint64_t now)
{
    uint64_t next;

    mutex_assert_held(&ticker.lock);
    ticker.next = UINT64_MAX;
    ticker.rounding = true;
    mutex_unlock(&ticker.lock);
    next = ticker.round(now);
    mutex_lock(&ticker.lock);
    ticker.rounding = false;
    ticker.next = clock_earlier(ticker.next, next);
    cond_broadcast(&ticker.ended);
}

static void *tick(void *unused)
{
    uint64_t idle_since = clock_ns();

    (void)unused;
    environment_deny();
    mutex_lock(&ticker.lock);
    for (;;) {
        uint64_t now = clock_ns();
        uint64_t until = ticker.next;

        if (!ticker.stopped && now >= until) {
            make_round_locked(now);
            idle_since = clock_ns();
            continue;
        }
        if (until == UINT64_MAX) {
            until = idle_since + KEEPER_IDLE_MS * NS_PER_MS;
            if (now >= until && !ticker.stopped) {
                break;
            }
        }
        /* at exit it sleeps and does not end, like the crew (keeper.h) */
        cond_wait(&ticker.moved, &ticker.lock,
                  ticker.stopped ? UINT64_MAX : until);
    }
    ticker.running = false;
    mutex_unlock(&ticker.lock);
    return NULL;
}

void keeper_clock_wake(uint64_t at)
{
    mutex_lock(&ticker.lock);
    if (ticker.round && !ticker.stopped) {
        if (at < ticker.next) {
            ticker.next = at;
            cond_signal(&ticker.moved);
        }
        if (!ticker.running) {
            ticker.running = keeper_thread_start(tick);
        }
    }
    mutex_unlock(&ticker.lock);
}

bool keeper_clock_stop(uint64_t until)
{
    bool done;

    mutex_lock(&ticker.lock);
    ticker.stopped = true;
    cond_signal(&ticker.moved);
    while (ticker.rounding && cond_wait(&ticker.ended, &ticker.lock, until)) {
    }
    done = !ticker.rounding;
    mutex_unlock(&ticker.lock);
    return done;
}
