/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What link_note_attr() remembers, and what link_reset() runs, over an inner
 * driver of the few functions that this takes.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "inner_kind.h"
#include "link.h"
#include "unit-yes.h"

static struct link link_of_all;
static SQLINTEGER meanwhile; /* what another thread sets then; 0 = nothing */
static unsigned asked;

static bool no_default(SQLINTEGER attribute, SQLULEN *value)
{
    (void)attribute;
    (void)value;
    return false;
}

static SQLRETURN get_attr(SQLHDBC dbc, SQLINTEGER attribute, SQLPOINTER value,
                          SQLINTEGER size, SQLINTEGER *length)
{
    (void)dbc;
    (void)size;
    (void)length;
    asked++;
    *(SQLULEN *)value = (SQLULEN)attribute + 1;
    if (meanwhile) {
        SQLINTEGER other = meanwhile;
        meanwhile = 0;
        link_note_attr(&link_of_all, other);
    }
    return SQL_SUCCESS;
}

static const struct inner_kind kind = { .attr_default = no_default,
                                        .reset = "RESET" };
static const struct inner inner = {
    .kind = &kind,
    .call.SQLGetConnectAttr = get_attr,
};

static int begin(void **state)
{
    (void)state;
    link_of_all = (struct link){ .inner = &inner };
    meanwhile = 0;
    asked = 0;
    return 0;
}

static void the_first_value_counts(void **state)
{
    (void)state;
    link_note_attr(&link_of_all, 30001);
    link_note_attr(&link_of_all, 30002);
    link_note_attr(&link_of_all, 30001);
    assert_int_equal(link_of_all.changed_count, 2);
    assert_int_equal(link_of_all.changed[0].attribute, 30001);
    assert_int_equal(link_of_all.changed[0].before, 30002);
    assert_int_equal(link_of_all.changed[1].attribute, 30002);
    assert_false(link_of_all.spoilt);
}

static void too_many_spoil_it(void **state)
{
    (void)state;
    for (int i = 0; i < LINK_CHANGED_MAX; i++) {
        link_note_attr(&link_of_all, 30001 + i);
    }
    assert_false(link_of_all.spoilt);
    link_note_attr(&link_of_all, 40000);
    assert_true(link_of_all.spoilt);
}

/* Two threads of one session set an attribute at once: what there was before
   is known of one of them at most, and may be the other's. */
static void two_at_once_spoil_it(void **state)
{
    (void)state;
    meanwhile = 30001;
    link_note_attr(&link_of_all, 30001);
    assert_true(link_of_all.spoilt);
}

/* Nor would what it was be asked for: a failure leaves a record, which another
   call's reader might take for its own. */
static void without_a_reset_nothing_is_put_back(void **state)
{
    static const struct inner_kind none = { .attr_default = no_default };
    static const struct inner closed = { .kind = &none,
                                         .call.SQLGetConnectAttr = get_attr };

    (void)state;
    link_of_all.inner = &closed;
    link_note_attr(&link_of_all, 30001);
    assert_true(link_of_all.spoilt);
    assert_int_equal(asked, 0);
}

/* ---- the reset ------------------------------------------------------------ */

static struct text ran;        /* what was run, a ';' behind each */
static const char *fails_with; /* the first RESET's SQLSTATE; NULL: it does not */

static SQLRETURN exec_direct(SQLHSTMT stmt, SQLCHAR *sql, SQLINTEGER length)
{
    bool fails = fails_with && strcmp((const char *)sql, "RESET") == 0 &&
                 !text_contains(text_string(&ran), "RESET");

    (void)stmt;
    (void)length;
    text_appendf(&ran, "%s;", (const char *)sql);
    return fails ? SQL_ERROR : SQL_SUCCESS;
}

static SQLRETURN get_diag_rec(SQLSMALLINT type, SQLHANDLE handle,
                              SQLSMALLINT number, SQLCHAR *state,
                              SQLINTEGER *native, SQLCHAR *text,
                              SQLSMALLINT size, SQLSMALLINT *length)
{
    (void)type;
    (void)handle;
    (void)number;
    (void)size;
    memcpy(state, fails_with, 6);
    *native = 0;
    *text = '\0';
    *length = 0;
    return SQL_SUCCESS;
}

static const char *again(const char *sqlstate)
{
    return strcmp(sqlstate, "AGAIN") == 0    ? ""
           : strcmp(sqlstate, "AFTER") == 0 ? "BEFORE"
                                             : NULL;
}

static void encoding(const char *name, struct text *sql)
{
    text_appendf(sql, "ENCODING %s", name);
}

/* Tried once more where the kind knows that it may go through; the user's
   settings come behind, and the encoding last, where they can have changed a
   wide link's, too. */
static void a_reset_runs_in_this_order(void **state)
{
    static const struct inner_kind whole = { .reset = "RESET",
                                             .reset_again = again,
                                             .set_encoding = encoding };
    static const struct inner able = {
        .kind = &whole,
        .call = { .SQLAllocHandle = yes_alloc_handle,
                  .SQLFreeHandle = yes_free_handle,
                  .SQLEndTran = yes_end_tran,
                  .SQLSetStmtAttr = yes_set_attr,
                  .SQLExecDirect = exec_direct,
                  .SQLGetDiagRec = get_diag_rec,
                  .SQLGetConnectAttr = yes_it_lives },
    };
    static const struct {
        const char *fails_with;
        bool wide;
        const char *settings;
        const char *ran; /* NULL: it fails */
    } rows[] = {
        { NULL, false, "SETTINGS", "RESET;SETTINGS;ENCODING LATIN1;" },
        { NULL, true, "SETTINGS", "RESET;SETTINGS;ENCODING LATIN1;" },
        { NULL, false, "", "RESET;ENCODING LATIN1;" },
        { NULL, true, "", "RESET;" },
        { "AGAIN", true, "", "RESET;RESET;" },
        { "AFTER", true, "", "RESET;BEFORE;RESET;" },
        { "42501", true, "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct link link = { .inner = &able, .hdbc = &ran,
                             .wide = rows[i].wide, .touched = true,
                             .who.encoding = "LATIN1" };
        struct link_error error;
        bool ok;

        fails_with = rows[i].fails_with;
        text_clear(&ran);
        ok = link_reset(&link, rows[i].settings, &error);
        assert_int_equal(ok, rows[i].ran != NULL);
        assert_int_equal(link.touched, !ok);
        assert_string_equal(text_string(&ran), ok ? rows[i].ran : "RESET;");
    }
    text_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_value_counts, begin),
        cmocka_unit_test_setup(too_many_spoil_it, begin),
        cmocka_unit_test_setup(two_at_once_spoil_it, begin),
        cmocka_unit_test_setup(without_a_reset_nothing_is_put_back, begin),
        cmocka_unit_test(a_reset_runs_in_this_order),
    };

    return cmocka_run_group_tests_name("link_reset", tests, NULL, NULL);
}
