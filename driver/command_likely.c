/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The closer look at a text that may have the word AFFINITY.  A command is a
 * text's only statement, so the first letters tell nearly always; one among
 * several is refused (rules §12), which takes a ';' with something behind it.
 */
#include "autoconf.h"

#include "command_likely.h"

static unsigned unit_at(const struct command_look *look, size_t i)
{
    return command_unit_at(look, i);
}

static unsigned letter_at(const struct command_look *look, size_t i)
{
    unsigned unit = unit_at(look, i);

    return unit >= 'A' && unit <= 'Z' ? unit + ('a' - 'A') : unit;
}

static __attribute__((noinline)) bool
has_word_at(const struct command_look *look, size_t i)
{
    const char *word = "affinity";

    while (*word && letter_at(look, i) == (unsigned)*word) {
        word++;
        i++;
    }
    return !*word;
}

static bool ends_before(const struct command_look *look, size_t place)
{
    size_t i = 0;

    while (i < place && unit_at(look, i)) {
        i++;
    }
    return i < place;
}

COMMAND_INLINE size_t skip(const struct command_look *look, size_t i)
{
    return (uintptr_t)look->text % command_unit(look->width)
               ? command_skip_letters(look, i)
               : command_skip(look, i);
}

/* Of one sort of text, known where this is compiled into. */
COMMAND_INLINE bool has_word_in(struct command_look look)
{
    size_t i;

    for (i = skip(&look, 0); command_unit_at(&look, i);
         i = skip(&look, i + 1)) {
        if (has_word_at(&look, i) || (i > 0 && has_word_at(&look, i - 1))) {
            return !ends_before(&look, i);
        }
    }
    return false;
}

static bool has_word(const struct command_look *look)
{
    const char *text = look->text;
    size_t n = look->count;

#define SORT(count, width) \
    has_word_in((struct command_look){ text, count, width })
    if (look->width == TEXT_WIDE) {
        return n == SIZE_MAX ? SORT(SIZE_MAX, TEXT_WIDE) : SORT(n, TEXT_WIDE);
    }
    return n == SIZE_MAX ? SORT(SIZE_MAX, TEXT_NARROW) : SORT(n, TEXT_NARROW);
#undef SORT
}

static size_t skip_blanks(const struct command_look *look, size_t i)
{
    while (text_is_blank(unit_at(look, i))) {
        i++;
    }
    return i;
}

/* SET, SHOW, EXPLAIN, REFRESH, RESUME, DRAIN, by as few letters as tell them
   from SELECT, EXECUTE, RETURN and DROP; or something that is no statement,
   behind which one may come.  The text has the word, hence three letters. */
static bool starts_like_one(const struct command_look *look)
{
    size_t i = skip_blanks(look, 0);
    unsigned first = letter_at(look, i);
    unsigned second = letter_at(look, i + 1);
    unsigned third = letter_at(look, i + 2);

    switch (first) {
    case 's':
        return second == 'h' || (second == 'e' && third == 't');
    case 'e':
        return second == 'x' && third == 'p';
    case 'r':
        return second == 'e' && (third == 'f' || third == 's');
    case 'd':
        return second == 'r' && third == 'a';
    default:
        return first == '-' || first == '/' || first == ';';
    }
}

static bool has_several(const struct command_look *look)
{
    size_t i = 0;
    unsigned unit;

    while ((unit = unit_at(look, i)) != ';') {
        if (!unit) {
            return false;
        }
        i++;
    }
    return unit_at(look, skip_blanks(look, i + 1)) != 0;
}

bool command_likely(const void *text, SQLINTEGER length,
                    enum text_width width)
{
    struct command_look look = {
        text, length == SQL_NTS ? SIZE_MAX : (size_t)length, width,
    };

    return text && (length >= 0 || length == SQL_NTS) && has_word(&look) &&
           (starts_like_one(&look) || has_several(&look));
}
