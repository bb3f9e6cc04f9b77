/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One kind of call COUNT times inside bench_region(), for callgrind to count
 * (--toggle-collect=bench_region): what the same program takes through our
 * DSN and through the inner driver's differs by what we add.  Both are
 * connected in either case, since a program with our helper threads in it
 * takes more for each malloc(), whoever calls it.
 *
 * usage: calls STRING OTHER CALL COUNT
 *   CALL: fetch getdata execdirect stmt nothing
 */
#include "autoconf.h"

#include "bench.h"

#include <string.h>

#include "../odbc_tap.h"

static SQLHDBC dbc;
static SQLHSTMT stmt;
static char value[64];
static SQLLEN length;

static void ok(SQLRETURN rc, const char *what)
{
    bench_ok(rc, SQL_HANDLE_STMT, stmt, what);
}

static void execute(const char *sql)
{
    ok(SQLExecDirect(stmt, (SQLCHAR *)(uintptr_t)sql, SQL_NTS), sql);
}

static void fetch(void)
{
    ok(SQLFetch(stmt), "SQLFetch");
}

/* A column that was read to its end has no more; another one has. */
static void get_data(void)
{
    static SQLUSMALLINT column;

    column = column == 1 ? 2 : 1;
    ok(SQLGetData(stmt, column, SQL_C_CHAR, value, sizeof value, &length),
       "SQLGetData");
}

static void exec_direct(void)
{
    execute("SELECT 1");
    ok(SQLFreeStmt(stmt, SQL_CLOSE), "SQLFreeStmt");
}

static void statement(void)
{
    SQLHSTMT other;

    bench_ok(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &other), SQL_HANDLE_DBC, dbc,
             "SQLAllocHandle");
    SQLFreeHandle(SQL_HANDLE_STMT, other);
}

static void nothing(void)
{
}

static void many_rows(void)
{
    execute("SELECT g FROM generate_series(1, 200000) g");
    ok(SQLBindCol(stmt, 1, SQL_C_CHAR, value, sizeof value, &length),
       "SQLBindCol");
    fetch();
}

static void one_row(void)
{
    execute("SELECT repeat('x', 20), repeat('y', 20)");
    fetch();
}

static const struct call {
    const char *name;
    void (*prepare)(void);
    void (*call)(void);
} calls[] = {
    { "fetch", many_rows, fetch },       { "getdata", one_row, get_data },
    { "execdirect", nothing, exec_direct }, { "stmt", nothing, statement },
    { "nothing", nothing, nothing },
};

static __attribute__((noinline)) void
bench_region(void (*call)(void), unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        call();
    }
}

int main(int argc, char **argv)
{
    unsigned long count = bench_number(argc, argv, 4, "the number of calls");
    SQLHENV env = odbc_env(SQL_OV_ODBC3);
    SQLHDBC other;
    size_t i = 0;

    while (strcmp(calls[i].name, argv[3]) != 0) {
        if (++i == sizeof calls / sizeof *calls) {
            bench_die("there is no call %s", argv[3]);
        }
    }
    other = bench_open(env, argv[2]);
    dbc = bench_open(env, argv[1]);
    bench_ok(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt), SQL_HANDLE_DBC, dbc,
             "SQLAllocHandle");
    calls[i].prepare();
    calls[i].call(); /* names are bound, buffers grown */
    bench_region(calls[i].call, count);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    odbc_close(dbc);
    odbc_close(other);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return 0;
}
