#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics on the sandbox: the file is what OpenMetrics parsers take, says what
SHOW AFFINITY says, is each process's own, and goes with it. Where they are
installed, promtool and prometheus-node-exporter have a look as well."""
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

import pyodbc
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from odbc_tap import (PYTHON, check, connect, refusal, same, tap_run,
                      until)

SECRET = 's3cret-of-mine'


def read(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except FileNotFoundError:
        return ''


def samples(path):
    """Every sample as (name, labels) -> value; the file as a whole is one that
    the strict parser takes."""
    return {(s.name, frozenset(s.labels.items())): s.value
            for family in openmetrics.text_string_to_metric_families(read(path))
            for s in family.samples}


def value(path, name, **labels):
    """The sum of a family's samples that have these labels; None: no sample."""
    found = [number for (of, has), number in samples(path).items()
             if of == 'odbc_affinity_' + name
             and set(labels.items()) <= set(has)]
    return sum(found) if found else None


CHILD = '''
import pyodbc, sys, time
pyodbc.pooling = False
c = pyodbc.connect(sys.argv[1], autocommit=True)
c.execute('SELECT 1')
print('connected', flush=True)
sys.stdin.readline()
c.close()
print('closed', flush=True)
sys.stdin.readline()
'''


class Child:
    """A process of its own that holds a session until it is told."""

    def __init__(self, string):
        self.process = subprocess.Popen(
            PYTHON + ['-c', CHILD, string], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.hear()

    def hear(self):
        return self.process.stdout.readline()

    def tell(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def parsed(folder):
    path = folder + '/m-%d.prom' % os.getpid()
    string = ('DSN=orders;AffinityMode=strict;AffinityKey=1500;PoolWait=60000;'
              'Metrics=' + folder + '/m-%p.prom')
    c = connect(string + ';PWD=%s' % SECRET)
    until('the file is there', lambda: os.path.exists(path))
    for _ in range(3):
        connect(string + ';PWD=%s' % SECRET).close()
    until('and has what has happened since', lambda: [value(
        path, name, instance='n2') for name in
        ('borrowed_total', 'returned_total')] == [4, 3])
    text = read(path)
    check('it ends as it must', text.endswith('# EOF\n'), text[-200:])
    families = list(openmetrics.text_string_to_metric_families(text))
    check('the strict parser takes it', len(families) > 30, len(families))
    check('each family has its help and a type',
          all(f.documentation and f.type in ('gauge', 'counter')
              for f in families), families)
    check('the parser of the text format takes it as well',
          len(list(parser.text_string_to_metric_families(text))) > 30)
    check('no secret is in it', SECRET not in text and 'PWD' not in text)

    def as_stats(name, column):
        stats = {r.instance: r for r in c.execute('SHOW AFFINITY STATS')
                 if r.instance}
        return value(path, name, instance='n2') == float(
            getattr(stats['n2'], column))
    for name, column in (('links_opened_total', 'opened'),
                         ('borrowed_total', 'borrowed'),
                         ('owner_hits_total', 'owner_hits')):
        # a probe may have opened one since it was written
        until('%s is as STATS has it' % name,
              lambda n=name, c=column: as_stats(n, c))
    same('it is told of every instance',
         {dict(labels)['instance'] for of, labels in samples(path)
          if of == 'odbc_affinity_instance_up'}, {'n1', 'n2', 'n3'})
    same('whether it is up', value(path, 'instance_up', instance='n2'), 1)
    same('one is held', value(path, 'links', instance='n2', state='held'), 1)
    same('the data source is in use', value(path, 'in_use', dsn='orders'), 1)
    until('no other file is left',
          lambda: os.listdir(folder) == [os.path.basename(path)])
    return c, string


def tools(folder):
    """What an operator would point at it."""
    path = glob.glob(folder + '/*.prom')[0]
    if shutil.which('promtool'):
        run = subprocess.run(['promtool', 'check', 'metrics'], text=True,
                             input=read(path), capture_output=True,
                             check=False)
        check('promtool takes it', run.returncode in (0, 3) and
              'error while linting: text format parsing' not in run.stderr,
              run.stderr)
    else:
        check('promtool takes it # SKIP it is not installed', True)
    exporter = shutil.which('prometheus-node-exporter')
    if not exporter:
        check('node_exporter takes it # SKIP it is not installed', True)
        return
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        at = '127.0.0.1:%d' % s.getsockname()[1]
    process = subprocess.Popen(
        [exporter, '--collector.disable-defaults', '--collector.textfile',
         '--collector.textfile.directory=' + folder,
         '--web.listen-address=' + at], stderr=subprocess.DEVNULL)
    try:
        page = []

        def answers():
            try:
                page[:] = [urllib.request.urlopen(
                    'http://%s/metrics' % at).read().decode()]
            except OSError:
                return False
            return True
        until('the exporter answers', answers)
        check('node_exporter takes it',
              'node_textfile_scrape_error 0' in page[0] and
              'odbc_affinity_borrowed_total{' in page[0],
              [x for x in page[0].splitlines() if 'textfile' in x])
    finally:
        process.terminate()
        process.wait()


def own_files(folder, string):
    mine = folder + '/m-%d.prom' % os.getpid()
    child = Child(string)
    theirs = folder + '/m-%d.prom' % child.process.pid
    until('another process has its own file',
          lambda: os.path.exists(theirs))
    until('with its own figures', lambda: value(theirs, 'borrowed_total',
                                                instance='n2') == 1)
    child.end()
    check('which goes with it', not os.path.exists(theirs))
    check('and mine stays', os.path.exists(mine))

    pid = os.fork()
    if pid == 0:
        sys.stdout = open(os.devnull, 'w')
        ctypes_exit()
    os.waitpid(pid, 0)
    check('a forked child that ends leaves its parent\'s',
          os.path.exists(mine))

    child = Child(string)
    theirs = folder + '/m-%d.prom' % child.process.pid
    until('there is one more', lambda: os.path.exists(theirs))
    child.process.send_signal(signal.SIGKILL)
    child.process.wait()
    check('one that is killed leaves it', os.path.exists(theirs))
    os.unlink(theirs)


def ctypes_exit():
    """exit(3), with the handlers that the process has from its parent."""
    import ctypes
    ctypes.CDLL(None).exit(0)


def shared(folder):
    """Two fleets, one file."""
    path = folder + '/both.prom'
    one = connect('DSN=orders;AffinityKey=1500;Metrics=' + path)
    two = connect('DSN=orders;AffinityKey=1500;PoolMax=7;Metrics=' + path)
    until('two fleets with one file are both in it',
          lambda: len({dict(labels)['fleet'] for of, labels in samples(path)
                       if of == 'odbc_affinity_in_use'}) == 2)
    rooms = sorted(number for (of, has), number in samples(path).items()
                   if of == 'odbc_affinity_links_room' and
                   ('instance', 'n3') in has)
    check('each with its own figures', len(rooms) == 2 and rooms[0] <= 7 and
          rooms[1] > 7, rooms)
    two.close()
    one.close()


def troubled(folder):
    """The folder goes away and comes back."""
    inner = folder + '/inner'
    os.mkdir(inner)
    path = inner + '/m-%d.prom' % os.getpid()
    c = connect('DSN=orders;AffinityKey=1500;PoolMax=9;Metrics=' + inner +
                '/m-%p.prom')
    until('the file is there', lambda: os.path.exists(path))
    written = value(path, 'written_timestamp_seconds')
    until('it is written again', lambda:
          value(path, 'written_timestamp_seconds') > written)

    def events():
        return [r.event for r in c.execute('SHOW AFFINITY EVENTS')
                if 'metrics' in r.event]
    same('nothing is said of what works', events(), [])
    os.rename(inner, folder + '/away')
    until('an event tells that it cannot be written', events)
    check('which file and why', path in events()[0] and
          'No such file' in events()[0], events())
    os.unlink(folder + '/away/' + os.path.basename(path))
    os.rename(folder + '/away', inner)
    until('it is written again when it can be',
          lambda: os.path.exists(path))
    same('and it was said once', len(events()), 1)
    c.close()


def impossible(folder):
    for name, says in (('m.prom', 'absolute path'),
                       (folder + '/no/m.prom', 'No such file'),
                       (folder, 'Is a directory')):
        state, text = refusal('DSN=orders;Metrics=' + name)
        check('Metrics=%s is refused with the reason' % name,
              state == 'HY024' and 'Metrics=' + name in text and
              says in text, (state, text))
    same('nothing was made', os.listdir(folder), [])


def main():
    with tempfile.TemporaryDirectory() as folder, \
            tempfile.TemporaryDirectory() as other:
        idler = Child('DSN=orders;AffinityKey=1500;Metrics=%s/idle.prom' %
                      other)
        idler.tell()
        idler.hear()
        impossible(folder)
        session, string = parsed(folder)
        tools(folder)
        own_files(folder, string)
        session.close()
        shared(other)
        troubled(other)
        until('of a data source that is used no longer it says so',
              lambda: value(other + '/idle.prom', 'in_use') == 0)
        check('with what it was like then',
              value(other + '/idle.prom', 'links', state='idle') >= 1)
        idler.end()
        check('and its file goes with its process',
              not os.path.exists(other + '/idle.prom'))


assert pyodbc.pooling is False
tap_run(main)
