/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Diagnostics by the book: SQLGetDiagRec and SQLGetDiagField, header and
 * record fields, over a record of the inner driver's and over one of ours.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdio.h>
#include <string.h>

#include "affinity_odbc.h"

/* ---- where records come from ------------------------------------------- */

/* A call that fails, and the handle that has its records. */
struct failure {
    const char *name;
    SQLSMALLINT type;
    SQLHANDLE (*fail)(const struct book_on *on);
    const char *state;
    unsigned ways;
};

static SQLHANDLE fail_server(const struct book_on *on)
{
    want_rc("SQLExecDirect", book_exec(on, on->stmt, "SELECT 1/0"), SQL_ERROR);
    return on->stmt;
}

static SQLHANDLE fail_command(const struct book_on *on)
{
    want_rc("SQLExecDirect", book_exec(on, on->stmt, "SHOW AFFINITY NONSENSE"),
            SQL_ERROR);
    return on->stmt;
}

static SQLHANDLE fail_attribute(const struct book_on *on)
{
    want_rc("SQLSetConnectAttr",
            TEXT_CALL(on, SQLSetConnectAttr)(on->dbc,
                                             SQL_ATTR_AFFINITY_INSTANCE,
                                             in(on, "n1"), SQL_NTS),
            SQL_ERROR);
    return on->dbc;
}

static SQLHANDLE fail_inner_attribute(const struct book_on *on)
{
    want_rc("SQLSetConnectAttr",
            TEXT_CALL(on, SQLSetConnectAttr)(on->dbc, 29999, (SQLPOINTER)1,
                                             SQL_IS_INTEGER),
            SQL_ERROR);
    return on->dbc;
}

static SQLHANDLE fail_env(const struct book_on *on)
{
    want_rc("SQLSetEnvAttr",
            on->odbc->SQLSetEnvAttr(on->env, 29999, (SQLPOINTER)1, 0),
            SQL_ERROR);
    return on->env;
}

static SQLHANDLE warn_attribute(const struct book_on *on)
{
    SQLWCHAR text[8];
    SQLINTEGER length;

    want_rc("SQLGetConnectAttr",
            TEXT_CALL(on, SQLGetConnectAttr)(
                on->dbc, SQL_ATTR_AFFINITY_VERDICT, text, 8, &length),
            SQL_SUCCESS_WITH_INFO);
    return on->dbc;
}

static SQLHDESC ard(const struct book_on *on)
{
    SQLHDESC desc = SQL_NULL_HDESC;

    want_rc("SQLGetStmtAttr",
            TEXT_CALL(on, SQLGetStmtAttr)(on->stmt, SQL_ATTR_APP_ROW_DESC,
                                          &desc, 0, NULL),
            SQL_SUCCESS);
    return desc;
}

static SQLHANDLE fail_desc(const struct book_on *on)
{
    SQLHDESC desc = ard(on);

    want_rc("SQLFreeHandle", on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, desc),
            SQL_ERROR);
    return desc;
}

static SQLHANDLE fail_inner_desc(const struct book_on *on)
{
    SQLHDESC desc = ard(on);

    want_rc("SQLSetDescField",
            TEXT_CALL(on, SQLSetDescField)(desc, 1, 4711, (SQLPOINTER)1, 0),
            SQL_ERROR);
    return desc;
}

static const struct failure failures[] = {
    { "a server's error", SQL_HANDLE_STMT, fail_server, "22012", BOOK_ALL },
    { "an SQL command of ours", SQL_HANDLE_STMT, fail_command, "42000",
      BOOK_ALL },
    { "an attribute of ours", SQL_HANDLE_DBC, fail_attribute, "HY092",
      BOOK_ALL },
    { "an attribute that psqlODBC does not know", SQL_HANDLE_DBC,
      fail_inner_attribute, "HY092 HYC00", BOOK_ALL },
    /* the manager answers for its own environment */
    { "an environment's attribute", SQL_HANDLE_ENV, fail_env, "HY092",
      BOOK_BELOW },
    { "a descriptor of a statement", SQL_HANDLE_DESC, fail_desc, "HY017",
      BOOK_BELOW },
    { "a descriptor's field", SQL_HANDLE_DESC, fail_inner_desc,
      "07009 HY091 HY092", BOOK_ALL },
    { "a warning of ours", SQL_HANDLE_DBC, warn_attribute, "01004", BOOK_ALL },
};

enum { FAILURES = sizeof failures / sizeof failures[0] };

static SQLRETURN returned(const struct failure *f)
{
    return strncmp(f->state, "01", 2) == 0 ? SQL_SUCCESS_WITH_INFO : SQL_ERROR;
}

/* ---- reading ----------------------------------------------------------- */

static SQLRETURN field(const struct book_on *on, const struct failure *f,
                       SQLHANDLE handle, SQLSMALLINT number, SQLSMALLINT id,
                       void *value, SQLSMALLINT size, SQLSMALLINT *length)
{
    return TEXT_CALL(on, SQLGetDiagField)(f->type, handle, number, id, value,
                                          size, length);
}

static SQLRETURN record(const struct book_on *on, const struct failure *f,
                        SQLHANDLE handle, SQLSMALLINT number, void *state,
                        SQLINTEGER *native, void *text, SQLSMALLINT size,
                        SQLSMALLINT *length)
{
    return TEXT_CALL(on, SQLGetDiagRec)(f->type, handle, number, state, native,
                                        text, size, length);
}

static int count_records(const struct book_on *on, const struct failure *f,
                         SQLHANDLE handle)
{
    int count = 0;

    while (count < 50 && *book_state(on, f->type, handle,
                                     (SQLSMALLINT)(count + 1))) {
        count++;
    }
    return count;
}

/* ---- SQLGetDiagRec ----------------------------------------------------- */

static void rec_parts(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    SQLWCHAR state[8], text[600];
    SQLSMALLINT length = -1, again = -1;
    SQLINTEGER native = -77;

    blot(state, sizeof state);
    want_rc("record 1",
            record(on, f, handle, 1, state, &native, text, 600, &length),
            SQL_SUCCESS);
    want("SQLSTATE is one that is due", strstr(f->state, out(on, state)));
    want("nothing behind SQLSTATE's terminator",
         ((char *)state)[6 * unit(on)] == '#');
    want_number("TextLength", length, (long long)strlen(out(on, text)));
    want_rc("any pointer may be null",
            record(on, f, handle, 1, NULL, NULL, NULL, 0, NULL), SQL_SUCCESS);
    want_rc("MessageText null",
            record(on, f, handle, 1, state, &native, NULL, 0, &again),
            SQL_SUCCESS);
    want_number("TextLength, MessageText null", again, length);
}

static void rec_truncation(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    SQLWCHAR whole[600], text[600];
    SQLSMALLINT length = -1, all = -1;

    record(on, f, handle, 1, NULL, NULL, whole, 600, &all);
    blot(text, sizeof text);
    want_rc("room for 9 and the terminator",
            record(on, f, handle, 1, NULL, NULL, text, 10, &length),
            SQL_SUCCESS_WITH_INFO);
    want_number("TextLength is all there is", length, all);
    want_number("cut and terminated", (long long)strlen(out(on, text)), 9);
    want("the beginning", strncmp(out(on, text), out(on, whole), 9) == 0);
    want("nothing behind it", ((char *)text)[10 * unit(on)] == '#');
    blot(text, sizeof text);
    want_rc("exact room",
            record(on, f, handle, 1, NULL, NULL, text,
                   (SQLSMALLINT)(all + 1), &length),
            SQL_SUCCESS);
    want_text("exact room", out(on, text), out(on, whole));
    want_rc("one too few",
            record(on, f, handle, 1, NULL, NULL, text, all, &length),
            SQL_SUCCESS_WITH_INFO);
    blot(text, sizeof text);
    want_rc("no room",
            record(on, f, handle, 1, NULL, NULL, text, 0, &length),
            SQL_SUCCESS_WITH_INFO);
    want("no room, nothing written", ((char *)text)[0] == '#');
    want_rc("a negative room",
            record(on, f, handle, 1, NULL, NULL, text, -1, &length), SQL_ERROR);
}

static void rec_numbers(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    int count = count_records(on, f, handle);
    SQLWCHAR state[6];

    want("there are records", count > 0);
    want_rc("record 0",
            record(on, f, handle, 0, state, NULL, NULL, 0, NULL), SQL_ERROR);
    want_rc("record -1",
            record(on, f, handle, -1, state, NULL, NULL, 0, NULL), SQL_ERROR);
    want_rc("one behind the last",
            record(on, f, handle, (SQLSMALLINT)(count + 1), state, NULL, NULL,
                   0, NULL),
            SQL_NO_DATA);
    want_rc("32767",
            record(on, f, handle, 32767, state, NULL, NULL, 0, NULL),
            SQL_NO_DATA);
    want_number("none has been consumed", count_records(on, f, handle), count);
    want_state(on, "nor any posted by SQLGetDiagRec", f->type, handle,
               f->state);
}

/* ---- SQLGetDiagField: the header --------------------------------------- */

static void header_number(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    SQLINTEGER count[2] = { 0x23232323, 0x23232323 };

    want_rc("SQL_DIAG_NUMBER",
            field(on, f, handle, 0, SQL_DIAG_NUMBER, count, SQL_IS_INTEGER,
                  NULL),
            SQL_SUCCESS);
    want_number("SQL_DIAG_NUMBER", count[0], count_records(on, f, handle));
    want("an SQLINTEGER is written", count[1] == 0x23232323);
    want_rc("RecNumber is ignored for header fields",
            field(on, f, handle, 5, SQL_DIAG_NUMBER, count, 0, NULL),
            SQL_SUCCESS);
}

static void header_returncode(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    SQLRETURN code[2] = { 0x2323, 0x2323 };

    want_rc("SQL_DIAG_RETURNCODE",
            field(on, f, handle, 0, SQL_DIAG_RETURNCODE, code, SQL_IS_SMALLINT,
                  NULL),
            SQL_SUCCESS);
    want_number("SQL_DIAG_RETURNCODE", code[0], returned(f));
    want("an SQLRETURN is written", code[1] == 0x2323);
}

/* Counts and dynamic functions exist for statements alone. */
static void header_statement(const struct book_on *on, const void *row)
{
    static const SQLSMALLINT ids[] = { SQL_DIAG_ROW_COUNT,
                                       SQL_DIAG_CURSOR_ROW_COUNT,
                                       SQL_DIAG_DYNAMIC_FUNCTION,
                                       SQL_DIAG_DYNAMIC_FUNCTION_CODE };
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    SQLRETURN wanted = f->type == SQL_HANDLE_STMT ? SQL_SUCCESS : SQL_ERROR;

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        SQLWCHAR value[100];
        char what[30];

        snprintf(what, sizeof what, "header field %d", ids[i]);
        want_rc(what,
                field(on, f, handle, 0, ids[i], value, sizeof value, NULL),
                wanted);
    }
}

/* ---- SQLGetDiagField: records ------------------------------------------ */

/* A text field against what it must be; all rules of character data. */
static void text_field(const struct book_on *on, const struct failure *f,
                       SQLHANDLE handle, SQLSMALLINT id, const char *wanted)
{
    SQLWCHAR text[600];
    SQLSMALLINT length = -1, need;
    SQLRETURN rc;

    blot(text, sizeof text);
    rc = field(on, f, handle, 1, id, text, sizeof text, &length);
    if (!want_rc("with room", rc, SQL_SUCCESS)) {
        return;
    }
    if (wanted) {
        want_text("value", out(on, text), wanted);
    }
    need = (SQLSMALLINT)(strlen(out(on, text)) * unit(on));
    want_number("length in bytes", length, need);
    want_rc("value null",
            field(on, f, handle, 1, id, NULL, 0, &length), SQL_SUCCESS);
    want_number("length, value null", length, need);
    want_rc("length null",
            field(on, f, handle, 1, id, text, sizeof text, NULL), SQL_SUCCESS);
    want_rc("a negative room",
            field(on, f, handle, 1, id, text, -1, &length), SQL_ERROR);
    if (need == 0) {
        return;
    }
    blot(text, sizeof text);
    want_rc("one character too few",
            field(on, f, handle, 1, id, text, need, &length),
            SQL_SUCCESS_WITH_INFO);
    want_number("length of all, cut", length, need);
    want("cut and terminated", /* what is behind is no news */
         strlen(out(on, text)) * unit(on) == (size_t)need - unit(on));
    want("nothing behind it", ((char *)text)[need] == '#');
    want_rc("exact room",
            field(on, f, handle, 1, id, text,
                  (SQLSMALLINT)(need + (SQLSMALLINT)unit(on)), &length),
            SQL_SUCCESS);
}

static const char *record_state(const struct book_on *on,
                                const struct failure *f, SQLHANDLE handle)
{
    return book_state(on, f->type, handle, 1);
}

static void field_sqlstate(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);

    text_field(on, f, handle, SQL_DIAG_SQLSTATE, record_state(on, f, handle));
}

static void field_message(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    SQLWCHAR text[600] = { 0 };

    record(on, f, handle, 1, NULL, NULL, text, 600, NULL);
    text_field(on, f, handle, SQL_DIAG_MESSAGE_TEXT, out(on, text));
}

/* The inner driver's records are told by itself. */
static enum book_whose whose(const struct failure *f)
{
    return f->fail == fail_server || f->fail == fail_inner_attribute ||
                   f->fail == fail_inner_desc
               ? BOOK_INNER : BOOK_OURS;
}

static void field_names(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);

    text_field(on, f, handle, SQL_DIAG_CLASS_ORIGIN, NULL);
    text_field(on, f, handle, SQL_DIAG_SUBCLASS_ORIGIN, NULL);
    text_field(on, f, handle, SQL_DIAG_CONNECTION_NAME, NULL);
    if (whose(f) == BOOK_OURS) { /* else ours by name, cut by the book */
        text_field(on, f, handle, SQL_DIAG_SERVER_NAME, NULL);
    }
}

static void field_numbers(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    SQLINTEGER native[2] = { -77, 0x23232323 }, wanted = -78;
    SQLINTEGER column[2] = { -77, 0x23232323 };
    SQLLEN line[2] = { -77, 0x23232323 };

    record(on, f, handle, 1, NULL, &wanted, NULL, 0, NULL);
    want_rc("SQL_DIAG_NATIVE",
            field(on, f, handle, 1, SQL_DIAG_NATIVE, native, SQL_IS_INTEGER,
                  NULL),
            SQL_SUCCESS);
    want_number("SQL_DIAG_NATIVE", native[0], wanted);
    want("an SQLINTEGER is written", native[1] == 0x23232323);
    want_rc("SQL_DIAG_ROW_NUMBER",
            field(on, f, handle, 1, SQL_DIAG_ROW_NUMBER, line, SQL_IS_INTEGER,
                  NULL),
            SQL_SUCCESS);
    want("a row, none, or not known",
         line[0] >= 0 || line[0] == SQL_NO_ROW_NUMBER ||
             line[0] == SQL_ROW_NUMBER_UNKNOWN);
    want("an SQLLEN is written", line[1] == 0x23232323);
    want_rc("SQL_DIAG_COLUMN_NUMBER",
            field(on, f, handle, 1, SQL_DIAG_COLUMN_NUMBER, column,
                  SQL_IS_INTEGER, NULL),
            SQL_SUCCESS);
    want("a column, none, or not known",
         column[0] >= 0 || column[0] == SQL_NO_COLUMN_NUMBER ||
             column[0] == SQL_COLUMN_NUMBER_UNKNOWN);
    want("an SQLINTEGER is written (column)", column[1] == 0x23232323);
}

static void field_arguments(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);
    int count = count_records(on, f, handle);
    SQLWCHAR text[600];

    want_rc("a record's field of record 0",
            field(on, f, handle, 0, SQL_DIAG_SQLSTATE, text, sizeof text, NULL),
            SQL_ERROR);
    want_rc("of record -1",
            field(on, f, handle, -1, SQL_DIAG_SQLSTATE, text, sizeof text,
                  NULL),
            SQL_ERROR);
    want_rc("of one behind the last",
            field(on, f, handle, (SQLSMALLINT)(count + 1), SQL_DIAG_SQLSTATE,
                  text, sizeof text, NULL),
            SQL_NO_DATA);
    want_rc("a field that does not exist",
            field(on, f, handle, 1, 4711, text, sizeof text, NULL), SQL_ERROR);
    want_number("none has been consumed or posted",
                count_records(on, f, handle), count);
}

/* ---- what they say ----------------------------------------------------- */

static const char *said(const struct book_on *on, const struct failure *f,
                        SQLHANDLE handle, SQLSMALLINT id)
{
    SQLWCHAR text[600] = { 0 };

    field(on, f, handle, 1, id, text, sizeof text, NULL);
    return out(on, text);
}

/* None of the classes and subclasses above was defined by ODBC. */
static void origins(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLHANDLE handle = f->fail(on);

    want_text("class", said(on, f, handle, SQL_DIAG_CLASS_ORIGIN), "ISO 9075");
    want_text("subclass", said(on, f, handle, SQL_DIAG_SUBCLASS_ORIGIN),
              "ISO 9075");
}

static void server_name(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    SQLWCHAR dsn[200] = { 0 };

    TEXT_CALL(on, SQLGetInfo)(on->dbc, SQL_DATA_SOURCE_NAME, dsn, sizeof dsn,
                              NULL);
    want_text("server", said(on, f, f->fail(on), SQL_DIAG_SERVER_NAME),
              f->type == SQL_HANDLE_ENV ? "" : out(on, dsn));
}

/* "[vendor][component][data source] text" */
static void prefix(const struct book_on *on, const void *row)
{
    const struct failure *f = row;
    const char *text = said(on, f, f->fail(on), SQL_DIAG_MESSAGE_TEXT);
    const char *dsn = strchr(on->string, '=') + 1;
    char wanted[100];

    if (f->type == SQL_HANDLE_ENV) {
        snprintf(wanted, sizeof wanted, "[odbc-affinity] ");
    } else {
        snprintf(wanted, sizeof wanted, "[odbc-affinity][%.*s] ",
                 (int)strcspn(dsn, ";"), dsn);
    }
    want(wanted, strncmp(text, wanted, strlen(wanted)) == 0);
}

/* ---- the rules --------------------------------------------------------- */

static const struct {
    const char *name;
    book_rule *rule;
} over_failures[] = {
    { "SQLGetDiagRec, Arguments: parts of record 1, null pointers",
      rec_parts },
    { "SQLGetDiagRec, MessageText: truncation, TextLength in characters",
      rec_truncation },
    { "SQLGetDiagRec, Returns: RecNumber, nothing consumed or posted",
      rec_numbers },
    { "SQLGetDiagField, Header Fields: SQL_DIAG_NUMBER", header_number },
    { "SQLGetDiagField, Header Fields: SQL_DIAG_RETURNCODE",
      header_returncode },
    { "SQLGetDiagField, Header Fields: those of statements alone",
      header_statement },
    { "SQLGetDiagField, Record Fields: SQL_DIAG_SQLSTATE", field_sqlstate },
    { "SQLGetDiagField, Record Fields: SQL_DIAG_MESSAGE_TEXT", field_message },
    { "SQLGetDiagField, Record Fields: origins and names", field_names },
    { "SQLGetDiagField, Record Fields: NATIVE, ROW_ and COLUMN_NUMBER",
      field_numbers },
    { "SQLGetDiagField, Returns: wrong arguments", field_arguments },
};

static void try_failures(void)
{
    for (size_t i = 0; i < sizeof over_failures / sizeof over_failures[0];
         i++) {
        for (size_t k = 0; k < FAILURES; k++) {
            char name[160];

            snprintf(name, sizeof name, "%s (%s)", over_failures[i].name,
                     failures[k].name);
            book_try(whose(&failures[k]), failures[k].ways, name,
                     over_failures[i].rule, &failures[k]);
        }
    }
}

/* Of the inner driver's records these are the inner driver's. */
static const struct {
    const char *name;
    book_rule *rule;
} over_words[] = {
    { "SQLGetDiagField, Record Fields: CLASS_ORIGIN, SUBCLASS_ORIGIN",
      origins },
    { "SQLGetDiagField, Record Fields: SERVER_NAME is SQL_DATA_SOURCE_NAME",
      server_name },
    { "Diagnostic Messages: vendor, component, data source", prefix },
};

static void try_words(void)
{
    for (size_t i = 0; i < sizeof over_words / sizeof over_words[0]; i++) {
        for (size_t k = 0; k < FAILURES; k++) {
            bool ours = whose(&failures[k]) == BOOK_OURS;
            char name[160];

            if (ours || over_words[i].rule != prefix) {
                snprintf(name, sizeof name, "%s (%s)", over_words[i].name,
                         failures[k].name);
                book_try(whose(&failures[k]), failures[k].ways, name,
                         over_words[i].rule, &failures[k]);
            }
        }
    }
}

int main(void)
{
    try_failures();
    try_words();
    return book_end();
}
