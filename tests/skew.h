/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A clock that the test sets: for programs that are linked with --wrap=clock_ns
 * and --wrap=cond_wait, so that seconds pass by setting a number, and not by
 * themselves on a machine that is slow.
 */
#ifndef SKEW_H
#define SKEW_H

#include <stdbool.h>
#include <stdint.h>

#include "lock.h"

/* Lets so much time pass for the code under test. */
void skew_pass(unsigned ms);

/* The time and the wait of the world outside, for the test's own use. */
uint64_t skew_real_ns(void);
bool skew_real_wait(struct cond *c, struct mutex *m, uint64_t until);

#endif
