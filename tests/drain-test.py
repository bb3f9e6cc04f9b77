#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Planned outages: DRAIN AFFINITY INSTANCE, RESUME, and REFRESH AFFINITY
LINKS (rules section 10, 5.5). What is drained gets no new session in this
process, whoever asks and by whatever fleet; who is there stays."""
from odbc_tap import (check, connect, refusal, same, spread, tap_run, until,
                      until_complete, value)

# who is refused is so at once; a fleet that is new has time to learn
STRICT = 'DSN=orders;AffinityMode=strict;AffinityKey=1500;PoolWait=60000'
HINT = 'DSN=orders;AffinityMode=hint;AffinityKey=1500;PoolWait=60000'
OTHER = STRICT + ';PoolMax=7'  # another fleet
LOGIN = ';UID=postgres'


def one(connection, sql):
    return connection.execute(sql).fetchone()


def pools(looker, instance):
    return [row for row in looker.execute('SHOW AFFINITY POOLS').fetchall()
            if row.instance == instance]


def links(looker, instance, state):
    return sum(int(getattr(row, state)) for row in pools(looker, instance))


def closed(looker, instance):
    return all(links(looker, instance, state) == 0
               for state in ('idle', 'reset', 'closing'))


def place(string):
    connection = connect(string)
    name = value(connection, 'SHOW cluster_name')
    connection.close()
    return name


def warm(string):
    """An idle link on n2."""
    same('on n2: ' + string, place(string), 'n2')


def drain():
    looker = connect('DSN=orders;AffinityKey=500')
    until_complete(looker)
    held = connect(STRICT)
    other = connect(OTHER)
    for string in (STRICT, STRICT + LOGIN, OTHER):
        warm(string)
    until('idle links in both logins',
          lambda: links(looker, 'n2', 'idle') >= 2)
    same('DRAIN says how it stands',
         tuple(one(looker, 'DRAIN AFFINITY INSTANCE N2')),
         ('n2', 'draining', '1'))
    until('idle links are closed, in every login',
          lambda: closed(looker, 'n2'))
    check('who is there stays', value(held, 'SELECT 7') == 7)

    state, text = refusal(STRICT)
    same('strict is refused', state, '08001')
    check('and says that it is draining', 'draining' in text, text)
    state, text = refusal(STRICT + LOGIN)
    check('another login as well', state == '08001' and 'draining' in text,
          text)
    state, text = refusal(OTHER)
    check('another fleet as well', state == '08001' and 'draining' in text,
          text)
    state, text = refusal(STRICT + ';CheckTimeout=4000')
    check('and one that is made now', state == '08001' and 'draining' in text,
          text)
    check('hint goes elsewhere', place(HINT) in ('n1', 'n3'))
    check('nor without a key', 'n2' not in spread('DSN=orders', 6))
    same('other keys are where they were',
         place(STRICT.replace('1500', '2500')), 'n3')
    rows = {row.instance: row.verdict for row in
            looker.execute("EXPLAIN AFFINITY KEY '1500'").fetchall()}
    same('EXPLAIN says so', rows['n2'], 'draining')
    rows = {row.instance: row.state for row in
            looker.execute('SHOW AFFINITY INSTANCES').fetchall()}
    same('and SHOW', rows, {'n1': 'up', 'n2': 'draining', 'n3': 'up'})
    check('and an event', any(row.instance == 'n2' and 'drained' in row.event
                              for row in
                              looker.execute('SHOW AFFINITY EVENTS')))

    held.close()
    until('a held link is closed when it comes back',
          lambda: closed(looker, 'n2') and links(looker, 'n2', 'held') == 0)
    same('RESUME', tuple(one(looker, 'RESUME AFFINITY INSTANCE n2')),
         ('n2', 'up', '0'))
    for string in (STRICT, STRICT + LOGIN, OTHER):
        warm(string)
    rows = {row.instance: row.state for row in
            looker.execute('SHOW AFFINITY INSTANCES').fetchall()}
    same('all is as before', rows, {'n1': 'up', 'n2': 'up', 'n3': 'up'})
    other.close()
    looker.close()


def drain_all():
    looker = connect('DSN=orders;AffinityKey=500')
    for name in ('n1', 'n2', 'n3'):
        looker.execute('DRAIN AFFINITY INSTANCE ' + name).fetchall()
    for string in ('DSN=orders', HINT):
        state, text = refusal(string)
        check('all are drained: ' + string,
              state == '08001' and 'draining' in text, state + text)
    for name in ('n1', 'n2', 'n3'):
        looker.execute('RESUME AFFINITY INSTANCE ' + name).fetchall()
    check('and resumed', place('DSN=orders') in ('n1', 'n2', 'n3'))
    looker.close()


def backend(string):
    connection = connect(string)
    pid = value(connection, 'SELECT pg_backend_pid()')
    connection.close()
    return pid


def lives(pid):
    """Is that backend of n2's there yet?"""
    direct = connect('DSN=n2;UID=postgres')
    count = value(direct, 'SELECT count(*) FROM pg_stat_activity '
                  'WHERE pid = %s' % pid)
    direct.close()
    return int(count) == 1


def settled(looker):
    return all(links(looker, 'n2', state) == 0
               for state in ('opening', 'reset', 'closing'))


# Where no link is idle a probe opens one, at any time: so it is told by its
# backend which link is there yet, and not by the number of links.
def refresh_links():
    looker = connect('DSN=orders;AffinityKey=500')
    until_complete(looker)
    held = connect(STRICT)
    kept = value(held, 'SELECT pg_backend_pid()')
    idle = backend(STRICT)
    until('an idle link', lambda: links(looker, 'n2', 'idle') > 0)
    check('its backend lives', lives(idle))
    row = one(looker, 'REFRESH AFFINITY LINKS')
    check('REFRESH AFFINITY LINKS: idle ones are closed',
          int(row.closed) >= 1 and int(row.held) >= 2, row)
    same('and who holds one keeps it',
         value(held, 'SELECT pg_backend_pid()'), kept)
    until('none of them is left', lambda: not lives(idle))
    held.close()
    until('a held one is closed when it comes back', lambda: not lives(kept))
    fresh = backend(STRICT)
    check('the next is new', fresh not in (kept, idle))
    until('clean', lambda: settled(looker))
    check('and is kept', lives(fresh))
    looker.close()


tap_run(drain, drain_all, refresh_links)
