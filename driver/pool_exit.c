/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * At exit: idle links are closed politely, within a bounded time, and no
 * helper thread is left inside an inner driver whose libraries are being torn
 * down (design §8): what has not come back by itself soon, on an instance that
 * hangs or is slow, is made to (link_wait.h).  A forked child has no fleets of
 * its own to close unless it used some.
 *
 * The handler must run before those of the inner drivers' libraries, OpenSSL's
 * above all: what is registered last runs first (rules §15).  So it is
 * registered when the first link of an inner driver is open, and anew for each
 * driver that is loaded later; the first one that runs does it all.
 */
#include "autoconf.h"

#include "pool_exit.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "event.h"
#include "fleet.h"
#include "fleet_log.h"
#include "inner.h"
#include "keeper.h"
#include "keeper_clock.h"
#include "link_wait.h"
#include "login.h"

enum {
    EXIT_MS = 1000,
    POLITE_MS = 250, /* of them, in which helpers may end what they are at */
    AGAIN_MS = 10
};

/* Has the calls that helpers wait in come back, again and again, since a driver
   that loses one connection may try another. */
static void end_waits(uint64_t until)
{
    pid_t tids[KEEPER_THREADS_MAX];

    while (clock_ns() < until &&
           !keeper_await(clock_ns() + AGAIN_MS * NS_PER_MS)) {
        for (unsigned n = keeper_busy(tids); n-- > 0;) {
            link_wait_end(tids[n]);
        }
    }
}

static void at_exit(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    struct fleet **fleets;
    uint64_t until;
    uint32_t count;

    if (atomic_flag_test_and_set(&done)) {
        return;
    }
    until = clock_ns() + EXIT_MS * NS_PER_MS;
    keeper_clock_stop(until);
    fleets = fleet_all(&count);
    for (uint32_t i = 0; i < count; i++) {
        login_retire_all(fleets[i]);
        fleet_log(fleets[i]);
    }
    keeper_await(clock_earlier(until, clock_ns() + POLITE_MS * NS_PER_MS));
    for (uint32_t i = 0; i < count; i++) {
        fleet_end_files(fleets[i]); /* what comes of the rest is no news */
    }
    end_waits(until);
    keeper_finish(0);
    for (uint32_t i = 0; i < count; i++) {
        fleet_release(fleets[i]);
    }
    free(fleets);
}

void pool_close_at_exit(void)
{
    static atomic_uint registered; /* for so many drivers */
    unsigned loaded = inner_loaded(), before = atomic_load(&registered);

    if (before < loaded &&
        atomic_compare_exchange_strong(&registered, &before, loaded)) {
        atexit(at_exit);
    }
}
