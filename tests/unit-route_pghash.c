/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_pghash: PostgreSQL 15's own answers, written down. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route_pghash.h"

#define SEED ROUTE_PGHASH_SEED

static void expect_hash(enum route_type type, const char *text, int64_t hash)
{
    struct route_typing typing = route_type_plain(type);
    unsigned char scratch[256];
    struct route_datum datum;

    if (route_type_parse(&typing, text, (uint32_t)strlen(text), scratch,
                         &datum) != ROUTE_PARSE_OK) {
        fail_msg("%s '%s' is not read", route_type_name(type), text);
    }
    int64_t got = (int64_t)route_pghash_datum(type, &datum, SEED);
    if (got != hash) {
        fail_msg("%s '%s': %lld, not %lld", route_type_name(type), text,
                 (long long)got, (long long)hash);
    }
}

static void integers(void **state)
{
    static const enum route_type widths[] = {ROUTE_TYPE_INT2, ROUTE_TYPE_INT4,
                                             ROUTE_TYPE_INT8};

    (void)state;
    for (int i = 0; i < 3; i++) {
        expect_hash(widths[i], "0", -4403592609991167795);
        expect_hash(widths[i], "1", 5968994663651403477);
        expect_hash(widths[i], "-1", -5017072347659237694);
        expect_hash(widths[i], "42", 7363975540656877951);
    }
    expect_hash(ROUTE_TYPE_INT4, "2147483647", -6050265599104649060);
    expect_hash(ROUTE_TYPE_INT4, "-2147483648", 4938542303000433043);
    expect_hash(ROUTE_TYPE_INT8, "9223372036854775807", 4938542303000433043);
    expect_hash(ROUTE_TYPE_INT8, "-9223372036854775808", -6050265599104649060);
    expect_hash(ROUTE_TYPE_INT8, "4294967296", 5968994663651403477);
    expect_hash(ROUTE_TYPE_INT8, "1099511627776", 5769331814454937003);
    expect_hash(ROUTE_TYPE_BOOL, "true", 5968994663651403477);
    expect_hash(ROUTE_TYPE_OID, "4294967295", -5017072347659237694);
}

static void characters(void **state)
{
    (void)state;
    expect_hash(ROUTE_TYPE_TEXT, "", -5700645584453517373);
    expect_hash(ROUTE_TYPE_TEXT, "a", -6705225459120232837);
    expect_hash(ROUTE_TYPE_TEXT, "abc", 3628778498291917250);
    expect_hash(ROUTE_TYPE_TEXT, "abcd", 4029384952263848046);
    expect_hash(ROUTE_TYPE_TEXT, "hello world", 7664296498819024037);
    expect_hash(ROUTE_TYPE_TEXT, "hello worl12", -1019677271730941001);
    expect_hash(ROUTE_TYPE_TEXT, "hello world 1", 5438851610188129649);
    expect_hash(ROUTE_TYPE_TEXT, "customer-000000000000000001",
                -1423081721552122957);
    expect_hash(ROUTE_TYPE_TEXT, "žluťoučký kůň", 2965092836234551690);
    expect_hash(ROUTE_TYPE_NAME, "abc", 3628778498291917250);
    expect_hash(ROUTE_TYPE_BPCHAR, "abc  ", 3628778498291917250);
    expect_hash(ROUTE_TYPE_UUID, "00000000-0000-0000-0000-000000000000",
                -5281082146396728638);
    expect_hash(ROUTE_TYPE_UUID, "123e4567-e89b-12d3-a456-426614174000",
                -1252132692482143582);
    expect_hash(ROUTE_TYPE_BYTEA, "\\x616263", 3628778498291917250);
}

static void times(void **state)
{
    (void)state;
    expect_hash(ROUTE_TYPE_TIMESTAMP, "2024-05-05 12:34:56.789012",
                202181050985197310);
    expect_hash(ROUTE_TYPE_TIMESTAMP, "1999-12-31 23:59:59",
                3831587772431092047);
    expect_hash(ROUTE_TYPE_TIMESTAMP, "infinity", 4938542303000433043);
    expect_hash(ROUTE_TYPE_DATE, "2024-05-05", 2549439872969197536);
    expect_hash(ROUTE_TYPE_DATE, "1999-12-31", -5017072347659237694);
}

static void floats(void **state)
{
    (void)state;
    expect_hash(ROUTE_TYPE_FLOAT8, "0", 8816678312871386365);
    expect_hash(ROUTE_TYPE_FLOAT8, "-0", 8816678312871386365);
    expect_hash(ROUTE_TYPE_FLOAT8, "1", 3988910132942752730);
    expect_hash(ROUTE_TYPE_FLOAT8, "-1.5", -6586303043542849247);
    expect_hash(ROUTE_TYPE_FLOAT8, "NaN", -6475869854796787835);
    expect_hash(ROUTE_TYPE_FLOAT8, "Infinity", -4970436883654098436);
    expect_hash(ROUTE_TYPE_FLOAT8, "0.1", 8245503238132018451);
    expect_hash(ROUTE_TYPE_FLOAT4, "0.1", -6747671251798447639);
    expect_hash(ROUTE_TYPE_FLOAT4, "NaN", -6475869854796787835);
}

static void numerics(void **state)
{
    (void)state;
    expect_hash(ROUTE_TYPE_NUMERIC, "0", 8816678312871386364);
    expect_hash(ROUTE_TYPE_NUMERIC, "NaN", 8816678312871386365);
    expect_hash(ROUTE_TYPE_NUMERIC, "1", -3231555093127941538);
    expect_hash(ROUTE_TYPE_NUMERIC, "1.0", -3231555093127941538);
    expect_hash(ROUTE_TYPE_NUMERIC, "1.50", 1234047083305210387);
    expect_hash(ROUTE_TYPE_NUMERIC, "-1.5", 1234047083305210387);
    expect_hash(ROUTE_TYPE_NUMERIC, "100", -3879215986038224534);
    expect_hash(ROUTE_TYPE_NUMERIC, "10000", -3231555093127941537);
    expect_hash(ROUTE_TYPE_NUMERIC, "12345678.9012", 3069374714796958041);
    expect_hash(ROUTE_TYPE_NUMERIC, "0.0001", 3231555093127941537);
    expect_hash(ROUTE_TYPE_NUMERIC, "1e20", -3231555093127941541);
}

static uint64_t row(enum route_type first, enum route_type second,
                    const char *text)
{
    struct route_typing typing[] = {route_type_plain(first),
                                    route_type_plain(second)};
    struct route_key *key;
    uint64_t hash = 0;
    uint32_t wrong;

    assert_int_equal(route_key_parse(text, strlen(text), &key, NULL),
                     ROUTE_KEY_OK);
    assert_int_equal(route_pghash_row(typing, key, &hash, &wrong),
                     ROUTE_PARSE_OK);
    route_key_free(key);
    return hash;
}

static void expect_row(enum route_type type, const char *text, uint64_t hash,
                       unsigned mod3, unsigned mod8, unsigned mod1024)
{
    uint64_t got = row(type, ROUTE_TYPE_TEXT, text);

    assert_true(got == hash);
    assert_int_equal(got % 3, mod3);
    assert_int_equal(got % 8, mod8);
    assert_int_equal(got % 1024, mod1024);
}

static void rows_of_integers(void **state)
{
    const enum route_type t = ROUTE_TYPE_INT8;

    (void)state;
    expect_row(t, "0", UINT64_C(901916981443598768), 2, 0, 432);
    expect_row(t, "1", UINT64_C(11274504255086170040), 2, 0, 952);
    expect_row(t, "2", UINT64_C(16968177202474426746), 0, 2, 378);
    expect_row(t, "42", UINT64_C(12669485132091644514), 0, 2, 610);
    expect_row(t, "-1", UINT64_C(288437243775528869), 2, 5, 933);
    expect_row(t, "1000", UINT64_C(9119549143080990164), 2, 4, 468);
    expect_row(t, "123456789", UINT64_C(4382587993306682317), 1, 5, 973);
}

static void rows_of_text(void **state)
{
    const enum route_type t = ROUTE_TYPE_TEXT;

    (void)state;
    expect_row(t, "\"\"", UINT64_C(18051608080690800806), 2, 6, 166);
    expect_row(t, "a", UINT64_C(17047028206024085342), 2, 6, 862);
    expect_row(t, "abc", UINT64_C(8934288089726683813), 1, 5, 677);
    expect_row(t, "hello world", UINT64_C(12969806090253790600), 1, 0, 392);
    expect_row(t, "customer-1", UINT64_C(13251310302489474586), 1, 2, 538);
}

static void rows_of_two(void **state)
{
    const enum route_type i = ROUTE_TYPE_INT8, t = ROUTE_TYPE_TEXT;

    (void)state;
    assert_true(row(i, t, "42,x") == UINT64_C(4659708685511176001));
    assert_true(row(i, t, "42,NULL") == UINT64_C(12669485132091644514));
    assert_true(row(i, t, "NULL,x") == UINT64_C(6168220285300744303));
    assert_true(row(i, t, "NULL,NULL") == 0);
}

static void row_names_what_is_wrong(void **state)
{
    struct route_typing typing[] = {route_type_plain(ROUTE_TYPE_INT8),
                                    route_type_plain(ROUTE_TYPE_DATE)};
    struct route_key *key;
    uint64_t hash;
    uint32_t wrong = 9;

    (void)state;
    assert_int_equal(route_key_parse("1,now", 5, &key, NULL), ROUTE_KEY_OK);
    assert_int_equal(route_pghash_row(typing, key, &hash, &wrong),
                     ROUTE_PARSE_UNSURE);
    assert_int_equal(wrong, 1);
    route_key_free(key);
    assert_int_equal(route_key_parse("one,now", 7, &key, NULL), ROUTE_KEY_OK);
    assert_int_equal(route_pghash_row(typing, key, &hash, &wrong),
                     ROUTE_PARSE_BAD);
    assert_int_equal(wrong, 0);
    route_key_free(key);
}

/* hash_numeric is fed without a buffer; it must be what a buffer gives. */
static void long_numerics(void **state)
{
    char text[200];

    (void)state;
    for (int digits = 1; digits < 120; digits++) {
        unsigned char bytes[80];
        size_t length = 0;
        for (int i = 0; i < digits; i++) {
            text[i] = (char)('1' + i % 9);
        }
        text[digits] = '\0';
        int first = (digits - 1) % 4 + 1;
        for (int at = 0; at < digits; first = 4) {
            unsigned value = 0;
            for (int i = 0; i < first; i++) {
                value = value * 10 + (unsigned)(text[at++] - '0');
            }
            bytes[length++] = (unsigned char)value;
            bytes[length++] = (unsigned char)(value >> 8);
        }
        uint64_t want = route_pghash_bytes(bytes, length, SEED) ^
                        (uint64_t)((digits - 1) / 4);
        expect_hash(ROUTE_TYPE_NUMERIC, text, (int64_t)want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(characters),
        cmocka_unit_test(times),
        cmocka_unit_test(floats),
        cmocka_unit_test(numerics),
        cmocka_unit_test(long_numerics),
        cmocka_unit_test(rows_of_integers),
        cmocka_unit_test(rows_of_text),
        cmocka_unit_test(rows_of_two),
        cmocka_unit_test(row_names_what_is_wrong),
    };

    return cmocka_run_group_tests_name("route_pghash", tests, NULL, NULL);
}
