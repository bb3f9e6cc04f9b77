/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* SQLite by its ODBC driver, whose narrow texts are UTF-8. */
#include "dialect.h"

static const char *const options[] = {
    "",
    ";StepAPI=1",
    ";ShortNames=1;BigInt=1",
    ";LongNames=1;NoWCHAR=1",
    ";NoTXN=1;FKSupport=1",
    NULL
};

static const char *const setup[] = {
    "DROP VIEW IF EXISTS elder",
    "DROP TABLE IF EXISTS child",
    "DROP TABLE IF EXISTS parent",
    "DROP TABLE IF EXISTS work",
    "DROP TABLE IF EXISTS \"Wörter %_ \"\"q\"\"\"",
    "CREATE TABLE parent (id int PRIMARY KEY, name varchar(20) NOT NULL "
    "DEFAULT 'nobody', note text, CONSTRAINT parent_name UNIQUE (name))",
    "CREATE TABLE child (parent int NOT NULL REFERENCES parent ON DELETE "
    "CASCADE, number smallint, born date, weight numeric(6,3), "
    "PRIMARY KEY (parent, number))",
    "CREATE INDEX child_born ON child (born DESC, weight)",
    "CREATE VIEW elder AS SELECT id, name FROM parent WHERE id < 3",
    "CREATE TABLE \"Wörter %_ \"\"q\"\"\" (\"spalte ä\" int, \"B\" text)",
    "INSERT INTO parent VALUES (1, 'one', 'first'), (2, 'two', NULL), "
    "(3, 'three', ''), (4, 'fünf €', '\U0001f600')",
    "INSERT INTO child VALUES (1, 1, '2001-02-03', 3.25), "
    "(1, 2, NULL, NULL), (2, 1, '1999-12-31', 0.001)",
    "CREATE TABLE work (id int PRIMARY KEY, t varchar(40), n numeric, b blob, "
    "l text)",
    NULL
};

static const char *const state[] = {
    "SELECT total_changes(), changes(), last_insert_rowid()",
    "PRAGMA foreign_keys",
    "PRAGMA query_only",
    "SELECT count(*) FROM temp.sqlite_master",
    "SELECT name FROM pragma_database_list",
    NULL
};

static const char *const leavings[] = {
    "CREATE TEMP TABLE mine AS SELECT 1 AS a",
    "ATTACH ':memory:' AS other",
    "PRAGMA query_only = on",
    NULL
};

const struct dialect dialect_sqlite = {
    .name = "sqlite",
    .options = options,
    .other_login = ";JDConv=0",
    .user = "app",
    .bare = true,
    .by_error = true,
    .setup = setup,
    .schema = "",
    .state = state,
    .leavings = leavings,
    .types = "SELECT 12 AS s, -70000 AS i, 1234567890123 AS b, 1.5 AS r, "
             "12345.678 AS n, 'text äöü €' AS t, x'00ff10' AS x, "
             "date('2024-02-29') AS day, NULL AS nix, '' AS empty",
    .error_row = "SELECT abs(-9223372036854775803 - i) FROM (SELECT 1 AS i "
                 "UNION ALL SELECT 4 UNION ALL SELECT 5)",
    .series = "WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
              "c WHERE i < 1000) SELECT i, 'row ' || i FROM c",
    .two_results = "SELECT 1 AS a; SELECT 'x' AS b, 2 AS c",
};
