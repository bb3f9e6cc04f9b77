/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "weather.h"

#include "../odbc_tap.h"
#include "../trouble.h"
#include "ask.h"
#include "chronicle.h"
#include "judge.h"
#include "storm.h"

#include <stdio.h>
#include <string.h>

/* One group, while it is struck. */
struct target {
    unsigned group, primary, standby;
    unsigned *state;
    double safe; /* all acknowledged before is with the standby */
};

static const char *fleet;

static bool verb(const char *name, unsigned instance)
{
    return trouble_make(name, storm_name(instance));
}

static void rest(struct target *t, unsigned least, unsigned most)
{
    storm_rest(least + storm_draw(t->state, most - least + 1));
}

/* ---- what a successor has ---------------------------------------------- */

static SQLHDBC look_at(unsigned instance)
{
    struct answer answer;
    char string[80];
    SQLHDBC dbc;

    snprintf(string, sizeof string, "DSN=%s;UID=postgres",
             storm_name(instance));
    dbc = ask_open(string, &answer);
    if (!dbc) {
        printf("# %s: %s\n", storm_name(instance), answer.text);
    }
    return dbc;
}

struct wait {
    SQLHDBC standby;
    char sql[200];
};

static bool has_received(void *arg)
{
    struct wait *wait = arg;

    return strcmp(ask(wait->standby, wait->sql).text, "1") == 0;
}

/* What the primary has flushed by now is with the standby. */
static bool bring_to_safety(struct target *t)
{
    SQLHDBC primary = look_at(t->primary);
    struct wait wait = { .standby = look_at(t->standby) };
    double now = trouble_now();
    bool ok = primary && wait.standby;

    if (ok) {
        snprintf(wait.sql, sizeof wait.sql,
                 "SELECT (greatest(pg_last_wal_receive_lsn(), "
                 "pg_last_wal_replay_lsn()) >= '%.40s')::int",
                 ask(primary, "SELECT pg_current_wal_flush_lsn()").text);
        ok = trouble_await(has_received, &wait, 20000);
    }
    t->safe = now;
    odbc_close(primary);
    odbc_close(wait.standby);
    return ok;
}

/* ---- the blows --------------------------------------------------------- */

/* From before a successor may write until it is the one. */
static bool succeed(struct target *t, const char *how)
{
    bool ok;

    chronicle_claim(REIGN_PRIMARY, t->group, t->standby);
    ok = verb(how, t->standby);
    chronicle_settle(REIGN_PRIMARY, t->group, ok ? t->standby : t->primary);
    return ok;
}

static bool crash(struct target *t)
{
    bool ok = verb("crash", t->primary);

    rest(t, 100, 2000);
    return verb("revive", t->primary) && ok;
}

static bool failover(struct target *t)
{
    bool ok = bring_to_safety(t) && verb("crash", t->primary);

    rest(t, 0, 1000);
    ok = succeed(t, "promote") && ok;
    chronicle_loss(t->group, t->safe);
    rest(t, 500, 2500);
    return verb("revive", t->primary) && ok;
}

static bool hang(struct target *t)
{
    bool ok = verb("pause", t->primary);

    weather_phase((int)t->group);
    rest(t, 300, 4000);
    weather_phase(WEATHER_CHANGES);
    return verb("resume", t->primary) && ok;
}

static bool is_anybody_inside(void *arg)
{
    const struct target *t = arg;
    enum { SOME = 3 };

    return judge_inside(t->primary) >= SOME;
}

/* Pauses it while some have calls there that hang: who is inside when it begins
   stays so, and others come.  False: nobody is after anything there. */
static bool catch_some(struct target *t, bool *ok)
{
    enum { TIMES = 10, MOMENT_MS = 500 };
    bool caught = false;

    for (int i = 0; i < TIMES && !caught && *ok; i++) {
        *ok = verb("pause", t->primary);
        caught = trouble_await(is_anybody_inside, t, MOMENT_MS);
        *ok = (caught || verb("resume", t->primary)) && *ok;
    }
    return caught;
}

static bool hang_long(struct target *t)
{
    enum { ENOUGH_MS = 500 };
    bool ok = true;
    double begin, now;
    unsigned spell;

    if (!catch_some(t, &ok)) {
        return ok;
    }
    begin = trouble_now();
    spell = chronicle_begin(SPELL_HUNG, t->primary);
    weather_phase((int)t->group);
    do {
        storm_rest(20);
        now = trouble_now();
    } while (now < begin + judge_patience(begin, now) + ENOUGH_MS);
    weather_phase(WEATHER_CHANGES);
    chronicle_end(spell);
    return verb("resume", t->primary) && ok;
}

/* Says the fleet that the old primary is up again? */
static bool is_seen(void *arg)
{
    const struct target *t = arg;
    struct answer answer;
    SQLHDBC dbc = ask_open(fleet, &answer);
    char name[20], state[20] = "";

    if (dbc) {
        snprintf(name, sizeof name, "%s-tcp", storm_name(t->primary));
        trouble_instance(dbc, name, "state", state, sizeof state);
        odbc_close(dbc);
    }
    return strcmp(state, "up") == 0;
}

/* The old primary, which the fleet knows again, believes to be one, and others
   are there who want to write. */
static bool rival(struct target *t)
{
    bool ok = trouble_await(is_seen, t, 20000);
    SQLHDBC old = look_at(t->primary);
    unsigned spell;

    ok = old &&
         strcmp(ask(old, "SELECT pg_is_in_recovery()::int").text, "0") == 0 &&
         ok;
    odbc_close(old);
    if (ok) {
        spell = chronicle_begin(SPELL_RIVAL, t->group);
        rest(t, 500, 2000);
        chronicle_end(spell);
    } else {
        printf("# %s, which is superseded, was not seen as a primary\n",
               storm_name(t->primary));
    }
    return ok;
}

/* The fleet has time to see the successor before the old one goes on. */
static bool supersede(struct target *t)
{
    bool ok = bring_to_safety(t) && verb("pause", t->primary);

    rest(t, 0, 2500);
    ok = succeed(t, "supersede") && ok;
    storm_rest(STORM_NOTICE);
    ok = verb("resume", t->primary) && rival(t) && ok;
    ok = verb("crash", t->primary) && ok;
    chronicle_loss(t->group, t->safe);
    return verb("revive", t->primary) && ok;
}

static bool hand_over(struct target *t)
{
    bool ok = succeed(t, "promote");

    rest(t, 500, 2000);
    return verb("revive", t->primary) && ok;
}

static bool strike_standby(struct target *t)
{
    bool dies = storm_draw(t->state, 2) == 0, ok;
    unsigned spell = chronicle_begin(SPELL_AWAY, t->standby);

    ok = verb(dies ? "crash" : "pause", t->standby);
    rest(t, 500, 3000);
    ok = verb(dies ? "revive" : "resume", t->standby) && ok;
    chronicle_end(spell);
    return ok;
}

/* Nobody of the group is left for a while. */
static bool crash_group(struct target *t)
{
    bool ok = verb("crash", t->primary);

    ok = verb("crash", t->standby) && ok;
    rest(t, 100, 2500);
    ok = verb("revive", t->primary) && ok;
    return verb("revive", t->standby) && ok;
}

static bool flap(struct target *t)
{
    unsigned times = 2 + storm_draw(t->state, 4);
    bool ok = true;

    while (times-- > 0) {
        ok = verb("pause", t->primary) && ok;
        rest(t, 0, 700);
        ok = verb("resume", t->primary) && ok;
        rest(t, 0, 700);
    }
    return ok;
}

/* The third group lives. */
static bool crash_and_hang(struct target *t)
{
    unsigned other = (t->group + 1) % STORM_GROUPS;
    unsigned primary = chronicle_ruler(REIGN_PRIMARY, other);
    unsigned spell = chronicle_begin(SPELL_TROUBLE, other);
    bool ok = verb("pause", primary);

    ok = verb("crash", t->primary) && ok;
    rest(t, 300, 3000);
    ok = verb("resume", primary) && ok;
    ok = verb("revive", t->primary) && ok;
    storm_rest(STORM_NOTICE);
    chronicle_end(spell);
    return ok;
}

/* Whose the leaf is, by the instances. */
static unsigned ask_owner(unsigned leaf)
{
    unsigned owner = STORM_NOBODY;

    for (unsigned g = 0; g < STORM_GROUPS; g++) {
        SQLHDBC dbc = look_at(chronicle_ruler(REIGN_PRIMARY, g));
        char sql[120];

        snprintf(sql, sizeof sql,
                 "SELECT relkind FROM pg_class WHERE oid = "
                 "'public.orders_n%u'::regclass",
                 leaf + 1);
        if (dbc && strcmp(ask(dbc, sql).text, "r") == 0) {
            owner = g;
        }
        odbc_close(dbc);
    }
    return owner;
}

/* One of the leaves comes to this group. */
static bool move(struct target *t)
{
    unsigned leaf = storm_draw(t->state, STORM_LEAVES);
    unsigned spell;
    char words[60];
    bool ok;

    if (chronicle_ruler(REIGN_LEAF, leaf) == t->group) {
        leaf = (leaf + 1) % STORM_LEAVES;
    }
    spell = chronicle_begin(SPELL_MOVING, leaf);
    chronicle_claim(REIGN_LEAF, leaf, t->group);
    snprintf(words, sizeof words, "orders_n%u %s", leaf + 1,
             storm_name(t->primary));
    ok = trouble_make("move", words);
    chronicle_settle(REIGN_LEAF, leaf, ok ? t->group : ask_owner(leaf));
    storm_rest(STORM_NOTICE);
    chronicle_end(spell);
    return ok;
}

void blow_begin(const char *string)
{
    fleet = string;
}

bool blow_strike(enum blow blow, unsigned group, unsigned *state)
{
    static bool (*const blows[BLOWS])(struct target *) = {
        [BLOW_CRASH] = crash,        [BLOW_FAILOVER] = failover,
        [BLOW_PAUSE] = hang,         [BLOW_HANG] = hang_long,
        [BLOW_HANDOVER] = hand_over, [BLOW_SUPERSEDE] = supersede,
        [BLOW_GROUP] = crash_group,  [BLOW_STANDBY] = strike_standby,
        [BLOW_TWO] = crash_and_hang, [BLOW_FLAP] = flap,
        [BLOW_MOVE] = move,
    };
    struct target t = { .group = group, .state = state };
    bool troubles = blow != BLOW_STANDBY && blow != BLOW_MOVE, ok;
    unsigned spell = 0;

    t.primary = chronicle_ruler(REIGN_PRIMARY, group);
    t.standby = 2 * group + (t.primary == 2 * group);
    if (troubles) {
        spell = chronicle_begin(SPELL_TROUBLE, group);
    }
    ok = blows[blow](&t);
    if (troubles) {
        storm_rest(STORM_NOTICE);
        chronicle_end(spell);
    }
    return ok;
}
