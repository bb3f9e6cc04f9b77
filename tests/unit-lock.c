/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * lock: ranks (debug builds), conditions on the monotonic clock, the count of
 * forks, and locks that are taken before a fork.
 */
#include "autoconf.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "lock.h"

/* The children break the order on purpose. */
__attribute__((visibility("default"))) const char *
__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "detect_deadlocks=0";
}

/* Guarded by halves_lock: always equal when it is free. */
static struct mutex halves_lock = MUTEX_INITIALIZER(LOCK_DIAG);
static uint64_t left_half, right_half;
static struct mutex lower_lock = MUTEX_INITIALIZER(LOCK_ENV);

/* In falling rank, which lock_keep_over_fork() has to put in order: debug
   builds would abort in fork() otherwise. */
__attribute__((constructor)) static void keep(void)
{
    lock_keep_over_fork(&halves_lock, LOCK_DIAG);
    lock_keep_over_fork(&lower_lock, LOCK_ENV);
}

/* The signal that ends a child which does this, or 0; its status must be 0
   then. */
static int child_signal(void (*what)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        what();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        return WTERMSIG(status);
    }
    assert_int_equal(status, 0);
    return 0;
}

/* ---- ranks -------------------------------------------------------------------- */

static struct mutex login, login2, fleet, keeper;

static void init_ranks(void)
{
    mutex_init(&login, LOCK_LOGIN);
    mutex_init(&login2, LOCK_LOGIN);
    mutex_init(&fleet, LOCK_FLEET);
    mutex_init(&keeper, LOCK_KEEPER);
}

static void rising(void)
{
    lock_assert_none();
    mutex_lock(&login);
    mutex_lock(&fleet);
    mutex_lock(&keeper);
    mutex_assert_held(&fleet);
    mutex_unlock(&fleet); /* in any order */
    mutex_unlock(&keeper);
    mutex_lock(&keeper);
    mutex_unlock(&keeper);
    mutex_unlock(&login);
    lock_assert_none();
}

static void falling(void)
{
    mutex_lock(&fleet);
    mutex_lock(&login);
}

static void falling_later(void)
{
    mutex_lock(&login);
    mutex_lock(&fleet);
    mutex_lock(&keeper);
    mutex_unlock(&fleet);
    mutex_lock(&fleet); /* a higher one is still held */
}

static void two_of_a_rank(void)
{
    mutex_lock(&login);
    mutex_lock(&login2);
}

static void unlocking_what_is_not_held(void)
{
    mutex_unlock(&login);
}

static void asserting_what_is_not_held(void)
{
    mutex_assert_held(&login);
}

static void calling_out_with_a_lock(void)
{
    mutex_lock(&login);
    lock_assert_none();
}

static void *lock_login(void *unused)
{
    (void)unused;
    mutex_lock(&login);
    return NULL;
}

static void asserting_what_another_holds(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, lock_login, NULL);
    pthread_join(thread, NULL);
    mutex_assert_held(&login);
}

static void ranks_are_taken_in_rising_order(void **state)
{
    (void)state;
    assert_int_equal(child_signal(rising), 0);
#ifdef AFF_DEBUG
    assert_int_equal(child_signal(falling), SIGABRT);
    assert_int_equal(child_signal(falling_later), SIGABRT);
    assert_int_equal(child_signal(two_of_a_rank), SIGABRT);
#else
    (void)falling_later;
    assert_int_equal(child_signal(falling), 0);
    assert_int_equal(child_signal(two_of_a_rank), 0);
#endif
}

static void owners_are_checked_in_debug_builds(void **state)
{
    (void)state;
#ifdef AFF_DEBUG
    assert_int_equal(child_signal(unlocking_what_is_not_held), SIGABRT);
    assert_int_equal(child_signal(asserting_what_is_not_held), SIGABRT);
    assert_int_equal(child_signal(asserting_what_another_holds), SIGABRT);
    assert_int_equal(child_signal(calling_out_with_a_lock), SIGABRT);
#else
    (void)unlocking_what_is_not_held;
    assert_int_equal(child_signal(asserting_what_is_not_held), 0);
    assert_int_equal(child_signal(asserting_what_another_holds), 0);
    assert_int_equal(child_signal(calling_out_with_a_lock), 0);
#endif
}

/* ---- conditions ----------------------------------------------------------------- */

static void the_clock_only_rises(void **state)
{
    uint64_t last = clock_ns();
    (void)state;

    for (int i = 0; i < 100000; i++) {
        uint64_t now = clock_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void a_failure_is_left_alone_longer_each_time(void **state)
{
    static const uint32_t expected[] = { 1000,  2000,  4000, 8000,
                                         16000, 30000, 30000 };
    uint32_t ms = 0;
    (void)state;

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ms = clock_backoff_ms(ms);
        assert_int_equal(ms, expected[i]);
    }
}

static void waiting_ends_when_the_time_is_up(void **state)
{
    struct cond cond;
    uint64_t until = clock_ns() + 20 * NS_PER_MS;
    (void)state;

    cond_init(&cond);
    mutex_lock(&login);
    assert_false(cond_wait(&cond, &login, 0)); /* long past */
    while (cond_wait(&cond, &login, until)) { /* may wake for nothing */
    }
    assert_true(clock_ns() >= until);
    mutex_assert_held(&login); /* held again */
    mutex_unlock(&login);
    lock_assert_none();
    cond_destroy(&cond);
}

struct ball {
    struct mutex lock;
    struct cond moved;
    int side, rounds;
};

static void play(struct ball *ball, int side, uint64_t until)
{
    mutex_lock(&ball->lock);
    while (ball->rounds > 0) {
        while (ball->side != side && ball->rounds > 0) {
            if (!cond_wait(&ball->moved, &ball->lock, until)) {
                abort();
            }
        }
        ball->side = !side;
        ball->rounds--;
        cond_broadcast(&ball->moved);
    }
    mutex_unlock(&ball->lock);
}

static void *play_other_side(void *arg)
{
    play(arg, 1, UINT64_MAX); /* for ever */
    return NULL;
}

static void a_signal_wakes_before_the_time_is_up(void **state)
{
    struct ball ball = { .rounds = 2000 };
    pthread_t other;
    (void)state;

    mutex_init(&ball.lock, LOCK_LOGIN);
    cond_init(&ball.moved);
    assert_int_equal(pthread_create(&other, NULL, play_other_side, &ball), 0);
    play(&ball, 0, clock_ns() + 60000 * NS_PER_MS);
    pthread_join(other, NULL);
    assert_true(ball.rounds <= 0);
    cond_destroy(&ball.moved);
    mutex_destroy(&ball.lock);
}

/* ---- fork ----------------------------------------------------------------------- */

static void count_two_forks(void)
{
    int status = 1;
    pid_t child;

    if (fork_count() != 1) {
        _exit(1);
    }
    child = fork();
    if (child == 0) {
        _exit(fork_count() == 2 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    _exit(status == 0 && fork_count() == 1 ? 0 : 1);
}

static void forks_are_counted_in_the_child(void **state)
{
    (void)state;
    assert_int_equal(fork_count(), 0);
    assert_int_equal(child_signal(count_two_forks), 0);
    assert_int_equal(fork_count(), 0);
}

static atomic_bool stop;

static void *move_halves(void *unused)
{
    (void)unused;
    while (!stop) {
        mutex_lock(&halves_lock);
        left_half++;
        for (volatile int i = 0; i < 1000; i++) {
        }
        right_half++;
        mutex_unlock(&halves_lock);
    }
    return NULL;
}

/* The child can take the lock, finds what it guards whole, and can use the
   lock from then on. */
static void look_at_halves(void)
{
    for (int i = 0; i < 3; i++) {
        mutex_lock(&lower_lock);
        mutex_lock(&halves_lock);
        if (left_half != right_half + (uint64_t)i) {
            _exit(1);
        }
        left_half++;
        mutex_unlock(&halves_lock);
        mutex_unlock(&lower_lock);
    }
}

static void kept_locks_are_whole_in_the_child(void **state)
{
    pthread_t mover;
    (void)state;

    assert_int_equal(pthread_create(&mover, NULL, move_halves, NULL), 0);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(child_signal(look_at_halves), 0);
    }
    stop = true;
    pthread_join(mover, NULL);
    mutex_lock(&halves_lock); /* the parent's are released as well */
    assert_int_equal(left_half, right_half);
    assert_true(left_half > 0);
    mutex_unlock(&halves_lock);
}

/* ---- calls that a fork waits for ----------------------------------------- */

static atomic_bool is_inside, may_leave;
static pthread_mutex_t theirs = PTHREAD_MUTEX_INITIALIZER;

/* As a connect does: under a lock that no fork handler knows. */
static void *be_inside(void *ms)
{
    uint64_t until = clock_ns() + (uintptr_t)ms * NS_PER_MS;

    lock_fork_waits();
    pthread_mutex_lock(&theirs);
    atomic_store(&is_inside, true);
    while (clock_ns() < until && !atomic_load(&may_leave)) {
        sched_yield();
    }
    pthread_mutex_unlock(&theirs);
    lock_fork_goes_on();
    return NULL;
}

static pthread_t go_inside(uintptr_t ms)
{
    pthread_t thread;

    atomic_store(&is_inside, false);
    atomic_store(&may_leave, false);
    assert_int_equal(pthread_create(&thread, NULL, be_inside, (void *)ms), 0);
    while (!atomic_load(&is_inside)) {
        sched_yield();
    }
    return thread;
}

static uint64_t fork_began;

static void nothing(void)
{
}

static void take_theirs(void)
{
    /* unless the machine itself was that late */
    if (pthread_mutex_trylock(&theirs) != 0 &&
        clock_ns() - fork_began < FORK_PATIENCE_MS * NS_PER_MS) {
        _exit(1);
    }
    lock_fork_waits(); /* a child can go in as well, and fork */
    lock_fork_goes_on();
    child_signal(nothing);
}

static void a_fork_waits_for_foreign_calls(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        pthread_t thread = go_inside(20);

        fork_began = clock_ns();
        assert_int_equal(child_signal(take_theirs), 0);
        pthread_join(thread, NULL);
    }
}

static void but_not_for_one_that_hangs(void **state)
{
    pthread_t thread = go_inside(60000);
    uint64_t begin = clock_ns();
    (void)state;

    assert_int_equal(child_signal(nothing), 0);
    assert_true(clock_ns() - begin < 30000 * NS_PER_MS);
    atomic_store(&may_leave, true);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_taken_in_rising_order),
        cmocka_unit_test(owners_are_checked_in_debug_builds),
        cmocka_unit_test(the_clock_only_rises),
        cmocka_unit_test(a_failure_is_left_alone_longer_each_time),
        cmocka_unit_test(waiting_ends_when_the_time_is_up),
        cmocka_unit_test(a_signal_wakes_before_the_time_is_up),
        cmocka_unit_test(forks_are_counted_in_the_child),
        cmocka_unit_test(kept_locks_are_whole_in_the_child),
        cmocka_unit_test(a_fork_waits_for_foreign_calls),
        cmocka_unit_test(but_not_for_one_that_hangs),
    };

    init_ranks();
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
