/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the files of the fake driver share.
 */
#ifndef FAKE_INSIDE_H
#define FAKE_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "fake.h"
#include "text.h"

#ifndef FAKE_LIBRARY
#define FAKE_LIBRARY "libfake.so" /* what it says that it is */
#endif

#define FAKE_SPLICE(...) __VA_ARGS__

/* do_<name>: what a function does beyond being noted; those that do nothing
   are not defined and succeed.  Text comes with its width. */
#define CHARS void
#define PLAIN(name, number, kind, route, params, args) \
    SQLRETURN do_##name params __attribute__((weak));
#define TEXT(name, number, kind, route, params, args) \
    SQLRETURN do_##name(enum text_width width, FAKE_SPLICE params) \
        __attribute__((weak));
#include "surface.def"

struct fake_record {
    char state[6];
    SQLINTEGER native;
    char text[200];
};

enum { FAKE_RECORDS = 2, FAKE_ATTRS = 32, FAKE_COLUMNS = 6 };

/* One struct for every kind of handle: it is a test's, not a library's. */
struct fake {
    SQLSMALLINT type; /* SQL_HANDLE_, 0 = freed */
    struct fake *parent, *next;
    struct fake_record records[FAKE_RECORDS];
    unsigned record_count;

    struct {
        SQLINTEGER attribute;
        SQLPOINTER value;
    } attrs[FAKE_ATTRS];
    unsigned attr_count;

    /* of a connection, whose statements may run on several threads */
    bool connected;
    atomic_bool dead;
    const char *string; /* secret: its connection string, UTF-8 */
    atomic_uint runs;
    unsigned serial;

    /* of a statement */
    struct fake *descs[4];
    struct fake *explicit_descs[4];
    char *text;
    bool prepared, open, wants_data, asked, executing, cancelled;
    unsigned rows, row, columns;
    size_t read[FAKE_COLUMNS];
    char values[FAKE_COLUMNS][64];
};

/* The live handle of that type, or NULL and a mistake. */
struct fake *fake_of(SQLSMALLINT type, SQLHANDLE handle);

/* Replaces the handle's records and returns SQL_ERROR. */
SQLRETURN fake_fail(struct fake *fake, const char *state, const char *text);

/* The value of a keyword of the connection, from its control file or its
   string; into out[size].  False: not given. */
bool fake_keyword(const struct fake *dbc, const char *keyword, char *out,
                  size_t size);

/* The same by the control file alone, without a look at any string. */
bool fake_control(const char *path, const char *keyword, char *out,
                  size_t size);

/* Waits for fake_release() or *until, whatever comes first, or for a control
   file that says FakeHang to say so no more (NULL: there is none).  Meanwhile
   no connection string is read: a child that is forked could find a copy. */
void fake_hang(const char *control, const bool *until);

/* Lets a hanging call look at its *until again. */
void fake_wake(void);

/* A connect begins, or ends. */
void fake_connecting(bool begins);

void fake_sleep(unsigned ms);

#endif
