#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Routing as its users meet it: the AffinityKey in a connection string, and
where the session then is. The truth comes from the instances themselves, asked
directly: which leaves each of them stores, which rows are in those, and for
keys without a row, which leaf the server's own planner picks."""
import os
import random
import re
import subprocess
import sys
import tempfile
import uuid

from odbc_tap import (PYTHON, check, connect, refusal, same, tap_run,
                      until_complete, until_settled, value)

INSTANCES = ('n1', 'n2', 'n3')
random.seed(20260301)

# name: the key columns with their types, outermost first
TABLES = {
    'orders': (('customer_id', 'bigint'),),
    'regions': (('k', 'text'),),
    'devices': (('id', 'uuid'),),
    'readings': (('at', 'date'), ('sensor', 'bigint')),
    'accounts': (('bank', 'bigint'), ('number', 'text')),
}

direct = {name: connect('DSN=' + name) for name in INSTANCES}


# ---- texts -----------------------------------------------------------------

def braced(text):
    return '{' + text.replace('}', '}}') + '}'


def sub_key(text, always=False):
    """As one writes it in an AffinityKey; None is the NULL sub-key."""
    if text is None:
        return 'NULL'
    if (always or re.search(r'[",]', text) or text != text.strip()
            or text.upper() in ('', 'NULL')):
        return '"' + text.replace('"', '""') + '"'
    return text


def spell(key, always=False):
    return ','.join(sub_key(text, always) for text in key)


def literal(text, kind):
    return "'%s'::%s" % (text.replace("'", "''"), kind)


def string(key, table=None, mode='strict', more=''):
    """The connection string for a key that is spelt already."""
    source = 'AffinityTable=public.%s;' % table if table else ''
    return 'DSN=orders;%sAffinityMode=%s;%sAffinityKey=%s' % (
        source, mode, more, braced(key))


# ---- the truth -------------------------------------------------------------

def rows_of(table):
    """Each key that has rows, and the instance that stores them."""
    truth = {}
    columns = ', '.join(name + '::text' for name, _ in TABLES[table])
    for instance, connection in direct.items():
        for leaf in leaves_of(table, connection):
            for row in connection.execute('SELECT DISTINCT %s FROM %s'
                                          % (columns, leaf)):
                assert tuple(row) not in truth, row
                truth[tuple(row)] = instance
    return truth


def leaves_of(table, connection):
    return [row[0] for row in connection.execute(
        "SELECT relid::regclass::text FROM pg_partition_tree('%s') "
        "JOIN pg_class ON oid = relid WHERE relkind = 'r'" % table)]


def stores_of(table):
    return {leaf: instance for instance, connection in direct.items()
            for leaf in leaves_of(table, connection)}


def planned(table, key, stores):
    """The instances whose leaves n1's planner would look into."""
    tests = ['%s IS NULL' % name if text is None
             else '%s = %s' % (name, literal(text, kind))
             for (name, kind), text in zip(TABLES[table], key)]
    plan = direct['n1'].execute('EXPLAIN (COSTS OFF) SELECT 1 FROM %s WHERE %s'
                                % (table, ' AND '.join(tests))).fetchall()
    found = set()
    for row in plan:
        found.update(re.findall(r' on (\w+)', row[0]))
    return {stores[leaf] for leaf in found if leaf in stores}


# ---- where sessions are ----------------------------------------------------

def place(where):
    connection = connect(where)
    try:
        return value(connection, 'SHOW cluster_name')
    finally:
        connection.close()


def where(key, table=None, mode='strict', more=''):
    return place(string(key, table, mode, more))


def all_reach(name, wanted, visit):
    """wanted: key -> instances; visit(key): the instance that was reached."""
    wrong = []
    for key, owners in wanted.items():
        got = visit(key)
        if got not in owners:
            wrong.append('%s: %s instead of %s' % (key, got, sorted(owners)))
    check('%s (%d keys)' % (name, len(wanted)), wanted and not wrong,
          '%d wrong\n%s' % (len(wrong), '\n'.join(wrong)))


def warm(table, keys, more=''):
    """A session of that fleet, once everything is learnt, each instance has
    an idle link beside the one it holds, and no helper is at work."""
    for key in keys:
        where(key, table, 'strict', more)
    connection = connect(string('', table, 'hint', more))
    until_complete(connection)
    until_settled(connection)
    held = value(connection, 'SHOW cluster_name')
    for key in keys:
        if where(key, table, 'strict', more) == held:
            break
    until_settled(connection)
    return connection


def one_per_instance(wanted):
    chosen = {}
    for key, owners in wanted.items():
        if len(owners) == 1:
            chosen.setdefault(min(owners), key)
    assert set(chosen) == set(INSTANCES), chosen
    return list(chosen.values())


def in_every_mode(table, what, wanted, share):
    """All keys in strict, one of `share` in prefer and in hint."""
    def visit(mode):
        return lambda key: where(key, table, mode)

    def visit_settled(key):
        until_settled(watcher)
        return where(key, table, 'hint')

    all_reach('%s, strict: %s reach their owner' % (table, what), wanted,
              visit('strict'))
    keys = random.sample(list(wanted), max(len(wanted) // share, 1))
    some = {key: wanted[key] for key in keys}
    all_reach('%s, prefer: %s reach their owner' % (table, what), some,
              visit('prefer'))
    watcher = warm(table, one_per_instance(wanted))
    all_reach('%s, hint, one session at a time: %s reach their owner'
              % (table, what), some, visit_settled)
    watcher.close()


def tables():
    for table in TABLES:
        truth = rows_of(table)
        same('%s has rows on every instance' % table, set(truth.values()),
             set(INSTANCES))
        wanted = {spell(key): {owner} for key, owner in truth.items()}
        in_every_mode(table, 'keys with rows', wanted,
                      max(len(wanted) // 200, 1))


# ---- keys without rows -----------------------------------------------------

def random_bigint():
    return str(random.choice((random.randint(-100, 4000),
                              random.randint(-2**63, 2**63 - 1),
                              -2**63, 2**63 - 1, 0)))


def random_text():
    return ''.join(random.choice('aZ09 ,";{}\'\\?%=NUL\u00e9\u20ac\U0001f600')
                   for _ in range(random.randint(0, 12)))


def random_date():
    return '2026-%02d-%02d' % (random.randint(1, 12), random.randint(1, 28))


def random_keys(table):
    make = {'bigint': random_bigint, 'text': random_text, 'date': random_date,
            'uuid': lambda: str(uuid.UUID(int=random.getrandbits(128)))}
    return {tuple(make[kind]() for _, kind in TABLES[table])
            for _ in range(250)}


def rowless():
    for table in ('orders', 'devices', 'readings', 'accounts'):
        stores = stores_of(table)
        keys = random_keys(table) - set(rows_of(table))
        wanted = {spell(key): planned(table, key, stores) for key in keys}
        same('%s: the planner knows one leaf for each random key' % table,
             {len(owners) for owners in wanted.values()}, {1})
        in_every_mode(table, 'random keys', wanted, 2)


def nulls():
    for table, key in (('orders', (None,)), ('regions', (None,)),
                       ('accounts', (None, 'x')),
                       ('accounts', ('1', None)), ('accounts', (None, None)),
                       ('readings', ('2026-08-08', None))):
        all_reach('%s: %s' % (table, spell(key)),
                  {spell(key): planned(table, key, stores_of(table))},
                  lambda spelt, table=table: where(spelt, table))
    same('regions: null in small letters is the NULL key as well',
         where('null', 'regions'), where('NULL', 'regions'))
    same('regions: "NULL" in quotes is a text that no partition takes',
         refusal(string('"NULL"', 'regions'))[0], 'HY000')


def prefixes():
    for table, key in (('readings', ('2026-02-03',)),
                       ('readings', ('2026-05-06',)), ('accounts', ('7',))):
        owners = planned(table, key, stores_of(table))
        for mode in ('strict', 'prefer'):
            all_reach('%s, %s: the prefix %s' % (table, mode, spell(key)),
                      {spell(key): owners},
                      lambda spelt, t=table, m=mode: where(spelt, t, m))
        with connect(string(spell(key), table)) as connection:
            same('%s: the prefix %s has the owners that the planner sees'
                 % (table, spell(key)),
                 set(connection.execute('SHOW AFFINITY').fetchone()
                     .owner.split(', ')), owners)


# ---- spelling --------------------------------------------------------------

def spellings():
    for table, spelt, key in (
            ('orders', '"1500"', ('1500',)),
            ('orders', ' 1500 ', ('1500',)),
            ('orders', '+01500', ('1500',)),
            ('orders', '-0', ('0',)),
            ('regions', '"eu"', ('eu',)),
            ('regions', "it's", ("it's",)),
            ('regions', '"it\'s"', ("it's",)),
            ('regions', 'žluťoučký kůň', ('žluťoučký kůň',)),
            ('devices', '{A0EEBC99-9C0B4EF8-BB6D6BB9-BD380A11}',
             ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',)),
            ('devices', 'a0eebc999c0b4ef8bb6d6bb9bd380a11',
             ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',)),
            ('readings', '2026-05-06 , 12', ('2026-05-06', '12')),
            ('readings', '"2026-05-06","12"', ('2026-05-06', '12')),
            ('readings', '20260506,12', ('2026-05-06', '12')),
            ('accounts', '1,"a,b"', ('1', 'a,b')),
            ('accounts', '1,"say ""a"""', ('1', 'say "a"')),
            ('accounts', '1," a"', ('1', ' a')),
            ('accounts', '1, a', ('1', 'a')),
            ('accounts', '1,""', ('1', '')),
            ('accounts', '1,"NULL"', ('1', 'NULL')),
            ('accounts', '1,a}b{c', ('1', 'a}b{c'))):
        all_reach('%s: %s' % (table, spelt),
                  {spelt: planned(table, key, stores_of(table))},
                  lambda text, table=table: where(text, table))
    same('a key without braces in the connection string',
         place('DSN=orders-strict;AffinityKey=2500'), 'n3')
    all_reach('a composite key without braces in the connection string',
              {'1,"a,b"': planned('accounts', ('1', 'a,b'),
                                  stores_of('accounts'))},
              lambda key: place('DSN=orders-strict;AffinityTable='
                                'public.accounts;AffinityKey=' + key))
    same('a keyword argument of pyodbc', value(
        connect('DSN=orders-strict', AffinityKey='1500'),
        'SHOW cluster_name'), 'n2')
    same('the last of two keys counts',
         place('DSN=orders-strict;AffinityKey=5;AffinityKey=2500'), 'n3')


# ---- keys that lead nowhere ------------------------------------------------

def refused(name, state, text, where):
    got, message = refusal(where)
    check(name, got == state and text in message,
          '%s: %s\nwanted %s with "%s"' % (got, message, state, text))


def wrong_keys():
    for table, key in (('regions', 'nowhere'), ('regions', 'EU'),
                       ('regions', '""'), ('readings', '2027-01-01,1'),
                       ('readings', '2025-12-31'), ('readings', 'NULL,1')):
        refused('%s, strict: no partition takes %s' % (table, key), 'HY000',
                'no partition takes the key', string(key, table))
        for mode in ('hint', 'prefer'):
            check('%s, %s: %s is served all the same' % (table, mode, key),
                  where(key, table, mode) in INSTANCES)
    for table, key, kind in (
            ('orders', 'abc', 'bigint'), ('orders', '1.5', 'bigint'),
            ('orders', '""', 'bigint'),
            ('orders', '9223372036854775808', 'bigint'),
            ('devices', 'a0eebc99', 'uuid'), ('readings', '2026-02-30', 'date'),
            ('readings', '2026-05-06,x', 'bigint'),
            ('accounts', 'x,1', 'bigint')):
        refused('%s, strict: %s is of another type' % (table, key), '22018',
                'is no ' + kind, string(key, table))
    for table, key in (('orders', '1,2'), ('regions', 'eu,us'),
                       ('devices', '%s,1' % uuid.UUID(int=7)),
                       ('readings', '2026-05-06,1,1'), ('accounts', '1,2,3')):
        # Before everybody has answered, a leaf elsewhere might be partitioned
        # further.
        watcher = connect(string(key.split(',')[0], table, 'hint'))
        until_complete(watcher)
        refused('%s, strict: %s has too many sub-keys' % (table, key), '22018',
                'sub-keys', string(key, table))
        watcher.close()
    for key in ('1,"a', '"a"b', 'a"b'):
        refused('a quote that is not right: %s' % key, 'HY024', 'AffinityKey',
                string(key, 'accounts'))
    refused('an empty sub-key between commas', 'HY024', 'AffinityKey',
            string('1,,2', 'accounts'))


def wrong_tables():
    refused('a table that does not exist', 'HY000', 'does not exist on n3',
            string('1500', 'orderz'))
    refused('a table that is not partitioned', 'HY000',
            'is not partitioned on n1', string('1500', 'plain'))
    check('in hint a session is served without it',
          where('1500', 'orderz', 'hint') in INSTANCES)
    same('a table without a schema is looked up by search_path',
         place('DSN=orders-strict;AffinityTable=orders;AffinityKey=1500'),
         'n2')
    same('a quoted table', place('DSN=orders-strict;AffinityTable='
                                 '"public"."orders";AffinityKey=1500'), 'n2')
    for name in ('a.b.c', '"orders', 'public.', '.orders', 'orders items',
                 'public."orders"x', 'public..orders'):
        refused('what is no name of a table: %s' % name, 'HY024',
                'AffinityTable=' + name, 'DSN=orders-strict;AffinityKey=1500;'
                'AffinityTable=' + braced(name))
    same('blanks around the parts of a name', place(
        'DSN=orders-strict;AffinityTable= public . orders ;AffinityKey=1500'),
        'n2')
    refused('a table and a query at once', 'HY024', 'AffinityQuery',
            'DSN=orders-strict;AffinityKey=1;AffinityQuery=SELECT 1')


# ---- other sources ---------------------------------------------------------

def from_map(text, key, mode='strict', more=''):
    """The instance that this map file leads to; its folder stays."""
    path = os.path.join(folder, 'map%d' % (hash(text) % 2**32))
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return 'DSN=orders;AffinityTable=;AffinityMap=%s;AffinityMode=%s;%s' \
        'AffinityKey=%s' % (path, mode, more, braced(key))


def hash_truth(kind, moduli, keys):
    """moduli: (modulus, remainder) -> instance; asks the server."""
    connection = direct['n1']
    connection.execute('CREATE TEMP TABLE by_hash (k %s) PARTITION BY HASH (k)'
                       % kind)
    truth = {}
    for key in keys:
        for (modulus, remainder), instance in moduli.items():
            if value(connection, "SELECT satisfies_hash_partition("
                     "'by_hash'::regclass, %d, %d, %s)::int"
                     % (modulus, remainder, literal(key, kind))):
                truth[sub_key(key)] = {instance}
    connection.execute('DROP TABLE by_hash')
    assert len(truth) == len(keys)
    return truth


RANGES = """
[n1]
range = ..1000
[n2]
range.1 = 1000..2000, 5000..5001
[n3]
range = 2000..3000
range.2 = 7000..
"""
LISTS = """
[n1]
list = 'eu, "say \""a\""", "a,b"'
[n2]
list = us, NULL
[n3]
list = '"asia", "", "NULL"'
"""
HASHES = """
[n1]
hash = 0/4
[n2]
hash = 1/4, 2/4
[n3]
hash = 3/4
"""


def maps():
    all_reach('AffinityMap: ranges', {
        '-5': {'n1'}, '999': {'n1'}, '1000': {'n2'}, '1999': {'n2'},
        '5000': {'n2'}, '2000': {'n3'}, '2999': {'n3'}, '7000': {'n3'},
        '9223372036854775807': {'n3'}, '0999': {'n1'}},
        lambda key: place(from_map(RANGES, key)))
    refused('AffinityMap: a key in none of the ranges', 'HY000',
            'no partition takes the key', from_map(RANGES, '3000'))
    refused('AffinityMap: a key that is no number', '22018', 'bigint',
            from_map(RANGES, 'abc'))
    all_reach('AffinityMap: lists', {
        'eu': {'n1'}, '"eu"': {'n1'}, '"say ""a"""': {'n1'}, '"a,b"': {'n1'},
        'us': {'n2'}, 'NULL': {'n2'}, 'asia': {'n3'}, '""': {'n3'},
        '"NULL"': {'n3'}}, lambda key: place(from_map(LISTS, key)))
    refused('AffinityMap: a key in none of the lists', 'HY000',
            'no partition takes the key', from_map(LISTS, 'EU'))
    moduli = {(4, 0): 'n1', (4, 1): 'n2', (4, 2): 'n2', (4, 3): 'n3'}
    numbers = [str(random.randint(-2**63, 2**63 - 1)) for _ in range(99)]
    words = list({'w' + random_text() for _ in range(100)})
    for kind, keys in (('bigint', numbers), ('text', words)):
        all_reach('AffinityMap: hashes of %s' % kind,
                  hash_truth(kind, moduli, keys),
                  lambda key: place(from_map(HASHES, key)))
    defaults = '[n1]\nlist = a\n[n2]\ndefault = yes\n[n3]\nlist = c\n'
    all_reach('AffinityMap: a default', {'a': {'n1'}, 'b': {'n2'},
                                         'c': {'n3'}},
              lambda key: place(from_map(defaults, key)))


def map_limits():
    def nothing_on_n2(setting, why):
        text = RANGES.replace('[n2]', '[n2]\n' + setting)
        same('AffinityMap, %s: nothing is placed there' % setting,
             refusal(from_map(text, '1500'))[0], '08001')
        check('AffinityMap, %s: in hint another instance serves' % setting,
              place(from_map(text, '1500', 'hint')) in ('n1', 'n3'))
        connection = connect(from_map(text, '5'))
        row = connection.execute("EXPLAIN AFFINITY KEY '1500'").fetchall()[1]
        check('AffinityMap, %s: EXPLAIN says so' % setting,
              row.instance == 'n2' and why in row.verdict, row)
        connection.close()
        return text

    closed = nothing_on_n2('readonly = yes', 'read-only by the map file')
    same('AffinityMap, readonly = yes: a session that only reads is placed',
         place(from_map(closed, '1500', more='Access=read-only;')), 'n2')
    nothing_on_n2('enabled = no', 'disabled by the map file')
    for text, words in (
            ('[n1]\nrange = 5..1\n', ('[n1]', 'range')),
            ('[n1]\nrange = 0..9\n[n2]\nrange = 5..12\n', ('[n', 'range')),
            ('[n2]\nlist = a\nrange = 1..2\n', ('[n2]',)),
            ('[n3]\nhash = 4/4\n', ('[n3]', 'hash', 'modulus 4')),
            ('[n9]\nrange = 1..2\n', ('[n9]',)),
            ('[n1]\nranges = 1..2\n', ('[n1]', 'ranges')),
            ('[n1]\nweight = heavy\n', ('[n1]', 'weight', 'heavy'))):
        state, message = refusal(from_map(text, '1'))
        check('AffinityMap: %r is refused by name' % text,
              state == 'HY000' and '/map' in message
              and all(word in message for word in words),
              '%s %s' % (state, message))
    refused('AffinityMap: a path that depends on the working directory',
            'HY024', 'absolute path', 'DSN=orders;AffinityTable=;'
            'AffinityMap=map')
    refused('AffinityMap: a file that does not exist', 'HY000', '/nowhere/map',
            'DSN=orders;AffinityTable=;AffinityKey=1;'
            'AffinityMap=/nowhere/map')


def queries():
    def by(query):
        return lambda key: place(
            'DSN=orders;AffinityTable=;AffinityMode=strict;'
            'AffinityQuery=%s;AffinityKey=%s' % (braced(query), braced(key)))

    me = "(SELECT substr(current_setting('cluster_name'), 2)::int AS n) AS me"
    all_reach('AffinityQuery: ranges', {
        '-7': {'n1'}, '999': {'n1'}, '1000': {'n2'}, '2999': {'n3'},
        '100000': {'n3'}}, by(
            "SELECT 'range', CASE n WHEN 1 THEN NULL ELSE (n - 1) * 1000 END,"
            " CASE n WHEN 3 THEN NULL ELSE n * 1000 END FROM " + me))
    all_reach('AffinityQuery: list values', {
        'n1': {'n1'}, 'n2': {'n2'}, 'n3': {'n3'}, 'NULL': {'n3'},
        'else': {'n1'}}, by(
            "SELECT 'list', 'n' || n, '' FROM " + me + " UNION ALL SELECT "
            "'list', NULL, NULL FROM " + me + " WHERE n = 3 UNION ALL "
            "SELECT 'default', '', '' FROM " + me + " WHERE n = 1"))
    keys = [str(random.randint(-10**6, 10**6)) for _ in range(60)]
    all_reach('AffinityQuery: hashes', hash_truth(
        'bigint', {(3, 0): 'n1', (3, 1): 'n2', (3, 2): 'n3'}, keys),
        by("SELECT 'hash', 3, n - 1 FROM " + me))
    state, message = refusal(
        'DSN=orders-strict;AffinityTable=;AffinityKey=1;PoolWait=1000;'
        'AffinityQuery=SELECT nothing FROM nowhere')
    check('AffinityQuery: one that fails is not taken for an answer',
          'nobody' not in message and state != '22018',
          '%s %s' % (state, message))
    check('AffinityQuery: one that is wrong is refused in strict, and why',
          state == 'HY000' and 'the instances call the question wrong' in message
          and 'relation "nowhere" does not exist' in message,
          '%s %s' % (state, message))
    explained = connect('DSN=orders-strict;AffinityTable=;AffinityQuery='
                        'SELECT nothing FROM nowhere').execute(
                            "EXPLAIN AFFINITY KEY '1'").fetchall()
    same('and EXPLAIN says that of the owner nothing is known',
         [(row.owner, row.verdict) for row in explained],
         [('unknown', 'the owner cannot be learnt')] * 3
         + [(None, 'nobody would serve it now: the owner cannot be learnt: '
             'the instances call the question wrong')])


# ---- no source: rendezvous -------------------------------------------------

HASHED = 'DSN=orders;AffinityTable=;AffinityMode=strict;'


def rendezvous_places(keys, more=''):
    watcher = connect(HASHED + more + 'AffinityKey=0')
    until_complete(watcher)
    found = {key: place(HASHED + more + 'AffinityKey=' + braced(key))
             for key in keys}
    watcher.close()
    return found


def rendezvous():
    keys = [sub_key('key %d' % i) for i in range(200)]
    here = rendezvous_places(keys)
    program = subprocess.run(PYTHON + [__file__, '--rendezvous'],
                             input='\n'.join(reversed(keys)), text=True,
                             check=True, stdout=subprocess.PIPE)
    there = dict(line.rsplit('\t', 1) for line in program.stdout.splitlines())
    same('no source: a key has the same instance in every process', there,
         here)
    same('no source: whatever the order of Instances',
         rendezvous_places(keys[:40], 'Instances={n3, n1, n2};'),
         {key: here[key] for key in keys[:40]})
    share = {name: list(here.values()).count(name) for name in INSTANCES}
    check('no source: keys are spread over all instances',
          min(share.values()) > 40, share)
    left = rendezvous_places(keys[:60], 'Instances={n1, n2};')
    check('no source: without one instance only its own keys move',
          all(left[key] == here[key] for key in left if here[key] != 'n3')
          and set(left.values()) == {'n1', 'n2'}, left)


def weights():
    path = from_map('[n1]\nweight = 1\n[n2]\nweight = 2\n[n3]\nweight = 0\n',
                    '0')
    connection = connect(path)
    until_complete(connection)
    share = dict.fromkeys(INSTANCES, 0)
    for i in range(300):
        for row in connection.execute("EXPLAIN AFFINITY KEY 'k%d'" % i):
            share[row.instance] += row.owner == 'yes'
    check('no source: keys are spread by weight',
          80 <= share['n1'] <= 120 and 180 <= share['n2'] <= 220
          and share['n3'] == 0, share)
    connection.close()


if '--rendezvous' in sys.argv:
    keys = sys.stdin.read().split('\n')
    for key, instance in rendezvous_places(keys).items():
        print('%s\t%s' % (key, instance))
    sys.exit()

with tempfile.TemporaryDirectory() as name:
    folder = name
    tap_run(tables, rowless, nulls, prefixes, spellings, wrong_keys,
            wrong_tables, maps, map_limits, queries, rendezvous, weights)
