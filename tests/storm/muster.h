/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Before and after: what the process has, and what the instances say that it
 * has.  One thread.
 */
#ifndef STORM_MUSTER_H
#define STORM_MUSTER_H

/* Remembers what the process has before the first fleet is made. */
void muster_begin(void);

/* TAP results: the fleet is whole, nothing is under way, each link has its
   backend and each file descriptor its link; then, when the last session has
   gone, all threads and descriptors go as well.  fleet: the beginning of
   connection strings. */
void muster_end(const char *fleet);

#endif
