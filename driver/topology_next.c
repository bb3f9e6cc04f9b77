/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is known of a key, and whom to ask next for what is not (rules §1.2,
 * §1.3, §1.5): little for a key, everything for none.
 */
#include "autoconf.h"

#include "topology_inside.h"

#include <string.h>

/* Instances that are asked at once when all are; a few threads are left to
   those who want links. */
enum { ASKED_AT_ONCE = 48 };

static enum route_health health_of(const struct topology *topology, uint32_t i)
{
    return atomic_load_explicit(&topology->fleet->members[i].health,
                                memory_order_relaxed);
}

static uint64_t fleet_retry(const struct topology *topology, uint32_t i)
{
    return health_of(topology, i) == ROUTE_DOWN
               ? atomic_load_explicit(&topology->fleet->members[i].retry_at,
                                      memory_order_relaxed)
               : 0;
}

bool topology_askable_locked(const struct topology *topology, uint32_t i,
                             uint64_t now)
{
    return !topology->fleet->members[i].disabled &&
           topology->at[i].retry_at <= now && fleet_retry(topology, i) <= now;
}

bool topology_wanted_locked(const struct topology *topology, uint32_t i)
{
    const struct topology_instance *at = &topology->at[i];

    if (at->state == TOPOLOGY_ANSWERED ||
        topology->fleet->members[i].disabled) {
        return false;
    }
    if (topology->kind == TOPOLOGY_HASH) {
        return !at->known && !*topology_limits(topology, i).group;
    }
    if (topology->kind == TOPOLOGY_MAP) {
        return false;
    }
    /* a standby adds nothing to its primary's answer */
    return at->role != ROUTE_STANDBY ||
           !(topology->mark[at->group] & TOPOLOGY_MARK_PRIMARY);
}

/* ---- finding ----------------------------------------------------------- */

/* Is somebody being asked, or can be? */
static bool pending_locked(struct topology *topology, uint64_t now)
{
    if (topology->building) {
        return true;
    }
    topology_mark_locked(topology);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        if (topology_wanted_locked(topology, i) &&
            (topology->at[i].asking > 0 ||
             topology_askable_locked(topology, i, now))) {
            return true;
        }
    }
    return false;
}

/* Did the instance say that what it is asked is wrong: syntax, names, values?
   Rights are not among it: another login may have them. */
static bool is_wrong(const struct topology_instance *at)
{
    const char *state = at->error.state;

    return at->state == TOPOLOGY_FAILED && strcmp(state, "42501") != 0 &&
           (strncmp(state, "42", 2) == 0 || strncmp(state, "22", 2) == 0 ||
            strncmp(state, "0A", 2) == 0);
}

/* Have all who might still answer said so?  Then the owner is not "not learnt
   yet": strict would open anywhere for ever on a mistyped query. */
static bool wrong_everywhere_locked(const struct topology *topology)
{
    bool any = false;

    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        if (topology_wanted_locked(topology, i)) {
            if (!is_wrong(&topology->at[i])) {
                return false;
            }
            any = true;
        }
    }
    return any;
}

/* Nobody is known to own it: is that all there is to say? */
static void settle_locked(struct topology *topology, uint64_t now,
                          struct topology_answer *answer)
{
    int32_t otherwise = topology->map ? topology->map->otherwise : -1;

    if (!topology_complete_locked(topology)) {
        answer->state = ROUTE_IS_UNKNOWN;
        answer->count = 0;
        answer->pending = pending_locked(topology, now);
        topology_say_unknown_locked(topology, &answer->why);
        if (!answer->pending && wrong_everywhere_locked(topology)) {
            answer->state = ROUTE_IS_UNLEARNABLE; /* until asked again */
        }
    } else if (answer->state == ROUTE_IS_MOVING) {
        return;
    } else if (answer->state == ROUTE_IS_UNRESOLVED) {
        why_set(&answer->why, WHY_GENERAL, "the foreign server that its "
                "partition is said to be on is no instance of this DSN");
    } else if (otherwise >= 0) {
        answer->state = ROUTE_IS_OWNED;
    } else if (otherwise == -2) {
        answer->state = ROUTE_IS_MOVING;
    } else {
        answer->state = ROUTE_IS_UNOWNED;
        topology_say_unowned_locked(topology, &answer->why);
    }
}

/* Have two groups themselves claimed the key?  Pointers that contradict each
   other, or lead to one that does not claim it, say nothing final as long as
   somebody has not answered. */
static bool contradicted_locked(const struct topology *topology,
                                const struct topology_answer *answer)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < answer->count; k++) {
        for (uint32_t i = 0; i < topology->fleet->count; i++) {
            if (topology->at[i].reply &&
                topology->at[i].group == answer->owners[k]) {
                count++;
                break;
            }
        }
    }
    return count >= 2;
}

/* Only standbys are known of an owner: its primary may be one of those that
   have not said who they are, and then finding it is what is wanted. */
static bool headless_locked(struct topology *topology, uint64_t now,
                            const struct topology_answer *answer)
{
    bool led = true;

    for (uint32_t k = 0; topology->strangers && k < answer->count; k++) {
        led &= topology->at[answer->owners[k]].led;
    }
    return !led && topology->kind <= TOPOLOGY_QUERY &&
           pending_locked(topology, now);
}

/* True: a server has to judge the key, and has not done so. */
static bool find_locked(struct topology *topology, const struct route_key *key,
                        uint64_t now, struct topology_answer *answer)
{
    enum route_map_result result = ROUTE_MAP_EMPTY;

    answer->state = ROUTE_IS_UNKNOWN;
    answer->count = 0;
    answer->pending = answer->bad_key = false;
    answer->why.code = WHY_NONE;
    answer->why.text[0] = '\0';
    if (topology->kind == TOPOLOGY_HASH) {
        topology_hash_find_locked(topology, key, answer);
        if (answer->state == ROUTE_IS_UNKNOWN) {
            answer->pending = pending_locked(topology, now);
            topology_say_unknown_locked(topology, &answer->why);
        }
        return false;
    }
    if (topology->map) {
        topology_map_find(topology, topology->map, key, answer, &result);
    }
    if (result == ROUTE_MAP_ASK_SERVER &&
        !topology_resolver_find_locked(topology, key, now, answer)) {
        return true;
    }
    if (answer->state == ROUTE_IS_OWNED &&
        headless_locked(topology, now, answer)) {
        answer->state = ROUTE_IS_UNKNOWN;
        answer->count = 0;
        answer->pending = true;
        why_set(&answer->why, WHY_GENERAL,
                "the owner's primary is not known yet");
    } else if (answer->state == ROUTE_IS_UNKNOWN ||
               answer->state == ROUTE_IS_UNRESOLVED ||
               (answer->state == ROUTE_IS_MOVING &&
                !contradicted_locked(topology, answer))) {
        settle_locked(topology, now, answer);
    }
    return false;
}

void topology_find(struct fleet *fleet, const struct route_key *key,
                   struct topology_answer *answer)
{
    struct topology *topology = fleet->topology;

    mutex_lock(&topology->lock);
    find_locked(topology, key, clock_ns(), answer);
    mutex_unlock(&topology->lock);
}

/* ---- asking next ------------------------------------------------------- */

static int ask_locked(struct topology *topology, uint32_t i, uint64_t now)
{
    topology->at[i].asking++;
    topology->at[i].asked_at = now;
    return (int)i;
}

/* Lately asked and not back: worth waiting for. */
static uint32_t count_asked_locked(const struct topology *topology,
                                   uint64_t now, uint64_t ms)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        count += topology->at[i].asking > 0 &&
                 topology->at[i].asked_at + ms * NS_PER_MS > now;
    }
    return count;
}

/* The n-th instance to look at: all, beginning anywhere. */
static uint32_t in_turn(const struct topology *topology, uint32_t n)
{
    return (uint32_t)((topology->seed + n) % topology->fleet->count);
}

/* One that is likely to answer at once, and with what counts. */
static bool promising(const struct topology *topology, uint32_t i)
{
    enum route_health health = health_of(topology, i);

    return (health == ROUTE_UP || health == ROUTE_UNTRIED) &&
           topology->at[i].role != ROUTE_STANDBY;
}

static int next_unasked_locked(struct topology *topology, uint64_t now)
{
    int second = -1;

    topology_mark_locked(topology);
    for (uint32_t n = 0; n < topology->fleet->count; n++) {
        uint32_t i = in_turn(topology, n);
        if (!topology_wanted_locked(topology, i) ||
            topology->at[i].asking > 0 ||
            !topology_askable_locked(topology, i, now)) {
            continue;
        }
        if (promising(topology, i)) {
            return ask_locked(topology, i, now);
        }
        second = second < 0 ? (int)i : second;
    }
    return second < 0 ? -1 : ask_locked(topology, (uint32_t)second, now);
}

/* One that has the table, to judge a key. */
static int next_resolver_locked(struct topology *topology, uint64_t now)
{
    int second = -1;

    for (uint32_t n = 0; n < topology->fleet->count; n++) {
        uint32_t i = in_turn(topology, n);
        const struct topology_instance *at = &topology->at[i];
        if (!at->reply || !at->reply->tree->count || at->asking > 0 ||
            !topology_askable_locked(topology, i, now)) {
            continue;
        }
        if (promising(topology, i)) {
            return ask_locked(topology, i, now);
        }
        second = second < 0 ? (int)i : second;
    }
    return second < 0 ? -1 : ask_locked(topology, (uint32_t)second, now);
}

static bool claims(const struct topology *topology, uint32_t i,
                   const struct topology_answer *answer)
{
    for (uint32_t k = 0; k < answer->count; k++) {
        if (answer->owners[k] == topology->at[i].group) {
            return true;
        }
    }
    return answer->count == 0;
}

/* A move may have ended: ask those again who claim the key. */
static int next_claimant_locked(struct topology *topology,
                                const struct topology_answer *answer,
                                uint64_t now)
{
    for (uint32_t n = 0; n < topology->fleet->count; n++) {
        uint32_t i = in_turn(topology, n);
        struct topology_instance *at = &topology->at[i];
        if (at->state == TOPOLOGY_ANSWERED && at->reply && !at->asking &&
            at->heard_at + TOPOLOGY_MOVING_MS * NS_PER_MS <= now &&
            claims(topology, i, answer) &&
            topology_askable_locked(topology, i, now)) {
            at->again = true;
            return ask_locked(topology, i, now);
        }
    }
    return -1;
}

static int next_for_key_locked(struct topology *topology,
                               const struct route_key *key, uint64_t now)
{
    struct topology_answer answer;
    bool judged = !find_locked(topology, key, now, &answer);

    if (answer.state != ROUTE_IS_UNKNOWN && answer.state != ROUTE_IS_MOVING) {
        return -1;
    }
    if (topology->kind == TOPOLOGY_HASH) {
        return next_unasked_locked(topology, now); /* it takes them all */
    }
    if (!judged && !topology_resolver_want_locked(topology, key, now)) {
        return -1;
    }
    if (count_asked_locked(topology, now, TOPOLOGY_HEDGE_MS) > 0) {
        return -1;
    }
    if (answer.state == ROUTE_IS_MOVING) {
        return next_claimant_locked(topology, &answer, now);
    }
    return judged ? next_unasked_locked(topology, now)
                  : next_resolver_locked(topology, now);
}

/* ---- when next --------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* When one that is wanted may be asked again. */
static uint64_t wake_locked(struct topology *topology, uint64_t now,
                            bool hedging)
{
    uint64_t wake = UINT64_MAX, when;

    topology_mark_locked(topology);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        const struct topology_instance *at = &topology->at[i];
        uint64_t retry = fleet_retry(topology, i);
        if (at->asking > 0) {
            when = at->asked_at + TOPOLOGY_HEDGE_MS * NS_PER_MS;
            wake = hedging && when > now ? earlier(wake, when) : wake;
        } else if (topology_wanted_locked(topology, i)) {
            when = at->retry_at > retry ? at->retry_at : retry;
            wake = earlier(wake, when > now ? when : now);
        }
    }
    return wake;
}

uint64_t topology_wake(struct fleet *fleet, uint64_t now)
{
    struct topology *topology = fleet->topology;
    uint64_t wake, when;

    mutex_lock(&topology->lock);
    wake = wake_locked(topology, now, true);
    if (topology_resolver_waits_locked(topology, &when)) {
        wake = earlier(wake, when > now ? when : now);
    }
    mutex_unlock(&topology->lock);
    /* what can be asked now was not asked because others are on their way */
    return wake <= now ? now + TOPOLOGY_HEDGE_MS * NS_PER_MS : wake;
}

static int next_of_all_locked(struct topology *topology, uint64_t now)
{
    int i = -1;

    if (count_asked_locked(topology, now, KEEPER_OVERDUE_MS) < ASKED_AT_ONCE) {
        i = next_unasked_locked(topology, now);
    }
    if (i < 0) {
        uint64_t wake = wake_locked(topology, now, false);
        atomic_store(&topology->quiet_until,
                     wake > now ? wake : now + NS_PER_MS);
    }
    return i;
}

int topology_next(struct fleet *fleet, const struct route_key *key,
                  uint64_t now)
{
    struct topology *topology = fleet->topology;
    int i;

    if (!key && atomic_load_explicit(&topology->quiet_until,
                                     memory_order_relaxed) > now) {
        return -1;
    }
    mutex_lock(&topology->lock);
    i = key ? next_for_key_locked(topology, key, now)
            : next_of_all_locked(topology, now);
    mutex_unlock(&topology->lock);
    return i;
}
