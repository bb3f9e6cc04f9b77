/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "event.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "keeper_clock.h"
#include "lock.h"
#include "text.h"

struct events {
    char *where;         /* fixed, as most; "": there is no log */
    enum log_level most; /* is the last that is logged */
    struct mutex lock;   /* LOCK_EVENTS; guards what follows */
    struct event *ring;  /* number n stands at n % EVENTS_KEPT */
    uint64_t said;       /* the latest's number; 0 = none */
    uint64_t written;    /* up to this one; changed by whoever writes, whose
                            own is: */
    bool troubled;       /* the log could not be written, and it was said */
};

struct events *events_new(const char *where, enum log_level most)
{
    struct events *events = calloc(1, sizeof *events);

    if (!events) {
        return NULL;
    }
    mutex_init(&events->lock, LOCK_EVENTS);
    events->most = most;
    events->where = strdup(where);
    events->ring = calloc(EVENTS_KEPT, sizeof *events->ring);
    if (!events->where || !events->ring) {
        events_free(events);
        return NULL;
    }
    return events;
}

void events_free(struct events *events)
{
    if (events) {
        if (events->where && events->ring) {
            events_write(events);
        }
        mutex_destroy(&events->lock);
        free(events->where);
        free(events->ring);
        free(events);
    }
}

/* Is it for the log?  Errors to information are kept in any case. */
static bool is_logged(const struct events *events, enum log_level level)
{
    return *events->where && level <= events->most;
}

static void make_one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = ' ';
        }
    }
}

/* Cuts what snprintf() has cut between two characters, and trailing blanks. */
static void make_whole(char *text)
{
    size_t length = strlen(text), at = 0;

    while (at < length) {
        uint32_t point;
        size_t n = text_decode(text + at, length - at, &point);

        if (point == 0xfffd && n == 1 && length - at < 4 &&
            length == EVENT_TEXT - 1) {
            break;
        }
        at += n;
    }
    while (at > 0 && text[at - 1] == ' ') {
        at--;
    }
    text[at] = '\0';
}

void event_say(struct events *events, enum log_level level, const char *who,
               const char *format, ...)
{
    bool logged = events && is_logged(events, level);
    struct event event = { .level = level };
    va_list arguments;

    if (!events || (level == LOG_IS_DEBUG && !logged)) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(event.text, sizeof event.text, format, arguments);
    va_end(arguments);
    make_one_line(event.text);
    make_whole(event.text);
    snprintf(event.who, sizeof event.who, "%s", who ? who : "");
    clock_gettime(CLOCK_REALTIME, &event.at);
    mutex_lock(&events->lock);
    event.number = ++events->said;
    events->ring[event.number % EVENTS_KEPT] = event;
    mutex_unlock(&events->lock);
    if (logged) {
        keeper_clock_wake(0);
    }
}

/* The first that is still kept. */
static uint64_t first_locked(const struct events *events)
{
    mutex_assert_held(&events->lock);
    return events->said > EVENTS_KEPT ? events->said - EVENTS_KEPT + 1 : 1;
}

/* Those from number `from` on; NULL: none, or out of memory. */
static struct event *copy_locked(const struct events *events, uint64_t from,
                                 size_t *count)
{
    uint64_t first = first_locked(events);
    struct event *copy = NULL;

    mutex_assert_held(&events->lock);
    *count = 0;
    first = first > from ? first : from;
    if (events->said >= first) {
        copy = calloc((size_t)(events->said - first + 1), sizeof *copy);
    }
    for (uint64_t n = first; copy && n <= events->said; n++) {
        copy[(*count)++] = events->ring[n % EVENTS_KEPT];
    }
    return copy;
}

struct event *events_copy(struct events *events, size_t *count)
{
    struct event *copy;

    mutex_lock(&events->lock);
    copy = copy_locked(events, 1, count);
    mutex_unlock(&events->lock);
    return copy;
}

void event_time(const struct event *event, struct text *out)
{
    struct tm tm;
    char date[32];

    gmtime_r(&event->at.tv_sec, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    text_appendf(out, "%s.%03ldZ", date, event->at.tv_nsec / 1000000);
}

static void append_line(const struct events *events,
                        const struct event *event, struct text *lines)
{
    if (!log_is_syslog(events->where)) {
        event_time(event, lines);
        text_appendf(lines, " odbc-affinity[%ld] %s ", (long)getpid(),
                     log_level_word(event->level));
    }
    text_appendf(lines, "%s%s%s\n", event->who, *event->who ? ": " : "",
                 event->text);
}

/* Once until it works again, and where SHOW AFFINITY EVENTS tells it. */
static void note_trouble(struct events *events, int error)
{
    bool said = events->troubled;

    events->troubled = error != 0;
    if (error && !said) {
        event_say(events, LOG_IS_ERROR, NULL,
                  "the log cannot be written, and events are missing in it: "
                  "%s: %s", events->where, strerror(error));
    }
}

/* Lines of one level in a row go out in one piece. */
static void write_all(struct events *events, const struct event *list,
                      size_t count, struct text *lines)
{
    for (size_t i = 0; i < count; i++) {
        if (is_logged(events, list[i].level)) {
            append_line(events, &list[i], lines);
        }
        if (lines->length &&
            (i + 1 == count || list[i + 1].level != list[i].level)) {
            bool ok = log_write(events->where, list[i].level,
                                text_string(lines), lines->length);

            note_trouble(events, ok ? 0 : errno);
            text_clear(lines);
        }
    }
}

static void write_list(struct events *events, const struct event *list,
                       size_t count)
{
    uint64_t missing = list[0].number - events->written - 1;
    struct text lines;

    text_init(&lines);
    if (missing) {
        text_appendf(&lines, "%llu events were too many to be logged\n",
                     (unsigned long long)missing);
    }
    mutex_lock(&events->lock);
    events->written = list[count - 1].number;
    mutex_unlock(&events->lock);
    write_all(events, list, count, &lines);
    text_free(&lines);
}

bool events_are_waiting(struct events *events)
{
    bool waiting;

    mutex_lock(&events->lock);
    waiting = *events->where && events->said > events->written;
    mutex_unlock(&events->lock);
    return waiting;
}

/* NULL: there is nothing more. */
static struct event *next_list(struct events *events, size_t *count)
{
    struct event *list;

    mutex_lock(&events->lock);
    list = copy_locked(events, events->written + 1, count);
    mutex_unlock(&events->lock);
    return list;
}

void events_write(struct events *events)
{
    struct event *list;
    size_t count;

    while (*events->where && (list = next_list(events, &count))) {
        write_list(events, list, count);
        free(list);
    }
}
