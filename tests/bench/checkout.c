/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Check-outs a second with one thread and with two, below the manager, whose
 * own locks let two threads do less than one.  A check-out is connect and
 * disconnect over a pooled link; each thread has an environment of its own.
 * Beside it, what two threads can do here at all, each over a copy of the
 * driver of its own, so that they share nothing.
 *
 * On a machine that does other things as well two threads seldom have two
 * processors for long.  So the rounds are short, and only those count in which
 * all threads began together and none was taken off its processor; waiting for
 * a lock is no such thing.
 *
 * usage: checkout DRIVER COPY STRING MS ROUNDS
 */
#include "autoconf.h"

#include "bench.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "below.h"

enum { THREADS = 2 };

static struct below drivers[THREADS]; /* the driver and its copy */
static SQLWCHAR string[512];
static pthread_barrier_t start;

struct worker {
    pthread_t thread;
    const struct below *call;
    uint64_t length; /* ns */
    uint64_t begin, end;
    long preempted;
    unsigned long done;
};

static void check_out(const struct below *call, SQLHENV env)
{
    SQLHDBC dbc = below_dbc(call, env);

    below_connect(call, dbc, string);
    call->SQLDisconnect(dbc);
    call->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

static long preemptions(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

static void *run(void *arg)
{
    struct worker *worker = arg;
    SQLHENV env = below_env(worker->call);

    check_out(worker->call, env);
    pthread_barrier_wait(&start);
    worker->preempted = preemptions();
    worker->begin = bench_now();
    do {
        check_out(worker->call, env);
        worker->done++;
        worker->end = bench_now();
    } while (worker->end - worker->begin < worker->length);
    worker->preempted = preemptions() - worker->preempted;
    worker->call->SQLFreeHandle(SQL_HANDLE_ENV, env);
    return NULL;
}

/* How many a second; 0: the round does not count. */
static double round_of(unsigned threads, bool apart, unsigned long ms)
{
    struct worker workers[THREADS];
    double rate = 0;

    pthread_barrier_init(&start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){ .call = &drivers[apart ? i : 0],
                                      .length = ms * 1000000 };
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i])) {
            bench_die("no thread");
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    pthread_barrier_destroy(&start);
    for (unsigned i = 0; i < threads; i++) {
        int64_t late = (int64_t)(workers[i].begin - workers[0].begin);

        if (workers[i].preempted || labs(late) > (long)(ms * 50000)) {
            return 0;
        }
        rate += (double)workers[i].done * 1e9 /
                (double)(workers[i].end - workers[i].begin);
    }
    return rate;
}

static void measure(const char *variant, unsigned threads, bool apart,
                    unsigned long ms)
{
    enum { TRIES = 1000 };
    double rate = 0;

    for (int i = 0; rate == 0; i++) {
        if (i == TRIES) {
            bench_die("this machine has no %u processors to itself for "
                      "%lu ms: it is too busy for this figure", threads, ms);
        }
        rate = round_of(threads, apart, ms);
    }
    bench_say("check-outs", variant, "per s", rate);
}

int main(int argc, char **argv)
{
    unsigned long ms = bench_number(argc, argv, 4, "milliseconds");
    unsigned long rounds = bench_number(argc, argv, 5, "the rounds");

    below_load(argv[1], &drivers[0]);
    below_load(argv[2], &drivers[1]);
    below_wide(argv[3], string, sizeof string / sizeof *string);
    for (unsigned long r = 0; r < rounds; r++) {
        measure("1 thread", 1, false, ms);
        measure("2 threads", 2, false, ms);
        measure("2 threads that share nothing", 2, true, ms);
    }
    return 0;
}
