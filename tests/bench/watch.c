/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What watching costs a process whose only session does nothing: processor
 * time of all its threads, and how many those are at most.
 *
 * usage: watch VARIANT STRING WARM SECONDS
 *   Begins to measure after WARM seconds: when each instance has its link.
 */
#include "autoconf.h"

#include "bench.h"

#include <dirent.h>
#include <time.h>

#include "../odbc_tap.h"

static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static unsigned count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;

    if (!tasks) {
        bench_die("no /proc");
    }
    while (readdir(tasks)) {
        count++;
    }
    closedir(tasks);
    return count - 2; /* . and .. */
}

/* Sleeps for so long; the most threads that were seen, one look each 10 ms. */
static unsigned rest(double seconds)
{
    double end = (double)bench_now() / 1e9 + seconds;
    unsigned most = 0;

    while ((double)bench_now() / 1e9 < end) {
        unsigned now = count_threads();

        most = now > most ? now : most;
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    return most;
}

int main(int argc, char **argv)
{
    unsigned long warm = bench_number(argc, argv, 3, "seconds to warm up");
    unsigned long seconds = bench_number(argc, argv, 4, "seconds to measure");
    SQLHENV env = odbc_env(SQL_OV_ODBC3);
    double looking, watching;
    unsigned threads;
    SQLHDBC dbc;

    looking = processor_time();
    rest((double)seconds);
    looking = processor_time() - looking; /* what looking itself takes */
    dbc = bench_open(env, argv[2]);
    threads = rest((double)warm);
    watching = processor_time();
    rest((double)seconds);
    watching = processor_time() - watching - looking;
    bench_say("watching, share of a core", argv[1], "percent",
              100 * watching / (double)seconds);
    bench_say("watching, threads beside the application's", argv[1], "threads",
              threads - 1);
    odbc_close(dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return 0;
}
