/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What link_note_attr() remembers, over an inner driver of one function.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "inner_kind.h"
#include "link.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_value_counts, begin),
        cmocka_unit_test_setup(too_many_spoil_it, begin),
        cmocka_unit_test_setup(two_at_once_spoil_it, begin),
        cmocka_unit_test_setup(without_a_reset_nothing_is_put_back, begin),
    };

    return cmocka_run_group_tests_name("link_reset", tests, NULL, NULL);
}
