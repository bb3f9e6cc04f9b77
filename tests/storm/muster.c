/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "muster.h"

#include "../odbc_tap.h"
#include "../trouble.h"
#include "ask.h"
#include "chronicle.h"
#include "storm.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UNUSED_MS: watch.h's WATCH_USED_MS, PoolIdleTimeout and what the keeper's
   threads wait for more to do, and some. */
enum { SOON_MS = 30000, UNUSED_MS = 30000 + 10000 + 5000 + 15000 };

static unsigned threads, files;

static unsigned count_entries(const char *path)
{
    DIR *folder = opendir(path);
    unsigned n = 0;

    while (folder && readdir(folder)) {
        n++;
    }
    if (folder) {
        closedir(folder);
    }
    return n - 2; /* . and .. */
}

void muster_begin(void)
{
    threads = count_entries("/proc/self/task");
    files = count_entries("/proc/self/fd");
}

/* Backends of the fleet's login, as the instances say. */
static unsigned count_backends(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < STORM_INSTANCES; i++) {
        struct answer answer;
        char string[60];
        SQLHDBC dbc;

        snprintf(string, sizeof string, "DSN=%s;UID=postgres", storm_name(i));
        dbc = ask_open(string, &answer);
        if (dbc) {
            n += (unsigned)strtoul(
                ask(dbc, "SELECT count(*) FROM pg_stat_activity WHERE "
                         "usename = 'app' AND client_addr IS NOT NULL")
                    .text,
                NULL, 10);
            odbc_close(dbc);
        }
    }
    return n;
}

struct count {
    SQLHDBC looker;
    struct trouble_pools pools;
    unsigned backends, files;
};

/* A link is a socket and our duplicate of it. */
static bool adds_up(void *arg)
{
    struct count *c = arg;
    unsigned links;

    if (!trouble_pools(c->looker, NULL, false, &c->pools)) {
        return false;
    }
    links = c->pools.idle + c->pools.held;
    c->backends = count_backends();
    c->files = count_entries("/proc/self/fd");
    return c->pools.held == 1 &&
           c->pools.opening + c->pools.learning + c->pools.reset +
                   c->pools.closing + c->pools.waiting + c->pools.left ==
               0 &&
           c->backends == links && c->files == files + 2 * links;
}

/* Strict is served again at every leaf. */
static void try_leaves(const char *fleet)
{
    for (unsigned leaf = 0; leaf < STORM_LEAVES; leaf++) {
        double end = trouble_now() + SOON_MS;
        struct trouble_try t = { 0 };
        char string[700], name[80];

        snprintf(string, sizeof string, "%s;AffinityMode=strict;AffinityKey=%u",
                 fleet, leaf * STORM_LEAF_KEYS + 500);
        while (!trouble_try(&t, string) && trouble_now() < end) {
            storm_rest(100);
        }
        snprintf(name, sizeof name, "afterwards: strict is served at leaf %u",
                 leaf + 1);
        tap_ok(t.dbc && storm_instance(t.instance) ==
                            chronicle_ruler(REIGN_PRIMARY,
                                            chronicle_ruler(REIGN_LEAF, leaf)),
               name, "'%s' by '%s': %s", t.instance, t.verdict, t.records);
        odbc_close(t.dbc);
    }
}

static bool has_gone(void *arg)
{
    struct count *c = arg;

    c->files = count_entries("/proc/self/fd");
    return c->files <= files && count_entries("/proc/self/task") <= threads;
}

void muster_end(const char *fleet)
{
    struct count c = { 0 };
    struct answer answer;
    bool good;

    try_leaves(fleet);
    c.looker = ask_open(fleet, &answer);
    tap_ok(c.looker && trouble_await(trouble_complete, c.looker, SOON_MS),
           "afterwards: the topology is complete", "%s", answer.text);
    good = c.looker && trouble_await(adds_up, &c, SOON_MS);
    tap_ok(good, "afterwards: links, backends and descriptors add up",
           "idle %u, held %u, opening %u, learning %u, reset %u, closing %u, "
           "left %u, waiting %u; %u backends, %u files, %u before",
           c.pools.idle, c.pools.held, c.pools.opening, c.pools.learning,
           c.pools.reset, c.pools.closing, c.pools.left, c.pools.waiting,
           c.backends, c.files, files);
    odbc_close(c.looker);
    good = trouble_await(has_gone, &c, UNUSED_MS);
    tap_ok(good, "afterwards: no thread and no descriptor is left",
           "threads: %u before, %u now; descriptors: %u before, %u now",
           threads, count_entries("/proc/self/task"), files, c.files);
}
