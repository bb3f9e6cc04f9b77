/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The wrapper's side of route-truth-test.py: reads questions, one a line,
 * answers each with one line.  Fields are separated by blanks; texts are in
 * hexadecimal behind an x, so that they may hold anything.
 *
 *   value TYPE TEXT       ok HASH | unsure | bad
 *   compare TYPE A B      < | = | > (both are ok values)
 *   begin                 a new map of one answer
 *   inner PARENT BOUND STRATEGY { NAME OID MOD FAMILY PROC COLLATION
 *         DETERMINISTIC } ...
 *   leaf PARENT BOUND N   a partition, to be known as N
 *   finish
 *   key TEXT              N | several | none | ask | bad | ...
 */
#include "autoconf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route_map.h"
#include "route_pghash.h"

enum { FIELDS = 64 };

static struct route_builder *builder;
static struct route_map *map;

static int value_of(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Decodes in place. */
static void decode(char *field)
{
    char *to = field;

    if (*field != 'x') {
        return;
    }
    for (const char *at = field + 1; at[0] && at[1]; at += 2) {
        *to++ = (char)(value_of(at[0]) << 4 | value_of(at[1]));
    }
    *to = '\0';
}

static enum route_type type_named(const char *name)
{
    for (int i = 0; i < ROUTE_TYPES; i++) {
        if (strcmp(route_type_name((enum route_type)i), name) == 0) {
            return (enum route_type)i;
        }
    }
    fprintf(stderr, "no type %s\n", name);
    exit(1);
}

static enum route_parse read_value(struct route_typing typing, const char *text,
                                   struct route_datum *datum,
                                   unsigned char **scratch)
{
    uint32_t length = (uint32_t)strlen(text);

    *scratch = malloc(ROUTE_TYPE_SCRATCH(length));
    if (!*scratch) {
        exit(1);
    }
    return route_type_parse(&typing, text, length, *scratch, datum);
}

static void answer_value(char **field)
{
    enum route_type type = type_named(field[1]);
    struct route_datum datum;
    unsigned char *scratch;

    switch (read_value(route_type_plain(type), field[2], &datum, &scratch)) {
    case ROUTE_PARSE_OK:
        printf("ok %" PRId64 "\n",
               (int64_t)route_pghash_datum(type, &datum, ROUTE_PGHASH_SEED));
        break;
    case ROUTE_PARSE_UNSURE:
        puts("unsure");
        break;
    case ROUTE_PARSE_BAD:
        puts("bad");
        break;
    }
    free(scratch);
}

static void answer_compare(char **field)
{
    enum route_type type = type_named(field[1]);
    struct route_datum datum[2];
    unsigned char *scratch[2];

    for (int i = 0; i < 2; i++) {
        if (read_value(route_type_plain(type), field[2 + i], &datum[i],
                       &scratch[i]) != ROUTE_PARSE_OK) {
            exit(1);
        }
    }
    int order = route_type_compare(type, &datum[0], &datum[1]);
    puts(order < 0 ? "<" : order > 0 ? ">" : "=");
    free(scratch[0]);
    free(scratch[1]);
}

static const char *or_null(const char *field)
{
    return *field ? field : NULL;
}

static void answer_inner(char **field, int count)
{
    struct route_column column[ROUTE_KEY_PARTS];
    size_t columns = 0;

    for (int i = 4; i + 6 < count; i += 7) {
        struct route_catalog catalog = {
            .type_oid = (uint32_t)strtoul(field[i + 1], NULL, 10),
            .type_mod = (int32_t)strtol(field[i + 2], NULL, 10),
            .strategy = field[3][0],
            .opfamily = field[i + 3],
            .hash_proc = or_null(field[i + 4]),
            .collation = or_null(field[i + 5]),
            .deterministic = field[i + 6][0] != 'f',
            .database_collation = "C.UTF-8",
            .encoding = "UTF8"};
        column[columns].name = or_null(field[i]);
        column[columns].typing = route_type_of(&catalog);
        columns++;
    }
    printf("%d\n", route_builder_inner(builder, (int32_t)atol(field[1]),
                                       field[2], strlen(field[2]), field[3][0],
                                       false, column, columns));
}

static void answer_leaf(char **field)
{
    printf("%d\n",
           route_builder_leaf(builder, (int32_t)atol(field[1]), field[2],
                              strlen(field[2]), ROUTE_CLAIM_POINTER,
                              (unsigned)strtoul(field[3], NULL, 10)));
}

static void answer_finish(void)
{
    struct why why;

    route_map_free(map);
    map = route_builder_finish(builder, &why);
    route_builder_free(builder);
    builder = NULL;
    if (!map) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    puts("finished");
}

static struct route_key *key_of(const char *text)
{
    struct route_key *key;
    struct why why;

    if (route_key_parse(text, strlen(text), &key, &why) != ROUTE_KEY_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    return key;
}

static void answer_key(char **field)
{
    static const char *const words[] = {
        "", "several", "none", "moving", "unresolved", "ask", "bad", "empty"};
    struct route_key *key = key_of(field[1]);
    struct route_found found;

    route_map_find(map, key, &found, NULL);
    route_key_free(key);
    if (found.result == ROUTE_MAP_OWNER) {
        printf("%u\n", found.group);
    } else {
        puts(words[found.result]);
    }
}

static void answer(char **field, int count)
{
    if (strcmp(field[0], "value") == 0 && count == 3) {
        answer_value(field);
    } else if (strcmp(field[0], "compare") == 0 && count == 4) {
        answer_compare(field);
    } else if (strcmp(field[0], "begin") == 0) {
        builder = route_builder_new();
        if (!builder) {
            exit(1);
        }
        route_builder_answer(builder, 1023);
        puts("begun");
    } else if (strcmp(field[0], "inner") == 0 && count > 10) {
        answer_inner(field, count);
    } else if (strcmp(field[0], "leaf") == 0 && count == 4) {
        answer_leaf(field);
    } else if (strcmp(field[0], "finish") == 0) {
        answer_finish();
    } else if (strcmp(field[0], "key") == 0 && count == 2) {
        answer_key(field);
    } else {
        fprintf(stderr, "not understood: %s\n", field[0]);
        exit(1);
    }
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        char *field[FIELDS], *rest = line;
        int count = 0;
        line[strcspn(line, "\n")] = '\0';
        while (count < FIELDS && (field[count] = strsep(&rest, " ")) != NULL) {
            decode(field[count++]);
        }
        answer(field, count);
    }
    free(line);
    route_map_free(map);
    return 0;
}
