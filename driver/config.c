/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reading a configuration: the three layers (our section of odbcinst.ini, the
 * DSN's section of odbc.ini, the connection string) are sorted into our own
 * keywords, those to hand down and those of the manager, the later layer
 * winning; only then are our values checked, each once, and what they mean
 * together.
 *
 * The rows themselves are in config_rows.c, the texts made of a configuration
 * in config_text.c.
 */
#include "autoconf.h"

#include "config_rows.h"

#include <stdlib.h>
#include <string.h>

#include "inifile.h"
#include "secret.h"

enum { PARTS_MAX = 1000 };

/* ---- keywords that are not ours ---- */

/* The manager's and the installer's: never handed down (rules §11.1). */
static bool is_managers(const char *keyword)
{
    static const char *const whole[] = {
        "DSN", "FILEDSN", "SAVEFILE", "Driver", "Driver64", "Setup",
        "Setup64", "Description", "Threading", "UsageCount", "FileUsage",
        "DontDLClose", "Pooling", "PoolMaxSize", "PoolWaitTimeout",
        "IconvEncoding", "FakeUnicode", "DisableGetFunctions", "APILevel",
        "ConnectFunctions", "DriverODBCVer", "FileExtns", "SQLLevel",
    };
    static const char *const starts[] = { "Trace", "CP" };
    size_t length = strlen(keyword);

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        if (text_same(keyword, whole[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (text_starts(keyword, starts[i])) {
            return true;
        }
    }
    return text_starts(keyword, "DM") && length > 6
        && text_same(keyword + length - 4, "Attr");
}

/* A word that can only be meant for us, and so is a slip of the pen. */
static bool looks_like_ours(const char *keyword)
{
    return text_starts(keyword, "Affinity")
        || text_starts(keyword, "ClientAffinity")
        || text_starts(keyword, "Pool") || text_starts(keyword, "Monitor");
}

static bool add_warning(struct config *config, struct text *sentence)
{
    char **warnings = realloc(config->warnings, (config->warning_count + 1)
                              * sizeof *warnings);
    char *taken = text_take(sentence);

    if (warnings) {
        config->warnings = warnings;
    }
    if (!warnings || !taken) {
        free(taken);
        return false;
    }
    warnings[config->warning_count++] = taken;
    return true;
}

/* One warning about an unknown keyword, with the nearest of this version's. */
static bool warn_unknown(struct config *config, const char *keyword)
{
    const struct config_row *nearest = NULL;
    unsigned least = 4; /* more edits than that are no slip */
    struct text sentence;

    for (size_t i = 0; i < config_row_count; i++) {
        unsigned edits = text_distance(keyword, config_rows[i].keyword);

        if (edits < least && config_row_is_ready(&config_rows[i])) {
            least = edits;
            nearest = &config_rows[i];
        }
    }
    text_init(&sentence);
    text_appendf(&sentence, "unknown keyword %.60s", keyword);
    if (nearest) {
        text_appendf(&sentence, ": did you mean %s?", nearest->keyword);
    }
    return add_warning(config, &sentence);
}

/* ---- layers ---- */

/* The value of one part of a row in a layer, "" if it has none. */
static const char *part_value(const struct connstr *layer,
                              const struct config_row *row, unsigned wanted)
{
    for (size_t i = 0; i < layer->count; i++) {
        unsigned part;

        if (config_row_part(layer->items[i].keyword, &part) == row
            && part == wanted) {
            return layer->items[i].value;
        }
    }
    return "";
}

/* Takes "Keyword", "Keyword.1", "Keyword.2", … of one layer together.  A list
   is joined by commas (one at the end or start of a part does no harm), SQL
   by blanks, because ini values lose theirs.  False: why. */
static bool join_parts(const struct connstr *layer,
                       const struct config_row *row, struct text *joined,
                       struct why *why)
{
    bool list = row->kind == CONFIG_KIND_LIST;
    unsigned found = 0, last = 0;

    for (size_t i = 0; i < layer->count; i++) {
        unsigned part;

        if (config_row_part(layer->items[i].keyword, &part) == row && part) {
            found++;
            last = part > last ? part : last;
        }
    }
    if (last > PARTS_MAX || found != last) {
        why_set(why, WHY_VALUE, "%s.%u is there, but not every %s.N from 1 "
                "on: the parts of a value count from 1 without a gap",
                row->keyword, last, row->keyword);
        return false;
    }
    for (unsigned part = 0; part <= last; part++) {
        const char *value = part_value(layer, row, part);
        size_t length = text_trim(&value, strlen(value));

        if (list && length > 0 && *value == ',' && joined->length > 0) {
            value++;
            length--;
        }
        if (list && part < last && length > 0 && value[length - 1] == ',') {
            length--;
        }
        if (length > 0 && joined->length > 0) {
            text_append_char(joined, list ? ',' : ' ');
        }
        text_append_bytes(joined, value, length);
    }
    return true;
}

/* What the layers say of our own rows, by the row's place in config_rows: the
   last one's value, NULL if none has one.  Wiped when freed. */
static void free_own(char **own)
{
    for (size_t i = 0; own && i < config_row_count; i++) {
        secret_free_string(own[i]);
    }
    free(own);
}

/* Notes what a layer says of one of our rows. */
static bool take_own(char **own, const struct connstr *layer,
                     const struct config_row *row,
                     const struct connstr_item *item, struct why *why)
{
    char **place = &own[row - config_rows];
    struct text joined;
    char *value;

    if (row->kind != CONFIG_KIND_LIST && row->kind != CONFIG_KIND_SQL) {
        value = strdup(item->value);
    } else {
        text_init(&joined);
        if (!join_parts(layer, row, &joined, why)) {
            text_free(&joined);
            return false;
        }
        value = text_take(&joined);
    }
    if (!value) {
        why_memory(why);
        return false;
    }
    secret_free_string(*place);
    *place = value;
    return true;
}

/* Sorts the keywords of one layer over those of the layers before it. */
static bool add_layer(struct config *config, char **own,
                      const struct connstr *layer, struct why *why)
{
    for (size_t i = 0; i < layer->count; i++) {
        const struct connstr_item *item = &layer->items[i];
        unsigned part;
        const struct config_row *row = config_row_part(item->keyword, &part);

        if (row) {
            if (!take_own(own, layer, row, item, why)) {
                return false;
            }
        } else if (!is_managers(item->keyword)) {
            if ((looks_like_ours(item->keyword)
                 && !warn_unknown(config, item->keyword))
                || !connstr_set(&config->passed, item->keyword, item->value,
                                item->origin)) {
                why_memory(why);
                return false;
            }
        }
    }
    return true;
}

/* The layer borrows the section's texts, which nobody changes. */
static bool add_section(struct config *config, char **own,
                        const struct inifile_section *section,
                        struct why *why)
{
    struct connstr layer = { .count = section->count };
    bool done;

    layer.items = calloc(section->count + 1, sizeof *layer.items);
    if (!layer.items) {
        why_memory(why);
        return false;
    }
    for (size_t i = 0; i < section->count; i++) {
        const struct inifile_entry *entry = &section->entries[i];

        layer.items[i] = (struct connstr_item){
            (char *)(uintptr_t)entry->keyword,
            (char *)(uintptr_t)entry->value, CONNSTR_INI };
    }
    done = add_layer(config, own, &layer, why);
    free(layer.items);
    return done;
}

/* Our section of odbcinst.ini: the one the DSN or the string names, or, where
   a library is named by its path, the one it is registered under.  It is no
   error to have none: unixODBC needs no section for a path. */
static bool add_driver_section(struct config *config, char **own,
                               const char *driver, struct why *why)
{
    const struct inifile_section *section;
    struct why none = { .code = WHY_NONE };
    const char *name = driver;
    bool done;

    if (strchr(driver, '/')) {
        const char *base = strrchr(driver, '/');

        name = text_contains(base, "affinitya.") ? "Affinity ANSI"
                                                  : "Affinity";
    }
    section = inifile_section(name, INIFILE_DRIVER, &none);
    if (!section) {
        config->driver = strdup("");
        if (none.code == WHY_DSN && config->driver) {
            return true;
        }
        if (!config->driver) {
            why_memory(why);
        } else {
            why_set(why, none.code, "%s", none.text);
        }
        return false;
    }
    config->driver = strdup(name);
    done = config->driver != NULL;
    if (!done) {
        why_memory(why);
    } else {
        done = add_section(config, own, section, why);
    }
    inifile_release(section);
    return done;
}

/* Both ini layers.  driver is what a string with DRIVER= says, else NULL. */
static bool add_ini_layers(struct config *config, char **own,
                           const char *driver, struct why *why)
{
    const struct inifile_section *dsn = NULL;
    bool done;

    if (!driver) {
        dsn = inifile_section(config->dsn, INIFILE_DSN, why);
        if (!dsn) {
            return false;
        }
        driver = inifile_value(dsn, "Driver64");
        driver = driver ? driver : inifile_value(dsn, "Driver");
    }
    done = add_driver_section(config, own, driver ? driver : "Affinity", why)
        && (!dsn || add_section(config, own, dsn, why));
    inifile_release(dsn);
    return done;
}

/* ---- what the values mean together ---- */

static bool store_all(struct config *config, char *const *own,
                      struct why *why)
{
    for (size_t i = 0; i < config_row_count; i++) {
        if (!config_store(config, &config_rows[i], own[i] ? own[i] : "",
                          why)) {
            return false;
        }
    }
    return true;
}

/* psqlODBC's own switch: it then refuses writes itself. */
static void obey_read_only(struct config *config)
{
    const char *value = connstr_value(&config->passed, "ReadOnly");

    if (value && (strtol(value, NULL, 10) != 0 || text_same(value, "yes")
                  || text_same(value, "true") || text_same(value, "on"))) {
        config->session.access = CONFIG_READ_ONLY;
    }
}

void config_refuse_place(const struct config *config,
                         const struct connstr_item *item, struct why *why)
{
    char space[64];

    why_set(why, WHY_VALUE, "%s=%s: not allowed beside Instances, all of "
            "which would become the same one; %s", item->keyword,
            connstr_shown(item->keyword, item->value, space),
            *config->fleet.inner_driver
            ? "write host:port in Instances"
            : "it belongs into each instance's own DSN");
}

/* A host beside the instances would make all of them the same one. */
static bool check_addresses(const struct config *config, struct why *why)
{
    static const char *const words[] = { "Server", "Port" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct connstr_item *item = connstr_find(&config->passed,
                                                       words[i]);

        if (item) {
            config_refuse_place(config, item, why);
            return false;
        }
    }
    return true;
}

/* What is to be opened must not be more than may be. */
static bool check_size(const struct config *config, const char *keyword,
                       uint32_t size, struct why *why)
{
    if (size > config->fleet.pool_max) {
        why_set(why, WHY_VALUE, "%s=%u is more than PoolMax=%u", keyword, size,
                config->fleet.pool_max);
        return false;
    }
    return true;
}

static bool check_together(struct config *config, struct why *why)
{
    if (!check_size(config, "PoolMin", config->fleet.pool_min, why) ||
        !check_size(config, "PoolInitial", config->fleet.pool_initial, why)) {
        return false;
    }
    if (*config->fleet.table && *config->fleet.query) {
        why_set(why, WHY_VALUE, "AffinityTable and AffinityQuery are both "
                "given: ownership is learnt from one of them");
        return false;
    }
    obey_read_only(config);
    return check_addresses(config, why)
        && config_parse_instances(&config->fleet, config->dsn, why);
}

/* ---- the two ways in ---- */

/* Everything after dsn and input are set. */
static bool finish(struct config *config, const char *driver, struct why *why)
{
    char **own = calloc(config_row_count, sizeof *own);
    bool done;

    if (!own) {
        why_memory(why);
    }
    done = own && add_ini_layers(config, own, driver, why)
        && add_layer(config, own, &config->input, why)
        && store_all(config, own, why)
        && check_together(config, why);
    free_own(own);
    if (!done) {
        config_free(config);
    }
    return done;
}

static const char *or_default(const char *dsn)
{
    return dsn && *dsn ? dsn : "DEFAULT";
}

static bool start_failed(struct config *config, struct why *why)
{
    why_memory(why);
    config_free(config);
    return false;
}

bool config_read_connect(struct config *config, const char *dsn,
                         const char *uid, const char *pwd, struct why *why)
{
    struct connstr *input = &config->input;

    memset(config, 0, sizeof *config);
    config->dsn = strdup(or_default(dsn));
    if (!config->dsn
        || !connstr_set(input, "DSN", config->dsn, CONNSTR_ARGUMENT)
        || (uid && *uid && !connstr_set(input, "UID", uid, CONNSTR_ARGUMENT))
        || (pwd && *pwd
            && !connstr_set(input, "PWD", pwd, CONNSTR_ARGUMENT))) {
        return start_failed(config, why);
    }
    return finish(config, NULL, why);
}

/* The first of DSN and DRIVER decides; the other is dropped.  Returns the
   driver if it is that. */
static const char *settle_source(struct connstr *input)
{
    connstr_remove(input, "FILEDSN");
    connstr_remove(input, "SAVEFILE");
    for (size_t i = 0; i < input->count; i++) {
        if (text_same(input->items[i].keyword, "DSN")) {
            connstr_remove(input, "DRIVER");
            return NULL;
        }
        if (text_same(input->items[i].keyword, "DRIVER")) {
            connstr_remove(input, "DSN");
            return connstr_value(input, "DRIVER");
        }
    }
    return NULL;
}

bool config_read_string(struct config *config, const char *string,
                        size_t length, struct why *why)
{
    const char *driver;

    memset(config, 0, sizeof *config);
    if (!connstr_parse(&config->input, string, length)) {
        return start_failed(config, why);
    }
    driver = settle_source(&config->input);
    config->dsn = strdup(driver ? ""
                         : or_default(connstr_value(&config->input, "DSN")));
    if (!config->dsn) {
        return start_failed(config, why);
    }
    return finish(config, driver, why);
}

bool config_set(struct config *config, const char *keyword, const char *value,
                struct why *why)
{
    const struct config_row *row = config_row(keyword);

    if (!row || row->fleet) {
        why_set(why, WHY_VALUE, "%.60s: not a keyword of a session", keyword);
        return false;
    }
    return config_store(config, row, value, why);
}
