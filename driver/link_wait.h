/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Ending what a helper thread waits for inside an inner driver, whatever it is
 * doing there: for the exit, which must not leave one there that meets the
 * clean-up of its libraries (pool_exit.c).
 *
 * A link that is being opened has no proved socket yet (link_socket.h).  But
 * the kernel tells which system call a thread sleeps in: where that is poll(2)
 * for one descriptor, and it is a socket, that socket is what our own call
 * waits for, and nobody else's.
 */
#ifndef LINK_WAIT_H
#define LINK_WAIT_H

#include <stdbool.h>

#include <sys/types.h>

/* Shuts down the socket that thread `tid` of this process, one of the keeper's,
   waits for.  False: it does not wait so, or there is no telling (no /proc);
   nothing was done.  Any thread, any lock. */
bool link_wait_end(pid_t tid);

#endif
