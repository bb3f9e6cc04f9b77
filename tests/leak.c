/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "leak.h"

#include "leak_mess.h"
#include "odbc_tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SQLHENV env;
static char fleet[512]; /* connection string of the pool under test */

/* ---- probes that are not one SQL value ------------------------------------- */

static const char *rows_of_three(SQLHDBC dbc)
{
    SQLHSTMT stmt;
    unsigned n = 0;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"SELECT * FROM generate_series(1, 3)",
                  SQL_NTS);
    while (SQL_SUCCEEDED(SQLFetch(stmt))) {
        n++;
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return leak_number(n);
}

static const char *stmt_attr(SQLHDBC dbc, SQLINTEGER attribute)
{
    SQLHSTMT stmt;
    SQLULEN value = 4711;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLGetStmtAttr(stmt, attribute, &value, 0, NULL);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return leak_number(value);
}

static const char *cursor_type(SQLHDBC dbc)
{
    return stmt_attr(dbc, SQL_ATTR_CURSOR_TYPE);
}

static const char *concurrency(SQLHDBC dbc)
{
    return stmt_attr(dbc, SQL_ATTR_CONCURRENCY);
}

static const char *default_timeout(SQLHDBC dbc)
{
    return stmt_attr(dbc, SQL_ATTR_QUERY_TIMEOUT);
}

/* The driver's belief and the server's truth. */
static const char *isolation(SQLHDBC dbc)
{
    static char out[80];

    snprintf(out, sizeof out, "%s %s", leak_attr(dbc, SQL_ATTR_TXN_ISOLATION),
             odbc_value(dbc, "SHOW transaction_isolation"));
    return out;
}

/* statement_timeout as a statement with that SQL_ATTR_QUERY_TIMEOUT sees it. */
static const char *timeout_with(SQLHDBC dbc, SQLULEN seconds)
{
    static char out[2][40];
    static unsigned turn;
    char *value = out[turn++ % 2];
    SQLHSTMT stmt;
    SQLLEN length;

    strcpy(value, "none");
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLSetStmtAttr(stmt, SQL_ATTR_QUERY_TIMEOUT,
                   (SQLPOINTER)(uintptr_t)seconds, 0);
    SQLExecDirect(stmt, (SQLCHAR *)"SHOW statement_timeout", SQL_NTS);
    SQLFetch(stmt);
    SQLGetData(stmt, 1, SQL_C_CHAR, value, sizeof out[0], &length);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return value;
}

/* Without one the server's own value; with one that one, and not what the
   driver believes to have set already. */
static const char *timeouts(SQLHDBC dbc)
{
    static char out[80];

    snprintf(out, sizeof out, "%s", timeout_with(dbc, 0));
    return out;
}

static const char *date(SQLHDBC dbc)
{
    static char out[40];
    SQL_DATE_STRUCT d = { 0 };
    SQLHSTMT stmt;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"SELECT DATE '2024-03-25'", SQL_NTS);
    SQLFetch(stmt);
    SQLGetData(stmt, 1, SQL_C_TYPE_DATE, &d, sizeof d, NULL);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    snprintf(out, sizeof out, "%d-%d-%d", d.year, d.month, d.day);
    return out;
}

static const char *accent(SQLHDBC dbc)
{
    SQLWCHAR units[4] = { 0 };
    SQLHSTMT stmt;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"SELECT chr(233)::text", SQL_NTS);
    SQLFetch(stmt);
    SQLGetData(stmt, 1, SQL_C_WCHAR, units, sizeof units, NULL);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return leak_number(units[0] * 65536UL + units[1]);
}

/* ---- messes that are not one statement -------------------------------------- */

static bool aborted_transaction(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_AUTOCOMMIT, SQL_AUTOCOMMIT_OFF) &&
           odbc_run(dbc, "INSERT INTO plain VALUES (-77, 'aborted')") &&
           !odbc_run(dbc, "SELECT 1 / 0");
}

static bool sql_begin(SQLHDBC dbc)
{
    return odbc_run(dbc, "BEGIN") &&
           odbc_run(dbc, "INSERT INTO plain VALUES (-77, 'begun')");
}

static bool sql_begin_aborted(SQLHDBC dbc)
{
    return odbc_run(dbc, "BEGIN") && !odbc_run(dbc, "SELECT nonsense");
}

static bool serializable(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_TXN_ISOLATION, SQL_TXN_SERIALIZABLE);
}

static bool max_rows(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_MAX_ROWS, 1);
}

static bool connection_timeout(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_QUERY_TIMEOUT, 7);
}

static bool statement_timeout(SQLHDBC dbc)
{
    return strcmp(timeout_with(dbc, 7), "7s") == 0;
}

static bool static_cursors(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_CURSOR_TYPE, SQL_CURSOR_STATIC);
}

static bool row_versions(SQLHDBC dbc)
{
    return leak_set(dbc, SQL_ATTR_CONCURRENCY, SQL_CONCUR_ROWVER);
}

/* A prepared statement with a parameter, executed, open, and never freed. */
static bool prepared(SQLHDBC dbc)
{
    static SQLINTEGER parameter = 3;
    SQLHSTMT stmt;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLPrepare(stmt, (SQLCHAR *)"SELECT * FROM generate_series(1, ?)",
               SQL_NTS);
    SQLBindParameter(stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0,
                     &parameter, 0, NULL);
    return SQL_SUCCEEDED(SQLExecute(stmt)) && SQL_SUCCEEDED(SQLFetch(stmt));
}

static bool hold_cursor(SQLHDBC dbc)
{
    return odbc_run(dbc, "BEGIN") &&
           odbc_run(dbc, "DECLARE kept CURSOR WITH HOLD FOR SELECT 1") &&
           odbc_run(dbc, "COMMIT");
}

static bool descriptors(SQLHDBC dbc)
{
    SQLHDESC desc;

    for (int i = 0; i < 5; i++) {
        SQLAllocHandle(SQL_HANDLE_DESC, dbc, &desc);
    }
    return prepared(dbc);
}

/* ---- the cases ------------------------------------------------------------- */

static const struct mess messes[] = {
    { "SET", "SHOW work_mem", NULL, "SET work_mem = '7MB'", NULL, SEEN },
    { "SET search_path", "SHOW search_path", NULL,
      "SET search_path TO pg_catalog", NULL, SEEN },
    /* PostgreSQL keeps the name of a setting that it did not know, empty */
    { "SET of an own name",
      "SELECT coalesce(current_setting('my.secret', true), '')", NULL,
      "SET my.secret = 'x'", NULL, SEEN },
    { "set_config()", "SHOW timezone", NULL,
      "SELECT set_config('timezone', 'Asia/Tokyo', false)", NULL, SEEN },
    { "SET DateStyle", "SHOW DateStyle", NULL, "SET DateStyle = 'German'",
      NULL, SEEN },
    { "SET IntervalStyle", "SHOW IntervalStyle", NULL,
      "SET IntervalStyle = 'iso_8601'", NULL, SEEN },
    { "SET extra_float_digits", "SHOW extra_float_digits", NULL,
      "SET extra_float_digits = 0", NULL, SEEN },
    { "SET client_encoding", "SHOW client_encoding", NULL,
      "SET client_encoding TO 'LATIN1'", NULL, SEEN },
    { "SET statement_timeout", "SHOW statement_timeout", NULL,
      "SET statement_timeout = '9s'", NULL, SEEN },
    { "read-only transactions", "SHOW default_transaction_read_only", NULL,
      "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", NULL, SEEN },
    { "SET ROLE", "SELECT current_user", NULL, "SET ROLE app", NULL, SEEN },
    { "SET SESSION AUTHORIZATION", "SELECT session_user", NULL,
      "SET SESSION AUTHORIZATION app", NULL, SEEN },
    { "a temporary table", "SELECT to_regclass('pg_temp.mine')", NULL,
      "CREATE TEMP TABLE mine AS SELECT 1", NULL, SEEN },
    { "a temporary table that hides a real one", "SELECT count(*) FROM plain",
      NULL, "CREATE TEMP TABLE plain AS SELECT generate_series(1, 9) AS id",
      NULL, SEEN },
    { "a temporary function", "SELECT count(*) FROM pg_proc WHERE "
      "proname = 'gone_soon'", NULL,
      "CREATE FUNCTION pg_temp.gone_soon() RETURNS int LANGUAGE sql AS "
      "'SELECT 1'", NULL, SEEN },
    { "a prepared statement of SQL",
      "SELECT count(*) FROM pg_prepared_statements WHERE from_sql", NULL,
      "PREPARE kept AS SELECT 1", NULL, SEEN },
    { "a prepared statement of ODBC, open",
      "SELECT count(*) FROM pg_prepared_statements", NULL, NULL, prepared,
      SEEN_PREPARED },
    { "explicit descriptors and an open cursor",
      "SELECT count(*) FROM pg_prepared_statements", NULL, NULL, descriptors,
      SEEN_PREPARED },
    { "a WITH HOLD cursor",
      "SELECT count(*) FROM pg_cursors WHERE name = 'kept'", NULL, NULL,
      hold_cursor, SEEN },
    { "an advisory lock",
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND "
      "pid = pg_backend_pid()", NULL, "SELECT pg_advisory_lock(42)", NULL,
      SEEN },
    { "LISTEN", "SELECT count(*) FROM pg_listening_channels()", NULL,
      "LISTEN somebody", NULL, SEEN },
    { "currval of a sequence", "SELECT currval('ticket_seq') IS NOT NULL",
      NULL, "SELECT nextval('ticket_seq')", NULL, SEEN },
    { "lastval", "SELECT lastval() IS NOT NULL", NULL,
      "SELECT nextval('ticket_seq')", NULL, SEEN },
    { "an open transaction", LEAK_LOST, NULL, NULL, leak_open_transaction, SEEN },
    { "an aborted transaction", LEAK_LOST, NULL, NULL, aborted_transaction, SEEN },
    { "BEGIN as SQL", LEAK_LOST, NULL, NULL, sql_begin, SEEN },
    { "BEGIN as SQL, aborted", "SELECT 1", NULL, NULL, sql_begin_aborted,
      UNSEEN },
    { "autocommit off", NULL, leak_autocommit, NULL, leak_manual_commit, SEEN },
    { "isolation", NULL, isolation, NULL, serializable, SEEN },
    { "MAX_ROWS on the connection", NULL, rows_of_three, NULL, max_rows,
      SEEN_PREPARED },
    { "QUERY_TIMEOUT on the connection", NULL, default_timeout, NULL,
      connection_timeout, SEEN },
    { "QUERY_TIMEOUT of a statement", NULL, timeouts, NULL, statement_timeout,
      UNSEEN },
    { "QUERY_TIMEOUT of a statement, again", NULL, timeouts, NULL,
      statement_timeout, UNSEEN },
    { "cursor type", NULL, cursor_type, NULL, static_cursors, SEEN },
    { "concurrency", NULL, concurrency, NULL, row_versions, SEEN },
    { "dates by a German DateStyle", NULL, date, "SET DateStyle = 'German'",
      NULL, UNSEEN },
};

/* The next user's own time-out must work, whatever the driver believes. */
static void try_next_timeout(bool wide)
{
    SQLHDBC dbc = odbc_open(env, fleet, wide);

    statement_timeout(dbc);
    odbc_close(dbc);
    dbc = odbc_open(env, fleet, wide);
    tap_is(wide ? "wide: the next user's QUERY_TIMEOUT reaches the server"
                : "narrow: the next user's QUERY_TIMEOUT reaches the server",
           timeout_with(dbc, 7), "7s");
    odbc_close(dbc);
}

static void try_truths(bool wide)
{
    SQLHDBC dbc = odbc_open(env, fleet, wide);

    odbc_run(dbc, "SELECT 1");
    odbc_close(dbc);
    dbc = odbc_open(env, fleet, wide);
    tap_is("a date is right after a reset", date(dbc), "2024-3-25");
    /* what a narrow session or driver makes of it depends on its locale */
    if (wide && !strstr(fleet, "ansi")) {
        tap_is("an accented letter is right after a reset", accent(dbc),
               leak_number(233 * 65536UL));
    }
    tap_is("the database is what it should be",
           odbc_value(dbc, "SELECT current_database() || ' ' || "
                           "current_setting('server_encoding')"),
           "leak LATIN1");
    odbc_close(dbc);
}

/* A narrow link's encoding comes from the locale, through psqlODBC: the next
   user of it reads the same bytes as its first. */
void leak_try_letter(const char *string)
{
#define LETTER "SELECT pg_backend_pid() || ' ' || " \
               "current_setting('client_encoding') || ' ' || chr(233)"
    char first[200];
    SQLHDBC dbc = odbc_open(env, string, false);

    snprintf(first, sizeof first, "%s", odbc_value(dbc, LETTER));
    odbc_close(dbc);
    dbc = odbc_open(env, string, false);
    tap_is("narrow: an accented letter is the same after a reset",
           odbc_value(dbc, LETTER), first);
    odbc_close(dbc);
}

bool leak_begin(SQLHENV with)
{
    static const char *const steps[] = {
        "DROP DATABASE IF EXISTS leak WITH (FORCE)",
        ("CREATE DATABASE leak TEMPLATE template0 ENCODING 'LATIN1' "
         "LC_COLLATE 'C' LC_CTYPE 'C'"),
        "ALTER DATABASE leak SET DateStyle = 'German'",
        "ALTER DATABASE leak SET extra_float_digits = -5",
    };
    SQLHDBC dbc = odbc_open(
        with, "DSN=n1;UID=postgres;Database=postgres", false);
    bool ok = dbc != SQL_NULL_HDBC;

    env = with;
    for (size_t i = 0; ok && i < sizeof steps / sizeof *steps; i++) {
        ok = odbc_run(dbc, steps[i]);
    }
    odbc_close(dbc);
    dbc = ok ? odbc_open(env, "DSN=n1;UID=postgres;Database=leak", false)
             : SQL_NULL_HDBC;
    ok = ok && dbc && odbc_run(dbc, "CREATE TABLE plain (id int, t text)") &&
         odbc_run(dbc, "CREATE SEQUENCE ticket_seq");
    odbc_close(dbc);
    return ok;
}

void leak_end(void)
{
    SQLHDBC dbc = odbc_open(
        env, "DSN=n1;UID=postgres;Database=postgres", false);

    if (dbc) {
        odbc_run(dbc, "DROP DATABASE IF EXISTS leak WITH (FORCE)");
    }
    odbc_close(dbc);
}

/* The manager takes a narrow and a wide connect of one string for the same,
   and the narrow library of ours those of one login. */
static void set_fleet(const char *string, bool wide)
{
    snprintf(fleet, sizeof fleet, "%s%s", string,
             wide ? ";ByteaAsLongVarBinary=1" : "");
}

void leak_try(const char *what, const char *string, bool plain)
{
    printf("# %s\n", what);
    for (int wide = 0; wide <= 1; wide++) {
        struct leak leak = { .env = env, .string = fleet, .plain = plain,
                             .link = "SELECT pg_backend_pid()" };

        set_fleet(string, wide);
        for (size_t i = 0; i < sizeof messes / sizeof *messes; i++) {
            leak_try_mess(&messes[i], &leak, wide);
        }
        try_next_timeout(wide);
        try_truths(wide);
    }
}
