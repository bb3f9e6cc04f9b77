/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SHOW AFFINITY STATS: what has been counted since the start, one row per
 * login and instance; one per login without an instance, for what concerns
 * none; and a last one, without either, for the fleet: their sum, or the
 * longest.  Logins are numbered as in SHOW AFFINITY POOLS.  A session is
 * counted as a new one each time it is handed a link (rules §14).
 *
 *   instance, login, user
 *   opened, failed           links that were, or could not be
 *   closed_worn              by PoolMaxLifetime or PoolMaxReuse;
 *         _idle              by PoolIdleTimeout;
 *         _unclean           nothing could make them clean;
 *         _dead              they did not answer, or the inner driver said so;
 *         _retired           their instance went down or is drained, their
 *                            login or instance is another by now, REFRESH;
 *         _room              by PoolMax, PoolMaxTotal, the map file's poolmax
 *   borrowed, returned       links, by sessions; used_ms: for so long, up to
 *                            their return
 *   owner_hits, owner_misses sessions whose key's owner was known: placed
 *                            there, or elsewhere
 *   waits, wait_ms           sessions that had to wait, and got their link
 *   longest_wait_ms          of those, and of the next
 *   timed_out, timed_out_ms  sessions that waited in vain
 *   refused                  sessions that were, at once or while they waited
 *   validated, invalid       links that answered before use, or did not
 *   resets                   links that were made clean
 *   abandoned                sessions that held a link longer than SessionLimit
 *   peak                     links at once, at most
 *   peak_in_use              sessions at once on the instance, of all logins
 */
#include "autoconf.h"

#include "command_facts.h"
#include "command_show.h"

#include <stdlib.h>

#include "pool_stat.h"

const char *const command_show_stats_columns[] = {
    "instance", "login", "user",
#define POOL_STAT(name, of, kind, column, family, reason, help) column,
#include "pool_stat.def"
    NULL
};

/* NULL for what does not concern such a row. */
static void add_stats(struct command_answer *answer, const uint64_t *stats,
                      enum pool_stat_of of)
{
    for (int k = 0; k < POOL_STATS; k++) {
        const struct pool_stat_row *row = &pool_stat_rows[k];
        bool is_time = row->kind == POOL_KIND_TIME ||
                       row->kind == POOL_KIND_LONGEST;

        /* there is no sum of what were most at once */
        if (!(row->of & of) ||
            (row->kind == POOL_KIND_MOST && of == POOL_OF_BOTH)) {
            command_answer_add(answer, NULL);
        } else {
            command_answer_number(answer, is_time ? stats[k] / NS_PER_MS
                                                  : stats[k]);
        }
    }
}

static void add_login(struct command_answer *answer, struct login *login,
                      uint32_t number, uint64_t *sum)
{
    struct login_view *view = login_view(login);
    uint32_t count = login->fleet->count;

    answer->failed |= !view;
    for (uint32_t i = 0; view && i <= count; i++) {
        const uint64_t *stats = i < count ? view->pools[i].stats : view->stats;

        command_answer_add(answer, command_facts_name(login->fleet, i));
        command_answer_number(answer, number);
        command_answer_add(answer, command_facts_or_null(login->user));
        add_stats(answer, stats, i < count ? POOL_OF_POOL : POOL_OF_LOGIN);
        pool_stat_sum(sum, stats);
    }
    free(view);
}

void command_show_stats(const struct command_view *view,
                        struct command_answer *answer)
{
    uint64_t sum[POOL_STATS] = { 0 };
    uint32_t count;
    struct login **logins = login_all(view->fleet, &count);

    answer->failed |= !logins;
    for (uint32_t k = 0; k < count; k++) {
        add_login(answer, logins[k], k + 1, sum);
        login_release(logins[k]);
    }
    free(logins);
    for (int k = 0; k < 3; k++) {
        command_answer_add(answer, NULL);
    }
    add_stats(answer, sum, POOL_OF_BOTH);
}
