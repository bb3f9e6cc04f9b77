/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Why something did not work: one code and one sentence, filled where the
 * fact is known and carried up unchanged to the handle that reports it.
 *
 * The codes are classes of failure, not places: diag.def gives each its
 * SQLSTATE and native number, and nothing else in the code names one.  The
 * text is UTF-8 without the "[odbc-affinity][DSN]" in front, never holds a
 * secret, and fits unixODBC 2.3.11's 512 characters (rules §11.7).
 */
#ifndef WHY_H
#define WHY_H

#include <stdarg.h>

/* WHY_NONE = 0 (nothing wrong; text is empty), then one per row of diag.def,
   which says what each means.  WHY_INNER: the inner driver's own records say
   it; text repeats the first of them for logs. */
enum why_code {
#define DIAG(code, state, native, text) WHY_##code,
#include "diag.def"
    WHY_CODES
};

enum { WHY_TEXT = 400 };

struct why {
    enum why_code code;
    char text[WHY_TEXT];
};

/* Fills *why, replacing what stood there; a text that is too long is cut
   after its last whole UTF-8 character and ends in "...".  why may be NULL
   (nobody asks).  Allocates nothing, never fails. */
void why_set(struct why *why, enum why_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void why_vset(struct why *why, enum why_code code, const char *format,
              va_list arguments) __attribute__((format(printf, 3, 0)));

/* The same for running out of memory, whose sentence is always the same. */
void why_memory(struct why *why);

#endif
