/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The reader of bound texts.  What PostgreSQL prints is one fixed spelling;
 * blanks are nevertheless free between words, since the texts of map files
 * pass here too.
 */
#include "autoconf.h"

#include "route_bound.h"

#include <string.h>

static void skip_blanks(struct route_bound *b)
{
    while (b->at < b->end && *b->at == ' ') {
        b->at++;
    }
}

/* Takes word, and the blanks around it. */
static bool take(struct route_bound *b, const char *word)
{
    size_t length = strlen(word);

    skip_blanks(b);
    if ((size_t)(b->end - b->at) < length || memcmp(b->at, word, length) != 0) {
        return false;
    }
    b->at += length;
    skip_blanks(b);
    return true;
}

static bool take_number(struct route_bound *b, uint32_t *number)
{
    uint64_t value = 0;
    const char *from = b->at;

    while (b->at < b->end && *b->at >= '0' && *b->at <= '9' &&
           value <= INT32_MAX) {
        value = value * 10 + (uint64_t)(*b->at++ - '0');
    }
    *number = (uint32_t)value;
    return b->at > from && value <= INT32_MAX;
}

static bool take_hash(struct route_bound *b)
{
    return take(b, "(") && take(b, "modulus") && take_number(b, &b->modulus) &&
           take(b, ",") && take(b, "remainder") &&
           take_number(b, &b->remainder) && take(b, ")") && b->at == b->end &&
           b->modulus > 0 && b->remainder < b->modulus;
}

static enum route_bound_kind start(struct route_bound *b)
{
    if (take(b, "DEFAULT")) {
        return b->at == b->end ? ROUTE_BOUND_DEFAULT : ROUTE_BOUND_BAD;
    }
    if (!take(b, "FOR") || !take(b, "VALUES")) {
        return ROUTE_BOUND_BAD;
    }
    if (take(b, "WITH")) {
        return take_hash(b) ? ROUTE_BOUND_HASH : ROUTE_BOUND_BAD;
    }
    if (take(b, "IN")) {
        return take(b, "(") ? ROUTE_BOUND_LIST : ROUTE_BOUND_BAD;
    }
    return take(b, "FROM") && take(b, "(") ? ROUTE_BOUND_RANGE
                                           : ROUTE_BOUND_BAD;
}

struct route_bound route_bound_start(const char *text, size_t length)
{
    struct route_bound b = {.at = text, .end = text + length, .first = true};

    b.kind = start(&b);
    return b;
}

/* A ')' stands here: the list has ended. */
static enum route_bound_item close_list(struct route_bound *b)
{
    if (b->kind == ROUTE_BOUND_RANGE && !b->second) {
        b->second = b->first = true;
        return take(b, "TO") && take(b, "(") ? ROUTE_BOUND_TO
                                             : ROUTE_BOUND_WRONG;
    }
    return b->at == b->end ? ROUTE_BOUND_END : ROUTE_BOUND_WRONG;
}

static enum route_bound_item quoted(struct route_bound *b, char *buffer,
                                    struct route_bound_value *value)
{
    const char *from = ++b->at;
    char *out = NULL; /* only once there was a '' */

    for (;; b->at++) {
        if (b->at == b->end) {
            return ROUTE_BOUND_WRONG;
        }
        if (*b->at == '\'') {
            b->at++;
            if (b->at == b->end || *b->at != '\'') {
                break;
            }
            if (!out) {
                size_t before = (size_t)(b->at - 1 - from);
                memcpy(buffer, from, before);
                out = buffer + before;
            }
        }
        if (out) {
            *out++ = *b->at;
        }
    }
    value->text = out ? buffer : from;
    value->length =
        out ? (uint32_t)(out - buffer) : (uint32_t)(b->at - 1 - from);
    return ROUTE_BOUND_VALUE;
}

static bool is_word(const struct route_bound_value *value, const char *word)
{
    return value->length == strlen(word) &&
           memcmp(value->text, word, value->length) == 0;
}

static enum route_bound_item bare(struct route_bound *b,
                                  struct route_bound_value *value)
{
    value->text = b->at;
    while (b->at < b->end && !memchr(" ,)('\"", *b->at, 6)) {
        b->at++;
    }
    value->length = (uint32_t)(b->at - value->text);
    if (is_word(value, "NULL")) {
        return b->kind == ROUTE_BOUND_LIST ? ROUTE_BOUND_NULL
                                           : ROUTE_BOUND_WRONG;
    }
    if (b->kind == ROUTE_BOUND_RANGE && is_word(value, "MINVALUE")) {
        return ROUTE_BOUND_MINVALUE;
    }
    if (b->kind == ROUTE_BOUND_RANGE && is_word(value, "MAXVALUE")) {
        return ROUTE_BOUND_MAXVALUE;
    }
    if (is_word(value, "true") || is_word(value, "false") ||
        (value->length > 0 && memchr("0123456789-+.", *value->text, 13))) {
        return ROUTE_BOUND_VALUE;
    }
    return ROUTE_BOUND_WRONG;
}

static enum route_bound_item next(struct route_bound *bound, char *buffer,
                                  struct route_bound_value *value)
{
    if (!bound->first) {
        if (take(bound, ")")) {
            return close_list(bound);
        }
        if (!take(bound, ",")) {
            return ROUTE_BOUND_WRONG;
        }
    }
    skip_blanks(bound);
    bound->first = false;
    if (bound->at < bound->end && *bound->at == '\'') {
        return quoted(bound, buffer, value);
    }
    return bare(bound, value);
}

enum route_bound_item route_bound_next(struct route_bound *bound, char *buffer,
                                       struct route_bound_value *value)
{
    if (bound->kind == ROUTE_BOUND_DEFAULT || bound->kind == ROUTE_BOUND_HASH) {
        return ROUTE_BOUND_END;
    }
    if (bound->kind == ROUTE_BOUND_BAD) {
        return ROUTE_BOUND_WRONG;
    }
    enum route_bound_item item = next(bound, buffer, value);
    if (item == ROUTE_BOUND_WRONG) {
        bound->kind = ROUTE_BOUND_BAD;
    } else if (item == ROUTE_BOUND_END) {
        bound->kind = ROUTE_BOUND_DEFAULT; /* nothing more, ever */
    }
    return item;
}
