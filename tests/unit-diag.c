/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Diagnostic records: ours, their order, and how they are read. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "diag.h"
#include "inner.h"

struct seen {
    SQLRETURN rc;
    char state[6], text[600];
    SQLINTEGER native;
    SQLSMALLINT length;
};

static struct seen read_narrow(struct diags *diags, SQLSMALLINT number)
{
    struct seen seen = { 0 };

    seen.rc = diag_record(diags, number, seen.state, &seen.native, seen.text,
                          sizeof seen.text, &seen.length, TEXT_NARROW);
    return seen;
}

static struct seen read_wide(struct diags *diags, SQLSMALLINT number)
{
    SQLWCHAR state[6] = { 0 }, text[600] = { 0 };
    struct seen seen = { 0 };
    struct text utf8;

    seen.rc = diag_record(diags, number, state, &seen.native, text, 600,
                          &seen.length, TEXT_WIDE);
    for (int i = 0; i < 6; i++) {
        seen.state[i] = (char)state[i];
    }
    text_init(&utf8);
    text_append_argument(&utf8, text, SQL_NTS, TEXT_WIDE, TEXT_CHARACTERS);
    snprintf(seen.text, sizeof seen.text, "%s", text_string(&utf8));
    text_free(&utf8);
    return seen;
}

/* ---- an inner driver of which only the records exist -------------------- */

static int inner_count;

static SQLRETURN SQL_API inner_rec(SQLSMALLINT type, SQLHANDLE handle,
                                   SQLSMALLINT number, SQLCHAR *state,
                                   SQLINTEGER *native, SQLCHAR *text,
                                   SQLSMALLINT size, SQLSMALLINT *length)
{
    (void)type;
    (void)handle;
    if (number > inner_count) {
        return SQL_NO_DATA;
    }
    memcpy(state, "42S02", 6);
    *native = number;
    if (text) {
        *length = (SQLSMALLINT)snprintf((char *)text, (size_t)size,
                                        "narrow \xE9 %d", number);
    }
    return SQL_SUCCESS;
}

static SQLRETURN SQL_API inner_rec_wide(SQLSMALLINT type, SQLHANDLE handle,
                                        SQLSMALLINT number, SQLWCHAR *state,
                                        SQLINTEGER *native, SQLWCHAR *text,
                                        SQLSMALLINT size,
                                        SQLSMALLINT *length)
{
    static const SQLWCHAR message[] = { 'w', 0xE9, 0xD83D, 0xDE00, 0 };

    (void)type;
    (void)handle;
    (void)size;
    if (number > inner_count) {
        return SQL_NO_DATA;
    }
    for (int i = 0; i < 6; i++) {
        state[i] = (SQLWCHAR)"42S02"[i];
    }
    *native = number;
    if (text) {
        memcpy(text, message, sizeof message);
        *length = 4;
    }
    return SQL_SUCCESS;
}

/* Knows the count of rows, as psqlODBC does, and of records the server. */
static SQLRETURN SQL_API inner_field(SQLSMALLINT type, SQLHANDLE handle,
                                     SQLSMALLINT number, SQLSMALLINT field,
                                     SQLPOINTER value, SQLSMALLINT size,
                                     SQLSMALLINT *length)
{
    (void)type;
    (void)handle;
    (void)length;
    if (field == SQL_DIAG_SERVER_NAME) {
        snprintf(value, (size_t)size, "%s", number == 1 ? "n1" : "another");
        return SQL_SUCCESS;
    }
    if (field != SQL_DIAG_ROW_COUNT) {
        return SQL_ERROR;
    }
    *(SQLLEN *)value = 7;
    return SQL_SUCCESS;
}

static const struct inner_calls both = {
    .SQLGetDiagRec = inner_rec, .SQLGetDiagRecW = inner_rec_wide
};
static const struct inner_calls narrow_only = { .SQLGetDiagRec = inner_rec };

/* ---- tests ----------------------------------------------------------------- */

static void test_ours(void **state)
{
    struct diags diags;
    struct seen seen;

    (void)state;
    diag_init(&diags, "orders");
    assert_false(diags.dirty);
    assert_int_equal(diag_add(&diags, WHY_WAIT_LATE, "key %d", 7), SQL_ERROR);
    assert_true(diags.dirty);
    seen = read_narrow(&diags, 1);
    assert_int_equal(seen.rc, SQL_SUCCESS);
    assert_string_equal(seen.state, "HYT00");
    assert_int_equal(seen.native, 29);
    assert_string_equal(seen.text, "[odbc-affinity][orders] key 7");
    assert_int_equal(seen.length, strlen(seen.text));
    assert_string_equal(read_wide(&diags, 1).text, seen.text);
    assert_string_equal(read_wide(&diags, 1).state, "HYT00");
    diag_clear(&diags);
    assert_false(diags.dirty);
    assert_int_equal(read_narrow(&diags, 1).rc, SQL_NO_DATA);
    /* a sentence of diag.def's own, and no name yet */
    diags.dsn = "";
    assert_int_equal(diag_add(&diags, WHY_KEYWORD, "%s", ""),
                     SQL_SUCCESS_WITH_INFO);
    assert_string_equal(read_narrow(&diags, 1).text,
                        "[odbc-affinity] a keyword of the connection string "
                        "is unknown");
    diag_free(&diags);
}

/* A warning behind an error does not make the call succeed. */
static void test_results(void **state)
{
    const struct why none = { WHY_NONE, "" }, inner = { WHY_INNER, "told" };
    struct diags diags;
    SQLRETURN result = 9;

    (void)state;
    diag_init(&diags, NULL);
    assert_int_equal(diag_why(&diags, &none), SQL_SUCCESS);
    assert_true(diag_empty(&diags));
    /* the inner driver's own words are not said twice */
    assert_int_equal(diag_why(&diags, &inner), SQL_ERROR);
    assert_string_equal(read_narrow(&diags, 1).text, "[odbc-affinity] told");
    diag_wipe(&diags);
    inner_count = 1;
    diag_copy(&diags, &both, SQL_HANDLE_DBC, &diags, "n1", SQL_ERROR);
    assert_int_equal(diag_why(&diags, &inner), SQL_ERROR);
    assert_int_equal(read_narrow(&diags, 2).rc, SQL_NO_DATA);
    assert_int_equal(diag_result(&diags, SQL_NO_DATA), SQL_NO_DATA);
    assert_int_equal(diag_field(&diags, SQL_HANDLE_DBC, 0,
                                SQL_DIAG_RETURNCODE, &result, 0, NULL,
                                TEXT_NARROW), SQL_SUCCESS);
    assert_int_equal(result, SQL_NO_DATA);
    diag_free(&diags);
}

static void test_order(void **state)
{
    struct diags diags, from;

    (void)state;
    diag_init(&diags, "d");
    inner_count = 2;
    diag_copy(&diags, &both, SQL_HANDLE_DBC, &diags, "n1", SQL_ERROR);
    diag_add(&diags, WHY_DEAD, "first");
    diag_add(&diags, WHY_GENERAL, "second");
    assert_string_equal(read_narrow(&diags, 1).text,
                        "[odbc-affinity][d] first");
    assert_string_equal(read_narrow(&diags, 2).text,
                        "[odbc-affinity][d] second");
    assert_int_equal(read_narrow(&diags, 3).native, 1);
    assert_int_equal(read_narrow(&diags, 4).native, 2);
    assert_int_equal(read_narrow(&diags, 5).rc, SQL_NO_DATA);
    diag_init(&from, NULL);
    diag_add(&from, WHY_LOGIN, "third");
    diag_move(&diags, &from);
    assert_true(diag_empty(&from));
    assert_string_equal(read_narrow(&diags, 5).text,
                        "[odbc-affinity] third");
    diag_free(&from);
    diag_free(&diags);
}

/* Each of several lists gets all of it, and what is read is the list's. */
static void test_repeat(void **state)
{
    struct diags from, to[2];

    (void)state;
    inner_count = 2;
    diag_init(&from, NULL);
    diag_copy(&from, &both, SQL_HANDLE_DBC, &from, "n1",
              SQL_SUCCESS_WITH_INFO);
    for (size_t i = 0; i < 2; i++) {
        diag_init(&to[i], "d");
        assert_int_equal(diag_repeat(&to[i], &from), SQL_SUCCESS_WITH_INFO);
        diag_add(&to[i], WHY_KEYWORD, "first");
    }
    diag_free(&from);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(read_narrow(&to[i], 1).text,
                            "[odbc-affinity][d] first");
        assert_string_equal(read_narrow(&to[i], 2).text, "narrow \xE9 1");
        assert_string_equal(read_wide(&to[i], 2).text,
                            "w\xC3\xA9\xF0\x9F\x98\x80");
        assert_int_equal(read_narrow(&to[i], 3).native, 2);
        assert_int_equal(read_narrow(&to[i], 4).rc, SQL_NO_DATA);
        diag_free(&to[i]);
    }
}

static void test_widths(void **state)
{
    struct diags diags;

    (void)state;
    inner_count = 1;
    diag_init(&diags, "d");
    diag_copy(&diags, &both, SQL_HANDLE_STMT, &diags, "n1", SQL_ERROR);
    assert_string_equal(read_narrow(&diags, 1).text, "narrow \xE9 1");
    assert_string_equal(read_wide(&diags, 1).text,
                        "w\xC3\xA9\xF0\x9F\x98\x80");
    assert_int_equal(read_wide(&diags, 1).length, 4);
    diag_wipe(&diags);
    diag_copy(&diags, &narrow_only, SQL_HANDLE_STMT, &diags, "n1", SQL_ERROR);
    assert_string_equal(read_narrow(&diags, 1).text, "narrow \xE9 1");
    assert_string_equal(read_wide(&diags, 1).state, "42S02");
    diag_free(&diags);
}

/* A driver that never says SQL_NO_DATA must not hang us. */
static void test_endless(void **state)
{
    SQLINTEGER count = 0;
    struct diags diags;

    (void)state;
    inner_count = 32767;
    diag_init(&diags, NULL);
    diag_copy(&diags, &narrow_only, SQL_HANDLE_DBC, &diags, "n1", SQL_ERROR);
    diag_field(&diags, SQL_HANDLE_DBC, 0, SQL_DIAG_NUMBER, &count, 0, NULL,
               TEXT_NARROW);
    assert_int_equal(count, 1000);
    diag_free(&diags);
}

static void test_truncation(void **state)
{
    struct diags diags;
    SQLSMALLINT length = 0;
    SQLWCHAR wide[8];
    char text[8];

    (void)state;
    diag_init(&diags, "d");
    diag_add(&diags, WHY_GENERAL, "x");
    assert_int_equal(diag_record(&diags, 1, NULL, NULL, text, 8, &length,
                                 TEXT_NARROW), SQL_SUCCESS_WITH_INFO);
    assert_string_equal(text, "[odbc-a");
    assert_int_equal(length, strlen("[odbc-affinity][d] x"));
    assert_int_equal(diag_record(&diags, 1, NULL, NULL, wide, 8, &length,
                                 TEXT_WIDE), SQL_SUCCESS_WITH_INFO);
    assert_int_equal(wide[7], 0);
    assert_int_equal(wide[6], 'a');
    assert_int_equal(diag_record(&diags, 1, NULL, NULL, NULL, 0, &length,
                                 TEXT_NARROW), SQL_SUCCESS);
    /* lengths of fields are bytes in both widths */
    assert_int_equal(diag_field(&diags, SQL_HANDLE_DBC, 1, SQL_DIAG_SQLSTATE,
                                wide, sizeof wide, &length, TEXT_WIDE),
                     SQL_SUCCESS);
    assert_int_equal(length, 10);
    assert_int_equal(diag_field(&diags, SQL_HANDLE_DBC, 1, SQL_DIAG_SQLSTATE,
                                wide, 6, &length, TEXT_WIDE),
                     SQL_SUCCESS_WITH_INFO);
    assert_int_equal(wide[2], 0);
    assert_int_equal(diag_field(&diags, SQL_HANDLE_DBC, 1, SQL_DIAG_SQLSTATE,
                                text, -1, &length, TEXT_NARROW), SQL_ERROR);
    diag_free(&diags);
}

static void check_text(struct diags *diags, SQLSMALLINT field,
                       const char *wanted)
{
    char text[80] = "";

    assert_int_equal(diag_field(diags, SQL_HANDLE_DBC, 1, field, text,
                                sizeof text, NULL, TEXT_NARROW), SQL_SUCCESS);
    assert_string_equal(text, wanted);
}

static void test_fields_of_ours(void **state)
{
    static const struct {
        enum why_code code;
        const char *class_origin, *subclass_origin;
    } rows[] = {
        { WHY_DEAD, "ISO 9075", "ODBC 3.0" },       /* 08S01 */
        { WHY_REFUSED, "ISO 9075", "ISO 9075" },    /* 08001 */
        { WHY_WAIT_LATE, "ISO 9075", "ODBC 3.0" },  /* HYT00 */
        { WHY_FUNCTION, "ODBC 3.0", "ODBC 3.0" },   /* IM001 */
        { WHY_COMPLETION, "ISO 9075", "ODBC 3.0" }, /* HY110 */
        { WHY_GENERAL, "ISO 9075", "ISO 9075" },    /* HY000 */
    };
    struct diags diags;
    SQLLEN row = 0;

    (void)state;
    diag_init(&diags, "orders");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        diag_wipe(&diags);
        diag_add(&diags, rows[i].code, "x");
        check_text(&diags, SQL_DIAG_CLASS_ORIGIN, rows[i].class_origin);
        check_text(&diags, SQL_DIAG_SUBCLASS_ORIGIN,
                   rows[i].subclass_origin);
        check_text(&diags, SQL_DIAG_SERVER_NAME, "orders");
        check_text(&diags, SQL_DIAG_CONNECTION_NAME, "");
    }
    assert_int_equal(diag_field(&diags, SQL_HANDLE_DBC, 1,
                                SQL_DIAG_ROW_NUMBER, &row, 0, NULL,
                                TEXT_NARROW), SQL_SUCCESS);
    assert_int_equal(row, SQL_NO_ROW_NUMBER);
    /* counts are a statement's */
    assert_int_equal(diag_field(&diags, SQL_HANDLE_DBC, 0,
                                SQL_DIAG_ROW_COUNT, &row, 0, NULL,
                                TEXT_NARROW), SQL_ERROR);
    assert_int_equal(diag_field(&diags, SQL_HANDLE_STMT, 0,
                                SQL_DIAG_ROW_COUNT, &row, 0, NULL,
                                TEXT_NARROW), SQL_SUCCESS);
    diag_free(&diags);
}

/* A header field that the inner driver has not is one that we have not. */
static void test_header(void **state)
{
    static const struct inner_calls inner = {
        .SQLGetDiagRec = inner_rec, .SQLGetDiagField = inner_field
    };
    static const SQLSMALLINT refused[] = {
        SQL_DIAG_CURSOR_ROW_COUNT, SQL_DIAG_DYNAMIC_FUNCTION,
        SQL_DIAG_DYNAMIC_FUNCTION_CODE
    };
    struct diags diags;
    SQLLEN value = 0;

    (void)state;
    inner_count = 1;
    diag_init(&diags, NULL);
    diag_copy(&diags, &inner, SQL_HANDLE_STMT, (SQLHANDLE)&inner, "n1",
              SQL_ERROR);
    assert_int_equal(diag_field(&diags, SQL_HANDLE_STMT, 0, SQL_DIAG_ROW_COUNT,
                                &value, 0, NULL, TEXT_NARROW), SQL_SUCCESS);
    assert_int_equal(value, 7);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char text[20] = "as it was";
        SQLSMALLINT length = -7;

        assert_int_equal(diag_field(&diags, SQL_HANDLE_STMT, 0, refused[i],
                                    text, sizeof text, &length, TEXT_NARROW),
                         SQL_ERROR);
        assert_string_equal(text, "as it was");
        assert_int_equal(length, -7);
    }
    diag_free(&diags);
}

/* The data source of a record is the application's, not the instance's. */
static void test_server(void **state)
{
    static const struct inner_calls inner = {
        .SQLGetDiagRec = inner_rec, .SQLGetDiagField = inner_field
    };
    struct diags diags;
    char text[20] = "";

    (void)state;
    inner_count = 2;
    diag_init(&diags, "orders");
    diag_copy(&diags, &inner, SQL_HANDLE_STMT, (SQLHANDLE)&inner, "n1",
              SQL_ERROR);
    diag_field(&diags, SQL_HANDLE_STMT, 1, SQL_DIAG_SERVER_NAME, text,
               sizeof text, NULL, TEXT_NARROW);
    assert_string_equal(text, "orders");
    diag_field(&diags, SQL_HANDLE_STMT, 2, SQL_DIAG_SERVER_NAME, text,
               sizeof text, NULL, TEXT_NARROW);
    assert_string_equal(text, "another");
    diag_free(&diags);
}

/* Every code is told with its state, of five characters, its number and a
   sentence. */
static void test_table(void **state)
{
    static const struct {
        const char *state;
        int native;
    } rows[] = {
#define DIAG(code, state, native, text) { state, native },
#include "diag.def"
    };

    (void)state;
    for (int code = 1; code < WHY_CODES; code++) {
        struct diags diags;

        assert_int_equal(strlen(rows[code].state), 5);
        diag_init(&diags, NULL);
        diag_add(&diags, (enum why_code)code, "%s", "");
        assert_true(read_narrow(&diags, 1).length >
                    (int)strlen("[odbc-affinity] "));
        assert_string_equal(read_narrow(&diags, 1).state, rows[code].state);
        assert_int_equal(read_narrow(&diags, 1).native, rows[code].native);
        diag_free(&diags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ours),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_fields_of_ours),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_server),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
