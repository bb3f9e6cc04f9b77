/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Text that we read or write ourselves: a growing buffer, UTF-16 <-> UTF-8,
 * and ODBC's rules for the lengths of string arguments.  Text that only
 * passes through is never touched (A goes to A and W to W, facts §3).
 *
 * Inside the wrapper text is UTF-8.  Narrow text of an application is in
 * whatever encoding it uses; its bytes are kept as they are, and a byte that
 * is no UTF-8 counts as one character (U+FFFD) where characters matter.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

/* ---- a growing buffer ----

   All zeros is an empty one.  data is NULL (nothing yet) or NUL-terminated.
   Out of memory is sticky: failed is set, later appends do nothing, and the
   owner asks once at the end.  wipe: every byte ever held is overwritten
   before its memory is given back (growing included). */
struct text {
    char *data;
    size_t length; /* without the NUL */
    size_t room;
    bool failed;
    bool wipe;
};

void text_init(struct text *text);
void text_init_wiped(struct text *text);

/* Append; each is a no-op once failed.  append takes a NUL-terminated string
   (NULL = nothing), append_bytes any bytes, NUL included. */
void text_append(struct text *text, const char *string);
void text_append_bytes(struct text *text, const void *bytes, size_t count);
void text_append_char(struct text *text, char c);
void text_append_number(struct text *text, uint64_t number); /* in decimal */
void text_appendf(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_vappendf(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* The content, "" while empty; valid until the next append or free. */
const char *text_string(const struct text *text);

/* Hands the content over to the caller, who frees it with free() (and wipes
   it, should it be secret); the buffer is empty afterwards.  NULL if it had
   failed (then the buffer is freed). */
char *text_take(struct text *text);

/* Empties it but keeps its memory; forgets a failure. */
void text_clear(struct text *text);

/* Gives its memory back; the buffer can be used again, wipe stays. */
void text_free(struct text *text);

/* ---- UTF-16 and UTF-8 ---- */

/* Decodes the character at the start of bytes[0..count), count > 0: its code
   point in *point, and how many bytes it takes (1-4).  Whatever is no UTF-8
   (overlong forms, surrogates, beyond U+10FFFF, cut off) is U+FFFD, 1 byte. */
size_t text_decode(const char *bytes, size_t count, uint32_t *point);

/* Where to cut a text that has more than `most` bytes, so that no more are left
   and no character is split. */
size_t text_cut(const char *bytes, size_t most);

/* Appends one code point as UTF-8; one that cannot exist becomes U+FFFD. */
void text_append_point(struct text *text, uint32_t point);

/* Appends count UTF-16 units in native byte order, at any address (pyodbc does
   not align attribute values); an unpaired surrogate
   becomes U+FFFD. */
void text_append_utf16(struct text *text, const void *units, size_t count);

/* UTF-16 units that bytes[0..count) become. */
size_t text_utf16_length(const char *bytes, size_t count);

/* ---- ODBC string arguments ---- */

enum text_width { TEXT_NARROW, TEXT_WIDE };

/* What a length counts: ODBC uses bytes for attributes, info and diagnostic
   fields even in the wide functions, and characters (SQLCHARs or SQLWCHARs)
   elsewhere.  Narrow text makes no difference between them. */
enum text_unit { TEXT_CHARACTERS, TEXT_BYTES };

/* Appends an input string argument as UTF-8 (narrow: its bytes).  length is
   SQL_NTS or a count of unit; argument NULL appends nothing whatever the
   length (callers that must tell NULL from "" look first).  False: the
   length is negative and not SQL_NTS (HY090), nothing appended.  Reads no
   further than length, or than the terminator with SQL_NTS. */
bool text_append_argument(struct text *text, const void *argument,
                          SQLLEN length, enum text_width width,
                          enum text_unit unit);

struct text_written {
    SQLLEN needed;  /* length of the whole value in unit, without the NUL */
    bool truncated; /* did not fit: 01004 is due */
};

/* Writes value[0..length) into an application's buffer of room units and
   terminates it, cutting before the first character that does not fit (a
   character is never split: no half surrogate pair, no half UTF-8
   sequence).  buffer NULL: only counts, never truncated.  A room that is
   too small for the terminator (0, or 1 byte for wide) writes nothing and
   is truncated.  Negative rooms are the caller's to refuse (HY090) and
   count as 0 here.  An odd byte count for wide leaves the last byte alone. */
struct text_written text_write(const char *value, size_t length, void *buffer,
                               SQLLEN room, enum text_width width,
                               enum text_unit unit);

/* ---- words ---- */

/* Order by ASCII case-folded bytes: <0, 0, >0; for sorting keywords. */
int text_compare(const char *a, const char *b);

/* Equal but for the case of ASCII letters; never by locale.  Inline, because
   most words that are compared, a keyword with each of a table, differ in
   their first letter. */
static inline bool text_same(const char *a, const char *b)
{
    return (((unsigned char)*a ^ (unsigned char)*b) & ~0x20) == 0 &&
           text_compare(a, b) == 0;
}
bool text_same_bytes(const char *a, size_t a_length, const char *b);

/* Digits alone, at most `most`; false: it is none. */
bool text_number(const char *digits, size_t length, uint32_t most,
                 uint32_t *number);

/* Does text start with prefix / contain word, case aside? */
bool text_starts(const char *text, const char *prefix);
bool text_contains(const char *text, const char *word);

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b,
   case aside; words longer than 63 bytes count as far apart (99). */
unsigned text_distance(const char *a, const char *b);

/* A blank, of any width: a space, or what ends or moves a line. */
static inline bool text_is_blank(unsigned unit)
{
    return unit == ' ' || (unit >= '\t' && unit <= '\r');
}

/* text without blanks around it: moves *start, and returns the new length. */
size_t text_trim(const char **start, size_t length);

/* A hash (FNV-1a) of what was hashed before, TEXT_HASH if nothing was, and of
   these bytes. */
#define TEXT_HASH UINT64_C(14695981039346656037)
uint64_t text_hash(uint64_t before, const void *bytes, size_t count);

#endif
