/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where the ODBC reference is not kept, and why.  What psqlODBC 13.02 does
 * otherwise the wrapper does otherwise, too (promise 1): an application that
 * was written for it must find the same.  What unixODBC 2.3.11 does above us
 * nobody below can mend; that it is its doing is shown by the same rule
 * holding below the manager.
 *
 * Rules and what they miss are patterns, * stands for anything; the first row
 * that fits counts.
 */
#include "autoconf.h"

#include "conform.h"

#include <fnmatch.h>

#define NEW_TYPES "psqlODBC does not know this information type"
#define DM_CUTS \
    "unixODBC answers it; it cuts without a record, and one character early"

#define WIDE_TEXT \
    "psqlODBC's wide functions convert what the narrow ones gave, and do not " \
    "see that it was cut"

#define S_TABLE "Appendix B, Statement Transitions: "

static const struct {
    enum book_by by;
    const char *rule, *miss, *reason;
} deviations[] = {
    { BOOK_BY_MANAGER, "SQLGetDiagField, Header Fields: *",
      "RecNumber is ignored for header fields: SQL_ERROR, not SQL_SUCCESS",
      "unixODBC wants record 0 for them" },
    { BOOK_BY_MANAGER, "SQLGetDiagField, Header Fields: those of statements *",
      "header field *: SQL_SUCCESS, not SQL_ERROR",
      "unixODBC answers dynamic functions itself, for any handle" },
    { BOOK_BY_MANAGER, "SQLGetDiagField, Record Fields: NATIVE, *",
      "*", "unixODBC knows rows and columns of statements only" },
    { BOOK_BY_MANAGER, "SQLGetDiagField, SQL_DIAG_RETURNCODE: *",
      "n*: 0, not *", "unixODBC answers it, and notes only what has records" },
    { BOOK_BY_PSQLODBC, "SQLGetDiagField, Record Fields: CLASS_ORIGIN, *",
      "*: '', not *", "psqlODBC says nothing of origins" },
    { BOOK_BY_PSQLODBC, "Diagnostics*: *", "*: SQLSTATE *, not none",
      "psqlODBC tells of a statement's failure on the connection, too" },
    { BOOK_BY_PSQLODBC, "SQLGetDiagField, SQL_DIAG_ROW_COUNT: *", "*: 0, not 3",
      "psqlODBC counts only in SQLRowCount" },
    { BOOK_BY_PSQLODBC, "SQLGetDiagField, SQL_DIAG_DYNAMIC_FUNCTION: *", "*",
      "psqlODBC does not tell the kind of a statement" },
    { BOOK_BY_PSQLODBC, "SQLGetDiag*", "*",
      "psqlODBC divides a message into as many records as the buffer for the "
      "first needs, and knows few fields" },
    { BOOK_BY_PSQLODBC, "SQLGetInfo, Information Types: *",
      "cut and terminated: *", "psqlODBC leaves what it cuts in a wide buffer "
      "without a terminator" },
    { BOOK_BY_PSQLODBC, "SQLGetInfo, Information Types: SQL_C[OU]*_[DYS]*", "*",
      NEW_TYPES },
    { BOOK_BY_PSQLODBC, "SQLGetInfo, Information Types: SQL_DATETIME_LITERALS",
      "*", NEW_TYPES },
    { BOOK_BY_PSQLODBC, "SQLGetInfo, Information Types: SQL_MAX_ASYNC_*", "*",
      NEW_TYPES },
    { BOOK_BY_PSQLODBC, "SQLGetInfo, Information Types: SQL_STANDARD_CLI_*",
      "*", NEW_TYPES },
    { BOOK_BY_MANAGER, "SQLGetInfo, Information Types: SQL_DATA_SOURCE_NAME",
      "*", DM_CUTS },
    { BOOK_BY_MANAGER, "SQLGetInfo, Information Types: SQL_DM_VER", "*",
      DM_CUTS },
    { BOOK_BY_MANAGER, "SQLGetInfo, Information Types: SQL_ODBC_VER", "*",
      DM_CUTS },
    { BOOK_BY_MANAGER, "SQLGetInfo, Information Types: SQL_XOPEN_CLI_YEAR",
      "*", DM_CUTS },
    { BOOK_BY_PSQLODBC, "SQLGetInfo, Diagnostics: HY096",
      "9999: SQLSTATE HYC00, *", "psqlODBC's word for a type it does not know" },
    { BOOK_BY_US, "Interface Conformance Levels, Core: *",
      "function 10[01][98]: 0, not 1",
      "psqlODBC has no SQLGetDescRec and SQLSetDescRec to speak of" },
    { BOOK_BY_MANAGER, "SQLGetFunctions, Diagnostics: HY095, HY009",
      "a null pointer: SQL_SUCCESS, not SQL_ERROR",
      "unixODBC answers it and writes nothing" },
    { BOOK_BY_PSQLODBC, "Appendix B, Connection Transitions: C6, *",
      "SQLDisconnect: SQL_SUCCESS, not SQL_ERROR",
      "psqlODBC lets an open transaction be rolled back by the server" },
    { BOOK_BY_US, "SQLDriverConnect, Connection Strings: the first of two *",
      "the key: '8', not '7'",
      "unixODBC and psqlODBC take the last, and so must we" },
    { BOOK_BY_PSQLODBC, "SQLDriverConnect, Diagnostics: 01S00", "*",
      "psqlODBC ignores keywords that it does not know" },
    { BOOK_BY_MANAGER, "SQLGetConnectAttr, Comments: SQL_ATTR_LOGIN_TIMEOUT *",
      "its default: 15, not 0", "unixODBC's default" },
    { BOOK_BY_MANAGER, "SQLGetConnectAttr, Comments: SQL_ATTR_CONNECTION_*",
      "*", "unixODBC does not tell it before connecting" },
    { BOOK_BY_MANAGER, "SQLGetConnectAttr, Comments: SQL_ATTR_METADATA_ID *",
      "*", "unixODBC does not tell it before connecting" },
    { BOOK_BY_MANAGER, "SQLGetConnectAttr, Comments: SQL_ATTR_QUIET_MODE *",
      "*", "unixODBC does not tell it before connecting, or cuts the handle" },
    { BOOK_BY_PSQLODBC, "SQLSet*Attr, * Attributes: *",
      "not so: all of its bytes",
      "psqlODBC writes four bytes where SQLULEN has eight" },
    { BOOK_BY_PSQLODBC, "SQLSetStmtAttr, Statement Attributes: SQL_ATTR_C*",
      "*", "psqlODBC knows cursors by SQL_ATTR_CURSOR_TYPE only" },
    { BOOK_BY_PSQLODBC, "SQLSetStmtAttr, Statement Attributes: SQL_ATTR_SIM*",
      "setting: SQL_ERROR, *", "psqlODBC does not simulate cursors" },
    { BOOK_BY_PSQLODBC, "SQLSet*Attr and SQLGet*Attr, Diagnostics",
      "*: SQLSTATE HYC00, not HY092", "psqlODBC's word for one it does not "
      "know" },
    { BOOK_BY_PSQLODBC, "SQLSet*Attr and SQLGet*Attr, Diagnostics",
      "SQL_ATTR_AUTOCOMMIT 7: SQLSTATE HY009, *", "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "SQLSetStmtAttr and SQLGetStmtAttr, Diagnostics",
      "SQL_ATTR_ROW_NUMBER without a cursor: SQLSTATE 07005, *",
      "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "SQLSetStmtAttr and SQLGetStmtAttr, Diagnostics",
      "SQL_ATTR_CURSOR_TYPE 77: SQL_SUCCESS_WITH_INFO, *",
      "psqlODBC takes another cursor instead" },
    { BOOK_BY_PSQLODBC, "SQLSetStmtAttr, Diagnostics: 24000 *", "*",
      "psqlODBC leaves it to the manager" },
    { BOOK_BY_PSQLODBC, "SQL*: lengths and truncation", "value null: *",
      WIDE_TEXT },
    { BOOK_BY_PSQLODBC, "SQL*: lengths and truncation", "length, value null*",
      WIDE_TEXT },
    { BOOK_BY_PSQLODBC, "SQL*: lengths and truncation",
      "one character too few: *", WIDE_TEXT },
    { BOOK_BY_PSQLODBC, "SQL*: lengths and truncation", "cut and terminated: *",
      WIDE_TEXT },
    { BOOK_BY_PSQLODBC, "SQLTables and others, Arguments: *",
      "SQLPrimaryKeys without a table: SQLSTATE HY000, *",
      "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "SQL*", "a NULL without an indicator: SQLSTATE HY000, *",
      "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "Appendix D, Converting Data from SQL to C: numbers",
      "*", "psqlODBC converts what it can and looks at no range" },
    { BOOK_BY_MANAGER, S_TABLE "*", "S5: SQLSTATE HY010, not 24000",
      "unixODBC's word for it" },
    { BOOK_BY_MANAGER, S_TABLE "*", "S[24]: SQLSTATE 07009, not 07005*",
      "psqlODBC is asked, and its word for it" },
    { BOOK_BY_MANAGER, S_TABLE "SQL*Fetch*", "S4: SQL_NO_DATA, not SQL_ERROR",
      "unixODBC asks psqlODBC, which has no more rows" },
    { BOOK_BY_MANAGER, S_TABLE "SQLCloseCursor*",
      "S4: SQL_SUCCESS, not SQL_ERROR", "unixODBC lets it pass" },
    { BOOK_BY_MANAGER, S_TABLE "SQLExecute*", "S4: SQL_SUCCESS, not SQL_ERROR",
      "unixODBC lets it pass, and psqlODBC executes it again" },
    { BOOK_BY_MANAGER, S_TABLE "S8 to S10 *",
      "SQLDisconnect: SQL_SUCCESS, not SQL_ERROR", "unixODBC lets it pass" },
    { BOOK_BY_PSQLODBC, "SQLSetDescField, Fields: SQL_DESC_ALLOC_TYPE", "*",
      "psqlODBC does not tell it" },
    { BOOK_BY_PSQLODBC, "Descriptor Handles: an explicit one outlives *", "*",
      "psqlODBC sets no fields of an explicit descriptor" },
    { BOOK_BY_PSQLODBC, "SQLBindCol, Binding and Descriptors",
      "unbound: 2, not 0", "psqlODBC keeps SQL_DESC_COUNT" },
    { BOOK_BY_PSQLODBC, "SQLGetDescField, IRD: *",
      "a record behind the last: SQL_ERROR, not SQL_NO_DATA",
      "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "SQLGetDescField, IRD: *", "*: SQLSTATE *",
      "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "SQLSetDescField and SQLGetDescField, Diagnostics: *",
      "*", "psqlODBC's words for it, and it checks no types" },
    { BOOK_BY_PSQLODBC, "SQLSetDescRec and SQLGetDescRec", "*",
      "psqlODBC has them not" },
    { BOOK_BY_PSQLODBC, "SQLCopyDesc, Comments",
      "to an IRD: SQLSTATE HY000, not HY016", "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, S_TABLE "S3, SQLExecDirect ends it",
      "SQLExecute: SQL_SUCCESS, not SQL_ERROR",
      "psqlODBC executes again whatever was executed last" },
    { BOOK_BY_PSQLODBC, S_TABLE "S3, a catalog function ends it",
      "SQLExecute: SQLSTATE HY001, not HY010", "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "SQLGetData, Comments: parts of SQL_C_WCHAR, *", "*",
      "the ANSI psqlODBC has no wide type" },
    { BOOK_BY_PSQLODBC, "SQLGetInfo, Information Types: SQL_CONVERT_W*", "*",
      "the ANSI psqlODBC has no wide type" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLBindCol, column 0",
      "the call: SQLSTATE *", "psqlODBC gives a record without a state" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLColAttribute, FieldIdentifier",
      "the call: SQLSTATE HY092, *", "psqlODBC's word for it" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLGetTypeInfo, DataType",
      "*", "psqlODBC answers with no rows" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLSetCursorName, an empty name",
      "*", "psqlODBC takes any name" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLSetCursorName, a reserved name",
      "*", "psqlODBC takes any name" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLSetCursorName, NameLength",
      "*", "the word of whoever finds it" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLSetStmtAttr, SQL_ATTR_ROW_ARRAY_*",
      "*", "psqlODBC takes any size" },
    { BOOK_BY_PSQLODBC, "Diagnostics of SQLSetStmtAttr, a descriptor that is *",
      "*", "unixODBC's word for it" },
    { BOOK_BY_MANAGER, "SQLSetConnectAttr, Comments: attributes outlast *",
      "it holds: 1, not 0", "unixODBC frees the driver's handle between" },
    { BOOK_BY_US, "SQLSetConnectAttr, Comments: attributes outlast *",
      "it holds: 1, not 0",
      "only what was set before connecting is set again, as under unixODBC" },
};

const char *book_deviation(const char *rule, const char *miss, unsigned by)
{
    for (size_t i = 0; i < sizeof deviations / sizeof deviations[0]; i++) {
        if ((deviations[i].by & by) &&
            fnmatch(deviations[i].rule, rule, 0) == 0 &&
            fnmatch(deviations[i].miss, miss, 0) == 0) {
            return deviations[i].reason;
        }
    }
    return NULL;
}
