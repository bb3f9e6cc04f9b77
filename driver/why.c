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

/* Where text can be cut so that "..." still fits and no character is split. */
static size_t cut_at(const char *text)
{
    size_t end = WHY_TEXT - sizeof "...";

    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) {
        end--;
    }
    return end;
}

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
        memcpy(why->text + cut_at(why->text), "...", sizeof "...");
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
