/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The rules that hold all the time, how often they were broken, and how often
 * there was occasion to: a storm in which a rule was never tried says nothing
 * of it, and fails.  Any thread.
 */
#ifndef STORM_RULE_H
#define STORM_RULE_H

#include <stdbool.h>

enum rule {
    RULE_STRICT,   /* strict is on an owner by the map of the time */
    RULE_WRITE,    /* who may write is on a primary that is not superseded */
    RULE_SERVED,   /* hint, prefer and no key are served */
    RULE_REFUSED,  /* strict is refused only while its owner is in trouble */
    RULE_CLOSED,   /* nothing new where it is drained or disabled */
    RULE_WHERE,    /* a session is where it says */
    RULE_CUT,      /* a session dies only with its instance */
    RULE_ERROR,    /* a statement fails only by trouble */
    RULE_UNKNOWN,  /* a link that dies with a write: the error says whether it
                      was done, or that nobody knows */
    RULE_TWICE,    /* no statement is run twice */
    RULE_READ,     /* what was acknowledged is read */
    RULE_DEADLINE, /* connecting ends in time */
    RULE_HUNG,     /* a call that hangs inside is ended in time */
    RULE_RETURN,   /* disconnecting waits for nobody */
    RULES
};

/* A breach, with what is to be said of it; the first few are kept. */
void rule_broken(enum rule rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* There was occasion to break it. */
void rule_tried(enum rule rule);
void rule_tried_if(enum rule rule, bool is);

/* Has there been occasion to break each of them?  For trouble_await(). */
bool rule_tried_all(void *unused);

/* A TAP result for each rule: nobody broke it, and it was tried. */
void rule_report(void);

#endif
