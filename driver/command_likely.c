/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The cheap look at every statement: could it hold a command of ours?  It
 * reads the text as it came, narrow or wide, and must cost next to nothing
 * where the answer is no (promise 9); what it lets through is read exactly by
 * command_parse.c.
 *
 * A command is a text's only statement, so the first letters tell nearly
 * always.  One among several is refused (rules §12), which takes a ';' with
 * something behind it.  And every command holds the word AFFINITY.
 */
#include "autoconf.h"

#include "command.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* A text of one width, known where this is compiled into, as it is whether the
   text has a terminator. */
struct look {
    const char *text;
    size_t count; /* units; SIZE_MAX: up to the terminator */
    enum text_width width;
};

/* Unit i, 0 behind the end: a terminator ends a text in either case, as far
   as a command is concerned.  At any address, which wide text may have. */
INLINE unsigned unit_at(const struct look *look, size_t i)
{
    uint16_t unit;

    if (look->count != SIZE_MAX && i >= look->count) {
        return 0;
    }
    if (look->width == TEXT_NARROW) {
        return (unsigned char)look->text[i];
    }
    memcpy(&unit, look->text + i * sizeof unit, sizeof unit);
    return unit;
}

INLINE unsigned letter_at(const struct look *look, size_t i)
{
    unsigned unit = unit_at(look, i);

    return unit >= 'A' && unit <= 'Z' ? unit + ('a' - 'A') : unit;
}

INLINE bool is_blank(unsigned unit)
{
    return unit == ' ' || (unit >= '\t' && unit <= '\r');
}

INLINE size_t skip_blanks(const struct look *look, size_t i)
{
    while (is_blank(unit_at(look, i))) {
        i++;
    }
    return i;
}

/* A letter in lower case, in one instruction; what becomes of others does not
   matter where a mistake only means a closer look. */
INLINE unsigned lower_at(const struct look *look, size_t i)
{
    return unit_at(look, i) | 0x20;
}

/* SET, SHOW, EXPLAIN, REFRESH, RESUME, DRAIN, by as few letters as tell them
   from SELECT, EXECUTE, RETURN and DROP; or something that is no statement,
   behind which one may come. */
INLINE bool starts_like_one(const struct look *look)
{
    size_t i = skip_blanks(look, 0);
    unsigned first = lower_at(look, i);

    if (first == 's') {
        unsigned second = lower_at(look, i + 1);

        return second == 'h' ||
               (second == 'e' && lower_at(look, i + 2) == 't');
    }
    if (first == 'e') {
        return lower_at(look, i + 1) == 'x' && lower_at(look, i + 2) == 'p';
    }
    if (first == 'r') {
        return lower_at(look, i + 1) == 'e' &&
               (lower_at(look, i + 2) == 'f' || lower_at(look, i + 2) == 's');
    }
    if (first == 'd') {
        return lower_at(look, i + 1) == 'r' && lower_at(look, i + 2) == 'a';
    }
    return first == '-' || first == '/' || first == ';';
}

/* The place of the first ';', or of the end. */
INLINE size_t find_semicolon(const struct look *look)
{
    size_t i = 0;

    if (look->width == TEXT_NARROW) {
        const char *found = look->count == SIZE_MAX
                                ? strchr(look->text, ';')
                                : memchr(look->text, ';', look->count);
        return found ? (size_t)(found - look->text) : look->count;
    }
    /* four units at once, where the length says that they are there */
    for (; look->count != SIZE_MAX && i + 4 <= look->count; i += 4) {
        const uint64_t ones = UINT64_C(0x0001000100010001);
        uint64_t four;

        memcpy(&four, look->text + i * 2, sizeof four);
        four ^= ones * ';';
        if ((four - ones) & ~four & (ones << 15)) {
            break;
        }
    }
    for (; i < look->count; i++) {
        unsigned unit = unit_at(look, i);

        if (unit == ';') {
            return i;
        }
        if (unit == 0 && look->count == SIZE_MAX) {
            break;
        }
    }
    return look->count;
}

static bool has_word(const struct look *look)
{
    static const char word[] = "affinity";

    for (size_t i = 0; unit_at(look, i); i++) {
        size_t k = 0;

        while (word[k] && letter_at(look, i + k) == (unsigned)word[k]) {
            k++;
        }
        if (!word[k]) {
            return true;
        }
    }
    return false;
}

/* The closer look: the text starts like a command of ours, or has a ';' at
   `semicolon`, with something behind it or not. */
static __attribute__((noinline, cold)) bool
look_closer(const void *text, size_t count, enum text_width width,
            size_t semicolon)
{
    struct look look = { text, count, width };

    return (starts_like_one(&look) ||
            unit_at(&look, skip_blanks(&look, semicolon + 1)) != 0) &&
           has_word(&look);
}

INLINE bool is_likely(const void *text, size_t count, enum text_width width)
{
    struct look look = { text, count, width };
    size_t semicolon = 0;

    if (!starts_like_one(&look)) {
        semicolon = find_semicolon(&look);
        if (semicolon >= count) {
            return false;
        }
    }
    return look_closer(text, count, width, semicolon);
}

/* A function for each sort of text, lest one save registers for another. */
#define SORT(name, count_known, text_width) \
    static __attribute__((noinline)) bool name(const void *text, size_t count) \
    { \
        (void)count; \
        return is_likely(text, count_known, text_width); \
    }
SORT(is_likely_narrow, SIZE_MAX, TEXT_NARROW)
SORT(is_likely_wide, SIZE_MAX, TEXT_WIDE)
SORT(is_likely_narrow_counted, count, TEXT_NARROW)
SORT(is_likely_wide_counted, count, TEXT_WIDE)

bool command_likely(const void *text, SQLINTEGER length,
                    enum text_width width)
{
    if (!text || (length < 0 && length != SQL_NTS)) {
        return false;
    }
    if (length == SQL_NTS) {
        return width == TEXT_WIDE ? is_likely_wide(text, SIZE_MAX)
                                  : is_likely_narrow(text, SIZE_MAX);
    }
    return width == TEXT_WIDE ? is_likely_wide_counted(text, (size_t)length)
                              : is_likely_narrow_counted(text,
                                                         (size_t)length);
}
