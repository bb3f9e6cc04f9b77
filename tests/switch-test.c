/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Promise 1 for programs in C (for other languages: clients-test.sh): one
 * ordinary program, as an ODBC 2, 3 and 3.80 application, narrow and wide,
 * writes down every return code, value, description and diagnostic record,
 * with an instance's own DSN and with the wrapper's and a key.  The two
 * protocols must be equal to the byte; their first line names the instance.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "odbc_try.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static FILE *out; /* the protocol */
static bool wide;
static SQLHDBC dbc;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}

static void say_bytes(const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = ((const unsigned char *)bytes)[i];
        fprintf(out, c >= ' ' && c < 127 ? "%c" : "\\%02x", c);
    }
}

/* ---- what every call is asked ------------------------------------------ */

static void say_record(SQLSMALLINT type, SQLHANDLE handle, SQLSMALLINT number)
{
    char state[12] = "", text[1200] = "";
    SQLINTEGER native = 0;
    SQLSMALLINT length = 0;
    SQLRETURN rc =
        wide ? SQLGetDiagRecW(type, handle, number, (SQLWCHAR *)(void *)state,
                              &native, (SQLWCHAR *)(void *)text, 600, &length)
             : SQLGetDiagRec(type, handle, number, (SQLCHAR *)state, &native,
                             (SQLCHAR *)text, 600, &length);

    if (SQL_SUCCEEDED(rc)) {
        fprintf(out, "    record %d: ", number);
        say_bytes(state, wide ? 10 : 5);
        fprintf(out, " %d ", (int)native);
        say_bytes(text, (size_t)length * (wide ? 2 : 1));
        say(" (%d)", length);
    }
}

static SQLRETURN check(const char *call, SQLSMALLINT type, SQLHANDLE handle,
                       SQLRETURN rc)
{
    say("%s: %d", call, rc);
    if (rc != SQL_SUCCESS && rc != SQL_NO_DATA && rc != SQL_NEED_DATA) {
        SQLINTEGER count = -1;
        SQLGetDiagField(type, handle, 0, SQL_DIAG_NUMBER, &count, 0, NULL);
        say("    %d records", (int)count);
        for (SQLSMALLINT i = 1; i <= 3; i++) {
            say_record(type, handle, i);
        }
    }
    return rc;
}

#define STMT(call) check(#call, SQL_HANDLE_STMT, stmt, call)
#define DBC(call)  check(#call, SQL_HANDLE_DBC, dbc, call)

static SQLRETURN exec(SQLHSTMT stmt, const char *sql)
{
    say("-- %s", sql);
    return check("SQLExecDirect", SQL_HANDLE_STMT, stmt,
                 wide ? SQLExecDirectW(stmt, try_utf16(sql), SQL_NTS)
                      : SQLExecDirect(stmt, (SQLCHAR *)sql, SQL_NTS));
}

static SQLRETURN prepare(SQLHSTMT stmt, const char *sql)
{
    say("-- %s", sql);
    return check("SQLPrepare", SQL_HANDLE_STMT, stmt,
                 wide ? SQLPrepareW(stmt, try_utf16(sql), SQL_NTS)
                      : SQLPrepare(stmt, (SQLCHAR *)sql, SQL_NTS));
}

static void describe(SQLHSTMT stmt)
{
    SQLSMALLINT columns = -1;

    STMT(SQLNumResultCols(stmt, &columns));
    say("    %d columns", columns);
    for (SQLUSMALLINT i = 1; i <= columns; i++) {
        char name[300] = "";
        SQLSMALLINT length = 0, type = 0, digits = 0, nullable = 0;
        SQLULEN size = 0;
        SQLLEN display = -7;
        SQLRETURN rc =
            wide ? SQLDescribeColW(stmt, i, (SQLWCHAR *)(void *)name, 100,
                                   &length, &type, &size, &digits, &nullable)
                 : SQLDescribeCol(stmt, i, (SQLCHAR *)name, 100, &length, &type,
                                  &size, &digits, &nullable);
        SQLColAttribute(stmt, i, SQL_DESC_DISPLAY_SIZE, NULL, 0, NULL,
                        &display);
        fprintf(out, "    column %d: %d ", i, rc);
        say_bytes(name, (size_t)length * (wide ? 2 : 1));
        say(" type %d size %lu digits %d nullable %d display %ld", type,
            (unsigned long)size, digits, nullable, (long)display);
    }
}

/* Every value of every row, then the end and what follows. */
static void fetch_all(SQLHSTMT stmt)
{
    SQLSMALLINT columns = 0;
    SQLRETURN rc;

    SQLNumResultCols(stmt, &columns);
    while (SQL_SUCCEEDED(rc = SQLFetch(stmt))) {
        fprintf(out, "    row:");
        for (SQLUSMALLINT i = 1; i <= columns; i++) {
            char value[600] = "";
            SQLLEN length = 0;
            SQLRETURN got = SQLGetData(stmt, i, wide ? SQL_C_WCHAR : SQL_C_CHAR,
                                       value, sizeof value, &length);
            fprintf(out, " %d/%ld:", got, (long)length);
            say_bytes(value, length < 0                      ? 0
                             : length < (SQLLEN)sizeof value ? (size_t)length
                                                             : sizeof value);
        }
        fputc('\n', out);
    }
    check("SQLFetch at the end", SQL_HANDLE_STMT, stmt, rc);
    STMT(SQLMoreResults(stmt));
    STMT(SQLFreeStmt(stmt, SQL_CLOSE));
}

static void count(SQLHSTMT stmt)
{
    SQLLEN rows = -7;

    SQLRowCount(stmt, &rows);
    say("    %ld rows", (long)rows);
}

/* ---- the program ------------------------------------------------------- */

static void who(SQLHSTMT stmt)
{
    static const SQLUSMALLINT texts[] = {
        SQL_DRIVER_NAME,
        SQL_DRIVER_VER,
        SQL_DRIVER_ODBC_VER,
        SQL_DBMS_NAME,
        SQL_DBMS_VER,
        SQL_DATABASE_NAME,
        SQL_USER_NAME,
        SQL_SERVER_NAME,
        SQL_IDENTIFIER_QUOTE_CHAR,
        SQL_SEARCH_PATTERN_ESCAPE,
        SQL_KEYWORDS,
    };
    static const SQLUSMALLINT numbers[] = {
        SQL_TXN_CAPABLE,
        SQL_DEFAULT_TXN_ISOLATION,
        SQL_CURSOR_COMMIT_BEHAVIOR,
        SQL_CURSOR_ROLLBACK_BEHAVIOR,
        SQL_GETDATA_EXTENSIONS,
        SQL_ASYNC_MODE,
        SQL_MAX_IDENTIFIER_LEN,
        SQL_SCROLL_OPTIONS,
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[2400] = "";
        SQLSMALLINT length = -7;
        SQLRETURN rc =
            wide ? SQLGetInfoW(dbc, texts[i], text, sizeof text, &length)
                 : SQLGetInfo(dbc, texts[i], text, sizeof text, &length);
        fprintf(out, "info %d: %d %d ", texts[i], rc, length);
        say_bytes(text, length > 0 ? (size_t)length : 0);
        fputc('\n', out);
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        SQLUINTEGER value = 0;
        SQLRETURN rc = SQLGetInfo(dbc, numbers[i], &value, 4, NULL);
        say("info %d: %d %u", numbers[i], rc, (unsigned)value);
    }
    STMT(SQLGetTypeInfo(stmt, SQL_ALL_TYPES));
    describe(stmt);
    fetch_all(stmt);
}

static void catalog(SQLHSTMT stmt)
{
    SQLCHAR schema[] = "public", plain[] = "pl%", orders[] = "orders",
            leaf[] = "devices_h00", all[] = "%";

    STMT(SQLTables(stmt, NULL, 0, schema, SQL_NTS, plain, SQL_NTS, NULL, 0));
    describe(stmt);
    fetch_all(stmt);
    STMT(SQLTablesW(stmt, NULL, 0, try_utf16("public"), SQL_NTS,
                    try_utf16("ord%"), SQL_NTS, try_utf16("TABLE"), SQL_NTS));
    fetch_all(stmt);
    STMT(SQLColumns(stmt, NULL, 0, schema, SQL_NTS, orders, SQL_NTS, all,
                    SQL_NTS));
    describe(stmt);
    fetch_all(stmt);
    STMT(SQLPrimaryKeys(stmt, NULL, 0, schema, SQL_NTS, leaf, SQL_NTS));
    fetch_all(stmt);
    STMT(SQLStatistics(stmt, NULL, 0, schema, SQL_NTS, leaf, SQL_NTS,
                       SQL_INDEX_UNIQUE, SQL_QUICK));
    fetch_all(stmt);
    STMT(SQLSpecialColumns(stmt, SQL_BEST_ROWID, NULL, 0, schema, SQL_NTS, leaf,
                           SQL_NTS, SQL_SCOPE_SESSION, SQL_NULLABLE));
    fetch_all(stmt);
}

static void parameters(SQLHSTMT stmt)
{
    SQLINTEGER ids[3] = {1, 2, 3};
    char texts[3][24] = {"one", "two, and \xc3\xa9", ""};
    SQLLEN id_lengths[3] = {0, 0, 0},
           text_lengths[3] = {SQL_NTS, SQL_NTS, SQL_NULL_DATA};
    SQLUSMALLINT states[3] = {9, 9, 9};
    SQLULEN done = 0;
    SQLSMALLINT markers = -1;

    exec(stmt, "DELETE FROM plain");
    prepare(stmt, "INSERT INTO plain VALUES (?, ?)");
    STMT(SQLNumParams(stmt, &markers));
    say("    %d markers", markers);
    STMT(SQLBindParameter(stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER, 0,
                          0, ids, 0, id_lengths));
    STMT(SQLBindParameter(stmt, 2, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 24,
                          0, texts, 24, text_lengths));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_PARAMSET_SIZE, (SQLPOINTER)3, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_PARAM_STATUS_PTR, states, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_PARAMS_PROCESSED_PTR, &done, 0));
    STMT(SQLExecute(stmt));
    say("    %lu done: %d %d %d", (unsigned long)done, states[0], states[1],
        states[2]);
    count(stmt);
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_PARAMSET_SIZE, (SQLPOINTER)1, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_PARAM_STATUS_PTR, NULL, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_PARAMS_PROCESSED_PTR, NULL, 0));
    STMT(SQLFreeStmt(stmt, SQL_RESET_PARAMS));
    STMT(SQLExecute(stmt));
}

/* A value that is handed over in pieces. */
static void data_at_execution(SQLHSTMT stmt)
{
    SQLLEN at = SQL_DATA_AT_EXEC;
    SQLPOINTER token = NULL;

    prepare(stmt, "INSERT INTO plain VALUES (77, ?)");
    STMT(SQLBindParameter(stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_LONGVARCHAR,
                          20, 0, (SQLPOINTER)1, 0, &at));
    STMT(SQLExecute(stmt));
    STMT(SQLParamData(stmt, &token));
    say("    token %ld", (long)token);
    STMT(SQLPutData(stmt, (SQLPOINTER) "piece ", 6));
    STMT(SQLPutData(stmt, (SQLPOINTER) "by piece", SQL_NTS));
    STMT(SQLParamData(stmt, &token));
    STMT(SQLFreeStmt(stmt, SQL_RESET_PARAMS));
    exec(stmt, "SELECT t FROM plain WHERE id = 77");
    fetch_all(stmt);
}

static void transactions(SQLHSTMT stmt)
{
    DBC(SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT,
                          (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0));
    exec(stmt, "UPDATE plain SET t = 'uno' WHERE id = 1");
    count(stmt);
    DBC(SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK));
    exec(stmt, "SELECT id, t, length(t) FROM plain ORDER BY id");
    describe(stmt);
    fetch_all(stmt);
    exec(stmt, "DELETE FROM plain WHERE id = 2");
    DBC(SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT));
    exec(stmt, "SELECT * FROM nowhere");
    exec(stmt, "SELECT count(*) FROM plain");
    fetch_all(stmt);
    DBC(SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK));
    DBC(SQLSetConnectAttr(dbc, SQL_ATTR_AUTOCOMMIT,
                          (SQLPOINTER)SQL_AUTOCOMMIT_ON, 0));
}

static void orders(SQLHSTMT stmt, int customer)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "INSERT INTO orders VALUES (%d, 66, 'eu', 1.5, "
             "'2026-05-06 07:08:09')",
             customer);
    exec(stmt, sql);
    count(stmt);
    exec(stmt, sql); /* it is there: 23505 */
    snprintf(sql, sizeof sql,
             "UPDATE orders SET amount = amount * 2 "
             "WHERE customer_id = %d AND id = 66",
             customer);
    exec(stmt, sql);
    count(stmt);
    snprintf(sql, sizeof sql,
             "SELECT * FROM orders WHERE customer_id = %d "
             "ORDER BY id",
             customer);
    exec(stmt, sql);
    describe(stmt);
    fetch_all(stmt);
    snprintf(sql, sizeof sql,
             "DELETE FROM orders WHERE customer_id = %d AND "
             "id = 66",
             customer);
    exec(stmt, sql);
    count(stmt);
}

/* Scrolling, rowsets, a named cursor, and updates through it. */
static void cursors(SQLHSTMT stmt)
{
    SQLINTEGER ids[3] = {0};
    SQLLEN lengths[3];
    SQLULEN fetched = 0;
    SQLUSMALLINT states[3] = {9, 9, 9};
    SQLCHAR name[40] = "";
    SQLSMALLINT length = 0;

    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_CURSOR_TYPE,
                        (SQLPOINTER)SQL_CURSOR_STATIC, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)3, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_ROWS_FETCHED_PTR, &fetched, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_ROW_STATUS_PTR, states, 0));
    STMT(SQLSetCursorName(stmt, (SQLCHAR *)"walker", SQL_NTS));
    STMT(SQLGetCursorName(stmt, name, sizeof name, &length));
    say("    %s %d", (char *)name, length);
    STMT(SQLBindCol(stmt, 1, SQL_C_SLONG, ids, 0, lengths));
    exec(stmt, "SELECT generate_series(1, 10)");
    for (int i = 0; i < 4; i++) {
        static const SQLSMALLINT ways[] = {SQL_FETCH_FIRST, SQL_FETCH_LAST,
                                           SQL_FETCH_ABSOLUTE,
                                           SQL_FETCH_RELATIVE};
        STMT(SQLFetchScroll(stmt, ways[i], i == 2 ? 5 : -2));
        say("    %lu: %d %d %d (%d %d %d)", (unsigned long)fetched, (int)ids[0],
            (int)ids[1], (int)ids[2], states[0], states[1], states[2]);
    }
    STMT(SQLFetchScroll(stmt, SQL_FETCH_ABSOLUTE, 40));
    STMT(SQLCloseCursor(stmt));
    STMT(SQLCloseCursor(stmt));
    STMT(SQLFreeStmt(stmt, SQL_UNBIND));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)1, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_ROWS_FETCHED_PTR, NULL, 0));
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_ROW_STATUS_PTR, NULL, 0));
}

static void errors(SQLHSTMT stmt)
{
    static const char *const texts[] = {
        "SELECT 1 / 0",
        "SELEC 1",
        "SELECT nobody()",
        "SELECT 'x'::int",
        "INSERT INTO plain VALUES ('x', 1)",
        "SELECT pg_sleep('x')",
        "DO $$ BEGIN RAISE WARNING 'beware'; END $$",
        "DO $$ BEGIN RAISE SQLSTATE 'AB123' USING HINT = 'little'; END $$",
    };
    SQLINTEGER value;
    SQLLEN length;

    for (size_t i = 0; i < COUNT(texts); i++) {
        exec(stmt, texts[i]);
        STMT(SQLFreeStmt(stmt, SQL_CLOSE));
    }
    STMT(SQLFetch(stmt));
    STMT(SQLGetData(stmt, 1, SQL_C_SLONG, &value, 0, &length));
    exec(stmt, "SELECT 'a long text' AS t, 1e40::float8");
    STMT(SQLFetch(stmt));
    char cut[5] = "";
    STMT(SQLGetData(stmt, 1, SQL_C_CHAR, cut, sizeof cut, &length));
    say("    '%s' %ld", cut, (long)length);
    STMT(SQLGetData(stmt, 1, SQL_C_CHAR, cut, sizeof cut, &length));
    say("    '%s' %ld", cut, (long)length);
    STMT(SQLGetData(stmt, 2, SQL_C_SLONG, &value, 0, &length));
    STMT(SQLGetData(stmt, 9, SQL_C_SLONG, &value, 0, &length));
    STMT(SQLFreeStmt(stmt, SQL_CLOSE));
    DBC(SQLSetConnectAttr(dbc, 31234, (SQLPOINTER)1, 0));
    DBC(SQLGetConnectAttr(dbc, SQL_ATTR_TXN_ISOLATION, &value, 0, NULL));
}

/* It takes a second: not in every version. */
static void query_timeout(SQLHSTMT stmt)
{
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)1, 0));
    exec(stmt, "SELECT pg_sleep(20)");
    STMT(SQLSetStmtAttr(stmt, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)0, 0));
}

static void program(SQLINTEGER version, int customer)
{
    SQLHSTMT stmt = SQL_NULL_HSTMT;

    DBC(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
    who(stmt);
    catalog(stmt);
    parameters(stmt);
    data_at_execution(stmt);
    transactions(stmt);
    orders(stmt, customer);
    exec(stmt, "SELECT 1; SELECT 2, 'b'; UPDATE plain SET t = t");
    fetch_all(stmt);
    exec(stmt, "SELECT 1::smallint, 2::int, 3::bigint, 4.25::numeric(9,3), "
               "5.5::real, true, 'c'::char(3), date '2026-02-03', "
               "time '01:02:03', timestamp '2026-02-03 04:05:06.789', "
               "'\\x00ff'::bytea, NULL::text, 'e'::varchar(7), "
               "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid");
    describe(stmt);
    fetch_all(stmt);
    errors(stmt);
    if (version == SQL_OV_ODBC3) {
        query_timeout(stmt);
    }
    STMT(SQLFreeHandle(SQL_HANDLE_STMT, stmt));
    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    cursors(stmt);
    exec(stmt, "DELETE FROM plain");
    count(stmt);
    STMT(SQLFreeHandle(SQL_HANDLE_STMT, stmt));
}

/* ---- twice ------------------------------------------------------------- */

/* The protocol; the caller frees it. */
static char *run(SQLINTEGER version, const char *string, int customer)
{
    char *protocol = NULL;
    size_t length;

    try_env = odbc_env(version);
    out = open_memstream(&protocol, &length);
    dbc = try_dbc();
    if (SQL_SUCCEEDED(try_connect(dbc, string, wide))) {
        say("%s", odbc_value(dbc, "SHOW cluster_name"));
        program(version, customer);
        DBC(SQLDisconnect(dbc));
    } else {
        say("%s", odbc_record(SQL_HANDLE_DBC, dbc, 1));
    }
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, try_env);
    fclose(out);
    return protocol;
}

static int lines(const char *text)
{
    int n = 0;

    while (*text) {
        n += *text++ == '\n';
    }
    return n;
}

/* Shows where two protocols part, and the line above. */
static void show_difference(const char *a, const char *b)
{
    const char *line_a = a, *line_b = b, *above = a;

    for (; *a && *a == *b; a++, b++) {
        if (*a == '\n') {
            above = line_a;
            line_a = a + 1;
            line_b = b + 1;
        }
    }
    printf("# after     %.*s\n", (int)strcspn(above, "\n"), above);
    printf("# directly  %.*s\n", (int)strcspn(line_a, "\n"), line_a);
    printf("# switched  %.*s\n", (int)strcspn(line_b, "\n"), line_b);
}

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* In prefer whoever waits in vain for an owner that is late (300 ms, or more)
   goes elsewhere.  Where that may have been so it is run again; whoever is
   elsewhere sooner is there for another reason. */
static char *run_in_time(SQLINTEGER version, const char *string, int customer,
                         const char *instance, double usual)
{
    enum { TRIES = 5, LATE_MS = 300 };
    char *said = NULL;
    double took = usual + LATE_MS;

    for (int i = 0; i < TRIES && took >= usual + LATE_MS &&
                    (!said || strncmp(said, instance, 2) != 0);
         i++) {
        free(said);
        took = now_ms();
        said = run(version, string, customer);
        took = now_ms() - took;
    }
    return said;
}

static void compare(const char *direct, const char *switched,
                    const char *instance, int customer)
{
    static const SQLINTEGER versions[] = {SQL_OV_ODBC2, SQL_OV_ODBC3,
                                          SQL_OV_ODBC3_80};

    for (size_t i = 0; i < 2 * COUNT(versions); i++) {
        char name[160], *a, *b;
        int length;
        double took;

        wide = i % 2;
        took = now_ms();
        a = run(versions[i / 2], direct, customer);
        took = now_ms() - took;
        b = run_in_time(versions[i / 2], switched, customer, instance, took);
        length = lines(a);
        snprintf(name, sizeof name, "%s is as %s: ODBC %d, %s (%d lines)",
                 switched, direct, (int)versions[i / 2],
                 wide ? "wide" : "narrow", length);
        tap_ok(length > 300 && strcmp(a, b) == 0 &&
                   strncmp(b, instance, 2) == 0,
               name, "%d and %d lines, first %.30s", length, lines(b), b);
        if (strcmp(a, b) != 0) {
            show_difference(a, b);
        }
        free(a);
        free(b);
    }
}

int main(void)
{
    /* The narrow values that a wide program binds are read by the locale below,
       and as UTF-8 above (README, limits): the same where that is UTF-8's. */
    setenv("LC_ALL", "C.UTF-8", 1);
    compare("DSN=n1", "DSN=orders;AffinityMode=prefer;AffinityKey=5", "n1", 5);
    compare("DSN=n2", "DSN=orders-strict;AffinityKey=1005", "n2", 1005);
    compare("DSN=n3-ansi",
            "DSN=orders-ansi;AffinityMode=strict;AffinityKey=2005", "n3", 2005);
    return tap_end();
}
