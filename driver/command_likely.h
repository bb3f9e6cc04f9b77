/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The cheap look at every statement: could it hold a command of ours?  It
 * reads the text as it came, narrow or wide, and must cost next to nothing
 * where the answer is no (promise 9), so it is inline.
 *
 * Every command holds the word AFFINITY and hardly any other text does.  So
 * that is looked for, whether the text might be one of ours or have one among
 * several statements (rules §12).  A text that may have it gets the closer
 * look of command_likely.c.
 *
 * On x86-64 sixteen bytes are searched together, pair by pair of letters:
 * wherever the word stands, either its AF or its FF is such a pair.  A text
 * with a terminator is read in sixteens whose address is a multiple of their
 * size, so that each lies in one page with a part of the text; those before
 * and behind it can be read, and decide nothing.  On other machines letter by
 * letter.
 */
#ifndef COMMAND_LIKELY_H
#define COMMAND_LIKELY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <sql.h>
#include <sqlext.h>

#include "text.h"

#define COMMAND_INLINE static inline __attribute__((always_inline))

/* A text of one width, known where this is compiled into, as it is whether the
   text has a terminator. */
struct command_look {
    const char *text;
    size_t count; /* units; SIZE_MAX: up to the terminator */
    enum text_width width;
};

COMMAND_INLINE size_t command_unit(enum text_width width)
{
    return width == TEXT_WIDE ? sizeof(SQLWCHAR) : 1;
}

/* Unit i, 0 behind the end: a terminator ends a text in either case, as far
   as a command is concerned.  At any address, which wide text may have. */
COMMAND_INLINE unsigned command_unit_at(const struct command_look *look,
                                        size_t i)
{
    SQLWCHAR unit;

    if (look->count != SIZE_MAX && i >= look->count) {
        return 0;
    }
    if (look->width == TEXT_NARROW) {
        return (unsigned char)look->text[i];
    }
    memcpy(&unit, look->text + i * sizeof unit, sizeof unit);
    return unit;
}

#ifdef __SSE2__

enum { COMMAND_CHUNK = sizeof(__m128i), COMMAND_HALF = COMMAND_CHUNK / 2 };

/* Which bytes belong to a pair AF or FF, or to one of a few others: those
   letters, small and capital, differ in no other bits than these. */
COMMAND_INLINE __m128i command_pairs(__m128i bytes, enum text_width width)
{
    enum { ANY = 'A' ^ 'F' ^ 0x20, FIRST = 'F' | ANY, SECOND = 'F' | 0x20 };

    return width == TEXT_NARROW
               ? _mm_cmpeq_epi16(
                     _mm_or_si128(bytes, _mm_set1_epi16(ANY | 0x20 << 8)),
                     _mm_set1_epi16(FIRST | SECOND << 8))
               : _mm_cmpeq_epi32(
                     _mm_or_si128(bytes, _mm_set1_epi32(ANY | 0x20 << 16)),
                     _mm_set1_epi32(FIRST | SECOND << 16));
}

/* Bit i: byte i of the chunk belongs to a pair or a terminator.  Not inline
   where a sanitizer would see what is read. */
static inline __attribute__((no_sanitize("address", "thread"))) unsigned
command_marks(const char *chunk, enum text_width width)
{
    __m128i bytes = _mm_load_si128((const void *)chunk);
    __m128i none = _mm_setzero_si128();
    __m128i ends = width == TEXT_NARROW ? _mm_cmpeq_epi8(bytes, none)
                                        : _mm_cmpeq_epi16(bytes, none);

    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(command_pairs(bytes, width), ends));
}

/* The first mark at or behind `from`, which is a multiple of a pair's size. */
COMMAND_INLINE const char *command_first_mark(const char *from,
                                              enum text_width width)
{
    uintptr_t before = (uintptr_t)from % COMMAND_CHUNK;
    const char *chunk = from - before;
    unsigned marks = command_marks(chunk, width) & ~0U << before;

    while (!marks) {
        chunk += COMMAND_CHUNK;
        marks = command_marks(chunk, width);
    }
    return chunk + __builtin_ctz(marks);
}

/* Where the bytes that lie at `from` have their first pair; NULL: nowhere. */
COMMAND_INLINE const char *command_pair_in(__m128i bytes, const char *from,
                                           enum text_width width)
{
    int marks = _mm_movemask_epi8(command_pairs(bytes, width));

    return marks ? from + __builtin_ctz((unsigned)marks) : NULL;
}

/* The first pair that lies between the two, NULL: there is none.  The last
   chunk may share bytes with the one before it: wherever the word begins in
   those, it has a pair there.  What is shorter than a chunk, but not than the
   word, is read from both ends together. */
COMMAND_INLINE const char *command_first_pair(const char *from,
                                              const char *end,
                                              enum text_width width)
{
    const char *pair = NULL, *last;
    __m128i ends;

    if (end - from < COMMAND_HALF) {
        return NULL;
    }
    if (end - from < COMMAND_CHUNK) {
        ends = _mm_unpacklo_epi64(
            _mm_loadl_epi64((const void *)from),
            _mm_loadl_epi64((const void *)(end - COMMAND_HALF)));
        return command_pair_in(ends, from, width) ? from : NULL;
    }
    for (last = end - COMMAND_CHUNK; from < last && !pair;
         from += COMMAND_CHUNK) {
        pair = command_pair_in(_mm_loadu_si128((const void *)from), from,
                               width);
    }
    return pair ? pair
                : command_pair_in(_mm_loadu_si128((const void *)last), last,
                                  width);
}

#endif

/* The first AF from `place` on, which is not behind the end, or the end. */
COMMAND_INLINE size_t command_skip_letters(const struct command_look *look,
                                           size_t place)
{
    unsigned unit;

    while ((unit = command_unit_at(look, place)) != 0 &&
           ((unit | 0x20) != 'a' ||
            (command_unit_at(look, place + 1) | 0x20) != 'f')) {
        place++;
    }
    return place;
}

/* The first place from `place` on, which is not behind the end, that needs a
   closer look: the word begins there, one before, or later.  Unit 0 is there:
   it begins nowhere.  Of wide text at an odd address that is `place`. */
COMMAND_INLINE size_t command_skip(const struct command_look *look,
                                   size_t place)
{
#ifdef __SSE2__
    size_t size = command_unit(look->width);
    const char *from = look->text + place * size;

    if (look->count != SIZE_MAX) {
        from = command_first_pair(from, look->text + look->count * size,
                                  look->width);
        return from ? (size_t)(from - look->text) / size : look->count;
    }
    if (!command_unit_at(look, place) ||
        (look->width == TEXT_WIDE && (uintptr_t)from % size)) {
        return place;
    }
    from += size; /* no pair begins before the text */
    from -= (uintptr_t)from % (2 * size);
    from = command_first_mark(from, look->width);
    return (size_t)(from - look->text) / size;
#else
    return command_skip_letters(look, place);
#endif
}

COMMAND_INLINE bool command_possible_in(struct command_look look)
{
    return command_unit_at(&look, command_skip(&look, 0)) != 0;
}

/* Could this text hold the word?  False: certainly not, which a few
   instructions say of nearly every text.  length as in SQLExecDirect; a text
   or length that is not allowed is not ours. */
COMMAND_INLINE bool command_possible(const void *text, SQLINTEGER length,
                                     enum text_width width)
{
    if (!text) {
        return false;
    }
    if (length == SQL_NTS) {
        return command_possible_in(
            (struct command_look){ text, SIZE_MAX, width });
    }
    return length >= 0 &&
           command_possible_in(
               (struct command_look){ text, (size_t)length, width });
}

/* Could it hold a command?  Arguments as above.  False: certainly not; no
   allocation, no conversion. */
bool command_likely(const void *text, SQLINTEGER length,
                    enum text_width width);

#endif
