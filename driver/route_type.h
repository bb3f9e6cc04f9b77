/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The types of key columns: which of them the client may judge by itself, how
 * a text becomes a value, how values compare.
 *
 * A value is either one int64 (FIXED types: compared as such) or a string of
 * bytes (compared by memcmp, the shorter first).  Every type is brought into
 * one of these two forms such that this order is the one of PostgreSQL's
 * btree operator class:
 *
 *   bool, int2, int4, int8, oid         the number
 *   float4, float8                      the bits, made monotonic; -0 = 0,
 *                                       NaN is greatest
 *   date                                days since 2000-01-01
 *   timestamp, timestamptz, time        microseconds (timestamps since 2000)
 *   interval                            its span in microseconds
 *   numeric                             see route_numeric.h
 *   uuid                                16 bytes
 *   bytea, text, varchar, name, bpchar  the bytes (bpchar: no blanks behind)
 *
 * The rule for reading (facts §D1): a text is taken only if PostgreSQL would
 * see the same value whatever the session's DateStyle, TimeZone,
 * IntervalStyle and encoding.  Everything else is UNSURE: ask the server.
 */
#ifndef ROUTE_TYPE_H
#define ROUTE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum route_type {
    ROUTE_TYPE_OTHER, /* not known here: never safe */
    ROUTE_TYPE_BOOL,
    ROUTE_TYPE_INT2,
    ROUTE_TYPE_INT4,
    ROUTE_TYPE_INT8,
    ROUTE_TYPE_OID,
    ROUTE_TYPE_FLOAT4,
    ROUTE_TYPE_FLOAT8,
    ROUTE_TYPE_DATE,
    ROUTE_TYPE_TIME,
    ROUTE_TYPE_TIMESTAMP,
    ROUTE_TYPE_TIMESTAMPTZ,
    ROUTE_TYPE_INTERVAL,
    ROUTE_TYPE_NUMERIC,
    ROUTE_TYPE_UUID,
    ROUTE_TYPE_BYTEA,
    ROUTE_TYPE_TEXT, /* varchar too */
    ROUTE_TYPE_NAME,
    ROUTE_TYPE_BPCHAR,
    ROUTE_TYPES
};

/* How one key column of one partitioned table is judged. */
struct route_typing {
    uint8_t type;    /* enum route_type */
    bool safe;       /* this use of it is the client's to judge */
    bool ascii_only; /* the instance's encoding is not UTF-8: bytes beyond
                        ASCII are not those the instance compares or hashes */
    int32_t limit;   /* what a cast to the column's type would cut or round:
                        numeric's scale, digits of a second, characters;
                        -1 = none */
};

/* What the catalog says about a key column (the query in facts §D1). */
struct route_catalog {
    uint32_t type_oid; /* pg_attribute.atttypid; 0 for an expression */
    int32_t type_mod;  /* pg_attribute.atttypmod; -1 = none */
    char strategy;     /* pg_partitioned_table.partstrat: r, l, h */
    const char *opfamily;  /* pg_opfamily.opfname, in pg_catalog */
    const char *hash_proc; /* amproc 2 as regproc; NULL unless strategy h */
    const char *collation; /* pg_collation.collname; NULL = not collatable */
    bool deterministic;    /* pg_collation.collisdeterministic */
    const char *database_collation; /* what "default" stands for: datcollate
                                       if the provider is libc, else NULL */
    const char *encoding;           /* server_encoding */
};

/* Never fails: whatever is not known to be safe is typed with safe = false.
   An operator family or a hash function of the user's own must not carry the
   name of a built-in one: callers pass "" for those outside pg_catalog. */
struct route_typing route_type_of(const struct route_catalog *catalog);

/* int8, or text in byte order: the two types of AffinityMap and
   AffinityQuery, always safe. */
struct route_typing route_type_plain(enum route_type type);

/* As PostgreSQL calls it, for messages: "bigint". */
const char *route_type_name(enum route_type type);

bool route_type_same(const struct route_typing *a,
                     const struct route_typing *b);

/* ---- values ---- */

struct route_datum {
    const unsigned char *bytes; /* not FIXED: in the source text or scratch */
    uint32_t length;
    int64_t fixed; /* FIXED */
};

enum route_parse {
    ROUTE_PARSE_OK,
    ROUTE_PARSE_UNSURE, /* the server may see a value here; ask it */
    ROUTE_PARSE_BAD     /* no value of this type (SQLSTATE 22018) */
};

/* What route_type_parse() may write for a text of length bytes. */
#define ROUTE_TYPE_SCRATCH(length) ((size_t)(length) + 16)

bool route_type_is_fixed(enum route_type type);

/* Reads text[0..length), a sub-key or the literal of a bound, as a value.
   *datum may point into text and scratch, which must outlive it.  Reads the
   text even where typing.safe is false.  Allocates nothing, keeps errno. */
enum route_parse route_type_parse(const struct route_typing *typing,
                                  const char *text, uint32_t length,
                                  unsigned char *scratch,
                                  struct route_datum *datum);

/* <0, 0, >0: the order of the btree operator class.  Both are of one type,
   and neither is NULL. */
int route_type_compare(enum route_type type, const struct route_datum *a,
                       const struct route_datum *b);

/* A float as FIXED holds it, and back. */
int64_t route_type_from_double(double value);
double route_type_to_double(int64_t fixed);

#endif
