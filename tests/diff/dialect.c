/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The dialects, by the name of the inner driver. */
#include "dialect.h"

#include <string.h>

static const char *const psqlodbc_options[] = {
    "",
    ";UseDeclareFetch=0;UseServerSidePrepare=1;Protocol=7.4-0",
    ";UseDeclareFetch=0;UseServerSidePrepare=1;Protocol=7.4-1",
    ";UseDeclareFetch=0;UseServerSidePrepare=0;Protocol=7.4-0",
    ";UseDeclareFetch=0;UseServerSidePrepare=0;Protocol=7.4-1",
    ";UseDeclareFetch=0;UseServerSidePrepare=0;Protocol=7.4-2",
    ";UseDeclareFetch=1;UseServerSidePrepare=1;Protocol=7.4-0;Fetch=3",
    ";UseDeclareFetch=1;UseServerSidePrepare=1;Protocol=7.4-1;Fetch=3",
    ";UseDeclareFetch=1;UseServerSidePrepare=1;Protocol=7.4-2;UpdatableCursors=1",
    ";UseDeclareFetch=1;UseServerSidePrepare=0;Protocol=7.4-0;Fetch=3",
    ";UseDeclareFetch=1;UseServerSidePrepare=0;Protocol=7.4-1;UpdatableCursors=1",
    ";UseDeclareFetch=1;UseServerSidePrepare=0;Protocol=7.4-2;BoolsAsChar=0",
    NULL
};

static const char *const psqlodbc_setup[] = {
    "SET client_min_messages = warning",
    "DROP SCHEMA IF EXISTS diff CASCADE",
    "CREATE SCHEMA diff",
    "ALTER ROLE app SET search_path = diff, public",
    "CREATE TABLE diff.parent (id int PRIMARY KEY, name varchar(20) NOT NULL "
    "DEFAULT 'nobody', note text, CONSTRAINT parent_name UNIQUE (name))",
    "COMMENT ON TABLE diff.parent IS 'those who have children'",
    "CREATE TABLE diff.child (parent int NOT NULL REFERENCES diff.parent "
    "ON DELETE CASCADE, number smallint, born date, weight numeric(6,3), "
    "PRIMARY KEY (parent, number))",
    "CREATE INDEX child_born ON diff.child (born DESC, weight)",
    "CREATE VIEW diff.elder AS SELECT id, name FROM diff.parent WHERE id < 3",
    "CREATE TABLE diff.\"Wörter %_ \"\"q\"\"\" (\"spalte ä\" int, \"B\" text)",
    "INSERT INTO diff.parent VALUES (1, 'one', 'first'), (2, 'two', NULL), "
    "(3, 'three', ''), (4, 'fünf €', '\U0001f600')",
    "INSERT INTO diff.child VALUES (1, 1, '2001-02-03', 3.25), "
    "(1, 2, NULL, NULL), (2, 1, '1999-12-31', 0.001)",
    "CREATE TABLE diff.work (id int PRIMARY KEY, t varchar(40), n numeric, "
    "b bytea, l text)",
    "CREATE FUNCTION diff.add_two(a int, b int) RETURNS int LANGUAGE sql AS "
    "'SELECT a + b'",
    "CREATE FUNCTION diff.out_two(a int, OUT twice int, OUT said text) "
    "LANGUAGE sql AS 'SELECT a * 2, ''said '' || a'",
    "CREATE PROCEDURE diff.put_work(k int, v text) LANGUAGE sql AS "
    "'INSERT INTO diff.work (id, t) VALUES (k, v)'",
    "CREATE FUNCTION diff.talk() RETURNS int LANGUAGE plpgsql AS "
    "'BEGIN RAISE NOTICE ''told you''; RAISE WARNING ''and warned''; "
    "RETURN 1; END'",
    "GRANT SELECT, UPDATE (name) ON diff.parent TO PUBLIC",
    NULL
};

/* The tests that follow have the same instances. */
static const char *const psqlodbc_drop[] = {
    "SET client_min_messages = warning",
    "ALTER ROLE app RESET search_path",
    "DROP SCHEMA diff CASCADE",
    NULL
};

static const char *const psqlodbc_state[] = {
    "SELECT name, setting FROM pg_settings WHERE setting <> boot_val AND "
    "source <> 'override' AND name <> 'application_name' ORDER BY name",
    "SELECT current_user, session_user, current_schema, "
    "current_setting('search_path'), current_setting('role')",
    "SELECT name, statement, parameter_types FROM pg_prepared_statements "
    "WHERE from_sql ORDER BY 1",
    "SELECT name, statement, is_holdable FROM pg_cursors WHERE name NOT LIKE "
    "'SQL_CUR%' ORDER BY 1",
    "SELECT * FROM pg_listening_channels()",
    "SELECT locktype, mode, objid FROM pg_locks WHERE pid = pg_backend_pid() "
    "AND locktype = 'advisory' ORDER BY objid",
    "SELECT relname FROM pg_class WHERE pg_table_is_visible(oid) AND "
    "relpersistence = 't' AND relnamespace = pg_my_temp_schema() ORDER BY 1",
    "SELECT lastval()",
    "SELECT currval('public.ticket_seq')",
    "SELECT inet_client_port() IS NULL, pg_is_in_recovery()",
    NULL
};

static const char *const psqlodbc_leavings[] = {
    "SET search_path = nowhere",
    "SET DateStyle = 'German'",
    "SET TimeZone = 'Asia/Tokyo'",
    "SET IntervalStyle = 'sql_standard'",
    "SET bytea_output = 'escape'",
    "SET extra_float_digits = -5",
    "SET standard_conforming_strings = off",
    "SET statement_timeout = 987654",
    "SET default_transaction_read_only = on",
    "SET my.own = 'thing'",
    "SET work_mem = '1MB'",
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SET client_min_messages = debug1",
    "CREATE TEMP TABLE parent (id int)",
    "INSERT INTO pg_temp.parent VALUES (4711)",
    "PREPARE mine (int) AS SELECT $1",
    "DECLARE held CURSOR WITH HOLD FOR SELECT 1",
    "LISTEN channel_of_mine",
    "SELECT pg_advisory_lock(4711)",
    "SELECT nextval('public.ticket_seq') > 0",
    "CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "SET ROLE none",
    NULL
};

static const struct dialect dialects[] = {
    {
        .name = "psqlodbc",
        .options = psqlodbc_options,
        .other_login = ";CommLog=0",
        .warns = ";ConnSettings={set nonsense = 1}",
        .user = "app",
        .setup = psqlodbc_setup,
        .drop = psqlodbc_drop,
        .links = "SELECT pid || ' ' || backend_start FROM pg_stat_activity "
                 "WHERE application_name = current_setting('application_name')",
        .schema = "diff",
        .state = psqlodbc_state,
        .leavings = psqlodbc_leavings,
        .types = "SELECT 12::smallint AS s, -70000 AS i, 1234567890123 AS b, "
                 "1.5::real AS r, 2.25::float8 AS d, 12345.678::numeric(10,3) "
                 "AS n, true AS yes, 'char'::char(6) AS c, 'varchar'::"
                 "varchar(20) AS v, 'text äöü €'::text AS t, '\\x00ff10'::bytea "
                 "AS x, date '2024-02-29' AS day, time '01:02:03.456' AS tm, "
                 "timestamp '2024-02-29 01:02:03.456789' AS ts, timestamptz "
                 "'2024-02-29 01:02:03+00' AS tz, interval '1 day 02:03' AS iv,"
                 " 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS u, "
                 "'{\"a\": 1}'::json AS j, '{1,2}'::int[] AS a, NULL::int AS "
                 "nothing, ''::text AS empty, 12.5::money AS m",
        .wait = "SELECT pg_sleep(10)",
        .waiting = "SELECT count(*) FROM pg_stat_activity WHERE "
                   "application_name = current_setting('application_name') "
                   "AND wait_event = 'PgSleep'",
        .error_row = "SELECT 10 / (5 - i) FROM generate_series(1, 9) i",
        .series = "SELECT i, 'row ' || i FROM generate_series(1, 1000) i",
        .two_results = "SELECT 1 AS a; SELECT 'x' AS b, 2 AS c; "
                       "UPDATE work SET t = t; SELECT 3 WHERE false",
        .notice = "SELECT talk()",
    },
};

const struct dialect *dialect_find(const char *name)
{
    static const struct dialect *const others[] = { &dialect_mariadb,
                                                    &dialect_sqlite };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i]->name, name) == 0) {
            return others[i];
        }
    }
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        if (strcmp(dialects[i].name, name) == 0) {
            return &dialects[i];
        }
    }
    return NULL;
}
