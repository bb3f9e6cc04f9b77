/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What may be said of one instance for one request: the questions of which
 * the policy in route.c is made.  Each is a small yes or no without side
 * effects; all but the first few fit route_may.
 */
#ifndef ROUTE_ABLE_H
#define ROUTE_ABLE_H

#include "balance.h" /* route_may */
#include "route.h"

/* Is instance i of a group that owns the key? */
bool route_owns(const struct route_request *request,
                const struct route_fleet *fleet, uint32_t i);

/* Down, or suspect and the unit can go elsewhere; and its time to retry has
   not come. */
bool route_is_passed(const struct route_request *request,
                     const struct route_member *m);

/* It has said that it is not ready yet (57P03), and its time to be asked again
   has not come. */
bool route_is_unready(const struct route_request *request,
                      const struct route_member *m);

/* Can serve it and is not known to be out of order. */
bool route_is_able(const struct route_request *request,
                   const struct route_fleet *fleet, uint32_t i);

/* Is a link of it about to be idle (ROUTE_SOON_MS), and may the unit wait for
   that? */
bool route_is_soon(const struct route_request *request,
                   const struct route_fleet *fleet, uint32_t i);

/* May a link be opened there?  One attempt at a time where it was down. */
bool route_is_openable(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i);

/* At PoolMaxTotal: an idle link elsewhere, which this unit may not use or it
   would have it by now, is closed for one here (rules §3.2). */
bool route_is_swappable(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i);

/* Will a link come free there, or may one be opened, if one waits? */
bool route_is_busy(const struct route_request *request,
                   const struct route_fleet *fleet, uint32_t i);

/* Could a link be opened there as soon as any link of the fleet is idle? */
bool route_is_capped(const struct route_request *request,
                     const struct route_fleet *fleet, uint32_t i);

/* Will a link be opened there, once it is time to? */
bool route_is_hopeful(const struct route_request *request,
                      const struct route_fleet *fleet, uint32_t i);

/* The last resorts: down, or slow, and not tried for this unit yet. */
bool route_is_triable(const struct route_request *request,
                      const struct route_fleet *fleet, uint32_t i);

/* Not ready yet, by its own word: it will be asked again. */
bool route_is_starting(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i);

/* An idle link on one that was given up, but not by this unit. */
bool route_is_left_idle(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i);

/* In use there, on one that is suspect or slow: it may come back any time. */
bool route_is_left_busy(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i);

/* Do only standbys of the owner stand in a write's way, while an instance that
   has yet to say what it is (it is full, say, or there was no room to ask it)
   may be their primary? */
bool route_is_leaderless(const struct route_request *request,
                         const struct route_fleet *fleet);

/* Somebody's link is being opened there. */
bool route_is_attempted(const struct route_request *request,
                        const struct route_fleet *fleet, uint32_t i);

/* The same of instances that do not own the key, and of those that do. */
bool route_is_other_able(const struct route_request *request,
                         const struct route_fleet *fleet, uint32_t i);
bool route_is_other_idle(const struct route_request *request,
                         const struct route_fleet *fleet, uint32_t i);
bool route_is_other_openable(const struct route_request *request,
                             const struct route_fleet *fleet, uint32_t i);
bool route_is_own_idle(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i);
bool route_is_own_soon(const struct route_request *request,
                       const struct route_fleet *fleet, uint32_t i);
bool route_is_own_openable(const struct route_request *request,
                           const struct route_fleet *fleet, uint32_t i);
bool route_is_own_swappable(const struct route_request *request,
                            const struct route_fleet *fleet, uint32_t i);

#endif
