/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Connection strings: keyword=value;… as the manager and psqlODBC read them
 * (facts §6), kept as an ordered list with each value's origin, because
 * psqlODBC decodes %XX and + in some origins and not in others (rules §5.8;
 * that decoding is the inner driver's specific and not done here).
 *
 * Grammar: blanks around keywords do not count, their case never does.  A
 * value that starts with '{' goes to the '}' that is not doubled ('}}' is
 * '}'), whatever stands between, or to the end if there is none; any other
 * goes to the next ';' exactly as it is, blanks included (a password may have
 * them).  Text between '}' and ';', and text without '=', is ignored.  A NUL
 * ends the string.  The last of duplicates wins, in the place of the first.
 * Of DSN, FILEDSN and DRIVER only the first counts, as for the manager; it
 * is found by its place in the list.
 */
#ifndef CONNSTR_H
#define CONNSTR_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum connstr_origin {
    CONNSTR_PLAIN,   /* unbraced in a connection string */
    CONNSTR_BRACED,  /* braced: literal */
    CONNSTR_INI,     /* out of an ini file */
    CONNSTR_ARGUMENT /* an argument of SQLConnect, or made by us: literal */
};

struct connstr_item {
    char *keyword; /* as written, trimmed */
    char *value;   /* without braces, never NULL */
    enum connstr_origin origin;
};

/* All zeros is an empty one.  Everything it holds is treated as secret and
   wiped when replaced or freed. */
struct connstr {
    struct connstr_item *items;
    size_t count;
    size_t room;
};

void connstr_init(struct connstr *list);
void connstr_free(struct connstr *list);

/* Adds the keywords of string[0..length) (SQL_NTS is the caller's to
   resolve).  False: out of memory; what was added stays. */
bool connstr_parse(struct connstr *list, const char *string, size_t length);

/* The item of that keyword or of an alias of it (psqlODBC's: UID/Username,
   PWD/Password, Server/Servername, ReadOnly/A0 …), or NULL.  Valid until the
   list changes. */
const struct connstr_item *connstr_find(const struct connstr *list,
                                        const char *keyword);
/* Its value, or NULL. */
const char *connstr_value(const struct connstr *list, const char *keyword);

/* Sets a value (copied): replaces the item of that keyword or alias, in its
   place but with the new spelling, else appends.  False: out of memory, the
   list is as it was. */
bool connstr_set(struct connstr *list, const char *keyword, const char *value,
                 enum connstr_origin origin);

/* True if there was one. */
bool connstr_remove(struct connstr *list, const char *keyword);

/* One spelling for all aliases of a keyword ("UID" for "username"); a
   keyword without aliases is returned as it came. */
const char *connstr_canonical(const char *keyword);

/* Is its value never to be shown: PWD, Password, MonitorPWD, … */
bool connstr_is_secret(const char *keyword);

/* Appends keyword={value with } doubled}; — always braced, so that every
   character of the value is literal for manager and psqlODBC alike. */
void connstr_append(struct text *text, const char *keyword,
                    const char *value);

/* Appends the whole list in the same form. */
void connstr_append_all(struct text *text, const struct connstr *list);

/* What a message may say of a keyword's value: the value, cut with "..." after
   60 bytes, or "***" if the keyword is a secret's or the value itself speaks of
   a password.  Points to value, to a constant or into space[64]. */
const char *connstr_shown(const char *keyword, const char *value,
                          char space[64]);

#endif
