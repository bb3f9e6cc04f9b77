/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Logins: finding the one whose pools this session may share, and its
 * credentials, which live here once, out of core dumps, and are wiped when
 * the login goes (rules §5.6).
 *
 * A login lives as long as a session or a link needs it; each holds one
 * reference.
 */
#include "autoconf.h"

#include "login.h"
#include "pool.h"
#include "secret.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

/* One item after another: origin, keyword, NUL, value, NUL. */
static const char *pack(const struct connstr *passed)
{
    struct text text;
    const char *packed = NULL;

    text_init_wiped(&text);
    for (size_t i = 0; i < passed->count; i++) {
        const struct connstr_item *item = &passed->items[i];
        text_append_char(&text, (char)('0' + (int)item->origin));
        text_append_bytes(&text, item->keyword, strlen(item->keyword) + 1);
        text_append_bytes(&text, item->value, strlen(item->value) + 1);
    }
    if (!text.failed) {
        packed = secret_dup(text_string(&text), text.length);
    }
    text_free(&text);
    return packed;
}

bool login_passed(const struct login *login, struct connstr *passed)
{
    const char *p = login->passed;
    const char *end = p + secret_length(p);

    connstr_init(passed);
    while (p < end) {
        enum connstr_origin origin = (enum connstr_origin)(*p - '0');
        const char *keyword = p + 1;
        const char *value = keyword + strlen(keyword) + 1;
        if (!connstr_set(passed, keyword, value, origin)) {
            connstr_free(passed);
            return false;
        }
        p = value + strlen(value) + 1;
    }
    return true;
}

static void free_login(struct login *login)
{
    for (uint32_t i = 0; login->pools && i < login->fleet->count; i++) {
        secret_free(login->pools[i].settings);
    }
    secret_free(login->key);
    secret_free(login->passed);
    free((void *)(uintptr_t)login->user);
    cond_destroy(&login->cancelled);
    mutex_destroy(&login->lock);
    free(login->pools);
    free(login->stock);
    free(login->plenty);
    free(login);
}

static struct route_stock *make_plenty(uint32_t count)
{
    struct route_stock *plenty = calloc(count, sizeof *plenty);

    for (uint32_t i = 0; plenty && i < count; i++) {
        plenty[i].idle = 1;
    }
    return plenty;
}

static struct login *make_login(struct fleet *fleet,
                                const struct config *config,
                                const struct text *key)
{
    const char *user = connstr_value(&config->passed, "UID");
    struct login *login = calloc(1, sizeof *login);

    if (!login) {
        return NULL;
    }
    mutex_init(&login->lock, LOCK_LOGIN);
    cond_init(&login->cancelled);
    login->fleet = fleet;
    login->refs = 1;
    login->key = secret_dup(text_string(key), key->length);
    login->passed = pack(&config->passed);
    login->user = strdup(user ? user : "");
    login->pools = calloc(fleet->count, sizeof *login->pools);
    login->stock = calloc(fleet->count, sizeof *login->stock);
    login->plenty = make_plenty(fleet->count);
    if (!login->key || !login->passed || !login->user || !login->pools ||
        !login->stock || !login->plenty) {
        free_login(login);
        return NULL;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        login->pools[i].login = login;
        login->pools[i].instance = i;
        login->stock[i].room = fleet->members[i].pool_max;
    }
    return login;
}

static struct login *find_locked(struct fleet *fleet, const char *key)
{
    struct login *login;

    mutex_assert_held(&fleet->lock);
    DL_FOREACH(fleet->logins, login) {
        if (!login->retired && strcmp(login->key, key) == 0) {
            login->refs++;
            return login;
        }
    }
    return NULL;
}

void login_key(const struct config *config, SQLINTEGER odbc_version, bool wide,
               struct text *key)
{
    text_append(key, wide ? "wide " : "narrow ");
    text_append_number(key, (uint64_t)odbc_version);
    text_append_char(key, '\n');
    config_login_key(config, key);
}

bool login_fits(const struct login *login, const struct config *config,
                const char *key)
{
    return strcmp(login->key, key) == 0 &&
           config_same_fleet(&login->fleet->config, &config->fleet);
}

struct login *login_get(struct fleet *fleet, const struct config *config,
                        SQLINTEGER odbc_version, bool wide)
{
    struct login *login = NULL, *made = NULL;
    struct text key;

    text_init_wiped(&key);
    login_key(config, odbc_version, wide, &key);
    if (!key.failed) {
        mutex_lock(&fleet->lock);
        login = find_locked(fleet, text_string(&key));
        mutex_unlock(&fleet->lock);
    }
    if (!login && !key.failed && (made = make_login(fleet, config, &key))) {
        made->odbc_version = odbc_version;
        made->wide = wide;
        mutex_lock(&fleet->lock);
        login = find_locked(fleet, text_string(&key));
        if (!login) {
            DL_APPEND(fleet->logins, made);
        }
        mutex_unlock(&fleet->lock);
        if (login) {
            free_login(made);
        } else {
            login = made;
            fleet_retain(fleet);
        }
    }
    text_free(&key);
    return login;
}

/* ---- the keeper's own ---------------------------------------------------- */

static const char monitor_key[] = "monitor"; /* no session's is like it */

/* Of whom to take what MonitorUID and MonitorPWD do not say. */
static struct login *find_model_locked(struct fleet *fleet)
{
    struct login *login;

    mutex_assert_held(&fleet->lock);
    DL_FOREACH(fleet->logins, login) {
        if (login->proved && !login->retired && !login->monitor) {
            login->refs++;
            return login;
        }
    }
    return NULL;
}

static struct login *make_monitor(struct fleet *fleet,
                                  const struct login *model)
{
    struct config config = { .fleet = fleet->config };
    struct login *login = NULL;
    struct text key;

    text_init_wiped(&key);
    text_append(&key, monitor_key);
    if (login_passed(model, &config.passed)) {
        if (connstr_set(&config.passed, "UID", fleet->config.monitor_uid,
                        CONNSTR_BRACED) &&
            connstr_set(&config.passed, "PWD", fleet->config.monitor_pwd,
                        CONNSTR_BRACED) &&
            !key.failed) {
            login = make_login(fleet, &config, &key);
        }
        connstr_free(&config.passed);
    }
    text_free(&key);
    if (login) {
        login->odbc_version = model->odbc_version;
        login->wide = model->wide;
        login->monitor = true;
    }
    return login;
}

struct login *login_monitor(struct fleet *fleet)
{
    struct login *login, *model = NULL, *made;

    if (!*fleet->config.monitor_uid) {
        return NULL;
    }
    mutex_lock(&fleet->lock);
    login = find_locked(fleet, monitor_key);
    if (!login) {
        model = find_model_locked(fleet);
    }
    mutex_unlock(&fleet->lock);
    if (login || !model) {
        return login;
    }
    made = make_monitor(fleet, model); /* only the clock's thread makes it */
    if (made) {
        fleet_retain(fleet);
        mutex_lock(&fleet->lock);
        DL_APPEND(fleet->logins, made);
        mutex_unlock(&fleet->lock);
    }
    login_release(model);
    return made;
}

/* ---- references ---------------------------------------------------------- */

struct login *login_retain(struct login *login)
{
    mutex_lock(&login->fleet->lock);
    login->refs++;
    mutex_unlock(&login->fleet->lock);
    return login;
}

void login_release(struct login *login)
{
    struct fleet *fleet = login->fleet;
    bool last;

    mutex_lock(&fleet->lock);
    last = --login->refs == 0;
    if (last) {
        DL_DELETE(fleet->logins, login);
    }
    mutex_unlock(&fleet->lock);
    if (last) {
        free_login(login);
        fleet_release(fleet);
    }
}

/* ---- all of a fleet ------------------------------------------------------ */

struct login **login_all(struct fleet *fleet, uint32_t *count)
{
    struct login *login, **all;
    uint32_t n = 0;

    mutex_lock(&fleet->lock);
    DL_COUNT(fleet->logins, login, n);
    all = calloc(n + 1, sizeof *all);
    *count = 0;
    if (all) {
        DL_FOREACH(fleet->logins, login) {
            login->refs++;
            all[(*count)++] = login;
        }
    }
    mutex_unlock(&fleet->lock);
    return all;
}

uint32_t login_all_links(struct fleet *fleet)
{
    uint32_t count, links = 0;
    struct login **logins = login_all(fleet, &count);

    for (uint32_t i = 0; i < count; i++) {
        mutex_lock(&logins[i]->lock);
        links += logins[i]->total;
        mutex_unlock(&logins[i]->lock);
        login_release(logins[i]);
    }
    free(logins);
    return links;
}

/* ---- what the decision sees of it ---------------------------------------- */

struct route_fleet login_route_plenty(const struct login *login)
{
    const struct fleet *fleet = login->fleet;

    return (struct route_fleet){
        .count = fleet->count,
        .members = fleet->members,
        .stock = login->plenty,
        .heaviest = atomic_load_explicit(&fleet->heaviest,
                                         memory_order_relaxed),
        .capacity = fleet->config.capacity,
        .total_idle = fleet->count,
    };
}

struct route_fleet login_route_locked(const struct login *login)
{
    uint32_t most = login->fleet->config.pool_max_total;
    struct route_fleet seen = login_route_plenty(login);

    mutex_assert_held(&login->lock);
    seen.stock = login->stock;
    seen.total_full = most && login->total >= most;
    seen.total_idle = login->total_idle;
    return seen;
}
