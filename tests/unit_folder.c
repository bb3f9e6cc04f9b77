/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "unit_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "inifile.h"

static char folder[] = "/tmp/unit-XXXXXX";

const char *unit_folder_path(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void unit_folder_make(void)
{
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(99);
    }
    setenv("ODBCSYSINI", folder, 1);
    setenv("ODBCINI", unit_folder_path("user.ini"), 1);
    setenv("HOME", folder, 1);
    unsetenv("ODBCINSTINI");
}

void unit_folder_put(const char *name, const char *content)
{
    char fresh[128];
    FILE *out;

    snprintf(fresh, sizeof fresh, "%s", unit_folder_path("fresh"));
    out = fopen(fresh, "we");
    assert_non_null(out);
    fputs(content, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(rename(fresh, unit_folder_path(name)), 0);
}

char *unit_folder_read(const char *name)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(unit_folder_path(name), "re");
    char *data = calloc(1, MOST);

    assert_non_null(data);
    if (file) {
        data[fread(data, 1, MOST - 1, file)] = '\0';
        fclose(file);
    }
    return data;
}

int unit_folder_remove(void **state)
{
    static const char *const names[] = { "user.ini", "odbc.ini",
                                         "odbcinst.ini", ".odbcinst.ini" };

    (void)state;
    inifile_forget();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unlink(unit_folder_path(names[i]));
    }
    return rmdir(folder);
}
