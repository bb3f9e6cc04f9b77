/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What helper threads do to links: open, ask, validate, reset, close.  Each
 * job works on its link without a lock, since the link's state keeps everyone
 * else away from it, then takes the login's lock to say what became of it.
 */
#include "autoconf.h"

#include "fleet_group.h"
#include "keeper_clock.h"
#include "pool_exit.h"
#include "pool_job.h"
#include "secret.h"
#include "topology.h"

#include <stdlib.h>

static const struct pool_events *events;

void pool_set_events(const struct pool_events *e)
{
    events = e;
}

void pool_serve_locked(struct login *login)
{
    mutex_assert_held(&login->lock);
    events->serve(login);
}

static struct login *login_of(const struct link *link)
{
    return link->pool->login;
}

static struct fleet *fleet_of(const struct link *link)
{
    return link->pool->login->fleet;
}

/* A helper is at work from now on, or (began 0) no longer.  Who sees to it that
   it does not hang for ever (login_hung.c) looks again in time, whichever limit
   it has. */
static void note_work(struct link *link, uint64_t began)
{
    const struct config_fleet *config = &fleet_of(link)->config;

    atomic_store(&link->began, began);
    if (began) {
        keeper_clock_wake(began + clock_earlier(config->check_timeout,
                                                config->connect_timeout) *
                                      NS_PER_MS);
    }
}

void pool_job_begins(struct link *link)
{
    note_work(link, clock_ns());
}

/* A link is gone or was never open: takes it out of the pool, lets the next
   unit have its room, and frees it. */
static void drop(struct link *link)
{
    struct login *login = login_of(link);

    mutex_lock(&login->lock);
    pool_drop_locked(link);
    pool_serve_locked(login);
    mutex_unlock(&login->lock);
    pool_free_link(link);
    login_release(login);
}

/* Its last call has answered, but login_hung.c was already at its socket, or
   its instance was found down. */
static bool is_cut_locked(const struct link *link)
{
    mutex_assert_held(&link->pool->login->lock);
    return (link->ended && !link->left) ||
           fleet_has_lost(fleet_of(link), link->pool->instance, link->opened);
}

void pool_job_settle_locked(struct link *link)
{
    struct login *login = login_of(link);
    uint32_t i = link->pool->instance;
    bool cut = is_cut_locked(link);
    struct unit *unit;

    mutex_assert_held(&login->lock);
    note_work(link, 0);
    link->answered = clock_ns();
    unit = link->unit;
    link->unit = NULL;
    if (cut) {
        struct link_error error;

        link_set_error(&error, "08S01", "was given up while it answered");
        if (unit) {
            events->failed(unit, i, INNER_FAULT_LINK, &error);
        }
        pool_close_locked(link, POOL_STAT_CLOSED_DEAD);
    } else if (unit && events->ready(unit, link)) {
        /* it was given away, for one session even if the login is out of
           date */
    } else if (login->retired ||
               !fleet_keeps(login->fleet, i, link->opened)) {
        pool_close_locked(link, POOL_STAT_CLOSED_RETIRED);
    } else if (link->state == LINK_PROBING) {
        pool_set_idle_since_locked(link, link->since); /* it was all the time */
    } else {
        pool_set_state_locked(link, LINK_IDLE);
    }
    pool_serve_locked(login);
}

static void settle(struct link *link)
{
    struct login *login = login_of(link);

    mutex_lock(&login->lock);
    pool_job_settle_locked(link);
    mutex_unlock(&login->lock);
}

/* What a link says about its instance changes groups and owners. */
void pool_job_tell_all(struct fleet *fleet)
{
    uint32_t count;
    struct login **logins = login_all(fleet, &count);

    for (uint32_t i = 0; i < count; i++) {
        mutex_lock(&logins[i]->lock);
        pool_serve_locked(logins[i]);
        mutex_unlock(&logins[i]->lock);
        login_release(logins[i]);
    }
    free(logins);
}

/* It has answered; units of other logins may have passed it over. */
static void answered(struct fleet *fleet, uint32_t i)
{
    if (atomic_load(&fleet->members[i].slow)) {
        fleet_set_slow(fleet, i, false);
        pool_job_tell_all(fleet);
    }
}

void pool_job_heard(struct link *link)
{
    struct fleet *fleet = fleet_of(link);
    uint32_t i = link->pool->instance;
    bool back = atomic_load(&fleet->members[i].health) >= ROUTE_SUSPECT;

    answered(fleet, i);
    if (fleet_heard(fleet, i, &link->who)) {
        topology_regroup(fleet);
        mutex_lock(&login_of(link)->lock); /* login_hung.c reads it */
        link->opened = clock_ns(); /* whatever it was before, it is this now */
        mutex_unlock(&login_of(link)->lock);
        back = true;
    }
    if (back) {
        pool_job_tell_all(fleet);
    }
}

static void timed(const struct link *link, enum route_call call, uint64_t took)
{
    fleet_timed(fleet_of(link), link->pool->instance, call, took);
}

/* One round trip.  False: to be closed. */
static bool validate(struct link *link, struct link_error *error)
{
    uint64_t begin = clock_ns(), took;

    if (!link_validate(link, error)) {
        return false;
    }
    took = clock_ns() - begin;
    pool_job_heard(link); /* first: it may be back, and begin anew */
    timed(link, ROUTE_CALL_ASK, took);
    return true;
}

/* ---- open ---------------------------------------------------------------- */

/* Before a lifetime's end by up to 2.5 %, so that links opened together do
   not end together. */
static uint64_t lifetime_end(const struct fleet *fleet, uint64_t now)
{
    uint64_t life = fleet->config.pool_lifetime * NS_PER_MS;

    return life ? now + life - now / 1000 % (life / 40 + 1) : 0;
}

static bool compose(struct link *link, struct text *string,
                    struct text *settings, struct why *why)
{
    const struct inner_kind *kind = link->inner->kind;
    struct connstr passed;
    struct inner_target target;
    bool ok;

    if (!login_passed(login_of(link), &passed)) {
        why_memory(why);
        return false;
    }
    target = fleet_target(fleet_of(link), link->pool->instance, &passed);
    ok = kind->compose(&target, login_of(link)->wide, string, why) &&
         (!kind->settings || kind->settings(&target, settings, why));
    connstr_free(&passed);
    return ok;
}

/* The pool keeps the settings of its first link: they come from the login and
   the instance's DSN, so that all its links have the same. */
static void keep_settings(struct pool *pool, const struct text *settings)
{
    mutex_lock(&pool->login->lock);
    if (!pool->settings) {
        pool->settings = secret_dup(text_string(settings), settings->length);
    }
    mutex_unlock(&pool->login->lock);
}

/* The connection string, for secret_free(): connecting may take long, and a
   child may be forked meanwhile.  NULL: why. */
static const char *compose_secret(struct link *link, struct why *why)
{
    const char *secret = NULL;
    struct text string, settings;

    text_init_wiped(&string);
    text_init_wiped(&settings);
    if (compose(link, &string, &settings, why)) {
        keep_settings(link->pool, &settings);
        secret = secret_dup(text_string(&string), string.length);
        if (!secret) {
            why_memory(why);
        }
    }
    text_free(&string);
    text_free(&settings);
    return secret;
}

static bool open_link(struct link *link, struct link_error *error)
{
    struct login *login = login_of(link);
    struct why why = { 0 };
    const char *string = compose_secret(link, &why);
    struct link_order order = {
        .inner = link->inner,
        .string = string,
        .instance = login->fleet->instances[link->pool->instance].name,
        .wide = login->wide,
        .odbc_version = login->odbc_version,
        .timeout_ms = login->fleet->config.connect_timeout,
    };
    bool ok = string && link_open(link, &order, error);

    if (!string) {
        link_set_error(error, "HY000", "%s", why.text);
    }
    secret_free(string);
    return ok;
}

/* Has the login an open link anywhere?  Then it is a good one yet. */
static bool has_open_link_locked(const struct login *login)
{
    uint32_t open = 0;

    mutex_assert_held(&login->lock);
    for (uint32_t i = 0; i < login->fleet->count; i++) {
        const uint32_t *count = login->pools[i].count;
        open += count[LINK_IDLE] + count[LINK_PROBING] + count[LINK_HELD] +
                count[LINK_LEARNING] + count[LINK_RESET];
    }
    return open > 0;
}

/* Begun then; link->began is later where rounds were late (login_hung.c). */
static void open_failed(struct link *link, uint64_t begin,
                        const struct link_error *error)
{
    struct login *login = login_of(link);
    struct fleet *fleet = fleet_of(link);
    uint32_t i = link->pool->instance;
    enum inner_fault fault = fleet_failed(fleet, i, begin, error);

    fleet_set_slow(fleet, i, false);
    pool_stat_count(&link->pool->stats, POOL_STAT_FAILED);
    mutex_lock(&login->lock);
    if (inner_is_full(fault)) {
        pool_crowded_locked(link->pool, true);
    }
    if (link->unit) {
        events->failed(link->unit, i, fault, error);
        link->unit = NULL;
    }
    link->ordered = false; /* no unit takes it over any more */
    if (inner_refuses(fault) && !has_open_link_locked(login)) {
        events->refused(login, i, fault, error);
    }
    /* of MonitorUID's login fleet_probe_unwelcome() tells */
    link->pool->refused |= inner_refuses(fault) && !login->monitor;
    mutex_unlock(&login->lock);
    if (link->probe && inner_refuses(fault)) {
        pool_probe_refused(link, error);
    }
}

void pool_job_not_opened(struct link *link)
{
    struct fleet *fleet = fleet_of(link);

    drop(link);
    pool_job_tell_all(fleet);
}

bool pool_job_open(struct link *link)
{
    struct login *login = login_of(link);
    struct link_error error;
    uint64_t begin = clock_ns(), took;
    bool ok = open_link(link, &error);

    took = clock_ns() - begin;
    if (!ok) {
        open_failed(link, begin, &error);
        return false;
    }
    pool_close_at_exit();
    mutex_lock(&login->lock);
    link->opened = link->answered = clock_ns();
    link->retires = lifetime_end(login->fleet, link->opened);
    pool_stat_count(&link->pool->stats, POOL_STAT_OPENED);
    link->pool->refused = false;
    pool_crowded_locked(link->pool, false);
    login->proved = true;
    mutex_unlock(&login->lock);
    fleet_tend(login->fleet);
    pool_job_heard(link);
    timed(link, ROUTE_CALL_OPEN, took);
    return true;
}

static void close_job(struct link *link)
{
    struct login *login = login_of(link);

    link_close(link);
    mutex_lock(&login->lock);
    if (link->pool->full_until) {
        pool_crowded_locked(link->pool, false); /* one more has room now */
    }
    mutex_unlock(&login->lock);
    drop(link);
}

void pool_job_give_up(struct link *link, enum pool_stat why,
                      const struct link_error *error)
{
    struct login *login = login_of(link);

    pool_job_begins(link);
    mutex_lock(&login->lock);
    pool_set_closing_locked(link, why);
    if (link->unit) {
        events->failed(link->unit, link->pool->instance, INNER_FAULT_LINK,
                       error);
        link->unit = NULL;
    }
    pool_serve_locked(login);
    mutex_unlock(&login->lock);
    close_job(link);
}

/* It could not be made clean again, and its instance is suspect if it is
   dead. */
static enum pool_stat why_unclean(struct link *link)
{
    if (!link_dead(link)) {
        return POOL_STAT_CLOSED_UNCLEAN;
    }
    fleet_suspect(fleet_of(link), link->pool->instance);
    return POOL_STAT_CLOSED_DEAD;
}

/* ---- ask ----------------------------------------------------------------- */

void pool_job_learn(struct link *link)
{
    struct fleet *fleet = fleet_of(link);
    struct link_error error;
    uint32_t i = link->pool->instance;
    bool asked = topology_ask(fleet, i, link, &error);

    fleet_learnt(fleet); /* the callers tell the units */
    if (asked && !link->spoilt && !link_dead(link) &&
        link_freshen(link, &error)) {
        settle(link);
    } else {
        pool_job_give_up(link, why_unclean(link), &error);
    }
}

/* ---- what the keeper runs -------------------------------------------------
   Each keeps the fleet for as long as it works, since its last link may go
   under its hands. */

static void run_open(struct job *job)
{
    struct link *link = (struct link *)job;
    struct fleet *fleet = fleet_retain(fleet_of(link));

    pool_job_begins(link);
    if (pool_job_open(link)) {
        settle(link);
    } else {
        pool_job_not_opened(link);
    }
    fleet_release(fleet);
}

static void run_open_and_learn(struct job *job)
{
    struct link *link = (struct link *)job;
    struct login *login = login_of(link);
    struct fleet *fleet = fleet_retain(login->fleet);
    uint32_t i = link->pool->instance;

    pool_job_begins(link);
    if (pool_job_open(link)) {
        mutex_lock(&login->lock);
        pool_set_state_locked(link, LINK_LEARNING);
        pool_serve_locked(login); /* another may be opened there now */
        mutex_unlock(&login->lock);
        pool_job_learn(link);
        pool_job_tell_all(fleet);
    } else {
        topology_not_asked(fleet, i, true);
        pool_job_not_opened(link);
    }
    fleet_release(fleet);
}

/* Who it is now comes first: a standby may have been promoted since this link
   last said so, and the topology goes by that. */
static void run_learn(struct job *job)
{
    struct link *link = (struct link *)job;
    struct fleet *fleet = fleet_retain(fleet_of(link));
    uint32_t i = link->pool->instance;
    struct link_error error;

    pool_job_begins(link);
    if (validate(link, &error)) {
        pool_job_learn(link);
    } else {
        fleet_suspect(fleet, i);
        topology_not_asked(fleet, i, false); /* nobody's fault */
        pool_job_give_up(link, POOL_STAT_CLOSED_DEAD, &error);
    }
    pool_job_tell_all(fleet);
    fleet_release(fleet);
}

static void run_validate(struct job *job)
{
    struct link *link = (struct link *)job;
    struct fleet *fleet = fleet_retain(fleet_of(link));
    uint32_t i = link->pool->instance;
    struct link_error error;

    pool_job_begins(link);
    if (validate(link, &error)) {
        pool_stat_count(&link->pool->stats, POOL_STAT_VALIDATED);
        settle(link);
    } else {
        fleet_suspect(fleet, i);
        fleet_set_slow(fleet, i, false);
        pool_stat_count(&link->pool->stats, POOL_STAT_INVALID);
        pool_job_give_up(link, POOL_STAT_CLOSED_DEAD, &error);
    }
    fleet_release(fleet);
}

static void run_reset(struct job *job)
{
    struct link *link = (struct link *)job;
    struct login *login = login_of(link);
    struct fleet *fleet = fleet_retain(login->fleet);
    struct link_error error;
    const char *settings;
    uint64_t begin = clock_ns();

    pool_job_begins(link);
    mutex_lock(&login->lock);
    settings = link->pool->settings;
    mutex_unlock(&login->lock);
    if (settings && link_reset(link, settings, &error)) {
        timed(link, ROUTE_CALL_RESET, clock_ns() - begin);
        fleet_answered(fleet, link->pool->instance);
        answered(fleet, link->pool->instance);
        pool_stat_count(&link->pool->stats, POOL_STAT_RESETS);
        settle(link);
    } else {
        pool_job_give_up(link, why_unclean(link), &error);
    }
    fleet_release(fleet);
}

static void run_close(struct job *job)
{
    struct link *link = (struct link *)job;
    struct fleet *fleet = fleet_retain(fleet_of(link));

    pool_job_begins(link);
    close_job(link);
    fleet_release(fleet);
}

bool pool_submit_locked(struct link *link, enum pool_job job)
{
    static void (*const run[])(struct job *job) = {
        [POOL_OPEN] = run_open,
        [POOL_OPEN_AND_LEARN] = run_open_and_learn,
        [POOL_OPEN_AND_PROBE] = pool_probe_run_open,
        [POOL_LEARN] = run_learn,
        [POOL_PROBE] = pool_probe_run,
        [POOL_VALIDATE] = run_validate,
        [POOL_RESET] = run_reset,
        [POOL_CLOSE] = run_close,
    };
    struct instance *instance =
        &fleet_of(link)->instances[link->pool->instance];
    struct lane *lane = instance->caring;

    mutex_assert_held(&link->pool->login->lock);
    if (job == POOL_OPEN || job == POOL_OPEN_AND_LEARN ||
        job == POOL_OPEN_AND_PROBE) {
        lane = instance->opening;
    } else if (job == POOL_PROBE) {
        lane = instance->probing;
    }
    link->job.run = run[job];
    return keeper_submit(lane, &link->job);
}
