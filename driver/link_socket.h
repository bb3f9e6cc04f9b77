/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A link's socket, where it is proved which one that is.  Nothing in ODBC ends
 * a call on an instance that hangs, but shutdown(2) of its socket does, at once
 * (rules §4.2).  So a link keeps a duplicate of the descriptor from its
 * opening on, which stays the same socket whatever the inner driver closes and
 * somebody else opens under the old number.
 *
 * Proved is a socket that was not there before the link was opened and whose
 * two ends are those that the instance's side sees for this very link: TCP,
 * without a proxy or translated addresses between.  Where that is not so, there
 * is no duplicate, and nothing is ever shut down.
 */
#ifndef LINK_SOCKET_H
#define LINK_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

struct link;

/* The sockets of the process at one moment. */
struct link_sockets {
    ino_t *inodes; /* sorted */
    size_t count;
    bool known;    /* false: /proc or memory is not to be had */
};
void link_sockets_take(struct link_sockets *all);
void link_sockets_free(struct link_sockets *all);

/* Looks for the socket of a link that has just been opened and asked who is
   there (link->who.ends); `before` is from before.  On a helper's thread. */
void link_socket_prove(struct link *link, const struct link_sockets *before);

/* Ends whatever is under way on the link, on any thread; it is dead then.
   False: its socket is not proved, nothing was done.  Any thread, any lock of
   lower rank than LOCK_SOCKET held; the link exists. */
bool link_socket_end(struct link *link);

/* Closes the duplicate, if there is one; when the link has been closed. */
void link_socket_forget(struct link *link);

#endif
