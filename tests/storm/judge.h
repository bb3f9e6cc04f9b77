/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who breaks the rules (rule.h), and who could have.  What happened to a
 * session is excused only by what the chronicle says of that time.
 */
#ifndef STORM_JUDGE_H
#define STORM_JUDGE_H

#include <stdbool.h>

#include "../trouble.h"
#include "ledger.h"
#include "rule.h"

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

/* A statement begins, now: what is returned. */
double judge_begin(const struct ride *ride);
/* So many are at it, on this instance. */
unsigned judge_inside(unsigned instance);

/* A call that began at `from` on an instance that hangs has ended when it has
   taken so many ms, by what is known until `to`.  A fleet that is late itself
   blames nobody, and gives the instance its time again. */
double judge_patience(double from, double to);

/* A statement has ended, well or not, begun at `begin`.  `wrote`: it was
   acknowledged, and what it wrote stays. */
void judge_call(const struct ride *ride, const char *sql, bool wrote,
                double begin);

/* A call has failed with this first record, begun at `begin`.  Returns what
   became of a write that it was, sent by itself. */
enum outcome judge_failure(struct ride *ride, const char *record,
                           const char *sql, double begin);

/* SQLDisconnect, begun then, returned so. */
void judge_return(const struct ride *ride, bool good, const char *record,
                  double begin);

#endif
