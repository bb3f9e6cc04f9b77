/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Opening and closing a link of each kind, over an inner driver that counts
 * its handles.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "inner.h"
#include "inner_kind.h"
#include "link.h"
#include "unit-yes.h"

/* ---- the inner driver */

static struct {
    int envs, dbcs;
    SQLHANDLE parent;     /* of the latest connection */
    const char *name;     /* SQL_DRIVER_NAME */
    bool stuck;           /* refuses to disconnect until autocommit is on */
    bool refuses;         /* to connect */
    SQLULEN limit;        /* SQL_ATTR_LOGIN_TIMEOUT, and what it was … */
    SQLULEN limit_then;   /* … while it connected */
    char executed[100];   /* the latest statement */
} odd;

static char handles[40];

static SQLRETURN alloc_handle(SQLSMALLINT type, SQLHANDLE parent,
                              SQLHANDLE *handle)
{
    static unsigned next;

    odd.envs += type == SQL_HANDLE_ENV;
    odd.dbcs += type == SQL_HANDLE_DBC;
    if (type == SQL_HANDLE_DBC) {
        odd.parent = parent;
    }
    *handle = &handles[next++ % sizeof handles];
    return SQL_SUCCESS;
}

static SQLRETURN free_handle(SQLSMALLINT type, SQLHANDLE handle)
{
    (void)handle;
    odd.envs -= type == SQL_HANDLE_ENV;
    odd.dbcs -= type == SQL_HANDLE_DBC;
    return SQL_SUCCESS;
}

static SQLRETURN set_attr(SQLHANDLE handle, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER length)
{
    (void)handle;
    (void)length;
    if (attribute == SQL_ATTR_AUTOCOMMIT && value &&
        strcmp(odd.executed, "BEGIN") == 0) {
        odd.stuck = false;
    }
    if (attribute == SQL_ATTR_LOGIN_TIMEOUT) {
        odd.limit = (SQLULEN)(uintptr_t)value;
    }
    return SQL_SUCCESS;
}

static SQLRETURN driver_connect(SQLHDBC hdbc, SQLHWND window, SQLCHAR *in,
                                SQLSMALLINT in_length, SQLCHAR *out,
                                SQLSMALLINT room, SQLSMALLINT *length,
                                SQLUSMALLINT completion)
{
    (void)hdbc;
    (void)window;
    (void)in;
    (void)in_length;
    (void)out;
    (void)room;
    (void)length;
    (void)completion;
    odd.limit_then = odd.limit;
    return odd.refuses ? SQL_ERROR : SQL_SUCCESS;
}

static SQLRETURN disconnect(SQLHDBC hdbc)
{
    (void)hdbc;
    return odd.stuck ? SQL_ERROR : SQL_SUCCESS;
}

static SQLRETURN end_tran(SQLSMALLINT type, SQLHANDLE handle,
                          SQLSMALLINT completion)
{
    (void)type;
    (void)handle;
    (void)completion;
    return odd.stuck ? SQL_ERROR : SQL_SUCCESS;
}

static SQLRETURN exec_direct(SQLHSTMT stmt, SQLCHAR *text, SQLINTEGER length)
{
    (void)stmt;
    (void)length;
    snprintf(odd.executed, sizeof odd.executed, "%s", (char *)text);
    return SQL_SUCCESS;
}

static SQLRETURN num_result_cols(SQLHSTMT stmt, SQLSMALLINT *count)
{
    (void)stmt;
    *count = 0;
    return SQL_SUCCESS;
}

static SQLRETURN get_info(SQLHDBC hdbc, SQLUSMALLINT info, SQLPOINTER value,
                          SQLSMALLINT room, SQLSMALLINT *length)
{
    (void)hdbc;
    (void)length;
    assert_int_equal(info, SQL_DRIVER_NAME);
    if (!odd.name) {
        return SQL_ERROR;
    }
    assert_true(strlen(odd.name) < (size_t)room);
    memcpy(value, odd.name, strlen(odd.name) + 1);
    return SQL_SUCCESS;
}

/* Kept as inner.c keeps them: a driver lives as long as the process, and its
   environments with it. */
static struct inner *make_inner(const struct inner_kind *kind)
{
    static struct inner inners[16];
    static size_t count;
    static char path[] = "odd";
    struct inner *inner = &inners[count++];

    assert_true(count <= sizeof inners / sizeof *inners);
    *inner = (struct inner){
        .call = {
            .SQLAllocHandle = alloc_handle,
            .SQLFreeHandle = free_handle,
            .SQLSetEnvAttr = set_attr,
            .SQLSetConnectAttr = set_attr,
            .SQLGetConnectAttr = yes_it_lives,
            .SQLSetStmtAttr = set_attr,
            .SQLDriverConnect = driver_connect,
            .SQLDisconnect = disconnect,
            .SQLEndTran = end_tran,
            .SQLExecDirect = exec_direct,
            .SQLNumResultCols = num_result_cols,
            .SQLGetInfo = get_info,
        },
        .kind = kind,
        .path = path,
    };
    return inner;
}

static bool open_within(struct link *link, const struct inner *inner,
                        uint32_t ms)
{
    struct link_order order = { .inner = inner, .string = "DSN=x;",
                                .odbc_version = SQL_OV_ODBC3,
                                .timeout_ms = ms };
    struct link_error error;

    memset(link, 0, sizeof *link);
    return link_open(link, &order, &error);
}

static bool open_one(struct link *link, const struct inner *inner)
{
    return open_within(link, inner, 1000);
}

/* ---- environments */

static void links_share_an_environment_only_if_they_may(void **state)
{
    static const struct {
        const struct inner_kind *kind;
        const char *name;
        bool shared;
    } rows[] = {
        { &inner_psqlodbc, "psqlodbcw.so", true },
        { &inner_mariadb, "libmaodbc.so", true },
        { &inner_sqlite, "sqlite3odbc.so", false },
        { &inner_unknown, "odd.so", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct inner *inner = make_inner(rows[i].kind);
        struct link one, other;
        SQLHANDLE first;

        memset(&odd, 0, sizeof odd);
        odd.name = rows[i].name;
        assert_true(open_one(&one, inner));
        first = odd.parent;
        assert_true(open_one(&other, inner));
        assert_int_equal(odd.parent == first, rows[i].shared);
        assert_int_equal(odd.envs, rows[i].shared ? 1 : 2);
        assert_int_equal(odd.dbcs, 2);
        link_close(&one);
        link_close(&other);
        odd.refuses = true;
        assert_false(open_one(&one, inner));
        assert_int_equal(odd.envs, rows[i].shared ? 1 : 0);
        assert_int_equal(odd.dbcs, 0);
    }
}

/* ---- what it says it is */

static void a_driver_is_what_it_says(void **state)
{
    static const struct {
        const struct inner_kind *guess;
        const char *name;
        const struct inner_kind *kind;
    } rows[] = {
        { &inner_psqlodbc, "psqlodbca.so", &inner_psqlodbc },
        { &inner_psqlodbc, "sqlite3odbc.so", &inner_unknown },
        { &inner_psqlodbc, "other.so", &inner_unknown },
        { &inner_psqlodbc, NULL, &inner_unknown },
        { &inner_sqlite, "sqlite3odbc.so", &inner_sqlite },
        { &inner_unknown, "psqlodbcw.so", &inner_unknown }, /* no pqopt */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct inner *inner = make_inner(rows[i].guess);
        struct link link;

        memset(&odd, 0, sizeof odd);
        odd.name = rows[i].name;
        assert_true(open_one(&link, inner));
        assert_ptr_equal(inner->kind, rows[i].kind);
        odd.name = "psqlodbcw.so"; /* it is asked once */
        link_close(&link);
        assert_true(open_one(&link, inner));
        assert_ptr_equal(inner->kind, rows[i].kind);
        link_close(&link);
    }
}

/* ---- what it was asked */

/* Nothing tells who gets the link that it was asked anything. */
static void the_questions_do_not_show(void **state)
{
    struct inner *inner = make_inner(&inner_mariadb);
    struct link_error error;
    struct link link;

    (void)state;
    memset(&odd, 0, sizeof odd);
    odd.name = "libmaodbc.so";
    assert_true(open_one(&link, inner));
    assert_string_equal(odd.executed, inner_mariadb.fresh);
    odd.executed[0] = '\0';
    assert_true(link_validate(&link, &error));
    assert_string_equal(odd.executed, inner_mariadb.fresh);
    link_close(&link);
}

/* ---- how long it may take */

/* Rules §3.4: in whole seconds, and psqlODBC takes 2 for 1; without one it
   hangs.  The application finds none of it. */
static void opening_is_limited_in_seconds(void **state)
{
    static const struct {
        uint32_t ms;
        SQLULEN seconds;
    } rows[] = {
        { 1, 2 }, { 1000, 2 }, { 2000, 2 }, { 2001, 3 }, { 10000, 10 },
    };
    struct inner *inner = make_inner(&inner_psqlodbc);
    struct link link;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(&odd, 0, sizeof odd);
        odd.name = "psqlodbcw.so";
        assert_true(open_within(&link, inner, rows[i].ms));
        assert_int_equal(odd.limit_then, rows[i].seconds);
        assert_int_equal(odd.limit, 0);
        link_close(&link);
    }
}

/* ---- disconnecting */

static void a_stuck_transaction_is_ended(void **state)
{
    struct inner *inner = make_inner(&inner_sqlite);
    struct link link;

    (void)state;
    memset(&odd, 0, sizeof odd);
    odd.name = "sqlite3odbc.so";
    assert_true(open_one(&link, inner));
    link.touched = odd.stuck = true;
    link_close(&link);
    assert_string_equal(odd.executed, "BEGIN");
    assert_false(odd.stuck);
    assert_int_equal(odd.envs + odd.dbcs, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_share_an_environment_only_if_they_may),
        cmocka_unit_test(a_driver_is_what_it_says),
        cmocka_unit_test(the_questions_do_not_show),
        cmocka_unit_test(opening_is_limited_in_seconds),
        cmocka_unit_test(a_stuck_transaction_is_ended),
    };

    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
