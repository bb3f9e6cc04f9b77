/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a verdict takes by the number of instances, and looking a key up by the
 * number of partitions: driver/'s own functions, linked in, with no manager
 * and no database.
 *
 * usage: verdict ROUNDS
 */
#include "autoconf.h"

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "route.h"
#include "route_map.h"

/* Keys are looked up all over the map, so that the processor has hardly any of
   it at hand. */
enum { BATCH = 2000, PARTITIONS = 1000000, KEYS = 100000, KEY_BATCH = 500 };

/* ---- verdicts ---------------------------------------------------------- */

static void fill(struct route_fleet *fleet, uint32_t count)
{
    struct route_member *members = calloc(count, sizeof *members);
    struct route_stock *stock = calloc(count, sizeof *stock);

    if (!members || !stock) {
        bench_die("no memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        atomic_init(&members[i].group, i);
        atomic_init(&members[i].health, ROUTE_UP);
        atomic_init(&members[i].role, ROUTE_PRIMARY);
        atomic_init(&members[i].pace[ROUTE_CALL_ASK].ns, 1000000 + i % 5 * 1000);
        atomic_init(&members[i].pace[ROUTE_CALL_ASK].until, UINT64_MAX);
        members[i].weight = 1;
        stock[i].idle = 1;
        stock[i].room = 19;
    }
    *fleet = (struct route_fleet){ .count = count, .members = members,
                                   .stock = stock, .total_idle = count,
                                   .heaviest = 1 };
}

/* ns for one verdict.  With a key its owner's link is idle. */
static double time_verdicts(const struct route_fleet *fleet, bool keyed,
                            enum route_mode mode, enum route_balance balance)
{
    uint32_t owner = 0;
    struct route_request request = {
        .mode = mode,
        .balance = balance,
        .key = keyed ? ROUTE_IS_OWNED : ROUTE_IS_UNKEYED,
        .write = true,
        .owners = &owner,
        .owner_count = keyed,
        .queueing = true,
        .ordered = -1,
        .what = "somebody",
        .what_length = 8,
    };
    uint64_t begin = bench_now();

    for (unsigned i = 0; i < BATCH; i++) {
        struct verdict verdict;

        owner = i * 7919 % fleet->count;
        request.seed = i;
        verdict = route_choose(&request, fleet);
        if (verdict.action != ROUTE_TAKE ||
            (keyed && verdict.instance != (int)owner)) {
            bench_die("the verdict is not the owner's idle link");
        }
    }
    return (double)(bench_now() - begin) / BATCH;
}

static void verdicts(uint32_t count, unsigned long rounds)
{
    struct route_fleet fleet;
    char variant[64];

    fill(&fleet, count);
    for (unsigned long r = 0; r < rounds; r++) {
        snprintf(variant, sizeof variant, "%u instances, owner idle", count);
        bench_say("verdict", variant, "ns",
                  time_verdicts(&fleet, true, ROUTE_HINT, ROUTE_ADAPTIVE));
        snprintf(variant, sizeof variant, "%u instances, strict", count);
        bench_say("verdict", variant, "ns",
                  time_verdicts(&fleet, true, ROUTE_STRICT, ROUTE_ADAPTIVE));
        for (int balance = 0; balance <= ROUTE_RANDOM; balance++) {
            snprintf(variant, sizeof variant, "%u instances, no key, %s",
                     count, config_word_balance((enum config_balance)balance));
            bench_say("verdict", variant, "ns",
                      time_verdicts(&fleet, false, ROUTE_HINT,
                                    (enum route_balance)balance));
        }
    }
    free(fleet.members);
    free((void *)(uintptr_t)fleet.stock);
}

/* ---- keys ---------------------------------------------------------------- */

static void bound(char strategy, unsigned i, char *text, size_t room)
{
    switch (strategy) {
    case 'r':
        snprintf(text, room, "FOR VALUES FROM ('%u') TO ('%u')", i * 10,
                 i * 10 + 10);
        break;
    case 'l':
        snprintf(text, room, "FOR VALUES IN ('%u')", i * 10);
        break;
    default:
        snprintf(text, room, "FOR VALUES WITH (modulus %u, remainder %u)",
                 PARTITIONS, i);
        break;
    }
}

static struct route_map *make_map(char strategy)
{
    struct route_builder *builder = route_builder_new();
    struct route_column column = {
        .name = "id", .typing = route_type_plain(ROUTE_TYPE_INT8)
    };
    struct route_map *map;
    struct why why;
    char text[96];

    if (!builder) {
        bench_die("no memory");
    }
    route_builder_answer(builder, 0);
    route_builder_inner(builder, -1, "", 0, strategy, false, &column, 1);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        bound(strategy, i, text, sizeof text);
        route_builder_leaf(builder, 0, text, strlen(text),
                           ROUTE_CLAIM_LOCAL, 0);
    }
    map = route_builder_finish(builder, &why);
    if (!map) {
        bench_die("no map: %s", why.text);
    }
    route_builder_free(builder);
    return map;
}

/* ns for one key: the median of short batches, in few of which the program is
   taken off its processor. */
static double time_keys(const struct route_map *map, struct route_key **keys)
{
    double times[KEYS / KEY_BATCH];

    for (unsigned batch = 0; batch < KEYS / KEY_BATCH; batch++) {
        uint64_t begin = bench_now();

        for (unsigned i = 0; i < KEY_BATCH; i++) {
            struct route_found found;

            route_map_find(map, keys[batch * KEY_BATCH + i], &found, NULL);
            if (found.result != ROUTE_MAP_OWNER) {
                bench_die("a key has no owner");
            }
        }
        times[batch] = (double)(bench_now() - begin) / KEY_BATCH;
    }
    return bench_median(times, KEYS / KEY_BATCH);
}

static void keys(char strategy, const char *name, struct route_key **key,
                 unsigned long rounds)
{
    struct route_map *map = make_map(strategy);
    struct route_counts counts;
    char variant[64];

    snprintf(variant, sizeof variant, "1,000,000 %s partitions", name);
    for (unsigned long r = 0; r < rounds; r++) {
        bench_say("key", variant, "ns", time_keys(map, key));
    }
    route_map_count(map, &counts);
    bench_say("memory of a partition", variant, "bytes",
              (double)counts.bytes / (double)counts.leaves);
    route_map_free(map);
}

int main(int argc, char **argv)
{
    unsigned long rounds = bench_number(argc, argv, 1, "the rounds");
    static struct route_key *key[KEYS];
    struct why why;

    for (unsigned i = 0; i < KEYS; i++) {
        char text[16];

        snprintf(text, sizeof text, "%u",
                 (unsigned)(i * 2654435761u) % PARTITIONS * 10);
        if (route_key_parse(text, strlen(text), &key[i], &why) !=
            ROUTE_KEY_OK) {
            bench_die("key %s: %s", text, why.text);
        }
    }
    verdicts(16, rounds);
    verdicts(1000, rounds);
    keys('r', "range", key, rounds);
    keys('l', "list", key, rounds);
    keys('h', "hash", key, rounds);
    for (unsigned i = 0; i < KEYS; i++) {
        route_key_free(key[i]);
    }
    return 0;
}
