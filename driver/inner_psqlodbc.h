/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What inner_psqlodbc*.c share; and SQL that only PostgreSQL reads, for them
 * and for those who ask PostgreSQL's own catalogs (topology_partitions.c,
 * topology_resolve_sql.c).
 */
#ifndef INNER_PSQLODBC_H
#define INNER_PSQLODBC_H

struct environment;
struct inner_sql;

extern const struct inner_sql inner_psqlodbc_sql;

/* What stands behind the '.' in the name of the locale of this environment
   (NULL: the process's); NULL: nothing, or there is no such locale.  The
   environment's own memory. */
const char *
inner_psqlodbc_codeset(const struct environment *environment);

/* struct inner_kind's narrow_encoding. */
const char *inner_psqlodbc_narrow_encoding(void);

/* SQL for one text: 'a' and itself, if it is plain ASCII, else 'x' and its
   UTF-8 in hex (topology_read_plain() reads it). */
#define INNER_PG_PLAIN(x)                                                     \
    "(SELECT CASE WHEN octet_length(u) = char_length(" x ") AND "             \
    "position(chr(10) in " x ") = 0 AND position(chr(13) in " x ") = 0 "      \
    "THEN 'a' || " x " ELSE 'x' || encode(u, 'hex') END "                     \
    "FROM convert_to(" x ", 'UTF8') u)"

#endif
