/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The growing buffer and the comparing of words.  UTF-16 and ODBC's string
 * arguments are in text_odbc.c.
 */
#include "autoconf.h"

#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64, WORD_MAX = 63, FAR_APART = 99 };

void text_init(struct text *text)
{
    *text = (struct text){ .wipe = false };
}

void text_init_wiped(struct text *text)
{
    *text = (struct text){ .wipe = true };
}

/* Never realloc() where wiping is asked for: it would leave a copy behind. */
static char *grow(struct text *text, size_t room)
{
    char *data;

    if (!text->wipe) {
        return realloc(text->data, room);
    }
    data = malloc(room);
    if (data && text->data) {
        memcpy(data, text->data, text->length + 1);
        explicit_bzero(text->data, text->room);
        free(text->data);
    }
    return data;
}

/* Makes room for more bytes and a NUL; false once failed. */
static bool reserve(struct text *text, size_t more)
{
    size_t room = text->room ? text->room : FIRST_ROOM;
    char *data;

    if (text->failed) {
        return false;
    }
    if (more >= SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    if (text->data && text->length + more < text->room) {
        return true;
    }
    while (room <= text->length + more) {
        room *= 2;
    }
    data = grow(text, room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void text_append_bytes(struct text *text, const void *bytes, size_t count)
{
    if (!reserve(text, count)) {
        return;
    }
    if (count > 0) {
        memcpy(text->data + text->length, bytes, count);
    }
    text->length += count;
    text->data[text->length] = '\0';
}

void text_append(struct text *text, const char *string)
{
    if (string) {
        text_append_bytes(text, string, strlen(string));
    }
}

void text_append_char(struct text *text, char c)
{
    text_append_bytes(text, &c, 1);
}

void text_append_number(struct text *text, uint64_t number)
{
    char digits[20];
    char *first = digits + sizeof digits;

    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    text_append_bytes(text, first, (size_t)(digits + sizeof digits - first));
}

void text_vappendf(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format,
                  arguments);
        text->length += (size_t)length;
    }
}

void text_appendf(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_vappendf(text, format, arguments);
    va_end(arguments);
}

const char *text_string(const struct text *text)
{
    return text->data ? text->data : "";
}

char *text_take(struct text *text)
{
    char *data;

    text_append_bytes(text, "", 0);
    if (text->failed) {
        text_free(text);
        return NULL;
    }
    data = text->data;
    text->data = NULL;
    text->length = text->room = 0;
    return data;
}

void text_clear(struct text *text)
{
    if (text->data) {
        if (text->wipe) {
            explicit_bzero(text->data, text->room);
        }
        text->data[0] = '\0';
    }
    text->length = 0;
    text->failed = false;
}

void text_free(struct text *text)
{
    if (text->data && text->wipe) {
        explicit_bzero(text->data, text->room);
    }
    free(text->data);
    *text = (struct text){ .wipe = text->wipe };
}

/* By ASCII alone: in a Turkish locale tolower('I') is not 'i'. */
static unsigned char fold(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

int text_compare(const char *a, const char *b)
{
    while (*a && (*a == *b || fold(*a) == fold(*b))) {
        a++;
        b++;
    }
    return (int)fold(*a) - (int)fold(*b);
}

bool text_same_bytes(const char *a, size_t a_length, const char *b)
{
    for (size_t i = 0; i < a_length; i++) {
        if (!b[i] || fold(a[i]) != fold(b[i])) {
            return false;
        }
    }
    return b[a_length] == '\0';
}

bool text_number(const char *digits, size_t length, uint32_t most,
                 uint32_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(digits[i] - '0');
        if (value > most) {
            return false;
        }
    }
    if (length > 0) {
        *number = (uint32_t)value;
    }
    return length > 0;
}

bool text_starts(const char *text, const char *prefix)
{
    while (*prefix) {
        if (fold(*text++) != fold(*prefix++)) {
            return false;
        }
    }
    return true;
}

bool text_contains(const char *text, const char *word)
{
    do {
        if (text_starts(text, word)) {
            return true;
        }
    } while (*text++);
    return false;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Three rows of the usual table of edit distances (optimal string alignment):
   the current one, the one before and, for swaps, the one before that. */
unsigned text_distance(const char *a, const char *b)
{
    unsigned row[3][WORD_MAX + 1];
    size_t m = strlen(a), n = strlen(b);

    if (m > WORD_MAX || n > WORD_MAX) {
        return FAR_APART;
    }
    for (unsigned j = 0; j <= n; j++) {
        row[0][j] = j;
    }
    for (unsigned i = 1; i <= m; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3];
        const unsigned *before = row[(i + 1) % 3];

        now[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            bool same = fold(a[i - 1]) == fold(b[j - 1]);

            now[j] = least(least(last[j], now[j - 1]) + 1,
                           last[j - 1] + !same);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2])
                && fold(a[i - 2]) == fold(b[j - 1])) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
    }
    return row[m % 3][n];
}

size_t text_trim(const char **start, size_t length)
{
    while (length > 0 && text_is_blank((unsigned char)**start)) {
        (*start)++;
        length--;
    }
    while (length > 0 && text_is_blank((unsigned char)(*start)[length - 1])) {
        length--;
    }
    return length;
}

uint64_t text_hash(uint64_t before, const void *bytes, size_t count)
{
    const unsigned char *in = bytes;

    for (size_t i = 0; i < count; i++) {
        before = (before ^ in[i]) * UINT64_C(1099511628211);
    }
    return before;
}
