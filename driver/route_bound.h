/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading a partition bound as pg_get_expr(relpartbound, 0) prints it (facts
 * §D1):
 *
 *   DEFAULT
 *   FOR VALUES IN (literal, ...)
 *   FOR VALUES FROM (edge, ...) TO (edge, ...)
 *   FOR VALUES WITH (modulus M, remainder R)
 *
 *   edge    = literal | MINVALUE | MAXVALUE
 *   literal = NULL | true | false | bare number | 'text', '' being one quote
 *             and the backslash nothing special
 *
 * A pull reader without memory of its own.  The texts must come from a session
 * with DateStyle ISO, TimeZone UTC, IntervalStyle postgres, bytea_output hex.
 */
#ifndef ROUTE_BOUND_H
#define ROUTE_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum route_bound_kind {
    ROUTE_BOUND_BAD,
    ROUTE_BOUND_DEFAULT,
    ROUTE_BOUND_LIST,
    ROUTE_BOUND_RANGE,
    ROUTE_BOUND_HASH
};

enum route_bound_item {
    ROUTE_BOUND_WRONG, /* not the grammar above, from here on */
    ROUTE_BOUND_VALUE, /* *value is filled */
    ROUTE_BOUND_NULL,
    ROUTE_BOUND_MINVALUE,
    ROUTE_BOUND_MAXVALUE,
    ROUTE_BOUND_TO, /* the lower edge of a RANGE is complete */
    ROUTE_BOUND_END /* nothing follows */
};

struct route_bound {
    enum route_bound_kind kind; /* right after route_bound_start() only */
    uint32_t modulus, remainder; /* HASH */
    const char *at, *end;        /* of the reader */
    bool second;                 /* behind TO */
    bool first;                  /* nothing read of this list yet */
};

struct route_bound_value {
    const char *text; /* in the bound's text, or in buffer if it had '' */
    uint32_t length;
};

/* Starts reading.  kind BAD: not the grammar.  DEFAULT and HASH have no
   items. */
struct route_bound route_bound_start(const char *text, size_t length);

/* The next item of a LIST or a RANGE.  buffer has room for the whole text of
   the bound and may be used again for the next item. */
enum route_bound_item route_bound_next(struct route_bound *bound,
                                       char *buffer,
                                       struct route_bound_value *value);

#endif
