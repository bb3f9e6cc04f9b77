/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ROWS rows in four ways (the fifth is rows.py), over our DSN and the inner
 * driver's in turns, in one process.  Each way is timed from the first fetch
 * and, with `execute`, from before the statement.
 *
 * usage: rows DIRECT OURS ROWS ROUNDS
 */
#include "autoconf.h"

#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "../odbc_tap.h"

enum { SET = 1000, COLUMNS = 3, TEXT = 32 };

static struct {
    SQLINTEGER number[SET];
    SQLBIGINT big[SET];
    char text[SET][TEXT];
    SQLLEN length[COLUMNS][SET];
} row;

struct way {
    const char *name;
    SQLULEN set;  /* rows a fetch */
    int bound;    /* else SQLGetData */
};

static const struct way ways[] = {
    { "row by row, bound", 1, 1 },
    { "row by row, SQLGetData", 1, 0 },
    { "rowset of 1000", SET, 1 },
};

static void bind(SQLHSTMT stmt)
{
    SQLBindCol(stmt, 1, SQL_C_SLONG, row.number, 0, row.length[0]);
    SQLBindCol(stmt, 2, SQL_C_SBIGINT, row.big, 0, row.length[1]);
    SQLBindCol(stmt, 3, SQL_C_CHAR, row.text, TEXT, row.length[2]);
}

static void get(SQLHSTMT stmt)
{
    SQLGetData(stmt, 1, SQL_C_SLONG, row.number, 0, row.length[0]);
    SQLGetData(stmt, 2, SQL_C_SBIGINT, row.big, 0, row.length[1]);
    SQLGetData(stmt, 3, SQL_C_CHAR, row.text, TEXT, row.length[2]);
}

static void read_rows(SQLHSTMT stmt, const struct way *way,
                      unsigned long wanted)
{
    SQLULEN fetched = 0;
    unsigned long seen = 0;
    SQLRETURN rc;

    SQLSetStmtAttr(stmt, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)way->set, 0);
    SQLSetStmtAttr(stmt, SQL_ATTR_ROWS_FETCHED_PTR, &fetched, 0);
    if (way->bound) {
        bind(stmt);
    }
    while ((rc = SQLFetch(stmt)) != SQL_NO_DATA) {
        bench_ok(rc, SQL_HANDLE_STMT, stmt, "SQLFetch");
        if (!way->bound) {
            get(stmt);
        }
        seen += fetched;
    }
    if (seen != wanted) {
        bench_die("%s: %lu rows instead of %lu", way->name, seen, wanted);
    }
}

static void time_way(SQLHDBC dbc, const struct way *way, unsigned long rows,
                     const char *variant)
{
    char sql[128], name[64];
    SQLHSTMT stmt;
    uint64_t begin, first, end;

    snprintf(sql, sizeof sql, "SELECT g, g::bigint * 1000, 'row ' || g "
             "FROM generate_series(1, %lu) g", rows);
    bench_ok(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt), SQL_HANDLE_DBC, dbc,
             "SQLAllocHandle");
    begin = bench_thread();
    bench_ok(SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS), SQL_HANDLE_STMT,
             stmt, sql);
    first = bench_thread();
    read_rows(stmt, way, rows);
    end = bench_thread();
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    snprintf(name, sizeof name, "rows: %s", way->name);
    bench_say(name, variant, "ms", (double)(end - first) / 1e6);
    snprintf(name, sizeof name, "rows: %s, with execute", way->name);
    bench_say(name, variant, "ms", (double)(end - begin) / 1e6);
}

int main(int argc, char **argv)
{
    unsigned long rows = bench_number(argc, argv, 3, "the number of rows");
    unsigned long rounds = bench_number(argc, argv, 4, "the rounds");
    SQLHENV env = odbc_env(SQL_OV_ODBC3);
    SQLHDBC direct = bench_open(env, argv[1]), ours = bench_open(env, argv[2]);

    for (unsigned long r = 0; r < rounds; r++) {
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            int turn = (int)((r + i) & 1);
            time_way(turn ? ours : direct, &ways[i], rows,
                     turn ? "ours" : "direct");
            time_way(turn ? direct : ours, &ways[i], rows,
                     turn ? "direct" : "ours");
        }
    }
    odbc_close(direct);
    odbc_close(ours);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return 0;
}
