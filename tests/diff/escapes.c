/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Escapes and procedures, and what SQLNativeSql makes of them. */
#include "diff.h"

void subject_escapes(void);

static const char *const escapes[] = {
    "SELECT {d '2024-02-29'}, {t '01:02:03'}, {ts '2024-02-29 01:02:03.5'}",
    "SELECT {fn UCASE('abc')}, {fn LENGTH('äöü')}, {fn CONCAT('a', 'b')}",
    "SELECT {fn LEFT('abcdef', 3)}, {fn LOCATE('c', 'abc')}, {fn MOD(7, 3)}",
    "SELECT {fn CONVERT('12', SQL_INTEGER)}, {fn POWER(2, 10)}, {fn PI()}",
    "SELECT {fn CURDATE()} IS NULL, {fn USER()} IS NULL, {fn IFNULL(NULL, 3)}",
    "SELECT {fn DAYOFMONTH({d '2024-02-29'})}, {fn QUARTER({d '2024-02-29'})}",
    ("SELECT p.id, c.number FROM {oj parent p LEFT OUTER JOIN child c ON "
     "p.id = c.parent} ORDER BY 1, 2"),
    "SELECT name FROM parent WHERE name LIKE 't\\%o' {escape '\\'}",
    "SELECT '{d ''not an escape''}', \"name\" FROM parent WHERE id = 1",
    "SELECT {nonsense}",
    "SELECT {d 'not a date'}",
    "SELECT {fn NOSUCH(1)}",
    "SELECT {d '2024-02-29'",
    "SELECT /* {d '1'} */ 1 -- {t '2'}",
};

static void native(const char *text)
{
    say("> %s", text);
    CALL_TEXT(SQLNativeSql, run.dbc, IN(text), SQL_NTS, TEXT(0), 200,
              &out.integer[0]);
    CALL_TEXT(SQLNativeSql, run.dbc, IN(text), 9, TEXT(0), 7,
              &out.integer[0]);
    CALL_TEXT(SQLNativeSql, run.dbc, IN(text), SQL_NTS, NULL, 0,
              &out.integer[0]);
}

/* Their lengths are read as well as written, so none of them is a slot. */
static SQLINTEGER number;
static SQLCHAR text[40];
static SQLLEN number_length, text_length;

static void bind_out(SQLHSTMT stmt, SQLUSMALLINT first)
{
    CALL(SQLBindParameter, stmt, first, SQL_PARAM_OUTPUT, SQL_C_SLONG,
         SQL_INTEGER, 0, 0, &number, 0, &number_length);
    if (first > 1) {
        CALL(SQLBindParameter, stmt, 3, SQL_PARAM_OUTPUT, SQL_C_CHAR,
             SQL_VARCHAR, 40, 0, text, sizeof text, &text_length);
    }
}

static void told(SQLHSTMT stmt)
{
    CALL(SQLNumResultCols, stmt, &out.small[0]);
    say("number %d, %ld; text '%s', %ld", (int)number, (long)number_length,
        text, (long)text_length);
    CALL(SQLMoreResults, stmt);
    CALL(SQLFreeStmt, stmt, SQL_CLOSE);
    number = 0;
    text[0] = 0;
    number_length = text_length = 0;
}

static void out_parameters(SQLHSTMT stmt)
{
    static SQLINTEGER in = 20, more = 22;

    bind_out(stmt, 1);
    CALL(SQLBindParameter, stmt, 2, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, &in, 0, NULL);
    CALL(SQLBindParameter, stmt, 3, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, &more, 0, NULL);
    sql(stmt, "{? = call add_two(?, ?)}");
    told(stmt);
    prepare(stmt, "{ ? = CALL add_two ( ?,? ) }");
    CALL(SQLExecute, stmt);
    told(stmt);
    CALL(SQLFreeStmt, stmt, SQL_RESET_PARAMS);
    CALL(SQLBindParameter, stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER,
         0, 0, &in, 0, NULL);
    bind_out(stmt, 2);
    sql(stmt, "{call out_two(?, ?, ?)}");
    told(stmt);
    CALL(SQLFreeStmt, stmt, SQL_RESET_PARAMS);
}

void subject_escapes(void)
{
    SQLHSTMT stmt = stmt_new();

    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        native(escapes[i]);
        show(stmt, escapes[i]);
    }
    CALL_TEXT(SQLNativeSql, run.dbc, IN("x"), -7, TEXT(0), 20, NULL);
    CALL_TEXT(SQLNativeSql, run.dbc, NULL, 0, TEXT(0), 20, NULL);
    CALL_TEXT(SQLNativeSql, run.dbc, IN("SELECT 1"), SQL_NTS, TEXT(0), -7,
              NULL);
    show(stmt, "{call add_two(1, 2)}");
    show(stmt, "{call put_work(51, 'put')}");
    show(stmt, "{call no_such_procedure(1)}");
    show(stmt, "SELECT id, t FROM work WHERE id = 51");
    sql(stmt, "DELETE FROM work");
    out_parameters(stmt);
}
