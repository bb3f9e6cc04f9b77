/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An instance that hangs: its processes are stopped, its sockets accept and
 * never answer.  Sessions that can be served elsewhere are, and soon; sessions
 * for other keys are not delayed; those in strict end by their own deadlines;
 * and what was late joins the pool, or ends (promise 4).
 */
#include "autoconf.h"

#include "expect.h"
#include "odbc_tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIVES_UP "HYT01 |08001 28 "

/* ---- an owner that hangs ------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median time of a connect to a key of n1 and one of n3, in ms. */
static double others_take(const char *fleet)
{
    enum { TIMES_EACH = 15 };
    double took[2 * TIMES_EACH];

    for (int i = 0; i < 2 * TIMES_EACH; i++) {
        struct trouble_try t = { 0 };
        char string[400];

        snprintf(string, sizeof string, "%s" STRICT ";AffinityKey=%s", fleet,
                 i % 2 ? "500" : "2500");
        took[i] = trouble_try(&t, string) ? t.ms : 60000;
        odbc_close(t.dbc);
    }
    qsort(took, 2 * TIMES_EACH, sizeof *took, compare);
    return took[TIMES_EACH];
}

struct wanted {
    const char *instance;
    unsigned idle, opened;
};

/* Has what was late come? */
static bool has_joined(void *arg)
{
    const struct wanted *wanted = arg;
    struct trouble_pools p;

    return trouble_pools(trouble_anchor, wanted->instance, true, &p) &&
           p.opening == 0 && p.closing == 0 && p.reset == 0 &&
           p.idle >= wanted->idle && p.opened > wanted->opened;
}

static void try_pause(const char *dsn)
{
    struct trouble_try t = { 0 }, aside = { 0 };
    char fleet[200], strict[300], hint[300];
    double calm, during, late;

    printf("# a hanging owner, %s\n", dsn);
    snprintf(fleet, sizeof fleet, "DSN=%s" TIMES, dsn);
    snprintf(strict, sizeof strict, "%s" STRICT OWNED_BY_N2, fleet);
    snprintf(hint, sizeof hint, "%s" HINT OWNED_BY_N2, fleet);
    tap_ok(trouble_warm(fleet), "pause: the fleet is known", "%s",
           odbc_error());
    calm = others_take(fleet);
    tap_ok(trouble_make("pause", "n2"), "pause: n2 hangs", "see above");

    expect_elsewhere("pause: hint goes elsewhere within a second", hint, "n2",
                     1000);
    expect_elsewhere("pause: the next one in hint at once", hint, "n2", 150);
    expect_elsewhere("pause: and the next", hint, "n2", 150);
    trouble_watch_begin();
    trouble_try_begin(&aside, strict);
    during = others_take(fleet);
    trouble_try_end(&aside);
    late = trouble_watch_end();
    /* chance; whoever waited for n2 would take 500 ms */
    tap_ok(during <= calm * 5 + 5 + late && during < calm + 450,
           "pause: other keys are not delayed meanwhile",
           "%.2f ms each, %.2f before, the machine was %.0f late", during,
           calm, late);
    /* CheckTimeout for the idle link, ConnectTimeout for a new one */
    tap_ok(!aside.dbc && aside.ms <= 1000 + 2000 + EXPECT_SLACK + late,
           "pause: strict gives up on an idle link that does not answer",
           "after %.0f ms, the machine was %.0f late: %s", aside.ms, late,
           aside.records);
    odbc_close(aside.dbc);
    expect_fails("pause: strict gives up after ConnectTimeout", &t, strict,
                 GIVES_UP, "n2", 2000 + EXPECT_SLACK);
    t.login_timeout = 1;
    expect_fails("pause: strict gives up after SQL_ATTR_LOGIN_TIMEOUT", &t,
                 strict, GIVES_UP, "n2", 1000 + EXPECT_SLACK);
    expect_elsewhere("pause: hint is not delayed by those attempts", hint, "n2",
                     150);

    tap_ok(trouble_make("resume", "n2"), "pause: n2 goes on", "see above");
    expect_lands("pause: strict works again at once", strict, "n2");
    tap_ok(trouble_await(trouble_quiet, trouble_anchor, 10000),
           "pause: what was late ends", "%s", odbc_error());
    expect_lands("pause: hint is with the owner again", hint, "n2");
    trouble_cool();
}

/* A link whose unit has given up joins the pool when it is open at last.  So
   that it has to be opened, all idle links are in use, and no probe opens
   another just before; and ConnectTimeout is long, so that the inner driver
   does not give up before the instance goes on. */
static void try_late(const char *dsn, const char *suffix)
{
    enum { MOST = 4 };
    struct trouble_try held[MOST] = { 0 }, t = { .login_timeout = 1 };
    struct trouble_pools before, during = { 0 };
    char fleet[200], strict[300], name[40];
    struct wanted late = { .instance = name, .idle = 1 };
    int n = 0;

    printf("# a link that is late, %s\n", dsn);
    snprintf(fleet, sizeof fleet,
             "DSN=%s;ConnectTimeout=60000;CheckTimeout=1000;PoolTrust=0;"
             "CheckInterval=0", dsn);
    snprintf(strict, sizeof strict, "%s" STRICT OWNED_BY_N2, fleet);
    snprintf(name, sizeof name, "n2%s", suffix);
    tap_ok(trouble_warm(fleet), "late: the fleet is known", "%s", odbc_error());
    while (trouble_pools(trouble_anchor, name, true, &before) &&
           before.idle > 0 && n < MOST) {
        trouble_try(&held[n++], strict);
    }
    late.opened = before.opened;
    tap_ok(trouble_make("pause", "n2"), "late: n2 hangs", "see above");
    expect_fails("late: strict gives up after SQL_ATTR_LOGIN_TIMEOUT", &t,
                 strict, GIVES_UP, "n2", 1000 + EXPECT_SLACK);
    trouble_pools(trouble_anchor, name, true, &during);
    /* a probe that found none idle may have ordered another */
    tap_ok(before.idle == 0 && during.opening >= 1 &&
               during.opened == before.opened,
           "late: its link is still being opened",
           "%u idle before, %u being opened, %u opened, %u before", before.idle,
           during.opening, during.opened, before.opened);
    tap_ok(trouble_make("resume", "n2"), "late: n2 goes on", "see above");
    tap_ok(trouble_await(has_joined, &late, 10000),
           "late: the link joins the pool", "%s", odbc_error());
    while (n > 0) {
        odbc_close(held[--n].dbc);
    }
    trouble_cool();
}

int main(void)
{
    trouble_env = odbc_env(SQL_OV_ODBC3);
    try_pause("orders");
    try_pause("orders-tcp");
    try_late("orders", "");
    try_late("orders-tcp", "-tcp");
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return tap_end();
}
