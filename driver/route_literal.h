/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading the texts of numbers, truth values, uuids, byte strings and
 * characters as PostgreSQL's input functions do.  Only route_type.c calls
 * these (through route_type_parse(), whose contract is theirs);
 * route_literal_trim() is shared with its sisters.
 */
#ifndef ROUTE_LITERAL_H
#define ROUTE_LITERAL_H

#include "route_type.h"

/* int2, int4, int8, oid */
enum route_parse route_literal_integer(const struct route_typing *typing,
                                       const char *text, uint32_t length,
                                       unsigned char *scratch,
                                       struct route_datum *datum);
enum route_parse route_literal_bool(const struct route_typing *typing,
                                    const char *text, uint32_t length,
                                    unsigned char *scratch,
                                    struct route_datum *datum);
/* float4, float8 */
enum route_parse route_literal_float(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum);
enum route_parse route_literal_uuid(const struct route_typing *typing,
                                    const char *text, uint32_t length,
                                    unsigned char *scratch,
                                    struct route_datum *datum);
enum route_parse route_literal_bytea(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum);
/* text, varchar, name, bpchar */
enum route_parse route_literal_text(const struct route_typing *typing,
                                    const char *text, uint32_t length,
                                    unsigned char *scratch,
                                    struct route_datum *datum);

/* A walk over a text that forgets the blanks (C's isspace) around it. */
struct route_walk {
    const char *at, *end;
};
struct route_walk route_literal_trim(const char *text, uint32_t length);

/* Is what is left of the walk this word, in any case?  Moves nothing. */
bool route_literal_is(const struct route_walk *walk, const char *word);

static inline bool route_literal_digit(const struct route_walk *walk)
{
    return walk->at < walk->end && *walk->at >= '0' && *walk->at <= '9';
}

/* Takes c if it stands here. */
static inline bool route_literal_take(struct route_walk *walk, char c)
{
    if (walk->at < walk->end && *walk->at == c) {
        walk->at++;
        return true;
    }
    return false;
}

#endif
