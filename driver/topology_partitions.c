/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * AffinityTable: what the catalogs of one instance say about a partitioned
 * table.  The queries are facts §D1's lock-free form: they take no lock on the
 * table, so they do not hang behind an ALTER TABLE.
 *
 *   a leaf with local storage      this instance owns it
 *   a foreign partition            a pointer at its foreign server
 *   DETACH CONCURRENTLY under way  no partition any more
 *
 * Whether the client's hash is the instance's is tried at each load
 * (topology_trial.c).
 */
#include "autoconf.h"

#include "inner_psqlodbc.h"
#include "topology_inside.h"
#include "topology_trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->lost = true)
#include <uthash.h>

/* A partitioned table of the tree while it is read. */
struct branch {
    UT_hash_handle hh;
    uint32_t oid;
    int32_t node;
    int32_t shape;
    bool lost;
};

struct asking {
    const struct topology *topology;
    uint32_t i;
    struct link *link;
    struct link_error *error;
    struct topology_reply *reply;

    long version; /* server_version_num */
    uint32_t root;
    char relkind;
    char encoding[32], collation[64]; /* of the database; "" = not libc's */

    struct branch *branches;
    /* the key columns of one partitioned table, as they come in */
    uint32_t oid;
    char strategy;
    struct route_column columns[ROUTE_KEY_PARTS];
    struct text names[ROUTE_KEY_PARTS];
    uint32_t count;

    uint32_t *servers; /* their oids, by number in the reply */
    bool failed;       /* out of memory, or an answer that cannot be */
};

static const char *table_of(const struct asking *ask)
{
    return ask->topology->fleet->config.table;
}

static const char *instance_of(const struct asking *ask)
{
    return ask->topology->fleet->instances[ask->i].name;
}

static bool fail(struct asking *ask, const char *text)
{
    if (!ask->failed) {
        link_set_error(ask->error, "HY000", "learning table %.100s on %s: %s",
                       table_of(ask), instance_of(ask), text);
    }
    ask->failed = true;
    return false;
}

static uint32_t number(const char *text)
{
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* ---- the table --------------------------------------------------------- */

static bool take_table(void *arg, unsigned count, const char *const *values)
{
    struct asking *ask = arg;

    if (count < 6 || !values[0]) {
        return false;
    }
    ask->version = strtol(values[0], NULL, 10);
    snprintf(ask->encoding, sizeof ask->encoding, "%s",
             values[1] ? values[1] : "");
    ask->root = number(values[2]);
    ask->relkind = values[3] ? *values[3] : '\0';
    snprintf(ask->collation, sizeof ask->collation, "%s",
             values[4] ? values[4] : "");
    snprintf(ask->reply->fingerprint, sizeof ask->reply->fingerprint, "%s",
             values[5] ? values[5] : "");
    return false;
}

/* Since 15 a database's collation may be another provider's, and means nothing
   here then; to_jsonb() reads a column that may not be there. */
static bool ask_table(struct asking *ask)
{
    struct text sql = { 0 };
    bool ok;

    text_append(&sql,
                "SELECT current_setting('server_version_num'), "
                "current_setting('server_encoding'), c.oid, c.relkind::text, "
                "(SELECT CASE WHEN coalesce(to_jsonb(d) ->> "
                "'datlocprovider', 'c') = 'c' THEN d.datcollate::text END "
                "FROM pg_catalog.pg_database d "
                "WHERE d.datname = current_database()), ");
    topology_append_fingerprint(&sql, table_of(ask));
    text_append(&sql, " FROM (SELECT ");
    topology_append_table(&sql, table_of(ask));
    text_append(&sql, " AS oid) r "
                      "LEFT JOIN pg_catalog.pg_class c ON c.oid = r.oid");
    ok = sql.failed ? fail(ask, "out of memory")
                    : link_query(ask->link, text_string(&sql), take_table, ask,
                                 ask->error);
    text_free(&sql);
    return ok && (ask->version || fail(ask, "no answer"));
}

/* Everything below the root.  Children that are on their way out are not
   followed; the column came with 14. */
static void append_tree(const struct asking *ask, struct text *sql)
{
    text_appendf(sql,
                 "WITH RECURSIVE t(relid, parent, level) AS ("
                 "SELECT %u::oid, 0::oid, 0 UNION ALL "
                 "SELECT i.inhrelid, i.inhparent, t.level + 1 FROM t "
                 "JOIN pg_catalog.pg_class p ON p.oid = t.relid "
                 "AND p.relkind = 'p' "
                 "JOIN pg_catalog.pg_inherits i ON i.inhparent = t.relid%s) ",
                 ask->root,
                 ask->version >= 140000 ? " WHERE NOT i.inhdetachpending"
                                        : "");
}

static bool run(struct asking *ask, struct text *sql, link_row *row)
{
    bool ok = sql->failed
                  ? fail(ask, "out of memory")
                  : link_query(ask->link, text_string(sql), row, ask,
                               ask->error);
    text_free(sql);
    return ok && !ask->failed;
}

/* ---- key columns ------------------------------------------------------- */

/* The columns of one partitioned table are complete. */
static bool end_branch(struct asking *ask)
{
    struct branch *branch;

    if (!ask->count) {
        return true;
    }
    for (uint32_t k = 0; k < ask->count; k++) {
        if (ask->names[k].failed) {
            return fail(ask, "out of memory");
        }
        ask->columns[k].name =
            ask->names[k].length ? text_string(&ask->names[k]) : NULL;
    }
    branch = calloc(1, sizeof *branch);
    if (!branch) {
        return fail(ask, "out of memory");
    }
    branch->oid = ask->oid;
    branch->node = -1;
    branch->shape = topology_reply_shape(ask->reply, ask->strategy, false,
                                        ask->columns, ask->count);
    ask->count = 0;
    HASH_ADD(hh, ask->branches, oid, sizeof branch->oid, branch);
    if (branch->lost || branch->shape < 0) {
        if (branch->lost) {
            free(branch);
        }
        return fail(ask, "out of memory");
    }
    return true;
}

static bool take_column(void *arg, unsigned count, const char *const *values)
{
    struct asking *ask = arg;
    struct route_catalog catalog;
    uint32_t oid = number(values[0]);

    if (count < 9 || !values[1]) {
        return fail(ask, "its key columns cannot be read");
    }
    if (oid != ask->oid && !end_branch(ask)) {
        return false;
    }
    if (ask->count >= ROUTE_KEY_PARTS) {
        return fail(ask, "too many key columns");
    }
    ask->oid = oid;
    ask->strategy = *values[1];
    catalog = (struct route_catalog){
        .type_oid = number(values[3]),
        .type_mod = values[4] ? (int32_t)strtol(values[4], NULL, 10) : -1,
        .strategy = ask->strategy,
        .opfamily = values[5],
        .hash_proc = values[6],
        .collation = values[7],
        .deterministic = values[8] && *values[8] == 'y',
        .database_collation = *ask->collation ? ask->collation : NULL,
        .encoding = ask->encoding,
    };
    topology_read_plain(values[2], &ask->names[ask->count]);
    ask->columns[ask->count++].typing = route_type_of(&catalog);
    return true;
}

/* What is not in pg_catalog is a stranger, whatever its name. */
static bool ask_columns(struct asking *ask)
{
    struct text sql = { 0 };

    append_tree(ask, &sql);
    text_appendf(
        &sql,
        "SELECT pt.partrelid, pt.partstrat::text, "
        INNER_PG_PLAIN("a.attname::text") ", coalesce(a.atttypid, 0), "
        "coalesce(a.atttypmod, -1), "
        "CASE WHEN f.opfnamespace = 'pg_catalog'::regnamespace "
        "THEN f.opfname::text ELSE '' END, "
        "CASE WHEN pr.pronamespace = 'pg_catalog'::regnamespace "
        "THEN pr.proname::text WHEN pr.oid IS NOT NULL THEN '' END, "
        "CASE WHEN co.collnamespace = 'pg_catalog'::regnamespace "
        "THEN co.collname::text WHEN co.oid IS NOT NULL THEN '' END, "
        "CASE WHEN %s THEN 'y' ELSE 'n' END "
        "FROM t JOIN pg_catalog.pg_partitioned_table pt "
        "ON pt.partrelid = t.relid "
        "CROSS JOIN LATERAL unnest(pt.partattrs::int2[], "
        "pt.partclass::oid[], pt.partcollation::oid[]) "
        "WITH ORDINALITY AS k(attnum, opclass, colloid, ord) "
        "LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = pt.partrelid "
        "AND a.attnum = k.attnum AND k.attnum <> 0 "
        "JOIN pg_catalog.pg_opclass oc ON oc.oid = k.opclass "
        "JOIN pg_catalog.pg_opfamily f ON f.oid = oc.opcfamily "
        "LEFT JOIN pg_catalog.pg_amproc ap ON pt.partstrat = 'h' "
        "AND ap.amprocfamily = oc.opcfamily "
        "AND ap.amproclefttype = oc.opcintype "
        "AND ap.amprocrighttype = oc.opcintype AND ap.amprocnum = 2 "
        "LEFT JOIN pg_catalog.pg_proc pr ON pr.oid = ap.amproc "
        "LEFT JOIN pg_catalog.pg_collation co ON co.oid = k.colloid "
        "ORDER BY pt.partrelid, k.ord",
        ask->version >= 120000 ? "coalesce(co.collisdeterministic, true)"
                               : "true");
    return run(ask, &sql, take_column) && end_branch(ask);
}

/* ---- foreign servers --------------------------------------------------- */

static bool take_server(void *arg, unsigned count, const char *const *values)
{
    struct asking *ask = arg;
    struct topology_reply *reply = ask->reply;
    struct topology_server *server;
    char **fields[4];
    struct text cell = { 0 };
    uint32_t n = reply->server_count;
    void *more;

    if (count < 5) {
        return fail(ask, "its foreign servers cannot be read");
    }
    more = reallocarray(reply->servers, n + 1, sizeof *reply->servers);
    reply->servers = more ? more : reply->servers;
    if (more) {
        more = reallocarray(ask->servers, n + 1, sizeof *ask->servers);
        ask->servers = more ? more : ask->servers;
    }
    if (!more) {
        return fail(ask, "out of memory");
    }
    server = &reply->servers[n];
    memset(server, 0, sizeof *server);
    reply->server_count++;
    ask->servers[n] = number(values[0]);
    fields[0] = &server->name;
    fields[1] = &server->host;
    fields[2] = &server->port;
    fields[3] = &server->database;
    for (int k = 0; k < 4; k++) {
        topology_read_plain(values[k + 1], &cell);
        *fields[k] = strdup(text_string(&cell));
        if (!*fields[k] || cell.failed) {
            ask->failed = fail(ask, "out of memory") || true;
        }
    }
    text_free(&cell);
    if (!ask->failed) {
        server->instance = topology_index_find(ask->topology->index, server);
    }
    return !ask->failed;
}

#define OPTION(name)                                                          \
    INNER_PG_PLAIN("(SELECT max(option_value) FROM "                          \
                   "pg_options_to_table(s.srvoptions) "                       \
                   "WHERE option_name = '" name "')")

static bool ask_servers(struct asking *ask)
{
    struct text sql = { 0 };

    text_append(&sql, "SELECT s.oid, " INNER_PG_PLAIN("s.srvname::text") ", "
                OPTION("host") ", " OPTION("port") ", " OPTION("dbname")
                " FROM pg_catalog.pg_foreign_server s ORDER BY s.oid");
    return run(ask, &sql, take_server);
}

static int compare_oids(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The claim of a foreign partition; its server may have been made just now, or
   be nobody's we can see. */
static uint32_t pointer_at(const struct asking *ask, uint32_t oid)
{
    const uint32_t *found =
        ask->reply->server_count
            ? bsearch(&oid, ask->servers, ask->reply->server_count,
                      sizeof *ask->servers, compare_oids)
            : NULL;

    return found ? TOPOLOGY_POINTER + (uint32_t)(found - ask->servers) : 0;
}

/* ---- the tree ---------------------------------------------------------- */

static struct branch *find_branch(const struct asking *ask, uint32_t oid)
{
    struct branch *branch;

    HASH_FIND(hh, ask->branches, &oid, sizeof oid, branch);
    return branch;
}

static bool take_node(void *arg, unsigned count, const char *const *values)
{
    struct asking *ask = arg;
    uint32_t oid = number(values[0]), parent = number(values[1]);
    struct branch *above = parent ? find_branch(ask, parent) : NULL;
    struct branch *branch;
    struct text bound = { 0 };
    uint32_t claim = TOPOLOGY_LOCAL;
    int32_t node;

    if (count < 5 || !values[2] || (parent && (!above || above->node < 0))) {
        return fail(ask, "its partitions changed while they were read");
    }
    branch = *values[2] == 'p' ? find_branch(ask, oid) : NULL;
    if (*values[2] == 'p' && !branch) {
        return fail(ask, "its partitions changed while they were read");
    }
    if (*values[2] == 'f') {
        claim = pointer_at(ask, number(values[3]));
        if (!claim) {
            return fail(ask, "a foreign partition has no foreign server");
        }
    }
    topology_read_plain(values[4], &bound);
    node = bound.failed
               ? -1
               : topology_reply_add(ask->reply, above ? above->node : -1,
                                    text_string(&bound), bound.length,
                                    branch ? branch->shape : TOPOLOGY_LEAF,
                                    branch ? TOPOLOGY_NO_CLAIM : claim);
    text_free(&bound);
    if (branch) {
        branch->node = node;
    }
    return node >= 0 || fail(ask, "out of memory");
}

static bool ask_nodes(struct asking *ask)
{
    struct text sql = { 0 };

    append_tree(ask, &sql);
    text_append(&sql,
                "SELECT t.relid, t.parent, c.relkind::text, ft.ftserver, "
                INNER_PG_PLAIN("b.bound")
                " FROM t JOIN pg_catalog.pg_class c ON c.oid = t.relid "
                "LEFT JOIN pg_catalog.pg_foreign_table ft "
                "ON ft.ftrelid = c.oid CROSS JOIN LATERAL "
                "(SELECT pg_get_expr(c.relpartbound, 0) AS bound "
                "OFFSET 0) b ORDER BY t.level");
    return run(ask, &sql, take_node);
}

/* ---- all of it --------------------------------------------------------- */

/* No partitions here is an answer as well: it owns nothing. */
static void note_absence(struct asking *ask)
{
    if (!ask->root) {
        topology_reply_note(ask->reply, "table %s does not exist on %s",
                            table_of(ask), instance_of(ask));
    } else {
        topology_reply_note(ask->reply,
                            "table %s is not partitioned on %s",
                            table_of(ask), instance_of(ask));
    }
}

/* The hash is tried last, since it alone may wait for a lock. */
static void try_hash(struct asking *ask)
{
    struct branch *branch, *next;
    struct topology_trial trial = {
        .link = ask->link, .reply = ask->reply, .table = table_of(ask),
        .instance = instance_of(ask),
        .utf8 = strcmp(ask->encoding, "UTF8") == 0,
    };
    int32_t tried = -1;

    HASH_ITER(hh, ask->branches, branch, next) {
        if (branch->shape > tried) { /* one parent of each shape */
            tried = branch->shape;
            topology_trial_hash(&trial, branch->oid, (uint32_t)branch->shape);
        }
    }
}

static bool ask_all(struct asking *ask)
{
    if (!ask_table(ask)) {
        return false;
    }
    if (ask->relkind != 'p') {
        note_absence(ask);
        return true;
    }
    if (!ask_columns(ask) || !ask_servers(ask) || !ask_nodes(ask)) {
        return false;
    }
    try_hash(ask);
    return true;
}

static void free_asking(struct asking *ask)
{
    struct branch *branch, *next;

    HASH_ITER(hh, ask->branches, branch, next) {
        HASH_DEL(ask->branches, branch);
        free(branch);
    }
    for (int i = 0; i < ROUTE_KEY_PARTS; i++) {
        text_free(&ask->names[i]);
    }
    free(ask->servers);
}

struct topology_reply *topology_partitions_ask(const struct topology *topology,
                                               uint32_t i, struct link *link,
                                               struct link_error *error)
{
    struct asking ask = { .topology = topology, .i = i, .link = link,
                          .error = error, .reply = topology_reply_new() };
    bool ok = ask.reply && topology_begin(link, error);

    if (!ask.reply) {
        link_set_error(error, "HY000", "out of memory");
        return NULL;
    }
    if (ok) {
        ok = topology_end(link, ask_all(&ask), error);
    }
    if (!ok && !ask.failed) {
        topology_name_error(error, "learning table %.100s on %s",
                            table_of(&ask), instance_of(&ask));
    } else if (ok && !topology_reply_settle(ask.reply)) {
        ok = fail(&ask, "out of memory");
    }
    free_asking(&ask);
    if (!ok) {
        topology_reply_release(ask.reply);
        return NULL;
    }
    return ask.reply;
}
