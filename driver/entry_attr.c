/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Connection attributes: ours (affinity_odbc.h), kept while there is no link,
 * and otherwise the inner driver's, narrow to narrow and wide to wide, since
 * what arrives in a wide call may be narrow text and only the inner driver
 * knows (facts §5.2).
 */
#include "autoconf.h"

#include "surface.h"

#include <string.h>

#include "affinity_odbc.h"
#include "config.h"
#include "entry_pooling.h"
#include "session.h"
#include "session_attr.h"

static bool is_read_only(SQLINTEGER attribute)
{
    return attribute == SQL_ATTR_AFFINITY_INSTANCE ||
           attribute == SQL_ATTR_AFFINITY_VERDICT;
}

static const char *attr_name(SQLINTEGER attribute)
{
    static const char *const names[] = {
        "SQL_ATTR_AFFINITY_KEY", "SQL_ATTR_AFFINITY_MODE",
        "SQL_ATTR_AFFINITY_SCOPE", "SQL_ATTR_AFFINITY_INSTANCE",
        "SQL_ATTR_AFFINITY_VERDICT", "SQL_ATTR_AFFINITY_TOKEN"
    };

    return names[attribute - SQL_ATTR_AFFINITY_KEY];
}

/* ---- setting --------------------------------------------------------- */

/* None of ours can be set now, nor this one be read: why. */
static SQLRETURN refuse_ours(struct dbc *dbc, SQLINTEGER attribute)
{
    if (attribute == SQL_ATTR_AFFINITY_TOKEN) {
        return diag_add(&dbc->head.diags, WHY_UNAVAILABLE,
                        "SQL_ATTR_AFFINITY_TOKEN: there is no "
                        "ReadYourWrites yet");
    }
    return diag_add(&dbc->head.diags, WHY_UNAVAILABLE,
                    "%s can be set only before connecting: a session that "
                    "has its link cannot move yet", attr_name(attribute));
}

static SQLRETURN set_inner(struct dbc *dbc, SQLINTEGER attribute,
                           SQLPOINTER value, SQLINTEGER length,
                           enum text_width width)
{
    const struct inner_calls *call;
    __typeof__(SQLSetConnectAttr) *set;
    SQLHDBC inner;
    SQLRETURN rc = entry_inner(dbc, &inner, &call);

    if (rc != SQL_SUCCESS) {
        return rc;
    }
    set = SURFACE_IN(width, call, SQLSetConnectAttr);
    if (!set) {
        return entry_missing(&dbc->head, "SQLSetConnectAttr", width);
    }
    session_touch(dbc->session);
    session_note_attr(dbc->session, attribute);
    session_note_width(dbc->session, width);
    lock_assert_none();
    rc = set(inner, attribute, value, length);
    return rc == SQL_SUCCESS ? rc : entry_leave(&dbc->head, rc);
}

SQLRETURN entry_SQLSetConnectAttr(enum text_width width, SQLHDBC handle,
                                  SQLINTEGER attribute, SQLPOINTER value,
                                  SQLINTEGER length)
{
    struct dbc *dbc = entry_dbc(handle);
    bool chosen = false;

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    if (handle_inherited(&dbc->head)) {
        return entry_inherited(&dbc->head);
    }
    if (is_read_only(attribute)) {
        return diag_add(&dbc->head.diags, WHY_ATTRIBUTE,
                        "%s can only be read", attr_name(attribute));
    }
    if (!dbc->connected) {
        return session_keep_attr(dbc->session, attribute, value, length,
                                 width, &dbc->head.diags);
    }
    if (attribute == SQL_ATTR_RESET_CONNECTION) {
        return entry_reset(dbc, value);
    }
    if (session_is_choice(attribute)) {
        SQLRETURN rc = session_choose(dbc->session, attribute, value, length,
                                      width, &dbc->head.diags, &chosen);
        if (chosen) {
            return rc;
        }
    }
    return session_attr_is_ours(attribute) ? refuse_ours(dbc, attribute) :
        set_inner(dbc, attribute, value, length, width);
}

/* ---- getting --------------------------------------------------------- */

static const char *ours(const struct dbc *dbc, SQLINTEGER attribute)
{
    const struct config *config = session_config(dbc->session);

    switch (attribute) {
    case SQL_ATTR_AFFINITY_KEY:
        return config->session.key;
    case SQL_ATTR_AFFINITY_MODE:
        return config_word_mode(config->session.mode);
    case SQL_ATTR_AFFINITY_SCOPE:
        return config_word_scope(config->session.scope);
    case SQL_ATTR_AFFINITY_INSTANCE:
        return session_instance(dbc->session);
    default:
        return session_verdict(dbc->session);
    }
}

SQLRETURN entry_write_attr(struct head *head, const char *text, size_t length,
                           SQLPOINTER value, SQLINTEGER size,
                           SQLINTEGER *needed, enum text_width width)
{
    struct text_written written;

    if (size < 0) {
        return diag_add(&head->diags, WHY_LENGTH,
                        "the room for the value is %d", (int)size);
    }
    written = text_write(text, length, value, size, width, TEXT_BYTES);
    if (needed) {
        *needed = (SQLINTEGER)written.needed;
    }
    return written.truncated ? diag_add(&head->diags, WHY_TRUNCATED, "%s", "")
                             : SQL_SUCCESS;
}

static void write_number(SQLPOINTER value, SQLINTEGER *length, SQLULEN number,
                         size_t bytes)
{
    SQLUINTEGER narrow = (SQLUINTEGER)number;

    if (value) {
        memcpy(value, bytes == sizeof narrow ? (void *)&narrow : &number,
               bytes);
    }
    if (length) {
        *length = (SQLINTEGER)bytes;
    }
}

/* Before connecting. */
static SQLRETURN get_kept(struct dbc *dbc, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER size,
                          SQLINTEGER *length, enum text_width width)
{
    struct session_kept kept = { .text = "" };

    if (!is_read_only(attribute) &&
        !session_kept_attr(dbc->session, attribute, &kept)) {
        return entry_unconnected(&dbc->head);
    }
    if (kept.text) {
        return entry_write_attr(&dbc->head, kept.text, kept.length, value,
                                size, length, width);
    }
    write_number(value, length, kept.number, kept.length);
    return SQL_SUCCESS;
}

static SQLRETURN get_ours(struct dbc *dbc, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER size,
                          SQLINTEGER *length, enum text_width width)
{
    SQLRETURN rc = SQL_SUCCESS;
    const char *text;

    if (attribute == SQL_ATTR_AFFINITY_TOKEN) {
        return refuse_ours(dbc, attribute);
    }
    if (is_read_only(attribute)) { /* they tell of the link */
        rc = session_need_link(dbc->session, &dbc->head.diags);
    }
    if (rc != SQL_SUCCESS) {
        return rc;
    }
    text = ours(dbc, attribute);
    return entry_write_attr(&dbc->head, text, strlen(text), value, size,
                            length, width);
}

static SQLRETURN get_inner(struct dbc *dbc, SQLINTEGER attribute,
                           SQLPOINTER value, SQLINTEGER size,
                           SQLINTEGER *length, enum text_width width)
{
    const struct inner_calls *call;
    __typeof__(SQLGetConnectAttr) *get;
    SQLHDBC inner;
    SQLRETURN rc;

    if (attribute == SQL_ATTR_CONNECTION_DEAD &&
        session_is_lost(dbc->session)) {
        return entry_say_dead(true, value, length);
    }
    if (attribute == SQL_ATTR_CONNECTION_DEAD &&
        !session_inner(dbc->session, &call)) { /* it will have another link */
        return entry_say_dead(false, value, length);
    }
    rc = entry_inner(dbc, &inner, &call);
    if (rc != SQL_SUCCESS) {
        return rc;
    }
    get = SURFACE_IN(width, call, SQLGetConnectAttr);
    if (!get) {
        return entry_missing(&dbc->head, "SQLGetConnectAttr", width);
    }
    lock_assert_none();
    rc = get(inner, attribute, value, size, length);
    return rc == SQL_SUCCESS ? rc : entry_leave(&dbc->head, rc);
}

SQLRETURN entry_SQLGetConnectAttr(enum text_width width, SQLHDBC handle,
                                  SQLINTEGER attribute, SQLPOINTER value,
                                  SQLINTEGER size, SQLINTEGER *length)
{
    struct dbc *dbc = entry_dbc(handle);

    if (!dbc) {
        return SQL_INVALID_HANDLE;
    }
    if (handle_inherited(&dbc->head)) { /* no child can go on with it */
        return attribute == SQL_ATTR_CONNECTION_DEAD ?
            entry_say_dead(true, value, length) :
            entry_inherited(&dbc->head);
    }
    if (!dbc->connected) {
        return get_kept(dbc, attribute, value, size, length, width);
    }
    if (session_attr_is_ours(attribute)) {
        return get_ours(dbc, attribute, value, size, length, width);
    }
    if (entry_is_probe(width, attribute, value, size, length)) {
        return entry_answer_probe(dbc, value);
    }
    return get_inner(dbc, attribute, value, size, length, width);
}
