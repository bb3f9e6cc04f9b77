/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What we know of SQLite's ODBC driver (libsqlite3odbc 0.9998): an instance is
 * a file.
 *
 * A used link is closed.  Nothing makes one clean: beside temporary tables and
 * attached files, which could be told and undone, it carries total_changes(),
 * case_sensitive_like and whatever load_extension() has added, which could
 * not; and a file is opened and closed in the time that a dozen PRAGMAs take
 * (25 µs and 22 µs).
 *
 * The driver keeps its connections in a list of their environment without a
 * lock, trusting that the manager serializes; our helper threads do not come
 * by the manager.  It begins and ends transactions by a flag of its own, which
 * COMMIT or ROLLBACK as SQL text leaves wrong: SQLEndTran and SQLDisconnect
 * fail from then on.  It never says that a connection is dead.
 *
 * It has SQLGetDiagRec, but says that it has none where it was built for
 * unixODBC, which therefore reads its records by SQLError: there, messages
 * begin "[SQLite]".
 *
 * Texts are UTF-8 in and out, whatever the locale.
 */
#include "autoconf.h"

#include "connstr.h"
#include "inner_kind.h"
#include "inner_sql.h"

#include <string.h>

/* The driver reads a value up to the next ';' and knows no braces. */
static bool append(struct text *out, const char *keyword, const char *value,
                   struct why *why)
{
    if (strchr(value, ';')) {
        why_set(why, WHY_VALUE, "%s: SQLite's driver takes no value with a ;",
                keyword);
        return false;
    }
    text_appendf(out, "%s=%s;", keyword, value);
    return true;
}

static bool compose(const struct inner_target *target, bool wide,
                    struct text *out, struct why *why)
{
    bool ok = target->dsn ? append(out, "DSN", target->dsn, why)
                          : append(out, "Database", target->host, why);

    (void)wide;
    for (size_t i = 0; ok && i < target->passed->count; i++) {
        const struct connstr_item *item = &target->passed->items[i];

        ok = append(out, item->keyword, item->value, why);
    }
    if (ok && out->failed) {
        why_memory(why);
    }
    return ok && !out->failed;
}

/* The native number is SQLite's own; that of an error of ours is 0. */
static enum inner_fault fault(const char *sqlstate, SQLINTEGER native,
                              const char *text)
{
    (void)sqlstate; /* HY000 for all */
    (void)text;
    return native == 0 ? INNER_FAULT_POOL : INNER_FAULT_INSTANCE;
}

static void literal(const char *value, struct text *sql)
{
    if (inner_sql_is_plain(value, true)) {
        inner_sql_quoted(value, true, sql);
    } else {
        text_append(sql, "CAST(X'");
        inner_sql_hex(value, strlen(value), sql);
        text_append(sql, "' AS TEXT)");
    }
}

static void ask(const char *query, size_t length, struct text *sql)
{
    inner_sql_ask(query, length,
                  "CASE WHEN ? IS NULL THEN NULL "
                  "ELSE 'x' || lower(hex(CAST(? AS TEXT))) END", sql);
}

/* 1: SQLite's for syntax and names; -1: the driver's own refusals. */
static bool says_wrong(const char *sqlstate, SQLINTEGER native)
{
    (void)sqlstate;
    return native == 1 || native == -1;
}

static const struct inner_sql sqlite_sql = {
    .quote = '"',
    .text_type = "VARCHAR",
    .literal = literal,
    .ask = ask,
    .says_wrong = says_wrong,
};

static const char *const places[] = { "Database", NULL };

/* It has no role but one, and stands for nobody else: two DSNs of one file are
   two instances.  The file is not touched, lest a writer's lock hold us up. */
#define WHO "0, NULL, NULL, NULL, NULL, NULL"
static const char *const who[] = { "SELECT " WHO, NULL };
static const struct inner_probe probe[] = { { WHO, "" }, { NULL, NULL } };

const struct inner_kind inner_sqlite = {
    .name = "SQLite's driver",
    .driver = "sqlite3odbc",
    .places = places,
    .sql = &sqlite_sql,
    .compose = compose,
    .who = who,
    .probe = probe,
    .says_by_error = true,
    .unstick = "BEGIN",
    .fault = fault,
};
