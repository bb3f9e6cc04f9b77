/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Connecting through the manager: what may be said by string, DSN and argument
 * (by attribute: attr-test.c), what comes back, and what is refused in which
 * words.  Where a key leads is routing-test.py's subject; here it is only the
 * witness that a value arrived.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity_odbc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- SQLConnect, and strings that come back ------------------------------ */

static SQLRETURN by_dsn(SQLHDBC dbc, const char *dsn, const char *user,
                        const char *password, bool wide)
{
    return wide ? SQLConnectW(dbc, try_utf16(dsn), SQL_NTS,
                              user ? try_utf16(user) : NULL, SQL_NTS,
                              password ? try_utf16(password) : NULL, SQL_NTS)
                : SQLConnect(dbc, (SQLCHAR *)dsn, SQL_NTS, (SQLCHAR *)user,
                             SQL_NTS, (SQLCHAR *)password, SQL_NTS);
}

static void connect_by_dsn(void)
{
    char name[80];

    for (int wide = 0; wide <= 1; wide++) {
        SQLHDBC dbc = try_dbc();
        snprintf(name, sizeof name, "SQLConnect%s: the DSN's key",
                 wide ? "W" : "");
        tap_is(name, try_landed(dbc, by_dsn(dbc, "keyed", NULL, NULL, wide)),
               "n2");
        dbc = try_dbc();
        snprintf(name, sizeof name, "SQLConnect%s: with a user",
                 wide ? "W" : "");
        try_connect(dbc, "DSN=n1", false);
        SQLDisconnect(dbc);
        SQLRETURN rc = by_dsn(dbc, "keyed", "postgres", "", wide);
        tap_is(name,
               SQL_SUCCEEDED(rc) ? odbc_value(dbc, "SELECT user")
                                 : "not connected",
               "postgres");
        odbc_close(dbc);
    }
    SQLHDBC dbc = try_dbc();
    SQLRETURN rc = SQLConnect(dbc, (SQLCHAR *)"keyed#", 5, NULL, 0, NULL, 0);
    tap_is("SQLConnect: a name with its length", try_landed(dbc, rc), "n2");
    tap_is("the string wins over the DSN's key",
           try_place("DSN=keyed;AffinityKey=5"), "n1");
}

/* The value of a keyword in SHOW AFFINITY CONFIG. */
static const char *configured(const char *string, const char *keyword)
{
    static char value[300];
    char name[300] = "";
    SQLHDBC dbc = odbc_open(try_env, string, false);
    SQLHSTMT stmt;
    SQLLEN a, b = 0;

    snprintf(value, sizeof value, "%s", dbc ? "(none)" : odbc_error());
    if (!dbc) {
        return value;
    }
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"SHOW AFFINITY CONFIG", SQL_NTS);
    SQLBindCol(stmt, 1, SQL_C_CHAR, name, sizeof name, &a);
    SQLBindCol(stmt, 2, SQL_C_CHAR, value, sizeof value, &b);
    while (strcmp(name, keyword) != 0 && SQL_SUCCEEDED(SQLFetch(stmt))) {
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    odbc_close(dbc);
    return b == SQL_NULL_DATA ? "NULL" : value;
}

static void defaults(void)
{
    tap_is("[Affinity] in odbcinst.ini is the default of all DSNs",
           configured("DSN=orders", "PoolMaxReuse"), "70000");
    tap_is("the DSN's value wins over it",
           configured("DSN=keyed", "PoolMaxReuse"), "60000");
    tap_is("the string's over both",
           configured("DSN=keyed;PoolMaxReuse=50000", "PoolMaxReuse"), "50000");
}

static const char *completed(const char *string, SQLUSMALLINT completion,
                             SQLSMALLINT room, SQLRETURN *rc,
                             SQLSMALLINT *length)
{
    static char out[2048];
    SQLHDBC dbc = try_dbc();

    memset(out, 0, sizeof out);
    *rc = SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS,
                           (SQLCHAR *)out, room, length, completion);
    if (SQL_SUCCEEDED(*rc)) {
        SQLDisconnect(dbc);
    } else {
        snprintf(out, sizeof out, "%s", odbc_record(SQL_HANDLE_DBC, dbc, 1));
    }
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    return out;
}

static void output_strings(void)
{
    static const char given[] = "DSN=orders-strict;AffinityKey={1,500};"
                                "BoolsAsChar=0;AffinityTable=public.accounts";
    const char *password = getenv("AFFINITY_SANDBOX_PASSWORD");
    char again[2048], string[300];
    SQLSMALLINT length;
    SQLRETURN rc;
    const char *out = completed(given, SQL_DRIVER_COMPLETE, 2048, &rc, &length);

    tap_ok(rc == SQL_SUCCESS && strstr(out, "DSN=orders-strict;") &&
               strstr(out, "AffinityKey={1,500}") &&
               strstr(out, "BoolsAsChar=0") &&
               strstr(out, "AffinityTable=public.accounts") &&
               !strcasestr(out, "PWD") && length == (SQLSMALLINT)strlen(out),
           "the completed string has what was given, and no password",
           "%d '%s'", rc, out);
    snprintf(again, sizeof again, "%s", out);
    tap_is("it comes back the same when it is used again",
           completed(again, SQL_DRIVER_COMPLETE_REQUIRED, 2048, &rc, &length),
           again);
    snprintf(string, sizeof string,
             "DSN=orders-tcp;UID=app;PWD={%s};AffinityKey=5", password);
    out = completed(string, SQL_DRIVER_NOPROMPT, 2048, &rc, &length);
    tap_ok(rc == SQL_SUCCESS && strstr(out, password) && strstr(out, "UID=app"),
           "a password that was given is in it", "%d '%s'", rc, out);
    out = completed("DSN=orders-tcp;AffinityKey=5", SQL_DRIVER_NOPROMPT, 2048,
                    &rc, &length);
    tap_ok(rc == SQL_SUCCESS && !strstr(out, password),
           "the password of an instance's DSN is not", "%d '%s'", rc, out);
    out = completed(given, SQL_DRIVER_NOPROMPT, 8, &rc, &length);
    tap_ok(rc == SQL_SUCCESS_WITH_INFO && strcmp(out, "DSN=ord") == 0 &&
               length == (SQLSMALLINT)strlen(again),
           "a string that is cut says how long it would be", "%d '%s' %d", rc,
           out, length);
}

static const char *info(const char *string, SQLUSMALLINT type)
{
    static char text[200];
    SQLSMALLINT length;
    SQLHDBC dbc = odbc_open(try_env, string, false);

    snprintf(text, sizeof text, "%s", dbc ? "" : odbc_error());
    if (dbc) {
        SQLGetInfo(dbc, type, text, sizeof text, &length);
        odbc_close(dbc);
    }
    return text;
}

static void data_source(void)
{
    tap_is("SQL_DATA_SOURCE_NAME is ours",
           info("DSN=orders;AffinityKey=5", SQL_DATA_SOURCE_NAME), "orders");
    tap_is("SQL_DRIVER_NAME is the inner driver's",
           info("DSN=orders;AffinityKey=5", SQL_DRIVER_NAME), "psqlodbcw.so");
    tap_is("without a DSN there is no name",
           info("DRIVER=Affinity;Instances={n1, n2, n3}", SQL_DATA_SOURCE_NAME),
           "");
    tap_is("a string without a DSN",
           try_place("DRIVER={Affinity};Instances={n1, n2, n3};"
                     "AffinityMode=strict;AffinityTable=public.orders;"
                     "AffinityKey=1500"),
           "n2");
    tap_is("cases and blanks as they come",
           try_place("dsn=orders-strict; affinityKEY = 2500 ;"), "n3");
}

/* ---- passwords ----------------------------------------------------------- */

/* A password as it stands, in braces, and by the escapes of psqlODBC's own
   unbraced form. */
struct password {
    const char *name;
    char text[4200], braced[4300], escaped[13000];
};

static void spell(struct password *p)
{
    char *b = p->braced, *e = p->escaped;

    *b++ = '{';
    for (const char *c = p->text; *c; c++) {
        *b++ = *c;
        if (*c == '}') {
            *b++ = '}';
        }
        e += snprintf(e, 4, "%%%02X", (unsigned char)*c);
    }
    snprintf(b, 2, "}");
}

static bool make_role(const char *password)
{
    char sql[8600] = "CREATE ROLE awkward LOGIN PASSWORD '", *s;
    SQLHDBC dbc = odbc_open(try_env, "DSN=n1;UID=postgres", false);
    bool ok;

    for (s = sql + strlen(sql); *password; password++) {
        *s++ = *password;
        if (*password == '\'') {
            *s++ = '\'';
        }
    }
    snprintf(s, 2, "'");
    odbc_run(dbc, "DROP ROLE IF EXISTS awkward");
    ok = odbc_run(dbc, sql);
    odbc_close(dbc);
    return ok;
}

static void drop_role(void)
{
    SQLHDBC dbc = odbc_open(try_env, "DSN=n1;UID=postgres", false);

    odbc_run(dbc, "DROP ROLE IF EXISTS awkward");
    odbc_close(dbc);
}

/* PoolMaxReuse=1: each session logs in for itself. */
#define LOGIN "DSN=orders-tcp;Instances=n1-tcp;PoolMaxReuse=1;UID=awkward"

static void try_login(const char *name, const char *form, const char *pwd,
                      const char *wanted)
{
    char *string = malloc(20000), what[160];

    for (int wide = 0; wide <= 1; wide++) {
        SQLHDBC dbc = try_dbc();
        snprintf(string, 20000, LOGIN ";PWD=%s", pwd);
        snprintf(what, sizeof what, "%s, %s, %s", name, form,
                 wide ? "wide" : "narrow");
        try_says(what, try_landed(dbc, try_connect(dbc, string, wide)), wanted,
                 "");
    }
    free(string);
}

static void passwords(void)
{
    static struct password all[] = {
        {.name = "awkward characters",
         .text = "a%20b+c;d}e{f}}\"g\"' h=\\i&?#[]|"},
        {.name = "blanks around", .text = "  padded  "},
        {.name = "4 KB"},
    };

    for (size_t i = 0; i < 4096; i++) {
        all[2].text[i] = "0123456789abcdef+%;}"[(i * 7 + i / 20) % 20];
    }
    for (size_t i = 0; i < COUNT(all); i++) {
        struct password *p = &all[i];
        SQLHDBC dbc;
        if (!make_role(p->text)) {
            tap_ok(false, p->name, "no role: %s", odbc_error());
            continue;
        }
        spell(p);
        try_login(p->name, "in braces", p->braced, "n1");
        if (i < 2) {
            try_login(p->name, "escaped", p->escaped, "n1");
        }
        dbc = try_dbc();
        char name[80];
        snprintf(name, sizeof name, "%s, by SQLConnect", p->name);
        tap_is(
            name,
            try_landed(dbc, by_dsn(dbc, "one-tcp", "awkward", p->text, false)),
            "n1");
        dbc = try_dbc();
        snprintf(name, sizeof name, "%s, by SQLConnectW", p->name);
        tap_is(
            name,
            try_landed(dbc, by_dsn(dbc, "one-tcp", "awkward", p->text, true)),
            "n1");
    }
    try_login("a wrong password", "in braces", "{nonsense}", "28000");
    try_login("no password", "at all", "", "28000");
    try_says("a record has no password in it", try_place(LOGIN ";PWD=secret77"),
             "28000", "login");
    tap_ok(!strstr(try_place(LOGIN ";PWD=secret77"), "secret77"),
           "nor the one that was refused", "%s", "it has");
    drop_role();
}

/* ---- what is refused ----------------------------------------------------- */

static void keywords(void)
{
    SQLHDBC dbc = try_dbc();
    SQLRETURN rc = try_connect(dbc,
                               "DSN=orders;AffinityKey=5;Nonsense=1;"
                               "PoolMaxSize=3;CPTimeout=1",
                               false);

    tap_ok(rc == SQL_SUCCESS, "unknown words pass silently", "%d %s", rc,
           odbc_record(SQL_HANDLE_DBC, dbc, 1));
    odbc_close(dbc);
    static const char *const misspelt[] = {"AffinityMod", "AffinityTables",
                                           "ClientAffinityX", "PoolWat",
                                           "MonitorUser"};
    for (size_t i = 0; i < COUNT(misspelt); i++) {
        char string[120], name[80];
        dbc = try_dbc();
        snprintf(string, sizeof string, "DSN=orders;AffinityKey=5;%s=1",
                 misspelt[i]);
        rc = try_connect(dbc, string, i % 2);
        snprintf(name, sizeof name, "%s is told as misspelt", misspelt[i]);
        tap_ok(rc == SQL_SUCCESS_WITH_INFO &&
                   !strncmp(odbc_record(SQL_HANDLE_DBC, dbc, 1), "01S00", 5) &&
                   strstr(odbc_record(SQL_HANDLE_DBC, dbc, 1), misspelt[i]),
               name, "%d %s", rc, odbc_record(SQL_HANDLE_DBC, dbc, 1));
        odbc_close(dbc);
    }
    static const struct {
        const char *more, *state, *words;
    } refused[] = {
        {"MaxLag=5", "HYC00", "MaxLag=5"},
        {"ReadFrom=any", "HYC00", "ReadFrom=any"},
        {"PoolCreate=nobody", "HY024", "PoolCreate=nobody"},
        {"ManagerPooling=maybe", "HY024", "refuse"},
        {"AffinityScope=transaction", "HYC00", "AffinityScope=transaction"},
        {"PoolMin=2;PoolMax=1", "HY024", "PoolMin=2"},
        {"PoolInitial=2;PoolMax=1", "HY024", "PoolInitial=2"},
        {"ClientAffinity=all-after-write", "HYC00", "ClientAffinity"},
        {"PoolMax=0", "HY024", "PoolMax=0"},
        {"PoolMax=many", "HY024", "PoolMax=many"},
        {"PoolWait=3s", "HY024", "PoolWait=3s"},
        {"PoolWait=-1", "HY024", "PoolWait=-1"},
        {"ConnectTimeout=0", "HY024", "ConnectTimeout=0"},
        {"LoadBalance=fair", "HY024", "LoadBalance=fair"},
        {"AffinityMode=maybe", "HY024", "AffinityMode=maybe"},
        {"Access=write", "HY024", "Access=write"},
        {"Server=db1", "HY024", "Server=db1"},
        {"Servername=db1", "HY024", "Servername=db1"},
        {"Port=5432", "HY024", "Port=5432"},
        {"Instances=", "HY024", "Instances"},
        {"Instances={n1,n1}", "HY024", "n1"},
        {"Instances={n1,nope}", "IM002", "nope"},
        {"Instances={n1,broken}", "IM003", "/nowhere/libnothing.so"},
        {"Instances={n1,orders}", "HY024", "orders"},
        {"Instances={n1,orders-strict}", "", "orders-strict"},
        {"Instances={n1,n2-ansi}", "", "Affinity ANSI"},
    };
    for (size_t i = 0; i < COUNT(refused); i++) {
        char string[120], name[100];
        snprintf(string, sizeof string, "DSN=orders;%s", refused[i].more);
        snprintf(name, sizeof name, "%s is refused", refused[i].more);
        const char *got = try_place(string);
        try_says(name, got, refused[i].state, refused[i].words);
        if (!*refused[i].state && got[0] == 'n') {
            tap_ok(false, name, "connected to %s", got);
        }
    }
}

static void inner_driver(void)
{
    const char *password = getenv("AFFINITY_SANDBOX_PASSWORD");
    char string[600];

    snprintf(string, sizeof string,
             "DRIVER=Affinity;InnerDriver={PostgreSQL Unicode};"
             "Instances={n1@127.0.0.1:%s,n2@127.0.0.1:%s,n3@127.0.0.1:%s};"
             "Database=app;UID=app;PWD=%s;AffinityTable=public.orders;"
             "AffinityMode=strict;AffinityKey=1500",
             try_port(1), try_port(2), try_port(3), password);
    tap_is("InnerDriver with name@host:port", try_place(string), "n2");
    snprintf(string, sizeof string,
             "DRIVER=Affinity;InnerDriver={PostgreSQL Unicode};"
             "Instances={127.0.0.1:%s, 127.0.0.1:%s, 127.0.0.1:%s};"
             "Database=app;UID=app;PWD=%s;AffinityTable=public.orders;"
             "AffinityMode=strict;AffinityKey=2500",
             try_port(1), try_port(2), try_port(3), password);
    {
        /* The foreign servers name sockets, so only who answers is known. */
        SQLHDBC dbc = odbc_open(try_env, string, false);
        SQLHDBC again;
        for (int i = 0; dbc && i < 20000; i++) {
            if (!strcmp(try_column(dbc, "SHOW AFFINITY", 8), "complete")) {
                break;
            }
        }
        again = odbc_open(try_env, string, true);
        tap_is("InnerDriver with host:port, once all have answered",
               again ? odbc_value(again, "SHOW cluster_name") : odbc_error(),
               "n3");
        odbc_close(again);
        odbc_close(dbc);
    }
    try_says(
        "InnerDriver that is not registered",
        try_place("DRIVER=Affinity;InnerDriver=Nothing;Instances=127.0.0.1:1"),
        "IM", "Nothing");
    try_says("InnerDriver that is ourselves",
             try_place("DRIVER=Affinity;InnerDriver=Affinity;"
                       "Instances=127.0.0.1:1"),
             "", "Affinity");
    try_says("InnerDriver with a port that is none",
             try_place("DRIVER=Affinity;InnerDriver={PostgreSQL Unicode};"
                       "Instances=127.0.0.1:99999"),
             "HY024", "99999");
}

/* ---- error records ------------------------------------------------------- */

/* Nobody listens on port 1. */
static void records(void)
{
    const char *password = getenv("AFFINITY_SANDBOX_PASSWORD");
    char string[600];
    SQLHDBC dbc;

    snprintf(string, sizeof string,
             "DRIVER=Affinity;InnerDriver={PostgreSQL Unicode};"
             "Instances={n1@127.0.0.1:%s,n2@127.0.0.1:1,n3@127.0.0.1:%s};"
             "Database=app;UID=app;PWD=%s;AffinityTable=public.orders;"
             "AffinityMode=strict;AffinityKey=1500",
             try_port(1), try_port(3), password);
    for (int wide = 0; wide <= 1; wide++) {
        dbc = try_dbc();
        try_connect(dbc, string, wide);
        const char *first = odbc_record(SQL_HANDLE_DBC, dbc, 1);
        try_says("record 1 has state and native number", first, "08001 28 ",
                 "");
        try_says("it names the key", first, "", "key 1500");
        try_says("it names the owner", first, "", "owner n2");
        try_says("it says how long was waited", first, "", "waited ");
        try_says("record 2 is of n1", odbc_record(SQL_HANDLE_DBC, dbc, 2), "",
                 " n1: not the owner");
        try_says("record 3 is of n2, with what its inner driver said",
                 odbc_record(SQL_HANDLE_DBC, dbc, 3), "", " n2: [08001]");
        try_says("record 4 is of n3", odbc_record(SQL_HANDLE_DBC, dbc, 4), "",
                 " n3: not the owner");
        tap_is("there is no fifth", odbc_record(SQL_HANDLE_DBC, dbc, 5), "");
        bool secret = false;
        for (SQLSMALLINT i = 1; i <= 4; i++) {
            const char *record = odbc_record(SQL_HANDLE_DBC, dbc, i);
            secret |= strstr(record, password) != NULL;
            tap_ok(strlen(record) < 512, "a record fits the manager's buffer",
                   "%zu", strlen(record));
        }
        tap_ok(!secret, "none has the password", "%s", "one has");
        SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    }
}

static void records_of_map(void)
{
    char path[] = "/tmp/affinity-map.XXXXXX", string[300];
    int file = mkstemp(path);
    SQLHDBC dbc = try_dbc();

    dprintf(file, "[n1]\nrange = ..1000\n[n2]\nreadonly = yes\n"
                  "range = 1000..2000\n[n3]\nenabled = no\n"
                  "range = 2000..\n");
    close(file);
    snprintf(string, sizeof string,
             "DSN=orders-strict;AffinityTable=;AffinityMap=%s;"
             "AffinityKey=1500",
             path);
    try_connect(dbc, string, false);
    try_says("the owner is read-only by the map file",
             odbc_record(SQL_HANDLE_DBC, dbc, 3), "08001 28",
             "read-only by the map file");
    snprintf(strstr(string, "1500"), 5, "2500");
    try_connect(dbc, string, false);
    try_says("the owner is disabled by the map file",
             odbc_record(SQL_HANDLE_DBC, dbc, 4), "08001 28",
             "disabled by the map file");
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    unlink(path);
}

/* ---- versions of ODBC ---------------------------------------------------- */

static SQLSMALLINT date_type(SQLHDBC dbc)
{
    SQLHSTMT stmt;
    SQLCHAR name[20];
    SQLSMALLINT length, type = -1, digits, nullable;
    SQLULEN size;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    SQLExecDirect(stmt, (SQLCHAR *)"SELECT date '2026-02-03'", SQL_NTS);
    SQLDescribeCol(stmt, 1, name, sizeof name, &length, &type, &size, &digits,
                   &nullable);
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return type;
}

static void odbc_versions(void)
{
    SQLHENV old = SQL_NULL_HENV;
    SQLHDBC dbc = SQL_NULL_HDBC, other;
    char pid[20];

    SQLAllocEnv(&old);
    SQLAllocConnect(old, &dbc);
    SQLSetConnectOption(dbc, SQL_ATTR_AFFINITY_KEY,
                        (SQLULEN)(uintptr_t) "1500");
    SQLConnect(dbc, (SQLCHAR *)"keyed", SQL_NTS, NULL, 0, NULL, 0);
    tap_is("ODBC 2: a key by SQLSetConnectOption",
           odbc_value(dbc, "SHOW cluster_name"), "n2");
    tap_ok(date_type(dbc) == SQL_DATE, "ODBC 2: a date is an ODBC 2 date", "%d",
           date_type(dbc));
    snprintf(pid, sizeof pid, "%s", odbc_value(dbc, "SELECT pg_backend_pid()"));
    SQLDisconnect(dbc);

    other = odbc_open(try_env, "DSN=keyed", false);
    tap_ok(date_type(other) == SQL_TYPE_DATE, "ODBC 3: a date is a date", "%d",
           date_type(other));
    tap_ok(strcmp(odbc_value(other, "SELECT pg_backend_pid()"), pid) != 0,
           "no link changes from ODBC 2 to ODBC 3", "%s", pid);
    odbc_close(other);
    SQLFreeConnect(dbc);
    SQLFreeEnv(old);

    SQLHENV newer = odbc_env(SQL_OV_ODBC3_80);
    other = odbc_open(newer, "DSN=keyed", true);
    tap_is("ODBC 3.80 connects", odbc_value(other, "SHOW cluster_name"), "n2");
    tap_ok(date_type(other) == SQL_TYPE_DATE, "ODBC 3.80: a date is a date",
           "%d", date_type(other));
    odbc_close(other);
    SQLFreeHandle(SQL_HANDLE_ENV, newer);
}

int main(void)
{
    if (!try_ini_make("\n[keyed]\nDriver = Affinity\nInstances = n1, n2, n3\n"
                      "AffinityTable = public.orders\nAffinityMode = strict\n"
                      "AffinityKey = 1500\nPoolMaxReuse = 60000\n"
                      "\n[one-tcp]\nDriver = Affinity\nInstances = n1-tcp\n"
                      "PoolMaxReuse = 1\n"
                      "\n[broken]\nDriver = Broken\nServername = db1\n",
                      "PoolMaxReuse = 70000\n",
                      "\n[Broken]\nDriver = /nowhere/libnothing.so\n")) {
        tap_ok(false, "ini files of its own", "%s", "none");
        return tap_end();
    }
    try_env = odbc_env(SQL_OV_ODBC3);
    connect_by_dsn();
    defaults();
    output_strings();
    data_source();
    passwords();
    keywords();
    inner_driver();
    records();
    records_of_map();
    odbc_versions();
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    try_ini_drop();
    return tap_end();
}
