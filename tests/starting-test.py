#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""An owner that is not ready yet (57P03), on a sandbox of its own: it recovers
as a standby that takes no sessions, until it is told to go on. Who can go
nowhere else waits for it, for PoolWait; all others go elsewhere."""
import os
import signal
import subprocess
import threading

from own_sandbox import SANDBOX, folder, sandbox, start

DATA = folder + '/n2/data/'
start('--instances', '2')
from odbc_tap import (check, connect, refusal, same, tap_run,  # noqa: E402
                      until, until_complete, where)

# borrower is another fleet; a link that was used just before the crash is not
# to be trusted
FLEETS = {create: 'DSN=orders;CheckTimeout=2000;PoolTrust=0;PoolCreate=%s;'
          % create for create in ('background', 'borrower')}
ON_N1 = 'AffinityKey=500;AffinityMode='
ON_N2 = 'AffinityKey=1500;AffinityMode='


def make(name):
    """For the server, which may be somebody else's process."""
    with open(DATA + name, 'w', encoding='ascii') as file:
        owner = os.stat(DATA)
        os.fchown(file.fileno(), owner.st_uid, owner.st_gid)


def let_go_on():
    make('promote')
    with open(DATA + 'postmaster.pid', encoding='ascii') as file:
        os.kill(int(file.readline()), signal.SIGUSR1)


def waiting(session):
    for row in session.execute('SHOW AFFINITY POOLS').fetchall():
        if row.instance == 'n2' and row.mine == 'yes':
            return int(row.waiting)
    return 0


class Waiter(threading.Thread):
    def __init__(self, string):
        super().__init__()
        self.string = string
        self.place = None
        self.start()

    def run(self):
        try:
            self.place = where(self.string)
        except Exception as e:  # pylint: disable=broad-except
            self.place = str(e)


def one_fleet(create, fleet):
    check('%s: hint goes elsewhere' % create,
          where(fleet + ON_N2 + 'hint') == 'n1')
    state, text = refusal(fleet + ON_N2 + 'strict;PoolWait=600')
    same('%s: strict waits for PoolWait' % create, state, 'HYT00')
    check('%s: and says for whom, and why' % create,
          'key 1500 (owner n2)' in text and 'not ready yet' in text and
          'the database system is' in text, text)
    state, text = refusal(fleet + ON_N2 + 'strict;PoolWait=0')
    same('%s: or not at all' % create, state, 'HYT00')


def starting():
    anchors = {}
    for create, fleet in FLEETS.items():
        anchors[create] = connect(fleet + ON_N1 + 'strict')
        until_complete(anchors[create])
        same('%s: before' % create, where(fleet + ON_N2 + 'strict'), 'n2')
    sandbox('crash', 'n2')
    make('standby.signal')
    with open(DATA + 'postgresql.auto.conf', 'a', encoding='ascii') as file:
        file.write('hot_standby = off\n')
    with subprocess.Popen([SANDBOX, 'revive', folder, 'n2'],
                          stdout=subprocess.DEVNULL) as revive:
        until('n2 is not ready yet',
              lambda: 'the database system is' in refusal('DSN=n2')[1])
        for create, fleet in FLEETS.items():
            one_fleet(create, fleet)
        waiters = {create: Waiter(fleet + ON_N2 + 'strict;PoolWait=60000')
                   for create, fleet in FLEETS.items()}
        for create, session in anchors.items():
            until('somebody waits', lambda s=session: waiting(s) > 0)
        let_go_on()
        for create, waiter in waiters.items():
            waiter.join()
            same('%s: it is ready, and who waited is there' % create,
                 waiter.place, 'n2')
    same('the sandbox has n2 back', revive.returncode, 0)
    for session in anchors.values():
        session.close()


tap_run(starting)
