/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * LONG: the scenes share the jobs and the gates.
 *
 * keeper_crew: lanes, their allowance, overdue jobs, the life of threads.
 *
 * Jobs wait at gates that the test opens, so that what hangs, hangs for as
 * long as it is to.  The keeper's clock is the test's: it is linked with
 * skew.c, so that five seconds pass by setting a number.  The test itself waits
 * on conditions; only for the end of threads and the like there is none, and it
 * looks again and again.
 */
#include "autoconf.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "environment.h"
#include "keeper.h"
#include "lock.h"
#include "skew.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* ---- jobs ------------------------------------------------------------------- */

enum { PATIENCE_MS = 20000 };

/* Guards everything below it. */
static struct mutex lock = MUTEX_INITIALIZER(LOCK_DIAG);
static struct cond changed;
static unsigned started, ended; /* of all jobs since the test's begin */

struct gate {
    bool open;
    unsigned started; /* jobs that stand or stood at it */
};

struct task {
    struct job job;
    struct gate *gate; /* NULL: runs through */
    unsigned number;   /* how many had begun before it; ~0 = it has not */
    bool on_caller, signals, reads, ended;
};

static pthread_t caller;

static void run_task(struct job *job)
{
    struct task *task = (struct task *)job;
    sigset_t blocked;

    lock_assert_none();
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    mutex_lock(&lock);
    task->number = started++;
    task->on_caller = pthread_equal(pthread_self(), caller);
    task->reads = environment_is_allowed();
    task->signals = sigismember(&blocked, SIGTERM) != 1 ||
                    sigismember(&blocked, SIGALRM) != 1 ||
                    sigismember(&blocked, SIGPROF) != 1;
    if (task->gate) {
        task->gate->started++;
    }
    cond_broadcast(&changed);
    while (task->gate && !task->gate->open) {
        skew_real_wait(&changed, &lock, UINT64_MAX);
    }
    task->ended = true;
    ended++;
    cond_broadcast(&changed);
    mutex_unlock(&lock);
}

static void submit(struct lane *lane, struct task *task, struct gate *gate)
{
    *task = (struct task){ .job.run = run_task, .gate = gate,
                           .number = ~0U };
    assert_true(keeper_submit(lane, &task->job));
}

static void submit_many(struct lane *lane, struct task *tasks, unsigned n,
                        struct gate *gate)
{
    for (unsigned i = 0; i < n; i++) {
        submit(lane, &tasks[i], gate);
    }
}

/* Waits until *counter has reached n. */
static void await_count(const unsigned *counter, unsigned n, const char *what)
{
    uint64_t until = skew_real_ns() + PATIENCE_MS * NS_PER_MS;
    unsigned got;
    bool timely = true;

    mutex_lock(&lock);
    while (*counter < n && timely) {
        timely = skew_real_wait(&changed, &lock, until);
    }
    got = *counter;
    mutex_unlock(&lock);
    if (got < n) {
        fail_msg("%s: %u instead of %u", what, got, n);
    }
}

static unsigned count_now(const unsigned *counter)
{
    unsigned n;

    mutex_lock(&lock);
    n = *counter;
    mutex_unlock(&lock);
    return n;
}

static void open_gate(struct gate *gate)
{
    mutex_lock(&lock);
    gate->open = true;
    cond_broadcast(&changed);
    mutex_unlock(&lock);
}

/* A job in a lane of its own has run from begin to end. */
static void run_one(void)
{
    struct lane *lane = lane_new();
    unsigned before = count_now(&ended);
    struct task task;

    submit(lane, &task, NULL);
    await_count(&ended, before + 1, "a job in a lane of its own");
    lane_close(lane);
}

/* Threads say nothing when they end or have taken nothing. */
static void await_figures(bool (*right)(const struct keeper_figures *f),
                          const char *what)
{
    uint64_t until = skew_real_ns() + PATIENCE_MS * NS_PER_MS;
    struct keeper_figures f;

    for (keeper_figures(&f); !right(&f); keeper_figures(&f)) {
        if (skew_real_ns() > until) {
            fail_msg("%s: threads %u idle %u queued %u overdue %u", what,
                     f.threads, f.idle, f.queued, f.overdue);
        }
        sched_yield();
    }
}

static bool all_idle(const struct keeper_figures *f)
{
    return f->threads == f->idle && f->queued == 0;
}

/* Time passes until the last has ended: one that begins just now is idle only
   from now on. */
static bool no_threads(const struct keeper_figures *f)
{
    skew_pass(f->threads > 0 ? KEEPER_IDLE_MS : 0);
    return f->threads == 0;
}

static int begin(void **state)
{
    (void)state;
    await_figures(all_idle, "before the test");
    await_figures(no_threads, "before the test");
    started = ended = 0;
    return 0;
}

/* ---- the tests -------------------------------------------------------------- */

/* Rules §15. */
static void jobs_run_on_threads_with_manners(void **state)
{
    struct lane *lane = lane_new();
    struct task tasks[3];
    (void)state;

    submit_many(lane, tasks, COUNT(tasks), NULL);
    await_count(&ended, COUNT(tasks), "jobs");
    for (size_t i = 0; i < COUNT(tasks); i++) {
        assert_false(tasks[i].on_caller);
        assert_false(tasks[i].signals);
        assert_false(tasks[i].reads); /* ini files, the environment */
    }
    lane_close(lane);
    lane_close(NULL);
}

static void a_lane_runs_eight_at_once_in_order(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 }, second = { 0 };
    struct task first[8], queued[3];
    (void)state;

    submit_many(lane, first, 8, &gate);
    await_count(&gate.started, 8, "jobs at once");
    submit_many(lane, queued, 3, &second);
    run_one(); /* another lane's job comes first: these had no room */
    assert_int_equal(count_now(&second.started), 0);
    open_gate(&gate);
    await_count(&second.started, 3, "queued jobs");
    open_gate(&second);
    await_count(&ended, 8 + 3 + 1, "jobs");
    lane_close(lane);
}

/* One thread can do no two things at once, so the order is plain to see. */
static void a_lane_is_first_come_first_served(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 };
    struct task hanging[8], queued[40];
    (void)state;

    submit_many(lane, hanging, 7, &gate);
    await_count(&gate.started, 7, "jobs at once");
    submit_many(lane, queued, COUNT(queued), NULL);
    await_count(&ended, COUNT(queued), "queued jobs"); /* by the one place */
    for (unsigned i = 0; i < COUNT(queued); i++) {
        assert_int_equal(queued[i].number, 7 + i);
    }
    open_gate(&gate);
    await_count(&ended, COUNT(queued) + 7, "jobs");
    lane_close(lane);
}

static void a_lane_may_be_limited(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 }, second = { 0 };
    struct task first[3], queued[9];
    (void)state;

    lane_limit(lane, 1);
    submit_many(lane, first, 3, &gate);
    await_count(&gate.started, 1, "one job");
    submit_many(lane, queued, COUNT(queued), &second);
    run_one(); /* those of other lanes are not concerned */
    assert_int_equal(count_now(&gate.started), 1);
    lane_limit(lane, 3); /* and others begin at once */
    await_count(&gate.started, 3, "three jobs");
    run_one();
    assert_int_equal(count_now(&second.started), 0);
    lane_limit(lane, KEEPER_LANE_MAX);
    await_count(&second.started, KEEPER_LANE_MAX - 3, "eight jobs");
    open_gate(&gate);
    await_count(&second.started, KEEPER_LANE_MAX, "eight others");
    open_gate(&second);
    await_count(&ended, 3 + COUNT(queued) + 2, "jobs");
    lane_close(lane);
}

static void what_has_not_begun_can_be_taken_back(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 };
    struct task first, queued[3];
    struct keeper_figures f;
    (void)state;

    lane_limit(lane, 1);
    submit(lane, &first, &gate);
    await_count(&gate.started, 1, "one job");
    submit_many(lane, queued, COUNT(queued), NULL);
    assert_false(keeper_withdraw(&first.job));
    assert_true(keeper_withdraw(&queued[1].job));
    assert_false(keeper_withdraw(&queued[1].job));
    keeper_figures(&f);
    assert_int_equal(f.queued, 2);
    open_gate(&gate);
    await_count(&ended, 3, "the others");
    assert_false(queued[1].ended);
    submit(lane, &queued[1], NULL); /* and be given again */
    await_count(&ended, 4, "all");
    submit(lane, &first, &gate); /* (the gate is open) */
    await_count(&ended, 5, "once more");
    lane_close(lane);
}

static void a_lane_that_hangs_delays_no_other(void **state)
{
    struct lane *hangs = lane_new(), *works = lane_new();
    struct gate gate = { 0 };
    struct task stuck[40], fine[100];
    struct keeper_figures f;
    (void)state;

    submit_many(hangs, stuck, COUNT(stuck), &gate);
    await_count(&gate.started, 8, "hanging jobs");
    submit_many(works, fine, COUNT(fine), NULL);
    await_count(&ended, COUNT(fine), "jobs of the other lane");
    assert_int_equal(count_now(&gate.started), 8);
    keeper_figures(&f);
    assert_int_equal(f.queued, COUNT(stuck) - 8);
    assert_int_equal(f.overdue, 0);
    assert_true(f.threads <= 8 + 8 + 1); /* not one for each that waits */
    open_gate(&gate);
    await_count(&ended, COUNT(fine) + COUNT(stuck), "all jobs");
    lane_close(hangs);
    lane_close(works);
}

static void the_allowance_shrinks_as_threads_get_scarce(void **state)
{
    struct lane *lanes[30];
    struct gate gates[COUNT(lanes)] = { { 0 } };
    static struct task tasks[COUNT(lanes)][9];
    unsigned running = 0;
    (void)state;

    for (unsigned i = 0; i < COUNT(lanes) && running < 63; i++) {
        unsigned most = running < 32 ? 8 : running < 48 ? 2 : 1;
        lanes[i] = lane_new();
        submit_many(lanes[i], tasks[i], 9, &gates[i]);
        await_count(&gates[i].started, most, "jobs of this lane");
        running += most;
        run_one(); /* this lane stood before that one, and had no room */
        assert_int_equal(count_now(&gates[i].started), most);
    }
    assert_int_equal(running, 63);
    for (unsigned i = 0; i < 4 + 8 + 15; i++) {
        open_gate(&gates[i]);
        lane_close(lanes[i]);
    }
    await_count(&ended, 27 * 9 + 27, "all jobs");
}

static void what_is_overdue_makes_room(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 };
    struct task stuck[8], queued;
    struct keeper_figures f;
    (void)state;

    submit_many(lane, stuck, 8, &gate);
    await_count(&gate.started, 8, "hanging jobs");
    submit(lane, &queued, NULL);
    skew_pass(KEEPER_OVERDUE_MS - 1000);
    run_one();
    assert_int_equal(count_now(&ended), 1); /* but the queued one waits */
    skew_pass(1000);
    await_count(&ended, 2, "the queued job");
    keeper_figures(&f);
    assert_int_equal(f.overdue, 8);
    open_gate(&gate);
    await_count(&ended, 10, "all jobs");
    lane_close(lane);
}

static bool only_one_idle(const struct keeper_figures *f)
{
    return f->threads == 9 && f->idle == 1;
}

/* Threads that have been idle for long end, but not the last one while
   something is queued that only time makes possible. */
static void somebody_watches_the_queue(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 }, busy = { 0 };
    struct task stuck[8], queued, warm[16];
    struct lane *other = lane_new();
    (void)state;

    submit_many(lane, warm, 8, &busy); /* makes 16 threads, then idle */
    submit_many(other, warm + 8, 8, &busy);
    await_count(&busy.started, 16, "jobs");
    open_gate(&busy);
    await_count(&ended, 16, "jobs");
    await_figures(all_idle, "all jobs are done");
    skew_pass(3000);
    submit_many(lane, stuck, 8, &gate);
    await_count(&gate.started, 8, "hanging jobs");
    submit(lane, &queued, NULL);
    skew_pass(KEEPER_IDLE_MS - 2500);
    await_figures(only_one_idle, "idle threads end");
    assert_int_equal(count_now(&ended), 16);
    skew_pass(2500);
    await_count(&ended, 17, "the queued job");
    open_gate(&gate);
    await_count(&ended, 25, "all jobs");
    lane_close(lane);
    lane_close(other);
}

/* However long an instance hangs and however much is queued for it. */
static void one_lane_never_takes_all_threads(void **state)
{
    static struct task stuck[200];
    struct lane *hangs = lane_new(), *others[10];
    struct gate gate = { 0 }, gates[COUNT(others)] = { { 0 } };
    struct task fine[COUNT(others)];
    (void)state;

    submit_many(hangs, stuck, COUNT(stuck), &gate);
    for (unsigned i = 0; i < 60; i++) {
        unsigned seen = count_now(&gate.started);

        skew_pass(KEEPER_OVERDUE_MS);
        if (seen < 48) {
            await_count(&gate.started, seen + 1, "overdue jobs make room");
        }
        run_one();
    }
    assert_int_equal(count_now(&gate.started), 48);
    for (size_t i = 0; i < COUNT(others); i++) {
        others[i] = lane_new();
        submit(others[i], &fine[i], &gates[i]);
        await_count(&gates[i].started, 1, "a job of another lane");
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        open_gate(&gates[i]);
        lane_close(others[i]);
    }
    open_gate(&gate);
    await_count(&ended, COUNT(stuck) + 60 + COUNT(others), "all jobs");
    lane_close(hangs);
}

/* More instances hang than there are threads, each in a lane of its own. */
static void lanes_in_doubt_never_take_all_threads(void **state)
{
    static struct task stuck[100];
    static struct lane *doubtful[COUNT(stuck)];
    struct lane *works = lane_new();
    struct gate gate = { 0 }, own = { 0 };
    struct task fine[2];
    (void)state;

    lane_doubt(works, true);
    lane_doubt(works, false);
    for (unsigned i = 0; i < COUNT(stuck); i++) {
        doubtful[i] = lane_new();
        lane_doubt(doubtful[i], true);
        submit(doubtful[i], &stuck[i], &gate);
    }
    await_count(&gate.started, KEEPER_DOUBTFUL_MAX, "lanes in doubt");
    submit(works, &fine[0], &own);
    await_count(&own.started, 1, "a job of another lane");
    skew_pass(KEEPER_OVERDUE_MS);
    assert_int_equal(count_now(&gate.started), KEEPER_DOUBTFUL_MAX);

    /* one that answers is no more in doubt, and nor are its jobs */
    lane_doubt(doubtful[COUNT(stuck) - 1], false);
    await_count(&gate.started, KEEPER_DOUBTFUL_MAX + 1, "its job");
    lane_doubt(doubtful[0], false);
    await_count(&gate.started, KEEPER_DOUBTFUL_MAX + 2, "another's");
    lane_doubt(doubtful[0], true); /* it may be in the middle of one */
    lane_doubt(works, true);
    open_gate(&own);
    await_count(&ended, 1, "the other lane's job");
    lane_doubt(works, false);
    submit(works, &fine[1], &own);
    await_count(&ended, 2, "another one");
    open_gate(&gate);
    await_count(&ended, COUNT(stuck) + 2, "all jobs");
    for (unsigned i = 0; i < COUNT(stuck); i++) {
        lane_close(doubtful[i]);
    }
    lane_close(works);
}

/* As long as nobody answers, there is nobody to leave threads to. */
static void at_first_lanes_in_doubt_may_take_them(void **state)
{
    static struct task stuck[KEEPER_THREADS_MAX];
    static struct lane *doubtful[COUNT(stuck)];
    struct gate gate = { 0 };
    (void)state;

    for (unsigned i = 0; i < COUNT(stuck); i++) {
        doubtful[i] = lane_new();
        lane_doubt(doubtful[i], true);
        submit(doubtful[i], &stuck[i], &gate);
    }
    await_count(&gate.started, COUNT(stuck), "lanes in doubt");
    open_gate(&gate);
    await_count(&ended, COUNT(stuck), "all jobs");
    for (unsigned i = 0; i < COUNT(stuck); i++) {
        lane_close(doubtful[i]);
    }
}

static void threads_end_without_work(void **state)
{
    struct keeper_figures f;
    (void)state;

    run_one();
    skew_pass(KEEPER_IDLE_MS - 1000);
    run_one(); /* which makes one of them begin anew */
    keeper_figures(&f);
    assert_true(f.threads > 0);
    await_figures(no_threads, "idle threads end");
    run_one(); /* and there are others when needed */
}

/* ---- memory, many callers ---------------------------------------------------- */

static atomic_uint counted;

static void run_and_free(struct job *job)
{
    atomic_fetch_add(&counted, 1);
    free(job);
}

struct caller {
    struct lane **lanes;
    unsigned lane_count, jobs;
};

static void *call_often(void *arg)
{
    const struct caller *c = arg;

    for (unsigned i = 0; i < c->jobs; i++) {
        struct job *job = calloc(1, sizeof *job);
        job->run = run_and_free;
        if (!keeper_submit(c->lanes[i % c->lane_count], job)) {
            abort();
        }
    }
    return NULL;
}

static bool all_counted(const struct keeper_figures *f)
{
    (void)f;
    return counted == 4 * 5000;
}

/* Lanes are closed with work in them, which still is done; the sanitizers see
   to the memory. */
static void each_job_runs_once_and_may_free_itself(void **state)
{
    struct lane *lanes[7];
    struct caller c = { lanes, COUNT(lanes), 5000 };
    pthread_t threads[4];
    (void)state;

    for (size_t i = 0; i < COUNT(lanes); i++) {
        lanes[i] = lane_new();
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &c),
                         0);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < COUNT(lanes); i++) {
        lane_close(lanes[i]);
    }
    await_figures(all_counted, "jobs");
    await_figures(all_idle, "jobs");
    assert_int_equal(counted, 4 * 5000);
}

/* ---- fork, the end ------------------------------------------------------------ */

/* What the child sees: 0, or the number of what was wrong. */
static int in_child(void)
{
    struct keeper_figures f;
    struct lane *lane = lane_new();
    struct task task = { .job.run = run_task };

    keeper_figures(&f);
    if (f.threads || f.idle || f.queued || f.overdue) {
        return 1;
    }
    started = ended = 0;
    if (!keeper_submit(lane, &task.job)) {
        return 2;
    }
    lane_close(lane);
    return keeper_finish(clock_ns() + PATIENCE_MS * NS_PER_MS) &&
                   task.ended
               ? 0
               : 3;
}

static void a_child_has_a_crew_of_its_own(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 };
    struct task stuck[9];
    int status;
    pid_t child;
    (void)state;

    submit_many(lane, stuck, 9, &gate);
    await_count(&gate.started, 8, "hanging jobs");
    child = fork();
    if (child == 0) {
        mutex_init(&lock, LOCK_DIAG); /* a waking job may have held it */
        cond_init(&changed);
        _exit(in_child());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    open_gate(&gate);
    await_count(&ended, 9, "the parent's jobs");
    lane_close(lane);
}

/* The last test: nothing can be done afterwards. */
static void nothing_is_accepted_after_the_end(void **state)
{
    struct lane *lane = lane_new();
    struct gate gate = { 0 };
    struct task stuck[10], late;
    struct keeper_figures figures;
    (void)state;

    submit_many(lane, stuck, COUNT(stuck), &gate);
    await_count(&gate.started, 8, "hanging jobs");
    /* the time is up: some are running, some are queued */
    assert_false(keeper_finish(clock_ns()));
    late = (struct task){ .job.run = run_task, .number = ~0U };
    assert_false(keeper_submit(lane, &late.job));
    /* what was accepted is done all the same */
    open_gate(&gate);
    assert_true(keeper_finish(clock_ns() + PATIENCE_MS * NS_PER_MS));
    assert_int_equal(count_now(&ended), COUNT(stuck));
    assert_false(keeper_submit(lane, &late.job));
    await_figures(all_idle, "threads rest");
    skew_pass(KEEPER_IDLE_MS);
    keeper_figures(&figures);
    assert_true(figures.threads > 0); /* and do not end */
    assert_int_equal(late.number, ~0U);
    lane_close(lane);
}

/* However many of them there are, and though in none of them anything runs. */
static void lanes_that_give_way_leave_threads_to_others(void **state)
{
    struct lane *humble[60];
    struct gate gate = { 0 };
    struct task stuck[COUNT(humble)];
    (void)state;

    for (unsigned i = 0; i < COUNT(humble); i++) {
        humble[i] = lane_new();
        lane_give_way(humble[i]);
        submit(humble[i], &stuck[i], &gate);
    }
    await_count(&gate.started, 48, "hanging jobs");
    run_one(); /* those that wait stood before it */
    assert_int_equal(count_now(&gate.started), 48);
    open_gate(&gate);
    await_count(&ended, COUNT(humble) + 1, "all jobs");
    for (unsigned i = 0; i < COUNT(humble); i++) {
        lane_close(humble[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(jobs_run_on_threads_with_manners, begin),
        cmocka_unit_test_setup(a_lane_runs_eight_at_once_in_order, begin),
        cmocka_unit_test_setup(a_lane_is_first_come_first_served, begin),
        cmocka_unit_test_setup(a_lane_may_be_limited, begin),
        cmocka_unit_test_setup(what_has_not_begun_can_be_taken_back, begin),
        cmocka_unit_test_setup(a_lane_that_hangs_delays_no_other, begin),
        cmocka_unit_test_setup(the_allowance_shrinks_as_threads_get_scarce,
                               begin),
        cmocka_unit_test_setup(what_is_overdue_makes_room, begin),
        cmocka_unit_test_setup(somebody_watches_the_queue, begin),
        cmocka_unit_test_setup(one_lane_never_takes_all_threads, begin),
        cmocka_unit_test_setup(lanes_in_doubt_never_take_all_threads, begin),
        cmocka_unit_test_setup(lanes_that_give_way_leave_threads_to_others,
                               begin),
        cmocka_unit_test_setup(at_first_lanes_in_doubt_may_take_them, begin),
        cmocka_unit_test_setup(threads_end_without_work, begin),
        cmocka_unit_test_setup(each_job_runs_once_and_may_free_itself, begin),
        cmocka_unit_test_setup(a_child_has_a_crew_of_its_own, begin),
        cmocka_unit_test_setup(nothing_is_accepted_after_the_end, begin),
    };

    caller = pthread_self();
    cond_init(&changed);
    return cmocka_run_group_tests_name("keeper", tests, NULL, NULL);
}
