/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * UTF-8 and UTF-16, and ODBC's string arguments in and out.
 *
 * Units are read and written by memcpy: applications pass buffers at odd
 * addresses, which is undefined for a plain access.
 */
#include "autoconf.h"

#include "text.h"

#include <string.h>

enum { REPLACEMENT = 0xFFFD, POINT_MAX = 0x10FFFF };

_Static_assert(sizeof(SQLWCHAR) == 2, "SQLWCHAR is a UTF-16 unit (facts §3)");

static bool is_surrogate(uint32_t point)
{
    return point >= 0xD800 && point <= 0xDFFF;
}

/* Bytes of a sequence by its first one; 0 if it cannot start one. */
static size_t sequence_length(unsigned char first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return 2;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        return 3;
    }
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

size_t text_decode(const char *bytes, size_t count, uint32_t *point)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *in = (const unsigned char *)bytes;
    size_t length = sequence_length(in[0]);
    uint32_t value = in[0];

    *point = REPLACEMENT;
    if (length == 0 || length > count) {
        return 1;
    }
    if (length > 1) {
        value &= 0x7Fu >> length;
    }
    for (size_t i = 1; i < length; i++) {
        if ((in[i] & 0xC0) != 0x80) {
            return 1;
        }
        value = value << 6 | (in[i] & 0x3F);
    }
    if (value < smallest[length] || value > POINT_MAX || is_surrogate(value)) {
        return 1;
    }
    *point = value;
    return length;
}

size_t text_cut(const char *bytes, size_t most)
{
    size_t end = most;

    while (end > 0 && most - end < 4 &&
           ((unsigned char)bytes[end] & 0xC0) == 0x80) {
        end--;
    }
    return most - end < 4 ? end : most; /* else it is no UTF-8 */
}

void text_append_point(struct text *text, uint32_t point)
{
    char out[4];
    size_t n = 0;

    if (point > POINT_MAX || is_surrogate(point)) {
        point = REPLACEMENT;
    }
    if (point < 0x80) {
        out[n++] = (char)point;
    } else if (point < 0x800) {
        out[n++] = (char)(0xC0 | point >> 6);
        out[n++] = (char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        out[n++] = (char)(0xE0 | point >> 12);
        out[n++] = (char)(0x80 | (point >> 6 & 0x3F));
        out[n++] = (char)(0x80 | (point & 0x3F));
    } else {
        out[n++] = (char)(0xF0 | point >> 18);
        out[n++] = (char)(0x80 | (point >> 12 & 0x3F));
        out[n++] = (char)(0x80 | (point >> 6 & 0x3F));
        out[n++] = (char)(0x80 | (point & 0x3F));
    }
    text_append_bytes(text, out, n);
}

static uint16_t unit_at(const void *units, size_t index)
{
    uint16_t unit;

    memcpy(&unit, (const char *)units + index * sizeof unit, sizeof unit);
    return unit;
}

void text_append_utf16(struct text *text, const void *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t point = unit_at(units, i);

        if (point >= 0xD800 && point <= 0xDBFF && i + 1 < count) {
            uint32_t low = unit_at(units, i + 1);

            if (low >= 0xDC00 && low <= 0xDFFF) {
                point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
                i++;
            }
        }
        text_append_point(text, point);
    }
}

static size_t units_of(uint32_t point)
{
    return point >= 0x10000 ? 2 : 1;
}

size_t text_utf16_length(const char *bytes, size_t count)
{
    size_t units = 0;

    for (size_t i = 0; i < count;) {
        uint32_t point;

        i += text_decode(bytes + i, count - i, &point);
        units += units_of(point);
    }
    return units;
}

bool text_append_argument(struct text *text, const void *argument,
                          SQLLEN length, enum text_width width,
                          enum text_unit unit)
{
    size_t count;

    if (!argument) {
        return true;
    }
    if (length < 0 && length != SQL_NTS) {
        return false;
    }
    count = (size_t)length;
    if (width == TEXT_NARROW) {
        text_append_bytes(text, argument,
                          length == SQL_NTS ? strlen(argument) : count);
        return true;
    }
    if (length == SQL_NTS) {
        for (count = 0; unit_at(argument, count);) {
            count++;
        }
    } else if (unit == TEXT_BYTES) {
        count /= sizeof(SQLWCHAR);
    }
    text_append_utf16(text, argument, count);
    return true;
}

/* Copies whole characters into out[0..room), room > 0, and terminates. */
static void put_narrow(const char *value, size_t length, char *out,
                       size_t room)
{
    size_t done = 0;

    while (done < length) {
        uint32_t point;
        size_t step = text_decode(value + done, length - done, &point);

        if (done + step >= room) {
            break;
        }
        done += step;
    }
    memcpy(out, value, done);
    out[done] = '\0';
}

static void put_unit(char *out, size_t index, uint32_t unit)
{
    uint16_t u = (uint16_t)unit;

    memcpy(out + index * sizeof u, &u, sizeof u);
}

/* The same in UTF-16; room counts units. */
static void put_wide(const char *value, size_t length, char *out, size_t room)
{
    size_t units = 0;

    for (size_t i = 0; i < length;) {
        uint32_t point;

        i += text_decode(value + i, length - i, &point);
        if (units + units_of(point) >= room) {
            break;
        }
        if (point >= 0x10000) {
            put_unit(out, units++, 0xD800 + ((point - 0x10000) >> 10));
            put_unit(out, units++, 0xDC00 + ((point - 0x10000) & 0x3FF));
        } else {
            put_unit(out, units++, point);
        }
    }
    put_unit(out, units, 0);
}

struct text_written text_write(const char *value, size_t length, void *buffer,
                               SQLLEN room, enum text_width width,
                               enum text_unit unit)
{
    size_t size = width == TEXT_WIDE && unit == TEXT_BYTES
        ? sizeof(SQLWCHAR) : 1;
    size_t fits = room > 0 ? (size_t)room / size : 0;
    size_t needed = width == TEXT_WIDE
        ? text_utf16_length(value, length) : length;
    struct text_written written = {
        .needed = (SQLLEN)(needed * size),
        .truncated = buffer && needed >= fits,
    };

    if (!buffer || fits == 0) {
        return written;
    }
    if (width == TEXT_WIDE) {
        put_wide(value, length, buffer, fits);
    } else {
        put_narrow(value, length, buffer, fits);
    }
    return written;
}
