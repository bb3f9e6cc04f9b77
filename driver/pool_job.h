/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the jobs on links are made of, and those that stand in a file of their
 * own: for pool_job.c and pool_probe.c, and nobody else.  On helper threads,
 * which retain the fleet meanwhile.
 */
#ifndef POOL_JOB_H
#define POOL_JOB_H

#include <stdbool.h>

#include "pool_inside.h"

/* A helper is at work on the link from now on. */
void pool_job_begins(struct link *link);

/* Opens it and hears who answers.  False: it could not be opened, and its
   instance, its unit and those whom the login is refused to know; what else
   there is to be said comes next, then pool_job_not_opened(). */
bool pool_job_open(struct link *link);

/* The end of a link that could not be opened: it is gone, and the units of
   every login go on by what is known now. */
void pool_job_not_opened(struct link *link);

/* Its instance has answered, and link->who is who it is. */
void pool_job_heard(struct link *link);

/* Asks for the topology; then the link is settled, or given up. */
void pool_job_learn(struct link *link);

/* The units of every login may go on. */
void pool_job_tell_all(struct fleet *fleet);

/* The link is ready: for the unit it was meant for, else for anybody.
   Locks: holds login->lock. */
void pool_job_settle_locked(struct link *link);

/* Closes a link that is of no use.  Others may have its room at once, however
   long the closing takes; so may the unit that it was validated for, which
   hears the error.  why: POOL_STAT_CLOSED_…, of one that is not CLOSING. */
void pool_job_give_up(struct link *link, enum pool_stat why,
                      const struct link_error *error);

/* ---- pool_probe.c -------------------------------------------------------- */

void pool_probe_run(struct job *job);
void pool_probe_run_open(struct job *job);

/* A link that was opened for a probe was refused, with a fault of the login's
   or the pool's: nobody tries again unasked. */
void pool_probe_refused(struct link *link, const struct link_error *error);

#endif
