/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * adaptive: of two that are drawn at random by weight, the better one (rules
 * §10).  The first drawn has the unit unless the second is better; so where all
 * are alike the shares are those of the weights, and where nothing is known of
 * them, too.
 *
 *   cost = latency × (in flight / weight + 1) / how far it has come back
 *
 * in flight: units of this process that are there.  Weight: of the two's
 * average, so that for equal weights it is the rule's latency × (in flight +
 * 1).  The one to come is not divided by the weight: with nothing in flight it
 * would make the heavier of two better each time, not as often as it is
 * heavier.
 *
 * Latencies of which the greater is less than ALIKE times the other, or which
 * differ by less than ALIKE_US, are alike, and so are those that are not known:
 * then the second is better if its cost is less.  What differs by more counts
 * with a grain of salt: it is a moving average seen by everybody at different
 * times, and if each process gave each unit to the better one, all would go to
 * the same instance until it is the worse one.  So the second has the unit with
 * a probability of 1 - its cost / the first's, which makes shares like those of
 * 1 / cost, and starves nobody that is merely slower.
 *
 * Two looks, whatever the number of instances; processes that know nothing of
 * each other do not meet, because each draws for itself.
 */
#include "autoconf.h"

#include "balance.h"
#include "balance_fact.h"

#define ALIKE 1.5
enum { ALIKE_US = 500 };

static bool are_alike(const struct balance_latencies *l)
{
    double more = (double)(l->a > l->b ? l->a : l->b);
    double less = (double)(l->a > l->b ? l->b : l->a);

    return more < less * ALIKE || more - less < ALIKE_US * 1000.0;
}

static double weight_of(const struct route_member *m)
{
    uint32_t weight = balance_weight(m);

    return weight ? weight : 1;
}

/* average: of the two weights. */
static double cost(const struct route_member *m, double latency,
                   double average, uint64_t now)
{
    double weight = weight_of(m);
    double in_flight =
        atomic_load_explicit(&m->in_flight, memory_order_relaxed);

    return latency * (in_flight * average / weight + 1) * BALANCE_RAMP /
           balance_ramp(m, now);
}

static int better(const struct balance_among *among, int first, int second)
{
    uint64_t now = among->request->now;
    const struct route_member *a = &among->fleet->members[first];
    const struct route_member *b = &among->fleet->members[second];
    struct balance_latencies l = balance_compare(a, b, now);
    double average = (weight_of(a) + weight_of(b)) / 2;
    bool alike = are_alike(&l);
    double stay = cost(a, alike ? 1 : (double)l.a, average, now);
    double move = cost(b, alike ? 1 : (double)l.b, average, now);
    double chance = (double)(balance_number(among->request, 0) >> 11) *
                    0x1p-53;

    return (alike ? move < stay : chance < 1 - move / stay) ? second : first;
}

int balance_adaptive(const struct balance_among *among)
{
    const struct route_member *members = among->fleet->members;
    uint64_t now = among->request->now;
    struct balance_among others = *among;
    int first = balance_draw(among, 1);
    int second;

    others.but = first;
    second = first < 0 ? -1 : balance_draw(&others, 1000);
    if (second < 0 || balance_rank(&members[first], now) !=
                          balance_rank(&members[second], now)) {
        return first;
    }
    return better(among, first, second);
}
