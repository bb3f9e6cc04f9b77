/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * fleet_group: who belongs together, and who may write (rules §1.6, §1.7).
 * What instances own is put into the topology as an answer would.
 */
#include "unit-topology.h"

#include "event.h"
#include "topology_rows.h"

/* "n1:n1 primary, …": group and role of each */
static const char *groups(void)
{
    static char words[400];
    static const char *const roles[] = { "unknown", "primary", "standby" };

    words[0] = '\0';
    for (uint32_t i = 0; i < fleet.count; i++) {
        size_t length = strlen(words);
        snprintf(words + length, sizeof words - length, "%s%s:%s %s",
                 i ? ", " : "", fleet.instances[i].name,
                 fleet.instances[atomic_load(&fleet.members[i].group)].name,
                 roles[atomic_load(&fleet.members[i].role)]);
    }
    return words;
}

/* Has said that it owns these numbers. */
static void own(const char *name, int low, int high)
{
    struct topology_instance *instance = &fleet.topology->at[at(name)];
    struct topology_reply *reply = topology_reply_new();

    for (int n = low; n < high; n++) {
        char value[12];
        struct topology_row_in row = { .kind = 'l', .low = value };
        snprintf(value, sizeof value, "%d", n);
        assert_true(topology_rows_add(reply, &row, NULL));
    }
    assert_true(topology_reply_settle(reply));
    topology_reply_release(instance->claim);
    instance->claim = reply;
    fleet_learnt(&fleet);
}

static int end(void **state)
{
    (void)state;
    free_fleet();
    return 0;
}

static void primary(const char *name, const char *identity, uint32_t timeline)
{
    hear(name, LINK_ROLE_PRIMARY, identity, timeline);
}

static void standby(const char *name, const char *identity, uint32_t timeline)
{
    hear(name, LINK_ROLE_STANDBY, identity, timeline);
}

static void test_by_identity(void **state)
{
    (void)state;
    make_fleet("n1 n2 n2s1 n1s1", "orders", "", "");
    assert_string_equal(groups(), "n1:n1 unknown, n2:n2 unknown, "
                        "n2s1:n2s1 unknown, n1s1:n1s1 unknown");
    standby("n1s1", "one", 1);
    primary("n1", "one", 1);
    standby("n2s1", "two", 1);
    primary("n2", "two", 1);
    assert_string_equal(groups(), "n1:n1 primary, n2:n2 primary, "
                        "n2s1:n2 standby, n1s1:n1 standby");
}

static void test_first_listed_names_it(void **state)
{
    (void)state;
    make_fleet("n1s1 n1", "orders", "", "");
    primary("n1", "one", 1);
    standby("n1s1", "one", 1);
    assert_string_equal(groups(), "n1s1:n1s1 standby, n1:n1s1 primary");
}

static void test_no_identity(void **state)
{
    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    primary("n1", "", 0);
    primary("n2", "", 0);
    assert_string_equal(groups(), "n1:n1 primary, n2:n2 primary");
}

static void test_map_file_overrides(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "orders", "",
               write_map("[n1]\ngroup = a\n[n3]\ngroup = a\n"));
    primary("n1", "one", 1);
    primary("n2", "one", 1);
    standby("n3", "other", 1);
    assert_string_equal(groups(),
                        "n1:n1 primary, n2:n2 primary, n3:n1 standby");
    unlink(map_path);
}

static void test_promotion_stays_together(void **state)
{
    (void)state;
    make_fleet("n1 n1s1", "orders", "", "");
    primary("n1", "one", 1);
    own("n1", 0, 10);
    standby("n1s1", "one", 1);
    put_down("n1");
    primary("n1s1", "one", 2); /* nobody has asked it yet */
    assert_string_equal(groups(), "n1:n1 standby, n1s1:n1 primary");
    standby("n1", "one", 2); /* re-joined */
    assert_string_equal(groups(), "n1:n1 standby, n1s1:n1 primary");
}

static void test_highest_timeline_wins(void **state)
{
    (void)state;
    make_fleet("n1 n1s1", "orders", "", "");
    primary("n1", "one", 1);
    own("n1", 0, 10);
    primary("n1s1", "one", 2);
    own("n1s1", 0, 10);
    assert_string_equal(groups(), "n1:n1 standby, n1s1:n1 primary");
    put_down("n1s1"); /* and remembered */
    primary("n1", "one", 1);
    assert_string_equal(groups(), "n1:n1 standby, n1s1:n1 primary");
}

static void test_timeline_outlives_a_standby(void **state)
{
    (void)state;
    make_fleet("n1 n1s1", "orders", "", "");
    primary("n1", "one", 1);
    standby("n1s1", "one", 2); /* it follows a primary that is not ours */
    assert_string_equal(groups(), "n1:n1 standby, n1s1:n1 standby");
    standby("n1s1", "one", 1);
    assert_string_equal(groups(), "n1:n1 standby, n1s1:n1 standby");
    primary("n1", "one", 2);
    assert_string_equal(groups(), "n1:n1 primary, n1s1:n1 standby");
}

static void test_rebuilt_instance_starts_afresh(void **state)
{
    (void)state;
    make_fleet("n1", "orders", "", "");
    primary("n1", "one", 7);
    primary("n1", "new", 1);
    assert_string_equal(groups(), "n1:n1 primary");
}

static void test_equal_timelines(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    primary("n2", "one", 3);
    own("n2", 0, 10);
    primary("n1", "one", 3);
    own("n1", 0, 10);
    /* the one known as primary before keeps writes */
    assert_string_equal(groups(),
                        "n1:n1 standby, n2:n1 primary, n3:n3 unknown");
    primary("n3", "three", 1); /* whatever else is heard */
    primary("n1", "one", 3);
    assert_string_equal(groups(),
                        "n1:n1 standby, n2:n1 primary, n3:n3 primary");
}

static void test_clones(void **state)
{
    (void)state;
    make_fleet("n1 n2 n2s1", "orders", "", "");
    primary("n1", "one", 1);
    own("n1", 0, 10);
    primary("n2", "one", 5);
    /* not asked yet: no key goes to the wrong one, and the one that may be
       superseded gets no write */
    assert_string_equal(groups(), "n1:n1 standby, n2:n2 primary, "
                        "n2s1:n2s1 unknown");
    own("n2", 10, 20);
    assert_string_equal(groups(), "n1:n1 primary, n2:n2 primary, "
                        "n2s1:n2s1 unknown");
    standby("n2s1", "one", 5);
    assert_string_equal(groups(), "n1:n1 primary, n2:n2 primary, "
                        "n2s1:n2s1 standby");
    own("n2s1", 10, 20);
    assert_string_equal(groups(), "n1:n1 primary, n2:n2 primary, "
                        "n2s1:n2 standby");
}

/* ---- what becomes of a primary's sessions ------------------------------- */

static bool has_lost(const char *name)
{
    return atomic_load(&fleet.instances[at(name)].lost_at) != 0;
}

static void test_a_superseded_primary_loses_its_sessions(void **state)
{
    uint64_t lost;
    (void)state;

    make_fleet("n1 n1s1", "orders", "", "");
    fleet.events = events_new("", LOG_IS_INFO);
    primary("n1", "one", 1);
    own("n1", 0, 10);
    standby("n1s1", "one", 1);
    assert_false(has_lost("n1") || has_lost("n1s1"));
    primary("n1s1", "one", 2); /* of one group until they are seen to differ */
    assert_true(has_lost("n1"));
    assert_false(has_lost("n1s1"));
    assert_true(told("n1", "is superseded: n1s1 is on timeline 2"));
    assert_non_null(strstr(fleet.instances[at("n1")].lost.text,
                           "n1s1 is on timeline 2, it on 1"));
    lost = atomic_load(&fleet.instances[at("n1")].lost_at);
    primary("n1", "one", 1); /* once is enough */
    own("n1s1", 0, 10);
    assert_int_equal(atomic_load(&fleet.instances[at("n1")].lost_at), lost);
    assert_string_equal(groups(), "n1:n1 standby, n1s1:n1 primary");
    standby("n1", "one", 2); /* and it may be superseded again */
    primary("n1", "one", 3);
    assert_true(has_lost("n1s1"));
    primary("n1s1", "one", 4);
    assert_true(atomic_load(&fleet.instances[at("n1")].lost_at) > lost);
    events_free(fleet.events);
}

/* As long as it is not known whether they are clones, no session is cut off;
   it gets no write, that is all. */
static void test_one_that_may_be_a_clone_keeps_its_sessions(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "orders", "", "");
    primary("n1", "one", 1);
    own("n1", 0, 10);
    primary("n2", "one", 5);
    assert_string_equal(groups(),
                        "n1:n1 standby, n2:n2 primary, n3:n3 unknown");
    assert_false(has_lost("n1"));
    own("n2", 10, 20);
    assert_false(has_lost("n1"));
    primary("n3", "one", 7);
    own("n3", 0, 10); /* but this one is certain */
    assert_true(has_lost("n1"));
    assert_false(has_lost("n2") || has_lost("n3"));
}

static void test_of_two_new_ones_neither_writes(void **state)
{
    (void)state;
    make_fleet("n1 n2 n3", "", "", write_map("[n1]\ngroup = g\n[n2]\n"
                                             "group = g\n[n3]\ngroup = g\n"));
    fleet.events = events_new("", LOG_IS_INFO);
    standby("n3", "one", 5); /* so that none of them writes at first */
    primary("n1", "one", 3);
    primary("n2", "one", 3);
    assert_string_equal(groups(),
                        "n1:n1 standby, n2:n1 standby, n3:n1 standby");
    assert_true(told("n1", "is superseded: n3 is on timeline 5"));
    standby("n3", "other", 1); /* rebuilt: its timeline counts no more */
    assert_string_equal(groups(),
                        "n1:n1 standby, n2:n1 standby, n3:n1 standby");
    assert_true(told("n1", "neither gets a write"));
    assert_true(told("n2", "neither gets a write"));
    primary("n3", "other", 1);
    assert_string_equal(groups(),
                        "n1:n1 standby, n2:n1 standby, n3:n1 primary");
    primary("n2", "one", 4);
    assert_string_equal(groups(),
                        "n1:n1 standby, n2:n1 primary, n3:n1 primary");
    events_free(fleet.events);
    unlink(map_path);
}

static void test_more_is_no_clone(void **state)
{
    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    primary("n1", "one", 1);
    own("n1", 0, 10);
    primary("n2", "one", 2);
    own("n2", 0, 12); /* n1 has nothing that n2 has not */
    assert_string_equal(groups(), "n1:n1 standby, n2:n1 primary");
}

static void test_clones_survive_refresh(void **state)
{
    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    primary("n1", "one", 1);
    own("n1", 0, 10);
    primary("n2", "one", 1);
    own("n2", 10, 20);
    topology_forget(&fleet);
    fleet_learnt(&fleet);
    assert_string_equal(groups(), "n1:n1 primary, n2:n2 primary");
}

static void test_hash_cannot_tell_clones(void **state)
{
    (void)state;
    make_fleet("n1 n2", "", "", "");
    primary("n1", "one", 1);
    primary("n2", "one", 2);
    assert_string_equal(groups(), "n1:n1 standby, n2:n1 primary");
}

static void test_returns_whether_it_changed(void **state)
{
    (void)state;
    make_fleet("n1 n2", "orders", "", "");
    primary("n1", "one", 1);
    assert_false(fleet_learnt(&fleet));
    own("n1", 0, 10);
    assert_false(fleet_learnt(&fleet));
}

#define TEST(f) cmocka_unit_test_teardown(f, end)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(test_by_identity),
        TEST(test_first_listed_names_it),
        TEST(test_no_identity),
        TEST(test_map_file_overrides),
        TEST(test_promotion_stays_together),
        TEST(test_highest_timeline_wins),
        TEST(test_timeline_outlives_a_standby),
        TEST(test_rebuilt_instance_starts_afresh),
        TEST(test_equal_timelines),
        TEST(test_clones),
        TEST(test_a_superseded_primary_loses_its_sessions),
        TEST(test_one_that_may_be_a_clone_keeps_its_sessions),
        TEST(test_of_two_new_ones_neither_writes),
        TEST(test_more_is_no_clone),
        TEST(test_clones_survive_refresh),
        TEST(test_hash_cannot_tell_clones),
        TEST(test_returns_whether_it_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
