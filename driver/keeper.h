/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The keeper's helper threads.  Every inner call made for our own purposes
 * (open, validate, reset, learn, cancel, close) runs on one of them, because
 * no ODBC means ends a call on an instance that hangs (rules §4.1): whoever
 * wants the result waits with a deadline of its own and may walk away.
 *
 * Jobs wait in lanes.  An instance has one lane per purpose, and a lane runs
 * only so many jobs at once, so that an instance that hangs keeps a few
 * threads and delays nobody else.  A job that has run for longer than
 * KEEPER_OVERDUE_MS no longer counts against its lane while threads are
 * plenty.  Within a lane, who came first begins first.  Lanes of instances that
 * nobody knows to answer are in doubt: however many those are, together they
 * leave some threads to those of instances that do, once there is one.
 *
 * Threads start on demand, at most KEEPER_THREADS_MAX; one without work for
 * KEEPER_IDLE_MS ends.  They block all signals (promise 7).
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

enum {
    KEEPER_THREADS_MAX = 64,
    KEEPER_IDLE_MS = 5000,
    KEEPER_OVERDUE_MS = 5000,
    KEEPER_LANE_MAX = 8, /* jobs of one lane at once, but for those overdue */
    KEEPER_DOUBTFUL_MAX = KEEPER_THREADS_MAX * 7 / 8 /* of lanes in doubt */
};

struct lane;

/* Embedded first in what the job is about.  run() is called once, on a
   helper thread, with no lock held, and may free the job: the keeper does not
   touch it afterwards. */
struct job {
    void (*run)(struct job *job);
    struct lane *lane;
    bool queued;             /* the keeper's, as the rest */
    struct job *prev, *next;
};

/* One per instance and purpose.  NULL: out of memory. */
struct lane *lane_new(void);

/* The owner will queue nothing more.  Jobs that are queued or running still
   run; the keeper frees the lane behind the last of them.  NULL is fine. */
void lane_close(struct lane *lane);

/* From now on at most so many of its jobs begin while others of it run, 1 to
   KEEPER_LANE_MAX; a new lane has KEEPER_LANE_MAX.
   Locks: takes LOCK_KEEPER. */
void lane_limit(struct lane *lane, unsigned most);

/* From now on it is in doubt, or it is not since its instance answers: as long
   as there is one of these, of all lanes in doubt no more than
   KEEPER_DOUBTFUL_MAX jobs run at once.  A new lane is neither.
   Locks: takes LOCK_KEEPER. */
void lane_doubt(struct lane *lane, bool doubtful);

/* Its jobs begin only while a quarter of the threads are free, whether any of
   them runs or not: they may hang, and that quarter is for others.
   Locks: takes LOCK_KEEPER. */
void lane_give_way(struct lane *lane);

/* ns: when the job of it began that has been running longest; 0 = none runs.
   Locks: takes LOCK_KEEPER. */
uint64_t lane_busy_since(const struct lane *lane);

/* Queues a job.  False: no thread can be had at all (none exists and none can
   be made, or the process is at exit); run() will not be called.
   Locks: takes LOCK_KEEPER; may be called with locks of lower rank held. */
bool keeper_submit(struct lane *lane, struct job *job);

/* Takes back a job that was queued and has not begun; run() will not be called.
   False: it has begun.  Locks: takes LOCK_KEEPER; the caller sees to it that
   the job is still there. */
bool keeper_withdraw(struct job *job);

/* Waits until no job is queued or running, or until clock_ns() >= until.  True:
   none is. */
bool keeper_await(uint64_t until);

/* The threads that run a job just now, as the kernel calls them.  Returns how
   many there are in tids[]. */
unsigned keeper_busy(pid_t tids[KEEPER_THREADS_MAX]);

/* Waits until no job is queued or running, or until clock_ns() >= until;
   afterwards nothing more is accepted.  For exit: threads sleep from then on
   and do not end, since what libraries do at the end of a thread must not
   meet what they do at exit.  True: all work is done. */
bool keeper_finish(uint64_t until);

/* Figures for SHOW AFFINITY and the tests. */
struct keeper_figures {
    unsigned threads, idle, queued, overdue;
};
void keeper_figures(struct keeper_figures *out);

#endif
