/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Texts of other encodings. */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"
#include "text_encoding.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

static void encoded_texts_become_utf8(void **state)
{
    static const struct {
        const char *encoding, *bytes, *utf8; /* NULL: no text of it */
    } rows[] = {
        { "ISO-8859-15", "Z\xFCrich \xA4", "Z\xC3\xBCrich \xE2\x82\xAC" },
        { "EUC-JP", "\xC6\xFC\xCB\xDC",
          "\xE6\x97\xA5\xE6\x9C\xAC" },
        { "EUC-JP", "Z\xFCrich", NULL },
        { "EUC-JP", "\xC6\xFC\xCB", NULL }, /* cut off */
        { "CP1258", "ba", "ba" }, /* the a is held back for an accent, */
        { "CP1258", "ba\xCC", "b\xC3\xA0" }, /* such as this */
        { "nonsense", "plain", NULL },
        { "ISO-8859-1", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct text text;

        text_init(&text);
        text_append(&text, "=");
        assert_int_equal(text_append_encoded(&text, rows[i].bytes,
                                             strlen(rows[i].bytes),
                                             rows[i].encoding),
                         rows[i].utf8 != NULL);
        assert_string_equal(text_string(&text) + 1,
                            rows[i].utf8 ? rows[i].utf8 : "");
        text_free(&text);
    }
}

static void long_encoded_texts_are_whole(void **state)
{
    char latin[5001];
    struct text text;

    (void)state;
    memset(latin, 0xFC, sizeof latin - 1);
    latin[sizeof latin - 1] = '\0';
    text_init(&text);
    assert_true(text_append_encoded(&text, latin, sizeof latin - 1,
                                    "ISO-8859-1"));
    assert_int_equal(text.length, 2 * (sizeof latin - 1));
    for (size_t i = 0; i < text.length; i += 2) {
        assert_memory_equal(text.data + i, "\xC3\xBC", 2);
    }
    text_free(&text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoded_texts_become_utf8),
        cmocka_unit_test(long_encoded_texts_are_whole),
    };

    return cmocka_run_group_tests_name("text_encoding", tests, NULL, NULL);
}
