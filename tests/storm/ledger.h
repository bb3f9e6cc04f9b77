/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The rows that the riders have inserted, and what they were told of each.
 * At the end the instances are asked, and every row must be there as often as
 * was said: once if it was acknowledged, never if it was refused, at most once
 * if its outcome was said to be unknown.
 *
 * Each rider has pages of its own, which nobody else writes.
 */
#ifndef STORM_LEDGER_H
#define STORM_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

enum outcome {
    ROW_UNKNOWN, /* the error said so; or nobody said anything */
    ROW_DONE,    /* acknowledged */
    ROW_REFUSED, /* for certain not done */
    ROW_OUTCOMES
};

struct row {
    unsigned key; /* customer_id; its leaf follows from it */
    enum outcome outcome;
    double begun, ended; /* what decided the outcome: sent, answered */
    unsigned found;      /* so often at the end */
};

/* A new row of this rider, its outcome unknown; its id is what goes into the
   column amount. */
long long ledger_open(unsigned rider, unsigned key);
struct row *ledger_row(long long id); /* NULL: it is none of ours */

/* What became of it. */
void ledger_close(long long id, enum outcome outcome, double begun,
                  double ended);

/* The latest acknowledged one of this rider with its time, or 0. */
long long ledger_latest(unsigned rider);

/* Asks the present primaries for all rows; false: one could not be asked. */
bool ledger_count(void);

struct ledger_sums {
    unsigned rows[ROW_OUTCOMES];
    unsigned unknown_there; /* of the unknown ones */
    unsigned lost;          /* acknowledged, not there: failures */
    unsigned gone;          /* likewise, but with their primary */
    unsigned doubled;       /* more than once */
    unsigned ghosts;        /* refused, but there */
    unsigned strange;       /* there, but nobody's */
    char error[900];        /* of the first failure */
};
void ledger_sum(struct ledger_sums *sums);

#endif
