/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQLCancel, handed to a helper thread, and what it must not meet: the reset,
 * the closing or the next user of its link (rules §5.4), and an inner
 * statement that was freed under it.
 */
#include "autoconf.h"

#include <stdlib.h>

#include "pool_inside.h"

/* A cancel that came too late for its statement must not come to the next one
   of the session: who asks for it waits until it is sent, as without us, but
   not for an instance that hangs. */
enum { SENT_MS = 500 };

struct cancel {
    struct job job; /* first */
    struct link *link;
    SQLHSTMT stmt;
    bool sent; /* guarded by LOCK_LOGIN: the inner call has returned; or */
    bool left; /* nobody waits for that any more */
};

static void run_cancel(struct job *job)
{
    struct cancel *cancel = (struct cancel *)job;
    struct login *login = login_retain(cancel->link->pool->login);
    bool left;

    cancel->link->inner->call.SQLCancel(cancel->stmt);
    mutex_lock(&login->lock);
    pool_cancel_ended_locked(cancel->link);
    left = cancel->left;
    cancel->sent = true;
    cond_broadcast(&login->cancelled);
    mutex_unlock(&login->lock);
    if (left) {
        free(cancel);
    }
    login_release(login);
}

/* Lets the lock go.  The session may end meanwhile, and its link with it. */
static void await_sent_locked(struct login *login, struct cancel *cancel)
{
    uint64_t until = clock_ns() + SENT_MS * NS_PER_MS;
    bool sent;

    mutex_assert_held(&login->lock);
    login_retain(login);
    while (!cancel->sent && cond_wait(&login->cancelled, &login->lock, until)) {
    }
    sent = cancel->sent;
    cancel->left = !sent;
    mutex_unlock(&login->lock);
    if (sent) {
        free(cancel);
    }
    login_release(login);
}

bool pool_cancel(struct link *link, SQLHSTMT stmt)
{
    struct login *login = link->pool->login;
    struct instance *instance =
        &login->fleet->instances[link->pool->instance];
    struct cancel *cancel = calloc(1, sizeof *cancel);

    if (!cancel) {
        return false;
    }
    cancel->job.run = run_cancel;
    cancel->link = link;
    cancel->stmt = stmt;
    mutex_lock(&login->lock);
    link->cancels++;
    if (keeper_submit(instance->cancelling, &cancel->job)) {
        await_sent_locked(login, cancel);
        return true;
    }
    pool_cancel_ended_locked(link);
    mutex_unlock(&login->lock);
    free(cancel);
    return false;
}

void pool_await_cancels(struct link *link)
{
    struct login *login = link->pool->login;
    uint64_t until;

    if (atomic_load_explicit(&link->cancels, memory_order_relaxed) == 0 ||
        fleet_has_lost(login->fleet, link->pool->instance, link->opened)) {
        return;
    }
    until = clock_ns() + login->fleet->config.check_timeout * NS_PER_MS;
    mutex_lock(&login->lock);
    while (link->cancels && cond_wait(&login->cancelled, &login->lock, until)) {
    }
    mutex_unlock(&login->lock);
}

static void free_child(struct link_child *child)
{
    free(child);
}

bool pool_keep_child(struct link *link, SQLSMALLINT type, SQLHANDLE inner)
{
    struct login *login = link->pool->login;
    struct link_child *child;

    if (atomic_load_explicit(&link->cancels, memory_order_relaxed) == 0 &&
        !fleet_has_lost(login->fleet, link->pool->instance, link->opened)) {
        return false;
    }
    child = calloc(1, sizeof *child);
    mutex_lock(&login->lock);
    if (child) {
        *child = (struct link_child){
            .inner = inner, .type = type, .next = link->children,
            .done = free_child,
        };
        link->children = child;
    } else {
        link->spoilt = true; /* nobody frees it: it goes with the link */
    }
    mutex_unlock(&login->lock);
    return true;
}
