/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Block and scrollable cursors, bookmarks, names, positioned changes. */
#include "diff.h"

#include <string.h>

void subject_cursors(void);

static void bind_rows(SQLHSTMT stmt, SQLULEN size)
{
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_ARRAY_SIZE, (void *)size, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_STATUS_PTR, out.status, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROWS_FETCHED_PTR, &out.ulen[0], 0);
    CALL(SQLBindCol, stmt, 1, SQL_C_SLONG, DATA(0), 0, out.lens[0]);
    CALL(SQLBindCol, stmt, 2, C_TEXT, DATA(1), 40, out.lens[1]);
}

static void scroll(SQLHSTMT stmt)
{
    static const struct {
        SQLSMALLINT orientation;
        SQLLEN offset;
    } moves[] = {
        { SQL_FETCH_NEXT, 0 },      { SQL_FETCH_NEXT, 0 },
        { SQL_FETCH_PRIOR, 0 },     { SQL_FETCH_LAST, 0 },
        { SQL_FETCH_NEXT, 0 },      { SQL_FETCH_PRIOR, 0 },
        { SQL_FETCH_FIRST, 0 },     { SQL_FETCH_PRIOR, 0 },
        { SQL_FETCH_ABSOLUTE, 3 },  { SQL_FETCH_ABSOLUTE, -2 },
        { SQL_FETCH_ABSOLUTE, 0 },  { SQL_FETCH_ABSOLUTE, 900 },
        { SQL_FETCH_RELATIVE, -1 }, { SQL_FETCH_RELATIVE, 0 },
        { SQL_FETCH_RELATIVE, 2 },  { SQL_FETCH_ABSOLUTE, 99999 },
        { SQL_FETCH_BOOKMARK, 0 },  { 77, 0 },
    };

    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        say("%d %ld", moves[i].orientation, (long)moves[i].offset);
        CALL(SQLFetchScroll, stmt, moves[i].orientation, moves[i].offset);
        CALL(SQLGetStmtAttr, stmt, SQL_ATTR_ROW_NUMBER, &out.ulen[1], 0, NULL);
    }
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void every_kind(void)
{
    static const size_t types[] = {
        SQL_CURSOR_FORWARD_ONLY, SQL_CURSOR_STATIC, SQL_CURSOR_KEYSET_DRIVEN,
        SQL_CURSOR_DYNAMIC
    };
    static const size_t concurrencies[] = { SQL_CONCUR_READ_ONLY,
                                            SQL_CONCUR_ROWVER };

    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 2; j++) {
            SQLHSTMT stmt = stmt_new();

            say("type %zu, concurrency %zu", types[i], concurrencies[j]);
            CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CURSOR_TYPE,
                 (void *)types[i], 0);
            CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CONCURRENCY,
                 (void *)concurrencies[j], 0);
            bind_rows(stmt, 3);
            sql(stmt, run.dialect->series);
            CALL(SQLGetStmtAttr, stmt, SQL_ATTR_CURSOR_TYPE, &out.ulen[0], 0,
                 NULL);
            CALL(SQLGetStmtAttr, stmt, SQL_ATTR_CURSOR_SCROLLABLE,
                 &out.ulen[0], 0, NULL);
            CALL(SQLGetStmtAttr, stmt, SQL_ATTR_CURSOR_SENSITIVITY,
                 &out.ulen[0], 0, NULL);
            CALL(SQLGetStmtAttr, stmt, SQL_ATTR_CONCURRENCY, &out.ulen[0], 0,
                 NULL);
            scroll(stmt);
            handle_free(SQL_HANDLE_STMT, stmt);
        }
    }
}

static void extended(SQLHSTMT stmt)
{
    CALL(SQLSetStmtAttr, stmt, SQL_ROWSET_SIZE, (void *)2, 0);
    bind_rows(stmt, 5); /* of no concern to SQLExtendedFetch */
    sql(stmt, run.dialect->series);
    CALL(SQLExtendedFetch, stmt, SQL_FETCH_NEXT, 0, &out.ulen[2],
         &out.status[8]);
    CALL(SQLExtendedFetch, stmt, SQL_FETCH_NEXT, 0, &out.ulen[2],
         &out.status[8]);
    CALL(SQLFetch, stmt); /* mixed */
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void bookmarks(SQLHSTMT stmt)
{
    static SQLLEN saved;

    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_USE_BOOKMARKS,
         (void *)SQL_UB_VARIABLE, 0);
    CALL(SQLBindCol, stmt, 0, SQL_C_VARBOOKMARK, DATA(2), 16, out.lens[0]);
    sql(stmt, run.dialect->series);
    CALL(SQLFetchScroll, stmt, SQL_FETCH_ABSOLUTE, 4);
    memcpy(&saved, out.data[2], sizeof saved);
    CALL(SQLFetchScroll, stmt, SQL_FETCH_FIRST, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_FETCH_BOOKMARK_PTR, &saved, 0);
    CALL(SQLFetchScroll, stmt, SQL_FETCH_BOOKMARK, 0);
    CALL(SQLFetchScroll, stmt, SQL_FETCH_BOOKMARK, 2);
    CALL(SQLGetData, stmt, 0, SQL_C_VARBOOKMARK, DATA(3), 16, &out.len[0]);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void names(SQLHSTMT stmt, SQLHSTMT other)
{
    CALL_TEXT(SQLGetCursorName, stmt, TEXT(0), 100, &out.small[0]);
    CALL_TEXT(SQLSetCursorName, stmt, IN("cursor_of_mine"), SQL_NTS);
    CALL_TEXT(SQLSetCursorName, other, IN("cursor_of_mine"), SQL_NTS);
    CALL_TEXT(SQLGetCursorName, stmt, TEXT(0), 100, &out.small[0]);
    CALL_TEXT(SQLGetCursorName, stmt, TEXT(0), 7, &out.small[0]);
    CALL_TEXT(SQLGetCursorName, stmt, NULL, 0, &out.small[0]);
    CALL_TEXT(SQLGetCursorName, stmt, TEXT(0), -1, &out.small[0]);
    CALL_TEXT(SQLSetCursorName, stmt, IN("SQL_CUR_is_reserved"), SQL_NTS);
    CALL_TEXT(SQLSetCursorName, stmt, IN(""), SQL_NTS);
    CALL_TEXT(SQLSetCursorName, stmt, IN("cut off here"), 7);
    CALL_TEXT(SQLGetCursorName, stmt, TEXT(0), 100, &out.small[0]);
}

static void positioned(SQLHSTMT stmt, SQLHSTMT other)
{
    sql(other, "DELETE FROM work");
    sql(other, "INSERT INTO work (id, t) VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CURSOR_TYPE,
         (void *)SQL_CURSOR_KEYSET_DRIVEN, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CONCURRENCY,
         (void *)SQL_CONCUR_ROWVER, 0);
    bind_rows(stmt, 2);
    sql(stmt, "SELECT id, t FROM work ORDER BY id");
    CALL(SQLFetchScroll, stmt, SQL_FETCH_NEXT, 0);
    CALL(SQLSetPos, stmt, 2, SQL_POSITION, SQL_LOCK_NO_CHANGE);
    CALL(SQLGetData, stmt, 2, C_TEXT, DATA(3), 40, &out.len[0]);
    CALL(SQLSetPos, stmt, 9, SQL_POSITION, SQL_LOCK_NO_CHANGE);
    CALL(SQLSetPos, stmt, 1, 77, SQL_LOCK_NO_CHANGE);
    CALL(SQLSetPos, stmt, 1, SQL_DELETE, SQL_LOCK_NO_CHANGE);
    CALL(SQLSetPos, stmt, 1, SQL_REFRESH, SQL_LOCK_NO_CHANGE);
    CALL(SQLFetchScroll, stmt, SQL_FETCH_FIRST, 0);
    CALL_TEXT(SQLGetCursorName, stmt, TEXT(0), 100, &out.small[0]);
    sql(other, "UPDATE work SET t = 'current' WHERE CURRENT OF "
               "\"cursor_\"");
    sql(other, "DELETE FROM work WHERE CURRENT OF nothing");
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    show(other, "SELECT id, t FROM work ORDER BY id");
}

/* SQLSetPos updates with what the bound buffers hold, which here are the
   subject's, since the slots are refilled. */
static void updated(SQLHSTMT other)
{
    SQLHSTMT stmt = stmt_new();
    static SQLINTEGER id[2];
    static char words[2][20];
    static SQLLEN lengths[2][2];

    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CURSOR_TYPE,
         (void *)SQL_CURSOR_KEYSET_DRIVEN, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_CONCURRENCY,
         (void *)SQL_CONCUR_ROWVER, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_ARRAY_SIZE, (void *)2, 0);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_ROW_STATUS_PTR, out.status, 0);
    CALL(SQLBindCol, stmt, 1, SQL_C_SLONG, id, 0, lengths[0]);
    CALL(SQLBindCol, stmt, 2, SQL_C_CHAR, words, 20, lengths[1]);
    sql(stmt, "SELECT id, t FROM work ORDER BY id");
    CALL(SQLFetch, stmt);
    memcpy(words[0], "written", 8);
    lengths[1][0] = SQL_NTS;
    lengths[1][1] = SQL_COLUMN_IGNORE;
    CALL(SQLSetPos, stmt, 1, SQL_UPDATE, SQL_LOCK_NO_CHANGE);
    CALL(SQLSetPos, stmt, 0, SQL_UPDATE, SQL_LOCK_NO_CHANGE);
    id[0] = 77;
    lengths[1][0] = SQL_NULL_DATA;
    CALL(SQLSetPos, stmt, 1, SQL_ADD, SQL_LOCK_NO_CHANGE);
    CALL(SQLFetchScroll, stmt, SQL_FETCH_FIRST, 0);
    say_bytes("words", words, sizeof words);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    show(other, "SELECT id, t FROM work ORDER BY id");
}

void subject_cursors(void)
{
    SQLHSTMT stmt = stmt_new(), other = stmt_new(), third = stmt_new();

    every_kind();
    extended(third);
    names(stmt, other);
    positioned(stmt, other);
    updated(other);
    CALL(SQLSetStmtAttr, other, SQL_ATTR_CURSOR_TYPE,
         (void *)SQL_CURSOR_STATIC, 0);
    bookmarks(other);
    sql(third, "DELETE FROM work");
    sql(stmt, run.dialect->series); /* left in its middle */
    CALL(SQLFetchScroll, stmt, SQL_FETCH_ABSOLUTE, 500);
}
