#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""What a user has PostgreSQL told at the start of a connection, by the
environment, pqopt or ConnSettings: over us the first session finds it as over
psqlODBC itself, and so does one that has a used connection."""
import ctypes
import os
import subprocess
import sys

import odbc_tap
from odbc_tap import check, same, tap_run, value

LOOK = ("SELECT concat_ws(' ', current_setting('client_encoding'), "
        "current_setting('DateStyle'), current_setting('extra_float_digits'), "
        "current_setting('application_name'), current_setting('work_mem'))")

# environment, connection string
ROWS = (
    ({}, ''),
    ({'PGDATESTYLE': 'German'}, ''),
    ({'PGDATESTYLE': 'German'}, 'ConnSettings={set work_mem=\'5MB\'}'),
    ({'PGDATESTYLE': 'German'}, 'ConnSettings={set datestyle=\'SQL, DMY\'}'),
    ({'PGOPTIONS': '-c DateStyle=SQL,DMY -c work_mem=7MB'}, ''),
    ({'PGOPTIONS': '-c extra_float_digits=0'}, ''),
    ({}, 'pqopt={options=\'-c DateStyle=German -c extra_float_digits=0\'}'),
    ({}, 'pqopt={client_encoding=LATIN1}'),
    ({}, 'pqopt={connect_timeout=30 application_name=me}'),
    ({}, 'D5={application_name=me}'),
    ({'PGCLIENTENCODING': 'LATIN1'}, ''),
    ({}, 'ConnSettings={set client_encoding to \'LATIN1\'}'),
    ({}, 'ConnSettings={set names \'LATIN1\'}'),
)


def look(string, narrow):
    """What each of two sessions finds, and whether its dates are right."""
    for _ in range(2):
        # without a time-out, beside which psqlODBC allows none in pqopt
        session = odbc_tap.pyodbc.connect(string, autocommit=True)
        if narrow:
            session.setdecoding(odbc_tap.pyodbc.SQL_CHAR, 'latin-1')
        print(value(session, 'SELECT pg_backend_pid()'),
              value(session, LOOK),
              value(session, "SELECT octet_length('ä€')"),
              value(session, "SELECT date '2020-02-13' + 0"))
        session.close()


def seen(environment, string):
    """The two sessions of a process of its own: their backends, the rest."""
    run = subprocess.run(odbc_tap.PYTHON + [__file__, string],
                         env=dict(os.environ, **environment), text=True,
                         capture_output=True, timeout=120, check=False)
    lines = [line.split(' ', 1) for line in run.stdout.splitlines()]
    return [line[0] for line in lines], ([line[1] for line in lines]
                                         or run.stderr)


def compare(name, direct, ours):
    for environment, string in ROWS:
        what = '%s: %s' % (name, ' '.join(
            ['%s=%s' % pair for pair in environment.items()] + [string]))
        _, wanted = seen(environment, '%s;%s' % (direct, string))
        backends, got = seen(environment, '%s;%s' % (ours, string))
        check(what + ': the connection is used again',
              len(backends) == 2 and len(set(backends)) == 1, got)
        same(what, got, wanted)


def wide():
    compare('wide', 'DSN=n1', 'DRIVER={Affinity};Instances=n1;PoolMax=1')


def narrow():
    compare('narrow', 'DSN=n1-ansi',
            'DRIVER={Affinity ANSI};Instances=n1-ansi;PoolMax=1')


def return_codes():
    """psqlODBC refuses our setting of the encoding when it is told to read
    only; nobody has asked for that setting."""
    odbc = ctypes.CDLL('libodbc.so.2')
    env, dbc = ctypes.c_void_p(), ctypes.c_void_p()
    odbc.SQLAllocHandle(1, None, ctypes.byref(env))
    odbc.SQLSetEnvAttr(env, 200, ctypes.c_void_p(3), 0)
    odbc.SQLAllocHandle(2, env, ctypes.byref(dbc))
    for dsn in 'DSN=n1', 'DRIVER={Affinity};Instances=n1':
        same('%s: ReadOnly=1 is SQL_SUCCESS' % dsn, odbc.SQLDriverConnect(
            dbc, None, (dsn + ';ReadOnly=1').encode(), -3, None, 0, None, 0),
             0)
        odbc.SQLDisconnect(dbc)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        look(sys.argv[1], 'ansi' in sys.argv[1])
    else:
        tap_run(wide, narrow, return_codes)
