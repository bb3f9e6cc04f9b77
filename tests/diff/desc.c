/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Descriptors: the four of a statement, explicit ones, set by hand, copied. */
#include "diff.h"

void subject_desc(void);

static const SQLSMALLINT header_fields[] = {
    SQL_DESC_ALLOC_TYPE, SQL_DESC_ARRAY_SIZE, SQL_DESC_BIND_TYPE,
    SQL_DESC_COUNT
};

/* Not PRECISION and SCALE, as which psqlODBC tells what memory held. */
static const SQLSMALLINT number_fields[] = {
    SQL_DESC_AUTO_UNIQUE_VALUE, SQL_DESC_CASE_SENSITIVE, SQL_DESC_CONCISE_TYPE,
    SQL_DESC_DATETIME_INTERVAL_CODE, SQL_DESC_DATETIME_INTERVAL_PRECISION,
    SQL_DESC_DISPLAY_SIZE, SQL_DESC_FIXED_PREC_SCALE, SQL_DESC_LENGTH,
    SQL_DESC_NULLABLE, SQL_DESC_NUM_PREC_RADIX, SQL_DESC_OCTET_LENGTH,
    SQL_DESC_PARAMETER_TYPE, SQL_DESC_ROWVER, SQL_DESC_SEARCHABLE, SQL_DESC_TYPE, SQL_DESC_UNNAMED,
    SQL_DESC_UNSIGNED, SQL_DESC_UPDATABLE, 4711
};

static const SQLSMALLINT text_fields[] = {
    SQL_DESC_BASE_COLUMN_NAME, SQL_DESC_BASE_TABLE_NAME, SQL_DESC_CATALOG_NAME,
    SQL_DESC_LABEL, SQL_DESC_LITERAL_PREFIX, SQL_DESC_LITERAL_SUFFIX,
    SQL_DESC_LOCAL_TYPE_NAME, SQL_DESC_NAME, SQL_DESC_SCHEMA_NAME,
    SQL_DESC_TABLE_NAME, SQL_DESC_TYPE_NAME
};

static void record(SQLHDESC desc, SQLSMALLINT number)
{
    for (size_t i = 0; i < sizeof number_fields / 2; i++) {
        say("record %d, field %d", number, number_fields[i]);
        CALL_TEXT(SQLGetDescField, desc, number, number_fields[i],
                  &out.len[0], SQL_IS_INTEGER, &out.integer[0]);
    }
    for (size_t i = 0; i < sizeof text_fields / 2; i++) {
        say("record %d, field %d", number, text_fields[i]);
        CALL_TEXT(SQLGetDescField, desc, number, text_fields[i], TEXT(0),
                  BYTES(40), &out.integer[0]);
    }
    CALL_TEXT(SQLGetDescRec, desc, number, TEXT(0), 40, &out.small[0],
              &out.small[1], &out.small[2], &out.len[0], &out.small[3],
              &out.small[4], &out.small[5]);
}

static void whole(SQLHDESC desc)
{
    say("-- all of %s", handle_name(desc));
    for (size_t i = 0; i < sizeof header_fields / 2; i++) {
        CALL_TEXT(SQLGetDescField, desc, 0, header_fields[i], &out.len[0], 0,
                  NULL);
    }
    for (SQLSMALLINT i = 0; i <= 3; i++) {
        record(desc, i);
    }
}

static SQLHDESC of(SQLHSTMT stmt, SQLINTEGER attribute)
{
    SQLHDESC desc;

    CALL(SQLGetStmtAttr, stmt, attribute, &out.pointer[0], SQL_IS_POINTER,
         &out.integer[0]);
    desc = out.pointer[0];
    handle_know(SQL_HANDLE_DESC, desc);
    return desc;
}

/* Columns and parameters are bound by descriptor fields alone. */
static void by_hand(SQLHSTMT stmt, SQLHDESC ard, SQLHDESC apd, SQLHDESC ipd)
{
    static SQLINTEGER wanted = 2;

    CALL(SQLSetDescField, ard, 1, SQL_DESC_CONCISE_TYPE, (void *)SQL_C_SLONG,
         SQL_IS_SMALLINT);
    CALL(SQLSetDescField, ard, 1, SQL_DESC_DATA_PTR, DATA(0), SQL_IS_POINTER);
    CALL(SQLSetDescRec, ard, 2, SQL_C_CHAR, 0, 30, 0, 0, DATA(1), &out.len[0],
         &out.len[1]);
    CALL(SQLSetDescRec, apd, 1, SQL_C_SLONG, 0, 4, 0, 0, &wanted, NULL, NULL);
    CALL(SQLSetDescRec, ipd, 1, SQL_INTEGER, 0, 4, 0, 0, NULL, NULL, NULL);
    CALL_TEXT(SQLSetDescField, ipd, 1, SQL_DESC_NAME, IN("wanted"), SQL_NTS);
    prepare(stmt, "SELECT id, name FROM parent WHERE id >= ? ORDER BY id");
    CALL(SQLExecute, stmt);
    CALL(SQLFetch, stmt);
    CALL(SQLSetDescField, ard, 0, SQL_DESC_COUNT, (void *)1, 0);
    CALL(SQLFetch, stmt);
}

static void wrongly(SQLHDESC ard, SQLHDESC ird, SQLHDESC ipd)
{
    CALL(SQLSetDescField, ird, 1, SQL_DESC_CONCISE_TYPE, (void *)SQL_C_SLONG,
         SQL_IS_SMALLINT);
    CALL(SQLSetDescField, ard, -1, SQL_DESC_TYPE, (void *)1, 0);
    CALL(SQLSetDescField, ard, 1, 4711, (void *)1, 0);
    CALL(SQLSetDescField, ard, 1, SQL_DESC_TYPE, (void *)4711, 0);
    CALL(SQLSetDescField, ipd, 1, SQL_DESC_DATA_PTR, DATA(0), SQL_IS_POINTER);
    CALL(SQLSetDescRec, ird, 1, SQL_C_SLONG, 0, 4, 0, 0, NULL, NULL, NULL);
    CALL(SQLSetDescRec, ard, -3, SQL_C_SLONG, 0, 4, 0, 0, NULL, NULL, NULL);
    CALL(SQLGetDescField, ard, 99, SQL_DESC_TYPE, &out.len[0], 0, NULL);
    CALL_TEXT(SQLGetDescRec, ard, 99, TEXT(0), 40, &out.small[0],
              &out.small[1], &out.small[2], &out.len[0], &out.small[3],
              &out.small[4], &out.small[5]);
    CALL(SQLFreeHandle, SQL_HANDLE_DESC, ard);
}

static void explicit_ones(SQLHSTMT stmt, SQLHSTMT other, SQLHDESC ard)
{
    SQLHDESC mine = handle_new(SQL_HANDLE_DESC, run.dbc);

    whole(mine);
    CALL(SQLCopyDesc, ard, mine);
    whole(mine);
    CALL(SQLSetStmtAttr, other, SQL_ATTR_APP_ROW_DESC, mine, SQL_IS_POINTER);
    of(other, SQL_ATTR_APP_ROW_DESC);
    sql(other, "SELECT id, name FROM parent ORDER BY id");
    CALL(SQLFetch, other);
    CALL(SQLBindCol, other, 2, C_TEXT, DATA(2), 30, &out.len[2]);
    CALL(SQLFetch, other);
    CALL(SQLGetDescField, mine, 0, SQL_DESC_COUNT, &out.small[0], 0, NULL);
    CALL(SQLSetStmtAttr, other, SQL_ATTR_APP_ROW_DESC, ard, SQL_IS_POINTER);
    CALL(SQLSetStmtAttr, other, SQL_ATTR_IMP_ROW_DESC, mine, SQL_IS_POINTER);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_APP_PARAM_DESC, mine, SQL_IS_POINTER);
    of(stmt, SQL_ATTR_APP_PARAM_DESC);
    CALL(SQLCopyDesc, mine, of(other, SQL_ATTR_IMP_ROW_DESC));
    handle_free(SQL_HANDLE_DESC, mine); /* what it was for goes back */
    of(other, SQL_ATTR_APP_ROW_DESC);
    of(stmt, SQL_ATTR_APP_PARAM_DESC);
    CALL(SQLFetch, other);
    CALL(SQLSetStmtAttr, other, SQL_ATTR_APP_ROW_DESC, NULL, SQL_IS_POINTER);
}

void subject_desc(void)
{
    SQLHSTMT stmt = stmt_new(), other = stmt_new();
    SQLHDESC ard = of(stmt, SQL_ATTR_APP_ROW_DESC);
    SQLHDESC apd = of(stmt, SQL_ATTR_APP_PARAM_DESC);
    SQLHDESC ird = of(stmt, SQL_ATTR_IMP_ROW_DESC);
    SQLHDESC ipd = of(stmt, SQL_ATTR_IMP_PARAM_DESC);

    whole(ard);
    whole(ird);
    by_hand(stmt, ard, apd, ipd);
    whole(ard);
    whole(apd);
    whole(ird);
    whole(ipd);
    wrongly(ard, ird, ipd);
    explicit_ones(stmt, other, ard);
}
