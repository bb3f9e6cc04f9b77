/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What we know of psqlODBC: its connection strings, its start-up values, what
 * a reset needs, how PostgreSQL says who it is, what its refusals mean.
 *
 * Connection strings (facts §6, tried on 13.02): PWD, ConnSettings and pqopt
 * are decoded (%XX and +) when they stand unbraced, and literal when braced;
 * every other value keeps the braces it is given as part of the value, so
 * those are written plain.  In an ini file PWD is decoded, pqopt is literal,
 * and ConnSettings is decoded unless it has blanks in two places; a driver's
 * section of odbcinst.ini gives neither of the two.
 *
 * pqopt carries our start-up values so that DISCARD ALL goes back to what the
 * driver relies on (facts §10): PGOPTIONS, which libpq would ignore once
 * `options` is given, then the user's own, then ours, merged into one
 * options='…' because of two the last wins.  Rules §5.7 have ours first; but
 * the driver sets them when it has connected, whatever the user said.
 */
#include "autoconf.h"

#include "connstr.h"
#include "environment.h"
#include "inifile.h"
#include "inner_kind.h"
#include "inner_pqopt.h"
#include "inner_psqlodbc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Keywords whose value psqlODBC decodes where it is not braced. */
static bool is_encoded(const char *keyword)
{
    return text_same(connstr_canonical(keyword), "PWD") ||
           text_same(connstr_canonical(keyword), "ConnSettings") ||
           text_same(connstr_canonical(keyword), "pqopt");
}

/* psqlODBC's guess whether ConnSettings in an ini file are encoded: SQL that
   is not has blanks in more than one place. */
static bool looks_encoded(const char *value)
{
    unsigned places = 0;

    for (; *value; value++) {
        places += isspace((unsigned char)value[0]) &&
                  !isspace((unsigned char)value[1]);
    }
    return places < 2;
}

static bool is_decoded(const char *keyword, const char *value,
                       enum connstr_origin origin)
{
    if (origin == CONNSTR_INI) {
        return text_same(connstr_canonical(keyword), "PWD") ||
               (text_same(connstr_canonical(keyword), "ConnSettings") &&
                looks_encoded(value));
    }
    return origin == CONNSTR_PLAIN && is_encoded(keyword);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The literal value behind one that psqlODBC would decode. */
static void append_decoded(struct text *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '+') {
            text_append_char(out, ' ');
        } else if (*value == '%' && hex(value[1]) >= 0 && hex(value[2]) >= 0) {
            text_append_char(out, (char)(hex(value[1]) * 16 + hex(value[2])));
            value += 2;
        } else {
            text_append_char(out, *value);
        }
    }
}

static void append_literal(struct text *out, const char *keyword,
                           const char *value, enum connstr_origin origin)
{
    if (is_decoded(keyword, value, origin)) {
        append_decoded(out, value);
    } else {
        text_append(out, value);
    }
}

/* The value in force for pqopt or ConnSettings, literal: the string's or our
   DSN's, else the instance's DSN's. */
static bool effective(const struct inner_target *target, const char *keyword,
                      struct text *out, struct why *why)
{
    const struct connstr_item *item = connstr_find(target->passed, keyword);
    const struct inifile_section *dsn = target->section;
    const char *value;

    if (item) {
        append_literal(out, keyword, item->value, item->origin);
        return true;
    }
    if (!target->dsn) {
        return true;
    }
    if (!dsn && !(dsn = inifile_section(target->dsn, INIFILE_DSN, why))) {
        return false;
    }
    value = inifile_value(dsn, keyword);
    if (value) {
        append_literal(out, keyword, value, CONNSTR_INI);
    }
    if (!target->section) {
        inifile_release(dsn);
    }
    return true;
}

/* A value that psqlODBC takes verbatim: braced only where it must be, since
   the braces would become part of it. */
static void append_plain(struct text *out, const char *keyword,
                         const char *value)
{
    if (strchr(value, ';')) {
        connstr_append(out, keyword, value);
    } else {
        text_appendf(out, "%s=%s;", keyword, value);
    }
}

static void append_passed(struct text *out, const struct connstr *passed)
{
    struct text value;

    text_init_wiped(&value);
    for (size_t i = 0; i < passed->count; i++) {
        const struct connstr_item *item = &passed->items[i];
        if (text_same(connstr_canonical(item->keyword), "pqopt") ||
            text_same(connstr_canonical(item->keyword), "ConnSettings")) {
            continue; /* written by compose(), merged with ours */
        }
        if (!is_encoded(item->keyword)) {
            append_plain(out, item->keyword, item->value);
            continue;
        }
        text_clear(&value);
        append_literal(&value, item->keyword, item->value, item->origin);
        connstr_append(out, item->keyword, text_string(&value));
        out->failed |= value.failed;
    }
    text_free(&value);
}

/* The encoding that a link is given by ConnSettings, because psqlODBC would
   else call setlocale(), which no thread of ours may (rules §15).  A narrow
   link's is what psqlODBC takes from the name of the locale, as long as that
   is one of those that people use; NULL: psqlODBC has to find out itself, for
   which it needs no setlocale() if PGCLIENTENCODING or the user says it. */
static const char *encoding_of(const struct environment *environment,
                               bool wide, const struct text *settings)
{
    const char *codeset;

    if (wide) {
        return "UTF8";
    }
    if (environment_value(environment, "PGCLIENTENCODING") ||
        (settings->length &&
         strcasestr(text_string(settings), "client_encoding"))) {
        return NULL;
    }
    codeset = inner_psqlodbc_codeset(environment);
    return codeset &&
                   (text_same(codeset, "UTF-8") || text_same(codeset, "UTF8"))
               ? "UTF8" : NULL;
}

static void append_encoding(const struct environment *environment,
                            struct text *settings, bool wide)
{
    const char *encoding = encoding_of(environment, wide, settings);

    if (encoding) {
        text_appendf(settings, "%sset client_encoding to '%s'",
                     settings->length ? ";" : "", encoding);
    }
}

static const char *const variables[] = {
    "PGOPTIONS", "PGDATESTYLE", "PGCLIENTENCODING", "LC_ALL", "LC_CTYPE",
    "LANG", NULL,
};

static bool compose(const struct inner_target *target, bool wide,
                    struct text *out, struct why *why)
{
    struct text pqopt, settings, merged;
    bool ok;

    text_init_wiped(&pqopt);
    text_init_wiped(&settings);
    text_init_wiped(&merged);
    ok = effective(target, "pqopt", &pqopt, why) &&
         effective(target, "ConnSettings", &settings, why) &&
         pqopt_merge(text_string(&pqopt),
                     environment_value(target->environment, "PGOPTIONS"),
                     wide, &merged, why);
    if (ok) {
        if (target->dsn) {
            append_plain(out, "DSN", target->dsn);
        } else {
            append_plain(out, "Servername", target->host);
            append_plain(out, "Port", target->port ? target->port : "5432");
        }
        append_passed(out, target->passed);
        connstr_append(out, "pqopt", text_string(&merged));
        append_encoding(target->environment, &settings, wide);
        if (settings.length) {
            connstr_append(out, "ConnSettings", text_string(&settings));
        }
        if (out->failed || settings.failed || merged.failed) {
            why_memory(why);
            ok = false;
        }
    }
    text_free(&pqopt);
    text_free(&settings);
    text_free(&merged);
    return ok;
}

/* libpq hands PGDATESTYLE over behind all options, and DISCARD ALL goes back to
   it, while psqlODBC reads dates in ISO's style only. */
static bool settings(const struct inner_target *target, struct text *out,
                     struct why *why)
{
    const char *style =
        environment_value(target->environment, "PGDATESTYLE");

    if (style && *style) {
        text_append(out, "SET DateStyle = 'ISO';");
    }
    return effective(target, "ConnSettings", out, why);
}

/* Once more if a cancel that came too late for its statement hit the reset, or
   if there is a transaction that psqlODBC knows nothing of, so that its
   SQLEndTran ended none: it loses sight of its own when fetching by a cursor
   fails (UseDeclareFetch, Protocol 7.4-0). */
static const char *reset_again(const char *sqlstate)
{
    if (strcmp(sqlstate, "57014") == 0) {
        return "";
    }
    return strcmp(sqlstate, "25P02") == 0 || strcmp(sqlstate, "25001") == 0
               ? "ROLLBACK"
               : NULL;
}

static void set_encoding(const char *encoding, struct text *sql)
{
    text_appendf(sql, "SET client_encoding TO '%s'", encoding);
}

/* psqlODBC answers HY092 for statement defaults set on a connection; what it
   starts with is what ODBC says for SQLSetStmtAttr. */
static bool attr_default(SQLINTEGER attribute, SQLULEN *value)
{
    static const struct {
        SQLINTEGER attribute;
        SQLULEN value;
    } defaults[] = {
        { SQL_ATTR_QUERY_TIMEOUT, 0 },
        { SQL_ATTR_MAX_ROWS, 0 },
        { SQL_ATTR_NOSCAN, SQL_NOSCAN_OFF },
        { SQL_ATTR_MAX_LENGTH, 0 },
        { SQL_ATTR_ROW_BIND_TYPE, SQL_BIND_BY_COLUMN },
        { SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_FORWARD_ONLY },
        { SQL_ATTR_CONCURRENCY, SQL_CONCUR_READ_ONLY },
        { SQL_ATTR_KEYSET_SIZE, 0 },
        { SQL_ROWSET_SIZE, 1 },
        { SQL_ATTR_RETRIEVE_DATA, SQL_RD_ON },
        { SQL_ATTR_USE_BOOKMARKS, SQL_UB_OFF },
    };

    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        if (defaults[i].attribute == attribute) {
            *value = defaults[i].value;
            return true;
        }
    }
    return false;
}

/* What PostgreSQL says (rules §5.2).  libpq's own failures come as 08001 or
   08S01, with the server's FATAL message, if there was one, only in the text:
   psqlODBC 13.02 drops its SQLSTATE. */
static enum inner_fault fault(const char *sqlstate, SQLINTEGER native,
                              const char *text)
{
    static const struct {
        const char *state, *words; /* of each; NULL: the words alone */
        enum inner_fault fault;
    } table[] = {
        { "28", "authentication failed for user", INNER_FAULT_LOGIN },
        { "28", "no pg_hba.conf entry", INNER_FAULT_LOGIN },
        { "28", "pg_hba.conf rejects", INNER_FAULT_LOGIN },
        { "28", "no password supplied", INNER_FAULT_LOGIN },
        { "28", "FATAL:  role \"", INNER_FAULT_LOGIN },
        { "42501", "permission denied for database", INNER_FAULT_LOGIN },
        { "3D000", "FATAL:  database \"", INNER_FAULT_POOL },
        { "57P04", "", INNER_FAULT_POOL },
        { NULL, "too many connections for ", INNER_FAULT_CROWDED },
        { "53300", "too many clients already", INNER_FAULT_FULL },
        { "53300", "remaining connection slots", INNER_FAULT_FULL },
        { "57P03", "the database system is", INNER_FAULT_STARTING },
        { "57P01", "terminating connection due to administrator",
          INNER_FAULT_LINK },
        { "57P05", "due to idle-session timeout", INNER_FAULT_LINK },
        { "25P03", "due to idle-in-transaction timeout", INNER_FAULT_LINK },
        { "57P02", "", INNER_FAULT_INSTANCE },
        { "08", "", INNER_FAULT_INSTANCE },
        { "HYT", "", INNER_FAULT_INSTANCE },
        { "57014", "", INNER_FAULT_NONE },
        { "4", "", INNER_FAULT_NONE },
        { "53", "", INNER_FAULT_NONE },
        { "58", "", INNER_FAULT_NONE },
        { "XX", "", INNER_FAULT_NONE },
    };

    (void)native; /* always the same */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *state = table[i].state;

        if ((state && strncmp(sqlstate, state, strlen(state)) == 0) ||
            (*table[i].words && strstr(text, table[i].words))) {
            return table[i].fault;
        }
    }
    return INNER_FAULT_NONE;
}

/* In one round trip each.  The last forms are for logins that may not read the
   control file: such an instance is a group of its own. */
#define ROLE "pg_is_in_recovery()::int, "
#define IDENTITY \
    "(SELECT system_identifier FROM pg_control_system())::text, "
#define TIMELINE \
    "CASE WHEN pg_is_in_recovery() THEN " \
    "coalesce((SELECT received_tli FROM pg_stat_wal_receiver), " \
    "(SELECT min_recovery_end_timeline FROM pg_control_recovery())) " \
    "ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))" \
    "::bit(32)::int END, "
#define NO_CONTROL "NULL::text, NULL::int, "
#define ENDS \
    "host(inet_client_addr()) || ' ' || inet_client_port() || ' ' || " \
    "host(inet_server_addr()) || ' ' || inet_server_port()"
#define OURS \
    "current_setting('client_encoding'), " ENDS ", pg_backend_pid()"

static const char *const who[] = {
    "SELECT " ROLE IDENTITY TIMELINE OURS,
    "SELECT " ROLE NO_CONTROL OURS,
    NULL,
};

/* Where a primary inserts next is behind the header of a page when nothing is
   on that page yet; a standby that has everything stands before it (rules
   §7.1). */
#define POSITION \
    ", CASE WHEN pg_is_in_recovery() " \
    "THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') " \
    "ELSE (SELECT pg_wal_lsn_diff(w.lsn, '0/0') " \
    "- CASE WHEN f.file_offset = 40 THEN 40 WHEN f.file_offset " \
    "% current_setting('wal_block_size')::int = 24 THEN 24 ELSE 0 END " \
    "FROM (SELECT pg_current_wal_insert_lsn() AS lsn OFFSET 0) w, " \
    "LATERAL pg_walfile_name_offset(w.lsn) f) END, "
#define LOAD(active) \
    "d.backends, current_setting('max_connections')::int, " active ", " \
    "d.commits, (extract(epoch FROM pg_postmaster_start_time()) * 1000)::int8"
#define FROM(active) \
    " FROM (SELECT sum(numbackends) AS backends, sum(xact_commit) AS commits" \
    active " FROM pg_stat_database) d"

/* Of all databases together, since their load is the instance's.  Needs no
   privilege: what sessions do now, which pg_stat_activity tells, would. */
static const struct inner_probe probe[] = {
    { ROLE IDENTITY TIMELINE OURS POSITION LOAD("d.active"),
      FROM(", sum(active_time)::int8 AS active") },
    { ROLE IDENTITY TIMELINE OURS POSITION LOAD("NULL"), FROM("") }, /* < 14 */
    { ROLE NO_CONTROL OURS POSITION LOAD("d.active"),
      FROM(", sum(active_time)::int8 AS active") },
    { ROLE NO_CONTROL OURS, "" },
    { NULL, NULL },
};

/* Asking clears the connection's records.  Where a prepared statement finds
   the link gone, psqlODBC says HY000 as it does of much else; but the words are
   libpq's then, which end in a line break in every language, and psqlODBC's own
   have none; but for what it says of its own savepoint in a transaction. */
static bool may_be_dead(const char *sqlstate, SQLINTEGER native,
                        const char *text)
{
    enum inner_fault why = fault(sqlstate, native, text);

    return inner_loses(why) || why == INNER_FAULT_POOL || /* dropped under it */
           (strcmp(sqlstate, "HY000") == 0 &&
            (strchr(text, '\n') || strstr(text, "internal SAVEPOINT failed") ||
             strstr(text, "internal ROLLBACK failed")));
}

/* It does not write, no partition takes the row, the table is not there, or a
   standby took the rows away (rules §1.4). */
static bool gives_cause(const char *sqlstate, SQLINTEGER native,
                        const char *text)
{
    (void)native;
    (void)text;
    return strcmp(sqlstate, "25006") == 0 || strcmp(sqlstate, "23514") == 0 ||
           strcmp(sqlstate, "42P01") == 0 || strcmp(sqlstate, "40001") == 0;
}

const struct inner_kind inner_psqlodbc = {
    .name = "psqlODBC",
    .driver = "psqlodbc",
    .env_shared = true, /* it locks the list of its connections */
    .partitions = true,
    .sql = &inner_psqlodbc_sql,
    .environment = variables,
    .compose = compose,
    .reset = "DISCARD ALL",
    .reset_again = reset_again,
    .set_encoding = set_encoding,
    .settings = settings,
    .who = who,
    .probe = probe,
    .narrow_encoding = inner_psqlodbc_narrow_encoding,
    .attr_default = attr_default,
    .may_be_dead = may_be_dead,
    .gives_cause = gives_cause,
    .fault = fault,
};
