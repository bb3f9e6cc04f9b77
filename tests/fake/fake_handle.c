/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The fake driver's handles, diagnostics, connecting and attributes.
 */
#include "autoconf.h"

#include "fake_inside.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connstr.h"
#include "secret.h"

unsigned fake_live(SQLSMALLINT type);
unsigned fake_mistakes(void);
SQLHANDLE fake_latest(SQLSMALLINT type);

/* Handles are never given back, so that a stale one can be told. */
static struct {
    pthread_mutex_t lock;
    struct fake *first;
    unsigned mistakes, serial;
} handles = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct fake *find(SQLHANDLE handle, SQLSMALLINT type)
{
    struct fake *fake;

    for (fake = handles.first; fake && fake != handle; fake = fake->next) {
    }
    return fake && fake->type == type ? fake : NULL;
}

struct fake *fake_of(SQLSMALLINT type, SQLHANDLE handle)
{
    struct fake *fake;

    pthread_mutex_lock(&handles.lock);
    fake = find(handle, type);
    if (!fake) {
        handles.mistakes++;
    }
    pthread_mutex_unlock(&handles.lock);
    return fake;
}

unsigned fake_live(SQLSMALLINT type)
{
    unsigned count = 0;

    pthread_mutex_lock(&handles.lock);
    for (struct fake *fake = handles.first; fake; fake = fake->next) {
        count += fake->type == type;
    }
    pthread_mutex_unlock(&handles.lock);
    return count;
}

unsigned fake_mistakes(void)
{
    unsigned mistakes;

    pthread_mutex_lock(&handles.lock);
    mistakes = handles.mistakes;
    pthread_mutex_unlock(&handles.lock);
    return mistakes;
}

/* New ones stand first in the list. */
SQLHANDLE fake_latest(SQLSMALLINT type)
{
    struct fake *fake;

    pthread_mutex_lock(&handles.lock);
    for (fake = handles.first; fake && fake->type != type;
         fake = fake->next) {
    }
    pthread_mutex_unlock(&handles.lock);
    return fake;
}

static struct fake *make(SQLSMALLINT type, struct fake *parent)
{
    struct fake *fake = calloc(1, sizeof *fake);

    fake->type = type;
    fake->parent = parent;
    pthread_mutex_lock(&handles.lock);
    fake->serial = ++handles.serial;
    fake->next = handles.first;
    handles.first = fake;
    pthread_mutex_unlock(&handles.lock);
    return fake;
}

SQLRETURN do_SQLAllocHandle(SQLSMALLINT type, SQLHANDLE input,
                            SQLHANDLE *output)
{
    struct fake *parent = NULL;
    struct fake *fake;

    if (type != SQL_HANDLE_ENV) {
        parent = fake_of(type == SQL_HANDLE_DBC ? SQL_HANDLE_ENV :
                         SQL_HANDLE_DBC, input);
        if (!parent) {
            return SQL_INVALID_HANDLE;
        }
    }
    fake = make(type, parent);
    for (int i = 0; type == SQL_HANDLE_STMT && i < 4; i++) {
        fake->descs[i] = make(SQL_HANDLE_DESC, fake);
    }
    *output = fake;
    return SQL_SUCCESS;
}

static void end(struct fake *fake)
{
    pthread_mutex_lock(&handles.lock);
    fake->type = 0;
    pthread_mutex_unlock(&handles.lock);
    secret_free(fake->string);
    free(fake->text);
    fake->string = NULL;
    fake->text = NULL;
}

SQLRETURN do_SQLFreeHandle(SQLSMALLINT type, SQLHANDLE handle)
{
    struct fake *fake = fake_of(type, handle);

    if (!fake) {
        return SQL_INVALID_HANDLE;
    }
    for (int i = 0; i < 4; i++) {
        if (fake->descs[i]) {
            end(fake->descs[i]);
        }
    }
    end(fake);
    return SQL_SUCCESS;
}

/* ---- diagnostics ---------------------------------------------------------- */

SQLRETURN fake_fail(struct fake *fake, const char *state, const char *text)
{
    fake->record_count = 1;
    snprintf(fake->records[0].state, 6, "%.5s", state);
    fake->records[0].native = 42;
    snprintf(fake->records[0].text, sizeof fake->records[0].text, "%s", text);
    return SQL_ERROR;
}

static SQLRETURN write_text(const char *text, void *out, SQLSMALLINT size,
                            SQLSMALLINT *length, enum text_width width,
                            enum text_unit unit)
{
    struct text_written written =
        text_write(text, strlen(text), out, size, width, unit);

    if (length) {
        *length = (SQLSMALLINT)written.needed;
    }
    return written.truncated ? SQL_SUCCESS_WITH_INFO : SQL_SUCCESS;
}

/* The narrow text says that it is; "wide" and "narrow" readers can be told. */
SQLRETURN do_SQLGetDiagRec(enum text_width width, SQLSMALLINT type,
                           SQLHANDLE handle, SQLSMALLINT number, void *state,
                           SQLINTEGER *native, void *text, SQLSMALLINT size,
                           SQLSMALLINT *length)
{
    struct fake *fake = fake_of(type, handle);
    const struct fake_record *record;
    char message[220];

    if (!fake) {
        return SQL_INVALID_HANDLE;
    }
    if (number < 1 || (unsigned)number > fake->record_count) {
        return SQL_NO_DATA;
    }
    record = &fake->records[number - 1];
    text_write(record->state, 5, state, 6, width, TEXT_CHARACTERS);
    if (native) {
        *native = record->native;
    }
    snprintf(message, sizeof message, "%s%s", record->text,
             width == TEXT_WIDE ? " (wide)" : " (narrow)");
    return write_text(message, text, size, length, width, TEXT_CHARACTERS);
}

static SQLRETURN record_field(enum text_width width, const struct fake *fake,
                              SQLSMALLINT number, SQLSMALLINT field,
                              SQLPOINTER value, SQLSMALLINT size,
                              SQLSMALLINT *length)
{
    if (number < 1) {
        return SQL_ERROR;
    }
    if ((unsigned)number > fake->record_count) {
        return SQL_NO_DATA;
    }
    switch (field) {
    case SQL_DIAG_ROW_NUMBER:
        *(SQLLEN *)value = number;
        return SQL_SUCCESS;
    case SQL_DIAG_COLUMN_NUMBER:
        *(SQLINTEGER *)value = 10 + number;
        return SQL_SUCCESS;
    case SQL_DIAG_NATIVE:
        *(SQLINTEGER *)value = fake->records[number - 1].native;
        return SQL_SUCCESS;
    case SQL_DIAG_SQLSTATE:
        return write_text(fake->records[number - 1].state, value, size, length,
                          width, TEXT_BYTES);
    case SQL_DIAG_SERVER_NAME:
        return write_text("fake server", value, size, length, width,
                          TEXT_BYTES);
    case SQL_DIAG_CONNECTION_NAME:
        return write_text("fake connection", value, size, length, width,
                          TEXT_BYTES);
    default:
        return SQL_ERROR;
    }
}

SQLRETURN do_SQLGetDiagField(enum text_width width, SQLSMALLINT type,
                             SQLHANDLE handle, SQLSMALLINT number,
                             SQLSMALLINT field, SQLPOINTER value,
                             SQLSMALLINT size, SQLSMALLINT *length)
{
    struct fake *fake = fake_of(type, handle);

    if (!fake) {
        return SQL_INVALID_HANDLE;
    }
    switch (field) {
    case SQL_DIAG_NUMBER:
        *(SQLINTEGER *)value = (SQLINTEGER)fake->record_count;
        return SQL_SUCCESS;
    case SQL_DIAG_ROW_COUNT:
        *(SQLLEN *)value = 77;
        return SQL_SUCCESS;
    case SQL_DIAG_CURSOR_ROW_COUNT:
        *(SQLLEN *)value = 78;
        return SQL_SUCCESS;
    case SQL_DIAG_DYNAMIC_FUNCTION_CODE:
        *(SQLINTEGER *)value = SQL_DIAG_INSERT;
        return SQL_SUCCESS;
    case SQL_DIAG_DYNAMIC_FUNCTION:
        return write_text("INSERT", value, size, length, width, TEXT_BYTES);
    default:
        return record_field(width, fake, number, field, value, size, length);
    }
}

/* ---- connecting ----------------------------------------------------------- */

bool fake_control(const char *path, const char *keyword, char *out,
                  size_t size)
{
    FILE *file = fopen(path, "r");
    char line[256];
    bool found = false;

    while (file && fgets(line, sizeof line, file)) {
        size_t length = strlen(keyword);

        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, keyword, length) == 0 && line[length] == '=') {
            snprintf(out, size, "%s", line + length + 1);
            found = true;
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

bool fake_keyword(const struct fake *dbc, const char *keyword, char *out,
                  size_t size)
{
    struct connstr list;
    const char *value, *path;
    bool found;

    connstr_init(&list);
    connstr_parse(&list, dbc->string, strlen(dbc->string));
    path = connstr_value(&list, "FakeControl");
    value = connstr_value(&list, keyword);
    found = path && fake_control(path, keyword, out, size);
    if (!found && value) {
        snprintf(out, size, "%s", value);
        found = true;
    }
    connstr_free(&list);
    return found;
}

static SQLRETURN connect_as_told(struct fake *dbc)
{
    char value[64], control[200];

    if (fake_keyword(dbc, "FakeSlow", value, sizeof value)) {
        fake_sleep((unsigned)strtoul(value, NULL, 10));
    }
    if (fake_keyword(dbc, "FakeHang", value, sizeof value)) {
        fake_hang(fake_keyword(dbc, "FakeControl", control, sizeof control)
                      ? control : NULL, NULL);
    }
    if (fake_keyword(dbc, "FakeFail", value, sizeof value)) {
        return fake_fail(dbc, value, "the fake was told to fail");
    }
    dbc->connected = true;
    if (fake_keyword(dbc, "FakeWarn", value, sizeof value)) {
        fake_fail(dbc, value, "the fake was told to warn");
        return SQL_SUCCESS_WITH_INFO;
    }
    return SQL_SUCCESS;
}

SQLRETURN do_SQLDriverConnect(enum text_width width, SQLHDBC handle,
                              SQLHWND window, void *in, SQLSMALLINT in_length,
                              void *out, SQLSMALLINT out_size,
                              SQLSMALLINT *out_length,
                              SQLUSMALLINT completion)
{
    struct fake *dbc = fake_of(SQL_HANDLE_DBC, handle);
    struct text text;
    SQLRETURN rc;

    (void)window;
    (void)completion;
    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    text_init_wiped(&text);
    text_append_argument(&text, in, in_length, width, TEXT_CHARACTERS);
    secret_free(dbc->string);
    dbc->string = secret_dup(text_string(&text), text.length);
    text_free(&text);
    write_text(dbc->string, out, out_size, out_length, width,
               TEXT_CHARACTERS);
    fake_connecting(true);
    rc = connect_as_told(dbc);
    fake_connecting(false);
    return rc;
}

/* Statements must have been freed before (facts §9). */
SQLRETURN do_SQLDisconnect(SQLHDBC handle)
{
    struct fake *dbc = fake_of(SQL_HANDLE_DBC, handle);

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    pthread_mutex_lock(&handles.lock);
    for (struct fake *fake = handles.first; fake; fake = fake->next) {
        if (fake->type && fake->parent == dbc) {
            handles.mistakes++;
        }
    }
    pthread_mutex_unlock(&handles.lock);
    dbc->connected = false;
    return SQL_SUCCESS;
}

SQLRETURN do_SQLEndTran(SQLSMALLINT type, SQLHANDLE handle,
                        SQLSMALLINT completion)
{
    struct fake *fake = fake_of(type, handle);

    if (!fake) {
        return SQL_INVALID_HANDLE;
    }
    if (completion != SQL_COMMIT && completion != SQL_ROLLBACK) {
        return fake_fail(fake, "HY012", "no such completion");
    }
    return fake->dead ? fake_fail(fake, "08S01", "the fake is dead") :
        SQL_SUCCESS;
}

/* ---- attributes ------------------------------------------------------------ */

static SQLRETURN keep(struct fake *fake, SQLINTEGER attribute,
                      SQLPOINTER value)
{
    unsigned i = 0;

    while (i < fake->attr_count && fake->attrs[i].attribute != attribute) {
        i++;
    }
    if (i == FAKE_ATTRS) {
        return fake_fail(fake, "HY001", "too many attributes for a fake");
    }
    if (i == fake->attr_count) {
        fake->attr_count++;
    }
    fake->attrs[i].attribute = attribute;
    fake->attrs[i].value = value;
    return SQL_SUCCESS;
}

static SQLPOINTER kept(const struct fake *fake, SQLINTEGER attribute)
{
    for (unsigned i = 0; i < fake->attr_count; i++) {
        if (fake->attrs[i].attribute == attribute) {
            return fake->attrs[i].value;
        }
    }
    return NULL;
}

SQLRETURN do_SQLSetEnvAttr(SQLHENV handle, SQLINTEGER attribute,
                           SQLPOINTER value, SQLINTEGER length)
{
    struct fake *env = fake_of(SQL_HANDLE_ENV, handle);

    (void)length;
    return env ? keep(env, attribute, value) : SQL_INVALID_HANDLE;
}

/* 30000 is an attribute that the fake refuses. */
SQLRETURN do_SQLSetConnectAttr(enum text_width width, SQLHDBC handle,
                               SQLINTEGER attribute, SQLPOINTER value,
                               SQLINTEGER length)
{
    struct fake *dbc = fake_of(SQL_HANDLE_DBC, handle);

    (void)width;
    (void)length;
    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    return attribute == 30000 ? fake_fail(dbc, "HY092", "no attribute") :
        keep(dbc, attribute, value);
}

SQLRETURN do_SQLGetConnectAttr(enum text_width width, SQLHDBC handle,
                               SQLINTEGER attribute, SQLPOINTER value,
                               SQLINTEGER size, SQLINTEGER *length)
{
    struct fake *dbc = fake_of(SQL_HANDLE_DBC, handle);
    SQLUINTEGER number;

    (void)width;
    (void)size;
    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    if (attribute == 30000) {
        return fake_fail(dbc, "HY092", "no attribute");
    }
    number = attribute == SQL_ATTR_CONNECTION_DEAD ? dbc->dead :
        (SQLUINTEGER)(uintptr_t)kept(dbc, attribute);
    if (attribute == SQL_ATTR_AUTOCOMMIT && !kept(dbc, attribute)) {
        number = SQL_AUTOCOMMIT_ON;
    }
    *(SQLUINTEGER *)value = number;
    if (length) {
        *length = (SQLINTEGER)sizeof number;
    }
    return SQL_SUCCESS;
}

static bool is_descriptor(SQLINTEGER attribute)
{
    return attribute >= SQL_ATTR_APP_ROW_DESC &&
           attribute <= SQL_ATTR_IMP_PARAM_DESC;
}

SQLRETURN do_SQLSetStmtAttr(enum text_width width, SQLHSTMT handle,
                            SQLINTEGER attribute, SQLPOINTER value,
                            SQLINTEGER length)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    (void)width;
    (void)length;
    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    if (!is_descriptor(attribute)) {
        return keep(stmt, attribute, value);
    }
    if (value && !fake_of(SQL_HANDLE_DESC, value)) {
        return fake_fail(stmt, "HY024", "no descriptor");
    }
    stmt->explicit_descs[attribute - SQL_ATTR_APP_ROW_DESC] = value;
    return SQL_SUCCESS;
}

SQLRETURN do_SQLGetStmtAttr(enum text_width width, SQLHSTMT handle,
                            SQLINTEGER attribute, SQLPOINTER value,
                            SQLINTEGER size, SQLINTEGER *length)
{
    struct fake *stmt = fake_of(SQL_HANDLE_STMT, handle);

    (void)width;
    (void)size;
    if (!stmt) {
        return SQL_INVALID_HANDLE;
    }
    if (is_descriptor(attribute)) {
        int i = attribute - SQL_ATTR_APP_ROW_DESC;

        *(SQLHDESC *)value = stmt->explicit_descs[i] ?
            stmt->explicit_descs[i] : stmt->descs[i];
    } else {
        *(SQLPOINTER *)value = kept(stmt, attribute);
    }
    if (length) {
        *length = (SQLINTEGER)sizeof(SQLPOINTER);
    }
    return SQL_SUCCESS;
}

SQLRETURN do_SQLCopyDesc(SQLHDESC handle, SQLHDESC target)
{
    return fake_of(SQL_HANDLE_DESC, handle) &&
           fake_of(SQL_HANDLE_DESC, target) ? SQL_SUCCESS :
        SQL_INVALID_HANDLE;
}

/* ---- information ----------------------------------------------------------- */

/* All but SQLBulkOperations, so that a driver's own no can be told from a
   missing export. */
SQLRETURN do_SQLGetFunctions(SQLHDBC handle, SQLUSMALLINT function,
                             SQLUSMALLINT *supported)
{
    if (!fake_of(SQL_HANDLE_DBC, handle)) {
        return SQL_INVALID_HANDLE;
    }
    if (function != SQL_API_ODBC3_ALL_FUNCTIONS) {
        *supported = function != SQL_API_SQLBULKOPERATIONS;
        return SQL_SUCCESS;
    }
    memset(supported, 0xff,
           SQL_API_ODBC3_ALL_FUNCTIONS_SIZE * sizeof *supported);
    supported[SQL_API_SQLBULKOPERATIONS >> 4] &=
        (SQLUSMALLINT)~(1u << (SQL_API_SQLBULKOPERATIONS & 15));
    return SQL_SUCCESS;
}

SQLRETURN do_SQLGetInfo(enum text_width width, SQLHDBC handle,
                        SQLUSMALLINT info, SQLPOINTER value, SQLSMALLINT size,
                        SQLSMALLINT *length)
{
    struct fake *dbc = fake_of(SQL_HANDLE_DBC, handle);

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    switch (info) {
    case SQL_DRIVER_NAME:
        return write_text(FAKE_LIBRARY, value, size, length, width,
                          TEXT_BYTES);
    case SQL_DRIVER_ODBC_VER:
        return write_text("03.80", value, size, length, width, TEXT_BYTES);
    case SQL_DBMS_NAME:
        return write_text("Fake", value, size, length, width, TEXT_BYTES);
    case SQL_CURSOR_COMMIT_BEHAVIOR:
    case SQL_CURSOR_ROLLBACK_BEHAVIOR:
        *(SQLUSMALLINT *)value = SQL_CB_PRESERVE;
        return SQL_SUCCESS;
    case SQL_TXN_CAPABLE:
        *(SQLUSMALLINT *)value = SQL_TC_ALL;
        return SQL_SUCCESS;
    case SQL_GETDATA_EXTENSIONS:
        *(SQLUINTEGER *)value = SQL_GD_ANY_COLUMN | SQL_GD_ANY_ORDER;
        return SQL_SUCCESS;
    default:
        return fake_fail(dbc, "HY096", "the fake knows little of itself");
    }
}
