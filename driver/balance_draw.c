/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Drawing an instance at random, each with a chance in proportion to its
 * weight.
 *
 * First a few tries that do not look at all of them: any one, with the same
 * chance for each, who is kept with a probability of his share by that of the
 * heaviest.  Where nearly everybody may serve, that is one or two looks, among
 * a thousand as among three.  If none is kept, all are looked at: once to add
 * up the shares, once to find whose the number is.  Both ways each is drawn
 * with the chance that is his, so it does not matter which one it was.
 */
#include "autoconf.h"

#include "balance.h"
#include "balance_fact.h"

enum { TRIES = 12 };

enum balance_rank balance_rank(const struct route_member *m, uint64_t now)
{
    if (!balance_weight(m)) {
        return BALANCE_LAST;
    }
    return balance_violates(m, now) ? BALANCE_OVER_LIMITS : BALANCE_FIRST;
}

uint64_t balance_share(const struct route_member *m, uint64_t now)
{
    uint64_t weight = balance_weight(m);

    return (weight ? weight : 1) * balance_ramp(m, now);
}

/* splitmix64 */
uint64_t balance_number(const struct route_request *request, uint32_t n)
{
    uint64_t x = request->seed + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number below `end`, every one as likely as the others. */
static uint64_t below(uint64_t number, uint64_t end)
{
    return (uint64_t)(((unsigned __int128)number * end) >> 64);
}

static int try_any(const struct balance_among *among, uint32_t *n)
{
    const struct route_fleet *fleet = among->fleet;
    uint64_t now = among->request->now;
    uint64_t most = (uint64_t)fleet->heaviest * BALANCE_RAMP;

    for (int try = 0; most && try < TRIES; try++) {
        uint64_t number = balance_number(among->request, (*n)++);
        uint32_t i = (uint32_t)below(number << 32, fleet->count);
        const struct route_member *m = &fleet->members[i];

        if (balance_rank(m, now) == BALANCE_FIRST &&
            below(number & ~UINT64_C(0xffffffff), most) <
                balance_share(m, now) &&
            balance_may(among, i)) {
            return (int)i;
        }
    }
    return -1;
}

int balance_draw(const struct balance_among *among, uint32_t n)
{
    const struct route_fleet *fleet = among->fleet;
    uint64_t now = among->request->now;
    uint64_t sum[BALANCE_RANKS] = { 0 }, left;
    enum balance_rank best = BALANCE_FIRST;
    int last = try_any(among, &n);

    if (last >= 0) {
        return last;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (balance_may(among, i)) {
            const struct route_member *m = &fleet->members[i];
            sum[balance_rank(m, now)] += balance_share(m, now);
        }
    }
    while (best < BALANCE_LAST && !sum[best]) {
        best++;
    }
    left = below(balance_number(among->request, n), sum[best]);
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct route_member *m = &fleet->members[i];
        uint64_t share = balance_share(m, now);
        if (balance_rank(m, now) != best || !balance_may(among, i)) {
            continue;
        }
        if (left < share) {
            return (int)i;
        }
        left -= share;
        last = (int)i; /* a weight may have changed since they were added up */
    }
    return last;
}
