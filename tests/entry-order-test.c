/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Many sessions at once at an instance that does not answer and then comes
 * back, tried on the built driver over the fake inner driver, which knows how
 * many connects are under way: they do not run at it, and all are served.
 */
#include "autoconf.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake/fake_use.h"
#include "keeper.h"

enum { SESSIONS = 200, MOST = 20 };

static struct inner_calls odbc;
static const struct fake_api *fake;
static SQLHENV env;
static char control[] = "/tmp/affinity-control-XXXXXX";

static void pause_ms(long ms)
{
    struct timespec time = { 0, ms * 1000000 };

    nanosleep(&time, NULL);
}

static atomic_uint begun, served;
static const char *create; /* the keyword's value */

static void *connect_once(void *unused)
{
    SQLHDBC dbc = NULL;
    char string[300];

    snprintf(string, sizeof string,
             "DSN=wrapped;PoolMax=%d;PoolWait=60000;ConnectTimeout=60000;"
             "CheckInterval=0;PoolCreate=%s;FakeControl=%s", MOST, create,
             control);
    odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    atomic_fetch_add(&begun, 1);
    if (SQL_SUCCEEDED(odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)string,
                                            SQL_NTS, NULL, 0, NULL,
                                            SQL_DRIVER_NOPROMPT))) {
        atomic_fetch_add(&served, 1);
        odbc.SQLDisconnect(dbc);
    }
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    return unused;
}

static void nobody_runs_at_it(const char *who_creates)
{
    pthread_t threads[SESSIONS];
    unsigned most;

    create = who_creates;
    begun = served = 0;
    do { /* what the one before has left to the pool may still be opened */
        pause_ms(1);
        fake->most_connecting(1);
    } while (fake->most_connecting(1) > 0);
    use_control(control, "FakeHang=1\n");
    for (int i = 0; i < SESSIONS; i++) {
        pthread_create(&threads[i], NULL, connect_once, NULL);
    }
    assert_true(fake->await_hanging(1));
    while (begun < SESSIONS) {
        pause_ms(1);
    }
    pause_ms(300); /* in which nothing happens: the longer, the surer */
    most = fake->most_connecting(0);
    print_message("# %s: %u at once while it hangs\n", create, most);
    assert_int_equal(most, 1);
    use_control(control, "FakeSlow=20\n");
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(threads[i], NULL);
    }
    most = fake->most_connecting(0);
    print_message("# %s: %u at once, %u served\n", create, most, served);
    assert_int_equal(served, SESSIONS);
    assert_in_range(most, 1, KEEPER_LANE_MAX);
    assert_in_range(fake->live(SQL_HANDLE_DBC), 1, 2 * MOST); /* fleets */
}

static void background(void **state)
{
    (void)state;
    nobody_runs_at_it("background");
}

static void borrower(void **state)
{
    (void)state;
    nobody_runs_at_it("borrower");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(background),
        cmocka_unit_test(borrower),
    };
    int failed, file = mkstemp(control);

    if (file < 0 || close(file)) {
        return 99;
    }
    use_ini_files();
    use_driver(USE_WIDE, &odbc);
    fake = use_fake(USE_FAKE);
    env = use_environment(&odbc, SQL_OV_ODBC3);
    failed = cmocka_run_group_tests_name("entry_order", tests, NULL, NULL);
    odbc.SQLFreeHandle(SQL_HANDLE_ENV, env);
    unlink(control);
    use_no_ini_files();
    return failed + (fake->mistakes() != 0);
}
