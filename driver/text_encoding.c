/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* text_encoding.h says all there is to say. */
#include "autoconf.h"

#include "text_encoding.h"

#include "text.h"

#include <errno.h>
#include <iconv.h>

static bool convert(iconv_t conversion, const char *bytes, size_t count,
                    struct text *out)
{
    char *in = (char *)bytes; /* iconv() leaves them as they are */
    bool ok = true, done = false;

    while (ok && !done) {
        char room[256], *to = room;
        size_t left = sizeof room, rc;

        done = count == 0; /* what it has held back comes last */
        rc = done ? iconv(conversion, NULL, NULL, &to, &left)
                  : iconv(conversion, &in, &count, &to, &left);
        ok = rc != (size_t)-1 || errno == E2BIG;
        text_append_bytes(out, room, sizeof room - left);
    }
    return ok;
}

bool text_append_encoded(struct text *text, const char *bytes, size_t count,
                         const char *encoding)
{
    iconv_t conversion = iconv_open("UTF-8", encoding);
    struct text utf8;
    bool ok;

    if (conversion == (iconv_t)-1) {
        return false;
    }
    text_init(&utf8);
    ok = convert(conversion, bytes, count, &utf8) && !utf8.failed;
    iconv_close(conversion);
    if (ok) {
        text_append_bytes(text, text_string(&utf8), utf8.length);
    }
    text_free(&utf8);
    return ok;
}
