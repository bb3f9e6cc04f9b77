/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: one model: what is drawn, and what is looked at.
 *
 * place, pool: what must hold whatever happens (rules §2, §3).  Sessions that
 * come and go, helpers that work and hang, instances that refuse, hang, fill
 * up, change roles, are drained, disabled, limited, links that die or are left
 * on shelves, owners that are learnt, move and are forgotten (REFRESH AFFINITY, a
 * changed role), and time that passes are drawn from a seed; after each turn it
 * looks whether the rules hold.  UNIT_SEED=n runs that seed alone, UNIT_SEEDS=n so
 * many.
 *
 * Which test holds which sentence of rules §3, beside this one:
 *
 *   3.1  a freed link goes to the first waiter it suits; a newcomer takes none
 *        that a waiter could use    check_waiting(), check_done(); limits-test
 *        waiters are looked at after: returned, opened, closed, failed to open
 *        or its reset, up, down, role, drain, resume, learnt, moved, limits
 *                                   check_waiting(), all of them are drawn
 *        a hand-off to one that has timed out passes on
 *                                   unit-place: a_hand_off_to_one_who_gave_up_…
 *   3.2  at PoolMaxTotal the least recently used idle link elsewhere is closed
 *                                   unit-place: at_the_total_…; limits-test
 *   3.3  PoolWait bounds busy links and owners, ConnectTimeout or the login
 *        time-out opening (HYT01)   check_ended(); order-test: bounds;
 *                                   unit-place: waiting_ends_…, strict_…
 *        PoolWait=0                 unit-place, limits-test, order-test
 *        a refused login or database is told to all at once, not tried again
 *                                   unit-place: a_refused_login_…; fault-test
 *   3.4  ConnectTimeout handed down unit-link
 *
 * And of opening: no order is left for nobody, no unit has two, no more links
 * are open or ordered than the limits allow (check_orders(), check_counts());
 * each link has one user, or is idle (check_users());
 * nobody runs at an instance (unit-place: who_waits_does_not_run_at_it,
 * entry-order-test, order-test).
 */
#include "unit-place.h"

enum { SEEDS = 40, TURNS = 4000 };

static uint64_t drawn;
static uint32_t calm; /* one in so many times there is trouble */
static uint64_t forgotten; /* the latest turn in which owners were */
static unsigned at_once; /* units that were placed so */

static uint32_t draw(uint32_t below)
{
    uint64_t x;

    drawn += UINT64_C(0x9e3779b97f4a7c15);
    x = (drawn ^ (drawn >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ (x >> 31)) % below);
}

/* The links that were left on a shelf and have not been seen elsewhere since. */
static const struct link *left[SESSIONS * 4];

static bool is_elsewhere(const struct link *link)
{
    for (int i = 0; i < SESSIONS; i++) {
        if (sessions[i].order.link == link) {
            return true;
        }
    }
    return link->state != LINK_HELD || link->unit;
}

static bool is_shelved(const struct link *link)
{
    for (size_t i = 0; i < COUNT(left); i++) {
        if (left[i] == link) {
            return !is_elsewhere(link);
        }
    }
    return false;
}

static void note_left(const struct link *link)
{
    size_t i = 0;

    while (left[i] && left[i] != link) {
        i++;
    }
    left[i] = link;
}

/* To be called after each turn. */
static void look_for_left(void)
{
    for (size_t i = 0; i < COUNT(left); i++) {
        if (left[i] && is_elsewhere(left[i])) {
            left[i] = NULL;
        }
    }
}

static bool shelves_in_sight(const struct login *login,
                             struct route_stock *stock, uint32_t *idle)
{
    bool any = false;

    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct link *link;
        stock[i] = login->stock[i];
        DL_FOREACH(login->pools[i].links[LINK_HELD], link) {
            if (is_shelved(link)) {
                stock[i].idle++;
                stock[i].held--;
                (*idle)++;
                any = true;
            }
        }
    }
    return any;
}

static bool same_verdict(const struct verdict *a, const struct verdict *b)
{
    return a->action == b->action && a->reason == b->reason &&
           a->instance == b->instance && a->also == b->also &&
           a->until == b->until;
}

/* Each decision must be the one that would be made if what is on the shelves
   were in the pools' lists.  Found on a thread that may not fail. */
static const char *misjudged;
static struct verdict quick_exact; /* … for the latest, if anything was there */

/* Its seed is an address, which differs each time. */
struct verdict __real_route_choose(const struct route_request *request,
                                   const struct route_fleet *seen);
struct verdict __wrap_route_choose(const struct route_request *request,
                                   const struct route_fleet *seen);

struct verdict __wrap_route_choose(const struct route_request *request,
                                   const struct route_fleet *seen)
{
    struct route_request same = *request;
    struct route_stock stock[PRETEND_INSTANCES];
    struct route_fleet all = *seen;
    struct verdict verdict, exact;

    same.seed = seed + turn;
    verdict = __real_route_choose(&same, seen);
    all.stock = stock;
    for (int k = 0; k < LOGINS; k++) {
        if (seen->stock != logins[k]->stock &&
            seen->stock != logins[k]->plenty) {
            continue;
        }
        if (seen->stock == logins[k]->plenty) {
            all.total_idle = logins[k]->total_idle;
        }
        if (shelves_in_sight(logins[k], stock, &all.total_idle)) {
            exact = __real_route_choose(&same, &all);
            quick_exact = exact;
            if (seen->stock == logins[k]->stock &&
                !same_verdict(&exact, &verdict)) {
                misjudged = "decided without what is on shelves";
            }
        }
    }
    return verdict;
}

/* What a unit sees of the fleet, for messages. */
static void show_fleet(const struct unit *unit)
{
    const struct login *login = unit->order->login;
    uint64_t now = sim_now();

    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct route_stock *s = &login->stock[i];
        const struct route_member *m = &fleet->members[i];

        print_message("# n%u: health %u for %ld ms more%s%s%s%s%s, idle %u "
                      "held %u opening %u (all %u) reset %u room %u, full for "
                      "%ld ms more\n", i + 1, m->health,
                      ((long)m->retry_at - (long)now) / (long)NS_PER_MS,
                      m->slow ? " slow" : "", m->drained ? " drained" : "",
                      m->disabled ? " disabled" : "",
                      m->role == ROUTE_STANDBY ? " standby" : "",
                      unit->tried && unit->tried[i] ? " tried" : "", s->idle,
                      s->held, s->opening, m->opening, s->reset, s->room,
                      s->full_until ? ((long)s->full_until - (long)now) /
                                          (long)NS_PER_MS
                                    : -1);
    }
    print_message("# %u links of %u, waits since %ld ms, looks again in %ld\n",
                  login->total, fleet->config.pool_max_total,
                  ((long)now - (long)unit->begin) / (long)NS_PER_MS,
                  ((long)unit->sleeps_until - (long)now) / (long)NS_PER_MS);
}

static void broken(const char *what, const struct unit *unit, uint32_t i)
{
    const struct place_order *o = unit ? unit->order : NULL;

    if (unit) {
        show_fleet(unit);
    }
    fail_msg("UNIT_SEED=%lu turn %lu: %s (instance n%u; mode %d key %s state "
             "%d ordered %d verdict %d %s)", (unsigned long)seed,
             (unsigned long)turn, what, i + 1, o ? (int)o->mode : -1,
             o && o->key ? o->key->text : "none", o ? (int)o->owner.state : -1,
             unit ? unit->ordered : -1, o ? (int)o->verdict.action : -1,
             o ? route_reason_text(o->verdict.reason) : "");
}

static struct session *session_of(const struct unit *unit)
{
    return (struct session *)(void *)((char *)unit->order -
                                      offsetof(struct session, order));
}

static bool is_owner(const struct unit *unit, uint32_t i)
{
    const struct topology_answer *owner = &unit->order->owner;

    return owner->state == ROUTE_IS_OWNED && owner->owners[0] == i;
}

/* Is a link there in reset, for which it waits for 0.1 s? */
static bool is_soon(const struct unit *unit, uint32_t i)
{
    const struct route_stock *s = &unit->order->login->stock[i];
    uint64_t soon = ROUTE_SOON_MS * NS_PER_MS;

    return unit->wait_until > sim_now() && s->reset > 0 &&
           sim_now() - s->reset_since <= soon &&
           sim_now() - unit->begin <= soon;
}

/* On its balanced choice, which nobody but the decision knows. */
static bool waits_for_choice(const struct unit *unit)
{
    const struct verdict *v = &unit->order->verdict;

    return v->action == ROUTE_WAIT && v->reason == ROUTE_BALANCED_SOON &&
           is_soon(unit, (uint32_t)v->instance);
}

/* On its owner, or there. */
static bool waits_a_moment(const struct unit *unit)
{
    const struct topology_answer *owner = &unit->order->owner;

    return waits_for_choice(unit) || (owner->state == ROUTE_IS_OWNED &&
                                      is_soon(unit, owner->owners[0]));
}

/* Do units go to one instance as long as it can be opened? */
static bool sticks(void)
{
    enum config_balance balance = fleet->config.balance;

    return balance == CONFIG_FAILOVER || balance == CONFIG_OPERATIONAL ||
           balance == CONFIG_ADAPTIVE_FAILOVER;
}

/* Written anew from rules §2, not from route.c: may this unit take an idle
   link of instance i, as far as is known? */
static bool suits(const struct unit *unit, uint32_t i)
{
    const struct place_order *o = unit->order;
    const struct route_member *m = &fleet->members[i];
    bool owned = o->owner.state == ROUTE_IS_OWNED;
    bool strict = o->mode == ROUTE_STRICT;
    bool opens_first = owned && !strict &&
                       (o->mode == ROUTE_PREFER || unit->fresh);

    if (m->role == ROUTE_STANDBY || m->drained || m->disabled ||
        (unit->tried && unit->tried[i])) {
        return false;
    }
    if (m->health == ROUTE_DOWN &&
        (m->retry_at > sim_now() || unit->ordered >= 0)) {
        return false; /* time is no event for who has ordered elsewhere */
    }
    if ((m->slow || (m->health == ROUTE_SUSPECT && m->retry_at > sim_now())) &&
        !(strict && owned)) {
        return false;
    }
    if (strict && o->key) {
        return is_owner(unit, i);
    }
    if (o->owner.state == ROUTE_IS_UNKNOWN && unit->learning) {
        return false;
    }
    if (owned && is_owner(unit, i)) {
        return true;
    }
    if (sticks() && (unit->ordered >= 0 || waits_for_choice(unit))) {
        return false; /* it has a link to come on the one instance it wants */
    }
    return !owned || (!is_soon(unit, o->owner.owners[0]) &&
                      !(opens_first && unit->ordered >= 0));
}

/* May a link be opened for it on instance i? */
static bool may_open(const struct unit *unit, uint32_t i)
{
    const struct place_order *o = unit->order;
    const struct login *login = o->login;
    const struct route_stock *s = &login->stock[i];
    const struct route_member *m = &fleet->members[i];
    uint32_t most = fleet->config.pool_max_total;
    bool strict = o->mode == ROUTE_STRICT;
    bool bound = strict && o->owner.state == ROUTE_IS_OWNED;

    if (s->room == 0 || (unit->tried && unit->tried[i]) || m->drained ||
        m->disabled ||
        (s->full_until && (s->full_until > sim_now() || s->opening > 0)) ||
        m->role == ROUTE_STANDBY || (m->slow && !bound) ||
        (m->health == ROUTE_SUSPECT && m->retry_at > sim_now() && !bound) ||
        (m->starting && m->retry_at > sim_now()) ||
        (m->health == ROUTE_DOWN &&
         (m->retry_at > sim_now() || m->opening > 0))) {
        return false;
    }
    if (most && login->total >= most &&
        (s->opening > 0 || login->total_idle == s->idle)) {
        return false; /* nothing that could be closed for it */
    }
    if (strict && o->key && !is_owner(unit, i) &&
        (o->owner.state != ROUTE_IS_UNKNOWN ||
         fleet->config.create == CONFIG_BACKGROUND)) {
        return false;
    }
    return !(o->owner.state == ROUTE_IS_UNKNOWN && unit->learning) &&
           !waits_a_moment(unit);
}

static bool settled(const struct unit *unit)
{
    return !unit->done && !unit->asking && !unit->validating &&
           !sim_runnable(session_of(unit)->thread);
}

/* The first that waits for a link, and not only for answers; or NULL. */
static const struct unit *first_to_place(const struct login *login)
{
    const struct unit *unit = login->units;

    while (unit && unit->asking) {
        unit = unit->next;
    }
    return unit;
}

static bool is_waiting(const struct login *login, const struct unit *one)
{
    const struct unit *unit;

    DL_FOREACH(login->units, unit) {
        if (unit == one) {
            return true;
        }
    }
    return false;
}

static void check_orders(const struct login *login)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct link *link, *other;

        DL_FOREACH(login->pools[i].links[LINK_OPENING], link) {
            if (link->orphan) {
                broken("an order is left for nobody", NULL, i);
            }
            if (!link->unit) {
                continue;
            }
            if (!is_waiting(login, link->unit) ||
                (!link->unit->done && link->unit->ordered != (int)i)) {
                broken("an order of one who does not wait for it", NULL, i);
            }
            for (other = link->next; other; other = other->next) {
                if (other->unit == link->unit) {
                    broken("one unit has two orders", link->unit, i);
                }
            }
        }
    }
    if (login->orphans) {
        broken("orders are left for nobody", NULL, 0);
    }
}

/* Of links in each pool, one turn ago: a limit that was lowered is kept as soon
   as they come back. */
static uint32_t before[LOGINS][PRETEND_INSTANCES];

static void check_counts(const struct login *login)
{
    uint32_t most = login->fleet->config.pool_max_total;
    uint32_t total = 0, idle = 0;

    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct pool *pool = &login->pools[i];
        uint32_t used = 0, n, max = fleet->members[i].pool_max;
        for (int state = 0; state < LINK_STATES; state++) {
            struct link *link;
            DL_COUNT(pool->links[state], link, n);
            if (n != pool->count[state]) {
                broken("a count is not the length of its list", NULL, i);
            }
            used += state == LINK_CLOSING ? 0 : n;
        }
        if (used > max && used > before[login == logins[1]][i]) {
            broken("more than PoolMax", NULL, i);
        }
        before[login == logins[1]][i] = used;
        if (login->stock[i].room != (used < max ? max - used : 0) ||
            login->stock[i].idle != pool->count[LINK_IDLE]) {
            broken("the stock is wrong", NULL, i);
        }
        total += used;
        idle += pool->count[LINK_IDLE];
    }
    if (total != login->total || idle != login->total_idle) {
        broken("the totals are wrong", NULL, 0);
    }
    if (most && total > most) {
        broken("more than PoolMaxTotal", NULL, 0);
    }
}

static unsigned sessions_with(const struct link *link)
{
    unsigned n = 0;

    for (int i = 0; i < SESSIONS; i++) {
        n += link ? sessions[i].order.link == link
                  : sessions[i].order.link != NULL;
    }
    return n;
}

/* Returns in how many sessions' hands it is. */
static unsigned check_user(const struct link *link)
{
    unsigned have = sessions_with(link);
    unsigned users = have + sim_has(&link->job) + is_shelved(link);

    if (users != (link->state == LINK_IDLE ? 0 : 1)) {
        broken(users > 1 ? "a link has more than one user"
               : users   ? "a link is idle and has a user"
                         : "a link is in nobody's hands, and not idle", NULL,
               link->pool->instance);
    }
    if (have && link->state != LINK_HELD) {
        broken("a session has a link that is not held", NULL,
               link->pool->instance);
    }
    if (link->unit && link->state != LINK_OPENING &&
        link->state != LINK_HELD) {
        broken("it is for a unit that cannot have it", link->unit,
               link->pool->instance);
    }
    return have;
}

/* A session, a helper or a shelf has it, one of them; or it is idle, and nobody
   has.  To be called first: what sessions have is there. */
static void check_users(void)
{
    unsigned have = 0;

    for (int k = 0; k < LOGINS; k++) {
        for (uint32_t i = 0; i < fleet->count; i++) {
            for (int state = 0; state < LINK_STATES; state++) {
                const struct link *link;
                DL_FOREACH(logins[k]->pools[i].links[state], link) {
                    have += check_user(link);
                }
            }
        }
    }
    if (have != sessions_with(NULL)) {
        broken("a session has a link that is gone", NULL, 0);
    }
}

/* What the model has not yet seen to be done is looked at once. */
static void check_done(const struct login *login, const struct unit *unit)
{
    struct session *s = session_of(unit);
    const struct place_order *o = unit->order;
    const struct unit *earlier;
    uint32_t i;

    s->taken |= unit->validating;
    if (!unit->done || s->counted) {
        return;
    }
    s->counted = true;
    if (!o->link) {
        return;
    }
    i = o->link->pool->instance;
    if (pretend_of(o->link)->dirty) {
        broken("a link is handed on that is not clean", unit, i);
    }
    if (fleet->members[i].role == ROUTE_STANDBY ||
        fleet->members[i].drained || fleet->members[i].disabled) {
        broken("one serves that must not", unit, i);
    }
    if (o->mode == ROUTE_STRICT && o->key) {
        const struct pretend_key *key = &pretend_keys[o->key->text[1] - '0'];
        bool anywhere = key->state == ROUTE_IS_UNKNOWN &&
                        (fleet->config.create == CONFIG_BORROWER ||
                         forgotten == turn); /* once it had it */
        if (key->state == ROUTE_IS_OWNED ? key->owner != i : !anywhere) {
            broken("strict, and not on the owner", unit, i);
        }
    }
    if (s->taken || (o->verdict.action != ROUTE_TAKE &&
                     (fleet->config.create == CONFIG_BORROWER ||
                      !fleet_keeps(fleet, i, o->link->opened)))) {
        return; /* it was meant for that one, and for no other */
    }
    DL_FOREACH(login->units, earlier) {
        if (earlier == unit) {
            return;
        }
        /* an asking that ends in this turn may end after that link was given */
        if (settled(earlier) && !session_of(earlier)->learning &&
            suits(earlier, i)) {
            broken("one who came later was served first", earlier, i);
        }
    }
}

static void check_waiting(const struct login *login, const struct unit *unit)
{
    if (!settled(unit)) {
        return;
    }
    for (uint32_t i = 0; i < fleet->count; i++) {
        if (login->stock[i].idle > 0 && suits(unit, i)) {
            broken("it waits, and an idle link suits it", unit, i);
        }
        if (unit->ordered < 0 && may_open(unit, i)) {
            broken("it waits, and might have one opened", unit, i);
        }
    }
}

static void check_shelves(const struct login *login)
{
    struct route_stock stock[PRETEND_INSTANCES];
    uint32_t idle = 0;

    if (misjudged) {
        broken(misjudged, NULL, 0);
    }
    if (first_to_place(login) && shelves_in_sight(login, stock, &idle)) {
        broken("it waits, and a link is on a shelf", first_to_place(login), 0);
    }
}

static void check(void)
{
    watch_links(fleet, sim_now()); /* the keeper's clock stands still here */
    look_for_left();
    check_users();
    for (int k = 0; k < LOGINS; k++) {
        const struct unit *unit;
        check_counts(logins[k]);
        check_orders(logins[k]);
        check_shelves(logins[k]);
        DL_FOREACH(logins[k]->units, unit) {
            if (!unit->asking) {
                check_done(logins[k], unit);
            }
        }
        DL_FOREACH(logins[k]->units, unit) {
            check_waiting(logins[k], unit);
        }
        DL_FOREACH(logins[k]->units, unit) {
            if (!unit->asking) {
                session_of(unit)->learning = unit->learning;
            }
        }
    }
}

/* No unit takes longer than it may. */
static void check_ended(const struct session *s)
{
    uint64_t most = s->order.deadline != UINT64_MAX
                        ? s->order.deadline - s->begin
                        : (s->order.pool_wait_ms +
                           fleet->config.connect_timeout) * NS_PER_MS;

    if (s->order.waited > most) {
        broken("a unit took longer than its deadline", NULL, 0);
    }
    if (s->state == FAILED && s->order.why.code == WHY_NONE) {
        broken("a unit failed and does not say why", NULL, 0);
    }
}

/* Now, or in turns. */
static void begin_placing(struct session *s)
{
    struct login *login = s->order.login;

    if (!place_now(s)) {
        s->thread = sim_start(run_placing, s);
        return;
    }
    at_once++;
    if (first_to_place(login)) {
        broken("one who came later was served first", first_to_place(login),
               s->order.link->pool->instance);
    }
    if (!same_verdict(&s->order.verdict, &quick_exact)) {
        broken("another verdict than under the lock", NULL,
               s->order.link->pool->instance);
    }
    if (s->order.login != login || pretend_of(s->order.link)->dirty) {
        broken("a link off the shelf that is another's, or not clean", NULL,
               s->order.link->pool->instance);
    }
}

static void draw_session(void)
{
    static const char *const modes[] = { "hint", "prefer", "strict" };
    static const char *const waits[] = { "", "", "wait0", "wait50",
                                         "limit300" };
    struct session *s = &sessions[draw(SESSIONS)];
    char words[64], key[8] = "";
    const char *login;
    const struct link *link;

    stripe = draw(3);
    if (s->state == HOLDING) {
        check_ended(s);
        if (draw(8) == 0) {
            pretend_kill(pretend_of(s->order.link));
        }
        link = s->order.link;
        if (leave(s, draw(3) == 0)) {
            note_left(link);
        }
    } else if (s->state == FAILED) {
        check_ended(s);
        forget(s);
    } else if (s->state == FREE) {
        if (draw(4)) {
            snprintf(key, sizeof key, "k%u", draw(PRETEND_KEYS));
        }
        login = draw(3) ? "" : "login2";
        snprintf(words, sizeof words, "%s %s %s", login, key,
                 waits[draw(COUNT(waits))]);
        ask_for(s, words);
        s->order.mode = (enum route_mode)draw(COUNT(modes));
        begin_placing(s);
    }
}

/* Where most of the instances serve most of the time, other things happen than
   where hardly one does. */
static bool is_trouble(void)
{
    return draw(calm) == 0;
}

static void draw_instance(void)
{
    static const enum pretend_manner manners[] = {
        PRETEND_SERVES, PRETEND_SERVES, PRETEND_SERVES, PRETEND_SERVES,
        PRETEND_REFUSES, PRETEND_IS_FULL, PRETEND_STARTS, PRETEND_NO_LOGIN,
        PRETEND_HANGS, PRETEND_HANGS,
    };
    uint32_t i = draw(fleet->count);

    pretend_set(i, is_trouble() ? manners[draw(COUNT(manners))]
                                : PRETEND_SERVES);
    pretend_at[i].standby = is_trouble() && draw(5) == 0;
    pretend_at[i].reset_fails = is_trouble() && draw(5) == 0;
}

static void kill_some_link(void)
{
    const struct login *login = logins[draw(LOGINS)];
    const struct pool *pool = &login->pools[draw(fleet->count)];
    struct link *link = pool->links[draw(LINK_CLOSING)];

    if (link && link->hdbc && link->state != LINK_OPENING) {
        pretend_kill(pretend_of(link));
    }
}

/* What a fleet does when it has learnt something of owners. */
static void draw_owner(void)
{
    static const enum route_ownership states[] = {
        ROUTE_IS_OWNED, ROUTE_IS_OWNED, ROUTE_IS_OWNED, ROUTE_IS_UNKNOWN,
        ROUTE_IS_UNLEARNABLE, ROUTE_IS_MOVING, ROUTE_IS_UNRESOLVED,
        ROUTE_IS_UNOWNED,
    };
    struct pretend_key *key = &pretend_keys[draw(PRETEND_KEYS)];

    if (key->asked) {
        return;
    }
    key->state = states[draw(COUNT(states))];
    key->owner = draw(fleet->count);
    key->pending = draw(2);
    for (int i = 0; i < LOGINS; i++) {
        mutex_lock(&logins[i]->lock);
        place_serve_locked(logins[i]);
        mutex_unlock(&logins[i]->lock);
    }
}

/* Owners become unknown, and units find that out as they are decided. */
static void forget_owners(void)
{
    uint32_t only = draw(PRETEND_KEYS * 2);

    for (uint32_t k = 0; k < PRETEND_KEYS; k++) {
        if (only >= PRETEND_KEYS || only == k) {
            pretend_forget((int)k);
        }
    }
    forgotten = turn;
}

/* In a helper's call; at times so late that he is back before anybody is
   decided anew. */
static void pause_and_forget(void)
{
    sim_pause();
    if (draw(16) == 0) {
        forget_owners();
    }
}

static struct sim_thread *refresh;

static void run_refresh(void *arg)
{
    place_learn(arg, 500);
    refresh = NULL;
}

/* REFRESH AFFINITY; who asks may lack somebody whom no key leads to. */
static void draw_refresh(void)
{
    forget_owners();
    if (draw(2)) {
        pretend_lacks = (int)draw(fleet->count);
    }
    if (!refresh && draw(2)) {
        refresh = sim_start(run_refresh, logins[draw(LOGINS)]);
    }
}

/* What its owner does with an instance, and its map file. */
static void draw_orders(void)
{
    uint32_t i = draw(fleet->count), n = draw(4);

    if (n < 2) {
        fleet_set_drained(fleet, i, is_trouble() && draw(3) == 0);
    } else if (n == 2) {
        mutex_lock(&fleet->lock);
        fleet_set_disabled_locked(fleet, i, is_trouble() && draw(4) == 0);
        mutex_unlock(&fleet->lock);
    } else {
        atomic_store(&fleet->members[i].pool_max, 1 + draw(4));
        fleet_tell(fleet, i);
    }
}

/* The keeper looks after the pools, and fills them up to PoolMin. */
static void tend(void)
{
    login_tend(logins[draw(LOGINS)], true, sim_now());
}

/* Nobody is late: time stands until all whose time is up have gone on. */
static void draw_time(void)
{
    uint64_t to = sim_now() + draw(draw(20) ? 60 : 3000) * NS_PER_MS;

    if (sim_runnables() == 0) {
        sim_set_now(sim_next() < to ? sim_next() : to);
    }
}

static void draw_turn(void)
{
    uint32_t n = draw(100);

    if (n < 45 && sim_runnables()) {
        sim_run(draw(sim_runnables()));
    } else if (n < 65 && sim_jobs()) {
        sim_run_job(draw(sim_jobs()));
    } else if (n < 87) {
        draw_session();
    } else if (n < 90) {
        draw_instance();
    } else if (n < 91) {
        kill_some_link();
    } else if (n < 93) {
        draw_owner();
    } else if (n < 94) {
        draw_refresh();
    } else if (n < 95) {
        draw_orders();
    } else if (n < 96) {
        tend();
    } else {
        draw_time();
    }
}

static void begin_round(void)
{
    static const char *const totals[] = {
        "", "", "PoolMaxTotal=1;", "PoolMaxTotal=2;", "PoolMaxTotal=3;",
        "PoolMaxTotal=4;"
    };
    static const char *const methods[] = {
        "adaptive", "proportional", "saturation", "operational", "failover",
        "adaptive-failover", "fastest", "random"
    };
    /* one by one: compilers differ in the order of arguments */
    uint32_t max = 1 + draw(4), trust = draw(2) * 500, reuse = draw(2) * 5;
    const char *method = methods[draw(COUNT(methods))];
    const char *create = draw(3) ? "background" : "borrower";
    uint32_t least = draw(3) == 0;
    char keywords[300];

    misjudged = NULL;
    forgotten = UINT64_MAX;
    memset(left, 0, sizeof left);
    memset(before, 0, sizeof before);
    sim_set_now(UINT64_C(1000000) * NS_PER_MS);
    snprintf(keywords, sizeof keywords,
             "PoolMax=%u;PoolTrust=%u;PoolMaxReuse=%u;ConnectTimeout=1000;"
             "CheckTimeout=700;Capacity=2;LoadBalance=%s;PoolCreate=%s;PoolMin=%u;"
             "%s",
             max, trust, reuse, method, create, least,
             totals[draw(COUNT(totals))]);
    calm = 1 + draw(3) * 7;
    begin_fleet(1 + draw(4), keywords);
}

static void end_round(void)
{
    while (refresh) {
        pass(500);
    }
    stripe = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        fleet_set_drained(fleet, i, false);
    }
    end_fleet();
}

/* Many fleets, since most is opened and learnt while they are new; and some for
   longer, since much takes its time. */
static void run_seed(void)
{
    drawn = seed;
    turn = 0;
    while (turn < TURNS) {
        uint64_t end = turn + (UINT64_C(50) << draw(5));

        begin_round();
        for (; turn < end; turn++) {
            draw_turn();
            check();
        }
        end_round();
    }
}

static void the_rules_hold_whatever_happens(void **state)
{
    const char *one = getenv("UNIT_SEED");
    const char *most = getenv("UNIT_SEEDS");
    uint64_t last = most ? strtoul(most, NULL, 10) : SEEDS;
    (void)state;

    pretend_pause = pause_and_forget;
    pretend_regrouped = forget_owners;
    if (one) {
        seed = strtoul(one, NULL, 10);
        run_seed();
    }
    for (seed = 1; seed <= last && !one; seed++) {
        run_seed();
    }
    assert_true(one || at_once > 0);
    pretend_pause = NULL;
    pretend_regrouped = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_hold_whatever_happens),
    };

    return cmocka_run_group_tests_name("place_model", tests, pretend_begin,
                                       pretend_end);
}
