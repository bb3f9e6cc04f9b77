/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Writing down what calls tell: the slots, and texts in both widths. */
#include "diff.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct slots out;

static FILE *file;

/* Of the slots before a call. Not a valid text, number or length. */
enum { PATTERN = 0xa5 };

void say_to(FILE *to)
{
    file = to;
}

void say(const char *format, ...)
{
    va_list arguments;

    if (!file) {
        return;
    }
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fputc('\n', file);
}

/* ---- bytes and texts ---------------------------------------------------- */

static void put_unit(unsigned unit, int digits)
{
    if (unit == '\\' || unit == '"') {
        fprintf(file, "\\%c", (int)unit);
    } else if (unit >= 0x20 && unit < 0x7f) {
        fputc((int)unit, file);
    } else {
        fprintf(file, "\\%0*x", digits, unit);
    }
}

static bool is_pattern(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != PATTERN) {
            return false;
        }
    }
    return true;
}

/* Units of `unit` bytes; what was not written is shown by its number. */
static void put_units(const unsigned char *bytes, size_t length, size_t unit)
{
    size_t kept = 0;

    fputc('"', file);
    for (size_t i = 0; i + unit <= length; i += unit) {
        if (is_pattern(bytes + i, unit)) {
            kept++;
            continue;
        }
        if (kept) {
            fprintf(file, "\\{%zu}", kept);
            kept = 0;
        }
        put_unit(unit == 1 ? bytes[i] : bytes[i] | bytes[i + 1] << 8,
                 unit == 1 ? 2 : 4);
    }
    fputc('"', file);
}

void say_bytes(const char *name, const void *bytes, size_t length)
{
    if (file) {
        fprintf(file, "    %s ", name);
        put_units(bytes, length, 1);
        fputc('\n', file);
    }
}

static void put_buffer(const char *name, size_t i, const unsigned char *bytes,
                       size_t size, size_t unit)
{
    size_t end = size;

    while (end > 0 && bytes[end - 1] == PATTERN) {
        end--;
    }
    if (end > 0) {
        fprintf(file, "    %s%zu ", name, i);
        put_units(bytes, (end + unit - 1) / unit * unit, unit);
        fputc('\n', file);
    }
}

/* ---- slots ---------------------------------------------------------------- */

#define PUT_NUMBERS(field)                                                     \
    for (size_t i = 0; i < sizeof out.field / sizeof out.field[0]; i++) {      \
        if (!is_pattern((const void *)&out.field[i], sizeof out.field[i])) {   \
            fprintf(file, "    %s%zu %lld\n", #field, i,                       \
                    (long long)out.field[i]);                                  \
        }                                                                      \
    }

/* Addresses differ between processes; tokens of the subjects are small. */
static void put_pointer(size_t i)
{
    const char *name = handle_name(out.pointer[i]);

    if (is_pattern((const void *)&out.pointer[i], sizeof out.pointer[i])) {
        return;
    }
    if (name) {
        fprintf(file, "    pointer%zu %s\n", i, name);
    } else if ((size_t)out.pointer[i] < 4096) {
        fprintf(file, "    pointer%zu %zu\n", i, (size_t)out.pointer[i]);
    } else {
        fprintf(file, "    pointer%zu set\n", i);
    }
}

static void put_slots(void)
{
    PUT_NUMBERS(small)
    PUT_NUMBERS(integer)
    PUT_NUMBERS(len)
    PUT_NUMBERS(ulen)
    PUT_NUMBERS(lens[0])
    PUT_NUMBERS(lens[1])
    PUT_NUMBERS(status)
    if (!is_pattern((const void *)&out.function, sizeof out.function)) {
        fprintf(file, "    function %d\n", out.function);
    }
    put_pointer(0);
    put_pointer(1);
    for (size_t i = 0; i < 4; i++) {
        put_buffer("text", i, out.text[i], SLOT_TEXT,
                   run.wide ? sizeof(SQLWCHAR) : 1);
        put_buffer("data", i, out.data[i], SLOT_DATA, 1);
    }
}

/* ---- calls ------------------------------------------------------------------ */

void say_begin(const char *name, const char *arguments)
{
    if (file) {
        fprintf(file, "%s(%s)", name, arguments);
        fflush(file); /* should the call crash */
        memset(&out, PATTERN, sizeof out);
    }
}

static const char *rc_name(SQLRETURN rc)
{
    switch (rc) {
    case SQL_SUCCESS:
        return "SUCCESS";
    case SQL_SUCCESS_WITH_INFO:
        return "SUCCESS_WITH_INFO";
    case SQL_NO_DATA:
        return "NO_DATA";
    case SQL_ERROR:
        return "ERROR";
    case SQL_INVALID_HANDLE:
        return "INVALID_HANDLE";
    case SQL_NEED_DATA:
        return "NEED_DATA";
    default:
        return NULL;
    }
}

SQLRETURN say_end(SQLRETURN rc)
{
    const char *name = rc_name(rc);

    if (!file) {
        return rc;
    }
    if (name) {
        fprintf(file, " = %s\n", name);
    } else {
        fprintf(file, " = %d\n", rc);
    }
    put_slots();
    diag_say_all(file);
    return rc;
}

/* ---- texts in --------------------------------------------------------------- */

enum { RING = 16, RING_SIZE = 2048 };

static union {
    SQLCHAR narrow[RING_SIZE];
    SQLWCHAR wide[RING_SIZE];
} ring[RING];

static unsigned turn;

/* Well-formed UTF-8, as the subjects' sources are. */
static size_t to_utf16(const char *utf8, SQLWCHAR *wide, size_t room)
{
    size_t length = 0;

    while (*utf8 && length + 2 < room) {
        unsigned char first = (unsigned char)*utf8++;
        unsigned code = first < 0x80 ? first : first < 0xe0 ? first & 0x1f :
            first < 0xf0 ? first & 0xf : first & 7;

        while ((*utf8 & 0xc0) == 0x80) {
            code = code << 6 | (*utf8++ & 0x3f);
        }
        if (code >= 0x10000) {
            wide[length++] = (SQLWCHAR)(0xd800 | (code - 0x10000) >> 10);
            code = 0xdc00 | (code & 0x3ff);
        }
        wide[length++] = (SQLWCHAR)code;
    }
    wide[length] = 0;
    return length;
}

SQLWCHAR *WIDE(const char *utf8)
{
    SQLWCHAR *wide = ring[turn++ % RING].wide;

    to_utf16(utf8, wide, RING_SIZE);
    return wide;
}

void *IN(const char *utf8)
{
    SQLCHAR *narrow;

    if (!utf8) {
        return NULL;
    }
    if (run.wide) {
        return WIDE(utf8);
    }
    narrow = ring[turn++ % RING].narrow;
    snprintf((char *)narrow, RING_SIZE, "%s", utf8);
    return narrow;
}
