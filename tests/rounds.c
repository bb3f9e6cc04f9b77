/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config.h"
#include "event.h"
#include "sim.h"

struct fleet *fleet;
struct login *logins[LOGINS];
struct session sessions[SESSIONS];
watch_duty *round_duty;
bool used;
uint64_t quiet_at;

uint64_t next_round;
bool no_logins;

struct login **__real_login_all(struct fleet *of, uint32_t *count);
struct login **__wrap_login_all(struct fleet *of, uint32_t *count);
struct login **__wrap_login_all(struct fleet *of, uint32_t *count)
{
    *count = 0;
    return no_logins ? NULL : __real_login_all(of, count);
}

/* Stands in for watch.c. */
bool watch_is_used(const struct fleet *of, uint64_t now)
{
    (void)of;
    (void)now;
    return used;
}

uint64_t watch_quiet_at(void)
{
    return quiet_at;
}

void begin_fleet(uint32_t instances, const char *keywords)
{
    static const char *const uids[LOGINS] = { "u1", "u2" };

    memset(pretend_at, 0, sizeof pretend_at);
    memset(pretend_keys, 0, sizeof pretend_keys);
    memset(sessions, 0, sizeof sessions);
    for (uint32_t k = 0; k < PRETEND_KEYS; k++) {
        pretend_keys[k].state = ROUTE_IS_OWNED;
        pretend_keys[k].owner = k % instances;
    }
    used = true;
    quiet_at = UINT64_MAX;
    next_round = sim_now();
    sim_accept(true);
    for (int i = 0; i < LOGINS; i++) {
        struct config *config = pretend_config(instances, keywords, uids[i]);
        struct fleet *one = fleet_get(config, NULL);
        assert_non_null(one);
        logins[i] = login_get(one, config, SQL_OV_ODBC3, false);
        assert_non_null(logins[i]);
        if (i > 0) {
            fleet_release(one);
        }
        fleet = one;
        config_free(config);
        free(config);
    }
}

void settle(void)
{
    while (sim_runnables() || sim_jobs()) {
        while (sim_runnables()) {
            sim_run(0);
        }
        if (sim_jobs()) {
            sim_run_job(0);
        }
    }
}

static uint64_t next_moment(void)
{
    next_round = clock_earlier(next_round, sim_wake());
    return clock_earlier(next_round, sim_next());
}

void pass(unsigned ms)
{
    uint64_t until = sim_now() + ms * NS_PER_MS;
    uint64_t when;

    settle();
    while ((when = next_moment()) <= until) {
        if (when > sim_now()) {
            sim_set_now(when);
        }
        if (next_round <= sim_now()) {
            next_round = round_duty(fleet, sim_now());
            assert_true(next_round >= sim_now());
        }
        settle();
    }
    sim_set_now(until);
}

static void run_placing(void *arg)
{
    struct session *s = arg;

    s->placed = place_unit(&s->order);
    s->over = true;
}

void place(struct session *s, int login, const char *key, uint32_t wait_ms)
{
    place_until(s, login, key, wait_ms, UINT64_MAX);
}

void place_until(struct session *s, int login, const char *key,
                 uint32_t wait_ms, uint64_t deadline)
{
    *s = (struct session){ .order = {
        .login = logins[login - 1], .write = true, .pool_wait_ms = wait_ms,
        .mode = key ? ROUTE_STRICT : ROUTE_HINT, .deadline = deadline,
    } };
    if (key) {
        assert_int_equal(route_key_parse(key, strlen(key), &s->key, NULL),
                         ROUTE_KEY_OK);
        s->order.key = s->key;
    }
    sim_start(run_placing, s);
    settle();
}

void give(struct session *s)
{
    if (s->placed) {
        pool_give(s->order.link, link_dead(s->order.link));
    }
    place_done(&s->order);
    route_key_free(s->key);
    *s = (struct session){ .over = false };
    settle();
}

void visit(int login, const char *key)
{
    place(&sessions[SESSIONS - 1], login, key, 3000);
    assert_true(sessions[SESSIONS - 1].placed);
    give(&sessions[SESSIONS - 1]);
}

void end_fleet(void)
{
    for (uint32_t i = 0; i < PRETEND_INSTANCES; i++) {
        pretend_set(i, PRETEND_SERVES);
    }
    settle();
    used = false;
    next_round = sim_now();
    pass(1);
    for (int i = 0; i < SESSIONS; i++) {
        if (sessions[i].over) {
            give(&sessions[i]);
        }
    }
    for (int i = 0; i < LOGINS; i++) {
        login_retire(logins[i]);
        login_release(logins[i]);
    }
    fleet_release(fleet);
    settle();
    assert_int_equal(sim_threads(), 0);
    assert_int_equal(pretend_connections, 0);
}

struct pool *pool_of(int login, uint32_t i)
{
    return &logins[login - 1]->pools[i];
}

bool was_said(uint32_t i, const char *words)
{
    size_t count;
    struct event *events = events_copy(fleet->events, &count);
    bool said = false;

    for (size_t k = 0; k < count; k++) {
        said |= strcmp(events[k].who, fleet->instances[i].name) == 0 &&
                strstr(events[k].text, words);
    }
    free(events);
    return said;
}
