/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * numeric of any precision as a string of bytes whose order under memcmp is
 * the order of the numbers:
 *
 *   byte 0   0 -Infinity, 1 negative, 2 zero, 3 positive, 4 Infinity, 5 NaN
 *   2 bytes  weight + 32768, high byte first: the base-10000 exponent of the
 *            first digit
 *   2 each   the base-10000 digits + 1, high byte first, without zeros before
 *            the first and behind the last
 *
 * Of a negative number everything behind byte 0 is inverted, and two bytes
 * 0xff end it (so that the longer one is the smaller).  The scale is not
 * kept: 1.5 and 1.50 are the same value.
 */
#ifndef ROUTE_NUMERIC_H
#define ROUTE_NUMERIC_H

#include "route_type.h"

enum {
    ROUTE_NUMERIC_MINUS_INFINITY,
    ROUTE_NUMERIC_NEGATIVE,
    ROUTE_NUMERIC_ZERO,
    ROUTE_NUMERIC_POSITIVE,
    ROUTE_NUMERIC_INFINITY,
    ROUTE_NUMERIC_NAN
};

/* See route_type_parse(). */
enum route_parse route_numeric_parse(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum);

/* For a negative or positive number: its weight, how many digits it has, and
   one of them. */
int32_t route_numeric_weight(const struct route_datum *datum);
uint32_t route_numeric_digits(const struct route_datum *datum);
uint16_t route_numeric_digit(const struct route_datum *datum, uint32_t index);

#endif
