/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One mess: a session connects, looks (the probe), makes its mess, sees that
 * the probe shows it, and leaves without tidying up; the next session must see
 * what the first look saw.  The lists of messes are leak.c (PostgreSQL) and
 * leak-inner.c (the others).
 */
#ifndef LEAK_MESS_H
#define LEAK_MESS_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>

/* Where the sessions are. */
struct leak {
    SQLHENV env;
    const char *string; /* with PoolMax=1 */
    bool plain;         /* statements are not prepared by the server */
    /* SQL that tells one link from another: the next session must have the
       same one, cleaned.  NULL: a used link is closed. */
    const char *link;
};

struct mess {
    const char *name;
    const char *probe_sql;                 /* or */
    const char *(*probe)(SQLHDBC dbc);
    const char *mess_sql;                  /* or */
    bool (*mess)(SQLHDBC dbc);
    enum seen {
        SEEN,
        SEEN_PREPARED, /* by the probe, unless statements are plain */
        UNSEEN         /* the probe cannot show it while it lasts */
    } seen;
};

/* Counts the row that no session commits, in the table that each database
   under test has. */
#define LEAK_LOST "SELECT count(*) FROM plain WHERE id = -77"


void leak_try_mess(const struct mess *mess, const struct leak *leak,
                   bool wide);

/* ---- for probes and messes --------------------------------------------- */

bool leak_set(SQLHDBC dbc, SQLINTEGER attribute, SQLULEN value);

/* The number in a buffer that lasts for eight calls. */
const char *leak_number(unsigned long n);
const char *leak_attr(SQLHDBC dbc, SQLINTEGER attribute);
const char *leak_autocommit(SQLHDBC dbc);

bool leak_open_transaction(SQLHDBC dbc);
bool leak_manual_commit(SQLHDBC dbc);

#endif
