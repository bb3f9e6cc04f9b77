/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Numbers, truth values, uuids, byte strings, characters.
 *
 * From PostgreSQL 16 numbers may be written 0x1F and 1_000; older ones refuse
 * that.  Which one it is, only the server knows: such texts are UNSURE.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "autoconf.h"

#include "route_literal.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

struct route_walk route_literal_trim(const char *text, uint32_t length)
{
    struct route_walk walk = {text, text + length};

    while (walk.at < walk.end && is_blank(*walk.at)) {
        walk.at++;
    }
    while (walk.at < walk.end && is_blank(walk.end[-1])) {
        walk.end--;
    }
    return walk;
}

bool route_literal_is(const struct route_walk *walk, const char *word)
{
    const char *at = walk->at;

    while (at < walk->end && *word && lower(*at) == *word) {
        at++;
        word++;
    }
    return at == walk->end && *word == '\0';
}

/* ---- integers ---- */

/* What no digit explains: a spelling that newer servers know, or nothing. */
static enum route_parse odd_number(const struct route_walk *walk)
{
    for (const char *at = walk->at; at < walk->end; at++) {
        char c = lower(*at);
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '_' ||
              c == 'x' || c == 'o')) {
            return ROUTE_PARSE_BAD;
        }
    }
    return walk->at < walk->end ? ROUTE_PARSE_UNSURE : ROUTE_PARSE_BAD;
}

static bool in_range(enum route_type type, bool negative, uint64_t value)
{
    uint64_t limit = type == ROUTE_TYPE_INT2   ? INT16_MAX
                     : type == ROUTE_TYPE_INT4 ? INT32_MAX
                     : type == ROUTE_TYPE_OID  ? UINT32_MAX
                                               : INT64_MAX;
    return value <= limit + (negative ? 1 : 0);
}

enum route_parse route_literal_integer(const struct route_typing *typing,
                                       const char *text, uint32_t length,
                                       unsigned char *scratch,
                                       struct route_datum *datum)
{
    struct route_walk walk = route_literal_trim(text, length);
    uint64_t value = 0;
    bool negative = route_literal_take(&walk, '-');

    (void)scratch;
    if (negative && typing->type == ROUTE_TYPE_OID) {
        return ROUTE_PARSE_UNSURE; /* wraps round, or not */
    }
    if (!negative) {
        route_literal_take(&walk, '+');
    }
    if (!route_literal_digit(&walk)) {
        return ROUTE_PARSE_BAD;
    }
    for (struct route_walk whole = walk; walk.at < walk.end; walk.at++) {
        if (!route_literal_digit(&walk)) {
            return odd_number(&whole);
        }
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*walk.at - '0'), &value)) {
            return ROUTE_PARSE_BAD;
        }
    }
    if (!in_range(typing->type, negative, value)) {
        /* oidin() lets some of them wrap round */
        return typing->type == ROUTE_TYPE_OID ? ROUTE_PARSE_UNSURE
                                              : ROUTE_PARSE_BAD;
    }
    datum->fixed = (int64_t)(negative ? 0 - value : value);
    return ROUTE_PARSE_OK;
}

/* ---- truth ---- */

/* boolin(): any unambiguous beginning of these words, and 0, 1, on, off. */
enum route_parse route_literal_bool(const struct route_typing *typing,
                                    const char *text, uint32_t length,
                                    unsigned char *scratch,
                                    struct route_datum *datum)
{
    static const struct {
        const char *word;
        uint32_t least;
        bool value;
    } words[] = {{"true", 1, true}, {"false", 1, false}, {"yes", 1, true},
                 {"no", 1, false},  {"on", 2, true},     {"off", 2, false},
                 {"1", 1, true},    {"0", 1, false}};
    struct route_walk walk = route_literal_trim(text, length);
    size_t left = (size_t)(walk.end - walk.at);

    (void)typing;
    (void)scratch;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t same = 0;
        while (same < left && words[i].word[same] &&
               words[i].word[same] == lower(walk.at[same])) {
            same++;
        }
        if (same == left && left >= words[i].least) {
            datum->fixed = words[i].value;
            return ROUTE_PARSE_OK;
        }
    }
    return ROUTE_PARSE_BAD;
}

/* ---- floats ---- */

int64_t route_type_from_double(double value)
{
    int64_t bits;

    if (isnan(value)) {
        return INT64_MAX;
    }
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof(bits));
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

double route_type_to_double(int64_t fixed)
{
    double value;

    if (fixed == INT64_MAX) {
        return (double)NAN;
    }
    int64_t bits = fixed < 0 ? fixed ^ INT64_MAX : fixed;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* sign? digits? (. digits?)? (e sign? digits)?, with one digit at least.
   strtod() reads more than that (hexadecimal, nan(…)). */
static bool is_decimal(struct route_walk walk)
{
    bool digits = false;

    if (!route_literal_take(&walk, '-')) {
        route_literal_take(&walk, '+');
    }
    for (int part = 0; part < 2; part++) {
        while (route_literal_digit(&walk)) {
            digits = true;
            walk.at++;
        }
        if (part == 0 && !route_literal_take(&walk, '.')) {
            break;
        }
    }
    if (digits &&
        (route_literal_take(&walk, 'e') || route_literal_take(&walk, 'E'))) {
        if (!route_literal_take(&walk, '-')) {
            route_literal_take(&walk, '+');
        }
        digits = route_literal_digit(&walk);
        while (route_literal_digit(&walk)) {
            walk.at++;
        }
    }
    return digits && walk.at == walk.end;
}

static bool float_word(struct route_walk walk, double *value)
{
    if (route_literal_is(&walk, "nan")) {
        *value = (double)NAN;
        return true;
    }
    bool negative = route_literal_take(&walk, '-');
    if (!negative) {
        route_literal_take(&walk, '+');
    }
    *value = negative ? (double)-INFINITY : (double)INFINITY;
    return route_literal_is(&walk, "inf") ||
           route_literal_is(&walk, "infinity");
}

/* strtod() takes 0x1p3 and nan(1), glibc's -nan, newer servers perhaps
   1_000. */
static enum route_parse odd_float(const struct route_walk *walk)
{
    for (const char *at = walk->at; at < walk->end; at++) {
        if (*at == '_' || lower(*at) == 'n' || lower(*at) == 'x') {
            return ROUTE_PARSE_UNSURE;
        }
    }
    return ROUTE_PARSE_BAD;
}

/* float8in() and float4in(): rounding is strtod's and strtof's; what becomes
   zero or infinite is out of range.  The C locale object exists without being
   made: no memory, no lock, whatever the application's setlocale() says. */
static bool convert(const char *number, bool single, double *value)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    int kept = errno;

    errno = 0;
    *value =
        single ? (double)strtof_l(number, NULL, c) : strtod_l(number, NULL, c);
    bool ok = errno != ERANGE || (*value != 0 && isfinite(*value));
    errno = kept;
    return ok;
}

enum route_parse route_literal_float(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum)
{
    struct route_walk walk = route_literal_trim(text, length);
    size_t left = (size_t)(walk.end - walk.at);
    double value;

    if (!float_word(walk, &value)) {
        if (!is_decimal(walk)) {
            return odd_float(&walk);
        }
        memcpy(scratch, walk.at, left);
        scratch[left] = '\0';
        if (!convert((const char *)scratch, typing->type == ROUTE_TYPE_FLOAT4,
                     &value)) {
            return ROUTE_PARSE_BAD;
        }
    }
    datum->fixed = route_type_from_double(value);
    return ROUTE_PARSE_OK;
}

/* ---- uuid and bytea ---- */

static int hex_value(char c)
{
    c = lower(c);
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static bool take_byte(struct route_walk *walk, unsigned char *byte)
{
    if (walk->end - walk->at < 2) {
        return false;
    }
    int high = hex_value(walk->at[0]), low = hex_value(walk->at[1]);
    if (high < 0 || low < 0) {
        return false;
    }
    *byte = (unsigned char)(high << 4 | low);
    walk->at += 2;
    return true;
}

/* uuid_in(): braces or none, a hyphen or none after any four digits, no
   blanks anywhere. */
enum route_parse route_literal_uuid(const struct route_typing *typing,
                                    const char *text, uint32_t length,
                                    unsigned char *scratch,
                                    struct route_datum *datum)
{
    struct route_walk walk = {text, text + length};
    bool braces = route_literal_take(&walk, '{');

    (void)typing;
    for (int i = 0; i < 16; i++) {
        if (!take_byte(&walk, &scratch[i])) {
            return ROUTE_PARSE_BAD;
        }
        if (i % 2 == 1 && i < 15) {
            route_literal_take(&walk, '-');
        }
    }
    if ((braces && !route_literal_take(&walk, '}')) || walk.at < walk.end) {
        return ROUTE_PARSE_BAD;
    }
    datum->bytes = scratch;
    datum->length = 16;
    return ROUTE_PARSE_OK;
}

static enum route_parse bytea_hex(struct route_walk walk,
                                  struct route_datum *datum, unsigned char *out)
{
    datum->bytes = out;
    while (walk.at < walk.end) {
        if (*walk.at == ' ' || *walk.at == '\n' || *walk.at == '\t' ||
            *walk.at == '\r') {
            walk.at++;
        } else if (take_byte(&walk, out)) {
            out++;
        } else {
            return ROUTE_PARSE_BAD;
        }
    }
    datum->length = (uint32_t)(out - datum->bytes);
    return ROUTE_PARSE_OK;
}

static bool take_octal(struct route_walk *walk, unsigned char *byte)
{
    const char *at = walk->at;

    if (walk->end - at < 3 || at[0] < '0' || at[0] > '3' || at[1] < '0' ||
        at[1] > '7' || at[2] < '0' || at[2] > '7') {
        return false;
    }
    *byte = (unsigned char)((at[0] - '0') << 6 | (at[1] - '0') << 3 |
                            (at[2] - '0'));
    walk->at += 3;
    return true;
}

/* The old format: the bytes are those of the server's encoding, which is only
   certain for ASCII. */
static enum route_parse bytea_escape(struct route_walk walk,
                                     struct route_datum *datum,
                                     unsigned char *out)
{
    datum->bytes = out;
    while (walk.at < walk.end) {
        if ((unsigned char)*walk.at >= 0x80) {
            return ROUTE_PARSE_UNSURE;
        }
        if (!route_literal_take(&walk, '\\')) {
            *out = (unsigned char)*walk.at++;
        } else if (route_literal_take(&walk, '\\')) {
            *out = '\\';
        } else if (!take_octal(&walk, out)) {
            return ROUTE_PARSE_BAD;
        }
        out++;
    }
    datum->length = (uint32_t)(out - datum->bytes);
    return ROUTE_PARSE_OK;
}

enum route_parse route_literal_bytea(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum)
{
    struct route_walk walk = {text, text + length};

    (void)typing;
    if (length >= 2 && text[0] == '\\' && text[1] == 'x') {
        walk.at += 2;
        return bytea_hex(walk, datum, scratch);
    }
    return bytea_escape(walk, datum, scratch);
}

/* ---- characters ---- */

/* Length of the UTF-8 character at bytes[0..left), 0 = none. */
static size_t utf8_unit(const unsigned char *bytes, size_t left)
{
    unsigned char c = bytes[0];
    size_t length = c < 0x80                ? 1
                    : c >= 0xc2 && c < 0xe0 ? 2
                    : c >= 0xe0 && c < 0xf0 ? 3
                    : c >= 0xf0 && c < 0xf5 ? 4
                                            : 0;

    if (length == 0 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool wrong =
        (c == 0xe0 && bytes[1] < 0xa0) || (c == 0xed && bytes[1] > 0x9f) ||
        (c == 0xf0 && bytes[1] < 0x90) || (c == 0xf4 && bytes[1] > 0x8f);
    return wrong ? 0 : length;
}

/* Characters in the text; false if some are no UTF-8, or not ASCII where they
   must be: the bytes at the server are then not the ones we see. */
static bool count_characters(const struct route_datum *datum, bool ascii_only,
                             uint32_t *characters)
{
    *characters = 0;
    for (uint32_t i = 0; i < datum->length; ++*characters) {
        size_t unit = utf8_unit(datum->bytes + i, datum->length - i);
        if (unit == 0 || (unit > 1 && ascii_only)) {
            return false;
        }
        i += (uint32_t)unit;
    }
    return true;
}

enum route_parse route_literal_text(const struct route_typing *typing,
                                    const char *text, uint32_t length,
                                    unsigned char *scratch,
                                    struct route_datum *datum)
{
    uint32_t characters;

    (void)scratch;
    if (typing->type == ROUTE_TYPE_BPCHAR) {
        while (length > 0 && text[length - 1] == ' ') {
            length--;
        }
    }
    datum->bytes = (const unsigned char *)text;
    datum->length = length;
    if (!count_characters(datum, typing->ascii_only, &characters) ||
        (typing->limit >= 0 && characters > (uint32_t)typing->limit) ||
        (typing->type == ROUTE_TYPE_NAME && length > 63)) {
        return ROUTE_PARSE_UNSURE; /* a cast would cut it */
    }
    return ROUTE_PARSE_OK;
}
