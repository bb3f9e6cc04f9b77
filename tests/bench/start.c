/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How long it takes to start over many instances of which some hang: until the
 * first session is connected, until each that answers has a link, and what the
 * next session takes, while those hang still.
 *
 * usage: start LIBRARY VARIANT STRING COUNT HANGING
 *   LIBRARY: libslow.so, the inner driver of STRING
 */
#include "autoconf.h"

#include "bench.h"

#include "../odbc_tap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { PATIENCE_MS = 60000 };

static struct {
    const char *library;
    unsigned long count; /* that answer */
    uint64_t begin;
    double all; /* ms: when each of them had a link; 0 = never */
} start;

static double ms_since(uint64_t begin)
{
    return (double)(bench_now() - begin) / 1e6;
}

/* The inner driver's own count of connections; 0 until it is loaded. */
static unsigned count_open(void)
{
    void *handle = dlopen(start.library, RTLD_NOW | RTLD_NOLOAD);
    const _Atomic unsigned *opened =
        handle ? dlsym(handle, "slow_opened") : NULL;

    return opened ? atomic_load(opened) : 0;
}

static void *watch(void *unused)
{
    while (count_open() < start.count && ms_since(start.begin) < PATIENCE_MS) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    start.all = count_open() < start.count ? 0 : ms_since(start.begin);
    return unused;
}

int main(int argc, char **argv)
{
    unsigned long count = bench_number(argc, argv, 4, "instances");
    unsigned long hanging = bench_number(argc, argv, 5, "that hang");
    SQLHENV env = odbc_env(SQL_OV_ODBC3);
    char figure[100], variant[100];
    SQLHDBC first, next;
    pthread_t watcher;
    uint64_t begin;

    snprintf(figure, sizeof figure,
             "starting over %lu instances of which %lu hang", count, hanging);
    start.library = argv[1];
    start.count = count - hanging;
    start.begin = bench_now();
    pthread_create(&watcher, NULL, watch, NULL);
    first = bench_open(env, argv[3]);
    snprintf(variant, sizeof variant, "%s: the first session", argv[2]);
    bench_say(figure, variant, "ms", ms_since(start.begin));
    begin = bench_now();
    next = bench_open(env, argv[3]);
    snprintf(variant, sizeof variant, "%s: the next session", argv[2]);
    bench_say(figure, variant, "ms", ms_since(begin));
    pthread_join(watcher, NULL);
    if (start.all == 0) {
        bench_die("%u of %lu are open after a minute", count_open(),
                  start.count);
    }
    snprintf(variant, sizeof variant, "%s: a link to each that answers",
             argv[2]);
    bench_say(figure, variant, "ms", start.all);
    odbc_close(next);
    odbc_close(first);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return 0;
}
