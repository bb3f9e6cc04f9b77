/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQL as tokens, as far as finding commands of ours among them takes.
 */
#ifndef COMMAND_TOKEN_H
#define COMMAND_TOKEN_H

#include <stddef.h>

enum command_token_kind {
    TOKEN_END,
    TOKEN_SEMICOLON,
    TOKEN_WORD,
    TOKEN_STRING, /* '…', not E'…' */
    TOKEN_QUOTED, /* "…" */
    TOKEN_OTHER   /* any other character, string or unfinished thing */
};

struct command_token {
    enum command_token_kind kind;
    const char *at;
    size_t length; /* quotes included */
};

struct command_lexer {
    const char *at, *end;
};

/* The next token, with the comments and blanks before it skipped; TOKEN_END at
   the end of the text, and at a NUL in it, which is not passed. */
struct command_token command_token_next(struct command_lexer *lexer);

#endif
