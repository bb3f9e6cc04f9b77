# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""What the Python programs that test through the manager share: TAP, and
waiting for what SHOW AFFINITY says. A program ends with tap_run(), which
prints the plan also when it dies."""
import os
import re
import subprocess
import sys
import time
import traceback

import pyodbc

pyodbc.pooling = False

# What a Python program that loads the driver is started by (odbc_tsan.py).
PYTHON = ['/usr/bin/python3']
if 'AFF_PRELOAD' in os.environ:
    PYTHON = ['env', 'LD_PRELOAD=' + os.environ['AFF_PRELOAD']] + PYTHON

_count = _failed = 0


def check(name, good, details=''):
    global _count, _failed
    _count += 1
    print('%s %d - %s' % ('ok' if good else 'not ok', _count, name))
    if not good:
        _failed += 1
        for line in str(details).splitlines()[:40]:
            print('# ' + line)
    sys.stdout.flush()
    return good


def same(name, got, wanted):
    return check(name, got == wanted, 'got:    %r\nwanted: %r' % (got, wanted))


def connect(string, autocommit=True, **more):
    return pyodbc.connect(string, autocommit=autocommit, timeout=60, **more)


def value(connection, sql, *arguments):
    return connection.execute(sql, *arguments).fetchone()[0]


def where(string, sql='SHOW cluster_name'):
    """What the instance that a session is on says of itself."""
    connection = connect(string)
    try:
        return value(connection, sql)
    finally:
        connection.close()


def refusal(string, sql='SHOW cluster_name'):
    """SQLSTATE and text of a connect that must fail, or where it led."""
    try:
        return 'none', 'connected to ' + where(string, sql)
    except pyodbc.Error as e:
        return e.args[0], e.args[1]


def spread(string, count):
    """The instances of so many sessions at once."""
    sessions = [connect(string) for _ in range(count)]
    places = {s.execute('SHOW AFFINITY').fetchone().instance for s in sessions}
    for session in sessions:
        session.close()
    return places


def spreads(string, count, wanted):
    """Are so many sessions at once on all of these instances, and on no other?
    Whom each goes to is drawn, by how fast they answered of late: 20 draws."""
    return any(spread(string, count) == wanted for _ in range(20))


def until(what, condition, seconds=60):
    """Waits until condition() is true; what: the words for it. A condition
    that looks by SHOW AFFINITY is not while the machine keeps the session's
    own instance from answering, which is told as an error."""
    end = time.monotonic() + seconds
    while not is_now(condition):
        if time.monotonic() > end:
            raise AssertionError('not within %d s: %s' % (seconds, what))
        time.sleep(0.005)


def is_now(condition):
    try:
        return condition()
    except pyodbc.Error as e:
        if 'the instance of this session does not answer' in str(e):
            return False
        raise


def tap_of(command):
    """Runs a program that prints TAP, and takes its results for ours."""
    run = subprocess.run(command, text=True, capture_output=True, check=False)
    lines = run.stdout.splitlines()
    for i, line in enumerate(lines):
        found = re.match(r'(not )?ok \d+ - (.*)', line)
        if found:
            end = i + 1
            while end < len(lines) and lines[end].startswith('# '):
                end += 1
            check(found[2], not found[1], '\n'.join(lines[i + 1:end]))
    check('%s ends with a plan' % command[0].split('/')[-1],
          bool(lines) and lines[-1].startswith('1..'), run.stderr)


def until_complete(connection):
    until('the topology is complete',
          lambda: connection.execute('SHOW AFFINITY').fetchone().topology
          == 'complete')


def until_settled(connection):
    """Nothing is opened, reset or learnt in this session's login."""
    def settled():
        rows = connection.execute('SHOW AFFINITY POOLS').fetchall()
        return all(r.opening == r.reset == r.learning == r.closing == '0'
                   for r in rows if r.mine == 'yes')
    until('no link is being opened, reset, learnt from or closed', settled)


def tap_run(*parts):
    for part in parts:
        try:
            part()
        except Exception:
            check('%s runs to its end' % part.__name__, False,
                  traceback.format_exc())
    print('1..%d' % _count)
    sys.exit(_failed != 0)
