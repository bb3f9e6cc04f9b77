/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLGetInfo and SQLGetFunctions by the book: every information type with the
 * type and length of its value, and the three forms of SQLGetFunctions.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdio.h>
#include <string.h>

/* ---- SQLGetInfo -------------------------------------------------------- */

/* What a value is: characters, 'Y' or 'N', 16 bits, 32 bits. */
enum is { TEXT, YES_NO, SHORT, LONG };

static const struct info {
    SQLUSMALLINT id;
    const char *name;
    enum is is;
} infos[] = {
#define INFO(name, is) { name, #name, is },
    INFO(SQL_ACCESSIBLE_PROCEDURES, YES_NO)
    INFO(SQL_ACCESSIBLE_TABLES, YES_NO)
    INFO(SQL_ACTIVE_ENVIRONMENTS, SHORT)
    INFO(SQL_AGGREGATE_FUNCTIONS, LONG)
    INFO(SQL_ALTER_DOMAIN, LONG)
    INFO(SQL_ALTER_TABLE, LONG)
    INFO(SQL_ASYNC_MODE, LONG)
    INFO(SQL_BATCH_ROW_COUNT, LONG)
    INFO(SQL_BATCH_SUPPORT, LONG)
    INFO(SQL_BOOKMARK_PERSISTENCE, LONG)
    INFO(SQL_CATALOG_LOCATION, SHORT)
    INFO(SQL_CATALOG_NAME, YES_NO)
    INFO(SQL_CATALOG_NAME_SEPARATOR, TEXT)
    INFO(SQL_CATALOG_TERM, TEXT)
    INFO(SQL_CATALOG_USAGE, LONG)
    INFO(SQL_COLLATION_SEQ, TEXT)
    INFO(SQL_COLUMN_ALIAS, YES_NO)
    INFO(SQL_CONCAT_NULL_BEHAVIOR, SHORT)
    INFO(SQL_CONVERT_BIGINT, LONG)
    INFO(SQL_CONVERT_BINARY, LONG)
    INFO(SQL_CONVERT_BIT, LONG)
    INFO(SQL_CONVERT_CHAR, LONG)
    INFO(SQL_CONVERT_DATE, LONG)
    INFO(SQL_CONVERT_DECIMAL, LONG)
    INFO(SQL_CONVERT_DOUBLE, LONG)
    INFO(SQL_CONVERT_FLOAT, LONG)
    INFO(SQL_CONVERT_FUNCTIONS, LONG)
    INFO(SQL_CONVERT_INTEGER, LONG)
    INFO(SQL_CONVERT_INTERVAL_DAY_TIME, LONG)
    INFO(SQL_CONVERT_INTERVAL_YEAR_MONTH, LONG)
    INFO(SQL_CONVERT_LONGVARBINARY, LONG)
    INFO(SQL_CONVERT_LONGVARCHAR, LONG)
    INFO(SQL_CONVERT_NUMERIC, LONG)
    INFO(SQL_CONVERT_REAL, LONG)
    INFO(SQL_CONVERT_SMALLINT, LONG)
    INFO(SQL_CONVERT_TIME, LONG)
    INFO(SQL_CONVERT_TIMESTAMP, LONG)
    INFO(SQL_CONVERT_TINYINT, LONG)
    INFO(SQL_CONVERT_VARBINARY, LONG)
    INFO(SQL_CONVERT_VARCHAR, LONG)
    INFO(SQL_CONVERT_WCHAR, LONG)
    INFO(SQL_CONVERT_WLONGVARCHAR, LONG)
    INFO(SQL_CONVERT_WVARCHAR, LONG)
    INFO(SQL_CORRELATION_NAME, SHORT)
    INFO(SQL_CREATE_ASSERTION, LONG)
    INFO(SQL_CREATE_CHARACTER_SET, LONG)
    INFO(SQL_CREATE_COLLATION, LONG)
    INFO(SQL_CREATE_DOMAIN, LONG)
    INFO(SQL_CREATE_SCHEMA, LONG)
    INFO(SQL_CREATE_TABLE, LONG)
    INFO(SQL_CREATE_TRANSLATION, LONG)
    INFO(SQL_CREATE_VIEW, LONG)
    INFO(SQL_CURSOR_COMMIT_BEHAVIOR, SHORT)
    INFO(SQL_CURSOR_ROLLBACK_BEHAVIOR, SHORT)
    INFO(SQL_CURSOR_SENSITIVITY, LONG)
    INFO(SQL_DATABASE_NAME, TEXT)
    INFO(SQL_DATA_SOURCE_NAME, TEXT)
    INFO(SQL_DATA_SOURCE_READ_ONLY, YES_NO)
    INFO(SQL_DATETIME_LITERALS, LONG)
    INFO(SQL_DBMS_NAME, TEXT)
    INFO(SQL_DBMS_VER, TEXT)
    INFO(SQL_DDL_INDEX, LONG)
    INFO(SQL_DEFAULT_TXN_ISOLATION, LONG)
    INFO(SQL_DESCRIBE_PARAMETER, YES_NO)
    INFO(SQL_DM_VER, TEXT)
    INFO(SQL_DRIVER_NAME, TEXT)
    INFO(SQL_DRIVER_ODBC_VER, TEXT)
    INFO(SQL_DRIVER_VER, TEXT)
    INFO(SQL_DROP_ASSERTION, LONG)
    INFO(SQL_DROP_CHARACTER_SET, LONG)
    INFO(SQL_DROP_COLLATION, LONG)
    INFO(SQL_DROP_DOMAIN, LONG)
    INFO(SQL_DROP_SCHEMA, LONG)
    INFO(SQL_DROP_TABLE, LONG)
    INFO(SQL_DROP_TRANSLATION, LONG)
    INFO(SQL_DROP_VIEW, LONG)
    INFO(SQL_DYNAMIC_CURSOR_ATTRIBUTES1, LONG)
    INFO(SQL_DYNAMIC_CURSOR_ATTRIBUTES2, LONG)
    INFO(SQL_EXPRESSIONS_IN_ORDERBY, YES_NO)
    INFO(SQL_FILE_USAGE, SHORT)
    INFO(SQL_FORWARD_ONLY_CURSOR_ATTRIBUTES1, LONG)
    INFO(SQL_FORWARD_ONLY_CURSOR_ATTRIBUTES2, LONG)
    INFO(SQL_GETDATA_EXTENSIONS, LONG)
    INFO(SQL_GROUP_BY, SHORT)
    INFO(SQL_IDENTIFIER_CASE, SHORT)
    INFO(SQL_IDENTIFIER_QUOTE_CHAR, TEXT)
    INFO(SQL_INDEX_KEYWORDS, LONG)
    INFO(SQL_INFO_SCHEMA_VIEWS, LONG)
    INFO(SQL_INSERT_STATEMENT, LONG)
    INFO(SQL_INTEGRITY, YES_NO)
    INFO(SQL_KEYSET_CURSOR_ATTRIBUTES1, LONG)
    INFO(SQL_KEYSET_CURSOR_ATTRIBUTES2, LONG)
    INFO(SQL_KEYWORDS, TEXT)
    INFO(SQL_LIKE_ESCAPE_CLAUSE, YES_NO)
    INFO(SQL_MAX_ASYNC_CONCURRENT_STATEMENTS, LONG)
    INFO(SQL_MAX_BINARY_LITERAL_LEN, LONG)
    INFO(SQL_MAX_CATALOG_NAME_LEN, SHORT)
    INFO(SQL_MAX_CHAR_LITERAL_LEN, LONG)
    INFO(SQL_MAX_COLUMN_NAME_LEN, SHORT)
    INFO(SQL_MAX_COLUMNS_IN_GROUP_BY, SHORT)
    INFO(SQL_MAX_COLUMNS_IN_INDEX, SHORT)
    INFO(SQL_MAX_COLUMNS_IN_ORDER_BY, SHORT)
    INFO(SQL_MAX_COLUMNS_IN_SELECT, SHORT)
    INFO(SQL_MAX_COLUMNS_IN_TABLE, SHORT)
    INFO(SQL_MAX_CONCURRENT_ACTIVITIES, SHORT)
    INFO(SQL_MAX_CURSOR_NAME_LEN, SHORT)
    INFO(SQL_MAX_DRIVER_CONNECTIONS, SHORT)
    INFO(SQL_MAX_IDENTIFIER_LEN, SHORT)
    INFO(SQL_MAX_INDEX_SIZE, LONG)
    INFO(SQL_MAX_PROCEDURE_NAME_LEN, SHORT)
    INFO(SQL_MAX_ROW_SIZE, LONG)
    INFO(SQL_MAX_ROW_SIZE_INCLUDES_LONG, YES_NO)
    INFO(SQL_MAX_SCHEMA_NAME_LEN, SHORT)
    INFO(SQL_MAX_STATEMENT_LEN, LONG)
    INFO(SQL_MAX_TABLE_NAME_LEN, SHORT)
    INFO(SQL_MAX_TABLES_IN_SELECT, SHORT)
    INFO(SQL_MAX_USER_NAME_LEN, SHORT)
    INFO(SQL_MULT_RESULT_SETS, YES_NO)
    INFO(SQL_MULTIPLE_ACTIVE_TXN, YES_NO)
    INFO(SQL_NEED_LONG_DATA_LEN, YES_NO)
    INFO(SQL_NON_NULLABLE_COLUMNS, SHORT)
    INFO(SQL_NULL_COLLATION, SHORT)
    INFO(SQL_NUMERIC_FUNCTIONS, LONG)
    INFO(SQL_ODBC_INTERFACE_CONFORMANCE, LONG)
    INFO(SQL_ODBC_VER, TEXT)
    INFO(SQL_OJ_CAPABILITIES, LONG)
    INFO(SQL_ORDER_BY_COLUMNS_IN_SELECT, YES_NO)
    INFO(SQL_PARAM_ARRAY_ROW_COUNTS, LONG)
    INFO(SQL_PARAM_ARRAY_SELECTS, LONG)
    INFO(SQL_PROCEDURE_TERM, TEXT)
    INFO(SQL_PROCEDURES, YES_NO)
    INFO(SQL_QUOTED_IDENTIFIER_CASE, SHORT)
    INFO(SQL_ROW_UPDATES, YES_NO)
    INFO(SQL_SCHEMA_TERM, TEXT)
    INFO(SQL_SCHEMA_USAGE, LONG)
    INFO(SQL_SCROLL_OPTIONS, LONG)
    INFO(SQL_SEARCH_PATTERN_ESCAPE, TEXT)
    INFO(SQL_SERVER_NAME, TEXT)
    INFO(SQL_SPECIAL_CHARACTERS, TEXT)
    INFO(SQL_SQL_CONFORMANCE, LONG)
    INFO(SQL_SQL92_DATETIME_FUNCTIONS, LONG)
    INFO(SQL_SQL92_FOREIGN_KEY_DELETE_RULE, LONG)
    INFO(SQL_SQL92_FOREIGN_KEY_UPDATE_RULE, LONG)
    INFO(SQL_SQL92_GRANT, LONG)
    INFO(SQL_SQL92_NUMERIC_VALUE_FUNCTIONS, LONG)
    INFO(SQL_SQL92_PREDICATES, LONG)
    INFO(SQL_SQL92_RELATIONAL_JOIN_OPERATORS, LONG)
    INFO(SQL_SQL92_REVOKE, LONG)
    INFO(SQL_SQL92_ROW_VALUE_CONSTRUCTOR, LONG)
    INFO(SQL_SQL92_STRING_FUNCTIONS, LONG)
    INFO(SQL_SQL92_VALUE_EXPRESSIONS, LONG)
    INFO(SQL_STANDARD_CLI_CONFORMANCE, LONG)
    INFO(SQL_STATIC_CURSOR_ATTRIBUTES1, LONG)
    INFO(SQL_STATIC_CURSOR_ATTRIBUTES2, LONG)
    INFO(SQL_STRING_FUNCTIONS, LONG)
    INFO(SQL_SUBQUERIES, LONG)
    INFO(SQL_SYSTEM_FUNCTIONS, LONG)
    INFO(SQL_TABLE_TERM, TEXT)
    INFO(SQL_TIMEDATE_ADD_INTERVALS, LONG)
    INFO(SQL_TIMEDATE_DIFF_INTERVALS, LONG)
    INFO(SQL_TIMEDATE_FUNCTIONS, LONG)
    INFO(SQL_TXN_CAPABLE, SHORT)
    INFO(SQL_TXN_ISOLATION_OPTION, LONG)
    INFO(SQL_UNION, LONG)
    INFO(SQL_USER_NAME, TEXT)
    INFO(SQL_XOPEN_CLI_YEAR, TEXT)
#undef INFO
};

static SQLRETURN get(const struct book_on *on, SQLUSMALLINT id, void *value,
                     SQLSMALLINT size, SQLSMALLINT *length)
{
    return TEXT_CALL(on, SQLGetInfo)(on->dbc, id, value, size, length);
}

static void check_text(const struct book_on *on, const struct info *info)
{
    SQLWCHAR value[4096], cut[4096];
    SQLSMALLINT length = -1, whole;
    size_t u = unit(on);

    blot(value, sizeof value);
    want_rc("with room", get(on, info->id, value, sizeof value, &length),
            SQL_SUCCESS);
    whole = (SQLSMALLINT)(strlen(out(on, value)) * u);
    want_number("length in bytes", length, whole);
    length = -1;
    want_rc("value null", get(on, info->id, NULL, 0, &length), SQL_SUCCESS);
    want_number("length, value null", length, whole);
    want_rc("length null", get(on, info->id, value, sizeof value, NULL),
            SQL_SUCCESS);
    want_rc("exact room",
            get(on, info->id, cut, (SQLSMALLINT)(whole + (int)u), &length),
            SQL_SUCCESS);
    want_text("exact room", out(on, cut), out(on, value));
    if (whole == 0) {
        return;
    }
    blot(cut, sizeof cut);
    want_info(on, "one character too few",
              get(on, info->id, cut, whole, &length), SQL_HANDLE_DBC, on->dbc,
              "01004");
    want_number("length of all, cut", length, whole);
    want("nothing behind the room", ((char *)cut)[whole] == '#');
    want_number("cut and terminated", (long long)(strlen(out(on, cut)) * u),
                whole - (long long)u);
}

static void check_number(const struct book_on *on, const struct info *info)
{
    unsigned char value[12];
    SQLSMALLINT length = -1;
    size_t bytes = info->is == SHORT ? 2 : 4;

    blot(value, sizeof value);
    want_rc("BufferLength 0", get(on, info->id, value, 0, &length),
            SQL_SUCCESS);
    want_number("length", length, (long long)bytes);
    want("no byte too many", value[bytes] == '#');
    want("all of its bytes",
         memcmp(value, "####", bytes) != 0 &&
             (bytes == 2 || memcmp(value + 2, "##", 2) != 0));
    want_rc("length null", get(on, info->id, value, 0, NULL), SQL_SUCCESS);
}

static void info_type(const struct book_on *on, const void *row)
{
    const struct info *info = row;
    SQLWCHAR value[8] = { 0 };

    switch (info->is) {
    case YES_NO:
        get(on, info->id, value, sizeof value, NULL);
        want("'Y' or 'N'", strcmp(out(on, value), "Y") == 0 ||
                               strcmp(out(on, value), "N") == 0);
        check_text(on, info);
        break;
    case TEXT:
        check_text(on, info);
        break;
    default:
        check_number(on, info);
        break;
    }
}

static void info_unknown(const struct book_on *on, const void *row)
{
    SQLWCHAR value[100];

    (void)row;
    want_error(on, "9999", get(on, 9999, value, sizeof value, NULL),
               SQL_HANDLE_DBC, on->dbc, "HY096");
}

/* The handles that are asked for below the manager are the wrapper's. */
static void info_handles(const struct book_on *on, const void *row)
{
    SQLHANDLE handle = SQL_NULL_HANDLE;
    SQLSMALLINT length = -1;

    (void)row;
    want_rc("SQL_DRIVER_HDBC", get(on, SQL_DRIVER_HDBC, &handle, 0, &length),
            SQL_SUCCESS);
    want("SQL_DRIVER_HDBC", handle == on->dbc);
    want_number("its length", length, sizeof(SQLHANDLE));
    want_rc("SQL_DRIVER_HENV", get(on, SQL_DRIVER_HENV, &handle, 0, NULL),
            SQL_SUCCESS);
    want("SQL_DRIVER_HENV", handle == on->env);
    handle = on->stmt;
    want_rc("SQL_DRIVER_HSTMT", get(on, SQL_DRIVER_HSTMT, &handle, 0, NULL),
            SQL_SUCCESS);
    want("SQL_DRIVER_HSTMT", handle == on->stmt);
}

static void info_unconnected(const struct book_on *on, const void *row)
{
    SQLHDBC dbc = book_dbc(on);
    SQLWCHAR value[100];

    (void)row;
    want_error(on, "SQL_DBMS_NAME",
               TEXT_CALL(on, SQLGetInfo)(dbc, SQL_DBMS_NAME, value,
                                         sizeof value, NULL),
               SQL_HANDLE_DBC, dbc, "08003");
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

static void info_negative(const struct book_on *on, const void *row)
{
    SQLWCHAR value[100];

    (void)row;
    want_error(on, "BufferLength -1",
               get(on, SQL_DATA_SOURCE_NAME, value, -1, NULL), SQL_HANDLE_DBC,
               on->dbc, "HY090");
}

/* ---- SQLGetFunctions --------------------------------------------------- */

enum { ODBC2 = 100, LAST = SQL_API_ODBC3_ALL_FUNCTIONS_SIZE * 16 };

static bool exists(const SQLUSMALLINT *bitmap, int number)
{
    return bitmap[number >> 4] & (1u << (number & 15));
}

static void forms_agree(const struct book_on *on, const void *row)
{
    SQLUSMALLINT bitmap[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE + 1];
    SQLUSMALLINT array[ODBC2 + 1];

    (void)row;
    memset(bitmap, '#', sizeof bitmap);
    memset(array, '#', sizeof array);
    want_rc("SQL_API_ODBC3_ALL_FUNCTIONS",
            on->odbc->SQLGetFunctions(on->dbc, SQL_API_ODBC3_ALL_FUNCTIONS,
                                      bitmap),
            SQL_SUCCESS);
    want("250 elements",
         bitmap[SQL_API_ODBC3_ALL_FUNCTIONS_SIZE] == 0x2323);
    want_rc("SQL_API_ALL_FUNCTIONS",
            on->odbc->SQLGetFunctions(on->dbc, SQL_API_ALL_FUNCTIONS, array),
            SQL_SUCCESS);
    want("100 elements", array[ODBC2] == 0x2323);
    for (int number = 1; number < LAST; number++) {
        SQLUSMALLINT one[2] = { 0x2323, 0x2323 };
        char what[40];

        if (number == SQL_API_ODBC3_ALL_FUNCTIONS) {
            continue;
        }
        on->odbc->SQLGetFunctions(on->dbc, (SQLUSMALLINT)number, one);
        snprintf(what, sizeof what, "function %d", number);
        if (one[0] != 0x2323) {
            want_number(what, one[0], exists(bitmap, number));
        }
        want("one element", one[1] == 0x2323);
        if (number < ODBC2) {
            want_number(what, array[number], exists(bitmap, number));
        }
    }
}

/* What is said to be there can be called. */
static void is_exported(const struct book_on *on, const void *row)
{
    (void)row;
#define CHECK(function, number, present) \
    { \
        SQLUSMALLINT supported = 0; \
        want_rc(#function, \
                on->odbc->SQLGetFunctions(on->dbc, number, &supported), \
                SQL_SUCCESS); \
        if (supported) { \
            want(#function " is exported", present); \
        } \
    }
#define PLAIN(name, number, ...) CHECK(name, number, on->odbc->name)
#define TEXT(name, number, ...) \
    CHECK(name, number, on->odbc->name && on->odbc->name##W)
#include "surface.def"
}

/* Interface Conformance Levels, Core: what every driver has. */
static void core_functions(const struct book_on *on, const void *row)
{
    static const SQLUSMALLINT core[] = {
        SQL_API_SQLALLOCHANDLE,    SQL_API_SQLBINDCOL,
        SQL_API_SQLBINDPARAMETER,  SQL_API_SQLCANCEL,
        SQL_API_SQLCLOSECURSOR,    SQL_API_SQLCOLATTRIBUTE,
        SQL_API_SQLCOLUMNS,        SQL_API_SQLCONNECT,
        SQL_API_SQLCOPYDESC,       SQL_API_SQLDESCRIBECOL,
        SQL_API_SQLDISCONNECT,     SQL_API_SQLDRIVERCONNECT,
        SQL_API_SQLENDTRAN,        SQL_API_SQLEXECDIRECT,
        SQL_API_SQLEXECUTE,        SQL_API_SQLFETCH,
        SQL_API_SQLFETCHSCROLL,    SQL_API_SQLFREEHANDLE,
        SQL_API_SQLFREESTMT,       SQL_API_SQLGETCONNECTATTR,
        SQL_API_SQLGETCURSORNAME,  SQL_API_SQLGETDATA,
        SQL_API_SQLGETDESCFIELD,   SQL_API_SQLGETDESCREC,
        SQL_API_SQLGETDIAGFIELD,   SQL_API_SQLGETDIAGREC,
        SQL_API_SQLGETENVATTR,     SQL_API_SQLGETFUNCTIONS,
        SQL_API_SQLGETINFO,        SQL_API_SQLGETSTMTATTR,
        SQL_API_SQLGETTYPEINFO,    SQL_API_SQLNATIVESQL,
        SQL_API_SQLNUMPARAMS,      SQL_API_SQLNUMRESULTCOLS,
        SQL_API_SQLPARAMDATA,      SQL_API_SQLPREPARE,
        SQL_API_SQLPUTDATA,        SQL_API_SQLROWCOUNT,
        SQL_API_SQLSETCONNECTATTR, SQL_API_SQLSETCURSORNAME,
        SQL_API_SQLSETDESCFIELD,   SQL_API_SQLSETDESCREC,
        SQL_API_SQLSETENVATTR,     SQL_API_SQLSETSTMTATTR,
        SQL_API_SQLSPECIALCOLUMNS, SQL_API_SQLSTATISTICS,
        SQL_API_SQLTABLES,
    };

    (void)row;
    for (size_t i = 0; i < sizeof core / sizeof core[0]; i++) {
        SQLUSMALLINT supported = 77;
        char what[40];

        on->odbc->SQLGetFunctions(on->dbc, core[i], &supported);
        snprintf(what, sizeof what, "function %u", core[i]);
        want_number(what, supported, SQL_TRUE);
    }
}

static void function_arguments(const struct book_on *on, const void *row)
{
    SQLUSMALLINT supported;

    (void)row;
    want_error(on, "a number out of range",
               on->odbc->SQLGetFunctions(on->dbc, 4000, &supported),
               SQL_HANDLE_DBC, on->dbc, "HY095");
    want_error(on, "a null pointer",
               on->odbc->SQLGetFunctions(on->dbc, SQL_API_SQLFETCH, NULL),
               SQL_HANDLE_DBC, on->dbc, "HY009");
}

/* One of them is the wrapper's, and three are the manager's alone; all others
   are the inner driver's to answer. */
static void try_infos(void)
{
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
        char name[120];
        SQLUSMALLINT id = infos[i].id;
        bool managers = id == SQL_DM_VER || id == SQL_ODBC_VER ||
                        id == SQL_XOPEN_CLI_YEAR;

        snprintf(name, sizeof name, "SQLGetInfo, Information Types: %s",
                 infos[i].name);
        book_try(id == SQL_DATA_SOURCE_NAME ? BOOK_OURS : BOOK_INNER,
                 managers ? BOOK_MANAGED : BOOK_ALL, name, info_type,
                 &infos[i]);
    }
}

int main(void)
{
    try_infos();
    book_try(BOOK_INNER, BOOK_ALL, "SQLGetInfo, Diagnostics: HY096",
             info_unknown, NULL);
    book_try(BOOK_OURS, BOOK_ALL, "SQLGetInfo, Diagnostics: HY090",
             info_negative, NULL);
    book_try(BOOK_OURS, BOOK_ALL, "SQLGetInfo, Diagnostics: 08003",
             info_unconnected, NULL);
    book_try(BOOK_OURS, BOOK_BELOW,
             "SQLGetInfo, Information Types: SQL_DRIVER_HDBC, HENV, HSTMT",
             info_handles, NULL);
    book_try(BOOK_OURS, BOOK_NARROW | BOOK_BELOW,
             "SQLGetFunctions, Comments: the three forms agree", forms_agree,
             NULL);
    book_try(BOOK_OURS, BOOK_BELOW,
             "SQLGetFunctions, Comments: what is there is exported",
             is_exported, NULL);
    book_try(BOOK_OURS, BOOK_ALL,
             "Interface Conformance Levels, Core: SQLGetFunctions",
             core_functions, NULL);
    book_try(BOOK_OURS, BOOK_ALL, "SQLGetFunctions, Diagnostics: HY095, HY009",
             function_arguments, NULL);
    return book_end();
}
