/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The differential harness: one program that is given a data source and writes
 * down everything that ODBC tells it.  tests/diff-test.sh gives it the inner
 * driver's and ours, and compares what was written.
 *
 * A subject (one file each) makes its calls with CALL and CALL_TEXT, and has
 * what they tell written to the slots below.  Before each call every slot is
 * filled with a pattern; after it, whatever is no longer the pattern is
 * printed, so that no output, length or byte beyond a terminator is missed and
 * none has to be asked for.  Then come the records and header fields of every
 * handle whose records are no longer those printed last.
 */
#ifndef DIFF_H
#define DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include "dialect.h"

/* ---- what is being run ------------------------------------------------ */

struct run {
    const struct dialect *dialect;
    const char *string; /* connection string without the options */
    const char *options; /* one of the dialect's, "" or ";KEYWORD=value…" */
    bool wide;          /* texts go by the W functions, as UTF-16 */
    SQLINTEGER version; /* of ODBC */
    SQLHENV env;
    SQLHDBC dbc;
};

extern struct run run;

struct subject {
    const char *name;
    void (*run)(void); /* with run.dbc connected; may leave it in any state */
    enum subject_links {
        LINKS_ONE,   /* uses its session's, which then goes to the next */
        LINKS_MORE,  /* opens further sessions of other logins */
        LINKS_SPOILT /* its session's is closed instead of reused */
    } links;
};

extern const struct subject subjects[];
extern const size_t subject_count;

/* ---- slots for what a call tells -------------------------------------- */

enum { SLOT_TEXT = 512, SLOT_DATA = 4096, SLOT_ROWS = 16 };

struct slots {
    SQLSMALLINT small[8];
    SQLINTEGER integer[4];
    SQLLEN len[8];
    SQLULEN ulen[4];
    SQLLEN lens[2][SLOT_ROWS];
    SQLUSMALLINT status[SLOT_ROWS];
    SQLUSMALLINT function;
    SQLPOINTER pointer[2];
    unsigned char text[4][SLOT_TEXT] __attribute__((aligned(8)));
    unsigned char data[4][SLOT_DATA] __attribute__((aligned(8)));
};

extern struct slots out;

/* In the program's width; DATA is bytes. */
#define TEXT(i) ((void *)out.text[i])
#define DATA(i) ((void *)out.data[i])

/* ---- calling ----------------------------------------------------------- */

#define CALL(name, ...)                                                        \
    (say_begin(#name, #__VA_ARGS__), say_end(name(__VA_ARGS__)))
/* The narrow or the wide function; text arguments are void *. */
#define CALL_TEXT(name, ...)                                                   \
    (say_begin(run.wide ? #name "W" : #name, #__VA_ARGS__),                    \
     say_end(run.wide ? name##W(__VA_ARGS__) : name(__VA_ARGS__)))

void say_begin(const char *name, const char *arguments);
SQLRETURN say_end(SQLRETURN rc);

/* A line of the subject's own, such as which turn of a loop this is. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Bytes that are not in a slot. */
void say_bytes(const char *name, const void *bytes, size_t length);

/* Where what is said goes; NULL: nowhere. */
struct _IO_FILE;
void say_to(struct _IO_FILE *file);

/* ---- texts ------------------------------------------------------------- */

/* A text of UTF-8 in the program's width, terminated, in one of sixteen
   static buffers. */
void *IN(const char *utf8);
SQLWCHAR *WIDE(const char *utf8);
/* Of as many characters, in bytes. */
#define BYTES(characters) \
    ((characters) * (run.wide ? (int)sizeof(SQLWCHAR) : 1))
/* The C type of text in the program's width. */
#define C_TEXT (run.wide ? SQL_C_WCHAR : SQL_C_CHAR)

/* ---- handles ------------------------------------------------------------ */

/* All of them are called by names in the log, and have their records read
   until they are forgotten. */
SQLHANDLE handle_new(SQLSMALLINT type, SQLHANDLE parent);
SQLHSTMT stmt_new(void); /* of run.dbc */
void handle_free(SQLSMALLINT type, SQLHANDLE handle);
void handle_know(SQLSMALLINT type, SQLHANDLE handle);
void handle_free_statements(void); /* all of them */
void handle_forget_all(void);
/* SQLDisconnect, which frees what is beneath; the manager does not bear being
   asked for the records of a freed statement. */
SQLRETURN disconnect(SQLHDBC dbc);
const char *handle_name(SQLHANDLE handle); /* NULL: none of ours */
/* Prints the records that have changed. */
void diag_say_all(struct _IO_FILE *file);

/* A further session of the same login but for one keyword that changes
   nothing, so that it does not wait for a link of the first. */
SQLHDBC session_new(void);
void session_end(SQLHDBC dbc);

/* ---- what many subjects do ----------------------------------------------- */

/* SQLExecDirect; a text of NULL (the dialect has none) is said to be none. */
SQLRETURN sql(SQLHSTMT stmt, const char *text);
/* SQLPrepare. */
SQLRETURN prepare(SQLHSTMT stmt, const char *text);
/* Describes the columns. */
void show_columns(SQLHSTMT stmt);
/* Describes the columns, and fetches and gets all rows (or so many) as text. */
void show_rows(SQLHSTMT stmt, int most);
/* Runs it and shows its rows, then closes. */
void show(SQLHSTMT stmt, const char *text);

#endif
