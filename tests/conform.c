/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

#include "autoconf.h"

#include "conform.h"

#include "odbc_tap.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is missed ---------------------------------------------------- */

enum { MISSES = 40, MISS_ROOM = 400 };

struct misses {
    size_t count;
    char text[MISSES][MISS_ROOM];
};

static struct misses *missed; /* of the rule that is tried */

void book_miss(const char *format, ...)
{
    va_list arguments;

    if (missed->count < MISSES) {
        va_start(arguments, format);
        vsnprintf(missed->text[missed->count++], MISS_ROOM, format, arguments);
        va_end(arguments);
    }
}

static const char *rc_name(SQLRETURN rc)
{
    switch (rc) {
    case SQL_SUCCESS:
        return "SQL_SUCCESS";
    case SQL_SUCCESS_WITH_INFO:
        return "SQL_SUCCESS_WITH_INFO";
    case SQL_NO_DATA:
        return "SQL_NO_DATA";
    case SQL_NEED_DATA:
        return "SQL_NEED_DATA";
    case SQL_ERROR:
        return "SQL_ERROR";
    case SQL_INVALID_HANDLE:
        return "SQL_INVALID_HANDLE";
    default:
        return "an unknown return code";
    }
}

bool want_rc(const char *what, SQLRETURN got, SQLRETURN wanted)
{
    if (got != wanted) {
        book_miss("%s: %s, not %s", what, rc_name(got), rc_name(wanted));
    }
    return got == wanted;
}

bool want_number(const char *what, long long got, long long wanted)
{
    if (got != wanted) {
        book_miss("%s: %lld, not %lld", what, got, wanted);
    }
    return got == wanted;
}

bool want_text(const char *what, const char *got, const char *wanted)
{
    bool same = strcmp(got, wanted) == 0;

    if (!same) {
        book_miss("%s: '%.200s', not '%.200s'", what, got, wanted);
    }
    return same;
}

bool want(const char *what, bool so)
{
    if (!so) {
        book_miss("not so: %s", what);
    }
    return so;
}

const char *book_state(const struct book_on *on, SQLSMALLINT type,
                       SQLHANDLE handle, SQLSMALLINT number)
{
    SQLWCHAR state[6] = { 0 }, text[2];
    SQLSMALLINT length = 0;
    SQLINTEGER native = 0;
    SQLRETURN rc = TEXT_CALL(on, SQLGetDiagRec)(type, handle, number, state,
                                                &native, text, 1, &length);

    return SQL_SUCCEEDED(rc) ? out(on, state) : "";
}

bool want_state(const struct book_on *on, const char *what, SQLSMALLINT type,
                SQLHANDLE handle, const char *states)
{
    const char *state = book_state(on, type, handle, 1);
    bool listed = *state ? strstr(states, state) != NULL : !*states;

    if (!listed) {
        book_miss("%s: SQLSTATE %s, not %s", what, *state ? state : "none",
                  *states ? states : "none");
    }
    return listed;
}

bool want_error(const struct book_on *on, const char *what, SQLRETURN rc,
                SQLSMALLINT type, SQLHANDLE handle, const char *states)
{
    return want_rc(what, rc, SQL_ERROR) &&
           want_state(on, what, type, handle, states);
}

bool want_info(const struct book_on *on, const char *what, SQLRETURN rc,
               SQLSMALLINT type, SQLHANDLE handle, const char *states)
{
    return want_rc(what, rc, SQL_SUCCESS_WITH_INFO) &&
           want_state(on, what, type, handle, states);
}

/* ---- text -------------------------------------------------------------- */

enum { TEXTS = 16, TEXT_ROOM = 4096 };

size_t unit(const struct book_on *on)
{
    return on->wide ? sizeof(SQLWCHAR) : 1;
}

void *in(const struct book_on *on, const char *text)
{
    static SQLWCHAR buffers[TEXTS][TEXT_ROOM];
    static unsigned turn;
    SQLWCHAR *buffer = buffers[turn++ % TEXTS];
    size_t length = strnlen(text, TEXT_ROOM - 1);

    for (size_t i = 0; i < length; i++) {
        if (on->wide) {
            buffer[i] = (unsigned char)text[i];
        } else {
            ((char *)buffer)[i] = text[i];
        }
    }
    memset((char *)buffer + length * unit(on), 0, unit(on));
    return buffer;
}

const char *out(const struct book_on *on, const void *text)
{
    static char buffers[TEXTS][TEXT_ROOM];
    static unsigned turn;
    char *buffer = buffers[turn++ % TEXTS];
    size_t i = 0;

    for (; i < TEXT_ROOM - 1; i++) {
        uint16_t c = 0;

        memcpy(&c, (const char *)text + i * unit(on), unit(on));
        if (!c) {
            break;
        }
        buffer[i] = c < 128 ? (char)c : '?';
    }
    buffer[i] = '\0';
    return buffer;
}

void blot(void *buffer, size_t size)
{
    memset(buffer, '#', size);
    memset((char *)buffer + size - sizeof(SQLWCHAR), 0, sizeof(SQLWCHAR));
}

/* ---- handles ----------------------------------------------------------- */

SQLRETURN book_exec(const struct book_on *on, SQLHSTMT stmt, const char *sql)
{
    return TEXT_CALL(on, SQLExecDirect)(stmt, in(on, sql), SQL_NTS);
}

const char *book_value(const struct book_on *on)
{
    static char value[200];
    SQLLEN length = 0;

    value[0] = '\0';
    want_rc("SQLFetch", on->odbc->SQLFetch(on->stmt), SQL_SUCCESS);
    on->odbc->SQLGetData(on->stmt, 1, SQL_C_CHAR, value, sizeof value, &length);
    on->odbc->SQLFreeStmt(on->stmt, SQL_CLOSE);
    return value;
}

SQLHSTMT book_stmt(const struct book_on *on, SQLHDBC dbc)
{
    SQLHSTMT stmt = SQL_NULL_HSTMT;

    want_rc("a statement",
            on->odbc->SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt), SQL_SUCCESS);
    return stmt;
}

SQLHDBC book_dbc(const struct book_on *on)
{
    SQLHDBC dbc = SQL_NULL_HDBC;

    want_rc("a connection handle",
            on->odbc->SQLAllocHandle(SQL_HANDLE_DBC, on->env, &dbc),
            SQL_SUCCESS);
    return dbc;
}

SQLHDBC book_open(const struct book_on *on, const char *more)
{
    SQLHDBC dbc = book_dbc(on);
    SQLSMALLINT length = 0;
    char string[1024];
    SQLRETURN rc;

    if (on->wide && on->below) { /* as the manager does */
        on->odbc->SQLSetConnectAttr(dbc, SQL_ATTR_ANSI_APP,
                                    (SQLPOINTER)SQL_AA_FALSE, SQL_IS_INTEGER);
    }
    snprintf(string, sizeof string, "%s%s", on->string, more);
    rc = TEXT_CALL(on, SQLDriverConnect)(dbc, NULL, in(on, string), SQL_NTS,
                                         NULL, 0, &length,
                                         SQL_DRIVER_NOPROMPT);
    if (SQL_SUCCEEDED(rc)) {
        return dbc;
    }
    book_miss("connecting by '%s': %s", string,
              book_state(on, SQL_HANDLE_DBC, dbc, 1));
    on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc);
    return SQL_NULL_HDBC;
}

void book_close(const struct book_on *on, SQLHDBC dbc)
{
    if (dbc) {
        want_rc("SQLDisconnect", on->odbc->SQLDisconnect(dbc), SQL_SUCCESS);
        want_rc("SQLFreeHandle",
                on->odbc->SQLFreeHandle(SQL_HANDLE_DBC, dbc), SQL_SUCCESS);
    }
}

bool book_own(const struct book_on *on, struct book_on *own)
{
    *own = *on;
    own->dbc = book_open(on, "");
    own->stmt = own->dbc ? book_stmt(on, own->dbc) : SQL_NULL_HSTMT;
    return own->stmt != SQL_NULL_HSTMT;
}

void book_own_end(struct book_on *own)
{
    if (own->stmt) {
        own->odbc->SQLFreeHandle(SQL_HANDLE_STMT, own->stmt);
    }
    book_close(own, own->dbc);
}

/* ---- the drivers ------------------------------------------------------- */

static const struct inner_calls manager = {
#define PLAIN(name, ...) .name = name,
#define TEXT(name, ...) .name = name, .name##W = name##W,
#include "surface.def"
};
static struct inner_calls libraries[2]; /* psqlODBC's, ours */

/* The path of a library that is mapped; "" = none of that name is. */
static void find_path(const char *name, char *path, size_t size)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];

    path[0] = '\0';
    while (maps && !*path && fgets(line, sizeof line, maps)) {
        if (strstr(line, name) && strchr(line, '/')) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(path, size, "%s", strchr(line, '/'));
        }
    }
    if (maps) {
        fclose(maps);
    }
}

/* The exports of a library that the manager has loaded. */
static void look_up(const char *name, struct inner_calls *calls)
{
    char path[1024];
    void *library;

    find_path(name, path, sizeof path);
    library = *path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!library) {
        printf("Bail out! %s is not loaded\n", name);
        exit(99);
    }
#define LOOK_UP(name) *(void **)(void *)&calls->name = dlsym(library, #name);
#define PLAIN(name, ...) LOOK_UP(name)
#define TEXT(name, ...) LOOK_UP(name) LOOK_UP(name##W)
#include "surface.def"
}

static void open_on(struct book_on *on)
{
    SQLRETURN rc =
        on->odbc->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &on->env);

    if (SQL_SUCCEEDED(rc)) {
        on->odbc->SQLSetEnvAttr(on->env, SQL_ATTR_ODBC_VERSION,
                                (SQLPOINTER)SQL_OV_ODBC3, 0);
        on->dbc = book_open(on, "");
    }
    if (!on->dbc) {
        printf("Bail out! %s\n", missed->text[0]);
        exit(99);
    }
}

/* The driver reached in that way, connected at its first use. */
static struct book_on *on_way(bool ours, enum book_way way)
{
    static struct book_on opened[2][BOOK_ANSI + 1];
    struct book_on *on = &opened[ours][way];

    if (on->env) {
        return on;
    }
    on->ours = ours;
    on->below = way & BOOK_BELOW;
    on->wide = way & (BOOK_WIDE | BOOK_LOW_WIDE);
    on->string = way == BOOK_ANSI
                     ? (ours ? "DSN=orders-ansi;Instances=n1-ansi"
                             : "DSN=n1-ansi")
                     : (ours ? "DSN=orders;Instances=n1" : "DSN=n1");
    on->odbc = &manager;
    if (on->below) {
        struct inner_calls *calls = &libraries[ours];

        on_way(ours, BOOK_NARROW); /* loads it */
        if (!calls->SQLFetch) {
            look_up(ours ? "libodbcaffinity.so" : "psqlodbcw.so", calls);
        }
        on->odbc = calls;
    }
    open_on(on);
    return on;
}

/* ---- trying ------------------------------------------------------------ */

static const char *way_name(enum book_way way)
{
    switch (way) {
    case BOOK_NARROW:
        return "narrow";
    case BOOK_WIDE:
        return "wide";
    case BOOK_ANSI:
        return "ANSI";
    case BOOK_LOW:
        return "narrow, below the manager";
    default:
        return "wide, below the manager";
    }
}

static void find(struct misses *misses, bool ours, enum book_way way,
                 book_rule *rule, const void *row)
{
    struct book_on on;

    missed = misses;
    missed->count = 0;
    on = *on_way(ours, way);
    on.stmt = book_stmt(&on, on.dbc);
    rule(&on, row);
    on.odbc->SQLFreeHandle(SQL_HANDLE_STMT, on.stmt);
}

static char problems[16384];

static void problem(enum book_way way, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void problem(enum book_way way, const char *format, ...)
{
    size_t length = strlen(problems);
    va_list arguments;

    length += (size_t)snprintf(problems + length, sizeof problems - length,
                               "%s%s: ", length ? "\n# " : "", way_name(way));
    if (length < sizeof problems) {
        va_start(arguments, format);
        vsnprintf(problems + length, sizeof problems - length, format,
                  arguments);
        va_end(arguments);
    }
}

static bool has(const struct misses *misses, const char *text)
{
    for (size_t i = 0; i < misses->count; i++) {
        if (strcmp(misses->text[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* A miss must have its reason; it is told beside the result. */
static void explain(enum book_way way, const char *rule, const char *miss,
                    unsigned by)
{
    const char *reason;

    if (way & BOOK_BELOW) {
        by &= ~(unsigned)BOOK_BY_MANAGER;
    }
    reason = book_deviation(rule, miss, by);
    if (reason) {
        printf("# note (%s): %s: %s\n", way_name(way), miss, reason);
    } else {
        problem(way, "%s%s", by == BOOK_BY_US ? "ours alone: " : "", miss);
    }
}

/* What is handed down must come back as psqlODBC gives it. */
static void compare(enum book_way way, const char *rule,
                    const struct misses *inner, const struct misses *ours)
{
    for (size_t i = 0; i < ours->count; i++) {
        if (!has(inner, ours->text[i])) {
            explain(way, rule, ours->text[i], BOOK_BY_US);
        }
    }
    for (size_t i = 0; i < inner->count; i++) {
        if (!has(ours, inner->text[i])) {
            problem(way, "psqlODBC's alone: %s", inner->text[i]);
        } else {
            explain(way, rule, inner->text[i],
                    BOOK_BY_PSQLODBC | BOOK_BY_MANAGER);
        }
    }
}

void book_try(enum book_whose whose, unsigned ways, const char *name,
              book_rule *rule, const void *row)
{
    static struct misses inner, ours;

    problems[0] = '\0';
    for (unsigned way = 1; way <= BOOK_ANSI; way <<= 1) {
        if (!(ways & way)) {
            continue;
        }
        find(&ours, true, way, rule, row);
        if (whose == BOOK_INNER) {
            find(&inner, false, way, rule, row);
            compare(way, name, &inner, &ours);
            continue;
        }
        for (size_t i = 0; i < ours.count; i++) {
            explain(way, name, ours.text[i], BOOK_BY_MANAGER | BOOK_BY_US);
        }
    }
    tap_ok(!problems[0], name, "%s", problems);
}

int book_end(void)
{
    return tap_end();
}
