/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the programs of the bench share: the clocks, the median, and lines of
 * results, which report.py reads:
 *
 *   figure TAB variant TAB unit TAB value
 *
 * A program that cannot measure says why and ends with 1; it never prints a
 * value that it did not measure.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

uint64_t bench_now(void);    /* ns, of the wall */
uint64_t bench_thread(void); /* ns, of this thread's processor time */

double bench_median(double *values, size_t count); /* sorts them */

void bench_say(const char *figure, const char *variant, const char *unit,
               double value);

void bench_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* argv[i] as a number above 0. */
unsigned long bench_number(int argc, char **argv, int i, const char *what);

/* Ends the program unless rc is a success; the handle's first record says
   why. */
void bench_ok(SQLRETURN rc, SQLSMALLINT type, SQLHANDLE handle,
              const char *what);

/* A connection through the manager, or the end of the program. */
SQLHDBC bench_open(SQLHENV env, const char *string);

#endif
