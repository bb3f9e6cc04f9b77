/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "weather.h"

#include "../odbc_tap.h"
#include "../trouble.h"
#include "ask.h"
#include "chronicle.h"
#include "storm.h"

#include <stdio.h>
#include <stdlib.h>

/* One thread's, that of the hand that meddles. */
static struct {
    const char *fleet, *map;
    bool shut[STORM_INSTANCES]; /* as the map file says */
} meddling;

/* A new file in the place of the old one. */
static bool write_map(void)
{
    char fresh[700];
    FILE *out;

    snprintf(fresh, sizeof fresh, "%s.new", meddling.map);
    out = fopen(fresh, "we");
    for (unsigned i = 0; out && i < STORM_INSTANCES; i++) {
        fprintf(out, "[%s-tcp]\nenabled = %s\n", storm_name(i),
                meddling.shut[i] ? "no" : "yes");
    }
    return out && fclose(out) == 0 && rename(fresh, meddling.map) == 0;
}

/* Some session says so; its own link may be one that dies just then. */
static bool say(const char *sql)
{
    struct answer answer = { .good = false };

    for (int i = 0; i < 20 && !answer.good; i++) {
        SQLHDBC dbc = ask_open(meddling.fleet, &answer);

        if (dbc) {
            answer = ask(dbc, sql);
            odbc_close(dbc);
        }
    }
    if (!answer.good) {
        printf("# %s failed: %s\n", sql, answer.text);
    }
    return answer.good;
}

static bool say_of(const char *command, unsigned instance)
{
    char sql[100];

    snprintf(sql, sizeof sql, "%s AFFINITY INSTANCE '%s-tcp'", command,
             storm_name(instance));
    return say(sql);
}

/* ---- what it does ------------------------------------------------------ */

/* For a while; in force from the command's end on. */
static bool drain(unsigned instance, unsigned *state)
{
    unsigned spell;
    bool ok = say_of("DRAIN", instance);

    if (ok) {
        spell = chronicle_begin(SPELL_DRAINED, instance);
        weather_rest(300 + storm_draw(state, 2500));
        chronicle_end(spell);
    }
    return say_of("RESUME", instance) && ok;
}

static bool shut(unsigned instance, unsigned *state)
{
    unsigned spell;
    bool ok;

    meddling.shut[instance] = true;
    ok = write_map();
    spell = chronicle_begin(SPELL_SHUT, instance);
    weather_rest(STORM_NOTICE + 300 + storm_draw(state, 2500));
    chronicle_end(spell);
    meddling.shut[instance] = false;
    return write_map() && ok;
}

/* Whoever serves there loses its session, and nobody else notices; one that is
   down has none. */
static bool cull(unsigned instance, unsigned *state)
{
    unsigned spell = chronicle_begin(SPELL_CULLED, instance);
    struct answer answer;
    char string[200], sql[300];
    SQLHDBC dbc;

    snprintf(string, sizeof string, "DSN=%s-tcp;UID=app", storm_name(instance));
    snprintf(sql, sizeof sql,
             "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM "
             "pg_stat_activity WHERE usename = 'app' AND pid <> "
             "pg_backend_pid() AND client_addr IS NOT NULL ORDER BY random() "
             "LIMIT %u) some",
             1 + storm_draw(state, 8));
    dbc = ask_open(string, &answer);
    if (dbc) {
        ask(dbc, sql);
        odbc_close(dbc);
    }
    storm_rest(STORM_TRUST + STORM_SLACK);
    chronicle_end(spell);
    return true;
}

static bool refresh(unsigned instance, unsigned *state)
{
    (void)instance;
    return say(storm_draw(state, 2) ? "REFRESH AFFINITY"
                                    : "REFRESH AFFINITY LINKS");
}

/* ---- for the weather --------------------------------------------------- */

bool meddle_begin(const char *fleet, const char *map)
{
    meddling.fleet = fleet;
    meddling.map = map;
    return write_map();
}

bool meddle_closes(enum meddle meddle)
{
    return meddle == MEDDLE_DRAIN || meddle == MEDDLE_SHUT;
}

/* Until the fleet has seen that an instance is open again, sessions may be
   refused; that is another spell. */
bool meddle_with(enum meddle meddle, unsigned instance, unsigned *state)
{
    static bool (*const meddles[MEDDLES])(unsigned, unsigned *) = {
        [MEDDLE_DRAIN] = drain,
        [MEDDLE_SHUT] = shut,
        [MEDDLE_CULL] = cull,
        [MEDDLE_REFRESH] = refresh,
    };
    bool closes = meddle_closes(meddle), ok;
    unsigned spell = closes ? chronicle_begin(SPELL_CLOSED, instance) : 0;

    ok = meddles[meddle](instance, state);
    if (closes) {
        storm_rest(STORM_NOTICE);
        chronicle_end(spell);
    }
    return ok;
}
