/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "text.h"

/* Whoever collects is usually another user. */
enum { METRICS_FILE_MODE = 0644 };

/* ---- the text ------------------------------------------------------------ */

static const char *suffix(enum metrics_type type)
{
    static const char *const suffixes[] = {
        [METRICS_GAUGE] = "",
        [METRICS_COUNTER] = "_total",
    };

    return suffixes[type];
}

static void append_name(struct text *out, const char *name)
{
    text_append(out, "odbc_affinity_");
    text_append(out, name);
}

static void append_escaped(struct text *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '\n') {
            text_append(out, "\\n");
        } else {
            if (*value == '\\' || *value == '"') {
                text_append_char(out, '\\');
            }
            text_append_char(out, *value);
        }
    }
}

/* Names come in the encoding of the application; the file is in UTF-8. */
static void append_value(struct text *out, const char *value)
{
    size_t length = strlen(value);
    struct text clean;

    text_init(&clean);
    for (size_t at = 0; at < length;) {
        uint32_t point;

        at += text_decode(value + at, length - at, &point);
        text_append_point(&clean, point);
    }
    out->failed |= clean.failed;
    append_escaped(out, text_string(&clean));
    text_free(&clean);
}

void metrics_family(struct text *out, const char *name,
                    enum metrics_type type, const char *help)
{
    static const char *const types[] = {
        [METRICS_GAUGE] = "gauge",
        [METRICS_COUNTER] = "counter",
    };

    text_append(out, "# TYPE ");
    append_name(out, name);
    text_appendf(out, " %s\n# HELP ", types[type]);
    append_name(out, name);
    text_append_char(out, ' ');
    text_append(out, help);
    text_append(out, ".\n");
}

static void append_number(struct text *out, uint64_t number, unsigned decimals)
{
    uint64_t unit = 1;

    for (unsigned i = 0; i < decimals; i++) {
        unit *= 10;
    }
    text_append_number(out, number / unit);
    if (decimals) {
        text_appendf(out, ".%0*llu", (int)decimals,
                     (unsigned long long)(number % unit));
    }
}

void metrics_sample(struct text *out, const char *name,
                    enum metrics_type type, const struct metrics_label *labels,
                    size_t count, uint64_t number, unsigned decimals)
{
    char before = '{';

    append_name(out, name);
    text_append(out, suffix(type));
    for (size_t i = 0; i < count; i++) {
        if (labels[i].value) {
            text_appendf(out, "%c%s=\"", before, labels[i].name);
            append_value(out, labels[i].value);
            text_append_char(out, '"');
            before = ',';
        }
    }
    text_append(out, before == ',' ? "} " : " ");
    append_number(out, number, decimals);
    text_append_char(out, '\n');
}

void metrics_end(struct text *out)
{
    text_append(out, "# EOF\n");
}

/* ---- the file ------------------------------------------------------------ */

void metrics_append_path(struct text *out, const char *where)
{
    for (; *where; where++) {
        if (where[0] == '%' && where[1] == 'p') {
            text_append_number(out, (uint64_t)getpid());
            where++;
        } else {
            text_append_char(out, *where);
        }
    }
}

/* The path, and that of the file that becomes it; text_free() both. */
static bool expand(const char *where, struct text *path, struct text *fresh)
{
    text_init(path);
    text_init(fresh);
    metrics_append_path(path, where);
    text_appendf(fresh, "%s.%ld.tmp", text_string(path), (long)getpid());
    if (path->failed || fresh->failed) {
        text_free(path);
        text_free(fresh);
        errno = ENOMEM;
        return false;
    }
    return true;
}

/* A new file, whatever one of the same process's id has left there. */
static int create(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return -1;
    }
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                METRICS_FILE_MODE);
}

/* What stands in the way: a file takes the place of a device as well, and is
   removed at the end.  NULL: nothing. */
static const char *obstacle(const char *path)
{
    struct stat what;

    if (stat(path, &what) != 0 || S_ISREG(what.st_mode)) {
        return NULL;
    }
    return S_ISDIR(what.st_mode) ? strerror(EISDIR) : "it is no regular file";
}

bool metrics_check(const char *where, struct why *why)
{
    struct text path, fresh;
    const char *wrong;
    int fd;

    if (!*where) {
        return true;
    }
    if (*where != '/') {
        why_set(why, WHY_VALUE, "Metrics=%s: allowed is the absolute path of "
                "a file", where);
        return false;
    }
    if (!expand(where, &path, &fresh)) {
        why_memory(why);
        return false;
    }
    fd = create(text_string(&fresh));
    wrong = fd < 0 ? strerror(errno) : obstacle(text_string(&path));
    if (wrong) {
        why_set(why, WHY_VALUE, "Metrics=%s: %s", where, wrong);
    }
    if (fd >= 0) {
        close(fd);
        unlink(text_string(&fresh));
    }
    text_free(&path);
    text_free(&fresh);
    return !wrong;
}

static bool write_fresh(const char *path, const struct text *text,
                        struct metrics_mark *mark)
{
    int fd = create(path), error;
    struct stat what;
    bool ok;

    if (fd < 0) {
        return false;
    }
    ok = log_write_all(fd, text_string(text), text->length) &&
         fstat(fd, &what) == 0;
    error = errno;
    close(fd);
    if (ok) {
        *mark = (struct metrics_mark){ true, what.st_dev, what.st_ino,
                                       what.st_mtim };
    } else {
        unlink(path);
    }
    errno = error;
    return ok;
}

bool metrics_write(const char *where, const struct text *text,
                   struct metrics_mark *mark)
{
    struct metrics_mark fresh_mark;
    struct text path, fresh;
    bool ok;
    int error;

    if (text->failed) {
        errno = ENOMEM;
        return false;
    }
    if (!expand(where, &path, &fresh)) {
        return false;
    }
    ok = write_fresh(text_string(&fresh), text, &fresh_mark);
    if (ok && rename(text_string(&fresh), text_string(&path)) != 0) {
        error = errno;
        unlink(text_string(&fresh));
        errno = error;
        ok = false;
    }
    error = errno;
    if (ok) {
        *mark = fresh_mark;
    }
    text_free(&path);
    text_free(&fresh);
    errno = error;
    return ok;
}

void metrics_remove(const char *where, struct metrics_mark *mark)
{
    struct text path, fresh;
    struct stat what;

    if (!mark->is || !expand(where, &path, &fresh)) {
        return;
    }
    if (lstat(text_string(&path), &what) == 0 &&
        what.st_dev == mark->device && what.st_ino == mark->inode &&
        what.st_mtim.tv_sec == mark->written.tv_sec &&
        what.st_mtim.tv_nsec == mark->written.tv_nsec) {
        unlink(text_string(&path));
    }
    mark->is = false;
    text_free(&path);
    text_free(&fresh);
}
