/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * From the catalog to a type, and the table of what each type is.  Reading
 * texts is in route_literal.c, route_numeric.c and route_datetime.c.
 */
#include "autoconf.h"

#include "route_type.h"

#include <string.h>

#include "route_datetime.h"
#include "route_literal.h"
#include "route_numeric.h"

/* How an operator family or collation decides what the client may judge. */
enum order {
    ORDER_PLAIN,  /* no collation in it */
    ORDER_COLLATE /* RANGE needs byte order; LIST and HASH a deterministic
                     collation, under which equal means equal bytes */
};

/* What the type modifier means for route_typing.limit. */
enum modifier { MOD_NONE, MOD_DIGITS, MOD_SCALE, MOD_LENGTH, MOD_REFUSE };

typedef enum route_parse parse_function(const struct route_typing *,
                                        const char *, uint32_t,
                                        unsigned char *,
                                        struct route_datum *);

struct row {
    const char *name;
    parse_function *parse;
    bool fixed;
    enum order order;
    enum modifier modifier;
    const char *btree, *hash; /* operator families */
    const char *hash_proc;
};

static const struct row rows[ROUTE_TYPES] = {
    [ROUTE_TYPE_OTHER] = {.name = "a type that only the server can judge"},
    [ROUTE_TYPE_BOOL] = {"boolean", route_literal_bool, true, ORDER_PLAIN,
                         MOD_NONE, "bool_ops", "bool_ops",
                         "hashcharextended"},
    [ROUTE_TYPE_INT2] = {"smallint", route_literal_integer, true, ORDER_PLAIN,
                         MOD_NONE, "integer_ops", "integer_ops",
                         "hashint2extended"},
    [ROUTE_TYPE_INT4] = {"integer", route_literal_integer, true, ORDER_PLAIN,
                         MOD_NONE, "integer_ops", "integer_ops",
                         "hashint4extended"},
    [ROUTE_TYPE_INT8] = {"bigint", route_literal_integer, true, ORDER_PLAIN,
                         MOD_NONE, "integer_ops", "integer_ops",
                         "hashint8extended"},
    [ROUTE_TYPE_OID] = {"oid", route_literal_integer, true, ORDER_PLAIN,
                        MOD_NONE, "oid_ops", "oid_ops", "hashoidextended"},
    [ROUTE_TYPE_FLOAT4] = {"real", route_literal_float, true, ORDER_PLAIN,
                           MOD_NONE, "float_ops", "float_ops",
                           "hashfloat4extended"},
    [ROUTE_TYPE_FLOAT8] = {"double precision", route_literal_float, true,
                           ORDER_PLAIN, MOD_NONE, "float_ops", "float_ops",
                           "hashfloat8extended"},
    [ROUTE_TYPE_DATE] = {"date", route_datetime_date, true, ORDER_PLAIN,
                         MOD_NONE, "datetime_ops", "date_ops",
                         "hashint4extended"},
    [ROUTE_TYPE_TIME] = {"time", route_datetime_time, true, ORDER_PLAIN,
                         MOD_DIGITS, "time_ops", "time_ops",
                         "time_hash_extended"},
    [ROUTE_TYPE_TIMESTAMP] = {"timestamp", route_datetime_stamp, true,
                              ORDER_PLAIN, MOD_DIGITS, "datetime_ops",
                              "timestamp_ops", "timestamp_hash_extended"},
    [ROUTE_TYPE_TIMESTAMPTZ] = {"timestamp with time zone",
                                route_datetime_stamp, true, ORDER_PLAIN,
                                MOD_DIGITS, "datetime_ops", "timestamptz_ops",
                                "timestamp_hash_extended"},
    [ROUTE_TYPE_INTERVAL] = {"interval", route_datetime_interval, true,
                             ORDER_PLAIN, MOD_REFUSE, "interval_ops",
                             "interval_ops", "interval_hash_extended"},
    [ROUTE_TYPE_NUMERIC] = {"numeric", route_numeric_parse, false,
                            ORDER_PLAIN, MOD_SCALE, "numeric_ops",
                            "numeric_ops", "hash_numeric_extended"},
    [ROUTE_TYPE_UUID] = {"uuid", route_literal_uuid, false, ORDER_PLAIN,
                         MOD_NONE, "uuid_ops", "uuid_ops",
                         "uuid_hash_extended"},
    [ROUTE_TYPE_BYTEA] = {"bytea", route_literal_bytea, false, ORDER_PLAIN,
                          MOD_NONE, "bytea_ops", "bytea_ops",
                          "hashvarlenaextended"},
    [ROUTE_TYPE_TEXT] = {"text", route_literal_text, false, ORDER_COLLATE,
                         MOD_LENGTH, "text_ops", "text_ops",
                         "hashtextextended"},
    [ROUTE_TYPE_NAME] = {"name", route_literal_text, false, ORDER_COLLATE,
                         MOD_NONE, "text_ops", "text_ops",
                         "hashnameextended"},
    [ROUTE_TYPE_BPCHAR] = {"character", route_literal_text, false,
                           ORDER_COLLATE, MOD_LENGTH, "bpchar_ops",
                           "bpchar_ops", "hashbpcharextended"},
};

/* The OIDs of built-in types are part of PostgreSQL's protocol.  A domain has
   an OID of its own and stays OTHER. */
static enum route_type type_from_oid(uint32_t oid)
{
    static const struct {
        uint32_t oid;
        enum route_type type;
    } known[] = {
        {16, ROUTE_TYPE_BOOL},       {17, ROUTE_TYPE_BYTEA},
        {19, ROUTE_TYPE_NAME},       {20, ROUTE_TYPE_INT8},
        {21, ROUTE_TYPE_INT2},       {23, ROUTE_TYPE_INT4},
        {25, ROUTE_TYPE_TEXT},       {26, ROUTE_TYPE_OID},
        {700, ROUTE_TYPE_FLOAT4},    {701, ROUTE_TYPE_FLOAT8},
        {1042, ROUTE_TYPE_BPCHAR},   {1043, ROUTE_TYPE_TEXT},
        {1082, ROUTE_TYPE_DATE},     {1083, ROUTE_TYPE_TIME},
        {1114, ROUTE_TYPE_TIMESTAMP}, {1184, ROUTE_TYPE_TIMESTAMPTZ},
        {1186, ROUTE_TYPE_INTERVAL}, {1700, ROUTE_TYPE_NUMERIC},
        {2950, ROUTE_TYPE_UUID},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].oid == oid) {
            return known[i].type;
        }
    }
    return ROUTE_TYPE_OTHER;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* In a family *_pattern_ops the order is that of bytes under any collation. */
static bool is_pattern(const struct route_catalog *c, enum route_type type)
{
    return (type == ROUTE_TYPE_TEXT && same(c->opfamily, "text_pattern_ops")) ||
           (type == ROUTE_TYPE_BPCHAR &&
            same(c->opfamily, "bpchar_pattern_ops"));
}

static bool is_byte_order(const struct route_catalog *c)
{
    const char *name = c->collation;

    if (same(name, "default")) {
        name = c->database_collation;
    }
    return same(name, "C") || same(name, "POSIX") || same(name, "ucs_basic");
}

static bool is_safe(const struct route_catalog *c, enum route_type type)
{
    const struct row *row = &rows[type];

    if (type == ROUTE_TYPE_OTHER) {
        return false;
    }
    if (row->order == ORDER_COLLATE && !c->deterministic) {
        return false;
    }
    if (c->strategy == 'h') {
        return (same(c->opfamily, row->hash) || is_pattern(c, type)) &&
               same(c->hash_proc, row->hash_proc);
    }
    if (!same(c->opfamily, row->btree) && !is_pattern(c, type)) {
        return false;
    }
    if (c->strategy == 'l' || row->order == ORDER_PLAIN) {
        return c->strategy == 'l' || c->strategy == 'r';
    }
    return c->strategy == 'r' && (is_byte_order(c) || is_pattern(c, type));
}

static void apply_modifier(struct route_typing *typing, int32_t mod)
{
    typing->limit = -1;
    if (mod < 0) {
        return;
    }
    switch (rows[typing->type].modifier) {
    case MOD_NONE:
        break;
    case MOD_DIGITS:
        typing->limit = mod;
        break;
    case MOD_LENGTH:
        typing->limit = mod - 4;
        break;
    case MOD_SCALE:
        /* eleven bits with a sign; a scale below 0 rounds whole numbers */
        typing->limit = (((mod - 4) & 0x7ff) ^ 1024) - 1024;
        typing->safe = typing->safe && typing->limit >= 0;
        break;
    case MOD_REFUSE:
        typing->safe = false;
        break;
    }
}

struct route_typing route_type_of(const struct route_catalog *catalog)
{
    enum route_type type = type_from_oid(catalog->type_oid);
    struct route_typing typing = {.type = (uint8_t)type,
                                  .safe = is_safe(catalog, type)};

    typing.ascii_only = !same(catalog->encoding, "UTF8");
    apply_modifier(&typing, catalog->type_mod);
    return typing;
}

struct route_typing route_type_plain(enum route_type type)
{
    return (struct route_typing){
        .type = (uint8_t)type, .safe = true, .limit = -1};
}

const char *route_type_name(enum route_type type)
{
    return rows[type].name;
}

bool route_type_same(const struct route_typing *a, const struct route_typing *b)
{
    return a->type == b->type && a->safe == b->safe &&
           a->ascii_only == b->ascii_only && a->limit == b->limit;
}

bool route_type_is_fixed(enum route_type type)
{
    return rows[type].fixed;
}

enum route_parse route_type_parse(const struct route_typing *typing,
                                  const char *text, uint32_t length,
                                  unsigned char *scratch,
                                  struct route_datum *datum)
{
    const struct row *row = &rows[typing->type];

    if (!row->parse) {
        return ROUTE_PARSE_UNSURE;
    }
    return row->parse(typing, text, length, scratch, datum);
}

int route_type_compare(enum route_type type, const struct route_datum *a,
                       const struct route_datum *b)
{
    if (rows[type].fixed) {
        return (a->fixed > b->fixed) - (a->fixed < b->fixed);
    }
    uint32_t common = a->length < b->length ? a->length : b->length;
    int order = common > 0 ? memcmp(a->bytes, b->bytes, common) : 0;
    return order != 0 ? order
                      : (a->length > b->length) - (a->length < b->length);
}
