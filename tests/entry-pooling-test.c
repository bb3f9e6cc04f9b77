/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The manager's pooling as it reaches the driver (entry_pooling.c), tried on
 * the built driver over the fake inner driver: what is taken for a hand-over
 * and what is not, what is left of the user before, and how a session that
 * was handed over comes by a link.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#include <cmocka.h>

#include "affinity_odbc.h"
#include "fake/fake_use.h"

static struct inner_calls odbc;
static const struct fake_api *fake;
static SQLHENV env;

/* Says what the inner driver does when connections come to be opened. */
static char control[] = "/tmp/affinity-control-XXXXXX";

#define ALLOW \
    "DSN=wrapped;ManagerPooling=allow;PoolMax=1;AffinityKey=of the string"

static SQLHDBC connected(const char *more)
{
    SQLHDBC dbc = NULL;
    char string[200];

    snprintf(string, sizeof string, "%s;FakeControl=%s", more, control);
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    assert_int_equal(odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)string,
                                           SQL_NTS, NULL, 0, NULL,
                                           SQL_DRIVER_NOPROMPT), 0);
    return dbc;
}

static void end(SQLHDBC dbc)
{
    assert_int_equal(odbc.SQLDisconnect(dbc), SQL_SUCCESS);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
}

static SQLHSTMT new_stmt(SQLHDBC dbc)
{
    SQLHSTMT stmt = NULL;

    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt), 0);
    return stmt;
}

static SQLRETURN run(SQLHSTMT stmt, const char *text)
{
    return odbc.SQLExecDirect(stmt, (SQLCHAR *)text, SQL_NTS);
}

/* The first record of a connection: "SQLSTATE text". */
static const char *said(SQLHDBC dbc)
{
    static char out[600];
    char state[6] = "", text[512] = "";

    odbc.SQLGetDiagRec(SQL_HANDLE_DBC, dbc, 1, (SQLCHAR *)state, NULL,
                       (SQLCHAR *)text, sizeof text, NULL);
    snprintf(out, sizeof out, "%s %s", state, text);
    return out;
}

static void assert_says(SQLHDBC dbc, const char *state)
{
    if (strncmp(said(dbc), state, 5) != 0) {
        fail_msg("%s instead of %s", said(dbc), state);
    }
}

static const char *attr(SQLHDBC dbc, SQLINTEGER attribute)
{
    static char out[2][200];
    static unsigned turn;
    char *text = out[turn++ % 2];
    SQLRETURN rc = odbc.SQLGetConnectAttr(dbc, attribute, text, sizeof out[0],
                                          NULL);

    if (rc != SQL_SUCCESS) {
        fail_msg("attribute %x: %d %s", (unsigned)attribute, rc, said(dbc));
    }
    return text;
}

/* Was it set on an inner connection since fake->forget()? */
static bool was_set(SQLINTEGER attribute)
{
    bool set = false;

    for (unsigned i = 0; i < fake->calls(); i++) {
        struct fake_call call;

        assert_true(fake->call(i, &call));
        set |= strncmp(call.name, "SQLSetConnectAttr", 17) == 0 &&
               call.args[1] == attribute;
    }
    return set;
}

/* What helper threads do with what was given back is soon done. */
static void await_live(SQLSMALLINT type, unsigned count)
{
    time_t end = time(NULL) + 30;
    struct timespec pause = { 0, 1000000 };

    while (fake->live(type) != count) {
        if (time(NULL) > end) {
            fail_msg("%u inner handles of type %d, not %u", fake->live(type),
                     type, count);
        }
        nanosleep(&pause, NULL);
    }
}

/* ---- refuse and allow -------------------------------------------------------- */

static void test_refuse(void **state)
{
    SQLHDBC dbc = connected("DSN=wrapped");
    SQLHSTMT stmt = new_stmt(dbc);

    (void)state;
    fake->forget();
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_TRUE);
    assert_int_equal(fake->calls(), 0);
    assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
    end(dbc);
}

static void test_allow(void **state)
{
    SQLHDBC dbc = NULL;
    SQLHSTMT stmt;
    SQLHDESC desc = NULL;

    (void)state;
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    odbc.SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_KEY,
                           (SQLPOINTER)(uintptr_t)"of an attribute",
                           SQL_NTS);
    odbc.SQLSetConnectAttr(dbc, SQL_ATTR_AFFINITY_MODE,
                           (SQLPOINTER)(uintptr_t)"strict", SQL_NTS);
    odbc.SQLSetConnectAttr(dbc, SQL_ATTR_ACCESS_MODE,
                           (SQLPOINTER)SQL_MODE_READ_ONLY, SQL_IS_UINTEGER);
    assert_int_equal(odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)ALLOW,
                                           SQL_NTS, NULL, 0, NULL, 0), 0);
    stmt = new_stmt(dbc);
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DESC, dbc, &desc), 0);
    assert_int_equal(run(stmt, "FAIL 42000"), SQL_ERROR);
    assert_string_equal(attr(dbc, SQL_ATTR_AFFINITY_KEY), "of an attribute");
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    /* nothing of the user before is left, inside or outside */
    assert_int_equal(run(stmt, "SELECT 1"), SQL_INVALID_HANDLE);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DESC, desc),
                     SQL_INVALID_HANDLE);
    assert_string_equal(said(dbc), " ");
    assert_string_equal(attr(dbc, SQL_ATTR_AFFINITY_KEY), "of the string");
    assert_string_equal(attr(dbc, SQL_ATTR_AFFINITY_MODE), "hint");
    await_live(SQL_HANDLE_STMT, 0);
    await_live(SQL_HANDLE_DESC, 0);
    await_live(SQL_HANDLE_DBC, 0);
    /* and again, with nothing done in between */
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    assert_int_equal(fake->live(SQL_HANDLE_DBC), 0);
    assert_int_equal(run(new_stmt(dbc), "SELECT 1"), SQL_SUCCESS);
    assert_non_null(strstr(attr(dbc, SQL_ATTR_AFFINITY_VERDICT),
                           "key of the string"));
    end(dbc);
}

/* What the inner driver warns of is told by connecting, and by no other call. */
static void test_warnings(void **state)
{
    SQLHDBC dbc = NULL;

    (void)state;
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    assert_int_equal(odbc.SQLDriverConnect(dbc, NULL,
                                           (SQLCHAR *)ALLOW ";FakeWarn=01000",
                                           SQL_NTS, NULL, 0, NULL, 0),
                     SQL_SUCCESS_WITH_INFO);
    assert_says(dbc, "01000");
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    assert_string_equal(said(dbc), " ");
    assert_int_equal(run(new_stmt(dbc), "SELECT 1"), SQL_SUCCESS);
    end(dbc);
}

/* An application's own questions are none of these. */
static void test_other_questions(void **state)
{
    SQLHDBC dbc = connected(ALLOW);
    SQLHSTMT stmt = new_stmt(dbc);
    SQLUINTEGER dead = 7;
    SQLINTEGER length = 0;

    (void)state;
    for (int i = 0; i < 6; i++) {
        static const SQLINTEGER sizes[] = { SQL_IS_INTEGER, 0, 4, SQL_NTS,
                                            SQL_IS_UINTEGER, SQL_IS_INTEGER };
        SQLRETURN rc;

        dead = 7;
        rc = i == 0 ? odbc.SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD,
                                             &dead, sizes[i], &length)
           : i < 5  ? odbc.SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD,
                                             &dead, sizes[i], NULL)
                    : odbc.SQLGetConnectAttrW(dbc, SQL_ATTR_CONNECTION_DEAD,
                                              &dead, sizes[i], NULL);
        assert_int_equal(rc, SQL_SUCCESS);
        assert_int_equal(dead, SQL_CD_FALSE);
        assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
    }
    end(dbc);
}

static void *run_hanging(void *stmt)
{
    return (void *)(intptr_t)run(stmt, "HANG");
}

/* Whoever executes something has not left. */
static void test_running(void **state)
{
    SQLHDBC dbc = connected(ALLOW);
    SQLHSTMT stmt = new_stmt(dbc);
    pthread_t thread;
    void *rc;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, run_hanging, stmt), 0);
    assert_true(fake->await_hanging(1));
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_TRUE);
    assert_int_equal(odbc.SQLSetConnectAttr(
                         dbc, SQL_ATTR_RESET_CONNECTION,
                         (SQLPOINTER)SQL_RESET_CONNECTION_YES, 0), SQL_ERROR);
    assert_says(dbc, "HY010");
    fake->release();
    assert_int_equal(pthread_join(thread, &rc), 0);
    assert_int_equal((intptr_t)rc, SQL_SUCCESS);
    assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
    end(dbc);
}

/* ---- the link that it takes again ---------------------------------------------- */

static void need_statement(SQLHDBC dbc)
{
    assert_int_equal(run(new_stmt(dbc), "SELECT 1"), SQL_SUCCESS);
}

enum { NEEDS = 8 };

/* One of the ways to need a link. */
static SQLRETURN need(SQLHDBC dbc, int way)
{
    SQLUSMALLINT one = SQL_TRUE;
    SQLUINTEGER number = 0;
    SQLHANDLE handle = NULL;
    SQLCHAR text[50] = "";
    SQLRETURN rc;

    switch (way) {
    case 0:
        return odbc.SQLGetInfo(dbc, SQL_DRIVER_NAME, text, sizeof text, NULL);
    case 1:
        return odbc.SQLGetFunctions(dbc, SQL_API_SQLBULKOPERATIONS, &one) |
               one; /* the inner driver has none */
    case 2:
        return odbc.SQLGetConnectAttr(dbc, 30002, &number, 4, NULL);
    case 3:
        return odbc.SQLSetConnectAttr(dbc, 30002, (SQLPOINTER)5,
                                      SQL_IS_UINTEGER);
    case 4:
        return odbc.SQLNativeSql(dbc, (SQLCHAR *)"SELECT 1", SQL_NTS, text,
                                 sizeof text, NULL);
    case 5:
        return odbc.SQLAllocHandle(SQL_HANDLE_DESC, dbc, &handle);
    case 6:
        return odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &handle);
    default:
        rc = odbc.SQLGetConnectAttr(dbc, SQL_ATTR_AFFINITY_INSTANCE, text,
                                    sizeof text, NULL);
        assert_string_equal((char *)text, rc == SQL_SUCCESS ? "f1" : "");
        return rc;
    }
}

static void need_nothing(SQLHDBC dbc)
{
    SQLUINTEGER dead = 7;
    SQLINTEGER length = 0;

    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT), 0);
    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_ENV, env, SQL_ROLLBACK), 0);
    assert_int_equal(odbc.SQLCancelHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    assert_int_equal(odbc.SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD,
                                            &dead, 0, &length), SQL_SUCCESS);
    assert_int_equal(dead, SQL_CD_FALSE);
    assert_int_equal(length, sizeof dead);
}

static void test_needs(void **state)
{
    (void)state;
    for (int i = 0; i < NEEDS; i++) {
        SQLHDBC dbc = connected(ALLOW);

        need_statement(dbc);
        assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
        await_live(SQL_HANDLE_DBC, 0);
        need_nothing(dbc);
        assert_int_equal(fake->live(SQL_HANDLE_DBC), 0);
        assert_int_equal(need(dbc, i), SQL_SUCCESS);
        assert_int_equal(fake->live(SQL_HANDLE_DBC), 1);
        need_statement(dbc);
        assert_int_equal(fake->live(SQL_HANDLE_DBC), 1);
        end(dbc);
        await_live(SQL_HANDLE_DBC, 0);
    }
}

static SQLRETURN set_text(SQLHDBC dbc, SQLINTEGER attribute, const char *text)
{
    return odbc.SQLSetConnectAttr(dbc, attribute, (SQLPOINTER)(uintptr_t)text,
                                  SQL_NTS);
}

/* What the manager does not pass on can be said before the link is needed, and
   is gone with the user who said it. */
static void test_choices(void **state)
{
    SQLHDBC dbc = connected(ALLOW);
    const char *verdict;

    (void)state;
    assert_int_equal(set_text(dbc, SQL_ATTR_AFFINITY_KEY, "late"), SQL_ERROR);
    assert_says(dbc, "HYC00");
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    assert_int_equal(set_text(dbc, SQL_ATTR_AFFINITY_KEY, "chosen"), 0);
    assert_int_equal(set_text(dbc, SQL_ATTR_AFFINITY_MODE, "strict"), 0);
    assert_int_equal(odbc.SQLSetConnectAttr(
                         dbc, SQL_ATTR_ACCESS_MODE,
                         (SQLPOINTER)SQL_MODE_READ_ONLY, SQL_IS_UINTEGER), 0);
    /* a wrong one changes nothing */
    assert_int_equal(set_text(dbc, SQL_ATTR_AFFINITY_KEY, "\"open"),
                     SQL_ERROR);
    assert_says(dbc, "HY024");
    assert_int_equal(set_text(dbc, SQL_ATTR_AFFINITY_MODE, "maybe"),
                     SQL_ERROR);
    assert_says(dbc, "HY024");
    assert_string_equal(attr(dbc, SQL_ATTR_AFFINITY_KEY), "chosen");
    fake->forget();
    verdict = attr(dbc, SQL_ATTR_AFFINITY_VERDICT);
    assert_non_null(strstr(verdict, "key chosen"));
    assert_true(was_set(SQL_ATTR_ACCESS_MODE));
    assert_int_equal(set_text(dbc, SQL_ATTR_AFFINITY_KEY, "late"), SQL_ERROR);
    assert_says(dbc, "HYC00");
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    assert_string_equal(attr(dbc, SQL_ATTR_AFFINITY_KEY), "of the string");
    assert_string_equal(attr(dbc, SQL_ATTR_AFFINITY_MODE), "hint");
    fake->forget();
    need_statement(dbc);
    assert_false(was_set(SQL_ATTR_ACCESS_MODE));
    end(dbc);
}

/* The error comes out where the link was needed, and the next call tries
   again. */
static void test_cannot_be_placed(void **state)
{
    SQLHDBC dbc = connected(ALLOW);

    (void)state;
    need_statement(dbc);
    use_control(control, "FakeFail=08006\n");
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    for (int i = 0; i < NEEDS; i++) {
        assert_int_equal(need(dbc, i), SQL_ERROR);
        assert_says(dbc, "08001");
        assert_non_null(strstr(said(dbc), "[odbc-affinity][wrapped] "));
    }
    need_nothing(dbc);
    use_control(control, "");
    need_statement(dbc);
    end(dbc);
}

/* It died while it was pooled, or before: the next user gets another. */
static void test_died(void **state)
{
    SQLHDBC dbc = connected(ALLOW);

    (void)state;
    assert_int_equal(run(new_stmt(dbc), "DIE"), SQL_ERROR);
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    need_statement(dbc);
    end(dbc);
}

static void *allocate(void *dbc)
{
    SQLHSTMT stmt = NULL;

    return odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt) == SQL_SUCCESS &&
                   run(stmt, "SELECT 1") == SQL_SUCCESS ? NULL : dbc;
}

/* One link, and several threads that need it while it is being opened. */
static void test_threads(void **state)
{
    enum { THREADS = 4 };
    SQLHDBC dbc = connected(ALLOW);
    pthread_t threads[THREADS];

    (void)state;
    need_statement(dbc);
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    await_live(SQL_HANDLE_DBC, 0);
    use_control(control, "FakeHang=1\n");
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, allocate, dbc), 0);
    }
    assert_true(fake->await_hanging(1));
    use_control(control, "");
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(fake->live(SQL_HANDLE_DBC), 1);
    end(dbc);
}

/* The manager waits for the answer with all its pools locked. */
static void test_waits_for_nothing(void **state)
{
    SQLHDBC dbc = connected(ALLOW);

    (void)state;
    need_statement(dbc);
    use_control(control, "FakeHang=1\n");
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    assert_int_equal(use_probe(&odbc, dbc), SQL_CD_FALSE);
    assert_int_equal(odbc.SQLDisconnect(dbc), SQL_SUCCESS);
    use_control(control, "");
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
}

/* ---- the reset ------------------------------------------------------------------ */

static SQLRETURN reset(SQLHDBC dbc, uintptr_t value)
{
    return odbc.SQLSetConnectAttr(dbc, SQL_ATTR_RESET_CONNECTION,
                                  (SQLPOINTER)value, 0);
}

static void test_reset(void **state)
{
    static const char *const strings[] = { "DSN=wrapped", ALLOW };

    (void)state;
    for (int i = 0; i < 2; i++) {
        SQLHDBC dbc = connected(strings[i]);
        SQLHSTMT stmt = new_stmt(dbc);

        assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
        assert_int_equal(reset(dbc, 2), SQL_ERROR);
        assert_says(dbc, "HY024");
        assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
        assert_int_equal(reset(dbc, SQL_RESET_CONNECTION_YES), SQL_SUCCESS);
        assert_int_equal(run(stmt, "SELECT 1"), SQL_INVALID_HANDLE);
        await_live(SQL_HANDLE_DBC, 0); /* it holds no link in the pool */
        assert_int_equal(use_probe(&odbc, dbc), i == 0 ? SQL_CD_TRUE : SQL_CD_FALSE);
        need_statement(dbc);
        end(dbc);
        await_live(SQL_HANDLE_DBC, 0);
    }
}

/* Before a connect there is nothing to reset, and nothing for later. */
static void test_reset_before(void **state)
{
    SQLHDBC dbc = NULL;

    (void)state;
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    assert_int_equal(reset(dbc, SQL_RESET_CONNECTION_YES), SQL_SUCCESS);
    fake->forget();
    assert_int_equal(odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)ALLOW,
                                           SQL_NTS, NULL, 0, NULL, 0), 0);
    assert_false(was_set(SQL_ATTR_RESET_CONNECTION));
    end(dbc);
}

/* ---- forks ---------------------------------------------------------------------- */

/* What the parent's manager had in its pool is not the child's to use. */
static void test_fork(void **state)
{
    SQLHDBC with = connected(ALLOW), without = connected(ALLOW ";PoolMax=2");
    int status = 0;
    pid_t pid;

    (void)state;
    need_statement(without);
    assert_int_equal(use_probe(&odbc, without), SQL_CD_FALSE);
    if (USE_NO_FORKS) {
        print_message("# ThreadSanitizer knows no threads after a fork\n");
        end(with);
        end(without);
        skip();
    }
    pid = fork();
    if (pid == 0) {
        SQLULEN dead[2] = { 0, 0 };

        alarm(60);
        fake->forget();
        odbc.SQLGetConnectAttr(with, SQL_ATTR_CONNECTION_DEAD, &dead[0],
                               SQL_IS_INTEGER, NULL);
        odbc.SQLGetConnectAttr(without, SQL_ATTR_CONNECTION_DEAD, &dead[1],
                               SQL_IS_INTEGER, NULL);
        _exit(dead[0] != SQL_CD_TRUE || dead[1] != SQL_CD_TRUE ? 1
              : odbc.SQLDisconnect(with) || odbc.SQLDisconnect(without) ? 2
              : fake->calls() != 0                                      ? 3
                                                                        : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    need_statement(with);
    need_statement(without);
    end(with);
    end(without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse),
        cmocka_unit_test(test_allow),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_other_questions),
        cmocka_unit_test(test_running),
        cmocka_unit_test(test_needs),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_cannot_be_placed),
        cmocka_unit_test(test_died),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_waits_for_nothing),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_reset_before),
        cmocka_unit_test(test_fork),
    };
    int failed, file = mkstemp(control);

    if (file < 0 || close(file)) {
        return 99;
    }
    use_ini_files();
    use_driver(USE_WIDE, &odbc);
    fake = use_fake(USE_FAKE);
    env = use_environment(&odbc, SQL_OV_ODBC3_80);
    failed = cmocka_run_group_tests_name("entry_pooling", tests, NULL, NULL);
    odbc.SQLFreeHandle(SQL_HANDLE_ENV, env);
    unlink(control);
    use_no_ini_files();
    return failed + (fake->mistakes() != 0);
}
