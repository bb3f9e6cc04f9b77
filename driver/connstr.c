/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading, keeping and writing connection strings.  Lists are short (a few
 * dozen keywords), so they are searched from the front.
 */
#include "autoconf.h"

#include "connstr.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "secret.h"

enum { SHOWN_MAX = 60 };

/* Spellings that psqlODBC takes for the same thing, the one we write first. */
static const char *const aliases[][2] = {
    { "UID", "Username" },
    { "PWD", "Password" },
    { "Server", "Servername" },
    { "ReadOnly", "A0" },
    { "ConnSettings", "A6" },
    { "pqopt", "D5" },
};

static const char *const secrets[] = { "PWD", "MonitorPWD" };

#define COUNT(array) (sizeof (array) / sizeof *(array))

const char *connstr_canonical(const char *keyword)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        if (text_same(keyword, aliases[i][0])
            || text_same(keyword, aliases[i][1])) {
            return aliases[i][0];
        }
    }
    return keyword;
}

bool connstr_is_secret(const char *keyword)
{
    const char *canonical = connstr_canonical(keyword);

    for (size_t i = 0; i < COUNT(secrets); i++) {
        if (text_same(canonical, secrets[i])) {
            return true;
        }
    }
    return false;
}

void connstr_init(struct connstr *list)
{
    *list = (struct connstr){ .items = NULL };
}

static void free_item(struct connstr_item *item)
{
    secret_free_string(item->keyword);
    secret_free_string(item->value);
}

void connstr_free(struct connstr *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free_item(&list->items[i]);
    }
    free(list->items);
    connstr_init(list);
}

static struct connstr_item *find(const struct connstr *list,
                                 const char *keyword)
{
    const char *canonical = connstr_canonical(keyword);

    for (size_t i = 0; i < list->count; i++) {
        if (text_same(connstr_canonical(list->items[i].keyword), canonical)) {
            return &list->items[i];
        }
    }
    return NULL;
}

const struct connstr_item *connstr_find(const struct connstr *list,
                                        const char *keyword)
{
    return find(list, keyword);
}

const char *connstr_value(const struct connstr *list, const char *keyword)
{
    const struct connstr_item *item = find(list, keyword);

    return item ? item->value : NULL;
}

/* The array holds pointers only, so that moving it leaves no secret behind. */
static struct connstr_item *append_item(struct connstr *list)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        struct connstr_item *items =
            realloc(list->items, room * sizeof *items);

        if (!items) {
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    return &list->items[list->count++];
}

/* Takes over keyword and value, either of which may be NULL for want of
   memory; they are freed when it fails. */
static bool set_taken(struct connstr *list, char *keyword, char *value,
                      enum connstr_origin origin)
{
    struct connstr_item fresh = { keyword, value, origin };
    struct connstr_item *item = NULL;

    if (keyword && value) {
        item = find(list, keyword);
        if (item) {
            free_item(item);
        } else {
            item = append_item(list);
        }
    }
    if (!item) {
        free_item(&fresh);
        return false;
    }
    *item = fresh;
    return true;
}

bool connstr_set(struct connstr *list, const char *keyword, const char *value,
                 enum connstr_origin origin)
{
    return set_taken(list, strdup(keyword), strdup(value), origin);
}

bool connstr_remove(struct connstr *list, const char *keyword)
{
    struct connstr_item *item = find(list, keyword);
    size_t index;

    if (!item) {
        return false;
    }
    free_item(item);
    index = (size_t)(item - list->items);
    list->count--;
    memmove(item, item + 1, (list->count - index) * sizeof *item);
    return true;
}

/* Reads a braced value; *at is behind the '{' and moves behind the ';'. */
static char *read_braced(const char **at, const char *end)
{
    struct text value;
    const char *p = *at;

    text_init_wiped(&value);
    for (; p < end; p++) {
        if (*p == '}') {
            if (p + 1 == end || p[1] != '}') {
                break;
            }
            p++;
        }
        text_append_char(&value, *p);
    }
    p = p < end ? memchr(p, ';', (size_t)(end - p)) : NULL;
    *at = p ? p + 1 : end;
    return text_take(&value);
}

/* Reads a plain value; *at is at its first character and moves behind ';'. */
static char *read_plain(const char **at, const char *end)
{
    const char *stop = memchr(*at, ';', (size_t)(end - *at));
    char *value;

    if (!stop) {
        stop = end;
    }
    value = strndup(*at, (size_t)(stop - *at));
    *at = stop < end ? stop + 1 : end;
    return value;
}

bool connstr_parse(struct connstr *list, const char *string, size_t length)
{
    const char *at = string;
    const char *end = string + strnlen(string, length);

    while (at < end) {
        const char *keyword = at;
        size_t span;
        char *name, *value;
        enum connstr_origin origin = CONNSTR_PLAIN;

        while (at < end && *at != '=' && *at != ';') {
            at++;
        }
        span = text_trim(&keyword, (size_t)(at - keyword));
        if (at == end || *at == ';') {
            at += at < end;
            continue; /* text without '=' */
        }
        at++;
        if (at < end && *at == '{') {
            at++;
            origin = CONNSTR_BRACED;
            value = read_braced(&at, end);
        } else {
            value = read_plain(&at, end);
        }
        if (span == 0) {
            secret_free_string(value);
            continue; /* a value without a keyword */
        }
        name = strndup(keyword, span);
        if (!set_taken(list, name, value, origin)) {
            return false;
        }
    }
    return true;
}

void connstr_append(struct text *text, const char *keyword, const char *value)
{
    text_append(text, keyword);
    text_append(text, "={");
    for (const char *brace; (brace = strchr(value, '}')); value = brace + 1) {
        text_append_bytes(text, value, (size_t)(brace + 1 - value));
        text_append_char(text, '}');
    }
    text_append(text, value);
    text_append(text, "};");
}

void connstr_append_all(struct text *text, const struct connstr *list)
{
    for (size_t i = 0; i < list->count; i++) {
        connstr_append(text, list->items[i].keyword, list->items[i].value);
    }
}

const char *connstr_shown(const char *keyword, const char *value,
                          char space[64])
{
    size_t length;

    if (connstr_is_secret(keyword) || text_contains(value, "password")
        || text_contains(value, "pwd=")) {
        return "***";
    }
    if (strlen(value) <= SHOWN_MAX) {
        return value;
    }
    length = text_cut(value, SHOWN_MAX);
    memcpy(space, value, length);
    memcpy(space + length, "...", sizeof "...");
    return space;
}
