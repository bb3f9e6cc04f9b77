/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a session leaves behind in SQLite and in MariaDB, whose used links are
 * closed, since nothing makes them clean: the next session finds nothing.
 * (leak-test does the same for psqlODBC, whose links are cleaned.)
 *
 * usage: leak-inner sqlite|mariadb DIRECT OURS     two connection strings; of
 * the second, PoolMax is 1.  sqlite-test.py and mariadb-test.py run it.
 */
#include "autoconf.h"

#include "leak_mess.h"
#include "odbc_tap.h"

#include <stdio.h>
#include <string.h>

/* A statement that is executed and never freed. */
static bool left_open(SQLHDBC dbc)
{
    SQLHSTMT stmt;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLPrepare(stmt, (SQLCHAR *)"SELECT id FROM plain UNION SELECT 2",
               SQL_NTS);
    return SQL_SUCCEEDED(SQLExecute(stmt)) && SQL_SUCCEEDED(SQLFetch(stmt));
}

/* SQLite's driver goes on believing that a transaction is open. */
static bool ended_by_text(SQLHDBC dbc)
{
    return leak_open_transaction(dbc) && odbc_run(dbc, "ROLLBACK");
}

static bool sql_begin(SQLHDBC dbc)
{
    return odbc_run(dbc, "BEGIN") &&
           odbc_run(dbc, "INSERT INTO plain VALUES (-77, 'begun')");
}

static bool savepoint(SQLHDBC dbc)
{
    return odbc_run(dbc, "SAVEPOINT here") &&
           odbc_run(dbc, "INSERT INTO plain VALUES (-77, 'saved')");
}

static bool read_only(SQLHDBC dbc)
{
    return odbc_run(dbc, "BEGIN") && odbc_run(dbc, "SELECT * FROM plain") &&
           odbc_run(dbc, "PRAGMA query_only = on");
}

#define PRAGMA(name, value) \
    { "PRAGMA " name, "PRAGMA " name, NULL, "PRAGMA " name " = " value, NULL, \
      SEEN }

static const struct mess sqlite_messes[] = {
    PRAGMA("foreign_keys", "on"),
    PRAGMA("query_only", "on"),
    PRAGMA("cache_size", "77"),
    PRAGMA("synchronous", "off"),
    PRAGMA("journal_mode", "memory"),
    PRAGMA("locking_mode", "exclusive"),
    PRAGMA("temp_store", "2"),
    PRAGMA("recursive_triggers", "on"),
    PRAGMA("reverse_unordered_selects", "on"),
    PRAGMA("read_uncommitted", "on"),
    PRAGMA("busy_timeout", "77"),
    PRAGMA("ignore_check_constraints", "on"),
    PRAGMA("legacy_alter_table", "on"),
    PRAGMA("automatic_index", "off"),
    PRAGMA("cell_size_check", "on"),
    PRAGMA("secure_delete", "off"),
    PRAGMA("writable_schema", "on"),
    PRAGMA("trusted_schema", "off"),
    PRAGMA("wal_autocheckpoint", "77"),
    PRAGMA("short_column_names", "off"),
    PRAGMA("full_column_names", "on"),
    { "PRAGMA case_sensitive_like", "SELECT 'a' LIKE 'A'", NULL,
      "PRAGMA case_sensitive_like = on", NULL, SEEN },
    { "a temporary table", "SELECT count(*) FROM temp.sqlite_master", NULL,
      "CREATE TEMP TABLE mine (a)", NULL, SEEN },
    { "a temporary table that hides a real one", "SELECT count(*) FROM plain",
      NULL, "CREATE TEMP TABLE plain AS SELECT 1 UNION SELECT 2 UNION "
      "SELECT 3", NULL, SEEN },
    { "a temporary view", "SELECT count(*) FROM temp.sqlite_master", NULL,
      "CREATE TEMP VIEW mine AS SELECT 1", NULL, SEEN },
    { "a temporary trigger", "SELECT count(*) FROM temp.sqlite_master", NULL,
      "CREATE TEMP TRIGGER mine AFTER INSERT ON main.plain BEGIN SELECT 1; "
      "END", NULL, SEEN },
    { "ATTACH", "SELECT count(*) FROM pragma_database_list", NULL,
      "ATTACH ':memory:' AS other", NULL, SEEN },
    { "last_insert_rowid()", "SELECT last_insert_rowid()", NULL,
      "INSERT INTO log VALUES ('a')", NULL, SEEN },
    { "changes()", "SELECT changes()", NULL, "INSERT INTO log VALUES ('a')",
      NULL, SEEN },
    { "total_changes()", "SELECT total_changes()", NULL,
      "INSERT INTO log VALUES ('a')", NULL, SEEN },
    { "an open transaction", LEAK_LOST, NULL, NULL, leak_open_transaction,
      SEEN },
    { "a transaction that SQL text has ended", LEAK_LOST, NULL, NULL,
      ended_by_text, UNSEEN },
    { "BEGIN as SQL", LEAK_LOST, NULL, NULL, sql_begin, SEEN },
    { "SAVEPOINT", LEAK_LOST, NULL, NULL, savepoint, SEEN },
    { "BEGIN as SQL, and only reads", "PRAGMA query_only", NULL, NULL,
      read_only, SEEN },
    { "autocommit off", NULL, leak_autocommit, NULL, leak_manual_commit,
      SEEN },
    { "a statement left open", "SELECT count(*) FROM plain", NULL, NULL,
      left_open, UNSEEN },
};

static const char *const sqlite_setup[] = {
    "CREATE TABLE plain (id INTEGER, t TEXT)",
    "CREATE TABLE log (t TEXT)",
    "INSERT INTO plain VALUES (1, 'one')",
    NULL
};

static bool catalog(SQLHDBC dbc)
{
    return SQL_SUCCEEDED(SQLSetConnectAttr(
        dbc, SQL_ATTR_CURRENT_CATALOG, (SQLCHAR *)"information_schema",
        SQL_NTS));
}

static bool serializable(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_TXN_ISOLATION, SQL_TXN_SERIALIZABLE);
}

#define VARIABLE(name, value) \
    { "SET " name, "SELECT @@" name, NULL, "SET " name " = " value, NULL, SEEN }

static const struct mess mariadb_messes[] = {
    VARIABLE("sort_buffer_size", "7777777"),
    VARIABLE("sql_mode", "'ANSI'"),
    VARIABLE("time_zone", "'+07:00'"),
    VARIABLE("lc_time_names", "'de_DE'"),
    VARIABLE("character_set_results", "latin1"),
    VARIABLE("collation_connection", "utf8mb4_bin"),
    VARIABLE("group_concat_max_len", "7"),
    VARIABLE("sql_select_limit", "1"),
    VARIABLE("max_statement_time", "7"),
    VARIABLE("tx_read_only", "1"),
    VARIABLE("foreign_key_checks", "0"),
    VARIABLE("auto_increment_increment", "7"),
    VARIABLE("profiling", "1"),
    VARIABLE("autocommit", "0"),
    VARIABLE("last_insert_id", "77"),
    VARIABLE("default_storage_engine", "'MEMORY'"),
    { "SET timestamp", "SELECT @@timestamp > 2000000", NULL,
      "SET timestamp = 1000000", NULL, SEEN },
    { "a user variable", "SELECT @mine", NULL, "SET @mine = 5", NULL, SEEN },
    { "a user variable of a SELECT", "SELECT @mine", NULL,
      "SELECT @mine := 6", NULL, SEEN },
    { "SET ROLE", "SELECT CURRENT_ROLE()", NULL, "SET ROLE leaker", NULL,
      SEEN },
    { "USE", "SELECT DATABASE()", NULL, "USE information_schema", NULL,
      SEEN },
    { "SQL_ATTR_CURRENT_CATALOG", "SELECT DATABASE()", NULL, NULL, catalog,
      SEEN },
    { "a temporary table", "SELECT count(*) FROM mine", NULL,
      "CREATE TEMPORARY TABLE mine (a int)", NULL, SEEN },
    { "a temporary table that hides a real one", "SELECT count(*) FROM plain",
      NULL, "CREATE TEMPORARY TABLE plain (id int, t text)", NULL, SEEN },
    { "LOCK TABLES", "SELECT count(*) FROM log", NULL,
      "LOCK TABLES plain READ", NULL, SEEN },
    /* the session's own: the server may yet be closing the last one's */
    { "GET_LOCK()", "SELECT IS_USED_LOCK('mine') <=> CONNECTION_ID()", NULL,
      "SELECT GET_LOCK('mine', 10)", NULL, SEEN },
    { "HANDLER", "HANDLER plain READ FIRST", NULL, "HANDLER plain OPEN", NULL,
      SEEN },
    { "LAST_INSERT_ID()", "SELECT LAST_INSERT_ID()", NULL,
      "INSERT INTO log (t) VALUES ('a')", NULL, SEEN },
    { "ROW_COUNT()", "SELECT ROW_COUNT()", NULL,
      "UPDATE plain SET t = concat(t, '.')", NULL, SEEN },
    { "PREVIOUS VALUE of a sequence", "SELECT PREVIOUS VALUE FOR ticket > 0",
      NULL, "SELECT NEXT VALUE FOR ticket", NULL, SEEN },
    { "a counter", "SELECT variable_value > 0 FROM information_schema."
      "session_status WHERE variable_name = 'com_update'", NULL,
      "UPDATE plain SET t = t", NULL, SEEN },
    { "an open transaction", LEAK_LOST, NULL, NULL, leak_open_transaction,
      SEEN },
    { "a transaction that SQL text has ended", LEAK_LOST, NULL, NULL,
      ended_by_text, UNSEEN },
    { "BEGIN as SQL", LEAK_LOST, NULL, NULL, sql_begin, SEEN },
    { "autocommit off", NULL, leak_autocommit, NULL, leak_manual_commit,
      SEEN },
    { "isolation", "SELECT @@tx_isolation", NULL, NULL, serializable, SEEN },
    { "a statement left open", "SELECT count(*) FROM plain", NULL, NULL,
      left_open, UNSEEN },
};

static const char *const mariadb_setup[] = {
    "CREATE OR REPLACE TABLE plain (id int, t text)",
    "CREATE OR REPLACE TABLE log (id int AUTO_INCREMENT PRIMARY KEY, t text)",
    "CREATE OR REPLACE SEQUENCE ticket",
    "INSERT INTO plain VALUES (1, 'one')",
    NULL
};

#define COUNT(array) (sizeof (array) / sizeof *(array))

static const struct list {
    const char *name;
    const char *const *setup;
    const struct mess *messes;
    size_t count;
    const char *other_login; /* a keyword that changes nothing */
} lists[] = {
    { "sqlite", sqlite_setup, sqlite_messes, COUNT(sqlite_messes),
      ";LongNames=0" },
    { "mariadb", mariadb_setup, mariadb_messes, COUNT(mariadb_messes),
      ";ReadTimeout=0" },
};

static bool set_up(SQLHENV env, const struct list *list, const char *direct)
{
    SQLHDBC dbc = odbc_open(env, direct, false);
    bool ok = dbc != SQL_NULL_HDBC;

    for (size_t i = 0; ok && list->setup[i]; i++) {
        ok = odbc_run(dbc, list->setup[i]);
    }
    tap_ok(ok, "the tables are made", "%s", odbc_error());
    odbc_close(dbc);
    return ok;
}

int main(int argc, char **argv)
{
    const struct list *list = NULL;
    SQLHENV env = odbc_env(SQL_OV_ODBC3);

    for (size_t i = 0; argc == 4 && i < COUNT(lists); i++) {
        list = strcmp(argv[1], lists[i].name) == 0 ? &lists[i] : list;
    }
    if (!list) {
        fprintf(stderr, "usage: leak-inner sqlite|mariadb DIRECT OURS\n");
        return 2;
    }
    if (set_up(env, list, argv[2])) {
        for (int wide = 0; wide <= 1; wide++) {
            char string[600];
            struct leak leak = { .env = env, .string = string };

            snprintf(string, sizeof string, "%s;PoolMax=1%s", argv[3],
                     wide ? list->other_login : "");
            for (size_t i = 0; i < list->count; i++) {
                leak_try_mess(&list->messes[i], &leak, wide);
            }
        }
    }
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return tap_end();
}
