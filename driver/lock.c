/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Ranked mutexes, monotonic conditions, the clock, and the count of forks.
 * Knows nothing of what the locks guard.
 *
 * Fork: the few process-wide locks are taken in rank order before a fork and
 * released on both sides, so that a child finds the lists behind them whole.
 * Locks inside fleets and sessions are not taken: the child forgets those
 * objects (they belong to its parent) and never touches their locks.
 */
#include "autoconf.h"

#include "lock.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define FORK_LOCKS_MAX 16

static struct {
    struct {
        struct mutex *m;
        enum lock_rank rank;
    } held[FORK_LOCKS_MAX]; /* in rank order */
    unsigned n;
} forks;

_Atomic uint32_t lock_forks, lock_news;

#ifdef AFF_DEBUG
/* Bit r: this thread holds a lock of rank r. */
static _Thread_local uint32_t ranks_held;

void lock_check_held(const struct mutex *m)
{
    if (!m->held || !pthread_equal(m->owner, pthread_self())) {
        abort();
    }
}

void lock_check_none(void)
{
    if (ranks_held) {
        abort();
    }
}

static void note_taken(struct mutex *m)
{
    if (ranks_held >> m->rank) {
        abort(); /* a lock of this or a higher rank is held already */
    }
    ranks_held |= UINT32_C(1) << m->rank;
    m->owner = pthread_self();
    m->held = true;
}

static void note_released(struct mutex *m)
{
    mutex_assert_held(m);
    ranks_held &= ~(UINT32_C(1) << m->rank);
    m->held = false;
}
#else
#define note_taken(m) ((void)0)
#define note_released(m) ((void)0)
#endif

void mutex_init(struct mutex *m, enum lock_rank rank)
{
    /* an assignment and no call of pthread_mutex_init(): a statement has
       five */
    m->m = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
#ifdef AFF_DEBUG
    m->rank = rank;
    m->held = false;
#else
    (void)rank;
#endif
}

void mutex_destroy(struct mutex *m)
{
    pthread_mutex_destroy(&m->m);
}

void mutex_lock(struct mutex *m)
{
    pthread_mutex_lock(&m->m);
    note_taken(m);
}

void mutex_unlock(struct mutex *m)
{
    note_released(m);
    pthread_mutex_unlock(&m->m);
}

unsigned lock_stripe(void)
{
    int cpu = sched_getcpu();

    return cpu < 0 ? 0 : (unsigned)cpu % LOCK_STRIPES;
}

void cond_init(struct cond *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->c, &attr);
    pthread_condattr_destroy(&attr);
}

void cond_destroy(struct cond *c)
{
    pthread_cond_destroy(&c->c);
}

void cond_signal(struct cond *c)
{
    pthread_cond_signal(&c->c);
}

void cond_broadcast(struct cond *c)
{
    pthread_cond_broadcast(&c->c);
}

bool cond_wait(struct cond *c, struct mutex *m, uint64_t until)
{
    int rc;

    note_released(m);
    if (until == UINT64_MAX) {
        rc = pthread_cond_wait(&c->c, &m->m);
    } else {
        struct timespec ts = {
            .tv_sec = (time_t)(until / 1000000000),
            .tv_nsec = (long)(until % 1000000000),
        };
        rc = pthread_cond_timedwait(&c->c, &m->m, &ts);
    }
    note_taken(m);
    return rc != ETIMEDOUT;
}

uint64_t clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint32_t clock_backoff_ms(uint32_t before)
{
    enum { FIRST_MS = 1000, MOST_MS = 30000 };

    return before == 0             ? FIRST_MS
           : before >= MOST_MS / 2 ? MOST_MS
                                   : before * 2;
}

uint64_t clock_jitter_ns(uint32_t ms, uint64_t seed)
{
    return (uint64_t)ms * (80 + seed % 41) / 100 * NS_PER_MS;
}

void news_tell(void)
{
    atomic_fetch_add_explicit(&lock_news, 1, memory_order_release);
}

/* ---- forks --------------------------------------------------------------- */

static struct {
    struct mutex mutex; /* held over a fork: nobody goes in meanwhile */
    _Atomic uint32_t inside;
} foreign = { .mutex = MUTEX_INITIALIZER(LOCK_FORK) };

void lock_fork_waits(void)
{
    mutex_lock(&foreign.mutex);
    atomic_fetch_add(&foreign.inside, 1);
    mutex_unlock(&foreign.mutex);
}

void lock_fork_goes_on(void)
{
    atomic_fetch_sub(&foreign.inside, 1);
}

static void await_foreign(void)
{
    static const struct timespec nap = { .tv_nsec = 200000 };
    uint64_t until = clock_ns() + FORK_PATIENCE_MS * NS_PER_MS;

    while (atomic_load(&foreign.inside) > 0 && clock_ns() < until) {
        nanosleep(&nap, NULL);
    }
}

static void before_fork(void)
{
    for (unsigned i = 0; i < forks.n; i++) {
        mutex_lock(forks.held[i].m);
    }
    await_foreign();
}

static void release_after_fork(void)
{
    for (unsigned i = forks.n; i-- > 0;) {
        mutex_unlock(forks.held[i].m);
    }
}

static void in_child(void)
{
    atomic_fetch_add_explicit(&lock_forks, 1, memory_order_relaxed);
    news_tell();
    atomic_store(&foreign.inside, 0); /* the parent's */
    release_after_fork();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, release_after_fork, in_child);
    lock_keep_over_fork(&foreign.mutex, LOCK_FORK);
}

void lock_keep_over_fork(struct mutex *m, enum lock_rank rank)
{
    unsigned i = forks.n++;

    assert(forks.n <= FORK_LOCKS_MAX);
    for (; i > 0 && forks.held[i - 1].rank > rank; i--) {
        forks.held[i] = forks.held[i - 1];
    }
    forks.held[i].m = m;
    forks.held[i].rank = rank;
}
