/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a session of ours takes, as the allocator counts it: without a link,
 * and with one to the inner driver that does nothing and needs nothing, so
 * that all that is seen is ours.
 *
 * usage: memory DRIVER STRING SESSIONS
 */
#include "autoconf.h"

#include "bench.h"

#include <malloc.h>
#include <stdlib.h>

#include "below.h"

static double in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return (double)(info.uordblks + info.hblkhd);
}

int main(int argc, char **argv)
{
    unsigned long count = bench_number(argc, argv, 3, "the sessions");
    SQLHDBC *dbcs = calloc(count, sizeof *dbcs);
    SQLWCHAR string[512];
    struct below call;
    double before, unlinked, linked;
    SQLHENV env;

    if (!dbcs) {
        bench_die("no memory");
    }
    mallopt(M_ARENA_MAX, 1); /* helper threads' blocks are counted as well */
    below_load(argv[1], &call);
    below_wide(argv[2], string, sizeof string / sizeof *string);
    env = below_env(&call);
    dbcs[0] = below_dbc(&call, env); /* fleet, login and threads are made */
    below_connect(&call, dbcs[0], string);
    before = in_use();
    for (unsigned long i = 1; i < count; i++) {
        dbcs[i] = below_dbc(&call, env);
    }
    unlinked = in_use();
    for (unsigned long i = 1; i < count; i++) {
        below_connect(&call, dbcs[i], string);
    }
    linked = in_use();
    bench_say("memory of a session", "without a link", "bytes",
              (unlinked - before) / (double)(count - 1));
    bench_say("memory of a session", "with a link of its own", "bytes",
              (linked - before) / (double)(count - 1));
    for (unsigned long i = 0; i < count; i++) {
        call.SQLDisconnect(dbcs[i]);
    }
    bench_say("memory of a session", "pooled link, no session", "bytes",
              (in_use() - unlinked) / (double)(count - 1));
    for (unsigned long i = 0; i < count; i++) {
        call.SQLFreeHandle(SQL_HANDLE_DBC, dbcs[i]);
    }
    call.SQLFreeHandle(SQL_HANDLE_ENV, env);
    free(dbcs);
    return 0;
}
