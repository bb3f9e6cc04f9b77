/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The same walk through the whole: application, unixODBC, the built driver,
 * the fake inner driver.  Each function is called as an application may call
 * it, once connected narrow and once wide, and every row of surface.def must
 * have reached the fake, but for those listed here with their reason.
 */
#include "autoconf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake/fake_use.h"
#include "text.h"

static const struct fake_api *fake;
static unsigned planned, failures;

static void result(int ok, const char *name, const char *detail)
{
    printf("%sok %u - %s\n", ok ? "" : "not ", ++planned, name);
    if (!ok) {
        printf("# %s\n", detail);
        failures++;
    }
}

/* ---- what has been reached -------------------------------------------------- */

enum {
#define PLAIN(name, ...) ROW_##name,
#define TEXT(name, ...) ROW_##name, ROW_##name##W,
#include "surface.def"
    ROWS
};

static const char *const names[ROWS] = {
#define PLAIN(name, ...) #name,
#define TEXT(name, ...) #name, #name "W",
#include "surface.def"
};

static int seen[ROWS];

static void look(void)
{
    struct fake_call call;

    for (unsigned i = 0; fake->call(i, &call); i++) {
        for (int row = 0; row < ROWS; row++) {
            if (strcmp(names[row], call.name) == 0) {
                seen[row] = 1;
            }
        }
    }
    fake->forget();
}

/* ---- an application --------------------------------------------------------- */

static SQLHENV env;
static SQLHDBC dbc;
static SQLHSTMT stmt;

static SQLCHAR *in(const char *text)
{
    static SQLCHAR copies[8][128];
    static unsigned turn;
    SQLCHAR *copy = copies[turn++ % 8];

    snprintf((char *)copy, 128, "%s", text);
    return copy;
}

static SQLWCHAR *in_wide(const char *text)
{
    static SQLWCHAR copies[8][128];
    static unsigned turn;
    SQLWCHAR *copy = copies[turn++ % 8];

    text_write(text, strlen(text), copy, 128, TEXT_WIDE, TEXT_CHARACTERS);
    return copy;
}

static void say(SQLSMALLINT type, SQLHANDLE handle)
{
    SQLCHAR state[6], text[512];
    SQLINTEGER native;

    for (SQLSMALLINT i = 1;
         SQL_SUCCEEDED(SQLGetDiagRec(type, handle, i, state, &native, text,
                                     sizeof text, NULL)); i++) {
        printf("# %s %s\n", state, text);
    }
}

static int open_session(int wide)
{
    SQLRETURN rc;

    SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
    SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    rc = wide ?
        SQLDriverConnectW(dbc, NULL, in_wide("DSN=wrapped"), SQL_NTS, NULL, 0,
                          NULL, SQL_DRIVER_NOPROMPT) :
        SQLDriverConnect(dbc, NULL, in("DSN=wrapped"), SQL_NTS, NULL, 0, NULL,
                         SQL_DRIVER_NOPROMPT);
    if (!SQL_SUCCEEDED(rc)) {
        say(SQL_HANDLE_DBC, dbc);
        return 0;
    }
    rc = SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    return SQL_SUCCEEDED(rc);
}

static void close_session(void)
{
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    SQLDisconnect(dbc);
    SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    SQLFreeHandle(SQL_HANDLE_ENV, env);
}

/* Calls the function in the width of the connection. */
#define T(text) (wide ? (void *)in_wide(text) : (void *)in(text))
#define CALL(name, ...) \
    ((wide ? (__typeof__(name##W) *)name##W : \
      (__typeof__(name##W) *)(void *)name)(__VA_ARGS__))

static void use_session(int wide)
{
    SQLWCHAR text[64];
    SQLINTEGER number, length;
    SQLSMALLINT small;

    CALL(SQLSetConnectAttr, dbc, SQL_ATTR_AUTOCOMMIT,
         (SQLPOINTER)SQL_AUTOCOMMIT_ON, 0);
    CALL(SQLGetConnectAttr, dbc, SQL_ATTR_TXN_ISOLATION, &number, 4, &length);
    CALL(SQLGetInfo, dbc, SQL_DBMS_NAME, text, 64, &small);
    CALL(SQLNativeSql, dbc, T("SELECT 1"), SQL_NTS, (void *)text, 32, &length);
    SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT);
}

static void use_parameters(int wide)
{
    SQLSMALLINT small, type, scale, nullable;
    static SQLINTEGER value = 1;
    static SQLLEN given = 4;
    SQLULEN size;

    CALL(SQLPrepare, stmt, T("ROWS 3"), SQL_NTS);
    SQLNumParams(stmt, &small);
    SQLDescribeParam(stmt, 1, &type, &size, &scale, &nullable);
    SQLBindParameter(stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0,
                     &value, 0, &given);
    SQLBindParam(stmt, 1, SQL_C_SLONG, SQL_INTEGER, 0, 0, &value, &given);
    SQLExecute(stmt);
}

static void use_result(int wide)
{
    SQLSMALLINT small, type, scale, nullable;
    static SQLCHAR bound[16];
    static SQLLEN got;
    SQLWCHAR text[64];
    SQLULEN size;
    SQLLEN count;

    SQLNumResultCols(stmt, &small);
    CALL(SQLDescribeCol, stmt, 1, (void *)text, 32, &small, &type, &size,
         &scale, &nullable);
    CALL(SQLColAttribute, stmt, 1, SQL_DESC_LABEL, text, 64, &small, &count);
    SQLBindCol(stmt, 1, SQL_C_CHAR, bound, sizeof bound, &got);
    SQLRowCount(stmt, &count);
    SQLFetch(stmt);
    SQLGetData(stmt, 1, SQL_C_CHAR, bound, sizeof bound, &got);
    SQLFetchScroll(stmt, SQL_FETCH_NEXT, 0);
    SQLSetPos(stmt, 1, SQL_POSITION, SQL_LOCK_NO_CHANGE);
    SQLBulkOperations(stmt, SQL_ADD);
    CALL(SQLGetCursorName, stmt, (void *)text, 32, &small);
    SQLCloseCursor(stmt);
}

static void use_more(int wide)
{
    SQLUSMALLINT status[1];
    SQLPOINTER token;
    SQLULEN rows;

    CALL(SQLSetCursorName, stmt, T("cursor"), SQL_NTS);
    CALL(SQLExecDirect, stmt, T("ROWS 3"), SQL_NTS);
    SQLExtendedFetch(stmt, SQL_FETCH_NEXT, 0, &rows, status);
    SQLMoreResults(stmt);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLExecDirect, stmt, T("INSERT ?"), SQL_NTS);
    SQLParamData(stmt, &token);
    SQLPutData(stmt, in("x"), 1);
    SQLParamData(stmt, &token);
    SQLCancel(stmt);
    SQLFreeStmt(stmt, SQL_UNBIND);
}

static void use_attributes(int wide)
{
    SQLHDESC ard = NULL, other = NULL;
    SQLSMALLINT type, subtype, precision, scale, nullable, small;
    SQLLEN number, size;
    SQLINTEGER length;
    SQLWCHAR text[32];

    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_MAX_ROWS, (SQLPOINTER)7, 0);
    CALL(SQLGetStmtAttr, stmt, SQL_ATTR_MAX_ROWS, &number, 8, &length);
    CALL(SQLGetStmtAttr, stmt, SQL_ATTR_APP_ROW_DESC, &ard, 8, &length);
    SQLAllocHandle(SQL_HANDLE_DESC, dbc, &other);
    CALL(SQLSetDescField, ard, 1, SQL_DESC_TYPE, (SQLPOINTER)SQL_C_CHAR,
         SQL_IS_SMALLINT);
    CALL(SQLGetDescField, ard, 1, SQL_DESC_TYPE, &small, 2, &length);
    SQLSetDescRec(ard, 1, SQL_C_CHAR, 0, 4, 0, 0, NULL, NULL, NULL);
    CALL(SQLGetDescRec, ard, 1, (void *)text, 16, &small, &type, &subtype,
         &size, &precision, &scale, &nullable);
    SQLCopyDesc(ard, other);
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_APP_ROW_DESC, other, 0);
    SQLFreeHandle(SQL_HANDLE_DESC, other);
}

#define NONE NULL, 0

static void use_catalog(int wide)
{
    CALL(SQLTables, stmt, NONE, NONE, T("t"), SQL_NTS, NONE);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLColumns, stmt, NONE, NONE, T("t"), SQL_NTS, NONE);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLTablePrivileges, stmt, NONE, NONE, T("t"), SQL_NTS);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLColumnPrivileges, stmt, NONE, NONE, T("t"), SQL_NTS, NONE);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLPrimaryKeys, stmt, NONE, NONE, T("t"), SQL_NTS);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLForeignKeys, stmt, NONE, NONE, T("t"), SQL_NTS, NONE, NONE, NONE);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLSpecialColumns, stmt, SQL_BEST_ROWID, NONE, NONE, T("t"), SQL_NTS,
         SQL_SCOPE_SESSION, SQL_NULLABLE);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLStatistics, stmt, NONE, NONE, T("t"), SQL_NTS, SQL_INDEX_ALL,
         SQL_QUICK);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLProcedures, stmt, NONE, NONE, NONE);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLProcedureColumns, stmt, NONE, NONE, NONE, NONE);
    SQLFreeStmt(stmt, SQL_CLOSE);
    CALL(SQLGetTypeInfo, stmt, SQL_ALL_TYPES);
    SQLFreeStmt(stmt, SQL_CLOSE);
}

/* An error's records, ours and the inner driver's, in the application's
   hands. */
static void use_diagnostics(int wide)
{
    SQLWCHAR state[6] = { 0 }, text[256] = { 0 };
    SQLINTEGER native = 0;
    SQLSMALLINT length;
    struct text utf8;

    CALL(SQLExecDirect, stmt, T("FAIL 42P01"), SQL_NTS);
    CALL(SQLGetDiagRec, SQL_HANDLE_STMT, stmt, 1, (void *)state, &native,
         (void *)text, 256, &length);
    text_init(&utf8);
    text_append_argument(&utf8, state, SQL_NTS,
                         wide ? TEXT_WIDE : TEXT_NARROW, TEXT_CHARACTERS);
    result(strcmp(text_string(&utf8), "42P01") == 0 && native == 42,
           wide ? "an error's state and native number, wide" :
           "an error's state and native number, narrow", text_string(&utf8));
    text_clear(&utf8);
    text_append_argument(&utf8, text, SQL_NTS,
                         wide ? TEXT_WIDE : TEXT_NARROW, TEXT_CHARACTERS);
    result(strstr(text_string(&utf8), "told to fail") != NULL,
           wide ? "its text, wide" : "its text, narrow", text_string(&utf8));
    text_free(&utf8);
    SQLFreeStmt(stmt, SQL_CLOSE);
}

/* A helper closes the link, after the session. */
static void await_closed(void)
{
    for (int ms = 0; ms < 10000 && fake->live(SQL_HANDLE_DBC) > 0; ms++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}

static void walk(int wide)
{
    if (!open_session(wide)) {
        result(0, wide ? "connects wide" : "connects narrow", "see above");
        return;
    }
    use_session(wide);
    use_parameters(wide);
    use_result(wide);
    use_more(wide);
    use_attributes(wide);
    use_catalog(wide);
    use_diagnostics(wide);
    close_session();
    await_closed();
    look();
}

/* ---- the verdict ------------------------------------------------------------- */

/* Rows of which nothing reaches an inner driver by way of the manager. */
static const struct {
    const char *name, *why;
} exceptions[] = {
    { "SQLGetEnvAttr", "environments are ours" },
    { "SQLConnect", "links are opened by SQLDriverConnect" },
    { "SQLConnectW", "links are opened by SQLDriverConnectW" },
    { "SQLBrowseConnect", "links are opened by SQLDriverConnect" },
    { "SQLBrowseConnectW", "links are opened by SQLDriverConnectW" },
    { "SQLBulkOperations", "the fake says that it has none" },
    { "SQLCancelHandle", "the manager makes SQLCancel of it" },
    { "SQLBindParam", "the manager makes SQLBindParameter of it" },
    { "SQLGetDiagFieldW", "fields are copied by its narrow twin" },
    { "SQLGetDescFieldW", "the manager asks numbers narrow" },
    { "SQLSetDescFieldW", "the manager sets numbers narrow" },
};

static const char *exception(const char *name)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++) {
        if (strcmp(exceptions[i].name, name) == 0) {
            return exceptions[i].why;
        }
    }
    return NULL;
}

int main(void)
{
    use_ini_files();
    fake = use_fake(USE_FAKE);
    walk(0);
    walk(1);
    for (int row = 0; row < ROWS; row++) {
        char name[128];
        const char *why = exception(names[row]);

        if (why && !seen[row]) {
            continue;
        }
        snprintf(name, sizeof name, "%s reaches the inner driver",
                 names[row]);
        result(seen[row], name, "it did not");
    }
    result(fake->mistakes() == 0, "the inner driver saw its own handles only",
           "it was given others");
    printf("1..%u\n", planned);
    use_no_ini_files();
    return failures != 0;
}
