# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""A sandbox of a test's own, which ends with the test."""
import atexit
import os
import shutil
import subprocess
import tempfile

SANDBOX = os.environ['AFF_SRCDIR'] + '/setup/sandbox'
folder = tempfile.mkdtemp(prefix='affinity-sandbox-')


def sandbox(verb, *words):
    return subprocess.run([SANDBOX, verb, folder, *words], check=True,
                          text=True, stdout=subprocess.PIPE).stdout


def stop():
    subprocess.run([SANDBOX, 'stop', folder], stdout=subprocess.DEVNULL,
                   check=False)
    shutil.rmtree(folder, ignore_errors=True)


def start(*words):
    """words: what `setup/sandbox start` is told. Its data sources are the
    process's from then on."""
    atexit.register(stop)
    sandbox('start', *words)
    said = subprocess.run(['sh', '-c', sandbox('env') + 'env -0'], text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    os.environ.update(word.split('=', 1) for word in said.split('\0') if word)
