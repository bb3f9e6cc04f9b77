/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * SQL commands of ours, for tools that can only send SQL (design §5.3, rules
 * §12): is this text one, which one, and what does it answer.
 *
 * command_likely.h the cheap look that every statement gets
 * command_parse.c  the exact one, of a text cut into tokens by command_token.c
 * command.c        running one
 * command_show.c   what each answers, as rows; command_explain.c of EXPLAIN,
 *                  command_change.c of those that change something,
 *                  command_facts.c what they say of instances
 * command_answer.c rows as a SELECT that the inner driver can run
 *
 * Nothing here knows handles or calls the inner driver: entry_exec.c runs the
 * SELECT on the application's own statement.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

#include "command_answer.h"
#include "route.h"
#include "text.h"
#include "why.h"

struct config;
struct fleet;
struct login;
struct route_key;

enum command_kind {
#define COMMAND(name, form, when) COMMAND_##name,
#include "command.def"
    COMMAND_KINDS
};

struct command {
    enum command_kind kind;
    enum text_width width; /* of the call that brought it */
    char *argument;        /* UTF-8, its quotes undone; NULL: it has none */
};

enum command_found {
    COMMAND_NOT_OURS, /* goes to the inner driver as it is */
    COMMAND_OURS,     /* *command is filled; command_clear() it */
    COMMAND_REFUSED   /* ours, but *why: malformed (42000), not available
                         (HYC00), one of several statements (HY000) */
};

/* Is text[0..length), UTF-8 or an application's narrow bytes, as a whole one
   of our commands?  Comments, strings, quoted names and dollar quotes are read
   as PostgreSQL reads them with standard_conforming_strings on. */
enum command_found command_parse(const char *text, size_t length,
                                 struct command *command, struct why *why);

void command_clear(struct command *command);

/* Clears and frees one from malloc(); NULL is fine. */
void command_free(struct command *command);

/* What a command sees of the session that runs it.  Pointers stay the
   session's. */
struct command_view {
    struct fleet *fleet;
    struct login *login;
    const struct config *config;
    const struct route_key *key; /* NULL = none */
    enum route_mode mode;
    bool write;
    const char *instance, *verdict;
};

/* The columns of a command's answer, without rows: its shape. */
void command_describe(const struct command *command,
                      struct command_answer *answer);

/* Does it and fills answer (which command_answer_free() ends in any case).
   Never changes the verdict that it reports.  False: why.
   Locks: takes those of logins, fleets and topologies; none may be held. */
bool command_run(const struct command *command,
                 const struct command_view *view,
                 struct command_answer *answer, struct why *why);

#endif
