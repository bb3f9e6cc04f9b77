/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What only one sort of inner driver knows: how its connection strings want
 * to be written, what makes a used link clean again, how to ask an instance
 * who it is, what its refusals mean.  One file per sort (inner_<sort>.c), one
 * for drivers we know nothing of; general code asks through this table.  Which
 * sort a driver is: inner_kind.c.
 */
#ifndef INNER_KIND_H
#define INNER_KIND_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>

#include "text.h"
#include "why.h"

struct connstr;
struct environment;
struct inifile_section;
struct inner;
struct inner_sql; /* inner_sql.h */

/* Where a link leads. */
struct inner_target {
    const char *dsn;    /* a DSN of the inner driver, or NULL: */
    const char *driver; /* then this driver, and */
    const char *host;   /* this host, */
    const char *port;   /* and port or NULL */
    const struct connstr *passed; /* keywords handed down, origins kept */

    /* Threads of ours have these, since they may read neither ini files nor the
       environment (rules §15); NULL on others: as they are now. */
    const struct inifile_section *section; /* the DSN's */
    const struct environment *environment; /* of the kind's variables */
};

/* What a refusal or a death says, and about whom (rules §5.2). */
enum inner_fault {
    INNER_FAULT_NONE,      /* the statement's own affair */
    INNER_FAULT_LINK,      /* this link only */
    INNER_FAULT_INSTANCE,  /* the instance is down, or may be */
    INNER_FAULT_STARTING,  /* not ready yet: later */
    INNER_FAULT_FULL,      /* no more connections; it is not down */
    INNER_FAULT_CROWDED,   /* no more of this login, to this database, or from
                              this process */
    INNER_FAULT_POOL,      /* this database or this pool */
    INNER_FAULT_LOGIN      /* this login */
};

/* Is there no room for one more now, though there will be again? */
static inline bool inner_is_full(enum inner_fault fault)
{
    return fault == INNER_FAULT_FULL || fault == INNER_FAULT_CROWDED;
}

/* Will it be otherwise by itself before long?  Then it is waited for by who can
   go nowhere else, and is no failure of that unit's. */
static inline bool inner_passes(enum inner_fault fault)
{
    return inner_is_full(fault) || fault == INNER_FAULT_STARTING;
}

/* May it be said of a link that is no more, alone or with its instance? */
static inline bool inner_loses(enum inner_fault fault)
{
    return fault == INNER_FAULT_LINK || fault == INNER_FAULT_INSTANCE ||
           fault == INNER_FAULT_STARTING;
}

/* Does it refuse who asks, rather than fail for want of health?  Then nobody
   tries again unasked (rules §3.3). */
static inline bool inner_refuses(enum inner_fault fault)
{
    return fault == INNER_FAULT_POOL || fault == INNER_FAULT_LOGIN;
}

/* SELECT columns from; NULL, NULL behind the last of a list. */
struct inner_probe {
    const char *columns;
    const char *from; /* "" or " FROM …" */
};

struct inner_kind {
    const char *name;   /* in messages */

    /* How SQL_DRIVER_NAME, or the library's file, begins, "lib" aside. */
    const char *driver;

    /* May links share an environment?  Only where the driver is known to lock
       what hangs on one; else each link has its own. */
    bool env_shared;

    /* Are there PostgreSQL's catalogs of partitions, for AffinityTable? */
    bool partitions;

    /* Keywords that say where an instance is, beside Server and Port: as part
       of our own string they would make all instances the same one.  Ends
       with NULL; NULL: there are no others. */
    const char *const *places;

    const struct inner_sql *sql;

    /* The variables of the environment that compose and settings look at, NULL
       at the end; NULL: none. */
    const char *const *environment;

    /* The inner connection string.  wide: for SQLDriverConnectW.  Secrets go
       into out, which the caller wipes.  False: why. */
    bool (*compose)(const struct inner_target *target, bool wide,
                    struct text *out, struct why *why);

    /* SQL that follows the roll-back of a reset.  NULL: a used link cannot be
       made clean and is closed. */
    const char *reset;

    /* What to run before the reset is tried once more, when it has failed with
       this SQLSTATE: "" nothing; NULL: it is not.  NULL: it never is. */
    const char *(*reset_again)(const char *sqlstate);

    /* Appends SQL that gives a link this client encoding (who told it) after
       the reset and settings, which have put it back to one that the driver
       does not expect: a narrow link's always, a wide one's by settings.
       NULL: they leave it alone. */
    void (*set_encoding)(const char *encoding, struct text *sql);

    /* SQL for after the reset: what the application's own start-up settings
       were, and what of the environment's the driver sets otherwise.  Appends
       to out, nothing when there are none.  NULL: there never are. */
    bool (*settings)(const struct inner_target *target, struct text *out,
                     struct why *why);

    /* Queries for "who are you", tried in turn until one is answered: one row
       of role (1 = standby), identity, timeline, client encoding, both ends of
       the link as struct link_who has them, backend; each may be NULL.
       NULL-terminated list. */
    const char *const *who;

    /* SQL after which nothing tells that we have asked a link something
       before a session had it, such as how many rows the latest statement
       gave.  NULL: nothing tells anyway. */
    const char *fresh;

    /* What a probe asks, in one round trip (link_probe.h); tried in turn until
       one is answered: the columns of who, then log position, connections, most
       connections, ms that sessions were active, commits, ms since the epoch of
       its start; each may be NULL, and those at the end be missing.  One column
       alone asks for a sign of life. */
    const struct inner_probe *probe;

    /* In which encoding, by iconv's name, does the driver take the narrow texts
       of this process?  It answers NULL for UTF-8 and where bytes are the
       instance's as they are; NULL: that is always so. */
    const char *(*narrow_encoding)(void);

    /* Does its SQLGetFunctions deny SQLGetDiagRec, so that the manager reads
       its records by SQLError? */
    bool says_by_error;

    /* Is SQL_ATTR_CONNECTION_DEAD a question to the instance instead of a flag
       in memory?  Then no thread of the application's asks it unless an error
       gives reason to. */
    bool dead_asks;

    /* May this error be that of a link which has died, so that the question is
       asked?  For a driver in which asking changes what the application sees:
       its records, or what the instance told it last.  NULL: any may; so may
       always one without a record. */
    bool (*may_be_dead)(const char *sqlstate, SQLINTEGER native,
                        const char *text);

    /* Does this error of a statement of the application's give cause to probe
       its instance: its role, or what it owns, may be another than is known?
       It may be an ordinary error as well (rules §1.4).  NULL: none does. */
    bool (*gives_cause)(const char *sqlstate, SQLINTEGER native,
                        const char *text);

    /* SQL that begins a transaction, for a driver that refuses to disconnect
       because it believes to be in one which SQL text has ended.  NULL: this
       driver does no such thing. */
    const char *unstick;

    /* What a connection attribute was before anybody set it, for those the
       driver lets nobody read.  False: not known.  NULL: of none. */
    bool (*attr_default)(SQLINTEGER attribute, SQLULEN *value);

    /* What this error says when a link could not be opened or is dead. */
    enum inner_fault (*fault)(const char *sqlstate, SQLINTEGER native,
                              const char *text);
};

/* The sort of the driver of this name: its library's file, with or without a
   folder, or what SQL_DRIVER_NAME says.  Never NULL. */
const struct inner_kind *inner_kind_of(const char *name);

/* A compose() for drivers that read {braces} and call a host Server, its port
   Port. */
bool inner_compose(const struct inner_target *target, bool wide,
                   struct text *out, struct why *why);

extern const struct inner_kind inner_mariadb;
extern const struct inner_kind inner_psqlodbc;
extern const struct inner_kind inner_sqlite;
extern const struct inner_kind inner_unknown;

#endif
