/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Which group owns which keys, as learnt from the instances, the map file or
 * the hash (design §6.3, rules §1): what has been asked of whom, the map made
 * from the answers, and keys that only the server can resolve.
 *
 * Little is asked: without a key nothing; for the first key one instance, its
 * pointer followed, others only if that does not decide it; then the rest.
 * topology_next() says whom to ask, place_ask.c has a helper do it, and
 * topology_ask() runs there.
 *
 * Locks: LOCK_TOPOLOGY inside, of higher rank than a login's and a fleet's;
 * never held over an inner call, nor while a map is made.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "route.h"
#include "route_key.h"
#include "text.h"
#include "why.h"

struct fleet;
struct link;
struct link_error;
struct login;
struct topology;
struct topology_file;

enum { TOPOLOGY_OWNERS_MAX = 64 };

struct topology_answer {
    enum route_ownership state;
    /* groups: OWNED; MOVING: those that claim it, as far as is known */
    uint32_t owners[TOPOLOGY_OWNERS_MAX];
    uint32_t count;
    bool pending;   /* UNKNOWN: somebody is being asked, or can be now */
    bool soon;      /* who is being asked is likely to answer soon: worth
                       waiting for even if one can go elsewhere */
    struct why why; /* bad_key: WHY_KEY; UNOWNED: WHY_NO_OWNER; UNKNOWN,
                       UNLEARNABLE and UNRESOLVED: WHY_GENERAL, who has not
                       answered, and why; else WHY_NONE.  A sentence for
                       errors */
    bool bad_key;   /* the key does not fit (22018); state is UNOWNED */
};

/* Is this group one of answer->owners? */
static inline bool topology_names(const struct topology_answer *answer,
                                  uint32_t group)
{
    for (uint32_t k = 0; k < answer->count; k++) {
        if (answer->owners[k] == group) {
            return true;
        }
    }
    return false;
}

/* The topology of a fleet that is being made (its config and instances are
   filled, its members are not): reads the map file, checks AffinityTable's and
   AffinityQuery's form, asks nobody.  NULL: why.  The fleet is not retained.
   What the map file says is in force after the first fleet_regroup_locked(). */
struct topology *topology_new(struct fleet *fleet, struct why *why);
void topology_free(struct topology *topology); /* NULL is fine */

/* Who owns this key, by what is known now.  No I/O.
   Locks: takes LOCK_TOPOLOGY; LOCK_LOGIN may be held. */
void topology_find(struct fleet *fleet, const struct route_key *key,
                   struct topology_answer *answer);

/* May instance i be asked by this login?  A link to it can be had now.
   Locks: holds login->lock and LOCK_TOPOLOGY. */
typedef bool topology_may(const struct login *login, uint32_t i);

/* The instance to ask now so that this key (NULL: every key) gets known, one
   of those that may be asked (may NULL: all), and marks it as being asked: the
   caller orders pool_learn_locked() there, and says topology_not_asked() if
   that was not possible.  -1: nobody (all is known, or enough are being asked,
   or the rest is down, or there is no room for links to them).
   For a key: one at a time, another if the latest has not answered within
   TOPOLOGY_HEDGE_MS.  A key that only the server can judge is noted, and
   resolved by the next instance that is asked.  A key that moves has those
   who claim it asked again, each once in TOPOLOGY_MOVING_MS at most.
   With NULL and nothing to do it costs one atomic load.
   `now` in ns.  Locks: holds login->lock if `may` wants it, takes
   LOCK_TOPOLOGY. */
enum {
    TOPOLOGY_HEDGE_MS = 300,
    TOPOLOGY_MOVING_MS = 1000,
    TOPOLOGY_LATE_MS = 2000 /* whom that takes does not answer soon any more */
};
int topology_next(struct fleet *fleet, const struct route_key *key,
                  topology_may *may, const struct login *login, uint64_t now);

/* Would topology_next() have nobody asked for the rest of the topology?  One
   atomic load. */
bool topology_is_quiet(const struct fleet *fleet, uint64_t now);

/* When topology_next() should be asked again though nothing has happened: ns,
   UINT64_MAX = never. */
uint64_t topology_wake(struct fleet *fleet, uint64_t now);

/* Asks instance i over this link, and takes its answer into the map; resolves
   the keys that wait for a server to do so.  fleet_heard() has been told who
   it is.  On a helper thread, no lock held.  False: error; the instance is not
   asked again for 1 s, growing to 30 s.  Either way the link is as it was, or
   marked spoilt, or dead.
   A new answer may change who is a group (rules §1.7): call fleet_learnt()
   behind it. */
bool topology_ask(struct fleet *fleet, uint32_t i, struct link *link,
                  struct link_error *error);

/* The asking of i that topology_next() began has come to nothing (not ordered,
   not opened, its link dead).  back_off: not again for a while; else at
   once. */
void topology_not_asked(struct fleet *fleet, uint32_t i, bool back_off);

/* Is it time to ask instance i whether its answer still holds, as part of the
   keeper's probe?  Then an SQL expression is appended whose value goes to
   topology_fingerprint_heard(); it needs no privilege and no setting.  No
   locks. */
bool topology_fingerprint_due(struct fleet *fleet, uint32_t i, uint64_t now,
                              struct text *expression);

/* The value (NULL: NULL), and what asking for it has cost, ns.  True: its
   group's answers are out of date, and the keeper is to ask again.  On a helper
   thread, no lock held. */
bool topology_fingerprint_heard(struct fleet *fleet, uint32_t i,
                                const char *value, uint64_t now,
                                uint64_t cost);

/* Has anybody been asked yet?  Without a key nobody is (rules §1.5). */
bool topology_begun(struct fleet *fleet);

/* Groups, roles or identities have changed: make the map anew from the
   answers that stand.  No lock may be held. */
void topology_regroup(struct fleet *fleet);

/* Forgets all answers (REFRESH AFFINITY): a new generation; what is still
   being asked for the old one is not mixed in.  Ownership by the map file or
   the hash stays. */
void topology_forget(struct fleet *fleet);

/* Complete: every group has answered, or all its members are down
   (rules §1.2). */
bool topology_complete(struct fleet *fleet);

/* What source: "table public.orders", "map file …", "query", "hash". */
void topology_source(struct fleet *fleet, struct text *out);

/* Reads the map file anew.  NULL: why.  Locks: takes and leaves a mutex of
   rank LOCK_INI; may wait for a disk. */
struct topology_file *topology_read_file(const struct fleet *fleet,
                                         struct why *why);
void topology_free_file(struct topology_file *file); /* NULL is fine */

/* Puts it in place of the one in force, which is the caller's to free behind
   the locks.  What it says of owners is in force after
   fleet_regroup_locked() and topology_regroup().
   Locks: holds fleet->lock, takes LOCK_TOPOLOGY. */
struct topology_file *topology_change_file_locked(struct fleet *fleet,
                                                  struct topology_file *file);

/* The weight, readonly, enabled, poolmax and group of instance i by the map
   file; the defaults (1, false, true, 0 = PoolMax, "") without one.  group
   stays valid as long as the lock that is held.
   Locks: fleet->lock or the topology's is held, or the fleet is being made. */
struct topology_limits {
    uint32_t weight;
    bool read_only, disabled;
    uint32_t pool_max;
    const char *group;
};
struct topology_limits topology_limits(const struct topology *topology,
                                       uint32_t i);

/* One row per leaf, range, value or target, for SHOW AFFINITY TOPOLOGY: path,
   bound, owner group (-1 = unknown), state in words; then one for each
   instance of which something is to be said (not asked, failed, no such
   table): path is its name, bound empty.  row() is called with no lock held,
   and returns false to stop. */
typedef bool topology_row(void *arg, const char *path, const char *bound,
                          int group, const char *state);
void topology_show(struct fleet *fleet, topology_row *row, void *arg);

/* ---- for fleet_group.c ------------------------------------------------- */

/* Takes over each member's group and role, which have just been computed.
   Ownership by the map file is in force at once, that of answers after
   topology_regroup().  Locks: holds fleet->lock, takes LOCK_TOPOLOGY. */
void topology_take_groups_locked(struct fleet *fleet);

/* Do these instances own the same?  kin[a * count + b] for instance[a] and
   instance[b]: APART if each claims leaves that the other does not, by the
   latest that each has ever said; UNKNOWN if one of them has said nothing.
   Locks: holds fleet->lock, takes LOCK_TOPOLOGY. */
enum topology_kin { TOPOLOGY_KIN_UNKNOWN, TOPOLOGY_KIN_SAME,
                    TOPOLOGY_KIN_APART };
void topology_kin_locked(struct fleet *fleet, const uint32_t *instance,
                         uint32_t count, uint8_t *kin);

/* Remembers that instance i was seen on this timeline under this identity, and
   returns the highest one ever seen so (rules §1.7).
   Locks: holds fleet->lock. */
uint32_t topology_timeline_locked(struct fleet *fleet, uint32_t i,
                                  const char *identity, uint32_t timeline);

#endif
