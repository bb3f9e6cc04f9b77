/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "judge.h"

#include "chronicle.h"
#include "metronome.h"
#include "storm.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Of the connection string what differs from session to session. */
static const char *mode_of(const struct ride *ride)
{
    return strstr(ride->t.string, "AffinityMode=");
}

/* ---- what excuses ------------------------------------------------------ */

/* Who may own the leaf at that time is in trouble, or the leaf moves. */
static bool owner_troubled(const struct ride *ride, double from, double to)
{
    bool troubled = chronicle_was(SPELL_MOVING, ride->leaf, from, to);

    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        troubled |= chronicle_reigned(REIGN_LEAF, ride->leaf, g,
                                      from - STORM_NOTICE, to) &&
                    chronicle_was(SPELL_TROUBLE, g, from, to);
    }
    return troubled;
}

static bool owner_closed(const struct ride *ride, double from, double to)
{
    bool closed = false;

    for (unsigned i = 0; i < STORM_INSTANCES; i++) {
        closed |= chronicle_reigned(REIGN_LEAF, ride->leaf, storm_group(i),
                                    from - STORM_NOTICE, to) &&
                  chronicle_was(SPELL_CLOSED, i, from, to);
    }
    return closed;
}

/* Any group, any leaf: a statement may go through foreign partitions. */
static bool any_trouble(double from, double to)
{
    bool troubled = false;

    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        troubled |= chronicle_was(SPELL_TROUBLE, g, from, to);
    }
    for (unsigned l = 0; l < STORM_LEAVES; l++) {
        troubled |= chronicle_was(SPELL_MOVING, l, from, to);
    }
    return troubled;
}

/* Of some group but this one. */
static bool others_troubled(unsigned group, double from, double to)
{
    bool troubled = false;

    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        troubled |= g != group && chronicle_was(SPELL_TROUBLE, g, from, to);
    }
    return troubled;
}

static bool any_move(double from, double to)
{
    bool moves = false;

    for (unsigned l = 0; l < STORM_LEAVES; l++) {
        moves |= chronicle_was(SPELL_MOVING, l, from, to);
    }
    return moves;
}

/* ---- connecting -------------------------------------------------------- */

static void judge_deadline(const struct ride *ride, double now)
{
    double limit = ride->t.login_timeout ? ride->t.login_timeout * 1000
                                         : STORM_WAIT + STORM_CONNECT;
    double granted = metronome_grants(ride->begin, now);

    rule_tried_if(RULE_DEADLINE, ride->t.ms > limit - STORM_SLACK);
    if (ride->t.ms > limit + STORM_SLACK + granted) {
        rule_broken(RULE_DEADLINE,
                    "'%s' took %.0f ms of %.0f, the machine "
                    "owes %.0f: on '%s': %.300s; %s",
                    mode_of(ride), ride->t.ms, limit, granted, ride->t.verdict,
                    ride->t.records, chronicle_say(ride->begin, now));
    }
}

static void judge_refusal(const struct ride *ride, double now)
{
    const char *records = ride->t.records;
    bool known = strncmp(records, "HYT00 29 ", 9) == 0 ||
                 strncmp(records, "08001 28 ", 9) == 0 ||
                 strncmp(records, "HYT01 0 ", 8) == 0;
    /* whoever is in a hurry may be too late for what is elsewhere; and where
       threads are woken that late, logging in and learning, which are work,
       take as long as they like */
    double granted = metronome_grants(ride->begin, now);
    bool works = strncmp(records, "HYT01 ", 6) == 0 ||
                 strstr(records, "the owner is not learnt yet");
    bool hurried =
        (ride->t.login_timeout && granted > 100) || (works && granted > 200);

    if (!ride->strict) {
        if (!hurried) {
            rule_broken(RULE_SERVED, "'%s' after %.0f ms: %.900s; %s",
                        mode_of(ride), ride->t.ms, records,
                        chronicle_say(ride->begin, now));
        }
    } else if (!known || !(owner_troubled(ride, ride->begin, now) ||
                           owner_closed(ride, ride->begin, now) || hurried)) {
        rule_broken(RULE_REFUSED, "'%s' after %.0f ms: %.900s; %s",
                    mode_of(ride), ride->t.ms, records,
                    chronicle_say(ride->begin, now));
    }
}

/* What a session could have met with. */
static void count_occasions(const struct ride *ride, double now)
{
    unsigned group = chronicle_ruler(REIGN_LEAF, ride->leaf);
    unsigned owner = chronicle_ruler(REIGN_PRIMARY, group);
    bool troubled = owner_troubled(ride, ride->begin, now);

    if (ride->keyed) {
        rule_tried_if(RULE_SERVED, troubled && !ride->strict);
        rule_tried_if(RULE_STRICT, troubled && ride->strict);
        rule_tried_if(RULE_REFUSED,
                      ride->strict && !troubled &&
                          others_troubled(group, ride->begin, now));
        rule_tried_if(
            RULE_CLOSED,
            chronicle_stayed(SPELL_DRAINED, owner, ride->begin, now) ||
                chronicle_stayed(SPELL_SHUT, owner, ride->begin - STORM_NOTICE,
                                 now));
        rule_tried_if(RULE_WRITE,
                      ride->writes && chronicle_stayed(SPELL_RIVAL, group,
                                                       ride->begin, now));
    }
}

bool judge_connect(struct ride *ride)
{
    double now = trouble_now();

    count_occasions(ride, now);
    judge_deadline(ride, now);
    if (!ride->t.dbc) {
        judge_refusal(ride, now);
        return false;
    }
    ride->at = storm_instance(ride->t.instance);
    if (chronicle_stayed(SPELL_DRAINED, ride->at, ride->begin, now) ||
        chronicle_stayed(SPELL_SHUT, ride->at, ride->begin - STORM_NOTICE,
                         now)) {
        rule_broken(RULE_CLOSED, "'%s' is on '%s'; %s", mode_of(ride),
                    ride->t.verdict, chronicle_say(ride->begin, now));
    }
    return true;
}

/* ---- where it is --------------------------------------------------------- */

void judge_question(const struct ride *ride, char *sql, size_t size)
{
    snprintf(sql, size,
             "SELECT current_setting('cluster_name') || ' ' || "
             "pg_is_in_recovery()::int || ' ' || relkind::text FROM pg_class "
             "WHERE oid = 'public.orders_n%u'::regclass",
             ride->leaf + 1);
}

static void judge_owner(const struct ride *ride, double now, const char *answer)
{
    double from = ride->begin - STORM_NOTICE;
    bool unlearnt = strstr(ride->t.verdict, "not learnt yet") != NULL;
    bool moves = chronicle_was(SPELL_MOVING, ride->leaf, from, now);

    if (ride->strict && ride->keyed && !unlearnt &&
        (!chronicle_reigned(REIGN_LEAF, ride->leaf, storm_group(ride->at), from,
                            now) ||
         (!ride->local && !moves))) {
        rule_broken(RULE_STRICT, "'%s' is on '%s' by '%s'; %s", mode_of(ride),
                    answer, ride->t.verdict, chronicle_say(ride->begin, now));
    }
}

/* Another one took its place before the fleet's last look. */
static bool is_superseded(const struct ride *ride, double from, double to)
{
    return !chronicle_reigned(REIGN_PRIMARY, storm_group(ride->at), ride->at,
                              from - STORM_NOTICE, to);
}

void judge_where(struct ride *ride, const char *answer)
{
    double now = trouble_now();
    char name[20], kind = '?';
    int standby = 0;

    if (!*answer && chronicle_was(SPELL_MOVING, ride->leaf, ride->begin, now)) {
        return; /* its leaf was replaced while the question was planned */
    }
    if (sscanf(answer, "%19s %d %c", name, &standby, &kind) != 3 ||
        storm_instance(name) != ride->at) {
        rule_broken(RULE_WHERE, "'%s' says '%s' and is on '%s'", mode_of(ride),
                    ride->t.instance, answer);
        return;
    }
    rule_tried(RULE_WHERE);
    ride->local = kind == 'r';
    if (ride->writes && (standby || is_superseded(ride, ride->begin, now))) {
        rule_broken(RULE_WRITE, "'%s' is on '%s' by '%s'; %s", mode_of(ride),
                    answer, ride->t.verdict, chronicle_say(ride->begin, now));
    }
    judge_owner(ride, now, answer);
}

/* ---- statements ---------------------------------------------------------- */

static bool is_dead(const struct ride *ride)
{
    SQLUINTEGER dead = SQL_CD_FALSE;
    SQLINTEGER length = 0;

    SQLGetConnectAttr(ride->t.dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, &length);
    return dead == SQL_CD_TRUE;
}

/* Its answer depends on no other instance: whatever asks for no rows, and
   where the leaf is a table, unless one moves. */
static bool is_answered_here(const struct ride *ride, const char *sql,
                             double begin, double now)
{
    return strncmp(sql, "SELECT pg_sleep", 15) == 0 ||
           strstr(sql, "pg_class") || (ride->local && !any_move(begin, now));
}

double judge_patience(double from, double to)
{
    double granted = metronome_grants(from, to);

    return (granted > STORM_SLACK ? 2 : 1) * STORM_HUNG + granted;
}

static void judge_hanging(const struct ride *ride, const char *sql,
                          double begin, double now)
{
    double limit = judge_patience(begin, now), ms = now - begin;

    if (!is_answered_here(ride, sql, begin, now)) {
        return;
    }
    rule_tried_if(RULE_HUNG,
                  ms > STORM_SLACK &&
                      chronicle_was(SPELL_HUNG, ride->at, begin, now));
    if (ms > limit &&
        chronicle_was(SPELL_TROUBLE, storm_group(ride->at), begin, now)) {
        rule_broken(RULE_HUNG, "'%s' on '%s', '%s' took %.0f ms of %.0f; %s",
                    mode_of(ride), ride->t.instance, sql, ms, limit,
                    chronicle_say(begin, now));
    }
}

static atomic_uint inside[STORM_INSTANCES];

double judge_begin(const struct ride *ride)
{
    atomic_fetch_add(&inside[ride->at], 1);
    return trouble_now();
}

unsigned judge_inside(unsigned instance)
{
    return atomic_load(&inside[instance]);
}

void judge_call(const struct ride *ride, const char *sql, bool wrote,
                double begin)
{
    double now = trouble_now();
    unsigned group = storm_group(ride->at);

    atomic_fetch_sub(&inside[ride->at], 1);
    judge_hanging(ride, sql, begin, now);
    rule_tried_if(RULE_ERROR, !any_trouble(ride->begin, now));
    rule_tried_if(RULE_CUT,
                  !chronicle_was(SPELL_TROUBLE, group, ride->begin, now) &&
                      others_troubled(group, ride->begin, now));
    if (wrote && is_superseded(ride, begin, now)) {
        rule_broken(RULE_WRITE, "'%s', '%s' was done on '%s'; %s",
                    mode_of(ride), sql, ride->t.instance,
                    chronicle_say(begin, now));
    }
}

/* The instance was away, or its link from before that. */
static void judge_death(struct ride *ride, const char *record, const char *sql,
                        double begin, double now)
{
    unsigned group = storm_group(ride->at);

    if (!chronicle_was(SPELL_TROUBLE, group, ride->begin - STORM_TRUST, now) &&
        !chronicle_was(SPELL_CULLED, ride->at, ride->begin, now)) {
        rule_broken(RULE_CUT,
                    "'%s' on '%.300s', '%s' after %.0f ms: %.500s; %s",
                    mode_of(ride), ride->t.verdict, sql, now - begin, record,
                    chronicle_say(ride->begin, now));
    }
}

enum outcome judge_failure(struct ride *ride, const char *record,
                           const char *sql, double begin)
{
    double now = trouble_now();
    bool done_nothing = strstr(record, "this call did nothing") ||
                        strstr(record, "rolled back with it");
    bool unknown = strstr(record, "not known") != NULL;

    ride->lost = done_nothing || unknown || is_dead(ride);
    if (ride->lost) {
        judge_death(ride, record, sql, begin, now);
        rule_tried(RULE_UNKNOWN);
        rule_tried_if(RULE_TWICE, strncmp(sql, "SELECT", 6) != 0);
        if (!done_nothing && !unknown) {
            rule_broken(RULE_UNKNOWN, "'%s' on '%s', '%s': %.500s",
                        mode_of(ride), ride->t.instance, sql, record);
        }
        return done_nothing ? ROW_REFUSED : ROW_UNKNOWN;
    }
    if (strncmp(record, "23505", 5) == 0) {
        rule_broken(RULE_TWICE, "'%s' on '%s', '%s': %.500s", mode_of(ride),
                    ride->t.instance, sql, record);
    } else if (!any_trouble(ride->begin, now)) {
        rule_broken(RULE_ERROR, "'%s' on '%s', '%s': %.500s; %s", mode_of(ride),
                    ride->t.instance, sql, record,
                    chronicle_say(ride->begin, now));
    }
    /* an instance that has the rows itself and answers has done nothing;
       through a foreign partition the row may have gone through */
    return ride->local && !any_move(ride->begin, now) ? ROW_REFUSED
                                                      : ROW_UNKNOWN;
}

/* ---- leaving ---------------------------------------------------------------
 */

void judge_return(const struct ride *ride, bool good, const char *record,
                  double begin)
{
    double now = trouble_now(), granted = metronome_grants(begin, now);

    rule_tried_if(
        RULE_RETURN,
        chronicle_was(SPELL_TROUBLE, storm_group(ride->at), begin, now));
    if (!good || now - begin > STORM_SLACK + granted) {
        rule_broken(RULE_RETURN,
                    "'%s' on '%s' took %.0f ms, the machine owes "
                    "%.0f: %.500s; %s",
                    mode_of(ride), ride->t.instance, now - begin, granted,
                    record, chronicle_say(begin, now));
    }
}
