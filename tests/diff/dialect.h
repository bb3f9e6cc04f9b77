/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What differs between databases: everything else that the subjects say is
 * understood by all of them.  A text of NULL: this database has no such thing,
 * and the step is left out.
 */
#ifndef DIFF_DIALECT_H
#define DIFF_DIALECT_H

#include <stdbool.h>
#include <stddef.h>

struct dialect {
    const char *name;
    /* ";KEYWORD=value…" of the inner driver, NULL at the end: each subject is
       run with each.  The first is the default. */
    const char *const *options;
    const char *other_login; /* ";KEYWORD=value", without effect */
    const char *warns;       /* ";KEYWORD=value" that SQLDriverConnect warns of;
                                NULL: there is none */
    const char *user;        /* for SQLConnect, in words the DSN has not */
    bool by_error;           /* the manager reads its records by SQLError, and
                                nobody sets what else a record has */
    bool bare;               /* the driver disconnects without statements only */
    /* Statements that make what the subjects use; NULL at the end. */
    const char *const *setup;
    const char *const *drop; /* what undoes that, NULL: nothing has to */
    /* A row for each link that this process has open, with a column that tells
       one from another. PostgreSQL knows them by PGAPPNAME. */
    const char *links;
    const char *schema; /* of the tables, for the catalog */

    /* What can be asked of a session's state, and what changes it, which the
       next session must not see; NULL at the end. */
    const char *const *state;
    const char *const *leavings;

    const char *types;       /* a SELECT of one row with a column per type */
    const char *wait;        /* a SELECT that lasts for ten seconds */
    const char *waiting;     /* "0" while no session of ours runs it */
    const char *error_row;   /* rows first, and then an error */
    const char *series;      /* a SELECT of a number 1 … 1000 and a text */
    const char *two_results; /* two SELECTs in one text */
    const char *notice;      /* succeeds with a message */
};

extern const struct dialect dialect_mariadb, dialect_sqlite;

const struct dialect *dialect_find(const char *name);

#endif
