/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One open inner connection to one instance: open, validate, reset, close,
 * ask.  Every function here calls the inner driver and may hang for as long
 * as the network does, so only helper threads call them (rules §4.1), with no
 * lock held (promise 8); the exceptions are said where they stand.
 *
 * What a link is used for, its state and its times belong to pool.h; a link
 * is used by one thread at a time, which the state sees to.
 */
#ifndef LINK_H
#define LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

#include "inner.h"
#include "inner_kind.h"
#include "keeper.h"
#include "why.h"

struct diags;
struct link_note;
struct pool;
struct text;
struct unit;

/* An inner handle that outlives its session: freed by the reset. */
struct link_child {
    SQLHANDLE inner;
    SQLSMALLINT type; /* SQL_HANDLE_STMT or SQL_HANDLE_DESC */
    struct link_child *next;
    void (*done)(struct link_child *child); /* releases the container */
};

/* Why something failed: the inner driver's first record, or a sentence of
   ours.  state "": nothing did. */
struct link_error {
    char state[6];
    SQLINTEGER native;
    char text[512];
    bool scarce; /* this process can open nothing more, to nobody */
};

/* Fills error with a sentence of ours. */
void link_set_error(struct link_error *error, const char *state,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What it says, and about whom: the inner kind tells (rules §5.2), but of a
   process that can open nothing more, which is full and blames no instance. */
enum inner_fault link_fault(const struct inner_kind *kind,
                            const struct link_error *error);

/* Appends "[SQLSTATE] words" in one line; nothing if there is no error. */
void link_say_error(const struct link_error *error, struct text *out);

/* What an instance says it is. */
enum link_role { LINK_ROLE_UNKNOWN, LINK_ROLE_PRIMARY, LINK_ROLE_STANDBY };
struct link_who {
    enum link_role role;
    char identity[24];  /* of its group; "" = it does not say */
    uint32_t timeline;  /* 0 = unknown */
    char encoding[32];  /* of this link's client; "" = unknown */
    int backend;        /* its side's view of this link; 0 = unknown */
    char ends[112];     /* likewise: "address port address port", the
                           client's and its own; "" = unknown, or no TCP */
};

enum link_state {
#define LINK_STATE(name) LINK_##name,
#include "link_state.def"
    LINK_STATES,
    LINK_UNLISTED = LINK_STATES /* in no list: being made, or gone */
};

enum { LINK_CHANGED_MAX = 16 };

/* What sessions have done with a link: pool_stat.c's, written by who has the
   link, read by anybody. */
struct link_use {
    _Atomic uint64_t taken; /* ns: a session has it since; 0 = none has */
    _Atomic uint64_t borrowed, returned; /* so often */
    _Atomic uint64_t ns;    /* sessions had it, up to the latest return */
    _Atomic uint64_t hits, misses; /* it is, or is not, on their key's owner */
};

struct link {
    struct job job; /* first: what a helper thread is to do with it */
    const struct inner *inner;
    SQLHDBC hdbc;
    SQLHENV env; /* its own, or SQL_NULL_HENV: it is on a shared one */
    bool wide; /* it was, or will be, opened by the wide function */
    /* What the inner driver warned of when it opened it, for each session that
       connects over it; nobody adds to it.  NULL: SQL_SUCCESS. */
    struct diags *warned;
    struct link_who who;
    uint8_t who_form, probe_form; /* of the kind's lists: the first that was not
                                     refused */
    bool probe_plain;             /* an extra column of a probe was refused */
    int socket; /* link_socket.c's: its duplicate + 1; 0 = none */

    /* What the session did to it, on any of its threads; nobody else looks
       while it is held. */
    atomic_bool touched; /* a reset has something to undo */
    atomic_bool spoilt;  /* nothing can undo it: close at return */
    atomic_bool noting;  /* link_note_attr() is at work */
    struct link_child *children;
    struct {
        SQLINTEGER attribute;
        SQLULEN before;
    } changed[LINK_CHANGED_MAX];
    unsigned changed_count;

    /* pool.c's; guarded by LOCK_LOGIN */
    struct pool *pool;
    enum link_state state;
    struct link *prev, *next; /* in its pool's list of that state */
    uint64_t opened, retires; /* ns; retires 0 = never */
    uint64_t since;    /* ns: in this state; being probed is being idle */
    uint64_t answered; /* ns: last known to be alive */
    _Atomic uint64_t began; /* ns: a helper is at work on it since; 0 = none,
                               or it is queued */
    uint64_t shelved;  /* ns: pool_shelf.c's; guarded by the shelf's lock */
    struct link_use use;
    struct link_note *note; /* NULL: there is no SessionLimit */
    uint64_t told; /* the `taken` of whom was told that he is beyond it */
    struct unit *unit; /* whose order it is opened or validated for */
    bool ordered;      /* opened for sessions, not to ask or to probe, and has
                          not failed */
    bool orphan;       /* the unit that ordered it waits no more */
    uint64_t probe;    /* a probe is under way on it: its number; 0 = none */
    _Atomic unsigned cancels; /* cancels under way; read without the lock */
    bool waits; /* came back while there were some */
    bool died;  /* or dead */
    bool ended; /* login_hung.c has ended what hung in this state, */
    bool left;  /* or could not */
};

/* How to open one. */
struct link_order {
    const struct inner *inner;
    const char *string; /* the inner connection string; not kept */
    const char *instance; /* its name, for diag_copy() */
    bool wide;
    SQLINTEGER odbc_version;
    unsigned timeout_ms; /* handed down in whole seconds, at least 2 [V] */
};

/* Opens, keeps what the inner driver warns of, and asks who answers.  False:
   error has the inner driver's words (state "HY000" and our own, if there are
   none), and nothing stays open. */
bool link_open(struct link *link, const struct link_order *order,
               struct link_error *error);

/* One round trip: does it answer, and who is it now?  Fills link->who.  False:
   the link is to be closed; error says why. */
bool link_validate(struct link *link, struct link_error *error);

/* After questions of ours, the last of which it has answered: nothing tells the
   session which gets the link that they were asked (struct inner_kind,
   fresh).  link_open() and link_validate() have done so.  False: it is dead;
   error says how it was found out. */
bool link_freshen(struct link *link, struct link_error *error);

/* Makes a used link clean, in the order of facts §10: children freed, rolled
   back, attributes back, the inner kind's reset, then `settings` (SQL of the
   user's start-up, "" = none), after which it is not true any more that they
   failed.  False: it did not come clean and is to be closed; error says what
   failed. */
bool link_reset(struct link *link, const char *settings,
                struct link_error *error);

/* Frees its children; if it was opened, rolls back, disconnects and frees the
   inner handle. */
void link_close(struct link *link);

/* Runs one query and hands its rows over; values[i] is UTF-8 or NULL for SQL
   NULL, valid during the call; row() returns false to stop.  sql is ASCII
   (facts §3: what a narrow call does to other characters depends on the
   process's locale); have texts encoded by the server where they may hold
   more.  False: error; rows may have been delivered before. */
typedef bool link_row(void *arg, unsigned count, const char *const *values);
bool link_query(struct link *link, const char *sql, link_row *row, void *arg,
                struct link_error *error);

/* Runs a statement that gives no rows, or whose rows nobody wants. */
bool link_execute(struct link *link, const char *sql,
                  struct link_error *error);

/* Remembers what an attribute is before the application changes it, so that
   the reset can put it back; where that is not possible, the link is spoilt.
   Asks the inner driver for its own memory only, which does not touch the
   network: the application's thread may call it. */
void link_note_attr(struct link *link, SQLINTEGER attribute);

/* Does the inner driver say that the link is dead (rules §5.1)?  A flag in
   its memory, no round trip: any thread that holds the link; but with a kind
   of dead_asks, helper threads. */
bool link_dead(const struct link *link);

/* The same where it is a flag in memory; false where it would be a question. */
static inline bool link_known_dead(const struct link *link)
{
    return !link->inner->kind->dead_asks && link_dead(link);
}

#endif
