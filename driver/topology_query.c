/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * AffinityQuery: a query of the user's, run on each instance, that says in
 * rows what this instance owns.  Its first three columns, whatever they are
 * called, cast to text:
 *
 *     kind       second        third
 *     range      low           high        low <= key < high; NULL = open
 *     list       value         (ignored)   NULL = the NULL key
 *     hash       modulus       remainder
 *     default    (ignored)     (ignored)   what no other instance claims
 *
 *     SELECT 'range', low, high FROM my_shards WHERE shard = 'this one'
 *
 * No row: it owns nothing.  It runs in a read-only transaction where there is
 * such a thing.  A database that we do not know gets it as it stands, and its
 * texts must be ASCII.
 */
#include "autoconf.h"

#include "inner_sql.h"
#include "topology_inside.h"
#include "topology_rows.h"

#include <string.h>

struct answer {
    struct topology_reply *reply;
    bool plain; /* values as an inner_sql's ask() gives them */
    bool failed;
    uint64_t rows;
    const char *instance;
    struct link_error *error;
};

/* 22000 as for other wrong values: what an instance says is not what was asked
   for. */
static bool refuse(struct answer *answer, const char *text)
{
    answer->failed = true;
    link_set_error(answer->error, "22000",
                   "AffinityQuery on %s, row %llu: %s", answer->instance,
                   (unsigned long long)answer->rows, text);
    return false;
}

static bool read_number(const char *text, uint32_t *number)
{
    return text && text_number(text, strlen(text), INT32_MAX, number);
}

static bool read_row(struct answer *answer, const char *kind, const char *a,
                     const char *b)
{
    struct topology_row_in row = { .low = a, .high = b };
    struct why cause = { 0 };

    if (kind && text_same(kind, "range")) {
        row.kind = 'r';
        if ((a && !*a) || (b && !*b)) {
            return refuse(answer, "an open end of a range is NULL, not ''");
        }
    } else if (kind && text_same(kind, "list")) {
        row.kind = 'l';
    } else if (kind && text_same(kind, "default")) {
        row.kind = 'd';
    } else if (kind && text_same(kind, "hash")) {
        row.kind = 'h';
        if (!read_number(a, &row.modulus) || row.modulus == 0 ||
            !read_number(b, &row.remainder)) {
            return refuse(answer, "hash needs a modulus and a remainder that "
                          "are whole numbers");
        }
    } else {
        return refuse(answer, "the first column must be range, list, hash or "
                      "default");
    }
    return topology_rows_add(answer->reply, &row, &cause) ||
           refuse(answer, cause.text);
}

static bool take_row(void *arg, unsigned count, const char *const *values)
{
    struct answer *answer = arg;
    struct text cells[3] = { { 0 } };
    const char *value[3] = { NULL };
    bool ok = true;

    answer->rows++;
    if (count < 3) {
        return refuse(answer, "three columns are needed");
    }
    for (int i = 0; i < 3; i++) {
        value[i] = answer->plain ? topology_read_plain(values[i], &cells[i])
                                 : values[i];
        if (cells[i].failed) {
            ok = refuse(answer, "out of memory");
        }
    }
    ok = ok && read_row(answer, value[0], value[1], value[2]);
    for (int i = 0; i < 3; i++) {
        text_free(&cells[i]);
    }
    return ok;
}

/* Without the ; at the end, which would not do in the middle. */
static size_t query_length(const char *query)
{
    size_t length = strlen(query);

    while (length && strchr("; \t\r\n", query[length - 1])) {
        length--;
    }
    return length;
}

static bool ask_wrapped(const char *query, struct link *link,
                        struct answer *answer)
{
    struct text sql = { 0 };
    bool ok;

    link->inner->kind->sql->ask(query, query_length(query), &sql);
    if (sql.failed) {
        link_set_error(answer->error, "HY000", "out of memory");
        text_free(&sql);
        return false;
    }
    ok = topology_begin(link, answer->error);
    if (ok) {
        ok = link_query(link, text_string(&sql), take_row, answer,
                        answer->error);
        ok = topology_end(link, ok && !answer->failed, answer->error);
    }
    text_free(&sql);
    return ok;
}

static bool check(struct answer *answer)
{
    struct topology_rows_checked rows = { .replies = &answer->reply,
                                          .count = 1 };
    struct why cause = { 0 };
    uint32_t a, b;

    if (!topology_rows_check(&rows, &a, &b, &cause)) {
        link_set_error(answer->error, "22000", "AffinityQuery on %s: %s",
                       answer->instance, cause.text);
        return false;
    }
    if (!topology_reply_settle(answer->reply)) {
        link_set_error(answer->error, "HY000", "out of memory");
        return false;
    }
    if (answer->rows == 0) {
        topology_reply_note(answer->reply,
                            "AffinityQuery gave no rows on %s",
                            answer->instance);
    }
    return true;
}

struct topology_reply *topology_query_ask(const struct topology *topology,
                                          uint32_t i, struct link *link,
                                          struct link_error *error)
{
    const char *query = topology->fleet->config.query;
    struct answer answer = {
        .reply = topology_reply_new(),
        .plain = link->inner->kind->sql->ask != NULL,
        .instance = topology->fleet->instances[i].name,
        .error = error,
    };
    bool ok;

    if (!answer.reply) {
        link_set_error(error, "HY000", "out of memory");
        return NULL;
    }
    ok = answer.plain ? ask_wrapped(query, link, &answer)
                      : link_query(link, query, take_row, &answer, error) &&
                            !answer.failed;
    /* nobody can undo what a query of the user's may have left */
    link->spoilt |= !link->inner->kind->reset;
    if (!ok && !answer.failed) {
        topology_name_error(error, "AffinityQuery on %s", answer.instance);
    }
    if (!ok || !check(&answer)) {
        topology_reply_release(answer.reply);
        return NULL;
    }
    return answer.reply;
}
