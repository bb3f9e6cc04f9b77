/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "skew.h"

#include <stdatomic.h>

uint64_t __real_clock_ns(void);
uint64_t __wrap_clock_ns(void);
bool __real_cond_wait(struct cond *c, struct mutex *m, uint64_t until);
bool __wrap_cond_wait(struct cond *c, struct mutex *m, uint64_t until);

static _Atomic uint64_t skew;

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
    return __real_clock_ns() + skew;
}

/* In slices, since setting the clock wakes nobody. */
bool __wrap_cond_wait(struct cond *c, struct mutex *m, uint64_t until)
{
    while (__wrap_clock_ns() < until) {
        if (__real_cond_wait(c, m, __real_clock_ns() + 2 * NS_PER_MS)) {
            return true;
        }
    }
    return false;
}

void skew_pass(unsigned ms)
{
    atomic_fetch_add(&skew, ms * NS_PER_MS);
}
