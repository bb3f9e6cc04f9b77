/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Texts in which there is no statement, after others that failed, told
   something or left a result: what is then said is of which? */
#include "diff.h"

void subject_empty(void);

static const char *const nothing[] = {
    "", " ", "\n\t ", ";", " ; ;", "-- a comment", "/* a comment */",
    "  /* one */ -- and\n /* two */ ; ",
};

static const char *before(size_t i)
{
    const char *const texts[] = {
        "SELECT * FROM nowhere",
        run.dialect->error_row,
        run.dialect->notice,
        "UPDATE work SET t = t WHERE id < 0",
        "SELECT id FROM parent WHERE id < 3",
    };

    return i < sizeof texts / sizeof texts[0] ? texts[i] : NULL;
}

static void look(SQLHSTMT stmt)
{
    CALL(SQLNumResultCols, stmt, &out.small[0]);
    CALL(SQLRowCount, stmt, &out.len[0]);
    CALL(SQLFetch, stmt);
    CALL(SQLMoreResults, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void run_before(SQLHSTMT stmt, size_t i)
{
    if (SQL_SUCCEEDED(sql(stmt, before(i)))) {
        while (SQL_SUCCEEDED(CALL(SQLFetch, stmt))) {
        }
    }
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void after(SQLHSTMT first, SQLHSTMT second, size_t i)
{
    for (size_t n = 0; n < sizeof nothing / sizeof nothing[0]; n++) {
        run_before(first, i);
        sql(second, nothing[n]);
        look(second);
        run_before(first, i);
        if (SQL_SUCCEEDED(prepare(second, nothing[n]))) {
            CALL(SQLNumResultCols, second, &out.small[0]);
            CALL(SQLExecute, second);
            look(second);
            CALL(SQLExecute, second);
        }
        look(second);
    }
}

static void autocommit(size_t on)
{
    CALL_TEXT(SQLSetConnectAttr, run.dbc, SQL_ATTR_AUTOCOMMIT, (void *)on,
              SQL_IS_UINTEGER);
}

void subject_empty(void)
{
    SQLHSTMT stmt = stmt_new(), other = stmt_new();

    for (size_t i = 0; before(i) || before(i + 1); i++) {
        if (before(i)) {
            say("after %s", before(i));
            after(stmt, stmt, i);
            after(stmt, other, i);
        }
    }
    autocommit(SQL_AUTOCOMMIT_OFF);
    for (size_t n = 0; n < sizeof nothing / sizeof nothing[0]; n++) {
        sql(stmt, nothing[n]);
        look(stmt);
        sql(stmt, "SELECT * FROM nowhere");
        sql(stmt, nothing[n]); /* in a transaction that has failed */
        look(stmt);
        CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_ROLLBACK);
        sql(stmt, nothing[n]);
        look(stmt);
        CALL(SQLEndTran, SQL_HANDLE_DBC, run.dbc, SQL_COMMIT);
    }
    autocommit(SQL_AUTOCOMMIT_ON);
}
