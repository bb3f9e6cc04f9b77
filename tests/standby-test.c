/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Groups: a primary with its standby each.  No session that may write is on a
 * standby, in any mode and however full the primaries are; a primary that is
 * down makes strict say so, and of the standby why it does not serve; a
 * promoted standby takes its place, asked for (REFRESH AFFINITY) or not; a
 * leaf that has moved is found at its new owner; of two primaries the one on
 * the higher timeline has the group, and the sessions of the other are cut off.
 *
 * On a sandbox of its own, of two groups; leaves orders_n1 (keys 0 to 999) on
 * n1, orders_n2 (1000 to 1999) on n2.
 */
#include "autoconf.h"

#include "expect.h"
#include "odbc_tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLEET "DSN=orders;ConnectTimeout=2000;CheckTimeout=1000;PoolTrust=0"
#define OF_N1 FLEET ";AffinityMode=strict;AffinityKey=500"
#define OF_N2 FLEET ";AffinityMode=strict;AffinityKey=1500"
#define WHERE "SELECT current_setting('cluster_name')"

static SQLHDBC anchor;

static bool is_standby(SQLHDBC dbc)
{
    return strcmp(odbc_value(dbc, "SELECT pg_is_in_recovery()::int"), "0") != 0;
}

/* A session there before long; until then none that is elsewhere. */
static void lands_in_time(const char *name, const char *string,
                          const char *instance)
{
    double end = trouble_now() + 20000;
    struct trouble_try t = { 0 };
    char where[64] = "";
    unsigned refused = 0;

    do {
        if (trouble_try(&t, string)) {
            snprintf(where, sizeof where, "%.60s", odbc_value(t.dbc, WHERE));
        } else {
            refused++;
        }
        odbc_close(t.dbc);
    } while (!t.dbc && trouble_now() < end);
    tap_ok(strcmp(where, instance) == 0, name, "on '%s' by '%s': %s", where,
           t.verdict, t.records);
    printf("# after %u refusals\n", refused);
}

static void hold_anchor(void)
{
    odbc_close(anchor);
    anchor = odbc_open(trouble_env, OF_N1, false);
    tap_ok(anchor && trouble_await(trouble_complete, anchor, 10000),
           "the topology is known", "%s", odbc_error());
}

/* ---- who may write ------------------------------------------------------- */

/* More sessions than the primaries have links for. */
static void try_writers(void)
{
    static const char *const modes[] = { "hint", "prefer", "strict" };
    static const char *const keys[] = { "500", "1500", "" };
    enum { SESSIONS = 8 };

    for (int m = 0; m < 3; m++) {
        for (int k = 0; k < 3; k++) {
            struct trouble_try t[SESSIONS];
            unsigned served = 0, wrong = 0, refused = 0;
            char string[300], name[200];

            memset(t, 0, sizeof t);
            snprintf(string, sizeof string,
                     "DSN=orders;PoolMax=2;PoolWait=200;"
                     "AffinityMode=%s;AffinityKey=%s",
                     modes[m], keys[k]);
            for (int i = 0; i < SESSIONS; i++) {
                trouble_try_begin(&t[i], string);
            }
            for (int i = 0; i < SESSIONS; i++) {
                trouble_try_end(&t[i]);
                served += t[i].dbc != SQL_NULL_HDBC;
                wrong += t[i].dbc && is_standby(t[i].dbc);
                refused += strncmp(t[i].records, "HYT00 29 ", 9) == 0;
            }
            snprintf(name, sizeof name,
                     "%s, key '%s': writers wait rather than use a standby",
                     modes[m], keys[k]);
            tap_ok(served > 0 && wrong == 0 && refused > 0 &&
                       served + refused == SESSIONS,
                   name, "%u served, %u on a standby, %u refused: %s", served,
                   wrong, refused, t[0].records);
            for (int i = 0; i < SESSIONS; i++) {
                odbc_close(t[i].dbc);
            }
        }
    }
}

/* ---- a primary that is down ---------------------------------------------- */

static void try_crash(void)
{
    struct trouble_try t = { 0 };
    const char *refresh;
    bool ok;

    hold_anchor();
    expect_lands("strict is with the primary", OF_N2, "n2");
    tap_ok(trouble_make("crash", "n2"), "n2 crashes", "see above");
    ok = trouble_try(&t, OF_N2);
    tap_ok(!ok && strncmp(t.records, "08001 28 ", 9) == 0,
           "strict fails with 08001 native 28", "on '%s': %s", t.instance,
           t.records);
    tap_ok(strstr(t.records, " n2: ") && strstr(t.records, "n2s1: links") &&
               strstr(t.records, "a standby, which cannot write") &&
               strstr(t.records, "n1: not the owner"),
           "and names the standby and why it does not serve", "%s", t.records);
    odbc_close(t.dbc);
    expect_lands("hint is with the other primary",
                 FLEET ";AffinityMode=hint;AffinityKey=1500", "n1");
    expect_lands("and so is prefer",
                 FLEET ";AffinityMode=prefer;AffinityKey=1500", "n1");
    expect_lands("other keys are where they were", OF_N1, "n1");

    tap_ok(trouble_make("promote", "n2s1"), "n2s1 is promoted", "see above");
    refresh = odbc_value(anchor, "REFRESH AFFINITY");
    tap_ok(strncmp(refresh, "error", 5) != 0, "REFRESH AFFINITY", "%s",
           odbc_error());
    expect_lands("strict is with the promoted standby", OF_N2, "n2s1");
    expect_lands("other keys are where they were, still", OF_N1, "n1");
    trouble_try(&t, OF_N2);
    tap_ok(t.dbc && odbc_run(t.dbc, "INSERT INTO orders_n2 VALUES (1501, 77)"),
           "and can write there", "%s%s", t.records, odbc_error());
    odbc_close(t.dbc);
}

/* Back to n2, without a word to the fleet. */
static void try_switch_back(void)
{
    tap_ok(trouble_make("revive", "n2"), "n2 joins n2s1 as a standby",
           "see above");
    expect_lands("strict stays with the primary", OF_N2, "n2s1");
    tap_ok(trouble_make("promote", "n2"), "n2 is promoted", "see above");
    lands_in_time("strict finds the new primary by itself", OF_N2, "n2");
    tap_ok(trouble_make("revive", "n2s1"), "n2s1 is a standby again",
           "see above");
    expect_lands("strict is still with the primary", OF_N2, "n2");
}

/* ---- a leaf that moves --------------------------------------------------- */

static void try_move(void)
{
    const char *refresh;

    hold_anchor();
    tap_ok(trouble_make("move", "orders_n1 n2"), "orders_n1 moves to n2",
           "see above");
    refresh = odbc_value(anchor, "REFRESH AFFINITY");
    tap_ok(strncmp(refresh, "error", 5) != 0, "REFRESH AFFINITY after it", "%s",
           odbc_error());
    expect_lands("strict is with the new owner", OF_N1, "n2");
    expect_lands("and so is hint", FLEET ";AffinityMode=hint;AffinityKey=500",
                 "n2");
    expect_lands("keys that have not moved have their owner", OF_N2, "n2");
    expect_lands("and those of DEFAULT",
                 FLEET ";AffinityMode=strict;AffinityKey=-1", "n1");
}

/* ---- two primaries ------------------------------------------------------- */

static char refusal[400]; /* of the session that is held on n2 */

static bool is_cut_off(void *held)
{
    bool cut_off = strncmp(odbc_value(held, WHERE), "n2", 2) != 0;

    snprintf(refusal, sizeof refusal, "%.399s",
             cut_off ? odbc_error() : "n2");
    return cut_off;
}

/* n2s1 is promoted behind everybody's back, and n2 goes on. */
static void try_split(void)
{
    SQLHDBC held, direct;

    hold_anchor();
    held = odbc_open(trouble_env, OF_N2, false);
    tap_is("split: a session on n2", odbc_value(held, WHERE), "n2");
    direct = odbc_open(trouble_env, "DSN=n2s1;UID=postgres", false);
    tap_is("split: n2s1 is promoted, too",
           odbc_value(direct, "SELECT pg_promote()::int"), "1");
    odbc_close(direct);
    tap_ok(trouble_await(is_cut_off, held, 10000),
           "split: the session on n2 is cut off", "it is on %s", refusal);
    tap_ok(strncmp(refusal, "08S01 ", 6) == 0 &&
               strstr(refusal, "no longer the primary") &&
               strstr(refusal, "n2s1"),
           "split: and told why", "%s", refusal);
    odbc_close(held);
    for (int i = 0; i < 3; i++) {
        expect_lands("split: new ones are with the higher timeline", OF_N2,
                     "n2s1");
    }
}

static char folder[] = "/tmp/affinity-standby-XXXXXX";

static void stop_sandbox(void)
{
    trouble_make("stop", NULL);
    rmdir(folder);
}

/* Asked to end early: the sandbox goes as well. */
static void end_early(int number)
{
    (void)number;
    exit(1);
}

int main(void)
{
    if (!mkdtemp(folder)) {
        tap_ok(false, "a folder for a sandbox", "%s", folder);
        return tap_end();
    }
    trouble_choose(folder);
    atexit(stop_sandbox);
    signal(SIGTERM, end_early);
    signal(SIGINT, end_early);
    if (!trouble_make("start", "--instances 2 --standbys 1") ||
        !trouble_use_dsns()) {
        tap_ok(false, "a sandbox with standbys", "see above");
        return tap_end();
    }
    trouble_env = odbc_env(SQL_OV_ODBC3);
    try_writers();
    try_crash();
    try_switch_back();
    try_move();
    try_split();
    odbc_close(anchor);
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return tap_end();
}
