/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Where a secret is kept, by what the kernel says of its pages (rules §5.6). */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "secret.h"

/* The first line of the mapping that it is in, and its flags; "": it is in
   none. */
static void describe(const char *secret, char mapping[200], char flags[200])
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[400];
    bool in = false;

    *mapping = *flags = '\0';
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        char rest;

        if (sscanf(line, "%lx-%lx%c", &from, &to, &rest) == 3) {
            in = from <= (uintptr_t)secret && (uintptr_t)secret < to;
            if (in) {
                snprintf(mapping, 200, "%.199s", line);
            }
        } else if (in && strncmp(line, "VmFlags:", 8) == 0) {
            snprintf(flags, 200, "%.199s", line);
        }
    }
    fclose(maps);
}

static void it_is_in_no_core_dump_and_in_no_child(void **state)
{
    static const char password[] = "correct horse battery staple";
    const char *secret = secret_dup(password, strlen(password));
    char mapping[200], flags[200];

    (void)state;
    assert_string_equal(secret, password);
    assert_int_equal(secret_length(secret), strlen(password));
    describe(secret, mapping, flags);
    assert_non_null(strstr(flags, " dd")); /* not dumped */
    assert_non_null(strstr(flags, " wf")); /* wiped on fork */
    assert_non_null(strstr(mapping, " r--p ")); /* nobody writes to it */
    secret_free(secret);
}

static void its_pages_go_with_it(void **state)
{
    char mapping[200], flags[200];
    const char *secret = secret_dup("x", 1);

    (void)state;
    secret_free(secret);
    describe(secret, mapping, flags);
    assert_string_equal(mapping, "");
    secret_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_in_no_core_dump_and_in_no_child),
        cmocka_unit_test(its_pages_go_with_it),
    };

    return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
