/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the exported functions do beyond passing calls on, tried on the built
 * drivers over the fake inner driver: links that die, cancelling, forks, the
 * ANSI library, and that every inner handle is given back.
 *
 * LONG: the scenes share the drivers, the fake and their small helpers.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#include <cmocka.h>

#include "fake/fake_use.h"

static struct inner_calls odbc, ansi;
static const struct fake_api *fake, *narrow_fake;

static struct {
    char state[6], text[512];
    SQLINTEGER native;
} said;

/* Record `number` of a handle into `said`. */
static SQLRETURN read_record(const struct inner_calls *call, SQLSMALLINT type,
                             SQLHANDLE handle, SQLSMALLINT number)
{
    memset(&said, 0, sizeof said);
    return call->SQLGetDiagRec(type, handle, number, (SQLCHAR *)said.state,
                               &said.native, (SQLCHAR *)said.text,
                               sizeof said.text, NULL);
}

static SQLHDBC connected(const struct inner_calls *call, SQLHENV env,
                         const char *string)
{
    SQLHDBC dbc = NULL;
    SQLRETURN rc;

    assert_int_equal(call->SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    rc = call->SQLDriverConnect(dbc, NULL, (SQLCHAR *)string, SQL_NTS, NULL,
                                0, NULL, SQL_DRIVER_NOPROMPT);
    if (rc != SQL_SUCCESS) {
        read_record(call, SQL_HANDLE_DBC, dbc, 1);
        fail_msg("%s: %d %s %s", string, rc, said.state, said.text);
    }
    return dbc;
}

static SQLHSTMT new_stmt(const struct inner_calls *call, SQLHDBC dbc)
{
    SQLHSTMT stmt = NULL;

    assert_int_equal(call->SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt), 0);
    return stmt;
}

static void end_session(const struct inner_calls *call, SQLHENV env,
                        SQLHDBC dbc)
{
    assert_int_equal(call->SQLDisconnect(dbc), SQL_SUCCESS);
    assert_int_equal(call->SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    assert_int_equal(call->SQLFreeHandle(SQL_HANDLE_ENV, env), SQL_SUCCESS);
}

static SQLRETURN run(SQLHSTMT stmt, const char *text)
{
    return odbc.SQLExecDirect(stmt, (SQLCHAR *)text, SQL_NTS);
}

/* ---- what the inner driver warns of ---------------------------------------- */

/* Opens a link that is warned of, or takes one, and says who it is.  Without
   use it stays in the pool. */
static SQLHDBC warned(const struct inner_calls *call, SQLHENV env,
                      const char *string, const char *text)
{
    SQLHDBC dbc = NULL;

    assert_int_equal(call->SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    assert_int_equal(call->SQLDriverConnect(dbc, NULL, (SQLCHAR *)string,
                                            SQL_NTS, NULL, 0, NULL,
                                            SQL_DRIVER_NOPROMPT),
                     SQL_SUCCESS_WITH_INFO);
    assert_int_equal(read_record(call, SQL_HANDLE_DBC, dbc, 1), SQL_SUCCESS);
    assert_string_equal(said.state, "01S02");
    assert_int_equal(said.native, 42);
    assert_string_equal(said.text, text);
    assert_int_equal(read_record(call, SQL_HANDLE_DBC, dbc, 2), SQL_NO_DATA);
    return dbc;
}

/* Each session is told what was said when its link was opened. */
static void test_warnings(void **state)
{
    static const char string[] = "DSN=wrapped;FakeWarn=01S02";
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHANDLE inner = NULL;
    SQLUINTEGER mode;

    (void)state;
    for (int i = 0; i < 3; i++) {
        SQLHDBC dbc = warned(&odbc, env, string,
                             "the fake was told to warn (narrow)");

        if (i == 0) {
            inner = fake->latest(SQL_HANDLE_DBC);
        }
        assert_ptr_equal(fake->latest(SQL_HANDLE_DBC), inner);
        assert_int_equal(odbc.SQLGetConnectAttr(dbc, SQL_ATTR_ACCESS_MODE,
                                                &mode, 0, NULL), 0);
        assert_int_equal(odbc.SQLDisconnect(dbc), SQL_SUCCESS);
        assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc), 0);
    }
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_ENV, env), SQL_SUCCESS);
}

/* Ours stand before them. */
static void test_warnings_of_both(void **state)
{
    static const char string[] =
        "DSN=wrapped;FakeWarn=01S02;AffinityKea=x;FakeName=both";
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = NULL;
    SQLCHAR out[10];

    (void)state;
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    assert_int_equal(odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)string,
                                           SQL_NTS, out, sizeof out, NULL,
                                           SQL_DRIVER_NOPROMPT),
                     SQL_SUCCESS_WITH_INFO);
    read_record(&odbc, SQL_HANDLE_DBC, dbc, 1);
    assert_string_equal(said.state, "01S00");
    read_record(&odbc, SQL_HANDLE_DBC, dbc, 2);
    assert_string_equal(said.state, "01004");
    read_record(&odbc, SQL_HANDLE_DBC, dbc, 3);
    assert_string_equal(said.state, "01S02");
    end_session(&odbc, env, dbc);
}

static void test_warnings_narrow(void **state)
{
    SQLHENV env = use_environment(&ansi, SQL_OV_ODBC3);
    SQLHDBC dbc = warned(&ansi, env, "DSN=ansi;FakeWarn=01S02",
                         "the fake was told to warn (narrow)");

    (void)state;
    end_session(&ansi, env, dbc);
}

/* ---- links that die -------------------------------------------------------- */

static void test_dead_link(void **state)
{
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = connected(&odbc, env, "DSN=wrapped");
    SQLHSTMT stmt = new_stmt(&odbc, dbc);
    SQLUINTEGER dead = 0;

    (void)state;
    assert_int_equal(run(stmt, "DIE"), SQL_ERROR);
    assert_int_equal(read_record(&odbc, SQL_HANDLE_STMT, stmt, 1), 0);
    assert_string_equal(said.state, "08S01");
    assert_memory_equal(said.text, "[odbc-affinity][wrapped] ", 25);
    assert_non_null(strstr(said.text, "f1"));
    assert_int_equal(read_record(&odbc, SQL_HANDLE_STMT, stmt, 2), 0);
    assert_int_equal(said.native, 42);
    assert_string_equal(said.text, "the fake died (narrow)");
    assert_int_equal(odbc.SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD,
                                            &dead, 0, NULL), SQL_SUCCESS);
    assert_int_equal(dead, SQL_CD_TRUE);
    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT),
                     SQL_ERROR);
    read_record(&odbc, SQL_HANDLE_DBC, dbc, 1);
    assert_string_equal(said.state, "08007");
    assert_int_equal(odbc.SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_ROLLBACK),
                     SQL_ERROR);
    read_record(&odbc, SQL_HANDLE_DBC, dbc, 1);
    assert_string_equal(said.state, "08S01");
    /* records outlive the link */
    odbc.SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    end_session(&odbc, env, dbc);
}

/* Its driver is said to tell by the state whether a link may be dead, and tells
   nothing at all: then the link is asked. */
static void test_dead_link_mute(void **state)
{
    static const char mute[] = "DSN=wrapped;Instances=p1";
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = connected(&odbc, env, mute);
    SQLHSTMT stmt = new_stmt(&odbc, dbc);

    (void)state;
    assert_int_equal(run(stmt, "MUTE"), SQL_ERROR);
    assert_int_equal(read_record(&odbc, SQL_HANDLE_STMT, stmt, 1),
                     SQL_NO_DATA);
    assert_int_equal(run(stmt, "MUTE DIE"), SQL_ERROR);
    assert_int_equal(read_record(&odbc, SQL_HANDLE_STMT, stmt, 1), 0);
    assert_string_equal(said.state, "08S01");
    assert_non_null(strstr(said.text, "not known"));
    assert_int_equal(read_record(&odbc, SQL_HANDLE_STMT, stmt, 2),
                     SQL_NO_DATA);
    odbc.SQLFreeHandle(SQL_HANDLE_STMT, stmt);
    end_session(&odbc, env, dbc);
}

/* A class-08 error of a link that lives is somebody else's affair (rules
   §5.1) and passes unchanged. */
static void test_living_link(void **state)
{
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = connected(&odbc, env, "DSN=wrapped");
    SQLHSTMT stmt = new_stmt(&odbc, dbc);

    (void)state;
    assert_int_equal(run(stmt, "FAIL 08006"), SQL_ERROR);
    read_record(&odbc, SQL_HANDLE_STMT, stmt, 1);
    assert_string_equal(said.state, "08006");
    assert_int_equal(said.native, 42);
    assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
    end_session(&odbc, env, dbc);
}

static void test_failed_connect(void **state)
{
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = NULL;

    (void)state;
    odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    assert_int_equal(
        odbc.SQLDriverConnect(dbc, NULL,
                              (SQLCHAR *)"DSN=wrapped;UID=joe;PWD=hidden;"
                              "FakeFail=28P01", SQL_NTS, NULL, 0, NULL, 0),
        SQL_ERROR);
    for (SQLSMALLINT i = 1;
         read_record(&odbc, SQL_HANDLE_DBC, dbc, i) == SQL_SUCCESS; i++) {
        assert_null(strstr(said.text, "hidden"));
    }
    read_record(&odbc, SQL_HANDLE_DBC, dbc, 1);
    assert_memory_equal(said.text, "[odbc-affinity][wrapped] ", 25);
    assert_int_equal(odbc.SQLDisconnect(dbc), SQL_ERROR);
    read_record(&odbc, SQL_HANDLE_DBC, dbc, 1);
    assert_string_equal(said.state, "08003");
    /* and the same handle connects when there is nothing in the way */
    assert_int_equal(odbc.SQLDriverConnect(dbc, NULL,
                                           (SQLCHAR *)"DSN=wrapped", SQL_NTS,
                                           NULL, 0, NULL, 0), SQL_SUCCESS);
    end_session(&odbc, env, dbc);
}

/* Whoever can open nothing more can connect to nobody: the instance is not down
   for that, and whom it serves goes on. */
static void test_no_descriptor(void **state)
{
    static const char failing[] =
        "DSN=wrapped;CheckInterval=0;PoolWait=0;FakeFail=08001";
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC held = connected(&odbc, env, "DSN=wrapped;CheckInterval=0");
    SQLHDBC dbc = NULL;
    struct rlimit before, none;

    (void)state;
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    for (int i = 0; i < 2; i++) {
        SQLRETURN rc;

        assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
        rc = odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)failing, SQL_NTS,
                                   NULL, 0, NULL, SQL_DRIVER_NOPROMPT);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(rc, SQL_ERROR);
        read_record(&odbc, SQL_HANDLE_DBC, dbc, 1);
        assert_string_equal(said.state, "HYT00");
        if (i == 0) { /* later it may be left alone */
            assert_non_null(strstr(said.text, "can open no more files"));
        }
    }
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    dbc = connected(&odbc, env, "DSN=wrapped;CheckInterval=0;PoolWait=0");
    assert_int_equal(odbc.SQLDisconnect(dbc), SQL_SUCCESS);
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    new_stmt(&odbc, held);
    end_session(&odbc, env, held);
}

/* ---- cancelling -------------------------------------------------------------- */

static void *run_hanging(void *stmt)
{
    return (void *)(intptr_t)run(stmt, "HANG");
}

static void test_cancel(void **state)
{
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = connected(&odbc, env, "DSN=wrapped");
    SQLHSTMT stmt = new_stmt(&odbc, dbc);
    pthread_t thread;
    void *rc;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, run_hanging, stmt), 0);
    assert_true(fake->await_hanging(1));
    assert_int_equal(odbc.SQLCancel(stmt), SQL_SUCCESS);
    assert_int_equal(pthread_join(thread, &rc), 0);
    assert_int_equal((intptr_t)rc, SQL_ERROR);
    read_record(&odbc, SQL_HANDLE_STMT, stmt, 1);
    assert_string_equal(said.state, "HY008");
    /* at rest it leaves the records of the call before alone */
    assert_int_equal(odbc.SQLCancel(stmt), SQL_SUCCESS);
    read_record(&odbc, SQL_HANDLE_STMT, stmt, 1);
    assert_string_equal(said.state, "HY008");
    assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
    end_session(&odbc, env, dbc);
}

static void *connect_hanging(void *dbc)
{
    return (void *)(intptr_t)odbc.SQLDriverConnect(
        dbc, NULL, (SQLCHAR *)"DSN=wrapped;FakeHang=1", SQL_NTS, NULL, 0, NULL,
        SQL_DRIVER_NOPROMPT);
}

/* The manager lets this call through at any time: it has nothing to cancel in
   a session that is being connected, and leaves that to who does it. */
static void test_cancel_connecting(void **state)
{
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = NULL;
    pthread_t thread;
    void *rc;

    (void)state;
    assert_int_equal(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc), 0);
    assert_int_equal(odbc.SQLCancelHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, connect_hanging, dbc), 0);
    assert_true(fake->await_hanging(1));
    assert_int_equal(odbc.SQLCancelHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    fake->release();
    assert_int_equal(pthread_join(thread, &rc), 0);
    assert_int_equal((intptr_t)rc, SQL_SUCCESS);
    assert_int_equal(odbc.SQLCancelHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    end_session(&odbc, env, dbc);
}

/* ---- forks -------------------------------------------------------------------- */

/* In the child: 0, or the line of the first thing that went wrong. */
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            return __LINE__ % 255 + 1; \
        } \
    } while (0)

static int child(SQLHENV env, SQLHDBC dbc, SQLHSTMT stmt)
{
    SQLUINTEGER dead = 0;
    SQLHDBC own = NULL;
    SQLHDESC ard = NULL;
    SQLHSTMT own_stmt;

    fake->forget();
    CHECK(run(stmt, "SELECT 1") == SQL_ERROR);
    read_record(&odbc, SQL_HANDLE_STMT, stmt, 1);
    CHECK(strcmp(said.state, "08S01") == 0);
    CHECK(strstr(said.text, "parent") != NULL);
    CHECK(odbc.SQLGetStmtAttr(stmt, SQL_ATTR_APP_ROW_DESC, &ard, 8, NULL) ==
          SQL_ERROR);
    CHECK(odbc.SQLEndTran(SQL_HANDLE_DBC, dbc, SQL_COMMIT) == SQL_ERROR);
    CHECK(odbc.SQLCancel(stmt) == SQL_ERROR);
    CHECK(odbc.SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0,
                                 NULL) == SQL_SUCCESS);
    CHECK(dead == SQL_CD_TRUE);
    CHECK(odbc.SQLFreeHandle(SQL_HANDLE_STMT, stmt) == SQL_SUCCESS);
    CHECK(odbc.SQLDisconnect(dbc) == SQL_SUCCESS);
    CHECK(fake->calls() == 0); /* nothing went to the parent's link */
    /* the handle is free for a connection of the child's own */
    CHECK(odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)"DSN=wrapped", SQL_NTS,
                                NULL, 0, NULL, 0) == SQL_SUCCESS);
    CHECK(odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &own) == SQL_SUCCESS);
    CHECK(odbc.SQLDriverConnect(own, NULL, (SQLCHAR *)"DSN=wrapped", SQL_NTS,
                                NULL, 0, NULL, 0) == SQL_SUCCESS);
    CHECK(odbc.SQLAllocHandle(SQL_HANDLE_STMT, own, &own_stmt) ==
          SQL_SUCCESS);
    CHECK(run(own_stmt, "SELECT 1") == SQL_SUCCESS);
    CHECK(odbc.SQLDisconnect(own) == SQL_SUCCESS);
    CHECK(odbc.SQLFreeHandle(SQL_HANDLE_DBC, own) == SQL_SUCCESS);
    CHECK(odbc.SQLDisconnect(dbc) == SQL_SUCCESS);
    CHECK(odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc) == SQL_SUCCESS);
    CHECK(odbc.SQLFreeHandle(SQL_HANDLE_ENV, env) == SQL_SUCCESS);
    return 0;
}

static void test_fork(void **state)
{
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = connected(&odbc, env, "DSN=wrapped");
    SQLHSTMT stmt = new_stmt(&odbc, dbc);
    int status = 0;
    pid_t pid;

    (void)state;
    if (USE_NO_FORKS) {
        print_message("# ThreadSanitizer knows no threads after a fork\n");
        end_session(&odbc, env, dbc);
        skip();
    }
    pid = fork();
    if (pid == 0) {
        alarm(60);
        _exit(child(env, dbc, stmt));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fail_msg("the child ended with status %x (its line: %d)", status,
                 WEXITSTATUS(status) - 1);
    }
    assert_int_equal(run(stmt, "SELECT 1"), SQL_SUCCESS);
    end_session(&odbc, env, dbc);
}

/* ---- the ANSI library, missing functions ---------------------------------------- */

static void test_ansi_library(void **state)
{
    SQLHENV env = use_environment(&ansi, SQL_OV_ODBC3);
    SQLHDBC dbc = connected(&ansi, env, "DSN=ansi");
    SQLHSTMT stmt = new_stmt(&ansi, dbc);
    SQLUSMALLINT supported = SQL_TRUE;

    (void)state;
    assert_null(ansi.SQLExecDirectW);
    assert_null(ansi.SQLDriverConnectW);
    assert_non_null(odbc.SQLDriverConnectW);
    assert_int_equal(ansi.SQLExecDirect(stmt, (SQLCHAR *)"FAIL 22012",
                                        SQL_NTS), SQL_ERROR);
    read_record(&ansi, SQL_HANDLE_STMT, stmt, 1);
    assert_string_equal(said.state, "22012");
    /* what the inner driver lacks */
    assert_int_equal(ansi.SQLSetPos(stmt, 1, SQL_POSITION,
                                    SQL_LOCK_NO_CHANGE), SQL_ERROR);
    read_record(&ansi, SQL_HANDLE_STMT, stmt, 1);
    assert_string_equal(said.state, "IM001");
    assert_non_null(strstr(said.text, "SQLSetPos"));
    assert_int_equal(ansi.SQLGetFunctions(dbc, SQL_API_SQLSETPOS, &supported),
                     SQL_SUCCESS);
    assert_int_equal(supported, SQL_FALSE);
    end_session(&ansi, env, dbc);
}

static void test_narrow_refused(void **state)
{
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    SQLHDBC dbc = NULL;
    int told = 0;

    (void)state;
    odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc);
    assert_int_equal(odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)"DSN=narrow",
                                           SQL_NTS, NULL, 0, NULL, 0),
                     SQL_ERROR);
    for (SQLSMALLINT i = 1;
         read_record(&odbc, SQL_HANDLE_DBC, dbc, i) == SQL_SUCCESS; i++) {
        told |= strstr(said.text, "Affinity ANSI") != NULL;
    }
    assert_true(told);
    odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    odbc.SQLFreeHandle(SQL_HANDLE_ENV, env);
}

/* ---- ini files that change ------------------------------------------------- */

static void add_to_odbc_ini(const char *lines)
{
    FILE *file = fopen(getenv("ODBCINI"), "a");

    assert_non_null(file);
    fputs(lines, file);
    fclose(file);
}

/* A session whose instances' DSNs have changed since it connected is not handed
   on: the manager connects afresh, by what they say now. */
static void test_out_of_date(void **state)
{
    static const char f9[] = "DSN=wrapped;Instances=f9;ManagerPooling=allow";
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    time_t last = time(NULL) + 30;
    SQLULEN dead = SQL_CD_FALSE;
    SQLHDBC old, new;

    (void)state;
    add_to_odbc_ini("\n[f9]\nDriver=Fake\n");
    old = connected(&odbc, env, f9);
    assert_int_equal(use_probe(&odbc, old), SQL_CD_FALSE);
    add_to_odbc_ini("FakeName=changed\n");
    while (dead == SQL_CD_FALSE && time(NULL) < last) {
        new = connected(&odbc, env, f9); /* looks at the files now and then */
        dead = use_probe(&odbc, old);
        assert_int_equal(use_probe(&odbc, new), SQL_CD_FALSE);
        assert_int_equal(odbc.SQLDisconnect(new), SQL_SUCCESS);
        odbc.SQLFreeHandle(SQL_HANDLE_DBC, new);
    }
    assert_int_equal(dead, SQL_CD_TRUE);
    end_session(&odbc, env, old);
}

/* ---- all versions, all given back ------------------------------------------------- */

static void test_versions(void **state)
{
    static const intptr_t versions[] = { SQL_OV_ODBC2, SQL_OV_ODBC3,
                                         SQL_OV_ODBC3_80 };

    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        SQLHENV env = use_environment(&odbc, versions[i]);
        SQLHDBC dbc = connected(&odbc, env, "DSN=wrapped2");

        assert_int_equal(run(new_stmt(&odbc, dbc), "SELECT 1"), SQL_SUCCESS);
        end_session(&odbc, env, dbc);
    }
}

static void *storm(void *arg)
{
    SQLHENV env = arg;

    for (int i = 0; i < 50; i++) {
        SQLHDBC dbc = NULL;
        SQLHSTMT stmt = NULL;

        if (odbc.SQLAllocHandle(SQL_HANDLE_DBC, env, &dbc) ||
            odbc.SQLDriverConnect(dbc, NULL, (SQLCHAR *)"DSN=wrapped2",
                                  SQL_NTS, NULL, 0, NULL, 0) ||
            odbc.SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt) ||
            odbc.SQLExecDirect(stmt, (SQLCHAR *)"ROWS 2", SQL_NTS) ||
            odbc.SQLFetch(stmt) || odbc.SQLFetch(stmt) ||
            odbc.SQLFetch(stmt) != SQL_NO_DATA || odbc.SQLDisconnect(dbc) ||
            odbc.SQLFreeHandle(SQL_HANDLE_DBC, dbc)) {
            return arg; /* a call failed */
        }
    }
    return NULL;
}

static void test_storm(void **state)
{
    enum { THREADS = 4 };
    SQLHENV env = use_environment(&odbc, SQL_OV_ODBC3);
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, storm, env), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;

        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(odbc.SQLFreeHandle(SQL_HANDLE_ENV, env), SQL_SUCCESS);
    assert_int_equal(fake->mistakes(), 0);
    assert_int_equal(narrow_fake->mistakes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_warnings_of_both),
        cmocka_unit_test(test_warnings_narrow),
        cmocka_unit_test(test_dead_link),
        cmocka_unit_test(test_dead_link_mute),
        cmocka_unit_test(test_living_link),
        cmocka_unit_test(test_failed_connect),
        cmocka_unit_test(test_no_descriptor),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_connecting),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_ansi_library),
        cmocka_unit_test(test_narrow_refused),
        cmocka_unit_test(test_out_of_date),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_storm),
    };
    int failed;

    use_ini_files();
    use_driver(USE_WIDE, &odbc);
    use_driver(USE_ANSI, &ansi);
    fake = use_fake(USE_FAKE);
    narrow_fake = use_fake(USE_FAKE_NARROW);
    failed = cmocka_run_group_tests_name("entry", tests, NULL, NULL);
    use_no_ini_files();
    return failed;
}
