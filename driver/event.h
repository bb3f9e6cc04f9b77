/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What has happened to a fleet: the latest EVENTS_KEPT events, for SHOW
 * AFFINITY EVENTS, and on their way into the log (keywords Log, LogLevel).
 * One line each; nothing that happens at each call or each session is one
 * above "debug", and none holds a secret.
 *
 * An event costs its caller a few words of memory: a helper thread writes the
 * log (fleet_log.h), so that nobody waits for a disk, or for whoever reads
 * stderr.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "log.h"

enum { EVENTS_KEPT = 256, EVENT_TEXT = 240, EVENT_WHO = 64 };

struct events;

struct event {
    uint64_t number; /* the fleet's first is 1 */
    struct timespec at; /* of the calendar, CLOCK_REALTIME */
    enum log_level level;
    char who[EVENT_WHO]; /* the instance; "": the fleet */
    char text[EVENT_TEXT];
};

/* where, most: Log and LogLevel; where is not kept.  NULL: out of memory. */
struct events *events_new(const char *where, enum log_level most);

/* Writes what is still to be written.  NULL is fine. */
void events_free(struct events *events);

/* One that nobody would see (debug, while LogLevel is less) costs a
   comparison.  Blanks stand for line ends and other controls; what is longer
   than EVENT_TEXT is cut.  events NULL: nobody listens.  who: an instance's
   name, or NULL.  Locks: takes LOCK_EVENTS, and LOCK_CLOCK where it is logged;
   those of lower rank may be held. */
void event_say(struct events *events, enum log_level level, const char *who,
               const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Copies the events that are kept, oldest first, into an array of *count that
   the caller frees; NULL with *count 0: none, or out of memory. */
struct event *events_copy(struct events *events, size_t *count);

/* Appends "2026-11-30T12:07:47.123Z", in UTC. */
struct text;
void event_time(const struct event *event, struct text *out);

/* Is there anything to be written to the log? */
bool events_are_waiting(struct events *events);

/* Writes it, with all that comes meanwhile.  By one at a time, who sees to that
   himself (fleet_disk.h).  May wait for a disk; no lock may be held. */
void events_write(struct events *events);

#endif
