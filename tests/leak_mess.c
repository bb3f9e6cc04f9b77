/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "leak_mess.h"

#include "odbc_tap.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

bool leak_set(SQLHDBC dbc, SQLINTEGER attribute, SQLULEN value)
{
    return SQL_SUCCEEDED(SQLSetConnectAttr(
        dbc, attribute, (SQLPOINTER)(uintptr_t)value, SQL_IS_UINTEGER));
}

const char *leak_number(unsigned long n)
{
    static char out[8][24];
    static unsigned turn;
    char *text = out[turn++ % 8];

    snprintf(text, sizeof out[0], "%lu", n);
    return text;
}

const char *leak_attr(SQLHDBC dbc, SQLINTEGER attribute)
{
    SQLUINTEGER value = 4711;

    SQLGetConnectAttr(dbc, attribute, &value, 0, NULL);
    return leak_number(value);
}

const char *leak_autocommit(SQLHDBC dbc)
{
    return leak_attr(dbc, SQL_ATTR_AUTOCOMMIT);
}

bool leak_open_transaction(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_AUTOCOMMIT, SQL_AUTOCOMMIT_OFF) &&
           odbc_run(dbc, "INSERT INTO plain VALUES (-77, 'left open')");
}

bool leak_manual_commit(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_AUTOCOMMIT, SQL_AUTOCOMMIT_OFF);
}

static const char *look(SQLHDBC dbc, const struct mess *mess)
{
    return mess->probe ? mess->probe(dbc) : odbc_value(dbc, mess->probe_sql);
}

static const char *which(SQLHDBC dbc, const struct leak *leak)
{
    return leak->link ? odbc_value(dbc, leak->link) : "";
}

void leak_try_mess(const struct mess *mess, const struct leak *leak, bool wide)
{
    char name[120], before[200], during[200], pid[40];
    SQLHDBC dbc = odbc_open(leak->env, leak->string, wide);
    bool made, seen;

    snprintf(name, sizeof name, "%s: %s", wide ? "wide" : "narrow",
             mess->name);
    if (!dbc) {
        tap_ok(false, name, "no session: %s", odbc_error());
        return;
    }
    snprintf(pid, sizeof pid, "%s",
             which(dbc, leak));
    snprintf(before, sizeof before, "%s", look(dbc, mess));
    made = mess->mess ? mess->mess(dbc) : odbc_run(dbc, mess->mess_sql);
    snprintf(during, sizeof during, "%s", look(dbc, mess));
    odbc_close(dbc);
    seen = mess->seen == SEEN ||
           (mess->seen == SEEN_PREPARED && !leak->plain);
    if (!made || (seen && strcmp(before, during) == 0)) {
        tap_ok(false, name, "could not be made: %s; seen before '%s', then "
               "'%s'", odbc_error(), before, during);
        return;
    }
    dbc = odbc_open(leak->env, leak->string, wide);
    if (!dbc) {
        tap_ok(false, name, "no session after it: %s", odbc_error());
        return;
    }
    {
        const char *next = which(dbc, leak);
        const char *after = look(dbc, mess);
        tap_ok(strcmp(pid, next) == 0 && strcmp(before, after) == 0, name,
               "backend %s, then %s; seen before '%s', with it '%s', after "
               "'%s'", pid, next, before, during, after);
    }
    odbc_close(dbc);
}
