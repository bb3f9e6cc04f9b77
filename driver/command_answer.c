/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Rows of texts, and the SELECT that gives them back.
 */
#include "autoconf.h"

#include "command_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void command_answer_begin(struct command_answer *answer,
                          const char *const *names)
{
    memset(answer, 0, sizeof *answer);
    answer->names = names;
    while (names[answer->columns]) {
        answer->columns++;
    }
    text_init(&answer->texts);
}

void command_answer_free(struct command_answer *answer)
{
    text_free(&answer->texts);
    free(answer->at);
    memset(answer, 0, sizeof *answer);
}

static bool make_room(struct command_answer *answer)
{
    size_t room = answer->room ? answer->room * 2 : 64;
    size_t *at;

    if (answer->count < answer->room) {
        return true;
    }
    at = reallocarray(answer->at, room, sizeof *at);
    if (!at) {
        answer->failed = true;
        return false;
    }
    answer->at = at;
    answer->room = room;
    return true;
}

void command_answer_add(struct command_answer *answer, const char *value)
{
    if (answer->failed || !make_room(answer)) {
        return;
    }
    answer->at[answer->count++] = value ? answer->texts.length : SIZE_MAX;
    if (value) {
        text_append_bytes(&answer->texts, value, strlen(value) + 1);
        answer->failed |= answer->texts.failed;
    }
}

void command_answer_number(struct command_answer *answer, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRIu64, value);
    command_answer_add(answer, digits);
}

void command_answer_yes(struct command_answer *answer, bool value)
{
    command_answer_add(answer, value ? "yes" : "no");
}

size_t command_answer_rows(const struct command_answer *answer)
{
    return answer->columns ? answer->count / answer->columns : 0;
}

static const char *value_at(const struct command_answer *answer, size_t row,
                            size_t column)
{
    size_t at = answer->at[row * answer->columns + column];

    return at == SIZE_MAX ? NULL : answer->texts.data + at;
}

void command_answer_say(const struct command_answer *answer, size_t row,
                        struct text *out)
{
    const char *between = "";

    for (size_t i = 0; i < answer->columns; i++) {
        const char *value = value_at(answer, row, i);

        if (value) {
            text_appendf(out, "%s%s=%s", between, answer->names[i], value);
            between = ", ";
        }
    }
}

/* ---- the SELECT ------------------------------------------------------ */

static bool is_plain(unsigned char c)
{
    return c < 0x80 && c != '\\';
}

/* A run of ASCII in quotes.  A control character would only break the tables
   that tools print. */
static size_t append_plain(struct text *sql, const char *value)
{
    size_t i = 0;

    text_append_char(sql, '\'');
    for (; value[i] && is_plain((unsigned char)value[i]); i++) {
        char c = value[i];

        if (c == '\'') {
            text_append_char(sql, c);
        }
        text_append_char(sql, (unsigned char)c < ' ' || c == 0x7f ? ' ' : c);
    }
    text_append_char(sql, '\'');
    return i;
}

/* A run of other characters as UTF-8 in hexadecimal digits; bytes that are no
   UTF-8 have become U+FFFD, so that the server finds nothing to complain of. */
static size_t append_encoded(struct text *sql, const char *value)
{
    size_t i = 0;

    text_append(sql, "pg_catalog.convert_from(pg_catalog.decode('");
    while ((unsigned char)value[i] >= 0x80) {
        struct text bytes;
        uint32_t point;

        text_init(&bytes);
        i += text_decode(value + i, strlen(value + i), &point);
        text_append_point(&bytes, point);
        for (size_t k = 0; k < bytes.length; k++) {
            text_appendf(sql, "%02x", (unsigned char)bytes.data[k]);
        }
        sql->failed |= bytes.failed;
        text_free(&bytes);
    }
    text_append(sql, "', 'hex'), 'UTF8')");
    return i;
}

/* A backslash means itself in a literal or does not, by a setting of the
   session's. */
static void append_literal(struct text *sql, const char *value)
{
    const char *between = "";

    if (!value) {
        text_append(sql, "NULL");
        return;
    }
    do {
        text_append(sql, between);
        if (*value == '\\') {
            text_append(sql, "pg_catalog.chr(92)");
            value++;
        } else if (is_plain((unsigned char)*value)) {
            value += append_plain(sql, value);
        } else {
            value += append_encoded(sql, value);
        }
        between = " || ";
    } while (*value);
}

/* Bytes, though a VARCHAR counts characters: Perl's DBD::ODBC takes its size
   for that of a buffer, and fails where UTF-8 does not fit. */
static size_t value_width(const char *value)
{
    size_t length = value ? strlen(value) : 0, count = 0;

    for (size_t i = 0; i < length;) {
        uint32_t point;
        size_t bytes = text_decode(value + i, length - i, &point);

        i += bytes;
        count += point == 0xFFFD ? 3 : bytes;
    }
    return count;
}

static size_t column_width(const struct command_answer *answer, size_t column,
                           size_t least)
{
    size_t width = least ? least : 1;

    for (size_t row = 0; row < command_answer_rows(answer); row++) {
        size_t count = value_width(value_at(answer, row, column));

        width = count > width ? count : width;
    }
    return width;
}

static void append_columns(const struct command_answer *answer, size_t least,
                           struct text *sql)
{
    bool rows = command_answer_rows(answer) > 0;

    for (size_t i = 0; i < answer->columns; i++) {
        text_append(sql, i ? ", " : "SELECT ");
        if (rows) {
            text_appendf(sql, "CAST(c%zu", i);
        } else {
            text_append(sql, "CAST(NULL");
        }
        text_appendf(sql, " AS VARCHAR(%zu)) AS \"%s\"",
                     column_width(answer, i, least), answer->names[i]);
    }
}

static void append_values(const struct command_answer *answer,
                          struct text *sql)
{
    text_append(sql, " FROM (VALUES ");
    for (size_t row = 0; row < command_answer_rows(answer); row++) {
        text_append(sql, row ? ", (" : "(");
        for (size_t i = 0; i < answer->columns; i++) {
            text_append(sql, i ? ", " : "");
            append_literal(sql, value_at(answer, row, i));
        }
        text_append_char(sql, ')');
    }
    text_append(sql, ") AS affinity (");
    for (size_t i = 0; i < answer->columns; i++) {
        text_appendf(sql, "%sc%zu", i ? ", " : "", i);
    }
    text_append_char(sql, ')');
}

bool command_answer_sql(const struct command_answer *answer, size_t least,
                        struct text *sql)
{
    if (answer->failed) {
        return false;
    }
    append_columns(answer, least, sql);
    if (command_answer_rows(answer) > 0) {
        append_values(answer, sql);
    } else {
        text_append(sql, " WHERE 1 = 0");
    }
    return !sql->failed;
}
