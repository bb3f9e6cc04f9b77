/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How the keeper's threads begin, all of them: detached, with every signal
 * blocked (promise 7).  Among the keeper_*.c files.
 */
#ifndef KEEPER_THREAD_H
#define KEEPER_THREAD_H

#include <stdbool.h>

/* Runs work(NULL) on a thread of its own.  False: none can be had.  Any lock
   may be held. */
bool keeper_thread_start(void *(*work)(void *unused));

#endif
