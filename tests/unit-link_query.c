/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * link_query(): how statements of ours are run, over an inner driver that
 * notes what it is told.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "inner_kind.h"
#include "link_call.h"
#include "text.h"
#include "unit-yes.h"

enum { ROWS = 3, PIECE = 1023 };

static struct {
    int statements;   /* alive */
    struct text told; /* what each was told, in order, a ';' behind each */
    bool refuses;     /* to execute */
    int fails_at;     /* the row whose fetching fails; 0 = none */
    int row;
    size_t given;     /* of the long value, to this row's reader */
} odd;

static char long_value[2 * PIECE + 101];

static SQLRETURN alloc_handle(SQLSMALLINT type, SQLHANDLE parent,
                              SQLHANDLE *handle)
{
    odd.statements += type == SQL_HANDLE_STMT;
    return yes_alloc_handle(type, parent, handle);
}

static SQLRETURN free_handle(SQLSMALLINT type, SQLHANDLE handle)
{
    odd.statements -= type == SQL_HANDLE_STMT;
    return yes_free_handle(type, handle);
}

static SQLRETURN set_stmt_attr(SQLHSTMT stmt, SQLINTEGER attribute,
                               SQLPOINTER value, SQLINTEGER length)
{
    (void)stmt;
    (void)length;
    text_appendf(&odd.told, "%d=%llu;", (int)attribute,
                 (unsigned long long)(uintptr_t)value);
    return SQL_SUCCESS;
}

static SQLRETURN exec_direct(SQLHSTMT stmt, SQLCHAR *sql, SQLINTEGER length)
{
    (void)stmt;
    (void)length;
    text_appendf(&odd.told, "%s;", (char *)sql);
    odd.row = 0;
    return odd.refuses ? SQL_ERROR : SQL_SUCCESS;
}

static SQLRETURN num_result_cols(SQLHSTMT stmt, SQLSMALLINT *count)
{
    (void)stmt;
    *count = 3;
    return SQL_SUCCESS;
}

static SQLRETURN fetch(SQLHSTMT stmt)
{
    (void)stmt;
    odd.given = 0;
    odd.row++;
    return odd.row == odd.fails_at ? SQL_ERROR
           : odd.row > ROWS        ? SQL_NO_DATA
                                   : SQL_SUCCESS;
}

/* NULL, "", and one that comes in pieces. */
static SQLRETURN get_data(SQLHSTMT stmt, SQLUSMALLINT column, SQLSMALLINT type,
                          SQLPOINTER value, SQLLEN room, SQLLEN *length)
{
    size_t left = strlen(long_value + odd.given);

    (void)stmt;
    (void)type;
    assert_int_equal(room, PIECE + 1);
    if (column == 1) {
        *length = SQL_NULL_DATA;
        return SQL_SUCCESS;
    }
    if (column == 2) {
        *length = 0;
        *(char *)value = '\0';
        return SQL_SUCCESS;
    }
    *length = (SQLLEN)left;
    snprintf(value, (size_t)room, "%s", long_value + odd.given);
    odd.given += left > PIECE ? PIECE : left;
    return left > PIECE ? SQL_SUCCESS_WITH_INFO : SQL_SUCCESS;
}

static SQLRETURN get_diag_rec(SQLSMALLINT type, SQLHANDLE handle,
                              SQLSMALLINT number, SQLCHAR *state,
                              SQLINTEGER *native, SQLCHAR *text,
                              SQLSMALLINT room, SQLSMALLINT *length)
{
    (void)handle;
    (void)number;
    assert_int_equal(type, SQL_HANDLE_STMT);
    memcpy(state, "57014", 6);
    *native = 7;
    *length = (SQLSMALLINT)snprintf((char *)text, (size_t)room, "not now");
    return SQL_SUCCESS;
}

static const struct inner_kind kind = { .name = "odd" };
static const struct inner inner = {
    .call = {
        .SQLAllocHandle = alloc_handle,
        .SQLFreeHandle = free_handle,
        .SQLSetStmtAttr = set_stmt_attr,
        .SQLExecDirect = exec_direct,
        .SQLNumResultCols = num_result_cols,
        .SQLFetch = fetch,
        .SQLGetData = get_data,
        .SQLGetDiagRec = get_diag_rec,
    },
    .kind = &kind,
};

static struct link one;
static struct link_error error;
static int seen, wanted; /* rows; then no more */

static int begin(void **state)
{
    (void)state;
    memset(&odd, 0, sizeof odd);
    memset(&one, 0, sizeof one);
    memset(&error, 0, sizeof error);
    memset(long_value, 'x', sizeof long_value - 1);
    text_init(&odd.told);
    one.inner = &inner;
    seen = 0;
    wanted = ROWS + 1;
    return 0;
}

static int end(void **state)
{
    (void)state;
    assert_int_equal(odd.statements, 0); /* whatever happened */
    text_free(&odd.told);
    return 0;
}

static bool no_memory; /* for what is read */

void __real_text_append(struct text *text, const char *string);
void __wrap_text_append(struct text *text, const char *string);
void __wrap_text_append(struct text *text, const char *string)
{
    text->failed |= no_memory;
    __real_text_append(text, string);
}

static bool take(void *arg, unsigned count, const char *const *values)
{
    assert_ptr_equal(arg, &seen);
    assert_int_equal(count, 3);
    assert_null(values[0]);
    assert_string_equal(values[1], "");
    assert_string_equal(values[2], long_value);
    return ++seen < wanted;
}

/* Rules §4.5: psqlODBC makes SET statement_timeout of one, which stays on the
   link.  A statement begins with what its connection has, so it is told, and
   before it is run; so are the rows it may answer. */
static void it_runs_without_a_time_out(void **state)
{
    char want[100];
    (void)state;

    snprintf(want, sizeof want, "%d=0;%d=0;SELECT 1;", SQL_ATTR_QUERY_TIMEOUT,
             SQL_ATTR_MAX_ROWS);
    assert_true(link_query(&one, "SELECT 1", take, &seen, &error));
    assert_string_equal(text_string(&odd.told), want);
    text_clear(&odd.told);
    assert_true(link_execute(&one, "SELECT 1", &error));
    assert_string_equal(text_string(&odd.told), want);
}

static void values_are_read_whole(void **state)
{
    (void)state;
    assert_true(link_query(&one, "SELECT 1", take, &seen, &error));
    assert_int_equal(seen, ROWS);
}

static void no_more_is_read_than_wanted(void **state)
{
    (void)state;
    wanted = 2;
    assert_true(link_query(&one, "SELECT 1", take, &seen, &error));
    assert_int_equal(seen, 2);
    assert_int_equal(odd.row, 2);
}

static void a_failure_has_its_reason(void **state)
{
    (void)state;
    odd.refuses = true;
    assert_false(link_query(&one, "SELECT 1", take, &seen, &error));
    assert_string_equal(error.state, "57014");
    assert_int_equal(error.native, 7);
    memset(&error, 0, sizeof error);
    odd.refuses = false;
    odd.fails_at = 2; /* on the way */
    assert_false(link_query(&one, "SELECT 1", take, &seen, &error));
    assert_string_equal(error.state, "57014");
    assert_int_equal(seen, 1);
}

/* A value is whole, or there is no row. */
static void without_memory_no_value_is_cut(void **state)
{
    (void)state;
    no_memory = true;
    assert_false(link_query(&one, "SELECT 1", take, &seen, &error));
    no_memory = false;
    assert_string_equal(error.text, "out of memory");
    assert_int_equal(seen, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(it_runs_without_a_time_out),
        TEST(values_are_read_whole),
        TEST(no_more_is_read_than_wanted),
        TEST(a_failure_has_its_reason),
        TEST(without_memory_no_value_is_cut),
    };

    return cmocka_run_group_tests_name("link_query", tests, NULL, NULL);
}
