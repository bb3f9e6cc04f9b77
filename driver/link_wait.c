/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "link_wait.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of the system call and what it was given, as /proc says it. */
struct call {
    char line[256];
    long number;
    unsigned long first, second;
};

static bool read_call(pid_t tid, struct call *call)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", (long)tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    n = read(fd, call->line, sizeof call->line - 1);
    close(fd);
    call->line[n > 0 ? n : 0] = '\0';
    return sscanf(call->line, "%ld %lx %lx", &call->number, &call->first,
                  &call->second) == 3;
}

static bool is_poll(const struct call *call)
{
#ifdef SYS_poll
    if (call->number == SYS_poll) {
        return true;
    }
#endif
    return call->number == SYS_ppoll;
}

/* By way of the kernel: the thread may have gone on, and its stack be gone. */
static bool read_polled(const struct call *call, int *polled)
{
    struct pollfd one;
    int memory;
    bool ok;

    if (!is_poll(call) || call->second != 1) {
        return false;
    }
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (memory < 0) {
        return false;
    }
    ok = pread(memory, &one, sizeof one, (off_t)call->first) == sizeof one;
    close(memory);
    *polled = one.fd;
    return ok;
}

static bool is_socket(int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

/* Does it wait there yet, for the same? */
static bool waits_still(pid_t tid, const struct call *before, int polled)
{
    struct call now;
    int again;

    return read_call(tid, &now) && strcmp(now.line, before->line) == 0 &&
           read_polled(&now, &again) && again == polled;
}

/* Between reading and duplicating, the descriptor may have become another's;
   then the thread waits there no longer. */
bool link_wait_end(pid_t tid)
{
    enum { LOWEST = 3 }; /* not one that is taken for a standard stream */
    struct call call;
    int polled, own;
    bool ended;

    if (!read_call(tid, &call) || !read_polled(&call, &polled)) {
        return false;
    }
    own = fcntl(polled, F_DUPFD_CLOEXEC, LOWEST);
    if (own < 0) {
        return false;
    }
    ended = is_socket(own) && waits_still(tid, &call, polled);
    if (ended) {
        shutdown(own, SHUT_RDWR);
    }
    close(own);
    return ended;
}
