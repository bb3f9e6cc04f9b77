/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Parameters: every C type to every SQL type, NULL, lengths, wrong ones. */
#include "diff.h"

#include <string.h>

void subject_params(void);

static SQLINTEGER number = -70000;
static SQLBIGINT big = 1234567890123;
static SQLSMALLINT small = 321;
static SQLSCHAR tiny = -5;
static SQLCHAR bit = 1;
static SQLREAL real = 1.5f;
static SQLDOUBLE real_double = 2.25;
static SQLCHAR text[] = "12";
static SQLWCHAR wide[] = { '1', '2', 0 };
static SQLCHAR bytes[] = { 0x31, 0x32, 0xff };
static SQL_DATE_STRUCT date = { 2024, 2, 29 };
static SQL_TIME_STRUCT time_of_day = { 1, 2, 3 };
static SQL_TIMESTAMP_STRUCT stamp = { 2024, 2, 29, 1, 2, 3, 456789000 };
static SQL_NUMERIC_STRUCT numeric = { 5, 2, 1, { 0x39, 0x30 } };
static SQLGUID guid = { 0xa0eebc99, 0x9c0b, 0x4ef8,
                        { 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11 } };
static SQL_INTERVAL_STRUCT interval = { .interval_type = SQL_IS_DAY,
                                        .intval.day_second.day = 7 };

static const struct value {
    SQLSMALLINT c_type;
    void *value;
    SQLLEN length;
} values[] = {
    { SQL_C_CHAR, text, SQL_NTS },      { SQL_C_WCHAR, wide, SQL_NTS },
    { SQL_C_BINARY, bytes, 2 },         { SQL_C_BIT, &bit, 0 },
    { SQL_C_STINYINT, &tiny, 0 },       { SQL_C_UTINYINT, &bit, 0 },
    { SQL_C_SSHORT, &small, 0 },        { SQL_C_USHORT, &small, 0 },
    { SQL_C_SLONG, &number, 0 },        { SQL_C_ULONG, &number, 0 },
    { SQL_C_SBIGINT, &big, 0 },         { SQL_C_UBIGINT, &big, 0 },
    { SQL_C_FLOAT, &real, 0 },          { SQL_C_DOUBLE, &real_double, 0 },
    { SQL_C_NUMERIC, &numeric, 0 },     { SQL_C_TYPE_DATE, &date, 0 },
    { SQL_C_TYPE_TIME, &time_of_day, 0 },
    { SQL_C_TYPE_TIMESTAMP, &stamp, 0 },
    { SQL_C_GUID, &guid, 0 },           { SQL_C_INTERVAL_DAY, &interval, 0 },
    { SQL_C_DEFAULT, text, SQL_NTS },   { SQL_C_CHAR, NULL, SQL_NULL_DATA },
    { SQL_C_CHAR, text, SQL_DEFAULT_PARAM },
    { 4711, text, SQL_NTS },
};

static const SQLSMALLINT sql_types[] = {
    SQL_CHAR, SQL_VARCHAR, SQL_WVARCHAR, SQL_LONGVARCHAR, SQL_INTEGER,
    SQL_NUMERIC, SQL_DOUBLE, SQL_BIT, SQL_VARBINARY, SQL_TYPE_DATE,
    SQL_TYPE_TIMESTAMP, SQL_GUID, 4711
};

static void every_type(SQLHSTMT stmt)
{
    static SQLLEN length;

    prepare(stmt, "SELECT ?");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (size_t j = 0; j < sizeof sql_types / sizeof sql_types[0]; j++) {
            say("%d as %d", values[i].c_type, sql_types[j]);
            length = values[i].length;
            CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, values[i].c_type,
                 sql_types[j], 20, 3, values[i].value, 20, &length);
            if (SQL_SUCCEEDED(CALL(SQLExecute, stmt))) {
                show_rows(stmt, 2);
            }
            CALL(SQLFreeStmt, stmt, SQL_CLOSE);
        }
    }
    CALL(SQLFreeStmt, stmt, SQL_RESET_PARAMS);
}

static void describe(SQLHSTMT stmt, const char *statement)
{
    if (!SQL_SUCCEEDED(prepare(stmt, statement))) {
        return;
    }
    CALL(SQLNumParams, stmt, &out.small[0]);
    for (SQLUSMALLINT i = 0; i <= 3; i++) {
        CALL(SQLDescribeParam, stmt, i, &out.small[0], &out.ulen[0],
             &out.small[1], &out.small[2]);
    }
    CALL(SQLNumResultCols, stmt, &out.small[0]);
    show_columns(stmt); /* before it was executed */
    CALL(SQLExecute, stmt); /* without its parameters */
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void texts(SQLHSTMT stmt)
{
    static SQLLEN length;
    static const SQLLEN lengths[] = { SQL_NTS, 0, 1, 2, 5 };
    static SQLCHAR words[8] = "a\0b'\\c";
    static SQLWCHAR units[8] = { 0xe4, 0xd83d, 0xde00, '\'', 0, 'x', 0xd83d };

    prepare(stmt, "SELECT ?");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        say("length %ld", (long)lengths[i]);
        length = lengths[i];
        CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
             SQL_VARCHAR, 3, 0, words, 8, &length);
        CALL(SQLExecute, stmt);
        show_rows(stmt, 2);
        CALL(SQLFreeStmt, stmt, SQL_CLOSE);
        length = lengths[i] > 0 ? lengths[i] * 2 : lengths[i];
        CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_WCHAR,
             SQL_WVARCHAR, 3, 0, units, 16, &length);
        CALL(SQLExecute, stmt);
        show_rows(stmt, 2);
        CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    }
    CALL(SQLFreeStmt, stmt, SQL_RESET_PARAMS);
}

static void wrongly(SQLHSTMT stmt)
{
    static SQLLEN length = SQL_NTS;

    CALL(SQLBindParameter, stmt, 0, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
         3, 0, text, 3, &length);
    CALL(SQLBindParameter, stmt, 1, 99, SQL_C_CHAR, SQL_VARCHAR, 3, 0, text, 3,
         &length);
    CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
         3, 0, NULL, 3, NULL);
    CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR,
         3, 0, text, -1, &length);
    CALL(SQLBindParam, stmt, 1, SQL_C_CHAR, SQL_VARCHAR, 3, 0, text, &length);
    CALL(SQLExecute, stmt);
    sql(stmt, "SELECT ?, ?"); /* one is missing */
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    sql(stmt, "SELECT 1"); /* one too many */
    CALL(SQLNumParams, stmt, &out.small[0]);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    CALL(SQLFreeStmt, stmt, SQL_RESET_PARAMS);
    CALL(SQLDescribeParam, stmt, 1, &out.small[0], NULL, NULL, NULL);
}

void subject_params(void)
{
    SQLHSTMT stmt = stmt_new();
    SQLHSTMT left = stmt_new();

    CALL(SQLNumParams, stmt, &out.small[0]);
    every_type(stmt);
    describe(stmt, "SELECT * FROM parent WHERE id = ? AND name = ?");
    describe(stmt, "INSERT INTO child VALUES (?, ?, ?, ?)");
    describe(stmt, "SELECT '?', \"name\" /* ? */ FROM parent WHERE id > ?");
    describe(stmt, "SELECT 1");
    describe(stmt, "SELECT * FROM nowhere WHERE id = ?");
    texts(stmt);
    wrongly(stmt);
    prepare(left, "SELECT name FROM parent WHERE id = ?"); /* left prepared */
    CALL(SQLBindParameter, left, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, &number, 0, NULL);
    CALL(SQLExecute, left);
}
