/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Taking turns: real threads, of which one at a time has the turn.  NULL has
 * it while the test decides.  One that has ended waits to be used again.
 */
#include "autoconf.h"

#include "sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <utlist.h>

#include "keeper.h"
#include "keeper_clock.h"
#include "lock.h"

enum state { READY, WAITING, ENDED };

struct lane {
    unsigned limit;
    bool closed;
};

struct sim_thread {
    pthread_t thread;
    pthread_cond_t go;
    void (*run)(void *arg);
    void *arg;
    enum state state;
    struct cond *on; /* WAITING */
    const struct job *job; /* it is at; NULL = at none */
    struct lane *lane; /* whose that is, since then */
    uint64_t since;
    uint64_t until;
    bool woken;
    struct sim_thread *prev, *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t back;
    struct sim_thread *turn;
    struct sim_thread *threads, *unused;
    struct job *jobs;
    uint64_t now;
    bool refuses;
    uint64_t wake; /* the keeper's clock's next round; UINT64_MAX = none */
} sim = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .back = PTHREAD_COND_INITIALIZER,
    .now = UINT64_C(1000000) * NS_PER_MS,
    .wake = UINT64_MAX,
};

static _Thread_local struct sim_thread *self;

static void yield(void)
{
    pthread_mutex_lock(&sim.lock);
    sim.turn = NULL;
    pthread_cond_signal(&sim.back);
    while (sim.turn != self) {
        pthread_cond_wait(&self->go, &sim.lock);
    }
    pthread_mutex_unlock(&sim.lock);
}

static void *begin(void *arg)
{
    self = arg;
    pthread_mutex_lock(&sim.lock);
    while (sim.turn != self) {
        pthread_cond_wait(&self->go, &sim.lock);
    }
    pthread_mutex_unlock(&sim.lock);
    for (;;) {
        self->run(self->arg);
        self->state = ENDED;
        yield();
    }
    return NULL;
}

static struct sim_thread *make_thread(void)
{
    struct sim_thread *thread = calloc(1, sizeof *thread);

    pthread_cond_init(&thread->go, NULL);
    if (pthread_create(&thread->thread, NULL, begin, thread) != 0) {
        fprintf(stderr, "no thread\n");
        abort();
    }
    pthread_detach(thread->thread);
    return thread;
}

struct sim_thread *sim_start(void (*run)(void *arg), void *arg)
{
    struct sim_thread *thread = sim.unused;

    if (thread) {
        DL_DELETE(sim.unused, thread);
    } else {
        thread = make_thread();
    }
    thread->run = run;
    thread->arg = arg;
    thread->state = READY;
    DL_APPEND(sim.threads, thread);
    return thread;
}

bool sim_runnable(const struct sim_thread *thread)
{
    return thread->state == READY || thread->woken ||
           thread->until <= sim.now;
}

unsigned sim_runnables(void)
{
    struct sim_thread *thread;
    unsigned n = 0;

    DL_FOREACH(sim.threads, thread) {
        n += sim_runnable(thread);
    }
    return n;
}

/* May it begin, or does its lane run as many as it may? */
static bool may_begin(const struct job *job)
{
    const struct sim_thread *thread;
    unsigned running = 0;

    DL_FOREACH(sim.threads, thread) {
        running += thread->lane == job->lane &&
                   sim.now - thread->since < KEEPER_OVERDUE_MS * NS_PER_MS;
    }
    return running < job->lane->limit;
}

unsigned sim_jobs(void)
{
    struct job *job;
    unsigned n = 0;

    DL_FOREACH(sim.jobs, job) {
        n += may_begin(job);
    }
    return n;
}

unsigned sim_queued(void)
{
    struct job *job;
    unsigned n = 0;

    DL_COUNT(sim.jobs, job, n);
    return n;
}

unsigned sim_has(const struct job *job)
{
    const struct sim_thread *thread;
    const struct job *queued;
    unsigned n = 0;

    DL_FOREACH(sim.threads, thread) {
        n += thread->job == job;
    }
    DL_FOREACH(sim.jobs, queued) {
        n += queued == job;
    }
    return n;
}

unsigned sim_threads(void)
{
    struct sim_thread *thread;
    unsigned n = 0;

    DL_COUNT(sim.threads, thread, n);
    return n;
}

static void resume(struct sim_thread *thread)
{
    pthread_mutex_lock(&sim.lock);
    sim.turn = thread;
    pthread_cond_signal(&thread->go);
    while (sim.turn) {
        pthread_cond_wait(&sim.back, &sim.lock);
    }
    pthread_mutex_unlock(&sim.lock);
    if (thread->state == ENDED) {
        DL_DELETE(sim.threads, thread);
        DL_PREPEND(sim.unused, thread);
    }
}

void sim_run(unsigned n)
{
    struct sim_thread *thread;

    DL_FOREACH(sim.threads, thread) {
        if (sim_runnable(thread) && n-- == 0) {
            resume(thread);
            return;
        }
    }
}

static void free_if_done(struct lane *lane)
{
    const struct sim_thread *thread;
    const struct job *job;

    if (!lane->closed) {
        return;
    }
    DL_FOREACH(sim.threads, thread) {
        if (thread->lane == lane) {
            return;
        }
    }
    DL_FOREACH(sim.jobs, job) {
        if (job->lane == lane) {
            return;
        }
    }
    free(lane);
}

static void run_job(void *arg)
{
    struct job *job = arg;
    struct lane *lane = self->lane = job->lane;

    self->since = sim.now;
    self->job = job;
    job->run(job);
    self->job = NULL;
    self->lane = NULL;
    free_if_done(lane);
}

void sim_run_job(unsigned n)
{
    struct job *job;

    DL_FOREACH(sim.jobs, job) {
        if (may_begin(job) && n-- == 0) {
            DL_DELETE(sim.jobs, job);
            job->queued = false;
            resume(sim_start(run_job, job));
            return;
        }
    }
}

void sim_pause(void)
{
    if (self) {
        self->state = READY;
        yield();
    }
}

uint64_t sim_next(void)
{
    struct sim_thread *thread;
    uint64_t next = UINT64_MAX;

    DL_FOREACH(sim.threads, thread) {
        if (thread->state == WAITING && thread->until < next) {
            next = thread->until;
        }
    }
    return next;
}

uint64_t sim_now(void)
{
    return sim.now;
}

void sim_set_now(uint64_t now)
{
    sim.now = now;
}

uint64_t sim_wake(void)
{
    uint64_t wake = sim.wake;

    sim.wake = UINT64_MAX;
    return wake;
}

void sim_accept(bool accept)
{
    sim.refuses = !accept;
}

/* ---- lock.c's clock and conditions ---------------------------------------------- */

uint64_t __wrap_clock_ns(void);
bool __wrap_cond_wait(struct cond *c, struct mutex *m, uint64_t until);
void __wrap_cond_signal(struct cond *c);
void __wrap_cond_broadcast(struct cond *c);

uint64_t __wrap_clock_ns(void)
{
    return sim.now;
}

bool __wrap_cond_wait(struct cond *c, struct mutex *m, uint64_t until)
{
    if (!self) {
        fprintf(stderr, "the test itself would wait\n");
        abort();
    }
    self->state = WAITING;
    self->on = c;
    self->until = until;
    self->woken = false;
    mutex_unlock(m);
    yield();
    mutex_lock(m);
    self->state = READY;
    self->on = NULL;
    return self->woken;
}

static void wake(struct cond *c, bool all)
{
    struct sim_thread *thread;

    DL_FOREACH(sim.threads, thread) {
        if (thread->state == WAITING && thread->on == c && !thread->woken) {
            thread->woken = true;
            if (!all) {
                return;
            }
        }
    }
}

void __wrap_cond_signal(struct cond *c)
{
    wake(c, false);
}

void __wrap_cond_broadcast(struct cond *c)
{
    wake(c, true);
}

/* ---- the keeper --------------------------------------------------------------------- */

struct lane *lane_new(void)
{
    struct lane *lane = calloc(1, sizeof *lane);

    lane->limit = KEEPER_LANE_MAX;
    return lane;
}

void lane_close(struct lane *lane)
{
    if (lane) {
        lane->closed = true;
        free_if_done(lane);
    }
}

void lane_limit(struct lane *lane, unsigned most)
{
    lane->limit = most;
}

void lane_doubt(struct lane *lane, bool doubtful)
{
    (void)lane;
    (void)doubtful;
}

void lane_give_way(struct lane *lane)
{
    (void)lane; /* there are threads enough */
}

uint64_t lane_busy_since(const struct lane *lane)
{
    const struct sim_thread *thread;
    uint64_t since = 0;

    DL_FOREACH(sim.threads, thread) {
        if (thread->lane == lane && (!since || thread->since < since)) {
            since = thread->since;
        }
    }
    return since;
}

bool keeper_withdraw(struct job *job)
{
    bool queued = job->queued;

    if (queued) {
        DL_DELETE(sim.jobs, job);
        job->queued = false;
    }
    return queued;
}

bool keeper_submit(struct lane *lane, struct job *job)
{
    if (sim.refuses) {
        return false;
    }
    job->lane = lane;
    job->queued = true;
    DL_APPEND(sim.jobs, job);
    return true;
}

bool keeper_finish(uint64_t until)
{
    (void)until;
    return sim_queued() == 0;
}

void keeper_figures(struct keeper_figures *out)
{
    *out = (struct keeper_figures){ .queued = sim_queued() };
}

/* ---- the keeper's clock --------------------------------------------------------------- */

static keeper_round *clock_round;

void keeper_clock_set(keeper_round *round)
{
    clock_round = round;
}

uint64_t sim_round(uint64_t now)
{
    return clock_round(now);
}

void keeper_clock_wake(uint64_t at)
{
    sim.wake = clock_earlier(sim.wake, at);
}

bool keeper_clock_stop(uint64_t until)
{
    (void)until;
    return true;
}
