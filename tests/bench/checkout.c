/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Check-outs a second with one thread and with two, below the manager, whose
 * own locks let two threads do less than one.  A check-out is connect and
 * disconnect over a pooled link; each thread has an environment of its own.
 *
 * usage: checkout DRIVER STRING MS ROUNDS
 */
#include "autoconf.h"

#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "below.h"

enum { THREADS = 2 };

static struct below call;
static SQLWCHAR string[512];
static pthread_barrier_t start;
static atomic_bool stop;

struct worker {
    pthread_t thread;
    unsigned long done;
    uint64_t cpu;
};

static void once(SQLHENV env)
{
    SQLHDBC dbc = below_dbc(&call, env);

    below_connect(&call, dbc, string);
    call.SQLDisconnect(dbc);
    call.SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    SQLHENV env = below_env(&call);
    uint64_t begin;

    once(env);
    pthread_barrier_wait(&start);
    begin = bench_thread();
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        once(env);
        worker->done++;
    }
    worker->cpu = bench_thread() - begin;
    call.SQLFreeHandle(SQL_HANDLE_ENV, env);
    return NULL;
}

static void round_of(unsigned threads, unsigned long ms)
{
    struct worker workers[THREADS] = { { .done = 0 } };
    struct timespec time = { .tv_sec = (time_t)(ms / 1000),
                             .tv_nsec = (long)(ms % 1000) * 1000000 };
    unsigned long done = 0;
    uint64_t begin, took, cpu = 0;
    char variant[32];

    atomic_store(&stop, false);
    pthread_barrier_init(&start, NULL, threads + 1);
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
            bench_die("no thread");
        }
    }
    pthread_barrier_wait(&start);
    begin = bench_now();
    nanosleep(&time, NULL);
    atomic_store(&stop, true);
    took = bench_now() - begin;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        done += workers[i].done;
        cpu += workers[i].cpu;
    }
    pthread_barrier_destroy(&start);
    snprintf(variant, sizeof variant, "%u thread%s", threads,
             threads == 1 ? "" : "s");
    bench_say("check-outs", variant, "per s", (double)done * 1e9 / (double)took);
    bench_say("check-out, processor time", variant, "us",
              (double)cpu / (double)done / 1000);
}

int main(int argc, char **argv)
{
    unsigned long ms = bench_number(argc, argv, 3, "milliseconds");
    unsigned long rounds = bench_number(argc, argv, 4, "the rounds");

    below_load(argv[1], &call);
    below_wide(argv[2], string, sizeof string / sizeof *string);
    for (unsigned long r = 0; r < rounds; r++) {
        round_of(r % 2 ? 2 : 1, ms);
        round_of(r % 2 ? 1 : 2, ms);
    }
    return 0;
}
