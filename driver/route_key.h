/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The AffinityKey: one text, cut into its sub-keys (design §5.1).
 *
 *     key     = sub-key { "," sub-key }
 *     sub-key = quoted | NULL | any text without , and "
 *     quoted  = '"' { any character but ", or "" for one " } '"'
 *
 * Blanks around a sub-key are not part of it; inside quotes they are.  An
 * unquoted NULL, in capitals or not, is the NULL sub-key; "NULL" in quotes is
 * a text.  An empty sub-key must be written "" (a missing value is an error,
 * not an empty string); a key of nothing but blanks is no key.
 *
 * What a sub-key means is not known here: see route_type.h.
 */
#ifndef ROUTE_KEY_H
#define ROUTE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

enum {
    ROUTE_KEY_PARTS = 32,   /* PostgreSQL's limit of key columns */
    ROUTE_KEY_BYTES = 8192, /* longest key, as text and as sub-keys together */
    ROUTE_KEY_PRINT = 80    /* a buffer that is enough for a message */
};

struct route_part {
    const char *text; /* UTF-8, NUL-terminated in a key; "" for NULL */
    uint32_t length;
    bool is_null;
};

/* Immutable; one block of memory, freed with route_key_free(). */
struct route_key {
    uint32_t count; /* 1 .. ROUTE_KEY_PARTS */
    /* The key in its one canonical spelling: equal keys have equal bytes, so
       this is what is hashed, cached and compared.  NUL-terminated. */
    uint32_t length;
    const char *text;
    struct route_part part[];
};

enum route_key_result {
    ROUTE_KEY_OK,
    ROUTE_KEY_NONE,  /* empty: no key (rules §11.6); *key is NULL */
    ROUTE_KEY_BAD,   /* *why says what is wrong and where (WHY_VALUE) */
    ROUTE_KEY_MEMORY /* *why says so as well */
};

/* Parses text[0..length) into a new key.  Control characters are refused, in
   quotes as well.  why may be NULL. */
enum route_key_result route_key_parse(const char *text, size_t length,
                                      struct route_key **key, struct why *why);

/* Makes a key of count sub-keys that are known already (bound parameters,
   AffinityColumn); control characters except NUL are allowed here.  count 0
   is ROUTE_KEY_NONE. */
enum route_key_result route_key_make(const struct route_part *part,
                                     size_t count, struct route_key **key,
                                     struct why *why);

/* NULL is allowed. */
void route_key_free(struct route_key *key);

bool route_key_same(const struct route_key *a, const struct route_key *b);

/* Writes the key, or one sub-key, as it would be written in a connection
   string, for messages: control characters as \xNN, cut to room (which is at
   least 8) with "..." at the end, always terminated, never inside a UTF-8
   character.  Returns buffer. */
char *route_key_print(const struct route_key *key, char *buffer, size_t room);
char *route_key_print_part(const struct route_part *part, char *buffer,
                           size_t room);

#endif
