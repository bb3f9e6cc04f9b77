#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""The map file is read again while its fleet is in use: who owns what, who is
enabled, weights and limits; a mistaken one changes nothing and is reported."""
import os
import tempfile

from odbc_tap import (check, connect, refusal, same, spread, tap_run, until,
                      value)

FOLDER = tempfile.TemporaryDirectory()
PATH = os.path.join(FOLDER.name, 'affinity.map')
FLEET = ('DRIVER=Affinity;Instances={n1, n2, n3};AffinityMode=strict;'
         'PoolWait=500;CheckTimeout=4000;AffinityMap={%s}' % PATH)
FIRST = """[n1]
range = ..1000
[n2]
range = 1000..2000
[n3]
default = yes
"""


def write(text, how=os.replace):
    """In one piece, as one should; or, with how=None, as editors do, but never
    half of it."""
    if how:
        with open(PATH + '.new', 'w', encoding='utf-8') as out:
            out.write(text)
        how(PATH + '.new', PATH)
    else:
        with open(PATH, 'r+b', buffering=0) as out:
            out.write(text.encode().ljust(os.path.getsize(PATH), b'\n'))


def owner(key):
    connection = connect(FLEET + ';AffinityKey=%s' % key)
    name = value(connection, 'SHOW cluster_name')
    connection.close()
    return name


def pool(looker, instance, column):
    return [int(getattr(row, column))
            for row in looker.execute('SHOW AFFINITY POOLS').fetchall()
            if row.instance == instance and row.mine == 'yes'][0]


def events(looker):
    return [row.event for row in looker.execute('SHOW AFFINITY EVENTS')]


def state(looker, instance):
    rows = looker.execute("EXPLAIN AFFINITY KEY '1500'").fetchall()
    return {row.instance: row.verdict for row in rows}[instance]


def by_itself():
    write(FIRST)
    looker = connect(FLEET + ';AffinityKey=300')  # on n1 all the while
    same('at first', [owner(key) for key in (500, 1500, 2500)],
         ['n1', 'n2', 'n3'])
    write(FIRST.replace('..1000', '..400').replace('1000..2000', '400..2000'))
    until('it is noticed', lambda: owner(500) == 'n2')
    same('ranges have moved', [owner(key) for key in (300, 500, 2500)],
         ['n1', 'n2', 'n3'])
    until('an event says so', lambda: any(
        'has been read again' in text for text in events(looker)))

    held = connect(FLEET + ';AffinityKey=1500')
    connect(FLEET + ';AffinityKey=1500').close()
    write(FIRST.replace('[n2]', '[n2]\nenabled = no'))
    until('disabled', lambda: refusal(FLEET + ';AffinityKey=1500')[0]
          == '08001')
    same('EXPLAIN says why', state(looker, 'n2'), 'disabled by the map file')
    until('its idle links are closed',
          lambda: pool(looker, 'n2', 'idle') == 0)
    check('who is there stays', value(held, 'SELECT 7') == 7)
    held.close()
    until('and the last when it comes back', lambda: all(
        pool(looker, 'n2', column) == 0
        for column in ('idle', 'held', 'reset', 'closing')))
    write(FIRST.replace('[n2]', '[n2]\nreadonly = yes'))
    until('enabled again, for reading', lambda: state(looker, 'n2')
          == 'read-only by the map file')
    write(FIRST)
    until('and for all', lambda: refusal(FLEET + ';AffinityKey=1500')[0]
          == 'none')

    write('[n1]\n[n2]\nweight = disabled\n[n3]\nweight = 0\n')
    until('weights count', lambda: set(spread(FLEET, 6)) == {'n1'})
    write(FIRST.replace('[n2]', '[n2]\npoolmax = 1'))
    until('limits', lambda: pool(looker, 'n2', 'room')
          + pool(looker, 'n2', 'idle') + pool(looker, 'n2', 'held') == 1)
    first = connect(FLEET + ';AffinityKey=1500')
    check('are kept', 'full' in state(looker, 'n2'), state(looker, 'n2'))
    write(FIRST)
    until('and lifted', lambda: pool(looker, 'n2', 'room') > 1)
    first.close()
    looker.close()


def mistaken():
    write(FIRST)
    looker = connect(FLEET + ';AffinityKey=300')  # on n1 all the while
    same('before', owner(1500), 'n2')
    write(FIRST.replace('range = 1000..2000', 'range = 1000'), None)
    until('a mistake is an event', lambda: any(
        PATH in text and '[n2] range' in text for text in events(looker)))
    same('and what was said before stays', owner(1500), 'n2')
    try:
        looker.execute('REFRESH AFFINITY CONFIG')
        text = 'nothing'
    except Exception as error:  # pyodbc.Error
        text = str(error)
    check('REFRESH AFFINITY CONFIG says it as well',
          PATH in text and 'line 4' in text and '[n2] range' in text, text)
    count = sum('cannot be used' in text for text in events(looker))
    os.unlink(PATH)
    until('a file that is gone is one', lambda: sum(
        'cannot be used' in text for text in events(looker)) > count)
    same('and changes nothing either', owner(1500), 'n2')

    write(FIRST.replace('2000', '1400'))
    row = looker.execute('REFRESH AFFINITY CONFIG').fetchone()
    same('REFRESH AFFINITY CONFIG reads it', tuple(row), (PATH, 'yes'))
    same('at once', owner(1500), 'n3')
    write('[n1]\nrange = ..0\n[n2]\n[n3]\nrange = 0..\n')
    looker.execute('REFRESH AFFINITY CONFIG').fetchall()
    same('everything may change', [owner(-5), owner(5)], ['n1', 'n3'])
    write('[n1]\nweight = 1\n')
    looker.execute('REFRESH AFFINITY CONFIG').fetchall()
    same('even what says who owns keys',
         looker.execute('SHOW AFFINITY').fetchone().source, 'hash')
    write(FIRST)
    looker.execute('REFRESH AFFINITY CONFIG').fetchall()
    same('and back', [owner(key) for key in (500, 1500, 2500)],
         ['n1', 'n2', 'n3'])
    looker.close()


def without():
    looker = connect('DSN=orders')
    row = looker.execute('REFRESH AFFINITY CONFIG').fetchone()
    same('without a map file there is nothing to do', tuple(row),
         (None, 'no'))
    looker.close()


tap_run(by_itself, mistaken, without)
