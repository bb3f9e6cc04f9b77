/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The instances of a wrapper DSN: what they are called, how they are reached,
 * and how they are: up or down, primary or standby, of which group.  Sessions
 * whose fleet keywords agree share one fleet (design §5.1); it lives as long
 * as a session, a login with links or a helper thread needs it.
 *
 * Locks: fleet->lock (LOCK_FLEET) guards what is marked so below; what the
 * decision reads (struct route_member) is written under it and read without.
 */
#ifndef FLEET_H
#define FLEET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "fleet_disk.h"
#include "fleet_facts.h"
#include "fleet_probe.h"
#include "fleet_state.h"
#include "inner_kind.h"
#include "keeper.h"
#include "link.h"
#include "lock.h"
#include "metrics.h"
#include "route.h"
#include "why.h"

struct environment;
struct events;
struct inifile_section;
struct login;
struct topology;

struct instance {
    const char *name;
    const char *dsn, *driver, *host; /* as in struct inner_target, and so are */
    char port[12];
    const struct inifile_section *section; /* NULL without a DSN, and */
    struct environment *environment; /* of when the fleet was made */
    const struct inner *inner;
    struct lane *opening;  /* helper jobs that open links: one at a time while
                              it is not known to be up (rules §4.1), else
                              KEEPER_LANE_MAX, of all logins together, and
                              probes are no exception */
    struct lane *cancelling; /* those that cancel, over connections of their
                                own */
    struct lane *caring;   /* those that validate, reset, close and ask */
    struct lane *probing;  /* those that probe over open links */
    _Atomic bool wanted;   /* a probe is, before its time (fleet_probe.h) */

    /* ns, 0 = never: a link that has not answered since is validated before
       use; one opened before goes to no other session; one opened before is
       lost to the session that holds it */
    _Atomic uint64_t suspect_at, stale_at, lost_at;

    _Atomic uint64_t answered_at; /* ns: a link there did, the last time */
    _Atomic bool changed; /* watch_links.c has to go through links and units */

    /* guarded by fleet->lock */
    struct fleet_state state; /* its copy for the decision: route_member */
    struct link_who who;   /* as last heard */
    uint64_t who_at;       /* ns; 0 = never */
    struct link_error error; /* latest failure; state "" = none */
    uint64_t error_at;       /* ns */
    uint64_t said_at[2];     /* ns: there is no room, a login is refused */
    struct link_error cause; /* suspect, down: why it became that */
    struct link_error lost; /* why sessions have lost their links, lately */
    uint32_t rival; /* index + 1 of who is certain to be primary in its place,
                       though it says that it is; 0 = nobody */
    bool split;     /* or of who is it no more than itself */
    struct fleet_probe probe;
    struct fleet_facts facts;
};

struct fleet_use {
    uint64_t until;  /* ns: it is used */
    uint64_t looked; /* ns: it was last seen to */
    uint64_t units;  /* served and refused until then */
};

/* What stat(2) said of a file; all 0: it is not there. */
struct fleet_file_look {
    int64_t seconds, nanoseconds, size;
    uint64_t inode;
};

/* The metrics file (watch_metrics.c): the clock's thread's, but for mark and
   troubled, which are its helper's while that is busy. */
struct fleet_metrics {
    struct fleet_disk disk; /* what writes it */
    uint64_t due;   /* ns: to be written next */
    uint32_t links; /* as last written */
    bool used;      /* likewise */
    bool troubled;  /* it could not be, and that was said */
    struct metrics_mark mark;
};

struct fleet {
    struct config_fleet config;
    char *dsn;       /* of the session that it was made for; fixed */
    uint32_t number; /* among those of the process; the first's is 1 */
    uint32_t count;
    struct instance *instances;
    struct route_member *members;
    struct topology *topology; /* topology.h; has its own lock */
    struct events *events;     /* event.h; likewise */
    struct mutex lock;
    struct login *logins;  /* guarded by lock; login.h */
    _Atomic uint32_t heaviest; /* weight of all */
    _Atomic bool watched;  /* watch.h */
    _Atomic uint64_t looked_at; /* ns: fleet_look_due() last said yes */
    struct fleet_use use;  /* watch.c's, of the clock's thread only */
    uint32_t learn_turn;   /* watch_learn.c's, likewise */
    _Atomic bool tend;     /* watch_pool.c is to look at the pools */
    uint64_t tend_at;      /* ns: or then; its own, as the next */
    bool tended_used, tended_quiet; /* the fleet was, the process was, when it
                                       last did */
    _Atomic uint32_t refused; /* units that were not placed */
    _Atomic uint64_t files; /* inifile_fingerprint() when made or checked */

    /* the map file (fleet_file.h): as it was when read, and when last looked
       at */
    struct fleet_file {
        struct fleet_disk disk; /* what looks at it and reads it */
        uint64_t look_at;       /* ns: the keeper's clock looks next */
        struct fleet_file_look read, seen; /* the helper's that is at it */
        struct mutex lock; /* LOCK_FILE; guards what follows */
        struct cond told;  /* done has risen */
        uint32_t asked, done; /* how often REFRESH AFFINITY CONFIG wanted it
                                 read, and up to which of those it was */
        struct why why;       /* how that went: code 0 = well */
    } file;
    struct fleet_disk logging; /* what writes the log */
    struct job ending;         /* the last one, when nobody needs it any more */
    struct fleet_metrics metrics;

    const char *sections;  /* secret: what the instances' DSNs said; fixed */

    /* fleet_list.c's, guarded by LOCK_FLEETS */
    uint32_t refs;
    bool listed;
    struct fleet *prev, *next;
};

/* The fleet of this configuration, made at first use; checks that each
   instance's DSN exists and its inner driver can be loaded, opens nothing.
   Changed DSN sections make a new fleet (rules §11.4), the old one goes when
   its last session does.  NULL: why.  Gives the caller a reference. */
struct fleet *fleet_get(const struct config *config, struct why *why);

/* Have the ini files not changed since the fleet was made or compared with
   them?  If they have, fleet_get() tells whether that concerns it. */
bool fleet_is_current(const struct fleet *fleet);

struct fleet *fleet_retain(struct fleet *fleet);
void fleet_release(struct fleet *fleet); /* no lock may be held */

/* Where a link to instance i leads; passed is the login's. */
struct inner_target fleet_target(const struct fleet *fleet, uint32_t i,
                                 const struct connstr *passed);

/* ---- what is heard of an instance ----------------------------------------

   What follows from it is the table's to say (fleet_state.c), and is done at
   once: going down, or coming back as somebody else, makes its links stale;
   where sessions lose theirs, they find out at their next call, and who is
   inside the inner driver is seen to by watch_links.c.
   Locks: take fleet->lock; LOCK_LOGIN may be held. */

/* A link to i was opened or validated, and this is who it is.  A changed
   identity, role or timeline regroups (fleet_group.c).  True: what owners may
   be has changed. */
bool fleet_heard(struct fleet *fleet, uint32_t i, const struct link_who *who);

/* A link to i has answered without saying who it is.  Cheap while it is up. */
void fleet_answered(struct fleet *fleet, uint32_t i);

/* Opening a link to i, begun at `began` (ns), failed, by this answer of its or
   of the network's: what that says of the instance is the inner kind's to tell
   (rules §5.2).  If it took all of ConnectTimeout, and a link there has
   answered anything since it began, the instance is suspect and no more.
   That it lets nobody in, or not this login, is an event once a minute.
   Returns the fault. */
enum inner_fault fleet_failed(struct fleet *fleet, uint32_t i, uint64_t began,
                              const struct link_error *error);

/* A question that was sent to i at asked_at (ns) has had all its time, and no
   answer; error says so in a sentence of ours.  If a link there has answered
   anything since, it is suspect and no more.  The caller has made sure that it
   was not itself that was late. */
void fleet_silent(struct fleet *fleet, uint32_t i, uint64_t asked_at,
                  const struct link_error *error);

/* A link to i is dead (rules §5.1): validate the others before use, and probe
   it. */
void fleet_suspect(struct fleet *fleet, uint32_t i);

/* i was the primary of its group, and another is for certain: its links are
   stale, and lost to those who hold them.  Locks: holds fleet->lock. */
void fleet_superseded_locked(struct fleet *fleet, uint32_t i,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- links that are of no more use --------------------------------------- */

/* Links to i that were opened up to now go to no other session (REFRESH
   AFFINITY LINKS): idle ones are closed soon, held ones when they come
   back. */
void fleet_renew_links(struct fleet *fleet, uint32_t i);

/* Something that waiting units go by has changed with i: they are decided
   anew soon (watch_links.c). */
void fleet_tell(struct fleet *fleet, uint32_t i);

/* Its owner has drained or resumed it, or (the second) its map file disabled
   or enabled it; what comes back does so gradually.  True: it was not so
   before.  Locks: take fleet->lock, unless they hold it. */
bool fleet_set_drained(struct fleet *fleet, uint32_t i, bool drained);
bool fleet_set_disabled_locked(struct fleet *fleet, uint32_t i,
                               bool disabled);

/* Is a link that was opened at `opened` lost to its session? */
static inline bool fleet_has_lost(const struct fleet *fleet, uint32_t i,
                                  uint64_t opened)
{
    return opened <= atomic_load(&fleet->instances[i].lost_at);
}

/* Appends why, and how long ago: "n2 was found unusable 12 ms ago: …". */
void fleet_say_lost(struct fleet *fleet, uint32_t i, struct text *out);

/* Is i not known to answer: untried, suspect or down?  No locks. */
static inline bool fleet_doubts(const struct fleet *fleet, uint32_t i)
{
    return atomic_load(&fleet->members[i].health) != ROUTE_UP;
}

/* Its lanes follow its health.  How many links to i may be opened at once, by
   all logins together: one while it is in doubt, so that nobody runs at one
   that comes back.  Locks: takes LOCK_KEEPER. */
void fleet_set_lanes(struct fleet *fleet, uint32_t i);

/* May links to i be kept: it is neither drained nor disabled, and this one is
   not stale. */
static inline bool fleet_keeps(const struct fleet *fleet, uint32_t i,
                               uint64_t opened)
{
    const struct route_member *m = &fleet->members[i];

    return !atomic_load_explicit(&m->drained, memory_order_relaxed) &&
           !atomic_load_explicit(&m->disabled, memory_order_relaxed) &&
           opened > atomic_load_explicit(&fleet->instances[i].stale_at,
                                         memory_order_relaxed);
}

/* A link was opened: how long it lives is seen to (watch_pool.c). */
void fleet_tend(struct fleet *fleet);

/* A call of ours to i is overdue, or none is any more. */
void fleet_set_slow(struct fleet *fleet, uint32_t i, bool slow);

/* May instance i have become the primary of its group?  It was a standby when
   it last said who it is, and no primary of the group is known to be up.  No
   locks. */
bool fleet_may_lead(const struct fleet *fleet, uint32_t i, uint64_t now);

/* Is it time to look for primaries?  Says yes at most four times a second
   (rules §1.4).  No locks. */
bool fleet_look_due(struct fleet *fleet, uint64_t now);

/* A call of that sort to i was answered after so many ns: for balancing
   (balance_fact.h).  Locks: takes fleet->lock. */
void fleet_timed(struct fleet *fleet, uint32_t i, enum route_call call,
                 uint64_t took);

/* How much i has to bear of what it can, in permille, as a probe of it says.
   Locks: takes fleet->lock. */
void fleet_loaded(struct fleet *fleet, uint32_t i, uint32_t permille);

/* A unit was placed on i, and (once for each) has given its link back.
   No locks. */
void fleet_unit_begins(struct fleet *fleet, uint32_t i);
void fleet_unit_ends(struct fleet *fleet, uint32_t i);

/* One was placed nowhere. */
void fleet_count_refused(struct fleet *fleet);

/* What is known of every instance, for SHOW AFFINITY INSTANCES and errors: a
   consistent copy of one.  Locks: takes fleet->lock. */
struct fleet_instance_view {
    const char *name;
    enum route_health health;
    enum route_role role;
    uint32_t group;
    uint64_t since, retry_at; /* ns */
    struct link_who who;
    struct link_error error, cause; /* cause: of being suspect or down */
    uint64_t error_at;
    int rival; /* who is primary in its place; -1 = nobody */
    uint64_t probed_at, position; /* as in struct fleet_facts */
    uint64_t fresh_at;
    uint32_t backends, backends_max, active, commits_per_s;
};
void fleet_view(struct fleet *fleet, uint32_t i,
                struct fleet_instance_view *view);

/* Every fleet retained, in an array the caller frees after fleet_release() of
   each; NULL with *count 0: out of memory.  Locks: takes LOCK_FLEETS. */
struct fleet **fleet_all(uint32_t *count);

/* Writes what is still to be logged, and removes its metrics file, where no
   helper is at it: for its end.  Has a helper do so and retains the fleet
   meanwhile; without one it is done here, and may wait for a disk.  No lock may
   be held. */
void fleet_end_files(struct fleet *fleet);

#endif
