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

static SQLRETURN set_ours(struct dbc *dbc, SQLINTEGER attribute)
{
    if (attribute == SQL_ATTR_AFFINITY_TOKEN) {
        return diag_add(&dbc->head.diags, WHY_UNAVAILABLE,
                        "SQL_ATTR_AFFINITY_TOKEN: there is no "
                        "ReadYourWrites yet");
    }
    return diag_add(&dbc->head.diags, WHY_UNAVAILABLE,
                    "%s can be set only before connecting: a connected "
                    "session cannot move yet", attr_name(attribute));
}

static SQLRETURN set_inner(struct dbc *dbc, SQLINTEGER attribute,
                           SQLPOINTER value, SQLINTEGER length,
                           enum text_width width)
{
    const struct inner_calls *call;
    SQLHDBC inner = session_inner(dbc->session, &call);
    __typeof__(SQLSetConnectAttr) *set = width == TEXT_WIDE ?
        call->SQLSetConnectAttrW : call->SQLSetConnectAttr;
    SQLRETURN rc;

    if (!set) {
        return entry_missing(&dbc->head, width == TEXT_WIDE ?
                             "SQLSetConnectAttrW" : "SQLSetConnectAttr");
    }
    session_touch(dbc->session);
    session_note_attr(dbc->session, attribute);
    lock_assert_none();
    rc = set(inner, attribute, value, length);
    return rc == SQL_SUCCESS ? rc : entry_leave(&dbc->head, rc);
}

SQLRETURN entry_SQLSetConnectAttr(enum text_width width, SQLHDBC handle,
                                  SQLINTEGER attribute, SQLPOINTER value,
                                  SQLINTEGER length)
{
    struct dbc *dbc = entry_dbc(handle);

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
                                 &dbc->head.diags);
    }
    return session_attr_is_ours(attribute) ? set_ours(dbc, attribute) :
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

static SQLRETURN get_text(struct dbc *dbc, const char *text, SQLPOINTER value,
                          SQLINTEGER size, SQLINTEGER *length,
                          enum text_width width)
{
    struct text_written written;

    if (size < 0) {
        return diag_add(&dbc->head.diags, WHY_LENGTH,
                        "the room for an attribute's text is %d", (int)size);
    }
    written = text_write(text, strlen(text), value, size, width, TEXT_BYTES);
    if (length) {
        *length = (SQLINTEGER)written.needed;
    }
    return written.truncated ?
        diag_add(&dbc->head.diags, WHY_TRUNCATED, "%s", "") : SQL_SUCCESS;
}

static SQLRETURN get_ours(struct dbc *dbc, SQLINTEGER attribute,
                          SQLPOINTER value, SQLINTEGER size,
                          SQLINTEGER *length, enum text_width width)
{
    if (attribute == SQL_ATTR_AFFINITY_TOKEN) {
        return set_ours(dbc, attribute);
    }
    return get_text(dbc, ours(dbc, attribute), value, size, length, width);
}

static SQLRETURN get_inner(struct dbc *dbc, SQLINTEGER attribute,
                           SQLPOINTER value, SQLINTEGER size,
                           SQLINTEGER *length, enum text_width width)
{
    const struct inner_calls *call;
    SQLHDBC inner = session_inner(dbc->session, &call);
    __typeof__(SQLGetConnectAttr) *get = width == TEXT_WIDE ?
        call->SQLGetConnectAttrW : call->SQLGetConnectAttr;
    SQLRETURN rc;

    if (!get) {
        return entry_missing(&dbc->head, width == TEXT_WIDE ?
                             "SQLGetConnectAttrW" : "SQLGetConnectAttr");
    }
    lock_assert_none();
    rc = get(inner, attribute, value, size, length);
    return rc == SQL_SUCCESS ? rc : entry_leave(&dbc->head, rc);
}

static SQLRETURN say_dead(SQLPOINTER value)
{
    if (value) {
        *(SQLUINTEGER *)value = SQL_CD_TRUE;
    }
    return SQL_SUCCESS;
}

/* The manager's own pooling asks a connection that it is about to hand to
   somebody else with exactly these arguments; "dead" makes it disconnect and
   connect afresh (design §5.5, facts §7). */
static bool is_managers_probe(const struct dbc *dbc, SQLINTEGER size,
                              const SQLINTEGER *length)
{
    return size == SQL_IS_INTEGER && !length &&
           session_config(dbc->session)->fleet.manager ==
               CONFIG_MANAGER_REFUSE;
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
        return attribute == SQL_ATTR_CONNECTION_DEAD ? say_dead(value) :
            entry_inherited(&dbc->head);
    }
    if (!dbc->connected) {
        return is_read_only(attribute) ?
            get_text(dbc, "", value, size, length, width) :
            session_kept_attr(dbc->session, attribute, value, size, length,
                              width == TEXT_WIDE, &dbc->head.diags);
    }
    if (session_attr_is_ours(attribute)) {
        return get_ours(dbc, attribute, value, size, length, width);
    }
    if (attribute == SQL_ATTR_CONNECTION_DEAD &&
        is_managers_probe(dbc, size, length)) {
        return say_dead(value);
    }
    return get_inner(dbc, attribute, value, size, length, width);
}
