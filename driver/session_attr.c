/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the manager replays before each connect, in any order and many shapes
 * (facts §5.1): known numbers with length 4, text narrow or UTF-16, terminated
 * or not, bare pointers, plain numbers.  ODBC says which of the standard
 * attributes are text; of all others the length says it.
 */
#include "autoconf.h"

#include "session_attr.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "affinity_odbc.h"
#include "config.h"
#include "link.h"
#include "route_key.h"

bool session_attr_is_ours(SQLINTEGER attribute)
{
    return attribute >= SQL_ATTR_AFFINITY_KEY &&
           attribute <= SQL_ATTR_AFFINITY_TOKEN;
}

bool session_attr_has_ours(const struct session_attr *list)
{
    const struct session_attr *attr;

    DL_FOREACH(list, attr) {
        if (session_attr_is_ours(attr->attribute)) {
            return true;
        }
    }
    return false;
}

static bool is_text(SQLINTEGER attribute, SQLINTEGER length)
{
    switch (attribute) {
    case SQL_ATTR_CURRENT_CATALOG:
    case SQL_ATTR_TRACEFILE:
    case SQL_ATTR_TRANSLATE_LIB:
        return true;
    default:
        break;
    }
    if (attribute < 0x4000 && !session_attr_is_ours(attribute)) {
        return false; /* all others of the standard are numbers */
    }
    return length == SQL_NTS || length > 0;
}

static bool is_number(SQLINTEGER length)
{
    return length == SQL_IS_INTEGER || length == SQL_IS_UINTEGER ||
           length == SQL_IS_SMALLINT || length == SQL_IS_USMALLINT;
}

/* Is the value a text to copy, of how many bytes?  Pointers of our own
   attributes are read at once, since they may dangle later; a small one is a
   number. */
static bool is_copied(SQLINTEGER attribute, SQLPOINTER value,
                      SQLINTEGER length, size_t *bytes)
{
    if (!value) {
        return false;
    }
    if (is_text(attribute, length) && length > 0) {
        *bytes = (size_t)length;
        return true;
    }
    if (session_attr_is_ours(attribute) &&
        length <= SQL_LEN_BINARY_ATTR_OFFSET) {
        *bytes = (size_t)(SQL_LEN_BINARY_ATTR_OFFSET - (int64_t)length);
        return true;
    }
    if (is_text(attribute, length) ||
        (session_attr_is_ours(attribute) && (uintptr_t)value >= 65536 &&
         !is_number(length))) {
        *bytes = strnlen(value, ROUTE_KEY_BYTES + 1);
        return true;
    }
    return false;
}

static void free_one(struct session_attr *attr)
{
    free(attr->bytes);
    free(attr);
}

static bool keep(struct session_attr **list, SQLINTEGER attribute,
                 SQLPOINTER value, SQLINTEGER length)
{
    struct session_attr *old = session_attr_find(*list, attribute);
    struct session_attr *attr = calloc(1, sizeof *attr);
    size_t bytes = 0;

    if (!attr) {
        return false;
    }
    attr->attribute = attribute;
    attr->length = length;
    attr->value = value;
    if (is_copied(attribute, value, length, &bytes)) {
        attr->bytes = calloc(bytes + 2, 1);
        if (!attr->bytes) {
            free(attr);
            return false;
        }
        memcpy(attr->bytes, value, bytes);
        attr->length = (SQLINTEGER)bytes;
    }
    if (old) {
        DL_DELETE(*list, old);
        free_one(old);
    }
    DL_APPEND(*list, attr);
    return true;
}

static bool keep_wide(struct session_attr **list, SQLINTEGER attribute,
                      SQLPOINTER value, SQLINTEGER length)
{
    struct text text;
    bool ok;

    /* What an attribute of the inner driver's holds is for it to know. */
    if (!value || !is_text(attribute, length) ||
        (attribute >= 0x4000 && !session_attr_is_ours(attribute))) {
        return keep(list, attribute, value, length);
    }
    text_init(&text);
    text_append_argument(&text, value, length, TEXT_WIDE, TEXT_BYTES);
    ok = !text.failed && text.length < INT_MAX &&
         keep(list, attribute, text.length ? text.data : (SQLPOINTER) "",
              text.length ? (SQLINTEGER)text.length : SQL_NTS);
    text_free(&text);
    return ok;
}

bool session_attr_keep(struct session_attr **list, SQLINTEGER attribute,
                       SQLPOINTER value, SQLINTEGER length,
                       enum text_width width)
{
    return width == TEXT_WIDE ? keep_wide(list, attribute, value, length)
                              : keep(list, attribute, value, length);
}

bool session_attr_default(SQLINTEGER attribute, SQLULEN *value, size_t *bytes)
{
    static const struct {
        SQLINTEGER attribute;
        SQLUINTEGER value;
        size_t bytes;
    } numbers[] = {
        { SQL_ATTR_ACCESS_MODE, SQL_MODE_READ_WRITE, sizeof(SQLUINTEGER) },
        { SQL_ATTR_ASYNC_ENABLE, SQL_ASYNC_ENABLE_OFF, sizeof(SQLULEN) },
        { SQL_ATTR_AUTOCOMMIT, SQL_AUTOCOMMIT_ON, sizeof(SQLUINTEGER) },
        { SQL_ATTR_CONNECTION_TIMEOUT, 0, sizeof(SQLUINTEGER) },
        { SQL_ATTR_LOGIN_TIMEOUT, 0, sizeof(SQLUINTEGER) },
        { SQL_ATTR_METADATA_ID, SQL_FALSE, sizeof(SQLUINTEGER) },
        { SQL_ATTR_QUIET_MODE, 0, sizeof(SQLHWND) },
    };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].attribute == attribute) {
            *value = numbers[i].value;
            *bytes = numbers[i].bytes;
            return true;
        }
    }
    return false;
}

void session_attr_free(struct session_attr **list)
{
    struct session_attr *attr, *next;

    DL_FOREACH_SAFE(*list, attr, next) {
        DL_DELETE(*list, attr);
        free_one(attr);
    }
}

struct session_attr *session_attr_find(struct session_attr *list,
                                       SQLINTEGER attribute)
{
    struct session_attr *attr;

    DL_FOREACH(list, attr) {
        if (attr->attribute == attribute) {
            return attr;
        }
    }
    return NULL;
}

/* UTF-16 arrives in the narrow function with its byte length: an even number
   of bytes of which odd ones are NUL is no narrow text. */
static bool looks_wide(const struct session_attr *attr)
{
    size_t length = (size_t)attr->length;

    return length >= 2 && length % 2 == 0 &&
           memchr(attr->bytes, 0, length) != NULL;
}

static void append_value(const struct session_attr *attr, struct text *out)
{
    if (!attr->bytes) {
        if (attr->value || is_number(attr->length)) {
            text_appendf(out, "%ld", (long)(intptr_t)attr->value);
        }
    } else if (looks_wide(attr)) {
        size_t units = (size_t)attr->length / 2;
        const SQLWCHAR *wide = (const SQLWCHAR *)(void *)attr->bytes;
        while (units > 0 && wide[units - 1] == 0) {
            units--;
        }
        text_append_utf16(out, wide, units);
    } else {
        text_append_bytes(out, attr->bytes,
                          strnlen(attr->bytes, (size_t)attr->length));
    }
}

bool session_attr_configure(const struct session_attr *list,
                            struct config *config, struct why *why)
{
    const struct session_attr *attr;
    bool ok = true;

    DL_FOREACH(list, attr) {
        struct text value;
        const char *keyword =
            attr->attribute == SQL_ATTR_AFFINITY_KEY     ? "AffinityKey"
            : attr->attribute == SQL_ATTR_AFFINITY_MODE  ? "AffinityMode"
            : attr->attribute == SQL_ATTR_AFFINITY_SCOPE ? "AffinityScope"
                                                         : NULL;
        if (!session_attr_is_ours(attr->attribute)) {
            continue;
        }
        if (!keyword) {
            why_set(why, WHY_UNAVAILABLE,
                    "attribute 0x%X was set before connect, which is not "
                    "possible in this version",
                    (unsigned)attr->attribute);
            return false;
        }
        text_init(&value);
        append_value(attr, &value);
        if (value.failed) {
            why_memory(why);
            ok = false;
        } else {
            ok = config_set(config, keyword, text_string(&value), why);
        }
        text_free(&value);
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* What is not the link's: ours, what the manager says to a driver before a
   wide connect, and a reset of what is new. */
static bool is_replayed(SQLINTEGER attribute)
{
    return !session_attr_is_ours(attribute) &&
           attribute != SQL_ATTR_RESET_CONNECTION &&
           attribute != SQL_ATTR_ANSI_APP && attribute != SQL_ATTR_ODBC_CURSORS;
}

/* The time that opening may take has no use any more, but drivers tell it to
   who asks; one that does not would have its link spoilt for nothing. */
static bool is_wanted(const struct session_attr *attr, const struct link *link)
{
    const struct inner_calls *call = &link->inner->call;
    SQLULEN value = 0;

    return attr->attribute != SQL_ATTR_LOGIN_TIMEOUT ||
           (call->SQLGetConnectAttr &&
            SQL_SUCCEEDED(call->SQLGetConnectAttr(
                link->hdbc, attr->attribute, &value, SQL_IS_UINTEGER, NULL)));
}

void session_attr_replay(const struct session_attr *list, struct link *link)
{
    const struct session_attr *attr;

    DL_FOREACH(list, attr) {
        if (is_replayed(attr->attribute) && is_wanted(attr, link)) {
            link->touched = true;
            link_note_attr(link, attr->attribute);
            link->inner->call.SQLSetConnectAttr(
                link->hdbc, attr->attribute,
                attr->bytes ? (SQLPOINTER)attr->bytes : attr->value,
                attr->length);
        }
    }
}
