/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pqopt: merging start-up values into a libpq conninfo string.  The judge is
 * libpq itself, where it is installed: what it reads from the merged string
 * must be what it read from the user's, and it must refuse what we refuse.
 */
#include "autoconf.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inner_pqopt.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

#define OURS "-c DateStyle=ISO -c extra_float_digits=2"
#define UTF8 "client_encoding='UTF8' "

static void expect(const char *user, const char *environment, bool wide,
                   const char *merged)
{
    struct why why = { .code = WHY_NONE };
    struct text out;

    text_init(&out);
    if (!pqopt_merge(user, environment, wide, &out, &why)) {
        fail_msg("<%s>: %s", user, why.text);
    }
    assert_string_equal(text_string(&out), merged);
    assert_int_equal(why.code, WHY_NONE);
    text_free(&out);
}

static void ours_come_last_as_psqlodbc_sets_them_last(void **state)
{
    (void)state;
    expect("", NULL, true, UTF8 "options='" OURS "'");
    expect("", NULL, false, "options='" OURS "'");
    expect("", "", true, UTF8 "options='" OURS "'");
    expect("", "-c geqo=off", true, UTF8 "options='-c geqo=off " OURS "'");
    expect("options=-cgeqo=on", "-c geqo=off", true,
           UTF8 "options='-c geqo=off -cgeqo=on " OURS "'");
    expect("options = '-c DateStyle=German'", NULL, false,
           "options='-c DateStyle=German " OURS "'");
    expect("options='-c a=1' options='-c b=2'", NULL, false,
           "options='-c b=2 " OURS "'"); /* libpq takes the last alone */
    expect("options='-c a=1' options=''", NULL, false,
           "options='" OURS "'");
}

static void a_wide_link_is_in_utf8(void **state)
{
    (void)state;
    expect("client_encoding=LATIN1", NULL, true, UTF8 "options='" OURS "'");
    expect("client_encoding=LATIN1", NULL, false,
           "client_encoding='LATIN1' options='" OURS "'");
}

static void the_users_timeout_is_left_out(void **state)
{
    (void)state;
    expect("connect_timeout=3 a=b", NULL, false,
           "a='b' options='" OURS "'");
}

static void other_values_are_kept_as_they_were_meant(void **state)
{
    (void)state;
    expect("application_name=app", NULL, false,
           "application_name='app' options='" OURS "'");
    expect(" a = b\tc= 'd e' ", NULL, false,
           "a='b' c='d e' options='" OURS "'");
    expect("a='it\\'s' b=x\\ y", NULL, false,
           "a='it\\'s' b='x y' options='" OURS "'");
    expect("a=c:\\\\d", NULL, false, "a='c:\\\\d' options='" OURS "'");
    expect("a='x'b=y", NULL, false, "a='x' b='y' options='" OURS "'");
    expect("a= b=c", NULL, false, "a='b=c' options='" OURS "'");
    expect("a=", NULL, false, "a='' options='" OURS "'");
    expect("a=x\\", NULL, false, "a='x' options='" OURS "'");
    expect("password=s%20+e", NULL, false,
           "password='s%20+e' options='" OURS "'");
}

static void what_is_no_conninfo_is_refused_without_quoting_it(void **state)
{
    static const struct {
        const char *user;
        const char *at;
    } rows[] = {
        { "nonsense", "byte 0" },
        { "password=topsecret host", "byte 19" },
        { "a='topsecret", "byte 0" },
        { "  ='topsecret'", "byte 2" },
        { "password='topsecret\\'", "byte 0" },
        { "password=topsecret =x", "byte 19" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct why why = { .code = WHY_NONE };
        struct text out;
        text_init(&out);
        assert_false(pqopt_merge(rows[i].user, NULL, true, &out, &why));
        assert_int_equal(why.code, WHY_VALUE);
        if (strstr(why.text, "secret") || !strstr(why.text, rows[i].at)) {
            fail_msg("<%s>: %s", rows[i].user, why.text);
        }
        text_free(&out);
        assert_false(pqopt_merge(rows[i].user, NULL, true, &out, NULL));
        text_free(&out);
    }
}

/* ---- libpq as the judge ---------------------------------------------------- */

struct pq_option { /* PQconninfoOption */
    char *keyword, *envvar, *compiled, *value, *label, *dispchar;
    int size;
};

static struct {
    struct pq_option *(*parse)(const char *conninfo, char **error);
    void (*free_options)(struct pq_option *options);
    void (*free_memory)(void *memory);
} pq;

static bool load_libpq(void)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        return false;
    }
    *(void **)&pq.parse = dlsym(library, "PQconninfoParse");
    *(void **)&pq.free_options = dlsym(library, "PQconninfoFree");
    *(void **)&pq.free_memory = dlsym(library, "PQfreemem");
    return pq.parse && pq.free_options && pq.free_memory;
}

static const char *value_of(const struct pq_option *options,
                            const char *keyword)
{
    for (; options->keyword; options++) {
        if (strcmp(options->keyword, keyword) == 0) {
            return options->value ? options->value : "(none)";
        }
    }
    return "(no such option)";
}

static void compare(const char *user, const struct pq_option *theirs)
{
    static const char *const kept[] = { "user", "host", "application_name" };
    struct pq_option *merged;
    struct text out, options;

    text_init(&out);
    text_init(&options);
    if (!pqopt_merge(user, "-c geqo=off", true, &out, NULL)) {
        fail_msg("libpq takes <%s>, we do not", user);
    }
    merged = pq.parse(text_string(&out), NULL);
    if (!merged) {
        fail_msg("<%s> was merged into <%s>", user, text_string(&out));
    }
    for (size_t i = 0; i < COUNT(kept); i++) {
        assert_string_equal(value_of(merged, kept[i]),
                            value_of(theirs, kept[i]));
    }
    text_append(&options, "-c geqo=off ");
    if (strcmp(value_of(theirs, "options"), "(none)") != 0 &&
        *value_of(theirs, "options")) {
        text_appendf(&options, "%s ", value_of(theirs, "options"));
    }
    text_append(&options, OURS);
    assert_string_equal(value_of(merged, "options"), text_string(&options));
    assert_string_equal(value_of(merged, "client_encoding"), "UTF8");
    pq.free_options(merged);
    text_free(&options);
    text_free(&out);
}

/* Option names unknown to libpq are its own business. */
static void check_refusal(const char *user, const char *error)
{
    struct text out;
    bool ok;

    text_init(&out);
    ok = pqopt_merge(user, NULL, true, &out, NULL);
    text_free(&out);
    if (ok && !strstr(error, "invalid connection option")) {
        fail_msg("we take <%s>, libpq does not: %s", user, error);
    }
}

static uint64_t drawn = 7;
static uint32_t draw(uint32_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(drawn >> 33) % below;
}

static void libpq_reads_the_same(void **state)
{
    static const char *const words[] = {
        "user", "host", "options", "application_name", "=", "=", "=", "=",
        " ", " ", "\t", "'", "'", "\\", "\\\\", "x", "it's", "-c a=b", "1",
    };
    unsigned taken = 0, refused = 0;
    (void)state;

    if (!load_libpq()) {
        print_message("# libpq.so.5 is not installed\n");
        skip();
    }
    for (unsigned n = 0; n < 100000; n++) {
        char user[200] = "", *error = NULL;
        struct pq_option *theirs;
        for (uint32_t k = draw(14); k > 0; k--) {
            size_t at = strlen(user);
            snprintf(user + at, sizeof user - at, "%s",
                     words[draw(COUNT(words))]);
        }
        theirs = pq.parse(user, &error);
        if (theirs) {
            compare(user, theirs);
            pq.free_options(theirs);
            taken++;
        } else {
            check_refusal(user, error);
            pq.free_memory(error);
            refused++;
        }
    }
    assert_true(taken > 5000);
    assert_true(refused > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_come_last_as_psqlodbc_sets_them_last),
        cmocka_unit_test(a_wide_link_is_in_utf8),
        cmocka_unit_test(the_users_timeout_is_left_out),
        cmocka_unit_test(other_values_are_kept_as_they_were_meant),
        cmocka_unit_test(what_is_no_conninfo_is_refused_without_quoting_it),
        cmocka_unit_test(libpq_reads_the_same),
    };

    return cmocka_run_group_tests_name("inner_pqopt", tests, NULL, NULL);
}
