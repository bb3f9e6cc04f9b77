/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Sections of ini files, read through libodbcinst and kept until a file
 * changes.  What was found by trying it (2.3.11):
 *
 * - libodbcinst answers a look-up from a cache of 20 s whose key holds the
 *   default value: a default never used before makes it read the file.
 * - Of two sections of one name the first counts, whole: the user's odbc.ini
 *   before the system's, the system's odbcinst.ini before the user's.
 * - It reads lines of at most 999 bytes, newline not counted, and takes the
 *   rest of a longer one for the next line.  Neither the value nor its length
 *   tells, so lines are measured here, in the files themselves.
 * - The functions that tell its paths fill a whole ODBC_FILENAME_MAX, and the
 *   installed headers leave them out.
 * - A missing odbc.ini of the user is created empty by reading: "missing" and
 *   "empty" are the same to the fingerprint.
 */
#include "autoconf.h"

#include "inifile.h"
#include "inifile_inside.h"

#include <assert.h>
#include <odbcinst.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "environment.h"
#include "library.h"
#include "lock.h"
#include "text.h"

/* libodbcinst's own, see above; `odbcinst -j` lives by them. */
BOOL _odbcinst_UserINI(char *path, BOOL verify);
BOOL _odbcinst_SystemINI(char *path, BOOL verify);
char *odbcinst_system_file_path(char *space);
char *odbcinst_system_file_name(char *space);
char *odbcinst_user_file_path(char *space);
char *odbcinst_user_file_name(char *space);

enum {
    PATH_ROOM = 8192,
    NAME_MAX_BYTES = 255,
    VALUE_ROOM = 4096,
    KEYWORD_ROOM = 1024, /* libodbcinst's longest and a bit */
    LIST_ROOM = 16384
};

static struct {
    bool there;
    __typeof__(SQLGetPrivateProfileString) *SQLGetPrivateProfileString;
    __typeof__(_odbcinst_UserINI) *_odbcinst_UserINI;
    __typeof__(_odbcinst_SystemINI) *_odbcinst_SystemINI;
    __typeof__(odbcinst_system_file_path) *odbcinst_system_file_path;
    __typeof__(odbcinst_system_file_name) *odbcinst_system_file_name;
    __typeof__(odbcinst_user_file_path) *odbcinst_user_file_path;
    __typeof__(odbcinst_user_file_name) *odbcinst_user_file_name;
} odbcinst;

__attribute__((constructor)) static void load_odbcinst(void)
{
    static const struct library_function functions[] = {
        LIBRARY_FUNCTION(odbcinst, SQLGetPrivateProfileString),
        LIBRARY_FUNCTION(odbcinst, _odbcinst_UserINI),
        LIBRARY_FUNCTION(odbcinst, _odbcinst_SystemINI),
        LIBRARY_FUNCTION(odbcinst, odbcinst_system_file_path),
        LIBRARY_FUNCTION(odbcinst, odbcinst_system_file_name),
        LIBRARY_FUNCTION(odbcinst, odbcinst_user_file_path),
        LIBRARY_FUNCTION(odbcinst, odbcinst_user_file_name),
    };

    odbcinst.there = library_load(AFF_ODBCINST_SONAME, functions,
                                  sizeof functions / sizeof *functions);
}

/* In the order in which libodbcinst looks. */
enum file { USER_DSN, SYSTEM_DSN, SYSTEM_DRIVER, USER_DRIVER, FILES };

static struct {
    struct mutex mutex;        /* guards the rest, and libodbcinst's readers */
    struct section *sections;  /* each holds one reference */
    unsigned asked;            /* makes each default of a look-up new */
    /* written with the mutex held */
    _Atomic uint64_t fingerprint; /* of the files the sections are from */
    _Atomic uint64_t looked_at;   /* clock_ns() of the last stat(), 0 = never */
} ini = { .mutex = MUTEX_INITIALIZER(LOCK_INI) };

/* What a child asks for it reads again. */
static void leave_in_child(void)
{
    inifile_leave_all(ini.sections);
    ini.sections = NULL;
}

__attribute__((constructor)) static void register_for_forks(void)
{
    lock_keep_over_fork(&ini.mutex, LOCK_INI);
    pthread_atfork(NULL, NULL, leave_in_child);
}

/* Path of one of the files, empty if it has none. */
static void path_of(enum file file, char path[PATH_ROOM])
{
    static char space[2][PATH_ROOM]; /* guarded by ini.mutex */
    const char *folder = NULL, *name = NULL;

    mutex_assert_held(&ini.mutex);
    path[0] = '\0';
    if (!odbcinst.there) {
        return;
    }
    switch (file) {
    case USER_DSN:
        odbcinst._odbcinst_UserINI(path, 0);
        return;
    case SYSTEM_DSN:
        odbcinst._odbcinst_SystemINI(path, 0);
        return;
    case SYSTEM_DRIVER:
        folder = odbcinst.odbcinst_system_file_path(space[0]);
        name = odbcinst.odbcinst_system_file_name(space[1]);
        break;
    case USER_DRIVER:
        folder = odbcinst.odbcinst_user_file_path(space[0]);
        name = odbcinst.odbcinst_user_file_name(space[1]);
        break;
    case FILES:
        break;
    }
    if (folder && name) {
        snprintf(path, PATH_ROOM, "%s/%s", folder, name);
    }
}

static uint64_t look_at_files(void)
{
    uint64_t hash = TEXT_HASH;

    for (int i = 0; i < FILES; i++) {
        char path[PATH_ROOM];
        struct stat found;

        path_of((enum file)i, path);
        hash = text_hash(hash, path, strlen(path) + 1);
        if (stat(path, &found) == 0 && found.st_size > 0) {
            hash = text_hash(hash, &found.st_mtim, sizeof found.st_mtim);
            hash = text_hash(hash, &found.st_size, sizeof found.st_size);
            hash = text_hash(hash, &found.st_ino, sizeof found.st_ino);
            hash = text_hash(hash, &found.st_dev, sizeof found.st_dev);
        }
    }
    return hash ? hash : 1;
}

static void forget_locked(void)
{
    mutex_assert_held(&ini.mutex);
    inifile_forget_copies();
    inifile_release_all(ini.sections);
    ini.sections = NULL;
}

/* Is it time to look at the files? */
static bool is_due(uint64_t now)
{
    uint64_t looked_at = atomic_load(&ini.looked_at);

    /* another thread's look may be later than this one's clock */
    return !looked_at ||
           now > looked_at + INIFILE_STAT_MS * NS_PER_MS;
}

/* Looks at the files if that is due, and drops what they no longer say. */
static void refresh_locked(void)
{
    uint64_t now = clock_ns();
    uint64_t fingerprint;

    mutex_assert_held(&ini.mutex);
    if (!is_due(now)) {
        return;
    }
    fingerprint = look_at_files();
    if (fingerprint != ini.fingerprint) {
        ini.fingerprint = fingerprint;
        forget_locked();
    }
    ini.looked_at = now;
}

/* One look-up that reads the files.  entry NULL lists the keywords.  Bytes
   got; 0 as well when there is no such entry and *there is false. */
static size_t ask_once(const char *section, const char *entry, char *into,
                       size_t room, enum inifile_kind kind, bool *there)
{
    char fresh[32];
    int got;

    snprintf(fresh, sizeof fresh, "\001%u", ++ini.asked);
    into[0] = '\0';
    got = odbcinst.SQLGetPrivateProfileString(
        section, entry, fresh, into, (int)room,
        kind == INIFILE_DSN ? "odbc.ini" : "odbcinst.ini");
    *there = got >= 0 && strcmp(into, fresh) != 0;
    return *there && got > 0 ? (size_t)got : 0;
}

/* Concurrent readers of 2.3.11 (the manager's, not ours) can make a look-up
   come back empty; an empty one is repeated. */
static size_t ask(const char *section, const char *entry, char *into,
                  size_t room, enum inifile_kind kind, bool *there)
{
    size_t got = ask_once(section, entry, into, room, kind, there);

    return got > 0 ? got : ask_once(section, entry, into, room, kind, there);
}

/* The keywords of a section, each NUL-terminated, in *list.  False: memory. */
static bool list_keywords(const char *name, enum inifile_kind kind,
                          char **list, size_t *length)
{
    for (size_t room = LIST_ROOM;; room *= 2) {
        char *space = calloc(1, room + 1);
        bool there;

        if (!space) {
            return false;
        }
        *length = ask(name, NULL, space, room, kind, &there);
        if (*length + KEYWORD_ROOM < room) {
            *list = space;
            return true;
        }
        free(space);
    }
}

/* Does the line start that section, as libodbcinst sees it? */
static bool starts_section(const char *line, size_t length, const char *name)
{
    const char *start = line + 1;
    const char *end = memchr(line, ']', length);

    return text_same_bytes(start, text_trim(&start, end
                                            ? (size_t)(end - start)
                                            : length - 1), name);
}

/* Says which line is too long. */
static void blame_line(struct why *why, const char *path, const char *section,
                       const char *line, size_t length)
{
    const char *equals = memchr(line, '=', length);
    const char *keyword = line;
    size_t span = text_trim(&keyword, equals ? (size_t)(equals - line) : 0);

    why_set(why, WHY_INI,
            "%.150s, section [%.60s]: the line of %.*s has %zu bytes; unixODBC "
            "cuts lines after %d, and would do so without a word",
            path, section, span ? (int)(span > 40 ? 40 : span) : 9,
            span ? keyword : "a keyword", length, INIFILE_LINE_MAX);
}

/* Reads on to the end of that section in one file.  0: it is not in it, 1: it
   is and fits, -1: a line does not fit (why). */
static int measure_file(FILE *in, const char *path, const char *section,
                        struct why *why)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t got;
    int result = 0;

    while ((got = getline(&line, &room, in)) > 0) {
        size_t length = (size_t)got - (line[got - 1] == '\n');

        if (line[0] == '[') {
            if (result == 1) {
                break; /* of two sections of one name the first counts */
            }
            result = starts_section(line, length, section);
        } else if (result == 1 && length > INIFILE_LINE_MAX) {
            blame_line(why, path, section, line, length);
            result = -1;
            break;
        }
    }
    if (line) {
        explicit_bzero(line, room); /* ini files hold passwords */
    }
    free(line);
    return result;
}

/* False: a line of that section is too long (why). */
static bool lines_fit(const char *name, enum inifile_kind kind,
                      struct why *why)
{
    enum file first = kind == INIFILE_DSN ? USER_DSN : SYSTEM_DRIVER;

    for (int i = 0; i < 2; i++) {
        char path[PATH_ROOM];
        FILE *in;
        int found;

        path_of((enum file)(first + i), path);
        in = fopen(path, "re");
        if (!in) {
            continue;
        }
        found = measure_file(in, path, name, why);
        fclose(in);
        if (found) {
            return found > 0;
        }
    }
    return true;
}

static void say_missing(struct why *why, const char *name,
                        enum inifile_kind kind)
{
    enum file first = kind == INIFILE_DSN ? USER_DSN : SYSTEM_DRIVER;
    char one[PATH_ROOM], two[PATH_ROOM];

    path_of(first, one);
    path_of((enum file)(first + 1), two);
    why_set(why, WHY_DSN, "there is no section [%.60s] in %.120s or %.120s",
            name, one, two);
}

static bool add_value(struct section *section, struct inifile_entry *entries,
                      const char *keyword, struct why *why)
{
    char value[VALUE_ROOM];
    bool there, done;
    size_t got;

    if (inifile_value(&section->shown, keyword)) {
        return true; /* the first of duplicates counts */
    }
    got = ask(section->shown.name, keyword, value, sizeof value,
              section->kind, &there);
    if (!there) {
        return true; /* gone meanwhile: the next look sees the new file */
    }
    if (got + 1 >= sizeof value) {
        why_set(why, WHY_INI, "%s, section [%.60s]: the value of %.60s is too "
                "long for unixODBC",
                section->kind == INIFILE_DSN ? "odbc.ini" : "odbcinst.ini",
                section->shown.name, keyword);
        return false;
    }
    done = inifile_add_entry(section, entries, keyword, value);
    explicit_bzero(value, sizeof value);
    if (!done) {
        why_memory(why);
    }
    return done;
}

/* Makes the section from the list of its keywords. */
static struct section *make_section(const char *name, enum inifile_kind kind,
                                    const char *list, size_t length,
                                    struct why *why)
{
    struct section *section = calloc(1, sizeof *section);
    struct inifile_entry *entries = NULL;
    size_t most = 0;

    for (size_t i = 0; i < length; i++) {
        most += list[i] == '\0';
    }
    entries = calloc(most + 1, sizeof *entries);
    if (!section || !entries) {
        free(section);
        free(entries);
        why_memory(why);
        return NULL;
    }
    section->kind = kind;
    section->shown.entries = entries;
    section->shown.name = strdup(name);
    atomic_init(&section->references, 1);
    if (!section->shown.name) {
        why_memory(why);
        inifile_free(section);
        return NULL;
    }
    for (const char *k = list; k < list + length; k += strlen(k) + 1) {
        if (*k && !add_value(section, entries, k, why)) {
            inifile_free(section);
            return NULL;
        }
    }
    return section;
}

static struct section *read_section_locked(const char *name,
                                           enum inifile_kind kind,
                                           struct why *why)
{
    struct section *section = NULL;
    char *list = NULL;
    size_t length = 0;

    mutex_assert_held(&ini.mutex);
    if (!odbcinst.there) {
        why_set(why, WHY_INI, "unixODBC's library for ini files, "
                AFF_ODBCINST_SONAME ", cannot be loaded");
        return NULL;
    }
    /* libodbcinst copies names into buffers of its own */
    if (!*name || strlen(name) > NAME_MAX_BYTES) {
        say_missing(why, name, kind);
        return NULL;
    }
    if (!lines_fit(name, kind, why)) {
        return NULL;
    }
    if (!list_keywords(name, kind, &list, &length)) {
        why_memory(why);
        return NULL;
    }
    if (length == 0) {
        say_missing(why, name, kind);
    } else {
        section = make_section(name, kind, list, length, why);
    }
    free(list);
    return section;
}

const struct inifile_section *inifile_section(const char *name,
                                              enum inifile_kind kind,
                                              struct why *why)
{
    struct section *section =
        is_due(clock_ns()) ? NULL : inifile_find_copy(name, kind);

    assert(environment_is_allowed());
    if (section) {
        return &section->shown;
    }
    mutex_lock(&ini.mutex);
    refresh_locked();
    section = inifile_find(ini.sections, name, kind);
    if (!section) {
        section = read_section_locked(name, kind, why);
        if (section) {
            section->next = ini.sections;
            ini.sections = section;
        }
    }
    if (section) {
        atomic_fetch_add(&section->references, 1);
        inifile_add_copy(section);
    }
    mutex_unlock(&ini.mutex);
    return section ? &section->shown : NULL;
}

uint64_t inifile_fingerprint(void)
{
    if (is_due(clock_ns())) {
        mutex_lock(&ini.mutex);
        refresh_locked();
        mutex_unlock(&ini.mutex);
    }
    return atomic_load(&ini.fingerprint);
}

void inifile_forget(void)
{
    mutex_lock(&ini.mutex);
    ini.looked_at = 0;
    forget_locked();
    mutex_unlock(&ini.mutex);
}
