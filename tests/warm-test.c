/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A warm hand-out makes no round trip, and a link that was not used needs no
 * reset.  The instance is reached through a relay of this program's, which
 * counts what goes to it on each connection: the count is exact, and nothing
 * that the driver or the inner driver says can escape it.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- the relay --------------------------------------------------------- */

enum { MOST = 64 };

/* Connections in the order in which they came. */
static struct relayed {
    int client, server;
    _Atomic long up;     /* bytes from the client */
    _Atomic long bursts; /* how often it said something */
} relayed[MOST];
static _Atomic int connections;
static int listener;
static struct sockaddr_in target;

static void accept_one(void)
{
    int client = accept(listener, NULL, NULL);
    int server = socket(AF_INET, SOCK_STREAM, 0);
    int n = connections;

    if (client < 0 || n == MOST ||
        connect(server, (struct sockaddr *)&target, sizeof target) < 0) {
        close(client);
        close(server);
        return;
    }
    relayed[n].client = client;
    relayed[n].server = server;
    connections = n + 1;
}

static bool send_all(int to, const char *bytes, ssize_t length)
{
    while (length > 0) {
        ssize_t sent = send(to, bytes, (size_t)length, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        length -= sent;
    }
    return true;
}

/* What one side has said goes to the other; its end ends both. */
static void relay(struct relayed *r, bool from_client)
{
    char bytes[16384];
    ssize_t got =
        recv(from_client ? r->client : r->server, bytes, sizeof bytes, 0);

    if (got > 0 && from_client) {
        r->up += got;
        r->bursts++;
    }
    if (got <= 0 ||
        !send_all(from_client ? r->server : r->client, bytes, got)) {
        close(r->client);
        close(r->server);
        r->client = r->server = -1;
    }
}

static void *relay_all(void *unused)
{
    for (;;) {
        struct pollfd fds[1 + 2 * MOST] = {{listener, POLLIN, 0}};
        int n = connections;

        for (int i = 0; i < n; i++) {
            fds[1 + 2 * i] = (struct pollfd){relayed[i].client, POLLIN, 0};
            fds[2 + 2 * i] = (struct pollfd){relayed[i].server, POLLIN, 0};
        }
        if (poll(fds, (nfds_t)(1 + 2 * n), -1) < 0) {
            return unused;
        }
        for (int i = 0; i < n; i++) {
            if (fds[1 + 2 * i].revents && relayed[i].client >= 0) {
                relay(&relayed[i], true);
            }
            if (fds[2 + 2 * i].revents && relayed[i].server >= 0) {
                relay(&relayed[i], false);
            }
        }
        if (fds[0].revents) {
            accept_one();
        }
    }
}

/* The port where it listens; 0: it does not. */
static int relay_start(int port)
{
    struct sockaddr_in here = {.sin_family = AF_INET};
    socklen_t size = sizeof here;
    pthread_t thread;

    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target = here;
    target.sin_port = htons((uint16_t)port);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) < 0 ||
        listen(listener, 16) < 0 ||
        getsockname(listener, (struct sockaddr *)&here, &size) < 0 ||
        pthread_create(&thread, NULL, relay_all, NULL) != 0) {
        return 0;
    }
    return ntohs(here.sin_port);
}

/* ---- the sessions ------------------------------------------------------ */

/* The connection string, to be continued.  Nothing is probed: a probe would
   say something to the instance while we count. */
static char fleet[600];
static SQLHDBC watcher; /* another login of that fleet, over its own link */
static int watched;     /* connection number of the link under test */

static const char *string(const char *more)
{
    static char text[900];

    snprintf(text, sizeof text, "%s;UID=app;%s", fleet, more);
    return text;
}

/* Figures of the login that is not the watcher's: which column of SHOW
   AFFINITY POOLS. */
static int figure(SQLUSMALLINT column)
{
    SQLHSTMT stmt;
    char mine[8];
    SQLINTEGER value = -1;
    SQLLEN a, b;

    SQLAllocHandle(SQL_HANDLE_STMT, watcher, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"SHOW AFFINITY POOLS", SQL_NTS);
    SQLBindCol(stmt, 4, SQL_C_CHAR, mine, sizeof mine, &a);
    SQLBindCol(stmt, column, SQL_C_SLONG, &value, 0, &b);
    while (SQL_SUCCEEDED(SQLFetch(stmt)) && strcmp(mine, "no") != 0) {
        value = -1;
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return value;
}

enum { IDLE = 5, HELD = 6, RESET = 9, RESETS = 14 };

static bool await_idle(void)
{
    struct timespec pause = {0, 1000000};

    for (int i = 0; i < 60000; i++) {
        if (figure(IDLE) == 1 && figure(RESET) == 0) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

static SQLHDBC session(const char *more)
{
    SQLHDBC dbc = odbc_open(try_env, string(more), false);

    if (!dbc) {
        tap_ok(false, "a session", "%s", odbc_error());
    }
    return dbc;
}

static bool is_warm(void)
{
    SQLHDBC dbc = session("");
    int before = connections;
    char pid[24];
    bool idle;

    snprintf(pid, sizeof pid, "%s", odbc_value(dbc, "SELECT pg_backend_pid()"));
    odbc_close(dbc);
    watched = before - 1; /* the latest to come */
    idle = await_idle();
    tap_ok(idle, "a link comes back and is idle", "%d idle, %d in reset",
           figure(IDLE), figure(RESET));
    dbc = session("");
    tap_is("the next session has the same backend",
           odbc_value(dbc, "SELECT pg_backend_pid()"), pid);
    tap_ok(connections == before, "and nothing was opened for it", "%d, %d",
           before, connections);
    odbc_close(dbc);
    return idle && await_idle();
}

static void warm_hand_outs(void)
{
    long up = relayed[watched].up;
    int resets = figure(RESETS);
    int opened = connections;
    SQLHDBC dbc = session("");

    tap_ok(relayed[watched].up == up, "a warm hand-out says nothing to it",
           "%ld bytes, then %ld", up, relayed[watched].up);
    tap_ok(figure(HELD) == 1, "it is in use", "%d", figure(HELD));
    odbc_close(dbc);
    tap_ok(figure(IDLE) == 1 && figure(RESET) == 0,
           "a link that was not used is idle at once", "%d idle, %d reset",
           figure(IDLE), figure(RESET));
    for (int i = 0; i < 200; i++) {
        odbc_close(odbc_open(try_env, string(""), false));
    }
    tap_ok(relayed[watched].up == up && connections == opened,
           "two hundred say nothing to it", "%ld bytes, then %ld; %d, %d", up,
           relayed[watched].up, opened, connections);
    tap_ok(figure(RESETS) == resets, "none of them is reset", "%d, then %d",
           resets, figure(RESETS));
    dbc =
        odbc_open(try_env, string("AffinityKey=5;AffinityMode=strict"), false);
    tap_ok(relayed[watched].up == up, "one with a key says nothing to it",
           "%ld bytes, then %ld", up, relayed[watched].up);
    odbc_close(dbc);
}

/* One statement costs what it costs, and one reset. */
static void used_ones(void)
{
    int resets = figure(RESETS);
    long bursts;
    SQLHDBC dbc = session("");

    bursts = relayed[watched].bursts;
    odbc_value(dbc, "SELECT 1");
    tap_ok(relayed[watched].bursts == bursts + 1,
           "the first statement is one round trip", "%ld, then %ld", bursts,
           relayed[watched].bursts);
    odbc_close(dbc);
    tap_ok(await_idle() && figure(RESETS) == resets + 1,
           "after it the link is reset once", "%d, then %d", resets,
           figure(RESETS));
    tap_ok(relayed[watched].bursts <= bursts + 4, "in a few round trips",
           "%ld, then %ld", bursts, relayed[watched].bursts);
}

/* The relay would have seen it. */
static void untrusted(void)
{
    char more[700];
    long up;
    int number;

    snprintf(more, sizeof more, "%s;PoolTrust=0;UID=app", fleet);
    odbc_close(odbc_open(try_env, more, false));
    number = connections - 1;
    up = relayed[number].up;
    odbc_close(odbc_open(try_env, more, false));
    tap_ok(connections == number + 1 && relayed[number].up > up,
           "with PoolTrust=0 it is asked whether it lives", "%ld, then %ld", up,
           relayed[number].up);
}

int main(void)
{
    int port = relay_start((int)strtol(try_port(1), NULL, 10));
    char other[700];

    try_env = odbc_env(SQL_OV_ODBC3);
    if (port == 0) {
        tap_ok(false, "a relay", "no port");
        return tap_end();
    }
    snprintf(fleet, sizeof fleet,
             "DRIVER=Affinity;InnerDriver={PostgreSQL Unicode};"
             "Instances={n1@127.0.0.1:%d};Database=app;PoolMax=1;"
             "PoolTrust=600000;PoolMaxLifetime=0;CheckInterval=0;PWD=%s",
             port, getenv("AFFINITY_SANDBOX_PASSWORD"));
    snprintf(other, sizeof other, "%s;UID=app;BoolsAsChar=0", fleet);
    watcher = odbc_open(try_env, other, false);
    if (!watcher) {
        tap_ok(false, "a watcher", "%s", odbc_error());
        return tap_end();
    }
    if (is_warm()) {
        warm_hand_outs();
        used_ones();
    }
    odbc_close(watcher);
    untrusted();
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    return tap_end();
}
