# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
"""An ordinary program over pyodbc; it knows nothing of odbc-affinity.
usage: client.py CONNECTION-STRING CUSTOMER"""
import datetime
import sys
from decimal import Decimal

import pyodbc

pyodbc.pooling = False


def show(what, rows):
    print(what)
    for row in rows:
        print('   ', tuple(row))


def fails(what, call, *arguments):
    try:
        call(*arguments)
        print(what, 'does not fail')
    except pyodbc.Error as e:
        print(what, type(e).__name__, e.args)


string, customer = sys.argv[1], int(sys.argv[2])
c = pyodbc.connect(string)
print(c.execute('SHOW cluster_name').fetchval())
print(c.getinfo(pyodbc.SQL_DRIVER_NAME), c.getinfo(pyodbc.SQL_DBMS_NAME),
      c.getinfo(pyodbc.SQL_DBMS_VER), c.getinfo(pyodbc.SQL_DATABASE_NAME),
      c.getinfo(pyodbc.SQL_USER_NAME), c.getinfo(pyodbc.SQL_TXN_CAPABLE))

cursor = c.cursor()
show('tables', cursor.tables(schema='public', table='pl%'))
show('columns', cursor.columns(schema='public', table='orders'))
show('keys', cursor.primaryKeys(schema='public', table='devices_h00'))
show('types', [row[:3] for row in cursor.getTypeInfo()])

cursor.execute('DELETE FROM plain')
cursor.executemany('INSERT INTO plain VALUES (?, ?)',
                   [(1, 'one'), (2, 'zwölf € \U0001f600'), (3, None)])
print('inserted', cursor.rowcount)
c.commit()
cursor.execute('UPDATE plain SET t = ? WHERE id = ?', 'uno', 1)
print('updated', cursor.rowcount)
show('in the transaction', cursor.execute('SELECT * FROM plain ORDER BY id'))
print(cursor.description)
c.rollback()
show('rolled back', cursor.execute('SELECT id, t, length(t) FROM plain '
                                   'WHERE id > ? ORDER BY id', 0))
cursor.execute('DELETE FROM plain')
print('deleted', cursor.rowcount)
c.rollback()
fails('a table that is not there', cursor.execute, 'SELECT * FROM nowhere')
fails('after an error', cursor.execute, 'SELECT 1')
c.rollback()
fails('a division', cursor.execute, 'SELECT 1 / ?', 0)
c.rollback()
fails('too few parameters', cursor.execute, 'SELECT ?', ())

order = (customer, 77, 'eu', Decimal('12.50'),
         datetime.datetime(2026, 5, 6, 7, 8, 9))
cursor.execute('INSERT INTO orders VALUES (?, ?, ?, ?, ?)', order)
print('ordered', cursor.rowcount)
fails('the same order again', cursor.execute,
      'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', order)
c.rollback()
cursor.execute('INSERT INTO orders VALUES (?, ?, ?, ?, ?)', order)
c.commit()
show('orders', cursor.execute('SELECT customer_id, id, region, amount, placed '
                              'FROM orders WHERE customer_id = ?', customer))
cursor.execute('UPDATE orders SET amount = amount * 2 WHERE customer_id = ? '
               'AND id = 77', customer)
print('updated', cursor.rowcount)
c.commit()
cursor.execute('DELETE FROM orders WHERE customer_id = ? AND id = 77',
               customer)
print('deleted', cursor.rowcount)
c.commit()
show('types of values', cursor.execute(
    "SELECT 1::smallint, 2.5::float8, true, 'x'::char(3), date '2026-02-03', "
    "time '01:02:03', '\\xdeadbeef'::bytea, NULL::int, 12345678901234567890"
    '::numeric'))
c.autocommit = True
cursor.execute('DELETE FROM plain')
print('deleted', cursor.rowcount)
c.autocommit = False
show('two result sets', cursor.execute('SELECT 1; SELECT 2, 3'))
print(cursor.nextset())
show('the second', cursor)
c.close()
fails('a closed connection', cursor.execute, 'SELECT 1')
