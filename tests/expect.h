/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the tests of troubles expect again and again, one TAP line each: where
 * a session lands and how soon, or why it fails.  expect_elsewhere() wants a
 * sandbox of three instances, n1, n2 and n3.
 *
 * Times are bounded by what the keywords allow plus EXPECT_SLACK, plus what a
 * watching thread finds the machine to be late; where a link has to be opened,
 * plus twice what opening one takes without the wrapper just then.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "trouble.h"

/* so that what has to be waited for comes soon */
#define TIMES ";ConnectTimeout=2000;CheckTimeout=1000;PoolTrust=0"

#define OWNED_BY_N2 ";AffinityKey=1500"
#define STRICT      ";AffinityMode=strict"
#define HINT        ";AffinityMode=hint"
#define PREFER      ";AffinityMode=prefer"

enum { EXPECT_SLACK = 250 /* ms */ };

/* A session on exactly this instance; closed again. */
void expect_lands(const char *name, const char *string, const char *instance);

/* A session on any instance but this one, within `ms`; closed again. */
void expect_elsewhere(const char *name, const char *string,
                      const char *instance, double ms);

/* No session, within `ms`; the records begin with one of the beginnings
   ("SQLSTATE native ", parted by '|') and have these words.  What came is in
   *t; t->login_timeout is in. */
void expect_fails(const char *name, struct trouble_try *t, const char *string,
                  const char *beginnings, const char *words, double ms);

#endif
