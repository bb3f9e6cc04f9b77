/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "text.h"

/* Others of the process's group may read it, as is usual for logs. */
enum { LOG_FILE_MODE = 0640 };

const char *log_level_word(enum log_level level)
{
    static const char *const words[] = {
        [LOG_IS_ERROR] = "error",
        [LOG_IS_WARNING] = "warning",
        [LOG_IS_INFO] = "info",
        [LOG_IS_DEBUG] = "debug",
    };

    return words[level];
}

bool log_is_syslog(const char *where)
{
    return text_same(where, "syslog");
}

static bool is_stderr(const char *where)
{
    return text_same(where, "stderr");
}

/* Never waits for a reader, should it be a FIFO. */
static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
                          O_NONBLOCK,
                LOG_FILE_MODE);
}

bool log_check(const char *where, struct why *why)
{
    int fd;

    if (!*where || is_stderr(where) || log_is_syslog(where)) {
        return true;
    }
    if (*where != '/') {
        why_set(why, WHY_VALUE, "Log=%s: allowed are stderr, syslog, and the "
                "absolute path of a file", where);
        return false;
    }
    fd = open_file(where);
    if (fd < 0) {
        why_set(why, WHY_VALUE, "Log=%s: %s", where, strerror(errno));
        return false;
    }
    close(fd);
    return true;
}

bool log_write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(fd, bytes, count);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool write_file(const char *path, const char *lines, size_t length)
{
    int fd = open_file(path);
    bool ok;
    int error;

    if (fd < 0) {
        return false;
    }
    ok = log_write_all(fd, lines, length);
    error = errno;
    close(fd);
    errno = error;
    return ok;
}

/* Neither openlog() nor closelog(): what the program has set with them is
   its own. */
static void write_syslog(enum log_level level, const char *lines,
                         size_t length)
{
    static const int priorities[] = {
        [LOG_IS_ERROR] = LOG_ERR,
        [LOG_IS_WARNING] = LOG_WARNING,
        [LOG_IS_INFO] = LOG_INFO,
        [LOG_IS_DEBUG] = LOG_DEBUG,
    };
    const char *end = lines + length;

    while (lines < end) {
        const char *eol = memchr(lines, '\n', (size_t)(end - lines));
        const char *stop = eol ? eol : end;

        syslog(LOG_USER | priorities[level], "odbc-affinity: %.*s",
               (int)(stop - lines), lines);
        lines = stop + 1;
    }
}

bool log_write(const char *where, enum log_level level, const char *lines,
               size_t length)
{
    if (log_is_syslog(where)) {
        write_syslog(level, lines, length);
        return true;
    }
    return is_stderr(where) ? log_write_all(STDERR_FILENO, lines, length)
                            : write_file(where, lines, length);
}
