/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* SQLCancel from another thread, too early, too late; time limits. */
#include "diff.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void subject_cancel(void);

static SQLHSTMT running;
static SQLRETURN executed;

static void *execute(void *text)
{
    executed = run.wide ? SQLExecDirectW(running, text, SQL_NTS)
                        : SQLExecDirect(running, text, SQL_NTS);
    return NULL;
}

/* Until the other session sees it run; a cancel before that does nothing. */
static void await(SQLHSTMT watcher)
{
    for (int i = 0; i < 20000; i++) {
        SQLCHAR found[8] = "";

        SQLExecDirect(watcher, (SQLCHAR *)run.dialect->waiting, SQL_NTS);
        SQLFetch(watcher);
        SQLGetData(watcher, 1, SQL_C_CHAR, found, sizeof found, NULL);
        SQLFreeStmt(watcher, SQL_CLOSE);
        if (strcmp((char *)found, "0") != 0) {
            return;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    fprintf(stderr, "the statement to be cancelled was never seen to run\n");
    exit(2);
}

/* The manager may clear the records of the one call for the other, so they are
   not looked at, and the statement is not one of those that are. */
static void from_elsewhere(SQLHSTMT stmt, SQLHSTMT watcher)
{
    SQLRETURN cancelled;
    pthread_t thread;

    if (!run.dialect->waiting) {
        return;
    }
    SQLAllocHandle(SQL_HANDLE_STMT, run.dbc, &running);
    if (pthread_create(&thread, NULL, execute, IN(run.dialect->wait)) != 0) {
        abort();
    }
    await(watcher);
    cancelled = SQLCancel(running);
    pthread_join(thread, NULL);
    say("SQLCancel: %d, SQLExecDirect: %d", cancelled, executed);
    SQLFreeHandle(SQL_HANDLE_STMT, running);
    show(stmt, "SELECT 'goes on'");
}

void subject_cancel(void)
{
    SQLHDBC far = session_new();
    SQLHSTMT stmt = stmt_new();
    SQLHSTMT watcher = handle_new(SQL_HANDLE_STMT, far);

    CALL(SQLCancel, stmt);
    CALL(SQLCancelHandle, SQL_HANDLE_STMT, stmt);
    CALL(SQLCancelHandle, SQL_HANDLE_DBC, run.dbc);
    from_elsewhere(stmt, watcher);
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_AUTOCOMMIT,
              (void *)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER);
    sql(stmt, "DELETE FROM work");
    from_elsewhere(stmt, watcher);
    CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    sql(stmt, run.dialect->series);
    CALL(SQLFetch, stmt);
    CALL(SQLCancel, stmt); /* closes the cursor, or not */
    CALL(SQLFetch, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLCancel, NULL);
    session_end(far);
    CALL_TEXT(SQLSetStmtAttr, stmt, SQL_ATTR_QUERY_TIMEOUT, (void *)77, 0);
    CALL_TEXT(SQLGetStmtAttr, stmt, SQL_ATTR_QUERY_TIMEOUT, &out.ulen[0], 0,
              NULL);
}
