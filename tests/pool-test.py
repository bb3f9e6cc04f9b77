#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""The life of pools on the sandbox: what is opened and closed behind sessions'
backs (PoolMin, PoolInitial, PoolIdleTimeout, PoolMaxLifetime), what is said of
those who hold a link too long (SessionLimit), and what is counted of it all
(SHOW AFFINITY STATS, INSTANCES)."""
import os
import subprocess
import time

from odbc_tap import (check, connect, refusal, same, tap_run, until,
                      until_settled, value)

ON_N2 = ';AffinityMode=strict;AffinityKey=1500'


def sandbox(verb, instance):
    subprocess.run([os.environ['AFF_SRCDIR'] + '/setup/sandbox', verb,
                    os.environ['AFF_SANDBOX'], instance], check=True,
                   stdout=subprocess.DEVNULL)


def stats(looker, instance, user=None):
    """The row of this session's login, or of that user's."""
    mine = [r.login for r in looker.execute('SHOW AFFINITY POOLS')
            if (r.mine == 'yes' if user is None else r.user == user)][0]
    return [r for r in looker.execute('SHOW AFFINITY STATS')
            if r.instance == instance and r.login == mine][0]


def pools(looker, mine='yes'):
    return {r.instance: r for r in looker.execute('SHOW AFFINITY POOLS')
            if r.mine == mine}


def links(looker, instance, state='idle', mine='yes'):
    return int(getattr(pools(looker, mine)[instance], state))


def backends(instance, user):
    """So many connections the server itself sees of a role."""
    c = connect('DSN=' + instance)
    n = value(c, "SELECT count(*) FROM pg_stat_activity WHERE usename = '%s' "
              'AND pid <> pg_backend_pid()' % user)
    c.close()
    return n


# ---- what is counted ---------------------------------------------------------

def counted():
    """A fleet of its own, so that nothing else is counted."""
    string = 'DSN=orders;PoolMax=2;PoolMaxReuse=50;PoolWait=60000' + ON_N2
    looker = connect(string)
    until_settled(looker)
    before = stats(looker, 'n2')
    one = connect(string)
    # pyodbc tries again with narrow functions, which succeeds
    refusal(string.replace('60000', '200'))
    one.close()
    until_settled(looker)
    for _ in range(3):
        connect(string).close()
    def grown(column):
        return (int(getattr(stats(looker, 'n2'), column)) -
                int(getattr(before, column)))
    until('all are made clean, since pyodbc sets attributes',
          lambda: grown('resets') == 4)
    after = stats(looker, 'n2')
    same('sessions and their links are counted',
         (grown('borrowed'), grown('returned')), (4, 4))
    same('all of them are on their key\'s owner',
         (grown('owner_hits'), grown('owner_misses')), (4, 0))
    same('at most two were open, with the other login three in use',
         (after.peak, after.peak_in_use), ('2', '3'))
    rows = looker.execute('SHOW AFFINITY STATS').fetchall()
    login = [r for r in rows if r.instance is None and r.login == after.login]
    same('one waited in vain, and belongs to no instance',
         (login[0].timed_out, login[0].opened), ('1', None))
    check('for PoolWait', 200 <= int(login[0].timed_out_ms) <
          20000, login[0])
    total = rows[-1]
    same('the last row is the fleet\'s', (total.instance, total.login),
         (None, None))
    for column in ('opened', 'borrowed', 'resets', 'timed_out'):
        same('its %s is the sum' % column, int(getattr(total, column)),
             sum(int(getattr(r, column) or 0) for r in rows[:-1]))
    looker.close()


def closings():
    string = 'DSN=orders;PoolMax=3;PoolMaxReuse=2' + ON_N2
    looker = connect('DSN=orders;PoolMax=3;PoolMaxReuse=2;AffinityKey=500')
    for _ in range(4):
        connect(string).close()
    until('a link that has served twice is closed, as worn',
          lambda: int(stats(looker, 'n2').closed_worn) >= 1)
    c = connect(string)
    pid = value(c, 'SELECT pg_backend_pid()')
    beside = connect('DSN=n2;UID=postgres')
    beside.execute('SELECT pg_terminate_backend(%d)' % pid)
    try:
        c.execute('SELECT 1')
    except Exception:
        pass
    c.close()
    beside.close()
    until('one that has died is closed, as dead',
          lambda: int(stats(looker, 'n2').closed_dead) >= 1)
    c = connect(string)
    looker.execute('REFRESH AFFINITY LINKS').fetchall()
    c.close()
    until('one that is to be renewed is closed, as retired',
          lambda: int(stats(looker, 'n2').closed_retired) >= 1)
    looker.close()


def shown():
    """INSTANCES says why."""
    looker = connect('DSN=orders;AffinityKey=500;ConnectTimeout=2000')
    n2 = 'DSN=orders;ConnectTimeout=2000' + ON_N2

    def row(instance):
        return [r for r in looker.execute('SHOW AFFINITY INSTANCES')
                if r.instance == instance][0]
    connect(n2).close()
    same('nothing is said of one that is up', row('n2').why, None)
    looker.execute('DRAIN AFFINITY INSTANCE n2').fetchall()
    same('of a drained one it is', row('n2').why,
         'drained by DRAIN AFFINITY INSTANCE')
    looker.execute('RESUME AFFINITY INSTANCE n2').fetchall()
    sandbox('crash', 'n2')
    try:
        until('n2 is down', lambda: row('n2').state == 'down')
        got = row('n2')
        check('why, and since when', got.why and got.why == got.last_error and
              int(got.since_ms) >= 0 and int(got.error_ms) >= 0, got)
        found = {r.instance: r.verdict for r in looker.execute(
            "EXPLAIN AFFINITY KEY '1500'")}
        check('EXPLAIN names each with its reason',
              set(found) == {'n1', 'n2', 'n3', None} - (
                  {None} if None not in found else set()) and
              found['n2'].startswith('down'), found)
    finally:
        sandbox('revive', 'n2')
    until('n2 serves again', lambda: refusal(n2)[0] == 'none')
    until('and nothing is said of it', lambda: row('n2').why is None)
    check('but of its latest failure', row('n2').last_error is not None)
    looker.close()


# ---- the life of links ---------------------------------------------------------

def idle_times():
    string = 'DSN=orders;PoolMax=4;PoolIdleTimeout=1000'
    looker = connect(string + ';AffinityKey=500')
    held = [connect(string + ON_N2) for _ in range(2)]
    pids = [value(c, 'SELECT pg_backend_pid()') for c in held]
    for c in held:
        c.close()
    beside = connect('DSN=n2')

    def there():
        return value(beside, 'SELECT count(*) FROM pg_stat_activity WHERE '
                     'pid IN (%d, %d)' % tuple(pids))
    until('idle links are closed without traffic', lambda: there() == 0)
    check('and counted', int(stats(looker, 'n2').closed_idle) >= 2)
    beside.close()
    looker.close()


def kept_open():
    """By a role of their own, which the server can count."""
    string = ('DSN=orders;UID=postgres;PoolMax=4;PoolMin=2;'
              'PoolIdleTimeout=500;AffinityKey=500')
    looker = connect(string)

    def have():
        return [sum(int(getattr(r, state)) for state in
                    ('idle', 'held', 'opening', 'reset', 'learning'))
                for r in pools(looker).values()]
    until('two are open to each instance', lambda: have() == [2, 2, 2])
    pid = value(looker, 'SELECT pg_backend_pid()')
    others = connect('DSN=n3;UID=postgres')
    value(others, 'SELECT count(pg_terminate_backend(pid)) FROM '
          "pg_stat_activity WHERE usename = 'postgres' AND "
          "backend_type = 'client backend' AND pid <> pg_backend_pid()")
    others.close()
    until('what the server has ended is replaced',
          lambda: int(stats(looker, 'n3').closed_dead) >= 1 and
          have() == [2, 2, 2])
    same('and nobody lost his', value(looker, 'SELECT pg_backend_pid()'), pid)
    looker.execute('DRAIN AFFINITY INSTANCE n2').fetchall()
    until('where it is drained all are closed, and none is opened',
          lambda: have() == [2, 0, 2])
    looker.execute('RESUME AFFINITY INSTANCE n2').fetchall()
    until('until it is resumed', lambda: have() == [2, 2, 2])
    looker.close()


def opened_first():
    looker = connect('DSN=orders;PoolMax=5;PoolInitial=3;AffinityKey=500')
    until('three are opened to each instance behind the first session',
          lambda: all(int(r.opened) >= 3 for r in pools(looker).values()))
    looker.close()


def lifetimes():
    looker = connect('DSN=orders;PoolMax=6;PoolMaxLifetime=1500;'
                     'AffinityKey=500')
    connect('DSN=orders;PoolMax=6;PoolMaxLifetime=1500' + ON_N2).close()
    until('what is too old is closed without traffic',
          lambda: int(stats(looker, 'n2').closed_worn) >= 1)
    looker.close()


def too_many():
    for words in ('PoolMin=8;PoolMax=7', 'PoolInitial=8;PoolMax=7'):
        state, text = refusal('DSN=orders;' + words)
        check(words + ' is refused, and names both',
              state == 'HY024' and all(w in text for w in words.split(';')),
              (state, text))


def replaced_unseen():
    """One that died longer than PoolTrust ago."""
    string = 'DSN=orders;PoolMax=3;PoolTrust=100;CheckTimeout=4000' + ON_N2
    looker = connect('DSN=orders;PoolMax=3;PoolTrust=100;CheckTimeout=4000;'
                     'AffinityKey=500')
    c = connect(string)
    pid = value(c, 'SELECT pg_backend_pid()')
    c.close()
    until('its link is idle', lambda: links(looker, 'n2') >= 1)
    beside = connect('DSN=n2;UID=postgres')
    value(beside, 'SELECT pg_terminate_backend(%d, 60000)' % pid)
    beside.close()
    time.sleep(0.2)  # PoolTrust
    c = connect(string)
    check('the next session sees nothing of it',
          value(c, 'SELECT pg_backend_pid()') != pid)
    c.close()
    until('the dead one is counted',
          lambda: int(stats(looker, 'n2').closed_dead) >= 1)
    looker.close()


# ---- who holds one too long ------------------------------------------------------

def overlong():
    limit = 1  # s
    string = 'DSN=orders;SessionLimit=%d' % (limit * 1000)
    looker = connect(string + ';AffinityKey=500')

    def told(instance):
        return [r.event for r in looker.execute('SHOW AFFINITY EVENTS')
                if r.instance == instance and 'has held' in r.event]

    def holds(*statements):
        """What is told of a session on n2 that runs these: once more, if it
        had not run all of them by then."""
        for _ in range(20):
            before = len(told('n2'))
            begin = time.monotonic()
            c = connect(string + ON_N2)
            for statement in statements:
                c.execute(*statement)
            timely = time.monotonic() - begin < limit
            until('it is told of', lambda: len(told('n2')) > before)
            c.close()
            if timely:
                break
        return told('n2')[0]
    check('a session that holds a link too long is told of, with its key and '
          'the latest text',
          "key 1500, last ran: SELECT 'caf\u00e9', 2" in
          holds(['SELECT 1'], ["SELECT 'caf\u00e9', 2"]), told('n2'))
    event = holds(['SELECT ?::int + 1', 4711])
    check('a prepared one without its parameters',
          'last ran: SELECT ?::int + 1' in event and '4711' not in event, event)
    event = holds(["SELECT 'geheim' AS password"])
    check('no text that may hold a password',
          'geheim' not in event and 'may hold a password' in event, event)
    event = holds()
    check('and one that did nothing', 'has run nothing' in event, event)
    until('each is counted', lambda: int(stats(looker, 'n2').abandoned) >= 4)
    quiet = connect('DSN=orders' + ON_N2)
    quiet.execute('SELECT 1')
    time.sleep(0.6)
    same('without a limit nothing is told',
         [r for r in quiet.execute('SHOW AFFINITY EVENTS')
          if 'has held' in r.event], [])
    quiet.close()
    looker.close()


tap_run(counted, closings, shown, idle_times, kept_open, opened_first, lifetimes,
        too_many, replaced_unseen, overlong)
