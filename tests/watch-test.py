#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Probing, on a sandbox of its own with two groups of a primary and a standby:
what is heard of each instance, a promotion that nobody's traffic tells of, an
instance that hangs and delays no other, errors that bring a probe about,
MonitorUID, a role that may read little, and a fleet that nobody uses."""
import time

from own_sandbox import folder, sandbox, start

start('--instances', '2', '--standbys', '1')
import pyodbc  # noqa: E402
from odbc_tap import (check, connect, same, tap_run, until,  # noqa: E402
                      until_complete, until_settled, value)

ALL = ['n1', 'n1s1', 'n2', 'n2s1']
ON_N1 = 'DSN=orders;AffinityMode=strict;AffinityKey=500;'


def number(text):
    return None if text is None else int(text)


def instances(session):
    return {r.instance: r for r in session.execute('SHOW AFFINITY INSTANCES')}


def opened(session):
    return {r.instance: r.opened
            for r in session.execute('SHOW AFFINITY POOLS')}


def probed(session, name):
    return number(instances(session)[name].probed_ms)


def until_all_probed(session):
    until('every instance has been probed',
          lambda: all(r.probed_ms is not None
                      for r in instances(session).values()))


def when_probed(session, name):
    """Between which two moments of ours that was, ms; None: not yet."""
    before = time.monotonic() * 1000
    ago = probed(session, name)
    after = time.monotonic() * 1000
    return None if ago is None else (before - ago - 1, after - ago)


def is_newer(then, before):
    return then is not None and (before is None or then[0] > before[1])


def until_probed_anew(session, name):
    before = when_probed(session, name)
    until('%s is probed again' % name,
          lambda: is_newer(when_probed(session, name), before))


def events(session, instance):
    return [r.event for r in session.execute('SHOW AFFINITY EVENTS')
            if r.instance == instance]


def superuser(name):
    return connect('DSN=%s;UID=postgres' % name)


# ---- what is heard ------------------------------------------------------------

def facts():
    session = connect(ON_N1)
    until_all_probed(session)
    same('who they are', {n: (r.role, r.group, r.timeline)
                          for n, r in instances(session).items()},
         {'n1': ('primary', 'n1', '1'), 'n1s1': ('standby', 'n1', '1'),
          'n2': ('primary', 'n2', '1'), 'n2s1': ('standby', 'n2', '1')})
    until('the standbys\' lag is known',
          lambda: all(instances(session)[n].lag_ms is not None
                      for n in ('n1s1', 'n2s1')))
    rows = instances(session)
    check('a primary has none', rows['n1'].lag_ms is None, rows['n1'])
    for name in ALL:
        row = rows[name]
        with superuser(name) as there:
            limit = value(there, 'SHOW max_connections')
        check('%s says how busy it is' % name,
              row.backends_max == limit and int(row.backends) >= 1 and
              int(row.latency_us) > 0 and row.flag in ('good', 'violating') and
              float(row.active) >= 0 and
              int(row.commits_per_s) >= 0, row)
    for name, query in (('n1', 'pg_current_wal_lsn()'),
                        ('n1s1', 'pg_last_wal_replay_lsn()')):
        with superuser(name) as there:
            until('the position of %s is the server\'s' % name,
                  lambda: value(there, "SELECT pg_wal_lsn_diff(%s, '0/0')"
                                % query) ==
                  int(instances(session)[name].position))
    until_complete(session)
    until_settled(session)
    before = opened(session)
    for name in ALL:
        until_probed_anew(session, name)
    same('over links that are there', opened(session), before)
    session.close()


def stopped_standby_lags():
    """Its lag grows though it says itself that it has replayed all."""
    session = connect(ON_N1 + 'CheckInterval=100')
    until('its lag is known',
          lambda: instances(session)['n1s1'].lag_ms is not None)
    with superuser('n1s1') as standby, superuser('n1') as primary:
        standby.execute('SELECT pg_wal_replay_pause()')
        primary.execute('CREATE TABLE later AS SELECT 1 AS x')
        until('a standby that has stopped replaying falls behind',
              lambda: number(instances(session)['n1s1'].lag_ms) > 1500)
        standby.execute('SELECT pg_wal_replay_resume()')
        until('and catches up',
              lambda: number(instances(session)['n1s1'].lag_ms) < 1500)
        primary.execute('DROP TABLE later')
    check('a standby\'s lag', True)
    session.close()


# ---- cause --------------------------------------------------------------------

def causes():
    """At CheckInterval=20000 the first probe comes after 10 s, each further one
    16 s after the one before at the soonest, and with cause after 5 s at the
    latest."""
    session = connect(ON_N1 + 'CheckInterval=20000')
    session.execute('CREATE TEMP TABLE small (x int CHECK (x < 10))')
    same('it is not time yet', probed(session, 'n1'), None)
    statements = [
        ('25006', 'START TRANSACTION READ ONLY; CREATE TABLE t (x int)'),
        ('23514', 'INSERT INTO small VALUES (11)'),
        ('42P01', 'SELECT * FROM nowhere'),
        ('40001', "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; "
         "END $$"),
    ]
    for state, statement in statements:
        before = when_probed(session, 'n1')
        try:
            session.execute(statement)
            got = 'none'
        except pyodbc.Error as error:
            got = error.args[0]
        session.execute('ROLLBACK')
        same('the statement fails with ' + state, got, state)
        until('%s has n1 probed' % state,
              lambda: is_newer(when_probed(session, 'n1'), before), 15)
        if before is None:
            same('and nobody else',
                 [n for n in ALL if probed(session, n) is not None], ['n1'])
    session.close()


# ---- who watches ----------------------------------------------------------------

def monitor():
    for name in ('n1', 'n2'):
        with superuser(name) as there:
            there.execute("CREATE ROLE watcher LOGIN PASSWORD 'w'")
    session = connect('DSN=orders;MonitorUID=watcher;MonitorPWD=w;'
                      'CheckInterval=200')  # no key: nobody learns
    until_all_probed(session)
    rows = list(session.execute('SHOW AFFINITY POOLS'))
    same('MonitorUID has one link of its own to each',
         {r.instance: r.opened for r in rows if r.user == 'watcher'},
         {n: '1' for n in ALL})
    check('and the session\'s login has not',
          any(r.opened == '0' for r in rows if r.mine == 'yes'), rows)
    with superuser('n2s1') as there:
        same('the server knows it',
             value(there, "SELECT count(*) FROM pg_stat_activity "
                   "WHERE usename = 'watcher'"), 1)
    session.close()

    session = connect(ON_N1 + 'MonitorUID=nobody;MonitorPWD=w;'
                      'CheckInterval=100')
    until_all_probed(session)
    for _ in range(3):
        for name in ALL:
            until_probed_anew(session, name)
    for name in ALL:
        told = [e for e in events(session, name) if 'MonitorUID' in e]
        check('a MonitorUID that %s does not know is told once' % name,
              len(told) == 1 and '"nobody" does not exist' in told[0], told)
    same('and is no reason to call anybody down',
         {r.state for r in instances(session).values()}, {'up'})
    check('the password is not among the events',
          not any('PWD' in r.event
                  for r in session.execute('SHOW AFFINITY EVENTS')))
    session.close()


def server_log(words):
    with open(folder + '/n1/log', encoding='utf-8') as log:
        return len([line for line in log if words in line])


def little():
    """A role that may not read the control file is probed with, all the same,
    and the server's log is not filled."""
    with superuser('n1') as there:
        there.execute('REVOKE EXECUTE ON FUNCTION pg_control_system() '
                      'FROM PUBLIC')
    words = 'permission denied for function pg_control_system'
    session = connect(ON_N1 + 'UID=watcher;CheckInterval=100')
    until_all_probed(session)
    until('an event says so',
          lambda: any('does not tell all' in e and words in e
                      for e in events(session, 'n1')))
    same('it is known for a primary all the same',
         instances(session)['n1'].role, 'primary')
    denied = server_log(words)
    for _ in range(12):
        until_probed_anew(session, 'n1')
    # each of a few links may have been probed for the first time, twice in vain
    check('the server has refused less than there were probes',
          server_log(words) - denied < 12, server_log(words) - denied)
    known = connect(ON_N1 + 'CheckInterval=100') # to who may read it all
    check('it is known', instances(session)['n1'].identity is not None)
    with superuser('n1') as there:
        there.execute('REVOKE EXECUTE ON FUNCTION pg_is_in_recovery() '
                      'FROM PUBLIC')
    more = [connect(ON_N1 + 'UID=watcher;CheckInterval=100')
            for _ in range(3)] # some of them over new links
    until('not even whether it is a standby is told', lambda: server_log(
        'permission denied for function pg_is_in_recovery') > 0)
    for one in more + [known]:
        one.close()
    same('and it is the primary as before',
         instances(session)['n1'].role, 'primary')
    same('no other system', [e for e in events(session, 'n1')
                             if 'another system' in e], [])
    with superuser('n1') as there:
        there.execute('GRANT EXECUTE ON FUNCTION pg_control_system(), '
                      'pg_is_in_recovery() TO PUBLIC')
    session.close()


def unused():
    session = connect(ON_N1 + 'CheckInterval=50;CheckTimeout=4000')
    until_all_probed(session)
    session.close()
    asks = ("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' "
            "AND query LIKE '%pg_postmaster_start_time%' "
            "AND query_start > now() - interval '3 s'")
    with superuser('n2') as there:
        check('a fleet that was used a moment ago is watched',
              value(there, asks) > 0)
        until('a fleet that is not used is not', lambda:
              value(there, asks) == 0)
    check('nobody watches what nobody uses', True)


# ---- trouble --------------------------------------------------------------------

def hang():
    session = connect(ON_N1 + 'CheckInterval=100;CheckTimeout=2000;'
                      'ConnectTimeout=2000')
    until_all_probed(session)
    sandbox('pause', 'n2s1')
    others = {name: set() for name in ALL if name != 'n2s1'}

    def down():
        now, rows = time.monotonic() * 1000, instances(session)
        for name, seen in others.items():
            seen.add((now - number(rows[name].probed_ms)) // 50)
        return rows['n2s1'].state == 'down'
    try:
        until('n2s1 is down', down)
        check('the reason is told',
              any('did not answer a probe within 2000 ms' in e
                  for e in events(session, 'n2s1')),
              events(session, 'n2s1'))
        # some twenty times, or less often where the machine is late
        check('the others have been probed all the while',
              all(len(seen) > 4 for seen in others.values()), others)
    finally:
        sandbox('resume', 'n2s1')
    until('n2s1 is up again',
          lambda: instances(session)['n2s1'].state == 'up')
    until_probed_anew(session, 'n2s1')
    session.close()


def promotion():
    """The only session is elsewhere and does nothing."""
    session = connect(ON_N1)
    until_complete(session)
    until_all_probed(session)
    sandbox('crash', 'n2')
    until('n2 is down', lambda: instances(session)['n2'].state == 'down')
    sandbox('promote', 'n2s1')
    begin = time.monotonic()
    until('the promotion is noticed',
          lambda: instances(session)['n2s1'].role == 'primary')
    print('# after %.0f ms' % ((time.monotonic() - begin) * 1000))
    check('it is told', any('is now primary, timeline 2' in e
                            for e in events(session, 'n2s1')),
          events(session, 'n2s1'))
    there = connect('DSN=orders;AffinityMode=strict;AffinityKey=1500')
    same('its keys are served there', value(there, 'SHOW cluster_name'),
         'n2s1')
    there.close()
    sandbox('revive', 'n2')
    until('who was the primary is a standby',
          lambda: instances(session)['n2'].role == 'standby')
    session.close()


def main():
    facts()
    causes()
    stopped_standby_lags()
    monitor()
    little()
    hang()
    unused()
    promotion()


tap_run(main)
