/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Descriptors by the book: the four of a statement, explicit ones and whose
 * they are, fields and their checks, copying.
 */
#include "autoconf.h"

#include "conform.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- helpers ----------------------------------------------------------- */

static SQLHDESC desc_of(const struct book_on *on, SQLHSTMT stmt,
                        SQLINTEGER role)
{
    SQLHDESC desc = SQL_NULL_HDESC;

    want_rc("SQLGetStmtAttr, a descriptor",
            TEXT_CALL(on, SQLGetStmtAttr)(stmt, role, &desc, 0, NULL),
            SQL_SUCCESS);
    return desc;
}

static SQLRETURN use_desc(const struct book_on *on, SQLHSTMT stmt,
                          SQLINTEGER role, SQLHDESC desc)
{
    return TEXT_CALL(on, SQLSetStmtAttr)(stmt, role, desc, SQL_IS_POINTER);
}

static SQLHDESC new_desc(const struct book_on *on, SQLHDBC dbc)
{
    SQLHDESC desc = SQL_NULL_HDESC;

    want_rc("SQLAllocHandle, a descriptor",
            on->odbc->SQLAllocHandle(SQL_HANDLE_DESC, dbc, &desc),
            SQL_SUCCESS);
    return desc;
}

static SQLRETURN set_field(const struct book_on *on, SQLHDESC desc,
                           SQLSMALLINT record, SQLSMALLINT field,
                           intptr_t value)
{
    return TEXT_CALL(on, SQLSetDescField)(desc, record, field,
                                          (SQLPOINTER)value, 0);
}

static SQLRETURN get_field(const struct book_on *on, SQLHDESC desc,
                           SQLSMALLINT record, SQLSMALLINT field, void *value)
{
    return TEXT_CALL(on, SQLGetDescField)(desc, record, field, value, 0, NULL);
}

static long get_small(const struct book_on *on, SQLHDESC desc,
                      SQLSMALLINT record, SQLSMALLINT field)
{
    SQLSMALLINT value = -77;

    want_rc("SQLGetDescField", get_field(on, desc, record, field, &value),
            SQL_SUCCESS);
    return value;
}

/* The first column of "SELECT 42" through whatever the ARD says. */
static void fetch_42(const struct book_on *on, SQLHSTMT stmt)
{
    want_rc("SQLExecDirect", book_exec(on, stmt, "SELECT 42"), SQL_SUCCESS);
    want_rc("SQLFetch", on->odbc->SQLFetch(stmt), SQL_SUCCESS);
    on->odbc->SQLFreeStmt(stmt, SQL_CLOSE);
}

static void bind_by_fields(const struct book_on *on, SQLHDESC desc,
                           SQLINTEGER *value, SQLLEN *length)
{
    want_rc("SQL_DESC_TYPE",
            set_field(on, desc, 1, SQL_DESC_TYPE, SQL_C_SLONG), SQL_SUCCESS);
    want_rc("SQL_DESC_OCTET_LENGTH_PTR",
            set_field(on, desc, 1, SQL_DESC_OCTET_LENGTH_PTR,
                      (intptr_t)length),
            SQL_SUCCESS);
    want_rc("SQL_DESC_INDICATOR_PTR",
            set_field(on, desc, 1, SQL_DESC_INDICATOR_PTR, (intptr_t)length),
            SQL_SUCCESS);
    want_rc("SQL_DESC_DATA_PTR",
            set_field(on, desc, 1, SQL_DESC_DATA_PTR, (intptr_t)value),
            SQL_SUCCESS);
}

/* ---- the four of a statement ------------------------------------------- */

static void four(const struct book_on *on, const void *row)
{
    SQLHSTMT other = book_stmt(on, on->dbc);
    SQLHDESC desc[4];

    (void)row;
    for (int i = 0; i < 4; i++) {
        SQLINTEGER role = SQL_ATTR_APP_ROW_DESC + i;

        desc[i] = desc_of(on, on->stmt, role);
        want("there is one", desc[i] != SQL_NULL_HDESC);
        want("another statement's is another",
             desc_of(on, other, role) != desc[i]);
        for (int k = 0; k < i; k++) {
            want("they differ", desc[k] != desc[i]);
        }
        want_error(on, "SQLFreeHandle",
                   on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, desc[i]),
                   SQL_HANDLE_DESC, desc[i], "HY017");
    }
    on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other);
    book_exec(on, on->stmt, "SELECT 1");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
    for (int i = 0; i < 4; i++) {
        want("they stay",
             desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC + i) == desc[i]);
    }
}

static void alloc_type(const struct book_on *on, const void *row)
{
    SQLHDESC mine = new_desc(on, on->dbc);

    (void)row;
    for (int i = 0; i < 4; i++) {
        want_number("a statement's own",
                    get_small(on,
                              desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC + i),
                              0, SQL_DESC_ALLOC_TYPE),
                    SQL_DESC_ALLOC_AUTO);
    }
    want_number("an explicit one", get_small(on, mine, 0, SQL_DESC_ALLOC_TYPE),
                SQL_DESC_ALLOC_USER);
    on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, mine);
}

static void not_to_be_replaced(const struct book_on *on, const void *row)
{
    SQLHSTMT other = book_stmt(on, on->dbc);
    SQLHDESC mine = new_desc(on, on->dbc);

    (void)row;
    want_error(on, "the IRD",
               use_desc(on, on->stmt, SQL_ATTR_IMP_ROW_DESC, mine),
               SQL_HANDLE_STMT, on->stmt, "HY017");
    want_error(on, "the IPD",
               use_desc(on, on->stmt, SQL_ATTR_IMP_PARAM_DESC, mine),
               SQL_HANDLE_STMT, on->stmt, "HY017");
    want_error(on, "by another statement's own",
               use_desc(on, on->stmt, SQL_ATTR_APP_ROW_DESC,
                        desc_of(on, other, SQL_ATTR_APP_ROW_DESC)),
               SQL_HANDLE_STMT, on->stmt, "HY017");
    want_error(on, "the ARD by its own IRD",
               use_desc(on, on->stmt, SQL_ATTR_APP_ROW_DESC,
                        desc_of(on, on->stmt, SQL_ATTR_IMP_ROW_DESC)),
               SQL_HANDLE_STMT, on->stmt, "HY017");
    want_rc("the ARD by itself",
            use_desc(on, on->stmt, SQL_ATTR_APP_ROW_DESC,
                     desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC)),
            SQL_SUCCESS);
    on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, mine);
    on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other);
}

/* ---- explicit ones ----------------------------------------------------- */

static void explicit_ard(const struct book_on *on, const void *row)
{
    SQLHSTMT other = book_stmt(on, on->dbc);
    SQLHDESC own = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC);
    SQLHDESC mine = new_desc(on, on->dbc);
    SQLINTEGER value = 0;
    SQLLEN length = -77;

    (void)row;
    want_rc("setting it",
            use_desc(on, on->stmt, SQL_ATTR_APP_ROW_DESC, mine), SQL_SUCCESS);
    want("it is the ARD",
         desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC) == mine);
    want_rc("of a second statement",
            use_desc(on, other, SQL_ATTR_APP_ROW_DESC, mine), SQL_SUCCESS);
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_SLONG, &value, 0, &length);
    fetch_42(on, on->stmt);
    want_number("bound on the one", value, 42);
    value = 0;
    fetch_42(on, other);
    want_number("it serves the other", value, 42);
    want_rc("SQL_NULL_HDESC",
            use_desc(on, other, SQL_ATTR_APP_ROW_DESC, SQL_NULL_HDESC),
            SQL_SUCCESS);
    value = 0;
    fetch_42(on, other);
    want_number("puts its own back", value, 0);
    want_rc("freeing it", on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, mine),
            SQL_SUCCESS);
    want("does so, too",
         desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC) == own);
    fetch_42(on, on->stmt);
    want_number("nothing is bound then", value, 0);
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_SLONG, &value, 0, &length);
    fetch_42(on, on->stmt);
    want_number("and its own is of use", value, 42);
    on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other);
}

static void explicit_apd(const struct book_on *on, const void *row)
{
    SQLHDESC mine = new_desc(on, on->dbc);
    SQLINTEGER value = 21, got = 0;
    SQLLEN length = 0;

    (void)row;
    want_rc("setting it",
            use_desc(on, on->stmt, SQL_ATTR_APP_PARAM_DESC, mine),
            SQL_SUCCESS);
    want_rc("SQLBindParameter",
            on->odbc->SQLBindParameter(on->stmt, 1, SQL_PARAM_INPUT,
                                       SQL_C_SLONG, SQL_INTEGER, 0, 0, &value,
                                       0, &length),
            SQL_SUCCESS);
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_SLONG, &got, 0, &length);
    want_rc("SQLExecDirect", book_exec(on, on->stmt, "SELECT ?::int * 2"),
            SQL_SUCCESS);
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    want_number("the parameter's", got, 42);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    want_rc("freeing it", on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, mine),
            SQL_SUCCESS);
    want_error(on, "no parameter is bound then",
               book_exec(on, on->stmt, "SELECT ?::int * 2"), SQL_HANDLE_STMT,
               on->stmt, "07002");
}

static void of_another_connection(const struct book_on *on, const void *row)
{
    struct book_on own;
    SQLHDESC theirs;

    (void)row;
    if (!book_own(on, &own)) {
        return;
    }
    theirs = new_desc(on, own.dbc);
    want_error(on, "another connection's",
               use_desc(on, on->stmt, SQL_ATTR_APP_ROW_DESC, theirs),
               SQL_HANDLE_STMT, on->stmt, "HY024");
    book_own_end(&own);
}

static void outlives(const struct book_on *on, const void *row)
{
    SQLHSTMT other = book_stmt(on, on->dbc);
    SQLHDESC mine = new_desc(on, on->dbc);
    SQLINTEGER value = 0;
    SQLLEN length;

    (void)row;
    use_desc(on, other, SQL_ATTR_APP_ROW_DESC, mine);
    bind_by_fields(on, mine, &value, &length);
    want_rc("its statement ends",
            on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other), SQL_SUCCESS);
    want_number("it is still there", get_small(on, mine, 0, SQL_DESC_COUNT),
                1);
    want_rc("for another statement",
            use_desc(on, on->stmt, SQL_ATTR_APP_ROW_DESC, mine), SQL_SUCCESS);
    fetch_42(on, on->stmt);
    want_number("with what was bound", value, 42);
    use_desc(on, on->stmt, SQL_ATTR_APP_ROW_DESC, SQL_NULL_HDESC);
    want_rc("its end", on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, mine),
            SQL_SUCCESS);
}

/* ---- fields ------------------------------------------------------------ */

static void bound_by_fields(const struct book_on *on, const void *row)
{
    SQLHDESC ard = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC);
    SQLINTEGER value = 0;
    SQLLEN length = -77;

    (void)row;
    bind_by_fields(on, ard, &value, &length);
    want_number("SQL_DESC_COUNT grows", get_small(on, ard, 0, SQL_DESC_COUNT),
                1);
    fetch_42(on, on->stmt);
    want_number("as by SQLBindCol", value, 42);
    want_number("its length", length, 4);
    value = 0;
    want_rc("SQL_DESC_COUNT 0", set_field(on, ard, 0, SQL_DESC_COUNT, 0),
            SQL_SUCCESS);
    fetch_42(on, on->stmt);
    want_number("unbinds", value, 0);
}

static void follows_bindcol(const struct book_on *on, const void *row)
{
    SQLHDESC ard = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC);
    SQLPOINTER pointer = NULL;
    SQLLEN octets = 0;
    char text[30];
    SQLLEN length;

    (void)row;
    want_number("nothing is bound", get_small(on, ard, 0, SQL_DESC_COUNT), 0);
    on->odbc->SQLBindCol(on->stmt, 2, SQL_C_CHAR, text, 30, &length);
    want_number("SQL_DESC_COUNT", get_small(on, ard, 0, SQL_DESC_COUNT), 2);
    want_number("SQL_DESC_TYPE", get_small(on, ard, 2, SQL_DESC_TYPE),
                SQL_C_CHAR);
    want_number("SQL_DESC_CONCISE_TYPE",
                get_small(on, ard, 2, SQL_DESC_CONCISE_TYPE), SQL_C_CHAR);
    get_field(on, ard, 2, SQL_DESC_OCTET_LENGTH, &octets);
    want_number("SQL_DESC_OCTET_LENGTH", octets, 30);
    get_field(on, ard, 2, SQL_DESC_DATA_PTR, &pointer);
    want("SQL_DESC_DATA_PTR", pointer == text);
    get_field(on, ard, 2, SQL_DESC_INDICATOR_PTR, &pointer);
    want("SQL_DESC_INDICATOR_PTR", pointer == &length);
    on->odbc->SQLFreeStmt(on->stmt, SQL_UNBIND);
    want_number("unbound", get_small(on, ard, 0, SQL_DESC_COUNT), 0);
}

static void header_and_attributes(const struct book_on *on, const void *row)
{
    static const struct {
        const char *name;
        SQLINTEGER attribute, role;
        SQLSMALLINT field;
        intptr_t value;
    } same[] = {
        { "SQL_DESC_ARRAY_SIZE", SQL_ATTR_ROW_ARRAY_SIZE,
          SQL_ATTR_APP_ROW_DESC, SQL_DESC_ARRAY_SIZE, 5 },
        { "SQL_DESC_BIND_TYPE", SQL_ATTR_ROW_BIND_TYPE, SQL_ATTR_APP_ROW_DESC,
          SQL_DESC_BIND_TYPE, 64 },
        { "SQL_DESC_ARRAY_SIZE of parameters", SQL_ATTR_PARAMSET_SIZE,
          SQL_ATTR_APP_PARAM_DESC, SQL_DESC_ARRAY_SIZE, 3 },
    };

    (void)row;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        SQLHDESC desc = desc_of(on, on->stmt, same[i].role);
        SQLULEN got = 0;

        TEXT_CALL(on, SQLSetStmtAttr)(on->stmt, same[i].attribute,
                                      (SQLPOINTER)same[i].value, 0);
        get_field(on, desc, 0, same[i].field, &got);
        want_number(same[i].name, (long long)got, same[i].value);
        set_field(on, desc, 0, same[i].field, same[i].value + 2);
        got = 0;
        TEXT_CALL(on, SQLGetStmtAttr)(on->stmt, same[i].attribute, &got, 0,
                                      NULL);
        want_number(same[i].name, (long long)got, same[i].value + 2);
    }
}

static void ird(const struct book_on *on, const void *row)
{
    SQLHDESC desc = desc_of(on, on->stmt, SQL_ATTR_IMP_ROW_DESC);
    SQLSMALLINT value = 0;

    (void)row;
    want_error(on, "before anything is prepared",
               get_field(on, desc, 1, SQL_DESC_TYPE, &value), SQL_HANDLE_DESC,
               desc, "HY007");
    book_exec(on, on->stmt, "SELECT 1 AS one, 'x'::varchar(7) AS two");
    want_number("SQL_DESC_COUNT", get_small(on, desc, 0, SQL_DESC_COUNT), 2);
    want_number("SQL_DESC_TYPE", get_small(on, desc, 1, SQL_DESC_TYPE),
                SQL_INTEGER);
    want_rc("a record behind the last",
            get_field(on, desc, 3, SQL_DESC_TYPE, &value), SQL_NO_DATA);
    want_error(on, "setting a field",
               set_field(on, desc, 1, SQL_DESC_TYPE, SQL_C_CHAR),
               SQL_HANDLE_DESC, desc, "HY016");
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
}

static void wrong_fields(const struct book_on *on, const void *row)
{
    SQLHDESC ard = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC);
    SQLSMALLINT value;

    (void)row;
    want_error(on, "reading a field that does not exist",
               get_field(on, ard, 1, 4711, &value), SQL_HANDLE_DESC, ard,
               "HY091");
    want_error(on, "setting one", set_field(on, ard, 1, 4711, 1),
               SQL_HANDLE_DESC, ard, "HY091");
    want_error(on, "a negative record",
               set_field(on, ard, -1, SQL_DESC_TYPE, SQL_C_CHAR),
               SQL_HANDLE_DESC, ard, "07009");
    want_error(on, "setting SQL_DESC_ALLOC_TYPE",
               set_field(on, ard, 0, SQL_DESC_ALLOC_TYPE, 1), SQL_HANDLE_DESC,
               ard, "HY091 HY092");
    want_error(on, "a type that does not exist",
               set_field(on, ard, 1, SQL_DESC_TYPE, 4711), SQL_HANDLE_DESC,
               ard, "HY021");
    want_rc("a record that nobody has set",
            get_field(on, ard, 30, SQL_DESC_TYPE, &value), SQL_NO_DATA);
}

static void consistency(const struct book_on *on, const void *row)
{
    SQLHDESC ard = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC);

    (void)row;
    set_field(on, ard, 1, SQL_DESC_CONCISE_TYPE, SQL_C_TYPE_DATE);
    want_number("CONCISE_TYPE sets TYPE",
                get_small(on, ard, 1, SQL_DESC_TYPE), SQL_DATETIME);
    want_number("and the subcode",
                get_small(on, ard, 1, SQL_DESC_DATETIME_INTERVAL_CODE),
                SQL_CODE_DATE);
    set_field(on, ard, 1, SQL_DESC_TYPE, SQL_C_SLONG);
    want_number("TYPE sets CONCISE_TYPE",
                get_small(on, ard, 1, SQL_DESC_CONCISE_TYPE), SQL_C_SLONG);
    want_number("and the subcode is 0",
                get_small(on, ard, 1, SQL_DESC_DATETIME_INTERVAL_CODE), 0);
    /* no scale is asked for: psqlODBC leaves it as the memory was */
}

static void by_records(const struct book_on *on, const void *row)
{
    SQLHDESC ard = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC);
    SQLINTEGER value = 0;
    SQLLEN length = 0;
    SQLSMALLINT type = 0;

    (void)row;
    want_rc("SQLSetDescRec",
            on->odbc->SQLSetDescRec(ard, 1, SQL_C_SLONG, 0, 4, 0, 0, &value,
                                    &length, &length),
            SQL_SUCCESS);
    fetch_42(on, on->stmt);
    want_number("binds", value, 42);
    want_rc("SQLGetDescRec",
            TEXT_CALL(on, SQLGetDescRec)(ard, 1, NULL, 0, NULL, &type, NULL,
                                         NULL, NULL, NULL, NULL),
            SQL_SUCCESS);
    want_number("its type", type, SQL_C_SLONG);
}

/* ---- copying ----------------------------------------------------------- */

static void copied(const struct book_on *on, const void *row)
{
    SQLHSTMT other = book_stmt(on, on->dbc);
    SQLHDESC ard = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC);
    SQLHDESC mine = new_desc(on, on->dbc);
    SQLHDESC implicit = desc_of(on, other, SQL_ATTR_APP_ROW_DESC);
    SQLHDESC impl = desc_of(on, on->stmt, SQL_ATTR_IMP_ROW_DESC);
    SQLINTEGER value = 0;
    SQLLEN length;

    (void)row;
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_SLONG, &value, 0, &length);
    want_rc("to an explicit one", on->odbc->SQLCopyDesc(ard, mine),
            SQL_SUCCESS);
    want_rc("to an implicit one", on->odbc->SQLCopyDesc(mine, implicit),
            SQL_SUCCESS);
    want_number("all of it", get_small(on, implicit, 0, SQL_DESC_COUNT), 1);
    fetch_42(on, other);
    want_number("bindings, too", value, 42);
    want_error(on, "to an IRD", on->odbc->SQLCopyDesc(ard, impl),
               SQL_HANDLE_DESC, impl, "HY016");
    on->odbc->SQLFreeHandle(SQL_HANDLE_DESC, mine);
    on->odbc->SQLFreeHandle(SQL_HANDLE_STMT, other);
}

static void copied_between_connections(const struct book_on *on,
                                       const void *row)
{
    SQLHDESC ard = desc_of(on, on->stmt, SQL_ATTR_APP_ROW_DESC), theirs;
    SQLINTEGER value = 0;
    struct book_on own;
    SQLLEN length;

    (void)row;
    if (!book_own(on, &own)) {
        return;
    }
    on->odbc->SQLBindCol(on->stmt, 1, SQL_C_SLONG, &value, 0, &length);
    theirs = desc_of(&own, own.stmt, SQL_ATTR_APP_ROW_DESC);
    want_rc("SQLCopyDesc", on->odbc->SQLCopyDesc(ard, theirs), SQL_SUCCESS);
    fetch_42(&own, own.stmt);
    want_number("bindings", value, 42);
    book_own_end(&own);
}

/* ---- the rules --------------------------------------------------------- */

/* Whose descriptor is whose is the wrapper's to know, what stands in one the
   inner driver's. */
static const struct {
    enum book_whose whose;
    unsigned ways;
    const char *name;
    book_rule *rule;
} rules[] = {
    { BOOK_OURS, BOOK_ALL, "Appendix B, Descriptor Transitions: D1i", four },
    { BOOK_OURS, BOOK_ALL, "SQLSetStmtAttr, Diagnostics: HY017",
      not_to_be_replaced },
    { BOOK_OURS, BOOK_ALL, "Descriptor Handles: an explicit ARD",
      explicit_ard },
    { BOOK_OURS, BOOK_ALL, "Descriptor Handles: an explicit APD",
      explicit_apd },
    { BOOK_OURS, BOOK_ALL, "SQLSetStmtAttr, Diagnostics: HY024",
      of_another_connection },
    { BOOK_INNER, BOOK_ALL, "SQLSetDescField, Fields: SQL_DESC_ALLOC_TYPE",
      alloc_type },
    { BOOK_INNER, BOOK_ALL,
      "Descriptor Handles: an explicit one outlives its statement", outlives },
    { BOOK_INNER, BOOK_ALL, "SQLSetDescField, Comments: as SQLBindCol",
      bound_by_fields },
    { BOOK_INNER, BOOK_ALL, "SQLBindCol, Binding and Descriptors",
      follows_bindcol },
    { BOOK_INNER, BOOK_ALL,
      "SQLSetStmtAttr, Statement Attributes That Set Descriptors",
      header_and_attributes },
    { BOOK_INNER, BOOK_ALL, "SQLGetDescField, IRD: HY007, HY016, SQL_NO_DATA",
      ird },
    { BOOK_INNER, BOOK_ALL,
      "SQLSetDescField and SQLGetDescField, Diagnostics: 07009, HY021, HY091",
      wrong_fields },
    { BOOK_INNER, BOOK_ALL, "SQLSetDescRec, Consistency Checks", consistency },
    { BOOK_INNER, BOOK_ALL, "SQLSetDescRec and SQLGetDescRec", by_records },
    { BOOK_INNER, BOOK_ALL, "SQLCopyDesc, Comments", copied },
    { BOOK_INNER, BOOK_ALL, "SQLCopyDesc, Comments: between connections",
      copied_between_connections },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        book_try(rules[i].whose, rules[i].ways, rules[i].name, rules[i].rule,
                 NULL);
    }
    return book_end();
}
