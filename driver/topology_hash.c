/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Nobody says who owns what: keys are hashed over the groups by weight
 * (weighted rendezvous over the canonical text of the key).
 *
 * Targets are fixed by configuration (rules §1.6): the map file's groups, else
 * each listed instance; members of one system identifier become one target
 * once every instance has said who it is, and until then no key is known.
 * Who is up has no say in it.
 *
 * A target is named, and weighted, by the first-listed member of its group, so
 * that promotion moves no key.  A group whose members are all disabled is no
 * target.
 */
#include "autoconf.h"

#include "topology_inside.h"

void topology_hash_target_locked(struct topology *topology)
{
    uint32_t count = topology->fleet->count;

    mutex_assert_held(&topology->lock);
    for (uint32_t i = 0; i < count; i++) {
        topology->targets[i].excluded = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct balance_target *target =
            &topology->targets[topology->at[i].group];
        target->excluded =
            target->excluded && topology_limits(topology, i).disabled;
    }
}

bool topology_hash_ready_locked(const struct topology *topology)
{
    mutex_assert_held(&topology->lock);
    for (uint32_t i = 0; i < topology->fleet->count; i++) {
        struct topology_limits limits = topology_limits(topology, i);
        if (!topology->at[i].known && !limits.disabled && !*limits.group) {
            return false;
        }
    }
    return true;
}

void topology_hash_find_locked(struct topology *topology,
                               const struct route_key *key,
                               struct topology_answer *answer)
{
    int target = -1;

    mutex_assert_held(&topology->lock);
    if (!topology_hash_ready_locked(topology)) {
        answer->state = ROUTE_IS_UNKNOWN;
        return;
    }
    target = balance_rendezvous_choose(key->text, key->length,
                                     topology->targets,
                                     topology->fleet->count);
    if (target < 0) {
        answer->state = ROUTE_IS_UNOWNED;
        why_set(&answer->why, WHY_NO_OWNER,
                "AffinityMap disables every instance");
        return;
    }
    answer->state = ROUTE_IS_OWNED;
    answer->owners[0] = (uint32_t)target;
    answer->count = 1;
}
