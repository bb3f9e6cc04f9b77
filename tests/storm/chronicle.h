/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What really was, and when: who was in trouble, whose a leaf was, who was a
 * group's primary.  Written by those who make the weather, before they begin
 * and after they have ended; between the two it is either.  Read by those who
 * judge what happened to sessions.  Times are trouble_now()'s; any thread.
 */
#ifndef STORM_CHRONICLE_H
#define STORM_CHRONICLE_H

#include <stdbool.h>

/* ---- spells: something is not as it should be -------------------------- */

enum spell {
    SPELL_AWAY,    /* an instance does not serve, or may not */
    SPELL_TROUBLE, /* a group: its primary is away or changes */
    SPELL_CLOSED,  /* an instance: it is or was drained or shut */
    SPELL_DRAINED, /* an instance, by DRAIN; the word is given */
    SPELL_SHUT,    /* an instance, by the map file; the file is written */
    SPELL_CULLED,  /* an instance: some of its backends were ended */
    SPELL_MOVING,  /* a leaf */
    SPELL_HUNG,    /* an instance hangs for longer than STORM_HUNG */
    SPELL_RIVAL,   /* a group: one that is superseded answers as its primary,
                      and the fleet has seen it */
    SPELLS
};

/* It begins now; the number is for the end. */
unsigned chronicle_begin(enum spell kind, unsigned of);
void chronicle_end(unsigned number);

/* Was it so at any time between the two moments? */
bool chronicle_was(enum spell kind, unsigned of, double from, double to);

/* Was it so all the time between them? */
bool chronicle_stayed(enum spell kind, unsigned of, double from, double to);

/* ---- reigns: whose it is ------------------------------------------------ */

enum reign {
    REIGN_LEAF,    /* of a leaf: a group */
    REIGN_PRIMARY, /* of a group: an instance */
    REIGNS
};

/* Before the first: how it is. */
void chronicle_crown(enum reign kind, unsigned of, unsigned who);

/* It may go over to `who` from now on; it has, or it has not. */
void chronicle_claim(enum reign kind, unsigned of, unsigned who);
void chronicle_settle(enum reign kind, unsigned of, unsigned who);

/* Could it have been `who` at any time between the two moments? */
bool chronicle_reigned(enum reign kind, unsigned of, unsigned who, double from,
                       double to);

/* Who it is now, or was last certainly. */
unsigned chronicle_ruler(enum reign kind, unsigned of);

/* ---- losses: a group's primary went without its successor having all ---- */

/* All that was acknowledged before `safe` is with the successor; what was
   acknowledged from then until now may be gone. */
void chronicle_loss(unsigned group, double safe);

/* May a row that was acknowledged between the two moments be gone, if it was
   this group's? */
bool chronicle_lost(unsigned group, double from, double to);

/* The spells that touch these moments, in words, for reports; static to the
   thread. */
const char *chronicle_say(double from, double to);

#endif
