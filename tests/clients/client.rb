# SPDX-FileCopyrightText: odbc-affinity contributors
# SPDX-License-Identifier: Apache-2.0
#
# An ordinary program over ruby-odbc; it knows nothing of odbc-affinity.
# usage: client.rb CONNECTION-STRING CUSTOMER
require 'odbc'

string, customer = ARGV

def show(what, statement)
  puts what
  return unless statement
  statement.columns(true).each do |c|
    puts "    #{c.name} #{c.type} #{c.length} #{c.scale} #{c.nullable}"
  end
  statement.each { |row| puts "    #{row.inspect}" }
  statement.drop
end

def run(c, sql, *parameters)
  statement = c.run(sql, *parameters)
  puts "#{sql}: #{statement.nrows}"
  statement
rescue ODBC::Error => e
  puts "#{sql}: #{e.message}"
  nil
end

def done(statement)
  statement&.drop
end

c = ODBC::Database.new
c.drvconnect(string)
c.run('SHOW cluster_name') { |s| puts s.fetch }
[ODBC::SQL_DRIVER_NAME, ODBC::SQL_DBMS_NAME, ODBC::SQL_DBMS_VER,
 ODBC::SQL_DATABASE_NAME, ODBC::SQL_TXN_CAPABLE].each do |info|
  puts c.get_info(info)
end
show('tables', c.tables('pl%'))
show('columns', c.columns('orders'))
show('keys', c.primary_keys('devices_h00'))
show('types', c.types)
done(run(c, 'DELETE FROM plain'))
c.autocommit = false
[[1, 'one'], [2, 'zwölf €'], [3, nil]].each do |id, t|
  done(run(c, 'INSERT INTO plain VALUES (?, ?)', id, t))
end
c.commit
done(run(c, 'UPDATE plain SET t = ? WHERE id = ?', 'uno', 1))
show('in the transaction', run(c, 'SELECT * FROM plain ORDER BY id'))
c.rollback
show('rolled back', run(c, 'SELECT id, t, length(t) AS n FROM plain ' \
                           'WHERE id > ? ORDER BY id', 0))
done(run(c, 'SELECT * FROM nowhere'))
done(run(c, 'SELECT 1'))
c.rollback
done(run(c, 'SELECT 1 / CAST(? AS int)', 0))
c.rollback
order = [customer.to_i, 81, 'eu', '12.50', '2026-05-06 07:08:09']
2.times { done(run(c, 'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', *order)) }
c.rollback
done(run(c, 'INSERT INTO orders VALUES (?, ?, ?, ?, ?)', *order))
c.commit
show('orders', run(c, 'SELECT * FROM orders WHERE customer_id = ?',
                   customer.to_i))
done(run(c, 'DELETE FROM orders WHERE customer_id = ? AND id = 81',
         customer.to_i))
c.commit
show('types of values', run(c, "SELECT 2.5::float8, true, 'x'::char(3), " \
                               "date '2026-02-03', time '01:02:03', " \
                               "timestamp '2026-02-03 01:02:03', NULL::int"))
c.autocommit = true
done(run(c, 'DELETE FROM plain'))
c.disconnect
