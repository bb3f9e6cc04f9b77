/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Arrays of parameters: by column and by row, some left out, some failing. */
#include "diff.h"

void subject_paramsets(void);

enum { SETS = 5, ROOM = 12 };

static SQLINTEGER keys[SETS] = { 11, 12, 13, 14, 15 };
static char words[SETS][ROOM] = { "eleven", "", "thirteen", "vierzehn ä",
                                  "15" };
static SQLLEN lengths[SETS] = { SQL_NTS, 0, SQL_NULL_DATA, SQL_NTS, 1 };
static SQLUSMALLINT operation[SETS];

static struct row {
    SQLINTEGER key;
    SQLLEN length;
    char word[ROOM];
} rows[SETS] = { { 21, SQL_NTS, "x" }, { 22, 2, "yyy" }, { 23, 0, "" },
                 { 24, SQL_NULL_DATA, "" }, { 25, SQL_NTS, "z" } };

static void look(SQLHSTMT stmt)
{
    SQLRETURN rc = SQL_SUCCESS;

    for (int i = 0; i < 8 && SQL_SUCCEEDED(rc); i++) {
        CALL(SQLRowCount, stmt, &out.len[0]);
        CALL(SQLNumResultCols, stmt, &out.small[0]);
        show_rows(stmt, 3);
        rc = CALL(SQLMoreResults, stmt);
    }
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void by_column(SQLHSTMT stmt)
{
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAM_BIND_TYPE,
         SQL_PARAM_BIND_BY_COLUMN, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAMSET_SIZE, (void *)SETS, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAM_STATUS_PTR, out.status, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAMS_PROCESSED_PTR, &out.ulen[0], 0);
    CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, keys, 0, NULL);
    CALL(SQLBindParameter, stmt, 2, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
         40, 0, words, ROOM, lengths);
    sql(stmt, "INSERT INTO work (id, t) VALUES (?, ?)");
    look(stmt);
    sql(stmt, "INSERT INTO work (id, t) VALUES (?, ?)"); /* there already */
    look(stmt);
    keys[2] = 99;
    prepare(stmt, "INSERT INTO work (id, t) VALUES (?, ?)"); /* some are */
    CALL(SQLExecute, stmt);
    look(stmt);
    keys[2] = 13;
    operation[1] = operation[3] = SQL_PARAM_IGNORE;
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAM_OPERATION_PTR, operation, 0);
    sql(stmt, "UPDATE work SET n = ?, t = ?");
    look(stmt);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAM_OPERATION_PTR, NULL, 0);
    prepare(stmt, "SELECT id, t FROM work WHERE id >= ? AND t IS NOT NULL AND "
                  "t <> ? ORDER BY id");
    CALL(SQLExecute, stmt);
    look(stmt);
}

static void by_row(SQLHSTMT stmt)
{
    static SQLULEN offset = sizeof(struct row);

    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAM_BIND_TYPE,
         (void *)sizeof(struct row), 0);
    CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, &rows[0].key, 0, NULL);
    CALL(SQLBindParameter, stmt, 2, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
         40, 0, rows[0].word, ROOM, &rows[0].length);
    sql(stmt, "INSERT INTO work (id, t) VALUES (?, ?)");
    look(stmt);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAMSET_SIZE, (void *)2, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAM_BIND_OFFSET_PTR, &offset, 0);
    sql(stmt, "DELETE FROM work WHERE id = ? OR t = ?");
    look(stmt);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_PARAM_BIND_OFFSET_PTR, NULL, 0);
}

void subject_paramsets(void)
{
    SQLHSTMT stmt = stmt_new();
    SQLHSTMT other = stmt_new();

    sql(other, "DELETE FROM work");
    by_column(stmt);
    show(other, "SELECT id, t, n FROM work ORDER BY id");
    by_row(stmt);
    show(other, "SELECT id, t, n FROM work ORDER BY id");
    sql(other, "DELETE FROM work");
}
