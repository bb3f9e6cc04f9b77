/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is large or many, by the book: nothing in the reference bounds the
 * length of a statement, of a value or of a row, the number of statements or
 * how often one may connect, and SQLGetInfo's limits for them are psqlODBC's.
 */
#include "autoconf.h"

#include "conform.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "odbc_tap.h"

/* A sanitizer costs ten times the time and memory. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static long long first_number(const struct book_on *on, SQLHSTMT stmt)
{
    SQLBIGINT value = -1;
    SQLLEN length;

    want_rc("SQLFetch", on->odbc->SQLFetch(stmt), SQL_SUCCESS);
    on->odbc->SQLGetData(stmt, 1, SQL_C_SBIGINT, &value, 0, &length);
    on->odbc->SQLFreeStmt(stmt, SQL_CLOSE);
    return value;
}

/* ---- a very long statement --------------------------------------------- */

enum { LONG_TEXT = 16 << 20 };

/* "SELECT length('xxx…')" of `count` x, in the width of `on`; to be freed. */
static void *long_statement(const struct book_on *on, size_t count)
{
    static const char before[] = "SELECT length('", after[] = "')";
    size_t units = sizeof before - 1 + count + sizeof after;
    char *narrow = malloc(units);
    SQLWCHAR *wide;

    memcpy(narrow, before, sizeof before - 1);
    memset(narrow + sizeof before - 1, 'x', count);
    memcpy(narrow + sizeof before - 1 + count, after, sizeof after);
    if (!on->wide) {
        return narrow;
    }
    wide = malloc(units * sizeof *wide);
    for (size_t i = 0; i < units; i++) {
        wide[i] = (unsigned char)narrow[i];
    }
    free(narrow);
    return wide;
}

static void long_text(const struct book_on *on, const void *row)
{
    void *text = long_statement(on, LONG_TEXT);

    (void)row;
    want_rc("SQLExecDirect, SQL_NTS",
            TEXT_CALL(on, SQLExecDirect)(on->stmt, text, SQL_NTS),
            SQL_SUCCESS);
    want_number("its length", first_number(on, on->stmt), LONG_TEXT);
    want_rc("SQLPrepare, a length",
            TEXT_CALL(on, SQLPrepare)(on->stmt, text, LONG_TEXT + 17),
            SQL_SUCCESS);
    want_rc("SQLExecute", on->odbc->SQLExecute(on->stmt), SQL_SUCCESS);
    want_number("its length", first_number(on, on->stmt), LONG_TEXT);
    free(text);
    want_rc("a short one after it", book_exec(on, on->stmt, "SELECT 7"),
            SQL_SUCCESS);
    want_number("its value", first_number(on, on->stmt), 7);
}

/* A parameter of that length, sent in parts. */
static void long_parameter(const struct book_on *on, const void *row)
{
    enum { PART = 1 << 20 };
    SQLLEN indicator = SQL_DATA_AT_EXEC;
    char *part = malloc(PART);
    SQLPOINTER token;

    (void)row;
    memset(part, 'y', PART);
    on->odbc->SQLBindParameter(on->stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
                               SQL_LONGVARCHAR, LONG_TEXT, 0, part, 0,
                               &indicator);
    want_rc("SQLExecDirect",
            book_exec(on, on->stmt, "SELECT length(?::text)"), SQL_NEED_DATA);
    want_rc("SQLParamData", on->odbc->SQLParamData(on->stmt, &token),
            SQL_NEED_DATA);
    want("which parameter", token == part);
    for (size_t i = 0; i < LONG_TEXT / PART; i++) {
        want_rc("SQLPutData", on->odbc->SQLPutData(on->stmt, part, PART),
                SQL_SUCCESS);
    }
    want_rc("SQLParamData", on->odbc->SQLParamData(on->stmt, &token),
            SQL_SUCCESS);
    want_number("its length", first_number(on, on->stmt), LONG_TEXT);
    free(part);
}

/* ---- a very wide row --------------------------------------------------- */

enum { WIDE = 1600 };

/* `before`, then WIDE times a number between `left` and `right`, with commas,
   then ")" or what `after` is; to be freed. */
static char *repeated(const char *before, const char *left, const char *right,
                      const char *after)
{
    size_t room = WIDE * 32 + 200, length;
    char *text = malloc(room);

    length = (size_t)snprintf(text, room, "%s", before);
    for (int i = 0; i < WIDE; i++) {
        length += (size_t)snprintf(text + length, room - length, "%s%s%d%s",
                                   i ? ", " : "", left, i, right);
    }
    snprintf(text + length, room - length, "%s", after);
    return text;
}

static SQLRETURN exec_long(const struct book_on *on, const char *sql)
{
    size_t units = strlen(sql) + 1;
    SQLWCHAR *wide;
    SQLRETURN rc;

    if (!on->wide) {
        return on->odbc->SQLExecDirect(on->stmt, (SQLCHAR *)sql, SQL_NTS);
    }
    wide = malloc(units * sizeof *wide);
    for (size_t i = 0; i < units; i++) {
        wide[i] = (unsigned char)sql[i];
    }
    rc = on->odbc->SQLExecDirectW(on->stmt, wide, SQL_NTS);
    free(wide);
    return rc;
}

static void wide_row(const struct book_on *on, const void *row)
{
    static SQLINTEGER values[WIDE];
    static SQLLEN lengths[WIDE];
    char *sql = repeated("SELECT ", "1000+", "", "");
    SQLSMALLINT columns = 0;
    int right = 0;

    (void)row;
    want_rc("SQLExecDirect", exec_long(on, sql), SQL_SUCCESS);
    free(sql);
    on->odbc->SQLNumResultCols(on->stmt, &columns);
    want_number("SQLNumResultCols", columns, WIDE);
    for (int i = 0; i < WIDE; i++) {
        SQLSMALLINT type = 0;
        SQLWCHAR name[40];

        TEXT_CALL(on, SQLDescribeCol)(on->stmt, (SQLUSMALLINT)(i + 1),
                                      (void *)name, 40, NULL, &type, NULL,
                                      NULL, NULL);
        right += type == SQL_INTEGER;
        on->odbc->SQLBindCol(on->stmt, (SQLUSMALLINT)(i + 1), SQL_C_SLONG,
                             &values[i], 0, &lengths[i]);
    }
    want_number("columns of that type", right, WIDE);
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    right = 0;
    for (int i = 0; i < WIDE; i++) {
        right += values[i] == 1000 + i && lengths[i] == 4;
    }
    want_number("values that are right", right, WIDE);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
}

static void exec_repeated(const struct book_on *on, const char *what,
                          char *sql)
{
    want_rc(what, exec_long(on, sql), SQL_SUCCESS);
    free(sql);
}

/* As many columns as a table can have, and a parameter for each. */
static void wide_table(const struct book_on *on, const void *row)
{
    static SQLINTEGER values[WIDE];
    struct book_on own;

    (void)row;
    if (!book_own(on, &own)) {
        return;
    }
    exec_repeated(&own, "CREATE TABLE",
                  repeated("CREATE TEMP TABLE wide (", "c", " int2", ")"));
    for (int i = 0; i < WIDE; i++) {
        values[i] = i;
        own.odbc->SQLBindParameter(own.stmt, (SQLUSMALLINT)(i + 1),
                                   SQL_PARAM_INPUT, SQL_C_SLONG, SQL_SMALLINT,
                                   0, 0, &values[i], 0, NULL);
    }
    exec_repeated(&own, "INSERT with a parameter for each",
                  repeated("INSERT INTO wide VALUES (", "?+0*", "", ")"));
    own.odbc->SQLFreeStmt(own.stmt, SQL_RESET_PARAMS);
    want_rc("SELECT", book_exec(&own, own.stmt, "SELECT c0 + c1599 FROM wide"),
            SQL_SUCCESS);
    want_number("a sum", first_number(&own, own.stmt), 1599);
    book_own_end(&own);
}

/* ---- a very large value ------------------------------------------------ */

enum { LARGE = 1000000000, PIECE = 4 << 20 };

static bool is_right(const char *piece, size_t count, size_t at)
{
    for (size_t i = 0; i < count; i++) {
        if (piece[i] != "0123456789"[(at + i) % 10]) {
            return false;
        }
    }
    return true;
}

/* Made by the server, fetched in pieces, each looked at. */
static void large_value(const struct book_on *on, const void *row)
{
    char *piece = malloc(PIECE + 1);
    size_t got = 0;
    bool right = true;
    SQLRETURN rc;

    (void)row;
    want_rc("SQLExecDirect",
            book_exec(on, on->stmt,
                      "SELECT repeat('0123456789', 100000000)"),
            SQL_SUCCESS);
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    do {
        SQLLEN left = -1;
        size_t count = LARGE - got > PIECE ? PIECE : LARGE - got;

        rc = on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, piece, PIECE + 1,
                                  &left);
        if (rc != SQL_SUCCESS && rc != SQL_SUCCESS_WITH_INFO) {
            break;
        }
        right = right && left == (SQLLEN)(LARGE - got) &&
                is_right(piece, count, got);
        got += count;
    } while (rc == SQL_SUCCESS_WITH_INFO && got < LARGE);
    want_rc("the last piece", rc, SQL_SUCCESS);
    want_number("characters", (long long)got, LARGE);
    want("each piece, and what each says is left", right);
    free(piece);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* MiB that the system could give us, by /proc/meminfo. */
static long available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[200];
    long kib = 0;

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %ld", &kib) == 1) {
            break;
        }
    }
    if (file) {
        fclose(file);
    }
    return kib / 1024;
}

static void try_large_value(void)
{
    static const char name[] =
        "SQLGetData, Comments: a text of 1 GB in pieces";
    enum { NEEDED = 10000 }; /* MiB: server, libpq and psqlODBC hold copies */

    if (SANITIZED) {
        tap_skip(name, "takes too much memory with a sanitizer");
    } else if (available() < NEEDED) {
        tap_skip(name, "takes 10 GB of memory");
    } else {
        book_try(BOOK_OURS, BOOK_NARROW, name, large_value, NULL);
    }
}

/* ---- many statements --------------------------------------------------- */

enum { STATEMENTS = 2000 };

static void many_statements(const struct book_on *on, const void *row)
{
    static SQLHSTMT stmt[STATEMENTS];
    int right = 0;

    (void)row;
    for (int i = 0; i < STATEMENTS; i++) {
        char sql[60];

        snprintf(sql, sizeof sql, "SELECT %d UNION ALL SELECT -1", i);
        stmt[i] = book_stmt(on, on->dbc);
        if (i % 2) {
            TEXT_CALL(on, SQLPrepare)(stmt[i], in(on, sql), SQL_NTS);
            want_rc("SQLExecute", on->odbc->SQLExecute(stmt[i]), SQL_SUCCESS);
        } else {
            want_rc("SQLExecDirect", book_exec(on, stmt[i], sql),
                    SQL_SUCCESS);
        }
    }
    for (int i = STATEMENTS - 1; i >= 0; i--) {
        right += first_number(on, stmt[i]) == i;
    }
    want_number("cursors open at once", right, STATEMENTS);
    for (int i = 0; i < STATEMENTS; i++) {
        want_rc("SQLFreeHandle",
                on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, stmt[i]),
                SQL_SUCCESS);
    }
}

/* ---- many connections -------------------------------------------------- */

enum { CONNECTS = SANITIZED ? 10000 : 100000, DEPTH = 10 };

static bool connect_one(const struct book_on *on, SQLHDBC dbc)
{
    SQLSMALLINT length;

    return TEXT_CALL(on, SQLDriverConnect)(
               dbc, NULL, in(on, on->string), SQL_NTS, NULL, 0, &length,
               SQL_DRIVER_NOPROMPT) == SQL_SUCCESS;
}

/* Connections of the pool's instance, as the server counts them. */
static long long backends(const struct book_on *on)
{
    book_exec(on, on->stmt,
              "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'");
    return first_number(on, on->stmt);
}

/* Each handle holds its connection while those behind it connect and
   disconnect, like calls that go deeper and come back. */
static void many_connects(const struct book_on *on, const void *row)
{
    SQLHDBC dbc[DEPTH];
    struct mallinfo2 before = { 0 };
    long long first = 0, count = 0;
    int failed = 0, level = 0, step = 1;

    (void)row;
    for (int i = 0; i < DEPTH; i++) {
        dbc[i] = book_dbc(on);
    }
    while (count < CONNECTS) {
        if (step > 0) {
            failed += !connect_one(on, dbc[level]);
            count++;
        } else {
            failed += on->odbc->SQLDisconnect(dbc[level]) != SQL_SUCCESS;
        }
        if ((level == DEPTH - 1 && step > 0) || (level == 0 && step < 0)) {
            step = -step;
        } else {
            level += step;
        }
        if (count == 1000 && level == 0 && step > 0 && !first) {
            first = backends(on);
            before = mallinfo2();
        }
    }
    for (int i = level; i >= 0 && step < 0; i--) {
        on->odbc->SQLDisconnect(dbc[i]);
    }
    want_number("connects and disconnects that failed", failed, 0);
    /* while all ten are held, the keeper opens one to probe over */
    want("the server has no more connections than after the first thousand, "
         "but one",
         backends(on) <= first + 1);
    want("nor has the heap grown by a megabyte",
         SANITIZED || mallinfo2().uordblks < before.uordblks + (1 << 20));
    for (int i = 0; i < DEPTH; i++) {
        on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc[i]);
    }
}

/* ---- the rules --------------------------------------------------------- */

int main(void)
{
    /* Tried on ours alone, for the time it takes. */
    book_try(BOOK_OURS, BOOK_NARROW | BOOK_WIDE,
             "SQLExecDirect and SQLPrepare: a statement of 16 MB", long_text,
             NULL);
    book_try(BOOK_OURS, BOOK_NARROW,
             "SQLPutData, Comments: a parameter of 16 MB in parts",
             long_parameter, NULL);
    book_try(BOOK_OURS, BOOK_ALL, "SQLBindCol: a row of 1,600 columns",
             wide_row, NULL);
    book_try(BOOK_OURS, BOOK_NARROW | BOOK_WIDE,
             "SQLBindParameter: a statement with 1,600 parameters", wide_table,
             NULL);
    book_try(BOOK_OURS, BOOK_NARROW | BOOK_LOW_WIDE,
             "SQLAllocHandle: 2,000 statements of a connection at once",
             many_statements, NULL);
    book_try(BOOK_OURS, BOOK_NARROW,
             "SQLDriverConnect: 100,000 connects, ten deep", many_connects,
             NULL);
    try_large_value();
    return book_end();
}
