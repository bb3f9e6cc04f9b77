/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Files on a disk that does not answer, as one that is gone behind a network:
 * the map file, the log and the metrics file, one after another and then all
 * of them.  Probing goes on, sessions connect, one helper thread waits for each
 * file and no more, it is told of once, and the process ends.
 *
 * This program's own stat(), lstat(), open() and unlink() go before the C library's,
 * for the driver as well, and hang for as long as the test wants.  Tried on the
 * built driver over the fake inner driver.
 */
#include "autoconf.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake/fake_use.h"

enum { PATIENCE_MS = 60000, LATE_MS = 6000, END_SECONDS = 60 };

static struct inner_calls odbc;
static const struct fake_api *fake;
static SQLHENV env;
static char folder[] = "/tmp/affinity-disk-XXXXXX";
static char map[100], log_path[100], metrics[100];

/* ---- the disk ------------------------------------------------------------ */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const char *gone; /* paths that begin so do not answer; NULL: none */
    unsigned hanging, most; /* threads */
} disk = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0, 0 };

static bool is_gone(const char *path)
{
    return disk.gone && strncmp(path, disk.gone, strlen(disk.gone)) == 0;
}

static void reach(const char *path)
{
    pthread_mutex_lock(&disk.mutex);
    while (is_gone(path)) {
        disk.hanging++;
        disk.most = disk.hanging > disk.most ? disk.hanging : disk.most;
        pthread_cond_broadcast(&disk.changed);
        pthread_cond_wait(&disk.changed, &disk.mutex);
        disk.hanging--;
    }
    pthread_mutex_unlock(&disk.mutex);
}

static void lose(const char *gone)
{
    pthread_mutex_lock(&disk.mutex);
    disk.gone = gone;
    disk.most = 0;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.mutex);
}

/* Until so many threads hang. */
static void await_hanging(unsigned count)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_MS / 1000;
    pthread_mutex_lock(&disk.mutex);
    while (disk.hanging < count &&
           pthread_cond_timedwait(&disk.changed, &disk.mutex, &until) == 0) {
    }
    assert_int_equal(disk.hanging, count);
    pthread_mutex_unlock(&disk.mutex);
}

static unsigned most_hanging(void)
{
    unsigned most;

    pthread_mutex_lock(&disk.mutex);
    most = disk.most;
    pthread_mutex_unlock(&disk.mutex);
    return most;
}

__attribute__((visibility("default"))) int stat(const char *path,
                                                struct stat *about)
{
    reach(path);
    return fstatat(AT_FDCWD, path, about, 0);
}

__attribute__((visibility("default"))) int lstat(const char *path,
                                                 struct stat *about)
{
    reach(path);
    return fstatat(AT_FDCWD, path, about, AT_SYMLINK_NOFOLLOW);
}

__attribute__((visibility("default"))) int open(const char *path, int flags,
                                                ...)
{
    mode_t mode = 0;

    if (flags & O_CREAT) {
        va_list rest;

        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    reach(path);
    return openat(AT_FDCWD, path, flags, mode);
}

__attribute__((visibility("default"))) int unlink(const char *path)
{
    reach(path);
    return unlinkat(AT_FDCWD, path, 0);
}

/* ---- what is seen -------------------------------------------------------- */

static void pause_ms(long ms)
{
    struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&time, NULL);
}

/* How often one of these texts stands in the log. */
static unsigned logged(const char *text)
{
    int fd = openat(AT_FDCWD, log_path, O_RDONLY | O_CLOEXEC);
    static char all[200000];
    ssize_t n = fd < 0 ? 0 : read(fd, all, sizeof all - 1);
    unsigned found = 0;

    if (fd >= 0) {
        close(fd);
    }
    all[n > 0 ? n : 0] = '\0';
    for (const char *p = all; (p = strstr(p, text)); p++) {
        found++;
    }
    return found;
}

static void await_logged(const char *text, unsigned times)
{
    for (int i = 0; i < PATIENCE_MS / 20 && logged(text) < times; i++) {
        pause_ms(20);
    }
    assert_int_equal(logged(text), times);
}

/* Until so many more calls have reached the inner driver. */
static void await_probes(unsigned more)
{
    unsigned from = fake->calls();

    for (int i = 0; i < PATIENCE_MS / 20 && fake->calls() < from + more; i++) {
        pause_ms(20);
    }
    assert_true(fake->calls() >= from + more);
}

/* In one piece: nobody reads half of it, and once more then. */
static void write_map(const char *weight)
{
    char fresh[sizeof map + 4];
    int fd;

    snprintf(fresh, sizeof fresh, "%s.new", map);
    fd = openat(AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "[f1]\nweight = %s\n", weight) > 0);
    close(fd);
    assert_int_equal(renameat(AT_FDCWD, fresh, AT_FDCWD, map), 0);
}

static SQLHDBC connect_once(void)
{
    SQLHDBC dbc = NULL;
    char string[500];

    snprintf(string, sizeof string,
             "DSN=wrapped2;CheckInterval=50;AffinityMap=%s;Log=%s;"
             "LogLevel=info;Metrics=%s", map, log_path, metrics);
    odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    assert_true(SQL_SUCCEEDED(odbc.SQLDriverConnect(
        dbc, NULL, (SQLCHAR *)string, SQL_NTS, NULL, 0, NULL,
        SQL_DRIVER_NOPROMPT)));
    return dbc;
}

static void close_it(SQLHDBC dbc)
{
    odbc.SQLDisconnect(dbc);
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

/* ---- the tests ----------------------------------------------------------- */

enum { SOME = 40 };

static void the_map_file(void **state)
{
    unsigned read = logged("has been read again");

    (void)state;
    lose(map);
    await_hanging(1);
    await_probes(SOME);
    close_it(connect_once());
    await_logged("the map file has not answered", 1);
    await_probes(SOME);
    assert_int_equal(most_hanging(), 1);
    write_map("3");
    lose(NULL);
    await_logged("has been read again", read + 1);
    assert_int_equal(logged("has not answered"), 1);
}

static void the_log(void **state)
{
    unsigned read = logged("has been read again");

    (void)state;
    lose(log_path);
    write_map("4"); /* which is to be told */
    await_hanging(1);
    await_probes(SOME);
    close_it(connect_once());
    pause_ms(LATE_MS); /* in which it becomes too late */
    await_probes(SOME);
    assert_int_equal(most_hanging(), 1);
    lose(NULL);
    await_logged("has been read again", read + 1);
    await_logged("the log has not answered", 1);
}

static void the_metrics_file(void **state)
{
    (void)state;
    lose(metrics);
    await_hanging(1);
    await_probes(SOME);
    close_it(connect_once());
    await_logged("the metrics file has not answered", 1);
    await_probes(SOME);
    assert_int_equal(most_hanging(), 1);
    lose(NULL);
}

/* Then the process ends. */
static void all_of_them(void **state)
{
    (void)state;
    lose(folder);
    await_hanging(2); /* nothing happens that would be logged */
    await_probes(SOME);
    close_it(connect_once());
}

static pid_t other;

static void another_process_ended(void **state)
{
    int status = -1;

    (void)state;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
}

/* What a helper may be about to write, too. */
static void remove_files(void)
{
    char fresh[140];

    snprintf(fresh, sizeof fresh, "%s.%ld.tmp", metrics, (long)getpid());
    unlinkat(AT_FDCWD, fresh, 0);
    unlinkat(AT_FDCWD, metrics, 0);
    unlinkat(AT_FDCWD, log_path, 0);
    unlinkat(AT_FDCWD, map, 0);
    rmdir(folder);
}

static void begin(void)
{
    if (!mkdtemp(folder)) {
        exit(99);
    }
    snprintf(map, sizeof map, "%s/map", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(metrics, sizeof metrics, "%s/metrics", folder);
    write_map("2");
    use_ini_files();
    use_driver(USE_WIDE, &odbc);
    fake = use_fake(USE_FAKE);
    env = use_environment(&odbc, SQL_OV_ODBC3);
}

/* Another process, whose disk is gone when it ends and not before: the metrics
   file would be removed, and was written. */
static pid_t lose_it_at_exit(void)
{
    pid_t child = fork();

    if (child == 0) {
        atexit(remove_files); /* it runs behind the driver's own handler */
        begin();
        close_it(connect_once());
        while (faccessat(AT_FDCWD, metrics, F_OK, 0) != 0) {
            pause_ms(20);
        }
        use_no_ini_files();
        lose(folder);
        alarm(END_SECONDS);
        exit(0);
    }
    return child;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_file),
        cmocka_unit_test(the_log),
        cmocka_unit_test(the_metrics_file),
        cmocka_unit_test(all_of_them),
        cmocka_unit_test(another_process_ended),
    };
    SQLHDBC held;
    int failed;

    other = lose_it_at_exit();
    begin();
    held = connect_once();
    failed = cmocka_run_group_tests_name("entry_disk", tests, NULL, NULL);
    close_it(held);
    use_no_ini_files();
    remove_files();
    alarm(END_SECONDS);
    return failed + (fake->mistakes() != 0);
}
