/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How a session comes by its link and gives it back: attributes and keywords
 * become an order, place.c answers it, and what went wrong becomes records.
 *
 * A session takes its link when it connects.  One that the manager's own
 * pooling hands to the next user has given it back and takes another when that
 * user first needs one (rules §14).
 */
#include "autoconf.h"

#include "session.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "affinity_odbc.h"
#include "diag.h"
#include "fleet_key.h"
#include "place.h"
#include "pool_shelf.h"
#include "session_attr.h"
#include "session_inside.h"
#include "watch.h"

/* ---- what it asks for ------------------------------------------------ */

bool session_read_key(struct session *s, struct why *why)
{
    route_key_free(s->key);
    return fleet_read_key(s->fleet, s->config->session.key, s->wide, &s->key,
                          why);
}

bool session_writes(const struct session *s)
{
    const struct session_attr *mode =
        session_attr_find(s->kept, SQL_ATTR_ACCESS_MODE);

    if (mode && (uintptr_t)mode->value == SQL_MODE_READ_ONLY) {
        return false;
    }
    return s->config->session.access == CONFIG_READ_WRITE;
}

enum route_mode session_mode(const struct session *s)
{
    static const enum route_mode modes[] = {
        [CONFIG_HINT] = ROUTE_HINT,
        [CONFIG_PREFER] = ROUTE_PREFER,
        [CONFIG_STRICT] = ROUTE_STRICT,
    };

    return modes[s->config->session.mode];
}

bool session_remember_string(struct session *s, struct why *why)
{
    const struct config_session *string = &s->config->session;

    if (s->string_key) {
        return true;
    }
    s->string_mode = string->mode;
    s->string_key = strdup(string->key);
    if (!s->string_key) {
        why_memory(why);
    }
    return s->string_key != NULL;
}

/* Forgets what attributes said. */
static bool back_to_string(struct session *s)
{
    bool ok;

    session_attr_free(&s->kept);
    if (!s->string_key) {
        return true;
    }
    ok = config_set(s->config, "AffinityKey", s->string_key, NULL) &&
         session_read_key(s, NULL);
    s->config->session.mode = s->string_mode;
    free(s->string_key);
    s->string_key = NULL;
    return ok;
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

/* ---- being placed ---------------------------------------------------- */

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

static struct place_order order_of(const struct session *s)
{
    return (struct place_order){
        .login = s->login,
        .key = s->key,
        .mode = session_mode(s),
        .write = session_writes(s),
        .pool_wait_ms = s->config->session.pool_wait,
        .deadline = login_deadline(s),
    };
}

static void take_verdict(struct session *s, const struct place_order *order)
{
    text_clear(&s->verdict);
    place_say(order, &s->verdict);
    if (order->link) {
        session_attr_replay(s->kept, order->link);
        s->link = order->link;
    }
    watch_use(s->fleet);
}

bool session_place_at_once(struct session *s, SQLINTEGER odbc_version)
{
    struct shelf *shelf = shelf_enter();
    struct place_order order;
    bool placed = false;

    s->login = shelf_login_locked(shelf, s->config, odbc_version, s->wide);
    s->fleet = s->login ? s->login->fleet : NULL;
    if (s->login && session_read_key(s, NULL)) {
        order = order_of(s);
        placed = place_at_once(&order, shelf);
    }
    shelf_leave(shelf);
    if (!placed) {
        s->login = NULL;
        s->fleet = NULL;
        return false;
    }
    take_verdict(s, &order);
    place_done(&order);
    return true;
}

SQLRETURN session_place(struct session *s, struct diags *diags)
{
    struct place_order order = order_of(s);
    SQLRETURN rc = SQL_SUCCESS;
    bool placed = place_unit(&order);

    take_verdict(s, &order);
    if (!placed) {
        rc = diag_why(diags, &order.why);
        report_refusals(s, &order, diags);
    }
    place_done(&order);
    return rc;
}

/* Its turn to have the session placed, or to say what for: there is no link,
   and nobody else is at it. */
static bool begin_placing(struct session *s)
{
    bool mine;

    mutex_lock(&s->lock);
    while (s->placing) {
        cond_wait(&s->placed, &s->lock, UINT64_MAX);
    }
    mine = !s->link;
    s->placing = mine;
    mutex_unlock(&s->lock);
    return mine;
}

static void end_placing(struct session *s)
{
    mutex_lock(&s->lock);
    s->placing = false;
    cond_broadcast(&s->placed);
    mutex_unlock(&s->lock);
}

SQLRETURN session_need_link(struct session *s, struct diags *diags)
{
    SQLRETURN rc = SQL_SUCCESS;

    if (s->link) {
        return SQL_SUCCESS;
    }
    if (!s->config) {
        return diag_add(diags, WHY_UNCONNECTED, "%s", "");
    }
    if (begin_placing(s)) {
        rc = session_place(s, diags);
        end_placing(s);
    }
    return rc;
}

/* ---- choosing -------------------------------------------------------- */

bool session_is_choice(SQLINTEGER attribute)
{
    return attribute == SQL_ATTR_AFFINITY_KEY ||
           attribute == SQL_ATTR_AFFINITY_MODE ||
           attribute == SQL_ATTR_ACCESS_MODE;
}

/* One of ours into the configuration.  False: why, and nothing has changed. */
static bool configure(struct session *s, const struct session_attr *one,
                      struct why *why)
{
    char *before = strdup(s->config->session.key);
    bool ok = false;

    if (!before) {
        why_memory(why);
    } else if (session_remember_string(s, why) &&
               session_attr_configure(one, s->config, why)) {
        ok = session_read_key(s, why);
        if (!ok) {
            config_set(s->config, "AffinityKey", before, NULL);
            session_read_key(s, NULL);
        }
    }
    free(before);
    return ok;
}

static SQLRETURN choose(struct session *s, SQLINTEGER attribute,
                        SQLPOINTER value, SQLINTEGER length,
                        enum text_width width, struct diags *diags)
{
    struct session_attr *one = NULL;
    struct why why = { 0 };
    SQLRETURN rc = SQL_SUCCESS;
    bool kept;

    if (attribute == SQL_ATTR_ACCESS_MODE) {
        return session_keep_attr(s, attribute, value, length, width, diags);
    }
    kept = session_attr_keep(&one, attribute, value, length, width);
    if (!kept) {
        why_memory(&why);
    }
    if (!kept || !configure(s, one, &why)) {
        rc = diag_why(diags, &why);
    }
    session_attr_free(&one);
    return rc;
}

SQLRETURN session_choose(struct session *s, SQLINTEGER attribute,
                         SQLPOINTER value, SQLINTEGER length,
                         enum text_width width, struct diags *diags,
                         bool *chosen)
{
    SQLRETURN rc = SQL_SUCCESS;

    *chosen = !s->link && begin_placing(s);
    if (*chosen) {
        rc = choose(s, attribute, value, length, width, diags);
        end_placing(s);
    }
    return rc;
}

/* ---- letting it go --------------------------------------------------- */

/* Behind those that a cancel has kept from being freed. */
static void hang_children(struct link *link, struct link_child *children)
{
    struct link_child **end = &link->children;

    while (*end) {
        end = &(*end)->next;
    }
    *end = children;
}

bool session_leave(struct session *s, const struct link_child *children)
{
    struct link *link = s->link;

    if (!link || children || session_is_lost(s) || link_known_dead(link) ||
        !shelf_give(link)) {
        return false;
    }
    s->link = NULL;
    s->login = NULL;
    s->fleet = NULL;
    return true;
}

void session_give_back(struct session *s, struct link_child *children)
{
    struct link *link = s->link;
    bool lost = session_is_lost(s);

    if (link) {
        hang_children(link, children);
        s->link = NULL;
        pool_give(link, lost || link_known_dead(link));
    }
}

bool session_hand_over(struct session *s, struct link_child *children)
{
    session_give_back(s, children);
    text_clear(&s->verdict);
    return back_to_string(s) && !s->login->retired;
}
