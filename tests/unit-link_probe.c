/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * link_probe(): what is asked, what is made of the answer, and what a link that
 * is refused something asks from then on.
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
#include "link_probe.h"
#include "unit-yes.h"

/* ---- an inner driver that refuses what it is told to ---------------------- */

enum { COLUMNS_MAX = 16 };

static struct {
    char asked[600];       /* the statements, parted by '|' */
    const char *refuses;   /* what no statement may have in it; NULL: nothing */
    const char *state;     /* and its SQLSTATE */
    bool dies;             /* of the next statement */
    bool dead;
    bool fetched;
    SQLSMALLINT columns;
    const char *values[COLUMNS_MAX]; /* NULL: SQL NULL */
} odd;

static SQLRETURN get_attr(SQLHDBC hdbc, SQLINTEGER attribute, SQLPOINTER value,
                          SQLINTEGER room, SQLINTEGER *length)
{
    (void)hdbc;
    (void)attribute;
    (void)room;
    (void)length;
    *(SQLUINTEGER *)value = odd.dead ? SQL_CD_TRUE : SQL_CD_FALSE;
    return SQL_SUCCESS;
}

static SQLRETURN exec_direct(SQLHSTMT stmt, SQLCHAR *text, SQLINTEGER length)
{
    size_t used = strlen(odd.asked);

    (void)stmt;
    (void)length;
    snprintf(odd.asked + used, sizeof odd.asked - used, "%s|", (char *)text);
    odd.fetched = false;
    odd.dead = odd.dies;
    return odd.dies || (odd.refuses && strstr((char *)text, odd.refuses))
               ? SQL_ERROR
               : SQL_SUCCESS;
}

static SQLRETURN num_result_cols(SQLHSTMT stmt, SQLSMALLINT *count)
{
    (void)stmt;
    *count = odd.columns;
    return SQL_SUCCESS;
}

static SQLRETURN fetch(SQLHSTMT stmt)
{
    bool more = !odd.fetched;

    (void)stmt;
    odd.fetched = true;
    return more ? SQL_SUCCESS : SQL_NO_DATA;
}

static SQLRETURN get_data(SQLHSTMT stmt, SQLUSMALLINT column, SQLSMALLINT type,
                          SQLPOINTER value, SQLLEN room, SQLLEN *length)
{
    const char *text = odd.values[column - 1];

    (void)stmt;
    (void)type;
    *length = text ? snprintf(value, (size_t)room, "%s", text) : SQL_NULL_DATA;
    return SQL_SUCCESS;
}

static SQLRETURN get_diag_rec(SQLSMALLINT type, SQLHANDLE handle,
                              SQLSMALLINT number, SQLCHAR *state,
                              SQLINTEGER *native, SQLCHAR *text,
                              SQLSMALLINT room, SQLSMALLINT *length)
{
    (void)type;
    (void)handle;
    (void)number;
    memcpy(state, odd.state, 6);
    *native = 1;
    *length = (SQLSMALLINT)snprintf((char *)text, (size_t)room, "not you");
    return SQL_SUCCESS;
}

static const struct inner_probe forms[] = {
    { "all", " FROM here" }, { "some", "" }, { NULL, NULL },
};
static const char *const who[] = { "WHO", "WHO LESS", NULL };
static struct inner_kind kind = { .name = "odd", .who = who, .probe = forms };
static const struct inner inner = {
    .call = {
        .SQLAllocHandle = yes_alloc_handle,
        .SQLFreeHandle = yes_free_handle,
        .SQLSetStmtAttr = yes_set_attr,
        .SQLGetConnectAttr = get_attr,
        .SQLExecDirect = exec_direct,
        .SQLNumResultCols = num_result_cols,
        .SQLFetch = fetch,
        .SQLGetData = get_data,
        .SQLGetDiagRec = get_diag_rec,
    },
    .kind = &kind,
};

static struct link link;
static struct link_probe probe;
static struct link_error error;

static int begin(void **state)
{
    static const char *const values[] = {
        "1", "4711", "3", "UTF8", "5", "6", "18446744073709551615", "8", "100",
        "9000000000", "11", "12", "mark",
    };

    (void)state;
    memset(&odd, 0, sizeof odd);
    memset(&link, 0, sizeof link);
    memcpy(odd.values, values, sizeof values);
    odd.columns = 12;
    odd.state = "42501";
    link.inner = &inner;
    return 0;
}

/* ---- tests ---------------------------------------------------------------- */

static void all_of_it_is_read(void **state)
{
    (void)state;
    assert_true(link_probe(&link, NULL, &probe, &error));
    assert_string_equal(odd.asked, "SELECT all FROM here|");
    assert_int_equal(link.who.role, LINK_ROLE_STANDBY);
    assert_string_equal(link.who.identity, "4711");
    assert_int_equal(link.who.timeline, 3);
    assert_int_equal(link.who.backend, 6);
    assert_true(probe.position == UINT64_MAX);
    assert_int_equal(probe.backends, 8);
    assert_int_equal(probe.backends_max, 100);
    assert_true(probe.active_ms == UINT64_C(9000000000));
    assert_int_equal(probe.commits, 11);
    assert_int_equal(probe.started, 12);
    assert_true(probe.latency > 0);
    assert_false(probe.poor);
    assert_false(probe.extra_told);
}

static void what_is_missing_is_0(void **state)
{
    (void)state;
    odd.columns = 7;
    odd.values[1] = odd.values[6] = NULL;
    assert_true(link_probe(&link, NULL, &probe, &error));
    assert_int_equal(link.who.role, LINK_ROLE_STANDBY);
    assert_string_equal(link.who.identity, "");
    assert_int_equal(probe.position, 0);
    assert_int_equal(probe.backends, 0);
}

static void a_sign_of_life_says_nothing_of_who_it_is(void **state)
{
    (void)state;
    odd.columns = 1;
    link.who.role = LINK_ROLE_PRIMARY;
    assert_true(link_probe(&link, NULL, &probe, &error));
    assert_int_equal(link.who.role, LINK_ROLE_PRIMARY);
    assert_int_equal(probe.position, 0);
}

static void an_extra_column_comes_last(void **state)
{
    (void)state;
    odd.columns = 13;
    assert_true(link_probe(&link, "more", &probe, &error));
    assert_string_equal(odd.asked, "SELECT all, more FROM here|");
    assert_true(probe.extra_told);
    assert_string_equal(probe.extra, "mark");
    assert_int_equal(probe.started, 12);
    odd.values[12] = NULL;
    assert_true(link_probe(&link, "more", &probe, &error));
    assert_true(probe.extra_told);
    assert_string_equal(probe.extra, "");
    odd.columns = 2; /* a kind that asks for a sign of life */
    odd.values[1] = "mark";
    assert_true(link_probe(&link, "more", &probe, &error));
    assert_string_equal(probe.extra, "mark");
}

/* Each refusal is an error in the server's log. */
static void what_is_refused_is_not_asked_again(void **state)
{
    (void)state;
    odd.refuses = "all";
    assert_true(link_probe(&link, NULL, &probe, &error));
    assert_true(probe.poor);
    assert_string_equal(probe.why_poor.state, "42501");
    assert_string_equal(odd.asked, "SELECT all FROM here|SELECT some|");
    assert_true(link_probe(&link, NULL, &probe, &error));
    assert_true(probe.poor);
    assert_string_equal(odd.asked, "SELECT all FROM here|SELECT some|"
                        "SELECT some|");
}

static void an_extra_column_that_is_refused_costs_only_itself(void **state)
{
    (void)state;
    odd.refuses = "more";
    assert_true(link_probe(&link, "more", &probe, &error));
    assert_false(probe.poor);
    assert_false(probe.extra_told);
    assert_string_equal(probe.why_poor.state, "42501");
    assert_string_equal(odd.asked,
                        "SELECT all, more FROM here|SELECT all FROM here|");
    assert_int_equal(probe.backends, 8);
    assert_true(link_probe(&link, "more", &probe, &error));
    assert_non_null(strstr(odd.asked, "here|SELECT all FROM here|SELECT all "));
}

static void who_refuses_all_still_answers(void **state)
{
    (void)state;
    assert_true(link_probe(&link, NULL, &probe, &error));
    assert_int_equal(link.who.role, LINK_ROLE_STANDBY);
    odd.refuses = "SELECT";
    assert_true(link_probe(&link, NULL, &probe, &error));
    assert_true(probe.poor);
    assert_int_equal(probe.backends, 0);
    /* and not who it was when it last said so */
    assert_int_equal(link.who.role, LINK_ROLE_UNKNOWN);
    assert_string_equal(link.who.identity, "");
    assert_int_equal(link.who.timeline, 0);
    /* but for the link itself */
    assert_string_equal(link.who.encoding, "UTF8");
}

/* It is asked nothing any more, and the error is not that of an earlier one. */
static void who_refuses_all_may_be_dead(void **state)
{
    (void)state;
    odd.refuses = "SELECT";
    assert_true(link_probe(&link, NULL, &probe, &error));
    odd.dead = true;
    memset(&error, 0, sizeof error);
    assert_false(link_probe(&link, NULL, &probe, &error));
    assert_string_equal(error.state, "HY000");
    assert_non_null(strstr(error.text, "dead"));
}

/* A statement_timeout of the role's, on a bad day, memory, a lock, a standby's
   conflict: each passes. */
static void what_failed_for_the_moment_is_asked_again(void **state)
{
    static const char *const passing[] = {
        "57014", "53200", "40001", "55P03", "25006", "58030", "HYT00", "XX000",
    };

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        begin(state);
        odd.refuses = "SELECT";
        odd.state = passing[i];
        assert_true(link_probe(&link, "more", &probe, &error));
        assert_true(probe.poor);
        odd.refuses = NULL;
        assert_true(link_probe(&link, "more", &probe, &error));
        assert_false(probe.poor);
        assert_true(probe.extra_told);
    }
}

/* Validation asks who it is: what it refuses it is not asked again, what failed
   for the moment is, and meanwhile it is nobody. */
static void who_it_is_is_asked_likewise(void **state)
{
    static const char *const passing[] = { "57014", "42501" };

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        bool again = i == 0;

        begin(state);
        assert_true(link_validate(&link, &error));
        assert_int_equal(link.who.role, LINK_ROLE_STANDBY);
        odd.asked[0] = '\0';
        odd.refuses = "WHO";
        odd.state = passing[i];
        assert_true(link_validate(&link, &error));
        assert_int_equal(link.who.role, LINK_ROLE_UNKNOWN);
        odd.refuses = NULL;
        assert_true(link_validate(&link, &error));
        assert_int_equal(link.who.role, again ? LINK_ROLE_STANDBY
                                              : LINK_ROLE_UNKNOWN);
        assert_string_equal(odd.asked, again ? "WHO|WHO LESS|WHO|"
                                             : "WHO|WHO LESS|");
    }
}

static void a_dead_link_is_asked_once(void **state)
{
    (void)state;
    odd.dies = true;
    assert_false(link_probe(&link, "more", &probe, &error));
    assert_string_equal(error.state, "42501");
    assert_string_equal(odd.asked, "SELECT all, more FROM here|");
}

static void the_kinds_ask_for_what_link_probe_reads(void **state)
{
    static const struct inner_kind *const kinds[] = {
        &inner_psqlodbc, &inner_mariadb, &inner_sqlite, &inner_unknown,
    };

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        assert_non_null(kinds[k]->probe);
        assert_non_null(kinds[k]->probe[0].columns);
    }
    assert_string_equal(inner_unknown.probe[0].columns, "1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(all_of_it_is_read),
        TEST(what_is_missing_is_0),
        TEST(a_sign_of_life_says_nothing_of_who_it_is),
        TEST(an_extra_column_comes_last),
        TEST(what_is_refused_is_not_asked_again),
        TEST(an_extra_column_that_is_refused_costs_only_itself),
        TEST(who_refuses_all_still_answers),
        TEST(who_refuses_all_may_be_dead),
        TEST(what_failed_for_the_moment_is_asked_again),
        TEST(who_it_is_is_asked_likewise),
        TEST(a_dead_link_is_asked_once),
        TEST(the_kinds_ask_for_what_link_probe_reads),
    };

    return cmocka_run_group_tests_name("link_probe", tests, NULL, NULL);
}
