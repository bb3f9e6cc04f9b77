/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What one session is configured to do: config.def's keywords, typed and
 * checked, from odbcinst.ini, odbc.ini and the connection string, and what is
 * left over to hand down to the inner driver.
 *
 * Opens nothing but ini files; knows no instance's DSN, only their names.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connstr.h"
#include "text.h"
#include "why.h"

/* The words of config.def first: they need no row. */
#define CONFIG_FLEET(...)
#define CONFIG_SESSION(...)
#include "config.def"

/* enum config_access, config_mode, config_scope, config_balance, …: one per
   set of config.def, its constants in the order of the words there. */
#define CONFIG_CONSTANT(constant, word, when) constant,
#define CONFIG_ENUM(set) \
    enum config_##set { CONFIG_WORDS_##set(CONFIG_CONSTANT) };
CONFIG_SETS(CONFIG_ENUM)
#undef CONFIG_ENUM
#undef CONFIG_CONSTANT

#define CONFIG_FIELD_TEXT(set) char *
#define CONFIG_FIELD_LIST(set) char *
#define CONFIG_FIELD_SQL(set) char *
#define CONFIG_FIELD_SECRET(set) char *
#define CONFIG_FIELD_ENUM(set) enum config_##set
#define CONFIG_FIELD_INT(set) uint32_t
#define CONFIG_FIELD_MS(set) uint32_t
#define CONFIG_FIELD(kind, field, name, otherwise, low, high, set, when, help) \
    CONFIG_FIELD_##kind(set) field;

/* One entry of Instances.  Without InnerDriver only name is set: a DSN.
   With it, name is what stood before '@', else host[:port] as written. */
struct config_instance {
    char *name;
    char *host;    /* NULL: a DSN; IPv6 without brackets */
    uint32_t port; /* 0: the inner driver's default */
};

/* What sessions must agree in to share a fleet.  Texts are never NULL. */
struct config_fleet {
#define CONFIG_FLEET CONFIG_FIELD
#define CONFIG_SESSION(...)
#include "config.def"
    struct config_instance *list; /* Instances, parsed; in its order */
    size_t list_count;            /* at least 1 after a successful read */
};

struct config_session {
#define CONFIG_FLEET(...)
#define CONFIG_SESSION CONFIG_FIELD
#include "config.def"
};

struct config {
    char *dsn;    /* our DSN, "" if the string gave DRIVER instead */
    char *driver; /* our section in odbcinst.ini, "" if there is none */
    struct config_fleet fleet;
    struct config_session session;
    /* every keyword to hand down after the instance's own DSN, each with its
       origin: driver section, then DSN section, then string, the last wins */
    struct connstr passed;
    /* the input string without what is the manager's alone: the stuff of the
       completed connection string */
    struct connstr input;
    /* 01S00 sentences, each one diagnostic record */
    char **warnings;
    size_t warning_count;
};

/* Fills *config (whatever stood there is not looked at) from a call of
   SQLConnect: NULL or "" is an argument not given, dsn then is DEFAULT.
   False: why says which keyword, what value, what is allowed (HY024, HYC00,
   IM002, HY000, HY001), and *config holds nothing to free.  Locks: those of
   inifile_section(). */
bool config_read_connect(struct config *config, const char *dsn,
                         const char *uid, const char *pwd, struct why *why);

/* The same from a connection string (SQLDriverConnect, SQLBrowseConnect). */
bool config_read_string(struct config *config, const char *string,
                        size_t length, struct why *why);

/* Sets one keyword of the session later, with the checks of reading:
   attributes before and after connect, SET AFFINITY.  False: as above, and
   nothing has changed; a keyword of the fleet is refused (HY024). */
bool config_set(struct config *config, const char *keyword, const char *value,
                struct why *why);

/* Wipes what is secret.  A freed config may be freed again. */
void config_free(struct config *config);

/* Wipes and empties passed and input.  For the session, once its login is found
   and its completed string written: passwords live once per pool (rules
   §5.6), in the login's secret_dup(). */
void config_forget_login(struct config *config);

/* Says that this keyword, which tells where an instance is, may not stand
   beside Instances (HY024). */
void config_refuse_place(const struct config *config,
                         const struct connstr_item *item, struct why *why);

/* A deep copy of the fleet's part, for a fleet that outlives the session
   that made it.  False: out of memory, nothing to free. */
bool config_copy_fleet(struct config_fleet *to,
                       const struct config_fleet *from);
void config_free_fleet(struct config_fleet *fleet);

/* Do they agree in all fleet rows, so that their sessions share a fleet?
   Instances are compared in the form they were understood, so that blanks or
   an @ that says nothing make no other fleet; the map file by its name. */
bool config_same_fleet(const struct config_fleet *a,
                       const struct config_fleet *b);

/* Appends the canonical text of everything handed down, sorted, keywords
   case-folded and aliases as one, origins told apart (psqlODBC reads %XX by
   origin): the login's part of a pool's identity.  Holds secrets: wiping
   buffer, kept with secret_dup(). */
void config_login_key(const struct config *config, struct text *key);

/* Appends the completed connection string (design §5.6): the input's
   keywords with their values as given, DSN in front if it had neither DSN
   nor DRIVER, PWD only if it was in it.  Wiping buffer. */
void config_out_string(const struct config *config, struct text *out);

/* Appends "keyword=value" lines of every row for SHOW AFFINITY and logs,
   secrets masked. */
void config_show(const struct config *config, struct text *text);

/* The word of an enum value: config_word_mode(CONFIG_HINT) is "hint". */
#define CONFIG_WORD_FUNCTION(set) \
    const char *config_word_##set(enum config_##set value);
CONFIG_SETS(CONFIG_WORD_FUNCTION)
#undef CONFIG_WORD_FUNCTION

#endif
