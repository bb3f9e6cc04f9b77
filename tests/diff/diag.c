/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Kinds of failure: what is said, by every function and field (handle.c). */
#include "diff.h"

void subject_diag(void);

static const char *const failures[] = {
    "SELECT * FROM nowhere",
    "SELECT nothing FROM parent",
    "SELECT no_such_function(1)",
    "SELEC 1",
    "SELECT 'unterminated",
    "SELECT (1",
    "SELECT 1 / 0",
    "SELECT CAST('x' AS int)",
    "SELECT 99999999 * 99999999",
    "SELECT CAST('2024-02-30' AS date)",
    "INSERT INTO parent VALUES (1, 'one', NULL)",
    "INSERT INTO parent VALUES (77, NULL, NULL)",
    "INSERT INTO parent VALUES (77, 'a name of more than twenty letters', '')",
    "INSERT INTO child VALUES (77, 1, NULL, NULL)",
    "INSERT INTO child VALUES (1, 99999, NULL, NULL)",
    "INSERT INTO parent (id, id) VALUES (1, 2)",
    "INSERT INTO parent VALUES (1, 2, 3, 4)",
    "DROP TABLE nowhere",
    "DROP TABLE parent",
    "CREATE TABLE parent (id int)",
    "CREATE TABLE work.x (id int)",
    "SELECT id FROM parent p, child p",
    "SELECT id, count(*) FROM parent",
    "SELECT * FROM pg_authid",
    "SELECT (SELECT id FROM parent)",
    "UPDATE elder SET nothing = 1",
    "SELECT * FROM \"Wörter %_ \"\"q\"\"\" WHERE \"spalte ö\" = 1",
    "GRANT SELECT ON parent TO nobody_at_all",
    "SET no_such_setting = 1",
    "ROLLBACK TO SAVEPOINT nowhere",
    ("DO 'BEGIN RAISE EXCEPTION ''of my own'' USING ERRCODE = ''ZX123'', "
     "DETAIL = ''detailed'', HINT = ''a hint''; END'"),
    "DO 'BEGIN RAISE WARNING ''only a warning''; END'",
    "DO 'BEGIN RAISE EXCEPTION ''%'', repeat(''a long one. '', 150); END'",
};

static void sequences(SQLHSTMT stmt)
{
    CALL(SQLExecute, stmt);
    CALL(SQLFetch, stmt);
    CALL(SQLFetchScroll, stmt, SQL_FETCH_NEXT, 0);
    CALL(SQLCloseCursor, stmt);
    CALL(SQLSetPos, stmt, 1, SQL_POSITION, SQL_LOCK_NO_CHANGE);
    CALL(SQLFreeStmt, stmt, 77);
    CALL_TEXT(SQLExecDirect, stmt, NULL, SQL_NTS);
    CALL_TEXT(SQLExecDirect, stmt, IN("SELECT 1"), -7);
    CALL_TEXT(SQLPrepare, stmt, NULL, SQL_NTS);
    CALL_TEXT(SQLPrepare, stmt, IN("SELECT 1 and more"), 8);
    CALL(SQLExecute, stmt);
    CALL(SQLExecute, stmt); /* its cursor is open */
    prepare(stmt, "SELECT 2");
    CALL_TEXT(SQLTables, stmt, NULL, 0, NULL, 0, NULL, 0, NULL, 0);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void on_handles(void)
{
    CALL(SQLAllocHandle, 77, run.dbc, &out.pointer[0]);
    CALL(SQLAllocHandle, SQL_HANDLE_STMT, NULL, &out.pointer[0]);
    CALL(SQLAllocHandle, SQL_HANDLE_STMT, run.dbc, NULL);
    CALL(SQLFreeHandle, 77, run.dbc);
    CALL(SQLFreeHandle, SQL_HANDLE_DBC, run.dbc); /* it is connected */
    CALL(SQLFreeHandle, SQL_HANDLE_ENV, run.env);
    CALL(SQLFetch, NULL);
    CALL(SQLFetch, run.dbc);
}

/* A record read too short, too far, and by the wrong number. */
static void reading(SQLHSTMT stmt)
{
    sql(stmt, "SELECT * FROM nowhere");
    CALL_TEXT(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1, TEXT(0),
              &out.integer[0], TEXT(1), 20, &out.small[0]);
    CALL_TEXT(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1, NULL, NULL, NULL, 0,
              &out.small[0]);
    CALL_TEXT(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1, TEXT(0),
              &out.integer[0], TEXT(1), -1, &out.small[0]);
    CALL_TEXT(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 0, TEXT(0),
              &out.integer[0], TEXT(1), 20, &out.small[0]);
    CALL_TEXT(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 2, TEXT(0),
              &out.integer[0], TEXT(1), 20, &out.small[0]);
    CALL_TEXT(SQLGetDiagRec, SQL_HANDLE_DBC, run.dbc, 1, TEXT(0),
              &out.integer[0], TEXT(1), 20, &out.small[0]);
    CALL_TEXT(SQLGetDiagField, SQL_HANDLE_STMT, stmt, 1,
              SQL_DIAG_MESSAGE_TEXT, TEXT(0), BYTES(11), &out.small[0]);
    CALL_TEXT(SQLGetDiagField, SQL_HANDLE_STMT, stmt, 1,
              SQL_DIAG_MESSAGE_TEXT, NULL, 0, &out.small[0]);
    CALL_TEXT(SQLGetDiagField, SQL_HANDLE_STMT, stmt, 1, 4711, TEXT(0), 20,
              &out.small[0]);
    CALL_TEXT(SQLGetDiagField, SQL_HANDLE_STMT, stmt, 9, SQL_DIAG_NATIVE,
              &out.integer[0], 0, NULL);
    CALL_TEXT(SQLGetDiagField, SQL_HANDLE_DBC, run.dbc, 0, SQL_DIAG_ROW_COUNT,
              &out.len[0], 0, NULL);
}

void subject_diag(void)
{
    SQLHSTMT stmt = stmt_new();

    sequences(stmt);
    on_handles();
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        sql(stmt, failures[i]);
        CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    }
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i += 3) {
        if (SQL_SUCCEEDED(prepare(stmt, failures[i]))) {
            CALL(SQLNumResultCols, stmt, &out.small[0]);
            CALL(SQLExecute, stmt);
        }
        CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    }
    reading(stmt);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_AUTOCOMMIT,
              (void *)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i += 2) {
        sql(stmt, failures[i]);
        sql(stmt, "SELECT 1");
        CALL(SQLFreeStmt, stmt, SQL_CLOSE);
        CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_ROLLBACK);
    }
}
