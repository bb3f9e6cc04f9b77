#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""The SQL commands of odbc-affinity on the sandbox, through pyodbc (wide) and
through the manager's own functions (narrow): what they answer is compared with
what the instances themselves say, and what they leave behind is looked at from
beside."""
import ctypes
import ctypes.util
import threading

import pyodbc

from odbc_tap import check, connect, same, tap_run, until, \
    until_complete, value


def rows(connection, command):
    return connection.cursor().execute(command).fetchall()


def one(connection, command):
    found = rows(connection, command)
    assert len(found) == 1, found
    return found[0]


def names(cursor):
    return [column[0] for column in cursor.description]


def error(connection, text):
    """SQLSTATE and message of a text that must fail."""
    try:
        got = connection.cursor().execute(text)
    except pyodbc.Error as e:
        return e.args[0], e.args[1]
    return 'none', got.description and got.fetchall()


class Beside:
    """A look at a session's backend, over a connection of its own."""

    def __init__(self, session, instance):
        self.pid = value(session, 'SELECT pg_backend_pid()')
        if not session.autocommit:
            session.commit()
        self.connection = connect('DSN=' + instance)

    def state(self):
        return value(self.connection, 'SELECT state FROM pg_stat_activity '
                     'WHERE pid = %d' % self.pid)


# ---- what is answered ------------------------------------------------------

def answers(autocommit):
    how = 'autocommit' if autocommit else 'manual commit'
    c = connect('DSN=orders-strict;AffinityKey=1500', autocommit)
    cursor = c.cursor()

    cursor.execute('SHOW AFFINITY')
    same(how + ': SHOW AFFINITY has the columns that are documented',
         names(cursor), ['key', 'instance', 'verdict', 'mode', 'access',
                         'owner', 'source', 'topology'])
    row = cursor.fetchone()
    same(how + ': key, owner, mode and access are the session\'s',
         (row.key, row.owner, row.mode, row.access),
         ('1500', 'n2', 'strict', 'read-write'))
    same(how + ': the instance is the one that answers', row.instance,
         value(c, 'SHOW cluster_name'))
    same(how + ': which is the owner', row.instance, 'n2')
    check(how + ': the verdict names key and instance',
          row.verdict.startswith('n2: key 1500 (owner n2), '), row.verdict)
    same(how + ': there is one row', cursor.fetchone(), None)

    found = rows(c, 'show affinity instances;')
    same(how + ': INSTANCES lists all in their order',
         [r.instance for r in found], ['n1', 'n2', 'n3'])
    mine = found[1]
    same(how + ': role and state of the instance in use',
         (mine.role, mine.state, mine.group), ('primary', 'up', 'n2'))
    check(how + ': this session\'s link is counted', int(mine.held) >= 1,
          mine)
    check(how + ': what balancing goes by', mine.weight == '1' and
          mine.flag in ('good', 'violating') and int(mine.in_flight) >= 1 and
          abs(int(mine.cost) - int(mine.latency_us) *
              (int(mine.in_flight) + 1)) <= int(mine.in_flight) + 1, mine)
    direct = connect('DSN=n2')
    same(how + ': its identity is that of its data', mine.identity,
         str(value(direct, 'SELECT system_identifier::text '
                   'FROM pg_control_system()')))
    direct.close()

    found = rows(c, '/* which */ SHOW AFFINITY POOLS -- ?')
    mine = [r for r in found if r.mine == 'yes']
    same(how + ': POOLS has one of this login per instance',
         [r.instance for r in mine], ['n1', 'n2', 'n3'])
    check(how + ': with this session\'s link held and counted as opened',
          int(mine[1].held) >= 1 and int(mine[1].opened) >= 1, mine[1])
    check(how + ': links and room make up PoolMax',
          all(sum(int(n) for n in (r.idle, r.held, r.learning, r.opening,
                                   r.reset, r.room)) == 20 for r in mine),
          mine)

    found = dict(map(tuple, rows(c, 'SHOW AFFINITY CONFIG')))
    same(how + ': CONFIG shows what was given and what was not',
         (found['AffinityKey'], found['AffinityMode'], found['PoolMax'],
          found['Metrics']), ('1500', 'strict', '20', None))
    c.close()


def learning_counts_once():
    """A link over which ownership is learnt is not a held one as well."""
    string = ("DSN=orders;AffinityTable=;PoolWait=0;AffinityQuery={SELECT "
              "'default', NULL, NULL FROM pg_sleep(2)}")
    c = connect(string)
    keyed = threading.Thread(target=lambda:
                             connect(string + ';AffinityKey=1').close())
    keyed.start()
    found = []

    def learning():
        found[:] = [r for r in rows(c, 'SHOW AFFINITY INSTANCES')
                    if r.learning != '0']
        return found
    until('something is being learnt', learning)
    same('links and room make up PoolMax meanwhile',
         [sum(int(n) for n in (r.idle, r.held, r.opening, r.reset, r.learning,
                               r.room)) for r in found], [20] * len(found))
    found = [r for r in rows(c, "EXPLAIN AFFINITY KEY '1'")
             if r.learning not in (None, '0')]
    check('EXPLAIN counts them so as well', found and
          all(sum(int(n) for n in (r.idle, r.held, r.opening, r.learning,
                                   r.room)) == 20 for r in found), found)
    keyed.join()
    c.close()


def explains():
    c = connect('DSN=orders-strict')
    for key, owner in (('5', 'n1'), ('1500', 'n2'), ('2999', 'n3'),
                       ('-1', 'n1')):
        found = rows(c, "EXPLAIN AFFINITY KEY '%s'" % key)
        same('EXPLAIN %s: each instance has its row' % key,
             [r.instance for r in found], ['n1', 'n2', 'n3'])
        same('EXPLAIN %s: the owner is where the row would be' % key,
             [r.instance for r in found if r.owner == 'yes'], [owner])
        same('EXPLAIN %s: strict is served there and nowhere else' % key,
             [r.instance for r in found
              if r.verdict.startswith('would serve it')], [owner])
        check('EXPLAIN %s: what balancing thinks of each' % key,
              all(r.balance.split(', ')[0] in ('good', 'violating', 'no data')
                  and 'weight 1, ' in r.balance and
                  r.balance.endswith(' in flight') for r in found), found)
        same('EXPLAIN %s: and the others are told why not' % key,
             {r.verdict for r in found if r.instance != owner},
             {'not the owner'})
    hint = connect('DSN=orders')
    found = rows(hint, "EXPLAIN AFFINITY KEY '1500'")
    same('EXPLAIN in hint mode: somebody would serve it',
         len([r for r in found if r.verdict.startswith('would serve it')]),
         1)
    found = rows(hint, "EXPLAIN AFFINITY KEY ''")
    same('EXPLAIN without a key: nobody owns that',
         [r.owner for r in found], [None, None, None])
    before = one(c, 'SHOW AFFINITY')
    rows(c, "EXPLAIN AFFINITY KEY '2500'")
    rows(c, 'SHOW AFFINITY POOLS')
    after = one(c, 'SHOW AFFINITY')
    same('no command changes the verdict that is reported',
         (after.key, after.instance, after.verdict),
         (before.key, before.instance, before.verdict))
    same('EXPLAIN of a key that does not fit its owner\'s type',
         error(c, "EXPLAIN AFFINITY KEY 'abc'")[0], '22018')
    same('EXPLAIN of a text that is no key',
         error(c, "EXPLAIN AFFINITY KEY '\"'")[0], 'HY024')
    c.close()
    hint.close()


def topology():
    c = connect('DSN=orders')
    asked = one(c, 'REFRESH AFFINITY')
    same('REFRESH says what is learnt anew', asked.source,
         'table public.orders')
    until_complete(c)
    for i in range(20):
        asked = one(c, 'REFRESH AFFINITY')
    until_complete(c)
    check('REFRESH while everybody is being asked ends all the same', True)
    direct = connect('DSN=n1')
    wanted = {(bound, owner) for bound, owner in direct.cursor().execute(
        'SELECT pg_get_expr(c.relpartbound, c.oid), '
        "       coalesce(s.srvname, 'n1') "
        "FROM pg_partition_tree('orders') t "
        'JOIN pg_class c ON c.oid = t.relid '
        'LEFT JOIN pg_foreign_table f ON f.ftrelid = c.oid '
        'LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver '
        'WHERE t.isleaf')}
    found = rows(c, 'SHOW AFFINITY TOPOLOGY')
    same('TOPOLOGY is what the instance says of its partitions',
         {(r.bound, r.owner) for r in found}, wanted)
    same('each of them is owned', {r.state for r in found}, {'owned'})
    rows(c, 'REFRESH AFFINITY')
    until_complete(c)
    same('and it is the same after another REFRESH',
         [tuple(r) for r in rows(c, 'SHOW AFFINITY TOPOLOGY')],
         [tuple(r) for r in found])
    found = rows(c, 'SHOW AFFINITY INSTANCES')
    same('all instances have been asked', [r.state for r in found],
         ['up', 'up', 'up'])
    direct.close()
    c.close()


def texts():
    key = 'Z\u00fcrich \u20ac \U0001F600 \\ \' {x} ?'
    string = 'DSN=orders;AffinityTable=public.regions;AffinityKey={%s}' % (
        key.replace('}', '}}'))
    for setting in ('on', 'off'):
        c = connect(string)
        c.cursor().execute('SET standard_conforming_strings = ' + setting)
        same('any character arrives, standard_conforming_strings ' + setting,
             one(c, 'SHOW AFFINITY').key, key)
        same('also if it came with the command, standard_conforming_strings '
             + setting, len(rows(c, "EXPLAIN AFFINITY KEY 'a''\\\u00fc'")), 3)
        c.close()


# ---- what is refused -------------------------------------------------------

def refusals():
    c = connect('DSN=orders;AffinityKey=1500')
    for text, state, says in (
            ('SHOW AFFINITY POOLZ', '42000', 'SHOW AFFINITY POOLS'),
            ('EXPLAIN AFFINITY KEY 5', '42000', "EXPLAIN AFFINITY KEY 'k'"),
            ("SET AFFINITY KEY '5'", 'HYC00', 'not available'),
            ('SHOW AFFINITY TOKEN', 'HYC00', 'not available'),
            ('DRAIN AFFINITY INSTANCE n7', 'HY024', 'n1, n2, n3'),
            ('RESUME AFFINITY INSTANCE', '42000', 'INSTANCE name'),
            ('SHOW AFFINITY; SELECT 1', 'HY000', 'only statement'),
            ("SELECT set_config('a.b', 'sent', false); SHOW AFFINITY",
             'HY000', 'only statement')):
        got = error(c, text)
        same('%s: %s' % (text, state), got[0], state)
        check(text + ': says so',
              says in got[1] and '[odbc-affinity][orders]' in got[1], got[1])
    same('nothing of a text with a command in it was sent',
         value(c, "SELECT current_setting('a.b', true)"), None)
    same('a parameter of somebody\'s extension is not ours',
         error(c, 'SHOW affinity.x')[0], '42704')
    value(c, "SELECT set_config('affinity.x', 'theirs', false)")
    same('and can be shown', value(c, 'SHOW affinity.x'), 'theirs')
    same('a text about a command is none',
         value(c, "SELECT 'SHOW AFFINITY; ' || $$; SHOW AFFINITY$$"),
         'SHOW AFFINITY; ; SHOW AFFINITY')
    c.close()


# ---- what is left behind ---------------------------------------------------

def units():
    for options in ('', ';UseDeclareFetch=1', ';UseServerSidePrepare=0',
                    ';Protocol=7.4-1'):
        c = connect('DSN=orders-strict;AffinityKey=1500' + options, False)
        beside = Beside(c, 'n2')
        same('manual commit%s: no unit before' % options, beside.state(),
             'idle')
        cursor = c.cursor()
        cursor.execute('SHOW AFFINITY INSTANCES')
        same('manual commit%s: SHOW leaves none' % options, beside.state(),
             'idle')
        same('manual commit%s: and its rows are there' % options,
             [r[0] for r in cursor.fetchall()], ['n1', 'n2', 'n3'])
        cursor.execute('INSERT INTO orders (customer_id, id) '
                       'VALUES (1500, 424242)')
        same('manual commit%s: SHOW in a unit works' % options,
             cursor.execute('SHOW AFFINITY').fetchone().instance, 'n2')
        same('manual commit%s: and leaves it open' % options, beside.state(),
             'idle in transaction')
        c.rollback()
        same('manual commit%s: so that it can be rolled back' % options,
             value(c, 'SELECT count(*) FROM orders WHERE customer_id = 1500 '
                   'AND id = 424242'), 0)
        c.commit()
        reader = c.cursor()
        reader.execute('SELECT generate_series(1, 1000)')
        reader.fetchone()
        c.commit()
        rows(c, 'SHOW AFFINITY')
        same('manual commit%s: with another cursor open, through which a unit '
             'can begin unseen, it ends nothing' % options, beside.state(),
             'idle in transaction')
        same('manual commit%s: and that cursor can be read on' % options,
             len(reader.fetchall()), 999)
        c.close()

    c = connect('DSN=orders-strict;AffinityKey=1500')
    beside = Beside(c, 'n2')
    cursor = c.cursor()
    cursor.execute('BEGIN')
    rows(c, 'SHOW AFFINITY')
    same('autocommit: a BEGIN of the application\'s stays open',
         beside.state(), 'idle in transaction')
    cursor.execute('ROLLBACK')
    cursor.execute('SHOW AFFINITY')
    same('autocommit: SHOW leaves no unit', beside.state(), 'idle')
    c.close()


def dead_links():
    for command, wanted in (
            ('SHOW AFFINITY INSTANCES', ['instance=n1', 'instance=n2',
                                         'instance=n3']),
            ('SHOW AFFINITY', ['key=1500, instance=n2'])):
        odbc = Odbc('DSN=orders-strict;AffinityKey=1500')
        odbc.call('SQLExecDirect', b'SELECT pg_backend_pid()', SQL_NTS)
        pid = odbc.fetch_all()[0][0]
        odbc.call('SQLCloseCursor')
        direct = connect('DSN=n2')
        value(direct, 'SELECT pg_terminate_backend(%s, 10000)' % pid)
        direct.close()
        for when in ('at its death', 'afterwards'):
            rc = odbc.lib.SQLExecDirect(odbc.stmt, command.encode(), SQL_NTS)
            found = odbc.records(3, odbc.stmt)
            same('%s on a dead link, %s: 08001' % (command, when),
                 (rc, {state for state, text in found}), (-1, {'08001'}))
            check('%s on a dead link, %s: one record per row'
                  % (command, when), len(found) == len(wanted) and
                  all(w in text for w, (state, text) in zip(wanted, found)),
                  found)
        odbc.close()


# ---- prepared, narrow, and by the manager's own functions ------------------

SQL_NTS = -3


class Odbc:
    """As little of ODBC by ctypes as is needed here."""

    def __init__(self, string):
        self.lib = ctypes.CDLL(ctypes.util.find_library('odbc')
                               or 'libodbc.so.2')
        self.env = self.alloc(1, None)
        self.lib.SQLSetEnvAttr(self.env, 200, ctypes.c_void_p(3), 0)
        self.dbc = self.alloc(2, self.env)
        rc = self.lib.SQLDriverConnect(self.dbc, None, string.encode(),
                                       SQL_NTS, None, 0, None, 0)
        assert rc in (0, 1), self.records(2, self.dbc)
        self.stmt = self.alloc(3, self.dbc)

    def alloc(self, kind, parent):
        handle = ctypes.c_void_p()
        rc = self.lib.SQLAllocHandle(kind, parent, ctypes.byref(handle))
        assert rc == 0, rc
        return handle

    def records(self, kind, handle):
        """All diagnostic records: SQLSTATE and text of each."""
        state = ctypes.create_string_buffer(6)
        text = ctypes.create_string_buffer(1000)
        found = []
        while self.lib.SQLGetDiagRec(kind, handle, len(found) + 1, state,
                                     None, text, 1000, None) in (0, 1):
            found.append((state.value.decode(), text.value.decode()))
        return found

    def call(self, name, *arguments):
        rc = getattr(self.lib, name)(self.stmt, *arguments)
        assert rc in (0, 1), (name, rc, self.records(3, self.stmt))

    def prepare(self, text):
        self.call('SQLPrepare', text.encode(), SQL_NTS)

    def columns(self):
        number = ctypes.c_short()
        self.call('SQLNumResultCols', ctypes.byref(number))
        return number.value

    def column(self, number):
        """Name and size."""
        name = ctypes.create_string_buffer(100)
        size = ctypes.c_size_t()
        self.call('SQLDescribeCol', number, name, 100, None, None,
                  ctypes.byref(size), None, None)
        return name.value.decode(), size.value

    def fetch_all(self):
        found, width = [], self.columns()
        while self.lib.SQLFetch(self.stmt) in (0, 1):
            row = []
            for i in range(1, width + 1):
                buffer = ctypes.create_string_buffer(4000)
                length = ctypes.c_ssize_t()
                self.call('SQLGetData', i, 1, buffer, 4000,
                          ctypes.byref(length))
                row.append(None if length.value < 0
                           else buffer.raw[:length.value].decode())
            found.append(row)
        return found

    def native(self, text, room, wide=False):
        out = ctypes.create_string_buffer(b'#' * 400)
        length = ctypes.c_int()
        size = len(text)
        raw = text.encode('utf-16-le' if wide else 'ascii')
        rc = getattr(self.lib, 'SQLNativeSql' + ('W' if wide else ''))(
            self.dbc, raw, size, out, room, ctypes.byref(length))
        step = 2 if wide else 1
        got = out.raw[:min(length.value, room - 1) * step]
        return rc, got.decode('utf-16-le' if wide else 'ascii'), length.value

    def close(self):
        self.lib.SQLFreeHandle(3, self.stmt)
        self.lib.SQLDisconnect(self.dbc)
        self.lib.SQLFreeHandle(2, self.dbc)
        self.lib.SQLFreeHandle(1, self.env)


def prepared():
    odbc = Odbc('DSN=orders-strict;AffinityKey=1500')
    odbc.prepare('SHOW AFFINITY POOLS')
    same('prepared: the columns are known before execution',
         (odbc.columns(), odbc.column(1)[0], odbc.column(5)[0]),
         (17, 'instance', 'idle'))
    parameters = ctypes.c_short(9)
    odbc.call('SQLNumParams', ctypes.byref(parameters))
    same('prepared: it has no parameters', parameters.value, 0)
    room = odbc.column(1)[1]

    odbc.call('SQLExecute')
    check('prepared: described as wide as values may be',
          odbc.column(1)[1] <= room, (odbc.column(1), room))
    first = odbc.fetch_all()
    same('prepared: executes', [r[0] for r in first if r[3] == 'yes'],
         ['n1', 'n2', 'n3'])
    odbc.call('SQLCloseCursor')
    other = Odbc('DSN=orders-strict;AffinityKey=1500')
    odbc.call('SQLExecute')
    second = odbc.fetch_all()
    held = [int(r[5]) for found in (first, second) for r in found
            if r[0] == 'n2' and r[3] == 'yes']
    check('prepared: made anew at each execution',
          len(held) == 2 and held[1] == held[0] + 1, (first, second))
    odbc.call('SQLFreeStmt', 0)
    other.close()

    odbc.prepare("EXPLAIN AFFINITY KEY '2500'")
    odbc.call('SQLExecute')
    same('prepared: EXPLAIN', [r[0] for r in odbc.fetch_all()
                               if r[2] == 'yes'], ['n3'])
    odbc.call('SQLFreeStmt', 0)
    odbc.prepare('SELECT 1 + 1')
    odbc.call('SQLExecute')
    same('prepared: an ordinary text takes its place', odbc.fetch_all(),
         [['2']])
    odbc.call('SQLFreeStmt', 0)
    odbc.prepare('SHOW AFFINITY')
    odbc.call('SQLExecDirect', b'SELECT 2 + 2', SQL_NTS)
    odbc.fetch_all()
    odbc.call('SQLFreeStmt', 0)
    rc = odbc.lib.SQLPrepare(odbc.stmt, b'SHOW AFFINITY POOLZ', SQL_NTS)
    same('prepared: a malformed one is refused at once',
         (rc, odbc.records(3, odbc.stmt)[0][0]), (-1, '42000'))
    odbc.prepare('REFRESH AFFINITY')
    before = connect('DSN=orders-strict')
    until_complete(before)
    same('prepared: REFRESH does nothing before it is executed',
         one(before, 'SHOW AFFINITY').topology, 'complete')
    before.close()
    odbc.close()


def narrow():
    odbc = Odbc('DSN=orders;AffinityKey=1500')
    same('SQLNativeSql returns a command unchanged',
         odbc.native(' show AFFINITY ; -- {fn now()}', 100),
         (0, ' show AFFINITY ; -- {fn now()}', 30))
    same('SQLNativeSqlW as well',
         odbc.native(' show AFFINITY ; -- \u20ac', 100, True),
         (0, ' show AFFINITY ; -- \u20ac', 21))
    same('SQLNativeSql cuts and says so', odbc.native('SHOW AFFINITY', 5),
         (1, 'SHOW', 13))
    same('with the usual warning', odbc.records(2, odbc.dbc)[0][0], '01004')
    direct = Odbc('DSN=n1')
    text = "SELECT {d '2024-01-02'}, 'SHOW AFFINITY'; SHOW ALL"
    same('SQLNativeSql of other texts is the inner driver\'s',
         odbc.native(text, 200), direct.native(text, 200))
    direct.close()
    same('SQLNativeSql has executed nothing',
         odbc.native('REFRESH AFFINITY', 100), (0, 'REFRESH AFFINITY', 16))

    for cursor_type, name in ((1, 'keyset'), (3, 'static'), (2, 'dynamic')):
        odbc.lib.SQLSetStmtAttr(odbc.stmt, 7, ctypes.c_void_p(3), 0)
        odbc.lib.SQLSetStmtAttr(odbc.stmt, 6, ctypes.c_void_p(cursor_type), 0)
        odbc.call('SQLExecDirect', b'SHOW AFFINITY INSTANCES', 23)
        same('an updatable %s cursor gets its rows' % name,
             [r[0] for r in odbc.fetch_all()], ['n1', 'n2', 'n3'])
        odbc.call('SQLCloseCursor')
    odbc.close()


def answers_in_autocommit():
    answers(True)


def answers_in_transactions():
    answers(False)


tap_run(answers_in_autocommit, answers_in_transactions, learning_counts_once,
        explains, topology, texts, refusals, units, dead_links, prepared, narrow)
