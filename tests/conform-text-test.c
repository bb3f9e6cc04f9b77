/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Text in and out of statements by the book: SQL_NTS and explicit lengths,
 * null pointers, buffers that are too small or have no room, and needed lengths
 * in characters or bytes.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text that goes in ------------------------------------------------- */

static void explicit_length(const struct book_on *on, const void *row)
{
    (void)row;
    want_rc("SQLExecDirect",
            TEXT_CALL(on, SQLExecDirect)(on->stmt, in(on, "SELECT 12345"), 10),
            SQL_SUCCESS);
    want_text("reads no further", book_value(on), "123");
    want_rc("SQLPrepare",
            TEXT_CALL(on, SQLPrepare)(on->stmt, in(on, "SELECT 12345"), 9),
            SQL_SUCCESS);
    want_rc("SQLExecute", on->odbc->SQLExecute(on->stmt), SQL_SUCCESS);
    want_text("reads no further", book_value(on), "12");
}

/* The text ends where its memory ends, which valgrind and AddressSanitizer
   watch: explicit lengths must not look for a terminator. */
static void no_terminator(const struct book_on *on, const void *row)
{
    const char *sql = row;
    size_t bytes = strlen(sql) * unit(on);
    char *exact = malloc(bytes);

    memcpy(exact, in(on, sql), bytes);
    want_rc("SQLExecDirect",
            TEXT_CALL(on, SQLExecDirect)(on->stmt, (void *)exact,
                                         (SQLINTEGER)strlen(sql)),
            SQL_SUCCESS);
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    free(exact);
}

static void wrong_lengths(const struct book_on *on, const void *row)
{
    (void)row;
    want_error(on, "SQLExecDirect, 0",
               TEXT_CALL(on, SQLExecDirect)(on->stmt, in(on, "SELECT 1"), 0),
               SQL_HANDLE_STMT, on->stmt, "HY090");
    want_error(on, "SQLPrepare, -7",
               TEXT_CALL(on, SQLPrepare)(on->stmt, in(on, "SELECT 1"), -7),
               SQL_HANDLE_STMT, on->stmt, "HY090");
    want_error(on, "SQLExecDirect, a null pointer",
               TEXT_CALL(on, SQLExecDirect)(on->stmt, NULL, SQL_NTS),
               SQL_HANDLE_STMT, on->stmt, "HY009");
    want_error(on, "SQLTables, -7",
               TEXT_CALL(on, SQLTables)(on->stmt, NULL, 0, NULL, 0,
                                        in(on, "orders"), -7, NULL, 0),
               SQL_HANDLE_STMT, on->stmt, "HY090");
    want_error(on, "SQLSetCursorName, a null pointer",
               TEXT_CALL(on, SQLSetCursorName)(on->stmt, NULL, SQL_NTS),
               SQL_HANDLE_STMT, on->stmt, "HY009");
}

static void catalog_arguments(const struct book_on *on, const void *row)
{
    SQLLEN length;
    char name[100] = "";

    (void)row;
    want_rc("SQL_NTS",
            TEXT_CALL(on, SQLTables)(on->stmt, NULL, 0, in(on, "public"),
                                     SQL_NTS, in(on, "ordersXX"), 6, NULL, 0),
            SQL_SUCCESS);
    want_rc("a row", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    on->odbc->SQLGetData(on->stmt, 3, SQL_C_CHAR, name, sizeof name, &length);
    want_text("its name", name, "orders");
    want_rc("no other", on->odbc->SQLFetch(on->stmt), SQL_NO_DATA);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_rc("a table that does not exist",
            TEXT_CALL(on, SQLColumns)(on->stmt, NULL, 0, NULL, 0,
                                      in(on, "nowhere"), SQL_NTS, NULL, 0),
            SQL_SUCCESS);
    want_rc("has no columns", on->odbc->SQLFetch(on->stmt), SQL_NO_DATA);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_error(on, "SQLPrimaryKeys without a table",
               TEXT_CALL(on, SQLPrimaryKeys)(on->stmt, NULL, 0, NULL, 0, NULL,
                                             0),
               SQL_HANDLE_STMT, on->stmt, "HY009");
}

/* ---- text that comes out ----------------------------------------------- */

/* One function with a text out: its value into `text` of `size` units (of
   bytes, where the function counts bytes), the length into *length. */
struct source {
    const char *name;
    SQLRETURN (*get)(const struct book_on *on, void *text, SQLSMALLINT size,
                     SQLSMALLINT *length);
    bool bytes;
    const char *wanted;
};

static SQLRETURN get_column_name(const struct book_on *on, void *text,
                                 SQLSMALLINT size, SQLSMALLINT *length)
{
    return TEXT_CALL(on, SQLDescribeCol)(on->stmt, 1, text, size, length, NULL,
                                         NULL, NULL, NULL);
}

static SQLRETURN get_label(const struct book_on *on, void *text,
                           SQLSMALLINT size, SQLSMALLINT *length)
{
    return TEXT_CALL(on, SQLColAttribute)(on->stmt, 1, SQL_DESC_LABEL, text,
                                          size, length, NULL);
}

static SQLRETURN get_cursor_name(const struct book_on *on, void *text,
                                 SQLSMALLINT size, SQLSMALLINT *length)
{
    return TEXT_CALL(on, SQLGetCursorName)(on->stmt, text, size, length);
}

static SQLRETURN get_native(const struct book_on *on, void *text,
                            SQLSMALLINT size, SQLSMALLINT *length)
{
    SQLINTEGER needed = -1;
    SQLRETURN rc = TEXT_CALL(on, SQLNativeSql)(
        on->dbc, in(on, "SELECT 'abc'"), SQL_NTS, text, size,
        length ? &needed : NULL);

    if (length) {
        *length = (SQLSMALLINT)needed;
    }
    return rc;
}

static SQLRETURN get_native_ours(const struct book_on *on, void *text,
                                 SQLSMALLINT size, SQLSMALLINT *length)
{
    SQLINTEGER needed = -1;
    SQLRETURN rc = TEXT_CALL(on, SQLNativeSql)(
        on->dbc, in(on, "SHOW AFFINITY"), SQL_NTS, text, size,
        length ? &needed : NULL);

    if (length) {
        *length = (SQLSMALLINT)needed;
    }
    return rc;
}

static SQLRETURN get_desc_name(const struct book_on *on, void *text,
                               SQLSMALLINT size, SQLSMALLINT *length)
{
    SQLHDESC ird = SQL_NULL_HDESC;
    SQLINTEGER needed = -1;
    SQLRETURN rc;

    on->odbc->SQLGetStmtAttr(on->stmt, SQL_ATTR_IMP_ROW_DESC, &ird, 0, NULL);
    rc = TEXT_CALL(on, SQLGetDescField)(ird, 1, SQL_DESC_NAME, text, size,
                                        length ? &needed : NULL);
    if (length) {
        *length = (SQLSMALLINT)needed;
    }
    return rc;
}

static const struct source sources[] = {
    { "SQLDescribeCol, ColumnName", get_column_name, false, "somename" },
    { "SQLColAttribute, CharacterAttributePtr", get_label, true, "somename" },
    { "SQLGetCursorName, CursorName", get_cursor_name, false, "somecursor" },
    { "SQLNativeSql, OutStatementText", get_native, false, "SELECT 'abc'" },
    { "SQLNativeSql, OutStatementText, a command of ours", get_native_ours,
      false, "SHOW AFFINITY" },
    { "SQLGetDescField, ValuePtr, SQL_DESC_NAME", get_desc_name, true,
      "somename" },
};

static void text_out(const struct book_on *on, const void *row)
{
    const struct source *s = row;
    SQLSMALLINT u = (SQLSMALLINT)(s->bytes ? unit(on) : 1);
    SQLSMALLINT all = (SQLSMALLINT)(strlen(s->wanted) * (size_t)u);
    SQLSMALLINT length = -77;
    SQLWCHAR text[64];

    TEXT_CALL(on, SQLSetCursorName)(on->stmt, in(on, "somecursor"), SQL_NTS);
    book_exec(on, on->stmt, "SELECT 1 AS somename");
    blot(text, sizeof text);
    want_rc("with room", s->get(on, text, (SQLSMALLINT)(64 * u), &length),
            SQL_SUCCESS);
    want_text("value", out(on, text), s->wanted);
    want_number("length", length, all);
    want_rc("length null", s->get(on, text, (SQLSMALLINT)(64 * u), NULL),
            SQL_SUCCESS);
    length = -77;
    want_rc("value null", s->get(on, NULL, 0, &length), SQL_SUCCESS);
    want_number("length, value null", length, all);
    blot(text, sizeof text);
    want_rc("exact room", s->get(on, text, (SQLSMALLINT)(all + u), &length),
            SQL_SUCCESS);
    want_text("exact room", out(on, text), s->wanted);
    blot(text, sizeof text);
    length = -77;
    want_rc("one character too few", s->get(on, text, all, &length),
            SQL_SUCCESS_WITH_INFO);
    want_number("length of all, cut", length, all);
    want("nothing behind the room",
         ((char *)text)[strlen(s->wanted) * unit(on)] == '#');
    text[63] = 0;
    want_number("cut and terminated", (long long)strlen(out(on, text)),
                (long long)strlen(s->wanted) - 1);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void text_out_warns(const struct book_on *on, const void *row)
{
    const struct source *s = row;
    bool native = s->get == get_native || s->get == get_native_ours;
    SQLSMALLINT length;
    SQLWCHAR text[64];

    TEXT_CALL(on, SQLSetCursorName)(on->stmt, in(on, "somecursor"), SQL_NTS);
    book_exec(on, on->stmt, "SELECT 1 AS somename");
    s->get(on, text, 4, &length);
    if (s->get != get_desc_name) {
        want_state(on, "room of 4",
                   native ? SQL_HANDLE_DBC : SQL_HANDLE_STMT,
                   native ? on->dbc : on->stmt, "01004");
    }
    if (s->get == get_native_ours || !on->below) {
        /* psqlODBC itself takes it for a size to allocate */
        want_rc("a negative room", s->get(on, text, -1, &length), SQL_ERROR);
    }
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

/* ---- the rules --------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned ways;
    book_rule *rule;
} rules[] = {
    { "SQLExecDirect and SQLPrepare, TextLength: explicit", BOOK_ALL,
      explicit_length },
    { "SQLExecDirect and others, Diagnostics: HY009, HY090", BOOK_MANAGED,
      wrong_lengths },
    { "SQLTables and others, Arguments: lengths, null pointers", BOOK_ALL,
      catalog_arguments },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        book_try(BOOK_INNER, rules[i].ways, rules[i].name, rules[i].rule,
                 NULL);
    }
    /* psqlODBC's narrow SQLExecDirect reads a byte too many itself */
    book_try(BOOK_INNER, BOOK_WIDE | BOOK_LOW_WIDE,
             "Using Length/Indicator Values: no terminator is looked for",
             no_terminator, "SELECT 42");
    book_try(BOOK_OURS, BOOK_ALL,
             "Using Length/Indicator Values: nor in a command of ours",
             no_terminator, "SHOW AFFINITY");
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        char name[160];
        enum book_whose whose = sources[i].get == get_native_ours
                                    ? BOOK_OURS
                                    : BOOK_INNER;

        snprintf(name, sizeof name, "%s: lengths and truncation",
                 sources[i].name);
        book_try(whose, BOOK_ALL, name, text_out, &sources[i]);
        snprintf(name, sizeof name, "%s: 01004, HY090", sources[i].name);
        book_try(whose, BOOK_ALL, name, text_out_warns, &sources[i]);
    }
    return book_end();
}
