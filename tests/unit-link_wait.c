/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * link_wait: a thread that waits for one socket is woken, and it is that socket
 * that is at its end; who waits for anything else is left alone.
 */
#include "autoconf.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "link_wait.h"
#include "lock.h"

enum { PATIENCE_MS = 20000, WHILE_MS = 300 };

static struct {
    struct pollfd fds[2];
    nfds_t count;
    atomic_int tid; /* 0: it has not begun */
} waiting;

static void *wait_for(void *unused)
{
    waiting.tid = gettid();
    poll(waiting.fds, waiting.count, PATIENCE_MS);
    return unused;
}

static pthread_t begin(int first, int second)
{
    pthread_t thread;

    waiting.fds[0] = (struct pollfd){ .fd = first, .events = POLLIN };
    waiting.fds[1] = (struct pollfd){ .fd = second, .events = POLLIN };
    waiting.count = second < 0 ? 1 : 2;
    waiting.tid = 0;
    assert_int_equal(pthread_create(&thread, NULL, wait_for, NULL), 0);
    while (!waiting.tid) {
        sched_yield();
    }
    return thread;
}

/* It may not sleep yet. */
static bool end_within(unsigned ms)
{
    uint64_t until = clock_ns() + ms * NS_PER_MS;
    bool ended = false;

    while (!ended && clock_ns() < until) {
        ended = link_wait_end(waiting.tid);
        sched_yield();
    }
    return ended;
}

static void who_waits_for_a_socket_is_woken(void **state)
{
    int pair[2];
    char byte;
    pthread_t thread;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    thread = begin(pair[0], -1);
    assert_true(end_within(PATIENCE_MS));
    pthread_join(thread, NULL);
    assert_int_equal(waiting.fds[0].revents & POLLHUP, POLLHUP);
    assert_int_equal(read(pair[0], &byte, 1), 0); /* nor is it closed */
    assert_int_equal(close(pair[0]), 0);
    close(pair[1]);
}

static void who_waits_for_two_is_not(void **state)
{
    int pair[2];
    pthread_t thread;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    thread = begin(pair[0], pair[0]);
    assert_false(end_within(WHILE_MS));
    assert_int_equal(write(pair[1], "x", 1), 1);
    pthread_join(thread, NULL);
    assert_int_equal(waiting.fds[0].revents, POLLIN);
    close(pair[0]);
    close(pair[1]);
}

static void nor_is_who_waits_for_no_socket(void **state)
{
    int ends[2];
    pthread_t thread;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    thread = begin(ends[0], -1);
    assert_false(end_within(WHILE_MS));
    assert_int_equal(write(ends[1], "x", 1), 1);
    pthread_join(thread, NULL);
    assert_int_equal(waiting.fds[0].revents, POLLIN);
    assert_false(link_wait_end(waiting.tid)); /* it is gone */
    assert_false(link_wait_end(gettid()));    /* and this one at work */
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_a_socket_is_woken),
        cmocka_unit_test(who_waits_for_two_is_not),
        cmocka_unit_test(nor_is_who_waits_for_no_socket),
    };

    return cmocka_run_group_tests_name("link_wait", tests, NULL, NULL);
}
