/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A fleet, two logins and some sessions, on threads that take turns (sim.h) and
 * a pretend inner driver (pretend.h): for unit-place, which has single scenes,
 * and unit-place_model, which draws what happens.
 */
#ifndef UNIT_PLACE_H
#define UNIT_PLACE_H

#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utlist.h>

#include "config.h"
#include "place.h"
#include "place_unit.h"
#include "pool_shelf.h"
#include "pretend.h"
#include "sim.h"
#include "watch.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* each test program uses some of these */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

/* ---- a fleet, two logins, sessions ------------------------------------------- */

enum { SESSIONS = 14, LOGINS = 2 };

struct session {
    enum { FREE, PLACING, HOLDING, FAILED } state;
    struct sim_thread *thread;
    struct place_order order;
    struct route_key *key;
    uint64_t begin;
    bool counted; /* the model has seen that it is done */
    bool taken;   /* … or that its link was taken before, and validated */
    bool learning; /* at the end of the turn before, its owner was asked for */
    bool retains; /* it has a reference to its login */
};

static struct fleet *fleet;
static struct login *logins[LOGINS];
static struct config *configs[LOGINS];
static struct session sessions[SESSIONS];
static uint64_t seed, turn; /* what is drawn in a decision */

/* Without a word about it, the balanced choice is the first listed of those that
   have served least. */
static void begin_fleet(uint32_t instances, const char *words)
{
    static const char *const uids[LOGINS] = { "u1", "u2" };
    char keywords[340];

    snprintf(keywords, sizeof keywords, "%s%s", words,
             strstr(words, "LoadBalance") ? "" : "LoadBalance=proportional;");
    memset(pretend_at, 0, sizeof pretend_at);
    memset(pretend_keys, 0, sizeof pretend_keys);
    memset(pretend_stale, 0, sizeof pretend_stale);
    pretend_lacks = -1;
    for (uint32_t k = 0; k < PRETEND_KEYS; k++) {
        pretend_keys[k].state = ROUTE_IS_OWNED;
        pretend_keys[k].owner = k % instances;
    }
    memset(sessions, 0, sizeof sessions);
    sim_accept(true);
    for (int i = 0; i < LOGINS; i++) {
        struct config *config = pretend_config(instances, keywords, uids[i]);
        struct why why = { .code = WHY_NONE };
        struct fleet *one = fleet_get(config, &why);
        assert_non_null(one);
        logins[i] = login_get(one, config, SQL_OV_ODBC3, false);
        assert_non_null(logins[i]);
        if (i > 0) {
            assert_ptr_equal(one, fleet); /* shared, the pools are not */
            fleet_release(one);
        }
        fleet = one;
        configs[i] = config;
    }
    for (uint32_t i = 0; i < instances; i++) {
        atomic_store(&fleet->members[i].served, 0); /* no random phase */
    }
}

static void run_placing(void *arg)
{
    struct session *s = arg;

    s->state = place_unit(&s->order) ? HOLDING : FAILED;
    s->thread = NULL;
}

/* words: hint prefer strict · k0 … k7 · login2 · read · wait and ms */
static void ask_for(struct session *s, const char *words)
{
    char copy[100], *save;

    *s = (struct session){ .state = PLACING, .begin = sim_now() };
    s->order = (struct place_order){
        .login = logins[0], .write = true, .pool_wait_ms = 3000,
        .deadline = UINT64_MAX,
    };
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        if (word[0] == 'k') {
            assert_int_equal(route_key_parse(word, strlen(word), &s->key,
                                             NULL), ROUTE_KEY_OK);
            s->order.key = s->key;
        } else if (strncmp(word, "wait", 4) == 0) {
            s->order.pool_wait_ms = (uint32_t)strtoul(word + 4, NULL, 10);
        } else if (strncmp(word, "limit", 5) == 0) {
            s->order.deadline = sim_now() +
                                strtoul(word + 5, NULL, 10) * NS_PER_MS;
        } else {
            s->order.login = logins[strcmp(word, "login2") == 0];
            s->order.write = strcmp(word, "read") != 0;
            s->order.mode = strcmp(word, "strict") == 0   ? ROUTE_STRICT
                            : strcmp(word, "prefer") == 0 ? ROUTE_PREFER
                                                          : s->order.mode;
        }
    }
}

static void place(struct session *s, const char *words)
{
    ask_for(s, words);
    s->thread = sim_start(run_placing, s);
}

/* As it is before its login is found; false: it has to be placed. */
static bool place_now(struct session *s)
{
    int k = s->order.login == logins[1];

    if (!pretend_at_once(&s->order, configs[k])) {
        s->order.login = logins[k];
        return false;
    }
    s->state = HOLDING;
    s->retains = true;
    return true;
}

static void forget(struct session *s)
{
    place_done(&s->order);
    route_key_free(s->key);
    *s = (struct session){ .state = FREE };
}

/* used: the session did something that a reset must undo. */
static void give(struct session *s, bool used)
{
    struct link *link = s->order.link;

    if (used) {
        link->touched = true;
        pretend_of(link)->dirty = true;
    }
    pool_give(link, link_dead(link));
    if (s->retains) {
        login_release(s->order.login);
    }
    forget(s);
}

/* As a session does that disconnects.  True: it is on a shelf. */
static bool leave(struct session *s, bool used)
{
    if (!s->retains) {
        login_retain(s->order.login);
        s->retains = true;
    }
    if (!used && !link_dead(s->order.link) && shelf_give(s->order.link)) {
        forget(s);
        return true;
    }
    give(s, used);
    return false;
}

/* The processor that all are on. */
static unsigned stripe;

unsigned __wrap_lock_stripe(void);
unsigned __wrap_lock_stripe(void)
{
    return stripe;
}

/* Everybody goes on until nobody can without time passing. */
static void settle(void)
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

/* Time passes, moment by moment. */
static void pass(unsigned ms)
{
    uint64_t until = sim_now() + ms * NS_PER_MS;

    settle();
    while (sim_next() <= until) {
        sim_set_now(sim_next());
        settle();
    }
    sim_set_now(until);
}

/* One of a login's figures; instance -1: what is of none. */
static uint64_t count_of(struct login *login, int instance,
                         enum pool_stat stat)
{
    struct login_view *view = login_view(login);
    uint64_t count;

    assert_non_null(view);
    count = instance < 0 ? view->stats[stat]
                         : view->pools[instance].stats[stat];
    free(view);
    return count;
}

/* What was opened and is not closed is there, and no session is left. */
static void figures_add_up(struct login *login)
{
    struct login_view *view = login_view(login);

    assert_non_null(view);
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct pool_view *pool = &view->pools[i];
        const uint64_t *stats = pool->stats;
        uint64_t closed = 0, open = pool->count[LINK_IDLE];

        for (int k = POOL_STAT_CLOSED_WORN; k <= POOL_STAT_CLOSED_ROOM; k++) {
            closed += stats[k];
        }
        assert_int_equal(stats[POOL_STAT_OPENED] - closed, open);
        assert_int_equal(stats[POOL_STAT_BORROWED],
                         stats[POOL_STAT_RETURNED]);
        assert_true(stats[POOL_STAT_HITS] + stats[POOL_STAT_MISSES] <=
                    stats[POOL_STAT_BORROWED]);
        assert_true(stats[POOL_STAT_WAITS] <= stats[POOL_STAT_BORROWED]);
    }
    free(view);
}

static void end_fleet(void)
{
    for (uint32_t i = 0; i < PRETEND_INSTANCES; i++) {
        pretend_set(i, PRETEND_SERVES);
    }
    settle();
    for (int i = 0; i < SESSIONS; i++) {
        if (sessions[i].state == PLACING) {
            pass(60000);
        }
        assert_int_not_equal(sessions[i].state, PLACING);
        if (sessions[i].state == HOLDING) {
            give(&sessions[i], true);
        } else if (sessions[i].state == FAILED) {
            forget(&sessions[i]);
        }
        settle();
    }
    for (int i = 0; i < LOGINS; i++) {
        assert_null(logins[i]->units);
        figures_add_up(logins[i]);
        login_retire(logins[i]);
        login_release(logins[i]);
        config_free(configs[i]);
        free(configs[i]);
    }
    fleet_release(fleet);
    settle();
    assert_int_equal(sim_threads(), 0);
    assert_int_equal(pretend_connections, 0);
    for (uint32_t i = 0; i < PRETEND_INSTANCES; i++) {
        assert_int_equal(pretend_at[i].open, 0);
    }
}

static int where(const struct session *s)
{
    return s->state == HOLDING ? (int)s->order.link->pool->instance + 1 : 0;
}

#endif
