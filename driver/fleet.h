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
#include "inner_kind.h"
#include "keeper.h"
#include "link.h"
#include "lock.h"
#include "route.h"
#include "why.h"

struct events;
struct login;
struct topology;

struct instance {
    const char *name;
    const char *dsn, *driver, *host; /* as in struct inner_target */
    char port[12];
    const struct inner *inner;
    uint32_t pool_max;     /* PoolMax, or the map file's poolmax */
    struct lane *opening;  /* helper jobs that open links */
    struct lane *caring;   /* those that validate, reset, close and ask */

    /* ns: links that have not answered since are validated before use */
    _Atomic uint64_t suspect_at;

    /* guarded by fleet->lock */
    struct link_who who;   /* as last heard */
    uint64_t who_at;       /* ns; 0 = never */
    uint64_t since;        /* ns: of its health */
    uint32_t backoff_ms;   /* the latest; 0 = none since it was up */
    struct link_error error; /* latest failure; state "" = none */
};

struct fleet {
    struct config_fleet config;
    uint32_t count;
    struct instance *instances;
    struct route_member *members;
    struct topology *topology; /* topology.h; has its own lock */
    struct events *events;     /* event.h; likewise */
    struct mutex lock;
    struct login *logins;  /* guarded by lock; pool.h */
    _Atomic bool watched;  /* watch.h */
    _Atomic uint64_t looked_at; /* ns: fleet_look_due() last said yes */
    _Atomic uint64_t files; /* inifile_fingerprint() when made or checked */
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

struct fleet *fleet_retain(struct fleet *fleet);
void fleet_release(struct fleet *fleet); /* no lock may be held */

/* Where a link to instance i leads; passed is the login's. */
struct inner_target fleet_target(const struct fleet *fleet, uint32_t i,
                                 const struct connstr *passed);

/* A link to i was opened or validated: it is up, and this is who it is.
   A changed identity, role or timeline regroups (fleet_group.c).  True: what
   owners may be has changed.  Locks: takes fleet->lock. */
bool fleet_heard(struct fleet *fleet, uint32_t i, const struct link_who *who);

/* Opening a link to i failed, or a link died: what that says of the instance
   is the inner kind's to tell (rules §5.2).  late: it did not answer in time.
   Returns the fault.  Locks: takes fleet->lock. */
enum inner_fault fleet_failed(struct fleet *fleet, uint32_t i,
                              const struct link_error *error, bool late);

/* A link to i is dead (rules §5.1): validate the others before use. */
void fleet_suspect(struct fleet *fleet, uint32_t i);

/* A call of ours to i is overdue, or none is any more. */
void fleet_set_slow(struct fleet *fleet, uint32_t i, bool slow);

/* May instance i have become the primary of its group?  It was a standby when
   it last said who it is, and no primary of the group is up.  No locks. */
bool fleet_may_lead(const struct fleet *fleet, uint32_t i, uint64_t now);

/* Is it time to look for primaries?  Says yes at most four times a second
   (rules §1.4).  No locks. */
bool fleet_look_due(struct fleet *fleet, uint64_t now);

/* A unit was placed on i. */
void fleet_count_served(struct fleet *fleet, uint32_t i);

/* What is known of every instance, for SHOW AFFINITY INSTANCES and errors: a
   consistent copy of one.  Locks: takes fleet->lock. */
struct fleet_instance_view {
    const char *name;
    enum route_health health;
    enum route_role role;
    uint32_t group;
    uint64_t since, retry_at; /* ns */
    struct link_who who;
    struct link_error error;
};
void fleet_view(struct fleet *fleet, uint32_t i,
                struct fleet_instance_view *view);

/* Every fleet retained, in an array the caller frees after fleet_release() of
   each; NULL with *count 0: none, or out of memory.  For exit. */
struct fleet **fleet_all(uint32_t *count);

#endif
