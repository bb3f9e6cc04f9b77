/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The helper threads: starting them, giving them the jobs of the lanes in
 * turn, letting them end.  What the jobs do is their owners' business.
 *
 * A lane's allowance shrinks as threads get scarce, and the last quarter of
 * them is for lanes in which nothing runs, overdue or not: an instance that
 * hangs, however much is queued for it, leaves them to those that answer, and
 * so does a disk, however many fleets have files on it (lane_give_way()).  The
 * last eighth is for lanes that are not in doubt, since hundreds of instances
 * may hang at once in a lane each.
 *
 * Fork: threads do not survive it; the child starts with an empty crew and
 * no lanes (they belong to fleets of the parent, which the child forgets).
 */
#include "autoconf.h"

#include "environment.h"
#include "keeper.h"
#include "keeper_thread.h"
#include "lock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <utlist.h>

/* A thread's present job. */
struct shift {
    uint64_t since;
    pid_t tid;
    struct lane *lane;
    struct shift *prev, *next;
};

struct lane {
    struct job *queued;
    unsigned waiting; /* their number */
    unsigned running;
    unsigned limit;   /* of running, if the crew's allowance is not less */
    bool listed; /* in crew.lanes: has work queued */
    bool closed;
    bool doubtful, answers; /* lane_doubt() has said so; or neither */
    bool gives_way; /* to others, when threads get scarce */
    struct lane *prev, *next;
};

static struct {
    struct mutex lock;
    struct cond work;  /* something was queued */
    struct cond quiet; /* nothing is queued or running */
    struct lane *lanes; /* with work queued, next to be served first */
    struct shift *shifts;
    unsigned threads;
    unsigned idle; /* of them, those without a job, or still starting */
    unsigned queued, running;
    unsigned doubtful; /* of those running, in lanes that are */
    unsigned answering; /* lanes that are that */
    bool finished;
} crew = { .lock = MUTEX_INITIALIZER(LOCK_KEEPER) };

static void forget_in_child(void)
{
    crew.lanes = NULL;
    crew.shifts = NULL;
    crew.threads = crew.idle = crew.queued = crew.running = 0;
    crew.doubtful = crew.answering = 0;
    crew.finished = false;
    cond_init(&crew.work);
    cond_init(&crew.quiet);
}

__attribute__((constructor)) static void set_up(void)
{
    cond_init(&crew.work);
    cond_init(&crew.quiet);
    lock_keep_over_fork(&crew.lock, LOCK_KEEPER);
    pthread_atfork(NULL, NULL, forget_in_child);
}

/* How many jobs a lane may run at once. */
static unsigned allowance(void)
{
    if (crew.running < KEEPER_THREADS_MAX / 2) {
        return KEEPER_LANE_MAX;
    }
    return crew.running < KEEPER_THREADS_MAX * 3 / 4 ? 2 : 1;
}

static bool overdue(const struct shift *s, uint64_t now)
{
    return now - s->since >= KEEPER_OVERDUE_MS * NS_PER_MS;
}

/* Do those in doubt have all the threads that they may have? */
static bool are_doubtful_enough(void)
{
    return crew.answering > 0 && crew.doubtful >= KEEPER_DOUBTFUL_MAX;
}

/* How many more jobs of this lane may run now. */
static unsigned lane_room(const struct lane *lane, uint64_t now)
{
    const struct shift *s;
    unsigned n = lane->running, most = allowance();

    if ((lane->doubtful && are_doubtful_enough()) ||
        (lane->gives_way && crew.running >= KEEPER_THREADS_MAX * 3 / 4)) {
        return 0;
    }
    most = lane->limit < most ? lane->limit : most;
    if (n >= most && crew.running < KEEPER_THREADS_MAX * 3 / 4) {
        DL_FOREACH(crew.shifts, s) {
            n -= s->lane == lane && overdue(s, now);
        }
    }
    return n < most ? most - n : 0;
}

static void unqueue_locked(struct job *job)
{
    struct lane *lane = job->lane;

    mutex_assert_held(&crew.lock);
    DL_DELETE(lane->queued, job);
    job->queued = false;
    lane->waiting--;
    crew.queued--;
    if (!lane->queued) {
        DL_DELETE(crew.lanes, lane);
        lane->listed = false;
    }
}

/* The next job that may run, taken out of its lane; NULL: none. */
static struct job *next_job_locked(uint64_t now)
{
    struct lane *lane;

    mutex_assert_held(&crew.lock);
    DL_FOREACH(crew.lanes, lane) {
        if (lane_room(lane, now) > 0) {
            struct job *job = lane->queued;
            unqueue_locked(job);
            if (lane->listed) { /* the others first */
                DL_DELETE(crew.lanes, lane);
                DL_APPEND(crew.lanes, lane);
            }
            return job;
        }
    }
    return NULL;
}

/* Until when a thread without a job may sleep: while something is queued
   0.1 s, since a lane's jobs may have become overdue; else its own end, which
   does not come at exit. */
static uint64_t sleep_until(uint64_t now)
{
    if (crew.queued) {
        return now + 100 * NS_PER_MS;
    }
    return crew.finished ? UINT64_MAX : now + KEEPER_IDLE_MS * NS_PER_MS;
}

/* Without work for long enough; but the last one stays as long as something
   is queued, since nobody else would see it become possible. */
static bool may_end(uint64_t idle_since, uint64_t now)
{
    return now - idle_since >= KEEPER_IDLE_MS * NS_PER_MS &&
           (crew.queued == 0 || crew.idle > 1);
}

static bool start_thread_locked(void);

static void free_if_done(struct lane *lane)
{
    if (lane->closed && lane->running == 0 && !lane->queued) {
        crew.answering -= lane->answers;
        free(lane);
    }
}

/* Locks: LOCK_KEEPER is held, and released while the job runs. */
static void do_job_locked(struct job *job, uint64_t now)
{
    struct lane *lane = job->lane;
    struct shift shift = { .since = now, .tid = gettid(), .lane = lane };

    mutex_assert_held(&crew.lock);
    DL_APPEND(crew.shifts, &shift);
    crew.running++;
    lane->running++;
    crew.doubtful += lane->doubtful;
    mutex_unlock(&crew.lock);

    job->run(job);

    mutex_lock(&crew.lock);
    crew.running--;
    lane->running--;
    crew.doubtful -= lane->doubtful;
    DL_DELETE(crew.shifts, &shift);
    free_if_done(lane);
    if (crew.queued == 0 && crew.running == 0) {
        cond_broadcast(&crew.quiet);
    }
}

static void *work(void *unused)
{
    uint64_t idle_since = clock_ns();

    (void)unused;
    environment_deny();
    mutex_lock(&crew.lock);
    for (;;) {
        uint64_t now = clock_ns();
        struct job *job = next_job_locked(now);
        if (!job) {
            if (!crew.finished && may_end(idle_since, now)) {
                break;
            }
            cond_wait(&crew.work, &crew.lock, sleep_until(now));
            continue;
        }
        crew.idle--;
        if (crew.queued > 0 && crew.idle == 0) {
            start_thread_locked(); /* somebody must watch the queue */
        }
        do_job_locked(job, now);
        crew.idle++;
        idle_since = clock_ns();
    }
    crew.idle--;
    crew.threads--;
    mutex_unlock(&crew.lock);
    return NULL;
}

/* False: none can be had; those that exist have to do. */
static bool start_thread_locked(void)
{
    mutex_assert_held(&crew.lock);
    if (crew.threads >= KEEPER_THREADS_MAX || crew.finished ||
        !keeper_thread_start(work)) {
        return false;
    }
    crew.threads++;
    crew.idle++;
    return true;
}

/* Is there work for more than the idle threads?  What waits in a lane that
   hangs is none. */
static bool threads_wanted(uint64_t now)
{
    const struct lane *lane;
    unsigned jobs = 0;

    DL_FOREACH(crew.lanes, lane) {
        unsigned room = lane_room(lane, now);
        jobs += lane->waiting < room ? lane->waiting : room;
        if (jobs > crew.idle) {
            return true;
        }
    }
    return crew.idle == 0;
}

struct lane *lane_new(void)
{
    struct lane *lane = calloc(1, sizeof *lane);

    if (lane) {
        lane->limit = KEEPER_LANE_MAX;
    }
    return lane;
}

/* More of them may begin than before. */
static void look_again_locked(const struct lane *lane)
{
    mutex_assert_held(&crew.lock);
    if (lane->listed && threads_wanted(clock_ns())) {
        start_thread_locked();
    }
    cond_broadcast(&crew.work);
}

void lane_limit(struct lane *lane, unsigned most)
{
    mutex_lock(&crew.lock);
    if (lane->limit != most) {
        lane->limit = most;
        look_again_locked(lane);
    }
    mutex_unlock(&crew.lock);
}

void lane_doubt(struct lane *lane, bool doubtful)
{
    mutex_lock(&crew.lock);
    if (lane->doubtful != doubtful) {
        lane->doubtful = doubtful;
        crew.doubtful += doubtful ? lane->running : -lane->running;
        crew.answering += !doubtful - lane->answers;
        lane->answers = !doubtful;
        look_again_locked(lane);
    }
    mutex_unlock(&crew.lock);
}

void lane_give_way(struct lane *lane)
{
    mutex_lock(&crew.lock);
    lane->gives_way = true;
    mutex_unlock(&crew.lock);
}

void lane_close(struct lane *lane)
{
    if (lane) {
        mutex_lock(&crew.lock);
        lane->closed = true;
        free_if_done(lane);
        mutex_unlock(&crew.lock);
    }
}

uint64_t lane_busy_since(const struct lane *lane)
{
    const struct shift *s;
    uint64_t since = 0;

    mutex_lock(&crew.lock);
    DL_FOREACH(crew.shifts, s) { /* the oldest first */
        if (s->lane == lane && !since) {
            since = s->since;
        }
    }
    mutex_unlock(&crew.lock);
    return since;
}

bool keeper_submit(struct lane *lane, struct job *job)
{
    bool ok = true;

    mutex_lock(&crew.lock);
    if ((crew.threads == 0 && !start_thread_locked()) || crew.finished) {
        ok = false;
    } else {
        job->lane = lane;
        job->queued = true;
        DL_APPEND(lane->queued, job);
        if (!lane->listed) {
            lane->listed = true;
            DL_APPEND(crew.lanes, lane);
        }
        lane->waiting++;
        crew.queued++;
        if (threads_wanted(clock_ns())) {
            start_thread_locked();
        }
        cond_signal(&crew.work);
    }
    mutex_unlock(&crew.lock);
    return ok;
}

bool keeper_withdraw(struct job *job)
{
    bool queued;

    mutex_lock(&crew.lock);
    queued = job->queued;
    if (queued) {
        struct lane *lane = job->lane;
        unqueue_locked(job);
        free_if_done(lane);
        if (crew.queued == 0 && crew.running == 0) {
            cond_broadcast(&crew.quiet);
        }
    }
    mutex_unlock(&crew.lock);
    return queued;
}

/* True: nothing is queued or running. */
static bool await_quiet_locked(uint64_t until)
{
    mutex_assert_held(&crew.lock);
    while (crew.queued + crew.running > 0 &&
           cond_wait(&crew.quiet, &crew.lock, until)) {
    }
    return crew.queued + crew.running == 0;
}

bool keeper_await(uint64_t until)
{
    bool done;

    mutex_lock(&crew.lock);
    done = await_quiet_locked(until);
    mutex_unlock(&crew.lock);
    return done;
}

unsigned keeper_busy(pid_t tids[KEEPER_THREADS_MAX])
{
    const struct shift *s;
    unsigned n = 0;

    mutex_lock(&crew.lock);
    DL_FOREACH(crew.shifts, s) {
        if (n < KEEPER_THREADS_MAX) {
            tids[n++] = s->tid;
        }
    }
    mutex_unlock(&crew.lock);
    return n;
}

bool keeper_finish(uint64_t until)
{
    bool done;

    mutex_lock(&crew.lock);
    done = await_quiet_locked(until);
    crew.finished = true;
    mutex_unlock(&crew.lock);
    return done;
}

void keeper_figures(struct keeper_figures *out)
{
    const struct shift *s;
    uint64_t now = clock_ns();

    mutex_lock(&crew.lock);
    *out = (struct keeper_figures){
        .threads = crew.threads, .idle = crew.idle, .queued = crew.queued,
    };
    DL_FOREACH(crew.shifts, s) {
        out->overdue += overdue(s, now);
    }
    mutex_unlock(&crew.lock);
}
