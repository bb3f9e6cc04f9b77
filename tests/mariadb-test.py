#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""MariaDB's driver beneath ours, with two private instances that this test
starts and ends: routing by each source of ownership, replicas, what an
instance that is down, hangs or refuses does, and what sessions leave behind."""
import functools
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

import odbc_ini

home = tempfile.TemporaryDirectory(prefix='affinity-mariadb.')
folder = home.name
odbc_ini.use(folder)

import pyodbc  # noqa: E402: its manager reads the environment above

import odbc_tap  # noqa: E402
from odbc_tap import (check, connect, same, spreads, tap_of,  # noqa: E402
                      tap_run, until, value)

NAMES = ('m1', 'm2')
SANDBOX = os.environ['AFF_SRCDIR'] + '/setup/sandbox-mariadb'
PLACE = folder + '/fleet'


def sandbox(verb):
    return subprocess.run([SANDBOX, verb, PLACE], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def as_root(name, sql):
    return subprocess.run(
        ['mariadb', '--no-defaults', '-uroot', '-N', '-B',
         '--socket=%s/%s/socket' % (PLACE, name), '-e', sql],
        check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def pid_of(name):
    with open('%s/%s.pid' % (PLACE, name)) as file:
        return int(file.read())


def write_map(name, text):
    with open(folder + '/' + name, 'w') as file:
        file.write(text)
    return folder + '/' + name


def set_up():
    os.chmod(folder, 0o755)  # the server is another user
    sandbox('start')
    port = int(open(PLACE + '/port').read())
    odbc_ini.drivers(folder, {'MariaDB Unicode': 'libmaodbc.so'})
    login = {'Driver': 'MariaDB Unicode', 'Database': 'app', 'UID': 'app',
             'PWD': 'app'}
    dsns = {'m1': dict(login, Server='127.0.0.1', Port=port),
            'm2': dict(login, Socket=PLACE + '/m2/socket')}
    fleet = {'Driver': 'Affinity', 'Instances': 'm1, m2'}
    dsns['hashed'] = fleet
    dsns['differ'] = dict(fleet, Instances='m1', PoolMax=1)
    dsns['mapped'] = dict(fleet, AffinityMap=write_map(
        'map', '[m1]\nrange = ..1000\n[m2]\nrange = 1000..\n'))
    dsns['grouped'] = dict(fleet, AffinityMap=write_map(
        'groups', '[m1]\nlist = a\ngroup = g\n[m2]\nlist = a\ngroup = g\n'))
    dsns['asked'] = dict(fleet, AffinityQuery='SELECT kind, a, b FROM owned')
    odbc_ini.sources(folder, dsns)
    for name in NAMES:
        direct = connect('DSN=' + name)
        direct.execute('CREATE TABLE whoami (name TEXT)')
        direct.execute('INSERT INTO whoami VALUES (?)', name)
        direct.execute('CREATE TABLE owned (kind TEXT, a TEXT, b TEXT) '
                       'CHARACTER SET utf8mb4')
        direct.execute('INSERT INTO owned VALUES (?, ?, NULL)', 'list',
                       {'m1': 'Zürich €', 'm2': None}[name])
        direct.close()
    return port


# told by the instance itself
where = functools.partial(odbc_tap.where, sql='SELECT name FROM whoami')
refusal = functools.partial(odbc_tap.refusal, sql='SELECT name FROM whoami')


# ---- README ------------------------------------------------------------------

def try_readme():
    text = open(os.environ['AFF_SRCDIR'] + '/README.md').read()
    example, printed = re.findall(r'```\w*\n(.*?)```', text.split(
        '\nWith MariaDB (packages')[1], re.S)[:2]
    place = folder + '/readme'
    os.mkdir(place)
    start, example = example.split('\n', 1)
    check('it starts two servers',
          start.startswith('setup/sandbox-mariadb start $PWD/two '), start)
    run = subprocess.run(
        ['sh', '-eu', '-c', example.replace('$PWD/two', PLACE)], cwd=place,
        text=True, capture_output=True, check=False)
    same("README's example prints what README says",
         run.stdout.splitlines()[-1:], printed.splitlines())
    same('and nothing to stderr, and ends well', (run.stderr, run.returncode),
         ('', 0))
    for name, key in (('m1', 7), ('m2', 1500)):
        same('its row, and no other, is in ' + name, as_root(
            name, 'SELECT * FROM app.orders; DROP TABLE app.orders'),
             '%d\ta thing of %d' % (key, key))


# ---- routing ---------------------------------------------------------------

def try_sources():
    for mode in ('hint', 'prefer', 'strict'):
        for key, owner in ((999, 'm1'), (1000, 'm2')):
            same('map, %s: key %d is in %s' % (mode, key, owner),
                 where('DSN=mapped;AffinityMode=%s;AffinityKey=%d'
                       % (mode, key)), owner)
    for key, owner in (('Zürich €', 'm1'), ('NULL', 'm2')):
        same('query, strict: key %s is in %s' % (key, owner),
             where('DSN=asked;AffinityMode=strict;AffinityKey=' + key), owner)
    for query in ('SELECT kind, a, b FROM nowhere', 'SELEKT 1'):
        state, text = refusal('DSN=hashed;AffinityMode=strict;AffinityKey=eu;'
                              'AffinityQuery={%s}' % query)
        check('strict does not go anywhere when every instance calls the '
              'query wrong: ' + query,
              state == 'HY000' and 'AffinityQuery' in text, (state, text))
    places = {key: where('DSN=hashed;AffinityMode=strict;AffinityKey=k%d' % key)
              for key in range(12)}
    same('hashed keys stay where they are', places,
         {key: where('DSN=hashed;AffinityMode=strict;AffinityKey=k%d' % key)
          for key in places})
    check('and are spread', len(set(places.values())) == 2, places)
    check('without a key, sessions are spread',
          spreads('DSN=mapped', 6, set(NAMES)))


def try_addresses(port):
    more = 'UID=app;PWD=app;Database=app;AffinityMode=strict;AffinityKey=k'
    for what, address in (('host and port', '127.0.0.1:%d' % port),
                          ('a socket', PLACE + '/m1/socket')):
        same('without DSNs: ' + what, where(
            'Driver={Affinity};InnerDriver=MariaDB Unicode;Instances=m@%s;%s'
            % (address, more)), 'm1')


def try_refusals():
    state, text = refusal('DSN=hashed;AffinityTable=public.orders')
    check('AffinityTable is refused, with what to use instead',
          state == 'HYC00' and 'MariaDB' in text and 'AffinityMap' in text,
          (state, text))
    state, text = refusal('DSN=mapped;Socket=/nowhere')
    check('a socket in our own string is refused',
          state == 'HY024' and 'Socket' in text, (state, text))
    failed = "SELECT variable_value FROM information_schema.global_status " \
        "WHERE variable_name = 'aborted_connects'"
    pyodbc_tries = 2  # a wide connect, and a narrow one when that fails

    def count():
        return int(as_root('m1', failed)) + int(as_root('m2', failed))
    for _ in range(20):
        before, begin = count(), time.monotonic()
        state, text = refusal('DSN=mapped;AffinityKey=5;PWD=wrong')
        took = time.monotonic() - begin
        until('the servers have counted it',
              lambda b=before: count() - b >= pyodbc_tries)
        tries = count() - before
        if tries == pyodbc_tries or took < 0.25:
            break  # else others may be asked beside the one that is late
    check('a wrong password is an error with the words of the instance',
          state == '28000' and 'Access denied' in text, (state, text))
    same('it is tried once', tries, pyodbc_tries)


# ---- commands, and what the application sees --------------------------------

def try_commands():
    key = 'Zürich\\\'€'
    connection = connect('DSN=hashed;AffinityKey={%s}' % key)
    row = connection.execute('SHOW AFFINITY').fetchone()
    same('SHOW AFFINITY tells any key', row.key, key)
    same('and the instance', row.instance,
         value(connection, 'SELECT name FROM whoami'))
    connection.execute("SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'")
    same('and tells it in any sql_mode',
         connection.execute('SHOW AFFINITY').fetchone().key, key)
    same('SHOW AFFINITY INSTANCES has one row for each',
         [row.instance for row in
          connection.execute('SHOW AFFINITY INSTANCES')], list(NAMES))
    same('EXPLAIN AFFINITY KEY explains for each',
         len(connection.execute("EXPLAIN AFFINITY KEY 'x'").fetchall()), 2)
    same('REFRESH AFFINITY answers',
         connection.execute('REFRESH AFFINITY').fetchone().topology,
         'complete')
    connection.close()


def after_an_error(string):
    connection = connect(string)
    connection.execute('DROP TEMPORARY TABLE IF EXISTS t')
    connection.execute('CREATE TEMPORARY TABLE t (a int)')
    connection.execute('INSERT INTO t VALUES (1), (2)')
    try:
        connection.execute('SELECT nonsense')
    except pyodbc.Error as e:
        state = e.args[0]
    seen = value(connection, 'SELECT ROW_COUNT()')
    connection.close()
    return state, seen


def pings(connection):
    return connection.execute("SHOW SESSION STATUS LIKE "
                              "'Com_admin_commands'").fetchone()[1]


def try_transparent():
    """What the harness is told directly and over us. Left out are the subjects
    at which the driver itself crashes (SQLGetData of a column that there is
    not, descriptors of parameters, SQLDisconnect with a cursor)."""
    for width in ('narrow', 'wide'):
        tap_of(['bash', os.environ['AFF_SRCDIR'] + '/tests/diff-test.sh',
                'mariadb', 'DSN=m1', 'DSN=differ', width, 'catalog',
                'leavings', 'bind', 'paramsets', 'atexec', 'results', 'empty',
                'fuzz', 'info', 'attrs'])


def try_fresh():
    """What we ask a link before a session has it does not show.  FOUND_ROWS()
    is left out: of a new connection it tells what the last one in the same
    thread of the server left."""
    def first(string):
        connect(string).close()  # pyodbc asks its first for types
        connection = connect(string)
        row = connection.execute('SELECT ROW_COUNT(), LAST_INSERT_ID(), '
                                 '@@identity, @@insert_id, @@warning_count, '
                                 '@@error_count').fetchone()
        connection.close()
        return tuple(row)
    direct = first('DSN=m1')
    for what, string in (('opened', 'DSN=mapped;AffinityKey=5'),
                         ('and asked who owns what', 'DSN=asked;AffinityKey='
                          'NULL;PoolIdleTimeout=600002;AffinityMode=strict')):
        same('a link that was %s is as new' % what, first(string), direct)


def try_clients():
    tap_of(['sh', os.environ['AFF_SRCDIR'] + '/tests/clients/inner.sh',
            'DSN=m1', 'DSN=differ'])


def try_dead():
    """Asking whether the link is dead would be a ping, and show."""
    same('after an error, the session is what it is directly',
         after_an_error('DSN=mapped;AffinityKey=5'), after_an_error('DSN=m1'))
    connection = connect('DSN=mapped;AffinityKey=5')
    before = pings(connection)
    check('SHOW AFFINITY answers',
          connection.execute('SHOW AFFINITY').fetchall() != [])
    same('and has sent no ping', pings(connection), before)
    connection.close()


# ---- replicas ----------------------------------------------------------------

def try_replicas():
    as_root('m1', 'SET GLOBAL read_only = 1')
    try:
        # a fleet of its own has not heard of it before
        string = 'DSN=grouped;PoolIdleTimeout=600001;AffinityKey=a'
        same('a write goes to the one that is not read-only',
             [where(string + ';AffinityMode=' + mode)
              for mode in ('hint', 'prefer', 'strict')], ['m2'] * 3)
        state, text = refusal('DSN=mapped;PoolIdleTimeout=600001;AffinityKey=5'
                              ';AffinityMode=strict')
        check('strict: a write for a read-only owner is refused',
              state == '08001' and 'owner m1' in text, (state, text))
        connection = connect('DSN=mapped;PoolIdleTimeout=600001;AffinityKey='
                             '1500;AffinityMode=strict')
        rows = connection.execute("EXPLAIN AFFINITY KEY '5'").fetchall()
        check('and EXPLAIN says why', 'standby' in rows[0].verdict, rows)
        connection.close()
        connection = connect(string)
        same('and is shown as what it is',
             {row.instance: row.role for row in
              connection.execute('SHOW AFFINITY INSTANCES')}['m1'], 'standby')
        connection.close()
    finally:
        as_root('m1', 'SET GLOBAL read_only = 0')


# ---- links -------------------------------------------------------------------

def sessions(name):
    return int(as_root(name, "SELECT count(*) FROM information_schema."
                       "processlist WHERE user = 'app'"))


def try_links():
    string = 'DSN=mapped;AffinityKey=5;AffinityMode=strict;PoolMaxReuse=100'
    before = sessions('m1')
    first, second = (value(connect(string), 'SELECT CONNECTION_ID()')
                     for _ in range(2))
    check('a used link is not reused', first != second, (first, second))
    until('used links are closed', lambda: sessions('m1') <= before)
    connection = connect(string)
    as_root('m1', 'KILL %d' % value(connection, 'SELECT CONNECTION_ID()'))
    try:
        connection.execute('SELECT 1')
        state = text = 'none'
    except pyodbc.Error as e:
        state, text = e.args
    check('a killed link is 08S01', state == '08S01' and 'died' in text,
          (state, text))
    connection.close()
    same('and the next session is well', where(string), 'm1')


def try_leaks():
    for fleet in ('hashed', 'mapped'):
        tap_of([os.environ['AFF_BUILDDIR'] + '/tests/leak-inner', 'mariadb',
                'DSN=m1', 'DSN=%s;Instances=m1;AffinityMap=' % fleet])


# ---- trouble -----------------------------------------------------------------

def try_hang():
    """A used session is given back without a word to its instance."""
    connection = connect('DSN=mapped;AffinityKey=1500;AffinityMode=strict')
    same('a session on m2', value(connection, 'SELECT name FROM whoami'), 'm2')
    os.kill(pid_of('m2'), signal.SIGSTOP)
    try:
        closing = threading.Thread(target=connection.close)
        closing.start()
        closing.join(120)
        check('disconnecting from an instance that hangs does not hang',
              not closing.is_alive())
        same('hint: a session goes elsewhere', where(
            'DSN=mapped;AffinityKey=1500;ConnectTimeout=2000'), 'm1')
    finally:
        os.kill(pid_of('m2'), signal.SIGCONT)


def try_down():
    connection = connect('DSN=mapped;AffinityKey=1500;AffinityMode=strict')
    same('a session on m2', value(connection, 'SELECT name FROM whoami'), 'm2')
    os.kill(pid_of('m2'), signal.SIGKILL)
    until('m2 is gone', lambda: not os.path.exists(
        '/proc/%d/fd/0' % pid_of('m2')))
    try:
        connection.execute('SELECT 1')
        state = text = 'none'
    except pyodbc.Error as e:
        state, text = e.args
    check('a session whose server is gone is told 08S01',
          state == '08S01' and 'the link to instance m2 died' in text,
          (state, text))
    connection.close()
    same('hint: a session goes elsewhere when its owner is down',
         where('DSN=mapped;AffinityKey=1500'), 'm1')
    state, text = refusal('DSN=mapped;AffinityKey=1500;AffinityMode=strict')
    check('strict: it is an error with the driver\'s words',
          state in ('08001', 'HYT00') and "Can't connect" in text,
          (state, text))


def tidy_up():
    sandbox('stop')
    check('both are ended', not os.path.exists(PLACE))


PORT = set_up()
tap_run(try_readme, try_sources, lambda: try_addresses(PORT), try_refusals,
        try_commands, try_transparent, try_fresh, try_clients, try_dead, try_replicas,
        try_links, try_leaks, try_hang, try_down, tidy_up)
