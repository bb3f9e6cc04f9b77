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

#include "inner_sql.h"

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

static void append_name(const struct inner_sql *dialect, const char *name,
                        struct text *sql)
{
    text_append_char(sql, dialect->quote);
    text_append(sql, name);
    text_append_char(sql, dialect->quote);
}

static void append_columns(const struct command_answer *answer,
                           const struct inner_sql *dialect, size_t least,
                           struct text *sql)
{
    for (size_t i = 0; i < answer->columns; i++) {
        text_appendf(sql, "%sCAST(c%zu AS %s(%zu)) AS ",
                     i ? ", " : "SELECT ", i, dialect->text_type,
                     column_width(answer, i, least));
        append_name(dialect, answer->names[i], sql);
    }
}

static void append_value(const struct inner_sql *dialect, const char *value,
                         struct text *sql)
{
    if (value) {
        dialect->literal(value, sql);
    } else {
        text_append(sql, "NULL");
    }
}

/* The first row gives the columns their names, which not every database lets
   be given to VALUES, and is of NULLs if there is none. */
static void append_first(const struct command_answer *answer,
                         const struct inner_sql *dialect, struct text *sql)
{
    bool rows = command_answer_rows(answer) > 0;

    text_append(sql, "SELECT ");
    for (size_t i = 0; i < answer->columns; i++) {
        text_append(sql, i ? ", " : "");
        append_value(dialect, rows ? value_at(answer, 0, i) : NULL, sql);
        text_appendf(sql, " AS c%zu", i);
    }
}

static void append_others(const struct command_answer *answer,
                          const struct inner_sql *dialect, struct text *sql)
{
    for (size_t row = 1; row < command_answer_rows(answer); row++) {
        text_append(sql, row > 1 ? ", (" : " UNION ALL VALUES (");
        for (size_t i = 0; i < answer->columns; i++) {
            text_append(sql, i ? ", " : "");
            append_value(dialect, value_at(answer, row, i), sql);
        }
        text_append_char(sql, ')');
    }
}

bool command_answer_sql(const struct command_answer *answer,
                        const struct inner_sql *dialect, size_t least,
                        struct text *sql)
{
    if (answer->failed) {
        return false;
    }
    append_columns(answer, dialect, least, sql);
    text_append(sql, " FROM (");
    append_first(answer, dialect, sql);
    append_others(answer, dialect, sql);
    text_append(sql, ") AS affinity");
    if (command_answer_rows(answer) == 0) {
        text_append(sql, " WHERE 1 = 0");
    }
    return !sql->failed;
}
