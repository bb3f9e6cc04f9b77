/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: the canned instances come first, then one test for each rule.
 *
 * topology: what is known after which answers, and who is asked next.  The
 * instances are canned: each has a list of leaves of one table, written as
 *
 *     "1000 2000"        a range that is stored here
 *     "1000 2000 n2"     the same on foreign server n2
 *     "default"          likewise
 */
#include "unit-topology.h"

#include "topology_rows.h"

/* ---- canned instances ------------------------------------------------------ */

static struct canned {
    const char *const *leaves; /* NULL: no such table */
    char type;                 /* of the key: b bigint, t text with a collation
                                  of its own, h bigint by hash (leaves are
                                  remainders of 4) */
    const char *fails;         /* SQLSTATE of every query */
    bool liar;                 /* its hash is not ours */
    const char *resolves;      /* what the DO block answers */
    bool forgets;              /* REFRESH AFFINITY comes while it answers */
    const char *const *rows;   /* of AffinityQuery: kind,low,high */
    bool dead;
    const char *fingerprint; /* of the table; NULL = none */
} canned[INSTANCES_MAX];

static unsigned queries, resolutions;

static void fill_error(struct link_error *error, const char *state)
{
    memset(error, 0, sizeof *error);
    snprintf(error->state, sizeof error->state, "%s", state);
    snprintf(error->text, sizeof error->text,
             "ERROR: canned refusal;\nError while executing the query");
}

static void give(link_row *row, void *arg, unsigned count, ...)
{
    const char *values[12];
    va_list list;

    va_start(list, count);
    for (unsigned i = 0; i < count; i++) {
        values[i] = va_arg(list, const char *);
    }
    va_end(list);
    row(arg, count, values);
}

static void give_columns(const struct canned *c, link_row *row, void *arg)
{
    const char *type = c->type == 't' ? "25" : "20";

    give(row, arg, 9, "100", c->type == 'h' ? "h" : "r", "ak", type, "-1",
         c->type == 't' ? "text_ops" : "integer_ops",
         c->type == 'h' ? "hashint8extended" : NULL,
         c->type == 't' ? "en-x-icu" : NULL, "y");
}

static void give_leaf(const struct canned *c, const char *leaf, unsigned n,
                      link_row *row, void *arg)
{
    char low[32] = "", high[32] = "", server[32] = "", bound[120], oid[16];
    char at_server[16] = "";

    if (strncmp(leaf, "default", 7) == 0) {
        sscanf(leaf, "default %31s", server);
        snprintf(bound, sizeof bound, "aDEFAULT");
    } else if (c->type == 'h') {
        sscanf(leaf, "%31s %31s", low, server);
        snprintf(bound, sizeof bound,
                 "aFOR VALUES WITH (modulus 4, remainder %s)", low);
    } else {
        sscanf(leaf, "%31s %31s %31s", low, high, server);
        snprintf(bound, sizeof bound, "aFOR VALUES FROM ('%s') TO ('%s')",
                 low, high);
    }
    snprintf(oid, sizeof oid, "%u", 200 + n);
    if (*server) { /* servers n1 to n9 have oids 1 to 9, elsewhere has 10 */
        snprintf(at_server, sizeof at_server, "%d",
                 server[0] == 'n' ? server[1] - '0' : 10);
    }
    give(row, arg, 5, oid, "100", *server ? "f" : "r",
         *server ? at_server : NULL, bound);
}

static void give_servers(link_row *row, void *arg)
{
    char oid[4] = "1", name[4] = "an1";

    for (int i = 1; i <= 9; i++) {
        oid[0] = name[2] = (char)('0' + i);
        give(row, arg, 5, oid, name, "asomewhere", "a1", "aapp");
    }
    give(row, arg, 5, "10", "aelsewhere", "ahn1,hn3", "a1,1", "aapp");
}

static void give_rows(const struct canned *c, link_row *row, void *arg)
{
    for (unsigned i = 0; c->rows[i]; i++) {
        char kind[20] = "a", low[20] = "a", high[20] = "a";
        sscanf(c->rows[i], "%18[^,],%18[^,],%18s", kind + 1, low + 1,
               high + 1);
        give(row, arg, 3, kind, strcmp(low, "a-") == 0 ? NULL : low,
             strcmp(high, "a-") == 0 ? NULL : high);
    }
}

bool link_query(struct link *link, const char *sql, link_row *row, void *arg,
                struct link_error *error)
{
    struct canned *c = &canned[link - links];

    for (const char *p = sql; *p; p++) {
        assert_true((unsigned char)*p < 0x80); /* ASCII only */
    }
    assert_int_equal(sizeof links[0], sizeof *link);
    lock_assert_none();
    queries++;
    if (c->dead || (c->fails && !strstr(sql, "ROLLBACK"))) {
        fill_error(error, c->dead ? "08S01" : c->fails);
        return false;
    }
    if (strstr(sql, "DO $")) {
        resolutions++;
    }
    if (!row) {
        return true;
    }
    if (strstr(sql, "server_version_num")) {
        give(row, arg, 6, "150000", "UTF8", c->leaves ? "100" : NULL,
             c->leaves ? "p" : NULL, "C.UTF-8", c->fingerprint);
    } else if (strstr(sql, "pt.partstrat")) {
        give_columns(c, row, arg);
    } else if (strstr(sql, "pg_foreign_server")) {
        give_servers(row, arg);
    } else if (strstr(sql, "relpartbound")) {
        give(row, arg, 5, "100", "0", "p", NULL, NULL);
        for (unsigned i = 0; c->leaves[i]; i++) {
            give_leaf(c, c->leaves[i], i, row, arg);
        }
        if (c->forgets) {
            topology_forget(&fleet);
        }
    } else if (strstr(sql, "satisfies_hash_partition")) {
        give(row, arg, 1, c->liar ? "n" : "y");
    } else if (strstr(sql, "odbc_affinity.answer")) {
        give(row, arg, 1, c->resolves);
    } else if (strstr(sql, "my_query")) {
        give_rows(c, row, arg);
    } else {
        fail_msg("unexpected: %s", sql);
    }
    return true;
}

bool link_execute(struct link *link, const char *sql,
                  struct link_error *error)
{
    return link_query(link, sql, NULL, NULL, error);
}

bool link_dead(const struct link *link)
{
    return canned[link - links].dead;
}

/* What others may see of this key while an answer is taken in: that is let go of
   without a lock, before and behind the making of the map. */
static const char *seen_key, *never_seen;
static unsigned looks;

void __real_topology_reply_release(struct topology_reply *reply);
void __wrap_topology_reply_release(struct topology_reply *reply);
void __wrap_topology_reply_release(struct topology_reply *reply)
{
    if (seen_key) {
        assert_string_not_equal(owner_of(seen_key), never_seen);
        looks++;
    }
    __real_topology_reply_release(reply);
}

static const char *const leaves_n1[] = { "0 1000", "1000 2000 n2",
                                         "2000 3000 n3", "default", NULL };
static const char *const leaves_n2[] = { "0 1000 n1", "1000 2000",
                                         "2000 3000 n3", "default n1", NULL };
static const char *const leaves_n3[] = { "0 1000 n1", "1000 2000 n2",
                                         "2000 3000", "default n1", NULL };

static int begin(void **state)
{
    (void)state;
    memset(canned, 0, sizeof canned);
    queries = resolutions = 0;
    seen_key = NULL;
    for (int i = 0; i < INSTANCES_MAX; i++) {
        canned[i].type = 'b';
    }
    canned[0].leaves = leaves_n1;
    canned[1].leaves = leaves_n2;
    canned[2].leaves = leaves_n3;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free_fleet();
    return 0;
}

/* Opens a link there, and asks over it. */
static void learn(const char *name)
{
    hear_primary(name);
    assert_true(ask(name, NULL));
}

/* The same, and meanwhile nobody sees that this key is `never`. */
static void learn_unseen(const char *name, const char *key, const char *never)
{
    hear_primary(name);
    seen_key = key;
    never_seen = never;
    looks = 0;
    assert_true(ask(name, NULL));
    seen_key = NULL;
    assert_true(looks > 0);
}

static void learn_all(void)
{
    const char *name;

    while (*(name = next_for(NULL))) {
        learn(name);
    }
}

/* ---- little is asked ---------------------------------------------------------- */

static void test_first_key_asks_one(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "public.orders", "", "");
    assert_string_equal(owner_of("1500"), "unknown, pending");
    assert_string_equal(next_for("1500"), "n1");
    learn("n1");
    assert_string_equal(owner_of("1500"), "n2"); /* its pointer */
    assert_string_equal(owner_of("5"), "n1");
    assert_string_equal(owner_of("99999"), "n1"); /* DEFAULT */
    assert_string_equal(next_for("1500"), "");
    assert_false(topology_complete(&fleet));
}

/* Among many of which nothing is known, one that is known to answer. */
static void test_who_answers_is_asked_first(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "public.orders", "", "");
    put_down("n1");
    atomic_store(&fleet.members[at("n1")].retry_at, 0);
    atomic_store(&fleet.members[at("n3")].health, (uint8_t)ROUTE_UP);
    assert_string_equal(next_for(NULL), "n3");
    assert_string_equal(next_for(NULL), "n2");
    assert_string_equal(next_for(NULL), "n1");
}

/* For which there is no room has not failed, and others are asked. */
static void test_who_has_no_room_keeps_its_turn(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "", "SELECT", "");
    no_room = "n1";
    assert_string_equal(next_for("5"), "n2");
    topology_not_asked(&fleet, 1, true);
    assert_string_equal(next_for(NULL), "n3");
    assert_string_equal(next_for(NULL), "");
    assert_true(topology_is_quiet(&fleet, clock_ns())); /* for a moment */
    assert_false(topology_is_quiet(&fleet, clock_ns() + TOPOLOGY_HEDGE_MS *
                                               NS_PER_MS));
    no_room = NULL;
    topology_not_asked(&fleet, 2, false);
    assert_string_equal(next_for("5"), "n1");
}

/* One that has been asked for long is waited for by strict alone. */
static void test_who_hangs_is_not_expected_soon(void **state)
{
    struct topology_answer answer;
    uint64_t asked = clock_ns();
    struct route_key *key;
    (void)state;

    make_fleet("n1 n2", "public.orders", "", "");
    assert_int_equal(route_key_parse("5", 1, &key, NULL), ROUTE_KEY_OK);
    assert_string_equal(next_for("5"), "n1");
    mutex_lock(&fleet.topology->lock);
    topology_find_locked(fleet.topology, key, asked, &answer);
    assert_true(answer.pending && answer.soon);
    fleet.topology->at[1].asking = 1; /* and so is n2 */
    fleet.topology->at[1].asked_at = asked;
    topology_find_locked(fleet.topology, key,
                         clock_ns() + TOPOLOGY_LATE_MS * NS_PER_MS, &answer);
    assert_true(answer.pending && !answer.soon);
    fleet.topology->at[1].asking = 0;
    topology_find_locked(fleet.topology, key,
                         clock_ns() + TOPOLOGY_LATE_MS * NS_PER_MS, &answer);
    assert_true(answer.pending && !answer.soon); /* n2 can be, and is not */
    atomic_store(&fleet.members[1].health, ROUTE_DOWN);
    topology_find_locked(fleet.topology, key,
                         clock_ns() + TOPOLOGY_LATE_MS * NS_PER_MS, &answer);
    assert_true(answer.pending && !answer.soon);
    mutex_unlock(&fleet.topology->lock);
    route_key_free(key);
}

static void test_rest_is_learnt_behind_it(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    assert_string_equal(next_for("1500"), "n1");
    learn("n1");
    assert_string_equal(next_for(NULL), "n2");
    assert_string_equal(next_for(NULL), "n3");
    assert_string_equal(next_for(NULL), "");
    learn("n2");
    learn("n3");
    assert_true(topology_complete(&fleet));
    assert_string_equal(next_for(NULL), "");
    assert_int_equal(topology_wake(&fleet, clock_ns()), UINT64_MAX);
}

static void test_bad_key(void **state)
{
    (void)state;
    make_fleet("n1", "orders", "", "");
    learn("n1");
    assert_string_equal(owner_of("abc"), "bad");
    assert_non_null(strstr(why_of("abc"), "bigint"));
    assert_string_equal(next_for("abc"), "");
}

/* A leaf that is only pointed at might be partitioned further over there. */
static void test_too_many_sub_keys(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    assert_string_equal(next_for("1500"), "n1");
    learn("n1");
    assert_string_equal(owner_of("1500,7"), "n2");
    learn_all();
    assert_string_equal(owner_of("1500,7"), "bad");
    assert_non_null(strstr(why_of("1500,7"), "2 sub-keys"));
    assert_string_equal(owner_of("5,7"), "bad");
}

static void test_second_after_hedge(void **state)
{
    uint64_t now = clock_ns();

    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    assert_string_equal(next_at("5", now), "n1");
    assert_string_equal(next_at("5", now + 10 * NS_PER_MS), "");
    assert_true(topology_wake(&fleet, now) <=
                now + TOPOLOGY_HEDGE_MS * NS_PER_MS);
    now += (TOPOLOGY_HEDGE_MS + 1) * NS_PER_MS;
    assert_string_equal(next_at("5", now), "n2");
    assert_string_equal(next_at("5", now), "");
}

static void test_down_is_passed_over(void **state)
{
    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    put_down("n1");
    assert_string_equal(next_for("1500"), "n2");
    learn("n2");
    assert_string_equal(owner_of("1500"), "n2");
    assert_true(topology_complete(&fleet)); /* all of n1 is down */
    assert_string_equal(next_for(NULL), "");
}

static void test_not_opened_is_retried_later(void **state)
{
    uint64_t now = clock_ns(), wake;

    (void)state;
    make_fleet("n1", "orders", "", "");
    assert_string_equal(next_at("5", now), "n1");
    topology_not_asked(&fleet, 0, true);
    assert_string_equal(owner_of("5"), "unknown");
    assert_string_equal(next_at("5", now + NS_PER_MS), "");
    wake = topology_wake(&fleet, now);
    assert_true(wake > now && wake < now + 2000 * NS_PER_MS);
    assert_string_equal(next_at("5", wake), "n1");
}

static void test_standby_is_spared(void **state)
{
    (void)state;
    make_fleet("n1 n1s1", "orders", "", "");
    learn("n1");
    hear("n1s1", LINK_ROLE_STANDBY, "n1", 1);
    assert_int_equal(atomic_load(&fleet.members[1].group), 0);
    assert_string_equal(next_for(NULL), "");
    queries = 0;
    assert_true(ask("n1s1", NULL)); /* ordered before that was known */
    assert_int_equal(queries, 0);
    assert_true(topology_complete(&fleet));
}

/* ---- failures --------------------------------------------------------------------- */

static void test_refusal_is_named(void **state)
{
    struct link_error error;

    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    canned[0].fails = "42501";
    hear_primary("n1");
    assert_string_equal(next_for("1500"), "n1");
    assert_false(ask("n1", &error));
    assert_string_equal(error.state, "42501");
    assert_string_equal(error.text,
                        "learning table orders on n1: ERROR: canned refusal");
    assert_false(links[0].spoilt); /* the ROLLBACK went through */
    assert_string_equal(owner_of("1500"), "unknown, pending");
    assert_non_null(strstr(why_of("1500"), "n1 [42501] learning table"));
    assert_string_equal(next_for("1500"), "n2");
    learn("n2");
    assert_string_equal(owner_of("1500"), "n2");
    assert_false(topology_complete(&fleet)); /* n1 lives, and said nothing */
}

static void test_dead_link_is_spoilt(void **state)
{
    struct link_error error;

    (void)state;
    make_fleet("n1", "orders", "", "");
    canned[0].dead = true;
    assert_false(ask("n1", &error));
    assert_true(links[0].spoilt);
    assert_string_equal(error.state, "08S01");
}

static void test_mistyped_table(void **state)
{
    (void)state;
    make_fleet("n1 n2", "public.ordes", "", "");
    fleet.events = events_new("", LOG_IS_WARNING);
    canned[0].leaves = canned[1].leaves = NULL;
    learn("n1");
    assert_true(told("n1", "table public.ordes does not exist on n1"));
    assert_string_equal(owner_of("5"), "unknown, pending");
    learn("n2");
    assert_string_equal(owner_of("5"), "unowned");
    assert_string_equal(
        why_of("5"), "nobody owns it by table public.ordes: table "
        "public.ordes does not exist on n1; table public.ordes does not "
        "exist on n2");
    events_free(fleet.events);
    fleet.events = NULL;
}

static void test_refresh_while_asking(void **state)
{
    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    hear_primary("n1");
    assert_string_equal(next_for("5"), "n1");
    canned[0].forgets = true;
    assert_true(ask("n1", NULL));
    assert_string_equal(owner_of("5"), "unknown, pending");
    canned[0].forgets = false;
    assert_string_equal(next_for("5"), "n1");
    learn("n1");
    assert_string_equal(owner_of("5"), "n1");
    topology_forget(&fleet);
    assert_string_equal(owner_of("5"), "unknown, pending");
}

/* ---- claims that differ --------------------------------------------------------------- */

static void test_moving(void **state)
{
    static const char *const also[] = { "0 1000 n1", "1000 2000",
                                        "2000 3000", "default n1", NULL };

    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    canned[1].leaves = also;
    learn_all();
    assert_string_equal(owner_of("2500"), "moving n2+n3");
    assert_string_equal(owner_of("1500"), "n2");
    /* those who claim it are asked again, not at once */
    assert_string_equal(next_for("2500"), "");
    canned[1].leaves = leaves_n2;
    assert_string_equal(
        next_at("2500", clock_ns() + (TOPOLOGY_MOVING_MS + 1) * NS_PER_MS),
        "n2");
    learn("n2");
    assert_string_equal(owner_of("2500"), "n3");
}

static void test_pointer_refuted(void **state)
{
    static const char *const nothing[] = { "0 1000 n1", "1000 2000 n3",
                                           "2000 3000 n3", NULL };
    static const char *const more[] = { "0 1000 n1", "1000 2000",
                                        "2000 3000", NULL };

    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    canned[1].leaves = nothing; /* n1 points at it, but it has moved on */
    canned[2].leaves = more;
    learn("n1");
    assert_string_equal(owner_of("1500"), "n2");
    learn("n2");
    assert_string_equal(owner_of("1500"), "n3");
    learn("n3");
    assert_string_equal(owner_of("1500"), "n3");
}

static void test_stale_pointer_is_not_final(void **state)
{
    static const char *const nothing[] = { "0 1000 n1", "2000 3000 n3", NULL };
    static const char *const more[] = { "1000 2000", "2000 3000", NULL };

    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    canned[1].leaves = nothing;
    canned[2].leaves = more;
    learn("n1");
    learn("n2");
    /* n1 points at n2, which has no such leaf; n3 may have it */
    assert_string_equal(owner_of("1500"), "unknown, pending");
    assert_string_equal(next_for("1500"), "n3");
    learn("n3");
    assert_string_equal(owner_of("1500"), "n3");
}

static void test_pointer_by_address(void **state)
{
    static const char *const leaves[] = { "0 1000 elsewhere", NULL };

    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    canned[1].leaves = leaves;
    learn("n2");
    assert_string_equal(owner_of("5"), "n1"); /* host hn1 of hn1,hn3 */
}

static void test_unresolved(void **state)
{
    static const char *const leaves[] = { "0 1000 n9", NULL };

    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    canned[0].leaves = leaves;
    canned[1].leaves = leaves;
    learn("n1");
    assert_string_equal(owner_of("5"), "unknown, pending");
    learn("n2");
    assert_string_equal(owner_of("5"), "unresolved");
}

static void test_unowned_only_when_complete(void **state)
{
    static const char *const less[] = { "0 1000", NULL };
    static const char *const more[] = { "0 1000 n1", "7000 8000", NULL };

    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    canned[0].leaves = less;
    canned[1].leaves = more;
    learn("n1");
    assert_string_equal(owner_of("7500"), "unknown, pending");
    assert_string_equal(owner_of("9500"), "unknown, pending");
    learn_unseen("n2", "7500", "unowned");
    assert_string_equal(owner_of("7500"), "n2");
    assert_string_equal(owner_of("9500"), "unowned");
}

/* ---- groups ------------------------------------------------------------------------------ */

static void test_primary_beats_standby(void **state)
{
    static const char *const late[] = { "0 1000", "1000 2000", NULL };

    (void)state;
    make_fleet("n1s1 n1 n2", "orders", "", "");
    canned[0].leaves = late; /* a delayed standby still has what n2 got */
    canned[1].leaves = leaves_n1;
    canned[2].leaves = leaves_n2;
    hear("n1s1", LINK_ROLE_STANDBY, "n1", 1);
    assert_true(ask("n1s1", NULL));
    learn("n2");
    learn("n1");
    assert_string_equal(owner_of("1500"), "n2");
    assert_string_equal(owner_of("5"), "n1s1"); /* the first listed names it */
}

static void test_primary_is_looked_for(void **state)
{
    (void)state;
    make_fleet("n1s1 n2 n1", "orders", "", "");
    canned[0].leaves = leaves_n1;
    canned[1].leaves = leaves_n2;
    canned[2].leaves = leaves_n1;
    hear("n1s1", LINK_ROLE_STANDBY, "n1", 1);
    assert_true(ask("n1s1", NULL));
    assert_string_equal(owner_of("5"), "unknown, pending");
    assert_string_equal(next_for("5"), "n2");
    learn("n2");
    assert_string_equal(next_for("5"), "n1");
    learn("n1");
    assert_string_equal(owner_of("5"), "n1s1");
    assert_int_equal(atomic_load(&fleet.members[2].group), 0);
}

static void test_promotion_forgets_the_group(void **state)
{
    (void)state;
    make_fleet("n1 n1s1 n2", "orders", "", "");
    canned[1].leaves = leaves_n1;
    canned[2].leaves = leaves_n2;
    learn("n1");
    hear("n1s1", LINK_ROLE_STANDBY, "n1", 1);
    learn("n2");
    assert_true(topology_complete(&fleet));
    put_down("n1");
    hear("n1s1", LINK_ROLE_PRIMARY, "n1", 2);
    assert_string_equal(owner_of("1500"), "n2"); /* others stay known */
    assert_string_equal(owner_of("5"), "n1");    /* n2 still points at it */
    assert_false(topology_complete(&fleet));
    assert_string_equal(next_for(NULL), "n1s1");
    assert_true(ask("n1s1", NULL));
    assert_string_equal(owner_of("5"), "n1");
    assert_true(topology_complete(&fleet));
}

/* ---- the server judges --------------------------------------------------------------------- */

static void test_resolver(void **state)
{
    static const char *const leaves[] = { "a m", "m z n2", NULL };

    (void)state;
    make_fleet("n1 n2", "words", "", "");
    canned[0].leaves = leaves;
    canned[0].type = 't';
    learn("n1");
    assert_string_equal(owner_of("Zug"), "unknown, pending");
    assert_string_equal(next_for("Zug"), "n1");
    canned[0].resolves = /* FOR VALUES FROM ('m') TO ('z') */
        "p,464f522056414c5545532046524f4d2028276d272920544f2028277a2729|";
    learn("n1");
    assert_int_equal(resolutions, 1);
    assert_string_equal(owner_of("Zug"), "n2");
    assert_string_equal(next_for("Zug"), "");
    learn("n1"); /* kept: not asked again */
    assert_int_equal(resolutions, 1);
    topology_forget(&fleet);
    learn("n1");
    assert_string_equal(owner_of("Zug"), "unknown, pending");
}

static void test_resolver_refuses(void **state)
{
    static const char *const leaves[] = { "a m", NULL };

    (void)state;
    make_fleet("n1", "words", "", "");
    canned[0].leaves = leaves;
    canned[0].type = 't';
    learn("n1");
    assert_string_equal(next_for("x"), "n1");
    assert_string_equal(next_for("y"), ""); /* waits with it */
    assert_string_equal(next_for("z"), "");
    canned[0].resolves = "e22P02626164|n|m|"; /* "bad" */
    learn("n1");
    assert_string_equal(owner_of("x"), "bad");
    assert_string_equal(why_of("x"), "AffinityKey: bad");
    assert_string_equal(owner_of("y"), "unowned");
    assert_string_equal(owner_of("z"), "bad");
}

static void test_resolver_fails(void **state)
{
    static const char *const leaves[] = { "a m", NULL };
    uint64_t now;

    (void)state;
    make_fleet("n1", "words", "", "");
    canned[0].leaves = leaves;
    canned[0].type = 't';
    learn("n1");
    assert_string_equal(next_for("x"), "n1");
    canned[0].fails = "55P03";
    assert_false(ask("n1", NULL));
    assert_string_equal(owner_of("x"), "unknown");
    assert_non_null(strstr(why_of("x"), "canned refusal"));
    now = clock_ns();
    assert_string_equal(next_at("x", now), "");
    assert_string_equal(next_at("x", now + 2000 * NS_PER_MS), "n1");
}

static void test_hash_self_test(void **state)
{
    static const char *const leaves[] = { "0", "1 n2", "2", "3 n2", NULL };

    (void)state;
    make_fleet("n1 n2", "devices", "", "");
    canned[0].leaves = leaves;
    canned[0].type = 'h';
    learn("n1");
    /* facts D2: int8 42 mod 4 = 2, int8 123456789 mod 4 = 1 */
    assert_string_equal(owner_of("42"), "n1");
    assert_string_equal(owner_of("123456789"), "n2");
}

static void test_hash_that_differs(void **state)
{
    static const char *const leaves[] = { "0", "1 n2", "2", "3 n2", NULL };

    (void)state;
    make_fleet("n1 n2", "devices", "", "");
    canned[0].leaves = leaves;
    canned[0].type = 'h';
    canned[0].liar = true;
    learn("n1");
    assert_string_equal(owner_of("42"), "unknown, pending");
    assert_non_null(strstr(why_of("42"), "a server has to judge"));
}

/* ---- rows, map file, hash ----------------------------------------------------------------------- */

static void test_query(void **state)
{
    static const char *const one[] = { "range,0,10", "range,20,-", NULL };
    static const char *const two[] = { "range,10,20", "default,-,-", NULL };
    static const char *const clash[] = { "range,5,10", NULL };

    (void)state;
    make_fleet("n1 n2 n3", "", "SELECT * FROM my_query;", "");
    canned[0].rows = one;
    canned[1].rows = two;
    canned[2].rows = clash;
    learn("n1");
    assert_string_equal(owner_of("3"), "n1");
    assert_string_equal(owner_of("15"), "unknown, pending");
    learn("n2");
    assert_string_equal(owner_of("15"), "n2");
    assert_string_equal(owner_of("999"), "n1");
    assert_string_equal(owner_of("-7"), "unknown, pending");
    learn("n3");
    assert_string_equal(owner_of("-7"), "n2"); /* nobody else has it */
    assert_string_equal(owner_of("7"), "moving n1+n3");
    assert_string_equal(owner_of("3"), "n1");
}

/* Whoever has answered so far has nothing but whole numbers, or NULL. */
static void test_query_type_is_open(void **state)
{
    static const char *const null[] = { "list,-,-", NULL };
    static const char *const words[] = { "list,eu,-", NULL };
    static const char *const numbers[] = { "list,5,-", NULL };

    (void)state;
    make_fleet("n1 n2 n3", "", "SELECT * FROM my_query", "");
    canned[0].rows = null;
    canned[1].rows = numbers;
    canned[2].rows = words;
    learn("n1");
    assert_string_equal(owner_of("eu"), "unknown, pending");
    learn("n2");
    assert_string_equal(owner_of("eu"), "unknown, pending");
    assert_string_equal(owner_of("5"), "n2");
    learn("n3");
    assert_string_equal(owner_of("eu"), "n3");
    assert_string_equal(owner_of("5"), "n2");
}

static void test_query_shapes(void **state)
{
    static const char *const odd[] = { "rnge,0,10", NULL };
    static const char *const list[] = { "list,eu,-", "list,-,-", NULL };
    static const char *const hash[] = { "hash,3,3", NULL };
    struct link_error error;

    (void)state;
    make_fleet("n1 n2 n3", "", "SELECT * FROM my_query", "");
    canned[0].rows = odd;
    canned[1].rows = list;
    canned[2].rows = hash;
    hear_primary("n1");
    assert_false(ask("n1", &error));
    assert_string_equal(error.text, "AffinityQuery on n1, row 1: the first "
                        "column must be range, list, hash or default");
    learn("n2");
    assert_string_equal(owner_of("eu"), "n2");
    assert_string_equal(owner_of("NULL"), "n2");
    hear_primary("n3");
    assert_false(ask("n3", &error));
    assert_non_null(strstr(error.text, "n3, row 1: remainder 3 of modulus 3"));
}

static void test_query_wrong_everywhere(void **state)
{
    struct link_error error;

    (void)state;
    make_fleet("n1 n2", "", "SELECT * FROM my_qeury", "");
    canned[0].fails = "42P01";
    canned[1].fails = "42501"; /* another login may have the right */
    hear_primary("n1");
    assert_false(ask("n1", &error));
    hear_primary("n2");
    assert_false(ask("n2", &error));
    assert_string_equal(owner_of("5"), "unknown");
    canned[1].fails = "42P01";
    assert_false(ask("n2", &error));
    assert_string_equal(owner_of("5"), "unlearnable");
    assert_non_null(strstr(why_of("5"), "n1"));
    assert_false(topology_complete(&fleet)); /* nobody has answered */
    topology_forget(&fleet);
    assert_string_equal(owner_of("5"), "unknown, pending");
}

static void test_map_file(void **state)
{
    (void)state;
    make_fleet("n1 n2 n1s1", "", "",
               write_map("[n1]\nrange = 0..10, 20..30\n"
                         "[n2]\nrange = 10..20\ndefault = yes\n"));
    assert_string_equal(next_for(NULL), "");
    assert_string_equal(owner_of("5"), "n1");
    assert_string_equal(owner_of("15"), "n2");
    assert_string_equal(owner_of("77"), "n2");
    assert_string_equal(owner_of("NULL"), "n2");
    assert_string_equal(owner_of("x"), "bad");
    assert_true(topology_complete(&fleet));
    hear("n1", LINK_ROLE_STANDBY, "one", 1);
    hear("n1s1", LINK_ROLE_PRIMARY, "one", 1);
    assert_string_equal(owner_of("25"), "n1");
    unlink(map_path);
}

static void test_map_file_hash(void **state)
{
    (void)state;
    make_fleet("n1 n2", "", "",
               write_map("[n1]\nhash = 0/4, 1/2\n[n2]\nhash = 2/4\n"));
    /* facts D2: int8 42 mod 4 = 2; text 'abc' mod 4 = 1, 'hello world' 0 */
    assert_string_equal(owner_of("42"), "n2");
    assert_string_equal(owner_of("123456789"), "n1");
    assert_string_equal(owner_of("abc"), "n1");
    assert_string_equal(owner_of("hello world"), "n1");
    unlink(map_path);
}

static void test_hash(void **state)
{
    static const char *keys[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    char before[COUNT(keys)][8];
    unsigned at_n1 = 0;

    (void)state;
    make_fleet("n1 n2 n1s1", "", "", "");
    assert_string_equal(owner_of("a"), "unknown, pending");
    assert_string_equal(next_for("a"), "n1");
    assert_string_equal(next_for("a"), "n2"); /* it takes them all */
    hear("n1", LINK_ROLE_PRIMARY, "one", 1);
    assert_true(ask("n1", NULL));
    hear("n2", LINK_ROLE_PRIMARY, "two", 1);
    assert_true(ask("n2", NULL));
    assert_int_equal(queries, 0); /* a link says who it is by itself */
    assert_string_equal(owner_of("a"), "unknown, pending");
    hear("n1s1", LINK_ROLE_STANDBY, "one", 1);
    for (unsigned i = 0; i < COUNT(keys); i++) {
        snprintf(before[i], sizeof before[i], "%s", owner_of(keys[i]));
        assert_true(strcmp(before[i], "n1") == 0 ||
                    strcmp(before[i], "n2") == 0);
        at_n1 += strcmp(before[i], "n1") == 0;
    }
    assert_true(at_n1 > 0 && at_n1 < COUNT(keys));
    /* neither promotion nor being down moves a key */
    hear("n1s1", LINK_ROLE_PRIMARY, "one", 2);
    put_down("n1");
    for (unsigned i = 0; i < COUNT(keys); i++) {
        assert_string_equal(owner_of(keys[i]), before[i]);
    }
}

static void test_hash_by_configured_groups(void **state)
{
    (void)state;
    make_fleet("n1 n2 n1s1", "", "",
               write_map("[n1]\ngroup=a\n[n1s1]\ngroup=a\n[n2]\ngroup=b\n"
                         "weight=0\n"));
    assert_string_equal(owner_of("x"), "n1"); /* at once; n2 is last resort */
    assert_string_equal(next_for("x"), "");
    unlink(map_path);
}

/* ---- showing ------------------------------------------------------------------------------------ */

static bool collect(void *arg, const char *path, const char *bound, int group,
                    const char *state)
{
    struct text *out = arg;

    text_appendf(out, "%s|%s|%s|%s\n", path, bound,
                 group < 0 ? "-" : fleet.instances[group].name, state);
    return true;
}

static void test_show(void **state)
{
    struct text out = { 0 };

    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    learn("n1");
    topology_show(&fleet, collect, &out);
    assert_string_equal(
        text_string(&out),
        "table orders|FOR VALUES FROM ('0') TO ('1000')|n1|owned\n"
        "table orders|FOR VALUES FROM ('1000') TO ('2000')|n2|owned\n"
        "table orders|FOR VALUES FROM ('2000') TO ('3000')|-|unresolved\n"
        "table orders|DEFAULT|n1|owned\n"
        "n2||n2|not asked yet\n");
    text_free(&out);
}

static void test_trees_are_shared(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    learn_all();
    assert_ptr_equal(fleet.topology->at[0].reply->tree,
                     fleet.topology->at[1].reply->tree);
    assert_ptr_equal(fleet.topology->at[0].reply->tree,
                     fleet.topology->at[2].reply->tree);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

/* ---- whether an answer still holds ----------------------------------------- */

/* The keeper's probe of an instance hears this fingerprint. */
static bool hear_fingerprint(uint32_t i, const char *value, uint64_t now,
                             uint64_t cost)
{
    struct text expression = { 0 };
    bool due = topology_fingerprint_due(&fleet, i, now, &expression);

    assert_int_equal(due, expression.length > 0);
    text_free(&expression);
    return due && topology_fingerprint_heard(&fleet, i, value, now, cost);
}

static void test_fingerprint_clears_its_group_alone(void **state)
{
    static const char *const moved_n1[] = { "0 1000", "1000 2000",
                                            "2000 3000 n3", "default", NULL };
    static const char *const moved_n2[] = { "0 1000 n1", "1000 2000 n1",
                                            "2000 3000 n3", "default n1",
                                            NULL };
    uint64_t now;

    (void)state;
    make_fleet("n1 n2 n3", "t", "", "");
    canned[1].fingerprint = "before";
    learn_all();
    now = clock_ns();
    assert_string_equal(owner_of("1500"), "n2");
    assert_false(hear_fingerprint(1, "before", now, 0));
    assert_false(hear_fingerprint(0, NULL, now, 0));
    assert_string_equal(owner_of("1500"), "n2");

    canned[0].leaves = moved_n1;
    canned[1].leaves = moved_n2;
    canned[1].fingerprint = "after";
    assert_true(hear_fingerprint(1, "after", now, 0));
    assert_string_equal(owner_of("500"), "n1"); /* another group's */
    assert_string_equal(owner_of("2500"), "n3");
    assert_string_equal(owner_of("1500"), "unknown, pending");
    assert_string_equal(next_for(NULL), "n2");
    learn_unseen("n2", "1500", "n2"); /* as n1 says, whose answer is old */
    /* two contradict each other until n1 is asked as well */
    assert_string_not_equal(owner_of("1500"), "n2");
    assert_true(hear_fingerprint(0, "new", now, 0));
    assert_string_equal(next_for(NULL), "n1");
    canned[0].fingerprint = "new";
    learn("n1");
    assert_string_equal(owner_of("1500"), "n1");
    assert_string_equal(next_for(NULL), "");
}

static void test_fingerprint_costs_a_hundredth(void **state)
{
    const uint64_t ms = NS_PER_MS;
    uint64_t now;

    (void)state;
    make_fleet("n1 n2 n3", "t", "", "");
    assert_false(hear_fingerprint(0, "x", clock_ns(), 0)); /* no answer yet */
    learn_all();
    now = clock_ns();
    assert_false(hear_fingerprint(0, NULL, now, 36 * ms));
    /* not due before 3.6 s, whatever it would say */
    assert_false(hear_fingerprint(0, "x", now + 3599 * ms, 0));
    assert_true(hear_fingerprint(0, "x", now + 3600 * ms, 0));
    assert_false(hear_fingerprint(0, "x", now + 9000 * ms, 0)); /* unlearnt */
}

static void test_a_table_that_is_made_later_is_seen(void **state)
{
    (void)state;
    make_fleet("n1 n2", "t", "", "");
    canned[0].leaves = canned[1].leaves = NULL;
    learn_all();
    assert_string_equal(owner_of("500"), "unowned");
    canned[0].leaves = leaves_n1;
    canned[0].fingerprint = "made";
    assert_true(hear_fingerprint(0, "made", clock_ns(), 0));
    learn("n1");
    assert_string_equal(owner_of("500"), "n1");
}

static void test_a_query_is_asked_again(void **state)
{
    static const char *const before[] = { "range,0,1000", NULL };
    static const char *const after[] = { "range,0,500", NULL };
    const struct route_map *map;

    (void)state;
    make_fleet("n1", "", "my_query", "");
    fleet.config.check_interval = 1;
    canned[0].leaves = NULL;
    canned[0].rows = before;
    learn("n1");
    assert_string_equal(owner_of("700"), "n1");
    fleet.topology->at[0].check_at = 0;
    fleet.topology->quiet_until = 0;
    assert_string_equal(next_for(NULL), "n1");
    map = fleet.topology->map->map;
    learn("n1"); /* says the same: nothing is made anew */
    assert_ptr_equal(fleet.topology->map->map, map);
    canned[0].rows = after;
    fleet.topology->at[0].check_at = 0;
    fleet.topology->quiet_until = 0;
    assert_string_equal(next_for(NULL), "n1");
    assert_string_equal(owner_of("700"), "n1"); /* known meanwhile */
    learn("n1");
    assert_string_equal(owner_of("700"), "unowned");

    fleet.config.check_interval = 0; /* the keeper does not watch */
    fleet.topology->at[0].check_at = 0;
    fleet.topology->quiet_until = 0;
    assert_string_equal(next_for(NULL), "");
}

/* Rules §1.1: one that goes up and down, again and again, makes no key of
   another group unknown. */
static void test_a_flapping_instance_is_its_own_affair(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "t", "", "");
    learn_all();
    for (int n = 0; n < 50; n++) {
        hear("n2", n % 2 ? LINK_ROLE_PRIMARY : LINK_ROLE_STANDBY, "n2", 1);
        assert_string_equal(owner_of("500"), "n1");
        assert_string_equal(owner_of("2500"), "n3");
        put_down("n2");
        assert_string_equal(owner_of("500"), "n1");
        assert_string_equal(owner_of("2500"), "n3");
        if (n % 5 == 0) {
            learn("n2");
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_first_key_asks_one),
        TEST(test_who_answers_is_asked_first),
        TEST(test_who_has_no_room_keeps_its_turn),
        TEST(test_who_hangs_is_not_expected_soon),
        TEST(test_rest_is_learnt_behind_it),
        TEST(test_bad_key),
        TEST(test_too_many_sub_keys),
        TEST(test_second_after_hedge),
        TEST(test_down_is_passed_over),
        TEST(test_not_opened_is_retried_later),
        TEST(test_standby_is_spared),
        TEST(test_refusal_is_named),
        TEST(test_dead_link_is_spoilt),
        TEST(test_mistyped_table),
        TEST(test_refresh_while_asking),
        TEST(test_moving),
        TEST(test_pointer_refuted),
        TEST(test_stale_pointer_is_not_final),
        TEST(test_pointer_by_address),
        TEST(test_unresolved),
        TEST(test_unowned_only_when_complete),
        TEST(test_primary_beats_standby),
        TEST(test_primary_is_looked_for),
        TEST(test_promotion_forgets_the_group),
        TEST(test_resolver),
        TEST(test_resolver_refuses),
        TEST(test_resolver_fails),
        TEST(test_hash_self_test),
        TEST(test_hash_that_differs),
        TEST(test_query),
        TEST(test_query_shapes),
        TEST(test_query_wrong_everywhere),
        TEST(test_map_file),
        TEST(test_map_file_hash),
        TEST(test_hash),
        TEST(test_hash_by_configured_groups),
        TEST(test_show),
        TEST(test_fingerprint_clears_its_group_alone),
        TEST(test_fingerprint_costs_a_hundredth),
        TEST(test_a_table_that_is_made_later_is_seen),
        TEST(test_a_query_is_asked_again),
        TEST(test_a_flapping_instance_is_its_own_affair),
        TEST(test_trees_are_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
