#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a test in an interpreter that ThreadSanitizer has been preloaded into,
but not into what the test starts: a shell or PostgreSQL crashes with it or
hangs.  Python programs that load the driver, too, are started by
odbc_tap.PYTHON.

usage: LD_PRELOAD=libtsan.so odbc_tsan.py TEST.py"""
import os
import runpy
import sys

os.environ['AFF_PRELOAD'] = os.environ.pop('LD_PRELOAD')
del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name='__main__')
