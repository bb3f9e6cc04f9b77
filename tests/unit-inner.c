/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Loading inner drivers: by section, by path, and what is refused. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake/fake_use.h"

static void refused(const char *driver, const char *wanted)
{
    struct why why = { 0 };

    if (inner_load(driver, &why)) {
        fail_msg("%s was not refused", driver);
    }
    assert_int_equal(why.code, WHY_DRIVER);
    if (!strstr(why.text, wanted)) {
        fail_msg("\"%s\" does not say \"%s\"", why.text, wanted);
    }
}

static const struct inner *loaded(const char *driver)
{
    struct why why = { 0 };
    const struct inner *inner = inner_load(driver, &why);

    if (!inner) {
        fail_msg("%s: %s", driver, why.text);
    }
    return inner;
}

static void test_section_and_path(void **state)
{
    const struct inner *inner = loaded("Fake");

    (void)state;
    assert_true(inner->wide);
    assert_non_null(inner->call.SQLFetch);
    assert_non_null(inner->call.SQLTablesW);
    assert_ptr_equal(loaded("fake"), inner);
    assert_ptr_equal(loaded(use_path(USE_FAKE)), inner);
    assert_ptr_equal(inner_of(&inner->call), inner);
}

static void test_absent(void **state)
{
    (void)state;
    refused("", "no inner driver");
    refused("No such driver", "No such driver");
    refused("/nowhere/libodd.so", "/nowhere/libodd.so");
    refused("libodd.so", ODBC_MODULE_DIR "/libodd.so");
    refused("Without library", "no Driver entry");
    refused("Lost", "/nowhere/libodd.so");
    refused("Text", "cannot load the driver");
}

static void test_ourselves(void **state)
{
    (void)state;
    refused("Affinity", "itself");
    refused("Affinity ANSI", "itself");
    refused(use_path(USE_WIDE), "itself");
}

static void test_narrow(void **state)
{
    (void)state;
    refused("Fake narrow", "Affinity ANSI");
    inner_allow_narrow();
    assert_false(loaded("Fake narrow")->wide);
    assert_null(loaded("Fake narrow")->call.SQLTablesW);
    assert_non_null(loaded("Fake narrow")->call.SQLTables);
}

/* A library that is no driver at all, whatever it depends on. */
static void test_no_driver(void **state)
{
    (void)state;
    refused("Compression", "no ODBC 3 driver");
}

static void test_envs(void **state)
{
    const struct inner *inner = loaded("Fake");
    struct why why = { 0 };
    SQLHENV three = inner_env(inner, SQL_OV_ODBC3, &why);

    (void)state;
    assert_non_null(three);
    assert_ptr_equal(inner_env(inner, SQL_OV_ODBC3, &why), three);
    assert_ptr_not_equal(inner_env(inner, SQL_OV_ODBC2, &why), three);
    assert_ptr_not_equal(inner_env(inner, SQL_OV_ODBC3_80, &why), three);
}

static void test_functions(void **state)
{
    const struct inner *inner = loaded("Fake");
    struct why why = { 0 };
    struct inner_functions functions;
    SQLHDBC hdbc = NULL;

    (void)state;
    inner->call.SQLAllocHandle(SQL_HANDLE_DBC,
                               inner_env(inner, SQL_OV_ODBC3, &why), &hdbc);
    inner_functions(inner, hdbc, &functions);
    assert_true(inner_has(&functions, SQL_API_SQLFETCH));
    assert_true(inner_has(&functions, SQL_API_SQLPREPARE));
    assert_false(inner_has(&functions, SQL_API_SQLBULKOPERATIONS));
    assert_false(inner_has(&functions, SQL_API_SQLERROR));
    assert_false(inner_has(&functions, SQL_API_SQLALLOCENV));
    assert_false(inner_has(&functions, UINT16_MAX));
    inner->call.SQLFreeHandle(SQL_HANDLE_DBC, hdbc);
}

/* Further sections, for what cannot be loaded. */
static char text_file[] = "/tmp/affinity-text-XXXXXX";

static void add_sections(void)
{
    char path[512];
    FILE *file;
    int fd = mkstemp(text_file);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "no library\n", 11), 11);
    close(fd);
    snprintf(path, sizeof path, "%s/odbcinst.ini", getenv("ODBCSYSINI"));
    file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "[Without library]\nDescription=nothing\n\n"
            "[Lost]\nDriver=/nowhere/libodd.so\n\n"
            "[Text]\nDriver=%s\n\n[Compression]\nDriver=libc.so.6\n",
            text_file);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_section_and_path),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_ourselves),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_no_driver),
        cmocka_unit_test(test_envs),
        cmocka_unit_test(test_functions),
    };
    int failed;

    use_ini_files();
    add_sections();
    failed = cmocka_run_group_tests_name("inner", tests, NULL, NULL);
    unlink(text_file);
    use_no_ini_files();
    return failed;
}
