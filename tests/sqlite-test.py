#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""SQLite's driver beneath ours: three files are the instances. README's smallest
example is run as it stands there; then routing by each source of ownership,
what is refused, and many sessions at once."""
import functools
import os
import re
import subprocess
import tempfile
import threading

import odbc_ini

home = tempfile.TemporaryDirectory(prefix='affinity-sqlite.')
folder = home.name
odbc_ini.use(folder)

import pyodbc  # noqa: E402: its manager reads the environment above

import odbc_tap  # noqa: E402
from odbc_tap import (check, connect, same, spreads, tap_of,  # noqa: E402
                      tap_run, until, value)

FILES = {name: '%s/%s.db' % (folder, name) for name in ('n1', 'n2', 'n3')}
MAP = folder + '/map'


def set_up():
    odbc_ini.drivers(folder, {'SQLite3': 'libsqlite3odbc.so'})
    with open(MAP, 'w') as file:
        file.write('[n1]\nrange = ..1000\n[n2]\nrange = 1000..2000\n'
                   '[n3]\nrange = 2000..\n')
    fleet = {'Driver': 'Affinity ANSI', 'Instances': 'n1, n2, n3'}
    dsns = {name: {'Driver': 'SQLite3', 'Database': path}
            for name, path in FILES.items()}
    dsns['left'] = {'Driver': 'SQLite3', 'Database': folder + '/left.db'}
    dsns['diff'] = {'Driver': 'SQLite3', 'Database': folder + '/diff.db'}
    dsns['differ'] = dict(fleet, Instances='diff', PoolMax=1)
    dsns['lost'] = {'Driver': 'SQLite3', 'Database': folder + '/no/such.db'}
    dsns['mapped'] = dict(fleet, AffinityMap=MAP)
    dsns['hashed'] = fleet
    dsns['asked'] = dict(fleet, AffinityQuery='SELECT kind, a, b FROM owned')
    dsns['broken'] = dict(fleet, Instances='lost, n2', AffinityMap=folder
                          + '/lost-map')
    odbc_ini.sources(folder, dsns)
    with open(folder + '/lost-map', 'w') as file:
        file.write('[lost]\nlist = a\n[n2]\nlist = b\n')
    for name in FILES:
        direct = connect('DSN=' + name)
        direct.execute('CREATE TABLE whoami (name TEXT)')
        direct.execute('INSERT INTO whoami VALUES (?)', name)
        direct.execute('CREATE TABLE owned (kind TEXT, a TEXT, b TEXT)')
        direct.execute('INSERT INTO owned VALUES (?, ?, NULL)', 'list',
                       {'n1': 'us', 'n2': 'eu', 'n3': None}[name])
        direct.close()


# told by the instance itself
where = functools.partial(odbc_tap.where, sql='SELECT name FROM whoami')
refusal = functools.partial(odbc_tap.refusal, sql='SELECT name FROM whoami')


# ---- README ----------------------------------------------------------------

def try_readme():
    text = open(os.environ['AFF_SRCDIR'] + '/README.md').read()
    section = text.split('\n## The smallest example\n')[1].split('\n## ')[0]
    example, printed = re.findall(r'```\w*\n(.*?)```', section, re.S)[:2]
    place = folder + '/readme'
    os.mkdir(place)
    run = subprocess.run(['sh', '-eu', '-c', example], cwd=place, text=True,
                         capture_output=True, check=False)
    lines = run.stdout.replace(place + '/map', 'MAP').splitlines()
    same("README's smallest example prints what README says",
         lines[-2:], printed.splitlines())
    same('and nothing to stderr, and ends well', (run.stderr, run.returncode),
         ('', 0))
    for name, key in (('n1', 7), ('n2', 1500), ('n3', 2500)):
        rows = connect('Driver={SQLite3};Database=%s/%s.db' % (place, name)) \
            .execute('SELECT customer, item FROM orders').fetchall()
        same('its row, and no other, is in %s.db' % name,
             [tuple(row) for row in rows], [(key, 'a thing of %d' % key)])


# ---- routing ---------------------------------------------------------------

def try_map():
    for mode in ('hint', 'prefer', 'strict'):
        for key, owner in ((-5, 'n1'), (999, 'n1'), (1000, 'n2'),
                           (1999, 'n2'), (2000, 'n3'), (10 ** 12, 'n3')):
            same('map, %s: key %d is in %s' % (mode, key, owner),
                 where('DSN=mapped;AffinityMode=%s;AffinityKey=%d'
                       % (mode, key)), owner)


def try_query():
    for key, owner in (('us', 'n1'), ('eu', 'n2'), ('NULL', 'n3')):
        same('query, strict: key %s is in %s' % (key, owner),
             where('DSN=asked;AffinityMode=strict;AffinityKey=' + key), owner)
    for query in ('SELECT kind, a, b FROM nowhere', 'SELEKT 1',
                  'SELECT 1; SELECT 2'):
        state, text = refusal('DSN=hashed;AffinityMode=strict;AffinityKey=eu;'
                              'AffinityQuery={%s}' % query)
        check('strict does not go anywhere when every file calls the query '
              'wrong: ' + query, state == 'HY000' and 'AffinityQuery' in text,
              (state, text))


def try_hash():
    places = {key: where('DSN=hashed;AffinityMode=strict;AffinityKey=k%d' % key)
              for key in range(12)}
    same('hashed keys stay where they are', places,
         {key: where('DSN=hashed;AffinityMode=strict;AffinityKey=k%d' % key)
          for key in places})
    check('and are spread', len(set(places.values())) == 3, places)


def try_balance():
    check('without a key, sessions are spread',
          spreads('DSN=mapped', 9, set(FILES)))


# ---- refusals --------------------------------------------------------------

def try_refusals():
    state, text = refusal('DSN=hashed;AffinityTable=public.orders')
    check('AffinityTable is refused, with what to use instead',
          state == 'HYC00' and 'SQLite' in text and 'AffinityMap' in text,
          (state, text))
    state, text = refusal('DSN=mapped;Database=' + FILES['n1'])
    check('a file in our own string is refused',
          state == 'HY024' and 'Database' in text, (state, text))
    state, text = refusal('Driver={Affinity};Instances=n1;AffinityMode=hint')
    check('the wide library names Affinity ANSI', 'Affinity ANSI' in text,
          (state, text))
    state, text = refusal('DSN=broken;AffinityMode=strict;AffinityKey=a')
    check('strict: a file that cannot be opened is an error with its words',
          state in ('08001', 'HYT00', 'HYT01') and 'lost' in text,
          (state, text))
    same('hint: it is served elsewhere',
         where('DSN=broken;AffinityKey=a'), 'n2')


# ---- commands --------------------------------------------------------------

def try_commands():
    # not by pyodbc: the manager would convert it to the locale's encoding
    key = "Zürich\\'€"
    run = subprocess.run(['isql', '-b', '-d|', '-k',
                          'DSN=hashed;AffinityKey={%s}' % key], text=True,
                         input='SHOW AFFINITY\n', capture_output=True,
                         check=False)
    same('SHOW AFFINITY tells any key', run.stdout.split('|')[0], key)
    connection = connect('DSN=hashed;AffinityKey=x')
    row = connection.execute('SHOW AFFINITY').fetchone()
    same('and the instance', row.instance,
         value(connection, 'SELECT name FROM whoami'))
    rows = connection.execute('SHOW AFFINITY INSTANCES').fetchall()
    same('SHOW AFFINITY INSTANCES has one row for each',
         [row.instance for row in rows], sorted(FILES))
    same('EXPLAIN AFFINITY KEY explains for each',
         len(connection.execute("EXPLAIN AFFINITY KEY 'x'").fetchall()), 3)
    same('REFRESH AFFINITY answers',
         connection.execute('REFRESH AFFINITY').fetchone().topology,
         'complete')
    connection.close()


def try_many_rows():
    """More rows than SQLite takes in one UNION."""
    path = folder + '/many'
    with open(path, 'w') as file:
        for name, first in (('n1', 0), ('n2', 1), ('n3', 2)):
            file.write('[%s]\n' % name)
            for i in range(first, 1200, 3):
                file.write('list.%d = %d\n' % (i, i))
    connection = connect('DSN=hashed;AffinityMap=%s;AffinityKey=700' % path)
    rows = connection.execute('SHOW AFFINITY TOPOLOGY').fetchall()
    same('SHOW AFFINITY TOPOLOGY tells all 1200', len(rows), 1200)
    same('and the key is routed',
         value(connection, 'SELECT name FROM whoami'), 'n2')
    connection.close()


# ---- links -----------------------------------------------------------------

def pool(connection, instance):
    rows = connection.execute('SHOW AFFINITY POOLS').fetchall()
    return next(r for r in rows if r.mine == 'yes' and r.instance == instance)


def try_links():
    string = 'DSN=mapped;AffinityKey=5;AffinityMode=strict;Timeout=777'
    watch = connect(string)
    before = int(pool(watch, 'n1').opened)
    for _ in range(3):
        where(string)
    until('used links are closed',
          lambda: pool(watch, 'n1').closing == '0')
    after = pool(watch, 'n1')
    same('a used link is closed, and the next session has its own',
         (int(after.opened) - before, after.idle, after.held),
         (3, '0', '1'))
    same('none was reset', after.resets, '0')
    watch.close()


def open_files(path):
    """How often this process has the file open."""
    count = 0
    for entry in os.listdir('/proc/self/fd'):
        try:
            count += os.readlink('/proc/self/fd/' + entry) == path
        except OSError:
            pass
    return count


def try_stuck():
    """After COMMIT or ROLLBACK as SQL the driver refuses to roll back and to
    disconnect, and would keep the file open for ever."""
    for end in ('COMMIT', 'ROLLBACK'):
        # a login of its own has no other link to that file
        connection = connect('DSN=mapped;AffinityKey=5;Timeout=%d'
                             % len(end), autocommit=False)
        others = open_files(FILES['n1']) - 1
        connection.execute('UPDATE whoami SET name = name')
        connection.execute(end)
        try:
            connection.close()
        except pyodbc.Error:
            pass
        until('%s as SQL: the file is closed' % end,
              lambda: open_files(FILES['n1']) <= others)
        check('%s as SQL: the file is closed' % end, others >= 0, others)


def try_leaks():
    tap_of([os.environ['AFF_BUILDDIR'] + '/tests/leak-inner', 'sqlite',
            'DSN=left', 'DSN=hashed;Instances=left'])


def try_transparent():
    """What the harness is told directly and over us. Left out are subjects
    that leave a transaction, with which the driver does not disconnect."""
    tap_of(['bash', os.environ['AFF_SRCDIR'] + '/tests/diff-test.sh', 'sqlite',
            'DSN=diff', 'DSN=differ', 'narrow', 'catalog', 'leavings',
            'getdata', 'bind', 'params', 'paramsets', 'atexec',
            'cursors', 'bulk', 'results', 'empty', 'info'])


def try_random():
    """DIFF_SEEDS=1-1000 has more of them."""
    os.environ.setdefault('DIFF_SEEDS', '1-12')
    tap_of(['bash', os.environ['AFF_SRCDIR'] + '/tests/diff-test.sh', 'sqlite',
            'DSN=diff', 'DSN=differ', 'narrow', 'fuzz'])


def try_clients():
    tap_of(['sh', os.environ['AFF_SRCDIR'] + '/tests/clients/inner.sh',
            'DSN=diff', 'DSN=differ'])


def try_threads():
    """The driver has no locks of its own around its lists."""
    wrong = []

    def work(number):
        for i in range(40):
            key = (number * 40 + i) * 37 % 3000
            owner = 'n1' if key < 1000 else 'n2' if key < 2000 else 'n3'
            try:
                found = where('DSN=mapped;AffinityMode=strict;PoolMax=3;'
                              'PoolWait=60000;AffinityKey=%d' % key)
            except pyodbc.Error as e:
                found = str(e)
            if found != owner:
                wrong.append((key, owner, found))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same('eight threads at once find every owner', wrong, [])


set_up()
tap_run(try_readme, try_map, try_query, try_hash, try_balance, try_refusals,
        try_commands, try_many_rows, try_links, try_stuck, try_leaks,
        try_transparent, try_random, try_clients, try_threads)
