/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: the tables are the test, and one reader of their words serves all.
 *
 * route: the decision, as tables.  One row: what it shows; the fleet; the
 * request; the verdict.  Everything is written as short words:
 *
 *   fleet    name:word,word… per instance, in order.  up (default), untried,
 *            down (passed over for 1 s more), due (down, and its time to
 *            retry has come), suspect and better (likewise) · starting (not
 *            ready yet, by its own word) · drain slow
 *            primary standby readonly disabled · others + number of links that
 *            other logins open (0) · full + ms (takes no more, asked again then) · idle, held, open, reset, room + number (0; room 5) · age + ms
 *            of the oldest reset (10) · weight + number (1) · served + units ·
 *            group=name.  The word TOTAL: PoolMaxTotal is reached.
 *   request  hint prefer strict · owner=n1+n2 unknown learning moving
 *            unresolved unowned (default: no key) · read (default: write) ·
 *            nowait (PoolWait is over) · waited + ms (0) · ordered=n1 ·
 *            tried=n1+n2 (failed for this unit) ·
 *            background · fresh (nothing was idle when it came) · seed + number · the name
 *            of a balancing method (proportional: the rest is in unit-balance)
 *   verdict  action instance reason, "also" and an instance, "until" and ms
 */
#include "autoconf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lock.h"
#include "route.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

enum { MOST = 16 };
static const uint64_t NOW = 1000000 * NS_PER_MS;

static struct scene {
    struct route_member members[MOST];
    struct route_stock stock[MOST];
    char names[MOST][16];
    struct route_fleet fleet;
    struct route_request request;
    uint32_t owners[MOST];
    bool tried[MOST];
} scene;

static const struct row *shown; /* for messages */

struct row {
    const char *what, *fleet, *request, *verdict;
};

static void bad_word(const char *word)
{
    fail_msg("%s: the word <%s> is not known", shown->what, word);
}

/* The number behind a word, -1 if it is another word. */
static long number(const char *word, const char *name)
{
    size_t n = strlen(name);
    char *end;
    long value;

    if (strncmp(word, name, n) != 0 || !word[n]) {
        return -1;
    }
    value = strtol(word + n, &end, 10);
    return *end ? -1 : value;
}

static int find(const char *name)
{
    for (uint32_t i = 0; i < scene.fleet.count; i++) {
        if (strcmp(scene.names[i], name) == 0) {
            return (int)i;
        }
    }
    bad_word(name);
    return -1;
}

static bool read_state(struct route_member *m, const char *word)
{
    static const struct {
        const char *word;
        enum route_health health;
    } healths[] = {
        { "up", ROUTE_UP }, { "untried", ROUTE_UNTRIED },
        { "down", ROUTE_DOWN }, { "due", ROUTE_DOWN },
        { "suspect", ROUTE_SUSPECT }, { "better", ROUTE_SUSPECT },
    };

    for (size_t i = 0; i < COUNT(healths); i++) {
        if (strcmp(word, healths[i].word) == 0) {
            m->health = (uint8_t)healths[i].health;
            m->retry_at = strcmp(word, "down") == 0 ||
                                  strcmp(word, "suspect") == 0
                              ? NOW + 1000 * NS_PER_MS
                              : NOW;
            return true;
        }
    }
    if (strcmp(word, "slow") == 0) {
        m->slow = true;
    } else if (strcmp(word, "starting") == 0) {
        m->starting = true;
    } else if (strcmp(word, "drain") == 0) {
        m->drained = true;
    } else if (strcmp(word, "primary") == 0) {
        m->role = ROUTE_PRIMARY;
    } else if (strcmp(word, "standby") == 0) {
        m->role = ROUTE_STANDBY;
    } else if (strcmp(word, "readonly") == 0) {
        m->read_only = true;
    } else if (strcmp(word, "disabled") == 0) {
        m->disabled = true;
    } else if (strncmp(word, "group=", 6) == 0) {
        m->group = (uint32_t)find(word + 6);
    } else {
        return false;
    }
    return true;
}

static void read_instance_word(uint32_t i, const char *word)
{
    struct route_stock *s = &scene.stock[i];
    struct route_member *m = &scene.members[i];
    const struct {
        const char *name;
        uint32_t *field;
    } counts[] = {
        { "idle", &s->idle }, { "held", &s->held }, { "open", &s->opening },
        { "reset", &s->reset }, { "room", &s->room },
    };

    if (read_state(m, word)) {
        return;
    }
    for (size_t k = 0; k < COUNT(counts); k++) {
        if (number(word, counts[k].name) >= 0) {
            *counts[k].field = (uint32_t)number(word, counts[k].name);
            m->opening = s->opening;
            return;
        }
    }
    if (number(word, "others") >= 0) {
        m->opening = s->opening + (uint32_t)number(word, "others");
    } else if (number(word, "weight") >= 0) {
        m->weight = (uint32_t)number(word, "weight");
    } else if (number(word, "full") >= 0) {
        s->full_until = NOW + (uint64_t)number(word, "full") * NS_PER_MS;
    } else if (number(word, "age") >= 0) {
        s->reset_since = NOW - (uint64_t)number(word, "age") * NS_PER_MS;
    } else if (number(word, "served") >= 0) {
        m->served = (uint64_t)number(word, "served") * ROUTE_SERVED_UNIT;
    } else {
        bad_word(word);
    }
}

static void read_fleet(const char *text)
{
    char copy[512], *save_all, *save;

    memset(&scene, 0, sizeof scene);
    scene.fleet.members = scene.members;
    scene.fleet.stock = scene.stock;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *one = strtok_r(copy, " ", &save_all); one;
         one = strtok_r(NULL, " ", &save_all)) {
        uint32_t i = scene.fleet.count;
        if (strcmp(one, "TOTAL") == 0) {
            scene.fleet.total_full = true;
            continue;
        }
        scene.fleet.count++;
        scene.members[i].group = i;
        scene.members[i].weight = 1;
        scene.members[i].health = ROUTE_UP;
        scene.stock[i].room = 5;
        scene.stock[i].reset_since = NOW - 10 * NS_PER_MS;
        snprintf(scene.names[i], sizeof scene.names[i], "%s",
                 strtok_r(one, ":", &save));
        for (char *word = strtok_r(NULL, ",", &save); word;
             word = strtok_r(NULL, ",", &save)) {
            read_instance_word(i, word);
        }
        scene.fleet.total_idle += scene.stock[i].idle;
    }
}

static bool read_key(const char *word)
{
    static const struct {
        const char *word;
        enum route_ownership key;
    } keys[] = {
        { "unknown", ROUTE_IS_UNKNOWN }, { "learning", ROUTE_IS_UNKNOWN },
        { "moving", ROUTE_IS_MOVING }, { "unresolved", ROUTE_IS_UNRESOLVED },
        { "unowned", ROUTE_IS_UNOWNED },
        { "unlearnable", ROUTE_IS_UNLEARNABLE },
    };

    for (size_t i = 0; i < COUNT(keys); i++) {
        if (strcmp(word, keys[i].word) == 0) {
            scene.request.key = keys[i].key;
            scene.request.learning = strcmp(word, "learning") == 0;
            return true;
        }
    }
    return false;
}

static bool read_mode(const char *word)
{
    static const char *const modes[] = { "hint", "prefer", "strict" };

    for (size_t i = 0; i < COUNT(modes); i++) {
        if (strcmp(word, modes[i]) == 0) {
            scene.request.mode = (enum route_mode)i;
            return true;
        }
    }
    return false;
}

static bool read_method(const char *word)
{
    static const char *const methods[] = {
        "adaptive", "proportional", "saturation", "operational", "failover",
        "adaptive-failover", "fastest", "random",
    };

    for (size_t i = 0; i < COUNT(methods); i++) {
        if (strcmp(word, methods[i]) == 0) {
            scene.request.balance = (enum route_balance)i;
            return true;
        }
    }
    return false;
}

static void read_names(char *names, uint32_t *indexes, uint32_t *count)
{
    char *save;

    for (char *name = strtok_r(names, "+", &save); name;
         name = strtok_r(NULL, "+", &save)) {
        indexes[(*count)++] = (uint32_t)find(name);
    }
}

static void read_tried(char *names)
{
    uint32_t indexes[MOST], count = 0;

    read_names(names, indexes, &count);
    for (uint32_t i = 0; i < count; i++) {
        scene.tried[indexes[i]] = true;
    }
    scene.request.tried = scene.tried;
}

static void read_request_word(char *word)
{
    struct route_request *r = &scene.request;

    if (read_mode(word) || read_key(word) || read_method(word)) {
        return;
    }
    if (strncmp(word, "owner=", 6) == 0) {
        r->key = ROUTE_IS_OWNED;
        read_names(word + 6, scene.owners, &r->owner_count);
    } else if (strncmp(word, "tried=", 6) == 0) {
        read_tried(word + 6);
    } else if (strncmp(word, "ordered=", 8) == 0) {
        r->ordered = find(word + 8);
    } else if (strcmp(word, "read") == 0) {
        r->write = false;
    } else if (strcmp(word, "nowait") == 0) {
        r->queueing = false;
    } else if (strcmp(word, "background") == 0) {
        r->background = true;
    } else if (strcmp(word, "fresh") == 0) {
        r->fresh = true;
    } else if (number(word, "seed") >= 0) {
        r->seed = (uint64_t)number(word, "seed");
    } else if (number(word, "waited") >= 0) {
        r->begin = NOW - (uint64_t)number(word, "waited") * NS_PER_MS;
    } else {
        bad_word(word);
    }
}

static void read_request(const char *text)
{
    char copy[256], *save;

    scene.request = (struct route_request){
        .write = true, .queueing = true, .ordered = -1, .begin = NOW,
        .now = NOW, .owners = scene.owners, .balance = ROUTE_PROPORTIONAL,
        .what = "",
    };
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        read_request_word(word);
    }
}

static const char *name_of(int i)
{
    return i < 0 ? "-" : scene.names[i];
}

static const char *print_verdict(const struct verdict *v)
{
    static const char *const actions[] = { "take", "open", "wait", "fail" };
    static const char *const reasons[] = {
#define ROUTE_REASON(name, text) #name,
#include "route_reason.def"
    };
    static char text[160];
    int n = snprintf(text, sizeof text, "%s %s %s", actions[v->action],
                     name_of(v->instance), reasons[v->reason]);

    if (v->also >= 0) {
        n += snprintf(text + n, sizeof text - (size_t)n, " also %s",
                      name_of(v->also));
    }
    if (v->until) {
        snprintf(text + n, sizeof text - (size_t)n, " until %ld",
                 ((long)v->until - (long)NOW) / (long)NS_PER_MS);
    }
    return text;
}

static void expect_rows(const struct row *rows, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct verdict v;
        shown = &rows[i];
        read_fleet(rows[i].fleet);
        read_request(rows[i].request);
        v = route_choose(&scene.request, &scene.fleet);
        if (strcmp(print_verdict(&v), rows[i].verdict) != 0) {
            print_message("# %s\n#   fleet    %s\n#   request  %s\n"
                          "#   expected %s\n#   got      %s\n",
                          rows[i].what, rows[i].fleet, rows[i].request,
                          rows[i].verdict, print_verdict(&v));
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- hint, owner known --------------------------------------------------- */

static void hint_follows_its_order(void **state)
{
    static const struct row rows[] = {
        { "idle on the owner comes first",
          "n1:idle1 n2:idle1 n3:idle1", "hint owner=n2",
          "take n2 OWNER_IDLE" },
        { "however much it has served",
          "n1:idle1 n2:idle1,served99 n3:idle1", "hint owner=n2",
          "take n2 OWNER_IDLE" },
        { "else the balanced choice among the others, if it has an idle link; "
          "the owner gets one opened behind it",
          "n1:idle1,served9 n2: n3:idle1,served1", "hint owner=n2",
          "take n3 OTHER_BALANCED also n2" },
        { "else any idle link",
          "n1:idle1,served9 n2: n3:served1", "hint owner=n2",
          "take n1 OTHER_IDLE also n2" },
        { "nothing is opened behind it where nothing may be",
          "n1:idle1 n2:held5,room0", "hint owner=n2",
          "take n1 OTHER_BALANCED" },
        { "nor on an owner that is down",
          "n1:idle1 n2:down", "hint owner=n2", "take n1 OTHER_BALANCED" },
        { "nor past PoolMaxTotal",
          "TOTAL n1:idle1 n2:", "hint owner=n2", "take n1 OTHER_BALANCED" },
        { "with empty pools the first open is on the owner",
          "n1: n2: n3:", "hint owner=n2", "open n2 OWNER_OPEN" },
        { "owner down: open on a balanced choice",
          "n1:served9 n2:down n3:served1", "hint owner=n2",
          "open n3 OTHER_OPEN" },
        { "owner full: the same",
          "n1:served9 n2:held5,room0 n3:served1", "hint owner=n2",
          "open n3 OTHER_OPEN" },
        { "owner draining: the same",
          "n1: n2:drain,idle2", "hint owner=n2", "open n1 OTHER_OPEN" },
        { "an owner that does not answer is passed over",
          "n1: n2:slow,idle1", "hint owner=n2", "open n1 OTHER_OPEN" },
        { "all full: wait for any",
          "n1:held5,room0 n2:held5,room0", "hint owner=n2",
          "wait - ALL_BUSY" },
        { "who came to empty pools gets the owner, whatever is idle since",
          "n1:idle1 n2:", "hint owner=n2 fresh", "open n2 OWNER_OPEN" },
        { "unless it cannot be opened", "n1:idle1 n2:down",
          "hint owner=n2 fresh", "take n1 OTHER_BALANCED" },
        { "without an owner that is no matter", "n1:idle1 n2:", "hint fresh",
          "take n1 BALANCED_IDLE" },
        { "a member of the owner's group is the owner",
          "n1:idle1 n2:down n3:idle1,group=n2", "hint owner=n2",
          "take n3 OWNER_IDLE" },
        { "one owner of several of a prefix, balanced",
          "n1:idle1 n2:idle1,served5 n3:idle1,served2", "hint owner=n2+n3",
          "take n3 OWNER_IDLE" },
        { "an owner that is no instance of this fleet's list any more",
          "n1:idle1 n2:group=n1", "hint owner=n2",
          "take n1 OTHER_BALANCED" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

static void prefer_opens_before_it_leaves(void **state)
{
    static const struct row rows[] = {
        { "idle on the owner", "n1:idle1 n2:idle1", "prefer owner=n2",
          "take n2 OWNER_IDLE" },
        { "open on the owner, whoever else is idle",
          "n1:idle1 n2:", "prefer owner=n2", "open n2 OWNER_OPEN" },
        { "owner full: as hint", "n1:idle1 n2:held5,room0",
          "prefer owner=n2", "take n1 OTHER_BALANCED" },
        { "owner down: as hint", "n1: n2:down", "prefer owner=n2",
          "open n1 OTHER_OPEN" },
        { "what is ordered is waited for", "n1:idle1 n2:open1",
          "prefer owner=n2 ordered=n2", "wait n2 ORDERED" },
        { "all full", "n1:held1,room0 n2:held1,room0", "prefer owner=n2",
          "wait - ALL_BUSY" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

static void strict_stays_on_the_owner(void **state)
{
    static const struct row rows[] = {
        { "idle on the owner", "n1:idle1 n2:idle1", "strict owner=n2",
          "take n2 OWNER_IDLE" },
        { "open on the owner", "n1:idle9 n2:", "strict owner=n2",
          "open n2 OWNER_OPEN" },
        { "full: wait for it", "n1:idle9 n2:held5,room0", "strict owner=n2",
          "wait n2 OWNER_FULL" },
        { "takes no more connections: wait for those in use",
          "n1:idle9 n2:held1,full1000", "strict owner=n2",
          "wait n2 OWNER_FULL until 1000" },
        { "takes no more, and none is in use",
          "n1:idle9 n2:full1000", "strict owner=n2",
          "wait n2 OWNER_FULL until 1000" },
        { "it is asked again in time", "n1:idle9 n2:full0", "strict owner=n2",
          "open n2 OWNER_OPEN" },
        { "by one", "n1:idle9 n2:full0,open1", "strict owner=n2",
          "wait n2 OWNER_FULL" },
        { "down: it is tried, for nobody else may",
          "n1:idle9 n2:down", "strict owner=n2", "open n2 OWNER_TRIAL" },
        { "down with an idle link: that is tried",
          "n1:idle9 n2:down,idle1", "strict owner=n2",
          "take n2 OWNER_TRIAL" },
        { "one attempt at a time where it was down",
          "n1:idle9 n2:down,open1", "strict owner=n2", "wait n2 ORDERED" },
        { "tried in vain", "n1:idle9 n2:down", "strict owner=n2 tried=n2",
          "fail - OWNER_DOWN" },
        { "not ready yet: wait, and ask again in time",
          "n1:idle9 n2:down,starting", "strict owner=n2",
          "wait n2 STARTING until 1000" },
        { "nor is it asked before though it is not down yet",
          "n1:idle9 n2:suspect,starting", "strict owner=n2",
          "wait n2 STARTING until 1000" },
        { "when it is time", "n1:idle9 n2:due,starting", "strict owner=n2",
          "open n2 OWNER_OPEN" },
        { "by one", "n1:idle9 n2:due,starting,open1", "strict owner=n2",
          "wait n2 OWNER_FULL" },
        { "in use there: one of those, or a new one in time",
          "n1:idle9 n2:suspect,starting,held1", "strict owner=n2",
          "wait n2 OWNER_FULL until 1000" },
        { "at PoolMaxTotal nothing is closed for it before",
          "TOTAL n1:idle9 n2:down,starting", "strict owner=n2",
          "wait n2 STARTING until 1000" },
        { "nor while it is not down",
          "TOTAL n1:idle9 n2:suspect,starting", "strict owner=n2",
          "wait - ALL_BUSY until 1000" },
        { "does not answer: it is used all the same",
          "n1:idle9 n2:slow,idle1", "strict owner=n2",
          "take n2 OWNER_IDLE" },
        { "draining", "n1:idle9 n2:drain,idle3", "strict owner=n2",
          "fail - OWNER_DRAINING" },
        { "the last that could serve it is draining",
          "n1:idle9 n2:drain,idle3 n3:standby,group=n2", "strict owner=n2",
          "fail - OWNER_DRAINING" },
        { "a standby that is draining could not serve it anyway",
          "n1:idle9 n2:disabled n3:standby,drain,group=n2", "strict owner=n2",
          "fail - OWNER_DOWN" },
        { "suspect: it is used all the same",
          "n1:idle9 n2:suspect,idle1", "strict owner=n2",
          "take n2 OWNER_IDLE" },
        { "and opened on", "n1:idle9 n2:suspect", "strict owner=n2",
          "open n2 OWNER_OPEN" },
        { "disabled", "n1:idle9 n2:disabled,idle3", "strict owner=n2",
          "fail - OWNER_DOWN" },
        { "cannot write", "n1:idle9 n2:standby,idle3", "strict owner=n2",
          "fail - OWNER_DOWN" },
        { "and its primary may be the one that is not known yet: wait",
          "n1:untried,full500 n2:standby,idle3", "strict owner=n2",
          "wait - OWNER_LEADERLESS" },
        { "it may be suspect", "n1:suspect n2:standby", "strict owner=n2",
          "wait - OWNER_LEADERLESS" },
        { "but not down", "n1:down n2:standby", "strict owner=n2",
          "fail - OWNER_DOWN" },
        { "nor known", "n1:primary,suspect n2:standby", "strict owner=n2",
          "fail - OWNER_DOWN" },
        { "nor disabled", "n1:untried,disabled n2:standby", "strict owner=n2",
          "fail - OWNER_DOWN" },
        { "nor is it awaited where the owner's own primary is known",
          "n1:untried n2:down,primary n3:standby,group=n2",
          "strict owner=n2 tried=n2", "fail - OWNER_DOWN" },
        { "read-only", "n1:idle9 n2:readonly,idle3", "strict owner=n2",
          "fail - OWNER_DOWN" },
        { "read-only does for a read", "n1:idle9 n2:readonly,idle3",
          "strict owner=n2 read", "take n2 OWNER_IDLE" },
        { "weight 0 does: there is no other", "n1:idle9 n2:weight0,idle1",
          "strict owner=n2", "take n2 OWNER_IDLE" },
        { "a prefix's owners only",
          "n1:idle9 n2:served1 n3:served0", "strict owner=n2+n3",
          "open n3 OWNER_OPEN" },
        { "a promoted member of the group",
          "n1:idle9 n2:standby,idle1 n3:primary,idle1,group=n2",
          "strict owner=n2", "take n3 OWNER_IDLE" },
        { "what is ordered is waited for",
          "n1:idle9 n2:open1", "strict owner=n2 ordered=n2",
          "wait n2 ORDERED" },
        { "but an idle link is taken at once",
          "n1:idle9 n2:open1,idle1", "strict owner=n2 ordered=n2",
          "take n2 OWNER_IDLE" },
        { "what is ordered elsewhere goes on only if nothing else is left",
          "n1:open1 n2:held5,room0", "strict owner=n2 ordered=n1",
          "wait n1 ORDERED" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

/* ---- no key, or an owner that is not known -------------------------------- */

static void without_a_key_all_are_balanced(void **state)
{
    static const struct row rows[] = {
        { "balanced choice", "n1:idle1,served2 n2:idle1,served1", "hint",
          "take n2 BALANCED_IDLE" },
        { "no idle link there: any, and one is opened behind it",
          "n1:idle1,served2 n2:served1", "hint",
          "take n1 BALANCED_ANY also n2" },
        { "unless it is full", "n1:idle1,served2 n2:served1,held1,room0",
          "hint", "take n1 BALANCED_ANY" },
        { "nothing idle: open on the balanced choice",
          "n1:served2 n2:served1", "hint", "open n2 BALANCED_OPEN" },
        { "all full", "n1:held1,room0 n2:held1,room0", "hint",
          "wait - ALL_BUSY" },
        { "strict is the same", "n1:idle1,served2 n2:idle1,served1", "strict",
          "take n2 BALANCED_IDLE" },
        { "prefer is the same", "n1:idle1,served2 n2:idle1,served1", "prefer",
          "take n2 BALANCED_IDLE" },
        { "an untried instance counts as one that is up",
          "n1:idle1,served2 n2:untried,served1", "hint",
          "take n1 BALANCED_ANY also n2" },
        { "strict goes elsewhere as well, if one is suspect",
          "n1:suspect,idle1 n2:idle1,served9", "strict",
          "take n2 BALANCED_IDLE" },
        { "or does not answer", "n1:slow,idle1 n2:idle1,served9", "strict",
          "take n2 BALANCED_IDLE" },
        { "strict, all down: they are tried", "n1:down n2:down", "strict",
          "open n1 TRIAL" },
        { "what is ordered is waited for", "n1:open1 n2:", "hint ordered=n1",
          "wait n1 ORDERED" },
        { "unless something idle comes first",
          "n1:open1 n2:idle1", "hint ordered=n1",
          "take n2 BALANCED_ANY also n1" },
        { "nothing is opened behind it where a link will soon be idle",
          "n1:idle1,served2 n2:reset1,served1", "hint",
          "take n1 BALANCED_ANY" },
        { "nor where one is being opened",
          "n1:idle1,served2 n2:open1,served1", "hint",
          "take n1 BALANCED_ANY" },
        { "but what was ordered for the unit itself is left behind it",
          "n1:idle1,served2 n2:open1,served1", "hint ordered=n2",
          "take n1 BALANCED_ANY also n2" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

static void an_unknown_owner_is_strict_only_for_strict(void **state)
{
    static const struct row rows[] = {
        { "being learnt: wait", "n1:idle1 n2:idle1", "hint learning",
          "wait - LEARNING" },
        { "strict as well", "n1:idle1 n2:idle1", "strict learning",
          "wait - LEARNING" },
        { "not learnt: hint takes the balanced choice",
          "n1:idle1,served2 n2:idle1", "hint unknown",
          "take n2 UNKNOWN_IDLE" },
        { "or any", "n1:idle1,served2 n2:", "prefer unknown",
          "take n1 UNKNOWN_ANY also n2" },
        { "or opens", "n1:served2 n2:", "hint unknown",
          "open n2 UNKNOWN_OPEN" },
        { "strict opens anywhere and takes no idle link",
          "n1:idle1,served2 n2:idle1,served1", "strict unknown",
          "open n2 UNLEARNT" },
        { "strict with pools full of idle links: wait",
          "n1:idle1,room0 n2:idle1,room0", "strict unknown",
          "wait - ALL_BUSY" },
        { "strict at PoolMaxTotal closes one and opens",
          "TOTAL n1:idle1,served2 n2:idle1,served1", "strict unknown",
          "open n2 UNLEARNT" },
        { "strict takes no idle link of one that is down either",
          "n1:down,idle1", "strict unknown", "open n1 TRIAL" },
        { "strict does not open on one that does not answer", "n1:slow n2:",
          "strict unknown", "open n2 UNLEARNT" },
        { "strict waits for what was opened for it",
          "n1:open1,idle1 n2:idle1", "strict unknown ordered=n1",
          "wait n1 ORDERED" },
        { "PoolCreate=background: strict waits until it is learnt",
          "n1:idle1 n2:", "strict unknown background", "wait - NOT_LEARNT" },
        { "hint does not", "n1:idle1 n2:idle1,served1",
          "hint unknown background", "take n1 UNKNOWN_IDLE" },
        { "not to be learnt: strict fails at once", "n1:idle1 n2:",
          "strict unlearnable", "fail - UNLEARNABLE" },
        { "not to be learnt: hint takes the balanced choice",
          "n1:idle1,served2 n2:idle1", "hint unlearnable",
          "take n2 UNKNOWN_IDLE" },
        { "not to be learnt: prefer opens", "n1:served2 n2:",
          "prefer unlearnable", "open n2 UNKNOWN_OPEN" },
        { "moving: strict waits", "n1:idle1 n2:idle1", "strict moving",
          "wait - MOVING" },
        { "moving: hint goes anywhere", "n1:idle1 n2:idle1", "hint moving",
          "take n1 UNKNOWN_IDLE" },
        { "unresolved: strict waits", "n1:idle1 n2:", "strict unresolved",
          "wait - UNRESOLVED" },
        { "unresolved: prefer goes anywhere", "n1:idle1 n2:idle1",
          "prefer unresolved", "take n1 UNKNOWN_IDLE" },
        { "no partition takes it: strict fails at once",
          "n1:idle1 n2:idle1", "strict unowned", "fail - NO_OWNER" },
        { "no partition takes it: hint goes anywhere (an INSERT will fail "
          "there with the server's own words)",
          "n1:served2 n2:", "hint unowned", "open n2 UNKNOWN_OPEN" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

static void a_method_that_sticks_opens_on_its_choice(void **state)
{
    static const struct row rows[] = {
        { "idle on the heaviest", "n1:idle1 n2:weight2,idle1", "hint failover",
          "take n2 BALANCED_IDLE" },
        { "not idle there: open there, whatever is idle elsewhere",
          "n1:idle1 n2:weight2", "hint failover", "open n2 BALANCED_OPEN" },
        { "being opened for it: wait", "n1:idle1 n2:weight2,open1,room0",
          "hint failover ordered=n2", "wait n2 ORDERED" },
        { "full: what is idle elsewhere", "n1:idle1 n2:weight2,held5,room0",
          "hint failover", "take n1 BALANCED_ANY" },
        { "full: else open on the next", "n1: n2:weight2,held5,room0",
          "hint failover", "open n1 BALANCED_OPEN" },
        { "down: the next", "n1:idle1 n2:weight2,down", "hint failover",
          "take n1 BALANCED_IDLE" },
        { "back: at once", "n1:idle1 n2:weight2,due", "hint failover",
          "open n2 BALANCED_OPEN" },
        { "equals: the first listed", "n1: n2:idle1", "hint failover",
          "open n1 BALANCED_OPEN" },
        { "with a key, the owner comes first", "n1:idle1 n2:weight2,idle1",
          "hint failover owner=n1", "take n1 OWNER_IDLE" },
        { "and before one that must be opened", "n1: n2:weight2 n3:idle1",
          "hint failover owner=n1", "open n1 OWNER_OPEN" },
        { "operational is the same", "n1:weight0,idle1 n2:",
          "hint operational", "open n2 BALANCED_OPEN" },
        { "adaptive-failover too", "n1:weight0,idle1 n2:",
          "hint adaptive-failover", "open n2 BALANCED_OPEN" },
        { "adaptive does not", "n1:weight0,idle1 n2:", "hint adaptive",
          "take n1 BALANCED_ANY also n2" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

/* ---- who may serve ------------------------------------------------------- */

static void nobody_serves_what_he_cannot(void **state)
{
    static const struct row rows[] = {
        { "a write goes to no standby, idle or not",
          "n1:standby,idle1 n2:primary", "hint", "open n2 BALANCED_OPEN" },
        { "a read neither, since ReadFrom is primary",
          "n1:standby,idle1 n2:primary", "hint read",
          "open n2 BALANCED_OPEN" },
        { "read-only by the map file: no writes",
          "n1:readonly,idle1 n2:", "hint", "open n2 BALANCED_OPEN" },
        { "read-only by the map file: reads",
          "n1:readonly,idle1 n2:", "hint read",
          "take n1 BALANCED_IDLE" },
        { "disabled", "n1:disabled,idle1 n2:", "hint",
          "open n2 BALANCED_OPEN" },
        { "draining", "n1:drain,idle1 n2:", "hint", "open n2 BALANCED_OPEN" },
        { "failed for this unit", "n1:idle1 n2:", "hint tried=n1",
          "open n2 BALANCED_OPEN" },
        { "takes no more: not opened, but an idle link will do",
          "n1:idle1,full1000 n2:", "hint owner=n1", "take n1 OWNER_IDLE" },
        { "takes no more: others are opened",
          "n1:full1000 n2:", "hint owner=n1", "open n2 OTHER_OPEN" },
        { "nobody takes more: wait until one is asked again",
          "n1:full900 n2:full400", "hint", "wait - ALL_BUSY until 400" },
        { "or of one that is down as well, when both are over",
          "n1:full900 n2:down,full200", "hint",
          "wait - ALL_BUSY until 900" },
        { "whichever is later", "n1:full2000 n2:down,full1500", "hint",
          "wait - ALL_BUSY until 1500" },
        { "not ready yet: others are opened", "n1:down,starting n2:",
          "hint owner=n1", "open n2 OTHER_OPEN" },
        { "not ready yet, and nobody else: wait", "n1:down,starting n2:disabled",
          "hint owner=n1", "wait - STARTING until 1000" },
        { "who is down is tried before one waits for it",
          "n1:down,starting n2:down", "hint owner=n1", "open n2 TRIAL" },
        { "and if that was in vain", "n1:down,starting n2:down",
          "hint owner=n1 tried=n2", "wait - STARTING until 1000" },
        { "full, not down: what is down is tried only then",
          "n1:full900 n2:down", "hint", "wait - ALL_BUSY until 900" },
        { "weight 0 is a last resort: not while another may be opened",
          "n1:weight0,idle1 n2:", "hint",
          "take n1 BALANCED_ANY also n2" },
        { "weight 0: nor chosen for opening",
          "n1:weight0 n2:served99", "hint", "open n2 BALANCED_OPEN" },
        { "weight 0: but if there is nobody else",
          "n1:weight0 n2:drain", "hint", "open n1 BALANCED_OPEN" },
        { "nobody at all", "n1:disabled n3:standby", "hint",
          "fail - NOTHING" },
        { "but one that is draining", "n1:drain n2:disabled n3:standby",
          "hint", "fail - ALL_DRAINING" },
        { "all tried", "n1:up n2:down", "hint tried=n1+n2",
          "fail - NOTHING" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

static void what_was_down_is_tried_last(void **state)
{
    static const struct row rows[] = {
        { "down: passed over", "n1:down,idle1 n2:served9", "hint",
          "open n2 BALANCED_OPEN" },
        { "its time to retry has come: as if up",
          "n1:due n2:served9", "hint", "open n1 BALANCED_OPEN" },
        { "suspect: left alone", "n1:suspect,idle1 n2:served9", "hint",
          "open n2 BALANCED_OPEN" },
        { "even by its own keys", "n1:suspect,idle1 n2:served9",
          "hint owner=n1", "open n2 OTHER_OPEN" },
        { "and in prefer", "n1:suspect,idle1 n2:served9", "prefer owner=n1",
          "open n2 OTHER_OPEN" },
        { "but not for ever", "n1:better n2:served9", "hint",
          "open n1 BALANCED_OPEN" },
        { "all suspect: one is used", "n1:suspect,served2,idle1 n2:suspect",
          "hint", "take n1 TRIAL" },
        { "its links are all in use: until it is no longer left alone",
          "n1:suspect,held5,room0 n2:down,room0", "hint",
          "wait - ALL_BUSY until 1000" },
        { "or is cleaned", "n1:suspect,reset1,room0", "prefer owner=n1",
          "wait - ALL_BUSY until 1000" },
        { "those of a slow one are waited for, too", "n1:slow,held5,room0",
          "hint", "wait - ALL_BUSY" },
        { "but not those of one that is down", "n1:down,held5,room0", "hint",
          "fail - NOTHING" },
        { "nor after it has failed him", "n1:suspect,held5,room0",
          "hint tried=n1", "fail - NOTHING" },
        { "several attempts where it is only suspect",
          "n1:better,open1 n2:served9", "hint", "open n1 BALANCED_OPEN" },
        { "nor while another login tries it", "n1:due,others1 n2:served9",
          "hint", "open n2 BALANCED_OPEN" },
        { "strict waits for what that comes to", "n1:idle9 n2:down,others1",
          "strict owner=n2", "wait n2 ORDERED" },
        { "another login's opening is no attempt where it is up",
          "n1:others1 n2:served9", "hint", "open n1 BALANCED_OPEN" },
        { "one attempt at a time", "n1:due,open1 n2:served9", "hint",
          "open n2 BALANCED_OPEN" },
        { "all down: one is tried", "n1:down,served2 n2:down", "hint",
          "open n2 TRIAL" },
        { "an idle link is tried before a new one",
          "n1:down,idle1,served2 n2:down", "hint", "take n1 TRIAL" },
        { "not twice for the same unit",
          "n1:down n2:down", "hint tried=n1", "open n2 TRIAL" },
        { "all being tried: wait for that",
          "n1:down,open1 n2:down,open1", "hint", "wait n1 ORDERED" },
        { "a slow one is passed over", "n1:slow,idle1 n2:served9", "hint",
          "open n2 BALANCED_OPEN" },
        { "all slow: an idle link will have to do",
          "n1:slow,idle1 n2:slow", "hint", "take n1 TRIAL" },
        { "the own order on a slow one gives way to an idle link",
          "n1:slow,open1 n2:idle1", "hint owner=n1 ordered=n1",
          "take n2 OTHER_BALANCED" },
        { "and to a new link elsewhere",
          "n1:slow,open1 n2:", "hint owner=n1 ordered=n1",
          "open n2 OTHER_OPEN" },
        { "but not to nothing", "n1:slow,open1 n2:drain",
          "hint owner=n1 ordered=n1", "wait n1 ORDERED" },
        { "who waits for busy links looks again when one that is down may be "
          "tried", "n1:held5,room0 n2:down", "hint",
          "wait - ALL_BUSY until 1000" },
        { "unless it cannot serve him", "n1:held5,room0 n2:down,standby",
          "hint", "wait - ALL_BUSY" },
        { "or has failed him", "n1:held5,room0 n2:down", "hint tried=n2",
          "wait - ALL_BUSY" },
        { "or is not his owner", "n1:held5,room0 n2:down",
          "strict owner=n1", "wait n1 OWNER_FULL" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

static void a_link_in_reset_is_nearly_idle(void **state)
{
    static const struct row rows[] = {
        { "waits for it", "n1:idle1 n2:reset1", "hint owner=n2",
          "wait n2 OWNER_SOON until 90" },
        { "in every mode", "n1:idle1 n2:reset1", "prefer owner=n2",
          "wait n2 OWNER_SOON until 90" },
        { "strict", "n1:idle1 n2:reset1", "strict owner=n2",
          "wait n2 OWNER_SOON until 90" },
        { "an idle one is better", "n1:idle1 n2:reset1,idle1",
          "hint owner=n2", "take n2 OWNER_IDLE" },
        { "for 0.1 s: then elsewhere", "n1:idle1 n2:reset1,age100",
          "hint owner=n2", "take n1 OTHER_BALANCED also n2" },
        { "and strict opens", "n1:idle1 n2:reset1,age100", "strict owner=n2",
          "open n2 OWNER_OPEN" },
        { "nobody waits longer for resets that follow each other",
          "n1:idle1 n2:reset1", "hint owner=n2 waited60",
          "wait n2 OWNER_SOON until 40" },
        { "than 0.1 s", "n1:idle1 n2:reset1", "hint owner=n2 waited100",
          "take n1 OTHER_BALANCED also n2" },
        { "not without PoolWait", "n1:idle1 n2:reset1",
          "hint owner=n2 nowait", "take n1 OTHER_BALANCED also n2" },
        { "not for one that does not answer", "n1:idle1 n2:reset1,slow",
          "hint owner=n2", "take n1 OTHER_BALANCED" },
        { "no key: before one is opened on the balanced choice",
          "n1:reset1 n2:", "hint", "wait n1 BALANCED_SOON until 90" },
        { "but not on another instance", "n1:reset1,served1 n2:", "hint",
          "open n2 BALANCED_OPEN" },
        { "what is idle elsewhere is sooner", "n1:reset1 n2:idle1,served1",
          "hint", "take n2 BALANCED_ANY" },
        { "unless the method sticks to the choice",
          "n1:reset1 n2:idle1,served1", "hint failover",
          "wait n1 BALANCED_SOON until 90" },
        { "even if that is full", "n1:reset1,room0 n2:idle1,served1",
          "hint failover", "wait n1 BALANCED_SOON until 90" },
        { "for 0.1 s: then one is opened", "n1:reset1,age100 n2:", "hint",
          "open n1 BALANCED_OPEN" },
        { "whatever follows", "n1:reset1 n2:", "hint waited100",
          "open n1 BALANCED_OPEN" },
        { "not without PoolWait", "n1:reset1 n2:", "hint nowait",
          "open n1 BALANCED_OPEN" },
        { "owner unknown: the same", "n1:reset1 n2:", "hint unknown",
          "wait n1 BALANCED_SOON until 90" },
        { "owner down: the same on the balanced choice among the others",
          "n1:reset1 n2:down", "hint owner=n2",
          "wait n1 BALANCED_SOON until 90" },
        { "not for the others while the owner can be opened",
          "n1:reset1 n2:", "hint owner=n2", "open n2 OWNER_OPEN" },
        { "strict whose owner is not learnt opens a new one",
          "n1:reset1 n2:", "strict unknown", "open n1 UNLEARNT" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

static void at_the_total_idle_links_give_way(void **state)
{
    static const struct row rows[] = {
        { "strict: an idle link elsewhere is closed for one on the owner",
          "TOTAL n1:idle1 n2:", "strict owner=n2", "open n2 OWNER_OPEN" },
        { "one at a time",
          "TOTAL n1:idle1 n2:open1", "strict owner=n2",
          "wait n2 OWNER_FULL" },
        { "nothing idle: wait for the owner's",
          "TOTAL n1:held1 n2:held1", "strict owner=n2",
          "wait n2 OWNER_FULL" },
        { "nothing idle, and nothing on the owner: wait for any",
          "TOTAL n1:held1 n2: n3:held1", "strict owner=n2",
          "wait - ALL_BUSY" },
        { "the owner's PoolMax still counts",
          "TOTAL n1:idle1 n2:held1,room0", "strict owner=n2",
          "wait n2 OWNER_FULL" },
        { "the owner takes no more: nothing is closed in vain",
          "TOTAL n1:idle1 n2:held1,full1000", "strict owner=n2",
          "wait n2 OWNER_FULL until 1000" },
        { "hint takes what is idle",
          "TOTAL n1:idle1 n2:", "hint owner=n2", "take n1 OTHER_BALANCED" },
        { "hint: what is idle cannot serve, the owner is opened",
          "TOTAL n1:served9 n2: n3:standby,idle1", "hint owner=n2",
          "open n2 OWNER_OPEN" },
        { "hint: nor can the owner",
          "TOTAL n1:served9 n2:down n3:standby,idle1", "hint owner=n2",
          "open n1 OTHER_OPEN" },
        { "no key", "TOTAL n1:served9 n2: n3:standby,idle1", "hint",
          "open n2 BALANCED_OPEN" },
        { "nothing is idle: wait", "TOTAL n1:held1 n2:held1", "hint",
          "wait - ALL_BUSY" },
        { "strict, owner was down: it is tried all the same",
          "TOTAL n1:idle1 n2:down", "strict owner=n2",
          "open n2 OWNER_TRIAL" },
        { "but only if something can be closed for it",
          "TOTAL n1:held1 n2:down", "strict owner=n2",
          "fail - OWNER_DOWN" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
}

/* ---- why not ------------------------------------------------------------- */

static void refusals_follow_the_decision(void **state)
{
    static const struct row rows[] = {
        { "no key", "n1:idle1 n2: n3:room0,held1", "hint",
          "NONE NONE FULL" },
        { "strict", "n1:idle1 n2: n3:", "strict owner=n2",
          "NOT_OWNER NONE NOT_OWNER" },
        { "strict, moving: nobody may (rules §2.2b)", "n1:idle1 n2:",
          "strict moving", "NOT_OWNER NOT_OWNER" },
        { "strict, unresolved", "n1:idle1 n2:", "strict unresolved",
          "NOT_OWNER NOT_OWNER" },
        { "strict, unowned", "n1:idle1 n2:", "strict unowned",
          "NOT_OWNER NOT_OWNER" },
        { "strict, not to be learnt", "n1:idle1 n2:", "strict unlearnable",
          "UNLEARNABLE UNLEARNABLE" },
        { "hint, not to be learnt: anybody", "n1:idle1 n2:",
          "hint unlearnable", "NONE NONE" },
        { "strict, not learnt: anybody", "n1:idle1 n2:", "strict unknown",
          "NONE NONE" },
        { "strict, not learnt, background: nobody may", "n1:idle1 n2:",
          "strict unknown background", "NOT_LEARNT NOT_LEARNT" },
        { "hint, moving: anybody", "n1:idle1 n2:", "hint moving",
          "NONE NONE" },
        { "what no waiting changes", "n1:disabled n2:drain n3:standby "
          "n4:readonly", "hint", "DISABLED DRAINING STANDBY READ_ONLY" },
        { "reads", "n3:standby n4:readonly", "hint read", "NO_READS NONE" },
        { "what time changes",
          "n1:down n2:slow n3: n4:full1000 n5:down,starting",
          "hint tried=n3", "DOWN SLOW TRIED CROWDED STARTING" },
    };
    static const char *const names[] = {
#define ROUTE_REFUSAL(name, text) #name,
#include "route_refusal.def"
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char got[200] = "";
        shown = &rows[i];
        read_fleet(rows[i].fleet);
        read_request(rows[i].request);
        for (uint32_t k = 0; k < scene.fleet.count; k++) {
            size_t at = strlen(got);
            snprintf(got + at, sizeof got - at, "%s%s", k ? " " : "",
                     names[route_refuse(&scene.request, &scene.fleet, k)]);
        }
        if (strcmp(got, rows[i].verdict) != 0) {
            fail_msg("%s: %s instead of %s", rows[i].what, got,
                     rows[i].verdict);
        }
    }
}

static void every_reason_has_its_words(void **state)
{
    (void)state;
    for (int i = 0; i < ROUTE_REASONS; i++) {
        assert_true(strlen(route_reason_text((enum route_reason)i)) > 5);
    }
    for (int i = 0; i < ROUTE_REFUSALS; i++) {
        assert_true(strlen(route_refusal_text((enum route_refusal)i)) > 3);
    }
    assert_string_equal(route_reason_text(ROUTE_REASONS), "unknown");
    assert_string_equal(route_refusal_text(ROUTE_REFUSALS), "unknown");
}

/* ---- balancing ----------------------------------------------------------- */

/* Whatever the starting phase, proportional serves within one unit of what
   the weights say, at each moment. */
static void proportional_is_exact(void **state)
{
    static const uint32_t weights[] = { 5, 3, 1, 1 };
    uint64_t got[COUNT(weights)] = { 0 };
    (void)state;

    shown = &(struct row){ .what = "proportional" };
    read_fleet("n1:weight5,idle1 n2:weight3,idle1 n3:weight1,idle1 "
               "n4:weight1,idle1");
    read_request("hint");
    for (unsigned n = 1; n <= 10000; n++) {
        struct verdict v = route_choose(&scene.request, &scene.fleet);
        assert_int_equal(v.action, ROUTE_TAKE);
        got[v.instance]++;
        scene.members[v.instance].served += ROUTE_SERVED_UNIT;
        for (size_t i = 0; i < COUNT(weights); i++) {
            double share = (double)n * weights[i] / 10;
            assert_true(fabs((double)got[i] - share) <= 1.5);
        }
        if (n % 10 == 0) { /* the weights' sum: no remainder */
            for (size_t i = 0; i < COUNT(weights); i++) {
                assert_int_equal(got[i] * 10, n * weights[i]);
            }
        }
    }
}

static void proportional_prefers_the_heavier_of_equals(void **state)
{
    static const struct row rows[] = {
        { "equals: the heavier", "n1:weight1 n2:weight2", "hint",
          "open n2 BALANCED_OPEN" },
        { "then the first listed", "n1: n2:", "hint",
          "open n1 BALANCED_OPEN" },
        { "per weight", "n1:weight10,served19 n2:weight1,served2", "hint",
          "open n1 BALANCED_OPEN" },
        { "per weight, the other way",
          "n1:weight10,served21 n2:weight1,served2", "hint",
          "open n2 BALANCED_OPEN" },
    };
    (void)state;
    expect_rows(rows, COUNT(rows));
    /* no overflow at the ends */
    shown = &(struct row){ .what = "large numbers" };
    read_fleet("n1: n2:");
    read_request("hint");
    scene.members[0].weight = scene.members[1].weight = UINT32_MAX;
    scene.members[0].served = UINT64_MAX;
    scene.members[1].served = UINT64_MAX - 1;
    assert_int_equal(route_choose(&scene.request, &scene.fleet).instance, 1);
}

/* Draws with seeds as place.c makes them (nearly the same number again and
   again) and gives the chi-square of what came out. */
static double chi_square(uint64_t first_seed, uint64_t step, unsigned draws)
{
    double sum = 0, chi = 0;
    unsigned got[MOST] = { 0 };

    for (uint32_t i = 0; i < scene.fleet.count; i++) {
        sum += scene.members[i].weight;
    }
    for (unsigned n = 0; n < draws; n++) {
        struct verdict v;
        scene.request.seed = first_seed + n * step;
        v = route_choose(&scene.request, &scene.fleet);
        got[v.instance]++;
    }
    for (uint32_t i = 0; i < scene.fleet.count; i++) {
        double expected = draws * scene.members[i].weight / sum;
        if (!scene.members[i].weight) {
            assert_int_equal(got[i], 0);
            continue;
        }
        chi += (got[i] - expected) * (got[i] - expected) / expected;
    }
    return chi;
}

/* Five classes, so four degrees of freedom: P(chi² > 33.4) = 1e-6 for each of
   the four looks, 4e-6 together, if the numbers were drawn anew; the seeds are
   fixed, so that it either always fails or never. */
static void random_follows_the_weights(void **state)
{
    static const uint64_t steps[] = { 1, 8, 64, 1000003 };
    (void)state;

    shown = &(struct row){ .what = "random" };
    read_fleet("n1:weight1 n2:weight4 n3:weight0 n4:weight2 n5:weight8 "
               "n6:weight1");
    read_request("hint random");
    for (size_t i = 0; i < COUNT(steps); i++) {
        double chi = chi_square(0x185408a1 + i, steps[i], 200000);
        if (chi > 33.4) {
            fail_msg("seeds in steps of %lu: chi-square %g",
                     (unsigned long)steps[i], chi);
        }
    }
}

static void random_has_last_resorts_too(void **state)
{
    unsigned got[2] = { 0 };
    (void)state;

    shown = &(struct row){ .what = "random" };
    read_fleet("n1:weight0 n2:weight3,drain n3:weight0");
    read_request("hint random");
    for (unsigned n = 0; n < 10000; n++) {
        struct verdict v;
        scene.request.seed = n;
        v = route_choose(&scene.request, &scene.fleet);
        assert_int_not_equal(v.instance, 1);
        got[v.instance / 2]++;
    }
    /* six standard deviations: 2e-9 */
    assert_in_range(got[0], 4700, 5300);
    read_fleet("n1:drain");
    read_request("hint random");
    assert_int_equal(route_choose(&scene.request, &scene.fleet).action,
                     ROUTE_FAIL);
}

/* ---- what must hold always ------------------------------------------------ */

static uint64_t drawn;
static uint32_t draw(uint32_t below)
{
    drawn += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = (drawn ^ (drawn >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ (x >> 31)) % below);
}

static void draw_scene(void)
{
    struct route_request *r = &scene.request;

    memset(&scene, 0, sizeof scene);
    scene.fleet.members = scene.members;
    scene.fleet.stock = scene.stock;
    scene.fleet.count = 1 + draw(4);
    scene.fleet.total_full = draw(4) == 0;
    scene.fleet.heaviest = draw(4);
    scene.fleet.capacity = draw(4);
    for (uint32_t i = 0; i < scene.fleet.count; i++) {
        struct route_member *m = &scene.members[i];
        struct route_stock *s = &scene.stock[i];
        m->group = draw(i + 1);
        m->health = (uint8_t)draw(4);
        m->role = (uint8_t)draw(3);
        m->slow = draw(4) == 0;
        m->starting = m->health >= ROUTE_SUSPECT && draw(3) == 0;
        m->retry_at = NOW + draw(2) * NS_PER_MS;
        m->served = draw(5) * (uint64_t)ROUTE_SERVED_UNIT;
        m->weight = draw(3);
        m->pool_max = draw(3);
        m->seed = i;
        m->in_flight = draw(3);
        m->violating_until = NOW + draw(2);
        m->back_at = draw(2) * (NOW - draw(12000) * NS_PER_MS);
        for (int call = 0; call < ROUTE_CALLS; call++) {
            m->pace[call].ns = (1 + draw(5)) * NS_PER_MS;
            m->pace[call].until = NOW + draw(2);
        }
        m->disabled = draw(8) == 0;
        m->drained = draw(8) == 0;
        m->read_only = draw(4) == 0;
        *s = (struct route_stock){
            .idle = draw(3) / 2, .held = draw(2), .opening = draw(3) / 2,
            .reset = draw(3) / 2, .room = draw(2),
            .reset_since = NOW - draw(200) * NS_PER_MS,
            .full_until = draw(4) ? 0 : NOW + draw(2) * NS_PER_MS,
        };
        m->opening = s->opening + draw(3) / 2; /* other logins */
        scene.fleet.total_idle += s->idle;
        scene.tried[i] = draw(3) == 0;
        scene.owners[i] = draw(scene.fleet.count);
    }
    *r = (struct route_request){
        .mode = (enum route_mode)draw(3),
        .balance = (enum route_balance)draw(ROUTE_RANDOM + 1),
        .key = (enum route_ownership)draw(ROUTE_IS_UNOWNED + 1),
        .write = draw(2), .learning = draw(4) == 0, .queueing = draw(2),
        .owners = scene.owners, .owner_count = 1 + draw(2),
        .tried = draw(2) ? scene.tried : NULL, .fresh = draw(4) == 0,
        .ordered = (int)draw(scene.fleet.count + 1) - 1,
        .background = draw(2),
        .begin = NOW - draw(200) * NS_PER_MS, .now = NOW, .seed = drawn,
        .what = "k", .what_length = 1,
    };
    if (r->owner_count > scene.fleet.count) {
        r->owner_count = 1;
    }
}

static bool is_owner(uint32_t i)
{
    for (uint32_t k = 0; k < scene.request.owner_count; k++) {
        if (scene.owners[k] == scene.members[i].group) {
            return true;
        }
    }
    return false;
}

static void check_opening(uint32_t i, bool also)
{
    const struct route_stock *s = &scene.stock[i];

    assert_true(s->room > 0);
    assert_true(!scene.fleet.total_full ||
                (!also && scene.fleet.total_idle > s->idle));
    assert_true(scene.members[i].health != ROUTE_DOWN ||
                scene.members[i].opening == 0);
    assert_false(scene.request.tried && scene.tried[i]);
    assert_false(scene.members[i].starting && scene.members[i].retry_at > NOW);
    assert_false(s->full_until > NOW || (s->full_until && s->opening > 0));
}

static void check_verdict(const struct verdict *v)
{
    const struct route_request *r = &scene.request;
    bool lands = v->action == ROUTE_TAKE || v->action == ROUTE_OPEN;

    assert_true(v->instance < (int)scene.fleet.count);
    assert_true(v->reason > ROUTE_NONE && v->reason < ROUTE_REASONS);
    if (lands) {
        uint32_t i = (uint32_t)v->instance;
        const struct route_member *m = &scene.members[i];
        assert_true(v->instance >= 0);
        assert_false(m->disabled || m->drained);
        assert_false(m->role == ROUTE_STANDBY);
        assert_false(m->read_only && r->write);
        assert_false(r->tried && scene.tried[i]);
        if (r->mode == ROUTE_STRICT) { /* promise 2 */
            assert_true(r->key == ROUTE_IS_UNKEYED ||
                        (r->key == ROUTE_IS_UNKNOWN && !r->background) ||
                        (r->key == ROUTE_IS_OWNED && is_owner(i)));
            assert_false(r->key == ROUTE_IS_UNKNOWN &&
                         v->action == ROUTE_TAKE);
        }
    }
    if (v->action == ROUTE_TAKE) {
        assert_true(scene.stock[v->instance].idle > 0);
    }
    if (v->action == ROUTE_OPEN) {
        check_opening((uint32_t)v->instance, false);
    }
    if (v->also >= 0) {
        assert_int_equal(v->action, ROUTE_TAKE);
        check_opening((uint32_t)v->also, true);
    }
    assert_true(v->until == 0 || (v->action == ROUTE_WAIT && v->until > NOW));
}

/* An owner that has an idle link and is in order serves, in every mode; hint
   takes any idle link that may be taken, unless one of the owner is nearly
   idle, or the method sticks to one instance; and nobody fails while somebody
   could serve. */
static void check_service(const struct verdict *v)
{
    const struct route_request *r = &scene.request;
    bool sticks = r->balance == ROUTE_FAILOVER ||
                  r->balance == ROUTE_ADAPTIVE_FAILOVER ||
                  r->balance == ROUTE_OPERATIONAL;
    bool learning = r->learning && r->key == ROUTE_IS_UNKNOWN;

    for (uint32_t i = 0; i < scene.fleet.count; i++) {
        if (scene.stock[i].idle == 0 ||
            route_refuse(r, &scene.fleet, i) != ROUTE_REFUSED_NONE) {
            continue;
        }
        assert_int_not_equal(v->action, ROUTE_FAIL);
        if (r->key == ROUTE_IS_OWNED && is_owner(i)) {
            assert_int_equal(v->action, ROUTE_TAKE);
            assert_true(is_owner((uint32_t)v->instance));
        }
        if (r->mode == ROUTE_HINT && !learning && !r->fresh && !sticks) {
            assert_true(v->action == ROUTE_TAKE ||
                        v->reason == ROUTE_OWNER_SOON);
        }
    }
}

static void no_verdict_breaks_a_promise(void **state)
{
    static const struct row scenes = { .what = "random scenes" };
    unsigned actions[4] = { 0 };
    (void)state;

    shown = &scenes;
    drawn = 42;
    for (unsigned n = 0; n < 300000; n++) {
        struct verdict v, again;
        draw_scene();
        v = route_choose(&scene.request, &scene.fleet);
        again = route_choose(&scene.request, &scene.fleet);
        assert_memory_equal(&v, &again, sizeof v); /* pure */
        check_verdict(&v);
        check_service(&v);
        actions[v.action]++;
    }
    for (int i = 0; i < 4; i++) {
        assert_true(actions[i] > 3000); /* all of it was looked at */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hint_follows_its_order),
        cmocka_unit_test(prefer_opens_before_it_leaves),
        cmocka_unit_test(strict_stays_on_the_owner),
        cmocka_unit_test(without_a_key_all_are_balanced),
        cmocka_unit_test(an_unknown_owner_is_strict_only_for_strict),
        cmocka_unit_test(a_method_that_sticks_opens_on_its_choice),
        cmocka_unit_test(nobody_serves_what_he_cannot),
        cmocka_unit_test(what_was_down_is_tried_last),
        cmocka_unit_test(a_link_in_reset_is_nearly_idle),
        cmocka_unit_test(at_the_total_idle_links_give_way),
        cmocka_unit_test(refusals_follow_the_decision),
        cmocka_unit_test(every_reason_has_its_words),
        cmocka_unit_test(proportional_is_exact),
        cmocka_unit_test(proportional_prefers_the_heavier_of_equals),
        cmocka_unit_test(random_follows_the_weights),
        cmocka_unit_test(random_has_last_resorts_too),
        cmocka_unit_test(no_verdict_breaks_a_promise),
    };

    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
