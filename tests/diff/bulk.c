/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* SQLBulkOperations. */
#include "diff.h"

#include <string.h>

void subject_bulk(void);

enum { ROWS = 3 };

static SQLINTEGER ids[ROWS] = { 41, 42, 43 };
static char words[ROWS][20] = { "first", "second", "third" };
static SQLLEN id_lengths[ROWS], word_lengths[ROWS];
static char marks[ROWS][16];
static SQLLEN mark_lengths[ROWS];

static void own_buffers(SQLHSTMT stmt)
{
    CALL(SQLBindCol, stmt, 0, SQL_C_VARBOOKMARK, marks, 16, mark_lengths);
    CALL(SQLBindCol, stmt, 1, SQL_C_SLONG, ids, 0, id_lengths);
    CALL(SQLBindCol, stmt, 2, SQL_C_CHAR, words, 20, word_lengths);
}

static void look(void)
{
    say_bytes("ids", ids, sizeof ids);
    say_bytes("words", words, sizeof words);
    say_bytes("lengths", word_lengths, sizeof word_lengths);
    say_bytes("bookmark lengths", mark_lengths, sizeof mark_lengths);
}

static void set_up(void)
{
    static const char three[ROWS][20] = { "first", "second", "third" };

    for (int i = 0; i < ROWS; i++) {
        ids[i] = 41 + i;
        id_lengths[i] = 0;
        word_lengths[i] = i == 1 ? SQL_NULL_DATA : SQL_NTS;
    }
    memcpy(words, three, sizeof words);
}

void subject_bulk(void)
{
    SQLHSTMT stmt = stmt_new(), other = stmt_new();

    sql(other, "DELETE FROM work");
    CALL(SQLBulkOperations, stmt, SQL_ADD);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CURSOR_TYPE,
         (void *)SQL_CURSOR_KEYSET_DRIVEN, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CONCURRENCY,
         (void *)SQL_CONCUR_ROWVER, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_USE_BOOKMARKS,
         (void *)SQL_UB_VARIABLE, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_ARRAY_SIZE, (void *)ROWS, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_STATUS_PTR, out.status, 0);
    set_up();
    own_buffers(stmt);
    sql(stmt, "SELECT id, t FROM work ORDER BY id");
    CALL(SQLBulkOperations, stmt, SQL_ADD);
    CALL(SQLRowCount, stmt, &out.len[0]);
    CALL(SQLBulkOperations, stmt, 77);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    show(other, "SELECT id, t FROM work ORDER BY id");
    sql(stmt, "SELECT id, t FROM work ORDER BY id");
    CALL(SQLFetchScroll, stmt, SQL_FETCH_FIRST, 0);
    look();
    memcpy(words[1], "changed", 8);
    word_lengths[1] = SQL_NTS;
    CALL(SQLBulkOperations, stmt, SQL_UPDATE_BY_BOOKMARK);
    memset(words, '#', sizeof words);
    CALL(SQLBulkOperations, stmt, SQL_FETCH_BY_BOOKMARK);
    look();
    CALL(SQLBulkOperations, stmt, SQL_ADD); /* keys that are there */
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_ARRAY_SIZE, (void *)1, 0);
    CALL(SQLBulkOperations, stmt, SQL_DELETE_BY_BOOKMARK);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    show(other, "SELECT id, t FROM work ORDER BY id");
    sql(other, "DELETE FROM work");
}
