/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one session leaves reaches the next by no pool of ours (leak.h).
 */
#include "autoconf.h"

#include "leak.h"
#include "odbc_tap.h"

/* One link for all, probed again and again between two sessions. */
#define LEAK_N1 \
    ";PoolMax=1;UID=postgres;Database=leak;CheckInterval=1"

int main(void)
{
    SQLHENV env = odbc_env(SQL_OV_ODBC3);

    if (!leak_begin(env)) {
        tap_ok(false, "a LATIN1 database with a German DateStyle", "%s",
               odbc_error());
        return tap_end();
    }
    leak_try("psqlODBC Unicode", "DSN=orders;Instances=n1" LEAK_N1, false);
    leak_try("psqlODBC Unicode with ConnSettings",
             "DSN=orders;Instances=n1" LEAK_N1
             ";ConnSettings={set work_mem to '5MB'}", false);
    leak_try("psqlODBC Unicode without server-side prepare",
             "DSN=orders;Instances=n1" LEAK_N1
             ";UseServerSidePrepare=0;UseDeclareFetch=1", true);
    leak_try("psqlODBC ANSI", "DSN=orders-ansi;Instances=n1-ansi" LEAK_N1,
             false);
    leak_try_letter("DSN=orders;Instances=n1" LEAK_N1
                    ";ByteaAsLongVarBinary=1");
    leak_try_letter("DSN=orders-ansi;Instances=n1-ansi" LEAK_N1
                    ";ByteaAsLongVarBinary=1");
    leak_end();
    SQLFreeHandle(SQL_HANDLE_ENV, env);
    return tap_end();
}
