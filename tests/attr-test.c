/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Our connection attributes through the manager, which has its own ideas about
 * what is set before there is a connection: it keeps it, replays it in an
 * order of its own, and throws away what the driver says to it.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "affinity_odbc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- attributes before connect ------------------------------------------- */

static void attribute_shapes(void)
{
    static const struct {
        const char *name;
        const char *text; /* NULL: the number 1500 */
        bool wide;
        SQLINTEGER length;
    } shapes[] = {
        {"narrow, SQL_NTS", "1500", false, SQL_NTS},
        {"narrow, with its length", "1500", false, 4},
        {"narrow, with its length, unterminated", "1500777", false, 4},
        {"narrow, with a length that counts the end", "1500", false, 5},
        {"wide, SQL_NTS", "1500", true, SQL_NTS},
        {"wide, with its length", "1500", true, 8},
        {"wide, with its length, unterminated", "1500777", true, 8},
        {"SQL_IS_POINTER", "1500", false, SQL_IS_POINTER},
        {"a binary length", "1500", false, SQL_LEN_BINARY_ATTR(4)},
        {"a number, SQL_IS_INTEGER", NULL, false, SQL_IS_INTEGER},
        {"a number, SQL_IS_UINTEGER", NULL, false, SQL_IS_UINTEGER},
        {"a number without a length", NULL, false, 0},
        {"a number, wide call", NULL, true, SQL_IS_INTEGER},
    };
    char name[120];

    for (size_t i = 0; i < 2 * COUNT(shapes); i++) {
        size_t n = i / 2;
        bool wide = i % 2;
        SQLHDBC dbc = try_dbc();
        SQLPOINTER value = shapes[n].text
                               ? shapes[n].wide
                                     ? (SQLPOINTER)try_utf16(shapes[n].text)
                                     : (SQLPOINTER)(uintptr_t)shapes[n].text
                               : (SQLPOINTER)(uintptr_t)1500;
        if (shapes[n].wide) {
            SQLSetConnectAttrW(dbc, SQL_ATTR_AFFINITY_KEY, value,
                               shapes[n].length);
        } else {
            SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_KEY, value,
                              shapes[n].length);
        }
        snprintf(name, sizeof name, "key by attribute, %s connect: %s",
                 wide ? "wide" : "narrow", shapes[n].name);
        tap_is(name,
               try_landed(dbc, try_connect(dbc, "DSN=orders-strict", wide)),
               "n2");
    }
}

static void set_text(SQLHDBC dbc, SQLINTEGER attribute, const char *text)
{
    SQLSetConnectAttr(dbc, attribute, (SQLPOINTER)(uintptr_t)text, SQL_NTS);
}

static void attribute_order(void)
{
    SQLHDBC dbc = try_dbc();

    set_text(dbc, SQL_ATTR_AFFINITY_KEY, "1500");
    set_text(dbc, SQL_ATTR_AFFINITY_MODE, "strict");
    SQLSetConnectAttr(dbc, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)30, 0);
    try_connect(dbc, "DSN=orders", false);
    tap_is("key, then mode: the key", try_column(dbc, "SHOW AFFINITY", 1),
           "1500");
    tap_is("key, then mode: the mode", try_column(dbc, "SHOW AFFINITY", 4),
           "strict");
    SQLDisconnect(dbc);
    try_connect(dbc, "DSN=orders;AffinityKey=5;AffinityMode=hint", false);
    tap_is("the same handle again: the attribute wins over the string",
           try_column(dbc, "SHOW AFFINITY", 1), "1500");
    odbc_close(dbc);

    dbc = try_dbc();
    SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF,
                      SQL_IS_UINTEGER);
    set_text(dbc, SQL_ATTR_AFFINITY_MODE, "PREFER");
    SQLSetConnectAttrW(dbc, SQL_ATTR_AFFINITY_KEY, try_utf16("2500"), SQL_NTS);
    SQLSetConnectAttr(dbc, SQL_ATTR_ACCESS_MODE, (SQLPOINTER)SQL_MODE_READ_ONLY,
                      SQL_IS_UINTEGER);
    try_connect(dbc, "DSN=orders", true);
    tap_is("mode, then key: the key", try_column(dbc, "SHOW AFFINITY", 1),
           "2500");
    tap_is("mode, then key: the mode", try_column(dbc, "SHOW AFFINITY", 4),
           "prefer");
    tap_is("SQL_ATTR_ACCESS_MODE makes it a session that reads",
           try_column(dbc, "SHOW AFFINITY", 5), "read-only");
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK);
    odbc_close(dbc);

    dbc = try_dbc();
    set_text(dbc, SQL_ATTR_AFFINITY_KEY, "5");
    set_text(dbc, SQL_ATTR_AFFINITY_KEY, "1500");
    tap_is("a key set twice: the later one counts",
           try_landed(dbc, try_connect(dbc, "DSN=orders-strict", false)), "n2");
    dbc = try_dbc();
    set_text(dbc, SQL_ATTR_AFFINITY_KEY, "");
    try_connect(dbc, "DSN=orders-strict;AffinityKey=1500", false);
    tap_is("an empty key is none", try_column(dbc, "SHOW AFFINITY", 1), "NULL");
    odbc_close(dbc);
}

static void attribute_refused(const char *name, SQLINTEGER attribute,
                              const char *value, SQLINTEGER length,
                              const char *state, const char *words)
{
    SQLHDBC dbc = try_dbc();

    SQLSetConnectAttr(dbc, attribute, (SQLPOINTER)(uintptr_t)value, length);
    try_says(name,
             try_landed(dbc, try_connect(dbc, "DSN=orders-strict", false)),
             state, words);
}

static void wrong_attributes(void)
{
    attribute_refused("a mode that is none, told by the connect",
                      SQL_ATTR_AFFINITY_MODE, "maybe", SQL_NTS, "HY024",
                      "AffinityMode=maybe");
    attribute_refused("a mode that is a number", SQL_ATTR_AFFINITY_MODE,
                      (const char *)(uintptr_t)2, SQL_IS_INTEGER, "HY024",
                      "AffinityMode=2");
    attribute_refused("a key with a quote that is not closed",
                      SQL_ATTR_AFFINITY_KEY, "\"1500", SQL_NTS, "HY024",
                      "AffinityKey");
    attribute_refused("a key with control characters", SQL_ATTR_AFFINITY_KEY,
                      "15\n00", SQL_NTS, "HY024", "AffinityKey");
    attribute_refused("a key of another type", SQL_ATTR_AFFINITY_KEY, "abc",
                      SQL_NTS, "22018", "bigint");
    attribute_refused("a scope that comes later", SQL_ATTR_AFFINITY_SCOPE,
                      "transaction", SQL_NTS, "HYC00", "AffinityScope");
    attribute_refused("a token, which comes later", SQL_ATTR_AFFINITY_TOKEN,
                      "t", SQL_NTS, "HYC00", "0x5AF5");
}

static void after_connect(bool wide)
{
    SQLHDBC dbc = try_dbc();
    char name[80];

    try_connect(dbc, "DSN=orders-strict;AffinityKey=1500", wide);
    set_text(dbc, SQL_ATTR_AFFINITY_KEY, "5");
    snprintf(name, sizeof name, "%s: a key after connect",
             wide ? "wide" : "narrow");
    try_says(name, odbc_record(SQL_HANDLE_DBC, dbc, 1), "HYC00",
             "orders-strict");
    set_text(dbc, SQL_ATTR_AFFINITY_INSTANCE, "n1");
    snprintf(name, sizeof name, "%s: the instance cannot be set",
             wide ? "wide" : "narrow");
    try_says(name, odbc_record(SQL_HANDLE_DBC, dbc, 1), "HY", "");
    snprintf(name, sizeof name, "%s: and it stays where it is",
             wide ? "wide" : "narrow");
    tap_is(name, odbc_value(dbc, "SHOW cluster_name"), "n2");
    odbc_close(dbc);
}

/* ---- attributes that are read -------------------------------------------- */

static void read_narrow(SQLHDBC dbc)
{
    char text[300] = "";
    SQLINTEGER length = -7;
    SQLRETURN rc = SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_INSTANCE, text,
                                     sizeof text, &length);

    tap_ok(rc == SQL_SUCCESS && strcmp(text, "n2") == 0 && length == 2,
           "narrow: the instance", "%d '%s' %d", rc, text, (int)length);
    memset(text, '#', sizeof text);
    rc = SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_INSTANCE, text, 2, &length);
    tap_ok(rc == SQL_SUCCESS_WITH_INFO && memcmp(text, "n\0#", 3) == 0 &&
               length == 2 &&
               !strncmp(odbc_record(SQL_HANDLE_DBC, dbc, 1), "01004", 5),
           "narrow: the instance, cut", "%d '%.3s' %d %s", rc, text,
           (int)length, odbc_record(SQL_HANDLE_DBC, dbc, 1));
    length = -7;
    rc = SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_INSTANCE, NULL, 0, &length);
    tap_ok(SQL_SUCCEEDED(rc) && length == 2, "narrow: its length alone",
           "%d %d", rc, (int)length);
    rc = SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_VERDICT, text, sizeof text,
                           &length);
    tap_ok(rc == SQL_SUCCESS && strstr(text, "n2: key 1500 (owner n2), ") &&
               length == (SQLINTEGER)strlen(text),
           "narrow: the verdict", "%d '%s' %d", rc, text, (int)length);
    rc = SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_KEY, text, sizeof text,
                           &length);
    tap_ok(rc == SQL_SUCCESS && strcmp(text, "1500") == 0, "narrow: the key",
           "%d '%s'", rc, text);
    rc = SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_MODE, text, sizeof text,
                           &length);
    tap_ok(rc == SQL_SUCCESS && strcmp(text, "strict") == 0, "narrow: the mode",
           "%d '%s'", rc, text);
}

static void read_wide(SQLHDBC dbc)
{
    SQLWCHAR text[300] = {0};
    SQLINTEGER length = -7;
    SQLRETURN rc = SQLGetConnectAttrW(dbc, SQL_ATTR_AFFINITY_INSTANCE, text,
                                      sizeof text, &length);

    tap_ok(rc == SQL_SUCCESS && memcmp(text, try_utf16("n2"), 6) == 0 &&
               length == 4,
           "wide: the instance, its length in bytes", "%d %d", rc, (int)length);
    text[0] = text[1] = text[2] = '#';
    rc = SQLGetConnectAttrW(dbc, SQL_ATTR_AFFINITY_INSTANCE, text, 4, &length);
    tap_ok(rc == SQL_SUCCESS_WITH_INFO && text[0] == 'n' && text[1] == 0 &&
               text[2] == '#' && length == 4,
           "wide: the instance, cut", "%d %d", rc, (int)length);
    text[0] = text[1] = '#';
    rc = SQLGetConnectAttrW(dbc, SQL_ATTR_AFFINITY_INSTANCE, text, 3, &length);
    tap_ok(rc == SQL_SUCCESS_WITH_INFO && text[0] == 0 && text[1] == '#',
           "wide: an odd buffer is not written beyond", "%d %x %x", rc, text[0],
           text[1]);
    rc = SQLGetConnectAttrW(dbc, SQL_ATTR_AFFINITY_VERDICT, text, sizeof text,
                            &length);
    tap_ok(rc == SQL_SUCCESS && length > 40 && length % 2 == 0 &&
               memcmp(text, try_utf16("n2: key 1500 (owner n2), "), 50) == 0 &&
               text[length / 2] == 0,
           "wide: the verdict", "%d %d", rc, (int)length);
}

static void attributes_to_read(void)
{
    for (int wide = 0; wide <= 1; wide++) {
        SQLHDBC dbc = try_dbc();
        try_connect(dbc, "DSN=orders-strict;AffinityKey=1500", wide);
        /* A narrow question on a connection made wide reaches the driver as a
           wide one, with the narrow buffer: the manager's doing. */
        if (!wide) {
            read_narrow(dbc);
        }
        read_wide(dbc);
        odbc_close(dbc);
    }
}

int main(void)
{
    try_env = odbc_env(SQL_OV_ODBC3);
    attribute_shapes();
    attribute_order();
    wrong_attributes();
    after_connect(false);
    after_connect(true);
    attributes_to_read();
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    return tap_end();
}
