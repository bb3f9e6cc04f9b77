/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * link_socket: which socket is a link's, and that no other is ever shut down.
 * The instances are sockets of this program, the inner driver is connect().
 */
#include "autoconf.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link.h"
#include "link_socket.h"

/* An instance that accepts; then one connection to it, both ends. */
struct there {
    int listens;
    struct sockaddr_in address;
};

struct conn {
    int near, far;
};

static struct there begin(void)
{
    struct there there = { .address = { .sin_family = AF_INET } };
    socklen_t length = sizeof there.address;

    there.listens = socket(AF_INET, SOCK_STREAM, 0);
    there.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(there.listens, (void *)&there.address, length), 0);
    assert_int_equal(listen(there.listens, 100), 0);
    getsockname(there.listens, (void *)&there.address, &length);
    return there;
}

static struct conn connect_to(const struct there *there)
{
    struct conn conn = { .near = socket(AF_INET, SOCK_STREAM, 0) };

    assert_int_equal(connect(conn.near, (const void *)&there->address,
                             sizeof there->address), 0);
    conn.far = accept(there->listens, NULL, NULL);
    assert_true(conn.far >= 0);
    return conn;
}

static void end(struct conn *conn)
{
    close(conn->near);
    close(conn->far);
}

/* What the instance's side says of it. */
static void tell_ends(struct link *link, const struct conn *conn)
{
    struct sockaddr_in near, far;
    socklen_t length = sizeof near;
    char a[INET_ADDRSTRLEN], b[INET_ADDRSTRLEN];

    getpeername(conn->far, (void *)&near, &length);
    getsockname(conn->far, (void *)&far, &length);
    snprintf(link->who.ends, sizeof link->who.ends, "%s %u %s %u",
             inet_ntop(AF_INET, &near.sin_addr, a, sizeof a),
             ntohs(near.sin_port),
             inet_ntop(AF_INET, &far.sin_addr, b, sizeof b),
             ntohs(far.sin_port));
}

static bool is_open(const struct conn *conn)
{
    char c = 'x';

    return send(conn->near, &c, 1, MSG_NOSIGNAL) == 1 &&
           recv(conn->far, &c, 1, 0) == 1;
}

static void the_socket_is_found_and_ended(void **state)
{
    struct link link = { 0 };
    struct link_sockets before;
    struct there there = begin();
    struct conn other = connect_to(&there), conn;
    char c;
    (void)state;

    link_sockets_take(&before);
    conn = connect_to(&there);
    tell_ends(&link, &conn);
    link_socket_prove(&link, &before);
    link_sockets_free(&before);
    assert_int_not_equal(link.socket, 0);
    assert_true(fcntl(link.socket - 1, F_GETFD) & FD_CLOEXEC);
    assert_true(is_open(&conn));
    assert_true(link_socket_end(&link));
    assert_int_equal(recv(conn.near, &c, 1, 0), 0); /* at once */
    assert_true(is_open(&other));
    link_socket_forget(&link);
    assert_int_equal(link.socket, 0);
    assert_false(link_socket_end(&link));
    end(&conn);
    end(&other);
    close(there.listens);
}

/* The inner driver has closed its descriptor, and somebody else has opened one
   under the same number. */
static void a_number_that_is_used_again_is_not_hit(void **state)
{
    struct link link = { 0 };
    struct link_sockets before;
    struct there there = begin();
    struct conn conn, after;
    (void)state;

    link_sockets_take(&before);
    conn = connect_to(&there);
    tell_ends(&link, &conn);
    link_socket_prove(&link, &before);
    link_sockets_free(&before);
    assert_int_not_equal(link.socket, 0);
    after = connect_to(&there);
    assert_int_equal(dup2(after.near, conn.near), conn.near);
    assert_true(link_socket_end(&link));
    assert_true(is_open(&after));
    link_socket_forget(&link);
    close(conn.near);
    close(conn.far);
    end(&after);
    close(there.listens);
}

/* Is it left unproved with these words for its ends? */
static void assert_unproved(const char *ends, const struct link_sockets *before)
{
    struct link link = { 0 };

    snprintf(link.who.ends, sizeof link.who.ends, "%s", ends);
    link_socket_prove(&link, before);
    if (link.socket) {
        fail_msg("'%s' is taken for proved", ends);
    }
    assert_false(link_socket_end(&link));
    link_socket_forget(&link);
}

static void what_is_not_proved_is_left_alone(void **state)
{
    struct link link = { 0 };
    struct link_sockets before, blind = { 0 }, none;
    struct there there = begin();
    struct conn old = connect_to(&there), conn;
    unsigned port = ntohs(there.address.sin_port);
    char ends[112];
    (void)state;

    link_sockets_take(&before);
    conn = connect_to(&there);
    tell_ends(&link, &old); /* it was there before */
    assert_unproved(link.who.ends, &before);
    tell_ends(&link, &conn);
    assert_unproved(link.who.ends, &blind); /* no /proc */
    assert_unproved("", &before);
    assert_unproved("127.0.0.1", &before);
    assert_unproved("::1 1 ::1 2", &before);
    assert_unproved("nonsense 1 nonsense 2", &before);
    /* a proxy: the instance sees another client, or is another */
    snprintf(ends, sizeof ends, "127.0.0.1 1 127.0.0.1 %u", port);
    assert_unproved(ends, &before);
    *strrchr(link.who.ends, ' ') = '\0';
    snprintf(ends, sizeof ends, "%.90s %u", link.who.ends, port + 1);
    assert_unproved(ends, &before);
    tell_ends(&link, &conn);
    link_sockets_take(&none); /* all are old now */
    assert_unproved(link.who.ends, &none);
    link_sockets_free(&none);
    assert_unproved("0.0.0.0 0 0.0.0.0 0", &before);
    assert_true(is_open(&old) && is_open(&conn));
    link_sockets_free(&before);
    end(&old);
    end(&conn);
    close(there.listens);
}

/* No descriptor is left: it works without a duplicate. */
static void without_descriptors_there_is_none(void **state)
{
    enum { MOST = 5000 };
    static int taken[MOST];
    struct link link = { 0 };
    struct link_sockets before;
    struct there there = begin();
    struct conn conn;
    int n = 0;
    (void)state;

    link_sockets_take(&before);
    conn = connect_to(&there);
    tell_ends(&link, &conn);
    while (n < MOST && (taken[n] = open("/dev/null", O_RDONLY)) >= 0) {
        n++;
    }
    if (n < MOST) { /* else there is no limit to reach */
        link_socket_prove(&link, &before);
        assert_int_equal(link.socket, 0);
        close(taken[--n]); /* one for looking, none for keeping */
        link_socket_prove(&link, &before);
        link_socket_forget(&link);
    }
    while (n > 0) {
        close(taken[--n]);
    }
    assert_true(is_open(&conn));
    link_sockets_free(&before);
    end(&conn);
    close(there.listens);
}

/* ---- among others ------------------------------------------------------- */

enum { FOREIGN = 300, LINKS = 200 };

struct stir {
    const struct there *there;
    _Atomic bool over;
    unsigned lost;
};

/* Somebody else in the process opens and closes sockets all the time, to the
   same instance. */
static void *stir(void *arg)
{
    struct stir *stir = arg;

    while (!atomic_load(&stir->over)) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
            char c = 'x';

            stir->lost += send(pair[0], &c, 1, MSG_NOSIGNAL) != 1 ||
                          recv(pair[1], &c, 1, 0) != 1;
            close(pair[0]);
            close(pair[1]);
        }
    }
    return NULL;
}

static void among_others_only_its_own_is_ended(void **state)
{
    static struct conn foreign[FOREIGN];
    struct there there = begin(), elsewhere = begin();
    struct stir stirs[2] = { { .there = &there }, { .there = &elsewhere } };
    pthread_t threads[2];
    unsigned ended = 0;
    (void)state;

    for (int i = 0; i < FOREIGN; i++) {
        foreign[i] = connect_to(i % 2 ? &there : &elsewhere);
    }
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, stir, &stirs[i]);
    }
    for (int i = 0; i < LINKS; i++) {
        struct link link = { 0 };
        struct link_sockets before;
        struct conn conn, beside;
        char c;

        link_sockets_take(&before);
        conn = connect_to(&there);
        beside = connect_to(&there);
        tell_ends(&link, &conn);
        link_socket_prove(&link, &before);
        link_sockets_free(&before);
        ended += link_socket_end(&link);
        assert_int_equal(recv(conn.near, &c, 1, MSG_DONTWAIT), 0);
        assert_true(is_open(&beside));
        link_socket_forget(&link);
        end(&conn);
        end(&beside);
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&stirs[i].over, true);
        pthread_join(threads[i], NULL);
        assert_int_equal(stirs[i].lost, 0);
    }
    assert_int_equal(ended, LINKS);
    for (int i = 0; i < FOREIGN; i++) {
        assert_true(is_open(&foreign[i]));
        end(&foreign[i]);
    }
    close(there.listens);
    close(elsewhere.listens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_socket_is_found_and_ended),
        cmocka_unit_test(a_number_that_is_used_again_is_not_hit),
        cmocka_unit_test(what_is_not_proved_is_left_alone),
        cmocka_unit_test(without_descriptors_there_is_none),
        cmocka_unit_test(among_others_only_its_own_is_ended),
    };

    return cmocka_run_group_tests_name("link_socket", tests, NULL, NULL);
}
