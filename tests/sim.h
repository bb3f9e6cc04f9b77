/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Threads that take turns.  A simulated thread runs until it waits on a
 * condition, pauses, or ends; then the test decides who goes on, which helper
 * job begins, and how late it is.  So a run is the same each time, and what
 * must hold between two turns can be looked at.
 *
 * It stands in for keeper_crew.c and keeper_clock.c, and for the clock and conditions of lock.c:
 * the program is linked with --wrap=clock_ns, cond_wait, cond_signal and
 * cond_broadcast.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct sim_thread;

/* A thread that will call run(arg) when it is its turn. */
struct sim_thread *sim_start(void (*run)(void *arg), void *arg);

/* May it go on: it has begun, was woken, or its time is up. */
bool sim_runnable(const struct sim_thread *thread);
unsigned sim_runnables(void);
unsigned sim_jobs(void); /* that may begin: their lanes run no more */
unsigned sim_queued(void); /* and those that may not yet */
unsigned sim_threads(void);

/* So many helpers have this job: it is queued, or one is at it. */
unsigned sim_has(const struct job *job);

/* Lets the n-th of those that may go on do so. */
void sim_run(unsigned n);

/* Begins the n-th job that was given to the keeper. */
void sim_run_job(unsigned n);

/* Gives up the turn, from inside a simulated thread. */
void sim_pause(void);

/* When the next thread's time is up; UINT64_MAX = never. */
uint64_t sim_next(void);
uint64_t sim_now(void);
void sim_set_now(uint64_t now);

/* When the keeper's clock was asked to make a round since the last call, at the
   earliest; UINT64_MAX = it was not. */
uint64_t sim_wake(void);

/* One round of the keeper's clock, if watch.c is in the program. */
uint64_t sim_round(uint64_t now);

/* From now on the keeper accepts (true) or refuses jobs. */
void sim_accept(bool accept);

#endif
