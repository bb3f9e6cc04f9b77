/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: single scenes that share the sessions.
 *
 * place, pool: how units get links and wait for them (rules §2, §3), one scene
 * at a time.  What must hold whatever happens is unit-place_model's.
 */
#include "unit-place.h"

#include "pool_inside.h"

/* The seed of a decision is an address, which differs each time. */
struct verdict __real_route_choose(const struct route_request *request,
                                   const struct route_fleet *seen);
struct verdict __wrap_route_choose(const struct route_request *request,
                                   const struct route_fleet *seen);

struct verdict __wrap_route_choose(const struct route_request *request,
                                   const struct route_fleet *seen)
{
    struct route_request same = *request;

    same.seed = turn;
    return __real_route_choose(&same, seen);
}

/* ---- single scenes ------------------------------------------------------------- */

static void a_link_is_used_again_and_clean(void **state)
{
    struct session *s = sessions;
    struct link *link;
    (void)state;

    begin_fleet(2, "PoolMax=2;");
    place(&s[0], "hint k1");
    settle();
    assert_int_equal(where(&s[0]), 2);
    assert_int_equal(s[0].order.verdict.reason, ROUTE_OWNER_OPEN);
    link = s[0].order.link;
    give(&s[0], true);
    settle();
    assert_int_equal(pretend_at[1].reset, 1);
    place(&s[0], "hint k1");
    settle();
    assert_ptr_equal(s[0].order.link, link);
    assert_false(pretend_of(link)->dirty);
    assert_int_equal(s[0].order.verdict.reason, ROUTE_OWNER_IDLE);
    assert_int_equal(s[0].order.waited, 0);
    give(&s[0], false); /* nothing was done: nothing to reset */
    assert_int_equal(sim_jobs(), 0);
    place(&s[0], "hint k1");
    settle();
    assert_ptr_equal(s[0].order.link, link);
    assert_int_equal(pretend_at[1].reset, 1);
    end_fleet();
}

static void who_comes_first_is_served_first(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=1;");
    place(&s[0], "strict k0");
    settle();
    for (int i = 1; i <= 3; i++) {
        place(&s[i], "strict k0");
        settle();
    }
    place(&s[4], "strict k1"); /* waits for nobody */
    settle();
    assert_int_equal(where(&s[4]), 2);
    give(&s[0], true);
    settle();
    assert_int_equal(where(&s[1]), 1);
    assert_int_equal(s[2].state, PLACING);
    give(&s[4], true); /* suits none of them */
    settle();
    assert_int_equal(s[2].state, PLACING);
    give(&s[1], false);
    settle();
    assert_int_equal(where(&s[2]), 1);
    assert_int_equal(s[3].state, PLACING);
    end_fleet();
}

static void waiting_ends_with_pool_wait(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=1;ConnectTimeout=2000;");
    place(&s[0], "hint");
    settle();
    place(&s[1], "hint wait500");
    place(&s[2], "hint wait0");
    place(&s[3], "hint limit200");
    settle();
    assert_int_equal(s[2].state, FAILED); /* no queueing */
    assert_int_equal(s[2].order.why.code, WHY_WAIT_LATE);
    pass(199);
    assert_int_equal(s[3].state, PLACING);
    pass(1);
    assert_int_equal(s[3].state, FAILED);
    pass(299);
    assert_int_equal(s[1].state, PLACING);
    pass(1);
    assert_int_equal(s[1].state, FAILED);
    assert_int_equal(s[1].order.why.code, WHY_WAIT_LATE);
    assert_int_equal(s[1].order.waited, 500 * NS_PER_MS);
    give(&s[0], true);
    settle();
    place(&s[4], "hint wait0"); /* opening and taking are allowed */
    settle();
    assert_int_equal(where(&s[4]), 1);
    end_fleet();
}

/* The link comes back in the same moment in which a waiting unit gives up. */
static void a_hand_off_to_one_who_gave_up_passes_on(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=1;");
    place(&s[0], "hint");
    settle();
    place(&s[1], "hint wait100");
    place(&s[2], "hint wait5000");
    settle();
    sim_set_now(sim_now() + 100 * NS_PER_MS); /* it has not noticed yet */
    give(&s[0], false);                       /* and is handed the link */
    settle();
    assert_true(where(&s[1]) + where(&s[2]) == 1);
    if (s[1].state == HOLDING) {
        give(&s[1], false);
        settle();
    }
    assert_int_equal(where(&s[2]), 1);
    end_fleet();
}

static void an_instance_that_hangs_costs_half_a_second_once(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;");
    pretend_set(0, PRETEND_HANGS);
    place(&s[0], "hint k0");
    pass(499);
    assert_int_equal(s[0].state, PLACING);
    pass(1);
    assert_int_equal(where(&s[0]), 2);
    place(&s[1], "hint k0"); /* it is known by now */
    settle();
    assert_int_equal(where(&s[1]), 2);
    place(&s[4], "strict"); /* it has no key */
    settle();
    assert_int_equal(where(&s[4]), 2);
    place(&s[2], "strict k0 wait1000"); /* nowhere else to go */
    place(&s[3], "login2 k0");
    settle();
    assert_int_equal(s[2].state, PLACING);
    assert_int_equal(where(&s[3]), 2); /* it holds for other logins too */
    pretend_set(0, PRETEND_SERVES);
    settle();
    assert_int_equal(where(&s[2]), 1);
    assert_int_equal(pretend_at[0].opened, 1); /* by the late one */
    end_fleet();
}

/* So does one whose turn does not come, since something else hangs there. */
static void who_waits_for_a_turn_is_no_more_patient(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;");
    pretend_set(0, PRETEND_HANGS);
    pretend_keys[2] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 0, true, false };
    place(&s[0], "hint k2 wait50"); /* n1 is asked, over a new link */
    settle();
    assert_int_equal(pretend_at[0].connecting, 1);
    place(&s[1], "hint k0"); /* n1 may be up or not: one at a time */
    settle();
    assert_int_equal(pretend_at[0].connecting, 1);
    pass(499);
    assert_int_equal(s[1].state, PLACING);
    pass(1);
    assert_int_equal(where(&s[1]), 2);
    end_fleet();
}

/* A link of the owner that is being reset is waited for, by one who slept when
   that began: for 0.1 s, not until its PoolWait is over. */
static void a_reset_that_hangs_costs_a_tenth_of_a_second(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=1;");
    place(&s[0], "hint k0");
    place(&s[1], "hint k1");
    settle();
    place(&s[2], "hint k0");
    settle();
    pretend_set(0, PRETEND_HANGS);
    give(&s[0], true);
    settle();
    give(&s[1], false);
    settle();
    pass(99);
    assert_int_equal(s[2].state, PLACING);
    pass(1);
    assert_int_equal(where(&s[2]), 2);
    end_fleet();
}

static void strict_gives_up_when_opening_takes_too_long(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "ConnectTimeout=2000;");
    pretend_set(0, PRETEND_HANGS);
    place(&s[0], "strict k0 wait500");
    place(&s[1], "strict k0 limit700");
    pass(699);
    assert_int_equal(s[1].state, PLACING);
    pass(1);
    assert_int_equal(s[1].state, FAILED);
    assert_int_equal(s[1].order.why.code, WHY_OPEN_LATE);
    pass(1299);
    assert_int_equal(s[0].state, PLACING);
    pass(1);
    assert_int_equal(s[0].state, FAILED);
    assert_int_equal(s[0].order.why.code, WHY_OPEN_LATE);
    assert_non_null(strstr(s[0].order.why.text, "key k0 (owner n1)"));
    end_fleet();
}

static void a_refused_login_is_told_to_all_who_wait_with_it(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;");
    pretend_set(0, PRETEND_NO_LOGIN);
    place(&s[0], "strict k0");
    place(&s[1], "hint k0");
    place(&s[2], "hint k1");
    settle();
    assert_int_equal(s[0].state, FAILED);
    assert_int_equal(s[0].order.why.code, WHY_LOGIN);
    assert_int_equal(s[1].state, FAILED); /* nowhere else: lock-out */
    assert_int_equal(where(&s[2]), 2);
    assert_int_equal(atomic_load(&fleet->members[0].health), ROUTE_UNTRIED);
    end_fleet();
}

/* Who comes between an opening's failure and the end of its link has one of his
   own opened: nobody would tell him of a failure that has been told. */
static struct pool_events late_events;
static struct unit late; /* it comes as the login is refused; no session's */
static unsigned late_told;

static void late_comes(struct login *login, uint32_t i, enum inner_fault fault,
                       const struct link_error *error)
{
    place_events.refused(login, i, fault, error);
    if (!late.begin) {
        late.begin = 1;
        assert_true(pool_order_locked(&login->pools[i], &late));
    }
}

static void late_hears(struct unit *unit, uint32_t i, enum inner_fault fault,
                       const struct link_error *error)
{
    if (unit == &late) {
        late_told++;
    } else {
        place_events.failed(unit, i, fault, error);
    }
}

static void nobody_takes_over_what_has_failed(void **state)
{
    (void)state;
    begin_fleet(2, "PoolMax=5;");
    late_events = place_events;
    late_events.refused = late_comes;
    late_events.failed = late_hears;
    pool_set_events(&late_events);
    pretend_set(0, PRETEND_NO_LOGIN);
    place(&sessions[0], "strict k0");
    settle();
    pool_set_events(&place_events);
    assert_int_equal(sessions[0].state, FAILED);
    assert_int_equal(late_told, 1);
    end_fleet();
}

/* Accounts get locked by trying again and again: who waits for an owner to be
   learnt hears of a refusal too, until the login is known to be good. */
static void a_refused_login_asks_nowhere_else(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;");
    pretend_set(0, PRETEND_NO_LOGIN);
    pretend_keys[2] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 0, true, false };
    place(&s[0], "strict k2"); /* n1 is asked */
    settle();
    assert_int_equal(s[0].state, FAILED);
    assert_int_equal(s[0].order.why.code, WHY_LOGIN);
    assert_non_null(strstr(s[0].order.why.text, "the login is refused (Aff"));
    assert_null(strstr(s[0].order.why.text, "waits"));
    assert_null(strstr(s[0].order.why.text, "asked"));
    pretend_keys[2].asked = false;
    pretend_keys[2].pending = true;
    pretend_keys[2].owner = 1;
    pretend_set(1, PRETEND_HANGS);
    place(&s[2], "hint k2"); /* n2 is asked, and does not answer */
    place(&s[1], "strict k0"); /* opens on n1 */
    settle();
    assert_int_equal(s[1].state, FAILED);
    assert_int_equal(s[2].state, FAILED);
    assert_int_equal(s[2].order.why.code, WHY_LOGIN);
    end_fleet();

    begin_fleet(2, "PoolMax=5;");
    place(&s[2], "strict k1"); /* n2 takes the login: it is n1's own affair */
    settle();
    give(&s[2], false);
    settle();
    pretend_set(0, PRETEND_NO_LOGIN);
    pretend_keys[2] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 0, true, false };
    place(&s[0], "hint k2");
    settle();
    assert_int_equal(where(&s[0]), 2);
    end_fleet();
}

/* Rules §3.3: where its login was refused the keeper does not retry unasked,
   neither behind a session that is served elsewhere nor to learn the rest.  Who
   asks for that instance has it tried, and hears of it. */
static void a_refused_login_is_not_retried_unasked(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;");
    place(&s[0], "strict k1"); /* n2 takes the login */
    settle();
    give(&s[0], false);
    settle();
    strcpy(pretend_at[0].unwelcome, "u1");
    for (int n = 0; n < 5; n++) {
        pretend_lacks = n ? 0 : -1; /* the first one does not know it yet */
        place(&s[0], "hint k0");
        settle();
        assert_int_equal(where(&s[0]), 2);
        assert_int_equal(s[0].order.verdict.also, 0);
        assert_int_equal(pretend_at[0].turned_away, 1); /* by the first */
        give(&s[0], false);
        settle();
    }
    assert_int_equal(pretend_lacks, 0); /* nobody was put off for it */
    place(&s[0], "hint k1 login2");
    settle();
    assert_int_equal(pretend_lacks, -1); /* whose login it takes has asked */
    assert_int_equal(pretend_at[0].opened, 1);
    give(&s[0], false);
    settle();
    place(&s[0], "strict k0");
    settle();
    assert_int_equal(s[0].state, FAILED);
    assert_int_equal(s[0].order.why.code, WHY_LOGIN);
    assert_int_equal(pretend_at[0].turned_away, 2);
    pretend_at[0].unwelcome[0] = '\0';
    place(&s[1], "strict k0");
    settle();
    assert_int_equal(where(&s[1]), 1);
    place(&s[2], "hint k0"); /* it is welcome again, to who is behind as well */
    settle();
    assert_int_equal(where(&s[2]), 2);
    assert_int_equal(pretend_at[0].opened, 3);
    end_fleet();
}

/* Rules §3.3 go before "served while any instance lives": a hint session that
   needs a new link gets it from its owner, or hears why not.  What is idle
   elsewhere comes first in hint, and is had. */
static void a_refused_login_is_told_though_others_would_take_it(void **state)
{
    static const char *const modes[] = { "hint k0", "prefer k0", "hint k0" };
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=1;");
    place(&s[0], "strict k1"); /* the only link of n2 */
    settle();
    strcpy(pretend_at[0].unwelcome, "u1");
    for (int i = 0; i < 3; i++) { /* the third knows that it was refused */
        place(&s[1], modes[i]);
        settle();
        assert_int_equal(s[1].state, FAILED);
        assert_int_equal(s[1].order.why.code, WHY_LOGIN);
        assert_string_equal(s[1].order.refusals[0].error.state, "28P01");
        forget(&s[1]);
    }
    give(&s[0], false);
    settle();
    place(&s[1], "prefer k0"); /* which opens before it leaves */
    place(&s[2], "hint k0");
    settle();
    assert_int_equal(s[1].state, FAILED);
    assert_int_equal(where(&s[2]), 2);
    end_fleet();
}

/* Promise 4: an instance that hangs while it is asked who owns what. */
static void only_strict_waits_for_an_owner_that_nobody_tells_soon(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(3, "PoolMax=5;PoolCreate=borrower;");
    place(&s[3], "strict k1");
    settle();
    give(&s[3], false); /* a link on n2 */
    settle();
    pretend_set(0, PRETEND_HANGS);
    pretend_keys[2] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 0, true, false };
    place(&s[0], "hint k2");
    settle();
    assert_int_equal(s[0].state, PLACING); /* it may come */
    pretend_late[2] = true;
    place(&s[2], "strict k2");
    settle();
    assert_int_equal(where(&s[0]), 2);
    assert_int_equal(s[2].state, PLACING);
    pretend_late[2] = false;
    pretend_set(0, PRETEND_SERVES);
    settle();
    assert_int_equal(where(&s[2]), 1);
    end_fleet();
}

static void a_refused_open_goes_elsewhere_or_says_why(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;");
    pretend_set(0, PRETEND_REFUSES);
    place(&s[0], "hint k0");
    place(&s[1], "strict k0");
    settle();
    assert_int_equal(where(&s[0]), 2);
    assert_int_equal(s[1].state, FAILED);
    assert_int_equal(s[1].order.why.code, WHY_REFUSED);
    assert_string_equal(s[1].order.refusals[0].error.state, "08001");
    pretend_set(0, PRETEND_SERVES);
    place(&s[2], "hint k0"); /* passed over for a second */
    settle();
    assert_int_equal(where(&s[2]), 2);
    place(&s[3], "strict k0"); /* tried all the same */
    settle();
    assert_int_equal(where(&s[3]), 1);
    end_fleet();
}

/* Rules §3.1: "instance up" is told to the units of every login. */
static void who_waits_hears_that_an_instance_is_back(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=1;");
    place(&s[0], "login2 k1");
    settle();
    pretend_set(0, PRETEND_REFUSES);
    place(&s[1], "strict k0");
    settle();
    assert_int_equal(s[1].state, FAILED);
    forget(&s[1]);
    place(&s[2], "login2 k0 wait900"); /* n2 is in use, n1 is down */
    settle();
    assert_int_equal(s[2].state, PLACING);
    pretend_set(0, PRETEND_SERVES);
    place(&s[1], "strict k0"); /* by the other login */
    settle();
    assert_int_equal(where(&s[1]), 1);
    assert_int_equal(where(&s[2]), 1);
    end_fleet();
}

static void who_waits_tries_what_was_down_in_time(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=1;");
    place(&s[0], "hint k1");
    settle();
    pretend_set(0, PRETEND_REFUSES);
    place(&s[1], "strict k0");
    settle();
    forget(&s[1]);
    pretend_set(0, PRETEND_SERVES);
    place(&s[1], "hint k0");
    pass(799); /* 1 s, less or more by up to 20 % */
    assert_int_equal(s[1].state, PLACING);
    pass(401);
    assert_int_equal(where(&s[1]), 1);
    end_fleet();
}

/* Rules §5.2: 57P03 is "not ready yet, retry later", no failure.  Who can go
   nowhere else waits for it, for PoolWait (rules §3.3), and one at a time asks
   again. */
static void who_can_go_nowhere_else_waits_for_what_is_not_ready(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;PoolCreate=borrower;");
    place(&s[0], "strict k0"); /* it was up */
    settle();
    give(&s[0], false);
    settle();
    pretend_kill(pretend_of(logins[0]->pools[0].links[LINK_IDLE]));
    pretend_set(0, PRETEND_STARTS);
    pass(1000);
    place(&s[0], "strict k0");
    place(&s[1], "strict k0 wait500");
    place(&s[2], "hint k0");
    place(&s[3], "strict k0 wait0"); /* may open, not wait */
    settle();
    assert_int_equal(where(&s[2]), 2);
    assert_int_equal(s[0].state, PLACING);
    assert_int_equal(s[3].state, FAILED);
    assert_int_equal(s[3].order.why.code, WHY_WAIT_LATE);
    pass(499);
    assert_int_equal(s[1].state, PLACING);
    pass(1);
    assert_int_equal(s[1].state, FAILED);
    assert_int_equal(s[1].order.why.code, WHY_WAIT_LATE);
    assert_non_null(strstr(s[1].order.why.text, "57P03"));
    assert_non_null(strstr(s[1].order.why.text, "not ready yet"));
    assert_in_range(count_of(logins[0], 0, POOL_STAT_FAILED), 1, 3);
    pretend_set(0, PRETEND_SERVES);
    assert_int_equal(s[0].state, PLACING);
    pass(900); /* asked again after 1 s, less or more by up to 20 % */
    assert_int_equal(where(&s[0]), 1);
    end_fleet();
}

/* All of them, as after a power failure: everybody waits. */
static void a_fleet_that_starts_is_waited_for(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;");
    pretend_set(0, PRETEND_STARTS);
    pretend_set(1, PRETEND_STARTS);
    place(&s[0], "hint");
    place(&s[1], "prefer k1");
    place(&s[2], "hint k0 wait2000");
    pass(1500);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s[i].state, PLACING);
    }
    assert_in_range(count_of(logins[0], 0, POOL_STAT_FAILED), 1, 3);
    pretend_set(1, PRETEND_SERVES);
    pass(1200);
    assert_int_equal(where(&s[0]), 2);
    assert_int_equal(where(&s[1]), 2);
    end_fleet();
}

/* Sessions that are being connected go on with a fleet that is out of date. */
static void a_retired_login_serves_who_waits(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=5;");
    place(&s[0], "hint");
    sim_run(0);
    assert_int_equal(sim_jobs(), 1);
    login_retire(logins[0]);
    settle();
    assert_int_equal(where(&s[0]), 1);
    give(&s[0], false); /* but its link is not kept */
    settle();
    assert_int_equal(logins[0]->stock[0].idle, 0);
    assert_int_equal(pretend_at[0].open, 0);
    end_fleet();
}

static void at_the_total_an_idle_link_makes_room(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(3, "PoolMax=5;PoolMaxTotal=2;");
    for (int i = 0; i < 2; i++) {
        place(&s[i], i ? "strict k1" : "strict k0");
        pass(1);
    }
    give(&s[0], false); /* used longest ago */
    pass(1);
    give(&s[1], false);
    settle();
    place(&s[2], "strict k2");
    settle();
    assert_int_equal(where(&s[2]), 3);
    assert_int_equal(pretend_at[0].open, 0);
    assert_int_equal(pretend_at[1].open, 1);
    assert_int_equal(logins[0]->total, 2);
    end_fleet();
}

static void a_full_instance_is_not_asked_again_and_again(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;PoolMaxTotal=2;");
    place(&s[0], "strict k1");
    place(&s[1], "strict k1");
    settle();
    give(&s[0], false);
    give(&s[1], false);
    settle();
    pretend_set(0, PRETEND_IS_FULL);
    place(&s[2], "strict k0 wait100");
    pass(1);
    assert_int_equal(count_of(logins[0], 0, POOL_STAT_FAILED), 1);
    assert_int_equal(logins[0]->total, 1); /* one was closed for it */
    pass(100);
    assert_int_equal(s[2].state, FAILED);
    assert_int_equal(atomic_load(&fleet->members[0].health), ROUTE_UNTRIED);
    end_fleet();
}

static void an_old_link_is_validated_and_a_dead_one_replaced(void **state)
{
    struct session *s = sessions;
    struct link *link;
    (void)state;

    begin_fleet(1, "PoolMax=5;PoolTrust=500;");
    place(&s[0], "hint");
    settle();
    link = s[0].order.link;
    give(&s[0], false);
    pass(500);
    assert_int_equal(pretend_at[0].validated, 1); /* at opening */
    place(&s[0], "hint");
    settle();
    assert_ptr_equal(s[0].order.link, link);
    assert_int_equal(pretend_at[0].validated, 2);
    give(&s[0], false);
    pass(500);
    pretend_kill(pretend_of(link));
    place(&s[0], "hint");
    settle();
    assert_int_equal(where(&s[0]), 1);
    assert_int_equal(pretend_at[0].opened, 2);
    assert_int_equal(pretend_at[0].open, 1);
    end_fleet();
}

static void what_does_not_come_clean_is_closed(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=1;PoolMaxReuse=2;");
    pretend_at[0].reset_fails = true;
    place(&s[0], "hint");
    settle();
    place(&s[1], "hint");
    settle();
    give(&s[0], true);
    settle();
    assert_int_equal(where(&s[1]), 1); /* a new one: there is room now */
    assert_int_equal(pretend_at[0].opened, 2);
    pretend_at[0].reset_fails = false;
    give(&s[1], true);
    settle();
    place(&s[0], "hint");
    settle();
    assert_int_equal(pretend_at[0].opened, 2);
    give(&s[0], true); /* twice is enough */
    settle();
    assert_int_equal(pretend_at[0].open, 0);
    place(&s[0], "hint");
    settle();
    s[0].order.link->spoilt = true;
    give(&s[0], true);
    settle();
    assert_int_equal(pretend_at[0].open, 0);
    end_fleet();
}

static void old_links_are_closed(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=5;PoolIdleTimeout=1000;PoolMaxLifetime=4000;");
    for (int i = 0; i < 3; i++) {
        place(&s[i], "hint");
    }
    settle();
    for (int i = 0; i < 3; i++) {
        give(&s[i], false);
    }
    for (int i = 0; i < 3; i++) { /* the latest is used, the others are idle */
        pass(900);
        place(&s[0], "hint");
        settle();
        assert_int_equal(pretend_at[0].opened, 3);
        give(&s[0], false);
        settle();
    }
    assert_int_equal(pretend_at[0].open, 1);
    pass(900);
    place(&s[0], "hint"); /* it is four seconds old, less a little */
    pass(400);
    give(&s[0], false);
    settle();
    assert_int_equal(pretend_at[0].open, 0);
    end_fleet();
}

static void what_becomes_of_sessions_is_counted(void **state)
{
    struct session *s = sessions;
    struct login *login;
    (void)state;

    begin_fleet(2, "PoolMax=1;PoolTrust=500;");
    login = logins[0];
    place(&s[0], "strict k1");
    settle();
    place(&s[1], "strict k1 wait100"); /* in vain */
    place(&s[2], "strict k1 wait400");
    pass(200);
    assert_int_equal(s[1].state, FAILED);
    give(&s[0], false);
    settle();
    assert_int_equal(where(&s[2]), 2);
    assert_int_equal(count_of(login, 1, POOL_STAT_WAITS), 2);
    assert_int_equal(count_of(login, 1, POOL_STAT_WAIT), 200 * NS_PER_MS);
    assert_int_equal(count_of(login, 1, POOL_STAT_LONGEST), 200 * NS_PER_MS);
    assert_int_equal(count_of(login, -1, POOL_STAT_TIMED_OUT), 1);
    assert_int_equal(count_of(login, -1, POOL_STAT_TIME_OUT),
                     100 * NS_PER_MS);
    assert_int_equal(count_of(login, 1, POOL_STAT_USED), 200 * NS_PER_MS);
    place(&s[0], "hint k1"); /* goes elsewhere */
    settle();
    assert_int_equal(where(&s[0]), 1);
    assert_int_equal(count_of(login, 1, POOL_STAT_HITS), 2);
    assert_int_equal(count_of(login, 0, POOL_STAT_MISSES), 1);
    give(&s[2], true);
    settle();
    pass(600);
    place(&s[2], "hint");
    settle();
    assert_int_equal(count_of(login, 1, POOL_STAT_RESETS), 1);
    assert_int_equal(count_of(login, 1, POOL_STAT_VALIDATED), 1);
    assert_int_equal(count_of(login, 1, POOL_STAT_BORROWED), 3);
    assert_int_equal(count_of(login, 1, POOL_STAT_RETURNED), 2);
    assert_int_equal(count_of(login, 1, POOL_STAT_HITS), 2);
    assert_int_equal(count_of(login, 1, POOL_STAT_PEAK), 1);
    assert_int_equal(count_of(login, 1, POOL_STAT_PEAK_IN_USE), 1);
    end_fleet();
}

static void what_is_closed_is_counted_with_its_reason(void **state)
{
    struct session *s = sessions;
    struct login *login;
    (void)state;

    begin_fleet(2, "PoolMax=2;PoolTrust=500;PoolMaxReuse=2;"
                   "PoolIdleTimeout=5000;PoolMaxTotal=2;");
    login = logins[0];
    for (int i = 0; i < 2; i++) {
        place(&s[0], "strict k1");
        settle();
        give(&s[0], false);
        settle();
    }
    assert_int_equal(count_of(login, 1, POOL_STAT_CLOSED_WORN), 1);
    place(&s[0], "strict k1");
    settle();
    pretend_at[1].reset_fails = true;
    give(&s[0], true);
    settle();
    pretend_at[1].reset_fails = false;
    assert_int_equal(count_of(login, 1, POOL_STAT_CLOSED_UNCLEAN), 1);
    place(&s[0], "strict k1");
    settle();
    pretend_kill(pretend_of(s[0].order.link));
    give(&s[0], true);
    settle();
    assert_int_equal(count_of(login, 1, POOL_STAT_CLOSED_DEAD), 1);
    place(&s[0], "strict k1");
    settle();
    give(&s[0], false);
    pass(1000);
    pretend_kill(pretend_of(login->pools[1].links[LINK_IDLE]));
    place(&s[0], "strict k1");
    settle();
    assert_int_equal(where(&s[0]), 2);
    assert_int_equal(count_of(login, 1, POOL_STAT_INVALID), 1);
    assert_int_equal(count_of(login, 1, POOL_STAT_CLOSED_DEAD), 2);
    give(&s[0], false);
    pass(5000);
    place(&s[0], "strict k1");
    settle();
    assert_int_equal(count_of(login, 1, POOL_STAT_CLOSED_IDLE), 1);
    give(&s[0], false);
    place(&s[0], "strict k0");
    place(&s[1], "strict k0");
    settle();
    assert_int_equal(count_of(login, 1, POOL_STAT_CLOSED_ROOM), 1);
    give(&s[0], false);
    settle();
    fleet_renew_links(fleet, 0);
    pool_trim(&login->pools[0]);
    settle();
    assert_int_equal(count_of(login, 0, POOL_STAT_CLOSED_RETIRED), 1);
    end_fleet();
}

/* ---- shelves ------------------------------------------------------------------ */

static bool comes_at_once(struct session *s, const char *words)
{
    ask_for(s, words);
    if (place_now(s)) {
        return true;
    }
    forget(s);
    return false;
}

static void what_was_not_used_is_left_for_the_next_one(void **state)
{
    struct session *s = sessions;
    struct link *link;
    uint64_t validated;
    (void)state;

    begin_fleet(2, "PoolMax=2;PoolTrust=500;");
    place(&s[0], "hint k1");
    settle();
    link = s[0].order.link;
    assert_true(leave(&s[0], false));
    assert_false(comes_at_once(&s[0], "hint k1 login2"));
    assert_false(comes_at_once(&s[0], "strict k0")); /* not the owner's */
    stripe = 1;
    assert_false(comes_at_once(&s[0], "hint k1"));
    stripe = 0;
    assert_true(comes_at_once(&s[0], "hint k1"));
    assert_ptr_equal(s[0].order.link, link);
    assert_int_equal(s[0].order.verdict.action, ROUTE_TAKE);
    assert_int_equal(s[0].order.verdict.reason, ROUTE_OWNER_IDLE);
    assert_int_equal(count_of(logins[0], 1, POOL_STAT_HITS), 2);
    assert_int_equal(count_of(logins[0], 1, POOL_STAT_RETURNED), 1);
    assert_int_equal(link->use.borrowed, 2);
    assert_false(comes_at_once(&s[1], "hint k1")); /* there is no other */
    assert_true(leave(&s[0], false));
    pass(500);
    validated = pretend_at[1].validated;
    assert_false(comes_at_once(&s[0], "hint k1")); /* not without that */
    place(&s[0], "strict k1");
    settle();
    assert_ptr_equal(s[0].order.link, link);
    assert_int_equal(pretend_at[1].validated, validated + 1);
    assert_false(leave(&s[0], true)); /* used: it is reset */
    settle();
    end_fleet();
}

static void what_is_on_shelves_is_found_from_everywhere(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=2;PoolTrust=10000;");
    place(&s[0], "hint");
    place(&s[1], "hint");
    settle();
    assert_true(leave(&s[0], false));
    stripe = 1;
    assert_true(leave(&s[1], false));
    stripe = 2;
    place(&s[0], "hint");
    place(&s[1], "hint");
    settle();
    assert_int_equal(where(&s[0]), 1);
    assert_int_equal(where(&s[1]), 1);
    assert_int_equal(pretend_at[0].opened, 2);
    place(&s[2], "hint");
    settle();
    assert_false(leave(&s[0], false)); /* somebody waits for it */
    settle();
    assert_int_equal(where(&s[2]), 1);
    assert_true(leave(&s[1], false));
    login_retire(logins[0]);
    settle();
    assert_int_equal(pretend_at[0].open, 1);
    assert_false(leave(&s[2], false));
    settle();
    assert_int_equal(pretend_at[0].open, 0);
    stripe = 0;
    end_fleet();
}

static void what_is_too_many_is_left_on_no_shelf(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=3;PoolTrust=10000;");
    for (int i = 0; i < 3; i++) {
        place(&s[i], "hint");
    }
    settle();
    assert_true(leave(&s[2], false));
    atomic_store(&fleet->members[0].pool_max, 1); /* the map file says so */
    pool_trim(&logins[0]->pools[0]);
    settle();
    assert_int_equal(pretend_at[0].open, 2);
    assert_false(leave(&s[0], false));
    settle();
    assert_int_equal(pretend_at[0].open, 1);
    assert_true(leave(&s[1], false));
    end_fleet();
}

/* It would be given an idle link, but that turns out to be too old. */
static void who_finds_no_idle_link_looks_on_shelves(void **state)
{
    struct session *s = sessions;
    struct link *link;
    (void)state;

    begin_fleet(1, "PoolMax=3;PoolTrust=100000;PoolMaxLifetime=4000;");
    place(&s[0], "hint");
    pass(3500);
    place(&s[1], "hint");
    settle();
    link = s[1].order.link;
    assert_true(leave(&s[1], false));
    give(&s[0], false);
    pass(600);
    stripe = 1;
    place(&s[2], "hint");
    settle();
    assert_ptr_equal(s[2].order.link, link);
    assert_int_equal(pretend_at[0].opened, 2);
    assert_int_equal(pretend_at[0].open, 1);
    stripe = 0;
    end_fleet();
}

static void links_on_shelves_do_not_escape_the_idle_time(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=3;PoolTrust=100000;PoolIdleTimeout=5000;");
    for (int i = 0; i < 3; i++) {
        place(&s[i], "hint");
    }
    settle();
    for (int i = 0; i < 3; i++) {
        stripe = (unsigned)i;
        assert_true(leave(&s[i], false));
    }
    for (int i = 0; i < 12; i++) { /* the latest stays in use */
        pass(500);
        ask_for(&s[0], "hint");
        if (!place_now(&s[0])) {
            forget(&s[0]);
            place(&s[0], "hint");
            settle();
        }
        assert_true(leave(&s[0], false));
    }
    settle();
    assert_int_equal(pretend_at[0].opened, 3);
    assert_int_equal(pretend_at[0].open, 1);
    stripe = 0;
    end_fleet();
}

static void owners_are_learnt_before_a_unit_goes_on(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(3, "PoolMax=2;PoolCreate=borrower;");
    pretend_keys[0] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 2, true,
                                            false };
    place(&s[0], "strict k0");
    settle();
    assert_int_equal(where(&s[0]), 3);
    assert_int_equal(s[0].order.owner.state, ROUTE_IS_OWNED);
    /* nobody can tell: strict opens anywhere, and takes no idle link */
    pretend_keys[1] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 0, false,
                                            false };
    place(&s[1], "hint k3");
    settle();
    give(&s[1], false);
    settle();
    assert_int_equal(logins[0]->total_idle, 1);
    place(&s[1], "strict k1");
    settle();
    assert_int_equal(s[1].order.verdict.reason, ROUTE_UNLEARNT);
    assert_int_equal(logins[0]->total_idle, 1);
    end_fleet();
}

/* At PoolMaxTotal, too: the first link that is given back gives way. */
static void learning_has_its_turn(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=5;PoolMaxTotal=1;");
    pretend_keys[3] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 1, true, false };
    place(&s[0], "strict k0");
    settle();
    place(&s[1], "strict k3"); /* no link is to be had to ask over */
    place(&s[2], "strict k0");
    pass(1000);
    assert_int_equal(s[1].state, PLACING);
    assert_int_equal(pretend_at[1].opened, 0);
    give(&s[0], true);
    settle();
    assert_int_equal(where(&s[1]), 2);
    assert_int_equal(s[2].state, PLACING);
    give(&s[1], true);
    settle();
    assert_int_equal(where(&s[2]), 1);
    end_fleet();
}

/* Opened while its owner was not known; by the time the link is there, the
   key is known to have none: the link is not taken (rules §2.2). */
static void what_is_learnt_meanwhile_counts(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=2;PoolCreate=borrower;");
    pretend_keys[0] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 0, false,
                                            false };
    place(&s[0], "strict k0 wait100");
    place(&s[1], "strict k0 wait100");
    sim_run(0);
    sim_run(0);
    assert_int_equal(sim_queued(), 2);
    pretend_keys[0].state = ROUTE_IS_MOVING;
    settle();
    assert_int_equal(s[0].state, PLACING);
    pretend_keys[0].state = ROUTE_IS_UNOWNED;
    place(&s[2], "strict k1"); /* an event */
    settle();
    assert_int_equal(s[0].state, FAILED);
    assert_int_equal(s[0].order.why.code, WHY_NO_OWNER);
    assert_int_equal(s[1].state, FAILED);
    end_fleet();
}

/* Asked for again by whom a link is there at last, it is learnt over another
   one, and none is closed for it but what nobody has. */
static void what_is_handed_over_is_not_learnt_over(void **state)
{
    static const char *const words[] = { "", "PoolMaxTotal=1;" };
    struct session *s = sessions;
    (void)state;

    for (uint32_t owner = 0; owner < 2; owner++) {
        begin_fleet(2, words[owner]);
        place(&s[0], "hint k0");
        sim_run(0);
        assert_int_equal(sim_jobs(), 1);
        pretend_keys[0] = (struct pretend_key){ ROUTE_IS_UNKNOWN, owner, true,
                                                false }; /* REFRESH AFFINITY */
        settle();
        assert_int_equal(s[0].state, HOLDING);
        assert_int_equal(pretend_of(s[0].order.link)->connected, true);
        assert_int_equal(s[0].order.link->state, LINK_HELD);
        give(&s[0], true);
        settle();
        end_fleet();
    }
}

/* PoolCreate=background: what was opened for one goes to who came before it and
   can use it; the order of that one is then the other's (rules §3.1). */
static void what_is_opened_is_for_who_came_first(void **state)
{
    struct session *s = sessions;
    (void)state;

    for (int borrower = 0; borrower < 2; borrower++) {
        begin_fleet(1, borrower ? "PoolCreate=borrower;" : "");
        place(&s[0], "hint");
        settle(); /* it is known to be up: several may be opened */
        place(&s[1], "hint");
        place(&s[2], "hint");
        sim_run(0);
        sim_run(0);
        assert_int_equal(sim_jobs(), 2);
        sim_run_job(1); /* the second one's */
        settle();
        assert_int_equal(pretend_at[0].opened, 3);
        assert_int_equal(where(&s[1]), 1);
        assert_int_equal(where(&s[2]), 1);
        assert_int_equal(s[1].order.verdict.action,
                         borrower ? ROUTE_OPEN : ROUTE_TAKE);
        assert_int_equal(s[2].order.verdict.action, ROUTE_OPEN);
        end_fleet();
    }
}

/* A unit that got another link leaves its order to others, and if nobody wants
   it and no helper is at it, it is taken back. */
static void no_order_is_left_for_nobody(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=4;");
    place(&s[0], "hint");
    settle();
    place(&s[1], "hint");
    sim_run(0);
    assert_int_equal(logins[0]->stock[0].opening, 1);
    give(&s[0], false); /* sooner than the new one */
    settle();
    assert_int_equal(where(&s[1]), 1);
    assert_int_equal(logins[0]->total, 1);
    assert_int_equal(pretend_at[0].opened, 1);
    end_fleet();

    begin_fleet(1, "PoolMax=4;");
    place(&s[0], "hint");
    settle();
    place(&s[1], "hint");
    sim_run(0);
    place(&s[2], "hint");
    sim_run(0);
    assert_int_equal(logins[0]->stock[0].opening, 2);
    pretend_set(0, PRETEND_HANGS);
    sim_run_job(0); /* the first one's has begun */
    sim_run_job(0);
    give(&s[0], false);
    while (sim_runnables()) {
        sim_run(0);
    }
    assert_int_equal(where(&s[1]), 1);
    place(&s[3], "hint"); /* takes it over */
    while (sim_runnables()) {
        sim_run(0);
    }
    assert_int_equal(logins[0]->stock[0].opening, 2);
    pretend_set(0, PRETEND_SERVES);
    settle();
    assert_int_equal(where(&s[2]), 1);
    assert_int_equal(where(&s[3]), 1);
    assert_int_equal(pretend_at[0].opened, 3);
    end_fleet();
}

/* Many programs show the first record only: it says which instance cannot, and
   why, though none was asked; and of those only that the key concerns. */
static void what_nobody_can_serve_is_told_at_once(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=2;");
    atomic_store(&fleet->members[0].disabled, true);
    fleet_set_drained(fleet, 1, true);
    place(&s[0], "strict k0");
    place(&s[1], "strict k1");
    place(&s[2], "hint k0");
    settle();
    assert_int_equal(s[0].state, FAILED);
    assert_non_null(strstr(s[0].order.why.text, "the owner cannot be used"));
    assert_non_null(strstr(s[0].order.why.text,
                           "; n1: disabled by the map file"));
    assert_null(strstr(s[0].order.why.text, "n2"));
    assert_non_null(strstr(s[1].order.why.text, "; n2: draining"));
    assert_non_null(strstr(s[2].order.why.text,
                           "; n1: disabled by the map file; n2: draining"));
    end_fleet();
}

/* Facts A1.6: with PoolCreate=background strict never goes elsewhere, known
   owner or not. */
static void strict_waits_until_its_owner_is_learnt(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(2, "PoolMax=2;");
    pretend_keys[0] = (struct pretend_key){ ROUTE_IS_UNKNOWN, 0, false,
                                            false };
    place(&s[0], "strict k0 wait100");
    place(&s[1], "strict k0 wait0");
    place(&s[2], "strict k0 wait5000");
    place(&s[3], "hint k0");
    settle();
    assert_int_equal(s[1].state, FAILED);
    assert_int_equal(s[1].order.why.code, WHY_WAIT_LATE);
    assert_true(where(&s[3]) > 0);
    pass(99);
    assert_int_equal(s[0].state, PLACING);
    pass(1);
    assert_int_equal(s[0].state, FAILED);
    assert_int_equal(s[0].order.why.code, WHY_WAIT_LATE);
    assert_non_null(strstr(s[0].order.why.text, "not learnt"));
    pretend_keys[0] = (struct pretend_key){ ROUTE_IS_OWNED, 1, false, false };
    give(&s[3], false); /* an event */
    settle();
    assert_int_equal(where(&s[2]), 2);
    end_fleet();
}

/* An instance that comes back is not run at: one tries while it is not known to
   be up, and then a few at a time. */
static void who_waits_does_not_run_at_it(void **state)
{
    enum { MANY = SESSIONS };
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolMax=30;ConnectTimeout=60000;");
    pretend_set(0, PRETEND_HANGS);
    for (int i = 0; i < MANY; i++) {
        place(&s[i], i % 2 ? "strict k0" : "login2 strict k0");
    }
    settle();
    assert_int_equal(pretend_at[0].connecting, 1);
    pass(600); /* and nobody's patience has another one tried */
    assert_int_equal(pretend_at[0].connecting, 1);
    pretend_set(0, PRETEND_SERVES);
    settle();
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(where(&s[i]), 1);
    }
    assert_int_equal(pretend_at[0].opened, MANY);
    end_fleet();

    begin_fleet(1, "PoolMax=30;ConnectTimeout=60000;");
    place(&s[0], "hint");
    settle(); /* it is up */
    pretend_set(0, PRETEND_HANGS);
    for (int i = 1; i < MANY; i++) {
        place(&s[i], i % 2 ? "strict k0" : "login2 strict k0");
    }
    settle();
    assert_int_equal(pretend_at[0].connecting, KEEPER_LANE_MAX);
    pretend_set(0, PRETEND_SERVES);
    settle();
    for (int i = 1; i < MANY; i++) {
        assert_int_equal(where(&s[i]), 1);
    }
    end_fleet();

    begin_fleet(1, "PoolMax=30;"); /* it refuses: once or twice is enough */
    pretend_set(0, PRETEND_REFUSES);
    for (int i = 0; i < MANY; i++) {
        place(&s[i], "strict k0");
    }
    settle();
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(s[i].state, FAILED);
        assert_int_equal(s[i].order.why.code, WHY_REFUSED);
    }
    assert_int_equal(count_of(logins[0], 0, POOL_STAT_FAILED), 1);
    end_fleet();
}

static void without_helpers_a_unit_fails_at_once(void **state)
{
    struct session *s = sessions;
    (void)state;

    begin_fleet(1, "PoolTrust=0;");
    place(&s[0], "hint");
    settle();
    give(&s[0], false);
    settle();
    sim_accept(false);
    place(&s[0], "hint"); /* cannot be validated, nor another opened */
    settle();
    assert_int_equal(s[0].state, FAILED);
    assert_int_equal(s[0].order.why.code, WHY_MEMORY);
    sim_accept(true);
    forget(&s[0]);
    place(&s[0], "hint");
    settle();
    assert_int_equal(where(&s[0]), 1);
    /* the link that nobody could close is still there: close it now */
    mutex_lock(&logins[0]->lock);
    for (struct link *l = logins[0]->pools[0].links[LINK_CLOSING], *next; l;
         l = next) {
        next = l->next;
        assert_true(pool_submit_locked(l, POOL_CLOSE));
    }
    mutex_unlock(&logins[0]->lock);
    settle();
    end_fleet();
}

/* Short sessions, one after another, each of which comes while the link of the
   one before is being reset, if it was used, or else lies on a shelf: all
   instances serve, and three links are enough. */
static void short_sessions_use_all_instances_and_few_links(void **state)
{
    struct session *s = sessions;
    (void)state;

    for (int used = 0; used < 2; used++) {
        unsigned got[3] = { 0 }, open = 0;

        begin_fleet(3, "LoadBalance=adaptive;");
        for (turn = 0; turn < 600; turn++) {
            if (!comes_at_once(&s[0], "hint")) {
                place(&s[0], "hint");
                settle();
            }
            assert_true(where(&s[0]) > 0);
            got[where(&s[0]) - 1]++;
            leave(&s[0], used);
            sim_set_now(sim_now() + 1000000);
        }
        settle();
        for (int i = 0; i < 3; i++) {
            assert_true(got[i] > 120);
            open += pretend_at[i].open;
            assert_int_equal(fleet->members[i].in_flight, 0);
        }
        assert_int_equal(open, 3);
        end_fleet();
    }
}

static void explain_takes_nothing(void **state)
{
    enum route_refusal refusals[2];
    struct place_order order = { .login = logins[0] };
    struct verdict v;
    (void)state;

    begin_fleet(2, "PoolMax=2;");
    order.login = logins[0];
    order.mode = ROUTE_STRICT;
    assert_int_equal(route_key_parse("k1", 2,
                                     (struct route_key **)&order.key, NULL),
                     ROUTE_KEY_OK);
    v = place_explain(&order, refusals);
    assert_int_equal(v.action, ROUTE_OPEN);
    assert_int_equal(v.instance, 1);
    assert_int_equal(refusals[0], ROUTE_REFUSED_NOT_OWNER);
    assert_int_equal(refusals[1], ROUTE_REFUSED_NONE);
    assert_int_equal(sim_jobs(), 0);
    assert_int_equal(logins[0]->total, 0);
    route_key_free((struct route_key *)(uintptr_t)order.key);
    end_fleet();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_used_again_and_clean),
        cmocka_unit_test(who_comes_first_is_served_first),
        cmocka_unit_test(waiting_ends_with_pool_wait),
        cmocka_unit_test(a_hand_off_to_one_who_gave_up_passes_on),
        cmocka_unit_test(an_instance_that_hangs_costs_half_a_second_once),
        cmocka_unit_test(who_waits_for_a_turn_is_no_more_patient),
        cmocka_unit_test(a_reset_that_hangs_costs_a_tenth_of_a_second),
        cmocka_unit_test(strict_gives_up_when_opening_takes_too_long),
        cmocka_unit_test(a_refused_login_is_told_to_all_who_wait_with_it),
        cmocka_unit_test(nobody_takes_over_what_has_failed),
        cmocka_unit_test(a_refused_login_asks_nowhere_else),
        cmocka_unit_test(a_refused_login_is_not_retried_unasked),
        cmocka_unit_test(a_refused_login_is_told_though_others_would_take_it),
        cmocka_unit_test(
            only_strict_waits_for_an_owner_that_nobody_tells_soon),
        cmocka_unit_test(a_refused_open_goes_elsewhere_or_says_why),
        cmocka_unit_test(who_waits_hears_that_an_instance_is_back),
        cmocka_unit_test(who_waits_tries_what_was_down_in_time),
        cmocka_unit_test(who_can_go_nowhere_else_waits_for_what_is_not_ready),
        cmocka_unit_test(a_fleet_that_starts_is_waited_for),
        cmocka_unit_test(a_retired_login_serves_who_waits),
        cmocka_unit_test(at_the_total_an_idle_link_makes_room),
        cmocka_unit_test(a_full_instance_is_not_asked_again_and_again),
        cmocka_unit_test(an_old_link_is_validated_and_a_dead_one_replaced),
        cmocka_unit_test(what_does_not_come_clean_is_closed),
        cmocka_unit_test(old_links_are_closed),
        cmocka_unit_test(what_becomes_of_sessions_is_counted),
        cmocka_unit_test(what_is_closed_is_counted_with_its_reason),
        cmocka_unit_test(what_was_not_used_is_left_for_the_next_one),
        cmocka_unit_test(what_is_on_shelves_is_found_from_everywhere),
        cmocka_unit_test(what_is_too_many_is_left_on_no_shelf),
        cmocka_unit_test(who_finds_no_idle_link_looks_on_shelves),
        cmocka_unit_test(links_on_shelves_do_not_escape_the_idle_time),
        cmocka_unit_test(owners_are_learnt_before_a_unit_goes_on),
        cmocka_unit_test(learning_has_its_turn),
        cmocka_unit_test(what_is_learnt_meanwhile_counts),
        cmocka_unit_test(what_is_handed_over_is_not_learnt_over),
        cmocka_unit_test(what_is_opened_is_for_who_came_first),
        cmocka_unit_test(no_order_is_left_for_nobody),
        cmocka_unit_test(what_nobody_can_serve_is_told_at_once),
        cmocka_unit_test(strict_waits_until_its_owner_is_learnt),
        cmocka_unit_test(who_waits_does_not_run_at_it),
        cmocka_unit_test(without_helpers_a_unit_fails_at_once),
        cmocka_unit_test(short_sessions_use_all_instances_and_few_links),
        cmocka_unit_test(explain_takes_nothing),
    };

    return cmocka_run_group_tests_name("place", tests, pretend_begin,
                                       pretend_end);
}
