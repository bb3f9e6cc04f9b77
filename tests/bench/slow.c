/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The driver that does nothing, but takes its time to connect: as many ms as
 * Server says.  slow_opened counts those that are through.
 */
#include <sql.h>
#include <sqlext.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT _Atomic unsigned slow_opened;

EXPORT SQLRETURN SQLDriverConnect(SQLHDBC handle, SQLHWND window, SQLCHAR *in,
                                  SQLSMALLINT in_length, SQLCHAR *out,
                                  SQLSMALLINT out_size, SQLSMALLINT *out_length,
                                  SQLUSMALLINT completion)
{
    char string[1000] = "";
    size_t length =
        in_length == SQL_NTS ? strlen((char *)in) : (size_t)in_length;
    const char *server;
    long ms = 0;

    (void)handle, (void)window, (void)completion;
    length = length < sizeof string ? length : sizeof string - 1;
    memcpy(string, in, length);
    server = strstr(string, "Server=");
    if (server) {
        server += strlen("Server=");
        ms = strtol(server + (*server == '{'), NULL, 10);
    }
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
    slow_opened++;
    if (out && out_size > 0) {
        *out = '\0';
    }
    if (out_length) {
        *out_length = 0;
    }
    return SQL_SUCCESS;
}
