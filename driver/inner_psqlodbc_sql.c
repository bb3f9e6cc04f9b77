/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQL of ours as PostgreSQL reads it.
 */
#include "autoconf.h"

#include "inner_psqlodbc.h"
#include "inner_sql.h"

/* One snapshot for all catalog queries; lock_timeout because the functions of
   the self-test and the resolver lock the table's partitions (facts §D1),
   statement_timeout for a query of the user's that does not end.  jit (since
   11) would take 200 ms to compile what then runs for two. */
static const char begin[] =
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
    "SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '20s'; "
    "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL TimeZone = 'UTC'; "
    "SET LOCAL IntervalStyle = 'postgres'; SET LOCAL bytea_output = 'hex'; "
    "SET LOCAL extra_float_digits = 1; "
    "SET LOCAL standard_conforming_strings = on; "
    "SELECT set_config(name, 'off', true) FROM pg_catalog.pg_settings "
    "WHERE name = 'jit'";

/* A run of other characters; bytes that are no UTF-8 have become U+FFFD, so
   that the server finds nothing to complain of. */
static size_t append_encoded(const char *value, struct text *sql)
{
    size_t length = 0;

    while ((unsigned char)value[length] >= 0x80) {
        length++;
    }
    text_append(sql, "pg_catalog.convert_from(pg_catalog.decode('");
    inner_sql_hex(value, length, sql);
    text_append(sql, "', 'hex'), 'UTF8')");
    return length;
}

/* A backslash means itself in a literal or does not, by a setting of the
   session's.  No function is called by a bare name, because of search_path. */
static void literal(const char *value, struct text *sql)
{
    const char *between = "";

    do {
        text_append(sql, between);
        if (*value == '\\') {
            text_append(sql, "pg_catalog.chr(92)");
            value++;
        } else if ((unsigned char)*value < 0x80) {
            value += inner_sql_quoted(value, false, sql);
        } else {
            value += append_encoded(value, sql);
        }
        between = " || ";
    } while (*value);
}

static void ask(const char *query, size_t length, struct text *sql)
{
    text_append(sql, "SELECT " INNER_PG_PLAIN("q.a::text") ", "
                INNER_PG_PLAIN("q.b::text") ", " INNER_PG_PLAIN("q.c::text")
                " FROM (");
    text_append_bytes(sql, query, length);
    text_append(sql, "\n) q (a, b, c)"); /* it may end in a -- comment */
}

const struct inner_sql inner_psqlodbc_sql = {
    .quote = '"',
    .text_type = "VARCHAR",
    .literal = literal,
    .begin = begin,
    .end = "ROLLBACK",
    .ask = ask,
    .says_wrong = inner_sql_standard_wrong,
};
