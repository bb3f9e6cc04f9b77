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

static bool is_control(unsigned char c)
{
    return c < ' ' || c == 0x7f;
}

bool inner_sql_is_plain(const char *value, bool backslash)
{
    while (is_plain((unsigned char)*value, backslash) && *value) {
        value++;
    }
    return !*value;
}

/* A control character would only break the tables that tools print. */
size_t inner_sql_quoted(const char *value, bool backslash, struct text *sql)
{
    size_t i = 0;

    text_append_char(sql, '\'');
    for (; value[i] && is_plain((unsigned char)value[i], backslash); i++) {
        if (value[i] == '\'') {
            text_append_char(sql, '\'');
        }
        text_append_char(sql, is_control((unsigned char)value[i]) ? ' '
                                                                  : value[i]);
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
        text_append_point(&bytes, point < 0x80 && is_control((uint8_t)point)
                                      ? ' ' : point);
        for (size_t k = 0; k < bytes.length; k++) {
            text_appendf(sql, "%02x", (unsigned char)bytes.data[k]);
        }
        sql->failed |= bytes.failed;
        text_free(&bytes);
    }
}

bool inner_sql_standard_wrong(const char *sqlstate, SQLINTEGER native)
{
    (void)native;
    return strcmp(sqlstate, "42501") != 0 &&
           (strncmp(sqlstate, "42", 2) == 0 ||
            strncmp(sqlstate, "22", 2) == 0 ||
            strncmp(sqlstate, "0A", 2) == 0);
}
