/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the link_*.c files share and nobody else needs.
 */
#ifndef LINK_CALL_H
#define LINK_CALL_H

#include "link.h"

/* Fills error from the first record of an inner handle. */
void link_take_error(const struct link *link, SQLSMALLINT type,
                     SQLHANDLE handle, struct link_error *error);

/* After a link could not be opened: is that for want of a file descriptor?
   Then error says so in front of the inner driver's words, from which it cannot
   be seen: a host's name that is not looked up for it is "not known". */
void link_note_scarcity(struct link_error *error);

/* A row of the kind's who, or of its probe, into link->who.  False: it does not
   say who it is. */
bool link_take_who(struct link *link, unsigned count,
                   const char *const *values);

/* It has not said this time who it is: what it said before may not hold any
   more.  The link's own encoding and ends do. */
void link_forget_who(struct link *link);

/* Does the inner driver not call it dead?  False: error says so. */
bool link_is_alive(const struct link *link, struct link_error *error);

/* Will what has failed so on a link that is not dead fail again?  Not for want
   of time, memory or the like (classes 25, 40, 53, 55, 57, 58, HYT, XX). */
bool link_is_refusal(const struct link_error *error);

/* Frees link->warned. */
void link_forget_warnings(struct link *link);

/* Calls done() of each child; frees its inner handle before if `inner`. */
void link_free_children(struct link *link, bool inner);

#endif
