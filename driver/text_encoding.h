/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Texts of other encodings than Unicode's, by iconv().
 */
#ifndef TEXT_ENCODING_H
#define TEXT_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

struct text;

/* Appends bytes[0..count), in an encoding by iconv's name, as UTF-8.  False:
   they are no text of that encoding, or it is not known on this machine, or
   there is no memory; nothing is appended.  Any thread. */
bool text_append_encoded(struct text *text, const char *bytes, size_t count,
                         const char *encoding);

#endif
