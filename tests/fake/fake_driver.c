/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The fake driver's exports, made from surface.def: each call is noted with
 * its arguments in order, then does what do_<name> says, if anything.  With
 * FAKE_NARROW there is no wide name, and no SQLSetPos.
 */
#include "autoconf.h"

#include "fake_inside.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fake_call calls[FAKE_CALLS_MAX];
    unsigned count;
    bool answer_set;
    SQLRETURN answer;
    unsigned releases, hanging;
    unsigned connecting, most_connecting;
} fakes = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

/* ---- noting ------------------------------------------------------------- */

static void log_name(const char *name)
{
    const char *path = getenv("FAKE_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (file) {
        fprintf(file, "%s\n", name);
        fclose(file);
    }
}

static void note(const char *name, unsigned count, const intptr_t *args)
{
    struct fake_call *call;

    log_name(name);
    pthread_mutex_lock(&fakes.lock);
    call = &fakes.calls[fakes.count++ % FAKE_CALLS_MAX];
    call->name = name;
    call->count = count;
    memcpy(call->args, args, count * sizeof *args);
    pthread_mutex_unlock(&fakes.lock);
}

static SQLRETURN take_answer(void)
{
    SQLRETURN rc = SQL_SUCCESS;

    pthread_mutex_lock(&fakes.lock);
    if (fakes.answer_set) {
        fakes.answer_set = false;
        rc = fakes.answer;
    }
    pthread_mutex_unlock(&fakes.lock);
    return rc;
}

/* ---- the functions -------------------------------------------------------- */

/* Each argument as a number: pointers and integers alike. */
#define ARG(x) (intptr_t)(x)
#define ARGS_1(a) ARG(a)
#define ARGS_2(a, ...) ARG(a), ARGS_1(__VA_ARGS__)
#define ARGS_3(a, ...) ARG(a), ARGS_2(__VA_ARGS__)
#define ARGS_4(a, ...) ARG(a), ARGS_3(__VA_ARGS__)
#define ARGS_5(a, ...) ARG(a), ARGS_4(__VA_ARGS__)
#define ARGS_6(a, ...) ARG(a), ARGS_5(__VA_ARGS__)
#define ARGS_7(a, ...) ARG(a), ARGS_6(__VA_ARGS__)
#define ARGS_8(a, ...) ARG(a), ARGS_7(__VA_ARGS__)
#define ARGS_9(a, ...) ARG(a), ARGS_8(__VA_ARGS__)
#define ARGS_10(a, ...) ARG(a), ARGS_9(__VA_ARGS__)
#define ARGS_11(a, ...) ARG(a), ARGS_10(__VA_ARGS__)
#define ARGS_12(a, ...) ARG(a), ARGS_11(__VA_ARGS__)
#define ARGS_13(a, ...) ARG(a), ARGS_12(__VA_ARGS__)
#define ARGS_14(a, ...) ARG(a), ARGS_13(__VA_ARGS__)
#define ARGS_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, \
                  _14, macro, ...) macro
#define ARGS(...) \
    ARGS_PICK(__VA_ARGS__, ARGS_14, ARGS_13, ARGS_12, ARGS_11, ARGS_10, \
              ARGS_9, ARGS_8, ARGS_7, ARGS_6, ARGS_5, ARGS_4, ARGS_3, \
              ARGS_2, ARGS_1, )(__VA_ARGS__)

#define FAKE(export, params, args, behaves, act) \
    EXPORT SQLRETURN export params \
    { \
        const intptr_t list[] = { ARGS args }; \
 \
        note(#export, sizeof list / sizeof list[0], list); \
        return behaves ? act : take_answer(); \
    }

/* The narrow fake lacks a function, too. */
#ifdef FAKE_NARROW
SQLRETURN fake_left_out(SQLHSTMT handle, SQLSETPOSIROW row,
                        SQLUSMALLINT operation, SQLUSMALLINT lock);
#define SQLSetPos fake_left_out
#define do_fake_left_out do_SQLSetPos
#endif

#define CHARS SQLCHAR
#define PLAIN(name, number, kind, route, params, args) \
    FAKE(name, params, args, do_##name != NULL, do_##name args)
#define TEXT(name, number, kind, route, params, args) \
    FAKE(name, params, args, do_##name != NULL, \
         do_##name(TEXT_NARROW, FAKE_SPLICE args))
#include "surface.def"

#ifndef FAKE_NARROW
#define CHARS SQLWCHAR
#define PLAIN(name, number, kind, route, params, args)
#define TEXT(name, number, kind, route, params, args) \
    FAKE(name##W, params, args, do_##name != NULL, \
         do_##name(TEXT_WIDE, FAKE_SPLICE args))
#include "surface.def"
#endif

/* ---- hanging -------------------------------------------------------------- */

void fake_sleep(unsigned ms)
{
    struct timespec time = { ms / 1000, (long)(ms % 1000) * 1000000 };

    nanosleep(&time, NULL);
}

void fake_wake(void)
{
    pthread_mutex_lock(&fakes.lock);
    pthread_cond_broadcast(&fakes.changed);
    pthread_mutex_unlock(&fakes.lock);
}

/* A control file has no event to wait for, so it is looked at again every
   few milliseconds. */
void fake_hang(const char *control, const bool *until)
{
    char value[8];
    unsigned releases;

    pthread_mutex_lock(&fakes.lock);
    releases = fakes.releases;
    fakes.hanging++;
    pthread_cond_broadcast(&fakes.changed);
    while (fakes.releases == releases && !(until && *until)) {
        struct timespec time;

        if (!control) {
            pthread_cond_wait(&fakes.changed, &fakes.lock);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &time);
        time.tv_nsec += 5000000;
        if (time.tv_nsec >= 1000000000) {
            time.tv_sec++;
            time.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&fakes.changed, &fakes.lock, &time);
        if (!fake_control(control, "FakeHang", value, sizeof value)) {
            break;
        }
    }
    fakes.hanging--;
    pthread_mutex_unlock(&fakes.lock);
}

void fake_connecting(bool begins)
{
    pthread_mutex_lock(&fakes.lock);
    fakes.connecting += begins ? 1 : -1U;
    if (fakes.connecting > fakes.most_connecting) {
        fakes.most_connecting = fakes.connecting;
    }
    pthread_mutex_unlock(&fakes.lock);
}

/* ---- for tests ------------------------------------------------------------ */

static unsigned api_most_connecting(int anew)
{
    unsigned most;

    pthread_mutex_lock(&fakes.lock);
    most = fakes.most_connecting;
    if (anew) {
        fakes.most_connecting = fakes.connecting;
    }
    pthread_mutex_unlock(&fakes.lock);
    return most;
}

static void api_forget(void)
{
    pthread_mutex_lock(&fakes.lock);
    fakes.count = 0;
    fakes.answer_set = false;
    pthread_mutex_unlock(&fakes.lock);
}

static unsigned api_calls(void)
{
    unsigned count;

    pthread_mutex_lock(&fakes.lock);
    count = fakes.count;
    pthread_mutex_unlock(&fakes.lock);
    return count;
}

static int api_call(unsigned i, struct fake_call *out)
{
    int found;

    pthread_mutex_lock(&fakes.lock);
    found = i < fakes.count && fakes.count - i <= FAKE_CALLS_MAX;
    if (found) {
        *out = fakes.calls[i % FAKE_CALLS_MAX];
    }
    pthread_mutex_unlock(&fakes.lock);
    return found;
}

static void api_answer(SQLRETURN rc)
{
    pthread_mutex_lock(&fakes.lock);
    fakes.answer_set = true;
    fakes.answer = rc;
    pthread_mutex_unlock(&fakes.lock);
}

static void api_release(void)
{
    pthread_mutex_lock(&fakes.lock);
    fakes.releases++;
    pthread_cond_broadcast(&fakes.changed);
    pthread_mutex_unlock(&fakes.lock);
}

static int api_await_hanging(unsigned n)
{
    struct timespec until;
    int hanging;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    pthread_mutex_lock(&fakes.lock);
    while (fakes.hanging < n &&
           pthread_cond_timedwait(&fakes.changed, &fakes.lock, &until) == 0) {
    }
    hanging = fakes.hanging >= n;
    pthread_mutex_unlock(&fakes.lock);
    return hanging;
}

unsigned fake_live(SQLSMALLINT type);
unsigned fake_mistakes(void);
SQLHANDLE fake_latest(SQLSMALLINT type);

EXPORT const struct fake_api fake_api = {
    .forget = api_forget,
    .calls = api_calls,
    .call = api_call,
    .answer = api_answer,
    .release = api_release,
    .await_hanging = api_await_hanging,
    .most_connecting = api_most_connecting,
    .live = fake_live,
    .mistakes = fake_mistakes,
    .latest = fake_latest,
};
