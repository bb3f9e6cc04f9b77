/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loading an inner driver and the table of its functions.  One struct inner
 * per library file, process-wide, made once and never unloaded (facts §1:
 * libpq and OpenSSL register exit handlers and thread keys).
 *
 * The table takes its types from the system prototypes, so a wrong row in
 * surface.def is a compile error.  A function that the library lacks is NULL
 * in `call` here; the surface answers IM001 for it.
 */
#ifndef INNER_H
#define INNER_H

#include <stdbool.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include "why.h"

struct inner_calls {
#define PLAIN(name, ...) __typeof__(name) *name;
#define TEXT(name, ...) __typeof__(name) *name; __typeof__(name##W) *name##W;
#include "surface.def"
    /* Only of a driver that says it has no SQLGetDiagRec: the manager reads its
       records by this one then, and may be told other words. */
    __typeof__(SQLError) *SQLError;
};

/* What SQLGetFunctions(SQL_API_ODBC3_ALL_FUNCTIONS) fills, in bits. */
enum { INNER_FUNCTION_WORDS = SQL_API_ODBC3_ALL_FUNCTIONS_SIZE };
struct inner_functions {
    SQLUSMALLINT bits[INNER_FUNCTION_WORDS];
};

struct inner_kind; /* inner_kind.h: what only this sort of driver knows */

struct inner {
    struct inner_calls call; /* first: the cast from it is inner_of() */
    const struct inner_kind *_Atomic kind; /* by its file's name, until
                                              inner_confirm() */
    _Atomic bool confirmed;
    bool wide;          /* exports SQLDriverConnectW */
    char *path;         /* the library file */
    struct inner *next; /* list owned by inner.c, as what follows is */
    struct inner_env *envs;
};

static inline const struct inner *inner_of(const struct inner_calls *call)
{
    return (const struct inner *)call;
}

/* Says that this library is the one for inner drivers without wide functions;
   called before anything is loaded, by the surface that exports none.  Until
   then inner_load() refuses such drivers, naming "Affinity ANSI". */
void inner_allow_narrow(void);

/* The inner driver behind `driver`: the name of an odbcinst.ini section or a
   path, as a DSN's Driver entry or DRIVER= gives it.  Looks up Driver64 and
   Driver of the section, tries the distribution's ODBC directory for a name
   without '/', loads with RTLD_NOW|RTLD_LOCAL, treats as missing each function
   that dladdr() places in libodbc (facts §1), and refuses our own libraries
   and, in the wide library, drivers without wide functions (rules §11.1).
   NULL: why (WHY_DRIVER) says what was tried.  The result lives as long as
   the process.
   Locks: takes LOCK_INNER (not while dlopen runs the library's constructors)
   and inifile.c's; none may be held. */
const struct inner *inner_load(const char *driver, struct why *why);

/* How many drivers have been loaded, and with them what they bring along: a
   handler that is registered with atexit() after that runs before theirs, and
   before OpenSSL's.  Any thread; no lock. */
unsigned inner_loaded(void);

/* The inner environment handle for this ODBC version (2, 3 or 380), made at
   first use and shared by all links of the process (facts §4: results depend
   on the version, so it belongs to the pool's identity).  A driver that knows
   no 380 gets 3.  A forked child makes its own.
   SQL_NULL_HENV: why is filled.  Locks: takes LOCK_INNER for the look-up, and
   calls the inner driver without it. */
SQLHENV inner_env(const struct inner *inner, SQLINTEGER odbc_version,
                  struct why *why);

/* The same for one link alone, where the inner kind says that links must not
   share any; the caller frees it. */
SQLHENV inner_env_new(const struct inner *inner, SQLINTEGER odbc_version,
                      struct why *why);

/* Asks the driver itself, over its first connection, whether it is of the kind
   that its file's name makes it (SQL_DRIVER_NAME).  If it says something else,
   or nothing, its kind is inner_unknown from now on.  wide: how hdbc was
   connected, since a wide call makes psqlODBC answer the narrow ones in
   UTF-16.  Locks: none may be held. */
void inner_confirm(const struct inner *inner, SQLHDBC hdbc, bool wide);

/* The functions that the inner driver has, in either width: what it says of
   itself, asked over `hdbc` (which must be connected) and not kept, since it
   may differ between connections (psqlODBC has no SQLDescribeParam without
   UseServerSidePrepare), as far as it exports it; or, without an hdbc, all
   that it exports.
   Locks: calls the inner driver with none held. */
void inner_functions(const struct inner *inner, SQLHDBC hdbc,
                     struct inner_functions *functions);

/* Is the function of this SQL_API_ number one of them?  False for what
   surface.def does not list. */
static inline bool inner_has(const struct inner_functions *functions,
                             SQLUSMALLINT function)
{
    return function >> 4 < INNER_FUNCTION_WORDS &&
           (functions->bits[function >> 4] >> (function & 15) & 1);
}

#endif
