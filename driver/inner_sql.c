/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the dialects of SQL share.
 */
#include "autoconf.h"

#include "inner_sql.h"

#include <string.h>

static bool is_plain(unsigned char c, bool backslash)
{
    return c < 0x80 && (backslash || c != '\\');
}

bool inner_sql_is_control(uint32_t point)
{
    return point < ' ' || point == 0x7f;
}

bool inner_sql_is_plain(const char *value, bool backslash)
{
    while (is_plain((unsigned char)*value, backslash) && *value) {
        value++;
    }
    return !*value;
}

size_t inner_sql_quoted(const char *value, bool backslash, struct text *sql)
{
    size_t i = 0;

    text_append_char(sql, '\'');
    for (; value[i] && is_plain((unsigned char)value[i], backslash); i++) {
        if (value[i] == '\'') {
            text_append_char(sql, '\'');
        }
        text_append_char(sql, inner_sql_is_control((unsigned char)value[i])
                                  ? ' ' : value[i]);
    }
    text_append_char(sql, '\'');
    return i;
}

void inner_sql_hex(const char *value, size_t length, struct text *sql)
{
    for (size_t i = 0; i < length;) {
        struct text bytes;
        uint32_t point;

        text_init(&bytes);
        i += text_decode(value + i, length - i, &point);
        text_append_point(&bytes, inner_sql_is_control(point) ? ' ' : point);
        for (size_t k = 0; k < bytes.length; k++) {
            text_appendf(sql, "%02x", (unsigned char)bytes.data[k]);
        }
        sql->failed |= bytes.failed;
        text_free(&bytes);
    }
}

void inner_sql_ask(const char *query, size_t length, const char *plain,
                   struct text *sql)
{
    text_append(sql, "WITH q (a, b, c) AS (");
    text_append_bytes(sql, query, length);
    text_append(sql, "\n) SELECT "); /* it may end in a -- comment */
    for (const char *column = "abc"; *column; column++) {
        text_append(sql, *column == 'a' ? "" : ", ");
        for (const char *c = plain; *c; c++) {
            text_append_char(sql, *c == '?' ? *column : *c);
        }
    }
    text_append(sql, " FROM q");
}

bool inner_sql_standard_wrong(const char *sqlstate, SQLINTEGER native)
{
    (void)native;
    return strcmp(sqlstate, "42501") != 0 &&
           (strncmp(sqlstate, "42", 2) == 0 ||
            strncmp(sqlstate, "22", 2) == 0 ||
            strncmp(sqlstate, "0A", 2) == 0);
}
