/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Over which link an instance is probed, and what becomes of it.  No session
 * may suffer for it: an idle link that is being probed can be taken all the
 * same, none is closed to make room for one of ours, and a probe is no use that
 * would keep a link from its PoolIdleTimeout.
 */
#include "autoconf.h"

#include "event.h"
#include "keeper_clock.h"
#include "link_probe.h"
#include "pool_job.h"
#include "pool_shelf.h"
#include "text.h"
#include "topology.h"

/* ---- which --------------------------------------------------------------- */

/* Is one being opened anyway?  By whatever login, where it is down or nobody
   has tried it: the probe would only wait for its turn, in a place for those
   that are awaited. */
static bool is_opening(const struct pool *pool)
{
    const struct route_member *m =
        &pool->login->fleet->members[pool->instance];
    uint8_t health = atomic_load(&m->health);

    return pool->count[LINK_OPENING] > 0 ||
           ((health == ROUTE_DOWN || health == ROUTE_UNTRIED) &&
            atomic_load(&m->opening) > 0);
}

/* May a new link be opened there?  The keeper's own login has one. */
static bool has_room(const struct pool *pool)
{
    if (is_opening(pool)) {
        return false;
    }
    return pool->login->monitor ? pool_links(pool) == 0
                                : pool_has_room_locked(pool);
}

/* The idle link that was used longest ago, and is not due to be closed. */
static struct link *oldest(const struct pool *pool)
{
    struct link *head = pool->links[LINK_IDLE];
    struct link *link = head ? head->prev : NULL;
    uint64_t now = clock_ns();

    while (link && pool_is_worn(link, now)) {
        link = link == head ? NULL : link->prev;
    }
    return link;
}

enum pool_probe pool_probe_locked(const struct pool *pool, bool new)
{
    mutex_assert_held(&pool->login->lock);
    shelf_gather_locked(pool->login);
    if (pool->login->retired) {
        return POOL_PROBE_NOT;
    }
    if (!new && oldest(pool)) {
        return pool->poor ? POOL_PROBE_ASKS_POOR : POOL_PROBE_ASKS;
    }
    if (pool->refused || !(pool->login->proved || pool->login->monitor)) {
        return POOL_PROBE_REFUSED;
    }
    if (!has_room(pool)) {
        return POOL_PROBE_NOT;
    }
    return pool->poor ? POOL_PROBE_OPENS_POOR : POOL_PROBE_OPENS;
}

/* ---- begin and leave ----------------------------------------------------- */

static bool ask(struct pool *pool, struct link *link)
{
    struct fleet *fleet = pool->login->fleet;
    uint64_t since = link->since;

    link->probe = fleet_probe_begin(fleet, pool->instance, FLEET_PROBE_ASKS);
    if (!link->probe) {
        return false;
    }
    pool_set_state_locked(link, LINK_PROBING);
    link->since = since; /* for it is idle all the same */
    if (!pool_submit_locked(link, POOL_PROBE)) {
        fleet_probe_ended(fleet, pool->instance, link->probe,
                          FLEET_PROBE_ASKS);
        link->probe = 0;
        pool_set_idle_since_locked(link, since);
        return false;
    }
    return true;
}

static bool open_one(struct pool *pool)
{
    struct fleet *fleet = pool->login->fleet;
    uint64_t number =
        fleet_probe_begin(fleet, pool->instance, FLEET_PROBE_OPENS);

    if (!number) {
        return false;
    }
    if (!pool_open_locked(pool, NULL, POOL_OPEN_AND_PROBE, number)) {
        fleet_probe_ended(fleet, pool->instance, number, FLEET_PROBE_OPENS);
        return false;
    }
    return true;
}

bool pool_probe_begin_locked(struct pool *pool, bool new)
{
    struct link *link;

    mutex_assert_held(&pool->login->lock);
    shelf_gather_locked(pool->login);
    link = new ? NULL : oldest(pool);
    return link ? ask(pool, link) : open_one(pool);
}

bool pool_seek_locked(struct pool *pool)
{
    mutex_assert_held(&pool->login->lock);
    return !pool->login->retired && !pool->refused && has_room(pool) &&
           open_one(pool);
}

void pool_probe_leave_locked(struct pool *pool)
{
    mutex_assert_held(&pool->login->lock);
    while (pool->links[LINK_PROBING]) {
        pool_close_locked(pool->links[LINK_PROBING], POOL_STAT_CLOSED_DEAD);
    }
}

/* ---- on a helper's thread ------------------------------------------------ */

static void say(const struct link *link, enum log_level level,
                const char *what, const struct link_error *why)
{
    const struct fleet *fleet = link->pool->login->fleet;
    struct text text;

    text_init(&text);
    link_say_error(why, &text);
    event_say(fleet->events, level, fleet->instances[link->pool->instance].name,
              "%s: %s", what, text_string(&text));
    text_free(&text);
}

void pool_probe_refused(struct link *link, const struct link_error *error)
{
    struct login *login = link->pool->login;

    if (login->monitor) { /* which may go with this link */
        fleet_probe_unwelcome(login->fleet, link->pool->instance);
        say(link, LOG_IS_WARNING, "refuses to be probed by MonitorUID", error);
        return;
    }
    say(link, LOG_IS_WARNING, "refuses to be probed by a session's login",
        error);
}

static void take_answer(struct link *link, const struct link_probe *told,
                        uint64_t asked)
{
    struct login *login = link->pool->login;
    struct fleet *fleet = login->fleet;
    uint32_t i = link->pool->instance;
    bool news;

    pool_job_heard(link); /* first: it may be back, and begin anew */
    fleet_probed(fleet, i, told, asked);
    mutex_lock(&login->lock);
    news = told->poor && !link->pool->poor;
    link->pool->poor = told->poor;
    mutex_unlock(&login->lock);
    if (news) {
        say(link, LOG_IS_INFO, "does not tell all that it is asked for",
            &told->why_poor);
    }
}

/* The link died.  Of silence, too, if that was ended from outside; but nothing
   is said of a probe that was given up: that was long ago. */
static void take_silence(struct link *link, bool awaited, uint64_t asked,
                         const struct link_error *error)
{
    enum { LATE_MS = 1000 }; /* later, it was ourselves that were stopped */
    struct fleet *fleet = link->pool->login->fleet;
    uint32_t i = link->pool->instance;
    uint64_t took = (clock_ns() - asked) / NS_PER_MS;

    fleet_set_slow(fleet, i, false);
    if (awaited && took >= fleet->config.check_timeout &&
        took < fleet->config.check_timeout + LATE_MS) {
        fleet_silent(fleet, i, asked, error);
    } else if (awaited) {
        fleet_suspect(fleet, i);
    }
}

/* Somebody has taken the link for the topology meanwhile. */
static void learn(struct link *link, bool alive,
                  const struct link_error *error)
{
    struct fleet *fleet = link->pool->login->fleet;

    if (alive) {
        pool_job_learn(link);
    } else {
        topology_not_asked(fleet, link->pool->instance, false);
        pool_job_give_up(link, POOL_STAT_CLOSED_DEAD, error);
    }
    pool_job_tell_all(fleet);
}

/* What becomes of the link depends on who has. */
static void pass_on(struct link *link, bool alive,
                    const struct link_error *error)
{
    struct login *login = link->pool->login;
    bool learns, closes;

    mutex_lock(&login->lock);
    link->probe = 0;
    learns = link->state == LINK_LEARNING;
    closes = link->state == LINK_CLOSING || !alive;
    if (!learns && !closes) {
        pool_job_settle_locked(link);
    } else if (link->state == LINK_PROBING) {
        pool_set_closing_locked(link, POOL_STAT_CLOSED_DEAD); /* nobody takes
                                                                 it now */
    }
    mutex_unlock(&login->lock);
    if (learns) {
        learn(link, alive, error);
    } else if (closes) {
        pool_job_give_up(link, POOL_STAT_CLOSED_DEAD, error);
    }
}

static void probe(struct link *link, enum fleet_probe_way way)
{
    struct fleet *fleet = link->pool->login->fleet;
    uint64_t asked = clock_ns();
    uint32_t i = link->pool->instance;
    struct text extra = { 0 };
    bool checks = topology_fingerprint_due(fleet, i, asked, &extra);
    struct link_probe told;
    struct link_error error;
    bool alive, awaited;

    alive = link_probe(link,
                       checks && !extra.failed ? text_string(&extra) : NULL,
                       &told, &error);
    text_free(&extra);
    if (alive) {
        take_answer(link, &told, asked);
    }
    if (alive && told.extra_told &&
        topology_fingerprint_heard(fleet, i, told.extra, clock_ns(),
                                   told.latency)) {
        keeper_clock_wake(0); /* watch_learn.c has it asked */
    }
    awaited = fleet_probe_ended(fleet, i, link->probe, way);
    if (!alive) {
        take_silence(link, awaited, asked, &error);
    }
    pass_on(link, alive, &error);
}

void pool_probe_run(struct job *job)
{
    struct link *link = (struct link *)job;
    struct fleet *fleet = fleet_retain(link->pool->login->fleet);

    pool_job_begins(link);
    fleet_probe_runs(fleet, link->pool->instance, link->probe);
    probe(link, FLEET_PROBE_ASKS);
    fleet_release(fleet);
}

void pool_probe_run_open(struct job *job)
{
    struct link *link = (struct link *)job;
    struct login *login = link->pool->login;
    struct fleet *fleet = fleet_retain(login->fleet);
    uint32_t i = link->pool->instance;
    uint64_t number = link->probe;

    pool_job_begins(link);
    fleet_probe_runs(fleet, i, number);
    if (pool_job_open(link)) {
        mutex_lock(&login->lock);
        pool_set_state_locked(link, LINK_PROBING);
        pool_serve_locked(login);
        mutex_unlock(&login->lock);
        pool_job_begins(link);
        probe(link, FLEET_PROBE_OPENS);
    } else {
        fleet_probe_ended(fleet, i, number, FLEET_PROBE_OPENS);
        pool_job_not_opened(link);
    }
    fleet_release(fleet);
}
