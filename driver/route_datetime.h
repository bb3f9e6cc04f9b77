/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading dates, times, timestamps and intervals.  Only spellings that mean
 * the same under every DateStyle, TimeZone and IntervalStyle are taken; the
 * rest ('1 Jan 2024', 'now', '01/02/2024', a timestamp with time zone that
 * names no zone) is for the server.  Only route_type.c calls these; their
 * contract is that of route_type_parse().
 */
#ifndef ROUTE_DATETIME_H
#define ROUTE_DATETIME_H

#include "route_type.h"

/* YYYY-MM-DD, more digits of the year, BC; infinity, -infinity */
enum route_parse route_datetime_date(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum);
/* HH:MM[:SS[.FFFFFF]], up to 24:00:00 */
enum route_parse route_datetime_time(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum);
/* timestamp and timestamptz: a date, blank or T, a time; with time zone also
   Z or +HH[[:]MM[:SS]].  A timestamp may be a date alone (midnight). */
enum route_parse route_datetime_stamp(const struct route_typing *typing,
                                      const char *text, uint32_t length,
                                      unsigned char *scratch,
                                      struct route_datum *datum);
/* [N unit]... [[HH:]MM:SS[.FFFFFF]], nothing negative */
enum route_parse route_datetime_interval(const struct route_typing *typing,
                                         const char *text, uint32_t length,
                                         unsigned char *scratch,
                                         struct route_datum *datum);

#endif
