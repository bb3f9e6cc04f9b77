/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The lines of the map file, as iniparser 4.1 will see them, and the file as
 * it is given to iniparser.
 */
#include "autoconf.h"

#include "fleet.h"
#include "text.h"
#include "topology_file_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 1000, /* iniparser gives up at about 1,024 */
    FILE_MAX_BYTES = 16 << 20, /* all of it comes into memory */
    KEYS_MAX = 100000, /* whose time iniparser takes grows with their square */
};

struct scanning {
    const char *path;
    const struct fleet *fleet;
    struct topology_scan *scan;
    unsigned line;
    const char *section; /* NULL: none yet */
    uint32_t instance;
    const char *key;     /* for messages */
    struct why *why;
};

static bool refuse(const struct scanning *s, const char *text)
{
    if (s->section && s->key) {
        why_set(s->why, WHY_INI, "AffinityMap %s, line %u, [%s] %s: %s",
                s->path, s->line, s->section, s->key, text);
    } else if (s->section) {
        why_set(s->why, WHY_INI, "AffinityMap %s, line %u, [%s]: %s", s->path,
                s->line, s->section, text);
    } else {
        why_set(s->why, WHY_INI, "AffinityMap %s, line %u: %s", s->path,
                s->line, text);
    }
    return false;
}

static bool out_of_memory(const struct scanning *s)
{
    why_memory(s->why);
    return false;
}

/* A copy that lives as long as the scan. */
static const char *keep(struct scanning *s, const char *text, size_t length)
{
    struct topology_scan *scan = s->scan;

    if (scan->name_count == scan->name_room) {
        size_t room = scan->name_room * 2 + 16;
        void *names = reallocarray(scan->names, room, sizeof *scan->names);
        if (!names) {
            return NULL;
        }
        scan->names = names;
        scan->name_room = room;
    }
    scan->names[scan->name_count] = strndup(text, length);
    return scan->names[scan->name_count]
               ? scan->names[scan->name_count++] : NULL;
}

/* Sections usually come in the order of Instances: look behind the latest
   one first. */
static bool find_instance(struct scanning *s)
{
    uint32_t count = s->fleet->count;

    for (uint32_t n = 0; n < count; n++) {
        uint32_t i = (s->instance + n) % count;
        if (text_same(s->fleet->instances[i].name, s->section)) {
            s->instance = i;
            return true;
        }
    }
    return refuse(s, "Instances has none of that name");
}

static bool read_section(struct scanning *s, const char *text, size_t length)
{
    s->key = NULL;
    if (text[length - 1] != ']') {
        s->section = NULL;
        return refuse(s, "a section is written [instance] and stands alone "
                      "in its line");
    }
    text++;
    length = text_trim(&text, length - 2);
    s->section = keep(s, text, length);
    return s->section ? find_instance(s) : out_of_memory(s);
}

/* What would iniparser make of this value? */
static bool check_value(const struct scanning *s, const char *value)
{
    size_t length = strlen(value);

    if (length && value[length - 1] == '\\') {
        return refuse(s, "a line must not end in a backslash; long lists go "
                      "on in numbered keys: list.1, list.2");
    }
    if (*value == '"' || *value == '\'') {
        const char *end = strchr(value + 1, *value);
        if (!end) {
            return refuse(s, "the quote that the value begins with is not "
                          "closed");
        }
        end += 1 + strspn(end + 1, " \t");
        if (*end && *end != ';' && *end != '#') {
            return refuse(s, "text follows the closing quote; put the whole "
                          "value into '…' or \"…\"");
        }
        return true;
    }
    for (const char *p = value; (p = strpbrk(p, ";#")); p++) {
        if (p > value && p[-1] != ' ' && p[-1] != '\t') {
            return refuse(s, "; and # begin a comment; put the whole value "
                          "into quotes");
        }
        break;
    }
    return true;
}

static bool add_entry(struct scanning *s)
{
    struct topology_scan *scan = s->scan;

    if (scan->count == KEYS_MAX) {
        return refuse(s, "the file has more than 100,000 keys; a line holds "
                      "several items");
    }
    if (scan->count == scan->room) {
        size_t room = scan->room * 2 + 16;
        void *entries =
            reallocarray(scan->entries, room, sizeof *scan->entries);
        if (!entries) {
            return out_of_memory(s);
        }
        scan->entries = entries;
        scan->room = room;
    }
    scan->entries[scan->count++] = (struct topology_entry){
        .instance = s->instance, .line = s->line, .section = s->section,
        .key = s->key,
    };
    return true;
}

static bool read_key(struct scanning *s, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length), *key = text, *value;
    size_t key_length;
    char *lower;

    s->key = NULL;
    if (!equals) {
        return refuse(s, "neither a [section] nor key = value");
    }
    if (!s->section) {
        return refuse(s, "a key before the first [section]");
    }
    key_length = text_trim(&key, (size_t)(equals - text));
    lower = (char *)keep(s, key, key_length);
    if (!lower) {
        return out_of_memory(s);
    }
    for (char *p = lower; *p; p++) {
        *p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
    }
    s->key = lower;
    for (value = equals + 1; *value == ' ' || *value == '\t'; value++) {
    }
    return check_value(s, value) && add_entry(s);
}

static bool read_line(struct scanning *s, char *line, size_t length)
{
    const char *text = line;

    if (length > LINE_MAX_BYTES) {
        return refuse(s, "the line is too long; long lists go on in numbered "
                      "keys: list.1, list.2");
    }
    if (strlen(line) != length) {
        return refuse(s, "a NUL byte");
    }
    length = text_trim(&text, length);
    line[text - line + (ptrdiff_t)length] = '\0';
    if (length == 0 || *text == '#' || *text == ';') {
        return true;
    }
    return *text == '[' ? read_section(s, text, length)
                        : read_key(s, text, length);
}

static int compare_entries(const void *a, const void *b)
{
    const struct topology_entry *x = a, *y = b;

    if (x->instance != y->instance) {
        return x->instance < y->instance ? -1 : 1;
    }
    return strcmp(x->key, y->key);
}

static bool sort(struct scanning *s)
{
    struct topology_scan *scan = s->scan;

    if (!scan->count) {
        return true;
    }
    qsort(scan->entries, scan->count, sizeof *scan->entries, compare_entries);
    for (size_t i = 1; i < scan->count; i++) {
        const struct topology_entry *a = &scan->entries[i - 1];
        const struct topology_entry *b = &scan->entries[i];
        if (compare_entries(a, b) == 0) {
            s->line = a->line > b->line ? a->line : b->line;
            s->section = b->section;
            s->key = b->key;
            return refuse(s, "this key stands there twice");
        }
    }
    return true;
}

/* A FIFO would hold whoever connects until somebody writes, a device may have
   no end, and a file may be a dump that somebody has put in the wrong place. */
static const char *obstacle(const struct stat *about)
{
    return !S_ISREG(about->st_mode)          ? "it is no regular file"
           : about->st_size > FILE_MAX_BYTES ? "it has more than 16 MB"
                                             : NULL;
}

static FILE *open_regular(const char *path, struct why *why)
{
    const char *wrong = NULL;
    struct stat about;
    FILE *file = NULL;
    int fd;

    if (*path != '/') { /* it is read again: it might be another one then */
        why_set(why, WHY_VALUE, "AffinityMap=%s: allowed is the absolute path "
                "of a file", path);
        return NULL;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &about) == 0) {
        wrong = obstacle(&about);
    }
    if (fd >= 0 && !wrong) {
        file = fdopen(fd, "r");
    }
    if (!file) {
        why_set(why, WHY_INI, "AffinityMap %s: %s", path,
                wrong ? wrong : strerror(errno));
    }
    if (!file && fd >= 0) {
        close(fd);
    }
    return file;
}

/* Copies the rest of what is open, up to one byte more than it may have.
   False: errno tells. */
static bool copy_to(int to, int from)
{
    char bytes[8192];
    ssize_t n = 1;

    for (size_t sum = 0; n > 0 && sum <= FILE_MAX_BYTES; sum += (size_t)n) {
        n = read(from, bytes, sizeof bytes);
        if (n < 0 || (n > 0 && write(to, bytes, (size_t)n) != n)) {
            return false;
        }
    }
    return lseek(to, 0, SEEK_SET) == 0;
}

/* iniparser reads the file again, by its path, while it keeps all others from
   reading theirs; so it is given a copy in memory, which no disk keeps from
   being read, and which says the same as what was read here.  Where none can
   be had (there is no /proc) it has to be the file. */
static FILE *open_copy(const char *path, struct topology_scan *scan,
                       struct why *why)
{
    FILE *file = open_regular(path, why);
    int copy = file ? memfd_create("affinity-map", MFD_CLOEXEC) : -1;
    FILE *copied = NULL;

    if (copy < 0) {
        return file;
    }
    snprintf(scan->copy_path, sizeof scan->copy_path, "/proc/self/fd/%d",
             copy);
    if (!copy_to(copy, fileno(file))) {
        why_set(why, WHY_INI, "AffinityMap %s: %s", path, strerror(errno));
        close(copy);
        fclose(file);
        return NULL;
    }
    copied = fopen(scan->copy_path, "re");
    if (!copied) {
        close(copy);
        lseek(fileno(file), 0, SEEK_SET);
        return file;
    }
    fclose(file);
    scan->copy = copy;
    return copied;
}

bool topology_scan_read(const char *path, const struct fleet *fleet,
                        struct topology_scan *scan, struct why *why)
{
    struct scanning s = { .path = path, .fleet = fleet, .scan = scan,
                          .why = why };
    FILE *file;
    char *line = NULL;
    size_t room = 0, bytes = 0;
    ssize_t length;
    bool ok = true;

    scan->copy = -1;
    file = open_copy(path, scan, why);
    if (!file) {
        return false;
    }
    errno = 0;
    while (ok && (length = getline(&line, &room, file)) >= 0) {
        s.line++;
        bytes += (size_t)length;
        if (bytes > FILE_MAX_BYTES) { /* somebody is writing */
            ok = refuse(&s, "the file has more than 16 MB");
            break;
        }
        length -= length > 0 && line[length - 1] == '\n';
        length -= length > 0 && line[length - 1] == '\r';
        line[length] = '\0';
        ok = read_line(&s, line, (size_t)length);
    }
    if (ok && ferror(file)) {
        why_set(why, WHY_INI, "AffinityMap %s: %s", path, strerror(errno));
        ok = false;
    }
    free(line);
    fclose(file);
    return ok && sort(&s);
}

void topology_scan_free(struct topology_scan *scan)
{
    for (size_t i = 0; i < scan->name_count; i++) {
        free(scan->names[i]);
    }
    free(scan->names);
    free(scan->entries);
    if (scan->copy >= 0) {
        close(scan->copy);
    }
}
