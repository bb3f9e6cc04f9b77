/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The inner driver of which we know nothing: roll back, attributes back, and
 * close a used link instead of handing it on, because nobody can say what
 * else it carries (promise 3).  Each link has an environment of its own,
 * because nobody can say either whether the driver locks what hangs on one.
 */
#include "autoconf.h"

#include "inner_kind.h"
#include "inner_sql.h"

#include <string.h>

/* By the classes of the SQL standard and of ODBC alone. */
static enum inner_fault fault(const char *sqlstate, SQLINTEGER native,
                              const char *text)
{
    (void)native;
    (void)text;
    if (strncmp(sqlstate, "28", 2) == 0) {
        return INNER_FAULT_LOGIN;
    }
    return strncmp(sqlstate, "08", 2) == 0 || strncmp(sqlstate, "HYT", 3) == 0
               ? INNER_FAULT_INSTANCE
               : INNER_FAULT_POOL;
}

/* Nobody knows whether a backslash means itself, nor how to write what is not
   ASCII. */
static void literal(const char *value, struct text *sql)
{
    size_t length = strlen(value);

    text_append_char(sql, '\'');
    for (size_t i = 0; i < length;) {
        uint32_t point;

        i += text_decode(value + i, length - i, &point);
        if (point >= 0x80) {
            text_append_char(sql, '?');
        } else if (inner_sql_is_control(point)) {
            text_append_char(sql, ' ');
        } else if (point == '\'') {
            text_append(sql, "''");
        } else {
            text_append_char(sql, point == '\\' ? '/' : (char)point);
        }
    }
    text_append_char(sql, '\'');
}

static const struct inner_sql standard_sql = {
    .quote = '"',
    .text_type = "VARCHAR",
    .literal = literal,
    .says_wrong = inner_sql_standard_wrong,
};

static const char *const no_queries[] = { NULL };
static const struct inner_probe probe[] = { { "1", "" }, { NULL, NULL } };

const struct inner_kind inner_unknown = {
    .name = "an unknown driver",
    .sql = &standard_sql,
    .compose = inner_compose,
    .who = no_queries,
    .probe = probe,
    .fault = fault,
};
