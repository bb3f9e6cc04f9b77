/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* route_datetime: dates, times, timestamps, intervals. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit-route_parse.h"

#define SECOND INT64_C(1000000)
#define DAY    (86400 * SECOND)

static void dates(void **state)
{
    static const struct case_of cases[] = {{"2000-01-01", OK, 0},
                                           {"1999-12-31", OK, -1},
                                           {"2000-03-01", OK, 60},
                                           {"2024-05-05", OK, 8891},
                                           {" 2024-05-05 ", OK, 8891},
                                           {"1970-01-01", OK, -10957},
                                           {"0001-01-01", OK, -730119},
                                           {"0001-12-31 BC", OK, -730120},
                                           {"infinity", OK, INT32_MAX},
                                           {"-Infinity", OK, INT32_MIN},
                                           {"2024-02-29", OK, 8825},
                                           {"2023-02-29", BAD, 0},
                                           {"1900-02-29", BAD, 0},
                                           {"2024-13-01", BAD, 0},
                                           {"2024-00-01", BAD, 0},
                                           {"2024-04-31", BAD, 0},
                                           {"0000-01-01", BAD, 0},
                                           {"2024-5-5", UNSURE, 0},
                                           {"24-05-05", UNSURE, 0},
                                           {"05/05/2024", UNSURE, 0},
                                           {"1 Jan 2024", UNSURE, 0},
                                           {"now", UNSURE, 0},
                                           {"today", UNSURE, 0},
                                           {"", UNSURE, 0},
                                           {"2024-05-05 00:00:00", UNSURE, 0},
                                           {"20240505", UNSURE, 0},
                                           {"2024-05-05x", UNSURE, 0},
                                           {"5874897-12-31", UNSURE, 0},
                                           {"-2024-05-05", UNSURE, 0},
                                           {NULL, 0, 0}};

    (void)state;
    expect(route_type_plain(ROUTE_TYPE_DATE), cases);
}

static void times(void **state)
{
    static const struct case_of cases[] = {
        {"00:00", OK, 0},
        {"12:34:56.789012", OK, 45296789012},
        {"23:59:59.9", OK, DAY - 100000},
        {"24:00:00", OK, DAY},
        {"24:00:01", BAD, 0},
        {"25:00", BAD, 0},
        {"12:60", BAD, 0},
        {"12:00:60", UNSURE, 0},
        {"12:00:61", BAD, 0},
        {"12:00:00.1234567", UNSURE, 0},
        {"12:00:00.1234560", OK, 43200123456},
        {"1:00", UNSURE, 0},
        {"12:00 PM", UNSURE, 0},
        {"allballs", UNSURE, 0},
        {"12:00:00.", UNSURE, 0},
        {"12:00:00+01", UNSURE, 0},
        {NULL, 0, 0}};
    static const struct case_of limited[] = {
        {"12:00:00.125", OK, 43200125000},
        {"12:00:00.1255", UNSURE, 0},
        {"12:00:00.125000", OK, 43200125000},
        {NULL, 0, 0}};
    struct route_typing typing = route_type_plain(ROUTE_TYPE_TIME);

    (void)state;
    expect(typing, cases);
    typing.limit = 3;
    expect(typing, limited);
}

static void timestamps(void **state)
{
    static const struct case_of cases[] = {
        {"2000-01-01 00:00:00", OK, 0},
        {"2000-01-01", OK, 0},
        {"2000-01-01T00:00:01", OK, SECOND},
        {"1999-12-31 23:59:59", OK, -SECOND},
        {"2000-01-02 00:00:00.5", OK, DAY + SECOND / 2},
        {"infinity", OK, INT64_MAX},
        {"-infinity", OK, INT64_MIN},
        {"2000-01-01 24:00:00", UNSURE, 0},
        {"2000-01-01 00:00:00+00", UNSURE, 0},
        {"2000-01-01 00:00:00 UTC", UNSURE, 0},
        {"2000-01-01  00:00:00", UNSURE, 0},
        {"294276-12-31 00:00:00", UNSURE, 0},
        {"294275-12-31 00:00:00", OK, INT64_C(9223339622400000000)},
        {"2000-01-32", BAD, 0},
        {"2000-01-01 25:00", BAD, 0},
        {"epoch", UNSURE, 0},
        {NULL, 0, 0}};

    (void)state;
    expect(route_type_plain(ROUTE_TYPE_TIMESTAMP), cases);
}

static void timestamps_with_zone(void **state)
{
    static const struct case_of cases[] = {
        {"2000-01-01 00:00:00+00", OK, 0},
        {"2000-01-01 02:00:00+02", OK, 0},
        {"1999-12-31 19:00:00-05", OK, 0},
        {"2000-01-01 05:30+05:30", OK, 0},
        {"2000-01-01 05:30+0530", OK, 0},
        {"2000-01-01T00:00:00Z", OK, 0},
        {"2000-01-01 00:00:01+00:00:01", OK, 0},
        {"infinity", OK, INT64_MAX},
        {"2000-01-01 00:00:00", UNSURE, 0},
        {"2000-01-01", UNSURE, 0},
        {"2000-01-01 00:00:00 UTC", UNSURE, 0},
        {"2000-01-01 00:00:00+15", UNSURE, 0},
        {"2000-01-01 00:00:00+1", UNSURE, 0},
        {"2000-01-01 00:00:00+", UNSURE, 0},
        {"2000-01-01 00:00:00+01:00:00:00", UNSURE, 0},
        {NULL, 0, 0}};

    (void)state;
    expect(route_type_plain(ROUTE_TYPE_TIMESTAMPTZ), cases);
}

static void intervals(void **state)
{
    static const struct case_of cases[] = {
        {"1 day", OK, DAY},
        {"1 mon", OK, 30 * DAY},
        {"30 days", OK, 30 * DAY},
        {"1 year 2 mons 3 days 04:05:06.5", OK,
         423 * DAY + (4 * 3600 + 5 * 60 + 6) * SECOND + SECOND / 2},
        {"00:00:00", OK, 0},
        {"2 weeks", OK, 14 * DAY},
        {"1 hour 30 minutes", OK, 5400 * SECOND},
        {"-1 day", UNSURE, 0},
        {"1 day ago", UNSURE, 0},
        {"P1D", UNSURE, 0},
        {"1", UNSURE, 0},
        {"1 day 1 day", UNSURE, 0},
        {"1.5 days", UNSURE, 0},
        {"1 day 2 hours 03:00", UNSURE, 0},
        {"", BAD, 0},
        {"9999999 years", UNSURE, 0},
        {NULL, 0, 0}};

    (void)state;
    expect(route_type_plain(ROUTE_TYPE_INTERVAL), cases);
}

/* Every day from 0001 to 9999 comes directly behind the one before. */
static void every_day(void **state)
{
    static const int length[] = {31, 28, 31, 30, 31, 30,
                                 31, 31, 30, 31, 30, 31};
    struct route_typing typing = route_type_plain(ROUTE_TYPE_DATE);
    int64_t day = -730119;

    (void)state;
    for (int year = 1; year <= 9999; year++) {
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        for (int month = 1; month <= 12; month++) {
            int days = length[month - 1] + (leap && month == 2);
            for (int d = 1; d <= days; d++) {
                char text[32];
                struct route_datum datum;
                int size = snprintf(text, sizeof(text), "%04d-%02d-%02d", year,
                                    month, d);
                if (route_type_parse(&typing, text, (uint32_t)size, NULL,
                                     &datum) != ROUTE_PARSE_OK ||
                    datum.fixed != day++) {
                    fail_msg("%s", text);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates),      cmocka_unit_test(times),
        cmocka_unit_test(timestamps), cmocka_unit_test(timestamps_with_zone),
        cmocka_unit_test(intervals),  cmocka_unit_test(every_day),
    };

    return cmocka_run_group_tests_name("route_datetime", tests, NULL, NULL);
}
