/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Walks surface.def through the built driver, loaded as the manager loads it:
 * every row must reach the fake inner driver with its arguments in order,
 * narrow and wide.  Rows whose body is generated are driven by what the table
 * itself says; each row that is written by hand has its own hand_<name> below,
 * without which this program does not link, so nobody can add an entry that is
 * not tried.
 *
 * LONG: one function for each row written by hand, in the table's order.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "affinity_odbc.h"
#include "fake/fake_use.h"
#include "text.h"

static struct inner_calls odbc; /* the driver under test */
static const struct fake_api *fake;

/* One connection with a statement and an explicit descriptor, over each of
   which all rows of its kind are driven. */
static SQLHENV env;
static SQLHDBC dbc;
static SQLHSTMT stmt;
static SQLHDESC desc;
static SQLHANDLE inner_dbc, inner_stmt, inner_desc;

/* ---- text in both widths ------------------------------------------------ */

static void *text_in(enum text_width width, const char *text)
{
    static SQLWCHAR wide[8][512];
    static char narrow[8][512];
    static unsigned turn;
    unsigned i = turn++ % 8;

    if (width == TEXT_NARROW) {
        snprintf(narrow[i], sizeof narrow[i], "%s", text);
        return narrow[i];
    }
    text_write(text, strlen(text), wide[i], 512, TEXT_WIDE, TEXT_CHARACTERS);
    return wide[i];
}

static const char *text_out(enum text_width width, const void *text)
{
    static char out[8][1024];
    static unsigned turn;
    unsigned i = turn++ % 8;
    struct text utf8;

    text_init(&utf8);
    text_append_argument(&utf8, text, SQL_NTS, width, TEXT_CHARACTERS);
    snprintf(out[i], sizeof out[i], "%s", text_string(&utf8));
    text_free(&utf8);
    return out[i];
}

/* Calls the function of that width; text arguments are void *. */
#define CALL(width, name, ...) \
    (((width) == TEXT_WIDE) ? odbc.name##W(__VA_ARGS__) : \
     ((__typeof__(odbc.name##W))(void *)odbc.name)(__VA_ARGS__))

static const char *state_of(SQLSMALLINT type, SQLHANDLE handle)
{
    static SQLCHAR state[6];
    SQLCHAR text[512];
    SQLINTEGER native;

    memset(state, 0, sizeof state);
    odbc.SQLGetDiagRec(type, handle, 1, state, &native, text, sizeof text,
                       NULL);
    return (const char *)state;
}

/* ---- what reached the fake ------------------------------------------------ */

/* The first call of that name since fake->forget(). */
static struct fake_call reached(const char *name)
{
    struct fake_call call = { 0 };

    for (unsigned i = 0; fake->call(i, &call); i++) {
        if (strcmp(call.name, name) == 0) {
            return call;
        }
    }
    fail_msg("%s did not reach the inner driver", name);
    return call;
}

static int was_reached(const char *name)
{
    struct fake_call call;

    for (unsigned i = 0; fake->call(i, &call); i++) {
        if (strcmp(call.name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static const char *wide_name(enum text_width width, const char *name)
{
    static char out[64];

    snprintf(out, sizeof out, "%s%s", name, width == TEXT_WIDE ? "W" : "");
    return out;
}

/* ---- generated rows -------------------------------------------------------- */

/* The i-th argument gets a value of its own that any integer type and any
   pointer can hold; nothing on the way may look behind the pointers. */
static void set_argument(void *argument, size_t size, unsigned i)
{
    int64_t value = 0x1100 + 0x11 * (int64_t)i;

    memcpy(argument, &value, size); /* little-endian, checked in main() */
}

static void check_reached(const char *name, SQLHANDLE handle, unsigned count)
{
    struct fake_call call = reached(name);

    assert_int_equal(call.count, count);
    assert_ptr_equal((void *)call.args[0], handle);
    for (unsigned i = 1; i < count; i++) {
        assert_int_equal(call.args[i], 0x1100 + 0x11 * i);
    }
}

#define OUR_STMT stmt
#define OUR_DBC dbc
#define OUR_DESC desc
#define INNER_STMT inner_stmt
#define INNER_DBC inner_dbc
#define INNER_DESC inner_desc

/* x(parameter) for each of up to 14. */
#define EACH_1(x, a) x(a)
#define EACH_2(x, a, ...) x(a) EACH_1(x, __VA_ARGS__)
#define EACH_3(x, a, ...) x(a) EACH_2(x, __VA_ARGS__)
#define EACH_4(x, a, ...) x(a) EACH_3(x, __VA_ARGS__)
#define EACH_5(x, a, ...) x(a) EACH_4(x, __VA_ARGS__)
#define EACH_6(x, a, ...) x(a) EACH_5(x, __VA_ARGS__)
#define EACH_7(x, a, ...) x(a) EACH_6(x, __VA_ARGS__)
#define EACH_8(x, a, ...) x(a) EACH_7(x, __VA_ARGS__)
#define EACH_9(x, a, ...) x(a) EACH_8(x, __VA_ARGS__)
#define EACH_10(x, a, ...) x(a) EACH_9(x, __VA_ARGS__)
#define EACH_11(x, a, ...) x(a) EACH_10(x, __VA_ARGS__)
#define EACH_12(x, a, ...) x(a) EACH_11(x, __VA_ARGS__)
#define EACH_13(x, a, ...) x(a) EACH_12(x, __VA_ARGS__)
#define EACH_14(x, a, ...) x(a) EACH_13(x, __VA_ARGS__)
#define EACH_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, \
                  _14, macro, ...) macro
#define EACH(x, ...) \
    EACH_PICK(__VA_ARGS__, EACH_14, EACH_13, EACH_12, EACH_11, EACH_10, \
              EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, \
              EACH_2, EACH_1, )(x, __VA_ARGS__)
#define SPLICE(...) __VA_ARGS__

#define DECLARE(parameter) parameter;
#define SET(argument) set_argument(&argument, sizeof argument, set_so_far++);

#define DRIVE(export, kind, params, args) \
    static void drive_##export(void) \
    { \
        unsigned set_so_far = 0; \
        EACH(DECLARE, SPLICE params) \
 \
        EACH(SET, SPLICE args) \
        handle = OUR_##kind; \
        fake->forget(); \
        if (!odbc.export) { \
            fail_msg("%s is not exported", #export); \
        } \
        odbc.export args; \
        check_reached(#export, INNER_##kind, set_so_far); \
    }

#define MADE_STAY(x) x
#define MADE_FRESH(x) x
#define MADE_PLACE(x)
#define MADE_EACH(x)
#define MADE_SELF(x)
#define MADE_LATE(x)
#define MADE_HAND(x)
#define MADE_HOT(x)
#define HAND_STAY(x)
#define HAND_FRESH(x)
#define HAND_PLACE(x) x
#define HAND_EACH(x) x
#define HAND_SELF(x) x
#define HAND_LATE(x) x
#define HAND_HAND(x) x
#define HAND_HOT(x) x

#define CHARS SQLCHAR
#define PLAIN(name, number, kind, route, params, args) \
    MADE_##route(DRIVE(name, kind, params, args))
#define TEXT(name, number, kind, route, params, args) \
    MADE_##route(DRIVE(name, kind, params, args))
#include "surface.def"
#define CHARS SQLWCHAR
#define PLAIN(name, number, kind, route, params, args)
#define TEXT(name, number, kind, route, params, args) \
    MADE_##route(DRIVE(name##W, kind, params, args))
#include "surface.def"

static void test_generated_rows(void **state)
{
    unsigned rows = 0;

    (void)state;
#define PLAIN(name, number, kind, route, params, args) \
    MADE_##route(drive_##name(); rows++;)
#define TEXT(name, number, kind, route, params, args) \
    MADE_##route(drive_##name(); drive_##name##W(); rows++;)
#include "surface.def"
    assert_true(rows > 30);
    assert_int_equal(fake->mistakes(), 0);
}

/* What the inner driver returns is what the application gets. */
static void test_results_pass(void **state)
{
    static const SQLRETURN results[] = {
        SQL_SUCCESS, SQL_SUCCESS_WITH_INFO, SQL_NO_DATA, SQL_NEED_DATA,
        SQL_STILL_EXECUTING, SQL_ERROR
    };

    (void)state;
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        SQLRETURN rc;

        fake->answer(results[i]);
        rc = odbc.SQLSetPos(stmt, 1, SQL_POSITION, SQL_LOCK_NO_CHANGE);
        assert_int_equal(rc, results[i]);
    }
}

/* ---- rows written by hand ---------------------------------------------------- */

static void hand_SQLAllocHandle(void)
{
    SQLHANDLE handle = (void *)1;

    fake->forget();
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &handle), 0);
    assert_ptr_equal((void *)reached("SQLAllocHandle").args[1], inner_dbc);
    assert_int_equal(reached("SQLAllocHandle").args[0], SQL_HANDLE_STMT);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_STMT, handle), 0);
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_STMT, env, &handle),
                     SQL_INVALID_HANDLE);
    assert_null(handle);
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, NULL),
                     SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, dbc), "HY009");
    assert_int_equal(odbc.SQLAllocHandle(77, dbc, &handle), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, dbc), "HY092");
}

static void hand_SQLFreeHandle(void)
{
    SQLHANDLE handle, inner;

    odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &handle);
    inner = fake->latest(SQL_HANDLE_STMT);
    fake->forget();
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_STMT, handle), 0);
    assert_ptr_equal((void *)reached("SQLFreeHandle").args[1], inner);
    /* stale, of the wrong type, none */
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_STMT, handle),
                     SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFetch(handle), SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFetch(dbc), SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFetch(NULL), SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, stmt),
                     SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, dbc), "HY010");
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_ENV, env), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_ENV, env), "HY010");
}

static void hand_SQLSetEnvAttr(void)
{
    SQLHENV other;

    odbc.SQLAllocHandle(SQL_HANDLE_ENV, NULL, &other);
    assert_int_equal(odbc.SQLSetEnvAttr(other, SQL_ATTR_ODBC_VERSION,
                                        (SQLPOINTER)7, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_ENV, other), "HY024");
    assert_int_equal(odbc.SQLSetEnvAttr(other, SQL_ATTR_ODBC_VERSION,
                                        (SQLPOINTER)380, 0), SQL_SUCCESS);
    assert_int_equal(odbc.SQLSetEnvAttr(other, SQL_ATTR_OUTPUT_NTS,
                                        (SQLPOINTER)SQL_FALSE, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_ENV, other), "HYC00");
    assert_int_equal(odbc.SQLSetEnvAttr(other, 4711, NULL, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_ENV, other), "HY092");
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_ENV, other), 0);
}

static void hand_SQLGetEnvAttr(void)
{
    SQLINTEGER value = 0, length = 0;

    assert_int_equal(odbc.SQLGetEnvAttr(env, SQL_ATTR_ODBC_VERSION, &value, 0,
                                        &length), SQL_SUCCESS);
    assert_int_equal(value, 3);
    assert_int_equal(length, 4);
    assert_int_equal(odbc.SQLGetEnvAttr(env, SQL_ATTR_OUTPUT_NTS, &value, 0,
                                        NULL), SQL_SUCCESS);
    assert_int_equal(value, SQL_TRUE);
}

static void exec(enum text_width width, const char *text, SQLRETURN wanted)
{
    assert_int_equal(CALL(width, SQLExecDirect, stmt, text_in(width, text),
                          SQL_NTS), wanted);
}

static void hand_SQLGetDiagRec(enum text_width width)
{
    SQLWCHAR state[6], text[512];
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;

    exec(width, "FAIL 42P01", SQL_ERROR);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(CALL(width, SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1,
                              state, &native, text, 512, &length), 0);
        assert_string_equal(text_out(width, state), "42P01");
        assert_int_equal(native, 42);
        assert_string_equal(text_out(width, text), width == TEXT_WIDE ?
                            "the statement was told to fail (wide)" :
                            "the statement was told to fail (narrow)");
        assert_int_equal(length, strlen(text_out(width, text)));
        assert_int_equal(CALL(width, SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 2,
                              state, &native, text, 512, &length), 0);
        assert_int_equal(native, 43);
    }
    assert_int_equal(CALL(width, SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 3,
                          state, &native, text, 512, &length), SQL_NO_DATA);
    assert_int_equal(CALL(width, SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1,
                          state, &native, text, 10, &length),
                     SQL_SUCCESS_WITH_INFO);
    assert_string_equal(text_out(width, text), "the state");
    assert_true(length > 10);
    assert_int_equal(CALL(width, SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1,
                          NULL, NULL, NULL, 0, NULL), SQL_SUCCESS);
    exec(width, "SELECT 1", SQL_SUCCESS);
    assert_int_equal(CALL(width, SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1,
                          state, &native, text, 512, &length), SQL_NO_DATA);
}

static SQLRETURN field(enum text_width width, SQLSMALLINT number,
                       SQLSMALLINT id, void *value, SQLSMALLINT *length)
{
    return CALL(width, SQLGetDiagField, SQL_HANDLE_STMT, stmt, number, id,
                value, 200, length);
}

static void check_text_field(enum text_width width, SQLSMALLINT number,
                             SQLSMALLINT id, const char *wanted)
{
    SQLWCHAR text[100] = { 0 };
    SQLSMALLINT length = 0;

    assert_int_equal(field(width, number, id, text, &length), SQL_SUCCESS);
    assert_string_equal(text_out(width, text), wanted);
    assert_int_equal(length, strlen(wanted) * (width == TEXT_WIDE ? 2 : 1));
}

static void hand_SQLGetDiagField(enum text_width width)
{
    SQLINTEGER number = 0;
    SQLLEN count = 0;

    exec(width, "FAIL 42P01", SQL_ERROR);
    assert_int_equal(field(width, 0, SQL_DIAG_NUMBER, &number, NULL), 0);
    assert_int_equal(number, 2);
    assert_int_equal(field(width, 0, SQL_DIAG_ROW_COUNT, &count, NULL), 0);
    assert_int_equal(count, 77);
    assert_int_equal(field(width, 0, SQL_DIAG_CURSOR_ROW_COUNT, &count, NULL),
                     0);
    assert_int_equal(count, 78);
    check_text_field(width, 0, SQL_DIAG_DYNAMIC_FUNCTION, "INSERT");
    check_text_field(width, 1, SQL_DIAG_SQLSTATE, "42P01");
    /* what the inner driver does not know, we do not */
    assert_int_equal(field(width, 1, SQL_DIAG_CLASS_ORIGIN, &number, NULL),
                     SQL_ERROR);
    check_text_field(width, 1, SQL_DIAG_SERVER_NAME, "fake server");
    check_text_field(width, 1, SQL_DIAG_CONNECTION_NAME, "fake connection");
    assert_int_equal(field(width, 2, SQL_DIAG_NATIVE, &number, NULL), 0);
    assert_int_equal(number, 43);
    assert_int_equal(field(width, 2, SQL_DIAG_ROW_NUMBER, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(field(width, 2, SQL_DIAG_COLUMN_NUMBER, &number, NULL),
                     0);
    assert_int_equal(number, 12);
    assert_int_equal(field(width, 3, SQL_DIAG_NATIVE, &number, NULL),
                     SQL_NO_DATA);
    assert_int_equal(field(width, 0, SQL_DIAG_NATIVE, &number, NULL),
                     SQL_ERROR);
    assert_int_equal(field(width, 1, 4711, &number, NULL), SQL_ERROR);
    /* without a record the inner driver is asked for its counts */
    exec(width, "SELECT 1", SQL_SUCCESS);
    assert_int_equal(field(width, 0, SQL_DIAG_ROW_COUNT, &count, NULL), 0);
    assert_int_equal(count, 77);
}

/* A connection beside the one that all others use. */
static SQLHDBC other_dbc(void)
{
    SQLHDBC other = NULL;

    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &other), 0);
    return other;
}

static void end_other(SQLHDBC other)
{
    assert_int_equal(odbc.SQLDisconnect(other), SQL_SUCCESS);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, other), SQL_SUCCESS);
}

static void hand_SQLConnect(enum text_width width)
{
    SQLHDBC other = other_dbc();

    fake->forget();
    assert_int_equal(CALL(width, SQLConnect, other, text_in(width, "wrapped"),
                          SQL_NTS, text_in(width, "joe"), SQL_NTS,
                          text_in(width, "secret"), 6), SQL_SUCCESS);
    assert_true(was_reached(wide_name(width, "SQLDriverConnect")));
    assert_int_equal(CALL(width, SQLConnect, other, text_in(width, "wrapped"),
                          SQL_NTS, NULL, 0, NULL, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "08002");
    assert_int_equal(odbc.SQLDisconnect(other), SQL_SUCCESS);
    assert_int_equal(CALL(width, SQLConnect, other, text_in(width, "wrapped"),
                          -7, NULL, 0, NULL, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "HY090");
    assert_int_equal(CALL(width, SQLConnect, other, text_in(width, "nobody"),
                          SQL_NTS, NULL, 0, NULL, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "IM002");
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, other);
}

static SQLRETURN driver_connect(enum text_width width, SQLHDBC other,
                                const char *in, void *out, SQLSMALLINT size,
                                SQLSMALLINT *length, SQLUSMALLINT completion)
{
    return CALL(width, SQLDriverConnect, other, NULL, text_in(width, in),
                SQL_NTS, out, size, length, completion);
}

static void hand_SQLDriverConnect(enum text_width width)
{
    SQLHDBC other = other_dbc();
    SQLWCHAR out[256];
    SQLSMALLINT length = 0, whole;

    for (SQLUSMALLINT completion = 0; completion < 4; completion++) {
        assert_int_equal(driver_connect(width, other, "DSN=wrapped;UID=joe",
                                        out, 256, &length, completion), 0);
        assert_non_null(strstr(text_out(width, out), "DSN="));
        assert_non_null(strstr(text_out(width, out), "UID="));
        assert_null(strstr(text_out(width, out), "PWD"));
        assert_int_equal(length, strlen(text_out(width, out)));
        assert_int_equal(odbc.SQLDisconnect(other), SQL_SUCCESS);
    }
    whole = length;
    assert_int_equal(driver_connect(width, other, "DSN=wrapped;UID=joe", out,
                                    10, &length, SQL_DRIVER_NOPROMPT),
                     SQL_SUCCESS_WITH_INFO);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "01004");
    assert_int_equal(length, whole);
    assert_int_equal(strlen(text_out(width, out)), 9);
    odbc.SQLDisconnect(other);
    assert_int_equal(driver_connect(width, other, "DSN=wrapped;PWD={a}};b}",
                                    out, 256, NULL, 0), SQL_SUCCESS);
    assert_non_null(strstr(text_out(width, out), "PWD={a}};b}"));
    odbc.SQLDisconnect(other);
    assert_int_equal(driver_connect(width, other, "DSN=wrapped", NULL, 0,
                                    NULL, 0), SQL_SUCCESS);
    odbc.SQLDisconnect(other);
    assert_int_equal(driver_connect(width, other, "DSN=wrapped", NULL, 0,
                                    NULL, 9), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "HY110");
    assert_int_equal(driver_connect(width, other, "DSN=wrapped", out, -1,
                                    NULL, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "HY090");
    assert_int_equal(driver_connect(width, other, "DSN=broken", out, 256,
                                    NULL, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "HY024");
    assert_int_equal(driver_connect(width, other,
                                    "DSN=wrapped;AffinityKye=7", out, 256,
                                    NULL, 0), SQL_SUCCESS_WITH_INFO);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "01S00");
    end_other(other);
}

static SQLRETURN browse(enum text_width width, SQLHDBC other, const char *in,
                        void *out, SQLSMALLINT size, SQLSMALLINT *length)
{
    return CALL(width, SQLBrowseConnect, other, text_in(width, in), SQL_NTS,
                out, size, length);
}

static void hand_SQLBrowseConnect(enum text_width width)
{
    SQLHDBC other = other_dbc();
    SQLWCHAR out[256];
    SQLSMALLINT length = 0;

    /* nothing is missing */
    assert_int_equal(browse(width, other, "DSN=wrapped", out, 256, &length),
                     SQL_SUCCESS);
    assert_non_null(strstr(text_out(width, out), "DSN="));
    assert_int_equal(browse(width, other, "DSN=wrapped", out, 256, &length),
                     SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "08002");
    odbc.SQLDisconnect(other);
    /* Instances are, then the rest is optional */
    assert_int_equal(browse(width, other, "DSN=empty", out, 256, &length),
                     SQL_NEED_DATA);
    assert_memory_equal(text_out(width, out), "Instances:", 10);
    assert_int_equal(length, strlen(text_out(width, out)));
    assert_int_equal(browse(width, other, "Instances=f1;UID=joe", out, 256,
                            &length), SQL_SUCCESS);
    assert_non_null(strstr(text_out(width, out), "UID="));
    odbc.SQLDisconnect(other);
    /* hosts have no DSN that could hold a login */
    assert_int_equal(browse(width, other,
                            "DSN=empty;InnerDriver=Fake;Instances=a:1", out,
                            256, &length), SQL_NEED_DATA);
    assert_memory_equal(text_out(width, out), "*UID:", 5);
    /* a result that does not fit, and giving up */
    assert_int_equal(odbc.SQLDisconnect(other), SQL_SUCCESS);
    assert_int_equal(browse(width, other, "DSN=empty", out, 8, &length),
                     SQL_NEED_DATA);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "01004");
    assert_int_equal(odbc.SQLDisconnect(other), SQL_SUCCESS);
    /* a wrong answer ends the browsing */
    assert_int_equal(browse(width, other, "DSN=empty", out, 256, &length),
                     SQL_NEED_DATA);
    assert_int_equal(browse(width, other, "Instances=nobody", out, 256,
                            &length), SQL_ERROR);
    assert_int_equal(odbc.SQLDisconnect(other), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "08003");
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, other);
}

static void hand_SQLDisconnect(void)
{
    SQLHDBC other = other_dbc();
    SQLHSTMT child[2];
    SQLHDESC explicit_desc;

    assert_int_equal(odbc.SQLDisconnect(other), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "08003");
    assert_int_equal(driver_connect(TEXT_NARROW, other, "DSN=wrapped", NULL,
                                    0, NULL, 0), SQL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_STMT, other,
                                             &child[i]), SQL_SUCCESS);
    }
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DESC, other,
                                         &explicit_desc), SQL_SUCCESS);
    assert_int_equal(odbc.SQLDisconnect(other), SQL_SUCCESS);
    assert_int_equal(odbc.SQLFetch(child[0]), SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_STMT, child[1]),
                     SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DESC, explicit_desc),
                     SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, other), SQL_SUCCESS);
    assert_int_equal(odbc.SQLDisconnect(other), SQL_INVALID_HANDLE);
}

static void hand_SQLEndTran(void)
{
    struct fake_call call;

    fake->forget();
    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT), 0);
    call = reached("SQLEndTran");
    assert_int_equal(call.args[0], SQL_HANDLE_DBC);
    assert_ptr_equal((void *)call.args[1], inner_dbc);
    assert_int_equal(call.args[2], SQL_COMMIT);
    fake->forget();
    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_ENV, env, SQL_ROLLBACK), 0);
    call = reached("SQLEndTran");
    assert_int_equal(call.args[0], SQL_HANDLE_DBC);
    assert_int_equal(call.args[2], SQL_ROLLBACK);
    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_ENV, env, 9), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_ENV, env), "HY012");
    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_STMT, stmt, SQL_COMMIT),
                     SQL_INVALID_HANDLE);
}

static SQLRETURN set_attr(enum text_width width, SQLHDBC handle,
                          SQLINTEGER attribute, void *value,
                          SQLINTEGER length)
{
    return CALL(width, SQLSetConnectAttr, handle, attribute, value, length);
}

static void hand_SQLSetConnectAttr(enum text_width width)
{
    const char *name = wide_name(width, "SQLSetConnectAttr");
    struct fake_call call;

    fake->forget();
    assert_int_equal(set_attr(width, dbc, 30001, (void *)(intptr_t)77, 4), 0);
    call = reached(name);
    assert_ptr_equal((void *)call.args[0], inner_dbc);
    assert_int_equal(call.args[1], 30001);
    assert_int_equal(call.args[2], 77);
    assert_int_equal(call.args[3], 4);
    assert_int_equal(set_attr(width, dbc, 30000, NULL, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, dbc), "HY092");
    for (SQLINTEGER ours = SQL_ATTR_AFFINITY_KEY;
         ours <= SQL_ATTR_AFFINITY_TOKEN; ours++) {
        int reading = ours == SQL_ATTR_AFFINITY_INSTANCE ||
                      ours == SQL_ATTR_AFFINITY_VERDICT;

        fake->forget();
        assert_int_equal(set_attr(width, dbc, ours, text_in(width, "7"),
                                  SQL_NTS), SQL_ERROR);
        assert_string_equal(state_of(SQL_HANDLE_DBC, dbc),
                            reading ? "HY092" : "HYC00");
        assert_false(was_reached(name));
    }
}

static void check_attr(enum text_width width, SQLHDBC handle,
                       SQLINTEGER attribute, const char *wanted)
{
    SQLWCHAR text[100] = { 0 };
    SQLINTEGER length = 0;

    assert_int_equal(CALL(width, SQLGetConnectAttr, handle, attribute, text,
                          sizeof text, &length), SQL_SUCCESS);
    assert_string_equal(text_out(width, text), wanted);
    assert_int_equal(length, strlen(wanted) * (width == TEXT_WIDE ? 2 : 1));
}

static void hand_SQLGetConnectAttr(enum text_width width)
{
    SQLHDBC other = other_dbc();
    SQLUINTEGER number = 9;
    struct fake_call call;
    SQLINTEGER length;
    SQLWCHAR text[3];

    set_attr(width, dbc, 30002, (void *)(intptr_t)5, 4);
    fake->forget();
    assert_int_equal(CALL(width, SQLGetConnectAttr, dbc, 30002, &number, 4,
                          &length), SQL_SUCCESS);
    assert_int_equal(number, 5);
    call = reached(wide_name(width, "SQLGetConnectAttr"));
    assert_ptr_equal((void *)call.args[0], inner_dbc);
    assert_int_equal(call.args[1], 30002);
    assert_ptr_equal((void *)call.args[2], &number);
    assert_int_equal(call.args[3], 4);
    assert_ptr_equal((void *)call.args[4], &length);
    /* ours */
    check_attr(width, dbc, SQL_ATTR_AFFINITY_KEY, "");
    check_attr(width, dbc, SQL_ATTR_AFFINITY_MODE, "hint");
    check_attr(width, dbc, SQL_ATTR_AFFINITY_SCOPE, "connection");
    check_attr(width, dbc, SQL_ATTR_AFFINITY_INSTANCE, "f1");
    check_attr(width, other, SQL_ATTR_AFFINITY_INSTANCE, "");
    set_attr(width, other, SQL_ATTR_AFFINITY_KEY, text_in(width, "k1"),
             SQL_NTS);
    check_attr(width, other, SQL_ATTR_AFFINITY_KEY, "k1");
    assert_int_equal(CALL(width, SQLGetConnectAttr, other,
                          SQL_ATTR_AFFINITY_KEY, text, -7, &length),
                     SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, other), "HY090");
    assert_int_equal(CALL(width, SQLGetConnectAttr, dbc,
                          SQL_ATTR_AFFINITY_MODE, text,
                          width == TEXT_WIDE ? 6 : 3, &length),
                     SQL_SUCCESS_WITH_INFO);
    assert_string_equal(text_out(width, text), "hi");
    assert_string_equal(state_of(SQL_HANDLE_DBC, dbc), "01004");
    /* the manager's probe, and the same question by anybody else */
    assert_int_equal(CALL(width, SQLGetConnectAttr, dbc,
                          SQL_ATTR_CONNECTION_DEAD, &number, SQL_IS_INTEGER,
                          NULL), SQL_SUCCESS);
    assert_int_equal(number,
                     width == TEXT_NARROW ? SQL_CD_TRUE : SQL_CD_FALSE);
    assert_int_equal(CALL(width, SQLGetConnectAttr, dbc,
                          SQL_ATTR_CONNECTION_DEAD, &number, 0, NULL), 0);
    assert_int_equal(number, SQL_CD_FALSE);
    assert_int_equal(CALL(width, SQLGetConnectAttr, dbc,
                          SQL_ATTR_CONNECTION_DEAD, &number, SQL_IS_INTEGER,
                          &length), SQL_SUCCESS);
    assert_int_equal(number, SQL_CD_FALSE);
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, other);
}

static void hand_SQLGetInfo(enum text_width width)
{
    SQLWCHAR text[50];
    SQLSMALLINT length = 0;
    SQLHANDLE handle = NULL;
    struct fake_call call;

    fake->forget();
    assert_int_equal(CALL(width, SQLGetInfo, dbc, SQL_DRIVER_NAME, text,
                          sizeof text, &length), SQL_SUCCESS);
    assert_string_equal(text_out(width, text), "libfake.so");
    call = reached(wide_name(width, "SQLGetInfo"));
    assert_ptr_equal((void *)call.args[0], inner_dbc);
    assert_int_equal(call.args[1], SQL_DRIVER_NAME);
    assert_ptr_equal((void *)call.args[2], text);
    assert_int_equal(call.args[3], sizeof text);
    assert_ptr_equal((void *)call.args[4], &length);
    assert_int_equal(CALL(width, SQLGetInfo, dbc, SQL_DATA_SOURCE_NAME, text,
                          sizeof text, &length), SQL_SUCCESS);
    assert_string_equal(text_out(width, text), "wrapped");
    assert_int_equal(CALL(width, SQLGetInfo, dbc, SQL_DRIVER_HDBC, &handle,
                          sizeof handle, NULL), SQL_SUCCESS);
    assert_ptr_equal(handle, dbc);
    assert_int_equal(CALL(width, SQLGetInfo, dbc, 4711, text, sizeof text,
                          &length), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, dbc), "HY096");
}

static void hand_SQLGetFunctions(void)
{
    SQLUSMALLINT bits[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE];
    SQLUSMALLINT flags[100], one;
    SQLHDBC other = other_dbc();

    /* before connecting: what is exported */
    assert_int_equal(odbc.SQLGetFunctions(other, SQL_API_SQLBULKOPERATIONS,
                                          &one), SQL_SUCCESS);
    assert_int_equal(one, SQL_TRUE);
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, other);
    /* connected: what the inner driver says that this connection has of it */
    assert_int_equal(odbc.SQLGetFunctions(dbc, SQL_API_ODBC3_ALL_FUNCTIONS,
                                          bits), SQL_SUCCESS);
#define PLAIN(name, number, ...) \
    assert_int_equal(SQL_FUNC_EXISTS(bits, number), \
                     number != SQL_API_SQLBULKOPERATIONS);
#define TEXT(name, number, ...) \
    assert_int_equal(SQL_FUNC_EXISTS(bits, number), SQL_TRUE);
#include "surface.def"
    assert_int_equal(SQL_FUNC_EXISTS(bits, SQL_API_SQLERROR), SQL_FALSE);
    assert_int_equal(SQL_FUNC_EXISTS(bits, SQL_API_SQLDRIVERS), SQL_FALSE);
    assert_int_equal(odbc.SQLGetFunctions(dbc, SQL_API_ALL_FUNCTIONS, flags),
                     SQL_SUCCESS);
    assert_int_equal(flags[SQL_API_SQLFETCH], SQL_TRUE);
    assert_int_equal(flags[SQL_API_SQLALLOCENV], SQL_FALSE);
    assert_int_equal(odbc.SQLGetFunctions(dbc, SQL_API_SQLBULKOPERATIONS,
                                          &one), SQL_SUCCESS);
    assert_int_equal(one, SQL_FALSE);
    assert_int_equal(odbc.SQLGetFunctions(dbc, 60000, &one), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DBC, dbc), "HY095");
}

static void hand_SQLCancel(void)
{
    fake->forget();
    assert_int_equal(odbc.SQLCancel(stmt), SQL_SUCCESS);
    assert_ptr_equal((void *)reached("SQLCancel").args[0], inner_stmt);
    assert_int_equal(odbc.SQLCancel(dbc), SQL_INVALID_HANDLE);
}

static void hand_SQLCancelHandle(void)
{
    fake->forget();
    assert_int_equal(odbc.SQLCancelHandle(SQL_HANDLE_STMT, stmt), 0);
    assert_ptr_equal((void *)reached("SQLCancel").args[0], inner_stmt);
    assert_int_equal(odbc.SQLCancelHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    assert_int_equal(reached("SQLCancelHandle").args[0], SQL_HANDLE_DBC);
    assert_ptr_equal((void *)reached("SQLCancelHandle").args[1], inner_dbc);
}

static void hand_SQLFreeStmt(void)
{
    SQLHSTMT other;

    fake->forget();
    assert_int_equal(odbc.SQLFreeStmt(stmt, SQL_UNBIND), SQL_SUCCESS);
    assert_ptr_equal((void *)reached("SQLFreeStmt").args[0], inner_stmt);
    assert_int_equal(reached("SQLFreeStmt").args[1], SQL_UNBIND);
    odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &other);
    fake->forget();
    assert_int_equal(odbc.SQLFreeStmt(other, SQL_DROP), SQL_SUCCESS);
    assert_false(was_reached("SQLFreeStmt"));
    assert_true(was_reached("SQLFreeHandle"));
    assert_int_equal(odbc.SQLFetch(other), SQL_INVALID_HANDLE);
}

static SQLHDESC current(SQLHSTMT handle, SQLINTEGER attribute)
{
    SQLHDESC value = NULL;

    assert_int_equal(odbc.SQLGetStmtAttr(handle, attribute, &value, 8, NULL),
                     SQL_SUCCESS);
    return value;
}

static void hand_SQLSetStmtAttr(enum text_width width)
{
    const char *name = wide_name(width, "SQLSetStmtAttr");
    SQLHDESC own = current(stmt, SQL_ATTR_APP_ROW_DESC), inner_own;
    struct fake_call call;
    SQLHSTMT other;

    fake->forget();
    assert_int_equal(CALL(width, SQLSetStmtAttr, stmt, SQL_ATTR_MAX_ROWS,
                          (void *)(intptr_t)12, SQL_IS_UINTEGER), 0);
    call = reached(name);
    assert_ptr_equal((void *)call.args[0], inner_stmt);
    assert_int_equal(call.args[1], SQL_ATTR_MAX_ROWS);
    assert_int_equal(call.args[2], 12);
    assert_int_equal(call.args[3], SQL_IS_UINTEGER);
    /* an explicit descriptor goes in as the inner driver's own */
    fake->forget();
    assert_int_equal(CALL(width, SQLSetStmtAttr, stmt, SQL_ATTR_APP_ROW_DESC,
                          desc, 0), SQL_SUCCESS);
    assert_ptr_equal((void *)reached("SQLSetStmtAttr").args[2], inner_desc);
    assert_ptr_equal(current(stmt, SQL_ATTR_APP_ROW_DESC), desc);
    /* the implicit one is still the inner statement's own */
    fake->forget();
    odbc.SQLGetDescField(own, 0, SQL_DESC_COUNT, NULL, 0, NULL);
    inner_own = (void *)reached("SQLGetDescField").args[0];
    assert_ptr_not_equal(inner_own, inner_desc);
    /* back, by SQL_NULL_HDESC and by its own handle */
    assert_int_equal(CALL(width, SQLSetStmtAttr, stmt, SQL_ATTR_APP_ROW_DESC,
                          NULL, 0), SQL_SUCCESS);
    assert_ptr_equal(current(stmt, SQL_ATTR_APP_ROW_DESC), own);
    odbc.SQLSetStmtAttr(stmt, SQL_ATTR_APP_ROW_DESC, desc, 0);
    assert_int_equal(CALL(width, SQLSetStmtAttr, stmt, SQL_ATTR_APP_ROW_DESC,
                          own, 0), SQL_SUCCESS);
    assert_ptr_equal(current(stmt, SQL_ATTR_APP_ROW_DESC), own);
    /* what may not be set */
    odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &other);
    assert_int_equal(CALL(width, SQLSetStmtAttr, stmt, SQL_ATTR_APP_ROW_DESC,
                          current(other, SQL_ATTR_APP_ROW_DESC), 0),
                     SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_STMT, stmt), "HY017");
    assert_int_equal(CALL(width, SQLSetStmtAttr, stmt, SQL_ATTR_IMP_ROW_DESC,
                          desc, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_STMT, stmt), "HY017");
    assert_int_equal(CALL(width, SQLSetStmtAttr, stmt, SQL_ATTR_APP_ROW_DESC,
                          dbc, 0), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_STMT, stmt), "HY024");
    odbc.SQLFreeHandle(SQL_HANDLE_STMT, other);
}

static void hand_SQLGetStmtAttr(enum text_width width)
{
    SQLHDESC seen[4], temporary;
    struct fake_call call;
    SQLINTEGER length;
    SQLPOINTER value;

    fake->forget();
    assert_int_equal(CALL(width, SQLGetStmtAttr, stmt, SQL_ATTR_MAX_ROWS,
                          &value, 8, &length), SQL_SUCCESS);
    call = reached(wide_name(width, "SQLGetStmtAttr"));
    assert_ptr_equal((void *)call.args[0], inner_stmt);
    assert_int_equal(call.args[1], SQL_ATTR_MAX_ROWS);
    assert_ptr_equal((void *)call.args[2], &value);
    assert_int_equal(call.args[3], 8);
    assert_ptr_equal((void *)call.args[4], &length);
    /* four descriptors, distinct and stable, without an inner call */
    fake->forget();
    for (int i = 0; i < 4; i++) {
        assert_int_equal(CALL(width, SQLGetStmtAttr, stmt,
                              SQL_ATTR_APP_ROW_DESC + i, &seen[i], 8, NULL),
                         SQL_SUCCESS);
        assert_non_null(seen[i]);
        assert_ptr_equal(current(stmt, SQL_ATTR_APP_ROW_DESC + i), seen[i]);
        for (int j = 0; j < i; j++) {
            assert_ptr_not_equal(seen[i], seen[j]);
        }
    }
    assert_int_equal(fake->calls(), 0);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DESC, seen[0]), SQL_ERROR);
    assert_string_equal(state_of(SQL_HANDLE_DESC, seen[0]), "HY017");
    /* freeing an explicit one brings the implicit one back */
    odbc.SQLAllocHandle(SQL_HANDLE_DESC, dbc, &temporary);
    odbc.SQLSetStmtAttr(stmt, SQL_ATTR_APP_PARAM_DESC, temporary, 0);
    assert_ptr_equal(current(stmt, SQL_ATTR_APP_PARAM_DESC), temporary);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DESC, temporary), 0);
    assert_ptr_equal(current(stmt, SQL_ATTR_APP_PARAM_DESC), seen[1]);
    odbc.SQLSetStmtAttr(stmt, SQL_ATTR_APP_PARAM_DESC, NULL, 0);
}

static void hand_SQLCopyDesc(void)
{
    SQLHDESC own = current(stmt, SQL_ATTR_IMP_ROW_DESC);

    fake->forget();
    assert_int_equal(odbc.SQLCopyDesc(own, desc), SQL_SUCCESS);
    assert_ptr_equal((void *)reached("SQLCopyDesc").args[1], inner_desc);
    assert_ptr_not_equal((void *)reached("SQLCopyDesc").args[0], inner_desc);
    assert_int_equal(odbc.SQLCopyDesc(own, stmt), SQL_INVALID_HANDLE);
    assert_int_equal(fake->mistakes(), 0);
}

/* Texts that are no command of ours go on untouched: length and all. */
static void hand_SQLNativeSql(enum text_width width)
{
    void *in = text_in(width, "SELECT 1");
    SQLWCHAR out[20];
    SQLINTEGER length = 0;
    struct fake_call call;

    fake->forget();
    assert_int_equal(CALL(width, SQLNativeSql, dbc, in, 6, (void *)out, 20,
                          &length), SQL_SUCCESS);
    call = reached(wide_name(width, "SQLNativeSql"));
    assert_ptr_equal((void *)call.args[0], inner_dbc);
    assert_ptr_equal((void *)call.args[1], in);
    assert_int_equal(call.args[2], 6);
    assert_ptr_equal((void *)call.args[3], out);
    assert_int_equal(call.args[4], 20);
    assert_ptr_equal((void *)call.args[5], &length);
}

static void check_text_call(enum text_width width, const char *name,
                            const void *text, SQLINTEGER length)
{
    struct fake_call call = reached(wide_name(width, name));

    assert_ptr_equal((void *)call.args[0], inner_stmt);
    assert_ptr_equal((void *)call.args[1], text);
    assert_int_equal(call.args[2], length);
}

static void hand_SQLPrepare(enum text_width width)
{
    void *text = text_in(width, "SELECT 12");

    fake->forget();
    assert_int_equal(CALL(width, SQLPrepare, stmt, text, 8), SQL_SUCCESS);
    check_text_call(width, "SQLPrepare", text, 8);
}

static void hand_SQLExecDirect(enum text_width width)
{
    void *text = text_in(width, "SELECT 12");

    fake->forget();
    assert_int_equal(CALL(width, SQLExecDirect, stmt, text, 8), SQL_SUCCESS);
    check_text_call(width, "SQLExecDirect", text, 8);
    fake->forget();
    assert_int_equal(CALL(width, SQLExecDirect, stmt, text, SQL_NTS), 0);
    check_text_call(width, "SQLExecDirect", text, SQL_NTS);
}

static void hand_SQLExecute(void)
{
    assert_int_equal(CALL(TEXT_NARROW, SQLPrepare, stmt,
                          text_in(TEXT_NARROW, "FAIL 22012"), SQL_NTS), 0);
    fake->forget();
    assert_int_equal(odbc.SQLExecute(stmt), SQL_ERROR);
    assert_ptr_equal((void *)reached("SQLExecute").args[0], inner_stmt);
    assert_string_equal(state_of(SQL_HANDLE_STMT, stmt), "22012");
    odbc.SQLFreeStmt(stmt, SQL_CLOSE);
}

static void test_rows_by_hand(void **state)
{
    (void)state;
#define PLAIN(name, number, kind, route, params, args) \
    HAND_##route(hand_##name();)
#define TEXT(name, number, kind, route, params, args) \
    HAND_##route(hand_##name(TEXT_NARROW); hand_##name(TEXT_WIDE);)
#include "surface.def"
    assert_int_equal(fake->mistakes(), 0);
}

/* ---- set-up ------------------------------------------------------------------- */

static int open_connection(void **state)
{
    (void)state;
    odbc.SQLAllocHandle(SQL_HANDLE_ENV, NULL, &env);
    odbc.SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)3, 0);
    odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    if (driver_connect(TEXT_WIDE, dbc, "DSN=wrapped", NULL, 0, NULL, 0)) {
        SQLCHAR text[512] = "", why[6];
        SQLINTEGER native;

        odbc.SQLGetDiagRec(SQL_HANDLE_DBC, dbc, 1, why, &native, text,
                           sizeof text, NULL);
        print_error("%s %s\n", why, text);
        return -1;
    }
    inner_dbc = fake->latest(SQL_HANDLE_DBC);
    odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    inner_stmt = fake->latest(SQL_HANDLE_STMT);
    odbc.SQLAllocHandle(SQL_HANDLE_DESC, dbc, &desc);
    inner_desc = fake->latest(SQL_HANDLE_DESC);
    return 0;
}

static int close_connection(void **state)
{
    (void)state;
    odbc.SQLFreeHandle(SQL_HANDLE_DESC, desc);
    odbc.SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    odbc.SQLDisconnect(dbc);
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    return odbc.SQLFreeHandle(SQL_HANDLE_ENV, env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_generated_rows, open_connection,
                                        close_connection),
        cmocka_unit_test_setup_teardown(test_results_pass, open_connection,
                                        close_connection),
        cmocka_unit_test_setup_teardown(test_rows_by_hand, open_connection,
                                        close_connection),
    };
    const uint16_t one = 1;
    int failed;

    if (*(const uint8_t *)&one != 1) {
        printf("1..0 # SKIP arguments are set as little-endian numbers\n");
        return 0;
    }
    use_ini_files();
    use_driver(USE_WIDE, &odbc);
    fake = use_fake(USE_FAKE);
    failed = cmocka_run_group_tests_name("surface", tests, NULL, NULL);
    use_no_ini_files();
    return failed;
}
