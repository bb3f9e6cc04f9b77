/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The answer of a command: rows of texts, and the SELECT of literals by which
 * the inner driver makes an ordinary result set of them.
 */
#ifndef COMMAND_ANSWER_H
#define COMMAND_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

struct inner_sql;

/* Out of memory is sticky, and asked for by command_answer_sql(). */
struct command_answer {
    const char *const *names; /* of the columns; kept, not copied */
    size_t columns;
    struct text texts; /* every value, each with its NUL */
    size_t *at;        /* where each begins; SIZE_MAX: it is missing */
    size_t count, room;
    bool failed;
};

/* An empty answer; names ends with NULL. */
void command_answer_begin(struct command_answer *answer,
                          const char *const *names);
void command_answer_free(struct command_answer *answer);

/* The next value, row by row from left to right; NULL: SQL NULL. */
void command_answer_add(struct command_answer *answer, const char *value);
void command_answer_number(struct command_answer *answer, uint64_t value);
void command_answer_yes(struct command_answer *answer, bool value);

size_t command_answer_rows(const struct command_answer *answer);

/* Appends "key=1500, instance=n2" of one row, without what is missing: for a
   record where there is no link to make a result set on. */
void command_answer_say(const struct command_answer *answer, size_t row,
                        struct text *out);

/* Appends the SELECT as the inner driver's database reads it.  Each column is
   a text as wide as its longest value, and at least `least`, so that tools
   which print tables make them narrow.  It is ASCII, whatever the values hold:
   what a narrow call does to other characters depends on the process's locale
   (facts §3), so the server puts them together.  It needs no setting of the
   session's: neither standard_conforming_strings nor search_path.
   False: out of memory. */
bool command_answer_sql(const struct command_answer *answer,
                        const struct inner_sql *dialect, size_t least,
                        struct text *sql);

#endif
