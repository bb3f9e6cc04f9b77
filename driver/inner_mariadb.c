/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What we know of MariaDB Connector/ODBC (libmaodbc 3.1.15, tried with MariaDB
 * 10.11).
 *
 * A used link is closed.  The protocol has a command that makes a connection
 * clean (COM_RESET_CONNECTION), but this driver calls it nowhere: it answers
 * SQL_SUCCESS to SQL_ATTR_RESET_CONNECTION and does nothing.  SQL cannot do it
 * either: up to 10.11 nobody can list a session's temporary tables, and what
 * PREVIOUS VALUE FOR a sequence says, and the warnings and counters of the
 * last user, can be neither listed nor put back.
 *
 * SQL_ATTR_CONNECTION_DEAD is a ping: a round trip, which may hang, and after
 * which ROW_COUNT() is another.  The driver locks the list of connections of
 * an environment (four threads that allocate and free them do it no harm).
 * Braces in a connection string, and }} in them, are read as ODBC says; blanks
 * at the ends of a value are lost even so.
 */
#include "autoconf.h"

#include "connstr.h"
#include "inner_kind.h"
#include "inner_sql.h"

#include <string.h>

/* A host that is a path is a socket, as with psqlODBC. */
static bool compose(const struct inner_target *target, bool wide,
                    struct text *out, struct why *why)
{
    if (target->dsn || *target->host != '/') {
        return inner_compose(target, wide, out, why);
    }
    text_appendf(out, "DRIVER={%s};", target->driver);
    connstr_append(out, "Socket", target->host);
    connstr_append_all(out, target->passed);
    if (out->failed) {
        why_memory(why);
    }
    return !out->failed;
}

/* The client library's words about how it was used: a call that came too early
   or late for a statement, as the driver itself makes them of a result that was
   cancelled, or for want of memory. */
static bool is_misuse(SQLINTEGER native)
{
    return native == 2008 || native == 2014 ||
           (native >= 2030 && native <= 2036) ||
           (native >= 2050 && native <= 2054) || native == 2056 ||
           native == 2057;
}

/* By the number, which is the server's (from 1000 on) or the client library's
   (from 2000 on, of its network layer from 5000 on), since the SQLSTATE is
   often only HY000.  0 is the driver's own, or ours: its string. */
static enum inner_fault fault(const char *sqlstate, SQLINTEGER native,
                              const char *text)
{
    static const struct {
        SQLINTEGER native;
        enum inner_fault fault;
    } table[] = {
        { 0, INNER_FAULT_POOL },
        { 1040, INNER_FAULT_FULL },     /* too many connections */
        { 1203, INNER_FAULT_CROWDED },  /* of this user */
        { 1226, INNER_FAULT_CROWDED },  /* likewise, by its resources */
        { 1044, INNER_FAULT_LOGIN },    /* no access to this database */
        { 1045, INNER_FAULT_LOGIN },    /* no access */
        { 1251, INNER_FAULT_LOGIN },    /* its authentication is too old */
        { 1698, INNER_FAULT_LOGIN },    /* no access by this plugin */
        { 1820, INNER_FAULT_LOGIN },    /* its password must be changed */
        { 1862, INNER_FAULT_LOGIN },    /* its password has expired */
        { 4151, INNER_FAULT_LOGIN },    /* its account is locked */
        { 2059, INNER_FAULT_LOGIN },    /* the plugin it needs is missing */
        { 1049, INNER_FAULT_POOL },     /* no such database */
        { 1129, INNER_FAULT_POOL },     /* this client's host is blocked */
        { 1130, INNER_FAULT_POOL },     /* or not allowed */
        { 1053, INNER_FAULT_INSTANCE }, /* it is being shut down */
        { 1927, INNER_FAULT_LINK },     /* killed */
    };

    (void)text;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].native == native) {
            return table[i].fault;
        }
    }
    if (is_misuse(native)) {
        return INNER_FAULT_NONE;
    }
    return (native >= 2000 && native < 3000) ||
           (native >= 5000 && native < 6000) ||
           strncmp(sqlstate, "08", 2) == 0 || strncmp(sqlstate, "HYT", 3) == 0
               ? INNER_FAULT_INSTANCE
               : INNER_FAULT_NONE;
}

/* A backslash is an escape, unless the session says that it is none. */
static void literal(const char *value, struct text *sql)
{
    if (inner_sql_is_plain(value, false)) {
        inner_sql_quoted(value, false, sql);
    } else {
        text_append(sql, "CONVERT(X'");
        inner_sql_hex(value, strlen(value), sql);
        text_append(sql, "' USING utf8mb4)");
    }
}

static void ask(const char *query, size_t length, struct text *sql)
{
    inner_sql_ask(query, length,
                  "CONCAT('x', LOWER(HEX(CONVERT(? USING utf8mb4))))", sql);
}

/* 42000 is syntax and rights. */
static bool says_wrong(const char *sqlstate, SQLINTEGER native)
{
    switch (native) {
    case 1044: /* the database */
    case 1142: /* the table */
    case 1143: /* a column */
    case 1227: /* a privilege */
    case 1370: /* a routine */
        return false;
    default:
        return inner_sql_standard_wrong(sqlstate, native);
    }
}

static const struct inner_sql mariadb_sql = {
    .quote = '`',
    .text_type = "CHAR",
    .literal = literal,
    .begin = "START TRANSACTION READ ONLY",
    .end = "ROLLBACK",
    .ask = ask,
    .says_wrong = says_wrong,
};

static const char *const places[] = { "Socket", NULL };

/* Who is read-only is a replica.  There is nothing that a primary and its
   replicas have in common and tell: `group` in the map file says it.
   (read_only is 0 or 1, ON or OFF, or from 12 on a word for how much.) */
#define WHO \
    "CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF'), NULL, NULL, NULL, " \
    "NULL, CONNECTION_ID()"
static const char *const who[] = { "SELECT " WHO, NULL };

/* A position that a primary and its replicas share is no number (GTIDs), and
   what tells how long sessions were active is off by default. */
#define STATUS(name) \
    "(SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS " \
    "WHERE VARIABLE_NAME = '" name "')"
static const struct inner_probe probe[] = {
    { WHO ", NULL, " STATUS("THREADS_CONNECTED") ", @@global.max_connections, "
      "NULL, " STATUS("COM_COMMIT"), "" },
    { WHO, "" },
    { NULL, NULL },
};

/* Asking is a ping, which changes ROW_COUNT(). */
static bool may_be_dead(const char *sqlstate, SQLINTEGER native,
                        const char *text)
{
    return inner_loses(fault(sqlstate, native, text));
}

/* It does not write, or a table is not here: it may have become a replica, or
   a table have gone elsewhere. */
static bool gives_cause(const char *sqlstate, SQLINTEGER native,
                        const char *text)
{
    (void)sqlstate;
    (void)text;
    switch (native) {
    case 1290: /* the server runs with --read-only */
    case 1836: /* read-only mode */
    case 1146: /* no such table */
    case 1526: /* no partition for this value */
        return true;
    default:
        return false;
    }
}

const struct inner_kind inner_mariadb = {
    .name = "MariaDB's driver",
    .driver = "maodbc",
    .env_shared = true,
    .places = places,
    .sql = &mariadb_sql,
    .compose = compose,
    .who = who,
    .probe = probe,
    /* ROW_COUNT() is 0 on a new connection and -1 after a SELECT of ours.  So
       should FOUND_ROWS() be, and is in a new thread of the server; else it is
       what another connection left there. */
    .fresh = "DO (SELECT 1 FROM DUAL WHERE FALSE)",
    .dead_asks = true,
    .may_be_dead = may_be_dead,
    .gives_cause = gives_cause,
    .fault = fault,
};
