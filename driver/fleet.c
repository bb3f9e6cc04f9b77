/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is heard of a fleet's instances, and what follows at once.  Which state
 * follows from what is in fleet_state.c; making and finding fleets is in
 * fleet_list.c, groups are in fleet_group.c.
 */
#include "autoconf.h"

#include "event.h"
#include "fleet.h"
#include "fleet_balance.h"
#include "fleet_group.h"
#include "keeper_clock.h"
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 250 };

static const char *role_word(enum link_role role)
{
    return role == LINK_ROLE_PRIMARY   ? "primary"
           : role == LINK_ROLE_STANDBY ? "standby"
                                       : "of a role it does not say";
}

/* Another system than before.  Both must have been told: not every login is,
   and one that is not, and sees a promotion, has not seen another system. */
static bool is_other(const struct instance *instance,
                     const struct link_who *who)
{
    return *instance->who.identity && *who->identity &&
           strcmp(instance->who.identity, who->identity) != 0;
}

/* The instance has said who it is, other than before. */
static void say_who(const struct fleet *fleet, uint32_t i,
                    const struct link_who *who)
{
    const struct instance *instance = &fleet->instances[i];
    bool other = is_other(instance, who);
    bool moved = instance->who_at && instance->who.role != who->role;

    event_say(fleet->events, other || moved ? LOG_IS_WARNING : LOG_IS_INFO,
              instance->name, "is %s%s, timeline %u of %s%s",
              moved ? "now " : "", role_word(who->role), who->timeline,
              *who->identity ? who->identity : "an unknown system",
              other ? ": another system than before" : "");
}

/* ---- links that are of no more use --------------------------------------- */

void fleet_tell(struct fleet *fleet, uint32_t i)
{
    atomic_store(&fleet->instances[i].changed, true);
    keeper_clock_wake(0);
}

void fleet_tend(struct fleet *fleet)
{
    atomic_store(&fleet->tend, true);
    keeper_clock_wake(0);
}

void fleet_renew_links(struct fleet *fleet, uint32_t i)
{
    atomic_store(&fleet->instances[i].stale_at, clock_ns());
    fleet_tell(fleet, i);
}

/* One of the two marks that keep units away. */
static bool mark_locked(struct fleet *fleet, uint32_t i, _Atomic bool *mark,
                        bool value)
{
    mutex_assert_held(&fleet->lock);
    if (atomic_load(mark) == value) {
        return false;
    }
    if (!value) {
        fleet_balance_returned_locked(fleet, i, clock_ns());
    }
    atomic_store(mark, value);
    fleet_tell(fleet, i);
    return true;
}

bool fleet_set_drained(struct fleet *fleet, uint32_t i, bool drained)
{
    bool changed;

    mutex_lock(&fleet->lock);
    changed = mark_locked(fleet, i, &fleet->members[i].drained, drained);
    mutex_unlock(&fleet->lock);
    return changed;
}

bool fleet_set_disabled_locked(struct fleet *fleet, uint32_t i, bool disabled)
{
    mutex_assert_held(&fleet->lock);
    return mark_locked(fleet, i, &fleet->members[i].disabled, disabled);
}

static void lose_sessions_locked(struct fleet *fleet, uint32_t i,
                                 const struct link_error *why)
{
    struct instance *instance = &fleet->instances[i];
    uint64_t now = clock_ns();

    mutex_assert_held(&fleet->lock);
    instance->lost = *why;
    atomic_store(&instance->stale_at, now);
    atomic_store(&instance->lost_at, now);
    news_tell(); /* behind lost_at: who has heard it sees that */
    fleet_tell(fleet, i);
}

void fleet_superseded_locked(struct fleet *fleet, uint32_t i,
                             const char *format, ...)
{
    struct link_error why = { .state = "25006" };
    va_list arguments;

    mutex_assert_held(&fleet->lock);
    va_start(arguments, format);
    vsnprintf(why.text, sizeof why.text, format, arguments);
    va_end(arguments);
    lose_sessions_locked(fleet, i, &why);
}

void fleet_say_lost(struct fleet *fleet, uint32_t i, struct text *out)
{
    struct instance *instance = &fleet->instances[i];

    mutex_lock(&fleet->lock);
    text_appendf(out, "%s was found unusable %llu ms ago: ", instance->name,
                 (unsigned long long)((clock_ns() -
                                       atomic_load(&instance->lost_at)) /
                                      NS_PER_MS));
    link_say_error(&instance->lost, out);
    mutex_unlock(&fleet->lock);
}

/* ---- facts --------------------------------------------------------------- */

static void say_state(const struct fleet *fleet, uint32_t i,
                      const struct fleet_state *before)
{
    const struct instance *instance = &fleet->instances[i];
    const struct fleet_state *now = &instance->state;
    unsigned long long ms = (now->since - before->since) / NS_PER_MS;
    struct text why;

    text_init(&why);
    link_say_error(&instance->cause, &why);
    if (now->health == ROUTE_DOWN) {
        event_say(fleet->events, LOG_IS_ERROR, instance->name, "is down: %s",
                  text_string(&why));
    } else if (now->health == ROUTE_SUSPECT && before->health == ROUTE_DOWN) {
        event_say(fleet->events, LOG_IS_WARNING, instance->name,
                  "answers again after %llu ms; it takes %u answers in a row "
                  "until it is up", ms, (unsigned)fleet_state_needs(now));
    } else if (now->health == ROUTE_SUSPECT) {
        event_say(fleet->events, LOG_IS_WARNING, instance->name,
                  "is suspect: %s", text_string(&why));
    } else if (before->health != ROUTE_UNTRIED) {
        event_say(fleet->events, LOG_IS_WARNING, instance->name,
                  "is up again after %llu ms", ms);
    }
    text_free(&why);
}

void fleet_set_lanes(struct fleet *fleet, uint32_t i)
{
    struct instance *instance = &fleet->instances[i];
    bool doubtful = fleet_doubts(fleet, i);

    lane_limit(instance->opening, doubtful ? 1 : KEEPER_LANE_MAX);
    lane_doubt(instance->opening, doubtful);
    lane_doubt(instance->probing, doubtful);
}

/* The state has changed.  One that answers and has to do so more often is
   suspect by what it was down by. */
static void follow_locked(struct fleet *fleet, uint32_t i,
                          enum fleet_fact fact,
                          const struct fleet_state *before,
                          const struct link_error *error)
{
    struct instance *instance = &fleet->instances[i];
    uint64_t now = instance->state.since;

    mutex_assert_held(&fleet->lock);
    if (error) {
        instance->cause = *error;
    } else if (fact != FLEET_ANSWERED) {
        link_set_error(&instance->cause, "08S01", "a link to it died");
    }
    say_state(fleet, i, before);
    if (instance->state.health == ROUTE_DOWN) {
        atomic_store(&instance->stale_at, now);
    } else if (before->health == ROUTE_DOWN) {
        fleet_balance_returned_locked(fleet, i, now);
    }
    if (before->health != ROUTE_UNTRIED) {
        fleet_tell(fleet, i);
    }
}

static void note_error_locked(struct fleet *fleet, uint32_t i,
                              const struct link_error *error, uint64_t now)
{
    struct instance *instance = &fleet->instances[i];

    mutex_assert_held(&fleet->lock);
    instance->error = *error;
    instance->error_at = now;
}

/* Whoever waits for it is told why it is not ready (place_say.c), and not by
   what it was down when it had not begun to start.  What is DOUBTED of a link
   that it had says nothing. */
static void note_starting_locked(struct fleet *fleet, uint32_t i,
                                 enum fleet_fact fact,
                                 const struct link_error *error)
{
    struct route_member *m = &fleet->members[i];
    bool starting = fact == FLEET_STARTING;

    mutex_assert_held(&fleet->lock);
    if (fact != FLEET_DOUBTED) {
        if (error && starting != atomic_load(&m->starting)) {
            fleet->instances[i].cause = *error;
        }
        atomic_store(&m->starting, starting);
    }
}

static void take_locked(struct fleet *fleet, uint32_t i, enum fleet_fact fact,
                        const struct link_error *error)
{
    struct instance *instance = &fleet->instances[i];
    struct route_member *m = &fleet->members[i];
    struct fleet_state before = instance->state;
    uint64_t now = clock_ns();
    bool loses;

    mutex_assert_held(&fleet->lock);
    loses = fleet_state_take(&instance->state, fact, now,
                             (now ^ m->seed) / 1000);
    if (error) {
        note_error_locked(fleet, i, error, now);
    }
    if (fact == FLEET_ANSWERED) {
        atomic_store(&instance->answered_at, now);
    } else {
        atomic_store(&instance->suspect_at, now);
        fleet_want_probe(fleet, i);
    }
    note_starting_locked(fleet, i, fact, error);
    atomic_store(&m->retry_at, instance->state.retry_at);
    atomic_store(&m->health, (uint8_t)instance->state.health);
    if (before.health != instance->state.health) {
        fleet_set_lanes(fleet, i);
        follow_locked(fleet, i, fact, &before, error);
    }
    if (loses) {
        lose_sessions_locked(fleet, i, &instance->error);
    }
}

/* What this login may not read, or was not told this time, is as it was told
   before.  One that has become the primary is on a later timeline than it was
   as a standby; but that is taken for certain only where no other primary of
   its group is known to be up, whom it would supersede. */
static struct link_who complete(const struct fleet *fleet, uint32_t i,
                                struct link_who who)
{
    const struct link_who *before = &fleet->instances[i].who;

    if (who.role == LINK_ROLE_UNKNOWN) {
        who.role = before->role;
    }
    if (!*who.identity) {
        memcpy(who.identity, before->identity, sizeof who.identity);
    }
    if (!who.timeline && !is_other(&fleet->instances[i], &who)) {
        who.timeline = before->timeline;
        who.timeline += who.timeline && who.role == LINK_ROLE_PRIMARY &&
                        before->role == LINK_ROLE_STANDBY &&
                        fleet_may_lead(fleet, i, clock_ns());
    }
    return who;
}

bool fleet_heard(struct fleet *fleet, uint32_t i, const struct link_who *said)
{
    struct instance *instance = &fleet->instances[i];
    struct route_member *m = &fleet->members[i];
    struct link_who heard, *who = &heard;
    bool changed, other;

    mutex_lock(&fleet->lock);
    take_locked(fleet, i, FLEET_ANSWERED, NULL);
    heard = complete(fleet, i, *said);
    other = is_other(instance, who);
    changed = !instance->who_at || instance->who.role != who->role ||
              instance->who.timeline != who->timeline ||
              strcmp(instance->who.identity, who->identity) != 0;
    if (changed) {
        say_who(fleet, i, who);
    }
    if (other) {
        fleet_renew_links(fleet, i);
    } else if (atomic_load(&m->role) == ROUTE_PRIMARY &&
               who->role == LINK_ROLE_STANDBY) {
        fleet_superseded_locked(fleet, i, "it is a standby now");
    }
    instance->who = *who;
    instance->who_at = clock_ns();
    if (changed) {
        fleet_regroup_locked(fleet);
    }
    mutex_unlock(&fleet->lock);
    return changed;
}

void fleet_answered(struct fleet *fleet, uint32_t i)
{
    struct instance *instance = &fleet->instances[i];

    if (atomic_load(&fleet->members[i].health) == ROUTE_UP) {
        atomic_store(&instance->answered_at, clock_ns());
        return;
    }
    mutex_lock(&fleet->lock);
    take_locked(fleet, i, FLEET_ANSWERED, NULL);
    mutex_unlock(&fleet->lock);
}

/* Others were answered while this one took all its time: too many at once are
   no outage. */
static bool was_crowded(struct fleet *fleet, uint32_t i, uint64_t began)
{
    return clock_ns() >= began + fleet->config.connect_timeout * NS_PER_MS &&
           atomic_load(&fleet->instances[i].answered_at) > began;
}

/* Who is not let in tells of it, and whoever reads the log has to know; but a
   program with a wrong password may try many times a second. */
static void say_refusal_locked(struct fleet *fleet, uint32_t i,
                               enum inner_fault fault,
                               const struct link_error *error)
{
    enum { ONCE_IN_MS = 60000 };
    struct instance *instance = &fleet->instances[i];
    uint64_t *said = &instance->said_at[inner_refuses(fault)];
    uint64_t now = clock_ns();
    struct text why;

    mutex_assert_held(&fleet->lock);
    if (!(inner_refuses(fault) || inner_is_full(fault)) ||
        (*said && now < *said + ONCE_IN_MS * NS_PER_MS)) {
        return;
    }
    *said = now;
    text_init(&why);
    link_say_error(error, &why);
    event_say(fleet->events, LOG_IS_WARNING, instance->name, "%s: %s",
              inner_refuses(fault) ? "refuses a login"
                                   : "has no room for another connection",
              text_string(&why));
    text_free(&why);
}

enum inner_fault fleet_failed(struct fleet *fleet, uint32_t i, uint64_t began,
                              const struct link_error *error)
{
    struct instance *instance = &fleet->instances[i];
    enum inner_fault fault = link_fault(instance->inner->kind, error);

    mutex_lock(&fleet->lock);
    if (fault == INNER_FAULT_INSTANCE || fault == INNER_FAULT_STARTING ||
        fault == INNER_FAULT_FULL) {
        fleet_balance_failed_locked(fleet, i);
    }
    if (fault == INNER_FAULT_INSTANCE || fault == INNER_FAULT_STARTING) {
        take_locked(fleet, i,
                    fault == INNER_FAULT_STARTING  ? FLEET_STARTING
                    : was_crowded(fleet, i, began) ? FLEET_DOUBTED
                                                   : FLEET_REFUSED,
                    error);
    } else {
        note_error_locked(fleet, i, error, clock_ns());
        say_refusal_locked(fleet, i, fault, error);
    }
    mutex_unlock(&fleet->lock);
    return fault;
}

void fleet_silent(struct fleet *fleet, uint32_t i, uint64_t asked_at,
                  const struct link_error *error)
{
    struct instance *instance = &fleet->instances[i];

    mutex_lock(&fleet->lock);
    fleet_balance_failed_locked(fleet, i);
    take_locked(fleet, i,
                atomic_load(&instance->answered_at) > asked_at ? FLEET_DOUBTED
                                                               : FLEET_SILENT,
                error);
    mutex_unlock(&fleet->lock);
}

void fleet_suspect(struct fleet *fleet, uint32_t i)
{
    mutex_lock(&fleet->lock);
    take_locked(fleet, i, FLEET_DOUBTED, NULL);
    mutex_unlock(&fleet->lock);
}

void fleet_set_slow(struct fleet *fleet, uint32_t i, bool slow)
{
    atomic_store_explicit(&fleet->members[i].slow, slow,
                          memory_order_relaxed);
}

bool fleet_may_lead(const struct fleet *fleet, uint32_t i, uint64_t now)
{
    const struct route_member *m = &fleet->members[i];
    uint32_t group = atomic_load(&m->group);

    if (atomic_load(&m->role) != ROUTE_STANDBY ||
        (atomic_load(&m->health) == ROUTE_DOWN &&
         atomic_load(&m->retry_at) > now)) {
        return false;
    }
    for (uint32_t k = 0; k < fleet->count; k++) {
        m = &fleet->members[k];
        if (atomic_load(&m->group) == group &&
            atomic_load(&m->role) == ROUTE_PRIMARY &&
            atomic_load(&m->health) < ROUTE_SUSPECT) {
            return false;
        }
    }
    return true;
}

bool fleet_look_due(struct fleet *fleet, uint64_t now)
{
    uint64_t last = atomic_load(&fleet->looked_at);

    return last + LOOK_MS * NS_PER_MS <= now &&
           atomic_compare_exchange_strong(&fleet->looked_at, &last, now);
}

void fleet_count_refused(struct fleet *fleet)
{
    atomic_fetch_add_explicit(&fleet->refused, 1, memory_order_relaxed);
}

void fleet_view(struct fleet *fleet, uint32_t i,
                struct fleet_instance_view *view)
{
    const struct instance *instance = &fleet->instances[i];
    struct route_member *m = &fleet->members[i];

    mutex_lock(&fleet->lock);
    *view = (struct fleet_instance_view){
        .name = instance->name,
        .health = atomic_load(&m->health),
        .role = atomic_load(&m->role),
        .group = atomic_load(&m->group),
        .since = instance->state.since,
        .retry_at = atomic_load(&m->retry_at),
        .who = instance->who,
        .error = instance->error,
        .cause = instance->cause,
        .error_at = instance->error_at,
        .rival = (int)instance->rival - 1,
        .probed_at = instance->facts.at,
        .position = instance->facts.position,
        .fresh_at = instance->facts.fresh_at,
        .backends = instance->facts.backends,
        .backends_max = instance->facts.backends_max,
        .active = instance->facts.active,
        .commits_per_s = instance->facts.commits_per_s,
    };
    mutex_unlock(&fleet->lock);
}

struct inner_target fleet_target(const struct fleet *fleet, uint32_t i,
                                 const struct connstr *passed)
{
    const struct instance *instance = &fleet->instances[i];

    return (struct inner_target){
        .dsn = instance->dsn,
        .driver = instance->driver,
        .host = instance->host,
        .port = instance->port[0] ? instance->port : NULL,
        .passed = passed,
        .section = instance->section,
        .environment = instance->environment,
    };
}
