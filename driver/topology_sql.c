/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What all our questions to an instance have in common: the transaction
 * around them, and how texts get there and back whatever the encodings are.
 */
#include "autoconf.h"

#include "inner_sql.h"
#include "topology_inside.h"

#include <stdio.h>
#include <string.h>

bool topology_begin(struct link *link, struct link_error *error)
{
    const char *sql = link->inner->kind->sql->begin;
    struct link_error ignored;

    if (!sql || link_execute(link, sql, error)) {
        return true;
    }
    topology_end(link, false, &ignored);
    return false;
}

bool topology_end(struct link *link, bool ok, struct link_error *error)
{
    const char *sql = link->inner->kind->sql->end;
    struct link_error second;

    if (!link_dead(link) && (!sql || link_execute(link, sql, &second))) {
        return ok;
    }
    link->spoilt = true;
    if (ok) {
        *error = second;
    }
    return false;
}

/* By the catalogs, since to_regclass() refuses those who may not use the
   schema: what a login may not read it may still be routed by. */
void topology_append_table(struct text *sql, const char *table)
{
    text_append(sql,
                "(SELECT c.oid FROM pg_catalog.pg_class c "
                "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace, "
                "(SELECT pg_catalog.parse_ident(pg_catalog.convert_from("
                "pg_catalog.decode('");
    topology_append_hex(sql, table, strlen(table));
    text_append(sql,
                "', 'hex'), 'UTF8')) AS parts) i "
                "WHERE c.relname = "
                "i.parts[pg_catalog.cardinality(i.parts)]::pg_catalog.name "
                "AND CASE pg_catalog.cardinality(i.parts) WHEN 1 THEN "
                "n.nspname = ANY (pg_catalog.current_schemas(true)) "
                "ELSE n.nspname = i.parts[1]::pg_catalog.name END "
                "ORDER BY pg_catalog.array_position("
                "pg_catalog.current_schemas(true), n.nspname) LIMIT 1)");
}

void topology_append_hex(struct text *sql, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        text_appendf(sql, "%02x", (unsigned char)bytes[i]);
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

const char *topology_read_plain(const char *value, struct text *to)
{
    text_clear(to);
    if (!value) {
        return NULL;
    }
    if (*value != 'x') {
        text_append(to, *value ? value + 1 : value);
        return text_string(to);
    }
    for (value++; hex_digit(value[0]) >= 0 && hex_digit(value[1]) >= 0;
         value += 2) {
        text_append_char(to, (char)(hex_digit(value[0]) * 16 +
                                    hex_digit(value[1])));
    }
    return text_string(to);
}

void topology_name_error(struct link_error *error, const char *format, ...)
{
    char was[sizeof error->text];
    size_t length, room = sizeof error->text;
    va_list arguments;

    memcpy(was, error->text, sizeof was);
    length = strcspn(was, "\r\n");
    length -= length && was[length - 1] == ';';
    was[length] = '\0';
    va_start(arguments, format);
    vsnprintf(error->text, room, format, arguments);
    va_end(arguments);
    length = strlen(error->text);
    snprintf(error->text + length, room - length, ": %s", was);
}
