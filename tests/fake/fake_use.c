/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "fake_use.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/affinity-test-XXXXXX";

static void give_up(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(99);
}

const char *use_path(const char *library)
{
    static char path[PATH_MAX];
    const char *build = getenv("AFF_BUILDDIR");

    snprintf(path, sizeof path, "%s/%s", build ? build : ".", library);
    return path;
}

static FILE *create(const char *name)
{
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    if (!file) {
        give_up(path);
    }
    return file;
}

static void driver(FILE *file, const char *name, const char *library)
{
    fprintf(file, "[%s]\nDriver=%s\nThreading=0\nDontDLClose=1\n\n", name,
            use_path(library));
}

void use_ini_files(void)
{
    char path[PATH_MAX];
    FILE *file;

    if (!mkdtemp(directory)) {
        give_up("no temporary directory");
    }
    file = create("odbcinst.ini");
    driver(file, "Affinity", USE_WIDE);
    driver(file, "Affinity ANSI", USE_ANSI);
    driver(file, "Fake", USE_FAKE);
    driver(file, "Fake narrow", USE_FAKE_NARROW);
    driver(file, "Fake psqlODBC", USE_FAKE_PSQLODBC);
    fclose(file);
    file = create("odbc.ini");
    fprintf(file,
            "[f1]\nDriver=Fake\n\n[f2]\nDriver=Fake\n\n"
            "[n1]\nDriver=Fake narrow\n\n"
            "[p1]\nDriver=Fake psqlODBC\n\n"
            "[wrapped]\nDriver=Affinity\nInstances=f1\n\n"
            "[wrapped2]\nDriver=Affinity\nInstances=f1,f2\n\n"
            "[narrow]\nDriver=Affinity\nInstances=n1\n\n"
            "[ansi]\nDriver=Affinity ANSI\nInstances=n1\n\n"
            "[broken]\nDriver=Affinity\nInstances=f1\nPoolMax=zero\n\n"
            "[empty]\nDriver=Affinity\n");
    fclose(file);
    setenv("ODBCSYSINI", directory, 1);
    snprintf(path, sizeof path, "%s/odbc.ini", directory);
    setenv("ODBCINI", path, 1);
    unsetenv("ODBCINSTINI");
}

void use_no_ini_files(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/odbcinst.ini", directory);
    unlink(path);
    snprintf(path, sizeof path, "%s/odbc.ini", directory);
    unlink(path);
    rmdir(directory);
}

SQLHENV use_environment(const struct inner_calls *call, uintptr_t version)
{
    SQLHENV env = NULL;

    if (call->SQLAllocHandle(SQL_HANDLE_ENV, NULL, &env) ||
        call->SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)version,
                            0)) {
        give_up("no environment");
    }
    return env;
}

void use_control(const char *path, const char *lines)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(lines, file) < 0 || fclose(file)) {
        give_up(path);
    }
}

void *use_driver(const char *library, struct inner_calls *call)
{
    void *handle = dlopen(use_path(library), RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        give_up(dlerror());
    }
#define LOOK_UP(name) *(void **)(void *)&call->name = dlsym(handle, #name);
#define PLAIN(name, ...) LOOK_UP(name)
#define TEXT(name, ...) LOOK_UP(name) LOOK_UP(name##W)
#include "surface.def"
    return handle;
}

const struct fake_api *use_fake(const char *library)
{
    void *handle = dlopen(use_path(library), RTLD_NOW | RTLD_LOCAL);
    const struct fake_api *api = handle ? dlsym(handle, "fake_api") : NULL;

    if (!api) {
        give_up(handle ? "no fake_api" : dlerror());
    }
    return api;
}

SQLULEN use_probe(const struct inner_calls *call, SQLHDBC dbc)
{
    SQLULEN dead = 0;

    return call->SQLGetConnectAttr(dbc, SQL_ATTR_CONNECTION_DEAD, &dead,
                                   SQL_IS_INTEGER, NULL) ? 7 : dead;
}
