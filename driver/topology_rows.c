/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Rows of ownership into replies, in the words of PostgreSQL's bounds, and the
 * checks that only become possible when all rows are there.
 */
#include "autoconf.h"

#include "route_bound.h"
#include "topology_rows.h"

#include <stdlib.h>
#include <string.h>

/* Remainders are checked one by one up to this common multiple. */
enum { MULTIPLE_MAX = 1 << 20 };

/* ---- adding ------------------------------------------------------------ */

static bool is_number(const char *text)
{
    struct route_typing typing = route_type_plain(ROUTE_TYPE_INT8);
    unsigned char scratch[ROUTE_TYPE_SCRATCH(32)];
    struct route_datum datum;
    size_t length = strlen(text);

    return length <= 32 &&
           route_type_parse(&typing, text, (uint32_t)length, scratch,
                            &datum) == ROUTE_PARSE_OK;
}

static void append_value(struct topology_reply *reply, struct text *bound,
                         const char *value)
{
    reply->numbers = reply->numbers && is_number(value);
    text_append_char(bound, '\'');
    for (; *value; value++) {
        if (*value == '\'') {
            text_append_char(bound, '\'');
        }
        text_append_char(bound, *value);
    }
    text_append_char(bound, '\'');
}

static void append_edge(struct topology_reply *reply, struct text *bound,
                        const char *value, const char *open)
{
    if (value && *value) {
        append_value(reply, bound, value);
    } else {
        text_append(bound, open);
    }
}

static bool begin(struct topology_reply *reply, char kind)
{
    struct route_column column = {
        .name = "key", .typing = route_type_plain(ROUTE_TYPE_TEXT),
    };
    int32_t shape = topology_reply_shape(reply, kind, false, &column, 1);

    reply->kind = kind;
    reply->numbers = true;
    return shape >= 0 &&
           topology_reply_add(reply, -1, "", 0, shape, TOPOLOGY_NO_CLAIM) >= 0;
}

static const char *kind_word(char kind)
{
    return kind == 'r' ? "range" : kind == 'l' ? "list" : "hash";
}

static void write_bound(struct topology_reply *reply, struct text *bound,
                        const struct topology_row_in *row)
{
    switch (row->kind) {
    case 'r':
        text_append(bound, "FOR VALUES FROM (");
        append_edge(reply, bound, row->low, "MINVALUE");
        text_append(bound, ") TO (");
        append_edge(reply, bound, row->high, "MAXVALUE");
        break;
    case 'l':
        text_append(bound, "FOR VALUES IN (");
        if (row->low) {
            append_value(reply, bound, row->low);
        } else {
            text_append(bound, "NULL");
        }
        break;
    default:
        text_appendf(bound, "FOR VALUES WITH (modulus %u, remainder %u",
                     row->modulus, row->remainder);
        break;
    }
    text_append_char(bound, ')');
}

bool topology_rows_add(struct topology_reply *reply,
                       const struct topology_row_in *row, struct why *why)
{
    struct text bound = { 0 };
    bool ok;

    if (row->kind == 'd') {
        reply->otherwise = true;
        return true;
    }
    if (row->kind == 'h' && row->remainder >= row->modulus) {
        why_set(why, WHY_VALUE, "remainder %u of modulus %u: it must be less",
                row->remainder, row->modulus);
        return false;
    }
    if (reply->kind && reply->kind != row->kind) {
        why_set(why, WHY_VALUE, "%s and %s: only one of them is possible",
                kind_word(reply->kind), kind_word(row->kind));
        return false;
    }
    ok = reply->kind || begin(reply, row->kind);
    if (ok) {
        write_bound(reply, &bound, row);
        ok = !bound.failed &&
             topology_reply_add(reply, 0, text_string(&bound), bound.length,
                                TOPOLOGY_LEAF, TOPOLOGY_LOCAL) >= 0;
    }
    text_free(&bound);
    if (!ok) {
        why_memory(why);
    }
    return ok;
}

/* ---- checking ---------------------------------------------------------- */

struct edge {
    int open; /* -1 MINVALUE, 0 a value, 1 MAXVALUE */
    struct route_datum datum;
};

struct claim {
    uint32_t owner;
    const char *bound; /* for messages */
    uint32_t length;
    struct edge low, high; /* l: low; NULL is MINVALUE */
    uint32_t modulus, remainder;
};

struct check {
    const struct topology_rows_checked *rows;
    struct route_typing typing;
    char kind;
    struct claim *claims;
    size_t count;
    unsigned char *bytes, *next; /* the values' texts, read */
    uint32_t *a, *b;
    struct why *why;
};

static bool blame(struct check *c, const struct claim *x,
                  const struct claim *y, const char *what)
{
    *c->a = x->owner;
    *c->b = y->owner;
    if (x == y) {
        why_set(c->why, WHY_VALUE, "%s: %.*s %s", kind_word(c->kind),
                (int)x->length, x->bound, what);
    } else {
        why_set(c->why, WHY_VALUE, "%s: %.*s %s %.*s", kind_word(c->kind),
                (int)x->length, x->bound, what, (int)y->length, y->bound);
    }
    return false;
}

static bool read_edge(struct check *c, struct route_bound *bound,
                      struct edge *edge)
{
    struct route_bound_value value;
    char *buffer = (char *)c->next;

    switch (route_bound_next(bound, buffer, &value)) {
    case ROUTE_BOUND_VALUE:
        break;
    case ROUTE_BOUND_MAXVALUE:
        edge->open = 1;
        return true;
    case ROUTE_BOUND_NULL:
    case ROUTE_BOUND_MINVALUE:
        edge->open = -1;
        return true;
    default:
        return false;
    }
    edge->open = 0;
    memmove(buffer, value.text, value.length);
    c->next += value.length + 1;
    buffer[value.length] = '\0';
    if (route_type_parse(&c->typing, buffer, value.length, c->next,
                         &edge->datum) != ROUTE_PARSE_OK) {
        return false;
    }
    c->next += ROUTE_TYPE_SCRATCH(value.length);
    return true;
}

static bool read_claim(struct check *c, const struct topology_tree *tree,
                       uint32_t node, struct claim *claim)
{
    const char *text = text_string(&tree->text) + tree->nodes[node].text;
    struct route_bound bound;
    struct route_bound_value value;

    claim->bound = text;
    claim->length = tree->nodes[node].length;
    bound = route_bound_start(text, claim->length);
    claim->modulus = bound.modulus;
    claim->remainder = bound.remainder;
    if (c->kind == 'h') {
        return bound.kind == ROUTE_BOUND_HASH;
    }
    if (!read_edge(c, &bound, &claim->low)) {
        return false;
    }
    return c->kind == 'l' ||
           (route_bound_next(&bound, (char *)c->next, &value) ==
                ROUTE_BOUND_TO &&
            read_edge(c, &bound, &claim->high));
}

static int compare_edges(const struct check *c, const struct edge *a,
                         const struct edge *b)
{
    if (a->open || b->open) {
        return a->open - b->open;
    }
    return route_type_compare(c->typing.type, &a->datum, &b->datum);
}

static int compare_claims(const void *a, const void *b, void *arg)
{
    const struct claim *x = a, *y = b;

    return compare_edges(arg, &x->low, &y->low);
}

static bool may_share(const struct check *c, uint32_t a, uint32_t b)
{
    return a != b && c->rows->same && c->rows->same(c->rows->arg, a, b);
}

static bool check_ranges(struct check *c)
{
    const struct claim *top = NULL;

    for (size_t i = 0; i < c->count; i++) {
        struct claim *x = &c->claims[i];
        if (compare_edges(c, &x->low, &x->high) >= 0) {
            return blame(c, x, x, "is empty");
        }
        if (top && compare_edges(c, &x->low, &top->high) < 0 &&
            !(may_share(c, top->owner, x->owner) &&
              compare_edges(c, &x->low, &top->low) == 0 &&
              compare_edges(c, &x->high, &top->high) == 0)) {
            return blame(c, top, x, "overlaps");
        }
        if (!top || compare_edges(c, &x->high, &top->high) > 0) {
            top = x;
        }
    }
    return true;
}

static bool check_values(struct check *c)
{
    for (size_t i = 1; i < c->count; i++) {
        const struct claim *x = &c->claims[i - 1], *y = &c->claims[i];
        if (compare_edges(c, &x->low, &y->low) == 0 &&
            !may_share(c, x->owner, y->owner)) {
            return blame(c, x, y, "is the same as");
        }
    }
    return true;
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;

    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

static bool fill_remainders(struct check *c, uint32_t *taken,
                            uint64_t multiple)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct claim *x = &c->claims[i];
        for (uint64_t r = x->remainder; r < multiple; r += x->modulus) {
            const struct claim *y = &c->claims[taken[r] ? taken[r] - 1 : i];
            if (taken[r] && !(may_share(c, x->owner, y->owner) &&
                              x->modulus == y->modulus)) {
                return blame(c, y, x, "overlaps");
            }
            taken[r] = (uint32_t)i + 1;
        }
    }
    return true;
}

static bool check_remainders(struct check *c)
{
    uint64_t multiple = 1;
    bool otherwise = false, ok;
    uint32_t *taken;

    for (size_t i = 0; i < c->count; i++) {
        multiple = common_multiple(multiple, c->claims[i].modulus);
        if (multiple > MULTIPLE_MAX) {
            return blame(c, &c->claims[i], &c->claims[i],
                         "does not go with the other moduli: their least "
                         "common multiple is over 1,048,576");
        }
    }
    for (uint32_t i = 0; i < c->rows->count; i++) {
        otherwise |= c->rows->replies[i] && c->rows->replies[i]->otherwise;
    }
    taken = calloc(multiple, sizeof *taken);
    if (!taken) {
        why_memory(c->why);
        return false;
    }
    ok = fill_remainders(c, taken, multiple);
    for (uint64_t r = 0; ok && c->rows->whole && !otherwise && r < multiple;
         r++) {
        if (!taken[r]) {
            *c->a = *c->b = c->claims[0].owner;
            why_set(c->why, WHY_VALUE,
                    "hash: nobody has remainder %u of modulus %u",
                    (unsigned)r, (unsigned)multiple);
            ok = false;
        }
    }
    free(taken);
    return ok;
}

/* Finds out the kind, the type and how much there is to read. */
static bool measure(struct check *c, size_t *bytes)
{
    bool numbers = true;
    uint32_t first = 0;

    *bytes = 1;
    for (uint32_t i = 0; i < c->rows->count; i++) {
        const struct topology_reply *reply = c->rows->replies[i];
        if (!reply || !reply->kind) {
            continue;
        }
        if (c->kind && c->kind != reply->kind) {
            *c->a = first;
            *c->b = i;
            why_set(c->why, WHY_VALUE, "%s and %s: all instances must use "
                    "the same", kind_word(c->kind), kind_word(reply->kind));
            return false;
        }
        first = c->kind ? first : i;
        c->kind = reply->kind;
        numbers &= reply->numbers;
        c->count += reply->tree->count;
        *bytes += 2 * (reply->tree->text.length +
                       reply->tree->count * ROUTE_TYPE_SCRATCH(1) * 2);
    }
    c->typing = route_type_plain(numbers ? ROUTE_TYPE_INT8 : ROUTE_TYPE_TEXT);
    return true;
}

static bool read_claims(struct check *c)
{
    c->count = 0;
    for (uint32_t i = 0; i < c->rows->count; i++) {
        const struct topology_reply *reply = c->rows->replies[i];
        for (uint32_t n = 1; reply && n < reply->tree->count; n++) {
            struct claim *claim = &c->claims[c->count++];
            claim->owner = i;
            if (!read_claim(c, reply->tree, n, claim)) {
                return blame(c, claim, claim, "cannot be read");
            }
        }
    }
    return true;
}

bool topology_rows_check(const struct topology_rows_checked *rows,
                         uint32_t *a, uint32_t *b, struct why *why)
{
    struct check c = { .rows = rows, .a = a, .b = b, .why = why };
    size_t bytes;
    bool ok;

    *a = *b = 0;
    if (!measure(&c, &bytes)) {
        return false;
    }
    c.claims = calloc(c.count + 1, sizeof *c.claims);
    c.bytes = c.next = malloc(bytes);
    ok = c.claims && c.bytes;
    if (!ok) {
        why_memory(why);
    }
    ok = ok && read_claims(&c);
    if (ok && c.kind != 'h') {
        qsort_r(c.claims, c.count, sizeof *c.claims, compare_claims, &c);
    }
    if (ok && c.count > 0) {
        ok = c.kind == 'r'   ? check_ranges(&c)
             : c.kind == 'l' ? check_values(&c)
                             : check_remainders(&c);
    }
    free(c.claims);
    free(c.bytes);
    return ok;
}
