/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Filling struct why.  Works without memory and without locks, because it is
 * used to say that there is no memory.
 */
#include "autoconf.h"

#include "why.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

void why_vset(struct why *why, enum why_code code, const char *format,
              va_list arguments)
{
    int length;

    if (!why) {
        return;
    }
    why->code = code;
    length = vsnprintf(why->text, sizeof why->text, format, arguments);
    if (length < 0) {
        why->text[0] = '\0';
    } else if (length >= WHY_TEXT) {
        memcpy(why->text + text_cut(why->text, WHY_TEXT - sizeof "..."), "...",
               sizeof "...");
    }
}

void why_set(struct why *why, enum why_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    why_vset(why, code, format, arguments);
    va_end(arguments);
}

void why_memory(struct why *why)
{
    why_set(why, WHY_MEMORY, "out of memory");
}
