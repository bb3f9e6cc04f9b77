/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Mutexes with a rank.  A thread takes locks in rising rank only; debug
 * builds (--enable-debug) check rank and owner at each step and abort on a
 * breach, since that is a fault of ours; release builds are plain pthreads.
 * Conditions wait on CLOCK_MONOTONIC.
 *
 * Locks are held for a fraction of what going to sleep costs, so a thread that
 * finds one taken looks again for a moment before it sleeps (adaptive).
 *
 * The lock table with what each rank guards stands in HACKING.md.
 */
#ifndef LOCK_H
#define LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum lock_rank {
    LOCK_NONE,
    LOCK_ENV,
    LOCK_DBC,
    LOCK_FLEETS,  /* the list of all fleets */
    LOCK_DRAINS,  /* the list of what is drained */
    LOCK_FILE,    /* a fleet's map file: who wants it read */
    LOCK_LOGIN,   /* a login's pools and waiters */
    LOCK_SHELF,   /* one shelf of links that were given back */
    LOCK_FLEET,   /* instances' health and identity, the list of logins */
    LOCK_TOPOLOGY, /* a fleet's answers and map */
    LOCK_CLOCK,   /* when the keeper's next round is due */
    LOCK_KEEPER,  /* the queue of the helper threads */
    LOCK_INNER,   /* the list of loaded inner drivers */
    LOCK_INI,     /* libodbcinst's files; iniparser */
    LOCK_EVENTS,  /* a fleet's latest events */
    LOCK_SOCKET,  /* the duplicates of links' sockets */
    LOCK_NOTE,    /* what the session that holds a link does with it */
    LOCK_FORK,    /* who begins what a fork waits for */
    LOCK_DIAG,    /* one handle's records */
    LOCK_RANKS
};

struct mutex {
    pthread_mutex_t m;
#ifdef AFF_DEBUG
    enum lock_rank rank;
    pthread_t owner;
    bool held;
#endif
};

#ifdef AFF_DEBUG
#define MUTEX_INITIALIZER(r) \
    { PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, (r), 0, false }
#else
#define MUTEX_INITIALIZER(r) { PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP }
#endif

void mutex_init(struct mutex *m, enum lock_rank rank);
void mutex_destroy(struct mutex *m);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);

#ifdef AFF_DEBUG
/* What the two below do in a debug build: abort on a breach. */
void lock_check_held(const struct mutex *m);
void lock_check_none(void);
#endif

/* Asserts that this thread holds m: the first statement of each function whose
   name ends in _locked. */
static inline void mutex_assert_held(const struct mutex *m)
{
#ifdef AFF_DEBUG
    lock_check_held(m);
#else
    (void)m;
#endif
}

/* Asserts that this thread holds no lock of ours: stands before each call into
   the inner driver (promise 8). */
static inline void lock_assert_none(void)
{
#ifdef AFF_DEBUG
    lock_check_none();
#endif
}

/* What all threads write goes to and fro between their processors, which costs
   more than most of what is done with it.  So of some things there are
   LOCK_STRIPES, each with its lock and on cache lines of its own; lock_stripe()
   says which of them to use, by the processor the thread is on just now.  That
   may change at any time: any of them must do. */
enum { LOCK_STRIPES = 16, LOCK_APART = 128 /* bytes: two lines */ };
unsigned lock_stripe(void);

struct cond {
    pthread_cond_t c;
};

void cond_init(struct cond *c);
void cond_destroy(struct cond *c);
void cond_signal(struct cond *c);
void cond_broadcast(struct cond *c);

/* Waits until woken (possibly spuriously) or until clock_ns() >= until;
   until = UINT64_MAX waits for ever.  False: the time is up.
   Locks: m is held on entry and on return, and released meanwhile. */
bool cond_wait(struct cond *c, struct mutex *m, uint64_t until);

/* Monotonic time in nanoseconds. */
uint64_t clock_ns(void);

#define NS_PER_MS UINT64_C(1000000)

static inline uint64_t clock_earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How long to leave alone what has failed: 1 s, then twice as long as before
   each time, up to 30 s.  before: ms, 0 = it has not failed till now. */
uint32_t clock_backoff_ms(uint32_t before);

/* ns: so long, less or more by up to 20 %, lest all who wait come back at
   once.  seed: any number. */
uint64_t clock_jitter_ns(uint32_t ms, uint64_t seed);

/* Has a process-wide lock taken before each fork and released on both sides,
   so that the child finds what it guards whole.  Called from a constructor
   only (no thread exists yet); at most 16 locks. */
void lock_keep_over_fork(struct mutex *m, enum lock_rank rank);

/* Around a call of a helper's that takes locks which are not ours and are left
   taken in a child that is forked meanwhile (psqlODBC's connect reads odbc.ini
   under libodbcinst's, which the child's own connects need): a fork waits for
   its end, but no longer than FORK_PATIENCE_MS, since it may hang.
   Only what of ours the call needs may lie between.  Locks: none may be
   held. */
enum { FORK_PATIENCE_MS = 100 };
void lock_fork_waits(void);
void lock_fork_goes_on(void);

/* How many forks lie between this process and the one that loaded us: what
   was made under another count belongs to a parent.  One atomic load. */
extern _Atomic uint32_t lock_forks;

static inline uint32_t fork_count(void)
{
    return atomic_load_explicit(&lock_forks, memory_order_relaxed);
}

/* Counts what makes a handle look again whether it may still be used: a fork,
   links that sessions have lost.  A forwarded call compares it with what its
   handle has seen, so this is inline, and hidden lest its address be looked up
   first. */
extern __attribute__((visibility("hidden"))) _Atomic uint32_t lock_news;

static inline uint32_t news_count(void)
{
    return atomic_load_explicit(&lock_news, memory_order_relaxed);
}

/* There is some; what it is about has been written before. */
void news_tell(void);

#endif
