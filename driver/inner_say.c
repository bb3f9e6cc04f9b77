/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What an inner driver says of itself over a connection: its name, by which its
 * kind is confirmed, and its functions.
 */
#include "autoconf.h"

#include "inner.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "inner_kind.h"
#include "lock.h"
#include "text.h"

/* ---- its name -------------------------------------------------------- */

/* SQL_DRIVER_NAME, "" if it does not say. */
static void read_name(const struct inner *inner, SQLHDBC hdbc, bool wide,
                      struct text *name)
{
    __typeof__(SQLGetInfoW) *get = inner->call.SQLGetInfoW;
    SQLWCHAR value[128] = { 0 };
    SQLSMALLINT length;
    size_t units = 0;

    wide = get && (wide || !inner->call.SQLGetInfo);
    if (!wide) {
        get = inner->call.SQLGetInfo;
    }
    if (!get || !SQL_SUCCEEDED(get(hdbc, SQL_DRIVER_NAME, value,
                                   sizeof value - sizeof *value, &length))) {
        return;
    }
    if (!wide) {
        text_append(name, (const char *)value);
        return;
    }
    while (value[units]) {
        units++;
    }
    text_append_utf16(name, value, units);
}

void inner_confirm(const struct inner *inner, SQLHDBC hdbc, bool wide)
{
    struct inner *owner = (struct inner *)(uintptr_t)inner;
    struct text name;

    if (atomic_load(&inner->confirmed)) {
        return;
    }
    lock_assert_none();
    text_init(&name);
    read_name(inner, hdbc, wide, &name);
    if (!name.failed && inner_kind_of(text_string(&name)) != inner->kind) {
        atomic_store(&owner->kind, &inner_unknown);
    }
    atomic_store(&owner->confirmed, !name.failed);
    text_free(&name);
}

/* ---- its functions --------------------------------------------------- */

static void set_bit(struct inner_functions *functions, unsigned number)
{
    functions->bits[number >> 4] |= (SQLUSMALLINT)(1u << (number & 15));
}

/* A driver that cannot be asked, or has no connection left to ask it over, is
   taken at its exports. */
static void ask_functions(const struct inner *inner, SQLHDBC hdbc,
                          struct inner_functions *functions)
{
    lock_assert_none();
    if (!hdbc || !inner->call.SQLGetFunctions ||
        !SQL_SUCCEEDED(inner->call.SQLGetFunctions(
            hdbc, SQL_API_ODBC3_ALL_FUNCTIONS, functions->bits))) {
        memset(functions, 0xff, sizeof *functions);
    }
}

/* What it exports of what we do. */
static void exported_functions(const struct inner_calls *call,
                               struct inner_functions *functions)
{
#define PLAIN(name, number, ...) \
    if (call->name) { set_bit(functions, number); }
#define TEXT(name, number, ...) \
    if (call->name || call->name##W) { set_bit(functions, number); }
#include "surface.def"
}

void inner_functions(const struct inner *inner, SQLHDBC hdbc,
                     struct inner_functions *functions)
{
    struct inner_functions exported = { { 0 } };

    memset(functions, 0, sizeof *functions);
    ask_functions(inner, hdbc, functions);
    exported_functions(&inner->call, &exported);
    for (size_t i = 0; i < INNER_FUNCTION_WORDS; i++) {
        functions->bits[i] &= exported.bits[i];
    }
}
