/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Buffers, UTF-16, ODBC's string arguments, words, secrets and reasons. */
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

#include "secret.h"
#include "text.h"
#include "why.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

static void buffer_grows_and_stays_terminated(void **state)
{
    struct text text;

    (void)state;
    text_init(&text);
    assert_string_equal(text_string(&text), "");
    for (int i = 0; i < 1000; i++) {
        text_append_char(&text, (char)('a' + i % 26));
        assert_int_equal(text.data[text.length], 0);
    }
    assert_int_equal(text.length, 1000);
    text_appendf(&text, "<%d%s>", 42, "x");
    assert_string_equal(text.data + 1000, "<42x>");
    text_append(&text, NULL);
    assert_int_equal(text.length, 1005);
    text_clear(&text);
    assert_string_equal(text_string(&text), "");
    text_free(&text);
}

static void numbers_are_decimal(void **state)
{
    struct text text;

    (void)state;
    text_init(&text);
    text_append_number(&text, 0);
    text_append_char(&text, ' ');
    text_append_number(&text, 10);
    text_append_char(&text, ' ');
    text_append_number(&text, UINT64_MAX);
    assert_string_equal(text_string(&text), "0 10 18446744073709551615");
    text_free(&text);
}

static void buffer_without_memory_fails_for_good(void **state)
{
    struct text text;

    (void)state;
    text_init(&text);
    text_append(&text, "abc");
    text_append_bytes(&text, "", SIZE_MAX / 2);
    assert_true(text.failed);
    text_append(&text, "d");
    assert_string_equal(text_string(&text), "abc");
    assert_null(text_take(&text));
    text_append(&text, "again");
    assert_string_equal(text_string(&text), "again");
    text_free(&text);
}

static void take_gives_an_empty_string_too(void **state)
{
    struct text text;
    char *taken;

    (void)state;
    text_init(&text);
    taken = text_take(&text);
    assert_string_equal(taken, "");
    free(taken);
    text_append(&text, "value");
    taken = text_take(&text);
    assert_string_equal(taken, "value");
    assert_string_equal(text_string(&text), "");
    free(taken);
}

static void wiped_buffer_clears_what_it_held(void **state)
{
    struct text text;

    (void)state;
    text_init_wiped(&text);
    text_append(&text, "geheim");
    text_clear(&text);
    for (size_t i = 0; i < text.room; i++) {
        assert_int_equal(text.data[i], 0);
    }
    for (int i = 0; i < 500; i++) {
        text_append(&text, "geheim");
    }
    assert_int_equal(text.length, 3000);
    assert_memory_equal(text.data + 2994, "geheim", 7);
    text_free(&text);
    assert_true(text.wipe);
}

/* ---- UTF-8 and UTF-16 */

static void decode_takes_what_is_utf8_and_nothing_else(void **state)
{
    static const struct {
        const char *bytes;
        uint32_t point;
        size_t length;
    } rows[] = {
        { "A", 'A', 1 },
        { "\xC3\xA9", 0xE9, 2 },
        { "\xE2\x82\xAC", 0x20AC, 3 },
        { "\xF0\x9F\x98\x80", 0x1F600, 4 },
        { "\xF4\x8F\xBF\xBF", 0x10FFFF, 4 },
        { "\x80", 0xFFFD, 1 },             /* a tail alone */
        { "\xC0\x80", 0xFFFD, 1 },         /* overlong NUL */
        { "\xC1\xBF", 0xFFFD, 1 },
        { "\xE0\x80\xAF", 0xFFFD, 1 },     /* overlong / */
        { "\xED\xA0\x80", 0xFFFD, 1 },     /* surrogate */
        { "\xF0\x80\x80\x80", 0xFFFD, 1 },
        { "\xF4\x90\x80\x80", 0xFFFD, 1 }, /* beyond the last point */
        { "\xF8\x88\x80\x80", 0xFFFD, 1 },
        { "\xE2\x82", 0xFFFD, 1 },         /* cut off */
        { "\xE2\x28\xA1", 0xFFFD, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t point = 0;

        assert_int_equal(text_decode(rows[i].bytes, strlen(rows[i].bytes),
                                     &point), rows[i].length);
        assert_int_equal(point, rows[i].point);
    }
}

static void every_point_survives_the_way_there_and_back(void **state)
{
    (void)state;
    for (uint32_t point = 1; point <= 0x10FFFF; point++) {
        struct text text;
        SQLWCHAR units[3];
        uint32_t back;

        if (point >= 0xD800 && point <= 0xDFFF) {
            continue;
        }
        text_init(&text);
        text_append_point(&text, point);
        assert_int_equal(text_decode(text.data, text.length, &back),
                         text.length);
        assert_int_equal(back, point);
        text_write(text.data, text.length, units, 3, TEXT_WIDE,
                   TEXT_CHARACTERS);
        text_clear(&text);
        text_append_utf16(&text, units, point >= 0x10000 ? 2 : 1);
        text_decode(text.data, text.length, &back);
        assert_int_equal(back, point);
        text_free(&text);
    }
}

static void unpaired_surrogates_become_the_replacement(void **state)
{
    static const SQLWCHAR units[] = { 'a', 0xD83D, 'b', 0xDE00, 0xD83D };
    struct text text;

    (void)state;
    text_init(&text);
    text_append_utf16(&text, units, COUNT(units));
    assert_string_equal(text_string(&text),
                        "a\xEF\xBF\xBD" "b\xEF\xBF\xBD\xEF\xBF\xBD");
    text_free(&text);
}

/* ---- arguments in */

static void arguments_are_read_by_their_length(void **state)
{
    static const SQLWCHAR wide[] = { 'n', 0xE9, '1', 0 };
    char odd[sizeof wide + 1];
    struct text text;

    (void)state;
    text_init(&text);
#define READ(argument, length, width, unit, expected) \
    do { \
        text_clear(&text); \
        assert_true(text_append_argument(&text, argument, length, width, \
                                         unit)); \
        assert_string_equal(text_string(&text), expected); \
    } while (0)
    READ("n1;rest", 2, TEXT_NARROW, TEXT_CHARACTERS, "n1");
    READ("n1", SQL_NTS, TEXT_NARROW, TEXT_BYTES, "n1");
    READ("n1", 0, TEXT_NARROW, TEXT_BYTES, "");
    READ(NULL, SQL_NTS, TEXT_NARROW, TEXT_BYTES, "");
    READ(NULL, 7, TEXT_WIDE, TEXT_BYTES, "");
    READ(wide, SQL_NTS, TEXT_WIDE, TEXT_CHARACTERS, "n\xC3\xA9" "1");
    READ(wide, 2, TEXT_WIDE, TEXT_CHARACTERS, "n\xC3\xA9");
    READ(wide, 4, TEXT_WIDE, TEXT_BYTES, "n\xC3\xA9");
    READ(wide, 5, TEXT_WIDE, TEXT_BYTES, "n\xC3\xA9");
    READ("\xE9t\xE9", SQL_NTS, TEXT_NARROW, TEXT_BYTES, "\xE9t\xE9");
    memcpy(odd + 1, wide, sizeof wide);
    READ(odd + 1, SQL_NTS, TEXT_WIDE, TEXT_CHARACTERS, "n\xC3\xA9" "1");
#undef READ
    text_clear(&text);
    assert_false(text_append_argument(&text, "x", -1, TEXT_NARROW,
                                      TEXT_BYTES));
    assert_false(text_append_argument(&text, wide, -4, TEXT_WIDE,
                                      TEXT_CHARACTERS));
    assert_int_equal(text.length, 0);
    text_free(&text);
}

/* ---- values out */

/* Writes value into a buffer whose rest must stay as it is. */
static struct text_written put(const char *value, char *buffer, SQLLEN room,
                               enum text_width width, enum text_unit unit)
{
    size_t size = width == TEXT_WIDE && unit == TEXT_CHARACTERS ? 2 : 1;
    struct text_written written;

    memset(buffer, '#', 64);
    written = text_write(value, strlen(value), buffer, room, width, unit);
    for (size_t i = (size_t)room * size; i < 64; i++) {
        assert_int_equal(buffer[i], '#');
    }
    return written;
}

static void narrow_values_are_cut_between_characters(void **state)
{
    static const struct {
        SQLLEN room;
        bool truncated;
        const char *content;
    } rows[] = {
        { 9, false, "a\xC3\xA9\xE2\x82\xAC" "z" },
        { 8, false, "a\xC3\xA9\xE2\x82\xAC" "z" },
        { 7, true, "a\xC3\xA9\xE2\x82\xAC" },
        { 6, true, "a\xC3\xA9" },
        { 5, true, "a\xC3\xA9" },
        { 4, true, "a\xC3\xA9" },
        { 3, true, "a" },
        { 2, true, "a" },
        { 1, true, "" },
    };
    char buffer[64];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text_written written = put("a\xC3\xA9\xE2\x82\xAC" "z", buffer,
                                          rows[i].room, TEXT_NARROW,
                                          TEXT_BYTES);

        assert_int_equal(written.needed, 7);
        assert_int_equal(written.truncated, rows[i].truncated);
        assert_string_equal(buffer, rows[i].content);
    }
    assert_true(put("x", buffer, 0, TEXT_NARROW, TEXT_BYTES).truncated);
    assert_int_equal(buffer[0], '#');
}

static void wide_values_count_what_odbc_counts(void **state)
{
    static const char value[] = "a\xF0\x9F\x98\x80" "z"; /* a, pair, z */
    static const struct {
        SQLLEN room; /* characters */
        bool truncated;
        size_t units;
    } rows[] = {
        { 6, false, 4 }, { 5, false, 4 }, { 4, true, 3 },
        { 3, true, 1 },  { 2, true, 1 },  { 1, true, 0 },
    };
    _Alignas(SQLWCHAR) char buffer[64];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text_written written = put(value, buffer, rows[i].room,
                                          TEXT_WIDE, TEXT_CHARACTERS);
        SQLWCHAR *units = (SQLWCHAR *)(void *)buffer;

        assert_int_equal(written.needed, 4);
        assert_int_equal(written.truncated, rows[i].truncated);
        assert_int_equal(units[rows[i].units], 0);
        written = put(value, buffer, rows[i].room * 2, TEXT_WIDE, TEXT_BYTES);
        assert_int_equal(written.needed, 8);
        assert_int_equal(written.truncated, rows[i].truncated);
        assert_int_equal(units[rows[i].units], 0);
    }
    assert_true(put("x", buffer, 1, TEXT_WIDE, TEXT_BYTES).truncated);
    assert_int_equal(buffer[0], '#');
}

static void a_length_can_be_asked_without_a_buffer(void **state)
{
    struct text_written written;

    (void)state;
    written = text_write("a\xC3\xA9", 3, NULL, 0, TEXT_WIDE, TEXT_BYTES);
    assert_int_equal(written.needed, 4);
    assert_false(written.truncated);
}

/* ---- words */

static void words_compare_without_case_or_locale(void **state)
{
    const char *word = "  a b \t";

    (void)state;
    assert_true(text_same("PoolMax", "POOLMAX"));
    assert_false(text_same("PoolMax", "PoolMa"));
    assert_false(text_same("\xC4", "\xE4"));
    assert_true(text_same("", ""));
    assert_true(text_same("z", "Z"));
    assert_false(text_same("@", "`")); /* one bit apart, but no letters */
    assert_false(text_same("", " "));
    assert_false(text_same("a", ""));
    assert_true(text_same_bytes("DSN=x", 3, "dsn"));
    assert_false(text_same_bytes("DSN=x", 3, "dsnx"));
    assert_false(text_same_bytes("DSN=x", 3, "ds"));
    assert_true(text_starts("AffinityKey", "affinity"));
    assert_false(text_starts("Aff", "affinity"));
    assert_true(text_contains("options='x' PASSWORD=y", "password"));
    assert_false(text_contains("pass", "password"));
    assert_true(text_contains("", ""));
    assert_true(text_compare("a", "B") < 0 && text_compare("b", "A") > 0);
    assert_int_equal(text_trim(&word, 7), 3);
    assert_memory_equal(word, "a b", 3);
}

static void distance_counts_edits(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned edits;
    } rows[] = {
        { "", "", 0 },
        { "PoolMax", "poolmax", 0 },
        { "PoolMx", "PoolMax", 1 },
        { "PoolMaxx", "PoolMax", 1 },
        { "PoolMxa", "PoolMax", 1 },
        { "AffinityKye", "AffinityKey", 1 },
        { "AffinityMod", "AffinityMode", 1 },
        { "abc", "", 3 },
        { "", "abc", 3 },
        { "kitten", "sitting", 3 },
    };
    char longer[100];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(text_distance(rows[i].a, rows[i].b), rows[i].edits);
        assert_int_equal(text_distance(rows[i].b, rows[i].a), rows[i].edits);
    }
    memset(longer, 'x', sizeof longer);
    longer[99] = '\0';
    assert_int_equal(text_distance(longer, "x"), 99);
    longer[63] = '\0';
    assert_int_equal(text_distance(longer, longer), 0);
}

/* ---- secrets and reasons */

static void secrets_keep_any_bytes(void **state)
{
    char big[10000];
    const char *secret;

    (void)state;
    memset(big, 's', sizeof big);
    secret = secret_dup(big, sizeof big);
    assert_non_null(secret);
    assert_int_equal(secret_length(secret), sizeof big);
    assert_memory_equal(secret, big, sizeof big);
    assert_int_equal(secret[sizeof big], 0);
    secret_free(secret);
    secret = secret_dup("a\0b", 3);
    assert_memory_equal(secret, "a\0b", 4);
    secret_free(secret);
    secret = secret_dup(NULL, 0);
    assert_string_equal(secret, "");
    secret_free(secret);
    secret_free(NULL);
    secret_free_string(NULL);
}

/* The flags that the kernel shows for the page of an address; "" if none. */
static void page_flags(const void *address, char flags[256])
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    bool here = false;

    flags[0] = '\0';
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;

        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            here = (uintptr_t)address >= from && (uintptr_t)address < to;
        } else if (here && strncmp(line, "VmFlags:", 8) == 0) {
            snprintf(flags, 256, "%.200s", line);
        }
    }
    fclose(maps);
}

static void secrets_stay_out_of_core_dumps(void **state)
{
    const char *secret = secret_dup("pw", 2);
    char flags[256];

    (void)state;
    page_flags(secret, flags);
    if (!*flags) {
        secret_free(secret);
        print_message("# /proc/self/smaps tells no flags here\n");
        skip();
    }
    assert_non_null(strstr(flags, " dd"));  /* do not dump */
    assert_null(strstr(flags, " wr"));      /* read-only once filled */
    secret_free(secret);
    page_flags(secret, flags);
    assert_string_equal(flags, "");
}

static void reasons_are_cut_between_characters(void **state)
{
    struct why why;
    char big[2 * WHY_TEXT];

    (void)state;
    why_set(&why, WHY_VALUE, "%s=%d", "PoolMax", 0);
    assert_int_equal(why.code, WHY_VALUE);
    assert_string_equal(why.text, "PoolMax=0");
    for (size_t lead = 0; lead < 3; lead++) {
        uint32_t point;

        memset(big, 'x', lead);
        for (size_t i = lead; i + 3 < sizeof big; i += 3) {
            memcpy(big + i, "\xE2\x82\xAC", 4);
        }
        why_set(&why, WHY_GENERAL, "%s", big);
        assert_true(strlen(why.text) < WHY_TEXT);
        assert_true(strlen(why.text) >= WHY_TEXT - 4);
        assert_string_equal(why.text + strlen(why.text) - 3, "...");
        for (size_t i = 0; why.text[i];) {
            i += text_decode(why.text + i, strlen(why.text + i), &point);
            assert_int_not_equal(point, 0xFFFD);
        }
    }
    why_memory(&why);
    assert_int_equal(why.code, WHY_MEMORY);
    why_set(NULL, WHY_VALUE, "nobody asks");
}

static void a_number_is_digits_alone(void **state)
{
    static const struct {
        const char *digits;
        size_t length;
        uint32_t most, number;
        bool ok;
    } rows[] = {
        { "0", 1, UINT32_MAX, 0, true },
        { "007", 3, 7, 7, true },
        { "65535", 5, 65535, 65535, true },
        { "65536", 5, 65535, 0, false },
        { "4294967295", 10, UINT32_MAX, UINT32_MAX, true },
        { "4294967296", 10, UINT32_MAX, 0, false },
        { "18446744073709551617", 20, UINT32_MAX, 0, false }, /* 2^64 + 1 */
        { "12/34", 2, 100, 12, true },
        { "12/34", 5, 100, 0, false },
        { "", 0, 100, 0, false },
        { "5", 0, 100, 0, false },
        { " 5", 2, 100, 0, false },
        { "5 ", 2, 100, 0, false },
        { "+5", 2, 100, 0, false },
        { "-5", 2, 100, 0, false },
        { "0x5", 3, 100, 0, false },
        { "5\0", 2, 100, 0, false },
        { ":", 1, 100, 0, false }, /* the characters beside the digits */
        { "/", 1, 100, 0, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t number = 4711;
        bool ok = text_number(rows[i].digits, rows[i].length, rows[i].most,
                              &number);

        if (ok != rows[i].ok || number != (ok ? rows[i].number : 4711)) {
            fail_msg("\"%s\": %d, %u", rows[i].digits, (int)ok,
                     (unsigned)number);
        }
    }
}

static void a_cut_splits_no_character(void **state)
{
    static const struct {
        const char *text;
        size_t most, cut;
    } rows[] = {
        { "abcd", 3, 3 },
        { "ab\xc3\xa4", 3, 2 },
        { "a\xf0\x9f\x98\x80", 4, 1 },
        { "a\xf0\x9f\x98\x80" "b", 5, 5 },
        { "\xc3\xa4", 1, 0 },
        { "\xa4\xa4\xa4\xa4\xa4\xa4\xa4\xa4", 6, 6 }, /* no UTF-8 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(text_cut(rows[i].text, rows[i].most), rows[i].cut);
    }
}

/* Published values of FNV-1a. */
static void bytes_are_hashed(void **state)
{
    (void)state;
    assert_true(text_hash(TEXT_HASH, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(text_hash(TEXT_HASH, "foobar", 6) ==
                UINT64_C(0x85944171f73967e8));
    assert_true(text_hash(text_hash(TEXT_HASH, "foo", 3), "bar", 3) ==
                UINT64_C(0x85944171f73967e8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_grows_and_stays_terminated),
        cmocka_unit_test(numbers_are_decimal),
        cmocka_unit_test(buffer_without_memory_fails_for_good),
        cmocka_unit_test(take_gives_an_empty_string_too),
        cmocka_unit_test(wiped_buffer_clears_what_it_held),
        cmocka_unit_test(decode_takes_what_is_utf8_and_nothing_else),
        cmocka_unit_test(every_point_survives_the_way_there_and_back),
        cmocka_unit_test(unpaired_surrogates_become_the_replacement),
        cmocka_unit_test(arguments_are_read_by_their_length),
        cmocka_unit_test(narrow_values_are_cut_between_characters),
        cmocka_unit_test(wide_values_count_what_odbc_counts),
        cmocka_unit_test(a_length_can_be_asked_without_a_buffer),
        cmocka_unit_test(words_compare_without_case_or_locale),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(a_number_is_digits_alone),
        cmocka_unit_test(secrets_keep_any_bytes),
        cmocka_unit_test(secrets_stay_out_of_core_dumps),
        cmocka_unit_test(reasons_are_cut_between_characters),
        cmocka_unit_test(a_cut_splits_no_character),
        cmocka_unit_test(bytes_are_hashed),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
