#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Where ownership is learnt, on the sandbox through unixODBC: every stored key
of every table must reach, in strict mode, the instance that stores it. Then
what only a server can judge, tables that are locked, moving, missing, and rows
of AffinityQuery."""
import pyodbc

from odbc_tap import check, connect, same, tap_run

INSTANCES = ['n1', 'n2', 'n3']

direct = {}


def on(instance, sql):
    cursor = direct[instance].cursor().execute(sql)
    return [row[0] for row in cursor.fetchall()] if cursor.description else []


def everywhere(sql):
    for instance in INSTANCES:
        on(instance, sql)


def session(table, key=None, **more):
    words = {'DSN': 'orders-strict', 'AffinityTable': table}
    words.update(more)
    if key is not None:
        words['AffinityKey'] = key
    return pyodbc.connect(
        ';'.join('%s={%s}' % (word, value.replace('}', '}}'))
                 for word, value in words.items() if value is not None),
        autocommit=True, timeout=60)


def owner(table, key, **more):
    """The instance that a strict session with that key is on, or SQLSTATE."""
    try:
        connection = session(table, key, **more)
    except pyodbc.Error as error:
        return error.args[0]
    name = connection.cursor().execute(
        "SELECT current_setting('cluster_name')").fetchone()[0]
    connection.close()
    return name


def message(table, key, **more):
    try:
        session(table, key, **more).close()
    except pyodbc.Error as error:
        return error.args[1]
    return ''


# ---- stored keys --------------------------------------------------------------

def stored(table, key):
    """key -> instance, by the rows of local leaves."""
    found = {}
    for instance in INSTANCES:
        for leaf in on(instance,
                       "SELECT c.oid::regclass::text FROM "
                       "pg_partition_tree('%s') t JOIN pg_class c "
                       "ON c.oid = t.relid WHERE t.isleaf AND c.relkind = 'r'"
                       % table):
            for value in on(instance, 'SELECT DISTINCT %s FROM %s'
                            % (key, leaf)):
                found[value] = instance
    return found


def test_stored_keys():
    tables = [
        ('orders', 'customer_id::text'),
        ('regions', "CASE WHEN k IS NULL THEN 'NULL' ELSE "
                    "'\"' || replace(k, '\"', '\"\"') || '\"' END"),
        ('devices', 'id::text'),
        ('readings', "at || ',' || sensor"),
        ('accounts', "bank || ',\"' || number || '\"'"),
    ]
    for table, key in tables:
        truth = stored(table, key)
        wrong = {}
        for value, instance in truth.items():
            got = owner('public.' + table, value)
            if got != instance:
                wrong[value] = (instance, got)
        check('%s: all of %d keys are served where they are stored'
              % (table, len(truth)), len(truth) > 300 and not wrong,
              dict(list(wrong.items())[:10]))
        same('%s: on every instance' % table, sorted(set(truth.values())),
             INSTANCES)


def test_prefix():
    got = {owner('public.readings', '2026-01-15') for _ in range(5)}
    same('a date alone decides where all its leaves are one instance\'s', got,
         {'n1'})


# ---- only a server can judge ----------------------------------------------------

def make_tree(table, columns, by, leaves):
    everywhere('CREATE TABLE %s (%s) PARTITION BY %s' % (table, columns, by))
    for number, (bound, home) in enumerate(leaves):
        for instance in INSTANCES:
            if instance == home:
                on(instance, 'CREATE TABLE %s_%d PARTITION OF %s %s'
                   % (table, number, table, bound))
            else:
                on(instance, 'CREATE FOREIGN TABLE %s_%d PARTITION OF %s %s '
                   'SERVER %s' % (table, number, table, bound, home))


def test_collation():
    make_tree('topo_words', 'w text COLLATE "en-x-icu"', 'RANGE (w)', [
        ("FOR VALUES FROM (MINVALUE) TO ('m')", 'n1'),
        ("FOR VALUES FROM ('m') TO ('ž')", 'n2'),
        ("FOR VALUES FROM ('ž') TO (MAXVALUE)", 'n3')])
    words = ['apple', 'Zebra', 'zebra', 'M', 'm', 'ž', 'Žlutý', 'élan', 'Ø']
    for word in words:
        # what an INSERT would do, asked of n1
        leaf = on('n1', "SELECT CASE WHEN v < 'm' THEN 'n1' WHEN v < 'ž' THEN "
                  "'n2' ELSE 'n3' END FROM (SELECT '%s' COLLATE \"en-x-icu\" "
                  "AS v) x" % word)[0]
        same('ICU collation: %s' % word, owner('topo_words', word), leaf)


def test_expression():
    make_tree('topo_lower', 'n int, k text', 'LIST (lower(k))', [
        ("FOR VALUES IN ('eu', 'it''s')", 'n1'),
        ("FOR VALUES IN ('us', NULL)", 'n2'), ('DEFAULT', 'n3')])
    for key, instance in [('EU', 'n1'), ('eu', 'n1'), ("It's", 'n1'),
                          ('US', 'n2'), ('NULL', 'n2'), ('"NULL"', 'n3'),
                          ('elsewhere', 'n3')]:
        same('expression key: %s' % key, owner('topo_lower', key), instance)


def test_enum():
    everywhere("CREATE TYPE topo_mood AS ENUM ('sad', 'ok', 'happy')")
    make_tree('topo_moods', 'm topo_mood, n bigint', 'LIST (m)', [
        ("FOR VALUES IN ('sad')", 'n2'), ("FOR VALUES IN ('ok')", 'n3')])
    same('enum: sad', owner('topo_moods', 'sad'), 'n2')
    same('enum: ok', owner('topo_moods', 'ok'), 'n3')
    same('enum: no partition takes it', owner('topo_moods', 'happy'), 'HY000')
    same('enum: no value of the type', owner('topo_moods', 'furious'),
         '22018')
    check('enum: in the server\'s words', 'invalid input value for enum' in
          message('topo_moods', 'furious'), message('topo_moods', 'furious'))


def test_names():
    everywhere('CREATE TABLE "Topo Words" ("Clé ß" text, n int) '
               'PARTITION BY HASH ("Clé ß", n)')
    for remainder, home in enumerate(INSTANCES):
        for instance in INSTANCES:
            on(instance, 'CREATE %s "Topo Words %d" PARTITION OF "Topo Words" '
               'FOR VALUES WITH (modulus 3, remainder %d)%s'
               % ('TABLE' if instance == home else 'FOREIGN TABLE', remainder,
                  remainder,
                  '' if instance == home else ' SERVER ' + home))
    wrong = {}
    for n in range(60):
        word = 'żółw-%d' % n
        home = on('n1', 'SELECT r FROM generate_series(0, 2) r WHERE '
                  'satisfies_hash_partition(\'"Topo Words"\'::regclass, 3, r, '
                  "'%s'::text, %d)" % (word, n))[0]
        got = owner('public."Topo Words"', '"%s",%d' % (word, n))
        if got != INSTANCES[home]:
            wrong[word] = (INSTANCES[home], got)
    check('quoted names and hashes of text that is not ASCII', not wrong,
          wrong)


# ---- states of tables -----------------------------------------------------------

def test_locked():
    locker = pyodbc.connect('DSN=n1', autocommit=False)
    locker.cursor().execute('LOCK TABLE orders IN ACCESS EXCLUSIVE MODE')
    # CheckTimeout makes a fleet of its own, which learns afresh
    same('learnt while the table is locked',
         owner('public.orders', '1500', CheckTimeout='4999'), 'n2')
    locker.rollback()
    locker.close()


def test_moving():
    make_tree('topo_moving', 'k bigint', 'RANGE (k)', [
        ('FOR VALUES FROM (0) TO (10)', 'n1'),
        ('FOR VALUES FROM (10) TO (20)', 'n2')])
    on('n3', 'DROP FOREIGN TABLE topo_moving_1')
    on('n3', 'CREATE TABLE topo_moving_1 PARTITION OF topo_moving '
       'FOR VALUES FROM (10) TO (20)')
    first = session('topo_moving', '5')
    first.cursor().execute('REFRESH AFFINITY').fetchall()
    same('two claims: the key waits, and not for ever',
         owner('topo_moving', '15', PoolWait='300'), 'HYT00')
    same('others are known all the while', owner('topo_moving', '5'), 'n1')
    on('n2', 'DROP TABLE topo_moving_1')
    on('n2', 'CREATE FOREIGN TABLE topo_moving_1 PARTITION OF topo_moving '
       'FOR VALUES FROM (10) TO (20) SERVER n3')
    first.cursor().execute('REFRESH AFFINITY').fetchall()
    same('moved', owner('topo_moving', '15'), 'n3')
    first.close()


def test_missing():
    same('a mistyped table', owner('public.ordes', '5'), 'HY000')
    text = message('public.ordes', '5')
    check('... is named, and where it is missing',
          'table public.ordes does not exist on n1' in text or
          'table public.ordes does not exist on n2' in text or
          'table public.ordes does not exist on n3' in text, text)
    same('a plain table', owner('public.plain', '5'), 'HY000')
    check('... is called that', 'is not partitioned on' in
          message('public.plain', '5'), message('public.plain', '5'))


def test_partly_missing():
    on('n1', 'CREATE TABLE topo_partly (k bigint) PARTITION BY RANGE (k)')
    on('n1', 'CREATE TABLE topo_partly_0 PARTITION OF topo_partly '
       'FOR VALUES FROM (0) TO (10)')
    same('a table that only one instance has', owner('topo_partly', '5'),
         'n1')


# ---- AffinityQuery ----------------------------------------------------------------

def test_query():
    everywhere('CREATE TABLE topo_rows (kind text, a text, b text)')
    on('n1', "INSERT INTO topo_rows VALUES ('list', 'žluť', NULL), "
       "('list', NULL, NULL)")
    on('n2', "INSERT INTO topo_rows VALUES ('list', 'us', NULL), "
       "('list', 'both', NULL), ('default', NULL, NULL)")
    on('n3', "INSERT INTO topo_rows VALUES ('list', 'both', NULL)")
    query = 'SELECT kind, a, b FROM topo_rows;'
    for key, instance in [('žluť', 'n1'), ('NULL', 'n1'), ('us', 'n2'),
                          ('anything', 'n2')]:
        same('rows: %s' % key, owner(None, key, AffinityTable='',
                                     AffinityQuery=query), instance)
    same('rows: two claims', owner(None, 'both', AffinityTable='',
                                   AffinityQuery=query, PoolWait='300'),
         'HYT00')


def clean_up():
    for instance in INSTANCES:
        for name in on(instance, "SELECT oid::regclass::text FROM pg_class "
                       "WHERE relname ~* '^topo' AND relkind IN ('p', 'r') "
                       "AND NOT relispartition"):
            on(instance, 'DROP TABLE %s CASCADE' % name)
        on(instance, 'DROP TYPE IF EXISTS topo_mood')


for instance in INSTANCES:
    direct[instance] = connect('DSN=' + instance)
clean_up()
try:
    tap_run(*[test for name, test in list(globals().items())
              if name.startswith('test_')])
finally:
    clean_up()
