#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""The keeper follows ownership on the sandbox without being asked: a partition
that moves, a query whose answer changes, a login that may not use the table's
schema."""
import os
import subprocess

import pyodbc

from odbc_tap import (check, connect, refusal, same, tap_run, until,
                      until_complete, value)

STRICT = 'DSN=orders;AffinityMode=strict;CheckInterval=200;AffinityKey='


def sandbox(*words):
    subprocess.run([os.environ['AFF_SRCDIR'] + '/setup/sandbox', words[0],
                    os.environ['AFF_SANDBOX'], *words[1:]], check=True,
                   stdout=subprocess.DEVNULL)


def place(string):
    """Instance and owner of a session, as it says; None: it is refused for
    now, which strict may while a partition moves."""
    try:
        session = connect(string)
    except pyodbc.Error as e:
        assert e.args[0] in ('HYT00', 'HY000'), e
        return None
    row = session.execute('SHOW AFFINITY').fetchone()
    session.close()
    return row.instance, row.owner


def follow(stay, key, target):
    """Sessions at this key, until they are on the target; wrong ones."""
    wrong = []

    def arrived():
        found = place(STRICT + key)
        if found and found[1] in ('n1', 'n2', 'n3') and found[0] != found[1]:
            wrong.append(found)
        return found and found[0] == target

    until('key %s is served by %s' % (key, target), arrived)
    same('key %s is where its rows are' % key,
         value(stay, "SELECT count(*) FROM orders WHERE customer_id = %s"
               % key) > 0, True)
    return wrong


def moved():
    """orders_n2 goes to n3 and back, and nobody says REFRESH AFFINITY."""
    stay = connect(STRICT + '500')
    until_complete(stay)
    same('before: the key is on n2', place(STRICT + '1500'), ('n2', 'n2'))
    try:
        sandbox('move', 'orders_n2', 'n3')
        same('moved: nobody was off the owner it was said to have',
             follow(stay, '1500', 'n3'), [])
        same('a key of another group', place(STRICT + '500'), ('n1', 'n1'))
    finally:
        sandbox('move', 'orders_n2', 'n2')
    same('back: likewise', follow(stay, '1500', 'n2'), [])
    told = [(r.instance, r.event)
            for r in stay.execute('SHOW AFFINITY EVENTS').fetchall()]
    # who is asked because a session found the key moving is not asked anew
    check('the events tell that it was noticed without a session',
          any('not partitioned as it was' in e for _, e in told), told)
    stay.close()


def asked_again():
    """Whose a key is stands in a table of its own."""
    setup = [connect('DSN=%s' % n, uid='app') for n in ('n1', 'n2')]
    string = ('DSN=orders;Instances=n1,n2;AffinityTable=;CheckInterval=200;'
              'AffinityQuery=SELECT kind, low, high FROM mine;'
              'AffinityMode=strict;AffinityKey=7')
    try:
        for n, c in enumerate(setup):
            c.execute('CREATE TABLE mine (kind text, low text, high text)')
            c.execute("INSERT INTO mine VALUES ('list', '%d', NULL)"
                      % (7 + n))
        stay = connect(string)
        same('a query says that it is n1', place(string), ('n1', 'n1'))
        setup[0].execute("UPDATE mine SET low = '9'")
        setup[1].execute("UPDATE mine SET low = '7'")
        until('the query is asked again',
              lambda: place(string) == ('n2', 'n2'))
        check('a query that answers otherwise is followed', True)
        stay.close()
    finally:
        for c in setup:
            c.execute('DROP TABLE IF EXISTS mine')
            c.close()


def blind():
    """Who may not use the schema is routed all the same."""
    setup = [connect('DSN=%s' % n, uid='postgres') for n in ('n1', 'n2',
                                                             'n3')]
    try:
        for c in setup:
            c.execute('CREATE ROLE blind LOGIN')
            c.execute('REVOKE USAGE ON SCHEMA public FROM PUBLIC')
            c.execute('GRANT USAGE ON SCHEMA public TO app')
        string = ('DSN=orders;AffinityTable=public.orders;UID=blind;'
                  'AffinityMode=strict;AffinityKey=1500')
        same('it cannot read the table',
             refusal(string, 'SELECT count(*) FROM public.orders')[0], '42501')
        same('and is on its owner', place(string), ('n2', 'n2'))
    finally:
        for c in setup:
            c.execute('GRANT USAGE ON SCHEMA public TO PUBLIC')
        # its links end with their login, which nothing else holds
        for c in setup:
            c.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                      "WHERE usename = 'blind'").fetchall()
            c.execute('DROP ROLE blind')
            c.close()


tap_run(moved, asked_again, blind)
