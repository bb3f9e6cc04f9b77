/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQL that only PostgreSQL reads, for inner_psqlodbc*.c and for those who ask
 * PostgreSQL's own catalogs (topology_partitions.c, topology_resolve_sql.c).
 */
#ifndef INNER_PSQLODBC_H
#define INNER_PSQLODBC_H

struct inner_sql;

extern const struct inner_sql inner_psqlodbc_sql;

/* SQL for one text: 'a' and itself, if it is plain ASCII, else 'x' and its
   UTF-8 in hex (topology_read_plain() reads it). */
#define INNER_PG_PLAIN(x)                                                     \
    "(SELECT CASE WHEN octet_length(u) = char_length(" x ") AND "             \
    "position(chr(10) in " x ") = 0 AND position(chr(13) in " x ") = 0 "      \
    "THEN 'a' || " x " ELSE 'x' || encode(u, 'hex') END "                     \
    "FROM convert_to(" x ", 'UTF8') u)"

#endif
