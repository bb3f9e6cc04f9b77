/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * fleet_drain: what DRAIN and RESUME leave when both are said at once.
 */
#include "autoconf.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "event.h"
#include "fleet.h"
#include "fleet_drain.h"

static struct instance instance = { .name = "n1", .dsn = "n1" };
static struct route_member member;
static struct fleet fleet = { .count = 1, .instances = &instance,
                              .members = &member };

static pthread_t resuming;
static bool meets; /* somebody resumes while it is being drained */

static void *resume(void *unused)
{
    (void)unused;
    assert_true(fleet_drain(&fleet, 0, false));
    return NULL;
}

bool __real_fleet_set_drained(struct fleet *of, uint32_t i, bool drained);
bool __wrap_fleet_set_drained(struct fleet *of, uint32_t i, bool drained);
bool __wrap_fleet_set_drained(struct fleet *of, uint32_t i, bool drained)
{
    if (meets) {
        meets = false;
        assert_int_equal(pthread_create(&resuming, NULL, resume, NULL), 0);
        usleep(100000); /* long enough to be done, if nothing holds it up */
    }
    return __real_fleet_set_drained(of, i, drained);
}

static bool is_drained(void)
{
    return atomic_load(&member.drained);
}

static void it_is_as_was_said_last(void **state)
{
    (void)state;
    assert_true(fleet_drain(&fleet, 0, true));
    assert_true(is_drained());
    fleet_drain_new(&fleet);
    assert_true(is_drained());
    assert_true(fleet_drain(&fleet, 0, false));
    assert_false(is_drained());
}

/* No fleet keeps a word that was taken back. */
static void two_at_once_leave_one_word(void **state)
{
    (void)state;
    meets = true;
    assert_true(fleet_drain(&fleet, 0, true));
    pthread_join(resuming, NULL);
    assert_false(is_drained()); /* RESUME was said last */
}

static int begin(void **state)
{
    (void)state;
    mutex_init(&fleet.lock, LOCK_FLEET);
    fleet.events = events_new("", LOG_IS_ERROR);
    return fleet.events ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    events_free(fleet.events);
    mutex_destroy(&fleet.lock);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_as_was_said_last),
        cmocka_unit_test(two_at_once_leave_one_word),
    };

    return cmocka_run_group_tests_name("fleet_drain", tests, begin, end);
}
