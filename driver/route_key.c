/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cutting the AffinityKey, and writing it again.
 *
 * A key is one block: the head, the parts, the texts of the parts, and the
 * canonical spelling.  The sizes are known before anything is written: what
 * is unquoted is never longer than what was read, and the canonical spelling
 * is measured by the same function that writes it.
 */
#include "autoconf.h"

#include "route_key.h"

#include <stdlib.h>
#include <string.h>

struct cutter {
    const char *at, *end, *start;
    char *out; /* where the next unquoted byte goes */
    struct route_part part[ROUTE_KEY_PARTS];
    size_t count;
    struct why *why;
};

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* NULL in any case; nobody's locale has a say in it. */
static bool is_null_word(const char *text, size_t length)
{
    return length == 4 && (text[0] | 32) == 'n' && (text[1] | 32) == 'u' &&
           (text[2] | 32) == 'l' && (text[3] | 32) == 'l';
}

static bool refuse(struct cutter *c, const char *what)
{
    why_set(c->why, WHY_VALUE,
            "AffinityKey: %s, at character %zu (sub-key %zu); sub-keys are "
            "separated by commas, \" quotes, \"\" is a quote inside",
            what, (size_t)(c->at - c->start) + 1, c->count + 1);
    return false;
}

static void skip_blanks(struct cutter *c)
{
    while (c->at < c->end && *c->at == ' ') {
        c->at++;
    }
}

static bool cut_quoted(struct cutter *c)
{
    c->at++;
    for (;;) {
        if (c->at == c->end) {
            return refuse(c, "a quote is not closed");
        }
        if (*c->at == '"') {
            c->at++;
            if (c->at == c->end || *c->at != '"') {
                break;
            }
        }
        *c->out++ = *c->at++;
    }
    skip_blanks(c);
    if (c->at < c->end && *c->at != ',') {
        return refuse(c, "text after a closing quote");
    }
    return true;
}

static bool cut_plain(struct cutter *c, struct route_part *part)
{
    const char *from = c->at;

    while (c->at < c->end && *c->at != ',') {
        if (*c->at == '"') {
            return refuse(c, "a quote inside an unquoted sub-key");
        }
        c->at++;
    }
    size_t length = (size_t)(c->at - from);
    while (length > 0 && from[length - 1] == ' ') {
        length--;
    }
    if (length == 0) {
        return refuse(c, "an empty sub-key (write \"\" or NULL)");
    }
    part->is_null = is_null_word(from, length);
    if (!part->is_null) {
        memcpy(c->out, from, length);
        c->out += length;
    }
    return true;
}

static bool cut_part(struct cutter *c)
{
    if (c->count == ROUTE_KEY_PARTS) {
        return refuse(c, "more than 32 sub-keys");
    }
    struct route_part *part = &c->part[c->count];
    part->text = c->out;
    part->is_null = false;
    skip_blanks(c);
    if (c->at < c->end && *c->at == '"' ? !cut_quoted(c)
                                        : !cut_plain(c, part)) {
        return false;
    }
    part->length = (uint32_t)(c->out - part->text);
    c->count++;
    return true;
}

static bool cut_all(struct cutter *c)
{
    for (c->at = c->start; c->at < c->end; c->at++) {
        if (is_control(*c->at)) {
            return refuse(c, "a control character");
        }
    }
    c->at = c->start;
    for (;;) {
        if (!cut_part(c)) {
            return false;
        }
        if (c->at == c->end) {
            return true;
        }
        c->at++; /* the comma */
    }
}

enum route_key_result route_key_parse(const char *text, size_t length,
                                      struct route_key **key, struct why *why)
{
    char bytes[ROUTE_KEY_BYTES];
    struct cutter cutter = {.start = text, .out = bytes, .why = why};

    *key = NULL;
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length == 0) {
        return ROUTE_KEY_NONE;
    }
    if (length > ROUTE_KEY_BYTES) {
        why_set(why, WHY_VALUE, "AffinityKey: %zu bytes, at most %d are taken",
                length, ROUTE_KEY_BYTES);
        return ROUTE_KEY_BAD;
    }
    cutter.end = text + length;
    if (!cut_all(&cutter)) {
        return ROUTE_KEY_BAD;
    }
    return route_key_make(cutter.part, cutter.count, key, why);
}

/* ---- the canonical spelling ---- */

static bool needs_quotes(const struct route_part *part)
{
    const char *text = part->text;
    size_t length = part->length;

    return length == 0 || text[0] == ' ' || text[length - 1] == ' ' ||
           is_null_word(text, length) || memchr(text, ',', length) ||
           memchr(text, '"', length);
}

/* Writes one part to out, or only measures it when out is NULL. */
static size_t spell_part(const struct route_part *part, char *out)
{
    if (part->is_null) {
        if (out) {
            memcpy(out, "NULL", 4);
        }
        return 4;
    }
    if (!needs_quotes(part)) {
        if (out) {
            memcpy(out, part->text, part->length);
        }
        return part->length;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < part->length; i++) {
        size_t times = part->text[i] == '"' ? 2 : 1;
        if (out) {
            memset(out + at + 1, part->text[i], times);
        }
        at += times;
    }
    if (out) {
        out[0] = out[at + 1] = '"';
    }
    return at + 2;
}

static bool check_parts(const struct route_part *part, size_t count,
                        size_t *bytes, struct why *why)
{
    if (count > ROUTE_KEY_PARTS) {
        why_set(why, WHY_VALUE, "AffinityKey: %zu sub-keys, at most %d", count,
                ROUTE_KEY_PARTS);
        return false;
    }
    *bytes = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t length = part[i].is_null ? 0 : part[i].length;
        if (length > 0 && memchr(part[i].text, 0, length)) {
            why_set(why, WHY_VALUE,
                    "AffinityKey: sub-key %zu contains a zero byte", i + 1);
            return false;
        }
        *bytes += length;
    }
    if (*bytes > ROUTE_KEY_BYTES) {
        why_set(why, WHY_VALUE, "AffinityKey: %zu bytes, at most %d are taken",
                *bytes, ROUTE_KEY_BYTES);
        return false;
    }
    return true;
}

static void fill(struct route_key *key, const struct route_part *part,
                 size_t count)
{
    char *at = (char *)&key->part[count];

    for (size_t i = 0; i < count; i++) {
        struct route_part *to = &key->part[i];
        to->is_null = part[i].is_null;
        to->length = to->is_null ? 0 : part[i].length;
        to->text = at;
        if (to->length > 0) {
            memcpy(at, part[i].text, to->length);
        }
        at += to->length;
        *at++ = '\0';
    }
    key->text = at;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            *at++ = ',';
        }
        at += spell_part(&key->part[i], at);
    }
    *at = '\0';
    key->length = (uint32_t)(at - key->text);
    key->count = (uint32_t)count;
}

enum route_key_result route_key_make(const struct route_part *part,
                                     size_t count, struct route_key **key,
                                     struct why *why)
{
    size_t bytes;

    *key = NULL;
    if (count == 0) {
        return ROUTE_KEY_NONE;
    }
    if (!check_parts(part, count, &bytes, why)) {
        return ROUTE_KEY_BAD;
    }
    bytes += count; /* the zero bytes */
    for (size_t i = 0; i < count; i++) {
        bytes += spell_part(&part[i], NULL) + 1;
    }
    *key = malloc(sizeof(**key) + count * sizeof(*part) + bytes);
    if (!*key) {
        why_memory(why);
        return ROUTE_KEY_MEMORY;
    }
    fill(*key, part, count);
    return ROUTE_KEY_OK;
}

void route_key_free(struct route_key *key)
{
    free(key);
}

bool route_key_same(const struct route_key *a, const struct route_key *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* ---- for messages ---- */

struct printer {
    char *at, *end; /* end leaves room for "..." and the zero byte */
    bool full;
};

static void print_unit(struct printer *p, const char *unit, size_t length)
{
    if (p->full || (size_t)(p->end - p->at) < length) {
        p->full = true;
        return;
    }
    memcpy(p->at, unit, length);
    p->at += length;
}

/* Bytes of one UTF-8 character as far as text has them; wrong bytes count as
   one, so whatever comes in, the walk ends. */
static size_t unit_length(const char *text, size_t left)
{
    unsigned char c = (unsigned char)text[0];
    size_t want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    size_t have = 1;

    while (have < want && have < left && (text[have] & 0xc0) == 0x80) {
        have++;
    }
    return have;
}

static void print_bytes(struct printer *p, const char *text, size_t length)
{
    static const char hex[] = "0123456789abcdef";

    while (length > 0 && !p->full) {
        size_t unit = unit_length(text, length);
        if (is_control(*text)) {
            char escaped[4] = {'\\', 'x', hex[(*text >> 4) & 15],
                               hex[*text & 15]};
            print_unit(p, escaped, sizeof(escaped));
        } else {
            print_unit(p, text, unit);
        }
        text += unit;
        length -= unit;
    }
}

static struct printer print_start(char *buffer, size_t room)
{
    return (struct printer){.at = buffer, .end = buffer + room - 4};
}

static char *print_end(struct printer *p, char *buffer)
{
    if (p->full) {
        memcpy(p->at, "...", 3);
        p->at += 3;
    }
    *p->at = '\0';
    return buffer;
}

char *route_key_print(const struct route_key *key, char *buffer, size_t room)
{
    struct printer p = print_start(buffer, room);

    print_bytes(&p, key->text, key->length);
    return print_end(&p, buffer);
}

char *route_key_print_part(const struct route_part *part, char *buffer,
                           size_t room)
{
    struct printer p = print_start(buffer, room);

    if (part->is_null) {
        print_unit(&p, "NULL", 4);
        return print_end(&p, buffer);
    }
    bool quotes = needs_quotes(part);
    if (quotes) {
        print_unit(&p, "\"", 1);
    }
    for (uint32_t i = 0; i < part->length && !p.full;) {
        size_t unit = unit_length(part->text + i, part->length - i);
        print_bytes(&p, part->text + i, unit);
        if (part->text[i] == '"') {
            print_unit(&p, "\"", 1);
        }
        i += (uint32_t)unit;
    }
    if (quotes) {
        print_unit(&p, "\"", 1);
    }
    return print_end(&p, buffer);
}
