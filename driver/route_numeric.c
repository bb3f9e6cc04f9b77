/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading numeric.  One pass finds the first and the last decimal digit that
 * is not zero and what powers of ten they stand for; the other packs the
 * digits between them, four to one.
 *
 * PostgreSQL refuses numbers beyond 10^131072 and more than 16383 digits
 * behind the point.  Exponents near these limits are UNSURE, so that no limit
 * is copied here.
 */
#include "autoconf.h"

#include "route_numeric.h"

#include "route_literal.h"

enum { EXPONENT_LIMIT = 7000 };

struct decimal {
    struct route_walk digits; /* digits and at most one point */
    bool negative;
    int32_t exponent;
    bool zero;
    int32_t first, last; /* powers of ten of the outermost non-zero digits */
    const char *first_at, *last_at;
};

static enum route_parse special(struct route_walk walk, unsigned char *scratch,
                                struct route_datum *datum)
{
    datum->bytes = scratch;
    datum->length = 1;
    if (route_literal_is(&walk, "nan")) {
        scratch[0] = ROUTE_NUMERIC_NAN;
        return ROUTE_PARSE_OK;
    }
    bool negative = route_literal_take(&walk, '-');
    if (!negative) {
        route_literal_take(&walk, '+');
    }
    scratch[0] =
        negative ? ROUTE_NUMERIC_MINUS_INFINITY : ROUTE_NUMERIC_INFINITY;
    return route_literal_is(&walk, "inf") || route_literal_is(&walk, "infinity")
               ? ROUTE_PARSE_OK
               : ROUTE_PARSE_BAD;
}

/* PostgreSQL 16 reads 0x1F and 1_000 as well. */
static enum route_parse odd(const struct route_walk *walk)
{
    for (const char *at = walk->at; at < walk->end; at++) {
        char c = (char)(*at | 32);
        if (*at == '_' || (at > walk->at && at[-1] == '0' &&
                           (c == 'x' || c == 'o' || c == 'b'))) {
            return ROUTE_PARSE_UNSURE;
        }
    }
    return ROUTE_PARSE_BAD;
}

static enum route_parse read_exponent(struct route_walk *walk,
                                      int32_t *exponent)
{
    *exponent = 0;
    if (!route_literal_take(walk, 'e') && !route_literal_take(walk, 'E')) {
        return ROUTE_PARSE_OK;
    }
    bool negative = route_literal_take(walk, '-');
    if (!negative) {
        route_literal_take(walk, '+');
    }
    if (!route_literal_digit(walk)) {
        return ROUTE_PARSE_BAD;
    }
    while (route_literal_digit(walk)) {
        if (*exponent <= EXPONENT_LIMIT) {
            *exponent = *exponent * 10 + (*walk->at - '0');
        }
        walk->at++;
    }
    if (*exponent > EXPONENT_LIMIT) {
        return ROUTE_PARSE_UNSURE;
    }
    *exponent = negative ? -*exponent : *exponent;
    return ROUTE_PARSE_OK;
}

/* Cuts the text into sign, digits and exponent. */
static enum route_parse cut(struct route_walk walk, struct decimal *d)
{
    struct route_walk whole = walk;
    bool digit = false, point = false;

    d->negative = route_literal_take(&walk, '-');
    if (!d->negative) {
        route_literal_take(&walk, '+');
    }
    d->digits.at = walk.at;
    for (; walk.at < walk.end; walk.at++) {
        if (route_literal_digit(&walk)) {
            digit = true;
        } else if (*walk.at == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    d->digits.end = walk.at;
    if (!digit) {
        return ROUTE_PARSE_BAD;
    }
    enum route_parse result = read_exponent(&walk, &d->exponent);
    if (result == ROUTE_PARSE_OK && walk.at < walk.end) {
        return odd(&whole);
    }
    return result;
}

static void measure(struct decimal *d)
{
    const char *point = d->digits.at;

    while (point < d->digits.end && *point != '.') {
        point++;
    }
    d->zero = true;
    for (const char *at = d->digits.at; at < d->digits.end; at++) {
        if (*at == '.' || *at == '0') {
            continue;
        }
        int32_t power =
            (int32_t)(at < point ? point - at - 1 : point - at) + d->exponent;
        if (d->zero) {
            d->first = power;
            d->first_at = at;
        }
        d->last = power;
        d->last_at = at;
        d->zero = false;
    }
}

static int32_t floor_quarter(int32_t power)
{
    return power >= 0 ? power / 4 : -((3 - power) / 4);
}

static unsigned char *put(unsigned char *out, uint32_t value, bool negative)
{
    value = negative ? ~value : value;
    out[0] = (unsigned char)(value >> 8);
    out[1] = (unsigned char)value;
    return out + 2;
}

static void pack(const struct decimal *d, unsigned char *out,
                 struct route_datum *datum)
{
    static const uint16_t ten[] = {1, 10, 100, 1000};
    int32_t weight = floor_quarter(d->first), power = d->first;
    uint32_t digit = 0;

    datum->bytes = out;
    *out++ = d->negative ? ROUTE_NUMERIC_NEGATIVE : ROUTE_NUMERIC_POSITIVE;
    out = put(out, (uint32_t)(weight + 32768), d->negative);
    for (const char *at = d->first_at; at <= d->last_at; at++) {
        if (*at == '.') {
            continue;
        }
        digit += (uint32_t)(*at - '0') * ten[power - 4 * floor_quarter(power)];
        if (power == 4 * floor_quarter(power) || at == d->last_at) {
            out = put(out, digit + 1, d->negative);
            digit = 0;
        }
        power--;
    }
    if (d->negative) {
        out = put(out, 0, true);
    }
    datum->length = (uint32_t)(out - datum->bytes);
}

enum route_parse route_numeric_parse(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum)
{
    struct route_walk walk = route_literal_trim(text, length);
    struct decimal d = {.negative = false};

    if (special(walk, scratch, datum) == ROUTE_PARSE_OK) {
        return ROUTE_PARSE_OK;
    }
    enum route_parse result = cut(walk, &d);
    if (result != ROUTE_PARSE_OK) {
        return result;
    }
    measure(&d);
    if (d.zero) {
        scratch[0] = ROUTE_NUMERIC_ZERO;
        return ROUTE_PARSE_OK; /* bytes and length are set by special() */
    }
    if (typing->limit >= 0 && -d.last > typing->limit) {
        return ROUTE_PARSE_UNSURE; /* a cast would round it */
    }
    pack(&d, scratch, datum);
    return ROUTE_PARSE_OK;
}

static uint16_t pair(const struct route_datum *datum, uint32_t index)
{
    const unsigned char *at = datum->bytes + 1 + (size_t)2 * index;
    uint16_t value = (uint16_t)(at[0] << 8 | at[1]);

    return datum->bytes[0] == ROUTE_NUMERIC_NEGATIVE ? (uint16_t)~value : value;
}

int32_t route_numeric_weight(const struct route_datum *datum)
{
    return (int32_t)pair(datum, 0) - 32768;
}

uint32_t route_numeric_digits(const struct route_datum *datum)
{
    uint32_t pairs = (datum->length - 1) / 2;

    return pairs - (datum->bytes[0] == ROUTE_NUMERIC_NEGATIVE ? 2 : 1);
}

uint16_t route_numeric_digit(const struct route_datum *datum, uint32_t index)
{
    return (uint16_t)(pair(datum, index + 1) - 1);
}
