/* SPDX-FileCopyrightText: odbc-affinity contributors */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * topology_file: what the map file may say, and how each mistake is named.
 */
#include "unit-topology.h"

#include <sys/stat.h>

static struct why why;
static const char *owned = "";

static struct topology_file *read_map(const char *text)
{
    static const char *const names[] = { "n1", "N2", "10.0.0.1:5433" };
    static struct instance instances[COUNT(names)];

    for (unsigned i = 0; i < COUNT(names); i++) {
        instances[i].name = names[i];
    }
    fleet.instances = instances;
    fleet.count = COUNT(names);
    memset(&why, 0, sizeof why);
    write_map(text);
    return topology_file_read(map_path, &fleet, owned, &why);
}

static const struct refusal {
    const char *text;
    const char *why; /* behind "AffinityMap <file>" */
} refusals[] = {
    { "[n1]\nrange=0..10\n[n2]\nrange=5..20\n",
      ", [n1] and [N2]: range: FOR VALUES FROM ('0') TO ('10') overlaps FOR "
      "VALUES FROM ('5') TO ('20')" },
    { "[n1]\nrange=a..m\n[n2]\nrange=l..z\n",
      ", [n1] and [N2]: range: FOR VALUES FROM ('a') TO ('m') overlaps FOR "
      "VALUES FROM ('l') TO ('z')" },
    { "[n1]\nrange=0..10,5..6\n",
      ", [n1]: range: FOR VALUES FROM ('0') TO ('10') overlaps FOR VALUES "
      "FROM ('5') TO ('6')" },
    { "[n1]\nrange=..5\n[n2]\nrange=..\n",
      ", [n1] and [N2]: range: FOR VALUES FROM (MINVALUE) TO ('5') overlaps "
      "FOR VALUES FROM (MINVALUE) TO (MAXVALUE)" },
    { "[n1]\nrange=10..9\n",
      ", [n1]: range: FOR VALUES FROM ('10') TO ('9') is empty" },
    { "[n1]\nrange=5\n",
      ", line 2, [n1] range: a range is written low..high, the high end not "
      "included; an open end is empty" },
    { "[n1]\nrange=1..\"\"\n",
      ", line 2, [n1] range: \"\" is no end of a range; an open end is "
      "empty" },
    { "[n1]\nrange=1..2..3\n",
      ", line 2, [n1] range: a range is written low..high; values with .. or "
      ", in them are put into \"quotes\"" },
    { "[n1]\nlist=eu,NULL\n[n2]\nlist.2=null\n",
      ", [n1] and [N2]: list: FOR VALUES IN (NULL) is the same as FOR VALUES "
      "IN (NULL)" },
    { "[n1]\nlist=1\n[n2]\nlist=01\n",
      ", [n1] and [N2]: list: FOR VALUES IN ('1') is the same as FOR VALUES "
      "IN ('01')" },
    { "[n1]\nlist=eu,,us\n",
      ", line 2, [n1] list: a value is missing; an empty text is written "
      "\"\"" },
    { "[n1]\nlist='\"eu'\n",
      ", line 2, [n1] list: a quote that is not closed, or text behind one" },
    { "[n1]\nhash=0/4, 1/4\n[n2]\nhash=2/4\n",
      ", [n1]: hash: nobody has remainder 3 of modulus 4" },
    { "[n1]\nhash=0/4, 1/2\n[n2]\nhash=2/4, 3/4\n",
      ", [n1] and [N2]: hash: FOR VALUES WITH (modulus 2, remainder 1) "
      "overlaps FOR VALUES WITH (modulus 4, remainder 3)" },
    { "[n1]\nhash=4/4\n",
      ", line 2, [n1] hash: remainder 4 of modulus 4: it must be less" },
    { "[n1]\nhash=1\n",
      ", line 2, [n1] hash: \"1\" is not remainder/modulus" },
    { "[n1]\nhash=0/2\n[n2]\nhash=1/1048577\n",
      ", [N2]: hash: FOR VALUES WITH (modulus 1048577, remainder 1) does not "
      "go with the other moduli: their least common multiple is over "
      "1,048,576" },
    { "[n1]\nlist=1\nrange=1..2\n",
      ", line 3, [n1] range: list and range: only one of them is possible" },
    { "[n1]\nrange=1..2\n[n2]\nhash=0/1\n",
      ", [n1] and [N2]: range and hash: all instances must use the same" },
    { "[n1]\ndefault=yes\n[n2]\ndefault=on\n",
      ": both [n1] and [N2] say default" },
    { "[n9]\nweight=1\n", ", line 1, [n9]: Instances has none of that name" },
    { "[n1]\nwieght=1\n",
      ", line 2, [n1] wieght: no such key; is it weight?" },
    { "[n1]\nrange.x=1..2\n", ", line 2, [n1] range.x: no such key; is it "
      "range?" },
    { "[n1]\ncolour=red\n", ", line 2, [n1] colour: no such key" },
    { "[n1]\nweight=-1\n", ", line 2, [n1] weight: \"-1\" is no weight: 0 to "
      "1000000, or disabled" },
    { "[n1]\nweight.select=1000001\n",
      ", line 2, [n1] weight.select: \"1000001\" is no weight: 0 to 1000000, "
      "or disabled" },
    { "[n1]\nenabled=perhaps\n",
      ", line 2, [n1] enabled: \"perhaps\" is neither yes nor no" },
    { "[n1]\npoolmax=0\n",
      ", line 2, [n1] poolmax: \"0\" is no number from 1 to 100000" },
    { "[n1]\ngroup=\n", ", line 2, [n1] group: a group must have a name" },
    /* what iniparser would change or drop without a word */
    { "[n1]\nweight=1\n[N1]\nWEIGHT=2\n",
      ", line 4, [N1] weight: this key stands there twice" },
    { "[n1]\nlist=a;b\n", ", line 2, [n1] list: ; and # begin a comment; put "
      "the whole value into quotes" },
    { "[n1]\nlist=\"eu\", us\n",
      ", line 2, [n1] list: text follows the closing quote; put the whole "
      "value into '…' or \"…\"" },
    { "[n1]\nlist='eu\n", ", line 2, [n1] list: the quote that the value "
      "begins with is not closed" },
    { "[n1]\nlist=a,\\\nb\n",
      ", line 2, [n1] list: a line must not end in a backslash; long lists go "
      "on in numbered keys: list.1, list.2" },
    { "weight=1\n", ", line 1: a key before the first [section]" },
    { "[n1] ; x\n", ", line 1: a section is written [instance] and stands "
      "alone in its line" },
    { "[n1]\nweight\n",
      ", line 2, [n1]: neither a [section] nor key = value" },
};

static void test_refusals(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(refusals); i++) {
        char expected[500];
        if (read_map(refusals[i].text)) {
            fail_msg("accepted: %s", refusals[i].text);
        }
        snprintf(expected, sizeof expected, "AffinityMap %s%s", map_path,
                 refusals[i].why);
        assert_string_equal(why.text, expected);
        assert_int_equal(why.code, WHY_INI);
    }
}

static void test_long_line(void **state)
{
    char text[1200] = "[n1]\nlist = ";

    (void)state;
    memset(text + 12, 'x', 1100);
    assert_null(read_map(text));
    assert_non_null(strstr(why.text, "line 2, [n1]: the line is too long"));
}

static void test_missing_file(void **state)
{
    (void)state;
    assert_null(topology_file_read("/no/such.map", &fleet, "", &why));
    assert_string_equal(why.text,
                        "AffinityMap /no/such.map: No such file or directory");
}

/* None of them may be waited for, or read to its end. */
static void test_no_regular_file(void **state)
{
    const char *paths[] = { "/", "/dev/zero", map_path };
    (void)state;

    unlink(map_path);
    assert_int_equal(mkfifo(map_path, 0600), 0);
    for (size_t i = 0; i < COUNT(paths); i++) {
        char expected[500];

        snprintf(expected, sizeof expected,
                 "AffinityMap %s: it is no regular file", paths[i]);
        alarm(60);
        assert_null(topology_file_read(paths[i], &fleet, "", &why));
        alarm(0);
        assert_string_equal(why.text, expected);
    }
    unlink(map_path);
}

/* A dump in the map's place costs neither the memory nor the time to read it:
   this one is never read, it has holes only. */
static void test_huge_file(void **state)
{
    char expected[200];

    (void)state;
    write_map("[n1]\n");
    snprintf(expected, sizeof expected,
             "AffinityMap %s: it has more than 16 MB", map_path);
    assert_int_equal(truncate(map_path, (16L << 20) + 1), 0);
    assert_null(topology_file_read(map_path, &fleet, owned, &why));
    assert_string_equal(why.text, expected);
    assert_int_equal(truncate(map_path, 1L << 40), 0);
    assert_null(topology_file_read(map_path, &fleet, owned, &why));
    assert_string_equal(why.text, expected);
    assert_int_equal(truncate(map_path, 16L << 20), 0);
    assert_null(topology_file_read(map_path, &fleet, owned, &why));
    assert_non_null(strstr(why.text, "line 2")); /* that much is read */
}

static void test_many_keys(void **state)
{
    struct text text;
    char line[32];

    (void)state;
    text_init(&text);
    text_append(&text, "[n1]\n");
    for (unsigned i = 0; i <= 100000; i++) {
        snprintf(line, sizeof line, "list.%u=%u\n", i + 1, i);
        text_append(&text, line);
    }
    assert_null(read_map(text_string(&text)));
    assert_non_null(strstr(why.text, "line 100002, [n1] list.100001: the file "
                                     "has more than 100,000 keys"));
    text_free(&text);
}

static void test_two_sources(void **state)
{
    struct topology_file *file;

    (void)state;
    owned = "AffinityTable";
    assert_null(read_map("[n1]\nweight=1\nrange=1..2\n"));
    assert_non_null(strstr(why.text, "[n1] range: who owns what is said by "
                           "AffinityTable"));
    file = read_map("[n1]\nweight=7\n");
    assert_non_null(file);
    assert_false(file->owns);
    topology_file_free(file);
    owned = "";
}

static void test_limits(void **state)
{
    struct topology_file *file =
        read_map("# a comment\n; another\n\n[n1]\nWeight = 3 ; it is big\n"
                 "weight.select = 5\nreadonly = yes\nPoolMax = 7\n"
                 "group = \"a;b\"\n[N2]\nweight = disabled\n"
                 "weight.connect = 2\nenabled = off\r\n"
                 "[10.0.0.1:5433]\nweight=4\nweight.connect=disabled\n");

    (void)state;
    assert_non_null(file);
    assert_int_equal(file->sections[0].weight, 3);
    assert_true(file->sections[0].read_only);
    assert_false(file->sections[0].disabled || file->sections[0].never);
    assert_int_equal(file->sections[0].pool_max, 7);
    assert_string_equal(file->sections[0].group, "a;b");
    assert_int_equal(file->sections[1].weight, 2);
    assert_true(file->sections[1].disabled);
    assert_false(file->sections[1].never);
    assert_true(file->sections[2].never);
    assert_false(file->owns);
    topology_file_free(file);
}

static void test_defaults(void **state)
{
    struct topology_file *file = read_map("");

    (void)state;
    assert_non_null(file);
    assert_int_equal(file->sections[0].weight, 1);
    assert_int_equal(file->sections[0].pool_max, 0);
    assert_string_equal(file->sections[0].group, "");
    topology_file_free(file);
}

/* The bounds of a section, joined. */
static const char *bounds(const struct topology_file *file, int section)
{
    static char words[400];
    const struct topology_reply *reply = file->sections[section].reply;
    const struct topology_tree *tree = reply->tree;

    words[0] = '\0';
    for (uint32_t i = 1; i < tree->count; i++) {
        size_t length = strlen(words);
        snprintf(words + length, sizeof words - length, "%.*s;",
                 (int)tree->nodes[i].length - 11,
                 text_string(&tree->text) + tree->nodes[i].text + 11);
    }
    return words;
}

static bool has(const char *words, const char *word)
{
    return strstr(words, word) != NULL;
}

static void test_values(void **state)
{
    struct topology_file *file = read_map(
        "[n1]\nlist = eu, NULL, it's\n"
        "list.7 = '\"a,b\", \"NULL\", \"say \"\"x\"\"\", \"\"'\n"
        "[n2]\nlist = \"us; not a comment\"\nlist.1 = žlu\n");
    const char *words;

    (void)state;
    if (!file) {
        fail_msg("%s", why.text);
    }
    words = bounds(file, 0);
    assert_true(has(words, "IN ('eu');"));
    assert_true(has(words, "IN (NULL);"));
    assert_true(has(words, "IN ('NULL');"));
    assert_true(has(words, "IN ('it''s');"));
    assert_true(has(words, "IN ('a,b');"));
    assert_true(has(words, "IN ('say \"x\"');"));
    assert_true(has(words, "IN ('');"));
    assert_int_equal(file->sections[0].reply->tree->count, 8);
    words = bounds(file, 1);
    assert_true(has(words, "IN ('us; not a comment');"));
    assert_true(has(words, "IN ('žlu');"));
    assert_false(file->sections[1].reply->numbers);
    topology_file_free(file);
}

static void test_ranges(void **state)
{
    struct topology_file *file =
        read_map("[n1]\nrange = ..-5, 0 .. 10\nrange.2 = 500..\n"
                 "[n2]\nrange=10..500\n");
    const char *words;

    (void)state;
    if (!file) {
        fail_msg("%s", why.text);
    }
    assert_true(file->owns);
    words = bounds(file, 0);
    assert_true(has(words, "FROM (MINVALUE) TO ('-5');"));
    assert_true(has(words, "FROM ('0') TO ('10');"));
    assert_true(has(words, "FROM ('500') TO (MAXVALUE);"));
    assert_true(file->sections[0].reply->numbers);
    topology_file_free(file);
    file = read_map("[n1]\nrange = '\"a..b\"..\"c,d\"'\n");
    assert_non_null(file);
    assert_true(has(bounds(file, 0), "FROM ('a..b') TO ('c,d');"));
    topology_file_free(file);
}

static void test_same_group_may_repeat(void **state)
{
    struct topology_file *file =
        read_map("[n1]\ngroup=a\nrange=0..10\n[n2]\ngroup=A\nrange=0..10\n");

    (void)state;
    assert_non_null(file);
    topology_file_free(file);
    assert_null(read_map("[n1]\ngroup=a\nrange=0..10\n"
                         "[n2]\ngroup=a\nrange=0..11\n"));
}

/* setup/affinity.map.sample is what it says. */
static void test_sample(void **state)
{
    static struct instance instances[] = { { .name = "n1" }, { .name = "n2" },
                                           { .name = "n3" } };
    const char *top = getenv("AFF_SRCDIR");
    struct topology_file *file;
    char path[400];

    (void)state;
    snprintf(path, sizeof path, "%s/setup/affinity.map.sample",
             top ? top : ".");
    fleet.instances = instances;
    fleet.count = COUNT(instances);
    file = topology_file_read(path, &fleet, "", &why);
    if (!file) {
        fail_msg("%s", why.text);
    }
    assert_true(has(bounds(file, 0), "FROM (MINVALUE) TO ('1000');"));
    assert_true(has(bounds(file, 1), "FROM ('1000') TO ('2000');"));
    assert_true(file->sections[2].reply->otherwise);
    assert_int_equal(file->sections[0].weight, 2);
    assert_int_equal(file->sections[0].pool_max, 40);
    assert_string_equal(file->sections[2].group, "third");
    topology_file_free(file);
}

static void test_silence(void **state)
{
    char buffer[8];
    int pipes[2], saved = dup(2);

    (void)state;
    assert_int_equal(pipe2(pipes, 0), 0);
    dup2(pipes[1], 2);
    close(pipes[1]);
    assert_null(read_map("[n1\nx\n"));
    dup2(saved, 2);
    close(saved);
    assert_int_equal(read(pipes[0], buffer, sizeof buffer), 0);
    close(pipes[0]);
}

static int end(void **state)
{
    (void)state;
    unlink(map_path);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_no_regular_file),
        cmocka_unit_test(test_huge_file),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_two_sources),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_same_group_may_repeat),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_silence),
    };

    return cmocka_run_group_tests(tests, NULL, end);
}
