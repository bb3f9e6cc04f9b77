/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * THE DECISION: which instance serves this unit, and how it gets a link there.
 * Facts in, verdict out: no I/O, no clock (time is a field of the request), no
 * randomness (the seed is one), no lock, no allocation.  Only place.c asks.
 *
 * The order of the steps is the policy (design §6.2, rules §2); it stands in
 * route.c as one column.
 */
#ifndef ROUTE_H
#define ROUTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum route_mode { ROUTE_HINT, ROUTE_PREFER, ROUTE_STRICT };

/* In the order of config.def's words. */
enum route_balance {
    ROUTE_ADAPTIVE, ROUTE_PROPORTIONAL, ROUTE_SATURATION, ROUTE_OPERATIONAL,
    ROUTE_FAILOVER, ROUTE_ADAPTIVE_FAILOVER, ROUTE_FASTEST, ROUTE_RANDOM
};

enum route_role { ROUTE_ROLE_UNKNOWN, ROUTE_PRIMARY, ROUTE_STANDBY };
/* What leads to which: fleet_state.h. */
enum route_health {
    ROUTE_UNTRIED, ROUTE_UP, ROUTE_SUSPECT, ROUTE_DOWN, ROUTE_HEALTHS
};

/* What is timed of an instance, the most telling first: a question (a probe, a
   validation) costs it the same each time, a reset depends on what the session
   left behind, and opening is another matter altogether. */
enum route_call {
    ROUTE_CALL_ASK, ROUTE_CALL_RESET, ROUTE_CALL_OPEN, ROUTE_CALLS
};

struct route_pace {
    _Atomic uint64_t ns;    /* peak EWMA; 0 = never timed */
    _Atomic uint64_t until; /* ns: then that says nothing any more */
};

/* What the fleet knows of an instance.  Written by fleet*.c under its lock,
   but for what counts units, and read without one: each field stands for
   itself, and a verdict made from a mixture is corrected by the next look. */
struct route_member {
    _Atomic uint32_t group;    /* index of its group's first-listed member */
    _Atomic uint8_t health;    /* enum route_health */
    _Atomic uint8_t role;      /* enum route_role */
    _Atomic bool slow;         /* a call of ours to it is overdue */
    _Atomic bool starting;     /* it said last that it is not ready yet: not
                                  asked before retry_at, by anybody */
    _Atomic bool drained;      /* by DRAIN AFFINITY INSTANCE */
    _Atomic uint64_t retry_at; /* ns; down: not asked before; suspect: left
                                  alone before by who can go elsewhere */
    _Atomic uint64_t back_at;  /* ns: it is of use again; 0 = it always was */
    _Atomic uint32_t opening;  /* links, of all logins; counted by pool.c */
    uint64_t seed;             /* balance_target_seed() of its name */

    /* by the map file */
    _Atomic uint32_t weight;   /* 0 = last resort */
    _Atomic uint32_t pool_max; /* else PoolMax */
    _Atomic bool disabled, read_only;

    /* written through balance_fact.h, which says what they mean */
    _Atomic uint64_t violating_until; /* ns; 0 = within its limits */
    _Atomic uint32_t load_permille;
    _Atomic uint64_t load_until;  /* ns: then that says nothing any more */
    _Atomic uint64_t calm_ns;     /* what a question takes when all is well */
    struct route_pace pace[ROUTE_CALLS];
    uint64_t timed_at[ROUTE_CALLS]; /* ns: the latest; not for readers */

    _Atomic uint64_t served;    /* units, in ROUTE_SERVED_UNIT, random phase */
    _Atomic uint32_t in_flight; /* units of this process that are on it */
    _Atomic uint32_t most_in_flight; /* at once, so far */
};

enum { ROUTE_SERVED_UNIT = 1024 };

/* What this login has there.  Guarded by LOCK_LOGIN. */
struct route_stock {
    uint32_t idle, held, learning, opening, reset; /* links, by state */
    uint32_t room;         /* links that may still be opened */
    uint64_t reset_since;  /* ns: the oldest reset's begin, if any */
    uint64_t full_until;   /* ns: it has said that it takes no more links, and
                              is asked again then, by one; 0 = it has not */
};

/* All that count against PoolMax. */
static inline uint32_t route_stock_links(const struct route_stock *s)
{
    return s->idle + s->held + s->learning + s->opening + s->reset;
}

struct route_fleet {
    uint32_t count;
    struct route_member *members;
    const struct route_stock *stock;
    uint32_t heaviest;   /* weight of all; 0 = not known */
    uint32_t capacity;   /* sum of weights to keep active; 0 = all */
    bool total_full;     /* PoolMaxTotal is reached: opening means closing */
    uint32_t total_idle; /* over all instances */
};

/* What is known of the unit's key. */
enum route_ownership {
    ROUTE_IS_UNKEYED,       /* it has none */
    ROUTE_IS_OWNED,      /* by owners[]: one, or several of a prefix */
    ROUTE_IS_UNKNOWN,    /* not learnt, and the topology is incomplete */
    ROUTE_IS_UNLEARNABLE, /* likewise, and all who could tell call the question
                             wrong */
    ROUTE_IS_MOVING,     /* two groups or none claim it */
    ROUTE_IS_UNRESOLVED, /* its owner is no instance of ours */
    ROUTE_IS_UNOWNED     /* complete, and no partition takes it */
};

struct route_request {
    enum route_mode mode;
    enum route_balance balance;
    enum route_ownership key;
    bool write;
    bool learning;          /* UNKNOWN: an answer may still come in time */
    bool background;        /* PoolCreate: strict waits for an owner that is not
                               learnt, else it opens a link anywhere */
    const uint32_t *owners; /* groups */
    uint32_t owner_count;
    const bool *tried;      /* per instance: failed for this unit, so not
                               again; or NULL */
    bool queueing;          /* may wait for a link to come free (PoolWait) */
    bool fresh;             /* no link was idle when it came (rules §2.1: then
                               the first is opened on the owner) */
    int ordered;            /* a link is being opened for it here; -1 = no */
    uint64_t begin, now;    /* ns: of the unit's waiting; the present */
    uint64_t seed;          /* any number */
    const char *what;       /* for operational: the key, else the user; of */
    size_t what_length;     /* so many bytes */
};

/* Can it go nowhere but to its owner? */
static inline bool route_is_bound(enum route_mode mode,
                                  enum route_ownership key)
{
    return mode == ROUTE_STRICT && key == ROUTE_IS_OWNED;
}

enum route_action { ROUTE_TAKE, ROUTE_OPEN, ROUTE_WAIT, ROUTE_FAIL };

enum route_reason {
#define ROUTE_REASON(name, text) ROUTE_##name,
#include "route_reason.def"
    ROUTE_REASONS
};

enum route_refusal {
#define ROUTE_REFUSAL(name, text) ROUTE_REFUSED_##name,
#include "route_refusal.def"
    ROUTE_REFUSALS
};

struct verdict {
    enum route_action action;
    enum route_reason reason;
    int instance; /* TAKE, OPEN: where; WAIT: for which, or -1 */
    int also;     /* open one link here besides, for those to come; -1 = no */
    uint64_t until; /* WAIT: ask again then at the latest; 0 = no need */
};

/* A link in reset counts as nearly idle for so long: a reset is one round
   trip, and waiting for it beats going elsewhere (if it is the owner's) or
   opening another (if it is the balanced choice's).  No unit waits longer for
   one, however many follow each other. */
enum { ROUTE_SOON_MS = 100 };

/* The decision.  Never fails: ROUTE_FAIL is a verdict with its reason.
   Locks: LOCK_LOGIN of the login whose stock it is. */
struct verdict route_choose(const struct route_request *request,
                            const struct route_fleet *fleet);

/* Why it cannot serve, whatever one waits for: by role, map file, draining;
   NONE if it can. */
enum route_refusal route_incapable(const struct route_member *m, bool write);

/* Why instance i is not the one for this request, NONE if it could be, by the
   same rules as the decision: what EXPLAIN says, and whether a link that is
   ready may still be used. */
enum route_refusal route_refuse(const struct route_request *request,
                                const struct route_fleet *fleet, uint32_t i);

const char *route_reason_text(enum route_reason reason);
const char *route_refusal_text(enum route_refusal refusal);

#endif
