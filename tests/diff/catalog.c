/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The catalog functions: named, by pattern, by identifier, empty, wrong. */
#include "diff.h"

#include <string.h>

void subject_catalog(void);

/* Shows what a catalog function answered, and closes. */
static void answer(SQLHSTMT stmt, SQLRETURN rc)
{
    if (SQL_SUCCEEDED(rc)) {
        show_columns(stmt);
        show_rows(stmt, 200);
    }
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
}

static void *schema(void)
{
    return IN(run.dialect->schema);
}

static SQLSMALLINT units(const char *text)
{
    return text ? SQL_NTS : 0;
}

static void tables(SQLHSTMT stmt, const char *schema_name, const char *name,
                   const char *types)
{
    say("tables %s %s %s", schema_name ? schema_name : "-", name ? name : "-",
        types ? types : "-");
    answer(stmt, CALL_TEXT(SQLTables, stmt, NULL, 0, IN(schema_name),
                           units(schema_name), IN(name), units(name),
                           IN(types), units(types)));
}

static void all_tables(SQLHSTMT stmt)
{
    const char *of = run.dialect->schema;

    tables(stmt, of, "%", NULL);
    tables(stmt, of, "par%", "TABLE");
    tables(stmt, of, NULL, "'VIEW'");
    tables(stmt, of, "p_rent", "TABLE,VIEW");
    tables(stmt, of, "", "");
    tables(stmt, "nowhere", "%", "TABLE");
    answer(stmt, CALL_TEXT(SQLTables, stmt, IN(""), 0, IN(""), 0, IN(""), 0,
                           IN("%"), 1));
    answer(stmt, CALL_TEXT(SQLTables, stmt, IN(""), 0, IN("%"), 1, IN(""), 0,
                           NULL, 0));
    answer(stmt, CALL_TEXT(SQLTables, stmt, IN("%"), 1, IN(""), 0, IN(""), 0,
                           NULL, 0));
    answer(stmt, CALL_TEXT(SQLTables, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("parent and more"), 6, NULL, 0));
    CALL_TEXT(SQLTables, stmt, NULL, 0, NULL, -7, IN("x"), 1, NULL, 0);
}

static void columns(SQLHSTMT stmt)
{
    answer(stmt, CALL_TEXT(SQLColumns, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("parent"), SQL_NTS, NULL, 0));
    answer(stmt, CALL_TEXT(SQLColumns, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("child"), SQL_NTS, IN("%e%"), SQL_NTS));
    answer(stmt, CALL_TEXT(SQLColumns, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("W_rter%"), SQL_NTS, IN("%"), SQL_NTS));
    answer(stmt, CALL_TEXT(SQLColumns, stmt, NULL, 0, NULL, 0, IN("nothing"),
                           SQL_NTS, NULL, 0));
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_METADATA_ID, (void *)SQL_TRUE, 0);
    answer(stmt, CALL_TEXT(SQLColumns, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("PARENT"), SQL_NTS, IN("Id"), SQL_NTS));
    answer(stmt, CALL_TEXT(SQLTables, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("par%"), SQL_NTS, NULL, 0));
    CALL(SQLSetStmtAttr, stmt, SQL_ATTR_METADATA_ID, (void *)SQL_FALSE, 0);
    answer(stmt, CALL_TEXT(SQLColumnPrivileges, stmt, NULL, 0, schema(),
                           SQL_NTS, IN("parent"), SQL_NTS, IN("n%"), SQL_NTS));
    answer(stmt, CALL_TEXT(SQLTablePrivileges, stmt, NULL, 0, schema(),
                           SQL_NTS, IN("parent"), SQL_NTS));
}

static void keys(SQLHSTMT stmt)
{
    answer(stmt, CALL_TEXT(SQLPrimaryKeys, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("child"), SQL_NTS));
    answer(stmt, CALL_TEXT(SQLPrimaryKeys, stmt, NULL, 0, schema(), SQL_NTS,
                           NULL, 0));
    answer(stmt, CALL_TEXT(SQLForeignKeys, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("parent"), SQL_NTS, NULL, 0, NULL, 0, NULL, 0));
    answer(stmt, CALL_TEXT(SQLForeignKeys, stmt, NULL, 0, NULL, 0, NULL, 0,
                           NULL, 0, schema(), SQL_NTS, IN("child"), SQL_NTS));
    answer(stmt, CALL_TEXT(SQLForeignKeys, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("parent"), SQL_NTS, NULL, 0, schema(), SQL_NTS,
                           IN("child"), SQL_NTS));
    CALL_TEXT(SQLForeignKeys, stmt, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL,
              0, NULL, 0);
    answer(stmt, CALL_TEXT(SQLSpecialColumns, stmt, SQL_BEST_ROWID, NULL, 0,
                           schema(), SQL_NTS, IN("child"), SQL_NTS,
                           SQL_SCOPE_SESSION, SQL_NULLABLE));
    answer(stmt, CALL_TEXT(SQLSpecialColumns, stmt, SQL_ROWVER, NULL, 0,
                           schema(), SQL_NTS, IN("parent"), SQL_NTS,
                           SQL_SCOPE_CURROW, SQL_NO_NULLS));
    CALL_TEXT(SQLSpecialColumns, stmt, 77, NULL, 0, NULL, 0, IN("x"), SQL_NTS,
              0, 0);
    answer(stmt, CALL_TEXT(SQLStatistics, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("child"), SQL_NTS, SQL_INDEX_ALL, SQL_QUICK));
    answer(stmt, CALL_TEXT(SQLStatistics, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("parent"), SQL_NTS, SQL_INDEX_UNIQUE,
                           SQL_ENSURE));
    CALL_TEXT(SQLStatistics, stmt, NULL, 0, NULL, 0, NULL, 0, 9, 9);
}

static void procedures_and_types(SQLHSTMT stmt)
{
    answer(stmt, CALL_TEXT(SQLProcedures, stmt, NULL, 0, schema(), SQL_NTS,
                           IN("%"), SQL_NTS));
    answer(stmt, CALL_TEXT(SQLProcedureColumns, stmt, NULL, 0, schema(),
                           SQL_NTS, IN("%two"), SQL_NTS, NULL, 0));
    answer(stmt, CALL_TEXT(SQLGetTypeInfo, stmt, SQL_ALL_TYPES));
    answer(stmt, CALL_TEXT(SQLGetTypeInfo, stmt, SQL_VARCHAR));
    answer(stmt, CALL_TEXT(SQLGetTypeInfo, stmt, SQL_TYPE_TIMESTAMP));
    answer(stmt, CALL_TEXT(SQLGetTypeInfo, stmt, 4711));
}

void subject_catalog(void)
{
    SQLHSTMT stmt = stmt_new();

    all_tables(stmt);
    columns(stmt);
    keys(stmt);
    procedures_and_types(stmt);
    /* in another statement's transaction, one call on the other's heels */
    CALL_TEXT(SQLTables, stmt, NULL, 0, schema(), SQL_NTS, IN("%"), SQL_NTS,
              NULL, 0);
    CALL_TEXT(SQLColumns, stmt, NULL, 0, schema(), SQL_NTS, IN("parent"),
              SQL_NTS, NULL, 0);
    CALL(SQLFetch, stmt);
}
