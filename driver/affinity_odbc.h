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

/* What is set with these before connecting goes before the keyword of the same
   meaning.  After connecting this version refuses it (HYC00: a session that has
   its connection to an instance cannot move yet), and lets it be read; README
   has the exception, ManagerPooling=allow. */

/* Text: AffinityKey, which decides the instance that serves this connection.
   Composite keys are separated by commas; the empty text means no key. */
#define SQL_ATTR_AFFINITY_KEY 0x5AF0

/* Text: AffinityMode, how binding the key is: "hint", "prefer" or "strict". */
#define SQL_ATTR_AFFINITY_MODE 0x5AF1

/* Text: AffinityScope, what is routed at once: "connection" ("transaction" is
   not available in this version). */
#define SQL_ATTR_AFFINITY_SCOPE 0x5AF2

/* These can only be read. */

/* Text: the name of the instance that serves this connection now; empty
   while none does. */
#define SQL_ATTR_AFFINITY_INSTANCE 0x5AF3

/* Text: the latest verdict in one line: which instance, and why. */
#define SQL_ATTR_AFFINITY_VERDICT 0x5AF4

/* Text: what has been written up to now, to be carried to another connection or
   process whose reads must see it.  Not available in this version (HYC00). */
#define SQL_ATTR_AFFINITY_TOKEN 0x5AF5

#endif
