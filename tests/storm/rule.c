/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "rule.h"

#include "../odbc_tap.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

enum { KEPT = 4 };
static struct {
    pthread_mutex_t lock;
    unsigned count[RULES];
    atomic_uint tried[RULES];
    char text[RULES][KEPT][1600];
} breaches = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const char *const names[RULES] = {
    [RULE_STRICT] = "strict: on an owner by the map of the time",
    [RULE_WRITE] = "who may write is on a primary, no superseded one",
    [RULE_SERVED] = "hint, prefer and no key: served all the time",
    [RULE_REFUSED] = "strict: refused only while its owner is in trouble",
    [RULE_CLOSED] = "nothing new on what is drained or disabled",
    [RULE_WHERE] = "each session is where it says",
    [RULE_CUT] = "sessions die only with their instance",
    [RULE_ERROR] = "statements fail only by trouble",
    [RULE_UNKNOWN] = "a write that dies: told what is known of it",
    [RULE_TWICE] = "no statement is run twice",
    [RULE_READ] = "what was acknowledged is read",
    [RULE_DEADLINE] = "connecting ends in time",
    [RULE_HUNG] = "calls that hang inside are ended in time",
    [RULE_RETURN] = "disconnecting waits for nobody",
};

void rule_broken(enum rule rule, const char *format, ...)
{
    va_list arguments;
    unsigned n;

    pthread_mutex_lock(&breaches.lock);
    n = breaches.count[rule]++;
    if (n < KEPT) {
        va_start(arguments, format);
        vsnprintf(breaches.text[rule][n], sizeof breaches.text[rule][n], format,
                  arguments);
        va_end(arguments);
        printf("# breach: %s: %s\n", names[rule], breaches.text[rule][n]);
        fflush(stdout);
    }
    pthread_mutex_unlock(&breaches.lock);
}

void rule_tried(enum rule rule)
{
    atomic_fetch_add(&breaches.tried[rule], 1);
}

void rule_tried_if(enum rule rule, bool is)
{
    if (is) {
        rule_tried(rule);
    }
}

bool rule_tried_all(void *unused)
{
    bool all = true;

    (void)unused;
    for (int r = 0; r < RULES; r++) {
        all &= atomic_load(&breaches.tried[r]) > 0;
    }
    return all;
}

void rule_report(void)
{
    for (int r = 0; r < RULES; r++) {
        unsigned tried = atomic_load(&breaches.tried[r]);

        tap_ok(breaches.count[r] == 0 && tried > 0, names[r],
               tried ? "%u breaches, as: %s" : "%u breaches; never tried %s",
               breaches.count[r], breaches.text[r][0]);
        printf("# tried %u times\n", tried);
    }
}
