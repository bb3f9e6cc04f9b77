/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A session's life: what is kept before it connects, connecting,
 * disconnecting, and what others may ask of it meanwhile.  How it comes by its
 * link is in session_link.c.
 */
#include "autoconf.h"

#include "session.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "config.h"
#include "diag.h"
#include "link_note.h"
#include "pool.h"
#include "session_attr.h"
#include "session_inside.h"

struct session *session_new(void)
{
    return calloc(1, sizeof(struct session));
}

static void forget_connection(struct session *s)
{
    if (s->config) {
        config_free(s->config);
        free(s->config);
    }
    route_key_free(s->key);
    text_free(&s->verdict);
    free(s->string_key);
    s->config = NULL;
    s->string_key = NULL;
    s->key = NULL;
    s->fleet = NULL;
    s->login = NULL;
    s->link = NULL;
}

static void let_go(struct session *s)
{
    if (s->login) {
        login_release(s->login);
    }
    cond_destroy(&s->placed);
    mutex_destroy(&s->lock);
    forget_connection(s);
}

void session_free(struct session *s)
{
    if (s) {
        session_disconnect(s, NULL);
        session_attr_free(&s->kept);
        free(s);
    }
}

SQLRETURN session_keep_attr(struct session *s, SQLINTEGER attribute,
                            SQLPOINTER value, SQLINTEGER length,
                            enum text_width width, struct diags *diags)
{
    return session_attr_keep(&s->kept, attribute, value, length, width)
               ? SQL_SUCCESS
               : diag_add(diags, WHY_MEMORY, "%s", "");
}

bool session_kept_attr(const struct session *s, SQLINTEGER attribute,
                       struct session_kept *kept)
{
    const struct session_attr *attr = session_attr_find(s->kept, attribute);
    bool known;

    *kept = (struct session_kept){ .length = sizeof(SQLUINTEGER) };
    known = session_attr_default(attribute, &kept->number, &kept->length);
    if (attr && attr->bytes) {
        kept->text = attr->bytes;
        kept->length = strnlen(attr->bytes, (size_t)attr->length);
    } else if (attr) {
        kept->number = (uintptr_t)attr->value;
    }
    return known || attr;
}

/* ---- connecting ---------------------------------------------------- */

static bool find_login(struct session *s, SQLINTEGER odbc_version,
                       struct why *why)
{
    s->fleet = fleet_get(s->config, why);
    if (!s->fleet) {
        return false;
    }
    if (session_read_key(s, why)) {
        s->login = login_get(s->fleet, s->config, odbc_version, s->wide);
        if (!s->login) {
            why_memory(why);
        }
    }
    fleet_release(s->fleet); /* the login has it */
    if (!s->login) {
        s->fleet = NULL;
    }
    return s->login != NULL;
}

SQLRETURN session_connect(struct session *s, struct config *config,
                          SQLINTEGER odbc_version, bool wide,
                          struct diags *diags)
{
    struct why why = { 0 };
    SQLRETURN rc = SQL_ERROR;
    bool ready;

    s->config = config;
    s->wide = wide;
    s->forked = fork_count();
    text_init(&s->verdict);
    mutex_init(&s->lock, LOCK_DBC);
    cond_init(&s->placed);
    s->placing = false;
    ready = (!session_attr_has_ours(s->kept) ||
             session_remember_string(s, &why)) &&
            session_attr_configure(s->kept, config, &why);
    if (ready && session_place_at_once(s, odbc_version)) {
        rc = SQL_SUCCESS;
    } else if (ready && find_login(s, odbc_version, &why)) {
        rc = session_place(s, diags);
    } else {
        diag_why(diags, &why);
    }
    if (!s->link) {
        let_go(s);
    } else if (s->link->warned) {
        rc = diag_repeat(diags, s->link->warned);
    }
    return rc;
}

void session_disconnect(struct session *s, struct link_child *children)
{
    if (!s->config) {
        return;
    }
    if (s->forked != fork_count()) {
        /* The parent's, locks included: nothing of it may be touched. */
        forget_connection(s);
        return;
    }
    if (!session_leave(s, children)) {
        session_give_back(s, children);
    }
    let_go(s);
}

void session_forget_login(struct session *s)
{
    if (s->config) {
        config_forget_login(s->config);
    }
}

/* ---- while connected ----------------------------------------------- */

const struct config *session_config(const struct session *s)
{
    return s->config;
}

SQLHDBC session_inner(const struct session *s, const struct inner_calls **call)
{
    if (!s->link) {
        return SQL_NULL_HDBC;
    }
    *call = &s->link->inner->call;
    return s->link->hdbc;
}

const struct inner *session_driver(const struct session *s)
{
    return s->link ? s->link->inner : NULL;
}

void session_touch(struct session *s)
{
    if (s->link) {
        atomic_store_explicit(&s->link->touched, true, memory_order_relaxed);
    }
}

bool session_cancel(struct session *s, SQLHSTMT inner)
{
    return s->link && pool_cancel(s->link, inner);
}

bool session_keep_child(struct session *s, SQLSMALLINT type, SQLHANDLE inner)
{
    return s->link && pool_keep_child(s->link, type, inner);
}

bool session_is_noted(const struct session *s)
{
    return s->link && s->link->note;
}

void session_note_ran(struct session *s, const char *shown)
{
    if (session_is_noted(s)) {
        link_note_ran(s->link->note, shown);
    }
}

void session_note_attr(struct session *s, SQLINTEGER attribute)
{
    if (s->link) {
        link_note_attr(s->link, attribute);
    }
}

void session_note_width(struct session *s, enum text_width width)
{
    if (s->link && width == TEXT_WIDE && !s->link->wide) {
        s->link->spoilt = true;
    }
}

bool session_is_lost(const struct session *s)
{
    const struct link *link = s->link;

    return link && s->forked == fork_count() &&
           fleet_has_lost(s->fleet, link->pool->instance, link->opened);
}

void session_say_lost(const struct session *s, struct text *out)
{
    if (session_is_lost(s)) {
        fleet_say_lost(s->fleet, s->link->pool->instance, out);
    }
}

/* Passes on whether the link is dead. */
static bool note_death(struct session *s, bool dead)
{
    if (dead) {
        s->link->spoilt = true;
        fleet_suspect(s->fleet, s->link->pool->instance);
    }
    return dead;
}

bool session_known_dead(struct session *s)
{
    return session_is_lost(s) ||
           note_death(s, s->link && link_known_dead(s->link));
}

bool session_may_hang(const struct session *s)
{
    return s->link &&
           atomic_load(&s->fleet->members[s->link->pool->instance].slow);
}

bool session_ask_dead(struct session *s)
{
    if (session_is_lost(s)) {
        return true;
    }
    return note_death(s, s->link && link_dead(s->link));
}

bool session_died_of(struct session *s, struct diags *diags)
{
    const struct inner_kind *kind = s->link ? s->link->inner->kind : NULL;

    return kind &&
           (session_is_lost(s) || !kind->may_be_dead || diag_empty(diags) ||
            diag_any(diags, kind->may_be_dead)) &&
           session_ask_dead(s);
}

void session_give_cause(struct session *s, struct diags *diags)
{
    const struct inner_kind *kind = s->link ? s->link->inner->kind : NULL;

    if (kind && kind->gives_cause && diag_any(diags, kind->gives_cause)) {
        fleet_want_probe(s->fleet, s->link->pool->instance);
    }
}

void session_await_cancels(struct session *s)
{
    if (s->link) {
        pool_await_cancels(s->link);
    }
}

const char *session_instance(const struct session *s)
{
    return s->link ? s->fleet->instances[s->link->pool->instance].name : "";
}

const char *session_verdict(const struct session *s)
{
    return text_string(&s->verdict);
}

bool session_view(const struct session *s, struct command_view *view)
{
    if (!s->login) {
        return false;
    }
    *view = (struct command_view){
        .fleet = s->fleet,
        .login = s->login,
        .config = s->config,
        .key = s->key,
        .mode = session_mode(s),
        .write = session_writes(s),
        .instance = session_instance(s),
        .verdict = session_verdict(s),
    };
    return true;
}
