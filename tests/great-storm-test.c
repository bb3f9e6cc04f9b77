/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The great storm: sixteen threads at random keys, in all modes, while the
 * primaries of three groups crash, hang, fail over, are superseded without
 * knowing it and handed over, while leaves move and instances are drained and
 * disabled.  What must hold all the time is in storm/rule.h; afterwards every
 * row that was acknowledged is there exactly once, what was refused is not, and
 * nothing is left of links, threads and descriptors.
 *
 * It lasts until there was occasion to break each rule, however slow the machine
 * is; if there was none for long, that is a failure.
 *
 * usage: great-storm-test [--seconds=N] [--seed=N] [--long]
 *   --long: what needs many sessions to be told from chance is judged as well
 *
 * On a sandbox of its own, over TCP.  storm/run makes it long; the same seed
 * makes the same blows, but not at the same moments.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "storm/ledger.h"
#include "storm/metronome.h"
#include "storm/muster.h"
#include "storm/rider.h"
#include "storm/rule.h"
#include "storm/storm.h"
#include "storm/weather.h"
#include "trouble.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned seed, seconds = 45 * (STORM_SLOW > 1 ? 2 : 1);
static bool is_long;
static char folder[] = "/tmp/affinity-storm-XXXXXX";
static char map[60], log_file[60], fleet[500];

static bool parse(int argc, char **argv)
{
    seed = (unsigned)time(NULL) * 2654435761u;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--seconds=", 10) == 0) {
            seconds = (unsigned)strtoul(argv[i] + 10, NULL, 10);
        } else if (strncmp(argv[i], "--seed=", 7) == 0) {
            seed = (unsigned)strtoul(argv[i] + 7, NULL, 10);
        } else if (strcmp(argv[i], "--long") == 0) {
            is_long = true;
        } else {
            fprintf(stderr, "unknown argument '%s'\n", argv[i]);
            return false;
        }
    }
    return seconds > 0;
}

/* ---- the fleet ----------------------------------------------------------- */

/* Links are worn out soon, so that they are opened and closed all the time;
   the rest is another one for each seed. */
static void name_fleet(void)
{
    static const char *const balances[] = { "adaptive", "proportional",
                                            "saturation", "fastest" };
    unsigned state = seed;
    const char *balance = balances[storm_draw(&state, 4)];
    unsigned trust = storm_draw(&state, 3) ? STORM_TRUST : 0;
    unsigned most = storm_draw(&state, 3) ? 20 : STORM_RIDERS;
    unsigned total = storm_draw(&state, 3) ? 0 : 2 * STORM_RIDERS;
    const char *create = storm_draw(&state, 3) ? "background" : "borrower";
    unsigned least = storm_draw(&state, 3);

    snprintf(map, sizeof map, "%s.map", folder);
    snprintf(log_file, sizeof log_file, "%s.log", folder);
    snprintf(fleet, sizeof fleet,
             "DSN=orders-tcp;CheckInterval=%d;CheckTimeout=%d;"
             "ConnectTimeout=%d;PoolWait=%d;PoolTrust=%u;PoolMax=%u;"
             "PoolMaxTotal=%u;LoadBalance=%s;PoolCreate=%s;PoolMin=%u;"
             "PoolMaxReuse=300;"
             "PoolMaxLifetime=20000;PoolIdleTimeout=10000;AffinityMap=%s;"
             "Log=%s;LogLevel=info",
             STORM_INTERVAL, STORM_CHECK, STORM_CONNECT, STORM_WAIT, trust,
             most, total, balance, create, least, map, log_file);
    printf("# %s\n", fleet);
}

/* Libraries are loaded, and what they open stays open. */
static void warm(void)
{
    odbc_close(odbc_open(trouble_env, "DSN=n1-tcp", false));
    trouble_watch_begin();
    trouble_watch_end();
}

static void print_log(void)
{
    FILE *in = fopen(log_file, "r");
    char line[600];

    while (in && fgets(line, sizeof line, in)) {
        printf("# log: %s", line);
    }
    if (in) {
        fclose(in);
    }
}

/* ---- the report ---------------------------------------------------------- */

static void report_weather(const struct weather_sums *w)
{
    unsigned blows = 0;

    for (int b = 0; b < BLOWS; b++) {
        blows += w->blows[b];
    }
    printf("# %u blows; %u times drained, %u disabled, %u culled, %u "
           "refreshed\n",
           blows, w->meddles[MEDDLE_DRAIN], w->meddles[MEDDLE_SHUT],
           w->meddles[MEDDLE_CULL], w->meddles[MEDDLE_REFRESH]);
    tap_ok(blows > 0 && w->failed == 0, "the weather was made as planned",
           "%u blows, %u failures", blows, w->failed);
}

static void report_riders(const struct rider_sums *r)
{
    enum { ENOUGH = 3000 }; /* for a percentile of 99.9 */
    static const char *const modes[] = { "hint", "prefer", "strict" };
    const char *name = "an instance that hangs does not delay others";
    double ratio = r->calm > 0 ? r->paused / r->calm : 0;

    for (int m = 0; m < 3; m++) {
        printf("# %s: %u served, %u refused, slowest %.0f ms\n", modes[m],
               r->served[m], r->refused[m], r->slowest[m]);
        tap_ok(r->served[m] > STORM_RIDERS, modes[m], "%u served",
               r->served[m]);
    }
    printf("# %u strict before their owner was learnt, %u sessions cut, %u "
           "other failures of statements; the machine was %.0f ms late\n",
           r->unlearnt, r->cut, r->failed, metronome_worst());
    printf("# connects, 99.9th percentile: %.2f ms in calm (%u), %.2f ms (%u) "
           "while another group's primary hangs: %.2f x\n",
           r->calm, r->calm_count, r->paused, r->paused_count, ratio);
    if (is_long) {
        tap_ok(r->calm_count > ENOUGH && r->paused_count > ENOUGH && ratio <= 2,
               name, "%.2f x, %u and %u connects", ratio, r->calm_count,
               r->paused_count);
    } else {
        tap_skip(name, "times are judged by tests/storm/run only");
    }
}

static void report_rows(void)
{
    struct ledger_sums s;

    tap_ok(ledger_count(), "the rows are counted", "%s", odbc_error());
    ledger_sum(&s);
    printf("# rows: %u acknowledged, %u of them gone with their primary; %u "
           "refused; %u of unknown outcome, %u of them there\n",
           s.rows[ROW_DONE], s.gone, s.rows[ROW_REFUSED], s.rows[ROW_UNKNOWN],
           s.unknown_there);
    tap_ok(s.rows[ROW_DONE] > STORM_RIDERS, "rows are written", "%u",
           s.rows[ROW_DONE]);
    tap_ok(s.lost == 0, "every acknowledged row is there", "%u lost: %s",
           s.lost, s.error);
    tap_ok(s.doubled == 0, "none is there twice", "%u: %s", s.doubled, s.error);
    tap_ok(s.ghosts + s.strange == 0, "what was refused is not there",
           "%u are, %u are nobody's: %s", s.ghosts, s.strange, s.error);
}

/* It goes on until each rule was tried, if that can be had. */
static void storm(void)
{
    enum { MORE_MS = 120000 };
    struct weather_sums weather;
    struct rider_sums riders;

    tap_ok(weather_clear(fleet, map), "a map file", "%s", map);
    warm();
    muster_begin();
    metronome_begin();
    riders_begin(fleet, seed);
    weather_begin(seed);
    storm_rest(seconds * 1000);
    trouble_await(rule_tried_all, NULL, MORE_MS);
    weather_end(&weather);
    storm_rest(STORM_NOTICE); /* and some calm at the end */
    riders_end(&riders);
    metronome_end();
    report_weather(&weather);
    report_riders(&riders);
    rule_report();
    report_rows();
    muster_end(fleet);
}

/* ---- the sandbox -----------------------------------------------------------
 */

static void stop_sandbox(void)
{
    trouble_make("stop", NULL);
    rmdir(folder);
    unlink(map);
    unlink(log_file);
}

/* Asked to end early: the sandbox goes as well. */
static void end_early(int number)
{
    (void)number;
    exit(1);
}

int main(int argc, char **argv)
{
    int status;

    if (!parse(argc, argv)) {
        return 2;
    }
    if (!mkdtemp(folder)) {
        tap_ok(false, "a folder for a sandbox", "%s", folder);
        return tap_end();
    }
    printf("# --seed=%u --seconds=%u\n", seed, seconds);
    name_fleet();
    trouble_choose(folder);
    atexit(stop_sandbox);
    signal(SIGTERM, end_early);
    signal(SIGINT, end_early);
    if (!trouble_make("start", "--instances 3 --standbys 1") ||
        !trouble_use_dsns()) {
        tap_ok(false, "a sandbox with standbys", "see above");
        return tap_end();
    }
    trouble_env = odbc_env(SQL_OV_ODBC3);
    storm();
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    status = tap_end();
    if (status != 0) {
        print_log();
    }
    return status;
}
