/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * config.def as a table, for config*.c alone: one struct per keyword, with
 * which its value is checked, stored, compared, copied, shown and freed.
 */
#ifndef CONFIG_ROWS_H
#define CONFIG_ROWS_H

#include "config.h"

enum config_kind {
    CONFIG_KIND_TEXT,
    CONFIG_KIND_LIST,
    CONFIG_KIND_SQL,
    CONFIG_KIND_SECRET,
    CONFIG_KIND_ENUM,
    CONFIG_KIND_INT,
    CONFIG_KIND_MS
};

enum config_when { CONFIG_READY, CONFIG_LATER };

struct config_word {
    const char *word; /* NULL ends a set */
    enum config_when when;
};

struct config_row {
    const char *keyword;
    enum config_kind kind;
    bool fleet;      /* else session */
    size_t offset;   /* in struct config_fleet or config_session */
    const char *otherwise;
    uint32_t low, high;
    const struct config_word *words; /* of ENUM */
    enum config_when when;
};

extern const struct config_row config_rows[];
extern const size_t config_row_count;

/* The row of a keyword, case aside, or NULL. */
const struct config_row *config_row(const char *keyword);

/* The row that the keyword is or continues ("Instances.2"), or NULL; *part
   is 0 for the keyword itself, else its number.  "Instances.x" and keywords
   that nothing continues are no rows. */
const struct config_row *config_row_part(const char *keyword, unsigned *part);

/* Is there anything in this version that a user could choose by it? */
bool config_row_is_ready(const struct config_row *row);

/* Checks value and stores it in the row's field of config, replacing what is
   there.  An empty value is the default.  False: why, nothing changed. */
bool config_store(struct config *config, const struct config_row *row,
                  const char *value, struct why *why);

/* Appends the value that config has, as a user would write it. */
void config_append_value(const struct config_fleet *fleet,
                         const struct config_session *session,
                         const struct config_row *row, struct text *text);

/* Parses fleet->instances into fleet->list.  own is our DSN, which must not be
   one of them.  False: why, list empty. */
bool config_parse_instances(struct config_fleet *fleet, const char *own,
                            struct why *why);
void config_free_instances(struct config_fleet *fleet);

#endif
