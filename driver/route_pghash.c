/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Bob Jenkins' lookup3 as PostgreSQL uses it, and what each type gives it to
 * eat.  Bytes are read as little-endian words whatever this machine is.
 */
#include "autoconf.h"

#include "route_pghash.h"

#include <string.h>

#include "route_numeric.h"

struct state {
    uint32_t a, b, c;
};

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static void mix(struct state *s)
{
    uint32_t a = s->a, b = s->b, c = s->c;

    a -= c; a ^= rotate(c, 4);  c += b;
    b -= a; b ^= rotate(a, 6);  a += c;
    c -= b; c ^= rotate(b, 8);  b += a;
    a -= c; a ^= rotate(c, 16); c += b;
    b -= a; b ^= rotate(a, 19); a += c;
    c -= b; c ^= rotate(b, 4);  b += a;
    *s = (struct state){a, b, c};
}

static uint64_t finish(struct state s)
{
    uint32_t a = s.a, b = s.b, c = s.c;

    c ^= b; c -= rotate(b, 14);
    a ^= c; a -= rotate(c, 11);
    b ^= a; b -= rotate(a, 25);
    c ^= b; c -= rotate(b, 16);
    a ^= c; a -= rotate(c, 4);
    b ^= a; b -= rotate(a, 14);
    c ^= b; c -= rotate(b, 24);
    return (uint64_t)b << 32 | c;
}

static struct state start(uint32_t length, uint64_t seed)
{
    uint32_t init = UINT32_C(0x9e3779b9) + length + 3923095;
    struct state s = {init, init, init};

    if (seed != 0) {
        s.a += (uint32_t)(seed >> 32);
        s.b += (uint32_t)seed;
        mix(&s);
    }
    return s;
}

uint64_t route_pghash_word(uint32_t word, uint64_t seed)
{
    struct state s = start(sizeof(word), seed);

    s.a += word;
    return finish(s);
}

static uint32_t little(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

uint64_t route_pghash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *at = bytes;
    struct state s = start((uint32_t)length, seed);
    unsigned char tail[12] = {0};

    for (; length >= 12; length -= 12, at += 12) {
        s.a += little(at);
        s.b += little(at + 4);
        s.c += little(at + 8);
        mix(&s);
    }
    if (length > 0) {
        memcpy(tail, at, length);
    }
    s.a += little(tail);
    s.b += little(tail + 4);
    s.c += little(tail + 8) << 8; /* its lowest byte belongs to the length */
    return finish(s);
}

/* Equal integers of all widths hash alike. */
static uint64_t hash_int8(int64_t value, uint64_t seed)
{
    uint32_t low = (uint32_t)value;
    uint32_t high = (uint32_t)((uint64_t)value >> 32);

    return route_pghash_word(low ^ (value >= 0 ? high : ~high), seed);
}

static uint64_t hash_float(int64_t fixed, uint64_t seed)
{
    unsigned char bytes[8];
    double value = route_type_to_double(fixed);
    uint64_t bits;

    if (value == 0) {
        return seed;
    }
    memcpy(&bits, &value, sizeof(bits));
    if (fixed == INT64_MAX) {
        bits = UINT64_C(0x7ff8000000000000); /* one NaN for all */
    }
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(bits >> 8 * i);
    }
    return route_pghash_bytes(bytes, sizeof(bytes), seed);
}

/* The digits are fed in turn, so that a long number needs no memory. */
static uint64_t hash_digits(const struct route_datum *datum, uint64_t seed)
{
    uint32_t count = route_numeric_digits(datum), i = 0;
    struct state s = start(2 * count, seed);
    uint32_t word[6];

    for (;;) {
        uint32_t left = count - i < 6 ? count - i : 6;
        memset(word, 0, sizeof(word));
        for (uint32_t j = 0; j < left; j++) {
            word[j] = route_numeric_digit(datum, i + j);
        }
        s.a += word[0] | word[1] << 16;
        s.b += word[2] | word[3] << 16;
        if (left < 6) {
            s.c += (word[4] | word[5] << 16) << 8;
            return finish(s);
        }
        s.c += word[4] | word[5] << 16;
        mix(&s);
        i += 6;
    }
}

/* Sign and scale are left out. */
static uint64_t hash_numeric(const struct route_datum *datum, uint64_t seed)
{
    switch (datum->bytes[0]) {
    case ROUTE_NUMERIC_ZERO:
        return seed - 1;
    case ROUTE_NUMERIC_NEGATIVE:
    case ROUTE_NUMERIC_POSITIVE:
        return hash_digits(datum, seed) ^
               (uint64_t)(int64_t)route_numeric_weight(datum);
    default:
        return seed;
    }
}

uint64_t route_pghash_datum(enum route_type type,
                            const struct route_datum *datum, uint64_t seed)
{
    switch (type) {
    case ROUTE_TYPE_BOOL:
    case ROUTE_TYPE_INT2:
    case ROUTE_TYPE_INT4:
    case ROUTE_TYPE_OID:
    case ROUTE_TYPE_DATE:
        return route_pghash_word((uint32_t)datum->fixed, seed);
    case ROUTE_TYPE_INT8:
    case ROUTE_TYPE_TIME:
    case ROUTE_TYPE_TIMESTAMP:
    case ROUTE_TYPE_TIMESTAMPTZ:
    case ROUTE_TYPE_INTERVAL:
        return hash_int8(datum->fixed, seed);
    case ROUTE_TYPE_FLOAT4:
    case ROUTE_TYPE_FLOAT8:
        return hash_float(datum->fixed, seed);
    case ROUTE_TYPE_NUMERIC:
        return hash_numeric(datum, seed);
    case ROUTE_TYPE_UUID:
    case ROUTE_TYPE_BYTEA:
    case ROUTE_TYPE_TEXT:
    case ROUTE_TYPE_NAME:
    case ROUTE_TYPE_BPCHAR:
        return route_pghash_bytes(datum->bytes, datum->length, seed);
    case ROUTE_TYPE_OTHER:
    case ROUTE_TYPES:
        break;
    }
    return 0;
}

uint64_t route_pghash_combine(uint64_t row, uint64_t column)
{
    return row ^ (column + UINT64_C(0x49A0F4DD15E5A8E3) + (row << 54) +
                  (row >> 7));
}

enum route_parse route_pghash_row(const struct route_typing *typing,
                                  const struct route_key *key, uint64_t *row,
                                  uint32_t *wrong)
{
    unsigned char scratch[ROUTE_TYPE_SCRATCH(ROUTE_KEY_BYTES)];
    struct route_datum datum;

    *row = 0;
    for (uint32_t i = 0; i < key->count; i++) {
        const struct route_part *part = &key->part[i];
        if (part->is_null) {
            continue;
        }
        enum route_parse result = route_type_parse(
            &typing[i], part->text, part->length, scratch, &datum);
        if (result != ROUTE_PARSE_OK) {
            *wrong = i;
            return result;
        }
        *row = route_pghash_combine(
            *row, route_pghash_datum(typing[i].type, &datum,
                                     ROUTE_PGHASH_SEED));
    }
    return ROUTE_PARSE_OK;
}
