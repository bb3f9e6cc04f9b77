#!/usr/bin/python3
# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""The fifth way to read many rows: pyodbc's fetchall(), in turns.

usage: rows.py DIRECT OURS ROWS ROUNDS
"""
import sys
import time

import pyodbc


def measure(connection, sql):
    """Milliseconds of this thread, execute included."""
    cursor = connection.cursor()
    begin = time.thread_time_ns()
    rows = cursor.execute(sql).fetchall()
    took = (time.thread_time_ns() - begin) / 1e6
    cursor.close()
    return took, len(rows)


def main():
    pyodbc.pooling = False
    rows, rounds = int(sys.argv[3]), int(sys.argv[4])
    sql = ("SELECT g, g::bigint * 1000, 'row ' || g "
           f"FROM generate_series(1, {rows}) g")
    connections = {"direct": pyodbc.connect(sys.argv[1]),
                   "ours": pyodbc.connect(sys.argv[2])}
    for turn in range(rounds):
        for variant in sorted(connections, reverse=turn % 2 == 1):
            took, seen = measure(connections[variant], sql)
            if seen != rows:
                sys.exit(f"{variant}: {seen} rows instead of {rows}")
            print("rows: pyodbc fetchall, with execute", variant, "ms",
                  f"{took:.6g}", sep="\t", flush=True)


main()
