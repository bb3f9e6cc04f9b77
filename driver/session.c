/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A session's way to its link and back: attributes and keywords become an
 * order, place.c answers it, and what went wrong becomes records.
 */
#include "autoconf.h"

#include "session.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "config.h"
#include "diag.h"
#include "fleet.h"
#include "place.h"
#include "pool.h"
#include "session_attr.h"

struct session {
    struct session_attr *kept;
    struct config *config; /* NULL while not connected */
    struct fleet *fleet;
    struct login *login;
    struct link *link;
    struct route_key *key;
    struct text verdict;
    uint32_t forked; /* fork_count() when connected */
};

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
    s->config = NULL;
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
    if (s->fleet) {
        fleet_release(s->fleet);
    }
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
                            struct diags *diags)
{
    if (!session_attr_keep(&s->kept, attribute, value, length)) {
        return diag_add(diags, WHY_MEMORY, "%s", "");
    }
    return SQL_SUCCESS;
}

SQLRETURN session_kept_attr(struct session *s, SQLINTEGER attribute,
                            SQLPOINTER value, SQLINTEGER size,
                            SQLINTEGER *length, bool wide,
                            struct diags *diags)
{
    const struct session_attr *attr = session_attr_find(s->kept, attribute);
    struct text_written written;

    if (!attr) {
        return diag_add(diags, WHY_UNCONNECTED, "%s", "");
    }
    if (!attr->bytes) {
        if (value) {
            *(SQLUINTEGER *)value = (SQLUINTEGER)(uintptr_t)attr->value;
        }
        if (length) {
            *length = sizeof(SQLUINTEGER);
        }
        return SQL_SUCCESS;
    }
    written = text_write(attr->bytes, strnlen(attr->bytes,
                                              (size_t)attr->length),
                         value, size < 0 ? 0 : size,
                         wide ? TEXT_WIDE : TEXT_NARROW, TEXT_BYTES);
    if (length) {
        *length = (SQLINTEGER)written.needed;
    }
    return written.truncated ? diag_add(diags, WHY_TRUNCATED, "%s", "")
                             : SQL_SUCCESS;
}

/* ---- connecting ---------------------------------------------------- */

static bool read_key(struct session *s, struct why *why)
{
    const char *key = s->config->session.key;

    switch (route_key_parse(key, strlen(key), &s->key, why)) {
    case ROUTE_KEY_OK:
    case ROUTE_KEY_NONE:
        return true;
    default:
        return false;
    }
}

static bool writes(const struct session *s)
{
    const struct session_attr *mode =
        session_attr_find(s->kept, SQL_ATTR_ACCESS_MODE);

    if (mode && (uintptr_t)mode->value == SQL_MODE_READ_ONLY) {
        return false;
    }
    return s->config->session.access == CONFIG_READ_WRITE;
}

/* SQL_ATTR_LOGIN_TIMEOUT bounds the whole of connecting (design §5.2); 0 means
   no limit of its own. */
static uint64_t login_deadline(const struct session *s)
{
    const struct session_attr *timeout =
        session_attr_find(s->kept, SQL_ATTR_LOGIN_TIMEOUT);
    uint64_t seconds = timeout ? (uintptr_t)timeout->value & 0xffffffff : 0;

    return seconds ? clock_ns() + seconds * 1000 * NS_PER_MS : UINT64_MAX;
}

/* One record per instance says why not (rules §11.7), of the first few: an
   application that reads them all should not have to read a thousand. */
static void report_refusals(struct session *s, const struct place_order *order,
                            struct diags *diags)
{
    enum { MOST = 32 };

    if (order->why.code == WHY_KEY || order->why.code == WHY_MEMORY) {
        return;
    }
    for (uint32_t i = 0; i < s->fleet->count && i < MOST; i++) {
        struct text text;
        text_init(&text);
        place_say_refusal(order, i, &text);
        diag_add(diags, order->why.code, "%s", text_string(&text));
        text_free(&text);
    }
}

static enum route_mode mode(const struct session *s)
{
    static const enum route_mode modes[] = {
        [CONFIG_HINT] = ROUTE_HINT,
        [CONFIG_PREFER] = ROUTE_PREFER,
        [CONFIG_STRICT] = ROUTE_STRICT,
    };

    return modes[s->config->session.mode];
}

static SQLRETURN place(struct session *s, struct diags *diags)
{
    struct place_order order = {
        .login = s->login,
        .key = s->key,
        .mode = mode(s),
        .write = writes(s),
        .pool_wait_ms = s->config->session.pool_wait,
        .deadline = login_deadline(s),
    };
    SQLRETURN rc = SQL_SUCCESS;

    if (place_unit(&order)) {
        s->link = order.link;
    } else {
        rc = diag_why(diags, &order.why);
        report_refusals(s, &order, diags);
    }
    text_clear(&s->verdict);
    place_say(&order, &s->verdict);
    place_done(&order);
    return rc;
}

SQLRETURN session_connect(struct session *s, struct config *config,
                          SQLINTEGER odbc_version, bool wide,
                          struct diags *diags)
{
    struct why why = { 0 };
    SQLRETURN rc = SQL_ERROR;

    s->config = config;
    s->forked = fork_count();
    text_init(&s->verdict);
    if (session_attr_configure(s->kept, config, &why) && read_key(s, &why)) {
        s->fleet = fleet_get(config, &why);
    }
    if (s->fleet) {
        s->login = login_get(s->fleet, config, odbc_version, wide);
        if (!s->login) {
            why_memory(&why);
        }
    }
    if (s->login) {
        rc = place(s, diags);
    } else {
        diag_why(diags, &why);
    }
    if (!s->link) {
        let_go(s);
        return rc;
    }
    session_attr_replay(s->kept, s->link);
    return rc;
}

/* Behind those that a cancel has kept from being freed. */
static void hang_children(struct link *link, struct link_child *children)
{
    struct link_child **end = &link->children;

    while (*end) {
        end = &(*end)->next;
    }
    *end = children;
}

void session_disconnect(struct session *s, struct link_child *children)
{
    struct link *link = s->link;

    if (!s->config) {
        return;
    }
    if (s->forked != fork_count()) {
        /* The parent's, locks included: nothing of it may be touched. */
        forget_connection(s);
        return;
    }
    if (link) {
        hang_children(link, children);
        s->link = NULL;
        pool_give(link, link_dead(link));
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
        s->link->touched = true;
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

void session_note_attr(struct session *s, SQLINTEGER attribute)
{
    if (s->link) {
        link_note_attr(s->link, attribute);
    }
}

bool session_link_dead(struct session *s)
{
    if (!s->link || !link_dead(s->link)) {
        return false;
    }
    s->link->spoilt = true;
    fleet_suspect(s->fleet, s->link->pool->instance);
    return true;
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
        .mode = mode(s),
        .write = writes(s),
        .instance = session_instance(s),
        .verdict = session_verdict(s),
    };
    return true;
}
