/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A storm: many threads connect and disconnect at random keys while instances
 * crash, hang and come back.  In strict every session is on its key's owner,
 * and one is refused only if its owner was away (promise 2); in hint one is
 * always served, since an instance lives at any time (promise 4); afterwards
 * no link, thread, file descriptor or byte is lost.
 *
 * STORM_SECONDS   how long the two storms last together (25)
 * STORM_SEED      repeats what was printed
 * STORM_CALM      set: no instance is harmed, for slow tools
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "trouble.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Slow tools get time. */
#define FLEET_CALM \
    "DSN=orders;ConnectTimeout=60000;CheckTimeout=60000;PoolWait=60000"
#define FLEET_STORM "DSN=orders;ConnectTimeout=2000;CheckTimeout=1000"

enum { THREADS = 32, INSTANCES = 3, KEEPER_IDLE_MS = 5000,
       WATCH_USED_MS = 30000 };

/* PoolTrust and the sandbox's own time to say that it is back. */
enum { GRACE_MS = 600 };

enum { HEAP_NOISE = 16384 /* bytes */ };

static unsigned seed;
static const char *fleet; /* the beginning of every connection string */

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (unsigned)((uint64_t)(*state >> 8) * below >> 24);
}

/* ---- the weather --------------------------------------------------------- */

/* When each instance was away: what happened to sessions is excused by it. */
static struct {
    pthread_mutex_t lock;
    bool away[INSTANCES];
    double since[INSTANCES]; /* ms: of the latest change of away */
    unsigned crashes, pauses;
    atomic_bool over;
} weather = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void set_away(unsigned i, bool away)
{
    pthread_mutex_lock(&weather.lock);
    weather.away[i] = away;
    weather.since[i] = trouble_now();
    pthread_mutex_unlock(&weather.lock);
}

/* Was instance i away at any time since `begin`, or shortly before? */
static bool was_away(unsigned i, double begin)
{
    bool away;

    pthread_mutex_lock(&weather.lock);
    away = weather.away[i] ||
           (weather.since[i] > 0 && weather.since[i] + GRACE_MS > begin);
    pthread_mutex_unlock(&weather.lock);
    return away;
}

static void rest(unsigned ms)
{
    struct timespec ts = { .tv_sec = ms / 1000,
                           .tv_nsec = (long)(ms % 1000) * 1000000 };

    nanosleep(&ts, NULL);
}

/* One instance at a time, so that two live. */
static void *make_weather(void *unused)
{
    static const char *const names[] = { "n1", "n2", "n3" };
    unsigned state = seed;

    (void)unused;
    while (!atomic_load(&weather.over)) {
        unsigned i = draw(&state, INSTANCES);
        bool crash = weather.crashes <= weather.pauses;

        set_away(i, true);
        trouble_make(crash ? "crash" : "pause", names[i]);
        weather.crashes += crash;
        weather.pauses += !crash;
        rest(100 + draw(&state, crash ? 600 : 2400));
        trouble_make(crash ? "revive" : "resume", names[i]);
        set_away(i, false);
        rest(100 + draw(&state, 900));
    }
    return NULL;
}

/* ---- those who are out in it --------------------------------------------- */

struct sailor {
    pthread_t thread;
    const char *mode;
    unsigned state;
    unsigned served, home; /* sessions; of them on the owner */
    unsigned refused, cut; /* excused: no session; it died */
    unsigned wrong;        /* not excused */
    double slowest;        /* ms: a connect that was served */
    char error[1200];      /* of the first wrong one */
};

static atomic_bool at_sea;

static void complain(struct sailor *s, const char *what, const char *where,
                     const struct trouble_try *t)
{
    if (s->wrong++ == 0) {
        snprintf(s->error, sizeof s->error, "%s: on '%s' by '%.200s' after "
                 "%.0f ms: %.700s", what, where, t->verdict, t->ms,
                 t->records);
    }
}

/* Where the session really is, and what the failure was. */
static bool ask_where(SQLHDBC dbc, char where[64], char record[300])
{
    SQLCHAR state[6], text[250];
    SQLINTEGER native;
    SQLSMALLINT length;
    SQLLEN got;
    SQLHSTMT stmt;
    bool ok;

    where[0] = record[0] = '\0';
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt))) {
        return false;
    }
    ok = SQL_SUCCEEDED(SQLExecDirect(
             stmt, (SQLCHAR *)"SELECT current_setting('cluster_name')",
             SQL_NTS)) &&
         SQL_SUCCEEDED(SQLFetch(stmt)) &&
         SQL_SUCCEEDED(SQLGetData(stmt, 1, SQL_C_CHAR, where, 64, &got));
    if (!ok && SQL_SUCCEEDED(SQLGetDiagRec(SQL_HANDLE_STMT, stmt, 1, state,
                                           &native, text, sizeof text,
                                           &length))) {
        snprintf(record, 300, "%s %d %s", (char *)state, (int)native,
                 (char *)text);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return ok;
}

static void judge(struct sailor *s, unsigned owner, double begin,
                  struct trouble_try *t)
{
    static const char *const names[] = { "n1", "n2", "n3" };
    bool strict = strcmp(s->mode, "strict") == 0;
    char where[64], record[300];
    unsigned at = INSTANCES;

    if (!t->dbc) {
        if (strict && was_away(owner, begin)) {
            s->refused++;
        } else {
            complain(s, "no session", names[owner], t);
        }
        return;
    }
    for (unsigned i = 0; i < INSTANCES; i++) {
        at = strcmp(t->instance, names[i]) == 0 ? i : at;
    }
    if (strict && at != owner) {
        complain(s, "not on the owner", t->instance, t);
    } else if (!ask_where(t->dbc, where, record)) {
        if (at < INSTANCES && was_away(at, begin)) {
            s->cut++;
        } else {
            snprintf(t->records, sizeof t->records, "%s", record);
            complain(s, "no answer", t->instance, t);
        }
    } else if (strcmp(where, t->instance) != 0) {
        complain(s, "not where it says", where, t);
    } else {
        s->served++;
        s->home += at == owner;
        s->slowest = t->ms > s->slowest ? t->ms : s->slowest;
    }
}

static void *sail(void *arg)
{
    struct sailor *s = arg;

    while (atomic_load(&at_sea)) {
        unsigned owner = draw(&s->state, INSTANCES);
        struct trouble_try t = { 0 };
        char string[200];
        double begin = trouble_now();

        snprintf(string, sizeof string, "%s;AffinityMode=%s;AffinityKey=%u",
                 fleet, s->mode, owner * 1000 + draw(&s->state, 1000));
        trouble_try(&t, string);
        judge(s, owner, begin, &t);
        odbc_close(t.dbc);
        rest(draw(&s->state, 20)); /* leaves the weather some of the machine */
    }
    return NULL;
}

/* Lets all sail for a while; the sum of what they saw. */
static struct sailor sail_all(const char *mode, double ms, bool calm)
{
    static struct sailor sailors[THREADS];
    struct sailor sum = { .mode = mode };
    pthread_t script;

    memset(sailors, 0, sizeof sailors);
    atomic_store(&at_sea, true);
    atomic_store(&weather.over, false);
    for (unsigned i = 0; i < THREADS; i++) {
        sailors[i].mode = mode;
        sailors[i].state = seed + i * 7919;
        pthread_create(&sailors[i].thread, NULL, sail, &sailors[i]);
    }
    if (!calm) {
        pthread_create(&script, NULL, make_weather, NULL);
    }
    rest((unsigned)ms);
    atomic_store(&weather.over, true);
    if (!calm) {
        pthread_join(script, NULL);
    }
    atomic_store(&at_sea, false);
    for (unsigned i = 0; i < THREADS; i++) {
        struct sailor *s = &sailors[i];

        pthread_join(s->thread, NULL);
        sum.served += s->served;
        sum.home += s->home;
        sum.refused += s->refused;
        sum.cut += s->cut;
        sum.slowest = s->slowest > sum.slowest ? s->slowest : sum.slowest;
        if (s->wrong && !sum.wrong) {
            memcpy(sum.error, s->error, sizeof sum.error);
        }
        sum.wrong += s->wrong;
    }
    printf("# %s: %u served, %u of them by the owner, %u refused, %u died; "
           "slowest connect %.0f ms\n", mode, sum.served, sum.home,
           sum.refused, sum.cut, sum.slowest);
    return sum;
}

/* ---- counting ------------------------------------------------------------ */

static unsigned count_threads(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    unsigned n = 0;

    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "Threads: %u", &n);
    }
    if (status) {
        fclose(status);
    }
    return n;
}

static bool threads_are_back(void *before)
{
    return count_threads() <= *(unsigned *)before;
}

static unsigned count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned n = 0;

    while (folder && readdir(folder)) {
        n++;
    }
    if (folder) {
        closedir(folder);
    }
    return n;
}

/* Backends of this program's login, as the instances themselves say. */
static unsigned count_backends(void)
{
    unsigned n = 0;

    for (int i = 1; i <= INSTANCES; i++) {
        char string[60];
        SQLHDBC dbc;

        snprintf(string, sizeof string, "DSN=n%d;UID=postgres", i);
        dbc = odbc_open(trouble_env, string, false);
        n += (unsigned)atoi(odbc_value(
            dbc, "SELECT count(*) FROM pg_stat_activity WHERE "
            "usename = 'app' AND application_name NOT LIKE '%fdw%'"));
        odbc_close(dbc);
    }
    return n;
}

struct harbour {
    SQLHDBC anchor;
    unsigned links, backends, files; /* as seen last */
};

/* Are the links that the pools know all there are? */
static bool is_counted(void *arg)
{
    struct harbour *h = arg;
    struct trouble_pools p;

    if (!trouble_pools(h->anchor, NULL, false, &p)) {
        return false;
    }
    h->links = p.idle + p.held;
    h->backends = count_backends();
    h->files = count_files();
    return p.held == 1 && p.opening + p.learning + p.reset + p.closing +
        p.waiting == 0 && h->backends == h->links;
}

/* Calm sessions, one after another. */
static void sail_calmly(unsigned sessions)
{
    unsigned state = seed;

    for (unsigned i = 0; i < sessions; i++) {
        char string[200], where[64], record[300];
        struct trouble_try t = { 0 };

        snprintf(string, sizeof string, "%s;AffinityKey=%u", fleet,
                 draw(&state, 3000));
        trouble_try(&t, string);
        if (t.dbc && i % 4 == 0) {
            ask_where(t.dbc, where, record);
        }
        odbc_close(t.dbc);
    }
}

/* What they leave on the heap, in bytes, once each instance has the links that
   it takes: one more is 40 KB of psqlODBC's. */
static long growth_once(struct harbour *h, unsigned sessions)
{
    unsigned links;
    size_t before;

    do {
        sail_calmly(sessions);
        trouble_await(is_counted, h, 30000);
        links = h->links;
        before = mallinfo2().uordblks;
        sail_calmly(sessions);
        trouble_await(is_counted, h, 30000);
    } while (h->links > links);
    return (long)mallinfo2().uordblks - (long)before;
}

/* What was freed and a thread keeps for itself (malloc(3) does not tell it from
   what is in use) comes and goes with our helper threads, some 20 KB each.
   What is lost grows each time. */
static long heap_growth(struct harbour *h, unsigned sessions)
{
    long least = growth_once(h, sessions);

    for (int i = 0; i < 4 && least >= HEAP_NOISE; i++) {
        long again = growth_once(h, sessions);

        printf("# %ld bytes, then %ld\n", least, again);
        least = again < least ? again : least;
    }
    return least;
}

/* ---- the voyage ---------------------------------------------------------- */

static bool reopen(struct harbour *h)
{
    char string[200];

    odbc_close(h->anchor);
    snprintf(string, sizeof string, "%s;AffinityKey=500", fleet);
    h->anchor = odbc_open(trouble_env, string, false);
    return h->anchor && trouble_await(trouble_complete, h->anchor, 30000);
}

int main(void)
{
    const char *seconds = getenv("STORM_SECONDS");
    const char *given = getenv("STORM_SEED");
    bool calm = getenv("STORM_CALM") != NULL;
    double ms = (seconds ? atof(seconds) : 25) * 1000 / 2;
    struct harbour h = { 0 };
    unsigned threads, files;
    struct sailor saw;
    long grown;
    bool back;

    seed = given ? (unsigned)strtoul(given, NULL, 10)
                 : (unsigned)time(NULL) * 2654435761u;
    fleet = calm ? FLEET_CALM : FLEET_STORM;
    printf("# STORM_SEED=%u\n", seed);
    trouble_env = odbc_env(SQL_OV_ODBC3);
    /* what libraries load, open and start at first use is no loss */
    trouble_watch_begin();
    trouble_watch_end();
    odbc_close(odbc_open(trouble_env, "DSN=n1", false));
    threads = count_threads();
    files = count_files();
    tap_ok(reopen(&h), "the topology is known", "%s", odbc_error());

    saw = sail_all("strict", ms, calm);
    tap_ok(saw.served > THREADS, "strict: sessions are served", "%u",
           saw.served);
    tap_ok(saw.wrong == 0 && saw.home == saw.served,
           "strict: on the owner, or refused while that was away",
           "%u were not: %s", saw.wrong, saw.error);
    tap_ok(reopen(&h), "the topology is known again", "%s", odbc_error());
    saw = sail_all("hint", ms, calm);
    tap_ok(saw.served > THREADS, "hint: sessions are served", "%u",
           saw.served);
    tap_ok(saw.wrong == 0, "hint: always served while an instance lives",
           "%u were not: %s", saw.wrong, saw.error);
    tap_ok(calm || (weather.crashes > 0 && weather.pauses > 0),
           "instances were away", "%u crashes, %u pauses", weather.crashes,
           weather.pauses);
    printf("# %u crashes, %u pauses\n", weather.crashes, weather.pauses);

    tap_ok(reopen(&h), "afterwards: all is known", "%s", odbc_error());
    tap_ok(trouble_await(is_counted, &h, 30000),
           "afterwards: nothing is under way, each link has its backend",
           "%u links, %u backends", h.links, h.backends);
    tap_ok(h.files == files + h.links,
           "afterwards: each file descriptor is a link's",
           "%u before, %u now, %u links", files, h.files, h.links);
    grown = heap_growth(&h, 400);
    tap_ok(grown < HEAP_NOISE, "afterwards: 400 sessions leave nothing on the heap",
           "%ld bytes", grown);
    odbc_close(h.anchor);
    threads++; /* the one that closes idle links when it is time */
    back = trouble_await(threads_are_back, &threads,
                         WATCH_USED_MS + KEEPER_IDLE_MS + 10000);
    tap_ok(back, "afterwards: no thread is left but who closes idle links",
           "%u expected, %u now", threads, count_threads());
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return tap_end();
}
