/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What an instance's probes have told: how busy it is, and how far a standby is
 * behind its primary.  (How fast it answers is balancing's: balance_fact.h.)
 *
 * No two servers' clocks are compared (rules §7.6).  When a primary is asked
 * where its log is, the moment before is noted: whoever has replayed that much
 * on the same timeline holds all that was written until then.  A standby's lag
 * is the time since the latest such moment, so it is never told too small, and
 * seldom less than half an interval.
 */
#ifndef FLEET_FACTS_H
#define FLEET_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct fleet;
struct link_probe;

enum { FLEET_MARKS = 32 };

/* Where a primary's log was. */
struct fleet_mark {
    uint64_t at; /* ns: just before it was asked */
    uint64_t position;
    uint32_t timeline;
};

/* Of one instance; guarded by fleet->lock.  What is not known is 0. */
struct fleet_facts {
    uint64_t at;       /* ns: the latest answer */
    uint64_t position; /* bytes of log */
    bool extra;        /* the latest had an extra column to answer */
    uint32_t backends, backends_max;
    uint64_t active_ms, commits, started; /* as in struct link_probe */
    uint32_t active;        /* sessions at work at once between the latest two
                               answers, in thousandths */
    uint32_t commits_per_s; /* likewise */
    uint64_t fresh_at; /* ns: it holds what was written until then */
    uint32_t fresh_on; /* on this timeline */
    struct fleet_mark marks[FLEET_MARKS]; /* of a primary, the oldest first; the
                                             older, the farther apart */
    uint32_t mark_count;
};

/* Instance i has answered a probe that was sent at `asked` (ns); fleet_heard()
   has been told who it is.  Balancing is told how long it took and how much it
   has to bear.  Locks: takes fleet->lock. */
void fleet_probed(struct fleet *fleet, uint32_t i,
                  const struct link_probe *probe, uint64_t asked);

#endif
