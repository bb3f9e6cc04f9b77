/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * At exit: idle links are closed politely, within a bounded time, and no
 * helper thread is left inside an inner driver whose libraries are being torn
 * down (design §8).  A forked child has no fleets of its own to close unless
 * it used some.
 *
 * The handler must run before OpenSSL's, so it is registered when the first
 * inner link is open: what is registered last runs first (rules §15).
 */
#include "autoconf.h"

#include "pool_exit.h"

#include <pthread.h>
#include <stdlib.h>

#include "event.h"
#include "fleet.h"
#include "keeper.h"
#include "keeper_clock.h"
#include "pool.h"

enum { EXIT_MS = 1000 };

static void at_exit(void)
{
    uint32_t count;
    struct fleet **fleets = fleet_all(&count);
    uint64_t until = clock_ns() + EXIT_MS * NS_PER_MS;

    keeper_clock_stop(until);
    for (uint32_t i = 0; i < count; i++) {
        login_retire_all(fleets[i]);
    }
    keeper_finish(until);
    for (uint32_t i = 0; i < count; i++) {
        events_write(fleets[i]->events);
        fleet_release(fleets[i]);
    }
    free(fleets);
}

static void register_handler(void)
{
    atexit(at_exit);
}

void pool_close_at_exit(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_handler);
}
