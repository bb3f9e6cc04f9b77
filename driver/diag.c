/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A handle's list of diagnostic records: filling it with ours, emptying it,
 * handing it on.  The inner driver's records are copied in diag_copy.c, and how
 * the application reads a list is diag_field.c's.
 *
 * A list that cannot grow for want of memory loses a record, never the result
 * of the call: SQL_ERROR without a record is what ODBC itself knows for that.
 */
#include "autoconf.h"

#include "diag.h"
#include "diag_inside.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    char state[6];
    SQLINTEGER native;
    const char *text;
} codes[] = {
#define DIAG(code, state, native, text) { state, native, text },
#include "diag.def"
};

void diag_init(struct diags *diags, const char *dsn)
{
    memset(diags, 0, sizeof *diags);
    mutex_init(&diags->lock, LOCK_DIAG);
    diags->dsn = dsn;
}

void diag_free_record(struct diag_record *record)
{
    free(record->narrow);
    free(record->utf8);
    free(record->class_origin);
    free(record->subclass_origin);
    free(record->connection);
    free(record->server);
    free(record);
}

static void free_records(struct diag_record *record)
{
    while (record) {
        struct diag_record *next = record->next;

        diag_free_record(record);
        record = next;
    }
}

void diag_wipe(struct diags *diags)
{
    struct diag_record *old;

    mutex_lock(&diags->lock);
    old = diags->first;
    diags->first = NULL;
    diags->result = SQL_SUCCESS;
    diags->header = (struct diag_header){ 0 };
    atomic_store_explicit(&diags->aside, false, memory_order_relaxed);
    atomic_store_explicit(&diags->dirty, false, memory_order_relaxed);
    mutex_unlock(&diags->lock);
    free_records(old);
}

void diag_set_aside(struct diags *diags, bool aside)
{
    atomic_store_explicit(&diags->aside, aside, memory_order_relaxed);
    if (aside) {
        atomic_store_explicit(&diags->dirty, true, memory_order_relaxed);
    }
}

void diag_free(struct diags *diags)
{
    free_records(diags->first);
    diags->first = NULL;
    mutex_destroy(&diags->lock);
}

static SQLRETURN note_result_locked(struct diags *diags, SQLRETURN result)
{
    mutex_assert_held(&diags->lock);
    diags->result = result;
    if (result != SQL_SUCCESS) {
        atomic_store_explicit(&diags->dirty, true, memory_order_relaxed);
    }
    return result;
}

SQLRETURN diag_result(struct diags *diags, SQLRETURN result)
{
    mutex_lock(&diags->lock);
    note_result_locked(diags, result);
    mutex_unlock(&diags->lock);
    return result;
}

/* ---- records of ours ------------------------------------------------- */

/* Where a new record of ours goes: behind ours, before the inner driver's. */
static struct diag_record **end_of_ours_locked(struct diags *diags)
{
    struct diag_record **place = &diags->first;

    mutex_assert_held(&diags->lock);
    while (*place && (*place)->ours) {
        place = &(*place)->next;
    }
    return place;
}

static struct diag_record *make_ours(enum why_code code, const char *dsn,
                                     const char *sentence)
{
    struct diag_record *record = calloc(1, sizeof *record);
    struct text text;

    text_init(&text);
    text_append(&text, "[odbc-affinity]");
    if (dsn && *dsn) {
        text_appendf(&text, "[%s]", dsn);
    }
    text_appendf(&text, " %s", *sentence ? sentence : codes[code].text);
    if (record) {
        record->ours = true;
        memcpy(record->state, codes[code].state, sizeof record->state);
        record->native = codes[code].native;
        record->row = SQL_NO_ROW_NUMBER;
        record->column = SQL_NO_COLUMN_NUMBER;
        record->narrow = text_take(&text);
    }
    text_free(&text);
    return record;
}

SQLRETURN diag_why(struct diags *diags, const struct why *why)
{
    struct diag_record *record = NULL;
    struct diag_record **place;
    SQLRETURN result = SQL_ERROR;

    if (why->code == WHY_NONE) {
        return SQL_SUCCESS;
    }
    if (strncmp(codes[why->code].state, "01", 2) == 0) {
        result = SQL_SUCCESS_WITH_INFO;
    }
    mutex_lock(&diags->lock);
    place = end_of_ours_locked(diags);
    if (why->code != WHY_INNER || !*place) {
        record = make_ours(why->code, diags->dsn, why->text);
    }
    if (record) {
        record->next = *place;
        *place = record;
    }
    note_result_locked(diags, result);
    mutex_unlock(&diags->lock);
    return result;
}

SQLRETURN diag_add(struct diags *diags, enum why_code code,
                   const char *format, ...)
{
    struct why why;
    va_list arguments;

    va_start(arguments, format);
    why_vset(&why, code, format, arguments);
    va_end(arguments);
    return diag_why(diags, &why);
}

/* ---- looking --------------------------------------------------------- */

bool diag_any(struct diags *diags,
              bool (*is)(const char *sqlstate, SQLINTEGER native,
                         const char *text))
{
    bool any = false;

    mutex_lock(&diags->lock);
    for (struct diag_record *record = diags->first; record;
         record = record->next) {
        any |= !record->ours &&
               is(record->state, record->native, record->narrow);
    }
    mutex_unlock(&diags->lock);
    return any;
}

bool diag_is_here(struct diags *diags)
{
    bool here = atomic_load_explicit(&diags->aside, memory_order_relaxed);

    mutex_lock(&diags->lock);
    here |= diags->first && diags->first->ours; /* ours come first */
    mutex_unlock(&diags->lock);
    return here;
}

bool diag_empty(struct diags *diags)
{
    bool empty;

    if (!atomic_load_explicit(&diags->dirty, memory_order_relaxed)) {
        return true;
    }
    mutex_lock(&diags->lock);
    empty = !diags->first;
    mutex_unlock(&diags->lock);
    return empty;
}

/* ---- handing on ------------------------------------------------------ */

void diag_append(struct diags *diags, struct diag_record *records,
                 const struct diag_header *header, SQLRETURN result)
{
    struct diag_record **end = &diags->first;

    mutex_lock(&diags->lock);
    while (*end) {
        end = &(*end)->next;
    }
    *end = records;
    if (header) {
        diags->header = *header;
    }
    note_result_locked(diags, result);
    mutex_unlock(&diags->lock);
}

static char *copy_text(const char *text, bool *ok)
{
    char *copy = text ? strdup(text) : NULL;

    *ok &= !text || copy;
    return copy;
}

static struct diag_record *copy_record(const struct diag_record *record)
{
    struct diag_record *copy = malloc(sizeof *copy);
    bool ok = true;

    if (!copy) {
        return NULL;
    }
    *copy = *record;
    copy->next = NULL;
    copy->narrow = copy_text(record->narrow, &ok);
    copy->utf8 = copy_text(record->utf8, &ok);
    copy->class_origin = copy_text(record->class_origin, &ok);
    copy->subclass_origin = copy_text(record->subclass_origin, &ok);
    copy->connection = copy_text(record->connection, &ok);
    copy->server = copy_text(record->server, &ok);
    if (!ok) {
        diag_free_record(copy);
        copy = NULL;
    }
    return copy;
}

SQLRETURN diag_repeat(struct diags *to, const struct diags *from)
{
    struct diag_record *first = NULL, **end = &first;

    for (const struct diag_record *record = from->first; record;
         record = record->next) {
        *end = copy_record(record);
        end = *end ? &(*end)->next : end;
    }
    diag_append(to, first, NULL, from->result);
    return from->result;
}

void diag_move(struct diags *to, struct diags *from)
{
    struct diag_record *records;
    SQLRETURN result;

    mutex_lock(&from->lock);
    records = from->first;
    result = from->result;
    from->first = NULL;
    mutex_unlock(&from->lock);
    diag_append(to, records, NULL, result);
    diag_wipe(from);
}
