/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Having one instance judge keys (facts §D1, "server-side resolver").
 *
 * A DO block walks down the partition tree: at each level it casts the values
 * to the types of the key columns met so far, and evaluates the constraints
 * of that level's partitions, which PostgreSQL itself writes
 * (pg_get_partition_constraintdef).  All of it is made on the server because
 * such a constraint may hold any text, and what we send is ASCII.  The answer
 * comes back through a setting that lives as long as the transaction.
 *
 *     keys       cells joined by , and keys by | ; a cell is hex, or - for NULL
 *     answer     for each key, ended by | :
 *                p ,bound ,bound …    where it ends; bounds in hex
 *                n                    no partition takes it
 *                m                    more sub-keys than key columns
 *                e state message      22xxx, 23xxx: no value of that type
 *
 * An expression as key (LIST (lower(k))) is given the columns it is made of,
 * which depend on the table "internally".
 */
#include "autoconf.h"

#include "topology_inside.h"
#include "topology_resolve.h"

#include <stdlib.h>
#include <string.h>

static const char before_table[] =
    "DO $odbc_affinity$ "
    "DECLARE root oid := ";

static const char before_keys[] =
    "; cells text[]; names text[]; item text; given text; path text; "
    "tests text; state text; answer text := ''; used int; ended bool; "
    "node oid; child oid; kind text; col record; "
    "BEGIN FOREACH item IN ARRAY string_to_array('";

/* bpchar and varchar without their length: what an INSERT would refuse must
   not be cut here */
static const char after_keys[] =
    "', '|') LOOP BEGIN "
    "cells := string_to_array(item, ','); names := ARRAY[]::text[]; "
    "given := ''; path := ''; used := 0; ended := false; state := 'p'; "
    "node := root; kind := NULL; "
    "LOOP "
    "SELECT c.relkind::text INTO kind FROM pg_catalog.pg_class c "
    "WHERE c.oid = node; "
    "EXIT WHEN kind IS DISTINCT FROM 'p'; "
    "FOR col IN SELECT a.attname::text AS name, pg_catalog.format_type("
    "a.atttypid, CASE WHEN a.atttypid IN (1042, 1043) THEN -1 "
    "ELSE a.atttypmod END) AS type "
    "FROM pg_catalog.pg_partitioned_table pt CROSS JOIN LATERAL ("
    "SELECT k.attnum, k.ord FROM unnest(pt.partattrs::int2[]) "
    "WITH ORDINALITY k(attnum, ord) WHERE k.attnum <> 0 UNION ALL "
    "SELECT DISTINCT d.objsubid, (SELECT min(z.ord) "
    "FROM unnest(pt.partattrs::int2[]) WITH ORDINALITY z(attnum, ord) "
    "WHERE z.attnum = 0) FROM pg_catalog.pg_depend d "
    "WHERE 0 = ANY (pt.partattrs::int2[]) "
    "AND d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = node "
    "AND d.objsubid > 0 AND d.refclassid = 'pg_catalog.pg_class'::regclass "
    "AND d.refobjid = node AND d.refobjsubid = 0 AND d.deptype = 'i' "
    "AND d.objsubid <> ALL (pt.partattrs::int2[])) k "
    "JOIN pg_catalog.pg_attribute a ON a.attrelid = node "
    "AND a.attnum = k.attnum WHERE pt.partrelid = node "
    "ORDER BY k.ord, k.attnum LOOP "
    "CONTINUE WHEN col.name = ANY (names); "
    "IF used = cardinality(cells) THEN ended := true; EXIT; END IF; "
    "used := used + 1; names := names || col.name; "
    "given := given || format(', CAST(%L AS %s) AS %I', "
    "CASE WHEN cells[used] <> '-' "
    "THEN convert_from(decode(cells[used], 'hex'), 'UTF8') END, "
    "col.type, col.name); "
    "END LOOP; "
    "EXIT WHEN ended; "
    "SELECT string_agg(format('WHEN %s THEN %s::oid', coalesce("
    "pg_get_partition_constraintdef(c.oid), 'true'), c.oid), ' ' "
    "ORDER BY c.oid = pt.partdefid, c.oid) INTO tests "
    "FROM pg_catalog.pg_inherits i "
    "JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid "
    "JOIN pg_catalog.pg_partitioned_table pt ON pt.partrelid = i.inhparent "
    "WHERE i.inhparent = node AND c.relispartition; "
    "child := NULL; "
    "IF tests IS NOT NULL THEN "
    "EXECUTE 'SELECT CASE ' || tests || ' END FROM (SELECT ' || "
    "substr(given, 3) || ') odbc_affinity_key' INTO child; "
    "END IF; "
    "IF child IS NULL THEN state := 'n'; EXIT; END IF; "
    "path := path || ',' || (SELECT encode(convert_to(pg_get_expr("
    "c.relpartbound, 0), 'UTF8'), 'hex') FROM pg_catalog.pg_class c "
    "WHERE c.oid = child); "
    "node := child; "
    "END LOOP; "
    "IF root IS NULL THEN state := 'n'; "
    "ELSIF state = 'p' AND NOT ended AND kind <> 'f' "
    "AND used < cardinality(cells) THEN state := 'm'; END IF; "
    "answer := answer || state || CASE state WHEN 'p' THEN path ELSE '' END "
    "|| '|'; "
    "EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN "
    "answer := answer || 'e' || SQLSTATE || "
    "encode(convert_to(SQLERRM, 'UTF8'), 'hex') || '|'; "
    "END; END LOOP; "
    "PERFORM set_config('odbc_affinity.answer', answer, true); "
    "END $odbc_affinity$";

static void append_key(struct text *sql, const struct route_key *key)
{
    for (uint32_t i = 0; i < key->count; i++) {
        const struct route_part *part = &key->part[i];
        if (i) {
            text_append_char(sql, ',');
        }
        if (part->is_null) {
            text_append_char(sql, '-');
        } else {
            topology_append_hex(sql, part->text, part->length);
        }
    }
}

/* ---- reading the answer ------------------------------------------------ */

struct answers {
    struct topology_resolution *results;
    uint32_t count, read;
};

static char *sentence(const char *text)
{
    return strdup(text);
}

/* ",hex,hex" to bounds, each ended by NUL. */
static void read_path(const char *at, const char *end,
                      struct topology_resolution *result)
{
    struct text path = { 0 }, bound = { 0 };

    result->outcome = TOPOLOGY_RESOLVED_PATH;
    while (at < end && *at == ',') {
        const char *next = ++at;
        struct text cell = { 0 };
        while (next < end && *next != ',') {
            next++;
        }
        text_append_char(&cell, 'x');
        text_append_bytes(&cell, at, (size_t)(next - at));
        topology_read_plain(text_string(&cell), &bound);
        text_append_bytes(&path, text_string(&bound), bound.length + 1);
        path.failed |= cell.failed || bound.failed;
        text_free(&cell);
        result->steps++;
        at = next;
    }
    text_free(&bound);
    result->text = result->steps ? text_take(&path) : sentence("");
    text_free(&path);
}

/* "22P02hex": PostgreSQL's words. */
static void read_refusal(const char *at, const char *end,
                         struct topology_resolution *result)
{
    struct text cell = { 0 }, message = { 0 }, out = { 0 };

    result->outcome = TOPOLOGY_RESOLVED_BAD;
    if (end - at >= 5) {
        text_append_char(&cell, 'x');
        text_append_bytes(&cell, at + 5, (size_t)(end - at - 5));
        topology_read_plain(text_string(&cell), &message);
        text_append(&out, text_string(&message));
    }
    text_append_char(&out, '\0');
    out.failed |= cell.failed || message.failed;
    result->text = text_take(&out);
    text_free(&cell);
    text_free(&message);
}

static bool take_answer(void *arg, unsigned count, const char *const *values)
{
    struct answers *answers = arg;
    const char *at = count && values[0] ? values[0] : "";

    while (*at && answers->read < answers->count) {
        struct topology_resolution *result =
            &answers->results[answers->read++];
        const char *end = at + strcspn(at, "|");
        switch (*at) {
        case 'p':
            read_path(at + 1, end, result);
            break;
        case 'n':
            result->outcome = TOPOLOGY_RESOLVED_NONE;
            result->text = sentence("");
            break;
        case 'm':
            result->outcome = TOPOLOGY_RESOLVED_BAD;
            result->text = sentence("it has more sub-keys than there are key "
                                    "columns");
            break;
        default:
            read_refusal(at + 1, end, result);
            break;
        }
        at = *end ? end + 1 : end;
    }
    return false;
}

/* ---- asking ------------------------------------------------------------ */

static void fail_rest(struct answers *answers,
                      const struct link_error *error)
{
    for (uint32_t k = 0; k < answers->count; k++) {
        struct topology_resolution *result = &answers->results[k];
        if (result->text) {
            continue;
        }
        result->outcome = TOPOLOGY_RESOLVED_FAILED;
        result->text = strdup(error->text);
    }
}

bool topology_resolve_ask(const char *table, const char *instance,
                          struct link *link, struct route_key *const *keys,
                          uint32_t count, struct topology_resolution *results,
                          struct link_error *error)
{
    struct answers answers = { .results = results, .count = count };
    struct text sql = { 0 };
    bool ok;

    text_append(&sql, before_table);
    topology_append_table(&sql, table);
    text_append(&sql, before_keys);
    for (uint32_t k = 0; k < count; k++) {
        if (k) {
            text_append_char(&sql, '|');
        }
        append_key(&sql, keys[k]);
    }
    text_append(&sql, after_keys);
    if (sql.failed) {
        link_set_error(error, "HY000", "out of memory");
        ok = false;
    } else {
        ok = topology_begin(link, error);
    }
    if (ok) {
        ok = link_execute(link, text_string(&sql), error) &&
             link_query(link, "SELECT current_setting('odbc_affinity.answer')",
                        take_answer, &answers, error);
        if (ok && answers.read < count) {
            link_set_error(error, "HY000", "it gave no answer");
            ok = false;
        }
        ok = topology_end(link, ok, error);
    }
    if (!ok) {
        topology_name_error(error, "resolving keys of %.100s on %s", table,
                            instance);
    }
    fail_rest(&answers, error);
    text_free(&sql);
    return ok;
}
