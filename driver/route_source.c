/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writing ranges, values and remainders as the bound texts that the builder
 * takes, after a check that each of them can be read.
 */
#include "autoconf.h"

#include "route_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void route_source_begin(struct route_builder *builder, unsigned group,
                        char strategy, const char *name,
                        struct route_typing typing)
{
    struct route_column column = {name, typing};

    route_builder_answer(builder, group);
    route_builder_inner(builder, -1, NULL, 0, strategy, false, &column, 1);
}

/* A literal as a value; scratch is made here and given to the caller. */
static bool check(const struct route_typing *typing, const char *text,
                  unsigned char **scratch, struct route_datum *datum,
                  struct why *why)
{
    size_t length = strlen(text);

    *scratch = NULL;
    if (length > ROUTE_KEY_BYTES) {
        why_set(why, WHY_VALUE, "a value of %zu bytes, at most %d are taken",
                length, ROUTE_KEY_BYTES);
        return false;
    }
    *scratch = malloc(ROUTE_TYPE_SCRATCH(length));
    if (!*scratch) {
        why_memory(why);
        return false;
    }
    enum route_parse result =
        route_type_parse(typing, text, (uint32_t)length, *scratch, datum);
    if (result == ROUTE_PARSE_OK) {
        return true;
    }
    struct route_part part = {text, (uint32_t)length, false};
    char print[ROUTE_KEY_PRINT];
    why_set(why, WHY_VALUE, "%s is no %s%s",
            route_key_print_part(&part, print, sizeof(print)),
            route_type_name(typing->type),
            result == ROUTE_PARSE_UNSURE ? " in a spelling that means the same"
                                           " everywhere (write it as ISO 8601)"
                                         : "");
    free(*scratch);
    *scratch = NULL;
    return false;
}

/* Appends 'text' with its quotes doubled. */
static char *quote(char *to, const char *text)
{
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'') {
            *to++ = '\'';
        }
        *to++ = *text;
    }
    *to++ = '\'';
    return to;
}

static char *put(char *to, const char *text)
{
    size_t length = strlen(text);

    memcpy(to, text, length);
    return to + length;
}

/* Adds a bound of up to two literals; NULL stands for open or NULL_word. */
static bool add(struct route_builder *builder, const char *before,
                const char *first, const char *first_null, const char *between,
                const char *second, const char *second_null, struct why *why)
{
    size_t room = 64 + 2 * (first ? strlen(first) : 0) +
                  2 * (second ? strlen(second) : 0);
    char *text = malloc(room);

    if (!text) {
        why_memory(why);
        return false;
    }
    char *to = put(text, before);
    to = first ? quote(to, first) : put(to, first_null);
    if (between) {
        to = put(to, between);
        to = second ? quote(to, second) : put(to, second_null);
    }
    to = put(to, ")");
    int32_t leaf = route_builder_leaf(builder, 0, text, (size_t)(to - text),
                                      ROUTE_CLAIM_LOCAL, 0);
    free(text);
    if (leaf < 0) {
        why_memory(why);
    }
    return leaf >= 0;
}

static bool check_range(const struct route_typing *typing, const char *low,
                        const char *high, struct why *why)
{
    unsigned char *low_scratch = NULL, *high_scratch = NULL;
    struct route_datum low_datum, high_datum;
    bool ok = (!low || check(typing, low, &low_scratch, &low_datum, why)) &&
              (!high || check(typing, high, &high_scratch, &high_datum, why));

    if (ok && low && high &&
        route_type_compare(typing->type, &low_datum, &high_datum) >= 0) {
        struct route_part part[2] = {{low, (uint32_t)strlen(low), false},
                                     {high, (uint32_t)strlen(high), false}};
        char print[2][ROUTE_KEY_PRINT];
        why_set(why, WHY_VALUE,
                "a range from %s to %s is empty: its upper end is not part of "
                "it, and must be greater than the lower one",
                route_key_print_part(&part[0], print[0], sizeof(print[0])),
                route_key_print_part(&part[1], print[1], sizeof(print[1])));
        ok = false;
    }
    free(low_scratch);
    free(high_scratch);
    return ok;
}

bool route_source_range(struct route_builder *builder,
                        struct route_typing typing, const char *low,
                        const char *high, struct why *why)
{
    return check_range(&typing, low, high, why) &&
           add(builder, "FOR VALUES FROM (", low, "MINVALUE", ") TO (", high,
               "MAXVALUE", why);
}

bool route_source_value(struct route_builder *builder,
                        struct route_typing typing, const char *value,
                        struct why *why)
{
    unsigned char *scratch = NULL;
    struct route_datum datum;

    if (value && !check(&typing, value, &scratch, &datum, why)) {
        return false;
    }
    free(scratch);
    return add(builder, "FOR VALUES IN (", value, "NULL", NULL, NULL, NULL,
               why);
}

bool route_source_hash(struct route_builder *builder, uint64_t modulus,
                       uint64_t remainder, struct why *why)
{
    char text[96];

    if (modulus == 0 || modulus > INT32_MAX || remainder >= modulus) {
        why_set(why, WHY_VALUE,
                "hash remainder %" PRIu64 " of modulus %" PRIu64
                ": the modulus is at least 1 and at most 2147483647, the "
                "remainder less than it",
                remainder, modulus);
        return false;
    }
    int length =
        snprintf(text, sizeof(text),
                 "FOR VALUES WITH (modulus %" PRIu64 ", remainder %" PRIu64 ")",
                 modulus, remainder);
    if (route_builder_leaf(builder, 0, text, (size_t)length, ROUTE_CLAIM_LOCAL,
                           0) < 0) {
        why_memory(why);
        return false;
    }
    return true;
}
