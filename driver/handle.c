/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Making and ending our handles.  Decides nothing about the inner ones but
 * which inner descriptor stands behind an implicit descriptor of ours.
 */
#include "autoconf.h"

#include "handle.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "session.h"
#include "text.h"

/* Ended handles by kind, for the next ones.  The locks are leaves: nothing else
   is taken under them. */
enum ended_kind { ENDED_ENV, ENDED_DBC, ENDED_STMT, ENDED_DESC, ENDED_KINDS };

static struct stripe {
    struct mutex lock; /* LOCK_DIAG */
    struct head *_Atomic list[ENDED_KINDS]; /* whether empty is seen without */
} __attribute__((aligned(LOCK_APART))) ended[LOCK_STRIPES];

/* Serialises claiming; whole in a child. */
static struct mutex claiming = MUTEX_INITIALIZER(LOCK_DIAG);

/* A child does without those that its parent had ended: the lists may have been
   at work. */
static void clear_ended(void)
{
    for (int i = 0; i < LOCK_STRIPES; i++) {
        mutex_init(&ended[i].lock, LOCK_DIAG);
        for (int kind = 0; kind < ENDED_KINDS; kind++) {
            ended[i].list[kind] = NULL;
        }
    }
}

__attribute__((constructor)) static void set_up(void)
{
    clear_ended();
    lock_keep_over_fork(&claiming, LOCK_DIAG);
    pthread_atfork(NULL, NULL, clear_ended);
}

static struct head *take_from(struct stripe *stripe, enum ended_kind kind)
{
    struct head *head = NULL;

    if (atomic_load_explicit(&stripe->list[kind], memory_order_relaxed)) {
        mutex_lock(&stripe->lock);
        head = stripe->list[kind];
        if (head) {
            stripe->list[kind] = head->next_free;
        }
        mutex_unlock(&stripe->lock);
    }
    return head;
}

/* Zeroed memory of a kind; its mark is HANDLE_GONE until begin().  What other
   processors have ended serves before there is more of it. */
static void *take(enum ended_kind kind, size_t size)
{
    unsigned first = lock_stripe();
    struct head *head = NULL;

    for (unsigned i = 0; i < LOCK_STRIPES && !head; i++) {
        head = take_from(&ended[(first + i) % LOCK_STRIPES], kind);
    }
    if (!head) {
        return calloc(1, size);
    }
    memset(head, 0, size);
    return head;
}

static void give(enum ended_kind kind, struct head *head)
{
    struct stripe *stripe = &ended[lock_stripe()];

    mutex_lock(&stripe->lock);
    head->next_free = stripe->list[kind];
    stripe->list[kind] = head;
    mutex_unlock(&stripe->lock);
}

static void begin(struct head *head, enum handle_kind kind, const char *dsn)
{
    diag_init(&head->diags, dsn);
    head->forked = head->claimed = fork_count();
    head->news = news_count() - 1; /* the first call looks */
    atomic_store_explicit(&head->kind, kind, memory_order_release);
}

static void end(struct head *head)
{
    atomic_store_explicit(&head->kind, HANDLE_GONE, memory_order_relaxed);
    diag_free(&head->diags);
}

static void claim_locked(struct head *head, struct mutex *lock,
                         enum lock_rank rank)
{
    mutex_assert_held(&claiming);
    if (head->claimed != fork_count()) {
        head->claimed = fork_count();
        mutex_init(&head->diags.lock, LOCK_DIAG);
        if (lock) {
            mutex_init(lock, rank);
        }
    }
}

static void claim_env_locked(struct env *env)
{
    mutex_assert_held(&claiming);
    claim_locked(&env->head, &env->lock, LOCK_ENV);
    env->head.forked = fork_count();
}

static void claim_dbc_locked(struct dbc *dbc)
{
    mutex_assert_held(&claiming);
    claim_env_locked(dbc->env);
    claim_locked(&dbc->head, &dbc->lock, LOCK_DBC);
    if (!dbc->connected) {
        dbc->head.forked = fork_count();
    }
}

static void claim_stmt_locked(struct stmt *stmt)
{
    mutex_assert_held(&claiming);
    claim_dbc_locked(stmt->dbc);
    claim_locked(&stmt->head, NULL, LOCK_NONE);
    for (int role = 0; role < DESC_ROLES; role++) {
        claim_locked(&stmt->implicit[role].head, NULL, LOCK_NONE);
    }
}

void handle_claim(struct head *head)
{
    struct desc *desc = (struct desc *)head;

    if (!handle_inherited(head)) {
        return;
    }
    mutex_lock(&claiming);
    switch (atomic_load_explicit(&head->kind, memory_order_relaxed)) {
    case HANDLE_ENV:
        claim_env_locked((struct env *)head);
        break;
    case HANDLE_DBC:
        claim_dbc_locked((struct dbc *)head);
        break;
    case HANDLE_STMT:
        claim_stmt_locked((struct stmt *)head);
        break;
    case HANDLE_DESC:
        if (desc->stmt) {
            claim_stmt_locked(desc->stmt);
        } else {
            claim_dbc_locked(desc->dbc);
            claim_locked(head, NULL, LOCK_NONE);
        }
        break;
    default:
        break;
    }
    mutex_unlock(&claiming);
}

struct head *handle_find(SQLSMALLINT type, SQLHANDLE handle)
{
    enum handle_kind kind;

    switch (type) {
    case SQL_HANDLE_ENV:
        kind = HANDLE_ENV;
        break;
    case SQL_HANDLE_DBC:
        kind = HANDLE_DBC;
        break;
    case SQL_HANDLE_STMT:
        kind = HANDLE_STMT;
        break;
    case SQL_HANDLE_DESC:
        kind = HANDLE_DESC;
        break;
    default:
        return NULL;
    }
    return handle_is(handle, kind) ? handle : NULL;
}

/* ---- environments and sessions --------------------------------------- */

struct env *handle_new_env(void)
{
    struct env *env = take(ENDED_ENV, sizeof *env);

    if (env) {
        mutex_init(&env->lock, LOCK_ENV);
        env->output_nts = SQL_TRUE;
        env->pooling = SQL_CP_OFF;
        env->cp_match = SQL_CP_STRICT_MATCH;
        begin(&env->head, HANDLE_ENV, NULL);
    }
    return env;
}

void handle_free_env(struct env *env)
{
    end(&env->head);
    mutex_destroy(&env->lock);
    give(ENDED_ENV, &env->head);
}

struct dbc *handle_new_dbc(struct env *env)
{
    struct dbc *dbc = take(ENDED_DBC, sizeof *dbc);

    if (!dbc) {
        return NULL;
    }
    dbc->session = session_new();
    if (!dbc->session) {
        give(ENDED_DBC, &dbc->head);
        return NULL;
    }
    dbc->env = env;
    mutex_init(&dbc->lock, LOCK_DBC);
    begin(&dbc->head, HANDLE_DBC, dbc->dsn);
    mutex_lock(&env->lock);
    DL_APPEND(env->dbcs, dbc);
    mutex_unlock(&env->lock);
    return dbc;
}

void handle_free_dbc(struct dbc *dbc)
{
    struct env *env = dbc->env;

    end(&dbc->head);
    mutex_lock(&env->lock);
    DL_DELETE(env->dbcs, dbc);
    mutex_unlock(&env->lock);
    session_free(dbc->session);
    handle_end_browse(dbc);
    mutex_destroy(&dbc->lock);
    give(ENDED_DBC, &dbc->head);
}

void handle_end_browse(struct dbc *dbc)
{
    if (dbc->browse) {
        text_free(dbc->browse);
        free(dbc->browse);
        dbc->browse = NULL;
    }
}

/* ---- statements and descriptors -------------------------------------- */

static struct stmt *stmt_of(struct link_child *child)
{
    return (struct stmt *)(void *)((char *)child -
                                   offsetof(struct stmt, child));
}

static struct desc *desc_of(struct link_child *child)
{
    return (struct desc *)(void *)((char *)child -
                                   offsetof(struct desc, child));
}

static void give_stmt(struct link_child *child)
{
    give(ENDED_STMT, &stmt_of(child)->head);
}

static void give_desc(struct link_child *child)
{
    give(ENDED_DESC, &desc_of(child)->head);
}

struct stmt *handle_new_stmt(struct dbc *dbc, const struct inner_calls *call,
                             SQLHSTMT inner)
{
    struct stmt *stmt = take(ENDED_STMT, sizeof *stmt);

    if (!stmt) {
        return NULL;
    }
    stmt->dbc = dbc;
    stmt->call = call;
    stmt->inner = inner;
    stmt->child.inner = inner;
    stmt->child.type = SQL_HANDLE_STMT;
    stmt->child.done = give_stmt;
    stmt->theirs = session_is_noted(dbc->session) ? PREPARED_NOTED
                                                  : PREPARED_THEIRS;
    stmt->prepared = stmt->theirs;
    for (int role = 0; role < DESC_ROLES; role++) {
        struct desc *desc = &stmt->implicit[role];

        desc->dbc = dbc;
        desc->stmt = stmt;
        desc->role = role;
        desc->call = call;
        atomic_init(&stmt->current[role], desc);
        begin(&desc->head, HANDLE_DESC, dbc->dsn);
    }
    begin(&stmt->head, HANDLE_STMT, dbc->dsn);
    mutex_lock(&dbc->lock);
    DL_PREPEND(dbc->stmts, stmt);
    mutex_unlock(&dbc->lock);
    return stmt;
}

/* All of a statement but its memory. */
static void end_stmt(struct stmt *stmt)
{
    end(&stmt->head);
    command_free(stmt->command);
    free(stmt->noted);
    for (int role = 0; role < DESC_ROLES; role++) {
        end(&stmt->implicit[role].head);
    }
}

void handle_free_stmt(struct stmt *stmt)
{
    struct dbc *dbc = stmt->dbc;

    mutex_lock(&dbc->lock);
    DL_DELETE(dbc->stmts, stmt);
    mutex_unlock(&dbc->lock);
    end_stmt(stmt);
    give(ENDED_STMT, &stmt->head);
}

struct desc *handle_new_desc(struct dbc *dbc, const struct inner_calls *call,
                             SQLHDESC inner)
{
    struct desc *desc = take(ENDED_DESC, sizeof *desc);

    if (!desc) {
        return NULL;
    }
    desc->dbc = dbc;
    desc->call = call;
    desc->inner = inner;
    desc->child.inner = inner;
    desc->child.type = SQL_HANDLE_DESC;
    desc->child.done = give_desc;
    begin(&desc->head, HANDLE_DESC, dbc->dsn);
    mutex_lock(&dbc->lock);
    DL_PREPEND(dbc->descs, desc);
    mutex_unlock(&dbc->lock);
    return desc;
}

bool handle_unset_desc(struct desc *desc, struct stmt **user,
                       enum desc_role *role)
{
    struct dbc *dbc = desc->dbc;
    struct stmt *stmt;

    *user = NULL;
    mutex_lock(&dbc->lock);
    DL_FOREACH(dbc->stmts, stmt) {
        for (int r = 0; r < DESC_ROLES && !*user; r++) {
            if (stmt->current[r] == desc) {
                stmt->current[r] = &stmt->implicit[r];
                *user = stmt;
                *role = r;
            }
        }
    }
    mutex_unlock(&dbc->lock);
    return *user != NULL;
}

void handle_free_desc(struct desc *desc)
{
    struct dbc *dbc = desc->dbc;

    mutex_lock(&dbc->lock);
    DL_DELETE(dbc->descs, desc);
    mutex_unlock(&dbc->lock);
    end(&desc->head);
    give(ENDED_DESC, &desc->head);
}

struct link_child *handle_detach(struct dbc *dbc)
{
    struct link_child *first = NULL, **last = &first;
    struct stmt *stmts;
    struct desc *descs;

    mutex_lock(&dbc->lock);
    stmts = dbc->stmts;
    descs = dbc->descs;
    dbc->stmts = NULL;
    dbc->descs = NULL;
    mutex_unlock(&dbc->lock);
    for (; stmts; stmts = stmts->next) {
        handle_claim(&stmts->head);
        end_stmt(stmts);
        *last = &stmts->child;
        last = &stmts->child.next;
    }
    for (; descs; descs = descs->next) {
        handle_claim(&descs->head);
        end(&descs->head);
        *last = &descs->child;
        last = &descs->child.next;
    }
    *last = NULL;
    return first;
}

SQLHDESC handle_inner_desc(struct desc *desc)
{
    struct stmt *stmt = desc->stmt;
    SQLHDESC inner = SQL_NULL_HDESC;
    SQLRETURN rc;

    if (desc->inner || !stmt) {
        return desc->inner;
    }
    if (!stmt->call->SQLGetStmtAttr) {
        diag_add(&desc->head.diags, WHY_FUNCTION,
                 "the inner driver has no SQLGetStmtAttr");
        return SQL_NULL_HDESC;
    }
    lock_assert_none();
    if (!diag_empty(&stmt->head.diags)) {
        diag_set_aside(&stmt->head.diags, true); /* this clears the twin's */
    }
    rc = stmt->call->SQLGetStmtAttr(stmt->inner,
                                    SQL_ATTR_APP_ROW_DESC + (int)desc->role,
                                    &inner, SQL_IS_POINTER, NULL);
    if (!SQL_SUCCEEDED(rc)) {
        diag_copy(&desc->head.diags, stmt->call, SQL_HANDLE_STMT, stmt->inner,
                  session_instance(stmt->dbc->session), rc);
        return SQL_NULL_HDESC;
    }
    desc->inner = inner;
    return inner;
}

void handle_set_desc(struct stmt *stmt, enum desc_role role,
                     struct desc *desc)
{
    mutex_lock(&stmt->dbc->lock);
    stmt->current[role] = desc;
    mutex_unlock(&stmt->dbc->lock);
}
