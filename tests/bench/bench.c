/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../odbc_tap.h"

static uint64_t read_clock(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t bench_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_thread(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2]
                     : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void bench_say(const char *figure, const char *variant, const char *unit,
               double value)
{
    printf("%s\t%s\t%s\t%.6g\n", figure, variant, unit, value);
    fflush(stdout);
}

void bench_die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

unsigned long bench_number(int argc, char **argv, int i, const char *what)
{
    unsigned long number = i < argc ? strtoul(argv[i], NULL, 10) : 0;

    if (number == 0) {
        bench_die("%s: argument %d is %s, a number above 0", argv[0], i, what);
    }
    return number;
}

void bench_ok(SQLRETURN rc, SQLSMALLINT type, SQLHANDLE handle,
              const char *what)
{
    if (!SQL_SUCCEEDED(rc)) {
        bench_die("%s: %s", what, odbc_record(type, handle, 1));
    }
}

SQLHDBC bench_open(SQLHENV env, const char *string)
{
    SQLHDBC dbc = odbc_open(env, string, false);

    if (!dbc) {
        bench_die("%s: %s", string, odbc_error());
    }
    return dbc;
}
