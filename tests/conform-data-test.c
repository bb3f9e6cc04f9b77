/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Values in and out by the book: SQLGetData and its parts, bound columns and
 * parameters, with their lengths, NULLs and truncation.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdio.h>
#include <string.h>

/* ---- SQLGetData -------------------------------------------------------- */

struct part {
    SQLRETURN rc;
    SQLLEN length;
    const char *text;
};

static void fetch_value(const struct book_on *on, const char *sql)
{
    want_rc(sql, book_exec(on, on->stmt, sql), SQL_SUCCESS);
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
}

static void data_parts(const struct book_on *on, const void *row)
{
    static const struct part parts[] = {
        { SQL_SUCCESS_WITH_INFO, 10, "abcd" },
        { SQL_SUCCESS_WITH_INFO, 6, "efgh" },
        { SQL_SUCCESS, 2, "ij" },
        { SQL_NO_DATA, -77, "" },
    };

    (void)row;
    fetch_value(on, "SELECT 'abcdefghij'::text");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        SQLLEN length = -77;
        char text[8] = "";
        char what[20];

        snprintf(what, sizeof what, "part %zu", i + 1);
        want_rc(what,
                on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 5,
                                     &length),
                parts[i].rc);
        want_number(what, length, parts[i].length);
        want_text(what, text, parts[i].text);
        if (parts[i].rc == SQL_SUCCESS_WITH_INFO) {
            want_state(on, what, SQL_HANDLE_STMT, on->stmt, "01004");
        }
    }
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void data_parts_wide(const struct book_on *on, const void *row)
{
    SQLWCHAR text[8] = { 0 };
    SQLLEN length = -77;

    (void)row;
    fetch_value(on, "SELECT 'abcdef'::text");
    want_rc("part 1",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_WCHAR, text, 10, &length),
            SQL_SUCCESS_WITH_INFO);
    want_number("length in bytes", length, 12);
    want("four characters", text[0] == 'a' && text[3] == 'd' && text[4] == 0);
    want_rc("part 2",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_WCHAR, text, 10, &length),
            SQL_SUCCESS);
    want_number("length left", length, 4);
    want("the rest", text[0] == 'e' && text[1] == 'f' && text[2] == 0);
    want_rc("no more",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_WCHAR, text, 10, &length),
            SQL_NO_DATA);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void data_binary(const struct book_on *on, const void *row)
{
    unsigned char bytes[4] = "###";
    SQLLEN length = -77;

    (void)row;
    fetch_value(on, "SELECT decode('0102030405', 'hex')");
    want_rc("part 1",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_BINARY, bytes, 3, &length),
            SQL_SUCCESS_WITH_INFO);
    want_number("length", length, 5);
    want("no terminator", memcmp(bytes, "\1\2\3", 4) == 0);
    want_rc("part 2",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_BINARY, bytes, 3, &length),
            SQL_SUCCESS);
    want_number("length left", length, 2);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void data_no_room(const struct book_on *on, const void *row)
{
    SQLLEN length = -77;
    char text[20] = "#####";

    (void)row;
    fetch_value(on, "SELECT 'abcdef'::text");
    want_rc("BufferLength 0",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 0, &length),
            SQL_SUCCESS_WITH_INFO);
    want_number("tells the length", length, 6);
    want("and writes nothing", text[0] == '#');
    want_rc("then all of it",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 20, &length),
            SQL_SUCCESS);
    want_text("then all of it", text, "abcdef");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    fetch_value(on, "SELECT ''::text");
    want_rc("an empty text",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 20, &length),
            SQL_SUCCESS);
    want_number("has length 0", length, 0);
    want_text("and is terminated", text, "");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void data_null(const struct book_on *on, const void *row)
{
    SQLLEN length = -77;
    char text[20];

    (void)row;
    fetch_value(on, "SELECT NULL::text, NULL::int");
    want_rc("a NULL",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 20, &length),
            SQL_SUCCESS);
    want_number("its indicator", length, SQL_NULL_DATA);
    want_error(on, "a NULL without an indicator",
               on->odbc->SQLGetData(on->stmt, 2, SQL_C_SLONG, text, 0, NULL),
               SQL_HANDLE_STMT, on->stmt, "22002");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void data_numbers(const struct book_on *on, const void *row)
{
    SQLINTEGER number[2] = { 0, 0x23232323 };
    SQLLEN length = -77;
    char text[4] = "";

    (void)row;
    fetch_value(on, "SELECT 123456, 300, 1.75::numeric, 'abc'::text, "
                    "654321");
    want_rc("BufferLength is ignored",
            on->odbc->SQLGetData(on->stmt, 1, SQL_C_SLONG, number, 1, &length),
            SQL_SUCCESS);
    want_number("the number", number[0], 123456);
    want_number("its length", length, 4);
    want("nothing behind it", number[1] == 0x23232323);
    want_error(on, "a number that does not fit a text",
               on->odbc->SQLGetData(on->stmt, 5, SQL_C_CHAR, text, 4, &length),
               SQL_HANDLE_STMT, on->stmt, "22003");
    want_error(on, "a number out of range",
               on->odbc->SQLGetData(on->stmt, 2, SQL_C_STINYINT, text, 0,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "22003");
    want_info(on, "a fraction that is cut",
              on->odbc->SQLGetData(on->stmt, 3, SQL_C_SLONG, number, 0,
                                   &length),
              SQL_HANDLE_STMT, on->stmt, "01S07");
    want_error(on, "a text that is no number",
               on->odbc->SQLGetData(on->stmt, 4, SQL_C_SLONG, number, 0,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "22018");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void data_columns(const struct book_on *on, const void *row)
{
    SQLLEN length;
    char text[20];

    (void)row;
    fetch_value(on, "SELECT 1, 2");
    want_error(on, "column 3",
               on->odbc->SQLGetData(on->stmt, 3, SQL_C_CHAR, text, 20,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "07009");
    want_error(on, "column 0 without bookmarks",
               on->odbc->SQLGetData(on->stmt, 0, SQL_C_BOOKMARK, text, 20,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "07009");
    want_error(on, "a C type that does not exist",
               on->odbc->SQLGetData(on->stmt, 1, 4711, text, 20, &length),
               SQL_HANDLE_STMT, on->stmt, "HY003");
    want_error(on, "a null pointer",
               on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, NULL, 20,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "HY009");
    want_error(on, "a negative room",
               on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, -7,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "HY090");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_rc("a row", book_exec(on, on->stmt, "SELECT 1"), SQL_SUCCESS);
    want_error(on, "before SQLFetch",
               on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 20,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "24000");
    on->odbc->SQLFetch(on->stmt);
    on->odbc->SQLFetch(on->stmt);
    want_error(on, "behind the last row",
               on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, text, 20,
                                    &length),
               SQL_HANDLE_STMT, on->stmt, "24000");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* ---- bound columns ----------------------------------------------------- */

static void bound_truncation(const struct book_on *on, const void *row)
{
    SQLLEN length = -77;
    char text[8];

    (void)row;
    memset(text, '#', sizeof text);
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_CHAR, text, 5, &length);
    book_exec(on, on->stmt, "SELECT 'abcdefghij'::text UNION ALL SELECT NULL");
    want_info(on, "SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_HANDLE_STMT,
              on->stmt, "01004");
    want_text("cut and terminated", text, "abcd");
    want("nothing behind it", text[5] == '#');
    want_number("the length of all", length, 10);
    want_rc("the next row", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    want_number("is NULL", length, SQL_NULL_DATA);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_CHAR, text, 5, NULL);
    book_exec(on, on->stmt, "SELECT NULL::text");
    want_error(on, "a NULL without an indicator",
               on->odbc->SQLFetch(on->stmt), SQL_HANDLE_STMT, on->stmt,
               "22002");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
}

static void unbound(const struct book_on *on, const void *row)
{
    SQLLEN length = -77;
    char text[8] = "#";

    (void)row;
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_CHAR, text, 5, &length);
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_CHAR, NULL, 0, NULL);
    book_exec(on, on->stmt, "SELECT 'a'::text");
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    want("a null pointer has unbound it", text[0] == '#' && length == -77);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* ---- parameters -------------------------------------------------------- */

static void parameter_lengths(const struct book_on *on, const void *row)
{
    static const struct {
        const char *name;
        SQLLEN length;
        const char *wanted;
    } given[] = {
        { "SQL_NTS", SQL_NTS, "abcdef" },
        { "3 bytes", 3, "abc" },
        { "no bytes", 0, "" },
        { "NULL", SQL_NULL_DATA, "(null)" },
    };
    SQLLEN length;

    (void)row;
    on->odbc->SQLBindParameter(on->stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
                               SQL_VARCHAR, 20, 0, (SQLPOINTER)"abcdef", 0,
                               &length);
    want_rc("SQLPrepare",
            TEXT_CALL(on, SQLPrepare)(
                on->stmt, in(on, "SELECT coalesce(?::text, '(null)')"),
                SQL_NTS),
            SQL_SUCCESS);
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        length = given[i].length;
        want_rc(given[i].name, on->odbc->SQLExecute(on->stmt), SQL_SUCCESS);
        want_text(given[i].name, book_value(on), given[i].wanted);
    }
    on->odbc->SQLFreeStmt(on->stmt, SQL_RESET_PARAMS);
    want_error(on, "not bound", on->odbc->SQLExecute(on->stmt),
               SQL_HANDLE_STMT, on->stmt, "07002");
}

/* ---- the rules --------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned ways;
    book_rule *rule;
} rules[] = {
    { "SQLGetData, Comments: Retrieving Variable-Length Data in Parts",
      BOOK_ALL, data_parts },
    { "SQLGetData, Comments: parts of SQL_C_WCHAR, lengths in bytes", BOOK_ALL,
      data_parts_wide },
    { "SQLGetData, Comments: parts of SQL_C_BINARY, no terminator", BOOK_ALL,
      data_binary },
    { "SQLGetData, BufferLength: 0, and empty texts", BOOK_ALL, data_no_room },
    { "SQLGetData, StrLen_or_IndPtr: NULL, 22002", BOOK_ALL, data_null },
    { "Appendix D, Converting Data from SQL to C: numbers", BOOK_ALL,
      data_numbers },
    { "SQLGetData, Diagnostics: 07009, 24000, HY003, HY009, HY090",
      BOOK_MANAGED, data_columns },
    { "SQLFetch, Comments: truncation and NULL in bound columns", BOOK_ALL,
      bound_truncation },
    { "SQLBindCol, Comments: unbinding", BOOK_ALL, unbound },
    { "SQLBindParameter, StrLen_or_IndPtr: SQL_NTS, lengths, NULL; 07002",
      BOOK_ALL, parameter_lengths },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        book_try(BOOK_INNER, rules[i].ways, rules[i].name, rules[i].rule,
                 NULL);
    }
    return book_end();
}
