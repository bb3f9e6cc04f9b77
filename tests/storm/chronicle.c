/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "chronicle.h"

#include "../trouble.h"
#include "storm.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 20000 };

struct entry {
    unsigned kind, of, who;
    double from, to;
};

struct book {
    struct entry entries[ENTRIES];
    unsigned count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct book spells, reigns, losses;

static unsigned add_locked(struct book *book, unsigned kind, unsigned of,
                           unsigned who, double from, double to)
{
    if (book->count == ENTRIES) {
        fprintf(stderr, "the chronicle is full\n");
        abort();
    }
    book->entries[book->count] = (struct entry){ kind, of, who, from, to };
    return book->count++;
}

static bool touches(const struct entry *e, double from, double to)
{
    return e->from <= to && e->to >= from;
}

/* ---- spells ---------------------------------------------------------- */

unsigned chronicle_begin(enum spell kind, unsigned of)
{
    unsigned number;

    pthread_mutex_lock(&lock);
    number = add_locked(&spells, kind, of, 0, trouble_now(), INFINITY);
    pthread_mutex_unlock(&lock);
    return number;
}

void chronicle_end(unsigned number)
{
    pthread_mutex_lock(&lock);
    spells.entries[number].to = trouble_now();
    pthread_mutex_unlock(&lock);
}

bool chronicle_was(enum spell kind, unsigned of, double from, double to)
{
    bool was = false;

    pthread_mutex_lock(&lock);
    for (unsigned n = spells.count; n > 0 && !was; n--) {
        const struct entry *e = &spells.entries[n - 1];
        was = e->kind == kind && e->of == of && touches(e, from, to);
    }
    pthread_mutex_unlock(&lock);
    return was;
}

bool chronicle_stayed(enum spell kind, unsigned of, double from, double to)
{
    bool stayed = false;

    pthread_mutex_lock(&lock);
    for (unsigned n = spells.count; n > 0 && !stayed; n--) {
        const struct entry *e = &spells.entries[n - 1];
        stayed =
            e->kind == kind && e->of == of && e->from <= from && e->to >= to;
    }
    pthread_mutex_unlock(&lock);
    return stayed;
}

/* ---- reigns ---------------------------------------------------------- */

static void crown_locked(enum reign kind, unsigned of, unsigned who)
{
    add_locked(&reigns, kind, of, who, trouble_now(), INFINITY);
}

void chronicle_crown(enum reign kind, unsigned of, unsigned who)
{
    pthread_mutex_lock(&lock);
    crown_locked(kind, of, who);
    pthread_mutex_unlock(&lock);
}

void chronicle_claim(enum reign kind, unsigned of, unsigned who)
{
    chronicle_crown(kind, of, who);
}

void chronicle_settle(enum reign kind, unsigned of, unsigned who)
{
    double now = trouble_now();
    bool found = false;

    pthread_mutex_lock(&lock);
    for (unsigned n = 0; n < reigns.count; n++) {
        struct entry *e = &reigns.entries[n];

        if (e->kind != kind || e->of != of || e->to < now) {
            continue;
        }
        if (e->who != who || found) {
            e->to = now;
        } else {
            found = true;
        }
    }
    pthread_mutex_unlock(&lock);
}

bool chronicle_reigned(enum reign kind, unsigned of, unsigned who, double from,
                       double to)
{
    bool was = false;

    pthread_mutex_lock(&lock);
    for (unsigned n = reigns.count; n > 0 && !was; n--) {
        const struct entry *e = &reigns.entries[n - 1];
        was = e->kind == kind && e->of == of && e->who == who &&
              touches(e, from, to);
    }
    pthread_mutex_unlock(&lock);
    return was;
}

unsigned chronicle_ruler(enum reign kind, unsigned of)
{
    unsigned who = STORM_NOBODY;

    pthread_mutex_lock(&lock);
    for (unsigned n = 0; n < reigns.count && who == STORM_NOBODY; n++) {
        const struct entry *e = &reigns.entries[n];
        if (e->kind == kind && e->of == of && isinf(e->to)) {
            who = e->who;
        }
    }
    pthread_mutex_unlock(&lock);
    return who;
}

/* ---- losses ---------------------------------------------------------- */

void chronicle_loss(unsigned group, double safe)
{
    pthread_mutex_lock(&lock);
    add_locked(&losses, 0, group, 0, safe, trouble_now());
    pthread_mutex_unlock(&lock);
}

bool chronicle_lost(unsigned group, double from, double to)
{
    bool lost = false;

    pthread_mutex_lock(&lock);
    for (unsigned n = 0; n < losses.count && !lost; n++) {
        lost = losses.entries[n].of == group &&
               touches(&losses.entries[n], from, to);
    }
    pthread_mutex_unlock(&lock);
    return lost;
}

/* ---- words ----------------------------------------------------------- */

const char *chronicle_say(double from, double to)
{
    static const char *const words[SPELLS] = {
        "away",
        "trouble in group of",
        "closed",
        "drained",
        "shut",
        "culled",
        "moving",
        "hangs",
        "a rival in group of",
    };
    static _Thread_local char out[900];
    size_t used = 0;

    out[0] = '\0';
    pthread_mutex_lock(&lock);
    for (unsigned n = 0; n < spells.count; n++) {
        const struct entry *e = &spells.entries[n];
        bool leaf = e->kind == SPELL_MOVING || e->kind == SPELL_TROUBLE ||
                    e->kind == SPELL_RIVAL;

        /* and what ended shortly before */
        if (touches(e, from - 3000, to) && used < sizeof out - 80) {
            used += (size_t)snprintf(
                out + used, sizeof out - used, "[%s %s %+.0f..%+.0f ms] ",
                words[e->kind], storm_name(leaf ? 2 * e->of : e->of),
                e->from - from, isinf(e->to) ? 99999 : e->to - from);
        }
    }
    pthread_mutex_unlock(&lock);
    return out;
}
