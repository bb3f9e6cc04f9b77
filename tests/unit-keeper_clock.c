/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * keeper_clock: when rounds are made, and when there is a thread at all.  The
 * clock is the test's (skew.h); the test waits for rounds on a condition.
 */
#include "autoconf.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "environment.h"
#include "keeper.h"
#include "keeper_clock.h"
#include "skew.h"

enum { PATIENCE_MS = 20000 };

/* Guards what follows. */
static struct mutex lock = MUTEX_INITIALIZER(LOCK_DIAG);
static struct cond changed;
static unsigned rounds, inside;
static uint64_t next; /* what a round returns; UINT64_MAX = none */
static bool held;     /* a round does not end */
static bool mannerly = true; /* it blocks signals, reads no environment */

static uint64_t make_round(uint64_t now)
{
    uint64_t again;
    sigset_t mask;

    (void)now;
    lock_assert_none();
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    mannerly = mannerly && sigismember(&mask, SIGTERM) &&
               sigismember(&mask, SIGALRM) && !environment_is_allowed();
    mutex_lock(&lock);
    rounds++;
    inside++;
    cond_broadcast(&changed);
    while (held) {
        skew_real_wait(&changed, &lock, UINT64_MAX);
    }
    inside--;
    again = next;
    next = UINT64_MAX;
    mutex_unlock(&lock);
    return again;
}

static void set(uint64_t again, bool hold)
{
    mutex_lock(&lock);
    next = again;
    held = hold;
    cond_broadcast(&changed);
    mutex_unlock(&lock);
}

static unsigned rounds_now(void)
{
    unsigned n;

    mutex_lock(&lock);
    n = rounds;
    mutex_unlock(&lock);
    return n;
}

static void await_rounds(unsigned n)
{
    uint64_t until = skew_real_ns() + PATIENCE_MS * NS_PER_MS;
    bool timely = true;

    mutex_lock(&lock);
    while (rounds < n && timely) {
        timely = skew_real_wait(&changed, &lock, until);
    }
    mutex_unlock(&lock);
    assert_true(timely);
}

static unsigned threads_now(void)
{
    DIR *dir = opendir("/proc/self/task");
    unsigned n = 0;

    assert_non_null(dir);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n - 2; /* . and .. */
}

/* Time passes until there is one thread less: it may still be looking at the
   clock, and says nothing when it ends. */
static void await_end(void)
{
    uint64_t until = skew_real_ns() + PATIENCE_MS * NS_PER_MS;
    unsigned before = threads_now();

    while (threads_now() == before && skew_real_ns() < until) {
        skew_pass(KEEPER_IDLE_MS);
        sched_yield();
    }
    assert_int_equal(threads_now(), before - 1);
}

/* Rules §15. */
static void its_thread_keeps_to_the_manners(void **state)
{
    unsigned before = rounds_now();

    (void)state;
    keeper_clock_wake(0);
    await_rounds(before + 1);
    assert_true(mannerly);
    assert_true(environment_is_allowed()); /* for everybody else */
}

static void a_round_is_made_when_somebody_wants_one(void **state)
{
    unsigned before = rounds_now();

    (void)state;
    keeper_clock_wake(0);
    await_rounds(before + 1);
    keeper_clock_wake(0);
    await_rounds(before + 2);
}

static void a_round_says_when_the_next_is_due(void **state)
{
    unsigned before = rounds_now();

    (void)state;
    set(clock_ns() + 60000 * NS_PER_MS, false);
    keeper_clock_wake(0);
    await_rounds(before + 1);
    skew_pass(59000);
    assert_int_equal(rounds_now(), before + 1);
    skew_pass(1000);
    await_rounds(before + 2);
}

static void the_earliest_wish_counts(void **state)
{
    unsigned before = rounds_now();
    uint64_t now = clock_ns();

    (void)state;
    keeper_clock_wake(now + 60000 * NS_PER_MS);
    keeper_clock_wake(now + 20000 * NS_PER_MS);
    keeper_clock_wake(now + 40000 * NS_PER_MS);
    skew_pass(20000);
    await_rounds(before + 1);
}

static void a_wish_during_a_round_is_kept(void **state)
{
    unsigned before = rounds_now();

    (void)state;
    set(UINT64_MAX, true);
    keeper_clock_wake(0);
    await_rounds(before + 1);
    keeper_clock_wake(0);
    set(UINT64_MAX, false);
    await_rounds(before + 2);
}

static void the_thread_ends_and_comes_back(void **state)
{
    unsigned before = rounds_now();

    (void)state;
    keeper_clock_wake(0);
    await_rounds(before + 1);
    await_end();
    keeper_clock_wake(0);
    await_rounds(before + 2);
}

/* The child has none, and gets its own when it wants one. */
static void a_child_starts_afresh(void **state)
{
    unsigned before = rounds_now();
    int status;
    pid_t child;

    (void)state;
    set(UINT64_MAX, true);
    keeper_clock_wake(0);
    await_rounds(before + 1);
    child = fork(); /* in the middle of a round */
    if (child == 0) {
        cond_init(&changed); /* somebody waited there */
        mutex_init(&lock, LOCK_DIAG);
        set(UINT64_MAX, false);
        keeper_clock_wake(0);
        await_rounds(before + 2);
        _exit(keeper_clock_stop(UINT64_MAX) ? 0 : 1);
    }
    set(UINT64_MAX, false);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The last test: there are no rounds afterwards. */
static void the_end_waits_for_the_round_but_not_for_ever(void **state)
{
    unsigned before = rounds_now();

    (void)state;
    set(UINT64_MAX, true);
    keeper_clock_wake(0);
    await_rounds(before + 1);
    assert_false(keeper_clock_stop(clock_ns()));
    set(UINT64_MAX, false);
    assert_true(keeper_clock_stop(clock_ns() + PATIENCE_MS * NS_PER_MS));
    keeper_clock_wake(0);
    assert_int_equal(rounds_now(), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_thread_keeps_to_the_manners),
        cmocka_unit_test(a_round_is_made_when_somebody_wants_one),
        cmocka_unit_test(a_round_says_when_the_next_is_due),
        cmocka_unit_test(the_earliest_wish_counts),
        cmocka_unit_test(a_wish_during_a_round_is_kept),
        cmocka_unit_test(the_thread_ends_and_comes_back),
        cmocka_unit_test(a_child_starts_afresh),
        cmocka_unit_test(the_end_waits_for_the_round_but_not_for_ever),
    };

    cond_init(&changed);
    next = UINT64_MAX;
    keeper_clock_set(make_round);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
