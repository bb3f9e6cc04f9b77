/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * OpenMetrics text, and the file it stands in (keyword Metrics).  What is in
 * it is watch_metrics_text.c's business.
 *
 * The text is read by Prometheus's text parser as well, and so by the textfile
 * collector of its node_exporter, for which there are no types but these two;
 * of counters, whose samples have another name than their family, it knows
 * none.
 */
#ifndef METRICS_H
#define METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <sys/types.h>

#include "why.h"

struct text;

/* ---- the text ------------------------------------------------------------ */

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER };

/* Begins a family, which is called odbc_affinity_<name>.  Samples of one family
   stand together. */
void metrics_family(struct text *out, const char *name,
                    enum metrics_type type, const char *help);

/* value NULL: it has no such label. */
struct metrics_label {
    const char *name, *value;
};

/* A sample of the family: number / 10^decimals (9 at most). */
void metrics_sample(struct text *out, const char *name,
                    enum metrics_type type, const struct metrics_label *labels,
                    size_t count, uint64_t number, unsigned decimals);

void metrics_end(struct text *out);

/* ---- the file ------------------------------------------------------------ */

/* Is Metrics' value a file that can be written?  "" is: nothing is.
   False: why. */
bool metrics_check(const char *where, struct why *why);

/* Appends the path of this process's file: in `where`, %p stands for its id. */
void metrics_append_path(struct text *out, const char *where);

/* Which file it was that metrics_write() wrote. */
struct metrics_mark {
    bool is;
    dev_t device;
    ino_t inode;
    struct timespec written;
};

/* Replaces the file by this text, so that whoever reads sees the one or the
   other as a whole.  One thread of the process at a time; may wait for a disk.
   False: it could not be done; errno tells. */
bool metrics_write(const char *where, const struct text *text,
                   struct metrics_mark *mark);

/* Removes the file if it still is the one that was written. */
void metrics_remove(const char *where, struct metrics_mark *mark);

#endif
