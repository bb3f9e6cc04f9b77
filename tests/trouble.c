/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "trouble.h"

#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "affinity_odbc.h"
#include "odbc_tap.h"

SQLHENV trouble_env;
SQLHDBC trouble_anchor;

extern char **environ;

/* ---- the sandbox --------------------------------------------------------- */

static char folder[600];

const char *trouble_folder(void)
{
    if (!*folder) {
        const char *name = getenv("AFF_SANDBOX");
        snprintf(folder, sizeof folder, "%s", name ? name : "");
    }
    return folder;
}

static const char *sandbox_script(void)
{
    static char path[600];
    const char *top = getenv("AFF_SRCDIR");

    snprintf(path, sizeof path, "%s/setup/sandbox", top ? top : ".");
    return path;
}

/* Prints what a verb said, as comments of TAP. */
static void print_log(FILE *log)
{
    char line[400];

    rewind(log);
    while (fgets(line, sizeof line, log)) {
        printf("# %s", line);
    }
}

/* The end of an instance's own log, likewise. */
static void print_end(const char *instance)
{
    enum { MOST = 3000 };
    char path[700];
    FILE *log;

    snprintf(path, sizeof path, "%s/%s/log", trouble_folder(), instance);
    log = fopen(path, "r");
    if (log) {
        char text[MOST + 1], *rest = text, *line;

        fseek(log, 0, SEEK_END);
        fseek(log, ftell(log) > MOST ? -(long)MOST : -ftell(log), SEEK_END);
        text[fread(text, 1, MOST, log)] = '\0';
        while ((line = strtok_r(rest, "\n", &rest))) {
            printf("# %s: %s\n", instance, line);
        }
        fclose(log);
    }
}

bool trouble_make(const char *verb, const char *words)
{
    char script[600], where[600], copy[200], *rest = copy, *word;
    char *arguments[10] = { script, (char *)verb, where };
    posix_spawn_file_actions_t actions;
    FILE *log = tmpfile();
    int status = -1;
    size_t n = 3;
    pid_t pid;

    snprintf(script, sizeof script, "%s", sandbox_script());
    snprintf(where, sizeof where, "%s", trouble_folder());
    snprintf(copy, sizeof copy, "%s", words ? words : "");
    while (n < 9 && (word = strtok_r(rest, " ", &rest))) {
        arguments[n++] = word;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(log), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(log), 2);
    if (posix_spawn(&pid, script, &actions, NULL, arguments, environ) == 0) {
        waitpid(pid, &status, 0);
    }
    posix_spawn_file_actions_destroy(&actions);
    if (status != 0) {
        printf("# %s %s %s failed:\n", verb, where, words ? words : "");
        print_log(log);
        print_end(n > 3 ? arguments[n - 1] : "");
    }
    fclose(log);
    return status == 0;
}

unsigned trouble_logged(const char *words)
{
    unsigned n = 0;

    for (int i = 1; i <= 3; i++) {
        char path[700], line[2000];
        FILE *log;

        snprintf(path, sizeof path, "%s/n%d/log", trouble_folder(), i);
        log = fopen(path, "r");
        while (log && fgets(line, sizeof line, log)) {
            n += strstr(line, words) != NULL;
        }
        if (log) {
            fclose(log);
        }
    }
    return n;
}

void trouble_choose(const char *name)
{
    snprintf(folder, sizeof folder, "%s", name);
}

bool trouble_use_dsns(void)
{
    char command[1400], line[600], *value;
    FILE *pipe;
    int n = 0;

    snprintf(command, sizeof command,
             "eval \"$('%s' env '%s')\" && printf '%%s\\n' "
             "ODBCINI=\"$ODBCINI\" ODBCSYSINI=\"$ODBCSYSINI\" "
             "ODBCINSTINI=\"$ODBCINSTINI\"",
             sandbox_script(), trouble_folder());
    pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        line[strcspn(line, "\n")] = '\0';
        value = strchr(line, '=');
        if (value) {
            *value++ = '\0';
            n += setenv(line, value, 1) == 0;
        }
    }
    return pipe && pclose(pipe) == 0 && n == 3;
}

/* ---- time ---------------------------------------------------------------- */

double trouble_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void pause_ms(long ms)
{
    struct timespec ts = { .tv_sec = ms / 1000,
                           .tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&ts, NULL);
}

bool trouble_await(bool (*is)(void *arg), void *arg, double ms)
{
    double end = trouble_now() + ms;

    while (!is(arg)) {
        if (trouble_now() > end) {
            return false;
        }
        pause_ms(10);
    }
    return true;
}

static struct {
    pthread_t thread;
    atomic_bool over;
    double late; /* the thread's until it is joined */
} watch;

static void *keep_watch(void *unused)
{
    (void)unused;
    while (!atomic_load(&watch.over)) {
        double before = trouble_now(), late;

        pause_ms(5);
        late = trouble_now() - before - 5;
        watch.late = late > watch.late ? late : watch.late;
    }
    return NULL;
}

void trouble_watch_begin(void)
{
    watch.late = 0;
    atomic_store(&watch.over, false);
    pthread_create(&watch.thread, NULL, keep_watch, NULL);
}

double trouble_watch_end(void)
{
    atomic_store(&watch.over, true);
    pthread_join(watch.thread, NULL);
    return watch.late;
}

/* ---- sessions ------------------------------------------------------------ */

static void take_records(SQLHDBC dbc, char *out, size_t size)
{
    SQLCHAR state[6], text[1000];
    SQLINTEGER native;
    SQLSMALLINT length;
    size_t used = 0;

    out[0] = '\0';
    for (SQLSMALLINT i = 1;
         used < size && SQL_SUCCEEDED(SQLGetDiagRec(SQL_HANDLE_DBC, dbc, i,
                                                    state, &native, text,
                                                    sizeof text, &length));
         i++) {
        used += (size_t)snprintf(out + used, size - used, "%s %d %s\n",
                                 (char *)state, (int)native, (char *)text);
    }
}

static void take_text(SQLHDBC dbc, SQLINTEGER attribute, char *out,
                      size_t size)
{
    SQLINTEGER length;

    if (!SQL_SUCCEEDED(SQLGetConnectAttr(dbc, attribute, out,
                                         (SQLINTEGER)size, &length))) {
        out[0] = '\0';
    }
}

bool trouble_try(struct trouble_try *t, const char *string)
{
    SQLSMALLINT length;
    double begin;

    t->string = string;
    t->instance[0] = t->verdict[0] = t->records[0] = '\0';
    SQLAllocHandle(SQL_HANDLE_DBC, trouble_env, &t->dbc);
    if (t->login_timeout) {
        SQLSetConnectAttr(t->dbc, SQL_ATTR_LOGIN_TIMEOUT,
                          (SQLPOINTER)(intptr_t)t->login_timeout,
                          SQL_IS_UINTEGER);
    }
    begin = trouble_now();
    if (SQL_SUCCEEDED(SQLDriverConnect(t->dbc, NULL, (SQLCHAR *)string,
                                       SQL_NTS, NULL, 0, &length,
                                       SQL_DRIVER_NOPROMPT))) {
        t->ms = trouble_now() - begin;
        take_text(t->dbc, SQL_ATTR_AFFINITY_INSTANCE, t->instance,
                  sizeof t->instance);
        take_text(t->dbc, SQL_ATTR_AFFINITY_VERDICT, t->verdict,
                  sizeof t->verdict);
        return true;
    }
    t->ms = trouble_now() - begin;
    take_records(t->dbc, t->records, sizeof t->records);
    SQLFreeHandle(SQL_HANDLE_DBC, t->dbc);
    t->dbc = SQL_NULL_HDBC;
    return false;
}

/* A thread for each attempt; found again by its struct. */
enum { THREADS = 64 };
static struct {
    struct trouble_try *t;
    pthread_t thread;
} threads[THREADS]; /* main thread only */

static void *try_on_thread(void *arg)
{
    struct trouble_try *t = arg;

    trouble_try(t, t->string);
    return NULL;
}

void trouble_try_begin(struct trouble_try *t, const char *string)
{
    t->string = string;
    for (int i = 0; i < THREADS; i++) {
        if (!threads[i].t) {
            threads[i].t = t;
            pthread_create(&threads[i].thread, NULL, try_on_thread, t);
            return;
        }
    }
    abort();
}

bool trouble_try_end(struct trouble_try *t)
{
    for (int i = 0; i < THREADS; i++) {
        if (threads[i].t == t) {
            pthread_join(threads[i].thread, NULL);
            threads[i].t = NULL;
        }
    }
    return t->dbc != SQL_NULL_HDBC;
}

/* ---- pools --------------------------------------------------------------- */

/* Column `name` of the row that stmt stands on. */
static const char *column(SQLHSTMT stmt, const char *name, char *out,
                          size_t size)
{
    SQLSMALLINT count = 0, length;
    SQLCHAR title[64];
    SQLLEN got;

    out[0] = '\0';
    SQLNumResultCols(stmt, &count);
    for (SQLSMALLINT i = 1; i <= count; i++) {
        SQLDescribeCol(stmt, (SQLUSMALLINT)i, title, sizeof title, &length,
                       NULL, NULL, NULL, NULL);
        if (strcmp((char *)title, name) == 0) {
            SQLGetData(stmt, (SQLUSMALLINT)i, SQL_C_CHAR, out,
                       (SQLLEN)size, &got);
        }
    }
    return out;
}

static unsigned figure(SQLHSTMT stmt, const char *name)
{
    char text[40];

    return (unsigned)strtoul(column(stmt, name, text, sizeof text), NULL, 10);
}

bool trouble_pools(SQLHDBC on, const char *instance, bool mine,
                   struct trouble_pools *sum)
{
    char name[64], text[8];
    SQLHSTMT stmt;
    bool ok;

    memset(sum, 0, sizeof *sum);
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, on, &stmt))) {
        return false;
    }
    ok = SQL_SUCCEEDED(SQLExecDirect(
        stmt, (SQLCHAR *)"SHOW AFFINITY POOLS", SQL_NTS));
    while (ok && SQL_SUCCEEDED(SQLFetch(stmt))) {
        /* in the order of the columns, as SQLGetData may ask */
        column(stmt, "instance", name, sizeof name);
        column(stmt, "mine", text, sizeof text);
        if ((instance && strcmp(name, instance) != 0) ||
            (mine && strcmp(text, "yes") != 0)) {
            continue;
        }
        sum->idle += figure(stmt, "idle");
        sum->held += figure(stmt, "held");
        sum->learning += figure(stmt, "learning");
        sum->opening += figure(stmt, "opening");
        sum->reset += figure(stmt, "reset");
        sum->closing += figure(stmt, "closing");
        sum->opened += figure(stmt, "opened");
        sum->failed += figure(stmt, "failed");
        sum->left += figure(stmt, "left");
        sum->waiting += figure(stmt, "waiting");
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return ok;
}

const char *trouble_instance(SQLHDBC on, const char *instance,
                             const char *title, char *out, size_t size)
{
    char name[64];
    SQLHSTMT stmt;

    out[0] = '\0';
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, on, &stmt))) {
        return out;
    }
    if (SQL_SUCCEEDED(SQLExecDirect(
            stmt, (SQLCHAR *)"SHOW AFFINITY INSTANCES", SQL_NTS))) {
        while (SQL_SUCCEEDED(SQLFetch(stmt))) {
            if (!strcmp(column(stmt, "instance", name, sizeof name),
                        instance)) {
                column(stmt, title, out, size);
            }
        }
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return out;
}

bool trouble_complete(void *dbc)
{
    char text[40] = "";
    SQLHSTMT stmt;

    SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt);
    if (SQL_SUCCEEDED(SQLExecDirect(stmt, (SQLCHAR *)"SHOW AFFINITY",
                                    SQL_NTS)) &&
        SQL_SUCCEEDED(SQLFetch(stmt))) {
        column(stmt, "topology", text, sizeof text);
    }
    SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    return strcmp(text, "complete") == 0;
}

bool trouble_quiet(void *dbc)
{
    struct trouble_pools p;

    return trouble_pools(dbc, NULL, false, &p) && p.opening + p.learning +
        p.reset + p.closing + p.waiting == 0;
}

/* ---- a fleet ------------------------------------------------------------- */

bool trouble_warm(const char *fleet)
{
    static const char *const keys[] = { "500", "1500", "2500" };
    struct trouble_try t[3] = { 0 };
    char string[400];
    bool ok;

    /* the last PoolWait counts: whoever learns may take longer than others */
    snprintf(string, sizeof string,
             "%s;PoolWait=60000;AffinityMode=strict;AffinityKey=%s", fleet,
             keys[0]);
    trouble_anchor = odbc_open(trouble_env, string, false);
    ok = trouble_anchor &&
         trouble_await(trouble_complete, trouble_anchor, 10000);
    for (int i = 0; i < 3; i++) {
        snprintf(string, sizeof string,
                 "%s;AffinityMode=strict;AffinityKey=%s", fleet, keys[i]);
        ok = trouble_try(&t[i], string) && ok;
    }
    for (int i = 0; i < 3; i++) {
        odbc_close(t[i].dbc);
    }
    return ok && trouble_await(trouble_quiet, trouble_anchor, 10000);
}

void trouble_cool(void)
{
    odbc_close(trouble_anchor);
    trouble_anchor = SQL_NULL_HDBC;
}
