/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The exported functions: surface.def expanded, narrow and wide.  Nothing is
 * decided here and nothing inside calls these names: in a program that is
 * linked with the manager they may be the manager's (facts §1).
 *
 * Compiled twice: with AFF_ANSI_ONLY for the library that exports no wide
 * name, for inner drivers that have none.  `gcc -E` shows the expansion.
 */
#include "autoconf.h"

#include "surface.h"

#include "entry_hot.h"

#define EXPORT __attribute__((visibility("default")))

/* A generated body.  `handle` becomes the inner handle; args begins with it. */
#define FORWARD(name, kind, route, params, args) \
    EXPORT SQLRETURN name params \
    { \
        struct head *head = handle; \
        const struct inner_calls *call; \
        SQLRETURN rc = surface_enter_##kind(&handle, &call); \
 \
        if (SURFACE_UNLIKELY(rc != SQL_SUCCESS)) { \
            return rc; \
        } \
        if (SURFACE_UNLIKELY(!call->name)) { \
            return entry_missing(head, #name, TEXT_NARROW); \
        } \
        SURFACE_FIRST_##route(head) \
        return surface_leave_##kind(head, call->name args); \
    }

/* A body written by hand: entry_<name>, told the width of its text. */
#define HAND_PLAIN(name, params, args) \
    EXPORT SQLRETURN name params { return entry_##name args; }
#define HAND_TEXT(name, export, width, params, args) \
    EXPORT SQLRETURN export params \
    { \
        return entry_##name(width, SURFACE_SPLICE args); \
    }

/* Narrow, and functions without text. */
#define CHARS SQLCHAR
#define PLAIN(name, number, kind, route, params, args) \
    SURFACE_MADE_##route(FORWARD(name, kind, route, params, args)) \
    SURFACE_HAND_##route(HAND_PLAIN(name, params, args))
#define TEXT(name, number, kind, route, params, args) \
    SURFACE_MADE_##route(FORWARD(name, kind, route, params, args)) \
    SURFACE_HAND_##route(HAND_TEXT(name, name, TEXT_NARROW, params, args))
#include "surface.def"

#ifdef AFF_ANSI_ONLY

__attribute__((constructor)) static void allow_narrow(void)
{
    inner_allow_narrow();
}

#else

#define CHARS SQLWCHAR
#define PLAIN(name, number, kind, route, params, args)
#define TEXT(name, number, kind, route, params, args) \
    SURFACE_MADE_##route(FORWARD(name##W, kind, route, params, args)) \
    SURFACE_HAND_##route(HAND_TEXT(name, name##W, TEXT_WIDE, params, args))
#include "surface.def"

#endif
