/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "below.h"

#include <dlfcn.h>

#include "bench.h"

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (!found) {
        bench_die("no %s", name);
    }
    return found;
}

void below_load(const char *path, struct below *call)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        bench_die("%s", dlerror());
    }
#define FIND(name) *(void **)(void *)&call->name = find(library, #name)
    FIND(SQLAllocHandle);
    FIND(SQLFreeHandle);
    FIND(SQLSetEnvAttr);
    FIND(SQLDriverConnectW);
    FIND(SQLDisconnect);
    FIND(SQLGetDiagRec);
}

SQLHENV below_env(const struct below *call)
{
    SQLHENV env = SQL_NULL_HENV;

    call->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
    if (!env || call->SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION,
                                    (SQLPOINTER)SQL_OV_ODBC3, 0)) {
        bench_die("no environment");
    }
    return env;
}

SQLHDBC below_dbc(const struct below *call, SQLHENV env)
{
    SQLHDBC dbc = SQL_NULL_HDBC;

    if (call->SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc) != SQL_SUCCESS) {
        bench_die("no connection handle");
    }
    return dbc;
}

void below_connect(const struct below *call, SQLHDBC dbc, SQLWCHAR *string)
{
    SQLRETURN rc = call->SQLDriverConnectW(dbc, NULL, string, SQL_NTS, NULL, 0,
                                           NULL, SQL_DRIVER_NOPROMPT);

    if (!SQL_SUCCEEDED(rc)) {
        SQLCHAR state[6] = "", text[512] = "";
        SQLINTEGER native;

        call->SQLGetDiagRec(SQL_HANDLE_DBC, dbc, 1, state, &native, text,
                            sizeof text, NULL);
        bench_die("connect: [%s] %s", (char *)state, (char *)text);
    }
}

void below_wide(const char *from, SQLWCHAR *to, size_t room)
{
    size_t i = 0;

    for (; from[i] && i + 1 < room; i++) {
        to[i] = (unsigned char)from[i];
    }
    to[i] = 0;
}
