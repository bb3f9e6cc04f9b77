/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * When each instance is probed, and for how long its answer is awaited.
 *
 * Every CheckInterval, or every 10 ms for each instance of the fleet if that
 * is longer, with ±20 % jitter; in between when somebody has cause to doubt
 * what is known, at most every quarter of that.  One that is down is tried by
 * its back-off, by opening a link.  With CheckInterval=0 only cause brings a
 * probe about, at most four a second; unused fleets are not probed at all.
 *
 * One probe at a time is awaited per instance.  One that does not answer in
 * time (CheckTimeout over a link, ConnectTimeout while one is opened) is left
 * to itself; another is begun in the same way only when the instance has
 * answered since, so that an instance that hangs keeps one helper thread of
 * ours per way, and never two.
 *
 * Probes under way are few, so that threads are left to sessions.  Those that
 * are awaited have places, some of which are kept for instances that are known
 * to answer and some for the others.  One that is given up leaves its place;
 * but when many have been, and their threads are still not back, there are
 * fewer places, and an instance that has one of these threads gets no second
 * one.  Only when as many instances hang as there are threads for probes is
 * nobody probed any more.
 */
#ifndef FLEET_PROBE_H
#define FLEET_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct fleet;

/* Over a link that is open, or over one that is opened for it. */
enum fleet_probe_way { FLEET_PROBE_ASKS, FLEET_PROBE_OPENS };

/* Whose place it has: of an instance that is known to answer, or not. */
enum fleet_probe_sort { FLEET_PROBE_KNOWN, FLEET_PROBE_DOUBTFUL };

/* Of one instance; guarded by fleet->lock, but the clock's thread, which begins
   it, may look at one that it has given up. */
struct fleet_probe {
    uint64_t due;    /* ns: of the next; 0 = not determined */
    uint64_t last;   /* ns: the latest was begun, or would have been */
    uint64_t number; /* of the latest; counts from 1 */
    bool awaited;    /* the latest is */
    bool slow;       /* and it was said that it is slow */
    enum fleet_probe_way way; /* of the latest, as */
    enum fleet_probe_sort sort;
    uint64_t running; /* ns: a helper thread is at it since; 0 = not yet */
    uint32_t left[2]; /* by way: given up and still under way */
    uint64_t left_at; /* ns: the latest of those was given up */
    bool unwelcome;  /* it refuses MonitorUID */
};

/* Somebody has cause to doubt what is known of i: it is probed soon.  Costs an
   atomic exchange when it was said before.  Locks: takes LOCK_CLOCK. */
void fleet_want_probe(struct fleet *fleet, uint32_t i);

/* What is to be done about i now. */
enum fleet_probe_step {
    FLEET_PROBE_WAIT,    /* nothing before *next (ns; UINT64_MAX = never) */
    FLEET_PROBE_DUE,     /* probe it, over an idle link rather than a new one */
    FLEET_PROBE_DUE_NEW, /* probe it, over a new link */
    FLEET_PROBE_SLOW,    /* the one that is awaited takes long: say so */
    FLEET_PROBE_LATE     /* it has been given up: it took too long */
};
/* used: the fleet is.  Locks: takes fleet->lock. */
enum fleet_probe_step fleet_probe_step(struct fleet *fleet, uint32_t i,
                                       bool used, uint64_t now,
                                       uint64_t *next);

/* When i may be tried by who seeks one that serves (watch_seek.c): ns; 0 =
   nobody has tried it yet; UINT64_MAX = not before something happens, since
   somebody is at it, hangs there, or it is not to be used.
   Locks: takes fleet->lock. */
uint64_t fleet_probe_seek_at(struct fleet *fleet, uint32_t i);

/* It was due and could not be begun, for want of a link or of room for one:
   when it is tried again (ns), a quarter of an interval later. */
uint64_t fleet_probe_put_off(struct fleet *fleet, uint32_t i, uint64_t now);

/* A probe is given to a helper thread: returns its number; 0: there is no
   place for it, and it is due again, with all others, when one is left.  On the
   clock's thread.  fleet_probe_runs() when the thread is at it,
   fleet_probe_ended() when it has an end, whatever that is; false: it had been
   given up.  Locks: take fleet->lock. */
uint64_t fleet_probe_begin(struct fleet *fleet, uint32_t i,
                           enum fleet_probe_way way);
void fleet_probe_runs(struct fleet *fleet, uint32_t i, uint64_t number);
bool fleet_probe_ended(struct fleet *fleet, uint32_t i, uint64_t number,
                       enum fleet_probe_way way);

/* MonitorUID is refused there, until somebody asks for it (REFRESH AFFINITY):
   fleet_probe_forgive().  Locks: take fleet->lock. */
void fleet_probe_unwelcome(struct fleet *fleet, uint32_t i);
bool fleet_probe_is_unwelcome(struct fleet *fleet, uint32_t i);
void fleet_probe_forgive(struct fleet *fleet);

/* ms: how often each instance is probed; 0 = only with cause. */
uint32_t fleet_probe_interval(const struct fleet *fleet);

#endif
