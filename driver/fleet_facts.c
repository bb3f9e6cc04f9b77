/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fleet_facts.h"

#include <string.h>

#include "event.h"
#include "fleet.h"
#include "link_probe.h"

/* ---- marks --------------------------------------------------------------- */

/* Makes room for one more: drops the one whose neighbours are the closest
   together for their age, so that the oldest reach far back and the error of a
   lag grows with the lag. */
static void thin(struct fleet_facts *facts, uint64_t now)
{
    uint32_t drop = 1;
    double least = 0;

    for (uint32_t k = 1; k + 1 < facts->mark_count; k++) {
        const struct fleet_mark *m = &facts->marks[k];
        double gap = (double)(m[1].at - m[-1].at);

        gap /= (double)(now - m[-1].at + 1);
        if (k == 1 || gap < least) {
            least = gap;
            drop = k;
        }
    }
    facts->mark_count--;
    memmove(&facts->marks[drop], &facts->marks[drop + 1],
            (facts->mark_count - drop) * sizeof facts->marks[0]);
}

/* The answer to a probe that was given up may come behind a later one's. */
static void add_mark(struct fleet_facts *facts, struct fleet_mark mark)
{
    if (facts->mark_count &&
        mark.at <= facts->marks[facts->mark_count - 1].at) {
        return;
    }
    if (facts->mark_count == FLEET_MARKS) {
        thin(facts, mark.at);
    }
    facts->marks[facts->mark_count++] = mark;
}

/* The latest moment until which this standby holds everything. */
static uint64_t fresh_at_locked(const struct fleet *fleet, uint32_t i)
{
    const struct instance *standby = &fleet->instances[i];
    uint64_t fresh = 0;

    mutex_assert_held(&fleet->lock);
    for (uint32_t k = 0; k < fleet->count; k++) {
        const struct instance *other = &fleet->instances[k];
        const struct fleet_facts *facts = &other->facts;

        if (k == i || !*other->who.identity ||
            strcmp(other->who.identity, standby->who.identity) != 0) {
            continue;
        }
        for (uint32_t n = facts->mark_count; n-- > 0;) {
            const struct fleet_mark *m = &facts->marks[n];
            if (m->timeline == standby->who.timeline &&
                m->position <= standby->facts.position) {
                fresh = m->at > fresh ? m->at : fresh;
                break; /* the others are older */
            }
        }
    }
    return fresh;
}

static void place_in_log_locked(struct fleet *fleet, uint32_t i,
                                uint64_t asked)
{
    struct instance *instance = &fleet->instances[i];
    struct fleet_facts *facts = &instance->facts;
    uint64_t fresh;

    mutex_assert_held(&fleet->lock);
    if (!facts->position || !instance->who.timeline) {
        return;
    }
    if (instance->who.role == LINK_ROLE_PRIMARY) {
        add_mark(facts, (struct fleet_mark){ asked, facts->position,
                                             instance->who.timeline });
        facts->fresh_at = asked;
    } else {
        fresh = fresh_at_locked(fleet, i);
        if (facts->fresh_on != instance->who.timeline) {
            facts->fresh_at = 0;
        }
        /* what it once held it holds, though the mark that told is dropped */
        facts->fresh_at = fresh > facts->fresh_at ? fresh : facts->fresh_at;
    }
    facts->fresh_on = instance->who.timeline;
}

/* ---- load ---------------------------------------------------------------- */

/* A server that was started anew counts from 0, and not every login is told. */
static uint64_t growth(uint64_t from, uint64_t to)
{
    return from && to > from ? to - from : 0;
}

static void take_load(struct fleet_facts *facts, const struct link_probe *probe,
                      uint64_t now)
{
    uint64_t ms = facts->at ? (now - facts->at) / NS_PER_MS : 0;

    if (ms && facts->started == probe->started) {
        facts->active = (uint32_t)(growth(facts->active_ms, probe->active_ms) *
                                   1000 / ms);
        facts->commits_per_s =
            (uint32_t)(growth(facts->commits, probe->commits) * 1000 / ms);
    }
    facts->backends = probe->backends;
    facts->backends_max = probe->backends_max;
    facts->active_ms = probe->active_ms;
    facts->commits = probe->commits;
}

/* Links of the time before are dead, though nobody has noticed. */
static void notice_restart(struct fleet *fleet, uint32_t i,
                           const struct link_probe *probe)
{
    struct instance *instance = &fleet->instances[i];
    struct fleet_facts *facts = &instance->facts;

    if (!probe->started) {
        return;
    }
    if (facts->started && facts->started != probe->started) {
        event_say(fleet->events, LOG_IS_WARNING, instance->name,
                  "was started anew");
        atomic_store(&instance->suspect_at, clock_ns());
    }
    facts->started = probe->started;
}

void fleet_probed(struct fleet *fleet, uint32_t i,
                  const struct link_probe *probe, uint64_t asked)
{
    struct fleet_facts *facts = &fleet->instances[i].facts;
    uint64_t now = clock_ns();
    bool alike;

    mutex_lock(&fleet->lock);
    /* an extra column that takes long is not in every probe (rules §5.10) */
    alike = !probe->extra_told || facts->extra;
    facts->extra = probe->extra_told;
    take_load(facts, probe, now);
    notice_restart(fleet, i, probe);
    facts->at = now;
    facts->position = probe->position;
    place_in_log_locked(fleet, i, asked);
    mutex_unlock(&fleet->lock);
    if (alike) {
        fleet_timed(fleet, i, ROUTE_CALL_ASK, probe->latency);
    }
    if (probe->backends_max) {
        fleet_loaded(fleet, i, probe->backends * 1000 / probe->backends_max);
    }
}
