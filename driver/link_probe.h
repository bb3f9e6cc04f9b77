/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What an instance says of itself when it is probed: who it is, where its log
 * is, and how busy it is, in one round trip.
 */
#ifndef LINK_PROBE_H
#define LINK_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "link.h"

enum { LINK_PROBE_EXTRA = 64 };

/* What it does not say is 0. */
struct link_probe {
    bool poor;           /* it did not say all that its kind asks for: this
                            login may not read it, or it is an older one */
    struct link_error why_poor; /* its words; state "": nothing was refused */
    uint64_t latency;    /* ns: of the round trip, as its caller saw it */
    uint64_t position;   /* bytes of log: written by a primary, replayed by a
                            standby */
    uint32_t backends, backends_max; /* connections, and how many it takes */
    uint64_t active_ms;  /* since any moment, of all sessions together: at work
                            in a statement or idle in a transaction */
    uint64_t commits;    /* since any moment */
    uint64_t started;    /* ms, by its own clock: since when it runs */
    bool extra_told;     /* the extra column was part of it */
    char extra[LINK_PROBE_EXTRA]; /* its value; "": NULL */
};

/* Probes over an open, clean link and fills link->who as link_validate() does,
   if the kind can ask for it.  extra: one more expression of the kind's SQL,
   or NULL; where it is refused the rest is answered without it.  What a link
   was refused once it is not asked for again: errors fill the server's log; but
   what failed for want of time or memory is (link_is_refusal()).
   False: the link is to be closed; error says why.  Time is not bounded here.
   On a helper thread, no lock held. */
bool link_probe(struct link *link, const char *extra, struct link_probe *probe,
                struct link_error *error);

#endif
