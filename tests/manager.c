/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "manager.h"

#include <stdio.h>
#include <string.h>

#include "affinity_odbc.h"
#include "odbc_tap.h"

const char *const manager_widths[] = {"narrow", "wide"};
const char *const manager_modes[] = {"refuse", "allow"};

bool manager_begin(const char *dsns, const char *timeout, const char *odbc,
                   SQLINTEGER version)
{
    bool ok = try_ini_make(dsns, timeout, odbc);

    if (!ok) {
        tap_ok(false, "ini files of its own", "%s", "none");
    }
    try_env = odbc_env(version);
    return ok;
}

void manager_end(void)
{
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    try_ini_drop();
}

const char manager_clean[] = "4MB, 0 tables, 0 locks, autocommit 1";

void manager_mess(SQLHDBC dbc)
{
    odbc_run(dbc, "SET work_mem = '77MB'");
    odbc_run(dbc, "CREATE TEMP TABLE kept_by_the_manager (i int)");
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                      0);
    odbc_run(dbc, "SELECT pg_advisory_lock(pg_backend_pid())");
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
}

void manager_look(SQLHDBC dbc, char found[80])
{
    static SQLCHAR sql[] =
        "SELECT current_setting('work_mem') || ', ' || (SELECT count(*) FROM "
        "pg_class WHERE relname = 'kept_by_the_manager' AND "
        "pg_table_is_visible(oid)) || ' tables, ' || (SELECT count(*) FROM "
        "pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) || "
        "' locks'";
    SQLUINTEGER autocommit = 7;
    char value[60] = "nothing";
    SQLHSTMT stmt = SQL_NULL_HSTMT;

    SQLGetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, &autocommit, 0, NULL);
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLExecDirect(stmt, sql, SQL_NTS);
    SQLFetch(stmt);
    SQLGetData(stmt, 1, SQL_C_CHAR, value, sizeof value, NULL);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    snprintf(found, 80, "%s, autocommit %u", value, (unsigned)autocommit);
}

#define OTHER_KEY "2600"

/* Has the manager handed on a connection that it kept?  It does not pass on
   then what was set before. */
static bool was_kept(SQLHDBC dbc)
{
    SQLWCHAR key[40] = {0};

    SQLGetConnectAttrW(dbc, SQL_ATTR_AFFINITY_KEY, key, sizeof key, NULL);
    return memcmp(key, try_utf16(OTHER_KEY), sizeof(SQLWCHAR[5])) != 0;
}

SQLHDBC manager_open(const char *string, bool wide, bool *kept)
{
    SQLHDBC dbc = try_dbc();

    SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_KEY, (SQLPOINTER)OTHER_KEY,
                      SQL_NTS);
    if (!SQL_SUCCEEDED(try_connect(dbc, string, wide))) {
        printf("# %s\n", odbc_record(SQL_HANDLE_DBC, dbc, 1));
        SQLFreeHandle(SQL_HANDLE_DBC, dbc);
        return SQL_NULL_HDBC;
    }
    *kept = was_kept(dbc);
    return dbc;
}
