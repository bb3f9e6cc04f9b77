/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A session's fields, for session.c and session_link.c and nobody else.
 */
#ifndef SESSION_INSIDE_H
#define SESSION_INSIDE_H

#include <stdatomic.h>
#include <stdint.h>

#include "config.h"
#include "fleet.h"
#include "lock.h"
#include "login.h"
#include "route_key.h"
#include "session.h"
#include "text.h"

struct session {
    struct session_attr *kept;
    struct config *config; /* NULL while not connected */
    bool wide; /* connected by a wide function */
    struct login *login; /* retained */
    struct fleet *fleet; /* its */
    struct link *_Atomic link; /* NULL: it is placed when it needs one */
    struct route_key *key;
    struct text verdict;
    uint32_t forked; /* fork_count() when connected */

    /* What the connection string and DSN said, where an attribute has changed
       it since; string_key NULL: none has. */
    char *string_key;
    enum config_mode string_mode;

    /* Several threads of a session without a link may need one at once: one
       of them has it placed, the others wait for what comes of it. */
    struct mutex lock; /* guards placing; not held while placing */
    struct cond placed;
    bool placing;
};

/* What the session asks for. */
enum route_mode session_mode(const struct session *s);
bool session_writes(const struct session *s);

/* Keeps what the string said before an attribute changes it.  False: why. */
bool session_remember_string(struct session *s, struct why *why);

/* config's AffinityKey into s->key, in place of what was there, as s->fleet
   reads it.  False: why. */
bool session_read_key(struct session *s, struct why *why);

/* Gets a link for a session with fleet, login and key, and sets on it what
   attributes were kept.  Anything but SQL_SUCCESS: there is none, diags say
   why.  Locks: none may be held. */
SQLRETURN session_place(struct session *s, struct diags *diags);

/* Places a session that has no login yet, with a link that is at hand, if there
   is one that suits it: link and login are the session's then.  False: nothing
   was done. */
bool session_place_at_once(struct session *s, SQLINTEGER odbc_version);

/* Leaves link and login behind for the next session, if there is a link and
   nothing was done with it.  False: session_give_back(). */
bool session_leave(struct session *s, const struct link_child *children);

/* Gives the link back, if there is one, with the inner handles that still hang
   on it.  Never waits. */
void session_give_back(struct session *s, struct link_child *children);

#endif
