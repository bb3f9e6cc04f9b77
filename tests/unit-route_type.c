/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_type: what the catalog's words make safe, and the order of values. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route_type.h"

static struct route_catalog catalog(uint32_t oid, char strategy,
                                    const char *family, const char *hash)
{
    return (struct route_catalog){.type_oid = oid,
                                  .type_mod = -1,
                                  .strategy = strategy,
                                  .opfamily = family,
                                  .hash_proc = hash,
                                  .deterministic = true,
                                  .database_collation = "en_US.UTF-8",
                                  .encoding = "UTF8"};
}

static void expect(const struct route_catalog *c, enum route_type type,
                   bool safe)
{
    struct route_typing typing = route_type_of(c);

    assert_int_equal(typing.type, type);
    assert_int_equal(typing.safe, safe);
}

static void plain_types(void **state)
{
    static const struct {
        uint32_t oid;
        enum route_type type;
        const char *btree, *hash, *proc;
    } rows[] = {
        {16, ROUTE_TYPE_BOOL, "bool_ops", "bool_ops", "hashcharextended"},
        {17, ROUTE_TYPE_BYTEA, "bytea_ops", "bytea_ops", "hashvarlenaextended"},
        {20, ROUTE_TYPE_INT8, "integer_ops", "integer_ops", "hashint8extended"},
        {21, ROUTE_TYPE_INT2, "integer_ops", "integer_ops", "hashint2extended"},
        {23, ROUTE_TYPE_INT4, "integer_ops", "integer_ops", "hashint4extended"},
        {26, ROUTE_TYPE_OID, "oid_ops", "oid_ops", "hashoidextended"},
        {700, ROUTE_TYPE_FLOAT4, "float_ops", "float_ops",
         "hashfloat4extended"},
        {701, ROUTE_TYPE_FLOAT8, "float_ops", "float_ops",
         "hashfloat8extended"},
        {1082, ROUTE_TYPE_DATE, "datetime_ops", "date_ops", "hashint4extended"},
        {1083, ROUTE_TYPE_TIME, "time_ops", "time_ops", "time_hash_extended"},
        {1114, ROUTE_TYPE_TIMESTAMP, "datetime_ops", "timestamp_ops",
         "timestamp_hash_extended"},
        {1184, ROUTE_TYPE_TIMESTAMPTZ, "datetime_ops", "timestamptz_ops",
         "timestamp_hash_extended"},
        {1186, ROUTE_TYPE_INTERVAL, "interval_ops", "interval_ops",
         "interval_hash_extended"},
        {1700, ROUTE_TYPE_NUMERIC, "numeric_ops", "numeric_ops",
         "hash_numeric_extended"},
        {2950, ROUTE_TYPE_UUID, "uuid_ops", "uuid_ops", "uuid_hash_extended"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct route_catalog c = catalog(rows[i].oid, 'r', rows[i].btree, NULL);
        expect(&c, rows[i].type, true);
        c.strategy = 'l';
        expect(&c, rows[i].type, true);
        c = catalog(rows[i].oid, 'h', rows[i].hash, rows[i].proc);
        expect(&c, rows[i].type, true);
        c.hash_proc = "my_hash";
        expect(&c, rows[i].type, false);
        c.hash_proc = NULL;
        expect(&c, rows[i].type, false);
        c = catalog(rows[i].oid, 'r', "my_ops", NULL);
        expect(&c, rows[i].type, false);
        c = catalog(rows[i].oid, 'x', rows[i].btree, NULL);
        expect(&c, rows[i].type, false);
    }
}

static void unknown_types(void **state)
{
    struct route_catalog c = catalog(0, 'r', "integer_ops", NULL);

    (void)state;
    expect(&c, ROUTE_TYPE_OTHER, false); /* an expression */
    c.type_oid = 869;                    /* inet */
    expect(&c, ROUTE_TYPE_OTHER, false);
    c.type_oid = 16400; /* a domain or an enum */
    expect(&c, ROUTE_TYPE_OTHER, false);
}

static void collations(void **state)
{
    static const uint32_t oids[] = {25, 1043, 19};
    struct route_catalog c;

    (void)state;
    for (int i = 0; i < 3; i++) {
        enum route_type type = i == 2 ? ROUTE_TYPE_NAME : ROUTE_TYPE_TEXT;
        c = catalog(oids[i], 'r', "text_ops", NULL);
        c.collation = "C";
        expect(&c, type, true);
        c.collation = "POSIX";
        expect(&c, type, true);
        c.collation = "en_US";
        expect(&c, type, false);
        c.collation = "default";
        expect(&c, type, false);
        c.database_collation = "C";
        expect(&c, type, true);
        c.database_collation = NULL;
        expect(&c, type, false);
        c.strategy = 'l';
        expect(&c, type, true);
        c.deterministic = false;
        expect(&c, type, false);
        c.strategy = 'h';
        c.hash_proc = i == 2 ? "hashnameextended" : "hashtextextended";
        expect(&c, type, false);
        c.deterministic = true;
        expect(&c, type, true);
    }
    c = catalog(25, 'r', "text_pattern_ops", NULL);
    c.collation = "en_US";
    expect(&c, ROUTE_TYPE_TEXT, true);
    c = catalog(1042, 'r', "bpchar_pattern_ops", NULL);
    c.collation = "en_US";
    expect(&c, ROUTE_TYPE_BPCHAR, true);
    c.opfamily = "text_pattern_ops";
    expect(&c, ROUTE_TYPE_BPCHAR, false);
    c = catalog(1042, 'h', "bpchar_ops", "hashbpcharextended");
    c.collation = "default";
    expect(&c, ROUTE_TYPE_BPCHAR, true);
}

static void modifiers(void **state)
{
    struct route_catalog c = catalog(1700, 'r', "numeric_ops", NULL);

    (void)state;
    c.type_mod = (10 << 16 | 2) + 4; /* numeric(10,2) */
    assert_int_equal(route_type_of(&c).limit, 2);
    assert_true(route_type_of(&c).safe);
    c.type_mod = (10 << 16 | (-2 & 0x7ff)) + 4; /* numeric(10,-2) */
    assert_false(route_type_of(&c).safe);
    c = catalog(1043, 'l', "text_ops", NULL);
    c.type_mod = 14; /* varchar(10) */
    assert_int_equal(route_type_of(&c).limit, 10);
    c = catalog(1114, 'r', "datetime_ops", NULL);
    c.type_mod = 3;
    assert_int_equal(route_type_of(&c).limit, 3);
    c = catalog(1186, 'r', "interval_ops", NULL);
    c.type_mod = 0x7fff0003;
    assert_false(route_type_of(&c).safe);
    c = catalog(20, 'r', "integer_ops", NULL);
    assert_int_equal(route_type_of(&c).limit, -1);
    assert_false(route_type_of(&c).ascii_only);
    c.encoding = "LATIN1";
    assert_true(route_type_of(&c).ascii_only);
}

/* Texts in ascending order, "=" before one that equals the one before. */
static void expect_order(enum route_type type, const char *const *texts)
{
    struct route_typing typing = route_type_plain(type);
    struct route_datum datum[40];
    unsigned char scratch[40][128];
    int rank[40], count = 0;

    for (; texts[count]; count++) {
        bool equal = texts[count][0] == '=';
        const char *text = texts[count] + equal;
        rank[count] = count == 0 ? 0 : rank[count - 1] + !equal;
        if (route_type_parse(&typing, text, (uint32_t)strlen(text),
                             scratch[count], &datum[count]) != ROUTE_PARSE_OK) {
            fail_msg("%s '%s' is not read", route_type_name(type), text);
        }
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            int got = route_type_compare(type, &datum[i], &datum[j]);
            if ((got > 0) - (got < 0) !=
                (rank[i] > rank[j]) - (rank[i] < rank[j])) {
                fail_msg("%s: '%s' against '%s'", route_type_name(type),
                         texts[i], texts[j]);
            }
        }
    }
}

static void orders(void **state)
{
    static const char *const int8s[] = {
        "-9223372036854775808", "-1", "0", "=-0", "7", "=+07", "10",
        "9223372036854775807",  NULL};
    static const char *const numerics[] = {"-Infinity",
                                           "-1e30",
                                           "-10001",
                                           "-10000.5",
                                           "-10000",
                                           "=-1e4",
                                           "-9999.99990001",
                                           "-9999.9999",
                                           "-9999",
                                           "-1.5",
                                           "=-1.50",
                                           "-1.00001",
                                           "-1",
                                           "-0.5",
                                           "-0.0001",
                                           "-0.00001",
                                           "0",
                                           "=-0",
                                           "=0.000",
                                           "0.00001",
                                           "0.0001",
                                           "0.5",
                                           "1",
                                           "=1.0",
                                           "1.00001",
                                           "1.5",
                                           "9999",
                                           "10000",
                                           "=1e4",
                                           "10000.5",
                                           "10001",
                                           "1e30",
                                           "Infinity",
                                           "NaN",
                                           "=nan",
                                           NULL};
    static const char *const floats[] = {
        "-Infinity", "-1e300", "-1.5", "-1e-300", "0",   "=-0", "1e-300",
        "0.1",       "=0.10",  "1.5",  "1e300",   "inf", "NaN", NULL};
    static const char *const dates[] = {
        "-infinity",  "0044-03-15 BC", "0001-12-31 BC", "0001-01-01",
        "1999-12-31", "2000-01-01",    "2000-02-29",    "2000-03-01",
        "9999-12-31", "10000-01-01",   "infinity",      NULL};
    static const char *const texts[] = {"",   "A", "B", "a", "a ",
                                        "ab", "b", "ž", NULL};
    static const char *const chars[] = {"",     "=  ", "A", "a",
                                        "=a  ", "ab",  NULL};
    static const char *const byteas[] = {
        "\\x", "\\x00", "\\x0001", "\\x01",       "\\x61",
        "=a",  "\\x80", "\\x80ff", "=\\200\\377", NULL};
    static const char *const uuids[] = {"00000000-0000-0000-0000-000000000000",
                                        "123e4567-e89b-12d3-a456-426614174000",
                                        "={123E4567e89b12d3a456426614174000}",
                                        "ffffffff-ffff-ffff-ffff-ffffffffffff",
                                        NULL};

    (void)state;
    expect_order(ROUTE_TYPE_INT8, int8s);
    expect_order(ROUTE_TYPE_NUMERIC, numerics);
    expect_order(ROUTE_TYPE_FLOAT8, floats);
    expect_order(ROUTE_TYPE_DATE, dates);
    expect_order(ROUTE_TYPE_TEXT, texts);
    expect_order(ROUTE_TYPE_BPCHAR, chars);
    expect_order(ROUTE_TYPE_BYTEA, byteas);
    expect_order(ROUTE_TYPE_UUID, uuids);
}

static void floats_keep_their_order(void **state)
{
    (void)state;
    srand(3);
    for (int i = 0; i < 100000; i++) {
        double value[2];
        for (int j = 0; j < 2; j++) {
            uint64_t bits = 0;
            for (int k = 0; k < 8; k++) {
                bits = bits << 8 | (uint64_t)(rand() & 255);
            }
            memcpy(&value[j], &bits, sizeof(bits));
        }
        if (value[0] != value[0] || value[1] != value[1]) {
            continue;
        }
        int64_t a = route_type_from_double(value[0]);
        int64_t b = route_type_from_double(value[1]);
        assert_int_equal(a < b, value[0] < value[1]);
        assert_int_equal(a > b, value[0] > value[1]);
        assert_true(route_type_to_double(a) == value[0]);
    }
}

/* Words and pieces of values, the bytes between them anything at all. */
static size_t write_mess(char *text, size_t room)
{
    static const char *const pieces[] = {
        "true",  "off",        "NaN",   "-Infinity", "e308", "\\x",  "0x",
        "12345", "2024-05-05", "24:00", "+14:30",    " BC",  "year",
        "123e4567-e89b-12d3-a456-426614174000"};
    size_t length = 0;

    for (int i = rand() % 4; i >= 0; i--) {
        const char *piece =
            pieces[(size_t)rand() % (sizeof(pieces) / sizeof(*pieces))];
        size_t count = (size_t)rand() % (strlen(piece) + 1);
        memcpy(text + length, piece, count);
        length += count;
        if (rand() % 2 && length < room) {
            text[length++] = (char)(rand() % 3 ? rand() % 64 : rand() % 256);
        }
    }
    return length;
}

/* Each text is a block of its own, as is the scratch, so that what is read or
   written beyond them is seen. */
static void any_bytes(void **state)
{
    (void)state;
    srand(5);
    for (int i = 0; i < 200000; i++) {
        struct route_typing typing =
            route_type_plain((enum route_type)(rand() % ROUTE_TYPES));
        char mess[200];
        size_t length = write_mess(mess, sizeof(mess));
        char *text = malloc(length + (length == 0));
        unsigned char *scratch = malloc(ROUTE_TYPE_SCRATCH(length));
        struct route_datum datum;

        typing.limit = rand() % 2 ? -1 : rand() % 8;
        memcpy(text, mess, length);
        if (route_type_parse(&typing, text, (uint32_t)length, scratch,
                             &datum) == ROUTE_PARSE_OK) {
            assert_int_equal(
                route_type_compare((enum route_type)typing.type, &datum,
                                   &datum), 0);
        }
        free(text);
        free(scratch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_types),
        cmocka_unit_test(unknown_types),
        cmocka_unit_test(collations),
        cmocka_unit_test(modifiers),
        cmocka_unit_test(orders),
        cmocka_unit_test(floats_keep_their_order),
        cmocka_unit_test(any_bytes),
    };

    return cmocka_run_group_tests_name("route_type", tests, NULL, NULL);
}
