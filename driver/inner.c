/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The list of loaded inner drivers, their function tables and environments.
 * Opening, using and closing a connection of theirs is link.c's; which sort
 * of driver one is belongs to inner_kind.c, what it says of itself to
 * inner_say.c.
 *
 * Loading follows facts §1: a name without '/' is looked for in the manager's
 * own directory, since the manager sets that search path itself; RTLD_LOCAL,
 * because the driver must see the same global scope as under the manager;
 * never RTLD_DEEPBIND, which sanitizers and preloaded allocators do not
 * survive; never dlclose.
 */
#include "autoconf.h"

#include "inner.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inifile.h"
#include "inner_kind.h"
#include "lock.h"
#include "text.h"

struct inner_env {
    struct inner_env *next;
    SQLINTEGER odbc_version;
    uint32_t forked;
    SQLHENV handle;
};

/* What a driver is asked for at the least (facts §4 says what the manager
   needs; we need the statement functions' handles as well). */
#define NEEDED(call) \
    ((call)->SQLAllocHandle && (call)->SQLFreeHandle && \
     (call)->SQLSetEnvAttr && (call)->SQLDisconnect && \
     ((call)->SQLDriverConnect || (call)->SQLDriverConnectW))

static struct {
    struct mutex lock; /* guards the list, and the envs of each */
    struct inner *first;
    atomic_uint loaded;  /* how many they are; read without the lock */
    bool narrow_allowed; /* set before any thread exists */
} inners = { .lock = MUTEX_INITIALIZER(LOCK_INNER) };

__attribute__((constructor)) static void keep_over_fork(void)
{
    lock_keep_over_fork(&inners.lock, LOCK_INNER);
}

void inner_allow_narrow(void)
{
    inners.narrow_allowed = true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Our two libraries by name (a copy elsewhere is ours as well), and whatever
   file this code runs from. */
static bool is_ourselves(const char *path)
{
    static const char *const names[] = { "libodbcaffinity.so",
                                         "libodbcaffinitya.so" };
    const char *base = base_name(path);
    char own[PATH_MAX];
    Dl_info info;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(base, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return dladdr((void *)(uintptr_t)&is_ourselves, &info) != 0 &&
           info.dli_fname && realpath(info.dli_fname, own) &&
           strcmp(own, path) == 0;
}

/* dlsym() looks into the driver's dependencies as well: a driver linked with
   libodbc lacks a function when the manager's is found (facts §1). */
static void *find_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    Dl_info info;

    if (symbol && dladdr(symbol, &info) && info.dli_fname) {
        const char *base = base_name(info.dli_fname);

        if (strncmp(base, "libodbc.", 8) == 0 ||
            strncmp(base, "libiodbc.", 9) == 0 || is_ourselves(base)) {
            return NULL;
        }
    }
    return symbol;
}

static void fill_calls(struct inner_calls *call, void *library)
{
    /* POSIX lets a function pointer be stored through a void pointer. */
#define FILL(name) *(void **)(void *)&call->name = find_symbol(library, #name);
#define PLAIN(name, ...) FILL(name)
#define TEXT(name, ...) FILL(name) FILL(name##W)
#include "surface.def"
#undef FILL
}

static struct inner *find_locked(const char *path)
{
    struct inner *inner = inners.first;

    mutex_assert_held(&inners.lock);
    while (inner && strcmp(inner->path, path) != 0) {
        inner = inner->next;
    }
    return inner;
}

static struct inner *find_loaded(const char *path)
{
    struct inner *inner;

    mutex_lock(&inners.lock);
    inner = find_locked(path);
    mutex_unlock(&inners.lock);
    return inner;
}

/* Puts a new one into the list, or frees it and returns the one of the same
   path that another thread has put there meanwhile. */
static struct inner *enlist(struct inner *fresh)
{
    struct inner *inner;

    mutex_lock(&inners.lock);
    inner = find_locked(fresh->path);
    if (!inner) {
        fresh->next = inners.first;
        inners.first = fresh;
        atomic_fetch_add(&inners.loaded, 1);
    }
    mutex_unlock(&inners.lock);
    if (!inner) {
        return fresh;
    }
    free(fresh->path);
    free(fresh);
    return inner;
}

unsigned inner_loaded(void)
{
    return atomic_load(&inners.loaded);
}

/* OpenSSL takes itself down by a handler of its own at exit, which it registers
   when it is first used, maybe by the hundredth link only.  Whoever closes
   links at exit must come before that, so it has to be registered by now.
   Without any option, OPENSSL_init_crypto() does nothing at all. */
static void wake_openssl(void *library)
{
    enum { LOAD_CRYPTO_STRINGS = 2 }; /* of the options the least */
    int (*wake)(uint64_t options, const void *settings);

    /* if the driver depends on it */
    *(void **)(void *)&wake = dlsym(library, "OPENSSL_init_crypto");
    if (wake) {
        wake(LOAD_CRYPTO_STRINGS, NULL);
    }
}

/* The driver in the file `path`, of which dlopen() made `library`. */
static struct inner *make(const char *path, void *library, struct why *why)
{
    struct inner *inner = calloc(1, sizeof *inner);

    if (!inner || !(inner->path = strdup(path))) {
        free(inner);
        why_memory(why);
        return NULL;
    }
    fill_calls(&inner->call, library);
    inner->wide = inner->call.SQLDriverConnectW != NULL;
    inner->kind = inner_kind_of(inner->path);
    if (inner->kind->says_by_error) {
        *(void **)(void *)&inner->call.SQLError =
            find_symbol(library, "SQLError");
    }
    if (!NEEDED(&inner->call)) {
        why_set(why, WHY_DRIVER,
                "%s is no ODBC 3 driver: it lacks SQLAllocHandle, "
                "SQLFreeHandle, SQLSetEnvAttr, SQLDisconnect or "
                "SQLDriverConnect", path);
    } else if (!inner->wide && !inners.narrow_allowed) {
        why_set(why, WHY_DRIVER,
                "%s has no wide functions; use the driver \"Affinity ANSI\" "
                "for it instead of \"Affinity\"", path);
    } else {
        wake_openssl(library);
        return enlist(inner);
    }
    free(inner->path);
    free(inner);
    return NULL;
}

enum outcome { ABSENT, LOADED, BROKEN };

/* Is the library `path`, which was given as `name`, ours?  Then: why. */
static bool refuse_ourselves(const char *path, const char *name,
                             struct why *why)
{
    bool ours = is_ourselves(path);

    if (ours) {
        why_set(why, WHY_DRIVER,
                "%s is odbc-affinity itself; an instance needs the driver "
                "of the database", name);
    }
    return ours;
}

/* One place where the library may be.  ABSENT: there is no such file; `tried`
   says so.  BROKEN: it is there and cannot be used; why says why. */
static enum outcome try_path(const char *candidate, struct text *tried,
                             struct inner **inner, struct why *why)
{
    char path[PATH_MAX];
    void *library;

    text_appendf(tried, "%s%s", tried->length ? ", " : "", candidate);
    if (!realpath(candidate, path)) {
        return ABSENT;
    }
    if (refuse_ourselves(path, candidate, why)) {
        return BROKEN;
    }
    *inner = find_loaded(path);
    if (*inner) {
        return LOADED;
    }
    lock_assert_none();
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();

        why_set(why, WHY_DRIVER, "cannot load the driver: %s",
                reason ? reason : path);
        return BROKEN;
    }
    *inner = make(path, library, why);
    return *inner ? LOADED : BROKEN;
}

/* A name without '/': the manager's directory first, then wherever the system
   keeps its libraries (dlopen's own search), as the manager has it. */
static enum outcome try_name(const char *name, struct text *tried,
                             struct inner **inner, struct why *why)
{
    struct text candidate;
    enum outcome outcome;
    void *library;
    Dl_info info;
    void *symbol;

    text_init(&candidate);
    text_appendf(&candidate, "%s/%s", ODBC_MODULE_DIR, name);
    if (candidate.failed) {
        why_memory(why);
        return BROKEN;
    }
    outcome = try_path(text_string(&candidate), tried, inner, why);
    text_free(&candidate);
    if (outcome != ABSENT) {
        return outcome;
    }
    text_appendf(tried, ", the system's library directories");
    if (refuse_ourselves(name, name, why)) {
        return BROKEN;
    }
    lock_assert_none();
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    symbol = library ? dlsym(library, "SQLAllocHandle") : NULL;
    if (!library) {
        return ABSENT;
    }
    if (!symbol || !dladdr(symbol, &info) || !info.dli_fname) {
        why_set(why, WHY_DRIVER,
                "%s is no ODBC 3 driver: it lacks SQLAllocHandle", name);
        return BROKEN;
    }
    return try_path(info.dli_fname, tried, inner, why);
}

static const struct inner *load_library(const char *driver,
                                        const char *library, struct why *why)
{
    struct inner *inner = NULL;
    enum outcome outcome;
    struct text tried;

    text_init(&tried);
    if (strchr(library, '/')) {
        outcome = try_path(library, &tried, &inner, why);
    } else {
        outcome = try_name(library, &tried, &inner, why);
    }
    if (outcome == ABSENT) {
        why_set(why, WHY_DRIVER,
                "the driver \"%s\" cannot be loaded: no file %s (tried %s)",
                driver, library, text_string(&tried));
    }
    text_free(&tried);
    return inner;
}

/* Is a name without a section that of a library file, as odbcinst.ini's own
   Driver entries are? */
static bool is_library_name(const char *name)
{
    return strstr(name, ".so") != NULL;
}

const struct inner *inner_load(const char *driver, struct why *why)
{
    const struct inifile_section *section;
    const struct inner *inner = NULL;
    const char *library;
    struct why none;

    if (!driver || !*driver) {
        why_set(why, WHY_DRIVER, "no inner driver is named");
        return NULL;
    }
    if (strchr(driver, '/')) {
        return load_library(driver, driver, why);
    }
    section = inifile_section(driver, INIFILE_DRIVER, &none);
    if (!section && none.code != WHY_DSN) {
        why_set(why, none.code, "%s", none.text);
        return NULL;
    }
    if (!section && is_library_name(driver)) {
        return load_library(driver, driver, why);
    }
    library = section ? inifile_value(section, "Driver64") : NULL;
    if (!library || !*library) {
        library = section ? inifile_value(section, "Driver") : NULL;
    }
    if (library && *library) {
        inner = load_library(driver, library, why);
    } else {
        why_set(why, WHY_DRIVER, section ?
                "odbcinst.ini's section [%s] has no Driver entry" :
                "odbcinst.ini has no driver \"%s\"", driver);
    }
    inifile_release(section);
    return inner;
}

/* ---- environments ---------------------------------------------------- */

static struct inner_env *find_env_locked(const struct inner *inner,
                                         SQLINTEGER odbc_version)
{
    struct inner_env *env = inner->envs;

    mutex_assert_held(&inners.lock);
    while (env && (env->odbc_version != odbc_version ||
                   env->forked != fork_count())) {
        env = env->next;
    }
    return env;
}

static SQLHENV find_env(const struct inner *inner, SQLINTEGER odbc_version)
{
    struct inner_env *env;

    mutex_lock(&inners.lock);
    env = find_env_locked(inner, odbc_version);
    mutex_unlock(&inners.lock);
    return env ? env->handle : SQL_NULL_HENV;
}

/* Keeps env and returns its handle; if another thread was faster, that one's,
   and *spare is what is not needed. */
static SQLHENV keep_env(const struct inner *inner, struct inner_env *env,
                        struct inner_env **spare)
{
    struct inner *owner = (struct inner *)(uintptr_t)inner;
    struct inner_env *other;

    mutex_lock(&inners.lock);
    other = find_env_locked(inner, env->odbc_version);
    if (!other) {
        env->next = owner->envs;
        owner->envs = env;
    }
    mutex_unlock(&inners.lock);
    *spare = other ? env : NULL;
    return other ? other->handle : env->handle;
}

/* A driver may know no ODBC 3.80; the manager then tells the application of
   the difference (facts §4), and so do we nothing. */
static bool set_version(const struct inner_calls *call, SQLHENV handle,
                        SQLINTEGER version)
{
    if (SQL_SUCCEEDED(call->SQLSetEnvAttr(handle, SQL_ATTR_ODBC_VERSION,
            (SQLPOINTER)(intptr_t)version, 0))) {
        return true;
    }
    return version == SQL_OV_ODBC3_80 &&
           SQL_SUCCEEDED(call->SQLSetEnvAttr(handle, SQL_ATTR_ODBC_VERSION,
               (SQLPOINTER)(intptr_t)SQL_OV_ODBC3, 0));
}

SQLHENV inner_env_new(const struct inner *inner, SQLINTEGER odbc_version,
                      struct why *why)
{
    const struct inner_calls *call = &inner->call;
    SQLHENV handle = SQL_NULL_HENV;

    lock_assert_none();
    if (!SQL_SUCCEEDED(call->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE,
                                            &handle))) {
        why_set(why, WHY_DRIVER, "%s gives no environment", inner->path);
        return SQL_NULL_HENV;
    }
    if (!set_version(call, handle, odbc_version)) {
        why_set(why, WHY_DRIVER, "%s knows no ODBC version %d", inner->path,
                (int)odbc_version);
        call->SQLFreeHandle(SQL_HANDLE_ENV, handle);
        return SQL_NULL_HENV;
    }
    return handle;
}

SQLHENV inner_env(const struct inner *inner, SQLINTEGER odbc_version,
                  struct why *why)
{
    SQLHENV handle = find_env(inner, odbc_version);
    struct inner_env *env, *spare;

    if (handle != SQL_NULL_HENV) {
        return handle;
    }
    env = calloc(1, sizeof *env);
    if (!env) {
        why_memory(why);
        return SQL_NULL_HENV;
    }
    env->odbc_version = odbc_version;
    env->forked = fork_count();
    env->handle = inner_env_new(inner, odbc_version, why);
    if (!env->handle) {
        free(env);
        return SQL_NULL_HENV;
    }
    handle = keep_env(inner, env, &spare);
    if (spare) {
        inner->call.SQLFreeHandle(SQL_HANDLE_ENV, spare->handle);
        free(spare);
    }
    return handle;
}
