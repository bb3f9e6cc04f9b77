#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Exit while links are being opened, to an instance that hangs and to one that
is slow, by SCRAM and by TLS, at any moment and in any way: from the main
thread, from another one, by _exit(), by returning. No process crashes, none
stays. AFF_EXITS=N has so many of each kind (13, which makes some 200)."""
import asyncio
import configparser
import ctypes
import os
import random
import shutil
import signal
import struct
import subprocess
import threading
import time

import pyodbc

from odbc_tap import check, connect, same, tap_run, until

# ten times as slow with a sanitizer
EXITS = int(os.environ.get('AFF_EXITS',
                           '3' if 'TSAN_OPTIONS' in os.environ else '13'))
OPENINGS = 6        # at once
PATIENCE = 60       # seconds; who has not ended then hangs
SSL_REQUEST = struct.pack('!ii', 8, 80877103)


# ---- instances that hang and that are slow ---------------------------------

async def hang(reader, writer):
    """Agrees to TLS, where it is asked for, and says no more."""
    if await reader.read(8) == SSL_REQUEST:
        writer.write(b'S')
    await asyncio.sleep(1000)


async def pass_on(reader, writer):
    try:
        while data := await reader.read(65536):
            await asyncio.sleep(random.random() * 0.04)
            writer.write(data)
    except ConnectionError:
        pass  # the process is gone
    writer.close()


def be_slow(port):
    async def slow(reader, writer):
        there, back = await asyncio.open_connection('127.0.0.1', port)
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))
    return slow


def serve(port, say):
    """In a process of its own: prints the two ports."""
    async def run():
        servers = [await asyncio.start_server(how, '127.0.0.1', 0)
                   for how in (hang, be_slow(port))]
        os.write(say, ' '.join(str(s.sockets[0].getsockname()[1])
                               for s in servers).encode())
        await asyncio.sleep(1000)
    try:
        asyncio.run(run())
    finally:
        os._exit(0)


def start_servers(port):
    ends = os.pipe()
    pid = os.fork()
    if pid == 0:
        serve(port, ends[1])
    return pid, os.read(ends[0], 100).decode().split()


# ---- TLS at n2 -------------------------------------------------------------

def set_tls(words):
    c = connect('DSN=n2;UID=postgres', autocommit=True)
    for word in words:
        c.execute(word)
    c.execute('SELECT pg_reload_conf()')
    data = c.execute('SHOW data_directory').fetchval()
    c.close()
    return data


def speaks_tls():
    c = connect('DSN=n2')
    on = c.execute('SHOW ssl').fetchval()
    c.close()
    return on


def begin_tls():
    """False: there is no openssl, or the server's files are another's."""
    data = set_tls([])
    about = os.stat(data)
    if not shutil.which('openssl') or os.getuid() not in (0, about.st_uid):
        return False
    key, crt = data + '/server.key', data + '/server.crt'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes',
                    '-subj', '/CN=n2', '-keyout', key, '-out', crt],
                   check=True, stderr=subprocess.DEVNULL)
    os.chmod(key, 0o600)
    for name in key, crt:
        os.chown(name, about.st_uid, about.st_gid)
    set_tls(['ALTER SYSTEM SET ssl = on'])
    until('n2 speaks TLS', lambda: speaks_tls() == 'on')
    return True


def end_tls():
    data = set_tls(['ALTER SYSTEM RESET ssl'])
    until('n2 speaks TLS no more', lambda: speaks_tls() == 'off')
    os.remove(data + '/server.key')
    os.remove(data + '/server.crt')


# ---- processes that end ----------------------------------------------------

def end_by(way):
    libc = ctypes.CDLL(None)
    if way == '_exit':
        libc._exit(0)
    elif way == 'exit':
        libc.exit(0)
    elif way == 'thread':
        threading.Thread(target=libc.exit, args=(0,)).start()
        time.sleep(PATIENCE)


def connect_quietly(string):
    try:
        pyodbc.connect(string)
    except pyodbc.Error:
        pass


def act(good, string, way):
    kept = pyodbc.connect(good)  # so that OpenSSL is at work before
    for _ in range(OPENINGS):
        threading.Thread(target=connect_quietly, args=(string,),
                         daemon=True).start()
    time.sleep(random.random() * 0.4)
    end_by(way)
    return kept


def start(good, string, way):
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            signal.alarm(PATIENCE)
            act(good, string, way)
            status = 0
        finally:
            if status or way != 'return':
                os._exit(status)
        # by way of all handlers, as main() does that returns
        ctypes.CDLL(None).exit(0)
    return pid


def try_exits(name, good, string):
    wrong = []
    slowest = 0
    for way in 'exit', 'thread', '_exit', 'return':
        for _ in range(EXITS):
            begin = time.monotonic()
            status = os.waitpid(start(good, string, way), 0)[1]
            slowest = max(slowest, time.monotonic() - begin)
            if status:
                wrong.append((way, status))
    same('%s: %d exits end well' % (name, 4 * EXITS), wrong, [])
    print('# the slowest took %.2f s, connecting included' % slowest)


def main():
    assert pyodbc.pooling is False
    ini = configparser.ConfigParser(interpolation=None, strict=False)
    ini.read(os.environ['ODBCSYSINI'] + '/odbc.ini')
    n2 = ini['n2-tcp']
    pid, (hung, slow) = start_servers(int(n2['Port']))
    login = ('DRIVER=Affinity;InnerDriver=PostgreSQL Unicode;Database=%s;'
             'UID=%s;PWD=%s;CheckInterval=0;SSLmode=%%s;Instances=%%s'
             % (n2['Database'], n2['Username'], n2['Password']))
    here = '127.0.0.1:' + n2['Port']
    tls = begin_tls()
    try:
        for mode in ['disable'] + ['require'] * tls:
            good = login % (mode, here)
            for name, port in ('hangs', hung), ('is slow', slow):
                try_exits('sslmode=%s, an instance that %s' % (mode, name),
                          good, login % (mode, '127.0.0.1:' + port))
    finally:
        if tls:
            end_tls()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    check('TLS was tried', tls, 'no openssl, or not the owner of the files')


tap_run(main)
