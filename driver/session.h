/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One application connection with everything it carries: what was asked for,
 * the link it holds, and the attributes the application set.
 *
 * In scope "connection" the session takes its link when it connects and gives
 * it back when it disconnects, so between the two the link never changes, but
 * for a session that the manager's pooling hands to the next user: it gives
 * its link back then, and takes another when it needs one.
 * A session is used by one thread at a time for connecting, handing over and
 * disconnecting (the manager sees to that).
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

#include "text.h"
#include "why.h"

struct command_view;
struct config;
struct diags;
struct inner;
struct inner_calls;
struct link;
struct link_child;

struct session;

/* A session without a link.  NULL: out of memory. */
struct session *session_new(void);

/* Gives the link back if there still is one, and frees. */
void session_free(struct session *s);

/* Keeps a connection attribute set before connect, or replaces it; text
   values are copied as facts §5.1 found them to arrive (any width,
   unterminated, pointer).  What is wrong with one of ours (design §5.2) is
   remembered and reported by session_connect().  Always SQL_SUCCESS but for
   want of memory. */
SQLRETURN session_keep_attr(struct session *s, SQLINTEGER attribute,
                            SQLPOINTER value, SQLINTEGER length,
                            enum text_width width, struct diags *diags);

/* What session_keep_attr() holds, or ODBC's default, for SQLGetConnectAttr
   before connect: a text of `length` bytes, the session's, or, where that is
   NULL, a number that has `length` of them.  False: only a connection can
   tell. */
struct session_kept {
    const char *text;
    SQLULEN number;
    size_t length;
};
bool session_kept_attr(const struct session *s, SQLINTEGER attribute,
                       struct session_kept *kept);

/* Finds the fleet, places the session and takes a link, within the time that
   SQL_ATTR_LOGIN_TIMEOUT and the keywords allow.  Takes over `config` whether
   it succeeds or not.  SQL_SUCCESS_WITH_INFO: diags say what the inner driver
   warned of when the link was opened, by whomever.
   Locks: none may be held. */
SQLRETURN session_connect(struct session *s, struct config *config,
                          SQLINTEGER odbc_version, bool wide,
                          struct diags *diags);

/* For every use of the link: a session that was handed over is placed here,
   with the time limits of the keywords.  Any thread of the session's may
   call it; while one is being placed the others wait.  Anything but
   SQL_SUCCESS: there is no link, diags say why, the next call tries again.
   Locks: none may be held. */
SQLRETURN session_need_link(struct session *s, struct diags *diags);

/* Is it an attribute that says where a session goes? */
bool session_is_choice(SQLINTEGER attribute);

/* Sets such a one after connect, for the placing that is to come.  *chosen
   false: nothing was done, the session has its link. */
SQLRETURN session_choose(struct session *s, SQLINTEGER attribute,
                         SQLPOINTER value, SQLINTEGER length,
                         enum text_width width, struct diags *diags,
                         bool *chosen);

/* Gives a connected session to the next user: its link goes back as at
   session_disconnect(), and what its attributes said is forgotten, so that it
   is what its connection string says.  False: it cannot serve another, its
   login is out of date (or there is no memory).  Never waits. */
bool session_hand_over(struct session *s, struct link_child *children);

/* Gives the link back together with the inner statements and descriptors that
   still hang on it (freed by a helper thread; each child's done() is called
   when its inner handle is gone).  Never waits (rules §4.4).
   In a forked child the link is forgotten, nothing is sent. */
void session_disconnect(struct session *s, struct link_child *children);

/* Wipes the session's own copy of the keywords handed down: once the completed
   connection string is written, passwords live only in the login
   (rules §5.6). */
void session_forget_login(struct session *s);

/* The configuration the session connected with; NULL before. */
const struct config *session_config(const struct session *s);

/* The held link's inner connection and functions; SQL_NULL_HDBC: none, as
   before session_need_link(). */
SQLHDBC session_inner(const struct session *s, const struct inner_calls **call);

/* The inner driver of the held link; NULL: none. */
const struct inner *session_driver(const struct session *s);

/* Notes that the link has been used for something that a reset must undo
   (a statement allocated, an attribute set, a transaction ended). */
void session_touch(struct session *s);

/* Has a helper thread cancel what runs on an inner statement of the held link.
   False: it could not be handed over. */
bool session_cancel(struct session *s, SQLHSTMT inner);

/* After a failure: waits until the cancels that may have caused it have ended,
   as they have when an inner driver's SQLCancel returns. PostgreSQL signals a
   backend twice, and the second would hit what the application runs next. */
void session_await_cancels(struct session *s);

/* An inner handle is to be freed: true = not now, a cancel is under way; the
   reset does it. */
bool session_keep_child(struct session *s, SQLSMALLINT type, SQLHANDLE inner);

/* Is it noted what runs over the link (link_note.h)?  What is shown of it. */
bool session_is_noted(const struct session *s);
void session_note_ran(struct session *s, const char *shown);

/* Notes an attribute set after connect, so that giving the link back can undo
   it (facts §10: no SQL resets what the inner driver keeps in the HDBC). */
void session_note_attr(struct session *s, SQLINTEGER attribute);

/* Notes that a function of the connection's is called in this width.  A link
   that was opened narrow does not go on to another session after a wide one:
   psqlODBC takes its application for a wide one from then on, and describes
   texts as SQL_WVARCHAR. */
void session_note_width(struct session *s, enum text_width width);

/* Has its instance been found down, or no longer a primary, since the link it
   holds was opened?  It cannot go on then, and nothing of its link's is called
   any more by the application's threads.  No locks. */
bool session_is_lost(const struct session *s);

/* Appends why, if it is; else nothing. */
void session_say_lost(const struct session *s, struct text *out);

/* After an inner call failed: asks the inner driver whether the link is dead
   (rules §5.1) and, if so, makes its instance suspect.  True: dead. */
bool session_ask_dead(struct session *s);

/* The same, after an error whose records were copied into diags; where asking
   would change what the session sees, or may hang, only if they may be those of
   a dead link (struct inner_kind, may_be_dead), or there are none. */
bool session_died_of(struct session *s, struct diags *diags);

/* The same where nothing has failed: an inner driver for which asking is a
   question to the instance (dead_asks) is not asked, and its link not known to
   be dead. */
bool session_known_dead(struct session *s);

/* Is its instance late with an answer to us?  What is sent over its link now
   may hang.  No locks. */
bool session_may_hang(const struct session *s);

/* An error whose records were copied into diags may say that its instance's
   role, or what it owns, is another by now (rules §1.4): then it is probed
   soon. */
void session_give_cause(struct session *s, struct diags *diags);

/* The instance of the held link, and the last verdict in one line, for
   SQL_ATTR_AFFINITY_INSTANCE and _VERDICT; "" when there is none.  Valid
   until the session is placed anew, handed over or disconnected. */
const char *session_instance(const struct session *s);
const char *session_verdict(const struct session *s);

/* What an SQL command of ours may see of a connected session; everything in it
   stays the session's.  False: it is not connected. */
bool session_view(const struct session *s, struct command_view *view);

#endif
