/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The handles that a subject has, their names in the log, and their diagnostic
 * records, which are read by every function and field after every call and
 * printed when they have changed.
 */
#include "diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN = 64 };

static struct known {
    SQLSMALLINT type;
    SQLHANDLE handle, parent;
    char name[16];
    char *said; /* of its records, latest */
} known[KNOWN];

static size_t count;
static int numbers[SQL_HANDLE_DESC + 1];

static const char *const words[] = { "", "env", "dbc", "stmt", "desc" };

/* ---- records -------------------------------------------------------------- */

static void put_text(FILE *file, const void *text, long characters)
{
    const unsigned char *narrow = text;
    const SQLWCHAR *wide = text;

    fputc('"', file);
    for (long i = 0; i < characters; i++) {
        unsigned unit = run.wide ? wide[i] : narrow[i];

        if (unit >= 0x20 && unit < 0x7f) {
            fputc((int)unit, file);
        } else {
            fprintf(file, "\\%02x", unit);
        }
    }
    fputc('"', file);
}

/* A field of text; its length is told in bytes. */
static void put_text_field(FILE *file, const struct known *of,
                           SQLSMALLINT number, SQLSMALLINT field)
{
    unsigned char text[4096] __attribute__((aligned(8))) = { 0 };
    SQLSMALLINT length = -99;
    SQLRETURN rc = run.wide ?
        SQLGetDiagFieldW(of->type, of->handle, number, field, text,
                         sizeof text, &length) :
        SQLGetDiagField(of->type, of->handle, number, field, text,
                        sizeof text, &length);

    fprintf(file, " %d:%d,%d", field, rc, length);
    if (SQL_SUCCEEDED(rc) && length > 0) {
        put_text(file, text, run.wide ? length / (int)sizeof(SQLWCHAR)
                                      : length);
    }
}

/* A field of a number of `size` bytes. */
static void put_number_field(FILE *file, const struct known *of,
                             SQLSMALLINT number, SQLSMALLINT field)
{
    SQLLEN value = 0;
    SQLRETURN rc = run.wide ?
        SQLGetDiagFieldW(of->type, of->handle, number, field, &value, 0,
                         NULL) :
        SQLGetDiagField(of->type, of->handle, number, field, &value, 0, NULL);

    fprintf(file, " %d:%d,%ld", field, rc, (long)value);
}

static bool put_record(FILE *file, const struct known *of, SQLSMALLINT number)
{
    unsigned char state[16] __attribute__((aligned(8))) = { 0 };
    unsigned char text[4096] __attribute__((aligned(8))) = { 0 };
    SQLINTEGER native = -99;
    SQLSMALLINT length = -99;
    SQLRETURN rc = run.wide ?
        SQLGetDiagRecW(of->type, of->handle, number, (void *)state, &native,
                       (void *)text, 2000, &length) :
        SQLGetDiagRec(of->type, of->handle, number, state, &native, text, 2000,
                      &length);

    if (!SQL_SUCCEEDED(rc)) {
        return false;
    }
    fprintf(file, "\n      record %d: %d ", number, rc);
    put_text(file, state, 5);
    fprintf(file, " %d %d ", (int)native, length);
    put_text(file, text, length < 2000 ? length : 1999);
    fputs("\n       ", file);
    put_text_field(file, of, number, SQL_DIAG_SQLSTATE);
    put_number_field(file, of, number, SQL_DIAG_NATIVE);
    put_text_field(file, of, number, SQL_DIAG_MESSAGE_TEXT);
    if (run.dialect->by_error) {
        return true;
    }
    put_text_field(file, of, number, SQL_DIAG_CLASS_ORIGIN);
    put_text_field(file, of, number, SQL_DIAG_SUBCLASS_ORIGIN);
    put_text_field(file, of, number, SQL_DIAG_CONNECTION_NAME);
    put_text_field(file, of, number, SQL_DIAG_SERVER_NAME);
    put_number_field(file, of, number, SQL_DIAG_ROW_NUMBER);
    put_number_field(file, of, number, SQL_DIAG_COLUMN_NUMBER);
    return true;
}

static void put_records(FILE *file, const struct known *of)
{
    put_number_field(file, of, 0, SQL_DIAG_RETURNCODE);
    put_number_field(file, of, 0, SQL_DIAG_NUMBER);
    if (of->type == SQL_HANDLE_STMT) {
        put_number_field(file, of, 0, SQL_DIAG_ROW_COUNT);
        put_number_field(file, of, 0, SQL_DIAG_CURSOR_ROW_COUNT);
        put_number_field(file, of, 0, SQL_DIAG_DYNAMIC_FUNCTION_CODE);
        put_text_field(file, of, 0, SQL_DIAG_DYNAMIC_FUNCTION);
    }
    for (SQLSMALLINT i = 1; put_record(file, of, i); i++) {
    }
}

static void say_records(FILE *file, struct known *of)
{
    char *now = NULL;
    size_t size;
    FILE *memory = open_memstream(&now, &size);

    if (!memory) {
        abort();
    }
    put_records(memory, of);
    fclose(memory);
    if (of->said && strcmp(of->said, now) == 0) {
        free(now);
        return;
    }
    fprintf(file, "    %s%s\n", of->name, now);
    free(of->said);
    of->said = now;
}

void diag_say_all(FILE *file)
{
    for (size_t i = 0; i < count; i++) {
        say_records(file, &known[i]);
    }
}

/* ---- handles ----------------------------------------------------------------- */

static void know(SQLSMALLINT type, SQLHANDLE handle, SQLHANDLE parent)
{
    if (!handle || handle_name(handle)) {
        return;
    }
    if (count == KNOWN) {
        abort();
    }
    known[count] = (struct known){ .type = type, .handle = handle,
                                   .parent = parent };
    snprintf(known[count].name, sizeof known[count].name, "%s%d", words[type],
             ++numbers[type]);
    count++;
}

void handle_know(SQLSMALLINT type, SQLHANDLE handle)
{
    know(type, handle, type == SQL_HANDLE_DESC ? run.dbc : NULL);
}

static void forget(size_t i)
{
    free(known[i].said);
    memmove(&known[i], &known[i + 1], (--count - i) * sizeof known[0]);
}

void handle_forget_all(void)
{
    while (count > 0) {
        forget(count - 1);
    }
    memset(numbers, 0, sizeof numbers);
}

SQLRETURN disconnect(SQLHDBC dbc)
{
    for (size_t i = count; i-- > 0;) {
        if (known[i].parent == dbc) {
            forget(i);
        }
    }
    return CALL(SQLDisconnect, dbc);
}

void handle_free_statements(void)
{
    for (size_t i = count; i-- > 0;) {
        if (known[i].type == SQL_HANDLE_STMT) {
            handle_free(SQL_HANDLE_STMT, known[i].handle);
        }
    }
}

const char *handle_name(SQLHANDLE handle)
{
    for (size_t i = 0; i < count; i++) {
        if (known[i].handle == handle) {
            return known[i].name;
        }
    }
    return NULL;
}

SQLHANDLE handle_new(SQLSMALLINT type, SQLHANDLE parent)
{
    SQLHANDLE handle;

    CALL(SQLAllocHandle, type, parent, &out.pointer[0]);
    handle = out.pointer[0];
    know(type, handle, parent);
    return handle;
}

SQLHSTMT stmt_new(void)
{
    return handle_new(SQL_HANDLE_STMT, run.dbc);
}

void handle_free(SQLSMALLINT type, SQLHANDLE handle)
{
    /* The manager's answer for a freed handle is "invalid"; reading its
       records would be reading freed memory. */
    for (size_t i = 0; i < count; i++) {
        if (known[i].handle == handle) {
            say("%s is to be freed", known[i].name);
            forget(i);
            break;
        }
    }
    CALL(SQLFreeHandle, type, handle);
}
