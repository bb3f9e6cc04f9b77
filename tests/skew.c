/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "skew.h"

#include <stdatomic.h>

uint64_t __real_clock_ns(void);
uint64_t __wrap_clock_ns(void);
bool __real_cond_wait(struct cond *c, struct mutex *m, uint64_t until);
bool __wrap_cond_wait(struct cond *c, struct mutex *m, uint64_t until);

/* Any time but 0, which means none in places. */
static _Atomic uint64_t now = 3600000 * NS_PER_MS;

uint64_t skew_real_ns(void)
{
    return __real_clock_ns();
}

bool skew_real_wait(struct cond *c, struct mutex *m, uint64_t until)
{
    return __real_cond_wait(c, m, until);
}

uint64_t __wrap_clock_ns(void)
{
    return atomic_load(&now);
}

/* A short while at most, since setting the clock wakes nobody; then it looks as
   if it had been woken, lest a signal be lost between two such whiles. */
bool __wrap_cond_wait(struct cond *c, struct mutex *m, uint64_t until)
{
    if (__wrap_clock_ns() >= until) {
        return false;
    }
    __real_cond_wait(c, m, __real_clock_ns() + 2 * NS_PER_MS);
    return true;
}

void skew_pass(unsigned ms)
{
    atomic_fetch_add(&now, ms * NS_PER_MS);
}
