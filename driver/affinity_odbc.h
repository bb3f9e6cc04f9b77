/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a program may include to talk to odbc-affinity through the ordinary
 * ODBC calls: the numbers of our connection attributes, for
 * SQLSetConnectAttr and SQLGetConnectAttr. Nothing else is needed, and a
 * program that includes nothing can do the same by connection string or SQL
 * command. The numbers never change.
 */

#ifndef AFFINITY_ODBC_H
#define AFFINITY_ODBC_H

/* Text, set and get, before or after connecting: the AffinityKey that decides
   which instance serves this connection. Composite keys are separated by
   commas; the empty text means no key. */
#define SQL_ATTR_AFFINITY_KEY 0x5AF0

/* Text, set and get: "hint", "prefer" or "strict" - how binding the key is. */
#define SQL_ATTR_AFFINITY_MODE 0x5AF1

/* Text, set and get: "connection" or "transaction" - what is routed at once. */
#define SQL_ATTR_AFFINITY_SCOPE 0x5AF2

/* Text, get: the name of the instance that serves this connection now; empty
   while none does. */
#define SQL_ATTR_AFFINITY_INSTANCE 0x5AF3

/* Text, get: the latest verdict in one line: which instance, and why. */
#define SQL_ATTR_AFFINITY_VERDICT 0x5AF4

/* Text, set and get: what has been written up to now, to be carried to another
   connection or process whose reads must see it. */
#define SQL_ATTR_AFFINITY_TOKEN 0x5AF5

#endif
