/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A good guest (promise 7): loading and unloading, many environments, and
 * every way to end a process; no word on stdout or stderr, no signal handler
 * changed, helper threads that take no signal and go when there is nothing to
 * do.
 *
 * What ends a process is tried in processes of their own: this program calls
 * itself with the name of a scene.  Such a child says on descriptor 3 that it
 * is ready and ends when descriptor 4 says so, while the parent does what the
 * scene needs; whatever it prints is somebody's fault.
 *
 * LONG: the scenes and what directs them are of no use without each other.
 */
#include "autoconf.h"

#include "odbc_tap.h"
#include "trouble.h"

#include <dirent.h>
#include <dlfcn.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRICT "DSN=orders;AffinityMode=strict"
#define ON_N2 STRICT ";AffinityKey=1500"

enum { ENVS = 10000, LOADS = 60, KEEPER_IDLE_MS = 5000,
       WATCH_QUIET_MS = 90000 };

/* ThreadSanitizer takes a second of its own, and its time for the rest. */
#ifdef __SANITIZE_THREAD__
enum { EXIT_MS = 8000 };
#else
enum { EXIT_MS = 3000 };
#endif

extern char **environ;

static const char *driver_path(void)
{
    static char path[700];

    snprintf(path, sizeof path, "%s/driver/.libs/libodbcaffinity.so",
             getenv("AFF_BUILDDIR"));
    return path;
}

/* ---- scenes: in the child ------------------------------------------------ */

static SQLHDBC session;

static bool connect_to(const char *string)
{
    trouble_env = odbc_env(SQL_OV_ODBC3);
    session = odbc_open(trouble_env, string, false);
    return session && odbc_run(session, "SELECT 1");
}

static bool idle_links(void)
{
    bool ok = connect_to(ON_N2);

    odbc_close(session);
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return ok;
}

static bool held_session(void)
{
    return connect_to(ON_N2) && odbc_run(session, "CREATE TEMP TABLE mine()");
}

static void *call_exit(void *unused)
{
    (void)unused;
    exit(0);
}

static bool open_transaction(void)
{
    bool ok = connect_to(ON_N2);

    SQLSetConnectAttr(session, SQL_ATTR_AUTOCOMMIT,
                      (SQLPOINTER)SQL_AUTOCOMMIT_OFF, SQL_IS_UINTEGER);
    return ok && odbc_run(session, "SELECT 1");
}

static char n2[] = "n2", n2_tcp[] = "n2-tcp";

static bool is_opening(void *name)
{
    struct trouble_pools p;

    return trouble_pools(session, name, true, &p) && p.opening > 0;
}

/* n2 hangs, and another thread waits for a link to it. */
static bool wait_for_n2(void)
{
    static struct trouble_try aside;
    bool ok = connect_to(STRICT ";AffinityKey=500");

    trouble_try_begin(&aside, ON_N2);
    return ok && trouble_await(is_opening, n2, 5000);
}

static pthread_rwlock_t gate =
    PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *churn(void *unused)
{
    for (;;) {
        struct trouble_try t = { 0 };

        pthread_rwlock_rdlock(&gate);
        if (trouble_try(&t, STRICT ";PoolMaxReuse=2;AffinityKey=1500")) {
            odbc_run(t.dbc, "SELECT 1");
        }
        odbc_close(t.dbc);
        pthread_rwlock_unlock(&gate);
    }
    return unused;
}

/* Helpers are resetting, closing and opening links; no thread of the
   application is in the manager. */
static bool busy_helpers(void)
{
    bool ok = connect_to(ON_N2);

    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, churn, NULL);
    }
    for (int i = 0; i < 50 && ok; i++) {
        ok = odbc_run(session, "SELECT pg_sleep(0.005)");
    }
    pthread_rwlock_wrlock(&gate);
    return ok;
}

/* Threads of the application go on connecting while another one exits. */
static bool busy_threads(void)
{
    bool ok = connect_to(ON_N2);

    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, churn, NULL);
    }
    for (int i = 0; i < 20 && ok; i++) {
        ok = odbc_run(session, "SELECT pg_sleep(0.005)");
    }
    return ok;
}

/* Runs after the driver's own exit handler, which was registered later. */
static void leave_late(void)
{
    odbc_run(session, "SELECT 1");
    odbc_close(session);
    session = odbc_open(trouble_env, ON_N2, false);
    odbc_close(session);
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
}

static bool late_leaver(void)
{
    return atexit(leave_late) == 0 && held_session();
}

/* Everything that can go wrong in connecting. */
static bool complaints(void)
{
    static const char *const strings[] = {
        "DSN=orders;AffinityMode=nonsense",
        "DSN=orders;AffinityKey={",
        "DSN=orders;AffinityKey=x1",
        "DSN=orders;AffinityKeyy=1",
        "DSN=orders;Instances=nowhere",
        "DSN=orders;AffinityTable=public.nothing;AffinityKey=1",
        "DSN=orders;AffinityTable=;AffinityMap=/nonexistent",
        "DSN=orders;AffinityTable=;AffinityMap=/etc/passwd",
        "DSN=orders;AffinityTable=;AffinityQuery=SELECT;AffinityKey=1",
        "DSN=orders-tcp;PWD=wrong;AffinityKey=1500",
        "DSN=orders;Database=nowhere",
        "DSN=orders;UID=nobody1",
        "DSN=no-such-dsn",
    };
    SQLCHAR text[40];
    SQLSMALLINT length;

    trouble_env = odbc_env(SQL_OV_ODBC3);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        odbc_close(odbc_open(trouble_env, strings[i], i % 2));
    }
    session = odbc_open(trouble_env, ON_N2, false);
    odbc_run(session, "nonsense");
    odbc_run(session, "SHOW AFFINITY NONSENSE");
    SQLGetInfo(session, 12345, text, sizeof text, &length);
    SQLSetConnectAttr(session, 54321, NULL, 0);
    return session != SQL_NULL_HDBC;
}

/* ---- OpenSSL's own end ---- */

static unsigned sockets(void)
{
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *fd;
    struct stat is;
    unsigned n = 0;

    while (fds && (fd = readdir(fds))) {
        n += fstat(atoi(fd->d_name), &is) == 0 && S_ISSOCK(is.st_mode);
    }
    if (fds) {
        closedir(fds);
    }
    return n;
}

/* OpenSSL calls it when it takes itself down. */
static void look_at_links(void)
{
    unsigned n = sockets();

    if (n > 0) {
        fprintf(stderr, "%u links are open when OpenSSL is gone\n", n);
    }
}

/* dlsym() finds it among what psqlODBC depends on. */
static bool hear_of_its_end(void)
{
    void *inner = dlopen("psqlodbcw.so", RTLD_LAZY | RTLD_NOLOAD);
    int (*at_its_end)(void (*handler)(void)) = NULL;

    if (inner) {
        *(void **)(void *)&at_its_end = dlsym(inner, "OPENSSL_atexit");
    }
    return at_its_end && at_its_end(look_at_links) == 1;
}

/* The first link, by a socket and without a password, needs no OpenSSL, the
   second does. */
static bool openssl_later(void)
{
    bool ok = connect_to(STRICT ";AffinityKey=500");

    odbc_close(session);
    ok = connect_to("DSN=orders-tcp;AffinityMode=strict;AffinityKey=1500") &&
         ok;
    odbc_close(session);
    return ok && hear_of_its_end() && sockets() > 0;
}

/* A helper is opening a link to n2, which hangs. */
static bool openssl_and_opening(void)
{
    static struct trouble_try aside;
    bool ok = connect_to("DSN=orders-tcp;AffinityMode=strict;AffinityKey=500");

    trouble_try_begin(&aside, "DSN=orders-tcp;AffinityMode=strict;"
                              "AffinityKey=1500");
    ok = ok && trouble_await(is_opening, n2_tcp, 5000) && hear_of_its_end();
    odbc_close(session);
    return ok;
}

/* Unloaded by the manager after each session, if it could be. */
static bool unloaded(void)
{
    bool ok = true;

    for (int i = 0; i < LOADS && ok; i++) {
        ok = connect_to(i % 3 ? ON_N2 : STRICT ";AffinityKey=500");
        odbc_close(session);
        SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    }
    return ok && dlopen(driver_path(), RTLD_LAZY | RTLD_NOLOAD);
}

struct direct {
    __typeof__(SQLAllocHandle) *alloc;
    __typeof__(SQLFreeHandle) *release;
    __typeof__(SQLSetEnvAttr) *set;
    __typeof__(SQLDriverConnect) *connect;
    __typeof__(SQLDisconnect) *disconnect;
};

static void *load(struct direct *d)
{
    void *so = dlopen(driver_path(), RTLD_LAZY | RTLD_LOCAL);

    if (so) {
        d->alloc = dlsym(so, "SQLAllocHandle");
        d->release = dlsym(so, "SQLFreeHandle");
        d->set = dlsym(so, "SQLSetEnvAttr");
        d->connect = dlsym(so, "SQLDriverConnect");
        d->disconnect = dlsym(so, "SQLDisconnect");
    }
    return so;
}

static bool connect_directly(const struct direct *d)
{
    SQLHENV env;
    SQLHDBC dbc;
    SQLSMALLINT length;
    SQLRETURN rc;

    d->alloc(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
    d->set(env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
    d->alloc(SQL_HANDLE_DBC, env, &dbc);
    rc = d->connect(dbc, NULL, (SQLCHAR *)ON_N2, SQL_NTS, NULL, 0, &length,
                    SQL_DRIVER_NOPROMPT);
    d->disconnect(dbc);
    d->release(SQL_HANDLE_DBC, dbc);
    d->release(SQL_HANDLE_ENV, env);
    return SQL_SUCCEEDED(rc);
}

/* Loaded and unloaded without the manager. */
static bool loaded_directly(void)
{
    struct direct d;
    bool ok = true;

    for (int i = 0; i < LOADS && ok; i++) {
        void *so = load(&d);

        ok = so && connect_directly(&d);
        ok = so && dlclose(so) == 0 && ok;
    }
    return ok;
}

static void pause_n2(void)
{
    trouble_make("pause", "n2");
}

static void crash_n2(void)
{
    trouble_make("crash", "n2");
}

static void resume_n2(void)
{
    trouble_make("resume", "n2");
}

static void revive_n2(void)
{
    trouble_make("revive", "n2");
}

static const struct scene {
    const char *name;
    bool (*play)(void);             /* child, before it is ready */
    void (*before)(void);           /* parent, before play */
    void (*during)(void);           /* parent, before the child ends */
    void (*after)(void);            /* parent */
    unsigned times;
} scenes[] = {
    { "exit with idle links", idle_links, NULL, NULL, NULL, 5 },
    { "exit with a held session", held_session, NULL, NULL, NULL, 5 },
    { "exit from a thread in a transaction", open_transaction, NULL, NULL,
      NULL, 5 },
    { "exit while helpers are busy", busy_helpers, NULL, NULL, NULL, 10 },
    { "exit while threads are connecting", busy_threads, NULL, NULL, NULL,
      10 },
    { "exit with a handler that disconnects, and connects", late_leaver, NULL,
      NULL, NULL, 5 },
    { "exit with idle links on a hung instance", idle_links, NULL, pause_n2,
      resume_n2, 1 },
    { "exit with a session on a hung instance", held_session, NULL, pause_n2,
      resume_n2, 1 },
    { "exit while a link is being opened on a hung instance", wait_for_n2,
      pause_n2, NULL, resume_n2, 1 },
    { "exit with idle links on a crashed instance", idle_links, NULL,
      crash_n2, revive_n2, 1 },
    { "exit with links that use OpenSSL behind one that does not",
      openssl_later, NULL, NULL, NULL, 1 },
    { "exit while a link that uses OpenSSL is being opened on a hung instance",
      openssl_and_opening, pause_n2, NULL, resume_n2, 3 },
    { "complaints", complaints, NULL, NULL, NULL, 1 },
    { "unloading by the manager, DontDLClose=0", unloaded, NULL, NULL, NULL,
      1 },
    { "loading and unloading without the manager", loaded_directly, NULL,
      NULL, NULL, 1 },
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static int play(const struct scene *scene)
{
    char byte;
    pthread_t thread;

    alarm(60);
    byte = scene->play() ? 'y' : 'n';
    if (write(3, &byte, 1) != 1 || read(4, &byte, 1) != 1) {
        return 1;
    }
    if (scene->play == open_transaction) {
        pthread_create(&thread, NULL, call_exit, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}

/* ---- scenes: in the parent ----------------------------------------------- */

static char ini[] = "/tmp/affinity-guest-XXXXXX";

/* A copy of the sandbox's odbcinst.ini with DontDLClose=0, for the scenes. */
static bool make_ini(void)
{
    char name[300], line[1000];
    FILE *from, *to;
    bool changed = false;

    if (!mkdtemp(ini)) {
        return false;
    }
    snprintf(name, sizeof name, "%s/odbcinst.ini", getenv("ODBCSYSINI"));
    from = fopen(name, "r");
    snprintf(name, sizeof name, "%s/odbcinst.ini", ini);
    to = fopen(name, "w");
    while (from && to && fgets(line, sizeof line, from)) {
        bool it = strncmp(line, "DontDLClose", 11) == 0;

        fputs(it ? "DontDLClose = 0\n" : line, to);
        changed |= it;
    }
    if (from) {
        fclose(from);
    }
    if (to) {
        fclose(to);
    }
    return changed;
}

/* As root, libodbcinst makes an empty odbc.ini there. */
static void drop_ini(void)
{
    static const char *const files[] = { "odbcinst.ini", "odbc.ini" };

    for (int i = 0; i < 2; i++) {
        char name[300];

        snprintf(name, sizeof name, "%s/%s", ini, files[i]);
        unlink(name);
    }
    rmdir(ini);
}

struct actor {
    pid_t pid;
    int ready, go; /* our ends */
    FILE *output;
};

/* In the scenes of unloading ODBCSYSINI is ours, where DontDLClose is 0. */
static bool start_actor(struct actor *actor, const struct scene *scene)
{
    char self[] = "/proc/self/exe";
    char *arguments[] = { self, (char *)scene->name, NULL };
    posix_spawn_file_actions_t actions;
    char *before = strdup(getenv("ODBCSYSINI"));
    int ready[2], go[2];
    bool ok;

    actor->output = tmpfile();
    if (!actor->output || pipe(ready) || pipe(go)) {
        abort();
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(actor->output), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(actor->output), 2);
    /* first out of the way of 3 and 4 */
    posix_spawn_file_actions_adddup2(&actions, ready[1], 23);
    posix_spawn_file_actions_adddup2(&actions, go[0], 24);
    posix_spawn_file_actions_adddup2(&actions, 23, 3);
    posix_spawn_file_actions_adddup2(&actions, 24, 4);
    for (int fd = 5; fd < 30; fd++) {
        posix_spawn_file_actions_addclose(&actions, fd);
    }
    setenv("ODBCSYSINI", ini, 1);
    ok = posix_spawn(&actor->pid, self, &actions, NULL, arguments,
                     environ) == 0;
    setenv("ODBCSYSINI", before, 1);
    free(before);
    posix_spawn_file_actions_destroy(&actions);
    close(ready[1]);
    close(go[0]);
    actor->ready = ready[0];
    actor->go = go[1];
    return ok;
}

/* Returns its exit status; *ms: how long it took to end. */
static int end_actor(struct actor *actor, double *ms)
{
    double begin = trouble_now();
    int status = -1;

    /* fails if it is gone already, which its status tells */
    (void)!write(actor->go, "x", 1);
    waitpid(actor->pid, &status, 0);
    *ms = trouble_now() - begin;
    close(actor->ready);
    close(actor->go);
    return status;
}

static bool printed(struct actor *actor, char *out, size_t size)
{
    size_t n;

    rewind(actor->output);
    n = fread(out, 1, size - 1, actor->output);
    out[n] = '\0';
    fclose(actor->output);
    return n > 0;
}

static void try_scene(const struct scene *scene)
{
    char name[200], text[400] = "";
    unsigned ended = 0, silent = 0;
    double ms = 0, slowest = 0, late;
    int status = 0;

    trouble_watch_begin();
    for (unsigned i = 0; i < scene->times; i++) {
        struct actor actor;
        char ready = '?';

        if (scene->before) {
            scene->before();
        }
        if (!start_actor(&actor, scene)) {
            break;
        }
        if (read(actor.ready, &ready, 1) != 1) {
            printf("# it ended too early\n");
        }
        if (scene->during) {
            scene->during();
        }
        status = end_actor(&actor, &ms);
        if (scene->after) {
            scene->after();
        }
        ended += status == 0 && ready == 'y';
        slowest = ms > slowest ? ms : slowest;
        silent += !printed(&actor, text, sizeof text);
    }
    late = trouble_watch_end();
    snprintf(name, sizeof name, "%s: it ends well", scene->name);
    tap_ok(ended == scene->times, name, "%u of %u; status %x", ended,
           scene->times, (unsigned)status);
    snprintf(name, sizeof name, "%s: within %d s", scene->name,
             EXIT_MS / 1000);
    tap_ok(slowest < EXIT_MS + late, name, "%.0f ms", slowest);
    snprintf(name, sizeof name, "%s: not a word", scene->name);
    tap_ok(silent == scene->times, name, "%s", text);
    printf("# %.0f ms\n", slowest);
}

/* ---- in this process ----------------------------------------------------- */

static struct sigaction handlers[2][65];

static void note_handlers(int which)
{
    for (int i = 1; i <= 64; i++) {
        sigaction(i, NULL, &handlers[which][i]);
    }
}

static int changed_handler(void)
{
    for (int i = 1; i <= 64; i++) {
        if (handlers[0][i].sa_handler != handlers[1][i].sa_handler ||
            handlers[0][i].sa_flags != handlers[1][i].sa_flags) {
            return i;
        }
    }
    return 0;
}

/* Threads besides this one; *open: how many of them would take a signal. */
static unsigned helpers(unsigned *open)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    unsigned n = 0;

    *open = 0;
    while (tasks && (task = readdir(tasks))) {
        unsigned long long blocked = 0;
        char name[600], line[200];
        FILE *status;
        bool seen = false;

        if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) {
            continue;
        }
        snprintf(name, sizeof name, "/proc/self/task/%s/status",
                 task->d_name);
        status = fopen(name, "r");
        while (status && fgets(line, sizeof line, status)) {
            seen |= sscanf(line, "SigBlk: %llx", &blocked) == 1;
        }
        if (status) {
            fclose(status);
        }
        /* 9 and 19 cannot be blocked, 32 and 33 are the C library's own */
        blocked |= 1ULL << 8 | 1ULL << 18 | 3ULL << 31;
        n += seen;
        *open += seen && blocked != ~0ULL;
    }
    if (tasks) {
        closedir(tasks);
    }
    return n;
}

/* others: threads that were there before, as ThreadSanitizer's own is once a
   thread was made. */
static bool alone(void *others)
{
    unsigned open;

    return helpers(&open) == *(unsigned *)others;
}

static void try_manners(void)
{
    char before[200], after[200], name[100];
    unsigned n, open, others;
    bool gone;

    connect_to("DSN=n1"); /* the inner driver sets LC_CTYPE when it is loaded */
    odbc_close(session);
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    note_handlers(0);
    trouble_watch_begin();
    trouble_watch_end();
    others = helpers(&open);
    connect_to(ON_N2); /* an idle link has 10 minutes */
    n = helpers(&open) - others;
    tap_ok(n > 0 && open == 0, "helper threads block all signals",
           "%u of %u do not", open, n);
    odbc_close(session);
    note_handlers(1);
    snprintf(name, sizeof name, "signal %d", changed_handler());
    tap_ok(changed_handler() == 0, "no signal handler has changed", "%s",
           name);
    snprintf(after, sizeof after, "%s", setlocale(LC_ALL, NULL));
    tap_is("nor has the locale", after, before);
    gone = trouble_await(alone, &others, WATCH_QUIET_MS + KEEPER_IDLE_MS + 30000);
    tap_ok(gone, "helper threads go when there is nothing to do",
           "%u are left", helpers(&open) - others);
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
}

/* What `turn`, called again and again, leaves on the heap. */
static long growth(bool (*turn)(void), bool *ok)
{
    size_t before = 0;

    *ok = true;
    for (int i = 0; i < ENVS && *ok; i++) {
        if (i == ENVS / 2) {
            before = mallinfo2().uordblks;
        }
        *ok = turn();
    }
    return (long)mallinfo2().uordblks - (long)before;
}

static bool env_of_manager(void)
{
    bool ok;

    trouble_env = odbc_env(SQL_OV_ODBC3);
    session = odbc_open(trouble_env, ON_N2, false);
    ok = session != SQL_NULL_HDBC;
    odbc_close(session);
    SQLFreeHandle(SQL_HANDLE_ENV, trouble_env);
    return ok;
}

static struct direct direct;

static bool env_of_driver(void)
{
    SQLHENV env;

    return direct.alloc(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env) ==
               SQL_SUCCESS &&
           direct.release(SQL_HANDLE_ENV, env) == SQL_SUCCESS;
}

static void try_environments(void)
{
    long grown;
    bool ok;

    grown = growth(env_of_manager, &ok);
    for (int i = 0; i < 2 && ok && grown >= 16384; i++) {
        long again = growth(env_of_manager, &ok); /* see storm-test.c */

        printf("# %ld bytes, then %ld\n", grown, again);
        grown = again < grown ? again : grown;
    }
    tap_ok(ok, "10000 environments with a session each", "%s", odbc_error());
    tap_ok(grown < 16384, "leave nothing on the heap", "%ld bytes", grown);
    load(&direct);
    grown = growth(env_of_driver, &ok);
    tap_ok(ok && grown < 1024,
           "nor do 10000 environments of the driver alone", "%ld bytes",
           grown);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < SCENES && argc == 2; i++) {
        if (strcmp(argv[1], scenes[i].name) == 0) {
            return play(&scenes[i]);
        }
    }
    if (!make_ini()) {
        tap_ok(false, "ini files with DontDLClose=0", "%s", ini);
        return tap_end();
    }
    signal(SIGPIPE, SIG_IGN); /* a child may be gone before it is told to */
    try_manners();
    try_environments();
    for (int i = 0; i < SCENES; i++) {
        try_scene(&scenes[i]);
    }
    drop_ini();
    return tap_end();
}
