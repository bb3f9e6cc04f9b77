/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "rider.h"

#include "../trouble.h"
#include "ask.h"
#include "chronicle.h"
#include "judge.h"
#include "ledger.h"
#include "storm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REST_MS = 40, BRIEF_REST_MS = 5, TIMES = 60000 };

static const char *const modes[] = { "hint", "prefer", "strict" };

struct times {
    double ms[TIMES];
    unsigned count;
};

struct rider {
    pthread_t thread;
    unsigned number, state;
    unsigned mode; /* of the present session */
    struct rider_sums sums;
    struct times calm, paused;
};

static struct rider riders[STORM_RIDERS];
static const char *fleet;
static atomic_bool riding;

/* ---- connecting -------------------------------------------------------- */

static void plan(struct rider *r, struct ride *ride, char *string, size_t size)
{
    char key[40] = "";

    memset(ride, 0, sizeof *ride);
    r->mode = storm_draw(&r->state, 3);
    ride->rider = r->number;
    ride->leaf = storm_draw(&r->state, STORM_LEAVES);
    ride->key =
        ride->leaf * STORM_LEAF_KEYS + storm_draw(&r->state, STORM_LEAF_KEYS);
    ride->keyed = storm_draw(&r->state, 10) > 0;
    ride->strict = ride->keyed && r->mode == 2;
    ride->writes = storm_draw(&r->state, 4) > 0;
    ride->t.login_timeout = storm_draw(&r->state, 6) ? 0 : STORM_SLOW;
    if (ride->keyed) {
        snprintf(key, sizeof key, ";AffinityKey=%u", ride->key);
    }
    snprintf(string, size, "%s;AffinityMode=%s;Access=%s%s", fleet,
             modes[r->mode], ride->writes ? "read-write" : "read-only", key);
}

static void note_time(struct times *times, double ms)
{
    if (times->count < TIMES) {
        times->ms[times->count++] = ms;
    }
}

/* Of a session at a key of somebody who is not the one that hangs. */
static void compare(struct rider *r, const struct ride *ride, int before)
{
    int phase = weather_now();

    if (!ride->keyed || phase != before || phase == WEATHER_CHANGES) {
        return;
    }
    if (phase == WEATHER_CALM) {
        note_time(&r->calm, ride->t.ms);
    } else if (!chronicle_reigned(REIGN_LEAF, ride->leaf, (unsigned)phase,
                                  ride->begin, trouble_now())) {
        note_time(&r->paused, ride->t.ms);
    }
}

static bool connect_ride(struct rider *r, struct ride *ride, const char *string)
{
    int phase = weather_now();
    bool good;

    ride->begin = trouble_now();
    ride->at = STORM_NOBODY;
    trouble_try(&ride->t, string);
    good = judge_connect(ride);
    if (good) {
        compare(r, ride, phase);
        r->sums.served[r->mode]++;
        r->sums.unlearnt += strstr(ride->t.verdict, "not learnt yet") != NULL;
        if (ride->t.ms > r->sums.slowest[r->mode]) {
            r->sums.slowest[r->mode] = ride->t.ms;
        }
    } else {
        r->sums.refused[r->mode]++;
    }
    return good;
}

/* ---- what sessions do -------------------------------------------------- */

/* False: it failed, or was lost, and that is judged. */
static bool read_one(struct rider *r, struct ride *ride, const char *sql,
                     struct answer *answer)
{
    double begin = judge_begin(ride);

    *answer = ask(ride->t.dbc, sql);
    judge_call(ride, sql, false, begin);
    if (!answer->good) {
        judge_failure(ride, answer->text, sql, begin);
        r->sums.failed += !ride->lost;
    }
    return answer->good;
}

static bool look(struct rider *r, struct ride *ride)
{
    struct answer answer;
    char sql[200];

    judge_question(ride, sql, sizeof sql);
    if (read_one(r, ride, sql, &answer)) {
        judge_where(ride, answer.text);
    }
    return answer.good;
}

/* The latest row of its own, if nothing has happened to anybody since. */
static bool read_own(struct rider *r, struct ride *ride)
{
    long long id = ledger_latest(r->number);
    struct answer answer;
    struct row *row;
    char sql[120];
    bool calm = true;

    if (!id) {
        return true;
    }
    row = ledger_row(id);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM orders WHERE customer_id = "
             "%u AND amount = %lld",
             row->key, id);
    if (!read_one(r, ride, sql, &answer)) {
        return false;
    }
    for (unsigned n = 0; n < STORM_GROUPS; n++) { /* as many leaves */
        calm &= !chronicle_was(SPELL_TROUBLE, n, row->begun, trouble_now()) &&
                !chronicle_was(SPELL_MOVING, n, row->begun, trouble_now());
    }
    if (calm) {
        rule_tried(RULE_READ);
    }
    if (calm && strcmp(answer.text, "1") != 0) {
        rule_broken(RULE_READ, "key %u on '%s', '%s': %s", ride->key,
                    ride->t.instance, sql, answer.text);
    }
    return true;
}

/* A row that says by its amount which one it is; by its id as well, so that the
   primary key refuses it a second time, or it is another row each time that the
   statement is run.  Some take a while, so that many die.  Its outcome is in
   the ledger if it is sent by itself; else it depends on the transaction. */
static bool insert(struct rider *r, struct ride *ride, long long id,
                   bool by_itself)
{
    bool prepared = storm_draw(&r->state, 3) == 0;
    char first[20] = "?", second[20] = "?", sql[200];
    enum outcome outcome = ROW_DONE;
    struct answer answer;
    double begin;

    if (!prepared) {
        snprintf(first, sizeof first, "%u", ride->key);
        snprintf(second, sizeof second, "%lld", id);
    }
    snprintf(sql, sizeof sql,
             "INSERT INTO orders SELECT k, %s, 'eu', i, now() FROM (VALUES "
             "(%s::bigint, %s::bigint)) v (k, i)%s",
             storm_draw(&r->state, 2) ? "i" : "(random() * 9e18)::bigint",
             first, second, storm_draw(&r->state, 4) ? "" : ", pg_sleep(0.05)");
    begin = judge_begin(ride);
    answer = ask_to(ride->t.dbc, sql, prepared, ride->key, id);
    judge_call(ride, sql, answer.good && by_itself, begin);
    if (!answer.good) {
        outcome = judge_failure(ride, answer.text, sql, begin);
        r->sums.failed += !ride->lost;
    }
    if (by_itself) {
        ledger_close(id, outcome, begin, trouble_now());
    }
    return answer.good;
}

/* What became of the transaction. */
static enum outcome commit(struct rider *r, struct ride *ride, double *begin)
{
    enum outcome outcome;
    char record[ASK_MAX];
    bool good;

    *begin = judge_begin(ride);
    good = SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, ride->t.dbc, SQL_COMMIT));
    judge_call(ride, "COMMIT", good, *begin);
    if (good) {
        return ROW_DONE;
    }
    ask_record(SQL_HANDLE_DBC, ride->t.dbc, record);
    outcome = judge_failure(ride, record, "COMMIT", *begin);
    r->sums.failed += !ride->lost;
    return outcome;
}

/* False: it failed, and that is judged. */
static bool autocommit(struct ride *ride, SQLULEN on)
{
    double begin = trouble_now();
    char record[ASK_MAX];

    if (SQL_SUCCEEDED(SQLSetConnectAttr(ride->t.dbc, SQL_ATTR_AUTOCOMMIT,
                                        (SQLPOINTER)on, SQL_IS_UINTEGER))) {
        return true;
    }
    ask_record(SQL_HANDLE_DBC, ride->t.dbc, record);
    judge_failure(ride, record, "autocommit", begin);
    return false;
}

/* A few rows in one transaction, which is committed or rolled back. */
static bool transact(struct rider *r, struct ride *ride)
{
    unsigned rows = 1 + storm_draw(&r->state, 3), n;
    bool keeps = storm_draw(&r->state, 4) > 0, good;
    enum outcome outcome = ROW_REFUSED;
    double begin = trouble_now();
    long long ids[3];

    good = autocommit(ride, SQL_AUTOCOMMIT_OFF);
    for (n = 0; n < rows && good; n++) {
        ids[n] = ledger_open(r->number, ride->key);
        good = insert(r, ride, ids[n], false);
    }
    if (good && keeps) {
        outcome = commit(r, ride, &begin);
        good = outcome == ROW_DONE;
    }
    if (!good || !keeps) {
        SQLEndTran(SQL_HANDLE_DBC, ride->t.dbc, SQL_ROLLBACK);
    }
    while (n > 0) {
        ledger_close(ids[--n], outcome, begin, trouble_now());
    }
    return good && autocommit(ride, SQL_AUTOCOMMIT_ON);
}

/* Whether the cancel came in time is chance; it must not come to anybody
   else.  The manager takes a statement that was cancelled between executing and
   fetching for one that was not executed. */
static bool cancel_one(struct rider *r, struct ride *ride)
{
    const char *sql = "SELECT pg_sleep(0.03)";
    double begin = judge_begin(ride);
    struct answer answer =
        ask_and_cancel(ride->t.dbc, sql, storm_draw(&r->state, 40));

    judge_call(ride, sql, false, begin);
    if (answer.good || strncmp(answer.text, "57014", 5) == 0 ||
        strncmp(answer.text, "HY008", 5) == 0 ||
        strstr(answer.text, "[Driver Manager]Function sequence error")) {
        return true;
    }
    judge_failure(ride, answer.text, sql, begin);
    r->sums.failed += !ride->lost;
    return false;
}

/* Off the owner a write goes through its foreign partition, and hangs where no
   deadline of ours reaches; so there are fewer. */
static void act(struct rider *r, struct ride *ride)
{
    unsigned acts = 1 + storm_draw(&r->state, 3);
    struct answer answer;
    bool good = true;

    while (acts-- > 0 && good) {
        bool writes =
            ride->writes && (ride->local || storm_draw(&r->state, 8) == 0);
        unsigned what = storm_draw(&r->state, 8);

        if (what == 0) {
            good = read_one(r, ride, "SELECT pg_sleep(0.05)", &answer);
        } else if (what == 1) {
            good = cancel_one(r, ride);
        } else if (writes && what < 5) {
            good = insert(r, ride, ledger_open(r->number, ride->key), true);
        } else if (writes && what < 7) {
            good = transact(r, ride);
        } else {
            good = !ride->local || read_own(r, ride);
        }
        storm_rest(storm_draw(&r->state, 5));
    }
}

static void leave(struct ride *ride)
{
    char record[ASK_MAX] = "";
    double begin = trouble_now();
    bool good = SQL_SUCCEEDED(SQLDisconnect(ride->t.dbc));

    if (!good) {
        ask_record(SQL_HANDLE_DBC, ride->t.dbc, record);
    }
    judge_return(ride, good, record, begin);
    SQLFreeHandle(SQL_HANDLE_DBC, ride->t.dbc);
}

/* ---- riding -------------------------------------------------------------- */

/* While connects are compared most sessions come, look and go, or there would
   be too few for a percentile. */
static bool is_brief(struct rider *r)
{
    return weather_now() != WEATHER_CHANGES && storm_draw(&r->state, 8) > 0;
}

static void *ride_on(void *arg)
{
    struct rider *r = arg;

    while (atomic_load(&riding)) {
        static _Thread_local struct ride ride;
        bool brief = is_brief(r);
        char string[700];

        plan(r, &ride, string, sizeof string);
        if (connect_ride(r, &ride, string)) {
            if (look(r, &ride) && !brief) {
                act(r, &ride);
            }
            r->sums.cut += ride.lost;
            leave(&ride);
        }
        storm_rest(storm_draw(&r->state, brief ? BRIEF_REST_MS : REST_MS));
    }
    return NULL;
}

void riders_begin(const char *string, unsigned seed)
{
    fleet = string;
    atomic_store(&riding, true);
    for (unsigned n = 0; n < STORM_RIDERS; n++) {
        riders[n].number = n;
        riders[n].state = seed + n * 7919;
        pthread_create(&riders[n].thread, NULL, ride_on, &riders[n]);
    }
}

static int compare_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The 99.9th percentile of all riders'. */
static double percentile(bool paused, unsigned *count)
{
    double *all = malloc(sizeof(double) * TIMES * STORM_RIDERS), at;

    *count = 0;
    for (unsigned n = 0; n < STORM_RIDERS; n++) {
        struct times *t = paused ? &riders[n].paused : &riders[n].calm;

        memcpy(all + *count, t->ms, sizeof(double) * t->count);
        *count += t->count;
    }
    qsort(all, *count, sizeof *all, compare_ms);
    at = *count ? all[(unsigned)((*count - 1) * 0.999)] : 0;
    free(all);
    return at;
}

void riders_end(struct rider_sums *sums)
{
    memset(sums, 0, sizeof *sums);
    atomic_store(&riding, false);
    for (unsigned n = 0; n < STORM_RIDERS; n++) {
        const struct rider_sums *s = &riders[n].sums;

        pthread_join(riders[n].thread, NULL);
        for (int m = 0; m < 3; m++) {
            sums->served[m] += s->served[m];
            sums->refused[m] += s->refused[m];
            if (s->slowest[m] > sums->slowest[m]) {
                sums->slowest[m] = s->slowest[m];
            }
        }
        sums->unlearnt += s->unlearnt;
        sums->cut += s->cut;
        sums->failed += s->failed;
    }
    sums->calm = percentile(false, &sums->calm_count);
    sums->paused = percentile(true, &sums->paused_count);
}
