/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Why something with a link failed: taken from the inner driver's records,
 * made by us, and said.
 */
#include "autoconf.h"

#include "link_call.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void link_take_error(const struct link *link, SQLSMALLINT type,
                     SQLHANDLE handle, struct link_error *error)
{
    const struct inner_calls *call = &link->inner->call;
    SQLSMALLINT length = 0;
    SQLRETURN rc = SQL_NO_DATA;

    memset(error, 0, sizeof *error);
    if (call->SQLGetDiagRec && handle) {
        rc = call->SQLGetDiagRec(type, handle, 1, (SQLCHAR *)error->state,
                                 &error->native, (SQLCHAR *)error->text,
                                 (SQLSMALLINT)sizeof error->text, &length);
    }
    if (!SQL_SUCCEEDED(rc)) {
        link_set_error(error, "HY000",
                       "the inner driver failed without a record");
    }
}

void link_note_scarcity(struct link_error *error)
{
    int fd = open("/", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
    } else if (errno == EMFILE || errno == ENFILE) {
        struct link_error cause = *error;

        link_set_error(error, cause.state,
                       "this process can open no more files: %s", cause.text);
        error->native = cause.native;
        error->scarce = true;
    }
}

enum inner_fault link_fault(const struct inner_kind *kind,
                            const struct link_error *error)
{
    return error->scarce
               ? INNER_FAULT_CROWDED
               : kind->fault(error->state, error->native, error->text);
}

bool link_is_refusal(const struct link_error *error)
{
    static const char *const passing[] = {
        "25", "40", "53", "55", "57", "58", "HYT", "XX",
    };

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        if (strncmp(error->state, passing[i], strlen(passing[i])) == 0) {
            return false;
        }
    }
    return true;
}

void link_set_error(struct link_error *error, const char *state,
                    const char *format, ...)
{
    va_list arguments;

    memset(error, 0, sizeof *error);
    snprintf(error->state, sizeof error->state, "%s", state);
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
}

void link_say_error(const struct link_error *error, struct text *out)
{
    if (!error->state[0]) {
        return;
    }
    text_appendf(out, "[%s] ", error->state);
    for (const char *p = error->text; *p; p++) {
        if (*p == '\t') {
            text_append_char(out, ' ');
        } else if (*p != '\n' && *p != '\r') {
            text_append_char(out, *p);
        } else if (p[strspn(p, "\r\n")]) { /* not at the end */
            p += strspn(p, "\r\n") - 1;
            text_append(out, "; ");
        }
    }
}
