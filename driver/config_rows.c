/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The table of keywords and everything done row by row: checking and storing
 * a value, printing it, copying and freeing a struct.  What a value means
 * together with others is in config.c.
 */
#include "autoconf.h"

#include "config_rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "secret.h"

#define WORD(constant, word, when) { word, CONFIG_##when },
#define WORDS(set) \
    static const struct config_word words_##set[] = { \
        CONFIG_WORDS_##set(WORD) { NULL, CONFIG_READY } \
    };
CONFIG_SETS(WORDS)
#undef WORDS
#undef WORD
#define words_none NULL

#define ROW(part, kind, field, keyword, otherwise, low, high, set, when) \
    { keyword, CONFIG_KIND_##kind, sizeof #part == sizeof "fleet", \
      offsetof(struct config_##part, field), otherwise, low, high, \
      words_##set, CONFIG_##when },

const struct config_row config_rows[] = {
#define CONFIG_FLEET(kind, field, keyword, otherwise, low, high, set, when, \
                     help) \
    ROW(fleet, kind, field, keyword, otherwise, low, high, set, when)
#define CONFIG_SESSION(kind, field, keyword, otherwise, low, high, set, when, \
                       help) \
    ROW(session, kind, field, keyword, otherwise, low, high, set, when)
#include "config.def"
};

const size_t config_row_count = sizeof config_rows / sizeof *config_rows;

#define WORD_FUNCTION(set) \
    const char *config_word_##set(enum config_##set value) \
    { \
        return (size_t)value + 1 < sizeof words_##set / sizeof *words_##set \
            ? words_##set[value].word : "?"; \
    }
CONFIG_SETS(WORD_FUNCTION)
#undef WORD_FUNCTION

/* The rows by their keywords' first letters, of which 0x1f is left: rows[] has
   one more than the row's place, next[] leads to those that share it. */
static struct {
    uint8_t rows[32];
    uint8_t next[sizeof config_rows / sizeof *config_rows];
} by_letter;

__attribute__((constructor)) static void make_index(void)
{
    for (size_t i = config_row_count; i-- > 0;) {
        uint8_t *first = &by_letter.rows[config_rows[i].keyword[0] & 0x1f];

        by_letter.next[i] = *first;
        *first = (uint8_t)(i + 1);
    }
}

_Static_assert(sizeof config_rows / sizeof *config_rows < UINT8_MAX,
               "the places of rows fit into the index");

const struct config_row *config_row(const char *keyword)
{
    unsigned i = by_letter.rows[keyword[0] & 0x1f];

    for (; i > 0; i = by_letter.next[i - 1]) {
        if (text_same(config_rows[i - 1].keyword, keyword)) {
            return &config_rows[i - 1];
        }
    }
    return NULL;
}

static bool parse_number(const char *digits, uint32_t *number)
{
    return text_number(digits, strlen(digits), UINT32_MAX, number);
}

const struct config_row *config_row_part(const char *keyword, unsigned *part)
{
    const struct config_row *row = config_row(keyword);
    const char *dot = strrchr(keyword, '.');
    uint32_t number;

    *part = 0;
    if (row || !dot || !parse_number(dot + 1, &number) || number == 0) {
        return row;
    }
    *part = number;
    for (size_t i = 0; i < config_row_count; i++) {
        row = &config_rows[i];
        if ((row->kind == CONFIG_KIND_LIST || row->kind == CONFIG_KIND_SQL)
            && text_same_bytes(keyword, (size_t)(dot - keyword),
                               row->keyword)) {
            return row;
        }
    }
    return NULL;
}

static void *field_of(struct config_fleet *fleet,
                      struct config_session *session,
                      const struct config_row *row)
{
    return row->fleet ? (char *)fleet + row->offset
                      : (char *)session + row->offset;
}

static const void *field_in(const struct config_fleet *fleet,
                            const struct config_session *session,
                            const struct config_row *row)
{
    return row->fleet ? (const char *)fleet + row->offset
                      : (const char *)session + row->offset;
}

static bool is_text(const struct config_row *row)
{
    return row->kind <= CONFIG_KIND_SECRET;
}

/* ---- what is allowed ---- */

static void append_words(struct text *text, const struct config_row *row)
{
    const char *between = "";

    for (const struct config_word *w = row->words; w->word; w++) {
        if (w->when == CONFIG_READY) {
            text_appendf(text, "%s%s", between, w->word);
            between = ", ";
        }
    }
}

bool config_row_is_ready(const struct config_row *row)
{
    unsigned ready = 0;

    if (row->kind != CONFIG_KIND_ENUM) {
        return row->when == CONFIG_READY;
    }
    for (const struct config_word *w = row->words; w->word; w++) {
        ready += w->when == CONFIG_READY;
    }
    return ready > 1;
}

static bool refuse(struct why *why, enum why_code code,
                   const struct config_row *row, const char *value)
{
    struct text allowed;
    char space[64];

    text_init(&allowed);
    if (is_text(row)) {
        text_append(&allowed, "nothing yet");
    } else if (row->kind == CONFIG_KIND_ENUM) {
        append_words(&allowed, row);
    } else if (row->when == CONFIG_LATER) {
        text_append(&allowed, row->otherwise);
    } else {
        text_appendf(&allowed, "a whole number%s from %lu to %lu, without a "
                     "unit", row->kind == CONFIG_KIND_MS
                     ? " of milliseconds" : "",
                     (unsigned long)row->low, (unsigned long)row->high);
    }
    why_set(why, code, "%s=%s: %s; allowed: %s", row->keyword,
            connstr_shown(row->keyword, value, space),
            code == WHY_UNAVAILABLE ? "not available in this version"
                                    : "not a value of this keyword",
            text_string(&allowed));
    text_free(&allowed);
    return false;
}

static bool check_word(const struct config_row *row, const char *value,
                       uint32_t *number, struct why *why)
{
    for (uint32_t i = 0; row->words[i].word; i++) {
        if (text_same(row->words[i].word, value)) {
            *number = i;
            return row->words[i].when == CONFIG_READY
                || refuse(why, WHY_UNAVAILABLE, row, value);
        }
    }
    return refuse(why, WHY_VALUE, row, value);
}

static bool check_number(const struct config_row *row, const char *value,
                         uint32_t *number, struct why *why)
{
    uint32_t only;

    if (!parse_number(value, number) || *number < row->low
        || *number > row->high) {
        return refuse(why, WHY_VALUE, row, value);
    }
    if (row->when == CONFIG_LATER
        && !(parse_number(row->otherwise, &only) && *number == only)) {
        return refuse(why, WHY_UNAVAILABLE, row, value);
    }
    return true;
}

/* ---- one value ---- */

/* A default is the row's own text, not a copy of it. */
static void free_text(const struct config_row *row, char **field)
{
    if (*field == row->otherwise) {
        *field = NULL;
    } else if (row->kind == CONFIG_KIND_SECRET) {
        secret_free(*field);
    } else {
        free(*field);
    }
    *field = NULL;
}

/* NULL: out of memory. */
static char *copy_text(const struct config_row *row, const char *value)
{
    if (value == row->otherwise) {
        return (char *)(uintptr_t)value;
    }
    return row->kind == CONFIG_KIND_SECRET
               ? (char *)(uintptr_t)secret_dup(value, strlen(value))
               : strdup(value);
}

static bool store_text(const struct config_row *row, char **field,
                       const char *value, struct why *why)
{
    char *copy;

    if (row->when == CONFIG_LATER && *value) {
        return refuse(why, WHY_UNAVAILABLE, row, value);
    }
    copy = copy_text(row, value);
    if (!copy) {
        why_memory(why);
        return false;
    }
    free_text(row, field);
    *field = copy;
    return true;
}

/* The value without blanks around it, for the caller to free; a key keeps
   them, since they may be part of it. */
static char *trimmed(const struct config_row *row, const char *value)
{
    const char *start = value;
    size_t length = text_trim(&start, strlen(value));

    if (!row->fleet
        && row->offset == offsetof(struct config_session, key)) {
        return strdup(value);
    }
    return strndup(start, length);
}

/* Reads a number or word into the row's field. */
static bool store_number(struct config_fleet *fleet,
                         struct config_session *session,
                         const struct config_row *row, const char *value,
                         struct why *why)
{
    uint32_t number = 0;

    if (row->kind == CONFIG_KIND_ENUM
        ? !check_word(row, value, &number, why)
        : !check_number(row, value, &number, why)) {
        return false;
    }
    memcpy(field_of(fleet, session, row), &number, sizeof number);
    return true;
}

/* Numbers and words by default, read once and not for each session. */
static struct {
    struct config_fleet fleet;
    struct config_session session;
} defaults;

__attribute__((constructor)) static void read_defaults(void)
{
    for (size_t i = 0; i < config_row_count; i++) {
        const struct config_row *row = &config_rows[i];

        if (!is_text(row)) {
            store_number(&defaults.fleet, &defaults.session, row,
                         row->otherwise, NULL);
        }
    }
}

static void store_default(struct config *config, const struct config_row *row)
{
    void *field = field_of(&config->fleet, &config->session, row);

    if (is_text(row)) {
        free_text(row, field);
        *(char **)field = (char *)(uintptr_t)row->otherwise;
        return;
    }
    memcpy(field, field_in(&defaults.fleet, &defaults.session, row),
           sizeof(uint32_t));
}

bool config_store(struct config *config, const struct config_row *row,
                  const char *value, struct why *why)
{
    char *clean;
    bool done;

    if (!*value) {
        store_default(config, row);
        return true;
    }
    clean = trimmed(row, value);
    if (!clean) {
        why_memory(why);
        return false;
    }
    done = true;
    if (!*clean) {
        store_default(config, row);
    } else if (is_text(row)) {
        done = store_text(row, field_of(&config->fleet, &config->session, row),
                          clean, why);
    } else {
        done = store_number(&config->fleet, &config->session, row, clean, why);
    }
    secret_free_string(clean);
    return done;
}

_Static_assert(sizeof(enum config_mode) == sizeof(uint32_t),
               "enums are stored as 32 bits");

void config_append_value(const struct config_fleet *fleet,
                         const struct config_session *session,
                         const struct config_row *row, struct text *text)
{
    const void *field = field_in(fleet, session, row);
    uint32_t number;

    if (is_text(row)) {
        text_append(text, *(char *const *)field);
        return;
    }
    memcpy(&number, field, sizeof number);
    if (row->kind == CONFIG_KIND_ENUM) {
        text_append(text, row->words[number].word);
    } else {
        text_append_number(text, number);
    }
}

/* ---- whole structs ---- */

void config_free_fleet(struct config_fleet *fleet)
{
    for (size_t i = 0; i < config_row_count; i++) {
        const struct config_row *row = &config_rows[i];

        if (row->fleet && is_text(row)) {
            free_text(row, field_of(fleet, NULL, row));
        }
    }
    config_free_instances(fleet);
}

static bool copy_instances(struct config_fleet *to,
                           const struct config_fleet *from)
{
    to->list = calloc(from->list_count + 1, sizeof *to->list);
    if (!to->list) {
        return false;
    }
    for (size_t i = 0; i < from->list_count; i++) {
        const struct config_instance *source = &from->list[i];
        struct config_instance *copy = &to->list[to->list_count++];

        copy->name = strdup(source->name);
        copy->host = source->host ? strdup(source->host) : NULL;
        copy->port = source->port;
        if (!copy->name || (source->host && !copy->host)) {
            return false;
        }
    }
    return true;
}

bool config_copy_fleet(struct config_fleet *to,
                       const struct config_fleet *from)
{
    bool done = true;

    *to = *from;
    to->list = NULL;
    to->list_count = 0;
    for (size_t i = 0; i < config_row_count; i++) {
        const struct config_row *row = &config_rows[i];

        if (row->fleet && is_text(row)) {
            char **field = field_of(to, NULL, row);

            *field = copy_text(row, *field);
            done = done && *field;
        }
    }
    if (!done || !copy_instances(to, from)) {
        config_free_fleet(to);
        return false;
    }
    return true;
}

static bool same_instances(const struct config_fleet *a,
                           const struct config_fleet *b)
{
    if (a->list_count != b->list_count) {
        return false;
    }
    for (size_t i = 0; i < a->list_count; i++) {
        const struct config_instance *x = &a->list[i], *y = &b->list[i];

        if (x->port != y->port || !x->host != !y->host ||
            strcmp(x->name, y->name) != 0 ||
            (x->host && strcmp(x->host, y->host) != 0)) {
            return false;
        }
    }
    return true;
}

bool config_same_fleet(const struct config_fleet *a,
                       const struct config_fleet *b)
{
    for (size_t i = 0; i < config_row_count; i++) {
        const struct config_row *row = &config_rows[i];
        const void *x, *y;

        if (!row->fleet || row->kind == CONFIG_KIND_LIST) {
            continue;
        }
        x = field_in(a, NULL, row);
        y = field_in(b, NULL, row);
        if (is_text(row) ? strcmp(*(char *const *)x, *(char *const *)y) != 0
                         : memcmp(x, y, sizeof(uint32_t)) != 0) {
            return false;
        }
    }
    return same_instances(a, b);
}

void config_forget_login(struct config *config)
{
    connstr_free(&config->passed);
    connstr_free(&config->input);
}

void config_free(struct config *config)
{
    config_free_fleet(&config->fleet);
    for (size_t i = 0; i < config_row_count; i++) {
        const struct config_row *row = &config_rows[i];

        if (!row->fleet && is_text(row)) {
            free_text(row, field_of(NULL, &config->session, row));
        }
    }
    config_forget_login(config);
    free(config->dsn);
    free(config->driver);
    for (size_t i = 0; i < config->warning_count; i++) {
        free(config->warnings[i]);
    }
    free(config->warnings);
    memset(config, 0, sizeof *config);
}
