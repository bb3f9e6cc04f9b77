/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Those who are out in the storm: threads that connect at random keys, in
 * random modes, look where they are, read and write, and disconnect.
 */
#ifndef STORM_RIDER_H
#define STORM_RIDER_H

#include <stdbool.h>

#include "weather.h"

struct rider_sums {
    unsigned served[3], refused[3]; /* sessions in hint, prefer, strict */
    double slowest[3];              /* ms: a connect that was served */
    unsigned unlearnt;              /* strict, by rules §2.2a */
    unsigned cut;                   /* sessions that died */
    unsigned failed;                /* statements, otherwise */
    /* connects at keys of others than the paused one, ms: 99.9th percentile
       and how many, in calm weather and while one hangs */
    double calm, paused;
    unsigned calm_count, paused_count;
};

/* fleet: the beginning of connection strings. */
void riders_begin(const char *fleet, unsigned seed);
void riders_end(struct rider_sums *sums);

#endif
