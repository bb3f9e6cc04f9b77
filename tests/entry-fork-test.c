/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A forked child's memory holds none of its parent's passwords, neither those
 * of pools nor one that a helper is just connecting with, and the parent goes
 * on with them.  Tried on the built driver over the fake inner driver, which
 * keeps no password where a child finds it; a real one may.
 *
 * The passwords of this test stand nowhere in its own memory but in disguise,
 * so that whatever is found is the driver's.
 */
#include "autoconf.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake/fake_use.h"

enum { DISGUISE = 0x55, LENGTH = 16, STRING_ROOM = 400, CHILD_SECONDS = 60 };

static struct inner_calls odbc;
static const struct fake_api *fake;
static SQLHENV env;
static char control[] = "/tmp/affinity-control-XXXXXX";

static const char *const words[] = {
    "pools-password-1", "monitors-passwd1", "hanging-password",
};
enum { OF_POOL, OF_MONITOR, OF_HANGING, WORDS };

static char disguised[WORDS][LENGTH];

/* The words above are the program's text, which is not searched: only what can
   be written is. */
static void disguise(void)
{
    for (int w = 0; w < WORDS; w++) {
        for (int k = 0; k < LENGTH; k++) {
            disguised[w][k] = (char)(words[w][k] ^ DISGUISE);
        }
    }
}

/* ---- looking through memory ---------------------------------------------- */

/* Bytes that are looked at one by one are no business of a sanitizer's, which
   would take minutes. */
#define NO_SANITIZER __attribute__((no_sanitize("address", "thread")))

/* apart: 1 or, where a zero stands behind each character, 2. */
NO_SANITIZER static bool is_word(const char *at, int word, int apart)
{
    for (int k = 0; k < LENGTH; k++) {
        if (at[k * apart] != (char)(disguised[word][k] ^ DISGUISE) ||
            (apart == 2 && at[k * apart + 1] != 0)) {
            return false;
        }
    }
    return true;
}

static unsigned count_in(const char *bytes, size_t count, int word, int apart)
{
    const size_t length = (size_t)(LENGTH * apart);
    const char *at = bytes, *end = bytes + count;
    unsigned found = 0;

    while ((size_t)(end - at) >= length &&
           (at = memchr(at, disguised[word][0] ^ DISGUISE,
                        (size_t)(end - at) - length + 1))) {
        found += is_word(at, word, apart);
        at++;
    }
    return found;
}

/* Read by pread(), since sanitizers forbid some of it; `room` is the test's
   own and holds what was looked at before. */
static unsigned count_region(int memory, uintptr_t from, uintptr_t to, int word)
{
    enum { STEP = 1 << 20, OVER = 2 * LENGTH };
    static char room[STEP + OVER];
    unsigned found = 0;

    if (to - from > (uintptr_t)256 * STEP ||
        (from <= (uintptr_t)room && (uintptr_t)room < to)) {
        return 0; /* a sanitizer's shadow; static memory, where nothing is */
    }
    for (; from < to; from += STEP) {
        ssize_t n = pread(memory, room,
                          to - from < sizeof room ? to - from : sizeof room,
                          (off_t)from);

        if (n > 0) {
            found += count_in(room, (size_t)n, word, 1) +
                     count_in(room, (size_t)n, word, 2);
        }
        explicit_bzero(room, sizeof room);
    }
    return found;
}

/* How often the word stands in what this process can write, or could. */
static unsigned count_all(int word)
{
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long from, to;
    unsigned found = 0;
    char line[600], mode[8], file[300];

    if (memory < 0 || !maps) {
        abort();
    }
    while (fgets(line, sizeof line, maps)) {
        int n = sscanf(line, "%lx-%lx %7s %*s %*s %*s %299s", &from, &to, mode,
                       file);

        if (n >= 3 && mode[0] == 'r' &&
            (n == 3 || strcmp(file, "[stack]") == 0 ||
             strcmp(file, "[heap]") == 0)) {
            found += count_region(memory, from, to, word);
        }
    }
    fclose(maps);
    close(memory);
    return found;
}

/* ---- connecting ---------------------------------------------------------- */

static void say_word(char *string, size_t size, const char *keyword, int word)
{
    size_t at = strlen(string);

    at += (size_t)snprintf(string + at, size - at, ";%s=", keyword);
    for (int k = 0; k < LENGTH && at + 1 < size; k++) {
        string[at++] = (char)(disguised[word][k] ^ DISGUISE);
    }
    string[at] = '\0';
}

static SQLRETURN connect_as(SQLHDBC dbc, char *string, bool wide)
{
    SQLWCHAR text[STRING_ROOM];
    SQLRETURN rc;

    if (!wide) {
        return odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS,
                                     NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
    }
    for (size_t i = 0; i <= strlen(string); i++) {
        text[i] = (unsigned char)string[i];
    }
    rc = odbc.SQLDriverConnectW(dbc, NULL, text, SQL_NTS, NULL, 0, NULL,
                                SQL_DRIVER_NOPROMPT);
    explicit_bzero(text, sizeof text);
    return rc;
}

/* seconds: it waits no longer; 0 = as long as it takes. */
static SQLHDBC connect_with(const char *begin, int word, bool wide,
                            uintptr_t seconds)
{
    char string[STRING_ROOM];
    SQLHDBC dbc = NULL;
    SQLRETURN rc;

    snprintf(string, sizeof string, "%s", begin);
    say_word(string, sizeof string, "PWD", word);
    say_word(string, sizeof string, "MonitorPWD", OF_MONITOR);
    odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    odbc.SQLSetConnectAttr(dbc, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)seconds,
                           0);
    rc = connect_as(dbc, string, wide);
    explicit_bzero(string, sizeof string);
    if (SQL_SUCCEEDED(rc)) {
        return dbc;
    }
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    return NULL;
}

static void close_it(SQLHDBC dbc)
{
    odbc.SQLDisconnect(dbc);
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc);
}

#define POOL "DSN=wrapped;UID=me;MonitorUID=watcher;CheckInterval=0"

/* ---- children ------------------------------------------------------------ */

/* Bit w: word w was found. */
static int search_all(void)
{
    int found = 0;

    for (int w = 0; w < WORDS; w++) {
        found |= count_all(w) ? 1 << w : 0;
    }
    return found;
}

static int connect_and_search(void)
{
    int before = search_all();
    SQLHDBC dbc = connect_with(POOL, OF_POOL, false, 0);

    if (!dbc || !(search_all() & 1 << OF_POOL)) {
        return 100;
    }
    close_it(dbc);
    return before;
}

static int in_child(int (*act)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(act());
    }
    waitpid(child, &status, 0);
    return status;
}

static void a_child_has_no_password_of_its_parent_s(void **state)
{
    SQLHDBC one = connect_with(POOL, OF_POOL, false, 0), two;

    (void)state;
    assert_non_null(one);
    assert_int_not_equal(count_all(OF_POOL), 0);
    assert_int_not_equal(count_all(OF_MONITOR), 0);
    assert_int_equal(in_child(search_all), 0);
    assert_int_equal(in_child(connect_and_search), 0);

    /* a second link needs the password again */
    two = connect_with(POOL, OF_POOL, false, 0);
    assert_non_null(two);
    close_it(one);
    close_it(two);
}

/* ---- a helper inside the inner driver ------------------------------------ */

/* Whoever wanted the link has walked away, and with him all that he knew. */
static void try_hanging(bool wide)
{
    char begin[200];
    SQLHDBC dbc;

    snprintf(begin, sizeof begin, POOL ";FakeControl=%s", control);
    use_control(control, "FakeHang=1\n");
    assert_null(connect_with(begin, OF_HANGING, wide, 1));
    assert_true(fake->await_hanging(1));
    assert_int_not_equal(count_all(OF_HANGING), 0);
    assert_int_equal(in_child(search_all), 0);
    use_control(control, "");
    dbc = connect_with(begin, OF_HANGING, wide, 0);
    assert_non_null(dbc);
    close_it(dbc);
}

static void nor_one_that_a_helper_connects_with(void **state)
{
    (void)state;
    try_hanging(false);
    try_hanging(true);
}

/* What the dynamic loader looks up late it looks up with whatever stands in the
   processor's registers saved on the stack, where passwords may be seen that
   have been wiped everywhere else.  The driver is linked so that nothing of
   it is looked up late; so is not this program if it starts so. */
static void look_up_early(char **argv)
{
    if (!getenv("LD_BIND_NOW")) {
        setenv("LD_BIND_NOW", "1", 1);
        execv("/proc/self/exe", argv);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_no_password_of_its_parent_s),
        cmocka_unit_test(nor_one_that_a_helper_connects_with),
    };
    int failed, file;

    (void)argc;
    look_up_early(argv);
    file = mkstemp(control);
    if (file < 0 || close(file)) {
        return 99;
    }
    disguise();
    use_ini_files();
    use_driver(USE_WIDE, &odbc);
    fake = use_fake(USE_FAKE);
    env = use_environment(&odbc, SQL_OV_ODBC3);
    failed = cmocka_run_group_tests_name("entry_fork", tests, NULL, NULL);
    odbc.SQLFreeHandle(SQL_HANDLE_ENV, env);
    unlink(control);
    use_no_ini_files();
    return failed + (fake->mistakes() != 0);
}
