/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Texts made of a configuration: the key by which pools are shared, the
 * completed connection string, and what SHOW AFFINITY CONFIG says.
 */
#include "autoconf.h"

#include "config_rows.h"

#include <stdlib.h>
#include <string.h>

/* Looked up once, since this is done at every connect. */
struct named {
    const char *keyword; /* as connstr_canonical() has it */
    const struct connstr_item *item;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return text_compare(x->keyword, y->keyword);
}

/* psqlODBC reads %XX and + in plain and ini values and in no other, so that
   the same text may be two values. */
static bool is_literal(enum connstr_origin origin)
{
    return origin == CONNSTR_BRACED || origin == CONNSTR_ARGUMENT;
}

void config_login_key(const struct config *config, struct text *key)
{
    size_t count = config->passed.count;
    struct named *sorted = calloc(count + 1, sizeof *sorted);

    if (!sorted) {
        key->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct connstr_item *item = &config->passed.items[i];

        sorted[i] = (struct named){ connstr_canonical(item->keyword), item };
    }
    qsort(sorted, count, sizeof *sorted, compare_named);
    for (size_t i = 0; i < count; i++) {
        const struct connstr_item *item = sorted[i].item;

        text_append_char(key, is_literal(item->origin) ? '!' : '%');
        for (const char *c = sorted[i].keyword; *c; c++) {
            text_append_char(key, *c >= 'A' && *c <= 'Z'
                             ? (char)(*c - 'A' + 'a') : *c);
        }
        connstr_append(key, "", item->value);
    }
    free(sorted);
}

void config_out_string(const struct config *config, struct text *out)
{
    if (!connstr_find(&config->input, "DSN")
        && !connstr_find(&config->input, "DRIVER")) {
        text_appendf(out, "DSN=%s;", config->dsn);
    }
    for (size_t i = 0; i < config->input.count; i++) {
        const struct connstr_item *item = &config->input.items[i];

        if (item->origin == CONNSTR_PLAIN) {
            text_append(out, item->keyword);
            text_append_char(out, '=');
            text_append(out, item->value);
            text_append_char(out, ';');
        } else {
            connstr_append(out, item->keyword, item->value);
        }
    }
}

void config_show(const struct config *config, struct text *text)
{
    struct text value;

    text_init_wiped(&value);
    for (size_t i = 0; i < config_row_count; i++) {
        const struct config_row *row = &config_rows[i];

        text_clear(&value);
        config_append_value(&config->fleet, &config->session, row, &value);
        text->failed |= value.failed;
        text_appendf(text, "%s=%s\n", row->keyword,
                     row->kind == CONFIG_KIND_SECRET && value.length
                     ? "***" : text_string(&value));
    }
    text_free(&value);
}
