/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * THE RESET: what stands between one session and the next user of its link
 * (promise 3).  Each step was proved necessary, and so was the order
 * (facts §10):
 *
 *   1 the session's statements and descriptors are freed, since DISCARD ALL
 *     would leave prepared ones dead for good (26000);
 *   2 roll back, before autocommit, because switching that on would commit;
 *   3 attributes back: autocommit, isolation and statement defaults live in
 *     the inner driver, no SQL resets them;
 *   4 the kind's SQL (psqlODBC: DISCARD ALL), its result checked;
 *   5 the user's ConnSettings;
 *   6 the client encoding that the link was opened with, where 4 or 5 lost it.
 */
#include "autoconf.h"

#include "link_call.h"
#include "lock.h"
#include "text.h"

static bool knows_default(const struct link *link, SQLINTEGER attribute,
                          SQLULEN *value)
{
    const struct inner_kind *kind = link->inner->kind;

    return kind->attr_default && kind->attr_default(attribute, value);
}

static void note_attr(struct link *link, SQLINTEGER attribute)
{
    const struct inner_calls *call = &link->inner->call;
    SQLULEN before = 0;
    SQLRETURN rc;

    for (unsigned i = 0; i < link->changed_count; i++) {
        if (link->changed[i].attribute == attribute) {
            return;
        }
    }
    if (!link->inner->kind->reset || /* it is not put back anyway */
        link->changed_count == LINK_CHANGED_MAX ||
        attribute == SQL_ATTR_CURRENT_CATALOG ||
        attribute == SQL_ATTR_TRANSLATE_LIB ||
        attribute == SQL_ATTR_TRACEFILE) {
        link->spoilt = true;
        return;
    }
    if (!knows_default(link, attribute, &before)) {
        rc = call->SQLGetConnectAttr(link->hdbc, attribute, &before,
                                     SQL_IS_UINTEGER, NULL);
        if (!SQL_SUCCEEDED(rc)) {
            link->spoilt = true;
            return;
        }
    }
    link->changed[link->changed_count].attribute = attribute;
    link->changed[link->changed_count++].before = before;
}

/* Of two threads that set attributes of one session at once, one cannot know
   what there was before. */
void link_note_attr(struct link *link, SQLINTEGER attribute)
{
    if (atomic_exchange(&link->noting, true)) {
        link->spoilt = true;
        return;
    }
    note_attr(link, attribute);
    atomic_store(&link->noting, false);
}

static bool roll_back(struct link *link, struct link_error *error)
{
    SQLRETURN rc = link->inner->call.SQLEndTran(SQL_HANDLE_DBC, link->hdbc,
                                                SQL_ROLLBACK);
    if (!SQL_SUCCEEDED(rc)) {
        link_take_error(link, SQL_HANDLE_DBC, link->hdbc, error);
    }
    return SQL_SUCCEEDED(rc);
}

static bool put_back(struct link *link, unsigned i, struct link_error *error)
{
    SQLRETURN rc = link->inner->call.SQLSetConnectAttr(
        link->hdbc, link->changed[i].attribute,
        (SQLPOINTER)(uintptr_t)link->changed[i].before, SQL_IS_UINTEGER);

    if (!SQL_SUCCEEDED(rc)) {
        link_take_error(link, SQL_HANDLE_DBC, link->hdbc, error);
    }
    return SQL_SUCCEEDED(rc);
}

/* Autocommit first, whatever the application did first: without it the others
   would open a transaction. */
static bool put_attributes_back(struct link *link, struct link_error *error)
{
    bool ok = true;

    for (int autocommit = 1; autocommit >= 0; autocommit--) {
        for (unsigned i = 0; ok && i < link->changed_count; i++) {
            if ((link->changed[i].attribute == SQL_ATTR_AUTOCOMMIT) ==
                autocommit) {
                ok = put_back(link, i, error);
            }
        }
    }
    if (ok) {
        link->changed_count = 0;
    }
    return ok;
}

static bool discard(struct link *link, struct link_error *error)
{
    const struct inner_kind *kind = link->inner->kind;
    const char *before;

    if (link_execute(link, kind->reset, error)) {
        return true;
    }
    before = kind->reset_again ? kind->reset_again(error->state) : NULL;
    return before && (!*before || link_execute(link, before, error)) &&
           link_execute(link, kind->reset, error);
}

/* A wide link has it by its start-up values, which only settings can undo. */
static bool set_encoding(struct link *link, bool set, struct link_error *error)
{
    const struct inner_kind *kind = link->inner->kind;
    struct text sql;
    bool ok;

    if (!kind->set_encoding || (link->wide && !set) ||
        !link->who.encoding[0]) {
        return true;
    }
    text_init(&sql);
    kind->set_encoding(link->who.encoding, &sql);
    ok = !sql.failed;
    if (ok) {
        ok = link_execute(link, text_string(&sql), error);
    } else {
        link_set_error(error, "HY000", "out of memory");
    }
    text_free(&sql);
    return ok;
}

bool link_reset(struct link *link, const char *settings,
                struct link_error *error)
{
    bool ok;

    lock_assert_none();
    if (link->spoilt || !link->inner->kind->reset) {
        link_set_error(error, "HY000", "%s",
                       link->spoilt
                           ? "the session left what nothing resets"
                           : "this inner driver knows no reset");
        return false;
    }
    link_free_children(link, true);
    ok = roll_back(link, error) && put_attributes_back(link, error) &&
         discard(link, error) &&
         (!*settings || link_execute(link, settings, error)) &&
         set_encoding(link, *settings != 0, error);
    if (ok && link_dead(link)) {
        link_set_error(error, "HY000", "the link died while it was reset");
        ok = false;
    }
    if (ok) {
        link->touched = false;
    }
    if (ok && *settings) {
        link_forget_warnings(link);
    }
    return ok;
}
