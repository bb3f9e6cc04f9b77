/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "link_socket.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link.h"
#include "lock.h"

/* Guards link->socket: a duplicate is closed, and so its number free for
   others, only when nobody is about to use it. */
static struct mutex sockets = MUTEX_INITIALIZER(LOCK_SOCKET);

__attribute__((constructor)) static void keep_over_fork(void)
{
    lock_keep_over_fork(&sockets, LOCK_SOCKET);
}

/* ---- all descriptors ---------------------------------------------------- */

/* The inode of a socket, by what /proc calls it: "socket:[4711]".  The
   descriptor is not touched, which may be another's and just being closed.
   False: it is none. */
static bool read_inode(int folder, const char *name, ino_t *inode)
{
    static const char begin[] = "socket:[";
    char target[64];
    ssize_t length = readlinkat(folder, name, target, sizeof target - 1);

    if (length < 0) {
        return false;
    }
    target[length] = '\0';
    if (strncmp(target, begin, sizeof begin - 1) != 0) {
        return false;
    }
    *inode = (ino_t)strtoull(target + sizeof begin - 1, NULL, 10);
    return true;
}

/* Calls each() with the sockets that are open; false: there is no telling. */
static bool each_socket(void (*each)(void *arg, int fd, ino_t inode),
                        void *arg)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    if (!folder) {
        return false;
    }
    while ((entry = readdir(folder))) {
        char *end;
        int fd = (int)strtol(entry->d_name, &end, 10);
        ino_t inode;

        if (end != entry->d_name && !*end &&
            read_inode(dirfd(folder), entry->d_name, &inode)) {
            each(arg, fd, inode);
        }
    }
    closedir(folder);
    return true;
}

static void add_inode(void *arg, int fd, ino_t inode)
{
    struct link_sockets *all = arg;

    (void)fd;
    if (all->known && (all->count & (all->count + 1)) == 0) { /* 0, 1, 3, … */
        size_t room = 2 * all->count + 1;
        ino_t *more = realloc(all->inodes, room * sizeof *more);

        all->known = more != NULL;
        all->inodes = more ? more : all->inodes;
    }
    if (all->known) {
        all->inodes[all->count++] = inode;
    }
}

static int compare_inodes(const void *a, const void *b)
{
    ino_t x = *(const ino_t *)a, y = *(const ino_t *)b;

    return (x > y) - (x < y);
}

void link_sockets_take(struct link_sockets *all)
{
    *all = (struct link_sockets){ .known = true };
    all->known = each_socket(add_inode, all) && all->known;
    if (all->count) {
        qsort(all->inodes, all->count, sizeof *all->inodes, compare_inodes);
    }
}

void link_sockets_free(struct link_sockets *all)
{
    free(all->inodes);
    *all = (struct link_sockets){ 0 };
}

static bool has_inode(const struct link_sockets *all, ino_t inode)
{
    return all->count && bsearch(&inode, all->inodes, all->count,
                                 sizeof inode, compare_inodes);
}

/* ---- ends ---------------------------------------------------------------- */

struct end {
    int family;
    unsigned char address[16];
    unsigned port;
};

static bool same_end(const struct end *a, const struct end *b)
{
    return a->family == b->family && a->port == b->port &&
           memcmp(a->address, b->address, sizeof a->address) == 0;
}

static bool read_end(const char *address, unsigned port, struct end *end)
{
    memset(end, 0, sizeof *end);
    end->port = port;
    end->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    return port > 0 && inet_pton(end->family, address, end->address) == 1;
}

/* "127.0.0.1 41234 127.0.0.1 5432": the client's end and the instance's. */
static bool read_ends(const char *text, struct end *near, struct end *far)
{
    char client[48], instance[48];
    unsigned client_port, instance_port;

    return sscanf(text, "%47s %u %47s %u", client, &client_port, instance,
                  &instance_port) == 4 &&
           read_end(client, client_port, near) &&
           read_end(instance, instance_port, far);
}

/* Is it what getsockname() or getpeername() says? */
static bool is_end(int fd, __typeof__(getsockname) *ask,
                   const struct end *wanted)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    } name;
    socklen_t length = sizeof name;
    struct end end = { 0 };

    if (ask(fd, &name.any, &length) != 0) {
        return false;
    }
    end.family = name.any.sa_family;
    if (end.family == AF_INET) {
        memcpy(end.address, &name.v4.sin_addr, sizeof name.v4.sin_addr);
        end.port = ntohs(name.v4.sin_port);
    } else if (end.family == AF_INET6) {
        memcpy(end.address, &name.v6.sin6_addr, sizeof name.v6.sin6_addr);
        end.port = ntohs(name.v6.sin6_port);
    }
    return same_end(&end, wanted);
}

/* ---- proving ------------------------------------------------------------- */

struct search {
    const struct link_sockets *before;
    struct end near, far;
    int fd;
    ino_t inode;
    unsigned found; /* different sockets */
};

static bool is_it(const struct search *search, int fd)
{
    return is_end(fd, getsockname, &search->near) &&
           is_end(fd, getpeername, &search->far);
}

static void look_at(void *arg, int fd, ino_t inode)
{
    struct search *search = arg;

    if (!has_inode(search->before, inode) && is_it(search, fd) &&
        (search->found == 0 || search->inode != inode)) {
        search->found++;
        search->fd = fd;
        search->inode = inode;
    }
}

/* Between finding and duplicating, a descriptor may have become another's. */
static bool is_still(const struct search *search, int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) &&
           about.st_ino == search->inode && is_it(search, fd);
}

void link_socket_prove(struct link *link, const struct link_sockets *before)
{
    enum { LOWEST = 3 }; /* not one that is taken for a standard stream */
    struct search search = { .before = before };
    int own;

    if (!before->known ||
        !read_ends(link->who.ends, &search.near, &search.far) ||
        !each_socket(look_at, &search) || search.found != 1) {
        return;
    }
    own = fcntl(search.fd, F_DUPFD_CLOEXEC, LOWEST);
    if (own >= 0 && !is_still(&search, own)) {
        close(own);
        own = -1;
    }
    mutex_lock(&sockets);
    link->socket = own + 1;
    mutex_unlock(&sockets);
}

bool link_socket_end(struct link *link)
{
    bool proved;

    mutex_lock(&sockets);
    proved = link->socket != 0;
    if (proved) {
        shutdown(link->socket - 1, SHUT_RDWR);
    }
    mutex_unlock(&sockets);
    return proved;
}

void link_socket_forget(struct link *link)
{
    mutex_lock(&sockets);
    if (link->socket) {
        close(link->socket - 1);
        link->socket = 0;
    }
    mutex_unlock(&sockets);
}
