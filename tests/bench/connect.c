/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one connect and disconnect through the manager takes, over and over in
 * one process.  Prints the median of COUNT of them, each timed by itself, so
 * that what else the machine does hardly shows.
 *
 * usage: connect FIGURE VARIANT STRING COUNT [SQL]
 *   With SQL, it is run once in each connection.
 */
#include "autoconf.h"

#include "bench.h"

#include <stdlib.h>

#include "../odbc_tap.h"

static void once(SQLHENV env, const char *string, const char *sql)
{
    SQLHDBC dbc = bench_open(env, string);

    if (sql && !odbc_run(dbc, sql)) {
        bench_die("%s: %s", sql, odbc_error());
    }
    odbc_close(dbc);
}

/* What callgrind is told to count. */
static __attribute__((noinline)) void
bench_region(SQLHENV env, const char *string, const char *sql, double *times,
             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = bench_now();

        once(env, string, sql);
        times[i] = (double)(bench_now() - begin);
    }
}

int main(int argc, char **argv)
{
    size_t count = bench_number(argc, argv, 4, "the number of connects");
    const char *sql = argc > 5 ? argv[5] : NULL;
    double *times = calloc(count, sizeof *times);
    SQLHENV env = odbc_env(SQL_OV_ODBC3);

    if (!times) {
        bench_die("no memory");
    }
    for (int i = 0; i < 6; i++) { /* each instance has its link then */
        once(env, argv[3], sql);
    }
    bench_region(env, argv[3], sql, times, count);
    bench_say(argv[1], argv[2], "us", bench_median(times, count) / 1000);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    free(times);
    return 0;
}
