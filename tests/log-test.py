#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Log, LogLevel and SHOW AFFINITY EVENTS on the sandbox: what happens to an
instance is told once, in both, with its reason, and no secret is."""
import os
import re
import subprocess
import tempfile

import pyodbc

from odbc_tap import (PYTHON, check, connect, refusal, same, tap_run,
                      until)

LINE = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z odbc-affinity'
                  r'\[%d\] (error|warning|info|debug) .+' % os.getpid())


def sandbox(verb, instance):
    subprocess.run([os.environ['AFF_SRCDIR'] + '/setup/sandbox', verb,
                    os.environ['AFF_SANDBOX'], instance], check=True,
                   stdout=subprocess.DEVNULL)


def read(path):
    with open(path, encoding='utf-8') as log:
        return log.read().splitlines()


def events(connection):
    return [(r.level, r.instance, r.event)
            for r in connection.execute('SHOW AFFINITY EVENTS').fetchall()]


def told(folder):
    """n2 crashes and comes back, as the log tells it."""
    path = folder + '/log'
    string = ('DSN=orders;Log=%s;LogLevel=info;ConnectTimeout=2000;'
              'PWD=s3cret-of-mine' % path)
    stay = connect(string + ';AffinityKey=500')
    n2 = string + ';AffinityMode=strict;AffinityKey=1500'
    connect(n2).close()
    sandbox('crash', 'n2')
    try:
        until('n2 is down', lambda: refusal(n2)[0] == '08001')
        until('the log says so',
              lambda: any(' error n2: is down: ' in x for x in read(path)))
    finally:
        sandbox('revive', 'n2')
    until('n2 serves again', lambda: refusal(n2)[0] == 'none')
    until('the log says so',
          lambda: any('n2: is up again' in x for x in read(path)))

    lines = read(path)
    check('every line has time, process and level',
          all(LINE.fullmatch(x) for x in lines), '\n'.join(lines))
    same('n2 went down once',
         len([x for x in lines if 'n2: is down' in x]), 1)
    check('with its reason',
          any(re.search('n2: is down: .*(refused|terminat|closed)', x)
              for x in lines), '\n'.join(lines))
    check('each instance that was opened says what it is',
          any(re.search(r' info n1: is primary, timeline \d+ of \d+$', x)
              for x in lines), '\n'.join(lines))
    check('no secret is in it', 's3cret' not in '\n'.join(lines))

    shown = events(stay)
    check('SHOW AFFINITY EVENTS has the latest first',
          shown[0][1:] in [('n2', x.split('n2: ')[1]) for x in lines
                           if 'n2: ' in x], shown)
    check('and all of the log',
          all(any(x.endswith(event) for _, _, event in shown) for x in lines),
          '%r\n%r' % (shown, lines))
    stay.close()


def refused(folder):
    """A login that is refused is told of once, however often it tries."""
    path = folder + '/refused'
    # strict, or on a slow machine others would be asked, and refuse it as well
    string = ('DSN=orders-tcp;AffinityMode=strict;AffinityKey=1500;'
              'PoolWait=60000;LogLevel=warning;Log=' + path)
    connect(string).close()  # the fleet is known
    for _ in range(3):
        same('a wrong password is refused',
             refusal(string + ';PWD=wr0ng')[0], '28000')
    until('the log says so', lambda: read(path))
    lines = read(path)
    same('once', len(lines), 1)
    check('with the reason',
          re.search(r' warning n2-tcp: refuses a login: .*password', lines[0]),
          lines)
    check('without the password', 'wr0ng' not in lines[0], lines)


def levels(folder):
    path = folder + '/errors'
    connect('DSN=orders;AffinityKey=500;Log=' + path).close()
    same('by default nothing is logged but errors', read(path), [])


def last_words(folder):
    """A process that ends at once has written what there was to write."""
    path = folder + '/short'
    subprocess.run(PYTHON + ['-c', 'import pyodbc; pyodbc.connect('
                             '"DSN=orders;LogLevel=info;Log=%s").close()'
                             % path], check=True)
    check('a short process', any('is primary' in x for x in read(path)),
          read(path))


UNREAD = """
import fcntl, os, time, pyodbc
flags = fcntl.fcntl(2, fcntl.F_GETFL)
fcntl.fcntl(2, fcntl.F_SETFL, flags | os.O_NONBLOCK)
for size in 65536, 1:
    try:
        while True:
            os.write(2, b'x' * size)
    except BlockingIOError:
        pass
fcntl.fcntl(2, fcntl.F_SETFL, flags)
c = pyodbc.connect('DSN=orders;AffinityKey=500;Log=stderr;LogLevel=info')
end = time.monotonic() + 60
while time.monotonic() < end:
    seen = [r.probed_ms for r in c.execute('SHOW AFFINITY INSTANCES').fetchall()]
    if None not in seen:
        break
    time.sleep(0.05)
print(seen)
"""


def nobody_reads():
    """stderr is a pipe that is full: nothing but the log waits for it."""
    child = subprocess.Popen(PYTHON + ['-c', UNREAD],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen = child.stdout.readline().decode()
    check('the instances are probed though nobody reads the log',
          seen.strip() and 'None' not in seen, seen)
    try:
        child.wait(60)
    except subprocess.TimeoutExpired:
        child.kill()
    same('and the process ends', child.wait(), 0)
    child.stdout.close()
    child.stderr.close()


def impossible(folder):
    state, text = refusal('DSN=orders;Log=affinity.log')
    check('a relative path is refused by name',
          state == 'HY024' and 'Log=affinity.log' in text, (state, text))
    state, text = refusal('DSN=orders;Log=%s/no/log' % folder)
    check('a file that cannot be made is refused with the reason',
          state == 'HY024' and 'No such file' in text, (state, text))
    state, text = refusal('DSN=orders;LogLevel=chatty')
    check('an unknown level is refused',
          state == 'HY024' and 'LogLevel=chatty' in text, (state, text))
    same('nothing was made', os.listdir(folder), [])


def main():
    assert pyodbc.pooling is False
    with tempfile.TemporaryDirectory() as folder:
        impossible(folder)
        told(folder)
        refused(folder)
        levels(folder)
        last_words(folder)
        nobody_reads()


tap_run(main)
