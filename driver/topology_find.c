/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Who owns a key, by what is known now (rules §1.2, §1.3): the map's word, or
 * a server's, or the hash's; and where that is nobody, whether it is final or
 * somebody can still tell.
 */
#include "autoconf.h"

#include "inner_sql.h"
#include "topology_inside.h"

/* One that hangs would hold up whoever can go elsewhere (promise 4), and so
   would one for whose question there is no room. */
static bool answers_soon_locked(const struct topology *topology, uint32_t i,
                                uint64_t now)
{
    const struct topology_instance *at = &topology->at[i];
    const struct route_member *m = &topology->fleet->members[i];

    mutex_assert_held(&topology->lock);
    return at->asking &&
           at->asked_at + TOPOLOGY_LATE_MS * NS_PER_MS > now &&
           atomic_load_explicit(&m->health, memory_order_relaxed) <
               ROUTE_SUSPECT &&
           !atomic_load_explicit(&m->slow, memory_order_relaxed);
}

/* Is somebody being asked, or can be?  Notes what is to be expected. */
static bool pending_locked(struct topology *topology, uint64_t now,
                           struct topology_answer *answer)
{
    mutex_assert_held(&topology->lock);
    answer->pending = answer->soon = topology->building;
    topology_mark_locked(topology);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        if (topology_wanted_locked(topology, i) &&
            (topology->at[i].asking > 0 ||
             topology_askable_locked(topology, i, now))) {
            answer->pending = true;
            answer->soon |= answers_soon_locked(topology, i, now);
        }
    }
    return answer->pending;
}

/* Did the instance say that what it is asked is wrong? */
static bool is_wrong(const struct topology *topology, uint32_t i)
{
    const struct topology_instance *at = &topology->at[i];
    const struct inner_sql *sql =
        topology->fleet->instances[i].inner->kind->sql;

    return at->state == TOPOLOGY_FAILED &&
           sql->says_wrong(at->error.state, at->error.native);
}

/* Have all who might still answer said so?  Then the owner is not "not learnt
   yet": strict would open anywhere for ever on a mistyped query. */
static bool wrong_everywhere_locked(const struct topology *topology)
{
    bool any = false;

    mutex_assert_held(&topology->lock);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        if (topology_wanted_locked(topology, i)) {
            if (!is_wrong(topology, i)) {
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

    mutex_assert_held(&topology->lock);
    if (!topology_complete_locked(topology)) {
        answer->state = ROUTE_IS_UNKNOWN;
        answer->count = 0;
        pending_locked(topology, now, answer);
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

    mutex_assert_held(&topology->lock);
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
                            struct topology_answer *answer)
{
    bool led = true;

    mutex_assert_held(&topology->lock);
    for (uint32_t k = 0; topology->strangers && k < answer->count; k++) {
        led &= topology->at[answer->owners[k]].led;
    }
    return !led && topology->kind <= TOPOLOGY_QUERY &&
           pending_locked(topology, now, answer);
}

/* Is it by pointers alone that this is known, at a group which is known to have
   changed (rules §1.1)?  As long as it can be asked. */
static bool doubted_locked(struct topology *topology,
                           const struct topology_answer *answer)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t k = 0; k < answer->count; k++) {
        uint32_t group = answer->owners[k];

        if (topology->at[group].doubted) {
            topology_mark_locked(topology);
            return topology->mark[group] & TOPOLOGY_MARK_ALIVE;
        }
    }
    return false;
}

/* Rows of AffinityQuery give no type: keys are whole numbers as long as every
   value is one, and somebody has not answered yet. */
static bool type_is_open_locked(struct topology *topology)
{
    mutex_assert_held(&topology->lock);
    return topology->kind == TOPOLOGY_QUERY &&
           !topology_complete_locked(topology);
}

bool topology_find_locked(struct topology *topology,
                          const struct route_key *key, uint64_t now,
                          struct topology_answer *answer)
{
    enum route_map_result result = ROUTE_MAP_EMPTY;

    mutex_assert_held(&topology->lock);
    answer->state = ROUTE_IS_UNKNOWN;
    answer->count = 0;
    answer->pending = answer->soon = answer->bad_key = false;
    answer->why.code = WHY_NONE;
    answer->why.text[0] = '\0';
    if (topology->kind == TOPOLOGY_HASH) {
        topology_hash_find_locked(topology, key, answer);
        if (answer->state == ROUTE_IS_UNKNOWN) {
            pending_locked(topology, now, answer);
            topology_say_unknown_locked(topology, &answer->why);
        }
        return false;
    }
    if (topology->map) {
        topology_map_find(topology, topology->map, key, answer, &result);
    }
    if (answer->bad_key && type_is_open_locked(topology)) {
        answer->bad_key = false;
        answer->state = ROUTE_IS_UNKNOWN;
    }
    if (result == ROUTE_MAP_ASK_SERVER &&
        !topology_resolver_find_locked(topology, key, now, answer)) {
        return true;
    }
    if (answer->state == ROUTE_IS_OWNED && doubted_locked(topology, answer)) {
        answer->state = ROUTE_IS_UNKNOWN;
        answer->count = 0;
        pending_locked(topology, now, answer);
        why_set(&answer->why, WHY_GENERAL, "its owner holds other partitions "
                "than before and has not said which yet");
    } else if (answer->state == ROUTE_IS_OWNED &&
               headless_locked(topology, now, answer)) {
        answer->state = ROUTE_IS_UNKNOWN;
        answer->count = 0;
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
    topology_find_locked(topology, key, clock_ns(), answer);
    mutex_unlock(&topology->lock);
}
