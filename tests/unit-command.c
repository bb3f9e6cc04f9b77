/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Which texts are commands of ours, and the SELECT that an answer becomes. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"
#include "command_likely.h"
#include "inner_psqlodbc.h"
#include "inner_sql.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* ASCII as UTF-16, terminated; the caller frees it. */
static SQLWCHAR *widened(const char *text)
{
    size_t length = strlen(text);
    SQLWCHAR *wide = calloc(length + 1, sizeof *wide);

    assert_non_null(wide);
    for (size_t i = 0; i < length; i++) {
        wide[i] = (unsigned char)text[i];
    }
    return wide;
}

/* All four ways to hand over a text must look alike: narrow and wide,
   counted and terminated.  Counted ones end at the end of an allocation, so
   that valgrind and AddressSanitizer see who reads on. */
static bool likely(const char *text)
{
    SQLINTEGER length = (SQLINTEGER)strlen(text);
    SQLWCHAR *wide = widened(text);
    size_t size = (size_t)length * sizeof *wide;
    char *exact = malloc((size_t)length + !length);
    void *exact_wide = malloc(size + !size);
    bool result = command_likely(text, SQL_NTS, TEXT_NARROW);

    assert_non_null(exact);
    assert_non_null(exact_wide);
    memcpy(exact, text, (size_t)length);
    memcpy(exact_wide, wide, size);
    assert_int_equal(command_likely(exact, length, TEXT_NARROW), result);
    assert_int_equal(command_likely(wide, SQL_NTS, TEXT_WIDE), result);
    assert_int_equal(command_likely(exact_wide, length, TEXT_WIDE), result);
    free(exact_wide);
    free(exact);
    free(wide);
    return result;
}

/* ---- commands */

static void commands_are_found(void **state)
{
    static const struct {
        const char *text;
        enum command_kind kind;
        const char *argument;
    } rows[] = {
        { "SHOW AFFINITY", COMMAND_SHOW, NULL },
        { "show affinity", COMMAND_SHOW, NULL },
        { " \t\r\n\f\vShow\nAffinity ; ", COMMAND_SHOW, NULL },
        { "SHOW AFFINITY;", COMMAND_SHOW, NULL },
        { "SHOW AFFINITY -- what is it?", COMMAND_SHOW, NULL },
        { "SHOW AFFINITY; -- ; DELETE", COMMAND_SHOW, NULL },
        { "-- first\nSHOW AFFINITY", COMMAND_SHOW, NULL },
        { "/* a /* nested ; */ one */SHOW/**/AFFINITY/*;*/", COMMAND_SHOW,
          NULL },
        { "SHOW AFFINITY INSTANCES", COMMAND_SHOW_INSTANCES, NULL },
        { "SHOW AFFINITY pools", COMMAND_SHOW_POOLS, NULL },
        { "SHOW AFFINITY TOPOLOGY", COMMAND_SHOW_TOPOLOGY, NULL },
        { "SHOW AFFINITY STATS", COMMAND_SHOW_STATS, NULL },
        { "SHOW AFFINITY CONFIG", COMMAND_SHOW_CONFIG, NULL },
        { "REFRESH AFFINITY", COMMAND_REFRESH, NULL },
        { "DRAIN AFFINITY INSTANCE n1", COMMAND_DRAIN, "n1" },
        { "DRAIN AFFINITY INSTANCE n1-tcp;", COMMAND_DRAIN, "n1-tcp" },
        { "RESUME AFFINITY INSTANCE 10.0.0.1:5432", COMMAND_RESUME,
          "10.0.0.1:5432" },
        { "RESUME AFFINITY INSTANCE [::1]:5432 ;", COMMAND_RESUME,
          "[::1]:5432" },
        { "DRAIN AFFINITY INSTANCE 'n 1'", COMMAND_DRAIN, "n 1" },
        { "EXPLAIN AFFINITY KEY '1500'", COMMAND_EXPLAIN_KEY, "1500" },
        { "EXPLAIN AFFINITY KEY'1500';", COMMAND_EXPLAIN_KEY, "1500" },
        { "EXPLAIN AFFINITY KEY ''", COMMAND_EXPLAIN_KEY, "" },
        { "EXPLAIN AFFINITY KEY 'O''Hara; \"a, b\", -- \\'",
          COMMAND_EXPLAIN_KEY, "O'Hara; \"a, b\", -- \\" },
        { "EXPLAIN AFFINITY KEY '\xC3\xA9\xE2\x82\xAC'", COMMAND_EXPLAIN_KEY,
          "\xC3\xA9\xE2\x82\xAC" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct command command;
        struct why why = { 0 };

        assert_true(likely(rows[i].text));
        assert_int_equal(command_parse(rows[i].text, strlen(rows[i].text),
                                       &command, &why), COMMAND_OURS);
        assert_int_equal(command.kind, rows[i].kind);
        if (rows[i].argument) {
            assert_string_equal(command.argument, rows[i].argument);
        } else {
            assert_null(command.argument);
        }
        command_clear(&command);
    }
}

static void commands_to_come_and_malformed_ones_are_refused(void **state)
{
    static const struct {
        const char *text;
        enum why_code code;
        const char *says;
    } rows[] = {
        { "SET AFFINITY KEY 'k'", WHY_UNAVAILABLE, "SET AFFINITY KEY" },
        { "SET AFFINITY KEY ?", WHY_UNAVAILABLE, "SET AFFINITY KEY" },
        { "SET AFFINITY KEY DEFAULT", WHY_UNAVAILABLE, "KEY DEFAULT" },
        { "SET AFFINITY MODE strict", WHY_UNAVAILABLE, "MODE" },
        { "SET AFFINITY MODE 'strict'", WHY_UNAVAILABLE, "MODE" },
        { "SET AFFINITY TOKEN 't'", WHY_UNAVAILABLE, "TOKEN" },
        { "SHOW AFFINITY TOKEN", WHY_UNAVAILABLE, "TOKEN" },
        { "EXPLAIN AFFINITY STATEMENT 'SELECT 1; SELECT 2'",
          WHY_UNAVAILABLE, "STATEMENT" },
        { "SHOW AFFINITY POOLZ", WHY_COMMAND, "SHOW AFFINITY POOLS" },
        { "SHOW AFFINITY POOLS NOW", WHY_COMMAND, "SHOW AFFINITY POOLS" },
        { "SHOW AFFINITY 'POOLS'", WHY_COMMAND, "SHOW AFFINITY POOLS" },
        { "EXPLAIN AFFINITY KEY", WHY_COMMAND, "EXPLAIN AFFINITY KEY 'k'" },
        { "EXPLAIN AFFINITY KEY 5", WHY_COMMAND, "KEY 'k'" },
        { "EXPLAIN AFFINITY KEY E'5'", WHY_COMMAND, "KEY 'k'" },
        { "EXPLAIN AFFINITY KEY 'unfinished", WHY_COMMAND, "KEY 'k'" },
        { "EXPLAIN AFFINITY KEY 'a' 'b'", WHY_COMMAND, "KEY 'k'" },
        { "EXPLAIN AFFINITY KEY ?", WHY_COMMAND, "KEY 'k'" },
        { "SET AFFINITY", WHY_COMMAND, "nothing yet that begins with SET" },
        { "SET AFFINITY KEY 'k' NOW PLEASE AND AT ONCE", WHY_COMMAND,
          "nothing yet that begins with SET" },
        { "DRAIN AFFINITY INSTANCE", WHY_COMMAND, "INSTANCE name" },
        { "DRAIN AFFINITY INSTANCE n1, n2", WHY_COMMAND, "INSTANCE name" },
        { "DRAIN AFFINITY INSTANCE n1 -tcp", WHY_COMMAND, "INSTANCE name" },
        { "SHOW AFFINITY; SELECT 1", WHY_GENERAL, "only statement" },
        { "SHOW AFFINITY;;", WHY_GENERAL, "only statement" },
        { "; SHOW AFFINITY", WHY_GENERAL, "only statement" },
        { "SELECT 1; SHOW AFFINITY", WHY_GENERAL, "only statement" },
        { "SELECT 1;SELECT ';' ; /* ; */ set affinity key 'k'; SELECT 2",
          WHY_GENERAL, "only statement" },
        { "INSERT INTO t VALUES ('it''s; '); REFRESH AFFINITY", WHY_GENERAL,
          "only statement" },
        { "SELECT $a$ ; $a$; SHOW AFFINITY POOLZ", WHY_GENERAL,
          "only statement" },
        { "SELECT E'\\';'; SHOW AFFINITY", WHY_GENERAL, "only statement" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct command command;
        struct why why = { 0 };

        assert_true(likely(rows[i].text));
        assert_int_equal(command_parse(rows[i].text, strlen(rows[i].text),
                                       &command, &why), COMMAND_REFUSED);
        assert_int_equal(why.code, rows[i].code);
        assert_non_null(strstr(why.text, rows[i].says));
    }
}

/* Behind the colon there is no command that would be refused in turn. */
static void only_what_there_is_is_named(void **state)
{
    static const struct {
        const char *form;
        bool ready;
    } forms[] = {
#define READY true
#define LATER false
#define COMMAND(name, form, when) { form, when },
#include "command.def"
#undef READY
#undef LATER
    };

    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        struct command command;
        struct why why = { 0 };
        const char *allowed;
        char text[128];

        snprintf(text, sizeof text, "%.*s AFFINITY 5",
                 (int)strcspn(forms[i].form, " "), forms[i].form);
        assert_int_equal(command_parse(text, strlen(text), &command, &why),
                         COMMAND_REFUSED);
        assert_int_equal(why.code, WHY_COMMAND);
        allowed = strstr(why.text, "allowed: ");
        assert_non_null(allowed);
        assert_int_equal(strstr(allowed, forms[i].form) != NULL,
                         forms[i].ready);
    }
}

static void other_texts_are_not_ours(void **state)
{
    static const char *const texts[] = {
        "",
        ";",
        "SELECT 'SHOW AFFINITY'",
        "SHOW ALL",
        "SHOW affinity.x",             /* somebody's own parameter */
        "SHOW \"affinity\"",
        "SET affinity.key = 'k'",
        "SET LOCAL affinity.key TO 'k'",
        "SHOW AFFINITYX",
        "SHOW XAFFINITY",
        "EXPLAIN SELECT 1 AS affinity",
        "AFFINITY",
        "SELECT 1; SELECT 'SHOW AFFINITY'",
        "SELECT 1; -- SHOW AFFINITY",
        "SELECT 1; /* ; SHOW AFFINITY */",
        "SELECT $$ ; SHOW AFFINITY ; $$",
        "SELECT $a$ $$ ; SHOW AFFINITY ; $a",
        "SELECT \"; SHOW AFFINITY\"",
        "SELECT E'\\'; SHOW AFFINITY'",
        "SELECT 'a''; SHOW AFFINITY'",
        "SELECT a$1; SELECT $1 FROM affinity",
        "/* SHOW AFFINITY",
        "-- SHOW AFFINITY",
        "CREATE TABLE affinity (a int); DROP TABLE affinity",
        "COMMENT ON TABLE t IS 'affinity'; SET x.y = 'affinity'",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct command command;
        struct why why = { 0 };

        likely(texts[i]); /* that its four ways agree */
        assert_int_equal(command_parse(texts[i], strlen(texts[i]), &command,
                                       &why), COMMAND_NOT_OURS);
        assert_int_equal(why.code, WHY_NONE);
    }
}

static void most_texts_are_passed_over_at_once(void **state)
{
    static const char *const texts[] = {
        "SELECT 1",
        "SELECT 1;",
        "SELECT 1 ; \n",
        "select affinity from t where a = 'show affinity'",
        "SET search_path TO a, b",
        "SHOW server_version",
        "EXPLAIN SELECT 1",
        "EXECUTE p",
        "INSERT INTO affinity VALUES (1)",
        "UPDATE affinity SET a = 1",
        "DELETE FROM affinity",
        "DROP TABLE affinity",
        "RETURN affinity",
        "/* hello */ SELECT 1",
        "BEGIN; SELECT 1; COMMIT",
        "S", "SE", "SH", "E", "EX", "R", "RE", "D", "DR", "-", "/",
        "{call affinity(?)}",
        "",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_false(likely(texts[i]));
    }
}

/* A ';' at each place of texts of each length. */
static void no_semicolon_is_missed(void **state)
{
    char text[64];

    (void)state;
    for (size_t before = 0; before < 20; before++) {
        memset(text, 'x', before);
        text[before] = '\0';
        assert_false(likely(text));
        strncat(text, ";SHOW AFFINITY", sizeof text - before - 1);
        assert_true(likely(text));
        for (size_t i = before + 1; i < before + 8; i++) {
            char short_text[64];

            memcpy(short_text, text, i);
            short_text[i] = '\0';
            assert_false(likely(short_text));
        }
    }
}

static void wide_letters_are_not_taken_for_narrow_ones(void **state)
{
    /* U+0153 and U+5300 hold the byte of S; U+3B3B that of ';' twice */
    SQLWCHAR *text = widened("SHOW AFFINITY");

    (void)state;
    text[0] = 0x153;
    assert_false(command_likely(text, SQL_NTS, TEXT_WIDE));
    text[0] = 0x5300;
    assert_false(command_likely(text, SQL_NTS, TEXT_WIDE));
    text[0] = 0x3B3B;
    assert_false(command_likely(text, SQL_NTS, TEXT_WIDE));
    assert_false(command_likely(text, 13, TEXT_WIDE));
    free(text);
}

static void wide_text_may_stand_at_an_odd_address(void **state)
{
    SQLWCHAR *text = widened("SELECT 1; SHOW AFFINITY");
    size_t size = 24 * sizeof *text;
    char *odd = malloc(size + 1);

    (void)state;
    assert_non_null(odd);
    memcpy(odd + 1, text, size);
    assert_true(command_likely(odd + 1, SQL_NTS, TEXT_WIDE));
    assert_true(command_likely(odd + 1, 23, TEXT_WIDE));
    assert_false(command_likely(odd + 1, 9, TEXT_WIDE));
    free(odd);
    free(text);
}

/* Not the word, but with a pair as it has, whatever its address. */
static void pairs_alone_are_no_word(void **state)
{
    (void)state;
    assert_false(likely("; LIMIT 10 OFFSET 20"));
    assert_false(likely("; LIMIT 10  OFFSET 20"));
    assert_false(likely("; after; affirm; AFFINIT; FFINITY; AFFINIT"));
    assert_true(likely("; OFFSET after AFFAFFINITY"));
    assert_true(likely("; OFFSETafter AFAFFINITY"));
    assert_true(likely("; OFFSETaffinity"));
}

static void bad_arguments_are_the_inner_drivers_to_refuse(void **state)
{
    (void)state;
    assert_false(command_likely(NULL, SQL_NTS, TEXT_NARROW));
    assert_false(command_likely(NULL, 13, TEXT_WIDE));
    assert_false(command_likely("SHOW AFFINITY", -1, TEXT_NARROW));
    assert_false(command_likely("SHOW AFFINITY", 0, TEXT_NARROW));
    assert_false(command_likely("SHOW AFFINITY", 12, TEXT_NARROW));
}

static void every_command_has_its_form(void **state)
{
    static const char *const forms[] = {
#define COMMAND(name, form, when) form,
#include "command.def"
    };
    struct why why = { 0 };

    (void)state;
    for (unsigned i = 0; i < COMMAND_KINDS; i++) {
        const char *form = forms[i];
        struct command command;
        struct command_answer answer;

        assert_true(likely(form));
        if (command_parse(form, strlen(form), &command, &why)
            == COMMAND_OURS) {
            assert_int_equal(command.kind, i);
            command_describe(&command, &answer);
            assert_true(answer.columns > 1);
            command_answer_free(&answer);
            command_clear(&command);
        } else {
            assert_int_equal(why.code, WHY_UNAVAILABLE);
        }
    }
}

/* ---- answers */

static const char *const names[] = { "instance", "group", NULL };

static void check_sql(const struct command_answer *answer, size_t least,
                      const char *wanted)
{
    struct text sql;

    text_init(&sql);
    assert_true(command_answer_sql(answer, &inner_psqlodbc_sql, least, &sql));
    assert_string_equal(text_string(&sql), wanted);
    text_free(&sql);
}

static void rows_become_a_select(void **state)
{
    struct command_answer answer;

    (void)state;
    command_answer_begin(&answer, names);
    command_answer_add(&answer, "n1");
    command_answer_number(&answer, 1234567);
    command_answer_add(&answer, "");
    command_answer_add(&answer, NULL);
    command_answer_add(&answer, "it's");
    command_answer_yes(&answer, true);
    assert_int_equal(command_answer_rows(&answer), 3);
    check_sql(&answer, 1,
              "SELECT CAST(c0 AS VARCHAR(4)) AS \"instance\", "
              "CAST(c1 AS VARCHAR(7)) AS \"group\" FROM "
              "(SELECT 'n1' AS c0, '1234567' AS c1 UNION ALL VALUES "
              "('', NULL), ('it''s', 'yes')) AS affinity");
    command_answer_free(&answer);
}

static void no_rows_become_a_select_of_none(void **state)
{
    struct command_answer answer;

    (void)state;
    command_answer_begin(&answer, names);
    check_sql(&answer, 255,
              "SELECT CAST(c0 AS VARCHAR(255)) AS \"instance\", "
              "CAST(c1 AS VARCHAR(255)) AS \"group\" FROM "
              "(SELECT NULL AS c0, NULL AS c1) AS affinity WHERE 1 = 0");
    command_answer_free(&answer);
}

/* Neither a backslash nor a character beyond ASCII nor a byte that is none
   may reach the inner driver as it is. */
static void odd_characters_are_put_together_by_the_server(void **state)
{
    struct command_answer answer;

    (void)state;
    command_answer_begin(&answer, names);
    command_answer_add(&answer, "a\\'\xC3\xA9\xE2\x82\xACz");
    command_answer_add(&answer, "\\");
    command_answer_add(&answer, "\xE9t\xE9"); /* LATIN1 */
    command_answer_add(&answer, "a\nb\tc\x7F");
    check_sql(&answer, 1,
              "SELECT CAST(c0 AS VARCHAR(9)) AS \"instance\", "
              "CAST(c1 AS VARCHAR(6)) AS \"group\" FROM (SELECT "
              "'a' || pg_catalog.chr(92) || '''' || "
              "pg_catalog.convert_from(pg_catalog.decode("
              "'c3a9e282ac', 'hex'), 'UTF8') || 'z' AS c0, "
              "pg_catalog.chr(92) AS c1 UNION ALL VALUES "
              "(pg_catalog.convert_from(pg_catalog.decode("
              "'efbfbd', 'hex'), 'UTF8') || 't' || "
              "pg_catalog.convert_from(pg_catalog.decode("
              "'efbfbd', 'hex'), 'UTF8'), 'a b c ')) AS affinity");
    command_answer_free(&answer);
}

static void a_row_can_be_said_in_a_record(void **state)
{
    struct command_answer answer;
    struct text text;

    (void)state;
    text_init(&text);
    command_answer_begin(&answer, names);
    command_answer_add(&answer, "n1");
    command_answer_add(&answer, "g");
    command_answer_add(&answer, NULL);
    command_answer_add(&answer, "h");
    command_answer_say(&answer, 0, &text);
    text_append_char(&text, '|');
    command_answer_say(&answer, 1, &text);
    assert_string_equal(text_string(&text), "instance=n1, group=g|group=h");
    command_answer_free(&answer);
    text_free(&text);
}

static void many_rows_keep_their_order(void **state)
{
    struct command_answer answer;
    struct text sql;
    const char *at;

    (void)state;
    text_init(&sql);
    command_answer_begin(&answer, names);
    for (uint64_t i = 0; i < 5000; i++) {
        command_answer_number(&answer, i);
        command_answer_add(&answer, "x");
    }
    assert_int_equal(command_answer_rows(&answer), 5000);
    assert_true(command_answer_sql(&answer, &inner_psqlodbc_sql, 1, &sql));
    assert_non_null(strstr(text_string(&sql),
                           "FROM (SELECT '0' AS c0, 'x' AS c1 UNION"));
    at = strstr(text_string(&sql), "VALUES ") + 7;
    for (int i = 1; i < 5000; i++) {
        char row[32];

        snprintf(row, sizeof row, "('%d', 'x')", i);
        assert_memory_equal(at, row, strlen(row));
        at += strlen(row) + 2;
    }
    command_answer_free(&answer);
    text_free(&sql);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_found),
        cmocka_unit_test(commands_to_come_and_malformed_ones_are_refused),
        cmocka_unit_test(only_what_there_is_is_named),
        cmocka_unit_test(other_texts_are_not_ours),
        cmocka_unit_test(most_texts_are_passed_over_at_once),
        cmocka_unit_test(no_semicolon_is_missed),
        cmocka_unit_test(wide_letters_are_not_taken_for_narrow_ones),
        cmocka_unit_test(wide_text_may_stand_at_an_odd_address),
        cmocka_unit_test(pairs_alone_are_no_word),
        cmocka_unit_test(bad_arguments_are_the_inner_drivers_to_refuse),
        cmocka_unit_test(every_command_has_its_form),
        cmocka_unit_test(rows_become_a_select),
        cmocka_unit_test(no_rows_become_a_select_of_none),
        cmocka_unit_test(odd_characters_are_put_together_by_the_server),
        cmocka_unit_test(a_row_can_be_said_in_a_record),
        cmocka_unit_test(many_rows_keep_their_order),
    };

    return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
