/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The search for the word that every command has: all four sorts of text, at
 * all addresses, and nothing but the text decides.  What a command is else:
 * unit-command.c.
 */
#include "autoconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "command_likely.h"

/* A text of x with the word at place `word` (none if that is NONE), beginning
   with ';', so that it is a likely one, if the word does not stand there. */
enum { NONE = -1, LETTERS = 8 };

struct sample {
    int length, word;
    enum text_width width;
    bool terminated;
};

static size_t unit_of(const struct sample *sample)
{
    return sample->width == TEXT_WIDE ? sizeof(SQLWCHAR) : 1;
}

static size_t size_of(const struct sample *sample)
{
    return (size_t)(sample->length + sample->terminated) * unit_of(sample);
}

static void put(char *text, const struct sample *sample, int place, char c)
{
    SQLWCHAR wide = (unsigned char)c;

    if (sample->width == TEXT_WIDE) {
        memcpy(text + place * 2, &wide, sizeof wide);
    } else {
        text[place] = c;
    }
}

static void write_sample(char *text, const struct sample *sample)
{
    static const char *const words[] = { "AFFINITY", "affinity", "aFfInItY",
                                         "AfFiNiTy" };

    for (int i = 0; i < sample->length; i++) {
        put(text, sample, i, i == 0 ? ';' : 'x');
    }
    for (int i = 0; i < LETTERS && sample->word != NONE; i++) {
        put(text, sample, sample->word + i,
            words[(sample->length + sample->word) % 4][i]);
    }
    if (sample->terminated) {
        put(text, sample, sample->length, '\0');
    }
}

/* Wide text at an odd address may get a closer look without need. */
static bool is_odd(const struct sample *sample, const char *text)
{
    return sample->width == TEXT_WIDE && (uintptr_t)text % 2 != 0;
}

static void check_sample(const struct sample *sample, char *text)
{
    SQLINTEGER length = sample->terminated ? SQL_NTS : sample->length;

    write_sample(text, sample);
    if (sample->word != NONE || !is_odd(sample, text)) {
        assert_int_equal(command_possible(text, length, sample->width),
                         sample->word != NONE);
    }
    assert_int_equal(command_likely(text, length, sample->width),
                     sample->word > 0);
}

/* Each of the four sorts, each length, the word at each place. */
static void each_sample(void (*check)(const struct sample *sample, void *data),
                        void *data)
{
    enum { LONGEST = 52 };
    struct sample sample;

    for (int sort = 0; sort < 4; sort++) {
        sample.width = sort & 1 ? TEXT_WIDE : TEXT_NARROW;
        sample.terminated = sort & 2;
        for (sample.length = 0; sample.length < LONGEST; sample.length++) {
            sample.word = NONE;
            do {
                check(&sample, data);
                sample.word++;
            } while (sample.word + LETTERS <= sample.length);
        }
    }
}

enum { PAGE = 4096 };

/* At the end of a page behind which none is, and at each address from the
   start of it on, with half words before and behind. */
static void check_in_page(const struct sample *sample, void *data)
{
    char *page = data;

    check_sample(sample, page + PAGE - size_of(sample));
    for (int at = 0; at < 17; at++) {
        memset(page, at % 2 ? 'f' : 'A', (size_t)at);
        memset(page + (size_t)at + size_of(sample), 'F', 40);
        check_sample(sample, page + at);
    }
}

static void the_word_is_found_at_any_address(void **state)
{
    char *pages = mmap(NULL, (size_t)PAGE * 3, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(sysconf(_SC_PAGESIZE), PAGE);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    each_sample(check_in_page, pages + PAGE);
    munmap(pages, (size_t)PAGE * 3);
}

/* For valgrind: nothing that was never written decides anything. */
static void check_among_unwritten(const struct sample *sample, void *data)
{
    size_t at = (size_t)(sample->length + sample->word + 1) % 17;
    char *block = malloc(at + size_of(sample) + 17);

    (void)data;
    assert_non_null(block);
    check_sample(sample, block + at);
    free(block);
}

/* For AddressSanitizer and valgrind: nothing beyond a block's ends is seen. */
static void check_alone(const struct sample *sample, void *data)
{
    char *block = malloc(size_of(sample) + !size_of(sample));

    (void)data;
    assert_non_null(block);
    check_sample(sample, block);
    free(block);
}

static void only_the_text_decides(void **state)
{
    (void)state;
    each_sample(check_among_unwritten, NULL);
    each_sample(check_alone, NULL);
}

/* A terminator ends a counted text as well. */
static void the_word_behind_a_terminator_is_none(void **state)
{
    char text[64];

    (void)state;
    for (int before = 1; before < 40; before++) {
        memset(text, ' ', sizeof text);
        memcpy(text, "SET", 3);
        text[before] = '\0';
        memcpy(text + before + 1, " AFFINITY", 9);
        assert_false(command_likely(text, before + 10, TEXT_NARROW));
        text[before] = ' ';
        assert_int_equal(command_likely(text, before + 10, TEXT_NARROW),
                         before > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_word_is_found_at_any_address),
        cmocka_unit_test(only_the_text_decides),
        cmocka_unit_test(the_word_behind_a_terminator_is_none),
    };

    return cmocka_run_group_tests_name("command_likely", tests, NULL, NULL);
}
