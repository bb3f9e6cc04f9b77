/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How long an outage is, as a program with one session after another sees it:
 *
 *   crash      until the first answer to a key of the instance that is killed,
 *              in hint
 *   promotion  from the moment when a standby is primary until the first row
 *              is written there, in strict
 *   hang       until the first session at a key of the instance that hangs is
 *              given another one
 *
 * usage: failover ROUNDS, with AFF_SRCDIR, AFF_SANDBOX and what setup/sandbox
 * env prints, of a sandbox of three instances with a standby each
 */
#include "autoconf.h"

#include "bench.h"

#include "../odbc_tap.h"
#include "../trouble.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIGURE "an outage"
#define HINT   "DSN=orders-tcp;AffinityKey=1500"
#define STRICT "DSN=orders-tcp;AffinityMode=strict;AffinityKey=1500"
#define WHERE  "SELECT current_setting('cluster_name')"

enum { PATIENCE_MS = 60000 };

/* n2 is the primary at the beginning of each round, n2s1 its standby. */

static void rest_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* A signal to all processes of an instance, at once: setup/sandbox takes a
   tenth of a second for it. */
static void strike(const char *instance, int number)
{
    char data[700], path[300], cwd[700];
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    unsigned count = 0;
    ssize_t length;

    snprintf(data, sizeof data, "%s/%s/data", trouble_folder(), instance);
    while (processes && (entry = readdir(processes))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        snprintf(path, sizeof path, "/proc/%s/cwd", entry->d_name);
        length = pid > 1 ? readlink(path, cwd, sizeof cwd - 1) : -1;
        if (length > 0 && (cwd[length] = '\0', strcmp(cwd, data) == 0)) {
            count += kill(pid, number) == 0;
        }
    }
    if (processes) {
        closedir(processes);
    }
    if (count == 0) {
        bench_die("no process of %s is to be seen in /proc", instance);
    }
}

static void make(const char *verb, const char *words)
{
    if (!trouble_make(verb, words)) {
        bench_die("setup/sandbox %s %s", verb, words);
    }
}

/* ---- one session after another ------------------------------------------- */

/* A session; where it says it is, and whether this statement went through. */
static bool try_once(const char *string, const char *sql, char instance[64])
{
    struct trouble_try t = { 0 };
    bool good = trouble_try(&t, string);

    snprintf(instance, 64, "%s", t.instance);
    if (good && sql) {
        good = odbc_run(t.dbc, sql);
    }
    odbc_close(t.dbc);
    return good;
}

/* Until one succeeds that is where it should be; ms since `begin`. */
static double until(const char *string, const char *sql, bool at_n2,
                    double begin)
{
    char instance[64];
    bool good;

    do {
        good = try_once(string, sql, instance) &&
               (strcmp(instance, "n2-tcp") == 0) == at_n2;
        if (trouble_now() > begin + PATIENCE_MS) {
            bench_die("'%s' is not served: %s", string, odbc_error());
        }
    } while (!good);
    return trouble_now() - begin;
}

/* All is as it should be, and the fleet knows. */
static void calm_down(void)
{
    double end = trouble_now() + 3000;

    until(STRICT, WHERE, true, trouble_now());
    while (trouble_now() < end) { /* and has been up for a while */
        until(HINT, WHERE, true, trouble_now());
        rest_ms(20);
    }
}

/* ---- the figures --------------------------------------------------------- */

/* How long until a session in hint is served, and its SQL, if any. */
static void struck(int blow, const char *figure, const char *sql)
{
    double begin;

    calm_down();
    begin = trouble_now();
    strike("n2", blow);
    bench_say(FIGURE, figure, "ms", until(HINT, sql, false, begin));
}

static void crash(void)
{
    struck(SIGKILL, "crash, until its keys are answered in hint", WHERE);
}

static void *promote(void *unused)
{
    make("promote", "n2s1");
    return unused;
}

/* n2 is down. */
static void promotion(void)
{
    static unsigned id;
    SQLHDBC standby = bench_open(trouble_env, "DSN=n2s1;UID=postgres");
    pthread_t promoting;
    char sql[100];
    double begin;

    pthread_create(&promoting, NULL, promote, NULL);
    while (strcmp(odbc_value(standby, "SELECT pg_is_in_recovery()::int"),
                  "0") != 0) {
        rest_ms(2);
    }
    begin = trouble_now();
    snprintf(sql, sizeof sql, "INSERT INTO orders VALUES (1500, %u)",
             1000000 + id++);
    bench_say(FIGURE, "promotion, until a row is written in strict", "ms",
              until(STRICT, sql, false, begin));
    odbc_close(standby);
    pthread_join(promoting, NULL);
    make("revive", "n2");
    make("promote", "n2");
    make("revive", "n2s1");
}

static void hang(void)
{
    struck(SIGSTOP, "hang, until a session is given another instance", NULL);
    strike("n2", SIGCONT);
}

int main(int argc, char **argv)
{
    unsigned long rounds = bench_number(argc, argv, 1, "rounds");
    SQLHDBC anchor;

    trouble_env = odbc_env(SQL_OV_ODBC3);
    anchor = bench_open(trouble_env, "DSN=orders-tcp;AffinityKey=500");
    for (unsigned long n = 0; n < rounds; n++) {
        crash();
        promotion();
        hang();
    }
    odbc_close(anchor);
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return 0;
}
