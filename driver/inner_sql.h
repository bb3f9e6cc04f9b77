/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How SQL of our own is written for one sort of database: the SELECT of
 * literals behind SHOW AFFINITY, and what is put around the user's
 * AffinityQuery.  One table per inner kind, in the kind's own file.
 */
#ifndef INNER_SQL_H
#define INNER_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sql.h>

#include "text.h"

struct inner_sql {
    char quote;            /* around a column's name */
    const char *text_type; /* CAST(x AS text_type(n)) */

    /* Appends an expression, all ASCII, whose value is this UTF-8 text, under
       any setting of the session's.  Control characters become blanks and
       bytes that are no UTF-8 become U+FFFD, or '?' where it must be. */
    void (*literal)(const char *value, struct text *sql);

    /* SQL before and after questions of ours: a transaction that reads only
       and, where the database can, ends by itself, and gives values as
       route_type.h reads them.  NULL: the statement goes by itself. */
    const char *begin, *end;

    /* Appends a SELECT of the first three columns of the user's query
       (query[0..length), no ';' behind it) as topology_read_plain() reads
       them, so that no encoding can hurt them.  NULL: the query goes as it
       stands, and its texts must be ASCII. */
    void (*ask)(const char *query, size_t length, struct text *sql);

    /* Does this error say that what was asked is wrong (syntax, names,
       values), whoever asks?  Rights are not among it. */
    bool (*says_wrong)(const char *sqlstate, SQLINTEGER native);
};

/* A control character, which would only break the tables that tools print. */
bool inner_sql_is_control(uint32_t point);

/* Can the text stand between quotes: ASCII, and no backslash if those may be
   escapes? */
bool inner_sql_is_plain(const char *value, bool backslash);

/* Appends 'value' with quotes doubled and control characters blanked; stops at
   the first character that is not plain and returns how many bytes it took. */
size_t inner_sql_quoted(const char *value, bool backslash, struct text *sql);

/* Appends length bytes of text in hexadecimal digits as UTF-8: control
   characters blanked, what is no UTF-8 as U+FFFD. */
void inner_sql_hex(const char *value, size_t length, struct text *sql);

/* An ask() for databases that name the columns of a query by WITH.  plain: an
   expression whose value is a column's as topology_read_plain() reads it; its
   name stands there as '?'. */
void inner_sql_ask(const char *query, size_t length, const char *plain,
                   struct text *sql);

/* says_wrong() by the classes of the SQL standard. */
bool inner_sql_standard_wrong(const char *sqlstate, SQLINTEGER native);

#endif
