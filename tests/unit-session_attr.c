/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * session_attr: attributes set before connect, in every shape in which the
 * manager or an application was seen to hand them over (facts §5.1): known
 * numbers of length 4, text narrow or UTF-16, terminated or not, bare
 * pointers, plain numbers.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "affinity_odbc.h"
#include "config.h"
#include "link.h"
#include "session_attr.h"
#include "unit_folder.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

static void read_config(struct config *config)
{
    static const char string[] =
        "DRIVER=Affinity;Instances=n1;AffinityKey=from-the-string";
    struct why why = { .code = WHY_NONE };

    if (!config_read_string(config, string, strlen(string), &why)) {
        fail_msg("%s", why.text);
    }
}

/* A copy that ends where its memory ends: reading further is a fault. */
static char *at_the_end(const char *bytes, size_t length, void **page)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *start = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(start, MAP_FAILED);
    assert_int_equal(mprotect(start + size, size, PROT_NONE), 0);
    *page = start;
    return memcpy(start + size - length, bytes, length);
}

static void drop_page(void *page)
{
    munmap(page, 2 * (size_t)sysconf(_SC_PAGESIZE));
}

/* The key that connect sees after these bytes were set with this length; they
   are gone by then. */
static void expect_key(const char *bytes, size_t length, SQLINTEGER said,
                       const char *key)
{
    struct session_attr *list = NULL;
    struct config config;
    struct why why = { .code = WHY_NONE };
    void *page;
    char *value = at_the_end(bytes, length, &page);

    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_KEY, value, said,
                                  TEXT_NARROW));
    drop_page(page);
    read_config(&config);
    if (!session_attr_configure(list, &config, &why)) {
        fail_msg("length %d: %s", (int)said, why.text);
    }
    assert_string_equal(config.session.key, key);
    config_free(&config);
    session_attr_free(&list);
    assert_null(list);
}

static void text_arrives_in_every_shape(void **state)
{
    (void)state;
    /* A, SQL_NTS; W, SQL_NTS is converted by the manager */
    expect_key("42", 3, SQL_NTS, "42");
    expect_key("ž,ů", 6, SQL_NTS, "ž,ů");
    expect_key("", 1, SQL_NTS, "");
    /* A, length: not terminated */
    expect_key("42", 2, 2, "42");
    expect_key("a", 1, 1, "a");
    expect_key("abcd", 4, 4, "abcd"); /* 4 is the manager's for numbers */
    /* W, byte length: UTF-16, with its terminator or without */
    expect_key("4\0" "2\0", 4, 4, "42");
    expect_key("4\0" "2\0\0\0", 6, 6, "42");
    expect_key("a\0\x7e\x01", 4, 4, "až"); /* U+017E */
    expect_key("\0", 2, 2, "");
    /* the application's pointer */
    expect_key("pointer", 8, SQL_IS_POINTER, "pointer");
    expect_key("", 1, SQL_IS_POINTER, "");
    expect_key("old", 4, 0, "old"); /* SQLSetConnectOption */
    /* with its length, and no terminator */
    expect_key("binary", 6, SQL_LEN_BINARY_ATTR(6), "binary");
    expect_key("4\0" "2\0", 4, SQL_LEN_BINARY_ATTR(4), "42");
    expect_key("x", 1, SQL_LEN_BINARY_ATTR(0), "");
}

static void expect_number(uintptr_t number, SQLINTEGER said, const char *key)
{
    struct session_attr *list = NULL;
    struct config config;
    struct why why = { .code = WHY_NONE };

    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_KEY,
                                  (SQLPOINTER)number, said, TEXT_NARROW));
    read_config(&config);
    assert_true(session_attr_configure(list, &config, &why));
    assert_string_equal(config.session.key, key);
    config_free(&config);
    session_attr_free(&list);
}

static void a_number_is_a_key_too(void **state)
{
    (void)state;
    expect_number(1500, SQL_IS_INTEGER, "1500");
    expect_number(1500, SQL_IS_UINTEGER, "1500");
    expect_number(1500, SQL_IS_SMALLINT, "1500");
    expect_number(1500, 0, "1500");
    expect_number(0, SQL_IS_INTEGER, "0");
    expect_number(4000000000U, SQL_IS_UINTEGER, "4000000000");
    expect_number((uintptr_t)-7, SQL_IS_INTEGER, "-7");
    expect_number(0, SQL_IS_POINTER, ""); /* no text, not the key "0" */
    expect_number(0, 0, "");
    expect_number(0, SQL_NTS, "");
}

static void the_other_attributes_of_ours_count(void **state)
{
    struct session_attr *list = NULL;
    struct config config;
    struct why why = { .code = WHY_NONE };
    char mode[] = "strict", scope[] = "connection";
    (void)state;

    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_MODE, mode,
                                  SQL_NTS, TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_SCOPE, scope,
                                  SQL_NTS, TEXT_NARROW));
    read_config(&config);
    assert_true(session_attr_configure(list, &config, &why));
    assert_int_equal(config.session.mode, CONFIG_STRICT);
    assert_string_equal(config.session.key, "from-the-string");
    config_free(&config);
    session_attr_free(&list);
}

/* The manager throws away what SQLSetConnectAttr says, so connect says it. */
static void what_is_wrong_is_said_by_connect(void **state)
{
    static const struct {
        SQLINTEGER attribute;
        const char *value;
        const char *words;
    } rows[] = {
        { SQL_ATTR_AFFINITY_MODE, "Strikt", "Strikt" },
        { SQL_ATTR_AFFINITY_SCOPE, "statement", "statement" },
        { SQL_ATTR_AFFINITY_INSTANCE, "n1", "0x5AF3" },
        { SQL_ATTR_AFFINITY_TOKEN, "t", "0x5AF5" },
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct session_attr *list = NULL;
        struct config config;
        struct why why = { .code = WHY_NONE };
        char value[32];
        snprintf(value, sizeof value, "%s", rows[i].value);
        assert_true(session_attr_keep(&list, rows[i].attribute, value,
                                      SQL_NTS, TEXT_NARROW));
        read_config(&config);
        assert_false(session_attr_configure(list, &config, &why));
        assert_int_not_equal(why.code, WHY_NONE);
        if (!strstr(why.text, rows[i].words)) {
            fail_msg("%s", why.text);
        }
        config_free(&config);
        session_attr_free(&list);
    }
}

static void an_over_long_key_is_refused(void **state)
{
    struct session_attr *list = NULL;
    char *big = malloc(100001);
    struct session_attr *attr;
    (void)state;

    memset(big, 'x', 100000);
    big[100000] = '\0';
    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_KEY, big,
                                  SQL_NTS, TEXT_NARROW));
    attr = session_attr_find(list, SQL_ATTR_AFFINITY_KEY);
    assert_int_equal(attr->length, 8193); /* enough to see that */
    session_attr_free(&list);
    free(big);
}

static void the_latest_of_a_number_stays(void **state)
{
    struct session_attr *list = NULL;
    char one[] = "one", two[] = "two";
    (void)state;

    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_KEY, one,
                                  SQL_NTS, TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_AUTOCOMMIT, NULL, 4,
                                  TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_KEY, two,
                                  SQL_NTS, TEXT_NARROW));
    assert_string_equal(session_attr_find(list, SQL_ATTR_AFFINITY_KEY)->bytes,
                        "two");
    assert_non_null(session_attr_find(list, SQL_ATTR_AUTOCOMMIT));
    assert_null(session_attr_find(list, SQL_ATTR_TXN_ISOLATION));
    session_attr_free(&list);
    session_attr_free(&list); /* an empty one */
}

/* ---- replay ------------------------------------------------------------------- */

static char replayed[400];

static SQLRETURN set_attr(SQLHDBC hdbc, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER length)
{
    size_t at = strlen(replayed);
    bool text = attribute == SQL_ATTR_CURRENT_CATALOG || attribute == 16500;

    (void)hdbc;
    if (text) {
        snprintf(replayed + at, sizeof replayed - at, "%d=<%.*s>/%d ",
                 (int)attribute, (int)length, (char *)value, (int)length);
    } else {
        snprintf(replayed + at, sizeof replayed - at, "%d=%ld/%d ",
                 (int)attribute, (long)(intptr_t)value, (int)length);
    }
    return SQL_ERROR; /* what the inner driver thinks stays silent */
}

static SQLRETURN get_attr(SQLHDBC hdbc, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER room,
                          SQLINTEGER *length)
{
    (void)hdbc;
    (void)attribute;
    (void)room;
    (void)length;
    *(SQLUINTEGER *)value = 1;
    return SQL_SUCCESS;
}

static bool no_default(SQLINTEGER attribute, SQLULEN *value)
{
    (void)attribute;
    (void)value;
    return false;
}

static void the_rest_is_replayed_on_the_link(void **state)
{
    static const struct inner_kind kind = { .attr_default = no_default,
                                            .reset = "RESET" };
    static const struct inner inner = {
        .call = { .SQLSetConnectAttr = set_attr,
                  .SQLGetConnectAttr = get_attr },
        .kind = &kind,
    };
    struct link link = { .inner = &inner };
    struct session_attr *list = NULL;
    char catalog[] = { 'd', 'b' }, own[] = "own", key[] = "k";
    (void)state;

    /* known numbers come with length 4 and must not be read as text */
    assert_true(session_attr_keep(&list, SQL_ATTR_AUTOCOMMIT,
                                  (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 4,
                                  TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_TXN_ISOLATION,
                                  (SQLPOINTER)SQL_TXN_SERIALIZABLE, 4,
                                  TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_LOGIN_TIMEOUT,
                                  (SQLPOINTER)5, 4, TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_ANSI_APP,
                                  (SQLPOINTER)SQL_AA_TRUE, 0, TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_ODBC_CURSORS, NULL, 4,
                                  TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_KEY, key,
                                  SQL_NTS, TEXT_NARROW));
    assert_true(session_attr_keep(&list, SQL_ATTR_CURRENT_CATALOG, catalog,
                                  2, TEXT_NARROW));
    assert_true(session_attr_keep(&list, 16500, own, SQL_NTS, TEXT_NARROW));
    assert_true(session_attr_keep(&list, 65536, (SQLPOINTER)9, 0,
                                  TEXT_NARROW));
    memset(own, 'x', 3); /* copies were taken */
    memset(catalog, 'x', 2);
    session_attr_replay(list, &link);
    assert_string_equal(replayed, "102=0/4 108=8/4 103=5/4 109=<db>/2 "
                        "16500=<own>/3 65536=9/0 ");
    assert_true(link.touched);
    assert_true(link.spoilt); /* the catalog: nothing puts it back */
    assert_int_equal(link.changed_count, 5);
    assert_int_equal(link.changed[0].attribute, SQL_ATTR_AUTOCOMMIT);
    assert_int_equal(link.changed[0].before, 1);
    session_attr_free(&list);
}

static void a_link_is_not_touched_by_ours_alone(void **state)
{
    struct link link = { .inner = NULL };
    struct session_attr *list = NULL;
    char key[] = "k";
    (void)state;

    assert_true(session_attr_keep(&list, SQL_ATTR_AFFINITY_KEY, key,
                                  SQL_NTS, TEXT_NARROW));
    session_attr_replay(list, &link);
    assert_false(link.touched);
    session_attr_free(&list);
}

static int set_up(void **state)
{
    (void)state;
    unit_folder_make();
    unit_folder_put("odbcinst.ini",
                    "[Affinity]\nDriver=libodbcaffinity.so\n");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_arrives_in_every_shape),
        cmocka_unit_test(a_number_is_a_key_too),
        cmocka_unit_test(the_other_attributes_of_ours_count),
        cmocka_unit_test(what_is_wrong_is_said_by_connect),
        cmocka_unit_test(an_over_long_key_is_refused),
        cmocka_unit_test(the_latest_of_a_number_stays),
        cmocka_unit_test(the_rest_is_replayed_on_the_link),
        cmocka_unit_test(a_link_is_not_touched_by_ours_alone),
    };

    return cmocka_run_group_tests_name("session_attr", tests, set_up,
                                       unit_folder_remove);
}
