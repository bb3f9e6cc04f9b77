/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Transactions: autocommit, both ends, isolation, two sessions. */
#include "diff.h"

void subject_txn(void);

static void isolation(SQLHDBC dbc, size_t level)
{
    say("isolation %zu", level);
    CALL_TEXT(SQLSetConnectAttr, dbc, SQL_ATTR_TXN_ISOLATION, (void *)level,
              SQL_IS_UINTEGER);
    CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_TXN_ISOLATION, &out.integer[0],
              SQL_IS_UINTEGER, &out.integer[1]);
}

static void autocommit(SQLHDBC dbc, size_t on)
{
    CALL_TEXT(SQLSetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT, (void *)on,
              SQL_IS_UINTEGER);
    CALL_TEXT(SQLGetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT, &out.integer[0],
              SQL_IS_UINTEGER, NULL);
}

static void ends(SQLHSTMT stmt)
{
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    autocommit(run.dbc, SQL_AUTOCOMMIT_OFF);
    sql(stmt, "INSERT INTO work (id, t) VALUES (61, 'kept')");
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    sql(stmt, "INSERT INTO work (id, t) VALUES (62, 'dropped')");
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_ROLLBACK);
    show(stmt, "SELECT id, t FROM work ORDER BY id");
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, 77);
    CALL(SQLEndTran, SQL_HANDLE_ENV, run.env, SQL_COMMIT);
    CALL(SQLEndTran, 77, run.env, SQL_COMMIT);
    sql(stmt, "INSERT INTO work (id, t) VALUES (61, 'again')"); /* an error */
    sql(stmt, "SELECT 1");
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    sql(stmt, "INSERT INTO work (id, t) VALUES (63, 'after an error')");
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    show(stmt, "SELECT id, t FROM work ORDER BY id");
    CALL(SQLEndTran, SQL_HANDLE_ENV, run.env, SQL_ROLLBACK);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_AUTOCOMMIT, (void *)77,
              SQL_IS_UINTEGER);
}

/* What becomes of cursors and prepared statements. */
static void survivors(SQLHSTMT stmt, SQLHSTMT other)
{
    sql(stmt, run.dialect->series);
    CALL(SQLFetch, stmt);
    prepare(other, "SELECT name FROM parent ORDER BY id");
    CALL(SQLExecute, other);
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    CALL(SQLFetch, stmt);
    show_rows(other, 1);
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_ROLLBACK);
    CALL(SQLFetch, stmt);
    CALL(SQLFreeStmt, other, SQL_CLOSE);
    CALL(SQLExecute, other);
    show_rows(other, 1);
    CALL(SQLFreeStmt, other, SQL_CLOSE);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void two_sessions(SQLHSTMT stmt)
{
    SQLHDBC dbc = session_new();
    SQLHSTMT far = handle_new(SQL_HANDLE_STMT, dbc);

    sql(stmt, "UPDATE work SET t = 'changed' WHERE id = 61");
    show(far, "SELECT t FROM work WHERE id = 61");
    autocommit(dbc, SQL_AUTOCOMMIT_OFF);
    isolation(dbc, SQL_TXN_SERIALIZABLE);
    show(far, "SELECT t FROM work WHERE id = 61");
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    show(far, "SELECT t FROM work WHERE id = 61");
    sql(far, "UPDATE work SET t = 'too late' WHERE id = 61");
    CALL(SQLEndTran, SQL_HANDLE_ENV, run.env, SQL_COMMIT);
    show(far, "SELECT t FROM work WHERE id = 61");
    disconnect(dbc); /* in a transaction */
    CALL(SQLEndTran, SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    session_end(dbc);
}

static void by_sql(SQLHSTMT stmt)
{
    sql(stmt, "BEGIN");
    sql(stmt, "DELETE FROM work WHERE id = 63");
    sql(stmt, "SAVEPOINT a");
    sql(stmt, "SELECT * FROM nowhere");
    sql(stmt, "ROLLBACK TO SAVEPOINT a");
    sql(stmt, "COMMIT");
    sql(stmt, "COMMIT");
    show(stmt, "SELECT id, t FROM work ORDER BY id");
}

void subject_txn(void)
{
    SQLHSTMT stmt = stmt_new(), other = stmt_new();

    sql(stmt, "DELETE FROM work");
    CALL_TEXT(SQLGetConnectAttr, run.dbc, SQL_ATTR_TXN_ISOLATION,
              &out.integer[0], SQL_IS_UINTEGER, NULL);
    autocommit(run.dbc, SQL_AUTOCOMMIT_ON);
    ends(stmt);
    survivors(stmt, other);
    isolation(run.dbc, SQL_TXN_SERIALIZABLE);
    isolation(run.dbc, SQL_TXN_REPEATABLE_READ);
    isolation(run.dbc, SQL_TXN_READ_UNCOMMITTED);
    isolation(run.dbc, 77);
    show(stmt, "SHOW transaction_isolation");
    isolation(run.dbc, SQL_TXN_SERIALIZABLE); /* in a transaction */
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    two_sessions(stmt);
    autocommit(run.dbc, SQL_AUTOCOMMIT_ON);
    by_sql(stmt);
    sql(stmt, "DELETE FROM work");
    autocommit(run.dbc, SQL_AUTOCOMMIT_OFF);
    sql(stmt, "INSERT INTO work (id, t) VALUES (64, 'never committed')");
    sql(stmt, "SELECT * FROM nowhere"); /* left failed and open */
}
