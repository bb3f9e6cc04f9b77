/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Would an instance answer otherwise than it has (rules §1.4)?
 *
 *   TABLE   a fingerprint of the table's tree: the versions (xmin) of the
 *           catalogs' rows about it, which change with ATTACH, DETACH, a
 *           foreign partition or its server, and with nothing else.  It rides
 *           on the keeper's probe, which is one round trip anyway.  A standby
 *           has its primary's.
 *   QUERY   the query itself, asked again: topology_next.c does so when
 *           topology_recheck_locked() says that it is time.
 *
 * Either costs at most 1 % of one processor of the server's: whatever it took,
 * a hundred times as long passes before it is asked again (rules §5.10).
 */
#include "autoconf.h"

#include "event.h"
#include "topology_inside.h"

#include <string.h>

enum { RARELY = 100 };

void topology_append_fingerprint(struct text *sql, const char *table)
{
    text_append(sql,
                "(WITH RECURSIVE t(relid, parent, version) AS (SELECT ");
    topology_append_table(sql, table);
    text_append(sql,
                ", 0::pg_catalog.oid, ''::pg_catalog.text UNION ALL "
                "SELECT i.inhrelid, i.inhparent, i.xmin::pg_catalog.text "
                "FROM t JOIN pg_catalog.pg_class p ON p.oid = t.relid "
                "AND p.relkind = 'p' "
                "JOIN pg_catalog.pg_inherits i ON i.inhparent = t.relid) "
                "SELECT pg_catalog.md5(pg_catalog.string_agg("
                "pg_catalog.concat_ws('|', t.relid, t.parent, t.version, "
                "c.relkind, ft.xmin, s.oid, s.xmin), ',' ORDER BY t.relid)) "
                "FROM t LEFT JOIN pg_catalog.pg_class c ON c.oid = t.relid "
                "LEFT JOIN pg_catalog.pg_foreign_table ft "
                "ON ft.ftrelid = t.relid "
                "LEFT JOIN pg_catalog.pg_foreign_server s "
                "ON s.oid = ft.ftserver)");
}

/* When what took so long may be asked again. */
static uint64_t next_check(const struct topology *topology, uint64_t now,
                           uint64_t cost)
{
    uint64_t interval =
        topology->fleet->config.check_interval * NS_PER_MS;

    cost *= RARELY;
    return now + (cost > interval ? cost : interval);
}

void topology_checked_locked(struct topology *topology, uint32_t i,
                             uint64_t now, uint64_t cost)
{
    bool rides = topology->kind == TOPOLOGY_TABLE; /* on the next probe */

    mutex_assert_held(&topology->lock);
    topology->at[i].check_at = rides ? now : next_check(topology, now, cost);
}

bool topology_recheck_locked(const struct topology *topology, uint32_t i,
                             uint64_t now)
{
    mutex_assert_held(&topology->lock);
    return topology->kind == TOPOLOGY_QUERY &&
           topology->fleet->config.check_interval &&
           topology->at[i].state == TOPOLOGY_ANSWERED &&
           topology->at[i].check_at <= now;
}

bool topology_fingerprint_due(struct fleet *fleet, uint32_t i, uint64_t now,
                              struct text *expression)
{
    struct topology *topology = fleet->topology;
    const struct topology_instance *at = &topology->at[i];
    bool due;

    if (topology->kind != TOPOLOGY_TABLE) {
        return false;
    }
    mutex_lock(&topology->lock);
    due = at->state == TOPOLOGY_ANSWERED && at->reply && !at->asking &&
          at->check_at <= now;
    mutex_unlock(&topology->lock);
    if (due) {
        topology_append_fingerprint(expression, fleet->config.table);
    }
    return due;
}

bool topology_fingerprint_heard(struct fleet *fleet, uint32_t i,
                                const char *value, uint64_t now, uint64_t cost)
{
    struct topology *topology = fleet->topology;
    struct topology_instance *at = &topology->at[i];
    bool changed;

    mutex_lock(&topology->lock);
    at->check_at = now + cost * RARELY;
    changed = at->state == TOPOLOGY_ANSWERED && at->reply && !at->asking &&
              strcmp(at->reply->fingerprint, value ? value : "") != 0;
    if (changed) {
        topology_unlearn_group_locked(topology, at->group);
    }
    mutex_unlock(&topology->lock);
    if (changed) {
        event_say(fleet->events, LOG_IS_INFO, fleet->instances[i].name,
                  "table %.100s is not partitioned as it was: its group is "
                  "asked anew", fleet->config.table);
        topology_map_make(topology);
    }
    return changed;
}
