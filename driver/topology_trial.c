/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The self-test of the hash: sample keys, their remainders as computed here,
 * and one query that says whether the instance agrees with all of them.
 *
 * satisfies_hash_partition() wants the exact types of the key columns, takes
 * any modulus, so that one of a million compares twenty bits of the hash, and
 * locks the parent, for which lock_timeout is the limit.
 */
#include "autoconf.h"

#include "topology_inside.h"
#include "topology_trial.h"

#include "route_pghash.h"

#include <string.h>

enum { MODULUS = 1 << 20, SAMPLES = 5 };

/* Texts that both sides read without a doubt; the NULLs at the end fall back
   on the first. */
static const char *sample_text(enum route_type type, unsigned n, bool utf8)
{
    static const char *const samples[ROUTE_TYPES][SAMPLES] = {
        [ROUTE_TYPE_BOOL] = { "true", "false" },
        [ROUTE_TYPE_INT2] = { "0", "42", "-7", "32767", "-32768" },
        [ROUTE_TYPE_INT4] = { "0", "42", "-7", "2147483647", "-2147483648" },
        [ROUTE_TYPE_INT8] = { "0", "42", "-7", "1099511627776",
                              "-9223372036854775808" },
        [ROUTE_TYPE_OID] = { "0", "42", "4294967295" },
        [ROUTE_TYPE_FLOAT4] = { "0", "-1.5", "0.1", "NaN", "Infinity" },
        [ROUTE_TYPE_FLOAT8] = { "0", "-1.5", "0.1", "NaN", "Infinity" },
        [ROUTE_TYPE_DATE] = { "2000-01-01", "1969-12-31", "2024-05-05" },
        [ROUTE_TYPE_TIME] = { "00:00:00", "12:34:56.789012" },
        [ROUTE_TYPE_TIMESTAMP] = { "2000-01-01 00:00:00",
                                   "1999-12-31 23:59:59",
                                   "2024-05-05 12:34:56.789012" },
        [ROUTE_TYPE_TIMESTAMPTZ] = { "2000-01-01 00:00:00+00",
                                     "1999-12-31 23:59:59+00",
                                     "2024-05-05 12:34:56.789012+00" },
        [ROUTE_TYPE_INTERVAL] = { "00:00:00", "01:02:03.5" },
        [ROUTE_TYPE_NUMERIC] = { "0", "-1.50", "12345678.9012", "0.0001",
                                 "100000000000000000000" },
        [ROUTE_TYPE_UUID] = { "00000000-0000-0000-0000-000000000000",
                              "123e4567-e89b-12d3-a456-426614174000" },
        [ROUTE_TYPE_BYTEA] = { "\\x", "\\x00ff",
                               "\\x0102030405060708090a0b0c" },
        [ROUTE_TYPE_TEXT] = { "", "a", "hello world",
                              "customer-000000000000000001",
                              "\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd" },
        [ROUTE_TYPE_NAME] = { "a", "hello world" },
        [ROUTE_TYPE_BPCHAR] = { "a", "hello world", "b  " },
    };
    const char *text = samples[type][n % SAMPLES];

    if (type == ROUTE_TYPE_TEXT && n % SAMPLES == SAMPLES - 1 && !utf8) {
        text = NULL;
    }
    return text ? text : samples[type][0];
}

/* The limit of a column must not cut a sample, or the server would hash
   another value: such columns take the shortest. */
static void make_key(const struct topology_trial *trial,
                     const struct route_typing *typing, uint32_t columns,
                     unsigned n, struct route_part *parts)
{
    for (uint32_t k = 0; k < columns; k++) {
        const char *text = sample_text(typing[k].type,
                                       typing[k].limit >= 0 ? 0 : n + k,
                                       trial->utf8);
        /* with several columns one of them is NULL now and then */
        bool null = columns > 1 && n == SAMPLES && k == columns - 1;
        parts[k] = (struct route_part){
            .text = null ? "" : text,
            .length = null ? 0 : (uint32_t)strlen(text),
            .is_null = null,
        };
    }
}

static const char *type_name(enum route_type type)
{
    /* "character" alone is character(1) */
    return type == ROUTE_TYPE_BPCHAR ? "bpchar" : route_type_name(type);
}

/* Appends one comparison.  False: this key is not ours to judge. */
static bool append_sample(const struct topology_trial *trial,
                          const struct route_typing *typing, uint32_t columns,
                          uint32_t parent, unsigned n, struct text *sql)
{
    struct route_part parts[ROUTE_KEY_PARTS];
    struct route_key *key;
    uint64_t row = 0;
    uint32_t wrong;
    bool ok;

    make_key(trial, typing, columns, n, parts);
    if (route_key_make(parts, columns, &key, NULL) != ROUTE_KEY_OK) {
        return false;
    }
    ok = route_pghash_row(typing, key, &row, &wrong) == ROUTE_PARSE_OK;
    route_key_free(key);
    if (!ok) {
        return false;
    }
    text_appendf(sql, "%ssatisfies_hash_partition(%u, %d, %u",
                 sql->length ? " AND " : "", parent, MODULUS,
                 (unsigned)(row % MODULUS));
    for (uint32_t k = 0; k < columns; k++) {
        if (parts[k].is_null) {
            text_appendf(sql, ", NULL::%s", type_name(typing[k].type));
            continue;
        }
        text_append(sql, ", convert_from(decode('");
        topology_append_hex(sql, parts[k].text, parts[k].length);
        text_appendf(sql, "', 'hex'), 'UTF8')::%s",
                     type_name(typing[k].type));
    }
    text_append_char(sql, ')');
    return true;
}

static bool take_verdict(void *arg, unsigned count, const char *const *values)
{
    bool *agreed = arg;

    *agreed = count > 0 && values[0] && *values[0] == 'y';
    return false;
}

static void distrust(const struct topology_trial *trial, const char *text)
{
    trial->reply->distrust = true;
    topology_reply_note(trial->reply, "the instances judge the hashes of %s, "
                        "because on %s %s", trial->table, trial->instance,
                        text);
}

void topology_trial_hash(const struct topology_trial *trial, uint32_t parent,
                         uint32_t shape)
{
    const struct topology_tree *tree = trial->reply->tree;
    const struct topology_shape *s = &tree->shapes[shape];
    struct route_typing typing[ROUTE_KEY_PARTS];
    struct text tests = { 0 }, sql = { 0 };
    struct link_error error;
    bool agreed = false, safe = s->strategy == 'h';

    for (uint32_t k = 0; k < s->columns; k++) {
        typing[k] = tree->columns[s->column + k].typing;
        safe = safe && typing[k].safe;
    }
    if (!safe || trial->reply->distrust) {
        return; /* the server judges it anyway */
    }
    for (unsigned n = 0; n <= SAMPLES; n++) {
        append_sample(trial, typing, s->columns, parent, n, &tests);
    }
    text_append(&sql, "SELECT CASE WHEN ");
    text_append(&sql, text_string(&tests));
    text_append(&sql, " THEN 'y' ELSE 'n' END");
    if (tests.failed || sql.failed || !tests.length) {
        distrust(trial, "no key could be tried");
    } else if (!link_query(trial->link, text_string(&sql), take_verdict,
                           &agreed, &error)) {
        distrust(trial, error.text);
    } else if (!agreed) {
        distrust(trial, "hashes differ from those computed here");
    }
    text_free(&tests);
    text_free(&sql);
}
