/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading and merging pqopt, by libpq's grammar for connection strings: pairs
 * name = value, blanks between; a value in single quotes may hold blanks;
 * a backslash keeps the next character.
 */
#include "autoconf.h"

#include "inner_pqopt.h"

#include <ctype.h>
#include <string.h>

static const char *skip_blanks(const char *p)
{
    while (isspace((unsigned char)*p)) {
        p++;
    }
    return p;
}

/* Reads one value; NULL: a quote is not closed. */
static const char *read_value(const char *p, struct text *value)
{
    bool quoted = *p == '\'';

    p += quoted;
    while (*p && (quoted ? *p != '\'' : !isspace((unsigned char)*p))) {
        if (*p == '\\' && !*++p) {
            break; /* nothing to keep: libpq drops it */
        }
        text_append_char(value, *p++);
    }
    if (quoted && *p != '\'') {
        return NULL;
    }
    return p + quoted;
}

/* Reads one pair; NULL: malformed. */
static const char *read_pair(const char *p, struct text *name,
                             struct text *value)
{
    text_clear(name);
    text_clear(value);
    while (*p && *p != '=' && !isspace((unsigned char)*p)) {
        text_append_char(name, *p++);
    }
    p = skip_blanks(p);
    if (*p != '=' || name->length == 0) {
        return NULL;
    }
    return read_value(skip_blanks(p + 1), value);
}

static void append_pair(struct text *out, const char *name, const char *value)
{
    text_appendf(out, "%s%s='", out->length ? " " : "", name);
    for (; *value; value++) {
        if (*value == '\'' || *value == '\\') {
            text_append_char(out, '\\');
        }
        text_append_char(out, *value);
    }
    text_append_char(out, '\'');
}

/* What psqlODBC sets again once it is connected, whatever the user said: it
   reads dates in no other style. */
#define OURS "-c DateStyle=ISO -c extra_float_digits=2"

/* The user's time-out, because psqlODBC refuses to connect with one beside the
   login time-out that each link has; and a wide link is in UTF-8. */
static bool gives_way(const char *name, bool wide)
{
    return strcmp(name, "connect_timeout") == 0 ||
           (wide && strcmp(name, "client_encoding") == 0);
}

bool pqopt_merge(const char *user, const char *environment, bool wide,
                 struct text *out, struct why *why)
{
    struct text name, value, own, options;
    const char *p;

    text_init(&name);
    text_init_wiped(&value);
    text_init_wiped(&own);
    text_init_wiped(&options);
    if (environment && *environment) {
        text_appendf(&options, "%s ", environment);
    }
    for (p = skip_blanks(user); p && *p; p = p ? skip_blanks(p) : NULL) {
        size_t at = (size_t)(p - user);
        p = read_pair(p, &name, &value);
        if (!p) {
            why_set(why, WHY_VALUE,
                    "pqopt is not a list of name=value pairs from its byte "
                    "%zu on", at);
        } else if (strcmp(text_string(&name), "options") == 0) {
            text_clear(&own); /* of two libpq takes the last */
            text_append(&own, text_string(&value));
        } else if (!gives_way(text_string(&name), wide)) {
            append_pair(out, text_string(&name), text_string(&value));
        }
    }
    if (wide) {
        append_pair(out, "client_encoding", "UTF8");
    }
    if (own.length) {
        text_appendf(&options, "%s ", text_string(&own));
    }
    text_append(&options, OURS);
    append_pair(out, "options", text_string(&options));
    if (p && (options.failed || own.failed || value.failed || name.failed ||
              out->failed)) {
        why_memory(why);
        p = NULL;
    }
    text_free(&name);
    text_free(&value);
    text_free(&own);
    text_free(&options);
    return p != NULL;
}
