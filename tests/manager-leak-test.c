/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one session leaves reaches the next through no pool of the manager's,
 * whichever ManagerPooling says, for ODBC 3 applications and for those of 3.80,
 * of which the manager tells more (leak.h has the list).
 */
#include "autoconf.h"

#include <stdio.h>

#include "leak.h"
#include "odbc_tap.h"
#include "odbc_try.h"

static void try_mode(SQLINTEGER version, const char *mode)
{
    static const char *const fleets[] = {"DSN=orders;Instances=n1",
                                         "DSN=orders-ansi;Instances=n1-ansi"};
    SQLHENV env = odbc_env(version);
    char what[80], string[200];

    if (!leak_begin(env)) {
        tap_ok(false, "a LATIN1 database with a German DateStyle", "%s",
               odbc_error());
        return;
    }
    for (int ansi = 0; ansi <= 1; ansi++) {
        snprintf(what, sizeof what, "ManagerPooling=%s, ODBC %d, psqlODBC %s",
                 mode, (int)version, ansi ? "ANSI" : "Unicode");
        snprintf(string, sizeof string,
                 "%s;PoolMax=1;UID=postgres;Database=leak;ManagerPooling=%s",
                 fleets[ansi], mode);
        leak_try(what, string, false);
    }
    SQLFreeHandle(SQL_HANDLE_ENV, env);
}

static void refuse(void)
{
    try_mode(SQL_OV_ODBC3, "refuse");
}

static void allow(void)
{
    try_mode(SQL_OV_ODBC3, "allow");
}

static void refuse_380(void)
{
    try_mode(SQL_OV_ODBC3_80, "refuse");
}

static void allow_380(void)
{
    try_mode(SQL_OV_ODBC3_80, "allow");
}

/* At the exit of each process the manager's pool is full. */
int main(void)
{
    if (!try_ini_make("", "CPTimeout = 600\n", "\n[ODBC]\nPooling = Yes\n")) {
        tap_ok(false, "ini files of its own", "%s", "none");
        return tap_end();
    }
    tap_apart("refuse", refuse);
    tap_apart("allow", allow);
    tap_apart("refuse, ODBC 3.80", refuse_380);
    tap_apart("allow, ODBC 3.80", allow_380);
    try_ini_drop();
    return tap_end();
}
