/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "judge.h"

#include "../odbc_tap.h"
#include "chronicle.h"
#include "metronome.h"
#include "storm.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- breaches ---------------------------------------------------------- */

enum { KEPT = 4 };
static struct {
    pthread_mutex_t lock;
    unsigned count[RULES];
    char text[RULES][KEPT][1600];
} breaches = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const names[RULES] = {
    [RULE_STRICT] = "strict: on an owner by the map of the time",
    [RULE_WRITE] = "who may write is on a primary, no superseded one",
    [RULE_SERVED] = "hint, prefer and no key: served all the time",
    [RULE_REFUSED] = "strict: refused only while its owner is in trouble",
    [RULE_CLOSED] = "nothing new on what is drained or disabled",
    [RULE_WHERE] = "each session is where it says",
    [RULE_CUT] = "sessions die only with their instance",
    [RULE_ERROR] = "statements fail only by trouble",
    [RULE_UNKNOWN] = "a write that dies: told what is known of it",
    [RULE_TWICE] = "no statement is run twice",
    [RULE_READ] = "what was acknowledged is read",
    [RULE_DEADLINE] = "connecting ends in time",
    [RULE_HUNG] = "calls that hang inside are ended in time",
    [RULE_RETURN] = "disconnecting waits for nobody",
};

void judge_breach(enum rule rule, const char *format, ...)
{
    va_list arguments;
    unsigned n;

    pthread_mutex_lock(&breaches.lock);
    n = breaches.count[rule]++;
    if (n < KEPT) {
        va_start(arguments, format);
        vsnprintf(breaches.text[rule][n], sizeof breaches.text[rule][n], format,
                  arguments);
        va_end(arguments);
        printf("# breach: %s: %s\n", names[rule], breaches.text[rule][n]);
        fflush(stdout);
    }
    pthread_mutex_unlock(&breaches.lock);
}

void judge_report(void)
{
    for (int r = 0; r < RULES; r++) {
        tap_ok(breaches.count[r] == 0, names[r], "%u breaches, as: %s",
               breaches.count[r], breaches.text[r][0]);
    }
}

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

    if (ride->t.ms > limit + STORM_SLACK + granted) {
        judge_breach(RULE_DEADLINE,
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
       threads are woken that late, logging in, which is work, takes as long as
       it likes */
    double granted = metronome_grants(ride->begin, now);
    bool hurried = (ride->t.login_timeout && granted > 100) ||
                   (strncmp(records, "HYT01 ", 6) == 0 && granted > 200);

    if (!ride->strict) {
        if (!hurried) {
            judge_breach(RULE_SERVED, "'%s' after %.0f ms: %.900s; %s",
                         mode_of(ride), ride->t.ms, records,
                         chronicle_say(ride->begin, now));
        }
    } else if (!known || !(owner_troubled(ride, ride->begin, now) ||
                           owner_closed(ride, ride->begin, now) || hurried)) {
        judge_breach(RULE_REFUSED, "'%s' after %.0f ms: %.900s; %s",
                     mode_of(ride), ride->t.ms, records,
                     chronicle_say(ride->begin, now));
    }
}

bool judge_connect(struct ride *ride)
{
    double now = trouble_now();

    judge_deadline(ride, now);
    if (!ride->t.dbc) {
        judge_refusal(ride, now);
        return false;
    }
    ride->at = storm_instance(ride->t.instance);
    if (chronicle_stayed(SPELL_DRAINED, ride->at, ride->begin, now) ||
        chronicle_stayed(SPELL_SHUT, ride->at, ride->begin - STORM_NOTICE,
                         now)) {
        judge_breach(RULE_CLOSED, "'%s' is on '%s'; %s", mode_of(ride),
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
        judge_breach(RULE_STRICT, "'%s' is on '%s' by '%s'; %s", mode_of(ride),
                     answer, ride->t.verdict, chronicle_say(ride->begin, now));
    }
}

void judge_where(struct ride *ride, const char *answer)
{
    double now = trouble_now();
    char name[20], kind = '?';
    int standby = 0;

    if (!*answer &&
        chronicle_was(SPELL_MOVING, ride->leaf, ride->begin, now)) {
        return; /* its leaf was replaced while the question was planned */
    }
    if (sscanf(answer, "%19s %d %c", name, &standby, &kind) != 3 ||
        storm_instance(name) != ride->at) {
        judge_breach(RULE_WHERE, "'%s' says '%s' and is on '%s'", mode_of(ride),
                     ride->t.instance, answer);
        return;
    }
    ride->local = kind == 'r';
    if (ride->writes &&
        (standby ||
         !chronicle_reigned(REIGN_PRIMARY, storm_group(ride->at), ride->at,
                            ride->begin - STORM_NOTICE, now))) {
        judge_breach(RULE_WRITE, "'%s' is on '%s' by '%s'; %s", mode_of(ride),
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

/* The instance was away, or its link from before that; how long it took.  Where
   no link is idle a probe opens one, and has ConnectTimeout for it. */
static void judge_death(struct ride *ride, const char *record, const char *sql,
                        double begin, double now)
{
    unsigned group = storm_group(ride->at);
    double limit = STORM_INTERVAL * 1.2 + STORM_CONNECT + STORM_SLACK +
                   metronome_grants(begin, now);

    if (!chronicle_was(SPELL_TROUBLE, group, ride->begin - STORM_TRUST, now) &&
        !chronicle_was(SPELL_CULLED, ride->at, ride->begin, now)) {
        judge_breach(RULE_CUT,
                     "'%s' on '%.300s', '%s' after %.0f ms: %.500s; %s",
                     mode_of(ride), ride->t.verdict, sql, now - begin, record,
                     chronicle_say(ride->begin, now));
    }
    if (now - begin > limit && ride->local && !any_move(begin, now)) {
        judge_breach(RULE_HUNG,
                     "'%s' on '%s', '%s' took %.0f ms of %.0f: "
                     "%.500s; %s",
                     mode_of(ride), ride->t.instance, sql, now - begin, limit,
                     record, chronicle_say(ride->begin, now));
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
        if (!done_nothing && !unknown) {
            judge_breach(RULE_UNKNOWN, "'%s' on '%s', '%s': %.500s",
                         mode_of(ride), ride->t.instance, sql, record);
        }
        return done_nothing ? ROW_REFUSED : ROW_UNKNOWN;
    }
    if (strncmp(record, "23505", 5) == 0) {
        judge_breach(RULE_TWICE, "'%s' on '%s', '%s': %.500s", mode_of(ride),
                     ride->t.instance, sql, record);
    } else if (!any_trouble(ride->begin, now)) {
        judge_breach(RULE_ERROR, "'%s' on '%s', '%s': %.500s; %s",
                     mode_of(ride), ride->t.instance, sql, record,
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

    if (!good || now - begin > STORM_SLACK + granted) {
        judge_breach(RULE_RETURN,
                     "'%s' on '%s' took %.0f ms, the machine owes "
                     "%.0f: %.500s; %s",
                     mode_of(ride), ride->t.instance, now - begin, granted,
                     record, chronicle_say(begin, now));
    }
}
