/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A pretend inner driver inside the test program, with pretend instances
 * n1, n2, … behind it, for the tests of pool_*.c and place.c.  It stands in
 * for inner.c, topology*.c and fleet_group.c, of which nothing is linked.
 *
 * What it sees to by itself, at each call: no lock of ours is held, no two
 * threads are in one connection, nothing is done on a closed one.
 */
#ifndef PRETEND_H
#define PRETEND_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet.h"
#include "link.h"
#include "place.h"
#include "pool.h"
#include "route.h"

enum { PRETEND_INSTANCES = 300 };

enum pretend_manner {
    PRETEND_SERVES,
    PRETEND_REFUSES,  /* 08001 */
    PRETEND_IS_FULL,  /* 53300 */
    PRETEND_STARTS,   /* 57P03 */
    PRETEND_NO_LOGIN, /* 28P01 */
    PRETEND_IS_AWAY,  /* 08001, after PRETEND_AWAY_MS */
    PRETEND_HANGS     /* calls return when it changes to another */
};

enum { PRETEND_AWAY_MS = 9000 };

struct pretend_instance {
    enum pretend_manner manner;
    bool standby;
    uint32_t connecting;  /* calls that open one, under way now */
    uint32_t open;        /* connections */
    uint32_t most;        /* that ever were open at once */
    uint64_t opened, reset, validated, probed; /* so far */
    uint64_t position;    /* of its log */
    uint32_t timeline;    /* 0 = it does not say */
    char unwelcome[16];   /* whose login it refuses; "" = nobody's */
    uint64_t turned_away; /* so often it has, or was away */
    char mistrusts[16];   /* whom it does not tell all in a probe */
    bool reset_fails;
};

/* One connection: what a link's hdbc points to. */
struct pretend_conn {
    uint32_t instance;
    char user[16];
    bool connected, dead;
    bool dirty;           /* set by a session, cleared by a reset */
    _Atomic bool busy;    /* a call is in it */
    _Atomic bool held;    /* for the tests: a session holds it */
};

/* Everything is behind pretend_lock (LOCK_DIAG), as is what follows. */
extern struct mutex pretend_lock;
extern struct cond pretend_changed; /* broadcast at each change */
extern struct pretend_instance pretend_at[PRETEND_INSTANCES];
extern uint32_t pretend_connections; /* handles that are allocated */

/* What topology_find() answers for keys "k0" … "k7".  UNKNOWN becomes OWNED,
   by the owner set here, when the owner is asked while it is pending. */
enum { PRETEND_KEYS = 8 };
struct pretend_key {
    enum route_ownership state;
    uint32_t owner;
    bool pending, asked;
};
extern struct pretend_key pretend_keys[PRETEND_KEYS];
/* Whom the topology lacks beside what the keys need; -1 = nobody.  He is named
   once, to whom may ask him. */
extern int pretend_lacks;
extern bool pretend_late[PRETEND_KEYS]; /* not soon, who is asked hangs */
extern bool pretend_stale[PRETEND_KEYS]; /* it was forgotten while it is asked
                                            for: the answer says nothing */

/* Every call that could take time, but on what a session holds, is on a thread
   of ours (rules §4.1, §4.4), or it aborts: for tests whose jobs run on such. */
extern bool pretend_minds_threads;

/* Called in the middle of each call to the driver that could take time, with
   no lock held; NULL = nothing. */
extern void (*pretend_pause)(void);

/* Called when a link has said something new of who its instance is, with no
   lock held; NULL = nothing. */
extern void (*pretend_regrouped)(void);

/* Key k's owner is not known any more, and can be asked for; nobody is told. */
void pretend_forget(int k);

/* Sets how an instance treats new connections from now on; what is open stays
   open, but hangs with it. */
void pretend_set(uint32_t instance, enum pretend_manner manner);
void pretend_kill(struct pretend_conn *conn);

static inline struct pretend_conn *pretend_of(const struct link *link)
{
    return (struct pretend_conn *)link->hdbc;
}

/* The configuration of a fleet n1 … of so many instances, with keywords like
   "PoolMax=2;" behind, and login `uid`; freed with config_free() and free(). */
struct config *pretend_config(uint32_t instances, const char *keywords,
                              const char *uid);

/* Has a session with this configuration, narrow and of ODBC 3, placed at once,
   as it is before its login is found.  False: nothing was done but that
   order->login may be overwritten. */
bool pretend_at_once(struct place_order *order, const struct config *config);

/* Sets ODBCSYSINI to a folder of its own; set up and tear down a group of tests,
   as cmocka calls them: 0, or -1. */
int pretend_begin(void **state);
int pretend_end(void **state);

#endif
