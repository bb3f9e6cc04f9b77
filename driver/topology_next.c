/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whom to ask next for what is not known (rules §1.2, §1.3, §1.5), and when:
 * little for a key, everything for none.
 */
#include "autoconf.h"

#include "topology_inside.h"

/* Instances that are asked at once when all are; a few threads are left to
   those who want links. */
enum { ASKED_AT_ONCE = 48 };

static enum route_health health_of(const struct topology *topology, uint32_t i)
{
    return atomic_load_explicit(&topology->fleet->members[i].health,
                                memory_order_relaxed);
}

static uint64_t retry_of(const struct topology *topology, uint32_t i)
{
    return health_of(topology, i) >= ROUTE_SUSPECT
               ? atomic_load_explicit(&topology->fleet->members[i].retry_at,
                                      memory_order_relaxed)
               : 0;
}

bool topology_askable_locked(const struct topology *topology, uint32_t i,
                             uint64_t now)
{
    mutex_assert_held(&topology->lock);
    return !topology->fleet->members[i].disabled &&
           topology->at[i].retry_at <= now && retry_of(topology, i) <= now;
}

bool topology_wanted_locked(const struct topology *topology, uint32_t i)
{
    const struct topology_instance *at = &topology->at[i];

    mutex_assert_held(&topology->lock);
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

/* ---- asking next ------------------------------------------------------- */

/* Who would ask, and when. */
struct asker {
    topology_may *may; /* NULL: everybody can be asked */
    const struct login *login;
    uint64_t now;
};

static bool can_ask_locked(const struct topology *topology, uint32_t i,
                           const struct asker *by)
{
    mutex_assert_held(&topology->lock);
    return topology_askable_locked(topology, i, by->now) &&
           (!by->may || by->may(by->login, i));
}

static int ask_locked(struct topology *topology, uint32_t i, uint64_t now)
{
    mutex_assert_held(&topology->lock);
    topology->at[i].asking++;
    topology->at[i].asked_at = now;
    return (int)i;
}

/* Lately asked and not back: worth waiting for. */
static uint32_t count_asked_locked(const struct topology *topology,
                                   uint64_t now, uint64_t ms)
{
    uint32_t count = 0;

    mutex_assert_held(&topology->lock);
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

/* How likely is it to answer at once, and with what counts?  The less the
   better: one that is known to answer, one that is not known, others. */
enum { MOST_PROMISING, LEAST_PROMISING = 2 };
static int promises(const struct topology *topology, uint32_t i)
{
    enum route_health health = health_of(topology, i);

    return topology->at[i].role == ROUTE_STANDBY ? LEAST_PROMISING
           : health == ROUTE_UP                  ? MOST_PROMISING
           : health == ROUTE_UNTRIED             ? MOST_PROMISING + 1
                                                 : LEAST_PROMISING;
}

/* Of those that fit and can be asked, the first in turn of the most
   promising. */
static int next_fitting_locked(struct topology *topology,
                               const struct asker *by,
                               bool (*fits)(const struct topology *topology,
                                            uint32_t i))
{
    int best = -1;

    mutex_assert_held(&topology->lock);
    for (uint32_t n = 0; n < topology->fleet->count; n++) {
        uint32_t i = in_turn(topology, n);
        if (!fits(topology, i) || topology->at[i].asking > 0 ||
            !can_ask_locked(topology, i, by)) {
            continue;
        }
        if (promises(topology, i) == MOST_PROMISING) {
            return ask_locked(topology, i, by->now);
        }
        if (best < 0 ||
            promises(topology, i) < promises(topology, (uint32_t)best)) {
            best = (int)i;
        }
    }
    return best < 0 ? -1 : ask_locked(topology, (uint32_t)best, by->now);
}

static int next_unasked_locked(struct topology *topology,
                               const struct asker *by)
{
    mutex_assert_held(&topology->lock);
    topology_mark_locked(topology);
    return next_fitting_locked(topology, by, topology_wanted_locked);
}

/* Can it judge a key? */
static bool has_table(const struct topology *topology, uint32_t i)
{
    const struct topology_reply *reply = topology->at[i].reply;

    return reply && reply->tree->count > 0;
}

/* A move may have ended: ask those again who claim the key. */
static int next_claimant_locked(struct topology *topology,
                                const struct topology_answer *answer,
                                const struct asker *by)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t n = 0; n < topology->fleet->count; n++) {
        uint32_t i = in_turn(topology, n);
        struct topology_instance *at = &topology->at[i];
        if (at->state == TOPOLOGY_ANSWERED && at->reply && !at->asking &&
            at->heard_at + TOPOLOGY_MOVING_MS * NS_PER_MS <= by->now &&
            (answer->count == 0 || topology_names(answer, at->group)) &&
            can_ask_locked(topology, i, by)) {
            at->again = true;
            return ask_locked(topology, i, by->now);
        }
    }
    return -1;
}

/* One whose answer may not hold any more. */
static int next_doubtful_locked(struct topology *topology,
                                const struct asker *by)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        if (!topology->at[i].asking &&
            topology_recheck_locked(topology, i, by->now) &&
            can_ask_locked(topology, i, by)) {
            topology->at[i].again = true;
            return ask_locked(topology, i, by->now);
        }
    }
    return -1;
}

static int next_for_key_locked(struct topology *topology,
                               const struct route_key *key,
                               const struct asker *by)
{
    struct topology_answer answer;
    uint64_t now = by->now;
    bool judged = !topology_find_locked(topology, key, now, &answer);

    mutex_assert_held(&topology->lock);
    if (answer.state != ROUTE_IS_UNKNOWN && answer.state != ROUTE_IS_MOVING) {
        return -1;
    }
    if (topology->kind == TOPOLOGY_HASH) {
        return next_unasked_locked(topology, by); /* it takes them all */
    }
    if (!judged && !topology_resolver_want_locked(topology, key, now)) {
        return -1;
    }
    if (count_asked_locked(topology, now, TOPOLOGY_HEDGE_MS) > 0) {
        return -1;
    }
    if (answer.state == ROUTE_IS_MOVING) {
        return next_claimant_locked(topology, &answer, by);
    }
    return judged ? next_unasked_locked(topology, by)
                  : next_fitting_locked(topology, by, has_table);
}

/* ---- when next --------------------------------------------------------- */

/* When one that is wanted may be asked again. */
static uint64_t wake_locked(struct topology *topology, uint64_t now,
                            bool hedging)
{
    uint64_t wake = UINT64_MAX, when;

    mutex_assert_held(&topology->lock);
    topology_mark_locked(topology);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        const struct topology_instance *at = &topology->at[i];
        uint64_t retry = retry_of(topology, i);
        if (at->asking > 0) {
            when = at->asked_at + TOPOLOGY_HEDGE_MS * NS_PER_MS;
            if (when <= now) { /* then it is given up by some */
                when = at->asked_at + TOPOLOGY_LATE_MS * NS_PER_MS;
            }
            wake = hedging && when > now ? clock_earlier(wake, when) : wake;
        } else if (topology_wanted_locked(topology, i)) {
            when = at->retry_at > retry ? at->retry_at : retry;
            wake = clock_earlier(wake, when > now ? when : now);
        } else if (topology_recheck_locked(topology, i, UINT64_MAX)) {
            when = at->check_at > retry ? at->check_at : retry;
            wake = clock_earlier(wake, when > now ? when : now);
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
        wake = clock_earlier(wake, when > now ? when : now);
    }
    mutex_unlock(&topology->lock);
    /* what can be asked now was not asked because others are on their way */
    return wake <= now ? now + TOPOLOGY_HEDGE_MS * NS_PER_MS : wake;
}

/* Nobody: who could be asked, but for want of room, is looked for again in a
   while; sessions need not do so each time. */
static int next_of_all_locked(struct topology *topology,
                              const struct asker *by)
{
    uint64_t now = by->now;
    int i = -1;

    mutex_assert_held(&topology->lock);
    if (count_asked_locked(topology, now, KEEPER_OVERDUE_MS) < ASKED_AT_ONCE) {
        i = next_unasked_locked(topology, by);
        i = i < 0 ? next_doubtful_locked(topology, by) : i;
    }
    if (i < 0) {
        uint64_t wake = wake_locked(topology, now, false);
        atomic_store(&topology->quiet_until,
                     wake > now ? wake : now + TOPOLOGY_HEDGE_MS * NS_PER_MS);
    }
    return i;
}

bool topology_is_quiet(const struct fleet *fleet, uint64_t now)
{
    return atomic_load_explicit(&fleet->topology->quiet_until,
                                memory_order_relaxed) > now;
}

int topology_next(struct fleet *fleet, const struct route_key *key,
                  topology_may *may, const struct login *login, uint64_t now)
{
    struct topology *topology = fleet->topology;
    struct asker by = { .may = may, .login = login, .now = now };
    int i;

    if (!key && topology_is_quiet(fleet, now)) {
        return -1;
    }
    mutex_lock(&topology->lock);
    i = key ? next_for_key_locked(topology, key, &by)
            : next_of_all_locked(topology, &by);
    mutex_unlock(&topology->lock);
    return i;
}
