/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Environments and connections by the book: Appendix B's E and C tables as far
 * as a driver meets them, and connection strings with their lengths and
 * buffers.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "affinity_odbc.h"

#define DSN "DSN=orders;Instances=n1"

/* ---- connecting in a width --------------------------------------------- */

static SQLRETURN connect_by(const struct book_on *on, SQLHDBC dbc,
                            const char *string, SQLSMALLINT length, void *text,
                            SQLSMALLINT size, SQLSMALLINT *needed)
{
    return TEXT_CALL(on, SQLDriverConnect)(dbc, NULL, in(on, string), length,
                                           text, size, needed,
                                           SQL_DRIVER_NOPROMPT);
}

static void drop(const struct book_on *on, SQLHDBC dbc)
{
    on->odbc->SQLDisconnect(dbc);
    want_rc("SQLFreeHandle", on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc),
            SQL_SUCCESS);
}

/* ---- the environment --------------------------------------------------- */

static void env_attributes(const struct book_on *on, const void *row)
{
    static const struct {
        SQLINTEGER attribute;
        SQLINTEGER value;
    } kept[] = {
        { SQL_ATTR_ODBC_VERSION, SQL_OV_ODBC2 },
        { SQL_ATTR_ODBC_VERSION, SQL_OV_ODBC3_80 },
        { SQL_ATTR_ODBC_VERSION, SQL_OV_ODBC3 },
        { SQL_ATTR_OUTPUT_NTS, SQL_TRUE },
        { SQL_ATTR_CP_MATCH, SQL_CP_RELAXED_MATCH },
        { SQL_ATTR_CP_MATCH, SQL_CP_STRICT_MATCH },
    };
    SQLHENV env = SQL_NULL_HENV;

    (void)row;
    on->odbc->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        SQLINTEGER value[2] = { -77, 0x23232323 }, length = -77;

        want_rc("SQLSetEnvAttr",
                on->odbc->SQLSetEnvAttr(env, kept[i].attribute,
                                        (SQLPOINTER)(intptr_t)kept[i].value,
                                        SQL_IS_INTEGER),
                SQL_SUCCESS);
        want_rc("SQLGetEnvAttr",
                on->odbc->SQLGetEnvAttr(env, kept[i].attribute, value, 0,
                                        &length),
                SQL_SUCCESS);
        want_number("value", value[0], kept[i].value);
        want_number("length", length, 4);
        want("four bytes are written", value[1] == 0x23232323);
        want_rc("null pointers",
                on->odbc->SQLGetEnvAttr(env, kept[i].attribute, NULL, 0, NULL),
                SQL_SUCCESS);
    }
    want_error(on, "SQL_ATTR_OUTPUT_NTS, SQL_FALSE",
               on->odbc->SQLSetEnvAttr(env, SQL_ATTR_OUTPUT_NTS,
                                       (SQLPOINTER)SQL_FALSE, 0),
               SQL_HANDLE_ENV, env, "HYC00");
    want_error(on, "SQL_ATTR_ODBC_VERSION, 7",
               on->odbc->SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION,
                                       (SQLPOINTER)7, 0),
               SQL_HANDLE_ENV, env, "HY024");
    want_error(on, "an attribute that does not exist",
               on->odbc->SQLSetEnvAttr(env, 4711, (SQLPOINTER)1, 0),
               SQL_HANDLE_ENV, env, "HY092");
    on->odbc->SQLFreeHandle(SQL_HANDLE_ENV, env);
}

static void env_transactions(const struct book_on *on, const void *row)
{
    SQLHENV env = SQL_NULL_HENV;

    (void)row;
    on->odbc->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
    on->odbc->SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION,
                            (SQLPOINTER)SQL_OV_ODBC3, 0);
    want_rc("without connections",
            on->odbc->SQLEndTran(SQL_HANDLE_ENV, env, SQL_COMMIT),
            SQL_SUCCESS);
    want_error(on, "CompletionType 7, without connections",
               on->odbc->SQLEndTran(SQL_HANDLE_ENV, env, 7), SQL_HANDLE_ENV,
               env, "HY012");
    on->odbc->SQLFreeHandle(SQL_HANDLE_ENV, env);
    want_rc("with connections",
            on->odbc->SQLEndTran(SQL_HANDLE_ENV, on->env, SQL_ROLLBACK),
            SQL_SUCCESS);
    want_error(on, "CompletionType 7",
               on->odbc->SQLEndTran(SQL_HANDLE_DBC, on->dbc, 7),
               SQL_HANDLE_DBC, on->dbc, "HY012");
}

/* SQLEndTran on the environment ends the transactions of all connections. */
static void end_all(const struct book_on *on, const void *row)
{
    struct book_on own[2];

    (void)row;
    for (int i = 0; i < 2; i++) {
        if (!book_own(on, &own[i])) {
            return;
        }
        own[i].odbc->SQLSetConnectAttr(own[i].dbc, SQL_ATTR_AUTOCOMMIT,
                                       (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                                       SQL_IS_UINTEGER);
        want_rc("a table", book_exec(&own[i], own[i].stmt,
                                     "CREATE TEMP TABLE gone ()"),
                SQL_SUCCESS);
    }
    want_rc("SQLEndTran",
            on->odbc->SQLEndTran(SQL_HANDLE_ENV, on->env, SQL_ROLLBACK),
            SQL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        want_error(&own[i], "it is not there",
                   book_exec(&own[i], own[i].stmt, "SELECT * FROM gone"),
                   SQL_HANDLE_STMT, own[i].stmt, "42P01 42S02");
        own[i].odbc->SQLEndTran(SQL_HANDLE_DBC, own[i].dbc, SQL_ROLLBACK);
        book_own_end(&own[i]);
    }
}

/* ---- states of a connection -------------------------------------------- */

static void in_c2(const struct book_on *on, const void *row)
{
    const struct inner_calls *odbc = on->odbc;
    SQLHDBC dbc = book_dbc(on);
    SQLHANDLE handle = on->env;
    SQLWCHAR text[20];
    SQLINTEGER length;

    (void)row;
    want_error(on, "SQLDisconnect", odbc->SQLDisconnect(dbc), SQL_HANDLE_DBC,
               dbc, "08003");
    want_error(on, "SQLAllocHandle, a statement",
               odbc->SQLAllocHandle(SQL_HANDLE_STMT, dbc, &handle),
               SQL_HANDLE_DBC, dbc, "08003");
    want("and its output is null", handle == SQL_NULL_HANDLE);
    want_error(on, "SQLAllocHandle, a descriptor",
               odbc->SQLAllocHandle(SQL_HANDLE_DESC, dbc, &handle),
               SQL_HANDLE_DBC, dbc, "08003");
    want_error(on, "SQLNativeSql",
               TEXT_CALL(on, SQLNativeSql)(dbc, in(on, "SELECT 1"), SQL_NTS,
                                           (void *)text, 20, &length),
               SQL_HANDLE_DBC, dbc, "08003");
    want_error(on, "SQLEndTran",
               odbc->SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT),
               SQL_HANDLE_DBC, dbc, "08003");
    want_rc("SQLFreeHandle", odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc),
            SQL_SUCCESS);
}

static void in_c4(const struct book_on *on, const void *row)
{
    SQLSMALLINT length;

    (void)row;
    want_error(on, "SQLDriverConnect",
               connect_by(on, on->dbc, on->string, SQL_NTS, NULL, 0, &length),
               SQL_HANDLE_DBC, on->dbc, "08002");
    want_error(on, "SQLConnect",
               TEXT_CALL(on, SQLConnect)(on->dbc, in(on, "orders"), SQL_NTS,
                                         NULL, 0, NULL, 0),
               SQL_HANDLE_DBC, on->dbc, "08002");
    want_error(on, "SQLBrowseConnect",
               TEXT_CALL(on, SQLBrowseConnect)(on->dbc, in(on, DSN), SQL_NTS,
                                               NULL, 0, &length),
               SQL_HANDLE_DBC, on->dbc, "08002");
    want_error(on, "SQLFreeHandle",
               on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, on->dbc),
               SQL_HANDLE_DBC, on->dbc, "HY010");
    want_rc("and it is as before", book_exec(on, on->stmt, "SELECT 1"),
            SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* C3, need data: only SQLBrowseConnect and SQLDisconnect go on. */
static void in_c3(const struct book_on *on, const void *row)
{
    const struct inner_calls *odbc = on->odbc;
    SQLHDBC dbc = book_dbc(on);
    SQLHANDLE handle = SQL_NULL_HANDLE;
    SQLWCHAR text[400];
    SQLSMALLINT length;
    SQLRETURN rc;

    (void)row;
    rc = TEXT_CALL(on, SQLBrowseConnect)(dbc, in(on, "DRIVER=Affinity"),
                                         SQL_NTS, (void *)text, 400, &length);
    if (!want_rc("SQLBrowseConnect", rc, SQL_NEED_DATA)) {
        odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
        return;
    }
    want("it asks for a keyword, a prompt and a value",
         strstr(out(on, text), "Instances:") &&
             strstr(out(on, text), "=?"));
    want_error(on, "SQLDriverConnect",
               connect_by(on, dbc, on->string, SQL_NTS, NULL, 0, &length),
               SQL_HANDLE_DBC, dbc, "08002");
    want_error(on, "SQLConnect",
               TEXT_CALL(on, SQLConnect)(dbc, in(on, "orders"), SQL_NTS, NULL,
                                         0, NULL, 0),
               SQL_HANDLE_DBC, dbc, "08002");
    want_error(on, "SQLAllocHandle, a statement",
               odbc->SQLAllocHandle(SQL_HANDLE_STMT, dbc, &handle),
               SQL_HANDLE_DBC, dbc, "08003");
    rc = TEXT_CALL(on, SQLBrowseConnect)(dbc, in(on, "Instances=n1"), SQL_NTS,
                                         (void *)text, 400, &length);
    want_rc("SQLBrowseConnect goes on", rc, SQL_SUCCESS);
    want("with a whole connection string",
         strstr(out(on, text), "Instances=n1"));
    want_rc("SQLDisconnect", odbc->SQLDisconnect(dbc), SQL_SUCCESS);
    TEXT_CALL(on, SQLBrowseConnect)(dbc, in(on, "DRIVER=Affinity"), SQL_NTS,
                                    (void *)text, 400, &length);
    want_rc("SQLDisconnect ends it", odbc->SQLDisconnect(dbc), SQL_SUCCESS);
    want_rc("SQLDriverConnect after it",
            connect_by(on, dbc, on->string, SQL_NTS, NULL, 0, &length),
            SQL_SUCCESS);
    want_rc("SQLDisconnect", odbc->SQLDisconnect(dbc), SQL_SUCCESS);
    want_rc("SQLFreeHandle", odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc),
            SQL_SUCCESS);
}

static void after_failure(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLSMALLINT length;

    (void)row;
    want_rc("a connection to nowhere",
            connect_by(on, dbc, DSN ";AffinityMode=nonsense", SQL_NTS, NULL, 0,
                       &length),
            SQL_ERROR);
    want_error(on, "is none", on->odbc->SQLDisconnect(dbc), SQL_HANDLE_DBC,
               dbc, "08003");
    for (int i = 0; i < 2; i++) {
        want_rc("the handle connects",
                connect_by(on, dbc, on->string, SQL_NTS, NULL, 0, &length),
                SQL_SUCCESS);
        want_state(on, "without records", SQL_HANDLE_DBC, dbc, "");
        want_rc("and disconnects", on->odbc->SQLDisconnect(dbc), SQL_SUCCESS);
    }
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

static void open_transaction(const struct book_on *on, const void *row)
{
    struct book_on own;

    (void)row;
    if (!book_own(on, &own)) {
        return;
    }
    own.odbc->SQLSetConnectAttr(own.dbc, SQL_ATTR_AUTOCOMMIT,
                                (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                                SQL_IS_INTEGER);
    book_exec(&own, own.stmt, "SELECT 1");
    own.odbc->SQLFreeStmt(own.stmt, SQL_CLOSE);
    want_error(&own, "SQLDisconnect", own.odbc->SQLDisconnect(own.dbc),
               SQL_HANDLE_DBC, own.dbc, "25000");
    own.odbc->SQLDisconnect(own.dbc);
    own.odbc->SQLFreeHandle(SQL_HANDLE_DBC, own.dbc);
}

/* ---- connection strings ------------------------------------------------ */

static void out_lengths(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLWCHAR text[600], cut[600];
    SQLSMALLINT needed = -1, again = -1;

    (void)row;
    blot(text, sizeof text);
    want_rc("with room",
            connect_by(on, dbc, on->string, SQL_NTS, text, 600, &needed),
            SQL_SUCCESS);
    want_number("length in characters", needed,
                (long long)strlen(out(on, text)));
    on->odbc->SQLDisconnect(dbc);
    want_rc("no buffer, no length",
            connect_by(on, dbc, on->string, SQL_NTS, NULL, 0, NULL),
            SQL_SUCCESS);
    on->odbc->SQLDisconnect(dbc);
    want_rc("exact room",
            connect_by(on, dbc, on->string, SQL_NTS, cut,
                       (SQLSMALLINT)(needed + 1), &again),
            SQL_SUCCESS);
    want_text("exact room", out(on, cut), out(on, text));
    on->odbc->SQLDisconnect(dbc);
    blot(cut, sizeof cut);
    want_info(on, "one character too few",
              connect_by(on, dbc, on->string, SQL_NTS, cut, needed, &again),
              SQL_HANDLE_DBC, dbc, "01004");
    want_number("length of all, cut", again, needed);
    want_number("cut and terminated", (long long)strlen(out(on, cut)),
                needed - 1);
    want("nothing behind it", ((char *)cut)[(size_t)needed * unit(on)] == '#');
    want_rc("it is connected", on->odbc->SQLDisconnect(dbc), SQL_SUCCESS);
    blot(cut, sizeof cut);
    want_rc("a negative room",
            connect_by(on, dbc, on->string, SQL_NTS, cut, -1, &again),
            SQL_ERROR);
    want_state(on, "a negative room", SQL_HANDLE_DBC, dbc, "HY090");
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

static void in_lengths(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    char longer[200];
    SQLSMALLINT needed;

    (void)row;
    snprintf(longer, sizeof longer, "%s;AffinityMode=nonsense", on->string);
    want_rc("an explicit length reads no further",
            connect_by(on, dbc, longer, (SQLSMALLINT)strlen(on->string), NULL,
                       0, &needed),
            SQL_SUCCESS);
    on->odbc->SQLDisconnect(dbc);
    want_error(on, "a length of -7",
               connect_by(on, dbc, on->string, -7, NULL, 0, &needed),
               SQL_HANDLE_DBC, dbc, "HY090");
    want_rc("a length in SQLConnect",
            TEXT_CALL(on, SQLConnect)(dbc, in(on, "ordersXXX"), 6, NULL, 0,
                                      NULL, 0),
            SQL_SUCCESS);
    on->odbc->SQLDisconnect(dbc);
    want_error(on, "a length of -7 in SQLConnect",
               TEXT_CALL(on, SQLConnect)(dbc, in(on, "orders"), -7, NULL, 0,
                                         NULL, 0),
               SQL_HANDLE_DBC, dbc, "HY090");
    want_error(on, "a user's length of -7",
               TEXT_CALL(on, SQLConnect)(dbc, in(on, "orders"), SQL_NTS,
                                         in(on, "app"), -7, NULL, 0),
               SQL_HANDLE_DBC, dbc, "HY090");
    want_error(on, "a data source that does not exist",
               TEXT_CALL(on, SQLConnect)(dbc, in(on, "nowhere"), SQL_NTS, NULL,
                                         0, NULL, 0),
               SQL_HANDLE_DBC, dbc, "IM002");
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

/* What the completed string says about a keyword when this one came in. */
struct spelling {
    const char *name, *in, *out;
};

static const struct spelling spellings[] = {
    { "keywords are not case-sensitive", "dsn=orders;instances=n1;AFFINITYKEY=7",
      "AFFINITYKEY=7;" },
    { "values in braces", "DSN=orders;Instances=n1;AffinityKey={7}", NULL },
    { "a semicolon in braces",
      "DSN=orders;Instances=n1;AffinityMap=;AffinityTable=;"
      "AffinityKey={a;b}",
      "AffinityKey={a;b};" },
    { "a closing brace in braces",
      "DSN=orders;Instances=n1;AffinityTable=;AffinityKey={a}}b}",
      "AffinityKey={a}}b};" },
    { "an equals sign in a value",
      "DSN=orders;Instances=n1;AffinityTable=;AffinityKey=a=b",
      "AffinityKey=" },
    { "a semicolon at the end", "DSN=orders;Instances=n1;AffinityKey=7;",
      "AffinityKey=7;" },
    { "the password comes back only if it came in",
      "DSN=orders;Instances=n1;PWD={s;}}t}", "PWD={s;}}t};" },
};

static void spelled(const struct book_on *on, const void *row)
{
    const struct spelling *s = row;
    SQLHDBC dbc = book_dbc(on);
    SQLWCHAR first[600] = { 0 }, second[600] = { 0 };
    SQLSMALLINT length;

    want_rc("it connects",
            connect_by(on, dbc, s->in, SQL_NTS, first, 600, &length),
            SQL_SUCCESS);
    on->odbc->SQLDisconnect(dbc);
    if (s->out && !strstr(out(on, first), s->out)) {
        book_miss("'%s' is not in '%s'", s->out, out(on, first));
    }
    want("no password unless one came in",
         strstr(s->in, "PWD") || !strstr(out(on, first), "PWD"));
    want_rc("by what came back, too",
            connect_by(on, dbc, out(on, first), SQL_NTS, second, 600, &length),
            SQL_SUCCESS);
    want_text("and it comes back the same", out(on, second), out(on, first));
    drop(on, dbc);
}

/* "ü€" and a character beyond 16 bits, as a key, in the width of `on`. */
static size_t put_key(const struct book_on *on, void *text)
{
    static const SQLWCHAR wide[] = { 0xfc, 0x20ac, 0xd83d, 0xde00, 0 };
    static const char narrow[] = "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80";

    memcpy(text, on->wide ? (const void *)wide : narrow,
           on->wide ? sizeof wide : sizeof narrow);
    return on->wide ? 4 : sizeof narrow - 1;
}

static bool is_whole(const struct book_on *on, const void *text, size_t units)
{
    const SQLWCHAR *wide = text;

    if (units == 0) {
        return true;
    }
    /* not after the first of a pair, not within a sequence */
    return on->wide ? (wide[units - 1] & 0xfc00) != 0xd800
                    : units == 2 || units == 5 || units == 9;
}

/* What is cut is cut between characters, and lengths count units. */
static void cut_between(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLSMALLINT length;
    SQLWCHAR key[12];
    size_t units = put_key(on, key), u = unit(on);

    (void)row;
    want_rc("setting it",
            TEXT_CALL(on, SQLSetConnectAttr)(dbc, SQL_ATTR_AFFINITY_KEY, key,
                                             (SQLINTEGER)(units * u)),
            SQL_SUCCESS);
    want_rc("connecting",
            connect_by(on, dbc, DSN ";AffinityTable=", SQL_NTS, NULL, 0,
                       &length),
            SQL_SUCCESS);
    for (size_t room = 1; room <= units + 1; room++) {
        SQLINTEGER needed = -1;
        SQLWCHAR got[16];
        size_t count = 0;

        blot(got, sizeof got);
        want_rc("a room",
                TEXT_CALL(on, SQLGetConnectAttr)(
                    dbc, SQL_ATTR_AFFINITY_KEY, got, (SQLINTEGER)(room * u),
                    &needed),
                room > units ? SQL_SUCCESS : SQL_SUCCESS_WITH_INFO);
        want_number("bytes of all", needed, (long long)(units * u));
        while (count < units &&
               memcmp((char *)got + count * u, "\0\0", u) != 0) {
            count++;
        }
        want("no more than there is room for", count < room);
        want("what there is of the value", memcmp(got, key, count * u) == 0);
        want("no part of a character", is_whole(on, got, count));
    }
    drop(on, dbc);
}

static void first_of_two(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLWCHAR text[100] = { 0 };
    SQLINTEGER length;

    (void)row;
    connect_by(on, dbc, DSN ";AffinityKey=7;AffinityKey=8", SQL_NTS, NULL, 0,
               NULL);
    TEXT_CALL(on, SQLGetConnectAttr)(dbc, SQL_ATTR_AFFINITY_KEY, text,
                                     sizeof text, &length);
    want_text("the key", out(on, text), "7");
    drop(on, dbc);
}

static void unknown_keyword(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLSMALLINT length;
    char string[100];

    (void)row;
    snprintf(string, sizeof string, "%s;Nonsense=1", on->string);
    want_info(on, "SQLDriverConnect",
              connect_by(on, dbc, string, SQL_NTS, NULL, 0, &length),
              SQL_HANDLE_DBC, dbc, "01S00");
    drop(on, dbc);
}

/* ---- the rules --------------------------------------------------------- */

static void try_connections(void)
{
    book_try(BOOK_OURS, BOOK_LOW,
             "SQLSetEnvAttr, Comments: values, lengths, HYC00, HY024, HY092",
             env_attributes, NULL);
    book_try(BOOK_OURS, BOOK_BELOW,
             "SQLEndTran, Comments: environments; HY012", env_transactions,
             NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLEndTran, Comments: all connections of an environment", end_all,
             NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "Appendix B, Connection Transitions: C2, 08003", in_c2, NULL);
    /* unixODBC's SQLBrowseConnect reads a name that nobody has written */
    book_try(BOOK_OURS, BOOK_BELOW,
             "Appendix B, Connection Transitions: C3, need data", in_c3, NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "Appendix B, Connection Transitions: C4, 08002 and HY010", in_c4,
             NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "Appendix B, Connection Transitions: a failed connect stays C2",
             after_failure, NULL);
    book_try(BOOK_INNER, BOOK_MANAGED,
             "Appendix B, Connection Transitions: C6, SQLDisconnect 25000",
             open_transaction, NULL);
}

static void try_strings(void)
{
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLDriverConnect, OutConnectionString: lengths and 01004",
             out_lengths, NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLDriverConnect and SQLConnect, Diagnostics: HY090, IM002",
             in_lengths, NULL);
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        char name[160];

        snprintf(name, sizeof name,
                 "SQLDriverConnect, Connection Strings: %s",
                 spellings[i].name);
        book_try(BOOK_OURS, BOOK_ALL, name, spelled, &spellings[i]);
    }
    /* before a connection the manager makes wide text narrow as it can */
    book_try(BOOK_OURS, BOOK_NARROW | BOOK_BELOW,
             "Unicode: what is cut is cut between characters", cut_between,
             NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLDriverConnect, Connection Strings: the first of two counts",
             first_of_two, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLDriverConnect, Diagnostics: 01S00", unknown_keyword, NULL);
}

int main(void)
{
    try_connections();
    try_strings();
    return book_end();
}
