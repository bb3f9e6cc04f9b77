/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The rules that hold all the time, and who breaks them.  What happened to a
 * session is excused only by what the chronicle says of that time.
 */
#ifndef STORM_JUDGE_H
#define STORM_JUDGE_H

#include <stdbool.h>

#include "../trouble.h"
#include "ledger.h"

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
void judge_breach(enum rule rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A TAP result for each rule. */
void judge_report(void);

/* One session from its connect to its disconnect. */
struct ride {
    unsigned rider, leaf, key;
    bool keyed, strict, writes;
    struct trouble_try t; /* as it connected */
    double begin;         /* of the connect; 0: not yet */
    unsigned at;          /* instance; STORM_NOBODY */
    bool local;           /* the leaf is a table of its own there */
    bool lost;            /* its link died */
};

enum { JUDGE_WHERE_MAX = 100 };
/* The question that judge_where() takes the answer of. */
void judge_question(const struct ride *ride, char *sql, size_t size);

/* How connecting went, begin to now.  False: no session. */
bool judge_connect(struct ride *ride);
/* Where it really is. */
void judge_where(struct ride *ride, const char *answer);

/* A call has failed with this first record, begun at `begin`.  Returns what
   became of a write that it was, sent by itself. */
enum outcome judge_failure(struct ride *ride, const char *record,
                           const char *sql, double begin);

/* SQLDisconnect, begun then, returned so. */
void judge_return(const struct ride *ride, bool good, const char *record,
                  double begin);

#endif
