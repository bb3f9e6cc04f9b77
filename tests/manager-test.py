#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""pyodbc with its pooling on, which is the manager's, and with the manager's
switched on by ini files too: each user has the connection as it asked for it,
and finds nothing of the one before. psqlODBC alone shows that it is at work."""
import os
import shutil
import tempfile

import pyodbc

from odbc_tap import check, same, tap_run, value

ONE = 'DSN=orders;Instances=n1;PoolMax=1;ManagerPooling='
MESS = ("SET work_mem = '77MB'", 'CREATE TEMP TABLE IF NOT EXISTS kept (i int)',
        'SELECT pg_advisory_lock(pg_backend_pid())')
LOOK = ("SELECT current_setting('work_mem'), to_regclass('pg_temp.kept'), "
        "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND "
        "pid = pg_backend_pid())")
CLEAN = ('4MB', None, 0)


def users(string, count=6):
    """What each of several users in a row finds, and on which backend."""
    found, backends = [], []
    for i in range(count):
        autocommit = i % 2 == 0
        connection = pyodbc.connect(string, autocommit=autocommit, timeout=60)
        found.append(tuple(connection.execute(LOOK).fetchone()))
        backends.append(value(connection, 'SELECT pg_backend_pid()'))
        if connection.autocommit != autocommit:
            found.append('autocommit is %s' % connection.autocommit)
        for sql in MESS:
            connection.execute(sql)
        if not autocommit:
            connection.commit()
        connection.close()
    return found, backends


def psqlodbc():
    found, backends = users('DSN=n1')
    check('psqlODBC alone, pooled by the manager, leaks',
          found[0] == CLEAN and found[1][0] == '77MB'
          and len(set(backends)) == 1, found)


def ours():
    for mode in 'refuse', 'allow':
        found, backends = users(ONE + mode)
        same('%s: nobody finds anything' % mode, found, [CLEAN] * 6)
        same('%s: all on one backend' % mode, len(set(backends)), 1)


def keys():
    for mode in 'refuse', 'allow':
        where = []
        for _ in range(2):
            for key in '5', '1500', '2500':
                connection = pyodbc.connect(
                    'DSN=orders-strict;AffinityKey=%s;ManagerPooling=%s'
                    % (key, mode), autocommit=True)
                where.append(value(connection, 'SHOW cluster_name'))
                connection.close()
        same('%s: each key on its owner, twice' % mode, where,
             ['n1', 'n2', 'n3'] * 2)


def main():
    folder = tempfile.mkdtemp()
    try:
        shutil.copy(os.environ['ODBCINI'], folder + '/odbc.ini')
        with open(os.environ['ODBCSYSINI'] + '/odbcinst.ini') as source, \
                open(folder + '/odbcinst.ini', 'w') as out:
            for line in source:
                out.write(line)
                if line.startswith('['):
                    out.write('CPTimeout = 600\n')
            out.write('\n[ODBC]\nPooling = Yes\n')
        os.environ['ODBCINI'] = folder + '/odbc.ini'
        os.environ['ODBCSYSINI'] = folder
        pyodbc.pooling = True
        tap_run(psqlodbc, ours, keys)
    finally:
        shutil.rmtree(folder)


main()
