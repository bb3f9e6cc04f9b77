/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#ifndef POOL_EXIT_H
#define POOL_EXIT_H

/* Has idle links closed when the process exits; called after a link has been
   opened, does something once for each inner driver.  Any thread. */
void pool_close_at_exit(void);

#endif
