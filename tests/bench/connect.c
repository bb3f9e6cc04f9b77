/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one connect and disconnect through the manager takes, over and over in
 * one process, of several data sources in turns.  Prints the median of every
 * TURNS of them, each timed by itself.  A machine that is now fast, now slow
 * (processors of a host that has other guests) is so for longer than that, so
 * that what it does touches all sources of one line of values alike.
 *
 * usage: connect FIGURE COUNT SQL VARIANT STRING [VARIANT STRING]…
 *   SQL is run once in each connection, unless it is empty.
 */
#include "autoconf.h"

#include "bench.h"

#include "../odbc_tap.h"

static void once(SQLHENV env, const char *string, const char *sql)
{
    SQLHDBC dbc = bench_open(env, string);

    if (sql && !odbc_run(dbc, sql)) {
        bench_die("%s: %s", sql, odbc_error());
    }
    odbc_close(dbc);
}

enum { TURNS = 20, SOURCES = 8 };

static struct source {
    const char *variant, *string;
    double times[TURNS];
} sources[SOURCES];

/* What callgrind is told to count. */
static __attribute__((noinline)) void
bench_region(SQLHENV env, const char *sql, size_t count, size_t turns)
{
    for (size_t turn = 0; turn < turns; turn++) {
        for (size_t i = 0; i < count; i++) {
            uint64_t begin = bench_now();

            once(env, sources[i].string, sql);
            sources[i].times[turn] = (double)(bench_now() - begin);
        }
    }
}

/* Each instance has its link then. */
static void warm_up(SQLHENV env, const char *sql, size_t count)
{
    for (size_t i = 0; i < 6 * count; i++) {
        once(env, sources[i % count].string, sql);
    }
}

int main(int argc, char **argv)
{
    size_t times = bench_number(argc, argv, 2, "the number of connects");
    size_t count = argc > 4 ? (size_t)(argc - 4) / 2 : 0;
    const char *sql = argc > 3 && argv[3][0] ? argv[3] : NULL;
    SQLHENV env = odbc_env(SQL_OV_ODBC3);

    if (count == 0 || count > SOURCES || times % TURNS != 0) {
        bench_die("1 to %d data sources, and each a multiple of %d times",
                  SOURCES, TURNS);
    }
    for (size_t i = 0; i < count; i++) {
        sources[i].variant = argv[4 + 2 * i];
        sources[i].string = argv[5 + 2 * i];
    }
    warm_up(env, sql, count);
    for (size_t done = 0; done < times; done += TURNS) {
        bench_region(env, sql, count, TURNS);
        for (size_t i = 0; i < count; i++) {
            bench_say(argv[1], sources[i].variant, "us",
                      bench_median(sources[i].times, TURNS) / 1000);
        }
    }
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return 0;
}
