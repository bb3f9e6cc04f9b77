/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Our four kinds of handle over the inner driver's: what each holds, who is
 * whose parent, and how long it lives.  The manager hands these pointers back
 * to us in every call; what it may call when is its own business, so a wrong
 * kind or a stale handle answers SQL_INVALID_HANDLE and touches nothing else.
 * For that to be safe the memory of a handle is kept for later handles of its
 * kind and never given back to the allocator.
 *
 * A session of scope "connection" keeps its link as long as it has statements
 * or descriptors, so these point at their inner twins directly and a forwarded
 * call is one load and one indirect call (design, promise 9).
 *
 * Locks: env->lock guards the list of sessions under an environment,
 * dbc->lock the lists of statements and descriptors under a session.  Neither
 * is ever held while the inner driver is called.
 *
 * Fork: a connection that was made before the fork belongs to the parent: in
 * the child its memory is freed and nothing else.  An environment, and a
 * session that is not connected, are the child's to use.  Their locks may be
 * held by threads that the child does not have, so the first use of an
 * inherited handle makes them anew: handle_claim().
 */
#ifndef HANDLE_H
#define HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>
#include <utlist.h>

#include "diag.h"
#include "inner.h"
#include "link.h"
#include "lock.h"

struct session;
struct command;
struct text;

enum handle_kind {
    HANDLE_GONE = 0x0,
    HANDLE_ENV = 0x41464645, /* "AFFE" */
    HANDLE_DBC = 0x41464644,
    HANDLE_STMT = 0x41464653,
    HANDLE_DESC = 0x41464650
};

/* First member of every handle.  kind doubles as the mark of a live one. */
struct head {
    _Atomic uint32_t kind; /* enum handle_kind */
    uint32_t forked;       /* fork_count() of the process it belongs to */
    uint32_t claimed;      /* … of the one that made its locks */
    _Atomic uint32_t news; /* news_count() when it was last found usable */
    struct head *next_free;
    struct diags diags;
};

struct env {
    struct head head;
    struct mutex lock; /* guards dbcs */
    struct dbc *dbcs;
    SQLINTEGER odbc_version; /* as the application asked; 0 = not yet */
    SQLINTEGER output_nts;
    SQLINTEGER pooling; /* stored for the application, without effect */
    SQLINTEGER cp_match;
};

enum { HANDLE_DSN_MAX = 128 };

struct dbc {
    struct head head;
    struct env *env;
    struct session *session; /* never NULL */
    atomic_bool connected; /* SQLCancelHandle looks while it is connecting */
    /* entry_exec.c's: something was run or prepared since the last SQLEndTran,
       so that with autocommit off a unit may be open */
    atomic_bool unit;
    struct text *browse;      /* what SQLBrowseConnect has gathered, or NULL */
    char dsn[HANDLE_DSN_MAX]; /* shown in records of this and all below */
    struct mutex lock;        /* guards stmts, descs, writing stmt->current */
    struct stmt *stmts;
    struct desc *descs; /* explicit ones */
    struct dbc *prev, *next;
};

/* The four descriptors of a statement, in the order of SQL_ATTR_APP_ROW_DESC
   10010, APP_PARAM_DESC 10011, IMP_ROW_DESC 10012, IMP_PARAM_DESC 10013. */
enum desc_role { DESC_ARD, DESC_APD, DESC_IRD, DESC_IPD, DESC_ROLES };

struct desc {
    struct head head;
    struct dbc *dbc;
    struct stmt *stmt;   /* NULL: allocated by the application */
    enum desc_role role; /* of an implicit one */
    const struct inner_calls *call;
    SQLHDESC inner;          /* of an implicit one: fetched at first use */
    struct link_child child; /* of an explicit one, as in struct stmt */
    struct desc *prev, *next;
};

/* One byte, which each call that runs something compares where it lies. */
enum __attribute__((packed)) stmt_prepared {
    PREPARED_THEIRS,  /* whatever the inner statement holds */
    PREPARED_COMMAND, /* an SQL command of ours */
    PREPARED_NOTHING, /* the latest text was ours and wrong */
    PREPARED_NOTED    /* as THEIRS, and texts are noted (SessionLimit), for
                         which they go the longer way */
};

struct stmt {
    struct head head;
    const struct inner_calls *call; /* the inner driver's functions */
    SQLHSTMT inner;
    atomic_bool running; /* a call is inside the inner driver */
    struct link_child child; /* how the reset frees inner after disconnect */
    struct dbc *dbc;
    /* entry_exec.c's: what SQLExecute would run */
    enum stmt_prepared prepared;
    enum stmt_prepared theirs; /* PREPARED_THEIRS, or PREPARED_NOTED */
    struct command *command; /* PREPARED_COMMAND: which; else NULL */
    char *noted;             /* PREPARED_NOTED: what is prepared; or NULL */
    atomic_bool executed;    /* entry_exec.c's: may have a cursor */
    struct desc implicit[DESC_ROLES];
    /* what the application set; written under dbc->lock, read without */
    struct desc *_Atomic current[DESC_ROLES];
    struct stmt *prev, *next;
};

/* Is it a live handle of that kind?  NULL is none. */
static inline bool handle_is(const void *handle, enum handle_kind kind)
{
    return handle &&
           atomic_load_explicit(&((const struct head *)handle)->kind,
                                memory_order_relaxed) == (uint32_t)kind;
}

/* Does it belong to a process that forked us? */
static inline bool handle_inherited(const struct head *head)
{
    return head->forked != fork_count();
}

/* Has something happened since this handle was last found usable, which may
   concern it?  Then entry_look() says. */
static inline bool handle_is_stale(const struct head *head)
{
    return atomic_load_explicit(&head->news, memory_order_relaxed) !=
           news_count();
}

/* The live handle behind SQLHANDLE and SQL_HANDLE_ type, NULL: there is none
   of that type. */
struct head *handle_find(SQLSMALLINT type, SQLHANDLE handle);

/* Before anything but the look of handle_is() and handle_inherited() at a
   handle that is inherited: makes its locks and its parents' usable in this
   process, and an environment or unconnected session this process's own.
   Costs next to nothing where that has been done. */
void handle_claim(struct head *head);

/* New handles, live and linked into their parent.  NULL: out of memory.
   handle_new_stmt and handle_new_desc take over the inner handle.
   Locks: take those of the parent. */
struct env *handle_new_env(void);
struct dbc *handle_new_dbc(struct env *env);
struct stmt *handle_new_stmt(struct dbc *dbc, const struct inner_calls *call,
                             SQLHSTMT inner);
struct desc *handle_new_desc(struct dbc *dbc, const struct inner_calls *call,
                             SQLHDESC inner);

/* Ends a handle of ours: unlinks it and keeps its memory for later ones.  The
   inner handle is the caller's business; environments must have no sessions,
   sessions neither a link nor statements, and descriptors must not be any
   statement's: handle_unset_desc(). */
void handle_free_env(struct env *env);
void handle_free_dbc(struct dbc *dbc);
void handle_free_stmt(struct stmt *stmt);
void handle_free_desc(struct desc *desc);

/* Forgets what SQLBrowseConnect has gathered, if anything. */
void handle_end_browse(struct dbc *dbc);

/* Ends all statements and explicit descriptors of a session at once and
   returns their inner handles, statements first, for session_disconnect().
   Their memory goes back with each child's done(). */
struct link_child *handle_detach(struct dbc *dbc);

/* The inner descriptor of ours; asks the inner statement once for an implicit
   one.  SQL_NULL_HDESC: the inner driver gives none, records are in
   desc->head.diags.  Locks: calls the inner driver with none held. */
SQLHDESC handle_inner_desc(struct desc *desc);

/* The descriptor in that role; the manager asks for all four of each new
   statement. */
static inline struct desc *handle_current_desc(const struct stmt *stmt,
                                               enum desc_role role)
{
    return atomic_load_explicit(&stmt->current[role], memory_order_acquire);
}

/* Sets it.  Locks: takes dbc->lock. */
void handle_set_desc(struct stmt *stmt, enum desc_role role,
                     struct desc *desc);

/* Gives one of the statements for which an explicit descriptor was set its
   implicit one back: which, in which role; false: there is none (any more).
   Locks: takes dbc->lock. */
bool handle_unset_desc(struct desc *desc, struct stmt **user,
                       enum desc_role *role);

#endif
