/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Texts and the values that they must be, for the tests of those files that
 * read a type's texts.  To be included behind cmocka.h.
 */
#ifndef UNIT_ROUTE_PARSE_H
#define UNIT_ROUTE_PARSE_H

#include <stdlib.h>
#include <string.h>

#include "route_type.h"

enum {
    OK = ROUTE_PARSE_OK,
    UNSURE = ROUTE_PARSE_UNSURE,
    BAD = ROUTE_PARSE_BAD
};

struct case_of {
    const char *text;
    int result;
    int64_t value;
};

/* The text gets a block of its own, so that reading beyond it is seen. */
static inline int parse(const struct route_typing *typing, const char *text,
                        struct route_datum *datum, unsigned char **scratch)
{
    size_t length = strlen(text);
    char *copy = malloc(length + (length == 0));
    *scratch = malloc(ROUTE_TYPE_SCRATCH(length));

    assert_non_null(copy);
    assert_non_null(*scratch);
    memcpy(copy, text, length);
    int result =
        route_type_parse(typing, copy, (uint32_t)length, *scratch, datum);
    free(copy);
    return result;
}

/* The last of the cases has no text. */
static inline void expect(struct route_typing typing,
                          const struct case_of *cases)
{
    for (; cases->text; cases++) {
        unsigned char *scratch;
        struct route_datum datum = {.fixed = 0};
        int result = parse(&typing, cases->text, &datum, &scratch);
        free(scratch);
        if (result != cases->result ||
            (result == OK && datum.fixed != cases->value)) {
            fail_msg("%s '%s': result %d, value %lld",
                     route_type_name(typing.type), cases->text, result,
                     (long long)datum.fixed);
        }
    }
}

#endif
