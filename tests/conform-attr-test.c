/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Attributes of connections and statements by the book: before and after
 * connecting, the widths of their values, text and its lengths, and values
 * that are not allowed.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "affinity_odbc.h"

#define DSN "DSN=orders;Instances=n1"

static SQLRETURN connect_by(const struct book_on *on, SQLHDBC dbc,
                            const char *string)
{
    SQLSMALLINT length;

    return TEXT_CALL(on, SQLDriverConnect)(dbc, NULL, in(on, string), SQL_NTS,
                                           NULL, 0, &length,
                                           SQL_DRIVER_NOPROMPT);
}

static void drop(const struct book_on *on, SQLHDBC dbc)
{
    on->odbc->SQLDisconnect(dbc);
    want_rc("SQLFreeHandle", on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc),
            SQL_SUCCESS);
}

/* ---- attributes before connecting -------------------------------------- */

static SQLRETURN set_text(const struct book_on *on, SQLHDBC dbc,
                          SQLINTEGER attribute, const char *value,
                          SQLINTEGER length)
{
    return TEXT_CALL(on, SQLSetConnectAttr)(dbc, attribute, in(on, value),
                                            length);
}

static const char *get_text(const struct book_on *on, SQLHDBC dbc,
                            SQLINTEGER attribute)
{
    SQLWCHAR text[400] = { 0 };
    SQLINTEGER length = -1;

    TEXT_CALL(on, SQLGetConnectAttr)(dbc, attribute, text, sizeof text,
                                     &length);
    want_number("its length in bytes", length,
                (long long)(strlen(out(on, text)) * unit(on)));
    return out(on, text);
}

static void key_before(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);

    (void)row;
    want_rc("SQL_NTS",
            set_text(on, dbc, SQL_ATTR_AFFINITY_KEY, "1500", SQL_NTS),
            SQL_SUCCESS);
    want_rc("connecting",
            connect_by(on, dbc, DSN), SQL_SUCCESS);
    want_text("SQL_NTS", get_text(on, dbc, SQL_ATTR_AFFINITY_KEY), "1500");
    drop(on, dbc);
    dbc = book_dbc(on);
    want_rc("a length in bytes",
            set_text(on, dbc, SQL_ATTR_AFFINITY_KEY, "150077",
                     (SQLINTEGER)(4 * unit(on))),
            SQL_SUCCESS);
    want_rc("connecting",
            connect_by(on, dbc, DSN), SQL_SUCCESS);
    want_text("a length in bytes", get_text(on, dbc, SQL_ATTR_AFFINITY_KEY),
              "1500");
    drop(on, dbc);
}

static void key_read_before(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);

    (void)row;
    set_text(on, dbc, SQL_ATTR_AFFINITY_KEY, "1500", SQL_NTS);
    want_text("as it was set", get_text(on, dbc, SQL_ATTR_AFFINITY_KEY),
              "1500");
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

/* Those of SQLSetConnectAttr's table that may be set before connecting, with
   what they are until they are. */
static const struct default_value {
    SQLINTEGER attribute;
    const char *name;
    SQLULEN value, other;
    size_t bytes;
} defaults[] = {
#define DEFAULT(name, value, other, type) \
    { name, #name, value, other, sizeof(type) },
    DEFAULT(SQL_ATTR_ACCESS_MODE, SQL_MODE_READ_WRITE, SQL_MODE_READ_ONLY,
            SQLUINTEGER)
    DEFAULT(SQL_ATTR_AUTOCOMMIT, SQL_AUTOCOMMIT_ON, SQL_AUTOCOMMIT_OFF,
            SQLUINTEGER)
    DEFAULT(SQL_ATTR_LOGIN_TIMEOUT, 0, 17,
            SQLUINTEGER)
    DEFAULT(SQL_ATTR_CONNECTION_TIMEOUT, 0, 17,
            SQLUINTEGER)
    DEFAULT(SQL_ATTR_METADATA_ID, SQL_FALSE, SQL_TRUE,
            SQLUINTEGER)
    DEFAULT(SQL_ATTR_ASYNC_ENABLE, SQL_ASYNC_ENABLE_OFF, SQL_ASYNC_ENABLE_ON,
            SQLULEN)
    DEFAULT(SQL_ATTR_QUIET_MODE, 0, 0x123456789a, SQLHWND)
#undef DEFAULT
};

static void read_number(const struct book_on *on, SQLHDBC dbc,
                        const struct default_value *d, const char *what,
                        SQLULEN wanted)
{
    unsigned char value[16];
    SQLULEN got = 0;

    memset(value, '#', sizeof value);
    want_rc(what,
            TEXT_CALL(on, SQLGetConnectAttr)(dbc, d->attribute, value, 0,
                                             NULL),
            SQL_SUCCESS);
    memcpy(&got, value, d->bytes);
    want_number(what, (long long)got, (long long)wanted);
    want("no byte too many", value[d->bytes] == '#');
}

static void attr_default(const struct book_on *on, const void *row)
{
    const struct default_value *d = row;
    SQLHDBC dbc = book_dbc(on);

    read_number(on, dbc, d, "its default", d->value);
    want_rc("setting it",
            TEXT_CALL(on, SQLSetConnectAttr)(
                dbc, d->attribute, (SQLPOINTER)d->other, SQL_IS_UINTEGER),
            SQL_SUCCESS);
    read_number(on, dbc, d, "as it was set", d->other);
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

static void attr_wants_connection(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLUINTEGER value;

    (void)row;
    want_error(on, "SQL_ATTR_CONNECTION_DEAD",
               TEXT_CALL(on, SQLGetConnectAttr)(
                   dbc, SQL_ATTR_CONNECTION_DEAD, &value, 0, NULL),
               SQL_HANDLE_DBC, dbc, "08003");
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

/* What is set on a connection holds until the handle is freed. */
static void attr_persists(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLUINTEGER value = 77;

    (void)row;
    connect_by(on, dbc, on->string);
    want_rc("setting it",
            TEXT_CALL(on, SQLSetConnectAttr)(dbc, SQL_ATTR_AUTOCOMMIT,
                                             (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                                             SQL_IS_UINTEGER),
            SQL_SUCCESS);
    on->odbc->SQLDisconnect(dbc);
    want_rc("connecting again", connect_by(on, dbc, on->string), SQL_SUCCESS);
    TEXT_CALL(on, SQLGetConnectAttr)(dbc, SQL_ATTR_AUTOCOMMIT, &value, 0,
                                     NULL);
    want_number("it holds", value, SQL_AUTOCOMMIT_OFF);
    drop(on, dbc);
}

static void attr_after(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLUINTEGER value = 77;

    (void)row;
    on->odbc->SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT,
                                (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                                SQL_IS_UINTEGER);
    connect_by(on, dbc, on->string);
    TEXT_CALL(on, SQLGetConnectAttr)(dbc, SQL_ATTR_AUTOCOMMIT, &value, 0,
                                     NULL);
    want_number("set before, it holds after", value, SQL_AUTOCOMMIT_OFF);
    drop(on, dbc);
}

/* ---- attributes of ours, connected ------------------------------------- */

static void ours_text(const struct book_on *on, const void *row)
{
    static const SQLINTEGER ids[] = { SQL_ATTR_AFFINITY_INSTANCE,
                                      SQL_ATTR_AFFINITY_MODE,
                                      SQL_ATTR_AFFINITY_SCOPE,
                                      SQL_ATTR_AFFINITY_VERDICT };
    SQLWCHAR text[400], cut[400];

    (void)row;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        SQLINTEGER all = -1, length = -1;
        SQLINTEGER u = (SQLINTEGER)unit(on);

        want_rc("with room",
                TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, ids[i], text,
                                                 sizeof text, &all),
                SQL_SUCCESS);
        want_number("length in bytes", all,
                    (long long)strlen(out(on, text)) * u);
        want_rc("value null",
                TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, ids[i], NULL, 0,
                                                 &length),
                SQL_SUCCESS);
        want_number("length, value null", length, all);
        want_rc("exact room, length null",
                TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, ids[i], cut, all + u,
                                                 NULL),
                SQL_SUCCESS);
        want_text("exact room", out(on, cut), out(on, text));
        blot(cut, sizeof cut);
        want_info(on, "one character too few",
                  TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, ids[i], cut, all,
                                                   &length),
                  SQL_HANDLE_DBC, on->dbc, "01004");
        want_number("length of all, cut", length, all);
        want_number("cut and terminated",
                    (long long)strlen(out(on, cut)) * u, all - u);
        want("nothing behind it", ((char *)cut)[all] == '#');
        want_info(on, "no room",
                  TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, ids[i], cut, 0,
                                                   &length),
                  SQL_HANDLE_DBC, on->dbc, "01004");
        want_error(on, "a negative room",
                   TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, ids[i], cut, -1,
                                                    &length),
                   SQL_HANDLE_DBC, on->dbc, "HY090");
    }
}

/* ---- attributes of the inner driver ------------------------------------ */

static const struct number {
    SQLINTEGER attribute;
    const char *name;
    size_t bytes;
    SQLULEN value; /* one that can be set */
} numbers[] = {
#define NUMBER(name, type, value) { name, #name, sizeof(type), value },
    NUMBER(SQL_ATTR_APP_PARAM_DESC, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_APP_ROW_DESC, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_IMP_PARAM_DESC, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_IMP_ROW_DESC, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_CONCURRENCY, SQLULEN, SQL_CONCUR_READ_ONLY)
    NUMBER(SQL_ATTR_CURSOR_SCROLLABLE, SQLULEN, SQL_NONSCROLLABLE)
    NUMBER(SQL_ATTR_CURSOR_SENSITIVITY, SQLULEN, SQL_UNSPECIFIED)
    NUMBER(SQL_ATTR_CURSOR_TYPE, SQLULEN, SQL_CURSOR_STATIC)
    NUMBER(SQL_ATTR_ENABLE_AUTO_IPD, SQLULEN, SQL_FALSE)
    NUMBER(SQL_ATTR_FETCH_BOOKMARK_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_KEYSET_SIZE, SQLULEN, 0)
    NUMBER(SQL_ATTR_MAX_LENGTH, SQLULEN, 0)
    NUMBER(SQL_ATTR_MAX_ROWS, SQLULEN, 7)
    NUMBER(SQL_ATTR_METADATA_ID, SQLULEN, SQL_FALSE)
    NUMBER(SQL_ATTR_NOSCAN, SQLULEN, SQL_NOSCAN_ON)
    NUMBER(SQL_ATTR_PARAM_BIND_OFFSET_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_PARAM_BIND_TYPE, SQLULEN, 48)
    NUMBER(SQL_ATTR_PARAM_OPERATION_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_PARAM_STATUS_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_PARAMS_PROCESSED_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_PARAMSET_SIZE, SQLULEN, 3)
    NUMBER(SQL_ATTR_QUERY_TIMEOUT, SQLULEN, 60)
    NUMBER(SQL_ATTR_RETRIEVE_DATA, SQLULEN, SQL_RD_OFF)
    NUMBER(SQL_ATTR_ROW_ARRAY_SIZE, SQLULEN, 5)
    NUMBER(SQL_ATTR_ROW_BIND_OFFSET_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_ROW_BIND_TYPE, SQLULEN, 64)
    NUMBER(SQL_ATTR_ROW_OPERATION_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_ROW_STATUS_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_ROWS_FETCHED_PTR, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_SIMULATE_CURSOR, SQLULEN, SQL_SC_NON_UNIQUE)
    NUMBER(SQL_ATTR_USE_BOOKMARKS, SQLULEN, SQL_UB_VARIABLE)
#undef NUMBER
};

static bool is_desc(SQLINTEGER attribute)
{
    return attribute >= SQL_ATTR_APP_ROW_DESC &&
           attribute <= SQL_ATTR_IMP_PARAM_DESC;
}

static void stmt_number(const struct book_on *on, const void *row)
{
    const struct number *n = row;
    unsigned char value[16];
    SQLINTEGER length = -77;
    SQLULEN got = 0;

    memset(value, '#', sizeof value);
    want_rc("reading",
            TEXT_CALL(on, SQLGetStmtAttr)(on->stmt, n->attribute, value, 0,
                                          &length),
            SQL_SUCCESS);
    want("all of its bytes", memcmp(value + n->bytes - 2, "##", 2) != 0);
    want("no byte too many", value[n->bytes] == '#');
    want_rc("length null",
            TEXT_CALL(on, SQLGetStmtAttr)(on->stmt, n->attribute, value, 0,
                                          NULL),
            SQL_SUCCESS);
    if (is_desc(n->attribute)) {
        return;
    }
    want_rc("setting",
            TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, n->attribute,
                                          (SQLPOINTER)n->value, 0),
            SQL_SUCCESS);
    TEXT_CALL(on, SQLGetStmtAttr)(on->stmt, n->attribute, &got, 0, NULL);
    want_number("as it was set", (long long)got, (long long)n->value);
}

static void stmt_wrong(const struct book_on *on, const void *row)
{
    SQLULEN value;

    (void)row;
    want_error(on, "setting one that does not exist",
               TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, 4711, (SQLPOINTER)1, 0),
               SQL_HANDLE_STMT, on->stmt, "HY092");
    want_error(on, "reading one that does not exist",
               TEXT_CALL(on, SQLGetStmtAttr)(on->stmt, 4711, &value, 0, NULL),
               SQL_HANDLE_STMT, on->stmt, "HY092");
    want_error(on, "SQL_ATTR_ROW_NUMBER without a cursor",
               TEXT_CALL(on, SQLGetStmtAttr)(on->stmt, SQL_ATTR_ROW_NUMBER,
                                             &value, 0, NULL),
               SQL_HANDLE_STMT, on->stmt, "24000 HY109 HY000");
    want_error(on, "setting SQL_ATTR_ROW_NUMBER",
               TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_ROW_NUMBER,
                                             (SQLPOINTER)1, 0),
               SQL_HANDLE_STMT, on->stmt, "HY092");
    want_error(on, "SQL_ATTR_CURSOR_TYPE 77",
               TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_CURSOR_TYPE,
                                             (SQLPOINTER)77, 0),
               SQL_HANDLE_STMT, on->stmt, "HY024");
}

static void stmt_open_cursor(const struct book_on *on, const void *row)
{
    (void)row;
    book_exec(on, on->stmt, "SELECT 1");
    want_error(on, "SQL_ATTR_CURSOR_TYPE",
               TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_CURSOR_TYPE,
                                             (SQLPOINTER)SQL_CURSOR_STATIC, 0),
               SQL_HANDLE_STMT, on->stmt, "24000");
    want_error(on, "SQL_ATTR_USE_BOOKMARKS",
               TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_USE_BOOKMARKS,
                                             (SQLPOINTER)SQL_UB_VARIABLE, 0),
               SQL_HANDLE_STMT, on->stmt, "24000");
    want_rc("SQL_ATTR_ROW_ARRAY_SIZE",
            TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, SQL_ATTR_ROW_ARRAY_SIZE,
                                          (SQLPOINTER)3, 0),
            SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static const struct number connected[] = {
#define NUMBER(name, type, value) { name, #name, sizeof(type), value },
    NUMBER(SQL_ATTR_ACCESS_MODE, SQLUINTEGER, SQL_MODE_READ_WRITE)
    NUMBER(SQL_ATTR_ASYNC_ENABLE, SQLULEN, SQL_ASYNC_ENABLE_OFF)
    NUMBER(SQL_ATTR_AUTOCOMMIT, SQLUINTEGER, SQL_AUTOCOMMIT_ON)
    NUMBER(SQL_ATTR_AUTO_IPD, SQLUINTEGER, 0)
    NUMBER(SQL_ATTR_CONNECTION_DEAD, SQLUINTEGER, 0)
    NUMBER(SQL_ATTR_CONNECTION_TIMEOUT, SQLUINTEGER, 0)
    NUMBER(SQL_ATTR_LOGIN_TIMEOUT, SQLUINTEGER, 0)
    NUMBER(SQL_ATTR_METADATA_ID, SQLUINTEGER, SQL_FALSE)
    NUMBER(SQL_ATTR_ODBC_CURSORS, SQLULEN, 0)
    NUMBER(SQL_ATTR_PACKET_SIZE, SQLUINTEGER, 0)
    NUMBER(SQL_ATTR_QUIET_MODE, SQLPOINTER, 0)
    NUMBER(SQL_ATTR_TRACE, SQLUINTEGER, SQL_OPT_TRACE_OFF)
    NUMBER(SQL_ATTR_TXN_ISOLATION, SQLUINTEGER, SQL_TXN_READ_COMMITTED)
#undef NUMBER
};

static void dbc_number(const struct book_on *on, const void *row)
{
    const struct number *n = row;
    unsigned char value[16];

    memset(value, '#', sizeof value);
    want_rc("reading",
            TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, n->attribute, value, 0,
                                             NULL),
            SQL_SUCCESS);
    want("all of its bytes", memcmp(value + n->bytes - 2, "##", 2) != 0);
    want("no byte too many", value[n->bytes] == '#');
}

static void dbc_catalog(const struct book_on *on, const void *row)
{
    SQLWCHAR text[200], cut[200];
    SQLINTEGER all = -1, length = -1;
    SQLINTEGER u = (SQLINTEGER)unit(on);

    (void)row;
    want_rc("with room",
            TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, SQL_ATTR_CURRENT_CATALOG,
                                             text, sizeof text, &all),
            SQL_SUCCESS);
    want_text("the database", out(on, text), "app");
    want_number("length in bytes", all, 3 * u);
    want_info(on, "one character too few",
              TEXT_CALL(on, SQLGetConnectAttr)(on->dbc,
                                               SQL_ATTR_CURRENT_CATALOG, cut,
                                               all, &length),
              SQL_HANDLE_DBC, on->dbc, "01004");
    want_number("length of all, cut", length, 3 * u);
}

static void dbc_wrong(const struct book_on *on, const void *row)
{
    SQLULEN value;

    (void)row;
    want_error(on, "setting one that does not exist",
               TEXT_CALL(on, SQLSetConnectAttr)(on->dbc, 4711, (SQLPOINTER)1,
                                                0),
               SQL_HANDLE_DBC, on->dbc, "HY092");
    want_error(on, "reading one that does not exist",
               TEXT_CALL(on, SQLGetConnectAttr)(on->dbc, 4711, &value, 0,
                                                NULL),
               SQL_HANDLE_DBC, on->dbc, "HY092");
    want_error(on, "SQL_ATTR_AUTOCOMMIT 7",
               TEXT_CALL(on, SQLSetConnectAttr)(on->dbc, SQL_ATTR_AUTOCOMMIT,
                                                (SQLPOINTER)7, 0),
               SQL_HANDLE_DBC, on->dbc, "HY024");
    on->odbc->SQLSetConnectAttr(on->dbc, SQL_ATTR_AUTOCOMMIT,
                                (SQLPOINTER)SQL_AUTOCOMMIT_ON, 0);
}

/* ---- the rules --------------------------------------------------------- */

static void try_attributes(void)
{
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLSetConnectAttr, StringLength: before connecting", key_before,
             NULL);
    /* wide, unixODBC reads as much as there is room, not as there is text */
    book_try(BOOK_OURS, BOOK_NARROW | BOOK_BELOW,
             "SQLGetConnectAttr, Comments: text before connecting",
             key_read_before, NULL);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        char name[160];

        snprintf(name, sizeof name,
                 "SQLGetConnectAttr, Comments: %s before connecting",
                 defaults[i].name);
        book_try(BOOK_OURS, BOOK_ALL, name, attr_default, &defaults[i]);
    }
    book_try(BOOK_OURS, BOOK_ALL, "SQLGetConnectAttr, Diagnostics: 08003",
             attr_wants_connection, NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLSetConnectAttr, Comments: set before, held after", attr_after,
             NULL);
}

static void try_inner(void)
{
    char name[160];

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        snprintf(name, sizeof name, "SQLSetStmtAttr, Statement Attributes: %s",
                 numbers[i].name);
        book_try(BOOK_INNER, BOOK_ALL, name, stmt_number, &numbers[i]);
    }
    for (size_t i = 0; i < sizeof connected / sizeof connected[0]; i++) {
        snprintf(name, sizeof name,
                 "SQLSetConnectAttr, Connection Attributes: %s",
                 connected[i].name);
        book_try(BOOK_INNER, BOOK_ALL, name, dbc_number, &connected[i]);
    }
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLSetConnectAttr, Comments: attributes outlast SQLDisconnect",
             attr_persists, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLSetStmtAttr and SQLGetStmtAttr, Diagnostics", stmt_wrong,
             NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLSetStmtAttr, Diagnostics: 24000 with an open cursor",
             stmt_open_cursor, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLGetConnectAttr, ValuePtr: SQL_ATTR_CURRENT_CATALOG",
             dbc_catalog, NULL);
    book_try(BOOK_INNER, BOOK_ALL,
             "SQLSetConnectAttr and SQLGetConnectAttr, Diagnostics", dbc_wrong,
             NULL);
}

int main(void)
{
    try_attributes();
    book_try(BOOK_OURS, BOOK_ALL,
             "SQLGetConnectAttr, ValuePtr: lengths of our attributes",
             ours_text, NULL);
    try_inner();
    return book_end();
}
