/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* fleet_key.h says what for. */
#include "autoconf.h"

#include "fleet_key.h"

#include "fleet.h"
#include "route_key.h"
#include "text_encoding.h"

#include <string.h>

/* Most are, and mean the same in all encodings that a locale can have. */
static bool is_ascii(const char *bytes)
{
    while (*bytes && (unsigned char)*bytes < 0x80) {
        bytes++;
    }
    return !*bytes;
}

/* NULL: as they are.  A fleet's instances have inner drivers of one sort. */
static const char *encoding_of(const struct fleet *fleet, bool wide)
{
    const struct inner_kind *kind = fleet->instances[0].inner->kind;

    return wide || !kind->narrow_encoding ? NULL : kind->narrow_encoding();
}

bool fleet_read_text(const struct fleet *fleet, const char *bytes, bool wide,
                     struct text *out, struct why *why)
{
    const char *encoding =
        is_ascii(bytes) ? NULL : encoding_of(fleet, wide);

    if (!encoding) {
        text_append(out, bytes);
        return true;
    }
    if (!text_append_encoded(out, bytes, strlen(bytes), encoding)) {
        why_set(why, WHY_KEY,
                "AffinityKey is no text in %s, which the environment says "
                "that narrow texts are in", encoding);
        return false;
    }
    return true;
}

bool fleet_read_key(const struct fleet *fleet, const char *bytes, bool wide,
                    struct route_key **key, struct why *why)
{
    struct text text;
    bool ok;

    *key = NULL;
    text_init(&text);
    ok = fleet_read_text(fleet, bytes, wide, &text, why);
    if (ok && text.failed) {
        why_memory(why);
        ok = false;
    }
    if (ok) {
        switch (route_key_parse(text_string(&text), text.length, key, why)) {
        case ROUTE_KEY_OK:
        case ROUTE_KEY_NONE:
            break;
        default:
            ok = false;
        }
    }
    text_free(&text);
    return ok;
}
