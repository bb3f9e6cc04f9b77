/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* MariaDB by Connector/ODBC. */
#include "dialect.h"

static const char *const options[] = {
    "",
    ";FORWARDONLY=1",
    ";STREAMRS=1;FORWARDONLY=1",
    ";NULLSCHEMA=0;CHARSET=utf8mb4",
    ";MULTI_STATEMENTS=1;PREPONCLIENT=1",
    NULL
};

static const char *const setup[] = {
    "DROP VIEW IF EXISTS elder",
    "DROP TABLE IF EXISTS child, parent, work, `Wörter %_ \"q\"`",
    "DROP FUNCTION IF EXISTS add_two",
    "DROP PROCEDURE IF EXISTS talk",
    "CREATE TABLE parent (id int PRIMARY KEY, name varchar(20) NOT NULL "
    "DEFAULT 'nobody', note text, CONSTRAINT parent_name UNIQUE (name)) "
    "CHARACTER SET utf8mb4 COMMENT 'those who have children'",
    "CREATE TABLE child (parent int NOT NULL, number smallint, born date, "
    "weight numeric(6,3), PRIMARY KEY (parent, number), FOREIGN KEY (parent) "
    "REFERENCES parent (id) ON DELETE CASCADE)",
    "CREATE INDEX child_born ON child (born, weight)",
    "CREATE VIEW elder AS SELECT id, name FROM parent WHERE id < 3",
    "CREATE TABLE `Wörter %_ \"q\"` (`spalte ä` int, `B` text)",
    "INSERT INTO parent VALUES (1, 'one', 'first'), (2, 'two', NULL), "
    "(3, 'three', ''), (4, 'fünf €', '\U0001f600')",
    "INSERT INTO child VALUES (1, 1, '2001-02-03', 3.25), "
    "(1, 2, '1970-01-01', NULL), (2, 1, '1999-12-31', 0.001)",
    "CREATE TABLE work (id int PRIMARY KEY, t varchar(40), n numeric(20,4), "
    "b blob, l text) CHARACTER SET utf8mb4",
    "CREATE FUNCTION add_two(a int, b int) RETURNS int DETERMINISTIC "
    "RETURN a + b",
    "CREATE PROCEDURE talk() SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = "
    "'told you'",
    NULL
};

static const char *const state[] = {
    "SELECT ROW_COUNT(), LAST_INSERT_ID(), @@identity, @@insert_id, "
    "@@warning_count, @@error_count",
    "SHOW WARNINGS",
    "SELECT @@sql_mode, @@time_zone, @@tx_isolation, @@autocommit",
    "SELECT DATABASE(), CURRENT_USER(), CURRENT_ROLE()",
    "SELECT @mine, LAST_INSERT_ID()",
    "SELECT count(*) FROM mine",
    NULL
};

static const char *const leavings[] = {
    "SET @mine = 5, time_zone = '+07:00'",
    "CREATE TEMPORARY TABLE mine (a int)",
    "USE information_schema",
    NULL
};

const struct dialect dialect_mariadb = {
    .name = "mariadb",
    .options = options,
    .other_login = ";READTIMEOUT=0",
    .user = "app",
    .setup = setup,
    .schema = "",
    .state = state,
    .leavings = leavings,
    .types = "SELECT CAST(12 AS SIGNED) AS s, -70000 AS i, 1234567890123 AS b,"
             " 1.5e0 AS r, CAST(12345.678 AS DECIMAL(10,3)) AS n, TRUE AS yes,"
             " CAST('char' AS CHAR(6)) AS c, 'text äöü €' AS t, x'00ff10' AS x,"
             " DATE '2024-02-29' AS day, TIME '01:02:03.456' AS tm, TIMESTAMP "
             "'2024-02-29 01:02:03.456789' AS ts, NULL AS nothing, '' AS empty",
    .wait = "SELECT SLEEP(10)",
    .waiting = "SELECT count(*) FROM information_schema.processlist WHERE "
               "info = 'SELECT SLEEP(10)'",
    .error_row = "SELECT (SELECT 1 UNION SELECT 1 + (seq > 4)) FROM seq_1_to_9",
    .series = "SELECT seq, CONCAT('row ', seq) FROM seq_1_to_1000",
    .two_results = "SELECT 1 AS a; SELECT 'x' AS b, 2 AS c; "
                   "UPDATE work SET t = t; SELECT 3 FROM DUAL WHERE false",
    .notice = "CALL talk()",
};
