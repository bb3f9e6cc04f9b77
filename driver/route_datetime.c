/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dates and times.  A text of the strict form with an impossible field
 * (2024-02-30) is BAD; whatever is not of that form is UNSURE, since
 * PostgreSQL reads a great many.
 */
#include "autoconf.h"

#include "route_datetime.h"

#include <string.h>

#include "route_literal.h"

#define SECOND INT64_C(1000000)
#define DAY    (INT64_C(86400) * SECOND)

struct fields {
    int64_t day; /* since 2000-01-01 */
    int64_t time;
    int32_t year; /* 0 = 1 BC */
};

/* Exactly count digits. */
static bool take_number(struct route_walk *walk, int count, int32_t *value)
{
    *value = 0;
    for (int i = 0; i < count; i++) {
        if (!route_literal_digit(walk)) {
            return false;
        }
        *value = *value * 10 + (*walk->at++ - '0');
    }
    return !route_literal_digit(walk);
}

static int32_t days_in_month(int32_t year, int32_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30,
                                  31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (leap && month == 2);
}

/* Proleptic Gregorian calendar, from March so that the leap day comes last. */
static int64_t day_number(int32_t year, int32_t month, int32_t day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year =
        (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 730425; /* 2000-01-01 */
}

/* A BC stands behind everything else. */
static bool take_era(struct route_walk *walk)
{
    struct route_walk tail = {walk->end - 3, walk->end};

    if (walk->end - walk->at > 3 && route_literal_is(&tail, " bc")) {
        walk->end -= 3;
        return true;
    }
    return false;
}

static enum route_parse take_date(struct route_walk *walk, bool bc,
                                  struct fields *f)
{
    const char *dash = memchr(walk->at, '-', (size_t)(walk->end - walk->at));
    int32_t year, month, day;

    if (!dash || dash - walk->at < 4 || dash - walk->at > 7 ||
        !take_number(walk, (int)(dash - walk->at), &year) ||
        !route_literal_take(walk, '-') || !take_number(walk, 2, &month) ||
        !route_literal_take(walk, '-') || !take_number(walk, 2, &day)) {
        return ROUTE_PARSE_UNSURE;
    }
    if (year == 0 || month < 1 || month > 12 || day < 1) {
        return ROUTE_PARSE_BAD;
    }
    f->year = bc ? 1 - year : year;
    if (day > days_in_month(f->year, month)) {
        return ROUTE_PARSE_BAD;
    }
    f->day = day_number(f->year, month, day);
    return ROUTE_PARSE_OK;
}

/* .FFFFFF: digits that would be rounded away leave it to the server. */
static bool take_fraction(struct route_walk *walk, int32_t limit,
                          int64_t *micros)
{
    int64_t unit = 100000;
    int32_t used = 0;

    *micros = 0;
    if (!route_literal_take(walk, '.')) {
        return true;
    }
    if (!route_literal_digit(walk)) {
        return false;
    }
    for (int32_t i = 1; route_literal_digit(walk); i++, walk->at++) {
        *micros += (*walk->at - '0') * unit;
        unit /= 10;
        if (*walk->at != '0') {
            used = i;
        }
    }
    return used <= (limit >= 0 && limit < 6 ? limit : 6);
}

/* HH:MM[:SS[.F]] */
static enum route_parse take_time(struct route_walk *walk, int32_t limit,
                                  struct fields *f)
{
    int32_t hour, minute, second = 0;
    int64_t micros = 0;

    if (!take_number(walk, 2, &hour) || !route_literal_take(walk, ':') ||
        !take_number(walk, 2, &minute)) {
        return ROUTE_PARSE_UNSURE;
    }
    if (route_literal_take(walk, ':') &&
        (!take_number(walk, 2, &second) ||
         !take_fraction(walk, limit, &micros))) {
        return ROUTE_PARSE_UNSURE;
    }
    if (hour > 24 || minute > 59 || second > 60) {
        return ROUTE_PARSE_BAD;
    }
    if (second == 60) {
        return ROUTE_PARSE_UNSURE; /* carried into the next minute */
    }
    f->time = ((hour * INT64_C(60) + minute) * 60 + second) * SECOND + micros;
    return f->time > DAY ? ROUTE_PARSE_BAD : ROUTE_PARSE_OK;
}

/* Z or +HH[[:]MM[:SS]], to be subtracted from the time. */
static bool take_zone(struct route_walk *walk, int64_t *zone)
{
    int32_t part[3] = {0, 0, 0};

    *zone = 0;
    if (route_literal_take(walk, 'Z') || route_literal_take(walk, 'z')) {
        return true;
    }
    bool west = route_literal_take(walk, '-');
    if (!west && !route_literal_take(walk, '+')) {
        return false;
    }
    if (walk->end - walk->at == 4 && take_number(walk, 4, &part[0])) {
        part[1] = part[0] % 100;
        part[0] /= 100;
    } else {
        for (int i = 0; i < 3 && (i == 0 || route_literal_take(walk, ':'));
             i++) {
            if (!take_number(walk, 2, &part[i])) {
                return false;
            }
        }
    }
    if (part[0] > 14 || part[1] > 59 || part[2] > 59) {
        return false;
    }
    *zone = ((part[0] * INT64_C(60) + part[1]) * 60 + part[2]) * SECOND;
    *zone = west ? -*zone : *zone;
    return true;
}

static bool is_infinite(const struct route_walk *walk, int64_t low,
                        int64_t high, struct route_datum *datum)
{
    if (route_literal_is(walk, "infinity")) {
        datum->fixed = high;
        return true;
    }
    if (route_literal_is(walk, "-infinity")) {
        datum->fixed = low;
        return true;
    }
    return false;
}

enum route_parse route_datetime_date(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum)
{
    struct route_walk walk = route_literal_trim(text, length);
    struct fields f;

    (void)typing;
    (void)scratch;
    if (is_infinite(&walk, INT32_MIN, INT32_MAX, datum)) {
        return ROUTE_PARSE_OK;
    }
    bool bc = take_era(&walk);
    enum route_parse result = take_date(&walk, bc, &f);
    if (result != ROUTE_PARSE_OK) {
        return result;
    }
    if (walk.at < walk.end) {
        return ROUTE_PARSE_UNSURE;
    }
    datum->fixed = f.day;
    /* the outermost years are cut off within a year: not copied here */
    return f.year > -4712 && f.year < 5874897 ? ROUTE_PARSE_OK
                                              : ROUTE_PARSE_UNSURE;
}

enum route_parse route_datetime_time(const struct route_typing *typing,
                                     const char *text, uint32_t length,
                                     unsigned char *scratch,
                                     struct route_datum *datum)
{
    struct route_walk walk = route_literal_trim(text, length);
    struct fields f;

    (void)scratch;
    enum route_parse result = take_time(&walk, typing->limit, &f);
    if (result == ROUTE_PARSE_OK && walk.at < walk.end) {
        return ROUTE_PARSE_UNSURE;
    }
    datum->fixed = f.time;
    return result;
}

static enum route_parse take_clock(struct route_walk *walk,
                                   const struct route_typing *typing,
                                   struct fields *f)
{
    if (!route_literal_take(walk, ' ') && !route_literal_take(walk, 'T')) {
        return ROUTE_PARSE_UNSURE;
    }
    enum route_parse result = take_time(walk, typing->limit, f);
    if (result == ROUTE_PARSE_OK && f->time == DAY) {
        return ROUTE_PARSE_UNSURE;
    }
    return result;
}

enum route_parse route_datetime_stamp(const struct route_typing *typing,
                                      const char *text, uint32_t length,
                                      unsigned char *scratch,
                                      struct route_datum *datum)
{
    struct route_walk walk = route_literal_trim(text, length);
    struct fields f = {.time = 0};
    int64_t zone = 0;

    (void)scratch;
    if (is_infinite(&walk, INT64_MIN, INT64_MAX, datum)) {
        return ROUTE_PARSE_OK;
    }
    bool bc = take_era(&walk);
    enum route_parse result = take_date(&walk, bc, &f);
    if (result == ROUTE_PARSE_OK && walk.at < walk.end) {
        result = take_clock(&walk, typing, &f);
    }
    if (result != ROUTE_PARSE_OK) {
        return result;
    }
    if ((typing->type == ROUTE_TYPE_TIMESTAMPTZ && !take_zone(&walk, &zone)) ||
        walk.at < walk.end || f.year <= -4712 || f.year >= 294276) {
        return ROUTE_PARSE_UNSURE;
    }
    datum->fixed = f.day * DAY + f.time - zone;
    return ROUTE_PARSE_OK;
}

/* ---- intervals ---- */

/* What interval_hash and interval_cmp see: a month is 30 days. */
static int64_t unit_length(const char *word, size_t length)
{
    static const struct {
        const char *word;
        int64_t span;
    } units[] = {
        {"year", 360 * DAY},
        {"years", 360 * DAY},
        {"mon", 30 * DAY},
        {"mons", 30 * DAY},
        {"month", 30 * DAY},
        {"months", 30 * DAY},
        {"week", 7 * DAY},
        {"weeks", 7 * DAY},
        {"day", DAY},
        {"days", DAY},
        {"hour", 3600 * SECOND},
        {"hours", 3600 * SECOND},
        {"minute", 60 * SECOND},
        {"minutes", 60 * SECOND},
        {"second", SECOND},
        {"seconds", SECOND},
    };
    struct route_walk walk = {word, word + length};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (route_literal_is(&walk, units[i].word)) {
            return units[i].span;
        }
    }
    return 0;
}

/* N unit; a unit twice is an error at the server, which is for it to say. */
static bool take_unit(struct route_walk *walk, int64_t *span)
{
    int64_t number = 0, *last = span + 1;

    for (int i = 0; route_literal_digit(walk); i++, walk->at++) {
        if (i == 6) {
            return false; /* fields have limits; stay far away from them */
        }
        number = number * 10 + (*walk->at - '0');
    }
    if (!route_literal_take(walk, ' ')) {
        return false;
    }
    const char *word = walk->at;
    while (walk->at < walk->end && *walk->at != ' ') {
        walk->at++;
    }
    int64_t unit = unit_length(word, (size_t)(walk->at - word));
    if (unit == 0 || unit >= *last ||
        __builtin_mul_overflow(number, unit, &number) ||
        __builtin_add_overflow(*span, number, span)) {
        return false;
    }
    *last = unit;
    return true;
}

static bool is_clock(const struct route_walk *walk)
{
    struct route_walk ahead = *walk;

    while (route_literal_digit(&ahead)) {
        ahead.at++;
    }
    return route_literal_take(&ahead, ':');
}

enum route_parse route_datetime_interval(const struct route_typing *typing,
                                         const char *text, uint32_t length,
                                         unsigned char *scratch,
                                         struct route_datum *datum)
{
    struct route_walk walk = route_literal_trim(text, length);
    int64_t span[2] = {0, INT64_MAX}; /* the span; the last unit */
    struct fields f;

    (void)typing;
    (void)scratch;
    if (walk.at == walk.end) {
        return ROUTE_PARSE_BAD;
    }
    while (walk.at < walk.end) {
        if (!route_literal_digit(&walk)) {
            return ROUTE_PARSE_UNSURE;
        }
        if (is_clock(&walk)) {
            if (span[1] < DAY || take_time(&walk, -1, &f) != ROUTE_PARSE_OK ||
                walk.at < walk.end ||
                __builtin_add_overflow(span[0], f.time, &span[0])) {
                return ROUTE_PARSE_UNSURE;
            }
        } else if (!take_unit(&walk, span)) {
            return ROUTE_PARSE_UNSURE;
        }
        route_literal_take(&walk, ' ');
    }
    datum->fixed = span[0];
    return ROUTE_PARSE_OK;
}
