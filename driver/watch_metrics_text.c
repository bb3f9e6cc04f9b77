/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The metrics of fleets.  A family's samples stand together whatever fleet they
 * are of, so all that is known is gathered first, and then gone through once
 * for each family.
 *
 * Labels: dsn, the data source of the session that made the fleet; fleet, its
 * number in this process, which tells those of one data source apart; instance;
 * login, numbered as in SHOW AFFINITY POOLS; user, its UID.
 */
#include "autoconf.h"

#include "watch_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "balance_fact.h"
#include "metrics.h"
#include "place.h"
#include "pool.h"
#include "watch.h"

/* ---- what is gathered ---------------------------------------------------- */

struct seen_login {
    struct login *login;
    struct login_view *view; /* NULL: out of memory */
    uint32_t waiting;
    char number[12];
};

struct seen_fleet {
    struct fleet *fleet;
    char number[12];
    struct seen_login *logins;
    uint32_t count;
};

struct seen {
    struct seen_fleet *fleets;
    uint32_t count;
    uint64_t now;
    struct text *out;
};

static void look_at_login(struct seen_login *seen, struct login *login,
                          uint32_t number)
{
    seen->login = login;
    seen->view = login_view(login);
    seen->waiting = place_waiting(login);
    snprintf(seen->number, sizeof seen->number, "%u", number);
}

static void look_at_fleet(struct seen_fleet *seen, struct fleet *fleet)
{
    struct login **logins = login_all(fleet, &seen->count);

    seen->fleet = fleet;
    snprintf(seen->number, sizeof seen->number, "%u", fleet->number);
    seen->logins = calloc(seen->count + 1, sizeof *seen->logins);
    for (uint32_t k = 0; k < seen->count; k++) {
        if (seen->logins) {
            look_at_login(&seen->logins[k], logins[k], k + 1);
        } else {
            login_release(logins[k]);
        }
    }
    seen->count = seen->logins ? seen->count : 0;
    free(logins);
}

static void forget_fleet(struct seen_fleet *seen)
{
    for (uint32_t k = 0; k < seen->count; k++) {
        free(seen->logins[k].view);
        login_release(seen->logins[k].login);
    }
    free(seen->logins);
}

/* ---- samples ------------------------------------------------------------- */

/* A family while its samples are appended. */
struct family {
    struct text *out;
    const char *name;
    enum metrics_type type;
    unsigned decimals;
};

static struct family begin(const struct seen *seen, const char *name,
                           enum metrics_type type, unsigned decimals,
                           const char *help)
{
    metrics_family(seen->out, name, type, help);
    return (struct family){ seen->out, name, type, decimals };
}

/* instance -1 and login NULL: it has none; more: a label of its own. */
static void sample(const struct family *family, const struct seen_fleet *fleet,
                   const struct seen_login *login, int64_t instance,
                   struct metrics_label more, uint64_t number)
{
    const struct metrics_label labels[] = {
        { "dsn", fleet->fleet->dsn },
        { "fleet", fleet->number },
        { "instance",
          instance < 0 ? NULL : fleet->fleet->instances[instance].name },
        { "login", login ? login->number : NULL },
        { "user", login ? login->login->user : NULL },
        more,
    };

    metrics_sample(family->out, family->name, family->type, labels,
                   sizeof labels / sizeof *labels, number, family->decimals);
}

static const struct metrics_label nothing = { NULL, NULL };

/* ---- fleets -------------------------------------------------------------- */

static void say_process(const struct seen *seen)
{
    struct family family = begin(seen, "build_info", METRICS_GAUGE, 0,
                                 "The driver and its process");
    struct timespec now;
    char pid[12];
    const struct metrics_label labels[] = {
        { "version", PACKAGE_VERSION },
        { "pid", pid },
    };

    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    metrics_sample(seen->out, family.name, family.type, labels, 2, 1, 0);
    family = begin(seen, "written_timestamp_seconds", METRICS_GAUGE, 3,
                   "When this was written, in Unix time");
    clock_gettime(CLOCK_REALTIME, &now);
    metrics_sample(seen->out, family.name, family.type, NULL, 0,
                   (uint64_t)now.tv_sec * 1000 +
                       (uint64_t)now.tv_nsec / 1000000, 3);
}

static void say_fleets(const struct seen *seen)
{
    struct family family = begin(seen, "in_use", METRICS_GAUGE, 0,
                                 "Whether the data source is in use: only then "
                                 "is all this kept up to date");

    for (uint32_t f = 0; f < seen->count; f++) {
        sample(&family, &seen->fleets[f], NULL, -1, nothing,
               watch_is_used(seen->fleets[f].fleet, seen->now));
    }
    family = begin(seen, "topology_complete", METRICS_GAUGE, 0,
                   "Whether every group has said which keys it owns");
    for (uint32_t f = 0; f < seen->count; f++) {
        sample(&family, &seen->fleets[f], NULL, -1, nothing,
               topology_complete(seen->fleets[f].fleet));
    }
}

/* ---- instances ----------------------------------------------------------- */

struct instance_facts {
    const struct route_member *m;
    struct fleet_instance_view view;
    uint64_t now;
};

/* False: it is not known. */
typedef bool instance_fact(const struct instance_facts *facts,
                           uint64_t *number);

static bool is_up(const struct instance_facts *facts, uint64_t *number)
{
    *number = facts->view.health == ROUTE_UP &&
              !atomic_load(&facts->m->drained) &&
              !atomic_load(&facts->m->disabled);
    return facts->view.health != ROUTE_UNTRIED;
}

static bool is_drained(const struct instance_facts *facts, uint64_t *number)
{
    *number = atomic_load(&facts->m->drained) ||
              atomic_load(&facts->m->disabled);
    return true;
}

static bool is_primary(const struct instance_facts *facts, uint64_t *number)
{
    *number = facts->view.role == ROUTE_PRIMARY;
    return facts->view.role != ROUTE_ROLE_UNKNOWN;
}

static bool is_violating(const struct instance_facts *facts, uint64_t *number)
{
    *number = balance_violates(facts->m, facts->now);
    return true;
}

static bool weight_of(const struct instance_facts *facts, uint64_t *number)
{
    *number = atomic_load(&facts->m->weight);
    return true;
}

static bool latency_of(const struct instance_facts *facts, uint64_t *number)
{
    *number = balance_known_latency(facts->m, facts->now);
    return *number > 0;
}

static bool lag_of(const struct instance_facts *facts, uint64_t *number)
{
    uint64_t fresh = facts->view.fresh_at;

    *number = fresh < facts->now ? facts->now - fresh : 0;
    return fresh && facts->view.who.role == LINK_ROLE_STANDBY;
}

static bool sessions_of(const struct instance_facts *facts, uint64_t *number)
{
    *number = atomic_load(&facts->m->in_flight);
    return true;
}

static bool peak_of(const struct instance_facts *facts, uint64_t *number)
{
    *number = atomic_load(&facts->m->most_in_flight);
    return true;
}

static bool backends_of(const struct instance_facts *facts, uint64_t *number)
{
    *number = facts->view.backends;
    return *number > 0;
}

static bool most_backends_of(const struct instance_facts *facts,
                             uint64_t *number)
{
    *number = facts->view.backends_max;
    return *number > 0;
}

static bool probe_age_of(const struct instance_facts *facts, uint64_t *number)
{
    uint64_t at = facts->view.probed_at;

    *number = at < facts->now ? facts->now - at : 0;
    return at > 0;
}

static const struct {
    const char *name;
    instance_fact *fact;
    unsigned decimals;
    const char *help;
} instance_families[] = {
    { "instance_up", is_up, 0, "Whether it gets sessions" },
    { "instance_drained", is_drained, 0,
      "Whether it is drained, or disabled by the map file" },
    { "instance_primary", is_primary, 0, "Whether it is a primary" },
    { "instance_violating", is_violating, 0,
      "Whether it is over its limits, as balancing thinks" },
    { "instance_weight", weight_of, 0, "Its weight by the map file" },
    { "instance_latency_seconds", latency_of, 9, "What a question takes" },
    { "instance_lag_seconds", lag_of, 9,
      "For how long a standby may have lacked something" },
    { "instance_sessions", sessions_of, 0, "Sessions that are on it" },
    { "instance_sessions_peak", peak_of, 0, "At once, at most" },
    { "instance_backends", backends_of, 0,
      "Connections that it has, of all its users" },
    { "instance_backends_max", most_backends_of, 0,
      "Connections that it takes" },
    { "instance_probe_age_seconds", probe_age_of, 9,
      "Since it last answered a probe" },
};

static void say_instance(const struct family *family,
                         const struct seen_fleet *seen, uint32_t i,
                         uint64_t now, instance_fact *fact)
{
    struct instance_facts facts = {
        .m = &seen->fleet->members[i],
        .now = now,
    };
    uint64_t number;

    fleet_view(seen->fleet, i, &facts.view);
    if (fact(&facts, &number)) {
        sample(family, seen, NULL, i, nothing, number);
    }
}

static void say_instances(const struct seen *seen)
{
    size_t count = sizeof instance_families / sizeof *instance_families;

    for (size_t k = 0; k < count; k++) {
        struct family family = begin(seen, instance_families[k].name,
                                     METRICS_GAUGE,
                                     instance_families[k].decimals,
                                     instance_families[k].help);

        for (uint32_t f = 0; f < seen->count; f++) {
            const struct seen_fleet *fleet = &seen->fleets[f];

            for (uint32_t i = 0; i < fleet->fleet->count; i++) {
                say_instance(&family, fleet, i, seen->now,
                             instance_families[k].fact);
            }
        }
    }
}

/* ---- pools --------------------------------------------------------------- */

typedef void login_samples(const struct family *family,
                           const struct seen_fleet *fleet,
                           const struct seen_login *login, int which);

static void each_login(const struct seen *seen, const struct family *family,
                       login_samples *samples, int which)
{
    for (uint32_t f = 0; f < seen->count; f++) {
        const struct seen_fleet *fleet = &seen->fleets[f];

        for (uint32_t k = 0; k < fleet->count; k++) {
            if (fleet->logins[k].view) {
                samples(family, fleet, &fleet->logins[k], which);
            } else {
                seen->out->failed = true;
            }
        }
    }
}

static void say_waiting(const struct family *family,
                        const struct seen_fleet *fleet,
                        const struct seen_login *login, int which)
{
    (void)which;
    sample(family, fleet, login, -1, nothing, login->waiting);
}

enum { SAY_ROOM, SAY_LEFT };

static void say_pool(const struct family *family,
                     const struct seen_fleet *fleet,
                     const struct seen_login *login, int which)
{
    for (uint32_t i = 0; i < fleet->fleet->count; i++) {
        const struct pool_view *pool = &login->view->pools[i];

        sample(family, fleet, login, i, nothing,
               which == SAY_ROOM ? pool->room : pool->left);
    }
}

static void say_links(const struct family *family,
                      const struct seen_fleet *fleet,
                      const struct seen_login *login, int which)
{
    static const char *const states[LINK_STATES] = {
        [LINK_OPENING] = "opening",   [LINK_IDLE] = "idle",
        [LINK_HELD] = "held",         [LINK_LEARNING] = "learning",
        [LINK_PROBING] = "probing",   [LINK_RESET] = "reset",
        [LINK_CLOSING] = "closing",
    };

    (void)which;
    for (uint32_t i = 0; i < fleet->fleet->count; i++) {
        for (int state = 0; state < LINK_STATES; state++) {
            sample(family, fleet, login, i,
                   (struct metrics_label){ "state", states[state] },
                   login->view->pools[i].count[state]);
        }
    }
}

static void say_stat(const struct family *family,
                     const struct seen_fleet *fleet,
                     const struct seen_login *login, int which)
{
    const struct pool_stat_row *row = &pool_stat_rows[which];
    struct metrics_label reason = { "reason", row->reason };

    for (uint32_t i = 0; row->of & POOL_OF_POOL && i < fleet->fleet->count;
         i++) {
        sample(family, fleet, login, i, reason,
               login->view->pools[i].stats[which]);
    }
    if (row->of & POOL_OF_LOGIN) {
        sample(family, fleet, login, -1, reason, login->view->stats[which]);
    }
}

/* Rows of one family stand together, and the first has its help.  What was most
   on an instance is the instance's. */
static void say_stats(const struct seen *seen)
{
    struct family family = { .out = seen->out };

    for (int k = 0; k < POOL_STATS; k++) {
        const struct pool_stat_row *row = &pool_stat_rows[k];
        bool counts = row->kind == POOL_KIND_COUNT ||
                      row->kind == POOL_KIND_TIME;
        bool is_time = row->kind == POOL_KIND_TIME ||
                       row->kind == POOL_KIND_LONGEST;

        if (k == POOL_STAT_PEAK_IN_USE) {
            continue;
        }
        if (row->help) {
            family = begin(seen, row->family,
                           counts ? METRICS_COUNTER : METRICS_GAUGE,
                           is_time ? 9 : 0, row->help);
        }
        each_login(seen, &family, say_stat, k);
    }
}

static void say_pools(const struct seen *seen)
{
    struct family family = begin(seen, "waiting", METRICS_GAUGE, 0,
                                 "Sessions that wait for a connection");

    each_login(seen, &family, say_waiting, 0);
    family = begin(seen, "links", METRICS_GAUGE, 0,
                   "Connections to the instance, by state");
    each_login(seen, &family, say_links, 0);
    family = begin(seen, "links_room", METRICS_GAUGE, 0,
                   "Connections that may still be opened");
    each_login(seen, &family, say_pool, SAY_ROOM);
    family = begin(seen, "links_left", METRICS_GAUGE, 0,
                   "Connections with a call that hangs and cannot be ended");
    each_login(seen, &family, say_pool, SAY_LEFT);
    say_stats(seen);
}

void watch_metrics_text(struct fleet *const *fleets, uint32_t count,
                        uint64_t now, struct text *out)
{
    struct seen seen = { .count = count, .now = now, .out = out };

    seen.fleets = calloc(count + 1, sizeof *seen.fleets);
    if (!seen.fleets) {
        out->failed = true;
        return;
    }
    for (uint32_t f = 0; f < count; f++) {
        look_at_fleet(&seen.fleets[f], fleets[f]);
    }
    say_process(&seen);
    say_fleets(&seen);
    say_instances(&seen);
    say_pools(&seen);
    metrics_end(out);
    for (uint32_t f = 0; f < count; f++) {
        forget_fleet(&seen.fleets[f]);
    }
    free(seen.fleets);
}
