# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""ini files of a test's own, in a folder of its own, for tests of inner drivers
that the sandbox does not know. use() comes before pyodbc is imported."""
import os


def use(folder):
    os.environ.update(ODBCSYSINI=folder, ODBCINI=folder + '/odbc.ini',
                      ODBCINSTINI='odbcinst.ini')


def _write(path, sections):
    with open(path, 'w') as file:
        for name, entries in sections.items():
            file.write('[%s]\n' % name)
            for keyword, value in entries.items():
                file.write('%s = %s\n' % (keyword, value))


def drivers(folder, libraries):
    """odbcinst.ini with our two drivers, as built, and the given ones."""
    built = os.environ['AFF_BUILDDIR'] + '/driver/.libs/'
    _write(folder + '/odbcinst.ini', {
        name: {'Driver': library, 'Threading': '0'}
        for name, library in dict(
            libraries, Affinity=built + 'libodbcaffinity.so',
            **{'Affinity ANSI': built + 'libodbcaffinitya.so'}).items()})


def sources(folder, dsns):
    _write(folder + '/odbc.ini', dsns)
