/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the three ways to connect share.
 */
#ifndef ENTRY_CONNECT_H
#define ENTRY_CONNECT_H

#include "handle.h"
#include "text.h"

struct config;

/* False: it is connected; 08002 is in dbc's records. */
bool entry_can_connect(struct dbc *dbc);

/* Appends an input argument of SQLConnect and its sisters as UTF-8.  False:
   HY090 (the length is not allowed) or HY001 is in dbc's records. */
bool entry_read(struct dbc *dbc, struct text *text, const void *argument,
                SQLSMALLINT length, enum text_width width, const char *name);

/* A fresh struct config for config_read_*(), or NULL and HY001 in dbc's
   records. */
struct config *entry_new_config(struct dbc *dbc);

/* Connects dbc as config says, which is taken over; its warnings become
   records behind whatever the connecting had to say. */
SQLRETURN entry_connect(struct dbc *dbc, struct config *config,
                        enum text_width width);

/* Reads a connection string and connects by it. */
SQLRETURN entry_connect_string(struct dbc *dbc, const struct text *string,
                               enum text_width width);

/* Writes a text to the application by ODBC's rules for output arguments;
   01004 is added to dbc's records if it was cut.  Returns rc, or
   SQL_SUCCESS_WITH_INFO if rc was SQL_SUCCESS and it was cut. */
SQLRETURN entry_write(struct dbc *dbc, const struct text *text, void *out,
                      SQLSMALLINT size, SQLSMALLINT *length,
                      enum text_width width, SQLRETURN rc);

/* The completed connection string of a session that has just connected. */
SQLRETURN entry_write_completed(struct dbc *dbc, void *out, SQLSMALLINT size,
                                SQLSMALLINT *length, enum text_width width,
                                SQLRETURN rc);

#endif
