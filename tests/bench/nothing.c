/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A driver that does nothing: the floor under every connect through the
 * manager.  It exports the names that ours does, because the manager looks up
 * each of them at each connect, and needs libc alone.  It is also the inner
 * driver when our own memory is measured.
 *
 * All functions of surface.def answer SQL_SUCCESS, weakly: nothing_answers.c
 * has those whose answer the manager looks at.
 */
#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define NOTHING(name, params) \
    __attribute__((visibility("default"), weak)) SQLRETURN name params \
    { \
        return SQL_SUCCESS; \
    }

#define CHARS SQLCHAR
#define PLAIN(name, number, kind, route, params, args) NOTHING(name, params)
#define TEXT(name, number, kind, route, params, args) NOTHING(name, params)
#include "surface.def"

#define CHARS SQLWCHAR
#define PLAIN(name, number, kind, route, params, args)
#define TEXT(name, number, kind, route, params, args) NOTHING(name##W, params)
#include "surface.def"
