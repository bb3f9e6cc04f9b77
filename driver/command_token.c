/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Cutting a text into tokens as PostgreSQL does, so that what stands in a
 * comment, a string or a function's body is no command.
 */
#include "autoconf.h"

#include "command_token.h"

#include <stdbool.h>
#include <string.h>

#include "text.h"

/* As PostgreSQL: any byte of a character that is not ASCII is a letter. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '$';
}

static bool looking_at(const struct command_lexer *lexer, const char *two)
{
    return lexer->end - lexer->at >= 2 && memcmp(lexer->at, two, 2) == 0;
}

static void skip_line_comment(struct command_lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n' &&
           *lexer->at != '\r') {
        lexer->at++;
    }
}

static void skip_block_comment(struct command_lexer *lexer)
{
    unsigned depth = 0;

    do {
        if (looking_at(lexer, "/*")) {
            depth++;
            lexer->at += 2;
        } else if (looking_at(lexer, "*/")) {
            depth--;
            lexer->at += 2;
        } else {
            lexer->at++;
        }
    } while (depth && lexer->at < lexer->end);
}

static void skip_blanks(struct command_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        if (text_is_blank((unsigned char)*lexer->at)) {
            lexer->at++;
        } else if (looking_at(lexer, "--")) {
            skip_line_comment(lexer);
        } else if (looking_at(lexer, "/*")) {
            skip_block_comment(lexer);
        } else {
            return;
        }
    }
}

/* Something in quotes, which are doubled inside or (E'…') escaped by a
   backslash.  False: it does not end. */
static bool skip_quotes(struct command_lexer *lexer, bool escapes)
{
    char quote = *lexer->at++;

    while (lexer->at < lexer->end) {
        char c = *lexer->at++;

        if (escapes && c == '\\' && lexer->at < lexer->end) {
            lexer->at++;
        } else if (c == quote) {
            if (lexer->at == lexer->end || *lexer->at != quote) {
                return true;
            }
            lexer->at++;
        }
    }
    return false;
}

/* $$…$$ or $tag$…$tag$; a $ that begins none is one character. */
static void skip_dollars(struct command_lexer *lexer)
{
    const char *tag = lexer->at++;
    const char *p = lexer->at;
    size_t length;

    while (p < lexer->end && *p != '$' && is_word(*p)) {
        p++;
    }
    if (p == lexer->end || *p != '$' || (tag[1] >= '0' && tag[1] <= '9')) {
        return;
    }
    length = (size_t)(++p - tag);
    for (; (size_t)(lexer->end - p) >= length; p++) {
        if (*p == '$' && memcmp(p, tag, length) == 0) {
            lexer->at = p + length;
            return;
        }
    }
    lexer->at = lexer->end;
}

static enum command_token_kind skip_word(struct command_lexer *lexer)
{
    const char *begin = lexer->at;

    while (lexer->at < lexer->end && is_word(*lexer->at)) {
        lexer->at++;
    }
    if (lexer->at - begin == 1 && (*begin | 0x20) == 'e' &&
        lexer->at < lexer->end && *lexer->at == '\'') {
        skip_quotes(lexer, true);
        return TOKEN_OTHER;
    }
    return TOKEN_WORD;
}

static enum command_token_kind skip_token(struct command_lexer *lexer)
{
    switch (*lexer->at) {
    case ';':
        lexer->at++;
        return TOKEN_SEMICOLON;
    case '\'':
        return skip_quotes(lexer, false) ? TOKEN_STRING : TOKEN_OTHER;
    case '"':
        return skip_quotes(lexer, false) ? TOKEN_QUOTED : TOKEN_OTHER;
    case '$':
        skip_dollars(lexer);
        return TOKEN_OTHER;
    default:
        if (is_letter(*lexer->at)) {
            return skip_word(lexer);
        }
        lexer->at++;
        return TOKEN_OTHER;
    }
}

struct command_token command_token_next(struct command_lexer *lexer)
{
    struct command_token token = { TOKEN_END, NULL, 0 };

    skip_blanks(lexer);
    token.at = lexer->at;
    if (lexer->at < lexer->end && *lexer->at) {
        token.kind = skip_token(lexer);
        token.length = (size_t)(lexer->at - token.at);
    }
    return token;
}
