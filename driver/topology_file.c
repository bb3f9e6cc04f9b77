/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading the map file.  iniparser reads it, but is silent about much that it
 * changes or drops (rules §11.3, tried on 4.1): it folds the case of sections
 * and keys and lets the last of two equal ones win, cuts a value at ; and #,
 * drops what follows a closing quote, gives up at a line of 1,024 characters,
 * does not list a section with a colon, and prints to stderr.  So the lines
 * are looked at first (topology_file_scan.c), and whatever would be lost is
 * refused.  What the keys mean stands here.
 */
#include "autoconf.h"

#include "fleet.h"
#include "text.h"
#include "topology_file.h"
#include "topology_file_ini.h"
#include "topology_file_scan.h"
#include "topology_reply.h"
#include "topology_rows.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGHT_MAX = 1000000, POOL_MAX = 100000 };

/* One key of the file on its way into a section. */
struct reading {
    const char *path;
    const struct topology_entry *entry;
    const char *value;
    struct topology_section *section;
    const char *owned;
    struct why *why;
};

static bool refuse(const struct reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(const struct reading *r, const char *format, ...)
{
    struct why cause;
    va_list arguments;

    va_start(arguments, format);
    why_vset(&cause, WHY_INI, format, arguments);
    va_end(arguments);
    why_set(r->why, WHY_INI, "AffinityMap %s, line %u, [%s] %s: %s", r->path,
            r->entry->line, r->entry->section, r->entry->key, cause.text);
    return false;
}

/* ---- simple values ----------------------------------------------------- */

static bool read_flag(const struct reading *r, bool *flag)
{
    static const char *const words[] = { "no",  "yes", "false", "true",
                                         "off", "on",  "0",     "1" };

    *flag = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (text_same(r->value, words[i])) {
            *flag = i % 2;
            return true;
        }
    }
    return refuse(r, "\"%.60s\" is neither yes nor no", r->value);
}

static bool read_weight(struct reading *r, uint32_t *weight, bool *never)
{
    *never = text_same(r->value, "disabled");
    if (*never) {
        *weight = 0;
        return true;
    }
    if (!text_number(r->value, strlen(r->value), WEIGHT_MAX, weight)) {
        return refuse(r, "\"%.60s\" is no weight: 0 to %u, or disabled",
                      r->value, (unsigned)WEIGHT_MAX);
    }
    return true;
}

static bool take_enabled(struct reading *r)
{
    bool enabled;

    if (!read_flag(r, &enabled)) {
        return false;
    }
    r->section->disabled |= !enabled;
    return true;
}

static bool take_read_only(struct reading *r)
{
    return read_flag(r, &r->section->read_only);
}

static bool take_group(struct reading *r)
{
    if (!*r->value) {
        return refuse(r, "a group must have a name");
    }
    free(r->section->group);
    r->section->group = strdup(r->value);
    if (!r->section->group) {
        why_memory(r->why);
    }
    return r->section->group != NULL;
}

static bool take_pool_max(struct reading *r)
{
    if (!text_number(r->value, strlen(r->value), POOL_MAX,
                     &r->section->pool_max) ||
        r->section->pool_max == 0) {
        return refuse(r, "\"%.60s\" is no number from 1 to %u", r->value,
                      (unsigned)POOL_MAX);
    }
    return true;
}

/* Entries are sorted: weight.connect comes after weight, and wins. */
static bool take_weight(struct reading *r)
{
    return read_weight(r, &r->section->weight, &r->section->never);
}

/* Weights of operation classes that no unit of this version has. */
static bool take_weight_later(struct reading *r)
{
    uint32_t weight;
    bool never;

    return read_weight(r, &weight, &never);
}

/* ---- ownership --------------------------------------------------------- */

/* Reads an item up to a comma or, if `range`, to two dots: quoted as in an
   AffinityKey, or plain.  Moves *at behind it.  False: a quote is not closed,
   or something follows it. */
static bool read_item(const char **at, bool range, struct text *item,
                      bool *quoted)
{
    const char *p = *at, *begin;
    size_t length;

    text_clear(item);
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    *quoted = *p == '"';
    if (*quoted) {
        for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
            text_append_char(item, *p);
            p += *p == '"';
        }
        if (*p++ != '"') {
            return false;
        }
        while (*p == ' ' || *p == '\t') {
            p++;
        }
        *at = p;
        return !*p || *p == ',' || (range && p[0] == '.' && p[1] == '.');
    }
    begin = p;
    while (*p && *p != ',' && !(range && p[0] == '.' && p[1] == '.')) {
        p++;
    }
    *at = p;
    length = text_trim(&begin, (size_t)(p - begin));
    text_append_bytes(item, begin, length);
    return memchr(begin, '"', length) == NULL;
}

static bool add_row(struct reading *r, const struct topology_row_in *row)
{
    struct why cause = { 0 };

    if (*r->owned) {
        return refuse(r, "who owns what is said by %s; only one of the two "
                      "can be", r->owned);
    }
    if (!r->section->reply) {
        r->section->reply = topology_reply_new();
    }
    if (!r->section->reply) {
        why_memory(r->why);
        return false;
    }
    if (!topology_rows_add(r->section->reply, row, &cause)) {
        return cause.code == WHY_VALUE ? refuse(r, "%s", cause.text)
                                       : (*r->why = cause, false);
    }
    return true;
}

static bool read_range(struct reading *r, const char **at, struct text *low,
                       struct text *high)
{
    struct topology_row_in row = { .kind = 'r' };
    bool quoted_low, quoted_high;

    if (!read_item(at, true, low, &quoted_low)) {
        return refuse(r, "a quote that is not closed, or text behind one");
    }
    if ((*at)[0] != '.' || (*at)[1] != '.') {
        return refuse(r, "a range is written low..high, the high end not "
                      "included; an open end is empty");
    }
    *at += 2;
    if (!read_item(at, true, high, &quoted_high) || **at == '.') {
        return refuse(r, "a range is written low..high; values with .. or , "
                      "in them are put into \"quotes\"");
    }
    if ((quoted_low && !low->length) || (quoted_high && !high->length)) {
        return refuse(r, "\"\" is no end of a range; an open end is empty");
    }
    row.low = text_string(low);
    row.high = text_string(high);
    return add_row(r, &row);
}

static bool read_value(struct reading *r, const char **at, struct text *item,
                       struct text *unused)
{
    struct topology_row_in row = { .kind = 'l' };
    bool quoted;

    (void)unused;
    if (!read_item(at, false, item, &quoted)) {
        return refuse(r, "a quote that is not closed, or text behind one");
    }
    if (!quoted && !item->length) {
        return refuse(r, "a value is missing; an empty text is written \"\"");
    }
    if (quoted || !text_same(text_string(item), "NULL")) {
        row.low = text_string(item);
    }
    return add_row(r, &row);
}

static bool read_hash(struct reading *r, const char **at, struct text *item,
                      struct text *unused)
{
    struct topology_row_in row = { .kind = 'h' };
    const char *text, *slash;
    bool quoted;

    (void)unused;
    if (!read_item(at, false, item, &quoted)) {
        return refuse(r, "remainder/modulus needs no quotes");
    }
    text = text_string(item);
    slash = strchr(text, '/');
    if (!slash ||
        !text_number(text, (size_t)(slash - text), INT32_MAX,
                     &row.remainder) ||
        !text_number(slash + 1, strlen(slash + 1), INT32_MAX,
                     &row.modulus) || row.modulus == 0) {
        return refuse(r, "\"%.60s\" is not remainder/modulus", text);
    }
    return add_row(r, &row);
}

static bool read_list(struct reading *r,
                      bool (*read)(struct reading *r, const char **at,
                                   struct text *a, struct text *b))
{
    const char *at = r->value;
    struct text a = { 0 }, b = { 0 };
    bool ok = true, more = true;

    while (ok && more) {
        ok = read(r, &at, &a, &b);
        more = *at == ',';
        at += more;
    }
    if (ok && (a.failed || b.failed)) {
        why_memory(r->why);
        ok = false;
    }
    text_free(&a);
    text_free(&b);
    return ok;
}

static bool take_range(struct reading *r)
{
    return read_list(r, read_range);
}

static bool take_list(struct reading *r)
{
    return read_list(r, read_value);
}

static bool take_hash(struct reading *r)
{
    return read_list(r, read_hash);
}

static bool take_default(struct reading *r)
{
    struct topology_row_in row = { .kind = 'd' };
    bool yes;

    return read_flag(r, &yes) && (!yes || add_row(r, &row));
}

/* ---- keys -------------------------------------------------------------- */

static const struct key {
    const char *name;
    bool numbered; /* name.1, name.2, … as well */
    bool (*take)(struct reading *r);
} keys[] = {
    { "range", true, take_range },
    { "list", true, take_list },
    { "hash", true, take_hash },
    { "default", false, take_default },
    { "weight", false, take_weight },
    { "weight.connect", false, take_weight },
    { "weight.select", false, take_weight_later },
    { "weight.insert", false, take_weight_later },
    { "weight.update", false, take_weight_later },
    { "weight.delete", false, take_weight_later },
    { "weight.other", false, take_weight_later },
    { "enabled", false, take_enabled },
    { "readonly", false, take_read_only },
    { "group", false, take_group },
    { "poolmax", false, take_pool_max },
};

static bool is_key(const struct key *key, const char *name)
{
    size_t length = strlen(key->name);
    uint32_t number;

    if (text_same(name, key->name)) {
        return true;
    }
    return key->numbered && strlen(name) > length &&
           text_same_bytes(name, length, key->name) && name[length] == '.' &&
           text_number(name + length + 1, strlen(name + length + 1),
                       UINT32_MAX, &number);
}

static bool take_entry(struct reading *r)
{
    const char *nearest = NULL;
    unsigned least = 4;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        unsigned distance = text_distance(r->entry->key, keys[i].name);
        if (is_key(&keys[i], r->entry->key)) {
            return keys[i].take(r);
        }
        if (distance < least) {
            least = distance;
            nearest = keys[i].name;
        }
    }
    return nearest ? refuse(r, "no such key; is it %s?", nearest)
                   : refuse(r, "no such key");
}

/* ---- the whole file ---------------------------------------------------- */

static bool take_entries(struct topology_file *file, const char *path,
                         const struct topology_scan *scan,
                         const struct topology_ini *ini, const char *owned,
                         struct why *why)
{
    struct reading r = { .path = path, .owned = owned, .why = why };
    struct text name = { 0 };
    bool ok = true;

    for (size_t i = 0; ok && i < scan->count; i++) {
        const struct topology_entry *entry = &scan->entries[i];
        r.entry = entry;
        r.section = &file->sections[entry->instance];
        text_clear(&name);
        text_appendf(&name, "%s:%s", entry->section, entry->key);
        r.value = topology_ini_value(ini, text_string(&name));
        ok = r.value ? take_entry(&r)
                     : refuse(&r, "iniparser does not give its value");
    }
    text_free(&name);
    return ok;
}

/* Only one of the instances that share a `group` needs to say what the group
   owns, and all of them may say the same. */
static bool same_group(const void *arg, uint32_t a, uint32_t b)
{
    const struct topology_file *file = arg;
    const char *group = file->sections[a].group;

    return *group && text_same(group, file->sections[b].group);
}

static bool check_default(const struct topology_file *file,
                          const struct fleet *fleet, const char *path,
                          struct why *why)
{
    int64_t first = -1;

    for (uint32_t i = 0; i < file->count; i++) {
        if (!file->sections[i].reply || !file->sections[i].reply->otherwise) {
            continue;
        }
        if (first >= 0 && !same_group(file, (uint32_t)first, i)) {
            why_set(why, WHY_INI, "AffinityMap %s: both [%s] and [%s] say "
                    "default", path, fleet->instances[first].name,
                    fleet->instances[i].name);
            return false;
        }
        first = i;
    }
    return true;
}

static bool check_rows(struct topology_file *file, const struct fleet *fleet,
                       const char *path, struct why *why)
{
    struct topology_reply **replies =
        calloc(file->count + 1, sizeof *replies);
    struct topology_rows_checked rows = {
        .replies = replies, .count = file->count, .whole = true,
        .same = same_group, .arg = file,
    };
    struct why cause = { 0 };
    uint32_t a, b;
    bool ok;

    for (uint32_t i = 0; replies && i < file->count; i++) {
        replies[i] = file->sections[i].reply;
        file->owns |= replies[i] != NULL;
    }
    ok = replies && topology_rows_check(&rows, &a, &b, &cause);
    if (!replies) {
        why_memory(why);
    } else if (!ok && cause.code != WHY_VALUE) {
        *why = cause;
    } else if (!ok && a == b) {
        why_set(why, WHY_INI, "AffinityMap %s, [%s]: %s", path,
                fleet->instances[a].name, cause.text);
    } else if (!ok) {
        why_set(why, WHY_INI, "AffinityMap %s, [%s] and [%s]: %s", path,
                fleet->instances[a].name, fleet->instances[b].name,
                cause.text);
    }
    for (uint32_t i = 0; ok && i < file->count; i++) {
        if (replies[i] && !topology_reply_settle(replies[i])) {
            why_memory(why);
            ok = false;
        }
    }
    free(replies);
    return ok && check_default(file, fleet, path, why);
}

static struct topology_file *new_file(uint32_t count, struct why *why)
{
    struct topology_file *file = calloc(1, sizeof *file);
    bool ok = file != NULL;

    if (ok) {
        file->sections = calloc(count + 1, sizeof *file->sections);
        file->count = file->sections ? count : 0;
        ok = file->sections != NULL;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        file->sections[i].weight = 1;
        file->sections[i].group = strdup("");
        ok = file->sections[i].group != NULL;
    }
    if (!ok) {
        topology_file_free(file);
        why_memory(why);
        return NULL;
    }
    return file;
}

struct topology_file *topology_file_read(const char *path,
                                         const struct fleet *fleet,
                                         const char *owned, struct why *why)
{
    struct topology_file *file = NULL;
    struct topology_scan scan = { 0 };
    struct topology_ini *ini = NULL;
    bool ok = topology_scan_read(path, fleet, &scan, why);

    if (ok) {
        file = new_file(fleet->count, why);
        ini = file ? topology_ini_load(
                         scan.copy < 0 ? path : scan.copy_path, path, why)
                   : NULL;
        ok = ini != NULL;
    }
    ok = ok && take_entries(file, path, &scan, ini, owned, why) &&
         check_rows(file, fleet, path, why);
    topology_ini_free(ini);
    topology_scan_free(&scan);
    if (!ok) {
        topology_file_free(file);
        return NULL;
    }
    return file;
}

void topology_file_free(struct topology_file *file)
{
    if (!file) {
        return;
    }
    for (uint32_t i = 0; i < file->count; i++) {
        free(file->sections[i].group);
        topology_reply_release(file->sections[i].reply);
    }
    free(file->sections);
    free(file);
}
