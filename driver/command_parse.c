/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The exact look at a text that may hold a command: its statements, as tokens,
 * are matched against the forms of command.def.
 */
#include "autoconf.h"

#include "command.h"
#include "command_token.h"

#include <stdlib.h>
#include <string.h>

/* ---- forms ----------------------------------------------------------- */

static const struct form {
    const char *form;
    bool ready;
} forms[] = {
#define READY true
#define LATER false
#define COMMAND(name, form, when) [COMMAND_##name] = { form, when },
#include "command.def"
#undef READY
#undef LATER
};

enum { TOKENS_MAX = 6 }; /* one more than the longest form with its end */

/* One statement: its first tokens.  Longer ones fit no form. */
struct statement {
    struct command_token tokens[TOKENS_MAX];
    unsigned count; /* without the end */
};

static bool is_bare(const struct command_token *token)
{
    return token->kind == TOKEN_WORD || token->kind == TOKEN_OTHER;
}

/* Does it go on with the name that the statement has as its fourth?  Names of
   instances have what no word has: n1-tcp, 10.0.0.1:5432. */
static bool continues_name(const struct statement *statement,
                           const struct command_token *token)
{
    const struct command_token *last = &statement->tokens[3];

    return statement->count == 4 && is_bare(last) && is_bare(token) &&
           last->at + last->length == token->at;
}

static struct statement read_statement(struct command_lexer *lexer)
{
    struct statement statement = { .count = 0 };
    struct command_token token = command_token_next(lexer);

    while (token.kind != TOKEN_END && token.kind != TOKEN_SEMICOLON) {
        if (continues_name(&statement, &token)) {
            statement.tokens[3].kind = TOKEN_WORD;
            statement.tokens[3].length += token.length;
        } else if (statement.count < TOKENS_MAX) {
            statement.tokens[statement.count++] = token;
        }
        token = command_token_next(lexer);
    }
    return statement;
}

/* The next word of a form, and its length; 0: there is none. */
static size_t form_word(const char **form)
{
    *form += strspn(*form, " ");
    return strcspn(*form, " ");
}

static bool same_word(const struct command_token *token, const char *word,
                      size_t length)
{
    if (token->kind != TOKEN_WORD || token->length != length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = token->at[i];

        if ((c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) != word[i]) {
            return false;
        }
    }
    return true;
}

/* One token against one word of a form. */
static bool fits(const struct command_token *token, const char *word,
                 size_t length)
{
    switch (*word) {
    case '\'':
        return token->kind == TOKEN_STRING;
    case '?':
        return token->kind == TOKEN_OTHER && token->length == 1 &&
               *token->at == '?';
    default:
        return *word >= 'a' ? token->kind == TOKEN_WORD ||
                                  token->kind == TOKEN_QUOTED ||
                                  token->kind == TOKEN_STRING
                            : same_word(token, word, length);
    }
}

/* How many tokens fit this form from its beginning on; *whole: all of both. */
static unsigned match(const struct statement *statement, const char *form,
                      bool *whole)
{
    unsigned count = 0;
    size_t length;

    while ((length = form_word(&form)) > 0) {
        if (count == statement->count ||
            !fits(&statement->tokens[count], form, length)) {
            *whole = false;
            return count;
        }
        form += length;
        count++;
    }
    *whole = count == statement->count;
    return count;
}

/* Is it one of ours, well-formed or not?  AFFINITY followed by a dot is a
   parameter of somebody's extension: SHOW affinity.x. */
static bool is_ours(const struct statement *statement)
{
    const struct command_token *third = &statement->tokens[2];

    if (statement->count < 2 ||
        (statement->count > 2 && third->kind == TOKEN_OTHER &&
         *third->at == '.')) {
        return false;
    }
    for (unsigned i = 0; i < COMMAND_KINDS; i++) {
        bool whole;

        if (match(statement, forms[i].form, &whole) >= 2) {
            return true;
        }
    }
    return false;
}

/* What is allowed behind the verb that was used, in this version. */
static void say_malformed(const struct statement *statement, struct why *why)
{
    const struct command_token *first = &statement->tokens[0];
    const struct command_token *last = &statement->tokens[statement->count - 1];
    int length = (int)(last->at + last->length - first->at);
    const char *between = "";
    struct text allowed;

    text_init(&allowed);
    for (unsigned i = 0; i < COMMAND_KINDS; i++) {
        if (forms[i].ready &&
            same_word(first, forms[i].form, strcspn(forms[i].form, " "))) {
            text_appendf(&allowed, "%s%s", between, forms[i].form);
            between = ", ";
        }
    }
    if (!allowed.length) {
        text_appendf(&allowed, "nothing yet that begins with %.*s",
                     (int)first->length, first->at);
    }
    why_set(why, WHY_COMMAND, "%.*s: not a well-formed command; allowed: %s",
            length < 80 ? length : 80, first->at, text_string(&allowed));
    text_free(&allowed);
}

/* The content of a string or quoted name, or a word as it is. */
static char *unquote(const struct command_token *token)
{
    bool quoted = token->kind != TOKEN_WORD;
    const char *end = token->at + token->length - quoted;
    char *value = malloc(token->length + 1);
    size_t length = 0;

    for (const char *p = token->at + quoted; value && p < end; p++) {
        value[length++] = *p;
        if (quoted && *p == *token->at) {
            p++;
        }
    }
    if (value) {
        value[length] = '\0';
    }
    return value;
}

static enum command_found take(const struct statement *statement,
                               enum command_kind kind,
                               struct command *command, struct why *why)
{
    const char *last = strrchr(forms[kind].form, ' ') + 1;

    if (!forms[kind].ready) {
        why_set(why, WHY_UNAVAILABLE, "%s: not available in this version",
                forms[kind].form);
        return COMMAND_REFUSED;
    }
    *command = (struct command){ .kind = kind };
    if (*last == '\'' || *last >= 'a') {
        command->argument = unquote(&statement->tokens[statement->count - 1]);
        if (!command->argument) {
            why_memory(why);
            return COMMAND_REFUSED;
        }
    }
    return COMMAND_OURS;
}

static enum command_found find_form(const struct statement *statement,
                                    struct command *command, struct why *why)
{
    for (unsigned i = 0; i < COMMAND_KINDS; i++) {
        bool whole;

        match(statement, forms[i].form, &whole);
        if (whole) {
            return take(statement, (enum command_kind)i, command, why);
        }
    }
    say_malformed(statement, why);
    return COMMAND_REFUSED;
}

/* Does any statement from here on belong to us? */
static bool any_ours(struct command_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        struct statement statement = read_statement(lexer);

        if (is_ours(&statement)) {
            return true;
        }
        if (lexer->at < lexer->end && !*lexer->at) {
            return false;
        }
    }
    return false;
}

enum command_found command_parse(const char *text, size_t length,
                                 struct command *command, struct why *why)
{
    struct command_lexer lexer = { text, text + length };
    struct statement first = read_statement(&lexer);
    struct command_lexer rest = lexer;
    bool ours = is_ours(&first);

    if (ours && command_token_next(&rest).kind == TOKEN_END) {
        return find_form(&first, command, why);
    }
    if (ours || any_ours(&lexer)) {
        why_set(why, WHY_GENERAL, "a command for odbc-affinity must be the "
                "only statement of its text; nothing of this one was done");
        return COMMAND_REFUSED;
    }
    return COMMAND_NOT_OURS;
}
