/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who opens links (PoolCreate), as sessions meet it: strict whose owner is not
 * learnt (facts A1.6), what bounds which wait (rules §3.3), an instance that is
 * full, and 200 sessions that wait at one which comes back.
 */
#include "autoconf.h"

#include "expect.h"
#include "odbc_tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKGROUND ";PoolCreate=background"
#define BORROWER   ";PoolCreate=borrower"

/* Each instance tells what is its own and nothing of the others; where nothing
   is known, the first listed is the choice. */
#define ASKED \
    "DSN=orders;AffinityTable=;CheckInterval=0;ConnectTimeout=60000;" \
    "LoadBalance=failover;" \
    "AffinityQuery={SELECT 'range', (n - 1) * 1000, n * 1000 FROM (SELECT " \
    "substr(current_setting('cluster_name'), 2)::int AS n) AS me}"

/* ---- an owner that is not learnt ------------------------------------------ */

static void lands_off_n2(const char *name, const char *string,
                         const char *words)
{
    struct trouble_try t = { 0 };

    trouble_try(&t, string);
    tap_ok(t.dbc && strcmp(t.instance, "n2") != 0 &&
               strstr(t.verdict, words) != NULL,
           name, "on '%s', %s%s", t.instance, t.verdict, t.records);
    odbc_close(t.dbc);
}

static void try_unlearnt(void)
{
    struct trouble_try t = { 0 };

    printf("# an owner that is not learnt\n");
    tap_ok(trouble_make("pause", "n2"), "unlearnt: n2 hangs", "see above");
    expect_fails("unlearnt: background, strict: HYT00 native 29", &t,
                 ASKED BACKGROUND STRICT OWNED_BY_N2 ";PoolWait=700",
                 "HYT00 29 ", "the owner is not learnt yet",
                 700 + 5000 /* the first of the process */);
    tap_ok(t.ms >= 690, "unlearnt: after PoolWait", "%.0f ms", t.ms);
    expect_fails("unlearnt: and so it stays", &t,
                 ASKED BACKGROUND STRICT OWNED_BY_N2 ";PoolWait=700",
                 "HYT00 29 ", "key 1500", 700 + EXPECT_SLACK);
    expect_fails("unlearnt: PoolWait=0 does not wait for it", &t,
                 ASKED BACKGROUND STRICT OWNED_BY_N2 ";PoolWait=0",
                 "HYT00 29 ", "key 1500", EXPECT_SLACK);
    lands_off_n2("unlearnt: background, hint goes elsewhere",
                 ASKED BACKGROUND HINT OWNED_BY_N2 ";PoolWait=700",
                 "owner unknown");
    lands_off_n2("unlearnt: borrower, strict opens anywhere and says so",
                 ASKED BORROWER STRICT OWNED_BY_N2 ";PoolWait=700",
                 "opened: owner not learnt yet: strict opens anywhere");
    tap_ok(trouble_make("resume", "n2"), "unlearnt: n2 goes on", "see above");
    expect_lands("unlearnt: background, strict is with the owner then",
                 ASKED BACKGROUND STRICT OWNED_BY_N2 ";PoolWait=60000", "n2");
    expect_lands("unlearnt: borrower, the same request as well",
                 ASKED BORROWER STRICT OWNED_BY_N2 ";PoolWait=60000", "n2");
}

/* ---- what bounds which wait ------------------------------------------------ */

#define BOUNDED \
    "DSN=orders;CheckInterval=0;PoolMax=2;PoolWait=600;ConnectTimeout=1500"

static void try_bounds(const char *create)
{
    struct trouble_try t = { 0 }, held[2] = { 0 };
    char fleet[200], strict[300];

    printf("# bounds, %s\n", create + 1);
    snprintf(fleet, sizeof fleet, BOUNDED "%s", create);
    snprintf(strict, sizeof strict, "%s" STRICT OWNED_BY_N2, fleet);
    tap_ok(trouble_warm(fleet) && trouble_try(&held[0], strict),
           "bounds: the fleet is known, n2's link in use", "%s %s",
           odbc_error(), held[0].records);
    tap_ok(trouble_make("pause", "n2"), "bounds: n2 hangs", "see above");
    /* the inner driver has it in whole seconds, and so half a one later */
    expect_fails("bounds: an open has ConnectTimeout, then HYT01", &t, strict,
                 "HYT01 ", "key 1500", 1500 + EXPECT_SLACK);
    tap_ok(t.ms >= 1400, "bounds: which is longer than PoolWait", "%.0f ms",
           t.ms);
    t.login_timeout = 1;
    expect_fails("bounds: or the login time-out", &t, strict, "HYT01 ",
                 "key 1500", 1000 + EXPECT_SLACK);
    tap_ok(trouble_make("resume", "n2"), "bounds: n2 goes on", "see above");
    odbc_close(held[0].dbc);
    for (int i = 0; i < 2; i++) {
        trouble_await(trouble_quiet, trouble_anchor, 10000);
        trouble_try(&held[i], strict);
    }
    expect_fails("bounds: what is busy has PoolWait, then HYT00 native 29", &t,
                 strict, "HYT00 29 ", "full", 600 + EXPECT_SLACK);
    tap_ok(held[0].dbc && held[1].dbc, "bounds: two sessions were served",
           "%s%s", held[0].records, held[1].records);
    odbc_close(held[0].dbc);
    odbc_close(held[1].dbc);
    trouble_cool();
}

/* ---- an instance that is full ------------------------------------------------ */

#define FULL "DSN=orders;ConnectTimeout=2000"

static bool on_n2(const char *sql)
{
    SQLHDBC dbc = odbc_open(trouble_env, "DSN=n2;UID=postgres", false);
    bool ok = dbc && odbc_run(dbc, sql);

    odbc_close(dbc);
    return ok;
}

static bool has_failed(void *unused)
{
    struct trouble_pools p;

    (void)unused;
    return trouble_pools(trouble_anchor, "n2", false, &p) && p.failed > 0;
}

/* By sessions that are none of ours, so that none of our links comes back. */
static void try_full(void)
{
    struct trouble_try t = { 0 };
    struct trouble_pools p = { 0 };
    SQLHDBC direct;

    printf("# an instance that is full, and not by us\n");
    tap_ok(trouble_warm(FULL) &&
               on_n2("CREATE ROLE lone LOGIN CONNECTION LIMIT 1"),
           "full: a role with one connection", "%s", odbc_error());
    direct = odbc_open(trouble_env, "DSN=n2;UID=lone", false);
    tap_ok(direct, "full: which is taken", "%s", odbc_error());
    trouble_try_begin(&t, FULL STRICT OWNED_BY_N2 ";UID=lone;PoolWait=60000");
    tap_ok(trouble_await(has_failed, NULL, 30000), "full: n2 says so", "%s",
           odbc_error());
    odbc_close(direct);
    trouble_try_end(&t);
    tap_ok(t.dbc && strcmp(t.instance, "n2") == 0,
           "full: it is asked again by itself", "after %.0f ms: %s", t.ms,
           t.records);
    trouble_pools(trouble_anchor, "n2", false, &p);
    tap_ok(p.failed <= 6, "full: now and then", "%u times in %.0f ms",
           p.failed, t.ms);
    odbc_close(t.dbc);
    trouble_cool();
    on_n2("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
          "WHERE usename = 'lone'");
    tap_ok(on_n2("DROP ROLE lone"), "full: the role is gone", "%s",
           odbc_error());
}

/* ---- an instance that comes back -------------------------------------------- */

enum { SESSIONS = 200, MOST = 25 };
#define CROWD \
    "DSN=orders;PoolMax=25;PoolWait=120000;ConnectTimeout=120000;" \
    "CheckInterval=0;CheckTimeout=60000" STRICT

static atomic_uint served;

static void *come(void *unused)
{
    SQLHDBC dbc = odbc_open(trouble_env, CROWD OWNED_BY_N2, false);

    if (dbc && odbc_run(dbc, "SELECT 1")) {
        atomic_fetch_add(&served, 1);
    }
    odbc_close(dbc);
    return unused;
}

static bool all_wait(void *unused)
{
    struct trouble_pools p;

    (void)unused;
    return trouble_pools(trouble_anchor, "n1", true, &p) &&
           p.waiting >= SESSIONS;
}

static void try_crowd(void)
{
    pthread_t threads[SESSIONS];
    struct trouble_pools p = { 0 };

    printf("# %d sessions at an instance that comes back\n", SESSIONS);
    trouble_anchor = odbc_open(trouble_env, CROWD ";AffinityKey=500", false);
    tap_ok(trouble_anchor &&
               trouble_await(trouble_complete, trouble_anchor, 30000) &&
               odbc_run(trouble_anchor, "REFRESH AFFINITY LINKS") &&
               trouble_await(trouble_quiet, trouble_anchor, 30000),
           "crowd: the fleet is known, and nothing is idle", "%s",
           odbc_error());
    tap_ok(trouble_make("pause", "n2"), "crowd: n2 hangs", "see above");
    for (int i = 0; i < SESSIONS; i++) {
        pthread_create(&threads[i], NULL, come, NULL);
    }
    tap_ok(trouble_await(all_wait, NULL, 60000), "crowd: all wait", "%s",
           odbc_error());
    trouble_pools(trouble_anchor, "n2", true, &p);
    tap_ok(p.opening <= MOST, "crowd: for no more links than there may be",
           "%u", p.opening);
    tap_ok(trouble_make("resume", "n2"), "crowd: n2 goes on", "see above");
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(threads[i], NULL);
    }
    tap_ok(served == SESSIONS, "crowd: all are served", "%u", served);
    trouble_await(trouble_quiet, trouble_anchor, 30000);
    trouble_pools(trouble_anchor, "n2", true, &p);
    tap_ok(p.opened <= MOST + 2 && p.failed == 0,
           "crowd: over no more connections than wanted, none in vain",
           "%u opened, %u failed", p.opened, p.failed);
    trouble_cool();
}

int main(void)
{
    trouble_env = odbc_env(SQL_OV_ODBC3);
    try_unlearnt();
    try_bounds(BACKGROUND);
    try_bounds(BORROWER);
    try_full();
    try_crowd();
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return tap_end();
}
